//! What is wrong, in words: for stderr, and under a file that does not fit.

use std::borrow::Cow;
use std::ops::Range;

use super::escape::Cell;
use super::escape::Place;
use super::escape::cells;
use super::row::Prose;
use super::row::Row;
use super::row::push_cut;
use super::row::wrap;
use super::style::Role;
use super::style::Style;
use super::view::message_lines;
use crate::diff::words::Emphasis;
use crate::diff::words::emphasis;
use crate::report::ErrorReport;
use crate::report::Nearest;
use crate::report::Problem;

/// The width of an error on a page, which scrolls.
const PAGE_WIDTH: usize = 100;

/// Returns the rows of an error and all its problems.
pub(super) fn report_rows(report: &ErrorReport, style: &Style) -> Vec<Row> {
    let mut rows = labelled("error: ", Role::Bad, &report.message, style);
    rows.extend(detail_rows(report, style));
    if let Some(hint) = &report.hint {
        rows.extend(labelled("hint: ", Role::Strong, hint, style));
    }
    rows
}

/// Returns the rows of the error that a card has.
pub(super) fn refusal_rows(report: &ErrorReport, style: &Style) -> Vec<Row> {
    let mut rows = indented("  ", &[("", Role::Bad, &report.message)], style);
    rows.extend(detail_rows(report, style));
    if let Some(hint) = &report.hint {
        rows.extend(indented("  ", &[("hint: ", Role::Strong, ""), ("", Role::Plain, hint)], style));
    }
    rows
}

/// Returns the same as lines of text, for a page.
pub(super) fn refusal_lines(report: &ErrorReport) -> Vec<String> {
    refusal_rows(report, &Style::plain(PAGE_WIDTH)).iter().map(Row::text).collect()
}

fn detail_rows(report: &ErrorReport, style: &Style) -> Vec<Row> {
    let mut rows = Vec::new();
    for problem in &report.problems {
        // With one problem the summary is its message, with the path before it where it lacks one: it is said once.
        let is_said = report.message.ends_with(problem.message.as_str());
        let is_hinted = problem.hint == report.hint;
        rows.extend(problem_rows(problem, !is_said, !is_hinted, style));
    }
    rows
}

/// Returns the rows of one problem, indented.
pub(super) fn problem_rows(
    problem: &Problem,
    with_message: bool,
    with_hint: bool,
    style: &Style,
) -> Vec<Row> {
    let mut rows = Vec::new();
    if with_message {
        rows.extend(indented("  ", &[("", Role::Bad, &problem.message)], style));
    }
    if let Some(place) = place(problem) {
        rows.extend(indented("  ", &[("--> ", Role::Dim, ""), ("", Role::Plain, &place)], style));
    }
    if let Some(nearest) = &problem.nearest {
        rows.extend(nearest_rows(nearest, style));
    }
    if !problem.candidates.is_empty() {
        let lines: Vec<String> = problem.candidates.iter().map(|place| place.line.to_string()).collect();
        let label = if lines.len() == 1 { "fits at line " } else { "fits at lines " };
        rows.extend(indented(
            "      ",
            &[(label, Role::Strong, ""), ("", Role::Plain, &lines.join(", "))],
            style,
        ));
    }
    if let Some(hint) = problem.hint.as_ref().filter(|_| with_hint) {
        rows.extend(indented("      ", &[("hint: ", Role::Strong, ""), ("", Role::Plain, hint)], style));
    }
    rows
}

/// `path:line`, `hunk 2`, `patch line 12`: as much of it as is known.
fn place(problem: &Problem) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(path) = &problem.path {
        parts.push(match &problem.nearest {
            Some(nearest) => format!("{path}:{}", nearest.line),
            None => path.clone(),
        });
    }
    match (problem.edit, problem.hunk) {
        (Some(edit), Some(hunk)) => parts.push(format!("file edit {edit}, hunk {hunk}")),
        (Some(edit), None) => parts.push(format!("file edit {edit}")),
        (None, Some(hunk)) => parts.push(format!("hunk {hunk}")),
        (None, None) => {}
    }
    parts.extend(problem.line.map(|line| format!("patch line {line}")));
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn nearest_rows(nearest: &Nearest, style: &Style) -> Vec<Row> {
    let found = nearest.found.as_deref();
    let (expected_differs, found_differs) = differences(&nearest.expected, found.unwrap_or_default());
    let mut rows = marked_rows("expected: ", &nearest.expected, &expected_differs, style);
    match found {
        Some(found) => rows.extend(marked_rows("found:    ", found, &found_differs, style)),
        None => rows.extend(indented("      ", &[("found:    the end of the file", Role::Dim, "")], style)),
    }
    rows.extend(indented(
        "      ",
        &[("cause: ", Role::Strong, ""), ("", Role::Plain, &nearest.cause)],
        style,
    ));
    rows
}

