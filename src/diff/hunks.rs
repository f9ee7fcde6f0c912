//! Changed ranges to [`FileDiff`]s with context, and a `FileDiff` to signed lines.
//!
//! A hunk shows text: lines without their endings, no byte order mark. What text can't show, a note says. An applied
//! hunk is built out of the preimage and the bytes that replace its changed lines, so that splices need not be
//! written out to be shown.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr;
use memchr::memchr_iter;
use memchr::memrchr;

use crate::diff::lines::diff_line_lists;
use crate::diff::lines::diff_lines;
use crate::diff::lines::skip_lines;
use crate::diff::section::Sections;
use crate::report::DiffNote;
use crate::report::FileDiff;
use crate::text::Document;
use crate::text::Eol;
use crate::text::Splices;
use crate::text::document::EolCounts;
use crate::text::document::LineSpan;
use crate::text::document::with_lf;

/// How many unchanged lines a hunk shows before and after its changes.
const CONTEXT_LINES: usize = 3;
/// Changes with at most this many unchanged lines between them share a hunk: their contexts touch.
const JOIN_LINES: usize = 2 * CONTEXT_LINES;

/// How many bytes the longest byte order mark has: that of UTF-32.
const BOM_LIMIT_BYTES: usize = 4;

/// What a line of a hunk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sign {
    /// On both sides.
    Context,
    /// On the old side only.
    Delete,
    /// On the new side only.
    Insert,
}

/// One line of a hunk as it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedLine<'a> {
    /// What the line is.
    pub kind: Sign,
    /// The line without its newline.
    pub text: &'a str,
    /// 1-based line number in the old file; `None` for an inserted line, or where the hunk has no line keys.
    pub old_number: Option<usize>,
    /// 1-based line number in the new file; `None` for a deleted line, or where the hunk has no line keys.
    pub new_number: Option<usize>,
}

/// Compares two whole texts; a side that is `None` is an absent file.
///
/// Equal texts give no hunk, and neither does an empty file that comes or goes. A run of lines of which only the
/// endings differ is shown by its first line, with a note: converting a file does not show the whole of it.
pub fn compare(path: &str, old: Option<&Document>, new: Option<&Document>) -> Vec<FileDiff> {
    let old_text = old.map_or(&[][..], Document::text);
    let new_text = new.map_or(&[][..], Document::text);
    let diff = diff_lines(old_text, new_text);
    let mut edits = Vec::with_capacity(diff.changes.len());
    for change in diff.changes {
        let edit = Edit::new(change.old, &new_text[change.new], diff.is_coarse);
        edit.split_endings(old_text, &mut edits);
    }
    let bom_changes = matches!((old, new), (Some(old), Some(new)) if old.has_bom() != new.has_bom());
    hunks(path, old_text, edits, bom_changes)
}

/// Shows what splices change in a file, as [`compare`] would, but looks only at the lines that they touch and their
/// neighbours, and above them for their sections; of the rest the newlines are counted, up to the last splice.
///
/// Lines inside a splice that stay the same are not changes.
pub fn from_splices(path: &str, old: &Document, splices: &Splices) -> Vec<FileDiff> {
    let regions = regions(old, splices);
    let text_start = old.text_start();
    let mut bom_changes = false;
    let mut edits = Vec::new();
    for region in &regions {
        let mut new_text = region.new.as_slice();
        if region.old.start == 0 {
            let start = new_text[..new_text.len().min(BOM_LIMIT_BYTES)].to_vec();
            let bom_bytes = Document::new(start).text_start();
            bom_changes = (bom_bytes > 0) != old.has_bom();
            new_text = &new_text[bom_bytes..];
        }
        let region_start = region.old.start.saturating_sub(text_start);
        let region_end = region.old.end - text_start;
        let diff = diff_lines(&old.text()[region_start..region_end], new_text);
        for change in diff.changes {
            let range = region_start + change.old.start..region_start + change.old.end;
            Edit::new(range, &new_text[change.new], diff.is_coarse).split_endings(old.text(), &mut edits);
        }
    }
    hunks(path, old.text(), edits, bom_changes)
}

