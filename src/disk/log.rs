//! The session log as a file: opened, locked, its last lines read, one line appended in one write.
//!
//! What a line says is not this module's business. A line that a crash has cut short stays where it is: the next one
//! begins on a line of its own, so that a reader can skip the torn one.

#![expect(clippy::disallowed_methods, reason = "disk/ is the room that opens files")]

use std::fs::File;
use std::fs::TryLockError;
use std::io;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::path::PathBuf;

use rustix::fs::OFlags;

use super::root::other_kind;
use super::root::stamp_of;
use crate::plan::Stamp;
use crate::text::PathText;

/// How much of the log is read at a time on the way back from its end.
const BLOCK_BYTES: usize = 64 * 1024;

/// How often a log that is replaced while its lock is awaited is opened anew.
const LIMIT_OPENINGS: usize = 100;

/// A longer line is passed over on the way back, not held.
pub const LIMIT_LINE_BYTES: usize = 64 * 1024 * 1024;

/// A session log that lines are appended to.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: File,
    stamp: Stamp,
    /// What was found at the end when the lock was taken; `None` without the lock.
    tail: Option<Tail>,
}

/// What became of a log since a line was last appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogState {
    /// What was appended is still there.
    Whole,
    /// It is shorter: somebody has cut it.
    Cut,
    /// No name leads to it any more: what is appended is lost.
    Gone,
}

/// The end of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tail {
    length: u64,
    is_torn: bool,
}

/// Why a log can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// It can't be opened, locked, read or written.
    #[error("cannot {doing} the log {}", path.display())]
    Io {
        /// The log.
        path: PathBuf,
        /// What was tried: `open`, `lock`, `read`, `append to`, `sync`.
        doing: &'static str,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// Something stands there that is not a regular file.
    #[error("the log {} is not a file but a {kind}", path.display())]
    NotAFile {
        /// The log.
        path: PathBuf,
        /// What it is.
        kind: &'static str,
    },
    /// Another file came to its path again and again while its lock was awaited.
    #[error("the log {} is being replaced over and over", path.display())]
    Replaced {
        /// The log.
        path: PathBuf,
    },
    /// A line was to be appended without the lock.
    #[error("the log {} is not locked", path.display())]
    NotLocked {
        /// The log.
        path: PathBuf,
    },
    /// What was to be appended is more than one line.
    #[error("an entry of the log {} holds a newline", path.display())]
    NotALine {
        /// The log.
        path: PathBuf,
    },
}