/// Returns the byte ranges in which two lines differ; none if they have too little in common.
///
/// The expected text may be a part of its line: what only stands around it there is no difference, unless it is blank
/// or nothing else differs.
fn differences(expected: &str, found: &str) -> (Emphasis, Emphasis) {
    let Some((expected_differs, found_differs)) = emphasis(expected, found) else {
        return Default::default();
    };
    let starts_alike = expected_differs.first().is_none_or(|range| range.start > 0);
    let ends_alike = expected_differs.last().is_none_or(|range| range.end < expected.len());
    let is_around = |range: &Range<usize>| {
        let is_outside = (range.start == 0 && starts_alike) || (range.end == found.len() && ends_alike);
        is_outside && !found[range.clone()].trim().is_empty()
    };
    let inside: Emphasis = found_differs.iter().filter(|range| !is_around(range)).cloned().collect();
    let is_told = !inside.is_empty() || !expected_differs.is_empty();
    (expected_differs, if is_told { inside } else { found_differs })
}

/// Draws one line with its differences in view, and a row of carets under them, since colours alone say nothing.
fn marked_rows(label: &str, text: &str, differs: &[Range<usize>], style: &Style) -> Vec<Row> {
    let mut row = Row::new(style);
    row.push("      ", Role::Plain, style);
    row.push(label, Role::Strong, style);
    let all = visible_cells(text, differs, style);
    let is_marked = |cell: &Cell<'_>| differs.iter().any(|range| touches(cell, range));
    let first = all.iter().position(is_marked);
    let role_of = |cell: &Cell<'_>| match cell.is_hidden {
        true => Role::Hidden,
        false if is_marked(cell) => Role::Caution,
        false => Role::Plain,
    };
    let mut carets = Row::new(style);
    carets.push(&" ".repeat(style.width.saturating_sub(row.room())), Role::Plain, style);
    let window = push_cut(&mut row, &all, role_of, first.map(|first| first..first + 1), style);
    if window.start > 0 {
        carets.push(&" ".repeat(style.glyphs().ellipsis.chars().count()), Role::Plain, style);
    }
    let seen = &all[window];
    let end = seen.iter().rposition(is_marked).map_or(0, |last| last + 1);
    for cell in &seen[..end] {
        carets.push_plain(&if is_marked(cell) { "^" } else { " " }.repeat(cell.columns), Role::Caution);
    }
    if end > 0 { vec![row, carets] } else { vec![row] }
}

fn touches(cell: &Cell<'_>, range: &Range<usize>) -> bool {
    cell.source.start < range.end && range.start < cell.source.end
}

/// Shows blanks where they can't be told apart or not be seen: tabs, blanks at both ends and in what differs, blanks that
/// are not ASCII.
fn visible_cells<'a>(line: &'a str, differs: &[Range<usize>], style: &Style) -> Vec<Cell<'a>> {
    let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
    let end = line.trim_end_matches([' ', '\t', '\r']).len();
    let mut all = cells(line, Place::Name, style.charset());
    for cell in &mut all {
        let shown = match &line[cell.source.clone()] {
            "\t" => style.glyphs().tab.to_owned(),
            " " => {
                let is_shown = cell.source.start < indent
                    || cell.source.start >= end
                    || differs.iter().any(|range| touches(cell, range));
                if !is_shown {
                    continue;
                }
                style.glyphs().space.to_owned()
            }
            other if other.trim().is_empty() && !cell.is_hidden && !style.ascii => {
                other.chars().map(|scalar| format!("\u{27e8}U+{:04X}\u{27e9}", u32::from(scalar))).collect()
            }
            _ => continue,
        };
        cell.columns = shown.chars().count();
        cell.text = Cow::Owned(shown);
        cell.is_hidden = false;
    }
    all
}

/// Returns a label and a message, which may have several lines.
pub(super) fn labelled(label: &str, role: Role, message: &str, style: &Style) -> Vec<Row> {
    let mut rows = Vec::new();
    for (at, line) in message_lines(message, style.glyphs().ellipsis).into_iter().enumerate() {
        let label = if at == 0 { label } else { "  " };
        rows.extend(wrap(&Prose::new().with(label, role).with(line, Role::Plain), 2, style));
    }
    rows
}

