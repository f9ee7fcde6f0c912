//! The command-line tool: arguments, the terminal, the clock, signals, and one thin file per command.

#![expect(
    clippy::disallowed_methods,
    reason = "cli/ is the room that touches the environment, the clock, the standard streams and threads"
)]

mod apply;
mod apply_patch;
mod apply_stream;
mod args;
mod change;
mod demo;
mod diff;
mod edit;
mod environment;
mod exit;
mod fail;
mod feed;
mod filter;
mod generate;
mod hyperlinks;
mod logs;
mod net;
mod ordered;
mod pager;
mod preview;
mod printer;
mod progress;
mod replay;
mod screen;
mod session_log;
mod sessions;
mod sheet;
mod show;
mod state;
mod streams;
mod undo;
mod watch;
mod write;

use std::ffi::OsString;
use std::path::Path;

use clap::ColorChoice;
use clap::CommandFactory;
use clap::FromArgMatches;

use crate::disk::reason;

use args::Cli;
use args::Command;
use args::Globals;
use args::When;
use exit::Exit;
use fail::Fail;
use pager::Pager;
use pager::Running;
use streams::Console;

/// Runs the tool with the arguments of the process; returns the exit status.
pub fn main() -> std::process::ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let name = arguments.first().map(|name| Path::new(name).file_stem().unwrap_or_default().to_owned());
    if name.as_deref() == Some("apply_patch".as_ref()) {
        return apply_patch::run(&arguments[1..]).into();
    }
    run(&arguments).into()
}

/// Runs one command line, the program's name first.
fn run(arguments: &[OsString]) -> Exit {
    let color = environment::color_choice(environment::color_flag(arguments));
    let parsed = Cli::command()
        .color(color)
        .try_get_matches_from(arguments)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return usage(&error, arguments),
    };
    let mut console = Console::new(&cli.globals, base(&cli));
    let pager = Pager::for_run(&cli);
    let running = pager.as_ref().and_then(|pager| page(pager, &cli.globals, &mut console));
    let exit = match dispatch(cli.command, &cli.globals, &console) {
        Ok(exit) => exit,
        Err(fail) => console.fail(&fail),
    };
    if running.is_some_and(|running| !running.finish()) {
        let name = pager.as_ref().map(Pager::name).unwrap_or_default();
        console.note(&format!("the pager '{name}' could not be run; --no-pager does without"));
    }
    exit
}

/// Starts the pager; without it what is printed goes to the terminal as it is.
fn page(pager: &Pager, globals: &Globals, console: &mut Console) -> Option<Running> {
    let has_links = console.out_style.links.is_some() || console.error_style.links.is_some();
    let keeps_links = !has_links || globals.hyperlinks == When::Always || pager.takes_links();
    match pager.start() {
        Ok(running) => {
            console.is_paged(keeps_links);
            Some(running)
        }
        Err(error) => {
            console.note(&format!("the pager '{}' can't be started: {}", pager.name(), reason(&error)));
            None
        }
    }
}

/// Returns the folder that the relative paths of a command's result start at.
fn base(cli: &Cli) -> Option<&Path> {
    match cli.command {
        // A log says itself where its paths start, or nobody knows.
        Command::Replay(_) => None,
        _ => Some(&cli.globals.root),
    }
}

fn dispatch(command: Command, globals: &Globals, console: &Console) -> Result<Exit, Fail> {
    match command {
        Command::Preview(args) => preview::run(&args, globals, console),
        Command::Apply(args) => apply::run(&args, globals, console),
        Command::Write(args) => write::run(&args, globals, console),
        Command::Edit(args) => edit::run(&args, globals, console),
        Command::Undo(args) => undo::run(&args, globals, console),
        Command::Replay(args) => replay::run(&args, console),
        Command::Show(args) => show::run(&args, console),
        Command::Diff(args) => diff::run(&args, globals, console),
        Command::Demo => demo::run(globals, console),
        Command::Completions { shell } => generate::completions(shell, console),
        Command::Man { dir } => generate::man(dir.as_deref(), console),
        Command::Schema { name } => generate::schema(name.as_deref(), console),
    }
}

/// Prints what clap has to say: help and version on stdout, a usage error on stderr, or as JSON where that was asked.
fn usage(error: &clap::Error, arguments: &[OsString]) -> Exit {
    use clap::error::ErrorKind;
    let is_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let wants_json =
        arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--json");
    if !is_help && wants_json {
        let text = error.render().to_string();
        let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        streams::print_json(&fail::document(&Fail::usage(message)));
        return Exit::Trouble;
    }
    // A closed pipe is no reason to fail.
    let _ = error.print();
    if is_help { Exit::Done } else { Exit::Trouble }
}

/// Returns clap's name for a decision about colour.
fn clap_color(colours: bool) -> ColorChoice {
    if colours { ColorChoice::Always } else { ColorChoice::Never }
}
