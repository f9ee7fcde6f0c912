//! The unified dialect: what `diff -u`, git, hg and svn write, and what models write of it.
//!
//! ```text
//! patch  := (text | edit)*                             text: mail, prose, fences, "Index:", "diff -ru"; passed over
//! edit   := names hunk+
//!         | "diff --git " old " " new extended* [names] hunk*
//!         | "diff --git " old " " new extended* ("GIT binary patch" … | "Binary files … differ")
//! names  := "--- " name "+++ " name                    name: [tab time], C-quoted if it begins with '"'
//! extended := ("old" | "new" | "deleted file" | "new file") " mode " octal
//!         | ("rename" | "copy") (" from " | " to ") name
//!         | ["dis"] "similarity index " text | "index " blob ".." blob [" " octal]
//! hunk   := "@@ -" start ["," count] " +" start ["," count] " @@" [heading]
//!           ((" " | "-" | "+") text | "" | "\ " text)+
//! ```
//!
//! **Where a hunk ends.** Its counts are hints. It ends before `@@`, `diff `, a fence, or the names of the next file.
//! `--- x` and `+++ y` inside a hunk are names if `@@` follows, unless the counts want exactly these two lines to be
//! content. Once the counts are used up, any line without a sign ends it; lines with a sign go on, and the counts were
//! wrong. Where the counts want more, or there are none, a line without sign is malformed: it may be a context line
//! that lost its blank, and what stands behind it must not get lost. So it is where lines with signs follow right
//! behind the one that ended the hunk.
//!
//! **Names.** `a/` and `b/` (and git's `i/`, `w/`, `c/`, `o/`) are dropped if every side that is not `/dev/null` has
//! one. The name after `+++` wins. A side is absent if it is `/dev/null`, if git's headers say so, or if its time is
//! the epoch and the hunk has no line of it, as with `diff -N`.
//!
//! **CR.** If the names end in CRLF the patch was converted on its way, and one CR is dropped from every line. Else a CR
//! in a hunk belongs to the file.
//!
//! **Links.** git writes a symbolic link as a file whose content is its target and whose mode is 120000; here it is no
//! different. What a mode means is the planner's business.
//!
//! Tolerated, because models write it: wrong counts, a bare `@@`, an empty line for an empty context line, a last line
//! without newline. Refused by name: context diffs, normal diffs, ed scripts, combined diffs.

use crate::report::Code;
use crate::report::Problem;
use crate::text::PathText;
use crate::text::document::UTF8_BOM;

use super::BinarySide;
use super::BlobId;
use super::LineKind;
use super::PatchEvent;
use super::event::FileKind;
use super::git_binary;
use super::git_binary::BinaryError;
use super::lines::without_cr;
use super::names;
use super::names::Sides;

/// So many bytes of a wrong line are quoted in a message.
const QUOTE_CAP_BYTES: usize = 200;
/// The names that git gives to a content without any byte.
const EMPTY_BLOBS: [&[u8]; 2] = [
    b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    b"473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
];
const BINARY: &[u8] = b"GIT binary patch";

/// The state between two lines.
#[derive(Debug, Default)]
pub struct Unified {
    /// How many leading parts of each name are dropped; `None` follows the rule of `a/` and `b/`.
    strip: Option<usize>,
    state: State,
    header: Header,
    /// A line `--- x`, and then `+++ y`, of which the next line tells whether they are names.
    held: Vec<HeldLine>,
    /// Empty lines that may be context or nothing: whether each has a CR.
    blanks: Vec<bool>,
    /// The first line of text outside of any edit, until it is told.
    outside_from: Option<usize>,
    /// How far the lines before look like the head of a context diff or a normal diff.
    foreign: Foreign,
    has_edit: bool,
    has_text: bool,
}

#[derive(Debug, Default)]
enum State {
    /// Between edits.
    #[default]
    Outside,
    /// Behind a hunk that this line ended, which has no sign.
    Behind(usize),
    /// Among git's extended headers.
    Git,
    /// Behind the names, where a hunk is due.
    Named,
    /// Inside a hunk.
    Hunk(Hunk),
    /// Behind `GIT binary patch`; the block that is open, and how many there were.
    Binary(Option<Block>, usize),
}

#[derive(Debug, Clone, Copy)]
struct Hunk {
    line_number: usize,
    /// How many old and new lines the header wants; `None` if it states none.
    left: Option<(usize, usize)>,
    /// There were more lines than the header wants.
    is_over: bool,
    has_lines: bool,
}

impl Hunk {
    fn is_used_up(&self) -> bool {
        self.left == Some((0, 0)) && !self.is_over
    }
}

#[derive(Debug)]
struct Block {
    is_delta: bool,
    length: usize,
    compressed: Vec<u8>,
    line_number: usize,
}

/// What the lines before the first hunk of a file say.
#[derive(Debug, Default)]
struct Header {
    line_number: usize,
    /// The two names of a line `diff --git`, as they stand there.
    git: Option<Vec<u8>>,
    old: Option<names::Name>,
    new: Option<names::Name>,
    moved_from: Option<Vec<u8>>,
    moved_to: Option<Vec<u8>>,
    is_copy: bool,
    old_mode: Option<u32>,
    new_mode: Option<u32>,
    is_created: bool,
    is_deleted: bool,
    old_blob: Option<BlobId>,
    new_blob: Option<BlobId>,
    /// The index line says that the content changes.
    has_other_content: bool,
    /// The names end in CRLF.
    is_crlf: bool,
    /// What the edit does, once it was opened.
    opened: Option<FileKind>,
}

impl Header {
    /// Tells whether the header changes something by itself, without any hunk.
    fn has_effect(&self) -> bool {
        self.is_created
            || self.is_deleted
            || self.moved_from.is_some()
            || self.moved_to.is_some()
            || self.new_mode.is_some()
    }

    /// Tells whether the names that follow git's header are those of another file than it is about.
    fn is_of_other_file(&self, new: &names::Name) -> bool {
        let Some(sides) = self.git.as_deref().and_then(names::git_line) else { return false };
        let is_other =
            |name: &[u8], side: &[u8]| name != names::NO_FILE && names::bare(name) != names::bare(side);
        let is_old_other = self.old.as_ref().is_some_and(|old| is_other(&old.path, &sides.old));
        self.has_effect() && (is_old_other || is_other(&new.path, &sides.new))
    }
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Foreign {
    #[default]
    No,
    /// `*** name` was read.
    ContextOld,
    /// `--- name` after it.
    ContextNew,
    /// `5,7c8` was read.
    Normal,
}

#[derive(Debug)]
struct HeldLine {
    number: usize,
    text: Vec<u8>,
    has_cr: bool,
}

/// One line of the input.
#[derive(Debug, Clone, Copy)]
struct Line<'a> {
    number: usize,
    text: &'a [u8],
    has_cr: bool,
}

impl HeldLine {
    fn of(line: Line<'_>) -> Self {
        HeldLine { number: line.number, text: line.text.to_vec(), has_cr: line.has_cr }
    }

    fn line(&self) -> Line<'_> {
        Line { number: self.number, text: &self.text, has_cr: self.has_cr }
    }
}

/// The numbers of a hunk's header: start and count of both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Numbers {
    old: (usize, usize),
    new: (usize, usize),
}

type Read = Result<(), Box<Problem>>;
type Say<'s> = dyn FnMut(PatchEvent<'_>) + 's;

/// Tells whether a line, with the one before it, begins a patch of this dialect, or one that is refused by name.
pub fn opens(before: &[u8], text: &[u8]) -> bool {
    let heads: [&[u8]; 5] = [b"diff --git ", b"diff --cc ", b"diff --combined ", b"@@ -", b"Binary files "];
    let is_row = |byte: u8| text.len() >= 15 && text.iter().all(|&other| other == byte);
    let is_names =
        before.strip_prefix(UTF8_BOM).unwrap_or(before).starts_with(b"--- ") && text.starts_with(b"+++ ");
    let text_start = text.strip_prefix(UTF8_BOM).unwrap_or(text);
    is_names
        || heads.iter().any(|head| text_start.starts_with(head))
        || before.starts_with(b"Index: ") && is_row(b'=')
        // A context diff, which is refused by name.
        || before.starts_with(b"--- ") && is_row(b'*')
}

