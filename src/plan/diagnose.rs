//! The nearest place of a text that stands nowhere, and the first difference there in words.
//!
//! Only for messages: nothing here ever decides where something is written.

use memchr::memmem;

use crate::report::Nearest;
use crate::text::Document;
use crate::text::document::LineSpan;
use crate::text::document::lines_from;

use super::fold;
use super::locate::Votes;
use super::locate::votes;
use super::shape::Shape;
use super::table::LineTable;

/// So many of a line's words are searched for when no whole line is in the file.
const WORDS_CAP: usize = 6;
/// So many places of one word are looked at.
const WORD_PLACES_CAP: usize = 2000;
/// A quoted line is cut after so many characters.
const QUOTE_CAP_CHARS: usize = 300;

/// Returns the nearest place of a hunk's old side.
pub fn nearest_hunk(document: &Document, shape: &Shape<'_>, vote: Option<Votes>) -> Option<Nearest> {
    let lines: Vec<&[u8]> = shape.old.iter().map(|line| line.text).collect();
    nearest(document, &lines, vote, Wanted::Lines, |file, patch| fold::line_rung(file, patch).is_some())
}

/// Returns the nearest place of an edit's old text (LF line ends).
pub fn nearest_text(document: &Document, old: &[u8]) -> Option<Nearest> {
    let lines: Vec<&[u8]> = old.split(|&byte| byte == b'\n').collect();
    if let Some(nearest) = loosely_equal(document, old, &lines) {
        return Some(nearest);
    }
    let mut table = LineTable::wanting(lines.iter().copied());
    table.fill(document.bytes(), document.text_start());
    let vote = votes(lines.iter().copied(), &table);
    nearest(document, &lines, vote, Wanted::Text, |file, patch| file == patch)
}

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Whole lines.
    Lines,
    /// A text, which may begin and end inside of a line.
    Text,
}

impl Wanted {
    /// Returns how much of its line one line of what is looked for is.
    fn extent(self, index: usize, count: usize) -> Extent {
        let is_end = index == 0 || index + 1 == count;
        if self == Wanted::Text && is_end { Extent::Part } else { Extent::Line }
    }
}

/// How much of a line of the file is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Line,
    /// All of it, or a part.
    Part,
}

impl Extent {
    fn holds(self, line: &[u8], expected: &[u8]) -> bool {
        match self {
            Extent::Line => line == expected,
            Extent::Part => !expected.is_empty() && memmem::find(line, expected).is_some(),
        }
    }
}

fn nearest(
    document: &Document,
    lines: &[&[u8]],
    vote: Option<Votes>,
    wanted: Wanted,
    is_equal: impl Fn(&[u8], &[u8]) -> bool,
) -> Option<Nearest> {
    let bytes = document.bytes();
    let (old_index, start) = match vote {
        Some(vote) => (vote.old_index, vote.occurrence.start),
        None => by_words(document, lines)?,
    };
    let mut spans: Vec<Option<LineSpan>> = vec![None; lines.len()];
    let mut before = start;
    for index in (0..old_index).rev() {
        spans[index] = (before > document.text_start()).then(|| document.line_before(before));
        before = spans[index].map_or(before, |line| line.start);
    }
    for (span, line) in spans[old_index..].iter_mut().zip(lines_from(bytes, start)) {
        *span = Some(line);
    }
    let differs = |index: &usize, is_equal: &dyn Fn(&[u8], &[u8]) -> bool| {
        spans[*index].is_none_or(|line| !is_equal(line.text(bytes), lines[*index]))
    };
    let first = (0..lines.len())
        .find(|index| differs(index, &is_equal))
        .or_else(|| (0..lines.len()).find(|index| differs(index, &|file, patch| file == patch)))?;
    let found = spans[first].map(|line| line.text(bytes));
    let at = spans[first]
        .map_or(if first < old_index { document.text_start() } else { bytes.len() }, |line| line.start);
    Some(Nearest {
        line: super::locate::line_index_at(document, at) + 1,
        expected: quoted(lines[first]),
        found: found.map(quoted),
        cause: match found {
            Some(found) => cause(lines[first], found, wanted.extent(first, lines.len())),
            None => past_the_end(document, first < old_index),
        },
    })
}

