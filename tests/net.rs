//! The net change of calls as a property of the core: whatever patches did to a tree, and whatever of it was taken back,
//! the net patch of their log makes the same of the tree before.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a test writes files, starts git and may fail"
)]

mod scene;

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::process::Stdio;

use hunkwise::patch::Body;
use hunkwise::patch::FileEdit;
use hunkwise::plan::Options;
use hunkwise::render::file_patch::Piece;
use hunkwise::render::net_patch;
use hunkwise::render::net_patch::NetPatch;
use hunkwise::report::RecordMeta;
use hunkwise::session::Replay;
use hunkwise::session::ReplayOptions;
use hunkwise::session::format::Format;
use hunkwise::session::format::dsh;
use hunkwise::session::format::dsh::EventStamp;
use hunkwise::session::format::dsh::LoggedResult;
use hunkwise::session::net::Net;
use hunkwise::session::net::NetFile;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use scene::*;

/// A log as it grows.
#[derive(Default)]
struct Log {
    bytes: Vec<u8>,
    rows: u64,
}

impl Log {
    /// Adds a call; of one that writes a text with that text, as the command has it.
    fn add(&mut self, edits: &[FileEdit], record: &RecordMeta) {
        let written = match edits {
            [FileEdit { path, body: Body::Content(content), .. }] => {
                std::str::from_utf8(&content.bytes).ok().map(|text| (path.shown(), text))
            }
            _ => None,
        };
        let (tool, arguments) = match written {
            Some((path, text)) => {
                ("write", serde_json::json!({"file_path": path, "content": text}).to_string())
            }
            None => ("apply", "{}".to_owned()),
        };
        let stamp = |seq| EventStamp { seq, time_ms: seq, turn: seq / 2 + 1, step: 1 };
        let id = format!("c{}", self.rows);
        self.bytes.extend(dsh::call_line(stamp(self.rows), &id, tool, &arguments));
        let result = LoggedResult {
            call_id: &id,
            call_seq: self.rows,
            ok: true,
            text: "",
            error: None,
            meta: Some(record),
        };
        self.bytes.extend(dsh::result_line(stamp(self.rows + 1), &result));
        self.rows += 2;
    }

    fn net(&self) -> Vec<NetFile> {
        let mut net = Net::default();
        let mut replay = Replay::new(ReplayOptions { is_told: true, ..ReplayOptions::new(Format::Dsh) });
        replay.push_told(&self.bytes, &mut |card, told| net.take(&card, &told, None));
        replay.finish_told(&mut |card, told| net.take(&card, &told, None)).expect("a log");
        net.finish()
    }
}

/// Returns the net patch, and why files are not in it.
fn patch_of(files: &[NetFile]) -> (Vec<u8>, Vec<String>) {
    let (mut patch, mut left_out) = (Vec::new(), Vec::new());
    for file in files {
        let piece = |piece: &'_ hunkwise::session::net::Piece| (piece.old_before, piece.new_before);
        let pieces: Option<Vec<Piece<'_>>> = file.pieces.as_ref().map(|pieces| {
            pieces.iter().map(|it| Piece { old: &it.old, new: &it.new, before: piece(it) }).collect()
        });
        let net = NetPatch {
            card: &file.card,
            pieces: pieces.as_deref(),
            is_whole: file.is_whole,
            left_out: file.left_out.as_deref(),
            root: None,
        };
        let mut part = Vec::new();
        let lost = net_patch::file(&mut part, &net).expect("memory takes it");
        if lost > 0 {
            left_out.push(String::from_utf8_lossy(&part).into_owned());
        } else {
            patch.extend(part);
        }
    }
    (patch, left_out)
}

