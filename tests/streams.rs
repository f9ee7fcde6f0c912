//! The calls of live streams: every vendor's events, however they are cut, give the same previews.

use std::sync::Arc;

use hunkwise::patch::FileEdit;
use hunkwise::plan::FileState;
use hunkwise::plan::FoundFile;
use hunkwise::plan::Given;
use hunkwise::plan::Options;
use hunkwise::plan::Planner;
use hunkwise::plan::Stamp;
use hunkwise::report::PreviewEvent;
use hunkwise::session::calls::CallOptions;
use hunkwise::session::calls::Calls;
use hunkwise::session::calls::Step;
use hunkwise::session::format::stream::StreamReader;
use hunkwise::session::sse::Framing;
use hunkwise::session::sse::Payloads;
use hunkwise::text::Document;
use proptest::prelude::*;
use serde_json::Value;
use serde_json::json;

const PATCH: &str = "*** Begin Patch\n*** Update File: hat.rs\n@@\n-size 6\n+size 7 😀\n*** End Patch\n";
const EDIT: &str = r#"{"file_path":"hat.rs","old_string":"size 6","new_string":"size 7 😀"}"#;
const FILE: &str = "brim 2\nsize 6\n";

fn fill(planner: &mut Planner, edit: &FileEdit) {
    for want in planner.wants(edit) {
        let real = want.path.normalized();
        let state = if real.bytes() == b"hat.rs" {
            FileState::File(FoundFile {
                document: Arc::new(Document::new(FILE.as_bytes().to_vec())),
                mode: 0o100_644,
                hard_links: 1,
                stamp: Stamp::default(),
            })
        } else {
            FileState::Absent
        };
        planner.give(want, Given { real, state, link: None });
    }
}

/// Runs a stream; returns its events in short, without the sequence numbers, which are checked.
fn run(framing: Framing, blocks: &[&[u8]], text_patches: bool) -> Vec<String> {
    let options = CallOptions {
        interval_ms: 500,
        locate: Some(Options::default()),
        dialect: None,
        text_patches,
        keeps_ended: false,
    };
    let mut calls = Calls::new(options);
    let mut reader = StreamReader::default();
    let mut payloads = Payloads::new(framing);
    let mut shown = Vec::new();
    let mut next = 0;
    let mut emit = |event: &PreviewEvent| {
        let (seq, line) = short(event);
        assert_eq!(seq, next, "numbers go on over all calls");
        next += 1;
        shown.push(line);
    };
    let mut fill = fill;
    let mut step = Step { now_ms: 0, fill: &mut fill, emit: &mut emit };
    for block in blocks {
        payloads.push(block, &mut |payload| {
            reader.read(payload.bytes, payload.is_torn, &mut |event| calls.take(event, &mut step));
        });
    }
    payloads.finish(&mut |payload| {
        reader.read(payload.bytes, payload.is_torn, &mut |event| calls.take(event, &mut step));
    });
    calls.finish(&mut step);
    shown
}

fn short(event: &PreviewEvent) -> (u64, String) {
    match event {
        PreviewEvent::Preview { seq, call_id, files, .. } => {
            let files: Vec<String> = files
                .iter()
                .map(|file| format!("{} +{} -{} {:?}", file.path, file.added, file.removed, file.placement))
                .collect();
            (*seq, format!("{} {}", call_id.as_deref().unwrap_or("-"), files.join(", ")))
        }
        PreviewEvent::Finish { seq, call_id, ok, fits, error, .. } => {
            let error = error.as_ref().map(|error| format!(": {}", error.problems[0].message));
            let fits = fits.map_or("unknown".to_owned(), |fits| fits.to_string());
            let id = call_id.as_deref().unwrap_or("-");
            (*seq, format!("{id} ok {ok} fits {fits}{}", error.unwrap_or_default()))
        }
    }
}

fn sse(payloads: &[Value]) -> Vec<u8> {
    let events = payloads.iter().map(|payload| format!("event: e\r\ndata: {payload}\r\n\r\n"));
    let is_chat = payloads.iter().any(|payload| payload.get("choices").is_some());
    (events.collect::<String>() + if is_chat { "data: [DONE]\n\n" } else { "" }).into_bytes()
}

