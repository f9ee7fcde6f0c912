//! What an undo needs of the logs of other agents: which calls they tell, and records of those that hold enough.
//!
//! A log of another agent has no bytes. Where it has whole texts, they are the way back as long as the file is what they
//! say; else its hunks are, where what they left still stands. What is missing for either is said of each call.

use std::collections::HashMap;

use crate::plan::outcome::sha256_hex;
use crate::plan::outcome::way_back;
use crate::report::Card;
use crate::report::CardFile;
use crate::report::CardStatus;
use crate::report::Change;
use crate::report::Code;
use crate::report::DiffNote;
use crate::report::FileDiff;
use crate::report::Operation;
use crate::report::Problem;
use crate::report::RecordFile;
use crate::report::RecordMeta;
use crate::report::Recorded;
use crate::session::Replay;
use crate::session::ReplayError;
use crate::session::ReplayOptions;
use crate::session::ReplaySummary;
use crate::session::net;
use crate::session::net::Step;
use crate::session::told::Content;
use crate::session::told::Told;
use crate::text::path::within;

use super::Found;
use super::History;
use super::Holds;
use super::LoggedCall;

/// Reads the calls of another agent's log.
#[derive(Debug)]
pub struct ForeignHistory {
    replay: Replay,
    history: History,
}

impl ForeignHistory {
    /// Begins a log.
    pub fn new(options: ReplayOptions) -> Self {
        let replay = Replay::new(ReplayOptions { is_told: true, has_sections: false, ..options });
        ForeignHistory { replay, history: History::default() }
    }

    /// Takes the next block.
    pub fn push(&mut self, block: &[u8]) {
        let cards = pushed(&mut self.replay, block);
        let root = self.replay.folder();
        cards.iter().for_each(|(card, told)| self.history.take_card(card, told, root));
    }

    /// Ends the log.
    ///
    /// # Errors
    /// It was none.
    pub fn finish(self) -> Result<History, ReplayError> {
        let ForeignHistory { replay, mut history } = self;
        let summary = finished(replay, &mut |card, told, root| history.take_card(card, told, root))?;
        history.bad_lines = summary.bad_line_count;
        history.notes = summary.notes;
        Ok(history)
    }
}

/// Reads the records of chosen calls of another agent's log.
#[derive(Debug)]
pub struct ForeignRecords {
    replay: Replay,
    taken: Taken,
}

#[derive(Debug, Default)]
struct Taken {
    /// Which of the applied calls are wanted.
    wanted: Vec<usize>,
    /// Count of applied calls so far.
    count: usize,
    found: Found,
}

impl ForeignRecords {
    /// Begins to look for the records of these calls.
    pub fn of<'a>(calls: impl IntoIterator<Item = &'a LoggedCall>, options: ReplayOptions) -> Self {
        let replay = Replay::new(ReplayOptions { is_told: true, has_sections: false, ..options });
        let wanted = calls.into_iter().map(|call| call.place).collect();
        ForeignRecords { replay, taken: Taken { wanted, ..Taken::default() } }
    }

    /// Takes the next block of the same log.
    pub fn push(&mut self, block: &[u8]) {
        let cards = pushed(&mut self.replay, block);
        let root = self.replay.folder();
        cards.iter().for_each(|(card, told)| self.taken.take(card, told, root));
    }

    /// Ends the log.
    ///
    /// # Errors
    /// It was none.
    pub fn finish(self) -> Result<Found, ReplayError> {
        let ForeignRecords { replay, mut taken } = self;
        finished(replay, &mut |card, told, root| taken.take(card, told, root))?;
        Ok(taken.found)
    }
}

/// Takes a card, what its log tells beside it, and the folder of its session.
type Take<'a> = &'a mut dyn FnMut(&Card, &[Told], Option<&str>);

fn pushed(replay: &mut Replay, block: &[u8]) -> Vec<(Card, Vec<Told>)> {
    let mut cards = Vec::new();
    replay.push_told(block, &mut |card, told| cards.push((card, told)));
    cards
}

fn finished(mut replay: Replay, take: Take<'_>) -> Result<ReplaySummary, ReplayError> {
    let mut cards = Vec::new();
    replay.settle_told(&mut |card, told| cards.push((card, told)));
    let root = replay.folder().map(str::to_owned);
    cards.iter().for_each(|(card, told)| take(card, told, root.as_deref()));
    replay.finish_told(&mut |card, told| take(&card, &told, root.as_deref()))
}

impl History {
    fn take_card(&mut self, card: &Card, told: &[Told], root: Option<&str>) {
        if self.cwd.is_none() {
            self.cwd = root.map(str::to_owned);
        }
        let id = card.source.call_id.clone().unwrap_or_default();
        match card.status {
            CardStatus::Applied | CardStatus::Partial => {
                let record = record_of(card, told, root);
                self.calls.push(LoggedCall {
                    holds: match &record {
                        Ok(record) if record.files.is_empty() => Holds::NoChange,
                        Ok(_) => Holds::Bytes,
                        Err(_) => Holds::NoBytes,
                    },
                    lacks: record.err(),
                    id,
                    tool: card.source.tool.clone(),
                    seq: None,
                    turn: card.source.turn,
                    line: card.source.line,
                    place: self.calls.len(),
                    undoes: Vec::new(),
                    is_in_effect: true,
                });
            }
            CardStatus::Unknown => self.unanswered.push(id),
            CardStatus::Failed | CardStatus::Rejected | CardStatus::Held => {
                self.failed.insert(id);
            }
        }
    }
}

