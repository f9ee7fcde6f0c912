//! Logs of the Agent Client Protocol: JSON-RPC messages, whole or what is left of them.
//!
//! ```text
//! line    = message | {"message": message} | params | update
//! message = {"method": "session/update", "params": params} | {"id", "method": "session/request_permission", "params": {"toolCall", "options"}}
//!         | {"id", "method": "fs/write_text_file", "params": {"path", "content"}} | {"id", "result" | "error"} | …
//! params  = {"update": update}
//! update  = {"sessionUpdate": "tool_call" | "tool_call_update", "toolCallId", "kind"?, "status"?, "content"?, "locations"?, "rawInput"?, …}
//! content = [{"type": "diff", "path", "oldText"?, "newText"} | {"type": "content", "content": {"text"}} | …]
//! ```
//!
//! The second version differs in:
//!
//! ```text
//! params  = {"title", "subject": {"type": "tool_call", "toolCall"}, "options"}            of a request for permission
//! update  = {"sessionUpdate": "tool_call_update", …} | {"sessionUpdate": "tool_call_content_chunk", "toolCallId", "content": item}
//! content = [{"type": "diff", "changes": [{"operation": "add" | "delete" | "modify" | "move" | "copy", "path", "oldPath"?}],
//!             "patch"?: {"format": "git_patch", "text"}} | …]
//! ```
//!
//! A call is told in updates, of which each says only what changed; a content takes the place of the one before. What a
//! call began with is what it asks for; a content that comes later, or with the success, is what was done. A client that
//! writes files for its agent logs a change a second time, without an id that joins the two: the same text for the same
//! path is one change.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::collections::VecDeque;

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::report::CardStatus;
use crate::report::Operation;
use crate::report::Recorded;
use crate::session::event::Before;
use crate::session::event::Begin;
use crate::session::event::CallEvent;
use crate::session::event::CallResult;
use crate::session::event::ChangeContent;
use crate::session::event::Emit;
use crate::session::event::FileChange;
use crate::session::event::Fragment;
use crate::session::event::Place;
use crate::session::event::Request;
use crate::session::format::Text;
use crate::session::format::as_text;
use crate::session::format::lenient;
use crate::session::format::object;
use crate::session::format::verbatim;

use super::live::shape;

/// The tool of a client that writes a file for its agent.
const WRITE_FILE: &str = "fs/write_text_file";

/// How many calls, questions and writes may be open at once; of more, the oldest are forgotten.
const OPEN_CAP: usize = 1024;

/// How many bytes of written files may wait for the call that they repeat.
const WRITES_CAP_BYTES: usize = 16 << 20;

/// How many changes are remembered, to tell a write that repeats one.
const DRAWN_CAP: usize = 64;

/// How many bytes of a remembered change may be compared; a longer one is forgotten at once.
const DRAWN_CAP_BYTES: usize = 1 << 20;

/// How many bytes of a call's diffs are kept for chunks to be added to.
const ITEMS_CAP_BYTES: usize = 4 << 20;

/// A line up to this length is read if nothing tells what it is.
const SHORT_LINE_BYTES: usize = 4096;

/// Updates that tell nothing of edits.
const PLAIN_UPDATES: [&str; 14] = [
    "user_message",
    "agent_message",
    "agent_thought",
    "state_update",
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "plan",
    "plan_update",
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "session_info_update",
    "usage_update",
];

#[derive(Deserialize)]
struct Row<'a> {
    #[serde(borrow)]
    jsonrpc: Option<Text<'a>>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Text<'a>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    update: Option<&'a RawValue>,
    #[serde(borrow, rename = "sessionUpdate")]
    session_update: Option<Text<'a>>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    time: Option<&'a RawValue>,
    #[serde(borrow)]
    ts: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(borrow)]
    update: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call: Option<&'a RawValue>,
    #[serde(borrow)]
    subject: Option<&'a RawValue>,
    #[serde(borrow)]
    options: Option<&'a RawValue>,
    #[serde(borrow)]
    path: Option<Text<'a>>,
    #[serde(borrow)]
    content: Option<Text<'a>>,
    #[serde(borrow)]
    cwd: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update<'a> {
    #[serde(borrow)]
    session_update: Option<Text<'a>>,
    #[serde(borrow)]
    tool_call_id: Option<Text<'a>>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    status: Option<Text<'a>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    locations: Option<&'a RawValue>,
    #[serde(borrow)]
    raw_input: Option<&'a RawValue>,
    #[serde(borrow)]
    raw_output: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta<'a> {
    #[serde(borrow)]
    claude_code: Option<ToolName<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolName<'a> {
    #[serde(borrow)]
    tool_name: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    path: Option<Text<'a>>,
    #[serde(borrow)]
    old_text: Option<Text<'a>>,
    #[serde(borrow)]
    new_text: Option<Text<'a>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    changes: Option<&'a RawValue>,
    #[serde(borrow)]
    patch: Option<&'a RawValue>,
}

