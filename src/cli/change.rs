//! What apply, write, edit and undo have in common: fill, plan, log the call, commit, log the result, report.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::time::SystemTime;
use std::time::UNIX_EPOCH;

use crate::disk::CommitError;
use crate::disk::LogEntry;
use crate::disk::commit::CommitOptions;
use crate::disk::commit::Committed;
use crate::disk::commit::Prepared;
use crate::disk::commit::commit;
use crate::disk::journal::Journal;
use crate::disk::root::LookOptions;
use crate::disk::root::Looks;
use crate::disk::root::Root;
use crate::patch::FileEdit;
use crate::plan::FileState;
use crate::plan::FoundFile;
use crate::plan::Options;
use crate::plan::Plan;
use crate::plan::PlannedFile;
use crate::plan::Planner;
use crate::plan::outcome;
use crate::plan::outcome::Detail;
use crate::render::json;
use crate::render::style::Style;
use crate::render::terminal;
use crate::report::Code;
use crate::report::CommandName;
use crate::report::ErrorReport;
use crate::report::Operation;
use crate::report::Outcome;
use crate::report::Problem;
use crate::report::RecordMeta;
use crate::report::UndoneCall;
use crate::text::PathText;

use super::args::ChangeArgs;
use super::args::Globals;
use super::exit::Exit;
use super::fail::Fail;
use super::session_log::Log;
use super::session_log::Turn;
use super::session_log::no_undo_text;
use super::state::open_journal;
use super::streams::Console;

/// What is to be changed, as the command understood it.
pub struct Request<'a> {
    /// The command.
    pub command: CommandName,
    /// What a log calls the tool, if not as the command.
    pub tool: Option<&'static str>,
    /// The file edits.
    pub edits: &'a [FileEdit],
    /// How they are planned.
    pub options: Options,
    /// Why it is refused before any file is looked at: it is malformed, or asks for nothing.
    pub refused: Option<Problem>,
    /// The tool's arguments as JSON, for the log.
    pub arguments: &'a dyn Fn() -> String,
    /// The turn of the run, for the log.
    pub turn: &'a Turn,
}

/// From so many files on, the outcome is made and drawn while they are written.
const AHEAD_FILES: usize = 32;

/// What came of a request.
pub struct Changed {
    /// The outcome, refused or done.
    pub outcome: Outcome,
    /// What a person should know beside it.
    pub notes: Vec<String>,
    /// Why the log does not hold the result.
    pub not_logged: Option<Problem>,
    /// How the run ends.
    pub exit: Exit,
    /// The outcome as a person is shown it, if it was drawn while it was written.
    pub drawn: Option<Vec<u8>>,
}

/// How an outcome will be shown.
#[derive(Debug, Clone, Copy)]
pub enum Showing {
    /// As JSON, with texts.
    Json,
    /// As a card.
    Card(Style),
    /// Not, or not as it is.
    Otherwise,
}

impl Showing {
    /// Returns how a console shows outcomes.
    pub fn on(console: &Console) -> Self {
        match (console.is_json, console.is_quiet) {
            (true, _) => Showing::Json,
            (false, true) => Showing::Otherwise,
            (false, false) => Showing::Card(console.out_style),
        }
    }
}

/// Carries a request out and prints its outcome.
pub fn run(
    request: &Request<'_>,
    change: &ChangeArgs,
    globals: &Globals,
    console: &Console,
) -> Result<Exit, Fail> {
    let changed = carry_out(request, change, globals, Showing::on(console))?;
    tell(&changed, console)
}

/// Prints what came of a request; returns how the run ends.
pub fn tell(changed: &Changed, console: &Console) -> Result<Exit, Fail> {
    for note in &changed.notes {
        console.note(note);
    }
    if let Some(problem) = &changed.not_logged {
        console.error(&Fail::new(problem.clone()).report);
    }
    if let Err(fail) = report(changed, console) {
        if changed.outcome.ok && !changed.outcome.check {
            console.note("the files are written; only the report could not be");
        }
        return Err(fail);
    }
    Ok(changed.exit)
}

