//! What a log tells of the files of one call beside their hunks: whole texts, hashes, and what a file replaced.
//!
//! A card does not show these things. Whoever puts calls together, or takes them back, needs them. Texts that are made of
//! parts of a record are held to its hashes: what they do not name is not told.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::plan::outcome::sha256_hex;
use crate::plan::recorded_splices;
use crate::report::Change;
use crate::report::CrlfLines;
use crate::report::Operation;
use crate::report::RecordFile;
use crate::report::UndoSplice;
use crate::text::Charset;

use super::event::Before;
use super::event::ChangeContent;
use super::event::FileChange;

/// What a log tells of one file of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Told {
    /// The whole file before.
    pub before: Content,
    /// The whole file after.
    pub after: Content,
    /// SHA-256 of the bytes before and after, in hex, where the log has them.
    pub sha256: Change<String>,
    /// Whether there is a byte order mark, where the log says it.
    pub bom: Change<bool>,
    /// Which lines of the hunks end in CRLF, where not all lines of the file end in the same way and the log has it.
    pub crlf: Option<CrlfLines>,
    /// The file that a rename replaced, and its mode.
    pub replaced: Option<(Vec<u8>, String)>,
    /// A symbolic link was moved or deleted as a link.
    pub is_link: bool,
    /// The log is hunkwise's own: it tells of every file whether it was there, and its hunks are exact.
    pub is_record: bool,
}

/// A whole file, as far as a log tells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Content {
    /// The log does not hold it.
    #[default]
    Unknown,
    /// There is no such file.
    Absent,
    /// Its text; a byte order mark is a character of it.
    Text(String),
    /// Its bytes, which are no text.
    Bytes(Vec<u8>),
}

/// Returns what another agent's log tells of a file.
pub fn of_change(change: &FileChange) -> Told {
    let ChangeContent::Texts { before, after } = &change.content else {
        let before = change.before_json.as_deref().and_then(|json| serde_json::from_str(json).ok());
        return Told { before: before.map_or(Content::Unknown, Content::Text), ..Told::default() };
    };
    let before = match before {
        Before::Absent => Content::Absent,
        Before::Unknown => Content::Unknown,
        Before::Text(text) => Content::Text(text.clone()),
    };
    let after = match change.operation {
        Some(Operation::Delete) => Content::Absent,
        _ => Content::Text(after.clone()),
    };
    Told { before, after, ..Told::default() }
}

/// Returns what hunkwise's own record tells of a file; `written` is the text that a write asked for.
pub fn of_record(file: &RecordFile, written: Option<&str>) -> Told {
    let old_encoding = file.encoding_before.as_ref().unwrap_or(&file.encoding);
    let after = match &file.after_sha256 {
        None => Some(Vec::new()),
        Some(sha256) => written.map(|text| text.as_bytes().to_vec()).filter(|bytes| is(bytes, sha256)),
    };
    // Without what is there now, the record may still hold all that was there before.
    let before = match (&file.before_sha256, &after) {
        (Some(sha256), Some(after)) => undone(after, &file.undo).filter(|bytes| is(bytes, sha256)),
        (Some(sha256), None) => match file.undo.as_slice() {
            [UndoSplice { offset: 0, old, .. }] => {
                STANDARD.decode(old).ok().filter(|bytes| is(bytes, sha256))
            }
            _ => None,
        },
        (None, _) => None,
    };
    let is_link = file.link;
    let content = |sha256: &Option<String>, bytes: Option<Vec<u8>>, encoding: &str| match (sha256, bytes) {
        (None, _) => Content::Absent,
        (Some(_), Some(bytes)) if !is_link => read(bytes, encoding),
        (Some(_), _) => Content::Unknown,
    };
    let replaced = file.replaced.as_ref().and_then(|replaced| {
        let bytes = STANDARD.decode(&replaced.content).ok()?;
        is(&bytes, &replaced.sha256).then(|| (bytes, replaced.mode.clone()))
    });
    Told {
        before: content(&file.before_sha256, before, old_encoding),
        after: content(&file.after_sha256, after, &file.encoding),
        sha256: Change { before: file.before_sha256.clone(), after: file.after_sha256.clone() },
        bom: file.bom,
        crlf: file.crlf.clone(),
        replaced,
        is_link,
        is_record: true,
    }
}

/// Returns bytes as text of an encoding, or as bytes.
pub fn read(bytes: Vec<u8>, encoding: &str) -> Content {
    let Some(charset) = Charset::for_label(encoding) else { return Content::Bytes(bytes) };
    let text = if charset == Charset::UTF_8 {
        String::from_utf8(bytes).map_err(std::string::FromUtf8Error::into_bytes)
    } else {
        charset.decode_strictly(&bytes).map(std::borrow::Cow::into_owned).ok_or(bytes)
    };
    match text {
        Ok(text) if text.contains('\0') => Content::Bytes(text.into_bytes()),
        Ok(text) => Content::Text(text),
        Err(bytes) => Content::Bytes(bytes),
    }
}

/// Returns the bytes of a text in an encoding; nothing if that does not have all of it.
pub fn written(text: &str, encoding: &str) -> Option<Vec<u8>> {
    Charset::for_label(encoding)?.encode(text).ok()
}

/// Tells whether bytes are those that a hash names.
pub fn is(bytes: &[u8], sha256: &str) -> bool {
    sha256_hex(bytes) == sha256
}

fn undone(after: &[u8], undo: &[UndoSplice]) -> Option<Vec<u8>> {
    Some(recorded_splices(after.len(), undo)?.apply(after))
}