/// What a request for permission is about.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Subject<'a> {
    #[serde(borrow)]
    tool_call: Option<&'a RawValue>,
}

/// A patch; early drafts of the protocol called its text otherwise.
#[derive(Deserialize)]
struct GitPatch<'a> {
    #[serde(borrow, alias = "diff")]
    text: Text<'a>,
}

#[derive(Deserialize)]
struct TextBlock<'a> {
    #[serde(borrow)]
    text: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Location<'a> {
    #[serde(borrow)]
    path: Text<'a>,
    line: Option<usize>,
}

/// One file of a diff block of the second version.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlockChange<'a> {
    #[serde(borrow)]
    operation: Text<'a>,
    #[serde(borrow)]
    path: Text<'a>,
    #[serde(borrow)]
    old_path: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Choice<'a> {
    #[serde(borrow)]
    option_id: Text<'a>,
    #[serde(borrow)]
    kind: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow)]
    outcome: Option<Outcome<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outcome<'a> {
    #[serde(borrow)]
    outcome: Text<'a>,
    #[serde(borrow)]
    option_id: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Failure<'a> {
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<Text<'a>>,
    #[serde(borrow)]
    output: Option<Text<'a>>,
}

/// A call whose result has not come.
#[derive(Debug, Default)]
struct OpenCall {
    tool: Option<String>,
    kind: Option<String>,
    locations: Vec<(String, Option<usize>)>,
    has_diffs: bool,
    has_request: bool,
    /// The texts that the last diffs put into files, to tell a write that repeats them.
    written: Vec<Written>,
    /// The diffs of the content so far, as JSON: what comes in chunks is added to them.
    items: Vec<String>,
}

/// A text and where it went: of a whole file, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Written {
    path: String,
    text: String,
}

/// A question to the user.
#[derive(Debug)]
struct Question {
    call_id: String,
    /// The answers that refuse, each with its kind.
    refusals: BTreeMap<String, String>,
}

/// A file that the client was asked to write.
#[derive(Debug)]
struct Write {
    request_id: String,
    written: Written,
    result: Option<CallResult>,
}

/// Reads messages, one after the other.
#[derive(Debug, Default)]
pub struct Acp {
    open: HashMap<String, OpenCall>,
    open_order: VecDeque<String>,
    questions: BTreeMap<String, Question>,
    writes: Vec<Write>,
    drawn: VecDeque<Written>,
    turn: Option<u64>,
    unknown_events: usize,
}

impl Acp {
    /// Returns how many lines and updates were of a kind that is not known.
    pub fn unknown_events(&self) -> usize {
        self.unknown_events
    }

    /// Tells, without parsing, whether a line is worth parsing.
    pub fn proposes(&self, line: &[u8]) -> bool {
        const NEEDLES: [&[u8]; 8] = [
            b"\"tool_call",
            b"\"toolCall",
            b"\"diff\"",
            b"fs/write_text_file",
            b"session/prompt",
            b"session/new",
            b"session/load",
            b"\"outcome\"",
        ];
        let has = |needle: &[u8]| memmem::find(line, needle).is_some();
        if NEEDLES.iter().any(|needle| has(needle)) {
            return true;
        }
        if !self.writes.is_empty() && (has(b"\"result\"") || has(b"\"error\"")) {
            return true;
        }
        let is_plain = memmem::find(line, br#""sessionUpdate":""#).is_some_and(|at| {
            let kind = &line[at + br#""sessionUpdate":""#.len()..];
            PLAIN_UPDATES.iter().any(|plain| {
                kind.strip_prefix(plain.as_bytes()).is_some_and(|rest| rest.first() == Some(&b'"'))
            })
        });
        !is_plain && line.len() <= SHORT_LINE_BYTES && !line.trim_ascii().is_empty()
    }

    /// Reads one line that [`proposes`](Self::proposes) lets through.
    ///
    /// # Errors
    /// The line is no JSON object.
    pub fn read(&mut self, text: &str, line: usize, emit: &mut Emit<'_>) -> Result<(), serde_json::Error> {
        let row: Row<'_> = object(text)?;
        let time = row.timestamp.or(row.time).or(row.ts).map(verbatim);
        let place = Place { line, turn: self.turn, time };
        match row.message.filter(|message| message.get().starts_with('{')) {
            Some(message) => self.message(message.get(), &object(message.get())?, place, emit),
            None => self.message(text, &row, place, emit),
        }
        Ok(())
    }

    /// Ends the log: says what waits for a call that has no result.
    pub fn finish(&mut self, emit: &mut Emit<'_>) {
        for write in std::mem::take(&mut self.writes) {
            say_result(write.result, emit);
        }
    }

