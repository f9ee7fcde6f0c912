//! Calls of a model in, live or stored; cards out.
//!
//! Bytes of a log go through `unpack` (gzip, zstd), `frame` (lines, or elements of a JSON document), [`mod@format`]
//! (events), [`pair`] (call and result) and [`stored`] (cards); [`Replay`] holds them together. No file is opened and no clock is read here.

pub mod calls;
mod change;
pub mod event;
pub mod format;
pub(crate) mod frame;
pub(crate) mod generic;
pub(crate) mod live;
pub mod net;
pub mod pair;
pub mod prompt;
mod recalled;
pub mod requested;
pub mod sse;
pub mod stored;
pub(crate) mod text_patches;
pub(crate) mod throttle;
pub mod told;
pub mod undo;
pub(crate) mod unpack;

use thiserror::Error;

use crate::report::Card;
use crate::text::document::UTF8_BOM;

use event::CallEvent;
use event::CallResult;
use format::DETECT_BYTES;
use format::DetectError;
use format::Format;
use format::log::LogReader;
use frame::Frame;
use frame::Line;
use frame::Readable;
use frame::elements::Element;
use frame::elements::Elements;
use frame::elements::Grain;
use frame::elements::Holder;
use frame::framing::Framing;
use frame::readable;
use frame::readable_text;
use generic::Generic;
use pair::Call;
use pair::Pairs;
use recalled::Recalled;
use told::Told;
use unpack::Unpack;

pub use format::detect;
pub use live::Input;
pub use live::Live;
pub use throttle::Throttle;
pub use unpack::Damage;

/// How many numbers of bad lines, and how many notes, a summary holds.
const LISTED_CAP: usize = 100;

/// How a log is replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayOptions {
    /// The log's format; told by its first bytes if it is not named.
    pub format: Option<Format>,
    /// The longest line, or element of a document, that is read, in bytes; a longer one is skipped and counted.
    pub line_cap_bytes: usize,
    /// Whether a text that is no known log is refused; else patches are looked for in it.
    pub is_known_only: bool,
    /// Whether calls of sub-agents that a log repeats are passed over, since their own logs are read too.
    pub passes_sub_agents: bool,
    /// What the log tells beside the hunks is handed out with the cards, where [`Replay::push_told`] takes it.
    pub is_told: bool,
    /// Whether hunks without a section get the one that they stand in, where the log has the whole text beside them. That
    /// takes time for each such text.
    pub has_sections: bool,
}

impl Default for ReplayOptions {
    fn default() -> Self {
        let line_cap_bytes = frame::LINE_CAP_BYTES;
        ReplayOptions {
            format: None,
            line_cap_bytes,
            is_known_only: false,
            passes_sub_agents: false,
            is_told: false,
            has_sections: true,
        }
    }
}

/// Takes a card, and what the log tells of each of its files beside the hunks; nothing unless that was asked for.
type Emit<'a> = &'a mut dyn FnMut(Card, Vec<Told>);

impl ReplayOptions {
    /// Returns the options for a log of that format.
    pub fn new(format: Format) -> Self {
        ReplayOptions { format: Some(format), ..ReplayOptions::default() }
    }
}

/// Why an input was not replayed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// It is no log of a known format.
    #[error(transparent)]
    Detect(#[from] DetectError),
    /// It is compressed, and nothing of it can be decoded.
    #[error(transparent)]
    Damaged(#[from] Damage),
}

/// What a replay read, and what it could not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReplaySummary {
    /// Count of lines.
    pub lines: usize,
    /// Count of cards that were drawn.
    pub cards: usize,
    /// Count of events of a type that is not known.
    pub unknown_events: usize,
    /// 1-based numbers of the first lines that could not be read, at most a hundred.
    pub bad_lines: Vec<usize>,
    /// Count of all lines that could not be read.
    pub bad_line_count: usize,
    /// Count of lines, or elements of a document, that were too long to be read.
    pub skipped_long: usize,
    /// 1-based number of a last line that is cut off; one that is whole but for its newline is read. Of a document that
    /// is cut off, the line of the cut.
    pub torn_line: Option<usize>,
    /// Why a compressed log was not read to its end.
    pub damage: Option<Damage>,
    /// Count of calls and results that were copies of earlier ones.
    pub duplicates: usize,
    /// Count of calls that belong to the parent of this session and were passed over.
    pub inherited_calls: usize,
    /// Count of characters that no text can hold and that became U+FFFD.
    pub replaced_characters: usize,
    /// What else a reader should know, at most a hundred notes.
    pub notes: Vec<String>,
}

