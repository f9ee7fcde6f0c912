//! What every command prints, for people and for programs, held as files under `tests/golden/`.
//!
//! `UPDATE_GOLDEN=1 cargo test --test golden` writes them anew. Every line of JSON is held to the schema that
//! `hunkwise schema` prints under its name.

#![cfg(feature = "cli")]
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a test reads files, starts programs and may fail"
)]

#[expect(dead_code, reason = "other tests use the rest")]
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use support::Place;
use support::Run;

const SHOP: &str = "import math\n\n\nclass Cart:\n    def __init__(self):\n        self.items = []\n\n    def add(self, item):\n        self.items.append(item)\n\n    def total(self):\n        total = 0\n        for item in self.items:\n            total += item.price\n        return total\n";

/// A patch with every operation; a blank at a line's end makes one hunk match loosely.
const PATCH: &str = "*** Begin Patch
*** Update File: shop.py
@@ class Cart:
     def add(self, item):
-        self.items.append(item)
+        if item is not None:
+            self.items.append(item)
@@
     def total(self):
-        total = 0
-        for item in self.items:
-            total += item.price
-        return total
+        return math.fsum(item.price for item in self.items)
*** Add File: docs/new.md
+# New
+
+Text with \u{1b}[31mcontrol\u{7} bytes and \u{202e}bidi.
*** Delete File: old.txt
*** Update File: crlf.txt
*** Move to: moved/crlf.txt
@@
 one
-two
+2
*** End Patch
";

const MISFIT: &str = "*** Begin Patch
*** Update File: shop.py
@@
 class Cart:
     def __init__(self):
-        self.items = list()
+        self.items = {}
@@
-        total = 0
+        total = 0.0
*** Update File: gone.txt
@@
-x
+y
*** Add File: old.txt
+z
*** End Patch
";

const MALFORMED: &str =
    "*** Begin Patch\n*** Update File: shop.py\n@@\n class Cart:\nno sign\n*** End Patch\n";

fn place() -> Place {
    let tape: String = pieces(PATCH)
        .into_iter()
        .enumerate()
        .map(|(index, text)| format!("{}\n", serde_json::json!({ "t": index * 90, "delta": text })))
        .collect();
    let log = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/session.jsonl"));
    Place::with(&[
        ("shop.py", SHOP),
        ("old.txt", "last words\n"),
        ("crlf.txt", "one\r\ntwo\r\n"),
        ("bom.txt", "\u{FEFF}a\r\nb\r\n"),
        ("patch.txt", PATCH),
        ("misfit.txt", MISFIT),
        ("malformed.txt", MALFORMED),
        ("patch.tape", &tape),
        ("session.jsonl", &log.expect("the recorded session")),
        // What the session left.
        ("b.txt", "one\nzwei\nthree\n"),
    ])
}

/// Cuts a text into pieces of about forty bytes, at character borders.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for character in text.chars() {
        if pieces.last().is_some_and(|piece| piece.len() >= 40) {
            pieces.push(String::new());
        }
        pieces.last_mut().expect("a piece").push(character);
    }
    pieces
}

/// The commands by the name of their golden file.
const CASES: [(&str, &str, &str); 47] = [
    ("apply", "apply patch.txt", ""),
    ("apply-colour", "apply patch.txt --color always", ""),
    ("apply-json", "apply patch.txt --json", ""),
    ("apply-check", "apply --check patch.txt", ""),
    ("apply-call-id-json", "apply --json --call-id c7 --check patch.txt", ""),
    ("apply-misfit", "apply misfit.txt", ""),
    ("apply-misfit-json", "apply misfit.txt --json", ""),
    ("apply-malformed", "apply malformed.txt", ""),
    ("apply-malformed-json", "apply malformed.txt --json", ""),
    ("apply-quiet", "apply -q patch.txt", ""),
    ("edit", "edit shop.py --old items.append --new items.insert", ""),
    ("edit-all-json", "edit shop.py --old item --new thing --replace-all --json", ""),
    ("edit-ambiguous", "edit shop.py --old item --new thing", ""),
    ("edit-missing-json", "edit shop.py --old items.pop --new x --json", ""),
    ("write", "write new/file.txt", "fresh\ncontent\n"),
    ("write-json", "write old.txt --json", "other words\n"),
    ("write-style", "write bom.txt", "a\nc"),
    ("write-style-json", "write bom.txt --json", "a\nc"),
    ("write-same", "write old.txt", "last words\n"),
    ("write-binary-json", "write old.txt --json", "a\0b"),
    ("preview", "preview patch.tape", ""),
    ("preview-json", "preview patch.tape --json", ""),
    ("preview-no-locate-json", "preview --no-locate patch.tape --output json --interval 2s", ""),
    ("preview-misfit", "preview misfit.txt", ""),
    ("preview-misfit-json", "preview misfit.txt --json --fail-fast", ""),
    ("preview-malformed-json", "preview malformed.txt --json", ""),
    ("replay", "replay session.jsonl", ""),
    ("replay-json", "replay session.jsonl --json", ""),
    ("replay-stat", "replay session.jsonl --output stat", ""),
    ("replay-patch", "replay session.jsonl --output patch", ""),
    ("replay-failed", "replay --status failed session.jsonl --strict", ""),
    ("undo", "undo session.jsonl", ""),
    ("undo-check", "undo session.jsonl --check --last 2", ""),
    ("undo-json", "undo session.jsonl --last 3 --json", ""),
    ("undo-misfit", "undo session.jsonl --call call-2", ""),
    ("undo-misfit-json", "undo session.jsonl --call call-2 --json --check", ""),
    ("undo-nothing-json", "undo session.jsonl --turn 9 --json", ""),
    ("show", "show patch.txt", ""),
    ("show-json", "show patch.txt --json", ""),
    ("show-stat", "show patch.txt --output stat", ""),
    ("show-markdown", "show patch.txt --output markdown", ""),
    ("show-side-by-side", "show patch.txt --output side-by-side", ""),
    ("replay-html", "replay session.jsonl --output html", ""),
    ("replay-markdown", "replay session.jsonl --output markdown", ""),
    ("show-search-replace", "show patch.txt --output search-replace", ""),
    ("usage-json", "edit shop.py --nonsense --json", ""),
    ("io-json", "apply nowhere.txt --json", ""),
];