    fn message(&mut self, text: &str, row: &Row<'_>, mut place: Place, emit: &mut Emit<'_>) {
        if row.session_update.is_some() {
            return self.update(object(text).ok(), &place, emit);
        }
        let params: Option<Params<'_>> = lenient(row.params);
        match (row.method.as_deref(), params) {
            (Some("session/update"), Some(params)) => {
                self.update(lenient(params.update), &place, emit);
            }
            (Some("session/request_permission"), Some(params)) => self.asked(row.id, &params, &place, emit),
            (Some(WRITE_FILE), Some(params)) => self.write(row.id, params, place, emit),
            (Some("session/prompt"), _) => self.turn = Some(self.turn.unwrap_or(0) + 1),
            (Some("session/new" | "session/load" | "session/resume"), Some(params)) => {
                if let Some(folder) = params.cwd {
                    emit(CallEvent::Folder(folder.0));
                }
            }
            (Some(_), _) => {}
            (None, _) if row.update.is_some() => self.update(lenient(row.update), &place, emit),
            (None, _) if row.result.is_some() || row.error.is_some() => {
                place.turn = self.turn;
                if let Some(id) = row.id {
                    self.answered(id.get(), row, place, emit);
                }
            }
            (None, _) => self.unknown_events += usize::from(row.jsonrpc.is_none()),
        }
    }

    fn update(&mut self, update: Option<Update<'_>>, place: &Place, emit: &mut Emit<'_>) {
        let Some(update) = update else {
            self.unknown_events += 1;
            return;
        };
        match update.session_update.as_deref() {
            Some("tool_call" | "tool_call_update") => self.call(update, place, emit),
            Some("tool_call_content_chunk") => self.chunk(&update, place, emit),
            Some(kind) => self.unknown_events += usize::from(!PLAIN_UPDATES.contains(&kind)),
            None => self.unknown_events += 1,
        }
    }

    /// Adds an item to the content of a call.
    fn chunk(&mut self, update: &Update<'_>, place: &Place, emit: &mut Emit<'_>) {
        let Some(id) = update.tool_call_id.as_deref() else { return };
        let Some(item) = update.content.filter(|item| is_diff(item)) else { return };
        self.open_call(id);
        let Some(call) = self.open.get_mut(id) else { return };
        let mut items = std::mem::take(&mut call.items);
        items.push(item.get().to_owned());
        let blocks: Vec<Block<'_>> =
            items.iter().filter_map(|item| serde_json::from_str(item).ok()).collect();
        if let Some((tool, request)) = call.request(&blocks, None, false) {
            let begin = Begin { call_id: id.into(), tool: tool.into(), request, place: place.clone() };
            emit(CallEvent::Amended(begin));
        }
        drop(blocks);
        call.keep(items);
    }

