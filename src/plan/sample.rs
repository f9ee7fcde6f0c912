//! Hunks for the tests of this room, written as a patch has them.

use crate::patch::Body;
use crate::patch::Dialect;
use crate::patch::FileEdit;
use crate::patch::Hunk;
use crate::patch::LineHunk;
use crate::patch::parse;

/// Reads the file edits between the markers of an envelope.
pub fn edits(text: &str) -> Vec<FileEdit> {
    let parsed = parse(format!("*** Begin Patch\n{text}*** End Patch\n").as_bytes(), Dialect::ApplyPatch);
    assert_eq!(parsed.malformed, None, "{text}");
    parsed.patch.edits
}

/// Reads the hunks of an update.
pub fn hunks(text: &str) -> Vec<LineHunk> {
    let Body::Hunks(hunks) = edits(&format!("*** Update File: f\n{text}")).remove(0).body else {
        panic!("no update")
    };
    let lines = |hunk| match hunk {
        Hunk::Lines(lines) => lines,
        Hunk::Replace(_) | Hunk::Binary(_) => panic!("no lines"),
    };
    hunks.into_iter().map(lines).collect()
}
