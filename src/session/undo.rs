//! Which calls of a log are in effect, which of them an undo means, and what their records hold.
//!
//! A log is read twice: [`History`] tells its calls, and once some are chosen, [`Records`] takes their records. Logs of
//! hunkwise hold the bytes; what others hold is the business of [`foreign`]. An undo is a call like any other, and may be taken back itself.

pub mod foreign;

use std::collections::HashMap;
use std::collections::HashSet;

use crate::patch::args::spelling::Family;
use crate::report::CardStatus;
use crate::report::Code;
use crate::report::Operation;
use crate::report::Problem;
use crate::report::RecordFile;
use crate::report::RecordMeta;
use crate::report::UndoneCall;

use super::event::CallEvent;
use super::event::CallResult;
use super::format::dsh;
use super::format::dsh::Dsh;
use super::format::dsh::ResultRow;
use super::frame::Frame;
use super::frame::Line;
use super::frame::readable;
use super::pair::Call;
use super::pair::Pairs;

/// How many later calls a refusal names.
const NAMED_CALLS_CAP: usize = 3;

/// An applied call of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedCall {
    /// Its id.
    pub id: String,
    /// The tool as the log names it.
    pub tool: String,
    /// The number of its result.
    pub seq: Option<u64>,
    /// The turn that it belongs to.
    pub turn: Option<u64>,
    /// 1-based line of its result.
    pub line: usize,
    /// What tells it apart from the other calls of its log: its line, where each has one of its own.
    place: usize,
    /// What its record holds.
    pub holds: Holds,
    /// What is missing in the log of another agent.
    lacks: Option<String>,
    /// The calls that it took back; only of an undo.
    pub undoes: Vec<UndoneCall>,
    /// It was not taken back, or was and then made again.
    pub is_in_effect: bool,
}

impl LoggedCall {
    /// Returns what an undo says of this call.
    pub fn reference(&self) -> UndoneCall {
        UndoneCall { call_id: self.id.clone(), seq: self.seq }
    }
}

/// What a record holds of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// Nothing was changed.
    NoChange,
    /// The old bytes, or why they are not there.
    Bytes,
    /// Hunks at most: what the bytes were is not told.
    NoBytes,
}

/// Which calls are to be taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// The last calls in effect; undos of calls of the same log are passed over.
    Last(usize),
    /// The last call of that id.
    Call(String),
    /// What the turns from the first to the last one did.
    Turns(u64, u64),
}

/// The calls of a log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    /// The applied calls, in the order of their results.
    pub calls: Vec<LoggedCall>,
    /// Ids of the calls without a result, in their order: what they did, if anything, is not known.
    pub unanswered: Vec<String>,
    /// Ids of calls that were refused or failed.
    failed: HashSet<String>,
    /// The folder that the session began in.
    pub cwd: Option<String>,
    /// Count of lines that could not be read.
    pub bad_lines: usize,
    /// What else a reader should know.
    pub notes: Vec<String>,
}

impl History {
    /// Returns the calls that are meant, newest first, as indexes into [`History::calls`].
    ///
    /// # Errors
    /// There is no such call, it is taken back already, or its record does not hold the old bytes.
    pub fn select(&self, selection: &Selection) -> Result<Vec<usize>, Box<Problem>> {
        let chosen = match selection {
            Selection::Last(count) => self.last(*count)?,
            Selection::Call(id) => vec![self.by_id(id)?],
            Selection::Turns(first, last) => self.of_turns(*first, *last)?,
        };
        match chosen.iter().map(|&index| &self.calls[index]).find(|call| call.holds == Holds::NoBytes) {
            Some(call) => Err(no_bytes(call).into()),
            None => Ok(chosen),
        }
    }

    fn last(&self, count: usize) -> Result<Vec<usize>, Box<Problem>> {
        let places = self.places();
        let is_meant = |&index: &usize| {
            let call = &self.calls[index];
            // An undo whose calls stand in another log is a call like any other here.
            let is_undo = call.undoes.iter().any(|undone| place(&places, undone, index).is_some());
            call.is_in_effect && !is_undo && call.holds != Holds::NoChange
        };
        let chosen: Vec<usize> = (0..self.calls.len()).rev().filter(is_meant).take(count).collect();
        if chosen.len() == count {
            return Ok(chosen);
        }
        let message = match chosen.len() {
            0 => "the log holds no call in effect that changed a file: there is nothing to undo".to_owned(),
            found => format!("{count} calls are to be undone, but the log holds {found} in effect"),
        };
        Err(Problem::new(Code::CountDiffers, message).into())
    }

