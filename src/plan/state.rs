//! What the planner is given of a file, and what it plans for it.

use std::sync::Arc;

use crate::report::HunkMatch;
use crate::report::Operation;
use crate::report::Problem;
use crate::text::Document;
use crate::text::PathText;
use crate::text::Splices;

/// What stands at one path, as far as a plan needs it; each path is given once.
#[derive(Debug, Clone)]
pub struct Given {
    /// Where the path leads: relative to the root, links of folders resolved, a link to a file followed. Two
    /// spellings of one file have one real path.
    pub real: PathText,
    /// What is there.
    pub state: FileState,
    /// The path itself is a symbolic link to the file: content goes through it, delete and rename act on the link.
    pub link: Option<PathText>,
}

impl Given {
    /// Returns what stands at a path that no link leads through.
    pub fn new(real: PathText, state: FileState) -> Self {
        Given { real, state, link: None }
    }
}

/// What stands at a path.
#[derive(Debug, Clone)]
pub enum FileState {
    /// Nothing; a file can be made there.
    Absent,
    /// A regular file.
    File(FoundFile),
    /// Something else: `"directory"`, `"fifo"`, `"socket"`, `"device"`.
    Other(&'static str),
    /// It must not be touched, or could not be read.
    Refused(Box<Problem>),
}

impl FileState {
    /// Returns a regular file with these bytes, for plans that are not written: nothing else is said of it.
    pub fn of_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        FileState::File(FoundFile {
            document: Arc::new(Document::new(bytes.into())),
            mode: 0o100_644,
            hard_links: 1,
            stamp: Stamp::default(),
        })
    }
}

/// A regular file as it was read.
#[derive(Debug, Clone)]
pub struct FoundFile {
    /// Its bytes.
    pub document: Arc<Document>,
    /// All its mode bits and type, as the system has them (`0o100644`).
    pub mode: u32,
    /// How many hard links name it.
    pub hard_links: u64,
    /// What tells that it is still the same file.
    pub stamp: Stamp,
}

/// What tells that a file is still the one that was read, and what a new one in its place has to be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stamp {
    /// The device it lies on.
    pub device: u64,
    /// Its inode.
    pub inode: u64,
    /// Its length in bytes.
    pub size: u64,
    /// When its bytes last changed, in nanoseconds since 1970.
    pub modified_ns: i128,
    /// When its inode last changed, in nanoseconds since 1970.
    pub changed_ns: i128,
    /// The numbers of the user and the group that own it.
    pub owner: (u32, u32),
    /// Whether it has extended attributes, access lists among them.
    pub attributes: Attributes,
}

/// What is known of a file's extended attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Attributes {
    /// Nothing.
    #[default]
    Unknown,
    /// It has none.
    None,
}

/// What is to be written: files in patch order, net of all edits of each.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// One entry a file.
    pub files: Vec<PlannedFile>,
    /// For each file, where its hunks were found.
    pub finds: Vec<Finds>,
}

/// Where the hunks of one file were found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Finds {
    /// One entry a hunk of lines.
    pub matches: Vec<HunkMatch>,
    /// How many places the replacements of an edit had.
    pub replacements: Option<usize>,
}

/// What becomes of one file.
#[derive(Debug, Clone)]
pub struct PlannedFile {
    /// What is done to it.
    pub operation: Operation,
    /// The path for reports: relative to the root.
    pub path: PathText,
    /// The path of a renamed file before, for reports.
    pub from: Option<PathText>,
    /// Where the bytes go (of a delete: what goes), relative to the root, links resolved as [`Given::real`] is; of a
    /// delete or rename of a link, the link itself.
    pub target: PathText,
    /// What stands at `target` before: of a create [`FileState::Absent`].
    pub target_before: FileState,
    /// Of a rename: what goes, relative to the root.
    pub source: Option<PathText>,
    /// The file whose bytes are the preimage: at `source` of a rename, else at `target`; `None` of a create.
    pub before: Option<FoundFile>,
    /// The preimage is what a symbolic link leads to, and the link itself goes or moves.
    pub before_is_link: bool,
    /// A symbolic link stands at `target` before.
    pub target_is_link: bool,
    /// The bytes afterwards; `None` of a delete.
    pub after: Option<After>,
    /// The mode of a file that is made new; `None` keeps the preimage's, or the system's default on a create.
    pub mode: Option<u32>,
}

/// A file's bytes afterwards.
#[derive(Debug, Clone)]
pub enum After {
    /// Those of the preimage; only its name (or mode) changes.
    Same,
    /// The preimage with replacements.
    Spliced(Splices),
    /// All new.
    Whole(Arc<Document>),
}
