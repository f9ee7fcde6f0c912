//! Which function, class or section of a file a change stands in: the one place that decides.
//!
//! No grammar is known here, only what nearly all of them share. What holds a line is indented less than it, and
//! says what it is on a line that begins with a word. Of all that holds a changed line, the innermost that looks like a
//! definition is shown; where nothing does, as in data, the innermost that opens anything. Files whose sections are
//! not indented (Markdown, TOML, INI) are read for their headings. A wrong guess shows a line of the file that stands
//! above the change, never anything else, and every search is bounded by a count of lines and bytes.

use std::collections::HashMap;
use std::ops::Range;

use memchr::memchr;
use memchr::memchr_iter;
use memchr::memrchr;

use crate::text::heading;

/// How many lines above a change are looked at.
const LIMIT_LINES: usize = 4_000;
/// How many lines are looked at for all hunks of a file.
const LIMIT_FILE_LINES: usize = 100_000;
/// How many bytes above a change are looked at, and how long a line may be.
const LIMIT_BYTES: usize = 256 << 10;
/// How many bytes of a file are read for headings.
const LIMIT_HEADING_BYTES: usize = 4 << 20;
/// Columns from one tab stop to the next, as Python and most of C count them.
const TAB_COLUMNS: usize = 8;
/// Levels of headings.
const LEVELS: usize = 6;

/// What begins a definition, wherever it stands first.
const DEFINITIONS: &[&str] = &[
    "class",
    "def",
    "defimpl",
    "defmacro",
    "defmodule",
    "defp",
    "defprotocol",
    "enum",
    "fn",
    "fun",
    "func",
    "function",
    "impl",
    "implementation",
    "interface",
    "mod",
    "module",
    "namespace",
    "proc",
    "procedure",
    "struct",
    "subroutine",
    "trait",
    "typedef",
    "union",
];
/// What begins a definition if something opens behind it: these are names and words of texts, too.
const SOFT_DEFINITIONS: &[&str] = &[
    "actor",
    "component",
    "contract",
    "create",
    "extension",
    "library",
    "macro",
    "macro_rules",
    "message",
    "method",
    "mixin",
    "object",
    "package",
    "protocol",
    "record",
    "rpc",
    "service",
    "sub",
    "task",
    "test",
    "type",
];
/// What may stand before such a word.
const MODIFIERS: &[&str] = &[
    "abstract",
    "async",
    "case",
    "const",
    "constexpr",
    "crate",
    "data",
    "declare",
    "default",
    "export",
    "extern",
    "external",
    "fileprivate",
    "final",
    "friend",
    "implicit",
    "inline",
    "inner",
    "internal",
    "local",
    "mutating",
    "native",
    "open",
    "override",
    "partial",
    "private",
    "protected",
    "pub",
    "public",
    "readonly",
    "sealed",
    "static",
    "suspend",
    "unsafe",
    "virtual",
];
/// What begins a statement that may hold others and is no definition.
const CONTROL: &[&str] = &[
    "assert",
    "await",
    "begin",
    "break",
    "case",
    "catch",
    "continue",
    "default",
    "defer",
    "del",
    "delete",
    "do",
    "elif",
    "else",
    "elseif",
    "elsif",
    "ensure",
    "except",
    "finally",
    "fixed",
    "for",
    "foreach",
    "go",
    "goto",
    "guard",
    "if",
    "lock",
    "loop",
    "match",
    "new",
    "raise",
    "repeat",
    "rescue",
    "return",
    "select",
    "switch",
    "synchronized",
    "then",
    "throw",
    "try",
    "unless",
    "unsafe",
    "until",
    "using",
    "when",
    "where",
    "while",
    "with",
    "yield",
];

/// How a file says what holds what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// By headings: a run of this character begins one.
    Headings(u8),
    /// By names in brackets; what is indented under a key of it is read as code.
    Tables,
    /// By keys.
    Keys,
    /// By selectors and other text before a brace.
    Rules,
    /// By definitions and blocks.
    Code,
}

impl Manner {
    fn of(path: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path);
        let extension = name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase();
        match extension.as_str() {
            "md" | "markdown" | "mdown" | "mdx" | "mkd" | "qmd" | "rmd" => Manner::Headings(b'#'),
            "adoc" | "asciidoc" => Manner::Headings(b'='),
            "org" => Manner::Headings(b'*'),
            "cfg" | "cnf" | "conf" | "desktop" | "editorconfig" | "gitconfig" | "ini" | "lock"
            | "properties" | "service" | "socket" | "timer" | "toml" => Manner::Tables,
            "geojson" | "ipynb" | "json" | "json5" | "jsonc" | "yaml" | "yml" | "makefile" | "mk" => {
                Manner::Keys
            }
            "css" | "less" | "sass" | "scss" => Manner::Rules,
            _ => Manner::Code,
        }
    }
}

