//! A JSON reader that is pushed: tokens come out as soon as they are certain, however the text is cut.
//!
//! ```text
//! text   := blank* value blank*
//! value  := object | array | string | number | "true" | "false" | "null"
//! ```
//!
//! It is as strict as RFC 8259: UTF-8, no comments, no trailing commas, nothing behind the value, and no half of a
//! surrogate pair, which no text can hold. What a string says is handed on as it grows and kept nowhere; only a key is
//! held until it ends. Nothing recurses: containers are counted on a stack with a cap.

use super::json::Progress;
use super::json::StringDecoder;

/// Containers may be nested this deep.
pub const DEPTH_CAP: usize = 128;
/// So much of a key is kept; the rest of a longer one is read and dropped, so it equals no key that is looked for.
pub const KEY_CAP_BYTES: usize = 256;
/// A string is decoded in steps of so many bytes, so that the decoded copy stays small.
const STEP_BYTES: usize = 16 << 10;

/// One token; texts are decoded and borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'a> {
    /// `{`
    ObjectBegin,
    /// `}`
    ObjectEnd,
    /// `[`
    ArrayBegin,
    /// `]`
    ArrayEnd,
    /// A whole key of an object.
    Key(&'a [u8]),
    /// A string value begins.
    StringBegin,
    /// A piece of the open string value, never empty. A UTF-8 character may be cut between two pieces.
    Piece(&'a [u8]),
    /// The open string value ends.
    StringEnd,
    /// A number; its value if it is written as a whole number that is not negative and fits.
    Number(Option<u64>),
    /// `true` or `false`
    Bool(bool),
    /// `null`
    Null,
}

/// What is wrong with a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at byte {offset_bytes}")]
pub struct JsonError {
    /// 0-based byte offset in the whole text.
    pub offset_bytes: usize,
    /// What is wrong there.
    pub kind: JsonErrorKind,
}

/// A way in which a text is no JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonErrorKind {
    /// A byte stands where it can't.
    #[error("expected {expected}, found {}", shown(*.found))]
    Unexpected {
        /// What could stand there.
        expected: &'static str,
        /// The byte.
        found: u8,
    },
    /// The text ends too early.
    #[error("expected {expected}, found the end")]
    CutOff {
        /// What should come.
        expected: &'static str,
    },
    /// A control character or an unknown escape in a string.
    #[error("a string can't hold {} here", shown(*.0))]
    InString(u8),
    /// Bytes that are not UTF-8.
    #[error("invalid UTF-8")]
    Utf8,
    /// Half of a surrogate pair.
    #[error("half a surrogate pair, which no text can hold,")]
    LoneSurrogate,
    /// More than [`DEPTH_CAP`] containers in each other.
    #[error("nesting deeper than {DEPTH_CAP} levels")]
    TooDeep,
}

fn shown(byte: u8) -> String {
    if byte.is_ascii_graphic() { format!("'{}'", char::from(byte)) } else { format!("byte 0x{byte:02x}") }
}

/// Reads one JSON value in pieces.
#[derive(Debug, Default)]
pub struct JsonReader {
    offset_bytes: usize,
    containers: Vec<Container>,
    expected: Expected,
    lexeme: Lexeme,
    string: StringDecoder,
    utf8: Utf8,
    /// Decoded text on its way out; of a key, all of it so far.
    decoded: Vec<u8>,
    /// Where the string that was read last begins.
    string_start: usize,
    /// A string holds something wrong: it is read byte by byte to tell what and where.
    is_careful: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    Object,
    Array,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Expected {
    #[default]
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
    Nothing,
}

/// The token that is open between two pieces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Lexeme {
    #[default]
    None,
    Key,
    String,
    Number(Digits, Option<u64>),
    Word(Word, usize),
}

/// Where in a number the text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Digits {
    Minus,
    Zero,
    Whole,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    Power,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    True,
    False,
    Null,
}

