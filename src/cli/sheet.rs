//! What holds the cards of a page, or of a Markdown document, together: its head, its numbering, its index.

use std::io;
use std::io::Write;

use crate::render::html;
use crate::render::markdown;
use crate::render::syntax::Syntax;
use crate::report::Card;

use super::args::CardOutput;

/// A page or a document that is being written.
#[derive(Debug, Default)]
pub enum Sheet {
    /// The cards stand for themselves.
    #[default]
    None,
    /// A page of that title, coloured by so much syntax, once it has begun.
    Page(String, Syntax, Option<html::Page>),
    /// A document.
    Document(markdown::Document),
}

impl Sheet {
    /// Returns what an output needs; a page has the title.
    pub fn new(output: CardOutput, title: String, syntax: Syntax) -> Self {
        match output {
            CardOutput::Html => Sheet::Page(title, syntax, None),
            CardOutput::Markdown => Sheet::Document(markdown::Document::default()),
            CardOutput::Card
            | CardOutput::Json
            | CardOutput::Patch
            | CardOutput::Stat
            | CardOutput::StatRows
            | CardOutput::SideBySide
            | CardOutput::Acp
            | CardOutput::SecondAcp => Sheet::None,
        }
    }

    /// Writes a card, after the head if it is the first.
    pub fn card(&mut self, out: &mut dyn Write, card: &Card) -> io::Result<()> {
        match self {
            Sheet::None => Ok(()),
            Sheet::Page(title, syntax, page) => begun(out, title, *syntax, page)?.card(out, card),
            Sheet::Document(document) => document.card(out, card),
        }
    }

    /// Writes what stands after the last card, and the head of a page that has none.
    pub fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        match std::mem::take(self) {
            Sheet::None => Ok(()),
            Sheet::Page(title, syntax, mut page) => {
                begun(out, &title, syntax, &mut page)?;
                page.map_or(Ok(()), |page| page.finish(out))
            }
            Sheet::Document(document) => document.finish(out),
        }
    }
}

fn begun<'a>(
    out: &mut dyn Write,
    title: &str,
    syntax: Syntax,
    page: &'a mut Option<html::Page>,
) -> io::Result<&'a mut html::Page> {
    match page {
        Some(page) => Ok(page),
        None => Ok(page.insert(html::Page::begin(out, title, syntax)?)),
    }
}
