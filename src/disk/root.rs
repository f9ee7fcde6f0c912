//! The folder that every path of a run is confined to: what a path leads to, and whether it may be touched.
//!
//! A path is walked name by name, as the system would walk it, and where it ends is compared with the root before
//! anything is read. What the walk finds has no link in it any more; it is then opened beneath the root with links
//! forbidden, so a link that someone puts in place between the walk and the opening makes the opening fail and can't
//! lead it out. (Linux does that in one call; elsewhere each folder is opened in turn.) What is not closed: a folder
//! that is moved out of the root after it was opened stays open.
//!
//! On a file system that ignores case, two spellings of one name are two paths here; a commit notices that they lead to
//! one file.

#![expect(clippy::disallowed_methods, reason = "disk/ is the room that opens files")]

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::fs::FileType;
use rustix::fs::Mode;
use rustix::fs::OFlags;
use rustix::fs::Stat;
use rustix::io::Errno;

use crate::plan::Attributes;
use crate::plan::FileState;
use crate::plan::FoundFile;
use crate::plan::Given;
use crate::plan::Stamp;
use crate::plan::Want;
use crate::plan::links::LINK_MODE;
use crate::report::Code;
use crate::report::Problem;
use crate::text::Document;
use crate::text::PathText;

use super::error::reason;
use super::folder::Folders;
use super::folder::Place;
use super::folder::Rig;
use super::stage;
use super::whole;

/// How many links one path may lead through; Linux has the same bound.
const LIMIT_LINKS: usize = 40;

/// Folders and files that belong to a version control system, and to nobody else.
const PROTECTED_NAMES: [&[u8]; 3] = [b".git", b".hg", b".jj"];

/// The folder that all paths are confined to.
#[derive(Debug)]
pub struct Root {
    /// Its canonical path; `/` is the empty one, so that a name can always be added after a slash.
    path: Vec<u8>,
    folder: OwnedFd,
    device: u64,
    inode: u64,
}

/// Why a folder can't be the root.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RootError {
    /// There is no such folder, or it can't be opened.
    #[error("cannot use {} as the root", path.display())]
    Open {
        /// The folder as it was named.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// Something stands there that is not a folder.
    #[error("cannot use {} as the root: it is not a folder", path.display())]
    NotAFolder {
        /// The path as it was named.
        path: PathBuf,
    },
}

/// What a change may do beyond what is safe for any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Access {
    /// Files without a write bit may be changed.
    pub force: bool,
    /// Files of a version control system may be touched.
    pub allow_git_dir: bool,
}

/// What is asked of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LookOptions {
    /// A final link stands for the file that it leads to; otherwise (delete, rename) for itself.
    pub follow: bool,
    /// The file is to be changed, moved or deleted: one without a write bit is refused.
    pub write: bool,
    /// A file without a write bit may be changed all the same.
    pub force: bool,
    /// Files of a version control system may be touched.
    pub allow_git_dir: bool,
    /// The bytes are needed; otherwise the document of a file that is found is empty.
    pub read: bool,
}

impl Default for LookOptions {
    /// Follows, reads, is to change the file, and forces nothing.
    fn default() -> Self {
        LookOptions { follow: true, write: true, force: false, allow_git_dir: false, read: true }
    }
}

impl Root {
    /// Opens a folder that is there as the root.
    ///
    /// # Errors
    /// [`RootError::NotAFolder`] for anything else that is there, [`RootError::Open`] for all other failures.
    pub fn open(dir: &Path) -> Result<Self, RootError> {
        let opened = || {
            let path = std::fs::canonicalize(dir)?;
            let folder = rustix::fs::open(&path, folder_flags(), Mode::empty())?;
            let stat = rustix::fs::fstat(&folder)?;
            Ok((path, folder, stamp_of(&stat)))
        };
        match opened() {
            Ok((path, folder, Stamp { device, inode, .. })) => {
                let path = path.as_os_str().as_bytes();
                let path = if path == b"/" { Vec::new() } else { path.to_vec() };
                Ok(Root { path, folder, device, inode })
            }
            Err(error) if io::Error::kind(&error) == io::ErrorKind::NotADirectory => {
                Err(RootError::NotAFolder { path: dir.to_owned() })
            }
            Err(source) => Err(RootError::Open { path: dir.to_owned(), source }),
        }
    }

    /// Returns the root's canonical path.
    pub fn dir(&self) -> &Path {
        if self.path.is_empty() { Path::new("/") } else { Path::new(OsStr::from_bytes(&self.path)) }
    }

    /// Returns the device that the root lies on.
    pub fn device(&self) -> u64 {
        self.device
    }

    /// Returns the root's inode.
    pub fn inode(&self) -> u64 {
        self.inode
    }

    /// Says what stands at a path, and refuses what leads out of the root, is protected or can't be read.
    ///
    /// `path` is relative to the root, or absolute; `..` and links are fine where they end inside. Of a link to a file,
    /// the state is that of the file, and `link` is the link's own path. `real` is the file's path if the link is
    /// followed, else the link's own. Nothing outside of the root is opened; names there are only looked up. Pipes,
    /// sockets and devices are never opened.
    pub fn look(&self, path: &PathText, options: &LookOptions) -> Given {
        let refused = |real, link, problem: Box<Problem>| {
            let state = FileState::Refused(Box::new(problem.with_path(path.shown())));
            Given { real, state, link }
        };
        let lead = match self.confined(path, options) {
            Ok(lead) => lead,
            Err(problem) => return refused(path.normalized(), None, problem),
        };
        let file_path = self.relative(&lead.at);
        let link = lead.link.as_deref().filter(|link| self.contains(link)).map(|link| self.relative(link));
        let real = link.clone().filter(|_| !options.follow).unwrap_or_else(|| file_path.clone());
        match self.state(path, &file_path, &lead, options) {
            Ok(state) => Given { real, state, link },
            Err(problem) => refused(real, link, problem),
        }
    }

