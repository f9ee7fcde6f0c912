//! Which lines of Codex's logs are worth parsing: told by the types at their beginning, and by what they name.

use memchr::memchr;
use memchr::memmem;

/// A line up to this length is read if its type is not where it always is.
const SHORT_LINE_BYTES: usize = 4096;

/// Types of items that tell nothing of edits.
pub const PLAIN_ITEMS: [&str; 17] = [
    "message",
    "agent_message",
    "reasoning",
    "web_search_call",
    "image_generation_call",
    "ghost_snapshot",
    "compaction",
    "compaction_summary",
    "compaction_trigger",
    "context_compaction",
    "tool_search_call",
    "tool_search_output",
    "additional_tools",
    "mcp_call",
    "mcp_list_tools",
    "file_search_call",
    "other",
];

/// Types of items that are read.
pub const TOLD_ITEMS: [&str; 5] = [
    "custom_tool_call",
    "function_call",
    "local_shell_call",
    "custom_tool_call_output",
    "function_call_output",
];

/// Types of events that tell nothing of edits; those whose names begin or end like one of [`PLAIN_EVENT_PARTS`] too.
const PLAIN_EVENTS: [&str; 35] = [
    "session_configured",
    "token_count",
    "agent_message",
    "agent_reasoning",
    "agent_reasoning_raw_content",
    "agent_reasoning_section_break",
    "task_complete",
    "turn_complete",
    "turn_aborted",
    "turn_diff",
    "patch_apply_updated",
    "exec_approval_request",
    "view_image_tool_call",
    "plan_update",
    "error",
    "warning",
    "guardian_warning",
    "guardian_assessment",
    "stream_error",
    "background_event",
    "deprecation_notice",
    "context_compacted",
    "shutdown_complete",
    "terminal_interaction",
    "model_reroute",
    "model_verification",
    "safety_buffering",
    "turn_moderation_metadata",
    "elicitation_request",
    "request_user_input",
    "request_permissions",
    "sub_agent_activity",
    "thread_goal_updated",
    "thread_name_updated",
    "thread_settings_applied",
];

const PLAIN_EVENT_PARTS: [&str; 13] = [
    "mcp_",
    "web_search_",
    "image_generation_",
    "collab_",
    "realtime_",
    "dynamic_tool_call_",
    "undo_",
    "hook_",
    "entered_",
    "exited_",
    "skills_",
    "_delta",
    "_response",
];

/// Types of whole lines that tell nothing of edits.
pub const PLAIN_LINES: [&str; 5] =
    ["compacted", "world_state", "inter_agent_communication", "inter_agent_communication_metadata", "error"];

/// Tools that edit nothing, nor run anything that does; lines of all others are read.
const PLAIN_TOOLS: [&str; 9] = [
    "write_stdin",
    "update_plan",
    "view_image",
    "read_file",
    "list_dir",
    "grep_files",
    "wait",
    "request_user_input",
    "spawn_agent",
];

/// Tools that run commands: of those, lines that name apply_patch are read.
const SHELL_TOOLS: [&str; 5] = ["shell", "exec_command", "shell_command", "container.exec", "exec"];

/// Tells whether an event tells nothing of edits.
pub fn is_plain_event(kind: &str) -> bool {
    PLAIN_EVENTS.contains(&kind)
        || PLAIN_EVENT_PARTS.iter().any(|part| kind.starts_with(part) || kind.ends_with(part))
}

/// The types at the beginning of a line: of the line, and of what it holds.
pub struct Head<'a> {
    /// The line's.
    pub kind: &'a [u8],
    /// That of its payload.
    pub inner: Option<&'a [u8]>,
    /// What comes after the types.
    pub rest: &'a [u8],
}

