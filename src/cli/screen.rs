//! Previews on a terminal: the newest one is redrawn in place, the last one stays. Elsewhere they are appended.

use std::io;
use std::io::IsTerminal;
use std::io::Write;

use crate::render::json;
use crate::render::style::Style;
use crate::render::terminal;
use crate::report::PreviewEvent;

use super::environment;

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
    Appended,
    /// A terminal; so many rows of the last frame can be drawn over.
    Redrawn {
        rows: usize,
    },
}

impl Screen {
    /// Returns the screen for the output that was asked for.
    pub fn new(style: Style, is_json: bool, is_quiet: bool) -> Self {
        let redraws =
            io::stdout().is_terminal() && std::env::var_os("TERM").is_some_and(|term| term != "dumb");
        let kind = match (is_json, is_quiet) {
            (true, _) => Kind::Json,
            (false, true) => Kind::Silent,
            (false, false) if redraws => Kind::Redrawn { rows: 0 },
            (false, false) => Kind::Appended,
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
            Kind::Json => json::line(&mut frame, event)?,
            Kind::Appended => terminal::preview(&mut frame, event, &self.style, None)?,
            Kind::Redrawn { rows } => {
                // A row that is wider than the terminal takes two of its rows, and the next frame would leave one
                // behind: COLUMNS may narrow what is redrawn, never widen it.
                let columns = environment::columns().filter(|&columns| columns > 0).unwrap_or(usize::MAX);
                let style = Style { width: environment::width(true).min(columns), ..self.style };
                let max_rows = environment::rows().map(|rows| rows.saturating_sub(1).max(1));
                let mut drawn = Vec::new();
                terminal::preview(&mut drawn, event, &style, max_rows)?;
                frame.extend_from_slice(SYNC.0);
                let is_preview = matches!(event, PreviewEvent::Preview { .. });
                if is_preview && *rows > 0 {
                    frame.extend_from_slice(format!("\x1b[{rows}A\r\x1b[J").as_bytes());
                }
                frame.extend_from_slice(&drawn);
                frame.extend_from_slice(SYNC.1);
                *rows = if is_preview { drawn.iter().filter(|&&byte| byte == b'\n').count() } else { 0 };
            }
        }
        let mut out = io::stdout().lock();
        out.write_all(&frame)?;
        out.flush()
    }
}
