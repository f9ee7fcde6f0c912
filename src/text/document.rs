//! One file's bytes seen as text: encoding, byte order mark, and lines that keep their own endings.
//!
//! A line ends at LF or CRLF; a lone CR is text. Offsets are byte offsets into the raw bytes, BOM included, so that
//! a range found here can be spliced as it is. Nothing here re-encodes or normalises the file. What is not UTF-8 is
//! also seen [decoded](Document::decoded), by a copy that is made when it is first asked for; `recode` leads from
//! offsets in the one to offsets in the other.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::sync::OnceLock;

use memchr::memchr;
use memchr::memmem;

use super::charset::Charset;

/// The UTF-8 byte order mark.
pub const UTF8_BOM: &[u8] = b"\xEF\xBB\xBF";

/// How a file's bytes encode its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark. ASCII and the empty file are UTF-8.
    Utf8,
    /// The encoding that a byte order mark names: UTF-16, or UTF-8 in which some bytes are not.
    Marked(Charset),
    /// The encoding that the user names.
    Given(Charset),
    /// Text that is not UTF-8, and nothing tells its encoding: the likeliest one.
    Guessed(Charset),
    /// UTF-32 by its byte order mark, which can't be read; the name says which.
    Unsupported(&'static str),
    /// Holds NUL bytes: not text.
    Binary,
}

impl Encoding {
    /// Returns the name that reports use: `utf-8`, `utf-16le`, `windows-1252`, `binary`.
    pub fn name(self) -> String {
        match self {
            Encoding::Utf8 => "utf-8".to_owned(),
            Encoding::Marked(charset) | Encoding::Given(charset) | Encoding::Guessed(charset) => {
                charset.name()
            }
            Encoding::Unsupported(name) => name.to_owned(),
            Encoding::Binary => "binary".to_owned(),
        }
    }

