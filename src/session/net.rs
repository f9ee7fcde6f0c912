//! The net change of many calls: for each file one difference from what it was before them to what it is after them.
//!
//! Only what the logs hold is put together: calls that were applied, hunks by what they replace, whole texts where there
//! are some. Edits that cancel out leave nothing, and neither does a file that came and went; a file that gets another
//! name stays the same file. Where a change does not go on from what the log says the file was, nothing is guessed: what
//! comes after is a new *stretch* of that file, and says from which call on and why.

pub mod known;

use std::collections::HashMap;

use crate::diff::hunks::Sign;
use crate::diff::hunks::counts;
use crate::diff::hunks::signed_lines;
use crate::report::Card;
use crate::report::CardFile;
use crate::report::CardKind;
use crate::report::CardSchema;
use crate::report::CardStatus;
use crate::report::Change;
use crate::report::CrlfLines;
use crate::report::DiffNote;
use crate::report::EolName;
use crate::report::FileDiff;
use crate::report::Operation;
use crate::report::Recorded;
use crate::report::Source;
use crate::report::Stretch as StretchNumber;
use crate::text::document::Eol;
use crate::text::document::EolCounts;
use crate::text::document::with_lf;
use crate::text::path::within;

use super::change::file_named;
use super::change::old_unknown;
use super::told;
use super::told::Content;
use super::told::Told;

use known::Edit;
use known::Known;
use known::Placed;

/// The tool that a net card names.
pub const NET: &str = "net";

const NOT_RECORDED: &str = "its change is not recorded";
const NO_CONTENT: &str = "its content is not recorded";
const OVERWRITTEN: &str = "it writes the whole file, and what stood there is not recorded";

/// The net change of one file, or of one stretch of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetFile {
    /// What a reader is shown.
    pub card: Card,
    /// The bytes that differ, where they and their lines are known.
    pub pieces: Option<Vec<Piece>>,
    /// The one piece is the whole file.
    pub is_whole: bool,
    /// Why it can't be part of a patch of the files as they were before all calls.
    pub left_out: Option<String>,
}

/// Some lines of a file before and after, as bytes of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The lines before.
    pub old: Vec<u8>,
    /// The lines after.
    pub new: Vec<u8>,
    /// How many lines stand before the piece on the old side.
    pub old_before: usize,
    /// How many lines stand before the piece on the new side.
    pub new_before: usize,
}

/// Puts calls together, in their order.
///
/// Its memory grows with what is known of the files that differ, not with the count of calls.
#[derive(Debug, Default)]
pub struct Net {
    /// In the order in which they were first changed.
    lineages: Vec<Lineage>,
    /// Which file stands at a path.
    present: HashMap<String, usize>,
    /// Which file stood at a path last, where none does now.
    gone: HashMap<String, usize>,
    /// The folder of the first session: paths in it are shown relative to it.
    root: Option<String>,
    /// Count of calls without a result.
    unknown: usize,
}

/// One file, whatever its names.
#[derive(Debug, Clone, Default)]
struct Lineage {
    stretches: Vec<Stretch>,
    /// A call that is passed over has changed it since.
    interrupted: Option<String>,
}

/// A file on one side of a stretch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Side {
    /// Where it is; none if it is absent.
    path: Option<String>,
    mode: Option<String>,
    eol: Option<EolName>,
    encoding: Option<String>,
    bom: Option<bool>,
    sha256: Option<String>,
}

/// Changes of a file that go on from each other.
#[derive(Debug, Clone, Default)]
struct Stretch {
    begin: Side,
    end: Side,
    known: Known,
    /// Of the old side nothing is known: the text is all that was written over it.
    is_old_unknown: bool,
    /// It is a copy of the file that was there before.
    copy_of: Option<String>,
    calls: usize,
    last: Source,
    /// Why it does not go on from the stretch before.
    began: Option<String>,
    /// Why what the file is now is not known, and what the log shows of that change.
    lost: Option<(String, Vec<FileDiff>, Recorded)>,
}

/// What one call did to one file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<'a> {
    pub(super) file: &'a CardFile,
    pub(super) told: &'a Told,
    pub(super) diffs: &'a [&'a FileDiff],
    pub(super) source: &'a Source,
}

