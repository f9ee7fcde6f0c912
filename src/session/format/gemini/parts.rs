//! The parts of messages that call functions, and answer to calls.
//!
//! ```text
//! part     = {"functionCall":{"id"?,"name","args"}} | {"functionResponse":{"id"?,"name","response":response}} | others
//! response = {"output":TEXT} | {"error":TEXT} | others
//! ```

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::report::CardStatus;
use crate::session::event::Begin;
use crate::session::event::CallEvent;
use crate::session::event::CallResult;
use crate::session::event::Place;
use crate::session::event::Request;

use super::super::Text;
use super::super::lenient;
use super::super::text;
use super::display;

/// How many calls without an id may wait for their answer.
const UNNAMED_CAP: usize = 1024;

/// What the arguments of the tools that edit have in common.
#[derive(Deserialize)]
struct Args<'a> {
    #[serde(borrow, alias = "path")]
    file_path: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct ErrorBody {
    message: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    function_call: Option<&'a RawValue>,
    #[serde(borrow)]
    function_response: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct FunctionCall<'a> {
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct FunctionResponse<'a> {
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// What a call was answered.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// The text.
    pub said: Option<String>,
    /// What became of the call, as far as the answer tells.
    pub status: Option<CardStatus>,
}

/// Reads parts; knows the calls that have no id.
#[derive(Debug, Default)]
pub(super) struct Parts {
    calls: usize,
    unnamed: VecDeque<(String, String)>,
}

impl Parts {
    /// Reads the parts of a message, and says its calls and the answers to calls.
    pub fn read(&mut self, parts: &[&RawValue], place: &Place, emit: &mut dyn FnMut(CallEvent<'_>)) {
        for part in parts {
            let Some(part) = lenient::<Part<'_>>(Some(part)) else { continue };
            if let Some(call) = lenient::<FunctionCall<'_>>(part.function_call) {
                self.call(call, place, emit);
            }
            if let Some(response) = lenient::<FunctionResponse<'_>>(part.function_response)
                && let Some(call_id) = self.id_of(&response)
            {
                let Answer { said, status } = answer_of(response.response);
                let result = CallResult::new(call_id, place.clone(), status.unwrap_or(CardStatus::Unknown));
                let operation = display::operation_of(said.as_deref());
                emit(CallEvent::Result(Box::new(CallResult { message: said, operation, ..result })));
            }
        }
    }

    fn call(&mut self, call: FunctionCall<'_>, place: &Place, emit: &mut dyn FnMut(CallEvent<'_>)) {
        self.calls += 1;
        let call_id = call.id.map(|id| id.0).unwrap_or_else(|| {
            let id = format!("{} {}", &*call.name, self.calls);
            self.unnamed.push_back((call.name.to_string(), id.clone()));
            if self.unnamed.len() > UNNAMED_CAP {
                self.unnamed.pop_front();
            }
            id.into()
        });
        let arguments = call.args.map_or("{}", RawValue::get);
        emit(CallEvent::Begin(Begin {
            call_id,
            tool: call.name.0,
            request: Request::Arguments(arguments.into()),
            place: place.clone(),
        }));
    }

    /// Returns the call that is answered: without an id the first open one of that function.
    fn id_of(&mut self, response: &FunctionResponse<'_>) -> Option<String> {
        if let Some(id) = &response.id {
            return Some(id.to_string());
        }
        let name = response.name.as_deref()?;
        let at = self.unnamed.iter().position(|(open, _)| open == name)?;
        self.unnamed.remove(at).map(|(_, id)| id)
    }
}

/// Returns what an answer says: that of a function, or of the first part that is one, or only text.
pub(super) fn answer_of_parts(raw: Option<&RawValue>) -> Answer {
    if let Some(parts) = lenient::<Vec<&RawValue>>(raw) {
        let answers = parts.into_iter().map(|part| answer_of_parts(Some(part)));
        return answers
            .reduce(|first, next| if first.status.is_some() { first } else { next })
            .unwrap_or_default();
    }
    let Some(part) = lenient::<Part<'_>>(raw) else {
        return Answer { said: lenient(raw), status: None };
    };
    match lenient::<FunctionResponse<'_>>(part.function_response) {
        Some(response) => answer_of(response.response),
        None => Answer { said: lenient(part.text), status: None },
    }
}

fn answer_of(raw: Option<&RawValue>) -> Answer {
    let Some(response) = lenient::<Response<'_>>(raw) else { return Answer::default() };
    let said = |raw: Option<&RawValue>| super::super::text_of(raw);
    match (response.error, response.output) {
        (Some(error), _) => Answer { said: said(Some(error)), status: Some(CardStatus::Failed) },
        (None, output) => {
            let status = output.map(|_| CardStatus::Applied);
            Answer { said: said(output), status }
        }
    }
}

/// Returns the path that a call's arguments name.
pub(super) fn path_of(arguments: &str) -> Option<String> {
    serde_json::from_str::<Args<'_>>(arguments).ok()?.file_path.map(|path| path.0.into_owned())
}

/// Returns what an error says: it is a text, or has one.
pub(super) fn error_of(error: Option<&RawValue>) -> Option<String> {
    text(error).or_else(|| lenient::<ErrorBody>(error)?.message)
}
