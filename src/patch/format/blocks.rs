//! File edits in the search-replace dialect, as aider writes it.

use super::super::Body;
use super::super::FileEdit;
use super::super::Hunk;
use super::super::LineHunk;
use super::super::LineKind;
use super::FormatCause;
use super::Written;
use super::at;
use super::can_be_plain;
use super::has_usual_mode;
use super::plain_lines;

/// How wide markers may be; the first width that no line of the text has is taken.
const WIDTHS: [usize; 5] = [7, 5, 6, 8, 9];

/// Writes one file edit: a block for each hunk, with the name above each.
pub(super) fn write(edit: &FileEdit, out: &mut Vec<u8>) -> Written {
    has_usual_mode(edit)?;
    if edit.move_to.is_some() {
        return Err(if edit.is_copy { FormatCause::Copy } else { FormatCause::Rename }.into());
    }
    let name = name(edit.path.bytes())?;
    match &edit.body {
        Body::Content(content) => write_block(&name, &[], &plain_lines(&content.bytes)?, out),
        Body::Delete(_) => return Err(FormatCause::Delete.into()),
        Body::Hunks(hunks) => {
            if hunks.is_empty() {
                return Err(FormatCause::NoChange.into());
            }
            for (index, hunk) in hunks.iter().enumerate() {
                let Hunk::Lines(lines) = hunk else { return Err(at(index)(FormatCause::Binary)) };
                write_hunk(&name, lines, out).map_err(at(index))?;
            }
        }
    }
    Ok(())
}

/// Returns the line that names a file: the bare path, or in backticks where it could be taken for words.
fn name(path: &[u8]) -> Result<Vec<u8>, FormatCause> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-');
    let is_like_a_path = path.contains(&b'/') || path.contains(&b'.');
    if path.iter().any(|&byte| matches!(byte, b'\n' | b'\r' | b'`')) {
        return Err(FormatCause::Path);
    }
    Ok(if is_like_a_path && path.iter().all(is_plain) { path.to_vec() } else { [b"`", path, b"`"].concat() })
}

fn write_hunk(name: &[u8], hunk: &LineHunk, out: &mut Vec<u8>) -> Result<(), FormatCause> {
    can_be_plain(hunk)?;
    if !hunk.anchors.is_empty() {
        return Err(FormatCause::Anchor);
    }
    if hunk.at_end_of_file {
        return Err(FormatCause::EndOfFile);
    }
    let side = |other: LineKind| -> Vec<&[u8]> {
        hunk.lines().filter(|line| line.kind != other).map(|line| line.text).collect()
    };
    let (old, new) = (side(LineKind::Insert), side(LineKind::Delete));
    if old.is_empty() {
        return Err(FormatCause::NoPlace);
    }
    if old == new {
        return Err(FormatCause::NoChange);
    }
    write_block(name, &old, &new, out);
    Ok(())
}

fn write_block(name: &[u8], old: &[&[u8]], new: &[&[u8]], out: &mut Vec<u8>) {
    let is_taken = |width: usize| old.iter().chain(new).any(|line| has_marker(line, width));
    let width = WIDTHS.into_iter().find(|&width| !is_taken(width)).unwrap_or(WIDTHS[0]);
    let marker = |sign: u8, word: &[u8]| [&vec![sign; width], word, b"\n"].concat();
    let mut lines = |lines: &[&[u8]], end: Vec<u8>| {
        lines.iter().for_each(|line| out.extend_from_slice(&[*line, b"\n"].concat()));
        out.extend_from_slice(&end);
    };
    lines(&[name, b"```"], marker(b'<', b" SEARCH"));
    lines(old, marker(b'=', b""));
    lines(new, marker(b'>', b" REPLACE"));
    lines(&[b"```"], Vec::new());
}

/// Tells whether a line begins with a run of so many signs of a marker.
fn has_marker(line: &[u8], width: usize) -> bool {
    let text = line.trim_ascii_start();
    let Some(&first) = text.first().filter(|first| matches!(first, b'<' | b'=' | b'>')) else { return false };
    text.iter().take_while(|&&byte| byte == first).count() == width
}
