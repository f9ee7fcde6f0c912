//! What git says differs between two trees, applied, gives the second tree; taken back, the first.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a test writes files, starts programs and may fail"
)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use hunkwise::patch::Dialect;
use hunkwise::patch::Patch;
use hunkwise::patch::parse;
use hunkwise::patch::reverse;
use hunkwise::plan::After;
use hunkwise::plan::FileState;
use hunkwise::plan::FoundFile;
use hunkwise::plan::Given;
use hunkwise::plan::Options;
use hunkwise::plan::Planner;
use hunkwise::text::Document;
use hunkwise::text::PathText;
use proptest::prelude::*;
use proptest::sample::select;
use tempfile::TempDir;

/// Path to content, and whether it can be run.
type Tree = BTreeMap<String, (Vec<u8>, bool)>;

/// A repository in which trees are written down.
struct Repository {
    folder: TempDir,
}

impl Repository {
    fn new() -> Self {
        let repository = Repository { folder: TempDir::new().expect("a folder") };
        repository.git(&["init", "-q"], None);
        repository
    }

    fn git(&self, args: &[&str], work: Option<&Path>) -> Vec<u8> {
        let mut command = Command::new("git");
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_DIR", self.folder.path().join(".git"));
        command.args(["-c", "core.autocrlf=false", "-c", "core.safecrlf=false"]);
        command.env("GIT_WORK_TREE", work.unwrap_or(self.folder.path()));
        let output = command.args(args).current_dir(self.folder.path()).output().expect("git runs");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    fn tree(&self, tree: &Tree) -> String {
        let work = TempDir::new().expect("a folder");
        for (name, (bytes, is_run)) in tree {
            let path = work.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder is made");
            fs::write(&path, bytes).expect("a file is written");
            let mode = if *is_run { 0o755 } else { 0o644 };
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("its mode");
        }
        self.git(&["--work-tree", &work.path().to_string_lossy(), "add", "-A", "."], Some(work.path()));
        String::from_utf8(self.git(&["write-tree"], None)).expect("a name").trim().to_owned()
    }

    fn diff(&self, options: &[&str], old: &Tree, new: &Tree) -> Vec<u8> {
        let (old, new) = (self.tree(old), self.tree(new));
        self.git(&[&["diff", "--binary"], options, &[&old, &new]].concat(), None)
    }
}

/// Applies a patch to a tree; what does not fit is said.
fn applied(tree: &Tree, patch: &Patch) -> Result<Tree, String> {
    let mut planner = Planner::new(Options::default());
    for (index, edit) in patch.edits.iter().enumerate() {
        for want in planner.wants(edit) {
            let real = want.path.normalized();
            let found = tree.get(real.shown().as_ref());
            let state = found.map_or(FileState::Absent, |(bytes, is_run)| {
                FileState::File(FoundFile {
                    document: Arc::new(Document::new(bytes.clone())),
                    mode: if *is_run { 0o100_755 } else { 0o100_644 },
                    hard_links: 1,
                    stamp: Default::default(),
                })
            });
            planner.give(want, Given { real, state, link: None });
        }
        planner.plan(index + 1, edit).map_err(|problems| format!("{problems:#?}"))?;
    }
    let plan = planner.finish();
    let mut after = tree.clone();
    let name = |path: &PathText| path.shown().into_owned();
    for file in &plan.files {
        after.remove(&name(file.source.as_ref().unwrap_or(&file.target)));
    }
    for file in &plan.files {
        let before = file.before.as_ref().map_or(&b""[..], |found| found.document.bytes());
        let bytes = match &file.after {
            None => continue,
            Some(After::Same) => before.to_vec(),
            Some(After::Spliced(splices)) => splices.apply(before),
            Some(After::Whole(whole)) => whole.bytes().to_vec(),
        };
        let mode = file.mode.or(file.before.as_ref().map(|found| found.mode)).unwrap_or(0o100_644);
        after.insert(name(&file.target), (bytes, mode & 0o100 != 0));
    }
    Ok(after)
}

/// Checks that git's patch leads from one tree to the other, and its reverse back.
fn check(repository: &Repository, options: &[&str], old: &Tree, new: &Tree) -> Result<(), String> {
    let text = repository.diff(options, old, new);
    let shown = String::from_utf8_lossy(&text).into_owned();
    let parsed = parse(&text, Dialect::Unified);
    if let Some(problem) = parsed.malformed {
        return Err(format!("{problem:?}\n{shown}"));
    }
    let forward = applied(old, &parsed.patch).map_err(|fault| format!("{fault}\n{shown}"))?;
    if forward != *new {
        return Err(format!("forward: {forward:?}\ninstead of {new:?}\n{shown}"));
    }
    let back = applied(new, &reverse(parsed.patch)).map_err(|fault| format!("back: {fault}\n{shown}"))?;
    if back == *old { Ok(()) } else { Err(format!("back: {back:?}\ninstead of {old:?}\n{shown}")) }
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let texts: Vec<&[u8]> = vec![
        b"",
        b"a",
        b"b",
        b"  c",
        b"}",
        b"-- x",
        b"++ y",
        b"@@ -1 +1 @@",
        b"\\ n",
        b"caf\xe9",
        b"a\r",
        b"diff --git a/x b/x",
        b"a longer line, which stands alone",
        b"another longer line",
    ];
    (select(texts), prop_oneof![4 => Just(&b"\n"[..]), 1 => Just(&b"\r\n"[..])])
        .prop_map(|(text, ending)| [text, ending].concat())
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    let text =
        (prop::collection::vec(line(), 0..30), any::<bool>(), 0..8u8).prop_map(|(lines, is_cut, bom)| {
            let mut bytes = lines.concat();
            if is_cut && bytes.ends_with(b"\n") {
                bytes.pop();
            }
            if bom == 0 {
                bytes.splice(0..0, *b"\xEF\xBB\xBF");
            }
            bytes
        });
    prop_oneof![
        6 => text,
        1 => prop::collection::vec(any::<u8>(), 0..300).prop_map(|bytes| [&b"\0"[..], &bytes].concat()),
    ]
}

/// What becomes of a file: its new content, name, and whether it can be run.
#[derive(Debug, Clone)]
enum Fate {
    Stays,
    Goes,
    Becomes(Vec<u8>),
    Changes { at: usize, length: usize, lines: Vec<Vec<u8>>, moves: bool, flips: bool },
}

fn fate() -> impl Strategy<Value = Fate> {
    let change = (0..40usize, 0..4usize, prop::collection::vec(line(), 0..4), any::<bool>(), any::<bool>())
        .prop_map(|(at, length, lines, moves, flips)| Fate::Changes { at, length, lines, moves, flips });
    prop_oneof![
        2 => Just(Fate::Stays),
        1 => Just(Fate::Goes),
        1 => content().prop_map(Fate::Becomes),
        6 => change,
    ]
}

const NAMES: [&str; 6] = ["a", "b c", "d/e", "d/é.txt", "q\"t\\", "tab\tname"];

fn trees() -> impl Strategy<Value = (Tree, Tree)> {
    let file = (content(), any::<bool>(), fate());
    let new = prop::option::weighted(0.3, (content(), any::<bool>()));
    (prop::collection::vec(prop::option::weighted(0.6, file), NAMES.len()), new).prop_map(|(files, added)| {
        let (mut old, mut new) = (Tree::new(), Tree::new());
        for (name, file) in NAMES.iter().zip(files) {
            let Some((bytes, is_run, fate)) = file else { continue };
            old.insert((*name).to_owned(), (bytes.clone(), is_run));
            match fate {
                Fate::Goes => {}
                Fate::Stays => drop(new.insert((*name).to_owned(), (bytes, is_run))),
                Fate::Becomes(other) => drop(new.insert((*name).to_owned(), (other, is_run))),
                Fate::Changes { at, length, lines, moves, flips } => {
                    let mut all: Vec<Vec<u8>> =
                        bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
                    let at = at.min(all.len());
                    let end = (at + length).min(all.len());
                    all.splice(at..end, lines);
                    let name = if moves { format!("moved/{name}") } else { (*name).to_owned() };
                    new.insert(name, (all.concat(), is_run ^ flips));
                }
            }
        }
        if let Some(added) = added {
            new.insert("new/file".to_owned(), added);
        }
        (old, new)
    })
}

#[test]
fn what_git_says_leads_there_and_back() {
    let repository = Repository::new();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(60),
        failure_persistence: None,
        max_shrink_iters: 200,
        ..ProptestConfig::default()
    });
    let options: [&[&str]; 4] =
        [&["-M"], &["-M", "-U1"], &["-C", "--no-prefix"], &["--no-renames", "--full-index"]];
    runner
        .run(&(trees(), select(options.to_vec())), |((old, new), options)| {
            check(&repository, options, &old, &new).map_err(TestCaseError::fail)
        })
        .expect("every patch leads there and back");
}
