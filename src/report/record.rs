//! What a session log holds of an outcome: everything but the texts, and how to take it back.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::Serialize;

use super::Change;
use super::EolName;
use super::FileDiff;
use super::HunkMatch;
use super::Operation;

/// The `meta` of a `tool/result` event.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordMeta {
    /// The applied hunks of all files, in order.
    pub diffs: Vec<FileDiff>,
    /// One entry a path, as in the outcome.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<RecordFile>,
}

/// An outcome's entry without texts and hunks, with what restores the old bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordFile {
    /// The path afterwards (of a delete: before).
    pub path: String,
    /// What was done.
    pub operation: Operation,
    /// Where a renamed or copied file came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// SHA-256 of the bytes before; null if the file was absent.
    pub before_sha256: Option<String>,
    /// SHA-256 of the bytes after; null if the file is gone.
    pub after_sha256: Option<String>,
    /// The file's encoding.
    pub encoding: String,
    /// The line endings.
    pub eol: Change<EolName>,
    /// Whether there is a byte order mark.
    pub bom: Change<bool>,
    /// Whether the text ends in a newline.
    pub final_newline: Change<bool>,
    /// The mode in octal with its type.
    pub mode: Change<String>,
    /// How many places an edit replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replacements: Option<usize>,
    /// Count of added lines.
    pub added: usize,
    /// Count of removed lines.
    pub removed: usize,
    /// Where each requested hunk was found.
    #[serde(rename = "match", default)]
    pub matches: Vec<HunkMatch>,
    /// The replacements that lead from the bytes after back to the bytes before.
    pub undo: Vec<UndoSplice>,
}

/// One replacement of an undo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UndoSplice {
    /// Byte offset in the bytes after, 0-based.
    pub offset: usize,
    /// The bytes that stood there before, in base64.
    pub old: String,
    /// How many bytes stand there now.
    pub new_length: usize,
}
