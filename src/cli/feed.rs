//! The bytes of an input to the calls in it: a tape or none, then text, server-sent events or JSON Lines.

use crate::patch::lines::LineBuffer;
use crate::report::Code;
use crate::report::Problem;
use crate::session::calls::Calls;
use crate::session::calls::Step;
use crate::session::format::stream::StreamReader;
use crate::session::format::stream::is_stream;
use crate::session::format::tape::TapeDelta;
use crate::session::format::tape::TapeError;
use crate::session::format::tape::TapeReader;
use crate::session::sse::Framing;
use crate::session::sse::Payloads;
use crate::session::sse::looks_like_sse;
use crate::text::document::UTF8_BOM;

use super::args::Transport;
use super::fail::Fail;

/// So many bytes of a first line are waited for, to tell what the input is; a longer one is no event.
const DETECT_CAP_BYTES: usize = 4 << 20;

/// Takes an input apart.
pub struct Feed {
    /// The tape, or what tells that there is none.
    pub tape: Tape,
    /// What is on the tape, or the input itself.
    inner: Inner,
    reader: StreamReader,
    skipped_long: usize,
}

/// Where the text of the input goes.
enum Inner {
    /// What it is, is not known yet: this came so far.
    Open(Vec<u8>),
    Text,
    Stream(Payloads),
    Ended,
}

impl Feed {
    /// Returns the feed for an input of that kind.
    pub fn new(transport: Transport) -> Self {
        let (tape, inner) = match transport {
            Transport::Auto => (Kind::Open(Vec::new()), Inner::Open(Vec::new())),
            Transport::Tape => (Kind::Tape, Inner::Open(Vec::new())),
            Transport::Text => (Kind::None, Inner::Text),
            Transport::Sse => (Kind::None, Inner::Stream(Payloads::new(Framing::Sse))),
            Transport::Jsonl => (Kind::None, Inner::Stream(Payloads::new(Framing::Lines))),
        };
        Feed {
            tape: Tape { kind: tape, reader: TapeReader::default(), lines: LineBuffer::default() },
            inner,
            reader: StreamReader::default(),
            skipped_long: 0,
        }
    }

    /// Takes text of the input, off its tape.
    pub fn push(&mut self, text: &[u8], calls: &mut Calls, step: &mut Step<'_, '_, '_>) {
        let Feed { inner, reader, .. } = self;
        if let Inner::Open(head) = inner {
            head.extend_from_slice(text);
            let Some(found) = detect(head) else { return };
            let head = std::mem::take(head);
            *inner = found;
            self.push(&head, calls, step);
            return;
        }
        match inner {
            Inner::Text => {
                if calls.count() == 0 {
                    calls.open_raw();
                }
                calls.push_raw(text, step);
            }
            Inner::Stream(payloads) => payloads.push(text, &mut |payload| {
                reader.read(payload.bytes, payload.is_torn, &mut |event| calls.take(event, step));
            }),
            Inner::Open(_) | Inner::Ended => {}
        }
    }

    /// Ends the input and the calls in it.
    pub fn finish(&mut self, calls: &mut Calls, step: &mut Step<'_, '_, '_>) {
        if let Inner::Open(head) = &self.inner {
            let head = head.clone();
            self.inner = detect(&[&head, b"\n".as_slice()].concat()).unwrap_or(Inner::Text);
            self.push(&head, calls, step);
        }
        let Feed { reader, .. } = self;
        match std::mem::replace(&mut self.inner, Inner::Ended) {
            Inner::Stream(payloads) => {
                self.skipped_long += payloads.finish(&mut |payload| {
                    reader.read(payload.bytes, payload.is_torn, &mut |event| calls.take(event, step));
                });
            }
            Inner::Text if calls.count() == 0 => calls.open_raw(),
            Inner::Text | Inner::Open(_) | Inner::Ended => {}
        }
        calls.finish(step);
    }

    /// Returns what a person should know of the input.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.reader.unreadable() > 0 {
            notes.push(format!("{} events of the stream are not valid JSON", self.reader.unreadable()));
        }
        if self.skipped_long > 0 {
            notes.push(format!("{} events of the stream were too long to be read", self.skipped_long));
        }
        notes
    }
}

/// Tells what an input is by its first line that is not blank; `None` while that is not complete.
fn detect(head: &[u8]) -> Option<Inner> {
    match looks_like_sse(head) {
        Some(true) => return Some(Inner::Stream(Payloads::new(Framing::Sse))),
        None if head.len() < 16 && !head.ends_with(b"\n") => return None,
        None | Some(false) => {}
    }
    let line = match first_line(head) {
        First::Line(line) => line,
        First::Open => return None,
        First::Text => return Some(Inner::Text),
    };
    Some(if is_stream(line) { Inner::Stream(Payloads::new(Framing::Lines)) } else { Inner::Text })
}