impl Net {
    /// Takes the next call; `told` is what its log tells of the card's files beside the hunks, and `root` the folder of
    /// its session.
    pub fn take(&mut self, card: &Card, told: &[Told], root: Option<&str>) {
        self.root = self.root.take().or_else(|| root.map(str::to_owned));
        if card.status == CardStatus::Unknown {
            self.unknown += 1;
        }
        let unsaid = Told::default();
        let folder = card.source.folder.as_deref().or(root);
        let mut drawn: Vec<&str> = Vec::new();
        let mut moves = Vec::new();
        let mut files: Vec<(usize, &CardFile)> =
            card.files.iter().enumerate().filter(|(_, file)| is_done(card, file)).collect();
        // All files of a record change at once: what is copied is the file as it was before, whatever else happens to it.
        files.sort_by_key(|(index, file)| {
            let is_changed = |from: &String| card.files.iter().any(|file| file.path == *from);
            let is_early = file.operation == Operation::Copy && file.from.as_ref().is_some_and(is_changed);
            !(is_early && told.get(*index).is_some_and(|told| told.is_record))
        });
        for (index, file) in files {
            let told = told.get(index).unwrap_or(&unsaid);
            let is_first = !drawn.contains(&file.path.as_str());
            drawn.push(&file.path);
            let of_file = |diff: &&FileDiff| is_first && diff.path == file.path;
            let diffs: Vec<&FileDiff> = card.diffs.iter().filter(of_file).collect();
            let step = Step { file, told, diffs: &diffs, source: &card.source };
            if !is_first && file.operation == Operation::Update {
                // The hunks of all its edits came with the first.
                continue;
            }
            let moved = self.step(&step, folder);
            // All files of a record change at once: one may get the name of another that moves away.
            match told.is_record {
                true => moves.push((moved, file, told)),
                false => self.settle(&[(moved, file, told)], card, folder),
            }
        }
        self.settle(&moves, card, folder);
    }

    /// Passes over a call: a file that it changed does not go on from what was known of it.
    pub fn pass_over(&mut self, card: &Card, root: Option<&str>) {
        let folder = card.source.folder.as_deref().or(root);
        for file in card.files.iter().filter(|file| is_done(card, file)) {
            let source = file.from.as_ref().unwrap_or(&file.path);
            if let Some(&index) = self.present.get(&key(folder, source)) {
                let reason = format!("{} changed it, and is not among those asked for", words(&card.source));
                self.lineages[index].interrupted = Some(reason);
            }
        }
    }

    /// Returns how many calls had no result: what they did, if anything, is not known.
    pub fn unknown_calls(&self) -> usize {
        self.unknown
    }

    /// Returns the folder that shown paths start in.
    pub fn root(&self) -> Option<&str> {
        self.root.as_deref()
    }

    /// Takes one file in; returns which file it is.
    fn step(&mut self, step: &Step<'_>, folder: Option<&str>) -> usize {
        let path = key(folder, &step.file.path);
        let from = step.file.from.as_ref().filter(|_| is_moved(step.file)).map(|from| key(folder, from));
        let source = from.unwrap_or_else(|| path.clone());
        let index = match step.file.operation {
            Operation::Copy => {
                let copy = self.copied(&source);
                self.push(copy)
            }
            Operation::Create => match self.present.get(&source).or_else(|| self.gone.get(&source)) {
                Some(&index) => index,
                None => self.push(Stretch {
                    known: Known::whole(String::new(), String::new()),
                    ..Stretch::default()
                }),
            },
            Operation::Update | Operation::Delete | Operation::Rename => {
                match self.present.get(&source).or_else(|| self.gone.get(&source)) {
                    Some(&index) => index,
                    None => self.push(Stretch::at(&source)),
                }
            }
        };
        let after = (step.file.operation != Operation::Delete).then_some(path);
        self.lineages[index].advance(step, &source, after);
        index
    }

    fn push(&mut self, stretch: Stretch) -> usize {
        self.lineages.push(Lineage { stretches: vec![stretch], interrupted: None });
        self.lineages.len() - 1
    }

    /// Returns a copy of a file as it is now.
    fn copied(&self, source: &str) -> Stretch {
        let Some(&index) = self.present.get(source) else {
            return Stretch { copy_of: Some(source.to_owned()), ..Stretch::default() };
        };
        let lineage = &self.lineages[index];
        let Some(last) = lineage.stretches.last() else { return Stretch::default() };
        let is_followed =
            lineage.stretches.len() == 1 && last.lost.is_none() && lineage.interrupted.is_none();
        match (last.known.texts(), &last.begin.path) {
            (Some((_, now)), _) if last.lost.is_none() && lineage.interrupted.is_none() => {
                let known = Known::whole(String::new(), now.to_owned());
                Stretch { known, end: Side { path: None, ..last.end.clone() }, ..Stretch::default() }
            }
            (_, Some(origin)) if is_followed && !last.is_old_unknown => {
                let begin = Side { path: None, ..last.begin.clone() };
                Stretch {
                    begin,
                    known: last.known.clone(),
                    copy_of: Some(origin.clone()),
                    ..Stretch::default()
                }
            }
            _ => Stretch {
                lost: Some((NO_CONTENT.to_owned(), Vec::new(), Recorded::Path)),
                ..Stretch::default()
            },
        }
    }