impl LogFile {
    /// Opens a log for appending; a new one is readable by its owner only.
    ///
    /// # Errors
    /// [`LogError::Io`], and [`LogError::NotAFile`] for a pipe or a folder.
    pub fn open(path: &Path) -> Result<Self, LogError> {
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0);
        let opened =
            File::options().read(true).append(true).create(true).mode(0o600).custom_flags(flags).open(path);
        let io_error = |source| LogError::Io { path: path.to_owned(), doing: "open", source };
        let file = opened.map_err(io_error)?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| io_error(errno.into()))?;
        if let Some(kind) = other_kind(&stat) {
            return Err(LogError::NotAFile { path: path.to_owned(), kind });
        }
        Ok(LogFile { path: path.to_owned(), file, stamp: stamp_of(&stat), tail: None })
    }

    /// Opens a log and waits for its lock. If another file has come to the path by then, that one is the log.
    ///
    /// # Errors
    /// As [`LogFile::open`] and [`LogFile::lock`], and [`LogError::Replaced`].
    pub fn open_locked(path: &Path) -> Result<Self, LogError> {
        for _ in 0..LIMIT_OPENINGS {
            let mut log = LogFile::open(path)?;
            log.lock()?;
            if rustix::fs::stat(path).is_ok_and(|stat| log.is_same_file(&stamp_of(&stat))) {
                return Ok(log);
            }
        }
        Err(LogError::Replaced { path: path.to_owned() })
    }

    /// Waits for the lock that keeps other writers out, then looks at the end of the log.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn lock(&mut self) -> Result<(), LogError> {
        self.file.lock().map_err(|source| self.error("lock", source))?;
        self.look_at_tail()
    }

    /// Takes the lock if nobody has it; `false` if somebody does.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn try_lock(&mut self) -> Result<bool, LogError> {
        match self.file.try_lock() {
            Ok(()) => self.look_at_tail().map(|()| true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(source)) => Err(self.error("lock", source)),
        }
    }

    /// Looks at the end of the log anew, as after somebody has cut it.
    ///
    /// # Errors
    /// [`LogError::NotLocked`], [`LogError::Io`].
    pub fn look_again(&mut self) -> Result<(), LogError> {
        match self.tail {
            Some(_) => self.look_at_tail(),
            None => Err(LogError::NotLocked { path: self.path.clone() }),
        }
    }

    fn look_at_tail(&mut self) -> Result<(), LogError> {
        let look = || {
            let length = self.file.metadata()?.len();
            let mut last = [0];
            if length > 0 {
                self.file.read_exact_at(&mut last, length - 1)?;
            }
            Ok(Tail { length, is_torn: length > 0 && last != *b"\n" })
        };
        self.tail = Some(look().map_err(|source| self.error("read", source))?);
        Ok(())
    }

    /// Tells whether nothing is in the log yet; known under the lock.
    pub fn is_empty(&self) -> bool {
        self.tail.is_some_and(|tail| tail.length == 0)
    }

    /// Returns the first bytes, at most so many.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn first_bytes(&self, limit_bytes: usize) -> Result<Vec<u8>, LogError> {
        let length = self.tail.map_or(0, |tail| tail.length).min(limit_bytes as u64);
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(limit_bytes)];
        self.file.read_exact_at(&mut bytes, 0).map_err(|source| self.error("read", source))?;
        Ok(bytes)
    }

    /// Returns the absolute path of the log, links resolved.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn real_path(&self) -> Result<PathText, LogError> {
        let path = std::fs::canonicalize(&self.path).map_err(|source| self.error("open", source))?;
        Ok(PathText::new(path.into_os_string().into_encoded_bytes()))
    }

    /// Says what became of the log since a line was last appended: the lock keeps only those out who ask for it.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn state(&self) -> Result<LogState, LogError> {
        let stat = rustix::fs::fstat(&self.file).map_err(|errno| self.error("read", errno.into()))?;
        Ok(if stat.st_nlink == 0 {
            LogState::Gone
        } else if self.tail.is_some_and(|tail| stamp_of(&stat).size < tail.length) {
            LogState::Cut
        } else {
            LogState::Whole
        })
    }

    /// Tells whether the log's last line has no newline: its writer was cut short; known under the lock.
    pub fn is_torn(&self) -> bool {
        self.tail.is_some_and(|tail| tail.is_torn)
    }

    /// Returns the last line that ends in a newline, without it.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn last_line(&self) -> Result<Option<Vec<u8>>, LogError> {
        self.lines_back().next().transpose()
    }

    /// Iterates over the lines that end in a newline, the last one first, without their newlines.
    ///
    /// A torn last line is left out, and so are lines longer than [`LIMIT_LINE_BYTES`].
    pub fn lines_back(&self) -> LinesBack<'_> {
        let length = self.tail.map_or(0, |tail| tail.length);
        LinesBack { log: self, unread_bytes: length, block: Vec::new(), is_past_newline: false }
    }

    /// Appends one line and its newline with one write; the caller holds the lock.
    ///
    /// After a torn line it begins on a new one. What a failed write has left is taken off again.
    ///
    /// # Errors
    /// [`LogError::NotLocked`], [`LogError::NotALine`], [`LogError::Io`].
    pub fn append_line(&mut self, line: &[u8]) -> Result<(), LogError> {
        // Who cut or wrote it without the lock must not make a failed write cut anything else off.
        self.look_again()?;
        if memchr::memchr(b'\n', line).is_some() {
            return Err(LogError::NotALine { path: self.path.clone() });
        }
        let tail = self.tail.unwrap_or(Tail { length: 0, is_torn: false });
        let start: &[u8] = if tail.is_torn { b"\n" } else { b"" };
        let entry = [start, line, b"\n"].concat();
        if let Err(source) = self.file.write_all(&entry) {
            // If even this fails the line is torn, which a reader and the next writer can bear.
            let is_cut = self.file.set_len(tail.length).is_ok();
            self.tail = if is_cut { Some(tail) } else { None };
            return Err(self.error("append to", source));
        }
        self.tail = Some(Tail { length: tail.length + entry.len() as u64, is_torn: false });
        Ok(())
    }

    /// Waits until what was appended is on the disk.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn sync(&self) -> Result<(), LogError> {
        self.file.sync_data().map_err(|source| self.error("sync", source))
    }

    /// Tells whether a file is this log, by whatever name it was found.
    pub fn is_same_file(&self, stamp: &Stamp) -> bool {
        (self.stamp.device, self.stamp.inode) == (stamp.device, stamp.inode)
    }

    fn error(&self, doing: &'static str, source: io::Error) -> LogError {
        LogError::Io { path: self.path.clone(), doing, source }
    }
}

