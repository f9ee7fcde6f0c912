//! What each vendor's log looks like: one file per vendor, bytes of a line to [`super::event::CallEvent`]s.

mod acp;
mod aider;
mod anthropic;
mod claude_code;
mod cline;
mod codex;
pub mod copilot;
pub mod cursor;
pub mod dsh;
pub mod gemini;
pub mod log;
mod openai;
pub mod opencode;
mod openhands;
pub mod pi;
pub mod stream;
mod swe_agent;
pub mod tape;

use std::borrow::Borrow;
use std::borrow::Cow;
use std::ops::Deref;

use memchr::memchr_iter;
use serde::Deserialize;
use serde::Serialize;
use serde_json::value::RawValue;
use thiserror::Error;

use crate::session::event::IdScope;
use crate::session::frame::elements::Element;
use crate::session::frame::elements::Holder;
use crate::session::frame::framing::Framing;
use crate::text::document::UTF8_BOM;

/// How much of an input [`detect`] looks at.
pub const DETECT_BYTES: usize = 64 << 10;

/// How many lines or elements of an input [`detect`] looks at.
const DETECT_RECORDS: usize = 20;

/// A format of session logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// DeepSeek Harness; also hunkwise's own log.
    Dsh,
    /// Claude Code: transcripts and stream-json.
    ClaudeCode,
    /// Codex: rollouts, `codex exec --json`, its app server, its debug log.
    Codex,
    /// The Agent Client Protocol, as JSON-RPC messages.
    Acp,
    /// pi: sessions, and the events that it prints.
    Pi,
    /// opencode: exported sessions, and the events that it prints.
    OpenCode,
    /// Gemini CLI: sessions, and the events that it prints.
    Gemini,
    /// Qwen Code: sessions.
    Qwen,
    /// OpenHands: events of both versions, records of evaluations.
    OpenHands,
    /// GitHub Copilot's command line: the events of sessions.
    Copilot,
    /// Cursor: transcripts of its agent, and the events that it prints.
    Cursor,
    /// aider: its chat history.
    Aider,
    /// Cline, Roo Code, Kilo Code: messages and rows of the panel; also the messages of other harnesses.
    Cline,
    /// SWE-agent: trajectories.
    SweAgent,
    /// Any log or text: the patches that are in it.
    Generic,
}

impl Format {
    /// Every format, in the order of the help.
    pub const ALL: [Format; 15] = [
        Format::Dsh,
        Format::ClaudeCode,
        Format::Codex,
        Format::Acp,
        Format::Pi,
        Format::OpenCode,
        Format::Gemini,
        Format::Qwen,
        Format::OpenHands,
        Format::Copilot,
        Format::Cursor,
        Format::Aider,
        Format::Cline,
        Format::SweAgent,
        Format::Generic,
    ];

    /// Returns the name for `--format` and for cards.
    pub fn name(self) -> &'static str {
        match self {
            Format::Dsh => "dsh",
            Format::ClaudeCode => "claude",
            Format::Codex => "codex",
            Format::Acp => "acp",
            Format::Pi => "pi",
            Format::OpenCode => "opencode",
            Format::Gemini => "gemini",
            Format::Qwen => "qwen",
            Format::OpenHands => "openhands",
            Format::Copilot => "copilot",
            Format::Cursor => "cursor",
            Format::Aider => "aider",
            Format::Cline => "cline",
            Format::SweAgent => "swe-agent",
            Format::Generic => "generic",
        }
    }

    /// Returns within what the ids of calls tell them apart.
    pub fn id_scope(self) -> IdScope {
        match self {
            // Some models count their calls anew in every turn.
            Format::Dsh => IdScope::Turn,
            // The turns are records, each a session with ids of its own.
            Format::OpenHands | Format::Cline => IdScope::Turn,
            Format::Aider
            | Format::SweAgent
            | Format::ClaudeCode
            | Format::Codex
            | Format::Acp
            | Format::Pi
            | Format::OpenCode
            | Format::Gemini
            | Format::Qwen
            | Format::Copilot
            | Format::Cursor
            | Format::Generic => IdScope::Log,
        }
    }

    /// Tells whether its logs are text: their lines are no JSON, and a last one that lacks its newline is cut off.
    pub fn is_text(self) -> bool {
        self == Format::Aider
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
    /// It is a database.
    #[error("SQLite database, not a session log")]
    Sqlite,
    /// It looks like no known log.
    #[error("no session log that is known, and no patch in it")]
    Unknown,
}

