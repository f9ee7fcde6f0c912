//! Claude Code: its transcripts, and what `--output-format stream-json` prints.
//!
//! ```text
//! log  = line*, each an object with "type" somewhere among its keys
//! line of user, assistant {"message":{"content":TEXT|[block*]},"uuid","parentUuid","sessionId","isSidechain",
//!                          "timestamp","toolUseResult"?,"toolDenialKind"?,"isMeta"?,"isCompactSummary"?,...}
//!      of progress        {"data":{"type":"agent_progress","message":LINE}}; other kinds of data tell of no call
//!      of result          {"permission_denials":[{"tool_name","tool_use_id","tool_input"}]}
//!      of system          {"subtype":"permission_denied","tool_use_id",...}
//! block = {"type":"tool_use","id","name","input"}
//!       | {"type":"tool_result","tool_use_id","content":TEXT|[{"text"}],"is_error"?}
//! ```
//!
//! stream-json has `session_id`, `parent_tool_use_id` and `tool_use_result` instead of the keys in camel case. What a
//! tool did is in the result that stands beside the message; [`result`] has its shapes. Lines of all other types tell
//! nothing of edits.

pub(super) mod live;
mod outcome;
mod result;
mod skim;
mod stored;

pub use stored::ClaudeCode;

pub(super) use stored::is_row;
