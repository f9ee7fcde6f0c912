//! `replay`: stored session logs to cards. Opens the logs and nothing else.
//!
//! Several logs are read at once and printed in the order in which they are named: a log that is ahead of its turn
//! waits when too much is drawn of those that are.

use std::collections::HashMap;
use std::io;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;

use crate::disk::input::Blocks;
use crate::disk::input::length_of;
use crate::render::style::Style;
use crate::report::Card;
use crate::report::Code;
use crate::report::Problem;
use crate::session::Replay;
use crate::session::ReplayError;
use crate::session::ReplayOptions;
use crate::session::ReplaySummary;
use crate::session::format::DetectError;
use crate::session::format::Format;

use super::args::CardOutput;
use super::args::ReplayArgs;
use super::exit::Exit;
use super::fail::Fail;
use super::filter::Filter;
use super::logs::Log;
use super::logs::Logs;
use super::logs::is_stdin;
use super::net;
use super::ordered;
use super::ordered::Closed;
use super::ordered::Next;
use super::ordered::Outbox;
use super::ordered::Results;
use super::printer::Printer;
use super::printer::Together;
use super::printer::View;
use super::printer::style_of;
use super::progress::Progress;
use super::sessions;
use super::streams::Console;
use super::streams::no_input;
use super::streams::stdin_is_empty;
use super::streams::stdin_is_terminal;
use super::watch;

/// Runs the command.
pub fn run(args: &ReplayArgs, console: &Console) -> Result<Exit, Fail> {
    if wants_list(args) {
        return sessions::list(args, console);
    }
    let logs = if args.latest { sessions::latest(args, console)? } else { Logs::of(args)? };
    if logs.list.iter().any(|log| is_stdin(&log.path)) && stdin_is_terminal() {
        return Err(no_input("log"));
    }
    let task = Task::new(args, logs, console)?;
    if args.net {
        return net::run(&task, args, console);
    }
    if args.follow {
        return watch::run(task, args, console);
    }
    replay(&Arc::new(task), args, console)
}

/// Tells whether sessions are listed: nothing is named, and nothing comes from standard input.
fn wants_list(args: &ReplayArgs) -> bool {
    let is_named = !args.logs.is_empty() || args.files_from.is_some() || args.latest;
    !is_named && !args.follow && (args.agent.is_some() || stdin_is_terminal() || stdin_is_empty())
}

/// What is done with each log.
#[derive(Debug)]
pub struct Task {
    /// The logs.
    pub logs: Logs,
    /// The format that the user names.
    pub format: Option<Format>,
    /// What a page of their cards is called.
    pub title: String,
    /// How it is printed.
    pub output: CardOutput,
    style: Style,
    /// Which cards are wanted.
    pub filter: Filter,
    together: Arc<Together>,
    /// Which log each call of Claude Code was drawn from, while a folder is followed: a session repeats what its
    /// sub-agents' own logs tell, and one may come after the other.
    drawn: Option<Mutex<HashMap<String, usize>>>,
    /// How many files below folders were no logs.
    passed_over: AtomicUsize,
    /// How much was read of all logs.
    read_bytes: AtomicU64,
}

impl Task {
    fn new(args: &ReplayArgs, logs: Logs, console: &Console) -> Result<Self, Fail> {
        let output = args.output.of_version(args.acp_version);
        let output = if console.is_json { output.as_json() } else { output };
        let names: Vec<_> = args.logs.iter().map(|log| log.to_string_lossy()).collect();
        let title = if args.logs.is_empty() { "session log".to_owned() } else { names.join(", ") };
        Ok(Task {
            together: Together::new(output, title.clone(), console.out_style.syntax),
            title,
            format: Format::from_name(&args.format),
            output,
            style: style_of(console, output),
            filter: Filter::new(args)?,
            drawn: (args.follow && !logs.folders.is_empty()).then(Mutex::default),
            logs,
            passed_over: AtomicUsize::new(0),
            read_bytes: AtomicU64::new(0),
        })
    }

