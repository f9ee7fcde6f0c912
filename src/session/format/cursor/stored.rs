//! Transcripts and stored events.

use std::collections::BTreeMap;
use std::collections::VecDeque;

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::report::CardStatus;
use crate::session::event::Begin;
use crate::session::event::CallEvent;
use crate::session::event::CallResult;
use crate::session::event::Emit;
use crate::session::event::Place;

use super::super::Text;
use super::super::as_text;
use super::super::lenient;
use super::super::object;
use super::super::text_of;
use super::super::verbatim;
use super::Args;
use super::Row;
use super::ToolCall;
use super::request_of;
use super::result::Ended;
use super::result::ended;
use super::text;
use super::text::TextTranscript;

/// How many calls may be open at once; of more, the first are kept.
const OPEN_CAP: usize = 1024;

/// A line up to this length is read whatever it is.
const SHORT_LINE_BYTES: usize = 4096;

/// Reads lines, one after the other.
#[derive(Debug, Default)]
pub struct Cursor {
    /// The files of the calls that are open, by the call's id.
    open: BTreeMap<String, Option<String>>,
    /// The tools and the made-up ids of calls without an id that are open.
    unnamed: VecDeque<(String, String)>,
    /// An early transcript, which is text.
    text: Option<TextTranscript>,
    has_rows: bool,
    unknown_events: usize,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_id: Option<Text<'a>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    is_error: Option<bool>,
}

impl Cursor {
    /// Returns how many lines were of a type that is not known.
    pub fn unknown_events(&self) -> usize {
        self.unknown_events
    }

    /// Reads one line.
    ///
    /// # Errors
    /// The line is no object.
    pub fn read(&mut self, text: &str, line: usize, emit: &mut Emit<'_>) -> Result<(), serde_json::Error> {
        if !self.has_rows && text::is_beginning(text) {
            self.text.get_or_insert_default();
        }
        if let Some(transcript) = &mut self.text {
            transcript.read(text, line, emit);
            return Ok(());
        }
        let row: Row<'_> = object(text)?;
        self.has_rows = true;
        let place = Place { line, turn: None, time: row.timestamp_ms.map(verbatim) };
        if let Some(call) = row.call() {
            self.call(row.call_id, call, place, emit);
            return Ok(());
        }
        match row.kind.as_deref() {
            None if row.role.is_some() => blocks(row.message, &place, emit),
            Some("user" | "assistant") => blocks(row.message, &place, emit),
            Some("system") => {
                if let Some(folder) = lenient::<Text<'_>>(row.cwd) {
                    emit(CallEvent::Folder(folder.0));
                }
            }
            Some(
                "thinking" | "result" | "turn_ended" | "tool_call" | "interaction_query" | "status" | "done",
            ) => {}
            _ => self.unknown_events += 1,
        }
        Ok(())
    }

    /// Ends the log.
    pub fn finish(&mut self, emit: &mut Emit<'_>) {
        if let Some(transcript) = &mut self.text {
            transcript.finish(emit);
        }
    }

    /// Tells, without parsing, whether a line is worth parsing.
    pub fn proposes(&self, line: &[u8]) -> bool {
        const NEEDLES: [&[u8]; 3] = [b"\"tool_call\"", b"\"tool_use\"", b"\"tool_result\""];
        self.text.is_some()
            || line.len() <= SHORT_LINE_BYTES && !line.trim_ascii().is_empty()
            || NEEDLES.iter().any(|needle| memmem::find(line, needle).is_some())
    }

    fn call(&mut self, id: Option<Text<'_>>, call: ToolCall<'_>, place: Place, emit: &mut Emit<'_>) {
        let args: Option<Args<'_>> = lenient(call.args);
        let (path, inner_id) = args.map_or((None, None), |args| (args.path, args.tool_call_id));
        let call_id = match id.or(inner_id) {
            Some(id) => id.0.into_owned(),
            None => self.unnamed_id(&call, place.line),
        };
        let known = self.open.remove(&call_id);
        if known.is_none() {
            emit(CallEvent::Amended(Begin {
                call_id: (&*call_id).into(),
                tool: (&*call.tool).into(),
                request: request_of(&call.tool, call.args),
                place: place.clone(),
            }));
        }
        let path = path.map(|path| path.0.into_owned()).or(known.flatten());
        if !call.is_over {
            if self.open.len() < OPEN_CAP {
                self.open.insert(call_id, path);
            }
            return;
        }
        let Ended { status, message, change } = ended(&call.tool, path.as_deref(), call.result);
        let changes = change.into_iter().collect();
        let result = CallResult::new(call_id, place, status);
        emit(CallEvent::Result(Box::new(CallResult { message, changes, ..result })));
    }

    /// Returns an id for a call without one: its end is the first of that tool that follows.
    fn unnamed_id(&mut self, call: &ToolCall<'_>, line: usize) -> String {
        let open = self.unnamed.iter().position(|(tool, _)| *tool == call.tool);
        if call.is_over
            && let Some((_, id)) = open.and_then(|at| self.unnamed.remove(at))
        {
            return id;
        }
        let id = format!("line {line}");
        if !call.is_over && self.unnamed.len() < OPEN_CAP {
            self.unnamed.push_back((call.tool.to_string(), id.clone()));
        }
        id
    }
}