/// Draws the cards of a log: blocks of bytes in, cards out.
///
/// How the bytes are cut into blocks changes nothing, and the same log gives the same cards every time.
///
/// ```
/// use hunkwise::session::{Replay, ReplayOptions, format::Format};
/// let mut replay = Replay::new(ReplayOptions::new(Format::Dsh));
/// let mut titles = Vec::new();
/// let log = br#"{"type":"session","version":0,"id":"s","createdAt":1}
/// {"type":"tool/call","data":{"turn":1,"callId":"c","name":"edit","arguments":"{\"file_path\":\"a\"}"}}
/// "#;
/// replay.push(log, &mut |card| titles.push(card.title));
/// let summary = replay.finish(&mut |card| titles.push(card.title)).unwrap();
/// assert_eq!(titles, ["edit a"]);
/// assert_eq!(summary.lines, 2);
/// ```
#[derive(Debug)]
pub struct Replay {
    unpack: Unpack,
    plain: Plain,
}

/// A log that is taken apart already.
#[derive(Debug)]
struct Plain {
    options: ReplayOptions,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// The first bytes, too few to tell the format.
    Head(Vec<u8>),
    Lines(Frame, Reader),
    Elements(Elements, Reader),
    Refused(DetectError),
}

/// All but the frame, so that a line can be lent while this changes.
#[derive(Debug)]
struct Reader {
    log: Log,
    cards: Cards,
    passes_sub_agents: bool,
}

/// Who reads a log.
#[derive(Debug)]
enum Log {
    Vendor(LogReader),
    Generic(Generic),
}

/// What the events of a log become, and what is kept for that.
#[derive(Debug)]
struct Cards {
    format: Format,
    is_told: bool,
    has_sections: bool,
    pairs: Pairs,
    /// The folder that the session began in.
    first_folder: Option<String>,
    /// The folder that calls run in now.
    folder: Option<String>,
    recalled: Recalled,
    summary: ReplaySummary,
}

impl Replay {
    /// Begins a log.
    pub fn new(options: ReplayOptions) -> Self {
        Replay { unpack: Unpack::default(), plain: Plain { options, stage: Stage::Head(Vec::new()) } }
    }

    /// Takes the next block; emits the card of every call whose result ends in it.
    ///
    /// Nothing is read before there are enough bytes to tell what the log is; see [`settle`](Self::settle).
    pub fn push(&mut self, block: &[u8], emit: &mut dyn FnMut(Card)) {
        self.push_told(block, &mut |card, _| emit(card));
    }

    /// Does as [`push`](Self::push), and hands out what the log tells of each file of a card beside its hunks.
    pub fn push_told(&mut self, block: &[u8], emit: &mut dyn FnMut(Card, Vec<Told>)) {
        let Replay { unpack, plain } = self;
        unpack.push(block, &mut |bytes| plain.push(bytes, emit));
    }

    /// Reads what has come though it is little, if it tells what the log is: a log that is being written may stay short.
    pub fn settle(&mut self, emit: &mut dyn FnMut(Card)) {
        self.settle_told(&mut |card, _| emit(card));
    }

    /// Does as [`settle`](Self::settle), and hands out what the log tells of each file of a card beside its hunks.
    pub fn settle_told(&mut self, emit: &mut dyn FnMut(Card, Vec<Told>)) {
        if let Stage::Head(head) = &self.plain.stage
            && (self.plain.options.format.is_some()
                || !matches!(detect(head), Ok(Format::Generic) | Err(DetectError::Unknown)))
        {
            self.plain.begin(emit);
        }
    }

    /// Tells whether nothing more can be read, whatever is pushed.
    pub fn is_over(&self) -> bool {
        self.unpack.is_over() || matches!(self.plain.stage, Stage::Refused(_))
    }

    /// Begins the same log again, after its file was written anew: lines are numbered from 1, and calls that were drawn
    /// are known as copies.
    pub fn restart(&mut self) {
        self.unpack = Unpack::default();
        self.plain.restart();
    }

    /// Returns the log's format, once it is known.
    pub fn format(&self) -> Option<Format> {
        self.plain.reader().map(|reader| reader.cards.format)
    }