    /// Says what stands at a path if that is a symbolic link, taken for itself: a file whose content is its target.
    /// `None` if no link stands there. Where the link leads does not matter: nothing goes through it.
    pub fn look_at_link(&self, path: &PathText, options: &LookOptions) -> Option<Given> {
        let (folder, name) = match path.bytes().iter().rposition(|&byte| byte == b'/') {
            Some(slash) => (&path.bytes()[..=slash], &path.bytes()[slash + 1..]),
            None => (&b"."[..], path.bytes()),
        };
        if matches!(name, b"" | b"." | b"..") || path.bytes().contains(&0) {
            return None;
        }
        let lead = self.walk(&PathText::new(folder));
        let stands = lead.astray.is_none() && self.contains(&lead.at) && lead.standing.is_some();
        let is_protected = lead.is_protected || is_protected_name(name);
        if !stands || is_protected && !options.allow_git_dir {
            return None;
        }
        let real = self.relative(&[&lead.at, b"/".as_slice(), name].concat());
        let (folder, name) = match real.bytes().iter().rposition(|&byte| byte == b'/') {
            Some(slash) => real.bytes().split_at(slash),
            None => (&b""[..], real.bytes()),
        };
        let name = name.strip_prefix(b"/").unwrap_or(name);
        let folder = self.open_folder(folder).ok()?;
        let stat = rustix::fs::statat(&folder, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).ok()?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Symlink {
            return None;
        }
        let target = rustix::fs::readlinkat(&folder, name, Vec::new()).ok()?;
        let document = Document::new(target.into_bytes());
        let found = FoundFile { mode: LINK_MODE, ..found_file(&stat, document) };
        Some(Given { real: real.clone(), state: FileState::File(found), link: Some(real) })
    }

    /// Walks a path and refuses it if it ends, or changes something, outside of the root or in a protected folder.
    fn confined(&self, path: &PathText, options: &LookOptions) -> Result<Lead, Box<Problem>> {
        let shown = path.shown();
        if path.bytes().is_empty() || path.bytes().contains(&0) {
            let cause = if path.bytes().is_empty() { "is empty" } else { "holds a NUL byte" };
            return Err(Problem::new(Code::Malformed, format!("the path `{shown}` {cause}")).into());
        }
        let lead = self.walk(path);
        let changed = lead.link.as_ref().filter(|_| !options.follow).unwrap_or(&lead.at);
        if let Some(outside) = [&lead.at, changed].into_iter().find(|at| !self.contains(at)) {
            return Err(self.outside(path, outside).into());
        }
        if lead.is_protected && !options.allow_git_dir {
            let message = format!("`{shown}` belongs to version control");
            return Err(Problem::new(Code::Protected, message)
                .with_hint("allow it with --allow-git-dir")
                .into());
        }
        match &lead.astray {
            None => Ok(lead),
            Some(astray) => Err(self.astray_problem(path, &lead, astray).into()),
        }
    }

    fn outside(&self, path: &PathText, outside: &[u8]) -> Problem {
        let place = if outside.is_empty() { "/".into() } else { String::from_utf8_lossy(outside) };
        let message = format!("`{}` leads out of the root, to {place}", path.shown());
        let hint = format!("use a path inside {}, or another --root", self.dir().display());
        Problem::new(Code::OutsideRoot, message).with_hint(hint)
    }

    fn astray_problem(&self, path: &PathText, lead: &Lead, astray: &Astray) -> Problem {
        let shown = path.shown();
        match astray {
            Astray::Dangling(link) => Problem::new(
                Code::FileMissing,
                format!(
                    "`{shown}` goes through the link `{}`, which leads to nothing at `{}`",
                    self.relative(link).shown(),
                    self.relative(&lead.at).shown()
                ),
            )
            .with_hint("name the file itself"),
            Astray::Loop => Problem::new(Code::NotAFile, format!("`{shown}` is a loop of links"))
                .with_hint("name the file itself"),
            Astray::UnderFile(place) => {
                let place = self.relative(place);
                let message = format!("`{shown}` lies under `{}`, which is not a folder", place.shown());
                Problem::new(Code::NotAFile, message).with_hint("name a path that goes through folders only")
            }
            Astray::Unreadable(errno) => unreadable(path, &io::Error::from(*errno)),
        }
    }

