//! Sessions of Gemini CLI: one document, or a record a line; and what `--output-format stream-json` prints.
//!
//! ```text
//! document = {"sessionId","projectHash",...,"messages":[message*]}
//! record   = {"sessionId","projectHash",...} | message | {"$set":{"messages"?:[message*],...}} | {"$rewindTo":MESSAGE ID}
//! message  = {"id","timestamp","type":"user|gemini|info|error|warning","content","toolCalls"?:[call*]}
//! call     = {"id","name","args","status","timestamp","result"?,"resultDisplay"?}
//! status   = "success" | "error" | "cancelled" | others of a call that is not over
//! history  = [{"role":"user|model","parts":[part*]}*]                what /chat save writes
//! event    = {"type":"tool_use","tool_name","tool_id","parameters"} | {"type":"tool_result","tool_id","status","output"?,"error"?}
//! ```
//!
//! A message is written again whenever it grows: the last one counts, so one is read when another follows it. A rewind
//! takes messages out of the conversation; what they did to files was done, and is drawn.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::report::CardStatus;
use crate::session::event::Begin;
use crate::session::event::CallEvent;
use crate::session::event::CallKey;
use crate::session::event::CallResult;
use crate::session::event::Emit;
use crate::session::event::LiveBegin;
use crate::session::event::LiveBody;
use crate::session::event::LiveEvent;
use crate::session::event::Place;
use crate::session::event::Request;
use crate::session::event::Scope;
use crate::session::event::Words;

use super::super::LineCounter;
use super::super::Text;
use super::super::lenient;
use super::super::object;
use super::super::stream::Say;
use super::super::verbatim;
use super::display;
use super::parts::Parts;
use super::parts::answer_of_parts;
use super::parts::error_of;
use super::parts::path_of;

/// How many messages are remembered, to tell what a rewind takes out.
const MESSAGES_CAP: usize = 1 << 14;

/// How many paths a note names.
const NAMED_PATHS: usize = 5;

/// Reads records, or the messages of a document.
#[derive(Debug, Default)]
pub struct Gemini {
    /// The last message with calls: it may be written again.
    held: Option<Held>,
    /// The messages in their order, each with the files that it changed.
    messages: VecDeque<(String, Vec<String>)>,
    parts: Parts,
    unknown_events: usize,
}

/// A message as it was written last.
#[derive(Debug)]
struct Held {
    id: String,
    text: String,
    line: usize,
}

#[derive(Deserialize)]
struct Row<'a> {
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow, rename = "toolCalls")]
    calls: Option<&'a RawValue>,
    #[serde(borrow, rename = "$set")]
    set: Option<&'a RawValue>,
    #[serde(borrow, rename = "$rewindTo")]
    rewind_to: Option<Text<'a>>,
    #[serde(borrow, rename = "sessionId")]
    session: Option<Text<'a>>,
    #[serde(borrow, rename = "projectHash")]
    project: Option<Text<'a>>,
    #[serde(borrow, rename = "startTime")]
    start: Option<Text<'a>>,
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
    #[serde(borrow)]
    uuid: Option<&'a RawValue>,
    #[serde(borrow)]
    role: Option<Text<'a>>,
    #[serde(borrow)]
    parts: Option<Vec<&'a RawValue>>,
    #[serde(borrow, rename = "session_id")]
    stream_session: Option<Text<'a>>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_id: Option<Text<'a>>,
    #[serde(borrow)]
    tool_name: Option<Text<'a>>,
    #[serde(borrow)]
    parameters: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<Text<'a>>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Set<'a> {
    #[serde(borrow)]
    messages: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Call<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<Text<'a>>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    result_display: Option<&'a RawValue>,
}

impl Gemini {
    /// Returns how many records were of a kind that is not known.
    pub fn unknown_events(&self) -> usize {
        self.unknown_events
    }

