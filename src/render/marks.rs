//! What stands out inside changed lines: which deleted line an inserted one replaces, and which words of them differ.

use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::FixedState;
use unicode_segmentation::GraphemeCursor;

use super::escape::border_before;
use crate::diff::hunks::Sign;
use crate::diff::hunks::SignedLine;
use crate::diff::words;
use crate::diff::words::RunEmphasis;

/// Longer lines are compared from both ends only: words of minified code tell nothing and cost time.
const LIMIT_WORDS_BYTES: usize = 4096;
/// What differs in such a line is marked if it is at most this part of it, one in so many.
const SMALL_PART: usize = 4;
/// A run with more pairs of lines than this is paired in order: every pair of it would have to be compared.
const LIMIT_PAIRS: usize = 1 << 12;
/// Runs that have less of their words in common than this, in percent, were not wrapped anew.
const LIKE_WRAPPED_PERCENT: u32 = 70;
/// Lines that have less of their words in common than this, in percent, do not replace each other.
const LIKE_PERCENT: u32 = 40;

/// What of a line is emphasised, and what has to stay in view when it is cut.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) words: Vec<Range<usize>>,
    pub(super) focus: Option<Range<usize>>,
    /// The index in the hunk of the line that this one replaces, or that replaces it.
    pub(super) partner: Option<usize>,
    /// That line differs only in its blanks.
    pub(super) blanks: Option<Blanks>,
}

/// Nothing stands out.
pub(super) static NONE: Marks = Marks { words: Vec::new(), focus: None, partner: None, blanks: None };

/// Which blanks of a line changed, where nothing else did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Blanks {
    /// Those at its start.
    Indentation,
    /// Others.
    Other,
    /// Only where the lines are broken.
    Wrapping,
}

/// Whether the words that differ are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Emphasis {
    /// They are shown.
    Words,
    /// Nobody would see them: without colours all that is needed is what has to stay in view.
    None,
}

