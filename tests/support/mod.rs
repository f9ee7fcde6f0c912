//! What the tests of the binary have in common: trees on the disk, and a command with a cleared environment.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Output;
use std::process::Stdio;

use tempfile::TempDir;

/// What stands at one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A file's bytes.
    File(Vec<u8>),
    /// Where a link leads.
    Link(PathBuf),
}

/// A tree: path to entry, folders left out.
pub type Tree = BTreeMap<String, Entry>;

/// Reads a tree from the disk; `.keep` files only keep folders in the repository.
pub fn read_tree(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let kind = path.symlink_metadata().expect("its kind");
            let name = path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_symlink() {
                tree.insert(name, Entry::Link(fs::read_link(&path).expect("a link")));
            } else if !name.ends_with(".keep") {
                tree.insert(name, Entry::File(fs::read(&path).expect("a file")));
            }
        }
    }
    tree
}

/// Writes a tree to the disk.
pub fn write_tree(root: &Path, tree: &Tree) {
    for (name, entry) in tree {
        let path = root.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder is made");
        match entry {
            Entry::File(bytes) => fs::write(&path, bytes).expect("a file is written"),
            Entry::Link(target) => std::os::unix::fs::symlink(target, &path).expect("a link is made"),
        }
    }
}

/// The permission bits of a file.
pub fn mode(path: &Path) -> u32 {
    path.metadata().expect("a file").permissions().mode() & 0o7777
}

/// Sets the permission bits of a file.
pub fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode is set");
}

/// A folder to run in, and beside it one for everything else.
pub struct Place {
    top: TempDir,
}

impl Place {
    /// Makes both folders.
    pub fn new() -> Self {
        let top = TempDir::new().expect("a temporary folder");
        for name in ["root", "home", "tmp"] {
            fs::create_dir(top.path().join(name)).expect("a folder is made");
        }
        Place { top }
    }

    /// A place with these files.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let place = Place::new();
        let tree =
            files.iter().map(|(name, text)| ((*name).to_owned(), Entry::File(text.as_bytes().to_vec())));
        write_tree(&place.root(), &tree.collect());
        place
    }

    /// The folder that commands run in.
    pub fn root(&self) -> PathBuf {
        self.top.path().join("root")
    }

    /// A path beside the root.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.top.path().join(name)
    }

    /// What is there now.
    pub fn tree(&self) -> Tree {
        read_tree(&self.root())
    }

    /// The text of a file.
    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.root().join(name)).expect("a text file")
    }

    /// The command with a cleared environment, run in the root.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hunkwise"));
        self.clear(&mut command);
        command.args(args);
        command
    }

    /// Clears the environment of a command and runs it in the root.
    pub fn clear(&self, command: &mut Command) {
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.top.path().join("home"))
            .env("TMPDIR", self.top.path().join("tmp"))
            .env("HUNKWISE_STATE_DIR", self.top.path().join("home/state"))
            .env("COLUMNS", "80")
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .current_dir(self.root());
    }

    /// Runs the command with these bytes on standard input.
    pub fn run(&self, args: &[&str], stdin: &[u8]) -> Run {
        output(self.command(args), stdin)
    }
}

/// Runs a command with these bytes on standard input.
pub fn output(mut command: Command, stdin: &[u8]) -> Run {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let done = assert_cmd::Command::from_std(command).write_stdin(stdin).output().expect("it runs");
    Run::from(done)
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The exit status.
    pub status: i32,
    /// What it printed.
    pub stdout: String,
    /// What else it said.
    pub stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8 is printed");
        let run = Run {
            status: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        };
        assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
        run
    }
}

impl Run {
    /// Asserts the exit status; shows all if it is another.
    #[track_caller]
    pub fn exits(self, status: i32) -> Self {
        assert_eq!(self.status, status, "{self:#?}");
        self
    }

    /// The lines of standard output as JSON.
    pub fn json_lines(&self) -> Vec<serde_json::Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    }
}
