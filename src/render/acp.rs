//! Preview states and cards as messages of the Agent Client Protocol, one JSON line each.
//!
//! The first state of a call is a `tool_call`, each further one a `tool_call_update` that replaces its content; the
//! second version has only updates. The end of a call that can't be carried out is a failure; the end of any other changes
//! nothing: its tool still has to run. A card is one message, which tells the call whole.
//!
//! The first version shows a hunk as two texts. The second names the changed files and has git's patch of them: hunks
//! without line numbers can't stand in one, so that they are shown as text beside it.

use std::collections::HashSet;
use std::io;
use std::io::Write;

use foldhash::fast::FixedState;

use crate::diff::hunks::Sign;
use crate::diff::hunks::signed_lines;
use crate::report::AcpChange;
use crate::report::AcpContent;
use crate::report::AcpLocation;
use crate::report::AcpMessage;
use crate::report::AcpParams;
use crate::report::AcpPatch;
use crate::report::AcpText;
use crate::report::AcpUpdate;
use crate::report::Card;
use crate::report::CardFile;
use crate::report::CardStatus;
use crate::report::DiffNote;
use crate::report::ErrorReport;
use crate::report::FileDiff;
use crate::report::Operation;
use crate::report::PreviewEvent;
use crate::report::PreviewFile;
use crate::report::Recorded;

use super::git_header::Prefixes;
use super::json;
use super::markdown::fence;
use super::patch::section;

/// The session and the call of what has none.
const UNNAMED: &str = "preview";

/// The session of cards of a log without a name.
const REPLAY: &str = "replay";

/// A version of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AcpVersion {
    /// The first one.
    #[default]
    One,
    /// The second one, as its draft is.
    Two,
}

/// Writes messages.
#[derive(Debug, Default)]
pub struct Acp {
    version: AcpVersion,
    /// The root, which relative paths start at: the protocol's paths are absolute.
    base: String,
    /// The calls that were sent.
    sent: HashSet<String, FixedState>,
}

/// What is told of one file.
struct Edit<'a> {
    file: CardFile,
    diffs: Vec<&'a FileDiff>,
}

impl Acp {
    /// Returns a writer of messages for files below `base`, an absolute path.
    pub fn new(version: AcpVersion, base: &str) -> Self {
        Acp { version, base: base.trim_end_matches('/').to_owned(), sent: HashSet::default() }
    }