/// Compares the lines of each run of deleted and then inserted ones in pairs.
pub(super) fn marks_of(lines: &[SignedLine<'_>], emphasis: Emphasis) -> Vec<Option<Box<Marks>>> {
    let mut marks = vec![None; lines.len()];
    let run = |from: usize, kind: Sign| lines[from..].iter().take_while(|line| line.kind == kind).count();
    let mut at = 0;
    while at < lines.len() {
        let deleted = run(at, Sign::Delete);
        let inserted = run(at + deleted, Sign::Insert);
        let (old, new) = lines[at..at + deleted + inserted].split_at(deleted);
        let pairs = pairs(old, new);
        let wrapped = if pairs.len() < deleted.max(inserted) { wrapped_anew(old, new) } else { None };
        if let Some(run) = &wrapped {
            let sides = run.old.iter().chain(&run.new).enumerate();
            for (index, words) in sides {
                let focus = words.first().zip(words.last()).map(|(first, last)| first.start..last.end);
                let blanks = run.is_equal.then_some(Blanks::Wrapping);
                let words = if emphasis == Emphasis::Words { words.clone() } else { Vec::new() };
                marks[at + index] = Some(Box::new(Marks { words, focus, partner: None, blanks }));
            }
        }
        for (old_index, new_index) in pairs {
            let (old_at, new_at) = (at + old_index, at + deleted + new_index);
            if wrapped.is_none() {
                let (old, new) = pair_marks(lines[old_at].text, lines[new_at].text, emphasis);
                (marks[old_at], marks[new_at]) = (Some(Box::new(old)), Some(Box::new(new)));
            }
            for (line, partner) in [(old_at, new_at), (new_at, old_at)] {
                if let Some(marks) = &mut marks[line] {
                    marks.partner = Some(partner);
                }
            }
        }
        at += (deleted + inserted).max(1);
    }
    marks
}

/// Returns what differs in a run whose lines are broken at other places than before, if that is what it is.
fn wrapped_anew<'a>(old: &[SignedLine<'a>], new: &[SignedLine<'a>]) -> Option<RunEmphasis> {
    let length = |lines: &[SignedLine<'_>]| lines.iter().map(|line| line.text.len()).sum::<usize>();
    // What has less in common than that in any order needs no search.
    let is_like = || {
        let prints = |lines: &[SignedLine<'_>]| {
            let mut prints: Vec<u32> = lines.iter().flat_map(|line| word_prints(line.text)).collect();
            prints.sort_unstable();
            prints
        };
        like_percent(&prints(old), &prints(new)) >= LIKE_WRAPPED_PERCENT
    };
    let is_short = length(old).max(length(new)) <= LIMIT_WORDS_BYTES;
    if old.is_empty() || new.is_empty() || !is_short || !is_like() {
        return None;
    }
    let texts = |lines: &[SignedLine<'a>]| lines.iter().map(|line| line.text).collect::<Vec<&str>>();
    words::run_emphasis(&texts(old), &texts(new))
}

/// Returns which deleted lines of a run pair with which inserted ones, both rising.
///
/// Those are chosen that have most in common together. A single line always pairs with a single one, since what is
/// between them then is all that was changed.
fn pairs(old: &[SignedLine<'_>], new: &[SignedLine<'_>]) -> Vec<(usize, usize)> {
    if old.is_empty() || new.is_empty() {
        return Vec::new();
    }
    if (old.len(), new.len()) == (1, 1) || old.len().saturating_mul(new.len()) > LIMIT_PAIRS {
        return (0..old.len().min(new.len())).map(|index| (index, index)).collect();
    }
    let words =
        |lines: &[SignedLine<'_>]| lines.iter().map(|line| word_prints(line.text)).collect::<Vec<_>>();
    let (old_words, new_words) = (words(old), words(new));
    let columns = new.len() + 1;
    // The most that the first lines of both sides have in common, for each count of them.
    let mut best = vec![0_u32; (old.len() + 1) * columns];
    let likeness = |row: usize, column: usize| like_percent(&old_words[row], &new_words[column]);
    for row in 1..=old.len() {
        for column in 1..columns {
            let like = likeness(row - 1, column - 1);
            let paired = if like >= LIKE_PERCENT { best[(row - 1) * columns + column - 1] + like } else { 0 };
            best[row * columns + column] =
                paired.max(best[(row - 1) * columns + column]).max(best[row * columns + column - 1]);
        }
    }
    let mut chosen = Vec::new();
    let (mut row, mut column) = (old.len(), new.len());
    while row > 0 && column > 0 {
        let here = best[row * columns + column];
        if here == best[(row - 1) * columns + column] {
            row -= 1;
        } else if here == best[row * columns + column - 1] {
            column -= 1;
        } else {
            (row, column) = (row - 1, column - 1);
            chosen.push((row, column));
        }
    }
    chosen.reverse();
    chosen
}

/// Returns a print for each word and each other visible character of a line, sorted.
fn word_prints(text: &str) -> Vec<u32> {
    let text = &text.as_bytes()[..text.len().min(LIMIT_WORDS_BYTES)];
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let mut prints = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let length = text[at..].iter().take_while(|byte| is_word(byte)).count().max(1);
        let word = &text[at..at + length];
        at += length;
        if !word.trim_ascii().is_empty() {
            prints.push(FixedState::with_seed(0).hash_one(word) as u32);
        }
    }
    prints.sort_unstable();
    prints
}

/// Returns how much of the words of both lines is in both, in percent; lines without words have nothing in common.
fn like_percent(old: &[u32], new: &[u32]) -> u32 {
    let (mut left, mut right, mut common) = (0, 0, 0_usize);
    while left < old.len() && right < new.len() {
        match old[left].cmp(&new[right]) {
            std::cmp::Ordering::Less => left += 1,
            std::cmp::Ordering::Greater => right += 1,
            std::cmp::Ordering::Equal => {
                common += 1;
                (left, right) = (left + 1, right + 1);
            }
        }
    }
    let all = old.len() + new.len();
    (200 * common).checked_div(all).map_or(0, |percent| percent as u32)
}

fn pair_marks(old: &str, new: &str, emphasis: Emphasis) -> (Marks, Marks) {
    let is_short = old.len().max(new.len()) <= LIMIT_WORDS_BYTES;
    let (old_words, new_words) = match (emphasis, is_short) {
        (Emphasis::None, _) => Default::default(),
        (Emphasis::Words, true) => words::emphasis(old, new).unwrap_or_default(),
        (Emphasis::Words, false) => (changed_part(old, new), changed_part(new, old)),
    };
    let blanks = blanks_of(old, new);
    // What stays in view must not depend on whether words are emphasised.
    let marks = |words: Vec<Range<usize>>, text: &str, partner: &str| Marks {
        words,
        focus: Some(differing(text, partner)),
        partner: None,
        blanks,
    };
    (marks(old_words, old, new), marks(new_words, new, old))
}

/// Returns what of a long line lies between its common ends with its partner, if that is a small part of it: the least
/// that has to be found in it.
fn changed_part(text: &str, partner: &str) -> Vec<Range<usize>> {
    let part = differing(text, partner);
    if part.is_empty() || part.len() > text.len() / SMALL_PART {
        return Vec::new();
    }
    let start = grapheme_border_before(text, part.start);
    let mut cursor = GraphemeCursor::new(grapheme_border_before(text, part.end), text.len(), true);
    let end = match cursor.cur_cursor() {
        end if end == part.end => end,
        _ => cursor.next_boundary(text, 0).ok().flatten().unwrap_or(text.len()),
    };
    let part = start..end;
    vec![part]
}

/// Returns the last border between characters that are seen as one that is not behind `at`, in bytes.
pub(super) fn grapheme_border_before(text: &str, at: usize) -> usize {
    let at = border_before(text, at);
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(false) => cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0),
        Ok(true) | Err(_) => at,
    }
}

