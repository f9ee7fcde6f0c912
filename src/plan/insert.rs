//! A placed hunk to replacements of byte ranges; the one place that decides which ending a new line takes.
//!
//! A new line takes the ending of the line it replaces, else of its neighbour, else the file's majority. A file without
//! final newline keeps none, unless the patch names it. A patch that holds the CRs of the file, each where the file has
//! it, names the endings of its new lines too.

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
    let names_endings = names_endings(document, shape, place, &lines);
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
            let new = NewLines { document, place, replaced, start, end, names_old_end, names_endings }
                .bytes(change);
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
    names_endings: bool,
}

/// Tells whether the patch says how its new lines end: it has a CR, and its old lines end as those of the file do.
fn names_endings(document: &Document, shape: &Shape<'_>, place: &Place, lines: &[LineSpan]) -> bool {
    let has_cr = shape.old.iter().any(|line| line.has_cr)
        || shape.changes.iter().any(|change| change.added.iter().any(|line| line.has_cr));
    has_cr
        && shape.old[place.matched.clone()].iter().zip(lines).all(|(old, line)| {
            match line.ending(document.bytes()) {
                [] => true,
                ending => (ending == b"\r\n") == old.has_cr,
            }
        })
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
                new.extend_from_slice(match (self.names_endings, line.has_cr) {
                    (true, true) => b"\r\n",
                    (true, false) => b"\n",
                    (false, _) => self.ending(index),
                });
            }
        }
        new
    }

    /// Tells whether the last new line of the file gets no newline.
    fn stays_open(&self, line: &Line<'_>) -> bool {
        let text = self.document.text();
        let was_open = !text.is_empty() && !self.document.has_final_newline();
        // An empty last line without a newline would be no line at all.
        line.has_no_newline || was_open && !self.names_old_end && !line.text.is_empty()
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
            let line = self.document.line_before(before);
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
            let line = document.line_before(next);
            next = line.start;
            equal(line, added)
        })
    };
    let is_last = change.deleted.start == shape.old.len();
    let is_first = change.deleted.start == 0;
    let at_end = place.start == bytes.len();
    is_last && !shape.old.is_empty() && stands_after()
        || is_first && !shape.old.is_empty() && stands_before()
        || shape.old.is_empty() && (stands_after() || at_end && stands_before())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::hunks::plan;
    use crate::plan::planner::Options;
    use crate::plan::sample::hunks;

    /// The file after the hunks, or the problems' messages.
    fn applied(file: &str, text: &str, options: Options) -> String {
        let document = Document::new(file.as_bytes().to_vec());
        let hunks: Vec<_> = hunks(text).into_iter().map(crate::patch::Hunk::Lines).collect();
        match plan(&document, &hunks, 1, options) {
            Ok(planned) => String::from_utf8(planned.splices.apply(document.bytes())).unwrap(),
            Err(problems) => {
                problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("; ")
            }
        }
    }

    fn check(file: &str, text: &str, expected: &str) {
        assert_eq!(applied(file, text, Options::default()), expected, "{file:?}\n{text}");
    }

    #[test]
    fn a_new_line_takes_the_ending_of_the_line_it_replaces() {
        check("a\r\nb\nc\r\n", "@@\n-a\n+A\n", "A\r\nb\nc\r\n");
        check("a\r\nb\nc\r\n", "@@\n-b\n+B\n", "a\r\nB\nc\r\n");
        check("a\r\nb\nc\n", "@@\n-a\n-b\n+A\n+B\n", "A\r\nB\nc\n");
        // More new lines than old ones: the last old one's.
        check("a\r\nb\nc\n", "@@\n-a\n+A\n+B\n+C\n", "A\r\nB\r\nC\r\nb\nc\n");
    }

    #[test]
    fn a_line_that_is_only_added_takes_that_of_its_neighbour() {
        check("a\r\nb\nc\n", "@@\n a\n+x\n b\n", "a\r\nx\r\nb\nc\n");
        check("a\nb\r\nc\r\n", "@@\n a\n+x\n b\n", "a\nx\nb\r\nc\r\n");
        check("a\r\nb\n", "@@\n+x\n a\n", "x\r\na\r\nb\n");
        check("a\r\nb", "@@\n b\n+x\n", "a\r\nb\r\nx");
        check("a", "@@\n a\n+x\n", "a\nx");
        check("", "@@\n+x\n+y\n", "x\ny\n");
    }

    #[test]
    fn a_missing_final_newline_stays_missing_unless_it_is_named() {
        check("a\nb", "@@\n-b\n+B\n", "a\nB");
        check("a\nb", "@@\n-a\n+A\n", "A\nb");
        check("a\nb", "@@\n a\n+x\n b\n", "a\nx\nb");
        check("a\nb", "@@\n b\n+c\n", "a\nb\nc");
        check("a\nb", "@@\n+c\n*** End of File\n", "a\nb\nc");
        check("a\nb\n", "@@\n-b\n+B\n", "a\nB\n");
        check("a\nb\n", "@@\n+c\n*** End of File\n", "a\nb\nc\n");
        check("a\nb", "@@\n-b\n\\ No newline at end of file\n+B\n", "a\nB\n");
        check("a\nb\n", "@@\n-b\n+B\n\\ No newline at end of file\n", "a\nB");
        check("a\nb", "@@\n-b\n\\ No newline at end of file\n+B\n\\ No newline at end of file\n", "a\nB");
        check("a\r\nb", "@@\n-b\n\\ No newline at end of file\n+B\n", "a\r\nB\r\n");
        // Only the newline comes or goes.
        check("a\nb", "@@\n-b\n\\ No newline at end of file\n+b\n", "a\nb\n");
        check("a\nb\n", "@@\n-b\n+b\n\\ No newline at end of file\n", "a\nb");
    }

    #[test]
    fn a_final_newline_is_added_on_request() {
        let options = Options { adds_final_newline: true, ..Options::default() };
        assert_eq!(applied("a\nb", "@@\n-a\n+A\n", options), "A\nb\n");
        assert_eq!(applied("a\r\nb", "@@\n-b\n+B\n", options), "a\r\nB\r\n");
        assert_eq!(applied("a\nb\n", "@@\n-a\n+A\n", options), "A\nb\n");
        assert_eq!(applied("a\n", "@@\n-a\n", options), "");
    }

    #[test]
    fn a_byte_order_mark_stays_in_front() {
        check("\u{FEFF}a\nb\n", "@@\n+x\n a\n", "\u{FEFF}x\na\nb\n");
        check("\u{FEFF}a\nb\n", "@@\n-a\n+A\n", "\u{FEFF}A\nb\n");
        check("\u{FEFF}a\n", "@@\n-a\n", "\u{FEFF}");
        check("\u{FEFF}a\nlonger\n", "@@\n-a\n-longer\n", "\u{FEFF}");
        check("\u{FEFF}a\nlonger\n", "@@\n-a\n+b\n longer\n", "\u{FEFF}b\nlonger\n");
        check("\u{FEFF}", "@@\n+x\n", "\u{FEFF}x\n");
    }

    #[test]
    fn context_keeps_the_bytes_of_the_file() {
        check("  a \n  b\n  c\t\n", "@@\n a\n-b\n+B\n c\n", "  a \n  B\n  c\t\n");
        check("\u{201C}a\u{201D}\nb\n", "@@\n \"a\"\n-b\n+B\n", "\u{201C}a\u{201D}\nB\n");
        check("\ta\n\tb\n", "@@\n     a\n-    b\n+    B\n+        C\n", "\ta\n\tB\n\t\tC\n");
        check("\ta\n\tb\n", "@@\n a\n-b\n+B\n+\n", "\ta\n\tB\n\n");
    }

    #[test]
    fn several_changes_of_one_hunk_land_each_in_its_place() {
        check("a\nb\nc\nd\n", "@@\n-a\n b\n+x\n c\n-d\n+D\n", "b\nx\nc\nD\n");
        check("a\nb\nc\n", "@@\n-a\n+1\n b\n-c\n", "1\nb\n");
        check("a\nb\n", "@@\n+x\n-a\n+y\n b\n", "x\ny\nb\n");
        check("a\nb\nc\n", "@@\n-a\n-b\n-c\n", "");
    }

    #[test]
    fn lines_that_stand_already_are_not_added_again() {
        let stands = "hunk 1 is already applied: its added lines stand at line 1";
        check("a\nx\n", "@@\n a\n+x\n", stands);
        check("x\na\n", "@@\n+x\n a\n", "hunk 1 is already applied: its added lines stand at line 2");
        check("a\nx\nb\n", "@@\n a\n+x\n b\n", "hunk 1 is already applied: its new lines stand at line 1");
        check("a\nx\n", "@@\n a\n+x\n x\n", "a\nx\nx\n");
        check("q\nx\n", "@@ q\n+x\n", "hunk 1 is already applied: its added lines stand at line 2");
        check(
            "a\nx\n",
            "@@\n+x\n*** End of File\n",
            "hunk 1 is already applied: its added lines stand at line 3",
        );
        check(
            "a\nx",
            "@@\n+x\n*** End of File\n",
            "hunk 1 is already applied: its added lines stand at line 3",
        );
        check("a\nxy\n", "@@\n a\n+x\n", "a\nx\nxy\n");
        check("\u{FEFF}x\na\n", "@@\n+x\n a\n", "hunk 1 is already applied: its added lines stand at line 2");
        let options = Options { skips_applied: true, ..Options::default() };
        assert_eq!(applied("a\nx\n", "@@\n a\n+x\n", options), "a\nx\n");
        assert_eq!(applied("a\nx\nc\n", "@@\n a\n+x\n@@\n-c\n+C\n", options), "a\nx\nC\n");
    }

    #[test]
    fn hunks_that_overlap_are_refused_and_shared_context_is_not() {
        let overlap = "hunks 1 and 2 overlap at line 2: one changes lines that the other needs";
        check("a\nb\nc\n", "@@\n-a\n-b\n@@\n b\n-c\n", overlap);
        check("a\nb\nc\n", "@@\n a\n+x\n b\n@@\n-b\n+B\n c\n", overlap);
        check("a\nb\nc\n", "@@\n-a\n+A\n b\n@@\n b\n-c\n+C\n", "A\nb\nC\n");
        check(
            "a\nb\n",
            "@@\n a\n+x\n b\n@@\n a\n+y\n b\n",
            "hunks 1 and 2 overlap at line 1: one changes lines that the other needs",
        );
    }
}
