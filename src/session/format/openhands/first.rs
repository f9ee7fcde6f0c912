//! The events of OpenHands' first version.
//!
//! ```text
//! action      = {"id","timestamp","action":KIND,"args","tool_call_metadata"?}
//! observation = {"id","timestamp","cause":id of the action,"observation":KIND,"content","extras"}
//! args of edit  {"path","command":EDITOR'S,"file_text"?,"old_str"?,"new_str"?,"insert_line"?}, or, if a model rewrites
//!               the lines of a draft, {"path","content","start","end"}
//!      of write {"path","content","start","end"}
//! extras of edit {"path","prev_exist","old_content","new_content","impl_source"?,"diff"?,"formatted_output_and_error"?}
//! ```
//!
//! What an editor's result says changed over time. Once it had the whole texts, and the diff was its `content`. Later
//! its `diff` alone tells what was done: `old_content` and `new_content` are then only what the call asked for, also where
//! it failed, and `prev_exist` is always false. That diff has no context, has lost the blanks at the ends of all lines, and
//! that of a new file lacks its first blank line: there the call tells more.

use std::borrow::Cow;

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

use super::Open;
use super::OpenHands;
use super::Row;
use super::lenient;
use super::text;

/// The tool whose arguments an editor's event has.
const EDITOR: &str = "str_replace_editor";

/// The arguments of an edit or a write.
#[derive(Deserialize)]
struct Args<'a> {
    #[serde(borrow)]
    path: Option<&'a RawValue>,
    #[serde(borrow)]
    command: Option<&'a RawValue>,
    #[serde(borrow)]
    file_text: Option<&'a RawValue>,
    #[serde(borrow)]
    old_str: Option<&'a RawValue>,
    #[serde(borrow)]
    new_str: Option<&'a RawValue>,
    #[serde(borrow)]
    start: Option<&'a RawValue>,
    #[serde(borrow)]
    end: Option<&'a RawValue>,
    #[serde(borrow)]
    confirmation_state: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Metadata<'a> {
    #[serde(borrow)]
    function_name: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_id: Option<&'a RawValue>,
    #[serde(borrow)]
    model_response: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow)]
    choices: Vec<Choice<'a>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    message: Message<'a>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    tool_calls: Option<Vec<ToolCall<'a>>>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    function: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// What an editor's result says.
#[derive(Deserialize)]
struct Extras<'a> {
    #[serde(borrow)]
    path: Option<&'a RawValue>,
    #[serde(borrow)]
    prev_exist: Option<&'a RawValue>,
    #[serde(borrow)]
    old_content: Option<&'a RawValue>,
    #[serde(borrow)]
    new_content: Option<&'a RawValue>,
    #[serde(borrow)]
    impl_source: Option<&'a RawValue>,
    #[serde(borrow)]
    diff: Option<&'a RawValue>,
    #[serde(borrow)]
    formatted_output_and_error: Option<&'a RawValue>,
}

impl OpenHands {
    /// Reads an action.
    pub(super) fn action(
        &mut self,
        kind: &str,
        row: &Row<'_>,
        place: Place,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) {
        if !matches!(kind, "edit" | "write") {
            self.unknown_events += usize::from(!is_known_action(kind));
            return;
        }
        let Some(args) = lenient::<Args<'_>>(row.args) else { return };
        let metadata = lenient::<Metadata<'_>>(row.tool_call_metadata);
        let function = metadata.as_ref().and_then(|metadata| text(metadata.function_name));
        let stated = metadata.as_ref().and_then(|metadata| text(metadata.tool_call_id));
        let event_id = row.id.map(super::super::verbatim).unwrap_or_default();
        let call_id = self.call_id(&event_id, stated);
        let command = text(args.command).filter(|command| !command.is_empty());
        let path = text(args.path);
        let is_whole = |raw: Option<&RawValue>, whole: &[&str]| {
            raw.is_none_or(|raw| raw.get() == "null" || whole.contains(&raw.get()))
        };
        let arguments = row.args.map_or("{}", RawValue::get);
        let request = if command.is_some()
            || kind == "write" && is_whole(args.start, &["0", "1"]) && is_whole(args.end, &["-1"])
        {
            Request::Arguments(Cow::Borrowed(arguments))
        } else if let Some(arguments) =
            metadata.as_ref().and_then(function_arguments).filter(|_| function.as_deref() == Some(EDITOR))
        {
            Request::Arguments(Cow::Owned(arguments))
        } else {
            // Lines of the file that are to be rewritten, or a draft of it: neither is what will stand there.
            let path = path.clone().unwrap_or_default();
            Request::Changes(vec![FileChange::new(path, ChangeContent::Path)])
        };
        let open = open_of(call_id.clone(), path, &request);
        let tool = function.unwrap_or_else(|| if kind == "write" { "write" } else { EDITOR }.to_owned());
        let call_id: Cow<'_, str> = Cow::Owned(call_id);
        let refused = text(args.confirmation_state).filter(|state| state == "rejected");
        let begin = Begin { call_id: call_id.clone(), tool: tool.into(), request, place };
        self.begin(event_id, open, begin, emit);
        if refused.is_some() {
            emit(CallEvent::Decided { call_id, refusal: refused.map(Cow::Owned) });
        }
    }

