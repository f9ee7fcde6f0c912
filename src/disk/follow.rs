//! A log that grows: what was seen of it to what is to be done next, and the file itself.
//!
//! [`Follower`] decides and touches nothing, so that it can be driven without a disk or a clock; [`FollowedFile`] does what
//! it says. The one rule: only what the open file, its path and its bytes say is true. Whoever calls [`FollowedFile::look`]
//! may have been told of a change or not; a look that was not needed costs two questions to the system.

#![expect(clippy::disallowed_methods, reason = "disk/ is the room that opens files")]

use std::collections::VecDeque;
use std::fs::File;
use std::fs::Metadata;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::path::PathBuf;

use rustix::process::Resource;
use rustix::process::Rlimit;
use rustix::process::getrlimit;
use rustix::process::setrlimit;

use super::input::BLOCK_BYTES;

/// How many of the first bytes, and of those before the place that was read up to, are remembered, to see that they are
/// still there.
const REMEMBERED_BYTES: usize = 256;

/// Lets this process hold as many files open as the system allows: each log that is followed is one.
pub fn allow_many_files() {
    let limits = getrlimit(Resource::Nofile);
    // Without it fewer logs can be followed, and that is said of each.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limits.maximum, maximum: limits.maximum });
}

/// What can be told of a file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The device and the number on it, which name the file whatever its path.
    pub identity: (u64, u64),
    /// Its length.
    pub length_bytes: u64,
    /// When it was written last: seconds and nanoseconds.
    pub modified: (i64, i64),
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Stamp {
            identity: (metadata.dev(), metadata.ino()),
            length_bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

/// What is to be done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Ask what the open file and its path are now; [`Follower::seen`] is told.
    Stamp,
    /// Open the path; [`Follower::opened`] or [`Follower::missing`] is told.
    Open,
    /// Read these bytes of the open file again; [`Follower::compared`] is told.
    Compare {
        /// 0-based offset of the first.
        offset_bytes: u64,
        /// How many.
        length: usize,
    },
    /// Read on from this offset; [`Follower::read`] is told.
    Read {
        /// 0-based offset of the next byte.
        offset_bytes: u64,
    },
    /// Tell of a change; then ask again.
    Tell(Change),
    /// Nothing, until the next look.
    Rest,
}

/// What happened to a log, beside growing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is not there yet.
    Awaited,
    /// It is there now.
    Appeared,
    /// It was cut short or written anew: what comes is its beginning.
    Restarted,
    /// Another file has its path: what comes is the beginning of that one.
    Replaced,
    /// Nothing has its path any more; what was open is still read.
    Gone,
    /// The same file has its path again.
    Back,
}

/// The file that is read.
#[derive(Debug)]
struct Open {
    identity: (u64, u64),
    offset_bytes: u64,
    modified: (i64, i64),
    /// The first bytes, at most [`REMEMBERED_BYTES`].
    head: Vec<u8>,
    /// The bytes before the offset, at most as many.
    tail: Vec<u8>,
}

/// How far a look has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Begin,
    Opening,
    ComparingHead,
    ComparingTail,
    /// The path leads to the file that is read, or nowhere, or to another file that is to be opened next.
    Reading(Then),
    Resting,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    Rest,
    Open,
}

/// Decides how a log is followed.
#[derive(Debug)]
pub struct Follower {
    open: Option<Open>,
    step: Step,
    then: Then,
    /// Nothing has the path, and that was told.
    is_away: bool,
    /// What is still to be told.
    told: VecDeque<Change>,
}

impl Default for Follower {
    fn default() -> Self {
        let (step, then) = (Step::Begin, Then::Rest);
        Follower { open: None, step, then, is_away: false, told: VecDeque::new() }
    }
}

impl Follower {
    /// Begins a look, unless one is going on.
    pub fn look(&mut self) {
        if self.step == Step::Resting {
            self.step = Step::Begin;
        }
    }

    /// Returns what is to be done next.
    pub fn next_act(&mut self) -> Act {
        if let Some(change) = self.told.pop_front() {
            return Act::Tell(change);
        }
        match (self.step, &self.open) {
            (Step::Resting, _) => Act::Rest,
            (Step::Opening, _) | (_, None) => Act::Open,
            (Step::Begin, Some(_)) => Act::Stamp,
            (Step::ComparingHead, Some(open)) => Act::Compare { offset_bytes: 0, length: open.head.len() },
            (Step::ComparingTail, Some(open)) => Act::Compare {
                offset_bytes: open.offset_bytes - open.tail.len() as u64,
                length: open.tail.len(),
            },
            (Step::Reading(_), Some(open)) => Act::Read { offset_bytes: open.offset_bytes },
        }
    }

