//! The call-time view: what a patch asks for, drawn without any file, as requested and without line numbers.

use std::borrow::Cow;

use crate::report::Change;
use crate::report::DiffNote;
use crate::report::EolName;
use crate::report::FileDiff;
use crate::report::Operation;
use crate::text::heading;

use super::BinarySide;
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
    let (mut old, mut new) = (Side::default(), Side::default());
    let mut signed = Vec::with_capacity(hunk.lines().len());
    for line in hunk.lines() {
        let text = decoded(line.text);
        if line.kind != LineKind::Insert {
            old.push(&text);
        }
        if line.kind != LineKind::Delete {
            new.push(&text);
        }
        let mut with_sign = String::with_capacity(text.len() + 1);
        with_sign.push(line.kind.sign());
        with_sign.push_str(&text);
        signed.push(with_sign);
    }
    let ends = |other: LineKind| hunk.lines().any(|line| line.kind != other && line.has_no_newline);
    let (old_no_newline, new_no_newline) = (ends(LineKind::Insert), ends(LineKind::Delete));
    let mut notes = Vec::new();
    if old_no_newline != new_no_newline {
        notes.push(DiffNote::FinalNewline);
    }
    if eols([hunk].into_iter()).is_some() {
        notes.push(DiffNote::Eol);
    }
    FileDiff {
        path: path.to_owned(),
        old_text: Some(old.text),
        new_text: new.text,
        lines: Some(signed),
        old_no_newline,
        new_no_newline,
        notes,
        section: hunk.section.as_ref().or(hunk.anchors.last()).and_then(|line| heading::shown(line)),
        ..FileDiff::default()
    }
}

/// The lines of one side, joined by newlines.
#[derive(Default)]
struct Side {
    text: String,
    has_lines: bool,
}

impl Side {
    fn push(&mut self, line: &str) {
        if std::mem::replace(&mut self.has_lines, true) {
            self.text.push('\n');
        }
        self.text.push_str(line);
    }
}

/// Returns bytes as text; what is not UTF-8 is replaced.
fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    // A line is short and mostly ASCII: checking it is quicker than looking for what to replace.
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// Returns the line endings of the lines that an edit removes and of those that it adds, if its patch tells that they
/// differ.
pub fn eol(edit: &FileEdit) -> Option<Change<EolName>> {
    let (Body::Hunks(hunks) | Body::Delete(hunks)) = &edit.body else { return None };
    eols(hunks.iter().filter_map(|hunk| match hunk {
        Hunk::Lines(lines) => Some(lines),
        Hunk::Binary(_) | Hunk::Replace(_) => None,
    }))
}

fn eols<'a>(hunks: impl Iterator<Item = &'a LineHunk> + Clone) -> Option<Change<EolName>> {
    let side = |kind: LineKind| {
        let lines = hunks.clone().flat_map(LineHunk::lines);
        let mut ended =
            lines.filter(|line| line.kind == kind && !line.has_no_newline).map(|line| line.has_cr);
        let first = ended.next()?;
        Some(match (first, ended.all(|has_cr| has_cr == first)) {
            (_, false) => EolName::Mixed,
            (true, true) => EolName::Crlf,
            (false, true) => EolName::Lf,
        })
    };
    let (before, after) = (side(LineKind::Delete)?, side(LineKind::Insert)?);
    (before != after).then_some(Change { before: Some(before), after: Some(after) })
}

/// Returns the modes that an edit's patch states, in octal with the type, if it changes the mode or makes the file.
pub fn mode(edit: &FileEdit) -> Option<Change<String>> {
    let octal = |mode: Option<u32>| mode.map(|mode| format!("{mode:06o}"));
    let (before, after) = (octal(edit.mode_before), octal(edit.mode));
    (after.is_some() && before != after).then_some(Change { before, after })
}

