//! `write`: one file, from standard input or `--content-file`.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::patch::Body;
use crate::patch::Content;
use crate::patch::Existing;
use crate::patch::FileEdit;
use crate::patch::args::file_edit;
use crate::plan::Options;
use crate::report::CommandName;
use crate::text::PathText;

use super::args::Globals;
use super::args::WriteArgs;
use super::change;
use super::change::Request;
use super::exit::Exit;
use super::fail::Fail;
use super::session_log::Turn;
use super::streams::Console;
use super::streams::read_input;

/// Runs the command.
pub fn run(args: &WriteArgs, globals: &Globals, console: &Console) -> Result<Exit, Fail> {
    let bytes = read_input(args.content_file.as_deref(), "content")?;
    let existing = if args.if_absent { Existing::Refuse } else { Existing::Replace };
    let content = Content { bytes, existing, keep_style: args.keep_style };
    let edit = FileEdit {
        expect_sha256: args.expect_sha256.map(|hash| hash.0),
        ..file_edit(path_text(&args.path), Body::Content(content))
    };
    let request = Request {
        command: CommandName::Write,
        tool: None,
        edits: std::slice::from_ref(&edit),
        options: Options::default(),
        refused: None,
        arguments: &|| arguments(&edit),
        turn: &Turn::default(),
    };
    change::run(&request, &args.change, globals, console)
}

/// Returns a path of the command line as its bytes.
pub fn path_text(path: &Path) -> PathText {
    PathText::new(path.as_os_str().as_bytes())
}

fn arguments(edit: &FileEdit) -> String {
    let Body::Content(content) = &edit.body else { return "{}".to_owned() };
    match std::str::from_utf8(&content.bytes) {
        Ok(text) => json!({ "file_path": edit.path.shown(), "content": text }).to_string(),
        Err(_) => json!({ "file_path": edit.path.shown(), "contentBase64": STANDARD.encode(&content.bytes) })
            .to_string(),
    }
}
