//! Blocks of bytes in, payloads out: the data of server-sent events, or the lines of JSON Lines. Knows nothing of what a
//! payload says.
//!
//! Server-sent events (<https://html.spec.whatwg.org/multipage/server-sent-events.html>): lines end in LF, CR or CRLF;
//! `data:` lines of one event are joined by LF; a blank line ends the event; `:` begins a comment. Names, ids and
//! retry times are passed over: every payload says itself what it is. Unlike in a browser, an event that the input
//! ends in is handed over too, marked as torn, because captures often lack the last blank line.

use memchr::memchr2;

use crate::text::document::UTF8_BOM;

use super::frame::Frame;
use super::frame::LINE_CAP_BYTES;
use super::frame::Line;

/// The longest payload that is read, in bytes; a longer one is skipped and counted.
pub const PAYLOAD_CAP_BYTES: usize = LINE_CAP_BYTES;

/// How much of the buffer for carried payloads is kept from one to the next.
const CARRY_KEPT_BYTES: usize = 1 << 20;

/// How many bytes of a line that is no `data:` line are kept, to tell what it is.
const OTHER_KEPT_BYTES: usize = 8;

/// How payloads are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events.
    Sse,
    /// One payload a line.
    Lines,
}

/// One payload, lent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payload<'a> {
    /// 1-based number of the line that it ends at.
    pub line_number: usize,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// The input ended before the payload did: it may be cut.
    pub is_torn: bool,
}

/// Cuts blocks into payloads.
#[derive(Debug)]
pub struct Payloads {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Sse(Sse),
    Lines(Frame),
}

impl Payloads {
    /// Returns a cutter that skips payloads longer than [`PAYLOAD_CAP_BYTES`].
    pub fn new(framing: Framing) -> Self {
        Payloads::with_cap(framing, PAYLOAD_CAP_BYTES)
    }

    /// Returns a cutter that skips payloads longer than `cap_bytes`.
    pub fn with_cap(framing: Framing, cap_bytes: usize) -> Self {
        let kind = match framing {
            Framing::Sse => Kind::Sse(Sse { cap_bytes, ..Sse::default() }),
            Framing::Lines => Kind::Lines(Frame::with_cap(cap_bytes)),
        };
        Payloads { kind }
    }

