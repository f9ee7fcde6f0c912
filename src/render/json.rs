//! JSON documents and JSON Lines: compact, one line each, safe to `cat`.
//!
//! Scalars that drive, reorder or hide in a terminal are written as `\uXXXX`. That is still the same JSON, so nothing
//! is lost, unlike in `escape`, whose result is for reading only.

use std::io;
use std::io::Write;

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use super::escape::is_hidden;

/// Writes one value as one line of JSON with its newline.
///
/// The same value gives the same bytes: keys stand in the order of the fields. Many small writes are made; give it
/// something buffered.
///
/// # Errors
/// What the writer says, or a value that JSON can't hold as [`io::ErrorKind::InvalidData`].
pub fn line<T: Serialize + ?Sized>(out: &mut dyn Write, value: &T) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut *out, Visible)).map_err(io::Error::from)?;
    out.write_all(b"\n")
}

/// serde_json's compact form with the hidden scalars as numbers.
struct Visible;

impl Formatter for Visible {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        write_visible(writer, fragment)
    }

    // A raw value is checked JSON: a scalar beyond ASCII can only stand inside a string, a newline only outside.
    fn write_raw_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        for (at, part) in fragment.split(['\n', '\r']).enumerate() {
            if at > 0 {
                writer.write_all(b" ")?;
            }
            write_visible(writer, part)?;
        }
        Ok(())
    }
}

fn write_visible<W: Write + ?Sized>(writer: &mut W, fragment: &str) -> io::Result<()> {
    let mut rest = fragment;
    while let Some(at) = rest.find(needs_number) {
        let (shown, tail) = rest.split_at(at);
        writer.write_all(shown.as_bytes())?;
        let Some(scalar) = tail.chars().next() else { break };
        for unit in scalar.encode_utf16(&mut [0; 2]) {
            write!(writer, "\\u{unit:04x}")?;
        }
        rest = &tail[scalar.len_utf8()..];
    }
    writer.write_all(rest.as_bytes())
}

/// C0 controls inside strings are serde_json's own.
fn needs_number(scalar: char) -> bool {
    scalar >= '\u{7f}' && is_hidden(scalar)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    fn text<T: Serialize + ?Sized>(value: &T) -> String {
        let mut out = Vec::new();
        line(&mut out, value).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn hidden_scalars_are_numbers() {
        let cases = [
            ("a\u{1b}b", r#""a\u001bb""#),
            ("\u{7f}\u{9b}", r#""\u007f\u009b""#),
            ("\u{2028}\u{202e}\u{200b}", r#""\u2028\u202e\u200b""#),
            ("\u{e0041}", r#""\udb40\udc41""#),
            ("caf\u{e9} \"q\"", "\"caf\u{e9} \\\"q\\\"\""),
        ];
        for (value, expected) in cases {
            assert_eq!(text(value), format!("{expected}\n"));
        }
    }

    #[test]
    fn raw_values_and_documents_are_one_line() {
        let raw = RawValue::from_string("{\"k\":\"\u{202e}\"}".to_string()).unwrap();
        assert_eq!(text(&raw), "{\"k\":\"\\u202e\"}\n");
        let raw = RawValue::from_string("{\n  \"k\": 1\r\n}".to_string()).unwrap();
        assert_eq!(text(&raw), "{   \"k\": 1  }\n");
        assert_eq!(text(&("a", [1, 2], None::<u8>)), "[\"a\",[1,2],null]\n");
    }

    proptest! {
        #[test]
        fn reads_back_equal(value in ".*") {
            let written = text(&value);
            prop_assert!(!written.trim_end_matches('\n').contains(is_hidden));
            prop_assert_eq!(serde_json::from_str::<String>(&written).unwrap(), value);
        }
    }
}
