//! What is wrong, in words: for stderr, and under a file that does not fit.

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
use crate::report::ErrorReport;
use crate::report::Nearest;
use crate::report::Problem;

/// Returns the rows of an error and all its problems.
pub(super) fn report_rows(report: &ErrorReport, style: &Style) -> Vec<Row> {
    let mut rows = labelled("error: ", Role::Bad, &report.message, style);
    for problem in &report.problems {
        // With one problem the summary is its message, with the path before it where it lacks one: it is said once.
        let is_said = report.message.ends_with(problem.message.as_str());
        let is_hinted = problem.hint == report.hint;
        rows.extend(problem_rows(problem, !is_said, !is_hinted, style));
    }
    if let Some(hint) = &report.hint {
        rows.extend(labelled("hint: ", Role::Strong, hint, style));
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
    let expected = visible(&nearest.expected, style);
    let found = nearest.found.as_deref().map(|found| visible(found, style));
    let same = found.as_deref().map_or(0, |found| {
        expected.bytes().zip(found.bytes()).take_while(|(left, right)| left == right).count()
    });
    let mut rows = vec![line_row("expected: ", &expected, same, Role::Good, style)];
    match &found {
        Some(found) => rows.push(line_row("found:    ", found, same, Role::Bad, style)),
        None => rows.extend(indented("      ", &[("found:    the end of the file", Role::Dim, "")], style)),
    }
    rows.extend(indented(
        "      ",
        &[("cause: ", Role::Strong, ""), ("", Role::Plain, &nearest.cause)],
        style,
    ));
    rows
}

/// Draws one line with the first difference, after `same` equal bytes, in view.
fn line_row(label: &str, text: &str, same: usize, role: Role, style: &Style) -> Row {
    let mut row = Row::new(style);
    row.push("      ", Role::Plain, style);
    row.push(label, Role::Strong, style);
    let all = cells(text, Place::Name, style.charset());
    let first = all.partition_point(|cell| cell.source.end <= same);
    let focus = Some(first..(first + 1).min(all.len()).max(first));
    let role_of = |cell: &Cell<'_>| if cell.is_hidden { Role::Hidden } else { role };
    push_cut(&mut row, &all, role_of, focus, style);
    row
}

/// Shows blanks where they can't be told apart or not be seen: tabs, blanks at both ends, blanks that are not ASCII.
fn visible(line: &str, style: &Style) -> String {
    let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
    let end = line.trim_end_matches([' ', '\t', '\r']).len();
    let mut shown = String::with_capacity(line.len() + 8);
    for (at, scalar) in line.char_indices() {
        match scalar {
            '\t' => shown.push_str(style.glyphs().tab),
            ' ' if at < indent || at >= end => shown.push_str(style.glyphs().space),
            ' ' => shown.push(' '),
            other if other.is_whitespace() && !other.is_control() && !style.ascii => {
                shown.push_str(&format!("\u{27e8}U+{:04X}\u{27e9}", u32::from(other)));
            }
            other => shown.push(other),
        }
    }
    shown
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

    #[test]
    fn blanks_that_could_be_mistaken_are_shown() {
        let style = Style::plain(80);
        let ascii = Style { ascii: true, ..style };
        assert_eq!(
            visible("  a b\t\u{a0}c \r", &style),
            "\u{b7}\u{b7}a b\u{2192}\u{27e8}U+00A0\u{27e9}c\u{b7}\r"
        );
        assert_eq!(visible(" \ta ", &ascii), ".\\ta.");
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
