//! `replay`: stored session logs to cards. Opens the logs and nothing else.

use std::io;
use std::io::Read;
use std::path::Path;

use globset::Glob;
use globset::GlobMatcher;

use crate::disk::input::Blocks;
use crate::report::Card;
use crate::report::CardStatus;
use crate::report::Code;
use crate::report::Problem;
use crate::session::Replay;
use crate::session::ReplayError;
use crate::session::ReplayOptions;
use crate::session::ReplaySummary;
use crate::session::format::DetectError;
use crate::session::format::Format;

use super::args::CardOutput;
use super::args::ReplayArgs;
use super::exit::Exit;
use super::fail::Fail;
use super::printer::CardPrinter;
use super::streams::Console;
use super::streams::no_input;
use super::streams::stdin_is_terminal;

/// Runs the command.
pub fn run(args: &ReplayArgs, console: &Console) -> Result<Exit, Fail> {
    let filter = Filter::new(args)?;
    let format = match args.format.as_str() {
        "auto" => None,
        name => Some(Format::from_name(name).ok_or_else(|| unknown_format(name))?),
    };
    let output = if console.is_json { CardOutput::Json } else { args.output };
    let mut is_understood = true;
    let stdin = [Path::new("-").to_owned()];
    let logs = if args.logs.is_empty() { &stdin[..] } else { &args.logs[..] };
    let names: Vec<_> = logs.iter().map(|log| log.to_string_lossy()).collect();
    let title = if args.logs.is_empty() { "session log".to_owned() } else { names.join(", ") };
    let mut printer = CardPrinter::new(console, output, title);
    for path in logs {
        let summary = if path == Path::new("-") {
            if stdin_is_terminal() {
                return Err(no_input("log"));
            }
            replay(Blocks::over(io::stdin()), Path::new("standard input"), format, &filter, &mut printer)?
        } else {
            let blocks = Blocks::open(path).map_err(|error| Fail::io("read", path, &error))?;
            replay(blocks, path, format, &filter, &mut printer)?
        };
        is_understood &= tell(&summary, path, console);
        if printer.is_closed() {
            break;
        }
    }
    printer.finish()?;
    Ok(if args.strict && !is_understood { Exit::Refused } else { Exit::Done })
}

fn replay<R: Read>(
    mut blocks: Blocks<R>,
    path: &Path,
    format: Option<Format>,
    filter: &Filter,
    printer: &mut CardPrinter<'_>,
) -> Result<ReplaySummary, Fail> {
    let failed = |error: io::Error| Fail::io("read", path, &error);
    let mut replay = Replay::new(ReplayOptions { format, ..ReplayOptions::default() });
    let mut emit = |card: Card| {
        if filter.wants(&card) {
            printer.card(&card);
        }
    };
    while !replay.is_over()
        && let Some(block) = blocks.next_block().map_err(failed)?
    {
        replay.push(block, &mut emit);
    }
    replay.finish(&mut emit).map_err(|error| no_log(path, &error))
}

fn no_log(path: &Path, error: &ReplayError) -> Fail {
    let problem = Problem::new(Code::Malformed, format!("{}: {error}", path.display()));
    Fail::new(match error {
        ReplayError::Detect(DetectError::Sqlite) => problem.with_hint(
            "export the session as JSON first, e.g. 'opencode export SESSION > log.json', then replay that",
        ),
        ReplayError::Detect(_) => {
            problem.with_hint(format!("looked for {}; --format names the format", format_names()))
        }
        _ => problem,
    })
}

fn format_names() -> String {
    Format::ALL.map(Format::name).join(", ")
}

fn unknown_format(name: &str) -> Fail {
    Fail::usage(format!("unknown log format '{name}': there are auto, {}", format_names()))
}

/// Says what a log held beside its cards; returns whether all of it was understood.
fn tell(summary: &ReplaySummary, path: &Path, console: &Console) -> bool {
    let mut notes: Vec<String> = summary.notes.clone();
    let mut count = |count: usize, one: &str, many: &str| {
        if count > 0 {
            notes.push(format!("{count} {}", if count == 1 { one } else { many }));
        }
    };
    count(summary.unknown_events, "event of an unknown kind", "events of unknown kinds");
    count(summary.skipped_long, "line skipped, longer than 32 MiB", "lines skipped, longer than 32 MiB");
    count(summary.duplicates, "repeated call or result passed over", "repeated calls or results passed over");
    count(
        summary.inherited_calls,
        "call of the parent session passed over",
        "calls of the parent session passed over",
    );
    count(
        summary.replaced_characters,
        "invalid character shown as U+FFFD",
        "invalid characters shown as U+FFFD",
    );
    if summary.bad_line_count > 0 {
        let lines: Vec<String> = summary.bad_lines.iter().map(ToString::to_string).collect();
        let more = if summary.bad_line_count > lines.len() { ", ..." } else { "" };
        let word = if summary.bad_line_count == 1 { "line" } else { "lines" };
        notes.push(format!("{} {word} not readable: {}{more}", summary.bad_line_count, lines.join(", ")));
    }
    if let Some(line) = summary.torn_line {
        notes.push(format!("line {line} is cut off"));
    }
    notes.extend(summary.damage.as_ref().map(ToString::to_string));
    for note in notes {
        console.note(&format!("{}: {note}", path.display()));
    }
    let is_torn = summary.torn_line.is_some() || summary.damage.is_some();
    summary.unknown_events == 0 && summary.skipped_long == 0 && summary.bad_line_count == 0 && !is_torn
}

/// Which cards are drawn.
struct Filter {
    path: Option<GlobMatcher>,
    status: Option<CardStatus>,
    tool: Option<String>,
    call: Option<String>,
    turns: Option<super::args::Turns>,
}

impl Filter {
    fn new(args: &ReplayArgs) -> Result<Self, Fail> {
        let path = match &args.path {
            None => None,
            Some(glob) => Some(
                Glob::new(glob).map_err(|error| Fail::usage(format!("--path: {error}")))?.compile_matcher(),
            ),
        };
        let status = match &args.status {
            None => None,
            Some(name) => Some(status(name).ok_or_else(|| {
                Fail::usage(format!(
                    "unknown status '{name}': there are applied, partial, failed, rejected, held and unknown"
                ))
            })?),
        };
        Ok(Filter { path, status, tool: args.tool.clone(), call: args.call.clone(), turns: args.turn })
    }

    fn wants(&self, card: &Card) -> bool {
        let by_path = |glob: &GlobMatcher| {
            card.files.iter().any(|file| {
                glob.is_match(&file.path) || file.from.as_ref().is_some_and(|from| glob.is_match(from))
            })
        };
        self.path.as_ref().is_none_or(by_path)
            && self.status.is_none_or(|status| status == card.status)
            && self.tool.as_ref().is_none_or(|tool| *tool == card.source.tool)
            && self.call.as_ref().is_none_or(|call| card.source.call_id.as_ref() == Some(call))
            && self.turns.is_none_or(|turns| {
                card.source.turn.is_some_and(|turn| (turns.first..=turns.last).contains(&turn))
            })
    }
}

fn status(name: &str) -> Option<CardStatus> {
    Some(match name {
        "applied" => CardStatus::Applied,
        "partial" => CardStatus::Partial,
        "failed" => CardStatus::Failed,
        "rejected" => CardStatus::Rejected,
        "held" => CardStatus::Held,
        "unknown" => CardStatus::Unknown,
        _ => return None,
    })
}
