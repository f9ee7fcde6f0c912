//! A hunk of lines as the matcher sees it: its old side, and what happens between which old lines.

use std::ops::Range;

use crate::patch::Line;
use crate::patch::LineHunk;
use crate::patch::LineKind;

/// One line of the old side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OldLine<'a> {
    /// Its text without ending.
    pub text: &'a [u8],
    /// Whether the hunk removes it.
    pub is_deleted: bool,
    /// The file ends with it, without a newline.
    pub has_no_newline: bool,
    /// The patch says that it ends in CRLF.
    pub has_cr: bool,
}

/// A run of removed and added lines between two context lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change<'a> {
    /// The removed lines, as indexes into the old side; empty at the place of an insertion.
    pub deleted: Range<usize>,
    /// The added lines.
    pub added: Vec<Line<'a>>,
}

/// A hunk's old side and changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shape<'a> {
    /// The old side.
    pub old: Vec<OldLine<'a>>,
    /// The changes, in order.
    pub changes: Vec<Change<'a>>,
}

impl<'a> Shape<'a> {
    /// Takes a hunk apart.
    pub fn of(hunk: &'a LineHunk) -> Self {
        let mut shape = Shape::default();
        let mut is_in_change = false;
        for line in hunk.lines() {
            let next_old = shape.old.len();
            if line.kind == LineKind::Context {
                is_in_change = false;
            } else if !is_in_change {
                is_in_change = true;
                shape.changes.push(Change { deleted: next_old..next_old, added: Vec::new() });
            }
            if let (true, Some(change)) = (is_in_change, shape.changes.last_mut()) {
                match line.kind {
                    LineKind::Insert => change.added.push(line),
                    LineKind::Delete | LineKind::Context => change.deleted.end += 1,
                }
            }
            if line.kind != LineKind::Insert {
                shape.old.push(OldLine {
                    text: line.text,
                    is_deleted: line.kind == LineKind::Delete,
                    has_no_newline: line.has_no_newline,
                    has_cr: line.has_cr,
                });
            }
        }
        shape
    }

    /// Returns the old lines that every rung needs: from the context line before the first change to the one after
    /// the last; all of them if nothing changes.
    pub fn core(&self) -> Range<usize> {
        match (self.changes.first(), self.changes.last()) {
            (Some(first), Some(last)) => {
                first.deleted.start.saturating_sub(1)..(last.deleted.end + 1).min(self.old.len())
            }
            _ => 0..self.old.len(),
        }
    }

    /// Tells whether the hunk removes a line.
    pub fn has_deletes(&self) -> bool {
        self.old.iter().any(|line| line.is_deleted)
    }

    /// Tells whether the hunk adds a line.
    pub fn has_inserts(&self) -> bool {
        self.changes.iter().any(|change| !change.added.is_empty())
    }

    /// Counts the context lines.
    pub fn context_lines(&self) -> usize {
        self.old.iter().filter(|line| !line.is_deleted).count()
    }

    /// Tells whether there is context on both sides of all changes.
    pub fn has_context_on_both_sides(&self) -> bool {
        match (self.changes.first(), self.changes.last()) {
            (Some(first), Some(last)) => first.deleted.start > 0 && last.deleted.end < self.old.len(),
            _ => false,
        }
    }

    /// Returns the new side as a shape without changes: what stands in the file once the hunk is applied.
    pub fn postimage(&self) -> Shape<'a> {
        let mut old = Vec::new();
        let mut next = 0;
        let kept = |line: &OldLine<'a>| OldLine { is_deleted: false, ..*line };
        for change in &self.changes {
            old.extend(self.old[next..change.deleted.start].iter().map(kept));
            old.extend(change.added.iter().map(|line| OldLine {
                text: line.text,
                is_deleted: false,
                has_no_newline: line.has_no_newline,
                has_cr: line.has_cr,
            }));
            next = change.deleted.end;
        }
        old.extend(self.old[next..].iter().map(kept));
        Shape { old, changes: Vec::new() }
    }
}
