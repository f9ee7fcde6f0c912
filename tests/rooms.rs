//! Holds the table of rooms: which part of the code may use which, and what may stand only in some of them.
//!
//! The sources are read as text: comments, strings and characters are taken out, then every path that begins with
//! `crate` or `super` is resolved from the module that it stands in.

#![expect(clippy::disallowed_methods, clippy::expect_used, reason = "a test reads the sources, and may fail")]

use std::path::Path;

/// A room, the files in it (a prefix of the path below `src/`, or a whole path), and the rooms that it may use.
struct Room {
    name: &'static str,
    files: &'static str,
    may_use: &'static [&'static str],
}

/// Longer prefixes come first: the first that fits decides.
const ROOMS: [Room; 12] = [
    Room { name: "text", files: "text/", may_use: &[] },
    Room { name: "report", files: "report/", may_use: &["text"] },
    Room { name: "patch", files: "patch/", may_use: &["text", "report"] },
    Room { name: "diff", files: "diff/", may_use: &["text", "report"] },
    Room { name: "plan", files: "plan/", may_use: &["text", "report", "patch", "diff"] },
    Room {
        name: "session/format",
        files: "session/format/",
        may_use: &["text", "report", "session/event", "session/frame"],
    },
    Room {
        name: "session",
        files: "session/",
        may_use: &[
            "text",
            "report",
            "patch",
            "diff",
            "plan",
            "session/format",
            "session/event",
            "session/frame",
        ],
    },
    Room { name: "disk", files: "disk/", may_use: &["text", "report", "plan"] },
    Room { name: "render", files: "render/", may_use: &["text", "report", "diff"] },
    Room { name: "cli", files: "cli/", may_use: &["*"] },
    Room { name: "lib.rs", files: "lib.rs", may_use: &["*"] },
    Room { name: "main.rs", files: "main.rs", may_use: &["*"] },
];

fn room_of(file: &str) -> Option<&'static Room> {
    ROOMS.iter().find(|room| file == room.files || room.files.ends_with('/') && file.starts_with(room.files))
}

/// The room that a path of the crate leads into: `["session", "format", "dsh"]` into `session/format`.
fn room_of_path(path: &[String]) -> String {
    match path {
        [] => "lib.rs".to_owned(),
        [first, second, ..]
            if first == "session" && matches!(second.as_str(), "format" | "event" | "frame") =>
        {
            format!("{first}/{second}")
        }
        [first, ..] => first.clone(),
    }
}

fn may_use(room: &Room, used: &str) -> bool {
    let is_own = used == room.name || room.name == "session" && used.starts_with("session/");
    is_own || room.may_use.iter().any(|allowed| *allowed == used || *allowed == "*")
}

/// Returns the code without comments, strings and characters; newlines stay.
fn code_only(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut code = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let skipped = if rest.starts_with(b"//") {
            rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())
        } else if rest.starts_with(b"/*") {
            find(rest, b"*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = raw_string(rest, at.checked_sub(1).map(|before| bytes[before])) {
            length
        } else if rest[0] == b'"' {
            quoted(rest, b'"').unwrap_or(rest.len())
        } else if rest[0] == b'\'' {
            character(rest)
        } else {
            0
        };
        let newlines = rest[..skipped].iter().filter(|&&byte| byte == b'\n').count();
        code.extend(std::iter::repeat_n(b'\n', newlines));
        if skipped == 0 {
            code.push(rest[0]);
        }
        at += skipped.max(1);
    }
    String::from_utf8(code).unwrap_or_default()
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}

/// The length of a raw string that begins here.
fn raw_string(rest: &[u8], before: Option<u8>) -> Option<usize> {
    if before.is_some_and(|byte| byte.is_ascii_alphanumeric() && byte != b'b' || byte == b'_') {
        return None;
    }
    let after_r = rest.strip_prefix(b"r")?;
    let hashes = after_r.iter().take_while(|&&byte| byte == b'#').count();
    let body = after_r[hashes..].strip_prefix(b"\"")?;
    let end = [b"\"".as_slice(), &vec![b'#'; hashes]].concat();
    Some(2 + hashes + find(body, &end)? + end.len())
}

