//! opencode, and what shares its records (Kilo, MiMo Code): the document of `opencode export`, and the events that
//! `opencode run --format json` prints.
//!
//! ```text
//! document = {"info":{"id":"ses_...","directory"},"messages":[{"info":{...},"parts":[part*]}*]}
//! event    = {"type":"tool_use","timestamp":ms,"sessionID","part":part} | others
//! part     = {"id","type":"tool","callID","tool","state":{"status","input","output"?,"error"?,"metadata"?,"time"?}} | others
//! status   = "pending" | "running" | "completed" | "error"
//! metadata of edit         {"diff":"unified diff","filediff":{"file","before"?,"after"?,"patch"?}}
//!          of multiedit    {"results":[metadata of edit*]}
//!          of write        {"filepath","exists":bool} and perhaps what an edit has
//!          of apply_patch  {"files":[{"filePath","type":"add|update|delete|move","diff"?,"patch"?,"before"?,"after"?,"movePath"?}*]}
//! ```
//!
//! A part comes again whenever it changes: the one that says what became of the call counts. Its counters of lines are
//! not used, since they count the newline of a one-line file as a line.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::hash::DefaultHasher;
use std::hash::Hash;
use std::hash::Hasher;

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::report::CardStatus;
use crate::report::Operation;
use crate::session::event::Before;
use crate::session::event::Begin;
use crate::session::event::CallEvent;
use crate::session::event::CallResult;
use crate::session::event::ChangeContent;
use crate::session::event::FileChange;
use crate::session::event::Place;
use crate::session::event::Request;

use super::LineCounter;
use super::Text;
use super::lenient;
use super::text;

/// The name under which a call is stored that was none of a tool's.
const INVALID: &str = "invalid";

/// How many calls are remembered that were begun by a part and not ended by it.
const OPEN_CALLS_CAP: usize = 1024;

/// How much of a field of which only the beginning is there is looked at for the id of a session.
const INFO_START_BYTES: usize = 512;

/// Reads events, or the parts of an exported document.
#[derive(Debug, Default)]
pub struct OpenCode {
    /// The calls of which a part was seen that does not tell what became of them: id, and a print of what it says.
    open: VecDeque<(String, u64)>,
    unknown_events: usize,
}

/// One line of events.
#[derive(Deserialize)]
struct Row<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow, rename = "sessionID")]
    session: Option<Text<'a>>,
    #[serde(borrow)]
    part: Option<&'a RawValue>,
}

/// One message of a document.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    info: Option<&'a RawValue>,
    #[serde(borrow)]
    parts: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
struct Info<'a> {
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    directory: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow, rename = "callID")]
    call_id: Option<Text<'a>>,
    #[serde(borrow)]
    tool: Option<Text<'a>>,
    #[serde(borrow)]
    state: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct State<'a> {
    #[serde(borrow)]
    status: Text<'a>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    time: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Time<'a> {
    #[serde(borrow)]
    start: Option<&'a RawValue>,
    #[serde(borrow)]
    end: Option<&'a RawValue>,
}

/// What a tool says of its result. Fields of which only the right shape counts stay raw.
#[derive(Deserialize)]
struct Metadata<'a> {
    #[serde(borrow, alias = "filePath")]
    filepath: Option<&'a RawValue>,
    #[serde(borrow)]
    exists: Option<&'a RawValue>,
    #[serde(borrow)]
    diff: Option<&'a RawValue>,
    #[serde(borrow)]
    filediff: Option<&'a RawValue>,
    #[serde(borrow)]
    results: Option<&'a RawValue>,
    #[serde(borrow)]
    files: Option<&'a RawValue>,
}

/// One file's change.
#[derive(Deserialize)]
struct Logged<'a> {
    #[serde(borrow, alias = "filePath", alias = "filepath", alias = "path")]
    file: Option<Text<'a>>,
    #[serde(borrow, rename = "type", alias = "status")]
    kind: Option<&'a RawValue>,
    #[serde(borrow, rename = "movePath")]
    move_path: Option<&'a RawValue>,
    #[serde(borrow)]
    before: Option<&'a RawValue>,
    #[serde(borrow)]
    after: Option<&'a RawValue>,
    #[serde(borrow)]
    patch: Option<&'a RawValue>,
    #[serde(borrow)]
    diff: Option<&'a RawValue>,
}

/// The arguments that a write's or an edit's record does not repeat.
#[derive(Deserialize)]
struct Input<'a> {
    #[serde(borrow, rename = "filePath")]
    path: Option<Text<'a>>,
    #[serde(borrow)]
    content: Option<Text<'a>>,
    #[serde(borrow)]
    tool: Option<Text<'a>>,
    #[serde(borrow)]
    error: Option<Text<'a>>,
}

