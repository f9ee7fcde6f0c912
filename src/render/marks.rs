//! What stands out inside changed lines: which deleted line an inserted one replaces, and which words of them differ.

use std::ops::Range;

use crate::diff::hunks::Sign;
use crate::diff::hunks::SignedLine;
use crate::diff::words;

/// Longer lines are compared from both ends only: words of minified code tell nothing and cost time.
const LIMIT_WORDS_BYTES: usize = 4096;

/// Compares the lines of each run of deleted and then inserted ones in pairs: the first with the first, and so on.
pub(super) fn marks_of(lines: &[SignedLine<'_>]) -> Vec<Marks> {
    let mut marks = vec![Marks::default(); lines.len()];
    let run = |from: usize, kind: Sign| lines[from..].iter().take_while(|line| line.kind == kind).count();
    let mut at = 0;
    while at < lines.len() {
        let deleted = run(at, Sign::Delete);
        let inserted = run(at + deleted, Sign::Insert);
        for pair in at..at + deleted.min(inserted) {
            (marks[pair], marks[pair + deleted]) = pair_marks(lines[pair].text, lines[pair + deleted].text);
        }
        at += (deleted + inserted).max(1);
    }
    marks
}

/// What of a line is emphasised, and what has to stay in view when it is cut.
#[derive(Clone, Default)]
pub(super) struct Marks {
    pub(super) words: Vec<Range<usize>>,
    pub(super) focus: Option<Range<usize>>,
}

fn pair_marks(old: &str, new: &str) -> (Marks, Marks) {
    let is_short = old.len().max(new.len()) <= LIMIT_WORDS_BYTES;
    let (old_words, new_words) = is_short.then(|| words::emphasis(old, new)).flatten().unwrap_or_default();
    let marks = |words: Vec<Range<usize>>, text: &str, partner: &str| {
        let span = words.first().zip(words.last()).map(|(first, last)| first.start..last.end);
        Marks { words, focus: Some(span.unwrap_or_else(|| differing(text, partner))) }
    };
    (marks(old_words, old, new), marks(new_words, new, old))
}

/// Returns the bytes of `text` between what it has in common with `partner` at its start and its end.
///
/// The range may begin or end inside a character: it is only compared with other offsets.
fn differing(text: &str, partner: &str) -> Range<usize> {
    let (text, partner) = (text.as_bytes(), partner.as_bytes());
    let start = text.iter().zip(partner).take_while(|(left, right)| left == right).count();
    let tail = text[start..].iter().rev().zip(partner[start..].iter().rev());
    start..text.len() - tail.take_while(|(left, right)| left == right).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kind: Sign, text: &str, number: Option<usize>) -> SignedLine<'_> {
        SignedLine { kind, text, old_number: number, new_number: number }
    }

    #[test]
    fn lines_are_paired_in_order_within_one_run() {
        let lines = [
            line(Sign::Delete, "one a", None),
            line(Sign::Delete, "two a", None),
            line(Sign::Insert, "one b", None),
            line(Sign::Context, "same", None),
            line(Sign::Insert, "two b", None),
        ];
        let marks = marks_of(&lines);
        let is_paired: Vec<bool> = marks.iter().map(|marks| marks.focus.is_some()).collect();
        assert_eq!(is_paired, [true, false, true, false, false]);
        assert_eq!(marks[0].focus, Some(4..5));
    }

    #[test]
    fn what_differs_lies_between_the_common_ends() {
        assert_eq!(differing("abcd", "abXd"), 2..3);
        assert_eq!(differing("aa", "aaa"), 2..2);
        assert_eq!(differing("", "x"), 0..0);
        assert_eq!(differing("\u{e9}", "\u{e8}"), 1..2);
    }
}