    fn state(
        &self,
        path: &PathText,
        file_path: &PathText,
        lead: &Lead,
        options: &LookOptions,
    ) -> Result<FileState, Box<Problem>> {
        let named_as_folder = names_folder(path.bytes());
        let Some(stat) = &lead.standing else {
            if named_as_folder {
                let message = format!("`{}` names a folder, not a file", path.shown());
                return Err(Problem::new(Code::NotAFile, message).into());
            }
            return Ok(FileState::Absent);
        };
        if let Some(kind) = other_kind(stat) {
            return Ok(FileState::Other(kind));
        }
        if named_as_folder {
            return Err(Problem::new(Code::NotAFile, format!("`{}` is not a folder", path.shown())).into());
        }
        let acts_on_link = lead.link.is_some() && !options.follow;
        if options.write && !options.force && !acts_on_link && mode_of(stat) & 0o222 == 0 {
            let message = format!("`{}` is read-only", path.shown());
            return Err(Problem::new(Code::ReadOnly, message)
                .with_hint("change it all the same with --force")
                .into());
        }
        if !options.read {
            return Ok(FileState::File(found_file(stat, Document::new(Vec::new()))));
        }
        match self.read(file_path) {
            Ok(Some(found)) => Ok(FileState::File(found)),
            Ok(None) => Ok(FileState::Other("something else")),
            Err(error) => Err(unreadable(path, &error).into()),
        }
    }

    /// Returns how many of the folders that a real path lies in are missing: the innermost ones.
    pub fn missing_folders(&self, real: &PathText) -> usize {
        folders_of(real).take_while(|folder| matches!(self.open_folder(folder), Err(Errno::NOENT))).count()
    }

    /// Removes so many of the folders that a real path lies in, the innermost first, as long as they are empty.
    pub fn remove_empty_folders(&self, real: &PathText, count: usize) {
        for folder in folders_of(real).take(count) {
            let (above, name) = match folder.iter().rposition(|&byte| byte == b'/') {
                Some(slash) => (&folder[..slash], &folder[slash + 1..]),
                None => (&b""[..], folder),
            };
            let removed = self
                .open_folder(above)
                .and_then(|above| rustix::fs::unlinkat(&above, name, rustix::fs::AtFlags::REMOVEDIR));
            // A folder that something else is in stays, and so do those above it.
            if removed.is_err() {
                return;
            }
        }
    }

    /// Reads a regular file by its real path; `None` if something else has come to its place.
    pub(crate) fn read(&self, real: &PathText) -> io::Result<Option<FoundFile>> {
        read_regular(File::from(self.open_file(real)?))
    }

    /// Tells whether a regular file stands at a real path and holds these bytes.
    pub(crate) fn holds(&self, real: &PathText, bytes: &[u8]) -> io::Result<bool> {
        let file = File::from(self.open_file(real)?);
        let stat = rustix::fs::fstat(&file)?;
        if other_kind(&stat).is_some() {
            return Ok(false);
        }
        whole::is_equal(file, bytes)
    }

    /// Opens a file for reading by its real path, without waiting for a writer if it has become a pipe.
    pub(crate) fn open_file(&self, real: &PathText) -> Result<OwnedFd, Errno> {
        self.open_beneath(real.bytes(), reading_flags())
    }

    /// Opens a folder by its real path; the empty one is the root itself.
    pub(crate) fn open_folder(&self, real: &[u8]) -> Result<OwnedFd, Errno> {
        self.open_beneath(real, folder_flags())
    }

    /// Opens the root itself so that its names can be listed, which its lock needs.
    pub(crate) fn open_to_list(&self) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::openat(&self.folder, ".", flags, Mode::empty())
    }

    /// Returns the real path and metadata of the file that a path leads to, if that is inside.
    pub(crate) fn follow(&self, path: &PathText) -> Option<(PathText, Stat)> {
        let lead = self.walk(path);
        let stands = lead.astray.is_none() && self.contains(&lead.at);
        lead.standing.filter(|_| stands).map(|stat| (self.relative(&lead.at), stat))
    }

    /// Opens what stands at a real path beneath the root; fails if there is a link in the path or at its end.
    fn open_beneath(&self, real: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let real = if real.is_empty() { b"." } else { real };
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            use rustix::fs::ResolveFlags;
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
            match rustix::fs::openat2(&self.folder, real, flags, Mode::empty(), resolve) {
                // Old kernels don't have the call, and some sandboxes answer that it is not permitted.
                Err(Errno::NOSYS | Errno::PERM) => {}
                answer => return answer,
            }
        }
        self.open_part_by_part(real, flags)
    }

    fn open_part_by_part(&self, real: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
        let (folders, name) = match real.iter().rposition(|&byte| byte == b'/') {
            Some(slash) => (&real[..slash], &real[slash + 1..]),
            None => (&b""[..], real),
        };
        let mut folder = rustix::fs::openat(&self.folder, ".", folder_flags(), Mode::empty())?;
        for part in folders.split(|&byte| byte == b'/').filter(|part| !part.is_empty()) {
            if part == b".." {
                return Err(Errno::XDEV);
            }
            folder = rustix::fs::openat(&folder, part, folder_flags(), Mode::empty())?;
        }
        rustix::fs::openat(&folder, name, flags, Mode::empty())
    }

    /// Tells whether a canonical absolute path is the root or lies beneath it; `/a/bc` does not lie beneath `/a/b`.
    fn contains(&self, at: &[u8]) -> bool {
        at.strip_prefix(self.path.as_slice()).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
    }

    /// Returns a canonical absolute path relative to the root; one that is outside stays as it is.
    fn relative(&self, at: &[u8]) -> PathText {
        match at.strip_prefix(self.path.as_slice()) {
            Some([b'/', rest @ ..]) => PathText::new(rest),
            Some([]) => PathText::new(""),
            _ => PathText::new(at),
        }
    }

    /// Follows a path to its end, name by name and link by link, as the system does.
    ///
    /// A name that is missing ends the look-ups, not the walk: what comes after it is added to the path.
    fn walk(&self, path: &PathText) -> Lead {
        let start = if path.is_absolute() { Vec::new() } else { self.path.clone() };
        let mut walk = Walk {
            root: self,
            lead: Lead { at: start, standing: None, link: None, is_protected: false, astray: None },
            pending: Vec::new(),
            links: 0,
            last_link: Vec::new(),
            missing_below: None,
        };
        walk.push_names(path.bytes(), Origin::Path);
        while let Some((name, origin)) = walk.pending.pop() {
            if let Err(astray) = walk.enter(&name, origin) {
                walk.lead.astray = Some(astray);
                break;
            }
        }
        walk.finish()
    }
}