    /// Says what stands where after a call, or after one file of it.
    fn settle(&mut self, moves: &[(usize, &CardFile, &Told)], card: &Card, folder: Option<&str>) {
        for &(index, file, _) in moves {
            let left = match file.operation {
                Operation::Rename => file.from.as_ref(),
                Operation::Delete => Some(&file.path),
                Operation::Create | Operation::Update | Operation::Copy => None,
            };
            let Some(left) = left.map(|path| key(folder, path)) else { continue };
            if self.present.get(&left) == Some(&index) {
                self.present.remove(&left);
            }
            if file.operation == Operation::Delete {
                self.gone.insert(left, index);
            }
        }
        for &(index, file, told) in moves.iter().filter(|(_, file, _)| file.operation != Operation::Delete) {
            let path = key(folder, &file.path);
            self.replace(&path, index, told, card);
            self.gone.remove(&path);
            self.present.insert(path, index);
        }
    }

    /// Takes the file away that another one is moved over.
    fn replace(&mut self, path: &str, by: usize, told: &Told, card: &Card) {
        let known = self.present.get(path).copied().filter(|&index| index != by);
        let index = match (known, &told.replaced) {
            (Some(index), _) => index,
            (None, Some(_)) => self.push(Stretch::at(path)),
            (None, None) => return,
        };
        let replaced = told.replaced.as_ref();
        let before = replaced.map_or(Content::Unknown, |(bytes, _)| told::read(bytes.clone(), "utf-8"));
        let mode = replaced.map(|(_, mode)| Change { before: Some(mode.clone()), after: None });
        let file = CardFile { mode, recorded: Recorded::Texts, ..file_named(path, Operation::Delete) };
        let told = Told { before, after: Content::Absent, ..Told::default() };
        let step = Step { file: &file, told: &told, diffs: &[], source: &card.source };
        self.lineages[index].advance(&step, path, None);
    }

    /// Ends the calls; returns the files that differ, in the order in which they were first changed; one that made room
    /// for another comes before that.
    pub fn finish(self) -> Vec<NetFile> {
        let root = self.root.as_deref();
        let files: Vec<NetFile> =
            self.lineages.into_iter().flat_map(|lineage| lineage.finish(root)).collect();
        let of = |file: &NetFile| file.card.files.first().map(|file| (file.path.clone(), file.operation));
        let places: Vec<_> = files.iter().map(of).collect();
        let mut first_at: HashMap<&str, usize> = HashMap::new();
        for (index, (path, _)) in
            places.iter().enumerate().filter_map(|(index, of)| Some((index, of.as_ref()?)))
        {
            first_at.entry(path).or_insert(index);
        }
        let mut ordered: Vec<_> = files.into_iter().enumerate().collect();
        ordered.sort_by_key(|(index, _)| match &places[*index] {
            Some((path, Operation::Delete)) => (first_at.get(path.as_str()).copied().unwrap_or(*index), 0),
            _ => (*index, 1),
        });
        ordered.into_iter().map(|(_, file)| file).collect()
    }
}

pub(super) fn is_done(card: &Card, file: &CardFile) -> bool {
    matches!(file.status.unwrap_or(card.status), CardStatus::Applied | CardStatus::Partial)
}

fn is_moved(file: &CardFile) -> bool {
    matches!(file.operation, Operation::Rename | Operation::Copy)
}

/// Returns what names a file whatever folder a call ran in: its absolute path, where that can be told.
pub(super) fn key(folder: Option<&str>, path: &str) -> String {
    let is_absolute = path.starts_with('/') || folder.is_some_and(|folder| folder.starts_with('/'));
    let below = if is_absolute { within(Some("/"), folder, path) } else { within(None, folder, path) };
    match below {
        Some(path) if is_absolute => format!("/{path}"),
        Some(path) => path,
        None => path.to_owned(),
    }
}

