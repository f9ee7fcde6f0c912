//! Rows of a card: escaped, never wider than told, coloured only when written.

use std::fmt::Write as _;
use std::io;
use std::io::Write;
use std::ops::Range;

use super::escape::Cell;
use super::escape::Place;
use super::escape::cells;
use super::escape::each_cell;
use super::links::Target;
use super::style::Ink;
use super::style::Role;
use super::style::Style;

/// Columns that have to be left for text before wrapped rows are indented.
const LEAST_TEXT_COLUMNS: usize = 12;

/// One row of the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    text: String,
    /// Where in the text each look ends.
    runs: Vec<(usize, Ink)>,
    columns: usize,
    width: usize,
    /// The role whose background reaches to the row's end.
    fill: Option<Role>,
    /// Which runs are a link, in order.
    links: Vec<(Range<usize>, Target)>,
    /// Runs before this one are not added to any more.
    sealed: usize,
    /// The run of another side, and the 1-based column that it begins at.
    other_side: Option<(usize, usize)>,
}

impl Row {
    pub(super) fn new(style: &Style) -> Self {
        Row {
            text: String::new(),
            runs: Vec::new(),
            columns: 0,
            width: style.width,
            fill: None,
            links: Vec::new(),
            sealed: 0,
            other_side: None,
        }
    }

    /// Takes everything out of the row; its memory stays.
    fn cleared(mut self, style: &Style) -> Self {
        self.text.clear();
        self.runs.clear();
        self.links.clear();
        Row { text: self.text, runs: self.runs, links: self.links, ..Row::new(style) }
    }

    pub(super) fn filled(mut self, role: Role) -> Self {
        self.fill = Some(role);
        self
    }

    /// Returns how many columns are left.
    pub(super) fn room(&self) -> usize {
        self.width.saturating_sub(self.columns)
    }

    /// Adds a cell, or as much of its place as is left.
    pub(super) fn push_cell(&mut self, cell: &Cell<'_>, ink: impl Into<Ink>) {
        if cell.columns <= self.room() {
            self.append(&cell.text, cell.columns, ink.into());
        } else {
            self.append(&"?".repeat(self.room()), self.room(), ink.into());
        }
    }

    /// Adds a text; what does not fit is cut.
    pub(super) fn push(&mut self, text: &str, role: Role, style: &Style) {
        for cell in cells(text, Place::Name, style.charset()) {
            self.push_cell(&cell, if cell.is_hidden { Role::Hidden } else { role });
            if self.room() == 0 {
                return;
            }
        }
    }

    /// Adds a text that holds nothing to be escaped and of which every character takes one column, if it fits.
    pub(super) fn push_plain(&mut self, text: &str, ink: impl Into<Ink>) -> bool {
        let columns = if text.is_ascii() { text.len() } else { text.chars().count() };
        let fits = columns <= self.room();
        if fits && !text.is_empty() {
            self.append(text, columns, ink.into());
        }
        fits
    }

    /// Makes a link of what is added from here on, or ends the one that there is.
    pub(super) fn set_link(&mut self, target: Option<&Target>) {
        if let Some((range, _)) = self.links.last_mut().filter(|(range, _)| range.end == usize::MAX) {
            range.end = self.runs.len();
        }
        self.links.extend(target.map(|target| (self.runs.len()..usize::MAX, Target::clone(target))));
        self.sealed = self.runs.len();
    }

    /// Adds something of the frame, or as much of it as fits.
    pub(super) fn push_glyph(&mut self, glyph: &str, style: &Style) {
        if !self.push_plain(glyph, Role::Dim) {
            self.push(glyph, Role::Dim, style);
        }
    }

    /// Adds the number of a line, right in so many columns, and a blank; without a number only blanks.
    pub(super) fn push_number(&mut self, number: Option<usize>, columns: usize, style: &Style) {
        if self.room() <= columns {
            let text = number.map_or_else(String::new, |number| number.to_string());
            return self.push_glyph(&format!("{text:>columns$} "), style);
        }
        let start = self.text.len();
        // Memory takes all text.
        let _ = match number {
            Some(number) => write!(self.text, "{number:>columns$} "),
            None => write!(self.text, "{:columns$} ", ""),
        };
        self.close_run(self.text.len() - start, Role::Dim.into());
    }