    /// Takes what the open file is now, and what its path leads to.
    pub fn seen(&mut self, file: Stamp, path: Option<Stamp>) {
        let Some(open) = &mut self.open else { return };
        self.then = match path {
            Some(path) if path.identity != open.identity => Then::Open,
            _ => Then::Rest,
        };
        match path {
            None if !self.is_away => {
                self.is_away = true;
                self.told.push_back(Change::Gone);
            }
            Some(path) if self.is_away && path.identity == open.identity => {
                self.is_away = false;
                self.told.push_back(Change::Back);
            }
            _ => {}
        }
        let is_changed = file.modified != open.modified || file.length_bytes != open.offset_bytes;
        open.modified = file.modified;
        if file.length_bytes < open.offset_bytes {
            self.restart();
        } else if is_changed && !open.tail.is_empty() {
            // A file that was emptied and has grown beyond the place since is no shorter: only its bytes tell.
            self.step = Step::ComparingHead;
        } else {
            self.step = Step::Reading(self.then);
        }
    }

    /// Takes the bytes that stand where those stood that are remembered.
    pub fn compared(&mut self, bytes: &[u8]) {
        match (self.step, &self.open) {
            (Step::ComparingHead, Some(open)) if open.head == bytes => self.step = Step::ComparingTail,
            (Step::ComparingTail, Some(open)) if open.tail == bytes => self.step = Step::Reading(self.then),
            _ => self.restart(),
        }
    }

    /// Takes the next bytes; none at the end of the file.
    pub fn read(&mut self, bytes: &[u8]) {
        let (Some(open), Step::Reading(then)) = (&mut self.open, self.step) else { return };
        if bytes.is_empty() {
            self.step = match then {
                Then::Rest => Step::Resting,
                Then::Open => Step::Opening,
            };
            return;
        }
        open.offset_bytes += bytes.len() as u64;
        let room = REMEMBERED_BYTES - open.head.len();
        open.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        let kept = &bytes[bytes.len().saturating_sub(REMEMBERED_BYTES)..];
        let excess = (open.tail.len() + kept.len()).saturating_sub(REMEMBERED_BYTES);
        open.tail.drain(..excess);
        open.tail.extend_from_slice(kept);
    }

    /// Takes the file that the path was opened as.
    pub fn opened(&mut self, stamp: Stamp) {
        let is_first = self.open.is_none();
        self.told.extend(match (is_first, self.is_away) {
            (true, false) => None,
            (true, true) => Some(Change::Appeared),
            (false, _) => Some(Change::Replaced),
        });
        self.is_away = false;
        self.open = Some(Open {
            identity: stamp.identity,
            offset_bytes: 0,
            modified: stamp.modified,
            head: Vec::new(),
            tail: Vec::new(),
        });
        self.step = Step::Reading(Then::Rest);
    }

    /// Takes that nothing could be opened.
    pub fn missing(&mut self) {
        if !std::mem::replace(&mut self.is_away, true) {
            self.told.push_back(if self.open.is_some() { Change::Gone } else { Change::Awaited });
        }
        self.step = Step::Resting;
    }

    fn restart(&mut self) {
        if let Some(open) = &mut self.open {
            open.offset_bytes = 0;
            open.head.clear();
            open.tail.clear();
        }
        self.told.push_back(Change::Restarted);
        self.step = Step::Reading(self.then);
    }
}

/// What a look finds.
#[derive(Debug)]
pub enum Found<'a> {
    /// The next bytes of the log.
    Bytes(&'a [u8]),
    /// Something happened to it.
    Change(Change),
}

/// A log on the disk that is followed.
#[derive(Debug)]
pub struct FollowedFile {
    path: PathBuf,
    file: Option<File>,
    follower: Follower,
    buffer: Vec<u8>,
}

impl FollowedFile {
    /// Follows what stands at a path, now or later.
    pub fn new(path: PathBuf) -> Self {
        FollowedFile { path, file: None, follower: Follower::default(), buffer: Vec::new() }
    }

