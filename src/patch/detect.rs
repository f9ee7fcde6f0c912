//! Which dialect a text has, found out line by line.
//!
//! Lines are held back until one of them tells; what nothing tells of is prose, and every dialect passes it over. Only
//! the last [`HELD_CAP_BYTES`] are kept: what lies further back is prose for sure.

use std::collections::VecDeque;

use super::Dialect;
use super::apply_patch;
use super::lines::without_cr;
use super::search_replace;

/// So many bytes of undecided text are held.
pub const HELD_CAP_BYTES: usize = 1 << 20;

/// The lines that have not told yet.
#[derive(Debug, Default)]
pub struct Detector {
    held: VecDeque<(usize, Vec<u8>)>,
    held_bytes: usize,
}

impl Detector {
    /// Takes a line with its CR; says the dialect as soon as one line, or two that follow each other, tell.
    pub fn line(&mut self, line_number: usize, line: &[u8]) -> Option<Dialect> {
        let told = self.last(line);
        self.held_bytes += line.len();
        self.held.push_back((line_number, line.to_vec()));
        while self.held_bytes > HELD_CAP_BYTES && self.held.len() > 2 {
            let dropped = self.held.pop_front();
            self.held_bytes -= dropped.map_or(0, |(_, line)| line.len());
        }
        told
    }

    /// Says what a line tells behind those that are held, without taking it.
    pub fn last(&self, line: &[u8]) -> Option<Dialect> {
        let text = without_cr(line);
        let before = self.held.back().map_or(&b""[..], |(_, line)| without_cr(line));
        // One rule a dialect: the first that knows the line decides.
        if apply_patch::opens(text) {
            Some(Dialect::ApplyPatch)
        } else if is_unified(before, text) {
            Some(Dialect::Unified)
        } else if search_replace::opens(text) {
            Some(Dialect::SearchReplace)
        } else {
            None
        }
    }

    /// Gives the lines back, with their 1-based numbers.
    pub fn into_lines(self) -> impl Iterator<Item = (usize, Vec<u8>)> {
        self.held.into_iter()
    }
}

fn is_unified(before: &[u8], text: &[u8]) -> bool {
    let heads: [&[u8]; 5] = [b"diff --git ", b"diff --cc ", b"diff --combined ", b"@@ -", b"Binary files "];
    let is_row = |byte: u8| text.len() >= 15 && text.iter().all(|&other| other == byte);
    let is_names = before.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(before).starts_with(b"--- ")
        && text.starts_with(b"+++ ");
    let text_start = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    is_names
        || heads.iter().any(|head| text_start.starts_with(head))
        || before.starts_with(b"Index: ") && is_row(b'=')
        // A context diff, which is refused by name.
        || before.starts_with(b"--- ") && is_row(b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(usize, Dialect)>) {
        let mut detector = Detector::default();
        let told = text
            .split('\n')
            .enumerate()
            .find_map(|(index, line)| Some((index + 1, detector.line(index + 1, line.as_bytes())?)));
        assert_eq!(told, expected, "{text}");
    }

    #[test]
    fn the_first_line_that_tells_decides() {
        check("*** Begin Patch\n", Some((1, Dialect::ApplyPatch)));
        check("prose\n```\n *** Begin Patch ***\n", Some((3, Dialect::ApplyPatch)));
        check("*** Update File: a\n", Some((1, Dialect::ApplyPatch)));
        check("f\n<<<<<<< SEARCH\n", Some((2, Dialect::SearchReplace)));
        check("diff --git a/x b/x\n", Some((1, Dialect::Unified)));
        check("see\n--- a/x\r\n+++ b/x\r\n", Some((3, Dialect::Unified)));
        check("Index: x\n===================\n", Some((2, Dialect::Unified)));
        check("*** x\n--- y\n***************\n", Some((3, Dialect::Unified)));
        check("--- a title\n\n+++ no names\n*** bold\n", None);
    }

    #[test]
    fn what_is_held_is_bounded() {
        let mut detector = Detector::default();
        for number in 1..=5 {
            assert_eq!(detector.line(number, &vec![b'x'; HELD_CAP_BYTES / 3]), None);
        }
        let numbers: Vec<usize> = detector.into_lines().map(|(number, _)| number).collect();
        assert_eq!(numbers, [3, 4, 5]);
    }
}
