//! The examples of the README and of `docs/ERRORS.md` run word for word and print what stands there.
//!
//! Every `console` block of a page is run, in order, in one shell, in a folder that holds a copy of `demo/`. `[..]` stands for
//! any text. Output that is JSON is compared as JSON, since the README lays it out for reading, and must be valid by
//! the schema that it names.

#![cfg(all(feature = "cli", unix))]
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test runs a shell and reads files")]

use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// What the shell prints after each command; no example does.
const MARK: &str = "\u{1}";
/// The command that writes the outputs anew; `[..]` and the layout of JSON must then be put back by hand.
const UPDATE: &str = "HUNKWISE_UPDATE=1 cargo test --test readme";

/// A command of a page with the output below it.
struct Example {
    command: String,
    output: String,
}

/// A piece of a page: what is copied as it is, or an example.
enum Piece {
    Text(String),
    Example(Example),
}

fn pieces(page: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut is_console = false;
    for line in page.lines() {
        if line.starts_with("```") {
            is_console = line == "```console";
        }
        match (line.strip_prefix("$ "), pieces.last_mut()) {
            (Some(command), _) if is_console => {
                pieces.push(Piece::Example(Example { command: command.to_owned(), output: String::new() }));
            }
            (_, Some(Piece::Example(example))) if is_console && !line.starts_with("```") => {
                example.output.push_str(line);
                example.output.push('\n');
            }
            _ => pieces.push(Piece::Text(format!("{line}\n"))),
        }
    }
    pieces
}

/// Runs the commands in one shell; returns what each prints, errors among it.
fn run(commands: &[&str]) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tool = Path::new(env!("CARGO_BIN_EXE_hunkwise")).parent().unwrap();
    let path = std::env::join_paths([tool, Path::new("/usr/bin"), Path::new("/bin")]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let copied = Command::new("cp").arg("-r").arg(root.join("demo")).arg(folder.path()).status().unwrap();
    assert!(copied.success());
    let mut script = "exec 2>&1\numask 022\n".to_owned();
    for command in commands {
        script.push_str(&format!("{command}\nprintf '{MARK}'\n"));
    }
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script).current_dir(folder.path()).stdin(std::process::Stdio::null());
    let output = shell.env_clear().env("PATH", path).env("TMPDIR", folder.path()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_terminator(MARK).map(str::to_owned).collect()
}

fn documents(text: &str) -> Option<Vec<Value>> {
    let documents: Result<Vec<Value>, _> = serde_json::Deserializer::from_str(text).into_iter().collect();
    documents.ok().filter(|documents| documents.iter().any(Value::is_object))
}

/// Tells whether a text is what is expected, where `[..]` stands for anything.
fn is_like(expected: &str, text: &str) -> bool {
    let mut parts = expected.split("[..]");
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

fn is_same(expected: &str, printed: &str) -> bool {
    match (documents(expected), documents(printed)) {
        (Some(expected), Some(printed)) => {
            let text =
                |documents: Vec<Value>| documents.iter().map(|one| format!("{one}\n")).collect::<String>();
            is_like(&text(expected), &text(printed))
        }
        _ => is_like(expected, printed),
    }
}

/// Checks a document against the committed schema that it names.
fn validate(document: &Value) {
    let name = document["schema"].as_str().unwrap().split('/').nth(1).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("schemas/{name}.json"));
    let schema: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let errors: Vec<String> = jsonschema::validator_for(&schema)
        .unwrap()
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{document} is not valid by schema {name}: {errors:?}");
}

fn page(name: &str) -> (PathBuf, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    (path, text)
}

fn check_examples(name: &str) {
    let (path, text) = page(name);
    let pieces = pieces(&text);
    let examples: Vec<&Example> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Example(example) => Some(example),
            Piece::Text(_) => None,
        })
        .collect();
    let printed = run(&examples.iter().map(|example| example.command.as_str()).collect::<Vec<_>>());
    assert_eq!(printed.len(), examples.len(), "the shell ended early: {printed:?}");
    for document in printed.iter().filter_map(|text| documents(text)).flatten() {
        validate(&document);
    }
    if std::env::var_os("HUNKWISE_UPDATE").is_some() {
        std::fs::write(&path, updated(&pieces, &printed)).unwrap();
        return;
    }
    for (example, printed) in examples.iter().zip(&printed) {
        let Example { command, output } = example;
        assert!(
            is_same(output, printed),
            "$ {command}\nprints\n{printed}\nbut {name} says\n{output}\nupdate with: {UPDATE}"
        );
    }
}

#[test]
fn examples_of_the_readme_run_word_for_word() {
    check_examples("README.md");
}

#[test]
fn examples_of_errors_run_word_for_word() {
    check_examples("docs/ERRORS.md");
}

#[test]
fn every_code_has_its_entry() {
    let (_, text) = page("docs/ERRORS.md");
    let (_, schema) = page("schemas/error.json");
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let codes: Vec<&str> = schema["$defs"]["Code"]["oneOf"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["const"].as_str().unwrap())
        .collect();
    assert!(codes.contains(&"hunk-not-found") && codes.len() > 10, "{codes:?}");
    let sections: Vec<&str> = text.split("\n## ").skip(1).collect();
    for code in &codes {
        let section = sections.iter().find(|section| section.lines().next() == Some(*code));
        let section = section.unwrap_or_else(|| panic!("{code} has no entry"));
        // What the examples say is checked where they run; that of a code without a command, where its text is made.
        let has_both = section.contains("\nerror: ") && section.contains(&format!("\"code\": \"{code}\""));
        assert!(has_both, "{code} has no example of its message for a person and in JSON");
        assert!(text.contains(&format!("[{code}](#{code})")), "{code} is in no row of the exit statuses");
    }
    assert_eq!(sections.len(), codes.len(), "a section is of no code");
}

/// Returns a page with what the commands print.
fn updated(pieces: &[Piece], printed: &[String]) -> String {
    let mut printed = printed.iter();
    let mut page = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => page.push_str(text),
            Piece::Example(Example { command, output }) => {
                let now = printed.next().unwrap();
                page.push_str(&format!("$ {command}\n"));
                page.push_str(if is_same(output, now) { output } else { now });
            }
        }
    }
    page
}
