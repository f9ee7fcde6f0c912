//! Cline, and what stems from it (Roo Code, Kilo Code): the messages of a task and what its panel shows; and the
//! messages of any harness, as the interfaces of models have them.
//!
//! ```text
//! log     = message* | row*                     an array, JSON Lines, or a document {"messages":[message*]}
//! message = {"role":"assistant","content":TEXT|[block*],"tool_calls"?:[{"id","function":{"name","arguments"}}*],"ts"?}
//!         | {"role":"user","content":TEXT|[block*],"ts"?}
//!         | {"role":"tool","tool_call_id","content"}
//! block   = {"type":"text","text"} | {"type":"tool_use","id","name","input"}
//!         | {"type":"tool_result","tool_use_id","content","is_error"?} | others
//! ```
//!
//! A call may also be XML in the text ([`xml`]); then, and often else, its answer is a text of the next user's message:
//! `[TOOL for 'PATH'] Result:`. [`answer`] tells what an answer means, [`panel`] reads the rows of the panel.

mod answer;
mod panel;
mod xml;

use std::borrow::Cow;
use std::collections::BTreeSet;

use memchr::memmem;
use serde::Deserialize;
use serde_json::Value;
use serde_json::json;
use serde_json::value::RawValue;

use crate::report::CardStatus;
use crate::report::Recorded;
use crate::session::event::Begin;
use crate::session::event::CallEvent;
use crate::session::event::CallResult;
use crate::session::event::ChangeContent;
use crate::session::event::FileChange;
use crate::session::event::Fragment;
use crate::session::event::Place;
use crate::session::event::Request;

use super::Text;
use super::lenient;
use super::text;

/// How many calls of a message are looked for in the answer to it.
const OPEN_CALLS_CAP: usize = 128;

/// How many ids of calls are remembered to tell whether one comes again.
const CALL_IDS_CAP: usize = 1 << 14;

/// What tells that texts are of a task, and what of a message is a call or an answer.
const MARKS: [&str; 5] =
    ["<environment_details>", "<write_to_file>", "<replace_in_file>", "<apply_diff>", "] Result:"];

/// Reads messages, or rows of the panel, one after the other.
#[derive(Debug, Default)]
pub struct Cline {
    /// How many documents of messages have begun, where there are several.
    records: u64,
    /// How many messages have come: calls without an id are named by their message.
    messages: usize,
    /// The calls of the last message that wait for their answers.
    open: Vec<Open>,
    call_ids: BTreeSet<String>,
    panel: panel::Panel,
    unknown_events: usize,
}

/// What is kept of a call until its answer comes.
#[derive(Debug, Clone, Default)]
struct Open {
    call_id: String,
    tool: String,
    path: Option<String>,
}

/// A call as a message has it.
struct Called {
    call_id: String,
    tool: String,
    /// JSON.
    arguments: String,
}

/// An answer that names its call.
struct Answer {
    call_id: String,
    is_error: Option<bool>,
    text: String,
}

/// A message, a row, or a document. Fields of which only the right shape counts stay raw.
#[derive(Deserialize)]
struct Row<'a> {
    #[serde(borrow)]
    role: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_calls: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_id: Option<&'a RawValue>,
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
    #[serde(borrow)]
    ts: Option<&'a RawValue>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    say: Option<&'a RawValue>,
    #[serde(borrow)]
    ask: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    partial: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow, alias = "toolCallId")]
    id: Option<&'a RawValue>,
    #[serde(borrow, alias = "toolName")]
    name: Option<&'a RawValue>,
    #[serde(borrow, alias = "args", alias = "arguments")]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_id: Option<&'a RawValue>,
    #[serde(borrow, alias = "result", alias = "output")]
    content: Option<&'a RawValue>,
    #[serde(borrow, alias = "isError")]
    is_error: Option<&'a RawValue>,
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
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow, alias = "file_path", alias = "filePath", alias = "absolutePath", alias = "target_file")]
    path: Option<Text<'a>>,
}

