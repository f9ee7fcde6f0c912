//! A JSON string decoder that can stop anywhere: in the middle of an escape, of a surrogate pair, of a UTF-8 character.
//!
//! It decodes the inside of one string literal as its bytes arrive. What is not decided yet (half an escape, a high
//! surrogate that waits for its partner) is held back, so an unfinished value is never shown as finished.

/// Decodes the inside of a JSON string literal, in pieces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StringDecoder {
    state: State,
    /// A high surrogate whose low half has not come yet.
    high: Option<u16>,
    /// Lone surrogates that became U+FFFD so far.
    replaced: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Plain,
    Backslash,
    Unicode {
        digits: u8,
        value: u16,
    },
    Ended,
}

/// What a piece of a string came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// All bytes were taken and the string goes on.
    Open,
    /// The closing quote was met; so many bytes of the piece were taken, the quote among them.
    Closed(usize),
}

/// A byte that can't stand where it stands in a JSON string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid byte 0x{byte:02x} in a JSON string")]
pub struct StringError {
    /// Byte offset in the piece that was pushed, 0-based.
    pub offset_bytes: usize,
    /// The byte itself.
    pub byte: u8,
}

impl StringDecoder {
    /// Decodes `piece` and appends what is certain to `decoded`.
    ///
    /// # Errors
    /// A control character, an unknown escape or a bad hexadecimal digit; what came before it is in `decoded`.
    pub fn push(&mut self, piece: &[u8], decoded: &mut Vec<u8>) -> Result<Progress, StringError> {
        let mut next = 0;
        while next < piece.len() {
            let byte = piece[next];
            let error = StringError { offset_bytes: next, byte };
            match self.state {
                State::Ended => return Ok(Progress::Closed(next)),
                State::Plain => {
                    let run = piece[next..].iter().position(|&b| b == b'"' || b == b'\\' || b < 0x20);
                    let end = run.map_or(piece.len(), |length| next + length);
                    if end > next {
                        self.flush_high(decoded);
                        decoded.extend_from_slice(&piece[next..end]);
                        next = end;
                        continue;
                    }
                    match byte {
                        b'"' => {
                            self.flush_high(decoded);
                            self.state = State::Ended;
                            return Ok(Progress::Closed(next + 1));
                        }
                        b'\\' => self.state = State::Backslash,
                        _ => return Err(error),
                    }
                }
                State::Backslash => {
                    self.state = State::Plain;
                    let plain = match byte {
                        b'"' | b'\\' | b'/' => byte,
                        b'b' => 8,
                        b'f' => 12,
                        b'n' => b'\n',
                        b'r' => b'\r',
                        b't' => b'\t',
                        b'u' => {
                            self.state = State::Unicode { digits: 0, value: 0 };
                            next += 1;
                            continue;
                        }
                        _ => return Err(error),
                    };
                    self.flush_high(decoded);
                    decoded.push(plain);
                }
                State::Unicode { digits, value } => {
                    let digit = (byte as char).to_digit(16).ok_or(error)?;
                    // A hexadecimal digit is below 16, so the conversion loses nothing.
                    let value = (value << 4) | digit as u16;
                    if digits < 3 {
                        self.state = State::Unicode { digits: digits + 1, value };
                    } else {
                        self.state = State::Plain;
                        self.unit(value, decoded);
                    }
                }
            }
            next += 1;
        }
        Ok(if self.state == State::Ended { Progress::Closed(piece.len()) } else { Progress::Open })
    }

    /// Tells how many lone surrogates were replaced by U+FFFD.
    pub fn replaced(&self) -> usize {
        self.replaced
    }

    fn unit(&mut self, unit: u16, decoded: &mut Vec<u8>) {
        match (self.high.take(), unit) {
            (Some(high), 0xDC00..=0xDFFF) => {
                let code = 0x1_0000 + ((u32::from(high) - 0xD800) << 10) + (u32::from(unit) - 0xDC00);
                push_char(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), decoded);
            }
            (high, unit) => {
                self.high = high;
                self.flush_high(decoded);
                match unit {
                    0xD800..=0xDBFF => self.high = Some(unit),
                    0xDC00..=0xDFFF => self.replace(decoded),
                    _ => {
                        push_char(
                            char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER),
                            decoded,
                        );
                    }
                }
            }
        }
    }

    fn flush_high(&mut self, decoded: &mut Vec<u8>) {
        if self.high.take().is_some() {
            self.replace(decoded);
        }
    }

    fn replace(&mut self, decoded: &mut Vec<u8>) {
        self.replaced += 1;
        push_char(char::REPLACEMENT_CHARACTER, decoded);
    }
}

fn push_char(character: char, decoded: &mut Vec<u8>) {
    decoded.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(pieces: &[&[u8]]) -> Result<(Vec<u8>, Progress, usize), StringError> {
        let mut decoder = StringDecoder::default();
        let mut decoded = Vec::new();
        let mut progress = Progress::Open;
        for piece in pieces {
            progress = decoder.push(piece, &mut decoded)?;
        }
        Ok((decoded, progress, decoder.replaced()))
    }

    #[test]
    fn every_cut_gives_the_same_text() {
        let inside = "plain \\n\\t\\\" \\u00e9 \\ud83d\\ude00 é😀 \\ud83d x \\ude00 \\/\"".as_bytes();
        let whole = decode(&[inside]);
        assert_eq!(
            whole,
            Ok(("plain \n\t\" é 😀 é😀 \u{FFFD} x \u{FFFD} /".into(), Progress::Closed(inside.len()), 2))
        );
        for cut in 0..inside.len() {
            let (decoded, _, replaced) = decode(&[&inside[..cut], &inside[cut..]]).unwrap();
            assert_eq!(
                (decoded, replaced),
                whole.clone().map(|(text, _, count)| (text, count)).unwrap(),
                "{cut}"
            );
        }
    }

    #[test]
    fn bad_bytes_are_named() {
        assert_eq!(decode(&[b"a\nb"]), Err(StringError { offset_bytes: 1, byte: b'\n' }));
        assert_eq!(decode(&[b"\\x"]), Err(StringError { offset_bytes: 1, byte: b'x' }));
        assert_eq!(decode(&[b"\\u00g0"]), Err(StringError { offset_bytes: 4, byte: b'g' }));
    }
}
