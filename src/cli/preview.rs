//! `preview`: chunks as they arrive, the timer, and the screen. Writes no file but a tape.

use std::fs::File;
use std::io;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;
use std::time::Instant;

use signal_hook::consts;

use crate::disk::Access;
use crate::disk::input::Blocks;
use crate::disk::input::create_file;
use crate::disk::root::Looks;
use crate::disk::root::Root;
use crate::patch::FileEdit;
use crate::plan::Options;
use crate::plan::Planner;
use crate::render::acp::Acp;
use crate::report::PreviewEvent;
use crate::session::calls::CallOptions;
use crate::session::calls::Calls;
use crate::session::calls::Step;
use crate::session::format::tape::TapeDelta;
use crate::session::format::tape::TapeReader;
use crate::session::format::tape::tape_line;

use super::apply::options;
use super::args::Globals;
use super::args::PreviewArgs;
use super::args::PreviewOutput;
use super::change;
use super::exit::Exit;
use super::fail::Fail;
use super::feed::Delta;
use super::feed::Feed;
use super::feed::tape_fail;
use super::screen::Screen;
use super::streams::Console;
use super::streams::no_input;
use super::streams::stdin_is_terminal;

/// So many chunks wait between the reader and the screen; then the writer of the stream waits.
const QUEUED_CHUNKS: usize = 64;

/// What the threads tell the main loop.
pub enum Message {
    /// Bytes of the input.
    Chunk(Vec<u8>),
    /// Its end.
    End,
    /// It can't be read any further.
    Failed(io::Error),
    /// A signal that ends the run.
    Interrupted,
    /// The terminal has another size.
    Resized,
}

/// How a stream went on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    On,
    /// A hunk can't fit, and that is enough.
    CannotFit,
    /// Nobody reads any more.
    Closed,
}

/// Runs the command.
pub fn run(args: &PreviewArgs, globals: &Globals, console: &Console) -> Result<Exit, Fail> {
    let input = args.input.as_deref().filter(|path| *path != Path::new("-"));
    if input.is_none() && stdin_is_terminal() {
        return Err(no_input("patch"));
    }
    let mut run = Run::new(args, globals, console)?;
    let messages = listen(input)?;
    loop {
        let message = match run.wait_ms() {
            Some(wait_ms) => match messages.recv_timeout(Duration::from_millis(wait_ms)) {
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    if run.tick() == Flow::Closed {
                        return Ok(Exit::Done);
                    }
                    continue;
                }
                other => other.ok(),
            },
            None => messages.recv().ok(),
        };
        let flow = match message {
            Some(Message::Chunk(chunk)) => run.take(&chunk)?,
            Some(Message::Interrupted) => return run.interrupted(),
            Some(Message::Resized) => run.resized(),
            Some(Message::Failed(error)) => {
                let path = input.unwrap_or(Path::new("standard input"));
                return Err(Fail::io("read", path, &error));
            }
            Some(Message::End) | None => return run.finish(console),
        };
        match flow {
            Flow::On => {}
            Flow::CannotFit => return run.stop(console),
            Flow::Closed => return Ok(Exit::Done),
        }
    }
}

/// Plays a tape that is held in memory; with `paced`, at the cadence that it was recorded with.
pub fn play(
    tape: &[u8],
    args: &PreviewArgs,
    globals: &Globals,
    console: &Console,
    paced: bool,
) -> Result<Exit, Fail> {
    let mut run = Run::new(args, globals, console)?;
    let start = Instant::now();
    for line in tape.split_inclusive(|&byte| byte == b'\n') {
        if paced && let Some(delta) = TapeReader::default().line(line).map_err(|error| tape_fail(&error))? {
            let at = start + Duration::from_millis(delta.time_ms);
            std::thread::sleep(at.saturating_duration_since(Instant::now()));
        }
        match run.take(line)? {
            Flow::On => {}
            Flow::CannotFit => return run.stop(console),
            Flow::Closed => return Ok(Exit::Done),
        }
    }
    run.finish(console)
}

/// Starts the threads that read the input and listen for signals.
pub fn listen(input: Option<&Path>) -> Result<mpsc::Receiver<Message>, Fail> {
    let (sender, messages) = mpsc::sync_channel(QUEUED_CHUNKS);
    let signals = sender.clone();
    if let Ok(mut pending) =
        signal_hook::iterator::Signals::new([consts::SIGINT, consts::SIGTERM, consts::SIGWINCH])
    {
        std::thread::spawn(move || {
            for signal in pending.forever() {
                let message =
                    if signal == consts::SIGWINCH { Message::Resized } else { Message::Interrupted };
                if signals.send(message).is_err() {
                    return;
                }
            }
        });
    }
    match input {
        Some(path) => {
            let blocks = Blocks::open(path).map_err(|error| Fail::io("read", path, &error))?;
            std::thread::spawn(move || read(blocks, &sender));
        }
        None => {
            std::thread::spawn(move || read(Blocks::over(io::stdin()), &sender));
        }
    }
    Ok(messages)
}

