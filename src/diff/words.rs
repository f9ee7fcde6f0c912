//! What differs inside a pair of lines, for drawing.
//!
//! A line is cut into words (letters, digits and `_`), runs of blanks, and single other graphemes; an ideograph or
//! kana stands alone, since such text has no blanks. The words are compared, not the characters: a changed word
//! reads better whole than in speckles.

use std::ops::Range;

use similar::Algorithm;
use similar::DiffTag;
use similar::capture_diff_slices;
use unicode_segmentation::UnicodeSegmentation;

/// Longer lines are not looked into: such a line is data, and nobody reads its highlights.
const LIMIT_BYTES: usize = 4096;
/// The least share, in percent, of the non-blank bytes of both lines that is equal. Below it the lines have too
/// little in common for a comparison to mean anything.
const COMMON_PERCENT: usize = 40;

/// The least share, in percent, of the non-blank bytes of lines that were wrapped anew that is equal.
const RUN_PERCENT: usize = 80;

/// The emphasised byte ranges of one line, sorted.
pub type Emphasis = Vec<Range<usize>>;

/// Returns the byte ranges that differ, of the old and of the new line; `None` if highlights would not help.
///
/// That is so if a line has more than 4096 bytes, or if less than 40 % of the non-blank bytes of both lines are
/// equal: those of equal words, and of the equal starts and ends of changed ones. The ranges are sorted and do not touch; their ends lie on grapheme borders. Two ranges with only blanks
/// between them are one.
///
/// ```
/// use hunkwise::diff::words::emphasis;
///
/// let (old, new) = emphasis("let total = 1;", "let total = 20;").unwrap_or_default();
/// assert_eq!((old, new), (vec![12..13], vec![12..14]));
/// assert_eq!(emphasis("fn main() {", "# Change log"), None);
/// ```
pub fn emphasis(old: &str, new: &str) -> Option<(Emphasis, Emphasis)> {
    if old.len() > LIMIT_BYTES || new.len() > LIMIT_BYTES {
        return None;
    }
    let (old_words, new_words) = (words(old), words(new));
    let mut common_bytes = 0;
    let (mut old_ranges, mut new_ranges) = (Ranges::of(old), Ranges::of(new));
    let (mut old_end, mut new_end) = (0, 0);
    for (old_range, new_range) in changes(&old_words, &new_words) {
        // What is equal has the same words, and bytes, on both sides.
        let equal_end = start_of(&old_words, old_range.start, old);
        common_bytes += non_blank_bytes(&old[old_end..equal_end]);
        let old_change = equal_end..start_of(&old_words, old_range.end, old);
        let new_change = new_end + equal_end - old_end..start_of(&new_words, new_range.end, new);
        common_bytes += common_ends(&old[old_change.clone()], &new[new_change.clone()]);
        (old_end, new_end) = (old_change.end, new_change.end);
        old_ranges.push(old_change);
        new_ranges.push(new_change);
    }
    common_bytes += non_blank_bytes(&old[old_end..]);
    let all_bytes = non_blank_bytes(old) + non_blank_bytes(new);
    (2 * common_bytes * 100 >= all_bytes * COMMON_PERCENT).then_some((old_ranges.list, new_ranges.list))
}

/// What differs between some lines and those that came for them, wherever the lines are broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEmphasis {
    /// Of each old line. A line that differs as a whole has none: there is nothing in it to stand out from.
    pub old: Vec<Emphasis>,
    /// Of each new line.
    pub new: Vec<Emphasis>,
    /// Nothing but blanks and the ends of lines differs.
    pub is_equal: bool,
}