fn past_the_end(document: &Document, is_above: bool) -> String {
    if is_above {
        "the file begins here".to_owned()
    } else if document.has_final_newline() {
        "the file ends here".to_owned()
    } else {
        "the file ends here, without a newline".to_owned()
    }
}

/// Finds an old text whose blanks or lookalikes differ from the file's, also inside of lines.
fn loosely_equal(document: &Document, old: &[u8], lines: &[&[u8]]) -> Option<Nearest> {
    let bytes = document.bytes();
    let mut squashed = Vec::with_capacity(bytes.len());
    let mut line_starts = Vec::new();
    for line in document.lines() {
        line_starts.push((squashed.len(), line));
        squashed.extend_from_slice(&squash(line.text(bytes)));
        if line.text_end < line.end {
            squashed.push(b'\n');
        }
    }
    let wanted: Vec<Vec<u8>> = lines.iter().map(|line| squash(line)).collect();
    let wanted = wanted.join(&b'\n');
    if wanted.iter().all(|&byte| byte == b'\n') || old.is_empty() {
        return None;
    }
    let at = memmem::find(&squashed, &wanted)?;
    let first_line = line_starts.partition_point(|(start, _)| *start <= at).checked_sub(1)?;
    for (index, wanted) in lines.iter().enumerate() {
        let found = line_starts.get(first_line + index).map(|(_, line)| line.text(bytes))?;
        let is_equal = match (index == 0, index + 1 == lines.len()) {
            (true, true) => memmem::find(found, wanted).is_some(),
            (true, false) => found.ends_with(wanted),
            (false, true) => found.starts_with(wanted),
            (false, false) => found == *wanted,
        };
        if !is_equal {
            return Some(Nearest {
                line: first_line + index + 1,
                expected: quoted(wanted),
                found: Some(quoted(found)),
                cause: cause(wanted, found, Wanted::Text.extent(index, lines.len())),
            });
        }
    }
    None
}

/// A line with lookalikes folded, runs of blanks as one space and none at its ends.
fn squash(line: &[u8]) -> Vec<u8> {
    let folded = fold::fold(line);
    let mut squashed: Vec<u8> = Vec::with_capacity(folded.len());
    for &byte in fold::trim(&folded) {
        let byte = if fold::is_blank(byte) { b' ' } else { byte };
        if byte != b' ' || squashed.last() != Some(&b' ') {
            squashed.push(byte);
        }
    }
    squashed
}

/// Returns the line that shares most words with the longest of `lines`: its index there, and the file line's start.
fn by_words(document: &Document, lines: &[&[u8]]) -> Option<(usize, usize)> {
    let bytes = document.bytes();
    let index = (0..lines.len()).max_by_key(|&index| fold::non_blank_bytes(lines[index]))?;
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let mut words: Vec<&[u8]> =
        lines[index].split(|byte| !is_word(byte)).filter(|word| word.len() > 1).collect();
    words.sort_by_key(|word| (std::cmp::Reverse(word.len()), *word));
    words.dedup();
    let mut hits: Vec<(usize, usize)> = Vec::new();
    for word in words.into_iter().take(WORDS_CAP) {
        for offset in memmem::find_iter(bytes, word).take(WORD_PLACES_CAP) {
            let start = memchr::memrchr(b'\n', &bytes[..offset]).map_or(0, |newline| newline + 1);
            hits.push((start.max(document.text_start()), word.len()));
        }
    }
    hits.sort_unstable();
    hits.dedup();
    let best = hits
        .chunk_by(|one, other| one.0 == other.0)
        .map(|same| (same.iter().map(|(_, weight)| weight).sum::<usize>(), std::cmp::Reverse(same[0].0)))
        .max()?;
    Some((index, best.1.0))
}

