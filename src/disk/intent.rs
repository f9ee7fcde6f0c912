//! What a commit is about to do, as the bytes of its journal.
//!
//! A journal is a first line with the version, then blocks: a kind, the length of the body in bytes, the SHA-256 of
//! kind and body, the body. There is at most one block of each kind, in this order:
//!
//! 1. **intent**, before anything is made: the root, every hidden name that will be used, every folder that will be
//!    made, and the inodes of the old files, which nothing may remove by mistake;
//! 2. **moves**, before the first name changes: every step, with what tells whether it was taken, and the entry for the
//!    session log;
//! 3. **mark**, when the last step is taken: from here on the new tree stands.
//!
//! Numbers are little-endian. What is cut short or does not have its hash ends the journal: what comes before counts.
//! Nothing here opens a file.

use sha2::Digest;
use sha2::Sha256;

use super::folder::Place;
use crate::plan::Stamp;
use crate::text::PathText;

/// The first line; another number is another format.
const VERSION_LINE: &[u8] = b"hunkwise journal 1\n";

const INTENT: u8 = 1;
const MOVES: u8 = 2;
const MARK: u8 = 3;

const HASH_BYTES: usize = 32;

/// What a commit will make, known before it makes anything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Intent {
    /// The canonical path of the root.
    pub(crate) root: PathText,
    /// The device of the root.
    pub(crate) device: u64,
    /// The inode of the root.
    pub(crate) inode: u64,
    /// Everything is to be on the disk.
    pub(crate) sync: bool,
    /// Folders to be made, the outermost first.
    pub(crate) folders: Vec<Place>,
    /// Names that are used on the way and gone afterwards.
    pub(crate) hidden: Vec<Place>,
    /// Inodes of the files that were read.
    pub(crate) old_inodes: Vec<u64>,
}

/// All steps, in the order in which they are taken.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Moves {
    pub(crate) list: Vec<Move>,
    /// What goes to a session log once the commit stands.
    pub(crate) log_entry: Option<LogEntry>,
}

/// A line for a session log, which recovery appends if the run that committed could not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// The log's path, absolute.
    pub log: PathText,
    /// The line, without its newline.
    pub line: Vec<u8>,
}

/// One step, with what tells whether it was taken. Of stamps only inode, size and time of the content count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Move {
    /// What stands at a place gets a hidden name.
    Hide { at: Place, hidden: Place, inode: u64 },
    /// A file comes to a place where nothing stands.
    Arrive { from: Place, to: Place, file: Stamp, is_new: bool },
    /// A file comes to a place where another one stands, which goes.
    Replace { from: Place, to: Place, backup: Place, file: Stamp, is_new: bool, occupant_inode: u64 },
    /// A file gets another mode.
    SetMode { at: Place, inode: u64, mode: u32, mode_before: u32 },
    /// A file is overwritten; without the contents, which may be too long to keep, it can't be restored.
    WriteThrough { at: Place, inode: u64, mode: u32, contents: Option<Contents> },
}

/// The bytes of a file before and after it is overwritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Contents {
    pub(crate) old: Vec<u8>,
    pub(crate) new: Vec<u8>,
}

/// A journal as it was read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) intent: Intent,
    /// Without them no name was changed.
    pub(crate) moves: Option<Moves>,
    pub(crate) is_marked: bool,
}

/// Why bytes are no journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// It ends before its first block does: nothing had been made when its writer ended.
    Empty,
    /// The version is another one.
    Version,
    /// The first block does not have its hash.
    Damaged,
}

/// Returns the start of a journal.
pub(crate) fn encode_intent(intent: &Intent) -> Vec<u8> {
    let mut body = Writer::default();
    body.bytes(intent.root.bytes());
    body.number(intent.device);
    body.number(intent.inode);
    body.number(u64::from(intent.sync));
    body.places(&intent.folders);
    body.places(&intent.hidden);
    body.number(intent.old_inodes.len() as u64);
    for inode in &intent.old_inodes {
        body.number(*inode);
    }
    let mut bytes = VERSION_LINE.to_vec();
    bytes.extend(block(INTENT, &body.bytes));
    bytes
}

