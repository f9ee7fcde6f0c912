//! Logs of every format, held as files under `tests/logs/<format>/`, and beside each the cards that it gives.
//!
//! `UPDATE_GOLDEN=1 cargo test --test logs` writes the cards anew.

#![cfg(feature = "cli")]
#![expect(clippy::disallowed_methods, clippy::expect_used, reason = "a test reads files and may fail")]

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use hunkwise::diff::hunks::signed_lines;
use hunkwise::render::acp::Acp;
use hunkwise::render::acp::AcpVersion;
use hunkwise::render::json;
use hunkwise::report::Card;
use hunkwise::report::CardFile;
use hunkwise::report::CardStatus;
use hunkwise::report::FileDiff;
use hunkwise::report::Recorded;
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

/// What a card says that the protocol can say, too: the call, whether it was done, and the lines of files. Numbers of
/// lines are said for sure only by the second version.
fn told(card: &Card, version: AcpVersion) -> String {
    let starts = |diff: &&FileDiff| match version {
        AcpVersion::One => None,
        AcpVersion::Two => Some((diff.old_start, diff.new_start)),
    };
    let lines = |path: &str| {
        let diffs = card.diffs.iter().filter(|diff| diff.path == path);
        diffs
            .flat_map(|diff| {
                let lines = signed_lines(diff).into_iter();
                lines.map(move |line| format!("{:?} {:?}{}", starts(&diff), line.kind, line.text))
            })
            .collect::<Vec<_>>()
    };
    let is_done = matches!(card.status, CardStatus::Applied | CardStatus::Partial);
    let files = card.files.iter().filter(|_| is_done).map(|file| (&file.path, lines(&file.path)));
    format!("{:?} {is_done} {:?}", card.source.call_id, files.collect::<Vec<_>>())
}

#[test]
fn cards_come_back_from_the_protocol() {
    let mut count = 0;
    for log in logs() {
        let (mut cards, at_end, _) = replay(log.format, &[&log.bytes]);
        cards.extend(at_end);
        // Of files whose lines git's patch can't hold, and of calls whose ids are not their own, less comes back.
        let is_plain = |card: &&Card| {
            let is_known = |file: &CardFile| file.recorded != Recorded::Path && file.path.starts_with('/');
            // An old side of one empty line is, to the first version, one of none.
            let is_said = |diff: &FileDiff| diff.old_text.as_deref() != Some("");
            let is_numbered =
                |diff: &FileDiff| diff.new_start.is_some() && diff.notes.is_empty() && is_said(diff);
            card.files.iter().all(is_known)
                && card.diffs.iter().all(is_numbered)
                && card.status == CardStatus::Applied
        };
        for card in cards.iter().filter(is_plain) {
            for version in [AcpVersion::One, AcpVersion::Two] {
                let mut message = Vec::new();
                Acp::new(version, "").card(&mut message, card, None).expect("memory");
                let (back, at_end, _) = replay(Format::Acp, &[&message]);
                let back: Vec<String> = back.iter().chain(&at_end).map(|card| told(card, version)).collect();
                assert_eq!(back, [told(card, version)], "{} {version:?}", log.path.display());
                count += 1;
            }
        }
    }
    assert!(count > 20, "{count} cards");
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