fn lines(payloads: &[Value]) -> Vec<u8> {
    payloads.iter().map(|payload| format!("{payload}\n")).collect::<String>().into_bytes()
}

/// Runs a stream whole, cut in two at every byte, byte by byte, and as lines.
fn check(payloads: &[Value], wanted: &[&str]) {
    check_with(payloads, wanted, false);
}

fn check_with(payloads: &[Value], wanted: &[&str], text_patches: bool) {
    for (framing, input) in [(Framing::Sse, sse(payloads)), (Framing::Lines, lines(payloads))] {
        assert_eq!(run(framing, &[&input], text_patches), wanted, "{framing:?}");
        // Lines are cut by the same code as logs, whose tests cut everywhere.
        let step = if framing == Framing::Sse { 1 } else { 7 };
        for at in (0..input.len()).step_by(step) {
            assert_eq!(run(framing, &[&input[..at], &input[at..]], text_patches), wanted, "cut at {at}");
        }
        let bytes: Vec<&[u8]> = input.chunks(1).collect();
        assert_eq!(run(framing, &bytes, text_patches), wanted, "byte by byte");
    }
}

/// A text in pieces of three characters.
fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(3).map(|piece| piece.iter().collect()).collect()
}

fn done(id: &str) -> [String; 2] {
    [format!("{id} hat.rs +1 -1 Located"), format!("{id} ok true fits true")]
}

fn check_edit(payloads: &[Value], id: &str) {
    let wanted = done(id);
    check(payloads, &[&wanted[0], &wanted[1]]);
}

/// A call that comes in pieces is first seen when its file is named.
fn check_growing(payloads: &[Value], id: &str) {
    let wanted = done(id);
    check(payloads, &[&format!("{id} hat.rs +0 -0 Unknown"), &wanted[0], &wanted[1]]);
}

fn anthropic(index: u64, id: &str, name: &str, arguments: &str) -> Vec<Value> {
    let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
    let mut payloads = vec![json!({"type": "content_block_start", "index": index, "content_block": block})];
    payloads.extend(pieces(arguments).iter().map(|piece| {
        let delta = json!({"type": "input_json_delta", "partial_json": piece});
        json!({"type": "content_block_delta", "index": index, "delta": delta})
    }));
    payloads.push(json!({"type": "content_block_stop", "index": index}));
    payloads
}

fn responses(index: u64, id: &str, patch: &str) -> Vec<Value> {
    let item = |input: &str| {
        let item_id = format!("i{index}");
        json!({"type": "custom_tool_call", "id": item_id, "call_id": id, "name": "apply_patch", "input": input})
    };
    let kind = "response.custom_tool_call_input";
    let mut payloads =
        vec![json!({"type": "response.output_item.added", "output_index": index, "item": item("")})];
    payloads.extend(pieces(patch).iter().map(
        |piece| json!({"type": format!("{kind}.delta"), "output_index": index, "delta": piece, "obfuscation": "x"}),
    ));
    payloads.push(json!({"type": format!("{kind}.done"), "output_index": index, "input": patch}));
    payloads.push(json!({"type": "response.output_item.done", "output_index": index, "item": item(patch)}));
    payloads
}

#[test]
fn responses_calls_count_once() {
    let mut payloads = responses(0, "c1", PATCH);
    payloads.push(json!({"type": "response.completed", "response": {"output": []}}));
    check_growing(&payloads, "c1");
}

#[test]
fn a_whole_input_counts_where_no_piece_came() {
    let item =
        json!({"type": "custom_tool_call", "id": "i", "call_id": "c", "name": "apply_patch", "input": PATCH});
    check_edit(&[json!({"type": "response.output_item.done", "item": item})], "c");
    let item = json!({"type": "function_call", "id": "i", "call_id": "c", "name": "edit", "arguments": ""});
    check_edit(
        &[
            json!({"type": "response.output_item.added", "item": item}),
            json!({"type": "response.function_call_arguments.done", "item_id": "i", "arguments": EDIT}),
        ],
        "c",
    );
}

