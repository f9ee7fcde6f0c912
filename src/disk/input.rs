//! Files that the user names outside of the root: patches, texts, logs to read, tapes to write.
//!
//! These are opened as any program opens them: links are followed, and a pipe is read like a file.

#![expect(clippy::disallowed_methods, reason = "disk/ is the room that opens files")]

use std::fs::File;
use std::io;
use std::io::Read;
use std::path::Path;
use std::path::PathBuf;

/// How much of a large input is read at a time.
pub const BLOCK_BYTES: usize = 1024 * 1024;

/// Reads a whole file.
///
/// # Errors
/// What the system says; the caller adds the path.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    std::fs::read(path)
}

/// Opens a file to read.
///
/// # Errors
/// What the system says; the caller adds the path.
pub fn open_file(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Returns the length of a regular file in bytes; of nothing else is it known.
pub fn length_of(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().filter(|metadata| metadata.is_file()).map(|metadata| metadata.len())
}

/// Tells whether a path leads to a folder.
pub fn is_folder(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Tells whether something that is read once only stands at a path, such as a pipe.
pub fn is_stream(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Returns where a path leads to, through all links; nothing if it leads nowhere.
pub fn real_path(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok()
}

/// Creates a file to write, or empties the one that is there.
///
/// # Errors
/// What the system says; the caller adds the path.
pub fn create_file(path: &Path) -> io::Result<File> {
    File::create(path)
}

/// An input that is read block by block into one buffer.
#[derive(Debug)]
pub struct Blocks<R> {
    reader: R,
    buffer: Vec<u8>,
}

impl Blocks<File> {
    /// Opens a file.
    ///
    /// # Errors
    /// What the system says; the caller adds the path.
    pub fn open(path: &Path) -> io::Result<Self> {
        File::open(path).map(Blocks::over)
    }
}

impl<R: Read> Blocks<R> {
    /// Takes any reader; it needs no buffer of its own.
    pub fn over(reader: R) -> Self {
        Blocks { reader, buffer: Vec::new() }
    }

    /// Returns the next bytes, as many as one read gives and at most [`BLOCK_BYTES`]; `None` at the end.
    ///
    /// What arrives slowly is handed on as it arrives. A reader that has ended may be asked again: a file may grow.
    ///
    /// # Errors
    /// What the reader says, except that an interrupted read is tried again.
    pub fn next_block(&mut self) -> io::Result<Option<&[u8]>> {
        // Made at the first read: many inputs are opened before the first of them is read.
        self.buffer.resize(BLOCK_BYTES, 0);
        loop {
            match self.reader.read(&mut self.buffer) {
                Ok(0) => return Ok(None),
                Ok(length) => return Ok(Some(&self.buffer[..length])),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Makes a folder and those above it; one that is there is left as it is.
///
/// # Errors
/// What the system says.
pub fn create_folder(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

/// A temporary folder that goes with this value.
#[derive(Debug)]
pub struct Scratch {
    folder: tempfile::TempDir,
}

impl Scratch {
    /// Makes a folder whose name begins with `prefix` where the system keeps temporary files.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(prefix: &str) -> io::Result<Self> {
        Ok(Scratch { folder: tempfile::TempDir::with_prefix(prefix)? })
    }

    /// Returns the folder's path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file below the folder and makes the folders that it needs.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let path = self.folder.path().join(path);
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(path, bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn blocks_are_the_file_and_go_on_when_it_grows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let content: Vec<u8> = (0..BLOCK_BYTES * 2 + 5).map(|index| index as u8).collect();
        create_file(&path).unwrap().write_all(&content).unwrap();
        assert_eq!(read_file(&path).unwrap(), content);

        let mut blocks = Blocks::open(&path).unwrap();
        let mut seen = Vec::new();
        while let Some(block) = blocks.next_block().unwrap() {
            assert!(block.len() <= BLOCK_BYTES);
            seen.extend_from_slice(block);
        }
        assert_eq!(seen, content);

        File::options().append(true).open(&path).unwrap().write_all(b"more").unwrap();
        assert_eq!(blocks.next_block().unwrap(), Some(&b"more"[..]));
        assert_eq!(blocks.next_block().unwrap(), None);
    }

    #[test]
    fn creating_empties_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tape");
        std::fs::write(&path, "old").unwrap();
        create_file(&path).unwrap().write_all(b"n").unwrap();
        assert_eq!(read_file(&path).unwrap(), b"n");
        assert!(read_file(&folder.path().join("missing")).is_err());
    }
}
