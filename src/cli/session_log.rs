//! The session log that the calls of a run are appended to.
//!
//! A log is opened, locked and held to be one before anything is done; the call is written before the commit and its
//! result after it. Turns: what one run appends is one turn. If another run appends in between, what follows is a new
//! turn, so turns never go back and the last line tells the newest.

use std::cell::Cell;
use std::path::Path;

use crate::disk::log::LogError;
use crate::disk::log::LogFile;
use crate::disk::log::LogState;
use crate::disk::reason;
use crate::disk::root::Root;
use crate::plan::Stamp;
use crate::plan::outcome;
use crate::report::Code;
use crate::report::FileOutcome;
use crate::report::NoUndo;
use crate::report::Outcome;
use crate::report::Problem;
use crate::report::RecordMeta;
use crate::session::format::DETECT_BYTES;
use crate::session::format::dsh;
use crate::session::format::dsh::EventStamp;
use crate::session::format::dsh::LoggedResult;
use crate::session::frame::LINE_CAP_BYTES;
use crate::text::PathText;

use super::change::Recording;
use super::change::model_text;
use super::change::now_ms;
use super::fail::Fail;

/// How many lines from the end are looked at for the last turn; other writers' lines need not have one.
const LIMIT_TURN_LINES: usize = 1000;

/// The turn of a run, and how many calls it has had; nothing before the first.
#[derive(Debug, Default)]
pub struct Turn {
    last: Cell<Option<(u64, u64)>>,
}

impl Turn {
    /// Returns the turn and step of the next call in a log whose newest turn is given.
    fn next(&self, newest: u64) -> (u64, u64) {
        let next = match self.last.get() {
            Some((turn, step)) if turn == newest => (turn, step + 1),
            _ => (newest + 1, 1),
        };
        self.last.set(Some(next));
        next
    }
}

/// A session log that one call is appended to; it is locked as long as this lives.
pub struct Log<'a> {
    file: LogFile,
    path: &'a Path,
    /// The folder that a new log names as its own.
    cwd: String,
    turn: &'a Turn,
    /// Where the next event stands.
    stamp: EventStamp,
    call: LoggedCall,
}

/// The call whose result is still to be written.
#[derive(Debug, Default)]
struct LoggedCall {
    id: String,
    tool: String,
    arguments: String,
    seq: u64,
}

impl<'a> Log<'a> {
    /// Opens and locks the log; a new one gets its header.
    pub fn open(path: &'a Path, root: &Root, turn: &'a Turn) -> Result<Self, Fail> {
        Self::begin(path, root.dir().to_string_lossy().into_owned(), turn).map_err(Fail::new)
    }

    fn begin(path: &'a Path, cwd: String, turn: &'a Turn) -> Result<Self, Problem> {
        let mut file = LogFile::open_locked(path).map_err(|error| log_problem(&error))?;
        let stamp = continued(&mut file, &cwd, path, turn)?;
        Ok(Log { file, path, cwd, turn, stamp, call: LoggedCall::default() })
    }

    /// Returns the path as it was named.
    pub fn path(&self) -> &Path {
        self.path
    }

    /// Tells whether a file is the log, by whatever name it was found.
    pub fn is_same_file(&self, stamp: &Stamp) -> bool {
        self.file.is_same_file(stamp)
    }

    /// Returns an id for the next call that no call of this log has.
    pub fn next_call_id(&self) -> String {
        format!("call-{}", self.stamp.seq)
    }

    /// Appends a call.
    pub fn call(&mut self, id: &str, tool: &str, arguments: &str) -> Result<(), Fail> {
        self.call = LoggedCall {
            id: id.to_owned(),
            tool: tool.to_owned(),
            arguments: arguments.to_owned(),
            seq: self.stamp.seq,
        };
        self.append_call().map_err(Fail::new)
    }

    fn append_call(&mut self) -> Result<(), Problem> {
        self.call.seq = self.stamp.seq;
        let LoggedCall { id, tool, arguments, .. } = &self.call;
        self.append(&without_newline(dsh::call_line(now(self.stamp), id, tool, arguments)))
    }

