//! The apply_patch dialect: Codex's envelope.
//!
//! ```text
//! patch  := "*** Begin Patch" ["*** Environment ID:" id] edit* "*** End Patch"
//! edit   := "*** Add File: " path ("+" text)*
//!         | "*** Delete File: " path
//!         | "*** Update File: " path ["*** Move to: " path] hunk*
//! hunk   := (["@@" | "@@ " anchor])* (" " text | "-" text | "+" text | "")+ ["*** End of File"]
//! ```
//!
//! A line ends in LF or CRLF. A path is what follows its marker, without the blanks at its end. Update needs a hunk or
//! a move. Inside an update a marker begins in the first column: with a blank before it, it is a context line.
//!
//! Tolerated, because models write it: text and fences around the envelope, a heredoc around it, a byte order mark,
//! blanks around markers, `*** Begin Patch ***`, blank lines between edits, `@@ -a,b +c,d @@` as a hunk's start, and
//! git's `\ No newline at end of file`. Not tolerated: a line without its sign, an unknown marker, a missing end.

use crate::report::Code;
use crate::report::Problem;
use crate::text::PathText;
use crate::text::document::UTF8_BOM;

use super::LineKind;
use super::PatchEvent;
use super::event::FileKind;

const BEGIN: &[u8] = b"*** Begin Patch";
const END: &[u8] = b"*** End Patch";
const END_OF_FILE: &[u8] = b"*** End of File";
const ENVIRONMENT: &[u8] = b"*** Environment ID:";
const MOVE_TO: &[u8] = b"*** Move to:";
const HEADERS: [(&[u8], FileKind); 3] = [
    (b"*** Add File:", FileKind::Create),
    (b"*** Delete File:", FileKind::Delete),
    (b"*** Update File:", FileKind::Update),
];
const HEADER_FORMS: &str = "'*** Add File: PATH', '*** Delete File: PATH' or '*** Update File: PATH'";
/// So many bytes of a wrong line are quoted in a message.
const QUOTE_CAP_BYTES: usize = 200;

/// The state between two lines.
#[derive(Debug, Default)]
pub struct ApplyPatch {
    state: State,
    /// Blank lines that may be context or nothing; the next line tells.
    held_blanks: usize,
    /// An indented end marker inside an update: a context line if a line of the hunk follows, else the end.
    held_end: Option<Vec<u8>>,
    /// The first line of text outside of any envelope, until it is told.
    outside_from: Option<usize>,
    has_begun: bool,
    /// What was told already: one note of a kind is enough.
    told: Vec<Leniency>,
}

/// What is tolerated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leniency {
    ByteOrderMark,
    Marker,
    Environment,
    BlankLine,
    UnifiedHeader,
    NoNewline,
}

impl Leniency {
    fn note(self) -> &'static str {
        match self {
            Leniency::ByteOrderMark => "a byte order mark before the patch passed over",
            Leniency::Marker => "stars behind a marker passed over",
            Leniency::Environment => "'*** Environment ID:' passed over",
            Leniency::BlankLine => "a blank line between file edits passed over",
            Leniency::UnifiedHeader => "a unified hunk header taken for '@@', its line number for a hint",
            Leniency::NoNewline => "'\\ No newline at end of file' taken as in a unified diff",
        }
    }
}

#[derive(Debug, Clone, Default)]
enum State {
    /// Outside of the envelope, before or after it.
    #[default]
    Outside,
    /// Inside, where a header is due.
    Header,
    /// Inside an Add.
    Add,
    /// Inside an Update.
    Update(Update),
}

#[derive(Debug, Clone, Copy)]
struct Update {
    header_line: usize,
    is_moved: bool,
    hunk: HunkState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HunkState {
    /// No hunk yet.
    None,
    /// Begun on this line, without a line so far.
    Empty(usize),
    /// Has lines.
    Open,
    /// Its end-of-file mark was read.
    Ended,
}

type Read = Result<(), Box<Problem>>;
type Say<'s> = dyn FnMut(PatchEvent<'_>) + 's;

/// Tells whether a line begins a patch of this dialect, or one that lacks its beginning.
pub fn opens(line: &[u8]) -> bool {
    let line = line.strip_prefix(UTF8_BOM).unwrap_or(line).trim_ascii();
    is_marker(line, BEGIN) || header(line).is_some()
}

