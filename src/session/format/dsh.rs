//! DeepSeek Harness, and hunkwise's own log, which uses the same words with a richer `meta`.
//!
//! ```text
//! log    = header row*
//! header = {"type":"session","version":0,"id","createdAt","cwd"?,"seedLength"?,...}
//! row    = {"type","seq"?,"time"?,"data",...}
//! data   of tool/call    {"turn","step","callId","name","arguments":"<JSON as the model wrote it>"}
//!        of tool/result  {"turn","step","message":{"source":{"callId"},"content":[{"type":"tool-result",
//!                        "toolCallId","content":[{"type":"text","text"}],"isError"}]},"error"?,"meta"?}
//!                        of version 4 {"toolCallId","content":[{"type":"text","text"}],"isError"?}
//!        of tool/ptc-dispatch-start {"subCallId","name","arguments":{...}}, the call of a program that a call runs
//!        of tool/ptc-dispatch       the same with its end, "isError" and "content"; before version 3 tool/code-dispatch
//!        of approval/asked {"id","callId"?}, of approval/decided {"id","outcome"}
//! ```
//!
//! Rows are known by their type, whatever the header's version. A row of a type that is not known is counted unless
//! it says that it may be ignored. Rows that tell nothing of edits are told by their first bytes and never parsed.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::HashSet;
use std::num::NonZeroUsize;

use memchr::memchr;
use memchr::memmem;
use serde::Deserialize;
use serde::Deserializer;
use serde_json::value::RawValue;

use crate::report::CardStatus;
use crate::report::DiffNote;
use crate::report::ErrorReport;
use crate::report::FileDiff;
use crate::report::Operation;
use crate::report::RecordFile;
use crate::report::RecordMeta;
use crate::report::UndoneCall;
use crate::session::event::Begin;
use crate::session::event::CallEvent;
use crate::session::event::CallKey;
use crate::session::event::CallResult;
use crate::session::event::LiveBegin;
use crate::session::event::LiveBody;
use crate::session::event::LiveEvent;
use crate::session::event::Place;
use crate::session::event::Request;
use crate::session::event::Scope;
use crate::session::event::Words;

use super::Text;
use super::as_text;
use super::json_into;
use super::lenient;
use super::object;
use super::stream::Say;
use super::text_of;
use super::verbatim;

/// The version that hunkwise writes.
const VERSION: u64 = 0;

/// What every header begins with.
const HEADER_START: &[u8] = br#"{"type":"session""#;

/// The newest version whose header is read without a note.
const NEWEST_VERSION: u64 = 4;

/// How many questions to the user may be open at once; more are not remembered.
const OPEN_QUESTIONS_CAP: usize = 1024;

/// How many calls of programs may be open at once; of more the end is taken for a call of its own.
const OPEN_NESTED_CAP: usize = 1 << 16;

/// The code of the result that a repair after a crash puts in for a call that may have run.
const OUTCOME_UNKNOWN: &str = "TOOL_OUTCOME_UNKNOWN";

/// The name of an error whose other fields are an [`ErrorReport`].
const ERROR_NAME: &str = "HunkwiseError";

/// Which rows of a forked session's log were copied from its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Inherited {
    /// None, or none any more.
    #[default]
    None,
    /// Those with a lower `seq`; of rows without one, those before the mark.
    BelowSeq(u64),
    /// Those before the mark that says so.
    BeforeMark,
}

/// Reads rows, one after the other.
#[derive(Debug, Default)]
pub struct Dsh {
    inherited: Inherited,
    /// Questions to the user that wait for an answer: their id to the call's.
    questions: BTreeMap<String, String>,
    unknown_events: usize,
    inherited_calls: usize,
    /// The calls of programs that have begun and not ended.
    nested: HashSet<String>,
}

impl Dsh {
    /// Returns how many rows were of a type that is not known and not said to be ignorable.
    pub fn unknown_events(&self) -> usize {
        self.unknown_events
    }

    /// Returns how many calls were the parent session's.
    pub fn inherited_calls(&self) -> usize {
        self.inherited_calls
    }

    /// Reads one row of the types that [`proposes`] lets through; nothing comes of one that tells nothing of edits.
    ///
    /// # Errors
    /// The line is not a row, or not one that its type promises.
    pub fn read<'a>(
        &mut self,
        text: &'a str,
        line: usize,
        emit: &mut dyn FnMut(CallEvent<'a>),
    ) -> Result<(), serde_json::Error> {
        let row: Row<'a> = object(text)?;
        if row.kind == "session" {
            self.header(&row, emit);
        } else if self.is_inherited(&row) {
            self.inherited_calls += usize::from(row.kind == "tool/call");
        } else if row.kind.ends_with("-dispatch") || row.kind.ends_with("-dispatch-start") {
            self.nested(&row, line, emit)?;
        } else if let Some(event) = self.event(&row, line)? {
            emit(event);
        }
        Ok(())
    }

    /// Reads the beginning or the end of a call that a program made.
    fn nested<'a>(
        &mut self,
        row: &Row<'a>,
        line: usize,
        emit: &mut dyn FnMut(CallEvent<'a>),
    ) -> Result<(), serde_json::Error> {
        let NestedData { sub_call_id, name, arguments, is_error, content } = data(row)?;
        let is_start = row.kind.ends_with("-start");
        let place = Place { line, turn: None, time: row.time.map(verbatim) };
        // The end says all that the beginning does; a log may lack either.
        if is_start || !self.nested.remove(sub_call_id.as_ref()) {
            let request = Request::Arguments(Cow::Borrowed(arguments.get()));
            let call_id = sub_call_id.clone();
            emit(CallEvent::Begin(Begin { call_id, tool: name, request, place: place.clone() }));
        }
        if is_start {
            if self.nested.len() < OPEN_NESTED_CAP {
                self.nested.insert(sub_call_id.into_owned());
            }
            return Ok(());
        }
        let status = match is_error {
            Some(true) => CardStatus::Failed,
            Some(false) => CardStatus::Applied,
            None => CardStatus::Unknown,
        };
        let message = text_of(content);
        let operation = message.as_deref().and_then(operation_told);
        let told = CallResult::new(sub_call_id.into_owned(), place, status);
        emit(CallEvent::Result(Box::new(CallResult { message, operation, ..told })));
        Ok(())
    }

