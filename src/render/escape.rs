//! The one function that every byte of a patch, a path, a log or an error passes before a terminal or a page.
//!
//! What could drive a terminal, hide, or reorder text is replaced by something that can be seen; nothing is ever
//! dropped, since dropping hides. Control characters become their pictures, C1 controls `\u{9b}`, and bidi controls,
//! zero-width and other invisible scalars `⟨U+202E⟩`. A joiner or variation selector inside an emoji stays.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Columns from one tab stop to the next.
pub const TAB_COLUMNS: usize = 4;

/// Where a text stands, which decides what a tab is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A line of a file: tabs go to tab stops, counted from the line's start.
    Line,
    /// A line of a file where it may be copied from: a tab stays one, and its reader draws it.
    Copied,
    /// A path, a title, a word: a tab has no business there and is shown.
    Name,
}

/// Which characters a reader's terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charset {
    /// All of Unicode.
    Unicode,
    /// ASCII only, as in a locale that is not UTF-8.
    Ascii,
}

/// What is shown for one grapheme of the source, or for one scalar of it that can't be shown itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell<'a> {
    /// The text to show: no control, bidi or invisible scalar outside an emoji.
    pub text: Cow<'a, str>,
    /// Display columns of `text`; at least one.
    pub columns: usize,
    /// Byte range of the source that it stands for.
    pub source: Range<usize>,
    /// Whether the source could not be seen or could drive a terminal, so that a reader should be warned.
    pub is_hidden: bool,
}

/// Returns what to show for `text`, grapheme by grapheme.
///
/// The sources of the cells follow each other and cover the whole text.
pub fn cells(text: &str, place: Place, charset: Charset) -> Vec<Cell<'_>> {
    let mut cells = Vec::with_capacity(text.len());
    each_cell(text, place, charset, |cell| cells.push(cell));
    cells
}

/// Hands out what [`cells`] returns, one by one: a line may have hundreds of megabytes, and a cell is many bytes.
pub fn each_cell<'a>(text: &'a str, place: Place, charset: Charset, mut take: impl FnMut(Cell<'a>)) {
    let mut column = 0;
    let mut parts = Vec::new();
    // Of printable ASCII and tabs every byte is a grapheme, which spares the segmentation of nearly all source code.
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
    let plain = is_plain.then(|| (0..text.len()).map(|start| (start, &text[start..=start])));
    let segmented = (!is_plain).then(|| text.grapheme_indices(true));
    for (start, grapheme) in plain.into_iter().flatten().chain(segmented.into_iter().flatten()) {
        match (grapheme, place) {
            ("\t", Place::Line) => {
                let columns = TAB_COLUMNS - column % TAB_COLUMNS;
                let text = Cow::Borrowed(&"    "[..columns]);
                parts.push(Cell { text, columns, source: start..start + 1, is_hidden: false });
            }
            ("\t", Place::Copied) => parts.push(visible(grapheme, start, 1)),
            _ => push_grapheme(&mut parts, start, grapheme, charset),
        }
        for part in parts.drain(..) {
            column += part.columns;
            take(part);
        }
    }
}

/// Returns the text to show as one string.
pub fn escape(text: &str, place: Place, charset: Charset) -> String {
    let mut shown = String::with_capacity(text.len());
    each_cell(text, place, charset, |cell| shown.push_str(&cell.text));
    shown
}

/// Returns bytes as text; what is not UTF-8 is shown as `\xNN`.
///
/// The result is not yet safe to show: it still has to pass [`cells`] or [`escape`].
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    Cow::Owned(text)
}

