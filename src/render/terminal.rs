//! Cards, previews, outcomes and errors for a terminal.
//!
//! Every row is escaped and no wider than the style says. Words, signs and colours say the same: taking the colours
//! away leaves the same text. Long lines of files are cut around their change; all other text is broken, never cut.

use std::io;
use std::io::Write;
use std::ops::Range;

use super::body;
use super::body::Tint;
use super::body::Which;
use super::lines::FileLines;
use super::lines::Gap;
use super::links::Linker;
use super::links::Target;
use super::moved;
use super::outcome::outcome_view;
use super::problem::labelled;
use super::problem::problem_rows;
use super::problem::refusal_rows;
use super::problem::report_rows;
use super::row::Prose;
use super::row::Row;
use super::row::Rows;
use super::row::Writer;
use super::row::wrap;
use super::row::write_rows;
use super::style::Role;
use super::style::Style;
use super::syntax;
use super::syntax::Syntax;
use super::view::CardView;
use super::view::Counts;
use super::view::FileView;
use super::view::Tone;
use super::view::card_view;
use super::view::message_lines;
use super::view::named_at;
use super::view::operation_word;
use super::view::total;
use crate::diff::hunks::Sign;
use crate::report::Card;
use crate::report::ErrorReport;
use crate::report::Operation;
use crate::report::Outcome;
use crate::report::Placement;
use crate::report::PreviewEvent;
use crate::report::PreviewFile;

/// How many bytes of lines of a preview are coloured by syntax.
const LIMIT_FRAME_SYNTAX_BYTES: usize = 16 << 10;

/// Draws the card of one call.
///
/// A failed or rejected call has its reason and no hunks. Returns how much may be coloured by syntax in what is drawn
/// after it.
///
/// # Errors
/// What the writer says.
pub fn card(out: &mut dyn Write, card: &Card, style: &Style) -> io::Result<Syntax> {
    let view = card_view(card, style.glyphs().arrow);
    let mut rows = Writer::new(out, style);
    let left = view_rows(&view, card.source.folder.as_deref(), style, &mut rows);
    rows.finish().map(|()| left)
}

/// Draws one preview event as the whole frame of its call; with `max_rows` no more rows than that, the newest.
///
/// # Errors
/// What the writer says.
pub fn preview(
    out: &mut dyn Write,
    event: &PreviewEvent,
    style: &Style,
    max_rows: Option<usize>,
) -> io::Result<()> {
    let rows = match event {
        PreviewEvent::Preview { call_id, files, .. } => preview_rows(call_id.as_deref(), files, style),
        PreviewEvent::Finish { call_id, ok, fits, error, .. } => {
            let (word, role) = match (ok, fits) {
                (false, _) => ("malformed", Role::Bad),
                (true, Some(false)) => ("does not fit the files", Role::Bad),
                (true, Some(true)) => ("complete, fits the files", Role::Good),
                (true, None) => ("complete, not compared with the files", Role::Caution),
            };
            let details = call_id.iter().cloned().collect();
            let mut rows = Header {
                title: "preview",
                path: None,
                link: None,
                counts: (None, None),
                word,
                role,
                details,
            }
            .rows(style);
            rows.extend(error.iter().flat_map(|error| report_rows(error, style)));
            rows
        }
    };
    write_rows(out, newest(rows, max_rows, style), style)
}

/// Draws what a command did, file by file as a card does.
///
/// Of a refused one only that nothing was written; its reasons are drawn by [`error`].
///
/// # Errors
/// What the writer says.
pub fn outcome(out: &mut dyn Write, outcome: &Outcome, style: &Style) -> io::Result<()> {
    let mut rows = Writer::new(out, style);
    view_rows(&outcome_view(outcome, style.glyphs().arrow), None, style, &mut rows);
    rows.finish()
}

/// `folder` is where relative paths start, if the card says so. Returns how much may be coloured by syntax after it.
fn view_rows(view: &CardView<'_>, folder: Option<&str>, style: &Style, rows: &mut dyn Rows) -> Syntax {
    let CardView { title, word, tone, counts, details, .. } = view;
    let role = match tone {
        Tone::Neutral => Role::Strong,
        tone => role_of(*tone),
    };
    let linker = Linker::new(style.links, folder);
    let mut lines = moved::lines_of(&view.files, style.emphasis(), style.crew);
    let (path, link) = match (view.files.as_slice(), lines.as_slice()) {
        ([file], [lines]) => (named_at(title, file.path), link_of(file, lines, linker)),
        _ => (None, None),
    };
    let header = Header { title, path, link, counts: *counts, word, role, details: details.clone() };
    rows.append(header.rows(style));
    if let Some(error) = view.error {
        rows.append(refusal_rows(error, linker, style));
    } else if let Some(message) = view.message {
        let role = if view.is_refused { Role::Bad } else { Role::Dim };
        for line in message_lines(message, style.glyphs().ellipsis) {
            rows.append(wrap(&Prose::new().with("  ", role).with(line, role), 2, style));
        }
    }
    for problem in view.compared {
        rows.append(problem_rows(problem, linker, style));
    }
    let paths: Vec<&str> = view.files.iter().map(|file| file.path).collect();
    let left = syntax::mark(&mut lines, &paths, style.max_lines, style.syntax());
    for (own, (file, lines)) in view.files.iter().zip(&lines).enumerate() {
        rows.append(heading_rows(file, link_of(file, lines, linker), style));
        let tint = if file.is_undone { Tint::None } else { Tint::Changed };
        body::rows(lines, Which { paths: &paths, own, linker }, tint, style, rows);
    }
    left
}

