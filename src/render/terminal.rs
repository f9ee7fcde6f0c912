//! Cards, previews, outcomes and errors for a terminal.
//!
//! Every row is escaped and no wider than the style says. Words, signs and colours say the same: taking the colours
//! away leaves the same text. Long lines of files are cut around their change; all other text is broken, never cut.

use std::io;
use std::io::Write;

use super::body;
use super::body::Tint;
use super::problem::labelled;
use super::problem::message_lines;
use super::problem::problem_rows;
use super::problem::report_rows;
use super::row::Prose;
use super::row::Row;
use super::row::wrap;
use super::style::Role;
use super::style::Style;
use crate::report::Card;
use crate::report::CardFile;
use crate::report::CardStatus;
use crate::report::Change;
use crate::report::CommandName;
use crate::report::DiffNote;
use crate::report::EolName;
use crate::report::ErrorReport;
use crate::report::FileDiff;
use crate::report::FileOutcome;
use crate::report::HunkMatch;
use crate::report::Opaque;
use crate::report::Operation;
use crate::report::Outcome;
use crate::report::Placement;
use crate::report::PreviewEvent;
use crate::report::PreviewFile;
use crate::report::Recorded;
use crate::report::Rung;

/// How many hexadecimal digits of a hash are drawn.
const HASH_DIGITS: usize = 12;

/// Draws the card of one call.
///
/// A failed or rejected call has its reason and no hunks.
///
/// # Errors
/// What the writer says.
pub fn card(out: &mut dyn Write, card: &Card, style: &Style) -> io::Result<()> {
    let (word, role) = match (card.status, &card.source.call_id) {
        // A patch or a comparison is no call: there can be no result of it.
        (CardStatus::Unknown, None) => ("", Role::Strong),
        (status, _) => status_word(status),
    };
    let is_refused = is_refused(card.status);
    // What was not done is in no total.
    let done = card.files.iter().filter(|file| !is_refused && !file.status.is_some_and(self::is_refused));
    let counts = total(done.map(|file| (file.added, file.removed)));
    let header = Header { title: &card.title, counts, word, role, details: details(card) };
    let mut rows = header.rows(style);
    if let Some(message) = &card.message {
        let role = if is_refused { Role::Bad } else { Role::Dim };
        for line in message_lines(message, style) {
            rows.extend(wrap(&Prose::new().with("  ", role).with(line, role), 2, style));
        }
    }
    let mut drawn: Vec<&str> = Vec::new();
    for file in &card.files {
        let is_first = !drawn.contains(&file.path.as_str());
        let diffs: Vec<&FileDiff> =
            card.diffs.iter().filter(|diff| is_first && diff.path == file.path).collect();
        drawn.push(&file.path);
        let is_named = card.files.len() == 1 && names(&card.title, &file.path);
        rows.extend(card_file(card, file, diffs, style).rows(is_named, style));
    }
    // Nothing that a log holds is left out, even if it names the file nowhere else.
    for diff in card.diffs.iter().filter(|diff| !is_refused && !drawn.contains(&diff.path.as_str())) {
        let view = FileView { diffs: vec![diff], ..FileView::new(&diff.path, Operation::Update) };
        rows.extend(view.rows(names(&card.title, &diff.path), style));
    }
    write_rows(out, &rows, style)
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
            let mut rows = Header { title: "preview", counts: (None, None), word, role, details }.rows(style);
            rows.extend(error.iter().flat_map(|error| report_rows(error, style)));
            rows
        }
    };
    write_rows(out, &newest(rows, max_rows, style), style)
}

