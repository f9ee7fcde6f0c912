//! Previews on a terminal: the newest one is redrawn in place, the last one stays. Elsewhere they are appended.

use std::io;
use std::io::IsTerminal;
use std::io::Write;

use unicode_width::UnicodeWidthStr;

use crate::render::acp::Acp;
use crate::render::codex;
use crate::render::json;
use crate::render::style::Style;
use crate::render::terminal;
use crate::report::PreviewEvent;

use super::args::PreviewOutput;
use super::environment;
use super::streams;

/// Begins and ends a synchronised update: a terminal that knows it shows the frame at once, others pass it over.
const SYNC: (&[u8], &[u8]) = (b"\x1b[?2026h", b"\x1b[?2026l");

/// Where preview events are shown.
#[derive(Debug)]
pub struct Screen {
    kind: Kind,
    style: Style,
}

#[derive(Debug)]
enum Kind {
    Silent,
    Json,
    Codex,
    Acp(Acp),
    Appended,
    /// A terminal.
    Redrawn(Redraw),
}

impl Screen {
    /// Returns the screen for the output that was asked for; `acp` writes the messages of that one.
    pub fn new(style: Style, output: PreviewOutput, is_quiet: bool, acp: Acp) -> Self {
        let redraws =
            io::stdout().is_terminal() && std::env::var_os("TERM").is_some_and(|term| term != "dumb");
        let kind = match (output, is_quiet) {
            (PreviewOutput::Json, _) => Kind::Json,
            (PreviewOutput::Codex, _) => Kind::Codex,
            (PreviewOutput::Acp, _) => Kind::Acp(acp),
            (PreviewOutput::Card, true) => Kind::Silent,
            (PreviewOutput::Card, false) if redraws => Kind::Redrawn(Redraw::new(reflows())),
            (PreviewOutput::Card, false) => Kind::Appended,
        };
        Screen { kind, style }
    }

    /// Shows an event; every event is flushed.
    ///
    /// # Errors
    /// Writing failed; a closed pipe among the reasons.
    pub fn show(&mut self, event: &PreviewEvent) -> io::Result<()> {
        let mut frame = Vec::new();
        match &mut self.kind {
            Kind::Silent => return Ok(()),
            // Straight to the stream: a state can be as large as the patch.
            Kind::Json => return streams::try_print(|out| json::line(out, event)),
            Kind::Codex => return streams::try_print(|out| codex::event(out, event)),
            Kind::Acp(acp) => return streams::try_print(|out| acp.event(out, event)),
            Kind::Appended => terminal::preview(&mut frame, event, &self.style, None)?,
            Kind::Redrawn(redraw) => redraw.event(&mut frame, event, &Size::now(self.style))?,
        }
        print(&frame)
    }

    /// Draws the last preview anew: the terminal has another size now.
    ///
    /// # Errors
    /// Writing failed; a closed pipe among the reasons.
    pub fn resized(&mut self) -> io::Result<()> {
        let Kind::Redrawn(redraw) = &mut self.kind else { return Ok(()) };
        let mut frame = Vec::new();
        redraw.again(&mut frame, &Size::now(self.style))?;
        print(&frame)
    }

    /// Leaves the last preview behind, all of it: nothing more comes.
    ///
    /// # Errors
    /// Writing failed; a closed pipe among the reasons.
    pub fn leave(&mut self) -> io::Result<()> {
        let Kind::Redrawn(redraw) = &mut self.kind else { return Ok(()) };
        let mut frame = Vec::new();
        redraw.leave(&mut frame, &Size::now(self.style))?;
        print(&frame)
    }
}

fn print(frame: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(frame)?;
    out.flush()
}

/// Tells whether the terminal breaks rows anew when it gets narrower. Those of today do.
fn reflows() -> bool {
    let is = |name: &str, starts: &str| {
        std::env::var_os(name).is_some_and(|value| value.to_string_lossy().starts_with(starts))
    };
    let is_old = ["linux", "rxvt", "screen", "st-"].iter().any(|term| is("TERM", term));
    !is("XTERM_VERSION", "") && (!is_old || is("TMUX", ""))
}

/// How much room there is for a frame.
#[derive(Debug, Clone, Copy)]
struct Size {
    style: Style,
    /// The columns of the terminal.
    columns: usize,
    max_rows: Option<usize>,
}

impl Size {
    fn now(style: Style) -> Self {
        // A row that is wider than the terminal takes two of its rows, and the next frame would leave one behind:
        // COLUMNS may narrow what is redrawn, never widen it.
        let columns = environment::columns().filter(|&columns| columns > 0).unwrap_or(usize::MAX);
        let style = Style { width: environment::width(true).min(columns), ..style };
        Size { style, columns, max_rows: environment::rows().map(|rows| rows.saturating_sub(1).max(1)) }
    }
}

/// The frame that stands on a terminal and is drawn over by the next one of its call. Calls that come interleaved don't
/// draw over each other.
#[derive(Debug)]
struct Redraw {
    reflows: bool,
    call_id: Option<String>,
    /// The columns of each row of the frame; none if there is none to be drawn over.
    rows: Vec<usize>,
    last: Option<Box<PreviewEvent>>,
    /// The frame did not fit the screen.
    is_cut: bool,
}

impl Redraw {
    fn new(reflows: bool) -> Self {
        Redraw { reflows, call_id: None, rows: Vec::new(), last: None, is_cut: false }
    }

