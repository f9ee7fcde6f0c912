//! What a parser says, one event at a time; the events borrow from the line that was read.

use crate::report::Problem;
use crate::text::PathText;

use super::LineKind;

/// One step of a patch.
#[derive(Debug, PartialEq, Eq)]
pub enum PatchEvent<'a> {
    /// A file edit begins.
    FileOpened {
        /// Its path.
        path: PathText,
        /// What it does.
        kind: FileKind,
        /// 1-based line of the input.
        line_number: usize,
    },
    /// The open file edit is a rename.
    MovedTo {
        /// Where the file goes.
        path: PathText,
    },
    /// A hunk of the open file edit begins.
    HunkOpened {
        /// The line at which the header says that the old side begins.
        stated_old_start: Option<usize>,
        /// How many old lines the header states.
        stated_old_lines: Option<usize>,
        /// 1-based line of the input.
        line_number: usize,
    },
    /// The open hunk goes after this text.
    Anchor {
        /// The text.
        text: &'a [u8],
    },
    /// A line of the open hunk, or of the open file edit's new content (then it is an insert).
    Line {
        /// Its role.
        kind: LineKind,
        /// Its text without sign and ending.
        text: &'a [u8],
    },
    /// The last line's side of the file ends there without a newline.
    NoNewline,
    /// The old side of the open hunk ends at the end of the file.
    EndOfFile,
    /// The open hunk ends: its old side is complete.
    HunkClosed,
    /// The open file edit ends.
    FileClosed,
    /// Something that is tolerated; what and on which line.
    Tolerated {
        /// The note, written for a person.
        note: String,
        /// 1-based line of the input.
        line_number: usize,
    },
    /// The patch is not well-formed; nothing of it will come any more.
    Malformed(Box<Problem>),
}

/// What a file edit does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Creates the file.
    Create,
    /// Changes it.
    Update,
    /// Deletes it.
    Delete,
}