impl Unified {
    /// Returns a parser that drops so many leading parts of each name.
    pub fn new(strip: Option<usize>) -> Self {
        Unified { strip, ..Unified::default() }
    }

    /// Takes one line without its LF but with its CR; `line_number` is 1-based.
    ///
    /// # Errors
    /// The line is not part of a well-formed patch.
    pub fn line(&mut self, line_number: usize, line: &[u8], say: &mut Say<'_>) -> Read {
        let line = if line_number == 1 { line.strip_prefix(UTF8_BOM).unwrap_or(line) } else { line };
        let text = without_cr(line);
        self.take(Line { number: line_number, text, has_cr: text.len() < line.len() }, say)
    }

    /// Tells whether nothing is open.
    pub fn is_outside(&self) -> bool {
        matches!(self.state, State::Outside | State::Behind(_)) && self.held.is_empty()
    }

    /// Ends the input; `unfinished` is a last line without newline, `lines` how many lines there were.
    ///
    /// # Errors
    /// There is no patch, or it is cut off.
    pub fn finish(&mut self, unfinished: Option<&(usize, Vec<u8>)>, lines: usize, say: &mut Say<'_>) -> Read {
        if let Some((line_number, line)) = unfinished {
            self.line(*line_number, line, say)?;
        }
        self.resolve_held(None, say)?;
        if let (Some((line_number, _)), State::Hunk(hunk)) = (unfinished, &self.state) {
            // More was to come, and the last line may be half of one.
            if hunk.left.is_some_and(|left| left != (0, 0)) && !hunk.is_over {
                return Err(malformed(
                    *line_number,
                    format!(
                        "the patch is cut off in line {line_number}: its hunk wants more lines, found the end"
                    ),
                    "send the whole patch again, with a newline after its last line",
                ));
            }
            let note = "the last line has no newline".to_owned();
            say(PatchEvent::Tolerated { note, line_number: *line_number });
        }
        self.end_edit(lines + 1, say)?;
        self.tell_outside(lines + 1, say);
        if self.has_edit || !self.has_text {
            return Ok(());
        }
        let problem = Problem::new(
            Code::Malformed,
            "no patch found: there is no '--- ' line with a '+++ ' line after it and no 'diff --git'",
        );
        Err(Box::new(
            problem.with_hint("write the names of the file before its hunks: '--- a/PATH', '+++ b/PATH'"),
        ))
    }

    fn take(&mut self, line: Line<'_>, say: &mut Say<'_>) -> Read {
        match (self.held.len(), &self.state) {
            (0, State::Outside | State::Behind(_) | State::Hunk(_)) if line.text.starts_with(b"--- ") => {
                self.held.push(HeldLine::of(line));
                Ok(())
            }
            (0, _) => self.step(line, say),
            (1, State::Hunk(_)) if line.text.starts_with(b"+++ ") => {
                self.held.push(HeldLine::of(line));
                Ok(())
            }
            _ => self.resolve_held(Some(line), say),
        }
    }

    /// Decides what the held lines are, and goes on with the line behind them; `None` is the end.
    fn resolve_held(&mut self, behind: Option<Line<'_>>, say: &mut Say<'_>) -> Read {
        let held = std::mem::take(&mut self.held);
        match (held.as_slice(), behind) {
            ([], None) => Ok(()),
            ([], Some(line)) => self.take(line, say),
            ([old], Some(new)) if new.text.starts_with(b"+++ ") => self.begin_plain(old.line(), new, say),
            ([old, new], behind) if self.are_names(behind) => {
                self.begin_plain(old.line(), new.line(), say)?;
                behind.map_or(Ok(()), |line| self.take(line, say))
            }
            (held, behind) => {
                for line in held {
                    self.step(line.line(), say)?;
                }
                behind.map_or(Ok(()), |line| self.take(line, say))
            }
        }
    }

    /// Tells whether `--- x` and `+++ y` inside a hunk are the names of the next file.
    fn are_names(&self, behind: Option<Line<'_>>) -> bool {
        let wants_both = matches!(self.state, State::Hunk(Hunk { left: Some((1, 1)), is_over: false, .. }));
        let is_part = |text: &[u8]| matches!(text.first(), None | Some(b' ' | b'-' | b'+' | b'\\'));
        !wants_both && !behind.is_some_and(|line| is_part(line.text))
    }

    fn step(&mut self, line: Line<'_>, say: &mut Say<'_>) -> Read {
        match &mut self.state {
            State::Outside => self.outside(line, say),
            State::Behind(from) => {
                if matches!(line.text.first(), Some(b' ' | b'-' | b'+')) {
                    return Err(malformed(
                        *from,
                        "a line without sign stands inside of a hunk: the lines behind it go on".to_owned(),
                        SIGNS,
                    ));
                }
                self.state = State::Outside;
                self.outside(line, say)
            }
            State::Git => self.git_header(line, say),
            State::Named => self.named(line, say),
            State::Hunk(hunk) => {
                let hunk = *hunk;
                self.hunk(line, hunk, say)
            }
            State::Binary(..) => self.binary(line, say),
        }
    }

    fn outside(&mut self, line: Line<'_>, say: &mut Say<'_>) -> Read {
        let text = line.text;
        if let Some(names) = text.strip_prefix(b"diff --git ") {
            return self.begin_git(line, names, say);
        }
        if text.starts_with(b"@@@ ")
            || text.starts_with(b"diff --cc ")
            || text.starts_with(b"diff --combined ")
        {
            return Err(refused(line, "a combined diff of a merge", "'git diff' between two commits"));
        }
        if text == b"@@" || text.starts_with(b"@@ -") || text == BINARY {
            return Err(malformed(
                line.number,
                format!("expected the names of a file before '{}'", quoted(text)),
                "write '--- a/PATH' and '+++ b/PATH' before the hunks of a file, and nothing between its hunks",
            ));
        }
        if text.trim_ascii().starts_with(b"*** Begin Patch") {
            return Err(malformed(
                line.number,
                "a patch in another dialect begins: '*** Begin Patch'".to_owned(),
                "send patches of different dialects one by one",
            ));
        }
        self.refuse_foreign(line)?;
        if let Some((old, new)) = names::binary_files(text) {
            self.tell_outside(line.number, say);
            self.header = Header { line_number: line.number, ..Header::default() };
            self.header.old = Some(names::Name::plain(old));
            self.header.new = Some(names::Name::plain(new));
            return self.opaque(line, say);
        }
        if !text.trim_ascii().is_empty() {
            self.has_text = true;
            let is_known = [&b"Index: "[..], b"diff ", b"======"].iter().any(|head| text.starts_with(head));
            if !is_known {
                self.outside_from.get_or_insert(line.number);
            }
        }
        Ok(())
    }

    /// Refuses other forms of diffs by name, before they are taken for prose.
    fn refuse_foreign(&mut self, line: Line<'_>) -> Read {
        let text = line.text;
        let before = std::mem::take(&mut self.foreign);
        match before {
            Foreign::ContextNew if text.len() >= 15 && text.iter().all(|&byte| byte == b'*') => {
                return Err(refused(line, "a context diff", "'diff -u'"));
            }
            Foreign::Normal if text.starts_with(b"< ") || text.starts_with(b"> ") => {
                return Err(refused(line, "a diff in normal form, without names and context", "'diff -u'"));
            }
            Foreign::ContextOld if text.starts_with(b"--- ") => self.foreign = Foreign::ContextNew,
            _ if text.starts_with(b"*** ") => self.foreign = Foreign::ContextOld,
            _ if is_edit_command(text) => self.foreign = Foreign::Normal,
            _ => {}
        }
        Ok(())
    }

