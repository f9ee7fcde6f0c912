//! A Patch to text in one of the dialects.
//!
//! What a dialect can't say is refused, by name, and never left out where that would change what the patch does. Every
//! text is read back before it is handed out: what its own parser would take for something else is refused too.
//!
//! What a dialect has no words for, and what only narrows where a hunk fits, is left out: line numbers, except where
//! nothing else tells the place; the content that a deletion names; the mode of a file that git calls usual (100644); and
//! line endings of hunks in which every line ends in CRLF, since new lines take the endings of the old ones. A creation
//! that fills an empty file, and one that only makes a new one, are written alike.

mod blocks;
mod diff;
mod envelope;

use crate::report::Code;
use crate::report::Problem;
use crate::text::PathText;

use super::Body;
use super::Dialect;
use super::Existing;
use super::FileEdit;
use super::Hunk;
use super::LineHunk;
use super::LineKind;
use super::Patch;
use super::parser::parse;

/// The mode of a file that is nothing special.
const USUAL_MODE: u32 = 0o100_644;
const TYPE_BITS: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;

/// Why a file edit can't be written in a dialect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} can't be written as {}: {cause}", self.what(), .dialect.name())]
pub struct FormatError {
    /// 1-based position of the file edit in the patch.
    pub edit: usize,
    /// 1-based position of the hunk in its file edit, if it is about one.
    pub hunk: Option<usize>,
    /// The path of the edit.
    pub path: PathText,
    /// The dialect.
    pub dialect: Dialect,
    /// What it has no words for.
    pub cause: FormatCause,
}

/// What a dialect has no words for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatCause {
    /// A change of mode, or a mode other than the usual one.
    #[error("it has no words for a file's mode")]
    Mode,
    /// Something that is no regular file.
    #[error("it has no words for links and what else is no regular file")]
    NoRegularFile,
    /// The content is binary.
    #[error("it has no words for binary content")]
    Binary,
    /// The patch does not hold the content that it is about.
    #[error("the content is not in the patch")]
    NoContent,
    /// A copy.
    #[error("it has no words for a copy")]
    Copy,
    /// A rename.
    #[error("it has no words for a rename")]
    Rename,
    /// A deletion.
    #[error("it has no words for a deletion")]
    Delete,
    /// A file is written whether it is there or not.
    #[error("it has no words for a file that may be there already")]
    Overwrite,
    /// A condition on the file before the edit.
    #[error("it has no words for the hash that the file must have")]
    Expectation,
    /// The last line has no newline, or loses or gains it.
    #[error("it has no words for a last line without newline")]
    NoFinalNewline,
    /// Lines end in CRLF, and not all of their hunk do.
    #[error("it has no words for line endings")]
    LineEndings,
    /// A replacement inside of lines.
    #[error("it has no words for a replacement inside of lines")]
    Substring,
    /// A text that tells where the hunk goes.
    #[error("it has no words for an anchor")]
    Anchor,
    /// The end of the file as a condition.
    #[error("it has no words for the end of the file")]
    EndOfFile,
    /// Only a line number tells where the hunk goes.
    #[error("it has no words for line numbers, and nothing else tells where the lines go")]
    NoPlace,
    /// The path is empty or absolute where it can't be, or holds what ends a name.
    #[error("the path can't be written")]
    Path,
    /// The edit changes nothing.
    #[error("it changes nothing")]
    NoChange,
    /// It would be read as something else: a text looks like a marker.
    #[error("it would be read as something else: a line or the path looks like a marker of the dialect")]
    Marker,
}

impl FormatError {
    fn what(&self) -> String {
        let hunk = self.hunk.map_or_else(String::new, |hunk| format!("hunk {hunk} of "));
        format!("{hunk}the edit of '{}'", self.path.shown())
    }
}

impl From<FormatError> for Problem {
    fn from(error: FormatError) -> Self {
        let problem = Problem::new(Code::Unencodable, error.to_string()).with_path(error.path.shown());
        Problem { edit: Some(error.edit), hunk: error.hunk, ..problem }
    }
}

/// What is wrong with one edit.
#[derive(Debug)]
struct Fault {
    hunk: Option<usize>,
    cause: FormatCause,
}

