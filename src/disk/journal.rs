//! The journal of a commit as a file, the lock on a root, and what becomes of a journal that a killed run has left.
//!
//! One writing run at a time works in a root: it holds a lock on the root's folder, which ends with the process and
//! leaves nothing behind. A journal lies outside of the root, in a folder that only its owner can write, under a name
//! that begins with the root's inode; it is there only while a commit is on its way. Whoever opens a root to write
//! looks for journals of that root first. One whose writer is gone is finished or taken back, then removed; one that is
//! damaged, of another version or somebody else's is left and reported, never followed.
//!
//! Where the folders come from, how long to wait and what to print is the caller's business.

#![expect(clippy::disallowed_methods, reason = "disk/ is the room that opens files")]

use std::cell::RefCell;
use std::collections::hash_map::RandomState;
use std::ffi::OsStr;
use std::fmt;
use std::fs::DirBuilder;
use std::fs::File;
use std::fs::TryLockError;
use std::hash::BuildHasher;
use std::io;
use std::io::Read;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::path::PathBuf;

use rustix::fs::AtFlags;
use rustix::fs::Dir;
use rustix::fs::Mode;
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::error::reason;
use super::folder::Folders;
use super::folder::Moment;
use super::folder::Rig;
use super::intent;
use super::intent::Entry;
use super::intent::Intent;
use super::intent::Moves;
use super::intent::Unreadable;
use super::log::LogError;
use super::log::LogFile;
use super::recover;
use super::recover::Ending;
use super::recover::Left;
use super::root::Root;
use super::root::mode_of;
use super::root::other_kind;
use super::root::stamp_of;
use crate::text::PathText;

/// A journal that is longer is not read; one for 100,000 files is a tenth of it.
pub const LIMIT_JOURNAL_BYTES: u64 = 256 * 1024 * 1024;

/// So many lines of a log are looked at to see whether an entry has reached it before a crash.
const LIMIT_LOG_LINES: usize = 1000;

/// How often a folder that is removed by another run is made again.
const CREATE_TRIES: usize = 5;

/// How a journal is opened.
#[derive(Clone, Copy)]
pub struct JournalOptions<'a> {
    /// Folders that journals may lie in, the best first; one that is missing is made when it is needed.
    pub folders: &'a [PathBuf],
    /// Called while another run works in the root, again and again; `false` gives up.
    pub wait: &'a dyn Fn() -> bool,
}

impl fmt::Debug for JournalOptions<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("JournalOptions").field("folders", &self.folders).finish_non_exhaustive()
    }
}

/// The right to write in a root, and the journal of what is written.
///
/// Files are to be read after it was opened, so that nobody else's commit comes between reading and writing.
#[derive(Debug)]
pub struct Journal {
    folders: Vec<PathBuf>,
    device: u64,
    inode: u64,
    written: RefCell<Option<Written>>,
    /// Holds the lock while it is open; `None` where the file system has no locks for folders.
    _lock: Option<File>,
}

/// A journal that is being written.
#[derive(Debug)]
struct Written {
    folder: OwnedFd,
    name: String,
    path: PathBuf,
    /// Folders that were made for it and go with it, the innermost first.
    made_folders: Vec<PathBuf>,
    /// Its lock tells others that its writer lives.
    file: File,
    length_bytes: u64,
}

/// Why a root can't be written in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// Another run works in the root, and goes on for longer than was waited.
    #[error("another hunkwise is writing in {}", root.display())]
    Busy {
        /// The root.
        root: PathBuf,
    },
    /// What an earlier run has left can't be finished or taken back now.
    #[error(
        "an interrupted run has left files half written, and that can't be made good: {} \
         (its journal is {})", reason(source), journal.display()
    )]
    Recovery {
        /// The journal.
        journal: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The journal can't be written.
    #[error("cannot write the journal {}: {}", path.display(), reason(source))]
    Io {
        /// The journal, or the folder for it.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// There is no folder for it.
    #[error("there is no folder for a journal, which keeps several files whole")]
    NoFolder,
}

/// What became of a journal that an earlier run has left. As text it is one sentence for a person.
#[derive(Debug)]
pub struct Recovered {
    journal: PathBuf,
    what: What,
}

#[derive(Debug)]
enum What {
    Ended { ending: Ending, left: Vec<Left>, log: LogAnswer },
    NotFollowed(NotFollowed),
}

/// Why a journal was left as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NotFollowed {
    OtherOwner,
    NotAFile,
    TooLong,
    Version,
    Damaged,
    Unopenable,
}

