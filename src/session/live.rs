//! One call while it streams: its parser, its patch, its planner and its throttle, to preview events.
//!
//! The live text is held once, in the patch. A state is built only when the throttle lets it out. The clock and the
//! files are arguments: [`Live::push`] is told the time, and asks its caller to fill the planner with what it wants.

use crate::diff::hunks::counts;
use crate::patch::Body;
use crate::patch::Builder;
use crate::patch::Dialect;
use crate::patch::FileEdit;
use crate::patch::Hunk;
use crate::patch::Parser;
use crate::patch::Patch;
use crate::patch::PatchEvent;
use crate::patch::args::Args;
use crate::patch::request;
use crate::plan::Options;
use crate::plan::Planner;
use crate::plan::outcome;
use crate::report::FileDiff;
use crate::report::Placement;
use crate::report::PreviewEvent;
use crate::report::PreviewFile;
use crate::report::PreviewSchema;
use crate::report::Problem;

use super::Throttle;

/// Fills the planner with the paths that an edit wants.
pub type Fill<'f> = dyn FnMut(&mut Planner, &FileEdit) + 'f;
/// Takes what is shown.
pub type Emit<'e> = dyn FnMut(&PreviewEvent) + 'e;

/// What a call's input is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// The text of a patch; without a dialect, it is told from the text.
    Text(Option<Dialect>),
    /// The arguments of a tool, as JSON.
    Arguments {
        /// The tool.
        tool: String,
    },
}

/// What the calls of one run share; each gets it lent for the time of one step.
#[derive(Debug, Default)]
pub struct Shared {
    /// Absent if nothing is to be located.
    pub planner: Option<Planner>,
    /// Position of the next event among all of the run.
    pub seq: u64,
}

/// A call while it streams.
#[derive(Debug)]
pub struct Live {
    source: Source,
    call_id: Option<String>,
    state: State,
    throttle: Throttle,
    seq: u64,
    is_finished: bool,
}

#[derive(Debug)]
enum Source {
    Text(Parser),
    Arguments(Args),
}