/// Finds the sections of one text, change after change.
#[derive(Debug)]
pub(super) struct Sections<'a> {
    text: &'a [u8],
    manner: Manner,
    lines_left: usize,
    headings: Headings,
    /// The last way up by the indentation that it began to look below.
    ways: HashMap<usize, Way>,
}

/// A way up that was gone.
#[derive(Debug)]
struct Way {
    at: usize,
    lines: usize,
    found: Option<Range<usize>>,
}

impl<'a> Sections<'a> {
    pub(super) fn new(path: &str, text: &'a [u8]) -> Self {
        let headings = Headings::default();
        let (manner, lines_left) = (Manner::of(path), LIMIT_FILE_LINES);
        Sections { text, manner, lines_left, headings, ways: HashMap::new() }
    }

    /// Returns what holds the change of the lines at `old`, in whose place come `new`; `None` if nothing does, or if
    /// it stands too far above.
    ///
    /// Changes are asked for in the order of the text.
    pub(super) fn of(&mut self, old: Range<usize>, new: &[u8]) -> Option<String> {
        let text = self.text;
        let below = &text[old.end..text.len().min(old.end + LIMIT_BYTES)];
        let changed = [&text[old.clone()], new, below].into_iter().find_map(first_line)?;
        let line = match self.manner {
            Manner::Headings(_) => self.heading(old.start, changed),
            Manner::Tables => self.heading(old.start, changed).or_else(|| self.opener(old.start, changed)),
            Manner::Keys | Manner::Rules | Manner::Code => self.opener(old.start, changed),
        };
        line.and_then(|line| heading::shown(&text[line]))
    }

    fn heading(&mut self, at: usize, changed: &[u8]) -> Option<Range<usize>> {
        if at > LIMIT_HEADING_BYTES {
            return None;
        }
        self.headings.read(self.text, at, self.manner);
        let is_code = self.headings.fence.is_some();
        let level = level(changed, self.manner).filter(|_| !is_code).unwrap_or(LEVELS + 1);
        self.headings.above(level)
    }

    /// Looks up from a line for what holds it.
    ///
    /// A way that meets one that was gone before has that one's end: many changes of one text cost one way up.
    fn opener(&mut self, at: usize, changed: &[u8]) -> Option<Range<usize>> {
        let mut search = Search::new(Line::of(changed), self.manner);
        let begun = search.limit;
        let floor = at.saturating_sub(LIMIT_BYTES);
        let most = LIMIT_LINES.min(self.lines_left);
        let (mut end, mut lines, mut found) = (at, 0, None);
        // Nothing is indented less than the margin.
        while lines < most && end > 0 && search.limit > 0 {
            if let Some(known) = self.ways.get(&search.limit).filter(|way| way.at == end && search.is_new())
                && found.is_none()
                && (known.found.is_none() || known.lines <= most - lines)
            {
                lines += known.lines.min(most - lines);
                found = known.found.clone().filter(|line| floor == 0 || line.start > floor);
                break;
            }
            let start = match memrchr(b'\n', &self.text[floor..end - 1]) {
                Some(newline) => floor + newline + 1,
                None if floor == 0 => 0,
                None => break,
            };
            lines += 1;
            match search.look_at(Line::of(&self.text[start..end])) {
                Found::Nothing => {}
                Found::Opener if found.is_some() => {}
                Found::Opener => found = Some(start..end),
                Found::Section => {
                    found = Some(start..end);
                    break;
                }
            }
            end = start;
        }
        self.lines_left -= lines;
        self.ways.insert(begun, Way { at, lines, found: found.clone() });
        found
    }
}

/// Returns the first line that is not blank; `None` if all are.
fn first_line(text: &[u8]) -> Option<&[u8]> {
    let text_start = text.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let start = memrchr(b'\n', &text[..text_start]).map_or(0, |newline| newline + 1);
    let end = memchr(b'\n', &text[text_start..]).map_or(text.len(), |newline| text_start + newline);
    Some(&text[start..end])
}

