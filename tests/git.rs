//! What git says differs between two trees, applied, gives the second tree; taken back, the first. Said in another
//! dialect it gives the second tree too, or is refused.
//!
//! `PROPTEST_CASES` sets how many pairs of trees are tried.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a test writes files, starts programs and may fail"
)]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use hunkwise::patch::Dialect;
use hunkwise::patch::Patch;
use hunkwise::patch::format;
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
use proptest::test_runner::TestRunner;
use tempfile::TempDir;

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    /// Its content; of a link its target.
    bytes: Vec<u8>,
    /// As git has it: 100644, 100755 or 120000.
    mode: u32,
}

type Tree = BTreeMap<String, Entry>;

const FILE: u32 = 0o100_644;
const PROGRAM: u32 = 0o100_755;
const LINK: u32 = 0o120_000;

/// Writes a tree down in an empty folder.
fn write(tree: &Tree, folder: &Path) {
    for (name, Entry { bytes, mode }) in tree {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder is made");
        if *mode == LINK {
            symlink(OsStr::from_bytes(bytes), &path).expect("a link is made");
            continue;
        }
        fs::write(&path, bytes).expect("a file is written");
        let permissions = if *mode == PROGRAM { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(permissions)).expect("its mode");
    }
}

/// Returns the tree in a folder.
fn read(folder: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(&inner).expect("a folder") {
            let path = entry.expect("an entry").path();
            let metadata = fs::symlink_metadata(&path).expect("its metadata");
            let name = path.strip_prefix(folder).expect("a part").to_string_lossy().into_owned();
            let entry = if metadata.is_symlink() {
                Entry { bytes: fs::read_link(&path).expect("a link").into_os_string().into_vec(), mode: LINK }
            } else if metadata.is_dir() {
                folders.push(path);
                continue;
            } else {
                let mode = if metadata.permissions().mode() & 0o100 == 0 { FILE } else { PROGRAM };
                Entry { bytes: fs::read(&path).expect("a file"), mode }
            };
            tree.insert(name, entry);
        }
    }
    tree
}

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
        write(tree, work.path());
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
        // Where a link leads is wanted once it is known which one it is.
        for _ in 0..2 {
            for want in planner.wants(edit) {
                let real = want.path.normalized();
                let state = match tree.get(real.shown().as_ref()) {
                    None => FileState::Absent,
                    Some(entry) if entry.mode == LINK && !want.is_link => FileState::Other("link"),
                    Some(entry) => FileState::File(FoundFile {
                        document: Arc::new(Document::new(entry.bytes.clone())),
                        mode: entry.mode,
                        hard_links: 1,
                        stamp: Default::default(),
                    }),
                };
                planner.give(want, Given { real, state, link: None });
            }
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
        let mode = file.mode.or(file.before.as_ref().map(|found| found.mode)).unwrap_or(FILE);
        let mode = match mode & 0o100 {
            _ if mode == LINK => LINK,
            0 => FILE,
            _ => PROGRAM,
        };
        after.insert(name(&file.target), Entry { bytes, mode });
    }
    Ok(after)
}

/// Tells whether a patch was refused since nothing tells what its new lines are: those that are UTF-8 may be the bytes of
/// a file that is not, or text that the file's encoding lacks.
fn is_undecided(fault: &str, tree: &Tree) -> bool {
    let is_other = |entry: &Entry| std::str::from_utf8(&entry.bytes).is_err();
    fault.contains("code: Unencodable") && tree.values().any(is_other)
}

/// Checks that git's patch leads from one tree to the other, and its reverse back.
fn check(repository: &Repository, options: &[&str], old: &Tree, new: &Tree) -> Result<(), String> {
    let text = repository.diff(options, old, new);
    let shown = String::from_utf8_lossy(&text).into_owned();
    let parsed = parse(&text, Dialect::Unified);
    if let Some(problem) = parsed.malformed {
        return Err(format!("{problem:?}\n{shown}"));
    }
    let forward = match applied(old, &parsed.patch) {
        Err(fault) if is_undecided(&fault, old) => return Ok(()),
        result => result.map_err(|fault| format!("{fault}\n{shown}"))?,
    };
    if forward != *new {
        return Err(format!("forward: {forward:?}\ninstead of {new:?}\n{shown}"));
    }
    let back = match applied(new, &reverse(parsed.patch)) {
        Err(fault) if is_undecided(&fault, new) => return Ok(()),
        result => result.map_err(|fault| format!("back: {fault}\n{shown}"))?,
    };
    if back == *old { Ok(()) } else { Err(format!("back: {back:?}\ninstead of {old:?}\n{shown}")) }
}

