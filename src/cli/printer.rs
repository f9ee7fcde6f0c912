//! Cards on their way to standard output, in the form that was asked for.

use std::io;
use std::io::BufWriter;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use crate::render::acp::Acp;
use crate::render::acp::AcpVersion;
use crate::render::escape::Place;
use crate::render::escape::escape;
use crate::render::json;
use crate::render::patch::SessionPatch;
use crate::render::stat;
use crate::render::stat::Totals;
use crate::render::style::Style;
use crate::render::syntax::Syntax;
use crate::render::terminal;
use crate::report::Card;
use crate::report::FileDiff;

use super::args::CardOutput;
use super::fail::Fail;
use super::hyperlinks;
use super::ordered;
use super::ordered::Closed;
use super::ordered::Next;
use super::ordered::Outbox;
use super::sheet::Sheet;
use super::streams::Console;

/// What the cards of all logs are together.
#[derive(Debug, Default)]
pub struct Together {
    patch: Mutex<SessionPatch>,
    sheet: Mutex<Sheet>,
}

impl Together {
    /// Returns what an output needs; a page has the title.
    pub fn new(output: CardOutput, title: String, syntax: Syntax) -> Arc<Self> {
        Arc::new(Together { patch: Mutex::default(), sheet: Mutex::new(Sheet::new(output, title, syntax)) })
    }

    fn sheet(&self) -> MutexGuard<'_, Sheet> {
        self.sheet.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns how an output is drawn.
pub fn style_of(console: &Console, output: CardOutput) -> Style {
    Style { is_side_by_side: output == CardOutput::SideBySide, ..console.out_style }
}

/// The cards of one log, made to bytes.
///
/// It needs no stream, so that several logs can be drawn at once.
#[derive(Debug)]
pub struct View {
    output: CardOutput,
    style: Style,
    /// What JSON calls the log, where there are several.
    log_name: Option<String>,
    totals: Totals,
    /// All logs together are one patch, or one page.
    together: Arc<Together>,
    lost: usize,
    has_cards: bool,
    chunk: Vec<u8>,
}

impl View {
    /// Returns the view of a log.
    pub fn new(output: CardOutput, style: Style, log_name: Option<String>, together: Arc<Together>) -> Self {
        View {
            output,
            style,
            log_name,
            totals: Totals::default(),
            together,
            lost: 0,
            has_cards: false,
            chunk: Vec::new(),
        }
    }

    /// Returns a view that draws as this one does and has drawn nothing yet.
    fn blank(&self) -> Self {
        View::new(self.output, self.style, self.log_name.clone(), Arc::clone(&self.together))
    }

    /// Draws a card; `root` is the folder of its session.
    pub fn card(&mut self, card: Card, root: Option<&str>) {
        let mut chunk = std::mem::take(&mut self.chunk);
        if matches!(self.output, CardOutput::Card | CardOutput::SideBySide) && !chunk.is_empty() {
            chunk.push(b'\n');
        }
        // Writing to memory can't fail.
        let _ = self.draw(&mut chunk, card, root);
        self.chunk = chunk;
    }

    /// Draws a card to where it goes.
    fn draw(&mut self, out: &mut dyn Write, mut card: Card, root: Option<&str>) -> io::Result<()> {
        self.has_cards = true;
        match self.output {
            CardOutput::Card | CardOutput::SideBySide => {
                terminal::card(out, &card, &self.style).map(|left| self.style.syntax = left)
            }
            CardOutput::Json => {
                card.source.log.clone_from(&self.log_name);
                json::line(out, &card)
            }
            CardOutput::Acp | CardOutput::SecondAcp => {
                card.source.log.clone_from(&self.log_name);
                let is_first = self.output == CardOutput::Acp;
                let version = if is_first { AcpVersion::One } else { AcpVersion::Two };
                Acp::new(version, "").card(out, &card, root)
            }
            CardOutput::StatRows => {
                card.source.log.clone_from(&self.log_name);
                stat::rows(&card).iter().try_for_each(|row| json::line(out, row))
            }
            CardOutput::Html | CardOutput::Markdown => {
                card.source.log.clone_from(&self.log_name);
                self.together.sheet().card(out, &card)
            }
            CardOutput::Stat => {
                self.totals.add(&card, root);
                stat::call(out, &card, root, (self.style.width, self.style.charset()))
            }
            CardOutput::Patch => {
                let mut patch = self.together.patch.lock().unwrap_or_else(PoisonError::into_inner);
                patch.card(out, &card, root).map(|lost| self.lost += lost)
            }
        }
    }

    /// Draws what stands after the last card.
    pub fn end(&mut self) {
        if self.output == CardOutput::Stat {
            let _ = self.totals.write(&mut self.chunk, self.style.width, self.style.charset());
        }
    }

    /// Tells whether a card was drawn.
    pub fn has_cards(&self) -> bool {
        self.has_cards
    }

    /// Returns how many changes had to be left out of a patch.
    pub fn lost(&self) -> usize {
        self.lost
    }

