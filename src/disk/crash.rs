//! Commits that are cut off, or fail, at each single thing that they do to the file system.
//!
//! A process that dies is one whose every further call fails: nothing can be tidied up. Some are really killed. Random
//! plans are few here; `PROPTEST_CASES=1000 cargo test --release --lib disk::crash` tries a thousand.

#![expect(
    clippy::disallowed_methods,
    reason = "a test looks at files, and runs itself once more to be killed"
)]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use proptest::prelude::*;
use rustix::io::Errno;

use super::commit::CommitOptions;
use super::commit::Committed;
use super::error::CommitError;
use super::folder::Moment;
use super::folder::Rig;
use super::folder::Ways;
use super::intent::LogEntry;
use super::journal::Journal;
use super::journal::JournalError;
use super::journal::JournalOptions;
use super::journal::Recovered;
use super::planning::OPTIONS;
use super::planning::Planning;
use super::planning::WAYS;
use super::planning::first_byte;
use super::planning::whole;
use super::root::Root;
use super::tree::Node;
use super::tree::Tree;
use super::tree::link;
use super::tree::nodes;
use super::tree::temporary_folder;
use super::tree::text;
use super::tree::with_mode;
use crate::plan::After;
use crate::text::PathText;

type Nodes = BTreeMap<String, Node>;
type Before<'a> = &'a dyn Fn(Moment, &PathText) -> io::Result<()>;

/// How often a lock is tried.
const LIMIT_TRIES: u32 = 1_000_000;

