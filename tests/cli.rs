//! The binary as a process: statuses, streams, signals, logs, time. What it prints is the business of `golden.rs`.

#![cfg(feature = "cli")]
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a test reads files, starts programs and may fail"
)]

#[expect(dead_code, reason = "other tests use the rest")]
mod support;

use std::fs;
use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;
use std::time::Instant;

use serde_json::Value;
use support::Entry;
use support::Place;
use support::Run;
use support::output;

/// Nothing here takes that long on a machine that works.
const LONG: Duration = Duration::from_secs(20);

const FILE: &str = "one\ntwo\nthree\n";
const PATCH: &str = "*** Begin Patch\n*** Update File: f\n@@\n one\n-two\n+2\n*** End Patch\n";
const PATCHED: &str = "one\n2\nthree\n";
const MISFIT: &str = "*** Begin Patch\n*** Update File: f\n@@\n-nine\n+9\n*** End Patch\n";

fn place() -> Place {
    Place::with(&[("f", FILE), ("patch", PATCH), ("misfit", MISFIT)])
}

/// The lines of a child's standard output, as they come.
fn lines_of(child: &mut Child) -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel();
    let stdout = child.stdout.take().expect("its output");
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

fn spawn(mut command: Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

/// Waits for the end of a child; kills it if it takes too long.
fn end_of(mut child: Child) -> (Option<i32>, String) {
    let start = Instant::now();
    let status = loop {
        match child.try_wait().expect("its status") {
            Some(status) => break status.code(),
            None if start.elapsed() > LONG => {
                child.kill().expect("it is killed");
                panic!("it did not end");
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let mut said = String::new();
    child.stderr.take().expect("its messages").read_to_string(&mut said).expect("text");
    (status, said)
}

mod statuses {
    use super::*;

    #[test]
    fn the_table_holds() {
        let check = |status: i32, args: &str, stdin: &str| {
            let place = place();
            let before = place.tree();
            let run = place.run(&args.split(' ').collect::<Vec<_>>(), stdin.as_bytes()).exits(status);
            if status != 0 {
                assert_eq!(place.tree(), before, "{args}");
            }
            run
        };
        check(0, "apply patch", "");
        check(0, "apply --check patch", "");
        check(1, "apply misfit", "");
        check(1, "apply --check misfit", "");
        check(2, "apply", "no patch\n");
        check(2, "apply", "");
        check(2, "apply nowhere", "");
        check(2, "apply --nonsense", "");
        check(2, "apply --root nowhere patch", "");
        check(2, "apply --match nearly patch", "");
        check(0, "edit f --old two --new 2", "");
        check(1, "edit f --old nine --new 9", "");
        check(1, "edit nowhere --old a --new b", "");
        check(2, "edit f --old two --new two", "");
        check(2, "edit f --old two", "");
        check(2, "edit --args -", "{}");
        check(0, "write f", "x");
        check(1, "write f --if-absent", "x");
        check(2, "write", "x");
        check(2, "write f --content-file nowhere", "");
        check(0, "preview patch", "");
        check(0, "preview misfit", "");
        check(1, "preview --fail-fast misfit", "");
        check(2, "preview", "no patch\n");
        check(2, "preview --interval soon patch", "");
        check(2, "preview", "{\"t\":0,\"delta\":\"*** Begin Patch\\n\"}\n{\"t\":\n");
        check(0, "show patch", "");
        check(2, "show", "no patch\n");
        check(2, "show --output unified", "no patch\n");
        check(2, "show --output apply-patch", "");
        check(1, "show --output unified", "*** Begin Patch\n*** Delete File: f\n*** End Patch\n");
        check(2, "replay f", "");
        check(2, "replay nowhere", "");
        check(2, "", "");
        check(2, "nonsense", "");
        check(0, "--help", "");
        check(0, "--version", "");
        check(0, "schema outcome", "");
        check(2, "schema nonsense", "");
    }

    #[test]
    fn quiet_prints_nothing_but_errors() {
        let run = place().run(&["apply", "-q", "patch"], b"").exits(0);
        assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
        let run = place().run(&["apply", "-q", "misfit"], b"").exits(1);
        assert!(run.stdout.is_empty() && run.stderr.starts_with("error: "), "{run:?}");
        let run = place().run(&["preview", "-q", "patch"], b"").exits(0);
        assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
    }

    #[test]
    fn a_json_error_is_on_stdout_only() {
        for args in
            [&["apply", "misfit", "--json"][..], &["--json", "replay", "nowhere"], &["--json", "nonsense"]]
        {
            let run = place().run(args, b"");
            assert_eq!(run.stderr, "", "{args:?}");
            assert_eq!(run.json_lines()[0]["ok"], false, "{args:?}");
        }
    }
}

mod links {
    use super::*;

    /// A folder with a file, a folder, and a link to each.
    fn place() -> Place {
        let place = Place::with(&[("f", FILE), ("d/x", FILE), ("out/y", FILE)]);
        symlink("f", place.root().join("to-f")).expect("a link");
        symlink("d", place.root().join("to-d")).expect("a link");
        symlink("nowhere", place.root().join("dangling")).expect("a link");
        place
    }

    fn target(place: &Place, name: &str) -> Option<String> {
        let target = fs::read_link(place.root().join(name)).ok()?;
        Some(target.to_string_lossy().into_owned())
    }

    fn make(name: &str, target: &str) -> String {
        format!(
            "diff --git a/{name} b/{name}\nnew file mode 120000\nindex 0000000..1111111\n--- /dev/null\n+++ b/{name}\n\
             @@ -0,0 +1 @@\n+{target}\n\\ No newline at end of file\n"
        )
    }

    fn delete(name: &str, target: &str) -> String {
        format!(
            "diff --git a/{name} b/{name}\ndeleted file mode 120000\nindex 1111111..0000000\n--- a/{name}\n+++ /dev/null\n\
             @@ -1 +0,0 @@\n-{target}\n\\ No newline at end of file\n"
        )
    }

    #[test]
    fn they_are_made_changed_moved_and_deleted_as_links() {
        let place = place();
        let change = "diff --git a/to-d b/to-d\nindex 1111111..2222222 120000\n--- a/to-d\n+++ b/to-d\n@@ -1 +1 @@\n\
                      -d\n\\ No newline at end of file\n+f\n\\ No newline at end of file\n";
        let moved = "diff --git a/dangling b/d/moved\nsimilarity index 100%\nrename from dangling\nrename to d/moved\n";
        let patch = [&make("d/new", "../f"), change, moved, &delete("to-f", "f")].concat();
        let before = place.tree();
        place.run(&["apply", "--check"], patch.as_bytes()).exits(0);
        assert_eq!(place.tree(), before);
        let run = place.run(&["apply", "--json"], patch.as_bytes()).exits(0);
        assert_eq!(run.json_lines()[0]["files"][0]["mode"]["after"], "120000");
        assert_eq!(target(&place, "d/new").as_deref(), Some("../f"));
        assert_eq!(target(&place, "to-d").as_deref(), Some("f"));
        assert_eq!(target(&place, "d/moved").as_deref(), Some("nowhere"));
        assert_eq!((target(&place, "dangling"), target(&place, "to-f")), (None, None));
        assert_eq!(place.text("f"), FILE);
        place.run(&["apply", "--reverse"], patch.as_bytes()).exits(0);
        assert_eq!(place.tree(), before);
    }

    #[test]
    fn a_link_and_a_file_take_each_other_s_place() {
        let place = place();
        let file = "diff --git a/to-f b/to-f\nnew file mode 100644\n--- /dev/null\n+++ b/to-f\n@@ -0,0 +1 @@\n+own\n";
        let patch = delete("to-f", "f") + file;
        for in_place in [&[][..], &["--in-place"]] {
            place.run(&[&["apply"], in_place].concat(), patch.as_bytes()).exits(0);
            assert_eq!(
                (target(&place, "to-f"), place.text("to-f").as_str(), place.text("f").as_str()),
                (None, "own\n", FILE)
            );
            assert_eq!(support::mode(&place.root().join("to-f")) & 0o777, 0o644);
            place.run(&[&["apply", "--reverse"], in_place].concat(), patch.as_bytes()).exits(0);
            assert_eq!(target(&place, "to-f").as_deref(), Some("f"));
        }
    }

    /// Checks that a patch is refused for a reason, and that nothing has changed.
    fn check_refused(patch: &str, code: &str, words: &str) {
        let place = place();
        let before = place.tree();
        let run = place.run(&["apply", "--json"], patch.as_bytes()).exits(1);
        let problem = &run.json_lines()[0]["error"]["problems"][0];
        assert_eq!(problem["code"], code, "{patch}\n{problem}");
        assert!(problem["message"].as_str().is_some_and(|message| message.contains(words)), "{problem}");
        assert_eq!(place.tree(), before);
    }

    #[test]
    fn what_leads_out_is_refused() {
        for target in ["..", "../x", "/etc/passwd", "d/../../x", "to-d/../.."] {
            check_refused(&make("l", target), "outside-root", "leads out of the root");
        }
        check_refused(&make("d/l", "../../x"), "outside-root", "leads out of the root");
        check_refused(&make("l", ".git/hooks"), "protected", "belongs to version control");
        let moved = format!(
            "{}diff --git a/d/l b/l\nsimilarity index 100%\nrename from d/l\nrename to l\n",
            make("d/l", "../f")
        );
        check_refused(&moved, "outside-root", "leads out of the root");
        check_refused(&make("out/../../l", "f"), "outside-root", "leads out of the root");
        check_refused(&make(".git/l", "../f"), "protected", "belongs to version control");
    }

    #[test]
    fn nothing_is_written_under_a_link_of_the_same_patch() {
        let file = |name: &str| format!("--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+x\n");
        check_refused(&(make("l", "d") + &file("l/new")), "not-a-file", "lies under the link l");
        check_refused(&(file("l/new") + &make("l", "d")), "not-a-file", "l can't be made");
        check_refused(&(delete("to-d", "d") + &file("to-d/new")), "not-a-file", "lies under the link to-d");
        let through = "--- a/l\n+++ b/l\n@@ -1 +1 @@\n-one\n+1\n";
        check_refused(&(make("l", "f") + through), "not-a-file", "l is a link");
    }

    #[test]
    fn what_is_no_link_is_not_taken_for_one() {
        check_refused(&delete("f", "one"), "not-a-file", "no symbolic link");
        check_refused(&delete("to-f", "g"), "hunk-not-found", "not in the file");
        check_refused(&make("to-f", "d"), "file-exists", "exists already");
        check_refused(&make("f", "d"), "file-exists", "exists already");
        Place::new().run(&["apply"], make("l", "").as_bytes()).exits(2);
        let submodule = "diff --git a/sub b/sub\nnew file mode 160000\nindex 0000000..1111111\n--- /dev/null\n+++ b/sub\n\
                         @@ -0,0 +1 @@\n+Subproject commit 1111111111111111111111111111111111111111\n";
        check_refused(submodule, "not-a-file", "a submodule");
    }
}

mod dialects {
    use super::*;

    #[test]
    fn a_patch_is_written_anew() {
        let diff = "--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n one\n-two\n+2\n";
        let check = |dialect: &str, expected: &str| {
            let run = place().run(&["show", "--output", dialect], diff.as_bytes()).exits(0);
            assert_eq!(run.stdout, expected);
        };
        check("apply-patch", "*** Begin Patch\n*** Update File: f\n@@\n one\n-two\n+2\n*** End Patch\n");
        check("unified", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
        check(
            "search-replace",
            "`f`\n```\n<<<<<<< SEARCH\none\ntwo\n=======\none\n2\n>>>>>>> REPLACE\n```\n",
        );
    }

    #[test]
    fn patches_are_found_in_plain_text() {
        let text = format!(
            "Two ways.\n{PATCH}or\n```diff\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+1\n```\nDone: --- a\n+++ b\n"
        );
        let run = place().run(&["preview", "--text-patches", "--json"], text.as_bytes()).exits(0);
        let finished = |event: &&Value| event["type"] == "finish";
        let events = run.json_lines();
        let fits: Vec<&Value> = events.iter().filter(finished).map(|event| &event["fits"]).collect();
        assert_eq!(fits, [&Value::Bool(true), &Value::Bool(true)], "{run:?}");
        let run = place().run(&["preview", "--text-patches"], b"nothing here\n").exits(0);
        assert_eq!(run.stdout, "");
    }

    #[test]
    fn what_a_dialect_has_no_words_for_is_refused_and_nothing_is_printed() {
        let diff = "--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n\
                    diff --git a/f b/f\nold mode 100644\nnew mode 100755\n";
        let run = place().run(&["show", "--output", "search-replace"], diff.as_bytes()).exits(1);
        assert_eq!(run.stdout, "");
        let words = "the edit of 'f' can't be written as search-replace: it has no words";
        assert!(run.stderr.contains(words), "{}", run.stderr);
    }
}

mod names {
    use super::*;

    #[test]
    fn a_dash_is_standard_input_and_two_dashes_end_the_options() {
        let place = place();
        place.run(&["apply", "-"], PATCH.as_bytes()).exits(0);
        assert_eq!(place.text("f"), PATCHED);
        place.run(&["write", "--", "--odd"], b"x").exits(0);
        assert_eq!(place.text("--odd"), "x");
        place.run(&["edit", "--old", "-x-", "--new", "--y", "--", "--odd"], b"").exits(1);
        place.run(&["edit", "--old", "x", "--new", "--y", "--", "--odd"], b"").exits(0);
        assert_eq!(place.text("--odd"), "--y");
        place.run(&["write", "./-"], b"dash").exits(0);
        assert_eq!(place.text("-"), "dash");
        place.run(&["show", "-"], PATCH.as_bytes()).exits(0);
        place.run(&["preview", "-"], PATCH.as_bytes()).exits(0);
    }

    #[test]
    fn standard_input_is_given_once() {
        let place = place();
        let run = place.run(&["edit", "f", "--old-file", "-", "--new-file", "-"], b"two").exits(2);
        assert!(run.stderr.contains("standard input"), "{run:?}");
        assert_eq!(place.text("f"), FILE);
        place.run(&["edit", "f", "--old-file", "-", "--new", "2"], b"two").exits(0);
        assert_eq!(place.text("f"), PATCHED);
    }

    #[test]
    fn the_root_is_where_paths_start_and_not_where_patches_are() {
        let place = place();
        fs::create_dir(place.root().join("inner")).expect("a folder");
        fs::write(place.root().join("inner/f"), FILE).expect("a file");
        place.run(&["--root", "inner", "apply", "patch"], b"").exits(0);
        assert_eq!((place.text("inner/f").as_str(), place.text("f").as_str()), (PATCHED, FILE));
    }
}

mod pipes {
    use super::*;

    /// Runs with a standard output that nobody reads: the read end is closed before the start.
    fn into_closed_pipe(place: &Place, args: &[&str], stdin: &[u8]) -> Run {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut child = place
            .command(args)
            .stdin(Stdio::piped())
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        child.stdin.take().expect("its input").write_all(stdin).expect("it reads");
        Run::from(child.wait_with_output().expect("it ends"))
    }

    #[test]
    fn a_closed_pipe_stops_no_commit_and_is_no_error() {
        for json in [&[][..], &["--json"]] {
            let check = |args: &[&str], stdin: &str, file: &str| {
                let place = place();
                let run = into_closed_pipe(&place, &[args, json].concat(), stdin.as_bytes());
                assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{args:?}");
                assert_eq!(place.text("f"), file, "{args:?}");
                assert_eq!(place.tree().len(), 3, "{args:?}");
            };
            check(&["apply"], PATCH, PATCHED);
            check(&["edit", "f", "--old", "two", "--new", "2"], "", PATCHED);
            check(&["write", "f"], PATCHED, PATCHED);
            check(&["show"], PATCH, FILE);
            check(&["preview", "patch"], "", FILE);
        }
        let place = place();
        place.run(&["apply", "patch", "--log", "log"], b"").exits(0);
        let run = into_closed_pipe(&place, &["replay", "log"], b"");
        assert_eq!((run.status, run.stderr.as_str()), (0, ""));
        for args in [&["--help"][..], &["schema", "outcome"], &["man"], &["completions", "bash"]] {
            assert_eq!(into_closed_pipe(&place, args, b"").status, 0, "{args:?}");
        }
    }

    #[test]
    fn a_full_disk_behind_stdout_is_an_error_but_the_files_are_written() {
        let place = place();
        let full = fs::File::options().write(true).open("/dev/full").expect("a full device");
        let status = place.command(&["apply", "patch"]).stdout(full).stderr(Stdio::null()).status();
        assert_eq!(status.expect("it runs").code(), Some(2));
        assert_eq!(place.text("f"), PATCHED);
    }
}

mod logs {
    use super::*;

    fn events(place: &Place, log: &str) -> Vec<Value> {
        place.text(log).lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    fn kinds(events: &[Value]) -> Vec<(&str, Option<u64>)> {
        events.iter().map(|event| (event["type"].as_str().expect("a type"), event["seq"].as_u64())).collect()
    }

    #[test]
    fn call_and_result_are_appended_and_seq_goes_on() {
        let place = place();
        place.run(&["apply", "patch", "--log", "log", "--call-id", "c1"], b"").exits(0);
        assert_eq!(support::mode(&place.root().join("log")), 0o600);
        place.run(&["edit", "f", "--old", "nine", "--new", "9", "--log", "log"], b"").exits(1);
        place.run(&["write", "new", "--log", "log"], b"x").exits(0);
        place.run(&["apply", "misfit", "--check", "--log", "log"], b"").exits(1);
        let events = events(&place, "log");
        let wanted = [
            ("session", None),
            ("tool/call", Some(0)),
            ("tool/result", Some(1)),
            ("tool/call", Some(2)),
            ("tool/result", Some(3)),
            ("tool/call", Some(4)),
            ("tool/result", Some(5)),
        ];
        assert_eq!(kinds(&events), wanted);
        assert_eq!(events[1]["data"]["callId"], "c1");
        let arguments: Value =
            serde_json::from_str(events[1]["data"]["arguments"].as_str().expect("text")).expect("JSON");
        assert_eq!(arguments["input"], PATCH);
        let cards = place.run(&["replay", "log", "--json"], b"").exits(0).json_lines();
        let statuses: Vec<&str> =
            cards.iter().map(|card| card["status"].as_str().expect("a status")).collect();
        assert_eq!(statuses, ["applied", "failed", "applied"]);
        assert_eq!(cards[1]["diffs"], serde_json::json!([]));
        assert!(cards[1]["message"].as_str().expect("a reason").contains("not in the file"));
    }

    #[test]
    fn a_log_that_cannot_be_opened_stops_the_change() {
        let place = place();
        for log in ["no/folder/log", "/dev/full", "."] {
            let run = place.run(&["apply", "patch", "--log", log], b"").exits(2);
            assert!(run.stderr.contains("log"), "{run:?}");
            assert_eq!(place.text("f"), FILE);
        }
    }

    /// Runs under a limit of the size of files, in KiB; the signal is ignored, so that writing fails instead.
    fn limited(place: &Place, kib: u32, args: &str) -> Run {
        let mut command = Command::new("bash");
        place.clear(&mut command);
        let binary = env!("CARGO_BIN_EXE_hunkwise");
        command.args(["-c", &format!("trap '' XFSZ; ulimit -f {kib}; exec \"{binary}\" {args}")]);
        output(command, b"")
    }

    fn padded_log(bytes: usize) -> String {
        let header = "{\"type\":\"session\",\"version\":0,\"id\":\"s\",\"createdAt\":1}\n";
        let row = "{\"type\":\"note\",\"seq\":7,\"data\":\"\"}\n";
        let pad = "x".repeat(bytes - header.len() - row.len());
        format!("{header}{}", row.replace("\"\"", &format!("\"{pad}\"")))
    }

    #[test]
    fn the_call_is_logged_before_the_commit_or_nothing_is_done() {
        let place = place();
        let log = padded_log(4050);
        fs::write(place.root().join("log"), &log).expect("a log");
        let run = limited(&place, 4, "apply patch --log log");
        assert_eq!(run.status, 2, "{run:?}");
        assert_eq!((place.text("f").as_str(), place.text("log")), (FILE, log));
    }

    #[test]
    fn a_result_that_cannot_be_logged_is_status_3_and_the_files_are_written() {
        let place = place();
        fs::write(place.root().join("log"), padded_log(3600)).expect("a log");
        let run = limited(&place, 4, "apply patch --log log");
        assert_eq!(run.status, 3, "{run:?}");
        assert!(run.stderr.contains("log"), "{run:?}");
        assert_eq!(place.text("f"), PATCHED);
        let events = events(&place, "log");
        assert_eq!(kinds(&events)[1..], [("note", Some(7)), ("tool/call", Some(8))]);
        // The next call goes on behind it.
        place.run(&["write", "g", "--log", "log"], b"x").exits(0);
        let cards = place.run(&["replay", "log", "--json"], b"").exits(0).json_lines();
        let statuses: Vec<&str> =
            cards.iter().map(|card| card["status"].as_str().expect("a status")).collect();
        assert_eq!(statuses, ["applied", "unknown"]);
    }

    #[test]
    fn a_result_that_a_crash_kept_from_the_log_comes_with_the_next_run() {
        let place = place();
        fs::write(place.root().join("log"), padded_log(3600)).expect("a log");
        // The signal ends the process where it would log the result: the names have changed by then.
        let mut command = Command::new("bash");
        place.clear(&mut command);
        let binary = env!("CARGO_BIN_EXE_hunkwise");
        command.args(["-c", &format!("ulimit -c 0 -f 4; exec \"{binary}\" apply patch --log log")]);
        let killed = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert_eq!(killed.expect("it runs").code(), None, "it was killed");
        assert_eq!(place.text("f"), PATCHED);
        let logged = events(&place, "log");
        assert_eq!(kinds(&logged).last(), Some(&("tool/call", Some(8))));
        // A run with another log, or none, brings it too.
        let said = place.run(&["write", "g"], b"x").exits(0).stderr;
        assert!(said.contains("its result was added"), "{said}");
        let cards = place.run(&["replay", "log", "--json"], b"").exits(0).json_lines();
        assert_eq!((cards.len(), &cards[0]["status"]), (1, &Value::from("applied")));
        // It is said once, and the call can be undone like any other.
        assert_eq!(place.run(&["write", "g"], b"y").exits(0).stderr, "");
        place.run(&["undo", "log"], b"").exits(0);
        assert_eq!(place.text("f"), FILE);
    }

    #[test]
    fn a_torn_log_is_continued() {
        let place = place();
        place.run(&["apply", "patch", "--log", "log"], b"").exits(0);
        let torn = format!("{}{{\"type\":\"tool/res", place.text("log"));
        fs::write(place.root().join("log"), &torn).expect("a log");
        let run = place.run(&["replay", "log"], b"").exits(0);
        assert!(run.stderr.contains("cut off"), "{run:?}");
        place.run(&["replay", "log", "--strict"], b"").exits(1);
        place.run(&["edit", "f", "--old", "2", "--new", "zwei", "--log", "log"], b"").exits(0);
        assert!(place.text("log").starts_with(&format!("{torn}\n")));
        let events = events(&place, "log");
        assert_eq!(kinds(&events)[3..], [("tool/call", Some(2)), ("tool/result", Some(3))]);
        let run = place.run(&["replay", "log", "--json"], b"").exits(0);
        assert_eq!(run.json_lines().len(), 2);
    }

    #[test]
    fn a_compressed_log_is_a_log() {
        let place = place();
        place.run(&["apply", "patch", "--log", "log"], b"").exits(0);
        let plain = place.run(&["replay", "log"], b"").exits(0).stdout;
        let log = fs::read(place.root().join("log")).expect("a log");
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(&log).expect("memory takes all bytes");
        let gzip = gzip.finish().expect("memory takes all bytes");
        let zstd = zstd::encode_all(&log[..], 3).expect("memory takes all bytes");
        for packed in [gzip, zstd] {
            fs::write(place.root().join("packed"), &packed).expect("a log");
            assert_eq!(place.run(&["replay", "packed", "--strict"], b"").exits(0).stdout, plain);
            assert_eq!(place.run(&["replay", "-"], &packed).exits(0).stdout, plain);
            let cut = place.run(&["replay"], &packed[..packed.len() - 3]).exits(0);
            assert!(cut.stderr.contains("stream is cut off"), "{cut:?}");
            place.run(&["replay", "--strict"], &packed[..packed.len() - 3]).exits(1);
            let mut damaged = packed.clone();
            damaged.truncate(20);
            damaged.extend_from_slice(&[0xFF; 40]);
            let run = place.run(&["replay", "--strict"], &damaged);
            assert!((1..=2).contains(&run.status) && run.stderr.contains("stream is "), "{run:?}");
        }
    }

    #[test]
    fn what_is_no_log_is_named() {
        let place = place();
        let hint = |input: &[u8]| {
            let run = place.run(&["replay", "-", "--json"], input).exits(2);
            let error = &run.json_lines()[0]["error"];
            (error["message"].to_string(), error["hint"].to_string())
        };
        let (message, hint_text) = hint(b"SQLite format 3\0...");
        assert!(message.contains("SQLite database"), "{message}");
        assert!(hint_text.contains("export"), "{hint_text}");
        for input in [&b"just words\n"[..], b"\x7FELF\0\0", b"{\"a\":1}\n{\"b\":2}\n"] {
            let (message, hint_text) = hint(input);
            assert!(message.contains("no patch in it"), "{message}");
            assert!(hint_text.contains("dsh, ") && hint_text.contains("generic"), "{hint_text}");
        }
        let run = place.run(&["replay"], place.text("patch").as_bytes()).exits(0);
        assert!(run.stdout.contains("outcome") || run.stdout.contains("unknown"), "{run:?}");
        assert!(run.stderr.contains("no format was recognised"), "{run:?}");
    }

    #[test]
    fn a_patch_does_not_change_its_own_log() {
        let place = place();
        place.run(&["apply", "patch", "--log", "log"], b"").exits(0);
        symlink("log", place.root().join("alias")).expect("a link");
        for edit in [
            "*** Update File: log\n@@\n+x\n*** End of File\n",
            "*** Update File: alias\n@@\n+x\n*** End of File\n",
            "*** Delete File: log\n",
            "*** Update File: log\n*** Move to: gone\n",
        ] {
            let patch = format!("*** Begin Patch\n{edit}*** End Patch\n");
            place.run(&["apply", "--log", "log"], patch.as_bytes()).exits(1);
        }
        for edit in ["*** Add File: fresh\n+x\n", "*** Update File: f\n*** Move to: fresh\n"] {
            let patch = format!("*** Begin Patch\n{edit}*** End Patch\n");
            place.run(&["apply", "--log", "fresh"], patch.as_bytes()).exits(1);
            place.run(&["apply", "--allow-overwrite", "--log", "fresh"], patch.as_bytes()).exits(1);
            assert_eq!(place.text("f"), PATCHED);
            fs::remove_file(place.root().join("fresh")).expect("it was made");
        }
        let statuses = place.run(&["replay", "log", "--json"], b"").exits(0).json_lines();
        assert_eq!(statuses.iter().filter(|card| card["status"] == "failed").count(), 4);
    }

    #[test]
    fn a_replay_asks_no_file_that_the_log_names() {
        let place = place();
        place.run(&["apply", "patch", "--log", "log"], b"").exits(0);
        place.run(&["write", "g", "--log", "log"], b"x\n").exits(0);
        let empty = Place::new();
        fs::copy(place.root().join("log"), empty.root().join("log")).expect("a copy");
        for output in ["card", "json", "stat", "patch"] {
            let args = ["replay", "log", "--output", output];
            let here = place.run(&args, b"").exits(0);
            assert_eq!(empty.run(&args, b"").exits(0), here);
            assert_eq!(place.run(&args, b"").exits(0), here);
            let through_stdin = ["replay", "-", "--output", output];
            assert_eq!(empty.run(&through_stdin, place.text("log").as_bytes()).exits(0).stdout, here.stdout);
        }
        assert_eq!(empty.tree().len(), 1);
    }

    #[test]
    fn content_that_is_not_shown_is_not_called_empty() {
        let check = |args: &[&str], content: &[u8], is_empty: bool| {
            let place = place();
            place.run(&[args, &["--log", "log"]].concat(), content).exits(0);
            let drawn = place.run(&["replay", "log"], b"").exits(0).stdout;
            assert_eq!(drawn.contains("empty file"), is_empty, "{args:?} {drawn}");
            assert_eq!(drawn.contains("content not recorded"), !is_empty, "{args:?} {drawn}");
        };
        check(&["write", "new"], b"\xFF\xFE\0\0c\0\0\0", false);
        check(&["write", "new"], b"a\0b", false);
        check(&["write", "new", "--max-text", "2"], b"too large\n", false);
        check(&["write", "new"], b"", true);
    }

    #[test]
    fn many_writers_share_one_log() {
        let place = place();
        std::thread::scope(|scope| {
            for number in 0..8 {
                let place = &place;
                scope.spawn(move || {
                    place
                        .run(&["write", &format!("n{number}"), "--log", "log", "--no-sync"], b"x\n")
                        .exits(0);
                });
            }
        });
        let events = events(&place, "log");
        let seqs: Vec<Option<u64>> = kinds(&events)[1..].iter().map(|(_, seq)| *seq).collect();
        assert_eq!(seqs, (0..16).map(Some).collect::<Vec<_>>());
        assert_eq!(place.run(&["replay", "log", "--json", "--strict"], b"").exits(0).json_lines().len(), 8);
    }

    #[test]
    fn cards_are_chosen_by_what_they_hold() {
        let place = place();
        place.run(&["apply", "patch", "--log", "log", "--call-id", "first"], b"").exits(0);
        place.run(&["write", "src/new.rs", "--log", "log"], b"x\n").exits(0);
        place.run(&["edit", "f", "--old", "nine", "--new", "9", "--log", "log"], b"").exits(1);
        let check = |args: &[&str], lines: &[u64]| {
            let cards = place.run(&[&["replay", "log", "--json"], args].concat(), b"").exits(0).json_lines();
            let found: Vec<Option<u64>> = cards.iter().map(|card| card["source"]["line"].as_u64()).collect();
            assert_eq!(found, lines.iter().map(|line| Some(*line)).collect::<Vec<_>>(), "{args:?}");
        };
        check(&[], &[3, 5, 7]);
        check(&["--path", "f"], &[3, 7]);
        check(&["--path", "src/*.rs"], &[5]);
        check(&["--status", "failed"], &[7]);
        check(&["--tool", "write"], &[5]);
        check(&["--call", "first"], &[3]);
        // Each run is a turn of its own.
        check(&["--turn", "1"], &[3]);
        check(&["--turn", "2.."], &[5, 7]);
        check(&["--turn", "4.."], &[]);
        check(&["--path", "f", "--status", "applied"], &[3]);
        check(&["--status", "failed,applied"], &[3, 5, 7]);
        check(&["--status", "!failed"], &[3, 5]);
        check(&["--tool", "WRITE,edit"], &[5, 7]);
        check(&["--path", "*.rs", "--path", "patch"], &[5]);
        check(&["--path", "!src"], &[3, 7]);
        check(
            &["--path", &format!("{}/src/*", fs::canonicalize(place.root()).expect("a folder").display())],
            &[5],
        );
        place.run(&["replay", "log", "--status", "nearly"], b"").exits(2);
        place.run(&["replay", "log", "--path", "[", "--json"], b"").exits(2);
    }

    /// A place with so many logs of so many writes each, and their names.
    fn with_logs(logs: usize, writes: usize) -> (Place, Vec<String>) {
        let place = Place::new();
        let names: Vec<String> = (0..logs).map(|log| format!("log{log}")).collect();
        for (log, name) in names.iter().enumerate() {
            for write in 0..writes {
                let args = ["write", &format!("f{log}-{write}"), "--log", name, "--no-sync"];
                place.run(&args, b"x\n").exits(0);
            }
        }
        (place, names)
    }

    #[test]
    fn several_logs_are_drawn_in_their_order() {
        let (place, names) = with_logs(5, 2);
        // One that takes longer than the others.
        let slow = place.text("log1") + &"{\"type\":\"assistant/chunk\",\"data\":{}}\n".repeat(100_000);
        fs::write(place.root().join("log1"), slow).expect("a log");
        for output in ["card", "stat", "json", "patch"] {
            let args: Vec<&str> =
                ["replay", "--output", output].into_iter().chain(names.iter().map(String::as_str)).collect();
            let all = place.run(&args, b"").exits(0).stdout;
            let mut wanted = String::new();
            for name in &names {
                let one = place.run(&["replay", "--output", output, name], b"").exits(0).stdout;
                wanted += &match output {
                    "json" => one
                        .replace(",\"folder\":", "\u{0}")
                        .replace("\"},\"files\"", &format!("\",\"log\":\"{name}\"}},\"files\""))
                        .replace('\u{0}', ",\"folder\":"),
                    "patch" => format!("# {name}\n{one}"),
                    _ => format!("{}==> {name} <==\n{one}", if name == "log0" { "" } else { "\n" }),
                };
            }
            assert_eq!(all, wanted, "{output}");
        }
    }

    #[test]
    fn what_is_no_log_does_not_stop_the_others() {
        let (place, _) = with_logs(1, 1);
        fs::write(place.root().join("text"), "no log\n").expect("a file");
        let run = place.run(&["replay", "text", "nowhere", "log0", "--output", "stat"], b"").exits(2);
        assert!(run.stdout.starts_with("==> log0 <==\napplied"), "{run:?}");
        for words in ["text: no session log that is known", "looked for dsh", "nowhere: no such file"] {
            assert!(run.stderr.contains(words), "{run:?} lacks {words}");
        }
        let run = place.run(&["replay", "text", "log0", "--json"], b"").exits(2);
        let schemas: Vec<Value> = run.json_lines().iter().map(|line| line["schema"].clone()).collect();
        assert_eq!(schemas, ["hunkwise/error/v1", "hunkwise/card/v1"]);
        place.run(&["replay", "-", "-"], b"").exits(2);
        // Nothing of it is understood: that is another thing than being no log.
        place.run(&["replay", "text", "--format", "dsh"], b"").exits(0);
        place.run(&["replay", "text", "--format", "dsh", "--strict"], b"").exits(1);
        let run = place.run(&["replay", "text", "--format", "morse"], b"").exits(2);
        assert!(run.stderr.contains("auto") && run.stderr.contains("dsh"), "{run:?}");
    }

    #[test]
    fn quiet_reads_all_logs_and_prints_no_card() {
        let (place, _) = with_logs(2, 1);
        let torn = place.text("log1") + "{\"type\":\"tool/res";
        fs::write(place.root().join("log1"), torn).expect("a log");
        let run = place.run(&["replay", "log0", "log1", "--quiet", "--strict"], b"").exits(1);
        assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
    }

    #[test]
    fn a_patch_of_a_log_makes_the_session_again() {
        let place = place();
        let before = place.tree();
        let runs: [(&[&str], &str); 5] = [
            (&["apply", "patch"], ""),
            (&["write", "src/new.rs"], "a\nb\n"),
            (&["edit", "src/new.rs", "--old", "b", "--new", "c\nd"], ""),
            (&["edit", "f", "--old", "2", "--new", "two and more"], ""),
            (&["apply"], "*** Begin Patch\n*** Delete File: misfit\n*** End Patch\n"),
        ];
        for (args, stdin) in runs {
            place.run(&[args, &["--log", "log"]].concat(), stdin.as_bytes()).exits(0);
        }
        place.run(&["edit", "f", "--old", "nine", "--new", "9", "--log", "log"], b"").exits(1);
        let patch = place.run(&["replay", "log", "--output", "patch"], b"").exits(0);
        let again = Place::new();
        support::write_tree(&again.root(), &before);
        let mut git = Command::new("git");
        git.args(["apply", "-"]).current_dir(again.root()).stdin(Stdio::piped());
        let mut child = git.spawn().expect("git");
        child.stdin.take().expect("its input").write_all(patch.stdout.as_bytes()).expect("it reads");
        assert!(child.wait().expect("its status").success(), "{}", patch.stdout);
        let mut wanted = place.tree();
        wanted.remove("log");
        assert_eq!(again.tree(), wanted);
    }

    #[test]
    fn before_at_and_after_show_the_same_hunks() {
        let place = Place::with(&[("f", FILE), ("crlf", "a\r\nb\r\n"), ("old", "x")]);
        let patch = "*** Begin Patch\n*** Update File: f\n@@\n-one\n+1\n*** Update File: f\n*** Move to: g\n@@\n 1\n-two\n*** Add File: new\n+n\n*** Delete File: old\n*** Update File: crlf\n@@\n a\n+c\n b\n*** End Patch\n";
        let events = place.run(&["preview", "--json"], patch.as_bytes()).exits(0).json_lines();
        let outcome =
            place.run(&["apply", "--json", "--log", "log"], patch.as_bytes()).exits(0).json_lines().remove(0);
        let card = place.run(&["replay", "log", "--json"], b"").exits(0).json_lines().remove(0);
        let of_files = |document: &Value| -> Vec<Value> {
            let files = document["files"].as_array().expect("files");
            files.iter().flat_map(|file| file["diffs"].as_array().expect("hunks").clone()).collect()
        };
        let reported = of_files(&outcome);
        assert_eq!(card["diffs"], Value::from(reported.clone()));
        // Two edits of one path are two in the preview, and one in the report: the rest is the same.
        let shown = of_files(&events[events.len() - 2]);
        assert_eq!(shown[2..], reported[1..]);
    }
}

mod streams {
    use super::*;

    /// The events of calls that each change a line of `f` from one text to another, as a model's stream has them.
    fn stream(changes: &[(&str, &str)]) -> String {
        let mut stream = String::new();
        for (index, (old, new)) in changes.iter().enumerate() {
            let patch = format!("*** Begin Patch\n*** Update File: f\n@@\n-{old}\n+{new}\n*** End Patch\n");
            let item = serde_json::json!({"type": "custom_tool_call", "call_id": format!("c{index}"),
                "name": "apply_patch", "input": patch});
            let event =
                serde_json::json!({"type": "response.output_item.done", "output_index": index, "item": item});
            stream.push_str(&format!("data: {event}\n\n"));
        }
        stream
    }

    const CHANGES: [(&str, &str); 3] = [("one", "1"), ("nowhere", "x"), ("1", "uno")];

    #[test]
    fn each_call_is_applied_by_itself() {
        let place = Place::with(&[("f", "one\ntwo\n")]);
        let stream = stream(&CHANGES);
        let args = ["apply", "--transport", "sse", "--json", "--log", "log"];
        let outcomes = place.run(&args, stream.as_bytes()).exits(1).json_lines();
        let seen: Vec<_> =
            outcomes.iter().map(|outcome| (outcome["callId"].clone(), outcome["ok"].clone())).collect();
        let wanted =
            [("c0", true), ("c1", false), ("c2", true)].map(|(id, ok)| (Value::from(id), Value::from(ok)));
        assert_eq!(seen, wanted);
        assert_eq!(place.text("f"), "uno\ntwo\n");
        let cards = place.run(&["replay", "log", "--json"], b"").exits(0).json_lines();
        let ids: Vec<_> =
            cards.iter().map(|card| card["source"]["callId"].as_str().unwrap_or_default()).collect();
        assert_eq!(ids, ["c0", "c1", "c2"]);
    }

    #[test]
    fn the_first_refused_call_may_end_the_run() {
        let place = Place::with(&[("f", "one\ntwo\n")]);
        place.run(&["apply", "--transport", "auto", "--stop"], stream(&CHANGES).as_bytes()).exits(1);
        assert_eq!(place.text("f"), "1\ntwo\n");
        place.run(&["apply", "--stop"], b"").exits(2);
    }

    #[test]
    fn raw_text_is_one_call() {
        let place = Place::with(&[("f", "one\ntwo\n")]);
        let patch = "*** Begin Patch\n*** Update File: f\n@@\n-one\n+1\n*** End Patch\n";
        place.run(&["apply", "--transport", "auto"], patch.as_bytes()).exits(0);
        assert_eq!(place.text("f"), "1\ntwo\n");
    }

    #[test]
    fn a_stream_is_told_from_a_patch_and_previewed_call_by_call() {
        let place = Place::with(&[("f", "one\ntwo\n")]);
        let sse = stream(&CHANGES);
        let lines: String = sse
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .map(|line| format!("{line}\n"))
            .collect();
        let taped = format!("{}\n", serde_json::json!({"t": 5, "delta": sse}));
        let wanted =
            place.run(&["preview", "--json", "--transport", "sse"], sse.as_bytes()).exits(0).json_lines();
        let ends: Vec<_> = wanted.iter().filter(|event| event["type"] == "finish").collect();
        assert_eq!(ends.iter().map(|end| end["fits"].clone()).collect::<Vec<_>>(), [true, false, true]);
        for input in [&sse, &lines, &taped] {
            let found = place.run(&["preview", "--json"], input.as_bytes()).exits(0).json_lines();
            assert_eq!(found, wanted);
        }
        place.run(&["preview", "--fail-fast"], sse.as_bytes()).exits(1);
        place.run(&["preview"], &sse.as_bytes()[..0]).exits(2);
        let updates = place.run(&["preview", "--output", "codex"], sse.as_bytes()).exits(0).json_lines();
        assert!(updates.iter().all(|update| update["type"] == "patch_apply_updated"));
        let messages = place.run(&["preview", "--output", "acp"], sse.as_bytes()).exits(0).json_lines();
        assert_eq!(messages[0]["params"]["update"]["sessionUpdate"], "tool_call");
    }
}

mod previews {
    use super::*;

    const HEAD: &[u8] = b"*** Begin Patch\n*** Update File: f\n@@\n one\n-two\n";

    #[test]
    fn a_stalled_stream_shows_what_is_pending_within_one_interval() {
        let place = place();
        let mut child = spawn(place.command(&["preview", "--json", "--interval", "300ms"]));
        let lines = lines_of(&mut child);
        let mut stdin = child.stdin.take().expect("its input");
        stdin.write_all(HEAD).expect("it reads");
        let first = lines.recv_timeout(LONG).expect("the first preview comes at once");
        let start = Instant::now();
        stdin.write_all(b"+2\n").expect("it reads");
        // Nothing more is sent; the stream stays open.
        let second = lines.recv_timeout(LONG).expect("the pending preview comes by itself");
        let waited = start.elapsed();
        assert!(first.contains("\"added\":0") && second.contains("\"added\":1"), "{first}\n{second}");
        assert!(waited < Duration::from_secs(5), "{waited:?}");
        drop(stdin);
        assert_eq!(end_of(child).0, Some(2), "the patch is cut off");
    }

    #[test]
    fn an_interrupt_ends_a_preview_quietly() {
        for signal in [rustix::process::Signal::INT, rustix::process::Signal::TERM] {
            let place = place();
            let before = place.tree();
            let mut child = spawn(place.command(&["preview"]));
            let lines = lines_of(&mut child);
            let mut stdin = child.stdin.take().expect("its input");
            stdin.write_all(HEAD).expect("it reads");
            lines.recv_timeout(LONG).expect("a preview");
            let id = rustix::process::Pid::from_child(&child);
            rustix::process::kill_process(id, signal).expect("a signal is sent");
            assert_eq!(end_of(child), (Some(130), String::new()));
            assert_eq!(place.tree(), before);
        }
    }

    #[test]
    fn a_malformed_line_ends_the_previews_and_the_rest_is_read() {
        let place = place();
        let mut child = spawn(place.command(&["preview", "--json", "--interval", "900s"]));
        let lines = lines_of(&mut child);
        let mut stdin = child.stdin.take().expect("its input");
        let event = || -> Value {
            serde_json::from_str(&lines.recv_timeout(LONG).expect("an event comes at once")).expect("JSON")
        };
        stdin.write_all(HEAD).expect("it reads");
        assert_eq!(event()["type"], "preview");
        stdin.write_all(b"+2\nno sign\n+3\n").expect("it reads");
        // What was pending goes out first.
        let pending = event();
        assert_eq!(
            (&pending["type"], pending.pointer("/files/0/added")),
            (&"preview".into(), Some(&1.into()))
        );
        let finish = event();
        assert_eq!((&finish["type"], &finish["ok"]), (&"finish".into(), &false.into()));
        assert_eq!(finish["error"]["problems"][0]["line"], 7);
        // More than a pipe holds.
        stdin.write_all(&b"+more\n".repeat(100_000)).expect("it still reads");
        drop(stdin);
        assert_eq!(end_of(child), (Some(2), String::new()));
        assert_eq!(lines.iter().count(), 0);
    }

    #[test]
    fn fail_fast_ends_before_the_stream_does() {
        let place = place();
        let mut child = spawn(place.command(&["preview", "--json", "--fail-fast"]));
        let lines = lines_of(&mut child);
        let mut stdin = child.stdin.take().expect("its input");
        stdin.write_all(b"*** Begin Patch\n*** Update File: f\n@@\n-nine\n+9\n@@\n").expect("it reads");
        let (status, said) = end_of(child);
        assert_eq!((status, said.as_str()), (Some(1), ""));
        let last: Value = serde_json::from_str(&lines.iter().last().expect("a finish event")).expect("JSON");
        assert_eq!((&last["type"], &last["fits"]), (&"finish".into(), &false.into()));
        assert_eq!(last["error"]["code"], "hunk-not-found");
        drop(stdin);
    }

    #[test]
    fn fail_fast_waits_where_later_text_may_decide() {
        let place = Place::with(&[("f", "x\nm\nx\n")]);
        // The first hunk alone fits two places; the second leaves one.
        let patch = "*** Begin Patch\n*** Update File: f\n@@\n-m\n+M\n@@\n-x\n+y\n*** End Patch\n";
        place.run(&["preview", "--fail-fast"], patch.as_bytes()).exits(0);
        let patch = "*** Begin Patch\n*** Update File: f\n@@\n-x\n+y\n*** End Patch\n";
        place.run(&["preview", "--fail-fast"], patch.as_bytes()).exits(1);
    }

    #[test]
    fn a_tape_shows_the_same_every_time_and_a_recorded_one_too() {
        let place = place();
        let text = place.run(&["preview", "--record", "tape", "--json"], PATCH.as_bytes()).exits(0);
        let once = place.run(&["preview", "tape", "--json"], b"").exits(0);
        assert_eq!(place.run(&["preview", "tape", "--json"], b"").exits(0), once);
        assert_eq!(place.run(&["preview", "-", "--json"], place.text("tape").as_bytes()).exits(0), once);
        assert_eq!(once.stdout, text.stdout);
        let slow = "{\"t\":0,\"delta\":\"*** Begin Patch\\n*** Add File: n\\n+1\\n\"}\n{\"t\":100,\"delta\":\"+2\\n\"}\n{\"t\":2000,\"delta\":\"+3\\n*** End Patch\\n\"}\n";
        let events = place.run(&["preview", "--json"], slow.as_bytes()).exits(0).json_lines();
        let added: Vec<&Value> = events.iter().filter_map(|event| event.pointer("/files/0/added")).collect();
        assert_eq!(added, [1, 2, 3]);
    }

    #[test]
    fn a_tape_of_tiny_deltas_costs_linear_time() {
        let tape = |bytes: usize| {
            let line = "+some line of the new file, with a few words in it\n";
            let patch = format!(
                "*** Begin Patch\n*** Add File: n\n{}*** End Patch\n",
                line.repeat(bytes / line.len())
            );
            let pieces = patch.as_bytes().chunks(3).map(|piece| {
                let text = std::str::from_utf8(piece).expect("ASCII");
                format!("{}\n", serde_json::json!({ "t": 0, "delta": text }))
            });
            pieces.collect::<String>()
        };
        let place = place();
        let time = |tape: &str| {
            let start = Instant::now();
            place.run(&["preview", "-q"], tape.as_bytes()).exits(0);
            start.elapsed()
        };
        let (small, large) = (tape(1 << 20), tape(2 << 20));
        let fastest = |tape: &str| time(tape).min(time(tape));
        let ratio = fastest(&large).as_secs_f64() / fastest(&small).as_secs_f64();
        // Quadratic cost would give four.
        assert!(ratio < 3.2, "{ratio}");
    }
}

mod codex_name {
    use super::*;

    fn apply_patch(place: &Place, args: &[&str], stdin: &str) -> Run {
        let link = place.beside("apply_patch");
        if !link.exists() {
            symlink(env!("CARGO_BIN_EXE_hunkwise"), &link).expect("a link");
        }
        let mut command = Command::new(&link);
        place.clear(&mut command);
        command.args(args);
        output(command, stdin.as_bytes())
    }

    #[test]
    fn success_lists_paths_by_kind_as_they_are_spelled() {
        let place = Place::with(&[("f", FILE), ("gone", "x\n"), ("a", "x\n")]);
        let patch = "*** Begin Patch\n*** Delete File: gone\n*** Update File: ./f\n@@\n-two\n+2\n*** Add File: n/new\n+x\n*** Update File: a\n*** Move to: b\n*** End Patch\n";
        let run = apply_patch(&place, &[patch], "").exits(0);
        assert_eq!(run.stdout, "Success. Updated the following files:\nA n/new\nM ./f\nM b\nD gone\n");
        assert_eq!(run.stderr, "");
        assert_eq!(place.tree().into_keys().collect::<Vec<_>>(), ["b", "f", "n/new"]);
    }

    #[test]
    fn the_patch_may_come_on_standard_input() {
        let place = place();
        apply_patch(&place, &[], PATCH).exits(0);
        assert_eq!(place.text("f"), PATCHED);
    }

    #[test]
    fn every_failure_is_1_and_changes_nothing() {
        let place = place();
        let before = place.tree();
        for (patch, words) in [
            (MISFIT, "not in the file"),
            ("*** Begin Patch\n*** Add File: n\n+x\n*** Delete File: nowhere\n*** End Patch\n", "nowhere"),
            ("*** Begin Patch\n*** End Patch\n", "No files were modified."),
            ("*** Begin Patch\n*** Add File: n\nx\n*** End Patch\n", "Invalid patch hunk on line 3: "),
            ("--help", "Invalid patch: "),
            ("*** Begin Patch\n*** Add File: ../n\n+x\n*** End Patch\n", "../n"),
        ] {
            let run = apply_patch(&place, &[patch], "").exits(1);
            assert!(run.stdout.is_empty() && run.stderr.contains(words), "{run:?}");
            assert_eq!(place.tree(), before);
        }
    }

    #[test]
    fn wrong_use_is_2() {
        let place = place();
        assert!(apply_patch(&place, &[PATCH, PATCH], "").exits(2).stderr.contains("Usage"));
        assert!(apply_patch(&place, &[], "").exits(2).stderr.contains("Usage"));
    }

    #[test]
    fn the_first_match_wins_files_are_replaced_and_a_newline_is_added() {
        let place = Place::with(&[("f", "x\nm\nx"), ("there", "old\n"), ("other", "o\n")]);
        let patch = "*** Begin Patch\n*** Update File: f\n@@\n-x\n+y\n*** Add File: there\n+new\n*** Update File: other\n*** Move to: there\n@@\n+tail\n*** End Patch\n";
        apply_patch(&place, &[patch], "").exits(0);
        assert_eq!(place.text("f"), "y\nm\nx\n");
        assert_eq!(place.text("there"), "o\ntail\n");
        let patch = "*** Begin Patch\n*** Update File: f\n*** Move to: ./f\n@@\n-m\n+M\n*** End Patch\n";
        apply_patch(&place, &[patch], "").exits(0);
        assert_eq!(place.text("f"), "y\nM\nx\n");
        assert_eq!(place.tree().get("f"), Some(&Entry::File(b"y\nM\nx\n".to_vec())));
    }
}

mod trees {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum Step {
        Add(usize),
        Delete(usize),
        Update(usize),
        Move(usize, usize),
        MoveAndUpdate(usize, usize),
    }

    const NAMES: [&str; 5] = ["a", "b", "d/c", "d/e/f", "g"];

    fn step() -> impl Strategy<Value = Step> {
        let name = 0..NAMES.len();
        prop_oneof![
            1 => name.clone().prop_map(Step::Add),
            1 => name.clone().prop_map(Step::Delete),
            2 => name.clone().prop_map(Step::Update),
            3 => (name.clone(), name.clone()).prop_map(|(from, to)| Step::Move(from, to)),
            2 => (name.clone(), name).prop_map(|(from, to)| Step::MoveAndUpdate(from, to)),
        ]
    }

    /// The patch of the steps, and the tree that they lead to; no tree if one of them can't be done.
    fn model(
        steps: &[Step],
        mut tree: BTreeMap<String, String>,
    ) -> (String, Option<BTreeMap<String, String>>) {
        let mut patch = String::from("*** Begin Patch\n");
        let mut fits = true;
        let take = |patch: &mut String,
                    tree: &mut BTreeMap<String, String>,
                    from: &str,
                    to: &str,
                    update: bool,
                    number: usize| {
            patch.push_str(&format!("*** Update File: {from}\n"));
            if from != to {
                patch.push_str(&format!("*** Move to: {to}\n"));
            }
            let old = tree.get(from).cloned();
            if update || from == to {
                let line = old.as_deref().unwrap_or("missing\n");
                patch.push_str(&format!("@@\n-{line}+line {number}\n"));
            }
            match old {
                Some(text) if from == to || !tree.contains_key(to) => {
                    tree.remove(from);
                    let text = if update || from == to { format!("line {number}\n") } else { text };
                    tree.insert(to.to_owned(), text);
                    true
                }
                _ => false,
            }
        };
        for (number, step) in steps.iter().enumerate() {
            fits &= match *step {
                Step::Add(name) => {
                    patch.push_str(&format!("*** Add File: {}\n+line {number}\n", NAMES[name]));
                    let is_free = !tree.contains_key(NAMES[name]);
                    if is_free {
                        tree.insert(NAMES[name].to_owned(), format!("line {number}\n"));
                    }
                    is_free
                }
                Step::Delete(name) => {
                    patch.push_str(&format!("*** Delete File: {}\n", NAMES[name]));
                    tree.remove(NAMES[name]).is_some()
                }
                Step::Update(name) => take(&mut patch, &mut tree, NAMES[name], NAMES[name], true, number),
                Step::Move(from, to) => take(&mut patch, &mut tree, NAMES[from], NAMES[to], false, number),
                Step::MoveAndUpdate(from, to) => {
                    take(&mut patch, &mut tree, NAMES[from], NAMES[to], true, number)
                }
            };
        }
        patch.push_str("*** End Patch\n");
        (patch, fits.then_some(tree))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

        /// Edits that build on each other lead to the tree that doing them one by one leads to, or to no change.
        #[test]
        fn many_edits_are_one_commit(there in prop::collection::vec(any::<bool>(), NAMES.len()), steps in prop::collection::vec(step(), 1..7)) {
            let before: BTreeMap<String, String> = NAMES
                .iter()
                .zip(&there)
                .filter(|(_, there)| **there)
                .map(|(name, _)| ((*name).to_owned(), format!("first of {name}\n")))
                .collect();
            let files: Vec<(&str, &str)> = before.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
            let place = Place::with(&files);
            let (patch, wanted) = model(&steps, before.clone());
            let run = place.run(&["apply", "--json", "--no-sync"], patch.as_bytes());
            prop_assert_eq!(run.status, if wanted.is_some() { 0 } else { 1 }, "{}\n{:?}", patch, run);
            let after: BTreeMap<String, String> = place
                .tree()
                .into_iter()
                .map(|(name, entry)| match entry {
                    Entry::File(bytes) => (name, String::from_utf8(bytes).expect("text")),
                    Entry::Link(_) => panic!("a link"),
                })
                .collect();
            prop_assert_eq!(&after, wanted.as_ref().unwrap_or(&before), "{}\n{:?}", patch, run);
            // The report tells the difference of the two trees.
            let mut told = before;
            for file in run.json_lines()[0]["files"].as_array().expect("files") {
                let path = file["path"].as_str().expect("a path");
                if let Some(from) = file["from"].as_str() {
                    told.remove(from);
                }
                match file["after"].as_str() {
                    Some(text) => told.insert(path.to_owned(), text.to_owned()),
                    None => told.remove(path),
                };
            }
            prop_assert_eq!(told, after, "{}\n{:?}", patch, run);
        }
    }
}

#[test]
fn runs_in_one_root_lose_no_change_of_each_other() {
    let numbers = || 0..8;
    let lines = |word: &str| numbers().map(|number| format!("{word} {number}\n")).collect::<String>();
    let place = Place::with(&[("f", &lines("old"))]);
    let children: Vec<Child> = numbers()
        .map(|number| {
            let (old, new) = (format!("old {number}"), format!("new {number}"));
            spawn(place.command(&["edit", "f", "--old", &old, "--new", &new, "--no-sync"]))
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{output:?}");
    }
    assert_eq!(place.text("f"), lines("new"));
}

#[test]
fn a_journal_that_is_not_one_is_told_and_left() {
    let place = place();
    let state = place.beside("home/state");
    fs::create_dir_all(&state).expect("a folder");
    let inode = std::os::unix::fs::MetadataExt::ino(&fs::metadata(place.root()).expect("the root"));
    let journal = state.join(format!("{inode:x}-0-0.journal"));
    fs::write(&journal, "something else").expect("a file");
    let run = place.run(&["apply", "patch", "--no-sync"], b"");
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.stderr.contains(journal.to_str().expect("text")), "{run:?}");
    assert_eq!(place.text("f"), PATCHED);
    assert!(journal.exists());
    // What writes nothing looks at no journal.
    assert_eq!(
        place.run(&["apply", "patch", "--check", "--reverse"], b"").stderr.matches("journal").count(),
        0
    );
}
