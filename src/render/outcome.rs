//! What an outcome says, in the words of a card.

use std::borrow::Cow;

use super::view::CardView;
use super::view::FileView;
use super::view::Remark;
use super::view::Tone;
use super::view::empty_remark;
use super::view::encoding_remark;
use super::view::eol_remark;
use super::view::mode_remark;
use super::view::total;
use crate::report::Change;
use crate::report::CommandName;
use crate::report::DiffNote;
use crate::report::FileOutcome;
use crate::report::HunkMatch;
use crate::report::Opaque;
use crate::report::Operation;
use crate::report::Outcome;
use crate::report::Rung;

/// How many hexadecimal digits of a hash are drawn.
const HASH_DIGITS: usize = 12;

/// Returns what a command's outcome says, file by file as a card does.
pub(super) fn outcome_view<'a>(outcome: &'a Outcome, arrow: &str) -> CardView<'a> {
    let command = match outcome.command {
        CommandName::Apply => "apply",
        CommandName::Write => "write",
        CommandName::Edit => "edit",
        CommandName::Undo => "undo",
    };
    let title = match outcome.files.as_slice() {
        [] => command.to_string(),
        [file] => format!("{command} {}", file.path),
        files => format!("{command} {} files", files.len()),
    };
    let is_undo = outcome.command == CommandName::Undo;
    let (word, tone) = match (outcome.ok, outcome.check, outcome.files.iter().all(is_unchanged)) {
        (false, _, _) => ("refused, nothing was written", Tone::Bad),
        (true, _, true) => ("nothing to do", Tone::Good),
        (true, true, false) if is_undo => ("would be undone, nothing was written", Tone::Caution),
        (true, true, false) => ("would be applied, nothing was written", Tone::Caution),
        (true, false, false) if is_undo => ("undone", Tone::Good),
        (true, false, false) => ("applied", Tone::Good),
    };
    let counts = if outcome.files.is_empty() {
        (None, None)
    } else {
        total(outcome.files.iter().map(|file| (Some(file.added), Some(file.removed))))
    };
    let undone = match outcome.undoes.as_slice() {
        [] => None,
        [call] => Some(format!("undoes {}", call.call_id)),
        calls => Some(format!("undoes {} calls", calls.len())),
    };
    let is_named = outcome.files.len() == 1;
    let file = |file| FileView { is_named, ..outcome_file(file, arrow) }.remarked(arrow);
    CardView {
        title: Cow::Owned(title),
        word,
        tone,
        counts,
        details: outcome.call_id.iter().cloned().chain(undone).collect(),
        error: None,
        compared: &[],
        message: None,
        is_refused: !outcome.ok,
        files: outcome.files.iter().map(file).collect(),
    }
}

/// Tells whether a file is afterwards what it was before.
fn is_unchanged(file: &FileOutcome) -> bool {
    file.operation == Operation::Update
        && file.diffs.is_empty()
        && file.opaque.is_none()
        && file.mode.before == file.mode.after
        && file.before_sha256 == file.after_sha256
}

fn outcome_file<'a>(file: &'a FileOutcome, arrow: &str) -> FileView<'a> {
    let flag = |note: DiffNote, change: Change<bool>, what: &str| match (change.before, change.after) {
        (Some(false), Some(true)) => Some(Remark::about(note, format!("{what} added"))),
        (Some(true), Some(false)) => Some(Remark::about(note, format!("{what} removed"))),
        _ => None,
    };
    let mut remarks = Vec::new();
    let encoding = Change { before: file.encoding_before.clone(), after: Some(file.encoding.clone()) };
    remarks.extend(encoding_remark(&encoding, arrow));
    let guess = || Remark::new(format!("encoding {}, as far as the bytes tell", file.encoding));
    remarks.extend(file.encoding_guessed.then(guess));
    remarks.extend(eol_remark(file.eol, arrow));
    remarks.extend(flag(DiffNote::Bom, file.bom, "BOM (byte order mark)"));
    remarks.extend(flag(DiffNote::FinalNewline, file.final_newline, "final newline"));
    remarks.extend(mode_remark(&file.mode, file.operation, arrow));
    remarks.extend(match file.opaque {
        Some(opaque) => Some(opaque_remark(opaque, file, arrow)),
        None => empty_remark(file.operation, (Some(file.added), Some(file.removed))),
    });
    let replacements = file.replacements.filter(|&count| count != 1);
    remarks.extend(replacements.map(|count| Remark::new(format!("{count} replacements"))));
    remarks.extend(file.hard_links.map(|count| match count {
        1 => Remark::new("1 other hard link still has the old content"),
        _ => Remark::new(format!("{count} other hard links still have the old content")),
    }));
    remarks.extend(match_remarks(&file.matches));
    FileView {
        from: file.from.as_deref(),
        counts: (Some(file.added), Some(file.removed)),
        remarks,
        diffs: file.diffs.iter().collect(),
        ..FileView::new(&file.path, file.operation)
    }
}

fn opaque_remark(opaque: Opaque, file: &FileOutcome, arrow: &str) -> Remark {
    let word = match opaque {
        Opaque::Binary => "binary, not shown",
        Opaque::TooLarge => "too large to be shown as a whole",
        Opaque::Undecodable => "some bytes are no text",
    };
    let short = |hash: &Option<String>| match hash {
        Some(hash) => hash.chars().take(HASH_DIGITS).collect(),
        None => "absent".to_string(),
    };
    if file.before_sha256.is_none() && file.after_sha256.is_none() {
        return Remark::new(word);
    }
    let (before, after) = (short(&file.before_sha256), short(&file.after_sha256));
    Remark::new(format!("{word}: sha256 {before} {} {after}", arrow))
}

/// Says which hunks were not found exactly where and as they were stated; equal ones share a remark.
fn match_remarks(matches: &[HunkMatch]) -> Vec<Remark> {
    let has_one_edit = matches.iter().all(|found| found.edit == matches[0].edit);
    let mut groups: Vec<((Rung, i64), Vec<String>)> = Vec::new();
    for found in matches.iter().filter(|found| found.rung != Rung::Exact || found.offset_lines != 0) {
        let name =
            if has_one_edit { found.hunk.to_string() } else { format!("{}.{}", found.edit, found.hunk) };
        match groups.iter_mut().find(|(key, _)| *key == (found.rung, found.offset_lines)) {
            Some((_, names)) => names.push(name),
            None => groups.push(((found.rung, found.offset_lines), vec![name])),
        }
    }
    groups.into_iter().map(|((rung, offset), names)| match_remark(rung, offset, &names)).collect()
}

fn match_remark(rung: Rung, offset_lines: i64, names: &[String]) -> Remark {
    let rung = match rung {
        Rung::Exact => None,
        Rung::TrailingBlanks => Some("trailing blanks"),
        Rung::Indentation => Some("indentation"),
        Rung::Unicode => Some("unicode"),
        Rung::Context => Some("context"),
    };
    let distance = offset_lines.unsigned_abs();
    let plural = if distance == 1 { "" } else { "s" };
    let offset = match offset_lines {
        0 => None,
        1.. => Some(format!("{distance} line{plural} below the stated line")),
        _ => Some(format!("{distance} line{plural} above the stated line")),
    };
    let what: Vec<String> = rung.map(str::to_string).into_iter().chain(offset).collect();
    let plural = if names.len() == 1 { "" } else { "s" };
    Remark::new(format!("hunk{plural} {} matched: {}", names.join(", "), what.join(", ")))
}