/// Looks at many paths of one root: folders stay open in between, so that each look costs less.
///
/// Not to be kept longer than one call needs: a folder that is replaced meanwhile is still the old one here.
pub struct Looks<'a> {
    root: &'a Root,
    folders: Folders<'a>,
}

impl fmt::Debug for Looks<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Looks").field("root", &self.root).finish_non_exhaustive()
    }
}

impl<'a> Looks<'a> {
    /// Begins with no folder open.
    pub fn new(root: &'a Root) -> Self {
        Looks { root, folders: Folders::new(root, Rig::none()) }
    }

    /// Says what a planner wants to know of a path that is to be changed.
    pub fn answer(&mut self, want: &Want, access: Access) -> Given {
        let Access { force, allow_git_dir } = access;
        let options =
            LookOptions { follow: want.follows_link, write: true, force, allow_git_dir, read: true };
        let link = if want.is_link { self.look_at_link(&want.path, &options) } else { None };
        link.unwrap_or_else(|| self.look(&want.path, &options))
    }

    /// Says what [`Root::look_at_link`] says.
    pub fn look_at_link(&self, path: &PathText, options: &LookOptions) -> Option<Given> {
        self.root.look_at_link(path, options)
    }

    /// Says what [`Root::look`] says.
    pub fn look(&mut self, path: &PathText, options: &LookOptions) -> Given {
        match self.plain_state(path, options) {
            Some(state) => Given { real: path.clone(), state, link: None },
            None => self.root.look(path, options),
        }
    }

    /// Returns what stands at a path that is written plainly and leads through no link; `None` if anything about it
    /// needs a closer look.
    fn plain_state(&mut self, path: &PathText, options: &LookOptions) -> Option<FileState> {
        let place = Place::of(path)?;
        let is_protected = || path.bytes().split(|&byte| byte == b'/').any(is_protected_name);
        if !options.allow_git_dir && is_protected() {
            return None;
        }
        // A folder that can be opened without following a link is where the path says.
        self.folders.folder(place.folder()).ok()?;
        let Some(stat) = self.folders.stat(&place).ok()? else { return Some(FileState::Absent) };
        let is_read_only = options.write && !options.force && mode_of(&stat) & 0o222 == 0;
        if other_kind(&stat).is_some() || is_read_only {
            return None;
        }
        if !options.read {
            return Some(FileState::File(found_file(&stat, Document::new(Vec::new()))));
        }
        read_regular(self.folders.open_to_read(&place).ok()?).ok()?.map(FileState::File)
    }
}

/// Where a path leads.
#[derive(Debug)]
struct Lead {
    /// The canonical absolute path of its end; `/` is the empty one.
    at: Vec<u8>,
    /// What stands there.
    standing: Option<Stat>,
    /// The path's last name is a link: its own canonical path.
    link: Option<Vec<u8>>,
    /// A name that belongs to version control is part of where it leads, or of a link on the way.
    is_protected: bool,
    /// Why it leads nowhere; `at` is then how far it came.
    astray: Option<Astray>,
}

/// Why a path leads nowhere.
#[derive(Debug)]
enum Astray {
    /// This link leads to nothing.
    Dangling(Vec<u8>),
    /// Its links never end.
    Loop,
    /// It goes on below this, which is not a folder.
    UnderFile(Vec<u8>),
    /// A name can't be looked up.
    Unreadable(Errno),
}

/// Where a name that is still to be walked was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Path,
    Link,
}

/// A path that is being walked.
struct Walk<'a> {
    root: &'a Root,
    lead: Lead,
    /// The names still to be walked, the next one last.
    pending: Vec<(Vec<u8>, Origin)>,
    links: usize,
    last_link: Vec<u8>,
    /// The length of `at` where names began to be missing.
    missing_below: Option<usize>,
}

