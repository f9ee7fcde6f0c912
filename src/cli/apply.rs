//! `apply`: a patch from a file or standard input, all of it or nothing.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::patch::Dialect;
use crate::patch::Reading;
use crate::patch::parse;
use crate::patch::reverse;
use crate::plan::Options;
use crate::report::Code;
use crate::report::CommandName;
use crate::report::Problem;

use super::apply_stream;
use super::args::ApplyArgs;
use super::args::Globals;
use super::args::MatchArgs;
use super::change;
use super::change::Request;
use super::exit::Exit;
use super::fail::Fail;
use super::session_log::Turn;
use super::streams::Console;
use super::streams::read_input;

/// Runs the command.
pub fn run(args: &ApplyArgs, globals: &Globals, console: &Console) -> Result<Exit, Fail> {
    if let Some(transport) = args.transport {
        return apply_stream::run(args, transport, globals, console);
    }
    let input = read_input(args.patch.as_deref(), "patch")?;
    let dialect = args.dialect.map_or(Dialect::Auto, Into::into);
    let reading = Reading { strip: args.strip, ..Reading::from(dialect) };
    let mut parsed = parse(&input, reading);
    for (note, line) in &parsed.notes {
        console.note(&format!("patch line {line}: {note}"));
    }
    let refused = parsed.malformed.or_else(|| {
        let is_empty = parsed.patch.edits.is_empty() && !args.allow_empty;
        is_empty.then(no_edits)
    });
    if args.reverse {
        parsed.patch = reverse(parsed.patch);
    }
    let request = Request {
        command: CommandName::Apply,
        tool: None,
        edits: &parsed.patch.edits,
        options: options(&args.matching),
        refused,
        arguments: &|| arguments(&input),
        turn: &Turn::default(),
    };
    change::run(&request, &args.change, globals, console)
}

/// Says that a patch asks for nothing.
pub fn no_edits() -> Problem {
    Problem::new(Code::NoEdits, "the patch has no file edit").with_hint("--allow-empty makes that no error")
}

/// Returns the planner's options that the flags ask for.
pub fn options(matching: &MatchArgs) -> Options {
    Options {
        most_lenient: matching.most_lenient.into(),
        takes_first: matching.first_match,
        skips_applied: matching.skip_applied,
        overwrites: matching.allow_overwrite,
        ..Options::default()
    }
}

/// Returns the tool arguments of a patch; one that is not UTF-8 goes in as base64, so that no byte is lost.
pub fn arguments(input: &[u8]) -> String {
    match std::str::from_utf8(input) {
        Ok(text) => json!({ "input": text }).to_string(),
        Err(_) => json!({ "inputBase64": STANDARD.encode(input) }).to_string(),
    }
}
