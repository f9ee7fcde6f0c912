//! What a tool says it did, beside the message that the model was shown.
//!
//! ```text
//! of Edit, MultiEdit  {"filePath","oldString","newString","originalFile":TEXT|null,"structuredPatch":[hunk*],
//!                      "userModified","replaceAll","staged"?}
//! of Write            {"type":"create"|"update","filePath","content","structuredPatch" (empty of a create),
//!                      "originalFile"?,"userModified"?,"staged"?}
//! of NotebookEdit     {"notebook_path","cell_id","edit_mode","old_source"?,"new_source","original_file",
//!                      "updated_file","error"?}
//! of Bash             {"stdout",...,"bashEditDiff"?:{"files":[{"filePath","hunks":[hunk*],"created"?,"deleted"?}],
//!                      "changedFiles":[PATH*],"moreFiles":NUMBER,"unavailable"?}}
//! hunk = {"oldStart","oldLines","newStart","newLines","lines":[SIGN TEXT]}
//! ```
//!
//! The shape decides, not the tool's name. Of a failed call, and of early versions, it is only a string.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::report::Operation;
use crate::session::event::Before;
use crate::session::event::ChangeContent;
use crate::session::event::FileChange;
use crate::session::event::LoggedHunk;

use super::super::flag;
use super::super::lenient;
use super::super::text;

/// What a result says of files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Changed {
    /// The files; none where the request says as much.
    pub changes: Vec<FileChange>,
    /// What a reader of the card should know.
    pub notes: Vec<String>,
    /// The change waits for review; the file is as it was.
    pub is_held: bool,
    /// What went wrong, of a tool that says so only here.
    pub error: Option<String>,
    /// A shell command did it: no call tells that it would.
    pub is_shell: bool,
}

/// Reads what stands beside a message.
pub(super) fn changed(raw: Option<&RawValue>) -> Changed {
    let Some(told) = lenient::<Told<'_>>(raw) else { return Changed::default() };
    if let Some(diff) = lenient::<ShellDiff<'_>>(told.bash_edit_diff) {
        return shell_changes(&diff);
    }
    if let Some(path) = text(told.notebook_path) {
        return notebook_change(path, &told);
    }
    let Some(path) = text(told.file_path) else { return Changed::default() };
    let (content, operation) = if told.content.is_some() { written(&told) } else { edited(&told) };
    let change = |content| {
        let has_hunks = matches!(content, ChangeContent::Hunks(_));
        let before = told.original_file.map(RawValue::get).filter(|json| has_hunks && json.starts_with('"'));
        FileChange { operation, before_json: before.map(str::to_owned), ..FileChange::new(path, content) }
    };
    let mut changed = Changed {
        changes: content.map(change).into_iter().collect(),
        is_held: flag(told.staged),
        ..Changed::default()
    };
    if flag(told.user_modified) {
        changed.notes.push("changed by the user before it was accepted".to_owned());
    }
    changed
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    file_path: Option<&'a RawValue>,
    #[serde(borrow)]
    old_string: Option<&'a RawValue>,
    #[serde(borrow)]
    new_string: Option<&'a RawValue>,
    #[serde(borrow)]
    replace_all: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    original_file: Option<&'a RawValue>,
    #[serde(borrow)]
    structured_patch: Option<&'a RawValue>,
    #[serde(borrow)]
    user_modified: Option<&'a RawValue>,
    #[serde(borrow)]
    staged: Option<&'a RawValue>,
    #[serde(borrow)]
    bash_edit_diff: Option<&'a RawValue>,
    #[serde(borrow, rename = "notebook_path")]
    notebook_path: Option<&'a RawValue>,
    #[serde(borrow, rename = "cell_id")]
    cell_id: Option<&'a RawValue>,
    #[serde(borrow, rename = "edit_mode")]
    edit_mode: Option<&'a RawValue>,
    #[serde(borrow, rename = "old_source")]
    old_source: Option<&'a RawValue>,
    #[serde(borrow, rename = "new_source")]
    new_source: Option<&'a RawValue>,
    #[serde(borrow, rename = "original_file")]
    notebook_before: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Hunk<'a> {
    #[serde(borrow)]
    old_start: Option<&'a RawValue>,
    #[serde(borrow)]
    new_start: Option<&'a RawValue>,
    lines: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShellDiff<'a> {
    #[serde(borrow)]
    files: Option<&'a RawValue>,
    #[serde(borrow)]
    changed_files: Option<&'a RawValue>,
    #[serde(borrow)]
    more_files: Option<&'a RawValue>,
    #[serde(borrow)]
    unavailable: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShellFile<'a> {
    file_path: String,
    #[serde(borrow)]
    hunks: Option<&'a RawValue>,
    #[serde(borrow)]
    created: Option<&'a RawValue>,
    #[serde(borrow)]
    deleted: Option<&'a RawValue>,
}