/// Says in words how a line of the file differs from what was expected of it.
pub fn cause(expected: &[u8], found: &[u8], extent: Extent) -> String {
    if expected == found {
        return "the line ending or final newline differs".to_owned();
    }
    let (found_text, expected_text) = (fold::trim_end(found), fold::trim_end(expected));
    if found_text == expected_text || (extent == Extent::Part && found_text.ends_with(expected_text)) {
        let blanks = |line: &[u8]| line.len() - fold::trim_end(line).len();
        if blanks(found) != blanks(expected) {
            return format!(
                "trailing blanks: the file has {}, the patch {}",
                blanks(found),
                blanks(expected)
            );
        }
    }
    if extent.holds(&without_blanks(found), &without_blanks(expected)) {
        return blanks_cause(expected, found);
    }
    let (folded_found, folded_expected) = (fold::fold(found), fold::fold(expected));
    if extent.holds(&without_blanks(&folded_found), &without_blanks(&folded_expected)) {
        return lookalike_cause(expected, found);
    }
    if extent.holds(&found.to_ascii_lowercase(), &expected.to_ascii_lowercase()) {
        return "upper and lower case differ".to_owned();
    }
    let (expected_indent, found_indent) = (fold::split_indent(expected).0, fold::split_indent(found).0);
    // A text without an indentation may begin anywhere in its line.
    let has_indent = extent == Extent::Line || !expected_indent.is_empty();
    if has_indent && expected_indent != found_indent {
        return format!(
            "the indentation differs (the file has {}, the patch {}), and so does the text",
            blanks_name(found_indent),
            blanks_name(expected_indent)
        );
    }
    let (found, expected) = (String::from_utf8_lossy(found), String::from_utf8_lossy(expected));
    let same = found.chars().zip(expected.chars()).take_while(|(one, other)| one == other).count();
    format!("the text differs from column {} on", same + 1)
}

fn without_blanks(line: &[u8]) -> Vec<u8> {
    line.iter().copied().filter(|&byte| !fold::is_blank(byte) && byte != b'\r').collect()
}

fn blanks_cause(expected: &[u8], found: &[u8]) -> String {
    if expected.contains(&b'\r') != found.contains(&b'\r') {
        return "a carriage return (CR) is on one side only".to_owned();
    }
    let (expected_indent, found_indent) = (fold::split_indent(expected).0, fold::split_indent(found).0);
    if expected.contains(&b'\t') != found.contains(&b'\t') {
        let name = |indent: &[u8]| blanks_name(indent);
        return format!(
            "tab or spaces: the file has {}, the patch {}",
            name(if expected_indent == found_indent { found } else { found_indent }),
            name(if expected_indent == found_indent { expected } else { expected_indent }),
        );
    }
    if expected_indent != found_indent {
        return format!(
            "indentation: the file has {}, the patch {}",
            blanks_name(found_indent),
            blanks_name(expected_indent)
        );
    }
    "blanks inside the line differ".to_owned()
}

fn blanks_name(blanks: &[u8]) -> String {
    let count = |wanted: u8| blanks.iter().filter(|&&byte| byte == wanted).count();
    let plural = |count: usize, name: &str| format!("{count} {name}{}", if count == 1 { "" } else { "s" });
    match (count(b'\t'), count(b' ')) {
        (0, 0) => "none".to_owned(),
        (0, spaces) => plural(spaces, "space"),
        (tabs, 0) => plural(tabs, "tab"),
        (tabs, spaces) => format!("{} and {}", plural(tabs, "tab"), plural(spaces, "space")),
    }
}

fn lookalike_cause(expected: &[u8], found: &[u8]) -> String {
    let (expected_text, found_text) = (String::from_utf8_lossy(expected), String::from_utf8_lossy(found));
    let strange = |text: &str| {
        text.chars().find(|character| {
            let mut buffer = [0; 4];
            let bytes = character.encode_utf8(&mut buffer).as_bytes();
            !bytes.is_ascii() && fold::fold(bytes).as_ref() != bytes
        })
    };
    let only_in = |one: &str, other: &str| strange(one).filter(|character| !other.contains(*character));
    if let Some(character) = only_in(&found_text, &expected_text) {
        return format!("the file has {}, which the patch has not", character_name(character));
    }
    if let Some(character) = only_in(&expected_text, &found_text) {
        return format!("the patch has {}, which the file has not", character_name(character));
    }
    "the same characters are composed differently (Unicode normal forms NFC and NFD)".to_owned()
}

