//! Folds parser events into a [`Patch`]; the live state of a patch is held here once.

use super::BinaryHunk;
use super::BinarySide;
use super::Body;
use super::Content;
use super::Existing;
use super::FileEdit;
use super::Hunk;
use super::LineHunk;
use super::Patch;
use super::PatchEvent;
use super::Replace;
use super::event::FileKind;

/// Builds a patch, event by event.
#[derive(Debug, Default)]
pub struct Builder {
    patch: Patch,
}

impl Builder {
    /// Returns the patch so far.
    pub fn patch(&self) -> &Patch {
        &self.patch
    }

    /// Gives the patch back.
    pub fn into_patch(self) -> Patch {
        self.patch
    }

    /// Takes one event in. Events that don't fit the state (a line without an open file) change nothing.
    pub fn fold(&mut self, event: &PatchEvent<'_>) {
        match event {
            PatchEvent::FileOpened { path, kind, line_number } => self.patch.edits.push(FileEdit {
                path: path.clone(),
                move_to: None,
                is_copy: false,
                mode: None,
                mode_before: None,
                body: match kind {
                    FileKind::Create => content(Existing::Refuse),
                    FileKind::Fill => content(Existing::ReplaceEmpty),
                    FileKind::Write => content(Existing::Replace),
                    FileKind::Update => Body::Hunks(Vec::new()),
                    FileKind::Delete => Body::Delete(Vec::new()),
                },
                line_number: *line_number,
                expect_sha256: None,
                complete: false,
            }),
            PatchEvent::Named { path } => {
                if let Some(edit) = self.patch.edits.last_mut() {
                    edit.path = path.clone();
                }
            }
            PatchEvent::MovedTo { path, is_copy } => {
                if let Some(edit) = self.patch.edits.last_mut() {
                    edit.move_to = Some(path.clone());
                    edit.is_copy = *is_copy;
                }
            }
            PatchEvent::Mode { before, mode } => {
                if let Some(edit) = self.patch.edits.last_mut() {
                    edit.mode_before = *before;
                    edit.mode = *mode;
                }
            }
            PatchEvent::BinaryOpened { old_blob, new_blob, line_number } => {
                if let Some(hunks) = self.hunks() {
                    hunks.push(Hunk::Binary(BinaryHunk {
                        old_blob: old_blob.clone(),
                        new_blob: new_blob.clone(),
                        line_number: *line_number,
                        ..BinaryHunk::default()
                    }));
                }
            }
            PatchEvent::Binary { is_reverse, side } => self.binary_side(*is_reverse, side),
            PatchEvent::Bytes { bytes } => {
                if let Some(Body::Content(content)) = self.body() {
                    content.bytes.extend_from_slice(bytes);
                }
            }
            PatchEvent::ReplaceOpened => {
                if let Some(hunks) = self.hunks() {
                    hunks.push(Hunk::Replace(Replace::default()));
                }
            }
            PatchEvent::Old { text } => {
                if let Some(replace) = self.replace() {
                    replace.old.extend_from_slice(text);
                }
            }
            PatchEvent::OldDone => {
                if let Some(replace) = self.replace() {
                    replace.old_is_complete = true;
                }
            }
            PatchEvent::New { text } => {
                if let Some(replace) = self.replace() {
                    replace.new.extend_from_slice(text);
                }
            }
            PatchEvent::Count { count } => {
                if let Some(replace) = self.replace() {
                    replace.count = *count;
                }
            }
            PatchEvent::HunkOpened { stated_old_start, stated_old_lines, stated_new, line_number } => {
                if let Some(hunks) = self.hunks() {
                    hunks.push(Hunk::Lines(LineHunk {
                        stated_old_start: *stated_old_start,
                        stated_old_lines: *stated_old_lines,
                        stated_new: *stated_new,
                        line_number: *line_number,
                        ..LineHunk::default()
                    }));
                }
            }
            PatchEvent::Section { text } => {
                if let Some(hunk) = self.hunk() {
                    hunk.section = Some(text.to_vec());
                }
            }
            PatchEvent::Anchor { text } => {
                if let Some(hunk) = self.hunk() {
                    hunk.anchors.push(text.to_vec());
                }
            }
            PatchEvent::Line { kind, text } => match self.body() {
                Some(Body::Content(content)) => {
                    content.bytes.extend_from_slice(text);
                    content.bytes.push(b'\n');
                }
                Some(Body::Hunks(_) | Body::Delete(_)) => {
                    if let Some(hunk) = self.hunk() {
                        hunk.push(*kind, text);
                    }
                }
                None => {}
            },
            PatchEvent::CarriageReturn => match self.body() {
                Some(Body::Content(content)) if content.bytes.last() == Some(&b'\n') => {
                    content.bytes.pop();
                    content.bytes.extend_from_slice(b"\r\n");
                }
                _ => {
                    if let Some(hunk) = self.hunk() {
                        hunk.mark_cr();
                    }
                }
            },
            PatchEvent::NoNewline => match self.body() {
                Some(Body::Content(content)) if content.bytes.last() == Some(&b'\n') => {
                    content.bytes.pop();
                }
                _ => {
                    if let Some(hunk) = self.hunk() {
                        hunk.mark_no_newline();
                    }
                }
            },
            PatchEvent::Narrowed => {
                if let Some(hunk) = self.hunk() {
                    hunk.narrow();
                }
            }
            PatchEvent::EndOfFile => {
                if let Some(hunk) = self.hunk() {
                    hunk.at_end_of_file = true;
                }
            }
            PatchEvent::FileClosed => {
                if let Some(edit) = self.patch.edits.last_mut() {
                    edit.complete = true;
                }
            }
            PatchEvent::HunkClosed | PatchEvent::Tolerated { .. } | PatchEvent::Malformed(_) => {}
        }
    }

