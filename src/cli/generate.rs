//! What is generated from the code and also committed: completions, manual pages, JSON schemas.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
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
use crate::report::SessionEntry;
use crate::report::StatRow;

use super::args::Cli;
use super::exit::Exit;
use super::fail::Fail;
use super::streams::Console;

/// What every page begins with: an apostrophe that is one in every formatter.
const PRELUDE: &str = ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n";

/// Prints the completions of a shell.
pub fn completions(shell: Shell, console: &Console) -> Result<Exit, Fail> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "hunkwise", &mut script);
    console.print(|out| out.write_all(&script))?;
    Ok(Exit::Done)
}

/// Prints the main manual page, or writes one page a command into a folder.
pub fn man(dir: Option<&Path>, console: &Console) -> Result<Exit, Fail> {
    let mut main = Cli::command().disable_help_subcommand(true);
    // Building gives every subcommand the global options, the version, and its name: `hunkwise apply` in a usage line,
    // `hunkwise-apply` as a page. It would also make pages of a help command, if that were not off.
    main.build();
    let Some(dir) = dir else {
        let text = page(main).1;
        console.print(|out| out.write_all(&text))?;
        return Ok(Exit::Done);
    };
    create_folder(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let commands = main.get_subcommands().cloned().collect::<Vec<_>>();
    for command in std::iter::once(main).chain(commands) {
        let (name, text) = page(command);
        let path = dir.join(name);
        let written = create_file(&path).and_then(|mut file| file.write_all(&text));
        written.with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(Exit::Done)
}

/// Returns a page's file name and text. It holds no date, so that it is the same whenever it is generated.
fn page(command: clap::Command) -> (String, Vec<u8>) {
    let more = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let has_subcommands = command.has_subcommands();
    let man = clap_mangen::Man::new(command);
    let name = man.get_filename();
    // clap_mangen would leave an empty date out, and the version would stand in its place.
    let title = name.trim_end_matches(".1").to_uppercase();
    let version = env!("CARGO_PKG_VERSION");
    let mut page =
        format!("{PRELUDE}.TH {title} 1 \"\" \"hunkwise {version}\" \"hunkwise manual\"\n").into_bytes();
    // The longer texts of the help are one section each here; clap_mangen would run their lines together in one named
    // EXTRA. Every section comes with the prelude, which a page needs once. Writing to memory can't fail.
    let mut add = |render: &dyn Fn(&mut dyn Write) -> std::io::Result<()>| {
        let mut section = Vec::new();
        let _ = render(&mut section);
        page.extend_from_slice(section.strip_prefix(PRELUDE.as_bytes()).unwrap_or(&section));
    };
    add(&|out| man.render_name_section(out));
    add(&|out| man.render_synopsis_section(out));
    add(&|out| man.render_description_section(out));
    add(&|out| man.render_options_section(out));
    if has_subcommands {
        add(&|out| man.render_subcommands_section(out));
    }
    add(&|out| out.write_all(sections(&more).as_bytes()));
    if !has_subcommands {
        add(&|out| out.write_all(b".SH \"SEE ALSO\"\nhunkwise(1)\n"));
    }
    (name, page)
}

/// Returns the paragraphs of a long help, each of which begins with a line `Title:`, as sections of a manual page.
fn sections(help: &str) -> String {
    let mut roff = String::new();
    for paragraph in help.split("\n\n") {
        let (title, lines) = paragraph.split_once(":\n").unwrap_or(("Notes", paragraph));
        roff.push_str(&format!(".SH \"{}\"\n.nf\n", title.to_uppercase()));
        for line in lines.lines() {
            let escaped = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
            roff.push_str("\\&");
            roff.push_str(&escaped);
            roff.push('\n');
        }
        roff.push_str(".fi\n");
    }
    roff
}

/// The schemas by their names.
fn schemas() -> [(&'static str, Schema); 7] {
    [
        ("outcome", schema_for!(Outcome)),
        ("preview", schema_for!(PreviewEvent)),
        ("card", schema_for!(Card)),
        ("error", schema_for!(ErrorDocument)),
        ("record", schema_for!(RecordMeta)),
        ("session", schema_for!(SessionEntry)),
        ("stat", schema_for!(StatRow)),
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
