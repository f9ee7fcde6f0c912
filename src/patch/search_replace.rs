//! The search-replace dialect: the blocks of aider, Cline and Roo.
//!
//! ```text
//! text    := (block | line)*
//! block   := [name] [fence] search [hints] text* divider text* replace
//! search  := "<"{5,9} " SEARCH" [">"] | "-"{5,9} " SEARCH" [">"]
//! hints   := ":start_line:" number [":end_line:" number] ["-"{5,}]
//! divider := "="{5,9}
//! replace := ">"{5,9} " REPLACE" [">"] | "+"{5,9} " REPLACE" [">"]
//! name    := path | "`" path "`" | "#"+ path | "**" path "**", each also with ":" behind it
//! fence   := ("```" | "~~~") [language] [path] | "<source>" | "<code>" | "<pre>" | …
//! ```
//!
//! The name stands on one of the three lines above, fences and blank lines not counted as names, or behind the fence. A
//! block without one is for the file of the block before. A block is whole lines, of the file as the blocks before it
//! leave it; an empty SEARCH part makes the file, which must be absent or empty.
//!
//! A marker is one of its block if it is as wide as the block's first and indented like it; another width is text, as
//! long as the right one still comes. What can't be told apart is refused, never written into a file: a second divider,
//! a block inside of a block. In text, a backslash before a marker keeps it from being one and is dropped; in a block
//! with `:start_line:` (Roo) also before anything that begins like one.

use crate::report::Code;
use crate::report::Problem;
use crate::text::PathText;
use crate::text::document::UTF8_BOM;

use super::LineKind;
use super::PatchEvent;
use super::event::FileKind;

/// A name stands at most so many lines above its block.
const NAME_LINES: usize = 3;
/// So many bytes of lines are held until the next marker tells what they are; markers of the wrong width make them wait.
const HELD_CAP_BYTES: usize = 4 << 20;
/// So many bytes of a wrong line are quoted in a message.
const QUOTE_CAP_BYTES: usize = 200;
/// Fences beside those of Markdown.
const TAGS: [&[u8]; 5] = [b"source", b"code", b"pre", b"codeblock", b"sourcecode"];

/// Where the path of a block is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Naming {
    /// In the text; a block without a name is malformed.
    #[default]
    InText,
    /// In the text, or later outside of it: a file edit without a name has an empty path.
    InTextOrLater,
    /// Outside of the text: every file edit has an empty path, and names in the text are passed over.
    Elsewhere,
}

/// The state between two lines.
#[derive(Debug, Default)]
pub struct SearchReplace {
    naming: Naming,
    state: State,
    block: Block,
    /// The file of the last block.
    file: Option<PathText>,
    /// Whether an update of that file is open.
    is_open: bool,
    /// The last lines outside of any block.
    recent: Vec<Numbered>,
    /// Lines whose meaning a later marker decides; the first is a marker of another width.
    held: Vec<Numbered>,
    held_bytes: usize,
    /// The first and the last line outside of any block that are neither names nor fences, until they are told.
    outside: Option<(usize, usize)>,
    has_begun: bool,
}

type Numbered = (usize, Vec<u8>);
type Read = Result<(), Box<Problem>>;
type Say<'s> = dyn FnMut(PatchEvent<'_>) + 's;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// Outside of any block.
    #[default]
    Outside,
    /// Between SEARCH and the divider.
    Search,
    /// As before, behind a divider of another width: it is text if the right one comes.
    SearchOrReplace,
    /// Between the divider and REPLACE.
    Replace,
    /// As before, behind a REPLACE of another kind: it is text if the right one comes before the next block.
    ReplaceOrOutside,
}

/// The open block.
#[derive(Debug, Default)]
struct Block {
    line_number: usize,
    marker: Marker,
    indent: usize,
    name: Option<Name>,
    start_line: Option<usize>,
    has_hints: bool,
    /// The SEARCH lines, each with a newline, to be compared with the REPLACE lines.
    old: Vec<u8>,
    /// How much of `old` the REPLACE lines equal so far; `None` once they differ.
    equal_bytes: Option<usize>,
    /// The SEARCH part is empty: the REPLACE lines are a file's content.
    is_content: bool,
}

/// The kind and width of a block's first marker; its last must fit it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Marker {
    is_cline: bool,
    width: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Search(Marker),
    Divider(usize),
    Replace(Marker),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Name {
    path: Vec<u8>,
    /// The line may as well be a sentence.
    is_doubtful: bool,
}

/// Tells whether a line begins a block: what this dialect is known by.
pub fn opens(line: &[u8]) -> bool {
    matches!(sign(line), Some((_, Sign::Search(_))))
}

impl SearchReplace {
    /// Returns a parser whose blocks are named that way.
    pub fn new(naming: Naming) -> Self {
        SearchReplace { naming, ..SearchReplace::default() }
    }