/// What became of the entry for a session log.
#[derive(Debug)]
enum LogAnswer {
    Nothing,
    Appended(PathBuf),
    Failed(LogError),
}

impl fmt::Display for Recovered {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            What::NotFollowed(cause) => {
                let cause = match cause {
                    NotFollowed::OtherOwner => "can be written by somebody else",
                    NotFollowed::NotAFile => "is not a regular file",
                    NotFollowed::TooLong => "is too long",
                    NotFollowed::Version => "is of another version",
                    NotFollowed::Damaged => "is damaged",
                    NotFollowed::Unopenable => "can't be opened",
                };
                write!(
                    formatter,
                    "the journal {} of an interrupted run {cause} and is left: remove it when the files are as \
                     they should be",
                    self.journal.display()
                )
            }
            What::Ended { ending, left, log } => {
                formatter.write_str(match ending {
                    Ending::Finished => "an interrupted run was finished",
                    Ending::TakenBack => "an interrupted run was taken back",
                })?;
                for left in left {
                    write!(formatter, "; {left}")?;
                }
                match log {
                    LogAnswer::Nothing => Ok(()),
                    LogAnswer::Appended(path) => {
                        write!(formatter, "; its result was added to the log {}", path.display())
                    }
                    LogAnswer::Failed(error) => write!(formatter, "; its result is in no log: {error}"),
                }
            }
        }
    }
}

impl Journal {
    /// Waits for the root, and finishes or takes back what killed runs have left in it.
    ///
    /// What is returned beside the journal is to be told to a person.
    ///
    /// # Errors
    /// [`JournalError::Busy`] if `wait` gave up, [`JournalError::Recovery`].
    pub fn open(
        root: &Root,
        options: &JournalOptions<'_>,
    ) -> Result<(Journal, Vec<Recovered>), JournalError> {
        Journal::open_with(root, options, Rig::none())
    }

    pub(crate) fn open_with(
        root: &Root,
        options: &JournalOptions<'_>,
        rig: Rig<'_>,
    ) -> Result<(Journal, Vec<Recovered>), JournalError> {
        let busy = || JournalError::Busy { root: root.dir().to_owned() };
        let lock = loop {
            match lock(root) {
                Lock::Held(file) => break Some(file),
                Lock::Unsupported => break None,
                Lock::Busy if (options.wait)() => {}
                Lock::Busy => return Err(busy()),
            }
        };
        let mut recovered = Vec::new();
        for path in options.folders {
            let Ok(Some(folder)) = open_private(path) else { continue };
            for name in names_of(&folder, root.inode()) {
                let found =
                    Found { root, folder: &folder, name: &name, path: path.join(OsStr::from_bytes(&name)) };
                loop {
                    match found.follow(rig)? {
                        Followed::Done(what) => {
                            recovered.push(Recovered { journal: found.path.clone(), what });
                            break;
                        }
                        Followed::Nothing => break,
                        Followed::Busy if (options.wait)() => {}
                        Followed::Busy => return Err(busy()),
                    }
                }
            }
        }
        let journal = Journal {
            folders: options.folders.to_vec(),
            device: root.device(),
            inode: root.inode(),
            written: RefCell::new(None),
            _lock: lock,
        };
        Ok((journal, recovered))
    }

