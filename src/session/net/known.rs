//! What a log tells of one file's text, before and now: pieces of both, or all of it.
//!
//! A region is some old lines and what stands in their place now; what lies outside of all regions is unchanged and not
//! known. The next edit is composed with the regions that it touches: what it replaces must be what they say stands
//! there, and what it reaches outside of them is known from then on. An edit whose line numbers the log has is *placed*;
//! one without is *loose*, found by its content alone. Nothing is guessed: an edit that does not fit changes nothing.

use std::ops::Range;

use memchr::memchr_iter;
use memchr::memmem;
use thiserror::Error;

use crate::diff::hunks::compare;
use crate::report::FileDiff;
use crate::text::Document;

/// So many bytes that are no blanks must be equal before two pieces without line numbers are taken to be the same lines.
const EVIDENCE_BYTES: usize = 24;

/// Why an edit does not go on from what is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Break {
    /// What it replaces is not what stands at its lines.
    #[error("what it replaces is not what the log says stood there")]
    Differs,
    /// What it replaces stands nowhere, and all of the file is known.
    #[error("what it replaces stands nowhere in the file as the log tells it")]
    Nowhere,
    /// What it replaces may be any of several places.
    #[error("what it replaces stands at several places, and the log does not say which is meant")]
    Ambiguous,
    /// It changes the last line, and whether that ends in a newline is not told.
    #[error("the log does not say whether the last line that it writes ends in a newline")]
    FinalNewline,
    /// The log has the whole text before, and that is another one.
    #[error("the file was another one than the log's edits made it")]
    Changed,
}

/// One replacement of text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Edit {
    /// What goes.
    pub old: String,
    /// What comes.
    pub new: String,
    /// 1-based number of the first line that goes, in the file as it is then; of an insertion that of the line that it
    /// goes before.
    pub line: Option<usize>,
    /// Both are whole lines with their newlines, of which the last may lack its own at the end of the file.
    pub is_lines: bool,
}

/// What is known of a file's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Regions whose lines are numbered, in order; no two touch.
    placed: Vec<Region>,
    /// Regions without numbers, in the order in which they became known.
    loose: Vec<Region>,
    /// The one region is the whole file, on both sides.
    is_whole: bool,
    /// No edit without a place changed how many lines there are.
    has_numbers: bool,
}

/// A piece of a file before and now, and where it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed<'a> {
    /// The lines before.
    pub old: &'a str,
    /// The lines now.
    pub new: &'a str,
    /// 1-based; of an empty side the number of the line after it.
    pub old_line: usize,
    /// 1-based; of an empty side the number of the line after it.
    pub new_line: usize,
}

/// A piece of the file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Region {
    old: String,
    new: String,
    /// 1-based; of an empty side the number of the line after it. Means nothing in a loose region.
    old_line: usize,
    new_line: usize,
    is_lines: bool,
}

impl Default for Known {
    fn default() -> Self {
        Known { placed: Vec::new(), loose: Vec::new(), is_whole: false, has_numbers: true }
    }
}

impl Known {
    /// A file of which all is known.
    pub fn whole(old: String, new: String) -> Self {
        let region = Region { old, new, old_line: 1, new_line: 1, is_lines: true };
        Known { placed: vec![region], is_whole: true, ..Known::default() }
    }

    /// Returns the whole texts before and now, if they are known.
    pub fn texts(&self) -> Option<(&str, &str)> {
        let region = self.placed.first().filter(|_| self.is_whole)?;
        Some((&region.old, &region.new))
    }

    /// Replaces the whole text; `false` if what stood there is not known.
    pub fn write(&mut self, text: String) -> bool {
        match self.placed.first_mut().filter(|_| self.is_whole) {
            Some(region) => {
                region.new = text;
                true
            }
            None => false,
        }
    }