    fn call(&mut self, update: Update<'_>, place: &Place, emit: &mut Emit<'_>) {
        let Some(id) = update.tool_call_id.as_deref() else { return };
        self.open_call(id);
        let Some(call) = self.open.get_mut(id) else { return };
        let meta: Option<Meta<'_>> = lenient(update.meta);
        let name = meta.and_then(|meta| meta.claude_code).and_then(|named| named.tool_name).or(update.name);
        call.tool = name.map(|name| name.0.into_owned()).or_else(|| call.tool.take());
        call.kind = update.kind.map(|kind| kind.0.into_owned()).or_else(|| call.kind.take());
        if let Some(locations) = lenient::<Vec<Location<'_>>>(update.locations) {
            call.locations = locations.into_iter().map(|at| (at.path.0.into_owned(), at.line)).collect();
        }
        let is_done = update.status.as_deref() == Some("completed");
        let items: Option<Vec<&RawValue>> = lenient(update.content);
        if let Some(items) = &items {
            call.keep(items.iter().filter(|item| is_diff(item)).map(|item| item.get().to_owned()).collect());
        }
        let items = items.unwrap_or_default();
        let blocks: Vec<Block<'_>> = items.into_iter().filter_map(|item| lenient(Some(item))).collect();
        let input = update.raw_input.map(RawValue::get).filter(|input| has_members(input));
        if let Some((tool, request)) = call.request(&blocks, input, is_done) {
            let begin = Begin { call_id: id.into(), tool: tool.into(), request, place: place.clone() };
            emit(CallEvent::Amended(begin));
        }
        let status = match update.status.as_deref() {
            Some("completed") => CardStatus::Applied,
            Some("failed" | "cancelled") => CardStatus::Failed,
            _ => return,
        };
        let message = text_of(&blocks).or_else(|| said(update.raw_output));
        let is_cancelled = update.status.as_deref() == Some("cancelled");
        let message = message.or_else(|| is_cancelled.then(|| "cancelled".to_owned()));
        let result = CallResult::new(id.to_owned(), place.clone(), status);
        let id = id.to_owned();
        self.end(&id, CallResult { message, ..result }, emit);
    }

    fn open_call(&mut self, id: &str) {
        if self.open.contains_key(id) {
            return;
        }
        self.open.insert(id.to_owned(), OpenCall::default());
        self.open_order.push_back(id.to_owned());
        if self.open_order.len() > OPEN_CAP
            && let Some(oldest) = self.open_order.pop_front()
        {
            self.open.remove(&oldest);
        }
    }

    fn end(&mut self, id: &str, result: CallResult, emit: &mut Emit<'_>) {
        let is_applied = result.status == CardStatus::Applied;
        emit(CallEvent::Result(Box::new(result)));
        self.open_order.retain(|open| open != id);
        let Some(call) = self.open.remove(id).filter(|_| is_applied) else {
            self.say_writes(emit);
            return;
        };
        let mut written = call.written;
        self.writes.retain(|write| {
            let is_repeated = written.iter().any(|written| written.is_in(&write.written));
            if is_repeated {
                emit(CallEvent::Superseded { call_id: write.call_id().into() });
                written.retain(|written| written.path != write.written.path);
            }
            !is_repeated
        });
        self.say_writes(emit);
        written.into_iter().for_each(|written| self.remember(written));
    }

    fn remember(&mut self, written: Written) {
        if written.text.len() > DRAWN_CAP_BYTES {
            return;
        }
        self.drawn.push_back(written);
        if self.drawn.len() > DRAWN_CAP {
            self.drawn.pop_front();
        }
    }

    /// Says the results of writes that no open call can repeat.
    fn say_writes(&mut self, emit: &mut Emit<'_>) {
        if self.open.values().any(OpenCall::may_write) {
            return;
        }
        for mut write in std::mem::take(&mut self.writes) {
            match write.result.take() {
                Some(result) => self.say_write(result, write.written, emit),
                // What has no answer yet still waits for it.
                None => self.writes.push(write),
            }
        }
    }

    fn say_write(&mut self, result: CallResult, written: Written, emit: &mut Emit<'_>) {
        let is_applied = result.status == CardStatus::Applied;
        emit(CallEvent::Result(Box::new(result)));
        if is_applied {
            self.remember(written);
        }
    }

    fn write(&mut self, id: Option<&RawValue>, params: Params<'_>, place: Place, emit: &mut Emit<'_>) {
        let (Some(id), Some(path), Some(content)) = (id, params.path, params.content) else { return };
        let written = Written { path: path.0.into_owned(), text: content.0.into_owned() };
        if self.drawn.iter().any(|drawn| drawn.is_in(&written)) {
            // A call is repeated once: what is written after that is another change.
            self.drawn.retain(|drawn| drawn.path != written.path);
            return;
        }
        let after = written.text.clone();
        let content = ChangeContent::Texts { before: Before::Unknown, after };
        let change = FileChange::new(written.path.clone(), content);
        let write = Write { request_id: id.get().to_owned(), written, result: None };
        emit(CallEvent::Begin(Begin {
            call_id: write.call_id().into(),
            tool: WRITE_FILE.into(),
            request: Request::Changes(vec![change]),
            place,
        }));
        self.writes.push(write);
        let held = |write: &Write| write.written.text.len();
        while self.writes.len() > OPEN_CAP || self.writes.iter().map(held).sum::<usize>() > WRITES_CAP_BYTES {
            say_result(self.writes.remove(0).result, emit);
        }
    }

    fn asked(&mut self, id: Option<&RawValue>, params: &Params<'_>, place: &Place, emit: &mut Emit<'_>) {
        let subject = || lenient::<Subject<'_>>(params.subject)?.tool_call;
        let call: Option<Update<'_>> = lenient(params.tool_call.or_else(subject));
        let Some(call_id) = call.as_ref().and_then(|call| call.tool_call_id.clone()) else { return };
        if let Some(call) = call {
            self.call(Update { status: None, ..call }, place, emit);
        }
        let choices: Vec<Choice<'_>> = lenient(params.options).unwrap_or_default();
        let refusals = choices.into_iter().filter_map(|choice| {
            let kind = choice.kind.unwrap_or_else(|| choice.option_id.clone()).0.into_owned();
            (kind.contains("reject") || kind.contains("deny"))
                .then(|| (choice.option_id.0.into_owned(), kind))
        });
        let refusals = refusals.collect();
        if let Some(id) = id
            && self.questions.len() < OPEN_CAP
        {
            let question = Question { call_id: call_id.0.into_owned(), refusals };
            self.questions.insert(id.get().to_owned(), question);
        }
    }

    fn answered(&mut self, id: &str, row: &Row<'_>, place: Place, emit: &mut Emit<'_>) {
        let outcome = lenient::<Response<'_>>(row.result).and_then(|response| response.outcome);
        // Both sides count their requests: only an answer of the right shape is one to this question.
        if let Some(outcome) = outcome {
            let Some(question) = self.questions.remove(id) else { return };
            let chosen = outcome.option_id.as_deref().unwrap_or_default();
            let refusal = match (outcome.outcome.as_ref(), question.refusals.get(chosen)) {
                ("selected", Some(kind)) => Some(kind.clone().into()),
                ("selected", None) => None,
                (outcome, _) => Some(outcome.to_owned().into()),
            };
            emit(CallEvent::Decided { call_id: question.call_id.into(), refusal });
            return;
        }
        let waits = |write: &Write| write.request_id == id && write.result.is_none();
        let Some(at) = self.writes.iter().position(waits) else { return };
        let status = if row.error.is_some() { CardStatus::Failed } else { CardStatus::Applied };
        let result = CallResult::new(self.writes[at].call_id(), place, status);
        self.writes[at].result = Some(CallResult { message: said(row.error), ..result });
        if self.open.values().any(OpenCall::may_write) {
            return;
        }
        let write = self.writes.remove(at);
        if let Some(result) = write.result {
            self.say_write(result, write.written, emit);
        }
    }
}

