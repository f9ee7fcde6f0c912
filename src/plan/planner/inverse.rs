//! Taking a recorded call back: the bytes of its record, where the file still is what the call left, else its hunks,
//! each placed exactly and once.
//!
//! The files of a call are taken back together, as they were changed together: what one of them leaves free, another may
//! fill. Every byte that comes back is held to the hash in the record before it is planned.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::diff::hunks::Sign;
use crate::diff::hunks::signed_lines;
use crate::patch::Hunk;
use crate::patch::LineHunk;
use crate::patch::LineKind;
use crate::patch::Replace;
use crate::patch::ReplaceCount;
use crate::plan::hunks;
use crate::plan::outcome::sha256_hex;
use crate::report::Change;
use crate::report::Code;
use crate::report::DiffNote;
use crate::report::EolName;
use crate::report::FileDiff;
use crate::report::HunkMatch;
use crate::report::NoUndo;
use crate::report::Operation;
use crate::report::Problem;
use crate::report::RecordFile;
use crate::report::RecordMeta;
use crate::report::Rung;
use crate::report::UndoSplice;
use crate::text::Document;
use crate::text::Encoding;
use crate::text::Eol;
use crate::text::PathText;
use crate::text::Splice;
use crate::text::Splices;

use super::Now;
use super::Options;
use super::Planner;
use super::Version;
use super::Want;
use super::not_a_file;

/// What taking one file of a call back comes to.
#[derive(Debug, Default)]
struct Way {
    /// Where nothing of the call stays.
    vacates: Option<usize>,
    /// What stands where afterwards.
    fills: Vec<Fill>,
}

#[derive(Debug)]
struct Fill {
    index: usize,
    path: PathText,
    version: Version,
    /// SHA-256 of what comes back, if only something absent is to be filled.
    restores: Option<String>,
    matches: Vec<HunkMatch>,
}

impl Planner {
    /// Returns the paths that taking this call back needs and that were not given yet.
    ///
    /// Links are not followed: a record names the files themselves.
    pub fn wants_inverse(&self, record: &RecordMeta) -> Vec<Want> {
        let mut wants: Vec<Want> = Vec::new();
        for path in record.files.iter().flat_map(|file| [Some(recorded_path(file)), from_of(file)]).flatten()
        {
            let want = Want { path, follows_link: false, is_link: false };
            if !self.names.contains_key(&want) && !wants.contains(&want) {
                wants.push(want);
            }
        }
        wants
    }

