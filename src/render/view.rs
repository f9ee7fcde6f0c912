//! What a card says, in words, before a renderer lays it out: the same on a terminal, a page and in Markdown.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::HashSet;
use std::ops::Range;

use crate::report::Card;
use crate::report::CardFile;
use crate::report::CardStatus;
use crate::report::Change;
use crate::report::DiffNote;
use crate::report::EolName;
use crate::report::ErrorReport;
use crate::report::FileDiff;
use crate::report::Operation;
use crate::report::Problem;
use crate::report::Recorded;

/// How many lines of a message are drawn: it may hold a whole file.
const LIMIT_MESSAGE_LINES: usize = 40;

/// What stands between old and new on a page.
pub(super) const ARROW: &str = "\u{2192}";
/// What stands on a page for what is left out.
pub(super) const ELLIPSIS: &str = "\u{2026}";

/// What a word means to the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    /// Nothing in particular.
    Neutral,
    /// It is done.
    Good,
    /// It is not done.
    Bad,
    /// It is not sure, or not all of it is done.
    Caution,
}

/// Counts of added and of removed lines, where known.
pub(super) type Counts = (Option<usize>, Option<usize>);

/// A card, or an outcome, as every renderer draws it.
pub(super) struct CardView<'a> {
    /// The tool and its path or paths.
    pub(super) title: Cow<'a, str>,
    /// What became of it; empty where nothing can.
    pub(super) word: &'static str,
    /// What the word means.
    pub(super) tone: Tone,
    /// The lines of all files that were changed.
    pub(super) counts: Counts,
    /// Turn, time, call.
    pub(super) details: Vec<String>,
    /// The reason of a failure, or what else there is to say.
    pub(super) message: Option<&'a str>,
    /// The reason with all its problems; it goes before the message, which says the same.
    pub(super) error: Option<&'a ErrorReport>,
    /// What of a failed call does not fit its files, as another agent's log told them before.
    pub(super) compared: &'a [Problem],
    /// Nothing was changed.
    pub(super) is_refused: bool,
    /// The files.
    pub(super) files: Vec<FileView<'a>>,
}

/// One file of it.
pub(super) struct FileView<'a> {
    pub(super) path: &'a str,
    pub(super) operation: Operation,
    pub(super) from: Option<&'a str>,
    pub(super) counts: Counts,
    /// Its own status, where that is not the card's.
    pub(super) word: Option<(&'static str, Tone)>,
    /// What the hunks can't show, in words.
    pub(super) remarks: Vec<Remark>,
    pub(super) diffs: Vec<&'a FileDiff>,
    /// The hunks are only what was asked for: nothing of them was done.
    pub(super) is_undone: bool,
    /// The title names it: it needs no heading of its own.
    pub(super) is_named: bool,
}

/// One property of a file in words, and the note of a hunk that says the same in fewer.
pub(super) struct Remark {
    about: Option<DiffNote>,
    pub(super) text: String,
}

impl Remark {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Remark { about: None, text: text.into() }
    }

    pub(super) fn about(note: DiffNote, text: impl Into<String>) -> Self {
        Remark { about: Some(note), text: text.into() }
    }
}

impl<'a> FileView<'a> {
    /// Returns a file of which only path and operation are known.
    pub(super) fn new(path: &'a str, operation: Operation) -> Self {
        FileView {
            path,
            operation,
            from: None,
            counts: (None, None),
            word: None,
            remarks: Vec::new(),
            diffs: Vec::new(),
            is_undone: false,
            is_named: false,
        }
    }

