//! Chunks of any size to whole lines: what has no newline yet is kept, never shown.
//!
//! A line ends at LF; exactly one CR before it belongs to the ending and is dropped, as Codex does.

use memchr::memchr;

/// The longest line that is taken, in bytes. A longer one is an error, so that memory stays bounded.
pub const LINE_CAP_BYTES: usize = 256 << 20;

/// Up to so many bytes, a chunk is taken for a delta of a model.
const DELTA_BYTES: usize = 16;

/// Cuts a stream of chunks into lines.
#[derive(Debug, Default)]
pub struct LineBuffer {
    pending: Vec<u8>,
    lines: usize,
}

/// A line grew over [`LINE_CAP_BYTES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line {line_number} is longer than {LINE_CAP_BYTES} bytes")]
pub struct LineTooLong {
    /// 1-based number of the line.
    pub line_number: usize,
}

impl LineBuffer {
    /// Takes a chunk and hands over each line that it completes, with its 1-based number.
    ///
    /// Cost: each byte is looked at once and copied at most once.
    ///
    /// # Errors
    /// [`LineTooLong`]; the line is dropped.
    pub fn push(&mut self, chunk: &[u8], mut take: impl FnMut(usize, &[u8])) -> Result<(), LineTooLong> {
        self.push_with_cr(chunk, |line_number, line| take(line_number, without_cr(line)))
    }

    /// As [`push`](LineBuffer::push), for a reader to whom the CR before a newline says something.
    ///
    /// # Errors
    /// [`LineTooLong`]; the line is dropped.
    pub fn push_with_cr(
        &mut self,
        chunk: &[u8],
        mut take: impl FnMut(usize, &[u8]),
    ) -> Result<(), LineTooLong> {
        if self.keeps(chunk) {
            return Ok(());
        }
        // A newline by itself ends what is kept: there is nothing to search and nothing to add.
        if chunk == b"\n" {
            self.lines += 1;
            take(self.lines, &self.pending);
            self.pending.clear();
            return Ok(());
        }
        let mut rest = chunk;
        while let Some(length) = memchr(b'\n', rest) {
            let (line, tail) = (&rest[..length], &rest[length + 1..]);
            self.lines += 1;
            if self.pending.is_empty() {
                take(self.lines, line);
            } else {
                self.grow(line, self.lines)?;
                take(self.lines, &self.pending);
                self.pending.clear();
            }
            rest = tail;
        }
        self.grow(rest, self.lines + 1)
    }

    /// Keeps a chunk that completes no line, if it is small enough to be told without a search.
    ///
    /// A model's delta is a few bytes, mostly without a newline: a plain loop over them beats a call of memchr.
    #[inline]
    pub fn keeps(&mut self, chunk: &[u8]) -> bool {
        if self.pending.len() >= LINE_CAP_BYTES - DELTA_BYTES {
            return false;
        }
        match chunk {
            [b'\n'] => false,
            [byte] => {
                self.pending.push(*byte);
                true
            }
            bytes if bytes.len() <= DELTA_BYTES && !bytes.contains(&b'\n') => {
                self.pending.extend_from_slice(bytes);
                true
            }
            _ => false,
        }
    }

    /// Takes the unfinished last line out, with its 1-based number; `None` if the input ended with a newline.
    pub fn take_unfinished(&mut self) -> Option<(usize, Vec<u8>)> {
        if self.pending.is_empty() {
            return None;
        }
        self.lines += 1;
        Some((self.lines, std::mem::take(&mut self.pending)))
    }

    /// Returns how many lines were handed over.
    pub fn lines(&self) -> usize {
        self.lines
    }

    fn grow(&mut self, piece: &[u8], line_number: usize) -> Result<(), LineTooLong> {
        if self.pending.len() + piece.len() > LINE_CAP_BYTES {
            self.pending = Vec::new();
            return Err(LineTooLong { line_number });
        }
        self.pending.extend_from_slice(piece);
        Ok(())
    }
}

/// Returns the line without the one CR that belongs to its ending.
pub fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Numbered = (usize, Vec<u8>);

    fn lines(chunks: &[&[u8]]) -> (Vec<Numbered>, Option<Numbered>) {
        let mut buffer = LineBuffer::default();
        let mut seen = Vec::new();
        for chunk in chunks {
            buffer.push(chunk, |number, line| seen.push((number, line.to_vec()))).unwrap();
        }
        (seen, buffer.take_unfinished())
    }

    #[test]
    fn every_cut_gives_the_same_lines() {
        let input = b"one\r\n\ntwo\r\r\nthree\nrest";
        let whole = lines(&[input]);
        assert_eq!(
            whole.0,
            vec![(1, b"one".to_vec()), (2, vec![]), (3, b"two\r".to_vec()), (4, b"three".to_vec())]
        );
        assert_eq!(whole.1, Some((5, b"rest".to_vec())));
        for cut in 0..=input.len() {
            assert_eq!(lines(&[&input[..cut], &input[cut..]]), whole, "{cut}");
        }
    }

    #[test]
    fn a_line_over_the_cap_is_an_error() {
        let mut buffer = LineBuffer::default();
        let big = vec![b'x'; LINE_CAP_BYTES / 2 + 1];
        assert_eq!(buffer.push(&big, |_, _| {}), Ok(()));
        assert_eq!(buffer.push(&big, |_, _| {}), Err(LineTooLong { line_number: 1 }));
        assert_eq!(buffer.push(b"ok\n", |_, line| assert_eq!(line, b"ok")), Ok(()));
    }
}