impl Cline {
    /// Returns how many rows and messages were of a kind that is not known.
    pub fn unknown_events(&self) -> usize {
        self.unknown_events
    }

    /// Reads one message, one row, or one document of messages.
    ///
    /// # Errors
    /// The line is none of these.
    pub fn read(
        &mut self,
        text: &str,
        line: usize,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) -> Result<(), serde_json::Error> {
        let row: Row<'_> = super::object(text)?;
        let Some(messages) = lenient::<Vec<&RawValue>>(row.messages) else {
            return self.row(&row, line, emit);
        };
        self.begin_record();
        for message in messages {
            // One message that is malformed is no reason to lose the others.
            let read = super::object(message.get()).and_then(|row| self.row(&row, line, emit));
            self.unknown_events += usize::from(read.is_err());
        }
        Ok(())
    }

    /// Reads one item of a list.
    ///
    /// # Errors
    /// The item is neither a message nor a row.
    pub fn read_item(
        &mut self,
        key: Option<&str>,
        text: &str,
        line: usize,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) -> Result<(), serde_json::Error> {
        match key {
            None | Some("messages") => self.row(&super::object(text)?, line, emit),
            Some(_) => Ok(()),
        }
    }

    fn begin_record(&mut self) {
        self.records += 1;
        self.open.clear();
        self.call_ids.clear();
    }

