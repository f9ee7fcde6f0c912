//! `demo`: the three jobs on built-in input in a temporary folder, each command shown before it runs.

use std::ffi::OsString;
use std::path::Path;

use anyhow::Context;
use clap::Parser;

use crate::disk::input::Scratch;

use super::args::Cli;
use super::args::ColorWhen;
use super::args::Command;
use super::args::Globals;
use super::exit::Exit;
use super::fail::Fail;
use super::preview;
use super::streams::Console;

/// The tree that the demo changes.
const TREE: [(&str, &str); 2] = [
    ("src/cart.py", include_str!("../../demo/tree/src/cart.py")),
    ("docs/notes.txt", include_str!("../../demo/tree/docs/notes.txt")),
];
/// A model's stream of the patch, with its times.
const TAPE: &str = include_str!("../../demo/patch.tape");
/// The same patch as text.
const PATCH: &str = include_str!("../../demo/patch.txt");

/// Runs the command.
pub fn run(globals: &Globals, console: &Console) -> Result<Exit, Fail> {
    let scratch = Scratch::new("hunkwise-demo-").context("cannot make the demo's folder")?;
    for (path, text) in TREE.iter().chain(&[("patch.tape", TAPE), ("patch.txt", PATCH)]) {
        let written = scratch.write(Path::new(path), text.as_bytes());
        written.with_context(|| format!("cannot write {path} into the demo's folder"))?;
    }
    std::env::set_current_dir(scratch.path()).context("cannot enter the demo's folder")?;
    let is_told = !globals.quiet && !globals.json;
    let say = |text: &str| if is_told { console.print(|out| writeln!(out, "{text}")) } else { Ok(()) };
    say(&format!("A model streams a patch for the files in {}.", scratch.path().display()))?;
    say("\n# 1. Before: tentative previews at the stream's own cadence. No file is written.")?;
    let mut exit = step(&["preview", "patch.tape"], globals, console)?;
    for (title, command) in [
        (
            "\n# 2. At: the patch is applied, all of it or nothing, and logged.",
            &["apply", "--log", "session.jsonl", "patch.txt"][..],
        ),
        (
            "\n# 3. After: the same cards out of the log, without touching a file.",
            &["replay", "session.jsonl"],
        ),
    ] {
        if exit != Exit::Done {
            return Ok(exit);
        }
        say(title)?;
        exit = step(command, globals, console)?;
    }
    Ok(exit)
}

/// Shows a command line and runs it; a tape is played with its pauses.
fn step(words: &[&str], globals: &Globals, console: &Console) -> Result<Exit, Fail> {
    if !globals.quiet && !globals.json {
        console.print(|out| writeln!(out, "$ hunkwise {}\n", words.join(" ")))?;
    }
    let color = match globals.color {
        ColorWhen::Auto => "auto",
        ColorWhen::Always => "always",
        ColorWhen::Never => "never",
    };
    let flags: &[&str] = match (globals.json, globals.quiet) {
        (true, _) => &["--json"],
        (false, true) => &["--quiet"],
        (false, false) => &[],
    };
    let arguments: Vec<OsString> =
        ["hunkwise", "--color", color].iter().chain(flags).chain(words).map(OsString::from).collect();
    match Cli::try_parse_from(&arguments).map(|cli| cli.command) {
        Ok(Command::Preview(args)) => preview::play(TAPE.as_bytes(), &args, globals, console, true),
        _ => Ok(super::run(&arguments)),
    }
}
