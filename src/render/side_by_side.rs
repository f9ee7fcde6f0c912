//! Old on the left, new on the right.

use super::body::Frame;
use super::body::Numbers;
use super::body::line_rows;
use super::body::moved_row;
use super::lines::Hidden;
use super::lines::LineView;
use super::row::Row;
use super::row::Rows;
use super::style::Style;
use crate::diff::hunks::Sign;

/// A narrower terminal has no room for two sides that anybody could read.
const LEAST_WIDTH: usize = 60;

/// What stands on both sides of one row.
type Sides<'s, 'a> = (Option<&'s LineView<'a>>, Option<&'s LineView<'a>>);

/// Tells whether lines are drawn on two sides.
pub(super) fn fits(style: &Style) -> bool {
    style.is_side_by_side && style.width >= LEAST_WIDTH
}

/// Draws the rows of the lines of one hunk.
pub(super) fn rows(
    lines: &[LineView<'_>],
    frame: &Frame<'_>,
    files: (&[&str], usize),
    hidden: &mut Hidden,
    rows: &mut dyn Rows,
) {
    let mark = format!(" {} ", frame.style.glyphs().bar);
    // The mark takes three columns; of an odd rest the right side has one more.
    let left = (frame.style.width - 3) / 2;
    let right = frame.style.width - 3 - left;
    let (left_style, right_style) =
        (Style { width: left, ..*frame.style }, Style { width: right, ..*frame.style });
    let numbers = |numbers| if frame.numbers == Numbers::Unknown { Numbers::Narrow } else { numbers };
    let left_frame = Frame { style: &left_style, numbers: numbers(Numbers::Old), ..*frame };
    let right_frame = Frame { style: &right_style, numbers: numbers(Numbers::New), ..*frame };
    for (old, new) in pairs(lines) {
        for line in [old, new.filter(|line| line.kind == Sign::Insert)].into_iter().flatten() {
            moved_row(line, files, frame.style, rows);
        }
        let (mut old_rows, mut new_rows) = (Vec::<Row>::new(), Vec::<Row>::new());
        if let Some(line) = old {
            line_rows(line, &left_frame, hidden, &mut old_rows);
        }
        // What can't be seen in a line of both sides is counted once.
        let mut again = Hidden::default();
        let new_hidden = match new {
            Some(line) if line.kind == Sign::Context => &mut again,
            _ => &mut *hidden,
        };
        if let Some(line) = new {
            line_rows(line, &right_frame, new_hidden, &mut new_rows);
        }
        let (mut old, mut new) = (old_rows.into_iter(), new_rows.into_iter());
        loop {
            let (old, new) = (old.next(), new.next());
            if old.is_none() && new.is_none() {
                break;
            }
            let (old, new) =
                (old.unwrap_or_else(|| Row::new(&left_style)), new.unwrap_or_else(|| Row::new(&right_style)));
            rows.push(old.beside(&mark, new, frame.style));
        }
    }
}

/// Returns which lines stand beside each other: those that replace each other, and what is between such pairs in order.
fn pairs<'s, 'a>(lines: &'s [LineView<'a>]) -> Vec<Sides<'s, 'a>> {
    let mut sides = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if lines[at].kind == Sign::Context {
            sides.push((Some(&lines[at]), Some(&lines[at])));
            at += 1;
            continue;
        }
        let run = |from: usize, kind: Sign| lines[from..].iter().take_while(|line| line.kind == kind).count();
        let deleted = at..at + run(at, Sign::Delete);
        let inserted = deleted.end..deleted.end + run(deleted.end, Sign::Insert);
        let (mut old, mut new) = (deleted.start, inserted.start);
        let partners =
            deleted.clone().filter_map(|line| lines[line].marks().partner.map(|partner| (line, partner)));
        // A folded hunk may end before the partner of a line.
        let partners = partners.filter(|(_, partner)| inserted.contains(partner));
        for (old_end, new_end) in partners.chain([(deleted.end, inserted.end)]) {
            let length = (old_end - old).max(new_end - new);
            for step in 0..length {
                let side = |from: usize, end: usize| {
                    Some(from + step).filter(|&line| line < end).map(|line| &lines[line])
                };
                sides.push((side(old, old_end), side(new, new_end)));
            }
            if old_end < deleted.end {
                sides.push((Some(&lines[old_end]), Some(&lines[new_end])));
            }
            (old, new) = (old_end + 1, new_end + 1);
        }
        at = inserted.end;
    }
    sides
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr;

    use crate::render::sample;
    use crate::render::style::Style;
    use crate::render::terminal;
    use crate::report::Card;
    use crate::report::FileDiff;
    use crate::report::Operation;

    fn shown(diff: FileDiff, style: &Style) -> String {
        let value: Card = sample::card(vec![sample::file(&diff.path, Operation::Update)], vec![diff]);
        let mut out = Vec::new();
        terminal::card(&mut out, &value, style).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn style(width: usize) -> Style {
        Style { is_side_by_side: true, ..Style::plain(width) }
    }

    #[test]
    fn what_replaces_a_line_stands_beside_it() {
        let diff = sample::hunk(
            "a",
            (7, &["same", "let a = read(x);", "gone", "end"]),
            (7, &["same", "// why", "let a = read(x, y);", "end", "more"]),
        );
        assert_eq!(
            shown(diff, &style(60)).lines().skip(2).collect::<Vec<_>>(),
            [
                "  7   same                   \u{2502}   7   same",
                "                             \u{2502}   8 + // why",
                "  8 - let a = read(x);       \u{2502}   9 + let a = read(x, y);",
                "  9 - gone                   \u{2502} ",
                " 10   end                    \u{2502}  10   end",
                "                             \u{2502}  11 + more",
            ]
        );
    }

    #[test]
    fn a_narrow_terminal_gets_one_side() {
        let diff = sample::hunk("a", (1, &["x"]), (1, &["y"]));
        assert_eq!(shown(diff.clone(), &style(59)), shown(diff, &Style::plain(59)));
    }

    proptest! {
        #[test]
        fn fits_and_is_total(old in "(?s)[a-c \t\n\u{4e2d}\u{202e}\u{1f600}]{0,60}", new in "(?s)[a-c \t\n\u{4e2d}\u{301}\u{200d}]{0,60}", width in 0_usize..130, is_full: bool) {
            let diff = sample::hunk("a", (1, &old.split('\n').collect::<Vec<_>>()), (1, &new.split('\n').collect::<Vec<_>>()));
            for row in shown(diff, &Style { is_full, ..style(width) }).lines() {
                prop_assert!(row.width() <= width, "{row:?}");
                prop_assert!(!row.contains(char::is_control));
            }
        }
    }
}
