//! The hunks of one file as rows: numbers, signs, emphasised words, gaps. The same for a card and for an outcome.

use std::ops::Range;

use super::escape::Cell;
use super::escape::Place;
use super::escape::cells;
use super::marks::Marks;
use super::marks::marks_of;
use super::row::Prose;
use super::row::Row;
use super::row::push_cut;
use super::row::wrap;
use super::style::Role;
use super::style::Style;
use crate::diff::hunks::Sign;
use crate::diff::hunks::SignedLine;
use crate::diff::hunks::signed_lines;
use crate::report::FileDiff;

/// From this width on there are two columns of line numbers.
const TWO_NUMBERS_WIDTH: usize = 60;
/// Below this width there are none.
const ONE_NUMBER_WIDTH: usize = 30;
/// How many hidden characters are named; the rest is counted.
const LIMIT_HIDDEN_NAMED: usize = 3;

/// Whether changed lines are coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tint {
    /// Deleted and inserted lines have their colours.
    Changed,
    /// Nothing looks done: the change does not fit its file.
    None,
}

/// The frame that all rows of one file share.
struct Frame<'a> {
    style: &'a Style,
    tint: Tint,
    /// Columns of one line number.
    digits: usize,
    numbers: Numbers,
    /// Every line of both sides ends in CR: then it is the ending, not text.
    is_crlf: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    /// Old and new.
    Two,
    /// The old one of a deleted line, else the new one.
    One,
    /// None are known.
    Unknown,
    /// There is no room.
    Narrow,
}

/// Returns the rows of all hunks of one file, and a last one that names what can't be seen in them.
pub(super) fn rows(diffs: &[&FileDiff], tint: Tint, style: &Style) -> Vec<Row> {
    let hunks: Vec<Vec<SignedLine<'_>>> = diffs.iter().map(|diff| signed_lines(diff)).collect();
    let frame = frame(&hunks, tint, style);
    let mut rows = Vec::new();
    let mut hidden = Hidden::default();
    for (at, hunk) in hunks.iter().enumerate() {
        if at > 0 {
            rows.extend(gap_row(&hunks[at - 1], hunk, style));
        }
        let is_whole = !hunk.is_empty()
            && hunk.iter().all(|line| line.kind == hunk[0].kind && line.kind != Sign::Context);
        let limit =
            style.max_lines.filter(|_| is_whole && hunks.len() == 1).unwrap_or(usize::MAX).min(hunk.len());
        hunk_rows(&hunk[..limit], &frame, &mut rows, &mut hidden);
        if limit < hunk.len() {
            let more = hunk.len() - limit;
            let text =
                format!("  {} {more} more line{}", style.glyphs().ellipsis, if more == 1 { "" } else { "s" });
            rows.extend(wrap(&Prose::new().with(text, Role::Dim), 2, style));
        }
    }
    rows.extend(hidden.rows(style));
    rows
}

fn frame<'a>(hunks: &[Vec<SignedLine<'_>>], tint: Tint, style: &'a Style) -> Frame<'a> {
    let lines = || hunks.iter().flatten();
    let highest = lines().flat_map(|line| [line.old_number, line.new_number]).flatten().max();
    let numbers = match highest {
        _ if style.width < ONE_NUMBER_WIDTH => Numbers::Narrow,
        None => Numbers::Unknown,
        Some(_) if style.width < TWO_NUMBERS_WIDTH => Numbers::One,
        Some(_) => Numbers::Two,
    };
    let is_crlf = lines().next().is_some() && lines().all(|line| line.text.ends_with('\r'));
    Frame { style, tint, digits: highest.unwrap_or(0).to_string().len().max(2), numbers, is_crlf }
}

/// How many unchanged lines stand between two hunks, where their numbers tell.
fn gap_row(before: &[SignedLine<'_>], after: &[SignedLine<'_>], style: &Style) -> Vec<Row> {
    let between = |number: fn(&SignedLine<'_>) -> Option<usize>| {
        let last = before.iter().rev().find_map(number)?;
        after.iter().find_map(number)?.checked_sub(last)?.checked_sub(1)
    };
    // What stands between two hunks is the same on both sides; a hunk without context may have numbers on one only.
    let count = between(|line| line.old_number).or_else(|| between(|line| line.new_number));
    let text = match count.filter(|&count| count > 0) {
        Some(1) => format!("  {} 1 unchanged line", style.glyphs().gap),
        Some(count) => format!("  {} {count} unchanged lines", style.glyphs().gap),
        None => format!("  {}", style.glyphs().gap),
    };
    wrap(&Prose::new().with(text, Role::Dim), 2, style)
}

