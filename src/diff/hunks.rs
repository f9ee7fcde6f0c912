//! Changed ranges to [`crate::report::FileDiff`]s with context, and a `FileDiff` to signed lines.

use crate::report::FileDiff;

/// What a line does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// It stays.
    Context,
    /// It goes.
    Delete,
    /// It comes.
    Insert,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedLine<'a> {
    /// What it does.
    pub kind: Sign,
    /// Its text without the newline.
    pub text: &'a str,
    /// Its 1-based number in the old file.
    pub old_number: Option<usize>,
    /// Its 1-based number in the new file.
    pub new_number: Option<usize>,
}

/// Returns the lines of a hunk with their signs.
pub fn signed_lines(diff: &FileDiff) -> Vec<SignedLine<'_>> {
    let mut signed: Vec<(Sign, &str)> = Vec::new();
    if let Some(lines) = &diff.lines {
        for line in lines {
            let (kind, skip) = match line.as_bytes().first() {
                Some(b'-') => (Sign::Delete, 1),
                Some(b'+') => (Sign::Insert, 1),
                Some(b' ') => (Sign::Context, 1),
                _ => (Sign::Context, 0),
            };
            signed.push((kind, &line[skip..]));
        }
    } else {
        let old = split(diff.old_text.as_deref().unwrap_or(""), diff.old_lines);
        let new = split(&diff.new_text, diff.new_lines);
        let shorter = old.len().min(new.len());
        let head = (0..shorter).take_while(|&at| old[at] == new[at]).count();
        let tail =
            (0..shorter - head).take_while(|&at| old[old.len() - 1 - at] == new[new.len() - 1 - at]).count();
        signed.extend(old[..head].iter().map(|&text| (Sign::Context, text)));
        signed.extend(old[head..old.len() - tail].iter().map(|&text| (Sign::Delete, text)));
        signed.extend(new[head..new.len() - tail].iter().map(|&text| (Sign::Insert, text)));
        signed.extend(old[old.len() - tail..].iter().map(|&text| (Sign::Context, text)));
    }
    let (mut old_next, mut new_next) = (diff.old_start, diff.new_start);
    let take = |next: &mut Option<usize>, on: bool| {
        let number = next.filter(|_| on);
        if on {
            *next = next.map(|value| value.saturating_add(1));
        }
        number
    };
    signed
        .into_iter()
        .map(|(kind, text)| SignedLine {
            kind,
            text,
            old_number: take(&mut old_next, kind != Sign::Insert),
            new_number: take(&mut new_next, kind != Sign::Delete),
        })
        .collect()
}

fn split(text: &str, count: Option<usize>) -> Vec<&str> {
    match count {
        Some(0) => Vec::new(),
        None if text.is_empty() => Vec::new(),
        Some(_) => text.split('\n').collect(),
        None => text.strip_suffix('\n').unwrap_or(text).split('\n').collect(),
    }
}

/// Returns how many lines a hunk adds and how many it removes.
pub fn counts(diff: &FileDiff) -> (usize, usize) {
    let lines = signed_lines(diff);
    let count = |kind| lines.iter().filter(|line| line.kind == kind).count();
    (count(Sign::Insert), count(Sign::Delete))
}
