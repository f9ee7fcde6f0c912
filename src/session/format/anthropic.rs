//! Anthropic's Messages stream: blocks of one message, by index.
//!
//! `content_block_start` names a tool, `input_json_delta` brings pieces of its arguments, `content_block_stop` ends it.
//! With fine-grained streaming the arguments may stop anywhere; nothing repeats them.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::session::event::CallKey;
use crate::session::event::LiveBegin;
use crate::session::event::LiveBody;
use crate::session::event::LiveEvent;
use crate::session::event::Scope;
use crate::session::event::Words;

use super::Text;
use super::lenient;
use super::stream::Say;
use super::stream::error_message;

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    content_block: Option<&'a RawValue>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow)]
    partial_json: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    stop_reason: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

/// Which message events belong to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Message {
    /// Its group.
    pub(super) group: u64,
    /// A whole message follows that repeats its calls.
    pub(super) repeats: bool,
}

/// Reads one payload; tells whether it is one of this stream.
pub(super) fn read(text: &str, message: Message, say: &mut Say<'_>) -> serde_json::Result<bool> {
    let event: Event<'_> = serde_json::from_str(text)?;
    let group = Scope::Group(message.group);
    let key = CallKey::Place(message.group, event.index);
    match event.kind.as_deref() {
        Some("content_block_delta") => {
            let Some(delta) = event.delta else { return Ok(true) };
            if let Some(piece) = delta.partial_json.filter(|piece| piece.get() != "\"\"") {
                say(LiveEvent::Delta { key, text: Words::Quoted(piece.get()) });
            } else if let Some(text) = delta.text {
                say(LiveEvent::Text { text: Words::Quoted(text.get()) });
            }
        }
        Some("content_block_start") => {
            if let Some(block) = lenient(event.content_block) {
                let input = begin(block, key.clone(), message.repeats, say).filter(|input| is_filled(input));
                if let Some(input) = input {
                    say(LiveEvent::Delta { key, text: Words::Plain(input.into()) });
                }
            }
        }
        Some("content_block_stop") => say(LiveEvent::End { calls: Scope::Call(key), whole: None }),
        Some("message_delta") => match event.delta.and_then(|delta| delta.stop_reason).as_deref() {
            None | Some("tool_use" | "end_turn" | "stop_sequence" | "pause_turn") => {}
            Some(reason) => say(LiveEvent::Cut { calls: group, reason: reason.to_owned().into() }),
        },
        Some("message_stop") => say(LiveEvent::End { calls: group, whole: None }),
        Some("message_start") => say(LiveEvent::Cut { calls: group, reason: "another message began".into() }),
        Some("error") => {
            let reason = event.error.map_or_else(|| "error".to_owned(), error_message);
            say(LiveEvent::Cut { calls: group, reason: reason.into() });
        }
        Some("message") => read_blocks(event.content, message.group, say),
        Some("ping") => {}
        _ => return Ok(false),
    }
    Ok(true)
}

/// Says the calls of a whole message.
pub(super) fn read_blocks(content: Option<&RawValue>, group: u64, say: &mut Say<'_>) {
    let blocks: Option<Vec<&RawValue>> = lenient(content);
    for (index, block) in blocks.into_iter().flatten().enumerate() {
        let Some(block) = lenient::<Block<'_>>(Some(block)) else { continue };
        let key = match &block.id {
            Some(id) => CallKey::Id(id.0.clone().into_owned().into()),
            None => CallKey::Place(group, index as u64),
        };
        if let Some(input) = begin(block, key.clone(), true, say) {
            say(LiveEvent::End { calls: Scope::Call(key), whole: Some(Words::Plain(input.into())) });
        }
    }
}

/// Begins the call of a block, if it is one; returns its input.
fn begin<'a>(block: Block<'a>, key: CallKey<'a>, repeats: bool, say: &mut Say<'_>) -> Option<&'a str> {
    let kind = block.kind?;
    if !kind.ends_with("tool_use") {
        return None;
    }
    say(LiveEvent::Begin(LiveBegin {
        key,
        alias: None,
        call_id: block.id.map(|id| id.0),
        tool: block.name?.0,
        body: LiveBody::Arguments,
        repeats,
    }));
    block.input.map(RawValue::get)
}

/// Tells whether a block begins with its input, instead of the empty object that stands for it.
fn is_filled(input: &str) -> bool {
    input.starts_with('{') && input.trim_start_matches('{').trim() != "}"
}
