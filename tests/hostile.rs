//! Patches that want out: shapes that have led other tools to change, make or run what they must not.
//!
//! Each is applied by the binary in a root that has a neighbour; the neighbour must not change, and nothing may be run.

#![cfg(feature = "cli")]
#![expect(clippy::disallowed_methods, clippy::expect_used, reason = "a test reads files, and may fail")]

#[expect(dead_code, reason = "other tests use the rest")]
mod support;

use std::os::unix::fs::symlink;

use support::Place;

/// Makes a root with files, links and a neighbour that holds a secret.
fn place() -> Place {
    let place = Place::with(&[("f", "one\ntwo\n"), ("d/g", "one\ntwo\n")]);
    let out = place.beside("out");
    std::fs::create_dir_all(&out).expect("a folder");
    std::fs::write(out.join("secret"), "one\ntwo\n").expect("a file");
    for (target, name) in [
        ("../out", "leaves"),
        ("../out/secret", "to-secret"),
        ("../out/new", "dangles"),
        ("../out/new", "f.rej"),
        ("../out/new", "f.orig"),
        ("d", "stays"),
    ] {
        symlink(target, place.root().join(name)).expect("a link");
    }
    place
}

/// Applies a patch that must be refused: nothing changes, in the root or beside it.
fn check_refused(what: &str, patch: &str, status: i32) {
    let place = place();
    let absolute = place.beside("out/secret");
    let patch = patch.replace("{ABSOLUTE}", absolute.to_str().expect("text"));
    let neighbours = || support::read_tree(&place.beside("out"));
    let (before, out) = (place.tree(), neighbours());
    for more in [&[][..], &["--allow-overwrite"], &["--force"]] {
        let args = [&["apply", "-", "--no-sync"], more].concat();
        let run = place.run(&args, patch.as_bytes());
        assert_eq!(run.status, status, "{what}: {run:?}");
        assert_eq!(place.tree(), before, "{what}");
        assert_eq!(neighbours(), out, "{what}");
    }
}

fn unified(old: &str, new: &str) -> String {
    format!("--- {old}\n+++ {new}\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n")
}

#[test]
fn a_name_that_leads_out_is_refused() {
    for name in ["../out/secret", "d/../../out/secret", "{ABSOLUTE}", "leaves/secret", "to-secret"] {
        let both = unified(&format!("a/{name}"), &format!("b/{name}"));
        check_refused(name, &both.replace("a/{", "{").replace("b/{", "{"), 1);
        check_refused(name, &format!("*** Begin Patch\n*** Delete File: {name}\n*** End Patch\n"), 1);
        let update = format!("*** Begin Patch\n*** Update File: {name}\n@@\n one\n-two\n+2\n*** End Patch\n");
        check_refused(name, &update, 1);
    }
    for name in ["../out/new", "leaves/new", "leaves/n/e/w", "dangles", "{ABSOLUTE}2"] {
        let add = format!("*** Begin Patch\n*** Add File: {name}\n+x\n*** End Patch\n");
        check_refused(name, &add, 1);
    }
}

/// CVE-2015-1395: the second name of a rename or a copy was not looked at.
#[test]
fn the_second_name_of_a_rename_is_looked_at_too() {
    for (verb, from, to) in [
        ("rename", "f", "../out/new"),
        ("copy", "f", "../out/new"),
        ("rename", "../out/secret", "new"),
        ("copy", "../out/secret", "new"),
        ("rename", "f", "leaves/new"),
        ("copy", "to-secret", "new"),
    ] {
        let header = format!(
            "diff --git a/{from} b/{to}\nsimilarity index 100%\n{verb} from {from}\n{verb} to {to}\n"
        );
        check_refused(&header, &header, 1);
    }
    let moved = "*** Begin Patch\n*** Update File: f\n*** Move to: ../out/new\n@@\n-two\n+2\n*** End Patch\n";
    check_refused("move", moved, 1);
}

/// CVE-2018-1000156, CVE-2018-20969 and CVE-2019-13638: an ed script is handed to a program that runs its commands.
#[test]
fn an_ed_script_is_no_patch() {
    for script in
        ["1s/one/1/\n!touch ../out/new\nw\n", "0a\n!touch ../out/new\n.\nw\nq\n", "1,2d\nr !id\nw\n"]
    {
        check_refused("ed", script, 2);
        check_refused("ed", &format!("--- f\n+++ f\n{script}"), 2);
        check_refused("ed", &format!("Index: f;touch ../out/new\n{script}"), 2);
    }
}

