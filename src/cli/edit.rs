//! `edit`: an old text and what replaces it, from flags, files or a tool call's arguments.

use std::path::Path;
use std::path::PathBuf;

use serde_json::json;

use crate::patch::Body;
use crate::patch::FileEdit;
use crate::patch::Hunk;
use crate::patch::Replace;
use crate::patch::ReplaceCount;
use crate::patch::args;
use crate::plan::Options;
use crate::report::Code;
use crate::report::CommandName;
use crate::report::Problem;

use super::args::EditArgs;
use super::args::Globals;
use super::change;
use super::change::Request;
use super::exit::Exit;
use super::fail::Fail;
use super::session_log::Turn;
use super::streams::Console;
use super::streams::read_input;
use super::write::path_text;

/// Runs the command.
pub fn run(arguments: &EditArgs, globals: &Globals, console: &Console) -> Result<Exit, Fail> {
    let (mut edit, raw) = match &arguments.args {
        Some(file) => from_json(file)?,
        None => from_flags(arguments)?,
    };
    edit.expect_sha256 = arguments.expect_sha256.map(|hash| hash.0);
    let request = Request {
        command: CommandName::Edit,
        tool: None,
        edits: std::slice::from_ref(&edit),
        options: Options::default(),
        refused: None,
        arguments: &|| raw.clone(),
        turn: &Turn::default(),
    };
    change::run(&request, &arguments.change, globals, console)
}

fn from_json(file: &Path) -> Result<(FileEdit, String), Fail> {
    let bytes = read_input(Some(file), "tool arguments")?;
    let edit = args::edit(&bytes).map_err(|error| {
        let hint = "an edit's arguments are {\"file_path\", \"old_string\", \"new_string\", \"replace_all\"?}, or a list of such \"edits\"";
        Fail::new(Problem::new(Code::Malformed, error.to_string()).with_hint(hint))
    })?;
    Ok((edit, String::from_utf8_lossy(&bytes).into_owned()))
}

fn from_flags(arguments: &EditArgs) -> Result<(FileEdit, String), Fail> {
    let is_stdin = |file: &Option<PathBuf>| file.as_deref() == Some(Path::new("-"));
    if is_stdin(&arguments.old_file) && is_stdin(&arguments.new_file) {
        // The second one would find it read to its end, and the old text would be deleted.
        return Err(Fail::usage("old and new text can't both come from standard input"));
    }
    let old = text(arguments.old.as_deref(), arguments.old_file.as_deref(), "old text")?;
    let new = text(arguments.new.as_deref(), arguments.new_file.as_deref(), "new text")?;
    let path = arguments.path.as_deref().ok_or_else(|| Fail::usage("no path is given"))?;
    if old.is_empty() {
        let problem = Problem::new(Code::Usage, "the old text is empty")
            .with_hint("to make a new file, use 'hunkwise write'");
        return Err(Fail::new(problem.with_path(path.to_string_lossy())));
    }
    let count = match (arguments.expect_count, arguments.replace_all) {
        (Some(count), _) => ReplaceCount::Exactly(count),
        (None, true) => ReplaceCount::All,
        (None, false) => ReplaceCount::One,
    };
    let mut raw = json!({
        "file_path": path.to_string_lossy(),
        "old_string": String::from_utf8_lossy(&old),
        "new_string": String::from_utf8_lossy(&new),
    });
    if count != ReplaceCount::One {
        raw["replace_all"] = true.into();
    }
    let replace = Replace { old, new, count, old_is_complete: true };
    Ok((args::file_edit(path_text(path), Body::Hunks(vec![Hunk::Replace(replace)])), raw.to_string()))
}

fn text(given: Option<&str>, file: Option<&Path>, what: &str) -> Result<Vec<u8>, Fail> {
    match (given, file) {
        (Some(text), _) => Ok(text.as_bytes().to_vec()),
        (None, file) => read_input(file, what),
    }
}
