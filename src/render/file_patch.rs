//! Two versions of a file as a patch that `git apply` takes, byte for byte.
//!
//! Lines are written as they are, endings and invalid UTF-8 and all, so the patch turns exactly the one file into
//! exactly the other. What is not text becomes a binary patch. No index of lines is built: the newlines between
//! changes are counted as the hunks are written.

use std::io;
use std::io::Write;

use memchr::memchr_iter;

use super::git_binary;
use super::git_header::Change;
use super::git_header::Header;
use super::git_header::NO_NEWLINE;
use super::git_header::Prefixes;
use super::git_header::can_be_named;
use super::git_header::write_range;
use crate::diff::lines::Changed;
use crate::diff::lines::diff_lines;
use crate::text::Document;
use crate::text::document::LineSpan;
use crate::text::document::lines_from;

/// One version of a file.
#[derive(Debug, Clone, Copy)]
pub struct Version<'a> {
    /// The path as the patch names it.
    pub path: &'a [u8],
    /// The mode as git writes it: `100644`, `100755`, `120000`.
    pub mode: &'static str,
    /// The content; of a link where it leads.
    pub document: &'a Document,
}

/// What is written about one file.
#[derive(Debug, Clone, Copy)]
pub struct FilePatch<'a> {
    /// The preimage; none if the file is new.
    pub old: Option<Version<'a>>,
    /// The postimage; none if the file is deleted.
    pub new: Option<Version<'a>>,
    /// How alike the two are in percent, if this is a rename.
    pub renamed: Option<u8>,
    /// How many unchanged lines stand around a change.
    pub context_lines: usize,
}

/// What else is to be said of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// Nothing.
    Fully,
    /// The comparison reached its bound of work: the patch is right but not minimal.
    Coarsely,
    /// Nothing is written: its name can't stand in a patch, or there is nothing to say.
    Not,
}

/// Writes one file's section.
///
/// Many small writes are made; give it something buffered.
///
/// # Errors
/// What the writer says.
pub fn file(out: &mut dyn Write, patch: &FilePatch<'_>) -> io::Result<Written> {
    let (old, new) = (patch.old, patch.new);
    let Some(some) = new.or(old) else { return Ok(Written::Not) };
    let header = Header {
        old_path: old.unwrap_or(some).path,
        new_path: some.path,
        change: change(patch),
        modes: old.zip(new).map(|(old, new)| (old.mode, new.mode)).filter(|(old, new)| old != new),
        prefixes: Prefixes::Git,
    };
    if !can_be_named(header.old_path) || !can_be_named(header.new_path) {
        return Ok(Written::Not);
    }
    let sides = (bytes(old), bytes(new));
    let is_binary = [old, new].iter().flatten().any(|version| is_binary(version.document));
    let is_equal = sides.0 == sides.1;
    // Without names before a hunk, only a rename says that there are two names.
    let has_names = !is_equal && !is_binary;
    let is_unnamed = header.change == Change::Update && header.old_path != header.new_path && !has_names;
    let header = if is_unnamed { Header { change: Change::Rename(None), ..header } } else { header };
    header.write(out)?;
    if is_equal {
        return Ok(Written::Fully);
    }
    if is_binary {
        let mode = old.zip(new).filter(|(old, new)| old.mode == new.mode).map(|(old, _)| old.mode);
        git_binary::write(out, old.map(|_| sides.0), new.map(|_| sides.1), mode)?;
        return Ok(Written::Fully);
    }
    header.write_names(out)?;
    let diff = diff_lines(sides.0, sides.1);
    let mut hunks =
        Hunks { out, old: sides.0, new: sides.1, context_lines: patch.context_lines, lines: (0, 0) };
    hunks.write(&diff.changes)?;
    Ok(if diff.is_coarse { Written::Coarsely } else { Written::Fully })
}

/// Some lines of a file before and after, and how many lines of either side stand before them.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'a> {
    /// The lines before.
    pub old: &'a [u8],
    /// The lines after.
    pub new: &'a [u8],
    /// Count of lines before the piece, of both sides.
    pub before: (usize, usize),
}