/// A line without its blanks, and how far it is indented.
#[derive(Debug, Clone, Copy)]
struct Line<'a> {
    indent: usize,
    text: &'a [u8],
}

impl<'a> Line<'a> {
    fn of(line: &'a [u8]) -> Self {
        let mut indent = 0;
        let mut blanks = 0;
        for byte in line {
            match byte {
                b' ' => indent += 1,
                b'\t' => indent += TAB_COLUMNS - indent % TAB_COLUMNS,
                _ => break,
            }
            blanks += 1;
        }
        Line { indent, text: line[blanks..].trim_ascii_end() }
    }

    /// Tells whether the line goes on with, or ends, what another line at its indentation began.
    fn belongs_to_equal(&self, manner: Manner) -> bool {
        match self.text.first() {
            Some(b'}' | b')' | b']' | b'{') => true,
            // A list may stand right under its key.
            Some(b'-') => manner == Manner::Keys,
            _ => word(self.text) == b"where",
        }
    }
}

/// Returns the word that a text begins with; empty if it begins with none.
fn word(text: &[u8]) -> &[u8] {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..);
    &text[..text.iter().take_while(|byte| is_word(byte)).count()]
}

/// Tells whether a list has a word; case does not count, since SQL and Pascal are written in both.
fn has(list: &[&str], word: &[u8]) -> bool {
    list.iter().any(|one| one.as_bytes().eq_ignore_ascii_case(word))
}

/// What a line is to what is below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// It does not hold it, or nobody would look for it by this line.
    Nothing,
    /// It holds it, and may be all that does.
    Opener,
    /// It is what the reader looks for.
    Section,
}

/// A way up from a changed line.
#[derive(Debug)]
struct Search {
    manner: Manner,
    /// Only lines that are indented less can hold what is below.
    limit: usize,
    /// The indentation of a brace that stands alone, or ends a head of several lines: its head is above.
    block: Option<usize>,
}

impl Search {
    fn new(changed: Line<'_>, manner: Manner) -> Self {
        let limit = changed.indent + usize::from(changed.belongs_to_equal(manner));
        Search { manner, limit, block: None }
    }

    /// Tells whether nothing counts but the indentation, as at the beginning.
    fn is_new(&self) -> bool {
        self.block.is_none()
    }

    /// Takes in the next line above.
    fn look_at(&mut self, line: Line<'_>) -> Found {
        let Some(&first) = line.text.first().filter(|_| line.indent < self.limit) else {
            return Found::Nothing;
        };
        if line.belongs_to_equal(self.manner) {
            self.limit = line.indent + 1;
            if ends_in_block(line.text) {
                self.block = Some(line.indent);
            }
            return Found::Nothing;
        }
        let begins_block = ends_in_block(line.text) || self.block == Some(line.indent);
        let found = match self.manner {
            Manner::Keys => key(line.text),
            Manner::Rules if begins_block && !line.text.starts_with(b"/") => Found::Section,
            Manner::Rules => Found::Nothing,
            Manner::Code | Manner::Headings(_) | Manner::Tables => code(line.text, begins_block),
        };
        // Remarks, labels, texts of several lines and what a preprocessor reads stand at any margin.
        let holds = found != Found::Nothing || goes_on(line.text) || has(CONTROL, word(line.text));
        if holds && !is_remark(line.text) && !is_label(line.text) || first == b'.' {
            self.limit = line.indent;
            self.block = None;
        }
        found
    }
}

fn key(text: &[u8]) -> Found {
    let is_named = !word(text).is_empty() || matches!(text.first(), Some(b'"' | b'\''));
    if is_named && memchr(b':', text).is_some() { Found::Section } else { Found::Nothing }
}

fn code(text: &[u8], begins_block: bool) -> Found {
    if is_definition(text, begins_block) {
        return Found::Section;
    }
    let first = word(text);
    let is_named = first.first().is_some_and(|byte| !byte.is_ascii_digit()) || text.starts_with(b"@");
    let opens = begins_block || goes_on(text);
    if is_named && opens && !has(CONTROL, first) && !is_label(text) { Found::Opener } else { Found::Nothing }
}

fn is_remark(text: &[u8]) -> bool {
    let heads: [&[u8]; 10] = [b"//", b"/*", b"*", b"#", b"--", b";", b"%", b"<!", b"\"", b"'"];
    heads.iter().any(|head| text.starts_with(head))
}