    fn by_id(&self, id: &str) -> Result<usize, Box<Problem>> {
        let problem = |code: Code, message: String| Box::new(Problem::new(code, message));
        let Some(index) = self.calls.iter().rposition(|call| call.id == id) else {
            let message = if self.unanswered.iter().any(|call| call == id) {
                format!("the log holds no result of {id}: what it did, if anything, is not known")
            } else if self.failed.contains(id) {
                format!("{id} was not applied: there is nothing to undo")
            } else {
                format!("the log holds no applied call {id}")
            };
            return Err(problem(Code::CountDiffers, message));
        };
        if self.calls[index].is_in_effect {
            return Ok(index);
        }
        let by = self.calls[index + 1..]
            .iter()
            .rfind(|call| call.is_in_effect && call.undoes.iter().any(|undone| undone.call_id == id));
        let message = format!("{id} is undone already");
        Err(Box::new(match by {
            Some(by) => Problem::new(Code::AlreadyApplied, format!("{message}, by {}", by.id))
                .with_hint(format!("undo --call {} brings it back", by.id)),
            None => Problem::new(Code::AlreadyApplied, message),
        }))
    }

    /// What turns did, as a whole: an undo of theirs whose calls are all theirs too takes nothing away from it.
    fn of_turns(&self, first: u64, last: u64) -> Result<Vec<usize>, Box<Problem>> {
        let is_inside =
            |index: usize| self.calls[index].turn.is_some_and(|turn| (first..=last).contains(&turn));
        let mut is_in_effect: Vec<bool> = self.calls.iter().map(|call| call.is_in_effect).collect();
        let places = self.places();
        let mut chosen = Vec::new();
        for index in (0..self.calls.len()).rev().filter(|&index| is_inside(index)) {
            let call = &self.calls[index];
            let undone: Vec<usize> =
                call.undoes.iter().filter_map(|undone| place(&places, undone, index)).collect();
            let is_own = !undone.is_empty() && undone.iter().all(|&index| is_inside(index));
            if !is_in_effect[index] || is_own || call.holds == Holds::NoChange {
                continue;
            }
            chosen.push(index);
            // With the undo gone, the calls that it took back are there to be taken back.
            for index in undone {
                is_in_effect[index] = true;
            }
        }
        if !chosen.is_empty() {
            return Ok(chosen);
        }
        let turns =
            if first == last { format!("turn {first}") } else { format!("the turns {first}..{last}") };
        let message = format!("the log holds no call in effect of {turns} that changed a file");
        Err(Problem::new(Code::CountDiffers, message).into())
    }

    fn places(&self) -> HashMap<UndoneCall, usize> {
        let named = |(index, call): (usize, &LoggedCall)| (call.reference(), index);
        self.calls.iter().enumerate().map(named).collect()
    }

    /// Says which calls are in effect: the newest is, and one that an undo in effect took back is not.
    fn settle(&mut self) {
        let places = self.places();
        for index in (0..self.calls.len()).rev() {
            if !self.calls[index].is_in_effect {
                continue;
            }
            let undone: Vec<usize> =
                self.calls[index].undoes.iter().filter_map(|undone| place(&places, undone, index)).collect();
            for index in undone {
                self.calls[index].is_in_effect = false;
            }
        }
    }
}

/// Returns where a call stands that one at `before` took back.
fn place(places: &HashMap<UndoneCall, usize>, undone: &UndoneCall, before: usize) -> Option<usize> {
    places.get(undone).copied().filter(|&index| index < before)
}

fn no_bytes(call: &LoggedCall) -> Problem {
    if let Some(why) = &call.lacks {
        return foreign::lacking(call, why);
    }
    let message = format!(
        "{} ({}, line {} of the log) can't be undone: its record does not hold the bytes that were there before",
        call.id, call.tool, call.line
    );
    Problem::new(Code::NotRecorded, message)
        .with_hint("only logs that hunkwise writes (--log) hold them; 'replay --output patch' makes a patch of the recorded hunks, which 'apply --reverse' takes back")
}

