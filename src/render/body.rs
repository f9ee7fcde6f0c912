//! The hunks of one file as rows: numbers, signs, emphasised words, gaps. The same for a card and for an outcome.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::PoisonError;

use super::escape::Cell;
use super::escape::Place;
use super::escape::border_before;
use super::escape::cells;
use super::lines::FileLines;
use super::lines::Gap;
use super::lines::Hidden;
use super::lines::HunkLines;
use super::lines::LineView;
use super::links::Linker;
use super::moved::moved_words;
use super::row::Prose;
use super::row::Row;
use super::row::Rows;
use super::row::push_cut;
use super::row::push_wrapped;
use super::row::wrap;
use super::side_by_side;
use super::style::Role;
use super::style::Style;
use crate::diff::hunks::Sign;

/// From this width on there are two columns of line numbers.
const TWO_NUMBERS_WIDTH: usize = 60;
/// Below this width there are none.
const ONE_NUMBER_WIDTH: usize = 30;

/// Of a long line at least so much before and after the change is laid out.
const LEAST_PART_BYTES: usize = 4096;
/// A character that is seen as one may have many bytes.
const BYTES_A_COLUMN: usize = 64;
/// The columns of what is not laid out.
const LEFT_OUT_COLUMNS: usize = 1 << 24;

/// Whether changed lines are coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tint {
    /// Deleted and inserted lines have their colours.
    Changed,
    /// Nothing looks done: the change does not fit its file.
    None,
}

/// The frame that all rows of one file share.
pub(super) struct Frame<'a> {
    pub(super) style: &'a Style,
    pub(super) tint: Tint,
    /// Columns of one line number.
    pub(super) digits: usize,
    pub(super) numbers: Numbers,
    /// What the numbers of lines lead to: a file.
    pub(super) link: Option<(Linker<'a>, &'a str)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// Old and new.
    Two,
    /// The old one of a deleted line, else the new one.
    One,
    /// The old one, as on the left of two sides.
    Old,
    /// The new one, as on the right of two sides.
    New,
    /// None are known.
    Unknown,
    /// There is no room.
    Narrow,
}

/// Which file of a card it is.
#[derive(Clone, Copy)]
pub(super) struct Which<'a> {
    /// The paths of all files of the card, for blocks that were moved between them; none if there are no such.
    pub(super) paths: &'a [&'a str],
    /// Where this one is among them.
    pub(super) own: usize,
    pub(super) linker: Linker<'a>,
}

/// Draws the rows of all hunks of one file, and last ones for what can't be seen in them.
pub(super) fn rows(
    file: &FileLines<'_>,
    Which { paths, own, linker }: Which<'_>,
    tint: Tint,
    style: &Style,
    rows: &mut dyn Rows,
) {
    let link = paths.get(own).filter(|_| tint == Tint::Changed && linker.tells_lines());
    let frame = Frame { link: link.map(|path| (linker, *path)), ..frame(file, tint, style) };
    let runs = style.crew.cut(&file.hunks, HunkLines::length_bytes);
    let hidden: Vec<Mutex<Hidden>> = runs.iter().map(|_| Mutex::default()).collect();
    let draw = |part: usize, rows: &mut dyn Rows| {
        let mut found = Hidden::default();
        for hunk in &file.hunks[runs[part].clone()] {
            hunk_rows(hunk, file.is_whole(), (&frame, (paths, own)), &mut found, rows);
        }
        *hidden[part].lock().unwrap_or_else(PoisonError::into_inner) = found;
    };
    rows.parts(runs.len(), &draw);
    let mut all_hidden = Hidden::default();
    for found in hidden {
        all_hidden.append(found.into_inner().unwrap_or_else(PoisonError::into_inner));
    }
    let blanks = if tint == Tint::Changed { file.blank_remark() } else { None };
    for remark in blanks.iter().chain(&file.no_syntax) {
        rows.append(dim(remark, style));
    }
    if let Some(words) = all_hidden.words() {
        let prose = Prose::new().with("  ! ", Role::Caution).with(words, Role::Caution);
        rows.append(wrap(&prose, 4, style));
    }
}