    fn event<'a>(&mut self, row: &Row<'a>, line: usize) -> Result<Option<CallEvent<'a>>, serde_json::Error> {
        let place =
            |turn: Option<&RawValue>| Place { line, turn: lenient(turn), time: row.time.map(verbatim) };
        match row.kind.as_ref() {
            "tool/call" => call(data(row)?, place).map(|begin| Some(CallEvent::Begin(begin))),
            "tool/result" => Ok(result(data(row)?, place)),
            "approval/asked" => {
                self.asked(data(row)?);
                Ok(None)
            }
            "approval/decided" => Ok(self.decided(data(row)?)),
            kind => {
                let is_ignorable = lenient(row.ignorable) == Some(true);
                self.unknown_events += usize::from(!is_known(kind.as_bytes()) && !is_ignorable);
                Ok(None)
            }
        }
    }

    fn header<'a>(&mut self, row: &Row<'a>, emit: &mut dyn FnMut(CallEvent<'a>)) {
        self.inherited = match lenient::<u64>(row.seed_length) {
            Some(length) if length > 0 => Inherited::BelowSeq(length),
            // Newer headers say only that there is a copied beginning.
            _ if lenient(row.is_seeded) == Some(true) => Inherited::BeforeMark,
            _ => Inherited::None,
        };
        if let Some(Text(folder)) = lenient(row.cwd) {
            emit(CallEvent::Folder(folder));
        }
        if lenient::<u64>(row.version).is_some_and(|version| version > NEWEST_VERSION) {
            emit(CallEvent::Note(format!(
                "session log version {} is newer: only the rows that are known are read",
                row.version.map_or("", RawValue::get)
            )));
        }
    }

    fn is_inherited(&mut self, row: &Row<'_>) -> bool {
        let is_mark = row.kind == "session/end-seed";
        let ends = match (self.inherited, lenient::<u64>(row.seq)) {
            (Inherited::None, _) => return false,
            (Inherited::BelowSeq(length), Some(seq)) => seq >= length,
            (Inherited::BelowSeq(_), None) => is_mark,
            // The mark also ends every restart of a session; only a fork's says that what precedes is inherited.
            (Inherited::BeforeMark, _) => {
                is_mark && lenient::<Mark>(row.data).is_some_and(|mark| mark.inherited == Some(true))
            }
        };
        if ends {
            self.inherited = Inherited::None;
        }
        !ends
    }

    fn asked(&mut self, question: Question<'_>) {
        if let Some(call_id) = question.call_id
            && self.questions.len() < OPEN_QUESTIONS_CAP
        {
            self.questions.insert(question.id.into_owned(), call_id.into_owned());
        }
    }

    fn decided<'a>(&mut self, answer: Answer<'a>) -> Option<CallEvent<'a>> {
        let call_id = Cow::Owned(self.questions.remove(answer.id.as_ref())?);
        // rejected, cancelled, unavailable, and what newer versions add: a question without a yes is a no.
        let is_allowed = answer.outcome.starts_with("allowed");
        Some(CallEvent::Decided { call_id, refusal: (!is_allowed).then_some(answer.outcome) })
    }
}