    /// Returns how many bytes are drawn and not taken.
    pub fn length_bytes(&self) -> usize {
        self.chunk.len()
    }

    /// Takes what was drawn since the last time.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.chunk)
    }
}

/// Standard output, with what stands between the cards of one log, and between logs.
pub struct Printer {
    out: BufWriter<io::StdoutLock<'static>>,
    output: CardOutput,
    style: Style,
    is_quiet: bool,
    has_printed: bool,
    /// The names of the logs, if there are several: each change from one to another is said.
    names: Vec<String>,
    last_log: Option<usize>,
    together: Arc<Together>,
    is_closed: bool,
    failed: Option<io::Error>,
}

impl Printer {
    /// Returns a printer for logs of these names, or for what needs no names.
    pub fn new(console: &Console, output: CardOutput, names: Vec<String>, together: Arc<Together>) -> Self {
        Printer {
            out: BufWriter::with_capacity(1 << 16, io::stdout().lock()),
            output,
            style: console.out_style,
            is_quiet: console.is_quiet,
            has_printed: false,
            names,
            last_log: None,
            together,
            is_closed: false,
            failed: None,
        }
    }

    /// Takes the name of one more log.
    pub fn name(&mut self, name: String) {
        self.names.push(name);
    }

    /// Prints what was drawn of a log; after a failure nothing more.
    pub fn print(&mut self, log: usize, chunk: &[u8]) {
        if !chunk.is_empty() {
            self.raw(|printer| {
                printer.begin(log)?;
                printer.out.write_all(chunk)
            });
        }
    }

    /// Sends on what waits.
    pub fn flush(&mut self) {
        self.raw(|printer| printer.out.flush());
    }

    /// Tells whether nothing more will be printed, since nobody reads it.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    fn raw(&mut self, write: impl FnOnce(&mut Self) -> io::Result<()>) {
        if self.is_closed || self.is_quiet {
            return;
        }
        if let Err(error) = write(self) {
            self.is_closed = true;
            self.failed = (error.kind() != io::ErrorKind::BrokenPipe).then_some(error);
        }
    }

    /// Writes what stands before the next thing of a log.
    fn begin(&mut self, log: usize) -> io::Result<()> {
        let has_printed = std::mem::replace(&mut self.has_printed, true);
        let is_other = self.last_log.replace(log) != Some(log);
        let header = self.names.get(log).filter(|_| is_other).map(|name| {
            let name = escape(name, Place::Name, self.style.charset());
            match self.output {
                CardOutput::Card | CardOutput::SideBySide | CardOutput::Stat => format!("==> {name} <==\n"),
                CardOutput::Patch => format!("# {name}\n"),
                CardOutput::Json
                | CardOutput::StatRows
                | CardOutput::Html
                | CardOutput::Markdown
                | CardOutput::Acp
                | CardOutput::SecondAcp => String::new(),
            }
        });
        let has_gap = match self.output {
            CardOutput::Card | CardOutput::SideBySide => true,
            CardOutput::Stat => header.is_some(),
            CardOutput::Patch
            | CardOutput::Json
            | CardOutput::StatRows
            | CardOutput::Html
            | CardOutput::Markdown
            | CardOutput::Acp
            | CardOutput::SecondAcp => false,
        };
        if has_printed && has_gap {
            writeln!(self.out)?;
        }
        self.out.write_all(header.unwrap_or_default().as_bytes())
    }

    /// Ends the printing.
    pub fn finish(mut self) -> Result<(), Fail> {
        self.raw(|printer| {
            let together = Arc::clone(&printer.together);
            together.sheet().finish(&mut printer.out)
        });
        self.flush();
        // What is still buffered after a closed pipe has no reader.
        let _ = self.out.into_parts();
        match self.failed {
            Some(error) => Err(Fail::io("write", Path::new("standard output"), &error)),
            None => Ok(()),
        }
    }
}

/// One of many things that are printed in their order.
pub struct Thing<T> {
    /// What there is to tell of it beside its card.
    pub told: T,
    /// About how many bytes that takes.
    pub told_bytes: usize,
    /// Its card, if it has one.
    pub card: Option<Card>,
}

/// What a worker made of a thing, in this order.
enum Made<T> {
    Told(T),
    /// A card of which what stands before it decides how it is drawn.
    Card(Box<Card>),
    /// The beginning of a drawn card.
    Begin(Vec<u8>),
    More(Vec<u8>),
}

/// How many bytes of a drawn card are sent at once.
const PIECE_BYTES: usize = 64 << 10;

/// Sends a card on, piece by piece, while it is drawn.
struct Pieces<'o, T> {
    outbox: &'o Outbox<Made<T>>,
    piece: Vec<u8>,
    has_begun: bool,
}

impl<'o, T> Pieces<'o, T> {
    fn new(outbox: &'o Outbox<Made<T>>) -> Self {
        Pieces { outbox, piece: Vec::new(), has_begun: false }
    }
}

