//! When two lines are equal: the keys of the matcher's rungs, and how an indentation maps onto another.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use crate::report::Rung;

/// Tells whether a byte is a blank: what the looser rungs ignore at the ends of a line.
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0B | 0x0C)
}

/// Returns the line without blanks at its end.
pub fn trim_end(line: &[u8]) -> &[u8] {
    let end = line.iter().rposition(|&byte| !is_blank(byte)).map_or(0, |last| last + 1);
    &line[..end]
}

/// Splits a line into its leading blanks and the rest.
pub fn split_indent(line: &[u8]) -> (&[u8], &[u8]) {
    let length = line.iter().position(|&byte| !is_blank(byte)).unwrap_or(line.len());
    line.split_at(length)
}

/// Returns the line without blanks at both ends.
pub fn trim(line: &[u8]) -> &[u8] {
    split_indent(trim_end(line)).1
}

/// Counts the bytes of a line that are not blanks.
pub fn non_blank_bytes(line: &[u8]) -> usize {
    line.iter().filter(|&&byte| !is_blank(byte)).count()
}

/// Returns the line with Unicode lookalikes as their plain form, in NFC; ASCII and what is not UTF-8 stay as they are.
pub fn fold(line: &[u8]) -> Cow<'_, [u8]> {
    if line.is_ascii() {
        return Cow::Borrowed(line);
    }
    match std::str::from_utf8(line) {
        Ok(text) => Cow::Owned(text.chars().flat_map(plain).nfc().collect::<String>().into_bytes()),
        Err(_) => Cow::Borrowed(line),
    }
}

/// Returns what a character is taken for on the unicode rung; nothing for one without width.
fn plain(character: char) -> impl Iterator<Item = char> {
    let (plain, count) = match character {
        '\u{2018}'..='\u{201B}' | '\u{2032}' => ('\'', 1),
        '\u{201C}'..='\u{201F}' | '\u{2033}' => ('"', 1),
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{FE58}' | '\u{FE63}' | '\u{FF0D}' => ('-', 1),
        '\u{A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => (' ', 1),
        '\u{2026}' => ('.', 3),
        '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{FEFF}' | '\u{AD}' => (' ', 0),
        other => (other, 1),
    };
    std::iter::repeat_n(plain, count)
}

/// Returns the strictest rung on which one line of the file equals one of the patch; never [`Rung::Context`].
pub fn line_rung(file: &[u8], patch: &[u8]) -> Option<Rung> {
    if file == patch {
        return Some(Rung::Exact);
    }
    let (file, patch) = (trim_end(file), trim_end(patch));
    if file == patch {
        return Some(Rung::TrailingBlanks);
    }
    if split_indent(file).1 == split_indent(patch).1 {
        return Some(Rung::Indentation);
    }
    if file.is_ascii() && patch.is_ascii() {
        return None;
    }
    (trim(&fold(file)) == trim(&fold(patch))).then_some(Rung::Unicode)
}

/// How the indentation of a patch's lines becomes that of the file's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndentMap {
    /// They are alike.
    Same,
    /// The file has these blanks in front of every line that is not blank.
    Add(Vec<u8>),
    /// The patch has them.
    Take(Vec<u8>),
    /// The file has these blanks in front of every line that is indented: the patch lost them with its sign.
    AddToIndented(Vec<u8>),
    /// So many spaces of the patch are one tab of the file.
    Tabs(usize),
    /// One tab of the patch is so many spaces of the file.
    Spaces(usize),
}

/// The widest indentation unit that is tried.
const WIDEST_UNIT: usize = 8;

impl IndentMap {
    /// Finds the one map that takes each patch indentation to its file indentation, for all pairs `(patch, file)`.
    pub fn fit(pairs: &[(Vec<u8>, Vec<u8>)]) -> Option<Self> {
        let fits =
            |map: &IndentMap| pairs.iter().all(|(patch, file)| map.indent(patch).as_ref() == Some(file));
        let Some((patch, file)) = pairs.iter().find(|(patch, file)| patch != file) else {
            return Some(IndentMap::Same);
        };
        let mut maps = Vec::new();
        if let Some(prefix) = file.strip_suffix(patch.as_slice()) {
            maps.push(IndentMap::Add(prefix.to_vec()));
            maps.push(IndentMap::AddToIndented(prefix.to_vec()));
        }
        if let Some(prefix) = patch.strip_suffix(file.as_slice()) {
            maps.push(IndentMap::Take(prefix.to_vec()));
        }
        maps.extend((1..=WIDEST_UNIT).map(IndentMap::Tabs));
        maps.extend((1..=WIDEST_UNIT).map(IndentMap::Spaces));
        maps.into_iter().find(fits)
    }

