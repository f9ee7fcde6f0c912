//! A card as a patch that `git apply` takes.
//!
//! Only what is known is written: a file edit without line numbers, of unknown line endings or with unrecorded
//! content is left out, and a comment says so. In sections nothing is escaped but names, in git's own way: a patch is
//! bytes. The patches of a session's cards, one after the other, are one patch of the tree before the session.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io;
use std::io::Write;

use super::escape::Charset;
use super::escape::Place;
use super::escape::escape;
use super::git_header::Change;
use super::git_header::Header;
use super::git_header::NO_NEWLINE;
use super::git_header::Prefixes;
use super::git_header::can_be_named;
use super::git_header::write_range;
use crate::diff::hunks::Sign;
use crate::diff::hunks::signed_lines;
use crate::report::Card;
use crate::report::CardFile;
use crate::report::CardStatus;
use crate::report::DiffNote;
use crate::report::EolName;
use crate::report::FileDiff;
use crate::report::Operation;
use crate::report::Recorded;
use crate::text::Charset as FileCharset;
use crate::text::path::within;

/// The mode that a file gets where none is recorded.
const USUAL_MODE: &str = "100644";
const UNNAMABLE: &str = "its path can't be written in a patch";
const ENDINGS_CHANGE: &str = "its line endings change, and hunks do not show all lines that do";

/// The patch of a session, card after card.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionPatch {
    /// The names of files that sections have changed.
    changed: HashSet<String>,
    /// The names of files that are not there when git comes to them, since what made them had to be left out.
    absent: HashSet<String>,
}

impl SessionPatch {
    /// Writes the changes of the next card as a git patch; returns how many had to be left out because too little of
    /// them is recorded, or because git can't be told of them.
    ///
    /// All hunks of one file are one section. What is left out has a comment in its place, which git passes over: also
    /// a change that was not made, which is no loss. Paths become relative to `root`, the folder of the session; a file
    /// that does not lie in it is left out.
    ///
    /// # Errors
    /// What the writer says.
    pub fn card(&mut self, out: &mut dyn Write, card: &Card, root: Option<&str>) -> io::Result<usize> {
        let mut lost = 0;
        for part in self.parts(card, root) {
            match part {
                Part::Section(bytes) => out.write_all(&bytes)?,
                Part::LeftOut { what, why, is_lost } => {
                    left_out(out, &what, &format!("{why} (line {} of the log)", card.source.line))?;
                    lost += usize::from(is_lost);
                }
            }
        }
        Ok(lost)
    }

    fn parts(&mut self, card: &Card, root: Option<&str>) -> Vec<Part> {
        let mut parts = Vec::with_capacity(card.files.len());
        let mut seen = HashSet::new();
        for file in &card.files {
            let left_out = |why, is_lost| Part::LeftOut { what: file.path.clone(), why, is_lost };
            let part = if let Some((why, is_lost)) = refusal(card, file.status.unwrap_or(card.status)) {
                left_out(why, is_lost)
            } else if seen.insert(file.path.as_str()) {
                let diffs: Vec<&FileDiff> = card.diffs.iter().filter(|diff| diff.path == file.path).collect();
                match placed(card, file, root).and_then(|file| self.section(&file, &diffs)) {
                    Ok(bytes) => Part::Section(bytes),
                    Err(why) => left_out(why, true),
                }
            } else {
                left_out("an earlier edit of the same path is in the same card", true)
            };
            parts.push(part);
        }
        let named = |diff: &&FileDiff| card.files.iter().any(|file| file.path == diff.path);
        if let Some(diff) = card.diffs.iter().find(|diff| !named(diff)) {
            let why = "the card does not name the file";
            parts.push(Part::LeftOut { what: diff.path.clone(), why, is_lost: true });
        }
        parts
    }

    /// Returns the section of a file, whose paths are those of the patch.
    fn section(&mut self, file: &CardFile, diffs: &[&FileDiff]) -> Result<Vec<u8>, &'static str> {
        let is_moved = matches!(file.operation, Operation::Rename | Operation::Copy);
        let source = file.from.as_ref().filter(|_| is_moved).unwrap_or(&file.path);
        let is_made = file.operation == Operation::Create || is_moved;
        let made = if file.operation != Operation::Create && self.absent.contains(source) {
            Err("the change that made the file is not in the patch")
        } else if is_moved && self.changed.contains(source) {
            // Git reads what is renamed or copied as it was before the whole patch, so the earlier change would be lost.
            Err("git can't rename or copy a file that the same patch changes before")
        } else {
            section(file, diffs, Prefixes::Git)
        };
        if made.is_ok() {
            self.changed.extend([source.clone(), file.path.clone()]);
        }
        if made.is_ok() && is_made {
            self.absent.remove(&file.path);
        } else if is_made {
            self.absent.insert(file.path.clone());
        }
        made
    }
}