    /// Removes the journal of a commit that carried an entry for a log, once that is logged.
    ///
    /// Without such an entry the commit removes its journal itself. If this is left out, the next run finishes the
    /// commit once more, which changes nothing but says so.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn close(self) -> Result<(), JournalError> {
        self.remove(&|| Ok(()))
    }

    /// Begins a journal; `before` is called before every change of a file.
    pub(crate) fn begin(
        &self,
        intent: &Intent,
        sync: bool,
        before: &dyn Fn() -> io::Result<()>,
    ) -> Result<(), JournalError> {
        let mut trouble = JournalError::NoFolder;
        for path in &self.folders {
            match self.create(path, before) {
                Ok(written) => {
                    *self.written.borrow_mut() = Some(written);
                    match self.begin_with(intent, sync, before) {
                        Ok(()) => return Ok(()),
                        Err(error) => trouble = error,
                    }
                    // Nothing is made yet; what is left of such a journal is nothing to the next run either.
                    let _ = self.remove(before);
                }
                Err(source) => trouble = JournalError::Io { path: path.clone(), source },
            }
        }
        Err(trouble)
    }

    fn begin_with(
        &self,
        intent: &Intent,
        sync: bool,
        before: &dyn Fn() -> io::Result<()>,
    ) -> Result<(), JournalError> {
        self.append(&intent::encode_intent(intent), sync, before)?;
        if sync { self.sync_name(before) } else { Ok(()) }
    }

    fn create(&self, path: &Path, before: &dyn Fn() -> io::Result<()>) -> io::Result<Written> {
        before()?;
        let mut tries = 0..CREATE_TRIES;
        loop {
            match self.create_in(path) {
                // The run that has made the folder may have removed it again.
                Err(error) if error.kind() == io::ErrorKind::NotFound && tries.next().is_some() => {}
                created => return created,
            }
        }
    }

    fn create_in(&self, path: &Path) -> io::Result<Written> {
        let made_folders = make_folders(path)?;
        let created = self.create_file(path);
        if created.is_err() {
            remove_folders(&made_folders);
        }
        let (folder, name, file) = created?;
        // Where there are no locks there is no other run either that would wait for one.
        let _ = file.try_lock();
        Ok(Written { folder, path: path.join(&name), name, made_folders, file, length_bytes: 0 })
    }

    fn create_file(&self, path: &Path) -> io::Result<(OwnedFd, String, File)> {
        let folder = open_private(path)?.ok_or(Errno::NOENT)?;
        let name =
            format!("{:x}-{:x}-{:016x}.journal", self.inode, self.device, RandomState::new().hash_one(path));
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(&folder, &name, flags, Mode::from_raw_mode(0o600))?);
        Ok((folder, name, file))
    }

    /// Says which steps will be taken.
    pub(crate) fn add_moves(
        &self,
        moves: &Moves,
        sync: bool,
        before: &dyn Fn() -> io::Result<()>,
    ) -> Result<(), JournalError> {
        self.append(&intent::encode_moves(moves), sync, before)
    }

    /// Says that all steps were taken.
    pub(crate) fn mark(&self, sync: bool, before: &dyn Fn() -> io::Result<()>) -> Result<(), JournalError> {
        self.append(&intent::encode_mark(), sync, before).inspect_err(|_| {
            // It may be written and only its sync have failed; what is taken back now must not look finished.
            if let (Some(written), Ok(())) = (&*self.written.borrow(), before()) {
                let _ = written.file.set_len(written.length_bytes);
            }
        })
    }

    fn append(
        &self,
        bytes: &[u8],
        sync: bool,
        before: &dyn Fn() -> io::Result<()>,
    ) -> Result<(), JournalError> {
        let mut written = self.written.borrow_mut();
        let Some(written) = written.as_mut() else { return Err(JournalError::NoFolder) };
        let mut write = || {
            before()?;
            written.file.write_all(bytes)?;
            if sync {
                before()?;
                written.file.sync_data()?;
            }
            Ok(())
        };
        write().map_err(|source| JournalError::Io { path: written.path.clone(), source })?;
        written.length_bytes += bytes.len() as u64;
        Ok(())
    }

    fn sync_name(&self, before: &dyn Fn() -> io::Result<()>) -> Result<(), JournalError> {
        let written = self.written.borrow();
        let Some(written) = written.as_ref() else { return Err(JournalError::NoFolder) };
        let sync = || {
            before()?;
            sync_folder(&written.folder)?;
            for above in written.made_folders.iter().filter_map(|made| made.parent()) {
                sync_folder(&File::open(above)?)?;
            }
            Ok(())
        };
        sync().map_err(|source| JournalError::Io { path: written.path.clone(), source })
    }

    /// Removes the journal, if there is one.
    pub(crate) fn remove(&self, before: &dyn Fn() -> io::Result<()>) -> Result<(), JournalError> {
        let Some(written) = self.written.borrow_mut().take() else { return Ok(()) };
        let remove = || {
            before()?;
            rustix::fs::unlinkat(&written.folder, &written.name, AtFlags::empty())?;
            remove_folders(&written.made_folders);
            Ok(())
        };
        remove().map_err(|source| JournalError::Io { path: written.path.clone(), source })
    }
}