    /// Returns how bytes become text, if that is not as UTF-8.
    pub fn charset(self) -> Option<Charset> {
        match self {
            Encoding::Marked(charset) | Encoding::Given(charset) | Encoding::Guessed(charset) => {
                Some(charset)
            }
            Encoding::Utf8 | Encoding::Unsupported(_) | Encoding::Binary => None,
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
    /// Empty while an encoding would have to be guessed and nobody asked for it.
    encoding: OnceLock<Encoding>,
    bom_bytes: usize,
    decoded: OnceLock<Arc<Decoded>>,
}

/// What bytes of another encoding mean.
struct Decoded {
    text: Document,
    has_errors: bool,
    has_nul: bool,
}

impl Document {
    /// Takes a file's raw bytes and finds its encoding and byte order mark.
    pub fn new(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        let (encoding, bom_bytes) = detect(bytes.as_ref());
        Document {
            bytes: Arc::new(bytes),
            encoding: encoding.map_or_else(OnceLock::new, OnceLock::from),
            bom_bytes,
            decoded: OnceLock::new(),
        }
    }

    fn in_encoding(bytes: Arc<dyn AsRef<[u8]> + Send + Sync>, encoding: Encoding) -> Self {
        let mark = encoding.charset().unwrap_or(Charset::UTF_8).mark();
        let has_mark = !mark.is_empty() && (*bytes).as_ref().starts_with(mark);
        let bom_bytes = if has_mark { mark.len() } else { 0 };
        Document { bytes, encoding: OnceLock::from(encoding), bom_bytes, decoded: OnceLock::new() }
    }

    /// Returns the document as one of an encoding that the user names; NUL bytes are no text in any but UTF-16.
    ///
    /// # Errors
    /// The name of the encoding that a byte order mark names, if it is another one.
    pub fn read_as(&self, charset: Charset) -> Result<Self, String> {
        let given = || Document::in_encoding(Arc::clone(&self.bytes), Encoding::Given(charset));
        match self.encoding.get() {
            Some(Encoding::Unsupported(name)) => Err((*name).to_owned()),
            Some(Encoding::Marked(marked)) if *marked == charset => Ok(given()),
            Some(Encoding::Marked(marked)) => Err(marked.name()),
            Some(Encoding::Utf8) if charset == Charset::UTF_8 => Ok(self.clone()),
            Some(Encoding::Utf8) if self.has_bom() => Err(Encoding::Utf8.name()),
            Some(Encoding::Binary) if !charset.is_utf16() => Ok(self.clone()),
            Some(_) | None => Ok(given()),
        }
    }

    /// Returns the document as the text in ISO-2022-JP that it may be although all its bytes are ASCII; looks at all of
    /// them.
    pub fn with_switched_sets(&self) -> Option<Self> {
        let is_switched =
            self.encoding.get() == Some(&Encoding::Utf8) && Charset::is_iso_2022_jp(self.bytes());
        let guessed = Encoding::Guessed(Charset::ISO_2022_JP);
        is_switched.then(|| Document::in_encoding(Arc::clone(&self.bytes), guessed))
    }

    /// Returns what an edit of this document leads to: bytes of the same encoding, as far as one was known.
    pub fn successor(&self, bytes: Vec<u8>) -> Self {
        let encoding = self.encoding();
        match encoding.charset() {
            Some(charset) if charset.is_utf16() || memchr(0, &bytes).is_none() => {
                Document::in_encoding(Arc::new(bytes), encoding)
            }
            Some(_) | None => Document::new(bytes),
        }
    }

    /// Returns what replaces this document as a whole: its encoding is found anew, but where nothing tells it, that is
    /// no sign of a change.
    pub fn replaced_by(&self, bytes: Vec<u8>) -> Self {
        let document = Document::new(bytes);
        match self.encoding.get() {
            Some(Encoding::Given(charset)) => document.read_as(*charset).unwrap_or(document),
            _ => document.read_like(self),
        }
    }

    /// Returns the document in the encoding that another one is guessed to have, if this one's can be guessed only, and
    /// all of it is text in that encoding.
    pub fn read_like(self, other: &Document) -> Self {
        let is_guess =
            |document: &Document| matches!(document.encoding.get(), None | Some(Encoding::Guessed(_)));
        if !is_guess(&self) || !is_guess(other) {
            return self;
        }
        let alike = Document::in_encoding(Arc::clone(&self.bytes), other.encoding());
        if alike.is_decodable() { alike } else { self }
    }

    /// Returns the raw bytes, byte order mark included.
    pub fn bytes(&self) -> &[u8] {
        (*self.bytes).as_ref()
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

    /// Returns how the bytes encode text. Of text that is not UTF-8 the encoding is guessed at the first call.
    pub fn encoding(&self) -> Encoding {
        *self.encoding.get_or_init(|| Encoding::Guessed(Charset::guess(self.bytes())))
    }

    /// Tells whether the document is UTF-8 as it is; guesses nothing.
    pub fn is_utf8(&self) -> bool {
        self.encoding.get() == Some(&Encoding::Utf8)
    }

    /// Returns the document in UTF-8, byte order mark and all, with U+FFFD for bytes that mean nothing: itself if it is
    /// UTF-8, or no text. The copy is at most three times as long, and is made once.
    pub fn decoded(&self) -> &Document {
        match self.in_other_encoding() {
            Some(decoded) => &decoded.text,
            None => self,
        }
    }

    fn in_other_encoding(&self) -> Option<&Decoded> {
        if self.is_utf8() {
            return None;
        }
        let charset = self.encoding().charset()?;
        Some(self.decoded.get_or_init(|| {
            let (text, has_errors) = charset.decode(self.bytes());
            let has_nul = memchr(0, text.as_bytes()).is_some();
            let text = Document::in_encoding(Arc::new(text.into_owned().into_bytes()), Encoding::Utf8);
            Arc::new(Decoded { text, has_errors, has_nul })
        }))
    }

    /// Tells whether the document is no text: it holds NUL bytes (in UTF-16: characters), or can't be read.
    pub fn is_binary(&self) -> bool {
        match self.encoding.get() {
            Some(Encoding::Binary | Encoding::Unsupported(_)) => true,
            Some(encoding) if encoding.charset().is_some_and(Charset::is_utf16) => {
                self.in_other_encoding().is_some_and(|decoded| decoded.has_nul)
            }
            Some(_) | None => false,
        }
    }

    /// Tells whether every byte is part of a character.
    pub fn is_decodable(&self) -> bool {
        !self.is_binary() && self.in_other_encoding().is_none_or(|decoded| !decoded.has_errors)
    }

    /// Tells whether lines of text are lines of bytes: newline bytes end them, and nothing else does.
    pub fn has_lines_of_bytes(&self) -> bool {
        match self.encoding.get() {
            Some(Encoding::Binary | Encoding::Unsupported(_)) => false,
            Some(encoding) => !encoding.charset().is_some_and(Charset::is_utf16),
            None => true,
        }
    }

    /// Returns the document to look for line endings in.
    fn for_endings(&self) -> &Document {
        if self.has_lines_of_bytes() { self } else { self.decoded() }
    }

    /// Tells whether the file begins with a byte order mark.
    pub fn has_bom(&self) -> bool {
        self.bom_bytes > 0
    }

    /// Tells whether the text ends in a newline; an empty file does not.
    pub fn has_final_newline(&self) -> bool {
        self.for_endings().text().last() == Some(&b'\n')
    }

    /// Counts the line endings; walks the whole file.
    pub fn eol_counts(&self) -> EolCounts {
        EolCounts::of(self.for_endings().text())
    }

    /// Iterates over the lines of bytes after the byte order mark, with raw offsets.
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

    /// Returns the text as reports show it: LF line ends, no byte order mark; `None` if some of it is no text.
    pub fn shown_text(&self) -> Option<Cow<'_, str>> {
        if !self.is_decodable() {
            return None;
        }
        std::str::from_utf8(self.decoded().text()).ok().map(with_lf)
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
        formatter
            .debug_struct("Document")
            .field("encoding", &self.encoding.get())
            .field("bytes", &text)
            .finish()
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

/// Returns what tells the encoding of bytes, if something does, and the length of the byte order mark.
fn detect(bytes: &[u8]) -> (Option<Encoding>, usize) {
    match bytes {
        // UTF-32LE begins like UTF-16LE, so it is asked for first.
        [0xFF, 0xFE, 0, 0, ..] => (Some(Encoding::Unsupported("utf-32le")), 4),
        [0, 0, 0xFE, 0xFF, ..] => (Some(Encoding::Unsupported("utf-32be")), 4),
        [0xFF, 0xFE, ..] => (Some(Encoding::Marked(Charset::UTF_16LE)), 2),
        [0xFE, 0xFF, ..] => (Some(Encoding::Marked(Charset::UTF_16BE)), 2),
        _ => {
            let bom_bytes = if bytes.starts_with(UTF8_BOM) { UTF8_BOM.len() } else { 0 };
            let encoding = if memchr(0, bytes).is_some() {
                Some(Encoding::Binary)
            } else if std::str::from_utf8(&bytes[bom_bytes..]).is_ok() {
                Some(Encoding::Utf8)
            } else {
                (bom_bytes > 0).then_some(Encoding::Marked(Charset::UTF_8))
            };
            (encoding, bom_bytes)
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
        let cases: [(&[u8], Encoding, bool); 9] = [
            (b"", Encoding::Utf8, false),
            (b"plain\n", Encoding::Utf8, false),
            (b"\xEF\xBB\xBFx", Encoding::Utf8, true),
            (b"\xFF\xFEa\0", Encoding::Marked(Charset::UTF_16LE), true),
            (b"\xFE\xFF\0a", Encoding::Marked(Charset::UTF_16BE), true),
            (b"\xFF\xFE\0\0a\0\0\0", Encoding::Unsupported("utf-32le"), true),
            (b"\xEF\xBB\xBFa\xFF", Encoding::Marked(Charset::UTF_8), true),
            (b"caf\xE9 noir", Encoding::Guessed(Charset::for_label("windows-1252").unwrap()), false),
            (b"a\0b", Encoding::Binary, false),
        ];
        for (bytes, encoding, bom) in cases {
            let document = Document::new(bytes.to_vec());
            assert_eq!((document.encoding(), document.has_bom()), (encoding, bom), "{bytes:?}");
        }
    }

    fn charset(label: &str) -> Charset {
        Charset::for_label(label).unwrap()
    }

    #[test]
    fn the_user_names_the_encoding_unless_a_mark_does() {
        let check = |bytes: &[u8], label: &str, expected: Result<&str, &str>| {
            let read = Document::new(bytes.to_vec()).read_as(charset(label));
            let read = read.map(|document| document.encoding().name());
            assert_eq!(read, expected.map(str::to_owned).map_err(str::to_owned), "{bytes:?} {label}");
        };
        check(b"ascii", "shift_jis", Ok("shift_jis"));
        check("é".as_bytes(), "windows-1252", Ok("windows-1252"));
        check("é".as_bytes(), "utf-8", Ok("utf-8"));
        check(b"\xE9", "utf-8", Ok("utf-8"));
        check(b"a\0", "utf-16le", Ok("utf-16le"));
        check(b"a\0b", "windows-1252", Ok("binary"));
        check(b"\xFF\xFEa\0", "utf-16le", Ok("utf-16le"));
        check(b"\xFF\xFEa\0", "utf-16be", Err("utf-16le"));
        check(b"\xEF\xBB\xBFa", "windows-1252", Err("utf-8"));
        check(b"\xEF\xBB\xBFa\xFF", "utf-8", Ok("utf-8"));
        check(b"\xFF\xFE\0\0", "utf-16le", Err("utf-32le"));
    }

    #[test]
    fn an_edit_leaves_the_encoding_as_it_was() {
        let check = |before: Document, bytes: &[u8], expected: &str| {
            assert_eq!(before.successor(bytes.to_vec()).encoding().name(), expected, "{bytes:?}");
        };
        let given = |label: &str| Document::new(b"x".to_vec()).read_as(charset(label)).unwrap();
        check(given("koi8-r"), b"y", "koi8-r");
        check(given("koi8-r"), b"y\0", "binary");
        check(Document::new(b"\xFF\xFEa\0".to_vec()), b"a\0", "utf-16le");
        check(Document::new(b"x".to_vec()), b"y\0", "binary");
        check(Document::new(b"caf\xE9".to_vec()), b"cafe", "windows-1252");
    }

    #[test]
    fn whole_new_content_is_told_anew() {
        let check = |before: &[u8], after: &[u8], expected: &str| {
            let before = Document::new(before.to_vec());
            before.encoding();
            assert_eq!(before.replaced_by(after.to_vec()).encoding().name(), expected, "{after:?}");
        };
        check(b"caf\xE9", "café".as_bytes(), "utf-8");
        check(b"\xFF\xFEa\0", b"\xE9 caf", "windows-1252");
        // Only a guess is no reason to see another encoding.
        let greek = charset("windows-1253").encode("Καλημέρα κόσμε").unwrap();
        check(&greek, b"\xE9t\xE9", "windows-1253");
    }

    #[test]
    fn lines_and_text_are_those_of_the_decoded_text() {
        let document = Document::new(b"\xFF\xFE\x0A\x0D\r\0\n\0b\0\n\0\xE9\0".to_vec());
        // U+0D0A holds both bytes of a line ending, and is none.
        assert_eq!(document.shown_text().as_deref(), Some("\u{D0A}\nb\né"));
        assert_eq!(document.eol_counts(), EolCounts { lf: 1, crlf: 1 });
        assert!(!document.has_final_newline() && document.has_bom() && document.is_decodable());
        let document = Document::new(b"\xFF\xFEa\0\0\0".to_vec());
        assert!(document.is_binary() && document.shown_text().is_none(), "a character that is NUL");
        let document = Document::new(b"\xFF\xFEa\0\x00\xD8".to_vec());
        assert!(!document.is_binary() && !document.is_decodable() && document.shown_text().is_none());
    }

    #[test]
    fn shown_text_has_lf_and_no_bom_but_keeps_lone_cr() {
        let document = Document::new(b"\xEF\xBB\xBFa\r\nb\rc\n".to_vec());
        assert_eq!(document.shown_text().as_deref(), Some("a\nb\rc\n"));
        assert_eq!(document.eol_counts(), EolCounts { lf: 1, crlf: 1 });
        assert_eq!(document.eol_counts().eol(), Eol::Mixed);
    }
}