impl<T> Write for Pieces<'_, T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let piece = std::mem::take(&mut self.piece);
        if piece.is_empty() {
            return Ok(());
        }
        let bytes = piece.len();
        let has_begun = std::mem::replace(&mut self.has_begun, true);
        let made = if has_begun { Made::More(piece) } else { Made::Begin(piece) };
        self.outbox.send(made, bytes).map_err(|Closed| io::ErrorKind::BrokenPipe.into())
    }
}

/// Prints cards that come from no log, one by one.
pub struct CardPrinter {
    view: View,
    printer: Printer,
    /// The card of the one table of counts.
    counted: Option<Card>,
}

impl CardPrinter {
    /// Returns a printer to stdout; a page has the title.
    pub fn new(console: &Console, output: CardOutput, title: String) -> Self {
        let together = Together::new(output, title, console.out_style.syntax);
        let view = View::new(output, style_of(console, output), None, Arc::clone(&together));
        CardPrinter { view, printer: Printer::new(console, output, Vec::new(), together), counted: None }
    }

    /// Says which folder relative paths start at, if not the one that they start at for all else.
    pub fn paths_start_at(&mut self, folder: &Path) {
        self.view.style.links = hyperlinks::starting_at(self.view.style.links, folder);
    }

    /// Prints a card; after a failure nothing more. Counts wait for the end.
    pub fn card(&mut self, card: Card) {
        if self.view.output == CardOutput::Stat {
            match &mut self.counted {
                Some(counted) => counted.files.extend(card.files),
                None => self.counted = Some(card),
            }
            return;
        }
        if matches!(self.view.output, CardOutput::Card | CardOutput::SideBySide) {
            // A long card goes out as it is drawn.
            let view = &mut self.view;
            return self.printer.raw(|printer| {
                printer.begin(0)?;
                view.draw(&mut printer.out, card, None)
            });
        }
        self.view.card(card, None);
        self.printer.print(0, &self.view.take());
        if matches!(
            self.view.output,
            CardOutput::Json | CardOutput::StatRows | CardOutput::Acp | CardOutput::SecondAcp
        ) {
            self.printer.flush();
        }
    }

    /// Prints the cards of so many things in their order; they are made, and drawn where they can be, on all processors.
    ///
    /// What `make` tells of a thing goes to `tell` before its card is printed.
    pub fn all<T: Send + 'static>(
        &mut self,
        count: usize,
        make: impl Fn(usize) -> Thing<T> + Send + Sync + 'static,
        mut tell: impl FnMut(&mut Self, T),
    ) {
        let is_in_order = Arc::new(AtomicBool::new(self.draws_in_order()));
        let blank = View { style: Style { syntax: Syntax::NEVER, ..self.view.style }, ..self.view.blank() };
        let order = Arc::clone(&is_in_order);
        let mut results = ordered::start(count, ordered::workers(), move |index, outbox| {
            let Thing { told, told_bytes, card } = make(index);
            // That nobody takes it any more is no trouble: the rest is not wanted either.
            let _ = outbox.send(Made::Told(told), told_bytes);
            let _ = match card {
                None => Ok(()),
                Some(card) if order.load(Ordering::Relaxed) => {
                    let bytes = card.diffs.iter().map(FileDiff::length_bytes).sum();
                    outbox.send(Made::Card(Box::new(card)), bytes)
                }
                Some(card) => {
                    let mut pieces = Pieces::new(outbox);
                    let drawn = blank.blank().draw(&mut pieces, card, None).and_then(|()| pieces.flush());
                    drawn.map_err(|_| Closed)
                }
            };
        });
        while let Next::Result(_, made) = results.next(None) {
            match made {
                Made::Told(told) => tell(self, told),
                Made::Card(card) => self.card(*card),
                Made::Begin(piece) => self.printer.print(0, &piece),
                Made::More(piece) => self.raw(|out| out.write_all(&piece)),
            }
            is_in_order.store(self.draws_in_order(), Ordering::Relaxed);
            if self.is_closed() {
                return;
            }
        }
    }

    /// Tells whether a card looks otherwise after others than it would alone.
    fn draws_in_order(&self) -> bool {
        match self.view.output {
            CardOutput::Card | CardOutput::SideBySide => !self.view.style.syntax.is_spent(),
            CardOutput::Stat | CardOutput::Html | CardOutput::Markdown | CardOutput::Patch => true,
            CardOutput::Json | CardOutput::StatRows | CardOutput::Acp | CardOutput::SecondAcp => false,
        }
    }

    /// Prints what is no card; after a failure nothing more.
    pub fn raw(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        self.printer.raw(|printer| write(&mut printer.out));
    }

    /// Tells whether nothing more will be printed.
    pub fn is_closed(&self) -> bool {
        self.printer.is_closed() || self.printer.is_quiet
    }

    /// Ends the printing.
    pub fn finish(mut self) -> Result<(), Fail> {
        if let Some(card) = self.counted.take() {
            let style = self.view.style;
            self.raw(|out| stat::card(out, &card, style.width, style.charset()));
        }
        self.printer.finish()
    }
}
