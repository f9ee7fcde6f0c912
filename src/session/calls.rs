//! The calls of one stream, each with its own [`Live`]; they may come interleaved.
//!
//! One planner is lent to all of them, so that a call's hunks are placed in the files as the calls before it leave them.
//! A call that can't be applied leaves nothing: its edits are taken back. Calls of tools that edit no file are passed
//! over without being stored.

use std::collections::HashSet;
use std::collections::VecDeque;

use foldhash::fast::FixedState;

use crate::patch::Dialect;
use crate::patch::Patch;
use crate::patch::args::spelling::Effect;
use crate::patch::args::spelling::effect;
use crate::patch::lines::LineBuffer;
use crate::plan::Options;
use crate::plan::Planner;
use crate::report::Code;
use crate::report::Operation;
use crate::report::PreviewEvent;
use crate::report::Problem;

use super::event::CallKey;
use super::event::LiveBegin;
use super::event::LiveBody;
use super::event::LiveEvent;
use super::event::Scope;
use super::event::Words;
use super::frame::decode_piece;
use super::live::Emit;
use super::live::Fill;
use super::live::Input;
use super::live::Live;
use super::live::Shared;
use super::text_patches::Found;
use super::text_patches::TextPatches;

/// So many calls are open at once; a further one is passed over, with a note.
pub const OPEN_CALLS_CAP: usize = 256;
/// So many ids of calls are remembered, to know a repeated one.
const SEEN_CAP: usize = 1 << 16;
/// So many lines are put before the hunks of a file edit that comes without an envelope.
const ENVELOPE_LINES: usize = 2;
/// So many notes are kept.
const NOTES_CAP: usize = 100;

/// How the calls of a stream are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallOptions {
    /// The least time between two previews of a call, in milliseconds.
    pub interval_ms: u64,
    /// How hunks are placed; nothing is placed without.
    pub locate: Option<Options>,
    /// The dialect of patch texts; told from the text without.
    pub dialect: Option<Dialect>,
    /// Patches in what the model says beside its calls count too.
    pub text_patches: bool,
    /// Calls that are over are kept for [`Calls::pop_ended`], with their input.
    pub keeps_ended: bool,
}

/// A call that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedCall {
    /// Its id.
    pub call_id: Option<String>,
    /// The tool; `apply_patch` for a patch that stood in the text.
    pub tool: String,
    /// Its input as it came.
    pub input: Vec<u8>,
    /// Whether the input is JSON.
    pub is_json: bool,
    /// What it asks for.
    pub patch: Patch,
    /// What was tolerated.
    pub notes: Vec<(String, usize)>,
    /// Why it can't be applied: it is malformed, or was cut.
    pub malformed: Option<Problem>,
}

/// Follows the calls of one run.
#[derive(Debug)]
pub struct Calls {
    options: CallOptions,
    shared: Shared,
    open: Vec<Open>,
    /// How many calls there were.
    count: usize,
    seen: HashSet<String, FixedState>,
    ended: VecDeque<EndedCall>,
    notes: Vec<String>,
    was_malformed: bool,
    was_misfit: bool,
    text: Text,
}

#[derive(Debug)]
struct Open {
    /// 1-based position among all calls.
    number: usize,
    key: CallKey<'static>,
    alias: Option<String>,
    call_id: Option<String>,
    tool: String,
    live: Live,
    input: Option<Vec<u8>>,
    is_json: bool,
    may_look: bool,
    /// The input is what stands inside an envelope, which is put around it.
    in_envelope: bool,
    /// The first half of a character whose second half has not come.
    half: Option<u16>,
    has_delta: bool,
    ends_line: bool,
    has_shown: bool,
}

/// What a step of the calls is lent.
pub struct Step<'a, 'f, 'e> {
    /// The time, in milliseconds of the caller's clock.
    pub now_ms: u64,
    /// Fills the planner.
    pub fill: &'a mut Fill<'f>,
    /// Takes what is shown.
    pub emit: &'a mut Emit<'e>,
}

/// How words of a call come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrival {
    /// One piece after the other.
    Piece,
    /// All at once, as the call ends: nothing in between is worth a preview.
    Whole,
}