    /// Says once which lines around the edits were passed over.
    fn tell_outside(&mut self, before_line: usize, say: &mut Say<'_>) {
        let Some(from) = self.outside_from.take() else { return };
        let to = before_line - 1;
        let lines = if from == to { format!("line {from}") } else { format!("lines {from} to {to}") };
        say(PatchEvent::Tolerated {
            note: format!("text outside of the patch passed over: {lines}"),
            line_number: from,
        });
    }

    fn begin_git(&mut self, line: Line<'_>, names: &[u8], say: &mut Say<'_>) -> Read {
        self.end_edit(line.number, say)?;
        self.tell_outside(line.number, say);
        self.header = Header {
            line_number: line.number,
            git: Some(names.to_vec()),
            is_crlf: line.has_cr,
            ..Header::default()
        };
        self.state = State::Git;
        Ok(())
    }

    fn begin_plain(&mut self, old: Line<'_>, new: Line<'_>, say: &mut Say<'_>) -> Read {
        self.end_edit(old.number, say)?;
        self.tell_outside(old.number, say);
        self.header = Header {
            line_number: old.number,
            old: Some(header_name(old)?),
            new: Some(header_name(new)?),
            is_crlf: new.has_cr,
            ..Header::default()
        };
        self.state = State::Named;
        Ok(())
    }

    fn git_header(&mut self, line: Line<'_>, say: &mut Say<'_>) -> Read {
        let text = line.text;
        let rest = |head: &str| text.strip_prefix(head.as_bytes());
        let moved = |name: &[u8]| names::moved(name).ok_or_else(|| bad_name(line)).map(Some);
        let header = &mut self.header;
        if header.old.is_some() && header.new.is_none() && !text.starts_with(b"+++ ") {
            return Err(malformed(
                line.number,
                format!("expected '+++ ' and a name after '--- ', found '{}'", quoted(text)),
                "write '--- a/PATH' and '+++ b/PATH'",
            ));
        }
        if let Some(name) = rest("rename from ").or(rest("rename old ")) {
            header.moved_from = moved(name)?;
        } else if let Some(name) = rest("rename to ").or(rest("rename new ")) {
            header.moved_to = moved(name)?;
        } else if let Some(name) = rest("copy from ") {
            header.is_copy = true;
            header.moved_from = moved(name)?;
        } else if let Some(name) = rest("copy to ") {
            header.is_copy = true;
            header.moved_to = moved(name)?;
        } else if let Some(mode) = rest("old mode ") {
            header.old_mode = Some(octal(line, mode)?);
        } else if let Some(mode) = rest("new mode ") {
            header.new_mode = Some(octal(line, mode)?);
        } else if let Some(mode) = rest("deleted file mode ") {
            header.is_deleted = true;
            header.old_mode = Some(octal(line, mode)?);
        } else if let Some(mode) = rest("new file mode ") {
            header.is_created = true;
            header.new_mode = Some(octal(line, mode)?);
        } else if let Some(index) = rest("index ") {
            self.index(line, index)?;
        } else if rest("similarity index ").or(rest("dissimilarity index ")).is_some() {
        } else if text.starts_with(b"--- ") {
            header.old = Some(header_name(line)?);
        } else if text.starts_with(b"+++ ") && header.old.is_some() {
            let new = header_name(line)?;
            if header.is_of_other_file(&new) {
                // The header of git was all of its edit, and a plain diff of another file follows.
                let old = header.old.take();
                self.end_edit(line.number - 1, say)?;
                self.header = Header { line_number: line.number - 1, old, ..Header::default() };
            }
            self.header.new = Some(new);
            self.header.is_crlf = line.has_cr;
            self.state = State::Named;
        } else if text.starts_with(b"@@") {
            return self.hunk_header(line, say);
        } else if text == BINARY {
            self.open(None, say)?;
            self.open_binary(line, say);
            self.state = State::Binary(None, 0);
        } else if text.starts_with(b"Binary files ") && text.ends_with(b" differ") {
            return self.opaque(line, say);
        } else {
            self.end_edit(line.number, say)?;
            return self.take(line, say);
        }
        Ok(())
    }

    fn index(&mut self, line: Line<'_>, index: &[u8]) -> Read {
        let (blobs, mode) = match index.iter().position(|&byte| byte == b' ') {
            Some(blank) => (&index[..blank], Some(&index[blank + 1..])),
            None => (index, None),
        };
        if let Some(dots) = memchr::memmem::find(blobs, b"..") {
            let (old, new) = (&blobs[..dots], &blobs[dots + 2..]);
            self.header.old_blob = BlobId::parse(old);
            self.header.new_blob = BlobId::parse(new);
            let is_nothing = |id: &[u8]| {
                id.iter().all(|&digit| digit == b'0') || EMPTY_BLOBS.iter().any(|empty| empty.starts_with(id))
            };
            self.header.has_other_content = old != new && !(is_nothing(old) && is_nothing(new));
        }
        if let Some(mode) = mode {
            let mode = octal(line, mode)?;
            // Said of both sides, so nothing changes; but a link has to be known for one.
            if !is_regular(mode) {
                self.header.old_mode = Some(mode);
                self.header.new_mode = Some(mode);
            }
        }
        Ok(())
    }

    fn named(&mut self, line: Line<'_>, say: &mut Say<'_>) -> Read {
        let text = line.text;
        if text.starts_with(b"@@") {
            return self.hunk_header(line, say);
        }
        if text == BINARY {
            self.open(None, say)?;
            self.open_binary(line, say);
            self.state = State::Binary(None, 0);
            return Ok(());
        }
        if text.trim_ascii().is_empty() {
            return Ok(());
        }
        if is_edit_command(text) {
            return Err(refused(line, "an ed script", "'diff -u'"));
        }
        Err(malformed(
            line.number,
            format!("expected '@@ -LINE,COUNT +LINE,COUNT @@' after the names, found '{}'", quoted(text)),
            "begin each hunk with an '@@' line",
        ))
    }

    fn hunk_header(&mut self, line: Line<'_>, say: &mut Say<'_>) -> Read {
        if line.text.starts_with(b"@@@") {
            return Err(refused(line, "a combined diff of a merge", "'git diff' between two commits"));
        }
        let numbers = numbers(line.text);
        if self.header.opened.is_none() {
            self.open(numbers, say)?;
        }
        if numbers.is_none() {
            let note = "the hunk header has no line numbers; its hunk is looked for by its text".to_owned();
            say(PatchEvent::Tolerated { note, line_number: line.number });
        }
        // What a file is made of has no place to be looked for.
        if self.header.opened != Some(FileKind::Create) {
            say(PatchEvent::HunkOpened {
                stated_old_start: numbers.map(|numbers| numbers.old.0),
                stated_old_lines: numbers.map(|numbers| numbers.old.1),
                stated_new: numbers.map(|numbers| numbers.new),
                line_number: line.number,
            });
            if let Some(text) = section(line.text, numbers.is_some()) {
                say(PatchEvent::Section { text });
            }
        }
        self.state = State::Hunk(Hunk {
            line_number: line.number,
            left: numbers.map(|numbers| (numbers.old.1, numbers.new.1)),
            is_over: false,
            has_lines: false,
        });
        Ok(())
    }