    /// Returns the folder that the session began in, as the log names it; nothing before the log has named one.
    pub fn folder(&self) -> Option<&str> {
        self.plain.reader()?.cards.first_folder.as_deref()
    }

    /// Ends the log; emits the cards of the calls without a result, in the order of the calls.
    ///
    /// # Errors
    /// [`ReplayError`], if it was no log.
    pub fn finish(self, emit: &mut dyn FnMut(Card)) -> Result<ReplaySummary, ReplayError> {
        self.finish_told(&mut |card, _| emit(card))
    }

    /// Does as [`finish`](Self::finish), and hands out what the log tells of each file of a card beside its hunks.
    ///
    /// # Errors
    /// [`ReplayError`], if it was no log.
    pub fn finish_told(self, emit: &mut dyn FnMut(Card, Vec<Told>)) -> Result<ReplaySummary, ReplayError> {
        let Replay { unpack, mut plain } = self;
        let damage = unpack.finish(&mut |bytes| plain.push(bytes, emit));
        plain.finish(damage, emit)
    }
}

impl Plain {
    fn restart(&mut self) {
        let cap_bytes = self.options.line_cap_bytes;
        let (lines, skipped_long, reader) = match &mut self.stage {
            Stage::Head(head) => {
                head.clear();
                return;
            }
            Stage::Refused(_) => return,
            // What was cut off at the old end is read again.
            Stage::Lines(frame, reader) => {
                let framed = std::mem::replace(frame, Frame::with_cap(cap_bytes)).finish(&mut |_| {});
                (framed.lines - usize::from(framed.torn_line.is_some()), framed.skipped_long, reader)
            }
            Stage::Elements(elements, reader) => {
                let grain = elements.grain();
                let new = Elements::new(grain, cap_bytes);
                let framed = std::mem::replace(elements, new).finish(&mut |_| {});
                (framed.lines, framed.skipped_long, reader)
            }
        };
        reader.cards.summary.lines += lines;
        reader.cards.summary.skipped_long += skipped_long;
        reader.restart();
    }

    fn reader(&self) -> Option<&Reader> {
        match &self.stage {
            Stage::Lines(_, reader) | Stage::Elements(_, reader) => Some(reader),
            Stage::Head(_) | Stage::Refused(_) => None,
        }
    }

    fn push(&mut self, bytes: &[u8], emit: Emit<'_>) {
        match &mut self.stage {
            Stage::Head(head) => {
                let (first, rest) = bytes.split_at(bytes.len().min(DETECT_BYTES - head.len()));
                head.extend_from_slice(first);
                if head.len() == DETECT_BYTES {
                    self.begin(emit);
                    self.push(rest, emit);
                }
            }
            Stage::Lines(frame, reader) => frame.push(bytes, &mut |line| reader.line(line, emit)),
            Stage::Elements(elements, reader) => {
                elements.push(bytes, &mut |element| reader.element(element, emit));
            }
            Stage::Refused(_) => {}
        }
    }

    /// Decides what the log is, and reads its first bytes.
    fn begin(&mut self, emit: Emit<'_>) {
        let Stage::Head(head) = &mut self.stage else { return };
        let head = std::mem::take(head);
        let options = self.options;
        let format = options.format.map_or_else(|| detect(&head), Ok);
        let cap_bytes = options.line_cap_bytes;
        self.stage = match format {
            Err(error) => Stage::Refused(error),
            Ok(Format::Generic) if options.is_known_only => Stage::Refused(DetectError::Unknown),
            Ok(format) => {
                let reader = Reader::new(format, options);
                match if format.is_text() { Framing::Lines } else { Framing::of(&head) } {
                    Framing::Lines => Stage::Lines(Frame::with_cap(cap_bytes), reader),
                    Framing::Roots => Stage::Elements(Elements::new(Grain::Roots, cap_bytes), reader),
                    Framing::Members => Stage::Elements(Elements::new(Grain::Members, cap_bytes), reader),
                }
            }
        };
        self.push(&head, emit);
    }