/// How a call ends.
enum Ending {
    Whole,
    Cut(Box<Problem>),
    /// More may come, but nobody wants it.
    Stopped,
}

impl Calls {
    /// Returns the calls of a run of which nothing has come.
    ///
    /// ```
    /// use hunkwise::session::calls::{CallOptions, Calls, Step};
    /// use hunkwise::session::format::stream::StreamReader;
    /// let options = CallOptions {
    ///     interval_ms: 500, locate: None, dialect: None, text_patches: false, keeps_ended: false,
    /// };
    /// let (mut calls, mut reader, mut shown) = (Calls::new(options), StreamReader::default(), 0);
    /// for payload in [
    ///     r#"{"type":"response.output_item.added","output_index":0,
    ///         "item":{"type":"custom_tool_call","call_id":"c1","name":"apply_patch","input":""}}"#,
    ///     r#"{"type":"response.custom_tool_call_input.delta","output_index":0,
    ///         "delta":"*** Begin Patch\n*** Add File: a\n"}"#,
    /// ] {
    ///     reader.read(payload.as_bytes(), false, &mut |event| {
    ///         calls.take(event, &mut Step { now_ms: 0, fill: &mut |_, _| {}, emit: &mut |_| shown += 1 });
    ///     });
    /// }
    /// assert_eq!(shown, 1);
    /// ```
    pub fn new(options: CallOptions) -> Self {
        Calls {
            options,
            shared: Shared { planner: options.locate.map(Planner::new), seq: 0 },
            open: Vec::new(),
            count: 0,
            seen: HashSet::with_hasher(FixedState::default()),
            ended: VecDeque::new(),
            notes: Vec::new(),
            was_malformed: false,
            was_misfit: false,
            text: Text::default(),
        }
    }

    /// Opens the one call of raw text, which has no id; it is complete when the run ends. Where patches in texts are
    /// looked for, raw text is one of them, and no call by itself.
    pub fn open_raw(&mut self) {
        if self.options.text_patches {
            return;
        }
        let input = Input::text(self.options.dialect.unwrap_or_default());
        self.open(RAW, None, "apply_patch", input);
    }

    /// Takes a piece of raw text.
    pub fn push_raw(&mut self, bytes: &[u8], step: &mut Step<'_, '_, '_>) {
        if self.options.text_patches {
            self.bytes_of_text(bytes, step);
        } else if let Some(index) = self.find(&RAW) {
            self.push(index, bytes, Arrival::Piece, step);
        }
    }

    /// Takes what a stream says.
    pub fn take(&mut self, event: LiveEvent<'_>, step: &mut Step<'_, '_, '_>) {
        match event {
            LiveEvent::Begin(begin) => self.begin(begin, step),
            LiveEvent::Delta { key, text } => {
                if let Some(index) = self.find(&key) {
                    self.words(index, &text, Arrival::Piece, step);
                }
            }
            LiveEvent::End { calls, whole } => {
                for index in self.in_scope(&calls) {
                    if let Some(whole) = whole.as_ref().filter(|_| !self.open[index].has_delta) {
                        self.words(index, whole, Arrival::Whole, step);
                    }
                    self.close(index, Ending::Whole, step);
                }
            }
            LiveEvent::Cut { calls, reason } => {
                for index in self.in_scope(&calls) {
                    self.close(index, Ending::Cut(incomplete(&reason)), step);
                }
            }
            LiveEvent::Text { text } => {
                if self.options.text_patches {
                    self.text(&text, step);
                }
            }
        }
    }

    /// Returns when the next waiting preview must go out; `None` if none waits.
    pub fn due(&self) -> Option<u64> {
        self.open.iter().filter_map(|open| open.live.due()).min()
    }

    /// Says what time it is; previews whose interval is over go out.
    pub fn tick(&mut self, step: &mut Step<'_, '_, '_>) {
        for index in 0..self.open.len() {
            let now_ms = step.now_ms;
            self.lend(index, step, |live, _, emit| live.tick(now_ms, emit));
        }
    }