    /// Says which file is changed and how, from all that its header says.
    fn open(&mut self, first: Option<Numbers>, say: &mut Say<'_>) -> Read {
        let header = &mut self.header;
        let number = header.line_number;
        let fault = |message: &str| {
            malformed(
                number,
                message.to_owned(),
                "write '--- a/PATH' and '+++ b/PATH' before the hunks of a file",
            )
        };
        let sides = match (&header.old, &header.new) {
            (Some(old), Some(new)) => Some(Sides { old: old.path.clone(), new: new.path.clone() }),
            _ => header.git.as_deref().and_then(names::git_line),
        };
        let is_epoch = |name: &Option<names::Name>, side: fn(Numbers) -> (usize, usize)| {
            name.as_ref().is_some_and(|name| name.is_epoch) && first.map(side) == Some((0, 0))
        };
        let has_no =
            |name: &Option<names::Name>| name.as_ref().is_some_and(|name| name.path == names::NO_FILE);
        let is_created = header.is_created || has_no(&header.old) || is_epoch(&header.old, |all| all.old);
        let is_deleted = header.is_deleted || has_no(&header.new) || is_epoch(&header.new, |all| all.new);
        let moved = header.moved_from.as_deref().zip(header.moved_to.as_deref());
        let (path, move_to) = match (moved, &sides) {
            (Some((from, to)), _) => {
                let strip = self.strip.map_or(0, |strip| strip.saturating_sub(1));
                let part = |name| names::strip(name, strip).ok_or_else(|| fault(SHORT_NAME));
                (part(from)?, Some(part(to)?))
            }
            (None, Some(sides)) => {
                let (old, new) = match self.strip {
                    Some(strip) => (names::strip(&sides.old, strip), names::strip(&sides.new, strip)),
                    None => sides.without_prefixes(),
                };
                let path = if is_deleted && sides.old != names::NO_FILE { old } else { new };
                (path.ok_or_else(|| fault(SHORT_NAME))?, None)
            }
            (None, None) => return Err(fault("the names of the 'diff --git' line can't be told apart")),
        };
        if is_created && is_deleted || header.moved_from.is_some() != header.moved_to.is_some() {
            return Err(fault(
                "the header contradicts itself: it says no file, or only one side of a rename",
            ));
        }
        if (is_created || is_deleted) && move_to.is_some() {
            return Err(fault(
                "the header contradicts itself: a rename or copy that creates or deletes the file",
            ));
        }
        if path.is_empty() || move_to.as_ref().is_some_and(|path| path.is_empty()) {
            return Err(fault("the header names no file"));
        }
        let kind = match (is_created, is_deleted) {
            (true, _) => FileKind::Create,
            (_, true) => FileKind::Delete,
            _ => FileKind::Update,
        };
        self.has_edit = true;
        header.opened = Some(kind);
        say(PatchEvent::FileOpened { path: PathText::new(path), kind, line_number: number });
        if let Some(target) = move_to {
            say(PatchEvent::MovedTo { path: PathText::new(target), is_copy: header.is_copy });
        }
        if header.old_mode.is_some() || header.new_mode.is_some() {
            say(PatchEvent::Mode { before: header.old_mode, mode: header.new_mode });
        }
        Ok(())
    }

    fn hunk(&mut self, line: Line<'_>, mut hunk: Hunk, say: &mut Say<'_>) -> Read {
        let text = line.text;
        let kind = match text.first() {
            None => {
                self.blanks.push(line.has_cr);
                return Ok(());
            }
            Some(b' ') => LineKind::Context,
            Some(b'-') => LineKind::Delete,
            Some(b'+') => LineKind::Insert,
            Some(b'\\') if text.starts_with(b"\\ ") && (hunk.has_lines || !self.blanks.is_empty()) => {
                self.flush_blanks(&mut hunk, self.blanks.len(), say)?;
                self.state = State::Hunk(hunk);
                say(PatchEvent::NoNewline);
                return Ok(());
            }
            Some(b'@') if text.starts_with(b"@@") => {
                self.close_hunk(hunk, say)?;
                return self.hunk_header(line, say);
            }
            Some(_) => return self.unsigned(line, hunk, say),
        };
        if hunk.is_used_up() && text == b"-- " {
            // The signature of a mail.
            self.end_edit(line.number, say)?;
            return self.outside(line, say);
        }
        self.flush_blanks(&mut hunk, self.blanks.len(), say)?;
        self.hunk_line(Line { text: &text[1..], ..line }, kind, &mut hunk, say)?;
        self.state = State::Hunk(hunk);
        Ok(())
    }

    /// Says one line of a hunk, without its sign.
    fn hunk_line(&mut self, line: Line<'_>, kind: LineKind, hunk: &mut Hunk, say: &mut Say<'_>) -> Read {
        if self.header.opened == Some(FileKind::Create) && kind != LineKind::Insert {
            return Err(malformed(
                line.number,
                format!("expected a line that starts with '+', found '{}{}'", kind.sign(), quoted(line.text)),
                "a new file has no old lines: every line of it starts with '+', an empty one too",
            ));
        }
        if self.header.opened == Some(FileKind::Delete) && kind == LineKind::Insert {
            return Err(malformed(
                line.number,
                format!("expected a line that starts with '-', found '+{}'", quoted(line.text)),
                "a file that is deleted has no new lines",
            ));
        }
        if let Some((old, new)) = &mut hunk.left {
            let counted: &mut [&mut usize] = match kind {
                LineKind::Context => &mut [old, new],
                LineKind::Delete => &mut [old],
                LineKind::Insert => &mut [new],
            };
            for count in counted {
                hunk.is_over |= **count == 0;
                **count = count.saturating_sub(1);
            }
        }
        hunk.has_lines = true;
        say(PatchEvent::Line { kind, text: line.text });
        if line.has_cr && !self.header.is_crlf {
            say(PatchEvent::CarriageReturn);
        }
        Ok(())
    }

    /// Says the first `count` of the empty lines that were held back as context lines that lost their blank.
    fn flush_blanks(&mut self, hunk: &mut Hunk, count: usize, say: &mut Say<'_>) -> Read {
        let blanks = std::mem::take(&mut self.blanks);
        for has_cr in &blanks[..count] {
            let line = Line { number: hunk.line_number, text: b"", has_cr: *has_cr };
            self.hunk_line(line, LineKind::Context, hunk, say)?;
        }
        Ok(())
    }

    fn unsigned(&mut self, line: Line<'_>, hunk: Hunk, say: &mut Say<'_>) -> Read {
        let is_fence = is_fence(line.text);
        if is_fence || is_boundary(line.text) {
            self.end_edit(line.number, say)?;
            self.outside(line, say)?;
            if is_fence && !hunk.is_used_up() {
                // It may as well be a line of the file that lost its blank.
                self.state = State::Behind(line.number);
            }
            return Ok(());
        }
        if !hunk.is_used_up() {
            let what = match hunk.left {
                None => "the hunk has no counts that say where it ends",
                Some(_) if hunk.is_over => "the counts of the hunk are too small to say where it ends",
                Some(_) => "the hunk wants more lines",
            };
            return Err(malformed(
                line.number,
                format!(
                    "expected a line that starts with ' ', '-' or '+', found '{}': {what}",
                    quoted(line.text)
                ),
                SIGNS,
            ));
        }
        let is_separate = !self.blanks.is_empty();
        self.end_edit(line.number, say)?;
        self.outside(line, say)?;
        if !is_separate && matches!(self.state, State::Outside) {
            self.state = State::Behind(line.number);
        }
        Ok(())
    }

    fn close_hunk(&mut self, mut hunk: Hunk, say: &mut Say<'_>) -> Read {
        // Empty lines before what comes next are context only if the counts want them.
        match hunk.left {
            Some((old, new)) if old == new && old <= self.blanks.len() && !hunk.is_over => {
                self.flush_blanks(&mut hunk, old, say)?;
            }
            _ => self.blanks.clear(),
        }
        if !hunk.has_lines {
            return Err(malformed(
                hunk.line_number,
                "the hunk has no line".to_owned(),
                "write at least one line that starts with ' ', '-' or '+'",
            ));
        }
        if hunk.left.is_some() && !hunk.is_used_up() {
            let note = "the hunk header states other counts than its hunk has".to_owned();
            say(PatchEvent::Tolerated { note, line_number: hunk.line_number });
        }
        if self.header.opened != Some(FileKind::Create) {
            say(PatchEvent::HunkClosed);
        }
        Ok(())
    }