#[test]
fn operations_get_their_envelope() {
    let item = |kind: &str, path: &str, diff: &str| {
        let operation = json!({"type": kind, "path": path, "diff": diff});
        json!({"type": "apply_patch_call", "id": "i", "call_id": "c", "operation": operation})
    };
    let added = |item: Value| json!({"type": "response.output_item.added", "output_index": 0, "item": item});
    let finished =
        |item: Value| json!({"type": "response.output_item.done", "output_index": 0, "item": item});
    let kind = "response.apply_patch_call_operation_diff";
    check_growing(
        &[
            added(item("update_file", "hat.rs", "")),
            json!({"type": format!("{kind}.delta"), "output_index": 0, "delta": "@@\n-size 6\n"}),
            json!({"type": format!("{kind}.delta"), "output_index": 0, "delta": "+size 7"}),
            json!({"type": format!("{kind}.done"), "output_index": 0, "diff": "@@\n-size 6\n+size 7"}),
            finished(item("update_file", "hat.rs", "@@\n-size 6\n+size 7")),
        ],
        "c",
    );
    check(
        &[added(item("delete_file", "hat.rs", "")), finished(item("delete_file", "hat.rs", ""))],
        &["c hat.rs +0 -2 Located", "c ok true fits true"],
    );
    check(
        &[added(item("create_file", "a\n*** Delete File: hat.rs", ""))],
        &["c ok false fits unknown: the call names no path that can be a file's"],
    );
    // The envelope that is put around does not count: lines are those of the diff.
    for (operation, diff, line) in [
        ("update_file", "@@\n-size 6\nbad", 3),
        ("update_file", "@@\n-size 6\n+7\nbad\n", 4),
        ("create_file", "+x\nbad\n", 2),
    ] {
        let payloads = [added(item(operation, "hat.rs", "")), finished(item(operation, "hat.rs", diff))];
        assert_eq!(malformed_line(&payloads), Some(line), "{diff}");
    }
}

/// Returns the line of the first problem in a stream.
fn malformed_line(payloads: &[Value]) -> Option<usize> {
    let options = CallOptions {
        interval_ms: 500,
        locate: None,
        dialect: None,
        text_patches: false,
        keeps_ended: false,
    };
    let mut line = None;
    let mut emit = |event: &PreviewEvent| {
        if let PreviewEvent::Finish { error: Some(error), .. } = event {
            line = line.or(error.problems[0].line);
        }
    };
    let (mut calls, mut reader, mut fill) = (Calls::new(options), StreamReader::default(), fill);
    let mut step = Step { now_ms: 0, fill: &mut fill, emit: &mut emit };
    for payload in payloads {
        reader.read(payload.to_string().as_bytes(), false, &mut |event| calls.take(event, &mut step));
    }
    calls.finish(&mut step);
    line
}

