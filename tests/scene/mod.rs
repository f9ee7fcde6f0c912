//! Trees in memory, random patches of them, and what a plan makes of a tree: for properties of the core without the disk.

use std::collections::BTreeMap;
use std::sync::Arc;

use hunkwise::patch::Body;
use hunkwise::patch::Content;
use hunkwise::patch::Existing;
use hunkwise::patch::FileEdit;
use hunkwise::patch::Hunk;
use hunkwise::patch::Replace;
use hunkwise::patch::ReplaceCount;
use hunkwise::plan::After;
use hunkwise::plan::FileState;
use hunkwise::plan::FoundFile;
use hunkwise::plan::Given;
use hunkwise::plan::Options;
use hunkwise::plan::Plan;
use hunkwise::plan::Planner;
use hunkwise::plan::Stamp;
use hunkwise::plan::Want;
use hunkwise::plan::outcome;
use hunkwise::plan::outcome::Detail;
use hunkwise::report::CommandName;
use hunkwise::report::Problem;
use hunkwise::report::RecordMeta;
use hunkwise::text::Document;
use hunkwise::text::PathText;
use proptest::prelude::*;

/// A file's bytes and mode, by its path.
pub type Tree = BTreeMap<Vec<u8>, (Vec<u8>, u32)>;

pub const NO_LIMIT: usize = usize::MAX;
/// What the system gives a new file.
pub const DEFAULT_MODE: u32 = 0o100_644;

pub fn tree(files: &[(&str, &str)]) -> Tree {
    let entry = |&(path, text): &(&str, &str)| (path.into(), (text.into(), DEFAULT_MODE));
    files.iter().map(entry).collect()
}

pub fn given(tree: &Tree, want: &Want) -> Given {
    let real = want.path.normalized();
    let state = tree.get(real.bytes()).map_or(FileState::Absent, |(bytes, mode)| {
        FileState::File(FoundFile {
            document: Arc::new(Document::new(bytes.clone())),
            mode: *mode,
            hard_links: 1,
            stamp: Stamp::default(),
        })
    });
    Given { real, state, link: None }
}

/// Plans edits; those that don't fit are left out.
pub fn planned(tree: &Tree, edits: &[FileEdit], options: Options) -> Plan {
    let mut planner = Planner::new(options);
    for (index, edit) in edits.iter().enumerate() {
        for want in planner.wants(edit) {
            let given = given(tree, &want);
            planner.give(want, given);
        }
        let _ = planner.plan(index + 1, edit);
    }
    planner.finish()
}

/// Plans the way back of some calls, newest first.
pub fn inverse(tree: &Tree, records: &[&RecordMeta]) -> Result<Plan, Vec<Problem>> {
    let mut planner = Planner::new(Options::default());
    for record in records {
        for want in planner.wants_inverse(record) {
            let given = given(tree, &want);
            planner.give(want, given);
        }
        planner.inverse(1, record)?;
    }
    Ok(planner.finish())
}

/// Writes a plan to the tree in memory, all names at once.
pub fn write(tree: &mut Tree, plan: &Plan) {
    let mut arrived = Vec::new();
    let mut gone = Vec::new();
    for file in &plan.files {
        let before = file.before.as_ref().map_or(&b""[..], |found| found.document.bytes());
        gone.extend(file.source.iter().map(|source| source.bytes().to_vec()));
        let bytes = match &file.after {
            None => {
                gone.push(file.target.bytes().to_vec());
                continue;
            }
            Some(After::Same) => before.to_vec(),
            Some(After::Spliced(splices)) => splices.apply(before),
            Some(After::Whole(document)) => document.bytes().to_vec(),
        };
        let mode = file.mode.or(file.before.as_ref().map(|found| found.mode)).unwrap_or(DEFAULT_MODE);
        arrived.push((file.target.bytes().to_vec(), (bytes, mode)));
    }
    for path in gone {
        tree.remove(&path);
    }
    tree.extend(arrived);
}

/// Records a plan as a log does, with all that JSON makes of it.
pub fn recorded(plan: &Plan, limit_undo_bytes: usize) -> RecordMeta {
    let detail = Detail { texts: true, max_text_bytes: NO_LIMIT };
    let done = outcome::of_plan(plan, CommandName::Apply, false, detail);
    let record = outcome::record(plan, &done, limit_undo_bytes);
    serde_json::from_str(&serde_json::to_string(&record).expect("JSON")).expect("a record")
}

/// Applies and records; the tree is the one after.
pub fn applied(tree: &mut Tree, edits: &[FileEdit], options: Options) -> RecordMeta {
    let plan = planned(tree, edits, options);
    let record = recorded(&plan, NO_LIMIT);
    write(tree, &plan);
    record
}

pub fn edit(path: &[u8], body: Body) -> FileEdit {
    FileEdit {
        path: PathText::new(path),
        move_to: None,
        is_copy: false,
        mode: None,
        mode_before: None,
        body,
        line_number: 0,
        expect_sha256: None,
        complete: true,
    }
}

pub fn content(bytes: &[u8]) -> Body {
    Body::Content(Content { bytes: bytes.to_vec(), existing: Existing::Replace, keep_style: false })
}

pub fn replacement(old: &str, new: &str) -> Body {
    let replace =
        Replace { old: old.into(), new: new.into(), count: ReplaceCount::All, old_is_complete: true };
    Body::Hunks(vec![Hunk::Replace(replace)])
}

pub fn path() -> impl Strategy<Value = Vec<u8>> {
    prop::sample::select(vec![
        b"a".to_vec(),
        b"b".to_vec(),
        b"c".to_vec(),
        b"d/e".to_vec(),
        b"caf\xE9".to_vec(),
    ])
}

/// Contents of every kind: endings, no final newline, empty, a byte order mark, other encodings, binary.
pub fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let lines = prop::collection::vec(
        prop::sample::select(vec!["x\n", "x\r\n", "y\n", "\n", "\r\n", "z", "x y\n", "lone\rcr\n"]),
        0..8,
    );
    prop_oneof![
        6 => lines.prop_map(|lines| lines.concat().into_bytes()),
        1 => Just(b"\xEF\xBB\xBFx\r\ny".to_vec()),
        1 => Just(b"caf\xE9\nx\n".to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ]
}

pub fn mode() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![DEFAULT_MODE, 0o100_755, 0o100_600, 0o104_755])
}

pub fn any_edit() -> impl Strategy<Value = FileEdit> {
    let target = prop::option::of(path());
    let new_mode = prop::option::weighted(0.3, prop::sample::select(vec![DEFAULT_MODE, 0o100_755]));
    (path(), target, any::<bool>(), new_mode, 0..4_u8, bytes()).prop_map(
        |(path, target, is_copy, mode, kind, bytes)| {
            let (body, moves) = match kind {
                0 => (content(&bytes), false),
                1 => (Body::Delete(Vec::new()), false),
                2 => (replacement("x", "longer\nx"), true),
                _ => (Body::Hunks(Vec::new()), true),
            };
            let move_to = target.filter(|_| moves).map(PathText::new);
            let is_copy = is_copy && move_to.is_some();
            FileEdit { move_to, is_copy, mode, ..edit(&path, body) }
        },
    )
}

pub fn any_tree() -> impl Strategy<Value = Tree> {
    prop::collection::btree_map(path(), (bytes(), mode()), 0..5)
}

pub fn overwriting() -> Options {
    Options { overwrites: true, ..Options::default() }
}