/// Lets git apply a patch to a tree.
fn patched(before: &Tree, patch: &[u8]) -> Tree {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    for (name, (bytes, mode)) in before {
        let path = root.join(OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder is made");
        fs::write(&path, bytes).expect("a file is written");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode & 0o777)).expect("its mode");
    }
    if !patch.is_empty() {
        git_apply(patch, root);
    }
    let mut tree = Tree::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(&inner).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(root).expect("below").as_os_str().as_bytes().to_vec();
            let mode = fs::metadata(&path).expect("its mode").permissions().mode();
            tree.insert(name, (fs::read(&path).expect("a file"), mode));
        }
    }
    tree
}

fn git_apply(patch: &[u8], root: &Path) {
    let mut git = Command::new("git")
        .args(["apply", "--whitespace=nowarn", "--unidiff-zero", "-"])
        .current_dir(root)
        .env("GIT_CEILING_DIRECTORIES", root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("git starts");
    git.stdin.take().expect("a pipe").write_all(patch).expect("git reads");
    let output = git.wait_with_output().expect("git ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said} for\n{}", String::from_utf8_lossy(patch));
}

/// Git knows of a mode only whether its owner may run the file.
fn in_git(tree: &Tree) -> Tree {
    let entry = |(name, (bytes, mode)): (&Vec<u8>, &(Vec<u8>, u32))| {
        (name.clone(), (bytes.clone(), if mode & 0o100 == 0 { 0o644 } else { 0o755 }))
    };
    tree.iter().map(entry).collect()
}

/// Tells whether nothing in a tree is what a log or git could not tell.
fn is_plain(tree: &Tree) -> bool {
    tree.values().all(|(bytes, mode)| {
        let is_text = std::str::from_utf8(bytes).is_ok_and(|text| !text.contains(['\0', '\r']));
        is_text && [0o100_644, 0o100_755].contains(mode)
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("proptest-regressions/net.txt"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_net_patch_makes_what_the_calls_made(
        before in any_tree(),
        calls in prop::collection::vec((prop::collection::vec(any_edit(), 1..4), any::<bool>()), 1..6),
    ) {
        let mut log = Log::default();
        let mut tree = before.clone();
        let mut states = vec![before.clone()];
        let mut records: Vec<RecordMeta> = Vec::new();
        for (edits, undoes) in &calls {
            let mut edits = edits.as_slice();
            let record = match records.pop().filter(|_| *undoes) {
                Some(last) => {
                    edits = &[];
                    let plan = inverse(&tree, &[&last]).expect("it fits");
                    let record = recorded(&plan, NO_LIMIT);
                    write(&mut tree, &plan);
                    record
                }
                None => applied(&mut tree, edits, overwriting()),
            };
            log.add(edits, &record);
            records.push(record);
            states.push(tree.clone());
        }
        let files = log.net();
        let (patch, left_out) = patch_of(&files);
        // Names that are not UTF-8 are not in cards.
        if before.keys().chain(tree.keys()).any(|name| std::str::from_utf8(name).is_err()) {
            return Ok(());
        }
        // Files that change places are renamed, though no name says so.
        let moves = calls.iter().flat_map(|(edits, _)| edits).any(|edit| edit.move_to.is_some());
        if before == tree && !moves {
            prop_assert!(files.is_empty(), "{files:#?}");
        }
        if states.iter().all(is_plain) {
            prop_assert!(left_out.is_empty(), "{left_out:?}");
        }
        if left_out.is_empty() {
            let found = in_git(&patched(&before, &patch));
            prop_assert_eq!(found, in_git(&tree), "{}", String::from_utf8_lossy(&patch));
        }
    }
}

/// All logs of the tests, of every format.
fn logs() -> Vec<Vec<u8>> {
    let mut logs = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.to_string_lossy().ends_with(".cards.txt") {
                logs.push(fs::read(path).expect("a log"));
            }
        }
    }
    logs
}

/// Puts a log together; one that is none comes to nothing.
fn net_of(log: &[u8]) -> Vec<NetFile> {
    let mut net = Net::default();
    let mut replay = Replay::new(ReplayOptions { is_told: true, ..ReplayOptions::default() });
    replay.push_told(log, &mut |card, told| net.take(&card, &told, None));
    let _ = replay.finish_told(&mut |card, told| net.take(&card, &told, None));
    net.finish()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_logs_never_panic(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
    ) {
        let logs = logs();
        let mut log = logs[which.index(logs.len())].clone();
        for (at, byte) in &changes {
            let at = at.index(log.len());
            log[at] = *byte;
        }
        patch_of(&net_of(&log));
    }
}

#[test]
fn the_net_of_every_log_has_a_card_a_file_or_says_why_not() {
    for log in logs() {
        let files = net_of(&log);
        let mut paths: Vec<&str> = files.iter().map(|file| file.card.files[0].path.as_str()).collect();
        let is_whole = files.iter().all(|file| file.card.source.stretch.is_none());
        paths.sort_unstable();
        let count = paths.len();
        paths.dedup();
        assert!(!is_whole || paths.len() == count, "{paths:?}");
        for file in &files {
            let stretch = file.card.source.stretch.map_or(1, |stretch| stretch.number);
            assert_eq!(
                stretch > 1,
                file.card.message.as_ref().is_some_and(|message| message.starts_with("a new stretch"))
            );
        }
    }
}

/// What a net change comes to, a line a card: title, operation, counts, calls, and what else is said.
fn told(files: &[NetFile]) -> Vec<String> {
    let line = |file: &NetFile| {
        let entry = &file.card.files[0];
        let from = entry.from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default();
        let counts = entry
            .added
            .zip(entry.removed)
            .map_or("?".to_owned(), |(added, removed)| format!("+{added} -{removed}"));
        let calls = file.card.source.calls.unwrap_or(0);
        let message = file.card.message.as_ref().map(|message| format!("; {message}")).unwrap_or_default();
        format!("{}: {:?}{from} {counts} by {calls}{message}", file.card.title, entry.operation)
    };
    files.iter().map(line).collect()
}

/// One call that replaces a text.
fn replaced(path: &str, old: &str, new: &str) -> Vec<FileEdit> {
    vec![edit(path.as_bytes(), replacement(old, new))]
}

fn moved(path: &str, to: &str) -> Vec<FileEdit> {
    vec![FileEdit { move_to: Some(to.into()), ..edit(path.as_bytes(), Body::Hunks(Vec::new())) }]
}

const TEXT: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n";

/// Checks what calls come to; a call without edits is somebody else's, who writes this text to `f`.
fn check(calls: &[(Vec<FileEdit>, &str)], wanted: &[&str]) -> Vec<NetFile> {
    let mut files = tree(&[("f", TEXT)]);
    let mut log = Log::default();
    for (edits, text) in calls {
        if edits.is_empty() {
            files.extend(tree(&[("f", text)]));
        } else {
            log.add(edits, &applied(&mut files, edits, Options::default()));
        }
    }
    let net = log.net();
    assert_eq!(told(&net), wanted);
    net
}

#[test]
fn what_cancels_out_leaves_nothing_and_a_renamed_file_stays_one() {
    let call = |edits| (edits, "");
    let made = || call(vec![edit(b"new", content(b"a\n"))]);
    let gone = || call(vec![edit(b"new", Body::Delete(Vec::new()))]);
    check(&[call(replaced("f", "19", "x")), call(replaced("f", "x", "19"))], &[]);
    check(&[made(), call(replaced("new", "a", "b")), gone()], &[]);
    check(&[made(), gone(), made()], &["net new: Create +1 -0 by 3"]);
    check(
        &[call(replaced("f", "19", "x")), call(moved("f", "g")), call(replaced("g", "x", "y\nz"))],
        &["net g: Rename from f +2 -1 by 3"],
    );
    check(&[call(moved("f", "g")), call(moved("g", "f"))], &[]);
    check(
        &[call(moved("f", "g")), call(vec![edit(b"f", content(b"other\n"))])],
        &["net g: Rename from f +0 -0 by 1", "net f: Create +1 -0 by 1"],
    );
    let goes = |path: &str| call(vec![edit(path.as_bytes(), Body::Delete(Vec::new()))]);
    check(&[goes("f"), call(vec![edit(b"f", content(TEXT.as_bytes()))])], &[]);
    check(
        &[call(replaced("f", "19", "x")), goes("f"), call(vec![edit(b"f", content(b"1\n"))])],
        &["net f: Update +0 -18 by 3"],
    );
}

#[test]
fn what_does_not_go_on_is_a_new_stretch_and_not_in_the_patch() {
    let call = |edits| (edits, "");
    let files = check(
        &[
            call(replaced("f", "19", "x")),
            (Vec::new(), &TEXT.replace("11", "eleven")),
            call(replaced("f", "19", "y")),
            call(replaced("f", "1\n2", "1\n\n2")),
        ],
        &[
            "net f, stretch 1 of 2: Update +1 -1 by 1",
            "net f, stretch 2 of 2: Update +2 -1 by 2; a new stretch, from line 4 of the log (c2, apply) on: the file was \
             not what the call before it left: something else changed it in between",
        ],
    );
    let (patch, left_out) = patch_of(&files);
    let patch = String::from_utf8(patch).expect("text");
    assert!(patch.contains("-19\n+x\n") && !patch.contains("+y"), "{patch}");
    assert!(
        left_out[0].starts_with("# f: not in the patch: a new stretch, from line 4 of the log"),
        "{left_out:?}"
    );
    // Whatever happened in between: it is as it was.
    let changed = TEXT.replace("11", "eleven");
    check(
        &[call(replaced("f", "19", "x")), (Vec::new(), &changed), call(replaced("f", "eleven", "11"))],
        &[],
    );
}

/// A transcript of Claude Code: edits of one file, each with the whole text before and the hunk.
fn transcript(edits: &[(&str, usize, &[&str])]) -> Vec<u8> {
    let mut log = String::new();
    for (number, (before, start, signed)) in edits.iter().enumerate() {
        let row = |kind: &str, content: serde_json::Value| {
            serde_json::json!({"type": kind, "uuid": format!("{kind}{number}"), "sessionId": "s", "cwd": "/w",
                "message": {"role": kind, "content": [content]}})
        };
        let id = format!("c{number}");
        let call = row(
            "assistant",
            serde_json::json!({"type": "tool_use", "id": id, "name": "Edit", "input": {"file_path": "/w/f"}}),
        );
        let mut answer =
            row("user", serde_json::json!({"type": "tool_result", "tool_use_id": id, "content": "done"}));
        let count = |sign: char| signed.iter().filter(|line| !line.starts_with(sign)).count();
        answer["toolUseResult"] = serde_json::json!({"filePath": "/w/f", "oldString": "o", "newString": "n",
            "originalFile": before, "structuredPatch": [{"oldStart": start, "oldLines": count('+'),
                "newStart": start, "newLines": count('-'), "lines": signed}]});
        log.push_str(&format!("{call}\n{answer}\n"));
    }
    log.into_bytes()
}

#[test]
fn whole_texts_tell_of_changes_that_no_hunk_meets() {
    let first: (&str, usize, &[&str]) = (TEXT, 1, &["-1", "+one", " 2", " 3"]);
    let between = TEXT.replacen("1\n", "one\n", 1);
    let second = |before: &str| {
        let log = transcript(&[first, (before, 17, &[" 17", " 18", "-19", "+x"])]);
        told(&net_of(&log))
    };
    assert_eq!(second(&between), ["net /w/f: Update +2 -2 by 2"]);
    let changed = between.replace("10\n", "ten\n");
    assert_eq!(
        second(&changed),
        [
            "net /w/f, stretch 1 of 2: Update +1 -1 by 1",
            "net /w/f, stretch 2 of 2: Update +1 -1 by 1; a new stretch, from line 4 of the log (c1, Edit) on: the file was \
             another one than the log's edits made it",
        ]
    );
}