/// Tells whether a line is a name with a colon: `out:`, `public slots:`.
fn is_label(text: &[u8]) -> bool {
    let Some(name) = text.strip_suffix(b":") else { return false };
    let first = word(name);
    first.len() == name.len() && !has(CONTROL, name)
        || [&b"public"[..], b"private", b"protected", b"signals"].contains(&first)
}

/// Returns a line without a remark behind it.
fn without_remark(text: &[u8]) -> &[u8] {
    let marks: [&[u8]; 3] = [b" //", b" /*", b" # "];
    let end = text.windows(3).position(|part| marks.contains(&part));
    text[..end.unwrap_or(text.len())].trim_ascii_end()
}

fn ends_in_block(text: &[u8]) -> bool {
    without_remark(text).ends_with(b"{")
}

/// Tells whether what a line begins goes on below it.
fn goes_on(text: &[u8]) -> bool {
    let text = without_remark(text);
    let ends: [&[u8]; 21] = [
        b"{", b"(", b"[", b":", b"=", b",", b"+", b"*", b"|", b"&", b"<", b">", b"?", b"\\", b" do",
        b" then", b" of", b" begin", b" where", b" is", b" as",
    ];
    if ends.iter().any(|end| text.ends_with(end)) {
        return true;
    }
    let count = |wanted: &[u8]| text.iter().filter(|byte| wanted.contains(byte)).count();
    count(b"([{") > count(b")]}")
}

/// Tells whether a line looks like the head of a function, a type or a named block.
fn is_definition(text: &[u8], begins_block: bool) -> bool {
    let bare = without_remark(text);
    // A whole statement, or a definition that ends where it begins.
    if matches!(bare.last(), Some(b';' | b'}')) {
        return false;
    }
    let is_macro = bare.starts_with(b"#define ") && bare.ends_with(b"\\");
    let is_lisp = bare.starts_with(b"(def");
    let is_method = begins_block && (bare.starts_with(b"- (") || bare.starts_with(b"+ ("));
    if is_macro
        || is_lisp
        || is_method
        || behind_modifiers(bare).is_some_and(|rest| is_named_type(rest, begins_block))
    {
        return true;
    }
    let is_control = has(CONTROL, word(bare));
    !is_control && (is_assigned_function(bare) || is_named_block(bare) || begins_block && is_head(bare))
}

/// Returns the text from its first word on that is no modifier.
fn behind_modifiers(text: &[u8]) -> Option<&[u8]> {
    let mut rest = text.strip_prefix(b"@").unwrap_or(text);
    while has(MODIFIERS, word(rest)) {
        // `pub(crate) `, `extern "C" `
        let after = rest[word(rest).len()..].trim_ascii_start();
        let behind = match after.first()? {
            b'(' => memchr(b')', after)? + 1,
            b'"' => memchr(b'"', &after[1..])? + 2,
            _ => 0,
        };
        rest = after[behind..].trim_ascii_start();
    }
    Some(rest)
}

/// Tells whether a text is the word of a definition and a name.
fn is_named_type(text: &[u8], begins_block: bool) -> bool {
    let first = word(text);
    let is_soft = has(SOFT_DEFINITIONS, first);
    if !is_soft && !has(DEFINITIONS, first) || is_soft && !begins_block && !goes_on(text) {
        return false;
    }
    // `struct point origin = {` is a value.
    let is_value = [&b"struct"[..], b"union", b"enum"].contains(&first);
    if is_value && memchr::memmem::find(text, b" = ").is_some() {
        return false;
    }
    let after = &text[first.len()..];
    let may_be_unnamed = [&b"fn"[..], b"func", b"function"].contains(&first);
    let is_apart = match after.first() {
        Some(b' ' | b'\t' | b'<' | b'*' | b'!') => true,
        Some(b'(') => may_be_unnamed,
        _ => false,
    };
    // `type = 1` and `test , ` are no definitions.
    let named = after.trim_ascii_start().first();
    is_apart && !matches!(named, Some(b'=' | b'.' | b':' | b',' | b';' | b')') | None)
}

