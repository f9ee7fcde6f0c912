//! Runs every case of `fixtures/` through the binary in a copy of its tree, and its patch through the parser, cut in
//! every way.
//!
//! A case is a folder: `input/` and `expected/` are whole trees (no `expected/`: nothing may change), `patch.txt` (or
//! what `stdin` names) goes to standard input, and `case.toml` says the rest:
//!
//! - `about`: one sentence; `args`: the arguments, `["apply"]` if absent; `exit`: the status
//! - `stdout`, `stderr`: texts that must be there
//! - `[json]`: JSON pointer to value in the document of a second run with `--json`; `/a#` is the length of `/a`
//! - `[modes]`, `[modes_after]`: path to permission bits; `[links]`, `[links_after]`: path to target of a link
//! - `preview = false`: a preview with the same arguments is not asked whether the patch fits

#![cfg(feature = "cli")]
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a test reads files, starts programs and may fail"
)]

#[expect(dead_code, reason = "other tests use the rest")]
mod support;

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use hunkwise::patch::Dialect;
use hunkwise::patch::Parser;
use serde_json::Value;
use support::Entry;
use support::Place;
use support::Run;
use support::Tree;
use support::read_tree;
use support::write_tree;
use toml::Table;

/// The folders of all cases of a kind.
fn folders(kind: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(kind);
    let entries = fs::read_dir(&root).expect("the fixtures");
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    folders.sort();
    folders
}

/// One case, as its folder has it.
struct Case {
    input: Tree,
    expected: Tree,
    stdin: Vec<u8>,
    about: Table,
}

impl Case {
    fn read(folder: &Path) -> Self {
        let text = fs::read_to_string(folder.join("case.toml")).expect("a case.toml");
        let about: Table = text.parse().expect("TOML");
        let tree = |name: &str, links: &str| {
            let mut tree = read_tree(&folder.join(name));
            for (path, target) in table(&about, links) {
                tree.insert(path.clone(), Entry::Link(target.as_str().expect("a target").into()));
            }
            tree
        };
        let input = tree("input", "links");
        let expected =
            if folder.join("expected").is_dir() { tree("expected", "links_after") } else { input.clone() };
        let stdin = about.get("stdin").and_then(toml::Value::as_str).unwrap_or("patch.txt");
        let stdin = fs::read(folder.join(stdin)).unwrap_or_default();
        Case { input, expected, stdin, about }
    }

    fn strings(&self, key: &str) -> Vec<&str> {
        let list = self.about.get(key).and_then(toml::Value::as_array);
        list.into_iter().flatten().map(|value| value.as_str().expect("a string")).collect()
    }

    fn args(&self) -> Vec<&str> {
        let args = self.strings("args");
        if args.is_empty() { vec!["apply"] } else { args }
    }

    fn exit(&self) -> i64 {
        self.about["exit"].as_integer().expect("a status")
    }

    fn place(&self) -> Place {
        let place = Place::new();
        write_tree(&place.root(), &self.input);
        for (path, mode) in table(&self.about, "modes") {
            support::set_mode(&place.root().join(path), octal(&mode));
        }
        place
    }