/// Tells, without parsing, whether a line is worth parsing; `knows` tells of a call id whether its result matters.
///
/// A line that does not begin with its type is proposed. A line of a known type that tells nothing of edits is not,
/// even if the rest of it is malformed: it is never looked at.
pub fn proposes(line: &[u8], knows: impl Fn(&str) -> bool) -> bool {
    let Some(rest) = line.strip_prefix(br#"{"type":""#) else { return !line.trim_ascii().is_empty() };
    let Some(end) = memchr(b'"', rest) else { return true };
    match &rest[..end] {
        b"tool/result" => names_known_call(rest, knows),
        kind => is_told_of(kind) || !is_known(kind),
    }
}

/// Tells whether a log of this format may hold such a line.
pub(super) fn is_row(line: &[u8]) -> bool {
    let Some(row) = as_text(line).and_then(|text| object::<Row<'_>>(text).ok()) else { return false };
    match row.kind.as_ref() {
        "session" => lenient::<f64>(row.created_at).is_some(),
        kind => kind.contains('/') && is_known(kind.as_bytes()) && row.data.is_some(),
    }
}

/// Returns the `seq` of a row and its turn, to continue the numbering of a log; none of a header or of what is no row.
pub fn numbers(line: &[u8]) -> (Option<u64>, Option<u64>) {
    let row: Option<Row<'_>> = std::str::from_utf8(line).ok().and_then(|text| object(text).ok());
    let Some(row) = row else { return (None, None) };
    (lenient(row.seq), lenient::<TurnRow<'_>>(row.data).and_then(|data| lenient(data.turn)))
}

/// Returns the version that a header names; none of any other line.
fn header_version(line: &[u8]) -> Option<u64> {
    let row: Row<'_> = object(as_text(line)?).ok()?;
    (row.kind == "session").then(|| lenient(row.version).unwrap_or_default())
}

/// Why nothing may be appended to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// It is another kind of file.
    #[error("it is not a session log of this program")]
    NotALog,
    /// Its header is of a later version, whose rules this program does not know.
    #[error("its version is {0}, and this program writes version {VERSION}")]
    Newer(u64),
}

/// Tells whether a file is a log that rows of this program may follow, by its first bytes and its last whole line.
/// `false`: nothing is in it yet but, at most, a header that was cut short, so a header comes first.
///
/// A log whose header is lost is continued as it is.
///
/// # Errors
/// Says why nothing may be appended.
pub fn continues(first_bytes: &[u8], last_line: Option<&[u8]>) -> Result<bool, AppendError> {
    let Some(last_line) = last_line else {
        let torn = first_bytes.trim_ascii();
        let is_header = torn.starts_with(HEADER_START) || HEADER_START.starts_with(torn);
        return if is_header { Ok(false) } else { Err(AppendError::NotALog) };
    };
    let mut lines = first_bytes.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let first = lines.next().unwrap_or_default();
    match header_version(first) {
        Some(version) if version > VERSION => Err(AppendError::Newer(version)),
        Some(_) => Ok(true),
        None if is_row(first) || lines.any(is_row) || is_row(last_line) => Ok(true),
        None if first.is_empty() => Ok(false),
        None => Err(AppendError::NotALog),
    }
}

/// What taking a call back needs of its result, beside what the event says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResultRow {
    /// The number of the row.
    pub seq: Option<u64>,
    /// How many files the record has entries for; none where it holds hunks only.
    pub recorded_files: Option<usize>,
    /// The calls that it took back.
    pub undoes: Vec<UndoneCall>,
}

/// Reads what [`Dsh::read`] does not say of a `tool/result`.
pub fn result_row(text: &str) -> Option<ResultRow> {
    let row: Row<'_> = object(text).ok()?;
    let data: ResultData<'_> = data(&row).ok()?;
    let meta: MetaRow<'_> = data.meta.and_then(|meta| object(meta.get()).ok()).unwrap_or_default();
    Some(ResultRow {
        seq: lenient(row.seq),
        recorded_files: lenient::<Vec<&RawValue>>(meta.files).map(|files| files.len()),
        undoes: lenient(meta.undoes).unwrap_or_default(),
    })
}

/// Tells whether a `tool/result` names a call that matters; if that can't be told, it says yes.
fn names_known_call(line: &[u8], knows: impl Fn(&str) -> bool) -> bool {
    // Quotes inside strings are escaped, so this is always a key; keys deeper in `meta` only propose too much.
    let mut ids = memmem::find_iter(line, br#""callId""#).map(|at| {
        let value = line[at + br#""callId""#.len()..].trim_ascii_start();
        let id = value.strip_prefix(b":")?.trim_ascii_start().strip_prefix(b"\"")?;
        let id = &id[..memchr(b'"', id)?];
        if memchr(b'\\', id).is_some() { None } else { std::str::from_utf8(id).ok() }
    });
    let Some(first) = ids.next() else { return true };
    std::iter::once(first).chain(ids).any(|id| id.is_none_or(&knows))
}

/// The rows that are read.
fn is_told_of(kind: &[u8]) -> bool {
    matches!(
        kind,
        b"session"
            | b"session/end-seed"
            | b"tool/call"
            | b"tool/result"
            | b"tool/code-dispatch"
            | b"tool/code-dispatch-start"
            | b"tool/ptc-dispatch"
            | b"tool/ptc-dispatch-start"
            | b"approval/asked"
            | b"approval/decided"
    )
}

/// The rows that are known, of all versions.
fn is_known(kind: &[u8]) -> bool {
    is_told_of(kind)
        || [b"team/".as_slice(), b"tool-workflow/"].iter().any(|area| kind.starts_with(area))
        || matches!(
            kind,
            b"agent-preset/selected"
                | b"agent/inbox/spliced"
                | b"approval/policy"
                | b"assistant/attempt"
                | b"assistant/chunk"
                | b"assistant/message"
                | b"command/run"
                | b"command/done"
                | b"compaction/start"
                | b"compaction/summary"
                | b"compaction/prune"
                | b"compaction/end"
                | b"deliverables/presented"
                | b"feedback/message-delete"
                | b"feedback/message-put"
                | b"feedback/record"
                | b"fs/observed"
                | b"goal/change"
                | b"hook/invoked"
                | b"hook/result"
                | b"llm/retry"
                | b"llm/retry-started"
                | b"model/selection"
                | b"permission/preset"
                | b"plan/mode"
                | b"reasoning-chunks"
                | b"request/context"
                | b"request/header"
                | b"sandbox/mode"
                | b"schedule/change"
                | b"session/title"
                | b"session/title-llm-request"
                | b"step/start"
                | b"step/end"
                | b"session-log-deepseek/delivery-accepted"
                | b"subagent/catalog"
                | b"subagent/descriptor"
                | b"subagent/model-selection-policy"
                | b"system/message"
                | b"text-chunks"
                | b"todo/write"
                | b"tool-call-chunks"
                | b"turn/start"
                | b"turn/end"
                | b"user/message"
                | b"web/deepseek-search-llm-request"
                | b"workspace/changes"
        )
}

/// One line. Fields of which only the right shape counts stay raw, so that a wrong one does not cost the row.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    seq: Option<&'a RawValue>,
    #[serde(borrow)]
    time: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    ignorable: Option<&'a RawValue>,
    #[serde(borrow)]
    version: Option<&'a RawValue>,
    #[serde(borrow)]
    created_at: Option<&'a RawValue>,
    #[serde(borrow)]
    seed_length: Option<&'a RawValue>,
    #[serde(borrow)]
    is_seeded: Option<&'a RawValue>,
    #[serde(borrow)]
    cwd: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct TurnRow<'a> {
    #[serde(borrow)]
    turn: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Mark {
    inherited: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallData<'a> {
    #[serde(borrow)]
    turn: Option<&'a RawValue>,
    #[serde(borrow)]
    call_id: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NestedData<'a> {
    #[serde(borrow)]
    sub_call_id: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: &'a RawValue,
    is_error: Option<bool>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ResultData<'a> {
    #[serde(borrow)]
    turn: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Message<'a>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    meta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message<'a> {
    #[serde(borrow)]
    source: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    tool_call_id: Option<String>,
    is_error: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageSource {
    call_id: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Block<'a> {
    tool_call_id: Option<String>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    is_error: Option<bool>,
}

#[derive(Deserialize)]
struct ErrorRow<'a> {
    code: Option<String>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Question<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    call_id: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    outcome: Cow<'a, str>,
}

#[derive(Deserialize, Default)]
struct MetaRow<'a> {
    #[serde(borrow)]
    diffs: Option<&'a RawValue>,
    #[serde(borrow)]
    operation: Option<&'a RawValue>,
    #[serde(borrow)]
    files: Option<&'a RawValue>,
    #[serde(borrow)]
    undoes: Option<&'a RawValue>,
}

/// A hunk as logged. The first five fields decide whether it is one; the others are hunkwise's own and only count if
/// they have the right shape.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoggedDiff<'a> {
    path: String,
    // With a deserializer of its own the key must be there: absent and null are not the same here.
    #[serde(deserialize_with = "Option::deserialize")]
    old_text: Option<String>,
    new_text: String,
    #[serde(default, deserialize_with = "line_number")]
    old_start: Option<usize>,
    #[serde(default, deserialize_with = "line_number")]
    new_start: Option<usize>,
    #[serde(borrow)]
    old_lines: Option<&'a RawValue>,
    #[serde(borrow)]
    new_lines: Option<&'a RawValue>,
    #[serde(borrow)]
    lines: Option<&'a RawValue>,
    #[serde(borrow)]
    old_no_newline: Option<&'a RawValue>,
    #[serde(borrow)]
    new_no_newline: Option<&'a RawValue>,
    #[serde(borrow)]
    notes: Option<&'a RawValue>,
    #[serde(borrow)]
    section: Option<&'a RawValue>,
}