impl ApplyPatch {
    /// Takes one line without its ending; `line_number` is 1-based.
    ///
    /// # Errors
    /// The line is not part of a well-formed patch.
    pub fn line(&mut self, line_number: usize, line: &[u8], say: &mut Say<'_>) -> Read {
        let line = match line.strip_prefix(UTF8_BOM).filter(|_| line_number == 1) {
            Some(rest) => {
                self.tolerate(Leniency::ByteOrderMark, line_number, say);
                rest
            }
            None => line,
        };
        match self.state {
            State::Outside => self.outside(line_number, line, say),
            State::Header => self.header(line_number, line, say),
            State::Add => self.add(line_number, line, say),
            State::Update(update) => self.update(line_number, line, update, say),
        }
    }

    /// Tells whether nothing is open.
    pub fn is_outside(&self) -> bool {
        matches!(self.state, State::Outside)
    }

    /// Ends the input; `unfinished` is a last line without newline, `lines` how many lines there were.
    ///
    /// # Errors
    /// There is no patch, or it is cut off.
    pub fn finish(&mut self, unfinished: Option<&(usize, Vec<u8>)>, lines: usize, say: &mut Say<'_>) -> Read {
        if let Some((line_number, line)) = unfinished {
            let line = super::lines::without_cr(line);
            // Of a line without newline only markers count: any other could still have grown.
            if is_marker(line.trim_ascii(), END) || matches!(self.state, State::Outside) {
                self.line(*line_number, line, say)?;
            }
        }
        if self.held_end.is_some() {
            self.end_patch(lines, say)?;
        }
        self.tell_outside(lines + 1, say);
        match self.state {
            State::Outside if self.has_begun => Ok(()),
            State::Outside => {
                let problem =
                    Problem::new(Code::Malformed, "no patch found: there is no line '*** Begin Patch'");
                Err(Box::new(
                    problem.with_hint("a patch begins with '*** Begin Patch' and ends with '*** End Patch'"),
                ))
            }
            State::Header | State::Add | State::Update(_) => {
                let message = format!(
                    "the patch is cut off after line {lines}: expected '*** End Patch', found the end"
                );
                Err(Box::new(Problem {
                    line: Some(lines),
                    hint: Some(
                        "send the whole patch again, with '*** End Patch' as its last line".to_owned(),
                    ),
                    ..Problem::new(Code::Malformed, message)
                }))
            }
        }
    }

    fn tolerate(&mut self, leniency: Leniency, line_number: usize, say: &mut Say<'_>) {
        if !self.told.contains(&leniency) {
            self.told.push(leniency);
            say(PatchEvent::Tolerated { note: leniency.note().to_owned(), line_number });
        }
    }

    fn outside(&mut self, line_number: usize, line: &[u8], say: &mut Say<'_>) -> Read {
        let trimmed = line.trim_ascii();
        if is_marker(trimmed, BEGIN) {
            self.tell_outside(line_number, say);
            if trimmed != BEGIN {
                self.tolerate(Leniency::Marker, line_number, say);
            }
            self.has_begun = true;
            self.state = State::Header;
            return Ok(());
        }
        if header(trimmed).is_some() {
            return Err(malformed(
                line_number,
                format!(
                    "expected '*** Begin Patch' before the first file header, found '{}'",
                    quoted(trimmed)
                ),
                "put '*** Begin Patch' on a line of its own before it",
            ));
        }
        let is_second_end = self.has_begun && is_marker(trimmed, END);
        if !trimmed.is_empty() && !is_second_end {
            self.outside_from.get_or_insert(line_number);
        }
        Ok(())
    }

    /// Says once which lines around the envelope were passed over.
    fn tell_outside(&mut self, before_line: usize, say: &mut Say<'_>) {
        let Some(from) = self.outside_from.take() else { return };
        let to = before_line - 1;
        let lines = if from == to { format!("line {from}") } else { format!("lines {from} to {to}") };
        say(PatchEvent::Tolerated {
            note: format!("text outside of the patch passed over: {lines}"),
            line_number: from,
        });
    }

    fn header(&mut self, line_number: usize, line: &[u8], say: &mut Say<'_>) -> Read {
        let trimmed = line.trim_ascii();
        if trimmed.is_empty() || trimmed.starts_with(ENVIRONMENT) {
            let leniency = if trimmed.is_empty() { Leniency::BlankLine } else { Leniency::Environment };
            self.tolerate(leniency, line_number, say);
            return Ok(());
        }
        if is_marker(trimmed, END) {
            return self.end_patch(line_number, say);
        }
        match header(trimmed) {
            Some((kind, path)) => self.open_file(line_number, kind, path, say),
            None => Err(malformed(
                line_number,
                format!("expected a file header or '*** End Patch', found '{}'", quoted(line)),
                format!("a file header is {HEADER_FORMS}"),
            )),
        }
    }