/// Prints an outcome: a refusal on stderr unless JSON was asked for.
fn report(changed: &Changed, console: &Console) -> Result<(), Fail> {
    let outcome = &changed.outcome;
    if console.is_json {
        return console.print(|out| json::line(out, outcome));
    }
    if let Some(error) = &outcome.error {
        console.error(error);
    } else if !console.is_quiet {
        console.print(|out| match &changed.drawn {
            Some(drawn) => out.write_all(drawn),
            None => terminal::outcome(out, outcome, &console.out_style),
        })?;
    }
    Ok(())
}

/// Carries a request out.
pub fn carry_out(
    request: &Request<'_>,
    change: &ChangeArgs,
    globals: &Globals,
    showing: Showing,
) -> Result<Changed, Fail> {
    let root = open_root(&globals.root)?;
    // From here on nobody else's commit comes between reading a file and writing it.
    let (journal, notes) = begin(&root, change)?;
    let read_since = now();
    let mut planner = Planner::new(Options { encoding: change.encoding, ..request.options });
    let mut problems: Vec<Problem> = request.refused.iter().cloned().collect();
    let edits = if problems.is_empty() { request.edits } else { &[] };
    let mut looks = Looks::new(&root);
    for (index, edit) in edits.iter().enumerate() {
        planner.fill(edit, &mut |want| looks.answer(want, change.access()));
        if let Err(mut more) = planner.plan(index + 1, edit) {
            problems.append(&mut more);
        }
    }
    let log = match change.log.as_deref().filter(|_| !change.check) {
        Some(path) => Some(Log::open(path, &root, request.turn)?),
        None => None,
    };
    let planned = Planned { plan: planner.finish(), problems, undoes: Vec::new(), read_since };
    let place = Place { root: &root, journal, log, showing };
    finish(request, planned, change, place, notes)
}

/// Waits for the root, unless only a check is asked for; returns its journal, and what was made good in it.
pub fn begin(root: &Root, change: &ChangeArgs) -> Result<(Option<Journal>, Vec<String>), Fail> {
    if change.check {
        return Ok((None, Vec::new()));
    }
    open_journal(root).map(|(journal, notes)| (Some(journal), notes))
}

/// What a request came to, before anything is written.
pub struct Planned {
    /// The plan; it counts only if there is no problem.
    pub plan: Plan,
    /// Every reason why it does not fit.
    pub problems: Vec<Problem>,
    /// The calls that it takes back.
    pub undoes: Vec<UndoneCall>,
    /// A time before the first file was read.
    pub read_since: SystemTime,
}

/// Where a plan is carried out.
pub struct Place<'a> {
    /// The root.
    pub root: &'a Root,
    /// Its journal; it ends when the result is logged.
    pub journal: Option<Journal>,
    /// The log that the call is appended to.
    pub log: Option<Log<'a>>,
    /// How the outcome will be shown.
    pub showing: Showing,
}