/// Writes the section of a file of which only pieces are known: what lies between them is the same on both sides.
///
/// # Errors
/// What the writer says.
pub(super) fn pieces(
    out: &mut dyn Write,
    header: &Header<'_>,
    pieces: &[Piece<'_>],
    context_lines: usize,
) -> io::Result<()> {
    header.write(out)?;
    if pieces.iter().any(|piece| piece.old != piece.new) {
        header.write_names(out)?;
    }
    for piece in pieces {
        let Piece { old, new, before } = *piece;
        let diff = diff_lines(old, new);
        Hunks { out, old, new, context_lines, lines: before }.write(&diff.changes)?;
    }
    Ok(())
}

/// Tells whether a file is no text to a patch: it holds NUL bytes, or two or four bytes make a character.
fn is_binary(document: &Document) -> bool {
    !document.has_lines_of_bytes()
}

fn change(patch: &FilePatch<'_>) -> Change<'static> {
    match (patch.old, patch.new, patch.renamed) {
        (None, Some(new), _) => Change::Create(new.mode),
        (Some(old), None, _) => Change::Delete(old.mode),
        (_, _, Some(percent)) => Change::Rename(Some(percent)),
        (_, _, None) => Change::Update,
    }
}

fn bytes<'a>(version: Option<Version<'a>>) -> &'a [u8] {
    version.map_or(&[], |version| version.document.bytes())
}

/// The hunks of one file on their way out.
struct Hunks<'a, 'o> {
    out: &'o mut dyn Write,
    old: &'a [u8],
    new: &'a [u8],
    context_lines: usize,
    /// How many lines of both sides stand before the end of the last change.
    lines: (usize, usize),
}

impl Hunks<'_, '_> {
    /// Writes all hunks: changes share one if at most twice the context lies between them.
    fn write(&mut self, changes: &[Changed]) -> io::Result<()> {
        let mut rest = changes;
        let mut floor = 0;
        while !rest.is_empty() {
            let joined = rest.windows(2).take_while(|pair| self.are_near(&pair[0], &pair[1])).count() + 1;
            let (hunk, later) = rest.split_at(joined);
            floor = self.write_hunk(hunk, floor)?;
            rest = later;
        }
        Ok(())
    }

    fn are_near(&self, first: &Changed, second: &Changed) -> bool {
        let gap = &self.old[first.old.end..second.old.start];
        memchr_iter(b'\n', gap).nth(2usize.saturating_mul(self.context_lines)).is_none()
    }

    /// Writes one hunk; returns where its last change ends in the old text, as `floor` is that of the one before.
    fn write_hunk(&mut self, changes: &[Changed], floor: usize) -> io::Result<usize> {
        let (Some(first), Some(last)) = (changes.first(), changes.last()) else { return Ok(floor) };
        let skipped = count_lines(&self.old[floor..first.old.start]);
        self.lines = (self.lines.0 + skipped, self.lines.1 + skipped);
        let start = self.context_start(floor, first.old.start);
        let end = skip_lines(self.old, last.old.end, self.context_lines);
        let leading = count_lines(&self.old[start..first.old.start]);
        let trailing = count_lines(&self.old[last.old.end..end]);
        let before = (self.lines.0 - leading, self.lines.1 - leading);
        self.count_to(changes);
        let counts = (self.lines.0 - before.0 + trailing, self.lines.1 - before.1 + trailing);
        write_range(self.out, (before.0, counts.0), (before.1, counts.1))?;
        let mut place = start;
        for change in changes {
            write_lines(self.out, b' ', &self.old[place..change.old.start])?;
            write_lines(self.out, b'-', &self.old[change.old.clone()])?;
            write_lines(self.out, b'+', &self.new[change.new.clone()])?;
            place = change.old.end;
        }
        write_lines(self.out, b' ', &self.old[place..end])?;
        Ok(last.old.end)
    }

