//! One applied or requested hunk, readable by every consumer of `{path, oldText, newText}`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::Serialize;

/// One hunk of one file.
///
/// An applied hunk has the four line keys and three lines of context on both sides; its texts are lines joined by
/// `\n` without the last one's newline. Without line keys the texts are raw call-time text: a write is
/// `{oldText: null, newText: content}`, an edit its bare old and new strings.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    /// The file's path, relative to the root, with `/`.
    pub path: String,
    /// The old side; null only if the old file was empty or absent.
    pub old_text: Option<String>,
    /// The new side.
    pub new_text: String,
    /// 1-based number of the first old line; `max(1, n)` on an empty side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_start: Option<usize>,
    /// Count of old lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_lines: Option<usize>,
    /// 1-based number of the first new line; `max(1, n)` on an empty side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_start: Option<usize>,
    /// Count of new lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_lines: Option<usize>,
    /// The lines with their signs (`" "`, `"-"`, `"+"` in front), where a patch or a log states them: counts and
    /// drawing follow them instead of comparing the texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<Vec<String>>,
    /// The last old line ends the file without a newline.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub old_no_newline: bool,
    /// The last new line ends the file without a newline.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub new_no_newline: bool,
    /// What the texts can't show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<DiffNote>,
    /// The line of the old file that says in which function, class or section the first change stands, without blanks
    /// at both ends and at most 80 characters of it; of a unified diff the text behind the numbers of the hunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
}

/// What a hunk's texts can't show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DiffNote {
    /// The newline at the end of the file came or went.
    FinalNewline,
    /// A line ending changed.
    Eol,
    /// The byte order mark came or went.
    Bom,
    /// The old side is not known.
    OldUnknown,
    /// The comparison reached its bound of work: the hunk is right but not minimal.
    Coarse,
}

impl FileDiff {
    /// Returns about how much memory its texts take, in bytes.
    pub(crate) fn length_bytes(&self) -> usize {
        let lines = self.lines.iter().flatten().map(|line| line.len() + size_of::<String>());
        self.new_text.len() + self.old_text.as_ref().map_or(0, String::len) + lines.sum::<usize>()
    }
}