/// Reads the beginning of a line in the order of keys in which Codex writes it.
pub fn head(line: &[u8]) -> Option<Head<'_>> {
    let mut rest = line.strip_prefix(b"{")?;
    if let Some(stamped) = rest.strip_prefix(br#""timestamp":""#) {
        rest = &stamped[memchr(b'"', stamped)?..];
        rest = rest.strip_prefix(br#"","#)?;
    }
    let (kind, rest) = quoted(rest.strip_prefix(br#""type":"#)?)?;
    let Some(payload) = rest.strip_prefix(br#","payload":{"#) else {
        return Some(Head { kind, inner: None, rest });
    };
    match payload.strip_prefix(br#""type":"#).and_then(quoted) {
        Some((inner, rest)) => Some(Head { kind, inner: Some(inner), rest }),
        None => Some(Head { kind, inner: None, rest: payload }),
    }
}

/// Reads a string without escapes; returns it and what follows.
fn quoted(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.strip_prefix(b"\"")?;
    let end = memchr(b'"', text)?;
    let inner = &text[..end];
    memchr(b'\\', inner).is_none().then_some((inner, &text[end + 1..]))
}

fn is_one_of(kind: &[u8], names: &[&str]) -> bool {
    names.iter().any(|name| name.as_bytes() == kind)
}

/// Tells, without parsing, whether a line is worth parsing; `knows` tells of a call id whether its result matters.
pub fn proposes(line: &[u8], knows: impl Fn(&str) -> bool) -> bool {
    let Some(head) = head(line) else { return proposes_any(line, knows) };
    match (head.kind, head.inner) {
        (b"response_item", Some(item)) => proposes_item(item, head.rest, knows),
        (b"event_msg", Some(event)) => {
            let known = std::str::from_utf8(event).is_ok_and(is_plain_event);
            match event {
                b"item_completed" | b"item_started" => [b"FileChange".as_slice(), b"CommandExecution"]
                    .iter()
                    .any(|needle| memmem::find(head.rest, needle).is_some()),
                b"exec_command_begin" | b"exec_command_end" => {
                    memmem::find(head.rest, b"apply").is_some() || names_known_call(head.rest, knows)
                }
                _ => !known,
            }
        }
        (kind, None) if is_one_of(kind, &PLAIN_LINES) => false,
        (kind, None) if is_one_of(kind, &TOLD_ITEMS) || is_one_of(kind, &PLAIN_ITEMS) => {
            proposes_item(kind, head.rest, knows)
        }
        (b"item.started" | b"item.updated" | b"item.completed", None) => proposes_any(line, knows),
        _ => true,
    }
}

fn proposes_item(item: &[u8], rest: &[u8], knows: impl Fn(&str) -> bool) -> bool {
    match item {
        b"custom_tool_call_output" | b"function_call_output" => names_known_call(rest, knows),
        b"function_call" => {
            // Quotes inside of strings are escaped, so this is the key.
            let name = memmem::find(rest, br#""name":"#).and_then(|at| quoted(&rest[at + 7..]));
            match name {
                Some((name, _)) if is_one_of(name, &PLAIN_TOOLS) => false,
                Some((name, _)) if is_one_of(name, &SHELL_TOOLS) => memmem::find(rest, b"apply").is_some(),
                Some(_) | None => true,
            }
        }
        b"custom_tool_call" | b"local_shell_call" => {
            memmem::find(rest, b"apply").is_some() || memmem::find(rest, b"Begin Patch").is_some()
        }
        item => !is_one_of(item, &PLAIN_ITEMS),
    }
}

/// Tells whether a line whose types are not at its beginning may tell of an edit.
fn proposes_any(line: &[u8], knows: impl Fn(&str) -> bool) -> bool {
    const NEEDLES: [&[u8]; 10] = [
        b"apply",
        b"ileChange",
        b"file_change",
        b"Begin Patch",
        b"session_meta",
        b"turn_context",
        b"_started",
        b"turn.started",
        b"turn/started",
        b"user_message",
    ];
    if line.len() <= SHORT_LINE_BYTES {
        return !line.trim_ascii().is_empty();
    }
    NEEDLES.iter().any(|needle| memmem::find(line, needle).is_some()) || names_known_call(line, knows)
}

/// Tells whether a line names a call that matters; if it names none that can be told, it says yes.
fn names_known_call(line: &[u8], knows: impl Fn(&str) -> bool) -> bool {
    let mut has_id = false;
    for key in [br#""call_id":"#.as_slice(), br#""id":"#] {
        for at in memmem::find_iter(line, key) {
            let value = line[at + key.len()..].trim_ascii_start();
            match quoted(value).map(|(id, _)| std::str::from_utf8(id)) {
                Some(Ok(id)) if !knows(id) => has_id = true,
                Some(Ok(_)) => return true,
                _ => {}
            }
        }
    }
    !has_id
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposed(line: &str) -> bool {
        proposes(line.as_bytes(), |id| id == "known")
    }

    #[test]
    fn lines_that_tell_nothing_of_edits_are_not_parsed() {
        let check = |line: &str, wanted| assert_eq!(proposed(line), wanted, "{line}");
        let row = |kind: &str, payload: &str| {
            format!(r#"{{"timestamp":"2026-03-01T09:00:00Z","type":"{kind}","payload":{{{payload}}}}}"#)
        };
        let item = |payload: &str| row("response_item", payload);
        let event = |payload: &str| row("event_msg", payload);
        check(&item(r#""type":"message","content":"apply_patch""#), false);
        check(&item(r#""type":"reasoning","summary":[]"#), false);
        check(&item(r#""type":"not_known_yet""#), true);
        check(&item(r#""type":"function_call_output","call_id":"known","output":"x""#), true);
        check(&item(r#""type":"function_call_output","call_id":"other","output":"x""#), false);
        check(&item(r#""type":"function_call_output","output":"x""#), true);
        check(&item(r#""type":"function_call","name":"exec_command","arguments":"ls""#), false);
        check(&item(r#""type":"function_call","name":"exec_command","arguments":"apply_patch""#), true);
        check(&item(r#""type":"function_call","name":"update_plan","arguments":"apply_patch""#), false);
        check(&item(r#""type":"function_call","name":"mcp__f__edit_file","arguments":"{}""#), true);
        check(&item(r#""type":"custom_tool_call","name":"exec","input":"text(1)""#), false);
        check(&event(r#""type":"token_count","info":null"#), false);
        check(&event(r#""type":"agent_message_delta","delta":"x""#), false);
        check(&event(r#""type":"patch_apply_end","call_id":"other""#), true);
        check(&event(r#""type":"item_completed","item":{"type":"AgentMessage"}"#), false);
        check(&event(r#""type":"item_completed","item":{"type":"FileChange"}"#), true);
        check(&event(r#""type":"task_started""#), true);
        check(&row("turn_context", r#""cwd":"/w""#), true);
        check(&row("compacted", r#""message":"apply_patch""#), false);
        check(&row("not_known_yet", ""), true);
        check(r#"{"type":"message","content":"apply_patch"}"#, false);
        check(r#"{"type":"function_call_output","call_id":"other","output":"x"}"#, false);
        check(r#"{"record_type":"state"}"#, true);
        check("", false);
    }

    #[test]
    fn long_lines_of_any_order_are_parsed_only_for_what_they_name() {
        let long = "A".repeat(SHORT_LINE_BYTES);
        let check = |text: &str, wanted| {
            let line = format!(r#"{{"ordinal":1,{text},"image":"{long}"}}"#);
            assert_eq!(proposed(&line), wanted, "{text}");
        };
        check(r#""type":"response_item","payload":{"type":"message","id":"m1"}"#, false);
        check(r#""payload":{"call_id":"known"}"#, true);
        check(r#""payload":{"call_id":"other"}"#, false);
        check(r#""payload":{"call_id":"kn\u006fwn"}"#, true);
        check(r#""type":"turn_context""#, true);
        check(r#""payload":{"call_id":"other","name":"apply_patch"}"#, true);
    }
}