impl Walk<'_> {
    fn push_names(&mut self, path: &[u8], origin: Origin) {
        let names = path.split(|&byte| byte == b'/').filter(|name| !matches!(*name, b"" | b"."));
        self.pending.extend(names.rev().map(|name| (name.to_vec(), origin)));
    }

    /// Goes one name further.
    fn enter(&mut self, name: &[u8], origin: Origin) -> Result<(), Astray> {
        self.lead.standing = None;
        if name == b".." {
            let parent_length = self.lead.at.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
            self.lead.at.truncate(parent_length);
            self.missing_below = self.missing_below.filter(|&length| length < parent_length);
            return Ok(());
        }
        let parent_length = self.lead.at.len();
        self.lead.at.push(b'/');
        self.lead.at.extend_from_slice(name);
        if self.missing_below.is_some() {
            return Ok(());
        }
        let stat = match rustix::fs::lstat(&self.lead.at) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => {
                self.missing_below = Some(parent_length);
                if origin == Origin::Link && self.lead.astray.is_none() {
                    return self.dangle();
                }
                return Ok(());
            }
            Err(errno) => return Err(Astray::Unreadable(errno)),
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => self.enter_link(parent_length, origin),
            FileType::Directory => {
                self.lead.standing = Some(stat);
                Ok(())
            }
            _ if self.pending.is_empty() => {
                self.lead.standing = Some(stat);
                Ok(())
            }
            _ => Err(Astray::UnderFile(self.lead.at.clone())),
        }
    }

    fn enter_link(&mut self, parent_length: usize, origin: Origin) -> Result<(), Astray> {
        self.links += 1;
        if self.links > LIMIT_LINKS {
            return Err(Astray::Loop);
        }
        let target = rustix::fs::readlink(&self.lead.at, Vec::new()).map_err(Astray::Unreadable)?;
        self.last_link = self.lead.at.clone();
        if origin == Origin::Path && self.pending.is_empty() {
            self.lead.link = Some(self.last_link.clone());
        }
        // A link that is itself named like a protected folder is as protected as the folder.
        self.lead.is_protected |= self.names_protected(&self.last_link);
        let target = target.to_bytes();
        self.lead.at.truncate(if target.first() == Some(&b'/') { 0 } else { parent_length });
        self.push_names(target, Origin::Link);
        Ok(())
    }

    /// Completes the path of a link that leads to nothing, since that may be outside.
    fn dangle(&mut self) -> Result<(), Astray> {
        let mut at = PathText::new(self.lead.at.clone());
        for (name, _) in self.pending.drain(..).rev() {
            at = PathText::new([at.bytes(), b"/", &name].concat());
        }
        self.lead.at = without_final_slash(at.normalized());
        Err(Astray::Dangling(self.last_link.clone()))
    }

    fn names_protected(&self, at: &[u8]) -> bool {
        self.root.contains(at)
            && self.root.relative(at).bytes().split(|&byte| byte == b'/').any(is_protected_name)
    }

    fn finish(mut self) -> Lead {
        let ended_on_parent = self.lead.standing.is_none() && self.missing_below.is_none();
        if ended_on_parent && self.lead.astray.is_none() {
            let at: &[u8] = if self.lead.at.is_empty() { b"/" } else { &self.lead.at };
            match rustix::fs::lstat(at) {
                Ok(stat) => self.lead.standing = Some(stat),
                Err(errno) => self.lead.astray = Some(Astray::Unreadable(errno)),
            }
        }
        self.lead.is_protected |= self.names_protected(&self.lead.at);
        self.lead
    }
}

fn without_final_slash(path: PathText) -> Vec<u8> {
    if path.bytes() == b"/" { Vec::new() } else { path.bytes().to_vec() }
}

/// Tells whether a path is written so that only a folder can stand there.
fn names_folder(path: &[u8]) -> bool {
    matches!(path.rsplit(|&byte| byte == b'/').next(), Some(b"" | b"." | b".."))
}

/// Iterates over the folders that a real path lies in, the innermost first; the root is not among them.
fn folders_of(real: &PathText) -> impl Iterator<Item = &[u8]> {
    let mut path = real.bytes();
    std::iter::from_fn(move || {
        path = &path[..path.iter().rposition(|&byte| byte == b'/')?];
        Some(path)
    })
}

/// Tells whether a name belongs to version control, also on a file system that ignores case or, as HFS+ does, some
/// characters that can't be seen.
///
/// NTFS drops dots and blanks at the end of a name, takes what follows a colon for a stream of the file, and has short
/// names for long ones: `.git.`, `.git::$INDEX_ALLOCATION` and `GIT~1` may all be `.git`. What is made here may be copied
/// there, so these are protected everywhere, as git has them.
fn is_protected_name(name: &[u8]) -> bool {
    let is_protected = |name: &[u8]| {
        let name = name.split(|&byte| matches!(byte, b':' | b'\\')).next().unwrap_or_default();
        let length = name.iter().rposition(|byte| !matches!(byte, b' ' | b'.')).map_or(0, |last| last + 1);
        let name = &name[..length];
        PROTECTED_NAMES.iter().any(|other| {
            let short = name.strip_suffix(b"~1");
            name.eq_ignore_ascii_case(other)
                || short.is_some_and(|short| short.eq_ignore_ascii_case(&other[1..]))
        })
    };
    if name.is_ascii() {
        return is_protected(name);
    }
    let is_ignored = |letter: &char| matches!(letter, '\u{200C}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{206A}'..='\u{206F}' | '\u{FEFF}');
    let seen: String = String::from_utf8_lossy(name).chars().filter(|letter| !is_ignored(letter)).collect();
    is_protected(seen.as_bytes())
}

fn unreadable(path: &PathText, error: &io::Error) -> Problem {
    Problem::new(Code::Io, format!("cannot read `{}`: {}", path.shown(), reason(error)))
}

/// Returns how a folder is opened: where it can be, only as a place, so that it need not be readable.
fn folder_flags() -> OFlags {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let access = OFlags::PATH;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let access = OFlags::RDONLY;
    access | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW
}

/// Returns what stands there in words, unless it is a regular file.
pub(crate) fn other_kind(stat: &Stat) -> Option<&'static str> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => None,
        FileType::Directory => Some("directory"),
        FileType::Symlink => Some("link"),
        FileType::Fifo => Some("fifo"),
        FileType::Socket => Some("socket"),
        FileType::CharacterDevice | FileType::BlockDevice => Some("device"),
        FileType::Unknown => Some("something else"),
    }
}