    fn open_file(&mut self, line_number: usize, kind: FileKind, path: &[u8], say: &mut Say<'_>) -> Read {
        self.close_file(line_number, say)?;
        if path.is_empty() {
            return Err(malformed(
                line_number,
                "the file header names no path".to_owned(),
                format!("write {HEADER_FORMS}"),
            ));
        }
        say(PatchEvent::FileOpened { path: PathText::new(path), kind, line_number });
        self.state = match kind {
            FileKind::Create | FileKind::Fill | FileKind::Write => State::Add,
            FileKind::Update => {
                State::Update(Update { header_line: line_number, is_moved: false, hunk: HunkState::None })
            }
            FileKind::Delete => {
                say(PatchEvent::FileClosed);
                State::Header
            }
        };
        Ok(())
    }

    /// Closes the open file edit, if there is one; blank lines that were held back were none of its own.
    fn close_file(&mut self, line_number: usize, say: &mut Say<'_>) -> Read {
        self.held_blanks = 0;
        match self.state {
            State::Outside | State::Header => return Ok(()),
            State::Add => {}
            State::Update(update) => {
                close_hunk(update.hunk, say)?;
                if update.hunk == HunkState::None && !update.is_moved {
                    return Err(malformed(
                        update.header_line,
                        format!("the update has neither a hunk nor '*** Move to:' before line {line_number}"),
                        "write a hunk: '@@', then lines that start with ' ', '-' or '+'",
                    ));
                }
            }
        }
        say(PatchEvent::FileClosed);
        self.state = State::Header;
        Ok(())
    }

    fn end_patch(&mut self, line_number: usize, say: &mut Say<'_>) -> Read {
        self.held_end = None;
        self.close_file(line_number, say)?;
        self.state = State::Outside;
        Ok(())
    }

    fn add(&mut self, line_number: usize, line: &[u8], say: &mut Say<'_>) -> Read {
        let trimmed = line.trim_ascii();
        if let Some(text) = line.strip_prefix(b"+") {
            if self.held_blanks > 0 {
                return Err(malformed(
                    line_number - 1,
                    "expected a line that starts with '+', found an empty line".to_owned(),
                    "an empty line of the new file is written as '+'",
                ));
            }
            say(PatchEvent::Line { kind: LineKind::Insert, text });
        } else if trimmed.is_empty() {
            self.held_blanks += 1;
        } else if is_no_newline(line) {
            self.tolerate(Leniency::NoNewline, line_number, say);
            say(PatchEvent::NoNewline);
        } else if is_marker(trimmed, END) {
            return self.end_patch(line_number, say);
        } else if let Some((kind, path)) = header(trimmed) {
            return self.open_file(line_number, kind, path, say);
        } else {
            return Err(malformed(
                line_number,
                format!("expected a line that starts with '+', found '{}'", quoted(line)),
                "every line of an added file starts with '+', an empty one too",
            ));
        }
        Ok(())
    }

    fn update(&mut self, line_number: usize, line: &[u8], update: Update, say: &mut Say<'_>) -> Read {
        if let Some(end) = self.held_end.take() {
            if !line.trim_ascii().is_empty() && !is_part_of_update(line) {
                self.end_patch(line_number, say)?;
                return self.line(line_number, line, say);
            }
            self.held_end = Some(end);
        }
        if line.is_empty() {
            self.held_blanks += 1;
            return Ok(());
        }
        let trimmed = line.trim_ascii_end();
        match line[0] {
            b'*' => self.update_marker(line_number, trimmed, update, say),
            b'@' => self.hunk_header(line_number, trimmed, update, say),
            b' ' if is_marker(trimmed.trim_ascii_start(), END) && update.hunk == HunkState::Open => {
                self.flush_held(say);
                self.held_end = Some(line.to_vec());
                Ok(())
            }
            b' ' | b'-' | b'+' => self.hunk_line(line_number, line, update, say),
            b'\\' if is_no_newline(line) => {
                self.tolerate(Leniency::NoNewline, line_number, say);
                say(PatchEvent::NoNewline);
                Ok(())
            }
            _ if trimmed.is_empty() => {
                self.held_blanks += 1;
                Ok(())
            }
            _ => Err(malformed(
                line_number,
                format!("expected a line that starts with ' ', '-' or '+', found '{}'", quoted(line)),
                "every line of a hunk starts with ' ' (context), '-' (removed) or '+' (added)",
            )),
        }
    }