impl OpenCall {
    /// Keeps the diffs of the content, if they are not too many.
    fn keep(&mut self, items: Vec<String>) {
        let is_held = items.iter().map(String::len).sum::<usize>() <= ITEMS_CAP_BYTES;
        self.items = if is_held { items } else { Vec::new() };
    }

    /// Tells whether the client may be writing files for this call.
    fn may_write(&self) -> bool {
        !matches!(self.kind.as_deref(), Some("read" | "search" | "fetch" | "think" | "switch_mode"))
    }

    /// Returns tool and request, if an update tells what the call asks for, or what it did.
    fn request<'a>(
        &mut self,
        blocks: &[Block<'_>],
        input: Option<&'a str>,
        is_done: bool,
    ) -> Option<(String, Request<'a>)> {
        let is_diff = |block: &&Block<'_>| block.kind.as_deref() == Some("diff");
        let diffs: Vec<&Block<'_>> = blocks.iter().filter(is_diff).collect();
        if !diffs.is_empty() {
            let recorded = if self.has_diffs || is_done { Recorded::Hunks } else { Recorded::Request };
            self.has_diffs = true;
            self.written = diffs.iter().filter_map(|block| written(block)).collect();
            let tool = self.tool.clone().or_else(|| self.kind.clone()).unwrap_or_else(|| "edit".to_owned());
            return Some((tool, Request::Changes(self.changes(&diffs, recorded))));
        }
        if self.has_diffs {
            return None;
        }
        if let Some(input) = input {
            let is_script = input.contains("*** Begin Patch") && input.contains("\"command\"");
            let tool = self.tool.clone().or_else(|| shape(input).map(str::to_owned));
            let tool = tool.or_else(|| is_script.then(|| "shell".to_owned()));
            if let Some(tool) = tool {
                self.has_request = true;
                return Some((tool, Request::Arguments(input.into())));
            }
        }
        let operation = match self.kind.as_deref() {
            Some("edit") => Operation::Update,
            Some("delete") => Operation::Delete,
            Some("move") => Operation::Rename,
            _ => return None,
        };
        if self.has_request || self.locations.is_empty() {
            return None;
        }
        let tool = self.tool.clone().or_else(|| self.kind.clone())?;
        Some((tool, Request::Changes(self.located(operation))))
    }

    /// Returns the files that a call names only by where it is at work.
    fn located(&self, operation: Operation) -> Vec<FileChange> {
        let named = |path: &String| FileChange {
            operation: Some(operation),
            ..FileChange::new(path.clone(), ChangeContent::Path)
        };
        match self.locations.as_slice() {
            [(from, _), (to, _)] if operation == Operation::Rename => {
                vec![FileChange { from: Some(from.clone()), ..named(to) }]
            }
            _ if operation == Operation::Rename => {
                let named = |(path, _): &(String, _)| FileChange { operation: None, ..named(path) };
                self.locations.iter().map(named).collect()
            }
            locations => locations.iter().map(|(path, _)| named(path)).collect(),
        }
    }