    /// Takes one line without its ending; `line_number` is 1-based.
    ///
    /// # Errors
    /// The line is not part of a well-formed block.
    pub fn line(&mut self, line_number: usize, line: &[u8], say: &mut Say<'_>) -> Read {
        let line = if line_number == 1 { line.strip_prefix(UTF8_BOM).unwrap_or(line) } else { line };
        match self.state {
            State::Outside => self.outside(line_number, line, say),
            State::Search => self.search(line_number, line, say),
            State::SearchOrReplace => self.search_or_replace(line_number, line, say),
            State::Replace => self.replace(line_number, line, say),
            State::ReplaceOrOutside => self.replace_or_outside(line_number, line, say),
        }
    }

    /// Tells whether nothing is open.
    pub fn is_outside(&self) -> bool {
        self.state == State::Outside
    }

    /// Ends the input; `unfinished` is a last line without newline, `lines` how many lines there were.
    ///
    /// # Errors
    /// There is no block, or the last one is cut off.
    pub fn finish(&mut self, unfinished: Option<&Numbered>, lines: usize, say: &mut Say<'_>) -> Read {
        if let Some((line_number, line)) = unfinished {
            let line = super::lines::without_cr(line);
            // Of a line without newline only a closing marker counts: any other could still have grown.
            if self.state == State::Outside || matches!(sign(line), Some((_, Sign::Replace(_)))) {
                self.line(*line_number, line, say)?;
            }
        }
        if self.state == State::ReplaceOrOutside {
            self.close_at_held(say)?;
        }
        if self.state != State::Outside {
            let expected = match self.state {
                State::Search => "'======='",
                _ => "'>>>>>>> REPLACE'",
            };
            let message =
                format!("the block is cut off after line {lines}: expected {expected}, found the end");
            return Err(malformed(lines, message, "send the whole block again"));
        }
        self.recent_is_outside(self.recent.len());
        self.tell_outside(say);
        if !self.has_begun {
            let problem = Problem::new(Code::Malformed, "no block found: there is no line '<<<<<<< SEARCH'");
            return Err(Box::new(problem.with_hint(FORM)));
        }
        self.close_file(say);
        Ok(())
    }

    fn outside(&mut self, line_number: usize, line: &[u8], say: &mut Say<'_>) -> Read {
        match sign(line) {
            Some((indent, Sign::Search(marker))) => {
                self.has_begun = true;
                let name = self.name_above();
                self.tell_outside(say);
                self.block =
                    Block { line_number, marker, indent, name, equal_bytes: Some(0), ..Block::default() };
                self.state = State::Search;
            }
            // What stands above it was meant to be a block: to pass over it would lose an edit.
            Some((_, Sign::Replace(_))) => {
                let message = format!("'{}' ends no block: no SEARCH marker opened one", quoted(line));
                return Err(malformed(line_number, message, FORM));
            }
            Some((_, Sign::Divider(_))) | None => {
                if self.recent.len() == NAME_LINES {
                    self.recent_is_outside(1);
                }
                self.recent.push((line_number, line.to_vec()));
            }
        }
        Ok(())
    }

    /// Takes the block's name out of the lines above it.
    fn name_above(&mut self) -> Option<Name> {
        let mut found = None;
        for (index, (_, line)) in self.recent.iter().enumerate().rev() {
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let name = if is_fence(line) { name_in_fence(line) } else { name_of(line, self.file.is_some()) };
            if let Some(name) = name {
                found = Some((index, name));
                break;
            }
            if !is_fence(line) {
                break;
            }
        }
        if let Some((index, _)) = &found {
            self.recent.remove(*index);
        }
        self.recent_is_outside(self.recent.len());
        found.map(|(_, name)| name).filter(|_| self.naming != Naming::Elsewhere)
    }

    /// The first so many of the recent lines are no names.
    fn recent_is_outside(&mut self, count: usize) {
        for (line_number, line) in self.recent.drain(..count) {
            let line = line.trim_ascii();
            if !line.is_empty() && !is_fence(line) {
                let (from, _) = *self.outside.get_or_insert((line_number, line_number));
                self.outside = Some((from, line_number));
            }
        }
    }

    /// Says once which lines around the blocks were passed over.
    fn tell_outside(&mut self, say: &mut Say<'_>) {
        let Some((from, to)) = self.outside.take() else { return };
        let lines = if from == to { format!("line {from}") } else { format!("lines {from} to {to}") };
        say(PatchEvent::Tolerated {
            note: format!("text outside of the blocks passed over: {lines}"),
            line_number: from,
        });
    }

    fn search(&mut self, line_number: usize, line: &[u8], say: &mut Say<'_>) -> Read {
        if self.block.old.is_empty() && self.block.take_hint(line) {
            return Ok(());
        }
        match self.block.sign(line) {
            Some(Sign::Divider(width)) if width == self.block.marker.width => self.divide(line_number, say),
            Some(Sign::Divider(_)) => {
                self.state = State::SearchOrReplace;
                self.hold(line_number, line)
            }
            Some(Sign::Search(marker)) if marker == self.block.marker => {
                Err(self.block_in_block(line_number))
            }
            Some(Sign::Replace(marker)) if marker == self.block.marker => Err(malformed(
                line_number,
                "the block has no '=======' between SEARCH and REPLACE".to_owned(),
                FORM,
            )),
            _ => self.search_text(line, say),
        }
    }

