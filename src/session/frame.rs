//! Blocks of bytes in, whole lines out, each with its number and offset. Knows nothing of what a line says.
//!
//! Lines inside a block are lent as they are; only a line that crosses a border of blocks is copied. So no search,
//! for a needle or for anything else, ever sees half a line, and how the input is cut can't change a result.

pub mod elements;
pub mod framing;

use std::borrow::Cow;

use memchr::memchr;
use memchr::memchr_iter;
use memchr::memmem;

/// The longest line that is read, in bytes without its newline; a longer one is skipped and counted.
///
/// Real logs have lines of tens of megabytes (images in base64). The cap bounds what one line can cost.
pub const LINE_CAP_BYTES: usize = 32 << 20;

/// How much of the buffer for carried lines is kept from one line to the next.
const CARRY_KEPT_BYTES: usize = 1 << 20;

/// One line of the input, lent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// 1-based number.
    pub number: usize,
    /// 0-based offset of its first byte in the input.
    pub offset_bytes: u64,
    /// Its bytes without the newline; a carriage return before it stays.
    pub bytes: &'a [u8],
    /// The input ended before the newline: the line may be cut.
    pub is_torn: bool,
}

/// What a whole input was made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FrameSummary {
    /// Count of lines, skipped and torn ones included.
    pub lines: usize,
    /// Count of lines that were longer than the cap.
    pub skipped_long: usize,
    /// 1-based number of a last line without a newline.
    pub torn_line: Option<usize>,
}

/// Cuts blocks into lines.
#[derive(Debug)]
pub struct Frame {
    cap_bytes: usize,
    /// The line that is open; one that is longer than the cap is only measured.
    carry: Carry,
    skipped_long: usize,
    lines: usize,
    /// Offset of the first byte of the open line.
    line_start: u64,
    /// How much of the open line came in earlier blocks.
    line_len: u64,
}

impl Default for Frame {
    fn default() -> Self {
        Frame::with_cap(LINE_CAP_BYTES)
    }
}

impl Frame {
    /// Returns a frame that skips lines longer than `cap_bytes`.
    pub fn with_cap(cap_bytes: usize) -> Self {
        Frame {
            cap_bytes,
            carry: Carry::new(cap_bytes),
            skipped_long: 0,
            lines: 0,
            line_start: 0,
            line_len: 0,
        }
    }

    /// Takes the next block and lends every line that ends in it.
    pub fn push(&mut self, block: &[u8], on_line: &mut impl FnMut(Line<'_>)) {
        let mut start = 0;
        if self.line_len > 0 {
            let Some(end) = memchr(b'\n', block) else {
                self.carry_on(block);
                return;
            };
            self.carry_on(&block[..end]);
            self.end_carried(false, on_line);
            start = end + 1;
        }
        let base = start;
        for end in memchr_iter(b'\n', &block[base..]) {
            let bytes = &block[start..base + end];
            if bytes.len() > self.cap_bytes {
                self.skipped_long += 1;
            } else {
                let (number, offset_bytes) = (self.lines + 1, self.line_start);
                on_line(Line { number, offset_bytes, bytes, is_torn: false });
            }
            self.lines += 1;
            self.line_start += bytes.len() as u64 + 1;
            start = base + end + 1;
        }
        self.carry_on(&block[start..]);
    }

    /// Ends the input; lends a last line without a newline, marked as torn.
    pub fn finish(mut self, on_line: &mut impl FnMut(Line<'_>)) -> FrameSummary {
        let torn_line = (self.line_len > 0).then_some(self.lines + 1);
        if torn_line.is_some() {
            self.end_carried(true, on_line);
        }
        FrameSummary { lines: self.lines, skipped_long: self.skipped_long, torn_line }
    }

    fn carry_on(&mut self, piece: &[u8]) {
        self.line_len += piece.len() as u64;
        self.carry.push(piece);
    }

    fn end_carried(&mut self, is_torn: bool, on_line: &mut impl FnMut(Line<'_>)) {
        self.lines += 1;
        if self.carry.is_over {
            self.skipped_long += 1;
        } else {
            let (number, offset_bytes) = (self.lines, self.line_start);
            on_line(Line { number, offset_bytes, bytes: &self.carry.bytes, is_torn });
        }
        self.carry.clear();
        self.line_start += self.line_len + 1;
        self.line_len = 0;
    }
}

/// What of a line, or of an element, came in earlier blocks; of one that is longer than the cap nothing is held.
#[derive(Debug)]
struct Carry {
    bytes: Vec<u8>,
    cap_bytes: usize,
    is_over: bool,
}

impl Carry {
    fn new(cap_bytes: usize) -> Self {
        Carry { bytes: Vec::new(), cap_bytes, is_over: false }
    }

    fn push(&mut self, piece: &[u8]) {
        if self.is_over {
            return;
        }
        let needed = self.bytes.len() + piece.len();
        if needed > self.cap_bytes {
            self.is_over = true;
            self.bytes = Vec::new();
            return;
        }
        if needed > self.bytes.capacity() {
            // Vec's own doubling would overshoot the cap, and the bound on memory with it.
            let capacity = needed.max(self.bytes.capacity() * 2).min(self.cap_bytes);
            self.bytes.reserve_exact(capacity - self.bytes.len());
        }
        self.bytes.extend_from_slice(piece);
    }

    fn clear(&mut self) {
        self.is_over = false;
        self.bytes.clear();
        self.bytes.shrink_to(CARRY_KEPT_BYTES);
    }
}

/// Bytes that a JSON parser takes, and how many characters had to be replaced for that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readable<'a> {
    /// The bytes: UTF-8, without escapes of lone surrogates.
    pub text: Cow<'a, str>,
    /// Count of U+FFFD that were put in.
    pub replaced: usize,
}

/// Returns text with U+FFFD in place of invalid UTF-8.
pub fn readable_text(bytes: &[u8]) -> Readable<'_> {
    // Nearly every line is UTF-8, and to see that is several times as fast as to look for what is not.
    let text = str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
    // U+FFFD that was there before is not a replacement.
    let replaced = match &text {
        Cow::Borrowed(_) => 0,
        Cow::Owned(lossy) => {
            let count = |text: &[u8]| memmem::find_iter(text, "\u{FFFD}").count();
            count(lossy.as_bytes()) - count(bytes)
        }
    };
    Readable { text, replaced }
}

/// Returns JSON text with U+FFFD in place of invalid UTF-8 and of escapes of lone surrogates.
///
/// JavaScript writes half a surrogate pair as it is (`\ud83d`), and no Rust string can hold one. Without this, one
/// such character would cost the whole line.
pub fn readable(bytes: &[u8]) -> Readable<'_> {
    let Readable { text, replaced } = readable_text(bytes);
    let lone = lone_surrogates(text.as_bytes());
    if lone.is_empty() {
        return Readable { text, replaced };
    }
    let mut mended = text.into_owned();
    for start in &lone {
        mended.replace_range(start..&(start + 6), "\\ufffd");
    }
    Readable { text: Cow::Owned(mended), replaced: replaced + lone.len() }
}

