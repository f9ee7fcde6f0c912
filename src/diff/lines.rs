//! Which lines of two texts differ.
//!
//! Lines are compared by their bytes, endings included, so that a changed ending is a change.

use std::ops::Range;

/// One run of lines that differs: byte ranges of whole lines; at least one of them is not empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Byte range of the old text.
    pub old: Range<usize>,
    /// Byte range of the new text.
    pub new: Range<usize>,
}

/// What differs between two texts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LineDiff {
    /// The changed ranges, in order, separated by at least one equal line.
    pub changes: Vec<Changed>,
    /// Whether the bound of work was reached, so that a range is right but not minimal.
    pub is_coarse: bool,
}

/// Compares two texts line by line.
pub fn diff_lines(old: &[u8], new: &[u8]) -> LineDiff {
    let _ = (old, new);
    LineDiff::default()
}