/// Tells whether a name gets a function: `const add = (a, b) => {`, `add: function (a, b) {`.
fn is_assigned_function(text: &[u8]) -> bool {
    let is_equals = |at: usize| {
        text[at] == b'='
            && !matches!(text.get(at + 1), Some(b'=' | b'>'))
            && !matches!(at.checked_sub(1).map(|before| text[before]), Some(b'=' | b'!' | b'<' | b'>'))
    };
    let Some(at) = (0..text.len()).find(|&at| text[at] == b':' || text[at] == b'(' || is_equals(at)) else {
        return false;
    };
    let equals = (at..text.len()).find(|&at| is_equals(at)).filter(|_| text[at] != b'(');
    let value = text[equals.unwrap_or(at) + 1..].trim_ascii_start();
    let value = value.strip_prefix(b"async").map_or(value, <[u8]>::trim_ascii_start);
    let is_arrow = memchr::memmem::find(text, b"=>").is_some() || memchr::memmem::find(text, b"->").is_some();
    let name = word(value);
    let begins_arrow = value.starts_with(b"(") || value[name.len()..].trim_ascii_start().starts_with(b"=>");
    text[at] != b'('
        && (value.starts_with(b"function") || value.starts_with(b"func(") || is_arrow && begins_arrow)
}

/// Tells whether a line names a block by a text: `describe("sums", () => {`, `resource "disk" "main" {`.
fn is_named_block(text: &[u8]) -> bool {
    let path = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.');
    let name = text.iter().take_while(|byte| path(byte)).count();
    let rest = text[name..].trim_ascii_start();
    let rest = rest.strip_prefix(b"(").map_or(rest, <[u8]>::trim_ascii_start);
    let bare = without_remark(text);
    let opens = bare.ends_with(b"{") || bare.ends_with(b" do") || bare.ends_with(b"|");
    name > 0 && opens && matches!(rest.first(), Some(b'"' | b'\'' | b'`'))
}

/// Tells whether a line that begins a block looks like the head of a function: words, a name, parameters.
fn is_head(text: &[u8]) -> bool {
    let Some(parameters) = memchr(b'(', text).filter(|&at| at > 0) else { return false };
    let is_part = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b' ' | b'_' | b'$' | b':' | b'~' | b'*' | b'&' | 0x80..)
            || matches!(byte, b'<' | b'>' | b',' | b'[' | b']' | b'?' | b'@' | b'#')
    };
    let head = &text[..parameters];
    let count = |wanted: u8| memchr_iter(wanted, text).count();
    // `expect(draw({` is a call.
    let is_call = ends_in_block(text) && count(b'(') > count(b')');
    !word(head).is_empty() && head.iter().all(is_part) && !is_call
}

/// Returns the level of a heading, 1 for the highest; `None` if the line is none.
fn level(line: &[u8], manner: Manner) -> Option<usize> {
    match manner {
        Manner::Headings(mark) => {
            let count = line.iter().take_while(|&&byte| byte == mark).count();
            let is_heading = (1..=LEVELS).contains(&count) && matches!(line.get(count), Some(b' ' | b'\t'));
            is_heading.then_some(count)
        }
        Manner::Tables => {
            let text = without_remark(line.trim_ascii());
            let is_table = text.len() > 2 && text.starts_with(b"[") && text.ends_with(b"]");
            (is_table && memchr(b',', text).is_none()).then_some(1)
        }
        Manner::Keys | Manner::Rules | Manner::Code => None,
    }
}

/// The headings above a place of a text that is read from its start, once.
#[derive(Debug, Default)]
struct Headings {
    /// Whole lines up to here were read.
    read_to: usize,
    /// The open heading of each level.
    open: [Option<Range<usize>>; LEVELS],
    /// The mark of the block of code that is open, and how often it stands there: what looks like a heading in it is none.
    fence: Option<(u8, usize)>,
    /// The line before, if it may be a heading that is underlined.
    before: Option<Range<usize>>,
}

impl Headings {
    fn read(&mut self, text: &[u8], to: usize, manner: Manner) {
        while self.read_to < to {
            let start = self.read_to;
            let end = memchr(b'\n', &text[start..to]).map_or(to, |newline| start + newline + 1);
            self.read_to = end;
            self.take(&text[start..end], start..end, manner);
        }
    }

    fn take(&mut self, line: &[u8], range: Range<usize>, manner: Manner) {
        let before = self.before.take();
        if manner == Manner::Headings(b'#') {
            let trimmed = line.trim_ascii();
            let mark = trimmed.first().copied().unwrap_or(0);
            let count = trimmed.iter().take_while(|&&byte| byte == mark).count();
            if let Some((open, least)) = self.fence {
                // What closes a block is nothing but its mark.
                if open == mark && count >= least && count == trimmed.len() {
                    self.fence = None;
                }
                return;
            }
            let is_front_matter = range.start == 0 && trimmed == b"---";
            if matches!(mark, b'`' | b'~') && count >= 3 || is_front_matter {
                self.fence = Some((mark, count));
                return;
            }
            if matches!(mark, b'=' | b'-') && count == trimmed.len() && count >= 3 {
                if let Some(before) = before {
                    self.open_at(if mark == b'=' { 1 } else { 2 }, before);
                }
                return;
            }
            let may_be_underlined =
                matches!(mark, b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | 0x80..) && line[0] == mark;
            self.before = may_be_underlined.then(|| range.clone());
        }
        if let Some(level) = level(line, manner) {
            self.open_at(level, range);
        }
    }

