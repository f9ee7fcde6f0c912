//! Which vendor's live stream a payload belongs to; the payload then goes to that vendor's reader.
//!
//! A stream is told from its first payload that says what it is, and again whenever one comes that its reader does not
//! know: proxies wrap events, captures put streams one after the other. What nobody knows is passed over.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::session::event::LiveEvent;
use crate::session::event::Scope;
use crate::session::frame::readable;

use super::Text;
use super::acp::live::Acp;
use super::anthropic;
use super::anthropic::Message;
use super::claude_code::live as claude_code;
use super::codex;
use super::copilot;
use super::cursor;
use super::dsh;
use super::gemini;
use super::gemini::live::Gemini;
use super::lenient;
use super::openai;

/// Takes what a stream says.
pub type Say<'s> = dyn FnMut(LiveEvent<'_>) + 's;

/// So many wrappers around an event are taken off.
const WRAPPERS_CAP: usize = 4;

/// The kinds of streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamFormat {
    /// Responses events and Chat Completions chunks.
    OpenAi,
    /// Messages events.
    Anthropic,
    /// Gemini's chunks.
    Gemini,
    /// Claude Code's stream-json.
    ClaudeCode,
    /// Codex's rollouts and notifications.
    Codex,
    /// DeepSeek Harness's rows.
    Dsh,
    /// The Agent Client Protocol.
    Acp,
    /// Gemini CLI's stream-json.
    GeminiCli,
    /// The events of GitHub Copilot's command line.
    Copilot,
    /// Cursor's stream-json.
    Cursor,
}

/// The keys that tell streams apart. No key is read under several names: a payload that has two of them would be refused.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    object: Option<&'a RawValue>,
    #[serde(borrow)]
    choices: Option<&'a RawValue>,
    #[serde(borrow)]
    candidates: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, rename = "sessionUpdate")]
    session_update: Option<&'a RawValue>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
    #[serde(borrow)]
    msg: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    seq: Option<&'a RawValue>,
    #[serde(borrow, rename = "createdAt")]
    created_at: Option<&'a RawValue>,
    #[serde(borrow)]
    session_id: Option<&'a RawValue>,
    #[serde(borrow, rename = "sessionId")]
    session_id_stored: Option<&'a RawValue>,
    #[serde(borrow)]
    uuid: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_id: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call: Option<&'a RawValue>,
    #[serde(borrow)]
    event: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    chunk: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl Head<'_> {
    fn format(&self) -> Option<StreamFormat> {
        let kind = lenient::<Text<'_>>(self.kind);
        let kind = kind.as_deref().unwrap_or_default();
        let method = lenient::<Text<'_>>(self.method);
        let method = method.as_deref().unwrap_or_default();
        let starts = |text: &str, starts: &[&str]| starts.iter().any(|start| text.starts_with(start));
        if starts(method, &["item/", "turn/", "thread/", "codex/", "rawResponseItem/"]) {
            return Some(StreamFormat::Codex);
        }
        if method == "session/update" || self.session_update.is_some() || self.jsonrpc.is_some() {
            return Some(StreamFormat::Acp);
        }
        if self.choices.is_some() || starts(kind, &["response."]) {
            return Some(StreamFormat::OpenAi);
        }
        if lenient::<Text<'_>>(self.object).is_some_and(|object| object.starts_with("chat.completion")) {
            return Some(StreamFormat::OpenAi);
        }
        if self.candidates.is_some() {
            return Some(StreamFormat::Gemini);
        }
        match kind {
            "message_start"
            | "message_delta"
            | "message_stop"
            | "content_block_start"
            | "content_block_delta"
            | "content_block_stop"
            | "ping" => Some(StreamFormat::Anthropic),
            "session_meta" | "response_item" | "event_msg" | "turn_context" | "compacted"
                if self.payload.is_some() =>
            {
                Some(StreamFormat::Codex)
            }
            "function_call" | "custom_tool_call" | "local_shell_call" => Some(StreamFormat::Codex),
            "stream_event" => Some(StreamFormat::ClaudeCode),
            "assistant" | "user" | "system" | "result" | "summary"
                if self.session_id.or(self.session_id_stored).or(self.uuid).is_some() =>
            {
                Some(StreamFormat::ClaudeCode)
            }
            "init" if self.session_id.is_some() && self.model.is_some() => Some(StreamFormat::GeminiCli),
            "tool_use" | "tool_result" if self.tool_id.is_some() => Some(StreamFormat::GeminiCli),
            "tool_call" if self.tool_call.is_some() => Some(StreamFormat::Cursor),
            kind if self.data.is_some() && starts(kind, &["assistant.", "session.", "tool.", "user."]) => {
                Some(StreamFormat::Copilot)
            }
            "message" if self.message.is_none() => Some(StreamFormat::Anthropic),
            "session" if self.created_at.is_some() => Some(StreamFormat::Dsh),
            "text-chunks" | "reasoning-chunks" | "tool-call-chunks" => Some(StreamFormat::Dsh),
            kind if kind.contains('/') && (self.seq.is_some() || self.data.is_some()) => {
                Some(StreamFormat::Dsh)
            }
            kind if starts(kind, &["item.", "turn.", "thread."]) => Some(StreamFormat::Codex),
            _ if self.msg.is_some() => Some(StreamFormat::Codex),
            _ => None,
        }
    }
}

/// Tells whether a payload is one of a stream that is known.
pub fn is_stream(payload: &[u8]) -> bool {
    let text = readable(payload).text;
    let mut inner: String;
    let mut at: &str = &text;
    for _ in 0..WRAPPERS_CAP {
        let Ok(head) = serde_json::from_str::<Head<'_>>(at) else { return false };
        if head.format().is_some() {
            return true;
        }
        match unwrap(&head) {
            Some(next) => inner = next,
            None => return false,
        }
        at = &inner;
    }
    false
}