/// Draws what a command did, file by file as a card does.
///
/// Of a refused one only that nothing was written; its reasons are drawn by [`error`].
///
/// # Errors
/// What the writer says.
pub fn outcome(out: &mut dyn Write, outcome: &Outcome, style: &Style) -> io::Result<()> {
    let command = match outcome.command {
        CommandName::Apply => "apply",
        CommandName::Write => "write",
        CommandName::Edit => "edit",
        CommandName::Undo => "undo",
    };
    let title = match outcome.files.as_slice() {
        [] => command.to_string(),
        [file] => format!("{command} {}", file.path),
        files => format!("{command} {} files", files.len()),
    };
    let is_undo = outcome.command == CommandName::Undo;
    let (word, role) = match (outcome.ok, outcome.check, outcome.files.iter().all(is_unchanged)) {
        (false, _, _) => ("refused, nothing was written", Role::Bad),
        (true, _, true) => ("nothing to do", Role::Good),
        (true, true, false) if is_undo => ("would be undone, nothing was written", Role::Caution),
        (true, true, false) => ("would be applied, nothing was written", Role::Caution),
        (true, false, false) if is_undo => ("undone", Role::Good),
        (true, false, false) => ("applied", Role::Good),
    };
    let counts = if outcome.files.is_empty() {
        (None, None)
    } else {
        total(outcome.files.iter().map(|file| (Some(file.added), Some(file.removed))))
    };
    let undone = match outcome.undoes.as_slice() {
        [] => None,
        [call] => Some(format!("undoes {}", call.call_id)),
        calls => Some(format!("undoes {} calls", calls.len())),
    };
    let details = outcome.call_id.iter().cloned().chain(undone).collect();
    let mut rows = Header { title: &title, counts, word, role, details }.rows(style);
    for file in &outcome.files {
        rows.extend(outcome_file(file, style).rows(outcome.files.len() == 1, style));
    }
    write_rows(out, &rows, style)
}

/// Tells whether a file is afterwards what it was before.
fn is_unchanged(file: &FileOutcome) -> bool {
    file.operation == Operation::Update
        && file.diffs.is_empty()
        && file.opaque.is_none()
        && file.mode.before == file.mode.after
        && file.before_sha256 == file.after_sha256
}

/// Draws an error with all its problems, for stderr.
///
/// # Errors
/// What the writer says.
pub fn error(out: &mut dyn Write, report: &ErrorReport, style: &Style) -> io::Result<()> {
    write_rows(out, &report_rows(report, style), style)
}

/// Draws one note, for stderr.
///
/// # Errors
/// What the writer says.
pub fn note(out: &mut dyn Write, text: &str, style: &Style) -> io::Result<()> {
    write_rows(out, &labelled("note: ", Role::Caution, text, style), style)
}

fn write_rows(out: &mut dyn Write, rows: &[Row], style: &Style) -> io::Result<()> {
    rows.iter().try_for_each(|row| row.write(out, style))
}

/// Counts of added and of removed lines, where known.
type Counts = (Option<usize>, Option<usize>);

/// The first row of a card: `● edit src/calc.rs  +2 -2  applied  turn 4`; an empty word is left out.
struct Header<'a> {
    title: &'a str,
    counts: Counts,
    word: &'static str,
    role: Role,
    details: Vec<String>,
}