    /// Ends the edit that is open, whatever of it was read; `line_number` is that of the line behind it.
    fn end_edit(&mut self, line_number: usize, say: &mut Say<'_>) -> Read {
        match std::mem::take(&mut self.state) {
            State::Outside | State::Behind(_) => return Ok(()),
            State::Named => {
                return Err(malformed(
                    self.header.line_number,
                    format!("the file has no hunk before line {line_number}"),
                    "write a hunk: '@@ -LINE,COUNT +LINE,COUNT @@', then lines that start with ' ', '-' or '+'",
                ));
            }
            State::Git => return self.end_git(say),
            State::Hunk(hunk) => self.close_hunk(hunk, say)?,
            State::Binary(block, done) => {
                let done = match block {
                    Some(block) => {
                        self.close_block(block, done > 0, say)?;
                        done + 1
                    }
                    None => done,
                };
                if done == 0 {
                    return Err(binary_fault(line_number - 1, "the binary patch has no content"));
                }
                if self.header.opened != Some(FileKind::Create) {
                    say(PatchEvent::HunkClosed);
                }
            }
        }
        say(PatchEvent::FileClosed);
        Ok(())
    }

    /// Ends an edit that has only extended headers.
    fn end_git(&mut self, say: &mut Say<'_>) -> Read {
        let header = &self.header;
        if !header.has_effect() {
            let note = "the header of a file without any change passed over".to_owned();
            say(PatchEvent::Tolerated { note, line_number: header.line_number });
            return Ok(());
        }
        if header.has_other_content {
            return Err(malformed(
                header.line_number,
                "the header says that the content changes, but there is no hunk".to_owned(),
                "send the whole patch again",
            ));
        }
        self.open(None, say)?;
        if self.header.opened == Some(FileKind::Delete) {
            // Git leaves the hunk out only if the file is empty.
            self.open_binary_at(self.header.line_number, say);
            for is_reverse in [false, true] {
                say(PatchEvent::Binary { is_reverse, side: BinarySide::Literal(Vec::new()) });
            }
            say(PatchEvent::HunkClosed);
        }
        say(PatchEvent::FileClosed);
        Ok(())
    }

    /// Takes an edit whose content the patch does not hold.
    fn opaque(&mut self, line: Line<'_>, say: &mut Say<'_>) -> Read {
        // A new file without content must not be taken for an empty one.
        self.header.is_created = false;
        if let Some(old) = self.header.old.as_mut().filter(|old| old.path == names::NO_FILE) {
            old.path = self.header.new.as_ref().map(|new| new.path.clone()).unwrap_or_default();
        }
        self.open(None, say)?;
        self.open_binary(line, say);
        say(PatchEvent::HunkClosed);
        say(PatchEvent::FileClosed);
        self.state = State::Outside;
        Ok(())
    }

    fn open_binary(&mut self, line: Line<'_>, say: &mut Say<'_>) {
        self.open_binary_at(line.number, say);
    }

    fn open_binary_at(&mut self, line_number: usize, say: &mut Say<'_>) {
        if self.header.opened != Some(FileKind::Create) {
            say(PatchEvent::BinaryOpened {
                old_blob: self.header.old_blob.clone(),
                new_blob: self.header.new_blob.clone(),
                line_number,
            });
        }
    }

    fn binary(&mut self, line: Line<'_>, say: &mut Say<'_>) -> Read {
        let State::Binary(block, done) = &mut self.state else { return Ok(()) };
        match block {
            Some(open) if !line.text.is_empty() => {
                let read = git_binary::decode_line(line.text, &mut open.compressed);
                if read.is_err() && line.text.starts_with(b"diff ") {
                    self.end_edit(line.number, say)?;
                    return self.take(line, say);
                }
                read.map_err(|error| binary_fault(line.number, &error.to_string()))
            }
            Some(_) => {
                let (block, is_reverse) = (block.take(), *done > 0);
                *done += 1;
                block.map_or(Ok(()), |block| self.close_block(block, is_reverse, say))
            }
            None => match block_head(line) {
                Some(head) if *done < 2 => {
                    *block = Some(head?);
                    Ok(())
                }
                _ if *done == 0 => Err(binary_fault(
                    line.number,
                    &format!("expected 'literal LENGTH' or 'delta LENGTH', found '{}'", quoted(line.text)),
                )),
                _ => {
                    self.end_edit(line.number, say)?;
                    self.take(line, say)
                }
            },
        }
    }

    fn close_block(&mut self, block: Block, is_reverse: bool, say: &mut Say<'_>) -> Read {
        let fault = |message: &str| binary_fault(block.line_number, message);
        let content = git_binary::inflate(&block.compressed, block.length)
            .map_err(|error: BinaryError| fault(&error.to_string()))?;
        let is_create = self.header.opened == Some(FileKind::Create);
        let side = if block.is_delta {
            if is_create && !is_reverse {
                return Err(fault("a new file can't be made of a delta: there is no old content"));
            }
            BinarySide::Delta(content)
        } else {
            let blob = if is_reverse { &self.header.old_blob } else { &self.header.new_blob };
            if blob.as_ref().is_some_and(|blob| !blob.names(&content)) {
                return Err(fault("the content is not the one that the index line names"));
            }
            BinarySide::Literal(content)
        };
        if !(is_create && is_reverse) {
            say(PatchEvent::Binary { is_reverse, side });
        }
        Ok(())
    }
}

const SIGNS: &str = "every line of a hunk starts with ' ' (context), '-' (removed) or '+' (added)";
const SHORT_NAME: &str = "a name has fewer parts than are to be dropped from it";

fn block_head(line: Line<'_>) -> Option<Result<Block, Box<Problem>>> {
    let literal = line.text.strip_prefix(b"literal ");
    let length = literal.or(line.text.strip_prefix(b"delta "))?;
    let length = std::str::from_utf8(length).ok().and_then(|length| length.parse().ok());
    Some(match length {
        Some(length) => Ok(Block {
            is_delta: literal.is_none(),
            length,
            compressed: Vec::new(),
            line_number: line.number,
        }),
        None => Err(binary_fault(line.number, &format!("expected a length, found '{}'", quoted(line.text)))),
    })
}

/// Tells whether a line without sign can't be a line of a hunk, whatever its counts say.
fn is_boundary(text: &[u8]) -> bool {
    let heads: [&[u8]; 4] = [b"diff ", b"Index: ", b"Only in ", b"Property changes on: "];
    let is_commit = [&b"From "[..], b"commit "].iter().any(|head| {
        let id = text.strip_prefix(*head).and_then(|rest| rest.split(|&byte| byte == b' ').next());
        id.is_some_and(|id| matches!(id.len(), 40 | 64) && id.iter().all(u8::is_ascii_hexdigit))
    });
    is_commit || heads.iter().any(|head| text.starts_with(head)) || names::binary_files(text).is_some()
}

/// Tells whether a line closes a Markdown fence.
fn is_fence(text: &[u8]) -> bool {
    let text = text.trim_ascii_end();
    text.len() >= 3 && (text.iter().all(|&byte| byte == b'`') || text.iter().all(|&byte| byte == b'~'))
}

/// Reads `@@ -a,b +c,d @@`; a number that no file has makes it one without numbers.
fn numbers(line: &[u8]) -> Option<Numbers> {
    let rest = line.strip_prefix(b"@@")?.trim_ascii_start().strip_prefix(b"-")?;
    let (old, rest) = range(rest)?;
    let rest = rest.trim_ascii_start().strip_prefix(b"+")?;
    let (new, rest) = range(rest)?;
    (rest.is_empty() || rest.trim_ascii_start().starts_with(b"@@")).then_some(Numbers { old, new })
}

