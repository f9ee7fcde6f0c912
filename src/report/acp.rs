//! What clients of the Agent Client Protocol, version 1, read: `session/update` notifications.

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
    pub session_id: &'static str,
    /// The update.
    pub update: AcpUpdate,
}

/// A tool call, or news of it; `content` replaces what was sent before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AcpUpdate {
    /// `tool_call` at first, then `tool_call_update`.
    pub session_update: &'static str,
    /// The call.
    pub tool_call_id: String,
    /// What a person is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `edit`, `delete` or `move`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// `pending`: nothing is done yet; `failed` if the call can't be carried out.
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
    /// A change of a file.
    Diff {
        /// Absolute path.
        path: String,
        /// The old side; null for a new file.
        old_text: Option<String>,
        /// The new side.
        new_text: String,
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