/// Returns which blanks differ, if nothing else does. A carriage return is no blank here: it is an ending.
fn blanks_of(old: &str, new: &str) -> Option<Blanks> {
    let is_blank = |scalar: &char| *scalar == ' ' || *scalar == '\t';
    // Nearly all pairs differ in something else first.
    let at = old.bytes().zip(new.bytes()).take_while(|(left, right)| left == right).count();
    let is_other = |text: &str| text.as_bytes().get(at).is_some_and(|byte| !matches!(byte, b' ' | b'\t'));
    if is_other(old) && is_other(new) {
        return None;
    }
    let visible = || [old, new].map(|text| text.chars().filter(move |scalar| !is_blank(scalar)));
    let [mut first, mut other] = visible();
    if old == new || first.next().is_none_or(|scalar| other.next() != Some(scalar)) || !first.eq(other) {
        return None;
    }
    let unindented = |text: &'_ str| text.len() - text.trim_start_matches([' ', '\t']).len();
    let is_indentation = old[unindented(old)..] == new[unindented(new)..];
    Some(if is_indentation { Blanks::Indentation } else { Blanks::Other })
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

    fn line(kind: Sign, text: &str) -> SignedLine<'_> {
        SignedLine { kind, text, old_number: None, new_number: None }
    }

    fn paired(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
        let lines =
            |kind, texts: &[&'static str]| texts.iter().map(|text| line(kind, text)).collect::<Vec<_>>();
        let leak = |texts: &[&str]| -> Vec<&'static str> {
            texts.iter().map(|text| &*Box::leak(text.to_string().into_boxed_str())).collect()
        };
        pairs(&lines(Sign::Delete, &leak(old)), &lines(Sign::Insert, &leak(new)))
    }

    #[test]
    fn lines_are_paired_within_one_run() {
        let lines = [
            line(Sign::Delete, "one a"),
            line(Sign::Delete, "two a"),
            line(Sign::Insert, "one b"),
            line(Sign::Context, "same"),
            line(Sign::Insert, "two b"),
        ];
        let marks = marks_of(&lines, Emphasis::Words);
        let is_paired: Vec<bool> = marks.iter().map(Option::is_some).collect();
        assert_eq!(is_paired, [true, false, true, false, false]);
        assert_eq!(marks[0].as_ref().unwrap().focus, Some(4..5));
    }

    #[test]
    fn unequal_runs_pair_what_is_alike() {
        assert_eq!(
            paired(
                &["let a = read(x);", "done();"],
                &["// why", "let a = read(x, y);", "log(a);", "done(a);"]
            ),
            [(0, 1), (1, 3)]
        );
        assert_eq!(paired(&["alpha beta"], &["gamma", "delta"]), []);
        assert_eq!(paired(&["alpha"], &["beta"]), [(0, 0)], "a single line pairs with a single one");
        assert_eq!(paired(&["", "x y z"], &["", "q", "x y w"]), [(1, 2)]);
        assert_eq!(paired(&[], &["a"]), []);
    }

    #[test]
    fn long_runs_are_paired_in_order() {
        let many: Vec<String> = (0..100).map(|number| format!("line {number}")).collect();
        let texts: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(paired(&texts, &texts[..50]).len(), 50);
    }

    #[test]
    fn lines_that_were_wrapped_anew_are_compared_across_their_ends() {
        let marked = |old: &[&'static str], new: &[&'static str]| -> Vec<(Vec<String>, Option<Blanks>)> {
            let side =
                |kind, texts: &[&'static str]| texts.iter().map(|text| line(kind, text)).collect::<Vec<_>>();
            let lines = [side(Sign::Delete, old), side(Sign::Insert, new)].concat();
            let words = |(marks, line): (&Option<Box<Marks>>, &SignedLine<'_>)| {
                let marks = marks.as_deref().unwrap_or(&NONE);
                let word = |word: &Range<usize>| line.text[word.clone()].to_owned();
                (marks.words.iter().map(word).collect(), marks.blanks)
            };
            marks_of(&lines, Emphasis::Words).iter().zip(&lines).map(words).collect()
        };
        let none = || (Vec::new(), Some(Blanks::Wrapping));
        assert_eq!(
            marked(&["call(one, two);"], &["call(", "    one,", "    two", ");"]),
            [none(), none(), none(), none(), none()]
        );
        let word = |word: &str| (vec![word.to_owned()], None);
        let plain = || (Vec::new(), None);
        assert_eq!(
            marked(&["if a && b { run(c, d); }"], &["if a && b {", "    run(c, d, 7);", "}"]),
            [plain(), plain(), word(", 7"), plain()]
        );
        // Other words are another text, and a line that came beside others has nothing to stand out from.
        assert_eq!(marked(&["let a = 1;", "}"], &["fn b() {", "call(one);", "}"])[0], plain(),);
        assert_eq!(
            marked(&["let long_name = read(x);"], &["let long_name = read(x);", "y();"])[1..],
            [plain(), plain()]
        );
    }

    #[test]
    fn changes_of_blanks_are_told_apart() {
        assert_eq!(blanks_of("  a b", "    a b"), Some(Blanks::Indentation));
        assert_eq!(blanks_of("\ta", "    a"), Some(Blanks::Indentation));
        assert_eq!(blanks_of("a  b", "a b"), Some(Blanks::Other));
        assert_eq!(blanks_of("a", "a "), Some(Blanks::Other));
        for (old, new) in [("a", "a"), ("a", "b"), ("", " "), ("ab", "a b c"), ("a\r", "a")] {
            assert_eq!(blanks_of(old, new), None, "{old:?} {new:?}");
        }
    }

    #[test]
    fn in_a_long_line_what_lies_between_its_common_ends_is_marked() {
        let line = |word: &str| format!("{}{word}{}", "ab ".repeat(2000), " cd".repeat(2000));
        let marks = |old: &str, new: &str| {
            let (old_line, new_line) = (line(old), line(new));
            let (old, new) = pair_marks(&old_line, &new_line, Emphasis::Words);
            let words = |marks: Marks, line: &str| {
                marks.words.into_iter().map(|word| line[word].to_owned()).collect::<Vec<_>>()
            };
            (words(old, &old_line), words(new, &new_line))
        };
        let words = |word: &str| vec![word.to_owned()];
        assert_eq!(marks("old", "new"), (words("old"), words("new")));
        assert_eq!(marks("x", "x, y"), (vec![], words(", y")));
        // Marks begin and end between characters that are seen as one.
        assert_eq!(marks("e\u{301}", "e\u{300}"), (words("e\u{301}"), words("e\u{300}")));
        assert_eq!(marks("e", "e\u{300}"), (vec![], words("e\u{300}")));
        assert_eq!(marks(&"x".repeat(20_000), "y").0, Vec::<String>::new());
    }

    #[test]
    fn what_differs_lies_between_the_common_ends() {
        assert_eq!(differing("abcd", "abXd"), 2..3);
        assert_eq!(differing("aa", "aaa"), 2..2);
        assert_eq!(differing("", "x"), 0..0);
        assert_eq!(differing("\u{e9}", "\u{e8}"), 1..2);
    }
}
