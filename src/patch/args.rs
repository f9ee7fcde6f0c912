//! Tool arguments of edit and write calls as JSON: the one table of spellings.
//!
//! Read whole: an object that names a path and either `old`/`new` texts, a list of them, or the new content. The keys
//! of other agents' tools are understood; keys that are not known are ignored, as those tools do.

use serde_json::Map;
use serde_json::Value;

use crate::report::Code;
use crate::report::Problem;
use crate::text::PathText;

use super::Body;
use super::Content;
use super::Existing;
use super::FileEdit;
use super::Hunk;
use super::PatchEvent;
use super::Replace;
use super::ReplaceCount;
use super::event::FileKind;
use super::parser::Dialect;
use super::parser::Parser;

const PATH: &[&str] = &["file_path", "filePath", "path", "absolute_path", "filename", "target_file"];
const OLD: &[&str] = &["old_string", "oldString", "old_text", "oldText", "old_str"];
const NEW: &[&str] = &["new_string", "newString", "new_text", "newText", "new_str"];
const ALL: &[&str] = &["replace_all", "replaceAll", "allow_multiple"];
const COUNT: &[&str] = &["expected_replacements", "expectedReplacements"];
const CONTENT: &[&str] = &["content", "file_text", "contents"];
const EDITS: &[&str] = &["edits"];
const PATCH: &[&str] = &["input", "patch", "patch_text", "patchText", "diff"];

/// The longest arguments that are taken, in bytes.
pub const ARGS_CAP_BYTES: usize = 256 << 20;

/// Reads the arguments of a tool call in pieces of any size; how they are cut never changes the events.
///
/// Nothing is said before the arguments are whole.
#[derive(Debug)]
pub struct Args {
    tool: String,
    held: Vec<u8>,
    failed: bool,
}

impl Args {
    /// Returns a reader for the arguments of that tool.
    pub fn new(tool: &str) -> Self {
        Args { tool: tool.to_ascii_lowercase(), held: Vec::new(), failed: false }
    }

    /// Takes a piece of the arguments.
    pub fn push(&mut self, chunk: &[u8], say: &mut dyn FnMut(PatchEvent<'_>)) {
        if self.failed {
            return;
        }
        if self.held.len() + chunk.len() > ARGS_CAP_BYTES {
            self.failed = true;
            self.held = Vec::new();
            say(malformed(format!("the arguments are longer than {ARGS_CAP_BYTES} bytes")));
            return;
        }
        self.held.extend_from_slice(chunk);
    }

    /// Ends the arguments.
    pub fn finish(&mut self, say: &mut dyn FnMut(PatchEvent<'_>)) {
        if self.failed {
            return;
        }
        self.failed = true;
        let held = std::mem::take(&mut self.held);
        if let Err(error) = self.read(&held, say) {
            say(malformed(error.to_string()));
        }
    }

    fn read(&self, held: &[u8], say: &mut dyn FnMut(PatchEvent<'_>)) -> Result<(), ArgsError> {
        let object = object(held)?;
        if self.tool.contains("patch") {
            let patch = text(&object, PATCH)?;
            let mut parser = Parser::new(Dialect::default());
            parser.push(patch.as_bytes(), say);
            parser.finish(say);
            return Ok(());
        }
        match object.get("command").and_then(Value::as_str) {
            Some("view") => return Ok(()),
            Some("create") => say_edit(write(held)?, say),
            Some(_) => say_edit(edit(held)?, say),
            None if find(&object, CONTENT).is_some() => say_edit(write(held)?, say),
            None => say_edit(edit(held)?, say),
        }
        Ok(())
    }
}

fn malformed(message: String) -> PatchEvent<'static> {
    PatchEvent::Malformed(Box::new(Problem::new(Code::Malformed, message)))
}

fn say_edit(edit: FileEdit, say: &mut dyn FnMut(PatchEvent<'_>)) {
    let kind = match &edit.body {
        Body::Content(content) if content.existing == Existing::Refuse => FileKind::Create,
        Body::Content(_) => FileKind::Write,
        Body::Hunks(_) => FileKind::Update,
        Body::Delete => FileKind::Delete,
    };
    say(PatchEvent::FileOpened { path: edit.path, kind, line_number: 0 });
    match edit.body {
        Body::Content(content) => say(PatchEvent::Bytes { bytes: &content.bytes }),
        Body::Hunks(hunks) => {
            for hunk in hunks {
                let Hunk::Replace(replace) = hunk else { continue };
                say(PatchEvent::ReplaceOpened);
                say(PatchEvent::Count { count: replace.count });
                say(PatchEvent::Old { text: &replace.old });
                say(PatchEvent::OldDone);
                say(PatchEvent::New { text: &replace.new });
                say(PatchEvent::HunkClosed);
            }
        }
        Body::Delete => {}
    }
    say(PatchEvent::FileClosed);
}

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
                Hunk::Lines(_) => panic!("a hunk of lines"),
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
