//! `replay --follow`: goes on as logs grow.
//!
//! What the system tells of changes is a hint to look, never the truth: every log is looked at on a timer too. Where the
//! system tells nothing (network file systems, no watches left), all comes a little later and nothing is missed.

use std::collections::BTreeSet;
use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::io::Read;
use std::path::Path;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;
use std::time::Instant;

use notify::EventKind;
use notify::RecursiveMode;
use notify::Watcher;

use crate::disk::follow::Change;
use crate::disk::follow::FollowedFile;
use crate::disk::follow::Found;
use crate::disk::follow::allow_many_files;
use crate::disk::input::Blocks;
use crate::disk::input::is_stream;
use crate::disk::input::open_file;
use crate::disk::input::real_path;
use crate::disk::reason;
use crate::disk::sessions::files_below;
use crate::session::Replay;
use crate::session::ReplayError;
use crate::session::ReplaySummary;

use super::args::ReplayArgs;
use super::exit::Exit;
use super::fail::Fail;
use super::logs::Log;
use super::logs::is_stdin;
use super::printer::Printer;
use super::printer::View;
use super::replay::Task;
use super::replay::Verdict;
use super::replay::no_log;
use super::streams::Console;
use super::streams::stdout_is_closed;

/// How often logs are looked at, and standard output with them.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// New logs are looked for below folders for at most this part of the time.
const SEARCH_SHARE: u32 = 20;

/// So much of a log is read before others, and signals, have their turn.
const LOOK_BYTES: usize = 4 << 20;

/// So many messages wait; then their senders do.
const QUEUED_MESSAGES: usize = 16;

/// How much of a log's first line is kept, to see whether a file that was written anew is the same log.
const FIRST_LINE_BYTES: usize = 1 << 10;

/// How long a run that was interrupted may take to end: its output may be stuck.
const END_WITHIN: Duration = Duration::from_secs(1);

/// What the threads tell the main loop.
enum Message {
    /// Something may have changed.
    Look,
    /// Bytes of the log of that number, which is no file.
    Chunk(usize, Vec<u8>),
    /// Its end.
    End(usize),
    /// It can't be read any further.
    Failed(usize, io::Error),
    /// A signal that ends the run.
    Interrupted,
}

/// Follows the logs until they are over, which files never are.
pub fn run(task: Task, args: &ReplayArgs, console: &Console) -> Result<Exit, Fail> {
    let (sender, messages) = mpsc::sync_channel(QUEUED_MESSAGES);
    listen_for_signals(sender.clone());
    // The watcher comes before the first look: what changes between them is not missed.
    let named: Vec<PathBuf> =
        task.logs.list.iter().filter(|log| !log.is_found).map(|log| log.path.clone()).collect();
    let folders = task.logs.folders.clone();
    let _watcher = if args.poll.is_none() { watch(&named, &folders, &sender, console) } else { None };
    if !folders.is_empty() {
        allow_many_files();
    }
    let interval = args.poll.map_or(LOOK_INTERVAL, |poll| Duration::from_millis(poll.max(1)));
    let mut follow = Follow::new(task, console);
    follow.start_streams(&sender);
    // Held on, so that the channel lives as long as the loop.
    let _sender = sender;
    loop {
        follow.search();
        let has_more = follow.look();
        if follow.printer.is_closed() || stdout_is_closed() {
            follow.printer.finish()?;
            return Ok(Exit::Done);
        }
        if folders.is_empty() && follow.logs.iter().all(|log| matches!(log.source, Source::Over)) {
            follow.printer.finish()?;
            return Ok(follow.verdict.exit(args));
        }
        let mut message =
            if has_more { messages.try_recv().ok() } else { messages.recv_timeout(interval).ok() };
        // Changes come in bursts: one look is enough for all.
        while let Some(told) = message {
            if matches!(told, Message::Interrupted) {
                return follow.interrupted();
            }
            follow.take(told);
            message = messages.try_recv().ok();
        }
    }
}

/// Where the bytes of a log come from.
enum Source {
    /// A file that may grow.
    File(FollowedFile),
    /// A pipe, which another thread reads.
    Stream,
    /// Nothing more comes.
    Over,
}

/// One log that is followed.
struct Followed {
    source: Source,
    replay: Replay,
    view: View,
    /// The first line, or its beginning.
    first_line: Vec<u8>,
    /// The file was written anew, and this much of it has come: too little to tell whether it is the same log.
    beginning: Option<Vec<u8>>,
    /// What was said of a failure, so that it is said once.
    said: Option<String>,
    /// How many changes were reported as missing in the patch.
    lost: usize,
}

/// The logs that are followed.
struct Follow<'a> {
    task: Task,
    console: &'a Console,
    logs: Vec<Followed>,
    /// The paths of all that was found below folders.
    found: HashSet<PathBuf>,
    /// When to look for new logs below folders; never without any.
    next_search: Option<Instant>,
    printer: Printer,
    verdict: Verdict,
}