    fn open_at(&mut self, level: usize, line: Range<usize>) {
        self.open[level - 1..].fill(None);
        self.open[level - 1] = Some(line);
    }

    /// Returns the innermost heading of a level above this one.
    fn above(&self, level: usize) -> Option<Range<usize>> {
        self.open[..level - 1].iter().rev().flatten().next().cloned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the section of the line of `text` that holds `mark`, as if it were changed.
    fn section(path: &str, text: &str, mark: &str) -> String {
        let at = text.find(mark).unwrap();
        let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1);
        Sections::new(path, text.as_bytes()).of(start..end, b"").unwrap_or_default()
    }

    /// Checks the section of each line that ends in ` <N`: the N-th of `sections`.
    fn check(path: &str, text: &str, sections: &[&str]) {
        for (index, wanted) in sections.iter().enumerate() {
            assert_eq!(section(path, text, &format!("<{index}")), *wanted, "{path} <{index}");
        }
    }

    #[test]
    fn rust() {
        let text = "\
use std::fmt::{
    self, // <0
};

impl<T> Calc<T>
where
    T: Copy,
{
    const ZERO: i32 = 0; // <1

    /// Adds.
    #[inline]
    pub(crate) fn add(
        &self, // <2
    ) -> i32 {
        let values = [
            1, // <3
        ];
        if self.ready {
#[cfg(debug)]
            match self.kind {
                Kind::One => {
                    values.map(|value| {
                        value + 1 // <4
                    });
                }
            }
        } else {
            panic!(); // <5
        }
    }

    fn short() -> i32 { 1 }
    fn cut(&self, text: &str) -> Option<i32>; // <6
}
static TABLE: &[i32] = &[
    7, // <7
];
fn top() {} // <8
";
        check(
            "a.rs",
            text,
            &[
                "use std::fmt::{",
                "impl<T> Calc<T>",
                "pub(crate) fn add(",
                "pub(crate) fn add(",
                "pub(crate) fn add(",
                "pub(crate) fn add(",
                "impl<T> Calc<T>",
                "static TABLE: &[i32] = &[",
                "",
            ],
        );
    }

    #[test]
    fn python() {
        let text = "\
@app.route(
    '/', # <0
)
async def index(
    request, # <1
):
    \"\"\"
Says what it does: all of it.
    \"\"\"
    total = compute(request,
                    1) # <2
    for row in total:
        try:
            row() # <3
        except Error:
            pass # <4

class Shape(Base):
    size = 1 # <5

    @property
    def area(self) -> int:
        def inner():
            return 1 # <6
        return inner() # <7
