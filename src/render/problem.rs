//! What is wrong as rows of a terminal: for stderr, and under a file that does not fit.

use std::ops::Range;

use super::escape::Cell;
use super::explain;
use super::explain::Said;
use super::explain::carets;
use super::explain::is_marked;
use super::explain::visible_cells;
use super::links::Linker;
use super::row::Prose;
use super::row::Row;
use super::row::push_cut;
use super::row::wrap;
use super::style::Role;
use super::style::Style;
use super::view::message_lines;
use crate::report::ErrorReport;
use crate::report::Problem;

/// Returns the rows of an error and all its problems.
pub(super) fn report_rows(report: &ErrorReport, style: &Style) -> Vec<Row> {
    let mut rows = labelled("error: ", Role::Bad, &report.message, style);
    rows.extend(rows_of(&explain::details(report), Linker::new(style.links, None), style));
    if let Some(hint) = &report.hint {
        rows.extend(labelled("hint: ", Role::Strong, hint, style));
    }
    rows
}

/// Returns the rows of the error that a card has.
pub(super) fn refusal_rows(report: &ErrorReport, linker: Linker<'_>, style: &Style) -> Vec<Row> {
    rows_of(&explain::refusal(report), linker, style)
}

/// Returns the rows of one problem, indented.
pub(super) fn problem_rows(problem: &Problem, linker: Linker<'_>, style: &Style) -> Vec<Row> {
    rows_of(&explain::problem(problem), linker, style)
}

fn rows_of(said: &[Said<'_>], linker: Linker<'_>, style: &Style) -> Vec<Row> {
    let row = |one: &Said<'_>| match one {
        Said::Wrong(message) => indented("  ", ("", Role::Bad), (message, Role::Bad), style),
        Said::Where(place) => {
            let (file, rest) = place.texts();
            let mut prose = Prose::new().with("  ", Role::Plain).with("--> ", Role::Dim);
            prose.push_link(file, Role::Plain, place.path.and_then(|path| linker.target(path, place.line)));
            wrap(&prose.with(rest, Role::Plain), 4, style)
        }
        Said::Labelled(indent, label, text) => {
            indented(&" ".repeat(*indent), (label, Role::Strong), (text, Role::Plain), style)
        }
        Said::Line(label, line, differs) => marked_rows(label, line, differs, style),
    };
    said.iter().flat_map(row).collect()
}

/// Draws one line with its differences in view, and a row of carets under them, since colours alone say nothing.
fn marked_rows(label: &str, line: &str, differs: &[Range<usize>], style: &Style) -> Vec<Row> {
    let mut row = Row::new(style);
    row.push("      ", Role::Plain, style);
    row.push(label, Role::Strong, style);
    let all = visible_cells(line, differs, style.charset());
    let first = all.iter().position(|cell| is_marked(cell, differs));
    let role_of = |cell: &Cell<'_>| match cell.is_hidden {
        true => Role::Hidden,
        false if is_marked(cell, differs) => Role::Caution,
        false => Role::Plain,
    };
    let mut under = Row::new(style);
    under.push(&" ".repeat(style.width.saturating_sub(row.room())), Role::Plain, style);
    let window = push_cut(&mut row, &all, role_of, first.map(|first| first..first + 1), style);
    if window.start > 0 {
        under.push(&" ".repeat(style.glyphs().ellipsis.chars().count()), Role::Plain, style);
    }
    let carets = carets(&all[window], differs);
    if carets.is_empty() {
        return vec![row];
    }
    under.push(&carets, Role::Caution, style);
    vec![row, under]
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

/// Returns a label and a message; the lines after the first are indented further.
fn indented(indent: &str, label: (&str, Role), (text, role): (&str, Role), style: &Style) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut prose = Prose::new().with(indent, Role::Plain).with(label.0, label.1);
    for (at, line) in message_lines(text, style.glyphs().ellipsis).into_iter().enumerate() {
        if at > 0 {
            rows.extend(wrap(&prose, indent.len() + 2, style));
            prose = Prose::new().with(format!("{indent}  "), Role::Plain);
        }
        prose.push(line, role);
    }
    rows.extend(wrap(&prose, indent.len() + 2, style));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::row::write_rows;
    use crate::report::Code;
    use crate::report::Nearest;

    fn shown(rows: &[Row], style: &Style) -> String {
        let mut out = Vec::new();
        write_rows(&mut out, rows.to_vec(), style).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// The rows of a problem of which only the nearest place is said.
    fn nearest_rows(nearest: Nearest, style: &Style) -> Vec<Row> {
        let problem = Problem { nearest: Some(nearest), ..Problem::new(Code::HunkNotFound, "") };
        problem_rows(&problem, Linker::new(style.links, None), style).split_off(1)
    }

    fn nearest_text(expected: &str, found: &str, width: usize) -> String {
        let (expected, found) = (expected.to_string(), Some(found.to_string()));
        let style = Style::plain(width);
        shown(&nearest_rows(Nearest { line: 1, expected, found, cause: "c".to_string() }, &style), &style)
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
    fn the_first_difference_stays_in_view() {
        let lead = "x".repeat(200);
        let nearest = Nearest {
            line: 1,
            expected: format!("{lead} old"),
            found: Some(format!("{lead} new")),
            cause: "one word".to_string(),
        };
        let style = Style::plain(50);
        let text = shown(&nearest_rows(nearest.clone(), &style), &style);
        assert!(text.contains(" old\n") && text.contains(" new\n"), "{text}");
        let carets: Vec<usize> = text.lines().filter_map(|row| row.find('^')).collect();
        assert_eq!(carets, [47, 47], "the ends of the rows: {text}");
        let end = Nearest { found: None, ..nearest };
        assert!(shown(&nearest_rows(end, &style), &style).contains("found:    the end of the file\n"));
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
