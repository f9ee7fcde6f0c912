//! `hunkwise diff` as it is run: outputs, exit statuses, and trees that git turns into each other by its patches.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make files and start programs, and a failure is to be loud"
)]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::process::Output;
use std::process::Stdio;

use proptest::prelude::*;

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    File(Vec<u8>),
    Program(Vec<u8>),
    Link(Vec<u8>),
}

type Tree = BTreeMap<String, Node>;

fn file(text: impl AsRef<[u8]>) -> Node {
    Node::File(text.as_ref().to_vec())
}

fn tree(nodes: &[(&str, Node)]) -> Tree {
    nodes.iter().map(|(path, node)| ((*path).to_owned(), node.clone())).collect()
}

fn write_tree(top: &Path, tree: &Tree) {
    fs::create_dir_all(top).unwrap();
    for (path, node) in tree {
        let place = top.join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        match node {
            Node::Link(target) => symlink(std::ffi::OsStr::from_bytes(target), &place).unwrap(),
            Node::File(content) | Node::Program(content) => {
                fs::write(&place, content).unwrap();
                let mode = if matches!(node, Node::Program(_)) { 0o755 } else { 0o644 };
                fs::set_permissions(&place, PermissionsExt::from_mode(mode)).unwrap();
            }
        }
    }
}

fn read_tree(top: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut pending = vec![top.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let place = entry.unwrap().path();
            let metadata = place.symlink_metadata().unwrap();
            let node = if metadata.is_symlink() {
                Node::Link(place.read_link().unwrap().as_os_str().as_bytes().to_vec())
            } else if metadata.is_dir() {
                pending.push(place);
                continue;
            } else if metadata.permissions().mode() & 0o100 != 0 {
                Node::Program(fs::read(&place).unwrap())
            } else {
                Node::File(fs::read(&place).unwrap())
            };
            tree.insert(place.strip_prefix(top).unwrap().to_str().unwrap().to_owned(), node);
        }
    }
    tree
}

/// Two trees, `old` and `new`, in a temporary folder.
fn trees(old: &Tree, new: &Tree) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_tree(&folder.path().join("old"), old);
    write_tree(&folder.path().join("new"), new);
    folder
}

fn hunkwise(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hunkwise"))
        .arg("diff")
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It need not read its input.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// Runs the command and compares status, stdout and stderr.
fn check(folder: &Path, arguments: &[&str], status: i32, stdout: &str, stderr: &str) {
    let output = hunkwise(folder, arguments, b"");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(
        (&*out, &*err, output.status.code()),
        (stdout, stderr, Some(status)),
        "hunkwise diff {arguments:?}\n{out}"
    );
}

fn git_apply(patch: &[u8], folder: &Path) {
    let mut child = Command::new("git")
        .args(["apply", "--whitespace=nowarn", "-"])
        .current_dir(folder)
        .env("GIT_CEILING_DIRECTORIES", folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(patch).unwrap();
    let output = child.wait_with_output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{complaint}\n{}", String::from_utf8_lossy(patch));
}

/// Compares two trees, lets git apply the patch to the old one and compares what it makes of it with the new one.
fn check_round_trip(old: &Tree, new: &Tree) -> String {
    let folder = trees(old, new);
    let output = hunkwise(folder.path(), &["--output", "patch", "old", "new"], b"");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(i32::from(old != new)));
    assert_eq!(output.stdout.is_empty(), old == new);
    if old != new {
        git_apply(&output.stdout, &folder.path().join("old"));
    }
    let patch = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(&read_tree(&folder.path().join("old")), new, "{patch}");
    for kind in ["card", "json", "stat"] {
        let output = hunkwise(folder.path(), &["--output", kind, "old", "new"], b"");
        assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(0), true));
    }
    patch
}

fn numbers(count: usize, changed: &[usize]) -> String {
    (1..=count)
        .map(|number| format!("{}line {number}\n", if changed.contains(&number) { "new " } else { "" }))
        .collect()
}

fn example() -> (Tree, Tree) {
    let same = file("same\n");
    let old = tree(&[
        ("bin", file(b"a\0b")),
        ("docs/guide.txt", file(numbers(20, &[]))),
        ("gone", file("gone\n")),
        ("kind", Node::Link(b"target".to_vec())),
        ("link", Node::Link(b"here".to_vec())),
        ("plain", file("unchanged but moved\n")),
        ("run", file("#!/bin/sh\n")),
        ("same", same.clone()),
        ("src/a.rs", file("fn a() {\n    1\n}\n")),
    ]);
    let new = tree(&[
        ("bin", file(b"a\0cd")),
        ("docs/manual.txt", file(numbers(20, &[7]))),
        ("empty", file("")),
        ("kind", file("text\n")),
        ("link", Node::Link(b"there".to_vec())),
        ("run", Node::Program(b"#!/bin/sh\n".to_vec())),
        ("same", same),
        ("sub/plain", file("unchanged but moved\n")),
        ("src/a.rs", file("fn a() {\n    2\n}\n")),
    ]);
    (old, new)
}

