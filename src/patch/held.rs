//! Lines that are held back until their dialect is known.
//!
//! What no line tells of is prose, and every dialect passes it over. Only the last [`HELD_CAP_BYTES`] are kept: what lies
//! further back is prose for sure.

use std::collections::VecDeque;

/// So many bytes of undecided text are held.
pub const HELD_CAP_BYTES: usize = 1 << 20;

/// The lines so far, with their CRs.
#[derive(Debug, Default)]
pub struct HeldLines {
    held: VecDeque<(usize, Vec<u8>)>,
    held_bytes: usize,
}

impl HeldLines {
    /// Takes a line, with its 1-based number.
    pub fn push(&mut self, line_number: usize, line: &[u8]) {
        self.held_bytes += line.len();
        self.held.push_back((line_number, line.to_vec()));
        while self.held_bytes > HELD_CAP_BYTES && self.held.len() > 2 {
            let dropped = self.held.pop_front();
            self.held_bytes -= dropped.map_or(0, |(_, line)| line.len());
        }
    }

    /// Returns the last line; empty if there is none.
    pub fn last(&self) -> &[u8] {
        self.held.back().map_or(&b""[..], |(_, line)| line)
    }

    /// Gives the lines back, with their numbers.
    pub fn into_lines(self) -> impl Iterator<Item = (usize, Vec<u8>)> {
        self.held.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_bounded() {
        let mut held = HeldLines::default();
        assert_eq!(held.last(), b"");
        for number in 1..=5 {
            held.push(number, &vec![b'x'; HELD_CAP_BYTES / 3]);
        }
        let numbers: Vec<usize> = held.into_lines().map(|(number, _)| number).collect();
        assert_eq!(numbers, [3, 4, 5]);
    }
}
