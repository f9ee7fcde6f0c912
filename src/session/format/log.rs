//! The reader of a stored log, whatever its format.

use crate::session::event::CallEvent;

use super::Format;
use super::claude_code::ClaudeCode;
use super::dsh;
use super::dsh::Dsh;

/// Reads the lines of one log, one after the other.
#[derive(Debug)]
pub enum LogReader {
    /// DeepSeek Harness, and hunkwise itself.
    Dsh(Dsh),
    /// Claude Code.
    ClaudeCode(Box<ClaudeCode>),
}

impl LogReader {
    /// Returns the reader of a format.
    pub fn new(format: Format) -> Self {
        match format {
            Format::Dsh => LogReader::Dsh(Dsh::default()),
            Format::ClaudeCode => LogReader::ClaudeCode(Box::default()),
        }
    }

    /// Tells, without parsing, whether a line is worth parsing; `knows` tells of a call id whether its result matters.
    pub fn proposes(&self, line: &[u8], knows: &dyn Fn(&str) -> bool) -> bool {
        match self {
            LogReader::Dsh(_) => dsh::proposes(line, knows),
            LogReader::ClaudeCode(claude) => claude.proposes(line, knows),
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
            LogReader::ClaudeCode(claude) => claude.read(text, line, emit),
        }
    }

    /// Returns how many lines were of a kind that is not known.
    pub fn unknown_events(&self) -> usize {
        match self {
            LogReader::Dsh(dsh) => dsh.unknown_events(),
            LogReader::ClaudeCode(claude) => claude.unknown_events(),
        }
    }

    /// Returns how many calls belong to the session that this one was forked from.
    pub fn inherited_calls(&self) -> usize {
        match self {
            LogReader::Dsh(dsh) => dsh.inherited_calls(),
            // A fork's log repeats the calls of its parent, and the parent's log may be gone.
            LogReader::ClaudeCode(_) => 0,
        }
    }
}