    fn search_text(&mut self, line: &[u8], say: &mut Say<'_>) -> Read {
        let text = self.block.unescaped(line);
        if self.block.old.is_empty() {
            self.open(FileKind::Update, say)?;
            say(PatchEvent::HunkOpened {
                stated_old_start: self.block.start_line,
                stated_old_lines: None,
                stated_new: None,
                line_number: self.block.line_number,
            });
        }
        say(PatchEvent::Line { kind: LineKind::Delete, text });
        self.block.old.extend_from_slice(text);
        self.block.old.push(b'\n');
        Ok(())
    }

    fn search_or_replace(&mut self, line_number: usize, line: &[u8], say: &mut Say<'_>) -> Read {
        match self.block.sign(line) {
            Some(Sign::Divider(width)) if width == self.block.marker.width => {
                for (_, line) in self.take_held() {
                    self.search_text(&line, say)?;
                }
                self.divide(line_number, say)
            }
            Some(Sign::Search(marker)) if marker == self.block.marker => {
                Err(self.block_in_block(line_number))
            }
            Some(Sign::Replace(marker)) if marker == self.block.marker => {
                let held = self.take_held();
                let dividers =
                    held.iter().filter(|(_, line)| matches!(self.block.sign(line), Some(Sign::Divider(_))));
                if dividers.count() > 1 {
                    return Err(self.two_dividers(line_number));
                }
                self.divide(held[0].0, say)?;
                for (_, line) in &held[1..] {
                    self.replace_text(line, say);
                }
                self.close_block(line_number, say)
            }
            _ => self.hold(line_number, line),
        }
    }

    fn divide(&mut self, line_number: usize, say: &mut Say<'_>) -> Read {
        self.state = State::Replace;
        if self.block.old.is_empty() {
            if self.block.has_hints && self.block.start_line.is_some_and(|line| line > 1) {
                return Err(malformed(
                    line_number,
                    "the SEARCH part is empty, but its block states a line of the file".to_owned(),
                    "put the lines that are to be replaced into the SEARCH part",
                ));
            }
            self.block.is_content = true;
            return self.open(FileKind::Fill, say);
        }
        Ok(())
    }

    fn replace(&mut self, line_number: usize, line: &[u8], say: &mut Say<'_>) -> Read {
        match self.block.sign(line) {
            Some(Sign::Divider(width)) if width == self.block.marker.width => {
                Err(self.two_dividers(line_number))
            }
            Some(Sign::Search(marker)) if marker == self.block.marker => {
                Err(self.block_in_block(line_number))
            }
            Some(Sign::Replace(marker)) if marker == self.block.marker => self.close_block(line_number, say),
            Some(Sign::Replace(_)) => {
                self.state = State::ReplaceOrOutside;
                self.hold(line_number, line)
            }
            _ => {
                self.replace_text(line, say);
                Ok(())
            }
        }
    }

    fn replace_text(&mut self, line: &[u8], say: &mut Say<'_>) {
        let text = self.block.unescaped(line);
        say(PatchEvent::Line { kind: LineKind::Insert, text });
        self.block.compare(text);
    }

    fn replace_or_outside(&mut self, line_number: usize, line: &[u8], say: &mut Say<'_>) -> Read {
        match sign(line) {
            Some((indent, Sign::Replace(marker)))
                if marker == self.block.marker && indent == self.block.indent =>
            {
                for (number, line) in self.take_held() {
                    match self.block.sign(&line) {
                        Some(Sign::Divider(width)) if width == self.block.marker.width => {
                            return Err(self.two_dividers(number));
                        }
                        _ => self.replace_text(&line, say),
                    }
                }
                self.close_block(line_number, say)
            }
            Some((_, Sign::Search(_))) => {
                self.close_at_held(say)?;
                self.outside(line_number, line, say)
            }
            _ => self.hold(line_number, line),
        }
    }

    /// The held marker ended the block; what came behind it stands outside.
    fn close_at_held(&mut self, say: &mut Say<'_>) -> Read {
        let held = self.take_held();
        self.close_block(held[0].0, say)?;
        for (line_number, line) in &held[1..] {
            self.outside(*line_number, line, say)?;
        }
        Ok(())
    }

    fn close_block(&mut self, line_number: usize, say: &mut Say<'_>) -> Read {
        self.state = State::Outside;
        if self.block.is_content {
            say(PatchEvent::FileClosed);
            self.is_open = false;
            return Ok(());
        }
        if self.block.equal_bytes == Some(self.block.old.len()) {
            return Err(malformed(
                line_number,
                "the SEARCH and the REPLACE part are equal".to_owned(),
                "there is nothing to do; if the edit was meant, the REPLACE part has to differ",
            ));
        }
        say(PatchEvent::Narrowed);
        say(PatchEvent::HunkClosed);
        Ok(())
    }

