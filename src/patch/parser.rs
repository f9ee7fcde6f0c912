//! The closed set of dialects behind one push interface, and the batch parser, which is the push parser fed once.

use crate::report::Code;
use crate::report::Problem;

use super::Builder;
use super::Patch;
use super::PatchEvent;
use super::apply_patch;
use super::apply_patch::ApplyPatch;
use super::held::HeldLines;
use super::lines::LineBuffer;
use super::lines::without_cr;
use super::search_replace;
use super::search_replace::Naming;
use super::search_replace::SearchReplace;
use super::unified;
use super::unified::Unified;

/// A patch format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// The one whose first marker comes first.
    #[default]
    Auto,
    /// Codex's envelope: `*** Begin Patch` to `*** End Patch`.
    ApplyPatch,
    /// Unified diffs, plain and with git's extended headers.
    Unified,
    /// The blocks of aider, Cline and Roo: `<<<<<<< SEARCH` to `>>>>>>> REPLACE`.
    SearchReplace,
}

impl Dialect {
    /// Every dialect that can be named, in the order in which help lists them.
    pub const ALL: [Dialect; 3] = [Dialect::ApplyPatch, Dialect::Unified, Dialect::SearchReplace];

    /// Returns the name that `--dialect` takes.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Auto => "auto",
            Dialect::ApplyPatch => "apply-patch",
            Dialect::Unified => "unified",
            Dialect::SearchReplace => "search-replace",
        }
    }
}

/// How a patch is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reading {
    /// The format.
    pub dialect: Dialect,
    /// How many leading parts of the names in a unified diff are dropped; `None` drops `a/` and `b/`.
    pub strip: Option<usize>,
    /// Where the paths of search-replace blocks are said.
    pub naming: Naming,
    /// So many lines are put in front of the text, and do not count as lines of it.
    pub lines_before: usize,
}

impl From<Dialect> for Reading {
    fn from(dialect: Dialect) -> Self {
        Reading { dialect, ..Reading::default() }
    }
}

/// The dialect of a text in which nothing tells it: this one names other forms of diffs.
const UNTOLD: Dialect = Dialect::Unified;

/// Reads a patch in pieces of any size; how it is cut never changes the events.
///
/// After a malformed line nothing more is said, whatever is pushed.
#[derive(Debug)]
pub struct Parser {
    lines: LineBuffer,
    state: State,
    reading: Reading,
    failed: bool,
}

#[derive(Debug)]
enum State {
    /// No marker has come.
    Auto(Box<HeldLines>),
    ApplyPatch(Box<ApplyPatch>),
    Unified(Box<Unified>),
    SearchReplace(Box<SearchReplace>),
}

type Read = Result<(), Box<Problem>>;
type Say<'s> = dyn FnMut(PatchEvent<'_>) + 's;

impl State {
    fn of(reading: Reading) -> Self {
        match reading.dialect {
            Dialect::Auto => State::Auto(Box::default()),
            Dialect::ApplyPatch => State::ApplyPatch(Box::default()),
            Dialect::Unified => State::Unified(Box::new(Unified::new(reading.strip))),
            Dialect::SearchReplace => State::SearchReplace(Box::new(SearchReplace::new(reading.naming))),
        }
    }

    /// Takes one line with its CR. While the dialect is not known lines are held back; with the one that tells they are
    /// all read.
    fn line(&mut self, reading: Reading, line_number: usize, line: &[u8], say: &mut Say<'_>) -> Read {
        match self {
            State::Auto(held) => {
                let told = tells(held.last(), line);
                held.push(line_number, line);
                told.map_or(Ok(()), |dialect| self.settle(Reading { dialect, ..reading }, say))
            }
            State::ApplyPatch(parser) => parser.line(line_number, without_cr(line), say),
            State::Unified(parser) => parser.line(line_number, line, say),
            State::SearchReplace(parser) => parser.line(line_number, without_cr(line), say),
        }
    }

