//! Cards as counts: a line a call, and tables as `git diff --stat` draws them, a line a file and then the totals.
//!
//! What was not done is in no total: a failed, rejected or held edit, and a call of which no result is recorded.

use std::collections::HashMap;
use std::io;
use std::io::Write;

use unicode_width::UnicodeWidthStr;

use super::escape::Charset;
use super::escape::Place;
use super::escape::cells;
use super::escape::escape;
use crate::report::CallCounts;
use crate::report::Card;
use crate::report::CardFile;
use crate::report::CardStatus;
use crate::report::Operation;
use crate::report::StatRow;
use crate::report::StatSchema;
use crate::text::path::within;

/// Columns that the bar of a file takes at least, where the width allows it.
const BAR_COLUMNS: usize = 10;

/// Columns of the longest word for a status.
const STATUS_COLUMNS: usize = 8;

/// Columns of a count of lines with its sign, which larger counts exceed.
const COUNT_COLUMNS: usize = 6;

/// So many files get a line of their own in the totals of a session; those that come later share one.
const FILES_CAP: usize = 1 << 16;

/// One line of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    name: String,
    /// Why it has no count.
    word: Option<&'static str>,
    added: usize,
    removed: usize,
}

impl Entry {
    fn count(&self) -> String {
        match self.word {
            Some(word) => word.to_owned(),
            None => self.added.saturating_add(self.removed).to_string(),
        }
    }

    fn is_counted(&self) -> bool {
        !matches!(self.word, Some("failed" | "rejected" | "held"))
    }
}

/// Writes the table of one card: `src/a.rs | 5 ++-` for each file, then the totals of what was changed.
///
/// A file that was not changed has the reason in place of its count; a count that the log does not hold is `?`.
///
/// # Errors
/// What the writer says.
pub fn card(out: &mut dyn Write, card: &Card, width: usize, charset: Charset) -> io::Result<()> {
    let entries: Vec<Entry> = card
        .files
        .iter()
        .map(|file| {
            let word = not_done(file.status.unwrap_or(card.status));
            let name = name_of(file, |path| escape(path, Place::Name, charset));
            entry(name, word, file)
        })
        .collect();
    table(out, &entries, width, charset)
}

/// Writes one line for a call: its status, its counts, its tool and its file.
///
/// The columns stand where they are whatever the calls are: a line can be written before the next call is known. Paths
/// are shown relative to `root`, the folder of the session, where they lie in it.
///
/// # Errors
/// What the writer says.
pub fn call(
    out: &mut dyn Write,
    card: &Card,
    root: Option<&str>,
    (width, charset): (usize, Charset),
) -> io::Result<()> {
    let done = || card.files.iter().filter(|file| is_done(card, file));
    let sum = |count: fn(&CardFile) -> Option<usize>| {
        done().map(count).try_fold(0_usize, |sum, count| count.map(|count| sum.saturating_add(count)))
    };
    let shown = |count: Option<usize>, sign: char| match count {
        _ if done().next().is_none() => String::new(),
        Some(count) => format!("{sign}{count}"),
        None => "?".to_owned(),
    };
    let (added, removed) = (shown(sum(|file| file.added), '+'), shown(sum(|file| file.removed), '-'));
    let status = status_word(card.status);
    let start = format!("{status:STATUS_COLUMNS$} {added:>COUNT_COLUMNS$} {removed:>COUNT_COLUMNS$}  ");
    let tool = escape(&card.source.tool, Place::Name, charset);
    let what = match card.files.as_slice() {
        [] => String::new(),
        [file] => {
            let room = width.saturating_sub(start.width() + tool.width() + 1);
            let path = shortened(card, &file.path, root);
            format!(" {}", keep_end(&escape(&path, Place::Name, charset), room, charset))
        }
        files => format!(" {} files", files.len()),
    };
    writeln!(out, "{}", keep_start(format!("{start}{tool}{what}").trim_end(), width))
}

/// The counts of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    files: Vec<Entry>,
    index_by_name: HashMap<String, usize>,
    /// Files beyond the cap, all in one.
    others: Option<Entry>,
    /// Calls by their status, in the order in which they are named.
    calls: [usize; STATUSES.len()],
}

/// Every status, in the order in which totals name them.
const STATUSES: [CardStatus; 6] = [
    CardStatus::Applied,
    CardStatus::Partial,
    CardStatus::Failed,
    CardStatus::Rejected,
    CardStatus::Held,
    CardStatus::Unknown,
];

