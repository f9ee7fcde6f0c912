//! Codex's logs of every generation: rollouts, the streams of `codex exec --json` and of the app server, and the debug log
//! of its terminal front end.
//!
//! ```text
//! rollout   {"timestamp", "type": "session_meta"|"turn_context"|"response_item"|"event_msg"|…, "payload"}
//! older     item | {"id", "timestamp", "instructions"} | {"record_type": "state"}
//! exec      {"type": "thread.…"|"turn.…"|"item.started"|"item.completed", "item"}; older {"id", "msg": event}
//! server    {"method": "item/…"|"turn/…"|"thread/…"|"codex/event/…", "params"} | {"id", "result"}
//! debug     {"ts", "dir", "kind", "payload": {"id", "msg": event}}
//! item      {"type": "custom_tool_call"|"function_call"|"local_shell_call", "call_id", "name", "input"|"arguments"|"action"}
//!           | {"type": "…_output", "call_id", "output"}
//! event     {"type": "patch_apply_begin"|"patch_apply_end", "call_id", "changes", "success", "status", "stdout", "stderr"}
//!           | {"type": "item_started"|"item_completed", "item": {"type": "FileChange"|"CommandExecution", "id", …}}
//! ```
//!
//! A call of apply_patch is told up to three times: by the model's item, by an event with the hunks as they were applied,
//! and by its output. The three have one id; event and output come in either order and make one card. Calls that a
//! script makes (code mode) have ids of their own, and the script's item has another: the events go before the script.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::collections::VecDeque;

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::report::CardStatus;
use crate::report::Operation;
use crate::session::event::Begin;
use crate::session::event::CallEvent;
use crate::session::event::CallResult;
use crate::session::event::ChangeContent;
use crate::session::event::Emit;
use crate::session::event::FileChange;
use crate::session::event::Place;
use crate::session::event::Request;
use crate::session::format::Text;
use crate::session::format::as_text;
use crate::session::format::json_into;
use crate::session::format::lenient;
use crate::session::format::object;
use crate::session::format::verbatim;

use super::answer;
use super::answer::Answer;
use super::changes;
use super::lineage::Lineage;
use super::lineage::TurnMark;
use super::lineage::Turns;
use super::script;
use super::skim;
use super::skim::PLAIN_ITEMS;
use super::skim::PLAIN_LINES;
use super::skim::TOLD_ITEMS;
use super::skim::is_plain_event;

/// What is said of a script that makes its patch while it runs.
const MADE_BY_SCRIPT: &str = "a script made the patch: its content is not recorded";

/// How many calls are remembered, to tell what their events and outputs belong to.
const CALLS_CAP: usize = 1 << 14;

/// How many scripts may be open at once, and how many bytes of patches they may hold.
const SCRIPTS_CAP: usize = 64;
const SCRIPTS_CAP_BYTES: usize = 4 << 20;

/// How many questions to the user may be open at once; more are not remembered.
const OPEN_QUESTIONS_CAP: usize = 1024;

#[derive(Deserialize)]
struct Row<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    ts: Option<&'a RawValue>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
    #[serde(borrow)]
    record_type: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Text<'a>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    msg: Option<&'a RawValue>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    dir: Option<Text<'a>>,
    #[serde(borrow)]
    prompt: Option<&'a RawValue>,
    #[serde(borrow)]
    workdir: Option<&'a RawValue>,
    #[serde(borrow)]
    thread_id: Option<Text<'a>>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    timestamp: Option<Text<'a>>,
    #[serde(borrow)]
    forked_from_id: Option<Text<'a>>,
    #[serde(borrow)]
    cwd: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    call_id: Option<Text<'a>>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    input: Option<Text<'a>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    action: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    changes: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<Text<'a>>,
    success: Option<bool>,
    #[serde(borrow)]
    stdout: Option<Text<'a>>,
    #[serde(borrow)]
    stderr: Option<Text<'a>>,
    #[serde(borrow)]
    command: Option<&'a RawValue>,
    #[serde(borrow)]
    cwd: Option<Text<'a>>,
    #[serde(borrow, alias = "exitCode")]
    exit_code: Option<&'a RawValue>,
    #[serde(borrow, alias = "aggregatedOutput")]
    aggregated_output: Option<Text<'a>>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow, alias = "turnId")]
    turn_id: Option<Text<'a>>,
    #[serde(borrow)]
    turn: Option<&'a RawValue>,
    #[serde(borrow)]
    decision: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Approval<'a> {
    #[serde(borrow)]
    item_id: Option<Text<'a>>,
    #[serde(borrow)]
    call_id: Option<Text<'a>>,
    #[serde(borrow)]
    file_changes: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Decision<'a> {
    #[serde(borrow)]
    decision: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    id: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct ScriptArguments<'a> {
    #[serde(borrow)]
    input: Text<'a>,
}