impl Source {
    fn push(&mut self, chunk: &[u8], say: &mut dyn FnMut(PatchEvent<'_>)) {
        match self {
            Source::Text(parser) => parser.push(chunk, say),
            Source::Arguments(args) => args.push(chunk, say),
        }
    }

    fn finish(&mut self, say: &mut dyn FnMut(PatchEvent<'_>)) {
        match self {
            Source::Text(parser) => parser.finish(say),
            Source::Arguments(args) => args.finish(say),
        }
    }
}

/// What is known so far; apart from the parser, so that its events can be folded in while it reads.
#[derive(Debug)]
struct State {
    builder: Builder,
    /// Absent if nothing is to be located.
    planner: Option<Planner>,
    edits: Vec<LiveEdit>,
    notes: Vec<(String, usize)>,
    malformed: Option<Problem>,
    has_changed: bool,
}

/// What is known of one file edit beside its text.
#[derive(Debug)]
struct LiveEdit {
    placement: Placement,
    problems: Vec<Problem>,
    closed_hunks: usize,
    added: usize,
    removed: usize,
    /// The hunks of a closed edit: placed, or as requested.
    diffs: Option<Vec<FileDiff>>,
}

impl Live {
    /// Returns a call of which nothing has come. Without `locate`, no file is asked for and nothing is placed.
    pub fn new(input: Input, call_id: Option<String>, interval_ms: u64, locate: Option<Options>) -> Self {
        let source = match input {
            Input::Text(dialect) => Source::Text(Parser::new(dialect.unwrap_or_default())),
            Input::Arguments { tool } => Source::Arguments(Args::new(&tool)),
        };
        Live {
            source,
            call_id,
            state: State {
                builder: Builder::default(),
                planner: locate.map(Planner::new),
                edits: Vec::new(),
                notes: Vec::new(),
                malformed: None,
                has_changed: false,
            },
            throttle: Throttle::new(interval_ms),
            seq: 0,
            is_finished: false,
        }
    }

    /// Takes a piece of the patch at a time of the caller's clock, in milliseconds. A malformed line ends the call; what
    /// comes after it is passed over.
    pub fn push(&mut self, chunk: &[u8], now_ms: u64, fill: &mut Fill<'_>, emit: &mut Emit<'_>) {
        if self.is_finished {
            return;
        }
        self.state.has_changed = false;
        let Live { source, state, .. } = self;
        source.push(chunk, &mut |event| state.fold(&event, fill));
        if self.state.has_changed && self.throttle.changed(now_ms) {
            self.preview(emit);
        }
        // Whoever reads along learns the reason now, not when the model has written the rest.
        if self.is_malformed() {
            self.end(false, fill, emit);
        }
    }

    /// Returns when the waiting preview must go out; `None` if none waits.
    pub fn due(&self) -> Option<u64> {
        self.throttle.due()
    }

    /// Says what time it is; a preview whose interval is over goes out.
    pub fn tick(&mut self, now_ms: u64, emit: &mut Emit<'_>) {
        if self.throttle.tick(now_ms) {
            self.preview(emit);
        }
    }

    /// Tells whether something in the call can't fit, whatever is still to come.
    pub fn cannot_fit(&self) -> bool {
        self.state.edits.iter().any(|edit| !edit.problems.is_empty())
    }

    /// Tells whether the call's syntax is wrong.
    pub fn is_malformed(&self) -> bool {
        self.state.malformed.is_some()
    }

    /// Returns what was tolerated, with its 1-based line.
    pub fn notes(&self) -> &[(String, usize)] {
        &self.state.notes
    }

    /// Ends the call: what still waits goes out, then the finish event.
    pub fn finish(&mut self, fill: &mut Fill<'_>, emit: &mut Emit<'_>) {
        self.end(true, fill, emit);
    }

    /// Ends the call although more of it may come: what still waits goes out, then the finish event.
    pub fn stop(&mut self, emit: &mut Emit<'_>) {
        self.end(false, &mut |_, _| {}, emit);
    }

    /// Ends the call although it is not whole, and says why; the last certain state goes out before.
    pub fn cut(&mut self, problem: Problem, emit: &mut Emit<'_>) {
        if !self.is_finished {
            self.state.malformed.get_or_insert(problem);
        }
        self.stop(emit);
    }

    /// Exchanges planner and numbering with what the calls of a run share: once to lend them, once to give them back.
    pub fn exchange(&mut self, shared: &mut Shared) {
        std::mem::swap(&mut self.state.planner, &mut shared.planner);
        std::mem::swap(&mut self.seq, &mut shared.seq);
    }

    /// Tells whether the finish event is out.
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Returns what is malformed.
    pub fn malformed(&self) -> Option<&Problem> {
        self.state.malformed.as_ref()
    }

    /// Returns the patch so far.
    pub fn patch(&self) -> &Patch {
        self.state.builder.patch()
    }

    /// Gives the patch back.
    pub fn into_patch(self) -> Patch {
        self.state.builder.into_patch()
    }

    fn end(&mut self, is_whole: bool, fill: &mut Fill<'_>, emit: &mut Emit<'_>) {
        if self.is_finished {
            return;
        }
        self.is_finished = true;
        self.state.has_changed = false;
        if is_whole {
            let Live { source, state, .. } = self;
            source.finish(&mut |event| state.fold(&event, fill));
        }
        if self.throttle.flush() | self.state.has_changed {
            self.preview(emit);
        }
        let problems: Vec<Problem> = self
            .state
            .malformed
            .iter()
            .chain(self.state.edits.iter().flat_map(|edit| &edit.problems))
            .cloned()
            .collect();
        let fits = match (&self.state.planner, self.cannot_fit()) {
            (_, true) => Some(false),
            (Some(_), false) if is_whole && !self.is_malformed() => Some(true),
            _ => None,
        };
        let event = PreviewEvent::Finish {
            schema: PreviewSchema::V1,
            seq: self.next_seq(),
            call_id: self.call_id.clone(),
            ok: !self.is_malformed(),
            fits,
            error: outcome::error_report(problems),
        };
        emit(&event);
    }

    fn next_seq(&mut self) -> u64 {
        self.seq += 1;
        self.seq - 1
    }

    fn preview(&mut self, emit: &mut Emit<'_>) {
        let files = self.state.files();
        let seq = self.next_seq();
        emit(&PreviewEvent::Preview {
            schema: PreviewSchema::V1,
            seq,
            call_id: self.call_id.clone(),
            tentative: true,
            files,
        });
    }
}

impl State {
    fn fold(&mut self, event: &PatchEvent<'_>, fill: &mut Fill<'_>) {
        self.builder.fold(event);
        match event {
            PatchEvent::FileOpened { .. } => {
                self.edits.push(LiveEdit {
                    placement: Placement::Unknown,
                    problems: Vec::new(),
                    closed_hunks: 0,
                    added: 0,
                    removed: 0,
                    diffs: None,
                });
                self.probe(fill);
                self.has_changed = true;
            }
            PatchEvent::MovedTo { .. }
            | PatchEvent::Named { .. }
            | PatchEvent::Mode { .. }
            | PatchEvent::Bytes { .. }
            | PatchEvent::Old { .. }
            | PatchEvent::New { .. }
            | PatchEvent::Count { .. } => self.has_changed = true,
            PatchEvent::OldDone => self.probe(fill),
            PatchEvent::Line { kind, .. } => {
                if let Some(edit) = self.edits.last_mut() {
                    match kind {
                        crate::patch::LineKind::Insert => edit.added += 1,
                        crate::patch::LineKind::Delete => edit.removed += 1,
                        crate::patch::LineKind::Context => {}
                    }
                }
                self.has_changed = true;
            }
            PatchEvent::HunkClosed => {
                if let Some(edit) = self.edits.last_mut() {
                    edit.closed_hunks += 1;
                }
                self.probe(fill);
            }
            PatchEvent::FileClosed => {
                self.plan(fill);
                self.has_changed = true;
            }
            PatchEvent::Tolerated { note, line_number } => self.notes.push((note.clone(), *line_number)),
            PatchEvent::Malformed(problem) => self.malformed = Some((**problem).clone()),
            PatchEvent::HunkOpened { .. }
            | PatchEvent::ReplaceOpened
            | PatchEvent::Anchor { .. }
            | PatchEvent::NoNewline
            | PatchEvent::EndOfFile => {}
        }
    }

    /// Looks at the open edit: at its path, or at the hunk that was closed.
    fn probe(&mut self, fill: &mut Fill<'_>) {
        let number = self.edits.len();
        let (Some(planner), Some(edit)) = (&mut self.planner, self.builder.patch().edits.last()) else {
            return;
        };
        let Some(live) = self.edits.last_mut() else { return };
        // A path that is refused is refused for every hunk: once is enough.
        if live.problems.iter().any(|problem| problem.hunk.is_none()) {
            return;
        }
        fill(planner, edit);
        let (placement, problem) = planner.probe(edit);
        if let Some(problem) = problem {
            let path = problem.path.clone().or_else(|| Some(edit.path.shown().into_owned()));
            let line = problem.line.or(Some(edit.line_number));
            live.problems.push(Problem { edit: Some(number), path, line, ..problem });
        }
        let was = live.placement;
        if live.problems.is_empty() || placement != Placement::Located {
            live.placement = placement;
        }
        self.has_changed |= was != live.placement;
    }

    /// Plans the edit that was closed; what it says replaces what was known of single hunks.
    fn plan(&mut self, fill: &mut Fill<'_>) {
        let number = self.edits.len();
        let (Some(edit), Some(live)) = (self.builder.patch().edits.last(), self.edits.last_mut()) else {
            return;
        };
        let mut placed = None;
        if let Some(planner) = &mut self.planner {
            fill(planner, edit);
            match planner.plan(number, edit) {
                Ok(planned) => {
                    live.problems.clear();
                    live.placement = Placement::Located;
                    let (path, _) = request::paths(edit);
                    placed = Some(outcome::diffs(&path, planned.before.as_deref(), planned.after.as_ref()));
                }
                Err(problems) => {
                    live.placement =
                        problems.first().map_or(Placement::Unknown, crate::plan::planner::placement_of);
                    live.problems = problems;
                }
            }
        }
        let diffs = placed.unwrap_or_else(|| request::diffs(edit));
        (live.added, live.removed) = total(&diffs);
        live.diffs = Some(diffs);
    }

    fn files(&mut self) -> Vec<PreviewFile> {
        let State { builder, planner, edits, .. } = self;
        let edits = builder.patch().edits.iter().zip(edits.iter());
        edits.enumerate().map(|(index, (edit, live))| file(index, edit, live, planner.as_mut())).collect()
    }
}

fn file(index: usize, edit: &FileEdit, live: &LiveEdit, planner: Option<&mut Planner>) -> PreviewFile {
    let (path, from) = request::paths(edit);
    let diffs = live.diffs.clone().unwrap_or_else(|| open_diffs(&path, edit, live, planner));
    PreviewFile {
        index,
        operation: request::operation(edit),
        from,
        added: live.added,
        removed: live.removed,
        complete: edit.complete,
        placement: live.placement,
        problem: live.problems.first().cloned(),
        diffs,
        path,
    }
}

/// The hunks of an edit that is still open: those that are closed at their places, if all have one; the rest, and the
/// one that is still being written, as requested.
fn open_diffs(path: &str, edit: &FileEdit, live: &LiveEdit, planner: Option<&mut Planner>) -> Vec<FileDiff> {
    let Body::Hunks(hunks) = &edit.body else { return request::diffs(edit) };
    let draft =
        planner.filter(|_| live.closed_hunks > 0).and_then(|planner| planner.draft(edit, live.closed_hunks));
    let (mut diffs, rest): (Vec<FileDiff>, &[Hunk]) = match draft {
        Some(planned) => (
            outcome::diffs(path, planned.before.as_deref(), planned.after.as_ref()),
            hunks.get(live.closed_hunks..).unwrap_or_default(),
        ),
        None => (Vec::new(), hunks.as_slice()),
    };
    diffs.extend(rest.iter().filter(|hunk| !is_blank(hunk)).map(|hunk| request::hunk_diff(path, hunk)));
    diffs
}

fn is_blank(hunk: &Hunk) -> bool {
    matches!(hunk, Hunk::Lines(lines) if lines.is_empty())
}

fn total(diffs: &[FileDiff]) -> (usize, usize) {
    diffs.iter().map(counts).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}
