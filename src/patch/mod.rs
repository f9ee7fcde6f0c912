//! Patch text as values: what a patch asks for, in any dialect, before any file is looked at.
//!
//! The parsers in this room turn text into [`PatchEvent`]s; [`builder::Builder`] folds those into a [`Patch`].
//! Nothing here knows a file's content or where a hunk will stand.

pub(crate) mod apply_patch;
pub mod args;

pub(crate) mod builder;
pub mod colored;
pub(crate) mod event;
pub mod format;
pub(crate) mod git_binary;
pub(crate) mod held;
pub(crate) mod lines;
pub(crate) mod names;
pub(crate) mod parser;
pub mod request;
pub mod reverse;
pub(crate) mod search_replace;
pub(crate) mod shell;
pub(crate) mod unified;

use crate::text::PathText;

pub use builder::Builder;
pub use event::PatchEvent;
pub use format::FormatError;
pub use format::format;
pub use git_binary::BlobId;
pub use parser::Dialect;
pub use parser::Parsed;
pub use parser::Parser;
pub use parser::Reading;
pub use parser::parse;
pub use reverse::reverse;

/// A whole patch: file edits in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Patch {
    /// The file edits.
    pub edits: Vec<FileEdit>,
}

/// A create, update, delete or rename of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// The path that the edit names (of a rename: the old one).
    pub path: PathText,
    /// Where the file goes, of a rename or a copy.
    pub move_to: Option<PathText>,
    /// Whether the old file stays: a copy.
    pub is_copy: bool,
    /// The mode that the file gets, with its type as git writes it (`0o100755`); `None` keeps it.
    pub mode: Option<u32>,
    /// The mode that the patch says the file has before.
    pub mode_before: Option<u32>,
    /// What is to be done.
    pub body: Body,
    /// 1-based line of the input at which the edit begins; 0 if it does not come from text.
    pub line_number: usize,
    /// SHA-256 that the file must have before the edit.
    pub expect_sha256: Option<[u8; 32]>,
    /// Whether no more of this edit will come.
    pub complete: bool,
}

/// What a file edit asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// The file gets exactly this content.
    Content(Content),
    /// The hunks are applied; none is a plain rename.
    Hunks(Vec<Hunk>),
    /// The file goes. Its hunks, if there are any, must leave nothing of it: what they don't name is not lost.
    ///
    /// With a [`move_to`](FileEdit::move_to) a copy is taken back: the hunks must leave what stands there.
    Delete(Vec<Hunk>),
}

/// The whole new content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// What happens if the file is there already.
    pub existing: Existing,
    /// Whether line endings and byte order mark are converted to those of the file that is replaced.
    pub keep_style: bool,
}

/// What a content edit does with a file that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// The edit is refused.
    Refuse,
    /// The file is replaced if it is empty; else the edit is refused.
    ReplaceEmpty,
    /// The file is replaced.
    Replace,
}

/// One hunk of an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hunk {
    /// Lines with context, as patches have them.
    Lines(LineHunk),
    /// A text and its replacement, as edit tools have them.
    Replace(Replace),
    /// The whole content, as git writes it for binary files; the only hunk of its edit.
    Binary(BinaryHunk),
}

/// The whole content of a file before and after, as far as a patch holds it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BinaryHunk {
    /// What leads to the new content.
    pub new: Option<BinarySide>,
    /// What leads back to the old content.
    pub old: Option<BinarySide>,
    /// The name of the old content in git.
    pub old_blob: Option<BlobId>,
    /// The name of the new content in git.
    pub new_blob: Option<BlobId>,
    /// 1-based line of the input at which it begins.
    pub line_number: usize,
}

/// One direction of a binary hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BinarySide {
    /// The content.
    Literal(Vec<u8>),
    /// Instructions that make the content of that of the other side.
    Delta(Vec<u8>),
}

/// The role of a line in a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineKind {
    /// Stands in the file before and after.
    Context,
    /// Stands in the file before.
    Delete,
    /// Stands in the file after.
    Insert,
}

impl LineKind {
    /// Returns the sign that unified diffs put in front of such a line.
    pub fn sign(self) -> char {
        match self {
            LineKind::Context => ' ',
            LineKind::Delete => '-',
            LineKind::Insert => '+',
        }
    }
}