    /// Reads an observation.
    pub(super) fn observation(
        &mut self,
        kind: &str,
        row: &Row<'_>,
        place: Place,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) {
        let status = match kind {
            "edit" | "write" => CardStatus::Applied,
            "error" => CardStatus::Failed,
            "user_rejected" => CardStatus::Rejected,
            _ => {
                self.unknown_events += usize::from(!is_known_observation(kind));
                return;
            }
        };
        let cause = row.cause.map(super::super::verbatim);
        let mut open = cause.as_ref().and_then(|cause| self.open.remove(cause));
        let call_id = match (&open, cause.or_else(|| row.id.map(super::super::verbatim))) {
            (Some(open), _) => open.call_id.clone(),
            (None, Some(id)) => id,
            (None, None) => return,
        };
        let message = text(row.content);
        let result = CallResult { message, ..CallResult::new(call_id, place, status) };
        let result = match lenient::<Extras<'_>>(row.extras) {
            Some(extras) if kind == "edit" => {
                extras.told(result, open.as_mut().unwrap_or(&mut Open::default()))
            }
            _ => result,
        };
        self.end(open, EDITOR, result, emit);
    }
}

/// Returns what is kept of a call.
fn open_of(call_id: String, path: Option<String>, request: &Request<'_>) -> Open {
    let open = Open { call_id, path, ..Open::default() };
    let Request::Arguments(arguments) = request else { return open };
    let Ok(args) = serde_json::from_str::<Args<'_>>(arguments) else { return open };
    let command = text(args.command);
    let new_file = text(args.file_text).filter(|_| command.as_deref() == Some("create"));
    let mut texts = [args.old_str, args.new_str].into_iter().filter_map(text);
    let has_blank_ends = texts.any(|text| has_blank_ends(&text));
    Open { command, new_file, has_blank_ends, ..open }
}

impl Extras<'_> {
    /// Returns the result of an edit.
    fn told(&self, mut result: CallResult, open: &mut Open) -> CallResult {
        let is_error = |text: &String| text.trim_start().starts_with("ERROR:");
        let output = text(self.formatted_output_and_error);
        if let Some(error) = output.iter().chain(&result.message).find(|text| is_error(text)) {
            return CallResult { status: CardStatus::Failed, message: Some(error.clone()), ..result };
        }
        let is_create = open.command.as_deref() == Some("create");
        let Some(path) = open.path.clone().or_else(|| text(self.path)) else { return result };
        let content = match text(self.diff) {
            Some(diff) if text(self.impl_source).as_deref() == Some("oh_aci") => match open.new_file.take() {
                Some(after) => Some(ChangeContent::Texts { before: Before::Absent, after }),
                None if open.has_blank_ends || !diff.contains("@@ ") => None,
                None => Some(ChangeContent::Unified(diff)),
            },
            _ => self.whole_texts(is_create, result.message.as_deref()),
        };
        let operation = is_create.then_some(Operation::Create);
        let change = |content| FileChange { operation, ..FileChange::new(path, content) };
        result.changes.extend(content.map(change));
        result
    }

    fn whole_texts(&self, is_create: bool, diff: Option<&str>) -> Option<ChangeContent> {
        let Some(after) = text(self.new_content) else {
            let diff = diff.filter(|diff| diff.starts_with("--- ") && diff.contains("@@ "));
            return diff.map(|diff| ChangeContent::Unified(diff.to_owned()));
        };
        let is_new = is_create || lenient(self.prev_exist) != Some(true);
        let before = match text(self.old_content) {
            Some(before) if !before.is_empty() => Before::Text(before),
            Some(_) | None if is_new => Before::Absent,
            Some(before) => Before::Text(before),
            None => Before::Unknown,
        };
        Some(ChangeContent::Texts { before, after })
    }
}

/// Returns the arguments of the call as the model wrote them.
fn function_arguments(metadata: &Metadata<'_>) -> Option<String> {
    let id = text(metadata.tool_call_id)?;
    let response: Response<'_> = lenient(metadata.model_response)?;
    let mut calls =
        response.choices.into_iter().flat_map(|choice| choice.message.tool_calls.unwrap_or_default());
    text(calls.find(|call| text(call.id).as_ref() == Some(&id))?.function?.arguments)
}

fn has_blank_ends(text: &str) -> bool {
    let mut lines = text.split('\n');
    // The last one does not end: its blanks may stand inside of a line of the file.
    lines.next_back();
    lines.any(|line| line.ends_with(char::is_whitespace))
}