fn read<R: io::Read>(mut blocks: Blocks<R>, sender: &mpsc::SyncSender<Message>) {
    loop {
        let message = match blocks.next_block() {
            Ok(Some(block)) => Message::Chunk(block.to_vec()),
            Ok(None) => Message::End,
            Err(error) => Message::Failed(error),
        };
        let goes_on = matches!(message, Message::Chunk(_));
        if sender.send(message).is_err() || !goes_on {
            return;
        }
    }
}

/// One preview run.
struct Run<'a> {
    calls: Calls,
    feed: Feed,
    root: Option<Root>,
    screen: Screen,
    recorder: Option<Recorder>,
    args: &'a PreviewArgs,
    start: Instant,
    /// A tape's own time, which is then the clock.
    tape_ms: Option<u64>,
    closed: bool,
}

impl<'a> Run<'a> {
    fn new(args: &'a PreviewArgs, globals: &Globals, console: &Console) -> Result<Self, Fail> {
        let root = if args.no_locate { None } else { Some(change::open_root(&globals.root)?) };
        let options = CallOptions {
            interval_ms: args.interval,
            locate: root.is_some().then(|| Options { encoding: args.encoding, ..options(&args.matching) }),
            dialect: args.dialect.map(Into::into),
            text_patches: args.text_patches,
            keeps_ended: false,
        };
        let output = if console.is_json { PreviewOutput::Json } else { args.output };
        let base = match &root {
            Some(root) => root.dir().to_path_buf(),
            None => std::path::absolute(&globals.root).unwrap_or_else(|_| globals.root.clone()),
        };
        let acp = Acp::new(args.acp_version.into(), &base.to_string_lossy());
        Ok(Run {
            calls: Calls::new(options),
            feed: Feed::new(args.transport),
            root,
            screen: Screen::new(console.out_style, output, console.is_quiet, acp),
            recorder: args.record.as_deref().map(Recorder::create).transpose()?,
            args,
            start: Instant::now(),
            tape_ms: None,
            closed: false,
        })
    }

