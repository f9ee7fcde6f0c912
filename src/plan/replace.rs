//! Where an edit's old text stands, and what its new text becomes there.
//!
//! The search is literal; LF in the old text matches LF and CRLF, and CRLF in it counts as LF. A newline in the new
//! text takes the ending of the newline it stands for in the replaced text, else of the line it stands on.

use std::ops::Range;

use memchr::memmem;

use crate::text::Document;
use crate::text::Splice;
use crate::text::document::LineSpan;

/// Returns the byte ranges where `old` (LF line ends, not empty) stands, overlapping ones too, in file order.
pub fn places(document: &Document, old: &[u8]) -> Vec<Range<usize>> {
    let bytes = document.bytes();
    let mut places = all_places(document, old);
    if old.last() == Some(&b'\r') {
        // The CR of a CRLF is no text: to replace it would change the line's ending.
        places.retain(|place| bytes.get(place.end) != Some(&b'\n'));
    }
    places
}

fn all_places(document: &Document, old: &[u8]) -> Vec<Range<usize>> {
    let bytes = document.bytes();
    if !old.contains(&b'\n') || memchr::memchr(b'\r', bytes).is_none() {
        return overlapping(bytes, old, document.text_start())
            .map(|start| start..start + old.len())
            .collect();
    }
    let parts: Vec<&[u8]> = old.split(|&byte| byte == b'\n').collect();
    let longest = (0..parts.len()).max_by_key(|&index| parts[index].len()).unwrap_or(0);
    let search = Parts { bytes, text_start: document.text_start(), parts: &parts };
    if parts[longest].is_empty() {
        // Only newlines: every line's end is a place to begin.
        return document
            .lines()
            .filter_map(|line| search.forward(0, line.text_end).map(|end| line.text_end..end))
            .collect();
    }
    overlapping(bytes, parts[longest], document.text_start())
        .filter_map(|at| Some(search.backward(longest, at)?..search.forward(longest, at)?))
        .collect()
}

/// Keeps the places that a left-to-right replacement takes: those that do not overlap one before.
pub fn without_overlap(places: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut free_from = 0;
    let mut kept = Vec::new();
    for place in places {
        if place.start >= free_from {
            free_from = place.end;
            kept.push(place.clone());
        }
    }
    kept
}

/// Returns the replacement of one place by `new` (LF line ends).
pub fn splice(document: &Document, place: Range<usize>, new: &[u8]) -> Splice {
    if !new.contains(&b'\n') {
        return Splice { range: place, new: new.to_vec() };
    }
    let bytes = document.bytes();
    let mut endings: Vec<&[u8]> = Vec::new();
    let mut next = place.start;
    while let Some(length) = memchr::memchr(b'\n', &bytes[next..place.end]) {
        endings.push(ending_at(bytes, next + length));
        next += length + 1;
    }
    let neighbour;
    if endings.is_empty() {
        neighbour = neighbour_ending(document, &place);
        endings.push(&neighbour);
    }
    let mut out = Vec::with_capacity(new.len() + endings.len());
    for (index, part) in new.split(|&byte| byte == b'\n').enumerate() {
        if index > 0 {
            out.extend_from_slice(endings[(index - 1).min(endings.len() - 1)]);
        }
        out.extend_from_slice(part);
    }
    Splice { range: place, new: out }
}

/// The ending of the line that the place stands on; of a last line without one, of the line before; else the majority.
fn neighbour_ending(document: &Document, place: &Range<usize>) -> Vec<u8> {
    let bytes = document.bytes();
    let own = LineSpan::at(bytes, place.end);
    let start = memchr::memrchr(b'\n', &bytes[..place.start]).map(|newline| ending_at(bytes, newline));
    match (own.ending(bytes), start) {
        (b"", Some(before)) => before.to_vec(),
        (b"", None) => document.eol_counts().majority().to_vec(),
        (ending, _) => ending.to_vec(),
    }
}

fn ending_at(bytes: &[u8], newline: usize) -> &[u8] {
    if newline > 0 && bytes[newline - 1] == b'\r' { b"\r\n" } else { b"\n" }
}

fn overlapping<'a>(bytes: &'a [u8], needle: &'a [u8], from: usize) -> impl Iterator<Item = usize> + 'a {
    let finder = memmem::Finder::new(needle).into_owned();
    let mut next = from;
    std::iter::from_fn(move || {
        let at = next + finder.find(bytes.get(next..)?)?;
        next = at + 1;
        Some(at)
    })
}

/// An old text cut at its newlines, to be laid on bytes whose newlines may be CRLF.
struct Parts<'a> {
    bytes: &'a [u8],
    text_start: usize,
    parts: &'a [&'a [u8]],
}

