//! OpenHands: the events of its first and of its second version (the SDK), and the records of evaluations.
//!
//! ```text
//! log    = event*                            JSON Lines, a file each, or an array
//!        | record*                           of evaluations: output.jsonl
//! record = {"instance_id",...,"history":[event*] | [[event*]*],...}
//! ```
//!
//! The events of either version are in `first` and `second`. Events count from 0 in each record, and so records are
//! the turns of an evaluation.

mod first;
mod second;

use std::collections::BTreeMap;

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::session::event::Begin;
use crate::session::event::CallEvent;
use crate::session::event::CallResult;
use crate::session::event::ChangeContent;
use crate::session::event::FileChange;
use crate::session::event::Place;
use crate::session::event::Request;

use super::lenient;
use super::text;

/// How many calls are remembered while they wait for their results.
const OPEN_CALLS_CAP: usize = 1024;

/// How many ids of calls are remembered to tell whether one comes again.
const CALL_IDS_CAP: usize = 1 << 14;

/// The fields of a document that may hold its events.
const LISTS: [&str; 4] = ["history", "events", "trajectory", "items"];

/// Reads events, one after the other.
#[derive(Debug, Default)]
pub struct OpenHands {
    /// How many records of an evaluation have begun.
    records: u64,
    /// The calls of this record that wait for their results, by the id of their event.
    open: BTreeMap<String, Open>,
    /// The events of this record by the ids of their calls.
    event_by_call_id: BTreeMap<String, String>,
    unknown_events: usize,
}

/// What is kept of a call until its result comes.
#[derive(Debug, Clone, Default)]
struct Open {
    call_id: String,
    path: Option<String>,
    command: Option<String>,
    /// The text of a file that the call makes.
    new_file: Option<String>,
    /// The texts of the call have blanks at the ends of lines, which some records lose.
    has_blank_ends: bool,
}

/// An event of either version, or a record. Fields of which only the right shape counts stay raw.
#[derive(Deserialize)]
struct Row<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    source: Option<&'a RawValue>,
    #[serde(borrow)]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    action: Option<&'a RawValue>,
    #[serde(borrow)]
    observation: Option<&'a RawValue>,
    #[serde(borrow)]
    cause: Option<&'a RawValue>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    #[serde(borrow)]
    extras: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_name: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_id: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call: Option<&'a RawValue>,
    #[serde(borrow)]
    action_id: Option<&'a RawValue>,
    #[serde(borrow)]
    rejection_reason: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    instance_id: Option<&'a RawValue>,
    #[serde(borrow)]
    history: Option<&'a RawValue>,
}

impl OpenHands {
    /// Returns how many events were of a kind that is not known.
    pub fn unknown_events(&self) -> usize {
        self.unknown_events
    }

    /// Reads one event, or one record.
    ///
    /// # Errors
    /// The line is neither.
    pub fn read(
        &mut self,
        text: &str,
        line: usize,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) -> Result<(), serde_json::Error> {
        let row: Row<'_> = super::object(text)?;
        if row.instance_id.is_none() && row.history.is_none() {
            return self.event(&row, line, emit);
        }
        self.begin_record();
        for item in lenient::<Vec<&RawValue>>(row.history).unwrap_or_default() {
            // One event that is malformed is no reason to lose the others.
            let read = self.item(item.get(), line, emit);
            self.unknown_events += usize::from(read.is_err());
        }
        Ok(())
    }

    /// Reads one item of a list of events.
    ///
    /// # Errors
    /// The item is no event, nor a list of such.
    pub fn read_item(
        &mut self,
        key: Option<&str>,
        text: &str,
        line: usize,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) -> Result<(), serde_json::Error> {
        match key {
            Some(key) if !LISTS.contains(&key) => Ok(()),
            Some(_) | None => self.item(text, line, emit),
        }
    }

    /// Reads one field of a document.
    pub fn read_field(&mut self, key: &str) {
        if key == "instance_id" {
            self.begin_record();
        }
    }

    fn begin_record(&mut self) {
        self.records += 1;
        self.open.clear();
        self.event_by_call_id.clear();
    }

    /// Reads an event, or an action and its observation as early evaluations have them.
    fn item(
        &mut self,
        text: &str,
        line: usize,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) -> Result<(), serde_json::Error> {
        if !text.starts_with('[') {
            return self.event(&super::object(text)?, line, emit);
        }
        for event in serde_json::from_str::<Vec<&RawValue>>(text)? {
            self.event(&super::object(event.get())?, line, emit)?;
        }
        Ok(())
    }

