//! One file of one call as a flat row, as engines for tables read it.

use schemars::JsonSchema;
use serde::Serialize;

use super::CardStatus;
use super::Operation;
use super::Recorded;
use super::Source;

/// What one call did to one file; a call that names no file is one row without a path.
///
/// A call is told by `log`, `line` and `callId` together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatRow {
    /// Which schema this is.
    pub schema: StatSchema,
    /// Where the call was read; the keys stand beside the others.
    #[serde(flatten)]
    pub source: Source,
    /// What became of the file.
    pub status: CardStatus,
    /// The path as the log writes it; absent of a call that names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What was done to it, or asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<Operation>,
    /// Where a renamed or copied file came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Count of added lines; absent if not recorded, or if the edit was not made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<usize>,
    /// Count of removed lines; absent if not recorded, or if the edit was not made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<usize>,
    /// What the log recorded of the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
}

/// The name of the stat schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub enum StatSchema {
    /// Version 1.
    #[default]
    #[serde(rename = "hunkwise/stat/v1")]
    V1,
}