fn shown(run: &Run) -> String {
    let visible = |text: &str| text.replace('\u{1b}', "\u{241b}");
    format!("status {}\n--- stdout\n{}--- stderr\n{}", run.status, visible(&run.stdout), visible(&run.stderr))
}

fn compare(name: &str, text: &str) -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.txt"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, text).expect("a golden file is written");
        return None;
    }
    let wanted = fs::read_to_string(&path).unwrap_or_default();
    (wanted != text).then(|| format!("{name} differs; is now:\n{text}\nand was:\n{wanted}"))
}

#[test]
fn commands_print_what_they_printed() {
    let mut faults = Vec::new();
    for (name, args, stdin) in CASES {
        let args: Vec<&str> = args.split(' ').collect();
        faults.extend(compare(name, &shown(&place().run(&args, stdin.as_bytes()))));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The validators by the names that documents give.
fn validators() -> BTreeMap<String, jsonschema::Validator> {
    let place = Place::new();
    let names = place.run(&["schema"], b"").exits(0).stdout;
    let mut validators = BTreeMap::new();
    for name in names.lines() {
        let schema: Value =
            serde_json::from_str(&place.run(&["schema", name], b"").exits(0).stdout).expect("JSON");
        validators.insert(name.to_owned(), jsonschema::validator_for(&schema).expect("a schema"));
    }
    validators
}

#[test]
fn every_document_holds_to_its_schema() {
    let validators = validators();
    let mut seen = BTreeMap::new();
    for (name, args, stdin) in CASES.iter().filter(|(name, ..)| name.ends_with("-json")) {
        let args: Vec<&str> = args.split(' ').collect();
        for document in place().run(&args, stdin.as_bytes()).json_lines() {
            let schema = document["schema"].as_str().expect("its schema's name").to_owned();
            let short = schema.split('/').nth(1).expect("hunkwise/NAME/v1");
            let errors: Vec<String> =
                validators[short].iter_errors(&document).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{name}: {errors:?}: {document}");
            *seen.entry(schema).or_insert(0) += 1;
        }
    }
    assert_eq!(
        seen.into_keys().collect::<Vec<_>>(),
        ["hunkwise/card/v1", "hunkwise/error/v1", "hunkwise/outcome/v1", "hunkwise/preview/v1"]
    );
    // A document that is not of the schema is told.
    assert!(!validators["outcome"].is_valid(&serde_json::json!({ "ok": true })));
}

#[test]
fn the_record_in_a_log_holds_to_its_schema() {
    let place = place();
    place.run(&["apply", "patch.txt", "--log", "log.jsonl"], b"").exits(0);
    let log = place.text("log.jsonl");
    let result: Value = serde_json::from_str(log.lines().last().expect("the result")).expect("JSON");
    let meta = result.pointer("/data/message/content/0/meta").or(result.pointer("/data/meta"));
    let meta = meta.unwrap_or_else(|| panic!("no meta in {result}"));
    let errors: Vec<String> =
        validators()["record"].iter_errors(meta).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(meta["files"].as_array().map(Vec::len), Some(4));
}

#[test]
fn goldens_have_no_control_bytes_of_the_input() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for entry in fs::read_dir(folder).expect("the goldens") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "txt") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a golden");
        let strange = text.chars().find(|character| {
            character.is_control() && *character != '\n'
                || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        });
        assert_eq!(strange, None, "{}", path.display());
    }
}
