//! SWE-agent: its trajectories, `.traj`.
//!
//! ```text
//! log  = {"environment","trajectory":[step*],"history":[...],"info":{"submission",...}}
//!      | {"info":{"submission",...},"messages":[...],"trajectory_format":"mini-swe-agent..."}
//! step = {"action","observation","state":{"open_file","working_dir"} | JSON of that}
//! ```
//!
//! What an action asks for is in [`command`]; what it did, the observation tells in words, with the lines of the open
//! file ([`window`]). The lines that an edit replaces are known where they were shown before. `submission` is the diff of
//! all edits together, also of those by a shell's commands: its files are drawn only where no step told of them.

mod command;
mod window;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::report::CardStatus;
use crate::report::Operation;
use crate::report::Recorded;
use crate::session::event::Before;
use crate::session::event::Begin;
use crate::session::event::CallEvent;
use crate::session::event::CallResult;
use crate::session::event::ChangeContent;
use crate::session::event::FileChange;
use crate::session::event::Fragment;
use crate::session::event::LoggedHunk;
use crate::session::event::Place;
use crate::session::event::Request;

use super::lenient;
use super::text;
use command::Command;
use window::Window;

/// How many paths of edited files are remembered.
const PATHS_CAP: usize = 4096;

const FAILURES: [&str; 10] = [
    "Your proposed edit has introduced new syntax error",
    "Your changes have NOT been applied",
    "No replacement was performed",
    "not found in displayed lines",
    "No changes were made",
    "No file open",
    "already exists",
    "Usage: ",
    "Traceback (most recent call last)",
    "Invalid `",
];

const SUCCESSES: [&str; 7] = [
    "File updated",
    "Text replaced",
    "has been edited",
    "created successfully",
    "undone successfully",
    "[File: ",
    "was successfully",
];

/// Reads steps, one after the other.
#[derive(Debug, Default)]
pub struct SweAgent {
    steps: u64,
    /// The lines of the open file that were shown, while nothing else can have changed them.
    window: Option<Window>,
    /// The files of edits that were applied.
    edited: Vec<String>,
    submission: Option<String>,
    folder: Option<String>,
    /// Where the last step stands.
    place: Place,
}

#[derive(Deserialize)]
struct Step<'a> {
    #[serde(borrow)]
    action: Option<&'a RawValue>,
    #[serde(borrow)]
    observation: Option<&'a RawValue>,
    #[serde(borrow)]
    state: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
struct State {
    open_file: Option<String>,
    working_dir: Option<String>,
}

#[derive(Deserialize)]
struct Info<'a> {
    #[serde(borrow)]
    submission: Option<&'a RawValue>,
    #[serde(borrow)]
    exit_status: Option<&'a RawValue>,
}

/// What a step asks for, in the words of events.
struct Asked {
    tool: &'static str,
    path: String,
    request: Request<'static>,
    /// What was done, if the step was applied and more is known than what was asked for.
    done: Option<FileChange>,
    notes: Vec<String>,
}

impl SweAgent {
    /// Reads one step that stands by itself.
    ///
    /// # Errors
    /// The line is no step.
    pub fn read(
        &mut self,
        text: &str,
        line: usize,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) -> Result<(), serde_json::Error> {
        let step: Step<'_> = super::object(text)?;
        let Some(action) = self::text(step.action) else {
            return Err(serde::de::Error::missing_field("action"));
        };
        self.steps += 1;
        self.place = Place { line, turn: Some(self.steps), time: None };
        let state = state_of(step.state);
        if let Some(folder) =
            state.working_dir.as_ref().filter(|folder| self.folder.as_ref() != Some(*folder))
        {
            emit(CallEvent::Folder(Cow::Borrowed(folder)));
            self.folder = Some(folder.clone());
        }
        let observation = self::text(step.observation).map(|text| text.replace("\r\n", "\n"));
        let command = command::parse(action.trim());
        let window = observation.as_deref().and_then(Window::last);
        if let Some(asked) = self.asked(&command, &state, window.as_ref()) {
            self.tell(asked, observation, emit);
        }
        match (window, &command) {
            (Some(window), _) => self.window = Some(window),
            (None, Command::Look | Command::Submit) => {}
            (None, _) => self.window = None,
        }
        Ok(())
    }

    /// Reads one item of a list that is a field of the document.
    ///
    /// # Errors
    /// The item is no step.
    pub fn read_item(
        &mut self,
        key: Option<&str>,
        text: &str,
        line: usize,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) -> Result<(), serde_json::Error> {
        match key {
            None | Some("trajectory") => self.read(text, line, emit),
            Some(_) => Ok(()),
        }
    }

    /// Reads a field of the document.
    ///
    /// # Errors
    /// The `info` is no object.
    pub fn read_field(&mut self, key: &str, text: &str) -> Result<(), serde_json::Error> {
        if key == "info" {
            let info: Info<'_> = super::object(text)?;
            self.submission = self::text(info.submission);
        }
        Ok(())
    }

