//! What an answer to a call means.
//!
//! Answers are words for the model. Those of Cline and of what stems from it are known; of any other tool's the usual
//! words for success and failure count, and where there are none, what became of the call is unknown.

use std::ops::Range;

use serde::Deserialize;

use crate::report::CardStatus;
use crate::report::Operation;
use crate::session::event::Before;
use crate::session::event::CallResult;
use crate::session::event::ChangeContent;
use crate::session::event::FileChange;

use super::Open;

/// How much of an answer is looked at for the words that tell what it means; the rest may be a file's text.
const TELLING_BYTES: usize = 600;

const DENIALS: [&str; 4] =
    ["The user denied this operation", "The user rejected", "user denied", "\"status\":\"denied\""];

const FAILURES: [&str; 14] = [
    "The tool execution failed",
    "\"status\":\"error\"",
    "\"status\": \"error\"",
    "Missing value for required parameter",
    "was not executed because",
    "cannot be used in PLAN MODE",
    "is blocked by the .",
    "Unable to apply diff",
    "<error_details>",
    "Diff edit mismatch",
    "No replacement was performed",
    "No sufficiently similar match",
    "did not match",
    "Traceback (most recent call last)",
];

const SUCCESSES: [&str; 14] = [
    "successfully",
    "Successfully",
    "<operation>created",
    "<operation>modified",
    "\"operation\":\"created\"",
    "\"operation\":\"modified\"",
    "Success. Updated",
    "has been updated",
    "has been edited",
    "has been created",
    "has been written",
    "\"success\":true",
    "\"success\": true",
    "Changes applied",
];

/// Returns where the answer to a call stands in what the user's message says, without its heading.
pub(super) fn find(said: &str, tool: &str, path: Option<&str>) -> Option<Range<usize>> {
    let named = path.map(|path| format!("[{tool} for '{path}'"));
    let heading = named
        .as_deref()
        .and_then(|heading| heading_at(said, heading))
        .or_else(|| heading_at(said, &format!("[{tool}")))?;
    let rest = &said[heading..];
    let lines = rest.match_indices("\n[").map(|(at, _)| at + 1);
    let next = lines.into_iter().find(|&at| heading_end(&rest[at..]).is_some());
    let details = rest.find("<environment_details>");
    let end = [next, details].into_iter().flatten().min().unwrap_or(rest.len());
    Some(heading..heading + end)
}

/// Returns where the text behind a heading begins that begins so; it stands at the beginning of a line.
fn heading_at(said: &str, beginning: &str) -> Option<usize> {
    said.match_indices(beginning).find_map(|(at, _)| {
        let is_line = at == 0 || said.as_bytes()[at - 1] == b'\n';
        if !is_line {
            return None;
        }
        Some(at + heading_end(&said[at..])?)
    })
}

/// Returns how long the heading is that a text begins with.
fn heading_end(text: &str) -> Option<usize> {
    const END: &str = "] Result:";
    let line = text.split('\n').next()?;
    let name = line.strip_prefix('[')?.split([' ', ']']).next()?;
    let is_tool = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_tool.then(|| line.find(END).map(|at| at + END.len()))?
}

/// Fills in what an answer tells.
pub(super) fn told(result: CallResult, open: Open, is_error: Option<bool>, answer: &str) -> CallResult {
    let Open { tool, path, .. } = open;
    let answer = heading_end(answer).map_or(answer, |end| &answer[end..]).trim();
    let telling = beginning(answer);
    let has = |words: &[&str]| words.iter().any(|word| telling.contains(word));
    let is_word =
        |word: &str| telling.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let begins_badly =
        ["error", "<error", "[error", "failed", "cannot", "could not", "unable to"].into_iter().any(is_word);
    let status = if has(&DENIALS) {
        CardStatus::Rejected
    } else if telling.contains("unable to apply all diff parts") {
        CardStatus::Partial
    } else if is_error == Some(true)
        || has(&FAILURES)
        || begins_badly
        || exit_code(telling).is_some_and(|code| code != 0)
    {
        CardStatus::Failed
    } else if is_error == Some(false) || has(&SUCCESSES) || exit_code(telling) == Some(0) {
        CardStatus::Applied
    } else {
        CardStatus::Unknown
    };
    let message = (!answer.is_empty()).then(|| without_files(answer));
    let mut result = CallResult { status, message, ..result };
    if status != CardStatus::Applied {
        return result;
    }
    let is_new = telling.contains("<operation>created") || telling.contains("\"operation\":\"created\"");
    result.operation = is_new.then_some(Operation::Create);
    if answer.contains("The user made the following updates to your content") || answer.contains("user_edits")
    {
        result.notes.push("the user changed the proposal before it was saved".to_owned());
    }
    let is_write = matches!(tool.as_str(), "write_to_file" | "new_rule" | "newFileCreated");
    if let (true, Some(path), Some(after)) = (is_write, path, final_content(answer)) {
        let before = if is_new { Before::Absent } else { Before::Unknown };
        let content = ChangeContent::Texts { before, after: after.to_owned() };
        result.changes.push(FileChange { operation: result.operation, ..FileChange::new(path, content) });
    }
    result
}

