//! No log panics, how it is cut, wrapped or compressed changes nothing, and no control byte of it reaches a terminal.

#![no_main]

use std::io::Write;

use flate2::write::GzEncoder;
use hunkwise::render::style::Style;
use hunkwise::render::terminal;
use hunkwise::report::Card;
use hunkwise::session::Replay;
use hunkwise::session::ReplayOptions;
use hunkwise::session::format::Format;
use libfuzzer_sys::fuzz_target;

fn cards(options: ReplayOptions, blocks: &[&[u8]]) -> Vec<Card> {
    let mut cards = Vec::new();
    let mut replay = Replay::new(options);
    for block in blocks {
        replay.push(block, &mut |card| cards.push(card));
    }
    // What is no log draws nothing.
    let _ = replay.finish(&mut |card| cards.push(card));
    cards
}

fn gzip(log: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(log).unwrap();
    encoder.finish().unwrap()
}

fuzz_target!(|input: &[u8]| {
    let Some((&[cut, kind], log)) = input.split_first_chunk() else { return };
    let cut = usize::from(cut).min(log.len());
    // As it is told, and as each format in turn.
    let named = Format::ALL[usize::from(kind) % Format::ALL.len()];
    for options in [ReplayOptions::default(), ReplayOptions::new(named)] {
        let whole = cards(options, &[log]);
        assert_eq!(cards(options, &[&log[..cut], &log[cut..]]), whole);
        check(&whole);
    }
    // Unless the log is compressed itself.
    let options = ReplayOptions::new(named);
    if !log.starts_with(b"\x1F\x8B")
        && !log.starts_with(b"\x28\xB5\x2F\xFD")
        && !log.get(1..4).is_some_and(|magic| magic == b"\x2A\x4D\x18")
    {
        let packed = [gzip(&log[..cut]), gzip(&log[cut..])].concat();
        assert_eq!(cards(options, &[&packed]), cards(options, &[log]));
    }
});

fn check(cards: &[Card]) {
    for card in cards {
        for width in [0, 20, 80] {
            let mut out = Vec::new();
            terminal::card(&mut out, card, &Style::plain(width)).unwrap();
            let text = String::from_utf8(out).unwrap();
            assert!(!text.contains(|scalar: char| scalar.is_control() && scalar != '\n'), "{text:?}");
        }
    }
}
