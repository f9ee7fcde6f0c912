//! GitHub Copilot's command line: the events of a session, and what `--output-format json` prints of them.
//!
//! ```text
//! event = {"type","data":{...},"id","timestamp","parentId",...}
//! data of session.start           {"sessionId","context":{"cwd"},...}
//!      of assistant.message       {"toolRequests":[{"toolCallId","name","arguments"}],...}
//!      of tool.execution_start    {"toolCallId","toolName","arguments"}
//!      of tool.execution_complete {"toolCallId","success","result"?:{"content","detailedContent"?},"error"?:{"message","code"}}
//!      of permission.requested    {"requestId","permissionRequest":{"kind","toolCallId","fileName"?,"diff"?}}
//!      of permission.completed    {"requestId","result":{"kind"},"toolCallId"?}
//! arguments = {...} | JSON TEXT | PATCH
//! ```

pub(super) mod live;
pub mod stored;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::session::event::Request;

use super::Text;
use super::lenient;

/// One event.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
}

/// What the events that tell of calls hold.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolCall<'a> {
    #[serde(borrow)]
    tool_call_id: Option<Text<'a>>,
    #[serde(borrow)]
    tool_name: Option<Text<'a>>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Requests<'a> {
    #[serde(borrow)]
    tool_requests: Option<Vec<&'a RawValue>>,
}

/// Returns the calls that an event tells of.
fn calls_of<'a>(kind: &str, data: Option<&'a RawValue>) -> Vec<ToolCall<'a>> {
    match kind {
        "assistant.message" => {
            let requests = lenient::<Requests<'_>>(data).and_then(|data| data.tool_requests);
            requests.into_iter().flatten().filter_map(|call| lenient(Some(call))).collect()
        }
        "tool.execution_start" | "tool.user_requested" => lenient(data).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Returns what a call asks for: its arguments may be an object, the text of one, or a patch.
fn request_of(arguments: Option<&RawValue>) -> Request<'_> {
    let Some(raw) = arguments else { return Request::Arguments(Cow::Borrowed("{}")) };
    match lenient::<Text<'_>>(Some(raw)) {
        Some(text) if text.trim_start().starts_with('{') => Request::Arguments(text.0),
        Some(text) => Request::Patch(text.0),
        None => Request::Arguments(Cow::Borrowed(raw.get())),
    }
}