/// Carries a plan out: logs the call, writes, logs the result. `notes` are those that there are already.
pub fn finish(
    request: &Request<'_>,
    planned: Planned,
    change: &ChangeArgs,
    place: Place<'_>,
    mut notes: Vec<String>,
) -> Result<Changed, Fail> {
    let Planned { plan, mut problems, undoes, read_since } = planned;
    let Place { root, journal, mut log, showing } = place;
    if let Some(log) = &log {
        problems.extend(own_edit(log, &plan, root));
    }
    let texts = matches!(showing, Showing::Json) || log.is_some();
    let detail = Detail { texts, max_text_bytes: change.max_text };
    let call_id = change.call_id.clone().or_else(|| log.as_ref().map(Log::next_call_id));
    if let (Some(log), Some(id)) = (&mut log, &call_id) {
        let tool = request.tool.unwrap_or_else(|| tool(request.command));
        log.call(id, tool, &(request.arguments)())?;
    }
    let recording = log.as_ref().map(|_| Recording {
        plan: &plan,
        made_folders: plan.files.iter().map(|file| made_folders(root, file)).collect(),
        limit_undo_bytes: change.max_text,
    });
    let Written { outcome: mut done, line, drawn } = match outcome::error_report(problems) {
        Some(error) => Written::of(outcome::refused(error, request.command, change.check)),
        None => {
            let (plan, command, check) = (&plan, request.command, change.check);
            let id = call_id.clone();
            let made =
                move || Outcome { call_id: id, undoes, ..outcome::of_plan(plan, command, check, detail) };
            let journal = journal.as_ref();
            let write = Write { request, change, root, plan, journal, read_since, showing };
            write.run(made, log.as_ref().zip(recording.as_ref()), &mut notes)
        }
    };
    done.call_id = call_id;
    let mut exit = done.error.as_ref().map_or(Exit::Done, Exit::of);
    let mut not_logged = None;
    if let (Some(log), Some(recording)) = (&mut log, &recording) {
        if let Err(problem) = log.result(&mut done, recording, line, !change.no_sync) {
            exit = if done.ok { Exit::NotLogged } else { exit };
            let written = if done.ok { "the files are written" } else { "no file is" };
            let hint = format!("{written}; the log holds the call without its result");
            not_logged = Some(problem.with_hint(hint));
        }
        notes.extend(done.files.iter().filter_map(no_undo_text));
        // What is logged, or could not be, no later run need log.
        notes.extend(journal.and_then(|journal| journal.close().err()).map(|error| error.to_string()));
    }
    Ok(Changed { outcome: done, notes, not_logged, exit, drawn })
}

/// What the record of an outcome needs beside it.
pub struct Recording<'a> {
    /// The plan that is carried out.
    pub plan: &'a Plan,
    /// Of each file, how many folders are made for it.
    pub made_folders: Vec<usize>,
    /// More old bytes of a file are not held.
    pub limit_undo_bytes: usize,
}

impl Recording<'_> {
    /// Returns the record of what was done; none if nothing was.
    pub fn of(&self, done: &Outcome) -> Option<RecordMeta> {
        if !done.ok {
            return None;
        }
        let mut record = outcome::record(self.plan, done, self.limit_undo_bytes);
        for (file, made) in record.files.iter_mut().zip(&self.made_folders) {
            file.made_folders = *made;
        }
        Some(record)
    }
}

/// Returns how many folders will have to be made for a file.
fn made_folders(root: &Root, file: &PlannedFile) -> usize {
    match (file.operation, &file.target_before) {
        (Operation::Create | Operation::Rename | Operation::Copy, FileState::Absent) => {
            root.missing_folders(&file.target)
        }
        _ => 0,
    }
}

/// A patch may not change the log that it is written to, nor make a file where the log has just been made.
fn own_edit(log: &Log<'_>, plan: &Plan, root: &Root) -> Option<Problem> {
    let touches = plan.files.iter().any(|file| match &file.before {
        Some(found) => log.is_same_file(&found.stamp),
        None => look_again(root, &file.target).is_some_and(|found| log.is_same_file(&found.stamp)),
    });
    touches.then(|| {
        let message = format!("{} is the log of this call: it can't be changed by it", log.path().display());
        Problem::new(Code::Protected, message).with_hint("log to another file")
    })
}

fn tool(command: CommandName) -> &'static str {
    match command {
        CommandName::Apply => "apply",
        CommandName::Write => "write",
        CommandName::Edit => "edit",
        CommandName::Undo => "undo",
    }
}

/// A plan that fits, on its way to the disk.
struct Write<'a> {
    request: &'a Request<'a>,
    change: &'a ChangeArgs,
    root: &'a Root,
    plan: &'a Plan,
    journal: Option<&'a Journal>,
    read_since: SystemTime,
    showing: Showing,
}

/// What came of a plan that was written, or only checked.
struct Written {
    outcome: Outcome,
    /// What its log is to get.
    line: Option<Vec<u8>>,
    /// The outcome as a person is shown it.
    drawn: Option<Vec<u8>>,
}

