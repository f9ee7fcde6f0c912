//! What Codex's clients read of a patch that is still being written.

use std::collections::BTreeMap;

use serde::Serialize;

/// Codex's `patch_apply_updated` event: the whole state so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CodexUpdate {
    /// Always `patch_apply_updated`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The call; empty for raw text.
    pub call_id: String,
    /// The changes by path; of a move, by the old one.
    pub changes: BTreeMap<String, CodexChange>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum CodexChange {
    /// A new file.
    Add {
        /// Its content so far.
        content: String,
    },
    /// A file that goes.
    Delete {
        /// Always empty while the patch is written.
        content: String,
    },
    /// A file that changes.
    Update {
        /// Its hunks so far, without file headers.
        unified_diff: String,
        /// Where it moves to.
        move_path: Option<String>,
    },
}
