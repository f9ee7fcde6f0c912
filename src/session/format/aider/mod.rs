//! aider's chat history, `.aider.chat.history.md`: Markdown, to which every run appends.
//!
//! ```text
//! log   = run*                                             it may begin in the middle of one
//! run   = "# aider chat started at TIME" line*
//! line  = "#### " what the user says                        ended by two blanks
//!       | "> " what aider says                              ended by two blanks; its further lines may lack the sign
//!       | what the model says
//! aider = "Applied edit to PATH" | "Did not apply edit to PATH (--dry-run)" | "Skipping edits to PATH"
//!       | "Allow creation of new file PATH? ANSWER" | PATH, "Create new file? ... ANSWER"
//!       | "The LLM did not conform to the edit format." ERROR
//!       | "Model: NAME with FORMAT edit format" | others
//! ```
//!
//! What the model says is in [`reply`], what aider says of it in [`outcome`]. A card is of one file of one reply: of
//! several blocks aider says once that they were applied. Where some blocks failed it applies the others, and says so
//! in its error alone. Nothing has a time, and no edit a line number. Runs are the turns.

mod outcome;
mod reply;

use std::borrow::Cow;

use serde_json::json;

use crate::report::CardStatus;
use crate::report::Operation;
use crate::report::Recorded;
use crate::session::event::Before;
use crate::session::event::Begin;
use crate::session::event::CallEvent;
use crate::session::event::CallResult;
use crate::session::event::ChangeContent;
use crate::session::event::FileChange;
use crate::session::event::Fragment;
use crate::session::event::Place;
use crate::session::event::Request;

use outcome::Outcome;
use outcome::Said;
use reply::Content;
use reply::EditFormat;
use reply::Piece;
use reply::Reply;

/// What begins a run.
const RUN: &str = "# aider chat started at ";

/// Reads lines, one after the other.
#[derive(Debug, Default)]
pub struct Aider {
    runs: u64,
    /// How this run's model writes its edits, once aider has said it.
    format: Option<EditFormat>,
    reply: Reply,
    outcome: Outcome,
    /// The number of the last line.
    line: usize,
    /// How many cards began on the same line.
    last_call: (usize, usize),
    is_after_blank: bool,
    /// The lines that say that a commit was taken back, the first of them and how many.
    taken_back: Option<(usize, usize)>,
}

/// What became of the edits of one file, where that is said, and why.
#[derive(Debug)]
struct Fate {
    path: String,
    /// The line that says it.
    line: usize,
    status: CardStatus,
    message: Option<String>,
    notes: Vec<String>,
}

impl Fate {
    fn new(path: &str, line: usize, status: CardStatus) -> Self {
        Fate { path: path.to_owned(), line, status, message: None, notes: Vec::new() }
    }
}