    /// Takes in the whole text as it is now.
    ///
    /// # Errors
    /// It is not what is known of it.
    pub fn observe(&mut self, text: &str) -> Result<(), Break> {
        if let Some((_, new)) = self.texts() {
            return if new == text { Ok(()) } else { Err(Break::Changed) };
        }
        let mut found: Vec<(Range<usize>, &Region)> = Vec::new();
        for region in &self.placed {
            let start = line_offset(text, region.new_line - 1).ok_or(Break::Changed)?;
            let end = start + region.new.len();
            let is_line = region.new.is_empty() || region.new.ends_with('\n') || end == text.len();
            if text.get(start..end) != Some(region.new.as_str()) || !is_line {
                return Err(Break::Changed);
            }
            found.push((start..end, region));
        }
        for region in &self.loose {
            match Part::new(&region.new).places(text, region.is_lines).as_slice() {
                [start] => found.push((*start..start + region.new.len(), region)),
                [] => return Err(Break::Changed),
                _ => return Err(Break::Ambiguous),
            }
        }
        found.sort_by_key(|(range, _)| (range.start, range.end));
        if found.windows(2).any(|pair| pair[0].0.end > pair[1].0.start) {
            return Err(Break::Ambiguous);
        }
        let (mut old, mut copied) = (String::with_capacity(text.len()), 0);
        for (range, region) in found {
            old.push_str(&text[copied..range.start]);
            old.push_str(&region.old);
            copied = range.end;
        }
        old.push_str(&text[copied..]);
        *self = Known::whole(old, text.to_owned());
        Ok(())
    }

    /// Takes an edit in.
    ///
    /// # Errors
    /// It does not go on from what is known; then nothing has changed.
    pub fn edit(&mut self, edit: &Edit) -> Result<(), Break> {
        match edit.line.filter(|_| edit.is_lines && self.has_numbers) {
            Some(line) if self.is_whole => match self.place(line, &edit.old, &edit.new) {
                // Where all is known, the content tells what the number does not.
                Err(Break::Differs) if !edit.old.is_empty() => self.seek(edit),
                placed => placed,
            },
            Some(line) if self.loose.is_empty() => self.place(line, &edit.old, &edit.new),
            Some(line) => {
                let joined = self.joints(edit)?;
                match joined.iter().any(|joint| joint.is_loose) {
                    true => self.join(edit, joined),
                    false => self.place(line, &edit.old, &edit.new),
                }
            }
            None => self.seek(edit),
        }
    }

    /// Composes lines at a line with what is known there.
    fn place(&mut self, line: usize, old: &str, new: &str) -> Result<(), Break> {
        let old_lines = count_lines(old);
        let end = line.checked_add(old_lines).ok_or(Break::Differs)?;
        let first = self.placed.partition_point(|region| region.end() < line);
        let last = self.placed.partition_point(|region| region.new_line <= end).max(first);
        // Lines before this: so many more stand there now than before.
        let before: i64 = self.placed[..first].iter().map(Region::growth).sum();
        let unmoved = || {
            let moved = i64::try_from(line).ok()?.checked_sub(before)?;
            usize::try_from(moved).ok().filter(|line| *line > 0).ok_or(Break::Differs).ok()
        };
        let touched = &self.placed[first..last];
        if self.is_whole && touched.is_empty() || line == 0 {
            return Err(Break::Differs);
        }
        let mut merged = Region { new_line: line, is_lines: true, ..Region::default() };
        merged.old_line = match touched.first() {
            Some(region) if region.new_line <= line => region.old_line,
            _ => unmoved().ok_or(Break::Differs)?,
        };
        let (mut at, mut rest, mut tail, mut is_open) = (line, old, "", false);
        if let Some(region) = touched.first().filter(|region| region.new_line < line) {
            let start = line_offset(&region.new, line - region.new_line).ok_or(Break::Differs)?;
            merged.new.push_str(&region.new[..start]);
            merged.new_line = region.new_line;
        }
        for region in touched {
            let gap = region.new_line.saturating_sub(at);
            let (unknown, known) = split_lines(rest, gap).ok_or(Break::Differs)?;
            merged.old.push_str(unknown);
            merged.old.push_str(&region.old);
            at += gap;
            let inside = line_offset(&region.new, at - region.new_line).ok_or(Break::Differs)?;
            let inside = &region.new[inside..];
            let shared = count_lines(inside).min(end - at);
            let (stated, after) = split_lines(known, shared).ok_or(Break::Differs)?;
            let (stands, beyond) = split_lines(inside, shared).ok_or(Break::Differs)?;
            if stated != stands {
                // Some logs do not say that the last line ends the file without a newline.
                let is_last = after.is_empty() && beyond.is_empty();
                if !is_last || stated.strip_suffix('\n') != Some(stands) {
                    return Err(Break::Differs);
                }
                is_open = true;
            }
            (at, rest, tail) = (at + shared, after, beyond);
        }
        let new = if is_open { open_end(old, new)? } else { new };
        merged.old.push_str(rest);
        merged.new.push_str(new);
        merged.new.push_str(tail);
        let is_cut = |head: &str, tail: &str| !tail.is_empty() && !head.is_empty() && !head.ends_with('\n');
        if is_cut(new, tail) || is_cut(&merged.new[..merged.new.len() - new.len() - tail.len()], new) {
            return Err(Break::Differs);
        }
        let growth = lines_i64(new) - lines_i64(old);
        for region in &mut self.placed[last..] {
            region.new_line = region.new_line.saturating_add_signed(isize::try_from(growth).unwrap_or(0));
        }
        self.placed.splice(first..last, [merged]);
        Ok(())
    }