impl Word {
    fn text(self) -> &'static [u8] {
        match self {
            Word::True => b"true",
            Word::False => b"false",
            Word::Null => b"null",
        }
    }

    fn token(self) -> Token<'static> {
        match self {
            Word::True => Token::Bool(true),
            Word::False => Token::Bool(false),
            Word::Null => Token::Null,
        }
    }
}

impl JsonReader {
    /// Takes a piece and hands over each token that it completes, with the offset of the key or string begun last.
    ///
    /// # Errors
    /// [`JsonError`], or what `take` refuses; after an error the reader must not be pushed again.
    pub fn push<E: From<JsonError>>(
        &mut self,
        piece: &[u8],
        take: &mut dyn FnMut(usize, Token<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = piece;
        while let Some(&byte) = rest.first() {
            let taken = match self.lexeme {
                Lexeme::Key | Lexeme::String => self.string(rest, take)?,
                Lexeme::Number(digits, value) => self.number(byte, digits, value, take)?,
                Lexeme::Word(word, matched) => self.word(byte, word, matched, take)?,
                Lexeme::None => {
                    if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                        self.begin(byte, take)?;
                    }
                    1
                }
            };
            self.offset_bytes += taken;
            rest = &rest[taken..];
        }
        Ok(())
    }

    /// Ends the text.
    ///
    /// # Errors
    /// The value is not complete.
    pub fn finish<E: From<JsonError>>(
        &mut self,
        take: &mut dyn FnMut(usize, Token<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Lexeme::Number(digits, value) = self.lexeme
            && digits.can_end()
        {
            self.lexeme = Lexeme::None;
            self.value_ended();
            take(self.string_start, Token::Number(value))?;
        }
        let expected = match self.lexeme {
            Lexeme::Key | Lexeme::String => "the end of a string",
            Lexeme::Number(..) => "a digit",
            Lexeme::Word(..) => "true, false or null",
            Lexeme::None if self.expected == Expected::Nothing => return Ok(()),
            Lexeme::None => self.expected_words(),
        };
        Err(self.error(0, JsonErrorKind::CutOff { expected }).into())
    }

    fn error(&self, ahead: usize, kind: JsonErrorKind) -> JsonError {
        JsonError { offset_bytes: self.offset_bytes + ahead, kind }
    }

    fn unexpected(&self, expected: &'static str, found: u8) -> JsonError {
        self.error(0, JsonErrorKind::Unexpected { expected, found })
    }

    fn expected_words(&self) -> &'static str {
        match self.expected {
            Expected::Value => "a value",
            Expected::ValueOrEnd => "a value or ']'",
            Expected::Key => "a key",
            Expected::KeyOrEnd => "a key or '}'",
            Expected::Colon => "':'",
            Expected::CommaOrEnd if self.containers.last() == Some(&Container::Object) => "',' or '}'",
            Expected::CommaOrEnd => "',' or ']'",
            Expected::Nothing => "the end",
        }
    }

