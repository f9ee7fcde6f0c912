//! pi, also as its derivatives write it: sessions as JSON Lines, and the events that `pi --mode json` prints.
//!
//! ```text
//! log     = session entry*
//! session = {"type":"session","version"?,"timestamp":"ISO","cwd","parentSession"?,...}
//! entry   = {"type":"message","id"?,"parentId"?,"timestamp","message"} | others
//! message = {"role":"assistant","content":[{"type":"toolCall","id","name","arguments":{...}}],"stopReason","errorMessage"?}
//!         | {"role":"toolResult","toolCallId","content","details":{"diff"?},"isError"}
//! event   = {"type":"tool_execution_start","toolCallId","toolName","args"}
//!         | {"type":"tool_execution_end","toolCallId","result":{"content","details"},"isError"}
//! diff    = ((" " | "+" | "-") blanks number " " text | blanks "...")*
//! ```
//!
//! Entries are a tree since version 2. All edits are drawn in the order of the file: what a branch did before it was
//! left was done. A fork begins with copies of its parent's entries, which are older than its own header.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::report::CardStatus;
use crate::report::Operation;
use crate::session::event::Begin;
use crate::session::event::CallEvent;
use crate::session::event::CallResult;
use crate::session::event::ChangeContent;
use crate::session::event::FileChange;
use crate::session::event::LoggedHunk;
use crate::session::event::Place;
use crate::session::event::Request;

use super::Text;
use super::lenient;

/// How many calls may wait for the result whose diff lacks their path; results of more are drawn as requested.
const OPEN_PATHS_CAP: usize = 1024;

/// Reads entries, one after the other.
#[derive(Debug, Default)]
pub struct Pi {
    /// The time of the header of a fork: what is older is the parent's.
    forked_at: Option<String>,
    last_id: Option<String>,
    has_left_branch: bool,
    /// The files of the calls that are open, by the call's id.
    paths: BTreeMap<String, String>,
    unknown_events: usize,
    inherited_calls: usize,
}

/// One line.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    parent_id: Option<Text<'a>>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    cwd: Option<Text<'a>>,
    #[serde(borrow)]
    parent_session: Option<&'a RawValue>,
    #[serde(borrow)]
    branched_from: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_id: Option<Text<'a>>,
    #[serde(borrow)]
    tool_name: Option<Text<'a>>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    is_error: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message<'a> {
    #[serde(borrow)]
    role: Text<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    stop_reason: Option<Text<'a>>,
    #[serde(borrow)]
    error_message: Option<Text<'a>>,
    #[serde(borrow)]
    tool_call_id: Option<Text<'a>>,
    #[serde(borrow)]
    details: Option<&'a RawValue>,
    is_error: Option<bool>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Output<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    details: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Details {
    diff: Option<String>,
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow, alias = "file_path")]
    path: Option<Text<'a>>,
}

impl Pi {
    /// Returns how many entries were of a type that is not known.
    pub fn unknown_events(&self) -> usize {
        self.unknown_events
    }

    /// Returns how many calls were the parent session's.
    pub fn inherited_calls(&self) -> usize {
        self.inherited_calls
    }

