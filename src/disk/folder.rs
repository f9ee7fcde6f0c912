//! Folders beneath a root, held open, and what can be done to one name in a folder.
//!
//! Every change is made to a name in a folder that is open, never to a path: a link that someone puts in place of a
//! folder meanwhile can't lead a change elsewhere. Nothing here knows of plans or of taking back.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::BuildHasher;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use foldhash::fast::FixedState;
use rustix::fs::AtFlags;
use rustix::fs::Mode;
use rustix::fs::OFlags;
use rustix::fs::Stat;
use rustix::io::Errno;

use super::root::Root;
use super::root::reading_flags;
use crate::text::PathText;

/// How many folders are held open at once; a plan may name more than a process may open.
const LIMIT_OPEN_FOLDERS: usize = 128;

/// How hidden names begin; sixteen hexadecimal digits follow. No name of a file is part of it, so that it is never too
/// long for a file system which can hold that name.
const HIDDEN_PREFIX: &str = ".hunkwise-";

/// A name in a folder beneath the root.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    folder: Vec<u8>,
    name: Vec<u8>,
}

impl Place {
    /// Takes a real path apart; `None` if it is no path of a file beneath the root.
    pub(crate) fn of(path: &PathText) -> Option<Self> {
        let bytes = path.bytes();
        let is_name = |part: &[u8]| !matches!(part, b"" | b"." | b"..") && !part.contains(&0);
        if !bytes.split(|&byte| byte == b'/').all(is_name) {
            return None;
        }
        Some(match bytes.iter().rposition(|&byte| byte == b'/') {
            Some(slash) => Place { folder: bytes[..slash].to_vec(), name: bytes[slash + 1..].to_vec() },
            None => Place { folder: Vec::new(), name: bytes.to_vec() },
        })
    }

    /// Returns the folder's path; of the root itself it is empty.
    pub(crate) fn folder(&self) -> &[u8] {
        &self.folder
    }

    /// Returns the whole path, relative to the root.
    pub(crate) fn path(&self) -> PathText {
        if self.folder.is_empty() {
            return PathText::new(self.name.clone());
        }
        PathText::new([self.folder.as_slice(), b"/", &self.name].concat())
    }

    /// Returns a place in the same folder whose name nobody else uses.
    pub(crate) fn hidden_beside(&self) -> Place {
        // RandomState is the one source of randomness in std, and 64 bits of it are enough for a name.
        let number = RandomState::new().hash_one(&self.name);
        Place { folder: self.folder.clone(), name: format!("{HIDDEN_PREFIX}{number:016x}").into_bytes() }
    }

    /// Tells whether the name is one that [`Place::hidden_beside`] gives.
    pub(crate) fn is_hidden(&self) -> bool {
        let number = self.name.strip_prefix(HIDDEN_PREFIX.as_bytes());
        number.is_some_and(|number| number.len() == 16 && number.iter().all(u8::is_ascii_hexdigit))
    }
}

/// What the file system is asked to do in one step; a test turns some off, as some file systems do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ways {
    /// Two names can change places.
    pub(crate) exchange: bool,
    /// A rename can refuse to replace.
    pub(crate) no_replace: bool,
    /// A file can have a second name.
    pub(crate) hard_links: bool,
}

impl Default for Ways {
    fn default() -> Self {
        Ways { exchange: true, no_replace: true, hard_links: true }
    }
}

/// What a commit is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Write the content of a file.
    Write,
    /// Give a temporary the attributes of its file.
    CarryOver,
    /// Give a temporary its mode.
    SetMode,
    /// Compare a file with its preimage.
    Compare,
    /// Take a step.
    Step,
    /// Remove an old file after the last step.
    Remove,
    /// Change one name, for whatever end.
    Name,
    /// Wait until content or names are on the disk.
    Sync,
    /// Write or remove the journal.
    Journal,
}

/// What a test puts in the place of the file system's answers: a failure, a change by somebody else, or fewer ways.
#[derive(Clone, Copy)]
pub(crate) struct Rig<'a> {
    pub(crate) before: &'a dyn Fn(Moment, &PathText) -> io::Result<()>,
    pub(crate) ways: Ways,
}

impl Rig<'_> {
    /// Returns the rig of everyday use: every answer is the file system's own.
    pub(crate) fn none() -> Self {
        Rig { before: &|_, _| Ok(()), ways: Ways::default() }
    }
}

/// The folders that one commit works in.
pub(crate) struct Folders<'a> {
    root: &'a Root,
    rig: Rig<'a>,
    open: HashMap<Vec<u8>, Rc<OwnedFd>, FixedState>,
}