    fn begin<E: From<JsonError>>(
        &mut self,
        byte: u8,
        take: &mut dyn FnMut(usize, Token<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let is_value = matches!(self.expected, Expected::Value | Expected::ValueOrEnd);
        let is_key = matches!(self.expected, Expected::Key | Expected::KeyOrEnd);
        let may_end = match (byte, self.containers.last()) {
            (b'}', Some(Container::Object)) => {
                matches!(self.expected, Expected::KeyOrEnd | Expected::CommaOrEnd)
            }
            (b']', Some(Container::Array)) => {
                matches!(self.expected, Expected::ValueOrEnd | Expected::CommaOrEnd)
            }
            _ => false,
        };
        match byte {
            b'"' if is_value || is_key => {
                self.string = StringDecoder::default();
                self.string_start = self.offset_bytes;
                self.decoded.clear();
                self.lexeme = if is_key { Lexeme::Key } else { Lexeme::String };
                if is_value {
                    take(self.string_start, Token::StringBegin)?;
                }
            }
            b'{' if is_value => {
                self.open(Container::Object)?;
                self.expected = Expected::KeyOrEnd;
                take(self.string_start, Token::ObjectBegin)?;
            }
            b'[' if is_value => {
                self.open(Container::Array)?;
                self.expected = Expected::ValueOrEnd;
                take(self.string_start, Token::ArrayBegin)?;
            }
            b'}' | b']' if may_end => {
                self.containers.pop();
                self.value_ended();
                take(self.string_start, if byte == b'}' { Token::ObjectEnd } else { Token::ArrayEnd })?;
            }
            b':' if self.expected == Expected::Colon => self.expected = Expected::Value,
            b',' if self.expected == Expected::CommaOrEnd => {
                self.expected = match self.containers.last() {
                    Some(Container::Object) => Expected::Key,
                    Some(Container::Array) | None => Expected::Value,
                };
            }
            b't' if is_value => self.lexeme = Lexeme::Word(Word::True, 1),
            b'f' if is_value => self.lexeme = Lexeme::Word(Word::False, 1),
            b'n' if is_value => self.lexeme = Lexeme::Word(Word::Null, 1),
            b'-' if is_value => self.lexeme = Lexeme::Number(Digits::Minus, None),
            b'0' if is_value => self.lexeme = Lexeme::Number(Digits::Zero, Some(0)),
            b'1'..=b'9' if is_value => {
                self.lexeme = Lexeme::Number(Digits::Whole, Some(u64::from(byte - b'0')));
            }
            _ => return Err(self.unexpected(self.expected_words(), byte).into()),
        }
        Ok(())
    }

    fn open(&mut self, container: Container) -> Result<(), JsonError> {
        if self.containers.len() == DEPTH_CAP {
            return Err(self.error(0, JsonErrorKind::TooDeep));
        }
        self.containers.push(container);
        Ok(())
    }

    fn value_ended(&mut self) {
        self.expected = if self.containers.is_empty() { Expected::Nothing } else { Expected::CommaOrEnd };
    }

    fn string<E: From<JsonError>>(
        &mut self,
        rest: &[u8],
        take: &mut dyn FnMut(usize, Token<'_>) -> Result<(), E>,
    ) -> Result<usize, E> {
        let is_key = self.lexeme == Lexeme::Key;
        if !is_key {
            self.decoded.clear();
        }
        let step = &rest[..rest.len().min(if self.is_careful { 1 } else { STEP_BYTES })];
        let before = (self.string.clone(), self.utf8.clone(), self.decoded.len());
        let progress = match self.decode(step) {
            Ok(progress) => progress,
            // Byte by byte the first error is found, and all that comes before it is said, however the text was cut.
            Err(_) if step.len() > 1 => {
                self.is_careful = true;
                self.string = before.0;
                self.utf8 = before.1;
                self.decoded.truncate(before.2);
                return Ok(0);
            }
            Err(error) => return Err(error.into()),
        };
        let taken = match progress {
            Progress::Open => step.len(),
            Progress::Closed(taken) => taken,
        };
        let is_closed = matches!(progress, Progress::Closed(_));
        if is_key {
            self.decoded.truncate(KEY_CAP_BYTES);
            if is_closed {
                self.lexeme = Lexeme::None;
                self.expected = Expected::Colon;
                take(self.string_start, Token::Key(&self.decoded))?;
            }
            return Ok(taken);
        }
        if !self.decoded.is_empty() {
            take(self.string_start, Token::Piece(&self.decoded))?;
        }
        if is_closed {
            self.lexeme = Lexeme::None;
            self.value_ended();
            take(self.string_start, Token::StringEnd)?;
        }
        Ok(taken)
    }

    fn decode(&mut self, step: &[u8]) -> Result<Progress, JsonError> {
        let progress = self
            .string
            .push(step, &mut self.decoded)
            .map_err(|error| self.error(error.offset_bytes, JsonErrorKind::InString(error.byte)))?;
        let taken = match progress {
            Progress::Open => step.len(),
            Progress::Closed(taken) => taken,
        };
        self.utf8.push(&step[..taken]).map_err(|()| self.error(0, JsonErrorKind::Utf8))?;
        if self.string.replaced() > 0 {
            return Err(self.error(0, JsonErrorKind::LoneSurrogate));
        }
        Ok(progress)
    }

    /// Takes a byte of a number; one that can't go on with it ends it and is not taken.
    fn number<E: From<JsonError>>(
        &mut self,
        byte: u8,
        digits: Digits,
        value: Option<u64>,
        take: &mut dyn FnMut(usize, Token<'_>) -> Result<(), E>,
    ) -> Result<usize, E> {
        let is_digit = byte.is_ascii_digit();
        let next = match (digits, byte) {
            (Digits::Minus, b'0') => Some((Digits::Zero, None)),
            (Digits::Minus, _) if is_digit => Some((Digits::Whole, None)),
            (Digits::Whole, _) if is_digit => {
                let more = |value: u64| value.checked_mul(10)?.checked_add(u64::from(byte - b'0'));
                Some((Digits::Whole, value.and_then(more)))
            }
            (Digits::Zero | Digits::Whole, b'.') => Some((Digits::Point, None)),
            (Digits::Point | Digits::Fraction, _) if is_digit => Some((Digits::Fraction, None)),
            (Digits::Zero | Digits::Whole | Digits::Fraction, b'e' | b'E') => Some((Digits::Exponent, None)),
            (Digits::Exponent, b'+' | b'-') => Some((Digits::ExponentSign, None)),
            (Digits::Exponent | Digits::ExponentSign | Digits::Power, _) if is_digit => {
                Some((Digits::Power, None))
            }
            _ => None,
        };
        if let Some((digits, value)) = next {
            self.lexeme = Lexeme::Number(digits, value);
            return Ok(1);
        }
        if !digits.can_end() {
            return Err(self.unexpected("a digit", byte).into());
        }
        self.lexeme = Lexeme::None;
        self.value_ended();
        take(self.string_start, Token::Number(value))?;
        Ok(0)
    }

    fn word<E: From<JsonError>>(
        &mut self,
        byte: u8,
        word: Word,
        matched: usize,
        take: &mut dyn FnMut(usize, Token<'_>) -> Result<(), E>,
    ) -> Result<usize, E> {
        if word.text()[matched] != byte {
            return Err(self.unexpected("true, false or null", byte).into());
        }
        self.lexeme = Lexeme::Word(word, matched + 1);
        if matched + 1 == word.text().len() {
            self.lexeme = Lexeme::None;
            self.value_ended();
            take(self.string_start, word.token())?;
        }
        Ok(1)
    }
}

impl Digits {
    fn can_end(self) -> bool {
        match self {
            Digits::Zero | Digits::Whole | Digits::Fraction | Digits::Power => true,
            Digits::Minus | Digits::Point | Digits::Exponent | Digits::ExponentSign => false,
        }
    }
}

/// Tells whether bytes are UTF-8, in pieces.
#[derive(Debug, Clone, Default)]
struct Utf8 {
    /// The beginning of a character that is cut off, up to three bytes.
    cut: Vec<u8>,
}

impl Utf8 {
    /// # Errors
    /// The piece holds, or completes, something that is not UTF-8.
    fn push(&mut self, piece: &[u8]) -> Result<(), ()> {
        let mut rest = piece;
        while let (false, Some((&byte, tail))) = (self.cut.is_empty(), rest.split_first()) {
            self.cut.push(byte);
            rest = tail;
            match std::str::from_utf8(&self.cut) {
                Ok(_) => self.cut.clear(),
                Err(error) if error.error_len().is_none() => {}
                Err(_) => return Err(()),
            }
        }
        match std::str::from_utf8(rest) {
            Ok(_) => Ok(()),
            Err(error) if error.error_len().is_none() => {
                self.cut.extend_from_slice(&rest[error.valid_up_to()..]);
                Ok(())
            }
            Err(_) => Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// The tokens of a text in these pieces, one word each; pieces of one string are joined.
    fn tokens(pieces: &[&[u8]]) -> Result<Vec<String>, JsonError> {
        let mut reader = JsonReader::default();
        let mut seen: Vec<Vec<u8>> = Vec::new();
        let mut take = |_: usize, token: Token<'_>| -> Result<(), JsonError> {
            match token {
                Token::Piece(text) => seen.last_mut().unwrap().extend_from_slice(text),
                Token::StringBegin => seen.push(b"\"".to_vec()),
                Token::StringEnd => seen.last_mut().unwrap().push(b'"'),
                Token::Key(text) => seen.push([text, b":"].concat()),
                other => seen.push(format!("{other:?}").into_bytes()),
            }
            Ok(())
        };
        for piece in pieces {
            reader.push(piece, &mut take)?;
        }
        reader.finish(&mut take)?;
        Ok(seen.into_iter().map(|token| String::from_utf8_lossy(&token).into_owned()).collect())
    }

    /// Checks that cuts in two, and single bytes, give what the whole gives.
    fn check_cuts(text: &[u8]) -> Result<Vec<String>, JsonError> {
        let whole = tokens(&[text]);
        for cut in 0..=text.len() {
            assert_eq!(tokens(&[&text[..cut], &text[cut..]]), whole, "cut at {cut}");
        }
        assert_eq!(tokens(&text.chunks(1).collect::<Vec<_>>()), whole, "byte by byte");
        whole
    }

    #[test]
    fn every_kind_of_value_is_read() {
        let text = r#" {"a\u0062":[1,-2.5e+3,"x\n\ud83d\ude00é",true,false,null,{},[]],"c":""} "#;
        let expected = [
            "ObjectBegin",
            "ab:",
            "ArrayBegin",
            "Number(Some(1))",
            "Number(None)",
            "\"x\n😀é\"",
            "Bool(true)",
            "Bool(false)",
            "Null",
            "ObjectBegin",
            "ObjectEnd",
            "ArrayBegin",
            "ArrayEnd",
            "ArrayEnd",
            "c:",
            "\"\"",
            "ObjectEnd",
        ];
        assert_eq!(check_cuts(text.as_bytes()).unwrap(), expected);
        assert_eq!(check_cuts(b"18446744073709551616"), Ok(vec!["Number(None)".to_owned()]));
    }

    #[test]
    fn what_is_no_json_is_named_with_its_offset() {
        let wrong = |text: &[u8]| check_cuts(text).unwrap_err().to_string();
        assert_eq!(wrong(b"{\"a\" 1}"), "expected ':', found '1' at byte 5");
        assert_eq!(wrong(b"{\"a\":1,}"), "expected a key, found '}' at byte 7");
        assert_eq!(wrong(b"[1,]"), "expected a value, found ']' at byte 3");
        assert_eq!(wrong(b"[1}"), "expected ',' or ']', found '}' at byte 2");
        assert_eq!(wrong(b"{} x"), "expected the end, found 'x' at byte 3");
        assert_eq!(wrong(b"[01]"), "expected ',' or ']', found '1' at byte 2");
        assert_eq!(wrong(b"-x"), "expected a digit, found 'x' at byte 1");
        assert_eq!(wrong(b"nul]"), "expected true, false or null, found ']' at byte 3");
        assert_eq!(wrong(b"\"a\nb\""), "a string can't hold byte 0x0a here at byte 2");
        assert_eq!(wrong(b"\"a\\x\""), "a string can't hold 'x' here at byte 3");
        assert_eq!(wrong(b"\"a\xff\""), "invalid UTF-8 at byte 2");
        assert_eq!(wrong(b"\"\xc3\""), "invalid UTF-8 at byte 2");
        assert_eq!(wrong(b"\"\xff\n\""), "invalid UTF-8 at byte 1");
        assert_eq!(wrong(br#""\ud83d\x""#), "a string can't hold 'x' here at byte 8");
        assert_eq!(wrong(b"{\"a\":\"b"), "expected the end of a string, found the end at byte 7");
        assert_eq!(wrong(b""), "expected a value, found the end at byte 0");
        assert_eq!(wrong(b"1."), "expected a digit, found the end at byte 2");
        assert!(tokens(&[br#""\ud83d x""#]).unwrap_err().to_string().contains("surrogate"));
    }

    #[test]
    fn nesting_and_keys_are_capped() {
        let nested = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
        assert!(tokens(&[&nested(DEPTH_CAP)]).is_ok());
        let error = tokens(&[&nested(DEPTH_CAP + 1)]).unwrap_err();
        assert_eq!(error, JsonError { offset_bytes: DEPTH_CAP, kind: JsonErrorKind::TooDeep });
        let long = format!("{{\"{}\":1}}", "k".repeat(KEY_CAP_BYTES * 3));
        assert_eq!(tokens(&[long.as_bytes()]).unwrap()[1].len(), KEY_CAP_BYTES + 1);
    }

    /// What serde_json makes of a text, in the words of `tokens`.
    fn words(value: &Value, out: &mut Vec<String>) {
        match value {
            Value::Null => out.push("Null".to_owned()),
            Value::Bool(bool) => out.push(format!("Bool({bool})")),
            Value::Number(number) => out.push(format!("Number({:?})", number.as_u64())),
            Value::String(text) => out.push(format!("\"{text}\"")),
            Value::Array(list) => {
                out.push("ArrayBegin".to_owned());
                list.iter().for_each(|value| words(value, out));
                out.push("ArrayEnd".to_owned());
            }
            Value::Object(object) => {
                out.push("ObjectBegin".to_owned());
                for (key, value) in object {
                    out.push(format!("{key}:"));
                    words(value, out);
                }
                out.push("ObjectEnd".to_owned());
            }
        }
    }

    proptest! {
        #[test]
        fn strings_are_read_as_serde_reads_them(text: String, key in "[^\u{0}]{0,8}", cut in 0usize..80) {
            let json = serde_json::json!({ key: [text, 7] });
            let written = json.to_string().into_bytes();
            let mut expected = Vec::new();
            words(&json, &mut expected);
            let cut = cut.min(written.len());
            prop_assert_eq!(tokens(&[&written[..cut], &written[cut..]]).unwrap(), expected.clone());
            // The same with everything escaped that can be.
            let escape = |text: &str| -> String {
                text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect()
            };
            let Value::Object(object) = &json else { unreachable!() };
            let (key, value) = object.iter().next().unwrap();
            let escaped = format!("{{\"{}\":[\"{}\",7]}}", escape(key), escape(value[0].as_str().unwrap()));
            prop_assert_eq!(tokens(&escaped.as_bytes().chunks(1).collect::<Vec<_>>()).unwrap(), expected);
        }

        #[test]
        fn what_serde_refuses_is_refused(text in r#"[\[\]{},:"\\a0-3eu.tn\-]{0,12}"#) {
            let expected = serde_json::from_str::<Value>(&text);
            let is_range = expected.as_ref().is_err_and(|error| error.to_string().contains("range"));
            prop_assert_eq!(tokens(&[text.as_bytes()]).is_ok(), expected.is_ok() || is_range, "{}", text);
        }

        #[test]
        fn no_bytes_panic_and_cuts_change_nothing(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let whole = tokens(&[&bytes]);
            prop_assert_eq!(tokens(&bytes.chunks(1).collect::<Vec<_>>()), whole);
        }
    }
}
