//! What clients of the Agent Client Protocol, of either version, read: `session/update` notifications.

use serde::Serialize;

/// A notification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AcpMessage {
    /// Always `2.0`.
    pub jsonrpc: &'static str,
    /// Always `session/update`.
    pub method: &'static str,
    /// What it says.
    pub params: AcpParams,
}

/// What a notification says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AcpParams {
    /// The session.
    pub session_id: String,
    /// The update.
    pub update: AcpUpdate,
}

/// A tool call, or news of it; `content` replaces what was sent before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AcpUpdate {
    /// `tool_call` at first, then `tool_call_update`; in version 2 always that.
    pub session_update: &'static str,
    /// The call.
    pub tool_call_id: String,
    /// What a person is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `edit`, `delete` or `move`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// `pending`: nothing is done yet, as far as is known; `completed`; `failed` if the call was not, or can't be, carried
    /// out.
    pub status: &'static str,
    /// The changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<AcpContent>>,
    /// Where they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locations: Option<Vec<AcpLocation>>,
}

/// One piece of a call's content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum AcpContent {
    /// A change of a file, as version 1 has it.
    Diff {
        /// Absolute path.
        path: String,
        /// The old side; null for a new file.
        old_text: Option<String>,
        /// The new side.
        new_text: String,
    },
    /// Changes of files, as version 2 has them.
    #[serde(rename = "diff")]
    Changes {
        /// What happens to which file.
        changes: Vec<AcpChange>,
        /// How, where it can be told.
        #[serde(skip_serializing_if = "Option::is_none")]
        patch: Option<AcpPatch>,
    },
    /// A message.
    Content {
        /// The text.
        content: AcpText,
    },
}

/// A text block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename = "text")]
pub struct AcpText {
    /// The text.
    pub text: String,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AcpLocation {
    /// Absolute path.
    pub path: String,
    /// 1-based line, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

/// What happens to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AcpChange {
    /// `add`, `delete`, `modify`, `move` or `copy`.
    pub operation: &'static str,
    /// Absolute path; of a move or a copy the new one.
    pub path: String,
    /// Where a moved or copied file came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_path: Option<String>,
    /// `text`, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_type: Option<&'static str>,
}

/// Changes as a patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AcpPatch {
    /// Always `git_patch`.
    pub format: &'static str,
    /// The patch.
    pub text: String,
}