    /// Plans the way back of one call; `first` is the 1-based position of its first file among all that are taken
    /// back. Everything it wants must have been given.
    ///
    /// # Errors
    /// Every reason why it does not fit; then nothing has changed.
    pub fn inverse(&mut self, first: usize, record: &RecordMeta) -> Result<(), Vec<Problem>> {
        let mut ways = Vec::new();
        let mut problems = Vec::new();
        for (index, file) in record.files.iter().enumerate() {
            let number = first + index;
            match self.way_back(number, file, &record.diffs) {
                Ok(way) => ways.push((number, way)),
                Err(more) => {
                    let path = recorded_path(file).shown().into_owned();
                    let placed = |problem: Problem| Problem {
                        path: problem.path.or_else(|| Some(path.clone())),
                        ..problem
                    };
                    problems.extend(more.into_iter().map(placed));
                }
            }
        }
        let vacated: Vec<usize> = ways.iter().filter_map(|(_, way)| way.vacates).collect();
        for fill in ways.iter().flat_map(|(_, way)| &way.fills).filter(|fill| !vacated.contains(&fill.index))
        {
            if let Some(sha256) = &fill.restores
                && let Err(problem) = self.expect_free(fill, sha256)
            {
                problems.push(problem.with_path(fill.path.shown()));
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        for (number, way) in &ways {
            if let Some(index) = way.vacates {
                self.set(index, *number, Now::Gone);
            }
        }
        for (number, way) in ways {
            for fill in way.fills {
                self.entries[fill.index].finds.matches.extend(fill.matches);
                self.set(fill.index, number, Now::Content(fill.version));
            }
        }
        Ok(())
    }

    fn way_back(
        &mut self,
        number: usize,
        file: &RecordFile,
        diffs: &[FileDiff],
    ) -> Result<Way, Vec<Problem>> {
        let one = |problem| vec![problem];
        let path = recorded_path(file);
        if let Some(reason) = file.no_undo {
            return Err(one(not_recorded(&path, reason)));
        }
        let index = self.entry_of(&path, false).map_err(one)?;
        match file.operation {
            Operation::Create | Operation::Copy => {
                self.expect_left(index, &path, file).map_err(one)?;
                Ok(Way { vacates: Some(index), fills: Vec::new() })
            }
            Operation::Update => {
                let (version, matches) = self.version_back(number, index, file, diffs)?;
                Ok(Way { vacates: None, fills: vec![Fill { index, path, version, restores: None, matches }] })
            }
            Operation::Delete => {
                let bytes = restored(b"", file, &path).map_err(one)?;
                let mode = octal(file.mode.before.as_deref());
                Ok(Way { vacates: None, fills: vec![Fill::whole(index, path, bytes, mode)] })
            }
            Operation::Rename => {
                let from = from_of(file).ok_or_else(|| one(broken(&path)))?;
                let target = self.entry_of(&from, false).map_err(one)?;
                self.expect_renamed(index, target, file).map_err(one)?;
                let (version, matches) = self.version_back(number, index, file, diffs)?;
                // Without a hash, whatever stands there is in the way.
                let restores = Some(file.before_sha256.clone().unwrap_or_default());
                let mut way = Way {
                    vacates: Some(index),
                    fills: vec![Fill { index: target, path: from, version, restores, matches }],
                };
                if let Some(replaced) = &file.replaced {
                    let bytes = STANDARD.decode(&replaced.content).map_err(|_| one(broken(&path)))?;
                    if sha256_hex(&bytes) != replaced.sha256 {
                        return Err(one(broken(&path)));
                    }
                    way.fills.push(Fill::whole(index, path, bytes, octal(Some(&replaced.mode))));
                }
                Ok(way)
            }
        }
    }

    /// Refuses to take a new file away that is not what the call made any more.
    fn expect_left(&mut self, index: usize, path: &PathText, file: &RecordFile) -> Result<(), Problem> {
        let document = self.expect_standing(index, path, file)?;
        if Some(sha256_hex(document.bytes())) == file.after_sha256 {
            return Ok(());
        }
        let message = format!("{} was changed since the call made it", path.shown());
        Err(Problem::new(Code::Stale, message).with_hint("taking the file away would lose the later changes"))
    }

    fn expect_standing(
        &mut self,
        index: usize,
        path: &PathText,
        file: &RecordFile,
    ) -> Result<Arc<Document>, Problem> {
        match self.expect_file(index, path) {
            Err(problem) if problem.code == Code::FileMissing => {
                let made = matches!(file.operation, Operation::Create | Operation::Copy);
                let code = if made { Code::AlreadyApplied } else { Code::FileMissing };
                return Err(Problem::new(code, format!("{} is gone since the call left it", path.shown())));
            }
            expected => expected?,
        }
        if self.entries[index].is_link != file.link {
            let now = if file.link { "no symbolic link any more" } else { "a symbolic link now" };
            return Err(Problem::new(Code::Stale, format!("{} is {now}", path.shown())));
        }
        self.document(index).ok_or_else(|| not_a_file(path, "gone"))
    }

    /// Tells a rename that was taken back already from one whose file is merely gone.
    fn expect_renamed(&mut self, index: usize, target: usize, file: &RecordFile) -> Result<(), Problem> {
        let (path, from) = (recorded_path(file), from_of(file).unwrap_or_default());
        let is_gone = self.expect_file(index, &path).is_err_and(|problem| problem.code == Code::FileMissing);
        if !is_gone || self.expect_file(target, &from).is_err() {
            return Ok(());
        }
        let there = self.document(target).map(|document| sha256_hex(document.bytes()));
        if there != file.before_sha256 {
            return Ok(());
        }
        let message =
            format!("{} is at {} again: the rename is taken back already", path.shown(), from.shown());
        Err(Problem::new(Code::AlreadyApplied, message))
    }

    /// Refuses to restore a file where another one stands.
    fn expect_free(&mut self, fill: &Fill, sha256: &str) -> Result<(), Problem> {
        let path = &fill.path;
        match self.expect_file(fill.index, path) {
            Err(problem) if problem.code == Code::FileMissing => self.expect_room(fill.index, path),
            Err(problem) => Err(problem),
            Ok(()) => {
                let there = self.document(fill.index).map(|document| sha256_hex(document.bytes()));
                Err(if there.as_deref() == Some(sha256) {
                    let message = format!("{} is there again, with its old content", path.shown());
                    Problem::new(Code::AlreadyApplied, message)
                } else {
                    let message = format!("{} is in the way: it was made since", path.shown());
                    Problem::new(Code::FileExists, message).with_hint("move it away, then undo again")
                })
            }
        }
    }

    /// Returns the content and the mode that an updated or renamed file had before.
    fn version_back(
        &mut self,
        number: usize,
        index: usize,
        file: &RecordFile,
        diffs: &[FileDiff],
    ) -> Result<(Version, Vec<HunkMatch>), Vec<Problem>> {
        let path = recorded_path(file);
        let document = self.expect_standing(index, &path, file).map_err(|problem| vec![problem])?;
        let mut version = self.version(index);
        let mut matches = Vec::new();
        let hash = sha256_hex(document.bytes());
        // A link is moved back as it is, and a name or a mode comes back whatever the file holds now.
        let has_hashes = file.before_sha256.is_some() || file.after_sha256.is_some();
        let is_same = match has_hashes {
            true => file.undo.is_empty() && file.before_sha256 == file.after_sha256,
            // The log of another agent.
            false => !diffs.iter().any(|diff| diff.path == file.path),
        };
        let keeps_content = file.link || is_same;
        if !keeps_content {
            let splices = if Some(&hash) == file.after_sha256.as_ref() {
                let bytes = document.bytes();
                restored(bytes, file, &path).map_err(|problem| vec![problem])?;
                recorded_splices(bytes.len(), &file.undo).ok_or_else(|| vec![broken(&path)])?
            } else if Some(&hash) == file.before_sha256.as_ref() {
                let message = format!("{} is as it was before the call already", path.shown());
                return Err(vec![Problem::new(Code::AlreadyApplied, message)]);
            } else {
                let planned = hunks_back(&document, file, &path, diffs)?;
                matches =
                    planned.matches.into_iter().map(|found| HunkMatch { edit: number, ..found }).collect();
                planned.splices
            };
            if !splices.is_empty() {
                version.advance(splices, Some(&document));
            }
        }
        if let Some(mode) = self.mode_back(&version, &file.mode, &path).map_err(|problem| vec![problem])? {
            version.mode = Some(mode);
        }
        Ok((version, matches))
    }

    /// Returns the mode to be restored, if the call changed it.
    fn mode_back(
        &self,
        version: &Version,
        recorded: &Change<String>,
        path: &PathText,
    ) -> Result<Option<u32>, Problem> {
        let (before, after) = (octal(recorded.before.as_deref()), octal(recorded.after.as_deref()));
        let (Some(before), Some(after)) = (before, after) else { return Ok(None) };
        let now = version.mode.or(version.origin.and_then(|origin| self.found(origin)).map(|file| file.mode));
        match now {
            _ if before == after => Ok(None),
            Some(now) if now == before => Ok(None),
            Some(now) if now != after => {
                let message =
                    format!("the mode of {} was changed since, from {after:06o} to {now:06o}", path.shown());
                Err(Problem::new(Code::Stale, message))
            }
            Some(_) | None => Ok(Some(before)),
        }
    }
}

impl Fill {
    /// A file that comes back from the record alone.
    fn whole(index: usize, path: PathText, bytes: Vec<u8>, mode: Option<u32>) -> Self {
        let restores = Some(sha256_hex(&bytes));
        let version = Version { document: Some(Arc::new(Document::new(bytes))), mode, ..Version::default() };
        Fill { index, path, version, restores, matches: Vec::new() }
    }
}

/// Returns the path that a record names, with all its bytes.
pub fn recorded_path(file: &RecordFile) -> PathText {
    path_text(&file.path, file.path_base64.as_deref())
}

fn from_of(file: &RecordFile) -> Option<PathText> {
    Some(path_text(file.from.as_ref()?, file.from_base64.as_deref()))
}

fn path_text(shown: &str, base64: Option<&str>) -> PathText {
    match base64.and_then(|text| STANDARD.decode(text).ok()) {
        Some(bytes) => PathText::new(bytes),
        None => PathText::from(shown),
    }
}

fn octal(mode: Option<&str>) -> Option<u32> {
    u32::from_str_radix(mode?, 8).ok()
}

/// Returns a record's replacements, if they lie in `length_bytes` bytes and don't overlap.
pub fn recorded_splices(length_bytes: usize, undo: &[UndoSplice]) -> Option<Splices> {
    let mut list = Vec::with_capacity(undo.len());
    for splice in undo {
        let end = splice.offset.checked_add(splice.new_length).filter(|end| *end <= length_bytes)?;
        list.push(Splice { range: splice.offset..end, new: STANDARD.decode(&splice.old).ok()? });
    }
    Splices::new(list)
}

/// Returns the old bytes, made of what the call left, if they are the ones that the record's hash names.
fn restored(left: &[u8], file: &RecordFile, path: &PathText) -> Result<Vec<u8>, Problem> {
    let bytes = recorded_splices(left.len(), &file.undo).ok_or_else(|| broken(path))?.apply(left);
    if Some(sha256_hex(&bytes)) == file.before_sha256 { Ok(bytes) } else { Err(broken(path)) }
}

fn broken(path: &PathText) -> Problem {
    Problem::new(
        Code::Malformed,
        format!("the record of {} contradicts itself: it was damaged", path.shown()),
    )
}

fn not_recorded(path: &PathText, reason: NoUndo) -> Problem {
    let why = match reason {
        NoUndo::TooLarge => {
            "what was there before is larger than the log holds (--max-text, when it was made)"
        }
        NoUndo::Link => "a symbolic link stood there, which the log does not hold",
    };
    Problem::new(Code::NotRecorded, format!("{} can't be taken back: {why}", path.shown()))
        .with_hint("take it back by hand, or from version control")
}

/// Takes the recorded hunks of a file back where later changes lie elsewhere.
fn hunks_back(
    document: &Document,
    file: &RecordFile,
    path: &PathText,
    diffs: &[FileDiff],
) -> Result<hunks::PlannedHunks, Vec<Problem>> {
    let own: Vec<&FileDiff> = diffs.iter().filter(|diff| diff.path == file.path).collect();
    // Where text can't tell endings or a byte order mark, hunks would not bring the same bytes back.
    let is_told = |diff: &&FileDiff| {
        !diff.notes.iter().any(|note| matches!(note, DiffNote::Eol | DiffNote::Bom | DiffNote::OldUnknown))
    };
    let is_mixed = [file.eol.before, file.eol.after].contains(&Some(EolName::Mixed))
        || document.eol_counts().eol() == Eol::Mixed;
    let is_text = file.encoding == Encoding::Utf8.name() && document.encoding() == Encoding::Utf8;
    if own.is_empty() || is_mixed || !is_text || !own.iter().all(is_told) {
        let message = format!("{} was changed since the call", path.shown());
        let hint = "only the very bytes that the call left can be taken back: the record has no hunks that tell all of it";
        return Err(vec![Problem::new(Code::Stale, message).with_hint(hint)]);
    }
    let planned = match file.after_sha256 {
        Some(_) => hunks::plan_once(document, &own.into_iter().map(reversed_lines).collect::<Vec<_>>()),
        None => foreign_back(document, &own),
    };
    planned.map_err(|problems| problems.into_iter().map(|problem| changed_since(problem, path)).collect())
}

/// Plans the hunks of another agent's log, which tell nothing of the whole file: line numbers then choose between places.
fn foreign_back(document: &Document, own: &[&FileDiff]) -> Result<hunks::PlannedHunks, Vec<Problem>> {
    let is_part =
        |diff: &&FileDiff| diff.lines.is_none() && diff.new_lines.is_none() && diff.new_start.is_none();
    if own.iter().any(is_part) {
        // Parts of lines were replaced one after the other, each in what the one before left.
        let back = |diff: &&FileDiff| match is_part(diff) {
            true => Hunk::Replace(Replace {
                old: diff.new_text.clone().into_bytes(),
                new: diff.old_text.clone().unwrap_or_default().into_bytes(),
                count: ReplaceCount::One,
                old_is_complete: true,
            }),
            false => reversed_lines(diff),
        };
        let hunks: Vec<Hunk> = own.iter().rev().map(back).collect();
        return hunks::plan(document, &hunks, 1, exactly());
    }
    if own.iter().any(|diff| diff.new_start.is_none()) {
        return hunks::plan_once(document, &own.iter().map(|diff| reversed_lines(diff)).collect::<Vec<_>>());
    }
    let numbered = |diff: &&FileDiff| {
        let new_lines = signed_lines(diff).iter().filter(|line| line.kind != Sign::Delete).count();
        let mut hunk = reversed(diff);
        (hunk.stated_old_start, hunk.stated_old_lines) = (diff.new_start, Some(new_lines));
        Hunk::Lines(hunk)
    };
    hunks::plan(document, &own.iter().map(numbered).collect::<Vec<_>>(), 1, exactly())
}

fn exactly() -> Options {
    Options { most_lenient: Rung::Exact, ..Options::default() }
}

fn reversed_lines(diff: &FileDiff) -> Hunk {
    Hunk::Lines(reversed(diff))
}

/// Says of a hunk that has no one place any more that the file was changed since.
fn changed_since(problem: Problem, path: &PathText) -> Problem {
    let hunk = problem.hunk.unwrap_or(1);
    let what = match (problem.code, &problem.nearest) {
        (Code::Ambiguous, _) => format!("what hunk {hunk} of the call left now stands several times"),
        (Code::AlreadyApplied, _) => format!("what hunk {hunk} of the call left is taken back already"),
        (_, Some(nearest)) => {
            format!(
                "what hunk {hunk} of the call left is not there any more; it comes nearest at line {}",
                nearest.line
            )
        }
        (_, None) => format!("what hunk {hunk} of the call left is not there any more"),
    };
    let message = format!("{} was changed since the call: {what}", path.shown());
    Problem { code: Code::Stale, message, hint: None, ..problem }
}

/// Returns the hunk that takes an applied one back.
fn reversed(diff: &FileDiff) -> LineHunk {
    let lines = signed_lines(diff);
    let last_old = lines.iter().rposition(|line| line.kind != Sign::Insert);
    let last_new = lines.iter().rposition(|line| line.kind != Sign::Delete);
    let mut hunk = LineHunk::default();
    for (index, line) in lines.iter().enumerate() {
        let is_open_before = diff.old_no_newline && last_old == Some(index);
        let is_open_after = diff.new_no_newline && last_new == Some(index);
        let mut push = |kind: LineKind, is_open: bool| {
            hunk.push(kind, line.text.as_bytes());
            if is_open {
                hunk.mark_no_newline();
            }
        };
        match line.kind {
            // A line of which only the newline came or went is drawn as one line.
            Sign::Context if is_open_before != is_open_after => {
                push(LineKind::Delete, is_open_after);
                push(LineKind::Insert, is_open_before);
            }
            Sign::Context => push(LineKind::Context, is_open_before),
            Sign::Insert => push(LineKind::Delete, is_open_after),
            Sign::Delete => push(LineKind::Insert, is_open_before),
        }
    }
    hunk
}
