//! Trees of files for the tests of this room: made from a table.

#![expect(clippy::disallowed_methods, reason = "disk/ is the room that opens files")]

use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
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
        let tree = Tree { top: tempfile::tempdir().unwrap() };
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
}
