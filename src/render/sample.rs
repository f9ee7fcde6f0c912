//! Cards for the tests of this room.

use crate::report::Card;
use crate::report::CardFile;
use crate::report::CardKind;
use crate::report::CardSchema;
use crate::report::CardStatus;
use crate::report::Code;
use crate::report::ErrorReport;
use crate::report::FileDiff;
use crate::report::Operation;
use crate::report::Placement;
use crate::report::PreviewEvent;
use crate::report::PreviewFile;
use crate::report::PreviewSchema;
use crate::report::Problem;
use crate::report::Recorded;
use crate::report::Source;

pub(super) fn file(path: &str, operation: Operation) -> CardFile {
    CardFile {
        path: path.to_string(),
        operation,
        from: None,
        status: None,
        added: None,
        removed: None,
        eol: None,
        encoding: None,
        mode: None,
        recorded: Recorded::Hunks,
    }
}

pub(super) fn card(files: Vec<CardFile>, diffs: Vec<FileDiff>) -> Card {
    let source =
        Source { format: "test".to_string(), line: 1, tool: "edit".to_string(), ..Source::default() };
    Card {
        schema: CardSchema::V1,
        card: CardKind::Diff,
        title: "edit".to_string(),
        status: CardStatus::Applied,
        source,
        files,
        diffs,
        requested: Vec::new(),
        message: None,
        error: None,
        compared: None,
    }
}

/// An applied hunk with its line keys: each side is its first line's number and its lines.
pub(super) fn hunk(path: &str, old: (usize, &[&str]), new: (usize, &[&str])) -> FileDiff {
    FileDiff {
        path: path.to_string(),
        old_text: (!old.1.is_empty()).then(|| old.1.join("\n")),
        new_text: new.1.join("\n"),
        old_start: Some(old.0),
        old_lines: Some(old.1.len()),
        new_start: Some(new.0),
        new_lines: Some(new.1.len()),
        ..FileDiff::default()
    }
}

/// A file of a preview that asks for `new` in place of `old`, without places.
pub(super) fn preview_file(path: &str, operation: Operation, from: Option<&str>, new: &str) -> PreviewFile {
    let old_text = (operation != Operation::Create).then(|| "old".to_owned());
    let diff = FileDiff { path: path.to_owned(), old_text, new_text: new.to_owned(), ..FileDiff::default() };
    PreviewFile {
        index: 0,
        path: path.to_owned(),
        operation,
        from: from.map(str::to_owned),
        added: 1,
        removed: 1,
        complete: false,
        placement: Placement::Unknown,
        problem: None,
        diffs: vec![diff],
    }
}

pub(super) fn preview_event(call_id: Option<&str>, files: Vec<PreviewFile>) -> PreviewEvent {
    let call_id = call_id.map(str::to_owned);
    PreviewEvent::Preview { schema: PreviewSchema::V1, seq: 0, call_id, tentative: true, files }
}

pub(super) fn finish_event(call_id: Option<&str>, ok: bool) -> PreviewEvent {
    let error = (!ok).then(|| ErrorReport {
        code: Code::Malformed,
        message: "wrong".to_owned(),
        hint: None,
        problems: vec![Problem::new(Code::Malformed, "wrong")],
    });
    let call_id = call_id.map(str::to_owned);
    PreviewEvent::Finish { schema: PreviewSchema::V1, seq: 1, call_id, ok, fits: None, error }
}