/// Says which call is meant.
fn words(source: &Source) -> String {
    let log = source.log.as_deref().unwrap_or("the log");
    let call = source.call_id.as_ref().map(|id| format!("{id}, ")).unwrap_or_default();
    format!("line {} of {log} ({call}{})", source.line, source.tool)
}

impl Lineage {
    /// Takes a change of the file that is at `source` before it and at `after` then.
    fn advance(&mut self, step: &Step<'_>, source: &str, after: Option<String>) {
        let interrupted = self.interrupted.take();
        let Some(last) = self.stretches.last() else { return };
        if let Some(reason) = interrupted.or_else(|| last.contradiction(step)) {
            self.begin_anew(step, source, &reason);
        }
        let Some(last) = self.stretches.last_mut() else { return };
        if let Err(reason) = last.change(step) {
            if last.calls > 0 {
                self.begin_anew(step, source, &reason);
            }
            if let Some(last) = self.stretches.last_mut()
                && (last.calls > 0 || last.change(step).is_err())
            {
                last.lose(reason, step);
            }
        }
        if let Some(last) = self.stretches.last_mut() {
            last.end_at(step, after);
        }
    }

    fn begin_anew(&mut self, step: &Step<'_>, source: &str, reason: &str) {
        let mut stretch = match step.file.operation {
            // Other logs call a file new that is written over.
            Operation::Create if step.told.is_record => {
                Stretch { known: Known::whole(String::new(), String::new()), ..Stretch::default() }
            }
            _ => Stretch::at(source),
        };
        stretch.began = Some(format!("a new stretch, from {} on: {reason}", words(step.source)));
        self.stretches.push(stretch);
    }

    fn finish(self, root: Option<&str>) -> Vec<NetFile> {
        let (Some(first), Some(last)) = (self.stretches.first(), self.stretches.last()) else {
            return Vec::new();
        };
        let (begin, end) = (&first.begin, &last.end);
        // Whatever happened in between: it came and went, or is what it was.
        let is_same = begin.sha256.is_some() && begin.sha256 == end.sha256;
        if begin.path == end.path && (begin.path.is_none() || is_same && begin.mode == end.mode) {
            return Vec::new();
        }
        let count = self.stretches.len();
        let numbered = self.stretches.into_iter().enumerate();
        numbered.filter_map(|(index, stretch)| stretch.finish(root, (index + 1, count))).collect()
    }
}

impl Stretch {
    /// A file that is at a path, and of which nothing is known.
    fn at(path: &str) -> Self {
        let begin = Side { path: Some(path.to_owned()), ..Side::default() };
        Stretch { end: begin.clone(), begin, ..Stretch::default() }
    }

    /// Says why a change does not go on from this stretch.
    fn contradiction(&self, step: &Step<'_>) -> Option<String> {
        if self.calls == 0 {
            return None;
        }
        if let Some((reason, ..)) = &self.lost {
            return Some(format!("what the change before it left is not known: {reason}"));
        }
        let is_new = step.file.operation == Operation::Create;
        match &self.end.path {
            None if !is_new && step.file.operation != Operation::Copy => {
                return Some("the log says that the file was gone".to_owned());
            }
            Some(_) if is_new && step.told.is_record => {
                return Some("the file was gone, and the log does not say how".to_owned());
            }
            _ => {}
        }
        let (left, found) = (self.end.sha256.as_ref()?, step.told.sha256.before.as_ref()?);
        let reason = "the file was not what the call before it left: something else changed it in between";
        (left != found).then(|| reason.to_owned())
    }

    /// Takes in what a change does to the content.
    fn change(&mut self, step: &Step<'_>) -> Result<(), String> {
        if step.is_one_edit() {
            // One that does not fit changes nothing: no copy of all that is known is needed.
            return step.edit(&mut self.known);
        }
        let mut known = self.known.clone();
        let is_fresh = self.calls == 0;
        if let Content::Text(text) = &step.told.before {
            // Bytes that the same hash names may be read in another encoding now.
            let is_same = self.end.sha256.is_some() && self.end.sha256 == step.told.sha256.before;
            if !(is_same && known.write(text.clone())) {
                known.observe(text).map_err(|reason| reason.to_string())?;
            }
        }
        match step.file.operation {
            Operation::Delete => {
                if let Some(text) = step.whole_old().filter(|_| known.texts().is_none()) {
                    known.observe(&text).map_err(|reason| reason.to_string())?;
                }
                if !known.write(String::new()) {
                    known = Known::default();
                }
            }
            Operation::Create => {
                let text = step.whole_new()?;
                if !known.write(text.clone()) {
                    // It was there, or had been; what it held is not known.
                    if !is_fresh && self.end.path.is_some() {
                        return Err(OVERWRITTEN.to_owned());
                    }
                    self.is_old_unknown = self.begin.path.is_some();
                    known = Known::whole(String::new(), text);
                }
            }
            Operation::Update | Operation::Rename | Operation::Copy => match step.overwritten() {
                Some(text) => {
                    if !known.write(text.to_owned()) {
                        if !is_fresh {
                            return Err(OVERWRITTEN.to_owned());
                        }
                        self.is_old_unknown = true;
                        known = Known::whole(String::new(), text.to_owned());
                    }
                }
                None => step.edit(&mut known)?,
            },
        }
        self.known = known;
        Ok(())
    }