impl Taken {
    fn take(&mut self, card: &Card, told: &[Told], root: Option<&str>) {
        if !matches!(card.status, CardStatus::Applied | CardStatus::Partial) {
            return;
        }
        let place = self.count;
        self.count += 1;
        let folder = card.source.folder.as_deref().or(root);
        let paths = card.files.iter().flat_map(|file| std::iter::once(&file.path).chain(&file.from));
        let paths: Vec<String> = paths.map(|path| placed(root, folder, path)).collect();
        let id = card.source.call_id.as_deref().unwrap_or("a call");
        for path in &paths {
            if let Some(later) = self.found.later.get_mut(path) {
                later.push((place, format!("{id} ({})", card.source.tool)));
            }
        }
        if self.wanted.contains(&place)
            && let Ok(record) = record_of(card, told, root)
        {
            self.found.records.insert(place, record);
            for path in paths {
                self.found.later.entry(path).or_default();
            }
        }
    }
}

/// Returns a path as it is looked for: relative to the folder of the session, else as the log tells it.
fn placed(root: Option<&str>, folder: Option<&str>, path: &str) -> String {
    within(root, folder, path).unwrap_or_else(|| net::key(folder, path))
}

/// Returns the record of a call, or what is missing for one, in words.
fn record_of(card: &Card, told: &[Told], root: Option<&str>) -> Result<RecordMeta, String> {
    let folder = card.source.folder.as_deref().or(root);
    let mut record = RecordMeta::default();
    let mut seen: HashMap<&str, ()> = HashMap::new();
    let unsaid = Told::default();
    for (index, file) in card.files.iter().enumerate().filter(|(_, file)| net::is_done(card, file)) {
        let diffs: Vec<&FileDiff> = card.diffs.iter().filter(|diff| diff.path == file.path).collect();
        let told = told.get(index).unwrap_or(&unsaid);
        let step = Step { file, told, diffs: &diffs, source: &card.source };
        let lacks = |why: &str| format!("{}: {why}", file.path);
        if seen.insert(&file.path, ()).is_some() {
            return Err(lacks("the call changed it several times, and the log does not keep them apart"));
        }
        if card.status == CardStatus::Partial && file.status.is_none() && file.recorded == Recorded::Request {
            return Err(lacks("the log does not say which part of the call was done"));
        }
        let mut entry = entry_of(&step).map_err(lacks)?;
        entry.path = placed(root, folder, &file.path);
        entry.from = file.from.as_ref().map(|from| placed(root, folder, from));
        let moved = diffs.iter().map(|&diff| FileDiff { path: entry.path.clone(), ..diff.clone() });
        record.diffs.extend(moved);
        record.files.push(entry);
    }
    Ok(record)
}

/// Returns what the record of a file holds, or what is missing.
fn entry_of(step: &Step<'_>) -> Result<RecordFile, &'static str> {
    let file = step.file;
    let entry = bare(file);
    match file.operation {
        Operation::Create => {
            let text = step.whole_new().map_err(|_| {
                "what the call wrote is not recorded, so that nothing tells whether the file still is that"
            })?;
            let after_sha256 = Some(sha256_hex(text.as_bytes()));
            Ok(RecordFile { after_sha256, undo: way_back(b"", text.as_bytes()), ..entry })
        }
        Operation::Delete => {
            let text = match &step.told.before {
                Content::Text(text) => Some(text.clone()),
                Content::Unknown | Content::Absent | Content::Bytes(_) => step.whole_old(),
            };
            let text = text.ok_or("what the file held is not recorded")?;
            let before_sha256 = Some(sha256_hex(text.as_bytes()));
            Ok(RecordFile { before_sha256, undo: way_back(text.as_bytes(), b""), ..entry })
        }
        Operation::Copy => Err("what was copied is not recorded"),
        Operation::Update | Operation::Rename => {
            if let (Content::Text(before), Content::Text(after)) = (&step.told.before, &step.told.after) {
                return Ok(RecordFile {
                    before_sha256: Some(sha256_hex(before.as_bytes())),
                    after_sha256: Some(sha256_hex(after.as_bytes())),
                    undo: way_back(before.as_bytes(), after.as_bytes()),
                    ..entry
                });
            }
            lacks_hunks(step).map_or(Ok(entry), Err)
        }
    }
}

/// Says why hunks do not lead back.
fn lacks_hunks(step: &Step<'_>) -> Option<&'static str> {
    let is_overwritten = |diff: &&&FileDiff| diff.notes.contains(&DiffNote::OldUnknown);
    if step.diffs.iter().any(|diff| is_overwritten(&diff)) || step.overwritten().is_some() {
        return Some("the call wrote the whole file, and what stood there before is not recorded");
    }
    if step.diffs.is_empty() {
        let is_told = step.file.recorded != Recorded::Path;
        return (!is_told).then_some("the log names the file and does not hold the change");
    }
    if step.diffs.iter().any(|diff| net::is_raw(diff)) {
        if step.file.added.is_none() {
            return Some("the call replaced a text wherever it stood, and the places are not recorded");
        }
        if step.diffs.iter().any(|diff| diff.new_text.is_empty()) {
            return Some("the call took text away, and where that stood is not recorded");
        }
    }
    None
}

/// A record that says only what the card does.
fn bare(file: &CardFile) -> RecordFile {
    RecordFile {
        eol: file.eol.unwrap_or(Change { before: None, after: None }),
        mode: file.mode.clone().unwrap_or_default(),
        added: file.added.unwrap_or(0),
        removed: file.removed.unwrap_or(0),
        ..RecordFile::new(file.path.clone(), file.operation)
    }
}

/// Says what a record of another agent lacks.
pub(super) fn lacking(call: &LoggedCall, why: &str) -> Problem {
    let message =
        format!("{} ({}, line {} of the log) can't be undone: {why}", call.id, call.tool, call.line);
    Problem::new(Code::NotRecorded, message)
        .with_hint("only logs that hunkwise writes (--log) hold the bytes of every change")
}
