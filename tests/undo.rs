//! Undo as a property of the core, without the disk: whatever a patch did to a tree, its record takes back.

#![expect(clippy::expect_used, reason = "a test may fail")]

mod scene;

use hunkwise::patch::Body;
use hunkwise::patch::FileEdit;
use hunkwise::plan::Options;
use hunkwise::plan::outcome;
use hunkwise::report::Code;
use hunkwise::report::NoUndo;
use hunkwise::report::Operation;
use hunkwise::report::Problem;
use hunkwise::report::RecordMeta;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use scene::*;

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("proptest-regressions/undo.txt"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn undo_gives_the_tree_back_and_undo_of_undo_makes_it_again(
        before in any_tree(),
        edits in prop::collection::vec(any_edit(), 1..6),
    ) {
        let mut tree = before.clone();
        let record = applied(&mut tree, &edits, overwriting());
        let after = tree.clone();
        let back = inverse(&tree, &[&record]).expect("it fits");
        let back_record = recorded(&back, NO_LIMIT);
        write(&mut tree, &back);
        prop_assert_eq!(&tree, &before);
        let again = inverse(&tree, &[&back_record]).expect("it fits");
        write(&mut tree, &again);
        prop_assert_eq!(&tree, &after);
    }

    #[test]
    fn several_calls_are_taken_back_together_as_one_by_one(
        before in any_tree(),
        calls in prop::collection::vec(prop::collection::vec(any_edit(), 1..4), 1..5),
    ) {
        let mut tree = before.clone();
        let records: Vec<RecordMeta> =
            calls.iter().map(|edits| applied(&mut tree, edits, overwriting())).collect();
        let newest_first: Vec<&RecordMeta> = records.iter().rev().collect();
        let mut together = tree.clone();
        let plan = inverse(&together, &newest_first).expect("it fits");
        let record = recorded(&plan, NO_LIMIT);
        write(&mut together, &plan);
        prop_assert_eq!(&together, &before);
        for record in newest_first {
            let plan = inverse(&tree, &[record]).expect("it fits");
            write(&mut tree, &plan);
        }
        prop_assert_eq!(&tree, &before);
        // The record of the undo of all leads forward again in one step.
        let again = inverse(&together, &[&record]).expect("it fits");
        write(&mut together, &again);
        let mut forward = before;
        for edits in &calls {
            applied(&mut forward, edits, overwriting());
        }
        prop_assert_eq!(&together, &forward);
    }

    /// The call changes lines at one end of a file, somebody else some at the other: the undo is what the other's
    /// change alone would have made.
    #[test]
    fn later_changes_elsewhere_stay(
        head in prop::collection::vec("[a-c]{0,2}", 1..5),
        tail in prop::collection::vec("[a-c]{0,2}", 1..5),
        (new_head, new_tail) in (prop::collection::vec("[a-c]{0,2}", 0..5), prop::collection::vec("[a-c]{0,2}", 0..5)),
        (ending, is_open, call_is_first) in (prop::sample::select(vec!["\n", "\r\n"]), any::<bool>(), any::<bool>()),
    ) {
        let text = |head: &[String], tail: &[String]| {
            let middle: Vec<String> = (0..8).map(|number| format!("middle {number}")).collect();
            let lines: Vec<String> = [head, &middle, tail].concat();
            let text: String = lines.iter().map(|line| format!("{line}{ending}")).collect();
            // An empty last line without a newline would be no line.
            let is_open = is_open && lines.last().is_some_and(|line| !line.is_empty());
            if is_open { text[..text.len() - ending.len()].to_owned() } else { text }
        };
        let (called, others) = if call_is_first {
            (text(&new_head, &tail), text(&head, &new_tail))
        } else {
            (text(&head, &new_tail), text(&new_head, &tail))
        };
        let (old, both) = (text(&head, &tail), text(&new_head, &new_tail));
        // Whether the file ends in a newline is one property of it: two changes of it don't lie apart.
        let is_open = |text: &str| !text.ends_with('\n');
        if is_open(&old) != is_open(&called) || is_open(&old) != is_open(&both) || old == called || called == both {
            return Ok(());
        }
        let mut files = tree(&[("f", &old)]);
        let record = applied(&mut files, &[edit(b"f", content(called.as_bytes()))], Options::default());
        let now = tree(&[("f", &both)]);
        let mut undone = now.clone();
        match inverse(&now, &[&record]) {
            Ok(plan) => {
                write(&mut undone, &plan);
                prop_assert_eq!(undone, tree(&[("f", &others)]));
            }
            // Short hunks may stand twice, or be there already; that must be said, not guessed.
            Err(problems) => prop_assert!(problems.iter().all(|problem| problem.code == Code::Stale)),
        }
    }

    #[test]
    fn damaged_records_are_refused_or_lead_to_what_they_name(
        before in any_tree(),
        edits in prop::collection::vec(any_edit(), 1..4),
        (at, byte) in (any::<prop::sample::Index>(), any::<u8>()),
    ) {
        let mut tree = before.clone();
        let record = applied(&mut tree, &edits, overwriting());
        let mut json = serde_json::to_vec(&record).expect("JSON");
        let at = at.index(json.len());
        json[at] = byte;
        let Ok(record) = serde_json::from_slice::<RecordMeta>(&json) else { return Ok(()) };
        let Ok(plan) = inverse(&tree, &[&record]) else { return Ok(()) };
        write(&mut tree, &plan);
        // Whatever comes back is what the record's hash names.
        let back = recorded(&plan, NO_LIMIT);
        for file in record.files.iter().filter(|file| file.operation == Operation::Delete) {
            let restored: Vec<_> = back.files.iter().filter(|back| back.path == file.path).collect();
            if let [restored] = restored.as_slice()
                && record.files.iter().filter(|other| other.path == file.path).count() == 1
                && record.files.iter().all(|other| other.from.as_ref() != Some(&file.path))
            {
                prop_assert_eq!(&restored.after_sha256, &file.before_sha256);
            }
        }
    }
}