/// Writes the comment that stands in a patch for a change that is not in it.
///
/// # Errors
/// What the writer says.
pub fn left_out(out: &mut dyn Write, what: &str, why: &str) -> io::Result<()> {
    let text = format!("{what}: not in the patch: {why}");
    writeln!(out, "# {}", escape(&text, Place::Name, Charset::Unicode))
}

/// What stands in a patch for one file of a card.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    Section(Vec<u8>),
    /// Nothing.
    LeftOut {
        what: String,
        why: &'static str,
        /// There may have been a change.
        is_lost: bool,
    },
}

/// Returns why a change is not in the patch, and whether it may have been made all the same.
fn refusal(card: &Card, status: CardStatus) -> Option<(&'static str, bool)> {
    match status {
        CardStatus::Applied | CardStatus::Partial => None,
        CardStatus::Failed => Some(("the call failed", false)),
        CardStatus::Rejected => Some(("the call was rejected", false)),
        CardStatus::Held => Some(("the call is held for review", false)),
        // What was asked for without being a call is still a change.
        CardStatus::Unknown if card.source.call_id.is_none() => None,
        CardStatus::Unknown => Some(("no result of the call is recorded", true)),
    }
}

/// Returns the file with its paths as the patch names them.
fn placed(card: &Card, file: &CardFile, root: Option<&str>) -> Result<CardFile, &'static str> {
    let place = |path: &str| {
        within(root, card.source.folder.as_deref(), path).ok_or(match root {
            _ if path.bytes().all(|byte| byte == b'/') => UNNAMABLE,
            None if path.starts_with('/') => {
                "its path is absolute, and the log does not say where the session ran"
            }
            _ => "it lies outside of the folder of the session",
        })
    };
    let path = place(&file.path)?;
    let from = file.from.as_deref().map(place).transpose()?;
    Ok(CardFile { path, from, ..file.clone() })
}

/// The line endings of the two sides.
struct Sides {
    old_ending: &'static str,
    new_ending: &'static str,
    charset: Option<FileCharset>,
}

impl Sides {
    /// Returns the bytes that a line of text is in the file.
    fn bytes<'a>(&self, text: &'a str) -> Result<Cow<'a, [u8]>, &'static str> {
        let Some(charset) = self.charset else { return Ok(text.as_bytes().into()) };
        let encoded = charset.encode(text).map_err(|_| "not all of its text is of its encoding");
        encoded.map(Cow::Owned)
    }
}

/// Returns how the lines of a file are encoded, if not in UTF-8.
fn charset(file: &CardFile) -> Result<Option<FileCharset>, &'static str> {
    let Some(encoding) = &file.encoding else { return Ok(None) };
    let mut names = encoding.before.iter().chain(&encoding.after);
    let Some(name) = names.next() else { return Ok(None) };
    if names.any(|other| other != name) {
        return Err("its encoding changes");
    }
    match FileCharset::for_label(name).filter(|charset| charset.has_ascii()) {
        Some(charset) => Ok(Some(charset)),
        None => Err("git takes files of its encoding for binary ones"),
    }
}

/// One line of a hunk with the ending that its file gives it: empty where the file ends without a newline.
struct PatchLine<'a> {
    sign: u8,
    text: Cow<'a, [u8]>,
    ending: &'static str,
}

/// One hunk as git numbers it: 0 for the start of a side that is empty and stands before the first line.
struct Hunk<'a> {
    old_start: usize,
    old_count: usize,
    new_start: usize,
    new_count: usize,
    lines: Vec<PatchLine<'a>>,
}

/// Returns the section of a file, with its paths as they are; or why git can't be told of the change.
pub(super) fn section(
    file: &CardFile,
    diffs: &[&FileDiff],
    prefixes: Prefixes,
) -> Result<Vec<u8>, &'static str> {
    let source = file.from.as_deref().unwrap_or(&file.path);
    if ![source, file.path.as_str()].iter().all(|path| can_be_named(path.as_bytes())) {
        return Err(UNNAMABLE);
    }
    let hunks = hunks_of(file, diffs)?;
    let header = Header { prefixes, ..header(file, source, hunks.is_empty())? };
    let mut bytes = Vec::new();
    // Writing to memory can't fail.
    let _ = write_section(&mut bytes, &header, &hunks);
    Ok(bytes)
}

fn write_section(bytes: &mut Vec<u8>, header: &Header<'_>, hunks: &[Hunk<'_>]) -> io::Result<()> {
    header.write(bytes)?;
    if !hunks.is_empty() {
        header.write_names(bytes)?;
    }
    hunks.iter().try_for_each(|hunk| write_hunk(bytes, hunk))
}