#[test]
fn chunks_of_chat_completions() {
    let chunk = |delta: Value, finish: Value| json!({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    let call = |index: u64, id: Value, name: Value, arguments: &str| {
        let function = json!({"name": name, "arguments": arguments});
        chunk(json!({"tool_calls": [{"index": index, "id": id, "function": function}]}), Value::Null)
    };
    let mut payloads = vec![chunk(json!({"role": "assistant", "content": "I edit."}), Value::Null)];
    payloads.push(call(0, json!("c0"), json!("weather"), "{}"));
    payloads.push(call(1, json!("c1"), json!("edit"), ""));
    payloads.extend(pieces(EDIT).iter().map(|piece| call(1, Value::Null, Value::Null, piece)));
    payloads.push(chunk(json!({}), json!("tool_calls")));
    payloads.push(json!({"object": "chat.completion.chunk", "choices": [], "usage": {}}));
    check_growing(&payloads, "c1");
    // Whole arguments in one chunk, id and name in every chunk.
    check_edit(
        &[
            call(0, json!("c1"), json!("edit"), &EDIT[..9]),
            call(0, json!("c1"), json!("edit"), &EDIT[9..]),
            chunk(json!({}), json!("stop")),
        ],
        "c1",
    );
    // No reason for the end, only the end.
    let wanted = done("c1");
    let whole = sse(&[call(0, json!("c1"), json!("edit"), EDIT)]);
    assert_eq!(run(Framing::Sse, &[&whole], false), wanted);
    check(
        &[call(0, json!("c1"), json!("edit"), &EDIT[..9]), chunk(json!({}), json!("length"))],
        &["c1 ok false fits unknown: the call is incomplete: length"],
    );
}

#[test]
fn blocks_of_messages() {
    let mut payloads = vec![json!({"type": "message_start", "message": {}}), json!({"type": "ping"})];
    payloads.extend(anthropic(0, "t0", "weather", "{\"at\":\"Rome\"}"));
    payloads.extend(anthropic(1, "t1", "Edit", EDIT));
    payloads.push(json!({"type": "message_stop"}));
    check_growing(&payloads, "t1");
    let view = r#"{"command":"view","path":"hat.rs"}"#;
    check(&anthropic(0, "t", "str_replace_based_edit_tool", view), &[]);
    let replace = r#"{"command":"str_replace","path":"hat.rs","old_str":"size 6","new_str":"size 7"}"#;
    check_growing(&anthropic(0, "t", "str_replace_based_edit_tool", replace), "t");
}

#[test]
fn stream_json_of_claude_code_repeats_its_calls() {
    let wrap = |event: &Value| json!({"type": "stream_event", "event": event, "session_id": "s", "parent_tool_use_id": null});
    let mut payloads = vec![json!({"type": "system", "subtype": "init", "session_id": "s"})];
    payloads.extend(anthropic(0, "t1", "Edit", EDIT).iter().map(wrap));
    let input: Value = serde_json::from_str(EDIT).unwrap();
    let block = json!({"type": "tool_use", "id": "t1", "name": "Edit", "input": input});
    let whole = json!({"type": "assistant", "message": {"content": [block.clone()]}, "session_id": "s"});
    payloads.push(whole.clone());
    check_growing(&payloads, "t1");
    check_edit(&[whole], "t1");
    let stored = json!({"type": "assistant", "message": {"content": [block]}, "uuid": "u", "sessionId": "s"});
    check_edit(&[stored], "t1");
}

#[test]
fn function_calls_of_gemini() {
    let chunk = |call: Value| json!({"candidates": [{"content": {"parts": [{"functionCall": call}]}}]});
    let args: Value = serde_json::from_str(EDIT).unwrap();
    check_edit(&[chunk(json!({"name": "replace", "id": "g", "args": args}))], "g");
    let partial = |path: &str, text: &str, goes_on: bool| {
        let arg = json!({"jsonPath": path, "stringValue": text, "willContinue": goes_on});
        chunk(json!({"partialArgs": [arg], "willContinue": true}))
    };
    check_growing(
        &[
            chunk(json!({"name": "replace", "id": "g", "willContinue": true})),
            partial("$.file_path", "hat.rs", false),
            partial("$.old_string", "si", true),
            partial("$.old_string", "ze 6", true),
            partial("$.new_string", "size 7", true),
            chunk(json!({})),
        ],
        "g",
    );
    check(
        &[
            chunk(json!({"name": "replace", "id": "g", "willContinue": true})),
            json!({"candidates": [{"finishReason": "MAX_TOKENS"}]}),
        ],
        &["g ok false fits unknown: the call is incomplete: MAX_TOKENS"],
    );
}

#[test]
fn events_of_gemini_cli() {
    let input: Value = serde_json::from_str(EDIT).unwrap();
    let call = json!({"type": "tool_use", "timestamp": "t", "tool_name": "replace", "tool_id": "g", "parameters": input});
    let result = json!({"type": "tool_result", "timestamp": "t", "tool_id": "g", "status": "success"});
    let init = json!({"type": "init", "timestamp": "t", "session_id": "s", "model": "m"});
    let message = json!({"type": "message", "timestamp": "t", "role": "assistant", "content": "so"});
    check_edit(&[init, message, call.clone(), result], "g");
    check_edit(&[call], "g");
}

#[test]
fn events_of_copilot() {
    let event = |kind: &str, data: Value| json!({"type": kind, "data": data, "id": "e", "timestamp": "t"});
    let input = json!({"path": "hat.rs", "old_str": "size 6", "new_str": "size 7 😀"});
    let request = json!({"toolCallId": "k", "name": "edit", "arguments": input.to_string()});
    let asked = event("assistant.message", json!({"content": "", "toolRequests": [request]}));
    let started = |arguments: Value| {
        event("tool.execution_start", json!({"toolCallId": "k", "toolName": "edit", "arguments": arguments}))
    };
    // The message asks for what starts later.
    check_edit(&[event("session.start", json!({})), asked, started(input.clone())], "k");
    check_edit(&[started(input)], "k");
    let patch = json!({"toolCallId": "k", "toolName": "apply_patch", "arguments": PATCH});
    check_edit(&[event("tool.execution_start", patch)], "k");
}

#[test]
fn events_of_cursor() {
    let event = |subtype: &str, args: Value| {
        json!({"type": "tool_call", "subtype": subtype, "call_id": "c\n1",
        "tool_call": {"editToolCall": {"args": args}, "toolCallId": "c"}, "session_id": "s"})
    };
    let init = json!({"type": "system", "subtype": "init", "session_id": "s", "apiKeySource": "login"});
    let thought = json!({"type": "thinking", "subtype": "delta", "text": "hm", "session_id": "s"});
    let edit = json!({"oldText": "size 6", "newText": "size 7 😀", "replaceAll": false});
    let replace = json!({"path": "hat.rs", "strReplace": edit});
    let ended = event("completed", replace.clone());
    check_edit(&[init, thought, event("started", replace), ended], "c\n1");
    let patch = json!({"path": "hat.rs", "applyPatch": {"patchContent": PATCH}});
    check_edit(&[event("started", patch)], "c\n1");
    // A text that is written does not tell where.
    check(&[event("started", json!({"path": "hat.rs", "streamContent": "size 7"}))], &[]);
}

#[test]
fn lines_of_codex() {
    let item = json!({"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": PATCH});
    let change =
        json!({"type": "update", "unified_diff": "@@ -2,1 +2,1 @@\n-size 6\n+size 7\n", "move_path": null});
    let end = json!({"type": "patch_apply_end", "call_id": "c", "changes": {"hat.rs": change}});
    check_edit(
        &[
            json!({"type": "session_meta", "payload": {}}),
            json!({"type": "response_item", "payload": item}),
            json!({"type": "event_msg", "payload": end}),
        ],
        "c",
    );
    check_edit(&[json!({"type": "event_msg", "payload": end})], "c");
    let script = format!("apply_patch <<'EOF'\n{PATCH}EOF\n");
    let arguments = json!({"command": ["bash", "-lc", script]}).to_string();
    let item = json!({"type": "function_call", "call_id": "c", "name": "shell", "arguments": arguments});
    check_edit(&[json!({"type": "response_item", "payload": item})], "c");
    let changes =
        json!([{"path": "hat.rs", "kind": {"type": "update"}, "diff": "@@ -2 +2 @@\n-size 6\n+size 7\n"}]);
    let item = json!({"type": "fileChange", "id": "f", "changes": changes});
    check_edit(&[json!({"method": "item/started", "params": {"item": item}})], "f");
}

#[test]
fn rows_of_dsh() {
    let row = |kind: &str, data: Value| json!({"type": kind, "seq": 1, "time": 1, "data": data});
    let chunk = |chunk: Value| row("assistant/chunk", json!({"turn": 1, "step": 1, "chunk": chunk}));
    let block = json!({"type": "tool-call", "id": "d", "name": "edit", "arguments": EDIT});
    let end = chunk(json!({"type": "block-end", "index": 1, "block": block}));
    let call =
        row("tool/call", json!({"turn": 1, "step": 1, "callId": "d", "name": "edit", "arguments": EDIT}));
    let mut payloads = vec![chunk(json!({"type": "block-start", "index": 1, "blockType": "tool-call"}))];
    payloads.extend(pieces(EDIT).iter().map(|piece| {
        chunk(json!({"type": "tool-call-delta", "index": 1, "id": "d", "name": "edit", "argumentsDelta": piece}))
    }));
    payloads.extend([end.clone(), call.clone()]);
    check_growing(&payloads, "d");
    let packed = json!({"type": "tool-call-chunks", "seq0": 3, "time0": 1,
        "data": {"turn": 1, "step": 1, "index": 1, "id": "d", "name": "edit", "args": pieces(EDIT)}});
    check_growing(&[packed.clone(), end, call.clone()], "d");
    check_growing(&[packed, call.clone()], "d");
    check_edit(&[call], "d");
}

#[test]
fn updates_of_acp() {
    let message = |update: Value| json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}});
    let input: Value = serde_json::from_str(EDIT).unwrap();
    let content = json!([{"type": "diff", "path": "hat.rs", "oldText": "size 6", "newText": "size 7"}]);
    let update = |kind: &str, extra: Value| {
        let mut update = json!({"sessionUpdate": kind, "toolCallId": "t", "title": "Edit", "kind": "edit"});
        update.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        message(update)
    };
    check_edit(
        &[
            update("tool_call", json!({"rawInput": {}})),
            update("tool_call_update", json!({"rawInput": input})),
            update("tool_call_update", json!({"status": "completed", "rawInput": input, "content": content})),
        ],
        "t",
    );
    check_edit(&[update("tool_call", json!({"content": content}))], "t");
    // The second version.
    let text = "diff --git a/hat.rs b/hat.rs\n--- a/hat.rs\n+++ b/hat.rs\n@@ -2 +2 @@\n-size 6\n+size 7 😀\n";
    let changes = json!([{"operation": "modify", "path": "hat.rs"}]);
    let content =
        json!([{"type": "diff", "changes": changes, "patch": {"format": "git_patch", "text": text}}]);
    let ended = update("tool_call_update", json!({"status": "completed", "content": content}));
    check_edit(&[update("tool_call_update", json!({"status": "pending", "content": content})), ended], "t");
}

