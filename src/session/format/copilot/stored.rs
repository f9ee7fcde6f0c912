//! The stored events of a session.
//!
//! The diff of a result has hunks like git's; its headers are not all git's, and the names in them have lost their first
//! slash, so that the path is the call's where it names one. A tool that only looks at a file shows it as a diff, too:
//! one without a changed line.

use std::collections::BTreeMap;

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::report::CardStatus;
use crate::report::Operation;
use crate::session::event::Begin;
use crate::session::event::CallEvent;
use crate::session::event::CallResult;
use crate::session::event::ChangeContent;
use crate::session::event::Emit;
use crate::session::event::FileChange;
use crate::session::event::Place;
use crate::session::event::Request;

use super::super::Text;
use super::super::as_text;
use super::super::lenient;
use super::super::object;
use super::super::text_of;
use super::super::verbatim;
use super::Event;
use super::ToolCall;
use super::calls_of;
use super::request_of;

/// How many calls, and how many questions, may be open at once; of more, the first are kept.
const OPEN_CAP: usize = 1024;

/// A line up to this length is read whatever it is.
const SHORT_LINE_BYTES: usize = 4096;

/// How the types of events begin.
const KINDS: [&str; 20] = [
    "abort",
    "assistant.",
    "auto_mode_switch.",
    "capabilities.",
    "command.",
    "commands.",
    "elicitation.",
    "exit_plan_mode.",
    "external_tool.",
    "hook.",
    "mcp.",
    "mcp_app.",
    "permission.",
    "result",
    "sampling.",
    "session.",
    "skill.",
    "subagent.",
    "system.",
    "user",
];

/// Reads events, one after the other.
#[derive(Debug, Default)]
pub struct Copilot {
    folder: Option<String>,
    open: BTreeMap<String, OpenCall>,
    /// The calls that were asked about, by the question.
    questions: BTreeMap<String, String>,
    /// The last call without an id.
    unnamed: Option<String>,
    unknown_events: usize,
}

/// A call whose result has not come.
#[derive(Debug, Default)]
struct OpenCall {
    path: Option<String>,
    /// The diff that the user was asked about.
    asked: Option<String>,
}

#[derive(Deserialize)]
struct Session<'a> {
    #[serde(borrow)]
    context: Option<Context<'a>>,
    #[serde(borrow)]
    cwd: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Context<'a> {
    #[serde(borrow)]
    cwd: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Complete<'a> {
    #[serde(borrow)]
    tool_call_id: Option<Text<'a>>,
    success: Option<bool>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    detailed_content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Failure<'a> {
    #[serde(borrow)]
    message: Option<Text<'a>>,
    #[serde(borrow)]
    code: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Permission<'a> {
    #[serde(borrow)]
    request_id: Option<Text<'a>>,
    #[serde(borrow)]
    tool_call_id: Option<Text<'a>>,
    #[serde(borrow)]
    permission_request: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PermissionRequest<'a> {
    #[serde(borrow)]
    tool_call_id: Option<Text<'a>>,
    #[serde(borrow)]
    diff: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Verdict<'a> {
    #[serde(borrow)]
    kind: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow, alias = "file_path", alias = "filePath")]
    path: Option<Text<'a>>,
}

impl Copilot {
    /// Returns how many events were of a type that is not known.
    pub fn unknown_events(&self) -> usize {
        self.unknown_events
    }

