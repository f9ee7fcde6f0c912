//! The programs in `examples/`: what they say at their top is what they do.

#![expect(clippy::disallowed_methods, clippy::expect_used, reason = "a test starts programs and may fail")]

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// Cargo builds examples with all tests, beside them; for this one alone `cargo build --examples` has to.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this program");
    let folder = test.parent().and_then(Path::parent).expect("the folder of what was built");
    folder.join("examples").join(name)
}

/// Runs an example; returns whether it succeeded and what it printed.
fn run(name: &str, args: &[&str], folder: &Path, stdin: &str) -> (bool, String) {
    let mut command = Command::new(example(name));
    command.args(args).current_dir(folder).env("TMPDIR", folder);
    let done =
        assert_cmd::Command::from_std(command).write_stdin(stdin).output().expect("it was built and runs");
    assert!(!String::from_utf8_lossy(&done.stderr).contains("panicked"), "{done:?}");
    (done.status.success(), String::from_utf8(done.stdout).expect("text"))
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_harness_previews_and_applies() {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("a.txt"), "one\ntwo\n").expect("a file");
    let arguments = r#"{"file_path":"a.txt","old_string":"two","new_string":"2"}"#;
    let (ok, out) = run("harness", &["edit"], folder.path(), arguments);
    let told = lines(&out);
    assert!(ok, "{out}");
    assert_eq!((&told[0]["type"], &told[0]["files"][0]["placement"]), (&"preview".into(), &"located".into()));
    let outcome = told.last().expect("an outcome");
    assert_eq!((&outcome["ok"], &outcome["files"][0]["added"]), (&true.into(), &1.into()));
    assert_eq!(fs::read_to_string(folder.path().join("a.txt")).expect("the file"), "one\n2\n");
    let (ok, out) = run("harness", &["edit"], folder.path(), arguments);
    let outcome = lines(&out).pop().expect("an outcome");
    assert_eq!((ok, &outcome["error"]["code"]), (false, &"hunk-not-found".into()), "{out}");
}

#[test]
fn a_viewer_makes_a_page() {
    let folder = TempDir::new().expect("a folder");
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs/claude/early.jsonl");
    let (ok, page) = run("viewer", &[log.to_str().expect("a path")], folder.path(), "");
    assert!(ok && page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"), "{page}");
    assert_eq!(page.matches("id=\"card-").count(), 8);
}

#[test]
fn a_checker_writes_nothing() {
    let folder = TempDir::new().expect("a folder");
    fs::create_dir(folder.path().join("tree")).expect("a folder");
    fs::write(folder.path().join("tree/a.txt"), "one\ntwo\n").expect("a file");
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+2\n*** Add File: b\n+x\n*** End Patch\n";
    fs::write(folder.path().join("fix.patch"), patch).expect("a patch");
    let (ok, out) = run("checker", &["fix.patch", "tree"], folder.path(), "");
    assert_eq!((ok, out.as_str()), (true, "Update a.txt +1 -1\nCreate b +1 -0\n"));
    fs::write(folder.path().join("fix.patch"), patch.replace("-two", "-three")).expect("a patch");
    let (ok, out) = run("checker", &["fix.patch", "tree"], folder.path(), "");
    assert!(!ok && out.contains("a.txt"), "{out}");
    assert_eq!(fs::read_to_string(folder.path().join("tree/a.txt")).expect("the file"), "one\ntwo\n");
    assert!(!folder.path().join("tree/b").exists());
}