/// Reads the calls of a log.
#[derive(Debug, Default)]
pub struct HistoryReader {
    reader: Reader,
    history: History,
}

impl HistoryReader {
    /// Takes the next block.
    pub fn push(&mut self, block: &[u8]) {
        let history = &mut self.history;
        self.reader.push(block, &mut |said| history.take(said));
    }

    /// Ends the log.
    pub fn finish(self) -> History {
        let HistoryReader { mut reader, mut history } = self;
        reader.end(&mut |said| history.take(said));
        history.bad_lines = reader.lines.bad_lines;
        history.unanswered = reader.lines.pairs.finish().map(|call| call.id).collect();
        history.settle();
        history
    }
}

impl History {
    fn take(&mut self, said: Said) {
        match said {
            Said::Note(note) => self.notes.push(note),
            Said::Folder(folder) => {
                self.cwd.get_or_insert(folder);
            }
            // A command that may have edited a file is not known to have, unless it is recorded.
            Said::Answered(call, _, row)
                if row.recorded_files.is_none() && Family::of(&call.tool) == Family::Shell => {}
            Said::Answered(call, result, row) if result.status == CardStatus::Applied => {
                self.calls.push(LoggedCall {
                    holds: holds(&result, &row),
                    id: call.id,
                    tool: call.tool,
                    seq: row.seq,
                    turn: result.place.turn,
                    line: result.place.line,
                    place: result.place.line,
                    lacks: None,
                    undoes: row.undoes,
                    is_in_effect: true,
                });
            }
            Said::Answered(call, ..) => {
                self.failed.insert(call.id);
            }
        }
    }
}

fn holds(result: &CallResult, row: &ResultRow) -> Holds {
    match row.recorded_files {
        Some(count) if count == result.files.len() => {
            if result.files.iter().all(is_unchanged) {
                Holds::NoChange
            } else {
                Holds::Bytes
            }
        }
        // A later version wrote entries that this one can't read.
        Some(_) | None => Holds::NoBytes,
    }
}

fn is_unchanged(file: &RecordFile) -> bool {
    file.operation == Operation::Update
        && file.before_sha256 == file.after_sha256
        && file.mode.before == file.mode.after
        && file.no_undo.is_none()
}

/// What the records of chosen calls hold.
#[derive(Debug, Default)]
pub struct Records {
    reader: Reader,
    taken: Taken,
}

#[derive(Debug, Default)]
struct Taken {
    /// The lines of the results that are wanted.
    lines: HashSet<usize>,
    records: HashMap<usize, RecordMeta>,
    /// For each path that a wanted record names, the calls that came later: their lines, ids and tools.
    later: HashMap<String, Vec<(usize, String)>>,
}

impl Records {
    /// Begins to look for the records of these calls.
    pub fn of<'a>(calls: impl IntoIterator<Item = &'a LoggedCall>) -> Self {
        let lines = calls.into_iter().map(|call| call.place).collect();
        Records { reader: Reader::default(), taken: Taken { lines, ..Taken::default() } }
    }

    /// Takes the next block of the same log.
    pub fn push(&mut self, block: &[u8]) {
        let taken = &mut self.taken;
        self.reader.push(block, &mut |said| taken.take(said));
    }

    /// Ends the log.
    pub fn finish(mut self) -> Found {
        let taken = &mut self.taken;
        self.reader.end(&mut |said| taken.take(said));
        Found { records: self.taken.records, later: self.taken.later }
    }
}

/// Records, and who changed their files later.
#[derive(Debug, Default)]
pub struct Found {
    records: HashMap<usize, RecordMeta>,
    later: HashMap<String, Vec<(usize, String)>>,
}

impl Found {
    /// Takes the record of a call out.
    pub fn take(&mut self, call: &LoggedCall) -> Option<RecordMeta> {
        self.records.remove(&call.place)
    }

    /// Says which later calls changed a file, if the log tells of any.
    pub fn later_changes(&self, path: &str, call: &LoggedCall) -> Option<String> {
        let later = self.later.get(path)?.iter().filter(|(place, _)| *place > call.place);
        let names: Vec<&str> = later.map(|(_, name)| name.as_str()).collect();
        let (shown, rest) = names.split_at(names.len().min(NAMED_CALLS_CAP));
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        (!shown.is_empty()).then(|| format!("changed later by {}{more}", shown.join(", ")))
    }
}