    /// Returns which of so many cells fit into what is left of the row, marks for what is cut included.
    ///
    /// `focus` are the cells that have to be seen: they, or at least the first of them, are kept in view.
    pub(super) fn window(
        &self,
        cells: usize,
        columns_of: impl Fn(usize) -> usize,
        focus: Option<Range<usize>>,
        style: &Style,
    ) -> Range<usize> {
        window(cells, columns_of, (self.room(), style.glyphs().ellipsis.chars().count()), focus)
    }

    fn append(&mut self, text: &str, columns: usize, ink: Ink) {
        self.text.push_str(text);
        self.close_run(columns, ink);
    }

    /// Takes in what was added to the text since the last time.
    fn close_run(&mut self, columns: usize, ink: Ink) {
        self.columns += columns;
        let is_sealed = self.sealed == self.runs.len();
        match self.runs.last_mut() {
            Some((end, last)) if *last == ink && !is_sealed => *end = self.text.len(),
            _ => self.runs.push((self.text.len(), ink)),
        }
    }

    /// Fills the row with blanks in its own background, then adds a mark and another row.
    pub(super) fn beside(mut self, mark: &str, right: Row, style: &Style) -> Row {
        let role = self.fill.filter(|role| style.fills(*role)).unwrap_or(Role::Plain);
        let room = self.room();
        self.append(&" ".repeat(room), room, role.into());
        self.other_side = Some((self.runs.len(), self.columns + 1));
        self.sealed = self.runs.len();
        self.width = style.width;
        self.push_plain(mark, Role::Dim);
        self.columns += right.columns;
        let left = self.runs.len();
        let moved = |(range, target): (Range<usize>, Target)| {
            (range.start + left..range.end.saturating_add(left), target)
        };
        self.links.extend(right.links.into_iter().map(moved));
        let start = self.text.len();
        self.text.push_str(&right.text);
        self.runs.extend(right.runs.iter().map(|&(end, ink)| (start + end, ink)));
        self.fill = right.fill;
        self
    }

    /// Writes the row and its newline.
    fn write(&self, out: &mut dyn Write, inks: &mut Inks<'_>) -> io::Result<()> {
        let mut links = self.links.iter().filter(|(range, _)| !range.is_empty()).peekable();
        let mut start = 0;
        for (at, &(end, ink)) in self.runs.iter().enumerate() {
            // A terminal may take other columns for a character than was reckoned: the other side stands where it should.
            if let Some((_, column)) = self.other_side.filter(|(run, _)| *run == at && inks.style.is_screen) {
                write!(out, "\u{1b}[{column}G")?;
            }
            if let Some((_, target)) = links.peek().filter(|(range, _)| range.start == at) {
                write!(out, "\u{1b}]8;{target}\u{1b}\\")?;
            }
            inks.write(out, &self.text[start..end], ink)?;
            start = end;
            // No link goes on behind its row: a reader may draw any of them alone.
            let is_last = at + 1 == self.runs.len();
            if links.next_if(|(range, _)| range.start <= at && (range.end == at + 1 || is_last)).is_some() {
                out.write_all(b"\x1b]8;;\x1b\\")?;
            }
        }
        // In the last column the cursor still stands on the last character, which erasing would take away.
        if let Some(role) = self.fill.filter(|role| inks.style.fills(*role) && self.columns < self.width) {
            let rest = if inks.style.is_padded { " ".repeat(self.room()) } else { "\u{1b}[K".to_string() };
            inks.write(out, &rest, role.into())?;
        }
        out.write_all(b"\n")
    }
}

/// The sequences that begin the looks of pieces, each made once: rows have many pieces and few looks.
struct Inks<'s> {
    style: &'s Style,
    known: Vec<(Ink, String)>,
}

