//! What can be told of a line without parsing it. A yes may be wrong and costs only time; a no is right of every line that
//! Claude Code writes (other writers may escape letters of keys, or damage a line that is then not looked at).
//!
//! A transcript is mostly lines that tell of no edit: hooks, file contents that were read, prose. The first keys tell
//! what a line is, one search over the rest whether it has a call or a result. Quotes inside of strings are escaped, so a
//! needle that begins with a quote and is not preceded by a backslash is a key or a whole value.

use memchr::memchr;
use memchr::memchr2;
use memchr::memchr3;
use memchr::memmem;
use memchr::memmem::Finder;

/// The beginning of `"tool_use"`, `"tool_use_id"` and `"tool_use_result"`.
const TOOL_USE: &str = "\"tool_use";

/// The key of what a shell command changed.
const SHELL_CHANGES: &str = "\"bashEditDiff\"";

/// The tools that only look, or that change something other than files; calls of all others are read.
const LOOKING_TOOLS: [&[u8]; 37] = [
    b"Agent",
    b"AgentOutputTool",
    b"AskUserQuestion",
    b"BashOutput",
    b"CronCreate",
    b"CronDelete",
    b"CronList",
    b"EnterPlanMode",
    b"EnterWorktree",
    b"ExitPlanMode",
    b"ExitWorktree",
    b"Glob",
    b"Grep",
    b"KillBash",
    b"KillShell",
    b"LS",
    b"LSP",
    b"ListMcpResourcesTool",
    b"Monitor",
    b"NotebookRead",
    b"Read",
    b"ReadMcpResourceTool",
    b"SendMessage",
    b"Skill",
    b"SlashCommand",
    b"Task",
    b"TaskCreate",
    b"TaskGet",
    b"TaskList",
    b"TaskOutput",
    b"TaskStop",
    b"TaskUpdate",
    b"TodoRead",
    b"TodoWrite",
    b"ToolSearch",
    b"WebFetch",
    b"WebSearch",
];

/// Searches that are prepared once for a log.
#[derive(Debug, Clone)]
pub(super) struct Skim {
    tool_use: Finder<'static>,
    shell_changes: Finder<'static>,
    apply: Finder<'static>,
}

impl Default for Skim {
    fn default() -> Self {
        Skim {
            tool_use: Finder::new(TOOL_USE),
            shell_changes: Finder::new(SHELL_CHANGES),
            apply: Finder::new("apply"),
        }
    }
}

/// What the first keys say that a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind<'a> {
    Blank,
    /// Its type, and the keys after it.
    Told(&'a [u8], Keys<'a>),
    /// Not told, but it has a message of that role.
    MessageOf(&'a [u8]),
    /// The line may be anything.
    Unsure,
}

impl Skim {
    /// Tells whether a line is worth parsing; `knows` tells of a call id whether its result matters.
    pub(super) fn proposes(&self, line: &[u8], knows: &dyn Fn(&str) -> bool) -> bool {
        match kind_of(line) {
            Kind::Blank => false,
            Kind::Unsure => true,
            Kind::Told(b"user", _) | Kind::MessageOf(b"user") => self.is_user_worth(line, knows),
            Kind::Told(b"assistant", _) | Kind::MessageOf(b"assistant") => self.tells(line, knows),
            Kind::Told(b"progress", keys) => has_message(keys) && self.tells(line, knows),
            Kind::Told(b"result", _) => true,
            Kind::Told(b"system", _) => [b"\"permission_denied\"".as_slice(), b"\"init\""]
                .iter()
                .any(|subtype| memmem::find(line, subtype).is_some()),
            Kind::Told(kind, _) => !is_known(kind),
            Kind::MessageOf(_) => true,
        }
    }

    /// A line of the user is a result, or else a prompt, and those are counted.
    fn is_user_worth(&self, line: &[u8], knows: &dyn Fn(&str) -> bool) -> bool {
        let is_result = self.uses(line).any(|(_, rest)| rest.starts_with(b"_id\""));
        !is_result || self.tells(line, knows)
    }

    /// Tells whether a line has a call that may edit, or a result that matters.
    fn tells(&self, line: &[u8], knows: &dyn Fn(&str) -> bool) -> bool {
        let mut has_result = false;
        for (at, rest) in self.uses(line) {
            if let Some(value) = rest.strip_prefix(b"_id\"") {
                has_result = true;
                if string_value(value).is_none_or(knows) {
                    return true;
                }
            } else if let Some(rest) = rest.strip_prefix(b"\"")
                && self.is_call(line, at, rest)
            {
                return true;
            }
        }
        has_result && self.shell_changes.find(line).is_some()
    }