    /// Finds an edit without a number by what it replaces.
    fn seek(&mut self, edit: &Edit) -> Result<(), Break> {
        if edit.old.is_empty() {
            // Lines that go where nothing is told to stand.
            if self.is_whole {
                return Err(Break::Ambiguous);
            }
            self.set_loose(edit);
            return Ok(());
        }
        let found = self.all_places(edit);
        match found.as_slice() {
            [] if edit.is_lines && self.ends_open(&edit.old) => {
                let open = |text: &str| text.strip_suffix('\n').unwrap_or(text).to_owned();
                let new = open_end(&edit.old, &edit.new)?.to_owned();
                self.seek(&Edit { old: open(&edit.old), new, ..edit.clone() })
            }
            [] if self.is_whole => Err(Break::Nowhere),
            [] => {
                let joints = self.joints(edit)?;
                self.join(edit, joints)
            }
            // Short lines may stand elsewhere too, where nothing is known. A part of lines that a tool replaces stands once.
            [_] if edit.is_lines && !self.is_whole && !has_evidence(&edit.old) => Err(Break::Ambiguous),
            [(index, start)] => {
                self.replace(*index, *start..start + edit.old.len(), &edit.new);
                Ok(())
            }
            _ => Err(Break::Ambiguous),
        }
    }

    /// Tells whether lines stand at the end of the file, but for the newline that the file does not end with. Some logs do
    /// not say that it has none.
    fn ends_open(&self, lines: &str) -> bool {
        let open = lines.strip_suffix('\n').filter(|open| !open.is_empty() && !open.ends_with('\n'));
        let Some(open) = open else { return false };
        self.placed.iter().chain(&self.loose).any(|region| {
            let above = region.new.strip_suffix(open);
            region.is_lines && above.is_some_and(|above| above.is_empty() || above.ends_with('\n'))
        })
    }

    /// Returns the regions and offsets where all that an edit replaces stands.
    fn all_places(&self, edit: &Edit) -> Vec<(usize, usize)> {
        let part = Part::new(&edit.old);
        let regions = self.placed.iter().chain(&self.loose).enumerate();
        regions
            .flat_map(|(index, region)| {
                let is_lines = edit.is_lines && region.is_lines;
                part.places(&region.new, is_lines).into_iter().map(move |start| (index, start))
            })
            .collect()
    }

    /// Replaces a part of what is known of a region now.
    fn replace(&mut self, index: usize, range: Range<usize>, new: &str) {
        let is_placed = index < self.placed.len();
        let region = match self.placed.get_mut(index) {
            Some(region) => region,
            None => &mut self.loose[index - self.placed.len()],
        };
        let before = lines_i64(&region.new);
        region.new.replace_range(range, new);
        let growth = lines_i64(&region.new) - before;
        if is_placed {
            for region in &mut self.placed[index + 1..] {
                region.new_line = region.new_line.saturating_add_signed(isize::try_from(growth).unwrap_or(0));
            }
        } else if growth != 0 {
            self.lose_numbers();
        }
    }

