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
    /// One entry a path, as in the outcome. Also there when it is empty: it tells this record from those that hold
    /// hunks only.
    #[serde(default)]
    pub files: Vec<RecordFile>,
    /// The calls that this one took back, newest first; only of an undo.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undoes: Vec<UndoneCall>,
}

/// A call that an undo took back.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UndoneCall {
    /// Its id.
    pub call_id: String,
    /// The number of its result in the log: an id may come again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
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
    /// Whether it is guessed from the bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub encoding_guessed: bool,
    /// The encoding before, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding_before: Option<String>,
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
    /// Why there is no way back: then `undo` is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_undo: Option<NoUndo>,
    /// Which lines of the hunks end in CRLF, by their 1-based numbers in the file before and after: only where the lines of
    /// the file do not all end in the same way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crlf: Option<CrlfLines>,
    /// The file that a rename replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<ReplacedFile>,
    /// How many of the folders that the path lies in were made for it, the innermost ones.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub made_folders: usize,
    /// A symbolic link went or was moved, not the file that it leads to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub link: bool,
    /// The bytes of `path` in base64, where they are not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_base64: Option<String>,
    /// The bytes of `from` in base64, where they are not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_base64: Option<String>,
}

impl RecordFile {
    /// Returns what says of a file in UTF-8 only what was done to it.
    pub fn new(path: String, operation: Operation) -> Self {
        RecordFile {
            path,
            operation,
            from: None,
            before_sha256: None,
            after_sha256: None,
            encoding: "utf-8".to_owned(),
            encoding_guessed: false,
            encoding_before: None,
            eol: Change { before: None, after: None },
            bom: Change::default(),
            final_newline: Change::default(),
            mode: Change::default(),
            replacements: None,
            added: 0,
            removed: 0,
            matches: Vec::new(),
            undo: Vec::new(),
            no_undo: None,
            crlf: None,
            replaced: None,
            made_folders: 0,
            link: false,
            path_base64: None,
            from_base64: None,
        }
    }
}

/// Lines that end in CRLF.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CrlfLines {
    /// Of the old sides.
    pub before: Vec<usize>,
    /// Of the new sides.
    pub after: Vec<usize>,
}

/// Why a log can't take a change back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoUndo {
    /// What was there before is larger than a record holds.
    TooLarge,
    /// A symbolic link was made, deleted, replaced or made a file; records hold files only.
    Link,
}

/// A file that another one was moved over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplacedFile {
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// Its mode in octal with its type.
    pub mode: String,
    /// Its bytes, in base64.
    pub content: String,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
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
