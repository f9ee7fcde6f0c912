//! File edits in the unified dialect: plain, and with git's headers where those are needed.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::text::git_name;

use super::super::BinaryHunk;
use super::super::BinarySide;
use super::super::Body;
use super::super::FileEdit;
use super::super::Hunk;
use super::super::LineHunk;
use super::super::LineKind;
use super::super::git_binary;
use super::FormatCause;
use super::USUAL_MODE;
use super::Written;
use super::at;

const NO_NEWLINE: &[u8] = b"\\ No newline at end of file\n";
const NO_FILE: &[u8] = b"/dev/null";

/// Writes one file edit.
pub(super) fn write(edit: &FileEdit, out: &mut Vec<u8>) -> Written {
    let path = edit.path.bytes();
    let target = edit.move_to.as_ref().map_or(path, |target| target.bytes());
    if matches!(edit.body, Body::Delete(_)) && edit.move_to.is_some() {
        return Err(FormatCause::Copy.into());
    }
    let is_git = needs_git(edit);
    for name in [path, target] {
        if name.is_empty() || name.contains(&0) || is_git && name.starts_with(b"/") {
            return Err(FormatCause::Path.into());
        }
    }
    if is_git {
        git_header(edit, target, out);
    }
    match &edit.body {
        Body::Content(content) if content.bytes.is_empty() => {}
        Body::Content(content) => {
            names(None, Some(target), out);
            write_content(&content.bytes, out);
        }
        Body::Delete(hunks) if hunks.is_empty() => return Err(FormatCause::NoContent.into()),
        Body::Delete(hunks) if is_empty_file(hunks) => {}
        Body::Delete(hunks) => write_hunks(hunks, (Some(path), None), out)?,
        Body::Hunks(hunks) if hunks.is_empty() && !is_git => return Err(FormatCause::NoChange.into()),
        Body::Hunks(hunks) => write_hunks(hunks, (Some(path), Some(target)), out)?,
    }
    Ok(())
}

/// Tells whether the edit needs the headers that only git writes.
fn needs_git(edit: &FileEdit) -> bool {
    let has_binary = |hunks: &[Hunk]| hunks.iter().any(|hunk| matches!(hunk, Hunk::Binary(_)));
    edit.move_to.is_some()
        || edit.mode.is_some()
        || edit.mode_before.is_some()
        || match &edit.body {
            Body::Content(content) => content.bytes.is_empty(),
            Body::Hunks(hunks) | Body::Delete(hunks) => has_binary(hunks),
        }
}

fn git_header(edit: &FileEdit, target: &[u8], out: &mut Vec<u8>) {
    let path = edit.path.bytes();
    let mut line = |head: &[u8], rest: &[u8]| out.extend_from_slice(&[head, rest, b"\n"].concat());
    let both = [git_name::quoted(b"a/", path), git_name::quoted(b"b/", target)].join(&b' ');
    line(b"diff --git ", &both);
    let octal = |mode: u32| format!("{mode:06o}").into_bytes();
    match &edit.body {
        Body::Content(_) => line(b"new file mode ", &octal(edit.mode.unwrap_or(USUAL_MODE))),
        Body::Delete(_) => line(b"deleted file mode ", &octal(edit.mode_before.unwrap_or(USUAL_MODE))),
        Body::Hunks(_) => {
            edit.mode_before.into_iter().for_each(|mode| line(b"old mode ", &octal(mode)));
            edit.mode.into_iter().for_each(|mode| line(b"new mode ", &octal(mode)));
            if edit.move_to.is_some() {
                let verb: &[u8] = if edit.is_copy { b"copy" } else { b"rename" };
                line(&[verb, b" from "].concat(), &git_name::quoted(b"", path));
                line(&[verb, b" to "].concat(), &git_name::quoted(b"", target));
            }
        }
    }
}

/// Tells whether these are the hunks of an empty file's deletion.
fn is_empty_file(hunks: &[Hunk]) -> bool {
    let is_empty =
        |side: &Option<BinarySide>| matches!(side, Some(BinarySide::Literal(bytes)) if bytes.is_empty());
    matches!(hunks, [Hunk::Binary(hunk)] if is_empty(&hunk.old) && is_empty(&hunk.new))
}

fn names(old: Option<&[u8]>, new: Option<&[u8]>, out: &mut Vec<u8>) {
    // A name that begins at the file system's root has no prefix; then the other side has none.
    let is_absolute = [old, new].iter().flatten().any(|name| name.starts_with(b"/"));
    for (mark, prefix, name) in [(b"--- ", b"a/", old), (b"+++ ", b"b/", new)] {
        out.extend_from_slice(mark);
        match name {
            None => out.extend_from_slice(NO_FILE),
            Some(name) if is_absolute => out.extend_from_slice(name),
            Some(name) => out.extend_from_slice(&git_name::quoted(prefix, name)),
        }
        // The tab ends a name that holds a blank.
        if name.is_some_and(|name| name.contains(&b' ')) {
            out.push(b'\t');
        }
        out.push(b'\n');
    }
}

