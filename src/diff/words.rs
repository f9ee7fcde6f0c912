//! What differs inside a pair of lines.

use std::ops::Range;

/// Byte ranges of an old and of a new line.
pub type Emphasis = (Vec<Range<usize>>, Vec<Range<usize>>);

/// Returns the byte ranges that differ in an old and a new line; none if too little is equal.
pub fn emphasis(old: &str, new: &str) -> Option<Emphasis> {
    let head: usize = old
        .chars()
        .zip(new.chars())
        .take_while(|(left, right)| left == right)
        .map(|(left, _)| left.len_utf8())
        .sum();
    let tail: usize = old[head..]
        .chars()
        .rev()
        .zip(new[head..].chars().rev())
        .take_while(|(left, right)| left == right)
        .map(|(left, _)| left.len_utf8())
        .sum();
    if head + tail == 0 {
        return None;
    }
    let range = |text: &str| {
        let range = head..text.len() - tail;
        if range.is_empty() { Vec::new() } else { vec![range] }
    };
    Some((range(old), range(new)))
}