/// Returns the block of all steps.
pub(crate) fn encode_moves(moves: &Moves) -> Vec<u8> {
    let mut body = Writer::default();
    body.number(moves.list.len() as u64);
    for step in &moves.list {
        body.step(step);
    }
    match &moves.log_entry {
        Some(entry) => {
            body.number(1);
            body.bytes(entry.log.bytes());
            body.bytes(&entry.line);
        }
        None => body.number(0),
    }
    block(MOVES, &body.bytes)
}

/// Returns the block that says that all steps were taken.
pub(crate) fn encode_mark() -> Vec<u8> {
    block(MARK, &[])
}

fn block(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind];
    bytes.extend((body.len() as u64).to_le_bytes());
    bytes.extend(hash(kind, body));
    bytes.extend(body);
    bytes
}

fn hash(kind: u8, body: &[u8]) -> [u8; HASH_BYTES] {
    Sha256::new().chain_update([kind]).chain_update(body).finalize().into()
}

/// Reads a journal back, as far as it is whole.
pub(crate) fn decode(bytes: &[u8]) -> Result<Entry, Unreadable> {
    let Some(rest) = bytes.strip_prefix(VERSION_LINE) else {
        let is_cut = VERSION_LINE.starts_with(bytes);
        return Err(if is_cut { Unreadable::Empty } else { Unreadable::Version });
    };
    let mut reader = Reader { rest };
    let intent = match reader.block(INTENT) {
        Ok(body) => Reader { rest: body }.intent().ok_or(Unreadable::Damaged)?,
        Err(cause) => return Err(cause),
    };
    let moves = reader.block(MOVES).ok().and_then(|body| Reader { rest: body }.moves());
    let is_marked = moves.is_some() && reader.block(MARK).is_ok();
    Ok(Entry { intent, moves, is_marked })
}

#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    fn number(&mut self, number: u64) {
        self.bytes.extend(number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.bytes.extend(bytes);
    }

    fn place(&mut self, place: &Place) {
        self.bytes(place.path().bytes());
    }

    fn places(&mut self, places: &[Place]) {
        self.number(places.len() as u64);
        for place in places {
            self.place(place);
        }
    }

    fn stamp(&mut self, stamp: &Stamp) {
        self.number(stamp.inode);
        self.number(stamp.size);
        self.bytes.extend(stamp.modified_ns.to_le_bytes());
    }

    fn step(&mut self, step: &Move) {
        match step {
            Move::Hide { at, hidden, inode } => {
                self.number(1);
                self.place(at);
                self.place(hidden);
                self.number(*inode);
            }
            Move::Arrive { from, to, file, is_new } => {
                self.number(2);
                self.place(from);
                self.place(to);
                self.stamp(file);
                self.number(u64::from(*is_new));
            }
            Move::Replace { from, to, backup, file, is_new, occupant_inode } => {
                self.number(3);
                self.place(from);
                self.place(to);
                self.place(backup);
                self.stamp(file);
                self.number(u64::from(*is_new));
                self.number(*occupant_inode);
            }
            Move::SetMode { at, inode, mode, mode_before } => {
                self.number(4);
                self.place(at);
                self.number(*inode);
                self.number(u64::from(*mode));
                self.number(u64::from(*mode_before));
            }
            Move::WriteThrough { at, inode, mode, contents } => {
                self.number(5);
                self.place(at);
                self.number(*inode);
                self.number(u64::from(*mode));
                self.number(u64::from(contents.is_some()));
                if let Some(contents) = contents {
                    self.bytes(&contents.old);
                    self.bytes(&contents.new);
                }
            }
        }
    }
}

