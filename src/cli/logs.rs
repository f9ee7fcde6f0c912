//! Which logs a run of `replay` reads (those that are named, those below folders, those of the newest session), and how
//! one is read whole.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::path::PathBuf;

use crate::disk::input::Blocks;
use crate::disk::input::is_folder;
use crate::disk::sessions::FoundSession;
use crate::disk::sessions::files_below;
use crate::disk::sessions::session_of;
use crate::report::Card;
use crate::session::Replay;
use crate::session::ReplayError;
use crate::session::ReplayOptions;
use crate::session::ReplaySummary;
use crate::session::told::Told;

use super::args::ReplayArgs;
use super::fail::Fail;
use super::streams::Console;
use super::streams::read_input;

/// One log that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    /// Its path, or `-`.
    pub path: PathBuf,
    /// Whether it was found below a folder: then it is passed over if it is no log.
    pub is_found: bool,
    /// Whether the logs of its sub-agents are read too.
    pub has_sub_agents: bool,
}

impl Log {
    /// Returns a log that was named.
    pub fn named(path: PathBuf) -> Self {
        Log { path, is_found: false, has_sub_agents: false }
    }

    /// Returns how it is read.
    pub fn options(&self) -> ReplayOptions {
        let (is_known_only, passes_sub_agents) = (self.is_found, self.has_sub_agents);
        ReplayOptions { is_known_only, passes_sub_agents, ..ReplayOptions::default() }
    }

    /// Returns what a reader calls it.
    pub fn name(&self) -> String {
        if is_stdin(&self.path) { "standard input".to_owned() } else { self.path.display().to_string() }
    }
}

/// Takes a card, what its log tells of its files beside it, and the folder of its session.
type Take<'t> = dyn FnMut(Card, Vec<Told>, Option<&str>) + 't;

/// Reads a log to its end: its cards in their order, each with what the log tells of its files beside them, if that was
/// asked for, and with the folder of its session. `look` sees every block, as it is stored. Returns that folder too.
pub fn read<R: Read>(
    blocks: &mut Blocks<R>,
    mut replay: Replay,
    look: &mut dyn FnMut(&[u8]),
    take: &mut Take<'_>,
) -> io::Result<(Option<String>, Result<ReplaySummary, ReplayError>)> {
    let mut cards = Vec::new();
    while !replay.is_over()
        && let Some(block) = blocks.next_block()?
    {
        replay.push_told(block, &mut |card, told| cards.push((card, told)));
        cards.drain(..).for_each(|(card, told)| take(card, told, replay.folder()));
        look(block);
    }
    replay.settle_told(&mut |card, told| cards.push((card, told)));
    let folder = replay.folder().map(str::to_owned);
    cards.drain(..).for_each(|(card, told)| take(card, told, folder.as_deref()));
    let summary = replay.finish_told(&mut |card, told| take(card, told, folder.as_deref()));
    Ok((folder, summary))
}

/// The logs of a run, in the order in which they are drawn.
#[derive(Debug, Default)]
pub struct Logs {
    /// The logs.
    pub list: Vec<Log>,
    /// Whether they come from a list.
    is_listed: bool,
    /// The folders among what was named.
    pub folders: Vec<PathBuf>,
    /// What below them could not be looked at.
    pub unreadable: Vec<Fail>,
}

/// Tells whether a name stands for standard input.
pub fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

impl Logs {
    /// Returns what was named; without anything standard input.
    pub fn of(args: &ReplayArgs) -> Result<Self, Fail> {
        let mut named = args.logs.clone();
        if let Some(list) = &args.files_from {
            named.extend(listed(&read_input(Some(list), "list of logs")?));
        } else if named.is_empty() {
            named.push(PathBuf::from("-"));
        }
        let list_is_stdin = args.files_from.as_deref().is_some_and(is_stdin);
        if named.iter().filter(|log| is_stdin(log)).count() + usize::from(list_is_stdin) > 1 {
            return Err(Fail::usage("standard input can be read only once: name - once"));
        }
        let mut logs = Logs { is_listed: args.files_from.is_some(), ..Logs::default() };
        for path in named {
            if is_stdin(&path) || !is_folder(&path) {
                logs.list.push(Log::named(path));
                continue;
            }
            let (files, unreadable) = files_below(&path);
            logs.list.extend(files.into_iter().map(|path| Log { is_found: true, ..Log::named(path) }));
            let failed = |(path, error): (PathBuf, io::Error)| Fail::io("read", &path, &error);
            logs.unreadable.extend(unreadable.into_iter().map(failed));
            logs.folders.push(path);
        }
        logs.find_sub_agents();
        Ok(logs)
    }

    /// Returns the logs of a session.
    pub fn of_session(session: &FoundSession) -> Self {
        let list = session.logs().map(|path| Log::named(path.to_owned())).collect();
        let mut logs = Logs { list, ..Logs::default() };
        logs.find_sub_agents();
        logs
    }

    /// Tells whether a reader has to be told which log a card is of.
    pub fn are_several(&self) -> bool {
        self.list.len() > 1 || self.is_listed || !self.folders.is_empty()
    }

    fn find_sub_agents(&mut self) {
        let parents: HashSet<PathBuf> = self.list.iter().filter_map(|log| session_of(&log.path)).collect();
        for log in &mut self.list {
            log.has_sub_agents = parents.contains(&log.path);
        }
    }

    /// Says what could not be looked at; tells whether there was any.
    pub fn tell_unreadable(&self, console: &Console) -> bool {
        for fail in &self.unreadable {
            console.fail(fail);
        }
        !self.unreadable.is_empty()
    }
}

/// Returns the paths that a list names, one a line.
fn listed(list: &[u8]) -> Vec<PathBuf> {
    let lines = list.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.filter(|line| !line.is_empty()).map(|line| PathBuf::from(OsStr::from_bytes(line))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_a_path_a_line() {
        assert_eq!(listed(b"a b\n\n/c\r\nd"), ["a b", "/c", "d"].map(PathBuf::from));
        assert_eq!(listed(b""), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_session_passes_over_what_its_sub_agents_tell_themselves() {
        let paths = ["/p/1.jsonl", "/p/1/subagents/agent-a.jsonl", "/p/2.jsonl"];
        let mut logs =
            Logs { list: paths.map(|path| Log::named(PathBuf::from(path))).to_vec(), ..Logs::default() };
        logs.find_sub_agents();
        let told: Vec<bool> = logs.list.iter().map(|log| log.has_sub_agents).collect();
        assert_eq!(told, [true, false, false]);
    }
}