    /// Ends the log: tells of the files of the submission that no step told of.
    pub fn finish(&mut self, emit: &mut dyn FnMut(CallEvent<'_>)) {
        let Some(submission) = self.submission.take() else { return };
        let files = files_of(&submission);
        let count = files.len();
        let is_told = |file: &FileChange| {
            let end = format!("/{}", file.path);
            self.edited.iter().any(|path| *path == file.path || path.ends_with(&end))
        };
        let untold: Vec<FileChange> = files.into_iter().filter(|file| !is_told(file)).collect();
        if count > untold.len() {
            emit(CallEvent::Note(format!(
                "the submission is the diff of all edits: {} of its {count} files are drawn by their steps alone",
                count - untold.len()
            )));
        }
        if untold.is_empty() {
            return;
        }
        let place = Place { line: self.place.line.max(1), ..self.place.clone() };
        let call_id = "submission".to_owned();
        let notes = vec!["no step tells of these edits; a shell's command may have made them".to_owned()];
        emit(CallEvent::Begin(Begin {
            call_id: Cow::Borrowed(&call_id),
            tool: "submit".into(),
            request: Request::Changes(untold.clone()),
            place: place.clone(),
        }));
        let result = CallResult::new(call_id, place, CardStatus::Applied);
        emit(CallEvent::Result(Box::new(CallResult { changes: untold, notes, ..result })));
    }

    /// Returns what a step asks for; nothing of one that edits no file.
    fn asked(&self, command: &Command, state: &State, after: Option<&Window>) -> Option<Asked> {
        let open = || {
            let open = state.open_file.clone().filter(|path| !path.is_empty() && path != "n/a");
            open.or_else(|| after.or(self.window.as_ref()).map(|window| window.path.clone()))
                .unwrap_or_default()
        };
        let changed = |path: &str, content| FileChange::new(path.to_owned(), content);
        let mut notes = Vec::new();
        let (tool, path, request, done) = match command {
            Command::Lines { first, last, text } => {
                let path = open();
                let known = self.window.as_ref().filter(|window| is_same(&window.path, &path));
                let old = known.and_then(|window| window.between(*first, *last));
                let content = match old {
                    Some(old) => {
                        let signed = |sign: char, line: &str| format!("{sign}{line}");
                        let removed = old.iter().map(|line| signed('-', line));
                        let lines = removed.chain(text.lines().map(|line| signed('+', line))).collect();
                        let start = Some(*first);
                        ChangeContent::Hunks(vec![LoggedHunk { old_start: start, new_start: start, lines }])
                    }
                    None => {
                        notes.push(format!(
                            "lines {first} to {last} were to be replaced; what stood there is not recorded"
                        ));
                        ChangeContent::Path
                    }
                };
                let change = changed(&path, content);
                // Before it is known to be applied nothing has a number.
                ("edit", path, Request::Changes(vec![without_numbers(change.clone())]), Some(change))
            }
            Command::Replace { old, new, is_all } => {
                let path = open();
                let arguments =
                    json!({"path": path, "old_string": old, "new_string": new, "replace_all": is_all});
                ("edit", path, Request::Arguments(arguments.to_string().into()), None)
            }
            Command::Insert { text, after } => {
                let path = open();
                let new = format!("{text}\n");
                let hunks = vec![Fragment { new, ..Fragment::default() }];
                let content = ChangeContent::Fragments { hunks, recorded: Recorded::Request };
                let request = Request::Changes(vec![changed(&path, content)]);
                let done = after.map(|after| {
                    let lines = text.lines().map(|line| format!("+{line}")).collect();
                    let (old_start, new_start) = (Some(after), Some(after + 1));
                    changed(&path, ChangeContent::Hunks(vec![LoggedHunk { old_start, new_start, lines }]))
                });
                ("insert", path, request, done)
            }
            Command::Somewhere => {
                let path = open();
                notes.push("what was to be replaced is not recorded".to_owned());
                let request = Request::Changes(vec![changed(&path, ChangeContent::Path)]);
                ("edit", path, request, None)
            }
            Command::Create { path } => {
                let content = ChangeContent::Texts { before: Before::Absent, after: "\n".to_owned() };
                let change = FileChange { operation: Some(Operation::Create), ..changed(path, content) };
                ("create", path.clone(), Request::Changes(vec![change]), None)
            }
            Command::Editor { path, arguments } => {
                ("str_replace_editor", path.clone(), Request::Arguments(arguments.clone().into()), None)
            }
            Command::Look | Command::Submit | Command::Other => return None,
        };
        Some(Asked { tool, path, request, done, notes })
    }

    fn tell(&mut self, asked: Asked, observation: Option<String>, emit: &mut dyn FnMut(CallEvent<'_>)) {
        let Asked { tool, path, request, done, notes } = asked;
        let status = status_of(observation.as_deref());
        let call_id = self.steps.to_string();
        if status == CardStatus::Applied && self.edited.len() < PATHS_CAP && !self.edited.contains(&path) {
            self.edited.push(path);
        }
        let is_new = tool == "str_replace_editor"
            && observation
                .as_ref()
                .is_some_and(|observation| observation.contains("File created successfully"));
        let changes = done.into_iter().filter(|_| status == CardStatus::Applied).collect();
        emit(CallEvent::Begin(Begin {
            call_id: Cow::Borrowed(&call_id),
            tool: tool.into(),
            request,
            place: self.place.clone(),
        }));
        emit(CallEvent::Result(Box::new(CallResult {
            message: observation.map(|observation| without_windows(&observation)),
            notes,
            changes,
            operation: is_new.then_some(Operation::Create),
            ..CallResult::new(call_id, self.place.clone(), status)
        })));
    }
}

/// Returns the state of a step, which early versions store as JSON in a string.
fn state_of(raw: Option<&RawValue>) -> State {
    lenient(raw).or_else(|| serde_json::from_str(&text(raw)?).ok()).unwrap_or_default()
}

/// Tells whether two paths are of the same file; one may be relative.
fn is_same(path: &str, other: &str) -> bool {
    let is_end = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|start| start.ends_with('/'));
    path == other || is_end(path, other) || is_end(other, path)
}

fn without_numbers(mut change: FileChange) -> FileChange {
    if let ChangeContent::Hunks(hunks) = &mut change.content {
        for hunk in hunks {
            (hunk.old_start, hunk.new_start) = (None, None);
        }
    }
    change
}

/// Returns what an observation says became of an edit.
fn status_of(observation: Option<&str>) -> CardStatus {
    let Some(observation) = observation else { return CardStatus::Unknown };
    // What a file says behind its heading tells nothing.
    let words = without_windows(observation);
    let has = |words_wanted: &[&str]| words_wanted.iter().any(|word| words.contains(word));
    let begins_badly = ["Error", "ERROR", "error:"].iter().any(|word| words.trim_start().starts_with(word));
    if has(&FAILURES) || begins_badly {
        CardStatus::Failed
    } else if has(&SUCCESSES) {
        CardStatus::Applied
    } else {
        CardStatus::Unknown
    }
}

/// Leaves the lines of windows out of an observation; their headings stay.
fn without_windows(observation: &str) -> String {
    let is_shown = |line: &str| {
        let number = line.split(':').next().unwrap_or_default();
        let is_numbered =
            line.contains(':') && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_numbered || line.starts_with('(') && line.contains(" more lines ")
    };
    observation.lines().filter(|line| !is_shown(line)).collect::<Vec<_>>().join("\n")
}

/// Returns the files of a diff as git makes it, each with its own part.
fn files_of(diff: &str) -> Vec<FileChange> {
    let mut files: Vec<FileChange> = Vec::new();
    let mut part = String::new();
    for line in diff.split_inclusive('\n') {
        if line.starts_with("diff --git ") {
            files.extend(file_of(&std::mem::take(&mut part)));
        }
        part.push_str(line);
    }
    files.extend(file_of(&part));
    files
}

fn file_of(part: &str) -> Option<FileChange> {
    let named = |start: &str, prefix: &str| {
        let line = part
            .lines()
            .take_while(|line| !line.starts_with("@@"))
            .find_map(|line| line.strip_prefix(start))?;
        let name = line.split('\t').next()?.trim_end();
        (name != "/dev/null").then(|| name.strip_prefix(prefix).unwrap_or(name).to_owned())
    };
    let (old, new) = (named("--- ", "a/"), named("+++ ", "b/"));
    let (from, to) = (named("rename from ", ""), named("rename to ", ""));
    let content = match part.contains("\n@@ ") {
        true => ChangeContent::Unified(part.to_owned()),
        false if to.is_some() => ChangeContent::Hunks(Vec::new()),
        false => ChangeContent::Path,
    };
    let git_name = || {
        let line = part.lines().next()?.strip_prefix("diff --git a/")?;
        Some(line.split_once(" b/")?.1.to_owned())
    };
    let operation = match (&from, part.contains("\nnew file mode "), part.contains("\ndeleted file mode ")) {
        (Some(_), _, _) => Operation::Rename,
        (None, true, _) => Operation::Create,
        (None, false, true) => Operation::Delete,
        (None, false, false) => Operation::Update,
    };
    let path = to.or(new).or(old).or_else(git_name)?;
    Some(FileChange { from, operation: Some(operation), ..FileChange::new(path, content) })
}

/// Tells whether a document of this format may have such an item among its steps.
pub(super) fn is_step(key: Option<&str>, text: &[u8]) -> bool {
    key == Some("trajectory")
        && super::as_text(text)
            .and_then(|text| super::object::<Step<'_>>(text).ok())
            .is_some_and(|step| self::text(step.action).is_some() && step.observation.is_some())
}

/// Tells whether a document of this format may have such a field.
pub(super) fn is_field(key: &str, text: &[u8]) -> bool {
    let info = || super::as_text(text).and_then(|text| super::object::<Info<'_>>(text).ok());
    key == "trajectory_format"
        || key == "info" && info().is_some_and(|info| info.submission.is_some() && info.exit_status.is_some())
}