    /// Reads one entry.
    ///
    /// # Errors
    /// The line is no entry.
    pub fn read(
        &mut self,
        text: &str,
        line: usize,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) -> Result<(), serde_json::Error> {
        let row: Row<'_> = super::object(text)?;
        if row.kind.as_ref() == "session" {
            self.header(row, emit);
            return Ok(());
        }
        self.follow(&row, line, emit);
        let time = row.timestamp.map(super::verbatim);
        let is_inherited =
            self.forked_at.as_ref().is_some_and(|at| time.as_ref().is_some_and(|time| time < at));
        let place = Place { line, turn: None, time };
        let message = row.message.map(RawValue::get);
        match row.kind.as_ref() {
            "message" => {
                let Some(message) = message else { return Err(serde::de::Error::missing_field("message")) };
                self.message(super::object(message)?, place, is_inherited, emit);
            }
            // The tools of a message that was cut off are not run, so no event of theirs tells of them.
            "message_end" => {
                if let Some(message) = message.and_then(|message| super::object::<Message<'_>>(message).ok())
                    && message.never_ran().is_some()
                {
                    self.message(message, place, false, emit);
                }
            }
            "tool_execution_start" => {
                if let (Some(id), Some(name), Some(args)) = (row.tool_call_id, row.tool_name, row.args) {
                    self.begin(begin_of(id, name, args, place), emit);
                }
            }
            "tool_execution_end" => {
                let output: Option<Output<'_>> = lenient(row.result);
                let (content, details) =
                    output.map_or((None, None), |output| (output.content, output.details));
                if let Some(call_id) = row.tool_call_id {
                    self.end(End { call_id, content, details, is_error: row.is_error, place }, emit);
                }
            }
            kind => self.unknown_events += usize::from(!is_known(kind)),
        }
        Ok(())
    }

    fn header(&mut self, row: Row<'_>, emit: &mut dyn FnMut(CallEvent<'_>)) {
        let is_fork = [row.parent_session, row.branched_from]
            .into_iter()
            .any(|parent| lenient::<Text<'_>>(parent).is_some());
        self.forked_at = row.timestamp.filter(|_| is_fork).map(super::verbatim);
        if let Some(folder) = row.cwd {
            emit(CallEvent::Folder(folder.0));
        }
    }

    /// Notes that the session goes on behind another entry than the last one.
    fn follow(&mut self, row: &Row<'_>, line: usize, emit: &mut dyn FnMut(CallEvent<'_>)) {
        let Some(id) = row.id.as_deref() else { return };
        let goes_on = match (row.parent_id.as_deref(), self.last_id.as_deref()) {
            (Some(parent), Some(last)) => parent == last,
            _ => true,
        };
        if !goes_on && !std::mem::replace(&mut self.has_left_branch, true) {
            emit(CallEvent::Note(format!(
                "line {line}: the session goes back to an earlier entry; edits of the branch that it leaves are drawn too"
            )));
        }
        self.last_id = Some(id.to_owned());
    }

    fn message(
        &mut self,
        message: Message<'_>,
        place: Place,
        is_inherited: bool,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) {
        match message.role.as_ref() {
            "assistant" => {
                let never_ran = message.never_ran();
                let blocks: Vec<&RawValue> = lenient(message.content).unwrap_or_default();
                for block in blocks {
                    let Some(Block { kind, id: Some(id), name: Some(name), arguments: Some(arguments) }) =
                        lenient(Some(block))
                    else {
                        continue;
                    };
                    if kind.as_ref() != "toolCall" {
                        continue;
                    }
                    if is_inherited {
                        self.inherited_calls += 1;
                        continue;
                    }
                    let call_id = id.to_string();
                    self.begin(begin_of(id, name, arguments, place.clone()), emit);
                    if let Some(reason) = &never_ran {
                        self.paths.remove(&call_id);
                        let failed = CallResult::new(call_id, place.clone(), CardStatus::Failed);
                        let message = Some(reason.clone());
                        emit(CallEvent::Result(Box::new(CallResult { message, ..failed })));
                    }
                }
            }
            "toolResult" if !is_inherited => {
                let Message { content, details, is_error, .. } = message;
                if let Some(call_id) = message.tool_call_id {
                    self.end(End { call_id, content, details, is_error, place }, emit);
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, begin: Begin<'_>, emit: &mut dyn FnMut(CallEvent<'_>)) {
        if let Request::Arguments(arguments) = &begin.request
            && let Ok(Named { path: Some(path) }) = serde_json::from_str(arguments)
            && self.paths.len() < OPEN_PATHS_CAP
        {
            self.paths.insert(begin.call_id.to_string(), path.to_string());
        }
        emit(CallEvent::Begin(begin));
    }

    fn end(&mut self, end: End<'_>, emit: &mut dyn FnMut(CallEvent<'_>)) {
        let path = self.paths.remove(end.call_id.as_ref());
        let diff = lenient::<Details>(end.details).and_then(|details| details.diff);
        let status = match end.is_error {
            Some(true) => CardStatus::Failed,
            Some(false) => CardStatus::Applied,
            // Nothing says that it was done, unless the diff does.
            None if diff.is_some() => CardStatus::Applied,
            None => CardStatus::Unknown,
        };
        let change = path.zip(diff).and_then(|(path, diff)| {
            let content = ChangeContent::Hunks(numbered_hunks(&diff)?);
            Some(FileChange { operation: Some(Operation::Update), ..FileChange::new(path, content) })
        });
        emit(CallEvent::Result(Box::new(CallResult {
            message: super::text_of(end.content),
            changes: change.into_iter().collect(),
            ..CallResult::new(end.call_id.0.into_owned(), end.place, status)
        })));
    }
}

/// The end of a call.
struct End<'a> {
    call_id: Text<'a>,
    content: Option<&'a RawValue>,
    details: Option<&'a RawValue>,
    is_error: Option<bool>,
    place: Place,
}