impl<'a> Folders<'a> {
    pub(crate) fn new(root: &'a Root, rig: Rig<'a>) -> Self {
        Folders { root, rig, open: HashMap::default() }
    }

    /// Says what is about to be done, so that a test can make it fail.
    pub(crate) fn about_to(&self, moment: Moment, path: &PathText) -> io::Result<()> {
        (self.rig.before)(moment, path)
    }

    pub(crate) fn root(&self) -> &'a Root {
        self.root
    }

    /// Returns a folder that is there, opened without following a link.
    pub(crate) fn folder(&mut self, folder: &[u8]) -> Result<Rc<OwnedFd>, Errno> {
        if let Some(open) = self.open.get(folder) {
            return Ok(Rc::clone(open));
        }
        if self.open.len() >= LIMIT_OPEN_FOLDERS {
            self.open.clear();
        }
        let open = Rc::new(self.root.open_folder(folder)?);
        self.open.insert(folder.to_vec(), Rc::clone(&open));
        Ok(open)
    }

    /// Returns the folder, or the nearest one above it that is there.
    pub(crate) fn nearest(&mut self, folder: &[u8]) -> Result<Rc<OwnedFd>, Errno> {
        let mut rest = folder;
        loop {
            match self.folder(rest) {
                Err(Errno::NOENT) if !rest.is_empty() => {
                    rest = &rest[..rest.iter().rposition(|&byte| byte == b'/').unwrap_or(0)];
                }
                answer => return answer,
            }
        }
    }

    /// Returns the parts of a folder's path that are missing, the outermost first.
    pub(crate) fn missing(&mut self, folder: &[u8]) -> io::Result<Vec<Place>> {
        let mut missing = Vec::new();
        let mut rest = folder;
        loop {
            match self.folder(rest) {
                Ok(_) => break,
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno.into()),
            }
            let Some(place) = Place::of(&PathText::new(rest)) else { break };
            rest = &rest[..place.folder.len()];
            missing.push(place);
        }
        missing.reverse();
        Ok(missing)
    }

    /// Makes a folder, as visible as the system makes it; `false` if someone else has made it meanwhile.
    pub(crate) fn make_folder(&mut self, at: &Place) -> io::Result<bool> {
        self.about_to(Moment::Name, &PathText::default())?;
        let folder = self.folder(&at.folder)?;
        match rustix::fs::mkdirat(&*folder, &at.name, Mode::from_raw_mode(0o777)) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Removes a folder if it is empty.
    pub(crate) fn remove_folder(&mut self, at: &Place) -> io::Result<()> {
        self.about_to(Moment::Name, &PathText::default())?;
        self.open.remove(at.path().bytes());
        let folder = self.folder(&at.folder)?;
        Ok(rustix::fs::unlinkat(&*folder, &at.name, AtFlags::REMOVEDIR)?)
    }

    /// Returns what stands at a place, a link as itself; `None` if nothing does.
    pub(crate) fn stat(&mut self, at: &Place) -> io::Result<Option<Stat>> {
        let answer = self
            .folder(&at.folder)
            .and_then(|folder| rustix::fs::statat(&*folder, &at.name, AtFlags::SYMLINK_NOFOLLOW));
        match answer {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Makes a new file for writing; never opens one that is there. The process's umask narrows `mode`.
    pub(crate) fn create(&mut self, at: &Place, mode: u32) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        self.open_at(at, flags, mode)
    }

    /// Makes a new symbolic link.
    pub(crate) fn create_link(&mut self, at: &Place, target: &[u8]) -> io::Result<()> {
        self.about_to(Moment::Name, &PathText::default())?;
        let folder = self.folder(&at.folder)?;
        Ok(rustix::fs::symlinkat(target, &*folder, &at.name)?)
    }

    /// Opens a file that is there for writing in place.
    pub(crate) fn open_to_write(&mut self, at: &Place) -> io::Result<File> {
        self.open_at(at, OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC, 0)
    }

    fn open_at(&mut self, at: &Place, flags: OFlags, mode: u32) -> io::Result<File> {
        self.about_to(Moment::Name, &PathText::default())?;
        let folder = self.folder(&at.folder)?;
        let bits = Mode::from_raw_mode(raw(mode));
        Ok(File::from(rustix::fs::openat(&*folder, &at.name, flags, bits)?))
    }

    /// Opens a file that is there for reading; never waits, even if it has become a pipe.
    pub(crate) fn open_to_read(&mut self, at: &Place) -> io::Result<File> {
        let folder = self.folder(&at.folder)?;
        Ok(File::from(rustix::fs::openat(&*folder, &at.name, reading_flags(), Mode::empty())?))
    }

    /// Sets the mode of a file that is there.
    pub(crate) fn set_mode(&mut self, at: &Place, mode: u32) -> io::Result<()> {
        self.about_to(Moment::Name, &PathText::default())?;
        let folder = self.folder(&at.folder)?;
        // Not through a link: Linux has no way to say so here, but the place was looked at just before.
        let bits = Mode::from_raw_mode(raw(mode & 0o7777));
        Ok(rustix::fs::chmodat(&*folder, &at.name, bits, AtFlags::empty())?)
    }

    /// Removes a name.
    pub(crate) fn remove(&mut self, at: &Place) -> io::Result<()> {
        self.about_to(Moment::Name, &PathText::default())?;
        let folder = self.folder(&at.folder)?;
        Ok(rustix::fs::unlinkat(&*folder, &at.name, AtFlags::empty())?)
    }

    /// Moves a name to a place where nothing stands.
    ///
    /// Where the file system can't refuse to replace, a second name is given and the first removed; where it has no
    /// second names either, the place is looked at before the move, and a file that comes in between is lost.
    pub(crate) fn move_new(&mut self, from: &Place, to: &Place) -> io::Result<()> {
        self.about_to(Moment::Name, &PathText::default())?;
        let (source, target) = (self.folder(&from.folder)?, self.folder(&to.folder)?);
        if self.rig.ways.no_replace {
            match rename_no_replace(&source, &from.name, &target, &to.name) {
                Err(Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => {}
                answer => return Ok(answer?),
            }
        }
        if self.link(from, to)? {
            return self.remove(from).inspect_err(|_| {
                // Of the two names the old one is the one to keep.
                let _ = self.remove(to);
            });
        }
        if self.stat(to)?.is_some() {
            return Err(Errno::EXIST.into());
        }
        self.move_over(from, to)
    }

    /// Moves a name to a place and replaces what stands there, in one step.
    pub(crate) fn move_over(&mut self, from: &Place, to: &Place) -> io::Result<()> {
        self.about_to(Moment::Name, &PathText::default())?;
        let (source, target) = (self.folder(&from.folder)?, self.folder(&to.folder)?);
        Ok(rustix::fs::renameat(&*source, &from.name, &*target, &to.name)?)
    }

    /// Lets two names change places; `false` if the file system can't do that.
    pub(crate) fn exchange(&mut self, one: &Place, other: &Place) -> io::Result<bool> {
        self.about_to(Moment::Name, &PathText::default())?;
        let (first, second) = (self.folder(&one.folder)?, self.folder(&other.folder)?);
        if !self.rig.ways.exchange {
            return Ok(false);
        }
        match rename_exchange(&first, &one.name, &second, &other.name) {
            Ok(()) => Ok(true),
            Err(Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Gives a file a second name; `false` if the file system can't do that.
    pub(crate) fn link(&mut self, from: &Place, to: &Place) -> io::Result<bool> {
        self.about_to(Moment::Name, &PathText::default())?;
        let (source, target) = (self.folder(&from.folder)?, self.folder(&to.folder)?);
        if !self.rig.ways.hard_links {
            return Ok(false);
        }
        match rustix::fs::linkat(&*source, &from.name, &*target, &to.name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM | Errno::MLINK) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Waits until a folder's names are on the disk.
    pub(crate) fn sync(&mut self, folder: &[u8]) -> io::Result<()> {
        self.about_to(Moment::Sync, &PathText::default())?;
        let folder = self.folder(folder)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let readable = rustix::fs::openat(&*folder, ".", flags, Mode::empty())?;
        match rustix::fs::fsync(&readable) {
            // Some file systems don't sync folders, and have nothing to sync.
            Err(Errno::INVAL | Errno::OPNOTSUPP | Errno::ROFS) => Ok(()),
            answer => Ok(answer?),
        }
    }
}

/// Returns mode bits as the system's type has them.
pub(crate) fn raw(mode: u32) -> rustix::fs::RawMode {
    // The type is narrower than u32 on some systems; permission bits fit all of them.
    (mode & 0o7777) as rustix::fs::RawMode
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_no_replace(source: &OwnedFd, from: &[u8], target: &OwnedFd, to: &[u8]) -> Result<(), Errno> {
    rustix::fs::renameat_with(source, from, target, to, rustix::fs::RenameFlags::NOREPLACE)
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_exchange(first: &OwnedFd, one: &[u8], second: &OwnedFd, other: &[u8]) -> Result<(), Errno> {
    rustix::fs::renameat_with(first, one, second, other, rustix::fs::RenameFlags::EXCHANGE)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_no_replace(_: &OwnedFd, _: &[u8], _: &OwnedFd, _: &[u8]) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_exchange(_: &OwnedFd, _: &[u8], _: &OwnedFd, _: &[u8]) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}
