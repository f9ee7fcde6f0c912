//! What a call asks for, drawn without any result.

use crate::patch::Body;
use crate::patch::Existing;
use crate::patch::FileEdit;
use crate::patch::Hunk;
use crate::patch::Patch;
use crate::patch::ReplaceCount;
use crate::patch::args;
use crate::patch::args::Asked;
use crate::patch::request;
use crate::report::CardFile;
use crate::report::DiffNote;
use crate::report::FileDiff;
use crate::report::Operation;
use crate::report::Recorded;

use super::change::Picture;
use super::change::counts_of;
use super::change::file_named;
use super::change::picture_of;
use super::event::Request;
use super::frame::readable;
use super::pair::UNDO;

/// What a call asks for, before any result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Requested {
    /// The files that it names, and the change as requested: raw text, without line numbers.
    pub picture: Picture,
    /// The whole content that a file shall get is in the diff: only what stood there before is not known.
    pub is_whole_content: bool,
    /// Whether the call edits at all; a tool may have commands that only look.
    pub is_edit: bool,
    /// Count of characters that no string can hold and that became U+FFFD.
    pub replaced: usize,
    /// Why the request can't be shown, or not all of it.
    pub trouble: Option<String>,
}

/// Returns what a call of a tool asks for.
pub fn requested(tool: &str, request: Request<'_>) -> Requested {
    match request {
        Request::Arguments(arguments) => by_arguments(tool, &arguments),
        Request::Patch(text) => of_asked(args::asked_text(text.as_bytes())),
        Request::Changes(changes) => {
            Requested { picture: picture_of(changes), is_edit: true, ..Requested::default() }
        }
    }
}

fn by_arguments(tool: &str, arguments: &str) -> Requested {
    let readable = readable(arguments.as_bytes());
    let requested = match args::asked(tool, readable.text.as_bytes()) {
        Some(asked) => of_asked(asked),
        None => Requested { is_edit: tool == UNDO, ..Requested::default() },
    };
    Requested { replaced: readable.replaced, ..requested }
}

fn of_asked(asked: Asked) -> Requested {
    let Asked { patch, problem } = asked;
    let is_whole_content = patch.edits.iter().all(is_old_unknown) && !patch.edits.is_empty();
    let (mut files, diffs) = of_patch(&patch);
    for (file, edit) in files.iter_mut().zip(&patch.edits) {
        // A write makes or replaces the file: the arguments don't tell which.
        if is_old_unknown(edit) {
            file.operation = Operation::Update;
        }
    }
    let picture = Picture { files, diffs };
    let trouble = problem.map(|problem| problem.message);
    Requested { picture, is_whole_content, is_edit: true, trouble, replaced: 0 }
}

/// Returns the files and the hunks of a patch, as requested.
fn of_patch(patch: &Patch) -> (Vec<CardFile>, Vec<FileDiff>) {
    let mut files = Vec::new();
    let mut diffs = Vec::new();
    for edit in &patch.edits {
        let mut hunks = request::diffs(edit);
        if is_old_unknown(edit) {
            hunks.iter_mut().for_each(|hunk| hunk.notes.push(DiffNote::OldUnknown));
        }
        files.push(file_of(edit, &hunks));
        diffs.extend(hunks);
    }
    (files, diffs)
}

/// Returns the file of an edit with these hunks, as requested.
pub fn file_of(edit: &FileEdit, hunks: &[FileDiff]) -> CardFile {
    let (path, from) = request::paths(edit);
    let is_known = match &edit.body {
        Body::Content(_) => true,
        // Without hunks a delete says nothing of the content, and an update of which only the path is known neither.
        Body::Delete(hunks) => !hunks.is_empty(),
        Body::Hunks(hunks) => !hunks.is_empty() || edit.move_to.is_some() || edit.mode.is_some(),
    };
    let counted = if is_known && !replaces_all(edit) { counts_of(hunks) } else { None };
    CardFile {
        from,
        added: counted.map(|(added, _)| added),
        removed: counted.map(|(_, removed)| removed),
        eol: request::eol(edit),
        mode: request::mode(edit),
        recorded: if is_known { Recorded::Request } else { Recorded::Path },
        ..file_named(&path, request::operation(edit))
    }
}

/// Tells whether an edit says nothing of what stands there before: a content for a file that may be there.
fn is_old_unknown(edit: &FileEdit) -> bool {
    match &edit.body {
        Body::Content(content) => content.existing == Existing::Replace,
        Body::Hunks(_) | Body::Delete(_) => false,
    }
}

fn replaces_all(edit: &FileEdit) -> bool {
    let Body::Hunks(hunks) = &edit.body else { return false };
    hunks.iter().any(|hunk| matches!(hunk, Hunk::Replace(replace) if replace.count != ReplaceCount::One))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn arguments(tool: &str, arguments: &str) -> Requested {
        requested(tool, Request::Arguments(Cow::Borrowed(arguments)))
    }

    #[test]
    fn editor_commands_are_told_apart() {
        let check = |arguments_text: &str, old: Option<&str>, new: &str| {
            let requested = arguments("str_replace_editor", arguments_text);
            let [diff] = requested.picture.diffs.as_slice() else { panic!("{requested:?}") };
            assert_eq!((diff.old_text.as_deref(), diff.new_text.as_str()), (old, new), "{arguments_text}");
        };
        check(r#"{"command":"create","path":"a","file_text":"t"}"#, None, "t");
        check(r#"{"command":"str_replace","path":"a","old_str":"o","new_str":"n"}"#, Some("o"), "n");
        check(r#"{"command":"str_replace","path":"a","old_str":"o"}"#, Some("o"), "");
        check(r#"{"command":"insert","path":"a","insert_line":1,"insert_text":"i"}"#, Some(""), "i");
        assert!(!arguments("str_replace_editor", r#"{"command":"view","path":"a"}"#).is_edit);
        let undo = arguments("str_replace_editor", r#"{"command":"undo_edit","path":"a"}"#);
        assert_eq!((undo.picture.files.len(), undo.picture.files[0].recorded), (1, Recorded::Path));
    }

    #[test]
    fn arguments_of_another_shape_name_no_file() {
        for text in ["7", "[]", "null", "{}", r#"{"file_path":1}"#] {
            assert_eq!(arguments("edit", text).picture, Picture::default(), "{text}");
        }
    }

    #[test]
    fn counts_are_those_of_the_request_where_it_tells() {
        let counts = |text: &str| {
            let requested = arguments("edit", text);
            requested.picture.files.iter().map(|file| (file.added, file.removed)).collect::<Vec<_>>()
        };
        let one = r#"{"file_path":"a","old_string":"x\ny","new_string":"x\nz\nw"}"#;
        assert_eq!(counts(one), [(Some(2), Some(1))]);
        let all = r#"{"file_path":"a","old_string":"x","new_string":"z","replace_all":true}"#;
        assert_eq!(counts(all), [(None, None)]);
        let two = r#"{"path":"a","edits":[{"oldText":"x","newText":"z"},{"oldText":"v","newText":""}]}"#;
        assert_eq!(counts(two), [(Some(1), Some(2))]);
    }
}
