//! A call and its result, as a log holds them, to the card that a reader is shown.
//!
//! What the result records goes before what the call asks for; a failed call shows no change at all; what the log
//! does not record is said to be unknown. Nothing is read from the disk.

use std::collections::BTreeMap;

use crate::diff::hunks::counts;
use crate::patch::args::spelling::Family;
use crate::report::Card;
use crate::report::CardFile;
use crate::report::CardKind;
use crate::report::CardSchema;
use crate::report::CardStatus;
use crate::report::Change;
use crate::report::FileDiff;
use crate::report::Operation;
use crate::report::RecordFile;
use crate::report::Recorded;
use crate::report::Source;

use super::change::Picture;
use super::change::file_named;
use super::change::picture_of;
use super::event::CallResult;
use super::event::Request;
use super::pair::Call;
use super::requested::Requested;
use super::requested::requested;
use super::told;
use super::told::Told;

/// A card, and what was replaced to draw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    /// The card; none of a call that edits nothing.
    pub card: Option<Card>,
    /// Count of characters that became U+FFFD.
    pub replaced: usize,
    /// What the log tells of each file of the card beside the hunks; only of [`draw_told`].
    pub told: Vec<Told>,
}

/// Draws a call, and takes down what the log tells beside its hunks.
pub fn draw_told(format: &str, mut call: Call, result: Option<CallResult>) -> Drawn {
    let told = match &result {
        Some(result) if is_recorded(result) && !result.files.is_empty() => {
            // A write asks for the whole text: then all of it is known, whatever the hunks show.
            let asks_texts = matches!(Family::of(&call.tool), Family::Write | Family::Patch);
            let request = call.request.as_mut().filter(|_| asks_texts);
            // Of the request only that there was one counts after this.
            let request = request.map(|request| std::mem::replace(request, Request::Changes(Vec::new())));
            let written = request.map(|request| requested(&call.tool, request).picture).unwrap_or_default();
            let told = |file: &RecordFile| told::of_record(file, whole_text(&written, &file.path));
            result.files.iter().map(told).collect()
        }
        Some(result) if is_recorded(result) => result.changes.iter().map(told::of_change).collect(),
        _ => Vec::new(),
    };
    Drawn { told, ..draw(format, call, result) }
}

/// Returns the text that a request gives a file as a whole. Whether the file got just that, a hash tells.
fn whole_text<'a>(written: &'a Picture, path: &str) -> Option<&'a str> {
    let mut diffs = written.diffs.iter().filter(|diff| diff.path == path);
    let diff = diffs.next().filter(|diff| diff.old_text.is_none() && diff.lines.is_none())?;
    diffs.next().is_none().then_some(&diff.new_text)
}

/// Draws a call; without a result, as requested and with an unknown outcome.
pub fn draw(format: &str, mut call: Call, result: Option<CallResult>) -> Drawn {
    let mut notes = Vec::new();
    let requested = match call.request.take() {
        // A record of the change says all that the request could, so the request is not even parsed.
        Some(_) if result.as_ref().is_some_and(is_recorded) => {
            Requested { is_edit: true, ..Requested::default() }
        }
        Some(request) => requested(&call.tool, request),
        None => Requested {
            is_edit: true,
            trouble: Some("the request is not shown: too many calls wait for a result".to_owned()),
            ..Requested::default()
        },
    };
    notes.extend(requested.trouble.clone());
    let replaced = requested.replaced;
    if !requested.is_edit {
        return Drawn { card: None, replaced, told: Vec::new() };
    }
    let status = status_of(&call, result.as_ref());
    let message = message_of(status, &call, result.as_ref(), notes);
    let source = source_of(format, &call, result.as_ref());
    let mut error = None;
    let Picture { files, diffs } = match (status, result) {
        (CardStatus::Failed | CardStatus::Rejected, result) => {
            error = result.and_then(|result| result.error).map(|error| *error);
            requested.picture
        }
        (CardStatus::Applied | CardStatus::Partial | CardStatus::Held, Some(result)) => {
            applied(requested, result)
        }
        (CardStatus::Applied | CardStatus::Partial | CardStatus::Held | CardStatus::Unknown, _) => {
            requested.picture
        }
    };
    let title = title_of(&call.tool, &files);
    let (schema, kind) = (CardSchema::V1, CardKind::Diff);
    let card = Card {
        schema,
        card: kind,
        title,
        status,
        source,
        files,
        diffs,
        requested: Vec::new(),
        message,
        error,
        compared: None,
    };
    let is_done = !matches!(status, CardStatus::Failed | CardStatus::Rejected);
    Drawn { card: Some(if is_done { card } else { undone(card) }), replaced, told: Vec::new() }
}

