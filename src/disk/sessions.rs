//! Where agents keep their session logs, and the logs below a folder.
//!
//! What a file is, its content tells; here only names are looked at, to leave out what an agent keeps beside its logs.

#![expect(clippy::disallowed_methods, reason = "disk/ is the room that opens files")]

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::path::PathBuf;
use std::time::SystemTime;

use super::walk::EntryKind;
use super::walk::below;
use super::walk::walk;

/// The folder of a Claude Code session that holds the logs of its sub-agents.
const SUB_AGENTS: &str = "subagents";

/// An agent whose sessions can be found.
#[derive(Debug)]
pub struct Agent {
    /// The name of its format.
    pub name: &'static str,
    /// The variable of the environment that names its folder.
    pub variable: Option<&'static str>,
    /// Its folder in the user's home, without that variable.
    home_folder: &'static str,
    /// The folders of sessions in its folder.
    session_folders: &'static [&'static str],
    /// Tells a log by its path in such a folder.
    is_log: fn(&Path) -> bool,
}

/// Every agent whose sessions can be found.
pub const AGENTS: [Agent; 8] = [
    Agent {
        name: "claude",
        variable: Some("CLAUDE_CONFIG_DIR"),
        home_folder: ".claude",
        session_folders: &["projects"],
        is_log: |path| has_end(path, ".jsonl"),
    },
    Agent {
        name: "codex",
        variable: Some("CODEX_HOME"),
        home_folder: ".codex",
        session_folders: &["sessions", "archived_sessions"],
        is_log: |path| has_start(path, "rollout-"),
    },
    Agent {
        name: "dsh",
        variable: None,
        home_folder: ".dsh",
        session_folders: &["sessions"],
        is_log: |path| has_start(path, "session.jsonl"),
    },
    Agent {
        name: "pi",
        variable: Some("PI_CODING_AGENT_DIR"),
        home_folder: ".pi/agent",
        session_folders: &["sessions"],
        is_log: |path| has_end(path, ".jsonl"),
    },
    Agent {
        name: "gemini",
        variable: None,
        home_folder: ".gemini",
        session_folders: &["tmp"],
        is_log: |path| is_in(path, "chats") && has_start(path, "session-"),
    },
    Agent {
        name: "qwen",
        variable: None,
        home_folder: ".qwen",
        session_folders: &["projects", "tmp"],
        is_log: |path| is_in(path, "chats"),
    },
    Agent {
        name: "copilot",
        variable: None,
        home_folder: ".copilot",
        session_folders: &["session-state", "history-session-state"],
        is_log: |path| {
            let is_flat = path.parent().is_none_or(|parent| parent.as_os_str().is_empty());
            has_start(path, "events.jsonl") || is_flat && has_end(path, ".jsonl")
        },
    },
    Agent {
        name: "cursor",
        variable: None,
        home_folder: ".cursor",
        session_folders: &["projects"],
        is_log: |path| {
            path.components().any(|part| part.as_os_str() == "agent-transcripts") && has_end(path, ".jsonl")
        },
    },
];

fn file_name(path: &Path) -> &OsStr {
    path.file_name().unwrap_or_default()
}

fn has_start(path: &Path, start: &str) -> bool {
    file_name(path).as_encoded_bytes().starts_with(start.as_bytes())
}

fn has_end(path: &Path, end: &str) -> bool {
    file_name(path).as_encoded_bytes().ends_with(end.as_bytes())
}

fn is_in(path: &Path, folder: &str) -> bool {
    path.parent().is_some_and(|parent| file_name(parent) == folder)
}

impl Agent {
    /// Returns the folders that are looked through: in `folder`, which the variable names, else in `home`.
    pub fn places(&self, folder: Option<&Path>, home: Option<&Path>) -> Vec<PathBuf> {
        let folder = folder.map(Path::to_owned).or_else(|| Some(home?.join(self.home_folder)));
        let inner = |folder: PathBuf| self.session_folders.iter().map(move |name| folder.join(name));
        folder.into_iter().flat_map(inner).collect()
    }
}

/// A session that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSession {
    /// The agent, by the name of its format.
    pub agent: &'static str,
    /// Its log.
    pub log: PathBuf,
    /// The logs of its sub-agents, in the order of their paths.
    pub sub_agent_logs: Vec<PathBuf>,
    /// When any of them was written last.
    pub modified: SystemTime,
    /// The length of all of them, in bytes.
    pub length_bytes: u64,
}

impl FoundSession {
    /// Returns all logs of the session, its own first.
    pub fn logs(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&self.log).chain(&self.sub_agent_logs).map(PathBuf::as_path)
    }
}

/// Returns the sessions of an agent in one of its places, in no order; none where there is no such folder.
pub fn sessions_in(agent: &Agent, place: &Path) -> Vec<FoundSession> {
    let mut by_log: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    let paths: Vec<PathBuf> = files_below(place).0;
    let all: HashSet<&PathBuf> = paths.iter().collect();
    for path in &paths {
        let is_log = path.strip_prefix(place).is_ok_and(|path| (agent.is_log)(path));
        match session_of(path).filter(|log| all.contains(log)) {
            _ if !is_log => {}
            Some(log) => by_log.entry(log).or_default().push(path.clone()),
            None => drop(by_log.entry(path.clone()).or_default()),
        }
    }
    by_log.into_iter().filter_map(|(log, sub_agent_logs)| found(agent.name, log, sub_agent_logs)).collect()
}