/// Says of hunks which sections of the text before they stand in, where their line numbers fit that text.
pub fn add_sections<'d>(path: &str, old_text: &str, diffs: impl IntoIterator<Item = &'d mut FileDiff>) {
    let text = old_text.as_bytes();
    let mut sections = Sections::new(path, text);
    let (mut offset, mut lines_before) = (0, 0);
    for diff in diffs.into_iter().filter(|diff| diff.section.is_none()) {
        let Some(start) = diff.old_start else { continue };
        let signed = signed_lines(diff);
        let context = signed.iter().take_while(|line| line.kind == Sign::Context).count();
        // A start of no lines names the line before them.
        let before = if diff.old_lines == Some(0) { start } else { start.saturating_sub(1) + context };
        if before < lines_before {
            (offset, lines_before) = (0, 0);
        }
        offset = skip_lines(text, offset, before - lines_before);
        lines_before = before;
        let above = (offset > 0).then(|| LineSpan::before(text, offset).text(text));
        let is_above = |line: &SignedLine<'_>| above == Some(line.text.trim_end_matches('\r').as_bytes());
        if context > 0 && !is_above(&signed[context - 1]) {
            continue;
        }
        let changed = &signed[context..];
        let of = |kind: Sign| {
            changed
                .iter()
                .skip_while(move |line| kind == Sign::Insert && line.kind == Sign::Delete)
                .take_while(move |line| line.kind == kind)
        };
        let end = skip_lines(text, offset, of(Sign::Delete).count());
        let new: Vec<u8> = of(Sign::Insert).flat_map(|line| [line.text.as_bytes(), b"\n"].concat()).collect();
        let section = sections.of(offset..end, &new);
        diff.section = section;
    }
}

/// Returns the lines of a hunk with their signs.
///
/// Recorded signs are followed; otherwise the two texts are compared line by line, and in a run of changes the
/// deleted lines come first. Lines that differ only in what a note tells are context.
pub fn signed_lines(diff: &FileDiff) -> Vec<SignedLine<'_>> {
    let mut lines = Vec::new();
    walk(diff, |line| lines.push(line));
    lines
}

/// Returns how many lines a hunk adds and how many it removes.
///
/// This is the one rule for counts: what [`signed_lines`] signs.
pub fn counts(diff: &FileDiff) -> (usize, usize) {
    let (mut added, mut removed) = (0, 0);
    walk(diff, |line| match line.kind {
        Sign::Context => {}
        Sign::Delete => removed += 1,
        Sign::Insert => added += 1,
    });
    (added, removed)
}

/// Some old lines and the bytes of the lines that take their place; offsets are into the old text after its BOM.
#[derive(Debug)]
struct Edit<'a> {
    old: Range<usize>,
    new: &'a [u8],
    changes_endings: bool,
    is_coarse: bool,
}

impl<'a> Edit<'a> {
    fn new(old: Range<usize>, new: &'a [u8], is_coarse: bool) -> Self {
        Edit { old, new, changes_endings: false, is_coarse }
    }

    /// Adds this edit to `edits`; where lines on both sides have the same text and other endings, only the lines
    /// around them and the first of each such run.
    fn split_endings(mut self, old_text: &[u8], edits: &mut Vec<Edit<'a>>) {
        let old = &old_text[self.old.clone()];
        if !endings_differ(old, self.new) {
            edits.push(self);
            return;
        }
        let (old_shown, new_shown) = (lf_bytes(old), lf_bytes(self.new));
        let diff = diff_lines(&old_shown, &new_shown);
        self.is_coarse |= diff.is_coarse;
        let mut shown_end = 0;
        let mut rest = Cursor { edit: &self, old_text, old: self.old.start, new: 0 };
        for change in &diff.changes {
            rest.take_endings(count_lines(&old_shown[shown_end..change.old.start]), edits);
            shown_end = change.old.end;
            let old_lines = count_lines(&old_shown[change.old.clone()]);
            let new_lines = count_lines(&new_shown[change.new.clone()]);
            edits.push(rest.take(old_lines, new_lines));
        }
        rest.take_endings(count_lines(&old_shown[shown_end..]), edits);
    }
}

/// How much of an edit is already split.
struct Cursor<'e, 'a> {
    edit: &'e Edit<'a>,
    old_text: &'e [u8],
    old: usize,
    new: usize,
}

impl<'a> Cursor<'_, 'a> {
    /// Takes the next lines of both sides as an edit of their own.
    fn take(&mut self, old_lines: usize, new_lines: usize) -> Edit<'a> {
        let old_end = skip_lines(self.old_text, self.old, old_lines);
        let new_end = skip_lines(self.edit.new, self.new, new_lines);
        let old = std::mem::replace(&mut self.old, old_end)..old_end;
        let new = &self.edit.new[std::mem::replace(&mut self.new, new_end)..new_end];
        let changes_endings = endings_differ(&self.old_text[old.clone()], new);
        Edit { old, new, changes_endings, is_coarse: self.edit.is_coarse }
    }

    /// Passes over lines of equal text; the first of each run whose ending differs becomes an edit.
    fn take_endings(&mut self, lines: usize, edits: &mut Vec<Edit<'a>>) {
        let mut was_changed = false;
        for _ in 0..lines {
            let edit = self.take(1, 1);
            let is_changed = self.old_text[edit.old.clone()] != *edit.new;
            if is_changed && !was_changed {
                edits.push(edit);
            }
            was_changed = is_changed;
        }
    }
}

