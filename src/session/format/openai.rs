//! OpenAI's streams: Responses events, and Chat Completions chunks as DeepSeek, Groq, xAI and many servers send them.
//!
//! Responses: `response.output_item.added` begins a call, `….delta` brings pieces, `….done` and
//! `response.output_item.done` repeat the whole. Chunks: `choices[].delta.tool_calls[]` by index, with id and name only in
//! the first one; a `finish_reason` ends all calls of its choice.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::report::Operation;
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
    #[serde(borrow)]
    item_id: Option<Text<'a>>,
    output_index: Option<u64>,
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    diff: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    #[serde(borrow)]
    choices: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// An output item; the same objects stand in Codex's rollouts.
#[derive(Deserialize)]
pub(super) struct Item<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    call_id: Option<Text<'a>>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    status: Option<Text<'a>>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    operation: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct FileOperation<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    path: Text<'a>,
    #[serde(borrow)]
    diff: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow)]
    incomplete_details: Option<Details<'a>>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Details<'a> {
    #[serde(borrow)]
    reason: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    #[serde(borrow)]
    message: Option<Delta<'a>>,
    #[serde(borrow)]
    finish_reason: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_calls: Option<Vec<ToolCall<'a>>>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    index: Option<u64>,
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    function: Option<Function<'a>>,
    #[serde(borrow)]
    custom: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

/// Reads one payload; tells whether it is one of these streams.
pub(super) fn read(text: &str, say: &mut Say<'_>) -> serde_json::Result<bool> {
    let event: Event<'_> = serde_json::from_str(text)?;
    if let Some(choices) = event.choices {
        let choices: Vec<Choice<'_>> = serde_json::from_str(choices.get())?;
        for choice in choices {
            read_choice(choice, say);
        }
        return Ok(true);
    }
    let Some(kind) = event.kind.as_deref() else {
        let Some(error) = event.error else { return Ok(false) };
        say(LiveEvent::Cut { calls: Scope::All, reason: error_message(error).into() });
        return Ok(true);
    };
    let key = match (event.output_index, event.item_id) {
        (Some(index), _) => Some(CallKey::Place(0, index)),
        (None, Some(id)) => Some(CallKey::Id(id.0)),
        (None, None) => None,
    };
    match kind {
        "response.custom_tool_call_input.delta"
        | "response.function_call_arguments.delta"
        | "response.mcp_call_arguments.delta"
        | "response.apply_patch_call_operation_diff.delta" => {
            if let (Some(key), Some(delta)) = (key, event.delta) {
                say(LiveEvent::Delta { key, text: Words::Quoted(delta.get()) });
            }
        }
        "response.custom_tool_call_input.done"
        | "response.function_call_arguments.done"
        | "response.mcp_call_arguments.done"
        | "response.apply_patch_call_operation_diff.done" => {
            let whole = event.input.or(event.arguments).or(event.diff).map(|raw| Words::Quoted(raw.get()));
            if let Some(key) = key {
                say(LiveEvent::End { calls: Scope::Call(key), whole });
            }
        }
        "response.output_item.added" | "response.output_item.done" => {
            let item = lenient::<Item<'_>>(event.item);
            if let Some(item) = item {
                read_item(item, event.output_index, kind.ends_with("done"), say);
            }
        }
        "response.output_text.delta" => {
            if let Some(delta) = event.delta {
                say(LiveEvent::Text { text: Words::Quoted(delta.get()) });
            }
        }
        "response.completed" => say(LiveEvent::End { calls: Scope::All, whole: None }),
        "response.incomplete" | "response.failed" => {
            let response: Option<Response<'_>> = lenient(event.response);
            let reason = response.and_then(|response| {
                let reason = response.incomplete_details.and_then(|details| details.reason);
                reason.map(|reason| reason.0.into_owned()).or_else(|| response.error.map(error_message))
            });
            let reason = reason.unwrap_or_else(|| kind.trim_start_matches("response.").to_owned());
            say(LiveEvent::Cut { calls: Scope::All, reason: reason.into() });
        }
        "response.created" => {
            say(LiveEvent::Cut { calls: Scope::All, reason: "another response began".into() });
        }
        other => return Ok(other.starts_with("response.")),
    }
    Ok(true)
}

/// Says what an output item is; `is_done` if it is complete.
pub(super) fn read_item(item: Item<'_>, output_index: Option<u64>, is_done: bool, say: &mut Say<'_>) {
    let operation: Option<FileOperation<'_>> = lenient(item.operation);
    let (tool, body, whole) = match (item.kind.as_deref(), item.name, operation) {
        (Some("custom_tool_call"), Some(name), _) => (name.0, LiveBody::Text, item.input),
        (Some("function_call" | "mcp_call"), Some(name), _) => (name.0, LiveBody::Arguments, item.arguments),
        (Some("apply_patch_call"), _, Some(file)) => {
            let operation = match file.kind.as_ref() {
                "create_file" => Operation::Create,
                "delete_file" => Operation::Delete,
                _ => Operation::Update,
            };
            ("apply_patch".into(), LiveBody::Hunks { path: file.path.0, operation }, file.diff)
        }
        _ => return,
    };
    let alias = item.id.map(|id| id.0);
    let call_id = item.call_id.map(|id| id.0).or_else(|| alias.clone());
    let key = match (output_index, &alias, &call_id) {
        (Some(index), _, _) => CallKey::Place(0, index),
        (None, Some(id), _) | (None, None, Some(id)) => CallKey::Id(id.clone()),
        (None, None, None) => CallKey::Place(0, 0),
    };
    say(LiveEvent::Begin(LiveBegin { key: key.clone(), alias, call_id, tool, body, repeats: true }));
    if item.status.as_deref() == Some("incomplete") {
        say(LiveEvent::Cut { calls: Scope::Call(key), reason: "the call is marked incomplete".into() });
    } else if is_done {
        let whole = whole.map(|raw| Words::Quoted(raw.get()));
        say(LiveEvent::End { calls: Scope::Call(key), whole });
    }
}

fn read_choice(choice: Choice<'_>, say: &mut Say<'_>) {
    if let Some(delta) = choice.delta.or(choice.message) {
        if let Some(content) = delta.content {
            say(LiveEvent::Text { text: Words::Quoted(content.get()) });
        }
        for (position, call) in delta.tool_calls.into_iter().flatten().enumerate() {
            let key = CallKey::Place(choice.index, call.index.unwrap_or(position as u64));
            read_tool_call(key, call, say);
        }
    }
    match choice.finish_reason.as_deref() {
        None | Some("") => {}
        Some(reason @ ("length" | "content_filter" | "error" | "insufficient_system_resource")) => {
            let reason = reason.to_owned().into();
            say(LiveEvent::Cut { calls: Scope::Group(choice.index), reason });
        }
        Some(_) => say(LiveEvent::End { calls: Scope::Group(choice.index), whole: None }),
    }
}

fn read_tool_call(key: CallKey<'_>, call: ToolCall<'_>, say: &mut Say<'_>) {
    let (function, body) = match (call.function, call.custom) {
        (Some(function), _) => (function, LiveBody::Arguments),
        (None, Some(custom)) => (custom, LiveBody::Text),
        (None, None) => return,
    };
    if let Some(name) = function.name.filter(|name| !name.is_empty()) {
        let call_id = call.id.map(|id| id.0).filter(|id| !id.is_empty());
        let begin = LiveBegin { key: key.clone(), alias: None, call_id, tool: name.0, body, repeats: false };
        say(LiveEvent::Begin(begin));
    }
    match function.arguments.or(function.input).map(RawValue::get) {
        None | Some("\"\"") => {}
        Some(quoted) if quoted.starts_with('"') => say(LiveEvent::Delta { key, text: Words::Quoted(quoted) }),
        // Some servers send the arguments as an object, in one chunk.
        Some(object) => say(LiveEvent::Delta { key, text: Words::Plain(object.into()) }),
    }
}
