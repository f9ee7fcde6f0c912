//! Cards as Markdown that renders well in a pull request: headings, `diff` fences, folded long files, an index.
//!
//! Every text passes `escape.rs`. Names stand in code spans and lines in fences, both with more backticks than the text
//! has, so that nothing in them is markup.

use std::io;
use std::io::Write;

use super::crew::Crew;
use super::escape::Charset;
use super::escape::Place;
use super::escape::escape;
use super::explain;
use super::index::Index;
use super::index::plural;
use super::lines::FileLines;
use super::lines::Gap;
use super::lines::HunkLines;
use super::lines::OPEN_LINES;
use super::marks::Emphasis;
use super::moved;
use super::moved::moved_words;
use super::view::ARROW;
use super::view::Counts;
use super::view::FileView;
use super::view::card_view;
use super::view::operation_word;
use crate::diff::hunks::Sign;
use crate::report::Card;

/// A document that is being written.
#[derive(Debug, Default)]
pub struct Document {
    index: Index,
}

impl Document {
    /// Writes one card.
    ///
    /// # Errors
    /// What the writer says.
    pub fn card(&mut self, out: &mut dyn Write, card: &Card) -> io::Result<()> {
        let view = card_view(card, ARROW);
        let number = self.index.take(card, &view);
        write!(out, "### <a id=\"card-{number}\"></a>")?;
        if !view.word.is_empty() {
            write!(out, "{}: ", view.word)?;
        }
        writeln!(out, "{}{}\n", code(&view.title), counted(view.counts))?;
        if !view.details.is_empty() {
            let details: Vec<String> = view.details.iter().map(|detail| code(detail)).collect();
            writeln!(out, "{}\n", details.join(" \u{b7} "))?;
        }
        let said = explain::card_lines(&view);
        if !said.is_empty() {
            let lines: Vec<String> =
                said.iter().map(|line| escape(line, Place::Copied, Charset::Unicode)).collect();
            fence(out, "text", &lines)?;
        }
        let lines = moved::lines_of(&view.files, Emphasis::None, Crew::ALONE);
        let paths: Vec<&str> = view.files.iter().map(|file| file.path).collect();
        for (own, (file, lines)) in view.files.iter().zip(&lines).enumerate() {
            write_file(out, file, lines, (&paths, own))?;
        }
        Ok(())
    }

    /// Writes the index, if there are several cards.
    ///
    /// # Errors
    /// What the writer says.
    pub fn finish(self, out: &mut dyn Write) -> io::Result<()> {
        match self.index.cards {
            0 => out.write_all(b"No edits.\n"),
            1 => Ok(()),
            _ => write_index(out, &self.index),
        }
    }
}

fn write_index(out: &mut dyn Write, index: &Index) -> io::Result<()> {
    let (added, removed) = index.totals();
    writeln!(out, "## {}{}\n", plural(index.files.len(), "file"), counted((Some(added), Some(removed))))?;
    let words = index.words();
    if !words.is_empty() {
        writeln!(out, "{words}\n")?;
    }
    let links = |cards: &[usize]| {
        cards.iter().map(|card| format!("[{card}](#card-{card})")).collect::<Vec<_>>().join(" ")
    };
    out.write_all(b"| file | + | - | edits |\n| --- | --: | --: | --- |\n")?;
    for file in &index.files {
        // In a table a bar ends the cell, even in a code span.
        let name = code(&file.path).replace('|', "\\|");
        writeln!(out, "| {name} | {} | {} | {} |", file.counts.0, file.counts.1, links(&file.cards))?;
    }
    if !index.turns.is_empty() {
        out.write_all(b"\n| turn | edits |\n| --: | --- |\n")?;
        for (turn, (first, count)) in &index.turns {
            writeln!(out, "| {turn} | {count}, from {} |", links(&[*first]))?;
        }
    }
    Ok(())
}