/// Tells whether the lines of the two sides end differently: CRLF against LF, or both kinds on both sides.
fn endings_differ(old: &[u8], new: &[u8]) -> bool {
    match (EolCounts::of(old).eol(), EolCounts::of(new).eol()) {
        (Eol::None, _) | (_, Eol::None) => false,
        (Eol::Mixed, _) | (_, Eol::Mixed) => true,
        (old, new) => old != new,
    }
}

/// Returns `bytes` with every CRLF as LF.
fn lf_bytes(bytes: &[u8]) -> Vec<u8> {
    let mut shown = Vec::with_capacity(bytes.len());
    let mut start = 0;
    for newline in memchr_iter(b'\n', bytes) {
        let line = &bytes[start..newline];
        shown.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
        shown.push(b'\n');
        start = newline + 1;
    }
    shown.extend_from_slice(&bytes[start..]);
    shown
}

fn count_lines(bytes: &[u8]) -> usize {
    let cut = usize::from(!bytes.is_empty() && !bytes.ends_with(b"\n"));
    memchr_iter(b'\n', bytes).count() + cut
}

/// Whole old lines (raw offsets, BOM included) that splices touch, and the whole lines that take their place.
struct Region {
    old: Range<usize>,
    new: Vec<u8>,
}

/// Widens splices to whole lines; those that share or touch a line become one region.
fn regions(old: &Document, splices: &Splices) -> Vec<Region> {
    let bytes = old.bytes();
    let mut regions: Vec<Region> = Vec::new();
    for splice in splices.list() {
        let start = splice.range.start;
        let is_closed = regions.last_mut().is_none_or(|region| close(region, old, start));
        let floor = regions.last().map_or(0, |region| region.old.end);
        let line_start = memrchr(b'\n', &bytes[floor..start]).map_or(floor, |newline| floor + newline + 1);
        if regions.is_empty() || (is_closed && line_start > floor) {
            regions.push(Region { old: line_start..line_start, new: Vec::new() });
        }
        if let Some(region) = regions.last_mut() {
            region.new.extend_from_slice(&bytes[region.old.end..start]);
            region.new.extend_from_slice(&splice.new);
            region.old.end = splice.range.end;
        }
    }
    if let Some(region) = regions.last_mut()
        && !close(region, old, bytes.len())
    {
        region.new.extend_from_slice(&bytes[region.old.end..]);
        region.old.end = bytes.len();
    }
    regions
}

/// Extends a region to where a line ends on both sides, if that is before `limit` or at it; tells whether it is.
fn close(region: &mut Region, old: &Document, limit: usize) -> bool {
    let end = region.old.end;
    let bytes = old.bytes();
    let at_old_border = end == old.text_start() || end == bytes.len() || (end > 0 && bytes[end - 1] == b'\n');
    // What is left of a file whose first lines go may begin with a BOM, so one line more is looked at.
    let at_new_border = match region.new.last() {
        Some(last) => *last == b'\n' || end == bytes.len(),
        None => region.old.start > 0 || end == bytes.len(),
    };
    if at_old_border && at_new_border {
        return true;
    }
    let Some(newline) = memchr(b'\n', &bytes[end..limit]) else { return false };
    region.old.end = end + newline + 1;
    region.new.extend_from_slice(&bytes[end..region.old.end]);
    true
}

/// One side of a hunk that is being built.
#[derive(Debug, Default)]
struct Side {
    text: String,
    lines: usize,
    no_newline: bool,
}

impl Side {
    fn push(&mut self, lines: &Shown<'_>) {
        if lines.count == 0 {
            return;
        }
        if self.lines > 0 {
            self.text.push('\n');
        }
        self.text.push_str(lines.text.strip_suffix('\n').unwrap_or(&lines.text));
        self.lines += lines.count;
        self.no_newline = lines.no_newline;
    }
}

/// Whole lines as a hunk shows them.
struct Shown<'a> {
    text: Cow<'a, str>,
    count: usize,
    no_newline: bool,
}

impl<'a> Shown<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => with_lf(text),
            Err(_) => with_lf(&String::from_utf8_lossy(bytes)).into_owned().into(),
        };
        Shown { text, count: count_lines(bytes), no_newline: !bytes.ends_with(b"\n") }
    }
}

/// A hunk that is being built.
#[derive(Debug, Default)]
struct Open {
    /// How many lines stand before the hunk in the old and in the new file.
    lines_before: (usize, usize),
    old: Side,
    new: Side,
    changes_endings: bool,
    is_coarse: bool,
    section: Option<String>,
}

impl Open {
    fn push_context(&mut self, bytes: &[u8]) {
        let lines = Shown::of(bytes);
        self.old.push(&lines);
        self.new.push(&lines);
    }

    fn push_edit(&mut self, old_text: &[u8], edit: &Edit<'_>) {
        self.old.push(&Shown::of(&old_text[edit.old.clone()]));
        self.new.push(&Shown::of(edit.new));
        self.changes_endings |= edit.changes_endings;
        self.is_coarse |= edit.is_coarse;
    }