    /// Reads one event.
    ///
    /// # Errors
    /// The line is no event.
    pub fn read(&mut self, text: &str, line: usize, emit: &mut Emit<'_>) -> Result<(), serde_json::Error> {
        let event: Event<'_> = object(text)?;
        let place = Place { line, turn: None, time: event.timestamp.map(verbatim) };
        for call in calls_of(&event.kind, event.data) {
            self.begin(call, place.clone(), emit);
        }
        match event.kind.as_ref() {
            "tool.execution_complete" => {
                if let Some(complete) = lenient::<Complete<'_>>(event.data) {
                    self.end(complete, place, emit);
                }
            }
            "permission.requested" => self.asked(lenient(event.data)),
            "permission.completed" => self.answered(lenient(event.data), emit),
            "session.start" | "session.resume" | "session.context_changed" => {
                self.go_to(lenient(event.data), emit);
            }
            "session.snapshot_rewind" => emit(CallEvent::Note(format!(
                "line {line}: the session goes back to an earlier event; the edits that this takes out were made, and are drawn"
            ))),
            "tool.execution_start"
            | "tool.user_requested"
            | "tool.execution_partial_result"
            | "tool.execution_progress" => {}
            kind if KINDS.iter().any(|known| kind.starts_with(known)) => {}
            _ => self.unknown_events += 1,
        }
        Ok(())
    }

    fn go_to(&mut self, session: Option<Session<'_>>, emit: &mut Emit<'_>) {
        let Some(session) = session else { return };
        if let Some(folder) = session.context.and_then(|context| context.cwd).or(session.cwd) {
            self.folder = Some(folder.to_string());
            emit(CallEvent::Folder(folder.0));
        }
    }

    fn begin(&mut self, call: ToolCall<'_>, place: Place, emit: &mut Emit<'_>) {
        let Some(tool) = call.tool_name.or(call.name) else { return };
        let call_id = call.tool_call_id.map(|id| id.0.into_owned()).unwrap_or_else(|| {
            let id = format!("line {}", place.line);
            self.unnamed = Some(id.clone());
            id
        });
        let request = request_of(call.arguments);
        if self.open.len() < OPEN_CAP || self.open.contains_key(&call_id) {
            let path = match &request {
                Request::Arguments(arguments) => {
                    serde_json::from_str::<Named<'_>>(arguments).ok().and_then(|named| named.path)
                }
                Request::Patch(_) | Request::Changes(_) => None,
            };
            self.open.entry(call_id.clone()).or_default().path = path.map(|path| path.0.into_owned());
        }
        // A message asks for the calls of which the events that follow tell again.
        emit(CallEvent::Amended(Begin { call_id: call_id.into(), tool: tool.0, request, place }));
    }

    fn end(&mut self, complete: Complete<'_>, place: Place, emit: &mut Emit<'_>) {
        let id = complete.tool_call_id.map(|id| id.0.into_owned());
        let Some(call_id) = id.or_else(|| self.unnamed.take()) else { return };
        let call = self.open.remove(&call_id).unwrap_or_default();
        let error: Option<Failure<'_>> = lenient(complete.error);
        let code = error.as_ref().and_then(|error| error.code.as_deref()).unwrap_or_default();
        let is_refused = ["denied", "rejected", "declined"].iter().any(|word| code.contains(word));
        let status = match complete.success {
            Some(true) => CardStatus::Applied,
            _ if is_refused => CardStatus::Rejected,
            Some(false) => CardStatus::Failed,
            None if complete.error.is_some() => CardStatus::Failed,
            None => CardStatus::Unknown,
        };
        let output: Option<Output<'_>> = lenient(complete.result);
        let said = error.and_then(|error| error.message).map(|message| message.0.into_owned());
        let said = said
            .or_else(|| lenient(complete.error))
            .or_else(|| text_of(output.as_ref()?.content))
            .or_else(|| lenient(complete.result));
        let changes = if status == CardStatus::Applied {
            let shown = output.and_then(|output| lenient::<String>(output.detailed_content));
            let shown = shown.map(|diff| self.changes_of(&diff, &call)).unwrap_or_default();
            match (shown.is_empty(), &call.asked) {
                (true, Some(diff)) => self.changes_of(diff, &call),
                _ => shown,
            }
        } else {
            Vec::new()
        };
        let result = CallResult::new(call_id, place, status);
        emit(CallEvent::Result(Box::new(CallResult { message: said, changes, ..result })));
    }

    fn asked(&mut self, permission: Option<Permission<'_>>) {
        let Some(permission) = permission else { return };
        let Some(request) = lenient::<PermissionRequest<'_>>(permission.permission_request) else { return };
        let Some(call_id) = request.tool_call_id.or(permission.tool_call_id) else { return };
        if let Some(call) = self.open.get_mut(&*call_id) {
            call.asked = lenient(request.diff);
        }
        if let Some(question) = permission.request_id
            && self.questions.len() < OPEN_CAP
        {
            self.questions.insert(question.0.into_owned(), call_id.0.into_owned());
        }
    }

    fn answered(&mut self, permission: Option<Permission<'_>>, emit: &mut Emit<'_>) {
        let Some(permission) = permission else { return };
        let asked = permission.request_id.and_then(|id| self.questions.remove(&*id));
        let Some(call_id) = permission.tool_call_id.map(|id| id.0.into_owned()).or(asked) else { return };
        let kind = lenient::<Verdict<'_>>(permission.result).and_then(|verdict| verdict.kind);
        let refusal = kind.filter(|kind| kind.starts_with("denied") || kind.starts_with("rejected"));
        let refusal = refusal.map(|kind| kind.0.into_owned().into());
        emit(CallEvent::Decided { call_id: call_id.into(), refusal });
    }

    /// Returns the changes that a diff shows; nothing if it shows none.
    fn changes_of(&self, diff: &str, call: &OpenCall) -> Vec<FileChange> {
        let sections = sections(diff);
        let is_only = sections.len() == 1;
        let changes = sections.into_iter().filter(Section::is_change).filter_map(|section| {
            let named = section.path.map(|path| self.absolute(path));
            let path = call.path.clone().filter(|_| is_only).or(named)?;
            let from = section.from.map(|from| self.absolute(from));
            let operation = section.operation;
            Some(FileChange {
                from,
                operation,
                ..FileChange::new(path, ChangeContent::Unified(section.hunks))
            })
        });
        changes.collect()
    }

    /// Returns the path that was absolute before it became a name of git's.
    fn absolute(&self, name: &str) -> String {
        let is_inside = |folder: &String| {
            let folder = folder.trim_matches('/');
            !folder.is_empty() && name.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
        };
        if self.folder.as_ref().is_some_and(is_inside) { format!("/{name}") } else { name.to_owned() }
    }
}

