//! `undo`: recorded calls are taken back, all of the chosen ones in one commit, and the undo is logged as a call.

use std::collections::HashMap;
use std::io;
use std::io::Read;
use std::path::Path;

use serde_json::json;

use crate::disk::input::Blocks;
use crate::disk::input::is_stream;
use crate::disk::root::Looks;
use crate::disk::root::Root;
use crate::plan::Options;
use crate::plan::Planner;
use crate::plan::outcome;
use crate::plan::recorded_path;
use crate::report::Code;
use crate::report::CommandName;
use crate::report::Problem;
use crate::report::RecordMeta;
use crate::session::ReplayOptions;
use crate::session::detect;
use crate::session::format::DETECT_BYTES;
use crate::session::format::DetectError;
use crate::session::format::Format;
use crate::session::undo::Found;
use crate::session::undo::History;
use crate::session::undo::HistoryReader;
use crate::session::undo::Holds;
use crate::session::undo::LoggedCall;
use crate::session::undo::Records;
use crate::session::undo::Selection;
use crate::session::undo::foreign::ForeignHistory;
use crate::session::undo::foreign::ForeignRecords;
use crate::session::unpack::is_compressed;
use crate::text::PathText;

use super::args::Globals;
use super::args::UndoArgs;
use super::change;
use super::change::Changed;
use super::change::Place;
use super::change::Planned;
use super::change::Request;
use super::change::Showing;
use super::exit::Exit;
use super::fail::Fail;
use super::session_log::Log;
use super::session_log::Turn;
use super::streams::Console;
use super::streams::read_input;

/// Runs the command.
pub fn run(args: &UndoArgs, globals: &Globals, console: &Console) -> Result<Exit, Fail> {
    let source = Source::of(&args.source)?;
    let root = change::open_root(&globals.root)?;
    let Some(keeper) = source.keeper()? else {
        let message = "the log is empty: there is nothing to undo";
        return refused(Problem::new(Code::CountDiffers, message), args, console);
    };
    let turn = Turn::default();
    // Both locks are taken before the log is read, so that no call comes in between: that of the root first, as all do.
    let (journal, made_good) = change::begin(&root, &args.change)?;
    made_good.iter().for_each(|note| console.note(note));
    // Nothing is ever appended to the log of another agent.
    let own = source.path().filter(|_| keeper == Keeper::Hunkwise);
    let path = args.change.log.as_deref().or(own).filter(|_| !args.change.check);
    let log = path.map(|path| Log::open(path, &root, &turn)).transpose()?;
    if keeper == Keeper::Another && path.is_none() && !args.change.check {
        console.note(
            "the log is another agent's, so the undo is not written there; --log FILE keeps a record of it",
        );
    }
    let history = source.history(keeper)?;
    for note in notes(&history) {
        console.note(&note);
    }
    if let Some(folder) = history.cwd.as_deref().filter(|folder| Path::new(folder) != root.dir())
        && keeper == Keeper::Another
    {
        let root = root.dir().display();
        console.note(&format!("the log was begun in {folder}: its files are looked for in {root}"));
    }
    let selection = selection(args);
    let chosen: Vec<&LoggedCall> = match history.select(&selection) {
        Ok(chosen) => chosen.into_iter().map(|index| &history.calls[index]).collect(),
        Err(problem) => return refused(*problem, args, console),
    };
    let mut found = source.records(&chosen, keeper)?;
    let mut undo = Undo {
        args,
        root: &root,
        planner: Planner::new(Options::default()),
        reals: HashMap::new(),
        emptied: Vec::new(),
    };
    let read_since = change::now();
    let problems = undo.plan(&chosen, &mut found, &history)?;
    let planned = Planned {
        plan: undo.planner.finish(),
        problems,
        undoes: chosen.iter().map(|call| call.reference()).collect(),
        read_since,
    };
    let request = Request {
        command: CommandName::Undo,
        tool: None,
        edits: &[],
        options: Options::default(),
        refused: None,
        arguments: &|| arguments(&selection),
        turn: &turn,
    };
    let place = Place { root: &root, journal, log, showing: Showing::on(console) };
    let changed = change::finish(&request, planned, &args.change, place, Vec::new())?;
    if changed.outcome.ok && !args.change.check {
        undo.emptied.iter().for_each(|(path, count)| root.remove_empty_folders(path, *count));
    }
    change::tell(&changed, console)
}

