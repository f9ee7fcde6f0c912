//! What apply, write and edit have in common: fill, plan, log the call, commit, log the result, report.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::time::SystemTime;
use std::time::UNIX_EPOCH;

use crate::disk::commit::CommitOptions;
use crate::disk::commit::commit;
use crate::disk::journal::Journal;
use crate::disk::log::LogError;
use crate::disk::log::LogFile;
use crate::disk::root::LookOptions;
use crate::disk::root::Root;
use crate::patch::FileEdit;
use crate::plan::FileState;
use crate::plan::FoundFile;
use crate::plan::Options;
use crate::plan::Plan;
use crate::plan::Planner;
use crate::plan::Stamp;
use crate::plan::outcome;
use crate::plan::outcome::Detail;
use crate::render::json;
use crate::render::terminal;
use crate::report::Code;
use crate::report::CommandName;
use crate::report::ErrorReport;
use crate::report::Operation;
use crate::report::Outcome;
use crate::report::Problem;
use crate::session::format::dsh;
use crate::session::format::dsh::EventStamp;
use crate::session::format::dsh::LoggedResult;
use crate::text::PathText;

use super::args::ChangeArgs;
use super::args::Globals;
use super::exit::Exit;
use super::fail;
use super::fail::Fail;
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
}

/// What came of a request.
pub struct Changed {
    /// The outcome, refused or done.
    pub outcome: Outcome,
    /// What a person should know beside it.
    pub notes: Vec<String>,
    /// How the run ends.
    pub exit: Exit,
}

/// Carries a request out and prints its outcome.
pub fn run(
    request: &Request<'_>,
    change: &ChangeArgs,
    globals: &Globals,
    console: &Console,
) -> Result<Exit, Fail> {
    let changed = carry_out(request, change, globals, console.is_json)?;
    for note in &changed.notes {
        console.note(note);
    }
    if let Err(fail) = report(&changed.outcome, console) {
        if changed.outcome.ok && !changed.outcome.check {
            console.note("the files are written; only the report could not be");
        }
        return Err(fail);
    }
    Ok(changed.exit)
}

/// Prints an outcome: a refusal on stderr unless JSON was asked for.
pub fn report(outcome: &Outcome, console: &Console) -> Result<(), Fail> {
    if console.is_json {
        return console.print(|out| json::line(out, outcome));
    }
    if let Some(error) = &outcome.error {
        console.error(error);
    } else if !console.is_quiet {
        console.print(|out| terminal::outcome(out, outcome, &console.out_style))?;
    }
    Ok(())
}

/// Carries a request out.
pub fn carry_out(
    request: &Request<'_>,
    change: &ChangeArgs,
    globals: &Globals,
    texts: bool,
) -> Result<Changed, Fail> {
    let root = open_root(&globals.root)?;
    // From here on nobody else's commit comes between reading a file and writing it.
    let (journal, mut notes) = if change.check {
        (None, Vec::new())
    } else {
        let (journal, notes) = open_journal(&root)?;
        (Some(journal), notes)
    };
    let read_since = now();
    let mut planner = Planner::new(request.options);
    let mut problems: Vec<Problem> = request.refused.iter().cloned().collect();
    let edits = if problems.is_empty() { request.edits } else { &[] };
    for (index, edit) in edits.iter().enumerate() {
        fill(&root, change.force, change.allow_git_dir, &mut planner, edit);
        if let Err(mut more) = planner.plan(index + 1, edit) {
            problems.append(&mut more);
        }
    }
    let plan = planner.finish();
    let mut log = if change.check {
        None
    } else {
        change.log.as_deref().map(|path| Log::open(path, &root)).transpose()?
    };
    if let Some(log) = &log {
        problems.extend(log.own_edit(&plan, &root));
    }
    let detail = Detail { texts: texts || log.is_some(), max_text_bytes: change.max_text };
    let call_id = match (&change.call_id, &log) {
        (Some(id), _) => Some(id.clone()),
        (None, Some(log)) => Some(format!("call-{}", log.seq)),
        (None, None) => None,
    };
    if let (Some(log), Some(id)) = (&mut log, &call_id) {
        log.call(id, request)?;
    }
    let mut done = match outcome::error_report(problems) {
        Some(error) => outcome::refused(error, request.command, change.check),
        None => {
            let journal = journal.as_ref();
            let write = Write { request, change, root: &root, plan: &plan, journal, read_since };
            write.run(detail, &mut notes)
        }
    };
    done.call_id = call_id;
    let mut exit = done.error.as_ref().map_or(Exit::Done, Exit::of);
    if let Some(log) = &mut log
        && let Err(problem) = log.result(&done, &plan, !change.no_sync)
    {
        notes.push(format!("{}; the files are as the outcome says", problem.message));
        exit = if done.ok { Exit::NotLogged } else { exit };
    }
    Ok(Changed { outcome: done, notes, exit })
}