    fn update_marker(
        &mut self,
        line_number: usize,
        line: &[u8],
        mut update: Update,
        say: &mut Say<'_>,
    ) -> Read {
        if is_marker(line, END) {
            self.flush_held_end(say);
            return self.end_patch(line_number, say);
        }
        if line == END_OF_FILE {
            self.flush_held_end(say);
            self.held_blanks = 0;
            if update.hunk != HunkState::Open {
                return Err(malformed(
                    line_number,
                    "'*** End of File' stands in no hunk".to_owned(),
                    "put it after the last line of a hunk",
                ));
            }
            say(PatchEvent::EndOfFile);
            update.hunk = HunkState::Ended;
            self.state = State::Update(update);
            return Ok(());
        }
        if let Some(path) = line.strip_prefix(MOVE_TO) {
            return self.move_to(line_number, path.trim_ascii(), update, say);
        }
        if let Some((kind, path)) = header(line) {
            self.flush_held_end(say);
            return self.open_file(line_number, kind, path, say);
        }
        Err(malformed(
            line_number,
            format!("unknown marker '{}'", quoted(line)),
            format!("after a hunk comes '@@', '*** End of File', '*** End Patch', {HEADER_FORMS}"),
        ))
    }

    fn move_to(&mut self, line_number: usize, path: &[u8], mut update: Update, say: &mut Say<'_>) -> Read {
        if update.is_moved || update.hunk != HunkState::None {
            return Err(malformed(
                line_number,
                "'*** Move to:' does not follow its '*** Update File:' line".to_owned(),
                "write one '*** Move to: PATH' directly after '*** Update File: PATH'",
            ));
        }
        if path.is_empty() {
            return Err(malformed(
                line_number,
                "'*** Move to:' names no path".to_owned(),
                "write '*** Move to: PATH'",
            ));
        }
        update.is_moved = true;
        self.held_blanks = 0;
        self.state = State::Update(update);
        say(PatchEvent::MovedTo { path: PathText::new(path), is_copy: false });
        Ok(())
    }

    fn hunk_header(
        &mut self,
        line_number: usize,
        line: &[u8],
        mut update: Update,
        say: &mut Say<'_>,
    ) -> Read {
        let Some(anchor) = line.strip_prefix(b"@@").filter(|rest| rest.is_empty() || rest[0] == b' ') else {
            return Err(malformed(
                line_number,
                format!("expected '@@' or '@@ ' and a line of the file, found '{}'", quoted(line)),
                "put a blank after '@@'",
            ));
        };
        self.flush_held_end(say);
        self.held_blanks = 0;
        let numbers = numbers(line);
        if numbers.is_some() {
            self.tolerate(Leniency::UnifiedHeader, line_number, say);
        }
        // Anchors on lines that follow each other belong to one hunk: class, then method.
        if !matches!(update.hunk, HunkState::Empty(_)) {
            close_hunk(update.hunk, say)?;
            update.hunk = HunkState::Empty(line_number);
            self.state = State::Update(update);
            say(PatchEvent::HunkOpened {
                stated_old_start: numbers.map(|(start, _)| start),
                stated_old_lines: numbers.map(|(_, lines)| lines),
                stated_new: None,
                line_number,
            });
        }
        let anchor = anchor.get(1..).unwrap_or_default();
        let anchor = anchor.strip_suffix(b" @@").unwrap_or(anchor).trim_ascii_end();
        if numbers.is_none() && !anchor.trim_ascii().is_empty() {
            say(PatchEvent::Anchor { text: anchor });
        }
        Ok(())
    }