impl From<FormatCause> for Fault {
    fn from(cause: FormatCause) -> Self {
        Fault { hunk: None, cause }
    }
}

type Written = Result<(), Fault>;

/// Writes a patch in a dialect; [`Dialect::Auto`] is the unified one.
///
/// Reading the text gives the patch again, but for what the [module](self) says is left out.
///
/// ```
/// use hunkwise::patch::{Dialect, format, parse};
/// let patch = parse(b"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+y\n", Dialect::Unified).patch;
/// let text = format(&patch, Dialect::ApplyPatch).unwrap();
/// assert_eq!(text, b"*** Begin Patch\n*** Update File: f\n@@\n-x\n+y\n*** End Patch\n");
/// ```
///
/// # Errors
/// Every edit that the dialect can't express.
pub fn format(patch: &Patch, dialect: Dialect) -> Result<Vec<u8>, Vec<FormatError>> {
    let dialect = if dialect == Dialect::Auto { Dialect::Unified } else { dialect };
    let mut edits = Vec::new();
    let mut errors = Vec::new();
    let error = |index: usize, Fault { hunk, cause }: Fault| {
        let path = patch.edits[index].path.clone();
        FormatError { edit: index + 1, hunk, path, dialect, cause }
    };
    for (index, edit) in patch.edits.iter().enumerate() {
        match written(edit, dialect) {
            Ok(text) => edits.push(text),
            Err(fault) => errors.push(error(index, fault)),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let text = enclosed(&edits.concat(), dialect);
    match misread(patch, &text, dialect) {
        Some(index) => Err(vec![error(index, FormatCause::Marker.into())]),
        None => Ok(text),
    }
}

/// Writes one edit, and makes sure that it reads as it is.
fn written(edit: &FileEdit, dialect: Dialect) -> Result<Vec<u8>, Fault> {
    can_be_asked(edit)?;
    let mut out = Vec::new();
    match dialect {
        Dialect::ApplyPatch => envelope::write(edit, &mut out)?,
        Dialect::SearchReplace => blocks::write(edit, &mut out)?,
        Dialect::Unified | Dialect::Auto => diff::write(edit, &mut out)?,
    }
    let alone = Patch { edits: vec![edit.clone()] };
    match misread(&alone, &enclosed(&out, dialect), dialect) {
        Some(_) => Err(FormatCause::Marker.into()),
        None => Ok(out),
    }
}

fn enclosed(edits: &[u8], dialect: Dialect) -> Vec<u8> {
    match dialect {
        Dialect::ApplyPatch => [envelope::BEGIN, edits, envelope::END].concat(),
        Dialect::SearchReplace | Dialect::Unified | Dialect::Auto => edits.to_vec(),
    }
}

/// Refuses what no dialect has words for.
fn can_be_asked(edit: &FileEdit) -> Written {
    if edit.expect_sha256.is_some() {
        return Err(FormatCause::Expectation.into());
    }
    let (Body::Hunks(hunks) | Body::Delete(hunks)) = &edit.body else {
        return match &edit.body {
            Body::Content(content) if content.existing == Existing::Replace || content.keep_style => {
                Err(FormatCause::Overwrite.into())
            }
            _ => Ok(()),
        };
    };
    for (index, hunk) in hunks.iter().enumerate() {
        let fault = match hunk {
            Hunk::Replace(_) => Some(FormatCause::Substring),
            Hunk::Lines(lines) if lines.is_empty() => Some(FormatCause::NoChange),
            Hunk::Lines(lines) if lines.lines().any(|line| line.text.contains(&b'\n')) => {
                Some(FormatCause::Marker)
            }
            Hunk::Lines(_) | Hunk::Binary(_) => None,
        };
        if let Some(cause) = fault {
            return Err(Fault { hunk: Some(index + 1), cause });
        }
    }
    Ok(())
}

/// Returns the first edit that the text does not say again.
fn misread(patch: &Patch, text: &[u8], dialect: Dialect) -> Option<usize> {
    let (asked, read) = (reduced(patch, dialect), parse(text, dialect));
    let is_whole = read.malformed.is_none() || patch.edits.is_empty();
    let read = reduced(&read.patch, dialect);
    let position = (0..asked.len().max(read.len())).find(|&index| asked.get(index) != read.get(index));
    let last = patch.edits.len().saturating_sub(1);
    match position {
        // Blocks of one file are one edit, so the position may be one of fewer.
        Some(index) => Some(index.min(last)),
        None if is_whole => None,
        None => Some(last),
    }
}

/// Returns the edits without what a dialect leaves out.
fn reduced(patch: &Patch, dialect: Dialect) -> Vec<FileEdit> {
    let mut edits: Vec<FileEdit> = Vec::new();
    for edit in &patch.edits {
        let mut edit = FileEdit { line_number: 0, complete: true, ..edit.clone() };
        let is_dropped = |mode: &u32| mode & TYPE_BITS == REGULAR;
        match dialect {
            Dialect::Unified | Dialect::Auto => {}
            Dialect::ApplyPatch | Dialect::SearchReplace => {
                edit.mode = None;
                edit.mode_before = edit.mode_before.filter(|mode| !is_dropped(mode));
            }
        }
        match &mut edit.body {
            Body::Content(content) => {
                content.existing = Existing::Refuse;
                edit.mode = edit.mode.filter(|&mode| mode != USUAL_MODE);
            }
            Body::Delete(hunks) if dialect == Dialect::ApplyPatch => hunks.clear(),
            Body::Delete(hunks) | Body::Hunks(hunks) => {
                hunks.iter_mut().for_each(|hunk| reduce_hunk(hunk, dialect));
            }
        }
        match (edits.last_mut(), edit.body) {
            (Some(FileEdit { path, body: Body::Hunks(all), .. }), Body::Hunks(hunks))
                if dialect == Dialect::SearchReplace && *path == edit.path =>
            {
                all.extend(hunks);
            }
            (_, body) => edits.push(FileEdit { body, ..edit }),
        }
    }
    edits
}

fn reduce_hunk(hunk: &mut Hunk, dialect: Dialect) {
    let lines = match hunk {
        Hunk::Lines(lines) => lines,
        Hunk::Binary(binary) => {
            binary.line_number = 0;
            return;
        }
        Hunk::Replace(_) => return,
    };
    let has_numbers = matches!(dialect, Dialect::Unified | Dialect::Auto);
    let mut reduced = LineHunk {
        anchors: lines.anchors.clone(),
        stated_old_start: lines.stated_old_start.filter(|_| has_numbers),
        at_end_of_file: lines.at_end_of_file,
        ..LineHunk::default()
    };
    let mut push = |line: super::Line<'_>, kind: LineKind| {
        reduced.push(kind, line.text);
        if line.has_cr && has_numbers {
            reduced.mark_cr();
        }
        if line.has_no_newline {
            reduced.mark_no_newline();
        }
    };
    if dialect == Dialect::SearchReplace {
        let side = |other: LineKind| lines.lines().filter(move |line| line.kind != other);
        side(LineKind::Insert).for_each(|line| push(line, LineKind::Delete));
        side(LineKind::Delete).for_each(|line| push(line, LineKind::Insert));
    } else {
        lines.lines().for_each(|line| push(line, line.kind));
    }
    *lines = reduced;
}

/// Says which position of an edit's hunks a fault is at.
fn at(index: usize) -> impl Fn(FormatCause) -> Fault {
    move |cause| Fault { hunk: Some(index + 1), cause }
}

/// Refuses what lines without endings can't say of a hunk.
fn can_be_plain(hunk: &LineHunk) -> Result<(), FormatCause> {
    let lines = hunk.lines();
    if lines.clone().any(|line| line.has_no_newline) {
        return Err(FormatCause::NoFinalNewline);
    }
    let crlf = lines.clone().filter(|line| line.has_cr).count();
    let has_old = lines.clone().any(|line| line.kind != LineKind::Insert);
    let ends_in_cr = lines.clone().any(|line| line.text.ends_with(b"\r"));
    // Where every line ends in CRLF, new lines take that ending from the old ones.
    if ends_in_cr || crlf > 0 && (crlf < lines.len() || !has_old) {
        return Err(FormatCause::LineEndings);
    }
    Ok(())
}

/// Refuses a mode that is more than usual, and what is no regular file.
fn has_usual_mode(edit: &FileEdit) -> Result<(), FormatCause> {
    if [edit.mode, edit.mode_before].iter().flatten().any(|mode| mode & TYPE_BITS != REGULAR) {
        return Err(FormatCause::NoRegularFile);
    }
    match (&edit.body, edit.mode) {
        (Body::Delete(_), _) | (_, None) => Ok(()),
        (Body::Content(_), Some(USUAL_MODE)) => Ok(()),
        (Body::Hunks(_), Some(mode)) if edit.mode_before == Some(mode) => Ok(()),
        (Body::Content(_) | Body::Hunks(_), Some(_)) => Err(FormatCause::Mode),
    }
}

/// Returns a content's lines without their newlines; refuses one that lines without endings can't say.
fn plain_lines(content: &[u8]) -> Result<Vec<&[u8]>, FormatCause> {
    let Some(lines) = content.strip_suffix(b"\n") else {
        return if content.is_empty() { Ok(Vec::new()) } else { Err(FormatCause::NoFinalNewline) };
    };
    let lines: Vec<&[u8]> = lines.split(|&byte| byte == b'\n').collect();
    if lines.iter().any(|line| line.ends_with(b"\r")) { Err(FormatCause::LineEndings) } else { Ok(lines) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::super::BinaryHunk;
    use super::super::BinarySide;
    use super::super::BlobId;
    use super::super::Content;
    use super::super::args::file_edit;
    use super::*;

    const DIALECTS: [Dialect; 3] = Dialect::ALL;

    /// Lines that look like what dialects are made of, and others.
    fn line() -> impl Strategy<Value = Vec<u8>> {
        let hostile: Vec<&[u8]> = vec![
            b"*** Begin Patch",
            b"*** End Patch",
            b" *** End Patch",
            b"*** End of File",
            b"*** Update File: x",
            b"*** ",
            b"@@",
            b"@@ x",
            b"@@ -1 +1 @@",
            b"<<<<<<< SEARCH",
            b"------- SEARCH",
            b"=======",
            b"  =====",
            b">>>>>>> REPLACE",
            b"+++++++ REPLACE",
            b":start_line:3",
            b"\\=======",
            b"-- x",
            b"++ y",
            b"-- ",
            b"--- a/x",
            b"+++ b/x",
            b"diff --git a/x b/x",
            b"GIT binary patch",
            b"```",
            b"\\ No newline at end of file",
            b"\xEF\xBB\xBFx",
            b"caf\xe9",
            b"lone\rCR",
        ];
        let plain: Vec<&[u8]> = vec![b"", b" ", b"\t", b"a", b"b", b"}", b"  c"];
        prop_oneof![3 => select(plain), 1 => select(hostile)].prop_map(<[u8]>::to_vec)
    }

    fn is_hostile(patch: &Patch) -> bool {
        let is_plain =
            |text: &[u8]| text.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'a'..=b'c' | b'}' | b'\n'));
        let is_hostile = |hunk: &Hunk| matches!(hunk, Hunk::Lines(lines) if lines.lines().any(|line| !is_plain(line.text)));
        patch.edits.iter().any(|edit| match &edit.body {
            Body::Content(content) => !is_plain(&content.bytes),
            Body::Hunks(hunks) | Body::Delete(hunks) => hunks.iter().any(is_hostile),
        })
    }

    fn path() -> impl Strategy<Value = PathText> {
        let names: Vec<&[u8]> = vec![
            b"a",
            b"src/lib.rs",
            b"my file.txt",
            b"dir name/x",
            b"q\"t",
            b"b\\s",
            b"caf\xc3\xa9",
            b"\xff.txt",
            b"Makefile",
            b"a/b",
            b"b/a/x",
            b"tab\tname",
            b"-",
            b"...",
            b"no `tick",
            b"line\nbreak",
            b" lead",
            b"trail ",
            b"/abs/x",
            b"Put it here",
            b"end.",
            b"*** x",
            b"dev/null",
        ];
        select(names).prop_map(PathText::new)
    }

    fn lines_of(kinds: &[LineKind]) -> impl Strategy<Value = LineHunk> + use<> {
        let kind = select(kinds.to_vec());
        prop::collection::vec((kind, line()), 1..8).prop_map(|lines| {
            let mut hunk = LineHunk::default();
            lines.iter().for_each(|(kind, text)| hunk.push(*kind, text));
            hunk
        })
    }

    const ALL_KINDS: [LineKind; 3] = [LineKind::Context, LineKind::Delete, LineKind::Insert];

    fn content() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(line(), 0..5)
            .prop_map(|lines| lines.iter().flat_map(|line| [line.as_slice(), b"\n"].concat()).collect())
    }

    fn create() -> impl Strategy<Value = Body> {
        content()
            .prop_map(|bytes| Body::Content(Content { bytes, existing: Existing::Refuse, keep_style: false }))
    }

    fn edits(body: impl Strategy<Value = FileEdit>) -> impl Strategy<Value = Patch> {
        prop::collection::vec(body, 1..4).prop_map(|edits| Patch { edits })
    }

    /// Patches of which the apply_patch dialect can say everything.
    fn envelopes() -> impl Strategy<Value = Patch> {
        let anchors = prop::collection::vec(select(vec![&b"fn a"[..], b"class B:", b"-1 x"]), 0..3);
        let hunk =
            (lines_of(&ALL_KINDS), anchors, any::<bool>()).prop_map(|(lines, anchors, at_end_of_file)| {
                let anchors = anchors.into_iter().map(<[u8]>::to_vec).collect();
                Hunk::Lines(LineHunk { anchors, at_end_of_file, ..lines })
            });
        let update = prop::collection::vec(hunk, 1..4).prop_map(Body::Hunks);
        let body = prop_oneof![1 => create(), 1 => Just(Body::Delete(Vec::new())), 3 => update];
        edits((path(), body, prop::option::of(path())).prop_map(|(path, body, move_to)| {
            let move_to = move_to.filter(|_| matches!(body, Body::Hunks(_)));
            FileEdit { move_to, ..file_edit(path, body) }
        }))
    }

    /// Patches of which the search-replace dialect can say everything.
    fn blocks() -> impl Strategy<Value = Patch> {
        let hunk = (prop::collection::vec(line(), 1..5), prop::collection::vec(line(), 0..5))
            .prop_filter("a change", |(old, new)| old != new)
            .prop_map(|(old, new)| {
                let mut hunk = LineHunk::default();
                old.iter().for_each(|line| hunk.push(LineKind::Delete, line));
                new.iter().for_each(|line| hunk.push(LineKind::Insert, line));
                hunk.narrow();
                Hunk::Lines(hunk)
            });
        let update = prop::collection::vec(hunk, 1..4).prop_map(Body::Hunks);
        let create = create().prop_map(|body| match body {
            Body::Content(content) => Body::Content(Content { existing: Existing::ReplaceEmpty, ..content }),
            other => other,
        });
        edits((path(), prop_oneof![1 => create, 3 => update]).prop_map(|(path, body)| file_edit(path, body)))
            .prop_map(|mut patch| {
                patch.edits.dedup_by(|one, other| one.path == other.path);
                patch
            })
    }

    /// Patches of which the unified dialect can say everything.
    fn diffs() -> impl Strategy<Value = Patch> {
        let mode = || prop::option::of(select(vec![0o100_644, 0o100_755, 0o120_000]));
        let hunks = |kinds: &[LineKind]| {
            let hunk = (lines_of(kinds), any::<bool>(), any::<bool>(), any::<bool>());
            (prop::collection::vec(hunk, 1..4), 1..90usize).prop_map(|(hunks, start)| {
                let (mut start, mut offset) = (start, 0isize);
                let mut all = Vec::new();
                let has_numbers = hunks[0].1;
                let last = hunks.len() - 1;
                for (index, (lines, _, has_cr, is_cut)) in hunks.into_iter().enumerate() {
                    let mut hunk = LineHunk::default();
                    let count = lines.len();
                    for (place, line) in lines.lines().enumerate() {
                        hunk.push(line.kind, line.text);
                        if has_cr {
                            hunk.mark_cr();
                        }
                        if is_cut && index == last && place + 1 == count {
                            hunk.mark_no_newline();
                        }
                    }
                    let count = |other: LineKind| hunk.lines().filter(|line| line.kind != other).count();
                    let (old, new) = (count(LineKind::Insert), count(LineKind::Delete));
                    if has_numbers {
                        let first = start + usize::from(old == 0);
                        let new_first = first.saturating_add_signed(offset);
                        hunk.stated_old_start = Some(start);
                        hunk.stated_old_lines = Some(old);
                        hunk.stated_new =
                            Some((if new == 0 { new_first.saturating_sub(1) } else { new_first }, new));
                    }
                    start += old + 9;
                    offset += new as isize - old as isize;
                    all.push(Hunk::Lines(hunk));
                }
                all
            })
        };
        let binary =
            (prop::collection::vec(any::<u8>(), 0..200), any::<bool>()).prop_map(|(bytes, is_delta)| {
                let blob = |digit: u8| BlobId::parse(&[digit; 40]);
                let side = if is_delta { BinarySide::Delta(bytes) } else { BinarySide::Literal(Vec::new()) };
                vec![Hunk::Binary(BinaryHunk {
                    new: Some(side.clone()),
                    old: Some(side),
                    old_blob: if is_delta { blob(b'1') } else { None },
                    new_blob: if is_delta { blob(b'2') } else { None },
                    line_number: 0,
                })]
            });
        let body = prop_oneof![
            1 => create(),
            4 => hunks(&ALL_KINDS).prop_map(Body::Hunks),
            1 => binary.prop_map(Body::Hunks),
            1 => hunks(&[LineKind::Delete]).prop_map(Body::Delete),
        ];
        let moved = prop::option::of((path(), any::<bool>()));
        edits((path(), body, mode(), mode(), moved).prop_map(|(path, body, mode, mode_before, moved)| {
            let edit = file_edit(path, body);
            match &edit.body {
                Body::Content(content) => {
                    let mode = mode.or(content.bytes.is_empty().then_some(USUAL_MODE));
                    FileEdit { mode, ..edit }
                }
                Body::Delete(_) => FileEdit { mode_before, ..edit },
                Body::Hunks(_) => {
                    let is_copy = moved.as_ref().is_some_and(|(_, is_copy)| *is_copy);
                    let move_to = moved.map(|(path, _)| path);
                    FileEdit { mode, mode_before, move_to, is_copy, ..edit }
                }
            }
        }))
    }

    /// Forgets on which lines of a text things stand.
    fn without_lines(mut patch: Patch) -> Patch {
        for edit in &mut patch.edits {
            edit.line_number = 0;
            let (Body::Hunks(hunks) | Body::Delete(hunks)) = &mut edit.body else { continue };
            for hunk in hunks {
                match hunk {
                    Hunk::Lines(lines) => lines.line_number = 0,
                    Hunk::Binary(binary) => binary.line_number = 0,
                    Hunk::Replace(_) => {}
                }
            }
        }
        patch
    }

    /// Checks that a patch, written and read again, is the same to the last byte; or that it is refused, and for a reason.
    fn check(patch: &Patch, dialect: Dialect) -> Result<(), TestCaseError> {
        match format(patch, dialect) {
            Ok(text) => {
                let read = parse(&text, dialect);
                prop_assert_eq!(read.malformed, None);
                prop_assert_eq!(&without_lines(read.patch), patch, "{}", String::from_utf8_lossy(&text));
                // The text tells its own dialect.
                prop_assert_eq!(parse(&text, Dialect::Auto).dialect, dialect);
            }
            Err(errors) => {
                prop_assert!(!errors.is_empty());
                let is_for_path = errors.iter().any(|error| {
                    let path = error.path.bytes();
                    let to = patch.edits[error.edit - 1].move_to.as_ref().map_or(&b""[..], PathText::bytes);
                    let is_odd = |path: &[u8]| {
                        let is_plain =
                            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.');
                        !path.iter().all(is_plain) || path.starts_with(b"/") || path.ends_with(b".")
                    };
                    is_odd(path) || is_odd(to)
                });
                prop_assert!(is_for_path || is_hostile(patch), "{:?}\n{:?}", errors, patch);
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn an_envelope_reads_as_it_was(patch in envelopes()) {
            check(&patch, Dialect::ApplyPatch)?;
        }

        #[test]
        fn blocks_read_as_they_were(patch in blocks()) {
            check(&patch, Dialect::SearchReplace)?;
        }

        #[test]
        fn a_diff_reads_as_it_was(patch in diffs()) {
            check(&patch, Dialect::Unified)?;
        }

        #[test]
        fn what_another_dialect_says_is_said_or_refused(
            patch in prop_oneof![envelopes(), blocks(), diffs()], dialect in select(DIALECTS.to_vec()),
        ) {
            if let Ok(text) = format(&patch, dialect) {
                let read = parse(&text, dialect);
                prop_assert_eq!(read.malformed, None);
                let sides = |patch: &Patch| -> Vec<[Vec<Vec<u8>>; 2]> {
                    let mut all = Vec::new();
                    for edit in &patch.edits {
                        let Body::Hunks(hunks) = &edit.body else { continue };
                        for hunk in hunks {
                            let Hunk::Lines(hunk) = hunk else { continue };
                            let side = |other: LineKind| {
                                hunk.lines().filter(|line| line.kind != other).map(|line| line.text.to_vec()).collect()
                            };
                            all.push([side(LineKind::Insert), side(LineKind::Delete)]);
                        }
                    }
                    all
                };
                prop_assert_eq!(sides(&read.patch), sides(&patch));
            }
        }
    }

    /// Checks what a unified diff says in another dialect, or why it can't be said.
    fn check_text(diff: &str, dialect: Dialect, expected: Result<&str, &[FormatCause]>) {
        let parsed = parse(diff.as_bytes(), Dialect::Auto);
        assert_eq!(parsed.malformed, None, "{diff}");
        let written = format(&parsed.patch, dialect);
        let written = written.map(|text| String::from_utf8(text).unwrap());
        let causes = written.map_err(|errors| errors.iter().map(|error| error.cause).collect::<Vec<_>>());
        assert_eq!(causes.as_deref().map_err(Vec::as_slice), expected, "{diff}");
    }

    #[test]
    fn a_diff_becomes_an_envelope() {
        check_text(
            "diff --git a/old b/new\nrename from old\nrename to new\n--- a/old\n+++ b/new\n@@ -3,3 +3,3 @@ fn f\n a\n-b\n+c\n \n\
             diff --git a/gone b/gone\ndeleted file mode 100755\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
             diff --git a/made b/made\nnew file mode 100644\n--- /dev/null\n+++ b/made\n@@ -0,0 +1 @@\n+x\n",
            Dialect::ApplyPatch,
            Ok(
                "*** Begin Patch\n*** Update File: old\n*** Move to: new\n@@\n a\n-b\n+c\n \n*** Delete File: gone\n\
                *** Add File: made\n+x\n*** End Patch\n",
            ),
        );
    }

    #[test]
    fn a_diff_becomes_blocks() {
        check_text(
            "--- a/src/f\n+++ b/src/f\n@@ -1,3 +1,3 @@\n a\n-=======\n+c\n d\n--- /dev/null\n+++ b/my file\n@@ -0,0 +1 @@\n+x\n",
            Dialect::SearchReplace,
            Ok("src/f\n```\n<<<<< SEARCH\na\n=======\nd\n=====\na\nc\nd\n>>>>> REPLACE\n```\n\
                `my file`\n```\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n```\n"),
        );
    }

    #[test]
    fn a_broken_diff_becomes_one_that_git_takes() {
        check_text(
            "--- a/f\n+++ b/f\n@@ -3,9 +3,2 @@\n a\n-b\n+c\n+d\n@@ -20 +20 @@\n-x\n",
            Dialect::Unified,
            Ok("--- a/f\n+++ b/f\n@@ -3,2 +3,3 @@\n a\n-b\n+c\n+d\n@@ -20 +20,0 @@\n-x\n"),
        );
        check_text(
            "*** Begin Patch\n*** Add File: e\n*** Update File: f\n-a\n+b\n*** End Patch\n",
            Dialect::Unified,
            Ok("diff --git a/e b/e\nnew file mode 100644\n--- a/f\n+++ b/f\n@@\n-a\n+b\n"),
        );
    }

    #[test]
    fn what_can_t_be_said_is_refused_by_name() {
        let names = "--- a/f\n+++ b/f\n";
        let check =
            |diff: &str, dialect: Dialect, cause: FormatCause| check_text(diff, dialect, Err(&[cause]));
        for dialect in [Dialect::ApplyPatch, Dialect::SearchReplace] {
            check(
                &format!("{names}@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n"),
                dialect,
                FormatCause::NoFinalNewline,
            );
            check(&format!("{names}@@ -1,2 +1,2 @@\n a\r\n-b\n+c\n"), dialect, FormatCause::LineEndings);
            check(&format!("{names}@@ -1,0 +2 @@\n+b\n"), dialect, FormatCause::NoPlace);
            check("diff --git a/f b/f\nold mode 100644\nnew mode 100755\n", dialect, FormatCause::Mode);
            check(
                "diff --git a/f b/f\nnew file mode 100755\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n",
                dialect,
                FormatCause::Mode,
            );
            check(
                "diff --git a/f b/f\nnew file mode 120000\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n\\ No newline\n",
                dialect,
                FormatCause::NoRegularFile,
            );
            check("diff --git a/f b/g\ncopy from f\ncopy to g\n", dialect, FormatCause::Copy);
            check("Binary files a/f and b/f differ\n", dialect, FormatCause::Binary);
            check_text(
                &format!("{names}@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n"),
                dialect,
                Ok(match dialect {
                    Dialect::ApplyPatch => {
                        "*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n+c\n*** End Patch\n"
                    }
                    _ => "`f`\n```\n<<<<<<< SEARCH\na\nb\n=======\na\nc\n>>>>>>> REPLACE\n```\n",
                }),
            );
        }
        check("--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", Dialect::SearchReplace, FormatCause::Delete);
        check(
            "diff --git a/f b/g\nrename from f\nrename to g\n",
            Dialect::SearchReplace,
            FormatCause::Rename,
        );
        let every_width: String = (5..=9).map(|width| format!(" {}\n", "=".repeat(width))).collect();
        check(
            &format!("{names}@@ -1,6 +1,6 @@\n{every_width}-a\n+b\n"),
            Dialect::SearchReplace,
            FormatCause::Marker,
        );
        check("--- a/ f\n+++ b/ f\n@@ -1 +1 @@\n-a\n+b\n", Dialect::SearchReplace, FormatCause::Marker);
        let envelope = |hunk: &str| format!("*** Begin Patch\n*** Update File: f\n{hunk}*** End Patch\n");
        check(&envelope("@@ fn a\n-a\n+b\n"), Dialect::Unified, FormatCause::Anchor);
        check(&envelope("-a\n+b\n*** End of File\n"), Dialect::SearchReplace, FormatCause::EndOfFile);
        check(
            "*** Begin Patch\n*** Delete File: f\n*** End Patch\n",
            Dialect::Unified,
            FormatCause::NoContent,
        );
    }

    #[test]
    fn every_edit_that_can_t_be_said_is_named() {
        let patch = parse(
            b"diff --git a/f b/f\nold mode 100644\nnew mode 100755\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n\\ No newline\n",
            Dialect::Unified,
        );
        let errors = format(&patch.patch, Dialect::ApplyPatch).unwrap_err();
        let problems: Vec<Problem> = errors.into_iter().map(Problem::from).collect();
        let said: Vec<_> =
            problems.iter().map(|problem| (problem.edit, problem.hunk, problem.message.as_str())).collect();
        assert_eq!(
            said,
            [
                (
                    Some(1),
                    None,
                    "the edit of 'f' can't be written as apply-patch: it has no words for a file's mode"
                ),
                (
                    Some(2),
                    Some(1),
                    "hunk 1 of the edit of 'g' can't be written as apply-patch: it has no words for a last line without newline"
                ),
            ]
        );
    }
}