    fn finish(mut self, damage: Option<Damage>, emit: Emit<'_>) -> Result<ReplaySummary, ReplayError> {
        if let Stage::Head(head) = &self.stage {
            let is_empty = head.trim_ascii().is_empty();
            match damage {
                Some(damage) if is_empty && !matches!(damage, Damage::Torn { .. }) => {
                    return Err(damage.into());
                }
                Some(damage) if is_empty => {
                    return Ok(ReplaySummary { damage: Some(damage), ..ReplaySummary::default() });
                }
                None if is_empty => {
                    let notes = vec!["the log is empty".to_owned()];
                    return Ok(ReplaySummary { notes, ..ReplaySummary::default() });
                }
                _ => self.begin(emit),
            }
        }
        // Nothing told that it is a log: then it is one only if a patch is in it.
        let is_guess = self.options.format.is_none()
            && self.reader().is_some_and(|reader| matches!(reader.log, Log::Generic(_)));
        let mut summary = match self.stage {
            Stage::Head(_) => ReplaySummary::default(),
            Stage::Refused(error) => return Err(error.into()),
            Stage::Lines(frame, mut reader) => {
                let framed = frame.finish(&mut |line| reader.line(line, emit));
                reader.cards.summary.lines += framed.lines;
                reader.cards.summary.skipped_long += framed.skipped_long;
                reader.finish(emit)
            }
            Stage::Elements(elements, mut reader) => {
                let framed = elements.finish(&mut |element| reader.element(element, emit));
                reader.cards.summary.lines += framed.lines;
                reader.cards.summary.skipped_long += framed.skipped_long;
                reader.cards.summary.torn_line = framed.torn_line;
                reader.finish(emit)
            }
        };
        summary.damage = damage;
        // Of a log whose beginning alone can be decoded nothing can be said.
        let is_beginning = matches!(summary.damage, Some(Damage::Torn { .. }));
        if is_guess && summary.cards == 0 && !is_beginning {
            return Err(DetectError::Unknown.into());
        }
        Ok(summary)
    }
}

impl Log {
    fn new(format: Format, passes_sub_agents: bool) -> Self {
        let Some(mut reader) = LogReader::new(format) else { return Log::Generic(Generic::default()) };
        if passes_sub_agents {
            reader.pass_sub_agents();
        }
        Log::Vendor(reader)
    }
}

impl Reader {
    /// Begins the same log again; which calls there were is still known.
    fn restart(&mut self) {
        let log = Log::new(self.cards.format, self.passes_sub_agents);
        if let Log::Vendor(log) = std::mem::replace(&mut self.log, log) {
            self.cards.count(&log);
        }
    }

    fn new(format: Format, options: ReplayOptions) -> Self {
        let cards = Cards {
            format,
            is_told: options.is_told,
            has_sections: options.has_sections,
            pairs: Pairs::new(format.id_scope()),
            first_folder: None,
            folder: None,
            recalled: Recalled::default(),
            summary: ReplaySummary::default(),
        };
        let passes_sub_agents = options.passes_sub_agents;
        Reader { log: Log::new(format, passes_sub_agents), cards, passes_sub_agents }
    }

    fn finish(self, emit: Emit<'_>) -> ReplaySummary {
        let Reader { log, mut cards, .. } = self;
        match log {
            Log::Vendor(mut log) => {
                log.finish(&mut |event| cards.take(event, emit));
                cards.count(&log);
            }
            Log::Generic(mut generic) => {
                generic.finish(&mut |event| cards.take(event, emit));
                let note = "read as any text or JSON, since no format was recognised: what became of the edits is not known";
                cards.summary.notes.push(note.to_owned());
            }
        }
        cards.summary.duplicates = cards.pairs.duplicates();
        for call in std::mem::take(&mut cards.pairs).finish() {
            cards.draw(call, None, emit);
        }
        cards.summary.notes.extend(cards.recalled.note());
        cards.summary
    }

    fn element(&mut self, element: Element<'_>, emit: Emit<'_>) {
        let Element { holder, line, bytes, is_torn, .. } = element;
        let Reader { log, cards, .. } = self;
        let readable = readable(bytes);
        let text = readable.text.as_ref();
        let mut take = |event: CallEvent<'_>| cards.take(event, emit);
        let read = match (log, holder) {
            (Log::Generic(generic), _) => generic.element(text, line, &mut take),
            (Log::Vendor(log), Holder::Root) => log.read(text, line, &mut take),
            (Log::Vendor(log), Holder::Item(key)) => log.read_item(key, text, line, &mut take),
            (Log::Vendor(log), Holder::Field(key)) => log.read_field(key, text, &mut take),
        };
        cards.summary.note(&read, &readable, line, is_torn);
    }