PARSER.add(
    'x', # <8
)
";
        check(
            "a.py",
            text,
            &[
                "@app.route(",
                "async def index(",
                "async def index(",
                "async def index(",
                "async def index(",
                "class Shape(Base):",
                "def inner():",
                "def area(self) -> int:",
                "PARSER.add(",
            ],
        );
    }

    #[test]
    fn c_and_its_kin() {
        let c = "\
#include <a.h>
static const struct ops table = {
\t.open = 0, // <0
};
struct point {
\tint x; // <1
};
static int
main(int argc,
     char **argv)
{
\tif (argc)
\t{
\t\tcall(argc,
#ifdef X
\t\t     1); // <2
#endif
\t}
out:
\treturn 0; // <3
}
#define TWICE(x) \\
\tdo { x; } \\
\twhile (0) // <4
";
        let functions = [
            "static const struct ops table = {",
            "struct point {",
            "main(int argc,",
            "main(int argc,",
            "#define TWICE(x) \\",
        ];
        check("a.c", c, &functions);
        let cpp = "\
namespace shapes {
class Shape : public Base {
 public:
    int size; // <0
    Shape(int size)
        : size(size)
    {
        run([&](int x) {
            x++; // <1
        });
    }
};
void Shape::draw() const {
    switch (size) {
    case 1:
        draw(); // <2
    default:
        break; // <3
    }
}
}
";
        let heads = [
            "class Shape : public Base {",
            "Shape(int size)",
            "void Shape::draw() const {",
            "void Shape::draw() const {",
        ];
        check("a.cpp", cpp, &heads);
        let java = "\
@Service
public class Store {
    @Override
    public <T> List<T> all(String name) throws IOException {
        synchronized (this) {
            return names.stream()
                .map(one -> {
                    return one; // <0
                });
        }
    }
    private int count = 0; // <1
}
";
        check(
            "A.java",
            java,
            &["public <T> List<T> all(String name) throws IOException {", "public class Store {"],
        );
        let go = "\
type Store struct {
\tname string // <0
}
func (s *Store) Run(ctx context.Context) error {
\tgo func() {
\t\tfor _, x := range s.all {
\t\t\tx() // <1
\t\t}
\t}()
}
";
        check("a.go", go, &["type Store struct {", "func (s *Store) Run(ctx context.Context) error {"]);
    }

    #[test]
    fn scripts() {
        let text = "\
const limits = {
  sizes: {
    one: 1, // <0
  },
};
export const add = async (a, b) => {
  return all.map((x) => {
    return x; // <1
  });
};
export default class Card extends Base {
  state = 1; // <2
  handle = (event) => {
    this.run(event); // <3
  };
  render(
    props
  ) {
    if (props) {
      return null; // <4
    } else if (x) {
      draw(); // <5
    }
  }
}
describe('cards', () => {
  it(\"draws\", async () => {
    expect(draw({
      a: 1, // <6
    }));
  });
});
module.exports = function (x) {
  x(); // <7
};
";
        let wanted = [
            "sizes: {",
            "export const add = async (a, b) => {",
            "export default class Card extends Base {",
            "handle = (event) => {",
            "render(",
            "render(",
            "it(\"draws\", async () => {",
            "module.exports = function (x) {",
        ];
        check("a.ts", text, &wanted);
        let ruby = "\
module Shop
  class Cart < Base
    attr :size # <0
    def total
      items.each do |item|
        item.x # <1
      end
    end
  end