/// CVE-2023-25652 and CVE-2019-13636: side files such as rejects were written through links.
#[test]
fn a_patch_that_does_not_fit_writes_no_side_file() {
    check_refused("rejects", &unified("a/f", "b/f").replace("-two", "-nowhere"), 1);
}

/// CVE-2010-4651, CVE-2015-1196 and CVE-2023-23946: a link that the same patch makes leads its later files out.
#[test]
fn a_link_of_the_same_patch_leads_nothing_out() {
    let link = "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+../out\n\\ No newline at end of file\n";
    let through =
        "diff --git a/l/new b/l/new\nnew file mode 100644\n--- /dev/null\n+++ b/l/new\n@@ -0,0 +1 @@\n+x\n";
    for patch in [format!("{link}{through}"), format!("{through}{link}")] {
        let place = place();
        let out = support::read_tree(&place.beside("out"));
        let run = place.run(&["apply", "-", "--no-sync"], patch.as_bytes());
        assert!(matches!(run.status, 1 | 2), "{run:?}");
        assert_eq!(support::read_tree(&place.beside("out")), out);
        assert!(!place.root().join("l").exists(), "{run:?}");
    }
}

/// CVE-2018-6952, CVE-2014-9637 and CVE-2019-20633: numbers in headers that are lies.
#[test]
fn numbers_that_are_lies_cost_nothing() {
    for header in [
        "@@ -1,99999999999999999999 +1,2 @@",
        "@@ -18446744073709551615,18446744073709551615 +1 @@",
        "@@ -1,2000000000 +1,2000000000 @@",
        "@@ -0,0 -0,0 @@",
    ] {
        let patch = format!("--- a/f\n+++ b/f\n{header}\n one\n-nowhere\n+2\n");
        let place = place();
        let before = place.tree();
        let run = place.run(&["apply", "-", "--no-sync"], patch.as_bytes());
        assert!(matches!(run.status, 1 | 2), "{header}: {run:?}");
        assert_eq!(place.tree(), before);
    }
    let binary = "diff --git a/f b/f\nindex 1..2\nGIT binary patch\ndelta 999999999999\nzcmZ\n\n";
    check_refused("binary", binary, 2);
}

#[test]
fn version_control_is_nobodys_to_patch() {
    for name in [
        ".git/hooks/post-checkout",
        ".GIT/config",
        "d/.git/config",
        ".git./config",
        "GIT~1/config",
        ".g\u{200C}it/x",
    ] {
        let add = format!("*** Begin Patch\n*** Add File: {name}\n+x\n*** End Patch\n");
        check_refused(name, &add, 1);
    }
}

#[test]
fn a_link_that_stays_inside_is_followed_and_kept() {
    let place = place();
    let run = place.run(&["apply", "-", "--no-sync"], unified("a/stays/g", "b/stays/g").as_bytes());
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(place.text("d/g"), "one\n2\n");
    assert!(place.root().join("stays").is_symlink());
}

#[test]
fn a_link_to_nothing_is_not_written_through() {
    let place = Place::with(&[("f", "x\n")]);
    symlink("nowhere", place.root().join("gone")).expect("a link");
    let before = place.tree();
    for args in [&["write", "gone"][..], &["edit", "gone", "--old", "x", "--new", "y"]] {
        let run = place.run(args, b"text\n");
        assert_eq!((run.status, place.tree()), (1, before.clone()), "{run:?}");
        assert!(run.stderr.contains("leads to nothing"), "{run:?}");
    }
}

/// Nothing here may wait for a writer that never comes.
#[test]
fn what_is_no_file_is_not_opened() {
    let place = Place::with(&[("d/f", "x\n")]);
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let at = place.root().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &at, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
    for name in ["pipe", "d"] {
        for args in [&["write", name][..], &["edit", name, "--old", "x", "--new", "y"]] {
            let run = place.run(args, b"text\n");
            assert_eq!(run.status, 1, "{run:?}");
            assert!(run.stderr.contains("not a regular file"), "{run:?}");
        }
    }
    let run = place.run(&["write", "/dev/null", "--root", "/"], b"text\n");
    assert_eq!(run.status, 1, "{run:?}");
}
