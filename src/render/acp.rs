//! Preview states as messages of the Agent Client Protocol, version 1, one JSON line each.
//!
//! The first state of a call is a `tool_call`, each further one a `tool_call_update` that replaces its content. The end
//! of a call that can't be carried out is a failure; the end of any other changes nothing: its tool still has to run.

use std::collections::HashSet;
use std::io;
use std::io::Write;

use foldhash::fast::FixedState;

use crate::report::AcpContent;
use crate::report::AcpLocation;
use crate::report::AcpMessage;
use crate::report::AcpParams;
use crate::report::AcpText;
use crate::report::AcpUpdate;
use crate::report::ErrorReport;
use crate::report::FileDiff;
use crate::report::Operation;
use crate::report::PreviewEvent;
use crate::report::PreviewFile;

use super::json;

/// The session and the call of what has none.
const UNNAMED: &str = "preview";

/// Writes messages.
#[derive(Debug, Default)]
pub struct Acp {
    /// The root, which relative paths start at: the protocol's paths are absolute.
    base: String,
    /// The calls that were sent.
    sent: HashSet<String, FixedState>,
}

impl Acp {
    /// Returns a writer of messages for files below `base`, an absolute path.
    pub fn new(base: &str) -> Self {
        Acp { base: base.trim_end_matches('/').to_owned(), sent: HashSet::default() }
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
        let content = match (files, error) {
            (Some(files), _) => files.iter().flat_map(|file| self.diffs(file)).collect(),
            (None, Some(error)) => vec![AcpContent::Content { content: AcpText { text: text_of(error) } }],
            (None, None) => Vec::new(),
        };
        let update = AcpUpdate {
            session_update: if is_first { "tool_call" } else { "tool_call_update" },
            tool_call_id: id.to_owned(),
            title: files.map(title).or_else(|| is_first.then(|| "Edit".to_owned())),
            kind: files.map(kind).or_else(|| is_first.then_some("edit")),
            status: if error.is_some() { "failed" } else { "pending" },
            content: Some(content),
            locations: files.map(|files| files.iter().map(|file| self.location(file)).collect()),
        };
        let params = AcpParams { session_id: UNNAMED, update };
        json::line(out, &AcpMessage { jsonrpc: "2.0", method: "session/update", params })
    }

    fn absolute(&self, path: &str) -> String {
        if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", self.base) }
    }

    fn diffs(&self, file: &PreviewFile) -> Vec<AcpContent> {
        let path = self.absolute(&file.path);
        let diffs = file.diffs.iter().map(|diff| AcpContent::Diff {
            path: path.clone(),
            old_text: diff.old_text.clone(),
            new_text: new_text(file, diff),
        });
        diffs.collect()
    }

    fn location(&self, file: &PreviewFile) -> AcpLocation {
        let line = file.diffs.iter().find_map(|diff| diff.new_start);
        AcpLocation { path: self.absolute(&file.path), line }
    }
}

/// Returns the new side; of a new file all of it, with the final newline that hunks lack.
fn new_text(file: &PreviewFile, diff: &FileDiff) -> String {
    let mut text = diff.new_text.clone();
    if file.operation == Operation::Create && diff.new_start.is_some() && !diff.new_no_newline {
        text.push('\n');
    }
    text
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

fn kind(files: &[PreviewFile]) -> &'static str {
    match files {
        [file] if file.operation == Operation::Delete => "delete",
        [file] if file.operation == Operation::Rename => "move",
        _ => "edit",
    }
}

fn text_of(error: &ErrorReport) -> String {
    let problems: Vec<&str> = error.problems.iter().map(|problem| problem.message.as_str()).collect();
    if problems.is_empty() { error.message.clone() } else { problems.join("\n") }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn states_become_a_call_and_its_updates() {
        let mut acp = Acp::new("/w/");
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
}
