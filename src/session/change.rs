//! What a log says of the files of one call to what a card shows of them.

use crate::diff::hunks::compare;
use crate::diff::hunks::counts;
use crate::patch::Body;
use crate::patch::Dialect;
use crate::patch::Hunk;
use crate::patch::LineHunk;
use crate::patch::LineKind;
use crate::patch::parse;
use crate::report::CardFile;
use crate::report::DiffNote;
use crate::report::FileDiff;
use crate::report::Operation;
use crate::report::Recorded;
use crate::text::Document;
use crate::text::heading;

use super::event::Before;
use super::event::ChangeContent;
use super::event::FileChange;
use super::event::Fragment;
use super::event::LoggedHunk;

/// What a card shows of files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Picture {
    /// The files.
    pub files: Vec<CardFile>,
    /// The hunks of all of them, in order.
    pub diffs: Vec<FileDiff>,
}

/// Returns what a card shows of changes.
pub fn picture_of(changes: Vec<FileChange>) -> Picture {
    let mut picture = Picture::default();
    for change in changes {
        let (file, diffs) = file_of(change);
        picture.files.push(file);
        picture.diffs.extend(diffs);
    }
    picture
}

/// Returns a file of which only the path and the operation are known yet.
pub fn file_named(path: &str, operation: Operation) -> CardFile {
    CardFile {
        path: path.to_owned(),
        operation,
        from: None,
        status: None,
        added: None,
        removed: None,
        eol: None,
        encoding: None,
        mode: None,
        recorded: Recorded::Request,
    }
}

/// A change of which only the new side is known.
pub fn old_unknown(path: &str, new_text: String) -> FileDiff {
    FileDiff { path: path.to_owned(), new_text, notes: vec![DiffNote::OldUnknown], ..FileDiff::default() }
}

fn file_of(change: FileChange) -> (CardFile, Vec<FileDiff>) {
    let FileChange { path, from, operation, status, content, .. } = change;
    let (recorded, told, diffs) = match content {
        ChangeContent::Hunks(hunks) => {
            (Recorded::Hunks, None, hunks.into_iter().map(|hunk| hunk_diff(&path, hunk)).collect())
        }
        ChangeContent::Unified(text) => match unified_hunks(&text) {
            Some(hunks) => {
                let diff = |(section, hunk)| FileDiff { section, ..hunk_diff(&path, hunk) };
                (Recorded::Hunks, None, hunks.into_iter().map(diff).collect())
            }
            // What stands there is not to be shown as something that it is not.
            None => (Recorded::Path, None, Vec::new()),
        },
        ChangeContent::Texts { before: Before::Unknown, after } => {
            (Recorded::Texts, None, vec![old_unknown(&path, after)])
        }
        ChangeContent::Texts { before, after } => {
            let (told, before) = match before {
                Before::Text(text) => (None, Some(text)),
                Before::Absent | Before::Unknown => (Some(Operation::Create), None),
            };
            let is_gone = operation == Some(Operation::Delete);
            let before = before.map(|text| Document::new(text.into_bytes()));
            let after = (!is_gone).then(|| Document::new(after.into_bytes()));
            (Recorded::Texts, told, compare(&path, before.as_ref(), after.as_ref()))
        }
        ChangeContent::Replacement { old, new } => {
            let diff = FileDiff {
                path: path.clone(),
                old_text: (!old.is_empty()).then_some(old),
                new_text: new,
                ..FileDiff::default()
            };
            (Recorded::Request, None, vec![diff])
        }
        ChangeContent::Fragments { hunks, recorded } => {
            (recorded, None, hunks.into_iter().flat_map(|hunk| fragment_diffs(&path, hunk)).collect())
        }
        ChangeContent::Path => (Recorded::Path, None, Vec::new()),
    };
    let counted = match recorded {
        Recorded::Path => None,
        _ => counts_of(&diffs),
    };
    let moved = from.as_ref().map(|_| Operation::Rename);
    let operation = operation.or(told).or(moved).unwrap_or(Operation::Update);
    let file = CardFile {
        from,
        status,
        added: counted.map(|(added, _)| added),
        removed: counted.map(|(_, removed)| removed),
        recorded,
        ..file_named(&path, operation)
    };
    (file, diffs)
}