    /// Returns the changes of diff blocks, one a file.
    fn changes(&self, diffs: &[&Block<'_>], recorded: Recorded) -> Vec<FileChange> {
        let is_numbered = recorded == Recorded::Hunks && self.is_located(diffs);
        let mut changes: Vec<FileChange> = Vec::new();
        // How many lines the blocks before have added to each file.
        let mut growth: HashMap<&str, isize> = HashMap::new();
        for (index, block) in diffs.iter().enumerate() {
            let (Some(path), Some(new)) = (block.path.as_deref(), block.new_text.as_deref()) else {
                changes.extend(of_git_patch(block));
                continue;
            };
            let old = block.old_text.as_deref();
            let line = self.locations.get(index).and_then(|(_, line)| *line).filter(|_| is_numbered);
            let grown = growth.entry(path).or_default();
            let old_start = line.and_then(|line| line.checked_add_signed(-*grown)).filter(|start| *start > 0);
            *grown += lines(new) - lines(old.unwrap_or_default());
            let fragment = Fragment {
                old: old.unwrap_or_default().to_owned(),
                new: new.to_owned(),
                old_start,
                new_start: old_start.and(line),
            };
            if let Some(change) = changes.iter_mut().find(|change| change.path == path) {
                if let ChangeContent::Fragments { hunks, .. } = &mut change.content {
                    hunks.push(fragment);
                }
                continue;
            }
            let is_only = diffs.iter().filter(|block| block.path.as_deref() == Some(path)).count() == 1;
            let operation = (old.is_none() && is_only).then_some(Operation::Create);
            let content = if operation.is_some() && recorded == Recorded::Hunks {
                ChangeContent::Texts { before: Before::Absent, after: new.to_owned() }
            } else {
                ChangeContent::Fragments { hunks: vec![fragment], recorded }
            };
            changes.push(FileChange { operation, ..FileChange::new(path.to_owned(), content) });
        }
        changes
    }

    /// Tells whether the locations say where the diffs stand: one each, in their order, and each diff a part of a file.
    fn is_located(&self, diffs: &[&Block<'_>]) -> bool {
        let is_part = |text: &Option<Text<'_>>| text.as_deref().is_none_or(|text| !text.ends_with('\n'));
        self.locations.len() == diffs.len()
            && self.locations.iter().zip(diffs).all(|((path, line), block)| {
                block.path.as_deref() == Some(path)
                    && line.is_some_and(|line| line > 0)
                    && is_part(&block.old_text)
                    && is_part(&block.new_text)
            })
    }
}

impl Written {
    /// Tells whether a file that is written so has this text, or is this text.
    fn is_in(&self, file: &Written) -> bool {
        self.path == file.path && memmem::find(file.text.as_bytes(), self.text.as_bytes()).is_some()
    }
}

impl Write {
    /// Returns an id that no call has.
    fn call_id(&self) -> String {
        format!("{WRITE_FILE} {}", self.request_id)
    }
}

fn written(block: &Block<'_>) -> Option<Written> {
    let (path, text) = (block.path.as_ref()?, block.new_text.as_ref()?);
    Some(Written { path: path.to_string(), text: text.to_string() })
}

/// Tells whether an item of a content is a diff.
fn is_diff(item: &RawValue) -> bool {
    lenient::<Block<'_>>(Some(item)).is_some_and(|block| block.kind.as_deref() == Some("diff"))
}

/// Reads a diff block of the protocol's second version: a list of files, and one patch of all of them, or of some.
fn of_git_patch(block: &Block<'_>) -> Vec<FileChange> {
    let changes: Vec<&RawValue> = lenient(block.changes).unwrap_or_default();
    let changes: Vec<BlockChange<'_>> =
        changes.into_iter().filter_map(|change| lenient(Some(change))).collect();
    let patch = lenient::<GitPatch<'_>>(block.patch).map(|patch| patch.text);
    let sections = patch.as_deref().map(sections).unwrap_or_default();
    let has_all = sections.len() == changes.len();
    let change = |(index, change): (usize, BlockChange<'_>)| {
        let named = sections.iter().find(|section| section.names(&change.path));
        let section = named.or_else(|| sections.get(index).filter(|_| has_all));
        let operation = match change.operation.as_ref() {
            "add" => Operation::Create,
            "delete" => Operation::Delete,
            "move" => Operation::Rename,
            "copy" => Operation::Copy,
            _ => Operation::Update,
        };
        let is_moved = matches!(operation, Operation::Rename | Operation::Copy);
        FileChange {
            from: change.old_path.map(|path| path.0.into_owned()),
            operation: Some(operation),
            ..FileChange::new(
                change.path.0.into_owned(),
                match section {
                    Some(section) if section.has_hunks() => ChangeContent::Unified(section.text.to_owned()),
                    // A file that was only moved has no hunks.
                    Some(_) if is_moved => ChangeContent::Hunks(Vec::new()),
                    _ => ChangeContent::Path,
                },
            )
        }
    };
    changes.into_iter().enumerate().map(change).collect()
}

/// What a git patch says of one file.
struct Section<'p> {
    text: &'p str,
}

impl Section<'_> {
    fn header(&self) -> impl Iterator<Item = &str> {
        self.text.lines().take_while(|line| !line.starts_with("@@ "))
    }

    fn has_hunks(&self) -> bool {
        self.text.contains("\n@@ ")
    }

    /// Tells whether it is of the file with that absolute path. Some agents name files from a folder on that is not told,
    /// and with git's prefixes.
    fn names(&self, path: &str) -> bool {
        const MARKS: [&str; 5] = ["+++ ", "--- ", "rename to ", "copy to ", "diff --git "];
        let is_path = |name: &str| {
            path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        self.header().any(|line| {
            MARKS.iter().filter_map(|mark| line.strip_prefix(mark)).any(|name| {
                let name = name.trim_end_matches('\t');
                // The line that begins a section has both names, which are the same if it has no other line of names.
                let name = match line.starts_with("diff --git ") {
                    true => name.get(..name.len() / 2).unwrap_or(name),
                    false => name,
                };
                let bare = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/"));
                !name.is_empty()
                    && (is_path(name) || bare.is_some_and(|bare| !bare.is_empty() && is_path(bare)))
            })
        })
    }
}

/// Cuts a git patch into what it says of each file.
fn sections(patch: &str) -> Vec<Section<'_>> {
    const BEGIN: &str = "diff --git ";
    let starts = patch.match_indices(BEGIN).map(|(at, _)| at);
    let starts: Vec<usize> = starts.filter(|&at| at == 0 || patch.as_bytes()[at - 1] == b'\n').collect();
    let ends = starts.iter().skip(1).copied().chain([patch.len()]);
    starts.iter().zip(ends).map(|(&start, end)| Section { text: &patch[start..end] }).collect()
}