    fn finish(self, path: &str) -> FileDiff {
        let (old, new) = (self.old, self.new);
        let has_both = old.lines > 0 && new.lines > 0;
        let mut notes = Vec::new();
        // Only the last line of a file can lack its newline, so these flags also say that the hunk ends the file.
        if has_both && old.no_newline != new.no_newline {
            notes.push(DiffNote::FinalNewline);
        }
        if self.changes_endings {
            notes.push(DiffNote::Eol);
        }
        if self.is_coarse {
            notes.push(DiffNote::Coarse);
        }
        let start = |before: usize, lines: usize| if lines == 0 { before.max(1) } else { before + 1 };
        FileDiff {
            path: path.to_owned(),
            old_start: Some(start(self.lines_before.0, old.lines)),
            old_lines: Some(old.lines),
            new_start: Some(start(self.lines_before.1, new.lines)),
            new_lines: Some(new.lines),
            lines: None,
            old_no_newline: old.no_newline,
            new_no_newline: new.no_newline,
            notes,
            section: self.section,
            old_text: (old.lines > 0).then_some(old.text),
            new_text: new.text,
        }
    }
}

/// Groups edits with their context.
fn hunks(path: &str, old_text: &[u8], mut edits: Vec<Edit<'_>>, bom_changes: bool) -> Vec<FileDiff> {
    if edits.is_empty() && bom_changes {
        // Nothing else changed: an edit of nothing shows the first lines.
        edits.push(Edit::new(0..0, &[], false));
    }
    let mut diffs = Vec::new();
    let mut sections = Sections::new(path, old_text);
    let mut open: Option<Open> = None;
    let mut old_end = 0;
    let mut lines = (0, 0);
    for edit in &edits {
        let gap = &old_text[old_end..edit.old.start];
        let gap_lines = count_lines(gap);
        lines = (lines.0 + gap_lines, lines.1 + gap_lines);
        let mut hunk = match open.take() {
            Some(mut hunk) if gap_lines <= JOIN_LINES => {
                hunk.push_context(gap);
                hunk
            }
            before => {
                diffs.extend(before.map(|hunk| finish(path, hunk, old_text, old_end)));
                let context = &old_text[context_start(old_text, old_end, edit.old.start)..edit.old.start];
                let context_lines = count_lines(context);
                let lines_before = (lines.0 - context_lines, lines.1 - context_lines);
                let section = sections.of(edit.old.clone(), edit.new);
                let mut hunk = Open { lines_before, section, ..Open::default() };
                hunk.push_context(context);
                hunk
            }
        };
        hunk.push_edit(old_text, edit);
        lines = (lines.0 + count_lines(&old_text[edit.old.clone()]), lines.1 + count_lines(edit.new));
        old_end = edit.old.end;
        open = Some(hunk);
    }
    diffs.extend(open.map(|hunk| finish(path, hunk, old_text, old_end)));
    if let Some(first) = diffs.first_mut().filter(|_| bom_changes) {
        first.notes.push(DiffNote::Bom);
    }
    diffs
}

/// Returns where the context of an edit at `start` begins, not before `floor`.
fn context_start(old_text: &[u8], floor: usize, start: usize) -> usize {
    let step =
        |offset: usize, _| if offset > floor { LineSpan::before(old_text, offset).start } else { offset };
    (0..CONTEXT_LINES).fold(start, step)
}

/// Adds the context after the last edit of a hunk, which ends at `old_end`.
fn finish(path: &str, mut hunk: Open, old_text: &[u8], old_end: usize) -> FileDiff {
    hunk.push_context(&old_text[old_end..skip_lines(old_text, old_end, CONTEXT_LINES)]);
    hunk.finish(path)
}

/// Hands over each line of a hunk with its sign.
fn walk<'a>(diff: &'a FileDiff, mut take: impl FnMut(SignedLine<'a>)) {
    let mut numbers = Numbers { old: diff.old_start, new: diff.new_start };
    if let Some(lines) = &diff.lines {
        for (sign, text) in lines.iter().filter_map(|line| recorded(line)) {
            take(numbers.line(sign, text));
        }
        return;
    }
    let old = split(diff.old_text.as_deref().unwrap_or_default(), diff.old_lines);
    let new = split(&diff.new_text, diff.new_lines);
    let mut context_start = 0;
    for (old_range, new_range) in diff_line_lists(&old, &new) {
        let context = &old[context_start..old_range.start];
        context.iter().for_each(|text| take(numbers.line(Sign::Context, text)));
        context_start = old_range.end;
        old[old_range].iter().for_each(|text| take(numbers.line(Sign::Delete, text)));
        new[new_range].iter().for_each(|text| take(numbers.line(Sign::Insert, text)));
    }
    old[context_start..].iter().for_each(|text| take(numbers.line(Sign::Context, text)));
}

/// The numbers of the next line on both sides.
struct Numbers {
    old: Option<usize>,
    new: Option<usize>,
}

