//! No log's cards get out of hand, whatever draws them: no control byte, no row too wide, no markup of their own.

#![no_main]

use hunkwise::render::escape::Charset;
use hunkwise::render::html::Page;
use hunkwise::render::markdown::Document;
use hunkwise::render::stat;
use hunkwise::render::style::Color;
use hunkwise::render::style::Style;
use hunkwise::render::syntax::Syntax;
use hunkwise::render::terminal;
use hunkwise::report::Card;
use hunkwise::session::Replay;
use hunkwise::session::ReplayOptions;
use hunkwise::session::format::Format;
use libfuzzer_sys::fuzz_target;
use unicode_width::UnicodeWidthStr;

fuzz_target!(|input: &[u8]| {
    let Some((&[kind, width], log)) = input.split_first_chunk() else { return };
    let mut cards = Vec::new();
    let mut replay = Replay::new(ReplayOptions::new(Format::ALL[usize::from(kind) % Format::ALL.len()]));
    replay.push(log, &mut |card| cards.push(card));
    // What is no log draws nothing.
    let _ = replay.finish(&mut |card| cards.push(card));
    // From none to 300 columns.
    let width = usize::from(width) * 300 / 255;
    for card in &cards {
        check_terminal(card, width);
    }
    check_html(&cards);
    check_markdown(&cards);
});

fn check_terminal(card: &Card, width: usize) {
    let plain = Style::plain(width);
    let styles = [
        plain,
        Style { is_side_by_side: true, ..plain },
        Style { is_full: true, is_side_by_side: true, ..plain },
        Style { ascii: true, is_full: true, max_lines: Some(3), ..plain },
    ];
    // Of colours only that drawing them is total.
    let colored = Style { color: Color::TrueColor, syntax: Syntax::RUN, ..plain };
    written(|out| drop(terminal::card(out, card, &colored).unwrap()));
    for style in styles {
        let text = written(|out| drop(terminal::card(out, card, &style).unwrap()));
        check_rows(&text, width);
        assert!(!style.ascii || text.is_ascii(), "{text:?}");
    }
    check_rows(&written(|out| stat::card(out, card, width, Charset::Unicode).unwrap()), width);
}

fn check_rows(text: &str, width: usize) {
    for row in text.lines() {
        assert!(row.width() <= width, "{} > {width}: {row:?}", row.width());
    }
    assert!(!text.replace('\n', "").contains(char::is_control), "{text:?}");
}

fn check_html(cards: &[Card]) {
    let text = written(|out| {
        let mut page = Page::begin(out, "a log", Syntax::RUN).unwrap();
        cards.iter().for_each(|card| page.card(out, card).unwrap());
        page.finish(out).unwrap();
    });
    assert!(!text.replace(['\n', '\t'], "").contains(char::is_control), "{text:?}");
    assert_eq!(text.matches("<article ").count(), cards.len());
    assert_eq!(text.matches("<style").count(), 1);
    assert!(!text.contains("<script"), "{text:?}");
}

fn check_markdown(cards: &[Card]) {
    let text = written(|out| {
        let mut document = Document::default();
        cards.iter().for_each(|card| document.card(out, card).unwrap());
        document.finish(out).unwrap();
    });
    assert!(!text.replace(['\n', '\t'], "").contains(char::is_control), "{text:?}");
    let mut open: Option<&str> = None;
    for line in text.lines() {
        let ticks = &line[..line.bytes().take_while(|&byte| byte == b'`').count()];
        match open {
            // A code span closes on its own line; a fence has nothing but a word behind it.
            None if ticks.len() >= 3 && !line[ticks.len()..].contains('`') => open = Some(ticks),
            Some(fence) if line == fence => open = None,
            Some(fence) => assert!(ticks.len() < fence.len(), "{line:?}"),
            None => {}
        }
    }
    assert_eq!(open, None, "{text:?}");
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}
