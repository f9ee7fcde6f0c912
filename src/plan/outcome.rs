//! A plan to what is reported of it: an [`Outcome`], and the record of it that a log holds.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::Digest;
use sha2::Sha256;

use crate::diff::hunks;
use crate::report::Change;
use crate::report::CommandName;
use crate::report::CrlfLines;
use crate::report::EolName;
use crate::report::ErrorReport;
use crate::report::FileDiff;
use crate::report::FileOutcome;
use crate::report::NoUndo;
use crate::report::Opaque;
use crate::report::Outcome;
use crate::report::OutcomeSchema;
use crate::report::Problem;
use crate::report::RecordFile;
use crate::report::RecordMeta;
use crate::report::ReplacedFile;
use crate::report::UndoSplice;
use crate::text::Charset;
use crate::text::Document;
use crate::text::Encoding;
use crate::text::Eol;
use crate::text::PathText;
use crate::text::Splice;
use crate::text::Splices;
use crate::text::recode;

use super::After;
use super::FileState;
use super::Finds;
use super::Plan;
use super::PlannedFile;
use super::links;

/// The mode that a file without any is reported with.
const DEFAULT_MODE: u32 = 0o100_644;

/// What is reported beside the hunks; texts and hashes cost a walk over every file, so they are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Detail {
    /// Texts and hashes are wanted.
    pub texts: bool,
    /// A longer text is called too large.
    pub max_text_bytes: usize,
}

/// Returns the outcome of a plan that is (or, with `check`, would be) carried out.
pub fn of_plan(plan: &Plan, command: CommandName, check: bool, detail: Detail) -> Outcome {
    let files =
        plan.files.iter().zip(&plan.finds).map(|(file, finds)| file_outcome(file, finds, detail)).collect();
    Outcome {
        schema: OutcomeSchema::V1,
        ok: true,
        command,
        check,
        call_id: None,
        undoes: Vec::new(),
        files,
        error: None,
    }
}

/// Returns the outcome of a request that was refused.
pub fn refused(error: ErrorReport, command: CommandName, check: bool) -> Outcome {
    Outcome {
        schema: OutcomeSchema::V1,
        ok: false,
        command,
        check,
        call_id: None,
        undoes: Vec::new(),
        files: Vec::new(),
        error: Some(error),
    }
}

/// Sums problems up; there must be at least one.
pub fn error_report(problems: Vec<Problem>) -> Option<ErrorReport> {
    let first = problems.first()?;
    let message = match problems.len() {
        1 => first.message.clone(),
        count => format!("{count} problems, nothing was written"),
    };
    let hint = if problems.len() == 1 { first.hint.clone() } else { None };
    Some(ErrorReport { code: first.code, message, hint, problems })
}

/// Returns the hunks of one change between two states of a file.
pub fn diffs(path: &str, before: Option<&Document>, after: Option<&After>) -> Vec<FileDiff> {
    match (before, after) {
        (_, Some(After::Same)) => Vec::new(),
        (Some(before), Some(After::Spliced(splices))) => match recode::to_text(before, splices) {
            Some(splices) => hunks::from_splices(path, before.decoded(), &splices),
            // Replaced bytes that are no text by themselves.
            None => {
                let after = before.successor(splices.apply(before.bytes()));
                hunks::compare(path, Some(before.decoded()), Some(after.decoded()))
            }
        },
        (None, Some(After::Spliced(_))) => Vec::new(),
        (before, Some(After::Whole(after))) => {
            hunks::compare(path, before.map(Document::decoded), Some(after.decoded()))
        }
        (before, None) => hunks::compare(path, before.map(Document::decoded), None),
    }
}

