//! What a log says of tool calls, in the order of the log and in no vendor's words.

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