/// Returns the hunks if there are any and every one is whole: half of an edit would be a wrong picture of it.
fn hunks(raw: Option<&RawValue>) -> Option<Vec<LoggedHunk>> {
    let hunks: Vec<Hunk<'_>> = lenient(raw)?;
    let logged = |hunk: Hunk<'_>| LoggedHunk {
        old_start: lenient(hunk.old_start),
        new_start: lenient(hunk.new_start),
        lines: hunk.lines,
    };
    (!hunks.is_empty()).then(|| hunks.into_iter().map(logged).collect())
}

/// A file that was written whole.
fn written(told: &Told<'_>) -> (Option<ChangeContent>, Option<Operation>) {
    let is_new = text(told.kind).as_deref() == Some("create");
    let operation = if is_new { Operation::Create } else { Operation::Update };
    let content = hunks(told.structured_patch).map(ChangeContent::Hunks).or_else(|| {
        let before = match text(told.original_file) {
            _ if is_new => Before::Absent,
            Some(before) => Before::Text(before),
            None => Before::Unknown,
        };
        Some(ChangeContent::Texts { before, after: text(told.content)? })
    });
    (content, Some(operation))
}

/// A file in which something was replaced.
fn edited(told: &Told<'_>) -> (Option<ChangeContent>, Option<Operation>) {
    if let Some(hunks) = hunks(told.structured_patch) {
        return (Some(ChangeContent::Hunks(hunks)), None);
    }
    // Several replacements, or one at every place, are told as well by the request.
    let (Some(old), Some(new)) = (text(told.old_string), text(told.new_string)) else { return (None, None) };
    let replaces_all = flag(told.replace_all);
    // What the user made of the new text is in the hunks alone.
    let before = text(told.original_file).filter(|_| !flag(told.user_modified));
    let content = match before {
        Some(before)
            if !old.is_empty() && (replaces_all || is_once(&before, &old)) && before.contains(&old) =>
        {
            let after = before.replace(&old, &new);
            Some(ChangeContent::Texts { before: Before::Text(before), after })
        }
        _ if replaces_all => None,
        _ => Some(ChangeContent::Replacement { old, new }),
    };
    (content, None)
}

/// Tells whether a text stands at exactly one place, overlapping ones counted.
fn is_once(text: &str, part: &str) -> bool {
    let Some(first) = text.find(part) else { return false };
    let next = first + part.chars().next().map_or(1, char::len_utf8);
    !text[next..].contains(part)
}

/// A cell of a notebook. Its lines have no numbers in the file: that is JSON, and the cell one string in it.
fn notebook_change(path: String, told: &Told<'_>) -> Changed {
    let cell = text(told.cell_id);
    let mode = text(told.edit_mode);
    let old = match mode.as_deref() {
        Some("insert") => Some(String::new()),
        _ => text(told.old_source).or_else(|| cell_source(told.notebook_before, cell.as_deref()?)),
    };
    let new = match mode.as_deref() {
        Some("delete") => Some(String::new()),
        _ => text(told.new_source),
    };
    let content = match (old, new) {
        (Some(old), Some(new)) => ChangeContent::Replacement { old, new },
        (None, Some(after)) if !after.is_empty() => ChangeContent::Texts { before: Before::Unknown, after },
        _ => ChangeContent::Path,
    };
    let mode = mode.filter(|mode| mode != "replace").map(|mode| format!(", {mode}")).unwrap_or_default();
    Changed {
        changes: vec![FileChange { operation: Some(Operation::Update), ..FileChange::new(path, content) }],
        notes: cell.map(|cell| format!("cell {cell}{mode}")).into_iter().collect(),
        error: text(told.error).filter(|error| !error.is_empty()),
        ..Changed::default()
    }
}