impl OpenCode {
    /// Returns how many events were of a type that is not known.
    pub fn unknown_events(&self) -> usize {
        self.unknown_events
    }

    /// Reads one event.
    ///
    /// # Errors
    /// The line is no event.
    pub fn read(
        &mut self,
        text: &str,
        line: usize,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) -> Result<(), serde_json::Error> {
        let row: Row<'_> = super::object(text)?;
        let time = row.timestamp.map(super::verbatim);
        match (row.kind.as_deref(), row.part) {
            (_, Some(part)) => self.part(part, Place { line, turn: None, time }, emit)?,
            (Some("error"), None) => {}
            _ => self.unknown_events += 1,
        }
        Ok(())
    }

    /// Reads one message of a document.
    ///
    /// # Errors
    /// The item is no message.
    pub fn read_message(
        &mut self,
        text: &str,
        line: usize,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) -> Result<(), serde_json::Error> {
        let message: Message<'_> = super::object(text)?;
        let mut lines = LineCounter::new(text, line);
        for part in message.parts.into_iter().flatten() {
            let line = lines.line_of(part);
            // One part that is malformed is no reason to lose the others.
            let read = self.part(part, Place { line, turn: None, time: None }, emit);
            self.unknown_events += usize::from(read.is_err());
        }
        Ok(())
    }

    /// Reads a field of a document.
    ///
    /// # Errors
    /// The `info` is no object.
    pub fn read_field(
        &mut self,
        key: &str,
        text: &str,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) -> Result<(), serde_json::Error> {
        if key == "info"
            && let Info { directory: Some(folder), .. } = super::object(text)?
        {
            emit(CallEvent::Folder(folder.0));
        }
        Ok(())
    }

    fn part(
        &mut self,
        raw: &RawValue,
        place: Place,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) -> Result<(), serde_json::Error> {
        let part: Part<'_> = super::object(raw.get())?;
        if part.kind.as_ref() != "tool" {
            return Ok(());
        }
        let (Some(tool), Some(call_id), Some(state)) =
            (part.tool, part.call_id.or(part.id), lenient::<State<'_>>(part.state))
        else {
            return Ok(());
        };
        let input: Option<Input<'_>> = lenient(state.input);
        let times: Option<Time<'_>> = lenient(state.time);
        let (start, end) = times.map_or((None, None), |time| (time.start, time.end));
        let at = |time: Option<&RawValue>| Place {
            time: time.map(super::verbatim).or_else(|| place.time.clone()),
            ..place.clone()
        };
        let is_invalid = tool.as_ref() == INVALID;
        // What the model called is in the arguments then.
        let tool = match (is_invalid, input.as_ref().and_then(|input| input.tool.as_deref())) {
            (true, Some(meant)) => Cow::Owned(meant.to_owned()),
            _ => tool.0,
        };
        let is_over = matches!(state.status.as_ref(), "completed" | "error");
        let arguments = state.input.map_or("{}", RawValue::get);
        if self.is_news(&call_id, &(&tool, arguments), is_over, emit) {
            let request = Request::Arguments(Cow::Borrowed(arguments));
            let (call_id, tool) = (Cow::Borrowed(&*call_id), Cow::Borrowed(&*tool));
            emit(CallEvent::Begin(Begin { call_id, tool, request, place: at(start) }));
        }
        if !is_over {
            return Ok(());
        }
        let is_failed = is_invalid || state.status.as_ref() == "error";
        let error = super::text_of(state.error);
        let status = match &error {
            Some(error) if is_failed && is_refusal(error) => CardStatus::Rejected,
            _ if is_failed => CardStatus::Failed,
            _ => CardStatus::Applied,
        };
        let told = CallResult::new(call_id.to_string(), at(end), status);
        let invalid = input.as_ref().and_then(|input| input.error.as_deref()).filter(|_| is_invalid);
        let message = error.or_else(|| invalid.map(str::to_owned)).or_else(|| super::text_of(state.output));
        let changes = match lenient::<Metadata<'_>>(state.metadata) {
            Some(metadata) if !is_failed => changes_of(&metadata, input.as_ref()),
            _ => Vec::new(),
        };
        emit(CallEvent::Result(Box::new(CallResult { message, changes, ..told })));
        Ok(())
    }