    /// Looks what there is, and hands out what is new, in order; tells whether it stopped after `limit_bytes` with more
    /// to read.
    ///
    /// # Errors
    /// What the system says of a file that is there and can't be read. Another look tries again.
    pub fn look(&mut self, limit_bytes: usize, take: &mut dyn FnMut(Found<'_>)) -> io::Result<bool> {
        self.follower.look();
        let mut left = limit_bytes;
        loop {
            match self.follower.next_act() {
                Act::Rest => return Ok(false),
                Act::Tell(change) => take(Found::Change(change)),
                Act::Open => match open_regular(&self.path) {
                    Ok((file, stamp)) => {
                        self.file = Some(file);
                        self.follower.opened(stamp);
                    }
                    Err(error) => {
                        self.follower.missing();
                        if error.kind() != io::ErrorKind::NotFound {
                            return Err(error);
                        }
                    }
                },
                Act::Stamp => {
                    let Some(file) = &self.file else { return Ok(false) };
                    let stamp = Stamp::of(&file.metadata()?);
                    let path = match std::fs::metadata(&self.path) {
                        Ok(metadata) => Some(Stamp::of(&metadata)),
                        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                        // A folder that can't be entered for a while: what is open is still read.
                        Err(_) => Some(stamp),
                    };
                    self.follower.seen(stamp, path);
                }
                Act::Compare { offset_bytes, length } => {
                    let Some(file) = &self.file else { return Ok(false) };
                    let mut bytes = vec![0; length];
                    let read = read_at(file, &mut bytes, offset_bytes)?;
                    self.follower.compared(&bytes[..read]);
                }
                Act::Read { offset_bytes } => {
                    if left == 0 {
                        return Ok(true);
                    }
                    let Some(file) = &self.file else { return Ok(false) };
                    self.buffer.resize(BLOCK_BYTES.min(limit_bytes), 0);
                    let room = self.buffer.len().min(left);
                    let read = retried(|| file.read_at(&mut self.buffer[..room], offset_bytes))?;
                    left -= read;
                    self.follower.read(&self.buffer[..read]);
                    if read > 0 {
                        take(Found::Bytes(&self.buffer[..read]));
                    }
                }
            }
        }
    }
}

/// Opens a regular file. What took the place of a log must not hold the follower up: a pipe is opened without waiting
/// for its writer, and refused.
fn open_regular(path: &Path) -> io::Result<(File, Stamp)> {
    let no_wait = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(no_wait).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok((file, Stamp::of(&metadata)))
}

/// Fills as much of the buffer as the file has.
fn read_at(file: &File, buffer: &mut [u8], offset_bytes: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match retried(|| file.read_at(&mut buffer[filled..], offset_bytes + filled as u64))? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

fn retried(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::*;

    /// What a follower said: of each file or beginning its bytes, and the changes.
    #[derive(Debug, Default, PartialEq, Eq)]
    struct Heard {
        parts: Vec<String>,
        changes: Vec<Change>,
    }

    impl Heard {
        fn take(&mut self, found: &Found<'_>) {
            match found {
                Found::Bytes(bytes) => {
                    if self.parts.is_empty() {
                        self.parts.push(String::new());
                    }
                    let last = self.parts.last_mut().unwrap();
                    last.push_str(std::str::from_utf8(bytes).unwrap());
                }
                Found::Change(change) => {
                    self.changes.push(*change);
                    if matches!(change, Change::Restarted | Change::Replaced) {
                        self.parts.push(String::new());
                    }
                }
            }
        }
    }

    /// A disk with one path and files that have numbers.
    #[derive(Debug, Default)]
    struct Disk {
        files: BTreeMap<u64, (Vec<u8>, i64)>,
        path: Option<u64>,
        open: Option<u64>,
        clock: i64,
        next: u64,
    }

    impl Disk {
        fn create(&mut self, text: &str) {
            self.next += 1;
            self.clock += 1;
            self.files.insert(self.next, (text.as_bytes().to_vec(), self.clock));
            self.path = Some(self.next);
        }

        fn write(&mut self, number: Option<u64>, keep: bool, text: &str) {
            self.clock += 1;
            let Some((bytes, modified)) = number.and_then(|number| self.files.get_mut(&number)) else {
                return;
            };
            if !keep {
                bytes.clear();
            }
            bytes.extend_from_slice(text.as_bytes());
            *modified = self.clock;
        }

        fn stamp(&self, number: u64) -> Stamp {
            let (bytes, modified) = &self.files[&number];
            Stamp { identity: (0, number), length_bytes: bytes.len() as u64, modified: (*modified, 0) }
        }

        fn look(&mut self, follower: &mut Follower, block: usize, heard: &mut Heard) {
            follower.look();
            loop {
                match follower.next_act() {
                    Act::Rest => return,
                    Act::Tell(change) => heard.take(&Found::Change(change)),
                    Act::Open => match self.path {
                        Some(number) => {
                            self.open = Some(number);
                            follower.opened(self.stamp(number));
                        }
                        None => follower.missing(),
                    },
                    Act::Stamp => {
                        let path = self.path.map(|number| self.stamp(number));
                        follower.seen(self.stamp(self.open.unwrap()), path);
                    }
                    Act::Compare { offset_bytes, length } => {
                        let bytes = &self.files[&self.open.unwrap()].0[offset_bytes as usize..];
                        follower.compared(&bytes[..length.min(bytes.len())]);
                    }
                    Act::Read { offset_bytes } => {
                        let bytes = &self.files[&self.open.unwrap()].0;
                        let rest = bytes.get(offset_bytes as usize..).unwrap_or_default();
                        let bytes = &rest[..block.min(rest.len())];
                        follower.read(bytes);
                        if !bytes.is_empty() {
                            heard.take(&Found::Bytes(bytes));
                        }
                    }
                }
            }
        }
    }

    /// What happens to a log between two looks.
    #[derive(Debug, Clone)]
    enum Happening {
        Append(usize),
        /// Emptied; then written again up to this length.
        Rewrite(usize),
        /// Another file takes its path; the old one is written to once more before the next look.
        Rotate(usize, usize),
        Remove,
        Create(usize),
        Nothing,
    }

    fn happening() -> impl Strategy<Value = Happening> {
        prop_oneof![
            (1_usize..600).prop_map(Happening::Append),
            (0_usize..600).prop_map(Happening::Rewrite),
            (0_usize..300, 0_usize..300).prop_map(|(late, new)| Happening::Rotate(late, new)),
            Just(Happening::Remove),
            (0_usize..300).prop_map(Happening::Create),
            Just(Happening::Nothing),
        ]
    }

    /// A text that no other one in a run is like.
    fn text(serial: &mut usize, length: usize) -> String {
        *serial += 1;
        // None is so short that it could stand in another.
        let length = if length == 0 { 0 } else { length + 6 };
        format!("<{serial:04}>").repeat(length / 6 + 1)[..length].to_owned()
    }

    proptest! {
        /// Whatever happens, every byte of every file comes once and in order, if it is looked at between.
        #[test]
        fn every_byte_comes_once(happenings in prop::collection::vec(happening(), 1..40), block in 1_usize..400) {
            let mut disk = Disk::default();
            let mut follower = Follower::default();
            let (mut heard, mut wanted, mut serial) = (Heard::default(), Vec::<String>::new(), 0);
            disk.look(&mut follower, block, &mut heard);
            prop_assert_eq!(&heard.changes, &[Change::Awaited]);
            for happening in happenings {
                let (path, open) = (disk.path, disk.open);
                match happening {
                    Happening::Append(length) if path.is_some() => {
                        let text = text(&mut serial, length);
                        disk.write(path, true, &text);
                        wanted.last_mut().unwrap().push_str(&text);
                    }
                    Happening::Rewrite(length) if path.is_some() => {
                        // What is not told apart from growing, or from nothing, is no beginning.
                        let was_empty = disk.files[&path.unwrap()].0.is_empty();
                        let text = text(&mut serial, length);
                        disk.write(path, false, &text);
                        if was_empty {
                            wanted.last_mut().unwrap().push_str(&text);
                        } else {
                            wanted.push(text);
                        }
                    }
                    Happening::Rotate(late, new) if path.is_some() => {
                        let late = text(&mut serial, late);
                        disk.write(path, true, &late);
                        wanted.last_mut().unwrap().push_str(&late);
                        let new = text(&mut serial, new);
                        disk.create(&new);
                        wanted.push(new);
                    }
                    Happening::Remove => disk.path = None,
                    Happening::Create(length) if path.is_none() => {
                        let text = text(&mut serial, length);
                        disk.create(&text);
                        wanted.push(text);
                    }
                    _ => {}
                }
                if disk.path.is_none() && open.is_some() && path.is_none() {
                    // A file without a path may still be written to.
                    let text = text(&mut serial, 5);
                    disk.write(open, true, &text);
                    wanted.last_mut().unwrap().push_str(&text);
                }
                disk.look(&mut follower, block, &mut heard);
            }
            // A first file that stays empty is not heard of.
            if heard.parts.len() < wanted.len() {
                prop_assert_eq!(wanted.remove(0), "");
            }
            prop_assert_eq!(heard.parts, wanted);
        }
    }

    #[test]
    fn changes_are_told_once() {
        let mut disk = Disk::default();
        let mut follower = Follower::default();
        let mut heard = Heard::default();
        let mut look = |disk: &mut Disk, wanted: &[Change]| {
            for _ in 0..3 {
                disk.look(&mut follower, 10, &mut heard);
            }
            assert_eq!(std::mem::take(&mut heard.changes), wanted);
        };
        look(&mut disk, &[Change::Awaited]);
        disk.create("a");
        look(&mut disk, &[Change::Appeared]);
        let number = disk.path.take();
        look(&mut disk, &[Change::Gone]);
        disk.path = number;
        look(&mut disk, &[Change::Back]);
        disk.path = None;
        look(&mut disk, &[Change::Gone]);
        disk.create("b");
        look(&mut disk, &[Change::Replaced]);
        disk.write(disk.path, false, "");
        look(&mut disk, &[Change::Restarted]);
        // Emptied and gone at once: both are said.
        disk.write(disk.path, true, "c");
        look(&mut disk, &[]);
        disk.write(disk.path, false, "");
        disk.path = None;
        look(&mut disk, &[Change::Gone, Change::Restarted]);
    }

    #[test]
    fn a_touched_file_is_not_read_again() {
        let mut disk = Disk::default();
        disk.create("abc");
        let mut follower = Follower::default();
        let mut heard = Heard::default();
        disk.look(&mut follower, 10, &mut heard);
        disk.write(disk.path, true, "");
        disk.look(&mut follower, 10, &mut heard);
        assert_eq!(heard, Heard { parts: vec!["abc".to_owned()], changes: vec![] });
    }

    /// The same with real files: what a test does to them, and what is heard at the next look.
    #[test]
    fn files_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = FollowedFile::new(path.clone());
        let mut look = |parts: &[&str], changes: &[Change]| {
            let mut heard = Heard::default();
            assert!(!log.look(1 << 20, &mut |found| heard.take(&found)).unwrap());
            assert_eq!(
                (heard.parts, heard.changes),
                (parts.iter().map(|part| (*part).to_owned()).collect(), changes.to_vec())
            );
        };
        let append = |name: &str, text: &str| {
            let file = OpenOptions::new().append(true).create(true).open(folder.path().join(name));
            file.unwrap().write_all(text.as_bytes()).unwrap();
        };
        look(&[], &[Change::Awaited]);
        append("log", "one");
        look(&["one"], &[Change::Appeared]);
        let mut held = OpenOptions::new().append(true).open(&path).unwrap();
        held.write_all(b" two").unwrap();
        look(&[" two"], &[]);
        // Emptied and grown beyond what was read.
        fs::write(&path, "another beginning").unwrap();
        look(&["another beginning"], &[Change::Restarted]);
        fs::write(&path, "").unwrap();
        look(&[""], &[Change::Restarted]);
        append("log", "x");
        look(&["x"], &[]);
        // Rotated, with a late line in the old file.
        fs::rename(&path, folder.path().join("log.1")).unwrap();
        append("log.1", " late");
        append("log", "new");
        look(&[" late", "new"], &[Change::Replaced]);
        // Replaced by a rename.
        append("other", "other");
        fs::rename(folder.path().join("other"), &path).unwrap();
        look(&["", "other"][1..], &[Change::Replaced]);
        fs::remove_file(&path).unwrap();
        look(&[], &[Change::Gone]);
        look(&[], &[]);
        append("log", "again");
        look(&["again"], &[Change::Replaced]);
        // The path is a link that leads elsewhere afterwards.
        fs::remove_file(&path).unwrap();
        append("target", "linked");
        std::os::unix::fs::symlink("target", &path).unwrap();
        look(&["linked"], &[Change::Replaced]);
    }

    #[test]
    fn a_look_stops_at_its_limit_and_goes_on_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, "0123456789").unwrap();
        let mut log = FollowedFile::new(path);
        let mut heard = Heard::default();
        assert!(log.look(4, &mut |found| heard.take(&found)).unwrap());
        assert_eq!(heard.parts, ["0123"]);
        while log.look(4, &mut |found| heard.take(&found)).unwrap() {}
        assert_eq!(heard.parts, ["0123456789"]);
    }

    #[test]
    fn what_is_no_regular_file_holds_nobody_up() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        for path in [pipe, folder.path().to_path_buf()] {
            let error = FollowedFile::new(path).look(10, &mut |_| {}).unwrap_err();
            assert_eq!(error.to_string(), "it is not a regular file");
        }
    }
}