/// Returns how many lines hunks add and remove; nothing if the old side of one is not known.
pub fn counts_of(diffs: &[FileDiff]) -> Option<(usize, usize)> {
    diffs.iter().try_fold((0, 0), |(added, removed), diff| {
        let one = counts(diff);
        (!diff.notes.contains(&DiffNote::OldUnknown)).then_some((added + one.0, removed + one.1))
    })
}

/// Returns the hunks of a part of a file. One in whole lines, which may be all of the file, is shown by what changes.
fn fragment_diffs(path: &str, fragment: Fragment) -> Vec<FileDiff> {
    let Fragment { old, new, old_start, new_start } = fragment;
    let is_lines = |text: &str| text.is_empty() || text.ends_with('\n');
    if is_lines(&old) && is_lines(&new) {
        let (old, new) = (Document::new(old.into_bytes()), Document::new(new.into_bytes()));
        let shift = |start: Option<usize>, first: Option<usize>| Some(start? + first? - 1);
        let mut diffs = compare(path, Some(&old), Some(&new));
        for diff in &mut diffs {
            diff.old_start = shift(diff.old_start, old_start);
            diff.new_start = shift(diff.new_start, new_start);
        }
        return diffs;
    }
    let lines = |text: &str| if text.is_empty() { 0 } else { text.split('\n').count() };
    // A part that lacks its last newline does not end the file for that.
    let has_end = old.ends_with('\n') != new.ends_with('\n');
    vec![FileDiff {
        path: path.to_owned(),
        old_lines: (!has_end).then(|| lines(&old)),
        new_lines: (!has_end).then(|| lines(&new)),
        old_text: (!old.is_empty()).then_some(old),
        new_text: new,
        old_start: old_start.filter(|_| !has_end),
        new_start: new_start.filter(|_| !has_end),
        ..FileDiff::default()
    }]
}

/// Returns the hunk as reports have it; the recorded signs are kept.
fn hunk_diff(path: &str, hunk: LoggedHunk) -> FileDiff {
    let mut diff = FileDiff { path: path.to_owned(), ..FileDiff::default() };
    let (mut old, mut new, mut signed) = (Vec::new(), Vec::new(), Vec::<String>::new());
    for line in hunk.lines {
        match line.as_bytes().first() {
            Some(b'\\') => {
                let last = signed.last().map(|line| line.as_bytes()[0]);
                diff.old_no_newline |= matches!(last, Some(b'-' | b' '));
                diff.new_no_newline |= matches!(last, Some(b'+' | b' '));
            }
            Some(b'-') => {
                old.push(line[1..].to_owned());
                signed.push(line);
            }
            Some(b'+') => {
                new.push(line[1..].to_owned());
                signed.push(line);
            }
            first => {
                // Some writers trim the blank of an empty context line.
                let line = if first == Some(&b' ') { line } else { format!(" {line}") };
                old.push(line[1..].to_owned());
                new.push(line[1..].to_owned());
                signed.push(line);
            }
        }
    }
    if diff.old_no_newline != diff.new_no_newline {
        diff.notes.push(DiffNote::FinalNewline);
    }
    if let (Some(old_start), Some(new_start)) = (hunk.old_start, hunk.new_start) {
        diff.old_start = Some(old_start.max(1));
        diff.new_start = Some(new_start.max(1));
        diff.old_lines = Some(old.len());
        diff.new_lines = Some(new.len());
    }
    // Without a line before it, an empty old side is an empty file.
    let is_from_nothing = old.is_empty() && hunk.old_start.is_none_or(|start| start <= 1);
    diff.old_text = (!is_from_nothing).then(|| old.join("\n"));
    diff.new_text = new.join("\n");
    diff.lines = Some(signed);
    diff
}