    /// Tells whether a part has anything to say of the beginning of its call. One that is pending may lack its input
    /// still: what comes later with another one goes before it.
    fn is_news(
        &mut self,
        call_id: &str,
        call: &(&Cow<'_, str>, &str),
        is_over: bool,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) -> bool {
        let mut hasher = DefaultHasher::new();
        call.hash(&mut hasher);
        let print = hasher.finish();
        let known =
            self.open.iter().position(|(open, _)| *open == call_id).and_then(|at| self.open.remove(at));
        if !is_over {
            self.open.push_back((call_id.to_owned(), print));
            if self.open.len() > OPEN_CALLS_CAP {
                self.open.pop_front();
            }
        }
        match known {
            Some((_, earlier)) if earlier == print => return false,
            Some(_) => emit(CallEvent::Superseded { call_id: Cow::Borrowed(call_id) }),
            None => {}
        }
        true
    }
}

/// Tells whether an error is the user's no.
fn is_refusal(error: &str) -> bool {
    error.contains("The user rejected permission")
        || error.contains("The user has specified a rule which prevents")
}

/// Returns what the tool says that it did; nothing if that is not all told.
fn changes_of(metadata: &Metadata<'_>, input: Option<&Input<'_>>) -> Vec<FileChange> {
    let path = input.and_then(|input| input.path.as_deref());
    if let Some(files) = lenient::<Vec<Logged<'_>>>(metadata.files).filter(|files| !files.is_empty()) {
        return files.iter().map(|file| change_of(file, None)).collect::<Option<_>>().unwrap_or_default();
    }
    if let Some(results) = lenient::<Vec<Metadata<'_>>>(metadata.results) {
        return joined(&results, path);
    }
    let exists: Option<bool> = lenient(metadata.exists);
    let mut changes: Vec<FileChange> = one_change(metadata, path).into_iter().collect();
    let content = input.and_then(|input| input.content.as_deref());
    if let (true, Some(exists), Some(after)) = (changes.is_empty(), exists, content) {
        // A write without a diff.
        let file = lenient::<Text<'_>>(metadata.filepath);
        let before = if exists { Before::Unknown } else { Before::Absent };
        changes.extend(path.or(file.as_deref()).map(|path| {
            FileChange::new(path.to_owned(), ChangeContent::Texts { before, after: after.to_owned() })
        }));
    }
    if exists == Some(false) {
        changes.iter_mut().for_each(|change| change.operation = Some(Operation::Create));
    }
    changes
}

/// Returns the change of the one file of an edit.
fn one_change(metadata: &Metadata<'_>, path: Option<&str>) -> Option<FileChange> {
    let diff = text(metadata.diff).filter(|diff| diff.contains("@@ "));
    let Some(file) = lenient::<Logged<'_>>(metadata.filediff) else {
        return Some(FileChange::new(path?.to_owned(), ChangeContent::Unified(diff?)));
    };
    let content = content_of(&file, diff)?;
    Some(FileChange::new(path.or(file.file.as_deref())?.to_owned(), content))
}