    /// Takes the next block and lends every payload that ends in it. Blank ones are left out.
    ///
    /// ```
    /// use hunkwise::session::sse::{Framing, Payloads};
    /// let mut payloads = Payloads::new(Framing::Sse);
    /// let mut seen = Vec::new();
    /// payloads.push(b"event: x\ndata: {\"a\":1}\n\nda", &mut |payload| seen.push(payload.bytes.to_vec()));
    /// assert_eq!(seen, [b"{\"a\":1}"]);
    /// ```
    pub fn push(&mut self, block: &[u8], on_payload: &mut impl FnMut(Payload<'_>)) {
        match &mut self.kind {
            Kind::Sse(sse) => sse.push(block, on_payload),
            Kind::Lines(frame) => frame.push(block, &mut |line| lend_line(line, on_payload)),
        }
    }

    /// Ends the input; lends what it ended in. Returns how many payloads were longer than the cap.
    pub fn finish(self, on_payload: &mut impl FnMut(Payload<'_>)) -> usize {
        match self.kind {
            Kind::Sse(sse) => sse.finish(on_payload),
            Kind::Lines(frame) => frame.finish(&mut |line| lend_line(line, on_payload)).skipped_long,
        }
    }
}

fn lend_line(line: Line<'_>, on_payload: &mut impl FnMut(Payload<'_>)) {
    let bytes = match line.number {
        1 => line.bytes.strip_prefix(UTF8_BOM).unwrap_or(line.bytes),
        _ => line.bytes,
    };
    let bytes = bytes.trim_ascii();
    if !bytes.is_empty() {
        on_payload(Payload { line_number: line.number, bytes, is_torn: line.is_torn });
    }
}

/// What an input looks like from its beginning.
///
/// `None` while that can't be told: before the first line that is not blank is complete.
pub fn looks_like_sse(head: &[u8]) -> Option<bool> {
    let head = head.strip_prefix(UTF8_BOM).unwrap_or(head).trim_ascii_start();
    let fields: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
    if fields.iter().any(|field| head.starts_with(field)) {
        return Some(true);
    }
    let may_become = fields.iter().any(|field| field.starts_with(head)) || UTF8_BOM.starts_with(head);
    if may_become { None } else { Some(false) }
}

#[derive(Debug, Default)]
struct Sse {
    cap_bytes: usize,
    lines: usize,
    /// The data of the open event that came in earlier blocks, or in several lines.
    data: Vec<u8>,
    has_data: bool,
    /// The open event is longer than the cap: it is only passed over.
    is_skipping: bool,
    skipped_long: usize,
    /// The beginning of the line that is open; of a `data:` line only that, the rest is in `data`.
    line: Vec<u8>,
    /// The open line is a data line, of which the text is already in `data`.
    in_data: bool,
    /// The open line has something, although `line` may be empty.
    line_has_bytes: bool,
    /// The byte order mark was passed over.
    had_mark: bool,
    /// A CR ended the last line: an LF that follows belongs to it.
    after_cr: bool,
}

impl Sse {
    fn push(&mut self, block: &[u8], on_payload: &mut impl FnMut(Payload<'_>)) {
        let mut rest = block;
        if std::mem::take(&mut self.after_cr) && !rest.is_empty() {
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        // The data of the open event where it is one line of this block.
        let mut lent: Option<&[u8]> = None;
        while let Some(length) = memchr2(b'\n', b'\r', rest) {
            let line = &rest[..length];
            let is_cr = rest[length] == b'\r';
            rest = &rest[length + 1..];
            if is_cr {
                match rest.first() {
                    Some(b'\n') => rest = &rest[1..],
                    Some(_) => {}
                    None => self.after_cr = true,
                }
            }
            if self.line_has_bytes {
                self.piece(line);
                self.lines += 1;
                self.end_line();
                continue;
            }
            self.lines += 1;
            let line = if self.lines == 1 { line.strip_prefix(UTF8_BOM).unwrap_or(line) } else { line };
            if line.is_empty() {
                match lent.take() {
                    Some(bytes) => self.lend(bytes, false, on_payload),
                    None => self.dispatch(false, on_payload),
                }
            } else if let Some(data) = data_of(line) {
                if let Some(first) = lent.take() {
                    self.begin_data();
                    self.grow(first);
                }
                if self.has_data {
                    self.begin_data();
                    self.grow(data);
                } else {
                    lent = Some(data);
                }
            }
        }
        if let Some(first) = lent {
            self.begin_data();
            self.grow(first);
        }
        self.piece(rest);
    }

    /// Takes a piece of a line that does not end in the block it began in.
    fn piece(&mut self, mut piece: &[u8]) {
        if piece.is_empty() {
            return;
        }
        self.line_has_bytes = true;
        if !self.in_data {
            // A byte at a time is enough here: it is the name of a field, at most the mark before it and a blank.
            while let Some((&byte, tail)) = piece.split_first() {
                if self.line.len() > OTHER_KEPT_BYTES {
                    return;
                }
                self.line.push(byte);
                piece = tail;
                // Only the first mark is one; a second is a part of the line.
                if self.lines == 0 && !self.had_mark && self.line == UTF8_BOM {
                    self.had_mark = true;
                    self.line.clear();
                }
                if self.line == b"data:" {
                    self.in_data = true;
                    self.begin_data();
                    break;
                }
            }
        }
        if self.in_data {
            if self.line == b"data:" && !piece.is_empty() {
                self.line.push(b' ');
                piece = piece.strip_prefix(b" ").unwrap_or(piece);
            }
            self.grow(piece);
        }
    }

    /// Ends a line that came in pieces.
    fn end_line(&mut self) {
        if !self.in_data && self.line == b"data" {
            self.begin_data();
        }
        self.in_data = false;
        self.line_has_bytes = false;
        self.line.clear();
    }

    fn begin_data(&mut self) {
        if self.has_data {
            self.grow(b"\n");
        }
        self.has_data = true;
    }

    fn grow(&mut self, piece: &[u8]) {
        if self.is_skipping {
            return;
        }
        let needed = self.data.len() + piece.len();
        if needed > self.cap_bytes {
            self.is_skipping = true;
            self.data = Vec::new();
            return;
        }
        if needed > self.data.capacity() {
            // Vec's own doubling would overshoot the cap, and the bound on memory with it.
            let capacity = needed.max(self.data.capacity() * 2).min(self.cap_bytes);
            self.data.reserve_exact(capacity - self.data.len());
        }
        self.data.extend_from_slice(piece);
    }

    fn lend(&mut self, bytes: &[u8], is_torn: bool, on_payload: &mut impl FnMut(Payload<'_>)) {
        if bytes.len() > self.cap_bytes {
            self.skipped_long += 1;
        } else if !bytes.trim_ascii().is_empty() {
            on_payload(Payload { line_number: self.lines, bytes, is_torn });
        }
    }

    fn dispatch(&mut self, is_torn: bool, on_payload: &mut impl FnMut(Payload<'_>)) {
        if !std::mem::take(&mut self.has_data) {
            return;
        }
        let mut data = std::mem::take(&mut self.data);
        if std::mem::take(&mut self.is_skipping) {
            self.skipped_long += 1;
        } else {
            self.lend(&data, is_torn, on_payload);
        }
        data.clear();
        data.shrink_to(CARRY_KEPT_BYTES);
        self.data = data;
    }

    fn finish(mut self, on_payload: &mut impl FnMut(Payload<'_>)) -> usize {
        if self.line_has_bytes {
            self.lines += 1;
            self.end_line();
        }
        self.dispatch(true, on_payload);
        self.skipped_long
    }
}

/// Returns the value of a data line, without the one blank after the colon.
fn data_of(line: &[u8]) -> Option<&[u8]> {
    match line.strip_prefix(b"data")? {
        [] => Some(b""),
        [b':', b' ', value @ ..] | [b':', value @ ..] => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Seen = (usize, String, bool);

    fn cut(framing: Framing, blocks: &[&[u8]], cap_bytes: usize) -> (Vec<Seen>, usize) {
        let mut seen = Vec::new();
        let mut payloads = Payloads::with_cap(framing, cap_bytes);
        let mut take = |payload: Payload<'_>| {
            let text = String::from_utf8_lossy(payload.bytes).into_owned();
            seen.push((payload.line_number, text, payload.is_torn));
        };
        for block in blocks {
            payloads.push(block, &mut take);
        }
        let skipped = payloads.finish(&mut take);
        (seen, skipped)
    }

    fn check(framing: Framing, input: &[u8], wanted: &[(usize, &str, bool)], skipped: usize) {
        let wanted: Vec<Seen> =
            wanted.iter().map(|&(line, text, torn)| (line, text.to_owned(), torn)).collect();
        let wanted = (wanted, skipped);
        assert_eq!(cut(framing, &[input], 20), wanted);
        for at in 0..=input.len() {
            assert_eq!(cut(framing, &[&input[..at], &input[at..]], 20), wanted, "cut at {at}");
        }
        let bytes: Vec<&[u8]> = input.chunks(1).collect();
        assert_eq!(cut(framing, &bytes, 20), wanted, "byte by byte");
    }

    #[test]
    fn events_become_payloads() {
        check(
            Framing::Sse,
            b"\xEF\xBB\xBF: hello\nevent: a\nid: 7\nretry: 10\ndata: {\"a\":1}\n\n\n\ndata:two\r\ndata:  lines\r\rdata\n\n\
              dat: no\ndata no\ndata: [DONE]\n\ndata: torn",
            &[
                (6, "{\"a\":1}", false),
                (11, "two\n lines", false),
                (17, "[DONE]", false),
                (18, "torn", true),
            ],
            0,
        );
        check(Framing::Sse, b"data: 1\r\rdata: 2\r\n\r\n", &[(2, "1", false), (4, "2", false)], 0);
        check(Framing::Sse, b"\xEF\xBB\xBFdata: 1\n\n", &[(2, "1", false)], 0);
        check(Framing::Sse, b"\xEF\xBB\xBF\xEF\xBB\xBFdata: 1\ndata: 2\n\n", &[(3, "2", false)], 0);
    }

    #[test]
    fn lines_become_payloads() {
        check(
            Framing::Lines,
            b"\xEF\xBB\xBF{}\r\n\n  [1]\n{\"torn\"",
            &[(1, "{}", false), (3, "[1]", false), (4, "{\"torn\"", true)],
            0,
        );
    }

    #[test]
    fn long_payloads_are_skipped() {
        check(Framing::Sse, b"data: 123456789012345678901\n\ndata: a\n\n", &[(4, "a", false)], 1);
        check(Framing::Sse, b"data: 1234567890\ndata: 1234567890\n\ndata: b\n\n", &[(5, "b", false)], 1);
        check(Framing::Lines, b"123456789012345678901\nb\n", &[(2, "b", false)], 1);
    }

    #[test]
    fn a_buffer_of_a_long_payload_is_given_back() {
        let mut sse = Sse { cap_bytes: PAYLOAD_CAP_BYTES, ..Sse::default() };
        let mut lengths = Vec::new();
        let mut take = |payload: Payload<'_>| lengths.push(payload.bytes.len());
        sse.push(b"data:", &mut take);
        let piece = vec![b'x'; PAYLOAD_CAP_BYTES / 4];
        for _ in 0..4 {
            sse.push(&piece, &mut take);
        }
        sse.push(b"\n\n", &mut take);
        assert!(sse.data.capacity() <= CARRY_KEPT_BYTES);
        assert_eq!(lengths, [PAYLOAD_CAP_BYTES]);
    }

    #[test]
    fn sse_is_told_by_its_first_field() {
        for (head, wanted) in [
            (&b"event: a"[..], Some(true)),
            (b"\xEF\xBB\xBFdata:", Some(true)),
            (b"\n: ping", Some(true)),
            (b"dat", None),
            (b"", None),
            (b"{\"type\"", Some(false)),
            (b"database", Some(false)),
        ] {
            assert_eq!(looks_like_sse(head), wanted, "{}", head.escape_ascii());
        }
    }

    proptest! {
        #[test]
        fn how_it_is_cut_changes_nothing(
            input in r"(data: ?|[:a{}\r\n \u{FEFF}]|event: a){0,30}",
            at: prop::sample::Index,
        ) {
            let input = input.as_bytes();
            let at = at.index(input.len() + 1);
            let whole = cut(Framing::Sse, &[input], 12);
            prop_assert_eq!(&cut(Framing::Sse, &[&input[..at], &input[at..]], 12), &whole);
            let bytes: Vec<&[u8]> = input.chunks(1).collect();
            prop_assert_eq!(&cut(Framing::Sse, &bytes, 12), &whole);
        }
    }
}