impl Header<'_> {
    fn rows(&self, style: &Style) -> Vec<Row> {
        let glyphs = style.glyphs();
        let mut prose = Prose::new().with(glyphs.bullet, self.role).with(" ", Role::Plain);
        prose.push(self.title, Role::Strong);
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

/// An empty file has no hunk that would say so.
fn empty_remark(operation: Operation, counts: Counts) -> Option<Remark> {
    let is_whole = matches!(operation, Operation::Create | Operation::Delete);
    (is_whole && counts == (Some(0), Some(0))).then(|| Remark::new("empty file"))
}

/// Adds counts up; of a side that some file does not know, nothing is said.
fn total(files: impl Iterator<Item = Counts>) -> Counts {
    let mut all: Option<Counts> = None;
    for (added, removed) in files {
        let add = |left: Option<usize>, right: Option<usize>| Some(left?.saturating_add(right?));
        all = Some(all.map_or((added, removed), |sum| (add(sum.0, added), add(sum.1, removed))));
    }
    all.unwrap_or_default()
}

/// Tells whether a title holds a path as a whole word, so that the path need not be said again.
fn names(title: &str, path: &str) -> bool {
    let is_part = |scalar: char| scalar.is_alphanumeric() || "/\\._-".contains(scalar);
    title.match_indices(path).any(|(at, _)| {
        !path.is_empty() && !title[..at].ends_with(is_part) && !title[at + path.len()..].starts_with(is_part)
    })
}

fn details(card: &Card) -> Vec<String> {
    let source = &card.source;
    let mut details: Vec<String> = source.turn.iter().map(|turn| format!("turn {turn}")).collect();
    details.extend(source.time.clone());
    details.extend(source.call_id.clone());
    details
}

fn status_word(status: CardStatus) -> (&'static str, Role) {
    match status {
        CardStatus::Applied => ("applied", Role::Good),
        CardStatus::Partial => ("partly applied", Role::Caution),
        CardStatus::Failed => ("failed", Role::Bad),
        CardStatus::Rejected => ("rejected", Role::Bad),
        CardStatus::Held => ("held for review", Role::Caution),
        CardStatus::Unknown => ("unknown", Role::Caution),
        // There is nothing that could have a result.
    }
}

fn is_refused(status: CardStatus) -> bool {
    matches!(status, CardStatus::Failed | CardStatus::Rejected)
}

/// One property of a file in words, and the note of a hunk that says the same in fewer.
struct Remark {
    about: Option<DiffNote>,
    text: String,
}

impl Remark {
    fn new(text: impl Into<String>) -> Self {
        Remark { about: None, text: text.into() }
    }

    fn about(note: DiffNote, text: impl Into<String>) -> Self {
        Remark { about: Some(note), text: text.into() }
    }
}

/// One file as all of card, preview and outcome draw it.
struct FileView<'a> {
    path: &'a str,
    operation: Operation,
    from: Option<&'a str>,
    counts: Counts,
    /// Its own status, where that is not the card's.
    word: Option<(&'static str, Role)>,
    /// What the hunks can't show, in words.
    remarks: Vec<Remark>,
    /// Under the remarks: why it does not fit.
    problems: Vec<Row>,
    diffs: Vec<&'a FileDiff>,
    tint: Tint,
}

impl<'a> FileView<'a> {
    fn new(path: &'a str, operation: Operation) -> Self {
        FileView {
            path,
            operation,
            from: None,
            counts: (None, None),
            word: None,
            remarks: Vec::new(),
            problems: Vec::new(),
            diffs: Vec::new(),
            tint: Tint::Changed,
        }
    }

    /// Returns the file's rows; a file that the header names has no line of its own.
    fn rows(mut self, is_named: bool, style: &Style) -> Vec<Row> {
        let arrow = style.glyphs().arrow;
        let mut rows = Vec::new();
        if !is_named {
            let path = match self.from {
                Some(from) => format!("{from} {arrow} {}", self.path),
                None => self.path.to_string(),
            };
            let mut prose =
                Prose::new().with("  ", Role::Plain).with(operation_word(self.operation), Role::Dim);
            prose.push(" ", Role::Plain);
            prose.push(path, Role::Strong);
            push_counts(&mut prose, self.counts);
            if let Some((word, role)) = self.word {
                prose.push("  ", Role::Plain);
                prose.push(word, role);
            }
            rows.extend(wrap(&prose, 4, style));
        } else if let Some(remark) = operation_remark(self.operation, self.from, arrow, self.path) {
            self.remarks.insert(0, Remark::new(remark));
        }
        for (diff, note) in
            self.diffs.iter().flat_map(|diff| diff.notes.iter().map(move |note| (diff, *note)))
        {
            if !self.remarks.iter().any(|remark| remark.about == Some(note)) {
                self.remarks.push(Remark::about(note, note_words(note, diff)));
            }
        }
        if self.operation == Operation::Create && self.diffs.iter().any(|diff| diff.new_no_newline) {
            self.remarks.push(Remark::new("no newline at the end of the file"));
        }
        let indent = if is_named { "  " } else { "    " };
        for remark in &self.remarks {
            let prose = Prose::new().with(indent, Role::Plain).with(&remark.text, Role::Caution);
            rows.extend(wrap(&prose, indent.len() + 2, style));
        }
        rows.append(&mut self.problems);
        rows.extend(body::rows(&self.diffs, self.tint, style));
        rows
    }
}

fn operation_word(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "create",
        Operation::Update => "update",
        Operation::Delete => "delete",
        Operation::Rename => "rename",
        Operation::Copy => "copy",
    }
}