/// What a diff says of one file.
#[derive(Default)]
struct Section<'d> {
    path: Option<&'d str>,
    from: Option<&'d str>,
    operation: Option<Operation>,
    /// The hunks, without headers.
    hunks: String,
}

impl Section<'_> {
    fn is_change(&self) -> bool {
        self.from.is_some() || self.hunks.lines().any(|line| line.starts_with(['+', '-']))
    }
}

/// Cuts a diff into what it says of each file.
fn sections(diff: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut is_hunk = false;
    for line in diff.split_inclusive('\n') {
        let plain = line.trim_end_matches(['\n', '\r']);
        if plain.starts_with("diff --git ") {
            sections.push(Section::default());
            is_hunk = false;
            continue;
        }
        if sections.is_empty() {
            if plain.is_empty() {
                continue;
            }
            sections.push(Section::default());
        }
        let Some(section) = sections.last_mut() else { continue };
        is_hunk |= plain.starts_with("@@ ");
        if is_hunk {
            section.hunks.push_str(line);
        } else {
            section.header(plain);
        }
    }
    sections
}

impl<'d> Section<'d> {
    fn header(&mut self, line: &'d str) {
        let name = |line: &'d str, side: &str| {
            let name = line.split('\t').next().unwrap_or(line);
            name.strip_prefix(side).unwrap_or(name)
        };
        if let Some(old) = line.strip_prefix("--- ") {
            match name(old, "a/") {
                "/dev/null" | "dev/null" => self.operation = Some(Operation::Create),
                old => self.path = self.path.or(Some(old)),
            }
        } else if let Some(new) = line.strip_prefix("+++ ") {
            match name(new, "b/") {
                "/dev/null" | "dev/null" => self.operation = Some(Operation::Delete),
                new => self.path = Some(new),
            }
        } else if let Some(from) = line.strip_prefix("rename from ") {
            self.from = Some(from);
            self.operation = Some(Operation::Rename);
        } else if let Some(to) = line.strip_prefix("rename to ") {
            self.path = Some(to);
        } else if line.starts_with("create file mode ") || line.starts_with("new file mode ") {
            self.operation = Some(Operation::Create);
        } else if line.starts_with("delete file mode ") || line.starts_with("deleted file mode ") {
            self.operation = Some(Operation::Delete);
        }
    }
}

/// Tells, without parsing, whether a line is worth parsing.
pub(in crate::session::format) fn proposes(line: &[u8]) -> bool {
    const NEEDLES: [&[u8]; 4] = [b"\"tool.", b"\"toolRequests\"", b"\"permission.", b"\"session."];
    line.len() <= SHORT_LINE_BYTES && !line.trim_ascii().is_empty()
        || NEEDLES.iter().any(|needle| memmem::find(line, needle).is_some())
}

