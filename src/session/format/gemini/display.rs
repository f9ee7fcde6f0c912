//! What the tools of Gemini CLI, and of what grew from it, say that they changed.
//!
//! ```text
//! display = {"fileDiff","fileName","filePath"?,"originalContent":TEXT|null,"newContent","isNewFile"?,
//!            "diffStat"?:{"user_added_lines","user_removed_lines",...},
//!            "fileDiffTruncated"?,"originalContentTruncated"?,"newContentTruncated"?} | TEXT | others
//! ```
//!
//! The whole texts go before the diff: that is made without regard to white space, so it lacks what changes nothing else,
//! and its headers have only the file's name. Where Qwen Code has cut a text for its log, it says so beside it.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::report::Operation;
use crate::session::event::Before;
use crate::session::event::ChangeContent;
use crate::session::event::FileChange;

use super::super::flag;
use super::super::lenient;
use super::super::text;

/// What a tool changed, and what a reader should know of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Changed {
    pub change: Option<FileChange>,
    pub notes: Vec<String>,
}

/// What a tool shows. Fields of which only the right shape counts stay raw.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Display<'a> {
    #[serde(borrow)]
    file_diff: Option<&'a RawValue>,
    #[serde(borrow)]
    file_name: Option<&'a RawValue>,
    #[serde(borrow)]
    file_path: Option<&'a RawValue>,
    #[serde(borrow)]
    original_content: Option<&'a RawValue>,
    #[serde(borrow)]
    new_content: Option<&'a RawValue>,
    #[serde(borrow)]
    is_new_file: Option<&'a RawValue>,
    #[serde(borrow)]
    diff_stat: Option<&'a RawValue>,
    #[serde(borrow)]
    file_diff_truncated: Option<&'a RawValue>,
    #[serde(borrow)]
    original_content_truncated: Option<&'a RawValue>,
    #[serde(borrow)]
    new_content_truncated: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Stat {
    user_added_lines: Option<u64>,
    user_removed_lines: Option<u64>,
}

/// Returns what a tool shows of the file that it changed; `path` is the call's, and `said` what the model was told.
pub(super) fn changed(display: Option<&RawValue>, path: Option<&str>, said: Option<&str>) -> Changed {
    let Some(display) = lenient::<Display<'_>>(display).filter(|display| display.file_diff.is_some()) else {
        return Changed::default();
    };
    let mut notes = Vec::new();
    let stat: Option<Stat> = lenient(display.diff_stat);
    if stat.is_some_and(|stat| stat.user_added_lines.max(stat.user_removed_lines) > Some(0)) {
        notes.push("changed by the user before it was accepted".to_owned());
    }
    let path =
        text(display.file_path).or_else(|| path.map(str::to_owned)).or_else(|| text(display.file_name));
    let Some(path) = path else { return Changed { change: None, notes } };
    let is_new = display.is_new(said);
    let change = display.content(is_new).map(|content| FileChange {
        operation: is_new.then_some(Operation::Create),
        ..FileChange::new(path, content)
    });
    if change.is_none() {
        notes.push("the log holds the change only in part: it is shown as requested".to_owned());
    }
    Changed { change, notes }
}

/// Returns what was done to the file, as far as what the model was told tells it.
pub(super) fn operation_of(said: Option<&str>) -> Option<Operation> {
    let is_new =
        |said: &str| said.contains("created and wrote to new file") || said.starts_with("Created new file");
    said.filter(|said| is_new(said)).map(|_| Operation::Create)
}