/// Returns the hunks of the unified diff of one file, each with its section; `None` if it has none, or not only such.
fn unified_hunks(text: &str) -> Option<Vec<(Option<String>, LoggedHunk)>> {
    // Codex records hunks without the header that says where a diff begins.
    let has_header = text.lines().any(|line| line.starts_with("--- "));
    let headed;
    let text = if has_header {
        text
    } else {
        headed = format!("--- a\n+++ a\n{text}");
        &headed
    };
    let parsed = parse(text.as_bytes(), Dialect::Unified);
    if parsed.malformed.is_some() {
        return None;
    }
    let mut hunks = Vec::new();
    for edit in &parsed.patch.edits {
        match &edit.body {
            Body::Hunks(lines) | Body::Delete(lines) => {
                for hunk in lines {
                    let Hunk::Lines(hunk) = hunk else { return None };
                    let section = hunk.section.as_ref().and_then(|line| heading::shown(line));
                    hunks.push((section, logged(hunk)));
                }
            }
            Body::Content(content) => hunks.push((None, all_added(&content.bytes))),
        }
    }
    (!hunks.is_empty()).then_some(hunks)
}

fn logged(hunk: &LineHunk) -> LoggedHunk {
    let mut lines = Vec::with_capacity(hunk.len());
    for line in hunk.lines() {
        lines.push(format!("{}{}", line.kind.sign(), String::from_utf8_lossy(line.text)));
        if line.has_no_newline {
            lines.push("\\".to_owned());
        }
    }
    // A bare `@@` states nothing, and then no number is shown.
    let has_old = hunk.lines().any(|line| line.kind != LineKind::Insert);
    let old_start = hunk.stated_old_start.map(|start| if has_old { start.max(1) } else { start });
    LoggedHunk { old_start, new_start: hunk.stated_new.map(|(start, _)| start), lines }
}