/// What stands in a tree, and what is planned for it.
type Scenario = (Vec<(&'static str, Node)>, Box<dyn Fn(Planning) -> Planning>);

/// A tree and a folder for its journals.
struct Place {
    tree: Tree,
    state: tempfile::TempDir,
}

impl Place {
    fn new(before: &[(&str, Node)]) -> Self {
        Place { tree: Tree::new(before), state: temporary_folder() }
    }

    fn state(&self) -> PathBuf {
        self.state.path().join("home/hunkwise")
    }

    fn open(&self, before: Before<'_>, ways: Ways) -> Result<(Journal, Vec<Recovered>), JournalError> {
        let root = Root::open(&self.tree.root()).unwrap();
        let folders = [self.state()];
        // Another test may be starting a process, which holds all locks until it runs.
        let tries = Cell::new(0);
        let wait = || {
            std::thread::yield_now();
            tries.replace(tries.get() + 1) < LIMIT_TRIES
        };
        Journal::open_with(&root, &JournalOptions { folders: &folders, wait: &wait }, Rig { before, ways })
    }

    /// Returns what the next run says of what it has found.
    fn recovered(&self) -> Vec<String> {
        let (_, recovered) = self.open(&|_, _| Ok(()), Ways::default()).unwrap();
        recovered.iter().map(|recovered| recovered.to_string()).collect()
    }

    fn commit(
        &self,
        plan: &dyn Fn(Planning) -> Planning,
        options: CommitOptions<'_>,
        before: Before<'_>,
        ways: Ways,
    ) -> Result<Committed, CommitError> {
        let (journal, recovered) = self.open(&|_, _| Ok(()), ways).unwrap();
        assert_eq!(recovered.len(), 0);
        let options = CommitOptions { journal: Some(&journal), ..options };
        plan(Planning::of(&self.tree)).commit_with(&options, ways, before)
    }

    fn journals(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.state()) else { return Vec::new() };
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

/// Lets so many things be done; then every further one fails.
fn dying(left: &Cell<i64>) -> impl Fn(Moment, &PathText) -> io::Result<()> {
    move |_, _| {
        left.set(left.get() - 1);
        if left.get() < 0 { Err(Errno::IO.into()) } else { Ok(()) }
    }
}

/// Lets so many things be done; then one fails.
fn failing(left: &Cell<i64>, errno: Errno) -> impl Fn(Moment, &PathText) -> io::Result<()> {
    move |_, _| {
        left.set(left.get() - 1);
        if left.get() == -1 { Err(errno.into()) } else { Ok(()) }
    }
}

fn no_faults(_: Moment, _: &PathText) -> io::Result<()> {
    Ok(())
}

/// Cuts a commit off at every single thing that it does, and its recovery too; returns at how many.
///
/// Afterwards the tree is the old or the new one, whole, and nothing is left over.
fn check(
    before: &[(&str, Node)],
    plan: &dyn Fn(Planning) -> Planning,
    options: CommitOptions<'_>,
    ways: Ways,
) -> i64 {
    let whole = Place::new(before);
    let old = whole.tree.nodes();
    whole.commit(plan, options, &no_faults, ways).unwrap();
    let new = whole.tree.nodes();
    assert_eq!(whole.journals(), <[PathBuf; 0]>::default());
    for steps in 0.. {
        let place = Place::new(before);
        let left = Cell::new(steps);
        let answer = place.commit(plan, options, &dying(&left), ways);
        if left.get() >= 0 {
            return steps;
        }
        let died = format!("died at {steps}, {ways:?}, {answer:?}");
        recover_in_pieces(&place, ways);
        check_whole(&place, &old, &new, &died);
        if answer.is_ok() {
            assert_eq!(place.tree.nodes(), new, "{died}");
        }
        check_failure(before, plan, options, (ways, steps));
    }
    unreachable!()
}

/// Recovers, and is cut off itself again and again, each time a little later.
fn recover_in_pieces(place: &Place, ways: Ways) {
    for steps in 0.. {
        let left = Cell::new(steps);
        if place.open(&dying(&left), ways).is_ok() {
            return;
        }
        assert!(steps < 10_000);
    }
}

fn check_whole(place: &Place, old: &Nodes, new: &Nodes, died: &str) {
    let found = place.tree.nodes();
    assert!(found == *old || found == *new, "{died}:\n{found:#?}\nis neither\n{old:#?}\nnor\n{new:#?}");
    assert_eq!(place.journals(), <[PathBuf; 0]>::default(), "{died}");
    assert_eq!(place.recovered(), <[String; 0]>::default(), "{died}");
}

/// Lets one thing fail: the commit then says that it is taken back, and is, or that it stands, and does.
fn check_failure(
    before: &[(&str, Node)],
    plan: &dyn Fn(Planning) -> Planning,
    options: CommitOptions<'_>,
    (ways, steps): (Ways, i64),
) {
    let errno = [Errno::NOSPC, Errno::ACCESS, Errno::IO][steps as usize % 3];
    let place = Place::new(before);
    let old = place.tree.nodes();
    let left = Cell::new(steps);
    let answer = place.commit(plan, options, &failing(&left, errno), ways);
    let failed = format!("{errno} at {steps}, {ways:?}, {answer:?}");
    match &answer {
        Ok(_) => {
            // Only what comes after the end can have failed; the next run makes it good.
            place.recovered();
        }
        Err(error) => {
            assert!(!matches!(error, CommitError::NotUndone { .. }), "{failed}");
            assert_eq!(place.tree.nodes(), old, "{failed}");
        }
    }
    let recovered = place.tree.nodes();
    assert!(recovered.keys().all(|path| !path.contains(".hunkwise-")), "{failed}: {recovered:#?}");
    assert_eq!(place.recovered().len(), usize::from(answer.is_err() && !place.journals().is_empty()));
    assert_eq!(place.tree.nodes(), recovered, "{failed}");
}

/// Plans of every kind of step, and of several that stand in each other's way.
fn scenarios() -> Vec<Scenario> {
    let three = || vec![("a", text("1")), ("b", with_mode("2", 0o4750)), ("d/c", text("3"))];
    let same = || After::Same;
    vec![
        (three(), Box::new(|plan| plan.update("a", first_byte("x")))),
        (three(), Box::new(|plan| plan.create("n/e/w", "n"))),
        (three(), Box::new(|plan| plan.delete("d/c"))),
        (three(), Box::new(move |plan| plan.rename("a", "n/a", same()))),
        (three(), Box::new(|plan| plan.rename("b", "n/b", first_byte("x")))),
        (three(), Box::new(|plan| plan.update("a", After::Same).with_mode(0o100_755))),
        (
            three(),
            Box::new(move |plan| {
                plan.update("a", whole("one"))
                    .rename("b", "n/b", same())
                    .with_mode(0o100_600)
                    .delete("d/c")
                    .create("n/m/new", "new")
                    .create("k", "k")
            }),
        ),
        (three(), Box::new(move |plan| plan.rename("a", "b", same()).rename("b", "a", first_byte("B")))),
        (three(), Box::new(move |plan| plan.rename("a", "b", same()).update("d/c", first_byte("C")))),
        (
            three(),
            Box::new(move |plan| {
                plan.rename("a", "b", same()).rename("b", "d/c", same()).rename("d/c", "a", first_byte("x"))
            }),
        ),
        (
            vec![("a", text("1")), ("l", link("a")), ("m", link("a"))],
            Box::new(move |plan| plan.rename("l", "k", same()).delete("m").update("a", first_byte("2"))),
        ),
    ]
}

#[test]
fn a_commit_that_dies_anywhere_is_finished_or_taken_back() {
    for (before, plan) in scenarios() {
        check(&before, &plan, CommitOptions { sync: true, ..OPTIONS }, Ways::default());
        for ways in WAYS {
            check(&before, &plan, OPTIONS, ways);
        }
    }
}

#[test]
fn files_that_are_written_in_place_are_restored() {
    let options = CommitOptions { in_place: true, ..OPTIONS };
    for (before, plan) in scenarios() {
        check(&before, &plan, options, Ways::default());
    }
    let before = [("a", with_mode("12345", 0o444)), ("b", text("2"))];
    let plan = |plan: Planning| plan.update("a", whole("abc")).update("b", whole("longer than before"));
    assert!(check(&before, &plan, options, Ways::default()) > 5);
}

/// One entry of a random plan: which file, what becomes of it, and where it goes.
type Choice = (usize, u8, usize);

const PATHS: [&str; 10] = ["a", "b", "c", "d/e", "d/f", "d/g/h", "i", "j/k", "j/l/m", "n"];

/// Makes a plan of those choices that fit together.
fn random_plan(mut plan: Planning, there: &[bool], choices: &[Choice]) -> Planning {
    let mut is_used = [false; PATHS.len()];
    let mut is_target = [false; PATHS.len()];
    for &(file, kind, target) in choices {
        let (from, to) = (PATHS[file], PATHS[target]);
        if is_used[file] {
            continue;
        }
        // A place that stays what it is can be overwritten by what comes, but then nothing else may be done to it.
        let is_free = !is_target[target] && target != file;
        match (there[file], kind % 6) {
            (true, 0) if !is_target[file] => {
                is_target[file] = true;
                plan = plan.update(from, first_byte("changed"));
            }
            (true, 1) if !is_target[file] => plan = plan.delete(from),
            (true, 2) if is_free => {
                (is_target[target], is_used[target]) = (true, is_used[target] || !there[target]);
                plan = plan.rename(from, to, After::Same);
            }
            (true, 3) if is_free => {
                (is_target[target], is_used[target]) = (true, is_used[target] || !there[target]);
                plan = plan.rename(from, to, first_byte("moved"));
            }
            (true, 4) if !is_target[file] => {
                is_target[file] = true;
                plan = plan.update(from, After::Same).with_mode(0o100_751);
            }
            (false, 5) if !is_target[file] => {
                is_target[file] = true;
                plan = plan.create(from, "created");
            }
            _ => continue,
        }
        is_used[file] = true;
    }
    plan
}

proptest! {
    #![proptest_config(ProptestConfig { cases: random_cases(), failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_commits_are_whole_wherever_they_die(
        there in proptest::collection::vec(any::<bool>(), PATHS.len()),
        choices in proptest::collection::vec((0..PATHS.len(), any::<u8>(), 0..PATHS.len()), 2..14),
        (sync, in_place, ways) in (any::<bool>(), any::<bool>(), 0..WAYS.len()),
    ) {
        let before: Vec<_> = std::iter::zip(PATHS, &there)
            .filter(|(_, there)| **there)
            .map(|(path, _)| (path, with_mode(path, 0o644)))
            .collect();
        let plan = |plan: Planning| random_plan(plan, &there, &choices);
        let options = CommitOptions { sync, in_place, ..OPTIONS };
        let fits = Place::new(&before).commit(&plan, options, &no_faults, WAYS[ways]).is_ok();
        prop_assume!(fits);
        check(&before, &plan, options, WAYS[ways]);
    }
}

/// The number of random plans: few, unless a variable asks for more.
fn random_cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(12)
}

/// What a process is told that is to be killed: root, state folder, scenario, at which step.
const CRASH: &str = "HUNKWISE_TEST_CRASH";

#[test]
#[ignore = "is run by the next test in a process of its own, and killed"]
fn commits_and_is_killed() {
    let told = std::env::var(CRASH).unwrap();
    let [root, state, scenario, steps] = told.split('\n').collect::<Vec<_>>().try_into().unwrap();
    let (_, plan) = scenarios().swap_remove(scenario.parse().unwrap());
    let root = Root::open(Path::new(root)).unwrap();
    let folders = [PathBuf::from(state)];
    let options = JournalOptions { folders: &folders, wait: &|| false };
    let (journal, _) = Journal::open(&root, &options).unwrap();
    let left = Cell::new(steps.parse::<i64>().unwrap());
    let kill = |_: Moment, _: &PathText| {
        left.set(left.get() - 1);
        if left.get() < 0 {
            let own = rustix::process::getpid();
            rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
        }
        Ok(())
    };
    let options = CommitOptions { journal: Some(&journal), ..OPTIONS };
    plan(Planning { root, plan: Default::default() }).commit_with(&options, Ways::default(), &kill).unwrap();
}

#[test]
fn a_process_that_is_killed_leaves_what_the_next_one_makes_good() {
    for scenario in [0, 6, 9] {
        let (before, plan) = scenarios().swap_remove(scenario);
        let whole = Place::new(&before);
        let old = whole.tree.nodes();
        whole.commit(&plan, OPTIONS, &no_faults, Ways::default()).unwrap();
        let new = whole.tree.nodes();
        for steps in 0.. {
            let place = Place::new(&before);
            let told = [&place.tree.root(), &place.state(), Path::new(&scenario.to_string())]
                .map(|part| part.to_str().unwrap().to_owned());
            let status = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "disk::crash::commits_and_is_killed", "--ignored"])
                .env(CRASH, format!("{}\n{steps}", told.join("\n")))
                .stdout(std::process::Stdio::null())
                .status()
                .unwrap();
            let died = format!("scenario {scenario} killed at {steps}: {status}");
            place.recovered();
            check_whole(&place, &old, &new, &died);
            if status.success() {
                assert!(steps > 5 && place.tree.nodes() == new, "{died}");
                break;
            }
            assert_eq!(status.signal(), Some(9), "{died}");
        }
    }
}

