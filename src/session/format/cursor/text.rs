//! Transcripts of early versions, which are text.
//!
//! ```text
//! transcript = (("user:" | "assistant:") | text | call | result)*
//! call       = "[Tool call] " NAME argument*
//! argument   = "  " KEY ": " first line of the value, then its other lines as they are
//! result     = "[Tool result] " NAME                                  and nothing of what came of it
//! ```
//!
//! Nothing ends a value but the next argument or what begins a line above, and blank lines stand between these: whether a
//! value ended with a newline is not told. A key counts once in a call, and only if the tool has it.

use serde_json::value::RawValue;

use crate::session::event::Begin;
use crate::session::event::CallEvent;
use crate::session::event::Emit;
use crate::session::event::Place;

use super::super::json_into;
use super::request_of;

/// What begins a call.
const CALL: &str = "[Tool call] ";
/// What begins a result.
const RESULT: &str = "[Tool result]";
/// What tells whose words follow.
const SPEAKERS: [&str; 2] = ["user:", "assistant:"];
/// What stands around a user's words.
const QUERY: &str = "<user_query>";

/// How many bytes of a call's arguments are held; a call with more has only its beginning.
const ARGUMENTS_CAP_BYTES: usize = 16 << 20;

/// The keys of the tools that edit.
const KEYS: [&str; 13] = [
    "cell_idx",
    "contents",
    "input",
    "is_new_cell",
    "new_string",
    "new_source",
    "notebook_path",
    "old_string",
    "patch",
    "path",
    "replace_all",
    "target_file",
    "target_notebook",
];

/// Reads the lines of one transcript.
#[derive(Debug, Default)]
pub(super) struct TextTranscript {
    open: Option<OpenCall>,
}

/// A call whose arguments go on.
#[derive(Debug)]
struct OpenCall {
    tool: String,
    line: usize,
    arguments: Vec<(&'static str, String)>,
    held_bytes: usize,
}

impl TextTranscript {
    /// Reads one line.
    pub fn read(&mut self, text: &str, line: usize, emit: &mut Emit<'_>) {
        if is_mark(text) {
            self.finish(emit);
            let tool = text.strip_prefix(CALL).map(|tool| tool.trim().to_owned());
            self.open = tool.map(|tool| OpenCall { tool, line, arguments: Vec::new(), held_bytes: 0 });
        } else if let Some(call) = &mut self.open {
            call.push(text);
        }
    }

    /// Ends the call that is open.
    pub fn finish(&mut self, emit: &mut Emit<'_>) {
        let Some(call) = self.open.take() else { return };
        let place = Place { line: call.line, ..Place::default() };
        let arguments = call.arguments();
        let Ok(raw) = serde_json::from_str::<&RawValue>(&arguments) else { return };
        emit(CallEvent::Begin(Begin {
            call_id: format!("line {}", call.line).into(),
            tool: (&*call.tool).into(),
            request: request_of(&call.tool, Some(raw)),
            place,
        }));
    }
}

impl OpenCall {
    fn push(&mut self, text: &str) {
        self.held_bytes += text.len() + 1;
        if self.held_bytes > ARGUMENTS_CAP_BYTES {
            return;
        }
        let argument = text.strip_prefix("  ").and_then(|rest| rest.split_once(':'));
        let known = argument.and_then(|(key, value)| {
            let key = KEYS.into_iter().find(|known| *known == key)?;
            let is_first = self.arguments.iter().all(|(known, _)| *known != key);
            is_first.then(|| (key, value.strip_prefix(' ').unwrap_or(value).to_owned()))
        });
        match (known, self.arguments.last_mut()) {
            (Some(argument), _) => self.arguments.push(argument),
            (None, Some((_, value))) => {
                value.push('\n');
                value.push_str(text);
            }
            (None, None) => {}
        }
    }

    /// Returns the arguments as JSON.
    fn arguments(&self) -> String {
        let mut out = vec![b'{'];
        for (index, (key, value)) in self.arguments.iter().enumerate() {
            // The blank lines at the end stand between this call and what follows.
            let is_last = index + 1 == self.arguments.len();
            let value = if is_last { value.trim_end_matches('\n') } else { value };
            out.extend(if index > 0 { &b","[..] } else { b"" });
            json_into(&mut out, *key);
            out.push(b':');
            match value {
                "true" | "false" if *key == "replace_all" => out.extend(value.as_bytes()),
                _ => json_into(&mut out, value),
            }
        }
        out.push(b'}');
        String::from_utf8_lossy(&out).into_owned()
    }
}

/// Tells whether a line begins something.
fn is_mark(text: &str) -> bool {
    text.starts_with(CALL) || text.starts_with(RESULT) || SPEAKERS.contains(&text.trim_end())
}

/// Tells whether a transcript that is text may have such a line; whose words follow alone is too little to tell.
pub(super) fn is_line(text: &str) -> bool {
    text.starts_with(CALL) || text.trim_end() == QUERY
}

/// Tells whether a line makes a log a transcript that is text.
pub(super) fn is_beginning(text: &str) -> bool {
    is_line(text) || SPEAKERS.contains(&text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::event::Request;

    fn calls(text: &str) -> Vec<(String, String)> {
        let mut transcript = TextTranscript::default();
        let mut calls = Vec::new();
        let mut say = |event: CallEvent<'_>| {
            let CallEvent::Begin(begin) = event else { return };
            let asked = match begin.request {
                Request::Arguments(text) | Request::Patch(text) => text.into_owned(),
                Request::Changes(changes) => format!("{:?} {}", changes[0].operation, changes[0].path),
            };
            calls.push((begin.tool.into_owned(), asked));
        };
        for (index, line) in text.split('\n').enumerate() {
            transcript.read(line, index + 1, &mut say);
        }
        transcript.finish(&mut say);
        calls
    }

    #[test]
    fn values_go_on_until_the_next_argument() {
        let text = "assistant:\nso\n[Tool call] StrReplace\n  path: /a\n  old_string:   x\n\n  key: y\n  new_string: z\n\n[Tool result] StrReplace\n";
        let wanted = r#"{"path":"/a","old_string":"  x\n\n  key: y","new_string":"z"}"#;
        assert_eq!(calls(text), [("StrReplace".to_owned(), wanted.to_owned())]);
        // A key that was there is a line of the value.
        let text = "[Tool call] Write\n  path: /a.yaml\n  contents: on:\n  path: b\n[Tool call] Delete\n  path: /b\nuser:\n";
        let all = calls(text);
        assert_eq!(all[0].1, r#"{"path":"/a.yaml","contents":"on:\n  path: b"}"#);
        assert_eq!(all[1].1, "Some(Delete) /b");
    }

    #[test]
    fn patches_are_read_as_such() {
        let text = "[Tool call] ApplyPatch\n  patch: *** Begin Patch\n*** Delete File: a\n*** End Patch\n\nassistant:\n";
        assert_eq!(calls(text)[0].1, r#"{"patch":"*** Begin Patch\n*** Delete File: a\n*** End Patch"}"#);
        assert_eq!(calls("[Tool call] Read\n[Tool call]"), [("Read".to_owned(), "{}".to_owned())]);
    }
}