    /// Opens the block's file edit, unless the update of its file is open already.
    fn open(&mut self, kind: FileKind, say: &mut Say<'_>) -> Read {
        let is_doubtful = self.block.name.as_ref().is_some_and(|name| name.is_doubtful);
        let named = self.block.name.take().map(|name| PathText::new(name.path));
        let path = match (named, &self.file) {
            (Some(path), _) => path,
            (None, Some(file)) => file.clone(),
            (None, None) if self.naming != Naming::InText => PathText::new(""),
            (None, None) => {
                let message = "the block names no file".to_owned();
                return Err(malformed(self.block.line_number, message, NAMED));
            }
        };
        if is_doubtful && kind == FileKind::Fill {
            let message = format!("'{}' above the block may be a file or a sentence", path.shown());
            return Err(malformed(self.block.line_number, message, NAMED));
        }
        let is_same = self.is_open && self.file.as_ref() == Some(&path);
        if is_same && kind == FileKind::Update {
            return Ok(());
        }
        self.close_file(say);
        self.is_open = true;
        self.file = Some(path.clone());
        say(PatchEvent::FileOpened { path, kind, line_number: self.block.line_number });
        Ok(())
    }

    fn close_file(&mut self, say: &mut Say<'_>) {
        if std::mem::take(&mut self.is_open) {
            say(PatchEvent::FileClosed);
        }
    }

    fn hold(&mut self, line_number: usize, line: &[u8]) -> Read {
        self.held_bytes += line.len() + 1;
        if self.held_bytes > HELD_CAP_BYTES {
            let from = self.held.first().map_or(line_number, |(number, _)| *number);
            let message = format!("a marker on line {from} is not as wide as its block's first");
            return Err(malformed(from, message, "give all markers of a block the same width"));
        }
        self.held.push((line_number, line.to_vec()));
        Ok(())
    }

    fn take_held(&mut self) -> Vec<Numbered> {
        self.held_bytes = 0;
        std::mem::take(&mut self.held)
    }

    fn two_dividers(&self, line_number: usize) -> Box<Problem> {
        malformed(
            line_number,
            format!(
                "the block of line {} has more than one '=======': which one ends its SEARCH part can't be told",
                self.block.line_number
            ),
            "where the text itself has such a line, give the block's markers another width, from 5 to 9",
        )
    }

    fn block_in_block(&self, line_number: usize) -> Box<Problem> {
        malformed(
            line_number,
            format!("a block begins inside of the block of line {}", self.block.line_number),
            "end each block with '>>>>>>> REPLACE'; where the text itself has such a line, give the markers another width",
        )
    }
}

impl Block {
    /// Returns what the line is if it is a marker and indented as the block's first.
    fn sign(&self, line: &[u8]) -> Option<Sign> {
        sign(line).filter(|(indent, _)| *indent == self.indent).map(|(_, sign)| sign)
    }

    /// Takes a line that says where the block goes, if it is one.
    fn take_hint(&mut self, line: &[u8]) -> bool {
        let line = line.trim_ascii();
        let number = |rest: &[u8]| std::str::from_utf8(rest.trim_ascii()).ok()?.parse::<usize>().ok();
        if let Some(start) = line.strip_prefix(b":start_line:").and_then(number) {
            self.start_line = Some(start.max(1));
            self.has_hints = true;
            return true;
        }
        let is_end = line.strip_prefix(b":end_line:").and_then(number).is_some();
        let is_rule = self.has_hints && line.len() >= 5 && line.iter().all(|&byte| byte == b'-');
        self.has_hints |= is_end;
        is_end || is_rule
    }

    /// Returns the text without the backslash that keeps it from being a marker.
    fn unescaped<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        const BEGINNINGS: [&[u8]; 7] =
            [b"<<<<<<<", b"=======", b">>>>>>>", b"-------", b"+++++++", b":start_line:", b":end_line:"];
        let indent = line.len() - line.trim_ascii_start().len();
        let Some(text) = line.strip_prefix(b"\\").filter(|_| indent == 0) else { return line };
        let begins_like_one =
            self.has_hints && BEGINNINGS.iter().any(|beginning| text.starts_with(beginning));
        if begins_like_one || sign(text).is_some_and(|(indent, _)| indent == 0) { text } else { line }
    }

    fn compare(&mut self, text: &[u8]) {
        self.equal_bytes = self.equal_bytes.and_then(|equal| {
            let rest = self.old[equal..].strip_prefix(text)?;
            rest.starts_with(b"\n").then_some(equal + text.len() + 1)
        });
    }
}

