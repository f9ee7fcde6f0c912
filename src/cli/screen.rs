//! Previews on a terminal: the newest one is redrawn in place, the last one stays. Elsewhere they are appended.

use std::io;
use std::io::IsTerminal;
use std::io::Write;

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
    /// A terminal; so many rows of the last frame can be drawn over, and it was cut to fit the screen. Calls that come
    /// interleaved don't draw over each other.
    Redrawn {
        call_id: Option<String>,
        rows: usize,
        cut: Option<Box<PreviewEvent>>,
    },
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
            (PreviewOutput::Card, false) if redraws => Kind::Redrawn { call_id: None, rows: 0, cut: None },
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
            Kind::Redrawn { call_id, rows, cut } => {
                // A row that is wider than the terminal takes two of its rows, and the next frame would leave one
                // behind: COLUMNS may narrow what is redrawn, never widen it.
                let columns = environment::columns().filter(|&columns| columns > 0).unwrap_or(usize::MAX);
                let style = Style { width: environment::width(true).min(columns), ..self.style };
                let max_rows = environment::rows().map(|rows| rows.saturating_sub(1).max(1));
                frame.extend_from_slice(SYNC.0);
                let of = match event {
                    PreviewEvent::Preview { call_id, .. } | PreviewEvent::Finish { call_id, .. } => call_id,
                };
                if call_id != of {
                    if let Some(last) = cut.take() {
                        frame.extend_from_slice(format!("\x1b[{rows}A\r").as_bytes());
                        let mut drawn = Vec::new();
                        terminal::preview(&mut drawn, &last, &style, None)?;
                        push_rows(&mut frame, &drawn);
                    }
                    *rows = 0;
                    call_id.clone_from(of);
                }
                let is_preview = matches!(event, PreviewEvent::Preview { .. });
                if *rows > 0 && (is_preview || cut.is_some()) {
                    frame.extend_from_slice(format!("\x1b[{rows}A\r").as_bytes());
                }
                let mut drawn = Vec::new();
                // The last preview stays, and stays whole: what did not fit the screen goes into its scrollback.
                if let Some(last) = cut.take().filter(|_| !is_preview) {
                    terminal::preview(&mut drawn, &last, &style, None)?;
                }
                terminal::preview(&mut drawn, event, &style, max_rows.filter(|_| is_preview))?;
                let height = drawn.iter().filter(|&&byte| byte == b'\n').count();
                if is_preview && max_rows.is_some_and(|max_rows| height >= max_rows) {
                    *cut = Some(Box::new(event.clone()));
                }
                push_rows(&mut frame, &drawn);
                frame.extend_from_slice(b"\x1b[J");
                frame.extend_from_slice(SYNC.1);
                *rows = if is_preview { height } else { 0 };
            }
        }
        let mut out = io::stdout().lock();
        out.write_all(&frame)?;
        out.flush()
    }
}

/// Draws row by row: a terminal that keeps what a clear of the whole screen wipes would keep every frame.
fn push_rows(frame: &mut Vec<u8>, drawn: &[u8]) {
    for row in drawn.split_inclusive(|&byte| byte == b'\n') {
        frame.extend_from_slice(b"\x1b[2K");
        frame.extend_from_slice(row);
    }
}