#[test]
fn wrapped_events_are_unwrapped() {
    for wrap in [
        |event: &Value| json!({"event": "e", "data": event}),
        |event: &Value| json!({"event": "e", "data": event.to_string()}),
        |event: &Value| json!({"type": "raw_response_event", "data": event}),
    ] {
        check_growing(&responses(0, "c", PATCH).iter().map(wrap).collect::<Vec<_>>(), "c");
    }
}

#[test]
fn interleaved_calls_keep_apart_and_later_ones_see_earlier_ones() {
    let second = PATCH.replace("-size 6", "-size 7 😀").replace("+size 7", "+size 8");
    let [first, second] = [responses(0, "a", PATCH), responses(1, "b", &second)];
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    let mut payloads = Vec::new();
    loop {
        let pair = [first.next(), second.next()];
        if pair.iter().all(Option::is_none) {
            break;
        }
        payloads.extend(pair.into_iter().flatten());
    }
    check(
        &payloads,
        &[
            "a hat.rs +0 -0 Unknown",
            "b hat.rs +0 -0 Unknown",
            "a hat.rs +1 -1 Located",
            "a ok true fits true",
            "b hat.rs +1 -1 Located",
            "b ok true fits true",
        ],
    );
}

#[test]
fn a_call_that_fails_leaves_nothing_for_the_next() {
    let bad = PATCH.replace("*** End Patch", "*** Delete File: none\n*** End Patch");
    let payloads = [responses(0, "a", &bad), responses(1, "b", PATCH)].concat();
    check(
        &payloads,
        &[
            "a hat.rs +0 -0 Unknown",
            "a hat.rs +1 -1 Located, none +0 -0 Missing",
            "a ok true fits false: none does not exist",
            "b hat.rs +0 -0 Unknown",
            "b hat.rs +1 -1 Located",
            "b ok true fits true",
        ],
    );
}