    /// Reads one record, or one message of a document.
    ///
    /// # Errors
    /// The text is no object.
    pub fn read(&mut self, text: &str, line: usize, emit: &mut Emit<'_>) -> Result<(), serde_json::Error> {
        let row: Row<'_> = object(text)?;
        if row.is_event() {
            self.event(row, line, emit);
        } else if let Some(set) = row.set {
            if let Some(Set { messages: Some(messages) }) = lenient(Some(set)) {
                self.finish(emit);
                self.messages.clear();
                self.all_messages(messages, text, line, emit);
            }
        } else if let Some(messages) = row.messages {
            // A document that was written on one line, among others.
            self.all_messages(lenient(Some(messages)).unwrap_or_default(), text, line, emit);
        } else if let Some(id) = row.rewind_to {
            self.rewind(&id, line, emit);
        } else if let Some(id) = row.id.as_deref() {
            if row.kind.as_deref().is_none_or(|kind| !is_known(kind)) {
                self.unknown_events += 1;
            }
            self.message(id, text, line, emit);
        } else if let (Some(_), Some(parts)) = (row.role, row.parts) {
            self.parts.read(&parts, &Place { line, ..Place::default() }, emit);
        } else if row.session.is_none() {
            self.unknown_events += 1;
        }
        Ok(())
    }

    /// Reads one item of a list that is the document (no key), or that is a field of it.
    ///
    /// # Errors
    /// The item is no message.
    pub fn read_item(
        &mut self,
        key: Option<&str>,
        text: &str,
        line: usize,
        emit: &mut Emit<'_>,
    ) -> Result<(), serde_json::Error> {
        match key {
            Some("messages") => self.read(text, line, emit),
            _ if is_item(key, text.as_bytes()) => self.read(text, line, emit),
            _ => Ok(()),
        }
    }

    /// Ends the log: reads the last message.
    pub fn finish(&mut self, emit: &mut Emit<'_>) {
        let Some(held) = self.held.take() else { return };
        let Ok(row) = object::<Row<'_>>(&held.text) else { return };
        let calls: Vec<&RawValue> = lenient(row.calls).unwrap_or_default();
        let mut lines = LineCounter::new(&held.text, held.line);
        let mut paths = Vec::new();
        for call in calls {
            let line = lines.line_of(call);
            match lenient::<Call<'_>>(Some(call)) {
                Some(call) => paths.extend(one_call(call, row.timestamp, line, emit)),
                None => self.unknown_events += 1,
            }
        }
        if let Some((_, known)) = self.messages.iter_mut().rev().find(|(id, _)| *id == held.id) {
            *known = paths;
        }
    }

    fn all_messages(&mut self, messages: Vec<&RawValue>, text: &str, line: usize, emit: &mut Emit<'_>) {
        let mut lines = LineCounter::new(text, line);
        for message in messages {
            let line = lines.line_of(message);
            match object::<Row<'_>>(message.get()) {
                Ok(Row { id: Some(id), .. }) => self.message(&id, message.get(), line, emit),
                _ => self.unknown_events += 1,
            }
        }
    }

    /// Takes a message; what it says of calls is read when the next one comes.
    fn message(&mut self, id: &str, text: &str, line: usize, emit: &mut Emit<'_>) {
        if self.held.as_ref().is_some_and(|held| held.id != id) {
            self.finish(emit);
        }
        if self.messages.back().is_none_or(|(last, _)| last != id) {
            self.messages.push_back((id.to_owned(), Vec::new()));
            if self.messages.len() > MESSAGES_CAP {
                self.messages.pop_front();
            }
        }
        self.held =
            text.contains("\"toolCalls\"").then(|| Held { id: id.to_owned(), text: text.to_owned(), line });
    }

    fn rewind(&mut self, id: &str, line: usize, emit: &mut Emit<'_>) {
        self.finish(emit);
        // An unknown message empties the conversation.
        let at = self.messages.iter().position(|(known, _)| known == id).unwrap_or(0);
        let mut paths: Vec<String> = self.messages.drain(at..).flat_map(|(_, paths)| paths).collect();
        paths.sort();
        paths.dedup();
        if paths.is_empty() {
            return;
        }
        let more = paths.len().saturating_sub(NAMED_PATHS);
        paths.truncate(NAMED_PATHS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        emit(CallEvent::Note(format!(
            "line {line}: the session goes back to an earlier message; the edits that this takes out were made, and are drawn: {}{more}",
            paths.join(", ")
        )));
    }

    fn event(&mut self, row: Row<'_>, line: usize, emit: &mut Emit<'_>) {
        let place = Place { line, turn: None, time: row.timestamp.map(verbatim) };
        match (row.tool_id, row.tool_name) {
            (Some(call_id), Some(tool)) => {
                let request = Request::Arguments(row.parameters.map_or("{}", RawValue::get).into());
                emit(CallEvent::Begin(Begin { call_id: call_id.0, tool: tool.0, request, place }));
            }
            (Some(call_id), None) => {
                let status = match row.status.as_deref() {
                    Some("success") => CardStatus::Applied,
                    Some("error") => CardStatus::Failed,
                    Some("cancelled") => CardStatus::Rejected,
                    _ => CardStatus::Unknown,
                };
                let message = error_of(row.error).or_else(|| lenient(row.output));
                let operation = display::operation_of(message.as_deref());
                let result = CallResult::new(call_id.0.into_owned(), place, status);
                emit(CallEvent::Result(Box::new(CallResult { message, operation, ..result })));
            }
            _ => {}
        }
    }
}