impl From<LoggedDiff<'_>> for FileDiff {
    fn from(logged: LoggedDiff<'_>) -> Self {
        let notes: Vec<&RawValue> = lenient(logged.notes).unwrap_or_default();
        FileDiff {
            path: logged.path,
            old_text: logged.old_text,
            new_text: logged.new_text,
            old_start: logged.old_start,
            old_lines: lenient(logged.old_lines),
            new_start: logged.new_start,
            new_lines: lenient(logged.new_lines),
            lines: lenient(logged.lines)
                .filter(|lines: &Vec<String>| lines.iter().all(|line| line.starts_with([' ', '-', '+']))),
            old_no_newline: lenient(logged.old_no_newline).unwrap_or_default(),
            new_no_newline: lenient(logged.new_no_newline).unwrap_or_default(),
            // A note that a later version added is no reason to lose the others.
            notes: notes.into_iter().filter_map(|note| lenient::<DiffNote>(Some(note))).collect(),
            section: lenient(logged.section),
        }
    }
}

/// Reads a number that is absent or at least 1; null is neither.
fn line_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    NonZeroUsize::deserialize(deserializer).map(|number| Some(number.get()))
}

fn data<'a, T: Deserialize<'a>>(row: &Row<'a>) -> Result<T, serde_json::Error> {
    object(row.data.map_or("", RawValue::get))
}

fn call<'a>(
    data: CallData<'a>,
    place: impl Fn(Option<&RawValue>) -> Place,
) -> Result<Begin<'a>, serde_json::Error> {
    let written = data.arguments.get();
    let arguments = if written.starts_with('"') {
        Cow::Owned(serde_json::from_str(written)?)
    } else {
        // Not what the format says, but not to be misunderstood either.
        Cow::Borrowed(written)
    };
    let request = Request::Arguments(arguments);
    Ok(Begin { call_id: data.call_id, tool: data.name, request, place: place(data.turn) })
}

/// Returns the result, unless it names no call: then nothing can be said of it.
fn result(data: ResultData<'_>, place: impl Fn(Option<&RawValue>) -> Place) -> Option<CallEvent<'static>> {
    let blocks: Vec<Block<'_>> = lenient(data.message.content).unwrap_or_default();
    let block = match data.message.tool_call_id {
        // Since version 4 the message is the result, and only a failed one says so.
        Some(id) => Block {
            tool_call_id: Some(id),
            content: data.message.content,
            is_error: data.message.is_error.or(data.error.is_none().then_some(false)),
        },
        None => blocks.into_iter().find(|block| block.tool_call_id.is_some()).unwrap_or_default(),
    };
    let source: Option<MessageSource> = lenient(data.message.source);
    let call_id = source.map(|source| source.call_id).or(block.tool_call_id)?;
    let message = text_of(block.content);
    let meta: MetaRow<'_> = data.meta.and_then(|meta| object(meta.get()).ok()).unwrap_or_default();
    let diffs = diffs_of(meta.diffs);
    let error = lenient::<ErrorRow<'_>>(data.error);
    let is_own = error.as_ref().is_some_and(|error| error.name.as_deref() == Some(ERROR_NAME));
    let status = match block.is_error {
        _ if error.is_some_and(|error| error.code.as_deref() == Some(OUTCOME_UNKNOWN)) => CardStatus::Unknown,
        Some(true) => CardStatus::Failed,
        None if data.error.is_some() => CardStatus::Failed,
        Some(false) => CardStatus::Applied,
        // Nothing says that it was done, unless the hunks do.
        None if diffs.is_empty() => CardStatus::Unknown,
        None => CardStatus::Applied,
    };
    let files: Vec<RecordFile> = lenient(meta.files).unwrap_or_default();
    let operation = match lenient::<&str>(meta.operation) {
        Some("create") => Some(Operation::Create),
        Some("update") => Some(Operation::Update),
        _ => message.as_deref().and_then(operation_told),
    };
    // One with a code that a later version added is told by its text.
    let error = data.error.filter(|_| is_own).and_then(|error| lenient(Some(error)));
    let told = CallResult::new(call_id, place(data.turn), status);
    Some(CallEvent::Result(Box::new(CallResult { message, diffs, operation, files, error, ..told })))
}

/// Returns what a write's answer says it did: a line of its own says so, and a path is never a line of its own.
fn operation_told(message: &str) -> Option<Operation> {
    message.lines().find_map(|line| match line {
        "Created file" => Some(Operation::Create),
        "Updated file" => Some(Operation::Update),
        _ => None,
    })
}

/// Returns the hunks if every one of them is whole, else none: half of an edit would be a wrong picture of it.
fn diffs_of(raw: Option<&RawValue>) -> Vec<FileDiff> {
    let entries: Vec<&RawValue> = lenient(raw).unwrap_or_default();
    let hunk = |entry: &RawValue| object::<LoggedDiff<'_>>(entry.get()).ok().map(FileDiff::from);
    entries.into_iter().map(hunk).collect::<Option<_>>().unwrap_or_default()
}

/// Where an event that hunkwise writes stands in its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventStamp {
    /// Its number, contiguous from 0.
    pub seq: u64,
    /// Milliseconds since 1970.
    pub time_ms: u64,
    /// The turn, from 1.
    pub turn: u64,
    /// The step of the turn, from 1.
    pub step: u64,
}

/// A result that hunkwise writes.
#[derive(Debug, Clone, Copy)]
pub struct LoggedResult<'a> {
    /// The call.
    pub call_id: &'a str,
    /// The number of the call's own event.
    pub call_seq: u64,
    /// Whether it was done.
    pub ok: bool,
    /// What the model is told.
    pub text: &'a str,
    /// What is wrong, if it was not done.
    pub error: Option<&'a ErrorReport>,
    /// What was changed, if it was done. A created file has hunks too, all its lines added.
    pub meta: Option<&'a RecordMeta>,
}

