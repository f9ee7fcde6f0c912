//! The lines of a card's hunks with all that a renderer shows of them: numbers, marks, gaps, blocks that were moved.

use super::crew::Crew;
use super::escape::Charset;
use super::escape::Place;
use super::escape::each_cell;
use super::marks;
use super::marks::Blanks;
use super::marks::Emphasis;
use super::marks::Marks;
use super::marks::marks_of;
use super::moved::Moved;
use super::syntax::Span;
use super::syntax::Token;
use crate::diff::hunks::Sign;
use crate::diff::hunks::SignedLine;
use crate::diff::hunks::signed_lines;
use crate::report::FileDiff;

/// How many lines of a wholly new or wholly deleted file are shown, if not all are asked for.
pub(super) const OPEN_LINES: usize = 20;
/// How many hidden characters are named; the rest is counted.
const LIMIT_HIDDEN_NAMED: usize = 3;

/// The hunks of one file.
#[derive(Debug, Default)]
pub(super) struct FileLines<'a> {
    pub(super) hunks: Vec<HunkLines<'a>>,
    /// Why the lines have no colours by syntax, where somebody may wonder.
    pub(super) no_syntax: Option<String>,
}

/// One hunk.
#[derive(Debug)]
pub(super) struct HunkLines<'a> {
    /// What stands between this hunk and the one before it.
    pub(super) gap: Gap,
    /// The function or section that the first change stands in.
    pub(super) section: Option<&'a str>,
    pub(super) lines: Vec<LineView<'a>>,
}

/// What stands between two hunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    /// There is no hunk before.
    None,
    /// So many unchanged lines, at least one.
    Unchanged(usize),
    /// The numbers do not tell.
    Unknown,
}

/// One line as it is shown.
#[derive(Debug, Clone)]
pub(super) struct LineView<'a> {
    pub(super) kind: Sign,
    /// The text without its newline; without its carriage return too, where all lines of the file have one.
    pub(super) text: &'a str,
    /// 1-based; `None` where there is none, or where it is not known.
    pub(super) old_number: Option<usize>,
    /// 1-based; `None` where there is none, or where it is not known.
    pub(super) new_number: Option<usize>,
    /// None for nearly all lines of most hunks.
    marks: Option<Box<Marks>>,
    /// What its parts are, where they are coloured by it.
    pub(super) tokens: Vec<Span>,
    /// Of the first line of a block that was moved: where the other end of it is.
    pub(super) moved: Option<Box<Moved>>,
    /// The line belongs to a block that was moved.
    pub(super) is_moved: bool,
    /// Which run of the hunk it stands in: runs of changed lines have context between them.
    pub(super) run: usize,
}

impl<'a> FileLines<'a> {
    /// Returns the lines of the hunks of one file.
    pub(super) fn of(diffs: &[&'a FileDiff], emphasis: Emphasis, crew: Crew) -> Self {
        let mut hunks = crew.map(diffs, |diff| diff.new_text.len(), |diff| HunkLines::of(diff, emphasis));
        for index in 1..hunks.len() {
            hunks[index].gap = gap(&hunks[index - 1].lines, &hunks[index].lines);
        }
        let mut file = FileLines { hunks, no_syntax: None };
        file.drop_endings();
        file
    }

    /// Where every line of both sides ends in a carriage return, it is the ending and not text.
    fn drop_endings(&mut self) {
        if self.lines().next().is_none() || self.lines().any(|line| !line.text.ends_with('\r')) {
            return;
        }
        for line in self.hunks.iter_mut().flat_map(|hunk| &mut hunk.lines) {
            line.text = &line.text[..line.text.len() - 1];
        }
    }

    /// Returns all lines of all hunks.
    pub(super) fn lines(&self) -> impl Iterator<Item = &LineView<'a>> {
        self.hunks.iter().flat_map(|hunk| &hunk.lines)
    }

    /// Returns the highest line number; `None` if none is known.
    pub(super) fn highest(&self) -> Option<usize> {
        self.lines().flat_map(|line| [line.old_number, line.new_number]).flatten().max()
    }

