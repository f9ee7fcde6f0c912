//! The live stream of `--output-format stream-json`, and lines of a transcript that are fed as one.
//!
//! `stream_event` wraps an event of the Messages stream; the `assistant` line that follows repeats the call whole.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::Text;
use super::super::anthropic;
use super::super::anthropic::Message;
use super::super::lenient;
use super::super::stream::Say;
use super::super::stream::group_of;
use super::skim::is_known;

#[derive(Deserialize)]
struct Row<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    event: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    parent_tool_use_id: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Whole<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

/// Reads one payload; tells whether it is one of this stream.
pub(in crate::session::format) fn read(text: &str, say: &mut Say<'_>) -> serde_json::Result<bool> {
    let row: Row<'_> = serde_json::from_str(text)?;
    // A sub-agent streams between the events of its parent.
    let group = row.parent_tool_use_id.as_deref().map_or(0, group_of);
    match (row.kind.as_deref(), row.event, row.message) {
        (Some("stream_event"), Some(event), _) => {
            anthropic::read(event.get(), Message { group, repeats: true }, say)?;
        }
        (Some("assistant"), _, Some(message)) => {
            let content = lenient::<Whole<'_>>(Some(message)).and_then(|message| message.content);
            anthropic::read_blocks(content, group, say);
        }
        (Some(kind), _, _) if is_known(kind.as_bytes()) => {}
        _ => return Ok(false),
    }
    Ok(true)
}
