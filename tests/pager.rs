//! `diff`, `show` and `replay` on a terminal: what goes to a pager, and how a run ends with it.

#![cfg(feature = "cli")]
#![expect(clippy::disallowed_methods, clippy::expect_used, reason = "a test starts programs and may fail")]

#[expect(dead_code, reason = "other tests use the rest")]
mod support;
#[expect(dead_code, reason = "other tests use the rest")]
mod terminal;

use std::process::Command;
use std::process::ExitStatus;
use std::process::Stdio;

use support::Place;
use support::set_mode;
use terminal::Terminal;
use terminal::screen;

const ROWS: u16 = 40;
const COLUMNS: u16 = 60;

/// Keeps what it is given in `seen`, and in `told` what it is told.
const KEEPER: &str = "#!/bin/sh\ncat > seen\necho \"$LESS $LV\" > told\n";

/// Tells nothing of itself and ends after one line.
const QUITTER: &str = "#!/bin/sh\nread -r line\necho \"$line\" > seen\n";

/// Sends Ctrl-C to who it reads from, as a terminal would, and reads on.
const INTERRUPTER: &str =
    "#!/bin/sh\ntrap '' INT\nread -r line\nkill -INT $PPID\necho \"$line\" > seen\ncat >> seen\n";

fn place() -> Place {
    let lines = |mark: &str| (0..3000).map(|number| format!("{mark} {number}\n")).collect::<String>();
    let patch = "--- a/x.txt\n+++ b/x.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
    let place = Place::with(&[
        ("old", &lines("old")),
        ("new", &lines("new")),
        ("same", &lines("new")),
        ("a.patch", patch),
        ("keeper", KEEPER),
        ("quitter", QUITTER),
        ("interrupter", INTERRUPTER),
    ]);
    for name in ["keeper", "quitter", "interrupter"] {
        set_mode(&place.root().join(name), 0o755);
    }
    place
}

/// Runs a command whose output and errors go to a terminal; returns its screen and how it ended.
fn on_terminal(mut command: Command) -> (Vec<String>, ExitStatus) {
    let terminal = Terminal::open(ROWS, COLUMNS);
    command.env_remove("COLUMNS").stdout(terminal.end()).stderr(terminal.end());
    let (written, status) = terminal.run(command);
    (screen(&written, ROWS, COLUMNS), status)
}

fn command(place: &Place, args: &[&str], pager: Option<&str>) -> Command {
    let mut command = place.command(args);
    command.env("TERM", "xterm-256color").stdin(Stdio::null());
    if let Some(pager) = pager {
        command.env("HUNKWISE_PAGER", pager);
    }
    command
}

#[track_caller]
fn check_paged(args: &[&str], status: i32) -> String {
    let place = place();
    let (shown, ended) = on_terminal(command(&place, args, Some("./keeper")));
    assert_eq!((shown, ended.code()), (Vec::new(), Some(status)), "{args:?}");
    assert_eq!(place.text("told"), "FRX -c\n");
    place.text("seen")
}

#[test]
fn what_is_read_at_length_is_paged() {
    let seen = check_paged(&["show", "a.patch"], 0);
    assert!(seen.contains("\u{1b}[") && seen.contains("2") && seen.contains("x.txt"), "{seen}");
    let filled = seen.lines().find(|row| row.contains("+ 2")).expect("an added line");
    // The terminal behind the pager is 60 columns wide; a ground reaches to its end without erasing.
    assert!(!seen.contains("\u{1b}[K") && screen(filled.as_bytes(), 2, COLUMNS).len() == 1, "{filled:?}");
    assert!(filled.ends_with(&format!("{}\u{1b}[0m", " ".repeat(20))), "{filled:?}");
    assert!(check_paged(&["diff", "old", "new"], 1).contains("2999"));
    assert_eq!(check_paged(&["diff", "new", "same"], 0), "");
    assert!(check_paged(&["show", "a.patch", "--output", "stat"], 0).contains("1 file changed"));
    // What is wrong is said where the rest is read.
    let seen = check_paged(&["show", "gone.patch"], 2);
    assert!(seen.contains("cannot read gone.patch"), "{seen}");
}