    /// Tells whether it is one hunk whose lines all came or all went: a whole file, mostly.
    pub(super) fn is_whole(&self) -> bool {
        let [hunk] = self.hunks.as_slice() else { return false };
        let first = hunk.lines.first().map(|line| line.kind);
        first.is_some_and(|kind| kind != Sign::Context && hunk.lines.iter().all(|line| line.kind == kind))
    }

    /// Returns what stands under the lines: which changes can't be seen in them.
    pub(super) fn footers(&self) -> Vec<String> {
        let mut hidden = Hidden::default();
        for line in self.lines() {
            hidden.note_line(line.text, line.new_number.or(line.old_number));
        }
        self.blank_remark().into_iter().chain(hidden.words()).chain(self.no_syntax.clone()).collect()
    }

    /// Says how many lines changed in nothing but blanks, if there are any.
    pub(super) fn blank_remark(&self) -> Option<String> {
        let count = |blanks| {
            self.lines()
                .filter(|line| line.kind == Sign::Insert && line.marks().blanks == Some(blanks))
                .count()
        };
        let words = |count: usize, what: &str| {
            (count > 0).then(|| format!("{count} line{} {what}", if count == 1 { "" } else { "s" }))
        };
        let parts: Vec<String> = words(count(Blanks::Indentation), "only re-indented")
            .into_iter()
            .chain(words(count(Blanks::Other), "changed only in blanks"))
            .chain(words(count(Blanks::Wrapping), "only wrapped anew"))
            .collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

impl<'a> HunkLines<'a> {
    /// Returns the lines of a hunk that stands alone.
    fn of(diff: &'a FileDiff, emphasis: Emphasis) -> Self {
        let hunk = signed_lines(diff);
        let marks = marks_of(&hunk, emphasis);
        let mut run = 0;
        let view = |(line, marks): (SignedLine<'a>, Option<Box<Marks>>)| {
            run += usize::from(line.kind == Sign::Context);
            LineView {
                kind: line.kind,
                text: line.text,
                old_number: line.old_number,
                new_number: line.new_number,
                marks,
                tokens: Vec::new(),
                moved: None,
                is_moved: false,
                run,
            }
        };
        let lines = hunk.into_iter().zip(marks).map(view).collect();
        HunkLines { gap: Gap::None, section: diff.section.as_deref(), lines }
    }

    /// Returns how much text the lines have.
    #[cfg(feature = "cli")]
    pub(super) fn length_bytes(&self) -> usize {
        self.lines.iter().map(|line| line.text.len() + 1).sum()
    }
}

impl LineView<'_> {
    /// Returns what stands out in the line.
    pub(super) fn marks(&self) -> &Marks {
        self.marks.as_deref().unwrap_or(&marks::NONE)
    }

    /// Returns what the text at an offset is.
    #[cfg(feature = "cli")]
    pub(super) fn token_at(&self, at: usize) -> Option<Token> {
        let span = self.tokens.get(self.tokens.partition_point(|span| span.range.end <= at))?;
        (span.range.start <= at).then_some(span.token)
    }

    /// Hands out the text in pieces that look the same: whether they differ from the other side, and what they are.
    ///
    /// What differs is shown as that alone: its ground would take the contrast from other colours.
    pub(super) fn each_piece(&self, mut take: impl FnMut(&str, bool, Option<Token>)) {
        let mut start = 0;
        let mut tokens = self.tokens.iter().peekable();
        let words = self.marks().words.iter().cloned().map(|word| (word, true));
        for (word, differs) in words.chain([(self.text.len()..self.text.len(), false)]) {
            while start < word.start {
                while tokens.next_if(|span| span.range.end <= start).is_some() {}
                let (end, token) = match tokens.peek() {
                    Some(span) if span.range.start <= start => (span.range.end, Some(span.token)),
                    Some(span) => (span.range.start, None),
                    None => (word.start, None),
                };
                let end = end.min(word.start);
                take(&self.text[start..end], false, token);
                start = end;
            }
            if differs {
                take(&self.text[word.clone()], true, None);
                start = word.end;
            }
        }
    }
}

/// How many unchanged lines stand between two hunks, where their numbers tell.
fn gap(before: &[LineView<'_>], after: &[LineView<'_>]) -> Gap {
    let between = |number: fn(&LineView<'_>) -> Option<usize>| {
        let last = before.iter().rev().find_map(number)?;
        after.iter().find_map(number)?.checked_sub(last)?.checked_sub(1)
    };
    // What stands between two hunks is the same on both sides; a hunk without context may have numbers on one only.
    match between(|line| line.old_number).or_else(|| between(|line| line.new_number)) {
        Some(count) if count > 0 => Gap::Unchanged(count),
        _ => Gap::Unknown,
    }
}

/// The characters of a file's hunks that could not be seen.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    count: usize,
    named: Vec<String>,
}