#[test]
fn a_change_that_a_failed_call_shares_with_another_stays() {
    let other = PATCH.replace("-size 6", "-brim 2").replace("+size 7", "+brim 3");
    let third = PATCH.replace("-size 6", "-brim 3 😀").replace("+size 7", "+brim 4");
    let begun = PATCH.replace("*** End Patch", "*** Update File: hat.rs\n@@\n-none\n+x\n*** End Patch");
    let (first, second) = (responses(0, "a", &begun), responses(1, "b", &other));
    // The second call comes as a whole after the first one's first edit is planned.
    let at = first.len() - 9;
    let payloads = [&first[..at], &second, &first[at..], &responses(2, "c", &third)].concat();
    let shown = run(Framing::Sse, &[&sse(&payloads)], false);
    let ends: Vec<&String> = shown.iter().filter(|line| line.contains(" ok ")).collect();
    assert_eq!(ends[0], "b ok true fits true");
    assert!(ends[1].starts_with("a ok true fits false"), "{ends:?}");
    assert_eq!(ends[2], "c ok true fits true");
}

#[test]
fn a_cut_or_failed_stream_ends_its_call_as_incomplete() {
    let mut payloads = responses(0, "c", PATCH);
    payloads.truncate(payloads.len() - 6);
    let wanted = |reason: &str| {
        vec![
            "c hat.rs +0 -0 Unknown".to_owned(),
            // The end of the hunk has not come.
            "c hat.rs +1 -1 Unknown".to_owned(),
            format!("c ok false fits unknown: the call is incomplete: {reason}"),
        ]
    };
    let check_reason = |payloads: &[Value], reason: &str| {
        let wanted = wanted(reason);
        check(payloads, &wanted.iter().map(String::as_str).collect::<Vec<_>>());
    };
    check_reason(&payloads, "the stream ended before it did");
    for (event, reason) in [
        (json!({"type": "error", "message": "overloaded", "error": {"message": "overloaded"}}), "overloaded"),
        (json!({"error": {"message": "quota", "code": 429}}), "quota"),
        (
            json!({"type": "response.incomplete", "response": {"incomplete_details": {"reason": "max_output_tokens"}}}),
            "max_output_tokens",
        ),
        (json!({"type": "response.failed", "response": {"error": {"message": "broken"}}}), "broken"),
    ] {
        let failed: Vec<Value> = payloads.iter().cloned().chain([event]).collect();
        check_reason(&failed, reason);
    }
    let mut payloads = anthropic(0, "t", "Edit", EDIT);
    payloads.truncate(4);
    payloads.push(json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}));
    check(&payloads, &["t ok false fits unknown: the call is incomplete: max_tokens"]);
}