/// What trees are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taste {
    /// Everything that a file may hold.
    Anything,
    /// Lines of text that end in LF, mostly.
    Plain,
}

fn line(taste: Taste) -> BoxedStrategy<Vec<u8>> {
    let plain: Vec<&[u8]> =
        vec![b"", b"a", b"b", b"  c", b"}", b"one", b"two", b"a longer line", b"another longer line"];
    let odd: Vec<&[u8]> = vec![
        b"-- x",
        b"++ y",
        b"@@ -1 +1 @@",
        b"\\ n",
        b"caf\xe9",
        b"a\r",
        b"diff --git a/x b/x",
        b"=======",
        b"*** End Patch",
    ];
    let ending = match taste {
        Taste::Anything => prop_oneof![4 => Just(&b"\n"[..]), 1 => Just(&b"\r\n"[..])].boxed(),
        Taste::Plain => Just(&b"\n"[..]).boxed(),
    };
    let odd_weight = if taste == Taste::Plain { 1 } else { 30 };
    let text = prop_oneof![50 => select(plain), odd_weight => select(odd)];
    (text, ending).prop_map(|(text, ending)| [text, ending].concat()).boxed()
}

fn content(taste: Taste) -> BoxedStrategy<Vec<u8>> {
    let (cut_weight, other_weight) = if taste == Taste::Plain { (0.05, 0) } else { (0.5, 1) };
    let is_cut = prop::bool::weighted(cut_weight);
    let text =
        (prop::collection::vec(line(taste), 0..30), is_cut, 0..8u8).prop_map(move |(lines, is_cut, bom)| {
            let mut bytes = lines.concat();
            if is_cut && bytes.ends_with(b"\n") {
                bytes.pop();
            }
            if bom == 0 && taste == Taste::Anything {
                bytes.splice(0..0, *b"\xEF\xBB\xBF");
            }
            bytes
        });
    let binary = prop::collection::vec(any::<u8>(), 0..300).prop_map(|bytes| [&b"\0"[..], &bytes].concat());
    prop_oneof![6 => text, other_weight => binary].boxed()
}

/// What becomes of a file: its new content, name, and whether it can be run.
#[derive(Debug, Clone)]
enum Fate {
    Stays,
    Goes,
    Becomes(Vec<u8>),
    Changes { at: usize, length: usize, lines: Vec<Vec<u8>>, moves: bool, flips: bool },
}

fn fate(taste: Taste) -> impl Strategy<Value = Fate> {
    let change =
        (0..40usize, 0..4usize, prop::collection::vec(line(taste), 0..4), rarely(taste), rarely(taste))
            .prop_map(|(at, length, lines, moves, flips)| Fate::Changes { at, length, lines, moves, flips });
    prop_oneof![
        2 => Just(Fate::Stays),
        1 => Just(Fate::Goes),
        1 => content(taste).prop_map(Fate::Becomes),
        6 => change,
    ]
}

fn rarely(taste: Taste) -> impl Strategy<Value = bool> {
    prop::bool::weighted(if taste == Taste::Plain { 0.1 } else { 0.5 })
}

const NAMES: [&str; 6] = ["a", "b c", "d/e", "d/é.txt", "q\"t\\", "tab\tname"];

const LINKS: [&str; 3] = ["link", "d/link", "link to"];

/// What stands where a link may stand, before and after: a link, a file or nothing. All targets are inside.
fn links(taste: Taste) -> impl Strategy<Value = Vec<[Option<Entry>; 2]>> {
    let targets: Vec<&[u8]> = vec![b"a", b"b c", b"d", b"nowhere", b"d/e", b"d/\xff", b"./d//e"];
    let link = select(targets).prop_map(|target| Entry { bytes: target.to_vec(), mode: LINK });
    let file = content(taste).prop_map(|bytes| Entry { bytes, mode: FILE });
    let entry = prop_oneof![5 => link, 1 => file];
    let pair = (prop::option::of(entry.clone()), prop::option::of(entry), any::<bool>());
    // Most links stay as they are.
    let pair = pair.prop_map(|(old, new, stays)| if stays { [old.clone(), old] } else { [old, new] });
    prop_oneof![
        2 => Just(Vec::new()),
        1 => prop::collection::vec(pair, LINKS.len()),
    ]
}