    /// Writes an event.
    ///
    /// # Errors
    /// What the writer says.
    pub fn event(&mut self, out: &mut dyn Write, event: &PreviewEvent) -> io::Result<()> {
        let (call_id, files, error) = match event {
            PreviewEvent::Preview { call_id, files, .. } => (call_id, Some(files.as_slice()), None),
            PreviewEvent::Finish { call_id, error: Some(error), .. } => (call_id, None, Some(error)),
            PreviewEvent::Finish { error: None, .. } => return Ok(()),
        };
        let id = call_id.as_deref().unwrap_or(UNNAMED);
        let is_first = !self.sent.contains(id);
        if is_first {
            self.sent.insert(id.to_owned());
        }
        let edits: Option<Vec<Edit<'_>>> = files.map(|files| files.iter().map(edit_of).collect());
        let content = match (&edits, error) {
            (Some(edits), _) => edits.iter().flat_map(|edit| self.content(edit, &self.base)).collect(),
            (None, Some(error)) => vec![text_block(text_of(error))],
            (None, None) => Vec::new(),
        };
        let first_line = |edit: &Edit<'_>| edit.diffs.iter().find_map(|diff| diff.new_start);
        let location = |edit: &Edit<'_>| AcpLocation {
            path: absolute(&self.base, &edit.file.path),
            line: first_line(edit),
        };
        let operations = edits.as_ref().map(|edits| edits.iter().map(|edit| edit.file.operation).collect());
        let kind = operations.map(|operations: Vec<_>| kind(&operations));
        let update = AcpUpdate {
            session_update: self.name(is_first),
            tool_call_id: id.to_owned(),
            title: files.map(title).or_else(|| is_first.then(|| "Edit".to_owned())),
            kind: kind.or_else(|| is_first.then_some("edit")),
            status: if error.is_some() { "failed" } else { "pending" },
            content: Some(content),
            locations: edits.as_ref().map(|edits| edits.iter().map(location).collect()),
        };
        message(out, UNNAMED, update)
    }

    /// Writes a card. Relative paths start at the folder of its session, `root` if the card has none; the session is
    /// named like its log.
    ///
    /// # Errors
    /// What the writer says.
    pub fn card(&self, out: &mut dyn Write, card: &Card, root: Option<&str>) -> io::Result<()> {
        let base = card.source.folder.as_deref().or(root).unwrap_or(&self.base);
        let mut content = Vec::new();
        let mut locations = Vec::new();
        for file in &card.files {
            let diffs: Vec<&FileDiff> = card.diffs.iter().filter(|diff| diff.path == file.path).collect();
            let path = absolute(base, &file.path);
            // As many as diffs, in their order: so a reader can tell where each stands.
            locations
                .extend(diffs.iter().map(|diff| AcpLocation { path: path.clone(), line: diff.new_start }));
            if diffs.is_empty() {
                locations.push(AcpLocation { path, line: None });
            }
            if is_shown(file.status.unwrap_or(card.status)) {
                content.extend(self.content(&Edit { file: file.clone(), diffs }, base));
            }
        }
        content.extend(said(card).map(text_block));
        let operations: Vec<Operation> = card.files.iter().map(|file| file.operation).collect();
        let id = card.source.call_id.clone().unwrap_or_else(|| format!("line {}", card.source.line));
        let update = AcpUpdate {
            session_update: self.name(true),
            tool_call_id: id,
            title: Some(card.title.clone()),
            kind: Some(kind(&operations)),
            status: match card.status {
                CardStatus::Applied | CardStatus::Partial => "completed",
                CardStatus::Failed | CardStatus::Rejected => "failed",
                CardStatus::Held | CardStatus::Unknown => "pending",
            },
            content: Some(content),
            locations: Some(locations),
        };
        message(out, card.source.log.as_deref().unwrap_or(REPLAY), update)
    }

    /// Returns the name of an update, of the first one of a call or of a further one.
    fn name(&self, is_first: bool) -> &'static str {
        if is_first && self.version == AcpVersion::One { "tool_call" } else { "tool_call_update" }
    }

    fn content(&self, edit: &Edit<'_>, base: &str) -> Vec<AcpContent> {
        match self.version {
            AcpVersion::One => texts(edit, base),
            AcpVersion::Two => changes(edit, base),
        }
    }
}

fn message(out: &mut dyn Write, session_id: &str, update: AcpUpdate) -> io::Result<()> {
    let params = AcpParams { session_id: session_id.to_owned(), update };
    json::line(out, &AcpMessage { jsonrpc: "2.0", method: "session/update", params })
}

fn absolute(base: &str, path: &str) -> String {
    if path.starts_with('/') || base.is_empty() {
        return path.to_owned();
    }
    format!("{}/{path}", base.trim_end_matches('/'))
}

/// Returns the hunks of a file, each as two texts.
fn texts(edit: &Edit<'_>, base: &str) -> Vec<AcpContent> {
    let path = absolute(base, &edit.file.path);
    let diffs = edit.diffs.iter().map(|diff| AcpContent::Diff {
        path: path.clone(),
        old_text: diff.old_text.clone(),
        new_text: new_text(edit.file.operation, diff),
    });
    diffs.collect()
}

/// Returns what happens to a file, with git's patch of it where there can be one.
fn changes(edit: &Edit<'_>, base: &str) -> Vec<AcpContent> {
    let operation = match edit.file.operation {
        Operation::Create => "add",
        Operation::Update => "modify",
        Operation::Delete => "delete",
        Operation::Rename => "move",
        Operation::Copy => "copy",
    };
    let named = CardFile {
        path: absolute(base, &edit.file.path),
        from: edit.file.from.as_deref().map(|from| absolute(base, from)),
        // The patch is text here, whatever the file's bytes are.
        encoding: None,
        ..edit.file.clone()
    };
    // Unlike git's, the names are absolute and have no prefix.
    let patch = section(&named, &edit.diffs, Prefixes::None).ok();
    let patch = patch
        .map(|bytes| AcpPatch { format: "git_patch", text: String::from_utf8_lossy(&bytes).into_owned() });
    let change = AcpChange {
        operation,
        path: named.path,
        old_path: named.from,
        file_type: (!edit.diffs.is_empty()).then_some("text"),
    };
    let shown = patch.is_none().then(|| hunks_as_text(&edit.diffs)).flatten();
    let mut content = vec![AcpContent::Changes { changes: vec![change], patch }];
    content.extend(shown.map(text_block));
    content
}

