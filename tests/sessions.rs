//! Sessions where agents keep them, and logs below folders.

#![cfg(feature = "cli")]
#![expect(clippy::disallowed_methods, clippy::expect_used, reason = "a test writes files and may fail")]

#[expect(dead_code, reason = "other tests use the rest")]
mod support;

use std::fs;
use std::time::Duration;
use std::time::SystemTime;

use serde_json::Value;
use serde_json::json;
use support::Entry;
use support::Place;
use support::Run;
use support::write_tree;

/// A Claude Code log of edits that were applied, one a file, with a prompt before them.
fn claude(prompt: &str, edits: &[(&str, &str)]) -> String {
    let mut log = json!({"type":"user","uuid":"u0","sessionId":"s","cwd":"/w","message":{"role":"user","content":prompt}})
        .to_string()
        + "\n";
    for (id, path) in edits {
        let call = json!({"type":"tool_use","id":id,"name":"Edit","input":{"file_path":path,"old_string":"a","new_string":"b"}});
        let row = json!({"type":"assistant","uuid":format!("{id}c"),"sessionId":"s","cwd":"/w","message":{"role":"assistant","content":[call]}});
        let patch = json!([{"oldStart":1,"oldLines":1,"newStart":1,"newLines":1,"lines":["-a","+b"]}]);
        let result = json!({"type":"user","uuid":format!("{id}r"),"sessionId":"s","cwd":"/w",
            "message":{"role":"user","content":[{"type":"tool_result","tool_use_id":id,"content":"done"}]},
            "toolUseResult":{"filePath":path,"oldString":"a","newString":"b","originalFile":"a\n","structuredPatch":patch}});
        log += &format!("{row}\n{result}\n");
    }
    log
}

/// The same edits as a session's log repeats them from a sub-agent.
fn repeated(log: &str) -> String {
    let rows = log.lines().map(|row| {
        let row: Value = serde_json::from_str(row).expect("a row");
        json!({"type":"progress","uuid":"p","sessionId":"s","cwd":"/w","data":{"type":"agent_progress","message":row}})
    });
    rows.map(|row| format!("{row}\n")).collect()
}

fn dsh(id: &str, folder: &str, prompt: &str) -> String {
    let arguments = json!({"file_path":"a","content":"x\ny\n"}).to_string();
    [
        json!({"type":"session","version":0,"id":id,"createdAt":1,"cwd":folder}),
        json!({"type":"user/message","seq":0,"data":{"role":"user","source":{"kind":"user"},"content":[{"type":"text","text":prompt}]}}),
        json!({"type":"tool/call","seq":1,"data":{"turn":1,"callId":"c","name":"write","arguments":arguments}}),
        json!({"type":"tool/result","seq":2,"data":{"turn":1,"message":{"source":{"kind":"tool","callId":"c"},"content":[{"type":"tool-result","toolCallId":"c","content":[{"type":"text","text":"Created file"}],"isError":false}]},"meta":{"diffs":[]}}}),
    ]
    .map(|row| format!("{row}\n"))
    .concat()
}

/// A place whose home holds sessions; the first was written last.
fn home(files: &[(&str, String)]) -> Place {
    let place = Place::new();
    let tree = files.iter().map(|(name, text)| ((*name).to_owned(), Entry::File(text.clone().into_bytes())));
    write_tree(&place.beside("home"), &tree.collect());
    for (age, (name, _)) in files.iter().enumerate() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000 - 3600 * age as u64);
        let file = fs::File::options().append(true).open(place.beside("home").join(name)).expect("a log");
        file.set_modified(time).expect("its time");
    }
    place
}

fn run(place: &Place, args: &[&str]) -> Run {
    place.run(args, b"")
}

fn rows(run: Run) -> Vec<Value> {
    run.exits(0).json_lines()
}

#[test]
fn without_a_log_the_sessions_are_listed_newest_first() {
    let sub_agent = claude("Look around", &[("s1", "/w/sub")]);
    let place = home(&[
        (
            ".claude/projects/-w/1.jsonl",
            claude("Mend the parser", &[("t1", "/w/a"), ("t2", "/w/b")]) + &repeated(&sub_agent),
        ),
        (".dsh/sessions/--v--/2/session.jsonl", dsh("2", "/v", "Write it\nwell")),
        (".claude/projects/-w/1/subagents/agent-1.jsonl", sub_agent),
    ]);
    // A temporary folder may have a long name.
    let listed = Run::from(place.command(&["replay"]).env("COLUMNS", "200").output().expect("it runs"));
    let home = place.beside("home").display().to_string();
    assert_eq!(
        listed.stdout,
        "\u{25cf} 2026-09-21 14:13  claude  /w  +3 -3  3 applied \u{b7} 3 files\n\
         \u{20} Mend the parser\n\
         \u{20} HOME/.claude/projects/-w/1.jsonl  and 1 log of its sub-agents\n\
         \u{25cf} 2026-09-21 13:13  dsh  /v  +2 -0  1 applied \u{b7} 1 file\n\
         \u{20} Write it\n\
         \u{20} HOME/.dsh/sessions/--v--/2/session.jsonl\n"
            .replace("HOME", &home),
    );
    let entries = rows(run(&place, &["replay", "--json"]));
    assert_eq!(entries.len(), 2);
    assert_eq!(entries[0]["modified"], "2026-09-21T14:13:20Z");
    assert_eq!(entries[0]["calls"]["applied"], 3);
    assert_eq!(entries[1]["prompt"], "Write it\nwell");
    // Only what a filter lets through counts, and sessions without any of it are left out.
    let touched = rows(run(&place, &["replay", "--json", "--path", "/w/b"]));
    assert_eq!((touched.len(), &touched[0]["calls"]["applied"]), (1, &json!(1)));
    assert_eq!(rows(run(&place, &["replay", "--json", "--agent", "dsh"])).len(), 1);
    assert_eq!(rows(run(&place, &["replay", "--json", "--agent", "codex"])).len(), 0);
}