impl Taken {
    fn take(&mut self, said: Said) {
        let Said::Answered(call, result, row) = said else { return };
        let CallResult { place, diffs, files, .. } = *result;
        let paths = || files.iter().flat_map(|file| std::iter::once(&file.path).chain(&file.from));
        for path in paths() {
            if let Some(later) = self.later.get_mut(path) {
                later.push((place.line, format!("{} ({})", call.id, call.tool)));
            }
        }
        if self.lines.contains(&place.line) {
            for path in paths() {
                self.later.entry(path.clone()).or_default();
            }
            self.records.insert(place.line, RecordMeta { diffs, files, undoes: row.undoes });
        }
    }
}

/// What a log says, as far as an undo asks.
enum Said {
    Folder(String),
    Answered(Call, Box<CallResult>, ResultRow),
    Note(String),
}

/// Blocks of a log to what it says.
#[derive(Debug, Default)]
struct Reader {
    frame: Frame,
    lines: Lines,
}

/// All but the frame, so that a line can be lent while this changes.
#[derive(Debug, Default)]
struct Lines {
    dsh: Dsh,
    pairs: Pairs,
    bad_lines: usize,
}

impl Reader {
    fn push(&mut self, block: &[u8], say: &mut impl FnMut(Said)) {
        let lines = &mut self.lines;
        self.frame.push(block, &mut |line| lines.line(line, say));
    }

    fn end(&mut self, say: &mut impl FnMut(Said)) {
        let lines = &mut self.lines;
        let framed = std::mem::take(&mut self.frame).finish(&mut |line| lines.line(line, say));
        self.lines.bad_lines += framed.skipped_long;
    }
}