/// Returns the signed lines of hunks, each hunk in a fence.
fn hunks_as_text(diffs: &[&FileDiff]) -> Option<String> {
    let mut bytes = Vec::new();
    for diff in diffs {
        let signed = signed_lines(diff).into_iter().map(|line| {
            let sign = match line.kind {
                Sign::Context => ' ',
                Sign::Delete => '-',
                Sign::Insert => '+',
            };
            format!("{sign}{}", line.text)
        });
        let lines: Vec<String> = signed.collect();
        // Writing to memory can't fail.
        let _ = fence(&mut bytes, "diff", &lines);
    }
    let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Returns the new side; of a new file all of it, with the final newline that hunks lack.
fn new_text(operation: Operation, diff: &FileDiff) -> String {
    let mut text = diff.new_text.clone();
    if operation == Operation::Create && diff.new_start.is_some() && !diff.new_no_newline {
        text.push('\n');
    }
    text
}

/// Returns a previewed file as that of a card.
fn edit_of(file: &PreviewFile) -> Edit<'_> {
    let file_of_card = CardFile {
        path: file.path.clone(),
        operation: file.operation,
        from: file.from.clone(),
        status: None,
        added: Some(file.added),
        removed: Some(file.removed),
        eol: None,
        encoding: None,
        mode: None,
        recorded: Recorded::Request,
    };
    Edit { file: file_of_card, diffs: file.diffs.iter().collect() }
}

/// Tells whether a change is shown: one that was not made is only named.
fn is_shown(status: CardStatus) -> bool {
    !matches!(status, CardStatus::Failed | CardStatus::Rejected)
}

/// Returns what a card says in words.
fn said(card: &Card) -> Option<String> {
    let status = match card.status {
        CardStatus::Applied | CardStatus::Failed => None,
        CardStatus::Partial => Some("partly applied"),
        CardStatus::Rejected => Some("rejected"),
        CardStatus::Held => Some("held for review"),
        CardStatus::Unknown => card.source.call_id.as_ref().map(|_| "no result is recorded"),
    };
    let mut lines: Vec<String> = status.map(str::to_owned).into_iter().collect();
    lines.extend(card.message.clone());
    let is_unknown = |diff: &&FileDiff| diff.notes.contains(&DiffNote::OldUnknown);
    lines.extend(
        card.diffs.iter().filter(is_unknown).map(|diff| format!("{}: old content not recorded", diff.path)),
    );
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn text_block(text: String) -> AcpContent {
    AcpContent::Content { content: AcpText { text } }
}

fn title(files: &[PreviewFile]) -> String {
    let verb = match files.first().map(|file| file.operation) {
        Some(Operation::Create) => "Write",
        Some(Operation::Delete) => "Delete",
        Some(Operation::Rename) => "Move",
        Some(Operation::Update | Operation::Copy) | None => "Edit",
    };
    match files {
        [] => verb.to_owned(),
        [file] => format!("{verb} {}", file.path),
        [file, rest @ ..] => format!("Edit {} and {} more", file.path, rest.len()),
    }
}

fn kind(operations: &[Operation]) -> &'static str {
    match operations {
        [Operation::Delete] => "delete",
        [Operation::Rename] => "move",
        _ => "edit",
    }
}