fn file_outcome(file: &PlannedFile, finds: &Finds, detail: Detail) -> FileOutcome {
    let path = file.path.shown().into_owned();
    let before = file.before.as_ref().map(|found| found.document.as_ref());
    let made = (detail.texts || is_replaced(file, before)).then(|| spliced(file, before)).flatten();
    let after = match &file.after {
        Some(After::Whole(document)) => Some(document.as_ref()),
        Some(After::Same) => before,
        Some(After::Spliced(_)) => made.as_ref(),
        None => None,
    };
    let opaque = opaque(before, after, detail);
    let whole = matches!(file.after, Some(After::Whole(_)) | None);
    let diffs = if opaque == Some(Opaque::Binary) || opaque == Some(Opaque::TooLarge) && whole {
        Vec::new()
    } else {
        diffs(&path, before, file.after.as_ref())
    };
    let (added, removed) =
        diffs.iter().map(hunks::counts).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let encoding = match (before, after) {
        // What it said before is then the only thing that tells how to read the lines that went.
        (Some(before), Some(after)) if stays_ascii(before, after) => before.encoding(),
        _ => after.or(before).map_or(Encoding::Utf8, Document::encoding),
    };
    let text = |document: Option<&Document>| {
        let document = document.filter(|_| detail.texts && opaque.is_none())?;
        document.shown_text().map(Cow::into_owned)
    };
    let hash = |document: Option<&Document>| {
        document.filter(|_| detail.texts).map(|document| sha256_hex(document.bytes()))
    };
    FileOutcome {
        operation: file.operation,
        from: file.from.as_ref().map(|path| path.shown().into_owned()),
        before: text(before),
        after: text(after),
        opaque,
        before_sha256: hash(before),
        after_sha256: hash(after),
        encoding_before: encoding_before(before, after),
        encoding_guessed: matches!(encoding, Encoding::Guessed(_)),
        encoding: encoding.name(),
        eol: if detail.texts || whole {
            Change { before: before.map(eol), after: after.map(eol) }
        } else {
            Change { before: None, after: None }
        },
        bom: Change { before: before.map(Document::has_bom), after: after.map(Document::has_bom) },
        final_newline: Change {
            before: before.map(Document::has_final_newline),
            after: after.map(Document::has_final_newline),
        },
        mode: mode(file),
        replacements: finds.replacements,
        hard_links: file.before.as_ref().map(|found| found.hard_links - 1).filter(|&others| others > 0),
        no_undo: None,
        added,
        removed,
        diffs,
        matches: finds.matches.clone(),
        path,
    }
}

/// Builds the whole text that replacements lead to. It costs a copy of the file, so only texts and hashes ask for it;
/// without it the sides that a person is shown are compared hunk by hunk.
fn spliced(file: &PlannedFile, before: Option<&Document>) -> Option<Document> {
    match (&file.after, before) {
        (Some(After::Spliced(splices)), Some(before)) => {
            Some(before.successor(splices.apply(before.bytes())))
        }
        _ => None,
    }
}

/// Tells whether one replacement is the whole file, as of a binary patch: then only the result tells what it is.
fn is_replaced(file: &PlannedFile, before: Option<&Document>) -> bool {
    matches!((&file.after, before), (Some(After::Spliced(splices)), Some(before))
        if matches!(splices.list(), [only] if only.range == (0..before.bytes().len())))
}

fn opaque(before: Option<&Document>, after: Option<&Document>, detail: Detail) -> Option<Opaque> {
    let sides = || before.into_iter().chain(after);
    if sides().any(Document::is_binary) {
        Some(Opaque::Binary)
    } else if detail.texts && sides().any(|document| document.bytes().len() > detail.max_text_bytes) {
        Some(Opaque::TooLarge)
    } else if detail.texts && !sides().all(Document::is_decodable) {
        Some(Opaque::Undecodable)
    } else {
        None
    }
}

/// Returns the encoding before, if the file has another one now. Plain ASCII is text of nearly every encoding.
fn encoding_before(before: Option<&Document>, after: Option<&Document>) -> Option<String> {
    let (before, after) = (before?, after?);
    let name = before.encoding().name();
    (name != after.encoding().name() && !stays_ascii(before, after)).then_some(name)
}

/// Tells whether what is left is ASCII, and so still text of the encoding before.
fn stays_ascii(before: &Document, after: &Document) -> bool {
    before.encoding().charset().is_some_and(Charset::has_ascii) && after.bytes().is_ascii()
}

