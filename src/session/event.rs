//! What a log, or a live stream, says of tool calls, in its order and in no vendor's words.

use std::borrow::Cow;

use crate::report::CardStatus;
use crate::report::FileDiff;
use crate::report::Operation;
use crate::report::RecordFile;

/// One thing that a log says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallEvent<'a> {
    /// The model called a tool.
    Begin(Begin<'a>),
    /// The user, or a rule, decided on a call before it ran.
    Decided {
        /// The call.
        call_id: Cow<'a, str>,
        /// The log's word for the refusal; absent if the call was allowed.
        refusal: Option<Cow<'a, str>>,
    },
    /// The tool answered.
    Result(Box<CallResult>),
    /// Something that a reader of the log should know.
    Note(String),
}

/// A call as the model made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begin<'a> {
    /// The id that joins call and result.
    pub call_id: Cow<'a, str>,
    /// The tool as the log names it.
    pub tool: Cow<'a, str>,
    /// The arguments as the model wrote them: JSON, or what it took for JSON.
    pub arguments: Cow<'a, str>,
    /// Where it stands in the log.
    pub place: Place,
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
    /// The applied hunks; empty if the log holds none, or none that are whole.
    pub diffs: Vec<FileDiff>,
    /// What was done to the file, of a tool that changes one.
    pub operation: Option<Operation>,
    /// The changed files, where the log holds more than hunks.
    pub files: Vec<RecordFile>,
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