    /// Keeps what a log shows of a change after which it is not known what the file is.
    fn lose(&mut self, reason: String, step: &Step<'_>) {
        let diffs = step.diffs.iter().map(|&diff| diff.clone()).collect();
        self.lost = Some((reason, diffs, step.file.recorded));
    }

    fn end_at(&mut self, step: &Step<'_>, after: Option<String>) {
        let (file, told) = (step.file, step.told);
        let side = |mode: fn(&Change<String>) -> &Option<String>, is_after: bool| Side {
            path: None,
            mode: file.mode.as_ref().and_then(|change| mode(change).clone()),
            eol: file.eol.and_then(|eol| if is_after { eol.after } else { eol.before }),
            encoding: file
                .encoding
                .as_ref()
                .and_then(|encoding| if is_after { encoding.after.clone() } else { encoding.before.clone() }),
            bom: if is_after { told.bom.after } else { told.bom.before },
            sha256: if is_after { told.sha256.after.clone() } else { told.sha256.before.clone() },
        };
        // What was copied may have been changed before: then its first state is known already.
        let is_told = self.begin != Side { path: self.begin.path.clone(), ..Side::default() };
        if self.calls == 0 && !is_told {
            self.begin = Side { path: self.begin.path.take(), ..side(|mode| &mode.before, false) };
        }
        let mode = self.end.mode.take().filter(|_| after.is_some());
        let end = side(|mode| &mode.after, true);
        self.end = Side { path: after, mode: end.mode.or(mode), ..end };
        self.calls += 1;
        self.last = step.source.clone();
    }

