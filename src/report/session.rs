//! One session of an agent, as the list of them has it.

use schemars::JsonSchema;
use serde::Serialize;

/// A session that was found where its agent keeps them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionEntry {
    /// Which schema this is.
    pub schema: SessionSchema,
    /// The agent, by the name of its format.
    pub agent: String,
    /// The path of its log.
    pub log: String,
    /// The paths of the logs of its sub-agents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sub_agent_logs: Vec<String>,
    /// The folder that the session began in, as the log names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The first thing that the user asked, at most 500 characters of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// When a log of it was written last: RFC 3339, UTC.
    pub modified: String,
    /// The length of its logs in bytes, as they are stored.
    pub length_bytes: u64,
    /// Counts of its calls that edit files, of sub-agents too.
    pub calls: CallCounts,
    /// Count of the files that were changed.
    pub files: usize,
    /// Count of the lines that were added, as far as it is recorded.
    pub added: usize,
    /// Count of the lines that were removed, as far as it is recorded.
    pub removed: usize,
    /// Why a log of it was not read, or not to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The name of the session schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub enum SessionSchema {
    /// Version 1.
    #[default]
    #[serde(rename = "hunkwise/session/v1")]
    V1,
}

/// Counts of calls by what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallCounts {
    /// Done.
    pub applied: usize,
    /// Done in part.
    pub partial: usize,
    /// Tried and failed.
    pub failed: usize,
    /// Refused by the user, a hook or a permission rule.
    pub rejected: usize,
    /// Staged for review.
    pub held: usize,
    /// Without a result in the log.
    pub unknown: usize,
}