/// Makes a folder that only its owner can use; returns those that are to go again, the innermost first.
///
/// A folder in a state home that is there stays, as the folders of other programs do. A state home is not left behind
/// where none was.
fn make_folders(path: &Path) -> io::Result<Vec<PathBuf>> {
    let missing: Vec<&Path> =
        path.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists()).collect();
    for folder in missing.iter().rev() {
        match DirBuilder::new().mode(0o700).create(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    let goes = if missing.len() > 1 { missing.as_slice() } else { &[] };
    Ok(goes.iter().map(|folder| (*folder).to_owned()).collect())
}

/// Removes folders that were made; another run may use them by now, and then they stay.
fn remove_folders(made: &[PathBuf]) {
    let _ = made.iter().try_for_each(std::fs::remove_dir);
}

fn sync_folder(folder: impl AsFd) -> io::Result<()> {
    match rustix::fs::fsync(folder) {
        // Some file systems don't sync folders, and have nothing to sync.
        Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(()),
        synced => Ok(synced?),
    }
}

enum Lock {
    Held(File),
    Busy,
    Unsupported,
}

/// Takes the lock on a root's folder.
///
/// A lock on the folder itself needs no file that would have to be kept, is the same for every user and every state
/// folder, and costs two calls. A file system without such locks has what the comparison before each change gives.
fn lock(root: &Root) -> Lock {
    let Ok(folder) = root.open_to_list() else { return Lock::Unsupported };
    let folder = File::from(folder);
    match folder.try_lock() {
        Ok(()) => Lock::Held(folder),
        Err(TryLockError::WouldBlock) => Lock::Busy,
        Err(TryLockError::Error(_)) => Lock::Unsupported,
    }
}

/// Opens a folder that only its owner, who is the one that runs this, can write in; `None` if there is none.
fn open_private(path: &Path) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = match rustix::fs::open(path, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(None),
        opened => opened?,
    };
    let stat = rustix::fs::fstat(&folder)?;
    if !is_own(&stat) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "somebody else can write in it"));
    }
    Ok(Some(folder))
}

/// Tells whether a file is one's own and nobody else can write it.
fn is_own(stat: &rustix::fs::Stat) -> bool {
    stat.st_uid == rustix::process::geteuid().as_raw() && mode_of(stat) & 0o022 == 0
}

/// Returns the names of the journals of a root, in a fixed order.
fn names_of(folder: &OwnedFd, inode: u64) -> Vec<Vec<u8>> {
    let prefix = format!("{inode:x}-");
    let Ok(entries) = Dir::read_from(folder) else { return Vec::new() };
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name().to_bytes().to_vec()));
    let is_journal = |name: &Vec<u8>| name.starts_with(prefix.as_bytes()) && name.ends_with(b".journal");
    let mut names: Vec<_> = names.filter(is_journal).collect();
    names.sort();
    names
}

/// A journal that was found.
struct Found<'a> {
    root: &'a Root,
    folder: &'a OwnedFd,
    name: &'a [u8],
    path: PathBuf,
}