    /// Returns what a reader calls a log.
    pub fn name(&self, log: usize) -> String {
        self.logs.list[log].name()
    }

    /// Opens a log.
    pub fn open(&self, log: usize) -> io::Result<Blocks<Box<dyn Read>>> {
        let path = &self.logs.list[log].path;
        let reader: Box<dyn Read> = if is_stdin(path) {
            Box::new(io::stdin())
        } else {
            Box::new(crate::disk::input::open_file(path)?)
        };
        Ok(Blocks::over(reader))
    }

    /// Returns a view for a log.
    pub fn view(&self, log: usize) -> View {
        let name = self.logs.are_several().then(|| self.name(log));
        View::new(self.output, self.style, name, Arc::clone(&self.together))
    }

    /// Returns the printer for all of them.
    pub fn printer(&self, console: &Console) -> Printer {
        let several = if self.logs.are_several() { self.logs.list.as_slice() } else { &[] };
        let names = several.iter().map(Log::name).collect();
        Printer::new(console, self.output, names, Arc::clone(&self.together))
    }

    /// Draws a card of a log, if it is wanted.
    fn draw(&self, card: Card, root: Option<&str>, log: usize, view: &mut View) {
        if self.filter.wants(&card, root) && self.is_first(&card, log) {
            view.card(card, root);
        }
    }

    /// Tells whether no other log had the call.
    fn is_first(&self, card: &Card, log: usize) -> bool {
        let (Some(drawn), Some(call_id)) = (&self.drawn, &card.source.call_id) else { return true };
        if card.source.format != Format::ClaudeCode.name() {
            return true;
        }
        let mut drawn = drawn.lock().unwrap_or_else(PoisonError::into_inner);
        *drawn.entry(call_id.clone()).or_insert(log) == log
    }

    /// Returns the replay of a log, at its beginning.
    pub fn replay(&self, log: usize) -> Replay {
        // Nobody would see them in counts, and a patch is made of texts.
        let has_sections =
            !matches!(self.output, CardOutput::Stat | CardOutput::StatRows | CardOutput::Patch);
        Replay::new(ReplayOptions { format: self.format, has_sections, ..self.logs.list[log].options() })
    }

    /// Gives a log its next bytes, and draws the cards that come of them.
    pub fn push(&self, replay: &mut Replay, block: &[u8], log: usize, view: &mut View) {
        let mut cards = Vec::new();
        replay.push(block, &mut |card| cards.push(card));
        cards.into_iter().for_each(|card| self.draw(card, replay.folder(), log, view));
    }

    /// Draws what has come of a log that may be too short to tell its format by its length alone.
    pub fn settle(&self, replay: &mut Replay, log: usize, view: &mut View) {
        let mut cards = Vec::new();
        replay.settle(&mut |card| cards.push(card));
        cards.into_iter().for_each(|card| self.draw(card, replay.folder(), log, view));
    }

    /// Counts a file below a folder that is no log.
    pub fn pass_over(&self) {
        self.passed_over.fetch_add(1, Ordering::Relaxed);
    }

    /// Says how many files below folders were no logs.
    ///
    /// # Errors
    /// There was nothing but such files.
    pub fn tell_passed_over(&self, console: &Console) -> Result<(), Fail> {
        let count = self.passed_over.load(Ordering::Relaxed);
        if count == self.logs.list.len() && !self.logs.folders.is_empty() {
            let folders: Vec<_> =
                self.logs.folders.iter().map(|folder| folder.display().to_string()).collect();
            let problem =
                Problem::new(Code::Malformed, format!("{}: no session log below it", folders.join(", ")));
            return Err(Fail::new(problem.with_hint(looked_for())));
        }
        if count > 0 {
            let are = if count == 1 {
                "file is no session log and was"
            } else {
                "files are no session logs and were"
            };
            console.note(&format!("{count} {are} passed over"));
        }
        Ok(())
    }