fn begin_of<'a>(id: Text<'a>, name: Text<'a>, arguments: &'a RawValue, place: Place) -> Begin<'a> {
    Begin { call_id: id.0, tool: name.0, request: Request::Arguments(Cow::Borrowed(arguments.get())), place }
}

impl Message<'_> {
    /// Returns why the calls of a message were not run.
    fn never_ran(&self) -> Option<String> {
        let reason = self.stop_reason.as_deref()?;
        if !matches!(reason, "error" | "aborted") {
            return None;
        }
        let why = self.error_message.as_deref().map(|message| format!(": {message}")).unwrap_or_default();
        Some(format!("never ran: the model's message ended with '{reason}'{why}"))
    }
}

/// Tells whether a log of this format may hold such a line.
pub(super) fn is_row(line: &[u8]) -> bool {
    let Some(row) = super::as_text(line).and_then(|text| super::object::<Row<'_>>(text).ok()) else {
        return false;
    };
    match row.kind.as_ref() {
        "session" => lenient::<Text<'_>>(row.timestamp).is_some(),
        "message" | "message_end" => lenient::<Message<'_>>(row.message).is_some_and(|message| {
            matches!(message.role.as_ref(), "user" | "assistant" | "toolResult" | "bashExecution")
        }),
        "tool_execution_start" | "tool_execution_end" => row.tool_call_id.is_some(),
        _ => false,
    }
}

fn is_known(kind: &str) -> bool {
    matches!(
        kind,
        "agent_end"
            | "agent_start"
            | "auto_compaction_end"
            | "auto_compaction_start"
            | "auto_retry_end"
            | "auto_retry_start"
            | "branch_summary"
            | "compaction"
            | "custom"
            | "custom_message"
            | "label"
            | "message_start"
            | "message_update"
            | "model_change"
            | "session_info"
            | "thinking_level_change"
            | "tool_execution_update"
            | "turn_end"
            | "turn_start"
    )
}

/// Returns the hunks of a diff whose lines have a sign and a number each; `None` if it is not such.
///
/// Numbers of context lines are not used: behind a gap they are often wrong.
fn numbered_hunks(diff: &str) -> Option<Vec<LoggedHunk>> {
    let mut hunks = Vec::new();
    let mut hunk = Numbered::default();
    // How many lines the hunks so far add beyond those that they remove.
    let mut shift = 0;
    for line in diff.split('\n') {
        if line.trim() == "..." {
            hunks.extend(std::mem::take(&mut hunk).ended(&mut shift));
            continue;
        }
        let sign = line.chars().next().filter(|sign| matches!(sign, ' ' | '+' | '-'))?;
        let rest = line[1..].trim_start_matches(' ');
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: i64 = rest[..digits].parse().ok()?;
        let text = &rest[digits..];
        hunk.push(sign, number, text.strip_prefix(' ').unwrap_or(text));
    }
    hunks.extend(hunk.ended(&mut shift));
    (!hunks.is_empty()).then_some(hunks)
}