impl Row<'_> {
    /// Tells whether it is one of stream-json.
    fn is_event(&self) -> bool {
        match self.kind.as_deref() {
            Some("init") => self.stream_session.is_some() && self.model.is_some(),
            Some("tool_use") => self.tool_id.is_some() && self.tool_name.is_some(),
            Some("tool_result") => self.tool_id.is_some() && self.status.is_some(),
            Some("message" | "error" | "result") => self.id.is_none() && self.timestamp.is_some(),
            _ => false,
        }
    }
}

/// Says one call of a message; returns the path of what it changed.
fn one_call(
    call: Call<'_>,
    message_time: Option<&RawValue>,
    line: usize,
    emit: &mut Emit<'_>,
) -> Option<String> {
    let place = Place { line, turn: None, time: call.timestamp.or(message_time).map(verbatim) };
    let arguments = call.args.map_or("{}", RawValue::get);
    // A call that was not over is told again when it is.
    emit(CallEvent::Amended(Begin {
        call_id: (&*call.id).into(),
        tool: (&*call.name).into(),
        request: Request::Arguments(arguments.into()),
        place: place.clone(),
    }));
    let answer = answer_of_parts(call.result);
    let path = call.args.and_then(|arguments| path_of(arguments.get()));
    let changed = display::changed(call.result_display, path.as_deref(), answer.said.as_deref());
    let status = match call.status.as_deref() {
        Some("success") => CardStatus::Applied,
        Some("error") => CardStatus::Failed,
        Some("cancelled") => CardStatus::Rejected,
        // It was not over when the message was written.
        Some(_) => return None,
        // Some writers leave the status out.
        None => answer.status.or_else(|| changed.change.as_ref().map(|_| CardStatus::Applied))?,
    };
    let is_applied = status == CardStatus::Applied;
    let changed_path = changed.change.as_ref().filter(|_| is_applied).map(|change| change.path.clone());
    emit(CallEvent::Result(Box::new(CallResult {
        operation: display::operation_of(answer.said.as_deref()),
        message: answer.said,
        changes: changed.change.into_iter().filter(|_| is_applied).collect(),
        notes: if is_applied { changed.notes } else { Vec::new() },
        ..CallResult::new(call.id.0.into_owned(), place, status)
    })));
    changed_path
}

fn is_known(kind: &str) -> bool {
    matches!(kind, "user" | "gemini" | "info" | "error" | "warning" | "model" | "qwen" | "assistant")
}

/// Reads one event of a live stream; tells whether it is one. A call's arguments come whole.
pub(in crate::session::format) fn read_live(text: &str, say: &mut Say<'_>) -> serde_json::Result<bool> {
    let row: Row<'_> = serde_json::from_str(text)?;
    if !row.is_event() {
        return Ok(false);
    }
    if let (Some(id), Some(tool)) = (row.tool_id, row.tool_name) {
        let whole = row.parameters.map_or("{}", RawValue::get);
        let key = CallKey::Id(id.0.clone());
        say(LiveEvent::Begin(LiveBegin {
            key: key.clone(),
            alias: None,
            call_id: Some(id.0),
            tool: tool.0,
            body: LiveBody::Arguments,
            repeats: true,
        }));
        say(LiveEvent::End { calls: Scope::Call(key), whole: Some(Words::Plain(whole.into())) });
    }
    Ok(true)
}

/// Tells whether a log of this format may hold such a line.
pub(in crate::session::format) fn is_row(line: &[u8]) -> bool {
    let Some(row) = super::super::as_text(line).and_then(|text| object::<Row<'_>>(text).ok()) else {
        return false;
    };
    let is_header = row.session.is_some()
        && (row.project.is_some() || row.start.is_some())
        && row.kind.is_none()
        && row.uuid.is_none();
    let is_event =
        row.is_event() && row.kind.as_deref().is_some_and(|kind| kind.starts_with("tool_") || kind == "init");
    is_header
        || is_event
        || row.set.is_some()
        || row.rewind_to.is_some()
        || is_message_row(&row)
        || is_content(&row)
}