/// Returns what the header of a hunk says behind its numbers, or behind a bare `@@`.
fn section(line: &[u8], has_numbers: bool) -> Option<&[u8]> {
    let rest = line.strip_prefix(b"@@")?;
    let rest = match memchr::memmem::find(rest, b"@@") {
        Some(end) => &rest[end + 2..],
        None if has_numbers => return None,
        None => rest,
    };
    let text = rest.trim_ascii();
    (!text.is_empty()).then_some(text)
}

fn range(text: &[u8]) -> Option<((usize, usize), &[u8])> {
    let (start, rest) = number(text)?;
    match rest.strip_prefix(b",") {
        Some(rest) => number(rest).map(|(count, rest)| ((start, count), rest)),
        None => Some(((start, 1), rest)),
    }
}

fn number(text: &[u8]) -> Option<(usize, &[u8])> {
    let digits = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(digits);
    let number: u32 = std::str::from_utf8(number).ok()?.parse().ok()?;
    Some((usize::try_from(number).ok()?, rest))
}

/// Tells whether a line is a command of ed, or the head of a change in normal form: `3a`, `5,7c8`.
fn is_edit_command(text: &[u8]) -> bool {
    let Some((_, rest)) = number(text) else { return false };
    let rest = match rest.strip_prefix(b",") {
        Some(rest) => match number(rest) {
            Some((_, rest)) => rest,
            None => return false,
        },
        None => rest,
    };
    let Some((b'a' | b'c' | b'd' | b'i', rest)) = rest.split_first() else { return false };
    rest.iter().all(|&byte| byte.is_ascii_digit() || byte == b',')
}

fn header_name(line: Line<'_>) -> Result<names::Name, Box<Problem>> {
    names::of_header(&line.text[4..]).ok_or_else(|| bad_name(line))
}

fn bad_name(line: Line<'_>) -> Box<Problem> {
    malformed(
        line.number,
        format!("the name is not one that git quotes so: '{}'", quoted(line.text)),
        "a name in quotes has C escapes: \\t, \\\", \\\\, \\303",
    )
}

fn octal(line: Line<'_>, mode: &[u8]) -> Result<u32, Box<Problem>> {
    let text = std::str::from_utf8(mode.trim_ascii_end()).ok();
    text.and_then(|text| u32::from_str_radix(text, 8).ok()).filter(|&mode| mode <= 0o177_777).ok_or_else(
        || {
            malformed(
                line.number,
                format!("expected a mode like 100644, found '{}'", quoted(mode)),
                "a mode has six octal digits",
            )
        },
    )
}

fn is_regular(mode: u32) -> bool {
    mode & 0o170_000 == 0o100_000
}

fn refused(line: Line<'_>, what: &str, instead: &str) -> Box<Problem> {
    malformed(
        line.number,
        format!("this is {what}, which is not applied: '{}'", quoted(line.text)),
        format!("make a unified diff: {instead}"),
    )
}

fn binary_fault(line_number: usize, message: &str) -> Box<Problem> {
    malformed(
        line_number,
        format!("the binary patch is damaged: {message}"),
        "make it again with 'git diff --binary'",
    )
}

fn malformed(line_number: usize, message: String, hint: impl Into<String>) -> Box<Problem> {
    Box::new(Problem {
        line: Some(line_number),
        hint: Some(hint.into()),
        ..Problem::new(Code::Malformed, message)
    })
}