/// Returns parts, each with a label, one after the other; the lines after the first are indented further.
fn indented(indent: &str, parts: &[(&str, Role, &str)], style: &Style) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut prose = Prose::new().with(indent, Role::Plain);
    for (label, role, text) in parts {
        prose.push(*label, *role);
        for (at, line) in message_lines(text, style.glyphs().ellipsis).into_iter().enumerate() {
            if at > 0 {
                rows.extend(wrap(&prose, indent.len() + 2, style));
                prose = Prose::new().with(format!("{indent}  "), Role::Plain);
            }
            prose.push(line, if label.is_empty() { *role } else { Role::Plain });
        }
    }
    rows.extend(wrap(&prose, indent.len() + 2, style));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Code;

    fn shown(rows: &[Row], style: &Style) -> String {
        let mut out = Vec::new();
        rows.iter().for_each(|row| row.write(&mut out, style).unwrap());
        String::from_utf8(out).unwrap()
    }

    fn visible(line: &str, differs: &[Range<usize>], style: &Style) -> String {
        visible_cells(line, differs, style).iter().map(|cell| cell.text.as_ref()).collect()
    }

    #[test]
    fn blanks_that_could_be_mistaken_are_shown() {
        let style = Style::plain(80);
        let ascii = Style { ascii: true, ..style };
        assert_eq!(
            visible("  a b\t\u{a0}c \r", &[], &style),
            "\u{b7}\u{b7}a b\u{2192}\u{27e8}U+00A0\u{27e9}c\u{b7}\u{240d}"
        );
        let differs = 1..3;
        assert_eq!(visible("a  b c", std::slice::from_ref(&differs), &style), "a\u{b7}\u{b7}b c");
        assert_eq!(visible(" \ta ", &[], &ascii), ".\\ta.");
    }

    fn nearest_text(expected: &str, found: &str, width: usize) -> String {
        let (expected, found) = (expected.to_string(), Some(found.to_string()));
        let style = Style::plain(width);
        shown(&nearest_rows(&Nearest { line: 1, expected, found, cause: "c".to_string() }, &style), &style)
    }

    #[test]
    fn the_words_that_differ_are_marked() {
        let rows = [
            "      expected: \u{b7}\u{b7}\u{b7}\u{b7}let total = compute(a, c);",
            "                ^^^^                       ^",
            "      found:    \u{2192}let total = compute(a, b);",
            "                ^                       ^",
            "      cause: c",
            "",
        ];
        let text = nearest_text("    let total = compute(a, c);", "\tlet total = compute(a, b);", 80);
        assert_eq!(text, rows.join("\n"));
        let text = nearest_text("let x = 1;", "let x = 1;  ", 80);
        let wanted = [
            "      expected: let x = 1;",
            "      found:    let x = 1;\u{b7}\u{b7}",
            "                          ^^",
            "      cause: c",
            "",
        ];
        assert_eq!(text, wanted.join("\n"));
    }

    #[test]
    fn what_stands_around_a_part_of_a_line_is_no_difference() {
        let around = |expected: &str, found: &str| {
            let (_, found_differs) = differences(expected, found);
            found_differs.into_iter().map(|range| found[range].to_string()).collect::<Vec<_>>()
        };
        assert_eq!(around("compute(a, c)", "let x = compute(a, b); // all"), ["b"]);
        assert_eq!(around("value();", "    value();"), ["    "]);
        assert_eq!(around("value();", "value(); // all"), [" // all"]);
        assert_eq!(around("fn main() {", "# Change log"), [""; 0]);
    }

    #[test]
    fn the_first_difference_stays_in_view() {
        let lead = "x".repeat(200);
        let nearest = Nearest {
            line: 1,
            expected: format!("{lead} old"),
            found: Some(format!("{lead} new")),
            cause: "one word".to_string(),
        };
        let style = Style::plain(50);
        let text = shown(&nearest_rows(&nearest, &style), &style);
        assert!(text.contains(" old\n") && text.contains(" new\n"), "{text}");
        let carets: Vec<usize> = text.lines().filter_map(|row| row.find('^')).collect();
        assert_eq!(carets, [47, 47], "the ends of the rows: {text}");
        let end = Nearest { found: None, ..nearest };
        assert!(shown(&nearest_rows(&end, &style), &style).contains("found:    the end of the file\n"));
    }

    #[test]
    fn what_the_summary_says_is_not_said_twice() {
        let problem = Problem::new(Code::Io, "no such file").with_path("a").with_hint("look");
        let report = ErrorReport {
            code: Code::Io,
            message: "no such file".to_string(),
            hint: Some("look".to_string()),
            problems: vec![problem],
        };
        let style = Style::plain(80);
        assert_eq!(
            shown(&report_rows(&report, &style), &style),
            "error: no such file\n  --> a\nhint: look\n"
        );
    }
}