/// A hunk of which the changed lines tell where it stands.
#[derive(Default)]
struct Numbered {
    lines: Vec<String>,
    /// Where each side begins, as its first changed line tells.
    starts: [Option<i64>; 2],
    counts: [i64; 2],
    is_inconsistent: bool,
}

impl Numbered {
    fn push(&mut self, sign: char, number: i64, text: &str) {
        self.lines.push(format!("{sign}{text}"));
        let side = match sign {
            '-' => 0,
            '+' => 1,
            _ => {
                self.counts = self.counts.map(|count| count + 1);
                return;
            }
        };
        let start = number - self.counts[side];
        self.is_inconsistent |= *self.starts[side].get_or_insert(start) != start;
        self.counts[side] += 1;
    }

    /// Returns the hunk, unless it changes nothing; `shift` is what the hunks before it add.
    fn ended(self, shift: &mut i64) -> Option<LoggedHunk> {
        let (old_start, new_start) = match self.starts {
            [Some(old), Some(new)] => (old, new),
            [Some(old), None] => (old, old + *shift),
            [None, Some(new)] => (new - *shift, new),
            [None, None] => return None,
        };
        *shift += self.counts[1] - self.counts[0];
        let stated = |start: i64| usize::try_from(start).ok().filter(|_| !self.is_inconsistent);
        Some(LoggedHunk { old_start: stated(old_start), new_start: stated(new_start), lines: self.lines })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(old_start: Option<usize>, new_start: Option<usize>, lines: &[&str]) -> LoggedHunk {
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        LoggedHunk { old_start, new_start, lines }
    }

    fn events(pi: &mut Pi, text: &str) -> Vec<CallEvent<'static>> {
        let mut events = Vec::new();
        pi.read(text, 7, &mut |event| {
            events.push(match event {
                CallEvent::Begin(begin) => CallEvent::Begin(Begin {
                    call_id: begin.call_id.into_owned().into(),
                    tool: begin.tool.into_owned().into(),
                    request: begin.request.into_owned(),
                    place: begin.place,
                }),
                CallEvent::Result(result) => CallEvent::Result(result),
                CallEvent::Folder(folder) => CallEvent::Folder(folder.into_owned().into()),
                CallEvent::Note(note) => CallEvent::Note(note),
                other => panic!("{other:?}"),
            });
        })
        .unwrap();
        events
    }

    #[test]
    fn numbers_of_changed_lines_tell_where_hunks_stand() {
        let check =
            |diff: &str, wanted: Option<Vec<LoggedHunk>>| assert_eq!(numbered_hunks(diff), wanted, "{diff}");
        check(
            "   ...\n 1 a\n-8 b\n+8 c\n+9\n 9   d\n   ...",
            Some(vec![hunk(Some(7), Some(7), &[" a", "-b", "+c", "+", "   d"])]),
        );
        // Only one side tells: the other is as far away as what was added before.
        check(
            "+ 1 a\n+ 2 b\n  1 c\n    ...\n- 9 d\n    ...\n  1 e\n+20 f",
            Some(vec![
                hunk(Some(1), Some(1), &["+a", "+b", " c"]),
                hunk(Some(9), Some(11), &["-d"]),
                hunk(Some(18), Some(19), &[" e", "+f"]),
            ]),
        );
        // Lines that do not follow one another have no place.
        check("-1 a\n-3 b", Some(vec![hunk(None, None, &["-a", "-b"])]));
        // A text of three dots is no gap.
        check("+1 ...\n", None);
        check("+1 ...", Some(vec![hunk(Some(1), Some(1), &["+..."])]));
        for diff in ["", " 1 a", "@@ -1 +1 @@\n-a\n+b", "-a", "+99999999999999999999 a"] {
            check(diff, None);
        }
    }

