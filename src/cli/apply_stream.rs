//! `apply --transport`: each call of a stream is applied when it is complete, one commit a call, in the order in which
//! they end. A call that is refused leaves its files as they are; the next ones go on.

use std::path::Path;

use crate::patch::Body;
use crate::patch::FileEdit;
use crate::plan::Planner;
use crate::report::CommandName;
use crate::report::PreviewEvent;
use crate::session::calls::CallOptions;
use crate::session::calls::Calls;
use crate::session::calls::EndedCall;
use crate::session::calls::Step;

use super::apply::arguments;
use super::apply::no_edits;
use super::apply::options;
use super::args::ApplyArgs;
use super::args::ChangeArgs;
use super::args::Globals;
use super::args::Transport;
use super::change;
use super::change::Request;
use super::exit::Exit;
use super::fail::Fail;
use super::feed::Delta;
use super::feed::Feed;
use super::preview::Message;
use super::preview::listen;
use super::session_log::Turn;
use super::streams::Console;
use super::streams::no_input;
use super::streams::stdin_is_terminal;

/// Runs the command over a stream.
pub fn run(
    args: &ApplyArgs,
    transport: Transport,
    globals: &Globals,
    console: &Console,
) -> Result<Exit, Fail> {
    let input = args.patch.as_deref().filter(|path| *path != Path::new("-"));
    if input.is_none() && stdin_is_terminal() {
        return Err(no_input("stream"));
    }
    // Before anything is read: a root that is not there fails the run, not each call.
    change::open_root(&globals.root)?;
    let call_options = CallOptions {
        interval_ms: u64::MAX,
        locate: None,
        dialect: args.dialect.map(Into::into),
        text_patches: false,
        keeps_ended: true,
    };
    let mut stream = Stream {
        args,
        globals,
        console,
        calls: Calls::new(call_options),
        feed: Feed::new(transport),
        applied: 0,
        turn: Turn::default(),
        exit: Exit::Done,
    };
    let messages = listen(input)?;
    loop {
        match messages.recv().ok() {
            Some(Message::Chunk(chunk)) => {
                let deltas = stream.feed.tape.take(&chunk)?;
                if stream.push(deltas)? {
                    return Ok(stream.exit);
                }
            }
            Some(Message::Resized) => {}
            Some(Message::Interrupted) => return Ok(Exit::Interrupted),
            Some(Message::Failed(error)) => {
                return Err(Fail::io("read", input.unwrap_or(Path::new("standard input")), &error));
            }
            Some(Message::End) | None => return stream.finish(),
        }
    }
}

struct Stream<'a> {
    args: &'a ApplyArgs,
    globals: &'a Globals,
    console: &'a Console,
    calls: Calls,
    feed: Feed,
    applied: usize,
    /// All calls of the stream are one turn in the log.
    turn: Turn,
    exit: Exit,
}

impl Stream<'_> {
    /// Takes what came; tells whether the run ends here.
    fn push(&mut self, deltas: Vec<Delta>) -> Result<bool, Fail> {
        for delta in deltas {
            let text = match &delta {
                Delta::Now(bytes) => bytes.as_slice(),
                Delta::Taped(delta) => delta.text.as_bytes(),
            };
            let (mut fill, mut emit) = silent();
            let mut step = Step { now_ms: 0, fill: &mut fill, emit: &mut emit };
            self.feed.push(text, &mut self.calls, &mut step);
            if self.apply_ended()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn finish(mut self) -> Result<Exit, Fail> {
        let deltas = self.feed.tape.finish()?;
        if self.push(deltas)? {
            return Ok(self.exit);
        }
        let (mut fill, mut emit) = silent();
        let mut step = Step { now_ms: 0, fill: &mut fill, emit: &mut emit };
        self.feed.finish(&mut self.calls, &mut step);
        if self.apply_ended()? {
            return Ok(self.exit);
        }
        for note in self.feed.notes() {
            self.console.note(&note);
        }
        if self.applied == 0 {
            self.console.note("no call in the stream edits a file");
        }
        Ok(self.exit)
    }

    fn apply_ended(&mut self) -> Result<bool, Fail> {
        while let Some(call) = self.calls.pop_ended() {
            self.applied += 1;
            let exit = self.apply(&call)?;
            self.exit = match (exit, self.exit) {
                (Exit::Done, before) => before,
                (Exit::Interrupted, _) => Exit::Interrupted,
                (Exit::NotLogged, _) | (_, Exit::NotLogged) => Exit::NotLogged,
                _ => Exit::Refused,
            };
            let is_refused = !matches!(exit, Exit::Done | Exit::NotLogged);
            if exit == Exit::Interrupted || self.args.stop && is_refused {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn apply(&self, call: &EndedCall) -> Result<Exit, Fail> {
        for (note, line) in &call.notes {
            self.console.note(&format!("patch line {line}: {note}"));
        }
        let is_empty = call.patch.edits.is_empty() && !self.args.allow_empty;
        let refused = call.malformed.clone().or_else(|| is_empty.then(no_edits));
        let request = Request {
            command: CommandName::Apply,
            tool: call.is_json.then(|| tool(call)),
            edits: &call.patch.edits,
            options: options(&self.args.matching),
            refused,
            arguments: &|| if call.is_json { json_of(&call.input) } else { arguments(&call.input) },
            turn: &self.turn,
        };
        let own_id = self.args.change.call_id.clone();
        let change = ChangeArgs { call_id: call.call_id.clone().or(own_id), ..self.args.change.clone() };
        change::run(&request, &change, self.globals, self.console)
    }
}

/// Nothing is placed and nothing shown before a call is complete.
fn silent() -> (impl FnMut(&mut Planner, &FileEdit), impl FnMut(&PreviewEvent)) {
    (|_: &mut Planner, _: &FileEdit| {}, |_: &PreviewEvent| {})
}

/// Returns what a log calls a tool with such arguments.
fn tool(call: &EndedCall) -> &'static str {
    match call.patch.edits.first().map(|edit| &edit.body) {
        _ if call.tool.contains("patch") => "apply_patch",
        Some(Body::Content(_)) => "write",
        Some(Body::Hunks(_) | Body::Delete(_)) | None => "edit",
    }
}

/// Returns arguments as the text that a log takes: what the model wrote, JSON or not.
fn json_of(input: &[u8]) -> String {
    String::from_utf8_lossy(input).into_owned()
}
