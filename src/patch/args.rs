//! Tool arguments of edit and write calls as JSON: the one table of spellings.
//!
//! Read whole: an object that names a path and either `old`/`new` texts, a list of them, or the new content. The keys
//! of other agents' tools are understood; keys that are not known are ignored, as those tools do.

use serde_json::Map;
use serde_json::Value;

use crate::text::PathText;

use super::Body;
use super::Content;
use super::Existing;
use super::FileEdit;
use super::Hunk;
use super::Replace;
use super::ReplaceCount;

const PATH: &[&str] = &["file_path", "filePath", "path", "absolute_path", "filename", "target_file"];
const OLD: &[&str] = &["old_string", "oldString", "old_text", "oldText", "old_str"];
const NEW: &[&str] = &["new_string", "newString", "new_text", "newText", "new_str"];
const ALL: &[&str] = &["replace_all", "replaceAll", "allow_multiple"];
const COUNT: &[&str] = &["expected_replacements", "expectedReplacements"];
const CONTENT: &[&str] = &["content", "file_text", "contents"];
const EDITS: &[&str] = &["edits"];

/// What is wrong with tool arguments.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgsError {
    /// The text is no JSON.
    #[error("the arguments are not valid JSON: {0}")]
    Json(String),
    /// The text is JSON, but no object.
    #[error("the arguments are not a JSON object")]
    NotAnObject,
    /// A key that is needed is not there.
    #[error("the arguments lack '{0}'")]
    Missing(&'static str),
    /// A value has the wrong type.
    #[error("'{key}' in the arguments is not {expected}")]
    Type {
        /// The key as it was written.
        key: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A list of edits is empty.
    #[error("'edits' in the arguments is empty")]
    NoEdits,
}

/// Reads the arguments of an edit call: one file edit. An empty old text creates a missing file.
///
/// # Errors
/// [`ArgsError`].
pub fn edit(arguments: &[u8]) -> Result<FileEdit, ArgsError> {
    let object = object(arguments)?;
    let path = path(&object)?;
    if let Some((key, value)) = find(&object, EDITS) {
        let list = edits_list(key, value)?;
        let hunks =
            list.iter().map(|entry| replace(entry).map(Hunk::Replace)).collect::<Result<Vec<_>, _>>()?;
        return Ok(file_edit(path, Body::Hunks(hunks)));
    }
    let request = replace(&object)?;
    let body = if request.old.is_empty() {
        Body::Content(Content { bytes: request.new, existing: Existing::Refuse, keep_style: false })
    } else {
        Body::Hunks(vec![Hunk::Replace(request)])
    };
    Ok(file_edit(path, body))
}

/// Reads the arguments of a write call.
///
/// # Errors
/// [`ArgsError`].
pub fn write(arguments: &[u8]) -> Result<FileEdit, ArgsError> {
    let object = object(arguments)?;
    let bytes = text(&object, CONTENT)?.into_bytes();
    let content = Content { bytes, existing: Existing::Replace, keep_style: false };
    Ok(file_edit(path(&object)?, Body::Content(content)))
}

/// Returns a file edit that comes from no patch text.
pub fn file_edit(path: PathText, body: Body) -> FileEdit {
    FileEdit {
        path,
        move_to: None,
        is_copy: false,
        mode: None,
        mode_before: None,
        body,
        line_number: 0,
        expect_sha256: None,
        complete: true,
    }
}

fn object(arguments: &[u8]) -> Result<Map<String, Value>, ArgsError> {
    match serde_json::from_slice(arguments) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(ArgsError::NotAnObject),
        Err(error) => Err(ArgsError::Json(error.to_string())),
    }
}

fn find<'a>(object: &'a Map<String, Value>, spellings: &[&str]) -> Option<(&'a str, &'a Value)> {
    spellings.iter().find_map(|key| object.get_key_value(*key)).map(|(key, value)| (key.as_str(), value))
}