/// The lines of a log from its end to its beginning.
#[derive(Debug)]
pub struct LinesBack<'a> {
    log: &'a LogFile,
    /// How much of the log lies before `block`.
    unread_bytes: u64,
    /// What was read and not yet handed out.
    block: Vec<u8>,
    /// The newline that ends the next line was passed: `block` ends with that line's text.
    is_past_newline: bool,
}

impl Iterator for LinesBack<'_> {
    type Item = Result<Vec<u8>, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.take_line() {
            Ok(line) => line.map(Ok),
            Err(source) => {
                (self.unread_bytes, self.is_past_newline) = (0, false);
                self.block.clear();
                Some(Err(self.log.error("read", source)))
            }
        }
    }
}

impl LinesBack<'_> {
    fn take_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut is_too_long = false;
        let mut searched_bytes = 0;
        loop {
            let unsearched = self.block.len() - searched_bytes;
            if let Some(newline) = memchr::memrchr(b'\n', &self.block[..unsearched]) {
                let line = self.block.split_off(newline + 1);
                self.block.truncate(newline);
                searched_bytes = 0;
                let is_line = std::mem::replace(&mut self.is_past_newline, true);
                is_too_long |= line.len() > LIMIT_LINE_BYTES;
                if is_line && !std::mem::take(&mut is_too_long) {
                    return Ok(Some(line));
                }
                continue;
            }
            if self.block.len() > LIMIT_LINE_BYTES || (!self.is_past_newline && !self.block.is_empty()) {
                is_too_long |= self.is_past_newline;
                self.block.clear();
            }
            searched_bytes = self.block.len();
            if self.unread_bytes == 0 {
                let is_line = std::mem::replace(&mut self.is_past_newline, false) && !is_too_long;
                return Ok(is_line.then(|| std::mem::take(&mut self.block)));
            }
            self.read_block()?;
        }
    }

    /// Reads what lies before `block`, as much again as is held, so that a long line is not copied for each block.
    fn read_block(&mut self) -> io::Result<()> {
        let wanted_bytes = BLOCK_BYTES.max(self.block.len()) as u64;
        let start = self.unread_bytes.saturating_sub(wanted_bytes);
        let length = usize::try_from(self.unread_bytes - start).map_err(io::Error::other)?;
        let mut block = vec![0; length];
        self.log.file.read_exact_at(&mut block, start)?;
        block.append(&mut self.block);
        self.block = block;
        self.unread_bytes = start;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn log_with(content: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.jsonl");
        std::fs::write(&path, content).unwrap();
        (folder, path)
    }

    fn locked(path: &Path) -> LogFile {
        let mut log = LogFile::open(path).unwrap();
        log.lock().unwrap();
        log
    }

    fn lines_back(log: &LogFile) -> Vec<Vec<u8>> {
        log.lines_back().map(Result::unwrap).collect()
    }

    #[test]
    fn a_new_log_is_private_and_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.jsonl");
        let mut log = locked(&path);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(log.is_empty() && !log.is_torn());
        assert_eq!(log.last_line().unwrap(), None);
        log.append_line(b"one").unwrap();
        log.append_line(b"two").unwrap();
        log.sync().unwrap();
        assert!(!log.is_empty());
        assert_eq!(log.last_line().unwrap().as_deref(), Some(&b"two"[..]));
        assert_eq!(std::fs::read(&path).unwrap(), b"one\ntwo\n");
    }

    #[test]
    fn a_torn_line_stays_a_line_of_its_own() {
        let (_folder, path) = log_with(b"one\n{\"torn");
        let mut log = locked(&path);
        assert!(log.is_torn());
        assert_eq!(log.last_line().unwrap().as_deref(), Some(&b"one"[..]));
        log.append_line(b"two").unwrap();
        assert!(!log.is_torn());
        assert_eq!(std::fs::read(&path).unwrap(), b"one\n{\"torn\ntwo\n");
        assert_eq!(lines_back(&log), [&b"two"[..], b"{\"torn", b"one"]);
    }

    #[test]
    fn lines_are_found_from_the_end_across_blocks() {
        let long = vec![b'x'; 3 * BLOCK_BYTES + 7];
        let mut content = b"first\n\n".to_vec();
        content.extend_from_slice(&long);
        content.extend_from_slice(b"\nlast\ntorn");
        let (_folder, path) = log_with(&content);
        assert_eq!(lines_back(&locked(&path)), [&b"last"[..], &long, b"", b"first"]);
        let (_folder, path) = log_with(b"\n");
        assert_eq!(lines_back(&locked(&path)), [b""]);
        let (_folder, path) = log_with(b"torn only");
        assert_eq!(lines_back(&locked(&path)), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn a_line_over_the_limit_is_passed_over() {
        let mut content = b"first\n".to_vec();
        content.resize(content.len() + LIMIT_LINE_BYTES + BLOCK_BYTES * 2, b'x');
        content.extend_from_slice(b"\nlast\n");
        let (_folder, path) = log_with(&content);
        // Not compared as a whole: a failure would print all of it.
        let lengths: Vec<usize> = lines_back(&locked(&path)).iter().map(Vec::len).collect();
        assert_eq!(lengths, [4, 5]);
    }

    #[test]
    fn appending_needs_the_lock_and_a_single_line() {
        let (_folder, path) = log_with(b"");
        let mut log = LogFile::open(&path).unwrap();
        assert!(matches!(log.append_line(b"x"), Err(LogError::NotLocked { .. })));
        assert!(log.try_lock().unwrap());
        assert!(matches!(log.append_line(b"x\ny"), Err(LogError::NotALine { .. })));
        let mut other = LogFile::open(&path).unwrap();
        assert!(!other.try_lock().unwrap());
        drop(log);
        assert!(other.try_lock().unwrap());
    }

    #[test]
    fn a_log_that_is_cut_or_replaced_is_told_and_never_filled_up() {
        let (folder, path) = log_with(b"one\ntwo\n");
        let mut log = locked(&path);
        assert_eq!(log.state().unwrap(), LogState::Whole);
        std::fs::write(&path, b"o").unwrap();
        assert_eq!(log.state().unwrap(), LogState::Cut);
        log.append_line(b"three").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"o\nthree\n");
        assert_eq!(log.state().unwrap(), LogState::Whole);
        // Under another name it is still the log; once nothing names it, what is appended is lost.
        std::fs::rename(&path, folder.path().join("rotated")).unwrap();
        assert_eq!(log.state().unwrap(), LogState::Whole);
        std::fs::remove_file(folder.path().join("rotated")).unwrap();
        assert_eq!(log.state().unwrap(), LogState::Gone);
    }

    #[test]
    fn a_log_that_is_replaced_while_its_lock_is_awaited_is_opened_anew() {
        let (folder, path) = log_with(b"old\n");
        let holder = locked(&path);
        let waiting = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| LogFile::open_locked(&path).unwrap());
            // Whichever of the two comes first, the log that is opened is the one that has the name in the end.
            let new = folder.path().join("new");
            std::fs::write(&new, b"new\n").unwrap();
            std::fs::rename(&new, &path).unwrap();
            drop(holder);
            waiting.join().unwrap()
        });
        assert_eq!(waiting.first_bytes(100).unwrap(), b"new\n");
        assert_eq!(waiting.first_bytes(2).unwrap(), b"ne");
    }

    #[test]
    fn only_a_regular_file_is_a_log() {
        let folder = tempfile::tempdir().unwrap();
        assert!(LogFile::open(folder.path()).is_err());
        let fifo = folder.path().join("p");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &fifo,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        assert!(matches!(LogFile::open(&fifo), Err(LogError::NotAFile { kind: "fifo", .. })));
    }

    #[test]
    fn a_log_knows_itself_by_another_name() {
        let (folder, path) = log_with(b"");
        let other_name = folder.path().join("other");
        std::fs::hard_link(&path, &other_name).unwrap();
        let log = LogFile::open(&path).unwrap();
        assert!(log.is_same_file(&LogFile::open(&other_name).unwrap().stamp));
        assert!(!log.is_same_file(&Stamp::default()));
    }
}