#[test]
fn patches_of_every_dialect_are_found_in_the_text() {
    // How payloads are cut is the business of other tests; here texts are cut.
    let check = |text: &str, wanted: &[&str]| {
        for size in [1, 7, text.len()] {
            let letters: Vec<char> = text.chars().collect();
            let payloads: Vec<Value> = letters
                .chunks(size)
                .map(|piece| json!({"choices": [{"index": 0, "delta": {"content": String::from_iter(piece)}}]}))
                .collect();
            let seen = run(Framing::Sse, &[&sse(&payloads)], true);
            let last_of =
                |events: &[String]| events.iter().filter(|event| event.contains(" ok ")).cloned().collect();
            // Cut in large pieces, a first state is not shown by itself.
            let (seen, wanted): (Vec<String>, Vec<String>) = match size {
                1 => (seen, wanted.iter().map(|&line| line.to_owned()).collect()),
                _ => {
                    (last_of(&seen), last_of(&wanted.iter().map(|&line| line.to_owned()).collect::<Vec<_>>()))
                }
            };
            assert_eq!(seen, wanted, "{size}: {text}");
        }
    };
    let shown = "- hat.rs +0 -0 Unknown";
    let first_line = "- hat.rs +0 -1 Unknown";
    let whole = "- hat.rs +1 -1 Located";
    let ok = "- ok true fits true";
    let diff = "--- a/hat.rs\n+++ b/hat.rs\n@@ -1,2 +1,2 @@\n brim 2\n-size 6\n+size 7\n";
    check(&format!("So:\n\n```diff\n{diff}```\nDone.\n"), &[shown, whole, ok]);
    // Without a fence nothing tells where it ends.
    check(diff, &[]);
    let block = |old: &str, new: &str| {
        format!("```rust\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n```\n")
    };
    let first = block("brim 2", "brim 3");
    check(
        &format!("I change hat.rs\n\nhat.rs\n{first}and then\n{}done", block("size 6", "size 7")),
        &[first_line, "- hat.rs +2 -2 Located", ok],
    );
    // What is wrong in one patch is no fault of the next.
    check(
        &format!("hat.rs\n{}\n```diff\n{diff}```\n", first.replace(">>>>>>> REPLACE", "=======")),
        &[
            first_line,
            "- hat.rs +1 -1 Unknown",
            "- ok false fits unknown: the block of line 3 has more than one '=======': which one ends its SEARCH part can't \
             be told",
            shown,
            whole,
            ok,
        ],
    );
    // A block that the text ends in is cut.
    check(
        "hat.rs\n```\n<<<<<<< SEARCH\nbrim 2\n",
        &[first_line, "- ok false fits unknown: the call is incomplete: the stream ended before it did"],
    );
}

