//! A viewer that makes one page of a session log, whatever agent wrote it.
//!
//! `viewer LOG > PAGE.html`. The log is read block by block; no file that it names is opened.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a program of the library's users reads files and prints"
)]

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::io::Read;
use std::io::Write;

use hunkwise::render::html::Page;
use hunkwise::render::syntax::Syntax;
use hunkwise::session::Replay;
use hunkwise::session::ReplayOptions;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: viewer LOG > PAGE.html")?;
    let mut log = File::open(&path)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut page = Page::begin(&mut out, &path, Syntax::RUN)?;
    let mut replay = Replay::new(ReplayOptions::default());
    let mut block = vec![0; 1 << 20];
    let mut cards = Vec::new();
    loop {
        let length = log.read(&mut block)?;
        if length == 0 {
            break;
        }
        replay.push(&block[..length], &mut |card| cards.push(card));
        for card in cards.drain(..) {
            page.card(&mut out, &card)?;
        }
    }
    let summary = replay.finish(&mut |card| cards.push(card))?;
    for card in cards {
        page.card(&mut out, &card)?;
    }
    page.finish(&mut out)?;
    out.flush()?;
    for note in summary.notes {
        eprintln!("{note}");
    }
    Ok(())
}