impl Aider {
    /// Reads one line without its newline.
    pub fn read(&mut self, text: &str, line: usize, emit: &mut dyn FnMut(CallEvent<'_>)) {
        let text = text.strip_suffix('\r').unwrap_or(text);
        self.line = line;
        let is_after_blank = std::mem::replace(&mut self.is_after_blank, text.trim().is_empty());
        let is_open = self.reply.is_open();
        let is_ended = text.ends_with("  ");
        if text.starts_with(RUN) {
            self.end_reply(emit);
            self.runs += 1;
            self.format = None;
        } else if text.starts_with("#### ") && (!is_open || is_ended && is_after_blank) {
            self.end_reply(emit);
        } else if let Some(said) = text.strip_prefix("> ").or_else(|| (text == ">").then_some(""))
            && (!is_open || is_ended && outcome::ends_reply(said))
        {
            self.reply.cut();
            self.aider(said, emit);
        } else {
            if !text.trim().is_empty() {
                self.outcome.leave();
                if self.outcome.is_told() {
                    self.end_reply(emit);
                }
            }
            self.reply.line(line, text);
        }
    }

    /// Ends the log.
    pub fn finish(&mut self, emit: &mut dyn FnMut(CallEvent<'_>)) {
        self.end_reply(emit);
        if let Some((line, times)) = self.taken_back.take() {
            let commits = if times == 1 { "a commit".to_owned() } else { format!("{times} commits") };
            emit(CallEvent::Note(format!(
                "aider took {commits} back, from line {line} on; their edits are drawn all the same"
            )));
        }
    }

    /// Takes what aider says.
    fn aider(&mut self, said: &str, emit: &mut dyn FnMut(CallEvent<'_>)) {
        match self.outcome.line(self.line, said) {
            Some(Said::Format(name)) => self.format = EditFormat::from_name(&name).or(self.format),
            Some(Said::Applied(path)) => {
                let pieces = self.take_named(&path);
                if pieces.is_empty() {
                    // It may be a file under another name than the model gave it: the other outcomes tell which.
                    self.outcome.unmatched.push((path, self.line));
                } else {
                    self.tell(Fate::new(&path, self.line, CardStatus::Applied), pieces, emit);
                }
            }
            Some(Said::NotApplied(path, status)) => {
                let pieces = self.take_named(&path);
                let message = Some(said.trim().to_owned());
                self.tell(Fate { message, ..Fate::new(&path, self.line, status) }, pieces, emit);
            }
            Some(Said::TakenBack) => {
                let (_, times) = self.taken_back.get_or_insert((self.line, 0));
                *times += 1;
            }
            None => {}
        }
    }

    /// Tells what is left to tell of a reply.
    fn end_reply(&mut self, emit: &mut dyn FnMut(CallEvent<'_>)) {
        self.reply.cut();
        let mut unmatched = std::mem::take(&mut self.outcome.unmatched);
        // Names of folders may be missing, or too many.
        unmatched.retain(|(path, line)| {
            let names = names_of(&self.reply.pieces);
            let base = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
            match names.iter().filter(|name| base(name) == base(path)).collect::<Vec<_>>().as_slice() {
                [name] => !self.tell_other(path, name, *line, emit),
                _ => true,
            }
        });
        for (path, line) in &unmatched {
            let is_named = |piece: &&Piece| piece.format != EditFormat::Whole;
            let names = names_of(self.reply.pieces.iter().filter(is_named));
            let is_told = matches!(names.as_slice(), [_] if unmatched.len() == 1)
                && self.tell_other(path, &names[0], *line, emit);
            if !is_told {
                // Where no name stands above a file, aider takes the one of the chat or of the words before.
                let is_alone = unmatched.len() == 1 && self.format == Some(EditFormat::Whole);
                let pieces = if is_alone { self.take_unnamed() } else { Vec::new() };
                self.tell(Fate::new(path, *line, CardStatus::Applied), pieces, emit);
            }
        }
        self.tell_rest(emit);
        self.reply = Reply::default();
        self.outcome = Outcome::default();
    }

    /// Tells of edits that have no outcome of their own: what an error says of them, or nothing.
    fn tell_rest(&mut self, emit: &mut dyn FnMut(CallEvent<'_>)) {
        for name in names_of(&self.reply.pieces) {
            let pieces = self.take_named(&name);
            // Fences are illustrations, unless aider says that it took them for files.
            if pieces.iter().all(|piece| piece.format == EditFormat::Whole) {
                continue;
            }
            let (failed, others): (Vec<Piece>, Vec<Piece>) =
                pieces.into_iter().partition(|piece| self.outcome.has_failed(piece));
            let line = self.outcome.line_or(failed.iter().chain(&others).map(|piece| piece.line));
            let message = self.outcome.error();
            let fate = |status| Fate { message: message.clone(), ..Fate::new(&name, line, status) };
            if !self.outcome.is_error() {
                self.tell(fate(CardStatus::Unknown), others, emit);
            } else if others.is_empty() {
                self.tell(fate(CardStatus::Failed), failed, emit);
            } else if !self.outcome.are_others_applied() {
                let notes = if failed.is_empty() {
                    vec!["the error does not say what became of this".to_owned()]
                } else {
                    vec![format!(
                        "{} failed and is not drawn; what became of the rest is not said",
                        count(failed.len())
                    )]
                };
                self.tell(Fate { notes, ..fate(CardStatus::Unknown) }, others, emit);
            } else if failed.is_empty() {
                self.tell(Fate::new(&name, line, CardStatus::Applied), others, emit);
            } else {
                self.tell(fate(CardStatus::Partial), others, emit);
            }
        }
    }

    /// Tells of edits under a name that is not the file's.
    fn tell_other(
        &mut self,
        path: &str,
        name: &str,
        line: usize,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) -> bool {
        let pieces = self.take_named(name);
        if pieces.is_empty() {
            return false;
        }
        let notes = vec![format!("the model names it {name}")];
        self.tell(Fate { notes, ..Fate::new(path, line, CardStatus::Applied) }, pieces, emit);
        true
    }

    /// Takes the edits of a file out of the reply; of several formats those of the run's.
    fn take_named(&mut self, path: &str) -> Vec<Piece> {
        let (named, others): (Vec<Piece>, Vec<Piece>) = std::mem::take(&mut self.reply.pieces)
            .into_iter()
            .partition(|piece| piece.names.iter().any(|name| name == path));
        self.reply.pieces = others;
        let has = |format: EditFormat| named.iter().any(|piece| piece.format == format);
        let order = [EditFormat::Diff, EditFormat::Patch, EditFormat::Udiff, EditFormat::Whole];
        let Some(format) = self.format.into_iter().chain(order).find(|format| has(*format)) else {
            return Vec::new();
        };
        named.into_iter().filter(|piece| piece.format == format).collect()
    }

    /// Takes the whole files without a name out of the reply.
    fn take_unnamed(&mut self) -> Vec<Piece> {
        let is_unnamed = |piece: &Piece| piece.format == EditFormat::Whole && piece.names.is_empty();
        let (unnamed, others) = std::mem::take(&mut self.reply.pieces).into_iter().partition(is_unnamed);
        self.reply.pieces = others;
        unnamed
    }

    /// Says the call and the result of the edits of one file.
    fn tell(&mut self, mut fate: Fate, pieces: Vec<Piece>, emit: &mut dyn FnMut(CallEvent<'_>)) {
        let turn = Some(self.runs).filter(|runs| *runs > 0);
        let place = |line| Place { line, turn, time: None };
        let begun = pieces.first().map_or(fate.line, |piece| piece.line);
        self.last_call = (begun, if self.last_call.0 == begun { self.last_call.1 + 1 } else { 1 });
        let call_id = format!("{begun}:{}", self.last_call.1);
        let format = pieces.first().map(|piece| piece.format).or(self.format);
        let is_new = self.outcome.created.contains(&fate.path);
        let (request, changes) = asked(&mut fate, &pieces, is_new);
        emit(CallEvent::Begin(Begin {
            call_id: Cow::Borrowed(&call_id),
            tool: format.map_or("edit", EditFormat::name).into(),
            request,
            place: place(begun),
        }));
        emit(CallEvent::Result(Box::new(CallResult {
            message: fate.message,
            notes: fate.notes,
            changes,
            ..CallResult::new(call_id, place(fate.line), fate.status)
        })));
    }
}

/// Returns the names of the files that edits are for, each once.
fn names_of<'a>(pieces: impl IntoIterator<Item = &'a Piece>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in pieces.into_iter().filter_map(|piece| piece.names.first()) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// Returns what the edits of a file ask for, and what was done if more is known than that.
fn asked(fate: &mut Fate, pieces: &[Piece], is_new: bool) -> (Request<'static>, Vec<FileChange>) {
    let Fate { path, status, notes, .. } = fate;
    let (path, status) = (path.as_str(), *status);
    let operation = is_new.then_some(Operation::Create);
    let named = |content| FileChange { operation, ..FileChange::new(path.to_owned(), content) };
    let mut texts = pieces.iter().filter_map(|piece| match &piece.content {
        Content::Text(text) => Some(text.as_str()),
        Content::Change { .. } | Content::Doubtful | Content::Broken => None,
    });
    match pieces.first().map(|piece| piece.format) {
        Some(EditFormat::Patch) => {
            let patch = format!("*** Begin Patch\n{}*** End Patch\n", texts.collect::<String>());
            return (Request::Patch(patch.into()), Vec::new());
        }
        Some(EditFormat::Whole) => {
            let text = texts.next_back().unwrap_or_default();
            let before = if is_new { Before::Absent } else { Before::Unknown };
            let content = ChangeContent::Texts { before, after: text.to_owned() };
            let changes = if status == CardStatus::Applied { vec![named(content)] } else { Vec::new() };
            let arguments = json!({"path": path, "content": text}).to_string();
            return (Request::Arguments(arguments.into()), changes);
        }
        Some(EditFormat::Diff | EditFormat::Udiff) | None => {}
    }
    let mut hunks = Vec::new();
    for piece in pieces {
        match &piece.content {
            Content::Change { old, new } => {
                hunks.push(Fragment { old: old.clone(), new: new.clone(), ..Fragment::default() });
            }
            Content::Broken => notes.push(format!("the block on line {} is cut off", piece.line)),
            Content::Text(_) | Content::Doubtful => notes.push(format!(
                "the block on line {} has more than one divider: what it replaces is not certain",
                piece.line
            )),
        }
    }
    let is_fill = is_new && !hunks.is_empty() && hunks.iter().all(|hunk| hunk.old.trim().is_empty());
    let changes = match status {
        CardStatus::Applied if is_fill => {
            let after = hunks.iter().map(|hunk| hunk.new.as_str()).collect();
            vec![named(ChangeContent::Texts { before: Before::Absent, after })]
        }
        _ => Vec::new(),
    };
    let content = if hunks.is_empty() {
        ChangeContent::Path
    } else {
        ChangeContent::Fragments { hunks, recorded: Recorded::Request }
    };
    (Request::Changes(vec![named(content)]), changes)
}

fn count(blocks: usize) -> String {
    if blocks == 1 { "1 block".to_owned() } else { format!("{blocks} blocks") }
}

/// Tells whether a text begins like such a log.
pub(super) fn is_log(head: &[u8]) -> bool {
    let lines = || head.split(|&byte| byte == b'\n');
    let has = |start: &[u8]| lines().any(|line| line.starts_with(start));
    has(RUN.as_bytes()) || has(b"> Applied edit to ") || has(b"#### ") && has(b"> Tokens: ")
}