impl Numbers {
    fn line<'a>(&mut self, kind: Sign, text: &'a str) -> SignedLine<'a> {
        let mut next = |on_old: bool, on_new: bool| {
            let old = self.old.filter(|_| on_old);
            let new = self.new.filter(|_| on_new);
            self.old = self.old.map(|number| number.saturating_add(usize::from(on_old)));
            self.new = self.new.map(|number| number.saturating_add(usize::from(on_new)));
            (old, new)
        };
        let (old_number, new_number) = match kind {
            Sign::Context => next(true, true),
            Sign::Delete => next(true, false),
            Sign::Insert => next(false, true),
        };
        SignedLine { kind, text, old_number, new_number }
    }
}

/// Reads a recorded line; `None` for git's remark that a newline is missing.
fn recorded(line: &str) -> Option<(Sign, &str)> {
    match line.as_bytes().first() {
        Some(b'+') => Some((Sign::Insert, &line[1..])),
        Some(b'-') => Some((Sign::Delete, &line[1..])),
        Some(b' ') => Some((Sign::Context, &line[1..])),
        Some(b'\\') => None,
        // Loggers and models drop the blank in front of a context line, most of all of an empty one.
        _ => Some((Sign::Context, line)),
    }
}

/// Splits one side's text into lines.
///
/// With a line key the text is lines joined by newlines, and the key tells one empty line from none. Without it the
/// text is raw, and its final newline ends the last line.
fn split(text: &str, lines: Option<usize>) -> Vec<&str> {
    match lines {
        Some(0) => Vec::new(),
        Some(_) => lines_of(text),
        None if text.is_empty() => Vec::new(),
        None => lines_of(text.strip_suffix('\n').unwrap_or(text)),
    }
}

