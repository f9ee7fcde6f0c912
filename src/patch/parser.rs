//! The closed set of dialects behind one push interface, and the batch parser, which is the push parser fed once.

use crate::report::Code;
use crate::report::Problem;

use super::Builder;
use super::Patch;
use super::PatchEvent;
use super::apply_patch;
use super::apply_patch::ApplyPatch;
use super::lines::LineBuffer;
use super::search_replace;
use super::search_replace::Naming;
use super::search_replace::SearchReplace;

/// A patch format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// The one whose first marker comes first; Codex's envelope if none comes.
    #[default]
    Auto,
    /// Codex's envelope: `*** Begin Patch` to `*** End Patch`.
    ApplyPatch,
    /// The blocks of aider, Cline and Roo: `<<<<<<< SEARCH` to `>>>>>>> REPLACE`.
    SearchReplace,
}

impl Dialect {
    /// Every dialect that can be named, in the order in which help lists them.
    pub const ALL: [Dialect; 2] = [Dialect::ApplyPatch, Dialect::SearchReplace];

    /// Returns the name that `--dialect` takes.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Auto => "auto",
            Dialect::ApplyPatch => "apply-patch",
            Dialect::SearchReplace => "search-replace",
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
    /// No marker has come: each dialect reads what stands before it, and has nothing to say about it.
    Auto(Box<ApplyPatch>, Box<SearchReplace>),
    ApplyPatch(Box<ApplyPatch>),
    SearchReplace(Box<SearchReplace>),
}

impl State {
    fn line(
        &mut self,
        line_number: usize,
        line: &[u8],
        say: &mut dyn FnMut(PatchEvent<'_>),
    ) -> Result<(), Box<Problem>> {
        if let State::Auto(apply_patch, search_replace) = self {
            if apply_patch::opens(line) {
                *self = State::ApplyPatch(std::mem::take(apply_patch));
            } else if search_replace::opens(line) {
                *self = State::SearchReplace(std::mem::take(search_replace));
            }
        }
        match self {
            State::Auto(apply_patch, search_replace) => {
                apply_patch.line(line_number, line, &mut |_| {})?;
                search_replace.line(line_number, line, &mut |_| {})
            }
            State::ApplyPatch(parser) => parser.line(line_number, line, say),
            State::SearchReplace(parser) => parser.line(line_number, line, say),
        }
    }

    fn finish(
        &mut self,
        unfinished: Option<&(usize, Vec<u8>)>,
        lines: usize,
        say: &mut dyn FnMut(PatchEvent<'_>),
    ) -> Result<(), Box<Problem>> {
        match self {
            State::Auto(parser, _) | State::ApplyPatch(parser) => parser.finish(unfinished, lines, say),
            State::SearchReplace(parser) => parser.finish(unfinished, lines, say),
        }
    }
}

impl Parser {
    /// Returns a parser for a dialect.
    pub fn new(dialect: Dialect) -> Self {
        Parser::with_naming(dialect, Naming::default())
    }

    /// Returns a parser for a patch of which something else may say the path, where its dialect allows that.
    pub fn with_naming(dialect: Dialect, naming: Naming) -> Self {
        let search_replace = || Box::new(SearchReplace::new(naming));
        let state = match dialect {
            Dialect::Auto => State::Auto(Box::default(), search_replace()),
            Dialect::ApplyPatch => State::ApplyPatch(Box::default()),
            Dialect::SearchReplace => State::SearchReplace(search_replace()),
        };
        Parser { lines: LineBuffer::default(), state, failed: false }
    }

    /// Returns the dialect that is read; [`Dialect::Auto`] while no marker has told it.
    pub fn dialect(&self) -> Dialect {
        match self.state {
            State::Auto(..) => Dialect::Auto,
            State::ApplyPatch(_) => Dialect::ApplyPatch,
            State::SearchReplace(_) => Dialect::SearchReplace,
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
        let Parser { lines, state, failed } = self;
        let outcome = lines.push(chunk, |line_number, line| {
            if *failed {
                return;
            }
            if let Err(problem) = state.line(line_number, line, say) {
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
        if let Err(problem) = self.state.finish(unfinished.as_ref(), self.lines.lines(), say) {
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
    Parsed { patch: builder.into_patch(), dialect: parser.dialect(), notes, malformed }
}