/// Tells whether a log of this format may hold such a line.
pub(in crate::session::format) fn is_row(line: &[u8]) -> bool {
    let Some(event) = as_text(line).and_then(|text| object::<Event<'_>>(text).ok()) else { return false };
    const STARTS: [&str; 6] = ["session.", "assistant.", "user.", "tool.", "permission.", "subagent."];
    STARTS.iter().any(|start| event.kind.starts_with(start))
        && event.data.is_some_and(|data| data.get().starts_with('{'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(lines: &[&str]) -> Vec<CallResult> {
        let mut copilot = Copilot::default();
        let mut results = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            let mut say = |event: CallEvent<'_>| {
                if let CallEvent::Result(result) = event {
                    results.push(*result);
                }
            };
            copilot.read(line, index + 1, &mut say).unwrap();
        }
        results
    }

    const START: &str = r#"{"type":"tool.execution_start","data":{"toolCallId":"c","toolName":"edit","arguments":{"path":"/w/a"}}}"#;

    fn end(rest: &str) -> CallResult {
        let complete = format!(r#"{{"type":"tool.execution_complete","data":{{"toolCallId":"c",{rest}}}}}"#);
        results(&[START, &complete]).remove(0)
    }

    #[test]
    fn what_became_of_a_call_is_told_by_success_and_code() {
        let check = |rest: &str, status, message: Option<&str>| {
            let result = end(rest);
            assert_eq!((result.status, result.message.as_deref()), (status, message), "{rest}");
            assert_eq!(result.changes, [], "{rest}");
        };
        check(r#""success":true,"result":{"content":"done"}"#, CardStatus::Applied, Some("done"));
        check(r#""success":true,"result":"done""#, CardStatus::Applied, Some("done"));
        check(
            r#""success":false,"error":{"message":"no","code":"denied"}"#,
            CardStatus::Rejected,
            Some("no"),
        );
        check(r#""success":false,"error":{"message":"no match"}"#, CardStatus::Failed, Some("no match"));
        check(r#""success":false,"error":"no""#, CardStatus::Failed, Some("no"));
        check(r#""error":"no""#, CardStatus::Failed, Some("no"));
        check(r#""toolName":"edit""#, CardStatus::Unknown, None);
        // A diff that was not made is no change.
        let diff =
            r#""success":false,"result":{"detailedContent":"diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n"}"#;
        check(diff, CardStatus::Failed, None);
    }

    #[test]
    fn diffs_become_changes_of_their_files() {
        let shown = |diff: &str| {
            let diff = diff.replace('\n', "\\n");
            end(&format!(r#""success":true,"result":{{"detailedContent":"{diff}"}}"#)).changes
        };
        let hunk = "@@ -1,2 +1,2 @@\n a\n-b\n+c\n";
        let one =
            shown(&format!("\ndiff --git a/w/a b/w/a\nindex 0..0 100644\n--- a/w/a\n+++ b/w/a\n{hunk}"));
        assert_eq!(one, [FileChange::new("/w/a".to_owned(), ChangeContent::Unified(hunk.to_owned()))]);
        // Without any header.
        assert_eq!(shown(hunk), one);
        let made = shown(
            "\ndiff --git a/w/a b/w/a\ncreate file mode 100644\n--- a/dev/null\n+++ b/w/a\n@@ -1,0 +1 @@\n+x\n",
        );
        assert_eq!(made[0].operation, Some(Operation::Create));
        let two = shown(
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/y b/y\n--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
        );
        let told: Vec<_> = two.iter().map(|change| (change.path.as_str(), change.operation)).collect();
        assert_eq!(told, [("x", None), ("y", Some(Operation::Delete))]);
        let moved = shown(
            "diff --git a/x b/y\nrename from x\nrename to y\ndiff --git a/z b/z\n@@ -1 +1 @@\n-a\n+b\n",
        );
        assert_eq!((moved[0].path.as_str(), moved[0].from.as_deref()), ("y", Some("x")));
        // A file that is only looked at is shown as a diff, too.
        assert_eq!(shown("diff --git a/w/a b/w/a\n--- a/w/a\n+++ b/w/a\n@@ -1,2 +1,2 @@\n a\n b\n"), []);
        assert_eq!(shown("no diff"), []);
    }

    #[test]
    fn arguments_come_in_three_shapes() {
        let check = |json: &str, wanted: Request<'_>| {
            let raw: Box<RawValue> = serde_json::from_str(json).unwrap();
            assert_eq!(request_of(Some(&raw)), wanted, "{json}");
        };
        check(r#"{"path":"a"}"#, Request::Arguments("{\"path\":\"a\"}".into()));
        check(r#""{\"path\":\"a\"}""#, Request::Arguments("{\"path\":\"a\"}".into()));
        check(r#""*** Begin Patch""#, Request::Patch("*** Begin Patch".into()));
        assert_eq!(request_of(None), Request::Arguments("{}".into()));
    }

    #[test]
    fn calls_without_an_id_pair_with_what_follows() {
        let start = r#"{"type":"tool.execution_start","data":{"toolName":"edit","arguments":{"path":"a"}}}"#;
        let end = r#"{"type":"tool.execution_complete","data":{"success":true,"result":{"content":"ok"}}}"#;
        assert_eq!(results(&[start, end, end])[0].call_id, "line 1");
    }
}
