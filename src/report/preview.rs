//! Tentative previews of a patch that is still being written.

use schemars::JsonSchema;
use serde::Serialize;

use super::ErrorReport;
use super::FileDiff;
use super::Operation;
use super::Problem;

/// One line of `preview --output json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum PreviewEvent {
    /// The whole state of a call so far.
    Preview {
        /// Which schema this is.
        schema: PreviewSchema,
        /// Position among all events of the run, from 0.
        seq: u64,
        /// The call; absent for raw text.
        #[serde(skip_serializing_if = "Option::is_none")]
        call_id: Option<String>,
        /// Always true: nothing here is done yet.
        tentative: bool,
        /// The file edits so far, in patch order.
        files: Vec<PreviewFile>,
    },
    /// The end of a call.
    Finish {
        /// Which schema this is.
        schema: PreviewSchema,
        /// Position among all events of the run, from 0.
        seq: u64,
        /// The call; absent for raw text.
        #[serde(skip_serializing_if = "Option::is_none")]
        call_id: Option<String>,
        /// Whether its syntax is right.
        ok: bool,
        /// Whether every hunk fits the files; null if that was not looked at.
        fits: Option<bool>,
        /// What is wrong, written for the model that made the patch.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<ErrorReport>,
    },
}

/// The name of the preview schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub enum PreviewSchema {
    /// Version 1.
    #[default]
    #[serde(rename = "hunkwise/preview/v1")]
    V1,
}

/// One file edit of a preview.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviewFile {
    /// 0-based position in the patch: two edits of one path stay two.
    pub index: usize,
    /// The path; of a rename, the new one.
    pub path: String,
    /// What it asks for.
    pub operation: Operation,
    /// Where a renamed file comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Count of added lines so far.
    pub added: usize,
    /// Count of removed lines so far.
    pub removed: usize,
    /// Whether the file edit is closed: no more of it will come.
    pub complete: bool,
    /// What is known of its place.
    pub placement: Placement,
    /// Why it does not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
    /// Its hunks so far: with line numbers where they are placed, as requested where they are not.
    pub diffs: Vec<FileDiff>,
}

/// What is known of the place of a file edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// Nothing yet, or it was not looked at.
    Unknown,
    /// Every hunk so far has its place.
    Located,
    /// A hunk, or the file, is not there.
    Missing,
    /// A hunk fits several places.
    Ambiguous,
    /// A file is in the way, or the change is already made.
    Exists,
    /// The edit is not allowed or not possible.
    Refused,
}