fn trees(taste: Taste) -> impl Strategy<Value = (Tree, Tree)> {
    (files(taste), links(taste), any::<bool>()).prop_map(|((mut old, mut new), links, moves)| {
        for (name, [before, after]) in LINKS.iter().zip(links) {
            let is_moved =
                moves && before.as_ref().is_some_and(|entry| entry.mode == LINK) && before == after;
            let name_after =
                if is_moved { format!("d/{}", name.replace('/', "-")) } else { (*name).to_owned() };
            before.into_iter().for_each(|entry| drop(old.insert((*name).to_owned(), entry)));
            after.into_iter().for_each(|entry| drop(new.insert(name_after.clone(), entry)));
        }
        (old, new)
    })
}

fn files(taste: Taste) -> impl Strategy<Value = (Tree, Tree)> {
    let mode = || prop_oneof![3 => Just(FILE), 1 => Just(PROGRAM)];
    let file = (content(taste), mode(), fate(taste));
    let new = prop::option::weighted(0.3, (content(taste), mode()));
    (prop::collection::vec(prop::option::weighted(0.6, file), NAMES.len()), new).prop_map(|(files, added)| {
        let (mut old, mut new) = (Tree::new(), Tree::new());
        for (name, file) in NAMES.iter().zip(files) {
            let Some((bytes, mode, fate)) = file else { continue };
            old.insert((*name).to_owned(), Entry { bytes: bytes.clone(), mode });
            match fate {
                Fate::Goes => {}
                Fate::Stays => drop(new.insert((*name).to_owned(), Entry { bytes, mode })),
                Fate::Becomes(bytes) => drop(new.insert((*name).to_owned(), Entry { bytes, mode })),
                Fate::Changes { at, length, lines, moves, flips } => {
                    let mut all: Vec<Vec<u8>> =
                        bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
                    let at = at.min(all.len());
                    let end = (at + length).min(all.len());
                    all.splice(at..end, lines);
                    let name = if moves { format!("moved/{name}") } else { (*name).to_owned() };
                    let mode = if flips { FILE ^ PROGRAM ^ mode } else { mode };
                    new.insert(name, Entry { bytes: all.concat(), mode });
                }
            }
        }
        if let Some((bytes, mode)) = added {
            new.insert("new/file".to_owned(), Entry { bytes, mode });
        }
        (old, new)
    })
}

fn runner(usual_cases: u32) -> TestRunner {
    TestRunner::new(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES")
            .ok()
            .and_then(|cases| cases.parse().ok())
            .unwrap_or(usual_cases),
        failure_persistence: None,
        max_shrink_iters: 200,
        ..ProptestConfig::default()
    })
}

/// How git is asked: the ways in which its diffs differ.
const OPTIONS: [&[&str]; 4] =
    [&["-M"], &["-M", "-U1"], &["-C", "--no-prefix"], &["--no-renames", "--full-index"]];

#[test]
fn what_git_says_leads_there_and_back() {
    let repository = Repository::new();
    runner(60)
        .run(&(trees(Taste::Anything), select(OPTIONS.to_vec())), |((old, new), options)| {
            check(&repository, options, &old, &new).map_err(TestCaseError::fail)
        })
        .expect("every patch leads there and back");
}

/// How many edits or patches were said and did what they should, were said and fit nowhere, or could not be said.
#[derive(Debug, Default)]
struct Counts {
    exact: Cell<usize>,
    misfit: Cell<usize>,
    unsaid: Cell<usize>,
}

fn count(cell: &Cell<usize>) {
    cell.set(cell.get() + 1);
}

/// Checks that each edit of git's patch, said in another dialect, does the same or is refused.
fn check_edits(old: &Tree, patch: &Patch, dialect: Dialect, counts: &Counts) -> Result<(), String> {
    for edit in &patch.edits {
        let patch = Patch { edits: vec![edit.clone()] };
        let Ok(wanted) = applied(old, &patch) else { continue };
        let Ok(text) = format(&patch, dialect) else {
            count(&counts.unsaid);
            continue;
        };
        let parsed = parse(&text, dialect);
        let shown = String::from_utf8_lossy(&text).into_owned();
        if let Some(problem) = parsed.malformed {
            return Err(format!("{problem:?}\n{shown}"));
        }
        match applied(old, &parsed.patch) {
            Ok(made) if made == wanted => count(&counts.exact),
            Ok(made) => return Err(format!("{made:?}\ninstead of {wanted:?}\n{shown}")),
            // Without line numbers a place may be ambiguous.
            Err(_) => count(&counts.misfit),
        }
    }
    Ok(())
}