/// Cuts a commit of three files off at a moment and returns its place.
fn cut_off_at(steps: i64) -> Place {
    let place = Place::new(&[("a", text("1")), ("b", text("2")), ("c", text("3"))]);
    let plan = |plan: Planning| {
        plan.update("a", first_byte("x")).update("b", first_byte("y")).delete("c").create("n", "new")
    };
    let left = Cell::new(steps);
    let _ = place.commit(&plan, OPTIONS, &dying(&left), Ways::default());
    assert!(left.get() < 0);
    place
}

fn length_of_cut_off() -> i64 {
    (0..)
        .find(|&steps| {
            let place = Place::new(&[("a", text("1")), ("b", text("2")), ("c", text("3"))]);
            let plan = |plan: Planning| {
                plan.update("a", first_byte("x")).update("b", first_byte("y")).delete("c").create("n", "new")
            };
            let left = Cell::new(steps);
            let _ = place.commit(&plan, OPTIONS, &dying(&left), Ways::default());
            left.get() >= 0
        })
        .unwrap()
}

#[test]
fn what_somebody_has_changed_since_stays_and_is_named() {
    for steps in 0..length_of_cut_off() {
        for in_place in [false, true] {
            let place = cut_off_at(steps);
            let at = place.tree.root().join("b");
            if in_place {
                std::fs::write(&at, "somebody's").unwrap();
            } else {
                std::fs::remove_file(&at).unwrap();
                std::fs::write(&at, "somebody's").unwrap();
            }
            let said = place.recovered().join("\n");
            let found = place.tree.nodes();
            assert_eq!(found["b"], text("somebody's"), "{steps}: {said}");
            let is_new = found["a"] == text("x");
            let expected: &[(&str, Node)] = match is_new {
                true => &[("a", text("x")), ("b", text("somebody's")), ("n", text("new"))],
                false => &[("a", text("1")), ("b", text("somebody's")), ("c", text("3"))],
            };
            let mut left = found;
            left.retain(|path, _| !path.contains(".hunkwise-"));
            assert_eq!(left, nodes(expected), "{steps}: {said}");
            for (path, node) in place.tree.nodes() {
                if path.contains(".hunkwise-") {
                    assert!(said.contains(&path) && node == text("2"), "{steps}: {said}");
                }
            }
            assert_eq!(place.recovered(), <[String; 0]>::default());
        }
    }
}

