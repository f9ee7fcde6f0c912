//! `replay --net`: the calls of all logs, in their order, as one change a file.

use std::io;
use std::path::Path;

use crate::disk::input::length_of;
use crate::render::file_patch::Piece;
use crate::render::net_patch;
use crate::render::net_patch::NetPatch;
use crate::report::Card;
use crate::session::Replay;
use crate::session::ReplayError;
use crate::session::ReplayOptions;
use crate::session::ReplaySummary;
use crate::session::format::DetectError;
use crate::session::net;
use crate::session::net::Net;
use crate::session::told::Told;

use super::args::CardOutput;
use super::args::ReplayArgs;
use super::exit::Exit;
use super::fail::Fail;
use super::logs;
use super::printer::CardPrinter;
use super::progress::Progress;
use super::replay::Task;
use super::replay::Verdict;
use super::replay::no_log;
use super::streams::Console;

/// Runs the command.
pub fn run(task: &Task, args: &ReplayArgs, console: &Console) -> Result<Exit, Fail> {
    let mut progress = Progress::new(console, task.logs.list.iter().map(|log| length_of(&log.path)).sum());
    let mut read_bytes = 0;
    let mut net = Net::default();
    let mut verdict = Verdict::default();
    verdict.fail_if(task.logs.tell_unreadable(console));
    for log in 0..task.logs.list.len() {
        let summary = read(task, log, &mut net, &mut |bytes| {
            read_bytes += bytes;
            progress.show(read_bytes);
        });
        progress.clear();
        verdict.take(summary, 0, &task.name(log), console);
    }
    if net.unknown_calls() > 0 {
        let (calls, are) = if net.unknown_calls() == 1 { ("call", "is") } else { ("calls", "are") };
        console.note(&format!(
            "{} {calls} without a recorded result {are} not in the net change: what became of them is not known",
            net.unknown_calls()
        ));
    }
    let root = net.root().map(str::to_owned);
    let mut printer = CardPrinter::new(console, task.output, task.title.clone());
    let mut lost = 0;
    for file in net.finish().into_iter().filter(|file| task.filter.wants_paths(&file.card, root.as_deref())) {
        match task.output {
            CardOutput::Patch => {
                let pieces = file.pieces.as_ref().map(|pieces| pieces.iter().map(piece).collect::<Vec<_>>());
                let net = NetPatch {
                    card: &file.card,
                    pieces: pieces.as_deref(),
                    is_whole: file.is_whole,
                    left_out: file.left_out.as_deref(),
                    root: root.as_deref(),
                };
                printer.raw(|out| net_patch::file(out, &net).map(|left_out| lost += left_out));
            }
            _ => printer.card(file.card),
        }
    }
    printer.finish()?;
    task.tell_passed_over(console)?;
    verdict.lose(lost, "the net change", console);
    Ok(verdict.exit(args))
}

/// Reads a log to its end.
fn read(
    task: &Task,
    log: usize,
    net: &mut Net,
    progress: &mut dyn FnMut(u64),
) -> Result<ReplaySummary, Fail> {
    let failed = |error: io::Error| Fail::io("read", Path::new(&task.name(log)), &error);
    let name = task.logs.are_several().then(|| task.name(log));
    let mut take = |mut card: Card, told: Vec<Told>, root: Option<&str>| {
        card.source.log.clone_from(&name);
        if task.filter.wants_call(&card) {
            net.take(&card, &told, root);
        } else {
            net.pass_over(&card, root);
        }
    };
    let mut blocks = task.open(log).map_err(failed)?;
    let named = &task.logs.list[log];
    let options =
        ReplayOptions { format: task.format, is_told: true, has_sections: false, ..named.options() };
    let mut look = |block: &[u8]| progress(block.len() as u64);
    let (_, summary) = logs::read(&mut blocks, Replay::new(options), &mut look, &mut take).map_err(failed)?;
    match summary {
        Err(ReplayError::Detect(DetectError::Unknown)) if named.is_found => {
            task.pass_over();
            Ok(ReplaySummary::default())
        }
        summary => summary.map_err(|error| no_log(&task.name(log), &error)),
    }
}

fn piece(piece: &net::Piece) -> Piece<'_> {
    Piece { old: &piece.old, new: &piece.new, before: (piece.old_before, piece.new_before) }
}