/// Returns the header of a file's section, or why there can be none.
pub(super) fn header<'a>(
    file: &'a CardFile,
    source: &'a str,
    has_no_hunks: bool,
) -> Result<Header<'a>, &'static str> {
    let mode = file.mode.as_ref();
    let before = mode.and_then(|mode| mode.before.as_deref()).filter(|mode| is_mode(mode));
    let after = mode.and_then(|mode| mode.after.as_deref()).filter(|mode| is_mode(mode));
    let changed_mode = before.zip(after).filter(|(before, after)| before != after);
    let similarity = has_no_hunks.then_some(100);
    let change = match file.operation {
        Operation::Create => Change::Create(after.unwrap_or(USUAL_MODE)),
        Operation::Delete => Change::Delete(before.unwrap_or(USUAL_MODE)),
        Operation::Update if has_no_hunks && changed_mode.is_none() => {
            return Err("its change is not recorded");
        }
        Operation::Update => Change::Update,
        Operation::Rename | Operation::Copy if file.from.is_none() => {
            return Err("where it came from is not recorded");
        }
        Operation::Rename => Change::Rename(similarity),
        Operation::Copy => Change::Copy(similarity),
    };
    let is_whole = is_one_sided(file.operation);
    Ok(Header {
        old_path: source.as_bytes(),
        new_path: file.path.as_bytes(),
        change,
        modes: changed_mode.filter(|_| !is_whole),
        prefixes: Prefixes::default(),
    })
}

/// A mode comes from a log: only six octal digits may stand in a header.
fn is_mode(mode: &str) -> bool {
    mode.len() == 6 && mode.bytes().all(|digit| matches!(digit, b'0'..=b'7'))
}

fn hunks_of<'a>(file: &CardFile, diffs: &[&'a FileDiff]) -> Result<Vec<Hunk<'a>>, &'static str> {
    if diffs.is_empty() {
        let is_empty_side = matches!(file.operation, Operation::Create | Operation::Delete);
        // A request to delete names no content, so an empty list of hunks does not mean an empty file there.
        let is_vague = file.recorded == Recorded::Path
            || (file.operation == Operation::Delete && file.recorded == Recorded::Request);
        let counts = [file.added, file.removed];
        let has_lines = is_empty_side && counts.iter().flatten().any(|&count| count > 0);
        let is_known_empty = file.added == Some(0) && file.removed == Some(0);
        return if (is_vague && !is_known_empty) || has_lines {
            Err("its content is not recorded")
        } else {
            Ok(Vec::new())
        };
    }
    let sides = Sides {
        old_ending: ending(file.eol.and_then(|eol| eol.before))?,
        new_ending: ending(file.eol.and_then(|eol| eol.after))?,
        charset: charset(file)?,
    };
    let (mut hunks, mut delta, mut old_end): (Vec<Hunk<'a>>, i64, usize) = (Vec::new(), 0, 0);
    for diff in diffs {
        check_notes(diff)?;
        let lines = lines_of(diff, &sides)?;
        if lines.is_empty() {
            continue;
        }
        let hunk = numbered(file, diff, lines, delta)?;
        if hunk.old_start < old_end || (hunks.len() == 1 && is_one_sided(file.operation)) {
            return Err("its hunks are not in the order of the file");
        }
        old_end = hunk.old_start.saturating_add(hunk.old_count);
        delta += hunk.new_count as i64 - hunk.old_count as i64;
        hunks.push(hunk);
    }
    Ok(hunks)
}

fn is_one_sided(operation: Operation) -> bool {
    matches!(operation, Operation::Create | Operation::Delete)
}

fn ending(eol: Option<EolName>) -> Result<&'static str, &'static str> {
    match eol {
        Some(EolName::Crlf) => Ok("\r\n"),
        Some(EolName::Lf | EolName::None) | None => Ok("\n"),
        Some(EolName::Mixed) => Err("its line endings are mixed, and which line has which is not recorded"),
    }
}

fn check_notes(diff: &FileDiff) -> Result<(), &'static str> {
    for note in &diff.notes {
        match note {
            DiffNote::Bom => return Err("its byte order mark changes, which a card does not hold"),
            DiffNote::OldUnknown => return Err("its old content is not recorded"),
            // Of a run of lines of which only the endings change a hunk shows the first, so the rest would be lost.
            DiffNote::Eol => return Err(ENDINGS_CHANGE),
            DiffNote::FinalNewline if diff.old_no_newline == diff.new_no_newline => {
                return Err("its final newline changes in a way that is not recorded");
            }
            DiffNote::FinalNewline | DiffNote::Coarse => {}
        }
    }
    Ok(())
}