    /// Returns the path by which another process finds the log; empty if it has none any more.
    pub fn real_path(&self) -> PathText {
        self.file.real_path().unwrap_or_default()
    }

    /// Returns the line of the call's result, without its newline. What the log can't take back of it is said in the
    /// outcome too.
    pub fn result_line(&self, done: &mut Outcome, mut record: Option<RecordMeta>) -> Vec<u8> {
        loop {
            for (file, kept) in done.files.iter_mut().zip(record.iter().flat_map(|record| &record.files)) {
                file.no_undo = kept.no_undo;
            }
            let result = LoggedResult {
                call_id: &self.call.id,
                call_seq: self.call.seq,
                ok: done.ok,
                text: &result_text(done),
                error: done.error.as_ref(),
                meta: record.as_ref(),
            };
            let line = without_newline(dsh::result_line(now(self.stamp), &result));
            // No reader takes a longer line.
            if line.len() <= LINE_CAP_BYTES || !record.as_mut().is_some_and(outcome::shed) {
                return line;
            }
        }
    }

    /// Appends the result of the call: the line that was made of it before, if there is one.
    pub fn result(
        &mut self,
        done: &mut Outcome,
        recording: &Recording<'_>,
        line: Option<Vec<u8>>,
        syncs: bool,
    ) -> Result<(), Problem> {
        let is_whole = self.file.state().map_err(|error| log_problem(&error))? == LogState::Whole;
        if !is_whole {
            self.begin_again()?;
        }
        let line = match line.filter(|_| is_whole) {
            Some(line) => line,
            None => {
                let record = recording.of(done);
                self.result_line(done, record)
            }
        };
        self.append(&line)?;
        if syncs { self.file.sync().map_err(|error| log_problem(&error)) } else { Ok(()) }
    }

    /// The call went with what somebody cut off or replaced: it is written anew, so that its result has one.
    fn begin_again(&mut self) -> Result<(), Problem> {
        let call = std::mem::take(&mut self.call);
        if self.file.state().map_err(|error| log_problem(&error))? == LogState::Gone {
            *self = Log::begin(self.path, std::mem::take(&mut self.cwd), self.turn)?;
        } else {
            self.file.look_again().map_err(|error| log_problem(&error))?;
            self.stamp = continued(&mut self.file, &self.cwd, self.path, self.turn)?;
        }
        self.call = call;
        self.append_call()
    }

    fn append(&mut self, line: &[u8]) -> Result<(), Problem> {
        self.file.append_line(line).map_err(|error| log_problem(&error))?;
        self.stamp.seq += 1;
        Ok(())
    }
}

/// Returns where the next event of a log stands; one that is empty gets its header.
fn continued(file: &mut LogFile, cwd: &str, path: &Path, turn: &Turn) -> Result<EventStamp, Problem> {
    let trouble = |error: LogError| log_problem(&error);
    let first_bytes = file.first_bytes(DETECT_BYTES).map_err(trouble)?;
    let last_line = file.last_line().map_err(trouble)?;
    let has_header = dsh::continues(&first_bytes, last_line.as_deref()).map_err(|error| {
        Problem::new(Code::Io, format!("nothing is appended to {}: {error}", path.display()))
            .with_hint("log to another file with --log")
    })?;
    let (mut seq, mut newest_turn) = (None, None);
    if has_header {
        for (count, line) in file.lines_back().enumerate() {
            let (line_seq, line_turn) = dsh::numbers(&line.map_err(trouble)?);
            seq = seq.or(line_seq);
            newest_turn = newest_turn.or(line_turn);
            if seq.is_some() && (newest_turn.is_some() || count >= LIMIT_TURN_LINES) {
                break;
            }
        }
    } else {
        let created = now_ms();
        let id = format!("{created:x}-{:x}", std::process::id());
        let header = dsh::header_line(&id, created, cwd);
        file.append_line(&without_newline(header)).map_err(trouble)?;
    }
    let (turn, step) = turn.next(newest_turn.unwrap_or(0));
    Ok(EventStamp { seq: seq.map_or(0, |seq| seq + 1), time_ms: 0, turn, step })
}

