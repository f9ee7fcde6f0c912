//! What a parser says, one event at a time; the events borrow from the line that was read.

use crate::report::Problem;
use crate::text::PathText;

use super::BinarySide;
use super::BlobId;
use super::LineKind;
use super::ReplaceCount;

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
    /// The path of the open file edit, where it comes after the edit began.
    Named {
        /// The path.
        path: PathText,
    },
    /// The open file edit is a rename or a copy.
    MovedTo {
        /// Where the file goes.
        path: PathText,
        /// Whether the old file stays.
        is_copy: bool,
    },
    /// What the patch says of the file's mode.
    Mode {
        /// The mode before, all its bits with the type, as git writes them.
        before: Option<u32>,
        /// The mode that the file gets.
        mode: Option<u32>,
    },
    /// The whole content of a binary file begins.
    BinaryOpened {
        /// The name of the old content in git.
        old_blob: Option<BlobId>,
        /// The name of the new content in git.
        new_blob: Option<BlobId>,
        /// 1-based line of the input.
        line_number: usize,
    },
    /// One direction of the open binary content, whole.
    Binary {
        /// Whether it leads back to the old content.
        is_reverse: bool,
        /// The content, or how it is made.
        side: BinarySide,
    },
    /// A piece of the open file edit's new content, as it is: no newline is added.
    Bytes {
        /// The bytes.
        bytes: &'a [u8],
    },
    /// A text replacement of the open file edit begins.
    ReplaceOpened,
    /// A piece of the old text of the open replacement.
    Old {
        /// The bytes.
        text: &'a [u8],
    },
    /// The old text of the open replacement is complete.
    OldDone,
    /// A piece of the new text of the open replacement.
    New {
        /// The bytes.
        text: &'a [u8],
    },
    /// Which places the open replacement is for.
    Count {
        /// How many.
        count: ReplaceCount,
    },
    /// A hunk of the open file edit begins.
    HunkOpened {
        /// The line at which the header says that the old side begins.
        stated_old_start: Option<usize>,
        /// How many old lines the header states.
        stated_old_lines: Option<usize>,
        /// Where the header says that the new side begins, and how many lines it has.
        stated_new: Option<(usize, usize)>,
        /// 1-based line of the input.
        line_number: usize,
    },
    /// What the header of the open hunk says behind its numbers: the section that the hunk stands in.
    Section {
        /// The text.
        text: &'a [u8],
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
    /// The last line ends in CRLF, and the patch's own lines do not: the CR belongs to the file.
    CarriageReturn,
    /// The last line's side of the file ends there without a newline.
    NoNewline,
    /// The old side of the open hunk ends at the end of the file.
    EndOfFile,
    /// The open hunk is a block: its removed lines all came before its added ones, and the lines that are equal at both
    /// ends are context.
    Narrowed,
    /// The open hunk or replacement ends: its old side is complete.
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
    /// Creates the file; refused if it is there.
    Create,
    /// Creates the file, or fills one that is empty; refused if it has text.
    Fill,
    /// Gives the file its content, whether it is there or not.
    Write,
    /// Changes it.
    Update,
    /// Deletes it.
    Delete,
}