    fn hunk_line(&mut self, line_number: usize, line: &[u8], mut update: Update, say: &mut Say<'_>) -> Read {
        if update.hunk == HunkState::Ended {
            if line.trim_ascii().is_empty() {
                return Ok(());
            }
            return Err(malformed(
                line_number,
                format!("expected '@@' or a file header after '*** End of File', found '{}'", quoted(line)),
                "'*** End of File' stands after the last line of its hunk",
            ));
        }
        if update.hunk == HunkState::None {
            say(PatchEvent::HunkOpened {
                stated_old_start: None,
                stated_old_lines: None,
                stated_new: None,
                line_number,
            });
        }
        update.hunk = HunkState::Open;
        self.state = State::Update(update);
        self.flush_held_end(say);
        self.flush_held(say);
        let kind = match line[0] {
            b'-' => LineKind::Delete,
            b'+' => LineKind::Insert,
            _ => LineKind::Context,
        };
        say(PatchEvent::Line { kind, text: &line[1..] });
        Ok(())
    }

    /// An indented end marker was a context line after all.
    fn flush_held_end(&mut self, say: &mut Say<'_>) {
        if let Some(line) = self.held_end.take() {
            say(PatchEvent::Line { kind: LineKind::Context, text: &line[1..] });
        }
    }

    /// Blank lines before another line of the hunk are context lines that lost their blank.
    fn flush_held(&mut self, say: &mut Say<'_>) {
        for _ in 0..std::mem::take(&mut self.held_blanks) {
            say(PatchEvent::Line { kind: LineKind::Context, text: b"" });
        }
    }
}

fn close_hunk(hunk: HunkState, say: &mut Say<'_>) -> Read {
    match hunk {
        HunkState::None => Ok(()),
        HunkState::Empty(line_number) => Err(malformed(
            line_number,
            "the hunk has no line".to_owned(),
            "write at least one line that starts with ' ', '-' or '+'",
        )),
        HunkState::Open | HunkState::Ended => {
            say(PatchEvent::HunkClosed);
            Ok(())
        }
    }
}

/// Tells whether a line can go on inside an update, so that an indented end marker before it was context.
fn is_part_of_update(line: &[u8]) -> bool {
    matches!(line[0], b' ' | b'-' | b'+' | b'@' | b'\\') || line.starts_with(b"*** ")
}

fn is_no_newline(line: &[u8]) -> bool {
    line.starts_with(b"\\ ")
}

/// Tells whether a trimmed line is the marker, or the marker with the stars repeated behind it.
fn is_marker(trimmed: &[u8], marker: &[u8]) -> bool {
    trimmed.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.trim_ascii() == b"***")
}

fn header(trimmed: &[u8]) -> Option<(FileKind, &[u8])> {
    HEADERS.iter().find_map(|&(marker, kind)| {
        let rest = trimmed.strip_prefix(marker)?;
        // A second blank is part of the path, as with Codex; a header without any blank has an empty path.
        if rest.is_empty() {
            Some((kind, rest))
        } else {
            Some((kind, rest.strip_prefix(b" ")?.trim_ascii_end()))
        }
    })
}

/// Reads `@@ -a,b +c,d @@`: the old side's start and count.
fn numbers(line: &[u8]) -> Option<(usize, usize)> {
    let text = std::str::from_utf8(line).ok()?.strip_prefix("@@ -")?;
    let (ranges, _) = text.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let pair = |range: &str| -> Option<(usize, usize)> {
        let (start, count) = range.split_once(',').unwrap_or((range, "1"));
        Some((start.parse().ok()?, count.trim_end().parse().ok()?))
    };
    pair(new)?;
    pair(old)
}