impl Inks<'_> {
    fn write(&mut self, out: &mut dyn Write, text: &str, ink: Ink) -> io::Result<()> {
        let at = self.known.iter().position(|(known, _)| *known == ink).unwrap_or_else(|| {
            let begin = self.style.paint(ink).map(|paint| paint.prefix_formatter().to_string());
            self.known.push((ink, begin.unwrap_or_default()));
            self.known.len() - 1
        });
        let begin = &self.known[at].1;
        if begin.is_empty() {
            return out.write_all(text.as_bytes());
        }
        out.write_all(begin.as_bytes())?;
        out.write_all(text.as_bytes())?;
        out.write_all(b"\x1b[0m")
    }
}

/// Takes rows, one under the other.
pub(super) trait Rows {
    /// Takes the next row.
    fn push(&mut self, row: Row);

    /// Returns a row with nothing in it.
    fn blank(&mut self, style: &Style) -> Row {
        Row::new(style)
    }

    /// Takes the next rows.
    fn append(&mut self, rows: Vec<Row>) {
        rows.into_iter().for_each(|row| self.push(row));
    }

    /// Takes the rows that `draw` makes of so many parts, which may be drawn at once, in their order.
    fn parts(&mut self, count: usize, draw: &(dyn Fn(usize, &mut dyn Rows) + Sync));
}

impl Rows for Vec<Row> {
    fn push(&mut self, row: Row) {
        Vec::push(self, row);
    }

    fn parts(&mut self, count: usize, draw: &(dyn Fn(usize, &mut dyn Rows) + Sync)) {
        (0..count).for_each(|part| draw(part, self));
    }
}

/// Writes each row as it comes, so that a long card is not held as rows.
pub(super) struct Writer<'a> {
    out: &'a mut dyn Write,
    inks: Inks<'a>,
    /// A row that was written: the next one takes its memory.
    spare: Option<Row>,
    result: io::Result<()>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(out: &'a mut dyn Write, style: &'a Style) -> Self {
        Writer { out, inks: Inks { style, known: Vec::new() }, spare: None, result: Ok(()) }
    }

    /// Returns what the writer said; after a failure nothing more was written.
    pub(super) fn finish(self) -> io::Result<()> {
        self.result
    }
}

impl Rows for Writer<'_> {
    fn push(&mut self, row: Row) {
        if self.result.is_ok() {
            self.result = row.write(self.out, &mut self.inks);
        }
        self.spare = Some(row);
    }

    fn blank(&mut self, style: &Style) -> Row {
        self.spare.take().map_or_else(|| Row::new(style), |row| row.cleared(style))
    }

    fn parts(&mut self, count: usize, draw: &(dyn Fn(usize, &mut dyn Rows) + Sync)) {
        if count == 1 {
            return draw(0, self);
        }
        let style = self.inks.style;
        let drawn = style.crew.each(count, |part| {
            let mut out = Vec::new();
            let mut writer = Writer::new(&mut out, style);
            draw(part, &mut writer);
            writer.finish().map(|()| out)
        });
        for drawn in drawn {
            if self.result.is_ok() {
                self.result = drawn.and_then(|drawn| self.out.write_all(&drawn));
            }
        }
    }
}

/// Writes rows, one under the other.
pub(super) fn write_rows(out: &mut dyn Write, rows: Vec<Row>, style: &Style) -> io::Result<()> {
    let mut writer = Writer::new(out, style);
    writer.append(rows);
    writer.finish()
}

/// A text with roles that is laid out by [`wrap`].
#[derive(Debug, Clone, Default)]
pub(super) struct Prose {
    segments: Vec<Segment>,
}

/// A part of it.
#[derive(Debug, Clone)]
struct Segment {
    text: String,
    role: Role,
    link: Option<Target>,
}

/// A cell of it.
type Laid<'a> = (Cell<'a>, &'a Segment);

impl Prose {
    pub(super) fn new() -> Self {
        Prose::default()
    }

    pub(super) fn push(&mut self, text: impl Into<String>, role: Role) {
        self.push_link(text, role, None);
    }

    pub(super) fn push_link(&mut self, text: impl Into<String>, role: Role, link: Option<Target>) {
        self.segments.push(Segment { text: text.into(), role, link });
    }

    pub(super) fn with(mut self, text: impl Into<String>, role: Role) -> Self {
        self.push(text, role);
        self
    }
}

