//! What a write, an edit, an apply or an undo did, or why it did nothing.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::Serialize;

use super::ErrorReport;
use super::FileDiff;
use super::NoUndo;
use super::UndoneCall;

/// What one run changed; also when it was refused, with `ok: false` and no files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// Which schema this is.
    pub schema: OutcomeSchema,
    /// Whether all of it was done (or would be, with `check`).
    pub ok: bool,
    /// The command that ran.
    pub command: CommandName,
    /// Whether nothing was written because only a check was asked for.
    pub check: bool,
    /// The id of the call, where one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The calls that are taken back, newest first; only of an undo.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undoes: Vec<UndoneCall>,
    /// One entry a path, in patch order, net of all edits of that path.
    pub files: Vec<FileOutcome>,
    /// What is wrong, if something is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorReport>,
}

/// The name of the outcome schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub enum OutcomeSchema {
    /// Version 1.
    #[default]
    #[serde(rename = "hunkwise/outcome/v1")]
    V1,
}

/// A command that changes files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CommandName {
    /// `hunkwise apply`, also under the name `apply_patch`.
    Apply,
    /// `hunkwise write`.
    Write,
    /// `hunkwise edit`.
    Edit,
    /// `hunkwise undo`.
    Undo,
}

/// What happened to one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileOutcome {
    /// The path afterwards (of a delete: before), relative to the root, with `/`.
    pub path: String,
    /// What was done.
    pub operation: Operation,
    /// Where a renamed or copied file came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The text before, with LF and without BOM; null on a create, or if it can't be shown as text.
    pub before: Option<String>,
    /// The text after, with LF and without BOM; null on a delete, or if it can't be shown as text.
    pub after: Option<String>,
    /// Why a text is null although the file was there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Opaque>,
    /// SHA-256 of the bytes before, in hex; null if the file was absent.
    pub before_sha256: Option<String>,
    /// SHA-256 of the bytes after, in hex; null if the file is gone.
    pub after_sha256: Option<String>,
    /// The file's encoding: `utf-8`, `utf-16le`, `windows-1252`, `binary`, ...
    pub encoding: String,
    /// Whether nothing tells the encoding, so that it is guessed from the bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub encoding_guessed: bool,
    /// The encoding before, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding_before: Option<String>,
    /// The line endings; a side that doesn't exist is null.
    pub eol: Change<EolName>,
    /// Whether there is a byte order mark.
    pub bom: Change<bool>,
    /// Whether the text ends in a newline.
    pub final_newline: Change<bool>,
    /// The mode in octal with its type, as git writes it: `100644`.
    pub mode: Change<String>,
    /// How many places an edit replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replacements: Option<usize>,
    /// How many other hard links still name the old bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hard_links: Option<u64>,
    /// Why the log can't take this change back; only with a log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_undo: Option<NoUndo>,
    /// Count of added lines.
    pub added: usize,
    /// Count of removed lines.
    pub removed: usize,
    /// The applied hunks.
    pub diffs: Vec<FileDiff>,
    /// Where each requested hunk was found.
    #[serde(rename = "match")]
    pub matches: Vec<HunkMatch>,
}

/// A property before and after; null on the side that doesn't exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Change<T> {
    /// Before.
    pub before: Option<T>,
    /// After.
    pub after: Option<T>,
}

/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// The file was not there before.
    Create,
    /// Its content or mode changes.
    Update,
    /// It is gone afterwards.
    Delete,
    /// It has another path afterwards, with or without other changes.
    Rename,
    /// It was made from another file, which stays.
    Copy,
}

/// Why a text can't be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Opaque {
    /// It is not text.
    Binary,
    /// It is larger than `--max-text` bytes.
    TooLarge,
    /// It is text, but holds bytes that mean nothing in its encoding.
    Undecodable,
}

/// The line endings of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EolName {
    /// All LF.
    Lf,
    /// All CRLF.
    Crlf,
    /// Both.
    Mixed,
    /// No line ending at all.
    None,
}

/// Where one requested hunk was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HunkMatch {
    /// 1-based position of the file edit in the patch.
    pub edit: usize,
    /// 1-based position of the hunk in its file edit.
    pub hunk: usize,
    /// How strictly it matched.
    pub rung: Rung,
    /// 1-based line of the file at which its old side begins.
    pub old_start: usize,
    /// Found line minus stated line; 0 if the patch states none.
    pub offset_lines: i64,
}

/// One strictness level of the matcher, strictest first; each includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rung {
    /// Every old line is equal.
    Exact,
    /// Blanks at the end of a line do not count.
    TrailingBlanks,
    /// The indentation differs by one prefix or one unit.
    Indentation,
    /// Unicode lookalikes are equal.
    Unicode,
    /// Outer context lines may differ.
    Context,
}