/// Tells whether a document of this format may have such an item.
pub(in crate::session::format) fn is_item(key: Option<&str>, text: &[u8]) -> bool {
    let row = super::super::as_text(text).and_then(|text| object::<Row<'_>>(text).ok());
    row.is_some_and(|row| match key {
        Some("messages") => is_message_row(&row),
        None | Some("history" | "clientHistory") => is_content(&row),
        Some(_) => false,
    })
}

fn is_message_row(row: &Row<'_>) -> bool {
    let is_model = row.kind.as_deref() == Some("gemini") || row.calls.is_some();
    row.id.is_some() && row.uuid.is_none() && row.timestamp.is_some() && is_model
}

fn is_content(row: &Row<'_>) -> bool {
    matches!(row.role.as_deref(), Some("user" | "model")) && row.parts.is_some() && row.uuid.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the events of a log come to: calls as `id`, results as `id status`, notes by what they name.
    fn events(lines: &[&str]) -> Vec<String> {
        let mut gemini = Gemini::default();
        let mut said = Vec::new();
        let mut say = |event: CallEvent<'_>| match event {
            CallEvent::Begin(begin) | CallEvent::Amended(begin) => said.push(begin.call_id.to_string()),
            CallEvent::Result(result) => said.push(format!("{} {:?}", result.call_id, result.status)),
            CallEvent::Note(note) => said.push(note.rsplit(": ").next().unwrap().to_owned()),
            _ => {}
        };
        for (index, line) in lines.iter().enumerate() {
            gemini.read(line, index + 1, &mut say).unwrap();
        }
        gemini.finish(&mut say);
        said
    }

    fn message(id: &str, call: &str, status: &str) -> String {
        let display = format!(r#"{{"fileDiff":"","filePath":"{call}.txt","newContent":"x"}}"#);
        let call =
            format!(r#"{{"id":"{call}","name":"write_file","status":"{status}","resultDisplay":{display}}}"#);
        format!(r#"{{"id":"{id}","type":"gemini","timestamp":"t","toolCalls":[{call}]}}"#)
    }

    #[test]
    fn the_last_of_a_message_counts() {
        let (first, last) = (message("m", "a", "error"), message("m", "a", "success"));
        let set = r#"{"$set":{"lastUpdated":"t"}}"#;
        assert_eq!(events(&[&first, set, &last]), ["a", "a Applied"]);
        // Not over, then others, then over.
        let (open, other) = (message("m", "a", "executing"), message("n", "b", "success"));
        assert_eq!(events(&[&open, &other, &last]), ["a", "b", "b Applied", "a", "a Applied"]);
    }

    #[test]
    fn a_rewind_names_the_files_that_it_leaves_changed() {
        let rewind = |to: &str| format!(r#"{{"$rewindTo":"{to}"}}"#);
        let (one, two) = (message("m", "a", "success"), message("n", "b", "success"));
        let failed = message("o", "c", "error");
        let notes = |to: &str| {
            let all = events(&[&one, &two, &failed, &rewind(to)]);
            all.into_iter().filter(|said| said.contains(".txt")).collect::<Vec<_>>()
        };
        assert_eq!(notes("n"), ["b.txt"]);
        assert_eq!(notes("m"), ["a.txt, b.txt"]);
        assert_eq!(notes("unknown"), ["a.txt, b.txt"]);
        assert_eq!(notes("o"), [""; 0]);
    }

    #[test]
    fn records_are_told_from_those_of_others() {
        let check = |line: &str, wanted| assert_eq!(is_row(line.as_bytes()), wanted, "{line}");
        check(r#"{"sessionId":"s","projectHash":"p","startTime":"t"}"#, true);
        check(r#"{"sessionId":"s","startTime":"t","kind":"main"}"#, true);
        check(r#"{"$set":{}}"#, true);
        check(&message("m", "a", "success"), true);
        check(
            r#"{"type":"tool_use","timestamp":"t","tool_name":"replace","tool_id":"1","parameters":{}}"#,
            true,
        );
        check(r#"{"role":"model","parts":[]}"#, true);
        check(r#"{"type":"user","uuid":"u","sessionId":"s","message":{"parts":[]}}"#, false);
        check(r#"{"type":"tool_use","sessionID":"s","part":{}}"#, false);
        check(r#"{"role":"assistant","content":[]}"#, false);
        check(r#"{"type":"result","timestamp":"t","session_id":"s"}"#, false);
    }
}
