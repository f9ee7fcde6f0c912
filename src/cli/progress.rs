//! How far long work has come, on a terminal's standard error; nothing of it stays.

use std::io;
use std::io::IsTerminal;
use std::time::Duration;
use std::time::Instant;

use super::streams;
use super::streams::Console;

/// Shorter work shows nothing.
const SHOWN_AFTER: Duration = Duration::from_millis(500);

/// How often it is drawn again.
const INTERVAL: Duration = Duration::from_millis(100);

/// The line that tells how many bytes were read.
#[derive(Debug)]
pub struct Progress {
    is_terminal: bool,
    start: Instant,
    last: Option<Instant>,
    is_shown: bool,
    /// How many bytes there are, if that is known.
    total: Option<u64>,
}

impl Progress {
    /// Begins the work.
    pub fn new(console: &Console, total: Option<u64>) -> Self {
        let can_redraw = std::env::var_os("TERM").is_some_and(|term| term != "dumb");
        let is_terminal = !console.is_quiet && can_redraw && io::stderr().is_terminal();
        Progress { is_terminal, start: Instant::now(), last: None, is_shown: false, total }
    }

    /// Returns how long to wait for other things before the line is drawn again; nothing if it never is.
    pub fn interval(&self) -> Option<Duration> {
        self.is_terminal.then_some(INTERVAL)
    }

    /// Draws the line, if the work takes long and it was not just drawn.
    pub fn show(&mut self, bytes: u64) {
        let is_due = self.last.is_none_or(|last| last.elapsed() >= INTERVAL);
        if !self.is_terminal || !is_due || self.start.elapsed() < SHOWN_AFTER {
            return;
        }
        self.last = Some(Instant::now());
        self.is_shown = true;
        let text = text(bytes, self.total);
        streams::to_stderr(|out| write!(out, "\r{text}\x1b[K"));
    }

    /// Takes the line away, before anything else is printed.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            streams::to_stderr(|out| out.write_all(b"\r\x1b[K"));
        }
    }
}

fn text(bytes: u64, total: Option<u64>) -> String {
    match total.filter(|total| *total > 0) {
        Some(total) => {
            let percent = u128::from(bytes.min(total)) * 100 / u128::from(total);
            format!("{percent:3} % of {} read", size(total))
        }
        None => format!("{} read", size(bytes)),
    }
}

/// Returns a size in the largest unit that it has one of.
fn size(bytes: u64) -> String {
    let units = [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_a_share_or_a_size() {
        assert_eq!(text(1 << 20, Some(4 << 20)), " 25 % of 4.0 MiB read");
        // A log that grows is no more than read.
        assert_eq!(text(9, Some(4)), "100 % of 4 bytes read");
        assert_eq!(text(3 << 29, None), "1.5 GiB read");
        assert_eq!(text(1536, Some(0)), "1.5 KiB read");
    }
}