    /// Returns an added line as the file would indent it; `None` if the map does not reach it. Blank lines stay.
    pub fn line(&self, line: &[u8]) -> Option<Vec<u8>> {
        let (indent, text) = split_indent(line);
        if text.is_empty() {
            return Some(line.to_vec());
        }
        self.indent(indent).map(|mut mapped| {
            mapped.extend_from_slice(text);
            mapped
        })
    }

    /// Returns an indentation of the patch as the file has it; `None` if the map does not reach it.
    pub fn indent(&self, indent: &[u8]) -> Option<Vec<u8>> {
        match self {
            IndentMap::Same => Some(indent.to_vec()),
            IndentMap::Add(prefix) => Some([prefix, indent].concat()),
            IndentMap::Take(prefix) => indent.strip_prefix(prefix.as_slice()).map(<[u8]>::to_vec),
            IndentMap::AddToIndented(prefix) if indent.is_empty() => Some(prefix[..0].to_vec()),
            IndentMap::AddToIndented(prefix) => Some([prefix, indent].concat()),
            IndentMap::Tabs(unit) => Some(spaces_to_tabs(indent, *unit)),
            IndentMap::Spaces(unit) => Some(tabs_to_spaces(indent, *unit)),
        }
    }
}

fn spaces_to_tabs(indent: &[u8], unit: usize) -> Vec<u8> {
    let mut mapped = Vec::with_capacity(indent.len());
    for &byte in indent {
        mapped.push(byte);
        if mapped.len() >= unit && mapped[mapped.len() - unit..].iter().all(|&byte| byte == b' ') {
            mapped.truncate(mapped.len() - unit);
            mapped.push(b'\t');
        }
    }
    mapped
}

fn tabs_to_spaces(indent: &[u8], unit: usize) -> Vec<u8> {
    let mut mapped = Vec::with_capacity(indent.len() * unit);
    for &byte in indent {
        match byte {
            b'\t' => mapped.extend(std::iter::repeat_n(b' ', unit)),
            other => mapped.push(other),
        }
    }
    mapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_has_its_strictest_rung() {
        let cases = [
            ("a b", "a b", Some(Rung::Exact)),
            ("a b \t", "a b", Some(Rung::TrailingBlanks)),
            ("", "   ", Some(Rung::TrailingBlanks)),
            ("\ta b", "    a b ", Some(Rung::Indentation)),
            ("\u{201C}a\u{201D}\u{2026}", "\"a\"...", Some(Rung::Unicode)),
            ("Cafe\u{301}", "Caf\u{e9}", Some(Rung::Unicode)),
            ("a\u{200B}b", "ab", Some(Rung::Unicode)),
            ("10\u{a0}km", "10 km", Some(Rung::Unicode)),
            ("a  b", "a b", None),
            ("A", "a", None),
        ];
        for (file, patch, rung) in cases {
            assert_eq!(line_rung(file.as_bytes(), patch.as_bytes()), rung, "{file:?} {patch:?}");
        }
    }

    fn fit(pairs: &[(&str, &str)]) -> Option<IndentMap> {
        let pairs: Vec<_> =
            pairs.iter().map(|(patch, file)| (patch.as_bytes().to_vec(), file.as_bytes().to_vec())).collect();
        IndentMap::fit(&pairs)
    }

    #[test]
    fn one_map_fits_all_lines_or_none_does() {
        assert_eq!(fit(&[]), Some(IndentMap::Same));
        assert_eq!(fit(&[("  ", "  ")]), Some(IndentMap::Same));
        assert_eq!(fit(&[("", "    "), ("  ", "      ")]), Some(IndentMap::Add(b"    ".to_vec())));
        assert_eq!(fit(&[("    ", "  "), ("  ", "")]), Some(IndentMap::Take(b"  ".to_vec())));
        assert_eq!(
            fit(&[("", ""), ("   ", "    "), ("       ", "        ")]),
            Some(IndentMap::AddToIndented(b" ".to_vec()))
        );
        assert_eq!(fit(&[("", ""), ("    ", "\t"), ("        ", "\t\t")]), Some(IndentMap::Tabs(4)));
        assert_eq!(fit(&[("\t", "  "), ("\t\t", "    ")]), Some(IndentMap::Spaces(2)));
        assert_eq!(fit(&[("  ", "    "), ("    ", "    ")]), None);
    }

    #[test]
    fn added_lines_follow_the_map_or_the_map_does_not_reach() {
        assert_eq!(IndentMap::Tabs(4).line(b"        x"), Some(b"\t\tx".to_vec()));
        assert_eq!(IndentMap::Tabs(4).line(b"      x"), Some(b"\t  x".to_vec()));
        assert_eq!(IndentMap::Take(b"  ".to_vec()).line(b" x"), None);
        assert_eq!(IndentMap::Take(b"  ".to_vec()).line(b""), Some(vec![]));
        assert_eq!(IndentMap::Add(b"\t".to_vec()).line(b"  "), Some(b"  ".to_vec()));
    }
}
