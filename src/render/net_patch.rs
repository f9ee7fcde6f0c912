//! The net change of one file as its part of a patch of the tree before all calls.
//!
//! Where the bytes that differ are known with their lines, they are written as they are; else the section is made of the
//! card's hunks. Git reads every file as it was before the whole patch, so the sections do not depend on each other.

use std::io;
use std::io::Write;

use super::file_patch;
use super::file_patch::FilePatch;
use super::file_patch::Piece;
use super::file_patch::Version;
use super::git_header::Header;
use super::git_header::can_be_named;
use super::patch;
use super::patch::SessionPatch;
use super::patch::left_out;
use crate::diff::tree::Profile;
use crate::report::Card;
use crate::report::CardFile;
use crate::report::Change;
use crate::report::Operation;
use crate::text::Charset;
use crate::text::Document;

/// How many unchanged lines stand around a change, as git writes patches.
const CONTEXT_LINES: usize = 3;

/// What is written of one file.
#[derive(Debug, Clone, Copy)]
pub struct NetPatch<'a> {
    /// The net change; its paths are relative to the root, or lie outside.
    pub card: &'a Card,
    /// The bytes that differ, where they and their lines are known.
    pub pieces: Option<&'a [Piece<'a>]>,
    /// The one piece is the whole file; without any, nothing of it differs.
    pub is_whole: bool,
    /// Why it can't be part of the patch.
    pub left_out: Option<&'a str>,
    /// The folder that the patch is for, for what is said of a file outside of it.
    pub root: Option<&'a str>,
}

/// Writes the section of a file, or a comment that says why there is none; returns how many changes are not in the patch.
///
/// # Errors
/// What the writer says.
pub fn file(out: &mut dyn Write, net: &NetPatch<'_>) -> io::Result<usize> {
    let Some(entry) = net.card.files.first() else { return Ok(0) };
    if let Some(why) = net.left_out {
        return left_out(out, &entry.path, why).map(|()| 1);
    }
    let from = entry.from.as_ref().unwrap_or(&entry.path);
    let is_inside =
        |path: &String| !path.starts_with('/') && !path.starts_with("../") && can_be_named(path.as_bytes());
    let Some(pieces) = net.pieces.filter(|_| is_inside(&entry.path) && is_inside(from)) else {
        return SessionPatch::default().card(out, net.card, net.root);
    };
    let entry = CardFile { mode: entry.mode.as_ref().map(in_git), ..entry.clone() };
    let header = match patch::header(&entry, from, pieces.is_empty()) {
        Ok(header) => header,
        Err(_) => {
            let why = "git knows of a mode only whether the file is a program";
            return left_out(out, &entry.path, why).map(|()| 1);
        }
    };
    match pieces {
        [piece] if net.is_whole && entry.operation != Operation::Copy => whole(out, &entry, &header, piece)?,
        [] => file_patch::pieces(out, &header, pieces, CONTEXT_LINES)?,
        _ if has_lines(&entry) => file_patch::pieces(out, &header, pieces, CONTEXT_LINES)?,
        _ => {
            let why = "git takes files of its encoding for binary ones";
            return left_out(out, &entry.path, why).map(|()| 1);
        }
    }
    Ok(0)
}

/// Writes a file of which both sides are known.
fn whole(out: &mut dyn Write, entry: &CardFile, header: &Header<'_>, piece: &Piece<'_>) -> io::Result<()> {
    let mode = |side: fn(&Change<String>) -> [&Option<String>; 2]| {
        let sides = entry.mode.as_ref().map(side);
        let mode = sides.into_iter().flatten().flatten().next();
        git_mode(mode.map_or("100644", String::as_str))
    };
    let (old, new) = (Document::new(piece.old.to_vec()), Document::new(piece.new.to_vec()));
    let old =
        Version { path: header.old_path, mode: mode(|mode| [&mode.before, &mode.after]), document: &old };
    let new =
        Version { path: header.new_path, mode: mode(|mode| [&mode.after, &mode.before]), document: &new };
    let is_rename = entry.operation == Operation::Rename;
    let similarity = || Profile::of(piece.old).similarity(&Profile::of(piece.new));
    let patch = FilePatch {
        old: (entry.operation != Operation::Create).then_some(old),
        new: (entry.operation != Operation::Delete).then_some(new),
        renamed: is_rename.then(similarity),
        context_lines: CONTEXT_LINES,
    };
    file_patch::file(out, &patch).map(|_| ())
}

/// Returns modes as git has them.
fn in_git(modes: &Change<String>) -> Change<String> {
    let mode = |mode: &Option<String>| mode.as_deref().map(|mode| git_mode(mode).to_owned());
    Change { before: mode(&modes.before), after: mode(&modes.after) }
}

/// Git knows of a mode whether it is a link's, and whether the owner may run the file.
fn git_mode(mode: &str) -> &'static str {
    match u32::from_str_radix(mode, 8).unwrap_or(0o100_644) {
        link if link & 0o170_000 == 0o120_000 => "120000",
        program if program & 0o100 != 0 => "100755",
        _ => "100644",
    }
}

/// Tells whether lines of the file are lines of bytes to git.
fn has_lines(entry: &CardFile) -> bool {
    let encodings = entry.encoding.iter().flat_map(|change| change.before.iter().chain(&change.after));
    encodings.into_iter().all(|name| Charset::for_label(name).is_some_and(Charset::has_ascii))
}