/// Says that nothing can be undone. It is no call yet that a log would hold.
fn refused(problem: Problem, args: &UndoArgs, console: &Console) -> Result<Exit, Fail> {
    let fail = Fail::new(problem);
    let exit = Exit::of(&fail.report);
    let outcome = outcome::refused(*fail.report, CommandName::Undo, args.change.check);
    change::tell(&Changed { outcome, notes: Vec::new(), not_logged: None, exit, drawn: None }, console)
}

fn selection(args: &UndoArgs) -> Selection {
    match (&args.call, args.turn) {
        (Some(id), _) => Selection::Call(id.clone()),
        (None, Some(turns)) => Selection::Turns(turns.first, turns.last),
        (None, None) => Selection::Last(args.last.unwrap_or(1)),
    }
}

fn arguments(selection: &Selection) -> String {
    match selection {
        Selection::Last(count) => json!({ "last": count }),
        Selection::Call(id) => json!({ "call": id }),
        Selection::Turns(first, last) => json!({ "turn": [first, last] }),
    }
    .to_string()
}

fn notes(history: &History) -> Vec<String> {
    let mut notes = history.notes.clone();
    if history.bad_lines > 0 {
        let lines = if history.bad_lines == 1 { "line" } else { "lines" };
        notes.push(format!("{} {lines} of the log not readable", history.bad_lines));
    }
    if let Some(last) = history.unanswered.last() {
        let more = match history.unanswered.len() {
            1 => String::new(),
            count => format!(" and {} before it", count - 1),
        };
        notes.push(format!("{last}{more} has no result in the log: what it did, if anything, is not known"));
    }
    notes
}

/// Who writes a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeper {
    /// hunkwise: its records hold the bytes, and an undo is appended to it.
    Hunkwise,
    /// Another agent: an undo goes by what it recorded, and nothing is appended.
    Another,
}

/// Patches in any text have no results that could be taken back.
fn foreign_options() -> ReplayOptions {
    ReplayOptions { is_known_only: true, ..ReplayOptions::default() }
}

/// The log that is read: a file that can be read again, or what came on standard input or through a pipe.
enum Source<'a> {
    File(&'a Path),
    Bytes(Vec<u8>),
}

impl<'a> Source<'a> {
    fn of(path: &'a Path) -> Result<Self, Fail> {
        // What can be read once only is held: a log is read several times.
        if path == Path::new("-") || is_stream(path) {
            return Ok(Source::Bytes(read_input(Some(path), "log")?));
        }
        Ok(Source::File(path))
    }

    fn path(&self) -> Option<&'a Path> {
        match self {
            Source::File(path) => Some(path),
            Source::Bytes(_) => None,
        }
    }

    fn name(&self) -> &Path {
        self.path().unwrap_or(Path::new("standard input"))
    }

    /// Tells whose log it is; nothing if there is nothing in it.
    fn keeper(&self) -> Result<Option<Keeper>, Fail> {
        let mut head = Vec::new();
        self.read(&mut |block| {
            head.extend_from_slice(&block[..block.len().min(DETECT_BYTES)]);
            head.len() < DETECT_BYTES
        })?;
        if head.trim_ascii().is_empty() {
            return Ok(None);
        }
        // One that is compressed tells what it is when it is read.
        let head = &head[..head.len().min(DETECT_BYTES)];
        match detect(head) {
            _ if is_compressed(head) => Ok(Some(Keeper::Another)),
            // Any text may hold patches, and no record.
            Ok(Format::Generic) => Err(self.no_log(&DetectError::Unknown)),
            Ok(Format::Dsh) => {
                let history = self.history(Keeper::Hunkwise)?;
                let is_own =
                    history.calls.is_empty() || history.calls.iter().any(|call| call.holds != Holds::NoBytes);
                Ok(Some(if is_own { Keeper::Hunkwise } else { Keeper::Another }))
            }
            Ok(_) => Ok(Some(Keeper::Another)),
            Err(error) => Err(self.no_log(&error)),
        }
    }

    fn no_log(&self, error: &dyn std::fmt::Display) -> Fail {
        Fail::new(Problem::new(Code::Malformed, format!("{}: {error}", self.name().display())))
    }

    fn history(&self, keeper: Keeper) -> Result<History, Fail> {
        if keeper == Keeper::Another {
            let mut reader = ForeignHistory::new(foreign_options());
            self.read(&mut |block| {
                reader.push(block);
                true
            })?;
            return reader.finish().map_err(|error| self.no_log(&error));
        }
        let mut reader = HistoryReader::default();
        self.read(&mut |block| {
            reader.push(block);
            true
        })?;
        Ok(reader.finish())
    }

    fn records(&self, chosen: &[&LoggedCall], keeper: Keeper) -> Result<Found, Fail> {
        if keeper == Keeper::Another {
            let mut records = ForeignRecords::of(chosen.iter().copied(), foreign_options());
            self.read(&mut |block| {
                records.push(block);
                true
            })?;
            return records.finish().map_err(|error| self.no_log(&error));
        }
        let mut records = Records::of(chosen.iter().copied());
        self.read(&mut |block| {
            records.push(block);
            true
        })?;
        Ok(records.finish())
    }

    /// Reads blocks from the beginning, as long as more is wanted.
    fn read(&self, take: &mut dyn FnMut(&[u8]) -> bool) -> Result<(), Fail> {
        let read = match self {
            Source::File(path) => Blocks::open(path).and_then(|blocks| read_blocks(blocks, take)),
            Source::Bytes(bytes) => read_blocks(Blocks::over(bytes.as_slice()), take),
        };
        read.map_err(|error| Fail::io("read", self.name(), &error))
    }
}