    fn settle(&mut self, reading: Reading, say: &mut Say<'_>) -> Read {
        let State::Auto(held) = std::mem::replace(self, State::of(reading)) else { return Ok(()) };
        for (line_number, line) in held.into_lines() {
            self.line(reading, line_number, &line, say)?;
        }
        Ok(())
    }

    fn finish(
        &mut self,
        reading: Reading,
        unfinished: Option<&(usize, Vec<u8>)>,
        lines: usize,
        say: &mut Say<'_>,
    ) -> Read {
        if let State::Auto(held) = self {
            let last = unfinished.map_or(&b""[..], |(_, line)| line);
            let told = tells(held.last(), last);
            self.settle(Reading { dialect: told.unwrap_or(UNTOLD), ..reading }, say)?;
            if told.is_none() {
                let finished = self.finish(reading, unfinished, lines, say);
                return finished.map_err(|problem| Box::new(without_dialect(*problem)));
            }
        }
        match self {
            State::Auto(_) => Ok(()),
            State::ApplyPatch(parser) => parser.finish(unfinished, lines, say),
            State::Unified(parser) => parser.finish(unfinished, lines, say),
            State::SearchReplace(parser) => parser.finish(unfinished, lines, say),
        }
    }
}

/// Says which dialect a line, with the one before it, tells; both may have a CR. The first rule that knows it decides.
pub fn tells(before: &[u8], line: &[u8]) -> Option<Dialect> {
    let (before, line) = (without_cr(before), without_cr(line));
    if apply_patch::opens(line) {
        Some(Dialect::ApplyPatch)
    } else if unified::opens(before, line) {
        Some(Dialect::Unified)
    } else if search_replace::opens(line) {
        Some(Dialect::SearchReplace)
    } else {
        None
    }
}

/// Says of a text without any patch what each dialect would have begun with.
fn without_dialect(problem: Problem) -> Problem {
    if problem.line.is_some() {
        return problem;
    }
    let message = "no patch found: there is no line '*** Begin Patch', no 'diff --git', no '--- ' line with a '+++ ' \
                   line after it and no '<<<<<<< SEARCH'";
    let problem = Problem { message: message.to_owned(), ..problem };
    problem.with_hint("send the patch itself, from the first line of one of these forms to its end")
}

impl Parser {
    /// Returns a parser for a dialect, or for the one that the text turns out to have.
    pub fn new(reading: impl Into<Reading>) -> Self {
        let reading = reading.into();
        Parser { lines: LineBuffer::default(), state: State::of(reading), reading, failed: false }
    }

    /// Returns a parser for a patch of which something else may say the path, where its dialect allows that.
    pub fn with_naming(dialect: Dialect, naming: Naming) -> Self {
        Parser::new(Reading { naming, ..Reading::from(dialect) })
    }

    /// Returns the dialect that is read; [`Dialect::Auto`] while no marker has told it.
    pub fn dialect(&self) -> Dialect {
        match self.state {
            State::Auto(..) => Dialect::Auto,
            State::ApplyPatch(_) => Dialect::ApplyPatch,
            State::Unified(_) => Dialect::Unified,
            State::SearchReplace(_) => Dialect::SearchReplace,
        }
    }

    /// Tells whether no file edit and no block is open, so that the next line may be words.
    pub fn is_outside(&self) -> bool {
        match &self.state {
            State::Auto(..) => true,
            State::ApplyPatch(parser) => parser.is_outside(),
            State::Unified(parser) => parser.is_outside(),
            State::SearchReplace(parser) => parser.is_outside(),
        }
    }