fn malformed(line_number: usize, message: String, hint: impl Into<String>) -> Box<Problem> {
    Box::new(Problem {
        line: Some(line_number),
        hint: Some(hint.into()),
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
    use crate::patch::Dialect;
    use crate::patch::Parser;
    use crate::patch::parse;

    /// What the parser says, one line an event.
    fn said(chunks: &[&[u8]]) -> Vec<String> {
        let mut parser = Parser::new(Dialect::ApplyPatch);
        let mut said = Vec::new();
        let mut say = |event: PatchEvent<'_>| {
            said.push(match event {
                PatchEvent::FileOpened { path, kind, line_number } => {
                    format!("{line_number} {kind:?} {}", path.shown())
                }
                PatchEvent::MovedTo { path, .. } => format!("move {}", path.shown()),
                PatchEvent::HunkOpened { stated_old_start, line_number, .. } => {
                    format!("{line_number} hunk {stated_old_start:?}")
                }
                PatchEvent::Anchor { text } => format!("anchor {}", String::from_utf8_lossy(text)),
                PatchEvent::Line { kind, text } => {
                    format!("{}{}", kind.sign(), String::from_utf8_lossy(text))
                }
                PatchEvent::NoNewline => "no newline".to_owned(),
                PatchEvent::EndOfFile => "end of file".to_owned(),
                PatchEvent::HunkClosed => "hunk closed".to_owned(),
                PatchEvent::FileClosed => "closed".to_owned(),
                PatchEvent::Tolerated { line_number, .. } => format!("{line_number} tolerated"),
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

    /// Checks the events of a patch, and that every cut in two, and single bytes, give the same.
    fn check(patch: &str, expected: &[&str]) {
        let whole = said(&[patch.as_bytes()]);
        assert_eq!(whole, expected, "{patch}");
        for cut in 0..patch.len() {
            let (head, tail) = patch.as_bytes().split_at(cut);
            assert_eq!(said(&[head, tail]), whole, "cut at {cut} of {patch}");
        }
        let bytes: Vec<&[u8]> = patch.as_bytes().chunks(1).collect();
        assert_eq!(said(&bytes), whole, "byte by byte: {patch}");
    }

    #[test]
    fn every_operation_is_read() {
        check(
            "*** Begin Patch\n*** Environment ID: e\n*** Add File: a b.txt\n+x\n+\n*** Delete File: d\n\
             *** Update File: u\n*** Move to: v\n@@ class A\n@@   def f\n ctx\n-old\n+new\n@@\n-y\n\
             *** End of File\n*** End Patch\n",
            &[
                "2 tolerated",
                "3 Create a b.txt",
                "+x",
                "+",
                "closed",
                "6 Delete d",
                "closed",
                "7 Update u",
                "move v",
                "9 hunk None",
                "anchor class A",
                "anchor   def f",
                " ctx",
                "-old",
                "+new",
                "hunk closed",
                "14 hunk None",
                "-y",
                "end of file",
                "hunk closed",
                "closed",
            ],
        );
    }

    #[test]
    fn what_stands_around_the_envelope_is_told() {
        check(
            "\u{feff}Here it is:\n```\napply_patch <<'EOF'\n *** Begin Patch ***\n*** Delete File: d\n*** End Patch \nEOF\n```\nDone.",
            &["1 tolerated", "1 tolerated", "4 tolerated", "5 Delete d", "closed", "7 tolerated"],
        );
    }

    #[test]
    fn an_indented_end_marker_is_context_unless_nothing_follows() {
        let head = "*** Begin Patch\n*** Update File: u\n@@\n-a\n *** End Patch\n";
        let opened = ["2 Update u", "3 hunk None", "-a"];
        check(head, &[&opened[..], &["hunk closed", "closed"]].concat());
        check(&format!("{head}\nEOF\n"), &[&opened[..], &["hunk closed", "closed", "7 tolerated"]].concat());
        check(
            &format!("{head}\n+b\n*** End Patch\n"),
            &[&opened[..], &[" *** End Patch", " ", "+b", "hunk closed", "closed"]].concat(),
        );
        check(
            &format!("{head}*** End Patch\n"),
            &[&opened[..], &[" *** End Patch", "hunk closed", "closed"]].concat(),
        );
    }

    #[test]
    fn blank_lines_are_context_only_inside_a_hunk() {
        check(
            "*** Begin Patch\n\n*** Update File: u\n\n@@\n-a\n\n+b\n\n\n*** Add File: n\n+x\n\n*** End Patch\n\n",
            &[
                "2 tolerated",
                "3 Update u",
                "5 hunk None",
                "-a",
                " ",
                "+b",
                "hunk closed",
                "closed",
                "11 Create n",
                "+x",
                "closed",
            ],
        );
    }

    #[test]
    fn unified_headers_and_no_newline_marks_are_understood() {
        check(
            "*** Begin Patch\n*** Update File: u\n@@ -7,0 +8,2 @@ fn x\n+b\n\\ No newline at end of file\n@@ f() @@\n-c\n*** End Patch\n",
            &[
                "2 Update u",
                "3 tolerated",
                "3 hunk Some(7)",
                "+b",
                "5 tolerated",
                "no newline",
                "hunk closed",
                "6 hunk None",
                "anchor f()",
                "-c",
                "hunk closed",
                "closed",
            ],
        );
    }

    #[test]
    fn several_envelopes_are_one_patch() {
        check(
            "*** Begin Patch\n*** Delete File: a\n*** End Patch\n*** End Patch\n\n*** Begin Patch\n*** Delete File: b\n*** End Patch",
            &["2 Delete a", "closed", "7 Delete b", "closed"],
        );
    }

    /// Checks which line is called malformed, and that the message holds a text.
    fn check_malformed(body: &str, line_number: usize, words: &str) {
        let patch = format!("*** Begin Patch\n{body}");
        let problem = parse(patch.as_bytes(), Dialect::ApplyPatch).malformed.expect(body);
        assert_eq!(
            (problem.code, problem.line),
            (Code::Malformed, Some(line_number)),
            "{body}: {}",
            problem.message
        );
        assert!(problem.message.contains(words), "{body}: {}", problem.message);
        assert!(problem.hint.is_some(), "{body}");
    }

    #[test]
    fn what_is_malformed_says_line_found_and_expected() {
        let end = "*** End Patch\n";
        check_malformed(&format!("*** Add File: a\n+x\ny\n{end}"), 4, "starts with '+', found 'y'");
        check_malformed(&format!("*** Add File: a\n+x\n\n+y\n{end}"), 4, "empty line");
        check_malformed(&format!("*** Update File: a\n{end}"), 2, "neither a hunk");
        check_malformed(&format!("*** Update File: a\n@@\n{end}"), 3, "has no line");
        check_malformed(&format!("*** Update File: a\n@@\n-x\ny\n{end}"), 5, "found 'y'");
        check_malformed(&format!("*** Update File: a\n@@x\n{end}"), 3, "found '@@x'");
        check_malformed(
            &format!("*** Update File: a\n@@\n-x\n*** Rename File: b\n{end}"),
            5,
            "*** Rename File: b",
        );
        check_malformed(&format!("*** Update File: a\n@@\n-x\n*** Move to: b\n{end}"), 5, "does not follow");
        check_malformed(&format!("*** Update File: a\n@@\n*** End of File\n{end}"), 4, "no hunk");
        check_malformed(&format!("*** Update File: a\n@@\n-x\n*** End of File\n-y\n{end}"), 6, "found '-y'");
        check_malformed(&format!("*** Frob: a\n{end}"), 2, "found '*** Frob: a'");
        check_malformed(&format!("*** Add File:\n{end}"), 2, "names no path");
        check_malformed("*** Update File: a\n@@\n-x\n+half", 5, "cut off after line 5");
        check_malformed(&format!("{end}*** Delete File: a\n"), 3, "before the first file header");
    }

    #[test]
    fn an_unfinished_line_is_never_taken_for_a_finished_one() {
        let parsed = parse(b"*** Begin Patch\n*** Add File: a\n+one\n+tw", Dialect::ApplyPatch);
        let crate::patch::Body::Content(content) = &parsed.patch.edits[0].body else { panic!("no content") };
        assert_eq!(content.bytes, b"one\n");
        assert!(parsed.malformed.is_some());
    }

    #[test]
    fn text_without_a_patch_is_malformed() {
        assert!(parse(b"I changed it.\n", Dialect::ApplyPatch).malformed.is_some());
        assert!(parse(b"", Dialect::ApplyPatch).malformed.is_some());
    }

    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("*** Begin Patch".to_owned()),
            Just("*** End Patch".to_owned()),
            Just(" *** End Patch".to_owned()),
            Just("*** Update File: a".to_owned()),
            Just("*** Add File: b".to_owned()),
            Just("@@".to_owned()),
            Just("@@ f".to_owned()),
            Just("*** End of File".to_owned()),
            Just("*** Move to: c".to_owned()),
            Just(String::new()),
            Just("\\ No newline".to_owned()),
            "[-+ ]?[a-c*@ ]{0,4}\r?",
        ]
    }

    proptest! {
        #[test]
        fn how_input_is_cut_never_changes_what_is_said(
            lines in prop::collection::vec(line(), 0..24), cut in 0usize..200, final_newline: bool,
        ) {
            let mut text = lines.join("\n");
            if final_newline {
                text.push('\n');
            }
            let cut = cut.min(text.len());
            let whole = said(&[text.as_bytes()]);
            prop_assert_eq!(said(&[&text.as_bytes()[..cut], &text.as_bytes()[cut..]]), whole.clone());
            prop_assert_eq!(said(&text.as_bytes().chunks(1).collect::<Vec<_>>()), whole);
        }

        #[test]
        fn no_input_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            said(&[&bytes]);
        }
    }
}