/// Checks what the undo of one edit makes of a tree that was changed since: a file's text, or the problem.
fn check(
    before: &[(&str, &str)],
    edits: &[FileEdit],
    now: &[(&str, &str)],
    expected: Result<&[(&str, &str)], &str>,
) {
    let mut files = tree(before);
    let record = applied(&mut files, edits, overwriting());
    let mut files = tree(now);
    let found = inverse(&files, &[&record]).map(|plan| {
        write(&mut files, &plan);
        files
    });
    let said = |problems: Vec<Problem>| {
        let lines = problems.iter().map(|problem| {
            let lines: Vec<String> = problem.candidates.iter().map(|place| place.line.to_string()).collect();
            let lines = if lines.is_empty() { String::new() } else { format!(" at {}", lines.join(", ")) };
            format!("{:?}: {}{lines}", problem.code, problem.message)
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(found.map_err(said), expected.map(tree).map_err(str::to_owned));
}

const TEXT: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

fn put_x() -> [FileEdit; 1] {
    [edit(b"f", replacement("2", "x"))]
}

#[test]
fn hunks_are_taken_back_where_later_changes_lie_elsewhere() {
    check(
        &[("f", TEXT)],
        &put_x(),
        &[("f", "0\n1\nx\n3\n4\n5\n6\n7\nlast")],
        Ok(&[("f", "0\n1\n2\n3\n4\n5\n6\n7\nlast")]),
    );
    let renamed = [FileEdit { move_to: Some("g".into()), ..put_x()[0].clone() }];
    let now = TEXT.replace('2', "x").replace('9', "nine");
    check(&[("f", TEXT)], &renamed, &[("g", &now)], Ok(&[("f", &TEXT.replace('9', "nine"))]));
    // A name alone comes back whatever the file holds now.
    let moved = [FileEdit { move_to: Some("g".into()), ..edit(b"f", Body::Hunks(Vec::new())) }];
    check(&[("f", TEXT)], &moved, &[("g", "other\n")], Ok(&[("f", "other\n")]));
    // So does a newline at the end, and the lack of one.
    let closed = [edit(b"f", content(TEXT.as_bytes()))];
    let open = TEXT.trim_end();
    check(
        &[("f", open)],
        &closed,
        &[("f", &TEXT.replace('1', "one"))],
        Ok(&[("f", &open.replace('1', "one"))]),
    );
    let opened = [edit(b"f", content(open.as_bytes()))];
    check(
        &[("f", TEXT)],
        &opened,
        &[("f", &open.replace('1', "one"))],
        Ok(&[("f", &TEXT.replace('1', "one"))]),
    );
}

#[test]
fn what_was_changed_since_is_refused_and_told() {
    let check = |edits: &[FileEdit], now: &[(&str, &str)], expected: &str| {
        check(&[("f", TEXT), ("g", "g\n")], edits, now, Err(expected));
    };
    let changed = "Stale: f was changed since the call: what hunk 1 of the call left ";
    check(
        &put_x(),
        &[("f", "1\ny\n3\n4\n5\n")],
        &format!("{changed}is not there any more; it comes nearest at line 2"),
    );
    check(
        &put_x(),
        &[("f", &[TEXT.replace('2', "x"), TEXT.replace('2', "x")].concat())],
        &format!("{changed}now stands several times at 1, 10"),
    );
    check(&put_x(), &[("f", "0\n1\n2\n3\n4\n5\n")], &format!("{changed}is taken back already"));
    check(&put_x(), &[("f", TEXT)], "AlreadyApplied: f is as it was before the call already");
    check(&put_x(), &[], "FileMissing: f is gone since the call left it");
    let made = [edit(b"new", content(b"x\n"))];
    check(&made, &[("new", "y\n")], "Stale: new was changed since the call made it");
    check(&made, &[], "AlreadyApplied: new is gone since the call left it");
    let deleted = [edit(b"f", Body::Delete(Vec::new()))];
    check(&deleted, &[("f", "y\n")], "FileExists: f is in the way: it was made since");
    check(&deleted, &[("f", TEXT)], "AlreadyApplied: f is there again, with its old content");
    let moved = [FileEdit { move_to: Some("h".into()), ..edit(b"f", Body::Hunks(Vec::new())) }];
    check(&moved, &[("f", "y\n"), ("h", TEXT)], "FileExists: f is in the way: it was made since");
    check(&moved, &[("f", TEXT)], "AlreadyApplied: h is at f again: the rename is taken back already");
    // Text alone does not tell which line ended how.
    let endings = [edit(b"g", content(b"g\r\n"))];
    check(&endings, &[("g", "g\r\nmore\r\n")], "Stale: g was changed since the call");
    // Every file that does not fit is told.
    let both = [put_x()[0].clone(), made[0].clone()];
    check(
        &both,
        &[("f", TEXT), ("new", "y\n")],
        "AlreadyApplied: f is as it was before the call already\nStale: new was changed since the call made it",
    );
}

#[test]
fn a_mode_comes_back_unless_it_was_changed_again() {
    let mut files = tree(&[("f", "x\n")]);
    let run = FileEdit { mode: Some(0o100_755), ..edit(b"f", Body::Hunks(Vec::new())) };
    let record = applied(&mut files, &[run], Options::default());
    let with_mode = |mode| Tree::from([(b"f".to_vec(), (b"x\ny\n".to_vec(), mode))]);
    let undone = |mode| {
        let mut files = with_mode(mode);
        inverse(&files, &[&record]).map(|plan| {
            write(&mut files, &plan);
            files
        })
    };
    assert_eq!(undone(0o100_755).expect("it fits"), with_mode(0o100_644));
    assert_eq!(undone(0o100_644).expect("it fits"), with_mode(0o100_644));
    let problems = undone(0o100_600).expect_err("it was changed");
    assert_eq!(problems[0].message, "the mode of f was changed since, from 100755 to 100600");
}

#[test]
fn more_old_bytes_than_the_limit_are_not_held_and_that_is_said() {
    let plan = planned(
        &tree(&[("f", TEXT), ("g", TEXT)]),
        &[put_x()[0].clone(), edit(b"g", content(b"n"))],
        overwriting(),
    );
    let mut files = tree(&[("f", TEXT), ("g", TEXT)]);
    write(&mut files, &plan);
    let record = recorded(&plan, 5);
    assert_eq!(record.files[0].no_undo, None, "one byte was replaced");
    assert_eq!(record.files[1].no_undo, Some(NoUndo::TooLarge));
    let problems = inverse(&files, &[&record]).expect_err("the bytes are not there");
    assert_eq!((problems.len(), problems[0].code), (1, Code::NotRecorded));
    let mut shed = recorded(&plan, NO_LIMIT);
    assert!(outcome::shed(&mut shed));
    assert_eq!(shed.files, record.files, "the largest goes first");
    assert!(outcome::shed(&mut shed) && !shed.diffs.is_empty());
    assert!(outcome::shed(&mut shed) && shed.diffs.is_empty());
    assert!(!outcome::shed(&mut shed), "nothing is left");
}