impl Parts<'_> {
    /// Returns where the whole text ends, if part `index` stands at `at` and the later parts follow.
    fn forward(&self, index: usize, at: usize) -> Option<usize> {
        let mut at = at + self.parts[index].len();
        for part in &self.parts[index + 1..] {
            let rest = self.bytes.get(at..)?;
            let newline = match rest {
                [b'\r', b'\n', ..] => 2,
                // Behind a CR the ending began before this place.
                [b'\n', ..] if at == 0 || self.bytes[at - 1] != b'\r' => 1,
                _ => 0,
            };
            if newline == 0 || !rest[newline..].starts_with(part) {
                return None;
            }
            at += newline + part.len();
        }
        Some(at)
    }

    /// Returns where the whole text starts, if part `index` stands at `at` and the earlier parts precede.
    fn backward(&self, index: usize, at: usize) -> Option<usize> {
        let mut at = at;
        for (index, part) in self.parts[..index].iter().enumerate().rev() {
            let head = &self.bytes[self.text_start..at];
            let head = head.strip_suffix(b"\n")?;
            let head = head.strip_suffix(b"\r").unwrap_or(head);
            if !head.ends_with(part) {
                return None;
            }
            let is_whole_line = head.len() == part.len() || head[head.len() - part.len() - 1] == b'\n';
            if index > 0 && !is_whole_line {
                return None;
            }
            at = self.text_start + head.len() - part.len();
        }
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(bytes: &str, old: &str) -> Vec<Range<usize>> {
        places(&Document::new(bytes.as_bytes().to_vec()), old.as_bytes())
    }

    #[test]
    fn lf_in_the_old_text_matches_both_endings() {
        assert_eq!(at("x\r\nx\nq\r\n", "x\n"), vec![0..3, 3..5]);
        assert_eq!(at("a\r\nb\r\nc", "a\nb\nc"), vec![0..7]);
        assert_eq!(at("a\r\n\r\n\n", "\n\n"), vec![1..5, 3..6]);
        assert_eq!(at("aaaa\r", "aa"), vec![0..2, 1..3, 2..4]);
        assert!(at("a\rb\r\n", "a\nb").is_empty());
        // A CR before LF belongs to the ending; a lone one is text.
        assert!(at("a\r\nb\r\n", "a\r").is_empty());
        assert_eq!(at("a\rb", "a\r"), vec![0..2]);
        assert_eq!(at("a\r", "a\r"), vec![0..2]);
        assert!(at("x\r\na\r\n", "x\na\r").is_empty());
        assert_eq!(at("a\r\r\n", "a\r"), vec![0..2]);
        assert!(at("a\r\nb", "a\r\nb").is_empty(), "LF line ends in the old text: this is a lone CR");
    }

    #[test]
    fn new_text_takes_the_endings_that_it_stands_for() {
        let check = |bytes: &str, old: &str, new: &str, expected: &str| {
            let document = Document::new(bytes.as_bytes().to_vec());
            let place = places(&document, old.as_bytes()).remove(0);
            let splices = crate::text::Splices::new(vec![splice(&document, place, new.as_bytes())]).unwrap();
            assert_eq!(
                String::from_utf8(splices.apply(document.bytes())).unwrap(),
                expected,
                "{bytes:?} {new:?}"
            );
        };
        check("aa\r\nbb\r\n", "aa", "aa\nzz", "aa\r\nzz\r\nbb\r\n");
        check("a\r\nb\nc\n", "a\nb\n", "x\ny\nz\n", "x\r\ny\nz\nc\n");
        check("x\nend", "end", "end\n", "x\nend\n");
        check("x\r\nend", "end", "end\n", "x\r\nend\r\n");
        check("one", "one", "one\ntwo", "one\ntwo");
    }

    proptest! {
        #[test]
        fn places_are_where_the_normalised_text_has_them(file in "[ab\n]{0,12}", old in "[ab\n]{1,3}") {
            let crlf = file.replace('\n', "\r\n");
            let expected: Vec<usize> = (0..file.len()).filter(|&at| file[at..].starts_with(&old)).collect();
            prop_assert_eq!(at(&file, &old).iter().map(|place| place.start).collect::<Vec<_>>(), expected.clone());
            let shift = |at: usize| at + file[..at].matches('\n').count();
            let shifted: Vec<usize> = expected.into_iter().map(shift).collect();
            prop_assert_eq!(at(&crlf, &old).iter().map(|place| place.start).collect::<Vec<_>>(), shifted);
        }
    }
}