    fn line(&mut self, line: Line<'_>, emit: Emit<'_>) {
        let bytes = match line.number {
            1 => line.bytes.strip_prefix(UTF8_BOM).unwrap_or(line.bytes),
            _ => line.bytes,
        };
        let Reader { log, cards, .. } = self;
        let is_text = cards.format.is_text();
        if is_text && line.is_torn {
            cards.summary.torn_line = Some(line.number);
            return;
        }
        // A torn line is always parsed, to tell whether it is whole.
        let is_proposed = match log {
            Log::Vendor(log) => line.is_torn || log.proposes(bytes, &|call_id| cards.pairs.knows(call_id)),
            Log::Generic(_) => true,
        };
        if !is_proposed {
            return;
        }
        let readable = if is_text { readable_text(bytes) } else { readable(bytes) };
        let mut take = |event: CallEvent<'_>| cards.take(event, emit);
        let read = match log {
            Log::Vendor(log) => log.read(&readable.text, line.number, &mut take),
            Log::Generic(generic) => {
                generic.line(&readable.text, line.number, &mut take);
                Ok(())
            }
        };
        cards.summary.note(&read, &readable, line.number, line.is_torn);
    }
}

impl ReplaySummary {
    /// Takes down what became of a line or an element.
    fn note(
        &mut self,
        read: &Result<(), serde_json::Error>,
        readable: &Readable<'_>,
        line: usize,
        is_torn: bool,
    ) {
        match read {
            Ok(()) => self.replaced_characters += readable.replaced,
            Err(_) if is_torn => self.torn_line = Some(line),
            Err(_) => {
                self.bad_line_count += 1;
                if self.bad_lines.len() < LISTED_CAP {
                    self.bad_lines.push(line);
                }
            }
        }
    }
}

impl Cards {
    /// Adds what a reader counted.
    fn count(&mut self, log: &LogReader) {
        self.summary.unknown_events += log.unknown_events();
        self.summary.inherited_calls += log.inherited_calls();
    }

    fn take(&mut self, event: CallEvent<'_>, emit: Emit<'_>) {
        match event {
            CallEvent::Begin(begin) => self.pairs.begin(begin),
            CallEvent::Amended(begin) => self.pairs.amend(begin),
            CallEvent::Decided { call_id, refusal } => {
                self.pairs.decide(&call_id, refusal.map(|refusal| refusal.into_owned()));
            }
            CallEvent::Result(result) => {
                if let Some(call) = self.pairs.end(&result) {
                    self.draw(call, Some(*result), emit);
                }
            }
            CallEvent::Superseded { call_id } => self.pairs.supersede(&call_id),
            CallEvent::Folder(folder) => {
                // Some logs name it on every line.
                if self.folder.as_deref() != Some(&*folder) {
                    self.folder = Some(folder.into_owned());
                    self.first_folder = self.first_folder.take().or_else(|| self.folder.clone());
                }
            }
            CallEvent::Note(note) => {
                if self.summary.notes.len() < LISTED_CAP {
                    self.summary.notes.push(note);
                }
            }
        }
    }