fn eol(document: &Document) -> EolName {
    match document.eol_counts().eol() {
        Eol::Lf => EolName::Lf,
        Eol::Crlf => EolName::Crlf,
        Eol::Mixed => EolName::Mixed,
        Eol::None => EolName::None,
    }
}

fn mode(file: &PlannedFile) -> Change<String> {
    let octal = |mode: u32| format!("{mode:06o}");
    let before = file.before.as_ref().map(|found| found.mode);
    let after = file.after.as_ref().map(|_| file.mode.or(before).unwrap_or(DEFAULT_MODE));
    Change { before: before.map(octal), after: after.map(octal) }
}

/// Returns the SHA-256 of bytes in hex, as reports and records have it.
pub fn sha256_hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    Sha256::digest(bytes).iter().fold(String::with_capacity(2 * bytes.len()), |mut out, byte| {
        // Writing to a string can't fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// Returns what a log holds of an outcome of this plan: no texts, and what restores the old bytes.
///
/// Of a file whose old bytes are more than `limit_undo_bytes` there is no way back, and the record says so.
pub fn record(plan: &Plan, outcome: &Outcome, limit_undo_bytes: usize) -> RecordMeta {
    let files = plan.files.iter().zip(&outcome.files);
    RecordMeta {
        diffs: outcome.files.iter().flat_map(|file| file.diffs.iter().cloned()).collect(),
        files: files.map(|(file, reported)| record_file(file, reported, limit_undo_bytes)).collect(),
        undoes: outcome.undoes.clone(),
    }
}

/// Takes the largest part out of a record that is too long for a line: the old bytes of one file, and when there are
/// none left, the hunks. `false` if nothing is left to take.
pub fn shed(record: &mut RecordMeta) -> bool {
    let largest = record.files.iter_mut().max_by_key(|file| encoded_bytes(file));
    match largest {
        Some(file) if encoded_bytes(file) > 0 => {
            file.undo.clear();
            file.replaced = None;
            file.no_undo = Some(NoUndo::TooLarge);
            true
        }
        _ => !std::mem::take(&mut record.diffs).is_empty(),
    }
}

fn encoded_bytes(file: &RecordFile) -> usize {
    let replaced = file.replaced.as_ref().map_or(0, |replaced| replaced.content.len());
    file.undo.iter().map(|splice| splice.old.len()).sum::<usize>() + replaced
}

fn record_file(file: &PlannedFile, reported: &FileOutcome, limit_undo_bytes: usize) -> RecordFile {
    let mut record = RecordFile {
        path: reported.path.clone(),
        operation: reported.operation,
        from: reported.from.clone(),
        before_sha256: reported.before_sha256.clone(),
        after_sha256: reported.after_sha256.clone(),
        encoding: reported.encoding.clone(),
        encoding_guessed: reported.encoding_guessed,
        encoding_before: reported.encoding_before.clone(),
        eol: reported.eol,
        bom: reported.bom,
        final_newline: reported.final_newline,
        mode: reported.mode.clone(),
        replacements: reported.replacements,
        added: reported.added,
        removed: reported.removed,
        matches: reported.matches.clone(),
        undo: Vec::new(),
        no_undo: None,
        crlf: crlf_lines(file, reported),
        replaced: None,
        made_folders: 0,
        link: file.before_is_link,
        path_base64: not_utf8(&file.path),
        from_base64: file.from.as_ref().and_then(not_utf8),
    };
    let replaced = match &file.target_before {
        FileState::File(found) if file.source.is_some() => Some(found),
        _ => None,
    };
    let is_only_moved = matches!(file.after, Some(After::Same));
    let makes_link = file.mode.is_some_and(links::is_link);
    if file.before_is_link && !is_only_moved || makes_link || replaced.is_some() && file.target_is_link {
        record.no_undo = Some(NoUndo::Link);
        return record;
    }
    let inverse = inverse(file);
    let kept: usize = inverse.list().iter().map(|splice| splice.new.len()).sum();
    if kept + replaced.map_or(0, |found| found.document.bytes().len()) > limit_undo_bytes {
        record.no_undo = Some(NoUndo::TooLarge);
        return record;
    }
    record.undo = undo_splices(&inverse);
    record.replaced = replaced.map(|found| ReplacedFile {
        sha256: sha256_hex(found.document.bytes()),
        mode: format!("{:06o}", found.mode),
        content: STANDARD.encode(found.document.bytes()),
    });
    record
}

/// Returns which lines of the hunks end in CRLF, of a file whose lines end in both ways: texts do not tell it.
fn crlf_lines(file: &PlannedFile, reported: &FileOutcome) -> Option<CrlfLines> {
    if ![reported.eol.before, reported.eol.after].contains(&Some(EolName::Mixed)) {
        return None;
    }
    let before = file.before.as_ref().map(|found| found.document.as_ref());
    let made = spliced(file, before);
    let after = match &file.after {
        Some(After::Whole(document)) => Some(document.as_ref()),
        Some(After::Same) => before,
        Some(After::Spliced(_)) => made.as_ref(),
        None => None,
    };
    let lines = |document: Option<&Document>, ranges: Vec<(Option<usize>, Option<usize>)>| {
        let Some(document) = document else { return Vec::new() };
        let text = document.decoded().text();
        let ends: Vec<bool> =
            text.split_inclusive(|&byte| byte == b'\n').map(|line| line.ends_with(b"\r\n")).collect();
        let numbers = ranges.into_iter().filter_map(|(start, lines)| Some(start?..start? + lines?)).flatten();
        numbers
            .filter(|number| number.checked_sub(1).and_then(|index| ends.get(index)) == Some(&true))
            .collect()
    };
    let diffs = &reported.diffs;
    Some(CrlfLines {
        before: lines(before, diffs.iter().map(|diff| (diff.old_start, diff.old_lines)).collect()),
        after: lines(after, diffs.iter().map(|diff| (diff.new_start, diff.new_lines)).collect()),
    })
}

fn not_utf8(path: &PathText) -> Option<String> {
    std::str::from_utf8(path.bytes()).is_err().then(|| STANDARD.encode(path.bytes()))
}

fn undo_splices(inverse: &Splices) -> Vec<UndoSplice> {
    let undo = |splice: &Splice| UndoSplice {
        offset: splice.range.start,
        old: STANDARD.encode(&splice.new),
        new_length: splice.range.len(),
    };
    inverse.list().iter().map(undo).collect()
}

/// Returns the replacements that lead from whole bytes back to those before, as a record holds them.
pub fn way_back(before: &[u8], after: &[u8]) -> Vec<UndoSplice> {
    undo_splices(&whole_inverse(before, after))
}

fn inverse(file: &PlannedFile) -> Splices {
    let before = file.before.as_ref().map_or(&[][..], |found| found.document.bytes());
    match &file.after {
        Some(After::Same) => Splices::default(),
        Some(After::Spliced(splices)) => splices.invert(before),
        Some(After::Whole(after)) => whole_inverse(before, after.bytes()),
        None => whole_inverse(before, b""),
    }
}

/// The one replacement that leads back from `after` to `before`: what both begin and end with is left out.
fn whole_inverse(before: &[u8], after: &[u8]) -> Splices {
    let prefix = before.iter().zip(after).take_while(|(one, other)| one == other).count();
    let (before_rest, after_rest) = (&before[prefix..], &after[prefix..]);
    let suffix =
        before_rest.iter().rev().zip(after_rest.iter().rev()).take_while(|(one, other)| one == other).count();
    if before_rest.is_empty() && after_rest.is_empty() {
        return Splices::default();
    }
    let new = before_rest[..before_rest.len() - suffix].to_vec();
    let list = vec![Splice { range: prefix..after.len() - suffix, new }];
    Splices::new(list).unwrap_or_default()
}

/// Returns the paths that a plan touches, for a caller that guards one of them.
pub fn touched(plan: &Plan) -> impl Iterator<Item = &PathText> {
    plan.files.iter().flat_map(|file| std::iter::once(&file.target).chain(&file.source))
}