fn any_taste() -> impl Strategy<Value = (Tree, Tree)> {
    prop_oneof![1 => trees(Taste::Anything), 3 => trees(Taste::Plain)]
}

#[test]
fn another_dialect_says_the_same_or_nothing() {
    let repository = Repository::new();
    for dialect in Dialect::ALL {
        let counts = Counts::default();
        runner(30)
            .run(&any_taste(), |(old, new)| {
                let text = repository.diff(&["-M"], &old, &new);
                let patch = parse(&text, Dialect::Unified).patch;
                check_edits(&old, &patch, dialect, &counts).map_err(TestCaseError::fail)
            })
            .expect("every edit is the same or refused");
        assert!(counts.exact.get() > 0, "{dialect:?}: {counts:?}");
        if dialect == Dialect::Unified {
            assert_eq!((counts.misfit.get(), counts.unsaid.get()), (0, 0));
        }
        eprintln!("{dialect:?}, edits: {counts:?}");
    }
}

/// The binary on checkouts.
#[cfg(feature = "cli")]
mod checkouts {
    use std::io::Write;
    use std::process::Stdio;

    use super::*;

    /// Runs the command in a checkout of a tree; returns its status, what it says, and the tree afterwards.
    fn run(tree: &Tree, args: &[&str], input: &[u8]) -> (i32, String, Tree) {
        let folder = TempDir::new().expect("a folder");
        write(tree, folder.path());
        let mut command = Command::new(env!("CARGO_BIN_EXE_hunkwise"));
        command.args(args).env_clear().current_dir(folder.path());
        command.env("HUNKWISE_STATE_DIR", folder.path().with_extension("state"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        // What ends before it has read all has said why.
        let _ = child.stdin.take().expect("its input").write_all(input);
        let output = child.wait_with_output().expect("it ends");
        let _ = fs::remove_dir_all(folder.path().with_extension("state"));
        let status = output.status.code().expect("no signal");
        (status, String::from_utf8_lossy(&output.stderr).into_owned(), read(folder.path()))
    }

    fn leads(from: &Tree, args: &[&str], patch: &[u8], to: &Tree) -> Result<(), String> {
        let (status, said, tree) = run(from, args, patch);
        if status == 0 && tree == *to {
            return Ok(());
        }
        Err(format!(
            "{args:?}: status {status}\n{said}\n{tree:?}\ninstead of {to:?}\n{}",
            String::from_utf8_lossy(patch)
        ))
    }

    #[test]
    fn a_commit_is_applied_and_taken_back() {
        let repository = Repository::new();
        let counts = Dialect::ALL.map(|dialect| (dialect, Counts::default()));
        runner(10)
            .run(&any_taste(), |(old, new)| {
                let text = repository.diff(&["-M"], &old, &new);
                if text.is_empty() {
                    return Ok(());
                }
                leads(&old, &["apply"], &text, &new).map_err(TestCaseError::fail)?;
                leads(&new, &["apply", "--reverse"], &text, &old).map_err(TestCaseError::fail)?;
                for (dialect, counts) in &counts {
                    let (said, why, anew) = run(&Tree::new(), &["show", "--output", dialect.name()], &text);
                    prop_assert!(anew.is_empty());
                    match said {
                        0 => {}
                        1 if why.contains("can't be written as") => {
                            count(&counts.unsaid);
                            continue;
                        }
                        _ => return Err(TestCaseError::fail(why)),
                    }
                    let text = format(&parse(&text, Dialect::Unified).patch, *dialect).expect("it is said");
                    let (status, why, tree) = run(&old, &["apply", "--dialect", dialect.name()], &text);
                    match status {
                        0 => {
                            prop_assert_eq!(&tree, &new, "{}", String::from_utf8_lossy(&text));
                            count(&counts.exact);
                        }
                        1 => {
                            prop_assert_eq!(&tree, &old, "{}", String::from_utf8_lossy(&text));
                            count(&counts.misfit);
                        }
                        _ => return Err(TestCaseError::fail(why)),
                    }
                }
                Ok(())
            })
            .expect("every commit is applied and taken back");
        for (dialect, counts) in &counts {
            eprintln!("{dialect:?}, commits: {counts:?}");
        }
    }
}