    fn finish(self, root: Option<&str>, (number, of): (usize, usize)) -> Option<NetFile> {
        let shown = |path: &String| within(root, None, path).unwrap_or_else(|| path.clone());
        let (from, to) = (self.begin.path.as_ref().map(shown), self.end.path.as_ref().map(shown));
        let copied = self.copy_of.as_ref().map(shown).filter(|_| from.is_none());
        let path = to.clone().or_else(|| from.clone())?;
        let operation = match (&from, &to) {
            (None, Some(_)) if copied.is_some() => Operation::Copy,
            (None, Some(_)) => Operation::Create,
            (Some(_), None) => Operation::Delete,
            (Some(from), Some(to)) if from != to => Operation::Rename,
            _ => Operation::Update,
        };
        let texts = self.known.texts();
        // Of what was written over before it went only the end is known.
        let is_vague = operation == Operation::Delete && (texts.is_none() || self.is_old_unknown);
        let diffs = match (&self.lost, texts) {
            (Some((_, diffs, _)), _) => {
                diffs.iter().map(|diff| FileDiff { path: path.clone(), ..diff.clone() }).collect()
            }
            (None, Some((_, now))) if self.is_old_unknown && to.is_some() => {
                vec![old_unknown(&path, now.to_owned())]
            }
            (None, _) if is_vague || self.is_old_unknown => Vec::new(),
            (None, _) => self.known.diffs(&path),
        };
        let changes_mode =
            self.begin.mode.is_some() && self.end.mode.is_some() && self.begin.mode != self.end.mode;
        let is_same = operation == Operation::Update && diffs.is_empty() && !changes_mode;
        let is_hash_same = self.begin.sha256.is_some() && self.begin.sha256 == self.end.sha256;
        if self.lost.is_none() && !self.is_old_unknown && is_same
            || is_hash_same && operation == Operation::Update && !changes_mode
        {
            return None;
        }
        let is_told = self.lost.is_none() && !self.is_old_unknown && !is_vague;
        let exact = if is_told { self.exact() } else { Exact::Unknown };
        let recorded = match &self.lost {
            Some((.., recorded)) => *recorded,
            None if is_vague => Recorded::Path,
            None if self.is_old_unknown => Recorded::Texts,
            None if diffs.iter().any(is_raw) && operation != Operation::Create => Recorded::Request,
            None => Recorded::Hunks,
        };
        let is_counted = self.lost.is_none() && !self.is_old_unknown && !is_vague;
        let (added, removed) =
            diffs.iter().map(counts).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let mut notes: Vec<String> = self.began.iter().cloned().collect();
        notes.extend(self.lost.as_ref().map(|(reason, ..)| format!("{}: {reason}", words(&self.last))));
        if matches!(exact, Exact::Other) {
            notes.push("what its records say comes to another text than their hash names".to_owned());
        }
        let left_out = match (&self.began, &self.lost, &exact) {
            (Some(began), ..) => Some(began.clone()),
            (None, Some((reason, ..)), _) => Some(format!("{}: {reason}", words(&self.last))),
            (None, None, Exact::Other) => notes.last().cloned(),
            (None, None, _) => None,
        };
        let (eol, is_whole) = (self.eol(), texts.is_some());
        let encodings = Change { before: self.begin.encoding, after: self.end.encoding };
        let file = CardFile {
            from: copied.or(from).filter(|_| matches!(operation, Operation::Rename | Operation::Copy)),
            added: is_counted.then_some(added),
            removed: is_counted.then_some(removed),
            eol,
            encoding: (encodings.before.is_some() || encodings.after.is_some()).then_some(encodings),
            mode: (self.begin.mode.is_some() || self.end.mode.is_some())
                .then_some(Change { before: self.begin.mode, after: self.end.mode }),
            recorded,
            ..file_named(&path, operation)
        };
        let stretch = (of > 1).then_some(StretchNumber { number, of });
        let part = stretch.map(|_| format!(", stretch {number} of {of}")).unwrap_or_default();
        let source = Source {
            call_id: None,
            tool: NET.to_owned(),
            turn: None,
            folder: None,
            calls: Some(self.calls),
            stretch,
            ..self.last
        };
        let card = Card {
            schema: CardSchema::V1,
            card: CardKind::Diff,
            title: format!("{NET} {path}{part}"),
            status: CardStatus::Applied,
            source,
            files: vec![file],
            diffs,
            requested: Vec::new(),
            message: (!notes.is_empty()).then(|| notes.join("\n")),
            error: None,
            compared: None,
        };
        let pieces = match exact {
            Exact::Known(pieces) => Some(pieces),
            Exact::Unknown | Exact::Other => None,
        };
        Some(NetFile { card, pieces, is_whole, left_out })
    }

    /// Returns the line endings of both sides: as recorded, else as the known lines have them.
    fn eol(&self) -> Option<Change<EolName>> {
        if self.begin.eol.is_some() || self.end.eol.is_some() {
            return Some(Change { before: self.begin.eol, after: self.end.eol });
        }
        let (mut old, mut new) = (EolCounts::default(), EolCounts::default());
        for (before, now) in self.known.pieces() {
            for (sum, text) in [(&mut old, before), (&mut new, now)] {
                let counts = EolCounts::of(text.as_bytes());
                (sum.lf, sum.crlf) = (sum.lf + counts.lf, sum.crlf + counts.crlf);
            }
        }
        let name = |counts: EolCounts| match counts.eol() {
            Eol::Lf => Some(EolName::Lf),
            Eol::Crlf => Some(EolName::Crlf),
            Eol::Mixed => Some(EolName::Mixed),
            Eol::None => None,
        };
        let is_plain = old.crlf + new.crlf == 0;
        (!is_plain).then(|| Change { before: name(old), after: name(new) })
    }

    /// Returns the pieces that differ as the bytes that they are.
    fn exact(&self) -> Exact {
        let bytes =
            |side: &Side, text: &str| told::written(text, side.encoding.as_deref().unwrap_or("utf-8"));
        if let Some((old, new)) = self.known.texts() {
            for (side, text) in [(&self.begin, old), (&self.end, new)] {
                let Some(sha256) = side.sha256.as_ref().filter(|_| side.path.is_some()) else { continue };
                if !bytes(side, text).is_some_and(|bytes| told::is(&bytes, sha256)) {
                    return Exact::Other;
                }
            }
        }
        let Some(placed) = self.known.placed() else { return Exact::Unknown };
        let piece = |placed: &Placed<'_>| {
            Some(Piece {
                old: bytes(&self.begin, placed.old)?,
                new: bytes(&self.end, placed.new)?,
                old_before: placed.old_line - 1,
                new_before: placed.new_line - 1,
            })
        };
        placed.iter().map(piece).collect::<Option<_>>().map_or(Exact::Unknown, Exact::Known)
    }
}