/// Returns the last border between characters that is not behind `at`, in bytes.
pub(super) fn border_before(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Tells whether a scalar is a control, reorders text, or can't be seen.
///
/// Beside the controls and the bidi set these are the scalars that Unicode calls default ignorable, since fonts draw
/// nothing for them, the line and paragraph separators, and the interlinear marks.
pub fn is_hidden(scalar: char) -> bool {
    matches!(scalar,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}'
        | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

fn push_grapheme<'a>(cells: &mut Vec<Cell<'a>>, start: usize, grapheme: &'a str, charset: Charset) {
    // One printable ASCII byte is nearly every grapheme of source code.
    if let [0x20..=0x7e] = grapheme.as_bytes() {
        return cells.push(visible(grapheme, start, 1));
    }
    let columns = grapheme.width();
    let is_shown = columns > 0 && (!grapheme.contains(is_hidden) || is_emoji(grapheme));
    if is_shown && charset == Charset::Unicode {
        return cells.push(visible(grapheme, start, columns));
    }
    let mut rest = grapheme;
    while let Some(scalar) = rest.chars().next() {
        let at = start + grapheme.len() - rest.len();
        let run = rest.find(is_hidden).unwrap_or(rest.len());
        let (shown, tail) = rest.split_at(run);
        // A mark without a letter before it would land on whatever stands to its left, the frame of the card.
        if charset == Charset::Unicode && shown.width() > 0 {
            cells.push(visible(shown, at, shown.width()));
            rest = tail;
            continue;
        }
        if charset == Charset::Ascii && matches!(scalar, ' '..='~') {
            cells.push(visible(&rest[..1], at, 1));
        } else {
            let text = picture(scalar, charset);
            let is_hidden = !is_shown && (is_hidden(scalar) || columns == 0);
            cells.push(Cell {
                columns: text.width(),
                source: at..at + scalar.len_utf8(),
                text: Cow::Owned(text),
                is_hidden,
            });
        }
        rest = &rest[scalar.len_utf8()..];
    }
}

fn visible(text: &str, start: usize, columns: usize) -> Cell<'_> {
    Cell { text: Cow::Borrowed(text), columns, source: start..start + text.len(), is_hidden: false }
}

fn picture(scalar: char, charset: Charset) -> String {
    let code = u32::from(scalar);
    match (scalar, charset) {
        ('\0'..='\u{1f}', Charset::Unicode) => {
            char::from_u32(0x2400 + code).unwrap_or('\u{fffd}').to_string()
        }
        ('\u{7f}', Charset::Unicode) => "\u{2421}".to_string(),
        ('\0'..='\u{1f}' | '\u{7f}', Charset::Ascii) => {
            format!("^{}", char::from_u32(code ^ 0x40).unwrap_or('?'))
        }
        ('\u{80}'..='\u{9f}', _) => format!("\\u{{{code:x}}}"),
        (_, Charset::Unicode) => format!("\u{27e8}U+{code:04X}\u{27e9}"),
        (_, Charset::Ascii) => format!("<U+{code:04X}>"),
    }
}

/// Tells whether the invisible scalars of a grapheme are those of an emoji: joiners between two pictures, and
/// presentation selectors right after one (or inside a keycap).
///
/// Tag characters are never accepted, not even in a flag: they can carry a whole hidden text.
fn is_emoji(grapheme: &str) -> bool {
    if grapheme.width() > 2 {
        return false;
    }
    let scalars: Vec<char> = grapheme.chars().collect();
    // A skin tone that is first joins whatever is shown before it, which is no emoji then.
    if matches!(scalars.first(), Some('\u{1f3fb}'..='\u{1f3ff}')) {
        return false;
    }
    let is_keycap = matches!(scalars.as_slice(), ['0'..='9' | '#' | '*', '\u{fe0f}', '\u{20e3}']);
    is_keycap
        || scalars.iter().enumerate().all(|(at, &scalar)| {
            let before = at.checked_sub(1).and_then(|left| scalars.get(left)).copied();
            let after = scalars.get(at + 1).copied();
            match scalar {
                '\u{200d}' => {
                    before.is_some_and(|left| is_pictographic(left) || left == '\u{fe0f}')
                        && after.is_some_and(is_pictographic)
                }
                '\u{fe0e}' | '\u{fe0f}' => before.is_some_and(is_pictographic),
                other => !is_hidden(other),
            }
        })
}