fn operation_remark(operation: Operation, from: Option<&str>, arrow: &str, path: &str) -> Option<String> {
    let from = from.unwrap_or("a path that is not recorded");
    match operation {
        Operation::Create => Some("new file".to_string()),
        Operation::Update => None,
        Operation::Delete => Some("deleted".to_string()),
        Operation::Rename => Some(format!("renamed: {from} {arrow} {path}")),
        Operation::Copy => Some(format!("copied: {from} {arrow} {path}")),
    }
}

fn note_words(note: DiffNote, diff: &FileDiff) -> &'static str {
    match note {
        DiffNote::FinalNewline if diff.old_no_newline && !diff.new_no_newline => "final newline added",
        DiffNote::FinalNewline if diff.new_no_newline && !diff.old_no_newline => "final newline removed",
        DiffNote::FinalNewline => "final newline added or removed",
        DiffNote::Eol => "line endings changed",
        DiffNote::Bom => "BOM (byte order mark) added or removed",
        DiffNote::OldUnknown => "old content not recorded",
        DiffNote::Coarse => "coarse comparison: the hunk is right but not minimal",
    }
}

fn card_file<'a>(card: &Card, file: &'a CardFile, diffs: Vec<&'a FileDiff>, style: &Style) -> FileView<'a> {
    let status = file.status.unwrap_or(card.status);
    let mut remarks = Vec::new();
    if !is_refused(status) {
        remarks.extend(file.encoding.as_ref().and_then(|encoding| encoding_remark(encoding, style)));
        remarks.extend(file.eol.and_then(|eol| eol_remark(eol, style)));
        remarks.extend(file.mode.as_ref().and_then(|mode| mode_remark(mode, file.operation, style)));
        match file.recorded {
            Recorded::Hunks | Recorded::Texts => {
                remarks.extend(empty_remark(file.operation, (file.added, file.removed)));
            }
            Recorded::Request if diffs.iter().any(|diff| diff.new_start.is_none()) => {
                remarks.push(Remark::new("as requested, no line numbers"));
            }
            Recorded::Request => {}
            Recorded::Path => remarks.push(Remark::new("content not recorded")),
        }
    }
    FileView {
        from: file.from.as_deref(),
        counts: if is_refused(status) { (None, None) } else { (file.added, file.removed) },
        word: file.status.map(status_word),
        remarks,
        diffs: if is_refused(status) { Vec::new() } else { diffs },
        ..FileView::new(&file.path, file.operation)
    }
}