impl Followed {
    fn new(task: &Task, log: usize) -> Self {
        let path = &task.logs.list[log].path;
        Followed {
            source: if is_stdin(path) || is_stream(path) {
                Source::Stream
            } else {
                Source::File(FollowedFile::new(path.clone()))
            },
            replay: task.replay(log),
            view: task.view(log),
            first_line: Vec::new(),
            beginning: None,
            said: None,
            lost: 0,
        }
    }
}

impl<'a> Follow<'a> {
    fn new(task: Task, console: &'a Console) -> Self {
        let logs = (0..task.logs.list.len()).map(|log| Followed::new(&task, log)).collect();
        let found = task.logs.list.iter().filter(|log| log.is_found).map(|log| log.path.clone());
        let mut follow = Follow {
            console,
            logs,
            found: found.collect(),
            next_search: (!task.logs.folders.is_empty()).then(|| Instant::now() + LOOK_INTERVAL),
            printer: task.printer(console),
            verdict: Verdict::default(),
            task,
        };
        follow.verdict.fail_if(follow.task.logs.tell_unreadable(console));
        follow
    }

    /// Looks for logs that are new below folders.
    fn search(&mut self) {
        let start = Instant::now();
        if self.next_search.is_none_or(|due| due > start) {
            return;
        }
        for folder in self.task.logs.folders.clone() {
            for path in files_below(&folder).0 {
                if self.found.insert(path.clone()) {
                    self.task.logs.list.push(Log { is_found: true, ..Log::named(path) });
                    let log = self.logs.len();
                    self.logs.push(Followed::new(&self.task, log));
                    self.printer.name(self.task.name(log));
                }
            }
        }
        self.next_search = Some(Instant::now() + LOOK_INTERVAL.max(start.elapsed() * SEARCH_SHARE));
    }

    /// Starts a thread for each log that is no file.
    fn start_streams(&self, sender: &mpsc::SyncSender<Message>) {
        for (log, followed) in self.logs.iter().enumerate() {
            if matches!(followed.source, Source::Stream) {
                let (path, sender) = (self.task.logs.list[log].path.clone(), sender.clone());
                std::thread::spawn(move || read_stream(log, &path, &sender));
            }
        }
    }

    /// Looks at every file, and prints what is new; tells whether there is more to read at once.
    fn look(&mut self) -> bool {
        let mut has_more = false;
        for log in 0..self.logs.len() {
            let source = std::mem::replace(&mut self.logs[log].source, Source::Over);
            let Source::File(mut file) = source else {
                self.logs[log].source = source;
                continue;
            };
            let looked = file.look(LOOK_BYTES, &mut |found| match found {
                Found::Bytes(bytes) => self.bytes(log, bytes),
                Found::Change(change) => self.changed(log, change),
            });
            has_more |= matches!(looked, Ok(true));
            self.settle(log);
            match looked {
                // What can't be read from the start is a mistake; what can't be read for a while may come back.
                Err(error) if self.logs[log].first_line.is_empty() => {
                    self.fail(log, Fail::io("read", Path::new(&self.task.name(log)), &error));
                }
                _ if self.logs[log].replay.is_over() => self.end(log),
                looked => {
                    self.logs[log].source = Source::File(file);
                    self.say_once(log, looked.err().map(|error| reason(&error)));
                }
            }
        }
        has_more
    }

    fn say_once(&mut self, log: usize, said: Option<String>) {
        if let Some(reason) = said.as_ref().filter(|_| self.logs[log].said != said) {
            self.console.note(&format!("{} can't be read: {reason}", self.task.name(log)));
        }
        self.logs[log].said = said;
    }

    /// Takes what a thread says.
    fn take(&mut self, message: Message) {
        match message {
            Message::Look | Message::Interrupted => {}
            Message::Chunk(log, _) | Message::End(log) if matches!(self.logs[log].source, Source::Over) => {}
            Message::Chunk(log, chunk) => {
                self.bytes(log, &chunk);
                self.settle(log);
                if self.logs[log].replay.is_over() {
                    self.end(log);
                    self.logs[log].source = Source::Over;
                }
            }
            Message::End(log) => {
                self.end(log);
                self.logs[log].view.end();
                self.print(log);
                self.logs[log].source = Source::Over;
            }
            Message::Failed(log, error) => {
                self.fail(log, Fail::io("read", Path::new(&self.task.name(log)), &error));
            }
        }
    }

