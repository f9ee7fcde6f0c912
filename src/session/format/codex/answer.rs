//! What the output of a call says became of it, in every shape that outputs have had.
//!
//! ```text
//! output  = text | blocks | {"content": text | blocks, "success"?} | {"output", "metadata": {"exit_code"}}
//! text    = the last of these as JSON | head "Output:" newline body | body
//! head    = lines such as "Exit code: 0", "Process exited with code 0", "Script completed"
//! ```

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::report::CardStatus;
use crate::session::format::Text;
use crate::session::format::lenient;

/// What apply_patch says first when it is done.
const SUCCESS: &str = "Success. Updated the following files:";

/// How apply_patch begins a line that says why it did not change a file.
const PATCH_FAILURES: [&str; 6] = [
    "apply_patch verification failed",
    "Failed to find expected lines",
    "Failed to find context",
    "Invalid patch: ",
    "Invalid patch hunk",
    "error: Failed to find",
];

/// How the output of a call begins that did not run, or not to its end.
const FAILURES: [&str; 11] = [
    "error:",
    "err:",
    "execution error",
    "failed",
    "invalid",
    "unsupported call",
    "unsupported custom tool call",
    "sandbox",
    "command timed out",
    "unable to",
    "exec_command failed",
];

/// How the output of a call begins that the user, or a rule, refused.
const REJECTIONS: [&str; 5] =
    ["patch rejected", "exec command rejected", "rejected by user", "command rejected", "patch declined"];

/// What an output says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What became of the call.
    pub status: CardStatus,
    /// What the tool said, without what Codex put around it.
    pub message: Option<String>,
    /// The call goes on: another output, of another call, will tell.
    pub is_running: bool,
    /// The files that apply_patch says it changed, each with its letter.
    pub summary: Vec<(char, String)>,
}

#[derive(Deserialize)]
struct Wrapped<'a> {
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    success: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Metadata {
    exit_code: Option<i64>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow)]
    text: Option<Text<'a>>,
}

/// What is told beside the text.
#[derive(Debug, Clone, Copy, Default)]
struct Told {
    exit_code: Option<i64>,
    success: Option<bool>,
    is_running: bool,
}

/// Reads an output.
pub fn read(raw: Option<&RawValue>) -> Answer {
    let mut told = Told::default();
    let text = raw.map(|raw| text_of(raw, &mut told)).unwrap_or_default();
    judge(&text, told)
}

/// Returns what became of a command, by its exit code and what it said.
pub fn of_command(exit_code: Option<i64>, text: &str) -> Answer {
    judge(text, Told { exit_code, ..Told::default() })
}

fn text_of(raw: &RawValue, told: &mut Told) -> String {
    if let Some(text) = lenient::<Text<'_>>(Some(raw)) {
        let trimmed = text.trim_start();
        if trimmed.starts_with('{')
            && let Ok(wrapped) = serde_json::from_str::<Wrapped<'_>>(trimmed)
            && (wrapped.output.is_some() || wrapped.content.is_some())
        {
            return text_of_object(&wrapped, told);
        }
        return text.0.into_owned();
    }
    if let Some(blocks) = lenient::<Vec<Block<'_>>>(Some(raw)) {
        let texts: Vec<&str> = blocks.iter().filter_map(|block| block.text.as_deref()).collect();
        return texts.join("\n");
    }
    match lenient::<Wrapped<'_>>(Some(raw)) {
        Some(wrapped) => text_of_object(&wrapped, told),
        None => String::new(),
    }
}

fn text_of_object(wrapped: &Wrapped<'_>, told: &mut Told) -> String {
    told.exit_code = lenient::<Metadata>(wrapped.metadata).and_then(|metadata| metadata.exit_code);
    told.success = lenient(wrapped.success);
    let inner = wrapped.output.or(wrapped.content);
    if let Some(text) = lenient::<Text<'_>>(inner) {
        return text.0.into_owned();
    }
    let blocks: Vec<Block<'_>> = lenient(inner).unwrap_or_default();
    blocks.iter().filter_map(|block| block.text.as_deref()).collect::<Vec<_>>().join("\n")
}