impl Written {
    fn of(outcome: Outcome) -> Self {
        Written { outcome, line: None, drawn: None }
    }
}

impl Write<'_> {
    /// Writes the plan, unless only a check was asked for. The outcome is made from the files as they were read; what
    /// only writing tells is added. With a log, the line that it is to get comes back too: if the process is killed
    /// after the names have changed, the next run finds it in the journal.
    fn run(
        &self,
        made: impl FnOnce() -> Outcome + Send,
        logged: Option<(&Log<'_>, &Recording<'_>)>,
        notes: &mut Vec<String>,
    ) -> Written {
        if self.change.check {
            return Written::of(made());
        }
        let interrupted = Arc::new(AtomicBool::new(false));
        // If a handler can't be set, a signal ends the process as it would have without one: before the names change the
        // old tree stands, afterwards the new one.
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP]
        {
            let _ = signal_hook::flag::register(signal, Arc::clone(&interrupted));
        }
        let is_interrupted = || interrupted.load(Ordering::Relaxed);
        let Some((log, recording)) = logged else {
            return self.run_unlogged(made, &self.options(&is_interrupted), notes);
        };
        // The log's line goes to the journal before names change.
        let done = RefCell::new(made());
        let line = RefCell::new(None);
        let log_entry = |prepared: &Prepared| {
            let mut done = done.borrow_mut();
            complete(&mut done, prepared);
            let record = recording.of(&done);
            let text = log.result_line(&mut done, record);
            *line.borrow_mut() = Some(text.clone());
            LogEntry { log: log.real_path(), line: text }
        };
        let options = CommitOptions { log_entry: Some(&log_entry), ..self.options(&is_interrupted) };
        let committed = commit(self.root, self.plan, &options);
        let outcome = self.ended(committed, done.into_inner(), notes);
        let line = line.into_inner().filter(|_| outcome.ok);
        Written { outcome, line, drawn: None }
    }

    /// Writing waits for the system, and making the outcome and its picture for nothing but a processor: of many files
    /// both go on at once.
    fn run_unlogged(
        &self,
        made: impl FnOnce() -> Outcome + Send,
        options: &CommitOptions<'_>,
        notes: &mut Vec<String>,
    ) -> Written {
        if self.plan.files.len() < AHEAD_FILES {
            let made = made();
            return Written::of(self.ended(commit(self.root, self.plan, options), made, notes));
        }
        let showing = self.showing;
        let (committed, pictured) = std::thread::scope(|scope| {
            let pictured = scope.spawn(move || {
                let made = made();
                let drawn = match showing {
                    Showing::Card(style) => Some(drawn(&made, &style)),
                    Showing::Json | Showing::Otherwise => None,
                };
                (made, drawn)
            });
            let committed = commit(self.root, self.plan, options);
            (committed, pictured.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause)))
        });
        let (made, drawn) = pictured;
        // What only writing tells is in no picture that was drawn meanwhile.
        let is_whole =
            committed.as_ref().is_ok_and(|committed| tells_nothing(self.plan, &committed.prepared));
        let outcome = self.ended(committed, made, notes);
        Written { outcome, line: None, drawn: drawn.filter(|_| is_whole) }
    }

    fn options<'b>(&'b self, interrupted: &'b dyn Fn() -> bool) -> CommitOptions<'b> {
        CommitOptions {
            sync: !self.change.no_sync,
            in_place: self.change.in_place,
            read_since_ns: self
                .read_since
                .duration_since(UNIX_EPOCH)
                .ok()
                .and_then(|since| i128::try_from(since.as_nanos()).ok()),
            interrupted,
            journal: self.journal,
            log_entry: None,
        }
    }

    /// Returns the outcome of a commit, given what was made of the plan.
    fn ended(
        &self,
        committed: Result<Committed, CommitError>,
        mut made: Outcome,
        notes: &mut Vec<String>,
    ) -> Outcome {
        match committed {
            Ok(committed) => {
                complete(&mut made, &committed.prepared);
                let left = committed
                    .left_behind
                    .iter()
                    .map(|path| format!("an old file could not be removed: {}", path.shown()));
                notes.extend(left);
                let unsynced = committed.unsynced.iter();
                notes.extend(unsynced.map(|path| {
                    format!("it is not known whether the names in {} are on the disk", path.shown())
                }));
                made
            }
            Err(error) => match outcome::error_report(vec![error.problem()]) {
                Some(report) => outcome::refused(report, self.request.command, false),
                None => made,
            },
        }
    }
}

