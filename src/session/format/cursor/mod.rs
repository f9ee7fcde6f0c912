//! Cursor: the transcripts of its agent, and what `cursor-agent --output-format stream-json` prints.
//!
//! ```text
//! transcript = line*
//! line   = {"role":"user|assistant","message":{"content":[block*]}} | {"type":"turn_ended","status"}
//! block  = {"type":"tool_use","id"?,"name","input"} | {"type":"tool_result","tool_use_id","content","is_error"?} | others
//! stream = event*
//! event  = {"type":"tool_call","subtype":"started|completed","call_id","tool_call":{KIND:{"args","result"?},...},"timestamp_ms"}
//!        | {"type":"system","subtype":"init","cwd",...} | others
//! KIND   = "editToolCall" | "writeToolCall" | "deleteToolCall" | "shellToolCall" | ... | "function"
//! args of editToolCall  {"path","streamContent"? | "strReplace":{"oldText","newText"} | "multiStrReplace":{"edits":[...]} |
//!                        "applyPatch":{"patchContent"}}
//! result = {"success":{...}} | {"rejected":{"reason"?}} | {"error":{"error"}} | {"writePermissionDenied":{"error"}} | others
//! success of editToolCall   {"path","diffString","afterFullFileContent","beforeFullFileContent"?,...}
//!         of deleteToolCall {"path","prevContent"?}
//! ```
//!
//! A transcript has neither ids nor results: what became of its calls is not known. Those of early versions are text.

pub(super) mod live;
mod located;
mod result;
pub mod stored;
mod text;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::report::Operation;
use crate::session::event::Before;
use crate::session::event::ChangeContent;
use crate::session::event::FileChange;
use crate::session::event::Request;

use super::Text;
use super::acp::live::shape;
use super::json_into;
use super::lenient;

/// What the name of a call's kind ends with.
const KIND_END: &str = "ToolCall";

/// The tool of `editToolCall`.
const EDIT: &str = "edit";

/// One line of a transcript, or one event.
#[derive(Deserialize)]
struct Row<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    subtype: Option<Text<'a>>,
    #[serde(borrow)]
    role: Option<Text<'a>>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    call_id: Option<Text<'a>>,
    #[serde(borrow)]
    tool_call: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    timestamp_ms: Option<&'a RawValue>,
    #[serde(borrow)]
    cwd: Option<&'a RawValue>,
    #[serde(borrow)]
    session_id: Option<&'a RawValue>,
    #[serde(borrow, rename = "apiKeySource")]
    key_source: Option<&'a RawValue>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    uuid: Option<&'a RawValue>,
}

/// A call as an event tells of it.
struct ToolCall<'a> {
    tool: Cow<'a, str>,
    args: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    is_over: bool,
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

/// The arguments of a call, as far as they are not like those of other agents.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Args<'a> {
    #[serde(borrow, alias = "filePath", alias = "file_path", alias = "target_file")]
    path: Option<Text<'a>>,
    #[serde(borrow)]
    stream_content: Option<Text<'a>>,
    #[serde(borrow)]
    str_replace: Option<&'a RawValue>,
    #[serde(borrow)]
    multi_str_replace: Option<Edits<'a>>,
    #[serde(borrow)]
    apply_patch: Option<PatchContent<'a>>,
    #[serde(borrow)]
    tool_call_id: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Edits<'a> {
    #[serde(borrow)]
    edits: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PatchContent<'a> {
    #[serde(borrow)]
    patch_content: Text<'a>,
}

impl<'a> Row<'a> {
    /// Returns the call that an event tells of.
    fn call(&self) -> Option<ToolCall<'a>> {
        if self.kind.as_deref() != Some("tool_call") {
            return None;
        }
        let Some(tool_call) = self.tool_call else {
            // The events of the software kit name the tool beside its arguments.
            let tool = lenient::<Text<'_>>(self.name)?.0;
            let status: Option<Text<'_>> = lenient(self.status);
            let is_over = matches!(status.as_deref(), Some("completed" | "error" | "failed"));
            return Some(ToolCall { tool, args: self.args, result: self.result, is_over });
        };
        let is_over = self.subtype.as_deref() == Some("completed");
        // Beside the call stand times and what hooks say.
        let kinds: BTreeMap<Text<'_>, &RawValue> = lenient(Some(tool_call))?;
        let (kind, body) =
            kinds.into_iter().find(|(kind, _)| kind.ends_with(KIND_END) || &**kind == "function")?;
        let body: Body<'_> = lenient(Some(body))?;
        let tool = match (kind.strip_suffix(KIND_END), body.name) {
            (Some(kind), _) => Cow::Owned(kind.to_owned()),
            (None, name) => name?.0,
        };
        Some(ToolCall { tool, args: body.args.or(body.arguments), result: body.result, is_over })
    }
}

/// Returns what a call of a tool asks for.
fn request_of<'a>(tool: &str, raw: Option<&'a RawValue>) -> Request<'a> {
    let Some(raw) = raw else { return Request::Arguments(Cow::Borrowed("{}")) };
    // A patch may be all of the input, and the arguments of a function are the text of an object.
    if let Some(text) = lenient::<Text<'_>>(Some(raw)) {
        return if text.trim_start().starts_with('{') {
            Request::Arguments(text.0)
        } else {
            Request::Patch(text.0)
        };
    }
    let Some(args) = lenient::<Args<'_>>(Some(raw)) else {
        return Request::Arguments(Cow::Borrowed(raw.get()));
    };
    if let Some(patch) = args.apply_patch {
        return Request::Patch(patch.patch_content.0);
    }
    let Some(path) = args.path else { return Request::Arguments(Cow::Borrowed(raw.get())) };
    if matches!(tool.to_ascii_lowercase().as_str(), "delete" | "delete_file" | "deletefile") {
        let deleted = FileChange::new(path.0.into_owned(), ChangeContent::Path);
        return Request::Changes(vec![FileChange { operation: Some(Operation::Delete), ..deleted }]);
    }
    let edits = match (args.str_replace, args.multi_str_replace) {
        (Some(one), _) => Some(format!("[{}]", one.get())),
        (None, Some(many)) => Some(many.edits.get().to_owned()),
        (None, None) => None,
    };
    match (edits, args.stream_content) {
        (Some(edits), _) => {
            let mut quoted = Vec::new();
            json_into(&mut quoted, &*path);
            let quoted = String::from_utf8_lossy(&quoted);
            Request::Arguments(format!("{{\"path\":{quoted},\"edits\":{edits}}}").into())
        }
        // The text that is written: of the whole file or of a part of it, which is not told.
        (None, Some(after)) => {
            let content = ChangeContent::Texts { before: Before::Unknown, after: after.0.into_owned() };
            Request::Changes(vec![FileChange::new(path.0.into_owned(), content)])
        }
        // Some versions keep nothing but the path.
        (None, None) if tool == EDIT && shape(raw.get()).is_none() => {
            Request::Changes(vec![FileChange::new(path.0.into_owned(), ChangeContent::Path)])
        }
        (None, None) => Request::Arguments(Cow::Borrowed(raw.get())),
    }
}