    /// Ends a log, and draws the cards of the calls without a result.
    pub fn finish(
        &self,
        mut replay: Replay,
        log: usize,
        view: &mut View,
    ) -> Result<ReplaySummary, ReplayError> {
        self.settle(&mut replay, log, view);
        let root = replay.folder().map(str::to_owned);
        replay.finish(&mut |card| self.draw(card, root.as_deref(), log, view))
    }
}

/// What a reader of logs says.
enum Message {
    /// The next of what is drawn.
    Chunk(Vec<u8>),
    /// The log is over.
    End(Result<ReplaySummary, Fail>, usize),
}

fn replay(task: &Arc<Task>, args: &ReplayArgs, console: &Console) -> Result<Exit, Fail> {
    let total = task.logs.list.iter().map(|log| length_of(&log.path)).sum();
    let mut progress = Progress::new(console, total);
    let mut printer = task.printer(console);
    let mut verdict = Verdict::default();
    verdict.fail_if(task.logs.tell_unreadable(console));
    let mut results = start(task);
    loop {
        match results.next(progress.interval()) {
            Next::Result(log, Message::Chunk(chunk)) => {
                progress.clear();
                printer.print(log, &chunk);
                printer.flush();
                if printer.is_closed() {
                    printer.finish()?;
                    return Ok(verdict.exit(args));
                }
            }
            Next::Result(log, Message::End(result, lost)) => {
                progress.clear();
                verdict.take(result, lost, &task.name(log), console);
            }
            Next::Nothing => {}
            Next::End => break,
        }
        progress.show(task.read_bytes.load(Ordering::Relaxed));
    }
    progress.clear();
    printer.finish()?;
    task.tell_passed_over(console)?;
    Ok(verdict.exit(args))
}

/// Starts the readers; returns what they say, log by log.
fn start(task: &Arc<Task>) -> Results<Message> {
    let workers = match task.output {
        // What may stand in a patch depends on what stands before it, and the cards of a page are numbered.
        CardOutput::Patch | CardOutput::Html | CardOutput::Markdown => 1,
        _ => ordered::workers(),
    };
    let shared = Arc::clone(task);
    ordered::start(task.logs.list.len(), workers, move |log, outbox| read(&shared, log, outbox))
}

/// Reads one log to its end; what it says is not heard if nobody reads the output any more.
fn read(task: &Task, log: usize, outbox: &Outbox<Message>) {
    let mut view = task.view(log);
    let result = match read_blocks(task, log, &mut view, outbox) {
        Err(Unread::NoLog) => {
            task.pass_over();
            Ok(ReplaySummary::default())
        }
        Ok(summary) => {
            view.end();
            Ok(summary)
        }
        Err(Unread::Failed(fail)) => {
            // What was read before the failure is shown.
            if view.has_cards() {
                view.end();
            }
            Err(fail)
        }
    };
    let _ = send(outbox, &mut view);
    let _ = outbox.send(Message::End(result, view.lost()), 0);
}

fn send(outbox: &Outbox<Message>, view: &mut View) -> Result<(), Closed> {
    let bytes = view.length_bytes();
    if bytes == 0 { Ok(()) } else { outbox.send(Message::Chunk(view.take()), bytes) }
}

/// Why a log was not read to its end.
enum Unread {
    /// It was found below a folder and is none.
    NoLog,
    Failed(Fail),
}

fn read_blocks(
    task: &Task,
    log: usize,
    view: &mut View,
    outbox: &Outbox<Message>,
) -> Result<ReplaySummary, Unread> {
    let failed = |error: io::Error| Unread::Failed(Fail::io("read", Path::new(&task.name(log)), &error));
    let mut blocks = task.open(log).map_err(failed)?;
    let mut replay = task.replay(log);
    while !replay.is_over()
        && let Some(block) = blocks.next_block().map_err(failed)?
    {
        task.push(&mut replay, block, log, view);
        task.read_bytes.fetch_add(block.len() as u64, Ordering::Relaxed);
        if send(outbox, view).is_err() {
            return Ok(ReplaySummary::default());
        }
    }
    match task.finish(replay, log, view) {
        Err(ReplayError::Detect(DetectError::Unknown)) if task.logs.list[log].is_found => Err(Unread::NoLog),
        result => result.map_err(|error| Unread::Failed(no_log(&task.name(log), &error))),
    }
}