    /// Adds the remarks that follow from the rest.
    pub(super) fn remarked(mut self, arrow: &str) -> Self {
        if self.is_named
            && let Some(remark) = operation_remark(&self, arrow)
        {
            self.remarks.insert(0, Remark::new(remark));
        }
        if self.is_undone {
            return self;
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
        self
    }

    /// Returns the path for a heading, of a moved file both.
    pub(super) fn heading(&self, arrow: &str) -> String {
        match self.from {
            Some(from) => format!("{from} {arrow} {}", self.path),
            None => self.path.to_string(),
        }
    }
}

/// Returns what the card of a call says; `arrow` stands between old and new.
///
/// A failed or rejected call has its reason, and what it asked for as hunks that were not done.
pub(super) fn card_view<'a>(card: &'a Card, arrow: &str) -> CardView<'a> {
    let (word, tone) = match (card.status, &card.source.call_id) {
        // A patch or a comparison is no call: there can be no result of it.
        (CardStatus::Unknown, None) => ("", Tone::Neutral),
        (status, _) => status_word(status),
    };
    let is_refused = is_refused(card.status);
    // What was not done is in no total.
    let done = card.files.iter().filter(|file| !is_refused && !file.status.is_some_and(self::is_refused));
    let counts = total(done.map(|file| (file.added, file.removed)));
    let mut files = Vec::new();
    let mut drawn: HashSet<&str> = HashSet::new();
    let mut diffs_by_path: HashMap<&str, Vec<&FileDiff>> = HashMap::new();
    for diff in if is_refused { &card.requested } else { &card.diffs } {
        diffs_by_path.entry(diff.path.as_str()).or_default().push(diff);
    }
    for file in &card.files {
        let diffs = if drawn.insert(&file.path) {
            diffs_by_path.get(file.path.as_str()).cloned().unwrap_or_default()
        } else {
            Vec::new()
        };
        let is_named = card.files.len() == 1 && names(&card.title, &file.path);
        files.push(FileView { is_named, ..card_file(card, file, diffs, arrow) }.remarked(arrow));
    }
    // Nothing that a log holds is left out, even if it names the file nowhere else.
    for diff in card.diffs.iter().filter(|diff| !is_refused && !drawn.contains(diff.path.as_str())) {
        let is_named = names(&card.title, &diff.path);
        let view = FileView { diffs: vec![diff], is_named, ..FileView::new(&diff.path, Operation::Update) };
        files.push(view.remarked(arrow));
    }
    CardView {
        title: Cow::Borrowed(&card.title),
        word,
        tone,
        counts,
        details: details(card),
        message: card.message.as_deref(),
        error: card.error.as_ref().filter(|_| is_refused),
        compared: card.compared.as_deref().filter(|_| is_refused).unwrap_or_default(),
        is_refused,
        files,
    }
}

/// An empty file has no hunk that would say so.
pub(super) fn empty_remark(operation: Operation, counts: Counts) -> Option<Remark> {
    let is_whole = matches!(operation, Operation::Create | Operation::Delete);
    (is_whole && counts == (Some(0), Some(0))).then(|| Remark::new("empty file"))
}

/// Adds counts up; of a side that some file does not know, nothing is said.
pub(super) fn total(files: impl Iterator<Item = Counts>) -> Counts {
    let mut all: Option<Counts> = None;
    for (added, removed) in files {
        let add = |left: Option<usize>, right: Option<usize>| Some(left?.saturating_add(right?));
        all = Some(all.map_or((added, removed), |sum| (add(sum.0, added), add(sum.1, removed))));
    }
    all.unwrap_or_default()
}

/// Tells whether a title holds a path as a whole word, so that the path need not be said again.
pub(super) fn names(title: &str, path: &str) -> bool {
    named_at(title, path).is_some()
}

/// Returns the bytes of a title that are a path as a whole word.
pub(super) fn named_at(title: &str, path: &str) -> Option<Range<usize>> {
    let is_part = |scalar: char| scalar.is_alphanumeric() || "/\\._-".contains(scalar);
    let is_whole = |at: &usize| {
        !path.is_empty() && !title[..*at].ends_with(is_part) && !title[at + path.len()..].starts_with(is_part)
    };
    title.match_indices(path).map(|(at, _)| at).find(is_whole).map(|at| at..at + path.len())
}

fn details(card: &Card) -> Vec<String> {
    let source = &card.source;
    if let Some(calls) = source.calls {
        return vec![format!("{calls} call{}", if calls == 1 { "" } else { "s" })];
    }
    let mut details: Vec<String> = source.turn.iter().map(|turn| format!("turn {turn}")).collect();
    details.extend(source.time.clone());
    details.extend(source.call_id.clone());
    details
}

pub(super) fn status_word(status: CardStatus) -> (&'static str, Tone) {
    match status {
        CardStatus::Applied => ("applied", Tone::Good),
        CardStatus::Partial => ("partly applied", Tone::Caution),
        CardStatus::Failed => ("failed", Tone::Bad),
        CardStatus::Rejected => ("rejected", Tone::Bad),
        CardStatus::Held => ("held for review", Tone::Caution),
        CardStatus::Unknown => ("unknown", Tone::Caution),
        // There is nothing that could have a result.
    }
}

pub(super) fn is_refused(status: CardStatus) -> bool {
    matches!(status, CardStatus::Failed | CardStatus::Rejected)
}

/// Returns the word for what is done to a file.
pub fn operation_word(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "create",
        Operation::Update => "update",
        Operation::Delete => "delete",
        Operation::Rename => "rename",
        Operation::Copy => "copy",
    }
}

