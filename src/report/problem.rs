//! What is wrong, where, and how to mend it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::Serialize;

/// The kind of a problem; stable within v1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// A hunk's old lines stand nowhere in the file.
    HunkNotFound,
    /// A hunk fits several places.
    Ambiguous,
    /// What the hunk asks for is in the file already.
    AlreadyApplied,
    /// A file is in the way.
    FileExists,
    /// A file that the edit needs is not there.
    FileMissing,
    /// The path leads to something that is not a regular file.
    NotAFile,
    /// The path leads out of the root.
    OutsideRoot,
    /// The path lies in a protected folder.
    Protected,
    /// The file has no write permission.
    ReadOnly,
    /// The file is not what the request, or the record that is taken back, expects it to be.
    Stale,
    /// The log does not hold what is needed to take a call back.
    NotRecorded,
    /// The file is not text.
    Binary,
    /// The file's encoding can't be edited, or can't hold the new text.
    Unencodable,
    /// A count of places is not the expected one.
    CountDiffers,
    /// The input is not a well-formed patch, request or log.
    Malformed,
    /// The input asks for no change at all.
    NoEdits,
    /// The command line is wrong.
    Usage,
    /// Reading or writing failed.
    Io,
    /// Owner, mode or attributes could not be carried over.
    Owner,
    /// A signal ended the run before anything was written.
    Interrupted,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// The kind.
    pub code: Code,
    /// One sentence, lower case, without a full stop.
    pub message: String,
    /// What the reader can do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The file it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// 1-based position of the file edit in the patch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<usize>,
    /// 1-based position of the hunk in its file edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunk: Option<usize>,
    /// 1-based line of the input (the patch, the log) that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Every place that fits, of an ambiguous hunk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
    /// The place that comes nearest, of a hunk that fits nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Nearest>,
}

impl Problem {
    /// Returns a problem with only its kind and message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Problem {
            code,
            message: message.into(),
            hint: None,
            path: None,
            edit: None,
            hunk: None,
            line: None,
            candidates: Vec::new(),
            nearest: None,
        }
    }

    /// Returns the problem with a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the problem with the path it is about.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }
}

/// A place that fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// 1-based number of its first line in the file.
    pub line: usize,
}

/// The place that comes nearest, with the first line that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Nearest {
    /// 1-based number in the file of the first line that differs.
    pub line: usize,
    /// What the patch says of that line.
    pub expected: String,
    /// What the file says; null past its end.
    pub found: Option<String>,
    /// The difference in words.
    pub cause: String,
}

/// The error of a command: one summary and every problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorReport {
    /// The kind of the first problem.
    pub code: Code,
    /// One sentence.
    pub message: String,
    /// What the reader can do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Every problem, in the order of the input.
    pub problems: Vec<Problem>,
}

/// The error of a command whose result is not an outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorDocument {
    /// Which schema this is.
    pub schema: ErrorSchema,
    /// Always false.
    pub ok: bool,
    /// What is wrong.
    pub error: ErrorReport,
}

/// The name of the error schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub enum ErrorSchema {
    /// Version 1.
    #[default]
    #[serde(rename = "hunkwise/error/v1")]
    V1,
}
