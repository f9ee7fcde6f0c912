//! The rows of the panel, `ui_messages.json`.
//!
//! ```text
//! row  = {"ts","type":"say","say":KIND,"text","partial"?} | {"ts","type":"ask","ask":KIND,"text","partial"?}
//! tool = row of kind "tool" whose text is JSON: {"tool":WHAT,"path","content"?,"diff"?}
//! answer = row of kind "api_req_started" whose text is JSON: {"request":what the model is told, with headings}
//! ```
//!
//! A row that is partial is a draft: the same row comes again, or the call was never made.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::report::CardStatus;
use crate::report::Operation;
use crate::session::event::Before;
use crate::session::event::Begin;
use crate::session::event::CallEvent;
use crate::session::event::CallResult;
use crate::session::event::ChangeContent;
use crate::session::event::FileChange;
use crate::session::event::Place;
use crate::session::event::Request;

use super::OPEN_CALLS_CAP;
use super::Open;
use super::Row;
use super::answer;
use super::lenient;
use super::text;

/// Reads rows.
#[derive(Debug, Default)]
pub(super) struct Panel {
    /// The calls that wait for the next request to the model.
    open: Vec<Open>,
}

#[derive(Deserialize)]
struct Tool<'a> {
    #[serde(borrow)]
    tool: Option<&'a RawValue>,
    #[serde(borrow)]
    path: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    diff: Option<&'a RawValue>,
    #[serde(borrow, rename = "batchDiffs")]
    batch: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Told<'a> {
    #[serde(borrow)]
    request: Option<&'a RawValue>,
}

impl Panel {
    /// Reads a row.
    pub fn row(&mut self, row: &Row<'_>, place: Place, emit: &mut dyn FnMut(CallEvent<'_>)) {
        let Some(said) = text(row.text) else { return };
        match text(row.say).or_else(|| text(row.ask)).as_deref() {
            Some("tool") if lenient(row.partial) != Some(true) => self.tool(&said, place, emit),
            Some("api_req_started") => {
                if let Some(request) =
                    serde_json::from_str::<Told<'_>>(&said).ok().and_then(|told| text(told.request))
                {
                    self.answers(&request, &place, emit);
                }
            }
            Some("diff_error") => {
                let is_meant = |open: &Open| open.path.as_deref() == Some(said.trim());
                if let Some(at) = self.open.iter().position(is_meant) {
                    let open = self.open.remove(at);
                    let failed = CallResult::new(open.call_id, place, CardStatus::Failed);
                    let message = Some("the diff did not fit the file".to_owned());
                    emit(CallEvent::Result(Box::new(CallResult { message, ..failed })));
                }
            }
            _ => {}
        }
    }

    fn tool(&mut self, said: &str, place: Place, emit: &mut dyn FnMut(CallEvent<'_>)) {
        let Ok(told) = serde_json::from_str::<Tool<'_>>(said) else { return };
        let Some(tool) = text(told.tool) else { return };
        let Some(request) = told.asked(&tool) else { return };
        // An id of its own: a row has none but its time.
        let call_id = place.time.clone().unwrap_or_else(|| place.line.to_string());
        if self.open.len() >= OPEN_CALLS_CAP {
            self.open.clear();
        }
        self.open.push(Open { call_id: call_id.clone(), tool: tool.clone(), path: text(told.path) });
        emit(CallEvent::Begin(Begin { call_id: call_id.into(), tool: tool.into(), request, place }));
    }

    fn answers(&mut self, request: &str, place: &Place, emit: &mut dyn FnMut(CallEvent<'_>)) {
        // Calls that this request does not answer have no answer.
        for open in std::mem::take(&mut self.open) {
            let tools =
                ["write_to_file", "replace_in_file", "apply_diff", "insert_content", "search_and_replace"];
            let others = ["apply_patch", "edit_file", "search_replace", "edit", "new_rule", "delete_file"];
            let path = open.path.as_deref().unwrap_or_default();
            let found = tools.iter().chain(&others).find_map(|tool| {
                let is_named = request.contains(&format!("[{tool} for '{path}'"));
                is_named.then(|| answer::find(request, tool, Some(path)))?
            });
            let Some(found) = found else { continue };
            let result = CallResult::new(open.call_id.clone(), place.clone(), CardStatus::Unknown);
            let result = answer::told(result, open, None, &request[found]);
            emit(CallEvent::Result(Box::new(result)));
        }
    }
}

impl Tool<'_> {
    /// Returns what a row asks for; nothing of one that edits no file.
    fn asked(&self, tool: &str) -> Option<Request<'static>> {
        if let Some(batch) = lenient::<Vec<Tool<'_>>>(self.batch).filter(|batch| !batch.is_empty()) {
            let changes =
                batch.iter().map(|file| Some(file.change(tool, text(file.path)?))).collect::<Option<_>>()?;
            return Some(Request::Changes(changes));
        }
        let path = text(self.path)?;
        if !matches!(
            tool,
            "editedExistingFile"
                | "newFileCreated"
                | "appliedDiff"
                | "fileDeleted"
                | "insertContent"
                | "searchAndReplace"
        ) {
            return None;
        }
        let diff = text(self.diff).or_else(|| text(self.content));
        match diff.filter(|diff| has_blocks(diff)) {
            Some(diff) => Some(Request::Patch(format!("{path}\n{diff}").into())),
            None => Some(Request::Changes(vec![self.change(tool, path)])),
        }
    }

    fn change(&self, tool: &str, path: String) -> FileChange {
        let content = text(self.content);
        let hunks = text(self.diff).or_else(|| content.clone()).filter(|diff| diff.contains("@@ -"));
        let (operation, content) = match (tool, content, hunks) {
            ("newFileCreated", Some(after), _) => {
                (Some(Operation::Create), ChangeContent::Texts { before: Before::Absent, after })
            }
            ("fileDeleted", _, _) => (Some(Operation::Delete), ChangeContent::Path),
            (_, _, Some(hunks)) => (None, ChangeContent::Unified(hunks)),
            ("editedExistingFile", Some(after), None) if !after.is_empty() && self.diff.is_none() => {
                (None, ChangeContent::Texts { before: Before::Unknown, after })
            }
            _ => (None, ChangeContent::Path),
        };
        FileChange { operation, ..FileChange::new(path, content) }
    }
}

fn has_blocks(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim();
        line.ends_with(" SEARCH") && (line.starts_with("<<<<<") || line.starts_with("-----"))
    })
}
