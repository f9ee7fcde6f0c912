//! One file's bytes seen as text: encoding, byte order mark, and lines that keep their own endings.
//!
//! A line ends at LF or CRLF; a lone CR is text. Offsets are byte offsets into the raw bytes, BOM included, so that
//! a range found here can be spliced as it is. Nothing here re-encodes or normalises the file.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use memchr::memchr;
use memchr::memmem;

/// The UTF-8 byte order mark.
pub const UTF8_BOM: &[u8] = b"\xEF\xBB\xBF";

/// How a file's bytes encode its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark. ASCII and the empty file are UTF-8.
    Utf8,
    /// UTF-16 or UTF-32 by its byte order mark; the name says which.
    Marked(&'static str),
    /// Text in some other encoding: no NUL bytes, but not UTF-8.
    Unknown,
    /// Holds NUL bytes: not text.
    Binary,
}

impl Encoding {
    /// Returns the name that reports use: `utf-8`, `utf-16le`, `unknown`, `binary`.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "utf-8",
            Encoding::Marked(name) => name,
            Encoding::Unknown => "unknown",
            Encoding::Binary => "binary",
        }
    }
}

/// The line endings of a whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eol {
    /// Every ending is LF.
    Lf,
    /// Every ending is CRLF.
    Crlf,
    /// There are both.
    Mixed,
    /// There is no line ending at all.
    None,
}

/// How many lines end in LF alone and how many in CRLF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EolCounts {
    /// Lines that end in LF without a CR before it.
    pub lf: usize,
    /// Lines that end in CRLF.
    pub crlf: usize,
}

impl EolCounts {
    /// Counts the endings in `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        let newlines = memchr::memchr_iter(b'\n', bytes).count();
        // Most files hold no CR at all: one fast search spares the second count.
        let crlf = if memchr(b'\r', bytes).is_some() { memmem::find_iter(bytes, b"\r\n").count() } else { 0 };
        EolCounts { lf: newlines - crlf, crlf }
    }

    /// Returns the ending that an inserted line takes where no neighbour tells: the file's majority, LF on a tie.
    pub fn majority(self) -> &'static [u8] {
        if self.crlf > self.lf { b"\r\n" } else { b"\n" }
    }

    /// Returns what the two counts say of the whole file.
    pub fn eol(self) -> Eol {
        match (self.lf, self.crlf) {
            (0, 0) => Eol::None,
            (_, 0) => Eol::Lf,
            (0, _) => Eol::Crlf,
            _ => Eol::Mixed,
        }
    }
}

/// One line of a document, as byte offsets into its raw bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineSpan {
    /// Where the line's text begins.
    pub start: usize,
    /// Where its text ends and its ending, if it has one, begins.
    pub text_end: usize,
    /// Where its ending ends: the start of the next line.
    pub end: usize,
}

impl LineSpan {
    /// Returns the line that begins at `start`; at the end of `bytes` it is empty.
    pub fn at(bytes: &[u8], start: usize) -> Self {
        match memchr(b'\n', &bytes[start..]) {
            Some(length) => {
                let newline = start + length;
                let has_cr = newline > start && bytes[newline - 1] == b'\r';
                LineSpan { start, text_end: newline - usize::from(has_cr), end: newline + 1 }
            }
            None => LineSpan { start, text_end: bytes.len(), end: bytes.len() },
        }
    }

    /// Returns the line that ends (with its newline) at `end`, which is not 0.
    pub fn before(bytes: &[u8], end: usize) -> Self {
        let body_end = if bytes[end - 1] == b'\n' { end - 1 } else { end };
        let start = memchr::memrchr(b'\n', &bytes[..body_end]).map_or(0, |newline| newline + 1);
        let has_cr = body_end < end && body_end > start && bytes[body_end - 1] == b'\r';
        LineSpan { start, text_end: body_end - usize::from(has_cr), end }
    }

    /// Returns the line's text without its ending.
    pub fn text<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.start..self.text_end]
    }

    /// Returns the line's own ending: LF, CRLF or, on a last line without one, nothing.
    pub fn ending<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.text_end..self.end]
    }
}