/// Returns what differs between lines that were wrapped anew; `None` if that is not what they were.
///
/// They were if at least 80 % of the non-blank bytes of both sides are equal and in the same order. Sides of more than
/// 4096 bytes are not looked into.
///
/// ```
/// use hunkwise::diff::words::run_emphasis;
///
/// let run = run_emphasis(&["call(one, two);"], &["call(", "    one, 2,", ");"]).unwrap();
/// assert_eq!(run.old, [vec![10..13]]);
/// assert_eq!(run.new, [vec![], vec![9..11], vec![]]);
/// ```
pub fn run_emphasis(old: &[&str], new: &[&str]) -> Option<RunEmphasis> {
    let (old, new) = (Run::of(old)?, Run::of(new)?);
    let changes = changes(&old.words, &new.words);
    let changed = |range: &Range<usize>, run: &Run<'_>| {
        run.words[range.clone()].iter().map(|word| word.len()).sum::<usize>()
    };
    let changed_bytes: usize =
        changes.iter().map(|change| changed(&change.0, &old) + changed(&change.1, &new)).sum();
    let all_bytes = changed(&(0..old.words.len()), &old) + changed(&(0..new.words.len()), &new);
    let is_alike = (all_bytes - changed_bytes) * 100 >= all_bytes * RUN_PERCENT;
    is_alike.then(|| RunEmphasis {
        old: old.emphasis(changes.iter().map(|change| change.0.clone())),
        new: new.emphasis(changes.iter().map(|change| change.1.clone())),
        is_equal: changes.is_empty(),
    })
}

/// The words of some lines, without the blanks.
struct Run<'a> {
    lines: &'a [&'a str],
    words: Vec<&'a str>,
    /// In which line each word stands, and where it begins.
    places: Vec<(usize, usize)>,
}

impl<'a> Run<'a> {
    fn of(lines: &'a [&'a str]) -> Option<Self> {
        if lines.iter().map(|line| line.len()).sum::<usize>() > LIMIT_BYTES {
            return None;
        }
        let mut run = Run { lines, words: Vec::new(), places: Vec::new() };
        for (index, line) in lines.iter().enumerate() {
            let mut start = 0;
            for word in words(line) {
                if !word.trim().is_empty() {
                    run.words.push(word);
                    run.places.push((index, start));
                }
                start += word.len();
            }
        }
        Some(run)
    }

    fn emphasis(&self, changes: impl Iterator<Item = Range<usize>>) -> Vec<Emphasis> {
        let mut ranges: Vec<Ranges<'_>> = self.lines.iter().map(|line| Ranges::of(line)).collect();
        for word in changes.flatten() {
            let (line, start) = self.places[word];
            ranges[line].push(start..start + self.words[word].len());
        }
        let list = |ranges: Ranges<'_>| match ranges.list.as_slice() {
            [only] if only.len() == ranges.line.trim().len() => Vec::new(),
            _ => ranges.list,
        };
        ranges.into_iter().map(list).collect()
    }
}

/// Returns which ranges of the words differ, in order.
fn changes(old: &[&str], new: &[&str]) -> Vec<(Range<usize>, Range<usize>)> {
    let prefix = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let rest = old[prefix..].iter().rev().zip(new[prefix..].iter().rev());
    let suffix = rest.take_while(|(old, new)| old == new).count();
    let (old_range, new_range) = (prefix..old.len() - suffix, prefix..new.len() - suffix);
    // Most pairs of lines differ in one place, which leaves nothing to search for.
    if old_range.is_empty() && new_range.is_empty() {
        return Vec::new();
    }
    if old_range.is_empty() || new_range.is_empty() || (old_range.len(), new_range.len()) == (1, 1) {
        return vec![(old_range, new_range)];
    }
    let operations = capture_diff_slices(Algorithm::Myers, old, new);
    let changed = operations.iter().filter(|operation| operation.tag() != DiffTag::Equal);
    changed.map(|operation| (operation.old_range(), operation.new_range())).collect()
}

/// The emphasised ranges of one line.
struct Ranges<'a> {
    line: &'a str,
    list: Vec<Range<usize>>,
}

impl<'a> Ranges<'a> {
    fn of(line: &'a str) -> Self {
        Ranges { line, list: Vec::new() }
    }

    fn push(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        match self.list.last_mut() {
            Some(last) if self.line[last.end..range.start].trim().is_empty() => last.end = range.end,
            _ => self.list.push(range),
        }
    }
}

