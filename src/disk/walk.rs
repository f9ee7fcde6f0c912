//! Files and folders that are named to be compared.
//!
//! What is named is opened as any program opens it: links are followed, a pipe is read. Below a named folder no link
//! is followed and nothing but files is opened. Files whose bytes are equal are found so without keeping them.

#![expect(clippy::disallowed_methods, reason = "disk/ is the room that opens files")]

use std::ffi::OsStr;
use std::fs::File;
use std::fs::FileType;
use std::fs::Metadata;
use std::io;
use std::io::Read;
use std::io::Seek;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::path::PathBuf;

use rustix::fs::OFlags;

use super::whole;
use crate::text::Document;
use crate::text::PathText;

/// How much of two files is compared at a time.
const BLOCK_BYTES: usize = 1 << 18;

/// What a path names.
#[derive(Debug)]
pub enum Named {
    /// A folder.
    Folder,
    /// A file, or something else that can be read.
    File(OpenFile),
}

/// Opens what the user names.
///
/// # Errors
/// What the system says; the caller adds the path.
pub fn open_named(path: &Path) -> io::Result<Named> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    Ok(if metadata.is_dir() { Named::Folder } else { Named::File(OpenFile::new(file, &metadata)) })
}

/// A file that is open for reading.
#[derive(Debug)]
pub struct OpenFile {
    file: File,
    /// The size, if it is a plain file.
    size_bytes: Option<u64>,
    is_executable: bool,
}

impl OpenFile {
    fn new(file: File, metadata: &Metadata) -> Self {
        OpenFile {
            file,
            size_bytes: metadata.is_file().then_some(metadata.len()),
            is_executable: is_executable(metadata),
        }
    }

    /// Tells whether its owner may execute it; `None` if it is no plain file, whose mode says nothing.
    pub fn is_executable(&self) -> Option<bool> {
        self.size_bytes.map(|_| self.is_executable)
    }

    /// Reads all of it.
    ///
    /// # Errors
    /// What the system says; the caller adds the path.
    pub fn read(self) -> io::Result<Document> {
        let expected = usize::try_from(self.size_bytes.unwrap_or(0)).unwrap_or(usize::MAX);
        whole::read(self.file, expected)
    }
}

/// What a folder holds at some depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A file.
    File {
        /// Its size.
        size_bytes: u64,
        /// Whether its owner may execute it.
        is_executable: bool,
    },
    /// A symbolic link.
    Link,
    /// Something that is not compared.
    Other(&'static str),
}

/// One path below a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The path, relative to the folder.
    pub path: PathText,
    /// What stands there.
    pub kind: EntryKind,
}

/// What a folder holds, down to its last subfolder.
#[derive(Debug, Default)]
pub struct Walked {
    /// All that is no folder, sorted by the bytes of the path.
    pub entries: Vec<Entry>,
    /// What could not be looked at, and why; a folder stands for all that is below it. The top's own path is empty.
    pub unreadable: Vec<(PathText, io::Error)>,
}

/// Lists everything below a folder; reads no file and follows no link.
pub fn walk(top: &Path) -> Walked {
    let mut walked = Walked::default();
    let mut pending = vec![PathText::default()];
    while let Some(folder) = pending.pop() {
        let place = below(top, &folder);
        if let Err(error) = list(&place, &folder, &mut pending, &mut walked) {
            walked.unreadable.push((folder, error));
        }
    }
    walked.entries.sort_unstable_by(|one, other| one.path.bytes().cmp(other.path.bytes()));
    walked.unreadable.sort_by(|one, other| one.0.cmp(&other.0));
    walked
}

fn list(place: &Path, folder: &PathText, pending: &mut Vec<PathText>, walked: &mut Walked) -> io::Result<()> {
    for entry in std::fs::read_dir(place)? {
        let entry = entry?;
        let name = entry.file_name();
        let path = match folder.bytes() {
            [] => PathText::new(name.as_bytes()),
            above => PathText::new([above, b"/", name.as_bytes()].concat()),
        };
        let file_type = entry.file_type()?;
        if file_type.is_dir() {
            pending.push(path);
            continue;
        }
        // The kind is told by the folder; only a file's size and mode need another look.
        let kind = match other_kind(file_type) {
            Some(kind) => kind,
            None => match entry.metadata() {
                Ok(metadata) => {
                    EntryKind::File { size_bytes: metadata.len(), is_executable: is_executable(&metadata) }
                }
                Err(error) => {
                    walked.unreadable.push((path, error));
                    continue;
                }
            },
        };
        walked.entries.push(Entry { path, kind });
    }
    Ok(())
}

fn other_kind(file_type: FileType) -> Option<EntryKind> {
    Some(match file_type {
        kind if kind.is_file() => return None,
        kind if kind.is_symlink() => EntryKind::Link,
        kind if kind.is_fifo() => EntryKind::Other("a named pipe"),
        kind if kind.is_socket() => EntryKind::Other("a socket"),
        kind if kind.is_block_device() || kind.is_char_device() => EntryKind::Other("a device"),
        _ => EntryKind::Other("of an unknown kind"),
    })
}

fn is_executable(metadata: &Metadata) -> bool {
    metadata.mode() & 0o100 != 0
}

/// Returns the place of a path below a folder.
pub fn below(top: &Path, path: &PathText) -> PathBuf {
    top.join(OsStr::from_bytes(path.bytes()))
}