end
";
        check("a.rb", ruby, &["class Cart < Base", "def total"]);
        check("a.sh", "run() {\n  if x; then\n    y <0\n  fi\n}\n", &["run() {"]);
        check("a.clj", "(defn add [a b]\n  (let [x 1]\n    x)) <0\n", &["(defn add [a b]"]);
        check("a.lua", "local function add(a)\n  return a -- <0\nend\n", &["local function add(a)"]);
        check("a.ex", "defmodule A do\n  def b(c) do\n    c # <0\n  end\nend\n", &["def b(c) do"]);
        check(
            "a.tf",
            "resource \"disk\" \"main\" {\n  size = 1 # <0\n}\n",
            &["resource \"disk\" \"main\" {"],
        );
        check("a.sql", "CREATE TABLE users (\n  id int, -- <0\n);\n", &["CREATE TABLE users ("]);
        check("a.m", "@implementation Card\n- (void)draw {\n    run(); // <0\n}\n", &["- (void)draw {"]);
    }

    #[test]
    fn data_and_rules() {
        let json = "{\n  \"scripts\": {\n    \"one\": [\n      {\n        \"x\": 1 <0\n      }\n    ],\n    \"two\": 2 <1\n  }\n}\n";
        check("a.json", json, &["\"one\": [", "\"scripts\": {"]);
        let yaml = "jobs:\n  build:\n    if: x\n    steps:\n    - uses: a\n      with: <0\n        key: 1 <1\n    - run: b <2\n";
        check("a.yml", yaml, &["steps:", "with: <0", "steps:"]);
        check("Makefile", "all: one\n\ttouch x <0\n", &["all: one"]);
        let css = "@media print {\n  .card,\n  #a:hover {\n    color: red; <0\n  }\n}\n";
        check("a.css", css, &["#a:hover {"]);
        let toml = "[package]\nname = 1 <0\n[[bin]] # x\nlist = [\n  [1, 2],\n  3, <1\n]\n[a.b] # <2\n";
        check("Cargo.toml", toml, &["[package]", "[[bin]] # x", ""]);
        check("nginx.conf", "server {\n  location / {\n    x; <0\n  }\n}\n", &["location / {"]);
    }

    #[test]
    fn headings() {
        let text = "\
---
title: x
---
Intro <0

# One
```sh
# not a heading <1
```
text <2
## Two
### Three
text <3
## Four <4
Under
=====
text <5
";
        check("a.md", text, &["", "# One", "# One", "### Three", "# One", "Under"]);
        check("a.adoc", "= One\n== Two\ntext <0\n", &["== Two"]);
        let mut sections = Sections::new("a.md", text.as_bytes());
        let mut at = |mark: &str| {
            let at = text.find(mark).unwrap();
            sections.of(at..at + 1, b"")
        };
        assert_eq!(
            [at("<2"), at("<3"), at("<5")].map(Option::unwrap_or_default),
            ["# One", "### Three", "Under"]
        );
    }

    #[test]
    fn what_is_inserted_counts_by_its_own_indentation() {
        let text = b"fn a() {\n    x;\n}\n\nfn b() {}\n";
        let inserted = |at: usize, new: &str| Sections::new("a.rs", text).of(at..at, new.as_bytes());
        assert_eq!(inserted(9, "    y;\n").as_deref(), Some("fn a() {"));
        assert_eq!(inserted(16, "\n    y;\n").as_deref(), Some("fn a() {"));
        assert_eq!(inserted(18, "\nfn c() {\n"), None);
        // Blank lines count by what is below them.
        assert_eq!(inserted(9, "\n\n").as_deref(), Some("fn a() {"));
        assert_eq!(inserted(18, "\n"), None);
        assert_eq!(Sections::new("a.rs", b"").of(0..0, b"  x\n"), None);
        assert_eq!(Sections::new("a.rs", b"").of(0..0, b""), None);
    }

    #[test]
    fn the_way_up_is_bounded() {
        let far = |lines: usize, line: &str| {
            let text = format!("fn a() {{\n{}    end\n}}\n", line.repeat(lines));
            section("a.rs", &text, "    end")
        };
        assert_eq!(far(LIMIT_LINES - 1, "    x;\n"), "fn a() {");
        assert_eq!(far(LIMIT_LINES, "    x;\n"), "");
        assert_eq!(far(1, &format!("    {}\n", "x".repeat(LIMIT_BYTES))), "");
        let text = "fn a() {\n".to_owned() + &"    x;\n".repeat(3_000);
        let mut sections = Sections::new("a.rs", text.as_bytes());
        let at = text.len() - 7;
        let found = (0..50).filter(|_| sections.of(at..at + 7, b"").is_some()).count();
        assert_eq!(found, LIMIT_FILE_LINES / 3_000);
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_sections_of_its_own_lines(
            text in proptest::collection::vec(proptest::sample::select(vec![
                "\n", " ", "\t", "fn ", "{", "}", "(", ")", ":", "=", "=>", "class", "\"", "#", "---", "```", "[", "]",
                "a", "\u{301}", "\r", ";", "do", "@", "pub(", "extern \"", "\0",
            ]), 0..60).prop_map(|parts| parts.concat()),
            path in proptest::sample::select(vec!["a.rs", "a.md", "a.toml", "a.json", "a.css", "a"]),
            at: proptest::sample::Index,
        ) {
            let borders: Vec<usize> = (0..=text.len()).filter(|&at| at == 0 || text.as_bytes()[at - 1] == b'\n').collect();
            let at = borders[at.index(borders.len())];
            if let Some(found) = Sections::new(path, text.as_bytes()).of(at..at, b"   x\n") {
                proptest::prop_assert!(text[..at].lines().any(|line| heading::shown(line.as_bytes()).as_ref() == Some(&found)), "{found:?}");
            }
        }

        #[test]
        fn a_way_that_meets_another_ends_as_if_it_had_not(
            lines in proptest::collection::vec(proptest::sample::select(vec![
                "fn a() {\n", "    let x = 1;\n", "}\n", "{\n", "  b {\n", "    fn c()\n", "    {\n", "        y;\n", "\n", "x:\n",
                "    if z {\n", "# r\n", "  })\n",
            ]), 1..60),
            path in proptest::sample::select(vec!["a.rs", "a.toml", "a.json", "a.css", "a"]),
        ) {
            let text = lines.concat();
            let mut together = Sections::new(path, text.as_bytes());
            let mut at = 0;
            for line in &lines {
                let old = at..at + line.len();
                let alone = Sections::new(path, text.as_bytes()).of(old.clone(), b"");
                proptest::prop_assert_eq!(together.of(old.clone(), b""), alone);
                at = old.end;
            }
        }
    }
}
