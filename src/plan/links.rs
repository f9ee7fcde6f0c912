//! Symbolic links that a patch makes, changes, moves or deletes as links: git writes a link as a file whose content is its
//! target and whose mode is 120000.
//!
//! A link is planned as such a file. What it leads to is never read or written for it, and a link is only made, changed
//! or moved to where its target stays inside of the root. Nothing is written under a link that the same patch touches:
//! where that leads depends on what is written first.

use crate::patch::BinarySide;
use crate::patch::Body;
use crate::patch::FileEdit;
use crate::patch::Hunk;
use crate::patch::LineKind;
use crate::report::Code;
use crate::report::Problem;
use crate::text::PathText;

/// The type and mode of a symbolic link, as git writes it.
pub const LINK_MODE: u32 = 0o120_000;
/// The mode of a file that comes in the place of a link.
pub(super) const REGULAR_MODE: u32 = 0o100_644;
const TYPE_BITS: u32 = 0o170_000;
/// The longest target that systems take.
const TARGET_CAP_BYTES: usize = 4095;

/// Tells whether a mode is that of a symbolic link.
pub fn is_link(mode: u32) -> bool {
    mode & TYPE_BITS == LINK_MODE
}

/// Tells whether the patch says that the edit is one of a link.
pub(super) fn is_of_link(edit: &FileEdit) -> bool {
    [edit.mode, edit.mode_before].into_iter().flatten().any(is_link)
}

/// Tells whether the edit only gives something another name: then a link is moved, whatever it leads to.
pub(super) fn only_moves(edit: &FileEdit) -> bool {
    edit.move_to.is_some() && matches!(&edit.body, Body::Hunks(hunks) if hunks.is_empty())
}

/// Tells whether the edit takes back a copy that was made without a change.
pub(super) fn takes_copy_back(edit: &FileEdit) -> bool {
    edit.move_to.is_some() && matches!(&edit.body, Body::Delete(hunks) if hunks.is_empty())
}

/// Refuses what is neither a regular file nor a link, and what becomes one out of the other.
pub(super) fn has_plain_modes(edit: &FileEdit) -> Result<(), Problem> {
    let path = edit.path.shown();
    let modes = || [edit.mode_before, edit.mode].into_iter().flatten();
    let is_plain = |mode: &u32| matches!(mode & TYPE_BITS, 0o100_000 | LINK_MODE);
    if let Some(mode) = modes().find(|mode| !is_plain(mode)) {
        let (what, hint) = match mode & TYPE_BITS {
            0o160_000 => {
                ("a submodule", "a submodule is a commit of another repository: move it with git itself")
            }
            _ => {
                ("no regular file", "only regular files and symbolic links are changed; leave this edit out")
            }
        };
        let message = format!("the patch makes or changes {path} as {what} (mode {mode:06o})");
        return Err(Problem::new(Code::NotAFile, message).with_hint(hint));
    }
    if is_of_link(edit) && !modes().all(is_link) {
        let message = format!("the patch makes a file of the link {path}, or a link of a file, in one edit");
        return Err(Problem::new(Code::NotAFile, message).with_hint("delete the one and create the other"));
    }
    Ok(())
}

/// Returns the target that a link gets; `None` if the edit does not say it.
pub(super) fn new_target(edit: &FileEdit) -> Option<Vec<u8>> {
    match &edit.body {
        Body::Content(content) => Some(content.bytes.clone()),
        Body::Delete(_) => None,
        Body::Hunks(hunks) => match hunks.first()? {
            Hunk::Lines(lines) => {
                let new: Vec<&[u8]> = lines
                    .lines()
                    .filter(|line| line.kind != LineKind::Delete)
                    .map(|line| line.text)
                    .collect();
                Some(new.join(&b'\n'))
            }
            Hunk::Binary(binary) => match &binary.new {
                Some(BinarySide::Literal(bytes)) => Some(bytes.clone()),
                Some(BinarySide::Delta(_)) | None => None,
            },
            Hunk::Replace(_) => None,
        },
    }
}

/// Returns the path that a link of that target leads to, as it would be written from the root.
pub(super) fn lead(link: &PathText, target: &[u8]) -> PathText {
    let folder = link.bytes().iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    match target.first() {
        Some(b'/') => PathText::new(target),
        _ => PathText::new([&link.bytes()[..folder], target].concat()),
    }
}

/// Refuses a target that no link can have.
pub(super) fn can_be_target(link: &PathText, target: &[u8]) -> Result<(), Problem> {
    if !target.is_empty() && !target.contains(&0) && target.len() <= TARGET_CAP_BYTES {
        return Ok(());
    }
    let message = format!("the target of the link {} is empty, too long or holds a NUL byte", link.shown());
    Err(Problem::new(Code::Malformed, message))
}

/// Judges what was found where a new link would lead: it may be anything inside of the root, also nothing.
pub(super) fn may_lead_there(link: &PathText, target: &[u8], found: &Problem) -> Result<(), Problem> {
    match found.code {
        // It leads to nothing, to something else than a file, or to what may only be read.
        Code::FileMissing | Code::NotAFile | Code::ReadOnly => Ok(()),
        code => {
            let target = String::from_utf8_lossy(target);
            let message = format!("the link {} may not lead to '{target}': {}", link.shown(), found.message);
            Err(Problem::new(code, message).with_hint("make it lead to a place inside of the root"))
        }
    }
}

/// Tells whether one path is written as one below the other.
pub(super) fn is_below(inner: &[u8], outer: &[u8]) -> bool {
    inner.len() > outer.len() && inner.starts_with(outer) && inner[outer.len()] == b'/'
}

/// Says that a path lies under a link that the same patch touches.
pub(super) fn under_link(path: &PathText, link: &PathText) -> Problem {
    let message = format!(
        "{} lies under the link {}, which the same patch makes, changes or takes away",
        path.shown(),
        link.shown()
    );
    Problem::new(Code::NotAFile, message).with_hint("apply the link's edit first, by itself")
}