/// Returns the first line of a log, with its newline.
///
/// ```
/// use hunkwise::session::format::dsh::header_line;
/// assert_eq!(
///     String::from_utf8(header_line("s1", 1790000000000, "/w")).unwrap(),
///     "{\"type\":\"session\",\"version\":0,\"id\":\"s1\",\"createdAt\":1790000000000,\"cwd\":\"/w\",\
///      \"delegationDepth\":0}\n"
/// );
/// ```
pub fn header_line(id: &str, created_ms: u64, cwd: &str) -> Vec<u8> {
    let mut line = format!("{{\"type\":\"session\",\"version\":{VERSION},\"id\":").into_bytes();
    json_into(&mut line, id);
    line.extend_from_slice(format!(",\"createdAt\":{created_ms},\"cwd\":").as_bytes());
    json_into(&mut line, cwd);
    line.extend_from_slice(b",\"delegationDepth\":0}\n");
    line
}

/// Returns the line of a call, with its newline; `arguments` goes in as the text that it is.
pub fn call_line(stamp: EventStamp, call_id: &str, tool: &str, arguments: &str) -> Vec<u8> {
    let mut line = Vec::with_capacity(arguments.len() + 256);
    open_event(&mut line, "tool/call", stamp);
    line.extend_from_slice(b",\"callId\":");
    json_into(&mut line, call_id);
    line.extend_from_slice(b",\"name\":");
    json_into(&mut line, tool);
    line.extend_from_slice(b",\"arguments\":");
    json_into(&mut line, arguments);
    line.extend_from_slice(b"}}\n");
    line
}

/// Returns the line of a result, with its newline.
pub fn result_line(stamp: EventStamp, result: &LoggedResult<'_>) -> Vec<u8> {
    let mut line = Vec::with_capacity(1024);
    open_event(&mut line, "tool/result", stamp);
    line.extend_from_slice(b",\"message\":{\"source\":{\"kind\":\"tool\",\"callId\":");
    json_into(&mut line, result.call_id);
    line.extend_from_slice(b"},\"content\":[{\"type\":\"tool-result\",\"toolCallId\":");
    json_into(&mut line, result.call_id);
    line.extend_from_slice(b",\"content\":[{\"type\":\"text\",\"text\":");
    json_into(&mut line, result.text);
    line.extend_from_slice(format!("}}],\"isError\":{}}}],\"role\":\"user\",\"id\":", !result.ok).as_bytes());
    json_into(&mut line, &format!("{}-result", result.call_id));
    line.push(b'}');
    if let Some(error) = result.error {
        line.extend_from_slice(b",\"error\":");
        error_into(&mut line, error);
    }
    if let Some(meta) = result.meta {
        line.extend_from_slice(b",\"meta\":");
        json_into(&mut line, meta);
    }
    line.extend_from_slice(
        format!("}},\"sourceEventSeqs\":[{}],\"surfaceOp\":\"append\"}}\n", result.call_seq).as_bytes(),
    );
    line
}

/// Opens an event and its data.
fn open_event(line: &mut Vec<u8>, kind: &str, stamp: EventStamp) {
    let EventStamp { seq, time_ms, turn, step } = stamp;
    line.extend_from_slice(
        format!(
            "{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":{time_ms},\"data\":{{\"turn\":{turn},\"step\":{step}"
        )
        .as_bytes(),
    );
}

/// Appends the error: the report, with the `name` that readers of such logs look for in front.
fn error_into(line: &mut Vec<u8>, error: &ErrorReport) {
    line.extend_from_slice(format!("{{\"name\":\"{ERROR_NAME}\",").as_bytes());
    let mut report = Vec::new();
    json_into(&mut report, error);
    // A report is an object with at least its code: what follows its brace continues this one.
    line.extend_from_slice(&report[1..]);
}

/// The live events of a row: chunks as they come, packed runs of them, and whole calls.
#[derive(Deserialize)]
struct LiveRow<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LiveData<'a> {
    #[serde(default)]
    turn: u64,
    #[serde(default)]
    step: u64,
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    chunk: Option<LiveChunk<'a>>,
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    call_id: Option<Text<'a>>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    args: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    texts: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    reason: Option<LiveReason<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LiveChunk<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    arguments_delta: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    block: Option<LiveBlock<'a>>,
    #[serde(borrow)]
    reason: Option<LiveReason<'a>>,
}

#[derive(Deserialize)]
struct LiveBlock<'a> {
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct LiveReason<'a> {
    #[serde(borrow)]
    kind: Option<Text<'a>>,
}

/// Reads one row of a session that is being written; tells whether it is one.
pub(super) fn read_live(text: &str, say: &mut Say<'_>) -> serde_json::Result<bool> {
    let row: LiveRow<'_> = serde_json::from_str(text)?;
    let Some(kind) = row.kind.as_deref() else { return Ok(false) };
    let known = kind == "session" || kind.ends_with("-chunks") || kind.contains('/');
    let matters = matches!(
        kind,
        "assistant/chunk" | "tool-call-chunks" | "text-chunks" | "tool/call" | "step/end" | "turn/end"
    );
    let Some(data) = lenient::<LiveData<'_>>(row.data).filter(|_| matters) else { return Ok(known) };
    // Two turns of one step number can't meet: a step's calls end with it.
    let group = data.turn.wrapping_mul(1 << 32).wrapping_add(data.step);
    match (kind, data) {
        ("assistant/chunk", LiveData { chunk: Some(chunk), .. }) => read_chunk(chunk, group, say),
        ("tool-call-chunks", LiveData { index, id, name, args, .. }) => {
            let key = CallKey::Place(group, index);
            begin_live(key.clone(), id, name, say);
            for piece in args.into_iter().flatten() {
                say(LiveEvent::Delta { key: key.clone(), text: Words::Quoted(piece.get()) });
            }
        }
        ("text-chunks", LiveData { texts, .. }) => {
            for text in texts.into_iter().flatten() {
                say(LiveEvent::Text { text: Words::Quoted(text.get()) });
            }
        }
        ("tool/call", LiveData { call_id: Some(id), name, arguments, .. }) => {
            let key = CallKey::Id(id.0.clone());
            begin_live(key.clone(), Some(id), name, say);
            let whole = arguments.map(|raw| Words::Quoted(raw.get()));
            say(LiveEvent::End { calls: Scope::Call(key), whole });
        }
        ("step/end", _) => say(LiveEvent::End { calls: Scope::Group(group), whole: None }),
        ("turn/end", LiveData { reason, .. }) => {
            let reason = reason.and_then(|reason| reason.kind).map_or("the turn ended".into(), |kind| kind.0);
            say(LiveEvent::Cut { calls: Scope::All, reason });
        }
        _ => {}
    }
    Ok(known)
}

