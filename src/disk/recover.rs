//! A commit that was cut off: finished if all its steps were taken, else taken back.
//!
//! What was done is told from what stands there: a file is the one that a step has moved if it has its inode, and a new
//! file is still what was written if size and time of its content are the same. So it does not matter how often this is
//! begun and cut off itself. What somebody has changed since stays as it is, and is named.

use std::collections::HashSet;
use std::fmt;
use std::io;

use rustix::fs::Stat;
use rustix::io::Errno;

use super::folder::Folders;
use super::folder::Place;
use super::intent::Contents;
use super::intent::Entry;
use super::intent::Intent;
use super::intent::Move;
use super::publish;
use super::root::mode_of;
use super::root::other_kind;
use super::root::stamp_of;
use crate::plan::Stamp;
use crate::text::PathText;

/// What became of a commit that was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The new tree stands.
    Finished,
    /// The old tree stands.
    TakenBack,
}

/// Something that is not as it was left, and stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Left {
    /// What was changed since.
    path: PathText,
    /// Where the bytes are that it held before.
    kept: Option<PathText>,
}

impl fmt::Display for Left {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` was changed since and is left as it is", self.path.shown())?;
        match &self.kept {
            Some(kept) => write!(formatter, ", what it held before is in `{}`", kept.shown()),
            None => Ok(()),
        }
    }
}

/// Brings the root to the new tree or back to the old one.
pub(crate) fn recover(folders: &mut Folders<'_>, entry: &Entry) -> io::Result<(Ending, Vec<Left>)> {
    let moves = entry.moves.as_ref().map_or(&[][..], |moves| &moves.list);
    let mut recovery = Recovery { folders, left: Vec::new(), kept: HashSet::new() };
    // One step is atomic by itself and may have been told as done, so it is never taken back.
    let is_done = entry.is_marked || matches!(moves, [only] if recovery.is_done(only)?);
    if !is_done {
        for step in moves.iter().rev() {
            recovery.take_back(step)?;
        }
    }
    recovery.remove_hidden(&entry.intent, moves, is_done)?;
    if !is_done {
        recovery.remove_folders(&entry.intent.folders)?;
    }
    if entry.intent.sync {
        recovery.sync(&entry.intent, moves)?;
    }
    Ok((if is_done { Ending::Finished } else { Ending::TakenBack }, recovery.left))
}

struct Recovery<'a, 'b> {
    folders: &'a mut Folders<'b>,
    left: Vec<Left>,
    /// Hidden names that are told of as the only place of old bytes.
    kept: HashSet<Place>,
}

impl Recovery<'_, '_> {
    /// Returns what stands at a place; a folder that is gone, or is none any more, holds nothing.
    fn stat(&mut self, at: &Place) -> io::Result<Option<Stat>> {
        match self.folders.stat(at) {
            Err(error) if is_gone(&error) => Ok(None),
            stands => stands,
        }
    }

    fn inode(&mut self, at: &Place) -> io::Result<Option<u64>> {
        Ok(self.stat(at)?.map(|stat| stamp_of(&stat).inode))
    }

    fn is_done(&mut self, step: &Move) -> io::Result<bool> {
        Ok(match step {
            Move::Hide { hidden, inode, at } => {
                let (at, hidden) = (self.inode(at)?, self.inode(hidden)?);
                at != Some(*inode) && hidden.is_none_or(|hidden| hidden == *inode)
            }
            Move::Arrive { to, file, from, .. } => {
                self.inode(to)? == Some(file.inode) && self.inode(from)? != Some(file.inode)
            }
            Move::Replace { from, to, backup, file, occupant_inode, .. } => {
                let is_old = |inode: Option<u64>| inode.is_none_or(|inode| inode == *occupant_inode);
                self.inode(to)? == Some(file.inode)
                    && is_old(self.inode(from)?)
                    && is_old(self.inode(backup)?)
            }
            Move::SetMode { at, mode, .. } => {
                self.stat(at)?.is_some_and(|stat| mode_of(&stat) & 0o7777 == mode & 0o7777)
            }
            Move::WriteThrough { at, contents: Some(contents), .. } => {
                self.folders.root().holds(&at.path(), &contents.new).unwrap_or(false)
            }
            Move::WriteThrough { contents: None, .. } => false,
        })
    }

    fn take_back(&mut self, step: &Move) -> io::Result<()> {
        match step {
            Move::Hide { at, hidden, inode } => self.move_back(hidden, at, *inode),
            Move::Arrive { from, to, file, is_new } => {
                let Some(stat) = self.stat(to)? else { return Ok(()) };
                if stamp_of(&stat).inode != file.inode {
                    return Ok(());
                }
                if *is_new && !is_same_content(&stat, file) {
                    self.leave(to, None);
                    return Ok(());
                }
                self.move_back(to, from, file.inode)
            }
            Move::Replace { from, to, backup, file, is_new, occupant_inode } => {
                let stands = self.stat(to)?;
                let is_there = stands.as_ref().is_some_and(|stat| stamp_of(stat).inode == file.inode);
                let is_changed = stands.as_ref().is_some_and(|stat| *is_new && !is_same_content(stat, file));
                let (at_from, at_backup) = (self.inode(from)?, self.inode(backup)?);
                let old = if at_backup == Some(*occupant_inode) {
                    backup
                } else if at_from == Some(*occupant_inode) || is_there && at_from.is_some() {
                    from
                } else {
                    // Nothing has happened yet, unless what is to come back is nowhere.
                    if is_there && at_from != Some(file.inode) {
                        self.leave(to, None);
                    }
                    return Ok(());
                };
                if stands.as_ref().is_some_and(|stat| stamp_of(stat).inode == *occupant_inode) {
                    // It has only got a second name.
                    return if old == backup { self.remove(backup) } else { Ok(()) };
                }
                if stands.is_some() && (!is_there || is_changed) {
                    self.leave(to, Some(old));
                    return Ok(());
                }
                self.put_back(old, to, from)
            }
            Move::SetMode { at, inode, mode, mode_before } => {
                self.set_mode_back(at, *inode, *mode, *mode_before)
            }
            Move::WriteThrough { at, inode, mode, contents } => {
                self.restore(at, *inode, *mode, contents.as_ref())
            }
        }
    }

    /// Brings an old file to its place again; what stands there is the new one, or nothing.
    fn put_back(&mut self, old: &Place, to: &Place, from: &Place) -> io::Result<()> {
        if self.stat(to)?.is_none() {
            return self.folders.move_new(old, to);
        }
        if old == from {
            let unsupported = || Err(io::ErrorKind::Unsupported.into());
            return if self.folders.exchange(from, to)? { Ok(()) } else { unsupported() };
        }
        // The file that came may be one that is needed at its old place again.
        if self.stat(from)?.is_none() {
            self.folders.move_new(to, from)?;
        }
        self.folders.move_over(old, to)
    }

    /// Moves a file with this inode back to where it was.
    fn move_back(&mut self, now: &Place, before: &Place, inode: u64) -> io::Result<()> {
        if self.inode(now)? != Some(inode) {
            return Ok(());
        }
        match self.inode(before)? {
            None => match self.folders.move_new(now, before) {
                Err(error) if is_gone(&error) || error.kind() == io::ErrorKind::AlreadyExists => {
                    self.leave(before, Some(now));
                    Ok(())
                }
                moved => moved,
            },
            // A move that was made of a second name and a removal has come half way.
            Some(other) if other == inode => self.remove(now),
            Some(_) => {
                self.leave(before, Some(now));
                Ok(())
            }
        }
    }

    fn set_mode_back(&mut self, at: &Place, inode: u64, mode: u32, mode_before: u32) -> io::Result<()> {
        let Some(stat) = self.stat(at)?.filter(|stat| stamp_of(stat).inode == inode) else { return Ok(()) };
        let now = mode_of(&stat) & 0o7777;
        if now == mode_before & 0o7777 {
            return Ok(());
        }
        if now != mode & 0o7777 {
            self.leave(at, None);
            return Ok(());
        }
        self.folders.set_mode(at, mode_before)
    }

    fn restore(&mut self, at: &Place, inode: u64, mode: u32, contents: Option<&Contents>) -> io::Result<()> {
        let found = self.stat(at)?.filter(|stat| stamp_of(stat).inode == inode && other_kind(stat).is_none());
        let Some(stat) = found else { return Ok(()) };
        if mode_of(&stat) & 0o7777 == (mode | 0o200) & 0o7777 && mode & 0o200 == 0 {
            self.folders.set_mode(at, mode)?;
        }
        let Some(contents) = contents else {
            self.leave(at, None);
            return Ok(());
        };
        let Some(now) = self.folders.root().read(&at.path())? else { return Ok(()) };
        if now.document.bytes() == contents.old {
            return Ok(());
        }
        if !is_between(now.document.bytes(), contents) {
            self.leave(at, None);
            return Ok(());
        }
        publish::overwrite(self.folders, at, &contents.old, mode)
    }

    /// Removes what is left under hidden names, except old files that are to be kept.
    fn remove_hidden(&mut self, intent: &Intent, moves: &[Move], is_done: bool) -> io::Result<()> {
        let mut old: HashSet<u64> = intent.old_inodes.iter().copied().collect();
        old.extend(moves.iter().filter_map(|step| match step {
            Move::Hide { inode, .. } | Move::Replace { occupant_inode: inode, .. } => Some(*inode),
            _ => None,
        }));
        if is_done {
            for step in moves {
                // An old file that changed places with a renamed one has the name that is to be free.
                if let Move::Replace { from, is_new: false, occupant_inode, .. } = step
                    && self.inode(from)? == Some(*occupant_inode)
                {
                    self.remove(from)?;
                }
            }
        }
        for hidden in &intent.hidden {
            let Some(inode) = self.inode(hidden)? else { continue };
            if self.kept.contains(hidden) {
                continue;
            }
            // Before the end a hidden name that is left is a new file, after it an old one.
            if old.contains(&inode) == is_done {
                self.remove(hidden)?;
            } else {
                self.left.push(Left { path: hidden.path(), kept: None });
            }
        }
        Ok(())
    }

    fn remove_folders(&mut self, made: &[Place]) -> io::Result<()> {
        for folder in made.iter().rev() {
            match self.folders.remove_folder(folder) {
                // Somebody has put something in it, or it was not made or is gone.
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty || is_gone(&error) => {}
                removed => removed?,
            }
        }
        Ok(())
    }

    fn remove(&mut self, at: &Place) -> io::Result<()> {
        match self.folders.remove(at) {
            Err(error) if is_gone(&error) => Ok(()),
            removed => removed,
        }
    }

    fn leave(&mut self, path: &Place, kept: Option<&Place>) {
        self.kept.extend(kept.cloned());
        self.left.push(Left { path: path.path(), kept: kept.map(Place::path) });
    }

    fn sync(&mut self, intent: &Intent, moves: &[Move]) -> io::Result<()> {
        let places = moves.iter().flat_map(|step| match step {
            Move::Hide { at, .. } | Move::SetMode { at, .. } | Move::WriteThrough { at, .. } => [at, at],
            Move::Arrive { from, to, .. } | Move::Replace { from, to, .. } => [from, to],
        });
        let mut folders: Vec<&[u8]> =
            places.chain(&intent.folders).chain(&intent.hidden).map(Place::folder).collect();
        folders.sort_unstable();
        folders.dedup();
        for folder in folders {
            match self.folders.sync(folder) {
                Err(error) if is_gone(&error) => {}
                synced => synced?,
            }
        }
        Ok(())
    }
}

/// Tells whether a failure means that a name or its folder is not there any more, or is something else by now.
fn is_gone(error: &io::Error) -> bool {
    let gone = [Errno::NOENT, Errno::NOTDIR, Errno::LOOP, Errno::XDEV];
    gone.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

fn is_same_content(stat: &Stat, file: &Stamp) -> bool {
    let now = stamp_of(stat);
    (now.inode, now.size, now.modified_ns) == (file.inode, file.size, file.modified_ns)
}

/// Tells whether bytes are what a write over the old ones has come to: new from the start, old from there on.
fn is_between(now: &[u8], contents: &Contents) -> bool {
    let Contents { old, new } = contents;
    if now == new {
        return true;
    }
    let written = now.iter().zip(new).take_while(|(now, new)| now == new).count();
    // Where the old bytes go on may be any place up to the first difference; the last one fits if any does, except
    // that a file which has grown ends where the writing does.
    now.len() == old.len().max(written) && now.get(written..) == Some(old.get(written..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_was_cut_off_is_told_from_somebody_elses() {
        let contents = |old: &str, new: &str| Contents { old: old.into(), new: new.into() };
        for (old, new) in
            [("1234", "abc"), ("12", "abcde"), ("", "abc"), ("abc", ""), ("abxd", "abyd"), ("aaaa", "aabaa")]
        {
            let both = contents(old, new);
            for written in 0..=new.len() {
                let mut now = old.as_bytes().to_vec();
                now.resize(now.len().max(written), 0);
                now[..written].copy_from_slice(&new.as_bytes()[..written]);
                assert!(is_between(&now, &both), "{old} {new} {written}");
            }
            assert!(is_between(new.as_bytes(), &both));
            assert!(!is_between(b"somebody's", &both));
            assert!(!is_between(format!("{old}?").as_bytes(), &both));
        }
        assert!(!is_between(b"abc4x", &contents("1234", "abc")));
        assert!(!is_between(b"ab", &contents("1234", "abc")));
    }
}
