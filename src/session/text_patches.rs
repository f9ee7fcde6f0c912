//! Patches in what a model says beside its calls: where they begin and end among words and Markdown fences.
//!
//! - An apply_patch envelope, in a fence or not, up to its last marker or the end of the fence.
//! - A unified diff in a fence that is marked `diff`, `patch` or `udiff`, or not at all, from its first header to the end
//!   of the fence. Without a fence nothing tells where it ends.
//! - SEARCH/REPLACE blocks, in fences or not, with the lines above them that may name their file. All blocks up to
//!   another kind of patch are one: a later one may be for the file of an earlier one.
//!
//! In a log, where tools print what they like, a diff may also stand in no fence, as long as its lines go on to be such;
//! and blocks that other lines part are patches of their own.
//!
//! All else is passed over. Nothing is parsed here: a dialect's own parser gets the lines and judges them.

use std::collections::VecDeque;

use crate::patch::Dialect;
use crate::patch::parser::tells;

/// So many lines above a block may name its file.
const NAME_LINES: usize = 3;

/// What a line of the text comes to.
#[derive(Debug, PartialEq, Eq)]
pub enum Found<'a> {
    /// A patch begins.
    Begin(Dialect),
    /// A line of the open patch, without its newline.
    Line(&'a [u8]),
    /// The open patch ends.
    End,
}

/// Finds patches among the lines of a text.
#[derive(Debug, Default)]
pub struct TextPatches {
    open: Option<Dialect>,
    fence: Option<Fence>,
    is_of_log: bool,
    /// The last lines that belong to no patch.
    recent: VecDeque<Vec<u8>>,
}

/// An open Markdown fence.
#[derive(Debug, Clone, Copy)]
struct Fence {
    sign: u8,
    width: usize,
    /// A diff may stand in it.
    is_for_diffs: bool,
}

impl TextPatches {
    /// Returns a finder for the texts of a log.
    pub fn of_log() -> Self {
        TextPatches { is_of_log: true, ..TextPatches::default() }
    }

    /// Takes a line without its newline. `is_outside` tells whether the parser of the open patch is between two edits,
    /// where words may stand.
    pub fn line<'a>(&mut self, line: &'a [u8], is_outside: bool, on_found: &mut dyn FnMut(Found<'_>)) {
        let is_closed = self.fence.is_some_and(|fence| fence.is_closed_by(line));
        match self.open {
            Some(Dialect::SearchReplace) if !is_outside => return on_found(Found::Line(line)),
            Some(Dialect::SearchReplace) | None => {}
            Some(Dialect::ApplyPatch) if line.trim_ascii() == b"*** End Patch" => {
                on_found(Found::Line(line));
                return self.end(on_found);
            }
            Some(Dialect::ApplyPatch) if self.fence.is_none() && Fence::opened_by(line).is_some() => {
                self.end(on_found);
            }
            Some(_) if is_closed => self.end(on_found),
            Some(Dialect::Unified) if self.is_of_log && is_outside && !goes_on(line) => self.end(on_found),
            Some(_) => return on_found(Found::Line(line)),
        }
        if is_closed {
            self.fence = None;
        } else if self.fence.is_none() {
            self.fence = Fence::opened_by(line);
        }
        let before = self.recent.back().map_or(&b""[..], Vec::as_slice);
        match self.begun(before, line) {
            Some(dialect) => self.begin(dialect, line, on_found),
            None => {
                if self.recent.len() == NAME_LINES {
                    self.recent.pop_front();
                    if self.is_of_log {
                        self.end(on_found);
                    }
                }
                self.recent.push_back(line.to_vec());
            }
        }
    }

    /// Returns the dialect of a patch that begins with this line, or with the one before.
    fn begun(&self, before: &[u8], line: &[u8]) -> Option<Dialect> {
        let is_wanted = match tells(before, line)? {
            Dialect::ApplyPatch => line.trim_ascii().starts_with(b"*** Begin Patch"),
            Dialect::Unified => {
                // A hunk without names is an illustration.
                let has_names = line.starts_with(b"diff --git ") || line.starts_with(b"+++ ");
                has_names && (self.is_of_log || self.fence.is_some_and(|fence| fence.is_for_diffs))
            }
            Dialect::SearchReplace => true,
            Dialect::Auto => false,
        };
        is_wanted.then(|| tells(before, line)).flatten()
    }