/// Says that an input is no log, and what was looked for.
pub fn no_log(name: &str, error: &ReplayError) -> Fail {
    let problem = Problem::new(Code::Malformed, format!("{name}: {error}"));
    Fail::new(match error {
        ReplayError::Detect(DetectError::Sqlite) => problem.with_hint(
            "export the session as JSON first, e.g. 'opencode export SESSION > log.json', then replay that",
        ),
        ReplayError::Detect(_) => problem.with_hint(looked_for()),
        _ => problem,
    })
}

fn looked_for() -> String {
    format!("looked for {}; --format names the format", Format::ALL.map(Format::name).join(", "))
}

/// What all logs together come to.
#[derive(Debug, Default)]
pub struct Verdict {
    is_not_understood: bool,
    lost: usize,
    failed: bool,
}

impl Verdict {
    /// Takes that something failed, which was said already.
    pub fn fail_if(&mut self, failed: bool) {
        self.failed |= failed;
    }

    /// Takes how a log ended, and says what a reader should know of it.
    pub fn take(&mut self, result: Result<ReplaySummary, Fail>, lost: usize, name: &str, console: &Console) {
        match result {
            Ok(summary) => self.is_not_understood |= !tell(&summary, name, console),
            Err(fail) => {
                console.fail(&fail);
                self.failed = true;
            }
        }
        self.lose(lost, name, console);
    }

    /// Takes how many changes a patch of a log lacks.
    pub fn lose(&mut self, lost: usize, name: &str, console: &Console) {
        self.lost += lost;
        if lost > 0 {
            let (changes, are) = if lost == 1 { ("change", "is") } else { ("changes", "are") };
            console.note(&format!("{name}: {lost} {changes} {are} not in the patch; comments in it say why"));
        }
    }

    /// Returns how the run ends.
    pub fn exit(&self, args: &ReplayArgs) -> Exit {
        if self.failed {
            Exit::Trouble
        } else if self.lost > 0 || args.strict && self.is_not_understood {
            Exit::Refused
        } else {
            Exit::Done
        }
    }
}

/// Says what a log held beside its cards; returns whether all of it was understood.
pub fn tell(summary: &ReplaySummary, name: &str, console: &Console) -> bool {
    let mut notes: Vec<String> = summary.notes.clone();
    let mut count = |count: usize, one: &str, many: &str| {
        if count > 0 {
            notes.push(format!("{count} {}", if count == 1 { one } else { many }));
        }
    };
    count(summary.unknown_events, "event of an unknown kind", "events of unknown kinds");
    count(summary.skipped_long, "line skipped, longer than 32 MiB", "lines skipped, longer than 32 MiB");
    count(summary.duplicates, "repeated call or result passed over", "repeated calls or results passed over");
    count(
        summary.inherited_calls,
        "call of the parent session passed over",
        "calls of the parent session passed over",
    );
    count(
        summary.replaced_characters,
        "invalid character shown as U+FFFD",
        "invalid characters shown as U+FFFD",
    );
    if summary.bad_line_count > 0 {
        let lines: Vec<String> = summary.bad_lines.iter().map(ToString::to_string).collect();
        let more = if summary.bad_line_count > lines.len() { ", ..." } else { "" };
        let word = if summary.bad_line_count == 1 { "line" } else { "lines" };
        notes.push(format!("{} {word} not readable: {}{more}", summary.bad_line_count, lines.join(", ")));
    }
    if let Some(line) = summary.torn_line {
        notes.push(format!("line {line} is cut off"));
    }
    notes.extend(summary.damage.as_ref().map(ToString::to_string));
    for note in notes {
        console.note(&format!("{name}: {note}"));
    }
    let is_torn = summary.torn_line.is_some() || summary.damage.is_some();
    summary.unknown_events == 0 && summary.skipped_long == 0 && summary.bad_line_count == 0 && !is_torn
}