/// Returns the source of a cell of a notebook; `cell-N` is the cell with that 0-based number, if no id is that.
fn cell_source(notebook: Option<&RawValue>, id: &str) -> Option<String> {
    let notebook: Value = serde_json::from_str(&text(notebook)?).ok()?;
    let cells = notebook.get("cells")?.as_array()?;
    let by_number = || cells.get(id.strip_prefix("cell-")?.parse::<usize>().ok()?);
    let cell =
        cells.iter().find(|cell| cell.get("id").and_then(Value::as_str) == Some(id)).or_else(by_number)?;
    match cell.get("source")? {
        Value::String(source) => Some(source.clone()),
        Value::Array(lines) => lines.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

fn shell_changes(diff: &ShellDiff<'_>) -> Changed {
    let files: Vec<&RawValue> = lenient(diff.files).unwrap_or_default();
    let mut changes: Vec<FileChange> = files.into_iter().filter_map(shell_file).collect();
    let shown = changes.len();
    let named: Vec<String> = lenient(diff.changed_files).unwrap_or_default();
    for path in named {
        if !changes.iter().any(|change| change.path == path) {
            changes.push(FileChange::new(path, ChangeContent::Path));
        }
    }
    let more = lenient::<usize>(diff.more_files).unwrap_or_default().saturating_sub(changes.len() - shown);
    let mut notes = Vec::new();
    match more {
        0 => {}
        1 => notes.push("1 more file was changed; the log does not name it".to_owned()),
        _ => notes.push(format!("{more} more files were changed; the log does not name them")),
    }
    if let Some(why) = diff.unavailable.filter(|raw| raw.get() != "false") {
        let why = text(Some(why)).map(|why| format!(": {why}")).unwrap_or_default();
        notes.push(format!("what the command changed is not recorded{why}"));
    }
    Changed { changes, notes, is_shell: true, ..Changed::default() }
}

fn shell_file(raw: &RawValue) -> Option<FileChange> {
    let file: ShellFile<'_> = lenient(Some(raw))?;
    let operation = match (flag(file.created), flag(file.deleted)) {
        (true, _) => Operation::Create,
        (_, true) => Operation::Delete,
        _ => Operation::Update,
    };
    // Without hunks it may be empty, or binary, or too large.
    let content = hunks(file.hunks).map_or(ChangeContent::Path, ChangeContent::Hunks);
    Some(FileChange { operation: Some(operation), ..FileChange::new(file.file_path, content) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed_of(json: &str) -> Changed {
        changed(Some(&serde_json::from_str::<Box<RawValue>>(json).unwrap()))
    }

    fn content(json: &str) -> Option<ChangeContent> {
        let mut changes = changed_of(json).changes;
        assert!(changes.len() <= 1, "{json}");
        changes.pop().map(|change| change.content)
    }

    fn texts(before: Before, after: &str) -> Option<ChangeContent> {
        Some(ChangeContent::Texts { before, after: after.to_owned() })
    }

    fn part(old: &str, new: &str) -> Option<ChangeContent> {
        Some(ChangeContent::Replacement { old: old.to_owned(), new: new.to_owned() })
    }

    #[test]
    fn hunks_go_before_texts_and_texts_before_the_request() {
        let edit =
            |more: &str| content(&format!(r#"{{"filePath":"f","oldString":"b","newString":"c"{more}}}"#));
        let hunk =
            |lines: &str| format!(r#","structuredPatch":[{{"oldStart":4,"newStart":5,"lines":{lines}}}]"#);
        let lines = vec!["-b".to_owned(), "+c".to_owned()];
        let logged = LoggedHunk { old_start: Some(4), new_start: Some(5), lines };
        assert_eq!(edit(&hunk(r#"["-b","+c"]"#)), Some(ChangeContent::Hunks(vec![logged])));
        // One line that is none costs the hunks.
        assert_eq!(edit(&hunk(r#"["-b",7]"#)), part("b", "c"));
        let before = || Before::Text("a\nb\n".to_owned());
        assert_eq!(edit(r#","structuredPatch":[],"originalFile":"a\nb\n""#), texts(before(), "a\nc\n"));
        assert_eq!(edit(r#","originalFile":"b\nb\n""#), part("b", "c"));
        assert_eq!(
            edit(r#","originalFile":"b\nb\n","replaceAll":true"#),
            texts(Before::Text("b\nb\n".to_owned()), "c\nc\n")
        );
        assert_eq!(edit(r#","originalFile":null,"replaceAll":true"#), None);
        assert_eq!(edit(r#","originalFile":null"#), part("b", "c"));
        assert_eq!(edit(r#","originalFile":"a\nb\n","userModified":true"#), part("b", "c"));
        assert_eq!(content(r#"{"filePath":"f","edits":[]}"#), None);
    }

    #[test]
    fn a_place_is_counted_though_it_overlaps_another() {
        assert!(is_once("xaax", "aa"));
        assert!(!is_once("aaa", "aa"));
        assert!(!is_once("é é", "é"));
        assert!(!is_once("x", "y"));
    }

    #[test]
    fn writes_tell_whether_the_file_was_there() {
        let write = |more: &str| {
            let changed = changed_of(&format!(r#"{{"filePath":"f","content":"n\n"{more}}}"#));
            let change = changed.changes.into_iter().next().unwrap();
            (change.operation.unwrap(), Some(change.content))
        };
        assert_eq!(
            write(r#","type":"create","structuredPatch":[]"#),
            (Operation::Create, texts(Before::Absent, "n\n"))
        );
        let (before, unknown) = (Before::Text("o\n".to_owned()), Before::Unknown);
        assert_eq!(
            write(r#","type":"update","structuredPatch":[],"originalFile":"o\n""#),
            (Operation::Update, texts(before, "n\n"))
        );
        assert_eq!(
            write(r#","type":"update","originalFile":null"#),
            (Operation::Update, texts(unknown, "n\n"))
        );
    }

    #[test]
    fn cells_are_told_by_id_and_by_number() {
        let cell = |id: &str, more: &str| {
            let notebook = r#"{\"cells\":[{\"id\":\"x\",\"source\":[\"a\\n\",\"b\"]},{\"source\":\"c\"}]}"#;
            content(&format!(
                r#"{{"notebook_path":"f","cell_id":"{id}","new_source":"n","original_file":"{notebook}"{more}}}"#
            ))
        };
        assert_eq!(cell("x", ""), part("a\nb", "n"));
        assert_eq!(cell("cell-1", ""), part("c", "n"));
        assert_eq!(cell("x", r#","old_source":"told""#), part("told", "n"));
        assert_eq!(cell("x", r#","edit_mode":"insert""#), part("", "n"));
        assert_eq!(cell("x", r#","edit_mode":"delete""#), part("a\nb", ""));
        assert_eq!(cell("gone", ""), texts(Before::Unknown, "n"));
        assert_eq!(cell("gone", r#","edit_mode":"delete""#), Some(ChangeContent::Path));
        let failed = changed_of(r#"{"notebook_path":"f","error":"no such cell"}"#);
        assert_eq!(failed.error.as_deref(), Some("no such cell"));
    }

    #[test]
    fn shells_tell_what_they_changed_and_what_they_leave_out() {
        let changed = changed_of(
            r#"{"stdout":"","bashEditDiff":{"files":[{"filePath":"a","hunks":[{"oldStart":1,"newStart":1,"lines":["+x"]}],"created":true},{"filePath":"b","hunks":[]},{"hunks":7}],"changedFiles":["a","b","c"],"moreFiles":2,"unavailable":"too large"}}"#,
        );
        let seen: Vec<_> = (changed.changes.iter())
            .map(|change| {
                (change.path.as_str(), change.operation, matches!(change.content, ChangeContent::Path))
            })
            .collect();
        let (create, update) = (Some(Operation::Create), Some(Operation::Update));
        assert_eq!(seen, [("a", create, false), ("b", update, true), ("c", None, true)]);
        assert_eq!(
            changed.notes,
            [
                "1 more file was changed; the log does not name it",
                "what the command changed is not recorded: too large"
            ]
        );
        assert!(changed.is_shell);
    }

    #[test]
    fn what_is_of_another_shape_tells_of_no_change() {
        for json in ["null", "7", "\"done\"", "[]", "{}", r#"{"filePath":7}"#, r#"{"file":{"filePath":"f"}}"#]
        {
            assert_eq!(changed_of(json), Changed::default(), "{json}");
        }
        let plan = changed_of(r#"{"plan":"p","filePath":"f"}"#);
        assert_eq!(plan.changes, []);
    }
}
