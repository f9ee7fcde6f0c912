//! Where the lines that hunks ask for stand in a file: one pass over the file, for all hunks at once.
//!
//! A line's key is the hash of its loosest form (blanks at both ends off, lookalikes folded), so one table serves
//! every rung: lines that are equal on a stricter rung have the same key.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::text::document::lines_from;

use super::fold::fold;
use super::fold::trim;

/// A fixed seed, so that every run is alike.
const STATE: FixedState = FixedState::with_seed(0x6875_6e6b);
/// Bits of the sieve that spares most lines the look-up; 8 KiB stay in the first-level cache.
const SIEVE_BITS: usize = 1 << 16;

/// One line of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occurrence {
    /// 0-based number of the line.
    pub line_index: usize,
    /// Byte offset of its start.
    pub start: usize,
}

/// The occurrences of the wanted lines.
#[derive(Debug)]
pub struct LineTable {
    lists: HashMap<u64, Vec<Occurrence>, FixedState>,
    sieve: Vec<u64>,
}

impl LineTable {
    /// Returns a table that wants these lines and has seen no file.
    pub fn wanting<'a>(wanted: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut table = LineTable { lists: HashMap::with_hasher(STATE), sieve: vec![0; SIEVE_BITS / 64] };
        for line in wanted {
            let key = key(line);
            table.sieve[sieve_word(key)] |= sieve_bit(key);
            table.lists.entry(key).or_default();
        }
        table
    }

    /// Goes over the lines of `bytes` from `start` and notes where wanted ones stand.
    pub fn fill(&mut self, bytes: &[u8], start: usize) {
        for (line_index, line) in lines_from(bytes, start).enumerate() {
            let key = key(line.text(bytes));
            if self.sieve[sieve_word(key)] & sieve_bit(key) == 0 {
                continue;
            }
            if let Some(list) = self.lists.get_mut(&key) {
                list.push(Occurrence { line_index, start: line.start });
            }
        }
    }

    /// Returns where a wanted line may stand, in order; the caller compares.
    pub fn occurrences(&self, line: &[u8]) -> &[Occurrence] {
        self.lists.get(&key(line)).map_or(&[], Vec::as_slice)
    }
}

fn key(line: &[u8]) -> u64 {
    use std::hash::BuildHasher;
    let trimmed = trim(line);
    if trimmed.is_ascii() { STATE.hash_one(trimmed) } else { STATE.hash_one(trim(&fold(trimmed))) }
}

fn sieve_word(key: u64) -> usize {
    // The mask keeps the value below SIEVE_BITS, so nothing is lost on any pointer width.
    (key as usize & (SIEVE_BITS - 1)) / 64
}

fn sieve_bit(key: u64) -> u64 {
    1 << (key % 64)
}
