//! No log panics, how it is cut changes nothing, and no control byte of it reaches a terminal.

#![no_main]

use hunkwise::render::style::Style;
use hunkwise::render::terminal;
use hunkwise::report::Card;
use hunkwise::session::Replay;
use hunkwise::session::ReplayOptions;
use hunkwise::session::format::Format;
use libfuzzer_sys::fuzz_target;

fn cards(format: Format, blocks: &[&[u8]]) -> Vec<Card> {
    let mut cards = Vec::new();
    let mut replay = Replay::new(ReplayOptions::new(format));
    for block in blocks {
        replay.push(block, &mut |card| cards.push(card));
    }
    replay.finish(&mut |card| cards.push(card));
    cards
}

fuzz_target!(|input: &[u8]| {
    let [format, cut, log @ ..] = input else { return };
    let format = Format::ALL[usize::from(*format) % Format::ALL.len()];
    let cut = usize::from(*cut).min(log.len());
    let whole = cards(format, &[log]);
    assert_eq!(cards(format, &[&log[..cut], &log[cut..]]), whole);
    for card in &whole {
        for width in [0, 20, 80] {
            let mut out = Vec::new();
            terminal::card(&mut out, card, &Style::plain(width)).unwrap();
            let text = String::from_utf8(out).unwrap();
            assert!(!text.contains(|scalar: char| scalar.is_control() && scalar != '\n'), "{text:?}");
        }
    }
});