/// Says the calls of a message, and the results that some versions keep.
fn blocks(message: Option<&RawValue>, place: &Place, emit: &mut Emit<'_>) {
    let content = lenient::<Message<'_>>(message).and_then(|message| message.content);
    let blocks: Vec<&RawValue> = lenient(content).unwrap_or_default();
    for (index, block) in blocks.into_iter().enumerate() {
        let Some(block) = lenient::<Block<'_>>(Some(block)) else { continue };
        match (block.kind.as_deref(), block.name, block.tool_use_id) {
            (Some("tool_use"), Some(tool), _) => {
                let call_id = block.id.map(|id| id.0);
                let call_id = call_id.unwrap_or_else(|| match index {
                    0 => format!("line {}", place.line).into(),
                    _ => format!("line {}, {}", place.line, index + 1).into(),
                });
                let request = request_of(&tool, block.input);
                emit(CallEvent::Begin(Begin { call_id, tool: tool.0, request, place: place.clone() }));
            }
            (Some("tool_result"), _, Some(id)) => {
                let status = match block.is_error {
                    Some(true) => CardStatus::Failed,
                    Some(false) => CardStatus::Applied,
                    None => CardStatus::Unknown,
                };
                let message = text_of(block.content);
                let result = CallResult::new(id.0.into_owned(), place.clone(), status);
                emit(CallEvent::Result(Box::new(CallResult { message, ..result })));
            }
            _ => {}
        }
    }
}

/// Tells whether a log of this format may hold such a line.
pub(in crate::session::format) fn is_row(line: &[u8]) -> bool {
    let Some(text) = as_text(line) else { return false };
    if text::is_line(text) {
        return true;
    }
    let Ok(row) = object::<Row<'_>>(text) else { return false };
    let has_content = lenient::<Message<'_>>(row.message).is_some_and(|message| message.content.is_some());
    match (row.kind.as_deref(), row.subtype.as_deref()) {
        (None, _) => matches!(row.role.as_deref(), Some("user" | "assistant")) && has_content,
        (Some("tool_call"), _) => row.call().is_some(),
        (Some("thinking"), Some("delta" | "completed")) => row.session_id.is_some(),
        (Some("turn_ended"), _) => row.status.is_some(),
        // Claude Code begins alike, but lists its tools.
        (Some("system"), Some("init")) => {
            row.key_source.is_some() && row.cwd.is_some() && row.tools.is_none() && row.uuid.is_none()
        }
        _ => false,
    }
}
