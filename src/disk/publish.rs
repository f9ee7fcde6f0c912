//! Changes of names, each of which can be undone, and the list of those that were done.
//!
//! Every name that a step uses is chosen before the first step is taken. Nothing here knows of plans.

use std::fs::File;
use std::io;
use std::io::Write;
use std::sync::Arc;

use super::error::CommitError;
use super::error::Doing;
use super::error::system_error;
use super::folder::Folders;
use super::folder::Moment;
use super::folder::Place;
use super::root::stamp_of;
use super::stage;
use crate::plan::After;
use crate::plan::Attributes;
use crate::plan::FoundFile;
use crate::plan::Stamp;
use crate::text::Document;
use crate::text::PathText;

/// One change of names or, where asked for, of a file in place.
pub(crate) enum Step<'a> {
    /// What stands at a place gets a hidden name; it may come to another place later.
    Hide { at: Place, hidden: Place },
    /// A file comes to a place where nothing stands.
    Arrive { from: Place, to: Place },
    /// A file comes to a place where the file with this stamp stands, which goes.
    Replace { from: Place, to: Place, backup: Place, occupant: Stamp },
    /// A file gets another mode.
    SetMode { at: Place, file: Stamp, mode: u32, mode_before: u32 },
    /// A file is overwritten.
    WriteThrough(Through<'a>),
}

/// A file that is overwritten, and what it is restored from if that is taken back.
pub(crate) struct Through<'a> {
    pub(crate) at: Place,
    pub(crate) before: &'a FoundFile,
    pub(crate) after: &'a After,
    pub(crate) preimage: Arc<Document>,
}

/// Something that was done, as it has to be undone.
enum Done {
    Moved { from: Place, to: Place },
    Exchanged { one: Place, other: Place },
    Linked { backup: Place },
    Overwrote { from: Place, to: Place, backup: Place },
    ModeSet { at: Place, mode_before: u32 },
    WrittenThrough { at: Place, preimage: Arc<Document>, mode: u32 },
}

impl Done {
    /// Returns the place that is to be as it was, and the one where its old file is now.
    fn places(&self) -> (Place, Place) {
        let (place, now) = match self {
            Done::Moved { from, to } => (from, to),
            Done::Exchanged { one, other } => (other, one),
            Done::Overwrote { to, backup, .. } => (to, backup),
            Done::Linked { backup } => (backup, backup),
            Done::ModeSet { at, .. } | Done::WrittenThrough { at, .. } => (at, at),
        };
        (place.clone(), now.clone())
    }
}

/// Takes steps and remembers them.
pub(crate) struct Publisher {
    sync: bool,
    done: Vec<Done>,
    /// Hidden names of old files, which go at the end.
    garbage: Vec<Place>,
}

impl Publisher {
    pub(crate) fn new(sync: bool) -> Self {
        Publisher { sync, done: Vec::new(), garbage: Vec::new() }
    }

    /// Has a hidden name removed at the end.
    pub(crate) fn remove_at_end(&mut self, hidden: Place) {
        self.garbage.push(hidden);
    }

    /// Takes a step so that it can be undone; `path` names the file in errors.
    pub(crate) fn take(
        &mut self,
        folders: &mut Folders<'_>,
        step: Step<'_>,
        path: &PathText,
    ) -> Result<(), CommitError> {
        match step {
            Step::Hide { at: from, hidden: to } | Step::Arrive { from, to } => {
                self.move_new(folders, from, to).map_err(system_error(path, Doing::Rename))
            }
            Step::Replace { from, to, backup, occupant } => {
                let replaced = self.replace(folders, [from, to, backup], &occupant);
                match replaced.map_err(system_error(path, Doing::Rename))? {
                    true => Ok(()),
                    false => Err(CommitError::Stale { path: path.clone() }),
                }
            }
            Step::SetMode { at, mode, mode_before, .. } => {
                self.done.push(Done::ModeSet { at: at.clone(), mode_before });
                folders.set_mode(&at, mode).map_err(system_error(path, Doing::SetMode))
            }
            Step::WriteThrough(through) => self.write_through(folders, through, path),
        }
    }

    /// Takes the one step of a commit without a journal: what it replaces or removes gets no other name, so that a crash
    /// leaves none.
    pub(crate) fn take_only(
        &mut self,
        folders: &mut Folders<'_>,
        step: Step<'_>,
        path: &PathText,
    ) -> Result<(), CommitError> {
        match step {
            Step::Hide { at, hidden } => {
                folders.remove(&at).map_err(system_error(path, Doing::Delete))?;
                self.garbage.retain(|place| *place != hidden);
                Ok(())
            }
            Step::Replace { from, to, .. } => {
                folders.move_over(&from, &to).map_err(system_error(path, Doing::Rename))
            }
            step => self.take(folders, step, path),
        }
    }

    fn move_new(&mut self, folders: &mut Folders<'_>, from: Place, to: Place) -> io::Result<()> {
        folders.move_new(&from, &to)?;
        self.done.push(Done::Moved { from, to });
        Ok(())
    }

