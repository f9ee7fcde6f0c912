//! Preview states as Codex's `patch_apply_updated` events, one JSON line each.
//!
//! As in Codex the changes are keyed by path, so that two edits of one path share an entry, and an end says nothing: the
//! exit status does. Unlike there, context lines are context, and hunks that have their place carry line numbers.

use std::collections::BTreeMap;
use std::io;
use std::io::Write;

use crate::diff::hunks::Sign;
use crate::diff::hunks::signed_lines;
use crate::report::CodexChange;
use crate::report::CodexUpdate;
use crate::report::FileDiff;
use crate::report::Operation;
use crate::report::PreviewEvent;
use crate::report::PreviewFile;

use super::json;

/// Writes an event; of an end, nothing.
///
/// # Errors
/// What the writer says.
pub fn event(out: &mut dyn Write, event: &PreviewEvent) -> io::Result<()> {
    match event {
        PreviewEvent::Preview { call_id, files, .. } => json::line(out, &update(call_id.as_deref(), files)),
        PreviewEvent::Finish { .. } => Ok(()),
    }
}

fn update(call_id: Option<&str>, files: &[PreviewFile]) -> CodexUpdate {
    let mut changes: BTreeMap<String, CodexChange> = BTreeMap::new();
    for file in files {
        let path = file.from.as_ref().unwrap_or(&file.path).clone();
        let mut change = change(file);
        if let (
            Some(CodexChange::Update { unified_diff: before, .. }),
            CodexChange::Update { unified_diff, .. },
        ) = (changes.get(&path), &mut change)
        {
            unified_diff.insert_str(0, before);
        }
        changes.insert(path, change);
    }
    CodexUpdate { kind: "patch_apply_updated", call_id: call_id.unwrap_or_default().to_owned(), changes }
}

fn change(file: &PreviewFile) -> CodexChange {
    match file.operation {
        Operation::Create => CodexChange::Add { content: file.diffs.iter().map(content).collect() },
        Operation::Delete => CodexChange::Delete { content: String::new() },
        Operation::Update | Operation::Rename | Operation::Copy => CodexChange::Update {
            unified_diff: file.diffs.iter().map(hunk).collect(),
            move_path: file.from.as_ref().map(|_| file.path.clone()),
        },
    }
}

/// Returns the new side as bytes of a file: a hunk lacks its last newline, a request has it.
fn content(diff: &FileDiff) -> String {
    let mut content = diff.new_text.clone();
    if diff.new_start.is_some() && !diff.new_no_newline {
        content.push('\n');
    }
    content
}

fn hunk(diff: &FileDiff) -> String {
    let mut text = match (diff.old_start, diff.old_lines, diff.new_start, diff.new_lines) {
        (Some(old), Some(old_lines), Some(new), Some(new_lines)) => {
            format!("@@ -{old},{old_lines} +{new},{new_lines} @@\n")
        }
        _ => "@@\n".to_owned(),
    };
    for line in signed_lines(diff) {
        text.push(match line.kind {
            Sign::Context => ' ',
            Sign::Delete => '-',
            Sign::Insert => '+',
        });
        text.push_str(line.text);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn states_become_updates() {
        let check = |event_: &PreviewEvent, wanted: &str| {
            let mut out = Vec::new();
            event(&mut out, event_).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), wanted);
        };
        let files = vec![
            sample::preview_file("new.rs", Operation::Create, None, "a\nb\n"),
            sample::preview_file("b.rs", Operation::Rename, Some("a.rs"), "x"),
            sample::preview_file("gone.rs", Operation::Delete, None, ""),
        ];
        check(
            &sample::preview_event(Some("c1"), files),
            "{\"type\":\"patch_apply_updated\",\"call_id\":\"c1\",\"changes\":{\
             \"a.rs\":{\"type\":\"update\",\"unified_diff\":\"@@\\n-old\\n+x\\n\",\"move_path\":\"b.rs\"},\
             \"gone.rs\":{\"type\":\"delete\",\"content\":\"\"},\
             \"new.rs\":{\"type\":\"add\",\"content\":\"a\\nb\\n\"}}}\n",
        );
        check(&sample::finish_event(None, true), "");
    }
}