    #[test]
    fn calls_of_a_message_that_was_cut_off_never_ran() {
        let line = r#"{"type":"message","timestamp":"T","message":{"role":"assistant","stopReason":"error",
            "content":[{"type":"toolCall","id":"c","name":"edit","arguments":{"path":"a"}}]}}"#;
        let place = Place { line: 7, turn: None, time: Some("T".to_owned()) };
        let begin = Begin {
            call_id: "c".into(),
            tool: "edit".into(),
            request: Request::Arguments(r#"{"path":"a"}"#.into()),
            place: place.clone(),
        };
        let message = Some("never ran: the model's message ended with 'error'".to_owned());
        let failed = CallResult { message, ..CallResult::new("c".to_owned(), place, CardStatus::Failed) };
        let mut pi = Pi::default();
        assert_eq!(events(&mut pi, line), [CallEvent::Begin(begin), CallEvent::Result(Box::new(failed))]);
        assert!(pi.paths.is_empty());
    }

    #[test]
    fn results_say_what_became_of_the_call() {
        let mut pi = Pi::default();
        let mut check = |rest: &str, status, message: Option<&str>, changes: &[FileChange]| {
            pi.paths.insert("c".to_owned(), "a".to_owned());
            let line =
                format!(r#"{{"type":"message","message":{{"role":"toolResult","toolCallId":"c",{rest}}}}}"#);
            let place = Place { line: 7, ..Place::default() };
            let wanted = CallResult {
                message: message.map(str::to_owned),
                changes: changes.to_vec(),
                ..CallResult::new("c".to_owned(), place, status)
            };
            assert_eq!(events(&mut pi, &line), [CallEvent::Result(Box::new(wanted))], "{rest}");
        };
        let content = ChangeContent::Hunks(vec![hunk(Some(1), Some(1), &["+x"])]);
        let change =
            FileChange { operation: Some(Operation::Update), ..FileChange::new("a".to_owned(), content) };
        check(r#""isError":true,"content":"no","details":{}"#, CardStatus::Failed, Some("no"), &[]);
        check(r#""isError":false"#, CardStatus::Applied, None, &[]);
        check(r#""isError":false,"details":{"diff":"odd"}"#, CardStatus::Applied, None, &[]);
        check(r#""details":{"diff":"+1 x"}"#, CardStatus::Applied, None, &[change]);
        check(r#""content":[{"type":"text","text":"?"}]"#, CardStatus::Unknown, Some("?"), &[]);
    }

    #[test]
    fn what_is_older_than_a_fork_is_its_parents() {
        let mut pi = Pi::default();
        let header = |rest: &str| format!(r#"{{"type":"session","timestamp":"2026-05"{rest}}}"#);
        let call = |time: &str| {
            format!(
                r#"{{"type":"message","timestamp":"{time}","message":{{"role":"assistant","content":[
                {{"type":"toolCall","id":"c","name":"edit","arguments":{{}}}}]}}}}"#
            )
        };
        events(&mut pi, &header(""));
        assert_eq!(events(&mut pi, &call("2026-04")).len(), 1);
        for fork in [r#","parentSession":"/p""#, r#","branchedFrom":"/p""#] {
            events(&mut pi, &header(fork));
            assert_eq!(events(&mut pi, &call("2026-04")), []);
            assert_eq!(events(&mut pi, &call("2026-05")).len(), 1);
        }
        assert_eq!(pi.inherited_calls(), 2);
    }

    #[test]
    fn entries_that_are_none_are_refused_or_counted() {
        let mut pi = Pi::default();
        for line in ["[]", "{}", r#"{"type":"message"}"#, r#"{"type":"message","message":[]}"#] {
            assert!(pi.read(line, 1, &mut |_| panic!("an event of {line}")).is_err(), "{line}");
        }
        for line in [r#"{"type":"compaction"}"#, r#"{"type":"new"}"#, r#"{"type":"tool_execution_end"}"#] {
            pi.read(line, 1, &mut |_| panic!("an event of {line}")).unwrap();
        }
        assert_eq!(pi.unknown_events(), 1);
    }
}