fn text(object: &Map<String, Value>, spellings: &[&'static str]) -> Result<String, ArgsError> {
    match find(object, spellings) {
        Some((_, Value::String(text))) => Ok(text.clone()),
        Some((key, _)) => Err(ArgsError::Type { key: key.to_owned(), expected: "a string" }),
        None => Err(ArgsError::Missing(spellings[0])),
    }
}

fn path(object: &Map<String, Value>) -> Result<PathText, ArgsError> {
    text(object, PATH).map(|path| PathText::from(path.as_str()))
}

/// A list of edits; some models send it as a string of JSON.
fn edits_list(key: &str, value: &Value) -> Result<Vec<Map<String, Value>>, ArgsError> {
    let wrong = || ArgsError::Type { key: key.to_owned(), expected: "a list of objects" };
    let parsed;
    let list = match value {
        Value::String(text) => {
            parsed =
                serde_json::from_str::<Value>(text).map_err(|error| ArgsError::Json(error.to_string()))?;
            parsed.as_array()
        }
        other => other.as_array(),
    };
    let list = list.ok_or_else(wrong)?;
    if list.is_empty() {
        return Err(ArgsError::NoEdits);
    }
    list.iter().map(|entry| entry.as_object().cloned().ok_or_else(wrong)).collect()
}

fn replace(object: &Map<String, Value>) -> Result<Replace, ArgsError> {
    let all = match find(object, ALL) {
        None | Some((_, Value::Null | Value::Bool(false))) => false,
        Some((_, Value::Bool(true))) => true,
        Some((key, _)) => return Err(ArgsError::Type { key: key.to_owned(), expected: "true or false" }),
    };
    let count = match find(object, COUNT) {
        None | Some((_, Value::Null)) => None,
        Some((key, value)) => {
            let count = value.as_u64().and_then(|count| usize::try_from(count).ok());
            Some(count.ok_or_else(|| ArgsError::Type { key: key.to_owned(), expected: "a count" })?)
        }
    };
    Ok(Replace {
        old: text(object, OLD)?.into_bytes(),
        new: text(object, NEW)?.into_bytes(),
        count: match (count, all) {
            (Some(count), _) => ReplaceCount::Exactly(count),
            (None, true) => ReplaceCount::All,
            (None, false) => ReplaceCount::One,
        },
        old_is_complete: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaces(arguments: &str) -> Vec<(String, String, ReplaceCount)> {
        let Body::Hunks(hunks) = edit(arguments.as_bytes()).unwrap().body else { panic!("no hunks") };
        let shown = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        hunks
            .into_iter()
            .map(|hunk| match hunk {
                Hunk::Replace(replace) => (shown(replace.old), shown(replace.new), replace.count),
                Hunk::Lines(_) | Hunk::Binary(_) => panic!("no replacement"),
            })
            .collect()
    }

    #[test]
    fn every_spelling_is_read() {
        let one = |count| vec![("a".to_owned(), "b".to_owned(), count)];
        assert_eq!(
            replaces(r#"{"file_path":"f","old_string":"a","new_string":"b"}"#),
            one(ReplaceCount::One)
        );
        assert_eq!(
            replaces(r#"{"filePath":"f","oldString":"a","newString":"b","replaceAll":true}"#),
            one(ReplaceCount::All)
        );
        assert_eq!(
            replaces(r#"{"file_path":"f","old_string":"a","new_string":"b","expected_replacements":2}"#),
            one(ReplaceCount::Exactly(2))
        );
        assert_eq!(
            replaces(r#"{"path":"f","edits":[{"oldText":"a","newText":"b"}]}"#),
            one(ReplaceCount::One)
        );
        assert_eq!(
            replaces(r#"{"path":"f","edits":"[{\"oldText\":\"a\",\"newText\":\"b\"}]"}"#),
            one(ReplaceCount::One)
        );
    }

    #[test]
    fn an_empty_old_text_creates() {
        let made = edit(br#"{"file_path":"f","old_string":"","new_string":"x\n"}"#).unwrap();
        let content = Content { bytes: b"x\n".to_vec(), existing: Existing::Refuse, keep_style: false };
        assert_eq!(made.body, Body::Content(content));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = |text: &str| edit(text.as_bytes()).unwrap_err().to_string();
        assert!(wrong("{\"file_path\":").contains("not valid JSON"));
        assert_eq!(wrong("[]"), "the arguments are not a JSON object");
        assert_eq!(wrong(r#"{"file_path":"f","new_string":"b"}"#), "the arguments lack 'old_string'");
        assert_eq!(wrong(r#"{"old_string":"a","new_string":"b"}"#), "the arguments lack 'file_path'");
        assert_eq!(
            wrong(r#"{"path":1,"old_string":"a","new_string":"b"}"#),
            "'path' in the arguments is not a string"
        );
        assert_eq!(wrong(r#"{"path":"f","edits":[]}"#), "'edits' in the arguments is empty");
    }
}