/// A plan that fits, on its way to the disk.
struct Write<'a> {
    request: &'a Request<'a>,
    change: &'a ChangeArgs,
    root: &'a Root,
    plan: &'a Plan,
    journal: Option<&'a Journal>,
    read_since: SystemTime,
}

impl Write<'_> {
    /// Writes the plan, unless only a check was asked for. The outcome is taken before, from the files as they were
    /// read.
    fn run(&self, detail: Detail, notes: &mut Vec<String>) -> Outcome {
        let Write { request, change, root, plan, journal, read_since } = self;
        let mut done = outcome::of_plan(plan, request.command, change.check, detail);
        if change.check {
            return done;
        }
        let interrupted = Arc::new(AtomicBool::new(false));
        // If a handler can't be set, a signal ends the process as it would have without one: before the names change the
        // old tree stands, afterwards the new one.
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP]
        {
            let _ = signal_hook::flag::register(signal, Arc::clone(&interrupted));
        }
        let options = CommitOptions {
            sync: !change.no_sync,
            in_place: change.in_place,
            read_since_ns: read_since
                .duration_since(UNIX_EPOCH)
                .ok()
                .and_then(|since| i128::try_from(since.as_nanos()).ok()),
            interrupted: &|| interrupted.load(Ordering::Relaxed),
            journal: *journal,
            log_entry: None,
        };
        match commit(root, plan, &options) {
            Ok(committed) => {
                let prepared = &committed.prepared;
                for (file, mode) in done.files.iter_mut().zip(&prepared.modes) {
                    // What mode a new file has, the system decides.
                    if file.operation == Operation::Create {
                        file.mode.after = mode.map(|mode| format!("{mode:06o}"));
                    }
                    let broken =
                        prepared.hard_links_broken.iter().find(|(path, _)| path.shown() == file.path);
                    file.hard_links = broken.map(|(_, others)| *others);
                }
                let left = committed
                    .left_behind
                    .iter()
                    .map(|path| format!("an old file could not be removed: {}", path.shown()));
                notes.extend(left);
                let unsynced = committed.unsynced.iter();
                notes.extend(unsynced.map(|path| {
                    format!("it is not known whether the names in {} are on the disk", path.shown())
                }));
                done
            }
            Err(error) => match outcome::error_report(vec![error.problem()]) {
                Some(report) => outcome::refused(report, request.command, false),
                None => done,
            },
        }
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

