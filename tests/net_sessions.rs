//! The net change of whole sessions, with git as the oracle: hunkwise follows a history that is made up commit by commit,
//! in every dialect, with calls that are taken back; then the net patch of its log must make of the tree before what
//! stands there after, byte for byte, and say the lines that git says.
//!
//! `HUNKWISE_SESSIONS=50 cargo test --test net_sessions` follows so many histories.

#![cfg(feature = "cli")]
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a test writes files, starts programs and may fail"
)]

#[expect(dead_code, reason = "other tests use the rest")]
mod support;

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use support::Place;
use support::output;

/// How many histories are followed where nothing else is asked for.
const SESSIONS: u64 = 2;
/// How many commits a history has.
const COMMITS: usize = 24;

/// A file's bytes, and whether it is a program, by its path.
type Tree = BTreeMap<String, (Vec<u8>, bool)>;

/// Numbers that look like chance and are the same every time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % limit
    }

    fn is(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn line(&mut self) -> String {
        const WORDS: [&str; 12] =
            ["let", "total", "price", "=", "sum(", "items", ")", "return", "if", "größe", "+", "0"];
        // Some lines stand many times in a file, as braces and empty lines do.
        match self.below(6) {
            0 => String::new(),
            1 => "}".to_owned(),
            _ => {
                let words: Vec<&str> =
                    (0..1 + self.below(6)).map(|_| WORDS[self.below(WORDS.len())]).collect();
                format!("{}{}", "    ".repeat(self.below(3)), words.join(" "))
            }
        }
    }

    fn text(&mut self, ending: &str) -> String {
        let count = self.below(120);
        let mut text: String = (0..count).map(|_| self.line() + ending).collect();
        if self.is(15) {
            text.push_str("the last line has no newline");
        }
        text
    }

    fn pick(&mut self, tree: &Tree) -> Option<String> {
        let names: Vec<&String> = tree.keys().collect();
        (!names.is_empty()).then(|| names[self.below(names.len())].clone())
    }
}

/// Reads a tree, without what belongs to git.
fn read(root: &Path) -> Tree {
    let (mut tree, mut folders) = (Tree::new(), vec![root.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.ends_with(".git") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(root).expect("below").to_string_lossy().into_owned();
            let mode = path.metadata().expect("its mode").permissions().mode();
            tree.insert(name, (fs::read(&path).expect("a file"), mode & 0o100 != 0));
        }
    }
    tree
}