fn role_of(tone: Tone) -> Role {
    match tone {
        Tone::Neutral => Role::Dim,
        Tone::Good => Role::Good,
        Tone::Bad => Role::Bad,
        Tone::Caution => Role::Caution,
    }
}

/// Returns what a file's name leads to: the file, at its first changed line. One that is gone is nowhere.
fn link_of(file: &FileView<'_>, lines: &FileLines<'_>, linker: Linker<'_>) -> Option<Target> {
    if file.operation == Operation::Delete && !file.is_undone {
        return None;
    }
    let first = lines.lines().find(|line| line.kind != Sign::Context);
    linker.target(file.path, first.and_then(|line| line.new_number.or(line.old_number)))
}

/// Returns the rows above a file's hunks: its name, unless the header has it, and its remarks.
fn heading_rows(file: &FileView<'_>, link: Option<Target>, style: &Style) -> Vec<Row> {
    let mut rows = Vec::new();
    if !file.is_named {
        let mut prose = Prose::new().with("  ", Role::Plain).with(operation_word(file.operation), Role::Dim);
        prose.push(" ", Role::Plain);
        if let Some(from) = file.from {
            prose.push(format!("{from} {} ", style.glyphs().arrow), Role::Strong);
        }
        prose.push_link(file.path, Role::Strong, link);
        push_counts(&mut prose, file.counts);
        if let Some((word, tone)) = file.word {
            prose.push("  ", Role::Plain);
            prose.push(word, role_of(tone));
        }
        rows.extend(wrap(&prose, 4, style));
    }
    let indent = if file.is_named { "  " } else { "    " };
    for remark in &file.remarks {
        let prose = Prose::new().with(indent, Role::Plain).with(&remark.text, Role::Caution);
        rows.extend(wrap(&prose, indent.len() + 2, style));
    }
    rows
}

/// Draws an error with all its problems, for stderr.
///
/// # Errors
/// What the writer says.
pub fn error(out: &mut dyn Write, report: &ErrorReport, style: &Style) -> io::Result<()> {
    write_rows(out, report_rows(report, style), style)
}

/// Draws one note, for stderr.
///
/// # Errors
/// What the writer says.
pub fn note(out: &mut dyn Write, text: &str, style: &Style) -> io::Result<()> {
    write_rows(out, labelled("note: ", Role::Caution, text, style), style)
}

/// The first row of a card: `● edit src/calc.rs  +2 -2  applied  turn 4`; an empty word is left out.
struct Header<'a> {
    title: &'a str,
    /// Which bytes of the title are a path, and what it leads to.
    path: Option<Range<usize>>,
    link: Option<Target>,
    counts: Counts,
    word: &'static str,
    role: Role,
    details: Vec<String>,
}

impl Header<'_> {
    fn rows(&self, style: &Style) -> Vec<Row> {
        let glyphs = style.glyphs();
        let mut prose = Prose::new().with(glyphs.bullet, self.role).with(" ", Role::Plain);
        let range = self.path.clone().unwrap_or(0..0);
        prose.push(&self.title[..range.start], Role::Strong);
        prose.push_link(&self.title[range.clone()], Role::Strong, self.link.clone());
        prose.push(&self.title[range.end..], Role::Strong);
        push_counts(&mut prose, self.counts);
        if !self.word.is_empty() {
            prose.push("  ", Role::Plain);
            prose.push(self.word, self.role);
        }
        if !self.details.is_empty() {
            prose.push("  ", Role::Plain);
            prose.push(self.details.join(&format!(" {} ", glyphs.dot)), Role::Dim);
        }
        wrap(&prose, 2, style)
    }
}

fn push_counts(prose: &mut Prose, (added, removed): Counts) {
    if (added, removed) == (Some(0), Some(0)) {
        return;
    }
    for (count, sign, role) in [(added, "+", Role::Good), (removed, "-", Role::Bad)] {
        if let Some(count) = count {
            prose.push(if sign == "+" || added.is_none() { "  " } else { " " }, Role::Plain);
            prose.push(format!("{sign}{count}"), role);
        }
    }
}