/// Returns the lines with their endings; a last context line that gains or loses its newline is a delete and an
/// insert.
fn lines_of<'a>(diff: &'a FileDiff, sides: &Sides) -> Result<Vec<PatchLine<'a>>, &'static str> {
    let signed = signed_lines(diff);
    let last_old = signed.iter().rposition(|line| line.kind != Sign::Insert);
    let last_new = signed.iter().rposition(|line| line.kind != Sign::Delete);
    let is_raw = diff.lines.is_none() && diff.new_lines.is_none();
    // Raw texts of a call hold their final newline themselves.
    let is_open = |text: &str| is_raw && !text.is_empty() && !text.ends_with('\n');
    let old_is_open = diff.old_no_newline || diff.old_text.as_deref().is_some_and(is_open);
    let new_is_open = diff.new_no_newline || is_open(&diff.new_text);
    let mut lines = Vec::with_capacity(signed.len());
    for (at, line) in signed.iter().enumerate() {
        let old = if old_is_open && last_old == Some(at) { "" } else { sides.old_ending };
        let new = if new_is_open && last_new == Some(at) { "" } else { sides.new_ending };
        let text = sides.bytes(line.text)?;
        let mut push = |sign, ending: &'static str| {
            // A log may keep the CR in the text already.
            let ending = if ending == "\r\n" && line.text.ends_with('\r') { "\n" } else { ending };
            lines.push(PatchLine { sign, text: text.clone(), ending });
        };
        match line.kind {
            Sign::Context if old == new => push(b' ', old),
            Sign::Context if !old.is_empty() && !new.is_empty() => return Err(ENDINGS_CHANGE),
            Sign::Context => {
                push(b'-', old);
                push(b'+', new);
            }
            Sign::Delete => push(b'-', old),
            Sign::Insert => push(b'+', new),
        }
    }
    Ok(lines)
}

fn numbered<'a>(
    file: &CardFile,
    diff: &FileDiff,
    lines: Vec<PatchLine<'a>>,
    delta: i64,
) -> Result<Hunk<'a>, &'static str> {
    let old_count = lines.iter().filter(|line| line.sign != b'+').count();
    let new_count = lines.iter().filter(|line| line.sign != b'-').count();
    let whole = match file.operation {
        Operation::Create if old_count > 0 => return Err("it is called new but has old lines"),
        Operation::Delete if new_count > 0 => return Err("it is called deleted but has new lines"),
        Operation::Create => Some((0, 1)),
        Operation::Delete if diff.old_start.is_some() || file.recorded != Recorded::Request => Some((1, 0)),
        Operation::Delete | Operation::Update | Operation::Rename | Operation::Copy => None,
    };
    if let Some((old_start, new_start)) = whole {
        return Ok(Hunk { old_start, old_count, new_start, new_count, lines });
    }
    let (Some(old_start), Some(new_start)) = (diff.old_start, diff.new_start) else {
        return Err("its line numbers are not recorded");
    };
    // An empty side is at line 0 when nothing stands before it. A FileDiff says 1 there as it does after line 1; the
    // other side and the lines that earlier hunks added tell the two apart.
    let is_at_top =
        |other: usize, moved: i64| i64::try_from(other).is_ok_and(|other| other.saturating_add(moved) == 1);
    let old_start = if old_count == 0 && is_at_top(new_start, -delta) { 0 } else { old_start };
    let new_start = if new_count == 0 && is_at_top(old_start, delta) { 0 } else { new_start };
    Ok(Hunk { old_start, old_count, new_start, new_count, lines })
}