    fn now_ms(&self) -> u64 {
        self.tape_ms.unwrap_or_else(|| u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    /// Returns how long the waiting preview still waits; a tape's previews wait for the tape.
    fn wait_ms(&self) -> Option<u64> {
        let due = self.calls.due().filter(|_| self.tape_ms.is_none())?;
        Some(due.saturating_sub(self.now_ms()))
    }

    fn tick(&mut self) -> Flow {
        self.with_calls(|calls, _, step| calls.tick(step));
        self.flow()
    }

    fn flow(&self) -> Flow {
        if self.closed {
            Flow::Closed
        } else if self.args.fail_fast && self.calls.cannot_fit() {
            Flow::CannotFit
        } else {
            Flow::On
        }
    }

    /// Lends the calls together with the time, the files that they may ask for and the screen.
    fn with_calls<T>(&mut self, act: impl FnOnce(&mut Calls, &mut Feed, &mut Step<'_, '_, '_>) -> T) -> T {
        let now_ms = self.now_ms();
        let Run { calls, feed, root, screen, closed, .. } = self;
        let mut fill = |planner: &mut Planner, edit: &FileEdit| {
            if let Some(root) = root {
                let mut looks = Looks::new(root);
                planner.fill(edit, &mut |want| looks.answer(want, Access::default()));
            }
        };
        let mut emit = |event: &PreviewEvent| *closed |= screen.show(event).is_err();
        act(calls, feed, &mut Step { now_ms, fill: &mut fill, emit: &mut emit })
    }

    /// Takes bytes of the input.
    fn take(&mut self, bytes: &[u8]) -> Result<Flow, Fail> {
        for delta in self.feed.tape.take(bytes)? {
            match delta {
                Delta::Now(bytes) => {
                    let now_ms = self.now_ms();
                    self.delta(&bytes, now_ms)?;
                }
                Delta::Taped(delta) => self.taped(&delta)?,
            }
            let flow = self.flow();
            if flow != Flow::On {
                return Ok(flow);
            }
        }
        Ok(Flow::On)
    }

    fn taped(&mut self, delta: &TapeDelta) -> Result<(), Fail> {
        // What was due before this delta came goes out at its own time.
        while let Some(due) = self.calls.due().filter(|&due| due <= delta.time_ms) {
            self.tape_ms = Some(due);
            self.tick();
        }
        self.tape_ms = Some(delta.time_ms);
        self.delta(delta.text.as_bytes(), delta.time_ms)
    }

    fn delta(&mut self, text: &[u8], now_ms: u64) -> Result<(), Fail> {
        if let Some(recorder) = &mut self.recorder {
            recorder.record(text, now_ms)?;
        }
        self.with_calls(|calls, feed, step| feed.push(text, calls, step));
        Ok(())
    }

    fn finish(mut self, console: &Console) -> Result<Exit, Fail> {
        for delta in self.feed.tape.finish()? {
            match delta {
                Delta::Now(bytes) => {
                    let now_ms = self.now_ms();
                    self.delta(&bytes, now_ms)?;
                }
                Delta::Taped(delta) => self.taped(&delta)?,
            }
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.finish()?;
        }
        self.with_calls(|calls, feed, step| feed.finish(calls, step));
        self.end(console)
    }

    fn stop(mut self, console: &Console) -> Result<Exit, Fail> {
        if let Some(recorder) = &mut self.recorder {
            recorder.finish()?;
        }
        self.with_calls(|calls, _, step| calls.stop(step));
        self.end(console)
    }

    fn end(self, console: &Console) -> Result<Exit, Fail> {
        for note in self.calls.notes().iter().chain(&self.feed.notes()) {
            console.note(note);
        }
        Ok(match (self.calls.is_malformed(), self.calls.cannot_fit() && self.args.fail_fast) {
            (true, _) => Exit::Trouble,
            (false, true) => Exit::Refused,
            (false, false) => Exit::Done,
        })
    }

    /// Draws what waits on the terminal for its size.
    fn resized(&mut self) -> Flow {
        self.closed |= self.screen.resized().is_err();
        self.flow()
    }

    /// Ctrl-C: the last preview stays, all of it.
    fn interrupted(mut self) -> Result<Exit, Fail> {
        // Who reads no more has seen enough.
        let _ = self.screen.leave();
        if let Some(recorder) = &mut self.recorder {
            recorder.finish()?;
        }
        Ok(Exit::Interrupted)
    }
}

/// Writes a stream with its times to a tape.
struct Recorder {
    file: File,
    path: std::path::PathBuf,
    /// The beginning of a character whose rest has not come.
    held: Vec<u8>,
    last_ms: u64,
}

impl Recorder {
    fn create(path: &Path) -> Result<Self, Fail> {
        let file = create_file(path).map_err(|error| Fail::io("write", path, &error))?;
        Ok(Recorder { file, path: path.to_owned(), held: Vec::new(), last_ms: 0 })
    }

    fn record(&mut self, bytes: &[u8], now_ms: u64) -> Result<(), Fail> {
        self.last_ms = now_ms;
        self.held.extend_from_slice(bytes);
        let rest = incomplete_suffix(&self.held);
        let whole = self.held.len() - rest;
        let text = String::from_utf8_lossy(&self.held[..whole]).into_owned();
        self.held.drain(..whole);
        self.write(&text, now_ms)
    }

    fn finish(&mut self) -> Result<(), Fail> {
        let held = std::mem::take(&mut self.held);
        let text = String::from_utf8_lossy(&held).into_owned();
        self.write(&text, self.last_ms)
    }

    fn write(&mut self, text: &str, now_ms: u64) -> Result<(), Fail> {
        if text.is_empty() {
            return Ok(());
        }
        let line = tape_line(now_ms, text);
        self.file.write_all(&line).map_err(|error| Fail::io("write", &self.path, &error))
    }
}

/// Returns how many bytes at the end are the beginning of a character that goes on.
fn incomplete_suffix(bytes: &[u8]) -> usize {
    let tail = &bytes[bytes.len().saturating_sub(3)..];
    match std::str::from_utf8(tail) {
        Ok(_) => 0,
        Err(_) => (1..=tail.len())
            .find(|&length| {
                let suffix = &tail[tail.len() - length..];
                matches!(std::str::from_utf8(suffix), Err(error) if error.valid_up_to() == 0 && error.error_len().is_none())
            })
            .unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_character_is_held_back() {
        for (bytes, held) in [
            ("é".as_bytes(), 0),
            (&"é".as_bytes()[..1], 1),
            (&"a😀".as_bytes()[..4], 3),
            (b"a\xFF", 0),
            (b"abc", 0),
        ] {
            assert_eq!(incomplete_suffix(bytes), held, "{bytes:?}");
        }
    }
}