    fn begin(&mut self, dialect: Dialect, line: &[u8], on_found: &mut dyn FnMut(Found<'_>)) {
        if self.open != Some(dialect) {
            self.end(on_found);
            on_found(Found::Begin(dialect));
            self.open = Some(dialect);
        }
        let above = match dialect {
            Dialect::SearchReplace => NAME_LINES,
            Dialect::Unified if line.starts_with(b"+++ ") => 1,
            Dialect::Unified | Dialect::ApplyPatch | Dialect::Auto => 0,
        };
        let recent = std::mem::take(&mut self.recent);
        let skipped = recent.len().saturating_sub(above);
        recent.iter().skip(skipped).for_each(|line| on_found(Found::Line(line)));
        on_found(Found::Line(line));
    }

    fn end(&mut self, on_found: &mut dyn FnMut(Found<'_>)) {
        if self.open.take().is_some() {
            on_found(Found::End);
        }
    }
}

/// Tells whether a line behind a hunk may belong to the same diff.
fn goes_on(line: &[u8]) -> bool {
    [
        &b"@@"[..],
        b"\\",
        b"diff ",
        b"index ",
        b"--- ",
        b"+++ ",
        b"new ",
        b"deleted file mode ",
        b"old mode ",
        b"rename ",
        b"copy ",
        b"similarity index ",
        b"dissimilarity index ",
        b"Binary files ",
        b"GIT binary patch",
        b"Index: ",
        b"=====",
    ]
    .iter()
    .any(|start| line.starts_with(start))
}

impl Fence {
    fn opened_by(line: &[u8]) -> Option<Self> {
        let text = line.trim_ascii();
        let &sign = text.first().filter(|sign| matches!(sign, b'`' | b'~'))?;
        let width = text.iter().take_while(|&&byte| byte == sign).count();
        let info = &text[width..];
        if width < 3 || sign == b'`' && info.contains(&b'`') {
            return None;
        }
        let word = info.trim_ascii().split(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default();
        let is_for_diffs = word.is_empty() || [&b"diff"[..], b"patch", b"udiff"].contains(&word);
        Some(Fence { sign, width, is_for_diffs })
    }

    fn is_closed_by(&self, line: &[u8]) -> bool {
        let text = line.trim_ascii();
        text.len() >= self.width && text.iter().all(|&byte| byte == self.sign)
    }
}

#[cfg(test)]
mod tests {
    use crate::patch::Parser;

    use super::*;

    /// What is found in a text: a dialect's name, the lines of its patch, and its end.
    fn check(text: &str, expected: &[&str]) {
        let mut texts = TextPatches::default();
        let mut parser = Parser::new(Dialect::Auto);
        let mut found = Vec::new();
        for line in text.lines() {
            let is_outside = parser.is_outside();
            texts.line(line.as_bytes(), is_outside, &mut |one| match one {
                Found::Begin(dialect) => {
                    parser = Parser::new(dialect);
                    found.push(format!("[{}", dialect.name()));
                }
                Found::Line(line) => {
                    parser.push(&[line, b"\n"].concat(), &mut |_| {});
                    found.push(String::from_utf8_lossy(line).into_owned());
                }
                Found::End => found.push("]".to_owned()),
            });
        }
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn an_envelope_is_found_anywhere() {
        let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
        let found = ["[apply-patch", "*** Begin Patch", "*** Delete File: a", "*** End Patch", "]"];
        check(&format!("words\n{patch}\nwords"), &found);
        check(&format!("```diff\n{patch}\n```\n"), &found);
        check(&format!("~~~python\n{patch}\n~~~\n{patch}"), &[found, found].concat());
        check("```\n*** Begin Patch\n```\nx\n", &["[apply-patch", "*** Begin Patch", "]"]);
        check("*** Begin Patch\n```\nx\n", &["[apply-patch", "*** Begin Patch", "]"]);
        check("*** Add File: a\n+x\n", &[]);
    }

    #[test]
    fn a_unified_diff_is_found_in_a_fence_for_diffs() {
        let diff = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+y";
        let found = ["[unified", "--- a/f", "+++ b/f", "@@ -1 +1 @@", "-x", "+y", "]"];
        for info in ["diff", "patch", "", " diff title=f"] {
            check(&format!("words\n```{info}\n{diff}\n```\nwords\n"), &found);
        }
        check(&format!("```\nprose\n{diff}\n```\n"), &found);
        check(&format!("````markdown\n```diff\n{diff}\n```\n````\n"), &[]);
        check(&format!("```python\n{diff}\n```\n"), &[]);
        check(diff, &[]);
        check("```diff\n-x\n+y\n@@ -1 +1 @@\n```\n", &[]);
        check("````diff\ndiff --git a/f b/f\n```\n````\n", &["[unified", "diff --git a/f b/f", "```", "]"]);
    }

    #[test]
    fn blocks_are_found_with_their_names_and_are_one_patch() {
        let block = "<<<<<<< SEARCH\nx\n=======\n```\n>>>>>>> REPLACE";
        check(
            &format!(
                "one\ntwo\na.py\n```python\n{block}\n```\nand\n```python\n{block}\n```\nend\n*** Begin Patch"
            ),
            &[
                "[search-replace",
                "two",
                "a.py",
                "```python",
                "<<<<<<< SEARCH",
                "x",
                "=======",
                "```",
                ">>>>>>> REPLACE",
                "```",
                "and",
                "```python",
                "<<<<<<< SEARCH",
                "x",
                "=======",
                "```",
                ">>>>>>> REPLACE",
                "]",
                "[apply-patch",
                "*** Begin Patch",
            ],
        );
    }
}