/// Returns the event that an unknown object wraps; of one that is a string of JSON, that.
fn unwrap(head: &Head<'_>) -> Option<String> {
    let wrapped = [head.data, head.event, head.chunk, head.response, head.payload, head.message];
    wrapped.into_iter().flatten().find_map(|raw| match raw.get().as_bytes().first() {
        Some(b'{') => Some(raw.get().to_owned()),
        Some(b'"') => serde_json::from_str::<String>(raw.get()).ok().filter(|text| text.starts_with('{')),
        _ => None,
    })
}

/// Reads the payloads of a live stream.
#[derive(Debug, Default)]
pub struct StreamReader {
    format: Option<StreamFormat>,
    gemini: Gemini,
    acp: Acp,
    unreadable: usize,
}

impl StreamReader {
    /// Returns what kind of stream it is, once a payload told.
    pub fn format(&self) -> Option<StreamFormat> {
        self.format
    }

    /// Returns how many payloads were not JSON.
    pub fn unreadable(&self) -> usize {
        self.unreadable
    }

    /// Reads one payload; what is not known is passed over. `[DONE]` ends every call.
    ///
    /// ```
    /// use hunkwise::session::event::LiveEvent;
    /// use hunkwise::session::format::stream::StreamReader;
    /// let mut begun = 0;
    /// let payload = br#"{"type":"content_block_start","index":1,
    ///     "content_block":{"type":"tool_use","id":"t1","name":"Edit","input":{}}}"#;
    /// StreamReader::default().read(payload, false, &mut |event| {
    ///     begun += usize::from(matches!(event, LiveEvent::Begin(_)));
    /// });
    /// assert_eq!(begun, 1);
    /// ```
    pub fn read(&mut self, payload: &[u8], is_torn: bool, say: &mut Say<'_>) {
        let payload = payload.trim_ascii();
        if payload == b"[DONE]" {
            // Some servers give no reason why a message ended.
            say(LiveEvent::End { calls: Scope::All, whole: None });
            return;
        }
        let result = match std::str::from_utf8(payload) {
            Ok(text) => self.read_text(text, say),
            Err(_) => self.read_text(&readable(payload).text, say),
        };
        let result = result.or_else(|_| {
            // A lone surrogate in a name costs the payload otherwise.
            let readable = readable(payload);
            if readable.replaced == 0 { Err(()) } else { self.read_text(&readable.text, say).map_err(drop) }
        });
        if result.is_err() && !self.read_lines(payload, say) && !is_torn {
            self.unreadable += 1;
        }
    }

    /// Reads the lines of a payload that are JSON each: captures lose the blank lines that keep events apart. Tells
    /// whether there was one.
    fn read_lines(&mut self, payload: &[u8], say: &mut Say<'_>) -> bool {
        let mut has_one = false;
        if memchr::memchr(b'\n', payload).is_some() {
            for line in payload.split(|&byte| byte == b'\n') {
                has_one |= self.read_text(&readable(line).text, say).is_ok();
            }
        }
        has_one
    }

    fn read_text(&mut self, text: &str, say: &mut Say<'_>) -> serde_json::Result<()> {
        if let Some(format) = self.format
            && self.read_as(format, text, say)?
        {
            return Ok(());
        }
        let mut inner: String;
        let mut at = text;
        for _ in 0..WRAPPERS_CAP {
            let head: Head<'_> = serde_json::from_str(at)?;
            let found = head.format();
            let next = unwrap(&head);
            let error = head.error.map(error_message);
            if let Some(found) = found {
                self.format = Some(found);
                self.read_as(found, at, say)?;
                return Ok(());
            }
            if let Some(error) = error {
                say(LiveEvent::Cut { calls: Scope::All, reason: error.into() });
                return Ok(());
            }
            match next {
                Some(next) => inner = next,
                None => return Ok(()),
            }
            at = &inner;
        }
        Ok(())
    }

    fn read_as(&mut self, format: StreamFormat, text: &str, say: &mut Say<'_>) -> serde_json::Result<bool> {
        match format {
            StreamFormat::OpenAi => openai::read(text, say),
            StreamFormat::Anthropic => anthropic::read(text, Message::default(), say),
            StreamFormat::Gemini => self.gemini.read(text, say),
            StreamFormat::ClaudeCode => claude_code::read(text, say),
            StreamFormat::Codex => codex::live::read(text, say),
            StreamFormat::Dsh => dsh::read_live(text, say),
            StreamFormat::Acp => self.acp.read(text, say),
            StreamFormat::GeminiCli => gemini::stored::read_live(text, say),
            StreamFormat::Copilot => copilot::live::read(text, say),
            StreamFormat::Cursor => cursor::live::read(text, say),
        }
    }
}

#[derive(Deserialize)]
struct ErrorBody<'a> {
    #[serde(borrow)]
    message: Option<Text<'a>>,
    #[serde(borrow)]
    code: Option<&'a RawValue>,
}

/// Returns what an error says.
pub(super) fn error_message(raw: &RawValue) -> String {
    if let Some(text) = lenient::<Text<'_>>(Some(raw)) {
        return text.0.into_owned();
    }
    let body: Option<ErrorBody<'_>> = lenient(Some(raw));
    match body {
        Some(ErrorBody { message: Some(message), .. }) => message.0.into_owned(),
        Some(ErrorBody { code: Some(code), .. }) => code.get().trim_matches('"').to_owned(),
        _ => "error".to_owned(),
    }
}

/// Returns the group of a name: FNV-1a, since any even spread will do.
pub(super) fn group_of(name: &str) -> u64 {
    name.bytes()
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}