/// Draws one hunk; of a file that came or went as a whole only its first lines.
fn hunk_rows(
    hunk: &HunkLines<'_>,
    is_whole: bool,
    (frame, files): (&Frame<'_>, (&[&str], usize)),
    hidden: &mut Hidden,
    rows: &mut dyn Rows,
) {
    let style = frame.style;
    rows.append(gap_row(hunk.gap, style));
    if let Some(section) = hunk.section {
        rows.push(section_row(section, style));
    }
    let limit = style.max_lines.filter(|_| is_whole).unwrap_or(usize::MAX);
    // A count in place of one line would save nothing.
    let limit = if hunk.lines.len() <= limit.saturating_add(1) { hunk.lines.len() } else { limit };
    let lines = &hunk.lines[..limit];
    if side_by_side::fits(style) {
        side_by_side::rows(lines, frame, files, hidden, rows);
    } else {
        for line in lines {
            moved_row(line, files, style, rows);
            line_rows(line, frame, hidden, rows);
        }
    }
    if limit < hunk.lines.len() {
        let more = format!("{} {} more lines", style.glyphs().ellipsis, hunk.lines.len() - limit);
        rows.append(dim(&more, style));
    }
}

/// Says above the first line of a moved block where its other end is.
pub(super) fn moved_row(
    line: &LineView<'_>,
    (paths, own): (&[&str], usize),
    style: &Style,
    rows: &mut dyn Rows,
) {
    if let Some(moved) = &line.moved {
        rows.append(dim(&moved_words(moved, line.kind, paths, own), style));
    }
}

fn frame<'a>(file: &FileLines<'_>, tint: Tint, style: &'a Style) -> Frame<'a> {
    let highest = file.highest();
    let numbers = match highest {
        _ if style.width < ONE_NUMBER_WIDTH => Numbers::Narrow,
        None => Numbers::Unknown,
        Some(_) if style.width < TWO_NUMBERS_WIDTH => Numbers::One,
        Some(_) => Numbers::Two,
    };
    Frame { style, tint, digits: digits(highest), numbers, link: None }
}

/// Returns how many columns line numbers take.
pub(super) fn digits(highest: Option<usize>) -> usize {
    highest.unwrap_or(0).to_string().len().max(2)
}

fn gap_row(gap: Gap, style: &Style) -> Vec<Row> {
    let glyph = style.glyphs().gap;
    match gap {
        Gap::None => Vec::new(),
        Gap::Unchanged(1) => dim(&format!("{glyph} 1 unchanged line"), style),
        Gap::Unchanged(count) => dim(&format!("{glyph} {count} unchanged lines"), style),
        Gap::Unknown => dim(glyph, style),
    }
}

/// Says which function or section a hunk stands in; what does not fit is cut, since it is only a help.
fn section_row(section: &str, style: &Style) -> Row {
    let role_of = |cell: &Cell<'_>| if cell.is_hidden { Role::Hidden } else { Role::Dim };
    let mut row = Row::new(style);
    row.push_glyph("  @@ ", style);
    if section.bytes().all(|byte| matches!(byte, b' '..=b'~')) && row.push_plain(section, Role::Dim) {
        return row;
    }
    push_cut(&mut row, &cells(section, Place::Name, style.charset()), role_of, None, style);
    row
}

fn dim(text: &str, style: &Style) -> Vec<Row> {
    let mut row = Row::new(style);
    let bar = style.glyphs().gap;
    let is_plain = text.strip_prefix(bar).unwrap_or(text).bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if is_plain
        && text.len() + 2 <= style.width
        && row.push_plain("  ", Role::Dim)
        && row.push_plain(text, Role::Dim)
    {
        return vec![row];
    }
    wrap(&Prose::new().with("  ", Role::Dim).with(text, Role::Dim), 2, style)
}

/// Returns the part of a long line that a cut of it can show: nobody has to lay out megabytes to see a row.
fn part_in_view(text: &str, focus: Option<&Range<usize>>, width: usize) -> Range<usize> {
    let reach = LEAST_PART_BYTES.max(width.saturating_mul(BYTES_A_COLUMN));
    let focus = focus.map_or(0, |focus| focus.start).min(text.len());
    border_before(text, focus.saturating_sub(reach))..border_before(text, focus + reach)
}

/// Adds the rows of one line: one, or as many as it needs where everything is drawn.
pub(super) fn line_rows(line: &LineView<'_>, frame: &Frame<'_>, hidden: &mut Hidden, rows: &mut dyn Rows) {
    let (style, text, marks) = (frame.style, line.text, line.marks());
    let (sign, role, word) = match (line.kind, frame.tint) {
        (Sign::Context, _) => (" ", Role::Plain, Role::Plain),
        (Sign::Delete, Tint::Changed) if line.is_moved => ("-", Role::MovedAway, Role::MovedAway),
        (Sign::Insert, Tint::Changed) if line.is_moved => ("+", Role::MovedHere, Role::MovedHere),
        (Sign::Delete, Tint::Changed) => ("-", Role::Delete, Role::DeleteWord),
        (Sign::Insert, Tint::Changed) => ("+", Role::Insert, Role::InsertWord),
        (Sign::Delete, Tint::None) => ("-", Role::Plain, Role::Plain),
        (Sign::Insert, Tint::None) => ("+", Role::Plain, Role::Plain),
    };
    let mut row = rows.blank(style).filled(role);
    let link = frame
        .link
        .zip(line.new_number)
        .and_then(|((linker, path), number)| linker.target(path, Some(number)));
    if link.is_some() {
        row.set_link(link.as_ref());
    }
    push_gutter(&mut row, line, frame);
    if link.is_some() {
        row.set_link(None);
    }
    row.push_plain(sign, role);
    row.push_plain(" ", role);
    // Nearly every line of source code is printable ASCII: its bytes are its columns.
    let is_short = text.len() <= if style.is_full { row.room() } else { LEAST_PART_BYTES };
    if is_short && text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        push_bytes(&mut row, line, (role, word), style);
        return rows.push(row);
    }
    hidden.note_line(text, line.new_number.or(line.old_number));
    let touches = |cell: &Cell<'_>, range: &Range<usize>| {
        cell.source.start < range.end && range.start < cell.source.end
    };
    let ink_of = |cell: &Cell<'_>| match cell.is_hidden {
        true => Role::Hidden.into(),
        false if marks.words.iter().any(|range| touches(cell, range)) => word.into(),
        false => role.with(line.token_at(cell.source.start)),
    };
    if style.is_full {
        return push_wrapped(row, text, ink_of, style, rows);
    }
    let part = part_in_view(text, marks.focus.as_ref(), style.width);
    let mut all = cells(&text[part.clone()], Place::Line, style.charset());
    for cell in &mut all {
        cell.source = cell.source.start + part.start..cell.source.end + part.start;
    }
    // What is left out is wider than any row, so that the cut is marked.
    let left_out = |at: usize| Cell {
        text: Cow::Borrowed(""),
        columns: LEFT_OUT_COLUMNS,
        source: at..at,
        is_hidden: false,
    };
    if part.start > 0 {
        all.insert(0, left_out(0));
    }
    if part.end < text.len() {
        all.push(left_out(text.len()));
    }
    let focus = marks.focus.as_ref().map(|range| {
        let first = all.partition_point(|cell| cell.source.end <= range.start);
        let last = all.partition_point(|cell| cell.source.start < range.end);
        first..last.max(first)
    });
    push_cut(&mut row, &all, ink_of, focus, style);
    rows.push(row);
}