/// Returns the flags that open a file for reading: never through a link, and without waiting for the writer of a pipe.
pub(crate) fn reading_flags() -> OFlags {
    OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC
}

/// Reads an open file; `None` if it is no regular one.
fn read_regular(file: File) -> io::Result<Option<FoundFile>> {
    let stat = rustix::fs::fstat(&file)?;
    if other_kind(&stat).is_some() {
        return Ok(None);
    }
    let attributes = stage::attributes_of(&file);
    let document = whole::read(file, usize::try_from(stat.st_size).unwrap_or(0))?;
    let mut found = found_file(&stat, document);
    found.stamp.attributes = attributes;
    Ok(Some(found))
}

fn found_file(stat: &Stat, document: Document) -> FoundFile {
    FoundFile {
        document: Arc::new(document),
        mode: mode_of(stat),
        hard_links: widened(stat.st_nlink) as u64,
        stamp: stamp_of(stat),
    }
}

/// Returns all mode bits and the type.
pub(crate) fn mode_of(stat: &Stat) -> u32 {
    widened(stat.st_mode) as u32
}

/// Returns what tells that a file is still the same one.
pub(crate) fn stamp_of(stat: &Stat) -> Stamp {
    let nanoseconds = |seconds: i128, rest: i128| seconds * 1_000_000_000 + rest;
    Stamp {
        device: widened(stat.st_dev) as u64,
        inode: widened(stat.st_ino) as u64,
        size: widened(stat.st_size) as u64,
        modified_ns: nanoseconds(widened(stat.st_mtime), widened(stat.st_mtime_nsec)),
        changed_ns: nanoseconds(widened(stat.st_ctime), widened(stat.st_ctime_nsec)),
        owner: (stat.st_uid, stat.st_gid),
        attributes: Attributes::Unknown,
    }
}

