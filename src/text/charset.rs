//! Encodings other than UTF-8: their names, text out of bytes, bytes out of text, and a guess where nothing tells.
//!
//! What a byte means is decided by the [WHATWG Encoding Standard](https://encoding.spec.whatwg.org). This is the only
//! file that names the libraries which know its tables.

use std::borrow::Cow;
use std::fmt;

use chardetng::EncodingDetector;
use chardetng::Iso2022JpDetection;
use chardetng::Utf8Detection;
use encoding_rs::DecoderResult;
use encoding_rs::EncoderResult;
use encoding_rs::Encoding;
use memchr::memchr;
use memchr::memmem;

/// A guess looks at so many bytes from the first line on that is not ASCII: enough text to tell, at a bounded cost.
const GUESS_CAP_BYTES: usize = 1 << 18;
/// No character of any encoding takes more bytes.
const CHARACTER_LIMIT_BYTES: usize = 4;

/// One encoding of text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Charset(&'static Encoding);

/// What stands at the beginning of some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// One character (or a pair of them that the encoding has as one), of so many bytes and so many in UTF-8.
    Character {
        /// Its bytes.
        raw_bytes: usize,
        /// Its bytes in UTF-8.
        text_bytes: usize,
    },
    /// So many bytes that mean nothing; decoded they are one U+FFFD.
    Malformed(usize),
}

impl Charset {
    /// UTF-8, for files in which some bytes are not.
    pub const UTF_8: Charset = Charset(encoding_rs::UTF_8);
    /// UTF-16 with the low byte first.
    pub const UTF_16LE: Charset = Charset(encoding_rs::UTF_16LE);
    /// UTF-16 with the high byte first.
    pub const UTF_16BE: Charset = Charset(encoding_rs::UTF_16BE);
    /// Japanese text of 7-bit bytes, in which escape sequences switch between sets of characters.
    pub const ISO_2022_JP: Charset = Charset(encoding_rs::ISO_2022_JP);

    /// The encodings in which an ASCII byte may be the second of a character.
    pub(super) const WITH_ASCII_SECOND: [Charset; 4] = [
        Charset(encoding_rs::SHIFT_JIS),
        Charset(encoding_rs::GB18030),
        Charset(encoding_rs::BIG5),
        Charset(encoding_rs::EUC_KR),
    ];

    /// Some names, to show how they are spelt.
    pub const SOME_NAMES: &'static str = "utf-8, utf-16le, utf-16be, windows-1252, windows-1251, iso-8859-2, koi8-r, \
                                          shift_jis, euc-jp, iso-2022-jp, gbk, gb18030, big5, euc-kr";

    /// Returns the encoding of a label of the standard, in upper or lower case: `latin1` and `cp1252` are windows-1252.
    pub fn for_label(label: &str) -> Option<Self> {
        Encoding::for_label_no_replacement(label.as_bytes()).map(Charset)
    }

    /// Returns the name that reports use: the standard's, in lower case.
    pub fn name(self) -> String {
        self.0.name().to_ascii_lowercase()
    }

    /// Tells whether two bytes make a unit, so that not even ASCII is what it is elsewhere.
    pub fn is_utf16(self) -> bool {
        self == Charset::UTF_16LE || self == Charset::UTF_16BE
    }

    /// Tells whether every byte is a character.
    pub fn has_single_bytes(self) -> bool {
        self.0.is_single_byte()
    }

    /// Tells whether what a byte means depends on escape sequences anywhere before it.
    pub fn is_stateful(self) -> bool {
        self == Charset::ISO_2022_JP
    }

    /// Tells whether an ASCII byte that is no part of a longer character stands for itself.
    pub fn has_ascii(self) -> bool {
        self.0.is_ascii_compatible()
    }