/// What a grapheme is part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Blank,
    Single,
}

impl Kind {
    fn of(grapheme: &str) -> Self {
        match grapheme.chars().next() {
            Some('\u{2E80}'..='\u{9FFF}' | '\u{20000}'..='\u{3FFFF}') => Kind::Single,
            Some(first) if first == '_' || first.is_alphanumeric() => Kind::Word,
            Some(first) if first.is_whitespace() => Kind::Blank,
            _ => Kind::Single,
        }
    }

    fn of_ascii(byte: u8) -> Self {
        match byte {
            b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => Kind::Word,
            b' ' | b'\t' => Kind::Blank,
            _ => Kind::Single,
        }
    }
}

fn words(line: &str) -> Vec<&str> {
    // Of printable ASCII and tabs every byte is a grapheme, which spares the segmentation of nearly all source code.
    if line.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')) {
        return words_of(line, line.bytes().map(Kind::of_ascii).enumerate());
    }
    words_of(line, line.grapheme_indices(true).map(|(index, grapheme)| (index, Kind::of(grapheme))))
}

/// Returns the words of a line whose graphemes begin at these bytes and are of these kinds.
fn words_of(line: &str, graphemes: impl Iterator<Item = (usize, Kind)>) -> Vec<&str> {
    // Words and what stands between them have about three bytes each.
    let mut words = Vec::with_capacity(line.len() / 3 + 1);
    let mut start = 0;
    let mut open = Kind::Single;
    for (index, kind) in graphemes {
        if index > start && (kind != open || kind == Kind::Single) {
            words.push(&line[start..index]);
            start = index;
        }
        open = kind;
    }
    if start < line.len() {
        words.push(&line[start..]);
    }
    words
}

/// Returns the byte of the line at which a word starts; its end for the one after the last.
fn start_of(words: &[&str], index: usize, line: &str) -> usize {
    words.get(index).map_or(line.len(), |word| word.as_ptr().addr() - line.as_ptr().addr())
}

/// Returns how many bytes at the starts and ends of two changed stretches are equal: a renamed word may be most of a
/// short line and yet look much like before.
fn common_ends(old: &str, new: &str) -> usize {
    let shorter = old.len().min(new.len());
    let at_start = old.bytes().zip(new.bytes()).take_while(|(old, new)| old == new).count();
    let at_end = old.bytes().rev().zip(new.bytes().rev()).take_while(|(old, new)| old == new).count();
    (at_start + at_end).min(shorter)
}