fn say_result(result: Option<CallResult>, emit: &mut Emit<'_>) {
    if let Some(result) = result {
        emit(CallEvent::Result(Box::new(result)));
    }
}

/// Returns the text that a call shows beside its diffs.
fn text_of(blocks: &[Block<'_>]) -> Option<String> {
    let text =
        |block: &Block<'_>| lenient::<TextBlock<'_>>(block.content)?.text.map(|text| text.0.into_owned());
    let texts: Vec<String> = blocks.iter().filter_map(text).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Returns what a tool's own output, or an error, says.
fn said(raw: Option<&RawValue>) -> Option<String> {
    if let Some(text) = lenient::<String>(raw) {
        return Some(text);
    }
    let failure: Failure<'_> = lenient(raw)?;
    let message = failure.message.or(failure.output).map(|text| text.0.into_owned());
    message.or_else(|| lenient::<String>(failure.error)).or_else(|| {
        let inner: Failure<'_> = lenient(failure.error)?;
        inner.message.map(|text| text.0.into_owned())
    })
}

fn lines(text: &str) -> isize {
    let count = if text.is_empty() { 0 } else { text.split('\n').count() };
    isize::try_from(count).unwrap_or(isize::MAX)
}

fn has_members(input: &str) -> bool {
    input.strip_prefix('{').is_some_and(|rest| !rest.trim_start().starts_with('}'))
}

/// Tells whether a log of this format may hold such a line.
pub fn is_row(line: &[u8]) -> bool {
    let Some(row) = as_text(line).and_then(|text| object::<Row<'_>>(text).ok()) else {
        return false;
    };
    let is_message = |row: &Row<'_>| {
        let update: Option<Update<'_>> = lenient(row.update);
        row.jsonrpc.as_deref() == Some("2.0")
            || row.session_update.is_some()
            || update.is_some_and(|update| update.session_update.is_some())
            || row
                .method
                .as_deref()
                .is_some_and(|method| method.starts_with("session/") && row.params.is_some())
    };
    let inner = row.message.and_then(|message| object::<Row<'_>>(message.get()).ok());
    is_message(&row) || inner.as_ref().is_some_and(is_message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_tell_nothing_of_edits_are_not_parsed() {
        let acp = Acp::default();
        let check = |line: &str, wanted| assert_eq!(acp.proposes(line.as_bytes()), wanted, "{line}");
        let update =
            |kind: &str| format!(r#"{{"params":{{"update":{{"sessionUpdate":"{kind}","content":1}}}}}}"#);
        check(&update("agent_message_chunk"), false);
        check(&update("usage_update"), false);
        check(&update("tool_call"), true);
        check(&update("tool_call_update"), true);
        check(&update("not_known_yet"), true);
        check(r#"{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file"}"#, true);
        let long = "A".repeat(SHORT_LINE_BYTES);
        check(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":"{long}"}}}}"#), false);
        check(&format!(r#"{{"method":"session/prompt","params":"{long}"}}"#), true);
        check("", false);
    }

    #[test]
    fn messages_are_known_at_every_depth() {
        let check = |line: &str, wanted| assert_eq!(is_row(line.as_bytes()), wanted, "{line}");
        check(r#"{"jsonrpc":"2.0","id":0,"method":"initialize"}"#, true);
        check(r#"{"direction":"in","message":{"jsonrpc":"2.0","id":0,"result":{}}}"#, true);
        check(r#"{"timestamp":"t","method":"session/update","params":{}}"#, true);
        check(r#"{"sessionId":"s","update":{"sessionUpdate":"plan"}}"#, true);
        check(r#"{"sessionUpdate":"plan"}"#, true);
        check(r#"{"jsonrpc":"1.0"}"#, false);
        check(r#"{"type":"user","message":{"role":"user"}}"#, false);
        check("[]", false);
    }

    #[test]
    fn open_writes_are_bounded() {
        let mut acp = Acp::default();
        let mut said = Vec::new();
        for id in 0..=OPEN_CAP {
            let line = format!(
                r#"{{"id":{id},"method":"fs/write_text_file","params":{{"path":"/w/{id}","content":"x"}}}}"#
            );
            acp.read(&line, 1, &mut |event| {
                said.push(matches!(event, CallEvent::Begin(_)));
            })
            .unwrap();
        }
        assert_eq!(
            (acp.writes.len(), said.len(), said.iter().all(|is_begin| *is_begin)),
            (OPEN_CAP, OPEN_CAP + 1, true)
        );
    }

    fn changes(block: &str) -> Vec<(String, Option<Operation>, ChangeContent)> {
        let block: Block<'_> = serde_json::from_str(block).unwrap();
        of_git_patch(&block)
            .into_iter()
            .map(|change| (change.path, change.operation, change.content))
            .collect()
    }

    #[test]
    fn sections_of_a_patch_go_to_the_files_that_they_name() {
        let one = "diff --git a/src/a b/src/a\n--- a/src/a\n+++ b/src/a\n@@ -1 +1 @@\n-x\n+y\n";
        let gone = "diff --git a/b c b/b c\ndeleted file mode 100644\n--- a/b c\t\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
        let moved = "diff --git a/d b/e\nsimilarity index 100%\nrename from d\nrename to e\n";
        let check = |patch: &str, key: &str, wanted: [ChangeContent; 4]| {
            let patch = serde_json::to_string(patch).unwrap();
            let files = r#"[{"operation":"move","path":"/w/e","oldPath":"/w/d"},{"operation":"delete","path":"/w/b c"},
                {"operation":"modify","path":"/w/src/a"},{"operation":"add","path":"/w/new.png","fileType":"binary"}]"#;
            let block = format!(
                r#"{{"type":"diff","changes":{files},"patch":{{"format":"git_patch","{key}":{patch}}}}}"#
            );
            let found: Vec<ChangeContent> =
                changes(&block).into_iter().map(|(_, _, content)| content).collect();
            assert_eq!(found, wanted, "{patch}");
        };
        let unified = |text: &str| ChangeContent::Unified(text.to_owned());
        let wanted = || [ChangeContent::Hunks(Vec::new()), unified(gone), unified(one), ChangeContent::Path];
        check(&format!("{one}{gone}{moved}"), "text", wanted());
        check(&format!("{moved}{one}{gone}"), "diff", wanted());
        check("", "text", [(); 4].map(|()| ChangeContent::Path));
        // Names without a prefix are whole paths.
        let whole = "diff --git /w/src/a /w/src/a\\n--- /w/src/a\\n+++ /w/src/a\\n@@ -1 +1 @@\\n-x\\n+y\\n";
        let files = r#"[{"operation":"add","path":"/w/b"},{"operation":"modify","path":"/w/src/a"}]"#;
        let block = format!(r#"{{"changes":{files},"patch":{{"format":"git_patch","text":"{whole}"}}}}"#);
        assert_eq!(changes(&block)[1].2, unified(&whole.replace("\\n", "\n")));
        let null = r#"{"type":"diff","changes":[{"operation":"delete","path":"/w/a"},7],"patch":null}"#;
        assert_eq!(changes(null), [("/w/a".to_owned(), Some(Operation::Delete), ChangeContent::Path)]);
    }

    /// What calls ask for and became, as far as it is told in updates.
    fn run(lines: &[&str]) -> Vec<String> {
        let mut acp = Acp::default();
        let mut said = Vec::new();
        for line in lines {
            acp.read(line, 1, &mut |event| match event {
                CallEvent::Amended(begin) => {
                    let Request::Changes(changes) = begin.request else { return };
                    said.push(
                        changes.iter().map(|change| change.path.as_str()).collect::<Vec<_>>().join(" "),
                    );
                }
                CallEvent::Result(result) => said.push(format!("{:?} {:?}", result.status, result.message)),
                CallEvent::Decided { refusal, .. } => said.push(format!("{refusal:?}")),
                _ => {}
            })
            .unwrap();
        }
        said
    }

    #[test]
    fn content_comes_in_chunks() {
        let chunk = |path: &str| {
            format!(
                r#"{{"sessionUpdate":"tool_call_content_chunk","toolCallId":"c","content":{{"type":"diff","changes":[{{"operation":"modify","path":"{path}"}}]}}}}"#
            )
        };
        let whole = r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","kind":"edit","content":[{"type":"diff","changes":[{"operation":"modify","path":"/z"}]}]}"#;
        let ended = r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"cancelled"}"#;
        assert_eq!(
            run(&[&chunk("/a"), &chunk("/b"), whole, &chunk("/c"), ended]),
            ["/a", "/a /b", "/z", "/z /c", "Failed Some(\"cancelled\")"]
        );
    }

    #[test]
    fn a_request_for_permission_has_a_subject() {
        let asked = r#"{"jsonrpc":"2.0","id":5,"method":"session/request_permission","params":{"title":"?","subject":{"type":"tool_call","toolCall":{"toolCallId":"c","kind":"edit"}},"options":[{"optionId":"no","kind":"reject_once"}]}}"#;
        let answered =
            r#"{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"selected","optionId":"no"}}}"#;
        assert_eq!(run(&[asked, answered]), ["Some(\"reject_once\")"]);
    }
}
