//! What stands behind `GIT binary patch`: base85 lines, zlib, deltas, and the names that git gives to contents.
//!
//! ```text
//! binary := "GIT binary patch" block [block]           the second block leads back
//! block  := ("literal " | "delta ") size line* ""      size: of what the lines inflate to
//! line   := length base85                              length: A-Z is 1 to 26 bytes, a-z is 27 to 52
//! ```
//!
//! Nothing is allocated by a number that a patch states: a content grows with the input that it comes from, up to
//! [`CONTENT_CAP_BYTES`].

use std::io::Read;

use flate2::read::ZlibDecoder;
use sha1::Digest;
use sha1::Sha1;
use sha2::Sha256;

/// The longest content that is taken.
pub const CONTENT_CAP_BYTES: usize = 256 << 20;

/// Git's digits of base 85, in order.
const DIGITS: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

/// What is wrong with binary content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BinaryError {
    /// A line is not base85, or its length differs from the one it states.
    #[error("the line is not what its length and git's base85 allow")]
    Base85,
    /// The bytes are not a zlib stream.
    #[error("the compressed content is damaged")]
    Zlib,
    /// The content has not the length that the patch states.
    #[error("the content has not the length that the patch states")]
    Length,
    /// The content is longer than [`CONTENT_CAP_BYTES`].
    #[error("the content is longer than {CONTENT_CAP_BYTES} bytes")]
    TooLong,
    /// A delta does not fit the content that it is for.
    #[error("the delta does not fit the content")]
    Delta,
}

/// Takes one line of base85 in.
///
/// # Errors
/// [`BinaryError::Base85`].
pub fn decode_line(line: &[u8], bytes: &mut Vec<u8>) -> Result<(), BinaryError> {
    let (&first, digits) = line.split_first().ok_or(BinaryError::Base85)?;
    let length = match first {
        b'A'..=b'Z' => usize::from(first - b'A') + 1,
        b'a'..=b'z' => usize::from(first - b'a') + 27,
        _ => return Err(BinaryError::Base85),
    };
    if digits.len() != length.div_ceil(4) * 5 {
        return Err(BinaryError::Base85);
    }
    let end = bytes.len() + length;
    for group in digits.chunks(5) {
        let mut word = 0u32;
        for digit in group {
            let value = DIGITS.iter().position(|known| known == digit).ok_or(BinaryError::Base85)?;
            let grown = u64::from(word) * 85 + value as u64;
            word = u32::try_from(grown).map_err(|_| BinaryError::Base85)?;
        }
        bytes.extend_from_slice(&word.to_be_bytes());
    }
    bytes.truncate(end);
    Ok(())
}

/// Writes bytes as lines of base85, each with its newline.
pub fn encode_lines(bytes: &[u8], out: &mut Vec<u8>) {
    for line in bytes.chunks(52) {
        out.push(if line.len() <= 26 { b'A' + line.len() as u8 - 1 } else { b'a' + line.len() as u8 - 27 });
        for group in line.chunks(4) {
            let mut padded = [0; 4];
            padded[..group.len()].copy_from_slice(group);
            let mut word = u32::from_be_bytes(padded);
            let mut digits = [0; 5];
            for digit in digits.iter_mut().rev() {
                *digit = DIGITS[(word % 85) as usize];
                word /= 85;
            }
            out.extend_from_slice(&digits);
        }
        out.push(b'\n');
    }
}

/// Inflates a block to the `length` bytes that it states.
///
/// # Errors
/// The stream is damaged, or has another length.
pub fn inflate(compressed: &[u8], length: usize) -> Result<Vec<u8>, BinaryError> {
    if length > CONTENT_CAP_BYTES {
        return Err(BinaryError::TooLong);
    }
    let mut content = Vec::new();
    // One byte more tells a longer stream from one of the right length.
    let mut limited = ZlibDecoder::new(compressed).take(length as u64 + 1);
    limited.read_to_end(&mut content).map_err(|_| BinaryError::Zlib)?;
    if content.len() == length { Ok(content) } else { Err(BinaryError::Length) }
}

/// Makes a content from another one by git's delta: copies of pieces, and new bytes.
///
/// # Errors
/// [`BinaryError::Delta`], [`BinaryError::TooLong`].
pub fn apply_delta(old: &[u8], delta: &[u8]) -> Result<Vec<u8>, BinaryError> {
    let mut rest = delta;
    let (old_length, new_length) = (varint(&mut rest)?, varint(&mut rest)?);
    if old_length != old.len() as u64 {
        return Err(BinaryError::Delta);
    }
    if new_length > CONTENT_CAP_BYTES as u64 {
        return Err(BinaryError::TooLong);
    }
    let mut new: Vec<u8> = Vec::new();
    while let Some(code) = next(&mut rest) {
        let piece = if code & 0x80 != 0 {
            let mut number = |bits: std::ops::Range<u8>| {
                let mut value = 0usize;
                for (index, bit) in bits.enumerate() {
                    if code & 1 << bit != 0 {
                        value |= usize::from(next(&mut rest).ok_or(BinaryError::Delta)?) << (8 * index);
                    }
                }
                Ok(value)
            };
            let (offset, length) = (number(0..4)?, number(4..7)?);
            let length = if length == 0 { 0x10000 } else { length };
            let end = offset.checked_add(length).ok_or(BinaryError::Delta)?;
            old.get(offset..end).ok_or(BinaryError::Delta)?
        } else if code > 0 {
            let (piece, tail) = rest.split_at_checked(usize::from(code)).ok_or(BinaryError::Delta)?;
            rest = tail;
            piece
        } else {
            return Err(BinaryError::Delta);
        };
        if (new.len() + piece.len()) as u64 > new_length {
            return Err(BinaryError::Delta);
        }
        new.extend_from_slice(piece);
    }
    if new.len() as u64 == new_length { Ok(new) } else { Err(BinaryError::Delta) }
}