/// Widens a number of the system's, whose type differs from one system to the next.
fn widened(number: impl TryInto<i128>) -> i128 {
    number.try_into().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::super::tree::Node;
    use super::super::tree::Tree;
    use super::super::tree::link;
    use super::super::tree::text;
    use super::super::tree::with_mode;
    use super::*;

    /// A state as the tests compare it: what stands there, or the code of the refusal.
    #[derive(Debug, PartialEq)]
    enum Seen {
        Absent,
        File(&'static str),
        Other(&'static str),
        Refused(Code),
    }

    /// Looks by itself and among others, which must say the same.
    fn look(tree: &Tree, path: &str, options: LookOptions) -> (String, Seen, Option<String>) {
        let root = Root::open(&tree.root()).unwrap();
        let path_text = PathText::from(path);
        let seen = described(path, root.look(&path_text, &options));
        let mut looks = Looks::new(&root);
        for _ in 0..2 {
            assert_eq!(described(path, looks.look(&path_text, &options)), seen);
        }
        seen
    }

    fn described(path: &str, given: Given) -> (String, Seen, Option<String>) {
        let seen = match given.state {
            FileState::Absent => Seen::Absent,
            FileState::File(file) => {
                Seen::File(String::from_utf8_lossy(file.document.bytes()).into_owned().leak())
            }
            FileState::Other(kind) => Seen::Other(kind),
            FileState::Refused(problem) => {
                assert_eq!(problem.path.as_deref(), Some(path));
                Seen::Refused(problem.code)
            }
        };
        (given.real.shown().into_owned(), seen, given.link.map(|link| link.shown().into_owned()))
    }

    /// Looks at a path as an edit does, and compares where it leads and what is there.
    fn check(tree: &Tree, path: &str, real: &str, seen: Seen) {
        let (found_real, found, _) = look(tree, path, LookOptions::default());
        assert_eq!((found_real.as_str(), found), (real, seen), "{path}");
    }

    fn check_refused(tree: &Tree, path: &str, code: Code) {
        assert_eq!(look(tree, path, LookOptions::default()).1, Seen::Refused(code), "{path}");
    }

    #[test]
    fn a_path_inside_leads_where_the_system_takes_it() {
        let tree = Tree::new(&[
            ("a", text("1")),
            ("deep/t", text("2")),
            ("deep/dir/f", link("../t")),
            ("d", link("deep/dir")),
            ("abs", link("a")),
        ]);
        let root = tree.root();
        let root = root.to_str().unwrap();
        check(&tree, "a", "a", Seen::File("1"));
        check(&tree, "./a", "a", Seen::File("1"));
        check(&tree, "deep/../a", "a", Seen::File("1"));
        check(&tree, "../root/a", "a", Seen::File("1"));
        check(&tree, &format!("{root}/a"), "a", Seen::File("1"));
        check(&tree, &format!("{root}/../root//deep/./t"), "deep/t", Seen::File("2"));
        check(&tree, "d/f", "deep/t", Seen::File("2"));
        // Through a link `..` is the real folder's, as for any program.
        check(&tree, "d/../t", "deep/t", Seen::File("2"));
        check(&tree, "d/new", "deep/dir/new", Seen::Absent);
        check(&tree, "new/folder/x", "new/folder/x", Seen::Absent);
        check(&tree, "new/../a", "a", Seen::File("1"));
        check(&tree, "deep", "deep", Seen::Other("directory"));
        check(&tree, ".", "", Seen::Other("directory"));
        check(&tree, root, "", Seen::Other("directory"));
    }

    #[test]
    fn what_leads_out_is_refused_by_name_and_by_link() {
        let tree = Tree::new(&[
            ("../x", text("secret")),
            ("../root2/x", text("secret")),
            ("../out/x", text("secret")),
            ("in", text("1")),
            ("l", link("../out")),
            ("f", link("../x")),
            ("ff", link("f")),
            ("gone", link("../new")),
            ("gone-deep", link("../new/er/x")),
            ("up", link("..")),
            ("../to-in", link("root/in")),
        ]);
        let top = tree.top();
        let top = top.to_str().unwrap();
        for path in
            ["../x", "a/../../x", "l/x", "l/new", "l", "f", "ff", "gone", "gone-deep", "up", "up/x", ".."]
        {
            check_refused(&tree, path, Code::OutsideRoot);
            let deletes = LookOptions { follow: false, ..LookOptions::default() };
            assert_eq!(look(&tree, path, deletes).1, Seen::Refused(Code::OutsideRoot), "{path}");
        }
        for path in
            ["/", "/etc/passwd", &format!("{top}/x"), &format!("{top}/root2/x"), &format!("{top}/nowhere/x")]
        {
            check_refused(&tree, path, Code::OutsideRoot);
        }
        // Through a link back in, the file is inside; but the link itself is not, and can't be deleted.
        let back = format!("{top}/to-in");
        check(&tree, &back, "in", Seen::File("1"));
        let deletes = LookOptions { follow: false, ..LookOptions::default() };
        assert_eq!(look(&tree, &back, deletes).1, Seen::Refused(Code::OutsideRoot));
    }

    #[test]
    fn a_refusal_says_where_the_path_leads() {
        let tree = Tree::new(&[("../out/x", text("secret")), ("l", link("../out"))]);
        let root = Root::open(&tree.root()).unwrap();
        let FileState::Refused(problem) = root.look(&"l/x".into(), &LookOptions::default()).state else {
            panic!("not refused");
        };
        let top = tree.top();
        assert_eq!(problem.message, format!("`l/x` leads out of the root, to {}/out/x", top.display()));
        assert_eq!(
            problem.hint,
            Some(format!("use a path inside {}/root, or another --root", top.display()))
        );
    }

    #[test]
    fn links_that_lead_nowhere_are_refused() {
        let tree = Tree::new(&[
            ("l", link("l")),
            ("m", link("n")),
            ("n", link("m")),
            ("gone", link("t")),
            ("folder", link("nowhere")),
        ]);
        check_refused(&tree, "l", Code::NotAFile);
        check_refused(&tree, "m/x", Code::NotAFile);
        check_refused(&tree, "gone", Code::FileMissing);
        check_refused(&tree, "folder/x", Code::FileMissing);
    }

    #[test]
    fn a_link_is_followed_or_stands_for_itself() {
        let tree = Tree::new(&[
            ("a", with_mode("1", 0o444)),
            ("l", link("a")),
            ("ll", link("l")),
            ("d/x", link("../a")),
        ]);
        let force = LookOptions { force: true, ..LookOptions::default() };
        assert_eq!(look(&tree, "ll", force), ("a".into(), Seen::File("1"), Some("ll".into())));
        assert_eq!(look(&tree, "d/x", force), ("a".into(), Seen::File("1"), Some("d/x".into())));
        assert_eq!(look(&tree, "a", force), ("a".into(), Seen::File("1"), None));
        // That the file is read-only is no reason to keep the link.
        let deletes = LookOptions { follow: false, ..LookOptions::default() };
        assert_eq!(look(&tree, "ll", deletes), ("ll".into(), Seen::File("1"), Some("ll".into())));
        assert_eq!(look(&tree, "a", deletes).1, Seen::Refused(Code::ReadOnly));
    }

    #[test]
    fn version_control_is_protected_by_every_name() {
        let tree = Tree::new(&[
            (".git/config", text("c")),
            ("sub/.hg/x", text("c")),
            ("to-git", link(".git")),
            (".jj", link("meta")),
            ("meta/x", text("c")),
            (".gitignore", text("i")),
        ]);
        for path in [
            ".git/config",
            ".GIT/new",
            "sub/.hg/x",
            "to-git/config",
            ".jj/x",
            ".git",
            "x/.Git",
            ".g\u{200C}it/x",
            ".git./config",
            ".git . /config",
            ".git::$INDEX_ALLOCATION/config",
            ".git\\config",
            "GIT~1/config",
            "hg~1/x",
            ".GI\u{200D}T . /x",
        ] {
            check_refused(&tree, path, Code::Protected);
        }
        check(&tree, ".gitignore", ".gitignore", Seen::File("i"));
        for path in ["git", "git~2", "x.git", ".git.x", ". git", ".github/x", "a:b"] {
            check(&tree, path, path, Seen::Absent);
        }
        let allowed = LookOptions { allow_git_dir: true, ..LookOptions::default() };
        assert_eq!(look(&tree, "to-git/config", allowed).1, Seen::File("c"));
        // A root inside of such a folder is the user's own choice.
        let root = Root::open(&tree.root().join(".git")).unwrap();
        assert!(matches!(root.look(&"config".into(), &LookOptions::default()).state, FileState::File(_)));
    }

    #[test]
    fn what_is_no_file_is_never_opened() {
        let tree =
            Tree::new(&[("p", Node::Fifo), ("d", Node::Folder), ("a", text("1")), ("to-p", link("p"))]);
        let _socket = UnixListener::bind(tree.root().join("s")).unwrap();
        check(&tree, "p", "p", Seen::Other("fifo"));
        check(&tree, "to-p", "p", Seen::Other("fifo"));
        check(&tree, "s", "s", Seen::Other("socket"));
        check(&tree, "d/", "d", Seen::Other("directory"));
        for path in ["a/x", "a/../a", "a/x/y", "p/x", "a/", "new/", "new/."] {
            check_refused(&tree, path, Code::NotAFile);
        }
        check_refused(&tree, "", Code::Malformed);
        check_refused(&tree, "a\0b", Code::Malformed);
        check_refused(&tree, &"x".repeat(300), Code::Io);
    }

    #[test]
    fn a_file_without_a_write_bit_is_read_but_not_written() {
        let tree = Tree::new(&[("a", with_mode("1", 0o444)), ("b", with_mode("2", 0o464))]);
        check_refused(&tree, "a", Code::ReadOnly);
        check(&tree, "b", "b", Seen::File("2"));
        let reads = LookOptions { write: false, ..LookOptions::default() };
        assert_eq!(look(&tree, "a", reads).1, Seen::File("1"));
        let forces = LookOptions { force: true, ..LookOptions::default() };
        assert_eq!(look(&tree, "a", forces).1, Seen::File("1"));
    }

    #[test]
    fn what_is_found_is_described() {
        let tree = Tree::new(&[("a", with_mode("12", 0o4755))]);
        std::fs::hard_link(tree.root().join("a"), tree.root().join("b")).unwrap();
        let root = Root::open(&tree.root()).unwrap();
        let file = |read| match root.look(&"a".into(), &LookOptions { read, ..LookOptions::default() }).state
        {
            FileState::File(file) => file,
            other => panic!("{other:?}"),
        };
        let found = file(true);
        assert_eq!((found.mode, found.hard_links, found.stamp.size), (0o104755, 2, 2));
        assert!(found.stamp.modified_ns > 0 && found.stamp.changed_ns >= found.stamp.modified_ns);
        let unread = file(false);
        let stamp = Stamp { attributes: Attributes::Unknown, ..found.stamp };
        assert_eq!((unread.stamp, unread.document.bytes()), (stamp, &b""[..]));
    }

    #[test]
    fn bytes_of_a_name_need_not_be_text() {
        let tree = Tree::new(&[]);
        let name = OsStr::from_bytes(b"caf\xE9");
        std::fs::write(tree.root().join(name), "1").unwrap();
        let given =
            Root::open(&tree.root()).unwrap().look(&PathText::new(&b"caf\xE9"[..]), &LookOptions::default());
        assert_eq!(given.real.bytes(), b"caf\xE9");
        assert!(matches!(given.state, FileState::File(_)));
    }

    #[test]
    fn missing_folders_are_counted_and_empty_ones_removed() {
        let tree = Tree::new(&[("d/a", text("1")), ("e/f/g", Node::Folder), ("l", link("e"))]);
        let root = Root::open(&tree.root()).unwrap();
        let count = |path: &str| root.missing_folders(&path.into());
        assert_eq!(["a", "d/a", "d/x/a", "x/y/z/a", "d/a/x"].map(count), [0, 0, 1, 3, 0]);
        root.remove_empty_folders(&"d/a".into(), 1);
        root.remove_empty_folders(&"l/f/g/a".into(), 3);
        root.remove_empty_folders(&"e/f/g/a".into(), 2);
        let left = super::super::tree::nodes(&[("d/a", text("1")), ("e", Node::Folder), ("l", link("e"))]);
        assert_eq!(tree.nodes(), left);
    }

    #[test]
    fn only_a_folder_is_a_root() {
        let tree = Tree::new(&[("a", text("1"))]);
        assert!(matches!(Root::open(&tree.root().join("a")), Err(RootError::NotAFolder { .. })));
        assert!(matches!(Root::open(&tree.root().join("b")), Err(RootError::Open { .. })));
        let root = Root::open(&tree.root().join("../root")).unwrap();
        assert_eq!(root.dir(), tree.root().canonicalize().unwrap());
        let slash = Root::open(Path::new("/")).unwrap();
        assert_eq!(slash.dir(), Path::new("/"));
        let options = LookOptions { write: false, ..LookOptions::default() };
        let inside = PathText::new(tree.root().join("a").canonicalize().unwrap().as_os_str().as_bytes());
        assert!(matches!(slash.look(&inside, &options).state, FileState::File(_)));
    }

    #[test]
    fn a_link_that_comes_in_between_is_not_followed() {
        let tree = Tree::new(&[("d/a", text("1")), ("../out/a", text("secret"))]);
        let root = Root::open(&tree.root()).unwrap();
        assert!(root.open_file(&"d/a".into()).is_ok());
        assert!(root.open_part_by_part(b"d/a", OFlags::RDONLY).is_ok());
        std::fs::rename(tree.root().join("d"), tree.root().join("e")).unwrap();
        tree.put("d", &link("../out"));
        assert!(root.open_file(&"d/a".into()).is_err());
        assert!(root.open_part_by_part(b"d/a", OFlags::RDONLY).is_err());
        assert!(root.open_part_by_part(b"e/../d/a", OFlags::RDONLY).is_err());
        // Not even one that stays inside: what was looked at is not what is there now.
        tree.put("f", &link("e"));
        assert!(root.open_file(&"f/a".into()).is_err());
        assert!(root.open_part_by_part(b"f/a", OFlags::RDONLY).is_err());
    }
}