fn write_file(
    out: &mut dyn Write,
    file: &FileView<'_>,
    lines: &FileLines<'_>,
    (paths, own): (&[&str], usize),
) -> io::Result<()> {
    if !file.is_named {
        let word = file.word.map(|(word, _)| format!(" {word}")).unwrap_or_default();
        let name = code(&file.heading(ARROW));
        writeln!(out, "**{}** {name}{}{word}\n", operation_word(file.operation), counted(file.counts))?;
    }
    let moves = lines
        .lines()
        .filter_map(|line| line.moved.as_ref().map(|moved| moved_words(moved, line.kind, paths, own)));
    let footers = lines.footers().into_iter().chain(moves);
    let remarks: Vec<String> = file.remarks.iter().map(|remark| remark.text.clone()).chain(footers).collect();
    for remark in &remarks {
        writeln!(out, "- {}", code(remark))?;
    }
    if !remarks.is_empty() {
        out.write_all(b"\n")?;
    }
    if lines.hunks.is_empty() {
        return Ok(());
    }
    let mut rows = Vec::new();
    for hunk in &lines.hunks {
        rows.extend(heading(hunk));
        rows.extend(hunk.lines.iter().map(|line| {
            let sign = match line.kind {
                Sign::Context => ' ',
                Sign::Delete => '-',
                Sign::Insert => '+',
            };
            format!("{sign}{}", escape(line.text, Place::Copied, Charset::Unicode))
        }));
    }
    let count = lines.lines().count();
    let is_folded = lines.is_whole() && count > OPEN_LINES + 1;
    if is_folded {
        write!(out, "<details><summary>{count} lines</summary>\n\n")?;
    }
    // A reader colours the signs of a diff, and what is coloured looks done.
    fence(out, if file.is_undone { "text" } else { "diff" }, &rows)?;
    if is_folded {
        out.write_all(b"</details>\n\n")?;
    }
    Ok(())
}

/// Returns `@@ -3,2 +3,3 @@` and the section where the numbers are known; else what parts a hunk from the one before it.
fn heading(hunk: &HunkLines<'_>) -> Option<String> {
    let range = |number: fn(&super::lines::LineView<'_>) -> Option<usize>| {
        let mut numbers = hunk.lines.iter().filter_map(number);
        let first = numbers.next()?;
        Some((first, 1 + numbers.count()))
    };
    let side = |range: Option<(usize, usize)>| match range {
        Some((first, 1)) => first.to_string(),
        Some((first, count)) => format!("{first},{count}"),
        None => "0,0".to_owned(),
    };
    let (old, new) = (range(|line| line.old_number), range(|line| line.new_number));
    let section = hunk.section.map(|section| format!(" {}", escape(section, Place::Name, Charset::Unicode)));
    let section = section.as_deref().unwrap_or_default();
    if old.is_some() || new.is_some() {
        return Some(format!("@@ -{} +{} @@{section}", side(old), side(new)));
    }
    (hunk.gap != Gap::None || !section.is_empty()).then(|| format!("@@ @@{section}"))
}

fn counted((added, removed): Counts) -> String {
    match (added, removed) {
        (Some(0), Some(0)) => String::new(),
        _ => {
            let part = |sign: char, count: Option<usize>| count.map(|count| format!(" {sign}{count}"));
            [part('+', added), part('-', removed)].into_iter().flatten().collect()
        }
    }
}

/// Writes lines in a fence that none of them ends.
pub(super) fn fence(out: &mut dyn Write, language: &str, lines: &[String]) -> io::Result<()> {
    let longest = lines.iter().map(|line| longest_run(line)).max().unwrap_or(0);
    let ticks = "`".repeat(3.max(longest + 1));
    writeln!(out, "{ticks}{language}")?;
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    writeln!(out, "{ticks}\n")
}

/// Returns a name as a code span.
fn code(name: &str) -> String {
    let name = escape(name, Place::Name, Charset::Unicode);
    let ticks = "`".repeat(longest_run(&name) + 1);
    // A span drops one blank at both ends, and an empty one is none.
    if name.is_empty() || name.starts_with(['`', ' ']) || name.ends_with(['`', ' ']) {
        return format!("{ticks} {name} {ticks}");
    }
    format!("{ticks}{name}{ticks}")
}