    fn event(
        &mut self,
        row: &Row<'_>,
        line: usize,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) -> Result<(), serde_json::Error> {
        let place = Place {
            line,
            turn: (self.records > 0).then_some(self.records),
            time: row.timestamp.map(super::verbatim),
        };
        if let Some(kind) = text(row.kind) {
            self.second(&kind, row, place, emit);
        } else if let Some(action) = text(row.action) {
            self.action(&action, row, place, emit);
        } else if let Some(observation) = text(row.observation) {
            self.observation(&observation, row, place, emit);
        } else {
            return Err(serde::de::Error::custom("no event"));
        }
        Ok(())
    }

    /// Begins a call and remembers it.
    fn begin(&mut self, event_id: String, open: Open, begin: Begin<'_>, emit: &mut dyn FnMut(CallEvent<'_>)) {
        if self.open.len() >= OPEN_CALLS_CAP {
            self.open.pop_first();
        }
        self.open.insert(event_id, open);
        emit(CallEvent::Begin(begin));
    }

    /// Returns the id of a call: the model's, unless another event of this record has it too.
    fn call_id(&mut self, event_id: &str, stated: Option<String>) -> String {
        let Some(stated) = stated else { return event_id.to_owned() };
        if self.event_by_call_id.len() >= CALL_IDS_CAP {
            self.event_by_call_id.pop_first();
        }
        let first = self.event_by_call_id.entry(stated.clone()).or_insert_with(|| event_id.to_owned());
        if first == event_id { stated } else { event_id.to_owned() }
    }

    /// Says the result of a call. One whose call the log does not hold is told by what was changed.
    fn end(
        &mut self,
        open: Option<Open>,
        tool: &str,
        result: CallResult,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) {
        if open.is_none() {
            if result.changes.is_empty() {
                return;
            }
            let path_only = |change: &FileChange| FileChange::new(change.path.clone(), ChangeContent::Path);
            let request = Request::Changes(result.changes.iter().map(path_only).collect());
            let call_id = result.call_id.clone().into();
            let place = result.place.clone();
            emit(CallEvent::Begin(Begin { call_id, tool: tool.to_owned().into(), request, place }));
        }
        emit(CallEvent::Result(Box::new(result)));
    }
}

/// Tells whether a log of this format may have such an event, or record.
pub(super) fn is_row(text: &[u8]) -> bool {
    let Some(text) = super::as_text(text) else { return false };
    let is_event = |text: &str| super::object::<Row<'_>>(text).is_ok_and(|row| row.is_event());
    let is_item = |item: &&RawValue| is_event(item.get()) || is_pair(item.get());
    let has_events = |text: &str| {
        super::object::<Row<'_>>(text).is_ok_and(|row| {
            lenient::<Vec<&RawValue>>(row.history).is_some_and(|items| items.iter().any(is_item))
        })
    };
    is_event(text) || is_pair(text) || has_events(text)
}

/// Tells whether a document of this format may have such an item under that key.
pub(super) fn is_item(key: Option<&str>, text: &[u8]) -> bool {
    key.is_none_or(|key| LISTS.contains(&key)) && is_row(text)
}

/// Tells whether a text that is cut off begins an event that is too long to be looked at: its prompt has every tool.
pub(super) fn is_torn_row(text: &[u8]) -> bool {
    let has = |needle: &[u8]| memmem::find(text, needle).is_some();
    has(b"\"system_prompt\"") && has(b"\"timestamp\"") && has(b"\"source\"")
}

fn is_pair(text: &str) -> bool {
    let is_event = |event: &&RawValue| super::object::<Row<'_>>(event.get()).is_ok_and(|row| row.is_event());
    text.starts_with('[')
        && serde_json::from_str::<Vec<&RawValue>>(text)
            .is_ok_and(|events| !events.is_empty() && events.iter().all(is_event))
}

impl Row<'_> {
    fn is_event(&self) -> bool {
        let is_told = self.source.is_some() || self.cause.is_some() || self.timestamp.is_some();
        let is_first = text(self.action).is_some() && self.args.is_some()
            || text(self.observation).is_some() && self.extras.is_some();
        let is_second = text(self.kind).is_some_and(|kind| second::is_kind(&kind));
        is_told && (is_first || is_second)
    }
}
