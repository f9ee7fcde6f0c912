//! What a reader is shown for one call.

use schemars::JsonSchema;
use serde::Serialize;

use super::Change;
use super::EolName;
use super::ErrorReport;
use super::FileDiff;
use super::Operation;
use super::Problem;

/// The card of one tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Card {
    /// Which schema this is.
    pub schema: CardSchema,
    /// Always `diff`.
    pub card: CardKind,
    /// One line: the tool and its path or paths.
    pub title: String,
    /// What became of the call.
    pub status: CardStatus,
    /// Where the call was read.
    pub source: Source,
    /// The files that it names.
    pub files: Vec<CardFile>,
    /// The hunks of all files, in order.
    pub diffs: Vec<FileDiff>,
    /// The hunks that a failed or rejected call asked for: nothing of them was done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requested: Vec<FileDiff>,
    /// The reason of a failure, or what else the log says of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The reason of a failure with all its problems, where the log is hunkwise's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorReport>,
    /// What keeps the old texts of a failed call from being replaced in its files, as another agent's log told them
    /// before; nothing if they stand there once, and absent if they were not compared: the log did not tell the files, or
    /// too much was compared before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared: Option<Vec<Problem>>,
}

/// The name of the card schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub enum CardSchema {
    /// Version 1.
    #[default]
    #[serde(rename = "hunkwise/card/v1")]
    V1,
}

/// The kind of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CardKind {
    /// A change of files.
    #[default]
    Diff,
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CardStatus {
    /// It was done.
    Applied,
    /// Part of it was done.
    Partial,
    /// It was tried and failed.
    Failed,
    /// The user, a hook or a permission rule refused it.
    Rejected,
    /// It is staged for review.
    Held,
    /// The log has no result for it, or the input is no log.
    Unknown,
}

/// Where a call was read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// The log's or patch's format.
    pub format: String,
    /// 1-based line of the result, or of the call if there is no result.
    pub line: usize,
    /// The innermost id that the log gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The tool as the log names it.
    pub tool: String,
    /// The turn, as the log counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// The time, verbatim from the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The folder that the call ran in, verbatim from the log: relative paths of its files start there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The log, as it was named, where several are read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// How many calls the card is the net of; only of a net change, whose `line`, `time` and
    /// `log` are those of the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<usize>,
    /// Which part of the file's net change the card is; only where the logs do not tell how one goes on from the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stretch: Option<Stretch>,
}

/// A part of the net change of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Stretch {
    /// 1-based.
    pub number: usize,
    /// How many there are.
    pub of: usize,
}

/// One file of a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardFile {
    /// The path as the log writes it.
    pub path: String,
    /// What was done.
    pub operation: Operation,
    /// Where a renamed or copied file came from; of two files that are compared the name of the old one, if it is
    /// another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What became of this file, where it differs from the card.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<CardStatus>,
    /// Count of added lines; absent if not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<usize>,
    /// Count of removed lines; absent if not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<usize>,
    /// The line endings, where recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eol: Option<Change<EolName>>,
    /// The encoding, where recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Change<String>>,
    /// The mode in octal with its type, where recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Change<String>>,
    /// What the log recorded of the change.
    pub recorded: Recorded,
}

/// What a log recorded of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recorded {
    /// The applied hunks.
    Hunks,
    /// The texts before and after.
    Texts,
    /// Only the request: drawn as requested, without line numbers.
    Request,
    /// Only the path.
    Path,
}