fn next(rest: &mut &[u8]) -> Option<u8> {
    let (&first, tail) = rest.split_first()?;
    *rest = tail;
    Some(first)
}

fn varint(rest: &mut &[u8]) -> Result<u64, BinaryError> {
    let mut value = 0u64;
    for shift in (0..63).step_by(7) {
        let byte = next(rest).ok_or(BinaryError::Delta)?;
        value |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(BinaryError::Delta)
}

/// The whole name that git gives to a content: a SHA-1, or a SHA-256.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobId(Vec<u8>);

impl BlobId {
    /// Reads a name in hex. One that is cut short names nothing for sure and gives `None`, as one of zeros does, which
    /// stands for no file.
    pub fn parse(hex: &[u8]) -> Option<Self> {
        if !matches!(hex.len(), 40 | 64) || hex.iter().all(|&digit| digit == b'0') {
            return None;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let bytes = hex
            .chunks(2)
            .map(|pair| Some((digit(pair[0])? << 4 | digit(pair[1])?) as u8))
            .collect::<Option<_>>();
        bytes.map(BlobId)
    }

    /// Returns the name in hex.
    pub fn hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Tells whether this is the name of a content.
    pub fn names(&self, content: &[u8]) -> bool {
        let header = format!("blob {}\0", content.len());
        if self.0.len() == 20 {
            Sha1::new().chain_update(header).chain_update(content).finalize().as_slice() == self.0
        } else {
            Sha256::new().chain_update(header).chain_update(content).finalize().as_slice() == self.0
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_that_git_wrote_are_read() {
        let mut bytes = Vec::new();
        decode_line(b"TcmZo*I?FiW1S>;cYB>V{92f)m", &mut bytes).unwrap();
        let delta = inflate(&bytes, 12).unwrap();
        assert_eq!(delta[..4], [0x80, 0x02, 0xCD, 0x01], "from 256 bytes to 205");
        let mut empty = Vec::new();
        decode_line(b"HcmV?d00001", &mut empty).unwrap();
        assert_eq!(inflate(&empty, 0), Ok(Vec::new()));
    }

    #[test]
    fn damaged_lines_are_refused() {
        for line in [&b""[..], b"A", b"A0000", b"!00000", b"A0000\"", b"A~~~~~", b"B000000"] {
            assert_eq!(decode_line(line, &mut Vec::new()), Err(BinaryError::Base85), "{line:?}");
        }
    }

    #[test]
    fn a_stated_length_is_no_allocation() {
        assert_eq!(inflate(b"", usize::MAX), Err(BinaryError::TooLong));
        assert_eq!(inflate(b"x", 5), Err(BinaryError::Zlib));
        assert_eq!(apply_delta(b"", b"\x00\xff\xff\xff\xff\x7f"), Err(BinaryError::TooLong));
    }

    #[test]
    fn deltas_copy_and_insert() {
        // 5 bytes to 6: copy 2 from 3, insert "ab", copy 2 from 0.
        let delta = b"\x05\x06\x91\x03\x02\x02ab\x90\x02";
        assert_eq!(apply_delta(b"12345", delta), Ok(b"45ab12".to_vec()));
        assert_eq!(apply_delta(b"1234", delta), Err(BinaryError::Delta));
        assert_eq!(apply_delta(b"12345", b"\x05\x06\x91\x04\x02"), Err(BinaryError::Delta));
        assert_eq!(apply_delta(b"12345", b"\x05\x06\x00"), Err(BinaryError::Delta));
    }

    #[test]
    fn a_name_is_that_of_git() {
        let id = BlobId::parse(b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391").unwrap();
        assert!(id.names(b"") && !id.names(b"x"));
        assert_eq!(BlobId::parse(b"e69de29"), None);
        assert_eq!(BlobId::parse(&[b'0'; 40]), None);
        assert_eq!(BlobId::parse(&[b'x'; 40]), None);
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_read_back(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut lines = Vec::new();
            encode_lines(&bytes, &mut lines);
            let mut back = Vec::new();
            for line in lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
                decode_line(line, &mut back).unwrap();
            }
            prop_assert_eq!(back, bytes);
        }

        #[test]
        fn no_input_panics(old in prop::collection::vec(any::<u8>(), 0..20), bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = decode_line(&bytes, &mut Vec::new());
            let _ = inflate(&bytes, 100);
            let _ = apply_delta(&old, &bytes);
        }
    }
}
