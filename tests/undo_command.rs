//! `undo` as a command: whole trees on the disk, with modes, links and folders; the log; statuses.

#![cfg(feature = "cli")]
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a test reads files, starts programs and may fail"
)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::Value;
use support::Place;
use support::Run;
use support::mode;
use support::output;
use support::set_mode;

const FILE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

/// Everything that is there but the log: of files bytes and mode, of links where they lead, and folders.
fn scene(place: &Place) -> BTreeMap<String, (Vec<u8>, u32)> {
    let mut scene = BTreeMap::new();
    let mut pending = vec![place.root()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name =
                path.strip_prefix(place.root()).expect("below the root").to_string_lossy().into_owned();
            let kind = path.symlink_metadata().expect("its kind");
            let value = if kind.is_symlink() {
                (fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes(), 0)
            } else if kind.is_dir() {
                pending.push(path);
                (Vec::new(), 1)
            } else {
                (fs::read(&path).expect("a file"), kind.mode())
            };
            if !name.ends_with(".jsonl") {
                scene.insert(name, value);
            }
        }
    }
    scene
}

fn run(place: &Place, args: &str, stdin: &[u8]) -> Run {
    place.run(&args.split(' ').collect::<Vec<_>>(), stdin)
}

/// Whether a run said these words, wherever its lines break.
fn has(run: &Run, words: &str) -> bool {
    let said: Vec<&str> = run.stderr.split_whitespace().collect();
    said.join(" ").contains(words)
}

/// Runs a command that is logged, and checks that an undo gives the tree back and the undo of that makes it again.
fn check(files: &[(&str, &[u8], u32)], args: &str, stdin: &[u8]) {
    let place = Place::new();
    for (name, bytes, mode) in files {
        let path = place.root().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder is made");
        fs::write(&path, bytes).expect("a file is written");
        set_mode(&path, *mode);
    }
    let before = scene(&place);
    run(&place, &format!("{args} --log log.jsonl --call-id it"), stdin).exits(0);
    let after = scene(&place);
    assert_ne!(after, before, "{args} does something");
    run(&place, "undo log.jsonl --check", b"").exits(0);
    assert_eq!(scene(&place), after, "a check writes nothing");
    run(&place, "undo log.jsonl --call-id back", b"").exits(0);
    assert_eq!(scene(&place), before, "{args}");
    run(&place, "undo log.jsonl --call back --call-id again", b"").exits(0);
    assert_eq!(scene(&place), after, "{args}");
    run(&place, "undo log.jsonl", b"").exits(0);
    assert_eq!(scene(&place), before, "{args}");
    run(&place, "replay log.jsonl --strict", b"").exits(0);
}

#[test]
fn every_operation_comes_back_byte_for_byte() {
    let envelope = |edits: &str| format!("*** Begin Patch\n{edits}*** End Patch\n");
    let file = FILE.as_bytes();
    check(&[("f", file, 0o640)], "apply", envelope("*** Update File: f\n@@\n-2\n+x\n+y\n").as_bytes());
    check(&[("f", b"a\r\nb", 0o755)], "apply", envelope("*** Update File: f\n@@\n a\n-b\n+c\n").as_bytes());
    check(&[("f", b"a\nb", 0o644)], "apply", envelope("*** Delete File: f\n").as_bytes());
    check(&[("d/f", b"", 0o751)], "apply", envelope("*** Delete File: d/f\n").as_bytes());
    check(&[], "apply", envelope("*** Add File: x/y/f\n+a\n*** Add File: x/g\n+b\n").as_bytes());
    check(
        &[("f", file, 0o755), ("g", b"old\n", 0o600)],
        "apply --allow-overwrite",
        envelope("*** Update File: f\n*** Move to: g\n@@\n-9\n+nine\n*** End of File\n").as_bytes(),
    );
    check(&[("f", file, 0o755)], "apply", envelope("*** Update File: f\n*** Move to: new/g\n").as_bytes());
    let git = "diff --git a/f b/g\nsimilarity index 100%\ncopy from f\ncopy to g\n\
               diff --git a/s b/s\nold mode 100644\nnew mode 100755\n";
    check(&[("f", file, 0o640), ("s", b"#!\n", 0o644)], "apply", git.as_bytes());
    check(&[("f", b"a\r\nb", 0o600)], "write f", b"\xEF\xBB\xBFa\nb\n");
    check(&[("f", b"\0\x01\xFF", 0o600)], "write f", b"text\n");
    check(&[("f", b"text", 0o600)], "write f", b"\0\x01\xFF");
    check(&[], "write new/f", b"");
    check(&[("f", b"foo\r\nbar foo\nfoo", 0o644)], "edit f --old foo --new longer --replace-all", b"");
}

