//! Where a hunk's anchors stand in a file.
//!
//! A whole line that equals the anchor beats a line that only begins with it; either may differ in indentation,
//! trailing blanks and Unicode lookalikes if no stricter kind is there. Stacked anchors are looked for in turn.

use memchr::memmem;

use crate::text::Document;
use crate::text::document::LineSpan;
use crate::text::document::lines_from;

use super::fold;

/// A line that an anchor names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnchorSpan {
    /// Byte offset of the line's start.
    pub start: usize,
    /// Byte offset behind its ending.
    pub end: usize,
}

/// How well a line matches an anchor, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Whole,
    WholeLoose,
    Prefix,
    PrefixLoose,
}

/// Returns the lines that the last of the anchors names, in file order; `None` without anchors.
///
/// # Errors
/// The first anchor that is not there.
pub fn resolve(document: &Document, anchors: &[Vec<u8>]) -> Result<Option<Vec<AnchorSpan>>, Vec<u8>> {
    let mut spans: Option<Vec<AnchorSpan>> = None;
    for anchor in anchors {
        let mut lines = matching_lines(document, anchor);
        if let Some(outer) = spans.as_ref().and_then(|spans| spans.first()) {
            lines.retain(|(_, line)| line.start >= outer.end);
        }
        let best = lines.iter().map(|(kind, _)| *kind).min().ok_or_else(|| anchor.clone())?;
        let mut named: Vec<AnchorSpan> =
            lines.into_iter().filter(|(kind, _)| *kind == best).map(|(_, line)| line).collect();
        if spans.is_some_and(|outer| outer.len() == 1) {
            named.truncate(1);
        }
        spans = Some(named);
    }
    Ok(spans)
}

/// Tells whether a line is, or begins with, the anchor, in the loosest sense.
pub fn is_at_line_start(line: &[u8], anchor: &[u8]) -> bool {
    kind(line, anchor).is_some()
}

fn kind(line: &[u8], anchor: &[u8]) -> Option<Kind> {
    if line == anchor {
        return Some(Kind::Whole);
    }
    let (folded_line, folded_anchor) = (fold::fold(line), fold::fold(anchor));
    let (loose_line, loose_anchor) = (fold::trim(&folded_line), fold::trim(&folded_anchor));
    if loose_line == loose_anchor {
        Some(Kind::WholeLoose)
    } else if line.starts_with(anchor) {
        Some(Kind::Prefix)
    } else {
        loose_line.starts_with(loose_anchor).then_some(Kind::PrefixLoose)
    }
}

fn matching_lines(document: &Document, anchor: &[u8]) -> Vec<(Kind, AnchorSpan)> {
    let bytes = document.bytes();
    let needle = fold::trim(anchor);
    let mut lines = Vec::new();
    let named = |line: LineSpan| {
        kind(line.text(bytes), anchor).map(|kind| (kind, AnchorSpan { start: line.start, end: line.end }))
    };
    for offset in memmem::find_iter(bytes, needle) {
        let start = memchr::memrchr(b'\n', &bytes[..offset]).map_or(0, |newline| newline + 1);
        let start = start.max(document.text_start());
        if bytes[start..offset].iter().all(|&byte| fold::is_blank(byte)) {
            lines.extend(named(LineSpan::at(bytes, start)));
        }
    }
    // Lookalikes escape the substring search; that is asked only where it can matter.
    if lines.is_empty() && !(bytes.is_ascii() && anchor.is_ascii()) {
        lines.extend(lines_from(bytes, document.text_start()).filter_map(named));
    }
    lines
}