/// Splits at newlines, as `split` does, with a search that is made for it.
fn lines_of(text: &str) -> Vec<&str> {
    let mut lines = Vec::with_capacity(text.len() / 32 + 1);
    let mut start = 0;
    for newline in memchr_iter(b'\n', text.as_bytes()) {
        lines.push(&text[start..newline]);
        start = newline + 1;
    }
    lines.push(&text[start..]);
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::Splice;

    fn document(bytes: &[u8]) -> Document {
        Document::new(bytes.to_vec())
    }

    fn compared(old: &[u8], new: &[u8]) -> Vec<FileDiff> {
        compare("f", Some(&document(old)), Some(&document(new)))
    }

    /// Returns the numbers `range` as lines; those in `changed` have an `x` behind.
    fn numbered(range: std::ops::RangeInclusive<usize>, changed: &[usize]) -> String {
        range
            .map(|number| format!("{number}{}\n", if changed.contains(&number) { "x" } else { "" }))
            .collect()
    }

    /// Returns a hunk's keys as `-start,lines +start,lines`, its flags and its notes.
    fn keys(diff: &FileDiff) -> String {
        let number = |key: Option<usize>| key.map_or("?".into(), |number| number.to_string());
        format!(
            "-{},{} +{},{}{}{}{}",
            number(diff.old_start),
            number(diff.old_lines),
            number(diff.new_start),
            number(diff.new_lines),
            if diff.old_no_newline { " old-cut" } else { "" },
            if diff.new_no_newline { " new-cut" } else { "" },
            diff.notes.iter().map(|note| format!(" {note:?}")).collect::<String>()
        )
    }

    /// Returns a hunk as a unified diff would draw it.
    fn drawn(diff: &FileDiff) -> Vec<String> {
        let sign = |kind| match kind {
            Sign::Context => ' ',
            Sign::Delete => '-',
            Sign::Insert => '+',
        };
        signed_lines(diff).iter().map(|line| format!("{}{}", sign(line.kind), line.text)).collect()
    }

    #[test]
    fn a_hunk_has_three_lines_of_context() {
        let diffs = compared(numbered(1..=9, &[]).as_bytes(), numbered(1..=9, &[5]).as_bytes());
        assert_eq!(diffs.len(), 1);
        assert_eq!(keys(&diffs[0]), "-2,7 +2,7");
        assert_eq!(diffs[0].old_text.as_deref(), Some("2\n3\n4\n5\n6\n7\n8"));
        assert_eq!(diffs[0].new_text, "2\n3\n4\n5x\n6\n7\n8");
        assert_eq!(drawn(&diffs[0]), [" 2", " 3", " 4", "-5", "+5x", " 6", " 7", " 8"]);
        assert_eq!(counts(&diffs[0]), (1, 1));
    }

    #[test]
    fn changes_six_lines_apart_share_a_hunk_and_seven_apart_do_not() {
        let old = numbered(1..=30, &[]);
        let hunks = |changed: &[usize]| -> Vec<String> {
            compared(old.as_bytes(), numbered(1..=30, changed).as_bytes()).iter().map(keys).collect()
        };
        assert_eq!(hunks(&[10, 17]), ["-7,14 +7,14"]);
        assert_eq!(hunks(&[10, 18]), ["-7,7 +7,7", "-15,7 +15,7"]);
        assert_eq!(hunks(&[1, 30]), ["-1,4 +1,4", "-27,4 +27,4"]);
    }

    #[test]
    fn hunks_of_a_log_get_the_sections_of_its_text() {
        let old = "fn a() {\n    one();\n    two();\n    three();\n    four();\n}\n\nfn b() {\n    x();\n    y();\n    z();\n    q();\n}\n";
        let new = old.replace("four", "4").replace("q()", "r()").replace("x()", "w()");
        let wanted = compared(old.as_bytes(), new.as_bytes());
        let sections = |diffs: &[FileDiff]| diffs.iter().map(|diff| diff.section.clone()).collect::<Vec<_>>();
        assert!(sections(&wanted).contains(&Some("fn a() {".to_owned())), "{:?}", sections(&wanted));
        let bare =
            || wanted.iter().map(|diff| FileDiff { section: None, ..diff.clone() }).collect::<Vec<_>>();
        let mut diffs = bare();
        add_sections("f", old, &mut diffs);
        assert_eq!(diffs, wanted);
        // Out of order they are found as well; in another text they are not looked for.
        let mut backwards = bare();
        add_sections("f", old, backwards.iter_mut().rev());
        assert_eq!(backwards, wanted);
        let mut other = bare();
        add_sections("f", &format!("fn c() {{\n{old}"), &mut other);
        assert_eq!(other, bare());
        add_sections("f", "", &mut other);
        assert_eq!(other, bare());
    }

    #[test]
    fn keys_flags_and_notes() {
        let cases: [(&[u8], &[u8], &[&str]); 17] = [
            (b"a\n", b"a\n", &[]),
            (b"", b"", &[]),
            (b"", b"a\nb\n", &["-1,0 +1,2"]),
            (b"a\nb\n", b"", &["-1,2 +1,0"]),
            (b"", b"a", &["-1,0 +1,1 new-cut"]),
            (b"a", b"", &["-1,1 +1,0 old-cut"]),
            (b"a", b"a\n", &["-1,1 +1,1 old-cut FinalNewline"]),
            (b"a\n", b"b", &["-1,1 +1,1 new-cut FinalNewline"]),
            (b"a\nb", b"a\n", &["-1,2 +1,1 old-cut FinalNewline"]),
            (b"a\nb", b"c\nb", &["-1,2 +1,2 old-cut new-cut"]),
            (b"\n", b"\n\n", &["-1,1 +1,2"]),
            (b"a\r\nb\r\n", b"a\r\nb\n", &["-1,2 +1,2 Eol"]),
            (b"a\r\n", b"b\n", &["-1,1 +1,1 Eol"]),
            (b"a\r\n", b"b\r\n", &["-1,1 +1,1"]),
            (b"a\r\n", b"a", &["-1,1 +1,1 new-cut FinalNewline"]),
            (b"\xEF\xBB\xBFa\nb\nc\nd\n", b"a\nb\nc\nd\n", &["-1,3 +1,3 Bom"]),
            (b"a\n", b"\xEF\xBB\xBFb\n", &["-1,1 +1,1 Bom"]),
        ];
        for (old, new, expected) in cases {
            let found: Vec<String> = compared(old, new).iter().map(keys).collect();
            assert_eq!(
                found,
                expected,
                "{:?} {:?}",
                old.escape_ascii().to_string(),
                new.escape_ascii().to_string()
            );
        }
    }

    #[test]
    fn an_absent_side_is_an_empty_one() {
        let file = document(b"a\n");
        let created = compare("f", None, Some(&file));
        assert_eq!((created[0].old_text.as_deref(), created[0].new_text.as_str()), (None, "a"));
        let deleted = compare("f", Some(&file), None);
        assert_eq!((deleted[0].old_text.as_deref(), deleted[0].new_text.as_str()), (Some("a"), ""));
        assert_eq!(compare("f", None, Some(&document(b""))), []);
        assert_eq!(compare("f", Some(&document(b"")), None), []);
    }

    #[test]
    fn what_only_a_note_can_show_is_context() {
        for (old, new) in
            [(&b"x\na"[..], &b"x\na\n"[..]), (b"x\r\na\r\n", b"x\na\n"), (b"x\na\n", b"\xEF\xBB\xBFx\na\n")]
        {
            let diffs = compared(old, new);
            assert_eq!(diffs.len(), 1);
            assert_eq!(diffs[0].old_text.as_deref(), Some(diffs[0].new_text.as_str()));
            assert_eq!(drawn(&diffs[0]), [" x", " a"]);
            assert_eq!(counts(&diffs[0]), (0, 0));
        }
    }

    #[test]
    fn converting_a_file_shows_its_first_line_and_what_else_changed() {
        let old = numbered(1..=40, &[]).replace('\n', "\r\n");
        let new = numbered(1..=40, &[20]);
        let diffs = compared(old.as_bytes(), new.as_bytes());
        let found: Vec<String> = diffs.iter().map(keys).collect();
        assert_eq!(found, ["-1,4 +1,4 Eol", "-17,8 +17,8 Eol"]);
        assert_eq!(drawn(&diffs[1]), [" 17", " 18", " 19", "-20", "+20x", " 21", " 22", " 23", " 24"]);
    }

    #[test]
    fn texts_show_crlf_as_lf_and_keep_a_lone_cr() {
        let diffs = compared(b"a\r\nb\rc\r\n", b"a\r\nb\rd\xFF\r\n");
        assert_eq!(diffs[0].old_text.as_deref(), Some("a\nb\rc"));
        assert_eq!(diffs[0].new_text, "a\nb\rd\u{FFFD}");
    }

    #[test]
    fn line_numbers_follow_the_sides() {
        let diffs = compared(b"a\nb\nc\n", b"a\nB\nx\nc\n");
        let numbers: Vec<_> =
            signed_lines(&diffs[0]).iter().map(|line| (line.old_number, line.new_number)).collect();
        let expected =
            [(Some(1), Some(1)), (Some(2), None), (None, Some(2)), (None, Some(3)), (Some(3), Some(4))];
        assert_eq!(numbers, expected);
    }

    #[test]
    fn raw_texts_have_no_numbers_and_no_extra_line() {
        let raw = |old: Option<&str>, new: &str| FileDiff {
            path: "f".into(),
            old_text: old.map(str::to_owned),
            new_text: new.into(),
            ..FileDiff::default()
        };
        let cases: [(Option<&str>, &str, &[&str]); 7] = [
            (None, "a\nb\n", &["+a", "+b"]),
            (None, "", &[]),
            (None, "\n", &["+"]),
            (Some("a\n"), "a", &[" a"]),
            (Some("a\nb\n"), "a\nc\n", &[" a", "-b", "+c"]),
            (Some("a"), "", &["-a"]),
            (Some("a\n"), "a\n\n", &[" a", "+"]),
        ];
        for (old, new, expected) in cases {
            let diff = raw(old, new);
            assert_eq!(drawn(&diff), expected, "{old:?} {new:?}");
            assert!(signed_lines(&diff).iter().all(|line| line.old_number.or(line.new_number).is_none()));
        }
    }

    #[test]
    fn recorded_signs_are_followed() {
        let lines = [" a", "+b", "-c", "\\ No newline at end of file", "", "-"];
        let diff = FileDiff {
            old_start: Some(7),
            new_start: Some(9),
            lines: Some(lines.map(str::to_owned).to_vec()),
            ..FileDiff::default()
        };
        assert_eq!(drawn(&diff), [" a", "+b", "-c", " ", "-"]);
        assert_eq!(counts(&diff), (1, 2));
        let last = signed_lines(&diff)[4];
        assert_eq!((last.old_number, last.new_number), (Some(10), None));
    }

    #[test]
    fn a_coarse_comparison_says_so() {
        let old = b"a\nb\n".repeat(340_000);
        let new = b"b\nb\na\n".repeat(230_000);
        let diffs = compared(&old, &new);
        assert_eq!(diffs.len(), 1);
        assert_eq!(diffs[0].notes, [DiffNote::Coarse]);
    }

    #[test]
    fn a_splice_inside_a_line_shows_the_line() {
        let old = document(b"one\ntwo\nthree\nfour\n");
        let splice = |range: Range<usize>, new: &[u8]| Splice { range, new: new.to_vec() };
        let cases: [(Vec<Splice>, &[&str]); 6] = [
            (vec![splice(5..6, b"W")], &[" one", "-two", "+tWo", " three", " four"]),
            (vec![splice(7..8, b" ")], &[" one", "-two", "-three", "+two three", " four"]),
            (vec![splice(4..14, b"two\nTHREE\n")], &[" one", " two", "-three", "+THREE", " four"]),
            (vec![splice(0..0, b"zero\n")], &["+zero", " one", " two", " three"]),
            (vec![splice(19..19, b"five\n")], &[" two", " three", " four", "+five"]),
            (vec![splice(4..4, b"<"), splice(7..7, b">")], &[" one", "-two", "+<two>", " three", " four"]),
        ];
        for (list, expected) in cases {
            let diffs = from_splices("f", &old, &Splices::new(list.clone()).unwrap());
            assert_eq!(diffs.len(), 1, "{list:?}");
            assert_eq!(drawn(&diffs[0]), expected, "{list:?}");
        }
        let same = Splices::new(vec![splice(4..8, b"two\n")]).unwrap();
        assert_eq!(from_splices("f", &old, &same), []);
    }

    /// Puts the new side of each hunk over its old lines; checks the old side, the numbers and the flags on the way.
    fn patched(old_bytes: &[u8], new_bytes: &[u8], diffs: &[FileDiff]) -> Vec<String> {
        let is_cut = |bytes: &[u8]| !document(bytes).text().is_empty() && !bytes.ends_with(b"\n");
        let old = shown_lines(old_bytes);
        let mut lines = Vec::new();
        let mut end = 0;
        for diff in diffs {
            let start = diff.old_start.unwrap() - 1;
            let old_side = split(diff.old_text.as_deref().unwrap_or_default(), diff.old_lines);
            assert_eq!(old[start..start + old_side.len()], old_side[..]);
            lines.extend_from_slice(&old[end..start]);
            assert_eq!(diff.new_start, Some(lines.len() + 1));
            lines.extend(split(&diff.new_text, diff.new_lines).into_iter().map(str::to_owned));
            end = start + old_side.len();
            let is_last = end == old.len();
            assert_eq!(diff.old_no_newline, is_last && !old_side.is_empty() && is_cut(old_bytes));
            assert_eq!(diff.new_no_newline, is_last && diff.new_lines != Some(0) && is_cut(new_bytes));
            let newline_changes = diff.old_lines != Some(0)
                && diff.new_lines != Some(0)
                && diff.old_no_newline != diff.new_no_newline;
            assert_eq!(diff.notes.contains(&DiffNote::FinalNewline), newline_changes);
        }
        lines.extend_from_slice(&old[end..]);
        lines
    }

    fn shown_lines(bytes: &[u8]) -> Vec<String> {
        let document = document(bytes);
        document
            .lines()
            .map(|line| String::from_utf8_lossy(line.text(document.bytes())).into_owned())
            .collect()
    }

    /// Checks that signed lines are the two sides, and that counts are theirs.
    fn check_signs(diff: &FileDiff) {
        let lines = signed_lines(diff);
        let side = |other: Sign| -> Vec<&str> {
            lines.iter().filter(|line| line.kind != other).map(|line| line.text).collect()
        };
        assert_eq!(side(Sign::Insert), split(diff.old_text.as_deref().unwrap_or_default(), diff.old_lines));
        assert_eq!(side(Sign::Delete), split(&diff.new_text, diff.new_lines));
        let count = |kind: Sign| lines.iter().filter(|line| line.kind == kind).count();
        assert_eq!(counts(diff), (count(Sign::Insert), count(Sign::Delete)));
        assert!(lines.windows(2).all(|pair| (pair[0].kind, pair[1].kind) != (Sign::Insert, Sign::Delete)));
    }

    fn texts() -> impl Strategy<Value = Vec<u8>> {
        let line =
            prop::sample::select(vec!["a\n", "b\n", "\n", "c\r\n", "a\r\n", "\rd\n", "e\r", "f", "\u{FEFF}"]);
        let some = prop::collection::vec(line, 0..30).prop_map(|lines| lines.concat().into_bytes());
        prop_oneof![3 => some, 1 => prop::collection::vec(any::<u8>(), 0..40)]
    }

    fn spliced() -> impl Strategy<Value = (Vec<u8>, Splices)> {
        texts().prop_flat_map(|old| {
            let length = old.len();
            let parts = prop::collection::vec((0..=length, 0usize..8, texts()), 0..4);
            (Just(old), parts).prop_map(move |(old, mut parts)| {
                parts.sort_by_key(|part| part.0);
                let mut free_from = 0;
                let mut list = Vec::new();
                for (start, removed, mut new) in parts {
                    let start = start.max(free_from);
                    free_from = (start + removed).min(length);
                    new.truncate(removed + 6);
                    list.push(Splice { range: start..free_from, new });
                }
                (old, Splices::new(list).unwrap())
            })
        })
    }

    proptest! {
        #[test]
        fn hunks_lead_from_old_to_new(old in texts(), new in texts()) {
            let diffs = compared(&old, &new);
            prop_assert_eq!(patched(&old, &new, &diffs), shown_lines(&new));
            prop_assert_eq!(diffs.is_empty(), document(&old).text() == document(&new).text()
                && document(&old).has_bom() == document(&new).has_bom());
            diffs.iter().for_each(check_signs);
        }

        #[test]
        fn splices_and_their_result_tell_the_same((old, splices) in spliced()) {
            let new = splices.apply(&old);
            let near = from_splices("f", &document(&old), &splices);
            let whole = compared(&old, &new);
            prop_assert_eq!(patched(&old, &new, &near), shown_lines(&new));
            near.iter().for_each(check_signs);
            let has_bom_note = |diffs: &[FileDiff]| diffs.first().is_some_and(|diff| diff.notes.contains(&DiffNote::Bom));
            prop_assert_eq!(near.is_empty(), whole.is_empty());
            prop_assert_eq!(has_bom_note(&near), has_bom_note(&whole));
        }
    }
}