    fn row(
        &mut self,
        row: &Row<'_>,
        line: usize,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) -> Result<(), serde_json::Error> {
        let place = Place {
            line,
            turn: (self.records > 0).then_some(self.records),
            time: row.ts.or(row.timestamp).map(super::verbatim),
        };
        if row.say.is_some() || row.ask.is_some() {
            self.panel.row(row, place, emit);
            return Ok(());
        }
        self.messages += 1;
        match lenient::<Text<'_>>(row.role).as_deref() {
            Some("assistant" | "model") => self.assistant(row, &place, emit),
            Some("user" | "tool" | "function") => self.answers(row, &place, emit),
            Some("system" | "developer") => {}
            Some(_) => self.unknown_events += 1,
            None => return Err(serde::de::Error::missing_field("role")),
        }
        Ok(())
    }

    /// Reads what a model says.
    fn assistant(&mut self, row: &Row<'_>, place: &Place, emit: &mut dyn FnMut(CallEvent<'_>)) {
        // Calls without an answer stay without one: the next message's are others.
        self.open.clear();
        let message = self.messages;
        let mut count = 0;
        for block in blocks_of(row.content) {
            if let Some(text) = text(block.text) {
                for call in xml::calls(&text) {
                    count += 1;
                    let call_id = format!("{message}:{count}");
                    let (tool, arguments) = (call.tool.to_owned(), call.arguments);
                    self.begin(Called { call_id, tool, arguments }, place, emit);
                }
            } else if let (Some("tool_use" | "tool-call" | "toolCall"), Some(tool)) =
                (block.kind.as_deref(), text(block.name))
            {
                count += 1;
                let arguments = block.input.map(arguments_of).unwrap_or_default();
                let call_id = text(block.id).unwrap_or_else(|| format!("{message}:{count}"));
                self.begin(Called { call_id, tool, arguments }, place, emit);
            }
        }
        for call in lenient::<Vec<ToolCall<'_>>>(row.tool_calls).unwrap_or_default() {
            let Some(tool) = call.function.as_ref().and_then(|function| text(function.name)) else {
                continue;
            };
            count += 1;
            let arguments = call.function.and_then(|function| function.arguments).map(arguments_of);
            let call_id = text(call.id).unwrap_or_else(|| format!("{message}:{count}"));
            let arguments = arguments.unwrap_or_default();
            self.begin(Called { call_id, tool, arguments }, place, emit);
        }
    }

    fn begin(&mut self, called: Called, place: &Place, emit: &mut dyn FnMut(CallEvent<'_>)) {
        let Called { call_id, tool, arguments } = called;
        // Some models count their calls anew in every message.
        let call_id =
            if self.call_ids.contains(&call_id) { format!("{call_id}@{}", self.messages) } else { call_id };
        if self.call_ids.len() < CALL_IDS_CAP {
            self.call_ids.insert(call_id.clone());
        }
        let path = serde_json::from_str::<Named<'_>>(&arguments).ok().and_then(|named| named.path);
        let path = path.map(|path| path.0.into_owned());
        if self.open.len() < OPEN_CALLS_CAP {
            self.open.push(Open { call_id: call_id.clone(), tool: tool.clone(), path });
        }
        let request = asked(&tool, arguments);
        emit(CallEvent::Begin(Begin {
            call_id: call_id.into(),
            tool: tool.into(),
            request,
            place: place.clone(),
        }));
    }

    /// Reads what tools, or the user, answer.
    fn answers(&mut self, row: &Row<'_>, place: &Place, emit: &mut dyn FnMut(CallEvent<'_>)) {
        if let Some(id) = text(row.tool_call_id) {
            let text = content_text(row.content).unwrap_or_default();
            return self.end(&Answer { call_id: id, is_error: None, text }, place, emit);
        }
        let mut said = String::new();
        for block in blocks_of(row.content) {
            match (block.kind.as_deref(), text(block.tool_use_id).or_else(|| text(block.id))) {
                (Some("tool_result" | "tool-result"), Some(id)) => {
                    let text = content_text(block.content).unwrap_or_default();
                    let is_error = lenient(block.is_error);
                    self.end(&Answer { call_id: id, is_error, text }, place, emit);
                }
                _ => {
                    if let Some(text) = text(block.text) {
                        said.push_str(&text);
                        said.push('\n');
                    }
                }
            }
        }
        for open in std::mem::take(&mut self.open) {
            let Some(found) = answer::find(&said, &open.tool, open.path.as_deref()) else {
                self.open.push(open);
                continue;
            };
            let result = CallResult::new(open.call_id.clone(), place.clone(), CardStatus::Unknown);
            let result = answer::told(result, open, None, &said[found.clone()]);
            emit(CallEvent::Result(Box::new(result)));
            // The same call may come twice: the next answer is its.
            let heading = said[..found.start].rfind('\n').map_or(0, |end| end + 1);
            said.replace_range(heading..found.end, "");
        }
    }

    /// Says the result of the call with that id.
    fn end(&mut self, answer: &Answer, place: &Place, emit: &mut dyn FnMut(CallEvent<'_>)) {
        let id = answer.call_id.as_str();
        let is_meant = |open: &Open| {
            open.call_id == id || open.call_id.strip_prefix(id).is_some_and(|rest| rest.starts_with('@'))
        };
        let Some(at) = self.open.iter().position(is_meant) else { return };
        let open = self.open.remove(at);
        let result = CallResult::new(open.call_id.clone(), place.clone(), CardStatus::Unknown);
        let result = answer::told(result, open, answer.is_error, &answer.text);
        emit(CallEvent::Result(Box::new(result)));
    }
}

/// Returns the blocks of a content; of a text, one.
fn blocks_of(content: Option<&RawValue>) -> Vec<Block<'_>> {
    if lenient::<Text<'_>>(content).is_some() {
        let block = Block {
            kind: None,
            text: content,
            id: None,
            name: None,
            input: None,
            tool_use_id: None,
            content: None,
            is_error: None,
        };
        return vec![block];
    }
    let blocks: Vec<&RawValue> = lenient(content).unwrap_or_default();
    blocks.into_iter().filter_map(|block| lenient(Some(block))).collect()
}

/// Returns the text of an answer: a text, blocks of text, or an object with one.
fn content_text(content: Option<&RawValue>) -> Option<String> {
    #[derive(Deserialize)]
    struct Output {
        #[serde(alias = "text")]
        value: Value,
    }
    super::text_of(content).or_else(|| {
        let Output { value } = lenient(content)?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    })
}

