//! What became of a call, and why, by what the model was told.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::report::CardStatus;

use super::super::Text;
use super::super::lenient;

/// The tags around an error of a tool.
const ERROR_TAGS: (&str, &str) = ("<tool_use_error>", "</tool_use_error>");

/// What stands beside the answer to a call that the user refused.
const REFUSED_BESIDE: &str = "User rejected tool use";

/// How the answer to a call begins that was not allowed, in versions without a key for that.
const REFUSALS: [&str; 9] = [
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "[Request interrupted by user",
    REFUSED_BESIDE,
    "Permission to use ",
    "Permission for this action ",
    "Claude requested permissions to ",
    "PreToolUse:",
    "Hook PreToolUse:",
];

/// What the answer to a call has in it that a hook or a rule did not allow.
const REFUSALS_INSIDE: [&str; 3] =
    ["operation blocked by hook", "denied by your permission settings", "stopped by PreToolUse hook"];

/// What stands before the words of a user who refused.
const REASONS: [&str; 2] = ["the user said:", "The user provided the following reason for the rejection:"];

/// What became of a call, and what was said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outcome {
    pub status: CardStatus,
    pub message: Option<String>,
}

impl Outcome {
    /// Reads a result: which refusal it says to be, whether it is an error, its content, and what stands beside it.
    pub(super) fn of(
        denial: Option<&RawValue>,
        is_error: Option<&RawValue>,
        content: Option<&RawValue>,
        beside: Option<&RawValue>,
    ) -> Self {
        let beside: Option<String> =
            beside.filter(|raw| raw.get().starts_with('"')).and_then(|raw| lenient(Some(raw)));
        let text = text_of(content).filter(|text| !text.trim().is_empty()).or_else(|| beside.clone());
        let text = text.as_deref().map(str::trim);
        let bare = text.map(without_tags);
        let is_refused_beside = beside.as_deref() == Some(REFUSED_BESIDE);
        // Some versions mark no errors.
        let is_failed = lenient(is_error).unwrap_or_else(|| {
            is_refused_beside
                || bare != text
                || beside.as_deref().is_some_and(|told| told.starts_with("Error: "))
        });
        let is_refused = match lenient::<Text<'_>>(denial).as_deref() {
            // Another call of the same message failed, so this one was not tried.
            Some("cancelled") => false,
            Some(_) => true,
            None => is_refused_beside || bare.is_some_and(is_refusal),
        };
        let (status, message) = match (is_failed, is_refused) {
            (false, _) => (CardStatus::Applied, bare),
            (true, false) => (CardStatus::Failed, bare),
            (true, true) => (CardStatus::Rejected, bare.map(|text| reason_in(text).unwrap_or(text))),
        };
        Outcome { status, message: message.map(str::to_owned) }
    }
}

#[derive(Deserialize)]
struct TextBlock {
    text: Option<String>,
}

/// Returns a text, or those of text blocks.
pub(super) fn text_of(content: Option<&RawValue>) -> Option<String> {
    if let Some(text) = lenient(content) {
        return Some(text);
    }
    let blocks: Vec<&RawValue> = lenient(content)?;
    let texts = blocks.into_iter().filter_map(|block| lenient::<TextBlock>(Some(block))?.text);
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn without_tags(text: &str) -> &str {
    let inner = text.strip_prefix(ERROR_TAGS.0).unwrap_or(text);
    inner.strip_suffix(ERROR_TAGS.1).unwrap_or(inner).trim()
}

fn is_refusal(text: &str) -> bool {
    let text = text.strip_prefix("Error: ").unwrap_or(text);
    REFUSALS.iter().any(|start| text.starts_with(start))
        || REFUSALS_INSIDE.iter().any(|part| text.contains(part))
}

/// Returns what the user said to a refusal.
fn reason_in(text: &str) -> Option<&str> {
    let after = |mark: &&str| text.split_once(*mark).map(|(_, reason)| reason.trim());
    REASONS.iter().find_map(after).filter(|reason| !reason.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(is_error: &str, content: &str, beside: &str, denial: &str) -> Outcome {
        let raw = |json: &str| serde_json::from_str::<Option<Box<RawValue>>>(json).unwrap();
        let (is_error, content, beside, denial) = (raw(is_error), raw(content), raw(beside), raw(denial));
        Outcome::of(denial.as_deref(), is_error.as_deref(), content.as_deref(), beside.as_deref())
    }

    #[test]
    fn outcomes_are_told_apart() {
        let check = |content: &str, beside: &str, denial: &str, status, message: &str| {
            let wanted = Outcome { status, message: Some(message.to_owned()) };
            assert_eq!(outcome("true", content, beside, denial), wanted, "{content} {beside} {denial}");
        };
        let (failed, rejected) = (CardStatus::Failed, CardStatus::Rejected);
        let told = |content: &str, status, message: &str| check(content, "null", "null", status, message);
        told(r#""<tool_use_error>no such text</tool_use_error>""#, failed, "no such text");
        told(r#"[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]"#, failed, "a\nb");
        told(r#""Error: PreToolUse:Edit hook error: no""#, rejected, "Error: PreToolUse:Edit hook error: no");
        told(
            r#""Write operation blocked by hook:\n- no""#,
            rejected,
            "Write operation blocked by hook:\n- no",
        );
        told(
            r#""<tool_use_error>File is in a directory that is denied by your permission settings.</tool_use_error>""#,
            rejected,
            "File is in a directory that is denied by your permission settings.",
        );
        told(
            r#""The user doesn't want to proceed with this tool use. How, the user said:\n  not like this ""#,
            rejected,
            "not like this",
        );
        check(r#""""#, r#""Error: told beside""#, "null", failed, "Error: told beside");
        check(r#""x""#, r#""User rejected tool use""#, "null", rejected, "x");
        check(r#""x""#, "null", r#""user-rejected""#, rejected, "x");
        check(r#""x""#, "null", r#""a-kind-of-the-future""#, rejected, "x");
        check(r#""x""#, "null", r#""cancelled""#, failed, "x");
    }

    #[test]
    fn versions_that_mark_no_errors_are_understood() {
        let check = |content: &str, beside: &str, status| {
            assert_eq!(outcome("null", content, beside, "null").status, status, "{content} {beside}");
        };
        check(r#""done""#, "null", CardStatus::Applied);
        check(r#""done""#, r#""done""#, CardStatus::Applied);
        check(r#""done""#, r#"{"filePath":"f"}"#, CardStatus::Applied);
        check(r#""<tool_use_error>x</tool_use_error>""#, "null", CardStatus::Failed);
        check(r#""x""#, r#""Error: x""#, CardStatus::Failed);
        check(r#""x""#, r#""User rejected tool use""#, CardStatus::Rejected);
        assert_eq!(outcome("false", r#""<tool_use_error>""#, "null", "null").status, CardStatus::Applied);
    }
}
