//! The rooms of `src/` use each other only as ARCHITECTURE.md says.

#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test reads the sources")]

use std::path::Path;
use std::path::PathBuf;

/// Room, and the rooms that it may use; `session/format` may use only two parts of its own room.
const ROOMS: [(&str, &[&str]); 10] = [
    ("text", &[]),
    ("report", &["text"]),
    ("patch", &["text", "report"]),
    ("diff", &["text", "report"]),
    ("plan", &["text", "report", "patch", "diff"]),
    ("session/format", &["text", "report", "session/event", "session/frame"]),
    ("session", &["text", "report", "patch", "diff", "plan"]),
    ("disk", &["text", "report", "plan"]),
    ("render", &["text", "report", "diff"]),
    ("cli", &["text", "report", "patch", "diff", "plan", "session", "disk", "render"]),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Returns the paths below `crate` that a source names outside of its comments, as `room/module`.
fn used(source: &str) -> Vec<String> {
    let code: Vec<&str> = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let uses = code.split("crate::").skip(1).map(|rest| {
        let path = rest.split(|character: char| !(character.is_alphanumeric() || "_:".contains(character)));
        path.take(1).collect::<String>().replace("::", "/")
    });
    uses.collect()
}

#[test]
fn rooms_use_only_what_they_may() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut wrong = Vec::new();
    for file in files {
        let name = file.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        if matches!(name.as_str(), "lib.rs" | "main.rs") {
            continue;
        }
        let Some((room, allowed)) = ROOMS.iter().find(|(room, _)| name.starts_with(&format!("{room}/")))
        else {
            wrong.push(format!("{name} is in no room"));
            continue;
        };
        for path in used(&std::fs::read_to_string(&file).unwrap()) {
            let is_below = |folder: &&str| path == *folder || path.starts_with(&format!("{folder}/"));
            if !is_below(room) && !allowed.iter().any(is_below) {
                wrong.push(format!("{name} uses {path}"));
            }
        }
    }
    assert!(wrong.is_empty(), "see the table in ARCHITECTURE.md:\n{}", wrong.join("\n"));
}