    /// Replaces a file and keeps it under another name; `false` if it was not the expected one.
    fn replace(
        &mut self,
        folders: &mut Folders<'_>,
        [from, to, backup]: [Place; 3],
        occupant: &Stamp,
    ) -> io::Result<bool> {
        if folders.exchange(&from, &to)? {
            self.done.push(Done::Exchanged { one: from.clone(), other: to });
            self.garbage.push(from.clone());
            // What has come out is what was there at that very moment: the last comparison, and the surest. The
            // renaming itself has changed the inode's own time.
            let came_out = folders.stat(&from)?.map(|stat| stamp_of(&stat));
            let known = |stamp: Stamp| Stamp { changed_ns: 0, attributes: Attributes::Unknown, ..stamp };
            return Ok(came_out.is_some_and(|stamp| known(stamp) == known(*occupant)));
        }
        self.garbage.push(backup.clone());
        if folders.link(&to, &backup)? {
            self.done.push(Done::Linked { backup: backup.clone() });
            folders.move_over(&from, &to)?;
            self.done.pop();
            self.done.push(Done::Overwrote { from, to, backup });
        } else {
            self.move_new(folders, to.clone(), backup)?;
            self.move_new(folders, from, to)?;
        }
        Ok(true)
    }

    fn write_through(
        &mut self,
        folders: &mut Folders<'_>,
        through: Through<'_>,
        path: &PathText,
    ) -> Result<(), CommitError> {
        let Through { at, before, after, preimage } = through;
        let error = || system_error(path, Doing::Write);
        let mut file = open_through(folders, &at, before.mode, &mut self.done).map_err(error())?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| error()(errno.into()))?;
        let stamp = stamp_of(&stat);
        if (stamp.device, stamp.inode) != (before.stamp.device, before.stamp.inode) {
            return Err(CommitError::Stale { path: path.clone() });
        }
        self.done.push(Done::WrittenThrough { at, preimage, mode: before.mode });
        let mut write = || {
            stage::write_content(&mut file, Some(before), after)?;
            file.set_len(stage::content_length(Some(before), after) as u64)?;
            folders.about_to(Moment::Write, path)?;
            restore_set_id(&file, before.mode)?;
            if self.sync { file.sync_all() } else { Ok(()) }
        };
        write().map_err(error())
    }

    /// Undoes everything in reverse; returns the places that could not be put back, with where their old files are.
    pub(crate) fn undo_all(&mut self, folders: &mut Folders<'_>) -> Vec<(Place, Place)> {
        let mut strays = Vec::new();
        for done in std::mem::take(&mut self.done).into_iter().rev() {
            let places = done.places();
            if undo(folders, done).is_err() {
                strays.push(places);
            }
        }
        strays
    }

    /// Removes the old files; returns those that stay.
    pub(crate) fn remove_garbage(&mut self, folders: &mut Folders<'_>) -> Vec<PathText> {
        let mut left = Vec::new();
        for place in std::mem::take(&mut self.garbage) {
            let path = place.path();
            let removed = folders.about_to(Moment::Remove, &path).and_then(|()| folders.remove(&place));
            match removed {
                Err(error) if error.kind() != io::ErrorKind::NotFound => left.push(path),
                _ => {}
            }
        }
        left
    }
}

fn undo(folders: &mut Folders<'_>, done: Done) -> io::Result<()> {
    match done {
        Done::Moved { from, to } => folders.move_new(&to, &from),
        Done::Exchanged { one, other } => match folders.exchange(&one, &other)? {
            true => Ok(()),
            false => Err(io::ErrorKind::Unsupported.into()),
        },
        Done::Overwrote { from, to, backup } => {
            folders.move_new(&to, &from)?;
            folders.move_over(&backup, &to)
        }
        Done::Linked { backup } => folders.remove(&backup),
        Done::ModeSet { at, mode_before } => folders.set_mode(&at, mode_before),
        Done::WrittenThrough { at, preimage, mode } => overwrite(folders, &at, preimage.bytes(), mode),
    }
}

/// Overwrites a file that is there; it has this mode before and afterwards.
pub(crate) fn overwrite(folders: &mut Folders<'_>, at: &Place, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut file = open_through(folders, at, mode, &mut Vec::new())?;
    folders.about_to(Moment::Write, &at.path())?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)?;
    restore_set_id(&file, mode)
}

/// Opens a file to be overwritten; one without a write bit gets it for the moment.
fn open_through(folders: &mut Folders<'_>, at: &Place, mode: u32, done: &mut Vec<Done>) -> io::Result<File> {
    match folders.open_to_write(at) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && mode & 0o200 == 0 => {
            done.push(Done::ModeSet { at: at.clone(), mode_before: mode });
            folders.set_mode(at, mode | 0o200)?;
            let opened = folders.open_to_write(at);
            folders.set_mode(at, mode)?;
            opened
        }
        opened => opened,
    }
}

/// Sets the bits that the system takes away when a file is written.
fn restore_set_id(file: &File, mode: u32) -> io::Result<()> {
    if mode & 0o6000 == 0 { Ok(()) } else { stage::set_mode(file, mode) }
}
