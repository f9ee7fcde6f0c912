//! Blocks of a JSON text in, its elements out, without holding the text: only one element is held at a time.
//!
//! ```text
//! text     = root*                            a document has one root, JSON Lines printed over many lines have many
//! root     = [ item, ... ]                    each item is an element
//!          | { "key": field, ... }            each field is one, but of an array each of its items
//! ```
//!
//! Only strings and brackets are told apart; whether an element is JSON, its reader finds out. Elements that lie in one
//! block are lent as they are, and how the input is cut changes nothing.

use memchr::memchr_iter;
use memchr::memchr2;

use crate::text::document::UTF8_BOM;

use super::Carry;

/// Where an element stands in its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder<'a> {
    /// It is a root.
    Root,
    /// It is an item of the array that is the root (no key), or that is a field of the root.
    Item(Option<&'a str>),
    /// It is a field of the root, and no array.
    Field(&'a str),
}

/// One element, lent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element<'a> {
    /// Where it stands.
    pub holder: Holder<'a>,
    /// 1-based number of the line that it begins on.
    pub line: usize,
    /// 0-based offset of its first byte in the input.
    pub offset_bytes: u64,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// The input ended inside of it.
    pub is_torn: bool,
}

/// Which elements are handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grain {
    /// Whole roots.
    Roots,
    /// The items and fields of roots.
    Members,
}

/// What a whole input was made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ElementsSummary {
    /// Count of lines.
    pub lines: usize,
    /// Count of elements that were longer than the cap.
    pub skipped_long: usize,
    /// 1-based line in which the input ends inside of a root.
    pub torn_line: Option<usize>,
}

/// Where the next byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Root,
    RootArray,
    /// Before a key of the root.
    Key,
    /// Behind the colon, or before it.
    Field,
    FieldArray,
}

/// The element that is open.
#[derive(Debug, Clone, Copy)]
struct Open {
    line: usize,
    offset_bytes: u64,
    /// How many brackets are open in it.
    depth: usize,
    shape: Shape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// It ends with its last bracket.
    Brackets { in_text: bool },
    /// It ends with its quote.
    Text,
    /// It ends before what ends a number or a word.
    Bare,
}

/// Cuts a JSON text into elements.
#[derive(Debug)]
pub struct Elements {
    grain: Grain,
    cap_bytes: usize,
    at: At,
    key: String,
    open: Option<Open>,
    /// The byte before was a backslash in a string.
    is_escaped: bool,
    /// What earlier blocks held of the open element.
    carry: Carry,
    skipped_long: usize,
    /// 1-based number of the line that the next byte is on.
    line: usize,
    /// The last byte was a newline, or there was none.
    is_at_line_start: bool,
    offset_bytes: u64,
}

impl Elements {
    /// Returns a cutter that skips elements longer than `cap_bytes`.
    pub fn new(grain: Grain, cap_bytes: usize) -> Self {
        Elements {
            grain,
            cap_bytes,
            at: At::Root,
            key: String::new(),
            open: None,
            is_escaped: false,
            carry: Carry::new(cap_bytes),
            skipped_long: 0,
            line: 1,
            is_at_line_start: true,
            offset_bytes: 0,
        }
    }

    /// Returns which elements are handed out.
    pub fn grain(&self) -> Grain {
        self.grain
    }