fn write_content(content: &[u8], out: &mut Vec<u8>) {
    let count = memchr::memchr_iter(b'\n', content).count() + usize::from(!content.ends_with(b"\n"));
    let _ = writeln!(out, "@@ -0,0 +{} @@", range(1, count));
    for line in content.split_inclusive(|&byte| byte == b'\n') {
        out.push(b'+');
        out.extend_from_slice(line);
    }
    if !content.ends_with(b"\n") {
        out.push(b'\n');
        out.extend_from_slice(NO_NEWLINE);
    }
}

fn write_hunks(hunks: &[Hunk], sides: (Option<&[u8]>, Option<&[u8]>), out: &mut Vec<u8>) -> Written {
    if matches!(hunks.first(), Some(Hunk::Lines(_))) {
        names(sides.0, sides.1, out);
    }
    // How many lines the hunks so far add.
    let mut offset = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        match hunk {
            Hunk::Lines(lines) => write_lines(lines, &mut offset, out).map_err(at(index))?,
            Hunk::Binary(binary) => write_binary(binary, out).map_err(at(index))?,
            Hunk::Replace(_) => return Err(at(index)(FormatCause::Substring)),
        }
    }
    Ok(())
}

fn write_lines(hunk: &LineHunk, offset: &mut isize, out: &mut Vec<u8>) -> Result<(), FormatCause> {
    if !hunk.anchors.is_empty() {
        return Err(FormatCause::Anchor);
    }
    if hunk.at_end_of_file {
        return Err(FormatCause::EndOfFile);
    }
    let count = |other: LineKind| hunk.lines().filter(|line| line.kind != other).count();
    let (old, new) = (count(LineKind::Insert), count(LineKind::Delete));
    match hunk.stated_old_start {
        None => out.extend_from_slice(b"@@"),
        // Before which line it goes can't be said of a hunk without old lines, only behind which.
        Some(_) if old == 0 && hunk.stated_old_lines != Some(0) => return Err(FormatCause::NoPlace),
        Some(start) => {
            let first = start + usize::from(old == 0);
            let new_first = first.saturating_add_signed(*offset);
            let new_start = if new == 0 { new_first.saturating_sub(1) } else { new_first };
            let _ = write!(out, "@@ -{} +{} @@", range(start, old), range(new_start, new));
        }
    }
    if let Some(section) = &hunk.section {
        out.push(b' ');
        out.extend_from_slice(section);
    }
    out.push(b'\n');
    *offset += new as isize - old as isize;
    for line in hunk.lines() {
        out.push(line.kind.sign() as u8);
        out.extend_from_slice(line.text);
        out.extend_from_slice(if line.has_cr { b"\r\n" } else { b"\n" });
        if line.has_no_newline {
            out.extend_from_slice(NO_NEWLINE);
        }
    }
    Ok(())
}

/// Writes one side of a hunk's header as git does: a count of one is left out.
fn range(start: usize, count: usize) -> String {
    if count == 1 { start.to_string() } else { format!("{start},{count}") }
}

fn write_binary(hunk: &BinaryHunk, out: &mut Vec<u8>) -> Result<(), FormatCause> {
    let new = hunk.new.as_ref().ok_or(FormatCause::NoContent)?;
    let names = [&hunk.old_blob, &hunk.new_blob].map(|blob| blob.as_ref().map(git_binary::BlobId::hex));
    if names.iter().any(Option::is_some) {
        let length = names.iter().flatten().map(String::len).max().unwrap_or_default();
        let [old, new] = names.map(|name| name.unwrap_or_else(|| "0".repeat(length)));
        let _ = writeln!(out, "index {old}..{new}");
    }
    out.extend_from_slice(b"GIT binary patch\n");
    for side in [Some(new), hunk.old.as_ref()].into_iter().flatten() {
        let (kind, bytes) = match side {
            BinarySide::Literal(bytes) => ("literal", bytes),
            BinarySide::Delta(bytes) => ("delta", bytes),
        };
        let _ = writeln!(out, "{kind} {}", bytes.len());
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        // Writing to memory can't fail.
        let _ = encoder.write_all(bytes);
        git_binary::encode_lines(&encoder.finish().unwrap_or_default(), out);
        out.push(b'\n');
    }
    Ok(())
}