#[test]
fn folders_as_cards() {
    let (old, new) = example();
    let folder = trees(&old, &new);
    let cards = "\
● update bin
  binary, not shown: 3 bytes before, 4 bytes after

● rename docs/manual.txt  +1 -1
  renamed: docs/guide.txt → docs/manual.txt
   4  4 │   line 4
   5  5 │   line 5
   6  6 │   line 6
   7    │ - line 7
      7 │ + new line 7
   8  8 │   line 8
   9  9 │   line 9
  10 10 │   line 10

● create empty
  new file
  empty file

● delete gone  +0 -1
  deleted
   1    │ - gone

● delete kind  +0 -1
  symbolic link
  deleted
   1    │ - target

● create kind  +1 -0
  new file
      1 │ + text

● update link  +1 -1
  symbolic link
   1    │ - here
      1 │ + there

● update run
  mode 100644 → 100755

● update src/a.rs  +1 -1
  @@ fn a() {
   1  1 │   fn a() {
   2    │ -     1
      2 │ +     2
   3  3 │   }

● rename sub/plain
  renamed: plain → sub/plain
";
    check(folder.path(), &["old", "new"], 1, cards, "");
}

#[test]
fn folders_as_a_table() {
    let (old, new) = example();
    let folder = trees(&old, &new);
    let table = [
        " bin                               | ?",
        " docs/guide.txt => docs/manual.txt | 2 +-",
        " empty                             | 0",
        " gone                              | 1 -",
        " kind                              | 1 -",
        " kind                              | 1 +",
        " link                              | 2 +-",
        " run                               | 0",
        " src/a.rs                          | 2 +-",
        " plain => sub/plain                | 0",
        " 10 files changed, 4 insertions(+), 5 deletions(-)",
        "",
    ];
    check(folder.path(), &["--output", "stat", "old", "new"], 1, &table.join("\n"), "");
}

#[test]
fn folders_as_a_patch() {
    let (old, new) = example();
    let patch = check_round_trip(&old, &new);
    let index = "index 20b5be91886d0b6f26dc98a225c0dac05fe2c86e..";
    assert!(patch.starts_with(&format!("diff --git a/bin b/bin\n{index}")), "{patch}");
    assert!(patch.contains("\nGIT binary patch\nliteral 4\n"), "{patch}");
    let from_rename = patch.split_once("diff --git a/docs").unwrap().1;
    assert_eq!(
        format!("diff --git a/docs{from_rename}"),
        "\
diff --git a/docs/guide.txt b/docs/manual.txt
similarity index 92%
rename from docs/guide.txt
rename to docs/manual.txt
--- a/docs/guide.txt
+++ b/docs/manual.txt
@@ -4,7 +4,7 @@
 line 4
 line 5
 line 6
-line 7
+new line 7
 line 8
 line 9
 line 10
diff --git a/empty b/empty
new file mode 100644
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/kind b/kind
deleted file mode 120000
--- a/kind
+++ /dev/null
@@ -1 +0,0 @@
-target
\\ No newline at end of file
diff --git a/kind b/kind
new file mode 100644
--- /dev/null
+++ b/kind
@@ -0,0 +1 @@
+text
diff --git a/link b/link
--- a/link
+++ b/link
@@ -1 +1 @@
-here
\\ No newline at end of file
+there
\\ No newline at end of file
diff --git a/run b/run
old mode 100644
new mode 100755
diff --git a/src/a.rs b/src/a.rs
--- a/src/a.rs
+++ b/src/a.rs
@@ -1,3 +1,3 @@
 fn a() {
-    1
+    2
 }
diff --git a/plain b/sub/plain
similarity index 100%
rename from plain
rename to sub/plain
"
    );
}

#[test]
fn two_files() {
    let folder = trees(
        &tree(&[("a.txt", file("one\ntwo\n")), ("b.txt", file("one\n2\n"))]),
        &tree(&[("a.txt", file("one\ntwo\n")), ("sub/x", file(""))]),
    );
    let folder = folder.path();
    check(
        folder,
        &["--output", "patch", "old/a.txt", "./old/b.txt"],
        1,
        "diff --git a/old/a.txt b/old/b.txt\n--- a/old/a.txt\n+++ b/old/b.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
        "",
    );
    check(
        folder,
        &["old/a.txt", "old/b.txt"],
        1,
        "● compare old/a.txt with old/b.txt  +1 -1\n   1  1 │   one\n   2    │ - two\n      2 │ + 2\n",
        "",
    );
    // A folder beside a file stands for the file of the same name in it.
    check(folder, &["old/a.txt", "new"], 0, "", "");
    check(folder, &["new", "old/a.txt"], 0, "", "");
    check(
        folder,
        &["--output", "patch", "/dev/null", "old/a.txt"],
        1,
        "diff --git a/old/a.txt b/old/a.txt\nnew file mode 100644\n--- /dev/null\n+++ b/old/a.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n",
        "",
    );
    check(folder, &["--root", "old", "a.txt", "../new/a.txt"], 0, "", "");
    check(
        folder,
        &["--json", "old/a.txt", "old/b.txt"],
        1,
        concat!(
            r#"{"schema":"hunkwise/card/v1","card":"diff","title":"compare old/a.txt with old/b.txt","#,
            r#""status":"unknown","source":{"format":"files","line":1,"tool":"diff"},"#,
            r#""files":[{"path":"old/b.txt","operation":"update","from":"old/a.txt","added":1,"removed":1,"#,
            r#""eol":{"before":"lf","after":"lf"},"mode":{"before":"100644","after":"100644"},"#,
            r#""recorded":"texts"}],"diffs":[{"path":"old/b.txt","oldText":"one\ntwo","newText":"one\n2","#,
            r#""oldStart":1,"oldLines":2,"newStart":1,"newLines":2}]}"#,
            "\n"
        ),
        "",
    );
}

#[test]
fn text_of_other_encodings_is_shown_as_text() {
    let utf16 = |text: &str| {
        let units = [0xFEFF].into_iter().chain(text.encode_utf16());
        file(units.flat_map(u16::to_le_bytes).collect::<Vec<u8>>())
    };
    let old = tree(&[
        ("guess", file(b"caf\xE9\nx\n")),
        ("utf-16", utf16("é\r\nx\r\n")),
        ("converted", utf16("é\n")),
        ("not", file(b"\xFF\xFE\0\0a\0\0\0")),
    ]);
    let new = tree(&[
        ("guess", file(b"caf\xE9\ny \xBD\n")),
        ("utf-16", utf16("é\r\ny")),
        ("converted", file("\u{FEFF}é\n")),
        ("not", file(b"\xFF\xFE\0\0b\0\0\0")),
    ]);
    let folder = trees(&old, &new);
    let check = |name: &str, stdout: &str| {
        check(folder.path(), &[&format!("old/{name}"), &format!("new/{name}")], 1, stdout, "");
    };
    check(
        "guess",
        "● compare old/guess with new/guess  +1 -1\n   1  1 │   café\n   2    │ - x\n      2 │ + y ½\n",
    );
    check(
        "utf-16",
        "● compare old/utf-16 with new/utf-16  +1 -1\n  final newline removed\n   1  1 │   é\n   2    │ - x\n      2 │ + y\n",
    );
    check("converted", "● compare old/converted with new/converted\n  encoding utf-16le → utf-8\n");
    check("not", "● compare old/not with new/not\n  binary, not shown: 8 bytes before, 8 bytes after\n");
    // What a patch holds are bytes: git takes UTF-16 for binary, and the others for text.
    check_round_trip(&old, &new);
}

#[test]
fn standard_input_takes_the_name_of_the_other_side() {
    let folder = trees(&tree(&[("a", Node::Program(b"old\n".to_vec()))]), &Tree::new());
    let patch = |old, new| {
        let output = hunkwise(folder.path(), &["--output", "patch", "--context", "0", old, new], b"in\n");
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let head = "diff --git a/old/a b/old/a\n--- a/old/a\n+++ b/old/a\n@@ -1 +1 @@\n";
    assert_eq!(patch("-", "old/a"), (Some(1), format!("{head}-in\n+old\n")));
    assert_eq!(patch("old/a", "-"), (Some(1), format!("{head}-old\n+in\n")));
    assert_eq!(hunkwise(folder.path(), &["-", "old/a"], b"old\n").status.code(), Some(0));
}

#[test]
fn the_status_tells_and_trouble_is_named() {
    let folder = trees(&tree(&[("a", file("1\n")), ("d/x", file(""))]), &tree(&[("a", file("2\n"))]));
    let folder = folder.path();
    check(folder, &["--quiet", "old", "new"], 1, "", "");
    check(folder, &["--quiet", "old/a", "new/a"], 1, "", "");
    check(folder, &["--quiet", "old", "old"], 0, "", "");
    check(folder, &["old", "old"], 0, "", "");
    check(folder, &["old", "gone"], 2, "", "error: cannot read gone: no such file or directory\n");
    check(folder, &["old/d/x", "new"], 2, "", "error: cannot read new/x: no such file or directory\n");
    check(folder, &["-", "-"], 2, "", "error: only one side can be standard input\n");
    check(folder, &["-", "old"], 2, "", "error: can't compare - with the folder old\n");
    let context = "error: --context goes with --output patch: cards always show three lines\n";
    check(folder, &["--context", "1", "old", "new"], 2, "", context);
    let json = hunkwise(folder, &["--json", "old", "gone"], b"");
    assert_eq!(json.status.code(), Some(2));
    assert!(json.stdout.starts_with(br#"{"schema":"hunkwise/error/v1","ok":false"#));
}

#[test]
fn what_is_no_file_is_named_and_not_compared() {
    let folder = trees(&tree(&[("a", file("1\n"))]), &tree(&[("a", file("1\n"))]));
    let pipe = folder.path().join("new/pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    check(folder.path(), &["old", "new"], 0, "", "note: new/pipe: a named pipe, not compared\n");
}

#[test]
fn many_files_on_one_side_are_only_searched_for_equal_ones() {
    let many = |letter: &str| -> Tree {
        let text = |number| if number == 7 { "seven".to_owned() } else { format!("{letter}{number}") };
        (0..4100).map(|number| (format!("{letter}{number:04}"), file(text(number)))).collect()
    };
    let folder = trees(&many("a"), &many("b"));
    let output = hunkwise(folder.path(), &["--output", "stat", "old", "new"], b"");
    assert_eq!(output.status.code(), Some(1));
    let (table, notes) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(notes.starts_with("note: too many files are on one side only"), "{notes}");
    assert_eq!((table.matches(" => ").count(), table.contains(" a0007 => b0007 |")), (1, true), "{table}");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = trees(&tree(&[("a", file("1\n"))]), &tree(&[("a", file("2\n"))]));
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = Command::new(env!("CARGO_BIN_EXE_hunkwise"))
        .args(["diff", "--output", "patch", "old", "new"])
        .current_dir(folder.path())
        .stdout(writer)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(1), ""));
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        Just("a\n"),
        Just("b\n"),
        Just("\n"),
        Just("c\r\n"),
        Just("a longer line\n"),
        Just("no end")
    ];
    let text = prop::collection::vec(line, 0..10).prop_map(|lines| lines.concat().into_bytes());
    // Some lines in common, so that renamed files are found again.
    let body = (0_usize..12).prop_map(|changed| numbers(12, &[changed]).into_bytes());
    prop_oneof![3 => text, 4 => body, 1 => prop::collection::vec(any::<u8>(), 0..40)]
}

fn any_tree() -> impl Strategy<Value = Tree> {
    const NAMES: &[&str] =
        &["a", "a/b", "a/c d", "a.x", "b/a", "b/\"q\" \\", "b/tab\there", "caf\u{e9}", "e", "f/g/h", "z z"];
    let node = prop_oneof![
        4 => content().prop_map(Node::File),
        1 => content().prop_map(Node::Program),
        // Where nothing is: git looks through a link that goes for what is to come below it, and stumbles over a loop.
        1 => "[xy/]{0,4}[xy]".prop_map(|target| Node::Link(target.into_bytes())),
    ];
    prop::collection::btree_map(prop::sample::select(NAMES), node, 0..8).prop_map(|nodes| {
        let nodes: Tree = nodes.into_iter().map(|(path, node)| (path.to_owned(), node)).collect();
        // A path can't be a file and a folder.
        let is_folder = |path: &str| nodes.keys().any(|other| other.starts_with(&format!("{path}/")));
        nodes.clone().into_iter().filter(|(path, _)| !is_folder(path)).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn git_turns_one_tree_into_the_other(old in any_tree(), new in any_tree()) {
        check_round_trip(&old, &new);
    }
}

#[test]
#[cfg(feature = "syntax")]
fn what_a_run_colours_by_syntax_is_bounded() {
    let line = format!("let a = 1; // {}\n", "x".repeat(885));
    let file = Node::File(line.repeat(100).into_bytes());
    let new: Tree = ["a.rs", "b.rs", "c.rs", "d.rs"].map(|name| (name.to_owned(), file.clone())).into();
    let folder = trees(&Tree::new(), &new);
    let shown = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hunkwise"));
        command.args(["diff", "old", "new", "--full", "--color", "always"]).args(more);
        let output =
            command.current_dir(folder.path()).env_clear().env("TERM", "xterm-256color").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    // Two of the files are coloured, the third says why it is not, and the fourth need not say it again.
    let [colored, plain] = [shown(&[]), shown(&["--syntax", "never"])];
    assert_eq!(colored.matches("\u{1b}[38;5;210;48;5;22mlet").count(), 200);
    assert_eq!(colored.matches("not coloured by syntax from here on").count(), 1);
    assert!(!plain.contains("38;5;210") && !plain.contains("by syntax"));
}