impl Hidden {
    /// Takes in what of a line could not be seen.
    pub(super) fn note_line(&mut self, text: &str, number: Option<usize>) {
        if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')) {
            return;
        }
        each_cell(text, Place::Line, Charset::Unicode, |cell| {
            if !cell.is_hidden {
                return;
            }
            self.count += 1;
            if self.named.len() < LIMIT_HIDDEN_NAMED {
                let code = text[cell.source].chars().next().map_or(0, u32::from);
                let place = number.map(|number| format!(" in line {number}")).unwrap_or_default();
                self.named.push(format!("U+{code:04X}{place}"));
            }
        });
    }

    /// Takes in what could not be seen in lines further down.
    #[cfg(feature = "cli")]
    pub(super) fn append(&mut self, below: Hidden) {
        self.count += below.count;
        self.named.extend(below.named);
        self.named.truncate(LIMIT_HIDDEN_NAMED);
    }

    /// Names the first of them.
    pub(super) fn words(&self) -> Option<String> {
        if self.count == 0 {
            return None;
        }
        let more = if self.count > self.named.len() { ", ..." } else { "" };
        let plural = if self.count == 1 { "" } else { "s" };
        Some(format!("{} hidden character{plural}: {}{more}", self.count, self.named.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;

    fn hunk(old: (usize, &[&str]), new: (usize, &[&str])) -> FileDiff {
        sample::hunk("a", old, new)
    }

    #[test]
    fn a_gap_is_counted_only_where_numbers_tell() {
        let gap_of = |last: Option<usize>, first: Option<usize>| {
            let line = |number| {
                let diff =
                    FileDiff { old_start: number, new_start: number, ..hunk((1, &["x"]), (1, &["y"])) };
                FileDiff { old_lines: number.map(|_| 1), new_lines: number.map(|_| 1), ..diff }
            };
            FileLines::of(&[&line(last), &line(first)], Emphasis::Words, Crew::ALONE).hunks[1].gap
        };
        assert_eq!(gap_of(Some(3), Some(5)), Gap::Unchanged(1));
        assert_eq!(gap_of(Some(3), Some(9)), Gap::Unchanged(5));
        for (last, first) in [(None, None), (Some(9), Some(3)), (Some(3), Some(4))] {
            assert_eq!(gap_of(last, first), Gap::Unknown, "{last:?} {first:?}");
        }
    }

    #[test]
    fn an_ending_that_all_lines_have_is_not_text() {
        let crlf = hunk((1, &["a\r", "b\r"]), (1, &["a\r", "c\r"]));
        let texts = |diff: &FileDiff| {
            FileLines::of(&[diff], Emphasis::Words, Crew::ALONE)
                .lines()
                .map(|line| line.text.to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(texts(&crlf), ["a", "b", "c"]);
        assert_eq!(texts(&hunk((1, &["a\r", "b"]), (1, &["a\r", "c"]))), ["a\r", "b", "c"]);
    }

    #[test]
    fn blanks_are_counted_in_words() {
        let diff = hunk((1, &["a", "b  c", "d"]), (1, &["  a", "b c", "e"]));
        assert_eq!(
            FileLines::of(&[&diff], Emphasis::Words, Crew::ALONE).blank_remark().unwrap(),
            "1 line only re-indented, 1 line changed only in blanks"
        );
        assert_eq!(
            FileLines::of(&[&hunk((1, &["a"]), (1, &["b"]))], Emphasis::Words, Crew::ALONE).blank_remark(),
            None
        );
    }
}