    /// Returns the hunk of lines that came last, if that is what came last.
    pub fn last_hunk_lines(&self) -> Option<&LineHunk> {
        match &self.patch.edits.last()?.body {
            Body::Hunks(hunks) => match hunks.last()? {
                Hunk::Lines(hunk) => Some(hunk),
                Hunk::Replace(_) | Hunk::Binary(_) => None,
            },
            Body::Content(_) | Body::Delete(_) => None,
        }
    }

    /// Returns the replacement that came last, if that is what came last.
    pub fn last_replace(&self) -> Option<&Replace> {
        match &self.patch.edits.last()?.body {
            Body::Hunks(hunks) => match hunks.last()? {
                Hunk::Replace(replace) => Some(replace),
                Hunk::Lines(_) | Hunk::Binary(_) => None,
            },
            Body::Content(_) | Body::Delete(_) => None,
        }
    }

    fn body(&mut self) -> Option<&mut Body> {
        self.patch.edits.last_mut().map(|edit| &mut edit.body)
    }

    fn hunks(&mut self) -> Option<&mut Vec<Hunk>> {
        match self.body()? {
            Body::Hunks(hunks) | Body::Delete(hunks) => Some(hunks),
            Body::Content(_) => None,
        }
    }

    fn hunk(&mut self) -> Option<&mut LineHunk> {
        match self.hunks()?.last_mut()? {
            Hunk::Lines(hunk) => Some(hunk),
            Hunk::Replace(_) | Hunk::Binary(_) => None,
        }
    }

    fn replace(&mut self) -> Option<&mut Replace> {
        match self.hunks()?.last_mut()? {
            Hunk::Replace(replace) => Some(replace),
            Hunk::Lines(_) | Hunk::Binary(_) => None,
        }
    }

    fn binary_side(&mut self, is_reverse: bool, side: &BinarySide) {
        if let (Some(Body::Content(content)), BinarySide::Literal(bytes), false) =
            (self.body(), side, is_reverse)
        {
            content.bytes.clone_from(bytes);
        } else if let Some(Hunk::Binary(hunk)) = self.hunks().and_then(|hunks| hunks.last_mut()) {
            let place = if is_reverse { &mut hunk.old } else { &mut hunk.new };
            *place = Some(side.clone());
        }
    }
}

fn content(existing: Existing) -> Body {
    Body::Content(Content { bytes: Vec::new(), existing, keep_style: false })
}