#[test]
fn patches_in_the_text_count_only_on_demand() {
    let text = format!("I edit:\n```\n{PATCH}```\ndone\n");
    let payloads: Vec<Value> = pieces(&text)
        .iter()
        .map(|piece| json!({"type": "response.output_text.delta", "delta": piece}))
        .collect();
    check(&payloads, &[]);
    let wanted = done("-");
    check_with(&payloads, &["- hat.rs +0 -0 Unknown", &wanted[0], &wanted[1]], true);
}

#[test]
fn events_that_lost_their_blank_lines_are_read_at_the_end() {
    let input: String = responses(0, "c", PATCH).iter().map(|payload| format!("data: {payload}\n")).collect();
    let wanted = done("c");
    assert_eq!(run(Framing::Sse, &[input.as_bytes()], false)[1..], wanted);
}

#[test]
fn half_a_character_waits_for_its_other_half() {
    let mut payloads = responses(0, "c", "*** Begin Patch\n*** Add File: ");
    payloads.truncate(payloads.len() - 2);
    let raw = lines(&payloads);
    let piece = |text: &str| {
        format!(
            "{{\"type\":\"response.custom_tool_call_input.delta\",\"output_index\":0,\"delta\":\"{text}\"}}\n"
        )
    };
    let rest = [piece("\\ud83d"), piece("\\ude00.txt\\n+x\\n"), piece("*** End Patch\\n")].concat();
    let input = [raw, rest.into_bytes()].concat();
    let shown = run(Framing::Lines, &[&input], false);
    assert_eq!(shown[0], "c 😀.txt +1 -0 Located");
}

#[test]
fn what_nobody_knows_is_passed_over() {
    let mut payloads = vec![json!({"hello": 1}), json!([1]), json!("x"), json!({"type": 7}), Value::Null];
    payloads.extend(responses(0, "c", PATCH));
    payloads.insert(7, json!({"type": "response.from.the.future", "delta": {"a": 1}}));
    payloads
        .insert(8, json!({"type": "response.custom_tool_call_input.delta", "output_index": 9, "delta": "x"}));
    check_growing(&payloads, "c");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_streams_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        which in 0_usize..4,
    ) {
        let chunk = json!({"candidates": [{"content": {"parts": [{"functionCall":
            {"name": "replace", "willContinue": true, "partialArgs":
                [{"jsonPath": "$.edits[0].old_string", "stringValue": "x", "willContinue": true}]}}]}}]});
        let payloads = match which {
            0 => responses(0, "c", PATCH),
            1 => anthropic(0, "t", "Edit", EDIT),
            2 => vec![chunk; 3],
            _ => responses(0, "c", PATCH).iter().map(|event| json!({"data": event})).collect(),
        };
        let mut input = sse(&payloads);
        for (at, byte) in changes {
            let at = at.index(input.len());
            input[at] = byte;
        }
        run(Framing::Sse, &[&input], true);
    }
}