fn judge(text: &str, mut told: Told) -> Answer {
    let body = without_head(text, &mut told);
    let (summary, has_success) = summary_of(body);
    let has_patch_failure =
        body.lines().any(|line| PATCH_FAILURES.iter().any(|failure| line.starts_with(failure)));
    let begins = |starts: &[&str]| starts.iter().any(|start| begins_with(body, start));
    let status = match (told.exit_code, told.success) {
        // A refused command has an exit code too.
        (Some(1..) | None, _) | (_, Some(false)) if begins(&REJECTIONS) => CardStatus::Rejected,
        // A script may go on after a patch that does not fit.
        _ if has_success && has_patch_failure => CardStatus::Partial,
        (Some(0), _) if has_patch_failure => CardStatus::Failed,
        (Some(0), _) => CardStatus::Applied,
        (Some(_), _) if has_success => CardStatus::Partial,
        (Some(_), _) | (None, Some(false)) => CardStatus::Failed,
        (None, Some(true)) => CardStatus::Applied,
        (None, None) if has_success || matches!(body.trim(), "{}" | "Done!") => CardStatus::Applied,
        (None, None) if has_patch_failure || begins(&FAILURES) => CardStatus::Failed,
        (None, None) => CardStatus::Unknown,
    };
    let message = if body.trim().is_empty() { text } else { body };
    let message = (!message.trim().is_empty()).then(|| message.trim_end().to_owned());
    Answer { status, message, is_running: told.is_running, summary }
}

/// Takes the lines off that Codex puts before what the command said.
fn without_head<'a>(text: &'a str, told: &mut Told) -> &'a str {
    let mut offset_bytes = 0;
    for line in text.split_inclusive('\n') {
        offset_bytes += line.len();
        let line = line.trim_end();
        let code = |prefix: &str| line.strip_prefix(prefix).and_then(|code| code.trim().parse().ok());
        if let Some(code) = code("Exit code:").or_else(|| code("Process exited with code")) {
            told.exit_code = Some(code);
        } else if line == "Script completed" {
            told.success = Some(true);
        } else if matches!(line, "Script failed" | "Script terminated") || line.starts_with("Script error") {
            told.success = Some(false);
        } else if line.starts_with("Script running") || line.starts_with("Process running") {
            told.is_running = true;
        } else if line == "Output:" {
            let body = &text[offset_bytes..];
            return body.trim_start_matches('\n');
        } else if !is_head_line(line) {
            break;
        }
    }
    text
}

fn is_head_line(line: &str) -> bool {
    ["Wall time", "Chunk ID:", "Original token count:", "Total output lines:", "Warning:"]
        .iter()
        .any(|start| line.starts_with(start))
        || line.is_empty()
}

/// Returns the files that apply_patch names, and whether it says that it is done.
fn summary_of(body: &str) -> (Vec<(char, String)>, bool) {
    let mut files = Vec::new();
    let mut has_success = false;
    let mut is_listed = false;
    for line in body.lines() {
        if line == SUCCESS {
            (has_success, is_listed) = (true, true);
        } else if is_listed
            && let Some((letter @ ("A" | "M" | "D"), path)) = line.split_once(' ')
            && !path.is_empty()
        {
            files.extend(letter.chars().next().map(|letter| (letter, path.to_owned())));
        } else {
            is_listed = false;
        }
    }
    (files, has_success)
}