/// Returns the change that edits of one file make together: their hunks count lines in different texts.
fn joined(results: &[Metadata<'_>], path: Option<&str>) -> Vec<FileChange> {
    if let [result] = results {
        return one_change(result, path).into_iter().collect();
    }
    let files: Option<Vec<Logged<'_>>> = results.iter().map(|result| lenient(result.filediff)).collect();
    let Some([first, .., last]) = files.as_deref() else { return Vec::new() };
    match (path.or(first.file.as_deref()), text(first.before), text(last.after)) {
        (Some(path), Some(before), Some(after)) => {
            let before = Before::Text(before);
            vec![FileChange::new(path.to_owned(), ChangeContent::Texts { before, after })]
        }
        _ => Vec::new(),
    }
}

fn change_of(file: &Logged<'_>, path: Option<&str>) -> Option<FileChange> {
    let path = path.or(file.file.as_deref())?.to_owned();
    let moved = text(file.move_path);
    let operation = match text(file.kind).as_deref() {
        _ if moved.is_some() => Some(Operation::Rename),
        Some("add" | "added") => Some(Operation::Create),
        Some("delete" | "deleted") => Some(Operation::Delete),
        Some("update" | "modified") => Some(Operation::Update),
        Some("move" | "moved" | "renamed") => Some(Operation::Rename),
        _ => None,
    };
    let content = match content_of(file, None) {
        Some(content) => content,
        // A file that was only moved has no diff.
        None if operation == Some(Operation::Rename) => ChangeContent::Hunks(Vec::new()),
        None => ChangeContent::Path,
    };
    let (path, from) = match moved {
        Some(moved) => (moved, Some(path)),
        None => (path, None),
    };
    Some(FileChange { from, operation, ..FileChange::new(path, content) })
}

/// Returns the hunks of a change if they are those of the texts, else the texts: the indentation that all lines of a
/// diff have in common is taken away before it is stored.
fn content_of(file: &Logged<'_>, diff: Option<String>) -> Option<ChangeContent> {
    let patch = text(file.patch).or_else(|| text(file.diff)).filter(|diff| diff.contains("@@ "));
    let diff = patch.or(diff);
    match (text(file.before), text(file.after), diff) {
        (Some(before), Some(after), Some(diff)) if fits(&diff, &before, &after) => {
            Some(ChangeContent::Unified(diff))
        }
        (Some(before), Some(after), _) => Some(ChangeContent::Texts { before: Before::Text(before), after }),
        (_, _, diff) => diff.map(ChangeContent::Unified),
    }
}

/// Tells whether the lines of a unified diff stand in the texts where its headers say.
fn fits(diff: &str, before: &str, after: &str) -> bool {
    let before: Vec<&str> = before.split('\n').collect();
    let after: Vec<&str> = after.split('\n').collect();
    let mut at: Option<(usize, usize)> = None;
    for line in diff.lines() {
        if let Some(header) = line.strip_prefix("@@ -") {
            let start =
                |text: &str| text.split([',', ' ']).next().and_then(|number| number.parse::<usize>().ok());
            let Some((old, new)) =
                header.split_once('+').and_then(|(old, new)| Some((start(old)?, start(new)?)))
            else {
                return false;
            };
            at = Some((old.saturating_sub(1), new.saturating_sub(1)));
            continue;
        }
        let (Some((old, new)), Some(sign)) = (&mut at, line.chars().next()) else { continue };
        let is_old = matches!(sign, ' ' | '-');
        let is_new = matches!(sign, ' ' | '+');
        if !is_old && !is_new {
            continue;
        }
        let stands = |lines: &[&str], index: usize| {
            lines
                .get(index)
                .is_some_and(|text| text.trim_end_matches('\r') == line[1..].trim_end_matches('\r'))
        };
        if is_old && !stands(&before, *old) || is_new && !stands(&after, *new) {
            return false;
        }
        *old += usize::from(is_old);
        *new += usize::from(is_new);
    }
    true
}

/// Tells whether a log of this format may hold such a line.
pub(super) fn is_row(line: &[u8]) -> bool {
    let row = super::as_text(line).and_then(|text| super::object::<Row<'_>>(text).ok());
    row.is_some_and(|row| {
        row.kind.is_some() && row.session.is_some() && (row.part.is_some() || row.timestamp.is_some())
    })
}

/// Tells whether a document of this format may have such a field.
pub(super) fn is_info(text: &[u8]) -> bool {
    match super::as_text(text).and_then(|text| super::object::<Info<'_>>(text).ok()) {
        Some(info) => info.id.is_some_and(|id| id.starts_with("ses_")),
        // It may be longer than what is looked at, or cut off.
        None => memmem::find(&text[..text.len().min(INFO_START_BYTES)], b"\"ses_").is_some(),
    }
}

/// Tells whether a document of this format may have such an item among its `messages`.
pub(super) fn is_message(text: &[u8]) -> bool {
    let message = super::as_text(text).and_then(|text| super::object::<Message<'_>>(text).ok());
    message.is_some_and(|message| {
        message.parts.is_some()
            && lenient::<Info<'_>>(message.info)
                .is_some_and(|info| info.id.is_some_and(|id| id.starts_with("msg_")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(state: &str) -> CallResult {
        let event = format!(
            r#"{{"type":"tool_use","sessionID":"s","part":{{"type":"tool","callID":"c","tool":"edit","state":{state}}}}}"#
        );
        let mut results = Vec::new();
        OpenCode::default()
            .read(&event, 1, &mut |event| {
                if let CallEvent::Result(result) = event {
                    results.push(*result);
                }
            })
            .unwrap();
        assert_eq!(results.len(), 1, "{state}");
        results.remove(0)
    }

    fn changes(input: &str, metadata: &str) -> Vec<FileChange> {
        let state = format!(r#"{{"status":"completed","input":{input},"metadata":{metadata}}}"#);
        result(&state).changes
    }

    const INPUT: &str = r#"{"filePath":"a","content":"new"}"#;

    #[test]
    fn records_of_a_change_are_taken_in_the_order_of_their_worth() {
        let check = |metadata: &str, operation, content| {
            let wanted = FileChange { operation, ..FileChange::new("a".to_owned(), content) };
            assert_eq!(changes(INPUT, metadata), [wanted], "{metadata}");
        };
        let texts = |before: &str, after: &str| ChangeContent::Texts {
            before: Before::Text(before.to_owned()),
            after: after.to_owned(),
        };
        let unified = |text: &str| ChangeContent::Unified(text.to_owned());
        let diff = "@@ -1,1 +1,1 @@\n- x\n+ y\n";
        let whole = r#"{"diff":"@@ -1,1 +1,1 @@\n- x\n+ y\n","filediff":{"before":" x\n","after":" y\n"}}"#;
        check(whole, None, unified(diff));
        // The indentation is lost in the diff.
        let trimmed = r#"{"diff":"@@ -1,1 +1,1 @@\n-x\n+y\n","filediff":{"before":" x\n","after":" y\n"}}"#;
        check(trimmed, None, texts(" x\n", " y\n"));
        check(r#"{"filediff":{"patch":"@@ -1,1 +1,1 @@\n- x\n+ y\n"}}"#, None, unified(diff));
        check(r#"{"diff":"@@ -1,1 +1,1 @@\n- x\n+ y\n"}"#, None, unified(diff));
        let unknown = ChangeContent::Texts { before: Before::Unknown, after: "new".to_owned() };
        check(r#"{"exists":true,"filepath":"b"}"#, None, unknown);
        let absent = ChangeContent::Texts { before: Before::Absent, after: "new".to_owned() };
        check(r#"{"exists":false,"diff":"none"}"#, Some(Operation::Create), absent);
        assert_eq!(changes(INPUT, r#"{"diff":7,"filediff":[],"files":{}}"#), []);
        assert_eq!(changes("{}", r#"{"exists":true}"#), []);
    }

    #[test]
    fn edits_of_one_file_are_one_change() {
        let edits = |first: &str, last: &str| {
            changes(INPUT, &format!(r#"{{"results":[{{"filediff":{first}}},{{"filediff":{last}}}]}}"#))
        };
        let joined = edits(r#"{"before":"1","after":"2"}"#, r#"{"before":"2","after":"3"}"#);
        let content = ChangeContent::Texts { before: Before::Text("1".to_owned()), after: "3".to_owned() };
        assert_eq!(joined, [FileChange::new("a".to_owned(), content)]);
        assert_eq!(edits(r#"{"patch":"@@ -1 +1 @@"}"#, r#"{"patch":"@@ -2 +2 @@"}"#), []);
    }

    #[test]
    fn a_file_that_was_only_moved_has_no_lines() {
        let found = changes("{}", r#"{"files":[{"filePath":"a","type":"move","movePath":"b"}]}"#);
        let change = FileChange::new("b".to_owned(), ChangeContent::Hunks(Vec::new()));
        let from = Some("a".to_owned());
        assert_eq!(found, [FileChange { from, operation: Some(Operation::Rename), ..change }]);
        assert_eq!(changes("{}", r#"{"files":[{"type":"move"}]}"#), []);
    }

    #[test]
    fn failures_have_their_reason() {
        let check = |state: &str, status, message: &str| {
            let result = result(state);
            assert_eq!((result.status, result.message.as_deref()), (status, Some(message)), "{state}");
            assert_eq!(result.changes, [], "{state}");
        };
        let whole = r#""metadata":{"diff":"@@ -1 +1 @@\n-a\n+b"}"#;
        check(&format!(r#"{{"status":"error","error":"no",{whole}}}"#), CardStatus::Failed, "no");
        let rule = "The user has specified a rule which prevents you from using this specific tool call.";
        check(&format!(r#"{{"status":"error","error":"{rule}"}}"#), CardStatus::Rejected, rule);
        check(r#"{"status":"completed","output":"done"}"#, CardStatus::Applied, "done");
    }

    #[test]
    fn lines_of_a_diff_are_looked_for_in_the_texts() {
        let check = |diff: &str, wanted| assert_eq!(fits(diff, "a\nb\nc\n", "a\nB\nc\n"), wanted, "{diff}");
        check("--- a\n+++ a\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", true);
        check("@@ -2 +2 @@\n-b\n+B\n\\ No newline at end of file", true);
        check("@@ -1 +1 @@\n-b\n+B\n", false);
        check("@@ -2 +2 @@\n-b\n+C\n", false);
        check("@@ -9 +9 @@\n-b\n", false);
        check("@@ odd\n", true);
        check("@@ -x +1 @@\n", false);
    }
}
