//! File edits in the apply_patch dialect.

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

/// The first line of a patch.
pub(super) const BEGIN: &[u8] = b"*** Begin Patch\n";
/// The last line of a patch.
pub(super) const END: &[u8] = b"*** End Patch\n";

/// Writes one file edit.
pub(super) fn write(edit: &FileEdit, out: &mut Vec<u8>) -> Written {
    has_usual_mode(edit)?;
    if edit.is_copy {
        return Err(FormatCause::Copy.into());
    }
    let mut header = |verb: &[u8], path: &[u8]| {
        out.extend_from_slice(&[b"*** ", verb, b": ", path, b"\n"].concat());
    };
    match &edit.body {
        Body::Content(content) => {
            let lines = plain_lines(&content.bytes)?;
            header(b"Add File", edit.path.bytes());
            lines.iter().for_each(|line| out.extend_from_slice(&[b"+", *line, b"\n"].concat()));
        }
        Body::Delete(_) if edit.move_to.is_some() => return Err(FormatCause::Copy.into()),
        Body::Delete(_) => header(b"Delete File", edit.path.bytes()),
        Body::Hunks(hunks) => {
            if hunks.is_empty() && edit.move_to.is_none() {
                return Err(FormatCause::NoChange.into());
            }
            header(b"Update File", edit.path.bytes());
            if let Some(target) = &edit.move_to {
                header(b"Move to", target.bytes());
            }
            for (index, hunk) in hunks.iter().enumerate() {
                let Hunk::Lines(lines) = hunk else { return Err(at(index)(FormatCause::Binary)) };
                write_hunk(lines, out).map_err(at(index))?;
            }
        }
    }
    Ok(())
}

fn write_hunk(hunk: &LineHunk, out: &mut Vec<u8>) -> Result<(), FormatCause> {
    can_be_plain(hunk)?;
    let has_old = hunk.lines().any(|line| line.kind != LineKind::Insert);
    let has_place = has_old || !hunk.anchors.is_empty() || hunk.at_end_of_file;
    if hunk.stated_old_start.is_some() && !has_place {
        return Err(FormatCause::NoPlace);
    }
    if hunk.anchors.is_empty() {
        out.extend_from_slice(b"@@\n");
    }
    for anchor in &hunk.anchors {
        out.extend_from_slice(&[b"@@ ", anchor.as_slice(), b"\n"].concat());
    }
    for line in hunk.lines() {
        out.push(line.kind.sign() as u8);
        out.extend_from_slice(line.text);
        out.push(b'\n');
    }
    if hunk.at_end_of_file {
        out.extend_from_slice(b"*** End of File\n");
    }
    Ok(())
}
