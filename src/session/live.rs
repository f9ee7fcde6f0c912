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
use crate::patch::Reading;
use crate::patch::args::Args;
use crate::patch::request;
use crate::plan::Options;
use crate::plan::Planner;
use crate::plan::outcome;
use crate::report::Code;
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

/// What arrives of a call.
#[derive(Debug)]
pub enum Input {
    /// A patch's text.
    Text(Parser),
    /// A tool's arguments as JSON.
    Args(Box<Args>),
}

impl Input {
    /// Returns the input of a call whose text is a patch.
    pub fn text(dialect: Dialect) -> Self {
        Input::Text(Parser::new(dialect))
    }

    /// Returns the input of a call whose text is put into an envelope, of which so many lines stand before it.
    pub fn enclosed(lines_before: usize) -> Self {
        Input::Text(Parser::new(Reading { lines_before, ..Reading::from(Dialect::ApplyPatch) }))
    }

    /// Returns the input of a call of which the arguments arrive.
    pub fn args(tool: &str) -> Self {
        Input::Args(Box::new(Args::new(tool)))
    }

    fn push(&mut self, chunk: &[u8], say: &mut dyn FnMut(PatchEvent<'_>)) {
        match self {
            Input::Text(parser) => parser.push(chunk, say),
            Input::Args(args) => args.push(chunk, say),
        }
    }

    fn finish(&mut self, say: &mut dyn FnMut(PatchEvent<'_>)) {
        match self {
            Input::Text(parser) => parser.finish(say),
            Input::Args(args) => args.finish(say),
        }
    }
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
    input: Input,
    call_id: Option<String>,
    state: State,
    throttle: Throttle,
    seq: u64,
    is_finished: bool,
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
    /// Returns a call of which nothing has come; `call_id` goes into its events. Without `locate`, no file is asked for
    /// and nothing is placed.
    pub fn new(input: Input, call_id: Option<String>, interval_ms: u64, locate: Option<Options>) -> Self {
        Live {
            input,
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
        if self.fold(chunk, fill) && self.throttle.changed(now_ms) {
            self.preview(emit);
        }
        self.end_if_malformed(fill, emit);
    }

    /// Takes the whole of the patch, whose end follows at once: nothing is shown of it before.
    pub fn push_whole(&mut self, text: &[u8], fill: &mut Fill<'_>, emit: &mut Emit<'_>) {
        if self.fold(text, fill) {
            self.throttle.hold();
        }
        self.end_if_malformed(fill, emit);
    }

    /// Reads a piece; tells whether what is shown changes by it.
    fn fold(&mut self, chunk: &[u8], fill: &mut Fill<'_>) -> bool {
        if self.is_finished {
            return false;
        }
        self.state.has_changed = false;
        let Live { input, state, .. } = self;
        input.push(chunk, &mut |event| state.fold(&event, fill));
        self.state.has_changed
    }

    fn end_if_malformed(&mut self, fill: &mut Fill<'_>, emit: &mut Emit<'_>) {
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

    /// Tells whether no edit of a patch text is open, so that the next line may be words.
    pub fn is_outside(&self) -> bool {
        match &self.input {
            _ if self.is_finished => true,
            Input::Text(parser) => parser.is_outside(),
            Input::Args(_) => false,
        }
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
            let Live { input, state, .. } = self;
            input.finish(&mut |event| state.fold(&event, fill));
        }
        if self.throttle.flush() | self.state.has_changed {
            self.preview(emit);
        }
        let is_empty_text = matches!(self.input, Input::Text(_)) && self.state.edits.is_empty();
        if is_whole && is_empty_text && !self.is_malformed() {
            let problem = Problem::new(Code::NoEdits, "the patch has no file edit");
            self.state.malformed =
                Some(problem.with_hint("a patch creates, updates, deletes or renames at least one file"));
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
            PatchEvent::MovedTo { .. } | PatchEvent::Mode { .. } => self.has_changed = true,
            PatchEvent::Named { .. } => {
                self.probe(fill);
                self.has_changed = true;
            }
            // Of a text that grows only whole lines are shown.
            PatchEvent::Bytes { bytes: text } | PatchEvent::New { text } => {
                let newlines = memchr::memchr_iter(b'\n', text).count();
                if let Some(edit) = self.edits.last_mut() {
                    edit.added += newlines;
                }
                self.has_changed |= newlines > 0;
            }
            PatchEvent::Old { text } => {
                let newlines = memchr::memchr_iter(b'\n', text).count();
                if let Some(edit) = self.edits.last_mut() {
                    edit.removed += newlines;
                }
                self.has_changed |= newlines > 0;
            }
            PatchEvent::OldDone => {
                let is_cut = self.builder.last_replace().is_some_and(|replace| is_cut(&replace.old));
                if let Some(edit) = self.edits.last_mut() {
                    edit.removed += usize::from(is_cut);
                }
                self.has_changed |= is_cut;
                self.probe(fill);
            }
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
            PatchEvent::Narrowed => {
                // Each line that turned out to be context was counted on both sides.
                let context = self.builder.last_hunk_lines().map_or(0, |hunk| {
                    hunk.lines().filter(|line| line.kind == crate::patch::LineKind::Context).count()
                });
                if let Some(edit) = self.edits.last_mut() {
                    edit.added -= context.min(edit.added);
                    edit.removed -= context.min(edit.removed);
                }
                self.has_changed = true;
            }
            PatchEvent::HunkClosed => {
                let replace = self.builder.last_replace();
                if let Some(edit) = self.edits.last_mut() {
                    edit.closed_hunks += 1;
                    edit.added += usize::from(replace.is_some_and(|replace| is_cut(&replace.new)));
                }
                // A replacement was looked for when its old text was complete.
                match replace {
                    Some(_) => self.has_changed = true,
                    None => self.probe(fill),
                }
            }
            PatchEvent::FileClosed => {
                self.plan(fill);
                self.has_changed = true;
            }
            PatchEvent::Tolerated { note, line_number } => self.notes.push((note.clone(), *line_number)),
            PatchEvent::Malformed(problem) => self.malformed = Some((**problem).clone()),
            PatchEvent::HunkOpened { .. }
            | PatchEvent::ReplaceOpened
            | PatchEvent::BinaryOpened { .. }
            | PatchEvent::Binary { .. }
            | PatchEvent::Count { .. }
            | PatchEvent::Anchor { .. }
            | PatchEvent::Section { .. }
            | PatchEvent::CarriageReturn
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
        // A path that is still to come is looked at once it is there; then, of a hunk, only what is complete.
        let is_cut = match &edit.body {
            Body::Hunks(hunks) => match hunks.last() {
                Some(Hunk::Lines(_)) => hunks.len() > live.closed_hunks,
                Some(Hunk::Replace(_) | Hunk::Binary(_)) | None => false,
            },
            Body::Content(_) | Body::Delete(_) => false,
        };
        if edit.path.bytes().is_empty() || is_cut {
            return;
        }
        // A path that is refused is refused for every hunk: once is enough.
        if live.problems.iter().any(|problem| problem.hunk.is_none()) {
            return;
        }
        fill(planner, edit);
        let (placement, problem) = planner.probe(edit);
        if let Some(problem) = problem {
            let path = problem.path.clone().or_else(|| Some(edit.path.shown().into_owned()));
            let line = problem.line.or((edit.line_number > 0).then_some(edit.line_number));
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
    let hunks = match &edit.body {
        Body::Hunks(hunks) => hunks,
        Body::Content(_) | Body::Delete(_) => return request::growing_diffs(edit),
    };
    let draft =
        planner.filter(|_| live.closed_hunks > 0).and_then(|planner| planner.draft(edit, live.closed_hunks));
    let (mut diffs, rest): (Vec<FileDiff>, &[Hunk]) = match draft {
        Some(planned) => (
            outcome::diffs(path, planned.before.as_deref(), planned.after.as_ref()),
            hunks.get(live.closed_hunks..).unwrap_or_default(),
        ),
        None => (Vec::new(), hunks.as_slice()),
    };
    let open_from = live.closed_hunks.saturating_sub(hunks.len() - rest.len());
    let shown = rest.iter().enumerate().filter(|(_, hunk)| !is_blank(hunk));
    diffs.extend(shown.filter_map(|(index, hunk)| {
        if index < open_from {
            Some(request::hunk_diff(path, hunk))
        } else {
            request::growing_hunk_diff(path, hunk)
        }
    }));
    diffs
}

/// Tells whether a text ends inside of a line.
fn is_cut(text: &[u8]) -> bool {
    text.last().is_some_and(|&byte| byte != b'\n')
}

fn is_blank(hunk: &Hunk) -> bool {
    matches!(hunk, Hunk::Lines(lines) if lines.is_empty())
}

fn total(diffs: &[FileDiff]) -> (usize, usize) {
    diffs.iter().map(counts).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::plan::FileState;
    use crate::plan::FoundFile;
    use crate::plan::Given;
    use crate::plan::Stamp;
    use crate::text::Document;

    /// Gives every wanted file this content; none is absent.
    fn filling(content: Option<&str>) -> impl FnMut(&mut Planner, &FileEdit) + '_ {
        move |planner, edit| {
            for want in planner.wants(edit) {
                let state = match content {
                    Some(content) => FileState::File(FoundFile {
                        document: Arc::new(Document::new(content.as_bytes().to_vec())),
                        mode: 0o100_644,
                        hard_links: 1,
                        stamp: Stamp::default(),
                    }),
                    None => FileState::Absent,
                };
                let real = want.path.clone();
                planner.give(want, Given { real, state, link: None });
            }
        }
    }

    /// Pushes each piece at a time of its own; what is shown after each, as one line.
    fn shown(tool: &str, content: Option<&str>, pieces: &[&str]) -> Vec<String> {
        let mut live = Live::new(Input::args(tool), Some("c1".to_owned()), 0, Some(Options::default()));
        let mut fill = filling(content);
        let mut seen = Vec::new();
        let mut emit = |event: &PreviewEvent| match event {
            PreviewEvent::Preview { call_id, files, .. } => {
                assert_eq!(call_id.as_deref(), Some("c1"));
                let file = &files[0];
                let diffs: Vec<(Option<&str>, &str)> = file
                    .diffs
                    .iter()
                    .map(|diff| (diff.old_text.as_deref(), diff.new_text.as_str()))
                    .collect();
                seen.push(format!(
                    "{:?} {} +{} -{} {:?} {diffs:?}",
                    file.operation, file.path, file.added, file.removed, file.placement
                ));
            }
            PreviewEvent::Finish { call_id, ok, fits, error, .. } => {
                assert_eq!(call_id.as_deref(), Some("c1"));
                let message = error.as_ref().map(|error| error.message.as_str()).unwrap_or_default();
                seen.push(format!("finish {ok} {fits:?} {message}"));
            }
        };
        for (index, piece) in pieces.iter().enumerate() {
            live.push(piece.as_bytes(), index as u64 * 10, &mut fill, &mut emit);
        }
        live.finish(&mut fill, &mut emit);
        seen
    }

    #[test]
    fn the_old_text_of_an_edit_is_looked_for_before_the_new_one_comes() {
        let pieces = [r#"{"file_path":"f","old_string":"b"#, r#"","new_"#, r#"string":"x\ny"#, r#"z"}"#];
        assert_eq!(
            shown("edit", Some("a\nb\nc\n"), &pieces),
            [
                r#"Update f +0 -0 Unknown []"#,
                r#"Update f +0 -1 Located [(Some("b"), "")]"#,
                r#"Update f +1 -1 Located [(Some("b"), "x\n")]"#,
                r#"Update f +2 -1 Located [(Some("a\nb\nc"), "a\nx\nyz\nc")]"#,
                "finish true Some(true) ",
            ]
        );
    }

    #[test]
    fn a_miss_is_known_as_soon_as_the_old_text_is_complete() {
        let mut live = Live::new(Input::args("edit"), None, 0, Some(Options::default()));
        let mut fill = filling(Some("a\nb\n"));
        let mut push = |text: &str| {
            live.push(text.as_bytes(), 0, &mut fill, &mut |_| {});
            live.cannot_fit()
        };
        assert!(!push(r#"{"file_path":"f","old_string":"q"#));
        assert!(push("\""));
        let mut live = Live::new(Input::args("edit"), None, 0, Some(Options::default()));
        let mut fill = filling(None);
        live.push(br#"{"file_path":"f","old_string":"q"#, 0, &mut fill, &mut |_| {});
        assert!(live.cannot_fit(), "there is no such file");
    }

    #[test]
    fn several_places_are_no_miss_while_all_may_still_be_meant() {
        let text = r#"{"file_path":"f","old_string":"a","new_string":"b","replace_all":true}"#;
        let last = |text| shown("edit", Some("a\na\n"), &[text]).pop().unwrap();
        assert_eq!(last(text), "finish true Some(true) ");
        assert_eq!(
            last(r#"{"file_path":"f","old_string":"a","new_string":"b"}"#),
            "finish true Some(false) the old text stands 2 times"
        );
        let mut live = Live::new(Input::args("edit"), None, 0, Some(Options::default()));
        live.push(&text.as_bytes()[..35], 0, &mut filling(Some("a\na\n")), &mut |_| {});
        assert!(!live.cannot_fit());
    }

    #[test]
    fn an_edit_of_a_list_may_need_the_ones_before_it() {
        let text = r#"{"path":"f","edits":[{"oldText":"a","newText":"q"},{"oldText":"q","newText":"z"}"#;
        let mut live = Live::new(Input::args("edit"), None, 0, Some(Options::default()));
        let mut fill = filling(Some("a\n"));
        live.push(text.as_bytes(), 0, &mut fill, &mut |_| {});
        assert!(!live.cannot_fit());
        live.push(br#",{"oldText":"a""#, 1, &mut fill, &mut |_| {});
        // It stands in the file as it is; that the list takes it away is told when the list is complete.
        assert!(!live.cannot_fit());
        live.push(br#","newText":"b"}]}"#, 2, &mut fill, &mut |_| {});
        assert!(live.cannot_fit());
    }

    #[test]
    fn content_is_shown_by_whole_lines_and_the_path_may_come_last() {
        assert_eq!(
            shown("write", None, &[r#"{"content":"a\nb"#, r#"\nc","#, r#""path":"f"}"#]),
            [
                r#"Create  +1 -0 Unknown [(None, "a\n")]"#,
                r#"Create  +2 -0 Unknown [(None, "a\nb\n")]"#,
                r#"Create f +3 -0 Located [(None, "a\nb\nc")]"#,
                "finish true Some(true) ",
            ]
        );
        assert_eq!(
            shown("write", None, &[r#"{"path":"f","content":"a"#]).pop().unwrap(),
            "finish false None the arguments are not valid JSON: expected the end of a string, found the end at byte 24"
        );
    }

    #[test]
    fn blocks_in_arguments_are_placed_when_they_end() {
        let text = r#"{"path":"f","diff":"------- SEARCH\na\nb\n=======\na\nx\n+++++++ REPLACE\n"}"#;
        let seen =
            shown("replace_in_file", Some("a\nb\nc\n"), &text.split_inclusive("\\n").collect::<Vec<_>>());
        assert_eq!(
            seen,
            [
                r#"Update f +0 -1 Unknown [(Some("a"), "")]"#,
                r#"Update f +0 -2 Unknown [(Some("a\nb"), "")]"#,
                r#"Update f +1 -2 Unknown [(Some("a\nb"), "a")]"#,
                r#"Update f +2 -2 Unknown [(Some("a\nb"), "a\nx")]"#,
                r#"Update f +1 -1 Located [(Some("a\nb\nc"), "a\nx\nc")]"#,
                r#"Update f +1 -1 Located [(Some("a\nb\nc"), "a\nx\nc")]"#,
                "finish true Some(true) ",
            ]
        );
    }
}