fn edited(place: &Place, changes: &[(&str, &str)]) {
    for (old, new) in changes {
        place.run(&["edit", "f", "--old", old, "--new", new, "--log", "log.jsonl"], b"").exits(0);
    }
}

#[test]
fn one_undo_after_the_other_goes_back_call_by_call() {
    let place = Place::with(&[("f", FILE)]);
    edited(&place, &[("1", "one"), ("5", "five"), ("9", "nine")]);
    for expected in ["one\n2\n3\n4\nfive", "one\n2\n3\n4\n5", FILE] {
        run(&place, "undo log.jsonl", b"").exits(0);
        assert!(place.text("f").starts_with(expected));
    }
    let said = run(&place, "undo log.jsonl", b"").exits(1);
    assert!(has(&said, "nothing to"), "{said:?}");
    assert_eq!(place.text("log.jsonl").lines().count(), 13, "what was not begun is not logged");
}

#[test]
fn calls_are_chosen_by_count_id_and_turn() {
    let changed = || {
        let place = Place::with(&[("f", FILE)]);
        edited(&place, &[("1", "one"), ("5", "five"), ("9", "nine")]);
        place
    };
    let check = |choice: &str, status: i32, expected: &str| {
        let place = changed();
        run(&place, &format!("undo log.jsonl {choice}"), b"").exits(status);
        assert_eq!(place.text("f"), expected, "{choice}");
    };
    let all = "one\n2\n3\n4\nfive\n6\n7\n8\nnine\n";
    check("--last 2", 0, "one\n2\n3\n4\n5\n6\n7\n8\n9\n");
    check("--last 3", 0, FILE);
    check("--last 4", 1, all);
    // The later changes lie elsewhere.
    check("--call call-0", 0, "1\n2\n3\n4\nfive\n6\n7\n8\nnine\n");
    check("--call call-9", 1, all);
    check("--turn 2", 0, "one\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    check("--turn 2..", 0, "one\n2\n3\n4\n5\n6\n7\n8\n9\n");
    check("--turn 7", 1, all);
    check("--last 0", 2, all);
    check("--turn 2 --last 1", 2, all);
    check("--turn x", 2, all);
    let place = changed();
    run(&place, "undo log.jsonl --call call-0", b"").exits(0);
    let said = run(&place, "undo log.jsonl --call call-0", b"").exits(1);
    assert!(has(&said, "undone already, by call-6"), "{said:?}");
}

#[test]
fn a_refused_undo_writes_nothing_says_why_and_is_logged() {
    let place = Place::with(&[("f", FILE), ("g", "g\n")]);
    run(
        &place,
        "apply --log log.jsonl",
        b"*** Begin Patch\n*** Update File: f\n@@\n-2\n+x\n*** Update File: g\n@@\n-g\n+h\n*** End Patch\n",
    )
    .exits(0);
    place.run(&["edit", "f", "--old", "x", "--new", "y", "--log", "log.jsonl"], b"").exits(0);
    let before = scene(&place);
    let said = run(&place, "undo log.jsonl --call call-0", b"").exits(1);
    assert!(has(&said, "changed later by call-2 (edit)"), "{said:?}");
    assert_eq!(scene(&place), before);
    let check = run(&place, "undo log.jsonl --call call-0 --check --json", b"").exits(1);
    let document = &check.json_lines()[0];
    assert_eq!(
        (&document["command"], &document["ok"], &document["error"]["code"]),
        (&Value::from("undo"), &Value::from(false), &Value::from("stale"))
    );
    let cards = run(&place, "replay log.jsonl --json --tool undo", b"").exits(0).json_lines();
    assert_eq!((cards.len(), &cards[0]["status"]), (1, &Value::from("failed")));
    // A failed undo is no undo.
    run(&place, "undo log.jsonl --last 2", b"").exits(0);
    assert_eq!((place.text("f").as_str(), place.text("g").as_str()), (FILE, "g\n"));
}

#[test]
fn a_change_from_outside_is_told_as_such() {
    let place = Place::with(&[("f", FILE)]);
    edited(&place, &[("5", "five")]);
    fs::write(place.root().join("f"), FILE.replace('5', "V")).expect("a file is written");
    let said = run(&place, "undo log.jsonl", b"").exits(1);
    assert!(has(&said, "not changed by a call of this log"), "{said:?}");
    assert!(said.stderr.contains('V') && said.stderr.contains("five"), "{said:?}");
    fs::remove_file(place.root().join("f")).expect("it was there");
    run(&place, "undo log.jsonl", b"").exits(1);
    fs::create_dir(place.root().join("f")).expect("a folder is made");
    run(&place, "undo log.jsonl", b"").exits(1);
    let elsewhere = Place::new();
    fs::copy(place.root().join("log.jsonl"), elsewhere.root().join("log.jsonl")).expect("a copy");
    let said = run(&elsewhere, "undo log.jsonl", b"").exits(1);
    assert!(has(&said, "is --root right?"), "{said:?}");
}

#[test]
fn the_outcome_names_the_calls_and_is_the_net_change() {
    let place = Place::with(&[("f", FILE)]);
    edited(&place, &[("1", "one"), ("one", "uno")]);
    let outcome =
        run(&place, "undo log.jsonl --last 2 --json --call-id u", b"").exits(0).json_lines().remove(0);
    assert_eq!(outcome["callId"], "u");
    assert_eq!(
        outcome["undoes"],
        serde_json::json!([{"callId": "call-2", "seq": 3}, {"callId": "call-0", "seq": 1}])
    );
    assert_eq!(
        (outcome["files"][0]["before"].as_str(), outcome["files"][0]["after"].as_str()),
        (Some("uno\n2\n3\n4\n5\n6\n7\n8\n9\n"), Some(FILE))
    );
    assert_eq!(outcome["files"].as_array().map(Vec::len), Some(1));
    assert!(place.text("log.jsonl").contains("\"arguments\":\"{\\\"last\\\":2}\""));
}

#[test]
fn what_the_log_cannot_take_back_is_said_when_it_is_done_and_refused_later() {
    let place = Place::with(&[("big", "0123456789\n"), ("f", FILE)]);
    let said = run(&place, "write big --max-text 5 --log log.jsonl --json", b"x\n").exits(0);
    assert!(has(&said, "can't be undone"), "{said:?}");
    assert_eq!(said.json_lines()[0]["files"][0]["noUndo"], "too-large");
    assert!(place.text("log.jsonl").contains("can't be undone"), "the model is told too");
    let refused = run(&place, "undo log.jsonl", b"").exits(1);
    assert!(has(&refused, "larger than the log holds"), "{refused:?}");
    assert_eq!(place.text("big"), "x\n");
    // Without a log nothing is promised, so nothing is said. A small edit of a large file has a small way back.
    let said = run(&place, "write big --max-text 5", b"0123456789\n").exits(0);
    assert_eq!(said.stderr, "");
    let said = run(&place, "edit big --old 5 --new x --max-text 5 --log log.jsonl", b"").exits(0);
    assert_eq!(said.stderr, "");
    run(&place, "undo log.jsonl", b"").exits(0);
    assert_eq!(place.text("big"), "0123456789\n");
}

#[test]
fn links_are_moved_back_but_not_restored() {
    let linked = || {
        let place = Place::with(&[("f", FILE)]);
        symlink("f", place.root().join("l")).expect("a link");
        place
    };
    let place = linked();
    run(&place, "edit l --old 5 --new five --log log.jsonl", b"").exits(0);
    run(&place, "undo log.jsonl", b"").exits(0);
    assert_eq!(scene(&place), scene(&linked()));
    let moved = b"*** Begin Patch\n*** Update File: l\n*** Move to: m\n*** End Patch\n";
    run(&place, "apply --log log.jsonl", moved).exits(0);
    run(&place, "undo log.jsonl", b"").exits(0);
    assert_eq!(scene(&place), scene(&linked()));
    let said = run(&place, "apply --log log.jsonl", b"*** Begin Patch\n*** Delete File: l\n*** End Patch\n")
        .exits(0);
    assert!(has(&said, "symbolic link"), "{said:?}");
    run(&place, "undo log.jsonl", b"").exits(1);
    // A link that came in place of a file is not written through.
    let place = linked();
    run(&place, "edit f --old 5 --new five --log log.jsonl", b"").exits(0);
    fs::rename(place.root().join("f"), place.root().join("g")).expect("it is moved");
    symlink("g", place.root().join("f")).expect("a link");
    let said = run(&place, "undo log.jsonl", b"").exits(1);
    assert!(has(&said, "is a symbolic link now"), "{said:?}");
}

#[test]
fn confinement_holds_for_what_a_log_names() {
    let place = Place::with(&[("f", FILE)]);
    run(&place, "write new/f --log log.jsonl", b"x").exits(0);
    let log = place.text("log.jsonl");
    let outside = place.beside("victim");
    fs::write(&outside, b"x").expect("a file is written");
    for path in ["../victim", outside.to_str().expect("a path"), ".git/f"] {
        fs::create_dir_all(place.root().join(".git")).expect("a folder is made");
        fs::write(place.root().join(".git/f"), b"x").expect("a file is written");
        fs::write(place.root().join("log.jsonl"), log.replace("new/f", path)).expect("a log");
        run(&place, "undo log.jsonl", b"").exits(1);
        assert!(outside.exists() && place.root().join(".git/f").exists());
    }
    run(&place, "undo log.jsonl --allow-git-dir", b"").exits(0);
    assert!(!place.root().join(".git/f").exists());
}

#[test]
fn files_are_written_as_the_options_say() {
    let place = Place::with(&[("f", FILE)]);
    edited(&place, &[("5", "five")]);
    fs::hard_link(place.root().join("f"), place.root().join("g")).expect("a link");
    run(&place, "undo log.jsonl --in-place --no-sync", b"").exits(0);
    assert_eq!((place.text("f").as_str(), place.text("g").as_str()), (FILE, FILE));
    edited(&place, &[("5", "five")]);
    set_mode(&place.root().join("f"), 0o444);
    run(&place, "undo log.jsonl", b"").exits(1);
    run(&place, "undo log.jsonl --force", b"").exits(0);
    assert_eq!((place.text("f").as_str(), mode(&place.root().join("f"))), (FILE, 0o444));
}

#[test]
fn a_log_that_is_none_or_newer_or_of_another_agent_is_told() {
    let place = Place::with(&[
        ("f", FILE),
        ("notes.jsonl", "# Notes\n"),
        ("empty.jsonl", ""),
        ("claude.jsonl", "{\"type\":\"summary\",\"summary\":\"s\",\"leafUuid\":\"1\"}\n"),
        (
            "hunks.jsonl",
            "{\"type\":\"session\",\"version\":0,\"id\":\"s\",\"createdAt\":1}\n{\"type\":\"tool/call\",\"seq\":0,\"data\":{\"turn\":1,\"callId\":\"c\",\"name\":\"edit\",\"arguments\":\"{}\"}}\n{\"type\":\"tool/result\",\"seq\":1,\"data\":{\"turn\":1,\"message\":{\"source\":{\"callId\":\"c\"},\"content\":[{\"type\":\"tool-result\",\"toolCallId\":\"c\",\"isError\":false}]},\"meta\":{\"diffs\":[{\"path\":\"f\",\"oldText\":\"0\",\"newText\":\"x\"}]}}}\n",
        ),
    ]);
    let before = place.tree();
    for (log, status, words) in [
        ("nowhere.jsonl", 2, "no such file"),
        (".", 2, "is a directory"),
        ("notes.jsonl", 2, "no session log that is known"),
        ("empty.jsonl", 1, "nothing to undo"),
        ("hunks.jsonl", 1, "what hunk 1 of the call left is not there any more"),
        ("claude.jsonl", 1, "no call in effect that changed a file"),
    ] {
        let said = run(&place, &format!("undo {log}"), b"").exits(status);
        assert!(has(&said, words), "{said:?}");
        assert_eq!(place.tree(), before);
    }
    edited(&place, &[("5", "five")]);
    let newer = place.text("log.jsonl").replacen("\"version\":0", "\"version\":99", 1);
    fs::write(place.root().join("log.jsonl"), &newer).expect("a log");
    for args in ["undo log.jsonl", "edit f --old 1 --new one --log log.jsonl", "write f --log notes.jsonl"] {
        let said = run(&place, args, b"").exits(2);
        assert!(has(&said, "nothing is appended"), "{said:?}");
    }
    assert_eq!(place.text("log.jsonl"), newer);
    run(&place, "undo log.jsonl --check", b"").exits(0);
    run(&place, "undo log.jsonl --log other.jsonl", b"").exits(0);
    assert_eq!(place.text("f"), FILE);
    // The log that was read does not know of it, but the files do.
    let said = run(&place, "undo log.jsonl --log other.jsonl", b"").exits(1);
    assert!(has(&said, "already"), "{said:?}");
    run(&place, "undo other.jsonl", b"").exits(0);
    assert_eq!(place.text("f"), FILE.replace('5', "five"));
}

#[test]
fn a_log_on_standard_input_is_read_and_nothing_is_logged() {
    let place = Place::with(&[("f", FILE)]);
    edited(&place, &[("5", "five")]);
    let log = place.text("log.jsonl");
    run(&place, "undo -", log.as_bytes()).exits(0);
    assert_eq!((place.text("f").as_str(), place.text("log.jsonl")), (FILE, log.clone()));
    edited(&place, &[("5", "five")]);
    run(&place, "undo /dev/stdin", log.as_bytes()).exits(0);
    assert_eq!(place.text("f"), FILE);
}

#[test]
fn a_torn_log_is_undone_up_to_the_tear() {
    let place = Place::with(&[("f", FILE)]);
    edited(&place, &[("1", "one"), ("5", "five")]);
    let log = place.text("log.jsonl");
    let cut = log.trim_end().rfind('\n').expect("lines") + 30;
    fs::write(place.root().join("log.jsonl"), &log[..cut]).expect("a log");
    let said = run(&place, "undo log.jsonl", b"").exits(0);
    assert!(has(&said, "call-2 has no result"), "{said:?}");
    assert_eq!(place.text("f"), FILE.replace('5', "five"));
    assert_eq!(run(&place, "replay log.jsonl --json", b"").exits(0).json_lines().len(), 3);
}

#[test]
fn undos_at_once_take_back_one_call_each() {
    let place = Place::with(&[("f", FILE)]);
    let changes: Vec<(String, String)> =
        (1..=8).map(|number| (format!("\n{number}\n"), format!("\nx{number}\n"))).collect();
    let changes: Vec<(&str, &str)> =
        changes[1..].iter().map(|(old, new)| (old.as_str(), new.as_str())).collect();
    edited(&place, &changes);
    std::thread::scope(|scope| {
        for _ in &changes {
            scope.spawn(|| run(&place, "undo log.jsonl --no-sync", b"").exits(0));
        }
    });
    assert_eq!(place.text("f"), FILE);
    run(&place, "undo log.jsonl", b"").exits(1);
}

#[test]
fn an_undo_whose_result_cannot_be_logged_is_status_3() {
    let place = Place::with(&[("f", FILE)]);
    edited(&place, &[("5", "five")]);
    let size = fs::metadata(place.root().join("log.jsonl")).expect("the log").len();
    // There is room for the call, and not for its result.
    let pad = 4096 - usize::try_from(size).expect("small") - 400;
    let row = format!("{{\"type\":\"note\",\"seq\":2,\"data\":\"{}\"}}\n", "x".repeat(pad));
    fs::write(place.root().join("log.jsonl"), place.text("log.jsonl") + &row).expect("a log");
    let mut command = Command::new("bash");
    place.clear(&mut command);
    let binary = env!("CARGO_BIN_EXE_hunkwise");
    command.args(["-c", &format!("trap '' XFSZ; ulimit -f 4; exec \"{binary}\" undo log.jsonl")]);
    let said = output(command, b"").exits(3);
    assert!(has(&said, "log"), "{said:?}");
    assert_eq!(place.text("f"), FILE);
}

#[test]
fn a_stream_is_one_turn() {
    let lines: String = (10..50).map(|number| format!("{number}\n")).collect();
    let place = Place::with(&[("f", &lines)]);
    let events: String = [("11", "a"), ("25", "b"), ("47", "c")]
        .iter()
        .enumerate()
        .map(|(index, (old, new))| {
            let patch = format!("*** Begin Patch\n*** Update File: f\n@@\n-{old}\n+{new}\n*** End Patch\n");
            let item = serde_json::json!({"type": "custom_tool_call", "call_id": format!("c{index}"),
                "name": "apply_patch", "input": patch});
            let event =
                serde_json::json!({"type": "response.output_item.done", "output_index": index, "item": item});
            format!("data: {event}\n\n")
        })
        .collect();
    edited(&place, &[("18", "before")]);
    run(&place, "apply --transport sse --log log.jsonl", events.as_bytes()).exits(0);
    edited(&place, &[("35", "after")]);
    run(&place, "undo log.jsonl --turn 2", b"").exits(0);
    assert_eq!(place.text("f"), lines.replace("18", "before").replace("35", "after"));
}
