//! Replacements in a document's decoded text to replacements of its raw bytes, and back.
//!
//! Both sides are walked together, whole lines at a time and character by character only inside of a line that is
//! touched. What a replacement takes away is decoded again and compared, so that a range of text and a range of bytes
//! are never taken for each other.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr;
use memchr::memchr_iter;
use memchr::memrchr;

use super::Document;
use super::Encoding;
use super::Splice;
use super::Splices;
use super::charset::Charset;
use super::charset::Step;

/// The escape sequence that leads back to ASCII.
const TO_ASCII: &[u8] = b"\x1b(B";
const ESCAPE: u8 = 0x1B;

/// Why a replacement of text can't be made in the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Misfit {
    /// Which of the replacements, counted from 0.
    pub index: usize,
    /// Byte offset in the decoded text where it would be made.
    pub offset: usize,
    /// What is in the way.
    pub cause: MisfitCause,
}

/// What is in the way of a replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MisfitCause {
    /// Bytes there are no character of the encoding.
    Undecodable,
    /// It begins or ends where an escape sequence has switched to another set of characters.
    Switched,
    /// The encoding does not have this character of the new text.
    Unencodable(char),
    /// The new text has this character, and what the encoding is can only be guessed.
    Guessed(char),
    /// It begins inside of a character if the file is in this encoding, which nothing tells from the guessed one.
    Doubtful(Charset),
    /// The new text is not UTF-8.
    NotText,
}

/// Turns replacements in the decoded text, sorted and without overlap, into replacements of raw bytes.
///
/// What a replacement leaves as it is, at its beginning and its end, keeps its bytes: only the rest is encoded. One
/// that leaves all as it is vanishes.
///
/// # Errors
/// Each that can't be made.
pub fn to_raw(document: &Document, list: Vec<Splice>) -> Result<Vec<Splice>, Vec<Misfit>> {
    let Some(charset) = document.encoding().charset() else { return Ok(list) };
    let text = document.decoded().bytes();
    let mut cursor = Cursor::new(document, charset);
    let expected = charset.is_stateful().then(|| after(document.decoded().bytes(), &list));
    let mut raw = Vec::with_capacity(list.len());
    let mut misfits = Vec::new();
    for (index, splice) in list.into_iter().enumerate() {
        let whole_start = splice.range.start;
        let (range, new) = if charset.is_stateful() {
            (splice.range, splice.new.as_slice())
        } else {
            changed(text, splice.range, &splice.new)
        };
        if text[range.clone()] == *new {
            continue;
        }
        let made = encoded(document.encoding(), charset, new).and_then(|new| {
            let raw_range = cursor.raw_range(range.clone())?;
            // What the old text has before the change tells that the guess is right.
            let is_guess = matches!(document.encoding(), Encoding::Guessed(_)) && range.start == whole_start;
            match is_guess.then(|| other_reading(document, charset, raw_range.start)).flatten() {
                Some(other) => Err(MisfitCause::Doubtful(other)),
                None => Ok(Splice { range: raw_range, new }),
            }
        });
        match made {
            Ok(splice) => raw.push(splice),
            Err(cause) => misfits.push(Misfit { index, offset: range.start, cause }),
        }
    }
    // Escape sequences with nothing between them are an error to decoders, wherever they come from.
    if let (Some(expected), [_, ..], true) = (expected, raw.as_slice(), misfits.is_empty()) {
        let made = after(document.bytes(), &raw);
        if charset.decode_strictly(&made).is_none_or(|made| *made.as_bytes() != expected) {
            let offset = cursor.at_text;
            misfits.push(Misfit { index: 0, offset, cause: MisfitCause::Switched });
        }
    }
    if misfits.is_empty() { Ok(raw) } else { Err(misfits) }
}

