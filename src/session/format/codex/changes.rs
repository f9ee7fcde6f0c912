//! The changes of a patch as Codex records them: a map from path to change, or a list of changes with their paths.
//!
//! ```text
//! changes = {PATH: change} | [{"path": PATH} + change]
//! change  = {"type" | "kind": "add" | "delete" | "update" | {"type", "move_path"?},
//!            "content" | "unified_diff" | "diff"?, "move_path"?}
//!         | {"add" | "delete" | "update": {"content" | "unified_diff", "move_path"?}}
//! ```

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::report::Operation;
use crate::session::event::Before;
use crate::session::event::ChangeContent;
use crate::session::event::FileChange;
use crate::session::format::Text;
use crate::session::format::lenient;

/// What the app server puts between the hunks of a move and its target.
const MOVED_TO: &str = "\n\nMoved to: ";

#[derive(Deserialize)]
struct Change<'a> {
    #[serde(borrow)]
    path: Option<Text<'a>>,
    #[serde(borrow, rename = "type")]
    tag: Option<Text<'a>>,
    #[serde(borrow)]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<Text<'a>>,
    #[serde(borrow)]
    unified_diff: Option<Text<'a>>,
    #[serde(borrow)]
    diff: Option<Text<'a>>,
    #[serde(borrow)]
    move_path: Option<Text<'a>>,
    #[serde(borrow)]
    add: Option<&'a RawValue>,
    #[serde(borrow)]
    delete: Option<&'a RawValue>,
    #[serde(borrow)]
    update: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(borrow, rename = "type")]
    tag: Text<'a>,
    #[serde(borrow)]
    move_path: Option<Text<'a>>,
}