/// Gives the planner what it wants to know for an edit.
pub fn fill(root: &Root, force: bool, allow_git_dir: bool, planner: &mut Planner, edit: &FileEdit) {
    for want in planner.wants(edit) {
        let options =
            LookOptions { follow: want.follows_link, write: true, force, allow_git_dir, read: true };
        let given = root.look(&want.path, &options);
        planner.give(want, given);
    }
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

/// A session log that one call is appended to.
struct Log {
    file: LogFile,
    path: std::path::PathBuf,
    seq: u64,
    call_seq: u64,
    call_id: String,
}

impl Log {
    /// Opens and locks the log; a new one gets its header.
    fn open(path: &Path, root: &Root) -> Result<Self, Fail> {
        let trouble = |error: LogError| Fail::new(log_problem(&error));
        let mut file = LogFile::open(path).map_err(trouble)?;
        file.lock().map_err(trouble)?;
        let mut seq = 0;
        if file.is_empty() {
            let created = now_ms();
            let id = format!("{created:x}-{:x}", std::process::id());
            let header = dsh::header_line(&id, created, &root.dir().to_string_lossy());
            file.append_line(without_newline(&header)).map_err(trouble)?;
        } else {
            for line in file.lines_back() {
                if let Some(last) = dsh::last_seq(&line.map_err(trouble)?) {
                    seq = last + 1;
                    break;
                }
            }
        }
        Ok(Log { file, path: path.to_owned(), seq, call_seq: seq, call_id: String::new() })
    }

    /// A patch may not change the log that it is written to, nor make a file where the log has just been made.
    fn own_edit(&self, plan: &Plan, root: &Root) -> Option<Problem> {
        let is_log = |stamp: &Stamp| self.file.is_same_file(stamp);
        let touches = plan.files.iter().any(|file| match &file.before {
            Some(found) => is_log(&found.stamp),
            None => look_again(root, &file.target).is_some_and(|found| is_log(&found.stamp)),
        });
        touches.then(|| {
            let message =
                format!("{} is the log of this call: it can't be changed by it", self.path.display());
            Problem::new(Code::Protected, message).with_hint("log to another file")
        })
    }

    fn stamp(&mut self) -> EventStamp {
        let stamp = EventStamp { seq: self.seq, time_ms: now_ms(), turn: 1, step: 1 };
        self.seq += 1;
        stamp
    }

    fn call(&mut self, call_id: &str, request: &Request<'_>) -> Result<(), Fail> {
        let stamp = self.stamp();
        self.call_seq = stamp.seq;
        self.call_id = call_id.to_owned();
        let tool = request.tool.unwrap_or_else(|| tool(request.command));
        let line = dsh::call_line(stamp, call_id, tool, &(request.arguments)());
        let trouble = |error: LogError| Fail::new(log_problem(&error));
        self.file.append_line(without_newline(&line)).map_err(trouble)
    }

    fn result(&mut self, done: &Outcome, plan: &Plan, syncs: bool) -> Result<(), Problem> {
        let meta = done.ok.then(|| outcome::record(plan, done));
        let text = result_text(done);
        let stamp = self.stamp();
        let result = LoggedResult {
            call_id: &self.call_id,
            call_seq: self.call_seq,
            ok: done.ok,
            text: &text,
            error: done.error.as_ref(),
            meta: meta.as_ref(),
        };
        let line = dsh::result_line(stamp, &result);
        let written = self.file.append_line(without_newline(&line));
        written
            .and_then(|()| if syncs { self.file.sync() } else { Ok(()) })
            .map_err(|error| log_problem(&error))
    }
}

fn log_problem(error: &LogError) -> Problem {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<std::io::Error>());
    let source = source.map(|source| format!(": {}", fail::reason(source))).unwrap_or_default();
    Problem::new(Code::Io, format!("{error}{source}"))
}

fn without_newline(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

fn tool(command: CommandName) -> &'static str {
    match command {
        CommandName::Apply => "apply",
        CommandName::Write => "write",
        CommandName::Edit => "edit",
        CommandName::Undo => "undo",
    }
}

/// Returns what a log says of an outcome: what was done, or every reason why nothing was.
fn result_text(done: &Outcome) -> String {
    match &done.error {
        Some(error) => format!("Error: {}", model_text(error)),
        None => {
            let lines =
                done.files.iter().map(|file| format!("{} +{} -{}", file.path, file.added, file.removed));
            let files: Vec<String> = lines.collect();
            if files.is_empty() { "nothing to do".to_owned() } else { files.join("\n") }
        }
    }
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
