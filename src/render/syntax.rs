//! Which parts of a line are remarks, texts, names: for colours only, and only where somebody sees them.
//!
//! Grammars are unpacked when the first line is coloured, and a line is looked at only if it is drawn. How much of that
//! is done is counted in bytes, so that the same cards always look the same; what is left out is said. Each hunk begins
//! anew, since what stands above it is not known, and its two sides are read apart: a text that begins in a deleted line
//! does not run on in what came for it.

use std::ops::Range;

use super::lines::FileLines;

/// How many bytes of the lines of one file are coloured.
const LIMIT_FILE_BYTES: usize = 96 << 10;
/// How many bytes of lines are coloured in one run.
const LIMIT_RUN_BYTES: usize = 192 << 10;

/// What a part of a line is.
#[cfg_attr(not(feature = "syntax"), expect(dead_code, reason = "only grammars tell what a part is"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    Comment,
    /// A string.
    Text,
    /// A number, a constant, what a backslash stands for in a string.
    Literal,
    Keyword,
    Function,
    Type,
    /// A tag, a heading.
    Tag,
    /// A key, an attribute.
    Name,
}

/// A part of a line that is something; what is between such parts is nothing in particular.
///
/// It begins and ends between characters that are seen as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) range: Range<usize>,
    pub(super) token: Token,
}

/// How much may be coloured by syntax.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Syntax {
    /// `None`: nothing is, and nothing is said of it.
    bytes_left: Option<usize>,
}

impl Syntax {
    /// No colours by syntax.
    pub const NEVER: Self = Syntax { bytes_left: None };
    /// As much as one run colours.
    pub const RUN: Self = Syntax { bytes_left: Some(LIMIT_RUN_BYTES) };

    /// Tells whether nothing more is coloured, and nothing said of it.
    pub fn is_spent(self) -> bool {
        self.bytes_left.is_none_or(|left| left == 0)
    }

    /// Returns no more than that many bytes of it.
    pub fn at_most(self, bytes: usize) -> Self {
        Syntax { bytes_left: self.bytes_left.map(|left| left.min(bytes)) }
    }
}

