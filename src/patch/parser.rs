//! The closed set of dialects behind one push interface, and the batch parser, which is the push parser fed once.

use crate::report::Code;
use crate::report::Problem;

use super::Builder;
use super::Patch;
use super::PatchEvent;
use super::apply_patch::ApplyPatch;
use super::lines::LineBuffer;

/// A patch format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// Codex's envelope: `*** Begin Patch` to `*** End Patch`.
    #[default]
    ApplyPatch,
}

impl Dialect {
    /// Every dialect, in the order in which help lists them.
    pub const ALL: [Dialect; 1] = [Dialect::ApplyPatch];

    /// Returns the name that `--dialect` takes.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::ApplyPatch => "apply-patch",
        }
    }
}

/// Reads a patch in pieces of any size; how it is cut never changes the events.
///
/// After a malformed line nothing more is said, whatever is pushed.
#[derive(Debug)]
pub struct Parser {
    lines: LineBuffer,
    state: State,
    failed: bool,
}

#[derive(Debug)]
enum State {
    ApplyPatch(Box<ApplyPatch>),
}

impl Parser {
    /// Returns a parser for a dialect.
    pub fn new(dialect: Dialect) -> Self {
        let state = match dialect {
            Dialect::ApplyPatch => State::ApplyPatch(Box::default()),
        };
        Parser { lines: LineBuffer::default(), state, failed: false }
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
        let Parser { lines, state, failed } = self;
        let outcome = lines.push(chunk, |line_number, line| {
            if *failed {
                return;
            }
            let read = match state {
                State::ApplyPatch(parser) => parser.line(line_number, line, say),
            };
            if let Err(problem) = read {
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

    /// Ends the input. A last line without a newline counts only if it is a closing marker.
    pub fn finish(&mut self, say: &mut dyn FnMut(PatchEvent<'_>)) {
        if self.failed {
            return;
        }
        let unfinished = self.lines.take_unfinished();
        let read = match &mut self.state {
            State::ApplyPatch(parser) => parser.finish(unfinished.as_ref(), self.lines.lines(), say),
        };
        if let Err(problem) = read {
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
pub fn parse(input: &[u8], dialect: Dialect) -> Parsed {
    let mut parser = Parser::new(dialect);
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
    Parsed { patch: builder.into_patch(), notes, malformed }
}