    /// Gives a log its next bytes.
    fn bytes(&mut self, log: usize, bytes: &[u8]) {
        let followed = &mut self.logs[log];
        let Some(mut beginning) = followed.beginning.take() else {
            self.push(log, bytes);
            return;
        };
        beginning.extend_from_slice(bytes);
        let known = &followed.first_line;
        if beginning.len() < known.len() && known.starts_with(&beginning) {
            followed.beginning = Some(beginning);
            return;
        }
        if beginning.starts_with(known) {
            followed.replay.restart();
        } else {
            followed.first_line.clear();
            self.end(log);
        }
        self.push(log, &beginning);
    }

    fn push(&mut self, log: usize, bytes: &[u8]) {
        let Followed { replay, view, first_line, .. } = &mut self.logs[log];
        if first_line.len() < FIRST_LINE_BYTES && !first_line.contains(&b'\n') {
            let room = &bytes[..bytes.len().min(FIRST_LINE_BYTES - first_line.len())];
            let end = room.iter().position(|&byte| byte == b'\n').map_or(room.len(), |at| at + 1);
            first_line.extend_from_slice(&room[..end]);
        }
        self.task.push(replay, bytes, log, view);
    }

    /// Draws and prints what has come so far.
    fn settle(&mut self, log: usize) {
        let Followed { replay, view, .. } = &mut self.logs[log];
        self.task.settle(replay, log, view);
        self.print(log);
    }

    fn changed(&mut self, log: usize, change: Change) {
        let what = match change {
            Change::Awaited => "is not there yet; waiting for it",
            Change::Appeared => "is there now",
            Change::Restarted => "was cut short or written anew; reading it from its beginning",
            Change::Replaced => "was replaced; following the new file",
            Change::Gone => "is gone; waiting for it to come back",
            Change::Back => "is back",
        };
        self.console.note(&format!("{} {what}", self.task.name(log)));
        if matches!(change, Change::Restarted | Change::Replaced) {
            self.logs[log].beginning = Some(Vec::new());
        }
    }

    /// Ends the log that was read, whose place another one may take: calls without a result have none.
    fn end(&mut self, log: usize) {
        let followed = &mut self.logs[log];
        let replay = std::mem::replace(&mut followed.replay, self.task.replay(log));
        let name = self.task.name(log);
        let result = match self.task.finish(replay, log, &mut followed.view) {
            // A folder may hold anything.
            Err(ReplayError::Detect(_)) if self.task.logs.list[log].is_found => Ok(ReplaySummary::default()),
            result => result.map_err(|error| no_log(&name, &error)),
        };
        let lost = followed.view.lost() - std::mem::replace(&mut followed.lost, followed.view.lost());
        self.print(log);
        self.verdict.take(result, lost, &name, self.console);
    }

    fn fail(&mut self, log: usize, fail: Fail) {
        self.verdict.take(Err(fail), 0, &self.task.name(log), self.console);
        self.logs[log].source = Source::Over;
    }

    fn print(&mut self, log: usize) {
        let chunk = self.logs[log].view.take();
        if !chunk.is_empty() {
            self.printer.print(log, &chunk);
            self.printer.flush();
        }
    }

    /// Ends the run at once. A call that has no result yet still runs: of that nothing is known, so nothing is drawn.
    fn interrupted(mut self) -> Result<Exit, Fail> {
        for log in 0..self.logs.len() {
            let followed = &mut self.logs[log];
            if matches!(followed.source, Source::Over) {
                continue;
            }
            followed.view.end();
            let lost = followed.view.lost() - followed.lost;
            let replay = std::mem::replace(&mut followed.replay, self.task.replay(log));
            let (name, mut unseen) = (self.task.name(log), self.task.view(log));
            self.print(log);
            if let Ok(summary) = self.task.finish(replay, log, &mut unseen) {
                // The last line, or frame, may still be written.
                let summary = ReplaySummary { torn_line: None, damage: None, ..summary };
                super::replay::tell(&summary, &name, self.console);
            }
            self.verdict.lose(lost, &name, self.console);
        }
        self.printer.finish()?;
        Ok(Exit::Interrupted)
    }
}

fn is_file(path: &Path) -> bool {
    !is_stdin(path) && !is_stream(path)
}

/// Reads what is no file to its end.
fn read_stream(log: usize, path: &Path, sender: &mpsc::SyncSender<Message>) {
    let reader: io::Result<Box<dyn Read>> = if is_stdin(path) {
        Ok(Box::new(io::stdin()))
    } else {
        // Opening a pipe waits for its writer.
        open_file(path).map(|file| Box::new(file) as Box<dyn Read>)
    };
    let mut blocks = match reader {
        Ok(reader) => Blocks::over(reader),
        Err(error) => {
            let _ = sender.send(Message::Failed(log, error));
            return;
        }
    };
    loop {
        let message = match blocks.next_block() {
            Ok(Some(block)) => Message::Chunk(log, block.to_vec()),
            Ok(None) => Message::End(log),
            Err(error) => Message::Failed(log, error),
        };
        let goes_on = matches!(message, Message::Chunk(..));
        if sender.send(message).is_err() || !goes_on {
            return;
        }
    }
}