fn preview_rows(call_id: Option<&str>, files: &[PreviewFile], style: &Style) -> Vec<Row> {
    let title = match files.len() {
        1 => "preview".to_string(),
        count => format!("preview {count} files"),
    };
    let counts = if files.len() == 1 {
        (None, None)
    } else {
        total(files.iter().map(|file| (Some(file.added), Some(file.removed))))
    };
    let details = call_id.map(str::to_string).into_iter().collect();
    let mut rows = Header {
        title: &title,
        path: None,
        link: None,
        counts,
        word: "tentative",
        role: Role::Caution,
        details,
    }
    .rows(style);
    // A frame is drawn anew for every change of it.
    let mut left = style.syntax().at_most(LIMIT_FRAME_SYNTAX_BYTES);
    for file in files {
        let is_bad = !matches!(file.placement, Placement::Unknown | Placement::Located);
        let view = FileView {
            from: file.from.as_deref(),
            counts: (Some(file.added), Some(file.removed)),
            word: Some(placement_word(file.placement, file.complete)),
            diffs: file.diffs.iter().collect(),
            ..FileView::new(&file.path, file.operation)
        }
        .remarked(style.glyphs().arrow);
        let tint = if is_bad { Tint::None } else { Tint::Changed };
        let mut lines = [FileLines::of(&view.diffs, style.emphasis(), style.crew)];
        left = syntax::mark(&mut lines, &[file.path.as_str()], style.max_lines, left);
        let [mut lines] = lines;
        let linker = Linker::new(style.links, None);
        rows.extend(heading_rows(&view, link_of(&view, &lines, linker), style));
        // A problem of a hunk stands above it. What a file asks for is drawn hunk by hunk as long as it does not fit.
        let hunk = file.problem.as_ref().and_then(|problem| problem.hunk).filter(|_| is_bad);
        let before = hunk.map_or(0, |hunk| hunk - 1);
        let mut rest = lines.hunks.split_off(before.min(lines.hunks.len()));
        let no_syntax = lines.no_syntax.take();
        let which = Which { paths: &[], own: 0, linker };
        body::rows(&lines, which, tint, style, &mut rows);
        rows.extend(file.problem.iter().flat_map(|problem| problem_rows(problem, linker, style)));
        rest.iter_mut().take(usize::from(before > 0)).for_each(|first| first.gap = Gap::None);
        body::rows(&FileLines { hunks: rest, no_syntax }, which, tint, style, &mut rows);
    }
    rows
}

fn placement_word(placement: Placement, is_complete: bool) -> (&'static str, Tone) {
    match (placement, is_complete) {
        (Placement::Unknown, true) => ("unknown", Tone::Neutral),
        (Placement::Unknown, false) => ("unknown so far", Tone::Neutral),
        (Placement::Located, true) => ("located", Tone::Good),
        (Placement::Located, false) => ("located so far", Tone::Good),
        (Placement::Missing, _) => ("missing", Tone::Bad),
        (Placement::Ambiguous, _) => ("ambiguous", Tone::Bad),
        (Placement::Exists, _) => ("exists", Tone::Bad),
        (Placement::Refused, _) => ("refused", Tone::Bad),
    }
}