    /// Returns the byte order mark that names this encoding; empty if there is none.
    pub fn mark(self) -> &'static [u8] {
        if self == Charset::UTF_16LE {
            b"\xFF\xFE"
        } else if self == Charset::UTF_16BE {
            b"\xFE\xFF"
        } else if self == Charset::UTF_8 {
            b"\xEF\xBB\xBF"
        } else {
            b""
        }
    }

    /// Returns where a newline ends that has its newline byte at `at`; `None` if that byte is a part of something else.
    pub(super) fn newline_end(self, bytes: &[u8], at: usize) -> Option<usize> {
        if self == Charset::UTF_16LE {
            (at.is_multiple_of(2) && bytes.get(at + 1) == Some(&0)).then_some(at + 2)
        } else if self == Charset::UTF_16BE {
            (!at.is_multiple_of(2) && bytes[at - 1] == 0).then_some(at + 1)
        } else {
            Some(at + 1)
        }
    }

    /// Guesses the encoding of text that is not UTF-8.
    pub fn guess(bytes: &[u8]) -> Self {
        let first = bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(0);
        let start = memchr::memrchr(b'\n', &bytes[..first]).map_or(0, |newline| newline + 1);
        // A line without end is no reason to see only ASCII.
        let start = start.max(first.saturating_sub(GUESS_CAP_BYTES / 2));
        let sample = &bytes[start..bytes.len().min(start + GUESS_CAP_BYTES)];
        if is_mostly_utf8(sample) {
            return Charset::UTF_8;
        }
        let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
        detector.feed(sample, start + sample.len() == bytes.len());
        let guess = detector.guess(None, Utf8Detection::Deny);
        if !guess.is_single_byte() {
            return Charset(guess);
        }
        // Of a few words the detector takes kana for Cyrillic, and the accents of the West for those of the Baltic.
        if is_kana(sample) {
            Charset(encoding_rs::SHIFT_JIS)
        } else if is_short_western(sample) {
            Charset(encoding_rs::WINDOWS_1252)
        } else {
            Charset(guess)
        }
    }

    /// Tells whether ASCII bytes are text in ISO-2022-JP: they switch to a Japanese set, and all of it can be decoded.
    pub fn is_iso_2022_jp(bytes: &[u8]) -> bool {
        let switches = |finder: &[u8]| memmem::find(bytes, finder).is_some();
        memchr(0x1B, bytes).is_some()
            && (switches(b"\x1b$B") || switches(b"\x1b$@"))
            && bytes.is_ascii()
            && Charset::ISO_2022_JP.decode_strictly(bytes).is_some()
    }

    /// Returns the text of bytes, with U+FFFD for what means nothing, and whether there was any. A byte order mark is
    /// a character.
    pub fn decode(self, bytes: &[u8]) -> (Cow<'_, str>, bool) {
        self.0.decode_without_bom_handling(bytes)
    }

    /// Returns the text of bytes; `None` if any of them means nothing.
    pub fn decode_strictly(self, bytes: &[u8]) -> Option<Cow<'_, str>> {
        self.0.decode_without_bom_handling_and_without_replacement(bytes)
    }

    /// Returns the bytes of a text: those that are decoded to this very text.
    ///
    /// # Errors
    /// The first character that the encoding does not have, or that its bytes would turn into another one.
    pub fn encode(self, text: &str) -> Result<Vec<u8>, char> {
        if self.is_utf16() {
            let bytes: fn(u16) -> [u8; 2] =
                if self == Charset::UTF_16LE { u16::to_le_bytes } else { u16::to_be_bytes };
            return Ok(text.encode_utf16().flat_map(bytes).collect());
        }
        if self == Charset::UTF_8 || self.has_ascii() && text.is_ascii() {
            return Ok(text.as_bytes().to_vec());
        }
        // The library names another character in their place.
        if let Some(control) = text.chars().find(|control| matches!(control, '\x0E' | '\x0F' | '\x1B'))
            && self.is_stateful()
        {
            return Err(control);
        }
        let bytes = self.encode_by_table(text)?;
        // The standard takes some characters for others: U+00A5 becomes the byte of the backslash in Shift_JIS.
        let (decoded, _) = self.decode(&bytes);
        match text.chars().zip(decoded.chars()).find(|(meant, decoded)| meant != decoded) {
            Some((meant, _)) => Err(meant),
            None if decoded.len() == text.len() => Ok(bytes),
            None => Err(text.chars().nth(decoded.chars().count()).unwrap_or(char::REPLACEMENT_CHARACTER)),
        }
    }

    fn encode_by_table(self, mut text: &str) -> Result<Vec<u8>, char> {
        let mut encoder = self.0.new_encoder();
        let mut bytes = Vec::with_capacity(text.len());
        let mut block = [0; 4096];
        loop {
            let (result, read, written) =
                encoder.encode_from_utf8_without_replacement(text, &mut block, true);
            bytes.extend_from_slice(&block[..written]);
            text = &text[read..];
            match result {
                EncoderResult::InputEmpty => return Ok(bytes),
                EncoderResult::OutputFull => {}
                EncoderResult::Unmappable(character) => return Err(character),
            }
        }
    }

    /// Returns what stands at the beginning of `bytes`, which is not empty and where a character begins. Not for an
    /// encoding with state.
    pub(super) fn step(self, bytes: &[u8]) -> Step {
        let mut text = [0; 16];
        for raw_bytes in 1..=bytes.len().min(CHARACTER_LIMIT_BYTES) {
            let mut decoder = self.0.new_decoder_without_bom_handling();
            let (result, read, text_bytes) =
                decoder.decode_to_utf8_without_replacement(&bytes[..raw_bytes], &mut text, true);
            if result == DecoderResult::InputEmpty && read == raw_bytes && text_bytes > 0 {
                return Step::Character { raw_bytes, text_bytes };
            }
        }
        let seen = &bytes[..bytes.len().min(2 * CHARACTER_LIMIT_BYTES)];
        let mut decoder = self.0.new_decoder_without_bom_handling();
        let is_last = seen.len() == bytes.len();
        match decoder.decode_to_utf8_without_replacement(seen, &mut text, is_last) {
            (DecoderResult::Malformed(length, _), _, 0) => Step::Malformed(usize::from(length).max(1)),
            // No decoder takes so many bytes without saying something.
            _ => Step::Malformed(1),
        }
    }
}