/// Breaks a text into rows at blanks, else anywhere: nothing of it is left out. Rows after the first are indented.
pub(super) fn wrap(prose: &Prose, hang: usize, style: &Style) -> Vec<Row> {
    let all: Vec<Laid<'_>> = prose
        .segments
        .iter()
        .flat_map(|segment| {
            cells(&segment.text, Place::Name, style.charset()).into_iter().map(move |cell| (cell, segment))
        })
        .collect();
    let hang = if hang + LEAST_TEXT_COLUMNS <= style.width { hang } else { 0 };
    let mut rows = Vec::new();
    let (mut start, mut at, mut columns) = (0, 0, 0);
    let (mut blank, mut has_text) = (None, false);
    while at < all.len() && style.width > 0 {
        let cell = &all[at].0;
        if at > start && columns + cell.columns > style.width {
            let (end, next) = break_at(&all[..], start, at, if cell.text == " " { Some(at) } else { blank });
            rows.push(row_of(&all[start..end], if rows.is_empty() { 0 } else { hang }, style));
            (start, at, columns, blank, has_text) = (next, next, hang, None, false);
            continue;
        }
        if cell.text != " " {
            has_text = true;
        } else if has_text {
            blank = Some(at);
        }
        columns += cell.columns;
        at += 1;
    }
    rows.push(row_of(&all[start..], if rows.is_empty() { 0 } else { hang }, style));
    rows
}