/// How good a piece of a result is; the best one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The end of a command.
    Command,
    /// What the model was answered.
    Output,
    /// The record of the patch.
    Patch,
}

/// What is known of a call that has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// The model's item began it.
    ByModel,
    /// An event began it.
    ByEvent,
    /// A result has ended it: other pieces of the result are no news.
    Ended,
}

/// A result that waits for its other half.
#[derive(Debug)]
struct Held {
    rank: Rank,
    result: CallResult,
}

/// A script that has begun and may have made patches.
#[derive(Debug)]
struct OpenScript {
    call_id: String,
    /// The patches that no event has told of.
    patches: Vec<String>,
    /// It calls apply_patch once, and no other tool.
    is_one_call: bool,
    has_events: bool,
}

/// Reads lines, one after the other.
#[derive(Debug, Default)]
pub struct Codex {
    turns: Turns,
    lineage: Lineage,
    calls: HashMap<String, Told>,
    call_order: VecDeque<String>,
    held: Vec<Held>,
    scripts: VecDeque<OpenScript>,
    /// Questions to the user that wait for an answer: their id to the call's.
    questions: BTreeMap<String, String>,
    thread_id: Option<String>,
    unknown_events: usize,
    inherited_calls: usize,
    has_unsure_note: bool,
}

impl Codex {
    /// Returns how many lines, items and events were of a type that is not known.
    pub fn unknown_events(&self) -> usize {
        self.unknown_events
    }

    /// Returns how many calls were the parent session's.
    pub fn inherited_calls(&self) -> usize {
        self.inherited_calls
    }

    /// Tells, without parsing, whether a line is worth parsing; `knows` tells of a call id whether its result matters.
    pub fn proposes(&self, line: &[u8], knows: impl Fn(&str) -> bool) -> bool {
        // What comes after a result decides when it is told.
        if !self.held.is_empty() {
            return !line.trim_ascii().is_empty();
        }
        let knows = |call_id: &str| knows(call_id) || self.calls.contains_key(call_id);
        skim::proposes(line, knows)
    }

    /// Reads one line that [`proposes`](Self::proposes) lets through.
    ///
    /// # Errors
    /// The line is no JSON object.
    pub fn read(&mut self, text: &str, line: usize, emit: &mut Emit<'_>) -> Result<(), serde_json::Error> {
        let row: Row<'_> = object(text)?;
        if let Some(message) = row.message.filter(|_| row.kind.is_none() && row.method.is_none())
            && message.get().starts_with('{')
        {
            // Some clients put their own words around what they were sent.
            let inner: Row<'_> = serde_json::from_str(message.get())?;
            let timestamp = inner.timestamp.or(row.timestamp).or(row.ts);
            self.row(message.get(), &Row { timestamp, ..inner }, line, emit);
            return Ok(());
        }
        self.row(text, &row, line, emit);
        Ok(())
    }

    /// Ends the log: says what was held back.
    pub fn finish(&mut self, emit: &mut Emit<'_>) {
        self.release(emit);
    }

    fn row(&mut self, text: &str, row: &Row<'_>, line: usize, emit: &mut Emit<'_>) {
        let time = row.timestamp.or(row.ts).map(verbatim);
        let mut reading = Reading { codex: self, line, time, is_stream: false, emit };
        let kind = row.kind.as_deref().unwrap_or_default();
        match (kind, row.payload) {
            ("session_meta", Some(payload)) => reading.session(payload),
            ("turn_context", Some(payload)) => reading.turn(TurnMark::Context, Some(payload)),
            ("response_item", Some(payload)) => reading.item(payload),
            ("event_msg", Some(payload)) => reading.event(payload, None),
            (_, Some(payload)) if row.dir.is_some() => reading.debug(payload),
            _ if row.record_type.is_some() => {}
            _ if row.method.is_some() => {
                let method = row.method.as_deref().unwrap_or_default();
                reading.server(method, row.id, row.params);
            }
            _ if row.msg.is_some() => {
                let id = row.id.map(verbatim);
                if let Some(msg) = row.msg {
                    reading.event(msg, id.as_deref());
                }
            }
            ("item.started" | "item.updated" | "item.completed", _) => {
                reading.is_stream = true;
                reading.turn_item(row.item, kind == "item.completed");
            }
            ("turn.started", _) => reading.turn(TurnMark::Started, None),
            ("thread.started", _) => {
                // Every run counts its items anew.
                reading.codex.calls.clear();
                reading.codex.thread_id = row.thread_id.as_deref().map(str::to_owned);
            }
            _ if ["item.", "turn.", "thread."].iter().any(|start| kind.starts_with(start)) => {}
            ("", _) => {
                if let (Some(id), Some(result)) = (row.id, row.result) {
                    reading.answered(id, result);
                }
                let is_known = row.id.is_some()
                    || row.prompt.is_some()
                    || row.workdir.is_some()
                    || row.error.is_some()
                    || row.dir.is_some();
                reading.codex.unknown_events += usize::from(!is_known);
            }
            (kind, _) if PLAIN_LINES.contains(&kind) => reading.codex.release(reading.emit),
            _ => {
                if let Ok(whole) = serde_json::from_str::<&RawValue>(text) {
                    reading.item(whole);
                }
            }
        }
    }