    /// Keeps an edit that shares nothing with what is known.
    fn set_loose(&mut self, edit: &Edit) {
        let (old, new, is_lines) = (edit.old.clone(), edit.new.clone(), edit.is_lines);
        let keeps_count = newlines(&old) == newlines(&new);
        self.loose.push(Region { old, new, is_lines, ..Region::default() });
        if !keeps_count {
            self.lose_numbers();
        }
    }

    /// From here on nothing tells which line of the file now was which line before.
    fn lose_numbers(&mut self) {
        if std::mem::take(&mut self.has_numbers) {
            let loose = std::mem::take(&mut self.loose);
            self.loose = std::mem::take(&mut self.placed);
            self.loose.extend(loose);
        }
    }

    /// Returns which regions share lines with what an edit replaces, beyond what chance would bring about.
    fn joints(&self, edit: &Edit) -> Result<Vec<Joint>, Break> {
        let mut joints: Vec<Joint> = Vec::new();
        let regions = self.placed.iter().chain(&self.loose).enumerate();
        for (index, region) in regions {
            let is_loose = index >= self.placed.len();
            let is_lines = edit.is_lines && region.is_lines;
            let mut ranges: Vec<(Range<usize>, Range<usize>)> = Vec::new();
            // Most regions are longer than the edit, or have nothing to do with it: no search is prepared for those.
            if region.new.len() <= edit.old.len() && has_evidence(&region.new) {
                let inside = Part::new(&region.new).places(&edit.old, is_lines);
                ranges.extend(inside.into_iter().map(|at| (at..at + region.new.len(), 0..region.new.len())));
            }
            if is_lines {
                ranges.extend(borders(&region.new, &edit.old).map(|(tail, head)| (head, tail)));
                ranges.extend(borders(&edit.old, &region.new));
            }
            match ranges.as_slice() {
                [] => {}
                [(edited, known)] => {
                    joints.push(Joint { index, is_loose, edited: edited.clone(), known: known.clone() })
                }
                _ => return Err(Break::Ambiguous),
            }
        }
        joints.sort_by_key(|joint| (joint.edited.start, joint.edited.end));
        if joints.windows(2).any(|pair| pair[0].edited.end > pair[1].edited.start) {
            return Err(Break::Ambiguous);
        }
        Ok(joints)
    }

    /// Composes an edit with regions that it shares lines with.
    fn join(&mut self, edit: &Edit, joints: Vec<Joint>) -> Result<(), Break> {
        let Some(first) = joints.first() else {
            self.set_loose(edit);
            return Ok(());
        };
        if joints.iter().all(|joint| !joint.is_loose) && edit.is_lines {
            // The number of one region's line is that of the edit's too.
            let region = &self.placed[first.index];
            let known = region.new_line.saturating_add(count_lines(&region.new[..first.known.start]));
            let above = count_lines(&edit.old[..first.edited.start]);
            let line = known.checked_sub(above).ok_or(Break::Differs)?;
            return self.place(line, &edit.old, &edit.new);
        }
        let placed = self.placed.len();
        let was_numbered = self.has_numbers;
        self.lose_numbers();
        // Placed regions come first among the loose ones now, so the indexes mean the same regions.
        debug_assert!(was_numbered || placed == 0);
        let mut merged = Region { is_lines: edit.is_lines, ..Region::default() };
        let mut copied = 0;
        let (mut head, mut tail) = ("", "");
        for joint in &joints {
            let region = &self.loose[joint.index];
            merged.old.push_str(&edit.old[copied..joint.edited.start]);
            merged.old.push_str(&region.old);
            copied = joint.edited.end;
            if joint.edited.start == 0 {
                head = &region.new[..joint.known.start];
            }
            if joint.edited.end == edit.old.len() {
                tail = &region.new[joint.known.end..];
            }
        }
        merged.old.push_str(&edit.old[copied..]);
        merged.new = format!("{head}{}{tail}", edit.new);
        let gone: Vec<usize> = joints.iter().map(|joint| joint.index).collect();
        let mut index = 0;
        self.loose.retain(|_| {
            index += 1;
            !gone.contains(&(index - 1))
        });
        let at = gone.iter().min().copied().unwrap_or(0).min(self.loose.len());
        self.loose.insert(at, merged);
        Ok(())
    }