const FORM: &str = "a block is '<<<<<<< SEARCH', the old lines, '=======', the new lines, '>>>>>>> REPLACE'";
const NAMED: &str =
    "write the file's path on the line above the block's fence, in backticks if it has blanks";

/// Reads a marker line: how far it is indented and what it is.
fn sign(line: &[u8]) -> Option<(usize, Sign)> {
    let text = line.trim_ascii_start();
    let indent = line.len() - text.len();
    let &first = text.first()?;
    let width = text.iter().take_while(|&&byte| byte == first).count();
    if !(5..=9).contains(&width) {
        return None;
    }
    let rest = text[width..].trim_ascii_end();
    let is_word = |word: &[u8]| rest.strip_suffix(b">").unwrap_or(rest) == word;
    let sign = match first {
        b'<' if is_word(b" SEARCH") => Sign::Search(Marker { is_cline: false, width }),
        b'-' if is_word(b" SEARCH") => Sign::Search(Marker { is_cline: true, width }),
        b'=' if rest.is_empty() => Sign::Divider(width),
        b'>' if is_word(b" REPLACE") => Sign::Replace(Marker { is_cline: false, width }),
        b'+' if is_word(b" REPLACE") => Sign::Replace(Marker { is_cline: true, width }),
        _ => return None,
    };
    Some((indent, sign))
}

/// Tells whether a trimmed line is a fence.
fn is_fence(line: &[u8]) -> bool {
    let tag = line.strip_prefix(b"<").and_then(|rest| rest.strip_suffix(b">"));
    let tag = tag.map(|tag| tag.strip_prefix(b"/").unwrap_or(tag));
    // A name in three backticks is one all the same: a fence has none at its end.
    let is_markdown = line.starts_with(b"~~~") || line.starts_with(b"```");
    is_markdown || tag.is_some_and(|tag| TAGS.contains(&tag))
}

/// Reads the name that stands behind a fence, if one does.
fn name_in_fence(line: &[u8]) -> Option<Name> {
    let info = line.trim_ascii_start();
    let info = &info[info.iter().take_while(|&&byte| byte == b'`' || byte == b'~').count()..];
    let last =
        info.trim_ascii().rsplit(|&byte| byte == b' ' || byte == b'`').find(|word| !word.is_empty())?;
    // `title="src/a.py"` and `python:src/a.py` are written too.
    let last = last.rsplit(|&byte| byte == b'=').next().unwrap_or(last);
    let last = last.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(last);
    let language = |word: &[u8]| word.iter().all(u8::is_ascii_alphanumeric);
    let path = match last.iter().position(|&byte| byte == b':') {
        Some(colon) if language(&last[..colon]) && colon > 1 => &last[colon + 1..],
        _ => last,
    };
    has_shape_of_path(path).then(|| Name { path: path.to_vec(), is_doubtful: false })
}

/// Reads a trimmed line as a name; `has_file` tells whether the block could go without one.
fn name_of(line: &[u8], has_file: bool) -> Option<Name> {
    let listed = line.strip_prefix(b"- ").or_else(|| line.strip_prefix(b"* "));
    let mut name = listed.unwrap_or(line).trim_ascii();
    let mut is_quoted = false;
    // Each mark may stand around the others: `### **`a.py`**:`.
    loop {
        let before = name.len();
        name = name.strip_suffix(b":").unwrap_or(name).trim_ascii();
        while let Some(rest) = name.strip_prefix(b"#") {
            name = rest;
        }
        name = name.trim_ascii();
        for mark in [&b"`"[..], b"**"] {
            let inner = name.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
            if let Some(inner) = inner.filter(|inner| !inner.is_empty()) {
                is_quoted |= mark == b"`";
                name = inner;
            }
        }
        if name.len() == before {
            break;
        }
    }
    let says_something = name.iter().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
    if !says_something || name.contains(&b'`') {
        return None;
    }
    let is_one_word = !name.iter().any(u8::is_ascii_whitespace);
    let is_sure = is_quoted || (is_one_word && has_shape_of_path(name));
    // One bare word is a name; with a mark around it, it may be a heading such as "Then:".
    let is_word = is_one_word && !ends_a_sentence(name) && (!has_file || name == line);
    let is_doubtful = !is_one_word && !has_file && has_extension(name);
    (is_sure || is_word || is_doubtful)
        .then(|| Name { path: name.to_vec(), is_doubtful: !is_sure && !is_word })
}

fn has_shape_of_path(word: &[u8]) -> bool {
    !ends_a_sentence(word)
        && (word.contains(&b'/')
            || word.iter().skip(1).any(|&byte| byte == b'.')
            || word.first() == Some(&b'.'))
}

fn ends_a_sentence(word: &[u8]) -> bool {
    matches!(word.last(), Some(b'.' | b'!' | b'?' | b',' | b';' | b':' | b')'))
}