/// Iterates over the lines of a byte slice.
#[derive(Debug, Clone)]
pub struct Lines<'a> {
    bytes: &'a [u8],
    next: usize,
}

impl Iterator for Lines<'_> {
    type Item = LineSpan;

    fn next(&mut self) -> Option<LineSpan> {
        if self.next >= self.bytes.len() {
            return None;
        }
        let line = LineSpan::at(self.bytes, self.next);
        self.next = line.end;
        Some(line)
    }
}

/// Iterates over the lines of `bytes` from the byte offset `start`, which is the start of a line.
///
/// A final newline ends its line and does not begin another one; empty bytes have no line.
pub fn lines_from(bytes: &[u8], start: usize) -> Lines<'_> {
    Lines { bytes, next: start }
}

/// One file's bytes, with what is known of them as text. A clone shares the bytes.
#[derive(Clone)]
pub struct Document {
    /// However they are held: a big file is not read into a vector.
    bytes: Arc<dyn AsRef<[u8]> + Send + Sync>,
    encoding: Encoding,
    bom_bytes: usize,
}

impl Document {
    /// Takes a file's raw bytes and finds its encoding and byte order mark.
    pub fn new(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        let (encoding, bom_bytes) = detect(bytes.as_ref());
        Document { bytes: Arc::new(bytes), encoding, bom_bytes }
    }

    /// Returns the raw bytes, byte order mark included.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.as_ref().as_ref()
    }

    /// Returns the byte offset at which the text begins: after the byte order mark.
    pub fn text_start(&self) -> usize {
        self.bom_bytes
    }

    /// Returns the bytes after the byte order mark.
    pub fn text(&self) -> &[u8] {
        &self.bytes()[self.bom_bytes..]
    }

    /// Returns the document with its byte order mark as a part of its first line.
    pub fn with_bom_as_text(&self) -> Self {
        Document { bom_bytes: 0, ..self.clone() }
    }

    /// Returns how the bytes encode text.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Tells whether the file begins with a byte order mark.
    pub fn has_bom(&self) -> bool {
        self.bom_bytes > 0
    }

    /// Tells whether the text ends in a newline; an empty file does not.
    pub fn has_final_newline(&self) -> bool {
        self.text().last() == Some(&b'\n')
    }

    /// Counts the line endings; walks the whole file.
    pub fn eol_counts(&self) -> EolCounts {
        EolCounts::of(self.text())
    }

    /// Iterates over the lines after the byte order mark, with raw offsets.
    pub fn lines(&self) -> Lines<'_> {
        lines_from(self.bytes(), self.bom_bytes)
    }

    /// Returns the line that ends (with its newline) at the raw offset `end`, which lies behind the start of the text.
    ///
    /// The first line begins after the byte order mark, as [`Document::lines`] has it.
    pub fn line_before(&self, end: usize) -> LineSpan {
        let line = LineSpan::before(self.bytes(), end);
        LineSpan { start: line.start.max(self.bom_bytes), ..line }
    }

    /// Returns the text as reports show it: LF line ends, no byte order mark; `None` if it is not UTF-8.
    pub fn shown_text(&self) -> Option<Cow<'_, str>> {
        if self.encoding != Encoding::Utf8 {
            return None;
        }
        std::str::from_utf8(self.text()).ok().map(with_lf)
    }
}

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Document {}

impl fmt::Debug for Document {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = String::from_utf8_lossy(self.bytes());
        formatter.debug_struct("Document").field("encoding", &self.encoding).field("bytes", &text).finish()
    }
}

/// Returns `text` with every CRLF as LF; a lone CR stays. Borrows where there is nothing to do.
pub fn with_lf(text: &str) -> Cow<'_, str> {
    if memmem::find(text.as_bytes(), b"\r\n").is_none() {
        Cow::Borrowed(text)
    } else {
        text.replace("\r\n", "\n").into()
    }
}