/// Turns replacements of raw bytes into those of the decoded text; `None` where they don't begin and end at borders of
/// characters.
pub fn to_text<'a>(document: &Document, splices: &'a Splices) -> Option<Cow<'a, Splices>> {
    let Some(charset) = document.encoding().charset() else { return Some(Cow::Borrowed(splices)) };
    let mut cursor = Cursor::new(document, charset);
    let mut list = Vec::with_capacity(splices.list().len());
    for splice in splices.list() {
        let range = cursor.text_range(splice.range.clone())?;
        let new = charset.decode_strictly(&splice.new)?.into_owned().into_bytes();
        list.push(Splice { range, new });
    }
    Splices::new(list).map(Cow::Owned)
}

/// Returns an encoding in which the whole file is text too, and the byte at `at` the second of a character, if the guess
/// is one of single bytes.
fn other_reading(document: &Document, guess: Charset, at: usize) -> Option<Charset> {
    let raw = document.bytes();
    let is_second =
        at > 0 && !raw[at - 1].is_ascii() && raw.get(at).is_some_and(|&byte| byte.is_ascii() && byte >= b'0');
    if !is_second || !guess.has_single_bytes() {
        return None;
    }
    let line_start = memrchr(b'\n', &raw[..at]).map_or(0, |newline| newline + 1);
    Charset::WITH_ASCII_SECOND.into_iter().find(|other| {
        other.decode_strictly(&raw[line_start..at]).is_none() && other.decode_strictly(raw).is_some()
    })
}

/// Returns the bytes that replacements, sorted and without overlap, lead to.
fn after(before: &[u8], list: &[Splice]) -> Vec<u8> {
    Splices::new(list.to_vec()).unwrap_or_default().apply(before)
}

/// Returns the bytes of a new text.
fn encoded(encoding: Encoding, charset: Charset, new: &[u8]) -> Result<Vec<u8>, MisfitCause> {
    let new = std::str::from_utf8(new).map_err(|_| MisfitCause::NotText)?;
    let foreign = new.chars().find(|character| !character.is_ascii());
    if let (Encoding::Guessed(_), Some(character)) = (encoding, foreign) {
        return Err(MisfitCause::Guessed(character));
    }
    charset.encode(new).map_err(MisfitCause::Unencodable)
}

/// Returns the part of a replacement that changes something: without the whole characters that old and new text have
/// in common at both ends.
fn changed<'n>(text: &[u8], range: Range<usize>, new: &'n [u8]) -> (Range<usize>, &'n [u8]) {
    let old = &text[range.clone()];
    let is_inside = |byte: Option<&u8>| byte.is_some_and(|byte| byte & 0xC0 == 0x80);
    let mut head = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    while head > 0 && (is_inside(old.get(head)) || is_inside(new.get(head))) {
        head -= 1;
    }
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let mut tail =
        old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(one, other)| one == other).count();
    while tail > 0 && is_inside(old_rest.get(old_rest.len() - tail)) {
        tail -= 1;
    }
    (range.start + head..range.end - tail, &new_rest[..new_rest.len() - tail])
}

/// A border between two characters, on both sides.
struct Cursor<'a> {
    charset: Charset,
    raw: &'a [u8],
    text: &'a [u8],
    at_raw: usize,
    at_text: usize,
    is_decodable: bool,
    /// The bytes before the border mean nothing: what comes behind them might join them.
    follows_malformed: bool,
}

impl<'a> Cursor<'a> {
    fn new(document: &'a Document, charset: Charset) -> Self {
        let (raw, text) = (document.bytes(), document.decoded().bytes());
        let is_decodable = document.is_decodable();
        Cursor { charset, raw, text, at_raw: 0, at_text: 0, is_decodable, follows_malformed: false }
    }

    /// Returns where a range of text, behind all that were asked for before, stands in the bytes.
    fn raw_range(&mut self, range: Range<usize>) -> Result<Range<usize>, MisfitCause> {
        let start = self.raw_offset(range.start)?;
        if self.follows_malformed {
            return Err(MisfitCause::Undecodable);
        }
        let end = self.raw_offset(range.end)?;
        let taken = self.charset.decode_strictly(&self.raw[start..end]);
        if taken.is_none_or(|taken| *taken.as_bytes() != self.text[range]) {
            return Err(MisfitCause::Undecodable);
        }
        Ok(start..end)
    }