    /// Tells whether a malformed line has ended the patch.
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// Takes a piece of the patch; says what its complete lines mean.
    #[inline]
    pub fn push(&mut self, chunk: &[u8], say: &mut dyn FnMut(PatchEvent<'_>)) {
        if !self.failed && !self.lines.keeps(chunk) {
            self.read(chunk, say);
        }
    }

    fn read(&mut self, chunk: &[u8], say: &mut dyn FnMut(PatchEvent<'_>)) {
        let Parser { lines, state, reading, failed } = self;
        let outcome = lines.push_with_cr(chunk, |line_number, line| {
            if *failed {
                return;
            }
            let line_number = line_number.saturating_sub(reading.lines_before);
            if let Err(problem) = state.line(*reading, line_number, line, say) {
                *failed = true;
                say(PatchEvent::Malformed(problem));
            }
        });
        if let (Err(too_long), false) = (outcome, self.failed) {
            self.failed = true;
            let problem = Problem {
                line: Some(too_long.line_number),
                ..Problem::new(Code::Malformed, too_long.to_string())
            };
            say(PatchEvent::Malformed(Box::new(problem)));
        }
    }

    /// Ends the input. What a last line without a newline counts for is the dialect's matter.
    pub fn finish(&mut self, say: &mut dyn FnMut(PatchEvent<'_>)) {
        if self.failed {
            return;
        }
        let count = |lines: usize| lines.saturating_sub(self.reading.lines_before);
        let unfinished = self.lines.take_unfinished().map(|(number, line)| (count(number), line));
        let lines = count(self.lines.lines());
        if let Err(problem) = self.state.finish(self.reading, unfinished.as_ref(), lines, say) {
            self.failed = true;
            say(PatchEvent::Malformed(problem));
        }
    }
}

/// A patch that was read whole.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parsed {
    /// The patch; up to the malformed line, if there is one.
    pub patch: Patch,
    /// The dialect that it is in.
    pub dialect: Dialect,
    /// What was tolerated, with its 1-based line.
    pub notes: Vec<(String, usize)>,
    /// What is malformed.
    pub malformed: Option<Problem>,
}

/// Reads a whole patch.
///
/// ```
/// use hunkwise::patch::{Dialect, parse};
/// let parsed = parse(b"*** Begin Patch\n*** Delete File: old.txt\n*** End Patch\n", Dialect::ApplyPatch);
/// assert_eq!(parsed.malformed, None);
/// assert_eq!(parsed.patch.edits[0].path.shown(), "old.txt");
/// ```
pub fn parse(input: &[u8], reading: impl Into<Reading>) -> Parsed {
    let mut parser = Parser::new(reading);
    let mut builder = Builder::default();
    let mut notes = Vec::new();
    let mut malformed = None;
    let mut take = |event: PatchEvent<'_>| {
        builder.fold(&event);
        match event {
            PatchEvent::Tolerated { note, line_number } => notes.push((note, line_number)),
            PatchEvent::Malformed(problem) => malformed = Some(*problem),
            _ => {}
        }
    };
    parser.push(input, &mut take);
    parser.finish(&mut take);
    Parsed { patch: builder.into_patch(), dialect: parser.dialect(), notes, malformed }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(usize, Dialect)>) {
        let mut held = HeldLines::default();
        let told = text.split('\n').enumerate().find_map(|(index, line)| {
            let told = tells(held.last(), line.as_bytes());
            held.push(index + 1, line.as_bytes());
            Some((index + 1, told?))
        });
        assert_eq!(told, expected, "{text}");
    }

    #[test]
    fn the_first_line_that_tells_decides() {
        check("*** Begin Patch\n", Some((1, Dialect::ApplyPatch)));
        check("prose\n```\n *** Begin Patch ***\n", Some((3, Dialect::ApplyPatch)));
        check("*** Update File: a\n", Some((1, Dialect::ApplyPatch)));
        check("f\n<<<<<<< SEARCH\n", Some((2, Dialect::SearchReplace)));
        check("diff --git a/x b/x\n", Some((1, Dialect::Unified)));
        check("see\n--- a/x\r\n+++ b/x\r\n", Some((3, Dialect::Unified)));
        check("Index: x\n===================\n", Some((2, Dialect::Unified)));
        check("*** x\n--- y\n***************\n", Some((3, Dialect::Unified)));
        check("--- a title\n\n+++ no names\n*** bold\n", None);
    }
}