fn detect(bytes: &[u8]) -> (Encoding, usize) {
    match bytes {
        // UTF-32LE begins like UTF-16LE, so it is asked for first.
        [0xFF, 0xFE, 0, 0, ..] => (Encoding::Marked("utf-32le"), 4),
        [0, 0, 0xFE, 0xFF, ..] => (Encoding::Marked("utf-32be"), 4),
        [0xFF, 0xFE, ..] => (Encoding::Marked("utf-16le"), 2),
        [0xFE, 0xFF, ..] => (Encoding::Marked("utf-16be"), 2),
        _ => {
            let bom_bytes = if bytes.starts_with(UTF8_BOM) { UTF8_BOM.len() } else { 0 };
            if memchr(0, bytes).is_some() {
                (Encoding::Binary, bom_bytes)
            } else if std::str::from_utf8(&bytes[bom_bytes..]).is_ok() {
                (Encoding::Utf8, bom_bytes)
            } else {
                (Encoding::Unknown, bom_bytes)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(bytes: &[u8]) -> Vec<(&[u8], &[u8])> {
        lines_from(bytes, 0).map(|line| (line.text(bytes), line.ending(bytes))).collect()
    }

    #[test]
    fn lines_keep_their_own_endings_and_a_lone_cr_is_text() {
        let bytes = b"a\r\nb\rc\n\n\r\nlast";
        let expected: Vec<(&[u8], &[u8])> =
            vec![(b"a", b"\r\n"), (b"b\rc", b"\n"), (b"", b"\n"), (b"", b"\r\n"), (b"last", b"")];
        assert_eq!(texts(bytes), expected);
        assert_eq!(texts(b""), vec![]);
    }

    #[test]
    fn walking_backward_gives_the_same_lines() {
        for bytes in [&b"a\r\nb\rc\n\n\r\nlast"[..], b"\n", b"\r\n", b"x", b"x\r", b"\n\n", b"a\n\r\nb\r\n"] {
            let forward: Vec<LineSpan> = lines_from(bytes, 0).collect();
            let mut backward = Vec::new();
            let mut end = bytes.len();
            while end > 0 {
                let line = LineSpan::before(bytes, end);
                end = line.start;
                backward.push(line);
            }
            backward.reverse();
            assert_eq!(backward, forward, "{bytes:?}");
        }
    }

    #[test]
    fn the_first_line_begins_after_the_byte_order_mark_from_both_sides() {
        for text in ["a\nb\n", "\r\nb\n", "\nb", "a"] {
            let document = Document::new(format!("\u{FEFF}{text}").into_bytes());
            let lines: Vec<LineSpan> = document.lines().collect();
            for line in lines {
                assert_eq!(document.line_before(line.end), line, "{text:?}");
            }
        }
    }

    #[test]
    fn encodings_are_told_apart() {
        let cases: [(&[u8], Encoding, bool); 8] = [
            (b"", Encoding::Utf8, false),
            (b"plain\n", Encoding::Utf8, false),
            (b"\xEF\xBB\xBFx", Encoding::Utf8, true),
            (b"\xFF\xFEa\0", Encoding::Marked("utf-16le"), true),
            (b"\xFE\xFF\0a", Encoding::Marked("utf-16be"), true),
            (b"\xFF\xFE\0\0a\0\0\0", Encoding::Marked("utf-32le"), true),
            (b"caf\xE9", Encoding::Unknown, false),
            (b"a\0b", Encoding::Binary, false),
        ];
        for (bytes, encoding, bom) in cases {
            let document = Document::new(bytes.to_vec());
            assert_eq!((document.encoding(), document.has_bom()), (encoding, bom), "{bytes:?}");
        }
    }

    #[test]
    fn shown_text_has_lf_and_no_bom_but_keeps_lone_cr() {
        let document = Document::new(b"\xEF\xBB\xBFa\r\nb\rc\n".to_vec());
        assert_eq!(document.shown_text().as_deref(), Some("a\nb\rc\n"));
        assert_eq!(document.eol_counts(), EolCounts { lf: 1, crlf: 1 });
        assert_eq!(document.eol_counts().eol(), Eol::Mixed);
    }
}