fn operation_remark(file: &FileView<'_>, arrow: &str) -> Option<String> {
    let (path, from) = (file.path, file.from.unwrap_or("a path that is not recorded"));
    match (file.operation, file.is_undone) {
        (Operation::Update, _) => None,
        (Operation::Create, false) => Some("new file".to_string()),
        (Operation::Delete, false) => Some("deleted".to_string()),
        (Operation::Rename, false) => Some(format!("renamed: {from} {arrow} {path}")),
        (Operation::Copy, false) => Some(format!("copied: {from} {arrow} {path}")),
        (Operation::Create, true) => Some("asked for as a new file".to_string()),
        (Operation::Delete, true) => Some("asked to be deleted".to_string()),
        (Operation::Rename, true) => Some(format!("asked to be renamed: {from} {arrow} {path}")),
        (Operation::Copy, true) => Some(format!("asked to be copied: {from} {arrow} {path}")),
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

fn card_file<'a>(card: &Card, file: &'a CardFile, diffs: Vec<&'a FileDiff>, arrow: &str) -> FileView<'a> {
    let status = file.status.unwrap_or(card.status);
    let mut remarks = Vec::new();
    let is_undone = is_refused(status);
    if is_undone && !diffs.is_empty() {
        remarks.push(Remark::new(undone_words(card, status, &diffs)));
    }
    if !is_undone {
        remarks.extend(file.encoding.as_ref().and_then(|encoding| encoding_remark(encoding, arrow)));
        remarks.extend(file.eol.and_then(|eol| eol_remark(eol, arrow)));
        remarks.extend(file.mode.as_ref().and_then(|mode| mode_remark(mode, file.operation, arrow)));
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
        counts: if is_undone { (None, None) } else { (file.added, file.removed) },
        word: file.status.map(status_word),
        remarks,
        diffs,
        is_undone,
        ..FileView::new(&file.path, file.operation)
    }
}

/// Says of hunks that were asked for that they were not done, and whether anybody knows what stands there instead.
fn undone_words(card: &Card, status: CardStatus, diffs: &[&FileDiff]) -> &'static str {
    let has_old = diffs.iter().any(|diff| diff.old_text.as_deref().is_some_and(|old| !old.is_empty()));
    match &card.compared {
        Some(problems) if problems.is_empty() => {
            "as requested, not applied; the old text stands in the file as the log tells it"
        }
        None if status == CardStatus::Failed && card.error.is_none() && has_old => {
            "as requested, not applied; not compared with what the file said"
        }
        Some(_) | None => "as requested, not applied",
    }
}

pub(super) fn encoding_remark(encoding: &Change<String>, arrow: &str) -> Option<Remark> {
    let (before, after) = (encoding.before.as_ref()?, encoding.after.as_ref()?);
    (before != after).then(|| Remark::new(format!("encoding {before} {arrow} {after}")))
}

pub(super) fn eol_remark(eol: Change<EolName>, arrow: &str) -> Option<Remark> {
    let name = |eol: EolName| match eol {
        EolName::Lf => Some("LF"),
        EolName::Crlf => Some("CRLF"),
        EolName::Mixed => Some("mixed"),
        EolName::None => None,
    };
    let (before, after) = (eol.before.and_then(name)?, eol.after.and_then(name)?);
    let text = || format!("line endings {before} {} {after}", arrow);
    (before != after).then(|| Remark::about(DiffNote::Eol, text()))
}

pub(super) fn mode_remark(mode: &Change<String>, operation: Operation, arrow: &str) -> Option<Remark> {
    match (&mode.before, &mode.after) {
        (Some(before), Some(after)) if before != after => {
            Some(Remark::new(format!("mode {before} {} {after}", arrow)))
        }
        (None, Some(after)) if operation == Operation::Create && after != "100644" => {
            Some(Remark::new(format!("mode {after}")))
        }
        _ => None,
    }
}

/// Returns the lines of a message, with a last one that counts what is too much.
pub(super) fn message_lines(message: &str, ellipsis: &str) -> Vec<String> {
    let mut lines: Vec<String> =
        message.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line).to_string()).collect();
    if lines.len() > 1 && lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    let more = lines.len().saturating_sub(LIMIT_MESSAGE_LINES);
    if more > 1 {
        lines.truncate(LIMIT_MESSAGE_LINES);
        lines.push(format!("{ellipsis} {more} more lines"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_huge_message_is_cut_with_a_count() {
        let lines = message_lines(&"x\n".repeat(1000), "\u{2026}");
        assert_eq!((lines.len(), lines[40].as_str()), (41, "\u{2026} 960 more lines"));
    }
}