impl Display<'_> {
    /// Tells whether the file was not there before.
    fn is_new(&self, said: Option<&str>) -> bool {
        let is_empty = text(self.original_content).is_none_or(|text| text.is_empty());
        lenient(self.is_new_file).unwrap_or_else(|| {
            is_empty
                && !self.diff().is_some_and(|diff| has_old_lines(&diff))
                && !said.is_some_and(|said| said.contains("overwrote"))
        })
    }

    fn content(&self, is_new: bool) -> Option<ChangeContent> {
        let after = text(self.new_content).filter(|_| !flag(self.new_content_truncated));
        let before = text(self.original_content).filter(|_| !flag(self.original_content_truncated));
        match (after, before) {
            (Some(after), _) if is_new => Some(ChangeContent::Texts { before: Before::Absent, after }),
            (Some(after), Some(before)) => Some(ChangeContent::Texts { before: Before::Text(before), after }),
            _ => self.diff().map(ChangeContent::Unified),
        }
    }

    fn diff(&self) -> Option<String> {
        text(self.file_diff).filter(|diff| !flag(self.file_diff_truncated) && diff.contains("@@ "))
    }
}

/// Tells whether a unified diff shows a line of the text before.
fn has_old_lines(diff: &str) -> bool {
    let hunks = diff.lines().skip_while(|line| !line.starts_with("@@ "));
    hunks.into_iter().any(|line| line.starts_with([' ', '-']))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = r#""fileDiff":"--- a\tCurrent\n+++ a\tProposed\n@@ -1 +1 @@\n-x\n+y\n""#;

    fn of(fields: &str, said: &str) -> Changed {
        let display: &RawValue = &serde_json::from_str::<Box<RawValue>>(&format!("{{{fields}}}")).unwrap();
        changed(Some(display), Some("asked"), Some(said))
    }

    fn check(fields: &str, said: &str, operation: Option<Operation>, content: ChangeContent) {
        let change = of(fields, said).change.expect(fields);
        assert_eq!((change.operation, change.content), (operation, content), "{fields}");
    }

    #[test]
    fn whole_texts_go_before_the_diff() {
        let texts = |before, after: &str| ChangeContent::Texts { before, after: after.to_owned() };
        let before = |text: &str| Before::Text(text.to_owned());
        let both = format!(r#"{DIFF},"originalContent":"x\n","newContent":"y\n""#);
        check(&both, "", None, texts(before("x\n"), "y\n"));
        let create = Some(Operation::Create);
        let added = r#""fileDiff":"@@ -0,0 +1 @@\n+y\n","newContent":"y\n""#;
        check(&format!(r#"{added},"originalContent":null"#), "", create, texts(Before::Absent, "y\n"));
        check(&format!(r#"{added},"originalContent":"""#), "", create, texts(Before::Absent, "y\n"));
        check(
            &format!(r#"{added},"originalContent":"","isNewFile":false"#),
            "",
            None,
            texts(before(""), "y\n"),
        );
        check(&format!(r#"{added},"originalContent":"""#), "overwrote a", None, texts(before(""), "y\n"));
    }

    #[test]
    fn what_was_cut_for_the_log_is_not_drawn() {
        let diff = "--- a\tCurrent\n+++ a\tProposed\n@@ -1 +1 @@\n-x\n+y\n";
        let cut = r#""originalContent":"x[...]","originalContentTruncated":true,"newContent":"y""#;
        check(&format!("{DIFF},{cut}"), "", None, ChangeContent::Unified(diff.to_owned()));
        let all = of(&format!(r#"{DIFF},{cut},"fileDiffTruncated":true"#), "");
        assert_eq!((all.change, all.notes.len()), (None, 1));
        // A text that the log lacks is not one that was not there.
        check(&format!(r#"{DIFF},"newContent":"y\n""#), "", None, ChangeContent::Unified(diff.to_owned()));
    }

    #[test]
    fn paths_and_notes_are_told() {
        let path = |fields: &str| of(&format!("{DIFF},{fields}"), "").change.unwrap().path;
        assert_eq!(path(r#""filePath":"/w/a","fileName":"a""#), "/w/a");
        assert_eq!(path(r#""fileName":"a""#), "asked");
        let notes = |stat: &str| of(&format!(r#"{DIFF},"diffStat":{stat}"#), "").notes.len();
        assert_eq!(notes(r#"{"user_added_lines":1,"user_removed_lines":0}"#), 1);
        assert_eq!(notes(r#"{"user_added_lines":0,"user_removed_lines":0}"#), 0);
        assert_eq!(changed(None, Some("a"), None), Changed::default());
    }
}
