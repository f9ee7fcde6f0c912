//! Cards to stdout, in the output that was asked for.

use std::io;
use std::io::BufWriter;
use std::io::Write;
use std::path::Path;

use crate::render::html;
use crate::render::json;
use crate::render::markdown;
use crate::render::patch;
use crate::render::stat;
use crate::render::style::Style;
use crate::render::terminal;
use crate::report::Card;

use super::args::CardOutput;
use super::fail::Fail;
use super::streams::Console;

/// Prints cards one by one in the output that was asked for.
pub struct CardPrinter<'a> {
    console: &'a Console,
    style: Style,
    title: String,
    output: CardOutput,
    out: BufWriter<io::StdoutLock<'static>>,
    sheet: Sheet,
    has_printed: bool,
    closed: bool,
    failed: Option<io::Error>,
}

/// What holds the cards together.
enum Sheet {
    /// They stand for themselves.
    None,
    /// A page; it begins with the first card, or at the end.
    Page(Option<html::Page>),
    /// A document.
    Document(markdown::Document),
}

impl<'a> CardPrinter<'a> {
    /// Returns a printer to stdout; a page has the title.
    pub fn new(console: &'a Console, output: CardOutput, title: String) -> Self {
        let out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        let sheet = match output {
            CardOutput::Html => Sheet::Page(None),
            CardOutput::Markdown => Sheet::Document(markdown::Document::default()),
            CardOutput::Card
            | CardOutput::Json
            | CardOutput::Patch
            | CardOutput::Stat
            | CardOutput::SideBySide => Sheet::None,
        };
        let style = Style { is_side_by_side: output == CardOutput::SideBySide, ..console.out_style };
        let closed = console.is_quiet;
        CardPrinter { console, style, title, output, out, sheet, has_printed: false, closed, failed: None }
    }

    /// Prints a card; after a failure nothing more.
    pub fn card(&mut self, card: &Card) {
        if !self.closed {
            let written = self.write(card);
            self.note_failure(written);
        }
    }

    /// Prints what is no card; after a failure nothing more.
    pub fn raw(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        if !self.closed {
            let written = write(&mut self.out);
            self.note_failure(written);
        }
    }

    /// Tells whether nothing more will be printed.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    fn note_failure(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            self.closed = true;
            self.failed = (error.kind() != io::ErrorKind::BrokenPipe).then_some(error);
        }
    }

    fn write(&mut self, card: &Card) -> io::Result<()> {
        match self.output {
            CardOutput::Card | CardOutput::SideBySide => {
                if std::mem::replace(&mut self.has_printed, true) {
                    writeln!(self.out)?;
                }
                terminal::card(&mut self.out, card, &self.style)
            }
            CardOutput::Html | CardOutput::Markdown => self.write_on_sheet(card),
            CardOutput::Json => {
                json::line(&mut self.out, card)?;
                self.out.flush()
            }
            CardOutput::Stat => stat::card(&mut self.out, card, self.style.width, self.style.charset()),
            CardOutput::Patch => {
                for note in patch::card(&mut self.out, card)? {
                    self.console.note(&note);
                }
                Ok(())
            }
        }
    }

    fn write_on_sheet(&mut self, card: &Card) -> io::Result<()> {
        match &mut self.sheet {
            Sheet::None => Ok(()),
            Sheet::Page(page) => {
                if page.is_none() {
                    *page = Some(html::Page::begin(&mut self.out, &self.title)?);
                }
                page.as_mut().map_or(Ok(()), |page| page.card(&mut self.out, card))
            }
            Sheet::Document(document) => document.card(&mut self.out, card),
        }
    }

    fn finish_sheet(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.sheet, Sheet::None) {
            Sheet::None => Ok(()),
            Sheet::Page(page) => {
                let page = match page {
                    Some(page) => page,
                    None => html::Page::begin(&mut self.out, &self.title)?,
                };
                page.finish(&mut self.out)
            }
            Sheet::Document(document) => document.finish(&mut self.out),
        }
    }

    /// Ends the printing.
    pub fn finish(mut self) -> Result<(), Fail> {
        if !self.closed {
            let written = self.finish_sheet();
            self.note_failure(written);
        }
        let flushed = if self.closed { Ok(()) } else { self.out.flush() };
        let failed =
            self.failed.take().or(flushed.err().filter(|error| error.kind() != io::ErrorKind::BrokenPipe));
        // What is still buffered after a closed pipe has no reader.
        let _ = self.out.into_parts();
        match failed {
            Some(error) => Err(Fail::io("write", Path::new("standard output"), &error)),
            None => Ok(()),
        }
    }
}