    /// Ends the input. Raw text is complete; a call of a stream whose end did not come is incomplete.
    pub fn finish(&mut self, step: &mut Step<'_, '_, '_>) {
        if let Some(line) = self.text.lines.take_unfinished() {
            self.line_of_text(&line.1, step);
        }
        while !self.open.is_empty() {
            let open = &self.open[0];
            let ending = if open.key == RAW || open.key == IN_TEXT && open.live.is_outside() {
                Ending::Whole
            } else {
                Ending::Cut(incomplete("the stream ended before it did"))
            };
            self.close(0, ending, step);
        }
    }

    /// Ends the run although more may come.
    pub fn stop(&mut self, step: &mut Step<'_, '_, '_>) {
        while !self.open.is_empty() {
            self.close(0, Ending::Stopped, step);
        }
    }

    /// Tells whether something in a call can't fit, whatever is still to come.
    pub fn cannot_fit(&self) -> bool {
        self.was_misfit || self.open.iter().any(|open| open.live.cannot_fit())
    }

    /// Tells whether a call was malformed or incomplete.
    pub fn is_malformed(&self) -> bool {
        self.was_malformed || self.open.iter().any(|open| open.live.is_malformed())
    }

    /// Returns how many calls that edit files there were.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns what a person should know of the calls that are over.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the next call that is over, in the order in which they ended.
    pub fn pop_ended(&mut self) -> Option<EndedCall> {
        self.ended.pop_front()
    }

    fn begin(&mut self, begin: LiveBegin<'_>, step: &mut Step<'_, '_, '_>) {
        let index = self.find(&begin.key);
        if let Some(index) = index {
            let open = &self.open[index];
            let is_same = match (&open.call_id, &begin.call_id) {
                (Some(known), Some(id)) => known.as_str() == *id,
                // Some servers name tool and id again in every chunk, or the id not.
                (_, None) | (None, _) => open.tool == begin.tool,
            };
            if is_same {
                return;
            }
            self.close(index, Ending::Whole, step);
        }
        let Some(effect) = effect(&begin.tool) else { return };
        if let (true, Some(id)) = (begin.repeats, &begin.call_id) {
            if self.seen.contains(&**id) {
                return;
            }
            if self.seen.len() < SEEN_CAP {
                self.seen.insert(id.to_string());
            }
        }
        if self.open.len() >= OPEN_CALLS_CAP {
            self.note(format!("more than {OPEN_CALLS_CAP} calls are open: one was passed over"));
            return;
        }
        let input = match &begin.body {
            LiveBody::Arguments => Input::args(&begin.tool),
            LiveBody::Text => Input::text(self.options.dialect.unwrap_or_default()),
            LiveBody::Hunks { .. } => Input::enclosed(ENVELOPE_LINES),
        };
        let key = owned(begin.key);
        self.open(key, begin.call_id.map(|id| id.into_owned()), &begin.tool, input);
        let index = self.open.len() - 1;
        self.open[index].alias = begin.alias.map(|alias| alias.into_owned());
        self.open[index].may_look = effect == Effect::MayLook;
        if let LiveBody::Hunks { path, operation } = begin.body {
            self.open_envelope(index, &path, operation, step);
        }
    }

    fn open(&mut self, key: CallKey<'static>, call_id: Option<String>, tool: &str, input: Input) {
        self.count += 1;
        let is_json = matches!(input, Input::Args(_));
        self.open.push(Open {
            number: self.count,
            key,
            alias: None,
            call_id: call_id.clone(),
            tool: tool.to_owned(),
            // The planner is lent with every step.
            live: Live::new(input, call_id, self.options.interval_ms, None),
            input: self.options.keeps_ended.then(Vec::new),
            is_json,
            may_look: false,
            in_envelope: false,
            half: None,
            has_delta: false,
            ends_line: true,
            has_shown: false,
        });
    }