/// Decodes a JSON string that is one piece of a text; `half` holds the first half of a surrogate pair that the piece
/// before ended in, and then the one that this piece ends in. `None` if it is no string.
///
/// Writers that count in UTF-16 cut a character in two, and send each half as an escape.
pub fn decode_piece<'a>(quoted: &'a str, half: &mut Option<u16>) -> Option<Cow<'a, str>> {
    let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
    let has_lone = half.is_some() || !lone_surrogates(inner.as_bytes()).is_empty();
    if !has_lone {
        // Nearly every piece: nothing to undo, nothing to copy.
        if !inner.contains('\\') {
            return Some(Cow::Borrowed(inner));
        }
        return serde_json::from_str::<String>(quoted).ok().map(Cow::Owned);
    }
    let mut mended = match half.take().filter(|_| !inner.is_empty()) {
        Some(unit) => format!("\"\\u{unit:04x}{inner}"),
        None if inner.is_empty() => return Some(Cow::Borrowed("")),
        None => format!("\"{inner}"),
    };
    if let Some(&last) = lone_surrogates(mended.as_bytes()).last()
        && last + 6 == mended.len()
        && let Some(unit @ 0xD800..0xDC00) = surrogate(mended.as_bytes(), last)
    {
        *half = u16::try_from(unit).ok();
        mended.truncate(last);
    }
    mended.push('"');
    serde_json::from_str::<String>(&readable(mended.as_bytes()).text).ok().map(Cow::Owned)
}

/// Returns where escapes of lone surrogates begin; each is six bytes long.
fn lone_surrogates(text: &[u8]) -> Vec<usize> {
    let mut lone = Vec::new();
    if memmem::find(text, b"\\ud").is_none() && memmem::find(text, b"\\uD").is_none() {
        return lone;
    }
    let mut at = 0;
    while let Some(step) = memchr(b'\\', &text[at..]) {
        at += step;
        match (surrogate(text, at), surrogate(text, at + 6)) {
            (Some(0xD800..0xDC00), Some(0xDC00..)) => at += 12,
            (Some(_), _) => {
                lone.push(at);
                at += 6;
            }
            // The escaped character is passed over, so that `\\ud83d` is not taken for an escape.
            (None, _) => at = (at + 2).min(text.len()),
        }
    }
    lone
}