/// Returns what is to be said of a content that is no text; nothing of one that is.
pub fn binary(edit: &FileEdit) -> Option<String> {
    let (Body::Hunks(hunks) | Body::Delete(hunks)) = &edit.body else { return None };
    let hunk = hunks.iter().find_map(|hunk| match hunk {
        Hunk::Binary(hunk) => Some(hunk),
        Hunk::Lines(_) | Hunk::Replace(_) => None,
    })?;
    let size = |side: &Option<BinarySide>| match side {
        // What a delta makes is not known without the other side.
        Some(BinarySide::Literal(bytes)) => Some(bytes.len()),
        Some(BinarySide::Delta(_)) | None => None,
    };
    let sides = [(size(&hunk.old), "before"), (size(&hunk.new), "after")];
    let sizes: Vec<String> = sides
        .into_iter()
        .filter_map(|(size, when)| {
            size.map(|size| format!("{size} byte{} {when}", if size == 1 { "" } else { "s" }))
        })
        .collect();
    Some(match (&hunk.old, &hunk.new) {
        (None, None) => "binary; the patch does not hold the content".to_owned(),
        _ if sizes.is_empty() => "binary, not shown".to_owned(),
        _ => format!("binary, not shown: {}", sizes.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::Dialect;
    use crate::patch::parse;

    fn edit(patch: &str) -> FileEdit {
        let parsed = parse(patch.as_bytes(), Dialect::Unified);
        assert!(parsed.malformed.is_none(), "{parsed:?}");
        parsed.patch.edits.into_iter().next().unwrap()
    }

    #[test]
    fn what_lines_can_not_show_is_told_of_a_patch() {
        let eols = edit("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\r\n-b\r\n+a\n+b\n");
        assert_eq!(eol(&eols), Some(Change { before: Some(EolName::Crlf), after: Some(EolName::Lf) }));
        assert_eq!(diffs(&eols)[0].notes, [DiffNote::Eol]);
        // A file of CRLF that keeps them, and one whose last line is the only one without.
        let same = edit("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\r\n-b\r\n+a\r\n+c\r\n");
        assert_eq!((eol(&same), diffs(&same)[0].notes.len()), (None, 0));
        let mixed = edit("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\r\n-b\r\n+a\r\n+b\n");
        assert_eq!(eol(&mixed), Some(Change { before: Some(EolName::Crlf), after: Some(EolName::Mixed) }));

        let last = edit("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
        let diff = &diffs(&last)[0];
        assert_eq!((diff.old_no_newline, diff.new_no_newline), (true, false));
        assert_eq!(diff.notes, [DiffNote::FinalNewline]);
        let both = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n";
        assert_eq!(diffs(&edit(both))[0].notes, []);

        let change = |before: Option<&str>, after: &str| {
            Some(Change { before: before.map(str::to_owned), after: Some(after.to_owned()) })
        };
        let executable = edit("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n");
        assert_eq!(mode(&executable), change(Some("100644"), "100755"));
        let new =
            edit("diff --git a/x b/x\nnew file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n");
        assert_eq!(mode(&new), change(None, "100755"));
        assert_eq!(mode(&same), None);
    }

    #[test]
    fn content_that_is_no_text_has_its_sizes() {
        let absent = "diff --git a/x b/x\nindex 1111111..2222222 100644\nBinary files a/x and b/x differ\n";
        assert_eq!(binary(&edit(absent)).as_deref(), Some("binary; the patch does not hold the content"));
        let literal = "diff --git a/x b/x\nindex f76dd238ade08917e6712764a16a22005a50573d..6b2aaa7640726588bcd3d57e1de4b1315b7f315e 100644\nGIT binary patch\nliteral 1\nIcmZPs000620ssI2\n\nliteral 1\nIcmZPo000310RR91\n\n";
        assert_eq!(binary(&edit(literal)).as_deref(), Some("binary, not shown: 1 byte before, 1 byte after"));
        assert_eq!(binary(&edit("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")), None);
    }
}