fn outcome_file<'a>(file: &'a FileOutcome, style: &Style) -> FileView<'a> {
    let flag = |note: DiffNote, change: Change<bool>, what: &str| match (change.before, change.after) {
        (Some(false), Some(true)) => Some(Remark::about(note, format!("{what} added"))),
        (Some(true), Some(false)) => Some(Remark::about(note, format!("{what} removed"))),
        _ => None,
    };
    let mut remarks = Vec::new();
    let encoding = Change { before: file.encoding_before.clone(), after: Some(file.encoding.clone()) };
    remarks.extend(encoding_remark(&encoding, style));
    let guess = || Remark::new(format!("encoding {}, as far as the bytes tell", file.encoding));
    remarks.extend(file.encoding_guessed.then(guess));
    remarks.extend(eol_remark(file.eol, style));
    remarks.extend(flag(DiffNote::Bom, file.bom, "BOM (byte order mark)"));
    remarks.extend(flag(DiffNote::FinalNewline, file.final_newline, "final newline"));
    remarks.extend(mode_remark(&file.mode, file.operation, style));
    remarks.extend(match file.opaque {
        Some(opaque) => Some(opaque_remark(opaque, file, style)),
        None => empty_remark(file.operation, (Some(file.added), Some(file.removed))),
    });
    let replacements = file.replacements.filter(|&count| count != 1);
    remarks.extend(replacements.map(|count| Remark::new(format!("{count} replacements"))));
    remarks.extend(file.hard_links.map(|count| match count {
        1 => Remark::new("1 other hard link still has the old content"),
        _ => Remark::new(format!("{count} other hard links still have the old content")),
    }));
    remarks.extend(match_remarks(&file.matches));
    FileView {
        from: file.from.as_deref(),
        counts: (Some(file.added), Some(file.removed)),
        remarks,
        diffs: file.diffs.iter().collect(),
        ..FileView::new(&file.path, file.operation)
    }
}

fn opaque_remark(opaque: Opaque, file: &FileOutcome, style: &Style) -> Remark {
    let word = match opaque {
        Opaque::Binary => "binary, not shown",
        Opaque::TooLarge => "too large to be shown as a whole",
        Opaque::Undecodable => "some bytes are no text",
    };
    let short = |hash: &Option<String>| match hash {
        Some(hash) => hash.chars().take(HASH_DIGITS).collect(),
        None => "absent".to_string(),
    };
    if file.before_sha256.is_none() && file.after_sha256.is_none() {
        return Remark::new(word);
    }
    let (before, after) = (short(&file.before_sha256), short(&file.after_sha256));
    Remark::new(format!("{word}: sha256 {before} {} {after}", style.glyphs().arrow))
}

fn encoding_remark(encoding: &Change<String>, style: &Style) -> Option<Remark> {
    let (before, after) = (encoding.before.as_ref()?, encoding.after.as_ref()?);
    (before != after).then(|| Remark::new(format!("encoding {before} {} {after}", style.glyphs().arrow)))
}

fn eol_remark(eol: Change<EolName>, style: &Style) -> Option<Remark> {
    let name = |eol: EolName| match eol {
        EolName::Lf => Some("LF"),
        EolName::Crlf => Some("CRLF"),
        EolName::Mixed => Some("mixed"),
        EolName::None => None,
    };
    let (before, after) = (eol.before.and_then(name)?, eol.after.and_then(name)?);
    let text = || format!("line endings {before} {} {after}", style.glyphs().arrow);
    (before != after).then(|| Remark::about(DiffNote::Eol, text()))
}

fn mode_remark(mode: &Change<String>, operation: Operation, style: &Style) -> Option<Remark> {
    match (&mode.before, &mode.after) {
        (Some(before), Some(after)) if before != after => {
            Some(Remark::new(format!("mode {before} {} {after}", style.glyphs().arrow)))
        }
        (None, Some(after)) if operation == Operation::Create && after != "100644" => {
            Some(Remark::new(format!("mode {after}")))
        }
        _ => None,
    }
}

/// Says which hunks were not found exactly where and as they were stated; equal ones share a remark.
fn match_remarks(matches: &[HunkMatch]) -> Vec<Remark> {
    let has_one_edit = matches.iter().all(|found| found.edit == matches[0].edit);
    let mut groups: Vec<((Rung, i64), Vec<String>)> = Vec::new();
    for found in matches.iter().filter(|found| found.rung != Rung::Exact || found.offset_lines != 0) {
        let name =
            if has_one_edit { found.hunk.to_string() } else { format!("{}.{}", found.edit, found.hunk) };
        match groups.iter_mut().find(|(key, _)| *key == (found.rung, found.offset_lines)) {
            Some((_, names)) => names.push(name),
            None => groups.push(((found.rung, found.offset_lines), vec![name])),
        }
    }
    groups.into_iter().map(|((rung, offset), names)| match_remark(rung, offset, &names)).collect()
}

