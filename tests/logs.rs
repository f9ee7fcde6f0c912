//! Logs of every format, held as files under `tests/logs/<format>/`, and beside each the cards that it gives.
//!
//! `UPDATE_GOLDEN=1 cargo test --test logs` writes the cards anew.

#![cfg(feature = "cli")]
#![expect(clippy::disallowed_methods, clippy::expect_used, reason = "a test reads files and may fail")]

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use hunkwise::render::json;
use hunkwise::report::Card;
use hunkwise::session::Replay;
use hunkwise::session::ReplayOptions;
use hunkwise::session::ReplaySummary;
use hunkwise::session::detect;
use hunkwise::session::format::Format;
use proptest::prelude::*;

/// A log, the format in whose folder it lies, and its bytes.
struct Log {
    path: PathBuf,
    format: Format,
    bytes: Vec<u8>,
}

fn logs() -> Vec<Log> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs");
    let mut logs = Vec::new();
    for folder in fs::read_dir(root).expect("the logs") {
        let folder = folder.expect("a folder").path();
        let name = folder.file_name().expect("its name").to_string_lossy().into_owned();
        let format = Format::from_name(&name).unwrap_or_else(|| panic!("{name} is no format"));
        for entry in fs::read_dir(folder).expect("its logs") {
            let path = entry.expect("an entry").path();
            if !path.to_string_lossy().ends_with(".cards.txt") {
                logs.push(Log { format, bytes: fs::read(&path).expect("a log"), path });
            }
        }
    }
    assert!(!logs.is_empty(), "no logs");
    logs
}

/// The cards before the end of the log, those that only its end brings, and the rest.
fn replay(format: Format, blocks: &[&[u8]]) -> (Vec<Card>, Vec<Card>, ReplaySummary) {
    let (mut cards, mut at_end) = (Vec::new(), Vec::new());
    let mut replay = Replay::new(ReplayOptions::new(format));
    for block in blocks {
        replay.push(block, &mut |card| cards.push(card));
    }
    // Damage can make a log look compressed.
    let summary = replay.finish(&mut |card| at_end.push(card)).unwrap_or_default();
    (cards, at_end, summary)
}

#[test]
fn logs_are_known_by_their_content() {
    for log in logs() {
        assert_eq!(detect(&log.bytes), Ok(log.format), "{}", log.path.display());
    }
}

#[test]
fn logs_give_the_cards_beside_them() {
    let mut faults = Vec::new();
    for log in logs() {
        let (cards, at_end, summary) = replay(log.format, &[&log.bytes]);
        let mut shown = Vec::new();
        for card in cards.iter().chain(&at_end) {
            json::line(&mut shown, card).expect("a card in memory");
        }
        let shown = format!("{}{summary:#?}\n", String::from_utf8(shown).expect("JSON is text"));
        let beside = log.path.with_extension("cards.txt");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&beside, shown).expect("the cards are written");
        } else if fs::read_to_string(&beside).unwrap_or_default() != shown {
            faults.push(format!("{} differs; is now:\n{shown}", beside.display()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_log_that_is_cut_off_loses_only_what_was_cut() {
    for log in logs() {
        let (whole, _, _) = replay(log.format, &[&log.bytes]);
        for cut in (0..log.bytes.len()).step_by(1 + log.bytes.len() / 512) {
            let place = format!("{} at {cut}", log.path.display());
            let (cards, _, summary) = replay(log.format, &[&log.bytes[..cut]]);
            assert_eq!(summary.bad_line_count, 0, "{place}");
            assert_eq!(cards, whole[..cards.len()], "{place}");
        }
    }
}

#[test]
fn how_a_log_arrives_changes_nothing() {
    for log in logs() {
        let whole = replay(log.format, &[&log.bytes]);
        for size in [1, 7, 4096] {
            let blocks: Vec<&[u8]> = log.bytes.chunks(size).collect();
            assert_eq!(replay(log.format, &blocks), whole, "{} by {size}", log.path.display());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_damaged_log_is_read_as_far_as_it_can_be(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..30),
        cut: prop::sample::Index,
    ) {
        for log in logs() {
            let mut bytes = log.bytes;
            for (at, byte) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            let cut = cut.index(bytes.len());
            let whole = replay(log.format, &[&bytes]);
            prop_assert_eq!(replay(log.format, &[&bytes[..cut], &bytes[cut..]]), whole);
        }
    }
}