/// Returns what is known of a session without reading it; nothing if its log is gone.
fn found(agent: &'static str, log: PathBuf, sub_agent_logs: Vec<PathBuf>) -> Option<FoundSession> {
    let of_log = std::fs::metadata(&log).ok()?;
    let mut session = FoundSession {
        agent,
        modified: of_log.modified().ok()?,
        length_bytes: of_log.len(),
        log,
        sub_agent_logs,
    };
    for metadata in session.sub_agent_logs.iter().filter_map(|log| std::fs::metadata(log).ok()) {
        session.length_bytes += metadata.len();
        session.modified = session.modified.max(metadata.modified().unwrap_or(session.modified));
    }
    Some(session)
}

/// Returns the log of the session whose sub-agent's log stands at a path.
///
/// Claude Code keeps them as `SESSION/subagents/agent-ID.jsonl` beside `SESSION.jsonl`, or a folder deeper.
pub fn session_of(path: &Path) -> Option<PathBuf> {
    let folder = path.ancestors().skip(1).find(|folder| file_name(folder) == SUB_AGENTS)?;
    let session = folder.parent()?;
    let name = session.file_name()?;
    let mut log = name.to_owned();
    log.push(".jsonl");
    Some(session.with_file_name(log))
}

/// Returns the files below a folder, in the order of their paths' bytes, and what could not be looked at.
///
/// No link is followed. What version control keeps is left out.
pub fn files_below(folder: &Path) -> (Vec<PathBuf>, Vec<(PathBuf, io::Error)>) {
    let walked = walk(folder);
    let is_file = |kind: &EntryKind| matches!(kind, EntryKind::File { .. });
    let is_kept = |path: &Path| {
        !path.components().any(|part| [".git", ".hg", ".jj"].iter().any(|name| part.as_os_str() == *name))
    };
    let paths = walked.entries.iter().filter(|entry| is_file(&entry.kind));
    let paths = paths
        .map(|entry| below(folder, &entry.path))
        .filter(|path| path.strip_prefix(folder).is_ok_and(is_kept));
    let unreadable = walked.unreadable.into_iter().map(|(path, error)| (below(folder, &path), error));
    (paths.collect(), unreadable.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::tree::Tree;
    use crate::disk::tree::text;

    fn names(agent: &str, files: &[&str]) -> Vec<(String, Vec<String>)> {
        let entries: Vec<_> = files.iter().map(|file| (*file, text("log"))).collect();
        let tree = Tree::new(&entries);
        let agent = AGENTS.iter().find(|known| known.name == agent).unwrap();
        let short = |path: &Path| path.strip_prefix(tree.root()).unwrap().to_string_lossy().into_owned();
        let places = agent.places(None, Some(&tree.root()));
        let sessions = places.iter().flat_map(|place| sessions_in(agent, place));
        let mut names: Vec<_> = sessions
            .map(|session| {
                assert_eq!(session.length_bytes, 3 * session.logs().count() as u64);
                (short(&session.log), session.sub_agent_logs.iter().map(|log| short(log)).collect())
            })
            .collect();
        names.sort();
        names
    }

    #[test]
    fn each_agent_keeps_its_logs_in_its_way() {
        let check = |agent: &str, log: &str, others: &[&str]| {
            let found = names(agent, &[&[log], others].concat());
            assert_eq!(found, [(log.to_owned(), Vec::new())], "{agent}");
        };
        check(
            "claude",
            ".claude/projects/-w/1.jsonl",
            &[".claude/history.jsonl", ".claude/projects/-w/1/tool-results/x.txt"],
        );
        check("codex", ".codex/sessions/2026/11/30/rollout-1.jsonl", &[".codex/history.jsonl"]);
        check("codex", ".codex/archived_sessions/rollout-1.jsonl.zst", &[]);
        check("dsh", ".dsh/sessions/--w--/1/session.jsonl.zstd", &[".dsh/sessions/--w--/1/lock"]);
        check("pi", ".pi/agent/sessions/--w--/1_2.jsonl", &[".pi/agent/settings.json"]);
        check("gemini", ".gemini/tmp/h/chats/session-1.json", &[".gemini/tmp/h/logs.json"]);
        check("qwen", ".qwen/projects/-w/chats/1.jsonl", &[".qwen/settings.json"]);
        check(
            "copilot",
            ".copilot/session-state/1/events.jsonl",
            &[".copilot/session-state/1/workspace.yaml"],
        );
        check("copilot", ".copilot/session-state/1.jsonl", &[]);
        check(
            "cursor",
            ".cursor/projects/w/agent-transcripts/1/1.jsonl",
            &[".cursor/projects/w/terminals/1.txt"],
        );
    }

    #[test]
    fn sub_agents_belong_to_their_session() {
        let root = ".claude/projects/-w";
        let (log, sub) = (format!("{root}/1.jsonl"), format!("{root}/1/subagents/agent-a.jsonl"));
        let deep = format!("{root}/1/subagents/flow/agent-b.jsonl");
        let alone = format!("{root}/2/subagents/agent-c.jsonl");
        let found = names("claude", &[&log, &sub, &deep, &alone]);
        assert_eq!(found, [(log, vec![sub, deep]), (alone, Vec::new())]);
    }

    #[test]
    fn a_variable_leads_elsewhere() {
        let claude = &AGENTS[0];
        let places = claude.places(Some(Path::new("/c")), Some(Path::new("/home")));
        assert_eq!(places, [PathBuf::from("/c/projects")]);
        assert_eq!(claude.places(None, None), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_folder_has_its_files_in_order() {
        let tree = Tree::new(&[("b/1", text("")), ("a", text("")), (".git/x", text("")), ("b/.x", text(""))]);
        let (paths, unreadable) = files_below(&tree.root());
        let wanted = ["a", "b/.x", "b/1"].map(|path| tree.root().join(path));
        assert_eq!((paths, unreadable.len()), (wanted.to_vec(), 0));
    }
}