    /// Counts the lines of `changes` and between them.
    fn count_to(&mut self, changes: &[Changed]) {
        let mut place = None;
        for change in changes {
            let gap = place.map_or(0, |place| count_lines(&self.old[place..change.old.start]));
            self.lines.0 += gap + count_lines(&self.old[change.old.clone()]);
            self.lines.1 += gap + count_lines(&self.new[change.new.clone()]);
            place = Some(change.old.end);
        }
    }

    fn context_start(&self, floor: usize, change_start: usize) -> usize {
        let mut start = change_start;
        for _ in 0..self.context_lines {
            if start <= floor {
                break;
            }
            start = LineSpan::before(self.old, start).start;
        }
        start
    }
}

/// Returns where the line ends that is `lines` lines after `start`.
fn skip_lines(bytes: &[u8], start: usize, lines: usize) -> usize {
    lines_from(bytes, start).take(lines).last().map_or(start, |line| line.end)
}

fn count_lines(bytes: &[u8]) -> usize {
    let open = usize::from(!bytes.is_empty() && !bytes.ends_with(b"\n"));
    memchr_iter(b'\n', bytes).count() + open
}

fn write_lines(out: &mut dyn Write, sign: u8, bytes: &[u8]) -> io::Result<()> {
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        out.write_all(&[sign])?;
        out.write_all(line)?;
        if !line.ends_with(b"\n") {
            out.write_all(NO_NEWLINE)?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "git itself is asked to apply and to make patches, in a temporary directory"
)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;
    use std::process::Stdio;

    use proptest::prelude::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use super::*;

    type Content = Vec<u8>;

    fn document(bytes: &[u8]) -> Document {
        Document::new(bytes.to_vec())
    }

    fn version<'a>(path: &'a str, document: &'a Document) -> Version<'a> {
        Version { path: path.as_bytes(), mode: "100644", document }
    }

    fn patch_of(patch: &FilePatch<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        file(&mut out, patch).unwrap();
        out
    }

    fn update(path: &str, old: &[u8], new: &[u8], context_lines: usize) -> Vec<u8> {
        let (old, new) = (document(old), document(new));
        let (old, new) = (Some(version(path, &old)), Some(version(path, &new)));
        patch_of(&FilePatch { old, new, renamed: None, context_lines })
    }

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    fn git(arguments: &[&str], folder: &Path) -> Command {
        let mut git = Command::new("git");
        git.args(arguments)
            .current_dir(folder)
            .env("GIT_CEILING_DIRECTORIES", folder)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null");
        git
    }

    fn git_apply(patch: &[u8], folder: &Path) {
        let mut child = git(&["apply", "--whitespace=nowarn", "--unidiff-zero", "-"], folder)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(patch).unwrap();
        let output = child.wait_with_output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{complaint}\n{}", String::from_utf8_lossy(patch));
    }

    /// Lets git turn each first content into the second one.
    fn check_round_trip(pairs: &[(Content, Content)], context_lines: usize) {
        let folder = tempfile::tempdir().unwrap();
        let mut patch = Vec::new();
        for (at, (old, new)) in pairs.iter().enumerate().filter(|(_, (old, new))| old != new) {
            let name = format!("f{at}");
            fs::write(folder.path().join(&name), old).unwrap();
            patch.extend(update(&name, old, new, context_lines));
        }
        if patch.is_empty() {
            return;
        }
        git_apply(&patch, folder.path());
        for (at, (_, new)) in pairs.iter().enumerate().filter(|(_, (old, new))| old != new) {
            let found = fs::read(folder.path().join(format!("f{at}"))).unwrap();
            assert!(found == *new, "{at}: {found:?}\n{}", String::from_utf8_lossy(&patch));
        }
    }

    #[test]
    fn lines_are_written_as_they_are() {
        let patch = update("a b", b"one\r\ncaf\xE9\nlast", b"one\r\ncaf\xE8\r\nlast\n", 3);
        let expected = b"diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n@@ -1,3 +1,3 @@\n one\r\n-caf\xE9\n-last\n\\ No newline at end of file\n+caf\xE8\r\n+last\n";
        assert_eq!(String::from_utf8_lossy(&patch), String::from_utf8_lossy(expected));
        assert_eq!(patch, expected);
    }

    #[test]
    fn changes_share_a_hunk_while_their_contexts_touch() {
        let lines = |edits: &[usize]| -> Vec<u8> {
            let line = |number| {
                if edits.contains(&number) { format!("new {number}\n") } else { format!("{number}\n") }
            };
            (1..=40).map(line).collect::<String>().into_bytes()
        };
        let ranges = |edits: &[usize], context_lines| -> Vec<String> {
            let patch = text(update("f", &lines(&[]), &lines(edits), context_lines));
            patch.lines().filter(|line| line.starts_with("@@")).map(str::to_owned).collect()
        };
        assert_eq!(ranges(&[10, 17], 3), ["@@ -7,14 +7,14 @@"]);
        assert_eq!(ranges(&[10, 18], 3), ["@@ -7,7 +7,7 @@", "@@ -15,7 +15,7 @@"]);
        assert_eq!(ranges(&[10, 13], 1), ["@@ -9,6 +9,6 @@"]);
        assert_eq!(ranges(&[10, 12], 0), ["@@ -10 +10 @@", "@@ -12 +12 @@"]);
        assert_eq!(ranges(&[10, 12, 40], usize::MAX), ["@@ -1,40 +1,40 @@"]);
        assert_eq!(ranges(&[1, 40], 3), ["@@ -1,4 +1,4 @@", "@@ -37,4 +37,4 @@"]);
    }

    #[test]
    fn an_insertion_without_context_stands_after_its_line() {
        assert!(text(update("f", b"a\nb\n", b"a\nx\nb\n", 0)).ends_with("@@ -1,0 +2 @@\n+x\n"));
        assert!(text(update("f", b"a\n", b"x\na\n", 0)).ends_with("@@ -0,0 +1 @@\n+x\n"));
        assert!(text(update("f", b"", b"x\n", 3)).ends_with("@@ -0,0 +1 @@\n+x\n"));
        assert!(text(update("f", b"x\n", b"", 3)).ends_with("@@ -1 +0,0 @@\n-x\n"));
    }

    #[test]
    fn what_comes_and_goes() {
        let (empty, full) = (document(b""), document(b"x\n"));
        let create = |document| {
            let new = Some(Version { mode: "100755", ..version("f", document) });
            text(patch_of(&FilePatch { old: None, new, renamed: None, context_lines: 3 }))
        };
        assert_eq!(create(&empty), "diff --git a/f b/f\nnew file mode 100755\n");
        assert_eq!(
            create(&full),
            "diff --git a/f b/f\nnew file mode 100755\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n"
        );
        let old = Some(version("f", &full));
        assert_eq!(
            text(patch_of(&FilePatch { old, new: None, renamed: None, context_lines: 3 })),
            "diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        );
        let new = Some(version("g", &full));
        assert_eq!(
            text(patch_of(&FilePatch { old, new, renamed: Some(100), context_lines: 3 })),
            "diff --git a/f b/g\nsimilarity index 100%\nrename from f\nrename to g\n"
        );
    }

    #[test]
    fn two_names_that_no_hunk_tells_are_told_as_a_rename() {
        let (old, new) = (document(b"\0"), document(b"\0x"));
        let (old, new) = (Some(version("a", &old)), Some(version("b", &new)));
        let patch = patch_of(&FilePatch { old, new, renamed: None, context_lines: 3 });
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), b"\0").unwrap();
        git_apply(&patch, folder.path());
        assert_eq!(fs::read(folder.path().join("b")).unwrap(), b"\0x");
        let nameless =
            FilePatch { old: None, new: Some(Version { path: b"", ..new.unwrap() }), ..update_of(old, new) };
        assert_eq!(file(&mut Vec::new(), &nameless).unwrap(), Written::Not);
    }

    fn update_of<'a>(old: Option<Version<'a>>, new: Option<Version<'a>>) -> FilePatch<'a> {
        FilePatch { old, new, renamed: None, context_lines: 3 }
    }

    /// Few letters, so that lines repeat and changes slide.
    fn small_text() -> impl Strategy<Value = Content> {
        let piece = prop_oneof![
            4 => Just(&b"a\n"[..]),
            4 => Just(&b"b\n"[..]),
            2 => Just(&b"\n"[..]),
            2 => Just(&b"a\r\n"[..]),
            1 => Just(&b"\r"[..]),
            1 => Just(&b"\xff"[..]),
            1 => Just(&b"- a\n"[..]),
            1 => Just(&b"\\ x\n"[..]),
            1 => Just(&b"\xEF\xBB\xBF"[..]),
            1 => Just(&b"a"[..]),
        ];
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    fn any_content() -> impl Strategy<Value = Content> {
        prop_oneof![
            6 => small_text(),
            1 => prop::collection::vec(any::<u8>(), 0..300),
            1 => small_text().prop_map(|text| [&text[..], b"\0"].concat()),
        ]
    }

    /// A program's text, and it after some edits.
    fn edited_program() -> impl Strategy<Value = (Content, Content)> {
        let line = (0_usize..60).prop_map(|choice| match choice {
            0..8 => "    }\n".to_owned(),
            8..14 => "\n".to_owned(),
            14..18 => "}\n".to_owned(),
            18..22 => "    return None;\n".to_owned(),
            _ => format!("    let value_{choice} = compute({choice});\n"),
        });
        let lines = prop::collection::vec(line.clone(), 20..160);
        let edit = (any::<prop::sample::Index>(), 0_usize..4, prop::collection::vec(line, 0..4));
        (lines, prop::collection::vec(edit, 1..6)).prop_map(|(old, edits)| {
            let mut new = old.clone();
            for (at, removed, added) in edits {
                let start = at.index(new.len() + 1);
                let end = (start + removed).min(new.len());
                new.splice(start..end, added);
            }
            (old.concat().into_bytes(), new.concat().into_bytes())
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn git_turns_the_one_into_the_other(
            pairs in prop::collection::vec((any_content(), any_content()), 1..24),
            context_lines in 1_usize..5,
        ) {
            check_round_trip(&pairs, context_lines);
        }
    }

    /// The engine and git part ways on a file in some hundred, where lines repeat; so this counts.
    #[test]
    fn hunks_begin_and_end_where_gits_do() {
        let mut runner = TestRunner::deterministic();
        let pairs: Vec<(Content, Content)> = (0..400)
            .map(|_| edited_program().new_tree(&mut runner).unwrap().current())
            .filter(|(old, new)| old != new)
            .collect();
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        fs::create_dir(folder.path().join("b")).unwrap();
        for (at, (old, new)) in pairs.iter().enumerate() {
            fs::write(folder.path().join(format!("a/{at:03}")), old).unwrap();
            fs::write(folder.path().join(format!("b/{at:03}")), new).unwrap();
        }
        let arguments =
            ["diff", "--no-index", "--no-color", "--no-prefix", "--diff-algorithm=histogram", "a", "b"];
        let theirs = text(git(&arguments, folder.path()).output().unwrap().stdout);
        let theirs: Vec<&str> = theirs.split_inclusive('\n').collect();
        let theirs = theirs.chunk_by(|_, line| !line.starts_with("diff --git"));
        let mut same = 0;
        for (at, (section, (old, new))) in theirs.zip(&pairs).enumerate() {
            let ours = text(update(&format!("{at:03}"), old, new, 3));
            // git adds the names of blobs, and the heading of the function that a hunk stands in.
            let theirs: Vec<String> = section
                .iter()
                .filter(|line| !line.starts_with("index "))
                .map(|line| match line.split_once(" @@ ") {
                    Some((range, _)) if line.starts_with("@@ ") => format!("{range} @@\n"),
                    _ => (*line).to_owned(),
                })
                .collect();
            assert_eq!(ours.lines().next().unwrap(), theirs[0].trim_end());
            same += usize::from(ours == theirs.concat());
        }
        assert!(same * 100 >= pairs.len() * 98, "{same} of {}", pairs.len());
    }
}