    /// Returns where a key or value begins with [`TOOL_USE`], and what follows.
    fn uses<'a>(&'a self, line: &'a [u8]) -> impl Iterator<Item = (usize, &'a [u8])> {
        (self.tool_use.find_iter(line))
            .filter(|&at| at == 0 || line[at - 1] != b'\\')
            .map(|at| (at, &line[at + TOOL_USE.len()..]))
    }

    /// Tells whether the value `"tool_use"` at `at` is the type of a call that may edit.
    fn is_call(&self, line: &[u8], at: usize, rest: &[u8]) -> bool {
        let named = || {
            let id = rest.strip_prefix(b",\"id\":\"")?;
            let after_id = &id[memchr(b'"', id)?..];
            let name = after_id.strip_prefix(b"\",\"name\":\"")?;
            Some(&name[..memchr2(b'"', b'\\', name)?])
        };
        match named() {
            Some(b"Bash" | b"PowerShell") => self.apply.find(line).is_some(),
            Some(name) => !LOOKING_TOOLS.contains(&name),
            // The same word is why a message ended.
            None => !line[..at].trim_ascii_end().ends_with(b"\"stop_reason\":"),
        }
    }
}

fn kind_of(line: &[u8]) -> Kind<'_> {
    let trimmed = line.trim_ascii_start();
    if trimmed.is_empty() {
        return Kind::Blank;
    }
    let Some(mut keys) = Keys::of(trimmed) else { return Kind::Unsure };
    while let Some((key, value)) = keys.next_key() {
        match (key, value) {
            (b"type", Value::Text(kind)) => return Kind::Told(kind, keys),
            (b"message", Value::Nested(message)) => {
                return role_of(message).map_or(Kind::Unsure, Kind::MessageOf);
            }
            // May be as long as a whole prompt, and its type comes after it.
            (b"attachment", Value::Nested(_)) => return Kind::Told(b"attachment", keys),
            _ => {}
        }
    }
    Kind::Unsure
}

fn role_of(message: &[u8]) -> Option<&[u8]> {
    let mut keys = Keys::of(message)?;
    while let Some((key, value)) = keys.next_key() {
        if let (b"role", Value::Text(role)) = (key, value) {
            return Some(role);
        }
    }
    None
}

/// Tells whether the data of a progress line may hold a message: the first key says which progress it is.
fn has_message(mut keys: Keys<'_>) -> bool {
    while let Some((key, value)) = keys.next_key() {
        if let (b"data", Value::Nested(data)) = (key, value) {
            let first = Keys::of(data).and_then(|mut keys| keys.next_key());
            return !matches!(
                first,
                Some((
                    b"type",
                    Value::Text(
                        b"bash_progress"
                            | b"hook_progress"
                            | b"mcp_progress"
                            | b"powershell_progress"
                            | b"query_update"
                            | b"search_results_received"
                            | b"waiting_for_task"
                    )
                ))
            );
        }
    }
    true
}

/// Returns the text that follows a key; nothing if it has escapes or is no string.
fn string_value(after_key: &[u8]) -> Option<&str> {
    let value = after_key.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start().strip_prefix(b"\"")?;
    let end = memchr2(b'"', b'\\', value)?;
    if value[end] == b'\\' {
        return None;
    }
    std::str::from_utf8(&value[..end]).ok()
}