    fn remember(&mut self, call_id: &str, told: Told) {
        if self.calls.insert(call_id.to_owned(), told).is_some() {
            return;
        }
        self.call_order.push_back(call_id.to_owned());
        if self.call_order.len() > CALLS_CAP
            && let Some(oldest) = self.call_order.pop_front()
        {
            self.calls.remove(&oldest);
        }
    }

    /// Says every result that waits for its other half.
    fn release(&mut self, emit: &mut Emit<'_>) {
        for held in std::mem::take(&mut self.held) {
            self.tell(held.result, emit);
        }
    }

    /// Says a result; of a script only what no event has said.
    fn tell(&mut self, result: CallResult, emit: &mut Emit<'_>) {
        self.remember(&result.call_id, Told::Ended);
        let Some(at) = self.scripts.iter().position(|script| script.call_id == result.call_id) else {
            emit(CallEvent::Result(Box::new(result)));
            return;
        };
        let Some(script) = self.scripts.remove(at) else { return };
        if !script.has_events {
            emit(CallEvent::Result(Box::new(of_script(result, &script))));
            return;
        }
        emit(CallEvent::Superseded { call_id: script.call_id.as_str().into() });
        if script.patches.is_empty() {
            return;
        }
        // The rest of its patches was not recorded as the others were, so it was not applied as they were.
        let status = match result.status {
            CardStatus::Applied | CardStatus::Partial => CardStatus::Unknown,
            status => status,
        };
        emit(CallEvent::Begin(Begin {
            call_id: script.call_id.as_str().into(),
            tool: "exec".into(),
            request: Request::Patch(script.patches.join("\n").into()),
            place: result.place.clone(),
        }));
        emit(CallEvent::Result(Box::new(CallResult { status, ..result })));
    }

    fn open_script(&mut self, call_id: &str, script: script::Script) {
        let script::Script { patches, calls, tools } = script;
        let is_one_call = calls == 1 && tools <= 1;
        self.scripts.push_back(OpenScript {
            call_id: call_id.to_owned(),
            patches,
            is_one_call,
            has_events: false,
        });
        let held = |script: &OpenScript| script.patches.iter().map(String::len).sum::<usize>();
        while self.scripts.len() > SCRIPTS_CAP
            || self.scripts.iter().map(held).sum::<usize>() > SCRIPTS_CAP_BYTES
        {
            self.scripts.pop_front();
        }
    }

    /// Finds the open script that made a change of these files, and takes the patch from it.
    fn claim(&mut self, changes: &[FileChange]) -> Option<String> {
        let names = |patch: &String| {
            let paths = paths_of(patch);
            !paths.is_empty() && paths.iter().all(|path| changes.iter().any(|change| is_of(change, path)))
        };
        for script in &mut self.scripts {
            if let Some(at) = script.patches.iter().position(names) {
                script.patches.remove(at);
                script.has_events = true;
                return script.patches.is_empty().then(|| script.call_id.clone());
            }
        }
        // A script that computes its patches may have made any.
        let made = self.scripts.iter_mut().rev().find(|script| script.patches.is_empty())?;
        made.has_events = true;
        None
    }
}

/// One line while it is read.
struct Reading<'r, 'e> {
    codex: &'r mut Codex,
    line: usize,
    time: Option<String>,
    /// The log is a stream that holds only the paths of changes.
    is_stream: bool,
    emit: &'r mut Emit<'e>,
}

impl Reading<'_, '_> {
    fn place(&self) -> Place {
        Place { line: self.line, turn: self.codex.turns.current(), time: self.time.clone() }
    }

    fn is_copied(&mut self) -> bool {
        self.codex.lineage.is_copied(self.time.as_deref())
    }

    fn release(&mut self) {
        self.codex.release(self.emit);
    }

    fn session(&mut self, payload: &RawValue) {
        self.release();
        let Some(meta) = lenient::<Meta<'_>>(Some(payload)) else { return };
        let created = meta.timestamp.as_deref();
        let is_own = self.codex.lineage.session(meta.id.as_deref(), created, meta.forked_from_id.is_some());
        if is_own {
            self.folder(meta.cwd);
        }
    }

