//! What each vendor's log looks like: one file per vendor, bytes of a line to [`super::event::CallEvent`]s.

mod acp;
mod anthropic;
mod claude_code;
mod codex;
pub mod dsh;
mod gemini;
pub mod log;
mod openai;
pub mod stream;
pub mod tape;

use std::borrow::Borrow;
use std::borrow::Cow;
use std::ops::Deref;

use serde::Deserialize;
use serde::Serialize;
use serde_json::value::RawValue;
use thiserror::Error;

use crate::session::event::IdScope;

/// How much of an input [`detect`] looks at.
pub const DETECT_BYTES: usize = 64 << 10;

/// How many lines of an input [`detect`] looks at.
const DETECT_LINES: usize = 20;

/// A format of session logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// DeepSeek Harness, plain JSON Lines; also hunkwise's own log.
    Dsh,
    /// Claude Code: transcripts and stream-json.
    ClaudeCode,
}

impl Format {
    /// Every format, in the order of the help.
    pub const ALL: [Format; 2] = [Format::Dsh, Format::ClaudeCode];

    /// Returns the name for `--format` and for cards.
    pub fn name(self) -> &'static str {
        match self {
            Format::Dsh => "dsh",
            Format::ClaudeCode => "claude",
        }
    }

    /// Returns within what the ids of calls tell them apart.
    pub fn id_scope(self) -> IdScope {
        match self {
            // Some models count their calls anew in every turn.
            Format::Dsh => IdScope::Turn,
            Format::ClaudeCode => IdScope::Log,
        }
    }

    /// Returns the format of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// Why an input is not read as a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DetectError {
    /// Its first bytes are zstd's.
    #[error("zstd-compressed session log: decompress it first")]
    Zstd,
    /// Its first bytes are gzip's.
    #[error("gzip-compressed session log: decompress it first")]
    Gzip,
    /// It is a database.
    #[error("SQLite database, not a session log: export the session first")]
    Sqlite,
    /// It looks like no known log.
    #[error("unknown session log format")]
    Unknown,
}

/// Returns the format of the log that begins with `first_bytes`; [`DETECT_BYTES`] are enough.
///
/// ```
/// use hunkwise::session::format::{DetectError, Format, detect};
/// let header = br#"{"type":"session","version":0,"id":"s1","createdAt":1790000000000}"#;
/// assert_eq!(detect(header), Ok(Format::Dsh));
/// assert_eq!(detect(b"\x28\xb5\x2f\xfd..."), Err(DetectError::Zstd));
/// ```
///
/// # Errors
/// Names what it is instead of a log, or [`DetectError::Unknown`].
pub fn detect(first_bytes: &[u8]) -> Result<Format, DetectError> {
    if first_bytes.starts_with(b"\x28\xB5\x2F\xFD") {
        return Err(DetectError::Zstd);
    }
    if first_bytes.starts_with(b"\x1F\x8B") {
        return Err(DetectError::Gzip);
    }
    if first_bytes.starts_with(b"SQLite format 3\0") {
        return Err(DetectError::Sqlite);
    }
    let head = &first_bytes[..first_bytes.len().min(DETECT_BYTES)];
    let has = |is_row: fn(&[u8]) -> bool| head.split(|&byte| byte == b'\n').take(DETECT_LINES).any(is_row);
    if has(dsh::is_row) {
        return Ok(Format::Dsh);
    }
    if has(claude_code::is_row) {
        return Ok(Format::ClaudeCode);
    }
    Err(DetectError::Unknown)
}

/// Appends a value as JSON.
#[expect(
    clippy::expect_used,
    reason = "strings and report types have string keys only, and memory takes all bytes"
)]
fn json_into(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    serde_json::to_writer(out, value).expect("JSON of a string or a report type");
}

/// A string that is borrowed where it has no escape; serde borrows inside an `Option` only through such a type.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Text<'_> {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Text<'_> {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// Reads an optional field of which only the right shape counts.
fn lenient<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_found_by_content() {
        let check = |bytes: &[u8], wanted| assert_eq!(detect(bytes), wanted, "{}", bytes.escape_ascii());
        check(b"{\"type\":\"session\",\"id\":\"a\",\"createdAt\":1}\n", Ok(Format::Dsh));
        check(b"\xEF\xBB\xBF{\"type\":\"session\",\"id\":\"a\",\"createdAt\":1}\r\n", Ok(Format::Dsh));
        check(b"torn\n{\"type\":\"tool/call\",\"seq\":3,\"data\":{}}\n", Ok(Format::Dsh));
        check(b"{\"type\":\"session\",\"version\":3,\"timestamp\":\"2026\"}\n", Err(DetectError::Unknown));
        check(b"{\"type\":\"user\",\"uuid\":\"1\"}\n", Err(DetectError::Unknown));
        check(b"{\"type\":\"summary\",\"summary\":\"s\",\"leafUuid\":\"1\"}\n", Ok(Format::ClaudeCode));
        check(b"", Err(DetectError::Unknown));
        check(b"\x1F\x8B\x08", Err(DetectError::Gzip));
        check(b"SQLite format 3\0", Err(DetectError::Sqlite));
        assert_eq!(DetectError::Zstd.to_string(), "zstd-compressed session log: decompress it first");
    }

    #[test]
    fn names_lead_to_formats() {
        for format in Format::ALL {
            assert_eq!(Format::from_name(format.name()), Some(format));
        }
        assert_eq!(Format::from_name("unknown"), None);
    }
}