/// Returns the format of the log that begins with `first_bytes`, decompressed; [`DETECT_BYTES`] are enough.
///
/// ```
/// use hunkwise::session::format::{DetectError, Format, detect};
/// let header = br#"{"type":"session","version":0,"id":"s1","createdAt":1790000000000}"#;
/// assert_eq!(detect(header), Ok(Format::Dsh));
/// assert_eq!(detect(b"SQLite format 3\0..."), Err(DetectError::Sqlite));
/// ```
///
/// # Errors
/// Names what it is instead of a log, or [`DetectError::Unknown`].
pub fn detect(first_bytes: &[u8]) -> Result<Format, DetectError> {
    if first_bytes.starts_with(b"SQLite format 3\0") {
        return Err(DetectError::Sqlite);
    }
    let head = &first_bytes[..first_bytes.len().min(DETECT_BYTES)];
    // The first format of this order that knows any of the first records.
    let mut told: Option<usize> = None;
    let mut looked_at = 0;
    Framing::of(head).first_elements(head, &mut |element| {
        looked_at += 1;
        if looked_at <= DETECT_RECORDS {
            let found = TELLS.iter().take(told.unwrap_or(TELLS.len())).position(|(_, tells)| tells(&element));
            told = found.or(told);
        }
    });
    match told {
        Some(index) => Ok(TELLS[index].0),
        None if aider::is_log(head) => Ok(Format::Aider),
        None if is_text(head) => Ok(Format::Generic),
        None => Err(DetectError::Unknown),
    }
}

/// Tells whether bytes are text of any kind, as far as a reader of patches minds.
fn is_text(head: &[u8]) -> bool {
    let is_odd = |byte: &&u8| byte.is_ascii_control() && !byte.is_ascii_whitespace() && **byte != 0x1B;
    let odd = head.iter().filter(is_odd).count();
    let invalid: usize = head.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    !head.contains(&0) && (odd + invalid) * 20 <= head.len()
}

/// What tells a format by one record.
type Tells = fn(&Element<'_>) -> bool;

/// The formats in the order in which they are looked for, each with what tells it.
const TELLS: [(Format, Tells); 13] = [
    // Before the protocol: Codex's app server speaks JSON-RPC too.
    (Format::Codex, |element| codex::stored::is_row(element.bytes)),
    (Format::Acp, |element| acp::stored::is_row(element.bytes)),
    (Format::Dsh, |element| dsh::is_row(element.bytes)),
    (Format::Pi, |element| pi::is_row(element.bytes)),
    (Format::Gemini, |element| match element.holder {
        Holder::Field(key) => key == "projectHash",
        Holder::Item(key) => gemini::stored::is_item(key, element.bytes),
        Holder::Root => gemini::stored::is_row(element.bytes),
    }),
    // Before Claude Code: its records have what that one's have, and more.
    (Format::Qwen, |element| gemini::qwen::is_row(element.bytes)),
    // Before Claude Code, too: some of its events are like that one's.
    (Format::Cursor, |element| cursor::stored::is_row(element.bytes)),
    (Format::ClaudeCode, |element| claude_code::is_row(element.bytes)),
    (Format::OpenCode, |element| match element.holder {
        Holder::Field(key) => key == "info" && opencode::is_info(element.bytes),
        Holder::Item(_) => opencode::is_message(element.bytes),
        Holder::Root => opencode::is_row(element.bytes),
    }),
    (Format::OpenHands, |element| match element.holder {
        Holder::Field(_) => false,
        Holder::Item(key) => openhands::is_item(key, element.bytes),
        Holder::Root if element.is_torn => openhands::is_torn_row(element.bytes),
        Holder::Root => openhands::is_row(element.bytes),
    }),
    (Format::Copilot, |element| copilot::stored::is_row(element.bytes)),
    (Format::SweAgent, |element| match element.holder {
        Holder::Field(key) => swe_agent::is_field(key, element.bytes),
        Holder::Item(key) => swe_agent::is_step(key, element.bytes),
        Holder::Root => false,
    }),
    // Last: nearly every log has messages somewhere.
    (Format::Cline, |element| match element.holder {
        Holder::Field(_) => false,
        Holder::Item(key) => cline::is_item(key, element.bytes),
        Holder::Root => cline::is_row(element.bytes),
    }),
];

/// Appends a value as JSON.
#[expect(
    clippy::expect_used,
    reason = "strings and report types have string keys only, and memory takes all bytes"
)]
fn json_into(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    serde_json::to_writer(out, value).expect("JSON of a string or a report type");
}

/// A string that is borrowed where it has no escape; serde borrows inside an `Option` only through such a type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
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