fn text_of(error: &ErrorReport) -> String {
    let problems: Vec<&str> = error.problems.iter().map(|problem| problem.message.as_str()).collect();
    if problems.is_empty() { error.message.clone() } else { problems.join("\n") }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use serde_json::json;

    use super::super::sample;
    use super::*;

    #[test]
    fn states_become_a_call_and_its_updates() {
        let mut acp = Acp::new(AcpVersion::One, "/w/");
        let mut check = |event: &PreviewEvent, wanted: &str| {
            let mut out = Vec::new();
            acp.event(&mut out, event).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), wanted);
        };
        let state = |new: &str| {
            let files = vec![sample::preview_file("a.rs", Operation::Update, None, new)];
            sample::preview_event(Some("t1"), files)
        };
        let message = |kind: &str, new: &str| {
            format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"preview\",\"update\":{{\
                 \"sessionUpdate\":\"{kind}\",\"toolCallId\":\"t1\",\"title\":\"Edit a.rs\",\"kind\":\"edit\",\
                 \"status\":\"pending\",\"content\":[{{\"type\":\"diff\",\"path\":\"/w/a.rs\",\"oldText\":\"old\",\
                 \"newText\":\"{new}\"}}],\"locations\":[{{\"path\":\"/w/a.rs\"}}]}}}}}}\n"
            )
        };
        check(&state("x"), &message("tool_call", "x"));
        check(&state("y"), &message("tool_call_update", "y"));
        check(&sample::finish_event(Some("t1"), true), "");
        check(
            &sample::finish_event(Some("t1"), false),
            "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"preview\",\"update\":{\
             \"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"t1\",\"status\":\"failed\",\"content\":[\
             {\"type\":\"content\",\"content\":{\"type\":\"text\",\"text\":\"wrong\"}}]}}}\n",
        );
    }

    /// The update that a card becomes.
    fn update(version: AcpVersion, card: &Card) -> Value {
        let mut out = Vec::new();
        Acp::new(version, "").card(&mut out, card, Some("/w")).unwrap();
        let message: Value = serde_json::from_slice(&out).unwrap();
        message["params"]["update"].clone()
    }

    #[test]
    fn a_card_is_one_message_of_either_version() {
        let files =
            vec![sample::file("src/a.rs", Operation::Update), sample::file("/x/b", Operation::Delete)];
        let hunks = vec![
            sample::hunk("src/a.rs", (4, &["x", "y"]), (4, &["x", "z"])),
            sample::hunk("/x/b", (1, &["gone"]), (1, &[])),
        ];
        let mut card = sample::card(files, hunks);
        card.source.call_id = Some("c1".to_owned());
        let first = update(AcpVersion::One, &card);
        assert_eq!(
            first,
            json!({"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "edit", "kind": "edit",
                "status": "completed",
                "content": [
                    {"type": "diff", "path": "/w/src/a.rs", "oldText": "x\ny", "newText": "x\nz"},
                    {"type": "diff", "path": "/x/b", "oldText": "gone", "newText": ""}],
                "locations": [{"path": "/w/src/a.rs", "line": 4}, {"path": "/x/b", "line": 1}]})
        );
        let second = update(AcpVersion::Two, &card);
        let patch = |text: &str| json!({"format": "git_patch", "text": text});
        assert_eq!(
            second["content"],
            json!([
                {"type": "diff",
                 "changes": [{"operation": "modify", "path": "/w/src/a.rs", "fileType": "text"}],
                 "patch": patch("diff --git /w/src/a.rs /w/src/a.rs\n--- /w/src/a.rs\n+++ /w/src/a.rs\n@@ -4,2 +4,2 @@\n x\n-y\n+z\n")},
                {"type": "diff",
                 "changes": [{"operation": "delete", "path": "/x/b", "fileType": "text"}],
                 "patch": patch("diff --git /x/b /x/b\ndeleted file mode 100644\n--- /x/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n")}])
        );
        assert_eq!(second["sessionUpdate"], "tool_call_update");
    }

    #[test]
    fn hunks_without_numbers_are_no_patch() {
        let diff = FileDiff {
            path: "a".to_owned(),
            old_text: Some("x".to_owned()),
            new_text: "`````".to_owned(),
            ..FileDiff::default()
        };
        let mut card = sample::card(vec![sample::file("a", Operation::Update)], vec![diff]);
        card.status = CardStatus::Unknown;
        let update = update(AcpVersion::Two, &card);
        assert_eq!(update["status"], "pending");
        assert_eq!(update["content"][0]["patch"], Value::Null);
        assert_eq!(update["content"][1]["content"]["text"], "``````diff\n-x\n+`````\n``````");
    }

    #[test]
    fn what_was_not_done_is_only_named() {
        let hunks = vec![sample::hunk("a", (1, &["x"]), (1, &["y"]))];
        let mut card = sample::card(vec![sample::file("a", Operation::Update)], hunks);
        card.status = CardStatus::Rejected;
        card.message = Some("not now".to_owned());
        for version in [AcpVersion::One, AcpVersion::Two] {
            let update = update(version, &card);
            assert_eq!(update["status"], "failed");
            assert_eq!(
                update["content"],
                json!([{"type": "content", "content": {"type": "text", "text": "rejected\nnot now"}}])
            );
        }
    }

    #[test]
    fn moves_name_both_paths() {
        let mut file = sample::file("b", Operation::Rename);
        file.from = Some("a".to_owned());
        let update = update(AcpVersion::Two, &sample::card(vec![file], Vec::new()));
        assert_eq!(update["kind"], "move");
        assert_eq!(
            update["content"][0]["changes"],
            json!([{"operation": "move", "path": "/w/b", "oldPath": "/w/a"}])
        );
        assert_eq!(
            update["content"][0]["patch"]["text"],
            "diff --git /w/a /w/b\nsimilarity index 100%\nrename from /w/a\nrename to /w/b\n"
        );
    }
}
