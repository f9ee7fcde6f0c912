//! What became of a call, and what it changed, as the event of its end tells.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::report::CardStatus;
use crate::report::Operation;
use crate::session::event::Before;
use crate::session::event::ChangeContent;
use crate::session::event::FileChange;

use super::super::Text;
use super::super::lenient;
use super::super::text;
use super::located;

/// What the end of a call tells.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ended {
    pub status: CardStatus,
    pub message: Option<String>,
    pub change: Option<FileChange>,
}

/// What a success tells. Fields of which only the right shape counts stay raw.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Success<'a> {
    #[serde(borrow)]
    path: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    diff_string: Option<&'a RawValue>,
    #[serde(borrow)]
    before_full_file_content: Option<&'a RawValue>,
    #[serde(borrow)]
    after_full_file_content: Option<&'a RawValue>,
    #[serde(borrow)]
    prev_content: Option<&'a RawValue>,
    #[serde(borrow)]
    exit_code: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Trouble<'a> {
    #[serde(borrow)]
    reason: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    is_readonly: Option<&'a RawValue>,
}

/// Reads a result; `path` is what the call names.
pub(super) fn ended(tool: &str, path: Option<&str>, result: Option<&RawValue>) -> Ended {
    let unknown = Ended { status: CardStatus::Unknown, message: None, change: None };
    let Some(result) = result else { return unknown };
    if let Some(text) = lenient::<String>(Some(result)) {
        return Ended { message: Some(text), ..unknown };
    }
    let Some(kinds) = lenient::<BTreeMap<Text<'_>, &RawValue>>(Some(result)) else { return unknown };
    if let Some(success) = kinds.get("success") {
        let Some(success) = lenient::<Success<'_>>(Some(success)) else {
            return Ended { status: CardStatus::Applied, ..unknown };
        };
        let is_failed = lenient::<i64>(success.exit_code).is_some_and(|code| code != 0);
        let status = if is_failed { CardStatus::Failed } else { CardStatus::Applied };
        let change = success.change(tool, path).filter(|_| !is_failed);
        return Ended { status, message: text(success.message), change };
    }
    // Kinds of trouble have names; beside them stands at most a flag.
    let trouble = kinds.iter().find_map(|(kind, raw)| Some((kind, lenient::<Trouble<'_>>(Some(raw))?)));
    let Some((kind, trouble)) = trouble else {
        let message = kinds.get("error").and_then(|error| lenient(Some(error)));
        let status = if message.is_some() { CardStatus::Failed } else { CardStatus::Unknown };
        return Ended { status, message, change: None };
    };
    let is_refused = kind.contains("reject")
        || kind.contains("ermissionDenied") && !lenient(trouble.is_readonly).unwrap_or(false);
    let said = text(trouble.reason).or_else(|| text(trouble.error)).or_else(|| text(trouble.message));
    Ended {
        status: if is_refused { CardStatus::Rejected } else { CardStatus::Failed },
        message: said.filter(|said| !said.is_empty()).or_else(|| Some(kind.to_string())),
        change: None,
    }
}

impl Success<'_> {
    fn change(&self, tool: &str, path: Option<&str>) -> Option<FileChange> {
        let path = text(self.path).or_else(|| path.map(str::to_owned))?;
        if let Some(before) = text(self.prev_content) {
            let content = ChangeContent::Texts { before: Before::Text(before), after: String::new() };
            return Some(FileChange { operation: Some(Operation::Delete), ..FileChange::new(path, content) });
        }
        // What other tools call so is something else.
        if tool == "read" {
            return None;
        }
        let after = text(self.after_full_file_content);
        let diff = text(self.diff_string).filter(|diff| !diff.is_empty());
        let before = text(self.before_full_file_content);
        let is_new = before.as_deref().unwrap_or_default().is_empty()
            && after
                .as_deref()
                .is_some_and(|after| diff.as_deref().is_some_and(|diff| is_all_of(diff, after)));
        let content = match (after, before, diff) {
            (Some(after), _, _) if is_new => ChangeContent::Texts { before: Before::Absent, after },
            (Some(after), Some(before), _) => ChangeContent::Texts { before: Before::Text(before), after },
            (_, _, Some(diff)) if diff.contains("@@ -") => ChangeContent::Unified(diff),
            (after, _, Some(diff)) => ChangeContent::Hunks(located::hunks(&diff, after.as_deref())),
            (Some(after), None, None) => ChangeContent::Texts { before: Before::Unknown, after },
            (None, _, None) => return None,
        };
        let operation = is_new.then_some(Operation::Create);
        Some(FileChange { operation, ..FileChange::new(path, content) })
    }
}

/// Tells whether a diff adds all lines of the text after, and removes at most the one empty line that a file without
/// content is taken to have.
fn is_all_of(diff: &str, after: &str) -> bool {
    let lines: Vec<&str> = diff.split('\n').collect();
    let added: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix('+')).collect();
    let is_empty_before = lines
        .iter()
        .all(|line| line.starts_with('+') || *line == "-" || line.is_empty() || line.starts_with('\\'));
    let removed = lines.iter().filter(|line| **line == "-").count();
    let added = added.join("\n");
    is_empty_before
        && removed <= 1
        && after.strip_prefix(added.as_str()).is_some_and(|rest| rest.is_empty() || rest == "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::event::LoggedHunk;

    fn of(result: &str) -> Ended {
        let raw: Box<RawValue> = serde_json::from_str(result).unwrap();
        ended("edit", Some("/w/a"), Some(&raw))
    }

    #[test]
    fn kinds_of_trouble_are_told_apart() {
        let check = |result: &str, status, message: Option<&str>| {
            let ended = of(result);
            assert_eq!((ended.status, ended.message.as_deref()), (status, message), "{result}");
            assert_eq!(ended.change, None, "{result}");
        };
        check(r#"{"rejected":{"path":"a","reason":"not now"}}"#, CardStatus::Rejected, Some("not now"));
        check(r#"{"rejected":{"reason":""}}"#, CardStatus::Rejected, Some("rejected"));
        check(r#"{"error":{"path":"a","error":"no match"}}"#, CardStatus::Failed, Some("no match"));
        check(r#"{"error":"no match"}"#, CardStatus::Failed, Some("no match"));
        let denied =
            |flag: &str| format!(r#"{{"writePermissionDenied":{{"error":"blocked","isReadonly":{flag}}}}}"#);
        check(&denied("false"), CardStatus::Rejected, Some("blocked"));
        check(&denied("true"), CardStatus::Failed, Some("blocked"));
        check(r#"{"fileNotFound":{"path":"a"}}"#, CardStatus::Failed, Some("fileNotFound"));
        check(r#"{"success":{"exitCode":1}}"#, CardStatus::Failed, None);
        check(r#"{}"#, CardStatus::Unknown, None);
        check(r#""text""#, CardStatus::Unknown, Some("text"));
    }

    #[test]
    fn records_of_a_change_are_taken_in_the_order_of_their_worth() {
        let check = |success: &str, operation, content| {
            let change = of(&format!(r#"{{"success":{{{success}}}}}"#)).change.expect(success);
            let wanted = FileChange { operation, ..FileChange::new("/w/a".to_owned(), content) };
            assert_eq!(change, wanted, "{success}");
        };
        let texts = |before, after: &str| ChangeContent::Texts { before, after: after.to_owned() };
        let hunk = |start, lines: &[&str]| {
            let lines = lines.iter().map(|line| (*line).to_owned()).collect();
            ChangeContent::Hunks(vec![LoggedHunk { old_start: start, new_start: start, lines }])
        };
        check(
            r#""diffString":"-a\n+b","beforeFullFileContent":"a\n","afterFullFileContent":"b\n""#,
            None,
            texts(Before::Text("a\n".to_owned()), "b\n"),
        );
        check(r#""diffString":"-a\n+b","afterFullFileContent":"x\nb\n""#, None, hunk(Some(2), &["-a", "+b"]));
        check(r#""diffString":"-a\n+b""#, None, hunk(None, &["-a", "+b"]));
        let unified = "@@ -1 +1 @@\n-a\n+b\n";
        check(
            r#""diffString":"@@ -1 +1 @@\n-a\n+b\n","afterFullFileContent":"b\n""#,
            None,
            ChangeContent::Unified(unified.to_owned()),
        );
        // A file without content is taken to have an empty line.
        let create = Some(Operation::Create);
        check(r#""diffString":"-\n+b","afterFullFileContent":"b""#, create, texts(Before::Absent, "b"));
        check(r#""diffString":"+b\n+","afterFullFileContent":"b\n""#, create, texts(Before::Absent, "b\n"));
        check(r#""afterFullFileContent":"b""#, None, texts(Before::Unknown, "b"));
        let deleted = texts(Before::Text("a".to_owned()), "");
        check(r#""prevContent":"a""#, Some(Operation::Delete), deleted);
    }
}