    fn folder(&mut self, folder: Option<Text<'_>>) {
        if let Some(folder) = folder {
            (self.emit)(CallEvent::Folder(folder.0));
        }
    }

    fn turn(&mut self, mark: TurnMark, payload: Option<&RawValue>) {
        self.release();
        let item: Option<Item<'_>> = lenient(payload);
        let turn: Option<Named<'_>> = lenient(item.as_ref().and_then(|item| item.turn));
        let (id, folder) = item.map(|item| (item.turn_id, item.cwd)).unwrap_or_default();
        let id = id.or(turn.and_then(|turn| turn.id));
        if let Some(id) = &id {
            self.codex.lineage.turn(id);
        }
        if !self.is_copied() {
            self.codex.turns.mark(mark, id.as_deref());
            self.folder(folder);
        }
    }

    /// Reads an item of the model's conversation.
    fn item(&mut self, raw: &RawValue) {
        let Some(item) = lenient::<Item<'_>>(Some(raw)) else {
            self.codex.unknown_events += 1;
            return;
        };
        let kind = item.kind.as_deref().unwrap_or_default();
        if kind != "message" && !self.is_copied() {
            self.codex.turns.work();
        }
        if !matches!(kind, "custom_tool_call_output" | "function_call_output") {
            self.release();
        }
        match kind {
            "custom_tool_call_output" | "function_call_output" => self.output(item),
            "custom_tool_call" => self.custom_call(item),
            "function_call" => self.function_call(item),
            "local_shell_call" => {
                let action = item.action.map(RawValue::get).unwrap_or_default();
                if let Some(id) = item.call_id.or(item.id) {
                    self.begin(&id, "local_shell_call", Request::Arguments(action.into()), Told::ByModel);
                }
            }
            kind => self.codex.unknown_events += usize::from(!PLAIN_ITEMS.contains(&kind)),
        }
    }

    fn custom_call(&mut self, item: Item<'_>) {
        let (Some(id), Some(name), Some(input)) = (item.call_id.or(item.id), item.name, item.input) else {
            return;
        };
        match name.as_ref() {
            "exec" => self.script(&id, &input),
            "apply_patch" | "applypatch" => {
                self.begin(&id, &name, Request::Patch(input.0), Told::ByModel);
            }
            _ if input.trim_start().starts_with("*** Begin Patch") => {
                self.begin(&id, &name, Request::Patch(input.0), Told::ByModel);
            }
            _ => {}
        }
    }

    fn function_call(&mut self, item: Item<'_>) {
        let (Some(id), Some(name)) = (item.call_id.or(item.id), item.name) else { return };
        let arguments = item.arguments.map(|raw| {
            // Not what the format says where it is an object, but not to be misunderstood either.
            lenient::<Text<'_>>(Some(raw)).map_or(raw.get().into(), |text| text.0)
        });
        let arguments = arguments.unwrap_or_default();
        if name.as_ref() == "exec"
            && let Ok(script) = serde_json::from_str::<ScriptArguments<'_>>(&arguments)
        {
            return self.script(&id, &script.input);
        }
        self.begin(&id, &name, Request::Arguments(arguments), Told::ByModel);
    }

    fn script(&mut self, id: &str, source: &str) {
        let script = script::read(source);
        if script.calls == 0 && script.patches.is_empty() {
            return;
        }
        let request = match script.patches.as_slice() {
            [] => Request::Changes(Vec::new()),
            patches => Request::Patch(patches.join("\n").into()),
        };
        if self.begin(id, "exec", request, Told::ByModel) {
            self.codex.open_script(id, script);
        }
    }

    /// Says that a call begins; tells whether it is news.
    fn begin(&mut self, id: &str, tool: &str, request: Request<'_>, told: Told) -> bool {
        if self.is_copied() {
            self.codex.inherited_calls += 1;
            return false;
        }
        // A copy of a call of the model's, or another call with its id, is told apart where all calls are known.
        match (self.codex.calls.get(id), told) {
            (Some(_), Told::ByEvent) | (Some(Told::ByEvent), _) => return false,
            _ => self.codex.remember(id, told),
        }
        if self.codex.lineage.is_unsure() && !self.codex.has_unsure_note {
            self.codex.has_unsure_note = true;
            let line = self.line;
            (self.emit)(CallEvent::Note(format!(
                "line {line}: the log may repeat calls of the session that it was forked from: nothing tells where its own begin"
            )));
        }
        let place = self.place();
        (self.emit)(CallEvent::Begin(Begin { call_id: id.into(), tool: tool.into(), request, place }));
        true
    }

    fn output(&mut self, item: Item<'_>) {
        if self.is_copied() {
            return;
        }
        let Some(id) = item.call_id.or(item.id) else { return };
        let mut answer = answer::read(item.output);
        if item.success == Some(false) && answer.status == CardStatus::Unknown {
            answer.status = CardStatus::Failed;
        }
        // A script that goes on has not said its last word; what it changes is told by events.
        let is_script = self.codex.scripts.iter().any(|script| script.call_id == *id);
        if answer.is_running && is_script {
            return;
        }
        let result = self.result(&id, answer);
        self.piece(Rank::Output, result);
    }

    fn result(&self, id: &str, answer: Answer) -> CallResult {
        let result = CallResult::new(id.to_owned(), self.place(), answer.status);
        let changes = answer.summary.into_iter().map(|(letter, path)| {
            let operation = match letter {
                'A' => Operation::Create,
                'D' => Operation::Delete,
                _ => Operation::Update,
            };
            FileChange { operation: Some(operation), ..FileChange::new(path, ChangeContent::Path) }
        });
        // What apply_patch lists is only of use where the call itself names no files.
        let is_needed =
            self.codex.scripts.iter().any(|script| script.call_id == id && script.patches.is_empty());
        let changes = if is_needed { changes.collect() } else { Vec::new() };
        CallResult { message: answer.message, changes, ..result }
    }

    /// Takes in a piece of a call's result: says it, keeps it for the next one, or drops it.
    fn piece(&mut self, rank: Rank, result: CallResult) {
        if let Some(at) = self.codex.held.iter().position(|held| held.result.call_id == result.call_id) {
            let held = self.codex.held.remove(at);
            let is_whole = rank.max(held.rank) == Rank::Patch && rank.min(held.rank) == Rank::Output;
            let rank_before = held.rank;
            let merged = merged(held, Held { rank, result });
            if is_whole {
                self.codex.tell(merged, self.emit);
            } else {
                let rank = rank.max(rank_before);
                self.codex.held.insert(at, Held { rank, result: merged });
            }
            return;
        }
        match self.codex.calls.get(&result.call_id) {
            // The other half of what was told.
            Some(Told::Ended) => {}
            None => (self.emit)(CallEvent::Result(Box::new(result))),
            Some(told) => {
                // Only a call of the model's has an output, which may say why.
                let is_all = *told == Told::ByEvent
                    || result.status == CardStatus::Applied
                    || result.message.is_some();
                if rank == Rank::Patch && is_all {
                    self.codex.tell(result, self.emit);
                } else {
                    self.codex.held.push(Held { rank, result });
                }
            }
        }
    }

    /// Reads an event; `id` is that of the request that it answers.
    fn event(&mut self, raw: &RawValue, id: Option<&str>) {
        let Some(event) = lenient::<Item<'_>>(Some(raw)) else {
            self.codex.unknown_events += 1;
            return;
        };
        let kind = event.kind.as_deref().unwrap_or_default();
        match kind {
            "patch_apply_begin" | "patch_apply_end" => {
                if let Some(id) = &event.call_id {
                    self.file_change(id, &event, kind == "patch_apply_end");
                }
            }
            "exec_command_begin" | "exec_command_end" => {
                if let Some(id) = &event.call_id {
                    self.command(id, &event, kind == "exec_command_end");
                }
            }
            "item_started" | "item_completed" => self.turn_item(event.item, kind == "item_completed"),
            "raw_response_item" => {
                if let Some(item) = event.item {
                    self.item(item);
                }
            }
            "apply_patch_approval_request" => {
                if let Some(call_id) = event.call_id {
                    let request = Request::Changes(changes::read(event.changes));
                    self.begin(&call_id, "apply_patch", request, Told::ByEvent);
                    self.asked(&call_id, &call_id);
                    if let Some(id) = id {
                        self.asked(id, &call_id);
                    }
                }
            }
            "task_started" | "turn_started" => self.turn(TurnMark::Started, Some(raw)),
            "user_message" => self.turn(TurnMark::UserMessage, None),
            "thread_rolled_back" => {
                self.release();
                let line = self.line;
                (self.emit)(CallEvent::Note(format!(
                    "line {line}: turns were taken back here; their edits were made on disk, and stay"
                )));
            }
            "token_count" => {}
            kind => {
                self.release();
                self.codex.unknown_events += usize::from(!is_plain_event(kind));
            }
        }
    }

    /// Reads an item of the user's view of a turn.
    fn turn_item(&mut self, raw: Option<&RawValue>, is_completed: bool) {
        let Some(item) = lenient::<Item<'_>>(raw) else { return };
        let Some(id) = &item.id else { return };
        match item.kind.as_deref() {
            Some("FileChange" | "fileChange" | "file_change") => self.file_change(id, &item, is_completed),
            Some("CommandExecution" | "commandExecution" | "command_execution") => {
                self.command(id, &item, is_completed);
            }
            _ => self.release(),
        }
    }

    /// Returns what is said of a change of which a stream has only the path.
    fn only_paths(&self) -> String {
        let thread = self.codex.thread_id.as_deref().unwrap_or("the thread");
        format!("content not recorded in this stream; the rollout of {thread} has it")
    }

    fn file_change(&mut self, id: &str, item: &Item<'_>, is_completed: bool) {
        if self.is_copied() {
            return;
        }
        let changes = changes::read(item.changes);
        if !self.codex.calls.contains_key(id) {
            let superseded = self.codex.claim(&changes);
            // The script's item gets no card once all of its patches are told by events.
            if let Some(script) = superseded {
                self.codex.scripts.retain(|open| open.call_id != script);
                self.codex.held.retain(|held| held.result.call_id != script);
                self.codex.remember(&script, Told::Ended);
                (self.emit)(CallEvent::Superseded { call_id: script.into() });
            }
            self.begin(id, "apply_patch", Request::Changes(changes.clone()), Told::ByEvent);
        }
        let status = match (item.status.as_deref(), item.success) {
            (Some("completed"), _) => CardStatus::Applied,
            (Some("failed"), _) => CardStatus::Failed,
            (Some("declined"), _) => CardStatus::Rejected,
            (None, Some(true)) => CardStatus::Applied,
            (None, Some(false)) => CardStatus::Failed,
            _ => CardStatus::Unknown,
        };
        if !is_completed {
            return;
        }
        let said = |text: &Option<Text<'_>>| {
            text.as_deref().map(str::trim_end).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let message = said(&item.stderr).or_else(|| said(&item.stdout)).or_else(|| error_of(item.error));
        let result = CallResult::new(id.to_owned(), self.place(), status);
        let is_drawn = !matches!(status, CardStatus::Failed | CardStatus::Rejected);
        let notes = (self.is_stream && is_drawn).then(|| self.only_paths()).into_iter().collect();
        self.piece(Rank::Patch, CallResult { message, changes, notes, ..result });
    }

    /// Reads a command that ends, or one that only such items tell of.
    fn command(&mut self, id: &str, item: &Item<'_>, is_completed: bool) {
        if self.is_copied() {
            return;
        }
        if !self.codex.calls.contains_key(id) {
            let Some(command) = item.command else { return };
            if memmem::find(command.get().as_bytes(), b"apply").is_none() {
                return;
            }
            let mut arguments = format!("{{\"command\":{}", command.get()).into_bytes();
            if let Some(cwd) = &item.cwd {
                arguments.extend_from_slice(b",\"workdir\":");
                json_into(&mut arguments, &**cwd);
            }
            arguments.push(b'}');
            let arguments = String::from_utf8_lossy(&arguments).into_owned();
            self.begin(id, "shell", Request::Arguments(arguments.into()), Told::ByEvent);
        }
        if !is_completed {
            return;
        }
        let said = item.aggregated_output.as_ref().or(item.stdout.as_ref()).or(item.stderr.as_ref());
        let exit_code = lenient(item.exit_code);
        let mut answer = answer::of_command(exit_code, said.map_or("", |text| text));
        match item.status.as_deref() {
            Some("declined") => answer.status = CardStatus::Rejected,
            Some("failed") if answer.status == CardStatus::Unknown => answer.status = CardStatus::Failed,
            Some("completed") if answer.status == CardStatus::Unknown => answer.status = CardStatus::Applied,
            _ => {}
        }
        let result = self.result(id, answer);
        self.piece(Rank::Command, result);
    }

    /// Reads a line of the terminal's debug log.
    fn debug(&mut self, payload: &RawValue) {
        let Ok(row) = object::<Row<'_>>(payload.get()) else { return };
        let id = row.id.map(verbatim);
        match (row.msg, row.kind.as_deref()) {
            (Some(msg), _) => self.event(msg, id.as_deref()),
            (None, Some("patch_approval")) => {
                let item: Option<Item<'_>> = lenient(Some(payload));
                if let (Some(id), Some(item)) = (id, item) {
                    self.decided(&id, lenient(item.decision));
                }
            }
            _ => {}
        }
    }

    /// Reads a notification or a question of the app server.
    fn server(&mut self, method: &str, id: Option<&RawValue>, params: Option<&RawValue>) {
        let holder: Option<Item<'_>> = lenient(params);
        match method {
            "item/started" | "item/completed" => {
                self.turn_item(holder.and_then(|holder| holder.item), method == "item/completed");
            }
            "turn/started" => self.turn(TurnMark::Started, params),
            "rawResponseItem/completed" => {
                if let Some(item) = holder.and_then(|holder| holder.item) {
                    self.item(item);
                }
            }
            "item/fileChange/requestApproval" | "applyPatchApproval" => {
                let Some(approval) = lenient::<Approval<'_>>(params) else { return };
                let Some(call_id) = approval.item_id.or(approval.call_id) else { return };
                if let Some(changes) = approval.file_changes {
                    let request = Request::Changes(changes::read(Some(changes)));
                    self.begin(&call_id, "apply_patch", request, Told::ByEvent);
                }
                if let Some(id) = id {
                    self.asked(id.get(), &call_id);
                }
            }
            _ if method.starts_with("codex/event") => {
                let row = params.and_then(|params| object::<Row<'_>>(params.get()).ok());
                if let Some(msg) = row.and_then(|row| row.msg) {
                    self.event(msg, None);
                }
            }
            // Pieces of what comes whole later, and what tells of other things.
            _ => {}
        }
    }

    fn asked(&mut self, id: &str, call_id: &str) {
        if self.codex.questions.len() < OPEN_QUESTIONS_CAP {
            self.codex.questions.insert(id.to_owned(), call_id.to_owned());
        }
    }

    fn answered(&mut self, id: &RawValue, result: &RawValue) {
        if self.codex.questions.contains_key(id.get()) {
            self.decided(id.get(), lenient::<Decision<'_>>(Some(result)).and_then(|result| result.decision));
        }
    }

    fn decided(&mut self, id: &str, decision: Option<Text<'_>>) {
        let Some(call_id) = self.codex.questions.remove(id) else { return };
        let Some(decision) = decision else { return };
        let is_allowed = decision.starts_with("accept") || decision.starts_with("approved");
        let refusal = (!is_allowed).then_some(decision.0);
        (self.emit)(CallEvent::Decided { call_id: call_id.into(), refusal });
    }
}

/// Returns the result of a script of which no event tells.
fn of_script(result: CallResult, script: &OpenScript) -> CallResult {
    let notes = script.patches.is_empty().then(|| MADE_BY_SCRIPT.to_owned()).into_iter().collect();
    // A script may fail after its patches were applied: only where it makes one call do they fail together.
    let status = match result.status {
        CardStatus::Failed if !script.is_one_call => CardStatus::Unknown,
        status => status,
    };
    CallResult { status, notes, ..result }
}

/// Brings two pieces of a call's result together: the better one counts, and the other one fills it up.
fn merged(one: Held, other: Held) -> CallResult {
    let (best, other) = if one.rank > other.rank { (one, other) } else { (other, one) };
    let (best, other) = (best.result, other.result);
    let status = match (best.status, other.status) {
        (CardStatus::Unknown, status) => status,
        (CardStatus::Failed, CardStatus::Rejected) => CardStatus::Rejected,
        (status, _) => status,
    };
    CallResult { status, message: best.message.or(other.message), ..best }
}

/// Returns the paths in the headers of a patch.
fn paths_of(patch: &str) -> Vec<&str> {
    const HEADERS: [&str; 3] = ["*** Add File: ", "*** Delete File: ", "*** Update File: "];
    let path = |line| HEADERS.iter().find_map(|header| str::strip_prefix(line, header));
    patch.lines().filter_map(path).map(str::trim_end).collect()
}

/// Tells whether a change is one of the path that a patch names: patches have relative ones, events absolute ones.
fn is_of(change: &FileChange, path: &str) -> bool {
    let recorded = change.from.as_deref().unwrap_or(&change.path);
    let path = path.strip_prefix("./").unwrap_or(path);
    recorded.strip_suffix(path).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
}

fn error_of(raw: Option<&RawValue>) -> Option<String> {
    #[derive(Deserialize)]
    struct Told {
        message: String,
    }
    lenient::<String>(raw).or_else(|| lenient::<Told>(raw).map(|told| told.message))
}

/// Tells whether a log of this format may hold such a line; the line may be cut.
pub fn is_row(line: &[u8]) -> bool {
    let row = as_text(line).and_then(|text| object::<Row<'_>>(text).ok());
    let Some(row) = row else {
        // The first line holds the instructions, and may be longer than what is looked at.
        let begins = |head: skim::Head<'_>| {
            head.kind == b"session_meta" && memmem::find(line, br#""payload":{"#).is_some()
        };
        return skim::head(line).is_some_and(begins);
    };
    let method = |row: &Row<'_>| {
        let method = row.method.as_deref().unwrap_or_default();
        ["item/", "turn/", "thread/", "codex/event", "rawResponseItem/"]
            .iter()
            .any(|start| method.starts_with(start))
    };
    let inner = row.message.and_then(|message| object::<Row<'_>>(message.get()).ok());
    if method(&row) || inner.as_ref().is_some_and(method) {
        return true;
    }
    match row.kind.as_deref() {
        Some("session_meta" | "response_item" | "event_msg" | "turn_context" | "compacted") => {
            row.payload.is_some()
        }
        Some(kind) if kind.starts_with("thread.") => true,
        Some("turn.started" | "turn.completed" | "turn.failed") => true,
        Some("item.started" | "item.updated" | "item.completed") => row.item.is_some(),
        Some(kind) if TOLD_ITEMS.contains(&kind) => {
            lenient_item(line).is_some_and(|item| item.call_id.is_some() || item.action.is_some())
        }
        Some(_) => false,
        None if row.record_type.is_some() => {
            lenient(row.record_type).is_some_and(|kind: Text<'_>| &*kind == "state")
        }
        None if row.dir.is_some() => is_debug(line),
        None if row.msg.is_some() => {
            row.id.is_some()
                && row
                    .msg
                    .and_then(|msg| lenient::<Item<'_>>(Some(msg)))
                    .is_some_and(|msg| msg.kind.is_some())
        }
        None => row.id.is_some() && row.timestamp.is_some() && has_key(line, br#""instructions""#),
    }
}

fn lenient_item(line: &[u8]) -> Option<Item<'_>> {
    serde_json::from_slice(line).ok()
}

fn is_debug(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Debug<'a> {
        #[serde(borrow)]
        dir: Text<'a>,
        #[serde(borrow, rename = "kind")]
        _kind: Text<'a>,
    }
    serde_json::from_slice::<Debug<'_>>(line)
        .is_ok_and(|debug| matches!(&*debug.dir, "to_tui" | "from_tui" | "meta"))
}

fn has_key(line: &[u8], key: &[u8]) -> bool {
    memmem::find(line, key).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_while_a_result_waits() {
        let mut codex = Codex::default();
        let mut said = Vec::new();
        let mut read = |codex: &mut Codex, text: &str| {
            codex
                .read(text, 1, &mut |event| {
                    said.push(match event {
                        CallEvent::Begin(begin) => format!("begin {}", begin.call_id),
                        CallEvent::Result(result) => format!("{:?} {}", result.status, result.call_id),
                        event => format!("{event:?}"),
                    });
                })
                .unwrap();
        };
        let message = r#"{"type":"message","role":"assistant"}"#;
        read(&mut codex, r#"{"type":"custom_tool_call","name":"apply_patch","call_id":"c","input":"x"}"#);
        assert!(!codex.proposes(message.as_bytes(), |_| false));
        read(&mut codex, r#"{"type":"custom_tool_call_output","call_id":"c","output":"Done!"}"#);
        assert!(codex.proposes(message.as_bytes(), |_| false));
        read(&mut codex, message);
        assert!(!codex.proposes(message.as_bytes(), |_| false));
        assert_eq!(said, ["begin c", "Applied c"]);
    }

    #[test]
    fn rows_of_every_generation_are_known() {
        let check = |line: &str, wanted| assert_eq!(is_row(line.as_bytes()), wanted, "{line}");
        check(r#"{"timestamp":"t","type":"session_meta","payload":{"id":"a"}}"#, true);
        check(
            r#"{"timestamp":"t","type":"session_meta","payload":{"id":"a","base_instructions":"cut o"#,
            true,
        );
        check(r#"{"id":"a","timestamp":"t","instructions":null}"#, true);
        check(r#"{"record_type":"state"}"#, true);
        check(r#"{"type":"function_call","name":"shell","arguments":"{}","call_id":"c"}"#, true);
        check(r#"{"type":"thread.started","thread_id":"t"}"#, true);
        check(r#"{"type":"item.completed","item":{}}"#, true);
        check(r#"{"id":"0","msg":{"type":"task_started"}}"#, true);
        check(r#"{"method":"item/started","params":{}}"#, true);
        check(r#"{"direction":"in","message":{"method":"turn/started"}}"#, true);
        check(r#"{"ts":"t","dir":"meta","kind":"session_start"}"#, true);
        check(r#"{"type":"message","role":"user"}"#, false);
        check(r#"{"type":"session","id":"s","timestamp":"t","cwd":"/w"}"#, false);
        check(r#"{"type":"tool/call","data":{}}"#, false);
        check(r#"{"jsonrpc":"2.0","method":"session/update","params":{}}"#, false);
        check(r#"{"type":"response.created","response":{}}"#, false);
        check("[1]", false);
    }
}
