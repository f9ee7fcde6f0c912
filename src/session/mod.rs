//! Calls of a model in, live or stored; cards out.
//!
//! Bytes of a log go through [`frame`] (lines), [`mod@format`] (events), [`pair`] (call and result) and [`stored`]
//! (cards); [`Replay`] holds them together. No file is opened and no clock is read here.

pub mod calls;
mod change;
pub mod event;
pub mod format;
pub mod frame;
pub mod live;
pub mod pair;
pub mod requested;
pub mod sse;
pub mod stored;
pub mod text_patches;
pub mod throttle;
pub mod undo;

use crate::report::Card;

use event::CallEvent;
use event::CallResult;
use format::Format;
use format::log::LogReader;
use frame::Frame;
use frame::Line;
use frame::readable;
use pair::Call;
use pair::Pairs;

pub use format::detect;
pub use live::Input;
pub use live::Live;
pub use throttle::Throttle;

/// How many numbers of bad lines, and how many notes, a summary holds.
const LISTED_CAP: usize = 100;

/// How a log is replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayOptions {
    /// The log's format, as [`detect`] or the user names it.
    pub format: Format,
    /// The longest line that is read, in bytes; a longer one is skipped and counted.
    pub line_cap_bytes: usize,
}

impl ReplayOptions {
    /// Returns the options for a log of that format.
    pub fn new(format: Format) -> Self {
        ReplayOptions { format, line_cap_bytes: frame::LINE_CAP_BYTES }
    }
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
    /// Count of lines that were too long to be read.
    pub skipped_long: usize,
    /// 1-based number of a last line that is cut off; one that is whole but for its newline is read.
    pub torn_line: Option<usize>,
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
/// let summary = replay.finish(&mut |card| titles.push(card.title));
/// assert_eq!(titles, ["edit a"]);
/// assert_eq!(summary.lines, 2);
/// ```
#[derive(Debug)]
pub struct Replay {
    frame: Frame,
    reader: Reader,
}

/// All but the frame, so that a line can be lent while this changes.
#[derive(Debug)]
struct Reader {
    log: LogReader,
    cards: Cards,
}

/// What the events of a log become, and what is kept for that.
#[derive(Debug)]
struct Cards {
    format: Format,
    pairs: Pairs,
    /// The folder that the session began in.
    first_folder: Option<String>,
    /// The folder that calls run in now.
    folder: Option<String>,
    summary: ReplaySummary,
}

impl Replay {
    /// Begins a log.
    pub fn new(options: ReplayOptions) -> Self {
        let cards = Cards {
            format: options.format,
            pairs: Pairs::new(options.format.id_scope()),
            first_folder: None,
            folder: None,
            summary: ReplaySummary::default(),
        };
        let reader = Reader { log: LogReader::new(options.format), cards };
        Replay { frame: Frame::with_cap(options.line_cap_bytes), reader }
    }

    /// Takes the next block; emits the card of every call whose result ends in it.
    pub fn push(&mut self, block: &[u8], emit: &mut dyn FnMut(Card)) {
        let reader = &mut self.reader;
        self.frame.push(block, &mut |line| reader.line(line, emit));
    }

    /// Returns the folder that the session began in, as the log names it; nothing before the log has named one.
    pub fn folder(&self) -> Option<&str> {
        self.reader.cards.first_folder.as_deref()
    }

    /// Ends the log; emits the cards of the calls without a result, in the order of the calls.
    pub fn finish(self, emit: &mut dyn FnMut(Card)) -> ReplaySummary {
        let Replay { frame, mut reader } = self;
        let framed = frame.finish(&mut |line| reader.line(line, emit));
        let Reader { log, mut cards } = reader;
        cards.summary.lines = framed.lines;
        cards.summary.skipped_long = framed.skipped_long;
        cards.summary.unknown_events = log.unknown_events();
        cards.summary.inherited_calls = log.inherited_calls();
        cards.summary.duplicates = cards.pairs.duplicates();
        for call in std::mem::take(&mut cards.pairs).finish() {
            cards.draw(call, None, emit);
        }
        cards.summary
    }
}

impl Reader {
    fn line(&mut self, line: Line<'_>, emit: &mut dyn FnMut(Card)) {
        let bytes = match line.number {
            1 => line.bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line.bytes),
            _ => line.bytes,
        };
        let Reader { log, cards } = self;
        // A torn line is always parsed, to tell whether it is whole.
        if !line.is_torn && !log.proposes(bytes, &|call_id| cards.pairs.knows(call_id)) {
            return;
        }
        let readable = readable(bytes);
        let read = log.read(&readable.text, line.number, &mut |event| cards.take(event, emit));
        let summary = &mut cards.summary;
        match read {
            Ok(()) => summary.replaced_characters += readable.replaced,
            Err(_) if line.is_torn => summary.torn_line = Some(line.number),
            Err(_) => {
                summary.bad_line_count += 1;
                if summary.bad_lines.len() < LISTED_CAP {
                    summary.bad_lines.push(line.number);
                }
            }
        }
    }
}

impl Cards {
    fn take(&mut self, event: CallEvent<'_>, emit: &mut dyn FnMut(Card)) {
        match event {
            CallEvent::Begin(begin) => self.pairs.begin(begin),
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

    fn draw(&mut self, call: Call, result: Option<CallResult>, emit: &mut dyn FnMut(Card)) {
        let drawn = stored::draw(self.format.name(), call, result);
        self.summary.replaced_characters += drawn.replaced;
        if let Some(mut card) = drawn.card {
            card.source.folder.clone_from(&self.folder);
            self.summary.cards += 1;
            emit(card);
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
        let mut replay = Replay::new(ReplayOptions { format: Format::Dsh, line_cap_bytes });
        for block in blocks {
            replay.push(block, &mut |card| cards.push(card));
        }
        let summary = replay.finish(&mut |card| cards.push(card));
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
            notes: Vec::new(),
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
    fn cards_say_where_their_calls_ran() {
        let log = [dsh::header_line("s", 1, "/w"), edit(0, "c"), done(1, "c")].concat();
        let mut replay = Replay::new(ReplayOptions::new(Format::Dsh));
        let mut folders = Vec::new();
        replay.push(&log, &mut |card| folders.push(card.source.folder));
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

    #[test]
    fn listed_numbers_are_bounded() {
        let (cards, summary) = replay(&[&b"bad\n".repeat(3 * LISTED_CAP)], 1000);
        assert_eq!((cards.len(), summary.bad_lines.len()), (0, LISTED_CAP));
        assert_eq!(summary.bad_line_count, 3 * LISTED_CAP);
    }

    /// The cards where every line is read, also those that tell of no edit.
    fn replay_without_skimming(format: Format, log: &[u8]) -> Vec<Card> {
        let Replay { frame: _, reader: Reader { log: mut log_reader, mut cards } } =
            Replay::new(ReplayOptions::new(format));
        let mut drawn = Vec::new();
        for (index, line) in log.split(|&byte| byte == b'\n').enumerate() {
            let text = readable(line).text;
            // A blank line, or one that is cut off, is none.
            let _ = log_reader
                .read(&text, index + 1, &mut |event| cards.take(event, &mut |card| drawn.push(card)));
        }
        for call in std::mem::take(&mut cards.pairs).finish() {
            cards.draw(call, None, &mut |card| drawn.push(card));
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
            replay.finish(&mut |card| cards.push(card));
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