    /// Takes the next block and lends every element that ends in it.
    pub fn push(&mut self, block: &[u8], on_element: &mut impl FnMut(Element<'_>)) {
        let mut at = 0;
        // Where in this block the open element begins, or goes on.
        let mut from = 0;
        while at < block.len() {
            let Some(open) = &mut self.open else {
                from = at;
                self.between(block[at], self.offset_bytes + at as u64);
                at += 1;
                continue;
            };
            let end = open.scan(&mut self.is_escaped, &block[at..]);
            let until = end.map_or(block.len(), |end| at + end);
            self.line += memchr_iter(b'\n', &block[at..until]).count();
            at = until;
            if end.is_some() {
                self.end(&block[from..until], false, on_element);
            }
        }
        if self.open.is_some() {
            self.carry.push(&block[from..]);
        }
        if let Some(last) = block.last() {
            self.is_at_line_start = *last == b'\n';
        }
        self.offset_bytes += block.len() as u64;
    }

    /// Ends the input; lends an element that is open, marked as torn.
    pub fn finish(mut self, on_element: &mut impl FnMut(Element<'_>)) -> ElementsSummary {
        // A number that is a root has no other end.
        let is_whole = self.at == At::Root && self.open.as_ref().is_none_or(|open| open.shape == Shape::Bare);
        let torn_line = (!is_whole).then_some(self.line);
        if self.open.is_some() {
            self.end(&[], !is_whole, on_element);
        }
        let lines = self.line - usize::from(self.is_at_line_start);
        ElementsSummary { lines, skipped_long: self.skipped_long, torn_line }
    }

    /// Takes one byte between elements; it may open one.
    fn between(&mut self, byte: u8, offset_bytes: u64) {
        let is_bom = usize::try_from(offset_bytes).is_ok_and(|offset| UTF8_BOM.get(offset) == Some(&byte));
        let at = match (self.at, byte) {
            (_, b'\n') => {
                self.line += 1;
                self.at
            }
            (_, b' ' | b'\t' | b'\r') => self.at,
            // The last is what separates roots in some streams.
            (At::Root, _) if is_bom || byte == b'\x1E' => At::Root,
            (At::Root, b'[') if self.grain == Grain::Members => At::RootArray,
            (At::Root, b'{') if self.grain == Grain::Members => At::Key,
            (At::RootArray, b']') | (At::Key | At::Field, b'}') => At::Root,
            (At::RootArray | At::Key | At::FieldArray, b',') => self.at,
            (At::Field, b':') => At::Field,
            (At::Field, b'[') => At::FieldArray,
            (At::Field, b',') | (At::FieldArray, b']') => At::Key,
            _ => {
                // The byte is taken, whatever it is: every element is one byte long at least.
                let shape = match byte {
                    b'{' | b'[' => Shape::Brackets { in_text: false },
                    b'"' => Shape::Text,
                    _ => Shape::Bare,
                };
                self.open = Some(Open { line: self.line, offset_bytes, depth: 1, shape });
                self.at
            }
        };
        self.at = at;
    }

    /// Ends the open element with its last piece.
    fn end(&mut self, piece: &[u8], is_torn: bool, on_element: &mut impl FnMut(Element<'_>)) {
        let Some(open) = self.open.take() else { return };
        if !self.carry.bytes.is_empty() || self.carry.is_over || piece.len() > self.cap_bytes {
            self.carry.push(piece);
        }
        let bytes = if self.carry.bytes.is_empty() { piece } else { &self.carry.bytes };
        let Open { line, offset_bytes, .. } = open;
        let (holder, next) = match self.at {
            At::Root => (Some(Holder::Root), At::Root),
            At::RootArray => (Some(Holder::Item(None)), At::RootArray),
            At::FieldArray => (Some(Holder::Item(Some(self.key.as_str()))), At::FieldArray),
            At::Field => (Some(Holder::Field(self.key.as_str())), At::Key),
            At::Key => (None, At::Field),
        };
        match holder {
            _ if self.carry.is_over => self.skipped_long += 1,
            Some(holder) => on_element(Element { holder, line, offset_bytes, bytes, is_torn }),
            // What is no key names nothing.
            None => self.key = serde_json::from_slice(bytes).unwrap_or_default(),
        }
        self.at = next;
        self.carry.clear();
    }
}

impl Open {
    /// Looks for the end of the element; returns how many of these bytes belong to it if it ends among them.
    fn scan(&mut self, is_escaped: &mut bool, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        if std::mem::take(is_escaped) {
            at = 1;
        }
        while at < bytes.len() {
            match &mut self.shape {
                Shape::Text | Shape::Brackets { in_text: true } => {
                    at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
                    if bytes[at] == b'\\' {
                        *is_escaped = at + 1 == bytes.len();
                        at += 2;
                        continue;
                    }
                    at += 1;
                    match &mut self.shape {
                        Shape::Brackets { in_text } => *in_text = false,
                        Shape::Text | Shape::Bare => return Some(at),
                    }
                }
                Shape::Brackets { in_text } => {
                    let is_told = |byte: &u8| matches!(byte, b'"' | b'{' | b'[' | b'}' | b']');
                    at += bytes[at..].iter().position(is_told)?;
                    match bytes[at] {
                        b'"' => *in_text = true,
                        b'{' | b'[' => self.depth += 1,
                        _ => self.depth -= 1,
                    }
                    at += 1;
                    if self.depth == 0 {
                        return Some(at);
                    }
                }
                Shape::Bare => {
                    let ends = |byte: &u8| {
                        byte.is_ascii_whitespace()
                            || matches!(byte, b',' | b':' | b'"' | b'{' | b'[' | b'}' | b']' | b'\x1E')
                    };
                    return bytes.iter().position(ends);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Seen = (Vec<(String, usize, u64, String, bool)>, ElementsSummary);

    fn elements_of(grain: Grain, blocks: &[&[u8]], cap_bytes: usize) -> Seen {
        let mut seen = Vec::new();
        let mut keep = |element: Element<'_>| {
            let holder = match element.holder {
                Holder::Root => "root".to_owned(),
                Holder::Item(key) => format!("{}[]", key.unwrap_or_default()),
                Holder::Field(key) => key.to_owned(),
            };
            let text = String::from_utf8_lossy(element.bytes).into_owned();
            seen.push((holder, element.line, element.offset_bytes, text, element.is_torn));
        };
        let mut elements = Elements::new(grain, cap_bytes);
        for block in blocks {
            elements.push(block, &mut keep);
        }
        let summary = elements.finish(&mut keep);
        (seen, summary)
    }

    fn check(grain: Grain, input: &str, wanted: &[(&str, usize, &str, bool)], summary: ElementsSummary) {
        let input = input.as_bytes();
        let whole = elements_of(grain, &[input], 40);
        let short = whole
            .0
            .iter()
            .map(|(holder, line, _, text, torn)| (holder.as_str(), *line, text.as_str(), *torn));
        assert_eq!(short.collect::<Vec<_>>(), wanted);
        assert_eq!(whole.1, summary);
        for (_, _, offset, text, _) in &whole.0 {
            assert_eq!(&input[usize::try_from(*offset).unwrap()..][..text.len()], text.as_bytes());
        }
        for first in 0..=input.len() {
            for second in first..=input.len() {
                let blocks = [&input[..first], &input[first..second], &input[second..]];
                assert_eq!(elements_of(grain, &blocks, 40), whole, "{first} {second}");
            }
        }
    }

    fn summary(lines: usize, skipped_long: usize, torn_line: Option<usize>) -> ElementsSummary {
        ElementsSummary { lines, skipped_long, torn_line }
    }

    #[test]
    fn fields_and_items_of_a_document_are_handed_out() {
        check(
            Grain::Members,
            "\u{FEFF}{\n \"in\\u0066o\": {\"a\": \"}\\\\\"},\n \"n\":-1.5,\"m\": [\n  {\"x\":[\"]\\\"\"]},7 ,\"s\"\n ],\"e\":[]}\n",
            &[
                ("info", 2, r#"{"a": "}\\"}"#, false),
                ("n", 3, "-1.5", false),
                ("m[]", 4, r#"{"x":["]\""]}"#, false),
                ("m[]", 4, "7", false),
                ("m[]", 4, "\"s\"", false),
            ],
            summary(5, 0, None),
        );
        check(
            Grain::Members,
            "[[1,\n2],{}]",
            &[("[]", 1, "[1,\n2]", false), ("[]", 2, "{}", false)],
            summary(2, 0, None),
        );
    }

    #[test]
    fn roots_one_behind_the_other_are_handed_out_whole() {
        check(
            Grain::Roots,
            "{\n\"a\":1}{}\n[\n2]\x1Enull 5",
            &[
                ("root", 1, "{\n\"a\":1}", false),
                ("root", 2, "{}", false),
                ("root", 3, "[\n2]", false),
                ("root", 4, "null", false),
                ("root", 4, "5", false),
            ],
            summary(4, 0, None),
        );
    }

    #[test]
    fn a_cut_is_told_and_what_is_too_long_is_skipped() {
        check(
            Grain::Members,
            "{\"m\":[1,\n{\"a\":\"\\",
            &[("m[]", 1, "1", false), ("m[]", 2, "{\"a\":\"\\", true)],
            summary(2, 0, Some(2)),
        );
        check(Grain::Members, "{\"m\":[1", &[("m[]", 1, "1", true)], summary(1, 0, Some(1)));
        check(Grain::Members, "{\"m\":[],\n", &[], summary(1, 0, Some(2)));
        let long = format!("[\"{}\",\n3]", "x".repeat(60));
        check(Grain::Members, &long, &[("[]", 2, "3", false)], summary(2, 1, None));
    }

    #[test]
    fn what_is_no_json_passes_through() {
        check(
            Grain::Members,
            "}]{a:1,,\"b\"}x",
            &[("root", 1, "}", false), ("root", 1, "]", false), ("", 1, "1", false), ("root", 1, "x", false)],
            summary(1, 0, None),
        );
        check(Grain::Roots, "", &[], summary(0, 0, None));
    }

    proptest! {
        #[test]
        fn every_cut_gives_the_same_elements(
            input in r#"[\[\]{}",:\\ \na1]{0,40}"#,
            cut: prop::sample::Index,
            is_roots: bool,
        ) {
            let grain = if is_roots { Grain::Roots } else { Grain::Members };
            let input = input.as_bytes();
            let cut = cut.index(input.len() + 1);
            let whole = elements_of(grain, &[input], 9);
            prop_assert_eq!(elements_of(grain, &[&input[..cut], &input[cut..]], 9), whole);
        }
    }
}