fn quoted(line: &[u8]) -> String {
    let cut = line.len().min(QUOTE_CAP_BYTES);
    let mark = if cut < line.len() { "…" } else { "" };
    format!("{}{mark}", String::from_utf8_lossy(&line[..cut]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::patch::Dialect;
    use crate::patch::Parser;
    use crate::patch::Reading;
    use crate::patch::parse;

    /// What the parser says, one line an event.
    fn said(reading: impl Into<Reading>, chunks: &[&[u8]]) -> Vec<String> {
        let mut parser = Parser::new(reading);
        let mut said = Vec::new();
        let mut say = |event: PatchEvent<'_>| {
            said.push(match event {
                PatchEvent::FileOpened { path, kind, line_number } => {
                    format!("{line_number} {kind:?} {}", path.shown())
                }
                PatchEvent::MovedTo { path, is_copy } => {
                    format!("{} {}", if is_copy { "copy" } else { "move" }, path.shown())
                }
                PatchEvent::Mode { before, mode } => {
                    let octal = |mode: Option<u32>| mode.map_or("-".to_owned(), |mode| format!("{mode:o}"));
                    format!("mode {} {}", octal(before), octal(mode))
                }
                PatchEvent::HunkOpened { stated_old_start, stated_old_lines, stated_new, line_number } => {
                    match (stated_old_start, stated_old_lines, stated_new) {
                        (Some(start), Some(lines), Some(new)) => {
                            format!("{line_number} hunk {start},{lines} {},{}", new.0, new.1)
                        }
                        _ => format!("{line_number} hunk"),
                    }
                }
                PatchEvent::Line { kind, text } => {
                    format!("{}{}", kind.sign(), String::from_utf8_lossy(text))
                }
                PatchEvent::Section { text } => format!("section {}", String::from_utf8_lossy(text)),
                PatchEvent::CarriageReturn => "cr".to_owned(),
                PatchEvent::NoNewline => "no newline".to_owned(),
                PatchEvent::HunkClosed => "hunk closed".to_owned(),
                PatchEvent::FileClosed => "closed".to_owned(),
                PatchEvent::BinaryOpened { line_number, .. } => format!("{line_number} binary"),
                PatchEvent::Binary { is_reverse, side } => {
                    format!("{} {side:?}", if is_reverse { "old" } else { "new" })
                }
                PatchEvent::Tolerated { line_number, .. } => format!("{line_number} tolerated"),
                PatchEvent::Malformed(problem) => {
                    format!("{:?} malformed: {}", problem.line, problem.message)
                }
                other => format!("{other:?}"),
            });
        };
        for chunk in chunks {
            parser.push(chunk, &mut say);
        }
        parser.finish(&mut say);
        said
    }

    /// Checks the events of a patch, that detection finds the dialect, and that every cut in two, and single bytes, give
    /// the same.
    fn check(patch: &str, expected: &[&str]) {
        let whole = said(Dialect::Unified, &[patch.as_bytes()]);
        assert_eq!(whole, expected, "{patch}");
        for cut in 0..patch.len() {
            let (head, tail) = patch.as_bytes().split_at(cut);
            assert_eq!(said(Dialect::Auto, &[head, tail]), whole, "cut at {cut} of {patch}");
        }
        let bytes: Vec<&[u8]> = patch.as_bytes().chunks(1).collect();
        assert_eq!(said(Dialect::Auto, &bytes), whole, "byte by byte: {patch}");
    }

    const NAMES: &str = "--- a/f\n+++ b/f\n";

    #[test]
    fn plain_hunks_are_read() {
        check(
            "--- a/f\t2026-01-02 03:04:05.0 +0000\n+++ b/f\t2026-01-02 03:04:06.0 +0000\n@@ -1,3 +1,3 @@ heading\n a\n-b\n\
             \\ No newline at end of file\n+c\n\n@@ -9 +9,0 @@\n-x\n--- a/g\n+++ b/g\n@@ -1,0 +2 @@\n+y\n",
            &[
                "1 Update f",
                "3 hunk 1,3 1,3",
                "section heading",
                " a",
                "-b",
                "no newline",
                "+c",
                " ",
                "hunk closed",
                "9 hunk 9,1 9,0",
                "-x",
                "hunk closed",
                "closed",
                "11 Update g",
                "13 hunk 1,0 2,1",
                "+y",
                "hunk closed",
                "closed",
            ],
        );
    }

    #[test]
    fn gits_headers_are_read() {
        check(
            "diff --git a/o b/n\nold mode 100644\nnew mode 100755\nsimilarity index 90%\nrename from o\nrename to n\n\
             index 1234567..89abcde\n--- a/o\n+++ b/n\n@@ -1 +1 @@\n-x\n+y\n\
             diff --git a/c b/d e\nsimilarity index 100%\ncopy from c\ncopy to d e\n\
             diff --git a/m b/m\nold mode 100755\nnew mode 100644\n\
             diff --git \"a/\\303\\251\" \"b/\\303\\251\"\nnew file mode 100644\nindex 0000000..e69de29\n\
             diff --git a/z b/z\ndeleted file mode 100644\nindex e69de29..0000000\n",
            &[
                "1 Update o",
                "move n",
                "mode 100644 100755",
                "10 hunk 1,1 1,1",
                "-x",
                "+y",
                "hunk closed",
                "closed",
                "13 Update c",
                "copy d e",
                "closed",
                "17 Update m",
                "mode 100755 100644",
                "closed",
                "20 Create é",
                "mode - 100644",
                "closed",
                "23 Delete z",
                "mode 100644 -",
                "23 binary",
                "new Literal([])",
                "old Literal([])",
                "hunk closed",
                "closed",
            ],
        );
    }

    #[test]
    fn files_come_and_go() {
        check(
            "--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+a\n+\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
            &[
                "1 Create n",
                "+a",
                "+",
                "closed",
                "6 Delete d",
                "8 hunk 1,1 0,0",
                "-a",
                "hunk closed",
                "closed",
            ],
        );
        check(
            "--- o/n\t1970-01-01 01:00:00.000000000 +0100\n+++ w/n\t2026-01-02 01:00:00 +0100\n@@ -0,0 +1 @@\n+a\n",
            &["1 Create n", "+a", "closed"],
        );
    }

    #[test]
    fn what_stands_around_is_passed_over() {
        check(
            "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nSubject: x\n---\n f | 2 +-\n\n\
             diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n-- \n2.47.3\n\nFrom me\n```diff\n--- a/g\n+++ b/g\n\
             @@ -1 +1 @@\n-a\n+b\n```\n- a bullet\n",
            &[
                "1 tolerated",
                "6 Update f",
                "9 hunk 1,1 1,1",
                "-a",
                "+b",
                "hunk closed",
                "closed",
                "12 tolerated",
                "17 Update g",
                "19 hunk 1,1 1,1",
                "-a",
                "+b",
                "hunk closed",
                "closed",
                "22 tolerated",
            ],
        );
        check(
            "diff -ru x/f y/f\n--- x/f\n+++ y/f\n@@ -1 +1 @@\n-a\n+b\nOnly in x: g\ndiff -ru x/h y/h\n--- x/h\n+++ y/h\n@@ -1 +1 @@\n-a\n+b\nDone\n",
            &[
                "2 Update y/f",
                "4 hunk 1,1 1,1",
                "-a",
                "+b",
                "hunk closed",
                "closed",
                "7 tolerated",
                "9 Update y/h",
                "11 hunk 1,1 1,1",
                "-a",
                "+b",
                "hunk closed",
                "closed",
                "14 tolerated",
            ],
        );
    }

    #[test]
    fn counts_are_hints() {
        let hunk = ["1 Update f", " a", "-b", "+c", "hunk closed", "closed"];
        let with = |head: &'static str, notes: &[&'static str]| {
            let mut all = vec![hunk[0], head];
            all.extend(&hunk[1..4]);
            all.extend(notes);
            all.extend(&hunk[4..]);
            all
        };
        check(&format!("{NAMES}@@ -1,9 +1,9 @@\n a\n-b\n+c\n"), &with("3 hunk 1,9 1,9", &["3 tolerated"]));
        check(&format!("{NAMES}@@ -1 +1 @@\n a\n-b\n+c\n"), &with("3 hunk 1,1 1,1", &["3 tolerated"]));
        let bare = ["1 Update f", "3 tolerated", "3 hunk", " a", "-b", "+c", "hunk closed", "closed"];
        for head in
            ["@@", "@@ ... @@", "@@ def f @@", "@@ -99999999999999999999,1 +1,1 @@", "@@ -1,4294967296 +1 @@"]
        {
            check(&format!("{NAMES}{head}\n a\n-b\n+c\n"), &bare);
        }
        check(&format!("{NAMES}@@\n a\n-b\n+c\n\n\n"), &bare);
        // The last line may lack its newline, if the counts say that it is the last one.
        check(
            &format!("{NAMES}@@ -1,2 +1,2 @@\n a\n-b\n+c"),
            &with("3 hunk 1,2 1,2", &["6 tolerated"])[..5]
                .iter()
                .copied()
                .chain(["6 tolerated", "hunk closed", "closed"])
                .collect::<Vec<_>>(),
        );
    }

    #[test]
    fn what_stands_behind_the_numbers_is_the_section() {
        for (header, text) in [
            ("@@ -1 +1 @@ fn a() {", Some("fn a() {")),
            ("@@ -1 +1 @@\tx @@ y ", Some("x @@ y")),
            ("@@ fn a", Some("fn a")),
            ("@@ ... @@ fn a", Some("fn a")),
            ("@@ -1 +1", None),
            ("@@ -1 +1 @@ ", None),
            ("@@", None),
        ] {
            let events = said(Dialect::Unified, &[format!("{NAMES}{header}\n-b\n+c\n").as_bytes()]);
            let found = events.iter().find_map(|event| event.strip_prefix("section "));
            assert_eq!(found, text, "{header}");
        }
    }

    #[test]
    fn empty_lines_are_context_if_the_hunk_goes_on_or_wants_them() {
        check(
            &format!("{NAMES}@@ -1,3 +1,3 @@\n\n-b\n+c\n\n\n"),
            &["1 Update f", "3 hunk 1,3 1,3", " ", "-b", "+c", " ", "hunk closed", "closed"],
        );
        check(
            &format!("{NAMES}@@ -1,9 +1,9 @@\n-b\n+c\n\n\n"),
            &["1 Update f", "3 hunk 1,9 1,9", "-b", "+c", "3 tolerated", "hunk closed", "closed"],
        );
    }

    #[test]
    fn lines_like_names_inside_a_hunk() {
        // The counts want exactly them.
        check(
            &format!("{NAMES}@@ -1 +1 @@\n--- old\n+++ new\n@@ -5 +5 @@\n-a\n+b\n"),
            &[
                "1 Update f",
                "3 hunk 1,1 1,1",
                "--- old",
                "+++ new",
                "hunk closed",
                "6 hunk 5,1 5,1",
                "-a",
                "+b",
                "hunk closed",
                "closed",
            ],
        );
        // No hunk follows.
        check(
            &format!("{NAMES}@@ -1,3 +1,3 @@\n--- old\n+++ new\n a\n b\n"),
            &["1 Update f", "3 hunk 1,3 1,3", "--- old", "+++ new", " a", " b", "hunk closed", "closed"],
        );
        check(
            &format!("{NAMES}@@ -1,2 +1,1 @@\n--- old\n-x\n+y\n"),
            &["1 Update f", "3 hunk 1,2 1,1", "--- old", "-x", "+y", "hunk closed", "closed"],
        );
        // The counts are too big.
        check(
            &format!("{NAMES}@@ -1,4 +1,4 @@\n-a\n+b\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-c\n+d\n"),
            &[
                "1 Update f",
                "3 hunk 1,4 1,4",
                "-a",
                "+b",
                "3 tolerated",
                "hunk closed",
                "closed",
                "6 Update g",
                "8 hunk 1,1 1,1",
                "-c",
                "+d",
                "hunk closed",
                "closed",
            ],
        );
    }

    #[test]
    fn a_cr_belongs_to_the_file_unless_the_names_have_one() {
        let hunk = ["1 Update f", "3 hunk 1,1 1,1", "-a", "+b", "hunk closed", "closed"];
        check("--- a/f\r\n+++ b/f\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n", &hunk);
        check(
            "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\r\n",
            &["1 Update f", "3 hunk 1,1 1,1", "-a", "+b", "cr", "hunk closed", "closed"],
        );
    }

    #[test]
    fn binary_content_is_read() {
        check(
            "diff --git a/b b/b\nindex 0000000..1111111\nGIT binary patch\nliteral 0\nHcmV?d00001\n\nliteral 0\nHcmV?d00001\n\n\
             diff --git a/c b/c\nindex 1..2 100644\nBinary files a/c and b/c differ\n",
            &[
                "1 Update b",
                "3 binary",
                "new Literal([])",
                "old Literal([])",
                "hunk closed",
                "closed",
                "10 Update c",
                "12 binary",
                "hunk closed",
                "closed",
            ],
        );
    }

    #[test]
    fn parts_of_names_are_dropped_on_request() {
        let opened = |strip: usize, patch: &str| {
            let reading = Reading { strip: Some(strip), ..Reading::from(Dialect::Unified) };
            said(reading, &[patch.as_bytes()]).swap_remove(0)
        };
        assert_eq!(opened(0, &format!("{NAMES}@@ -1 +1 @@\n-a\n+b\n")), "1 Update b/f");
        assert_eq!(opened(2, "--- x/a/f\n+++ x/b/f\n@@ -1 +1 @@\n-a\n+b\n"), "1 Update f");
        assert!(opened(2, &format!("{NAMES}@@ -1 +1 @@\n-a\n+b\n")).contains("fewer parts"));
        assert_eq!(opened(1, "diff --git a/d/o b/d/n\nrename from d/o\nrename to d/n\n"), "1 Update d/o");
    }

    /// Checks which line is called malformed, and that the message holds a text.
    fn check_malformed(patch: &str, line_number: usize, words: &str) {
        let problem = parse(patch.as_bytes(), Dialect::Unified).malformed.expect(patch);
        assert_eq!(
            (problem.code, problem.line),
            (Code::Malformed, Some(line_number)),
            "{patch}: {}",
            problem.message
        );
        assert!(problem.message.contains(words), "{patch}: {}", problem.message);
        assert!(problem.hint.is_some(), "{patch}");
    }

    #[test]
    fn what_is_malformed_says_line_found_and_expected() {
        let hunk = format!("{NAMES}@@ -1,3 +1,3 @@\n");
        check_malformed(&format!("{hunk} a\nb\n"), 5, "found 'b'");
        check_malformed(&format!("{NAMES}@@\n a\nb\n"), 5, "found 'b'");
        check_malformed(&format!("{NAMES}@@ -1 +1 @@\n-a\n+b\n+c\nd\n"), 7, "found 'd'");
        check_malformed(&format!("{NAMES}@@ -1 +1 @@\n-a\n+b\nc\n+d\n"), 6, "go on");
        check_malformed(&format!("{NAMES}@@ -1,9 +1,9 @@\n-a\n+b\n```\n+d\n"), 6, "go on");
        check_malformed(&format!("{NAMES}@@ -1 +1 @@\n@@ -2 +2 @@\n"), 3, "no line");
        check_malformed(NAMES, 1, "no hunk");
        check_malformed(&format!("{NAMES}nonsense\n"), 3, "found 'nonsense'");
        check_malformed(&format!("{NAMES}0a\nx\n.\n"), 3, "an ed script");
        check_malformed(&format!("{hunk} a\n+half"), 5, "cut off");
        check_malformed("*** f\n--- f\n***************\n*** 1 ****\n", 3, "a context diff");
        check_malformed("3,4c3\n< a\n---\n> b\n", 2, "normal form");
        check_malformed("diff --cc f\n", 1, "combined diff");
        check_malformed(&format!("{NAMES}@@@ -1 -1 +1 @@@\n"), 3, "combined diff");
        check_malformed("text\n@@ -1 +1 @@\n-a\n+b\n", 2, "names of a file");
        check_malformed("--- /dev/null\n+++ /dev/null\n@@ -0,0 +1 @@\n+a\n", 1, "contradicts");
        check_malformed("--- /dev/null\n+++ b/n\n@@ -1 +1 @@\n-a\n+b\n", 4, "found '-a'");
        check_malformed("--- a/d\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", 5, "found '+b'");
        check_malformed("--- \"a/\\9\"\n+++ b/n\n@@ -1 +1 @@\n-a\n+b\n", 1, "quotes");
        check_malformed("diff --git a/x y b/z\nnew mode 100755\n", 1, "told apart");
        check_malformed("diff --git a/x b/x\nnew mode 9\n", 2, "expected a mode");
        check_malformed("diff --git a/x b/x\nrename from x\n", 1, "one side");
        check_malformed("diff --git a/x b/x\n--- a/x\n@@ -1 +1 @@\n", 3, "expected '+++ '");
        check_malformed("diff --git a/x b/x\nnew file mode 100644\nindex 0000000..1234567\n", 1, "no hunk");
        let binary = "diff --git a/b b/b\nindex 1..2\nGIT binary patch\n";
        check_malformed(&format!("{binary}literal x\n"), 4, "expected a length");
        check_malformed(&format!("{binary}frob\n"), 4, "expected 'literal LENGTH'");
        check_malformed(&format!("{binary}literal 9\nHcmV?d00001\n\n"), 4, "length");
        check_malformed(&format!("{binary}literal 99999999999\nHcmV?d00001\n\n"), 4, "longer than");
        check_malformed(&format!("{binary}literal 0\n?cmV?d00001\n"), 5, "base85");
        check_malformed(binary, 3, "no content");
    }

    #[test]
    fn text_without_a_patch_is_malformed_but_nothing_is_not() {
        assert!(parse(b"I changed it.\n", Dialect::Auto).malformed.is_some());
        assert_eq!(parse(b"\n", Dialect::Auto).malformed, None);
        assert_eq!(parse(b"", Dialect::Auto).malformed, None);
    }

    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("--- a/f".to_owned()),
            Just("+++ b/f".to_owned()),
            Just("@@ -1,2 +1,2 @@".to_owned()),
            Just("@@".to_owned()),
            Just("diff --git a/f b/f".to_owned()),
            Just("rename from f".to_owned()),
            Just("rename to g".to_owned()),
            Just("new file mode 100755".to_owned()),
            Just("GIT binary patch".to_owned()),
            Just("literal 0".to_owned()),
            Just("HcmV?d00001".to_owned()),
            Just("```".to_owned()),
            Just("*** Begin Patch".to_owned()),
            Just(String::new()),
            Just("\\ No newline".to_owned()),
            "[-+ ]?[a-c+@ -]{0,4}\r?",
        ]
    }

    proptest! {
        #[test]
        fn how_input_is_cut_never_changes_what_is_said(
            lines in prop::collection::vec(line(), 0..24), cut in 0usize..200, final_newline: bool,
        ) {
            let mut text = lines.join("\n");
            if final_newline {
                text.push('\n');
            }
            let cut = cut.min(text.len());
            let whole = said(Dialect::Auto, &[text.as_bytes()]);
            prop_assert_eq!(said(Dialect::Auto, &[&text.as_bytes()[..cut], &text.as_bytes()[cut..]]), whole.clone());
            prop_assert_eq!(said(Dialect::Auto, &text.as_bytes().chunks(1).collect::<Vec<_>>()), whole);
        }

        #[test]
        fn no_input_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            said(Dialect::Unified, &[&bytes]);
            said(Dialect::Unified, &[NAMES.as_bytes(), b"@@ -1,3 +1,3 @@\n", &bytes]);
            said(Dialect::Unified, &[b"diff --git ", &bytes]);
        }
    }
}