/// Returns the surrogate that is escaped at `at`, if one is.
fn surrogate(text: &[u8], at: usize) -> Option<u32> {
    let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    // `from_str_radix` would also take a sign.
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let unit = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (0xD800..0xE000).contains(&unit).then_some(unit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Seen = (Vec<(usize, u64, Vec<u8>, bool)>, FrameSummary);

    fn lines_of(blocks: &[&[u8]], cap_bytes: usize) -> Seen {
        let mut frame = Frame::with_cap(cap_bytes);
        let mut seen = Vec::new();
        let mut keep = |line: Line<'_>| {
            seen.push((line.number, line.offset_bytes, line.bytes.to_vec(), line.is_torn));
        };
        for block in blocks {
            frame.push(block, &mut keep);
        }
        let summary = frame.finish(&mut keep);
        (seen, summary)
    }

    #[test]
    fn every_cut_gives_the_same_lines() {
        let input = b"one\n\nthree\r\nlonger than ten\n5\nsix";
        let whole = lines_of(&[input], 10);
        let line = |number, offset, text: &str, is_torn| (number, offset, text.as_bytes().to_vec(), is_torn);
        assert_eq!(
            whole.0,
            [
                line(1, 0, "one", false),
                line(2, 4, "", false),
                line(3, 5, "three\r", false),
                line(5, 28, "5", false),
                line(6, 30, "six", true),
            ]
        );
        assert_eq!(whole.1, FrameSummary { lines: 6, skipped_long: 1, torn_line: Some(6) });
        for first in 0..=input.len() {
            for second in first..=input.len() {
                let blocks = [&input[..first], &input[first..second], &input[second..]];
                assert_eq!(lines_of(&blocks, 10), whole, "{first} {second}");
            }
        }
    }

    #[test]
    fn long_line_is_not_held() {
        let mut frame = Frame::with_cap(1000);
        let mut count = 0;
        for _ in 0..10_000 {
            frame.push(&[b'x'; 64], &mut |_| count += 1);
            assert!(frame.carry.bytes.capacity() <= 1000);
        }
        frame.push(b"\nnext\n", &mut |line| {
            assert_eq!((line.number, line.offset_bytes, line.bytes), (2, 640_001, b"next".as_slice()));
            count += 1;
        });
        assert_eq!(
            frame.finish(&mut |_| count += 1),
            FrameSummary { lines: 2, skipped_long: 1, torn_line: None }
        );
        assert_eq!(count, 1);
    }

    #[test]
    fn line_at_the_cap_is_read_whole() {
        let line = vec![b'x'; LINE_CAP_BYTES];
        let mut frame = Frame::default();
        let mut lengths = Vec::new();
        for block in line.chunks(3 << 20) {
            frame.push(block, &mut |line| lengths.push(line.bytes.len()));
            assert!(frame.carry.bytes.capacity() <= LINE_CAP_BYTES);
        }
        frame.push(b"\n", &mut |line| lengths.push(line.bytes.len()));
        assert!(frame.carry.bytes.capacity() <= CARRY_KEPT_BYTES, "the buffer of a long line is given back");
        assert_eq!(lengths, [LINE_CAP_BYTES]);
    }

    #[test]
    fn what_no_string_can_hold_is_replaced_and_counted() {
        let check = |bytes: &[u8], text: &str, replaced| {
            assert_eq!(readable(bytes), Readable { text: Cow::Borrowed(text), replaced });
        };
        check(br#""plain \u00e9 \ud83d\ude00""#, r#""plain \u00e9 \ud83d\ude00""#, 0);
        check(br#""half \ud83d""#, r#""half \ufffd""#, 1);
        check(br#""\uDE00\ud83d\ud83d\ude00""#, r#""\ufffd\ufffd\ud83d\ude00""#, 2);
        check(br#""\\ud83d""#, r#""\\ud83d""#, 0);
        check(br#""\ud83"#, r#""\ud83"#, 0);
        check(br"\ud83d \", r"\ufffd \", 1);
        check(b"\"\xFF\xEF\xBF\xBD\"", "\"\u{FFFD}\u{FFFD}\"", 1);
    }

    #[test]
    fn a_character_that_is_cut_in_two_is_joined() {
        let check = |pieces: &[&str], wanted: &str| {
            let mut half = None;
            let decoded: String =
                pieces.iter().map(|piece| decode_piece(piece, &mut half).unwrap().into_owned()).collect();
            assert_eq!(decoded, wanted, "{pieces:?}");
        };
        check(&[r#""plain""#, r#""\n\u00e9""#], "plain\n\u{e9}");
        check(&[r#""a\ud83d""#, r#""\ude00b""#], "a\u{1F600}b");
        check(&[r#""\ud83d""#, r#""""#], "");
        check(&[r#""\ud83d""#, r#""x""#], "\u{FFFD}x");
        check(&[r#""\ude00""#], "\u{FFFD}");
        check(&[r#""\\ud83d""#], "\\ud83d");
        assert_eq!(decode_piece("{}", &mut None), None);
        assert_eq!(decode_piece("\"", &mut None), None);
    }

    proptest! {
        #[test]
        fn readable_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..60), text in r"[\\ud8cfDE ]{0,40}") {
            readable(&bytes);
            readable(text.as_bytes());
        }
    }
}