    fn raw_offset(&mut self, target: usize) -> Result<usize, MisfitCause> {
        if target < self.at_text {
            // Bytes that mean nothing were gone over as one.
            return Err(MisfitCause::Undecodable);
        }
        if let Some(last) = memrchr(b'\n', &self.text[self.at_text..target]) {
            let end = self.at_text + last + 1;
            let lines = memchr_iter(b'\n', &self.text[self.at_text..end]).count();
            let raw_end = self.newline_ends().nth(lines - 1).ok_or(MisfitCause::Undecodable)?;
            self.jump(raw_end, end);
        }
        if self.charset.is_stateful() {
            // A newline among bytes that mean nothing need not be one of the text.
            return if self.is_decodable {
                self.raw_offset_in_line(target)
            } else {
                Err(MisfitCause::Undecodable)
            };
        }
        while self.at_text < target {
            self.step().ok_or(MisfitCause::Undecodable)?;
        }
        if self.at_text == target { Ok(self.at_raw) } else { Err(MisfitCause::Undecodable) }
    }

    /// Goes on inside of a line that may switch between sets of characters: only to where ASCII is switched to.
    fn raw_offset_in_line(&mut self, target: usize) -> Result<usize, MisfitCause> {
        let is_ascii_before = |end: usize| {
            memrchr(ESCAPE, &self.raw[..end]).is_none_or(|escape| self.raw[escape..].starts_with(TO_ASCII))
        };
        let length = |bytes: &[u8]| memchr(b'\n', bytes).unwrap_or(bytes.len());
        let line = &self.raw[self.at_raw..];
        let line = &line[..length(line)];
        let text_end = self.at_text + length(&self.text[self.at_text..]);
        let raw = if target == self.at_text {
            self.at_raw
        } else if memchr(ESCAPE, line).is_none() {
            self.at_raw + (target - self.at_text)
        } else if target == text_end {
            self.at_raw + line.len()
        } else if target + 1 == text_end && line.ends_with(b"\r") {
            self.at_raw + line.len() - 1
        } else {
            return Err(MisfitCause::Switched);
        };
        if !is_ascii_before(raw) {
            return Err(MisfitCause::Switched);
        }
        self.jump(raw, target);
        Ok(raw)
    }

    /// Returns where a range of bytes, behind all that were asked for before, stands in the text.
    fn text_range(&mut self, range: Range<usize>) -> Option<Range<usize>> {
        let start = self.text_offset(range.start)?;
        let end = self.text_offset(range.end)?;
        let taken = self.charset.decode_strictly(&self.raw[range])?;
        (*taken.as_bytes() == self.text[start..end]).then_some(start..end)
    }

    fn text_offset(&mut self, target: usize) -> Option<usize> {
        let (lines, raw_end) = self
            .newline_ends()
            .take_while(|&end| end <= target)
            .fold((0, 0), |(lines, _), end| (lines + 1, end));
        if lines > 0 {
            let newline = memchr_iter(b'\n', &self.text[self.at_text..]).nth(lines - 1)?;
            self.jump(raw_end, self.at_text + newline + 1);
        }
        if self.charset.is_stateful() {
            let decoded = self.charset.decode_strictly(self.raw.get(self.at_raw..target)?)?;
            self.jump(target, self.at_text + decoded.len());
        }
        while self.at_raw < target {
            self.step()?;
        }
        (self.at_raw == target && self.at_text <= self.text.len()).then_some(self.at_text)
    }

    fn jump(&mut self, at_raw: usize, at_text: usize) {
        (self.at_raw, self.at_text, self.follows_malformed) = (at_raw, at_text, false);
    }

    /// Goes on by one character, or what stands for one; `None` at the end.
    fn step(&mut self) -> Option<()> {
        let (raw, text) = (self.raw.get(self.at_raw..)?, self.text.get(self.at_text..)?);
        let first = *raw.first()?;
        let (raw_bytes, text_bytes) = if first.is_ascii() && self.charset.has_ascii() {
            (1, 1)
        } else {
            match self.charset.step(raw) {
                Step::Character { raw_bytes, text_bytes } => (raw_bytes, text_bytes),
                Step::Malformed(raw_bytes) => {
                    self.jump(self.at_raw + raw_bytes, self.at_text + '\u{FFFD}'.len_utf8());
                    self.follows_malformed = true;
                    return Some(());
                }
            }
        };
        text.get(..text_bytes)?;
        self.jump(self.at_raw + raw_bytes, self.at_text + text_bytes);
        Some(())
    }