/// The bytes on both sides of a stretch.
enum Exact {
    Known(Vec<Piece>),
    Unknown,
    /// They contradict the log's hashes.
    Other,
}

impl<'a> Step<'a> {
    /// Tells whether the change is one replacement in what is known.
    fn is_one_edit(&self) -> bool {
        let stays = !matches!(self.file.operation, Operation::Create | Operation::Delete);
        stays
            && self.diffs.len() == 1
            && !matches!(self.told.before, Content::Text(_))
            && self.overwritten().is_none()
    }

    /// Returns the whole text that a change writes over what stood there.
    pub(super) fn overwritten(&self) -> Option<&'a str> {
        match (&self.told.after, self.diffs) {
            (Content::Text(text), _) => Some(text),
            (_, [diff]) if diff.notes.contains(&DiffNote::OldUnknown) => Some(&diff.new_text),
            _ => None,
        }
    }

    /// Returns the whole text of a file that goes, if its hunk is all of it.
    pub(super) fn whole_old(&self) -> Option<String> {
        match self.diffs {
            [] => self.is_empty().then(String::new),
            [diff] => self
                .edits()
                .ok()?
                .pop()
                .filter(|edit| edit.new.is_empty() && !is_raw(diff))
                .map(|edit| edit.old),
            _ => None,
        }
    }

    /// Returns the whole text of a new file.
    pub(super) fn whole_new(&self) -> Result<String, String> {
        if let Content::Text(text) = &self.told.after {
            return Ok(text.clone());
        }
        let text = match self.diffs {
            [] if self.is_empty() => String::new(),
            [diff] if diff.notes.contains(&DiffNote::OldUnknown) => diff.new_text.clone(),
            [_] => match self.edits()?.pop() {
                Some(edit) if edit.old.is_empty() => edit.new,
                _ => return Err(NO_CONTENT.to_owned()),
            },
            _ => return Err(NO_CONTENT.to_owned()),
        };
        let Some(sha256) = &self.told.sha256.after else { return Ok(text) };
        let encoding = self.file.encoding.as_ref().and_then(|encoding| encoding.after.as_deref());
        let bytes = told::written(&text, encoding.unwrap_or("utf-8"));
        match bytes.filter(|bytes| told::is(bytes, sha256)) {
            Some(_) => Ok(text),
            None => Err("its record does not hold all of its bytes".to_owned()),
        }
    }

    /// Tells whether the file is known to hold nothing.
    fn is_empty(&self) -> bool {
        self.file.recorded != Recorded::Path && self.file.added == Some(0) && self.file.removed == Some(0)
    }

    /// Takes the hunks in.
    fn edit(&self, known: &mut Known) -> Result<(), String> {
        if self.diffs.is_empty() {
            return match self.file.recorded {
                Recorded::Path => Err(NOT_RECORDED.to_owned()),
                Recorded::Hunks | Recorded::Texts | Recorded::Request => Ok(()),
            };
        }
        let converted = self.converted()?;
        if converted.is_some() && known.texts().is_none() {
            return Err("its line endings change, and hunks do not show all lines that do".to_owned());
        }
        for edit in self.edits()? {
            known.edit(&edit).map_err(|reason| reason.to_string())?;
        }
        let text = match (converted, known.texts()) {
            (Some("\r\n"), Some((_, new))) => with_lf(new).replace('\n', "\r\n"),
            (Some(_), Some((_, new))) => with_lf(new).into_owned(),
            _ => return Ok(()),
        };
        known.write(text);
        Ok(())
    }

    /// Returns the ending that all lines get, if the endings of lines change that hunks do not show.
    fn converted(&self) -> Result<Option<&'static str>, String> {
        let Some(eol) = self.file.eol else { return Ok(None) };
        let is_mixed = [eol.before, eol.after].contains(&Some(EolName::Mixed));
        if is_mixed && self.told.crlf.is_none() {
            return Err("its line endings are mixed, and which line has which is not recorded".to_owned());
        }
        // Of a run of lines of which only the endings change a hunk shows the first.
        if !self.diffs.iter().any(|diff| diff.notes.contains(&DiffNote::Eol)) {
            return Ok(None);
        }
        match eol.after {
            Some(EolName::Lf) => Ok(Some("\n")),
            Some(EolName::Crlf) => Ok(Some("\r\n")),
            Some(EolName::Mixed | EolName::None) | None => {
                Err("line endings change, and hunks do not show all lines of which they do".to_owned())
            }
        }
    }

    /// Returns the hunks as replacements of text, in the order in which they are made.
    pub(super) fn edits(&self) -> Result<Vec<Edit>, String> {
        let ending = |eol: Option<EolName>| if eol == Some(EolName::Crlf) { "\r\n" } else { "\n" };
        let (before, after) = self.file.eol.map_or((None, None), |eol| (eol.before, eol.after));
        let endings = (ending(before.or(after)), ending(after.or(before)));
        let (mut edits, mut growth, mut floor) = (Vec::with_capacity(self.diffs.len()), 0_i64, 0);
        for diff in self.diffs {
            if diff.notes.contains(&DiffNote::OldUnknown) {
                return Err(OVERWRITTEN.to_owned());
            }
            if is_raw(diff) {
                // Whoever asks for a text to be replaced everywhere has no count of lines.
                if self.file.added.is_none() && self.file.operation == Operation::Update {
                    return Err("it replaces a text wherever it stands".to_owned());
                }
                let old = diff.old_text.clone().unwrap_or_default();
                edits.push(Edit { old, new: diff.new_text.clone(), line: None, is_lines: false });
                continue;
            }
            let mut edit = lines_of(diff, endings, self.told.crlf.as_ref());
            let old_lines = edit.old.lines().count();
            let moved = |start: usize| usize::try_from(i64::try_from(start).ok()?.checked_add(growth)?).ok();
            edit.line = match (diff.old_start, diff.new_start) {
                // What comes out of order states lines of some other state of the file.
                (Some(old), _) if old < floor => None,
                (Some(_), Some(new)) if edit.old.is_empty() => {
                    Some(if edit.new.is_empty() { new.saturating_add(1) } else { new })
                }
                (Some(old), Some(_)) => moved(old),
                _ => None,
            };
            floor = diff.old_start.map_or(floor, |start| start.saturating_add(old_lines));
            growth += edit.new.lines().count() as i64 - old_lines as i64;
            // A hunk does not show the byte order mark that the first line begins with.
            for (has_bom, start, side) in [
                (self.told.bom.before, diff.old_start, &mut edit.old),
                (self.told.bom.after, diff.new_start, &mut edit.new),
            ] {
                if has_bom == Some(true) && start == Some(1) && !side.is_empty() {
                    side.insert(0, '\u{FEFF}');
                }
            }
            edits.push(edit);
        }
        Ok(edits)
    }
}