fn read_blocks<R: Read>(mut blocks: Blocks<R>, take: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<()> {
    while let Some(block) = blocks.next_block()? {
        if !take(block) {
            break;
        }
    }
    Ok(())
}

/// The way back, as it is planned call by call.
struct Undo<'a> {
    args: &'a UndoArgs,
    root: &'a Root,
    planner: Planner,
    /// Where the paths of records lead.
    reals: HashMap<PathText, PathText>,
    /// Files for which so many of the folders around them were made.
    emptied: Vec<(PathText, usize)>,
}

impl Undo<'_> {
    /// Plans the calls, newest first; returns what is in the way of the first one that does not fit.
    fn plan(
        &mut self,
        chosen: &[&LoggedCall],
        found: &mut Found,
        history: &History,
    ) -> Result<Vec<Problem>, Fail> {
        let mut first = 1;
        for call in chosen {
            let record = found.take(call).ok_or_else(|| {
                let message = format!("line {} of the log is another one now", call.line);
                Fail::new(Problem::new(Code::Io, message))
            })?;
            self.fill(&record);
            if let Err(problems) = self.planner.inverse(first, &record) {
                let told = problems.into_iter().map(|problem| self.explained(problem, call, found, history));
                return Ok(told.collect());
            }
            first += record.files.len();
        }
        Ok(Vec::new())
    }

    fn fill(&mut self, record: &RecordMeta) {
        let change = &self.args.change;
        for want in self.planner.wants_inverse(record) {
            let given = Looks::new(self.root).answer(&want, change.access());
            self.reals.insert(want.path.clone(), given.real.clone());
            self.planner.give(want, given);
        }
        for file in record.files.iter().filter(|file| file.made_folders > 0) {
            let real = self.reals.get(&recorded_path(file)).cloned();
            self.emptied.extend(real.map(|real| (real, file.made_folders)));
        }
    }

    /// Adds to a problem which call it is about, and who changed the file later.
    fn explained(&self, problem: Problem, call: &LoggedCall, found: &Found, history: &History) -> Problem {
        let later = problem.path.as_deref().and_then(|path| found.later_changes(path, call));
        let elsewhere = history
            .cwd
            .as_deref()
            .filter(|cwd| problem.code == Code::FileMissing && Path::new(cwd) != self.root.dir());
        let more = match (later, elsewhere) {
            (Some(later), _) => Some(later),
            (None, Some(cwd)) => Some(format!("the log was begun in {cwd}: is --root right?")),
            (None, None) if problem.code == Code::Stale => Some(match history.unanswered.last() {
                Some(last) => {
                    format!("it was not changed by a call with a result in this log; perhaps by {last}")
                }
                None => "it was not changed by a call of this log".to_owned(),
            }),
            (None, None) => None,
        };
        let hint = match (more, problem.hint) {
            (Some(more), Some(hint)) => Some(format!("{more}; {hint}")),
            (more, hint) => more.or(hint),
        };
        Problem { message: format!("{} (undoing {})", problem.message, call.id), hint, ..problem }
    }
}