/// Tells whether the result holds the change itself.
fn is_recorded(result: &CallResult) -> bool {
    let has_change = !(result.changes.is_empty() && result.diffs.is_empty() && result.files.is_empty());
    has_change && !matches!(result.status, CardStatus::Failed | CardStatus::Rejected | CardStatus::Unknown)
}

fn status_of(call: &Call, result: Option<&CallResult>) -> CardStatus {
    match result.map(|result| result.status) {
        // A refusal explains a failure. It does not undo a success: the call may have been allowed later.
        Some(CardStatus::Failed) | None if call.refusal.is_some() => CardStatus::Rejected,
        Some(status) => status,
        None => CardStatus::Unknown,
    }
}

fn message_of(
    status: CardStatus,
    call: &Call,
    result: Option<&CallResult>,
    mut notes: Vec<String>,
) -> Option<String> {
    let answer = match status {
        // The answer to a success only repeats what the card shows.
        CardStatus::Applied => None,
        _ => result.and_then(|result| result.message.clone()),
    };
    let refusal = call.refusal.as_ref().filter(|_| status == CardStatus::Rejected && answer.is_none());
    notes.extend(refusal.map(|refusal| format!("approval: {refusal}")));
    notes.splice(0..0, answer);
    notes.extend(result.into_iter().flat_map(|result| result.notes.iter().cloned()));
    (!notes.is_empty()).then(|| notes.join("\n"))
}

fn source_of(format: &str, call: &Call, result: Option<&CallResult>) -> Source {
    let place = result.map_or(&call.place, |result| &result.place);
    Source {
        format: format.to_owned(),
        line: place.line,
        call_id: Some(call.id.clone()),
        tool: call.tool.clone(),
        turn: place.turn.or(call.place.turn),
        time: place.time.clone().or_else(|| call.place.time.clone()),
        ..Source::default()
    }
}

fn title_of(tool: &str, files: &[CardFile]) -> String {
    match files {
        [] => tool.to_owned(),
        [file] => format!("{tool} {}", file.path),
        _ => format!("{tool} {} files", files.len()),
    }
}

/// A change that did not happen: the files are named, and its hunks are kept apart from those that are in files.
fn undone(card: Card) -> Card {
    let name = |file| CardFile { added: None, removed: None, recorded: Recorded::Path, ..file };
    let files = card.files.into_iter().map(name).collect();
    Card { files, diffs: Vec::new(), requested: card.diffs, ..card }
}

fn applied(mut requested: Requested, result: CallResult) -> Picture {
    if !result.files.is_empty() {
        let files = result.files.into_iter().map(|file| recorded_file(file, &result.diffs)).collect();
        return Picture { files, diffs: result.diffs };
    }
    if !result.changes.is_empty() {
        return picture_of(result.changes);
    }
    if !result.diffs.is_empty() {
        let diffs: Vec<FileDiff> = result.diffs.into_iter().map(counted).collect();
        return Picture { files: files_of(&diffs, result.operation), diffs };
    }
    if requested.is_whole_content && result.operation == Some(Operation::Create) {
        // The file was not there, and the call holds all of it: both sides are known.
        for (file, diff) in requested.picture.files.iter_mut().zip(&mut requested.picture.diffs) {
            diff.notes.clear();
            file.operation = Operation::Create;
            file.added = Some(line_count(&diff.new_text));
            file.removed = Some(0);
            file.recorded = Recorded::Texts;
        }
    }
    requested.picture
}

