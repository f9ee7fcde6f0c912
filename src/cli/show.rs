//! `show`: a patch as cards, as it is requested, without any tree; or written anew in another dialect.

use crate::patch::Dialect;
use crate::patch::FileEdit;
use crate::patch::Parsed;
use crate::patch::colored::without_colors;
use crate::patch::format;
use crate::patch::parse;
use crate::patch::request;
use crate::plan::outcome;
use crate::report::Card;
use crate::report::CardKind;
use crate::report::CardSchema;
use crate::report::CardStatus;
use crate::report::Code;
use crate::report::Problem;
use crate::report::Source;
use crate::session::requested;

use crate::render::operation_word;

use super::args::CardOutput;
use super::args::ShowArgs;
use super::exit::Exit;
use super::fail::Fail;
use super::printer::CardPrinter;
use super::printer::Thing;
use super::streams::Console;
use super::streams::read_input;

/// Runs the command.
pub fn run(args: &ShowArgs, console: &Console) -> Result<Exit, Fail> {
    let input = read_input(args.patch.as_deref(), "patch")?;
    let parsed = parse(&without_colors(&input), args.dialect.map_or(Dialect::Auto, Into::into));
    for (note, line) in &parsed.notes {
        console.note(&format!("patch line {line}: {note}"));
    }
    let output = match args.output.kind() {
        Ok(output) if console.is_json => output.as_json(),
        Err(_) if console.is_json => CardOutput::Json,
        Ok(output) => output,
        Err(dialect) => return write(parsed, dialect, console),
    };
    let title =
        args.patch.as_ref().map_or_else(|| "patch".to_owned(), |path| path.to_string_lossy().into_owned());
    let mut printer = CardPrinter::new(console, output, title);
    let checked = is_patch(&parsed);
    // One card an edit: each stands for itself, and a long patch is read file by file.
    let (edits, format) = (parsed.patch.edits, parsed.dialect.name());
    let count = edits.len();
    let make = move |index: usize| {
        let card: Card = card(&edits[index], format);
        Thing { told: (), told_bytes: 0, card: Some(card) }
    };
    printer.all(count, make, |_, ()| {});
    printer.finish()?;
    checked.map(|()| Exit::Done)
}

/// Draws one edit as it is requested.
fn card(edit: &FileEdit, format: &str) -> Card {
    let diffs = request::stated_diffs(edit);
    let file = requested::file_of(edit, &diffs);
    Card {
        schema: CardSchema::V1,
        card: CardKind::Diff,
        title: format!("{} {}", operation_word(file.operation), file.path),
        status: CardStatus::Unknown,
        source: Source {
            format: format.to_owned(),
            line: edit.line_number,
            tool: "apply_patch".to_owned(),
            ..Source::default()
        },
        files: vec![file],
        diffs,
        requested: Vec::new(),
        message: request::binary(edit),
        error: None,
        compared: None,
    }
}

/// Writes the patch anew in a dialect: all of it or nothing.
fn write(parsed: Parsed, dialect: Dialect, console: &Console) -> Result<Exit, Fail> {
    is_patch(&parsed)?;
    let text = format(&parsed.patch, dialect).map_err(|errors| {
        let problems = errors.into_iter().map(Problem::from).collect();
        outcome::error_report(problems).map_or_else(no_edit, |report| Fail { report: Box::new(report) })
    })?;
    console.print(|out| out.write_all(&text))?;
    Ok(Exit::Done)
}

fn is_patch(parsed: &Parsed) -> Result<(), Fail> {
    match &parsed.malformed {
        Some(problem) => Err(Fail::new(problem.clone())),
        None if parsed.patch.edits.is_empty() => Err(no_edit()),
        None => Ok(()),
    }
}

fn no_edit() -> Fail {
    Fail::new(Problem::new(Code::NoEdits, "the patch has no file edit"))
}