/// Returns the beginning of an answer.
fn beginning(answer: &str) -> &str {
    let end = (0..=TELLING_BYTES.min(answer.len())).rev().find(|&end| answer.is_char_boundary(end));
    &answer[..end.unwrap_or_default()]
}

/// Returns the exit status of a command, as answers have it.
fn exit_code(answer: &str) -> Option<i64> {
    #[derive(Deserialize)]
    struct Output {
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    struct Metadata {
        exit_code: i64,
    }
    serde_json::from_str::<Output>(answer).ok().map(|output| output.metadata.exit_code)
}

/// Returns the file's text after the call, where the answer has it.
fn final_content(answer: &str) -> Option<&str> {
    let (_, rest) = answer.split_once("<final_file_content path=\"")?;
    let (_, rest) = rest.split_once("\">\n")?;
    let end = rest.rfind("</final_file_content>")?;
    // The text is written between two line breaks of its own.
    Some(rest[..end].strip_suffix('\n').unwrap_or(&rest[..end]))
}

/// Leaves a file's text out of an answer.
fn without_files(answer: &str) -> String {
    let mut text = answer.to_owned();
    for tag in ["final_file_content", "file_content"] {
        if let (Some(start), Some(end)) = (text.find(&format!("<{tag} ")), text.rfind(&format!("</{tag}>")))
            && start < end
        {
            text.replace_range(start..end + tag.len() + 3, "...");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::event::Place;

    fn check(answer: &str, is_error: Option<bool>, wanted: CardStatus) {
        let result = CallResult::new("c".to_owned(), Place::default(), CardStatus::Unknown);
        let open = Open { tool: "write_to_file".to_owned(), path: Some("a".to_owned()), ..Open::default() };
        let result = told(result, open, is_error, answer);
        assert_eq!(result.status, wanted, "{answer}");
    }

    #[test]
    fn words_tell_what_became_of_a_call() {
        check("The content was successfully saved to a.\n", None, CardStatus::Applied);
        check("[write_to_file for 'a'] Result:\nThe user denied this operation.", None, CardStatus::Rejected);
        check(
            "The tool execution failed with the following error:\n<error>no</error>",
            None,
            CardStatus::Failed,
        );
        check(
            "<file_write_result>\n<path>a</path>\n<operation>created</operation>",
            None,
            CardStatus::Applied,
        );
        check("But unable to apply all diff parts to file: a", None, CardStatus::Partial);
        check("Error: successfully nothing", None, CardStatus::Failed);
        check("{\"output\":\"ok\",\"metadata\":{\"exit_code\":1}}", None, CardStatus::Failed);
        check("anything", Some(false), CardStatus::Applied);
        check("successfully", Some(true), CardStatus::Failed);
        check("anything", None, CardStatus::Unknown);
        check("", None, CardStatus::Unknown);
        // What stands far behind is a file's.
        check(
            &format!("{}The user denied this operation", "x".repeat(TELLING_BYTES)),
            None,
            CardStatus::Unknown,
        );
    }

    #[test]
    fn an_answer_goes_from_its_heading_to_the_next() {
        let said = "[read_file for 'a'] Result:\none\n[x] not\n[write_to_file for 'b c'] Result:\n\ntwo\n<environment_details>\n";
        let found = |tool: &str, path: Option<&str>| find(said, tool, path).map(|range| &said[range]);
        assert_eq!(found("read_file", Some("a")), Some("\none\n[x] not\n"));
        assert_eq!(found("write_to_file", Some("b c")), Some("\n\ntwo\n"));
        assert_eq!(found("write_to_file", Some("./b c")), Some("\n\ntwo\n"));
        assert_eq!(found("apply_diff", Some("a")), None);
    }

    #[test]
    fn the_saved_text_is_taken_whole() {
        let answer = "successfully saved\n<final_file_content path=\"a\">\nx\n</final_file_content>\n\n</final_file_content>\n\nmore";
        assert_eq!(final_content(answer), Some("x\n</final_file_content>\n"));
        assert_eq!(without_files(answer), "successfully saved\n...\n\nmore");
    }
}