/// Makes a folder hold exactly this tree.
fn write(root: &Path, tree: &Tree) {
    for name in read(root).keys() {
        fs::remove_file(root.join(name)).expect("a file goes");
    }
    for (name, (bytes, is_program)) in tree {
        let path = root.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder is made");
        fs::write(&path, bytes).expect("a file is written");
        let mode = if *is_program { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("its mode");
    }
}

/// A history that is made up, and the tree that hunkwise makes of it.
struct Session {
    place: Place,
    /// Where git keeps the history.
    history: PathBuf,
    chance: Chance,
    /// Count of calls that can be taken back.
    calls: usize,
    /// Count of all.
    all_calls: usize,
    has_binary: bool,
}

impl Session {
    fn new(seed: u64) -> Self {
        let place = Place::new();
        let history = place.beside("history");
        fs::create_dir(&history).expect("a folder is made");
        let mut session = Session {
            place,
            history,
            chance: Chance(seed),
            calls: 0,
            all_calls: 0,
            has_binary: seed % 5 == 4,
        };
        session.git(&["init", "-q"]);
        let mut tree = Tree::new();
        for name in
            ["src/a.rs", "src/b.rs", "docs/read me.md", "größe.txt", "windows.txt", "run.sh", "gone.txt"]
        {
            let ending = if name == "windows.txt" { "\r\n" } else { "\n" };
            tree.insert(name.to_owned(), (session.chance.text(ending).into_bytes(), name == "run.sh"));
        }
        if session.has_binary {
            tree.insert("image.bin".to_owned(), (vec![0, 159, 146, 150, 10, 0, 1], false));
        }
        write(&session.history, &tree);
        write(&session.place.root(), &tree);
        session.commit();
        session.git(&["tag", "before"]);
        session
    }

    fn git(&self, args: &[&str]) -> Vec<u8> {
        let mut git = Command::new("git");
        self.place.clear(&mut git);
        git.current_dir(&self.history)
            .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.quotepath=off"])
            .args(args);
        let done = git.output().expect("git starts");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(
            done.status.success() || done.status.code() == Some(1) && said.is_empty(),
            "git {args:?}: {said}"
        );
        done.stdout
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "next"]);
    }

    /// Changes some lines of a text.
    fn edited(&mut self, bytes: &[u8]) -> Vec<u8> {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        for _ in 0..1 + self.chance.below(3) {
            let at = self.chance.below(lines.len() + 1);
            let end = lines.len().min(at + self.chance.below(4));
            let is_open = end == lines.len() && lines.last().is_some_and(|line| !line.ends_with('\n'));
            let new: Vec<String> = (0..self.chance.below(4)).map(|_| self.chance.line() + ending).collect();
            if is_open && (at == lines.len() || self.chance.is(50)) {
                continue;
            }
            lines.splice(at..end, new);
        }
        let mut text = lines.concat();
        if self.chance.is(8) {
            // The newline at the end comes or goes.
            match text.strip_suffix(ending) {
                Some(open) if !open.is_empty() && !open.ends_with('\n') => text = open.to_owned(),
                None if !text.is_empty() => text.push_str(ending),
                Some(_) | None => {}
            }
        }
        text.into_bytes()
    }

    /// Makes up the next commit; returns what of it is new.
    fn change(&mut self, tree: &mut Tree) {
        for _ in 0..1 + self.chance.below(2) {
            let Some(name) = self.chance.pick(tree) else { continue };
            let (bytes, is_program) = tree[&name].clone();
            let fresh = format!("new/{}.txt", self.chance.below(1000));
            match self.chance.below(20) {
                0..=11 if name == "image.bin" => {
                    let bytes =
                        [bytes, vec![0, 7, u8::try_from(self.chance.below(200)).expect("a byte")]].concat();
                    tree.insert(name, (bytes, is_program));
                }
                0..=11 => {
                    let bytes = self.edited(&bytes);
                    tree.insert(name, (bytes, is_program));
                }
                12 | 13 if !tree.contains_key(&fresh) => {
                    let bytes = self.chance.text("\n").into_bytes();
                    tree.insert(fresh, (bytes, self.chance.is(20)));
                }
                14 | 15 if !tree.contains_key(&fresh) => {
                    tree.remove(&name);
                    let bytes =
                        if self.chance.is(50) && name != "image.bin" { self.edited(&bytes) } else { bytes };
                    tree.insert(fresh, (bytes, is_program));
                }
                16 => {
                    tree.remove(&name);
                }
                _ => {
                    tree.insert(name, (bytes, !is_program));
                }
            }
        }
    }

    /// Lets hunkwise make the next commit of the history, in one way or another. What it made counts: not every dialect
    /// can say all of a change.
    fn follow(&mut self) {
        let before = read(&self.history);
        let mut tree = before.clone();
        self.change(&mut tree);
        if tree == before {
            return;
        }
        write(&self.history, &tree);
        self.git(&["add", "-A", "-N"]);
        let patch = self.git(&["diff", "--binary", "-M", "HEAD"]);
        let changed: Vec<&String> = tree.keys().filter(|name| tree.get(*name) != before.get(*name)).collect();
        let is_done = match (self.chance.below(5), changed.as_slice()) {
            (0, [name]) => self.run(&["write", name], &tree[*name].0),
            (1, [name]) => self.edit(name),
            (2, _) => self.in_dialect(&patch, "apply-patch"),
            (3, _) => self.in_dialect(&patch, "search-replace"),
            _ => false,
        };
        if !is_done {
            assert!(self.run(&["apply"], &patch), "{}", String::from_utf8_lossy(&patch));
        }
        self.calls += 1;
        self.all_calls += 1;
        self.adopt();
    }

    /// Takes some of the last calls back.
    fn undo(&mut self) {
        // Calls that changed nothing are passed over, so there may be fewer.
        let count = 1 + self.chance.below(self.calls.min(3));
        let log = self.place.beside("log.jsonl");
        let count_words = count.to_string();
        let args = ["undo", log.to_str().expect("a name"), "--last", &count_words, "--no-sync", "--quiet"];
        self.calls = match output(self.place.command(&args), b"").status {
            0 => self.calls - count,
            _ => 0,
        };
        self.all_calls += 1;
        self.adopt();
    }

    /// The history goes on from what hunkwise made.
    fn adopt(&self) {
        write(&self.history, &read(&self.place.root()));
        self.commit();
    }

    /// Runs hunkwise in the tree, with the log.
    fn run(&self, args: &[&str], stdin: &[u8]) -> bool {
        let log = self.place.beside("log.jsonl");
        let log = ["--log", log.to_str().expect("a name"), "--no-sync", "--quiet"];
        output(self.place.command(&[args, &log].concat()), stdin).status == 0
    }

    fn in_dialect(&self, patch: &[u8], dialect: &str) -> bool {
        let said = output(self.place.command(&["show", "--output", dialect]), patch);
        said.status == 0 && self.run(&["apply"], said.stdout.as_bytes())
    }

    /// Replaces a piece of a file that stands there once.
    fn edit(&mut self, name: &str) -> bool {
        let Ok(text) = fs::read_to_string(self.place.root().join(name)) else { return false };
        let start = self.chance.below(text.len() + 1);
        let end = text.len().min(start + 1 + self.chance.below(60));
        let (Some(old), new) = (text.get(start..end), self.chance.line()) else { return false };
        text.matches(old).count() == 1
            && old != new
            && self.run(&["edit", name, "--old", old, "--new", &new], b"")
    }

    /// Checks the net patch of the log against git.
    fn check(&self) -> Compared {
        let log = self.place.beside("log.jsonl");
        let args = ["replay", "--net", "--output", "patch", log.to_str().expect("a name")];
        let net = output(self.place.command(&args), b"");
        let (before, after) = (self.tree_of("before"), read(&self.place.root()));
        // Of a binary file a log holds too little, and says so.
        let is_text = |(_, (bytes, _)): &(&String, &(Vec<u8>, bool))| !bytes.contains(&0);
        let binaries = |tree: &Tree| tree.len() - tree.iter().filter(is_text).count();
        assert!(net.status == 0 || binaries(&before) > 0, "{}{}", net.stdout, net.stderr);
        // Git makes of the tree before what hunkwise made of it.
        let made = self.place.beside("made");
        fs::create_dir(&made).expect("a folder is made");
        write(&made, &before);
        if net.stdout.lines().any(|line| !line.starts_with('#')) {
            self.apply(&net.stdout, &made);
        }
        let made = read(&made);
        if net.status == 0 {
            assert_eq!(made, after, "{}", net.stdout);
            return self.compare(&net.stdout);
        }
        let texts = |tree: &Tree| -> Tree {
            tree.iter().filter(is_text).map(|(name, file)| (name.clone(), file.clone())).collect()
        };
        assert_eq!(texts(&made), texts(&after), "{}", net.stdout);
        Compared::default()
    }

    /// Compares the sections with what git says differs.
    fn compare(&self, patch: &str) -> Compared {
        let log = self.place.beside("log.jsonl");
        let cards = ["replay", "--net", "--json", log.to_str().expect("a name")];
        let cards = output(self.place.command(&cards), b"").json_lines();
        let sections: Vec<&str> = patch.split("diff --git ").skip(1).collect();
        assert_eq!(sections.len(), cards.len(), "{patch}");
        let mut named = BTreeMap::<String, usize>::new();
        let mut compared = Compared { files: sections.len(), ..Compared::default() };
        for (section, card) in sections.iter().zip(&cards) {
            let file = &card["files"][0];
            let path = file["path"].as_str().expect("a path");
            let from = file["from"].as_str().unwrap_or(path);
            let operation = file["operation"].as_str().expect("an operation");
            for name in BTreeSet::from([path, from]) {
                *named.entry(name.to_owned()).or_default() += 1;
            }
            let old = if operation == "create" { None } else { Some(format!("before:{from}")) };
            let new = if operation == "delete" { None } else { Some(format!("after:{path}")) };
            let git = self.diff_of(old, new);
            let (ours, git) = (hunks(section), hunks(&git));
            compared.same_hunks += usize::from(ours == git);
            compared.same_lines += usize::from(changed(&ours) == changed(&git));
            // Of equal lines either may be the one that stays; only pieces of the file are compared here.
            assert!(changed(&ours).len() <= changed(&git).len() * 5 / 4 + 2, "{section}");
        }
        let said = self.git(&["diff", "--no-renames", "--name-only", "-z", "before", "after"]);
        let said = String::from_utf8(said).expect("UTF-8");
        let differing: BTreeSet<&str> = said.split_terminator('\0').collect();
        for name in &differing {
            assert!(named.contains_key(*name), "{name} differs, and no card says so");
        }
        for (name, count) in &named {
            // Where one file made room for another, what stands there may be the same.
            assert!(differing.contains(name.as_str()) || *count > 1, "{name} does not differ");
        }
        compared
    }

    /// Returns what git says of two contents.
    fn diff_of(&self, old: Option<String>, new: Option<String>) -> String {
        let empty =
            String::from_utf8(self.git(&["hash-object", "-w", "-t", "blob", "/dev/null"])).expect("a name");
        let empty = empty.trim();
        let (old, new) = (old.as_deref().unwrap_or(empty), new.as_deref().unwrap_or(empty));
        let diff = self.git(&["diff", "--histogram", "--indent-heuristic", "--no-color", old, new, "--"]);
        String::from_utf8(diff).expect("UTF-8")
    }

    fn tree_of(&self, commit: &str) -> Tree {
        self.git(&["checkout", "-q", commit]);
        let tree = read(&self.history);
        self.git(&["checkout", "-q", "after"]);
        tree
    }

    fn apply(&self, patch: &str, root: &Path) {
        let mut git = Command::new("git");
        self.place.clear(&mut git);
        git.current_dir(root).env("GIT_CEILING_DIRECTORIES", root).args([
            "apply",
            "--whitespace=nowarn",
            "-",
        ]);
        let done = output(git, patch.as_bytes());
        assert_eq!(done.status, 0, "{} for\n{patch}", done.stderr);
    }
}

