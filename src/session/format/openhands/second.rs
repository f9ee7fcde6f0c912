//! The events of OpenHands' second version, the SDK.
//!
//! ```text
//! event = {"id","timestamp","source","kind":KIND,...}
//! ActionEvent           {"tool_name","tool_call_id","action":{"kind",ARGUMENTS...}|null,"tool_call":{"arguments"}}
//! ObservationEvent      {"tool_name","tool_call_id","action_id","observation":{"kind","content","is_error",...}}
//! UserRejectObservation {"tool_call_id","action_id","rejection_reason"}
//! AgentErrorEvent       {"tool_call_id","error"}
//! observation of an editor {"command","path","prev_exist","old_content","new_content"}
//!             of an edit or a write {"file_path","is_new_file","old_content","new_content"}
//!             of a patch   {"commit":{"changes":{PATH:{"type","old_content"?,"new_content"?,"move_path"?}}}|null}
//! ```
//!
//! The texts are those of whole files. An action that is null could not be run; an error says why.

use std::borrow::Cow;
use std::collections::BTreeMap;

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

use super::Open;
use super::OpenHands;
use super::Row;
use super::lenient;
use super::text;

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    function: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Observed<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    is_error: Option<&'a RawValue>,
    #[serde(borrow)]
    command: Option<&'a RawValue>,
    #[serde(borrow, alias = "file_path")]
    path: Option<&'a RawValue>,
    #[serde(borrow)]
    prev_exist: Option<&'a RawValue>,
    #[serde(borrow)]
    is_new_file: Option<&'a RawValue>,
    #[serde(borrow)]
    old_content: Option<&'a RawValue>,
    #[serde(borrow)]
    new_content: Option<&'a RawValue>,
    #[serde(borrow)]
    commit: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Commit<'a> {
    #[serde(borrow)]
    changes: BTreeMap<Cow<'a, str>, Committed<'a>>,
}

/// One file of a patch.
#[derive(Deserialize)]
struct Committed<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    old_content: Option<&'a RawValue>,
    #[serde(borrow)]
    new_content: Option<&'a RawValue>,
    #[serde(borrow)]
    move_path: Option<&'a RawValue>,
}

impl OpenHands {
    /// Reads an event.
    pub(super) fn second(
        &mut self,
        kind: &str,
        row: &Row<'_>,
        place: Place,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) {
        match kind {
            "ActionEvent" => self.call(row, place, emit),
            "ObservationEvent" => {
                let Some(observed) = lenient::<Observed<'_>>(row.observation) else { return };
                self.answer(row, place, |result| observed.told(result), emit);
            }
            "UserRejectObservation" => {
                let reason = text(row.rejection_reason);
                let rejected =
                    |result| CallResult { status: CardStatus::Rejected, message: reason, ..result };
                self.answer(row, place, rejected, emit);
            }
            "AgentErrorEvent" => {
                let error = text(row.error);
                let failed = |result| CallResult { status: CardStatus::Failed, message: error, ..result };
                self.answer(row, place, failed, emit);
            }
            _ => self.unknown_events += usize::from(!is_known(kind)),
        }
    }

    fn call(&mut self, row: &Row<'_>, place: Place, emit: &mut dyn FnMut(CallEvent<'_>)) {
        let Some(tool) = text(row.tool_name) else { return };
        let stated = text(row.tool_call_id);
        let Some(event_id) = row.id.map(super::super::verbatim).or_else(|| stated.clone()) else { return };
        let call_id = self.call_id(&event_id, stated);
        let action = row.action.map(RawValue::get).filter(|action| *action != "null");
        let arguments = match action {
            Some(action) => Cow::Borrowed(action),
            None => {
                Cow::Owned(lenient::<ToolCall<'_>>(row.tool_call).and_then(arguments_of).unwrap_or_default())
            }
        };
        let open = Open { call_id: call_id.clone(), ..Open::default() };
        let request = Request::Arguments(arguments);
        let begin = Begin { call_id: call_id.into(), tool: tool.into(), request, place };
        self.begin(event_id, open, begin, emit);
    }

    fn answer(
        &mut self,
        row: &Row<'_>,
        place: Place,
        tell: impl FnOnce(CallResult) -> CallResult,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) {
        let stated = text(row.tool_call_id);
        let event_id = text(row.action_id).or_else(|| {
            let is_meant = |(_, open): &(&String, &Open)| Some(&open.call_id) == stated.as_ref();
            self.open.iter().find(is_meant).map(|(event_id, _)| event_id.clone())
        });
        let open = event_id.and_then(|event_id| self.open.remove(&event_id));
        let Some(call_id) = open.as_ref().map(|open| open.call_id.clone()).or(stated) else { return };
        let result = tell(CallResult::new(call_id, place, CardStatus::Applied));
        let tool = text(row.tool_name).unwrap_or_default();
        self.end(open, &tool, result, emit);
    }
}