    /// Returns the hunks that lead from the text before to the text now.
    pub fn diffs(&self, path: &str) -> Vec<FileDiff> {
        let mut diffs: Vec<FileDiff> = self.placed.iter().flat_map(|region| region.diffs(path)).collect();
        for region in &self.loose {
            if !region.is_lines {
                diffs.extend(region.raw(path));
                continue;
            }
            let unnumbered = |diff: FileDiff| FileDiff { old_start: None, new_start: None, ..diff };
            diffs.extend(region.diffs(path).into_iter().map(unnumbered));
        }
        diffs
    }

    /// Returns all texts that are known, of both sides.
    pub fn pieces(&self) -> impl Iterator<Item = (&str, &str)> {
        self.placed.iter().chain(&self.loose).map(|region| (region.old.as_str(), region.new.as_str()))
    }

    /// Returns the pieces that differ, with the 1-based lines of both sides at which they begin; nothing if there are
    /// some whose lines are not known.
    pub fn placed(&self) -> Option<Vec<Placed<'_>>> {
        if self.loose.iter().any(Region::differs) {
            return None;
        }
        let differing = self.placed.iter().filter(|region| region.differs());
        Some(differing.map(Region::as_placed).collect())
    }
}

/// A region that shares lines with an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Joint {
    /// Among the placed regions, then the loose ones.
    index: usize,
    is_loose: bool,
    /// Which part of what the edit replaces.
    edited: Range<usize>,
    /// Which part of what the region says stands there.
    known: Range<usize>,
}

impl Region {
    /// The line after the region, now.
    fn end(&self) -> usize {
        self.new_line.saturating_add(count_lines(&self.new))
    }

    fn differs(&self) -> bool {
        self.old != self.new
    }

    fn as_placed(&self) -> Placed<'_> {
        Placed { old: &self.old, new: &self.new, old_line: self.old_line, new_line: self.new_line }
    }

    /// How many more lines it has now.
    fn growth(&self) -> i64 {
        lines_i64(&self.new) - lines_i64(&self.old)
    }

    fn diffs(&self, path: &str) -> Vec<FileDiff> {
        if self.old == self.new {
            return Vec::new();
        }
        let document = |text: &str| Document::new(text.as_bytes().to_vec());
        let mut diffs = compare(path, Some(&document(&self.old)), Some(&document(&self.new)));
        for diff in &mut diffs {
            // An empty side has the number of the line before it, and at the top that of the first.
            let shift = |start: &mut Option<usize>, lines: Option<usize>, first: usize| {
                *start = start.map(|start| match lines {
                    Some(0) => first.saturating_sub(1).max(1),
                    _ => start.saturating_add(first.saturating_sub(1)),
                });
            };
            shift(&mut diff.old_start, diff.old_lines, self.old_line);
            shift(&mut diff.new_start, diff.new_lines, self.new_line);
        }
        diffs
    }

    /// A part of lines, as the call had it.
    fn raw(&self, path: &str) -> Option<FileDiff> {
        (self.old != self.new).then(|| FileDiff {
            path: path.to_owned(),
            old_text: (!self.old.is_empty()).then(|| self.old.clone()),
            new_text: self.new.clone(),
            ..FileDiff::default()
        })
    }
}

/// Returns what an edit writes, where the last line that it replaces ends the file without a newline.
fn open_end<'a>(old: &str, new: &'a str) -> Result<&'a str, Break> {
    let last = |text: &str| text.rsplit_terminator('\n').next().map(str::to_owned);
    match new.strip_suffix('\n') {
        None => Ok(new),
        Some(open) if last(old) == last(new) => Ok(open),
        Some(_) => Err(Break::FinalNewline),
    }
}