/// How many files differ, of how many the same lines are added and removed as git says, and of how many the hunks are
/// git's byte for byte, but for what stands after their numbers.
#[derive(Debug, Default)]
struct Compared {
    files: usize,
    same_lines: usize,
    same_hunks: usize,
}

/// Returns the hunks of a section, without what stands after their numbers.
fn hunks(section: &str) -> Vec<String> {
    let lines = section.split_inclusive('\n').skip_while(|line| !line.starts_with("@@"));
    let bare = |line: &str| match line.strip_prefix("@@").and_then(|rest| rest.split_once("@@")) {
        Some((numbers, _)) => format!("@@{numbers}@@"),
        None => line.to_owned(),
    };
    lines.map(bare).collect()
}

/// Returns the lines that a section adds and removes, sorted.
fn changed(hunks: &[String]) -> Vec<&String> {
    let mut lines: Vec<&String> = hunks.iter().filter(|line| line.starts_with(['+', '-'])).collect();
    lines.sort();
    lines
}

#[test]
fn the_net_patch_of_a_session_is_what_git_says() {
    let count =
        std::env::var("HUNKWISE_SESSIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(SESSIONS);
    let (mut calls, mut all) = (0, Compared::default());
    for seed in 0..count {
        let mut session = Session::new(seed);
        for _ in 0..COMMITS {
            if session.calls > 0 && session.chance.is(20) {
                session.undo();
            } else {
                session.follow();
            }
        }
        session.git(&["tag", "after"]);
        let compared = session.check();
        calls += session.all_calls;
        all.files += compared.files;
        all.same_lines += compared.same_lines;
        all.same_hunks += compared.same_hunks;
    }
    assert!(all.files > 0 && all.same_lines * 100 >= all.files * 97, "{all:?}");
    // With --nocapture: what the sessions came to.
    let said = format!("{count} sessions, {calls} calls: {all:?}\n");
    std::io::stdout().write_all(said.as_bytes()).expect("it is printed");
}