/// Tells whether a scalar can be a part of an emoji, skin tones included.
///
/// Blocks, not the exact Unicode property: segmentation has already checked that a joiner stands between pictures.
fn is_pictographic(scalar: char) -> bool {
    matches!(scalar,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2194}'..='\u{21aa}'
        | '\u{231a}'..='\u{23ff}' | '\u{24c2}' | '\u{25aa}'..='\u{25fe}' | '\u{2600}'..='\u{27bf}'
        | '\u{2934}' | '\u{2935}' | '\u{2b05}'..='\u{2b55}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
        | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(text: &str) -> String {
        escape(text, Place::Line, Charset::Unicode)
    }

    #[test]
    fn every_kind_of_hidden_text_is_shown() {
        let cases = [
            ("plain text, caf\u{e9}, \u{65e5}\u{672c}", "plain text, caf\u{e9}, \u{65e5}\u{672c}"),
            ("\u{1b}[2J", "\u{241b}[2J"),
            ("a\rEVIL", "a\u{240d}EVIL"),
            ("\u{7}\u{8}\0", "\u{2407}\u{2408}\u{2400}"),
            ("\u{7f}", "\u{2421}"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("x\u{202e}y", "x\u{27e8}U+202E\u{27e9}y"),
            ("a\u{200b}b\u{feff}", "a\u{27e8}U+200B\u{27e9}b\u{27e8}U+FEFF\u{27e9}"),
            ("a\u{200d}b", "a\u{27e8}U+200D\u{27e9}b"),
            ("a\u{fe0f}", "a\u{27e8}U+FE0F\u{27e9}"),
            ("\u{2028}", "\u{27e8}U+2028\u{27e9}"),
            ("\u{1f3f4}\u{e0067}", "\u{1f3f4}\u{27e8}U+E0067\u{27e9}"),
            ("\u{301}x", "\u{27e8}U+0301\u{27e9}x"),
            ("e\u{301}", "e\u{301}"),
        ];
        for (text, shown) in cases {
            assert_eq!(line(text), shown, "{text:?}");
        }
    }

    #[test]
    fn emoji_stay_whole() {
        let cases = [
            "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
            "\u{2764}\u{fe0f}",
            "\u{2764}\u{fe0f}\u{200d}\u{1f525}",
            "\u{1f469}\u{1f3fd}\u{200d}\u{1f4bb}",
            "1\u{fe0f}\u{20e3}",
            "\u{1f1e9}\u{1f1ea}",
        ];
        for emoji in cases {
            let shown = cells(emoji, Place::Line, Charset::Unicode);
            assert_eq!(shown.len(), 1, "{emoji:?} {shown:?}");
            assert_eq!((shown[0].text.as_ref(), shown[0].columns, shown[0].is_hidden), (emoji, 2, false));
        }
    }

    #[test]
    fn tabs_go_to_stops_in_lines_and_are_shown_in_names() {
        assert_eq!(line("\ta\tbcd\te"), "    a   bcd e");
        assert_eq!(line("\u{65e5}\tx"), "\u{65e5}  x");
        assert_eq!(escape("a\tb\nc", Place::Name, Charset::Unicode), "a\u{2409}b\u{240a}c");
    }

    #[test]
    fn ascii_shows_everything_in_ascii() {
        let shown = escape("\u{e9}\u{1b}\u{7f}\u{9b}\u{202e}e\u{301}", Place::Line, Charset::Ascii);
        assert_eq!(shown, "<U+00E9>^[^?\\u{9b}<U+202E>e<U+0301>");
        let hidden: Vec<bool> = cells("\u{e9}\u{202e}", Place::Line, Charset::Ascii)
            .into_iter()
            .map(|cell| cell.is_hidden)
            .collect();
        assert_eq!(hidden, [false, true], "a letter is no warning");
    }

    #[test]
    fn bytes_that_are_not_utf8_are_shown() {
        assert_eq!(decode(b"a\xff\xfeb"), "a\\xff\\xfeb");
        assert_eq!(decode("caf\u{e9}".as_bytes()), "caf\u{e9}");
    }

    fn nasty() -> impl Strategy<Value = String> {
        let scalar = prop_oneof![
            any::<char>(),
            proptest::char::range('\0', '\u{a0}'),
            proptest::char::range('\u{2000}', '\u{2070}'),
            proptest::char::range('\u{fe00}', '\u{fe0f}'),
            proptest::char::range('\u{1f3f0}', '\u{1f4ff}'),
            proptest::char::range('\u{e0000}', '\u{e01ef}'),
            Just('\u{301}'),
            Just('\u{200d}'),
        ];
        proptest::collection::vec(scalar, 0..40).prop_map(String::from_iter)
    }

    proptest! {
        #[test]
        fn nothing_hidden_survives(text in nasty(), is_line in any::<bool>(), is_ascii in any::<bool>()) {
            let place = if is_line { Place::Line } else { Place::Name };
            let charset = if is_ascii { Charset::Ascii } else { Charset::Unicode };
            let shown = cells(&text, place, charset);
            let mut next = 0;
            for cell in &shown {
                prop_assert_eq!(cell.source.start, next);
                next = cell.source.end;
                prop_assert!(cell.columns > 0 && cell.columns == cell.text.width());
                let is_clean = !cell.text.contains(is_hidden) || is_emoji(&cell.text);
                prop_assert!(is_clean, "{:?}", cell);
                prop_assert!(!cell.text.contains(char::is_control));
                prop_assert!(charset == Charset::Unicode || cell.text.is_ascii());
            }
            prop_assert_eq!(next, text.len());
            let once = escape(&text, place, charset);
            prop_assert_eq!(escape(&once, place, charset), once);
        }
    }
}