fn arguments_of(call: ToolCall<'_>) -> Option<String> {
    let function = lenient::<ToolCall<'_>>(call.function).and_then(|function| text(function.arguments));
    text(call.arguments).or(function)
}

impl Observed<'_> {
    fn told(&self, result: CallResult) -> CallResult {
        let error = text(self.error);
        let output = super::super::text_of(self.content).or_else(|| text(self.output));
        if lenient(self.is_error) == Some(true) || error.is_some() {
            let message = error.or(output);
            return CallResult { status: CardStatus::Failed, message, ..result };
        }
        let changes = match lenient::<Commit<'_>>(self.commit) {
            Some(commit) => commit.changes.into_iter().map(change_of).collect(),
            None => self.change().into_iter().collect(),
        };
        CallResult { message: output, changes, ..result }
    }

    /// Returns the change of the one file of an editor, an edit or a write.
    fn change(&self) -> Option<FileChange> {
        let command = text(self.command);
        if command.as_deref() == Some("view") {
            return None;
        }
        let (path, after) = (text(self.path)?, text(self.new_content)?);
        let is_new = command.as_deref() == Some("create") || lenient(self.is_new_file) == Some(true);
        let before = match text(self.old_content) {
            Some(before) if !(is_new && before.is_empty()) => Before::Text(before),
            Some(_) => Before::Absent,
            None if is_new || lenient(self.prev_exist) == Some(false) => Before::Absent,
            None => Before::Unknown,
        };
        Some(FileChange::new(path, ChangeContent::Texts { before, after }))
    }
}

fn change_of((path, committed): (Cow<'_, str>, Committed<'_>)) -> FileChange {
    let (before, after) = (text(committed.old_content), text(committed.new_content));
    let (path, from) = match text(committed.move_path) {
        Some(moved) => (moved, Some(path.into_owned())),
        None => (path.into_owned(), None),
    };
    let operation = match text(committed.kind).as_deref() {
        Some("add") => Some(Operation::Create),
        Some("delete") => Some(Operation::Delete),
        _ if from.is_some() => Some(Operation::Rename),
        _ => Some(Operation::Update),
    };
    let content = match (operation, before, after) {
        (Some(Operation::Create), _, Some(after)) => ChangeContent::Texts { before: Before::Absent, after },
        (Some(Operation::Delete), Some(before), _) => {
            ChangeContent::Texts { before: Before::Text(before), after: String::new() }
        }
        (_, Some(before), Some(after)) => ChangeContent::Texts { before: Before::Text(before), after },
        (_, None, Some(after)) => ChangeContent::Texts { before: Before::Unknown, after },
        (_, _, None) => ChangeContent::Path,
    };
    FileChange { from, operation, ..FileChange::new(path, content) }
}

/// Tells whether this may be the kind of an event.
pub(super) fn is_kind(kind: &str) -> bool {
    matches!(kind, "ActionEvent" | "ObservationEvent" | "UserRejectObservation" | "AgentErrorEvent")
        || is_known(kind)
}

fn is_known(kind: &str) -> bool {
    matches!(
        kind,
        "Condensation"
            | "CondensationRequest"
            | "CondensationSummaryEvent"
            | "ConversationErrorEvent"
            | "ConversationStateUpdateEvent"
            | "HookExecutionEvent"
            | "InterruptEvent"
            | "LLMCompletionLogEvent"
            | "MessageEvent"
            | "PauseEvent"
            | "StreamingDeltaEvent"
            | "SystemPromptEvent"
            | "TokenEvent"
    )
}