    /// Returns what differs from what the case says.
    fn faults(&self) -> Vec<String> {
        let place = self.place();
        let run = place.run(&self.args(), &self.stdin);
        let mut faults = self.run_faults(&place, &run);
        for (stream, text) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
            for wanted in self.strings(stream) {
                if !text.contains(wanted) {
                    faults.push(format!("{stream} lacks {wanted:?}: {text}"));
                }
            }
        }
        faults.extend(self.json_faults());
        if self.about.get("preview").is_none() {
            faults.extend(self.preview_faults());
        }
        faults
    }

    fn run_faults(&self, place: &Place, run: &Run) -> Vec<String> {
        let mut faults = Vec::new();
        if i64::from(run.status) != self.exit() {
            faults.push(format!("exit status {} instead of {}: {run:?}", run.status, self.exit()));
        }
        let tree = place.tree();
        let paths: std::collections::BTreeSet<&String> = tree.keys().chain(self.expected.keys()).collect();
        for path in paths.into_iter().filter(|path| tree.get(*path) != self.expected.get(*path)) {
            faults.push(format!(
                "{path}: {} instead of {}",
                shown(tree.get(path)),
                shown(self.expected.get(path))
            ));
        }
        for (path, mode) in table(&self.about, "modes_after") {
            let file = place.root().join(&path);
            let found = file.is_file().then(|| support::mode(&file));
            if found != Some(octal(&mode)) {
                faults.push(format!("{path}: mode {found:?} instead of {mode:?}"));
            }
        }
        faults
    }

    fn json_faults(&self) -> Vec<String> {
        let wanted = table(&self.about, "json");
        if wanted.is_empty() {
            return Vec::new();
        }
        let place = self.place();
        let run = place.run(&[&self.args()[..], &["--json"]].concat(), &self.stdin);
        let mut faults = self.run_faults(&place, &run);
        let document: Value = serde_json::from_str(&run.stdout).expect("a document");
        for (pointer, wanted) in wanted {
            let wanted = serde_json::to_value(wanted).expect("JSON");
            let found = match pointer.strip_suffix('#') {
                Some(list) => document.pointer(list).and_then(Value::as_array).map(|list| list.len().into()),
                None => document.pointer(&pointer).cloned(),
            };
            if found.as_ref() != Some(&wanted) {
                faults.push(format!("{pointer} is {found:?} instead of {wanted}: {}", run.stdout));
            }
        }
        faults
    }

    /// A preview of the whole patch must foretell how applying it ends.
    fn preview_faults(&self) -> Vec<String> {
        let place = self.place();
        let run = place.run(&[&["preview", "--json"], &self.args()[1..]].concat(), &self.stdin);
        let events = run.json_lines();
        let last = events.last().expect("a finish event");
        let (ok, fits) = match self.exit() {
            0 => (true, Value::Bool(true)),
            1 => (true, Value::Bool(false)),
            _ => (false, last["fits"].clone()),
        };
        let mut faults = Vec::new();
        if last["type"] != "finish" || last["ok"] != ok || last["fits"] != fits {
            faults.push(format!("the preview foretells something else: {last}"));
        }
        if run.status != if ok { 0 } else { 2 } || place.tree() != self.input {
            faults.push(format!("the preview ends with {} or has changed a file", run.status));
        }
        faults
    }
}

fn table(about: &Table, key: &str) -> Table {
    about.get(key).and_then(toml::Value::as_table).cloned().unwrap_or_default()
}

fn octal(mode: &toml::Value) -> u32 {
    u32::from_str_radix(mode.as_str().expect("a mode"), 8).expect("octal")
}

fn shown(entry: Option<&Entry>) -> String {
    match entry {
        None => "nothing".to_owned(),
        Some(Entry::File(bytes)) => format!("{:?}", String::from_utf8_lossy(bytes)),
        Some(Entry::Link(target)) => format!("a link to {}", target.display()),
    }
}

fn check(kind: &str, at_least: usize) {
    let folders = folders(kind);
    assert!(folders.len() >= at_least, "only {} cases of {kind}", folders.len());
    let mut faults = Vec::new();
    for folder in folders {
        let case = Case::read(&folder);
        let name = folder.file_name().expect("a name").to_string_lossy();
        faults.extend(case.faults().into_iter().map(|fault| format!("{kind}/{name}: {fault}")));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn patches_do_what_their_cases_say() {
    check("apply-patch", 70);
}

#[test]
fn unified_diffs_do_what_their_cases_say() {
    check("unified", 25);
}

#[test]
fn blocks_do_what_their_cases_say() {
    check("search-replace", 14);
}

#[test]
fn edits_do_what_their_cases_say() {
    check("edit", 15);
}

#[test]
fn writes_do_what_their_cases_say() {
    check("write", 8);
}

/// What the parser says of a patch in these pieces.
fn events(dialect: Dialect, pieces: &[&[u8]]) -> Vec<String> {
    let mut parser = Parser::new(dialect);
    let mut said = Vec::new();
    for piece in pieces {
        parser.push(piece, &mut |event| said.push(format!("{event:?}")));
    }
    parser.finish(&mut |event| said.push(format!("{event:?}")));
    said
}

#[test]
fn how_a_patch_is_cut_changes_nothing() {
    for dialect in Dialect::ALL {
        for folder in folders(dialect.name()) {
            let patch = fs::read(folder.join("patch.txt")).expect("a patch");
            let (whole, shown) = (events(dialect, &[&patch]), folder.display());
            assert_eq!(events(Dialect::Auto, &[&patch]), whole, "{shown}, dialect found out");
            let bytes: Vec<&[u8]> = patch.chunks(1).collect();
            assert_eq!(events(dialect, &bytes), whole, "{shown}, byte by byte");
            for cut in 0..=patch.len() {
                let pieces = [&patch[..cut], &patch[cut..]];
                assert_eq!(events(dialect, &pieces), whole, "{shown}, cut at {cut}");
            }
        }
    }
}