fn has_extension(name: &[u8]) -> bool {
    let last = name.rsplit(|&byte| byte == b'/' || byte == b' ').next().unwrap_or(name);
    let dot = last.iter().rposition(|&byte| byte == b'.');
    dot.is_some_and(|dot| dot + 1 < last.len() && last[dot + 1..].iter().all(u8::is_ascii_alphanumeric))
}

fn malformed(line_number: usize, message: String, hint: &str) -> Box<Problem> {
    Box::new(Problem {
        line: Some(line_number),
        hint: Some(hint.to_owned()),
        ..Problem::new(Code::Malformed, message)
    })
}

fn quoted(line: &[u8]) -> String {
    let cut = line.len().min(QUOTE_CAP_BYTES);
    let mark = if cut < line.len() { "…" } else { "" };
    format!("{}{mark}", String::from_utf8_lossy(&line[..cut]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::patch::Body;
    use crate::patch::Dialect;
    use crate::patch::Hunk;
    use crate::patch::Parser;
    use crate::patch::parse;

    /// What the parser says, one line an event.
    fn said(chunks: &[&[u8]]) -> Vec<String> {
        let mut parser = Parser::new(Dialect::SearchReplace);
        let mut said = Vec::new();
        let mut say = |event: PatchEvent<'_>| {
            said.push(match event {
                PatchEvent::FileOpened { path, kind, line_number } => {
                    format!("{line_number} {kind:?} {}", path.shown())
                }
                PatchEvent::HunkOpened { stated_old_start: None, line_number, .. } => {
                    format!("{line_number} hunk")
                }
                PatchEvent::HunkOpened { stated_old_start: Some(start), line_number, .. } => {
                    format!("{line_number} hunk at {start}")
                }
                PatchEvent::Line { kind, text } => {
                    format!("{}{}", kind.sign(), String::from_utf8_lossy(text))
                }
                PatchEvent::HunkClosed => "hunk closed".to_owned(),
                PatchEvent::FileClosed => "closed".to_owned(),
                PatchEvent::Tolerated { note, .. } => note,
                PatchEvent::Malformed(problem) => {
                    format!("{:?} malformed: {}", problem.line, problem.message)
                }
                other => format!("{other:?}"),
            });
        };
        for chunk in chunks {
            parser.push(chunk, &mut say);
        }
        parser.finish(&mut say);
        said
    }

    /// Checks the events of a text, and that every cut in two, and single bytes, give the same.
    fn check(text: &str, expected: &[&str]) {
        let whole = said(&[text.as_bytes()]);
        assert_eq!(whole, expected, "{text}");
        for cut in 0..text.len() {
            let (head, tail) = text.as_bytes().split_at(cut);
            assert_eq!(said(&[head, tail]), whole, "cut at {cut} of {text}");
        }
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(said(&bytes), whole, "byte by byte: {text}");
    }

    const BLOCK: &str = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";

    /// Checks which file a block below these lines is for.
    fn check_name(above: &str, expected: Result<&str, &str>) {
        let parsed = parse(format!("{above}{BLOCK}").as_bytes(), Dialect::SearchReplace);
        let path = match &parsed.malformed {
            None => Ok(parsed.patch.edits.last().unwrap().path.shown().into_owned()),
            Some(problem) => Err(problem.message.clone()),
        };
        assert_eq!(path.as_deref().map_err(String::as_str), expected, "{above}");
    }

    #[test]
    fn blocks_of_one_file_are_one_edit() {
        check(
            "I change it:\n\na.py\n```python\n<<<<<<< SEARCH\none\ntwo\n=======\none\n2\n>>>>>>> REPLACE\n```\n\
             and then\n```python\n<<<<<<< SEARCH\nx\n=======\n>>>>>>> REPLACE\n```\nb.py\n~~~\n<<<<<<< SEARCH\r\ny\r\n\
             =======\r\nz\r\n>>>>>>> REPLACE\r\n~~~\nDone.",
            &[
                "text outside of the blocks passed over: line 1",
                "5 Update a.py",
                "5 hunk",
                "-one",
                "-two",
                "+one",
                "+2",
                "Narrowed",
                "hunk closed",
                "text outside of the blocks passed over: line 13",
                "15 hunk",
                "-x",
                "Narrowed",
                "hunk closed",
                "closed",
                "22 Update b.py",
                "22 hunk",
                "-y",
                "+z",
                "Narrowed",
                "hunk closed",
                "text outside of the blocks passed over: line 28",
                "closed",
            ],
        );
    }

    #[test]
    fn an_empty_search_part_makes_the_file() {
        check(
            "new.txt\n<<<<<<< SEARCH\n=======\nx\n\n>>>>>>> REPLACE\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE",
            &[
                "2 Fill new.txt",
                "+x",
                "+",
                "closed",
                "7 Update new.txt",
                "7 hunk",
                "-x",
                "+y",
                "Narrowed",
                "hunk closed",
                "closed",
            ],
        );
    }

    #[test]
    fn the_markers_of_cline_and_roo_are_read() {
        check(
            "a\n------- SEARCH\nx\n=======\ny\n+++++++ REPLACE\n",
            &["2 Update a", "2 hunk", "-x", "+y", "Narrowed", "hunk closed", "closed"],
        );
        check(
            "a\n<<<<<<< SEARCH>\n:start_line:7\n:end_line:9\n-------\n\\=======\n\\<<<<<<< HEAD\n\\x\n=======\n\
             \\>>>>>>> main\n>>>>>>> REPLACE\n",
            &[
                "2 Update a",
                "2 hunk at 7",
                "-=======",
                "-<<<<<<< HEAD",
                "-\\x",
                "+>>>>>>> main",
                "Narrowed",
                "hunk closed",
                "closed",
            ],
        );
    }

    #[test]
    fn markers_of_another_width_are_text_where_the_right_ones_come() {
        check(
            "a\n<<<<<<< SEARCH\nTitle\n=====\n=======\nHead\n====\n>>>>> REPLACE\n>>>>>>> REPLACE\n",
            &[
                "2 Update a",
                "2 hunk",
                "-Title",
                "-=====",
                "+Head",
                "+====",
                "+>>>>> REPLACE",
                "Narrowed",
                "hunk closed",
                "closed",
            ],
        );
        check(
            "a\n<<<<<<< SEARCH\nx\n======\ny\n>>>>>>> REPLACE\n",
            &["2 Update a", "2 hunk", "-x", "+y", "Narrowed", "hunk closed", "closed"],
        );
        check(
            "a\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>> REPLACE\n```\nb\n<<<<<<< SEARCH\nz\n=======\n>>>>>> REPLACE\n",
            &[
                "2 Update a",
                "2 hunk",
                "-x",
                "+y",
                "Narrowed",
                "hunk closed",
                "closed",
                "9 Update b",
                "9 hunk",
                "-z",
                "Narrowed",
                "hunk closed",
                "closed",
            ],
        );
    }

    #[test]
    fn names_are_found_in_all_their_forms() {
        for above in [
            "src/a.py\n",
            "src/a.py:\n```\n",
            "`src/a.py`\n```python\n",
            "### `src/a.py`:\n\n````\n",
            "# src/a.py\n<source>\n",
            "**src/a.py**\n```\n",
            "**`src/a.py`**:\n```\n",
            "- src/a.py\n```\n",
            "Some words.\n```src/a.py\n",
            "```python src/a.py\n",
            "```python:src/a.py\n",
            "```python title=\"src/a.py\"\n",
        ] {
            check_name(above, Ok("src/a.py"));
        }
        check_name("Makefile\n```\n", Ok("Makefile"));
        check_name("`my file.txt`\n```\n", Ok("my file.txt"));
        check_name("my file.txt\n", Ok("my file.txt"));
        let first = format!("a.py\n{BLOCK}");
        check_name(&format!("{first}\nThen:\n```\n"), Ok("a.py"));
        check_name(&format!("{first}\nThe same in b.py\n```\n"), Ok("a.py"));
        check_name(&format!("{first}\nMakefile\n```\n"), Ok("Makefile"));
        check_name("", Err("the block names no file"));
        check_name("Here it is.\n```python\n", Err("the block names no file"));
        check_name("a.py\n\n\n\n", Err("the block names no file"));
        check_name("---\n", Err("the block names no file"));
        let text = "Put this in a.py\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n";
        let problem = parse(text.as_bytes(), Dialect::SearchReplace).malformed.unwrap();
        assert!(problem.message.contains("may be a file or a sentence"), "{}", problem.message);
    }

    #[test]
    fn equal_lines_at_both_ends_become_context() {
        let text = "a\n<<<<<<< SEARCH\nh\nx\nm\ny\nt\n=======\nh\nX\nm\nt\n>>>>>>> REPLACE\n";
        let parsed = parse(text.as_bytes(), Dialect::SearchReplace);
        let Body::Hunks(hunks) = &parsed.patch.edits[0].body else { panic!("no hunks") };
        let Hunk::Lines(hunk) = &hunks[0] else { panic!("no lines") };
        let lines: Vec<String> = hunk
            .lines()
            .map(|line| format!("{}{}", line.kind.sign(), String::from_utf8_lossy(line.text)))
            .collect();
        assert_eq!(lines, [" h", "-x", "-m", "-y", "+X", "+m", " t"]);
    }

    /// Checks which line is called malformed, and that the message holds a text.
    fn check_malformed(text: &str, line_number: usize, words: &str) {
        let problem = parse(text.as_bytes(), Dialect::SearchReplace).malformed.expect(text);
        assert_eq!(
            (problem.code, problem.line),
            (Code::Malformed, Some(line_number)),
            "{text}: {}",
            problem.message
        );
        assert!(problem.message.contains(words), "{text}: {}", problem.message);
        assert!(problem.hint.is_some(), "{text}");
    }

    #[test]
    fn what_is_malformed_says_line_and_reason() {
        let head = "a\n<<<<<<< SEARCH\n";
        check_malformed(&format!("{head}x\n=======\ny\n=======\nz\n>>>>>>> REPLACE\n"), 6, "more than one");
        check_malformed(&format!("{head}x\n======\ny\n=====\nz\n>>>>>>> REPLACE\n"), 8, "more than one");
        check_malformed(&format!("{head}x\n>>>>>>> REPLACE\n"), 4, "no '======='");
        check_malformed(
            &format!("{head}x\n=======\ny\n<<<<<<< SEARCH\n"),
            6,
            "inside of the block of line 2",
        );
        check_malformed(&format!("{head}x\n<<<<<<< SEARCH\n"), 4, "inside of the block of line 2");
        check_malformed(&format!("{head}x\n=======\nx\n>>>>>>> REPLACE\n"), 6, "are equal");
        check_malformed(&format!("{head}x\n=======\ny\n```\n"), 6, "cut off after line 6");
        check_malformed(&format!("{head}x\n"), 3, "expected '======='");
        check_malformed("a\n<<<<<<< ORIGINAL\nx\n=======\ny\n>>>>>>> REPLACE\n", 6, "ends no block");
        check_malformed(&format!("{head}:start_line:3\n=======\ny\n>>>>>>> REPLACE\n"), 4, "states a line");
        assert!(parse(b"I changed it.\n", Dialect::SearchReplace).malformed.is_some());
    }

    #[test]
    fn lines_wait_only_up_to_a_cap() {
        let text = format!("a\n<<<<<<< SEARCH\nx\n=====\n{}", "y\n".repeat(HELD_CAP_BYTES / 2));
        let problem = parse(text.as_bytes(), Dialect::SearchReplace).malformed.unwrap();
        assert_eq!(problem.line, Some(4));
    }

    #[test]
    fn the_dialect_is_told_by_its_first_marker() {
        let auto = parse(format!("Words.\na\n```\n{BLOCK}").as_bytes(), Dialect::Auto);
        assert_eq!(auto, parse(format!("Words.\na\n```\n{BLOCK}").as_bytes(), Dialect::SearchReplace));
        let patch = "Words.\n*** Begin Patch\n*** Add File: a\n+<<<<<<< SEARCH\n*** End Patch\n";
        assert_eq!(parse(patch.as_bytes(), Dialect::Auto), parse(patch.as_bytes(), Dialect::ApplyPatch));
    }

    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("<<<<<<< SEARCH".to_owned()),
            Just("=======".to_owned()),
            Just(">>>>>>> REPLACE".to_owned()),
            Just("------- SEARCH".to_owned()),
            Just("+++++++ REPLACE".to_owned()),
            Just("======".to_owned()),
            Just(">>>>> REPLACE".to_owned()),
            Just(":start_line:3".to_owned()),
            Just("-------".to_owned()),
            Just("```".to_owned()),
            Just("a.py".to_owned()),
            Just(String::new()),
            "[\\\\a-c=`]{0,8}\r?",
        ]
    }

    proptest! {
        #[test]
        fn how_input_is_cut_never_changes_what_is_said(
            lines in prop::collection::vec(line(), 0..24), cut in 0usize..300, final_newline: bool,
        ) {
            let mut text = format!("`f`\n{}", lines.join("\n"));
            if final_newline {
                text.push('\n');
            }
            let cut = cut.min(text.len());
            let whole = said(&[text.as_bytes()]);
            prop_assert_eq!(said(&[&text.as_bytes()[..cut], &text.as_bytes()[cut..]]), whole.clone());
            prop_assert_eq!(said(&text.as_bytes().chunks(1).collect::<Vec<_>>()), whole);
        }

        #[test]
        fn a_block_says_its_lines(
            old in prop::collection::vec("[ab=<>-]{0,4}", 1..6), new in prop::collection::vec("[ab=<>-]{0,4}", 0..6),
        ) {
            prop_assume!(old != new);
            let lines = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
            let text = format!("f\n<<<<<<< SEARCH\n{}=======\n{}>>>>>>> REPLACE\n", lines(&old), lines(&new));
            let parsed = parse(text.as_bytes(), Dialect::SearchReplace);
            prop_assert_eq!(parsed.malformed, None);
            let Body::Hunks(hunks) = &parsed.patch.edits[0].body else { panic!("no hunks") };
            let Hunk::Lines(hunk) = &hunks[0] else { panic!("no lines") };
            let side = |other: LineKind| {
                let lines = hunk.lines().filter(|line| line.kind != other);
                lines.map(|line| String::from_utf8_lossy(line.text).into_owned()).collect::<Vec<_>>()
            };
            prop_assert_eq!(side(LineKind::Insert), old);
            prop_assert_eq!(side(LineKind::Delete), new);
        }

        #[test]
        fn no_input_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            said(&[b"<<<<<<< SEARCH\n", &bytes]);
        }
    }
}
