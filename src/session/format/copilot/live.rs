//! The events as a live stream: a call's arguments come whole, in the message that asks for it, and again when it starts.

use crate::session::event::CallKey;
use crate::session::event::LiveBegin;
use crate::session::event::LiveBody;
use crate::session::event::LiveEvent;
use crate::session::event::Request;
use crate::session::event::Scope;
use crate::session::event::Words;

use super::super::stream::Say;
use super::Event;
use super::calls_of;
use super::request_of;

/// Reads one payload; tells whether it is one of this stream.
pub(in crate::session::format) fn read(text: &str, say: &mut Say<'_>) -> serde_json::Result<bool> {
    let event: Event<'_> = serde_json::from_str(text)?;
    for call in calls_of(&event.kind, event.data) {
        let (Some(id), Some(tool)) = (call.tool_call_id, call.tool_name.or(call.name)) else { continue };
        let (body, whole) = match request_of(call.arguments) {
            Request::Arguments(text) => (LiveBody::Arguments, text),
            Request::Patch(text) => (LiveBody::Text, text),
            Request::Changes(_) => continue,
        };
        let key = CallKey::Id(id.0.clone());
        say(LiveEvent::Begin(LiveBegin {
            key: key.clone(),
            alias: None,
            call_id: Some(id.0),
            tool: tool.0,
            body,
            repeats: true,
        }));
        say(LiveEvent::End { calls: Scope::Call(key), whole: Some(Words::Plain(whole)) });
    }
    Ok(event.data.is_some())
}
