//! Reading a file whole, each byte once, into memory that costs few page faults.

use std::fs::File;
use std::io;
use std::io::Read;

use memmap2::Advice;
use memmap2::MmapMut;

use crate::text::Document;

/// From this size on, a file is read into memory of its own, in huge pages where the system has them: filling fresh
/// memory in small pages costs more than copying the file.
const HUGE_BYTES: usize = 4 << 20;

/// Anonymous memory, of which the first `length` bytes are filled.
struct Filled {
    memory: MmapMut,
    length: usize,
}

impl AsRef<[u8]> for Filled {
    fn as_ref(&self) -> &[u8] {
        &self.memory[..self.length]
    }
}

/// Reads an open file to its end; `size_bytes` is what it is expected to have, and may be wrong.
///
/// The file itself is never mapped: another process could cut it short under the map.
pub(crate) fn read(mut file: File, size_bytes: usize) -> io::Result<Document> {
    let mut rest = Vec::new();
    if size_bytes < HUGE_BYTES {
        // One byte more than expected, so that one read finds the end; std's own way asks for the size once more.
        rest.try_reserve_exact(size_bytes + 1)?;
        rest.resize(size_bytes + 1, 0);
        let mut length = read_once(&mut file, &mut rest)?;
        // As much as was expected and no more: the end. Anything else is read on until a read says so.
        if length != size_bytes && length > 0 {
            length += fill(&mut file, &mut rest[length..])?;
        }
        let is_whole = length < rest.len();
        rest.truncate(length);
        if !is_whole {
            file.read_to_end(&mut rest)?;
        }
        return Ok(Document::new(rest));
    }
    let mut memory = MmapMut::map_anon(size_bytes)?;
    // Only speed depends on it.
    let _ = memory.advise(Advice::HugePage);
    let length = fill(&mut file, &mut memory)?;
    file.read_to_end(&mut rest)?;
    if rest.is_empty() {
        return Ok(Document::new(Filled { memory, length }));
    }
    // The file has grown since its size was asked.
    Ok(Document::new([&memory[..length], &rest].concat()))
}

/// Reads until the buffer is full or the file ends; returns how many bytes came.
fn fill(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match read_once(file, &mut buffer[length..])? {
            0 => break,
            count => length += count,
        }
    }
    Ok(length)
}

/// Reads with one call, unless a signal comes.
fn read_once(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            answer => return answer,
        }
    }
}

/// So many bytes of a file are compared at a time.
const BLOCK_BYTES: usize = 1 << 20;

/// Tells whether an open file holds exactly these bytes; reads it block by block.
pub(crate) fn is_equal(mut file: File, bytes: &[u8]) -> io::Result<bool> {
    let mut block = vec![0; BLOCK_BYTES.min(bytes.len() + 1)];
    let mut rest = bytes;
    loop {
        match file.read(&mut block) {
            Ok(0) => return Ok(rest.is_empty()),
            Ok(count) => match rest.strip_prefix(&block[..count]) {
                Some(tail) => rest = tail,
                None => return Ok(false),
            },
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_file_is_read_whole_whatever_size_was_expected() {
        for size in [0, 3, HUGE_BYTES - 1, HUGE_BYTES, HUGE_BYTES + 5] {
            let content: Vec<u8> = (0..size).map(|index| (index % 251) as u8).collect();
            for expected in [0, size / 2, size, size + 100, HUGE_BYTES] {
                let mut file = tempfile::NamedTempFile::new().unwrap();
                file.write_all(&content).unwrap();
                let document = read(file.reopen().unwrap(), expected).unwrap();
                assert!(document.bytes() == content, "{size} bytes, expected {expected}");
            }
        }
    }

    #[test]
    fn a_file_is_compared_to_its_end() {
        let holds = |content: &[u8], bytes: &[u8]| {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(content).unwrap();
            is_equal(file.reopen().unwrap(), bytes).unwrap()
        };
        let long = vec![7; BLOCK_BYTES + 3];
        assert!(holds(b"", b"") && holds(b"abc", b"abc") && holds(&long, &long));
        assert!(
            !holds(b"abc", b"ab")
                && !holds(b"ab", b"abc")
                && !holds(b"abd", b"abc")
                && !holds(&long, &long[1..])
        );
    }
}