#[test]
fn other_output_is_not_paged() {
    let check = |args: &[&str], name: Option<(&str, &str)>, shown_words: &str| {
        let place = place();
        let mut command = command(&place, args, Some("./keeper"));
        if let Some((name, value)) = name {
            command.env(name, value);
        }
        let (shown, _) = on_terminal(command);
        assert!(shown.join("\n").contains(shown_words), "{args:?} {name:?}: {shown:#?}");
        assert!(!place.root().join("seen").exists(), "{args:?} {name:?}");
    };
    check(&["--no-pager", "show", "a.patch"], None, "+ 2");
    check(&["show", "a.patch", "--json"], None, "hunkwise/card/v1");
    check(&["show", "a.patch"], Some(("HUNKWISE_PAGER", "")), "+ 2");
    check(&["show", "a.patch"], Some(("HUNKWISE_PAGER", "cat")), "+ 2");
    check(&["show", "a.patch"], Some(("TERM", "dumb")), "+ 2");
    check(&["apply", "--check", "a.patch"], None, "does not exist");
    check(&["preview", "--no-locate", "a.patch"], None, "+ 2");
    // Into a pipe everything goes as it is.
    let place = place();
    let run = support::output(command(&place, &["show", "a.patch"], Some("./keeper")), b"").exits(0);
    assert!(run.stdout.contains("+ 2") && !place.root().join("seen").exists());
}

#[test]
fn a_pager_that_is_not_there_is_told_and_done_without() {
    for pager in ["no-such-pager", "no-such-pager -R"] {
        let place = place();
        let (shown, status) = on_terminal(command(&place, &["show", "a.patch"], Some(pager)));
        let text = shown.join("\n");
        assert!(text.starts_with(&format!("note: the pager '{pager}' can't be started")), "{text}");
        assert!(text.contains("+ 2") && status.success(), "{text}");
    }
}

#[test]
fn a_shell_runs_what_only_a_shell_understands() {
    let place = place();
    let pager = "X=1 ./keeper && echo \"$LESS\" > after";
    let mut command = command(&place, &["show", "a.patch"], Some(pager));
    command.env("LESS", "S");
    let (shown, status) = on_terminal(command);
    assert!(shown.is_empty() && status.success(), "{shown:?}");
    assert!(place.text("seen").contains("x.txt"));
    assert_eq!((place.text("told").as_str(), place.text("after").as_str()), ("S -c\n", "S\n"));
}

#[test]
fn a_pager_that_ends_early_ends_the_run_quietly() {
    let place = place();
    let (shown, status) = on_terminal(command(&place, &["diff", "old", "new"], Some("./quitter")));
    assert_eq!((shown, status.code()), (Vec::new(), Some(1)));
    assert!(place.text("seen").contains("compare old with new"));
}

#[test]
fn an_interrupt_is_the_pagers_affair() {
    let place = place();
    let (shown, status) = on_terminal(command(&place, &["diff", "old", "new"], Some("./interrupter")));
    assert_eq!((shown, status.code()), (Vec::new(), Some(1)));
    assert!(place.text("seen").contains("2999"), "the rest is read too");
}

#[test]
fn as_the_pager_of_git_it_has_a_pager_of_its_own() {
    let place = place();
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        place.clear(&mut command);
        command.args(["-c", "user.name=n", "-c", "user.email=e", "-c", "init.defaultBranch=m"]).args(args);
        command.env("TERM", "xterm-256color").env("HUNKWISE_PAGER", "./keeper").stdin(Stdio::null());
        command
    };
    for args in [&["init", "-q"][..], &["add", "new"], &["commit", "-qm", "first"]] {
        assert!(git(args).status().expect("git runs").success());
    }
    std::fs::write(place.root().join("new"), "new 0\nother\n").expect("a file is written");
    let pager = format!("core.pager={} show", env!("CARGO_BIN_EXE_hunkwise"));
    let (shown, status) = on_terminal(git(&["-c", &pager, "diff"]));
    assert!(shown.is_empty() && status.success(), "{shown:?}");
    let seen = place.text("seen");
    assert!(seen.contains("update") && seen.contains("other"), "{seen}");
}