fn hunk_rows(lines: &[SignedLine<'_>], frame: &Frame<'_>, rows: &mut Vec<Row>, hidden: &mut Hidden) {
    for (line, marks) in lines.iter().zip(marks_of(lines)) {
        let text = if frame.is_crlf { &line.text[..line.text.len() - 1] } else { line.text };
        rows.push(line_row(line, text, &marks, frame, hidden));
    }
}

fn line_row(line: &SignedLine<'_>, text: &str, marks: &Marks, frame: &Frame<'_>, hidden: &mut Hidden) -> Row {
    let style = frame.style;
    let (sign, role, word) = match (line.kind, frame.tint) {
        (Sign::Context, _) => (" ", Role::Plain, Role::Plain),
        (Sign::Delete, Tint::Changed) => ("-", Role::Delete, Role::DeleteWord),
        (Sign::Insert, Tint::Changed) => ("+", Role::Insert, Role::InsertWord),
        (Sign::Delete, Tint::None) => ("-", Role::Plain, Role::Plain),
        (Sign::Insert, Tint::None) => ("+", Role::Plain, Role::Plain),
    };
    let mut row = Row::new(style).filled(role);
    let gutter = gutter(line, frame);
    if !row.push_plain(&gutter, Role::Dim) {
        row.push(&gutter, Role::Dim, style);
    }
    row.push_plain(sign, role);
    row.push_plain(" ", role);
    // Nearly every line of source code is printable ASCII and fits: its bytes are its columns.
    if text.len() <= row.room() && text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        let mut start = 0;
        for range in &marks.words {
            row.push_plain(&text[start..range.start], role);
            row.push_plain(&text[range.clone()], word);
            start = range.end;
        }
        row.push_plain(&text[start..], role);
        return row;
    }
    let all = cells(text, Place::Line, style.charset());
    hidden.note(&all, text, line.new_number.or(line.old_number));
    let touches = |cell: &Cell<'_>, range: &Range<usize>| {
        cell.source.start < range.end && range.start < cell.source.end
    };
    let focus = marks.focus.as_ref().map(|range| {
        let first = all.partition_point(|cell| cell.source.end <= range.start);
        let last = all.partition_point(|cell| cell.source.start < range.end);
        first..last.max(first)
    });
    let role_of = |cell: &Cell<'_>| match cell.is_hidden {
        true => Role::Hidden,
        false if marks.words.iter().any(|range| touches(cell, range)) => word,
        false => role,
    };
    push_cut(&mut row, &all, role_of, focus, style);
    row
}

fn gutter(line: &SignedLine<'_>, frame: &Frame<'_>) -> String {
    let (digits, bar) = (frame.digits, frame.style.glyphs().bar);
    let shown = |number: Option<usize>| number.map(|number| number.to_string()).unwrap_or_default();
    match frame.numbers {
        Numbers::Narrow => String::new(),
        Numbers::Unknown => format!("  {bar} "),
        Numbers::One => {
            let number = if line.kind == Sign::Delete { line.old_number } else { line.new_number };
            format!("  {:>digits$} {bar} ", shown(number))
        }
        Numbers::Two => {
            format!("  {:>digits$} {:>digits$} {bar} ", shown(line.old_number), shown(line.new_number))
        }
    }
}

/// The characters of a file's hunks that could not be seen.
#[derive(Default)]
struct Hidden {
    count: usize,
    named: Vec<String>,
}

impl Hidden {
    fn note(&mut self, cells: &[Cell<'_>], text: &str, number: Option<usize>) {
        for cell in cells.iter().filter(|cell| cell.is_hidden) {
            self.count += 1;
            if self.named.len() < LIMIT_HIDDEN_NAMED {
                let code = text[cell.source.clone()].chars().next().map_or(0, u32::from);
                let place = number.map(|number| format!(" in line {number}")).unwrap_or_default();
                self.named.push(format!("U+{code:04X}{place}"));
            }
        }
    }

    fn rows(&self, style: &Style) -> Vec<Row> {
        if self.count == 0 {
            return Vec::new();
        }
        let more = if self.count > self.named.len() { ", ..." } else { "" };
        let plural = if self.count == 1 { "" } else { "s" };
        let text = format!("  ! {} hidden character{plural}: {}{more}", self.count, self.named.join(", "));
        wrap(&Prose::new().with(text, Role::Caution), 4, style)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kind: Sign, text: &str, number: Option<usize>) -> SignedLine<'_> {
        SignedLine { kind, text, old_number: number, new_number: number }
    }

    #[test]
    fn a_gap_is_counted_only_where_numbers_tell() {
        let style = Style::plain(80);
        let text = |last: Option<usize>, first: Option<usize>| {
            let (before, after) = ([line(Sign::Context, "", last)], [line(Sign::Context, "", first)]);
            let mut out = Vec::new();
            gap_row(&before, &after, &style).iter().for_each(|row| row.write(&mut out, &style).unwrap());
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(Some(3), Some(5)), "  \u{22ee} 1 unchanged line\n");
        assert_eq!(text(Some(3), Some(9)), "  \u{22ee} 5 unchanged lines\n");
        for (last, first) in [(None, None), (Some(9), Some(3)), (Some(3), Some(4))] {
            assert_eq!(text(last, first), "  \u{22ee}\n");
        }
    }
}