    /// Iterates over the raw offsets behind the newlines that follow.
    fn newline_ends(&self) -> impl Iterator<Item = usize> + use<'a> {
        let (raw, from, charset) = (self.raw, self.at_raw, self.charset);
        memchr_iter(b'\n', &raw[from..]).filter_map(move |at| charset.newline_end(raw, from + at))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Encodings with a byte order mark for those that are told by it, and characters that each has.
    const SAMPLES: [(&str, &str); 12] = [
        ("utf-16le", "aé€日\u{1F600}\u{2028}\u{FEFF}"),
        ("utf-16be", "aé€日\u{1F600}\u{2028}"),
        ("windows-1252", "aéß€“”\u{81}"),
        ("koi8-r", "aжЯ─"),
        // Trail bytes that are ASCII: 5C, 7C, 41, 40.
        ("shift_jis", "a表ポァ―ソ　\\|ｱ@A"),
        ("gbk", "a注釋乗丂€|@A"),
        ("gb18030", "a注釋乗é\u{1F600}0"),
        ("big5", "a設功許蓋＼|@"),
        ("euc-kr", "a설정힣갂"),
        ("euc-jp", "a設定ｱ～"),
        ("iso-2022-jp", "a設定い\\"),
        ("utf-8", "aé日"),
    ];

    fn charset(label: &str) -> Charset {
        Charset::for_label(label).expect(label)
    }

    fn document(label: &str, bytes: Vec<u8>) -> Document {
        let charset = charset(label);
        let document = Document::new([charset.mark(), &bytes].concat());
        document.read_as(charset).unwrap()
    }

    fn encoded_document(label: &str, text: &str) -> Document {
        document(label, charset(label).encode(text).unwrap())
    }

    /// The file after one replacement of text, or what is in the way.
    fn edited(document: &Document, old: &str, new: &str) -> Result<Vec<u8>, MisfitCause> {
        let text = std::str::from_utf8(document.decoded().bytes()).unwrap();
        let start = text.find(old).unwrap();
        let splice = Splice { range: start..start + old.len(), new: new.as_bytes().to_vec() };
        match to_raw(document, vec![splice]) {
            Ok(list) => Ok(Splices::new(list).unwrap().apply(document.bytes())),
            Err(misfits) => Err(misfits[0].cause),
        }
    }

    #[test]
    fn a_byte_inside_of_a_character_is_no_place() {
        // 表 ends in the byte of a backslash.
        let file = encoded_document("shift_jis", "表\\n");
        assert_eq!(edited(&file, "\\", "/"), Ok(b"\x95\\/n".to_vec()));
    }

    #[test]
    fn a_guess_of_single_bytes_is_doubted_where_two_may_be_a_character() {
        let file = Document::new(b"\x95\x5C=1\n".to_vec());
        assert!(matches!(file.encoding(), Encoding::Guessed(guess) if guess.has_single_bytes()));
        assert!(matches!(edited(&file, "\\", "/"), Err(MisfitCause::Doubtful(_))));
        assert_eq!(edited(&file, "=1", "=2"), Ok(b"\x95\x5C=2\n".to_vec()));
        // Other bytes of the file are no text in any such encoding.
        let file = Document::new(b"na\xEFve \xE9\n".to_vec());
        assert_eq!(edited(&file, "ve", "f"), Ok(b"na\xEFf \xE9\n".to_vec()));
    }

    #[test]
    fn what_stays_keeps_its_bytes() {
        // Two forms of one character in the file; the encoder knows only one.
        let file = document("shift_jis", b"\xFA\x54x1\n".to_vec());
        assert_eq!(file.decoded().bytes(), "￢x1\n".as_bytes());
        assert_eq!(edited(&file, "￢x1", "￢x2"), Ok(b"\xFA\x54x2\n".to_vec()));
    }