enum First<'a> {
    /// The first line that is not blank begins an object.
    Line(&'a [u8]),
    /// It may, but is not complete.
    Open,
    Text,
}

fn first_line(head: &[u8]) -> First<'_> {
    let text = head.strip_prefix(UTF8_BOM).unwrap_or(head).trim_ascii_start();
    match text.first() {
        None => First::Open,
        Some(b'{') => match memchr::memchr(b'\n', text) {
            Some(length) => First::Line(&text[..length]),
            None if text.len() > DETECT_CAP_BYTES => First::Text,
            None => First::Open,
        },
        Some(_) => First::Text,
    }
}

/// A piece of text and when it came.
pub enum Delta {
    /// Now.
    Now(Vec<u8>),
    /// At a tape's time.
    Taped(TapeDelta),
}

/// The tape that an input may be.
pub struct Tape {
    kind: Kind,
    reader: TapeReader,
    lines: LineBuffer,
}

enum Kind {
    Open(Vec<u8>),
    Tape,
    None,
}

impl Tape {
    /// Takes bytes of the input; hands out the text in it.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Vec<Delta>, Fail> {
        match &mut self.kind {
            Kind::None => Ok(vec![Delta::Now(bytes.to_vec())]),
            Kind::Open(head) => {
                head.extend_from_slice(bytes);
                let is_tape = match first_line(head) {
                    First::Open => return Ok(Vec::new()),
                    First::Line(line) => TapeReader::default().line(line).is_ok_and(|delta| delta.is_some()),
                    First::Text => false,
                };
                let head = std::mem::take(head);
                self.kind = if is_tape { Kind::Tape } else { Kind::None };
                self.take(&head)
            }
            Kind::Tape => {
                let mut lines = Vec::new();
                let cut = self.lines.push(bytes, |_, line| lines.push(line.to_vec()));
                cut.map_err(|error| Fail::new(Problem::new(Code::Malformed, error.to_string())))?;
                self.deltas(lines)
            }
        }
    }

    /// Ends the input.
    pub fn finish(&mut self) -> Result<Vec<Delta>, Fail> {
        if let Kind::Open(head) = &self.kind {
            let head = head.clone();
            let line = head.trim_ascii();
            let is_tape = TapeReader::default().line(line).is_ok_and(|delta| delta.is_some());
            self.kind = if is_tape { Kind::Tape } else { Kind::None };
            let mut deltas = self.take(&head)?;
            deltas.extend(self.finish()?);
            return Ok(deltas);
        }
        let unfinished = self.lines.take_unfinished();
        self.deltas(unfinished.into_iter().map(|(_, line)| line).collect())
    }

    fn deltas(&mut self, lines: Vec<Vec<u8>>) -> Result<Vec<Delta>, Fail> {
        let mut deltas = Vec::new();
        for line in lines {
            let delta = self.reader.line(&line).map_err(|error| tape_fail(&error))?;
            deltas.extend(delta.map(Delta::Taped));
        }
        Ok(deltas)
    }
}

/// Says what is wrong with a tape.
pub fn tape_fail(error: &TapeError) -> Fail {
    let hint = "a tape's lines are {\"t\":MILLISECONDS,\"delta\":\"text\"}";
    Fail::new(Problem::new(Code::Malformed, error.to_string()).with_hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_told_by_its_first_line() {
        let check = |head: &[u8], wanted: &str| {
            let found = match detect(head) {
                None => "open",
                Some(Inner::Text) => "text",
                Some(Inner::Stream(_)) => "stream",
                Some(Inner::Open(_) | Inner::Ended) => "?",
            };
            assert_eq!(found, wanted, "{}", head.escape_ascii());
        };
        check(b"*** Begin Patch\n", "text");
        check(b"", "open");
        check(b"da", "open");
        check(b"data: {", "stream");
        check(b"data\n", "text");
        check(b"{\"type\":", "open");
        check(b"{}\n", "text");
        check(b"{\"type\":\"response.created\"}\n", "stream");
        check(b"\n{\"type\":\"ping\"}\r\n", "stream");
        check(b"{\"event\":\"x\",\"data\":\"{\\\"choices\\\":[]}\"}\n", "stream");
    }

    #[test]
    fn a_tape_is_told_from_other_lines() {
        let check = |input: &[u8], wanted: usize| {
            let mut feed = Feed::new(Transport::Auto);
            let mut deltas = feed.tape.take(input).unwrap();
            deltas.extend(feed.tape.finish().unwrap());
            assert_eq!(deltas.iter().filter(|delta| matches!(delta, Delta::Taped(_))).count(), wanted);
        };
        check(b"*** Begin Patch\n", 0);
        check(b"\n{\"t\":0,\"delta\":\"x\"}\n{\"t\":1,\"delta\":\"y\"}", 2);
        check(b"{\"t\":0,\"delta\":\"x\"}", 1);
        check(b"{}\n", 0);
    }
}