fn begins_with(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(output: &str, status: CardStatus, message: Option<&str>) {
        let raw: Box<RawValue> = serde_json::from_str(output).unwrap();
        let answer = read(Some(&raw));
        assert_eq!((answer.status, answer.message.as_deref()), (status, message), "{output}");
    }

    const DONE: &str = r"Success. Updated the following files:\nM a.rs\n";

    #[test]
    fn every_shape_of_a_success_is_one() {
        let said = Some("Success. Updated the following files:\nM a.rs");
        let wrapped = DONE.replace('\\', "\\\\");
        check(
            &format!(
                r#""{{\"output\":\"{wrapped}\",\"metadata\":{{\"exit_code\":0,\"duration_seconds\":0.1}}}}""#
            ),
            CardStatus::Applied,
            said,
        );
        check(
            &format!(r#""Exit code: 0\nWall time: 0.1 seconds\nOutput:\n{DONE}""#),
            CardStatus::Applied,
            said,
        );
        check(
            &format!(
                r#""Chunk ID: 1a\nWall time: 0.1 seconds\nProcess exited with code 0\nOriginal token count: 9\nOutput:\n{DONE}""#
            ),
            CardStatus::Applied,
            said,
        );
        check(&format!(r#""{DONE}""#), CardStatus::Applied, said);
        check(&format!(r#"[{{"type":"input_text","text":"{DONE}"}}]"#), CardStatus::Applied, said);
        check(&format!(r#"{{"content":"{DONE}","success":true}}"#), CardStatus::Applied, said);
        check(&format!(r#"{{"content":[{{"text":"{DONE}"}}]}}"#), CardStatus::Applied, said);
        check(&format!(r#"{{"output":"{DONE}","metadata":{{"exit_code":0}}}}"#), CardStatus::Applied, said);
        check(
            r#"[{"type":"input_text","text":"Script completed\nWall time 1 seconds\nOutput:\n"},{"type":"input_text","text":"{}"}]"#,
            CardStatus::Applied,
            Some("{}"),
        );
        check(r#""Done!""#, CardStatus::Applied, Some("Done!"));
        check(r#""{\"output\":\"\",\"metadata\":{\"exit_code\":0}}""#, CardStatus::Applied, None);
    }

    #[test]
    fn failures_and_refusals_are_told_apart() {
        check(
            r#""apply_patch verification failed: Failed to find expected lines in a.rs:\nx""#,
            CardStatus::Failed,
            Some("apply_patch verification failed: Failed to find expected lines in a.rs:\nx"),
        );
        check(
            r#""{\"output\":\"error: Failed to find expected lines [x] in a\",\"metadata\":{\"exit_code\":1}}""#,
            CardStatus::Failed,
            Some("error: Failed to find expected lines [x] in a"),
        );
        check(
            r#""Exit code: 1\nWall time: 0 seconds\nOutput:\nInvalid patch: no""#,
            CardStatus::Failed,
            Some("Invalid patch: no"),
        );
        check(r#"{"content":"no such file","success":false}"#, CardStatus::Failed, Some("no such file"));
        check(r#""patch rejected by user""#, CardStatus::Rejected, Some("patch rejected by user"));
        check(
            r#"{"content":"exec command rejected by user","success":false}"#,
            CardStatus::Rejected,
            Some("exec command rejected by user"),
        );
        check(r#""Script failed\nWall time 0 seconds\nOutput:\nboom""#, CardStatus::Failed, Some("boom"));
    }

    #[test]
    fn exit_code_of_a_script_does_not_hide_a_patch_that_failed() {
        check(
            r#""Exit code: 0\nOutput:\nFailed to find context 'f' in /w/a\n""#,
            CardStatus::Failed,
            Some("Failed to find context 'f' in /w/a"),
        );
        check(
            &format!(r#""Exit code: 0\nOutput:\nInvalid patch: x\n{DONE}""#),
            CardStatus::Partial,
            Some("Invalid patch: x\nSuccess. Updated the following files:\nM a.rs"),
        );
        check(
            &format!(r#""Exit code: 2\nOutput:\n{DONE}make: no rule""#),
            CardStatus::Partial,
            Some("Success. Updated the following files:\nM a.rs\nmake: no rule"),
        );
    }

    #[test]
    fn what_says_nothing_is_unknown() {
        check(r#""aborted by user after 3.1s""#, CardStatus::Unknown, Some("aborted by user after 3.1s"));
        check(r#""""#, CardStatus::Unknown, None);
        check("7", CardStatus::Unknown, None);
        assert_eq!(read(None).status, CardStatus::Unknown);
        let running: Box<RawValue> =
            serde_json::from_str(r#""Process running with session ID 4\nOutput:\n""#).unwrap();
        assert!(read(Some(&running)).is_running);
    }

    #[test]
    fn changed_files_are_listed() {
        let answer =
            of_command(Some(0), "Success. Updated the following files:\nA a b\nM c\nD d\n\nM not listed\n");
        let wanted = [('A', "a b"), ('M', "c"), ('D', "d")];
        assert_eq!(answer.summary, wanted.map(|(letter, path)| (letter, path.to_owned())));
    }
}