/// A text that is looked for in others. Preparing the search costs its length: once for all of them.
struct Part<'a> {
    text: &'a str,
    finder: memmem::Finder<'a>,
}

impl<'a> Part<'a> {
    fn new(text: &'a str) -> Self {
        Part { text, finder: memmem::Finder::new(text) }
    }

    /// Returns where it stands in a text, overlapping places counted; of lines only where lines begin and end.
    fn places(&self, text: &str, is_lines: bool) -> Vec<usize> {
        let part = self.text;
        if part.is_empty() {
            return Vec::new();
        }
        let (mut found, mut from) = (Vec::new(), 0);
        while let Some(at) = text.get(from..).and_then(|rest| self.finder.find(rest.as_bytes())) {
            let start = from + at;
            let end = start + part.len();
            let begins = start == 0 || text.as_bytes()[start - 1] == b'\n';
            let ends = part.ends_with('\n') || end == text.len();
            if !is_lines || begins && ends {
                found.push(start);
                // Two are enough to know that there are several.
                if found.len() > 1 {
                    break;
                }
            }
            from = start + text[start..].chars().next().map_or(1, char::len_utf8);
        }
        found
    }
}

/// Returns the ways in which the last lines of one text are the first ones of another, as ranges of both, where that is
/// no chance; the whole of either is not among them.
fn borders<'a>(above: &'a str, below: &'a str) -> impl Iterator<Item = (Range<usize>, Range<usize>)> + 'a {
    let ends_lines = above.ends_with('\n');
    let heads = memchr_iter(b'\n', below.as_bytes()).map(|newline| newline + 1);
    heads.filter(move |&head| ends_lines && head < below.len() && head < above.len()).filter_map(
        move |head| {
            let start = above.len() - head;
            let is_line = above.as_bytes()[start - 1] == b'\n';
            let is_shared = is_line && above.as_bytes()[start..] == below.as_bytes()[..head];
            (is_shared && has_evidence(&below[..head])).then_some((start..above.len(), 0..head))
        },
    )
}

fn has_evidence(text: &str) -> bool {
    text.bytes().filter(|byte| !byte.is_ascii_whitespace()).nth(EVIDENCE_BYTES - 1).is_some()
}

/// Returns where the line begins that has so many lines before it; the end of the text counts as a line's beginning.
fn line_offset(text: &str, lines: usize) -> Option<usize> {
    match lines {
        0 => Some(0),
        _ => memchr_iter(b'\n', text.as_bytes())
            .nth(lines - 1)
            .map(|newline| newline + 1)
            .or_else(|| (count_lines(text) == lines).then_some(text.len())),
    }
}

fn split_lines(text: &str, lines: usize) -> Option<(&str, &str)> {
    line_offset(text, lines).map(|offset| text.split_at(offset))
}

fn newlines(text: &str) -> usize {
    memchr_iter(b'\n', text.as_bytes()).count()
}

