//! Sessions of Qwen Code, a record a line.
//!
//! ```text
//! record = {"uuid","parentUuid","sessionId","timestamp","type":"user|assistant|tool_result|system","cwd",
//!           "message"?:{"role","parts":[part*]},"toolCallResult"?:result,"subtype"?,...}
//! result = {"callId"?,"status":"success|error|cancelled","resultDisplay"?,"error"?}
//! ```
//!
//! A tool's answer is in the parts of its record, and what it did beside them. Records are a tree since a conversation
//! may be rewound; all edits are drawn in the order of the file, for they were made.

use std::collections::BTreeMap;

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::report::CardStatus;
use crate::session::event::CallEvent;
use crate::session::event::CallResult;
use crate::session::event::Emit;
use crate::session::event::Place;
use crate::session::event::Request;

use super::super::Text;
use super::super::lenient;
use super::super::object;
use super::super::verbatim;
use super::display;
use super::parts::Parts;
use super::parts::answer_of_parts;
use super::parts::error_of;
use super::parts::path_of;

/// A line up to this length is read whatever it is.
const SHORT_LINE_BYTES: usize = 4096;

/// How many calls may wait for a result that does not name their file.
const OPEN_PATHS_CAP: usize = 1024;

/// Reads records, one after the other.
#[derive(Debug, Default)]
pub struct Qwen {
    folder: Option<String>,
    parts: Parts,
    /// The files of the calls that are open, by the call's id.
    paths: BTreeMap<String, String>,
    unknown_events: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    subtype: Option<Text<'a>>,
    #[serde(borrow)]
    uuid: Option<Text<'a>>,
    #[serde(borrow)]
    session_id: Option<Text<'a>>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    cwd: Option<Text<'a>>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    parts: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolCallResult<'a> {
    #[serde(borrow)]
    call_id: Option<Text<'a>>,
    #[serde(borrow)]
    status: Option<Text<'a>>,
    #[serde(borrow)]
    result_display: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// The beginning of a part that only names what it answers.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answering<'a> {
    #[serde(borrow)]
    function_response: Option<Named<'a>>,
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    id: Option<Text<'a>>,
}

impl Qwen {
    /// Returns how many records were of a type that is not known.
    pub fn unknown_events(&self) -> usize {
        self.unknown_events
    }

    /// Reads one record.
    ///
    /// # Errors
    /// The line is no record.
    pub fn read(&mut self, text: &str, line: usize, emit: &mut Emit<'_>) -> Result<(), serde_json::Error> {
        let row: Row<'_> = object(text)?;
        if let Some(folder) = row.cwd
            && self.folder.as_deref() != Some(&folder)
        {
            self.folder = Some(folder.to_string());
            emit(CallEvent::Folder(folder.0));
        }
        let place = Place { line, turn: None, time: row.timestamp.map(verbatim) };
        let message: Option<Message<'_>> = lenient(row.message);
        let parts = message.and_then(|message| message.parts).unwrap_or_default();
        match row.kind.as_deref() {
            Some("assistant" | "user" | "tool_result") => {
                match lenient::<ToolCallResult<'_>>(row.tool_call_result) {
                    Some(result) => self.result(result, &parts, place, emit),
                    None => {
                        let paths = &mut self.paths;
                        self.parts.read(&parts, &place, &mut |event| {
                            remember(paths, &event);
                            emit(event);
                        });
                    }
                }
            }
            Some("system") => {
                if row.subtype.as_deref() == Some("rewind") {
                    emit(CallEvent::Note(format!(
                        "line {line}: the session goes back to an earlier message; the edits that this takes out were made, and are drawn"
                    )));
                }
            }
            _ => self.unknown_events += 1,
        }
        Ok(())
    }

    fn result(&mut self, result: ToolCallResult<'_>, parts: &[&RawValue], place: Place, emit: &mut Emit<'_>) {
        let named = parts.iter().find_map(|part| lenient::<Answering<'_>>(Some(part))?.function_response?.id);
        let Some(call_id) = result.call_id.or(named) else {
            self.parts.read(parts, &place, emit);
            return;
        };
        let answer =
            parts.iter().map(|part| answer_of_parts(Some(part))).find(|answer| answer.status.is_some());
        let answer = answer.unwrap_or_default();
        let status = match result.status.as_deref() {
            Some("success") => CardStatus::Applied,
            Some("error" | "failed") => CardStatus::Failed,
            Some("cancelled") => CardStatus::Rejected,
            _ => answer.status.unwrap_or(CardStatus::Unknown),
        };
        let path = self.paths.remove(&*call_id);
        let is_applied = status == CardStatus::Applied;
        let changed = if is_applied {
            display::changed(result.result_display, path.as_deref(), answer.said.as_deref())
        } else {
            display::Changed::default()
        };
        emit(CallEvent::Result(Box::new(CallResult {
            operation: display::operation_of(answer.said.as_deref()),
            message: answer.said.or_else(|| error_of(result.error)),
            changes: changed.change.into_iter().collect(),
            notes: changed.notes,
            ..CallResult::new(call_id.0.into_owned(), place, status)
        })));
    }
}

/// Keeps the file of a call until its result comes.
fn remember(paths: &mut BTreeMap<String, String>, event: &CallEvent<'_>) {
    if let CallEvent::Begin(begin) = event
        && let Request::Arguments(arguments) = &begin.request
        && let Some(path) = path_of(arguments)
        && paths.len() < OPEN_PATHS_CAP
    {
        paths.insert(begin.call_id.to_string(), path);
    }
}

/// Tells, without parsing, whether a line is worth parsing.
pub(in crate::session::format) fn proposes(line: &[u8]) -> bool {
    const NEEDLES: [&[u8]; 3] = [b"\"functionCall\"", b"\"functionResponse\"", b"\"toolCallResult\""];
    line.len() <= SHORT_LINE_BYTES && !line.trim_ascii().is_empty()
        || NEEDLES.iter().any(|needle| memmem::find(line, needle).is_some())
}

/// Tells whether a log of this format may hold such a line.
pub(in crate::session::format) fn is_row(line: &[u8]) -> bool {
    let Some(row) = super::super::as_text(line).and_then(|text| object::<Row<'_>>(text).ok()) else {
        return false;
    };
    let is_message = matches!(row.kind.as_deref(), Some("user" | "assistant" | "tool_result"))
        && (row.tool_call_result.is_some()
            || lenient::<Message<'_>>(row.message).is_some_and(|message| message.parts.is_some()));
    is_message && row.uuid.or(row.session_id).is_some()
}
