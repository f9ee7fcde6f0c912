//! A patch to the one that takes it back.

use super::BinaryHunk;
use super::Body;
use super::Content;
use super::Existing;
use super::FileEdit;
use super::Hunk;
use super::LineHunk;
use super::LineKind;
use super::Patch;
use super::Replace;

/// Returns the patch that takes this one back: both sides change places, in every edit, and the last edit comes first.
///
/// A copy is taken back as a deletion, after all others: by then the file that it was made of is what it was.
///
/// ```
/// use hunkwise::patch::{Dialect, parse, reverse};
/// let patch = parse(b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n", Dialect::Unified).patch;
/// assert_eq!(reverse(reverse(patch.clone())), patch);
/// ```
pub fn reverse(patch: Patch) -> Patch {
    let (copies, mut edits): (Vec<FileEdit>, Vec<FileEdit>) =
        patch.edits.into_iter().rev().map(reverse_edit).partition(|edit| edit.is_copy);
    edits.extend(copies);
    Patch { edits }
}

fn reverse_edit(edit: FileEdit) -> FileEdit {
    let FileEdit { path, move_to, is_copy, mode, mode_before, body, line_number, complete, .. } = edit;
    let (mode, mode_before) = (mode_before, mode);
    let body = match body {
        Body::Hunks(hunks) if is_copy => Body::Delete(hunks.into_iter().map(reverse_hunk).collect()),
        Body::Hunks(hunks) => {
            let mut hunks: Vec<Hunk> = hunks.into_iter().map(reverse_hunk).collect();
            // The last block was for what the others had left.
            if hunks.iter().any(|hunk| matches!(hunk, Hunk::Lines(lines) if lines.is_block)) {
                hunks.reverse();
            }
            Body::Hunks(hunks)
        }
        // What was written over is not known, so only what the edit made can be taken away.
        Body::Content(content) => Body::Delete(vec![Hunk::Binary(BinaryHunk {
            new: Some(super::BinarySide::Literal(Vec::new())),
            old: Some(super::BinarySide::Literal(content.bytes)),
            line_number,
            ..BinaryHunk::default()
        })]),
        Body::Delete(hunks) => match restored(&hunks) {
            Some(bytes) => Body::Content(Content { bytes, existing: Existing::Refuse, keep_style: false }),
            // The planner refuses what has no content.
            None => Body::Hunks(vec![Hunk::Binary(BinaryHunk { line_number, ..BinaryHunk::default() })]),
        },
    };
    let (path, move_to) = match move_to {
        Some(target) => (target, Some(path)),
        None => (path, None),
    };
    FileEdit { path, move_to, is_copy, mode, mode_before, body, line_number, expect_sha256: None, complete }
}

/// Returns the content of a file whose deletion names all of it.
fn restored(hunks: &[Hunk]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for hunk in hunks {
        match hunk {
            Hunk::Lines(hunk) => {
                for line in hunk.lines() {
                    bytes.extend_from_slice(line.text);
                    match (line.has_no_newline, line.has_cr) {
                        (true, _) => {}
                        (false, true) => bytes.extend_from_slice(b"\r\n"),
                        (false, false) => bytes.push(b'\n'),
                    }
                }
            }
            Hunk::Binary(BinaryHunk { old: Some(super::BinarySide::Literal(old)), .. }) => {
                bytes.extend_from_slice(old);
            }
            Hunk::Binary(_) | Hunk::Replace(_) => return None,
        }
    }
    (!hunks.is_empty()).then_some(bytes)
}

fn reverse_hunk(hunk: Hunk) -> Hunk {
    match hunk {
        Hunk::Lines(hunk) => Hunk::Lines(reverse_lines(&hunk)),
        Hunk::Replace(Replace { old, new, count, old_is_complete }) => {
            Hunk::Replace(Replace { old: new, new: old, count, old_is_complete })
        }
        Hunk::Binary(BinaryHunk { new, old, old_blob, new_blob, line_number }) => Hunk::Binary(BinaryHunk {
            new: old,
            old: new,
            old_blob: new_blob,
            new_blob: old_blob,
            line_number,
        }),
    }
}

fn reverse_lines(hunk: &LineHunk) -> LineHunk {
    let mut reversed = LineHunk {
        anchors: hunk.anchors.clone(),
        section: hunk.section.clone(),
        stated_old_start: hunk.stated_new.map(|(start, _)| start),
        stated_old_lines: hunk.stated_new.map(|(_, lines)| lines),
        stated_new: hunk.stated_old_start.zip(hunk.stated_old_lines),
        at_end_of_file: hunk.at_end_of_file,
        is_block: hunk.is_block,
        line_number: hunk.line_number,
        ..LineHunk::default()
    };
    let mut push = |line: super::Line<'_>, kind: LineKind| {
        reversed.push(kind, line.text);
        if line.has_cr {
            reversed.mark_cr();
        }
        if line.has_no_newline {
            reversed.mark_no_newline();
        }
    };
    let lines: Vec<super::Line<'_>> = hunk.lines().collect();
    // Between two context lines, what was added goes first, as patches are written.
    for run in
        lines.chunk_by(|one, other| (one.kind == LineKind::Context) == (other.kind == LineKind::Context))
    {
        let of = |kind: LineKind| run.iter().filter(move |line| line.kind == kind);
        of(LineKind::Context).for_each(|line| push(*line, LineKind::Context));
        of(LineKind::Insert).for_each(|line| push(*line, LineKind::Delete));
        of(LineKind::Delete).for_each(|line| push(*line, LineKind::Insert));
    }
    reversed
}
