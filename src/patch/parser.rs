//! The closed set of dialects behind one push interface, and the batch parser, which is the push parser fed once.

use crate::report::Code;
use crate::report::Problem;

use super::Builder;
use super::Patch;
use super::PatchEvent;
use super::apply_patch::ApplyPatch;
use super::detect::Detector;
use super::lines::LineBuffer;
use super::lines::without_cr;
use super::unified::Unified;

/// A patch format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// Codex's envelope: `*** Begin Patch` to `*** End Patch`.
    #[default]
    ApplyPatch,
    /// Unified diffs, plain and with git's extended headers.
    Unified,
}

impl Dialect {
    /// Every dialect, in the order in which help lists them.
    pub const ALL: [Dialect; 2] = [Dialect::ApplyPatch, Dialect::Unified];

    /// Returns the name that `--dialect` takes.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::ApplyPatch => "apply-patch",
            Dialect::Unified => "unified",
        }
    }
}

/// How a patch is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reading {
    /// The format; `None` finds it out from the text.
    pub dialect: Option<Dialect>,
    /// How many leading parts of the names in a unified diff are dropped; `None` drops `a/` and `b/`.
    pub strip: Option<usize>,
}

impl From<Dialect> for Reading {
    fn from(dialect: Dialect) -> Self {
        Reading::from(Some(dialect))
    }
}

impl From<Option<Dialect>> for Reading {
    fn from(dialect: Option<Dialect>) -> Self {
        Reading { dialect, strip: None }
    }
}

/// Reads a patch in pieces of any size; how it is cut never changes the events.
///
/// After a malformed line nothing more is said, whatever is pushed.
#[derive(Debug)]
pub struct Parser {
    lines: LineBuffer,
    state: State,
    strip: Option<usize>,
    failed: bool,
}

#[derive(Debug)]
enum State {
    /// The dialect is not known yet.
    Unknown(Box<Detector>),
    ApplyPatch(Box<ApplyPatch>),
    Unified(Box<Unified>),
}

impl State {
    fn of(dialect: Dialect, strip: Option<usize>) -> Self {
        match dialect {
            Dialect::ApplyPatch => State::ApplyPatch(Box::default()),
            Dialect::Unified => State::Unified(Box::new(Unified::new(strip))),
        }
    }

    /// Takes one line with its CR. While the dialect is not known lines are held back; with the one that tells they are
    /// all read.
    fn line(&mut self, strip: Option<usize>, line_number: usize, line: &[u8], say: &mut Say<'_>) -> Read {
        match self {
            State::Unknown(detector) => {
                if let Some(dialect) = detector.line(line_number, line) {
                    return self.settle(dialect, strip, say);
                }
                Ok(())
            }
            State::ApplyPatch(parser) => parser.line(line_number, without_cr(line), say),
            State::Unified(parser) => parser.line(line_number, line, say),
        }
    }

    fn settle(&mut self, dialect: Dialect, strip: Option<usize>, say: &mut Say<'_>) -> Read {
        let State::Unknown(detector) = std::mem::replace(self, State::of(dialect, strip)) else {
            return Ok(());
        };
        for (line_number, line) in detector.into_lines() {
            self.line(strip, line_number, &line, say)?;
        }
        Ok(())
    }
}

type Read = Result<(), Box<Problem>>;
type Say<'s> = dyn FnMut(PatchEvent<'_>) + 's;

impl Parser {
    /// Returns a parser for a dialect, or for whichever the text turns out to have.
    pub fn new(reading: impl Into<Reading>) -> Self {
        let Reading { dialect, strip } = reading.into();
        let state = match dialect {
            Some(dialect) => State::of(dialect, strip),
            None => State::Unknown(Box::default()),
        };
        Parser { lines: LineBuffer::default(), state, strip, failed: false }
    }

    /// Returns the dialect, once it is known.
    pub fn dialect(&self) -> Option<Dialect> {
        match &self.state {
            State::Unknown(_) => None,
            State::ApplyPatch(_) => Some(Dialect::ApplyPatch),
            State::Unified(_) => Some(Dialect::Unified),
        }
    }

    /// Tells whether a malformed line has ended the patch.
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// Takes a piece of the patch; says what its complete lines mean.
    pub fn push(&mut self, chunk: &[u8], say: &mut dyn FnMut(PatchEvent<'_>)) {
        if self.failed {
            return;
        }
        let Parser { lines, state, strip, failed } = self;
        let outcome = lines.push_with_cr(chunk, |line_number, line| {
            if *failed {
                return;
            }
            if let Err(problem) = state.line(*strip, line_number, line, say) {
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
        let unfinished = self.lines.take_unfinished();
        let read = self.finish_state(unfinished.as_ref(), say);
        if let Err(problem) = read {
            self.failed = true;
            say(PatchEvent::Malformed(problem));
        }
    }

    fn finish_state(&mut self, unfinished: Option<&(usize, Vec<u8>)>, say: &mut Say<'_>) -> Read {
        if let State::Unknown(detector) = &self.state {
            // Where nothing tells, unified says best what is missing.
            let last = unfinished.map_or(&b""[..], |(_, line)| line);
            let dialect = detector.last(last).unwrap_or(Dialect::Unified);
            self.state.settle(dialect, self.strip, say)?;
        }
        match &mut self.state {
            State::Unknown(_) => Ok(()),
            State::ApplyPatch(parser) => parser.finish(unfinished, self.lines.lines(), say),
            State::Unified(parser) => parser.finish(unfinished, self.lines.lines(), say),
        }
    }
}

/// A patch that was read whole.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parsed {
    /// The patch; up to the malformed line, if there is one.
    pub patch: Patch,
    /// What was tolerated, with its 1-based line.
    pub notes: Vec<(String, usize)>,
    /// What is malformed.
    pub malformed: Option<Problem>,
    /// The dialect that it was read in; `None` if nothing told.
    pub dialect: Option<Dialect>,
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
    Parsed { patch: builder.into_patch(), notes, malformed, dialect: parser.dialect() }
}