impl Totals {
    /// Adds a call.
    pub fn add(&mut self, card: &Card, root: Option<&str>) {
        for (calls, status) in self.calls.iter_mut().zip(STATUSES) {
            *calls += usize::from(status == card.status);
        }
        for file in card.files.iter().filter(|file| is_done(card, file)) {
            let entry = entry(name_of(file, |path| shortened(card, path, root)), None, file);
            let index = self.index_by_name.get(&entry.name).copied();
            let sum = match index {
                Some(index) => self.files.get_mut(index),
                None if self.files.len() < FILES_CAP => {
                    self.index_by_name.insert(entry.name.clone(), self.files.len());
                    self.files.push(entry);
                    continue;
                }
                None => Some(self.others.get_or_insert_with(|| Entry {
                    name: "(other files)".to_owned(),
                    word: None,
                    added: 0,
                    removed: 0,
                })),
            };
            if let Some(sum) = sum {
                sum.added = sum.added.saturating_add(entry.added);
                sum.removed = sum.removed.saturating_add(entry.removed);
                sum.word = sum.word.or(entry.word);
            }
        }
    }

    /// Returns how many calls there were, how many files they changed, and how many lines they added and removed.
    pub fn sums(&self) -> (CallCounts, usize, usize, usize) {
        let [applied, partial, failed, rejected, held, unknown] = self.calls;
        let calls = CallCounts { applied, partial, failed, rejected, held, unknown };
        let sum = |count: fn(&Entry) -> usize| {
            self.files.iter().chain(&self.others).map(count).fold(0, usize::saturating_add)
        };
        (calls, self.files.len(), sum(|entry| entry.added), sum(|entry| entry.removed))
    }

    /// Writes the totals a file, of all files, and of the calls.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(&self, out: &mut dyn Write, width: usize, charset: Charset) -> io::Result<()> {
        let shown =
            |entry: &Entry| Entry { name: escape(&entry.name, Place::Name, charset), ..entry.clone() };
        let entries: Vec<Entry> = self.files.iter().chain(&self.others).map(shown).collect();
        let calls: usize = self.calls.iter().sum();
        if calls > 0 {
            writeln!(out)?;
        }
        table(out, &entries, width, charset)?;
        let statuses: Vec<String> = self
            .calls
            .iter()
            .zip(STATUSES)
            .filter(|(count, _)| **count > 0)
            .map(|(count, status)| format!("{count} {}", status_word(status)))
            .collect();
        let plural = if calls == 1 { "" } else { "s" };
        let colon = if statuses.is_empty() { "" } else { ": " };
        let row = format!(" {calls} call{plural}{colon}{}", statuses.join(", "));
        writeln!(out, "{}", keep_start(&row, width))
    }
}

/// Returns a card as flat rows, one a file.
pub fn rows(card: &Card) -> Vec<StatRow> {
    let of_call = StatRow {
        schema: StatSchema::V1,
        source: card.source.clone(),
        status: card.status,
        path: None,
        operation: None,
        from: None,
        added: None,
        removed: None,
        recorded: None,
    };
    if card.files.is_empty() {
        return vec![of_call];
    }
    let of_file = |file: &CardFile| StatRow {
        status: file.status.unwrap_or(card.status),
        path: Some(file.path.clone()),
        operation: Some(file.operation),
        from: file.from.clone(),
        added: file.added.filter(|_| is_done(card, file)),
        removed: file.removed.filter(|_| is_done(card, file)),
        recorded: Some(file.recorded),
        ..of_call.clone()
    };
    card.files.iter().map(of_file).collect()
}

/// Tells whether a file was changed as the card says, as far as is known.
fn is_done(card: &Card, file: &CardFile) -> bool {
    match file.status.unwrap_or(card.status) {
        CardStatus::Applied | CardStatus::Partial => true,
        CardStatus::Failed | CardStatus::Rejected | CardStatus::Held => false,
        // A patch or a comparison is no call: there can be no result of it.
        CardStatus::Unknown => card.source.call_id.is_none(),
    }
}

fn status_word(status: CardStatus) -> &'static str {
    match status {
        CardStatus::Applied => "applied",
        CardStatus::Partial => "partial",
        CardStatus::Failed => "failed",
        CardStatus::Rejected => "rejected",
        CardStatus::Held => "held",
        CardStatus::Unknown => "unknown",
    }
}

fn not_done(status: CardStatus) -> Option<&'static str> {
    match status {
        CardStatus::Applied | CardStatus::Partial | CardStatus::Unknown => None,
        CardStatus::Failed | CardStatus::Rejected | CardStatus::Held => Some(status_word(status)),
    }
}

/// Returns a path relative to the root if it lies in it, else as it is written.
fn shortened(card: &Card, path: &str, root: Option<&str>) -> String {
    within(root, card.source.folder.as_deref(), path).unwrap_or_else(|| path.to_owned())
}

fn name_of(file: &CardFile, shown: impl Fn(&str) -> String) -> String {
    let path = shown(&file.path);
    match (&file.from, file.operation) {
        (Some(from), Operation::Rename | Operation::Copy) => format!("{} => {path}", shown(from)),
        _ => path,
    }
}

fn entry(name: String, word: Option<&'static str>, file: &CardFile) -> Entry {
    let counts = file.added.zip(file.removed);
    let (added, removed) = counts.filter(|_| word.is_none()).unwrap_or((0, 0));
    Entry { name, word: word.or(if counts.is_none() { Some("?") } else { None }), added, removed }
}