enum Followed {
    Done(What),
    /// It is another root's, or its writer had made nothing.
    Nothing,
    /// Its writer lives.
    Busy,
}

impl Found<'_> {
    fn follow(&self, rig: Rig<'_>) -> Result<Followed, JournalError> {
        let left = |cause| Ok(Followed::Done(What::NotFollowed(cause)));
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut file = match rustix::fs::openat(self.folder, self.name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(Followed::Nothing),
            Err(Errno::LOOP | Errno::NXIO) => return left(NotFollowed::NotAFile),
            Err(_) => return left(NotFollowed::Unopenable),
        };
        let Ok(stat) = rustix::fs::fstat(&file) else { return left(NotFollowed::Unopenable) };
        if other_kind(&stat).is_some() {
            return left(NotFollowed::NotAFile);
        }
        if !is_own(&stat) {
            return left(NotFollowed::OtherOwner);
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(Followed::Busy),
            Err(TryLockError::Error(_)) => return left(NotFollowed::Unopenable),
        }
        let size = stamp_of(&stat).size;
        if size > LIMIT_JOURNAL_BYTES {
            return left(NotFollowed::TooLong);
        }
        let mut bytes = Vec::new();
        let trouble = |source| JournalError::Recovery { journal: self.path.clone(), source };
        (&mut file).take(LIMIT_JOURNAL_BYTES).read_to_end(&mut bytes).map_err(trouble)?;
        let entry = match intent::decode(&bytes) {
            Ok(entry) => entry,
            Err(Unreadable::Version) => return left(NotFollowed::Version),
            Err(Unreadable::Damaged) => return left(NotFollowed::Damaged),
            Err(Unreadable::Empty) => {
                self.remove().map_err(trouble)?;
                return Ok(Followed::Nothing);
            }
        };
        if !self.is_of_root(&entry.intent) {
            return Ok(Followed::Nothing);
        }
        self.recover(&entry, rig).map_err(trouble).map(Followed::Done)
    }

    /// A device may have another number after a restart, and a root may have been moved; not both.
    fn is_of_root(&self, intent: &Intent) -> bool {
        intent.inode == self.root.inode()
            && (intent.device == self.root.device()
                || intent.root.bytes() == self.root.dir().as_os_str().as_bytes())
    }

    fn recover(&self, entry: &Entry, rig: Rig<'_>) -> io::Result<What> {
        let mut folders = Folders::new(self.root, rig);
        let (ending, left) = recover::recover(&mut folders, entry)?;
        let log_entry = entry.moves.as_ref().and_then(|moves| moves.log_entry.as_ref());
        let log = match log_entry.filter(|_| ending == Ending::Finished) {
            Some(log_entry) => append_to_log(log_entry),
            None => LogAnswer::Nothing,
        };
        folders.about_to(Moment::Journal, &PathText::default())?;
        self.remove()?;
        Ok(What::Ended { ending, left, log })
    }

    fn remove(&self) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(self.folder, self.name, AtFlags::empty())?)
    }
}

/// Appends an entry to its log, unless it is there.
fn append_to_log(entry: &intent::LogEntry) -> LogAnswer {
    let path = Path::new(OsStr::from_bytes(entry.log.bytes()));
    let append = || {
        // One that is gone is not made again for one line.
        rustix::fs::stat(path).map_err(|errno| LogError::Io {
            path: path.to_owned(),
            doing: "open",
            source: errno.into(),
        })?;
        let mut log = LogFile::open(path)?;
        log.lock()?;
        for line in log.lines_back().take(LIMIT_LOG_LINES) {
            if line? == entry.line {
                return Ok(false);
            }
        }
        log.append_line(&entry.line)?;
        log.sync()?;
        Ok(true)
    };
    match append() {
        Ok(true) => LogAnswer::Appended(path.to_owned()),
        Ok(false) => LogAnswer::Nothing,
        Err(error) => LogAnswer::Failed(error),
    }
}