/// Returns a recorded hunk with its counts of lines. Its texts lack the last newline, unlike those of a request: where
/// the log gives no numbers, only the counts tell that an empty last line is one.
fn counted(diff: FileDiff) -> FileDiff {
    let lines = |text: &str| text.split('\n').count();
    FileDiff {
        old_lines: diff.old_lines.or_else(|| Some(diff.old_text.as_deref().map_or(0, lines))),
        // An empty new text is an emptied file; an old one would be null.
        new_lines: diff
            .new_lines
            .or_else(|| Some(if diff.new_text.is_empty() { 0 } else { lines(&diff.new_text) })),
        ..diff
    }
}

/// Returns the card's entry for a file of hunkwise's own record.
fn recorded_file(file: RecordFile, diffs: &[FileDiff]) -> CardFile {
    // Of content that is not text, or too large, no lines are counted: then what would undo it tells that there is some.
    let has_change = file.added + file.removed > 0 || !file.undo.is_empty() || file.no_undo.is_some();
    let encodings = (file.encoding != "utf-8" || file.encoding_before.is_some()).then(|| Change {
        before: file
            .encoding_before
            .or(Some(file.encoding.clone()))
            .filter(|_| file.operation != Operation::Create),
        after: Some(file.encoding).filter(|_| file.operation != Operation::Delete),
    });
    let is_drawn = !has_change || diffs.iter().any(|diff| diff.path == file.path);
    CardFile {
        path: file.path,
        operation: file.operation,
        from: file.from,
        status: None,
        added: Some(file.added),
        removed: Some(file.removed),
        eol: Some(file.eol),
        encoding: encodings,
        mode: Some(file.mode),
        recorded: if is_drawn { Recorded::Hunks } else { Recorded::Path },
    }
}

/// Returns one entry for each path of the hunks, in the order in which the paths come up.
fn files_of(diffs: &[FileDiff], operation: Option<Operation>) -> Vec<CardFile> {
    let mut files: Vec<CardFile> = Vec::new();
    let mut index_by_path: BTreeMap<&str, usize> = BTreeMap::new();
    for diff in diffs {
        let (added, removed) = counts(diff);
        let index = *index_by_path.entry(&diff.path).or_insert(files.len());
        if let Some(file) = files.get_mut(index) {
            file.added = file.added.map(|sum| sum + added);
            file.removed = file.removed.map(|sum| sum + removed);
        } else {
            files.push(CardFile {
                added: Some(added),
                removed: Some(removed),
                recorded: Recorded::Hunks,
                ..file_named(&diff.path, operation.unwrap_or(Operation::Update))
            });
        }
    }
    files
}

