//! A card as `git diff --stat` draws it: a line a file with its count of changed lines, then the totals.

use std::io;
use std::io::Write;

use unicode_width::UnicodeWidthStr;

use super::escape::Charset;
use super::escape::Place;
use super::escape::cells;
use super::escape::escape;
use crate::report::Card;
use crate::report::CardFile;
use crate::report::CardStatus;
use crate::report::Operation;

/// Columns that the bar of a file takes at least, where the width allows it.
const BAR_COLUMNS: usize = 10;

/// One line of the table.
struct Entry {
    name: String,
    count: String,
    added: usize,
    removed: usize,
    is_counted: bool,
}

/// Writes the table of one card: `src/a.rs | 5 ++-` for each file, then the totals of what was changed.
///
/// A file that was not changed has the reason in place of its count; a count that the log does not hold is `?`.
///
/// # Errors
/// What the writer says.
pub fn card(out: &mut dyn Write, card: &Card, width: usize, charset: Charset) -> io::Result<()> {
    let entries: Vec<Entry> = card.files.iter().map(|file| entry(card, file, charset)).collect();
    let count_columns = entries.iter().map(|entry| entry.count.len()).max().unwrap_or(0);
    let longest_name = entries.iter().map(|entry| entry.name.width()).max().unwrap_or(0);
    let most = entries.iter().map(|entry| entry.added.saturating_add(entry.removed)).max().unwrap_or(0);
    // " name | count bar": four columns stand between the parts.
    let room = width.saturating_sub(count_columns + 5);
    let name_columns = longest_name.min(room.saturating_sub(BAR_COLUMNS.min(most)));
    let bar_columns = room.saturating_sub(name_columns);
    for entry in &entries {
        let name = keep_end(&entry.name, name_columns, charset);
        let gap = name_columns.saturating_sub(name.width());
        let (plus, minus) = bar(entry, most, bar_columns);
        let row = format!(
            " {name}{:gap$} | {:>count_columns$} {}{}",
            "",
            entry.count,
            "+".repeat(plus),
            "-".repeat(minus)
        );
        writeln!(out, "{}", keep_start(row.trim_end(), width))?;
    }
    let (long, short) = totals(&entries);
    writeln!(out, "{}", if long.len() <= width { long } else { keep_start(&short, width) })
}

fn entry(card: &Card, file: &CardFile, charset: Charset) -> Entry {
    let path = escape(&file.path, Place::Name, charset);
    let name = match (&file.from, file.operation) {
        (Some(from), Operation::Rename | Operation::Copy) => {
            format!("{} => {path}", escape(from, Place::Name, charset))
        }
        _ => path,
    };
    let word = match file.status.unwrap_or(card.status) {
        CardStatus::Applied | CardStatus::Partial | CardStatus::Unknown | CardStatus::NoCall => None,
        CardStatus::Failed => Some("failed"),
        CardStatus::Rejected => Some("rejected"),
        CardStatus::Held => Some("held"),
    };
    let counts = file.added.zip(file.removed);
    let count = match (word, counts) {
        (Some(word), _) => word.to_string(),
        (None, Some((added, removed))) => added.saturating_add(removed).to_string(),
        (None, None) => "?".to_string(),
    };
    let (added, removed) = if word.is_none() { counts.unwrap_or((0, 0)) } else { (0, 0) };
    Entry { name, count, added, removed, is_counted: word.is_none() }
}

/// Returns how many plus and minus signs fit; a count that is not zero keeps at least one sign.
fn bar(entry: &Entry, most: usize, columns: usize) -> (usize, usize) {
    if most <= columns {
        return (entry.added, entry.removed);
    }
    let scaled = |count: usize| match count {
        0 => 0,
        _ => (count as u128 * columns as u128 / most as u128).max(1) as usize,
    };
    let (plus, minus) = (scaled(entry.added), scaled(entry.removed));
    (plus.min(columns), minus.min(columns - plus.min(columns)))
}

/// Returns the totals in git's words, and in few columns.
fn totals(entries: &[Entry]) -> (String, String) {
    let counted = entries.iter().filter(|entry| entry.is_counted);
    let (mut files, mut added, mut removed) = (0, 0_usize, 0_usize);
    for entry in counted {
        files += 1;
        added = added.saturating_add(entry.added);
        removed = removed.saturating_add(entry.removed);
    }
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let mut text = format!(" {files} file{} changed", plural(files));
    if added > 0 || removed == 0 {
        text.push_str(&format!(", {added} insertion{}(+)", plural(added)));
    }
    if removed > 0 || added == 0 {
        text.push_str(&format!(", {removed} deletion{}(-)", plural(removed)));
    }
    (text, format!(" {files} file{} +{added} -{removed}", plural(files)))
}

/// Cuts the front of a name: its end tells files apart.
fn keep_end(name: &str, columns: usize, charset: Charset) -> String {
    if name.width() <= columns {
        return name.to_string();
    }
    let mark = if columns >= 3 { "..." } else { "" };
    let mut room = columns - mark.len();
    let mut kept = Vec::new();
    for cell in cells(name, Place::Name, charset).into_iter().rev() {
        if cell.columns > room {
            break;
        }
        room -= cell.columns;
        kept.push(cell.text);
    }
    kept.reverse();
    format!("{mark}{}", kept.concat())
}

fn keep_start(row: &str, width: usize) -> String {
    let mut room = width;
    let mut kept = String::new();
    for cell in cells(row, Place::Name, Charset::Unicode) {
        if cell.columns > room {
            break;
        }
        room -= cell.columns;
        kept.push_str(&cell.text);
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::render::sample;

    fn render(value: &Card, width: usize) -> String {
        let mut out = Vec::new();
        card(&mut out, value, width, Charset::Unicode).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn counted(path: &str, added: usize, removed: usize) -> CardFile {
        CardFile { added: Some(added), removed: Some(removed), ..sample::file(path, Operation::Update) }
    }

    #[test]
    fn files_and_totals() {
        let mut failed = counted("b.rs", 9, 9);
        failed.status = Some(CardStatus::Failed);
        let mut renamed = counted("new", 0, 0);
        (renamed.operation, renamed.from) = (Operation::Rename, Some("old".to_string()));
        let mut unknown = sample::file("u\u{202e}", Operation::Update);
        unknown.added = None;
        let value = sample::card(vec![counted("src/a.rs", 2, 1), failed, renamed, unknown], vec![]);
        assert_eq!(
            render(&value, 60),
            [
                " src/a.rs   |      3 ++-",
                " b.rs       | failed",
                " old => new |      0",
                " u\u{27e8}U+202E\u{27e9}  |      ?",
                " 3 files changed, 2 insertions(+), 1 deletion(-)",
                ""
            ]
            .join("\n")
        );
    }

    #[test]
    fn long_names_keep_their_end_and_bars_scale() {
        let value =
            sample::card(vec![counted("a/very/long/path/to/file.rs", 300, 100), counted("b", 1, 0)], vec![]);
        assert_eq!(
            render(&value, 30),
            " ...o/file.rs | 400 +++++++--\n b            |   1 +\n 2 files +301 -100\n"
        );
    }

    proptest! {
        #[test]
        fn fits_and_is_total(path in ".*", added in any::<usize>(), removed in any::<usize>(), width in 0_usize..120) {
            let text = render(&sample::card(vec![counted(&path, added, removed)], vec![]), width);
            for row in text.lines() {
                prop_assert!(row.width() <= width, "{row:?}");
            }
            prop_assert!(!text.replace('\n', "").contains(char::is_control));
        }
    }
}