    #[test]
    fn bytes_that_mean_nothing_stay_out_of_it() {
        let file = document("shift_jis", b"a\x81\nb\xFFc\n".to_vec());
        assert_eq!(edited(&file, "c", "d"), Err(MisfitCause::Undecodable), "it follows them");
        assert_eq!(edited(&file, "b", "B"), Ok(b"a\x81\nB\xFFc\n".to_vec()));
        assert_eq!(edited(&file, "\u{FFFD}c", "d"), Err(MisfitCause::Undecodable));
        // The first byte of a character without its second: what comes behind it would become that.
        assert_eq!(edited(&file, "\n", ""), Err(MisfitCause::Undecodable));
        assert_eq!(edited(&file, "c\n", "c\nx\n"), Ok(b"a\x81\nb\xFFc\nx\n".to_vec()));
    }

    #[test]
    fn half_characters_of_utf16_stay_out_of_it() {
        let file = Document::new(b"\xFF\xFEa\0\x00\xD8b\0\n\0c\0\n\0d".to_vec());
        assert_eq!(edited(&file, "c", "ß"), Ok(b"\xFF\xFEa\0\x00\xD8b\0\n\0\xDF\0\n\0d".to_vec()));
        assert_eq!(edited(&file, "b", "B"), Err(MisfitCause::Undecodable));
        assert_eq!(edited(&file, "a", "A"), Ok(b"\xFF\xFEA\0\x00\xD8b\0\n\0c\0\n\0d".to_vec()));
        let end = file.decoded().bytes().len();
        let at_end = to_raw(&file, vec![Splice { range: end..end, new: b"x".to_vec() }]);
        assert_eq!(at_end.unwrap_err()[0].cause, MisfitCause::Undecodable);
    }

    #[test]
    fn where_sets_are_switched_only_whole_lines_are_replaced() {
        let file = encoded_document("iso-2022-jp", "plain\n設定=1\nend\n");
        assert_eq!(edited(&file, "plain", "flat"), Ok([b"flat", &file.bytes()[5..]].concat()));
        assert_eq!(edited(&file, "=1", "=2"), Err(MisfitCause::Switched));
        assert_eq!(edited(&file, "定", "x"), Err(MisfitCause::Switched));
        let expected = charset("iso-2022-jp").encode("plain\n日本\nend\n").unwrap();
        assert_eq!(edited(&file, "設定=1\n", "日本\n"), Ok(expected.clone()));
        assert_eq!(edited(&file, "設定=1", "日本"), Ok(expected));
        assert_eq!(edited(&file, "end", "\u{1F600}"), Err(MisfitCause::Unencodable('\u{1F600}')));
    }

    #[test]
    fn a_guess_is_good_enough_for_ascii_only() {
        let file = Document::new(b"na\xEFve\nx=1\n".to_vec());
        assert_eq!(edited(&file, "x=1", "x=2"), Ok(b"na\xEFve\nx=2\n".to_vec()));
        assert_eq!(edited(&file, "naïve", "naive"), Ok(b"naive\nx=1\n".to_vec()));
        assert_eq!(
            edited(&file, "naïve", "naïf"),
            Ok(b"na\xEFf\nx=1\n".to_vec()),
            "nothing new is not ASCII"
        );
        assert_eq!(edited(&file, "1", "é"), Err(MisfitCause::Guessed('é')));
    }

    #[test]
    fn every_misfit_is_found() {
        let file = encoded_document("windows-1252", "a\nb\nc\n");
        let splice =
            |start: usize, new: &str| Splice { range: start..start + 1, new: new.as_bytes().to_vec() };
        let misfits = to_raw(&file, vec![splice(0, "Ω"), splice(2, "ok"), splice(4, "Я")]).unwrap_err();
        let expected =
            |index, offset, character| Misfit { index, offset, cause: MisfitCause::Unencodable(character) };
        assert_eq!(misfits, [expected(0, 0, 'Ω'), expected(2, 4, 'Я')]);
    }