fn is_known_action(kind: &str) -> bool {
    matches!(
        kind,
        "add_task"
            | "browse"
            | "browse_interactive"
            | "call_tool_mcp"
            | "change_agent_state"
            | "condensation"
            | "condensation_request"
            | "delegate"
            | "finish"
            | "init"
            | "initialize"
            | "loop_recovery"
            | "mcp"
            | "message"
            | "modify_task"
            | "null"
            | "pause"
            | "push"
            | "read"
            | "recall"
            | "reject"
            | "resume"
            | "run"
            | "run_ipython"
            | "send_pr"
            | "start"
            | "stop"
            | "summarize"
            | "system"
            | "task_tracking"
            | "think"
    )
}

fn is_known_observation(kind: &str) -> bool {
    matches!(
        kind,
        "agent_state_changed"
            | "browse"
            | "chat"
            | "condense"
            | "delegate"
            | "download"
            | "loop_detection"
            | "mcp"
            | "message"
            | "null"
            | "read"
            | "recall"
            | "run"
            | "run_ipython"
            | "success"
            | "task_tracking"
            | "think"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of an edit of `a` with these arguments and this result.
    fn result(args: &str, content: &str, extras: &str) -> CallResult {
        let mut openhands = OpenHands::default();
        let mut results = Vec::new();
        let action = format!(r#"{{"id":1,"source":"agent","action":"edit","args":{{"path":"a",{args}}}}}"#);
        let observation = format!(
            r#"{{"id":2,"cause":1,"observation":"edit","content":{},"extras":{{"path":"a",{extras}}}}}"#,
            serde_json::to_string(content).unwrap()
        );
        for event in [&action, &observation] {
            openhands
                .read(event, 1, &mut |event| {
                    if let CallEvent::Result(result) = event {
                        results.push(*result);
                    }
                })
                .unwrap();
        }
        assert_eq!(results.len(), 1, "{extras}");
        results.remove(0)
    }

    fn check(args: &str, extras: &str, wanted: Option<ChangeContent>) {
        let result = result(args, "done", extras);
        let found = result.changes.into_iter().map(|change| change.content).next();
        assert_eq!((result.status, found), (CardStatus::Applied, wanted), "{args} {extras}");
    }

    fn texts(before: Before, after: &str) -> Option<ChangeContent> {
        Some(ChangeContent::Texts { before, after: after.to_owned() })
    }

    const REPLACE: &str = r#""command":"str_replace","old_str":"x","new_str":"y""#;
    const DIFF: &str = "@@ -7 +7 @@\n-x\n+y";

    #[test]
    fn a_later_editor_is_told_by_its_diff_and_a_new_file_by_the_call() {
        let extras = r#""impl_source":"oh_aci","prev_exist":false,"old_content":"x","new_content":"y","diff":"@@ -7 +7 @@\n-x\n+y""#;
        check(REPLACE, extras, Some(ChangeContent::Unified(DIFF.to_owned())));
        check(r#""command":"create","file_text":"n\n""#, extras, texts(Before::Absent, "n\n"));
        // The diff has lost the blanks at the ends of lines.
        check(r#""command":"str_replace","old_str":"x","new_str":"y \nz""#, extras, None);
        check(REPLACE, r#""impl_source":"oh_aci","diff":"","old_content":"x","new_content":"y""#, None);
    }

    #[test]
    fn an_early_editor_and_a_rewriting_model_have_whole_texts() {
        let old = Before::Text("x\n".to_owned());
        let extras = r#""prev_exist":true,"old_content":"x\n","new_content":"y\n""#;
        check(REPLACE, extras, texts(old.clone(), "y\n"));
        let rewritten = format!(r#"{extras},"impl_source":"llm_based_edit","diff":"@@ -1 +1 @@\n-x\n+y""#);
        check(r#""content":"y","start":1,"end":1"#, &rewritten, texts(old.clone(), "y\n"));
        // That a file was there is not always told.
        check(REPLACE, r#""prev_exist":false,"old_content":"x\n","new_content":"y\n""#, texts(old, "y\n"));
        check(
            REPLACE,
            r#""prev_exist":true,"old_content":null,"new_content":"y""#,
            texts(Before::Unknown, "y"),
        );
        check(
            REPLACE,
            r#""prev_exist":true,"old_content":"","new_content":"y""#,
            texts(Before::Text(String::new()), "y"),
        );
        check(
            "\"content\":\"y\"",
            r#""prev_exist":false,"old_content":"","new_content":"y""#,
            texts(Before::Absent, "y"),
        );
        check(REPLACE, r#""new_content":null"#, None);
    }

    #[test]
    fn a_failure_says_so_in_its_text_whatever_else_it_has() {
        let extras =
            r#""impl_source":"oh_aci","old_content":"x","new_content":"y","diff":"@@ -7 +7 @@\n-x\n+y""#;
        let failed = result(REPLACE, "ERROR:\nno", extras);
        assert_eq!((failed.status, failed.changes.len()), (CardStatus::Failed, 0));
        let failed =
            result(REPLACE, DIFF, r#""new_content":"y","formatted_output_and_error":"ERROR:\nnone""#);
        assert_eq!((failed.status, failed.message.as_deref()), (CardStatus::Failed, Some("ERROR:\nnone")));
    }
}