/// The keys of an object, in order, as far as they can be told cheaply: up to the first value that is nested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Keys<'a> {
    rest: &'a [u8],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value<'a> {
    /// A string, still with its escapes.
    Text(&'a [u8]),
    /// A number or a word.
    Scalar,
    /// An object or array, with all that follows it.
    Nested(&'a [u8]),
}

impl<'a> Keys<'a> {
    fn of(object: &'a [u8]) -> Option<Self> {
        object.strip_prefix(b"{").map(|rest| Keys { rest })
    }

    fn next_key(&mut self) -> Option<(&'a [u8], Value<'a>)> {
        let key = self.rest.trim_ascii_start();
        let key = key.strip_prefix(b",").unwrap_or(key).trim_ascii_start().strip_prefix(b"\"")?;
        let (key, rest) = text_end(key)?;
        let value = rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
        match value.first()? {
            b'"' => {
                let (text, rest) = text_end(&value[1..])?;
                self.rest = rest;
                Some((key, Value::Text(text)))
            }
            b'{' | b'[' => {
                self.rest = &[];
                Some((key, Value::Nested(value)))
            }
            _ => {
                self.rest = &value[memchr3(b',', b'}', b']', value)?..];
                Some((key, Value::Scalar))
            }
        }
    }
}

/// Returns a string's text and what follows its closing quote.
fn text_end(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut at = 0;
    loop {
        at += memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some((&text[..at], &text[at + 1..]));
        }
        at += 2;
    }
}

/// The types of lines that are known, of all versions. New ones come with nearly every release.
pub(super) fn is_known(kind: &[u8]) -> bool {
    kind.starts_with(b"artifact-")
        || kind.starts_with(b"marble-origami-")
        || kind.starts_with(b"streamlined_")
        || matches!(
            kind,
            b"agent-color"
                | b"agent-name"
                | b"agent-setting"
                | b"ai-title"
                | b"assistant"
                | b"atis-latch"
                | b"attachment"
                | b"attribution-snapshot"
                | b"auth_status"
                | b"bridge-session"
                | b"content-replacement"
                | b"continued-in"
                | b"control_cancel_request"
                | b"control_request"
                | b"control_response"
                | b"cost-state"
                | b"custom-title"
                | b"ended-by-model"
                | b"file-history-delta"
                | b"file-history-snapshot"
                | b"fork-context-ref"
                | b"frame-link"
                | b"history-suppression"
                | b"keep_alive"
                | b"last-prompt"
                | b"mode"
                | b"permission-mode"
                | b"pr-link"
                | b"progress"
                | b"prompt_suggestion"
                | b"queue-operation"
                | b"rate_limit_event"
                | b"relocated"
                | b"result"
                | b"speculation-accept"
                | b"stream_event"
                | b"summary"
                | b"system"
                | b"tag"
                | b"task-summary"
                | b"tool_progress"
                | b"tool_use_summary"
                | b"user"
                | b"worktree-state"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, wanted: bool) {
        assert_eq!(Skim::default().proposes(line.as_bytes(), &|id| id == "open"), wanted, "{line}");
    }

    #[test]
    fn calls_that_may_edit_are_proposed() {
        let call = |name: &str, more: &str| {
            format!(
                r#"{{"parentUuid":null,"isSidechain":false,"message":{{"id":"m","role":"assistant","content":[{{"type":"tool_use","id":"t","name":"{name}"{more}}}],"stop_reason":"tool_use"}},"type":"assistant"}}"#
            )
        };
        for name in
            ["Edit", "Write", "NotebookEdit", "mcp__files__edit_file", "ToolOfTheFuture", r"Re\u0061d"]
        {
            check(&call(name, ""), true);
        }
        for name in ["Read", "Grep", "TodoWrite", "Bash"] {
            check(&call(name, r#","input":{"command":"ls"}"#), false);
        }
        check(&call("Bash", r#","input":{"command":"apply_patch <<E"}"#), true);
        // Keys in another order, or spread out, can't be told apart without parsing.
        check(
            r#"{"type":"assistant","message":{"content":[{"id":"t","name":"Edit","type":"tool_use"}]}}"#,
            true,
        );
        check(r#"{"type":"assistant","message":{"content":[{"type": "tool_use", "name":"Read"}]}}"#, true);
        // Prose, and a message that only says why it ended.
        check(r#"{"type":"assistant","message":{"content":[{"type":"text","text":"\"tool_use\""}]}}"#, false);
        check(
            r#"{"message":{"role":"assistant","content":[],"stop_reason":"tool_use"},"type":"assistant"}"#,
            false,
        );
    }

    #[test]
    fn results_of_open_calls_and_prompts_are_proposed() {
        let result = |id: &str, more: &str| {
            format!(
                r#"{{"isSidechain":false,"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"{id}","type":"tool_result","content":"x"}}]}}{more}}}"#
            )
        };
        check(&result("open", ""), true);
        check(&result("other", ""), false);
        check(&result(r"\u006fpen", ""), true);
        check(&result("other", r#","toolUseResult":{"bashEditDiff":{"files":[]}}"#), true);
        check(&result("other", r#","toolUseResult":"\"bashEditDiff\"""#), false);
        check(
            r#"{"type":"user","message":{"content":[{"tool_use_id":"other"},{"tool_use_id":"open"}]}}"#,
            true,
        );
        check(r#"{"type":"user","message":{"role":"user","content":"do it"}}"#, true);
        check(r#"{"message":{"role":"user","content":"do it"},"type":"user"}"#, true);
        check(r#"{"type":"user","message":{"role":"user","content":"a \"tool_use_id\" is"}}"#, true);
    }

    #[test]
    fn only_progress_of_agents_is_looked_into() {
        let progress = |data: &str| format!(r#"{{"cwd":"/w","type":"progress","data":{data},"uuid":"u"}}"#);
        let call = r#"{"message":{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Edit"}]}},"type":"agent_progress"}"#;
        check(&progress(call), true);
        check(&progress(&call.replace("Edit", "Read")), false);
        check(&progress(r#"{"type":"hook_progress","hookName":"\"tool_use_id\":\"open\""}"#), false);
        check(&progress(r#"{"type":"bash_progress","output":"x","tool_use_id":"open"}"#), false);
        check(&progress(r#"{"type":"agent_progress","message":{"content":[{"tool_use_id":"open"}]}}"#), true);
    }

    #[test]
    fn other_lines_are_told_by_their_type() {
        check("", false);
        check(" \r", false);
        check("garbage", true);
        check("[]", true);
        check(r#"{"type":"file-history-snapshot","snapshot":{}}"#, false);
        check(r#"{"parentUuid":"a\"b","attachment":{"type":"file"},"type":"attachment"}"#, false);
        check(r#"{"todos":[],"type":"mode"}"#, true);
        check(r#"{"type":"of-the-future"}"#, true);
        check(r#"{"type":"result","permission_denials":[]}"#, true);
        check(r#"{"type":"system","subtype":"permission_denied"}"#, true);
        check(r#"{"type":"system","subtype":"turn_duration"}"#, false);
        check(r#"{"type":"stream_event","event":{}}"#, false);
        check(r#"{"n":1,"type":"#, true);
    }
}