fn drawn(outcome: &Outcome, style: &Style) -> Vec<u8> {
    let mut out = Vec::new();
    // Memory takes all bytes.
    let _ = terminal::outcome(&mut out, outcome, style);
    out
}

/// Tells whether writing told nothing that an outcome does not have.
fn tells_nothing(plan: &Plan, prepared: &Prepared) -> bool {
    let is_made = |file: &PlannedFile| file.operation == Operation::Create;
    prepared.hard_links_broken.is_empty() && !plan.files.iter().any(is_made)
}

/// Adds to an outcome what only writing tells.
fn complete(done: &mut Outcome, prepared: &Prepared) {
    for (file, mode) in done.files.iter_mut().zip(&prepared.modes) {
        // What mode a new file has, the system decides.
        if file.operation == Operation::Create {
            file.mode.after = mode.map(|mode| format!("{mode:06o}"));
        }
        let broken = prepared.hard_links_broken.iter().find(|(path, _)| path.shown() == file.path);
        file.hard_links = broken.map(|(_, others)| *others);
    }
}

/// Opens the root.
pub fn open_root(dir: &Path) -> Result<Root, Fail> {
    Root::open(dir).map_err(|error| {
        let source =
            std::error::Error::source(&error).map(|source| format!(": {source}")).unwrap_or_default();
        Fail::new(
            Problem::new(Code::Usage, format!("{error}{source}"))
                .with_hint("--root names a folder that is there"),
        )
    })
}

/// Returns what stands at a real path now, without its bytes.
fn look_again(root: &Root, path: &PathText) -> Option<FoundFile> {
    let options = LookOptions { follow: false, write: false, force: true, allow_git_dir: true, read: false };
    match root.look(path, &options).state {
        FileState::File(found) => Some(found),
        FileState::Absent | FileState::Other(_) | FileState::Refused(_) => None,
    }
}

/// Returns the time.
pub fn now() -> SystemTime {
    SystemTime::now()
}

/// Returns milliseconds since 1970.
pub fn now_ms() -> u64 {
    now().duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Returns an error as one text, for a model or a log.
pub fn model_text(error: &ErrorReport) -> String {
    let mut text = if error.problems.len() == 1 { String::new() } else { error.message.clone() };
    for problem in &error.problems {
        if !text.is_empty() {
            text.push('\n');
        }
        if let Some(path) = problem.path.as_deref().filter(|path| !problem.message.contains(path)) {
            text.push_str(path);
            text.push_str(": ");
        } else if let (None, Some(line)) = (&problem.path, problem.line) {
            text.push_str(&format!("patch line {line}: "));
        }
        text.push_str(&problem.message);
        let lines: Vec<String> = problem.candidates.iter().map(|place| place.line.to_string()).collect();
        if !lines.is_empty() {
            text.push_str(&format!("\n  at lines {}", lines.join(", ")));
        }
        if let Some(nearest) = &problem.nearest {
            text.push_str(&format!("\n  line {}: expected '{}'", nearest.line, nearest.expected));
            if let Some(found) = &nearest.found {
                text.push_str(&format!(", found '{found}'"));
            }
            text.push_str(&format!(" ({})", nearest.cause));
        }
        if let Some(hint) = &problem.hint {
            text.push_str(&format!("\n  {hint}"));
        }
    }
    text
}