/// Tells whether a hunk is a part of lines, as a call asked for it.
pub(super) fn is_raw(diff: &FileDiff) -> bool {
    diff.lines.is_none() && diff.old_lines.is_none() && diff.new_lines.is_none() && diff.old_start.is_none()
}

/// Returns both sides of a hunk as lines with their endings: those of the file, or where they differ each line's own.
fn lines_of(
    diff: &FileDiff,
    (old_ending, new_ending): (&'static str, &'static str),
    crlf: Option<&CrlfLines>,
) -> Edit {
    let signed = signed_lines(diff);
    let last_old = signed.iter().rposition(|line| line.kind != Sign::Insert);
    let last_new = signed.iter().rposition(|line| line.kind != Sign::Delete);
    let mut edit = Edit { is_lines: true, ..Edit::default() };
    let push = |side: &mut String, text: &str, ending: &str, is_open: bool| {
        side.push_str(text);
        if !is_open {
            // A log may keep the CR in the text already.
            side.push_str(if text.ends_with('\r') { "\n" } else { ending });
        }
    };
    let own = |ending: &'static str, number: Option<usize>, side: fn(&CrlfLines) -> &Vec<usize>| match crlf {
        Some(crlf) if number.is_some_and(|number| side(crlf).binary_search(&number).is_ok()) => "\r\n",
        Some(_) => "\n",
        None => ending,
    };
    for (at, line) in signed.iter().enumerate() {
        if line.kind != Sign::Insert {
            let is_open = diff.old_no_newline && last_old == Some(at);
            let ending = own(old_ending, line.old_number, |crlf| &crlf.before);
            push(&mut edit.old, line.text, ending, is_open);
        }
        if line.kind != Sign::Delete {
            let is_open = diff.new_no_newline && last_new == Some(at);
            let ending = own(new_ending, line.new_number, |crlf| &crlf.after);
            push(&mut edit.new, line.text, ending, is_open);
        }
    }
    edit
}