/// Returns where a row ends and the next begins: blanks at the border belong to neither.
fn break_at(all: &[Laid<'_>], start: usize, at: usize, blank: Option<usize>) -> (usize, usize) {
    let Some(blank) = blank else { return (at, at) };
    let is_blank = |(cell, _): &&Laid<'_>| cell.text == " ";
    let end = blank - all[start..blank].iter().rev().take_while(is_blank).count();
    (end, blank + all[blank..].iter().take_while(is_blank).count())
}

fn row_of(part: &[Laid<'_>], indent: usize, style: &Style) -> Row {
    let mut row = Row::new(style);
    row.push(&" ".repeat(indent), Role::Plain, style);
    let mut link = None;
    for (cell, segment) in part {
        if link != segment.link.as_ref() {
            link = segment.link.as_ref();
            row.set_link(link);
        }
        row.push_cell(cell, if cell.is_hidden { Role::Hidden } else { segment.role });
        if row.room() == 0 {
            break;
        }
    }
    row
}

/// Adds the cells of one line of a file, cut to the room that the row has left.
///
/// `focus` are the indices of the cells that have to be seen: they, or at least the first of them, are kept in view.
/// Returns the indices of those that are.
pub(super) fn push_cut<I: Into<Ink>>(
    row: &mut Row,
    line: &[Cell<'_>],
    ink_of: impl Fn(&Cell<'_>) -> I,
    focus: Option<Range<usize>>,
    style: &Style,
) -> Range<usize> {
    let window = row.window(line.len(), |at| line[at].columns, focus, style);
    if window.start > 0 {
        row.push_glyph(style.glyphs().ellipsis, style);
    }
    for cell in &line[window.clone()] {
        row.push_cell(cell, ink_of(cell));
    }
    if window.end < line.len() {
        row.push_glyph(style.glyphs().ellipsis, style);
    }
    window
}

/// Adds one line of a file to a row that has its gutter, and to as many rows under it as the line needs.
pub(super) fn push_wrapped<I: Into<Ink>>(
    first: Row,
    line: &str,
    ink_of: impl Fn(&Cell<'_>) -> I,
    style: &Style,
    rows: &mut dyn Rows,
) {
    let gutter = if first.columns + LEAST_TEXT_COLUMNS <= style.width { first.columns } else { 0 };
    let (fill, mut row) = (first.fill, first);
    each_cell(line, Place::Line, style.charset(), |cell| {
        if cell.columns > row.room() && style.width > gutter {
            let mut next = Row::new(style);
            next.fill = fill;
            next.push_plain(&" ".repeat(gutter), fill.unwrap_or(Role::Plain));
            rows.push(std::mem::replace(&mut row, next));
        }
        row.push_cell(&cell, ink_of(&cell));
    });
    rows.push(row);
}

/// Returns which of so many cells fit into `room` columns, marks for what is cut included.
fn window(
    cells: usize,
    columns_of: impl Fn(usize) -> usize,
    (room, mark): (usize, usize),
    focus: Option<Range<usize>>,
) -> Range<usize> {
    let width_of = |range: Range<usize>| range.map(&columns_of).sum::<usize>();
    if width_of(0..cells) <= room {
        return 0..cells;
    }
    let inner = room.saturating_sub(2 * mark);
    let focus = focus.unwrap_or(0..0);
    let start = if width_of(0..focus.end) + mark <= room {
        0
    } else {
        // Centred if all of the focus fits, else its beginning with a little of what stands before.
        let before = inner.saturating_sub(width_of(focus.clone())).max(inner.min(16) / 2) / 2;
        let (mut start, mut columns) = (focus.start, 0);
        while start > 0 && columns + columns_of(start - 1) <= before {
            start -= 1;
            columns += columns_of(start);
        }
        start
    };
    let lead = if start > 0 { mark } else { 0 };
    let fits = |end_mark: usize| {
        let mut columns = lead + end_mark;
        let mut end = start;
        while end < cells && columns + columns_of(end) <= room {
            columns += columns_of(end);
            end += 1;
        }
        end
    };
    let whole = fits(0);
    if whole < cells {
        return start..fits(mark);
    }
    // The line's end is in view and needs no mark: what room is left shows more of what stands before.
    let (mut start, mut columns) = (start, lead + width_of(start..whole));
    while start > 0 && columns + columns_of(start - 1) <= room {
        start -= 1;
        columns += columns_of(start);
    }
    start..whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::escape::Charset;

    fn wrapped(first: Row, line: &str, style: &Style) -> Vec<Row> {
        let mut rows = Vec::new();
        push_wrapped(first, line, |_| Role::Plain, style, &mut rows);
        rows
    }

    fn shown(rows: &[Row], style: &Style) -> String {
        let mut out = Vec::new();
        write_rows(&mut out, rows.to_vec(), style).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn prose_breaks_at_blanks_and_loses_nothing() {
        let style = Style::plain(20);
        let prose = Prose::new().with("one two three four five six", Role::Plain);
        assert_eq!(shown(&wrap(&prose, 2, &style), &style), "one two three four\n  five six\n");
        let path = Prose::new().with("a/very/long/path/without/blanks", Role::Plain);
        assert_eq!(shown(&wrap(&path, 2, &style), &style), "a/very/long/path/wit\n  hout/blanks\n");
        let none = Style::plain(0);
        assert_eq!(shown(&wrap(&path, 2, &none), &none), "\n");
    }

    #[test]
    fn a_wrapped_line_is_whole_and_stays_right_of_its_gutter() {
        let style = Style::plain(20);
        let line = "0123456789".repeat(4);
        let mut first = Row::new(&style);
        first.push_plain("12 + ", Role::Dim);
        let rows = wrapped(first, &line, &style);
        assert_eq!(shown(&rows, &style), "12 + 012345678901234\n     567890123456789\n     0123456789\n");
        let narrow = Style::plain(3);
        let rows = wrapped(Row::new(&narrow), &line[..4], &narrow);
        assert_eq!(shown(&rows, &narrow), "012\n3\n");
        let none = Style::plain(0);
        assert_eq!(shown(&wrapped(Row::new(&none), &line, &none), &none), "\n");
    }

    #[test]
    fn a_cut_keeps_the_focus_in_view() {
        let style = Style::plain(20);
        let text = "0123456789".repeat(10);
        let line = cells(&text, Place::Line, Charset::Unicode);
        let cut = |focus: Option<Range<usize>>| {
            let mut row = Row::new(&style);
            push_cut(&mut row, &line, |_| Role::Plain, focus, &style);
            shown(&[row], &style)
        };
        assert_eq!(cut(None), "0123456789012345678\u{2026}\n");
        assert_eq!(cut(Some(50..52)), "\u{2026}234567890123456789\u{2026}\n");
        assert_eq!(cut(Some(98..100)), "\u{2026}1234567890123456789\n");
        assert_eq!(cut(Some(30..90)), "\u{2026}678901234567890123\u{2026}\n");
    }
}