/// Returns arguments as JSON: they may be a string that holds it.
fn arguments_of(raw: &RawValue) -> String {
    text(Some(raw)).unwrap_or_else(|| raw.get().to_owned())
}

/// Returns what a call asks for. Tools whose arguments no other tool has are told in other words.
fn asked(tool: &str, arguments: String) -> Request<'static> {
    let asked = match tool {
        "insert_content" => inserted(&arguments),
        "search_and_replace" => return replaced(&arguments).unwrap_or(Request::Arguments(arguments.into())),
        _ => None,
    };
    asked.unwrap_or(Request::Arguments(arguments.into()))
}

fn inserted(arguments: &str) -> Option<Request<'static>> {
    let fields: Value = serde_json::from_str(arguments).ok()?;
    let path = fields.get("path")?.as_str()?.to_owned();
    let new = fields.get("content")?.as_str()?.to_owned();
    let hunks = vec![Fragment { new, ..Fragment::default() }];
    let content = ChangeContent::Fragments { hunks, recorded: Recorded::Request };
    Some(Request::Changes(vec![FileChange::new(path, content)]))
}

fn replaced(arguments: &str) -> Option<Request<'static>> {
    let fields: Value = serde_json::from_str(arguments).ok()?;
    let edit = |fields: &Value| {
        Some(
            json!({"old_string": fields.get("search")?.as_str()?, "new_string": fields.get("replace")?.as_str()?}),
        )
    };
    let edits: Vec<Value> = match fields.get("operations").and_then(Value::as_array) {
        Some(operations) => operations.iter().map(edit).collect::<Option<_>>()?,
        None => vec![edit(&fields)?],
    };
    let arguments = json!({"path": fields.get("path")?.as_str()?, "edits": edits});
    Some(Request::Arguments(Cow::Owned(arguments.to_string())))
}

/// Tells whether a log of this format may have such a record: only a message that has to do with tools tells it, since
/// messages without any may have patches in their words.
pub(super) fn is_row(text: &[u8]) -> bool {
    let Some(row) = super::as_text(text).and_then(|text| super::object::<Row<'_>>(text).ok()) else {
        return false;
    };
    let is_panel = row.ts.is_some() && (row.say.is_some() || row.ask.is_some());
    let messages = lenient::<Vec<&RawValue>>(row.messages).unwrap_or_default();
    let has_call =
        |message: &&RawValue| super::object::<Row<'_>>(message.get()).is_ok_and(|row| has_tools(&row));
    is_panel && self::text(row.kind).is_some_and(|kind| matches!(kind.as_str(), "say" | "ask"))
        || has_tools(&row)
        || messages.iter().any(has_call)
}

/// Tells whether a document of this format may have such an item under that key.
pub(super) fn is_item(key: Option<&str>, text: &[u8]) -> bool {
    matches!(key, None | Some("messages")) && is_row(text)
}

fn has_tools(row: &Row<'_>) -> bool {
    let is_message = lenient::<Text<'_>>(row.role).is_some_and(|role| {
        matches!(&*role, "assistant" | "user" | "tool")
            && row.kind.is_none_or(|kind| kind.get() == "\"message\"")
    });
    let is_block = |block: &Block<'_>| {
        matches!(block.kind.as_deref(), Some("tool_use" | "tool_result" | "tool-call" | "tool-result"))
            || block.text.is_some_and(|text| {
                MARKS.iter().any(|mark| memmem::find(text.get().as_bytes(), mark.as_bytes()).is_some())
            })
    };
    let has_calls = lenient::<Vec<ToolCall<'_>>>(row.tool_calls).is_some_and(|calls| !calls.is_empty());
    is_message && (has_calls || row.tool_call_id.is_some() || blocks_of(row.content).iter().any(is_block))
}