fn all_added(content: &[u8]) -> LoggedHunk {
    let text = String::from_utf8_lossy(content);
    let mut lines: Vec<String> = text.lines().map(|line| format!("+{line}")).collect();
    if !text.is_empty() && !text.ends_with('\n') {
        lines.push("\\".to_owned());
    }
    LoggedHunk { old_start: Some(0), new_start: Some(1), lines }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: ChangeContent) -> (CardFile, Vec<FileDiff>) {
        file_of(FileChange::new("a".to_owned(), content))
    }

    fn lines(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn recorded_signs_are_kept() {
        let hunk = LoggedHunk {
            old_start: Some(4),
            new_start: Some(5),
            lines: lines(&[" a", "-b", "+b", "", "\\ No newline at end of file"]),
        };
        let (file, diffs) = check(ChangeContent::Hunks(vec![hunk]));
        assert_eq!((file.added, file.removed, file.recorded), (Some(1), Some(1), Recorded::Hunks));
        let wanted = FileDiff {
            path: "a".to_owned(),
            old_text: Some("a\nb\n".to_owned()),
            new_text: "a\nb\n".to_owned(),
            old_start: Some(4),
            old_lines: Some(3),
            new_start: Some(5),
            new_lines: Some(3),
            lines: Some(lines(&[" a", "-b", "+b", " "])),
            old_no_newline: true,
            new_no_newline: true,
            ..FileDiff::default()
        };
        assert_eq!(diffs, [wanted]);
    }

    #[test]
    fn unified_text_is_read_with_and_without_headers() {
        let hunks = "@@ -3,2 +3,3 @@ fn a\n x\n-y\n+z\n+\n\\ No newline at end of file\n";
        let (file, bare) = check(ChangeContent::Unified(hunks.to_owned()));
        assert_eq!((file.added, file.removed, file.recorded), (Some(2), Some(1), Recorded::Hunks));
        assert_eq!((bare[0].old_start, bare[0].new_lines, bare[0].new_no_newline), (Some(3), Some(3), true));
        assert_eq!(
            (&bare[0].notes[..], bare[0].section.as_deref()),
            (&[DiffNote::FinalNewline][..], Some("fn a"))
        );
        let headed = format!("Index: /w/a\n====\n--- /w/a\tCurrent\n+++ /w/a\tProposed\n{hunks}");
        assert_eq!(check(ChangeContent::Unified(headed)).1, bare);
        let (file, diffs) = check(ChangeContent::Unified("no diff at all".to_owned()));
        assert_eq!((file.recorded, file.added, diffs.len()), (Recorded::Path, None, 0));
    }

    #[test]
    fn whole_texts_give_numbered_hunks() {
        let texts = |before| ChangeContent::Texts { before, after: "x\nz\n".to_owned() };
        let (file, diffs) = check(texts(Before::Text("x\ny\n".to_owned())));
        assert_eq!((file.operation, file.added, file.removed), (Operation::Update, Some(1), Some(1)));
        assert_eq!((diffs[0].old_start, file.recorded), (Some(1), Recorded::Texts));
        let (file, diffs) = check(texts(Before::Absent));
        assert_eq!((file.operation, file.added, file.removed), (Operation::Create, Some(2), Some(0)));
        assert_eq!(diffs[0].old_text, None);
        let (file, diffs) = check(texts(Before::Unknown));
        assert_eq!((file.operation, file.added, diffs[0].old_start), (Operation::Update, None, None));
        assert_eq!(diffs[0].notes, [DiffNote::OldUnknown]);
    }

    #[test]
    fn parts_keep_the_numbers_that_the_log_has() {
        let fragment = |old: &str, new: &str, start| Fragment {
            old: old.to_owned(),
            new: new.to_owned(),
            old_start: start,
            new_start: start,
        };
        let parts = |hunks, recorded| check(ChangeContent::Fragments { hunks, recorded });
        let shown = |diff: &FileDiff| (diff.old_start, diff.old_lines, diff.new_lines, diff.old_text.clone());
        let (file, diffs) =
            parts(vec![fragment("a\nb", "a\nc\nd", Some(4)), fragment("", "x", None)], Recorded::Hunks);
        assert_eq!((file.added, file.removed, file.recorded), (Some(3), Some(1), Recorded::Hunks));
        assert_eq!(shown(&diffs[0]), (Some(4), Some(2), Some(3), Some("a\nb".to_owned())));
        assert_eq!(shown(&diffs[1]), (None, Some(0), Some(1), None));
        // Whole lines: only what changes is shown, and a number counts from the first line.
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = old.replace('8', "eight");
        let (file, diffs) = parts(vec![fragment(old, &new, None)], Recorded::Request);
        assert_eq!((file.added, file.removed, file.recorded), (Some(1), Some(1), Recorded::Request));
        assert_eq!(shown(&diffs[0]), (None, Some(5), Some(5), Some("5\n6\n7\n8\n9".to_owned())));
        let (_, diffs) = parts(vec![fragment(old, &new, Some(11))], Recorded::Hunks);
        assert_eq!(shown(&diffs[0]).0, Some(15));
        // Only one side ends a line: then the texts are shown as they are.
        let (file, diffs) = parts(vec![fragment("a", "b\n", Some(4))], Recorded::Hunks);
        assert_eq!((file.added, file.removed), (Some(1), Some(1)));
        assert_eq!(shown(&diffs[0]), (None, None, None, Some("a".to_owned())));
    }

    #[test]
    fn a_part_has_counts_and_no_numbers() {
        let (file, diffs) =
            check(ChangeContent::Replacement { old: "x\ny".to_owned(), new: "x\nz\nw".to_owned() });
        assert_eq!((file.added, file.removed, diffs[0].old_start), (Some(2), Some(1), None));
    }
}