    /// Puts the hunks of one file edit into the envelope that they come without.
    fn open_envelope(&mut self, index: usize, path: &str, operation: Operation, step: &mut Step<'_, '_, '_>) {
        if path.trim().is_empty() || path.contains(['\n', '\r']) {
            let message = "the call names no path that can be a file's".to_owned();
            self.close(index, Ending::Cut(Box::new(Problem::new(Code::Malformed, message))), step);
            return;
        }
        let verb = match operation {
            Operation::Create => "Add",
            Operation::Delete => "Delete",
            Operation::Update | Operation::Rename | Operation::Copy => "Update",
        };
        let head = format!("*** Begin Patch\n*** {verb} File: {path}\n");
        self.open[index].in_envelope = true;
        self.push(index, head.as_bytes(), Arrival::Piece, step);
        self.open[index].has_delta = operation == Operation::Delete;
    }

    fn words(&mut self, index: usize, words: &Words<'_>, arrival: Arrival, step: &mut Step<'_, '_, '_>) {
        match words {
            Words::Plain(text) => self.push(index, text.as_bytes(), arrival, step),
            Words::Quoted(quoted) => {
                let decoded = decode_piece(quoted, &mut self.open[index].half);
                if let Some(text) = decoded {
                    self.push(index, text.as_bytes(), arrival, step);
                }
            }
        }
    }

    fn push(&mut self, index: usize, bytes: &[u8], arrival: Arrival, step: &mut Step<'_, '_, '_>) {
        let Some(last) = bytes.last() else { return };
        let open = &mut self.open[index];
        open.has_delta = true;
        open.ends_line = *last == b'\n';
        if let Some(input) = &mut open.input {
            input.extend_from_slice(bytes);
        }
        let now_ms = step.now_ms;
        self.lend(index, step, |live, fill, emit| match arrival {
            Arrival::Piece => live.push(bytes, now_ms, fill, emit),
            Arrival::Whole => live.push_whole(bytes, fill, emit),
        });
    }

    /// Lends a call what the calls share.
    fn lend(
        &mut self,
        index: usize,
        step: &mut Step<'_, '_, '_>,
        act: impl FnOnce(&mut Live, &mut Fill<'_>, &mut Emit<'_>),
    ) {
        let Calls { shared, open, .. } = self;
        let open = &mut open[index];
        if let Some(planner) = &mut shared.planner {
            planner.enter(open.number);
        }
        open.live.exchange(shared);
        let Open { live, has_shown, may_look, .. } = open;
        let mut unshown = false;
        let mut emit = |event: &PreviewEvent| {
            // A call that only looked is no edit: nothing is said of it.
            unshown |= *may_look && !*has_shown && matches!(event, PreviewEvent::Finish { ok: true, .. });
            if !unshown {
                *has_shown = true;
                (step.emit)(event);
            }
        };
        act(live, step.fill, &mut emit);
        open.live.exchange(shared);
        if unshown {
            shared.seq -= 1;
        }
    }

    fn close(&mut self, index: usize, ending: Ending, step: &mut Step<'_, '_, '_>) {
        if self.open[index].half.take().is_some() {
            self.push(index, "\u{FFFD}".as_bytes(), Arrival::Piece, step);
        }
        match ending {
            Ending::Whole => {
                if self.open[index].in_envelope {
                    let tail = if self.open[index].ends_line { "" } else { "\n" };
                    self.push(index, format!("{tail}*** End Patch\n").as_bytes(), Arrival::Piece, step);
                }
                self.lend(index, step, |live, fill, emit| live.finish(fill, emit));
            }
            Ending::Cut(problem) => self.lend(index, step, |live, _, emit| live.cut(*problem, emit)),
            Ending::Stopped => self.lend(index, step, |live, _, emit| live.stop(emit)),
        }
        // Order tells later calls which came first.
        let open = self.open.remove(index);
        let is_malformed = open.live.is_malformed();
        self.was_malformed |= is_malformed;
        self.was_misfit |= open.live.cannot_fit();
        if let Some(planner) = &mut self.shared.planner {
            planner.settle(open.number, !is_malformed && !open.live.cannot_fit());
        }
        for (note, line) in open.live.notes() {
            let note = match &open.call_id {
                Some(id) => format!("call {id}, line {line}: {note}"),
                None => format!("patch line {line}: {note}"),
            };
            if self.notes.len() < NOTES_CAP {
                self.notes.push(note);
            }
        }
        if let Some(input) = open.input.filter(|_| !open.may_look || open.has_shown || is_malformed) {
            self.ended.push_back(EndedCall {
                call_id: open.call_id,
                tool: open.tool,
                input,
                is_json: open.is_json,
                notes: open.live.notes().to_vec(),
                malformed: open.live.malformed().cloned(),
                patch: open.live.into_patch(),
            });
        }
    }

