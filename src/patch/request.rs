//! The call-time view: what a patch asks for, drawn without any file, as requested and without line numbers.

use crate::report::FileDiff;
use crate::report::Operation;

use super::Body;
use super::FileEdit;
use super::Hunk;
use super::LineHunk;
use super::LineKind;

/// Returns what an edit does, as far as its text tells.
pub fn operation(edit: &FileEdit) -> Operation {
    match (&edit.body, &edit.move_to) {
        (Body::Content(_), _) => Operation::Create,
        (Body::Delete(_), _) => Operation::Delete,
        (Body::Hunks(_), Some(_)) if edit.is_copy => Operation::Copy,
        (Body::Hunks(_), Some(_)) => Operation::Rename,
        (Body::Hunks(_), None) => Operation::Update,
    }
}

/// Returns the path that an edit ends up at, and of a rename the one that it comes from.
pub fn paths(edit: &FileEdit) -> (String, Option<String>) {
    let path = edit.path.shown().into_owned();
    match edit.move_to.as_ref().filter(|_| !matches!(edit.body, Body::Delete(_))) {
        Some(target) => (target.shown().into_owned(), Some(path)),
        None => (path, None),
    }
}

/// Returns the hunks of an edit as they are requested.
pub fn diffs(edit: &FileEdit) -> Vec<FileDiff> {
    let (path, _) = paths(edit);
    match &edit.body {
        Body::Content(content) => {
            let new_text = String::from_utf8_lossy(&content.bytes).into_owned();
            vec![FileDiff { path, old_text: None, new_text, ..FileDiff::default() }]
        }
        Body::Hunks(hunks) | Body::Delete(hunks) => hunks
            .iter()
            .filter(|hunk| !matches!(hunk, Hunk::Binary(_)))
            .map(|hunk| hunk_diff(&path, hunk))
            .collect(),
    }
}

/// Returns the hunks of an edit with the line numbers that its patch states: for a patch that is shown by itself, and of
/// which nobody asks where it fits.
pub fn stated_diffs(edit: &FileEdit) -> Vec<FileDiff> {
    let (Body::Hunks(hunks) | Body::Delete(hunks)) = &edit.body else { return diffs(edit) };
    let (path, _) = paths(edit);
    let stated = |hunk: &Hunk| match hunk {
        Hunk::Lines(lines) => Some(with_stated_numbers(lines_diff(&path, lines), lines)),
        Hunk::Binary(_) => None,
        Hunk::Replace(_) => Some(hunk_diff(&path, hunk)),
    };
    hunks.iter().filter_map(stated).collect()
}

fn with_stated_numbers(diff: FileDiff, hunk: &LineHunk) -> FileDiff {
    let (Some(old_start), Some((new_start, _))) = (hunk.stated_old_start, hunk.stated_new) else {
        return diff;
    };
    let count = |other: LineKind| hunk.lines().filter(|line| line.kind != other).count();
    let (old_lines, new_lines) = (count(LineKind::Insert), count(LineKind::Delete));
    // A header with an empty side names the line before it; a start is at least 1, as in every report.
    FileDiff {
        old_start: Some(old_start.max(1)),
        old_lines: Some(old_lines),
        new_start: Some(new_start.max(1)),
        new_lines: Some(new_lines),
        ..diff
    }
}

/// Returns the hunks of an edit that is still being written: of a content that grows only the whole lines.
pub fn growing_diffs(edit: &FileEdit) -> Vec<FileDiff> {
    match &edit.body {
        // Lines of a patch are whole when they come; tool arguments grow by bytes.
        Body::Content(content) if edit.line_number == 0 && !edit.complete => {
            let (path, _) = paths(edit);
            let new_text = String::from_utf8_lossy(whole_lines(&content.bytes)).into_owned();
            vec![FileDiff { path, old_text: None, new_text, ..FileDiff::default() }]
        }
        Body::Content(_) | Body::Hunks(_) | Body::Delete(_) => diffs(edit),
    }
}

/// Returns the hunk that is still being written: of texts that grow only the whole lines. `None` if it has none yet.
pub fn growing_hunk_diff(path: &str, hunk: &Hunk) -> Option<FileDiff> {
    let Hunk::Replace(replace) = hunk else { return Some(hunk_diff(path, hunk)) };
    let old = if replace.old_is_complete { &replace.old } else { whole_lines(&replace.old) };
    let new = whole_lines(&replace.new);
    (!old.is_empty() || !new.is_empty()).then(|| FileDiff {
        path: path.to_owned(),
        old_text: Some(String::from_utf8_lossy(old).into_owned()),
        new_text: String::from_utf8_lossy(new).into_owned(),
        ..FileDiff::default()
    })
}

fn whole_lines(text: &[u8]) -> &[u8] {
    &text[..memchr::memrchr(b'\n', text).map_or(0, |newline| newline + 1)]
}

/// Returns one hunk as it is requested.
pub fn hunk_diff(path: &str, hunk: &Hunk) -> FileDiff {
    match hunk {
        Hunk::Lines(hunk) => lines_diff(path, hunk),
        // Bytes that are no text have no lines to show.
        Hunk::Binary(_) => FileDiff { path: path.to_owned(), ..FileDiff::default() },
        Hunk::Replace(replace) => FileDiff {
            path: path.to_owned(),
            old_text: Some(String::from_utf8_lossy(&replace.old).into_owned()),
            new_text: String::from_utf8_lossy(&replace.new).into_owned(),
            ..FileDiff::default()
        },
    }
}

fn lines_diff(path: &str, hunk: &LineHunk) -> FileDiff {
    let side = |other: LineKind| {
        let lines = hunk.lines().filter(|line| line.kind != other);
        lines.map(|line| String::from_utf8_lossy(line.text)).collect::<Vec<_>>().join("\n")
    };
    let signed =
        |line: super::Line<'_>| format!("{}{}", line.kind.sign(), String::from_utf8_lossy(line.text));
    FileDiff {
        path: path.to_owned(),
        old_text: Some(side(LineKind::Insert)),
        new_text: side(LineKind::Delete),
        lines: Some(hunk.lines().map(signed).collect()),
        ..FileDiff::default()
    }
}