/// Ends the run at the first signal; if its output is stuck, or at a second one, without asking it.
fn listen_for_signals(sender: mpsc::SyncSender<Message>) {
    let signals = [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM];
    let Ok(mut pending) = signal_hook::iterator::Signals::new(signals) else { return };
    std::thread::spawn(move || {
        let mut is_ending = false;
        for _ in pending.forever() {
            if is_ending {
                std::process::exit(i32::from(Exit::Interrupted.status()));
            }
            is_ending = true;
            let sender = sender.clone();
            std::thread::spawn(move || {
                std::thread::spawn(move || sender.send(Message::Interrupted));
                std::thread::sleep(END_WITHIN);
                std::process::exit(i32::from(Exit::Interrupted.status()));
            });
        }
    });
}

/// Watches the folders of the logs; a log that is replaced would take a watch of its own with it.
///
/// `None`, and a note, if the system can't; then the timer is enough.
fn watch(
    logs: &[PathBuf],
    searched: &[PathBuf],
    sender: &mpsc::SyncSender<Message>,
    console: &Console,
) -> Option<notify::RecommendedWatcher> {
    // A log may be a link: it changes where it leads to.
    let files = logs.iter().filter(|log| is_file(log));
    let paths: BTreeSet<PathBuf> =
        files.flat_map(|log| std::path::absolute(log).into_iter().chain(real_path(log))).collect();
    let names: BTreeSet<OsString> =
        paths.iter().filter_map(|path| path.file_name().map(OsString::from)).collect();
    let folders: BTreeSet<&Path> = paths.iter().filter_map(|path| path.parent()).collect();
    if folders.is_empty() && searched.is_empty() {
        return None;
    }
    let sender = sender.clone();
    let any_matters = !searched.is_empty();
    let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if event.map_or(true, |event| matters(&event, &names, any_matters)) {
            // If the queue is full, a look is on its way.
            let _ = sender.try_send(Message::Look);
        }
    });
    let watched = watcher.and_then(|mut watcher| {
        // A folder that is not there yet is left to the timer.
        for folder in folders.into_iter().filter(|folder| real_path(folder).is_some()) {
            watcher.watch(folder, RecursiveMode::NonRecursive)?;
        }
        for folder in searched {
            watcher.watch(folder, RecursiveMode::Recursive)?;
        }
        Ok(watcher)
    });
    match watched {
        Ok(watcher) => Some(watcher),
        Err(error) => {
            let every = LOOK_INTERVAL.as_millis();
            console.note(&format!("the system does not tell of changes ({error}): looking every {every} ms"));
            None
        }
    }
}

/// Tells whether an event may mean that a log has changed: one of these names, or any at all. Reading one causes events
/// too.
fn matters(event: &notify::Event, names: &BTreeSet<OsString>, any: bool) -> bool {
    let is_named = |path: &PathBuf| path.file_name().is_some_and(|name| names.contains(name));
    event.need_rescan()
        || !matches!(event.kind, EventKind::Access(_))
            && (any || event.paths.is_empty() || event.paths.iter().any(is_named))
}

#[cfg(test)]
mod tests {
    use notify::Event;
    use notify::event::AccessKind;
    use notify::event::DataChange;
    use notify::event::Flag;
    use notify::event::ModifyKind;

    use super::*;

    #[test]
    fn events_are_hints_to_look() {
        let names = BTreeSet::from([OsString::from("log")]);
        let modified = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        let on = |kind, name: &str| Event::new(kind).add_path(Path::new("/folder").join(name));
        assert!(matters(&on(modified, "log"), &names, false));
        assert!(!matters(&on(modified, "other"), &names, false));
        assert!(matters(&on(modified, "other"), &names, true));
        assert!(!matters(&on(EventKind::Access(AccessKind::Any), "log"), &names, false));
        // The queue of the system ran over: what happened is not told.
        assert!(matters(&Event::new(EventKind::Other).set_flag(Flag::Rescan), &names, false));
        assert!(matters(&Event::new(modified), &names, false));
    }

    #[test]
    fn the_system_tells_of_a_log_that_comes_and_grows() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let (sender, messages) = mpsc::sync_channel(QUEUED_MESSAGES);
        let console = Console::silent();
        let _watcher = watch(std::slice::from_ref(&log), &[], &sender, &console).expect("a watcher");
        let is_told = |write: &dyn Fn()| {
            while messages.try_recv().is_ok() {}
            write();
            messages.recv_timeout(Duration::from_secs(20)).is_ok()
        };
        assert!(is_told(&|| std::fs::write(&log, "a").unwrap()));
        assert!(is_told(&|| std::fs::write(&log, "ab").unwrap()));
        assert!(is_told(&|| std::fs::remove_file(&log).unwrap()));
    }
}
