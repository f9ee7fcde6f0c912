//! Blocks that one call took away at one place and put in at another.
//!
//! As in git's `--color-moved`, a block counts if its lines are the same but for their indentation, one after the other
//! on both sides, with at least twenty letters and digits together. Lines that are changed where they stand are not
//! moved.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::crew::Crew;
use super::lines::FileLines;
use super::marks::Emphasis;
use super::view::FileView;
use crate::diff::hunks::Sign;

/// How many letters and digits a block has at least.
const LEAST_ALPHANUMERIC: usize = 20;
/// More lines than this are not searched: such a change is a rewrite.
const LIMIT_LINES: usize = 50_000;
/// How many places of one line are tried.
const LIMIT_PLACES: usize = 16;

/// The other end of a block that was moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Moved {
    /// The index of the file at the other end, among the files that were compared.
    pub(super) file: usize,
    /// The 1-based number of the first line there, if it is known.
    pub(super) number: Option<usize>,
    /// How many lines the block has.
    pub(super) lines: usize,
}

/// Where a line stands: file, hunk, line.
type At = (usize, usize, usize);

/// Returns the lines of all files of a card, with the blocks that were moved. What was not done did not move either, and
/// nothing in it is emphasised.
pub(super) fn lines_of<'a>(files: &'a [FileView<'a>], emphasis: Emphasis, crew: Crew) -> Vec<FileLines<'a>> {
    let done = |file: &'a FileView<'a>| match file.is_undone {
        true => FileLines::default(),
        false => FileLines::of(&file.diffs, emphasis, crew),
    };
    let mut lines: Vec<FileLines<'a>> = files.iter().map(done).collect();
    mark(&mut lines);
    for (lines, file) in lines.iter_mut().zip(files).filter(|(_, file)| file.is_undone) {
        *lines = FileLines::of(&file.diffs, Emphasis::None, crew);
    }
    lines
}

/// Marks the blocks that were moved within or between files.
fn mark(files: &mut [FileLines<'_>]) {
    let changed = files.iter().flat_map(FileLines::lines).filter(|line| line.kind != Sign::Context).count();
    if changed > LIMIT_LINES {
        return;
    }
    let inserted = inserted_by_text(files);
    if inserted.is_empty() {
        return;
    }
    let mut blocks = Vec::new();
    for file in 0..files.len() {
        for hunk in 0..files[file].hunks.len() {
            let mut line = 0;
            while line < files[file].hunks[hunk].lines.len() {
                match longest(files, &inserted, (file, hunk, line)) {
                    Some((to, length)) => {
                        // What was taken away once can't have been moved twice, and the same the other way round.
                        set(files, (file, hunk, line), length);
                        set(files, to, length);
                        blocks.push(((file, hunk, line), to, length));
                        line += length;
                    }
                    None => line += 1,
                }
            }
        }
    }
    for (from, to, lines) in blocks {
        let number = |at: At, kind| {
            let line = &files[at.0].hunks[at.1].lines[at.2];
            if kind == Sign::Delete { line.old_number } else { line.new_number }
        };
        let (from_number, to_number) = (number(from, Sign::Delete), number(to, Sign::Insert));
        files[from.0].hunks[from.1].lines[from.2].moved =
            Some(Box::new(Moved { file: to.0, number: to_number, lines }));
        files[to.0].hunks[to.1].lines[to.2].moved =
            Some(Box::new(Moved { file: from.0, number: from_number, lines }));
    }
}

fn inserted_by_text<'a>(files: &[FileLines<'a>]) -> HashMap<&'a str, Vec<At>, FixedState> {
    let mut places: HashMap<&str, Vec<At>, FixedState> = HashMap::default();
    for (file, lines) in files.iter().enumerate() {
        for (hunk, lines) in lines.hunks.iter().enumerate() {
            for (line, view) in lines.lines.iter().enumerate() {
                let text = view.text.trim();
                if view.kind == Sign::Insert && text.contains(char::is_alphanumeric) {
                    let places = places.entry(text).or_default();
                    if places.len() < LIMIT_PLACES {
                        places.push((file, hunk, line));
                    }
                }
            }
        }
    }
    places
}

