//! What is generated from the code and also committed: completions, manual pages, JSON schemas.

use std::io::Write;
use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;
use schemars::Schema;
use schemars::schema_for;

use crate::disk::input::create_file;
use crate::disk::input::create_folder;
use crate::report::Card;
use crate::report::ErrorDocument;
use crate::report::Outcome;
use crate::report::PreviewEvent;
use crate::report::RecordMeta;

use super::args::Cli;
use super::exit::Exit;
use super::fail::Fail;
use super::streams::Console;

/// Prints the completions of a shell.
pub fn completions(shell: Shell, console: &Console) -> Result<Exit, Fail> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "hunkwise", &mut script);
    console.print(|out| out.write_all(&script))?;
    Ok(Exit::Done)
}

/// Prints the main manual page, or writes one page a command into a folder.
pub fn man(dir: Option<&Path>, console: &Console) -> Result<Exit, Fail> {
    let Some(dir) = dir else {
        let mut page = Vec::new();
        // Writing to memory can't fail.
        let _ = clap_mangen::Man::new(Cli::command()).render(&mut page);
        console.print(|out| out.write_all(&page))?;
        return Ok(Exit::Done);
    };
    create_folder(dir).map_err(|error| Fail::io("make", dir, &error))?;
    let pages = std::iter::once(("hunkwise".to_owned(), Cli::command()));
    let subcommands = Cli::command().get_subcommands().cloned().collect::<Vec<_>>();
    let subcommands = subcommands.into_iter().map(|subcommand| {
        let name = format!("hunkwise-{}", subcommand.get_name());
        // clap keeps names for ever; there is one page a command.
        let leaked: &'static str = Box::leak(name.clone().into_boxed_str());
        (name, subcommand.name(leaked))
    });
    for (name, command) in pages.chain(subcommands) {
        let mut page = Vec::new();
        let _ = clap_mangen::Man::new(command).render(&mut page);
        let path = dir.join(format!("{name}.1"));
        let written = create_file(&path).and_then(|mut file| file.write_all(&page));
        written.map_err(|error| Fail::io("write", &path, &error))?;
    }
    Ok(Exit::Done)
}

/// The schemas by their names.
fn schemas() -> [(&'static str, Schema); 5] {
    [
        ("outcome", schema_for!(Outcome)),
        ("preview", schema_for!(PreviewEvent)),
        ("card", schema_for!(Card)),
        ("error", schema_for!(ErrorDocument)),
        ("record", schema_for!(RecordMeta)),
    ]
}

/// Prints a schema, or the names of all.
pub fn schema(name: Option<&str>, console: &Console) -> Result<Exit, Fail> {
    let schemas = schemas();
    let names = schemas.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    let Some(name) = name else {
        console.print(|out| writeln!(out, "{}", names.join("\n")))?;
        return Ok(Exit::Done);
    };
    let found = schemas.iter().find(|(known, _)| *known == name);
    let (_, schema) = found
        .ok_or_else(|| Fail::usage(format!("unknown schema '{name}': there are {}", names.join(", "))))?;
    let text = serde_json::to_string_pretty(schema).unwrap_or_default();
    console.print(|out| writeln!(out, "{text}"))?;
    Ok(Exit::Done)
}