fn character_name(character: char) -> String {
    let name = match character {
        '\u{A0}' | '\u{202F}' => "a no-break space",
        '\u{2018}'..='\u{201B}' | '\u{2032}' => "a typographic quote",
        '\u{201C}'..='\u{201F}' | '\u{2033}' => "a typographic quote",
        '\u{2011}' => "a non-breaking hyphen",
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{FE58}' | '\u{FE63}' | '\u{FF0D}' => "a dash",
        '\u{2026}' => "a one-character ellipsis",
        '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{FEFF}' | '\u{AD}' => "a character without width",
        '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{205F}' | '\u{3000}' => "a wide or narrow space",
        _ => "another form of a character",
    };
    format!("{name} (U+{:04X})", u32::from(character))
}

fn quoted(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    match text.char_indices().nth(QUOTE_CAP_CHARS) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_named() {
        let cases = [
            ("head", "head  ", "trailing blanks: the file has 2, the patch 0"),
            ("    if ready {", "\tif ready {", "tab or spaces: the file has 1 tab, the patch 4 spaces"),
            ("  x", "    x", "indentation: the file has 4 spaces, the patch 2 spaces"),
            ("a b", "a  b", "blanks inside the line differ"),
            (
                "10 km away",
                "10\u{a0}km away",
                "the file has a no-break space (U+00A0), which the patch has not",
            ),
            (
                "say(\"hi\")",
                "x say(\u{201c}hi\u{201d}) y",
                "the file has a typographic quote (U+201C), which the patch has not",
            ),
            (
                "Caf\u{e9}",
                "Cafe\u{301}",
                "the same characters are composed differently (Unicode normal forms NFC and NFD)",
            ),
            ("Foo()", "foo()", "upper and lower case differ"),
            ("quick fox", "quick wolf", "the text differs from column 7 on"),
            (
                "    quick(fox);",
                "\tquick(wolf);",
                "the indentation differs (the file has 1 tab, the patch 4 spaces), and so does the text",
            ),
        ];
        for (expected, found, words) in cases {
            assert_eq!(
                cause(expected.as_bytes(), found.as_bytes(), Extent::Part),
                words,
                "{expected:?} {found:?}"
            );
        }
    }

    #[test]
    fn a_whole_line_is_not_found_in_another() {
        let told = |extent| cause(b"four", "three\u{a0}four".as_bytes(), extent);
        assert_eq!(told(Extent::Part), "blanks inside the line differ");
        assert_eq!(told(Extent::Line), "the text differs from column 1 on");
        let told = |extent| cause(b"four", b"  fours", extent);
        assert!(told(Extent::Line).starts_with("the indentation differs"));
    }

    /// Checks the nearest place of an edit's old text: line, found line, a word of the cause.
    fn check_text(file: &str, old: &str, line: usize, found: Option<&str>, words: &str) {
        let nearest = nearest_text(&Document::new(file.as_bytes().to_vec()), old.as_bytes()).expect(old);
        assert_eq!(
            (nearest.line, nearest.found.as_deref()),
            (line, found),
            "{file:?} {old:?}: {}",
            nearest.cause
        );
        assert!(nearest.cause.contains(words), "{file:?} {old:?}: {}", nearest.cause);
    }

    #[test]
    fn the_nearest_place_of_a_text_is_found() {
        check_text("a\n\tif ready {\nb\n", "    if ready {", 2, Some("\tif ready {"), "tab");
        check_text("a\nhead  \nnext\n", "head\nnext", 2, Some("head  "), "trailing");
        check_text(
            "a\nb c d\nthe quick brown wolf\nz\n",
            "the quick brown fox",
            3,
            Some("the quick brown wolf"),
            "column 17",
        );
        check_text("x\ny", "y\n", 3, None, "without a newline");
        check_text("f {\n  one();\n}\n", "f {\n  two();\n}", 2, Some("  one();"), "column 3");
        assert_eq!(nearest_text(&Document::new(b"abc\n".to_vec()), b"zzz"), None);
    }
}