/// What is left to read; every answer is `None` if that is too little or makes no sense.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: u64) -> Option<&'a [u8]> {
        let count = usize::try_from(count).ok().filter(|&count| count <= self.rest.len())?;
        let (taken, rest) = self.rest.split_at(count);
        self.rest = rest;
        Some(taken)
    }

    fn block(&mut self, kind: u8) -> Result<&'a [u8], Unreadable> {
        let mut read = || {
            let found = self.take(1)?[0];
            let length = self.number()?;
            let stated = self.take(HASH_BYTES as u64)?;
            Some((found, stated, self.take(length)?))
        };
        let (found, stated, body) = read().ok_or(Unreadable::Empty)?;
        if found == kind && stated == hash(kind, body) { Ok(body) } else { Err(Unreadable::Damaged) }
    }

    fn number(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    fn flag(&mut self) -> Option<bool> {
        match self.number()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn mode(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.take(length)
    }

    fn place(&mut self) -> Option<Place> {
        Place::of(&PathText::new(self.bytes()?))
    }

    fn hidden_place(&mut self) -> Option<Place> {
        self.place().filter(Place::is_hidden)
    }

    fn stamp(&mut self) -> Option<Stamp> {
        let (inode, size) = (self.number()?, self.number()?);
        let modified_ns = i128::from_le_bytes(self.take(16)?.try_into().ok()?);
        Some(Stamp { inode, size, modified_ns, ..Stamp::default() })
    }

    /// Reads a list; how long it says it is reserves nothing.
    fn list<T>(&mut self, read: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        (0..self.number()?).map(|_| read(self)).collect()
    }

    fn intent(mut self) -> Option<Intent> {
        let intent = Intent {
            root: PathText::new(self.bytes()?),
            device: self.number()?,
            inode: self.number()?,
            sync: self.flag()?,
            folders: self.list(Self::place)?,
            hidden: self.list(Self::hidden_place)?,
            old_inodes: self.list(Self::number)?,
        };
        self.rest.is_empty().then_some(intent)
    }

    fn moves(mut self) -> Option<Moves> {
        let list = self.list(Self::step)?;
        let log_entry = match self.flag()? {
            true => Some(LogEntry { log: PathText::new(self.bytes()?), line: self.bytes()?.to_vec() }),
            false => None,
        };
        self.rest.is_empty().then_some(Moves { list, log_entry })
    }

    fn step(&mut self) -> Option<Move> {
        Some(match self.number()? {
            1 => Move::Hide { at: self.place()?, hidden: self.hidden_place()?, inode: self.number()? },
            2 => Move::Arrive {
                from: self.place()?,
                to: self.place()?,
                file: self.stamp()?,
                is_new: self.flag()?,
            },
            3 => Move::Replace {
                from: self.place()?,
                to: self.place()?,
                backup: self.hidden_place()?,
                file: self.stamp()?,
                is_new: self.flag()?,
                occupant_inode: self.number()?,
            },
            4 => Move::SetMode {
                at: self.place()?,
                inode: self.number()?,
                mode: self.mode()?,
                mode_before: self.mode()?,
            },
            5 => Move::WriteThrough {
                at: self.place()?,
                inode: self.number()?,
                mode: self.mode()?,
                contents: match self.flag()? {
                    true => Some(Contents { old: self.bytes()?.to_vec(), new: self.bytes()?.to_vec() }),
                    false => None,
                },
            },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(path: &str) -> Place {
        Place::of(&path.into()).unwrap()
    }

    fn intent() -> Intent {
        Intent {
            root: PathText::new(&b"/r\xE9"[..]),
            device: 7,
            inode: u64::MAX,
            sync: true,
            folders: vec![place("d"), place("d/e")],
            hidden: vec![place("d/.hunkwise-0123456789abcdef"), place(".hunkwise-00000000000000ff")],
            old_inodes: vec![3, 4],
        }
    }

    fn moves() -> Moves {
        let file = Stamp { inode: 5, size: 6, modified_ns: -7, ..Stamp::default() };
        let hidden = || place("d/.hunkwise-0123456789abcdef");
        Moves {
            list: vec![
                Move::Hide { at: place("d/a"), hidden: hidden(), inode: 1 },
                Move::Arrive { from: hidden(), to: place("d/a"), file, is_new: true },
                Move::Replace {
                    from: place("b"),
                    to: place("d/a"),
                    backup: hidden(),
                    file,
                    is_new: false,
                    occupant_inode: 9,
                },
                Move::SetMode { at: place("b"), inode: 5, mode: 0o100_755, mode_before: 0o100_644 },
                Move::WriteThrough { at: place("b"), inode: 5, mode: 0o100_644, contents: None },
                Move::WriteThrough {
                    at: place("c"),
                    inode: 6,
                    mode: 0,
                    contents: Some(Contents { old: b"1".to_vec(), new: Vec::new() }),
                },
            ],
            log_entry: Some(LogEntry { log: "/l".into(), line: b"{}".to_vec() }),
        }
    }

    fn whole() -> [Vec<u8>; 3] {
        [encode_intent(&intent()), encode_moves(&moves()), encode_mark()]
    }

    #[test]
    fn what_is_written_is_read_back() {
        let [first, second, third] = whole();
        let entry = |moves, is_marked| Ok(Entry { intent: intent(), moves, is_marked });
        assert_eq!(decode(&first), entry(None, false));
        assert_eq!(decode(&[&*first, &second].concat()), entry(Some(moves()), false));
        assert_eq!(decode(&[&*first, &second, &third].concat()), entry(Some(moves()), true));
        assert_eq!(decode(&[&*first, &third].concat()), entry(None, false));
        let none = Moves::default();
        assert_eq!(decode(&[&*first, &encode_moves(&none)].concat()), entry(Some(none), false));
    }

    #[test]
    fn what_is_cut_counts_up_to_its_last_whole_block() {
        let [first, second, third] = whole();
        let bytes = [&*first, &second, &third].concat();
        for length in 0..bytes.len() {
            let read = decode(&bytes[..length]);
            match read {
                Err(cause) => {
                    assert!(length < first.len() && cause == Unreadable::Empty, "{length}");
                }
                Ok(entry) => {
                    assert!(!entry.is_marked && length >= first.len());
                    assert_eq!(entry.moves.is_some(), length >= first.len() + second.len(), "{length}");
                }
            }
        }
    }

    #[test]
    fn a_flipped_bit_never_changes_what_is_said() {
        let [first, second, third] = whole();
        let bytes = [&*first, &second, &third].concat();
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            if let Ok(entry) = decode(&flipped) {
                assert_eq!(entry.intent, intent());
                assert!(entry.moves.is_none_or(|found| found == moves()));
                assert!(!entry.is_marked, "bit {bit}");
            }
        }
    }

    #[test]
    fn names_that_lead_out_or_are_not_hidden_are_damage() {
        let check = |intent: &Intent| assert_eq!(decode(&encode_intent(intent)), Err(Unreadable::Damaged));
        check(&Intent { hidden: vec![place("a")], ..intent() });
        let [first, ..] = whole();
        for path in ["../x", "/x", "", "a/../b", ".", "a\0"] {
            let mut body = Writer::default();
            body.number(1);
            body.number(2);
            body.bytes(path.as_bytes());
            body.place(&place("a"));
            body.stamp(&Stamp::default());
            body.number(1);
            body.number(0);
            let entry = decode(&[&*first, &block(MOVES, &body.bytes)].concat()).unwrap();
            assert_eq!(entry.moves, None, "{path}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(
            kind in 1_u8..4,
            body in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200),
            small in proptest::collection::vec(0_u8..6, 0..200),
        ) {
            let [first, second, _] = whole();
            for body in [body, small] {
                // With its hash, so that the body is looked at.
                let _ = decode(&[VERSION_LINE, &block(kind, &body)].concat());
                let _ = decode(&[&*first, &block(kind, &body)].concat());
                let _ = decode(&[&*first, &second, &block(kind, &body)].concat());
                let _ = decode(&body);
            }
        }
    }

    #[test]
    fn a_length_that_is_a_lie_reserves_nothing() {
        let mut body = Writer::default();
        body.number(u64::MAX);
        let [first, ..] = whole();
        let entry = decode(&[&*first, &block(MOVES, &body.bytes)].concat()).unwrap();
        assert_eq!(entry.moves, None);
        let mut bytes = first.clone();
        bytes.push(MOVES);
        bytes.extend(u64::MAX.to_le_bytes());
        bytes.extend([0; 64]);
        assert_eq!(decode(&bytes).unwrap().moves, None);
        assert_eq!(decode(b"hunkwise journal 2\n"), Err(Unreadable::Version));
        assert_eq!(decode(b"something"), Err(Unreadable::Version));
    }
}