fn quoted(rest: &[u8], quote: u8) -> Option<usize> {
    let mut at = 1;
    loop {
        match *rest.get(at)? {
            b'\\' => at += 2,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// The length of a character literal; 0 for a lifetime.
fn character(rest: &[u8]) -> usize {
    match rest.get(1) {
        Some(b'\\') => quoted(rest, b'\'').unwrap_or(0),
        Some(first) => {
            let length = match first {
                0x00..=0x7F => 1,
                0xC0..=0xDF => 2,
                0xE0..=0xEF => 3,
                _ => 4,
            };
            if rest.get(1 + length) == Some(&b'\'') { length + 2 } else { 0 }
        }
        None => 0,
    }
}

/// Words, `::`, and single other characters, each with its 1-based line.
fn tokens(code: &str) -> Vec<(usize, String)> {
    let mut tokens: Vec<(usize, String)> = Vec::new();
    let mut line = 1;
    let mut characters = code.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\n' {
            line += 1;
        }
        if character.is_whitespace() {
            continue;
        }
        let mut token = String::from(character);
        if character.is_alphanumeric() || character == '_' {
            while let Some(&next) = characters.peek().filter(|next| next.is_alphanumeric() || **next == '_') {
                token.push(next);
                characters.next();
            }
        } else if character == ':' && characters.peek() == Some(&':') {
            token.push(':');
            characters.next();
        }
        tokens.push((line, token));
    }
    tokens
}

/// A path that the code names.
#[derive(Debug, PartialEq, Eq)]
struct Named {
    line: usize,
    /// From the crate's root; of another crate, with the crate's name first and `is_foreign`.
    path: Vec<String>,
    is_foreign: bool,
}

/// Returns the paths that stand in the code of a module.
fn paths(code: &str, module: &[&str]) -> Vec<Named> {
    let tokens = tokens(code);
    let word = |index: usize| tokens.get(index).map_or("", |(_, token)| token.as_str());
    let mut modules: Vec<String> = module.iter().map(|&name| name.to_owned()).collect();
    let mut blocks: Vec<bool> = Vec::new();
    let mut named = Vec::new();
    for (index, &(line, _)) in tokens.iter().enumerate() {
        match word(index) {
            "{" => {
                let is_module = index >= 2 && word(index - 2) == "mod";
                if is_module {
                    modules.push(word(index - 1).to_owned());
                }
                blocks.push(is_module);
            }
            "}" if blocks.pop() == Some(true) => {
                modules.pop();
            }
            start if word(index + 1) == "::" && (index == 0 || word(index - 1) != "::") => {
                let mut path = match start {
                    "crate" => Vec::new(),
                    "super" => modules[..modules.len().saturating_sub(1)].to_vec(),
                    "self" => modules.clone(),
                    other => vec![other.to_owned()],
                };
                let mut next = index + 1;
                while word(next) == "::" {
                    match word(next + 1) {
                        "super" => {
                            path.pop();
                        }
                        segment => path.push(segment.to_owned()),
                    }
                    next += 2;
                }
                let is_foreign = !matches!(start, "crate" | "super" | "self");
                named.push(Named { line, path, is_foreign });
            }
            _ => {}
        }
    }
    named
}

/// Returns what stands in a file against the table.
fn faults(file: &str, source: &str) -> Vec<String> {
    let Some(room) = room_of(file) else { return vec![format!("{file}: in no row of the table of rooms")] };
    let code = code_only(source);
    let without_end = file.strip_suffix(".rs").unwrap_or(file);
    let module: Vec<&str> =
        without_end.split('/').filter(|part| !matches!(*part, "mod" | "lib" | "main")).collect();
    let mut faults = Vec::new();
    for Named { line, path, is_foreign } in paths(&code, &module) {
        let first = path.first().map_or("", String::as_str);
        if is_foreign {
            let is_diff_library = matches!(first, "similar" | "imara_diff" | "gix_imara_diff");
            if is_diff_library && room.name != "diff" {
                faults.push(format!("{file}:{line}: only diff/ names a diff library"));
            }
            continue;
        }
        if first == "{" || path.get(1).is_some_and(|second| second == "{") {
            faults.push(format!("{file}:{line}: one item per line, so that rooms can be told"));
            continue;
        }
        let used = room_of_path(&path);
        let is_macro_or_root = first.is_empty() || used == "lib.rs";
        if !is_macro_or_root && !may_use(room, &used) {
            faults.push(format!("{file}:{line}: {} may not use {used}: {}", room.name, path.join("::")));
        }
        let names_a_dialect =
            room.name == "patch" && path.get(1).is_some_and(|second| second == "apply_patch");
        if names_a_dialect && !matches!(file, "patch/parser.rs" | "patch/apply_patch.rs") {
            faults.push(format!("{file}:{line}: only patch/parser.rs knows the dialects"));
        }
    }
    faults.extend(only_in(file, &code, room));
    faults
}

/// What may stand only in some rooms.
fn only_in(file: &str, code: &str, room: &Room) -> Vec<String> {
    let squeezed = tokens(code);
    let mut faults = Vec::new();
    let (mut derives, mut is_test) = (false, false);
    for (index, (line, token)) in squeezed.iter().enumerate() {
        match token.as_str() {
            "derive" => derives = true,
            "test" if index > 1 && squeezed[index - 2].1 == "cfg" => is_test = true,
            ")" => derives = false,
            "Serialize" | "Deserialize" | "JsonSchema"
                if derives && !matches!(room.name, "report" | "session/format") =>
            {
                faults.push(format!("{file}:{line}: {token} is derived only in report/ and session/format/"));
            }
            // A test module may start other programs or read files: its attribute stands after `cfg(test)`.
            "disallowed_methods" if !matches!(room.name, "disk" | "cli") && !is_test => {
                faults.push(format!("{file}:{line}: only disk/ and cli/ may use what clippy.toml disallows"));
            }
            "allow" if index > 1 && squeezed[index - 1].1 == "[" => {
                faults.push(format!("{file}:{line}: expect(.., reason), never allow"));
            }
            _ => {}
        }
    }
    faults
}

/// Every Rust file below a folder, as paths relative to it.
fn rust_files(root: &Path) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of the sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let relative = path.strip_prefix(root).expect("below the root");
                files.push(relative.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn every_file_keeps_to_its_room() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = rust_files(&root);
    assert!(files.len() > 50, "the sources were not found: {files:?}");
    let found: Vec<String> = files
        .iter()
        .flat_map(|file| faults(file, &std::fs::read_to_string(root.join(file)).expect("a source")))
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn forbidden_uses_are_found() {
    let check = |file: &str, source: &str, words: &[&str]| {
        let found = faults(file, source);
        assert_eq!(found.len(), words.len(), "{file}: {found:?}");
        for (fault, word) in found.iter().zip(words) {
            assert!(fault.contains(word), "{fault:?} lacks {word:?}");
        }
    };
    check("text/path.rs", "use crate::report::Code;\n", &["text may not use report"]);
    check("text/path.rs", "use super::super::plan::Plan;\n", &["text may not use plan"]);
    check("patch/args.rs", "fn f() { crate::plan::Plan::default(); }", &["patch may not use plan"]);
    check(
        "patch/lines.rs",
        "mod tests {\n use super::super::super::disk::x;\n}",
        &[":2: patch may not use disk"],
    );
    check("patch/lines.rs", "mod tests {\n use super::super::Patch;\n}\nuse super::Patch;", &[]);
    check("session/format/dsh.rs", "use crate::session::pair::Call;", &["may not use session"]);
    check(
        "session/format/dsh.rs",
        "use crate::session::event::CallEvent;\nuse super::super::frame::Line;",
        &[],
    );
    check("session/pair.rs", "use super::format::dsh;\nuse super::event::CallEvent;", &[]);
    check(
        "render/stat.rs",
        "use crate::diff::hunks::counts;\nuse crate::plan::Plan;",
        &[":2: render may not"],
    );
    check("plan/mod.rs", "use crate::{patch::Patch, disk::root::Root};", &["one item per line"]);
    check(
        "plan/x.rs",
        "// use crate::disk::x;\nlet a = \"crate::disk\"; let b = '\"'; let c = r#\"crate::cli::\"#;",
        &[],
    );
    check("helpers/x.rs", "", &["in no row"]);
    check("util.rs", "", &["in no row"]);
    check("plan/x.rs", "use similar::TextDiff;", &["diff library"]);
    check("patch/args.rs", "use super::apply_patch::ApplyPatch;", &["dialects"]);
    check("plan/state.rs", "#[derive(Debug, serde::Serialize)]\nstruct A;", &["derived only"]);
    check("report/card.rs", "#[derive(Debug, Serialize)]\nstruct A;", &[]);
    check("plan/x.rs", "#![expect(clippy::disallowed_methods, reason = \"x\")]", &["only disk/ and cli/"]);
    check("disk/x.rs", "#![expect(clippy::disallowed_methods, reason = \"x\")]", &[]);
    check(
        "plan/x.rs",
        "#[cfg(test)]\n#[expect(clippy::disallowed_methods, reason = \"x\")]\nmod tests {}",
        &[],
    );
    check("disk/x.rs", "#[allow(dead_code)]", &["never allow"]);
}