fn without_newline(mut line: Vec<u8>) -> Vec<u8> {
    line.pop_if(|byte| *byte == b'\n');
    line
}

fn now(stamp: EventStamp) -> EventStamp {
    EventStamp { time_ms: now_ms(), ..stamp }
}

fn log_problem(error: &LogError) -> Problem {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<std::io::Error>());
    let source = source.map(|source| format!(": {}", reason(source))).unwrap_or_default();
    Problem::new(Code::Io, format!("{error}{source}"))
}

/// Returns what a log says of an outcome: what was done, or every reason why nothing was.
fn result_text(done: &Outcome) -> String {
    if let Some(error) = &done.error {
        return format!("Error: {}", model_text(error));
    }
    let undone = done.undoes.iter().map(|call| format!("undoes {}", call.call_id));
    let files = done.files.iter().map(|file| format!("{} +{} -{}", file.path, file.added, file.removed));
    let lines: Vec<String> = undone.chain(files).chain(done.files.iter().filter_map(no_undo_text)).collect();
    if done.files.is_empty() { "nothing to do".to_owned() } else { lines.join("\n") }
}

/// Says of a file that the log can't take back what was done to it.
pub fn no_undo_text(file: &FileOutcome) -> Option<String> {
    let why = match file.no_undo? {
        NoUndo::TooLarge => "what was there before is larger than the log takes (--max-text)",
        NoUndo::Link => "it was a symbolic link, which the log does not hold",
    };
    Some(format!("{} can't be undone from the log: {why}", file.path))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::disk::input::Scratch;
    use crate::disk::input::read_file;
    use crate::plan::Plan;
    use crate::report::CommandName;

    struct Scene {
        scratch: Scratch,
        turn: Turn,
    }

    impl Scene {
        fn new() -> Self {
            Scene { scratch: Scratch::new("hunkwise-log-").unwrap(), turn: Turn::default() }
        }

        fn path(&self) -> PathBuf {
            self.scratch.path().join("log")
        }

        /// The lines as they are told apart: types, call ids, turns and steps.
        fn lines(&self) -> Vec<String> {
            let bytes = read_file(&self.path()).unwrap();
            let text = String::from_utf8(bytes).unwrap();
            let shown = |line: &str| -> String {
                let row: serde_json::Value = serde_json::from_str(line).unwrap();
                let data = &row["data"];
                let id = data["callId"].as_str().or(data["message"]["source"]["callId"].as_str());
                match (row["type"].as_str().unwrap(), id) {
                    (kind, Some(id)) => {
                        format!("{} {kind} {id} {}.{}", row["seq"], data["turn"], data["step"])
                    }
                    (kind, None) => kind.to_owned(),
                }
            };
            text.lines().map(shown).collect()
        }
    }

    fn done() -> Outcome {
        let error = outcome::error_report(vec![Problem::new(Code::Stale, "no")]).unwrap();
        outcome::refused(error, CommandName::Edit, false)
    }

    /// Logs a result that was made before the log was looked at again, as after a commit.
    fn result(log: &mut Log<'_>) -> Result<(), Problem> {
        let recording = Recording { plan: &Plan::default(), made_folders: Vec::new(), limit_undo_bytes: 0 };
        let line = log.result_line(&mut done(), None);
        log.result(&mut done(), &recording, Some(line), false)
    }

    /// Logs one call, with something happening between it and its result.
    fn log_call(scene: &Scene, turn: &Turn, between: impl FnOnce(&Path)) {
        let path = scene.path();
        let mut log = Log::begin(&path, "/w".to_owned(), turn).unwrap();
        let id = log.next_call_id();
        log.call(&id, "edit", "{}").unwrap();
        between(&path);
        result(&mut log).unwrap();
    }

    #[test]
    fn a_run_is_a_turn_until_another_run_comes_in_between() {
        let scene = Scene::new();
        let other = Turn::default();
        log_call(&scene, &scene.turn, |_| {});
        log_call(&scene, &scene.turn, |_| {});
        log_call(&scene, &other, |_| {});
        log_call(&scene, &scene.turn, |_| {});
        log_call(&scene, &scene.turn, |_| {});
        let calls: Vec<String> =
            scene.lines().into_iter().filter(|line| line.contains("tool/call")).collect();
        assert_eq!(
            calls,
            [
                "0 tool/call call-0 1.1",
                "2 tool/call call-2 1.2",
                "4 tool/call call-4 2.1",
                "6 tool/call call-6 3.1",
                "8 tool/call call-8 3.2"
            ]
        );
    }

    #[test]
    fn a_result_has_its_call_also_in_a_log_that_was_cut_or_replaced() {
        let whole = ["session", "0 tool/call call-0 1.1", "1 tool/result call-0 1.1"];
        let scene = Scene::new();
        log_call(&scene, &scene.turn, |path| {
            scene.scratch.write(path, b"").unwrap();
        });
        let lines = scene.lines();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert_eq!(lines[0], whole[0]);
        // Rotated by copying and cutting: the next log begins with this call.
        assert!(lines[1].starts_with("0 tool/call call-0 ") && lines[2].starts_with("1 tool/result call-0 "));

        // Rotated by renaming: the call stands in the old file, and so does its result.
        let scene = Scene::new();
        let rotated = scene.scratch.path().join("log.1");
        log_call(&scene, &scene.turn, |path| rustix::fs::rename(path, &rotated).unwrap());
        assert!(read_file(&scene.path()).is_err());
        rustix::fs::rename(&rotated, scene.path()).unwrap();
        assert_eq!(scene.lines(), whole);

        // Replaced: nothing names the old file any more, so call and result go to the new one.
        let scene = Scene::new();
        let new = scene.scratch.path().join("new");
        scene
            .scratch
            .write(&new, b"{\"type\":\"session\",\"version\":0,\"id\":\"n\",\"createdAt\":1}\n")
            .unwrap();
        log_call(&scene, &scene.turn, |path| rustix::fs::rename(&new, path).unwrap());
        let lines = scene.lines();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[1].starts_with("0 tool/call call-0 ") && lines[2].starts_with("1 tool/result call-0 "));

        // Replaced by something that is no log: nothing is written to it, and that is said.
        let scene = Scene::new();
        let path = scene.path();
        let mut log = Log::begin(&path, "/w".to_owned(), &scene.turn).unwrap();
        log.call("c", "edit", "{}").unwrap();
        scene.scratch.write(&new_name(&scene), b"# Notes\n").unwrap();
        rustix::fs::rename(new_name(&scene), &path).unwrap();
        let problem = result(&mut log).unwrap_err();
        assert!(problem.message.contains("not a session log"), "{}", problem.message);
        assert_eq!(read_file(&path).unwrap(), b"# Notes\n");
    }

    fn new_name(scene: &Scene) -> PathBuf {
        scene.scratch.path().join("new")
    }

    #[test]
    fn numbers_go_on_behind_lines_that_are_torn_or_have_none() {
        let scene = Scene::new();
        log_call(&scene, &scene.turn, |_| {});
        let mut bytes = read_file(&scene.path()).unwrap();
        bytes.extend_from_slice(b"{\"type\":\"session/title\",\"data\":{}}\n{\"type\":\"tool/res");
        scene.scratch.write(&scene.path(), &bytes).unwrap();
        log_call(&scene, &Turn::default(), |_| {});
        let bytes = read_file(&scene.path()).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let added: Vec<&str> = text.lines().skip(5).collect();
        assert_eq!(added.len(), 2);
        assert!(added[0].contains("\"seq\":2,") && added[0].contains("\"turn\":2,"), "{}", added[0]);
    }
}