/// A hunk made of lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LineHunk {
    /// Texts that tell where the hunk goes, outermost first.
    pub anchors: Vec<Vec<u8>>,
    /// The 1-based line at which the patch says that the old side begins.
    pub stated_old_start: Option<usize>,
    /// How many old lines the header states; with 0, the hunk goes after line `stated_old_start` (0: to the top).
    pub stated_old_lines: Option<usize>,
    /// Where the header says that the new side begins, and how many lines it has.
    pub stated_new: Option<(usize, usize)>,
    /// What the header says behind its numbers: the section that the hunk stands in. Only for readers; nothing is looked
    /// for by it.
    pub section: Option<Vec<u8>>,
    /// The old side ends at the end of the file.
    pub at_end_of_file: bool,
    /// The hunk is a block of the search-replace dialect: it is for the file as the blocks before it leave it.
    pub is_block: bool,
    /// 1-based line of the input at which the hunk begins.
    pub line_number: usize,
    /// All lines' texts, one after the other, without signs and endings.
    text: Vec<u8>,
    lines: Vec<HunkLine>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct HunkLine {
    kind: LineKind,
    text_end: usize,
    has_no_newline: bool,
    has_cr: bool,
}

/// One line of a hunk, borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its role.
    pub kind: LineKind,
    /// Its text without sign and ending.
    pub text: &'a [u8],
    /// The patch says that the file ends here, without a newline.
    pub has_no_newline: bool,
    /// The patch says that the line ends in CRLF; without it nothing is said.
    pub has_cr: bool,
}

impl LineHunk {
    /// Appends a line.
    pub fn push(&mut self, kind: LineKind, text: &[u8]) {
        self.text.extend_from_slice(text);
        self.lines.push(HunkLine { kind, text_end: self.text.len(), has_no_newline: false, has_cr: false });
    }

    /// Says of the last line that the file ends there without a newline; a CR of it is text, then.
    pub fn mark_no_newline(&mut self) {
        if let Some(line) = self.lines.last_mut() {
            line.has_no_newline = true;
            if std::mem::take(&mut line.has_cr) {
                self.text.push(b'\r');
                line.text_end = self.text.len();
            }
        }
    }

    /// Says of the last line that it ends in CRLF.
    pub fn mark_cr(&mut self) {
        if let Some(line) = self.lines.last_mut() {
            line.has_cr = true;
        }
    }

    /// Makes a block of the hunk, whose removed lines all stand before its added ones: lines that are equal at both ends
    /// are context.
    pub fn narrow(&mut self) {
        self.is_block = true;
        let lines: Vec<Line<'_>> = self.lines().collect();
        let split = lines.iter().take_while(|line| line.kind == LineKind::Delete).count();
        let (old, new) = lines.split_at(split);
        if new.iter().any(|line| line.kind != LineKind::Insert) {
            return;
        }
        let equal = |pair: &(&Line<'_>, &Line<'_>)| pair.0.text == pair.1.text;
        let head = old.iter().zip(new).take_while(equal).count();
        let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(equal).count();
        let mut narrowed = LineHunk::default();
        old[..head].iter().for_each(|line| narrowed.push(LineKind::Context, line.text));
        old[head..old.len() - tail].iter().for_each(|line| narrowed.push(LineKind::Delete, line.text));
        new[head..new.len() - tail].iter().for_each(|line| narrowed.push(LineKind::Insert, line.text));
        old[old.len() - tail..].iter().for_each(|line| narrowed.push(LineKind::Context, line.text));
        self.text = narrowed.text;
        self.lines = narrowed.lines;
    }

    /// Iterates over the lines.
    pub fn lines(&self) -> impl ExactSizeIterator<Item = Line<'_>> + Clone {
        let mut start = 0;
        self.lines.iter().map(move |line| {
            let text = &self.text[start..line.text_end];
            start = line.text_end;
            Line { kind: line.kind, text, has_no_newline: line.has_no_newline, has_cr: line.has_cr }
        })
    }

    /// Returns how many lines the hunk has.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Tells whether the hunk has no line.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the counts of added and removed lines.
    pub fn counts(&self) -> (usize, usize) {
        let count = |kind| self.lines.iter().filter(|line| line.kind == kind).count();
        (count(LineKind::Insert), count(LineKind::Delete))
    }
}

/// A text and what replaces it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Replace {
    /// The text to find; LF in it matches LF and CRLF.
    pub old: Vec<u8>,
    /// The text that comes in its place, literally.
    pub new: Vec<u8>,
    /// Which of several places are meant.
    pub count: ReplaceCount,
    /// Whether the old text is complete: while a call streams, it grows.
    pub old_is_complete: bool,
}

/// How many places a replacement is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplaceCount {
    /// Exactly one place; several are ambiguous.
    #[default]
    One,
    /// Every place, at least one.
    All,
    /// Every place, and so many of them.
    Exactly(usize),
}