/// Keeps the first row and as many of the last as fit, and says how many are not shown.
fn newest(mut rows: Vec<Row>, max_rows: Option<usize>, style: &Style) -> Vec<Row> {
    let Some(max_rows) = max_rows.filter(|&max_rows| rows.len() > max_rows) else { return rows };
    if max_rows < 3 {
        return rows.split_off(rows.len() - max_rows);
    }
    let newest = rows.split_off(rows.len() - (max_rows - 2));
    let above = rows.len() - 1;
    rows.truncate(1);
    let text = format!("  {} {above} lines above", style.glyphs().ellipsis);
    let mut row = Row::new(style);
    row.push(&text, Role::Dim, style);
    rows.push(row);
    rows.extend(newest);
    rows
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr;

    use super::*;
    use crate::render::links::LinkFormat;
    use crate::render::links::Links;
    use crate::render::sample;
    use crate::render::style::Color;
    use crate::render::view::names;
    use crate::report::Candidate;
    use crate::report::CardFile;
    use crate::report::CardStatus;
    use crate::report::Change;
    use crate::report::Code;
    use crate::report::CommandName;
    use crate::report::DiffNote;
    use crate::report::EolName;
    use crate::report::FileDiff;

    use crate::report::FileOutcome;
    use crate::report::HunkMatch;
    use crate::report::Nearest;
    use crate::report::Opaque;
    use crate::report::OutcomeSchema;
    use crate::report::PreviewSchema;
    use crate::report::Problem;
    use crate::report::Recorded;
    use crate::report::Rung;

    /// Something that can be drawn, with what draws it.
    type Draw<'a> = &'a dyn Fn(&mut dyn Write, &Style) -> io::Result<()>;

    fn shown(draw: Draw<'_>, style: &Style) -> String {
        let mut out = Vec::new();
        draw(&mut out, style).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn card_text(value: &Card, style: &Style) -> String {
        shown(&|out, style| card(out, value, style).map(drop), style)
    }

    /// Takes the colours away as a terminal would.
    fn without_colors(text: &str) -> String {
        let mut kept = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("\u{1b}[") {
            kept.push_str(&rest[..at]);
            let end = rest[at + 2..].find(|last: char| last.is_ascii_alphabetic()).unwrap();
            rest = &rest[at + 2 + end + 1..];
        }
        kept + rest
    }

    fn calc() -> Card {
        let counted =
            CardFile { added: Some(2), removed: Some(1), ..sample::file("src/calc.rs", Operation::Update) };
        let first = sample::hunk(
            "src/calc.rs",
            (3, &["/// Adds.", "fn add(a: i32) {", "\ta + 1"]),
            (3, &["/// Adds.", "fn add(a: i64) {", "\ta + 1"]),
        );
        let second = sample::hunk("src/calc.rs", (18, &["x", "y"]), (18, &["x", "new", "y"]));
        let mut value = sample::card(vec![counted], vec![first, second]);
        value.title = "edit src/calc.rs".to_string();
        value.source.turn = Some(4);
        value
    }

    #[test]
    fn a_card_at_every_width() {
        let wide = [
            "\u{25cf} edit src/calc.rs  +2 -1  applied  turn 4",
            "   3  3 \u{2502}   /// Adds.",
            "   4    \u{2502} - fn add(a: i32) {",
            "      4 \u{2502} + fn add(a: i64) {",
            "   5  5 \u{2502}       a + 1",
            "  \u{22ee} 12 unchanged lines",
            "  18 18 \u{2502}   x",
            "     19 \u{2502} + new",
            "  19 20 \u{2502}   y",
            "",
        ];
        for width in [60, 80, 160] {
            assert_eq!(card_text(&calc(), &Style::plain(width)), wide.join("\n"), "{width}");
        }
        let narrow = [
            "\u{25cf} edit src/calc.rs  +2 -1",
            "  applied  turn 4",
            "   3 \u{2502}   /// Adds.",
            "   4 \u{2502} - fn add(a: i32) {",
            "   4 \u{2502} + fn add(a: i64) {",
            "   5 \u{2502}       a + 1",
            "  \u{22ee} 12 unchanged lines",
            "  18 \u{2502}   x",
            "  19 \u{2502} + new",
            "  20 \u{2502}   y",
            "",
        ];
        assert_eq!(card_text(&calc(), &Style::plain(30)), narrow.join("\n"));
        assert!(
            card_text(&calc(), &Style::plain(29))
                .contains("\n- fn add(a: i32) {\n+ fn add(a: i64) {\n      a + 1\n")
        );
    }

    #[test]
    fn a_path_is_named_only_as_a_whole() {
        assert!(names("edit src/a.rs", "src/a.rs") && names("Update(src/a.rs)", "src/a.rs"));
        assert!(!names("edit src/a.rs", "a.rs") && !names("patch", "a") && !names("x", ""));
        let mut value = sample::card(vec![sample::file("a", Operation::Create)], vec![]);
        value.title = "patch".to_string();
        assert_eq!(card_text(&value, &Style::plain(60)), "\u{25cf} patch  applied\n  create a\n");
    }

    #[test]
    fn colours_show_lines_and_words() {
        let style = Style { color: Color::Ansi16, ..Style::plain(80) };
        let text = card_text(&calc(), &style).replace('\u{1b}', "\u{241b}");
        assert!(text.contains("\u{241b}[32m+ new\u{241b}[0m\n"), "{text}");
        assert!(text.contains("\u{241b}[31m- fn add(a: "), "{text}");
        assert!(text.contains("\u{241b}[32;1;4m"), "the changed word: {text}");
        let filled = card_text(&calc(), &Style { color: Color::Ansi256, ..style });
        assert!(filled.contains("\u{1b}[K"), "{filled:?}");
        let mut screen = vt100::Parser::new(NonZero::new(20).unwrap(), NonZero::new(80).unwrap(), 0);
        screen.process(filled.replace('\n', "\r\n").as_bytes());
        assert_eq!(screen.screen().contents(), card_text(&calc(), &Style::plain(80)).trim_end());
        let cell = screen.screen().cell(7, 79).unwrap();
        assert_eq!(cell.bgcolor(), vt100::Color::Idx(22), "the tint reaches the end of the row");
    }

    #[test]
    fn what_failed_has_its_reason_and_nothing_looks_done() {
        for (status, word) in [(CardStatus::Failed, "failed"), (CardStatus::Rejected, "rejected")] {
            let mut value = calc();
            (value.status, value.message) = (status, Some("not found:\n  x\u{1b}[2J".to_string()));
            let plain = card_text(&value, &Style::plain(60));
            let expected =
                format!("\u{25cf} edit src/calc.rs  {word}  turn 4\n  not found:\n    x\u{241b}[2J\n");
            assert_eq!(plain, expected);
            value.requested = std::mem::take(&mut value.diffs);
            let plain = card_text(&value, &Style::plain(60));
            let asked = "  as requested, not applied";
            assert!(plain.contains(asked) && plain.contains("+ fn add(a: i64) {\n"), "{plain}");
            let colored = card_text(&value, &Style { color: Color::Ansi16, ..Style::plain(60) });
            assert!(!colored.contains("[32"), "no green: {colored:?}");
            value.error = Some(report());
            let plain = card_text(&value, &Style::plain(60));
            assert!(plain.contains("\n  2 hunks do not fit\n  hunk 2 stands nowhere\n"), "{plain}");
            assert!(!plain.contains("not found:"), "the same is not said twice: {plain}");
            let colored = card_text(&value, &Style { color: Color::Ansi16, ..Style::plain(60) });
            assert!(!colored.contains("[32"), "no green: {colored:?}");
        }
        let mut held = calc();
        held.status = CardStatus::Held;
        assert!(card_text(&held, &Style::plain(60)).contains("held for review"));
    }

    #[test]
    fn files_of_one_call_have_their_own_lines() {
        let mut renamed = sample::file("b", Operation::Rename);
        renamed.from = Some("a".to_string());
        let mut created =
            CardFile { added: Some(4), removed: Some(0), ..sample::file("new", Operation::Create) };
        created.mode = Some(Change { before: None, after: Some("100755".to_string()) });
        let mut failed = sample::file("f", Operation::Update);
        failed.status = Some(CardStatus::Failed);
        let mut request = sample::file("r", Operation::Update);
        request.recorded = Recorded::Request;
        let mut unread = sample::file("p", Operation::Update);
        unread.recorded = Recorded::Path;
        let raw = FileDiff { path: "r".to_string(), new_text: "x".to_string(), ..FileDiff::default() };
        let whole = sample::hunk("new", (1, &[]), (1, &["1", "2", "3", "4"]));
        let mut same = sample::hunk("z", (1, &["end"]), (1, &["end"]));
        (same.old_no_newline, same.notes) = (true, vec![DiffNote::FinalNewline]);
        let mut value = sample::card(vec![renamed, created, failed, request, unread], vec![raw, whole, same]);
        (value.title, value.status) = ("patch 5 files".to_string(), CardStatus::Partial);
        let style = Style { max_lines: Some(2), ..Style::plain(60) };
        let expected = [
            "\u{25cf} patch 5 files  partly applied",
            "  rename a \u{2192} b",
            "  create new  +4 -0",
            "    mode 100755",
            "      1 \u{2502} + 1",
            "      2 \u{2502} + 2",
            "  \u{2026} 2 more lines",
            "  update f  failed",
            "  update r",
            "    as requested, no line numbers",
            "  \u{2502} + x",
            "  update p",
            "    content not recorded",
            "  update z",
            "    final newline added",
        ];
        let text = card_text(&value, &style);
        assert_eq!(text.lines().take(expected.len()).collect::<Vec<_>>(), expected, "{text}");
    }

    fn changed_file() -> FileOutcome {
        FileOutcome {
            path: "src/calc.rs".to_string(),
            operation: Operation::Update,
            from: None,
            before: None,
            after: None,
            opaque: None,
            before_sha256: None,
            after_sha256: None,
            encoding: "utf-8".to_string(),
            encoding_guessed: false,
            encoding_before: None,
            eol: Change { before: None, after: None },
            bom: Change::default(),
            final_newline: Change::default(),
            mode: Change::default(),
            replacements: None,
            hard_links: None,
            no_undo: None,
            added: 2,
            removed: 1,
            diffs: calc().diffs,
            matches: Vec::new(),
        }
    }

    fn outcome_of(ok: bool, check: bool, files: Vec<FileOutcome>) -> Outcome {
        let command = CommandName::Apply;
        Outcome {
            schema: OutcomeSchema::V1,
            ok,
            command,
            check,
            call_id: None,
            undoes: Vec::new(),
            files,
            error: None,
        }
    }

    fn outcome_text(value: &Outcome, style: &Style) -> String {
        shown(&|out, style| outcome(out, value, style), style)
    }

    #[test]
    fn an_outcome_draws_its_hunks_as_a_card_does() {
        for width in [20, 40, 80] {
            let style = Style { color: Color::Ansi256, ..Style::plain(width) };
            let rows = |text: String| {
                text.lines().skip_while(|row| !row.contains("Adds.")).map(String::from).collect()
            };
            let drawn: Vec<String> =
                rows(outcome_text(&outcome_of(true, false, vec![changed_file()]), &style));
            let replayed: Vec<String> = rows(card_text(&calc(), &style));
            assert_eq!(drawn, replayed);
            assert!(drawn.len() >= 8);
        }
    }

    #[test]
    fn an_outcome_says_what_hunks_can_not_show() {
        let file = FileOutcome {
            eol: Change { before: Some(EolName::Crlf), after: Some(EolName::Lf) },
            bom: Change { before: Some(true), after: Some(false) },
            final_newline: Change { before: Some(false), after: Some(true) },
            mode: Change { before: Some("100644".to_string()), after: Some("100755".to_string()) },
            opaque: Some(Opaque::Binary),
            after_sha256: Some("0123456789abcdef".to_string()),
            hard_links: Some(1),
            replacements: Some(3),
            diffs: Vec::new(),
            matches: vec![
                HunkMatch { edit: 1, hunk: 1, rung: Rung::Indentation, old_start: 9, offset_lines: 3 },
                HunkMatch { edit: 1, hunk: 2, rung: Rung::Exact, old_start: 9, offset_lines: 0 },
                HunkMatch { edit: 1, hunk: 3, rung: Rung::Exact, old_start: 9, offset_lines: -1 },
                HunkMatch { edit: 1, hunk: 4, rung: Rung::Exact, old_start: 9, offset_lines: -1 },
            ],
            ..changed_file()
        };
        let expected = [
            "\u{25cf} apply src/calc.rs  +2 -1  would be applied, nothing was written",
            "  line endings CRLF \u{2192} LF",
            "  BOM (byte order mark) removed",
            "  final newline added",
            "  mode 100644 \u{2192} 100755",
            "  binary, not shown: sha256 absent \u{2192} 0123456789ab",
            "  3 replacements",
            "  1 other hard link still has the old content",
            "  hunk 1 matched: indentation, 3 lines below the stated line",
            "  hunks 3, 4 matched: 1 line above the stated line",
            "",
        ];
        assert_eq!(outcome_text(&outcome_of(true, true, vec![file]), &Style::plain(80)), expected.join("\n"));
        let refused = outcome_text(&outcome_of(false, false, vec![]), &Style::plain(80));
        assert_eq!(refused, "\u{25cf} apply  refused, nothing was written\n");
    }

    fn missing() -> Problem {
        let mut problem = Problem::new(Code::HunkNotFound, "hunk 2 stands nowhere").with_path("a.rs");
        (problem.hunk, problem.line) = (Some(2), Some(14));
        let (expected, found) = ("    let x = 1; ".to_string(), Some("\tlet x = 1;".to_string()));
        problem.nearest = Some(Nearest { line: 41, expected, found, cause: "blanks, not a tab".to_string() });
        problem
    }

    fn report() -> ErrorReport {
        let mut ambiguous = Problem::new(Code::Ambiguous, "hunk 3 fits 3 places").with_hint("add context");
        ambiguous.candidates = [3, 18, 40].map(|line| Candidate { line }).to_vec();
        ErrorReport {
            code: Code::HunkNotFound,
            message: "2 hunks do not fit".to_string(),
            hint: Some("read the file again".to_string()),
            problems: vec![missing(), ambiguous],
        }
    }

    #[test]
    fn an_error_lists_every_problem() {
        let expected = [
            "error: 2 hunks do not fit",
            "  hunk 2 stands nowhere",
            "  --> a.rs:41, hunk 2, patch line 14",
            "      expected: \u{b7}\u{b7}\u{b7}\u{b7}let x = 1;\u{b7}",
            "                ^^^^          ^",
            "      found:    \u{2192}let x = 1;",
            "                ^",
            "      cause: blanks, not a tab",
            "  hunk 3 fits 3 places",
            "      fits at lines 3, 18, 40",
            "      hint: add context",
            "hint: read the file again",
            "",
        ];
        let text = shown(&|out, style| error(out, &report(), style), &Style::plain(80));
        assert_eq!(text, expected.join("\n"));
        let text = shown(&|out, style| note(out, "a fence\nignored", style), &Style::plain(80));
        assert_eq!(text, "note: a fence\n  ignored\n");
    }

    fn frame() -> PreviewEvent {
        let file = |path: &str, placement, problem, diffs| PreviewFile {
            index: 0,
            path: path.to_string(),
            operation: Operation::Update,
            from: None,
            added: 1,
            removed: 1,
            complete: false,
            placement,
            problem,
            diffs,
        };
        let raw = FileDiff {
            path: "a.rs".to_string(),
            old_text: Some("one".to_string()),
            new_text: "two".to_string(),
            ..FileDiff::default()
        };
        let placed = sample::hunk("b.rs", (7, &["one"]), (7, &["two"]));
        PreviewEvent::Preview {
            schema: PreviewSchema::V1,
            seq: 0,
            call_id: Some("c1".to_string()),
            tentative: true,
            files: vec![
                file("b.rs", Placement::Located, None, vec![placed]),
                file("a.rs", Placement::Missing, Some(missing()), vec![raw]),
            ],
        }
    }

    #[test]
    fn a_preview_is_tentative_and_keeps_the_newest_rows() {
        let draw = |max_rows| {
            let text = shown(&|out, style| preview(out, &frame(), style, max_rows), &Style::plain(60));
            text.lines().map(String::from).collect::<Vec<_>>()
        };
        let whole = draw(None);
        assert_eq!(
            whole[..5],
            [
                "\u{25cf} preview 2 files  +2 -2  tentative  c1",
                "  update b.rs  +1 -1  located so far",
                "   7    \u{2502} - one",
                "      7 \u{2502} + two",
                "  update a.rs  +1 -1  missing",
            ]
        );
        let cut = draw(Some(5));
        assert_eq!(cut.len(), 5);
        assert_eq!(cut[0], whole[0]);
        assert_eq!(cut[1], format!("  \u{2026} {} lines above", whole.len() - 1 - 3));
        assert_eq!(cut[2..], whole[whole.len() - 3..]);
        for rows in 0..20 {
            assert_eq!(draw(Some(rows)).len(), rows.min(whole.len()));
        }
        let colored = Style { color: Color::Ansi16, ..Style::plain(60) };
        let text = shown(&|out, style| preview(out, &frame(), style, None), &colored);
        let after = text.split("missing").nth(1).unwrap();
        assert!(
            after.contains("+ two") && !after.contains("[32m+ two"),
            "no green where it does not fit: {after:?}"
        );
    }

    #[test]
    fn crlf_on_every_line_is_an_ending_and_elsewhere_is_shown() {
        let mut value = calc();
        value.diffs = vec![sample::hunk("src/calc.rs", (1, &["a\r", "b\r"]), (1, &["a\r", "c\r"]))];
        assert!(!card_text(&value, &Style::plain(80)).contains('\u{240d}'));
        value.diffs = vec![sample::hunk("src/calc.rs", (1, &["a\r"]), (1, &["a"]))];
        let text = card_text(&value, &Style::plain(80));
        assert!(text.contains("- a\u{240d}\n") && text.contains("+ a\n"), "{text}");
    }

    #[test]
    fn what_is_no_call_has_no_word() {
        let mut value = sample::card(vec![sample::file("run", Operation::Update)], vec![]);
        value.title = "update run".to_string();
        value.status = CardStatus::Unknown;
        value.source.call_id = None;
        assert_eq!(card_text(&value, &Style::plain(40)), "\u{25cf} update run\n");
    }

    #[test]
    fn a_long_line_shows_its_change() {
        let lead = "lorem ipsum ".repeat(20);
        let (old, new) = (format!("{lead}value_old;{lead}"), format!("{lead}value_new;{lead}"));
        let mut value = calc();
        value.diffs = vec![sample::hunk("src/calc.rs", (1, &[&old]), (1, &[&new]))];
        for width in [30, 60, 80, 160] {
            let text = card_text(&value, &Style::plain(width));
            assert!(text.contains("_old") && text.contains("_new"), "{width}: {text}");
        }
    }

    /// Takes links away as a terminal would; returns their targets.
    fn without_links(text: &str) -> (String, Vec<String>) {
        let (mut kept, mut targets) = (String::new(), Vec::new());
        let mut rest = text;
        while let Some((before, from)) = rest.split_once("\u{1b}]8;") {
            let (target, behind) = from.split_once("\u{1b}\\").unwrap();
            kept.push_str(before);
            if target == ";" {
                assert_eq!(targets.len() % 2, 1, "a link ends that never began: {text:?}");
            }
            targets.push(target.to_string());
            rest = behind;
        }
        assert_eq!(targets.len() % 2, 0, "a link does not end: {text:?}");
        targets.retain(|target| target != ";");
        (kept + rest, targets)
    }

    fn linked(format: &str) -> Style {
        let format = LinkFormat::parse(format).unwrap();
        let links = Box::leak(Box::new(Links::new(format, "hut", Some("/w".to_string()))));
        Style { links: Some(links), ..Style::plain(60) }
    }

    #[test]
    fn paths_and_lines_are_links() {
        let addresses = |text: &str| -> Vec<String> {
            let (_, targets) = without_links(text);
            targets.into_iter().map(|target| target.split_once(';').unwrap().1.to_string()).collect()
        };
        assert_eq!(addresses(&card_text(&calc(), &linked("default"))), ["file://hut/w/src/calc.rs"]);
        let at = |line: usize| format!("x:/w/src/calc.rs:{line}");
        let lines = addresses(&card_text(&calc(), &linked("x:{path}:{line}")));
        assert_eq!(lines, [at(4), at(3), at(4), at(5), at(18), at(19), at(20)]);
        let mut screen = vt100::Parser::new(NonZero::new(20).unwrap(), NonZero::new(60).unwrap(), 0);
        screen.process(card_text(&calc(), &linked("x:{path}:{line}")).replace('\n', "\r\n").as_bytes());
        assert_eq!(screen.screen().contents(), card_text(&calc(), &Style::plain(60)).trim_end());
        let beside = Style { is_side_by_side: true, width: 80, ..linked("x:{path}:{line}") };
        assert!(addresses(&card_text(&calc(), &beside)).contains(&at(19)));
        let text = shown(&|out, style| error(out, &report(), style), &linked("x:{path}:{line}"));
        assert_eq!(addresses(&text), ["x:/w/a.rs:41"]);
        let mut deleted = sample::card(vec![sample::file("gone", Operation::Delete)], vec![]);
        deleted.title = "delete gone".to_string();
        assert_eq!(addresses(&card_text(&deleted, &linked("default"))), [""; 0]);
        deleted.files[0].operation = Operation::Rename;
        deleted.source.folder = Some("/log".to_string());
        assert_eq!(addresses(&card_text(&deleted, &linked("default"))), ["file://hut/log/gone"]);
    }

    #[test]
    fn a_link_that_is_broken_into_rows_is_closed_in_each() {
        let mut value = calc();
        value.diffs.clear();
        value.files[0].path = format!("{}x", "long/".repeat(30));
        value.title = format!("edit {}", value.files[0].path);
        let text = card_text(&value, &linked("default"));
        let (_, targets) = without_links(&text);
        assert_eq!(targets.len(), 3, "{text:?}");
        assert!(targets.iter().all(|target| *target == targets[0]));
        text.lines().for_each(|row| drop(without_links(row)));
    }

    fn nasty() -> impl Strategy<Value = String> {
        let scalar = prop_oneof![
            any::<char>(),
            proptest::char::range(' ', '~'),
            proptest::char::range('\0', '\u{a0}'),
            proptest::char::range('\u{2000}', '\u{2070}'),
            proptest::char::range('\u{4e00}', '\u{4e20}'),
            proptest::char::range('\u{1f3f0}', '\u{1f4ff}'),
            Just('\u{200d}'),
            Just('\u{fe0f}'),
            Just('\u{301}'),
        ];
        proptest::collection::vec(scalar, 0..60).prop_map(String::from_iter)
    }

    fn check_rows(draw: Draw<'_>, style: &Style) -> Result<(), TestCaseError> {
        let plain = shown(draw, &Style { color: Color::Never, ..*style });
        for row in plain.lines() {
            prop_assert!(row.width() <= style.width, "{} > {}: {row:?}", row.width(), style.width);
            prop_assert!(!row.contains(char::is_control), "{row:?}");
            let is_drawn_blind = |scalar: char| {
                crate::render::escape::is_hidden(scalar)
                    && !matches!(scalar, '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
            };
            prop_assert!(!row.contains(is_drawn_blind), "{row:?}");
        }
        prop_assert!(!style.ascii || plain.is_ascii(), "{plain:?}");
        let linked =
            shown(draw, &Style { color: Color::Never, links: linked("x:{path}:{line}").links, ..*style });
        for row in linked.lines() {
            let (_, targets) = without_links(row);
            let is_plain = |scalar: char| scalar.is_ascii_alphanumeric() || "-._~/%:;=".contains(scalar);
            prop_assert!(targets.iter().all(|target| target.chars().all(is_plain)), "{row:?}");
        }
        prop_assert_eq!(&without_links(&linked).0, &plain);
        for color in [Color::Ansi16, Color::Ansi256, Color::TrueColor] {
            let colored = shown(draw, &Style { color, ..*style });
            prop_assert_eq!(&without_colors(&colored), &plain);
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn every_row_is_safe_and_fits(
            texts in proptest::collection::vec(nasty(), 6),
            width in 0_usize..200,
            number in prop_oneof![1_usize..2000, any::<usize>()],
            ascii in any::<bool>(),
            dark in any::<bool>(),
            numbered in any::<bool>(),
        ) {
            let style = Style { ascii, dark, max_lines: Some(3), ..Style::plain(width) };
            let diff = FileDiff {
                path: texts[0].clone(),
                old_text: Some(texts[1].clone()),
                new_text: texts[2].clone(),
                old_start: numbered.then_some(number),
                old_lines: numbered.then(|| texts[1].split('\n').count()),
                new_start: numbered.then_some(number),
                new_lines: numbered.then(|| texts[2].split('\n').count()),
                notes: vec![DiffNote::Eol, DiffNote::Coarse],
                ..FileDiff::default()
            };
            let mut file = sample::file(&texts[0], Operation::Rename);
            file.from = Some(texts[3].clone());
            let mut value = sample::card(vec![file], vec![diff.clone(), diff.clone()]);
            (value.title, value.message) = (texts[4].clone(), Some(texts[5].clone()));
            value.source.time = Some(texts[3].clone());
            check_rows(&|out, style| card(out, &value, style).map(drop), &style)?;

            let changed = FileOutcome { path: texts[0].clone(), diffs: vec![diff.clone()], ..changed_file() };
            let done = outcome_of(true, dark, vec![changed]);
            check_rows(&|out, style| outcome(out, &done, style), &style)?;

            let mut problem = missing().with_path(&texts[0]).with_hint(&texts[1]);
            let (expected, found) = (texts[2].clone(), Some(texts[3].clone()));
            problem.nearest = Some(Nearest { line: number, expected, found, cause: texts[4].clone() });
            let failed = ErrorReport { message: texts[5].clone(), problems: vec![problem], ..report() };
            check_rows(&|out, style| error(out, &failed, style), &style)?;
            check_rows(&|out, style| note(out, &texts[0], style), &style)?;
        }
    }
}