/// Finds what the parts of the lines of some files are, and says of each file why it does not; returns what may still be
/// coloured after that.
///
/// Of a file that is wholly new or wholly deleted only the first `most_lines` are drawn.
pub(super) fn mark(
    files: &mut [FileLines<'_>],
    paths: &[&str],
    most_lines: Option<usize>,
    syntax: Syntax,
) -> Syntax {
    let Some(mut left) = syntax.bytes_left.filter(|&left| left > 0 && cfg!(feature = "syntax")) else {
        return syntax;
    };
    for (file, path) in files.iter_mut().zip(paths) {
        let most = most_lines.filter(|_| file.is_whole()).unwrap_or(usize::MAX);
        let lines = || file.hunks.iter().flat_map(|hunk| hunk.lines.iter().take(most));
        let bytes = lines().map(|line| line.text.len() + 1).sum::<usize>();
        if bytes == 0 || left == 0 || !is_known(path, file) {
            continue;
        }
        if bytes > LIMIT_FILE_BYTES {
            file.no_syntax =
                Some(format!("more than {} KiB: not coloured by syntax", LIMIT_FILE_BYTES >> 10));
        } else if bytes > left {
            file.no_syntax = Some("enough was drawn: not coloured by syntax from here on".to_owned());
            left = 0;
        } else {
            left -= bytes;
            colour(path, file, most);
            // Only what is said to be spent is.
            left = left.max(1);
        }
    }
    Syntax { bytes_left: Some(left) }
}

#[cfg(not(feature = "syntax"))]
fn is_known(_: &str, _: &FileLines<'_>) -> bool {
    false
}

#[cfg(not(feature = "syntax"))]
fn colour(_: &str, _: &mut FileLines<'_>, _: usize) {}

#[cfg(feature = "syntax")]
use engine::colour;
#[cfg(feature = "syntax")]
use engine::is_known;

#[cfg(feature = "syntax")]
mod engine;

#[cfg(all(test, feature = "syntax"))]
mod tests {
    use super::*;
    use crate::render::marks::Emphasis;
    use crate::render::sample;
    use crate::report::FileDiff;

    fn marked<'a>(
        diffs: &'a [FileDiff],
        most_lines: Option<usize>,
        syntax: Syntax,
    ) -> (FileLines<'a>, Syntax) {
        let mut files = [FileLines::of(
            &diffs.iter().collect::<Vec<_>>(),
            Emphasis::Words,
            crate::render::crew::Crew::ALONE,
        )];
        let left = mark(&mut files, &[diffs[0].path.as_str()], most_lines, syntax);
        let [file] = files;
        (file, left)
    }

    /// Returns the lines with what their parts are: `K[let] a = T["b"]`.
    fn shown(diffs: &[FileDiff]) -> Vec<String> {
        let (file, _) = marked(diffs, None, Syntax::RUN);
        assert_eq!(file.no_syntax, None);
        let line = |line: &crate::render::lines::LineView<'_>| {
            let mut text = String::new();
            let mut start = 0;
            for Span { range, token } in &line.tokens {
                let name = format!("{token:?}");
                text.push_str(&line.text[start..range.start]);
                text.push_str(&format!("{}[{}]", &name[..2], &line.text[range.clone()]));
                start = range.end;
            }
            text + &line.text[start..]
        };
        file.lines().map(line).collect()
    }

    #[test]
    fn parts_of_code_are_told() {
        let lines = ["/// Adds.", "pub fn add(a: i32) -> Sum { // x", "    let b = \"t\\n\" + 1;", "}"];
        assert_eq!(
            shown(&[sample::hunk("a.rs", (1, &lines), (1, &lines))]),
            [
                "Co[/// Adds.]",
                "Ke[pub] Ke[fn] Fu[add](a: Ke[i32]) -> Sum { Co[// x]",
                "    Ke[let] b = Te[\"t]Li[\\n]Te[\"] + Li[1];",
                "}",
            ]
        );
        let known =
            [("a.py", "# x"), ("Makefile", "# x"), ("A.TS", "// x"), ("d/a.toml", "# x"), ("a.sql", "-- x")];
        for (path, line) in known {
            assert_eq!(
                shown(&[sample::hunk(path, (1, &[line]), (1, &[line]))]),
                [format!("Co[{line}]")],
                "{path}"
            );
        }
        let script = ["#!/bin/sh", "# x"];
        assert_eq!(shown(&[sample::hunk("run", (1, &script), (1, &script))])[1], "Co[# x]");
        for (path, start) in [("run", 2), ("a.txt", 1), ("", 2)] {
            let diffs = [sample::hunk(path, (start, &script), (start, &script))];
            let (file, left) = marked(&diffs, None, Syntax::RUN);
            assert!(file.lines().all(|line| line.tokens.is_empty()), "{path}");
            assert_eq!((file.no_syntax, left), (None, Syntax::RUN), "{path}");
        }
    }

    #[test]
    fn the_sides_are_read_apart_and_meet_again() {
        let old = ["a", "x = \"\"\"one", "two = 1", "\"\"\"", "b = 1"];
        let new = ["a", "x = 2", "b = 1"];
        assert_eq!(
            shown(&[sample::hunk("a.py", (1, &old), (1, &new))]),
            ["a", "x = Te[\"\"\"one]", "Te[two = 1]", "Te[\"\"\"]", "x = Li[2]", "b = Li[1]"]
        );
        // What is open on one side only is shown as the new side has it.
        let opens = shown(&[sample::hunk("a.rs", (1, &["/* a", "b"]), (1, &["1", "b"]))]);
        assert_eq!(opens, ["Co[/* a]", "Li[1]", "b"]);
        // A hunk begins anew.
        let diffs = [
            sample::hunk("a.rs", (1, &["/* a"]), (1, &["/* b"])),
            sample::hunk("a.rs", (9, &["1"]), (9, &["2"])),
        ];
        assert_eq!(shown(&diffs), ["Co[/* a]", "Co[/* b]", "Li[1]", "Li[2]"]);
    }

    #[test]
    fn parts_begin_and_end_between_characters() {
        let line = "x = \"\u{301}\u{1f468}\u{200d}\u{1f469}\"\u{301}; // \u{4e2d}";
        let diffs = [sample::hunk("a.rs", (1, &[line]), (1, &[line]))];
        assert_eq!(shown(&diffs), ["x = Te[\"\u{301}\u{1f468}\u{200d}\u{1f469}\"\u{301}]; Co[// \u{4e2d}]"]);
    }

    #[test]
    fn work_is_bounded_and_what_is_left_out_is_said() {
        let line = "let a = 1;";
        let lines = |count: usize| FileDiff {
            path: "a.rs".to_owned(),
            new_text: [line, "\n"].concat().repeat(count),
            ..FileDiff::default()
        };
        let colored = |file: &FileLines<'_>| file.lines().filter(|line| !line.tokens.is_empty()).count();
        let most = LIMIT_FILE_BYTES / (line.len() + 1);
        let all = [lines(most)];
        let (file, left) = marked(&all, None, Syntax::RUN);
        assert_eq!((colored(&file), &file.no_syntax), (most, &None));
        assert_eq!(left, Syntax::RUN.at_most(LIMIT_RUN_BYTES - most * (line.len() + 1)));
        let more = [lines(most + 1)];
        let (file, left) = marked(&more, None, Syntax::RUN);
        assert_eq!((colored(&file), left), (0, Syntax::RUN));
        assert_eq!(file.no_syntax.as_deref(), Some("more than 96 KiB: not coloured by syntax"));
        // Only what is drawn is looked at.
        let (file, _) = marked(&more, Some(20), Syntax::RUN);
        assert_eq!((colored(&file), &file.no_syntax), (20, &None));
        // What a run may colour is spent by all its cards; that it is, is said once.
        let (file, left) = marked(&all, None, Syntax::RUN.at_most(100));
        assert_eq!(colored(&file), 0);
        assert_eq!(file.no_syntax.as_deref(), Some("enough was drawn: not coloured by syntax from here on"));
        let (file, left) = marked(&all, None, left);
        assert_eq!((colored(&file), &file.no_syntax, left), (0, &None, Syntax::RUN.at_most(0)));
        let (file, left) = marked(&more, None, Syntax::NEVER);
        assert_eq!((colored(&file), &file.no_syntax, left), (0, &None, Syntax::NEVER));
        let few = [lines(1)];
        let (_, left) = marked(&few, None, Syntax::RUN.at_most(11));
        assert_eq!(
            marked(&few, None, left).0.no_syntax.as_deref(),
            Some("enough was drawn: not coloured by syntax from here on")
        );
        // A line that is too long has no colours; the next one has.
        let long = "1".repeat(1001);
        let diffs = [sample::hunk("a.rs", (1, &[&long, "1"]), (1, &[&long, "1"]))];
        assert_eq!(shown(&diffs), [long.clone(), "Li[1]".to_owned()]);
    }
}
