//! How the logs under `tests/logs/` look to people, and what they lose when they are cut.
//!
//! Beside each log stands what `replay` prints of it; `UPDATE_GOLDEN=1 cargo test --test log_cards` writes that anew. Every
//! log is also cut, short ones at every byte.

#![cfg(feature = "cli")]
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a test reads files, starts programs and may fail"
)]

#[expect(dead_code, reason = "other tests use the rest")]
mod support;

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use hunkwise::report::Card;
use hunkwise::session::Replay;
use hunkwise::session::ReplayOptions;
use hunkwise::session::ReplaySummary;
use hunkwise::session::detect;
use support::Place;

/// About how many bytes the cuts of one log may come to.
const REPLAYED_BYTES: usize = 4 << 20;

/// The logs, in the order of their names.
fn logs() -> Vec<PathBuf> {
    let mut logs = Vec::new();
    for folder in entries(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs")) {
        logs.extend(
            entries(&folder).into_iter().filter(|path| path.extension().is_some_and(|kind| kind != "txt")),
        );
    }
    assert!(!logs.is_empty());
    logs
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// Compares with what stands beside the log, or writes that anew.
fn compare(log: &Path, text: &str) -> Option<String> {
    let path = log.with_extension("shown.cards.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, text).expect("the file is written");
        return None;
    }
    let wanted = fs::read_to_string(&path).unwrap_or_default();
    (wanted != text).then(|| format!("{} differs; is now:\n{text}\nand was:\n{wanted}", path.display()))
}

#[test]
fn logs_are_drawn_as_they_were() {
    let mut faults = Vec::new();
    for log in logs() {
        let bytes = fs::read(&log).expect("the log");
        let run = Place::new().run(&["replay", "--color", "never"], &bytes);
        assert_eq!(run.status, 0, "{}: {}", log.display(), run.stderr);
        faults.extend(compare(&log, &format!("{}--- stderr\n{}", run.stdout, run.stderr)));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn replay(log: &[u8], options: ReplayOptions) -> (Vec<Card>, ReplaySummary) {
    let mut cards = Vec::new();
    let mut replay = Replay::new(options);
    replay.push(log, &mut |card| cards.push(card));
    let summary = replay.finish(&mut |card| cards.push(card));
    (cards, summary.expect("a log"))
}

#[test]
fn a_cut_costs_only_the_line_that_it_is_in() {
    for log in logs() {
        let bytes = fs::read(&log).expect("the log");
        let options = ReplayOptions::new(detect(&bytes).expect("its format"));
        let (_, whole) = replay(&bytes, options);
        // Every cut is a replay of all before it: the bytes of all replays of a log are bounded.
        for cut in (0..bytes.len()).step_by(1 + bytes.len().pow(2) / REPLAYED_BYTES) {
            let (_, summary) = replay(&bytes[..cut], options);
            let lines = bytes[..cut].split(|&byte| byte == b'\n').count();
            let bad: Vec<usize> = whole.bad_lines.iter().copied().filter(|&line| line < lines).collect();
            assert_eq!(summary.bad_lines, bad, "{} cut at {cut}", log.display());
            assert!(summary.torn_line.is_none_or(|line| line == lines), "{} cut at {cut}", log.display());
        }
    }
}