fn longest_run(text: &str) -> usize {
    text.split(|scalar| scalar != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::render::sample;
    use crate::report::CardFile;
    use crate::report::CardStatus;
    use crate::report::Operation;

    fn document(cards: &[Card]) -> String {
        let (mut out, mut document) = (Vec::new(), Document::default());
        for card in cards {
            document.card(&mut out, card).unwrap();
        }
        document.finish(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn calc() -> Card {
        let counted =
            CardFile { added: Some(1), removed: Some(1), ..sample::file("a|`b`.rs", Operation::Update) };
        let hunk = sample::hunk("a|`b`.rs", (3, &["x", "```"]), (3, &["x", "\t````"]));
        let mut card = sample::card(vec![counted], vec![hunk]);
        card.title = "edit a|`b`.rs".to_owned();
        card.source.turn = Some(4);
        card
    }

    #[test]
    fn a_card_is_a_heading_and_a_fence() {
        assert_eq!(
            document(&[calc()]),
            [
                "### <a id=\"card-1\"></a>applied: ``edit a|`b`.rs`` +1 -1",
                "",
                "`turn 4`",
                "",
                "`````diff",
                "@@ -3,2 +3,2 @@",
                " x",
                "-```",
                "+\t````",
                "`````",
                "",
                ""
            ]
            .join("\n")
        );
    }

    #[test]
    fn several_cards_have_an_index() {
        let mut failed = calc();
        (failed.status, failed.message) = (CardStatus::Failed, Some("not found".to_owned()));
        let text = document(&[calc(), failed]);
        assert!(
            text.ends_with(
                "## 1 file +1 -1\n\n1 applied, 1 failed\n\n| file | + | - | edits |\n| --- | --: | --: | --- |\n\
                 | ``a\\|`b`.rs`` | 1 | 1 | [1](#card-1) [2](#card-2) |\n\n| turn | edits |\n| --: | --- |\n\
                 | 4 | 2, from [1](#card-1) |\n"
            ),
            "{text}"
        );
        assert!(
            text.contains("failed: ``edit a|`b`.rs``\n\n`turn 4`\n\n```text\nnot found\n```\n"),
            "{text}"
        );
        assert_eq!(document(&[]), "No edits.\n");
    }

    #[test]
    fn long_new_files_are_folded() {
        let lines = vec!["x"; 50];
        let file = CardFile { added: Some(50), removed: Some(0), ..sample::file("n", Operation::Create) };
        let text = document(&[sample::card(vec![file], vec![sample::hunk("n", (1, &[]), (1, &lines))])]);
        assert!(
            text.contains("<details><summary>50 lines</summary>\n\n```diff\n@@ -0,0 +1,50 @@\n"),
            "{text}"
        );
        assert!(text.ends_with("```\n\n</details>\n\n"), "{text}");
    }

    proptest! {
        #[test]
        fn no_text_gets_out_of_its_fence(path in ".*", old in "[`~a\\n ]{0,40}", new in "(?s).{0,80}") {
            let hunk = sample::hunk(&path, (1, &old.split('\n').collect::<Vec<_>>()), (1, &new.split('\n').collect::<Vec<_>>()));
            let text = document(&[sample::card(vec![sample::file(&path, Operation::Update)], vec![hunk])]);
            let mut fence: Option<&str> = None;
            for line in text.lines() {
                let ticks = &line[..line.bytes().take_while(|&byte| byte == b'`').count()];
                match fence {
                    None if ticks.len() >= 3 && line.ends_with("diff") => fence = Some(ticks),
                    Some(open) if line == open => fence = None,
                    Some(open) => prop_assert!(ticks.len() < open.len(), "{line:?}"),
                    None => {}
                }
            }
            prop_assert!(fence.is_none());
            prop_assert!(!text.replace(['\n', '\t'], "").contains(char::is_control));
        }
    }
}
