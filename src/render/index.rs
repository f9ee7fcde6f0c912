//! The index of many cards, by file and by turn.

use std::collections::BTreeMap;
use std::collections::HashMap;

use super::view::CardView;
use crate::report::Card;

/// What the end of a page tells of its cards.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) cards: usize,
    pub(super) files: Vec<IndexedFile>,
    file_by_path: HashMap<String, usize>,
    /// The first card of each turn, and how many it has.
    pub(super) turns: BTreeMap<u64, (usize, usize)>,
    /// How many cards there are of each status word.
    words: BTreeMap<&'static str, usize>,
}

/// One file, with the lines of all edits that were made, and the numbers of the cards that name it.
#[derive(Debug)]
pub(super) struct IndexedFile {
    pub(super) path: String,
    pub(super) counts: (usize, usize),
    pub(super) cards: Vec<usize>,
}

impl Index {
    /// Takes a card in; returns its number, from 1.
    pub(super) fn take(&mut self, card: &Card, view: &CardView<'_>) -> usize {
        self.cards += 1;
        if let Some(turn) = card.source.turn {
            self.turns.entry(turn).or_insert((self.cards, 0)).1 += 1;
        }
        if !view.word.is_empty() {
            *self.words.entry(view.word).or_default() += 1;
        }
        for file in &view.files {
            let at = *self.file_by_path.entry(file.path.to_owned()).or_insert_with(|| {
                self.files.push(IndexedFile {
                    path: file.path.to_owned(),
                    counts: (0, 0),
                    cards: Vec::new(),
                });
                self.files.len() - 1
            });
            let entry = &mut self.files[at];
            if !view.is_refused {
                entry.counts.0 += file.counts.0.unwrap_or(0);
                entry.counts.1 += file.counts.1.unwrap_or(0);
            }
            if entry.cards.last() != Some(&self.cards) {
                entry.cards.push(self.cards);
            }
        }
        self.cards
    }

    /// Returns how many lines were added and removed.
    pub(super) fn totals(&self) -> (usize, usize) {
        self.files.iter().fold((0, 0), |sum, file| (sum.0 + file.counts.0, sum.1 + file.counts.1))
    }

    /// Returns how many cards there are of each status, in words.
    pub(super) fn words(&self) -> String {
        self.words.iter().map(|(word, count)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
    }
}

/// Returns a count with its noun.
pub(super) fn plural(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