#[test]
fn the_latest_session_is_drawn_with_its_sub_agents_once() {
    let sub_agent = claude("Look around", &[("s1", "/w/sub")]);
    let place = home(&[
        (".claude/projects/-w/1.jsonl", claude("Mend", &[("t1", "/w/a")]) + &repeated(&sub_agent)),
        (".dsh/sessions/--v--/2/session.jsonl", dsh("2", "/v", "Write it")),
        (".claude/projects/-w/1/subagents/agent-1.jsonl", sub_agent),
    ]);
    let cards = rows(run(&place, &["replay", "--latest", "--json"]));
    let calls: Vec<&Value> = cards.iter().map(|card| &card["source"]["callId"]).collect();
    assert_eq!(calls, ["t1", "s1"]);
    let other = run(&place, &["replay", "--latest", "--agent", "dsh"]);
    assert!(other.stdout.starts_with("\u{25cf} write a"), "{other:?}");
    let said = &other.stderr;
    assert!(said.contains("the latest session is") && said.contains("2/session.jsonl"), "{said}");
    let none = run(&place, &["replay", "--latest", "--agent", "pi"]).exits(2);
    assert!(none.stderr.contains(".pi/agent/sessions"), "{none:?}");
}

#[test]
fn what_is_piped_in_is_a_log_and_nothing_is_a_list() {
    let place = home(&[(".dsh/sessions/--v--/2/session.jsonl", dsh("2", "/v", "Write it"))]);
    let piped = place.run(&["replay", "--json"], dsh("1", "/w", "x").as_bytes());
    assert_eq!(rows(piped)[0]["schema"], "hunkwise/card/v1");
    assert_eq!(rows(run(&place, &["replay", "--json"]))[0]["schema"], "hunkwise/session/v1");
    assert_eq!(run(&place, &["replay", "--json", "-"]).exits(0).stdout, "");
}

#[test]
fn a_folder_is_all_logs_below_it_in_the_order_of_their_paths() {
    let place = Place::with(&[
        ("logs/b.jsonl", &dsh("b", "/w", "x")),
        ("logs/a/1.jsonl", &claude("x", &[("t1", "/w/a")])),
        ("logs/notes.md", "# Notes\n"),
        ("logs/fix.patch", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"),
        ("list", "logs/b.jsonl\nlogs/a\n"),
        ("empty/x", "text"),
    ]);
    let cards = rows(run(&place, &["replay", "logs", "--json"]));
    let logs: Vec<&Value> = cards.iter().map(|card| &card["source"]["log"]).collect();
    assert_eq!(logs, ["logs/a/1.jsonl", "logs/b.jsonl"]);
    let listed = rows(run(&place, &["replay", "--files-from", "list", "--json"]));
    let logs: Vec<&Value> = listed.iter().map(|card| &card["source"]["log"]).collect();
    assert_eq!(logs, ["logs/b.jsonl", "logs/a/1.jsonl"]);
    let shown = run(&place, &["replay", "logs", "--output", "stat"]);
    assert!(shown.stderr.contains("2 files are no session logs"), "{shown:?}");
    assert_eq!(shown.stdout.matches("==> ").count(), 2);
    let none = run(&place, &["replay", "empty"]).exits(2);
    assert!(none.stderr.contains("no session log below it"), "{none:?}");
    // What is named is no guess: a patch in it is drawn.
    assert_eq!(rows(run(&place, &["replay", "logs/fix.patch", "--json"])).len(), 1);
}

#[test]
fn counts_are_flat_rows_in_json() {
    let place = Place::with(&[("a.jsonl", &claude("x", &[("t1", "/w/a"), ("t2", "/w/b")]))]);
    let rows = rows(run(&place, &["replay", "a.jsonl", "--output", "stat", "--json"]));
    assert_eq!(rows.len(), 2);
    assert_eq!(
        rows[1],
        json!({
            "schema": "hunkwise/stat/v1", "format": "claude", "line": 5, "callId": "t2", "tool": "Edit", "turn": 1,
            "folder": "/w", "status": "applied", "path": "/w/b", "operation": "update", "added": 1, "removed": 1,
            "recorded": "hunks",
        })
    );
}