/// Counts lines, of which the last may lack its newline.
fn count_lines(text: &str) -> usize {
    newlines(text) + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

fn lines_i64(text: &str) -> i64 {
    i64::try_from(count_lines(text)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edit(line: Option<usize>, old: &str, new: &str) -> Edit {
        Edit { old: old.to_owned(), new: new.to_owned(), line, is_lines: true }
    }

    fn part(old: &str, new: &str) -> Edit {
        Edit { is_lines: false, ..edit(None, old, new) }
    }

    /// Returns all that is known, a line a piece: `old line>new line:old|new`, unnumbered without lines.
    fn known(edits: &[Edit]) -> Result<Vec<String>, Break> {
        let mut known = Known::default();
        for edit in edits {
            let before = known.clone();
            known.edit(edit).inspect_err(|_| assert_eq!(known, before, "a refused edit changes nothing"))?;
        }
        let placed = known.placed.iter().map(|region| {
            let Region { old, new, old_line, new_line, .. } = region;
            format!("{old_line}>{new_line}:{old}|{new}")
        });
        let loose = known.loose.iter().map(|region| format!("{}|{}", region.old, region.new));
        Ok(placed.chain(loose).map(|piece| piece.replace('\n', ".")).collect())
    }

    fn check(edits: &[Edit], wanted: &[&str]) {
        let wanted: Vec<String> = wanted.iter().map(|&piece| piece.to_owned()).collect();
        assert_eq!(known(edits), Ok(wanted));
    }

    #[test]
    fn edits_that_touch_become_one_and_others_stay_apart() {
        let at = |line, old, new| edit(Some(line), old, new);
        check(&[at(3, "c\n", "C\nC2\n"), at(9, "h\n", "")], &["3>3:c.|C.C2.", "8>9:h.|"]);
        check(&[at(3, "c\n", "C\n"), at(2, "b\nC\nd\n", "b\nx\n")], &["2>2:b.c.d.|b.x."]);
        check(&[at(3, "c\n", "C\nC2\n"), at(5, "d\n", "D\n")], &["3>3:c.d.|C.C2.D."]);
        check(&[at(3, "c\n", "C\n"), at(3, "C\n", "c\n")], &["3>3:c.|c."]);
        // Three at once, the middle of it unknown before.
        let edits = [at(2, "b\n", "B\n"), at(6, "f\n", ""), at(1, "a\nB\nc\nd\ne\n", "x\n")];
        check(&edits, &["1>1:a.b.c.d.e.f.|x."]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let at = |line, old, new| edit(Some(line), old, new);
        assert_eq!(known(&[at(3, "c\n", "C\n"), at(3, "c\n", "x\n")]), Err(Break::Differs));
        assert_eq!(
            known(&[at(3, "c\n", "C\nD\n"), at(2, "b\n", ""), at(3, "x\nC\n", "")]),
            Err(Break::Differs)
        );
        let mut whole = Known::whole("a\na\nb\n".to_owned(), "a\na\nb\n".to_owned());
        assert_eq!(whole.edit(&edit(None, "x\n", "y\n")), Err(Break::Nowhere));
        assert_eq!(whole.edit(&edit(None, "a\n", "y\n")), Err(Break::Ambiguous));
        assert_eq!(whole.edit(&part("a\nb", "c")), Ok(()));
        assert_eq!(whole.texts(), Some(("a\na\nb\n", "a\nc\n")));
        // A wrong number does no harm where all is known and the text stands once.
        assert_eq!(whole.edit(&edit(Some(1), "c\n", "d\n")), Ok(()));
        assert_eq!(whole.texts(), Some(("a\na\nb\n", "a\nd\n")));
        assert!(!Known::default().write("x".to_owned()));
    }

    #[test]
    fn edits_without_numbers_join_where_that_is_no_chance() {
        let lines = |old: &str, new: &str| edit(None, old, new);
        // Inside what came before; parts of lines too.
        let (first, second) = ("the line as it was before\n", "the line as it was in between all others\n");
        check(
            &[lines(first, &format!("a\n{second}b\n")), lines(second, "x\n")],
            &["the line as it was before.|a.x.b."],
        );
        check(&[part("red", "blue sky"), part("blue", "grey")], &["red|grey sky"]);
        // A bracket at the border may be another one.
        check(&[lines("a\n}\n", "b\n}\n"), lines("}\nc\n", "}\nd\n")], &["a.}.|b.}.", "}.c.|}.d."]);
        // So many equal bytes are not.
        let long = "a line that is long enough to tell\n";
        let (above, below) = (format!("x\n{long}"), format!("{long}y\n"));
        check(
            &[lines(&above, &above.replace('x', "X")), lines(&below, &below.replace('y', "Y\nZ"))],
            &[&format!("x\n{long}y\n|X\n{long}Y\nZ\n").replace('\n', ".")],
        );
        check(
            &[lines(long, &format!("1{long}")), lines(&format!("x\n1{long}y\n"), "z\n")],
            &[&format!("x\n{long}y\n|z\n").replace('\n', ".")],
        );
        assert_eq!(
            known(&[lines("a\n", "b\n"), lines("b\n", "c\n")]),
            Err(Break::Ambiguous),
            "b may stand elsewhere"
        );
        assert_eq!(known(&[part("a", "bb"), part("b", "c")]), Err(Break::Ambiguous));
        // With a change of unknown place, no line number says where it was before.
        check(
            &[edit(Some(3), "c\n", "C\n"), lines("x\n", "x\ny\n"), edit(Some(9), "i\n", "j\n")],
            &["c.|C.", "x.|x.y.", "i.|j."],
        );
    }

    #[test]
    fn a_whole_text_fills_what_was_not_known() {
        let mut some = Known::default();
        some.edit(&edit(Some(2), "b\n", "B\nB2\n")).expect("it is the first");
        assert_eq!(some.observe("a\nx\nB2\n"), Err(Break::Changed));
        some.observe("a\nB\nB2\nc").expect("it fits");
        assert_eq!(some.texts(), Some(("a\nb\nc", "a\nB\nB2\nc")));
        // Some logs do not say that a file ends without a newline.
        some.edit(&edit(Some(3), "B2\nc\n", "c\n")).expect("it fits");
        some.edit(&edit(None, "B\nc\n", "x\nc\n")).expect("it fits");
        assert_eq!(some.texts(), Some(("a\nb\nc", "a\nx\nc")));
        assert_eq!(some.edit(&edit(Some(3), "c\n", "d\n")), Err(Break::FinalNewline));
    }

    /// Lines of which short ones are often equal, and long ones never.
    fn lines(count: Range<usize>) -> impl Strategy<Value = Vec<&'static str>> {
        prop::collection::vec(prop::sample::select(vec!["a\n", "b\n", "\n", "long"]), count)
    }

    /// Makes each long line another one.
    fn numbered(lines: &[&str], count: &mut usize) -> Vec<String> {
        let mut line = |&line: &&str| match line {
            "long" => {
                *count += 1;
                format!("a line that stands nowhere else: {count}\n")
            }
            short => short.to_owned(),
        };
        lines.iter().map(&mut line).collect()
    }

    proptest! {
        #[test]
        fn composed_edits_lead_from_the_first_text_to_the_last(
            before in lines(0..30),
            edits in prop::collection::vec(
                (any::<prop::sample::Index>(), 0..6_usize, lines(0..5), any::<bool>(), 0..4_usize), 1..12),
        ) {
            let mut count = 0;
            let before = numbered(&before, &mut count);
            let (mut now, mut known) = (before.clone(), Known::default());
            for (at, length, new, is_numbered, context) in edits {
                let new = numbered(&new, &mut count);
                let start = at.index(now.len() + 1);
                let end = now.len().min(start + length);
                let from = start.saturating_sub(context);
                let to = now.len().min(end + context);
                let old = now[from..to].concat();
                // A tool that is told no line demands that the text stands once.
                let is_numbered = is_numbered || Part::new(&old).places(&now.concat(), true).len() != 1;
                let edit = Edit {
                    old,
                    new: [&now[from..start], &new, &now[end..to]].concat().concat(),
                    line: is_numbered.then_some(from + 1),
                    is_lines: true,
                };
                // Where nothing is without a number, one leaves no doubt.
                let is_clear = is_numbered && known.loose.is_empty() && known.has_numbers;
                let fits = known.edit(&edit);
                if is_clear {
                    prop_assert_eq!(fits, Ok(()));
                }
                if fits.is_err() {
                    return Ok(());
                }
                now.splice(start..end, new);
            }
            let Some(placed) = known.placed() else { return Ok(()) };
            let mut made = before;
            for piece in placed.iter().rev() {
                let range = piece.old_line - 1..piece.old_line - 1 + count_lines(piece.old);
                prop_assert_eq!(made[range.clone()].concat(), piece.old);
                made.splice(range, piece.new.split_inclusive('\n').map(str::to_owned));
            }
            prop_assert_eq!(made, now);
        }
    }
}