    fn draw(&mut self, call: Call, mut result: Option<CallResult>, emit: Emit<'_>) {
        let whole = result.as_mut().map(|result| recalled::whole_texts(result, self.is_told));
        let whole = whole.unwrap_or_default();
        let drawn = if self.is_told {
            stored::draw_told(self.format.name(), call, result)
        } else {
            stored::draw(self.format.name(), call, result)
        };
        self.summary.replaced_characters += drawn.replaced;
        if let Some(mut card) = drawn.card {
            card.source.folder.clone_from(&self.folder);
            if self.has_sections {
                recalled::add_sections(&mut card, &whole);
            }
            self.recalled.take(&mut card, whole);
            self.summary.cards += 1;
            emit(card, drawn.told);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::report::CardStatus;
    use crate::report::FileDiff;
    use crate::report::RecordMeta;
    use format::dsh;
    use format::dsh::EventStamp;
    use format::dsh::LoggedResult;

    fn replay(blocks: &[&[u8]], line_cap_bytes: usize) -> (Vec<Card>, ReplaySummary) {
        let mut cards = Vec::new();
        let mut replay = Replay::new(ReplayOptions { line_cap_bytes, ..ReplayOptions::new(Format::Dsh) });
        for block in blocks {
            replay.push(block, &mut |card| cards.push(card));
        }
        let summary = replay.finish(&mut |card| cards.push(card)).unwrap();
        (cards, summary)
    }

    fn stamp(seq: u64) -> EventStamp {
        EventStamp { seq, time_ms: 100 + seq, turn: 1, step: 1 }
    }

    fn edit(seq: u64, call_id: &str) -> Vec<u8> {
        dsh::call_line(stamp(seq), call_id, "edit", r#"{"file_path":"a","old_string":"o","new_string":"n"}"#)
    }

    fn done(seq: u64, call_id: &str) -> Vec<u8> {
        let diff = FileDiff {
            path: "a".to_owned(),
            old_text: Some("x\no".to_owned()),
            new_text: "x\nn".to_owned(),
            ..FileDiff::default()
        };
        let meta = RecordMeta { diffs: vec![diff], ..RecordMeta::default() };
        let result =
            LoggedResult { call_id, call_seq: 0, ok: true, text: "ok", error: None, meta: Some(&meta) };
        dsh::result_line(stamp(seq), &result)
    }

    fn failed(seq: u64, call_id: &str) -> Vec<u8> {
        let result =
            LoggedResult { call_id, call_seq: 0, ok: false, text: "Error: no", error: None, meta: None };
        dsh::result_line(stamp(seq), &result)
    }

    /// A log with something of everything.
    fn log() -> Vec<u8> {
        [
            b"\xEF\xBB\xBF".to_vec(),
            dsh::header_line("s", 1, "/w"),
            edit(0, "late"),
            edit(1, "never"),
            edit(2, "fails"),
            b"{\"type\":\"assistant/chunk\",\"data\":{\"x\":\"tool/call\"}}\r\n".to_vec(),
            b"{\"type\":\"from/the/future\",\"seq\":3}\n\n".to_vec(),
            failed(4, "fails"),
            b"{\"type\":\"tool/call\",\"data\":{\n".to_vec(),
            dsh::call_line(stamp(5), "other", "read", "{}"),
            done(6, "other"),
            done(7, "late"),
            edit(0, "late"),
            done(7, "late"),
            dsh::call_line(stamp(8), "bad", "write", "{\"file_path\":"),
            dsh::call_line(stamp(9), "asks", "write", r#"{"file_path":"w","content":"\ud800"}"#),
            b"{\"type\":\"approval/asked\",\"data\":{\"id\":\"q\",\"callId\":\"asks\"}}\n".to_vec(),
            b"{\"type\":\"approval/decided\",\"data\":{\"id\":\"q\",\"outcome\":\"rejected\"}}\n".to_vec(),
            b"{\"type\":\"tool/call\",\"data\":{\"callId\":\"raw\",\"name\":\"edit\",\"arguments\":\"\xFF\"}}\n".to_vec(),
            vec![b'x'; 700],
            b"\n{\"type\":\"tool/res".to_vec(),
        ]
        .concat()
    }

    #[test]
    fn log_becomes_cards() {
        let (cards, summary) = replay(&[&log()], 600);
        let seen: Vec<_> = cards
            .iter()
            .map(|card| {
                (card.title.as_str(), card.status, card.source.line, card.source.call_id.as_deref().unwrap())
            })
            .collect();
        assert_eq!(
            seen,
            [
                ("edit a", CardStatus::Failed, 8, "fails"),
                ("edit a", CardStatus::Applied, 12, "late"),
                ("edit a", CardStatus::Unknown, 3, "never"),
                ("write", CardStatus::Unknown, 15, "bad"),
                ("write w", CardStatus::Rejected, 16, "asks"),
                ("edit", CardStatus::Unknown, 19, "raw"),
            ]
        );
        let wanted = ReplaySummary {
            lines: 21,
            cards: 6,
            unknown_events: 1,
            bad_lines: vec![9],
            bad_line_count: 1,
            skipped_long: 1,
            torn_line: Some(21),
            duplicates: 2,
            inherited_calls: 0,
            replaced_characters: 2,
            ..ReplaySummary::default()
        };
        assert_eq!(summary, wanted);
    }

    #[test]
    fn every_split_gives_the_same_cards() {
        let log = log();
        let whole = replay(&[&log], 600);
        for split in 0..=log.len() {
            assert_eq!(replay(&[&log[..split], &log[split..]], 600), whole, "{split}");
        }
        let bytes: Vec<&[u8]> = log.chunks(1).collect();
        assert_eq!(replay(&bytes, 600), whole);
    }

    #[test]
    fn a_log_that_is_written_anew_is_drawn_once() {
        let text = [dsh::header_line("s", 1, "/w"), edit(0, "c"), done(1, "c"), edit(2, "open")].concat();
        let mut ids = Vec::new();
        let mut emit = |card: Card| ids.push((card.source.call_id.unwrap(), card.source.line));
        let mut replay = Replay::new(ReplayOptions::default());
        replay.push(&text, &mut emit);
        replay.push(b"{\"torn", &mut emit);
        replay.settle(&mut emit);
        replay.restart();
        replay.push(&text, &mut emit);
        replay.push(&done(3, "open"), &mut emit);
        let summary = replay.finish(&mut emit).unwrap();
        assert_eq!(ids, [("c".to_owned(), 3), ("open".to_owned(), 5)]);
        assert_eq!((summary.duplicates, summary.torn_line, summary.lines), (3, None, 9));
    }

    #[test]
    fn cards_say_where_their_calls_ran() {
        let log = [dsh::header_line("s", 1, "/w"), edit(0, "c"), done(1, "c")].concat();
        let mut replay = Replay::new(ReplayOptions::new(Format::Dsh));
        let mut folders = Vec::new();
        replay.push(&log, &mut |card| folders.push(card.source.folder));
        assert_eq!(replay.format(), None);
        replay.settle(&mut |card| folders.push(card.source.folder));
        assert_eq!(replay.format(), Some(Format::Dsh));
        replay.push(&dsh::header_line("s", 1, "/w/sub"), &mut |_| {});
        replay.push(&[edit(2, "d"), done(3, "d")].concat(), &mut |card| folders.push(card.source.folder));
        assert_eq!(folders, [Some("/w".to_owned()), Some("/w/sub".to_owned())]);
        assert_eq!(replay.folder(), Some("/w"));
    }

    #[test]
    fn last_line_that_lacks_only_its_newline_is_read() {
        let log = [edit(0, "c"), done(1, "c")].concat();
        let (cards, summary) = replay(&[&log[..log.len() - 1]], 1000);
        assert_eq!((cards.len(), cards[0].status), (1, CardStatus::Applied));
        assert_eq!(summary.torn_line, None);
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        zstd::encode_all(text, 3).unwrap()
    }

    #[test]
    fn compressed_logs_are_read_like_plain_ones() {
        let log = log();
        let whole = replay(&[&log], 600);
        let half = log.len() / 2;
        // A frame for the header alone, then one for each batch of lines, as harnesses write them.
        let framed = [zstd(&log[..half]), zstd(&log[half..])].concat();
        for cut in [0, 1, 5, framed.len() / 3, framed.len() - 1, framed.len()] {
            assert_eq!(replay(&[&framed[..cut], &framed[cut..]], 600), whole, "{cut}");
        }
        let torn = [zstd(&edit(0, "c")), zstd(&done(1, "c")), zstd(&edit(2, "d"))].concat();
        let (cards, summary) = replay(&[&torn[..torn.len() - 2]], 600);
        assert_eq!((cards.len(), summary.torn_line), (1, None));
        assert!(matches!(summary.damage, Some(Damage::Torn { .. })));
    }

    #[test]
    fn documents_are_read_item_by_item() {
        let row = |line: Vec<u8>| String::from_utf8(line).unwrap().trim_end().to_owned();
        let rows = [row(edit(0, "c")), row(done(1, "c")), row(edit(2, "d"))];
        let seen = |log: &str| {
            let mut cards = Vec::new();
            let mut replay = Replay::new(ReplayOptions::default());
            replay.push(log.as_bytes(), &mut |_| {});
            let summary = replay.finish(&mut |card| cards.push((card.source.line, card.status))).unwrap();
            (cards, summary.torn_line, summary.bad_lines)
        };
        let wanted = vec![(3, CardStatus::Applied), (4, CardStatus::Unknown)];
        assert_eq!(seen(&format!("[\n{}\n]\n", rows.join(",\n"))), (wanted.clone(), None, Vec::new()));
        assert_eq!(seen(&format!("{{\"x\":[\n{}]}}", rows.join(",\n"))), (wanted.clone(), None, Vec::new()));
        let printed = |row: &str| format!("{{\n{}", &row[1..]);
        let roots = rows.iter().map(|row| printed(row)).collect::<Vec<_>>().join("\n");
        let wanted_roots = vec![(3, CardStatus::Applied), (5, CardStatus::Unknown)];
        assert_eq!(seen(&roots), (wanted_roots, None, Vec::new()));
        let torn = format!("[\n{},\n{},\n{{\"type", rows[0], rows[1]);
        assert_eq!(seen(&torn), (wanted[..1].to_vec(), Some(4), Vec::new()));
    }

    #[test]
    fn what_is_no_log_is_refused() {
        let refused = |input: &[u8]| {
            let mut replay = Replay::new(ReplayOptions::default());
            replay.push(input, &mut |_| {});
            replay.finish(&mut |_| {}).map_err(|error| error.to_string())
        };
        assert_eq!(refused(b"SQLite format 3\0").unwrap_err(), "SQLite database, not a session log");
        assert_eq!(refused(b"\0\0").unwrap_err(), "no session log that is known, and no patch in it");
        assert_eq!(refused(b" \n").unwrap().notes, ["the log is empty"]);
        let window = b"\x28\xB5\x2F\xFD\x00\xF0\x01\x00\x00";
        assert!(refused(window).unwrap_err().ends_with("needs a window of more than 128 MiB"));
        let torn = refused(&zstd(b"x")[..7]).unwrap();
        assert_eq!((torn.lines, torn.notes.len(), torn.damage.is_some()), (0, 0, true));
    }

    #[test]
    fn listed_numbers_are_bounded() {
        let (cards, summary) = replay(&[&b"bad\n".repeat(3 * LISTED_CAP)], 1000);
        assert_eq!((cards.len(), summary.bad_lines.len()), (0, LISTED_CAP));
        assert_eq!(summary.bad_line_count, 3 * LISTED_CAP);
    }

    /// The cards where every line is read, also those that tell of no edit.
    fn replay_without_skimming(format: Format, log: &[u8]) -> Vec<Card> {
        let Reader { log: Log::Vendor(mut log_reader), mut cards, .. } =
            Reader::new(format, ReplayOptions::new(format))
        else {
            panic!()
        };
        let mut drawn = Vec::new();
        for (index, line) in log.split(|&byte| byte == b'\n').enumerate() {
            let text = readable(line).text;
            // A blank line, or one that is cut off, is none.
            let _ = log_reader
                .read(&text, index + 1, &mut |event| cards.take(event, &mut |card, _| drawn.push(card)));
        }
        for call in std::mem::take(&mut cards.pairs).finish() {
            cards.draw(call, None, &mut |card, _| drawn.push(card));
        }
        drawn
    }

    #[test]
    fn lines_that_are_skipped_would_change_nothing() {
        let claude = [
            include_str!("../../tests/logs/claude/early.jsonl"),
            include_str!("../../tests/logs/claude/resumed.jsonl"),
            include_str!("../../tests/logs/claude/stream.jsonl"),
            include_str!("../../tests/logs/claude/transcript.jsonl"),
        ];
        for log in claude {
            let mut cards = Vec::new();
            let mut replay = Replay::new(ReplayOptions::new(Format::ClaudeCode));
            replay.push(log.as_bytes(), &mut |card| cards.push(card));
            replay.finish(&mut |card| cards.push(card)).unwrap();
            assert_eq!(replay_without_skimming(Format::ClaudeCode, log.as_bytes()), cards);
        }
    }

    /// One random change of a log.
    fn damaged(mut log: Vec<u8>, changes: &[(prop::sample::Index, u8)]) -> Vec<u8> {
        for (at, byte) in changes {
            let at = at.index(log.len());
            log[at] = *byte;
        }
        log
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), cut: prop::sample::Index) {
            let cut = cut.index(bytes.len() + 1);
            let whole = replay(&[&bytes], 50);
            prop_assert_eq!(replay(&[&bytes[..cut], &bytes[cut..]], 50), whole);
        }

        #[test]
        fn damaged_logs_never_panic(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        ) {
            let log = damaged(log(), &changes);
            replay(&[&log], 600);
        }
    }
}
