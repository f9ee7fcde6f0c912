//! What a log, or a live stream, says of tool calls, in its order and in no vendor's words.

use std::borrow::Cow;

use crate::report::CardStatus;
use crate::report::ErrorReport;
use crate::report::FileDiff;
use crate::report::Operation;
use crate::report::RecordFile;
use crate::report::Recorded;

/// One thing that a log says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallEvent<'a> {
    /// The model called a tool.
    Begin(Begin<'a>),
    /// An open call is told anew: this takes the place of what it asked for. One that is not open begins.
    Amended(Begin<'a>),
    /// The user, or a rule, decided on a call before it ran.
    Decided {
        /// The call.
        call_id: Cow<'a, str>,
        /// The log's word for the refusal; absent if the call was allowed.
        refusal: Option<Cow<'a, str>>,
    },
    /// The tool answered.
    Result(Box<CallResult>),
    /// An open call is told better by another one: it gets no card of its own.
    Superseded {
        /// The call.
        call_id: Cow<'a, str>,
    },
    /// The folder that calls run in from here on, as the log names it: relative paths start there.
    Folder(Cow<'a, str>),
    /// Something that a reader of the log should know.
    Note(String),
}

/// Takes what a log says, one event after the other.
pub type Emit<'e> = dyn FnMut(CallEvent<'_>) + 'e;

/// A call as the model made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begin<'a> {
    /// The id that joins call and result.
    pub call_id: Cow<'a, str>,
    /// The tool as the log names it.
    pub tool: Cow<'a, str>,
    /// What it asks for.
    pub request: Request<'a>,
    /// Where it stands in the log.
    pub place: Place,
}

/// Within what the ids of calls tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IdScope {
    /// One turn: the same id and request in another turn is another call.
    #[default]
    Turn,
    /// The whole log: the same id and request is a copy, wherever it stands.
    Log,
}

/// What a call asks for, as the log holds it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Request<'a> {
    /// The arguments as the model wrote them: JSON, or what it took for JSON. Only the tool's name tells whether the
    /// call edits files.
    Arguments(Cow<'a, str>),
    /// The text of a patch, of a tool whose whole input it is.
    Patch(Cow<'a, str>),
    /// What the log says of each file; of a tool that edits, whatever its name.
    Changes(Vec<FileChange>),
}

impl Request<'_> {
    /// Returns the request with texts of its own.
    pub fn into_owned(self) -> Request<'static> {
        match self {
            Request::Arguments(text) => Request::Arguments(Cow::Owned(text.into_owned())),
            Request::Patch(text) => Request::Patch(Cow::Owned(text.into_owned())),
            Request::Changes(changes) => Request::Changes(changes),
        }
    }

    /// Returns about how much memory the texts take, in bytes.
    pub fn length_bytes(&self) -> usize {
        match self {
            Request::Arguments(text) | Request::Patch(text) => text.len(),
            Request::Changes(changes) => changes.iter().map(FileChange::length_bytes).sum(),
        }
    }
}

/// What a log says of one file of a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileChange {
    /// The path as the log has it; of a rename the new one.
    pub path: String,
    /// Where a renamed or copied file came from.
    pub from: Option<String>,
    /// What was done; told from the content where the log does not say.
    pub operation: Option<Operation>,
    /// What became of this file, where the log says it of each.
    pub status: Option<CardStatus>,
    /// The change.
    pub content: ChangeContent,
    /// The whole text before as a JSON string with its quotes, where the log has it beside hunks: it is decoded only where
    /// it counts.
    pub before_json: Option<String>,
}

impl FileChange {
    /// Returns a change of which the log tells only the content.
    pub fn new(path: String, content: ChangeContent) -> Self {
        FileChange { path, from: None, operation: None, status: None, content, before_json: None }
    }

    fn length_bytes(&self) -> usize {
        self.path.len()
            + self.before_json.as_ref().map_or(0, String::len)
            + match &self.content {
                ChangeContent::Hunks(hunks) => hunks
                    .iter()
                    .flat_map(|hunk| &hunk.lines)
                    .map(|line| line.len() + size_of::<String>())
                    .sum(),
                ChangeContent::Unified(text) => text.len(),
                ChangeContent::Texts { before: Before::Text(before), after } => before.len() + after.len(),
                ChangeContent::Texts { before: Before::Absent | Before::Unknown, after } => after.len(),
                ChangeContent::Replacement { old, new } => old.len() + new.len(),
                ChangeContent::Fragments { hunks, .. } => {
                    hunks.iter().map(|hunk| hunk.old.len() + hunk.new.len()).sum()
                }
                ChangeContent::Path => 0,
            }
    }
}

/// A change of one file as a log holds it, best first.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ChangeContent {
    /// Hunks whose lines have their signs.
    Hunks(Vec<LoggedHunk>),
    /// The text of a unified diff of the one file, with or without headers; its hunk headers give the line numbers.
    Unified(String),
    /// The whole texts.
    Texts {
        /// The text before.
        before: Before,
        /// The text after; of a delete empty.
        after: String,
    },
    /// A part of the file and what came in its place, without a line number.
    Replacement {
        /// The part; empty of an insertion.
        old: String,
        /// What stands there instead.
        new: String,
    },
    /// Parts of the file and what came in their place, without signs.
    Fragments {
        /// The parts, in order.
        hunks: Vec<Fragment>,
        /// [`Recorded::Hunks`] or [`Recorded::Request`].
        recorded: Recorded,
    },
    /// Nothing but the path.
    Path,
}

