//! The sessions that agents keep in their usual places: the list of them, and the newest one.

use std::io;
use std::path::Path;
use std::path::PathBuf;
use std::time::SystemTime;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::disk::input::Blocks;
use crate::disk::reason;
use crate::disk::sessions::AGENTS;
use crate::disk::sessions::FoundSession;
use crate::disk::sessions::sessions_in;
use crate::render::json;
use crate::render::session;
use crate::render::stat::Totals;
use crate::report::CallCounts;
use crate::report::Card;
use crate::report::SessionEntry;
use crate::report::SessionSchema;
use crate::session::Replay;
use crate::session::ReplayOptions;
use crate::session::prompt::FirstPrompt;

use super::args::CardOutput;
use super::args::ReplayArgs;
use super::environment;
use super::exit::Exit;
use super::fail::Fail;
use super::filter::Filter;
use super::logs;
use super::logs::Log;
use super::logs::Logs;
use super::ordered;
use super::ordered::Next;
use super::ordered::Outbox;
use super::streams::Console;
use super::streams::try_print;

/// The sessions of the agents that were asked for, and where they were looked for.
struct Found {
    /// Newest first.
    sessions: Vec<FoundSession>,
    places: Vec<PathBuf>,
}

fn find(agent: Option<&str>) -> Found {
    let home = environment::folder("HOME");
    let mut found = Found { sessions: Vec::new(), places: Vec::new() };
    for agent in AGENTS.iter().filter(|known| agent.is_none_or(|name| name == known.name)) {
        let folder = agent.variable.and_then(environment::folder);
        for place in agent.places(folder.as_deref(), home.as_deref()) {
            found.sessions.extend(sessions_in(agent, &place));
            found.places.push(place);
        }
    }
    // What was written at the same time is told apart by its path, so that the order is the same each time.
    found
        .sessions
        .sort_by(|one, other| other.modified.cmp(&one.modified).then_with(|| one.log.cmp(&other.log)));
    found
}

impl Found {
    /// Returns where sessions were looked for, in words.
    fn looked(&self) -> String {
        let places: Vec<String> = self.places.iter().map(|place| place.display().to_string()).collect();
        match places.as_slice() {
            [] => "no place to look in: HOME is not set".to_owned(),
            places => format!("looked in {}", places.join(", ")),
        }
    }
}

/// Returns the logs of the newest session.
pub fn latest(args: &ReplayArgs, console: &Console) -> Result<Logs, Fail> {
    let found = find(args.agent.as_deref());
    let newest = found.sessions.first();
    let newest = newest.ok_or_else(|| Fail::usage(format!("no session was found: {}", found.looked())))?;
    console.note(&format!("the latest session is {}", newest.log.display()));
    Ok(Logs::of_session(newest))
}

/// Lists all sessions. With a filter of cards only those that have such cards, and only these are counted.
pub fn list(args: &ReplayArgs, console: &Console) -> Result<Exit, Fail> {
    let is_json = console.is_json || args.output == CardOutput::Json;
    if !matches!(args.output, CardOutput::Card | CardOutput::Json) {
        return Err(Fail::usage("a list of sessions has no such output: name a log, or add --latest"));
    }
    let filter = Filter::new(args)?;
    let found = find(args.agent.as_deref());
    if found.sessions.is_empty() {
        console.note(&format!("no session was found: {}", found.looked()));
        return Ok(Exit::Done);
    }
    let has_filter = filter.is_any();
    let zone = TimeZone::system();
    let times: Vec<SystemTime> = found.sessions.iter().map(|session| session.modified).collect();
    let work = move |index: usize, outbox: &Outbox<SessionEntry>| {
        // Nobody may take it any more.
        let _ = outbox.send(entry(&found.sessions[index], &filter), 0);
    };
    let mut entries = ordered::start(times.len(), ordered::workers(), work);
    let style = &console.out_style;
    while let Next::Result(index, entry) = entries.next(None) {
        if has_filter && entry.calls == CallCounts::default() {
            continue;
        }
        let printed = try_print(|out| match is_json {
            _ if console.is_quiet => Ok(()),
            true => json::line(out, &entry),
            false => session::entry(out, &entry, &shown(times[index], &zone), style),
        });
        match printed {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
            Err(error) => return Err(Fail::io("write", Path::new("standard output"), &error)),
        }
    }
    Ok(Exit::Done)
}

fn timestamp(time: SystemTime) -> Timestamp {
    Timestamp::try_from(time).unwrap_or_default()
}

/// Returns a time for people: to the minute, as their clocks show it.
fn shown(time: SystemTime, zone: &TimeZone) -> String {
    timestamp(time).to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// Reads a session's logs to what its entry says.
fn entry(found: &FoundSession, filter: &Filter) -> SessionEntry {
    let mut totals = Totals::default();
    let mut count = |card: &Card, root: Option<&str>| {
        if filter.wants(card, root) {
            totals.add(card, root);
        }
    };
    let (mut own, mut message) = (Told::default(), None);
    for log in Logs::of_session(found).list {
        let mut told = Told::default();
        if let Err(reason) = read(&log, &mut told, &mut count) {
            message = message.or_else(|| Some(format!("{}: {reason}", log.name())));
        }
        // What a sub-agent was asked first is no user's word.
        if log.path == found.log {
            own = told;
        }
    }
    let (calls, files, added, removed) = totals.sums();
    let text = |path: &Path| path.display().to_string();
    SessionEntry {
        schema: SessionSchema::V1,
        agent: found.agent.to_owned(),
        log: text(&found.log),
        sub_agent_logs: found.sub_agent_logs.iter().map(|log| text(log)).collect(),
        folder: own.folder,
        prompt: own.prompt,
        modified: timestamp(found.modified).strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        length_bytes: found.length_bytes,
        calls,
        files,
        added,
        removed,
        message,
    }
}

/// What a log says of its session, beside its cards.
#[derive(Debug, Default)]
struct Told {
    folder: Option<String>,
    prompt: Option<String>,
}

/// Reads a log to its end, or says why not.
fn read(log: &Log, told: &mut Told, take: &mut dyn FnMut(&Card, Option<&str>)) -> Result<(), String> {
    let mut blocks = Blocks::open(&log.path).map_err(|error| reason(&error))?;
    let mut first = FirstPrompt::default();
    let mut take = |card: Card, _: Vec<_>, folder: Option<&str>| take(&card, folder);
    let replay = Replay::new(ReplayOptions { has_sections: false, ..log.options() });
    let read = logs::read(&mut blocks, replay, &mut |block| first.push(block), &mut take);
    told.prompt = first.finish();
    let (folder, summary) = read.map_err(|error| reason(&error))?;
    told.folder = folder;
    summary.map(|_| ()).map_err(|error| error.to_string())
}
