//! The events as a live stream: a call's arguments come whole, when it starts.

use crate::session::event::CallKey;
use crate::session::event::LiveBegin;
use crate::session::event::LiveBody;
use crate::session::event::LiveEvent;
use crate::session::event::Request;
use crate::session::event::Scope;
use crate::session::event::Words;

use super::super::stream::Say;
use super::Row;
use super::request_of;

/// Reads one payload; tells whether it is one of this stream.
pub(in crate::session::format) fn read(text: &str, say: &mut Say<'_>) -> serde_json::Result<bool> {
    let row: Row<'_> = serde_json::from_str(text)?;
    if let Some(call) = row.call()
        && let Some(id) = &row.call_id
        && !call.is_over
    {
        let (body, whole) = match request_of(&call.tool, call.args) {
            Request::Arguments(text) => (LiveBody::Arguments, text),
            Request::Patch(text) => (LiveBody::Text, text),
            // It does not tell enough to be placed in a file.
            Request::Changes(_) => return Ok(true),
        };
        let key = CallKey::Id(id.0.clone());
        say(LiveEvent::Begin(LiveBegin {
            key: key.clone(),
            alias: None,
            call_id: Some(id.0.clone()),
            tool: call.tool,
            body,
            repeats: true,
        }));
        say(LiveEvent::End { calls: Scope::Call(key), whole: Some(Words::Plain(whole)) });
    }
    let is_known = matches!(
        row.kind.as_deref(),
        Some("tool_call" | "thinking" | "assistant" | "user" | "system" | "result" | "interaction_query")
    );
    Ok(is_known)
}