/// Reads a JSON object; serde alone would also take an array of the fields' values.
fn object<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, serde_json::Error> {
    if text.trim_ascii_start().starts_with('{') {
        return serde_json::from_str(text);
    }
    Err(serde::de::Error::custom("not an object"))
}

/// Returns a line as text, without a byte order mark.
fn as_text(line: &[u8]) -> Option<&str> {
    std::str::from_utf8(line.strip_prefix(UTF8_BOM).unwrap_or(line)).ok()
}

/// Returns a number as it stands and a string without its quotes.
fn verbatim(raw: &RawValue) -> String {
    lenient(Some(raw)).unwrap_or_else(|| raw.get().to_owned())
}

#[derive(Deserialize)]
struct TextBlock {
    text: Option<String>,
}

/// Returns the text of a result: of its text blocks, or the content itself where that is a string.
fn text_of(content: Option<&RawValue>) -> Option<String> {
    let content = content?;
    if let Some(text) = lenient(Some(content)) {
        return Some(text);
    }
    let blocks: Vec<TextBlock> = lenient(Some(content))?;
    let texts: Vec<String> = blocks.into_iter().filter_map(|block| block.text).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Counts the lines of a text up to its pieces, which come in their order.
struct LineCounter<'t> {
    text: &'t str,
    line: usize,
    seen_bytes: usize,
}

impl<'t> LineCounter<'t> {
    /// Returns a counter for a text that begins on that 1-based line.
    fn new(text: &'t str, line: usize) -> Self {
        LineCounter { text, line, seen_bytes: 0 }
    }

    /// Returns the 1-based line on which a piece of the text begins, behind those that were asked for before.
    fn line_of(&mut self, piece: &RawValue) -> usize {
        let start = piece.get().as_ptr().addr() - self.text.as_ptr().addr();
        self.line += memchr_iter(b'\n', &self.text.as_bytes()[self.seen_bytes..start]).count();
        self.seen_bytes = start;
        self.line
    }
}

/// Reads an optional field of which only the right shape counts.
fn lenient<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

/// Returns an optional string; nothing of any other shape.
fn text(raw: Option<&RawValue>) -> Option<String> {
    lenient(raw)
}

/// Tells whether an optional field is true; of any other shape it is not.
fn flag(raw: Option<&RawValue>) -> bool {
    lenient(raw) == Some(true)
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
        check(b"{\"type\":\"summary\",\"summary\":\"s\",\"leafUuid\":\"1\"}\n", Ok(Format::ClaudeCode));
        check(b"{\"type\":\"session\",\"version\":3,\"timestamp\":\"2026\"}\n", Ok(Format::Pi));
        check(b"{\"type\":\"other\",\"uuid\":\"1\"}\n", Ok(Format::Generic));
        check(b"{\"info\":{\"id\":\"ses_1\"},\"messages\":[{}]}", Ok(Format::OpenCode));
        check(b"{\n \"info\": {\n \"id\": \"ses_1\",\n \"ver", Ok(Format::OpenCode));
        check(b"[{\"info\":{\"id\":\"msg_1\"},\"parts\":[]}]", Ok(Format::OpenCode));
        check(b"{\"type\":\"tool_use\",\"sessionID\":\"s\",\"part\":{}}\n", Ok(Format::OpenCode));
        check("caf\u{e9} \u{1b}[1mtext\u{1b}[0m\n".as_bytes(), Ok(Format::Generic));
        check(b"caf\xE9 in another encoding, but text\n", Ok(Format::Generic));
        check(b"\x7FELF\x01\x02\x03", Err(DetectError::Unknown));
        check(b"\xFF\xD8\xFF\xE0 a picture", Err(DetectError::Unknown));
        check(b"zero\0", Err(DetectError::Unknown));
        check(b"[\n{\"type\":\"tool/call\",\"data\":{}}\n]\n", Ok(Format::Dsh));
        check(b"{\n\"type\":\"tool/call\",\n\"data\":{}}\n", Ok(Format::Dsh));
        check(
            b"{\"id\":0,\"method\":\"initialize\",\"jsonrpc\":\"2.0\"}\n{\"method\":\"turn/started\"}\n",
            Ok(Format::Codex),
        );
        check(b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\"}\n", Ok(Format::Acp));
        check(b"SQLite format 3\0", Err(DetectError::Sqlite));
    }

    #[test]
    fn names_lead_to_formats() {
        for format in Format::ALL {
            assert_eq!(Format::from_name(format.name()), Some(format));
        }
        assert_eq!(Format::from_name("unknown"), None);
    }
}