    fn texts(alphabet: &'static str) -> impl Strategy<Value = String> {
        let characters: Vec<char> = alphabet.chars().chain(['\n', '\n', 'x', '\r', ' ']).collect();
        prop::collection::vec(prop::sample::select(characters), 0..30)
            .prop_map(|text| text.into_iter().collect())
    }

    /// Replacements between characters of a text, as the parts of a random cut of it.
    fn splices(text: &str, picks: &[(usize, usize, String)]) -> Vec<Splice> {
        let borders: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let mut list = Vec::new();
        let mut free = 0;
        let mut picks: Vec<_> = picks.to_vec();
        picks.sort();
        for (start, length, new) in picks {
            let start = (start % borders.len()).max(free);
            let end = (start + length).min(borders.len() - 1);
            if start < borders.len() && start <= end {
                list.push(Splice { range: borders[start]..borders[end], new: new.into_bytes() });
                free = end + 1;
            }
        }
        list.sort_by_key(|splice| splice.range.start);
        list
    }

    fn cases() -> impl Strategy<Value = (&'static str, String, Vec<(usize, usize, String)>)> {
        prop::sample::select(&SAMPLES[..]).prop_flat_map(|(label, alphabet)| {
            let picks = prop::collection::vec((0usize..30, 0usize..4, texts(alphabet)), 0..4);
            (Just(label), texts(alphabet), picks)
        })
    }

    proptest! {
        /// An edit of the bytes is what an edit of the text and then encoding it is.
        #[test]
        fn editing_the_bytes_is_editing_the_text((label, text, picks) in cases()) {
            let file = encoded_document(label, &text);
            let mark = file.decoded().text_start();
            let mut list = splices(&text, &picks);
            for splice in &mut list {
                splice.range = splice.range.start + mark..splice.range.end + mark;
            }
            let edited_text = Splices::new(list.clone()).unwrap().apply(file.decoded().bytes());
            match to_raw(&file, list) {
                Ok(raw) => {
                    let raw = Splices::new(raw).unwrap();
                    let after = file.successor(raw.apply(file.bytes()));
                    prop_assert_eq!(after.decoded().bytes(), &edited_text[..]);
                    if !charset(label).is_stateful() {
                        let expected = charset(label).encode(std::str::from_utf8(&edited_text).unwrap()).unwrap();
                        prop_assert_eq!(after.bytes(), expected);
                    }
                    let back = to_text(&file, &raw).expect("borders of characters");
                    prop_assert_eq!(back.apply(file.decoded().bytes()), edited_text);
                }
                Err(misfits) => prop_assert!(charset(label).is_stateful(), "{:?}", misfits),
            }
        }

        /// In any bytes an edit of text leads to the edited text, or is refused.
        #[test]
        fn no_edit_changes_what_it_does_not_name(
            (label, bytes) in prop::sample::select(&SAMPLES[..]).prop_flat_map(|(label, _)| {
                let byte = prop_oneof![any::<u8>(), 0x80_u8..=0xFF, Just(b'\n'), Just(0_u8), Just(0x1B_u8), 0x30_u8..0x5D];
                (Just(label), prop::collection::vec(byte, 0..30))
            }),
            picks in prop::collection::vec((0usize..30, 0usize..4, "[a\n]{0,3}"), 0..3),
        ) {
            let charset = charset(label);
            let file = Document::new([charset.mark(), &bytes].concat());
            let file = file.read_as(charset);
            let Some(file) = file.ok().filter(|file| !file.is_binary()) else { return Ok(()) };
            let text = std::str::from_utf8(file.decoded().bytes()).unwrap();
            let list = splices(text, &picks);
            let expected = Splices::new(list.clone()).unwrap().apply(text.as_bytes());
            if let Ok(raw) = to_raw(&file, list) {
                let raw = Splices::new(raw).unwrap().apply(file.bytes());
                let (decoded, _) = charset.decode(&raw);
                prop_assert_eq!(decoded.as_bytes(), &expected[..], "{:?}", raw);
            }
        }
    }
}
