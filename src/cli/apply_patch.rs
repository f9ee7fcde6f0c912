//! The name `apply_patch`: a drop-in for Codex's command line, without its data losses.
//!
//! The patch is the one argument, or comes on standard input. Codex's success and failure lines; 0, 1 for every
//! failure, 2 for usage. First match wins, Add and Move overwrite, lines that are added with nothing that tells where
//! go to the end, a missing final newline is added. A failing patch changes nothing, and nothing leads out of the
//! current folder.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::patch::Body;
use crate::patch::Dialect;
use crate::patch::FileEdit;
use crate::patch::parse;
use crate::plan::Options;
use crate::render::escape::Charset;
use crate::render::escape::Place;
use crate::render::escape::escape;
use crate::render::links::LinkFormat;
use crate::report::CommandName;
use crate::report::Problem;

use super::args::ChangeArgs;
use super::args::ColorWhen;
use super::args::Globals;
use super::args::SyntaxWhen;
use super::args::When;
use super::change;
use super::change::Request;
use super::change::Showing;
use super::exit::Exit;
use super::session_log::Turn;
use super::streams;
use super::streams::read_input;
use super::streams::stdin_is_terminal;
use super::streams::to_stderr;

const USAGE: &str = "Usage: apply_patch 'PATCH'\n       echo 'PATCH' | apply_patch\n";

/// Runs under the name; `arguments` are without the program's own name.
pub fn run(arguments: &[OsString]) -> Exit {
    let input = match arguments {
        [patch] => patch.as_bytes().to_vec(),
        [] if stdin_is_terminal() => return usage(),
        [] => match read_input(None, "patch") {
            Ok(bytes) if bytes.is_empty() => return usage(),
            Ok(bytes) => bytes,
            Err(fail) => return failed(&fail.to_string()),
        },
        _ => return usage(),
    };
    let parsed = parse(&input, Dialect::ApplyPatch);
    if let Some(problem) = parsed.malformed {
        return failed(&invalid(&problem));
    }
    if parsed.patch.edits.is_empty() {
        return failed("No files were modified.");
    }
    let options = Options {
        takes_first: true,
        overwrites: true,
        appends: true,
        adds_final_newline: true,
        ..Options::default()
    };
    let request = Request {
        command: CommandName::Apply,
        tool: None,
        edits: &parsed.patch.edits,
        options,
        refused: None,
        arguments: &String::new,
        turn: &Turn::default(),
    };
    match change::carry_out(&request, &change_args(), &globals(), Showing::Otherwise) {
        Ok(changed) => match &changed.outcome.error {
            Some(error) => failed(&change::model_text(error)),
            None => succeeded(&parsed.patch.edits),
        },
        Err(fail) => failed(&fail.to_string()),
    }
}

fn globals() -> Globals {
    Globals {
        root: PathBuf::from("."),
        color: ColorWhen::Never,
        theme: Vec::new(),
        no_pager: true,
        hyperlinks: When::Never,
        hyperlink_format: LinkFormat::default(),
        syntax: SyntaxWhen::Never,
        full: false,
        json: false,
        quiet: false,
    }
}

fn change_args() -> ChangeArgs {
    ChangeArgs {
        check: false,
        log: None,
        call_id: None,
        // Codex writes with the permissions of whoever runs it, and root needs no write bit.
        force: rustix::process::geteuid().is_root(),
        in_place: false,
        no_sync: false,
        max_text: usize::MAX,
        encoding: None,
        allow_git_dir: false,
    }
}

fn usage() -> Exit {
    to_stderr(|out| out.write_all(USAGE.as_bytes()));
    Exit::Trouble
}

fn invalid(problem: &Problem) -> String {
    let hint = problem.hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    match problem.line {
        Some(line) => format!("Invalid patch hunk on line {line}: {}{hint}", problem.message),
        None => format!("Invalid patch: {}{hint}", problem.message),
    }
}

fn failed(message: &str) -> Exit {
    let safe: Vec<String> = message.lines().map(|line| escape(line, Place::Line, Charset::Unicode)).collect();
    to_stderr(|out| writeln!(out, "{}", safe.join("\n")));
    Exit::Refused
}

/// Prints Codex's lines: added, modified and deleted paths, grouped in that order, as the patch spells them.
fn succeeded(edits: &[FileEdit]) -> Exit {
    let mut lines = String::from("Success. Updated the following files:\n");
    for letter in ['A', 'M', 'D'] {
        for edit in edits {
            let (own, path) = match (&edit.body, &edit.move_to) {
                (Body::Content(_), _) => ('A', &edit.path),
                (Body::Delete(_), _) => ('D', &edit.path),
                (Body::Hunks(_), Some(target)) => ('M', target),
                (Body::Hunks(_), None) => ('M', &edit.path),
            };
            if own == letter {
                let shown = path.shown();
                let shown = escape(&shown, Place::Name, Charset::Unicode);
                lines.push_str(&format!("{letter} {shown}\n"));
            }
        }
    }
    let _ = streams::try_print(|out| out.write_all(lines.as_bytes()));
    Exit::Done
}