fn match_remark(rung: Rung, offset_lines: i64, names: &[String]) -> Remark {
    let rung = match rung {
        Rung::Exact => None,
        Rung::TrailingBlanks => Some("trailing blanks"),
        Rung::Indentation => Some("indentation"),
        Rung::Unicode => Some("unicode"),
        Rung::Context => Some("context"),
    };
    let distance = offset_lines.unsigned_abs();
    let plural = if distance == 1 { "" } else { "s" };
    let offset = match offset_lines {
        0 => None,
        1.. => Some(format!("{distance} line{plural} below the stated line")),
        _ => Some(format!("{distance} line{plural} above the stated line")),
    };
    let what: Vec<String> = rung.map(str::to_string).into_iter().chain(offset).collect();
    let plural = if names.len() == 1 { "" } else { "s" };
    Remark::new(format!("hunk{plural} {} matched: {}", names.join(", "), what.join(", ")))
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
    let mut rows =
        Header { title: &title, counts, word: "tentative", role: Role::Caution, details }.rows(style);
    for file in files {
        let problems =
            file.problem.iter().flat_map(|problem| problem_rows(problem, true, true, style)).collect();
        let is_bad = !matches!(file.placement, Placement::Unknown | Placement::Located);
        let view = FileView {
            from: file.from.as_deref(),
            counts: (Some(file.added), Some(file.removed)),
            word: Some(placement_word(file.placement, file.complete)),
            problems,
            diffs: file.diffs.iter().collect(),
            tint: if is_bad { Tint::None } else { Tint::Changed },
            ..FileView::new(&file.path, file.operation)
        };
        rows.extend(view.rows(false, style));
    }
    rows
}

fn placement_word(placement: Placement, is_complete: bool) -> (&'static str, Role) {
    match (placement, is_complete) {
        (Placement::Unknown, true) => ("unknown", Role::Dim),
        (Placement::Unknown, false) => ("unknown so far", Role::Dim),
        (Placement::Located, true) => ("located", Role::Good),
        (Placement::Located, false) => ("located so far", Role::Good),
        (Placement::Missing, _) => ("missing", Role::Bad),
        (Placement::Ambiguous, _) => ("ambiguous", Role::Bad),
        (Placement::Exists, _) => ("exists", Role::Bad),
        (Placement::Refused, _) => ("refused", Role::Bad),
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
    use crate::render::sample;
    use crate::render::style::Color;
    use crate::report::Candidate;
    use crate::report::Code;
    use crate::report::Nearest;
    use crate::report::OutcomeSchema;
    use crate::report::PreviewSchema;
    use crate::report::Problem;

    /// Something that can be drawn, with what draws it.
    type Draw<'a> = &'a dyn Fn(&mut dyn Write, &Style) -> io::Result<()>;

    fn shown(draw: Draw<'_>, style: &Style) -> String {
        let mut out = Vec::new();
        draw(&mut out, style).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn card_text(value: &Card, style: &Style) -> String {
        shown(&|out, style| card(out, value, style), style)
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
    fn what_failed_has_its_reason_and_no_hunks() {
        for (status, word) in [(CardStatus::Failed, "failed"), (CardStatus::Rejected, "rejected")] {
            let mut value = calc();
            (value.status, value.message) = (status, Some("not found:\n  x\u{1b}[2J".to_string()));
            let plain = card_text(&value, &Style::plain(60));
            let expected =
                format!("\u{25cf} edit src/calc.rs  {word}  turn 4\n  not found:\n    x\u{241b}[2J\n");
            assert_eq!(plain, expected);
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
            "      found:    \u{2192}let x = 1;",
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
            check_rows(&|out, style| card(out, &value, style), &style)?;

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