fn write_hunk(bytes: &mut Vec<u8>, hunk: &Hunk<'_>) -> io::Result<()> {
    // A card numbers the first line of a side, or the line before an empty one.
    let before = |start: usize, count: usize| if count == 0 { start } else { start.saturating_sub(1) };
    let old = (before(hunk.old_start, hunk.old_count), hunk.old_count);
    write_range(bytes, old, (before(hunk.new_start, hunk.new_count), hunk.new_count))?;
    for line in &hunk.lines {
        bytes.push(line.sign);
        bytes.extend_from_slice(&line.text);
        bytes.extend_from_slice(line.ending.as_bytes());
        if line.ending.is_empty() {
            bytes.extend_from_slice(NO_NEWLINE);
        }
    }
    Ok(())
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "git itself is asked to apply the patches, in a temporary directory"
)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::Path;
    use std::process::Command;
    use std::process::Stdio;

    use proptest::prelude::*;

    use super::*;
    use crate::render::sample;
    use crate::render::sample::file;
    use crate::render::sample::hunk;
    use crate::report::Change;

    type Tree = BTreeMap<String, Vec<u8>>;

    fn render(card: &Card) -> (String, Vec<String>) {
        let (mut patch, mut notes) = (Vec::new(), Vec::new());
        for part in SessionPatch::default().parts(card, None) {
            match part {
                Part::Section(bytes) => patch.extend_from_slice(&bytes),
                Part::LeftOut { what, why, .. } => notes.push(format!("{what}: not in the patch: {why}")),
            }
        }
        (String::from_utf8(patch).unwrap(), notes)
    }

    fn tree(files: &[(&str, &str)]) -> Tree {
        files.iter().map(|(path, text)| ((*path).to_string(), text.as_bytes().to_vec())).collect()
    }

    fn read_tree(root: &Path, under: &str, tree: &mut Tree) {
        for entry in fs::read_dir(root.join(under)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let path = if under.is_empty() { name } else { format!("{under}/{name}") };
            if entry.path().is_dir() {
                read_tree(root, &path, tree);
            } else {
                tree.insert(path, fs::read(entry.path()).unwrap());
            }
        }
    }

    fn git_apply(patch: &[u8], root: &Path) {
        let mut git = Command::new("git")
            .args(["apply", "--whitespace=nowarn", "-"])
            .current_dir(root)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        git.stdin.take().unwrap().write_all(patch).unwrap();
        let output = git.wait_with_output().unwrap();
        let shown = String::from_utf8_lossy(patch);
        assert!(output.status.success(), "{}\n{shown}", String::from_utf8_lossy(&output.stderr));
    }

    /// Lets git apply the card's patch to one tree and compares all bytes with another.
    fn check(card: &Card, before: &Tree, after: &Tree) -> String {
        let root = tempfile::tempdir().unwrap();
        for (path, bytes) in before {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let mut patch = Vec::new();
        assert_eq!(SessionPatch::default().card(&mut patch, card, None).unwrap(), 0);
        git_apply(&patch, root.path());
        let patch = String::from_utf8_lossy(&patch).into_owned();
        let mut found = Tree::new();
        read_tree(root.path(), "", &mut found);
        assert_eq!(&found, after, "{patch}");
        patch
    }

    #[test]
    fn several_hunks_of_one_file_are_one_section() {
        let before: Vec<String> = (1..=30).map(|number| format!("line {number}")).collect();
        let mut after = before.clone();
        after[4] = "five".to_string();
        after.splice(19..20, ["twenty".to_string(), "and more".to_string()]);
        let part = |lines: &[String], range: std::ops::Range<usize>| lines[range].join("\n");
        let diff = |old: std::ops::Range<usize>, new: std::ops::Range<usize>| FileDiff {
            path: "src/a.rs".to_string(),
            old_text: Some(part(&before, old.clone())),
            new_text: part(&after, new.clone()),
            old_start: Some(old.start + 1),
            old_lines: Some(old.len()),
            new_start: Some(new.start + 1),
            new_lines: Some(new.len()),
            ..FileDiff::default()
        };
        let card = sample::card(
            vec![file("src/a.rs", Operation::Update)],
            vec![diff(1..8, 1..8), diff(16..23, 16..24)],
        );
        let text = |lines: &[String]| lines.join("\n") + "\n";
        let patch =
            check(&card, &tree(&[("src/a.rs", &text(&before))]), &tree(&[("src/a.rs", &text(&after))]));
        assert!(patch.starts_with(
            "diff --git a/src/a.rs b/src/a.rs\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -2,7 +2,7 @@\n"
        ));
        assert_eq!(patch.matches("diff --git").count(), 1);
        assert!(patch.contains("@@ -17,7 +17,8 @@\n"), "{patch}");
    }

    #[test]
    fn creates_and_deletes() {
        let create = |path: &str, lines: &[&str]| hunk(path, (1, &[]), (1, lines));
        let raw = FileDiff { path: "raw".to_string(), new_text: "x\ny".to_string(), ..FileDiff::default() };
        let mut program = file("program", Operation::Create);
        program.mode = Some(Change { before: None, after: Some("100755".to_string()) });
        let card = sample::card(
            vec![
                file("new", Operation::Create),
                file("empty", Operation::Create),
                file("raw", Operation::Create),
                program,
                file("gone", Operation::Delete),
                file("was-empty", Operation::Delete),
            ],
            vec![
                create("new", &["a", "b"]),
                raw,
                create("program", &["#!"]),
                hunk("gone", (1, &["z"]), (1, &[])),
            ],
        );
        let before = tree(&[("gone", "z\n"), ("was-empty", ""), ("kept", "")]);
        let after =
            tree(&[("new", "a\nb\n"), ("empty", ""), ("raw", "x\ny"), ("program", "#!\n"), ("kept", "")]);
        let patch = check(&card, &before, &after);
        assert!(patch.contains("--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n"), "{patch}");
        assert!(patch.contains("new file mode 100755\n"), "{patch}");
        assert!(patch.contains("--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-z\n"), "{patch}");
    }

    #[test]
    fn renames_copies_and_modes() {
        let mut pure = file("to/b", Operation::Rename);
        pure.from = Some("a".to_string());
        let mut edited = file("d", Operation::Rename);
        edited.from = Some("c".to_string());
        let mut copied = file("e2", Operation::Copy);
        copied.from = Some("e".to_string());
        let mut mode = file("run", Operation::Update);
        mode.mode = Some(Change { before: Some("100644".to_string()), after: Some("100755".to_string()) });
        let card = sample::card(
            vec![pure, edited, copied, mode],
            vec![hunk("d", (1, &["one", "two"]), (1, &["one", "2"]))],
        );
        let before = tree(&[("a", "A\n"), ("c", "one\ntwo\n"), ("e", "E\n"), ("run", "#!\n")]);
        let after = tree(&[("to/b", "A\n"), ("d", "one\n2\n"), ("e", "E\n"), ("e2", "E\n"), ("run", "#!\n")]);
        let patch = check(&card, &before, &after);
        assert!(patch.contains("similarity index 100%\nrename from a\nrename to to/b\n"), "{patch}");
        assert!(patch.contains("old mode 100644\nnew mode 100755\n"), "{patch}");
    }

    #[test]
    fn a_change_of_only_the_final_newline() {
        for (is_added, before, after) in [(true, "a\nb", "a\nb\n"), (false, "a\nb\n", "a\nb")] {
            let mut diff = hunk("f", (1, &["a", "b"]), (1, &["a", "b"]));
            (diff.old_no_newline, diff.new_no_newline) = (is_added, !is_added);
            diff.notes = vec![DiffNote::FinalNewline];
            let card = sample::card(vec![file("f", Operation::Update)], vec![diff]);
            let patch = check(&card, &tree(&[("f", before)]), &tree(&[("f", after)]));
            assert!(patch.contains("\n-b\n") && patch.contains("\n+b\n"), "{patch}");
        }
        let mut both = hunk("f", (1, &["a", "b"]), (1, &["x", "b"]));
        (both.old_no_newline, both.new_no_newline) = (true, true);
        let card = sample::card(vec![file("f", Operation::Update)], vec![both]);
        check(&card, &tree(&[("f", "a\nb")]), &tree(&[("f", "x\nb")]));
        let mut longer = hunk("f", (1, &["a"]), (1, &["a", "b"]));
        longer.old_no_newline = true;
        let card = sample::card(vec![file("f", Operation::Update)], vec![longer]);
        check(&card, &tree(&[("f", "a")]), &tree(&[("f", "a\nb\n")]));
    }

    #[test]
    fn line_endings_are_the_files_own() {
        let mut crlf = file("f", Operation::Update);
        crlf.eol = Some(Change { before: Some(EolName::Crlf), after: Some(EolName::Crlf) });
        let card = sample::card(vec![crlf], vec![hunk("f", (1, &["a", "b"]), (1, &["a", "c"]))]);
        check(&card, &tree(&[("f", "a\r\nb\r\n")]), &tree(&[("f", "a\r\nc\r\n")]));

        let mut rewritten = file("f", Operation::Update);
        rewritten.eol = Some(Change { before: Some(EolName::Crlf), after: Some(EolName::Lf) });
        let card =
            sample::card(vec![rewritten.clone()], vec![hunk("f", (1, &["a", "b"]), (1, &["x", "y", "z"]))]);
        check(&card, &tree(&[("f", "a\r\nb\r\n")]), &tree(&[("f", "x\ny\nz\n")]));

        let mut diff = hunk("f", (1, &["a", "b"]), (1, &["a", "c"]));
        for notes in [vec![DiffNote::Eol], vec![]] {
            diff.notes = notes;
            let (patch, notes) = render(&sample::card(vec![rewritten.clone()], vec![diff.clone()]));
            assert_eq!((patch.as_str(), notes), ("", vec![format!("f: not in the patch: {ENDINGS_CHANGE}")]));
        }
    }

    #[test]
    fn lines_are_written_in_the_encoding_of_the_file() {
        let card = |encodings: (&str, &str), new: &str| {
            let encoding =
                Change { before: Some(encodings.0.to_owned()), after: Some(encodings.1.to_owned()) };
            let file = CardFile { encoding: Some(encoding), ..file("f", Operation::Update) };
            sample::card(vec![file], vec![hunk("f", (1, &["é", "a"]), (1, &["é", new]))])
        };
        let bytes = |bytes: &[u8]| Tree::from([("f".to_owned(), bytes.to_vec())]);
        let latin = card(("windows-1252", "windows-1252"), "ü");
        check(&latin, &bytes(b"\xE9\na\n"), &bytes(b"\xE9\n\xFC\n"));
        for (encodings, new, why) in [
            (("windows-1252", "windows-1252"), "Ω", "not all of its text is of its encoding"),
            (("windows-1252", "utf-8"), "ü", "its encoding changes"),
            (("utf-16le", "utf-16le"), "ü", "git takes files of its encoding for binary ones"),
            (("nonsense", "nonsense"), "ü", "git takes files of its encoding for binary ones"),
        ] {
            let (patch, notes) = render(&card(encodings, new));
            assert_eq!((patch.as_str(), notes), ("", vec![format!("f: not in the patch: {why}")]));
        }
    }

    #[test]
    fn odd_names_are_quoted_as_git_does() {
        let names = ["my file", "caf\u{e9}", "q\"u\\o", "tab\there", "nl\nx", "\u{1b}[2J", "dir with/sp ace"];
        for name in names {
            let card =
                sample::card(vec![file(name, Operation::Update)], vec![hunk(name, (1, &["a"]), (1, &["b"]))]);
            let patch = check(&card, &tree(&[(name, "a\n")]), &tree(&[(name, "b\n")]));
            assert!(!patch.contains('\u{1b}'), "{patch}");
            let mut renamed = file("plain", Operation::Rename);
            renamed.from = Some(name.to_string());
            check(&sample::card(vec![renamed], vec![]), &tree(&[(name, "a\n")]), &tree(&[("plain", "a\n")]));
            check(
                &sample::card(vec![file(name, Operation::Create)], vec![]),
                &Tree::new(),
                &tree(&[(name, "")]),
            );
        }
    }

    #[test]
    fn hunks_without_context_are_numbered_as_git_does() {
        let insert_top = hunk("f", (1, &[]), (1, &["new"]));
        let after_one = hunk("f", (1, &[]), (3, &["x"]));
        let card = sample::card(vec![file("f", Operation::Update)], vec![insert_top, after_one]);
        let (patch, _) = render(&card);
        assert!(patch.contains("@@ -0,0 +1 @@\n+new\n@@ -1,0 +3 @@\n+x\n"), "{patch}");
        let card = sample::card(vec![file("f", Operation::Update)], vec![hunk("f", (1, &["a"]), (1, &[]))]);
        let patch = check(&card, &tree(&[("f", "a\n")]), &tree(&[("f", "")]));
        assert!(patch.contains("@@ -1 +0,0 @@"), "{patch}");
    }

    #[test]
    fn what_is_not_known_is_left_out_with_a_note() {
        let mut request = file("r", Operation::Update);
        request.recorded = Recorded::Request;
        let mut path_only = file("p", Operation::Delete);
        path_only.recorded = Recorded::Path;
        let mut mixed = file("m", Operation::Update);
        mixed.eol = Some(Change { before: Some(EolName::Mixed), after: Some(EolName::Mixed) });
        let mut failed = file("x", Operation::Update);
        failed.status = Some(CardStatus::Failed);
        let raw = FileDiff {
            path: "r".to_string(),
            old_text: Some("a".to_string()),
            new_text: "b".to_string(),
            ..FileDiff::default()
        };
        let card = sample::card(
            vec![request, path_only, mixed, failed],
            vec![raw, hunk("m", (1, &["a"]), (1, &["b"])), hunk("x", (1, &["a"]), (1, &["b"]))],
        );
        let (patch, notes) = render(&card);
        assert_eq!(patch, "");
        assert_eq!(
            notes,
            [
                "r: not in the patch: its line numbers are not recorded",
                "p: not in the patch: its content is not recorded",
                "m: not in the patch: its line endings are mixed, and which line has which is not recorded",
                "x: not in the patch: the call failed",
            ]
        );
        for status in [CardStatus::Failed, CardStatus::Rejected, CardStatus::Held] {
            let mut card =
                sample::card(vec![file("f", Operation::Update)], vec![hunk("f", (1, &["a"]), (1, &["b"]))]);
            card.status = status;
            let (patch, notes) = render(&card);
            assert_eq!((patch.as_str(), notes.len()), ("", 1));
        }
    }

    #[test]
    fn comments_say_what_is_missing_and_why() {
        let check = |path: &str, status, folder: Option<&str>, lost: usize, wanted: &str| {
            let mut value =
                sample::card(vec![file(path, Operation::Update)], vec![hunk(path, (1, &["a"]), (1, &["b"]))]);
            value.status = status;
            value.source.call_id = Some("c".to_string());
            value.source.folder = folder.map(str::to_string);
            let (mut out, mut patch) = (Vec::new(), SessionPatch::default());
            assert_eq!(patch.card(&mut out, &value, folder).unwrap(), lost, "{path}");
            let text = String::from_utf8(out).unwrap();
            assert_eq!(text.lines().next().unwrap(), wanted, "{path}");
        };
        let applied = CardStatus::Applied;
        check("/w/src/f", applied, Some("/w"), 0, "diff --git a/src/f b/src/f");
        check("./f", applied, Some("/w"), 0, "diff --git a/f b/f");
        check(
            "f",
            CardStatus::Failed,
            Some("/w"),
            0,
            "# f: not in the patch: the call failed (line 1 of the log)",
        );
        let unknown = "# f: not in the patch: no result of the call is recorded (line 1 of the log)";
        check("f", CardStatus::Unknown, None, 1, unknown);
        let outside = "it lies outside of the folder of the session (line 1 of the log)";
        check("/v/f", applied, Some("/w"), 1, &format!("# /v/f: not in the patch: {outside}"));
        check("../f", applied, None, 1, &format!("# ../f: not in the patch: {outside}"));
        // A name must not end its comment.
        check("/v/f\n+x", applied, Some("/w"), 1, &format!("# /v/f\u{240a}+x: not in the patch: {outside}"));
        let homeless =
            "its path is absolute, and the log does not say where the session ran (line 1 of the log)";
        check("/v/f", applied, None, 1, &format!("# /v/f: not in the patch: {homeless}"));
    }

    #[test]
    fn patches_of_a_session_are_one_patch() {
        let update = |path: &str, diff| sample::card(vec![file(path, Operation::Update)], vec![diff]);
        let renamed = |from: &str, to: &str, diffs| {
            let entry = CardFile { from: Some(from.to_string()), ..file(to, Operation::Rename) };
            sample::card(vec![entry], diffs)
        };
        let cards = [
            update("f", hunk("f", (1, &["a", "b", "c"]), (1, &["a", "x", "y", "c"]))),
            sample::card(vec![file("new", Operation::Create)], vec![hunk("new", (1, &[]), (1, &["n"]))]),
            update("f", hunk("f", (3, &["y", "c"]), (3, &["z", "c"]))),
            update("new", hunk("new", (1, &["n"]), (1, &["n", "m"]))),
            sample::card(vec![file("gone", Operation::Delete)], vec![hunk("gone", (1, &["g"]), (1, &[]))]),
            sample::card(vec![file("gone", Operation::Create)], vec![hunk("gone", (1, &[]), (1, &["h"]))]),
            renamed("old", "moved", vec![hunk("moved", (1, &["o"]), (1, &["o", "k"]))]),
            update("moved", hunk("moved", (1, &["o", "k"]), (1, &["j", "k"]))),
        ];
        let (mut out, mut patch) = (Vec::new(), SessionPatch::default());
        for value in &cards {
            assert_eq!(patch.card(&mut out, value, None).unwrap(), 0);
        }
        // Git would rename the file that was there before the patch.
        assert_eq!(patch.card(&mut out, &renamed("f", "g", vec![]), None).unwrap(), 1);
        let later = update("g", hunk("g", (1, &["a"]), (1, &["b"])));
        assert_eq!(patch.card(&mut out, &later, None).unwrap(), 1);
        let root = tempfile::tempdir().unwrap();
        for (name, text) in [("f", "a\nb\nc\n"), ("gone", "g\n"), ("old", "o\n")] {
            fs::write(root.path().join(name), text).unwrap();
        }
        git_apply(&out, root.path());
        let mut found = Tree::new();
        read_tree(root.path(), "", &mut found);
        assert_eq!(
            found,
            tree(&[("f", "a\nx\nz\nc\n"), ("gone", "h\n"), ("moved", "j\nk\n"), ("new", "n\nm\n")])
        );
    }

    proptest! {
        #[test]
        fn never_panics(start in any::<usize>(), text in ".*", path in ".*", mode in ".*") {
            let mut odd = file(&path, Operation::Update);
            odd.mode = Some(Change { before: Some(mode.clone()), after: Some(mode) });
            let diff = FileDiff {
                path: path.clone(),
                old_text: Some(text.clone()),
                new_text: String::new(),
                old_start: Some(start),
                new_start: Some(start),
                ..FileDiff::default()
            };
            render(&sample::card(vec![odd], vec![diff.clone(), diff]));
        }
    }
}