/// Returns the count of lines of a whole text, in which the last newline ends a line.
fn line_count(text: &str) -> usize {
    text.split_inclusive('\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Code;
    use crate::report::DiffNote;
    use crate::report::EolName;
    use crate::report::ErrorReport;
    use crate::report::Problem;
    use crate::session::event::Place;
    use crate::session::event::Request;

    fn call(tool: &str, arguments: &str) -> Call {
        Call {
            id: "c1".to_owned(),
            tool: tool.to_owned(),
            request: Some(Request::Arguments(arguments.to_owned().into())),
            place: Place { line: 2, turn: Some(1), time: Some("10".to_owned()) },
            refusal: None,
        }
    }

    fn result(status: CardStatus, message: &str) -> CallResult {
        let place = Place { line: 3, turn: None, time: Some("11".to_owned()) };
        CallResult { message: Some(message.to_owned()), ..CallResult::new("c1".to_owned(), place, status) }
    }

    fn card(call: Call, result: Option<CallResult>) -> Card {
        draw("dsh", call, result).card.unwrap()
    }

    fn hunk(path: &str, old: &str, new: &str) -> FileDiff {
        let old_text = Some(old.to_owned());
        FileDiff { path: path.to_owned(), old_text, new_text: new.to_owned(), ..FileDiff::default() }
    }

    const EDIT: &str = r#"{"file_path":"a.txt","old_string":"red","new_string":"blue"}"#;
    const WRITE: &str = r#"{"file_path":"n.txt","content":"hi\nyou\n"}"#;

    #[test]
    fn recorded_hunks_go_before_the_request() {
        let diffs = vec![hunk("a.txt", "c=red", "c=blue"), hunk("b.txt", "1", "2"), hunk("a.txt", "x", "y")];
        let result = CallResult { diffs: diffs.clone(), ..result(CardStatus::Applied, "updated") };
        let card = card(call("edit", "not even JSON"), Some(result));
        let named = |path, count| CardFile {
            added: Some(count),
            removed: Some(count),
            recorded: Recorded::Hunks,
            ..file_named(path, Operation::Update)
        };
        let one_line = |diff: FileDiff| FileDiff { old_lines: Some(1), new_lines: Some(1), ..diff };
        let diffs = diffs.into_iter().map(one_line).collect();
        let wanted = Card {
            schema: CardSchema::V1,
            card: CardKind::Diff,
            title: "edit 2 files".to_owned(),
            status: CardStatus::Applied,
            source: Source {
                format: "dsh".to_owned(),
                line: 3,
                call_id: Some("c1".to_owned()),
                tool: "edit".to_owned(),
                turn: Some(1),
                time: Some("11".to_owned()),
                ..Source::default()
            },
            files: vec![named("a.txt", 2), named("b.txt", 1)],
            diffs,
            requested: Vec::new(),
            message: None,
            error: None,
            compared: None,
        };
        assert_eq!(card, wanted);
    }

    #[test]
    fn counts_follow_the_recorded_signs() {
        let lines = |lines: &[&str]| Some(lines.iter().map(|&line| line.to_owned()).collect());
        let first = FileDiff { lines: lines(&[" a", "-b", "+c", "+d"]), ..hunk("a", "a\nb", "a\nc\nd") };
        let second = FileDiff { old_text: None, ..hunk("a", "", "x\n") };
        let result = CallResult { diffs: vec![first, second], ..result(CardStatus::Applied, "") };
        let file = &card(call("edit", EDIT), Some(result)).files[0];
        assert_eq!((file.added, file.removed), (Some(4), Some(1)));
    }

    #[test]
    fn create_is_known_on_both_sides() {
        let result =
            CallResult { operation: Some(Operation::Create), ..result(CardStatus::Applied, "Created file") };
        let card = card(call("write", WRITE), Some(result));
        let file = CardFile {
            added: Some(2),
            removed: Some(0),
            recorded: Recorded::Texts,
            ..file_named("n.txt", Operation::Create)
        };
        assert_eq!(card.files, [file]);
        assert_eq!(card.diffs, [FileDiff { old_text: None, ..hunk("n.txt", "", "hi\nyou\n") }]);
    }

    #[test]
    fn overwrite_without_hunks_has_an_unknown_old_side() {
        for operation in [Some(Operation::Update), None] {
            let result = CallResult { operation, ..result(CardStatus::Applied, "Updated file") };
            let card = card(call("write", WRITE), Some(result));
            assert_eq!(card.status, CardStatus::Applied);
            assert_eq!(card.files, [file_named("n.txt", Operation::Update)]);
            assert_eq!(card.diffs[0].notes, [DiffNote::OldUnknown]);
        }
    }

    #[test]
    fn edit_without_hunks_is_drawn_as_requested() {
        let card = card(call("edit", EDIT), Some(result(CardStatus::Applied, "updated")));
        let file = file_named("a.txt", Operation::Update);
        assert_eq!(card.files, [CardFile { added: Some(1), removed: Some(1), ..file }]);
        assert_eq!(card.diffs, [hunk("a.txt", "red", "blue")]);
    }

    #[test]
    fn failure_keeps_what_was_asked_apart() {
        let recorded = vec![hunk("a.txt", "red", "blue")];
        let result = CallResult { diffs: recorded, ..result(CardStatus::Failed, "Error: not found") };
        let card = card(call("edit", EDIT), Some(result));
        let file = CardFile { recorded: Recorded::Path, ..file_named("a.txt", Operation::Update) };
        assert_eq!((card.status, card.message.as_deref()), (CardStatus::Failed, Some("Error: not found")));
        assert_eq!((card.files, card.diffs), (vec![file], Vec::new()));
        assert_eq!((card.requested, card.error), (vec![hunk("a.txt", "red", "blue")], None));
    }

    #[test]
    fn a_failure_of_our_own_keeps_its_problems() {
        let report = ErrorReport {
            code: Code::HunkNotFound,
            message: "not there".to_owned(),
            hint: None,
            problems: vec![Problem::new(Code::HunkNotFound, "not there")],
        };
        let told = |status| {
            let error = Some(Box::new(report.clone()));
            card(call("edit", EDIT), Some(CallResult { error, ..result(status, "Error: not there") })).error
        };
        assert_eq!(told(CardStatus::Failed), Some(report.clone()));
        assert_eq!(told(CardStatus::Applied), None);
    }

    #[test]
    fn refusal_makes_a_failure_a_rejection_and_leaves_a_success() {
        let refused = || Call { refusal: Some("rejected".to_owned()), ..call("edit", EDIT) };
        let check = |result: Option<CallResult>, status, message| {
            let card = card(refused(), result);
            assert_eq!((card.status, card.message.as_deref()), (status, message));
            assert_eq!(card.diffs.is_empty(), status == CardStatus::Rejected);
        };
        check(None, CardStatus::Rejected, Some("approval: rejected"));
        check(Some(result(CardStatus::Failed, "Error: no")), CardStatus::Rejected, Some("Error: no"));
        check(Some(result(CardStatus::Applied, "ok")), CardStatus::Applied, None);
    }

    #[test]
    fn missing_result_is_unknown_and_drawn_as_requested() {
        let card = card(call("edit", EDIT), None);
        assert_eq!((card.status, card.source.line), (CardStatus::Unknown, 2));
        assert_eq!(card.diffs, [hunk("a.txt", "red", "blue")]);
        assert_eq!(card.message, None);
    }

    #[test]
    fn arguments_that_are_no_json_are_said_to_be() {
        let card = card(call("edit", "{\"file_path\":"), Some(result(CardStatus::Failed, "Error: bad")));
        assert_eq!((card.title.as_str(), card.files.len()), ("edit", 0));
        let message = card.message.unwrap();
        assert!(
            message.starts_with("Error: bad\nthe arguments are not valid JSON: expected a value"),
            "{message}"
        );
    }

    #[test]
    fn own_record_names_operation_counts_and_properties() {
        let file = |path: &str, operation, added| RecordFile {
            eol: Change { before: Some(EolName::Lf), after: Some(EolName::Crlf) },
            mode: Change { before: None, after: Some("100644".to_owned()) },
            added,
            ..RecordFile::new(path.to_owned(), operation)
        };
        let undo = crate::report::UndoSplice { offset: 0, old: String::new(), new_length: 3 };
        let files = vec![
            file("a", Operation::Create, 1),
            RecordFile { from: Some("x".to_owned()), ..file("b", Operation::Rename, 0) },
            file("big", Operation::Update, 9),
            RecordFile { undo: vec![undo], ..file("opaque", Operation::Create, 0) },
            file("empty", Operation::Create, 0),
        ];
        let diffs = vec![hunk("a", "", "n")];
        let result = CallResult { files, diffs, ..result(CardStatus::Applied, "") };
        let card = card(call("apply_patch", "{}"), Some(result));
        assert_eq!(card.title, "apply_patch 5 files");
        let seen: Vec<_> =
            card.files.iter().map(|file| (file.operation, file.added, file.recorded)).collect();
        assert_eq!(
            seen,
            [
                (Operation::Create, Some(1), Recorded::Hunks),
                (Operation::Rename, Some(0), Recorded::Hunks),
                (Operation::Update, Some(9), Recorded::Path),
                (Operation::Create, Some(0), Recorded::Path),
                (Operation::Create, Some(0), Recorded::Hunks),
            ]
        );
        assert_eq!(card.files[1].from.as_deref(), Some("x"));
        assert_eq!(card.files[0].mode.as_ref().and_then(|mode| mode.after.as_deref()), Some("100644"));
    }

    #[test]
    fn lone_surrogates_in_arguments_are_replaced_and_counted() {
        let drawn = draw("dsh", call("write", r#"{"file_path":"a","content":"\ud83d"}"#), None);
        assert_eq!(drawn.replaced, 1);
        assert_eq!(drawn.card.unwrap().diffs[0].new_text, "\u{FFFD}");
    }
}