impl Lines {
    fn line(&mut self, line: Line<'_>, say: &mut impl FnMut(Said)) {
        if !line.is_torn && !dsh::proposes(line.bytes, |call_id| self.pairs.knows(call_id)) {
            return;
        }
        let text = readable(line.bytes).text;
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
        let Lines { dsh, pairs, .. } = self;
        let read = dsh.read(text, line.number, &mut |event| match event {
            CallEvent::Begin(begin) => pairs.begin(begin),
            CallEvent::Amended(begin) => pairs.amend(begin),
            CallEvent::Result(result) => {
                if let Some(call) = pairs.end(&result) {
                    say(Said::Answered(call, result, dsh::result_row(text).unwrap_or_default()));
                }
            }
            CallEvent::Superseded { call_id } => pairs.supersede(&call_id),
            CallEvent::Folder(folder) => say(Said::Folder(folder.into_owned())),
            CallEvent::Note(note) => say(Said::Note(note)),
            CallEvent::Decided { .. } => {}
        });
        self.bad_lines += usize::from(read.is_err());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Change;
    use crate::report::EolName;
    use crate::report::UndoSplice;
    use crate::session::format::dsh::EventStamp;
    use crate::session::format::dsh::LoggedResult;

    fn file(path: &str) -> RecordFile {
        RecordFile {
            after_sha256: Some("a".to_owned()),
            eol: Change { before: None, after: Some(EolName::Lf) },
            mode: Change { before: None, after: Some("100644".to_owned()) },
            added: 1,
            undo: vec![UndoSplice { offset: 0, old: String::new(), new_length: 2 }],
            ..RecordFile::new(path.to_owned(), Operation::Create)
        }
    }

    /// A log as it grows: each call is a turn of its own, and its result has an odd number.
    #[derive(Default)]
    struct Growing {
        log: Vec<u8>,
        rows: u64,
    }

    impl Growing {
        fn stamp(&mut self) -> EventStamp {
            self.rows += 1;
            let seq = self.rows - 1;
            EventStamp { seq, time_ms: 1, turn: seq / 2 + 1, step: 1 }
        }

        fn call(mut self, id: &str, tool: &str) -> Self {
            let stamp = self.stamp();
            self.log.extend(dsh::call_line(stamp, id, tool, "{}"));
            self
        }

        fn done(mut self, id: &str, tool: &str, files: Vec<RecordFile>, undoes: &[(&str, u64)]) -> Self {
            self = self.call(id, tool);
            let undone = |&(id, seq): &(&str, u64)| UndoneCall { call_id: id.to_owned(), seq: Some(seq) };
            let meta = RecordMeta { diffs: Vec::new(), files, undoes: undoes.iter().map(undone).collect() };
            self.result(id, true, Some(&meta))
        }

        fn edit(self, id: &str) -> Self {
            self.done(id, "edit", vec![file("f")], &[])
        }

        fn undo(self, id: &str, undoes: &[(&str, u64)]) -> Self {
            self.done(id, "undo", vec![file("f")], undoes)
        }

        fn result(mut self, call_id: &str, ok: bool, meta: Option<&RecordMeta>) -> Self {
            let stamp = self.stamp();
            let result = LoggedResult { call_id, call_seq: stamp.seq - 1, ok, text: "", error: None, meta };
            self.log.extend(dsh::result_line(stamp, &result));
            self
        }

        fn history(&self) -> History {
            let mut whole = HistoryReader::default();
            whole.push(&self.log);
            let whole = whole.finish();
            let mut pieces = HistoryReader::default();
            self.log.chunks(7).for_each(|piece| pieces.push(piece));
            assert_eq!(pieces.finish(), whole);
            whole
        }
    }

    /// Checks which calls are chosen, by their ids, or with which code none is.
    fn check(log: &Growing, selection: Selection, expected: Result<&[&str], Code>) {
        let history = log.history();
        let chosen = history.select(&selection);
        let ids = chosen
            .as_ref()
            .map(|chosen| chosen.iter().map(|&index| history.calls[index].id.as_str()).collect::<Vec<_>>());
        assert_eq!(ids.map_err(|problem| problem.code), expected.map(<[_]>::to_vec), "{selection:?}");
    }

    fn call(id: &str) -> Selection {
        Selection::Call(id.to_owned())
    }

    #[test]
    fn the_newest_calls_in_effect_are_meant_and_undos_passed_over() {
        let log = Growing::default().edit("a").edit("b").edit("c");
        check(&log, Selection::Last(1), Ok(&["c"]));
        check(&log, Selection::Last(3), Ok(&["c", "b", "a"]));
        check(&log, Selection::Last(4), Err(Code::CountDiffers));
        let log = log.undo("u", &[("c", 5)]);
        check(&log, Selection::Last(1), Ok(&["b"]));
        check(&log, call("c"), Err(Code::AlreadyApplied));
        check(&log, call("u"), Ok(&["u"]));
        let log = log.undo("v", &[("b", 3), ("a", 1)]);
        check(&log, Selection::Last(1), Err(Code::CountDiffers));
        // The undo of an undo brings its calls back, and the undo of that takes them away again.
        let log = log.undo("w", &[("v", 9)]);
        check(&log, Selection::Last(2), Ok(&["b", "a"]));
        check(&log, call("v"), Err(Code::AlreadyApplied));
        let log = log.undo("x", &[("w", 11)]);
        check(&log, Selection::Last(1), Err(Code::CountDiffers));
        check(&log, call("v"), Ok(&["v"]));
        check(&Growing::default(), Selection::Last(1), Err(Code::CountDiffers));
        check(&Growing::default().undo("u", &[("a", 1)]), Selection::Last(1), Ok(&["u"]));
    }

    #[test]
    fn turns_are_taken_back_as_a_whole() {
        let log = Growing::default().edit("a").edit("b").undo("u", &[("a", 1)]).edit("c");
        check(&log, Selection::Turns(4, 4), Ok(&["c"]));
        check(&log, Selection::Turns(1, 1), Err(Code::CountDiffers));
        check(&log, Selection::Turns(2, 4), Ok(&["c", "u", "b"]));
        // What the turns took back themselves is no change of theirs.
        check(&log, Selection::Turns(1, 4), Ok(&["c", "b"]));
        check(&log, Selection::Turns(9, 10), Err(Code::CountDiffers));
        // An undo of calls inside and outside: with it gone, those inside are there to be taken back.
        let log = Growing::default().edit("a").edit("b").undo("u", &[("b", 3), ("a", 1)]);
        check(&log, Selection::Turns(2, 3), Ok(&["u", "b"]));
    }

    #[test]
    fn only_records_of_old_bytes_can_be_taken_back() {
        let hunks = br#"{"type":"tool/result","seq":9,"data":{"turn":1,"message":{"source":{"callId":"b"},"content":[{"type":"tool-result","toolCallId":"b","isError":false}]},"meta":{"diffs":[]}}}"#;
        let mut log = Growing::default().edit("a").call("b", "write");
        log.log.extend_from_slice(hunks);
        log.log.push(b'\n');
        check(&log, Selection::Last(1), Err(Code::NotRecorded));
        check(&log, call("a"), Ok(&["a"]));
        // A call that changed nothing is passed over.
        let log = Growing::default().edit("a").done("n", "apply", Vec::new(), &[]);
        check(&log, Selection::Last(1), Ok(&["a"]));
    }

    #[test]
    fn failed_and_unanswered_calls_are_told() {
        let log = Growing::default().edit("a").call("b", "edit").result("b", false, None).call("c", "edit");
        check(&log, Selection::Last(1), Ok(&["a"]));
        let message = |id| log.history().select(&call(id)).unwrap_err().message;
        assert_eq!(message("b"), "b was not applied: there is nothing to undo");
        assert_eq!(message("c"), "the log holds no result of c: what it did, if anything, is not known");
        assert_eq!(message("d"), "the log holds no applied call d");
        assert_eq!(log.history().unanswered, ["c"]);
    }

    #[test]
    fn an_id_that_comes_again_means_the_last_call_of_it() {
        let log = Growing::default().edit("a").edit("a").undo("u", &[("a", 3)]);
        let history = log.history();
        let in_effect: Vec<bool> = history.calls.iter().map(|call| call.is_in_effect).collect();
        assert_eq!(in_effect, [true, false, true]);
        assert_eq!(history.select(&Selection::Last(1)), Ok(vec![0]));
    }

    #[test]
    fn records_come_with_who_changed_their_files_later() {
        let log = Growing::default().edit("a").edit("b").done("c", "write", vec![file("g")], &[]).edit("d");
        let history = log.history();
        let mut records = Records::of([&history.calls[0]]);
        log.log.chunks(11).for_each(|piece| records.push(piece));
        let mut found = records.finish();
        let first = &history.calls[0];
        assert_eq!(found.later_changes("f", first).as_deref(), Some("changed later by b (edit), d (edit)"));
        assert_eq!(found.later_changes("g", first), None);
        assert_eq!(found.take(first).map(|record| record.files), Some(vec![file("f")]));
        assert_eq!(found.take(first), None);
    }

    #[test]
    fn many_undos_of_each_other_cost_no_more_than_their_count() {
        let mut log = Growing::default().edit("a");
        for number in 0..200_u64 {
            let before: Vec<(String, u64)> =
                (0..number).map(|earlier| (format!("u{earlier}"), 3 + 2 * earlier)).collect();
            let undoes: Vec<(&str, u64)> =
                before.iter().map(|(id, seq)| (id.as_str(), *seq)).chain([("a", 1)]).collect();
            log = log.undo(&format!("u{number}"), &undoes);
        }
        check(&log, Selection::Last(1), Err(Code::CountDiffers));
    }

    /// Goes all the way that an undo goes, but for the files.
    fn walk(log: &[u8]) {
        let mut reader = HistoryReader::default();
        reader.push(log);
        let history = reader.finish();
        for selection in [Selection::Last(1), Selection::Last(3), Selection::Turns(0, u64::MAX), call("b")] {
            let Ok(chosen) = history.select(&selection) else { continue };
            let calls: Vec<&LoggedCall> = chosen.into_iter().map(|index| &history.calls[index]).collect();
            let mut records = Records::of(calls.iter().copied());
            records.push(log);
            let mut found = records.finish();
            for call in calls {
                assert!(found.take(call).is_some(), "the same log has the same records");
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn damaged_logs_never_panic(
            changes in proptest::collection::vec(
                (proptest::prelude::any::<proptest::sample::Index>(), proptest::prelude::any::<u8>()), 0..12),
        ) {
            let log = Growing::default().edit("a").edit("b").undo("u", &[("a", 1)]).edit("b").undo("v", &[("u", 5)]);
            let mut log = log.log;
            for (at, byte) in &changes {
                let at = at.index(log.len());
                log[at] = *byte;
            }
            walk(&log);
        }
    }
}