/// Adds a line of printable ASCII, cut to the room that the row has left.
fn push_bytes(row: &mut Row, line: &LineView<'_>, (role, word): (Role, Role), style: &Style) {
    let length = line.text.len();
    let focus = line.marks().focus.as_ref().map(|focus| focus.start..focus.end.max(focus.start));
    let window = row.window(length, |_| 1, focus, style);
    if window.start > 0 {
        row.push_glyph(style.glyphs().ellipsis, style);
    }
    let mut start = 0;
    line.each_piece(|piece, differs, token| {
        let end = start + piece.len();
        let shown = start.max(window.start)..end.min(window.end);
        if !shown.is_empty() {
            let ink = if differs { word } else { role }.with(token);
            row.push_plain(&piece[shown.start - start..shown.end - start], ink);
        }
        start = end;
    });
    if window.end < length {
        row.push_glyph(style.glyphs().ellipsis, style);
    }
}

/// Adds the numbers of a line and the bar behind them.
fn push_gutter(row: &mut Row, line: &LineView<'_>, frame: &Frame<'_>) {
    let digits = frame.digits;
    let (old, new) = (Some(line.old_number), Some(line.new_number));
    let numbers = match frame.numbers {
        Numbers::Narrow => return,
        Numbers::Unknown => [None, None],
        Numbers::One if line.kind == Sign::Delete => [old, None],
        Numbers::Old => [old, None],
        Numbers::One | Numbers::New => [new, None],
        Numbers::Two => [old, new],
    };
    let is_side = matches!(frame.numbers, Numbers::Old | Numbers::New);
    row.push_glyph(if is_side { " " } else { "  " }, frame.style);
    for number in numbers.into_iter().flatten() {
        row.push_number(number, digits, frame.style);
    }
    if !is_side {
        row.push_glyph(frame.style.glyphs().bar, frame.style);
        row.push_glyph(" ", frame.style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;
    use crate::render::terminal;
    use crate::report::Operation;

    /// The two rows of a change in the middle of a long line.
    fn rows(before: &str, after: &str) -> Vec<String> {
        let (old, new) = (format!("{before}OLD{after}"), format!("{before}NEW{after}"));
        let diff = sample::hunk("a", (1, &[old.as_str()]), (1, &[new.as_str()]));
        let mut out = Vec::new();
        let card = sample::card(vec![sample::file("a", Operation::Update)], vec![diff]);
        terminal::card(&mut out, &card, &Style::plain(60)).unwrap();
        String::from_utf8(out).unwrap().lines().skip(2).map(str::to_owned).collect()
    }

    #[test]
    fn a_line_of_megabytes_is_cut_as_a_short_one_is() {
        let short = rows(&"ab ".repeat(100), &" yz".repeat(100));
        assert_eq!(short[0].matches('\u{2026}').count(), 2);
        assert!(short[0].contains("OLD") && short[1].contains("NEW"), "{short:?}");
        assert_eq!(rows(&"ab ".repeat(300_000), &" yz".repeat(300_000)), short);
        let hidden = rows(&"ab ".repeat(300_000), &format!("{}\u{202e}\u{1b}", " yz".repeat(300_000)));
        assert_eq!(hidden[..2], short[..]);
        assert_eq!(hidden[2], "  ! 4 hidden characters: U+202E in line 1, U+001B in line 1,");
    }

    #[test]
    fn the_part_in_view_begins_and_ends_between_characters() {
        let text = "\u{4e2d}".repeat(10_000);
        for focus in [0, 1, 4097, 14_999, 29_999] {
            let part = part_in_view(&text, Some(&(focus..focus)), 60);
            assert!(text.is_char_boundary(part.start) && text.is_char_boundary(part.end), "{focus}");
        }
        assert_eq!(part_in_view("short", None, 60), 0..5);
    }
}
