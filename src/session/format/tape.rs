//! Tapes: recorded streams, so that a preview can be shown again with the same timing.
//!
//! JSON Lines, one delta a line: `{"t":MILLISECONDS,"delta":"text"}`. `t` counts from any start and never goes back.
//! Other keys are passed over; blank lines too.

use serde::Deserialize;
use thiserror::Error;

use crate::session::frame::readable;
use crate::text::document::UTF8_BOM;

use super::json_into;

/// One piece of text and when it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TapeDelta {
    /// When, in milliseconds of the tape's own clock.
    pub time_ms: u64,
    /// The text.
    pub text: String,
}

/// Why a tape can't be played.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TapeError {
    /// A line is not of the form.
    #[error("tape line {line}: {cause}")]
    Malformed {
        /// 1-based line of the tape.
        line: usize,
        /// What the JSON parser says.
        #[source]
        cause: serde_json::Error,
    },
    /// A line is earlier than the one before.
    #[error("tape line {line}: the time goes back from {before_ms} to {time_ms} ms")]
    TimeGoesBack {
        /// 1-based line of the tape.
        line: usize,
        /// The time of the line before.
        before_ms: u64,
        /// The time of this line.
        time_ms: u64,
    },
}

#[derive(Deserialize)]
struct Row {
    t: u64,
    delta: String,
}

/// Reads a tape line by line.
///
/// ```
/// use hunkwise::session::format::tape::TapeReader;
/// let mut tape = TapeReader::default();
/// let delta = tape.line(br#"{"t":12,"delta":"*** Be"}"#).unwrap().unwrap();
/// assert_eq!((delta.time_ms, delta.text.as_str()), (12, "*** Be"));
/// ```
#[derive(Debug, Default)]
pub struct TapeReader {
    line: usize,
    last_ms: u64,
}

impl TapeReader {
    /// Reads the next line, with or without its newline; nothing comes of a blank one.
    ///
    /// Lone surrogates and invalid UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// [`TapeError::Malformed`] and [`TapeError::TimeGoesBack`], with the line.
    pub fn line(&mut self, bytes: &[u8]) -> Result<Option<TapeDelta>, TapeError> {
        self.line += 1;
        let line = self.line;
        let bytes = if line == 1 { bytes.strip_prefix(UTF8_BOM).unwrap_or(bytes) } else { bytes };
        if bytes.trim_ascii().is_empty() {
            return Ok(None);
        }
        let text = readable(bytes).text;
        let malformed = |cause| TapeError::Malformed { line, cause };
        let row: Row = serde_json::from_str(&text).map_err(malformed)?;
        let delta = TapeDelta { time_ms: row.t, text: row.delta };
        if delta.time_ms < self.last_ms {
            return Err(TapeError::TimeGoesBack { line, before_ms: self.last_ms, time_ms: delta.time_ms });
        }
        self.last_ms = delta.time_ms;
        Ok(Some(delta))
    }
}

/// Returns the line of a tape that holds `text`, with its newline.
pub fn tape_line(time_ms: u64, text: &str) -> Vec<u8> {
    let mut line = Vec::with_capacity(text.len() + 32);
    line.extend_from_slice(format!("{{\"t\":{time_ms},\"delta\":").as_bytes());
    json_into(&mut line, text);
    line.extend_from_slice(b"}\n");
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn errors_name_the_line() {
        let check = |lines: &[&str], wanted: &str| {
            let mut tape = TapeReader::default();
            let found = lines.iter().find_map(|line| tape.line(line.as_bytes()).err());
            assert!(found.unwrap().to_string().starts_with(wanted), "{lines:?}");
        };
        check(&["", r#"{"t":1}"#], "tape line 2: missing field `delta`");
        check(&[r#"{"t":-1,"delta":"a"}"#], "tape line 1: invalid value");
        check(&[r#"{"t":1,"delta":7}"#], "tape line 1: invalid type");
        check(&[r#"{"t":1,"#], "tape line 1: EOF");
        check(
            &[r#"{"t":5,"delta":""}"#, r#"{"t":4,"delta":""}"#],
            "tape line 2: the time goes back from 5 to 4 ms",
        );
    }

    #[test]
    fn half_a_surrogate_pair_does_not_stop_the_tape() {
        let delta = TapeReader::default().line(br#"{"t":0,"delta":"a\ud83d"}"#).unwrap().unwrap();
        assert_eq!(delta.text, "a\u{FFFD}");
    }

    proptest! {
        #[test]
        fn written_lines_are_read_back(time_ms: u64, text: String) {
            let line = tape_line(time_ms, &text);
            prop_assert_eq!(line.iter().filter(|&&byte| byte == b'\n').count(), 1);
            let read = TapeReader::default().line(&line).unwrap();
            prop_assert_eq!(read, Some(TapeDelta { time_ms, text }));
        }
    }
}
