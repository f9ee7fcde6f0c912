//! What is wrong, in words: the same on a terminal and on a page.

use std::borrow::Cow;
use std::ops::Range;

use super::escape::Cell;
use super::escape::Charset;
use super::escape::Place;
use super::escape::cells;
use super::view::CardView;
use super::view::ELLIPSIS;
use super::view::message_lines;
use crate::diff::words::Emphasis;
use crate::diff::words::emphasis;
use crate::report::ErrorReport;
use crate::report::Nearest;
use crate::report::Problem;

/// How far what belongs to a problem is indented.
const INDENT: usize = 6;

/// One thing that is said of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said<'a> {
    /// What is wrong.
    Wrong(&'a str),
    /// Where.
    Where(Where<'a>),
    /// A label and words, indented by so many columns.
    Labelled(usize, &'static str, Cow<'a, str>),
    /// A label and a line, with the byte ranges of it that differ from another.
    Line(&'static str, &'a str, Emphasis),
}

/// Where something is wrong, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Where<'a> {
    /// The file.
    pub(super) path: Option<&'a str>,
    /// 1-based line of the file.
    pub(super) line: Option<usize>,
    /// `hunk 2`, `patch line 12`.
    pub(super) rest: Vec<String>,
}

impl Where<'_> {
    /// Returns `path:line` and `, hunk 2, patch line 12`.
    pub(super) fn texts(&self) -> (String, String) {
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        let file = self.path.map_or_else(String::new, |path| format!("{path}{line}"));
        let comma = if file.is_empty() || self.rest.is_empty() { "" } else { ", " };
        (file, format!("{comma}{}", self.rest.join(", ")))
    }
}

/// Returns what a page says above the files of a card: why it failed, and what does not fit. Still to be escaped.
pub(super) fn card_lines(view: &CardView<'_>) -> Vec<String> {
    let mut lines = match (view.error, view.message) {
        (Some(error), _) => text_lines(&refusal(error)),
        (None, message) => message.map(|message| message_lines(message, ELLIPSIS)).unwrap_or_default(),
    };
    lines.extend(view.compared.iter().flat_map(|one| text_lines(&problem(one))));
    lines
}

/// Returns what is said of the error that a card has.
pub(super) fn refusal(report: &ErrorReport) -> Vec<Said<'_>> {
    let mut said = vec![Said::Wrong(&report.message)];
    said.extend(details(report));
    said.extend(report.hint.as_deref().map(|hint| Said::Labelled(2, "hint: ", Cow::Borrowed(hint))));
    said
}

/// Returns what is said of an error beside its summary and its hint.
pub(super) fn details(report: &ErrorReport) -> Vec<Said<'_>> {
    let mut said = Vec::new();
    for one in &report.problems {
        // With one problem the summary is its message, with the path before it where it lacks one: it is said once.
        let is_said = report.message.ends_with(one.message.as_str());
        said.extend((!is_said).then_some(Said::Wrong(&one.message)));
        said.extend(circumstances(one));
        said.extend(hint(one).filter(|_| one.hint != report.hint));
    }
    said
}

/// Returns what is said of one problem.
pub(super) fn problem(problem: &Problem) -> Vec<Said<'_>> {
    let mut said = vec![Said::Wrong(&problem.message)];
    said.extend(circumstances(problem));
    said.extend(hint(problem));
    said
}

fn hint(problem: &Problem) -> Option<Said<'_>> {
    problem.hint.as_deref().map(|hint| Said::Labelled(INDENT, "hint: ", Cow::Borrowed(hint)))
}

fn circumstances(problem: &Problem) -> Vec<Said<'_>> {
    let mut said = Vec::new();
    let place = place(problem);
    if place.path.is_some() || !place.rest.is_empty() {
        said.push(Said::Where(place));
    }
    said.extend(problem.nearest.iter().flat_map(nearest));
    if !problem.candidates.is_empty() {
        let lines: Vec<String> = problem.candidates.iter().map(|place| place.line.to_string()).collect();
        let label = if lines.len() == 1 { "fits at line " } else { "fits at lines " };
        said.push(Said::Labelled(INDENT, label, Cow::Owned(lines.join(", "))));
    }
    said
}

fn place(problem: &Problem) -> Where<'_> {
    let mut rest = Vec::new();
    match (problem.edit, problem.hunk) {
        (Some(edit), Some(hunk)) => rest.push(format!("file edit {edit}, hunk {hunk}")),
        (Some(edit), None) => rest.push(format!("file edit {edit}")),
        (None, Some(hunk)) => rest.push(format!("hunk {hunk}")),
        (None, None) => {}
    }
    rest.extend(problem.line.map(|line| format!("patch line {line}")));
    let line = problem.nearest.as_ref().map(|nearest| nearest.line);
    Where { path: problem.path.as_deref(), line, rest }
}