fn table(out: &mut dyn Write, entries: &[Entry], width: usize, charset: Charset) -> io::Result<()> {
    let count_columns = entries.iter().map(|entry| entry.count().len()).max().unwrap_or(0);
    let longest_name = entries.iter().map(|entry| entry.name.width()).max().unwrap_or(0);
    let most = entries.iter().map(|entry| entry.added.saturating_add(entry.removed)).max().unwrap_or(0);
    // " name | count bar": four columns stand between the parts.
    let room = width.saturating_sub(count_columns + 5);
    let name_columns = longest_name.min(room.saturating_sub(BAR_COLUMNS.min(most)));
    let bar_columns = room.saturating_sub(name_columns);
    for entry in entries {
        let name = keep_end(&entry.name, name_columns, charset);
        let gap = name_columns.saturating_sub(name.width());
        let (plus, minus) = bar(entry, most, bar_columns);
        let row = format!(
            " {name}{:gap$} | {:>count_columns$} {}{}",
            "",
            entry.count(),
            "+".repeat(plus),
            "-".repeat(minus)
        );
        writeln!(out, "{}", keep_start(row.trim_end(), width))?;
    }
    let (long, short) = totals(entries);
    writeln!(out, "{}", if long.len() <= width { long } else { keep_start(&short, width) })
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
    let counted = entries.iter().filter(|entry| entry.is_counted());
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

    fn logged(status: CardStatus, files: Vec<CardFile>) -> Card {
        let mut card = sample::card(files, vec![]);
        card.status = status;
        card.source.call_id = Some("c".to_string());
        card.source.folder = Some("/w".to_string());
        card
    }

    fn session(cards: &[Card], width: usize) -> String {
        let (mut out, mut totals) = (Vec::new(), Totals::default());
        for card in cards {
            call(&mut out, card, Some("/w"), (width, Charset::Unicode)).unwrap();
            totals.add(card, Some("/w"));
        }
        totals.write(&mut out, width, Charset::Unicode).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_session_is_a_line_a_call_and_totals_of_what_was_done() {
        let mut unknown = counted("/w/src/b.rs", 1, 1);
        unknown.added = None;
        let mut partial = counted("/w/src/c.rs", 7, 0);
        partial.status = Some(CardStatus::Failed);
        let cards = [
            logged(CardStatus::Applied, vec![counted("/w/src/a.rs", 2, 1)]),
            logged(CardStatus::Failed, vec![counted("/w/src/a.rs", 9, 9)]),
            logged(CardStatus::Applied, vec![counted("src/a.rs", 3, 0)]),
            logged(CardStatus::Partial, vec![counted("/elsewhere", 0, 4), partial]),
            logged(CardStatus::Applied, vec![unknown]),
            logged(CardStatus::Unknown, vec![counted("/w/src/a.rs", 5, 5)]),
            logged(CardStatus::Rejected, vec![]),
        ];
        let wanted = [
            "applied      +2     -1  edit src/a.rs",
            "failed                  edit src/a.rs",
            "applied      +3     -0  edit src/a.rs",
            "partial      +0     -4  edit 2 files",
            "applied       ?     -1  edit src/b.rs",
            "unknown                 edit src/a.rs",
            "rejected                edit",
            "",
            " src/a.rs   | 6 +++++-",
            " /elsewhere | 4 ----",
            " src/b.rs   | ?",
            " 3 files changed, 5 insertions(+), 5 deletions(-)",
            " 7 calls: 3 applied, 1 partial, 1 failed, 1 rejected, 1 unknown",
            "",
        ];
        assert_eq!(session(&cards, 80), wanted.join("\n"));
        let narrow = session(&cards[..1], 32);
        assert!(narrow.starts_with("applied      +2     -1  edit ...\n"), "{narrow}");
        assert_eq!(session(&[], 80), " 0 files changed, 0 insertions(+), 0 deletions(-)\n 0 calls\n");
    }

    #[test]
    fn files_beyond_the_cap_share_a_line() {
        let mut totals = Totals::default();
        let file = |number: usize| counted(&format!("f{number}"), 1, 0);
        totals.add(&logged(CardStatus::Applied, (0..FILES_CAP + 2).map(file).collect()), None);
        assert_eq!(totals.files.len(), FILES_CAP);
        assert_eq!(totals.others.map(|others| others.added), Some(2));
    }

    proptest! {
        #[test]
        fn fits_and_is_total(path in ".*", added in any::<usize>(), removed in any::<usize>(), width in 0_usize..120) {
            let card = sample::card(vec![counted(&path, added, removed)], vec![]);
            let text = render(&card, width) + &session(&[card], width);
            for row in text.lines() {
                prop_assert!(row.width() <= width, "{row:?}");
            }
            prop_assert!(!text.replace('\n', "").contains(char::is_control));
        }
    }
}