/// Returns the longest block that begins at a deleted line and stands somewhere else too, with its place and length.
fn longest(
    files: &[FileLines<'_>],
    inserted: &HashMap<&str, Vec<At>, FixedState>,
    from: At,
) -> Option<(At, usize)> {
    let first = &files[from.0].hunks[from.1].lines[from.2];
    if first.kind != Sign::Delete || first.is_moved {
        return None;
    }
    let places = inserted.get(first.text.trim())?;
    let lengths =
        places.iter().filter(|to| !is_one_run(files, from, **to)).map(|to| (*to, length(files, from, *to)));
    // Of equally long ones the first.
    let (to, length) = lengths.rev().max_by_key(|&(_, length)| length)?;
    let lines = &files[from.0].hunks[from.1].lines[from.2..from.2 + length];
    let alphanumeric: usize =
        lines.iter().map(|line| line.text.chars().filter(|scalar| scalar.is_alphanumeric()).count()).sum();
    (alphanumeric >= LEAST_ALPHANUMERIC).then_some((to, length))
}

fn length(files: &[FileLines<'_>], from: At, to: At) -> usize {
    let (old, new) = (&files[from.0].hunks[from.1].lines[from.2..], &files[to.0].hunks[to.1].lines[to.2..]);
    let same = old.iter().zip(new).take_while(|(old, new)| {
        old.kind == Sign::Delete
            && new.kind == Sign::Insert
            && !old.is_moved
            && !new.is_moved
            && old.text.trim() == new.text.trim()
    });
    let count = same.count();
    // Blank lines at the end belong to no block.
    let blank = old[..count].iter().rev().take_while(|line| line.text.trim().is_empty()).count();
    count - blank
}

/// Tells whether the inserted line stands in the run of changes of the deleted one: then it was changed in place.
fn is_one_run(files: &[FileLines<'_>], from: At, to: At) -> bool {
    let run = |at: At| files[at.0].hunks[at.1].lines[at.2].run;
    (from.0, from.1) == (to.0, to.1) && run(from) == run(to)
}

fn set(files: &mut [FileLines<'_>], at: At, length: usize) {
    for line in &mut files[at.0].hunks[at.1].lines[at.2..at.2 + length] {
        line.is_moved = true;
    }
}

/// Says where the other end of a moved block is.
pub(super) fn moved_words(moved: &Moved, kind: Sign, paths: &[&str], own: usize) -> String {
    let Moved { file, number, lines } = moved;
    let what = if *lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") };
    let way = if kind == Sign::Delete { "moved to" } else { "moved from" };
    let place = match (number, paths.get(*file).filter(|_| *file != own)) {
        (Some(number), None) => format!("line {number}"),
        (Some(number), Some(path)) => format!("{path}:{number}"),
        (None, Some(path)) => (*path).to_owned(),
        (None, None) => "another place".to_owned(),
    };
    format!("{what} {way} {place}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::marks::Emphasis;
    use crate::render::sample;
    use crate::report::FileDiff;

    /// Each moved block as `file:hunk:line -> file, number, length`.
    fn blocks(diffs: &[&[FileDiff]]) -> Vec<(At, Moved)> {
        let mut files: Vec<FileLines<'_>> = diffs
            .iter()
            .map(|diffs| FileLines::of(&diffs.iter().collect::<Vec<_>>(), Emphasis::None, Crew::ALONE))
            .collect();
        mark(&mut files);
        let mut blocks = Vec::new();
        for (file, lines) in files.iter().enumerate() {
            for (hunk, lines) in lines.hunks.iter().enumerate() {
                for (line, view) in lines.lines.iter().enumerate() {
                    blocks.extend(view.moved.clone().map(|moved| ((file, hunk, line), *moved)));
                }
            }
        }
        blocks
    }

    const BODY: [&str; 3] = ["fn carry(over: usize) {", "    over + 1", "}"];

    #[test]
    fn a_block_is_found_at_both_ends() {
        let away = sample::hunk("a", (4, &["x", BODY[0], BODY[1], BODY[2]]), (4, &["x"]));
        let here =
            sample::hunk("b", (1, &["y"]), (1, &["y", "  fn carry(over: usize) {", "      over + 1", "  }"]));
        assert_eq!(
            blocks(&[&[away], &[here]]),
            [
                ((0, 0, 1), Moved { file: 1, number: Some(2), lines: 3 }),
                ((1, 0, 1), Moved { file: 0, number: Some(5), lines: 3 }),
            ]
        );
    }

    #[test]
    fn short_blocks_and_changes_in_place_are_not_moved() {
        let short = [
            sample::hunk("a", (1, &["x", "return 1;"]), (1, &["x"])),
            sample::hunk("a", (9, &["y"]), (8, &["y", "return 1;"])),
        ];
        assert_eq!(blocks(&[&short]), []);
        let indented = ["    fn carry(over: usize) {", "        over + 1", "    }"];
        assert_eq!(blocks(&[&[sample::hunk("a", (1, &BODY), (1, &indented))]]), []);
    }

    #[test]
    fn a_line_that_went_once_is_not_moved_twice() {
        let away = sample::hunk("a", (1, &BODY), (1, &[]));
        let once = sample::hunk("b", (1, &[]), (1, &BODY));
        let twice = sample::hunk("c", (1, &[]), (1, &BODY));
        let found = blocks(&[&[away], &[once], &[twice]]);
        assert_eq!(found.iter().map(|(at, _)| at.0).collect::<Vec<_>>(), [0, 1]);
    }
}
