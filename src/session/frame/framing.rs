//! Whether a log is lines or one JSON text, told by its first bytes.

use serde::de::IgnoredAny;

use crate::text::document::UTF8_BOM;

use super::elements::Element;
use super::elements::Elements;
use super::elements::Grain;
use super::elements::Holder;

/// How many lines tell whether a first line that is no JSON is a torn one, or the first of a printed document.
const LINES_LOOKED_AT: usize = 20;

/// What a log is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Framing {
    /// Lines.
    Lines,
    /// JSON values one behind the other, of many lines each.
    Roots,
    /// One JSON document, whose items and fields are what counts.
    Members,
}

impl Framing {
    /// Returns what a log is made of that begins with `head`.
    pub fn of(head: &[u8]) -> Self {
        let head = head.strip_prefix(UTF8_BOM).unwrap_or(head).trim_ascii_start();
        let second = head.get(1..).unwrap_or_default().trim_ascii_start().first();
        match (head.first(), second) {
            (Some(b'['), Some(b'{' | b'[' | b']') | None) => Framing::of_array(head),
            (Some(b'{'), Some(b'"' | b'}') | None) => Framing::of_object(head),
            _ => Framing::Lines,
        }
    }

    fn of_array(head: &[u8]) -> Self {
        let mut lines = head.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let is_line = lines.next().is_some_and(is_json) && lines.next().is_some();
        if is_line { Framing::Lines } else { Framing::Members }
    }

    fn of_object(head: &[u8]) -> Self {
        let mut lines = head.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let first = lines.next().unwrap_or_default();
        let mut others = lines.peekable();
        let has_others = others.peek().is_some();
        let is_line = |line: &[u8]| line.starts_with(b"{") && is_json(line);
        if has_others && (is_json(first) || others.take(LINES_LOOKED_AT).any(is_line)) {
            return Framing::Lines;
        }
        if has_list(head) {
            return Framing::Members;
        }
        if is_json(first) {
            return Framing::Lines;
        }
        let mut elements = Elements::new(Grain::Roots, head.len());
        let mut is_torn = None;
        let mut look = |element: Element<'_>| is_torn = is_torn.or(Some(element.is_torn));
        elements.push(head, &mut look);
        elements.finish(&mut look);
        match is_torn {
            Some(false) => Framing::Roots,
            // A first value of so many lines is no record.
            Some(true) | None if head.contains(&b'\n') => Framing::Members,
            Some(true) | None => Framing::Lines,
        }
    }

    /// Calls `look` with the elements of a beginning of a log; the last of them may be torn.
    pub fn first_elements(self, head: &[u8], look: &mut impl FnMut(Element<'_>)) {
        let grain = match self {
            Framing::Lines => {
                let head = head.strip_prefix(UTF8_BOM).unwrap_or(head);
                let mut offset_bytes = 0;
                let mut lines = head.split(|&byte| byte == b'\n').enumerate().peekable();
                while let Some((index, bytes)) = lines.next() {
                    let is_torn = lines.peek().is_none();
                    look(Element { holder: Holder::Root, line: index + 1, offset_bytes, bytes, is_torn });
                    offset_bytes += bytes.len() as u64 + 1;
                }
                return;
            }
            Framing::Roots => Grain::Roots,
            Framing::Members => Grain::Members,
        };
        let mut elements = Elements::new(grain, head.len());
        elements.push(head, look);
        elements.finish(look);
    }
}

fn is_json(line: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(line).is_ok()
}

/// Tells whether the root object has a list of objects, or of lists of them, and no type: then it is a document and no record. OpenHands'
/// events may have lists, and have their type at their end; whose they are stands at their beginning.
fn has_list(head: &[u8]) -> bool {
    let mut elements = Elements::new(Grain::Members, head.len());
    let mut has_list = false;
    let mut has_type = false;
    let mut is_first_root = true;
    let mut look = |element: Element<'_>| match element.holder {
        Holder::Item(Some(_)) => {
            has_list |=
                is_first_root && (element.bytes.starts_with(b"{") || element.bytes.starts_with(b"[{"));
        }
        Holder::Root => is_first_root = false,
        Holder::Field(key) => has_type |= is_first_root && (key == "type" || is_source(key, element.bytes)),
        Holder::Item(None) => {}
    };
    elements.push(head, &mut look);
    elements.finish(&mut look);
    has_list && !has_type
}

fn is_source(key: &str, value: &[u8]) -> bool {
    key == "source" && matches!(value, b"\"agent\"" | b"\"environment\"" | b"\"hook\"" | b"\"user\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_documents_are_told_apart() {
        let check = |head: &str, wanted| assert_eq!(Framing::of(head.as_bytes()), wanted, "{head}");
        check("", Framing::Lines);
        check("text {", Framing::Lines);
        check("[2026-01-01] text", Framing::Lines);
        check("{text}", Framing::Lines);
        check("{\"type\":1}", Framing::Lines);
        check("{\"type\":1}\n", Framing::Lines);
        check("{\"type\":\"result\",\"list\":[{}]}\n", Framing::Lines);
        check("{", Framing::Lines);
        check("{\n", Framing::Members);
        check("{\"type\":1}\n\n{\"type\":2}\n", Framing::Lines);
        check("{\"type\":1}\n{\"messages\":[{}]}\n", Framing::Lines);
        check("{\"torn\n{\"type\":2}\n{\"ty", Framing::Lines);
        check("{\"type\":\"long and not ended", Framing::Lines);
        check("[[1]]\n[[2]]\n", Framing::Lines);
        check("\u{FEFF} [", Framing::Members);
        check("[{\"a\":1},\n{\"b\":2}\n]", Framing::Members);
        check("[\n  {\n    \"a\": 1", Framing::Members);
        check("{\"info\":{},\"messages\":[{\"a\":\"torn", Framing::Members);
        check("{\n  \"info\": {\n    \"a\": 1", Framing::Members);
        check("{\n  \"a\": 1\n}\n", Framing::Roots);
        check("{\n  \"a\": 1\n}\n{\n  \"b", Framing::Roots);
        check("{\n  \"messages\": [{}]\n}\n", Framing::Members);
        check("{\"id\":1,\"history\":[[{\"a\":1},{\"b\":2}],[{\"torn", Framing::Members);
        check("{\"source\":\"agent\",\"thought\":[{}]}", Framing::Lines);
        check("{\"source\":\"of it\",\"thought\":[{}]}", Framing::Members);
        check("{\"source\":\"user\",\"list\":[{}]}{\"source\":\"agent\"}", Framing::Roots);
        check("{\n \"source\": \"agent\",\n \"thought\": [{}]\n}{\n", Framing::Roots);
    }
}