impl fmt::Debug for Charset {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Charset({})", self.name())
    }
}

/// Tells whether text that is not UTF-8 is so by a few damaged places only.
///
/// In text of another encoding, bytes that happen to be a character of UTF-8 are the exception.
fn is_mostly_utf8(bytes: &[u8]) -> bool {
    let (mut right, mut wrong) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        right += chunk.valid().chars().filter(|character| !character.is_ascii()).count();
        wrong += usize::from(!chunk.invalid().is_empty());
    }
    right > 3 * wrong
}

/// Tells whether bytes are text in Shift_JIS of which at least half is kana, which text in no other encoding looks like.
fn is_kana(bytes: &[u8]) -> bool {
    let whole_lines = memchr::memrchr(b'\n', bytes).map_or(bytes, |newline| &bytes[..newline]);
    let text = encoding_rs::SHIFT_JIS.decode_without_bom_handling_and_without_replacement(whole_lines);
    let (mut kana, mut others) = (0_usize, 0_usize);
    for character in text.iter().flat_map(|text| text.chars()).filter(|character| !character.is_ascii()) {
        match character {
            '\u{3001}'..='\u{3002}' | '\u{3041}'..='\u{30FE}' => kana += 1,
            _ => others += 1,
        }
    }
    kana > 0 && kana >= others
}

/// A text with more characters beyond ASCII tells its encoding by itself.
const SHORT_TEXT_CHARACTERS: usize = 8;

