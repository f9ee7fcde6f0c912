//! `undo` of other agents' logs: what their records hold is taken back, with the same checks as of hunkwise's own; what
//! they do not hold is said, and nothing is written. The logs are never touched.

#![cfg(feature = "cli")]
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a test reads files, starts programs and may fail"
)]

#[expect(dead_code, reason = "other tests use the rest")]
mod support;

use std::fs;

use serde_json::Value;
use serde_json::json;
use support::Entry;
use support::Place;
use support::Run;
use support::Tree;

const BEFORE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
const AFTER: &str = "1\n2\n3\n4\nfive\nand more\n6\n7\n8\n9\n";
const HUNK: &str = "@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n+and more\n 6\n 7\n 8\n";

fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

/// A call of Claude Code with what its tool says of the file.
fn claude(id: &str, tool: &str, input: &Value, result: &Value) -> [Value; 2] {
    let common = |kind: &str, message: Value| {
        json!({"type": kind, "sessionId": "s", "uuid": id, "cwd": "/w",
        "message": {"role": kind, "content": [message]}})
    };
    let call = common("assistant", json!({"type": "tool_use", "id": id, "name": tool, "input": input}));
    let mut answer = common(
        "user",
        json!({"type": "tool_result", "tool_use_id": id, "content": "The file has been updated"}),
    );
    answer["toolUseResult"] = result.clone();
    [call, answer]
}

fn claude_edit(id: &str, path: &str) -> [Value; 2] {
    let signed: Vec<&str> = HUNK.lines().skip(1).collect();
    let hunk = json!({"oldStart": 2, "oldLines": 7, "newStart": 2, "newLines": 8, "lines": signed});
    claude(
        id,
        "Edit",
        &json!({"file_path": path, "old_string": "5", "new_string": "five\nand more"}),
        &json!({"filePath": path, "oldString": "5", "newString": "five\nand more", "structuredPatch": [hunk],
            "userModified": false, "replaceAll": false}),
    )
}

fn codex(id: &str, changes: &Value) -> Vec<Value> {
    let row = |kind: &str, payload: Value| json!({"timestamp": "2026-11-30T10:00:00Z", "type": kind, "payload": payload});
    vec![
        row("session_meta", json!({"id": "s", "cwd": "/w", "cli_version": "1"})),
        row(
            "response_item",
            json!({"type": "custom_tool_call", "status": "completed", "call_id": id, "name": "apply_patch",
            "input": "*** Begin Patch\n*** End Patch"}),
        ),
        row(
            "event_msg",
            json!({"type": "item_completed", "turn_id": "t", "item": {"type": "FileChange", "id": id,
            "status": "completed", "changes": changes}}),
        ),
    ]
}

fn pi(id: &str, arguments: &Value, tool: &str, details: &Value) -> Vec<Value> {
    let message = |id: &str, message: Value| {
        json!({"type": "message", "id": id, "parentId": null,
        "timestamp": "2026-11-30T10:00:00Z", "message": message})
    };
    vec![
        json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-11-30T10:00:00Z", "cwd": "/w"}),
        message(
            "m1",
            json!({"role": "assistant", "content": [{"type": "toolCall", "id": id, "name": tool,
            "arguments": arguments}]}),
        ),
        message(
            "m2",
            json!({"role": "toolResult", "toolCallId": id, "toolName": tool, "isError": false,
            "content": [{"type": "text", "text": "done"}], "details": details}),
        ),
    ]
}

fn opencode(id: &str) -> String {
    let state = json!({"status": "completed", "input": {"filePath": "/w/f", "oldString": "5", "newString": "five\nand more"},
        "output": "", "metadata": {"filediff": {"file": "/w/f", "before": BEFORE, "after": AFTER}},
        "time": {"start": 1, "end": 2}});
    json!({"info": {"id": "ses_1", "directory": "/w"}, "messages": [{"info": {"role": "assistant"},
        "parts": [{"id": "prt_1", "type": "tool", "callID": id, "tool": "edit", "state": state}]}]})
    .to_string()
}