fn read_chunk(chunk: LiveChunk<'_>, group: u64, say: &mut Say<'_>) {
    let key = CallKey::Place(group, chunk.index);
    match chunk.kind.as_ref() {
        "tool-call-delta" => {
            begin_live(key.clone(), chunk.id, chunk.name, say);
            if let Some(piece) = chunk.arguments_delta {
                say(LiveEvent::Delta { key, text: Words::Quoted(piece.get()) });
            }
        }
        "text-delta" => {
            if let Some(text) = chunk.text {
                say(LiveEvent::Text { text: Words::Quoted(text.get()) });
            }
        }
        "block-end" => {
            let Some(block) = chunk.block else { return };
            begin_live(key.clone(), block.id, block.name, say);
            let whole = block.arguments.map(|raw| Words::Quoted(raw.get()));
            say(LiveEvent::End { calls: Scope::Call(key), whole });
        }
        "finish" => match chunk.reason.and_then(|reason| reason.kind).as_deref() {
            None | Some("tool-calls" | "stop" | "end-turn" | "completed") => {
                say(LiveEvent::End { calls: Scope::Group(group), whole: None });
            }
            Some(reason) => {
                say(LiveEvent::Cut { calls: Scope::Group(group), reason: reason.to_owned().into() });
            }
        },
        _ => {}
    }
}