/// The changes of a `fileChange` item or of a patch event; what is none is passed over.
pub fn read(raw: Option<&RawValue>) -> Vec<FileChange> {
    let entry =
        |raw: &RawValue| lenient::<Change<'_>>(Some(raw)).and_then(|change| file_change(None, change));
    if let Some(list) = lenient::<Vec<&RawValue>>(raw) {
        return list.into_iter().filter_map(entry).collect();
    }
    let map: BTreeMap<Text<'_>, &RawValue> = lenient(raw).unwrap_or_default();
    let entry = |(path, raw): (Text<'_>, &RawValue)| file_change(Some(path), lenient(Some(raw))?);
    map.into_iter().filter_map(entry).collect()
}

fn file_change(path: Option<Text<'_>>, change: Change<'_>) -> Option<FileChange> {
    let path = path.or(change.path)?.0.into_owned();
    // The first versions put the rest behind the kind.
    let nested = [("add", change.add), ("delete", change.delete), ("update", change.update)];
    let nested = nested.into_iter().find_map(|(tag, raw)| Some((tag, raw?)));
    let (nested_tag, change) = match nested {
        Some((tag, raw)) => (Some(Text(tag.into())), lenient::<Change<'_>>(Some(raw))?),
        None => (None, Change { path: None, ..change }),
    };
    let kind: Option<Kind<'_>> = lenient(change.kind);
    let word: Option<Text<'_>> = lenient(change.kind);
    let tags = [change.tag.as_ref(), nested_tag.as_ref(), word.as_ref(), kind.as_ref().map(|kind| &kind.tag)];
    let tag = tags.into_iter().flatten().next()?;
    let target = change.move_path.or_else(|| kind.as_ref().and_then(|kind| kind.move_path.clone()));
    let text = change.unified_diff.or(change.diff).or(change.content).map(|text| text.0.into_owned());
    let (operation, content) = match &**tag {
        "add" => {
            (Operation::Create, text.map(|after| ChangeContent::Texts { before: Before::Absent, after }))
        }
        "delete" => (
            Operation::Delete,
            text.map(|before| ChangeContent::Texts { before: Before::Text(before), after: String::new() }),
        ),
        _ => (Operation::Update, text.map(of_hunks)),
    };
    let content = content.unwrap_or(ChangeContent::Path);
    let change = FileChange { operation: Some(operation), ..FileChange::new(path, content) };
    Some(match target.filter(|target| **target != *change.path) {
        Some(target) => FileChange {
            from: Some(change.path),
            path: target.0.into_owned(),
            operation: Some(Operation::Rename),
            ..change
        },
        None => change,
    })
}

fn of_hunks(mut text: String) -> ChangeContent {
    if let Some(at) = text.rfind(MOVED_TO)
        && !text[at + MOVED_TO.len()..].contains('\n')
    {
        text.truncate(at);
    }
    // A file that only moves has no hunk, and that is all there is to it.
    if text.trim().is_empty() { ChangeContent::Hunks(Vec::new()) } else { ChangeContent::Unified(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: &[FileChange]) {
        let raw: Box<RawValue> = serde_json::from_str(text).unwrap();
        assert_eq!(read(Some(&raw)), wanted, "{text}");
    }

    fn change(path: &str, operation: Operation, content: ChangeContent) -> FileChange {
        FileChange { operation: Some(operation), ..FileChange::new(path.to_owned(), content) }
    }

    #[test]
    fn maps_and_lists_say_the_same() {
        let hunks = "@@ -1 +1 @@\n-x\n+y\n";
        let wanted = [
            change(
                "/w/a",
                Operation::Create,
                ChangeContent::Texts { before: Before::Absent, after: "n\n".to_owned() },
            ),
            FileChange {
                from: Some("/w/b".to_owned()),
                ..change("/w/c", Operation::Rename, ChangeContent::Unified(hunks.to_owned()))
            },
            change(
                "/w/d",
                Operation::Delete,
                ChangeContent::Texts { before: Before::Text("o\n".to_owned()), after: String::new() },
            ),
            change("/w/u", Operation::Update, ChangeContent::Unified(hunks.to_owned())),
        ];
        check(
            r#"{"/w/u":{"type":"update","unified_diff":"@@ -1 +1 @@\n-x\n+y\n","move_path":null},"/w/a":{"type":"add","content":"n\n"},
                "/w/b":{"type":"update","unified_diff":"@@ -1 +1 @@\n-x\n+y\n","move_path":"/w/c"},"/w/d":{"type":"delete","content":"o\n"}}"#,
            &wanted,
        );
        check(
            r#"[{"path":"/w/a","kind":{"type":"add"},"diff":"n\n"},
                {"path":"/w/b","kind":{"type":"update","move_path":"/w/c"},"diff":"@@ -1 +1 @@\n-x\n+y\n\n\nMoved to: /w/c"},
                {"path":"/w/d","kind":{"type":"delete"},"diff":"o\n"},
                {"path":"/w/u","kind":{"type":"update","move_path":null},"diff":"@@ -1 +1 @@\n-x\n+y\n"}]"#,
            &wanted,
        );
    }

    #[test]
    fn paths_without_content_are_only_paths() {
        check(
            r#"[{"path":"a","kind":"add"},{"path":"b","kind":"delete"},{"path":"c","kind":"update"},{"kind":"add"},7]"#,
            &[
                change("a", Operation::Create, ChangeContent::Path),
                change("b", Operation::Delete, ChangeContent::Path),
                change("c", Operation::Update, ChangeContent::Path),
            ],
        );
        check("{}", &[]);
        check("7", &[]);
    }

    #[test]
    fn kind_may_hold_the_rest() {
        check(
            r#"{"a":{"add":{"content":"n"}},"b":{"delete":{}},"c":{"update":{"unified_diff":"@@","move_path":"d"}}}"#,
            &[
                change(
                    "a",
                    Operation::Create,
                    ChangeContent::Texts { before: Before::Absent, after: "n".to_owned() },
                ),
                change("b", Operation::Delete, ChangeContent::Path),
                FileChange {
                    from: Some("c".to_owned()),
                    ..change("d", Operation::Rename, ChangeContent::Unified("@@".to_owned()))
                },
            ],
        );
    }

    #[test]
    fn move_alone_has_no_hunk() {
        check(
            r#"{"a":{"type":"update","unified_diff":"","move_path":"b"}}"#,
            &[FileChange {
                from: Some("a".to_owned()),
                ..change("b", Operation::Rename, ChangeContent::Hunks(Vec::new()))
            }],
        );
    }
}