fn non_blank_bytes(text: &str) -> usize {
    if text.is_ascii() {
        return text.bytes().filter(|byte| !matches!(byte, b' ' | b'\t'..=b'\r')).count();
    }
    text.split_whitespace().map(str::len).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns both lines with their emphasised ranges in brackets.
    fn marked(old: &str, new: &str) -> Option<(String, String)> {
        let mark = |line: &str, ranges: &[Range<usize>]| {
            let mut text = String::new();
            let mut end = 0;
            for range in ranges {
                text += &format!("{}[{}]", &line[end..range.start], &line[range.clone()]);
                end = range.end;
            }
            text + &line[end..]
        };
        emphasis(old, new).map(|(old_ranges, new_ranges)| (mark(old, &old_ranges), mark(new, &new_ranges)))
    }

    #[test]
    fn whole_words_are_emphasised() {
        let cases = [
            (
                "let a = self.foo.bar(1);",
                "let a = self.baz.bar(1);",
                "let a = self.[foo].bar(1);",
                "let a = self.[baz].bar(1);",
            ),
            ("call(one)", "call(one, two)", "call(one)", "call(one[, two])"),
            ("    indented", "  indented", "[    ]indented", "[  ]indented"),
            ("some_name = 1 + 2", "some_name_2 = 1 + 2", "[some_name] = 1 + 2", "[some_name_2] = 1 + 2"),
            (
                "keep this old text here",
                "keep this new words here",
                "keep this [old text] here",
                "keep this [new words] here",
            ),
            ("文字を書く", "文字を読む", "文字を[書く]", "文字を[読む]"),
            ("cafe\u{301} noir", "cafe noir", "[cafe\u{301}] noir", "[cafe] noir"),
            ("same", "same", "same", "same"),
            ("", "", "", ""),
        ];
        for (old, new, old_marked, new_marked) in cases {
            assert_eq!(marked(old, new), Some((old_marked.into(), new_marked.into())), "{old:?} {new:?}");
        }
    }

    #[test]
    fn lines_with_little_in_common_have_no_emphasis() {
        for (old, new) in [("return value;", "for item in list {"), ("", "text"), ("}", "let a = 1;")] {
            assert_eq!(emphasis(old, new), None, "{old:?} {new:?}");
        }
    }

    #[test]
    fn the_longest_line_is_compared_and_a_longer_one_is_not() {
        let longest = "a ".repeat(LIMIT_BYTES / 2);
        assert!(emphasis(&longest, "a a a a").is_none());
        assert_eq!(emphasis(&longest, &longest), Some((vec![], vec![])));
        assert_eq!(emphasis(&format!("{longest}a"), &format!("{longest}a")), None);
    }

    proptest! {
        #[test]
        fn one_change_needs_no_search(old in "[ab ]{0,6}", new in "[ab ]{0,6}") {
            let letters = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
            let (old, new) = (letters(&old), letters(&new));
            let (old, new): (Vec<&str>, Vec<&str>) =
                (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
            let searched: Vec<_> = capture_diff_slices(Algorithm::Myers, &old, &new)
                .iter()
                .filter(|operation| operation.tag() != DiffTag::Equal)
                .map(|operation| (operation.old_range(), operation.new_range()))
                .collect();
            let found = changes(&old, &new);
            let length = |changes: &[(Range<usize>, Range<usize>)]| {
                changes.iter().map(|(old, new)| old.len() + new.len()).sum::<usize>()
            };
            // A search may slide what one word became away from it.
            prop_assert!(found == searched || found.len() == 1 && length(&found) == length(&searched));
        }

        #[test]
        fn words_of_wrapped_lines_lie_in_their_lines(
            old in proptest::collection::vec("[ab,. é\u{301}文]{0,8}", 0..4),
            new in proptest::collection::vec("[ab,. é\u{301}文]{0,8}", 0..4),
        ) {
            let (old, new): (Vec<&str>, Vec<&str>) =
                (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
            let Some(run) = run_emphasis(&old, &new) else { return Ok(()) };
            let joined = |lines: &[&str]| lines.concat().split_whitespace().collect::<String>();
            prop_assert!(!run.is_equal || joined(&old) == joined(&new));
            prop_assert_eq!((run.old.len(), run.new.len()), (old.len(), new.len()));
            for (line, ranges) in old.iter().zip(&run.old).chain(new.iter().zip(&run.new)) {
                let mut end = 0;
                for range in ranges {
                    prop_assert!(range.start >= end && !line[range.clone()].trim().is_empty());
                    end = range.end;
                }
            }
        }

        #[test]
        fn what_is_not_emphasised_is_equal(old in "[ab_. é\u{301}文\t]{0,24}", new in "[ab_. é\u{301}文\t]{0,24}") {
            let Some((old_ranges, new_ranges)) = emphasis(&old, &new) else { return Ok(()) };
            let rest = |line: &str, ranges: &[Range<usize>]| {
                let mut kept = String::new();
                let mut end = 0;
                for range in ranges {
                    assert!(range.start < range.end && (range.start > end || end == 0));
                    kept += &line[end..range.start];
                    end = range.end;
                }
                kept + &line[end..]
            };
            let without_blanks = |text: String| text.split_whitespace().collect::<String>();
            prop_assert_eq!(
                without_blanks(rest(&old, &old_ranges)),
                without_blanks(rest(&new, &new_ranges))
            );
        }
    }
}