/// Opens a file below a folder; refuses if it has become a link or anything else since it was listed.
///
/// # Errors
/// What the system says; the caller adds the path.
pub fn open_entry(top: &Path, path: &PathText) -> io::Result<OpenFile> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    // The flags are few and fit.
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let file = File::options().read(true).custom_flags(flags).open(below(top, path))?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is no file any more"));
    }
    Ok(OpenFile::new(file, &metadata))
}

/// Returns where a link below a folder leads, as the link says it.
///
/// # Errors
/// What the system says; the caller adds the path.
pub fn read_link(top: &Path, path: &PathText) -> io::Result<Document> {
    let target = std::fs::read_link(below(top, path))?;
    Ok(Document::new(target.as_os_str().as_bytes().to_vec()))
}

/// Returns two files' contents, or `None` if they are equal.
///
/// Files of one size are compared block by block first, so that equal ones take no memory and are not looked at as
/// text.
///
/// # Errors
/// What the system says, and whether it is the second file that can't be read.
pub fn read_unless_equal(
    mut old: OpenFile,
    mut new: OpenFile,
) -> Result<Option<(Document, Document)>, (bool, io::Error)> {
    let (of_old, of_new) = (|error| (false, error), |error| (true, error));
    if let Some(size) = old.size_bytes.filter(|_| old.size_bytes == new.size_bytes) {
        // One byte more, so that the end of a small file is seen at once.
        let block = usize::try_from(size).map_or(BLOCK_BYTES, |size| BLOCK_BYTES.min(size + 1));
        let mut blocks = (vec![0; block], vec![0; block]);
        loop {
            let old_bytes = fill(&mut old.file, &mut blocks.0).map_err(of_old)?;
            let new_bytes = fill(&mut new.file, &mut blocks.1).map_err(of_new)?;
            if blocks.0[..old_bytes] != blocks.1[..new_bytes] {
                break;
            }
            if old_bytes < block {
                return Ok(None);
            }
        }
        old.file.rewind().map_err(of_old)?;
        new.file.rewind().map_err(of_new)?;
    }
    let old = old.read().map_err(of_old)?;
    let new = new.read().map_err(of_new)?;
    Ok((old.bytes() != new.bytes()).then_some((old, new)))
}

/// Reads until the block is full or the file ends.
fn fill(file: &mut File, block: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < block.len() {
        match file.read(&mut block[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::tree::Node;
    use crate::disk::tree::Tree;
    use crate::disk::tree::link;
    use crate::disk::tree::text;
    use crate::disk::tree::with_mode;

    fn entry(path: &str, kind: EntryKind) -> Entry {
        Entry { path: PathText::from(path), kind }
    }

    #[test]
    fn a_folder_is_listed_by_the_bytes_of_its_paths() {
        let tree = Tree::new(&[
            ("a/b", text("12")),
            ("a.x", with_mode("1", 0o700)),
            ("l", link("a")),
            ("p", Node::Fifo),
            ("empty", Node::Folder),
        ]);
        let walked = walk(&tree.root());
        assert!(walked.unreadable.is_empty());
        assert_eq!(
            walked.entries,
            [
                entry("a.x", EntryKind::File { size_bytes: 1, is_executable: true }),
                entry("a/b", EntryKind::File { size_bytes: 2, is_executable: false }),
                entry("l", EntryKind::Link),
                entry("p", EntryKind::Other("a named pipe")),
            ]
        );
    }

    #[test]
    fn what_can_not_be_listed_is_named() {
        let tree = Tree::new(&[]);
        let walked = walk(&tree.root().join("missing"));
        assert_eq!((walked.entries.len(), walked.unreadable.len()), (0, 1));
        assert_eq!(walked.unreadable[0].0, PathText::default());
    }

    #[test]
    fn links_are_followed_where_they_are_named_and_nowhere_else() {
        let tree = Tree::new(&[("file", text("x")), ("link", link("file")), ("p", Node::Fifo)]);
        assert!(matches!(open_named(&tree.root()).unwrap(), Named::Folder));
        let Named::File(named) = open_named(&tree.root().join("link")).unwrap() else { panic!() };
        assert_eq!(named.is_executable(), Some(false));
        assert_eq!(named.read().unwrap().bytes(), b"x");
        assert!(open_entry(&tree.root(), &PathText::from("link")).is_err());
        assert!(open_entry(&tree.root(), &PathText::from("p")).is_err());
        assert_eq!(read_link(&tree.root(), &PathText::from("link")).unwrap().bytes(), b"file");
    }

    #[test]
    fn equal_files_are_told_whatever_their_size() {
        let long = "x".repeat(BLOCK_BYTES * 5 / 2);
        let other = format!("{}y", &long[1..]);
        let longer = format!("{long}x");
        for (old, new) in
            [("", ""), ("a", "a"), ("a", "b"), (&long, &long), (&long, &other), (&long, &longer), ("", &long)]
        {
            let tree = Tree::new(&[("old", text(old)), ("new", text(new))]);
            let open = |path| open_entry(&tree.root(), &PathText::from(path)).unwrap();
            let read = read_unless_equal(open("old"), open("new")).unwrap();
            let expected = (old != new)
                .then(|| (Document::new(old.as_bytes().to_vec()), Document::new(new.as_bytes().to_vec())));
            assert!(read == expected, "{} and {} bytes", old.len(), new.len());
        }
    }
}