fn dsh(id: &str) -> String {
    let sides = |add: &str| {
        let kept =
            HUNK.lines().skip(1).filter(|line| line.starts_with([' ', add.chars().next().expect("a sign")]));
        kept.map(|line| &line[1..]).collect::<Vec<_>>().join("\n")
    };
    lines(&[
        json!({"type": "session", "version": 0, "id": "s", "createdAt": 1, "cwd": "/w", "delegationDepth": 0}),
        json!({"type": "tool/call", "seq": 0, "time": 1, "data": {"turn": 1, "step": 1, "callId": id, "name": "edit",
            "arguments": "{\"file_path\":\"f\",\"old_string\":\"5\",\"new_string\":\"five\\nand more\"}"}}),
        json!({"type": "tool/result", "seq": 1, "time": 2, "data": {"turn": 1, "step": 1,
            "message": {"source": {"kind": "tool", "callId": id}, "role": "user", "content": [{"type": "tool-result",
                "toolCallId": id, "content": [{"type": "text", "text": "done"}], "isError": false}]},
            "meta": {"diffs": [{"path": "f", "oldText": sides("-"), "newText": sides("+")}]}}}),
    ])
}

/// A tree, and beside it the log.
fn place(log: &str, files: &[(&str, &str)]) -> Place {
    let place = Place::with(files);
    fs::write(place.beside("log"), log).expect("a log is written");
    place
}

fn undo(place: &Place, args: &[&str]) -> Run {
    let log = place.beside("log");
    place.run(&[&["undo", log.to_str().expect("a name")], args].concat(), b"")
}

fn tree(files: &[(&str, &str)]) -> Tree {
    files.iter().map(|(name, text)| ((*name).to_owned(), Entry::File(text.as_bytes().to_vec()))).collect()
}

/// Checks that the last call of a log is taken back, that a check writes nothing, and that the log stays as it is.
fn check(log: &str, now: &[(&str, &str)], wanted: &[(&str, &str)]) {
    let place = place(log, now);
    undo(&place, &["--check"]).exits(0);
    assert_eq!(place.tree(), tree(now), "a check writes nothing");
    undo(&place, &[]).exits(0);
    assert_eq!(place.tree(), tree(wanted), "{log}");
    assert_eq!(fs::read_to_string(place.beside("log")).expect("the log"), log, "a log is never touched");
}

/// Checks that nothing is taken back, and what is said.
fn refused(log: &str, now: &[(&str, &str)], words: &str) {
    let place = place(log, now);
    let run = undo(&place, &[]).exits(1);
    let said: Vec<&str> = run.stderr.split_whitespace().collect();
    assert!(said.join(" ").contains(words), "{}", run.stderr);
    assert_eq!(place.tree(), tree(now));
}

/// A log of each format that says how `f` became what it is.
fn edits() -> Vec<String> {
    let numbered = " 2 2\n 3 3\n 4 4\n-5 5\n+5 five\n+6 and more\n 6 6\n 7 7\n 8 8";
    vec![
        lines(&claude_edit("c1", "/w/f")),
        lines(&codex("c1", &json!({"/w/f": {"type": "update", "unified_diff": HUNK, "move_path": null}}))),
        lines(&pi(
            "c1",
            &json!({"path": "f", "oldText": "5", "newText": "five\nand more"}),
            "edit",
            &json!({"diff": numbered}),
        )),
        opencode("c1"),
        dsh("c1"),
    ]
}

#[test]
fn an_edit_comes_back_also_where_later_changes_lie_elsewhere() {
    for log in edits() {
        check(&log, &[("f", AFTER), ("g", "g\n")], &[("f", BEFORE), ("g", "g\n")]);
        let (changed, wanted) = (AFTER.replace("9\n", "nine\nten"), BEFORE.replace("9\n", "nine\nten"));
        check(&log, &[("f", &changed)], &[("f", &wanted)]);
        // The file's own line endings come back too, though the log does not tell them.
        let (crlf, wanted) = (AFTER.replace('\n', "\r\n"), BEFORE.replace('\n', "\r\n"));
        check(&log, &[("f", &crlf)], &[("f", &wanted)]);
    }
}

#[test]
fn what_the_call_left_must_still_be_there() {
    for log in edits() {
        refused(&log, &[("f", &AFTER.replace("and more", "or less"))], "f was changed since the call");
        refused(&log, &[("f", BEFORE)], "f");
        refused(&log, &[], "f is gone since the call left it");
    }
}

