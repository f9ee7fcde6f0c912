//! Cards for the tests of this room.

use crate::report::Card;
use crate::report::CardFile;
use crate::report::CardKind;
use crate::report::CardSchema;
use crate::report::CardStatus;
use crate::report::FileDiff;
use crate::report::Operation;
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
        mode: None,
        recorded: Recorded::Hunks,
    }
}

pub(super) fn card(files: Vec<CardFile>, diffs: Vec<FileDiff>) -> Card {
    let source = Source {
        format: "test".to_string(),
        line: 1,
        call_id: None,
        tool: "edit".to_string(),
        turn: None,
        time: None,
    };
    Card {
        schema: CardSchema::V1,
        card: CardKind::Diff,
        title: "edit".to_string(),
        status: CardStatus::Applied,
        source,
        files,
        diffs,
        message: None,
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