fn nearest(nearest: &Nearest) -> Vec<Said<'_>> {
    let found = nearest.found.as_deref();
    let (expected_differs, found_differs) = differences(&nearest.expected, found.unwrap_or_default());
    let mut said = vec![Said::Line("expected: ", &nearest.expected, expected_differs)];
    said.push(match found {
        Some(found) => Said::Line("found:    ", found, found_differs),
        None => Said::Labelled(INDENT, "found:    ", Cow::Borrowed("the end of the file")),
    });
    said.push(Said::Labelled(INDENT, "cause: ", Cow::Borrowed(&nearest.cause)));
    said
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

/// Tells whether a cell stands for any byte of the ranges.
pub(super) fn is_marked(cell: &Cell<'_>, ranges: &[Range<usize>]) -> bool {
    ranges.iter().any(|range| cell.source.start < range.end && range.start < cell.source.end)
}

/// Returns a row of carets under the cells that are marked; empty if none is.
pub(super) fn carets(seen: &[Cell<'_>], differs: &[Range<usize>]) -> String {
    let end = seen.iter().rposition(|cell| is_marked(cell, differs)).map_or(0, |last| last + 1);
    let caret = |cell: &Cell<'_>| if is_marked(cell, differs) { "^" } else { " " }.repeat(cell.columns);
    seen[..end].iter().map(caret).collect()
}

/// Shows blanks where they can't be told apart or not be seen: tabs, blanks at both ends and in what differs, blanks that
/// are not ASCII.
pub(super) fn visible_cells<'a>(line: &'a str, differs: &[Range<usize>], charset: Charset) -> Vec<Cell<'a>> {
    let (space, tab) = match charset {
        Charset::Unicode => ("\u{b7}", "\u{2192}"),
        Charset::Ascii => (".", "\\t"),
    };
    let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
    let end = line.trim_end_matches([' ', '\t', '\r']).len();
    let mut all = cells(line, Place::Name, charset);
    for cell in &mut all {
        let shown = match &line[cell.source.clone()] {
            "\t" => Cow::Borrowed(tab),
            " " if cell.source.start < indent || cell.source.start >= end || is_marked(cell, differs) => {
                Cow::Borrowed(space)
            }
            " " => continue,
            other if other.trim().is_empty() && !cell.is_hidden && charset == Charset::Unicode => {
                let name = |scalar: char| format!("\u{27e8}U+{:04X}\u{27e9}", u32::from(scalar));
                Cow::Owned(other.chars().map(name).collect())
            }
            _ => continue,
        };
        cell.columns = shown.chars().count();
        cell.text = shown;
        cell.is_hidden = false;
    }
    all
}

/// Returns what is said as lines of text, for a page. They still have to be escaped.
fn text_lines(said: &[Said<'_>]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut push = |indent: usize, label: &str, text: &str| {
        let (first, rest) = (" ".repeat(indent), " ".repeat(indent + 2));
        for (at, line) in message_lines(text, ELLIPSIS).into_iter().enumerate() {
            lines.push(if at == 0 { format!("{first}{label}{line}") } else { format!("{rest}{line}") });
        }
    };
    for one in said {
        match one {
            Said::Wrong(message) => push(0, "", message),
            Said::Where(place) => {
                let (file, rest) = place.texts();
                push(0, "--> ", &format!("{file}{rest}"));
            }
            Said::Labelled(indent, label, text) => push(indent.saturating_sub(2), label, text),
            Said::Line(label, line, differs) => {
                let seen = visible_cells(line, differs, Charset::Unicode);
                push(INDENT - 2, label, &seen.iter().map(|cell| cell.text.as_ref()).collect::<String>());
                let carets = carets(&seen, differs);
                if !carets.is_empty() {
                    push(INDENT - 2 + label.len(), "", &carets);
                }
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Code;

    fn visible(line: &str, differs: &[Range<usize>], charset: Charset) -> String {
        visible_cells(line, differs, charset).iter().map(|cell| cell.text.as_ref()).collect()
    }

    #[test]
    fn blanks_that_could_be_mistaken_are_shown() {
        assert_eq!(
            visible("  a b\t\u{a0}c \r", &[], Charset::Unicode),
            "\u{b7}\u{b7}a b\u{2192}\u{27e8}U+00A0\u{27e9}c\u{b7}\u{240d}"
        );
        let differs = 1..3;
        assert_eq!(visible("a  b c", std::slice::from_ref(&differs), Charset::Unicode), "a\u{b7}\u{b7}b c");
        assert_eq!(visible(" \ta ", &[], Charset::Ascii), ".\\ta.");
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
    fn a_page_has_the_same_lines_as_a_terminal() {
        let mut problem = Problem::new(Code::HunkNotFound, "not there").with_path("a.rs").with_hint("look");
        let (expected, found) = ("  old".to_string(), Some("\told".to_string()));
        problem.nearest = Some(Nearest { line: 7, expected, found, cause: "a tab".to_string() });
        let report = ErrorReport {
            code: problem.code,
            message: problem.message.clone(),
            hint: problem.hint.clone(),
            problems: vec![problem],
        };
        let lines = [
            "not there",
            "--> a.rs:7",
            "    expected: \u{b7}\u{b7}old",
            "              ^^",
            "    found:    \u{2192}old",
            "              ^",
            "    cause: a tab",
            "hint: look",
        ];
        assert_eq!(text_lines(&refusal(&report)), lines);
    }
}