/// Tells whether bytes are too few to tell, and what western European languages, which are the most common, would have.
fn is_short_western(bytes: &[u8]) -> bool {
    let foreign = bytes.iter().filter(|byte| !byte.is_ascii());
    let is_western = |byte: &u8| {
        // Letters but for thorn and eth; typographic quotes, dashes, ellipsis, bullet, euro; signs and units.
        let is_letter = *byte >= 0xC0 && !matches!(byte, 0xD0 | 0xD7 | 0xDE | 0xF0 | 0xF7 | 0xFE);
        is_letter
            || matches!(byte, 0x80 | 0x85 | 0x91..=0x97 | 0xA0 | 0xA1 | 0xA3 | 0xA7..=0xAB | 0xAE)
            || matches!(byte, 0xB0..=0xB3 | 0xB5..=0xB7 | 0xB9..=0xBF)
    };
    foreign.clone().count() <= SHORT_TEXT_CHARACTERS && foreign.clone().all(is_western)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn charset(label: &str) -> Charset {
        Charset::for_label(label).expect(label)
    }

    #[test]
    fn labels_of_the_standard_name_encodings() {
        for (label, name) in [
            ("utf-8", "utf-8"),
            ("UTF-16", "utf-16le"),
            ("latin1", "windows-1252"),
            ("iso-8859-1", "windows-1252"),
            ("sjis", "shift_jis"),
            ("Shift-JIS", "shift_jis"),
            ("gb2312", "gbk"),
            ("GB18030", "gb18030"),
            ("ks_c_5601-1987", "euc-kr"),
        ] {
            assert_eq!(charset(label).name(), name);
        }
        // The standard has no decoder for them that could be right.
        for label in ["", "utf-32", "utf-7", "iso-2022-kr", "hz-gb-2312", "replacement", "nonsense"] {
            assert_eq!(Charset::for_label(label), None, "{label}");
        }
    }

    #[test]
    fn text_becomes_the_bytes_that_mean_it_or_none() {
        for (label, text, expected) in [
            ("windows-1252", "\u{201C}é\u{20AC}", Ok(&b"\x93\xE9\x80"[..])),
            ("windows-1252", "Ω", Err('Ω')),
            ("shift_jis", "終わり", Ok(b"\x8F\x49\x82\xED\x82\xE8")),
            ("shift_jis", "a\u{1F600}", Err('\u{1F600}')),
            // Its byte would be read as a backslash.
            ("shift_jis", "\u{A5}", Err('\u{A5}')),
            ("euc-jp", "\u{203E}", Err('\u{203E}')),
            ("euc-jp", "\u{2212}", Err('\u{2212}')),
            ("gbk", "注释", Ok(b"\xD7\xA2\xCA\xCD")),
            ("gbk", "\u{1F600}", Err('\u{1F600}')),
            ("gb18030", "\u{1F600}", Ok(b"\x94\x39\xFC\x36")),
            ("iso-2022-jp", "日a", Ok(b"\x1b$BF|\x1b(Ba")),
            ("iso-2022-jp", "a\u{1b}b", Err('\u{1b}')),
            ("utf-16le", "a\u{1F600}", Ok(b"a\0\x3D\xD8\x00\xDE")),
            ("utf-16be", "a", Ok(b"\0a")),
            ("utf-8", "é", Ok(b"\xC3\xA9")),
        ] {
            assert_eq!(
                charset(label).encode(text).as_deref().map_err(|err| *err),
                expected,
                "{label} {text:?}"
            );
        }
    }

    #[test]
    fn long_text_is_encoded_whole() {
        let text = "ж—é".repeat(5000);
        let bytes = charset("gb18030").encode(&text).unwrap();
        assert_eq!(charset("gb18030").decode(&bytes), (text.into(), false));
    }

    #[test]
    fn guesses_tell_scripts_apart() {
        let check = |label: &str, text: &str| {
            let bytes = charset(label).encode(text).unwrap();
            assert_eq!(Charset::guess(&bytes), charset(label), "{text}");
        };
        check("windows-1252", "La façade du café a été rénovée à Noël.\n");
        check("windows-1252", "naïve\nx=1\n");
        check("windows-1252", "10 °C ± 2\n");
        check("windows-1252", "© 2031 “Foo” – bar…\n");
        check("windows-1250", "Příliš žluťoučký kůň úpěl ďábelské ódy.\n");
        check("windows-1251", "Съешь же ещё этих мягких французских булок, да выпей чаю.\n");
        check("shift_jis", "いろはにほへと ちりぬるを。わかよたれそ、つねならむ。\n");
        check("shift_jis", "終わり\n");
        check("shift_jis", "// 表示の色を変更する\n");
        check("gbk", "// 注释\n");
        check("gbk", "// 这个函数返回配置文件的路径，如果没有就返回空。\n");
        check("big5", "這個函數傳回設定檔的路徑，如果沒有就傳回空值。\n");
        check("euc-kr", "이 함수는 설정 파일의 경로를 돌려주고 없으면 빈 값을 돌려준다.\n");
    }

    #[test]
    fn a_guess_looks_where_the_text_is() {
        let text = "Съешь же ещё этих мягких французских булок, да выпей чаю.\n";
        let bytes = charset("koi8-u").encode(text).unwrap();
        let far = [&b"x\n".repeat(GUESS_CAP_BYTES)[..], &bytes].concat();
        assert_eq!(Charset::guess(&far), charset("koi8-u"));
        let in_one_line = [&b"x ".repeat(GUESS_CAP_BYTES)[..], &bytes].concat();
        assert_eq!(Charset::guess(&in_one_line), charset("koi8-u"));
    }

    #[test]
    fn damaged_utf8_is_still_utf8() {
        let text = "naïve café déjà vu — für große Öfen\n";
        assert_eq!(Charset::guess(&[text.as_bytes(), b"\xFF\n"].concat()), Charset::UTF_8);
    }

    #[test]
    fn switching_between_sets_tells_iso_2022_jp() {
        assert!(Charset::is_iso_2022_jp(b"a \x1b$BF|K\\\x1b(B\n"));
        for bytes in [&b"plain"[..], b"\x1b[31mred", b"\x1b$B\x01", b"\x1b$BF|\x1b(B\xE9"] {
            assert!(!Charset::is_iso_2022_jp(bytes), "{bytes:?}");
        }
    }

    const LABELS: [&str; 14] = [
        "utf-8",
        "utf-16le",
        "utf-16be",
        "windows-1252",
        "windows-1258",
        "koi8-r",
        "ibm866",
        "x-user-defined",
        "shift_jis",
        "euc-jp",
        "gbk",
        "gb18030",
        "big5",
        "euc-kr",
    ];

    proptest! {
        /// One step after the other gives what decoding at once does, for any bytes.
        #[test]
        fn steps_add_up(
            label in prop::sample::select(&LABELS[..]),
            bytes in prop::collection::vec(
                prop_oneof![any::<u8>(), 0x80_u8..=0xFF, Just(b'\n'), 0x30_u8..0x7F, Just(0x81_u8), Just(0xD8_u8)],
                0..24,
            ),
        ) {
            let charset = charset(label);
            let (whole, had_errors) = charset.decode(&bytes);
            let (mut text, mut at, mut malformed) = (String::new(), 0, false);
            while at < bytes.len() {
                match charset.step(&bytes[at..]) {
                    Step::Character { raw_bytes, text_bytes } => {
                        let one = charset.decode_strictly(&bytes[at..at + raw_bytes]).unwrap();
                        prop_assert_eq!(one.len(), text_bytes);
                        text.push_str(&one);
                        at += raw_bytes;
                    }
                    Step::Malformed(raw_bytes) => {
                        text.push('\u{FFFD}');
                        malformed = true;
                        at += raw_bytes;
                    }
                }
            }
            prop_assert_eq!(at, bytes.len());
            prop_assert_eq!(text, whole);
            prop_assert_eq!(malformed, had_errors);
        }

        /// In every encoding that has ASCII a newline byte is a newline, and no other byte is.
        #[test]
        fn lines_are_the_same_on_both_sides(
            label in prop::sample::select(&LABELS[..]),
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\n'), 0x80_u8..=0xFF], 0..24),
        ) {
            let charset = charset(label);
            if charset.has_ascii() {
                let count = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == b'\n').count();
                prop_assert_eq!(count(charset.decode(&bytes).0.as_bytes()), count(&bytes));
            }
        }
    }
}
