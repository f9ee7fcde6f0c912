//! A placed hunk to replacements of byte ranges; the one place that decides which ending a new line takes.
//!
//! A new line takes the ending of the line it replaces, else of its neighbour, else the file's majority. A file without
//! final newline keeps none, unless the patch names it.

use crate::patch::Line;
use crate::text::Document;
use crate::text::Splice;
use crate::text::document::LineSpan;

use super::locate::Place;
use super::shape::Change;
use super::shape::Shape;

/// Returns the replacements that a hunk makes at its place.
///
/// A removed line that comes again as an added one is replaced by equal bytes; the report's comparison sees to that.
pub fn splices(document: &Document, shape: &Shape<'_>, place: &Place) -> Vec<Splice> {
    let bytes = document.bytes();
    let mut lines: Vec<LineSpan> = Vec::with_capacity(place.matched.len());
    let mut next = place.start;
    for _ in place.matched.clone() {
        let line = LineSpan::at(bytes, next);
        next = line.end;
        lines.push(line);
    }
    shape
        .changes
        .iter()
        .map(|change| {
            let first = change.deleted.start - place.matched.start;
            let replaced = &lines[first..first + change.deleted.len()];
            let start = match (replaced.first(), first) {
                (Some(line), _) => line.start,
                (None, 0) => place.start,
                (None, index) => lines[index - 1].end,
            };
            let end = replaced.last().map_or(start, |line| line.end);
            let names_old_end = shape.old[change.deleted.clone()].iter().any(|line| line.has_no_newline)
                || change.deleted.start.checked_sub(1).is_some_and(|before| shape.old[before].has_no_newline);
            let new = NewLines { document, place, replaced, start, end, names_old_end }.bytes(change);
            Splice { range: start..end, new }
        })
        .collect()
}

struct NewLines<'a> {
    document: &'a Document,
    place: &'a Place,
    replaced: &'a [LineSpan],
    start: usize,
    end: usize,
    names_old_end: bool,
}

impl NewLines<'_> {
    fn bytes(&self, change: &Change<'_>) -> Vec<u8> {
        let bytes = self.document.bytes();
        let mut new = Vec::new();
        let is_at_end = self.end == bytes.len();
        // Only what lies behind the file's text can follow a line without a newline.
        let follows_open_line = self.start > self.document.text_start() && bytes[self.start - 1] != b'\n';
        if follows_open_line && !change.added.is_empty() {
            new.extend_from_slice(self.fallback_ending());
        }
        for (index, line) in change.added.iter().enumerate() {
            let text = self.place.indent.line(line.text).unwrap_or_else(|| line.text.to_vec());
            new.extend_from_slice(&text);
            let is_last = index + 1 == change.added.len();
            if !(is_at_end && is_last && self.stays_open(line)) {
                new.extend_from_slice(self.ending(index));
            }
        }
        new
    }

    /// Tells whether the last new line of the file gets no newline.
    fn stays_open(&self, line: &Line<'_>) -> bool {
        let text = self.document.text();
        let was_open = !text.is_empty() && !self.document.has_final_newline();
        line.has_no_newline || was_open && !self.names_old_end
    }

    fn ending(&self, index: usize) -> &[u8] {
        let bytes = self.document.bytes();
        let own = self.replaced.get(index).or(self.replaced.last()).map(|line| line.ending(bytes));
        match own {
            Some(ending) if !ending.is_empty() => ending,
            _ => self.fallback_ending(),
        }
    }

    /// The ending of the nearest line that has one: before, else after; else the file's majority.
    fn fallback_ending(&self) -> &[u8] {
        let bytes = self.document.bytes();
        let mut neighbours = Vec::new();
        let mut before = self.start;
        while before > self.document.text_start() && neighbours.len() < 2 {
            let line = LineSpan::before(bytes, before);
            neighbours.push(line);
            before = line.start;
        }
        if self.end < bytes.len() {
            neighbours.push(LineSpan::at(bytes, self.end));
        }
        let ending = neighbours.iter().map(|line| line.ending(bytes)).find(|ending| !ending.is_empty());
        ending.unwrap_or_else(|| self.document.eol_counts().majority())
    }
}

/// Tells whether lines that are only added stand already where they would go.
///
/// Between two context lines that follow each other in the file they can't; so it is asked of one change at an end of
/// the hunk only.
pub fn already_stands(document: &Document, shape: &Shape<'_>, place: &Place) -> bool {
    let bytes = document.bytes();
    let [change] = shape.changes.as_slice() else { return false };
    if shape.has_deletes() || change.added.is_empty() {
        return false;
    }
    let equal = |line: LineSpan, added: &Line<'_>| {
        place.indent.line(added.text).is_some_and(|text| text == line.text(bytes))
    };
    let stands_after = || {
        let mut next = place.end;
        change.added.iter().all(|added| {
            let line = LineSpan::at(bytes, next);
            let is_there = next < bytes.len() && equal(line, added);
            next = line.end;
            is_there
        })
    };
    let stands_before = || {
        let mut next = place.start;
        change.added.iter().rev().all(|added| {
            if next <= document.text_start() {
                return false;
            }
            let line = LineSpan::before(bytes, next);
            next = line.start.max(document.text_start());
            equal(LineSpan { start: next, ..line }, added)
        })
    };
    let is_last = change.deleted.start == shape.old.len();
    let is_first = change.deleted.start == 0;
    let at_end = place.start == bytes.len();
    is_last && !shape.old.is_empty() && stands_after()
        || is_first && !shape.old.is_empty() && stands_before()
        || shape.old.is_empty() && (stands_after() || at_end && stands_before())
}
