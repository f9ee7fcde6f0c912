//! The reader of a stored log, whatever its format.

use crate::session::event::CallEvent;

use super::Format;
use super::dsh;
use super::dsh::Dsh;

/// Reads the lines of one log, one after the other.
#[derive(Debug)]
pub enum LogReader {
    /// DeepSeek Harness, and hunkwise itself.
    Dsh(Dsh),
}

impl LogReader {
    /// Returns the reader of a format.
    pub fn new(format: Format) -> Self {
        match format {
            Format::Dsh => LogReader::Dsh(Dsh::default()),
        }
    }

    /// Tells, without parsing, whether a line is worth parsing; `knows` tells of a call id whether its result matters.
    pub fn proposes(&self, line: &[u8], knows: &dyn Fn(&str) -> bool) -> bool {
        match self {
            LogReader::Dsh(_) => dsh::proposes(line, knows),
        }
    }

    /// Reads one line that [`proposes`](Self::proposes) lets through; `line` is its 1-based number.
    ///
    /// # Errors
    /// The line is none of this format.
    pub fn read(
        &mut self,
        text: &str,
        line: usize,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) -> Result<(), serde_json::Error> {
        match self {
            LogReader::Dsh(dsh) => dsh.read(text, line, emit),
        }
    }

    /// Returns how many lines were of a kind that is not known.
    pub fn unknown_events(&self) -> usize {
        match self {
            LogReader::Dsh(dsh) => dsh.unknown_events(),
        }
    }

    /// Returns how many calls belong to the session that this one was forked from.
    pub fn inherited_calls(&self) -> usize {
        match self {
            LogReader::Dsh(dsh) => dsh.inherited_calls(),
        }
    }
}