fn begin_live<'a>(key: CallKey<'a>, id: Option<Text<'a>>, name: Option<Text<'a>>, say: &mut Say<'_>) {
    let Some(name) = name else { return };
    say(LiveEvent::Begin(LiveBegin {
        key,
        alias: id.as_ref().map(|id| id.0.clone()),
        call_id: id.map(|id| id.0),
        tool: name.0,
        body: LiveBody::Arguments,
        repeats: true,
    }));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::report::Code;
    use crate::report::Problem;

    fn read(dsh: &mut Dsh, line: &str) -> Option<CallEvent<'static>> {
        let text: &'static str = Box::leak(line.to_owned().into_boxed_str());
        let mut events = Vec::new();
        dsh.read(text, 7, &mut |event| events.push(event)).unwrap();
        assert!(events.len() < 2, "{events:?}");
        events.pop()
    }

    fn result_of(line: &str) -> CallResult {
        match read(&mut Dsh::default(), line) {
            Some(CallEvent::Result(result)) => *result,
            other => panic!("{other:?}"),
        }
    }

    /// A result whose data ends in `rest`.
    fn result_row(is_error: &str, text: &str, rest: &str) -> String {
        format!(
            r#"{{"type":"tool/result","seq":3,"time":41,"data":{{"turn":2,"step":1,"message":{{"source":{{"kind":"tool","callId":"c"}},"content":[{{"type":"tool-result","toolCallId":"c","content":[{{"type":"text","text":"{text}"}}]{is_error}}}],"role":"user","id":"m"}}{rest}}}}}"#
        )
    }

    const OK: &str = r#","isError":false"#;

    #[test]
    fn call_is_read() {
        let line = r#"{"type":"tool/call","seq":2,"time":40,"data":{"turn":1,"step":1,"callId":"c","name":"edit","arguments":"{\"file_path\":\"r\"}"}}"#;
        let begin = Begin {
            call_id: "c".into(),
            tool: "edit".into(),
            request: Request::Arguments(r#"{"file_path":"r"}"#.into()),
            place: Place { line: 7, turn: Some(1), time: Some("40".to_owned()) },
        };
        assert_eq!(read(&mut Dsh::default(), line), Some(CallEvent::Begin(begin)));
    }

    #[test]
    fn result_is_read() {
        let meta =
            r#","meta":{"diffs":[{"path":"r","oldText":"a","newText":"b","oldStart":4,"oldLines":1}]}"#;
        let diff = FileDiff {
            path: "r".to_owned(),
            old_text: Some("a".to_owned()),
            new_text: "b".to_owned(),
            old_start: Some(4),
            old_lines: Some(1),
            ..FileDiff::default()
        };
        let place = Place { line: 7, turn: Some(2), time: Some("41".to_owned()) };
        let wanted = CallResult {
            message: Some("done".to_owned()),
            diffs: vec![diff],
            ..CallResult::new("c".to_owned(), place, CardStatus::Applied)
        };
        assert_eq!(result_of(&result_row(OK, "done", meta)), wanted);
    }

    #[test]
    fn one_wrong_hunk_costs_all() {
        let count = |diffs: &str| {
            result_of(&result_row(OK, "", &format!(r#","meta":{{"diffs":{diffs}}}"#))).diffs.len()
        };
        let good = r#"{"path":"r","oldText":null,"newText":"b"}"#;
        assert_eq!(count(&format!("[{good},{good}]")), 2);
        for bad in [
            r#"{"path":"r","newText":"b"}"#,
            r#"{"path":"r","oldText":1,"newText":"b"}"#,
            r#"{"path":"r","oldText":null,"newText":null}"#,
            r#"{"path":null,"oldText":null,"newText":"b"}"#,
            r#"{"path":"r","oldText":null,"newText":"b","oldStart":0}"#,
            r#"{"path":"r","oldText":null,"newText":"b","newStart":null}"#,
            r#"["r",null,"b"]"#,
            "null",
        ] {
            assert_eq!(count(&format!("[{good},{bad}]")), 0, "{bad}");
        }
        for bad in ["null", "{}", "7", "[]"] {
            assert_eq!(count(bad), 0, "{bad}");
        }
    }

    #[test]
    fn own_keys_of_another_shape_cost_only_themselves() {
        let meta = r#","meta":{"diffs":[{"path":"r","oldText":"a","newText":"b","lines":["?"],"oldLines":"x","notes":["eol","of-the-future"],"oldNoNewline":true}],"files":[{"path":1}]}"#;
        let result = result_of(&result_row(OK, "", meta));
        let diff = &result.diffs[0];
        assert_eq!((&diff.lines, diff.old_lines, diff.old_no_newline), (&None, None, true));
        assert_eq!(diff.notes, [DiffNote::Eol]);
        assert_eq!(result.files, []);
    }

    #[test]
    fn status_and_operation_are_what_the_row_says() {
        let check = |row: String, status, operation| {
            let result = result_of(&row);
            assert_eq!((result.status, result.operation), (status, operation), "{row}");
        };
        let (create, update) = (Some(Operation::Create), Some(Operation::Update));
        check(
            result_row(OK, r"<path>\nCreated file\n", r#","meta":{"diffs":[]}"#),
            CardStatus::Applied,
            create,
        );
        check(result_row(OK, r"Updated file", ""), CardStatus::Applied, update);
        check(result_row(OK, r"<path>Created file", ""), CardStatus::Applied, None);
        check(
            result_row(OK, "", r#","meta":{"operation":"create","diffs":[]}"#),
            CardStatus::Applied,
            create,
        );
        check(
            result_row(OK, "Created file", r#","meta":{"operation":"update"}"#),
            CardStatus::Applied,
            update,
        );
        check(result_row(r#","isError":true"#, "Error", ""), CardStatus::Failed, None);
        check(result_row("", "", r#","error":{"code":"X"}"#), CardStatus::Failed, None);
        check(result_row("", "", ""), CardStatus::Unknown, None);
        let crashed = r#","error":{"name":"E","code":"TOOL_OUTCOME_UNKNOWN"}"#;
        check(result_row(r#","isError":true"#, "", crashed), CardStatus::Unknown, None);
    }

    #[test]
    fn unknown_events_are_counted_unless_ignorable() {
        let mut dsh = Dsh::default();
        for line in [
            r#"{"type":"new/thing","data":{}}"#,
            r#"{"type":"new/thing","ignorable":false}"#,
            r#"{"type":"new/thing","ignorable":true}"#,
            r#"{"type":"turn/start","data":{}}"#,
            r#"{"type":"team/anything","data":{}}"#,
            r#"{"type":"text-chunks","seq0":4}"#,
        ] {
            assert_eq!(read(&mut dsh, line), None);
        }
        assert_eq!(dsh.unknown_events(), 2);
    }

    #[test]
    fn newer_version_is_noted() {
        let note = read(&mut Dsh::default(), r#"{"type":"session","version":5,"createdAt":1}"#);
        assert!(matches!(note, Some(CallEvent::Note(note)) if note.contains("version 5")));
        assert_eq!(read(&mut Dsh::default(), r#"{"type":"session","version":0,"createdAt":1}"#), None);
    }

    #[test]
    fn rows_of_the_parent_are_passed_over() {
        let check = |header: &str, rows: &[(&str, bool)]| {
            let mut dsh = Dsh::default();
            read(&mut dsh, &format!(r#"{{"type":"session","version":0,"createdAt":1{header}}}"#));
            for (row, is_own) in rows {
                assert_eq!(read(&mut dsh, row).is_some(), *is_own, "{header} {row}");
            }
            assert_eq!(dsh.inherited_calls(), rows.iter().filter(|(_, is_own)| !is_own).count().min(1));
        };
        let call = |seq: &str| {
            format!(r#"{{"type":"tool/call"{seq},"data":{{"callId":"c","name":"edit","arguments":"{{}}"}}}}"#)
        };
        let (restarted, forked) = (
            r#"{"type":"session/end-seed","data":{}}"#,
            r#"{"type":"session/end-seed","data":{"inherited":true}}"#,
        );
        check("", &[(&call(""), true)]);
        check(r#","seedLength":0"#, &[(&call(r#","seq":0"#), true)]);
        check(r#","seedLength":5"#, &[(&call(r#","seq":4"#), false), (&call(r#","seq":5"#), true)]);
        check(r#","seedLength":5"#, &[(&call(""), false), (restarted, false), (&call(""), true)]);
        check(
            r#","isSeeded":true"#,
            &[(&call(""), false), (restarted, false), (forked, false), (&call(""), true)],
        );
    }

    #[test]
    fn decisions_name_their_call() {
        let mut dsh = Dsh::default();
        let decide = |dsh: &mut Dsh, outcome: &str| {
            read(dsh, r#"{"type":"approval/asked","data":{"id":"q","toolName":"write","callId":"c"}}"#);
            read(dsh, &format!(r#"{{"type":"approval/decided","data":{{"id":"q","outcome":"{outcome}"}}}}"#))
        };
        for (outcome, refusal) in [("rejected", Some("rejected".into())), ("allowed-once", None)] {
            let wanted = CallEvent::Decided { call_id: "c".into(), refusal };
            assert_eq!(decide(&mut dsh, outcome), Some(wanted));
        }
        assert!(dsh.questions.is_empty());
        assert_eq!(
            read(&mut dsh, r#"{"type":"approval/decided","data":{"id":"x","outcome":"rejected"}}"#),
            None
        );
        for id in 0..2 * OPEN_QUESTIONS_CAP {
            read(&mut dsh, &format!(r#"{{"type":"approval/asked","data":{{"id":"{id}","callId":"c"}}}}"#));
        }
        assert_eq!(dsh.questions.len(), OPEN_QUESTIONS_CAP);
    }

    #[test]
    fn only_telling_lines_are_proposed() {
        let check =
            |line: &str, wanted| assert_eq!(proposes(line.as_bytes(), |id| id == "open"), wanted, "{line}");
        check(r#"{"type":"tool/call","data":{}}"#, true);
        check(r#"{"type":"assistant/chunk","data":{}}"#, false);
        check(r#"{"type":"new/thing"}"#, true);
        check(r#"{"type":"text-chunks"}"#, false);
        check(r#"{"seq":1,"type":"assistant/chunk"}"#, true);
        check(r#"{"type":"tool\/call"}"#, true);
        check("  ", false);
        check("", false);
        check("garbage", true);
        check(r#"{"type":"tool/result","data":{"message":{"source":{"callId":"open"}}}}"#, true);
        check(r#"{"type":"tool/result","data":{"message":{"source":{"callId" : "open"}}}}"#, true);
        check(r#"{"type":"tool/result","data":{"message":{"source":{"callId":"other"}}}}"#, false);
        check(r#"{"type":"tool/result","data":{"message":{"source":{"callId":"\u006fpen"}}}}"#, true);
        check(
            r#"{"type":"tool/result","data":{"meta":{"callId":"x"},"message":{"source":{"callId":"open"}}}}"#,
            true,
        );
        check(r#"{"type":"tool/result","data":{"message":{}}}"#, true);
    }

    fn stamp(seq: u64) -> EventStamp {
        EventStamp { seq, time_ms: 1_790_000_000_123, turn: 1, step: 2 }
    }

    fn text(line: Vec<u8>) -> String {
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn written_lines_have_the_words_of_the_format() {
        assert_eq!(
            text(call_line(stamp(0), "h-1", "write", r#"{"path":"a"}"#)),
            "{\"type\":\"tool/call\",\"seq\":0,\"time\":1790000000123,\"data\":{\"turn\":1,\"step\":2,\
             \"callId\":\"h-1\",\"name\":\"write\",\"arguments\":\"{\\\"path\\\":\\\"a\\\"}\"}}\n"
        );
        let done = LoggedResult {
            call_id: "h-1",
            call_seq: 0,
            ok: true,
            text: "done",
            error: None,
            meta: Some(&RecordMeta::default()),
        };
        assert_eq!(
            text(result_line(stamp(1), &done)),
            "{\"type\":\"tool/result\",\"seq\":1,\"time\":1790000000123,\"data\":{\"turn\":1,\"step\":2,\
             \"message\":{\"source\":{\"kind\":\"tool\",\"callId\":\"h-1\"},\
             \"content\":[{\"type\":\"tool-result\",\"toolCallId\":\"h-1\",\
             \"content\":[{\"type\":\"text\",\"text\":\"done\"}],\"isError\":false}],\
             \"role\":\"user\",\"id\":\"h-1-result\"},\"meta\":{\"diffs\":[],\"files\":[]}},\
             \"sourceEventSeqs\":[0],\"surfaceOp\":\"append\"}\n"
        );
    }

    #[test]
    fn written_failure_is_read_as_one() {
        let error = ErrorReport {
            code: Code::HunkNotFound,
            message: "hunk 1 stands nowhere".to_owned(),
            hint: None,
            problems: vec![Problem::new(Code::HunkNotFound, "line 3 differs")],
        };
        let failed = LoggedResult {
            call_id: "c",
            call_seq: 8,
            ok: false,
            text: "no",
            error: Some(&error),
            meta: None,
        };
        let line = text(result_line(stamp(9), &failed));
        assert!(
            line.contains(r#""error":{"name":"HunkwiseError","code":"hunk-not-found","message":"#),
            "{line}"
        );
        let result = result_of(&line);
        assert_eq!((result.status, result.message.as_deref()), (CardStatus::Failed, Some("no")));
        assert_eq!(numbers(line.as_bytes()).0, Some(9));
    }

    #[test]
    fn numbering_continues_from_events_only() {
        assert_eq!(numbers(&call_line(stamp(41), "c", "edit", "{}")), (Some(41), Some(1)));
        assert_eq!(numbers(&header_line("s", 1, "/w")), (None, None));
        assert_eq!(numbers(br#"{"type":"tool/call","seq":4"#), (None, None));
        assert_eq!(numbers(b"\xFF"), (None, None));
        assert!(is_row(header_line("s", 1, "/w").trim_ascii_end()));
    }

    #[test]
    fn only_logs_are_continued() {
        let header = header_line("s", 1, "/w");
        let row = call_line(stamp(41), "c", "edit", "{}");
        let check = |bytes: &[u8], expected: Result<bool, AppendError>| {
            let last = bytes.split_inclusive(|&byte| byte == b'\n').rfind(|line| line.ends_with(b"\n"));
            let last = last.map(|line| &line[..line.len() - 1]);
            assert_eq!(continues(bytes, last), expected, "{}", bytes.escape_ascii());
        };
        check(b"", Ok(false));
        check(b"\n\n", Ok(false));
        check(&header, Ok(true));
        check(&row, Ok(true));
        // A header that was cut short comes anew; a row that was, is a line of its own.
        check(&header[..header.len() - 1], Ok(false));
        check(br#"{"type":"ses"#, Ok(false));
        check(&[br#"{"type":"ses"#, b"\n".as_slice(), &header, &row].concat(), Ok(true));
        check(&[&header[..], b"{\"type\":\"tool/ca"].concat(), Ok(true));
        check(&[&[0; 100][..], b"\n", &row].concat(), Ok(true));
        check(b"# Notes\n", Err(AppendError::NotALog));
        check(b"notes", Err(AppendError::NotALog));
        check(b"{\"type\":\"user\",\"uuid\":\"1\"}\n", Err(AppendError::NotALog));
        let newer = String::from_utf8(header.clone()).unwrap().replace(r#""version":0"#, r#""version":99"#);
        check(newer.as_bytes(), Err(AppendError::Newer(99)));
        check(&[newer.as_bytes(), &row].concat(), Err(AppendError::Newer(99)));
        // Where the first line is too long to be seen whole, the last one tells.
        assert_eq!(continues(&row[..40], Some(&row[..row.len() - 1])), Ok(true));
    }

    proptest! {
        #[test]
        fn written_calls_are_read_back(call_id: String, tool: String, arguments: String) {
            let line = text(call_line(stamp(3), &call_id, &tool, &arguments));
            prop_assert_eq!(line.find('\n'), Some(line.len() - 1));
            let mut read = Vec::new();
            Dsh::default().read(&line, 1, &mut |event| read.push(event)).unwrap();
            let begin = Begin {
                call_id: call_id.into(),
                tool: tool.into(),
                request: Request::Arguments(arguments.into()),
                place: Place { line: 1, turn: Some(1), time: Some("1790000000123".to_owned()) },
            };
            prop_assert_eq!(read, [CallEvent::Begin(begin)]);
        }

        #[test]
        fn written_records_are_read_back(path: String, old_text: Option<String>, new_text: String, ok: bool) {
            let diff = FileDiff { path, old_text, new_text, old_start: Some(1), ..FileDiff::default() };
            let meta = RecordMeta { diffs: vec![diff], ..RecordMeta::default() };
            let logged =
                LoggedResult { call_id: "c", call_seq: 0, ok, text: "t", error: None, meta: Some(&meta) };
            prop_assert_eq!(result_of(&text(result_line(stamp(1), &logged))).diffs, meta.diffs);
        }
    }
}