    fn event(&mut self, frame: &mut Vec<u8>, event: &PreviewEvent, size: &Size) -> io::Result<()> {
        let (PreviewEvent::Preview { call_id, .. } | PreviewEvent::Finish { call_id, .. }) = event;
        let is_preview = matches!(event, PreviewEvent::Preview { .. });
        frame.extend_from_slice(SYNC.0);
        if self.call_id != *call_id || !is_preview {
            self.push_rest(frame, size)?;
            self.call_id.clone_from(call_id);
        }
        if is_preview {
            self.last = Some(Box::new(event.clone()));
            self.push_last(frame, size)?;
        } else {
            let mut drawn = Vec::new();
            terminal::preview(&mut drawn, event, &size.style, None)?;
            push_rows(frame, &drawn);
        }
        frame.extend_from_slice(b"\x1b[J");
        frame.extend_from_slice(SYNC.1);
        Ok(())
    }

    fn again(&mut self, frame: &mut Vec<u8>, size: &Size) -> io::Result<()> {
        if !self.rows.is_empty() {
            frame.extend_from_slice(SYNC.0);
            self.push_last(frame, size)?;
            frame.extend_from_slice(b"\x1b[J");
            frame.extend_from_slice(SYNC.1);
        }
        Ok(())
    }

    fn leave(&mut self, frame: &mut Vec<u8>, size: &Size) -> io::Result<()> {
        frame.extend_from_slice(SYNC.0);
        self.push_rest(frame, size)?;
        frame.extend_from_slice(b"\x1b[J");
        frame.extend_from_slice(SYNC.1);
        Ok(())
    }

    /// Draws the last preview over the frame that there is, cut to the screen.
    fn push_last(&mut self, frame: &mut Vec<u8>, size: &Size) -> io::Result<()> {
        self.push_back(frame, size);
        let Some(last) = &self.last else { return Ok(()) };
        let mut drawn = Vec::new();
        terminal::preview(&mut drawn, last, &size.style, size.max_rows)?;
        push_rows(frame, &drawn);
        self.rows = row_columns(&drawn, size.style.width);
        self.is_cut = size.max_rows.is_some_and(|max_rows| self.rows.len() >= max_rows);
        Ok(())
    }

    /// The last preview stays, and stays whole: what did not fit the screen goes into its scrollback.
    fn push_rest(&mut self, frame: &mut Vec<u8>, size: &Size) -> io::Result<()> {
        if let Some(last) = self.last.take().filter(|_| self.is_cut) {
            self.push_back(frame, size);
            let mut drawn = Vec::new();
            terminal::preview(&mut drawn, &last, &size.style, None)?;
            push_rows(frame, &drawn);
        }
        self.rows.clear();
        self.is_cut = false;
        Ok(())
    }

    /// Goes back to the frame's first row. Where the terminal got narrower since, it may have broken rows.
    fn push_back(&self, frame: &mut Vec<u8>, size: &Size) {
        let height = |columns: &usize| if self.reflows { columns.div_ceil(size.columns).max(1) } else { 1 };
        let rows: usize = self.rows.iter().map(height).sum();
        if rows > 0 {
            frame.extend_from_slice(format!("\x1b[{rows}A\r").as_bytes());
        }
    }
}

/// Returns how many columns each row takes; one whose ground reaches to the end takes all.
fn row_columns(drawn: &[u8], width: usize) -> Vec<usize> {
    let columns = |row: &str| {
        let (mut text, mut columns) = (row, 0);
        while let Some((before, sequence)) = text.split_once('\u{1b}') {
            columns += before.width();
            let is_link = sequence.starts_with(']');
            let is_end = |scalar: char| if is_link { scalar == '\\' } else { scalar.is_ascii_alphabetic() };
            if sequence.starts_with("[K") {
                return width;
            }
            let end = sequence.find(is_end).map_or(sequence.len(), |end| end + 1);
            text = &sequence[end..];
        }
        columns + text.width()
    };
    String::from_utf8_lossy(drawn).lines().map(columns).collect()
}

/// Draws row by row: a terminal that keeps what a clear of the whole screen wipes would keep every frame.
fn push_rows(frame: &mut Vec<u8>, drawn: &[u8]) {
    for row in drawn.split_inclusive(|&byte| byte == b'\n') {
        frame.extend_from_slice(b"\x1b[2K");
        frame.extend_from_slice(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_of_rows_are_counted() {
        let text = "\u{1b}[1mab\u{1b}[0m\u{4f60}\n\n\u{1b}]8;id=1;x:/y\u{1b}\\link\u{1b}]8;;\u{1b}\\!\n\u{1b}[42m+\u{1b}[K\u{1b}[0m\n";
        assert_eq!(row_columns(text.as_bytes(), 60), [4, 0, 5, 60]);
    }

    #[test]
    fn a_narrower_terminal_has_broken_the_rows() {
        let size = |columns: usize| Size { style: Style::plain(columns), columns, max_rows: Some(10) };
        let back = |reflows: bool, columns: usize| {
            let redraw = Redraw { rows: vec![60, 0, 12], ..Redraw::new(reflows) };
            let mut frame = Vec::new();
            redraw.push_back(&mut frame, &size(columns));
            String::from_utf8(frame).unwrap()
        };
        assert_eq!(back(true, 80), "\u{1b}[3A\r");
        assert_eq!(back(true, 25), "\u{1b}[5A\r");
        assert_eq!(back(false, 25), "\u{1b}[3A\r");
    }
}
