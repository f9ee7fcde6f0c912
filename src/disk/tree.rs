//! Trees of files for the tests of this room: made from a table, and read back as one value.

#![expect(clippy::disallowed_methods, reason = "disk/ is the room that opens files")]

use std::collections::BTreeMap;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::path::PathBuf;

/// What stands at one path of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    /// A file's bytes and permission bits.
    File(Vec<u8>, u32),
    /// Where a link leads.
    Link(String),
    /// A folder.
    Folder,
    /// A pipe.
    Fifo,
}

/// Makes a temporary folder, in memory where the system has such a place: thousands of small trees are made and synced.
pub(crate) fn temporary_folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Returns a file with the usual mode.
pub(crate) fn text(content: &str) -> Node {
    Node::File(content.into(), 0o644)
}

/// Returns a file with its own mode.
pub(crate) fn with_mode(content: &str, mode: u32) -> Node {
    Node::File(content.into(), mode)
}

/// Returns a link.
pub(crate) fn link(target: &str) -> Node {
    Node::Link(target.into())
}

/// A temporary folder with a root in it, so that a test can look at what lies beside the root.
pub(crate) struct Tree {
    top: tempfile::TempDir,
}

impl Tree {
    /// Makes a tree; paths are relative to the root.
    pub(crate) fn new(nodes: &[(&str, Node)]) -> Self {
        // Expected modes are those of the usual umask; every test sets the same one.
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
        let tree = Tree { top: temporary_folder() };
        std::fs::create_dir(tree.root()).unwrap();
        for (path, node) in nodes {
            tree.put(path, node);
        }
        tree
    }

    /// Returns the root's path.
    pub(crate) fn root(&self) -> PathBuf {
        self.top.path().join("root")
    }

    /// Returns the canonical path of the folder that the root lies in.
    pub(crate) fn top(&self) -> PathBuf {
        self.top.path().canonicalize().unwrap()
    }

    /// Makes one node, and the folders above it; what is there is replaced.
    pub(crate) fn put(&self, path: &str, node: &Node) {
        let at = self.root().join(path);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        match node {
            Node::File(content, mode) => {
                let _ = std::fs::remove_file(&at);
                std::fs::write(&at, content).unwrap();
                std::fs::set_permissions(&at, PermissionsExt::from_mode(*mode)).unwrap();
            }
            Node::Link(target) => symlink(target, &at).unwrap(),
            Node::Folder => std::fs::create_dir(&at).unwrap(),
            Node::Fifo => {
                let mode = rustix::fs::Mode::from_raw_mode(0o600);
                rustix::fs::mknodat(rustix::fs::CWD, &at, rustix::fs::FileType::Fifo, mode, 0).unwrap();
            }
        }
    }

    /// Reads everything that is there, beside the root too; of the root's files the paths are relative to it.
    pub(crate) fn nodes(&self) -> BTreeMap<String, Node> {
        let mut nodes = BTreeMap::new();
        let mut pending = vec![self.top.path().to_owned()];
        while let Some(folder) = pending.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let at = entry.unwrap().path();
                let metadata = at.symlink_metadata().unwrap();
                let node = if metadata.is_symlink() {
                    Node::Link(at.read_link().unwrap().to_string_lossy().into_owned())
                } else if metadata.is_dir() {
                    pending.push(at.clone());
                    Node::Folder
                } else if metadata.file_type().is_fifo() {
                    Node::Fifo
                } else {
                    Node::File(std::fs::read(&at).unwrap(), metadata.mode() & 0o7777)
                };
                if at != self.root() {
                    nodes.insert(self.named(&at), node);
                }
            }
        }
        nodes
    }

    fn named(&self, at: &Path) -> String {
        let path = at
            .strip_prefix(self.root())
            .map_or_else(|_| Path::new("..").join(at.strip_prefix(self.top.path()).unwrap()), Path::to_owned);
        path.to_string_lossy().into_owned()
    }
}

/// Returns a tree as [`Tree::nodes`] gives it, with the folders that its paths need.
pub(crate) fn nodes(list: &[(&str, Node)]) -> BTreeMap<String, Node> {
    let mut nodes = BTreeMap::new();
    for (path, node) in list {
        let mut folder = Path::new(path).parent();
        while let Some(above) = folder.filter(|above| !matches!(above.to_str(), Some("" | ".."))) {
            nodes.insert(above.to_string_lossy().into_owned(), Node::Folder);
            folder = above.parent();
        }
        nodes.insert((*path).to_owned(), node.clone());
    }
    nodes
}