#[test]
fn several_calls_come_back_together_or_not_at_all() {
    let write = |id: &str, path: &str| {
        let input = json!({"file_path": path, "content": "new\n"});
        let result = json!({"type": "create", "filePath": path, "content": "new\n", "structuredPatch": []});
        claude(id, "Write", &input, &result)
    };
    let log =
        lines(&[claude_edit("c1", "/w/f"), write("c2", "/w/deep/n"), claude_edit("c3", "/w/g")].concat());
    let now = [("f", AFTER), ("g", AFTER), ("deep/n", "new\n")];
    let with = |files: &[(&str, &str)], args: &[&str], status: i32, wanted: &[(&str, &str)]| {
        let place = place(&log, files);
        undo(&place, args).exits(status);
        assert_eq!(place.tree(), tree(wanted), "{args:?}");
    };
    with(&now, &["--last", "3"], 0, &[("f", BEFORE), ("g", BEFORE)]);
    with(&now, &["--last", "4"], 1, &now);
    with(&now, &["--call", "c2"], 0, &[("f", AFTER), ("g", AFTER)]);
    with(&now, &["--call", "c9"], 1, &now);
    let changed = [("f", AFTER), ("g", "other\n"), ("deep/n", "new\n")];
    with(&changed, &["--last", "2"], 1, &changed);
    let changed = [("f", AFTER), ("deep/n", "newer\n")];
    with(&changed, &["--call", "c2"], 1, &changed);
}

#[test]
fn files_that_were_made_deleted_and_moved_come_back() {
    let change = |changes: &Value| lines(&codex("c1", changes));
    check(&change(&json!({"/w/n": {"type": "add", "content": "new\n"}})), &[("n", "new\n")], &[]);
    check(&change(&json!({"/w/f": {"type": "delete", "content": BEFORE}})), &[], &[("f", BEFORE)]);
    let moved = change(&json!({"/w/f": {"type": "update", "unified_diff": HUNK, "move_path": "/w/g"}}));
    check(&moved, &[("g", AFTER)], &[("f", BEFORE)]);
    refused(&moved, &[("g", AFTER), ("f", "made since\n")], "f is in the way");
    refused(
        &change(&json!({"/w/f": {"type": "delete", "content": BEFORE}})),
        &[("f", "other\n")],
        "f is in the way",
    );
}

#[test]
fn what_a_log_does_not_hold_is_said() {
    let input = json!({"file_path": "/w/f", "content": "all new\n"});
    let result = json!({"type": "update", "filePath": "/w/f", "content": "all new\n", "structuredPatch": []});
    let log = lines(&claude("c1", "Write", &input, &result));
    refused(
        &log,
        &[("f", "all new\n")],
        "the call wrote the whole file, and what stood there before is not recorded",
    );
    let log = lines(&pi("c1", &json!({"path": "f", "content": "all new\n"}), "write", &json!({})));
    refused(&log, &[("f", "all new\n")], "what stood there before is not recorded");
    let exec = lines(&[
        json!({"type": "thread.started", "thread_id": "t"}),
        json!({"type": "item.completed", "item": {"id": "c1", "type": "file_change", "status": "completed",
            "changes": [{"path": "/w/f", "kind": "update"}]}}),
    ]);
    refused(&exec, &[("f", AFTER)], "c1");
}

#[test]
fn an_undo_is_logged_only_where_that_is_asked_for() {
    let log = lines(&claude_edit("c1", "/w/f"));
    let place = place(&log, &[("f", AFTER)]);
    let own = place.beside("own.jsonl");
    let own = own.to_str().expect("a name");
    undo(&place, &["--log", own]).exits(0);
    assert_eq!(place.tree(), tree(&[("f", BEFORE)]));
    // The record of the undo holds the bytes: it can be taken back.
    place.run(&["undo", own], b"").exits(0);
    assert_eq!(place.tree(), tree(&[("f", AFTER)]));
    let foreign = place.beside("log");
    let run = undo(&place, &["--log", foreign.to_str().expect("a name")]).exits(2);
    assert!(run.stderr.contains("nothing is appended"), "{}", run.stderr);
    assert_eq!(place.tree(), tree(&[("f", AFTER)]));
}