    fn find(&self, key: &CallKey<'_>) -> Option<usize> {
        self.open.iter().position(|open| open.is_named(key))
    }

    /// Returns the open calls that are meant, in an order in which they can be removed; the oldest is closed first where
    /// several are, as positions move down with every removal.
    fn in_scope(&self, scope: &Scope<'_>) -> Vec<usize> {
        let meant = |open: &Open| match scope {
            Scope::Call(key) => open.is_named(key),
            Scope::Group(group) => matches!(open.key, CallKey::Place(of, _) if of == *group),
            Scope::All => open.key != RAW && open.key != IN_TEXT,
        };
        let found = self.open.iter().enumerate().filter(|(_, open)| meant(open));
        found.enumerate().map(|(before, (index, _))| index - before).collect()
    }

    fn note(&mut self, note: String) {
        if self.notes.len() < NOTES_CAP && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn text(&mut self, words: &Words<'_>, step: &mut Step<'_, '_, '_>) {
        match words {
            Words::Plain(text) => self.bytes_of_text(text.as_bytes(), step),
            Words::Quoted(quoted) => {
                if let Some(text) = decode_piece(quoted, &mut self.text.half) {
                    self.bytes_of_text(text.as_bytes(), step);
                }
            }
        }
    }

    fn bytes_of_text(&mut self, bytes: &[u8], step: &mut Step<'_, '_, '_>) {
        let mut lines: Vec<Vec<u8>> = Vec::new();
        if self.text.lines.push_with_cr(bytes, |_, line| lines.push(line.to_vec())).is_err() {
            self.note("a line of the text is too long: it was passed over".to_owned());
        }
        for line in lines {
            self.line_of_text(&line, step);
        }
    }

    /// Takes a line of the text, which may belong to a patch.
    fn line_of_text(&mut self, line: &[u8], step: &mut Step<'_, '_, '_>) {
        let is_outside = self.find(&IN_TEXT).is_some_and(|index| self.open[index].live.is_outside());
        let mut patches = std::mem::take(&mut self.text.patches);
        patches.line(line, is_outside, &mut |found| match found {
            Found::Begin(dialect) => self.open(IN_TEXT, None, "apply_patch", Input::text(dialect)),
            Found::Line(line) => {
                if let Some(index) = self.find(&IN_TEXT) {
                    self.push(index, &[line, b"\n"].concat(), Arrival::Piece, step);
                }
            }
            Found::End => {
                if let Some(index) = self.find(&IN_TEXT) {
                    self.close(index, Ending::Whole, step);
                }
            }
        });
        self.text.patches = patches;
    }
}

impl Open {
    fn is_named(&self, key: &CallKey<'_>) -> bool {
        self.key == *key || matches!(key, CallKey::Id(id) if self.alias.as_deref() == Some(&**id))
    }
}

/// What the model says beside its calls.
#[derive(Debug, Default)]
struct Text {
    lines: LineBuffer,
    half: Option<u16>,
    patches: TextPatches,
}

/// The call of raw text.
const RAW: CallKey<'static> = CallKey::Place(u64::MAX, 0);
/// The call of a patch that stands in the text.
const IN_TEXT: CallKey<'static> = CallKey::Place(u64::MAX, 1);

fn owned(key: CallKey<'_>) -> CallKey<'static> {
    match key {
        CallKey::Place(group, index) => CallKey::Place(group, index),
        CallKey::Id(id) => CallKey::Id(id.into_owned().into()),
    }
}

fn incomplete(reason: &str) -> Box<Problem> {
    let problem = Problem::new(Code::Malformed, format!("the call is incomplete: {reason}"));
    Box::new(problem.with_hint("send the whole call again; split a long change into several calls"))
}