#[test]
fn a_journal_that_is_damaged_or_somebody_elses_is_left_and_told() {
    let steps = length_of_cut_off() / 2;
    let damage = |change: &dyn Fn(&Path), says: &str| {
        let place = cut_off_at(steps);
        let [journal] = place.journals().try_into().unwrap();
        change(&journal);
        let before = place.tree.nodes();
        for _ in 0..2 {
            let [said] = place.recovered().try_into().unwrap();
            assert!(said.contains(says) && said.contains(journal.to_str().unwrap()), "{said}");
        }
        assert_eq!(place.tree.nodes(), before);
        assert!(journal.symlink_metadata().is_ok());
        // It is in nobody's way.
        place.open(&no_faults, Ways::default()).unwrap();
    };
    let rewritten = |change: &dyn Fn(&mut Vec<u8>), journal: &Path| {
        let mut bytes = std::fs::read(journal).unwrap();
        change(&mut bytes);
        std::fs::write(journal, bytes).unwrap();
    };
    damage(&|journal| rewritten(&|bytes| bytes[80] ^= 1, journal), "damaged");
    damage(&|journal| rewritten(&|bytes| bytes[17] = b'2', journal), "another version");
    damage(
        &|journal| {
            std::fs::set_permissions(journal, std::os::unix::fs::PermissionsExt::from_mode(0o622)).unwrap()
        },
        "somebody else",
    );
    damage(
        &|journal| {
            std::fs::rename(journal, journal.with_extension("moved")).unwrap();
            std::os::unix::fs::symlink(journal.with_extension("moved"), journal).unwrap();
        },
        "not a regular file",
    );
    damage(
        &|journal| {
            std::fs::remove_file(journal).unwrap();
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            rustix::fs::mknodat(rustix::fs::CWD, journal, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        },
        "not a regular file",
    );
    damage(
        &|journal| std::fs::File::options().write(true).open(journal).unwrap().set_len(1 << 40).unwrap(),
        "too long",
    );
    if rustix::process::geteuid().is_root() {
        damage(&|journal| std::os::unix::fs::chown(journal, Some(1234), None).unwrap(), "somebody else");
    }
}

#[test]
fn a_journal_that_is_cut_anywhere_loses_nothing() {
    let steps = length_of_cut_off() / 2;
    let place = cut_off_at(steps);
    let [journal] = place.journals().try_into().unwrap();
    let length = std::fs::read(journal).unwrap().len();
    for cut in 0..length {
        let place = cut_off_at(steps);
        let [journal] = place.journals().try_into().unwrap();
        std::fs::File::options().write(true).open(&journal).unwrap().set_len(cut as u64).unwrap();
        place.recovered();
        let found = place.tree.nodes();
        for old in ["1", "2", "3"] {
            assert!(found.values().any(|node| *node == text(old)), "cut at {cut}: {old} is lost, {found:#?}");
        }
    }
}

#[test]
fn a_journal_of_another_root_is_nobodys_business() {
    let place = cut_off_at(length_of_cut_off() / 2);
    let found = place.tree.nodes();
    let other = Place { tree: Tree::new(&[]), state: place.state };
    assert_eq!(other.recovered(), <[String; 0]>::default());
    let place = Place { tree: place.tree, state: other.state };
    assert_eq!(place.tree.nodes(), found);
    assert_eq!(place.recovered(), ["an interrupted run was taken back"]);
}

#[test]
fn a_link_in_place_of_a_folder_leads_no_recovery_out() {
    let before = [("d/a", text("1")), ("d/b", text("2")), ("../out/a", text("1"))];
    let plan = |plan: Planning| plan.update("d/a", first_byte("x")).delete("d/b").create("d/n", "n");
    for steps in 0.. {
        let place = Place::new(&before);
        let left = Cell::new(steps);
        let _ = place.commit(&plan, OPTIONS, &dying(&left), Ways::default());
        if left.get() >= 0 {
            assert!(steps > 5);
            return;
        }
        std::fs::rename(place.tree.root().join("d"), place.tree.root().join("e")).unwrap();
        place.tree.put("d", &link("../out"));
        let found = place.tree.nodes();
        place.recovered();
        assert_eq!(place.tree.nodes(), found, "{steps}");
    }
}

#[test]
fn an_interruption_before_the_mark_leaves_the_old_tree() {
    let before = [("a", text("1")), ("b", text("2"))];
    let plan = |plan: Planning| plan.update("a", first_byte("x")).create("n/n", "n").delete("b");
    for asked_before in 0.. {
        let place = Place::new(&before);
        let asked = Cell::new(0);
        let interrupted = || asked.replace(asked.get() + 1) == asked_before;
        let options = CommitOptions { interrupted: &interrupted, ..OPTIONS };
        let answer = place.commit(&plan, options, &no_faults, Ways::default());
        assert_eq!(place.journals(), <[PathBuf; 0]>::default());
        if answer.is_ok() {
            // Each of two contents, each of three steps, and the mark.
            assert_eq!((asked_before, asked.get()), (6, 6));
            assert_eq!(place.tree.nodes(), nodes(&[("a", text("x")), ("n/n", text("n"))]));
            return;
        }
        assert!(matches!(answer, Err(CommitError::Interrupted)));
        assert_eq!(place.tree.nodes(), nodes(&before));
    }
}

#[test]
fn one_run_at_a_time_writes_in_a_root() {
    let place = Place::new(&[("a", text("1"))]);
    let (journal, _) = place.open(&no_faults, Ways::default()).unwrap();
    assert!(matches!(place.open(&no_faults, Ways::default()), Err(JournalError::Busy { .. })));
    // Whoever waits gets it when the first has ended.
    let root = Root::open(&place.tree.root()).unwrap();
    let first = Cell::new(Some(journal));
    let wait = || first.take().is_some();
    Journal::open(&root, &JournalOptions { folders: &[], wait: &wait }).unwrap();
    assert!(first.take().is_none());
}

#[test]
fn without_a_folder_for_a_journal_only_one_file_is_written() {
    let place = Place::new(&[("a", text("1")), ("b", text("2")), ("../file", text(""))]);
    let root = Root::open(&place.tree.root()).unwrap();
    for folders in [vec![], vec![place.tree.top().join("file")]] {
        let options = JournalOptions { folders: &folders, wait: &|| false };
        let (journal, _) = Journal::open(&root, &options).unwrap();
        let options = CommitOptions { journal: Some(&journal), ..OPTIONS };
        let two = Planning::of(&place.tree).update("a", first_byte("x")).update("b", first_byte("y"));
        assert!(matches!(two.commit(&options), Err(CommitError::Journal(_))));
        Planning::of(&place.tree).update("a", first_byte("3")).commit(&options).unwrap();
        assert_eq!(place.tree.nodes()["a"], text("3"));
        assert_eq!(place.tree.nodes()["b"], text("2"));
    }
}

#[test]
fn a_log_entry_is_appended_once_if_the_run_could_not() {
    let log_of = |place: &Place| place.state.path().join("log");
    let commit = |place: &Place, before: Before<'_>| {
        let entry = LogEntry {
            log: PathText::new(log_of(place).to_str().unwrap()),
            line: b"{\"type\":\"tool/result\"}".to_vec(),
        };
        std::fs::write(log_of(place), "first\n").unwrap();
        let (journal, _) = place.open(&no_faults, Ways::default()).unwrap();
        let options =
            CommitOptions { journal: Some(&journal), log_entry: Some(&|_| entry.clone()), ..OPTIONS };
        let plan = Planning::of(&place.tree).update("a", first_byte("x"));
        let answer = plan.commit_with(&options, Ways::default(), before);
        (journal, answer)
    };
    for is_logged in [false, true] {
        let place = Place::new(&[("a", text("1"))]);
        let (journal, answer) = commit(&place, &no_faults);
        answer.unwrap();
        if is_logged {
            std::fs::write(log_of(&place), "first\n{\"type\":\"tool/result\"}\nanother's\n").unwrap();
        }
        drop(journal);
        let said = place.recovered();
        assert_eq!(said.len(), 1);
        assert_eq!(said[0].contains("added to the log"), !is_logged, "{said:?}");
        let log = std::fs::read_to_string(log_of(&place)).unwrap();
        assert_eq!(log.matches("tool/result").count(), 1, "{log}");
        assert_eq!(place.tree.nodes(), nodes(&[("a", text("x"))]));
    }
    let place = Place::new(&[("a", text("1"))]);
    let (journal, _) = commit(&place, &no_faults);
    journal.close().unwrap();
    assert_eq!(place.recovered(), <[String; 0]>::default());
    // What was taken back is not logged as done.
    for steps in 0.. {
        let place = Place::new(&[("a", text("1"))]);
        let left = Cell::new(steps);
        let (journal, _) = commit(&place, &dying(&left));
        drop(journal);
        place.recovered();
        let log = std::fs::read_to_string(log_of(&place)).unwrap();
        assert_eq!(log.contains("tool/result"), place.tree.nodes() == nodes(&[("a", text("x"))]), "{steps}");
        if left.get() >= 0 {
            return;
        }
    }
}