/// A part of a file before and after a change. Texts that end with a newline are whole lines; others may lack the last
/// one's.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Fragment {
    /// The part; empty of an insertion.
    pub old: String,
    /// What stands there instead.
    pub new: String,
    /// 1-based number of the first old line, if the log has it.
    pub old_start: Option<usize>,
    /// 1-based number of the first new line, if the log has it.
    pub new_start: Option<usize>,
}

/// What a log says of a file's text before a change.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Before {
    /// The file was not there.
    Absent,
    /// The log does not have it.
    Unknown,
    /// The text.
    Text(String),
}

/// A hunk as a log holds it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct LoggedHunk {
    /// 1-based number of the first old line, if the log has it; 0 or 1 on an empty side.
    pub old_start: Option<usize>,
    /// 1-based number of the first new line, if the log has it; 0 or 1 on an empty side.
    pub new_start: Option<usize>,
    /// The lines with their signs, without their newlines. A line that begins with a backslash says that the one before
    /// it ends the file without a newline.
    pub lines: Vec<String>,
}

/// Where an event stands in its log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// 1-based line.
    pub line: usize,
    /// The turn, as the log counts.
    pub turn: Option<u64>,
    /// The time, verbatim from the log.
    pub time: Option<String>,
}

/// A result as the log has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallResult {
    /// The call.
    pub call_id: String,
    /// Where it stands in the log.
    pub place: Place,
    /// What the log says became of the call.
    pub status: CardStatus,
    /// The text of the result, as the model was shown it.
    pub message: Option<String>,
    /// What a reader of the card should know, whatever became of the call.
    pub notes: Vec<String>,
    /// What the log says of each file that was changed; empty if it holds only `diffs`, or nothing.
    pub changes: Vec<FileChange>,
    /// The applied hunks, where the log has them as hunkwise does; empty if it holds none, or none that are whole.
    pub diffs: Vec<FileDiff>,
    /// What was done to the file, of a tool that changes one.
    pub operation: Option<Operation>,
    /// The changed files, where the log is hunkwise's own.
    pub files: Vec<RecordFile>,
    /// What was wrong, where the log is hunkwise's own.
    pub error: Option<Box<ErrorReport>>,
}

impl CallResult {
    /// Returns a result that says only what became of the call.
    pub fn new(call_id: String, place: Place, status: CardStatus) -> Self {
        CallResult {
            call_id,
            place,
            status,
            message: None,
            notes: Vec::new(),
            changes: Vec::new(),
            diffs: Vec::new(),
            operation: None,
            files: Vec::new(),
            error: None,
        }
    }
}

/// One thing that a live stream says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiveEvent<'a> {
    /// The model begins to call a tool.
    Begin(LiveBegin<'a>),
    /// A piece of an open call's input.
    Delta {
        /// The call.
        key: CallKey<'a>,
        /// The piece.
        text: Words<'a>,
    },
    /// The input of calls is complete.
    End {
        /// Which calls.
        calls: Scope<'a>,
        /// The whole input, which counts only if no piece of it came.
        whole: Option<Words<'a>>,
    },
    /// Calls that are open stay incomplete.
    Cut {
        /// Which calls.
        calls: Scope<'a>,
        /// Why, in the stream's words.
        reason: Cow<'a, str>,
    },
    /// A piece of what the model says beside its calls.
    Text {
        /// The piece.
        text: Words<'a>,
    },
}

/// The beginning of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveBegin<'a> {
    /// What names the call in the events after this.
    pub key: CallKey<'a>,
    /// Another name that events may use.
    pub alias: Option<Cow<'a, str>>,
    /// The id that the tool's result will have.
    pub call_id: Option<Cow<'a, str>>,
    /// The tool as the stream names it.
    pub tool: Cow<'a, str>,
    /// What the input is.
    pub body: LiveBody<'a>,
    /// The stream may tell of a call again when it is over: an id that was there names the same call.
    pub repeats: bool,
}

/// What the input of a call is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiveBody<'a> {
    /// The text of a patch.
    Text,
    /// The arguments of a tool, as JSON.
    Arguments,
    /// The hunks of one file edit, without path.
    Hunks {
        /// The path.
        path: Cow<'a, str>,
        /// What is done to it.
        operation: Operation,
    },
}

/// What tells the open calls of a stream apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallKey<'a> {
    /// A group (a message, or a choice) and a position in it.
    Place(u64, u64),
    /// A name.
    Id(Cow<'a, str>),
}

/// Which calls are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope<'a> {
    /// One.
    Call(CallKey<'a>),
    /// All of one group.
    Group(u64),
    /// All that are open.
    All,
}

/// A text as a stream has it; it is decoded only if it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Words<'a> {
    /// A JSON string with its quotes.
    Quoted(&'a str),
    /// The text itself.
    Plain(Cow<'a, str>),
}
