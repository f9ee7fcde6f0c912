//! `diff`: two files or two folders, compared.
//!
//! Of folders the paths are listed first; then one pair after the other is read, compared, printed and let go.

use std::collections::HashMap;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::path::PathBuf;

use sha2::Digest;
use sha2::Sha256;

use crate::diff::hunks;
use crate::diff::tree;
use crate::diff::tree::Node;
use crate::diff::tree::NodeKind;
use crate::diff::tree::Pair;
use crate::diff::tree::Profile;
use crate::diff::tree::Reach;
use crate::diff::tree::RenameSearch;
use crate::diff::tree::Wanted;
use crate::disk::walk;
use crate::disk::walk::Entry;
use crate::disk::walk::EntryKind;
use crate::disk::walk::Named;
use crate::disk::walk::OpenFile;
use crate::disk::walk::below;
use crate::render::file_patch;
use crate::render::file_patch::FilePatch;
use crate::render::file_patch::Written;
use crate::render::operation_word;
use crate::report::Card;
use crate::report::CardFile;
use crate::report::CardKind;
use crate::report::CardSchema;
use crate::report::CardStatus;
use crate::report::Change;
use crate::report::EolName;
use crate::report::FileDiff;
use crate::report::Operation;
use crate::report::Recorded;
use crate::report::Source;
use crate::text::Document;
use crate::text::Eol;
use crate::text::PathText;

use super::args::CardOutput;
use super::args::DiffArgs;
use super::args::Globals;
use super::exit::Exit;
use super::fail::Fail;
use super::ordered;
use super::printer::CardPrinter;
use super::printer::Thing;
use super::streams::Console;
use super::streams::read_input;

/// How many unchanged lines a patch shows around a change, unless it is told.
const CONTEXT_LINES: usize = 3;
const FILE_MODE: &str = "100644";
const PROGRAM_MODE: &str = "100755";
const LINK_MODE: &str = "120000";

/// Runs the command.
pub fn run(args: &DiffArgs, globals: &Globals, console: &Console) -> Result<Exit, Fail> {
    let output = args.output.of_version(args.acp_version);
    let output = if console.is_json { output.as_json() } else { output };
    if args.context.is_some() && output != CardOutput::Patch {
        return Err(Fail::usage("--context goes with --output patch: cards always show three lines"));
    }
    let title = format!("{} \u{2192} {}", args.old.display(), args.new.display());
    let drawing = Drawing { output, context_lines: args.context.unwrap_or(CONTEXT_LINES) };
    let printer = CardPrinter::new(console, output, title);
    let mut comparison = Comparison { console, drawing, printer, found: Found::default() };
    match sides(args, &globals.root)? {
        Sides::Folders(old, new) => {
            comparison.printer.paths_start_at(&new);
            comparison.folders(old, new);
        }
        Sides::Files(old, new) => comparison.files(*old, *new)?,
    }
    comparison.finish()
}

/// What is compared.
enum Sides {
    Folders(PathBuf, PathBuf),
    Files(Box<NamedFile>, Box<NamedFile>),
}

/// A file that is named on the command line.
struct NamedFile {
    name: PathText,
    place: PathBuf,
    content: Content,
}

enum Content {
    Stdin(Document),
    Absent,
    Open(OpenFile),
}

/// What one argument names.
enum Side {
    Folder,
    File(NamedFile),
}

/// Opens both sides, each once; a folder beside a file stands for the file of the same name in it.
fn sides(args: &DiffArgs, root: &Path) -> Result<Sides, Fail> {
    if is_stdin(&args.old) && is_stdin(&args.new) {
        return Err(Fail::usage("only one side can be standard input"));
    }
    let (mut old, mut new) = match (side(&args.old, root)?, side(&args.new, root)?) {
        (Side::Folder, Side::Folder) => {
            return Ok(Sides::Folders(place(&args.old, root), place(&args.new, root)));
        }
        (Side::File(old), Side::File(new)) => (old, new),
        (Side::Folder, Side::File(new)) => (in_folder(&args.old, &args.new, root)?, new),
        (Side::File(old), Side::Folder) => (old, in_folder(&args.new, &args.old, root)?),
    };
    // Standard input has no name: the file that it is compared with lends it its own.
    match (&old.content, &new.content) {
        (Content::Stdin(_), Content::Open(_)) => old.name = new.name.clone(),
        (Content::Open(_), Content::Stdin(_)) => new.name = old.name.clone(),
        _ => {}
    }
    Ok(Sides::Files(Box::new(old), Box::new(new)))
}

fn side(path: &Path, root: &Path) -> Result<Side, Fail> {
    let place = place(path, root);
    let content = if is_stdin(path) {
        Content::Stdin(Document::new(read_input(None, "input")?))
    } else if is_absent(path) {
        Content::Absent
    } else {
        match walk::open_named(&place).map_err(|error| unreadable(&place, &error))? {
            Named::File(file) => Content::Open(file),
            Named::Folder => return Ok(Side::Folder),
        }
    };
    let name = PathText::new(path.as_os_str().as_bytes()).normalized();
    Ok(Side::File(NamedFile { name, place, content }))
}

/// Returns where a named path is; the usual root is left out, so that messages name it as the user did.
fn place(path: &Path, root: &Path) -> PathBuf {
    if root == Path::new(".") { path.to_owned() } else { root.join(path) }
}

fn in_folder(folder: &Path, file: &Path, root: &Path) -> Result<NamedFile, Fail> {
    let refused =
        || Fail::usage(format!("can't compare {} with the folder {}", file.display(), folder.display()));
    let name = file.file_name().filter(|_| !is_stdin(file) && !is_absent(file)).ok_or_else(refused)?;
    match side(&folder.join(name), root)? {
        Side::File(file) => Ok(file),
        Side::Folder => Err(refused()),
    }
}

fn unreadable(place: &Path, error: &io::Error) -> Fail {
    Fail::io("read", place, error)
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

fn is_absent(path: &Path) -> bool {
    path == Path::new("/dev/null")
}

/// One side of a file that differs.
struct Version {
    path: PathText,
    mode: &'static str,
    document: Document,
}

impl Version {
    fn in_patch(&self) -> file_patch::Version<'_> {
        file_patch::Version { path: self.path.bytes(), mode: self.mode, document: &self.document }
    }
}

/// A folder that is compared with another.
struct Tree {
    top: PathBuf,
    nodes: Vec<Node>,
    modes: Vec<&'static str>,
}

impl Tree {
    /// Drops what is hidden on one of the sides: it is neither there nor gone.
    fn leave_out(&mut self, hidden: &[PathText]) {
        if hidden.is_empty() {
            return;
        }
        let is_below = |path: &[u8], folder: &[u8]| match path.strip_prefix(folder) {
            Some(rest) => folder.is_empty() || rest.is_empty() || rest.starts_with(b"/"),
            None => false,
        };
        let is_kept = |node: &Node| !hidden.iter().any(|folder| is_below(node.path.bytes(), folder.bytes()));
        let (nodes, modes) = (std::mem::take(&mut self.nodes), std::mem::take(&mut self.modes));
        (self.nodes, self.modes) = nodes.into_iter().zip(modes).filter(|(node, _)| is_kept(node)).unzip();
    }

    /// Opens a file of the tree and reads it.
    fn read(&self, index: usize) -> io::Result<Document> {
        let path = &self.nodes[index].path;
        match self.nodes[index].kind {
            NodeKind::File(_) => walk::open_entry(&self.top, path)?.read(),
            NodeKind::Link => walk::read_link(&self.top, path),
        }
    }

    fn open(&self, index: usize) -> Result<OpenFile, Fail> {
        walk::open_entry(&self.top, &self.nodes[index].path).map_err(|error| self.unreadable(index, &error))
    }

    fn version(&self, index: usize, document: Document) -> Version {
        Version { path: self.nodes[index].path.clone(), mode: self.modes[index], document }
    }

    fn read_version(&self, index: usize) -> Result<Version, Fail> {
        let document = self.read(index).map_err(|error| self.unreadable(index, &error))?;
        Ok(self.version(index, document))
    }

    fn unreadable(&self, index: usize, error: &io::Error) -> Fail {
        unreadable(&below(&self.top, &self.nodes[index].path), error)
    }
}

/// Two folders, and which of their files are compared with which.
struct Folders {
    old: Tree,
    new: Tree,
    pairs: Vec<Pair>,
}

impl Folders {
    /// Reads the files of a pair; returns them if they differ.
    fn differing(&self, index: usize) -> Result<Option<Differing>, Fail> {
        let (old, new) = (&self.old, &self.new);
        let (before, after, renamed) = match self.pairs[index] {
            Pair::Deleted(index) => (Some(old.read_version(index)?), None, None),
            Pair::Created(index) => (None, Some(new.read_version(index)?), None),
            Pair::Both(left, right) if old.nodes[left].kind == NodeKind::Link => {
                let (before, after) = (old.read_version(left)?, new.read_version(right)?);
                if before.document == after.document {
                    return Ok(None);
                }
                (Some(before), Some(after), None)
            }
            Pair::Both(left, right) | Pair::Renamed(left, right, _) => {
                let files = (old.open(left)?, new.open(right)?);
                let read = walk::read_unless_equal(files.0, files.1).map_err(|(is_new, error)| {
                    if is_new { new.unreadable(right, &error) } else { old.unreadable(left, &error) }
                })?;
                let renamed = match self.pairs[index] {
                    Pair::Renamed(_, _, percent) => Some(percent),
                    Pair::Deleted(_) | Pair::Created(_) | Pair::Both(..) => None,
                };
                if read.is_none() && renamed.is_none() && old.modes[left] == new.modes[right] {
                    return Ok(None);
                }
                let (before, after) = read.unwrap_or_else(|| (nothing(), nothing()));
                (Some(old.version(left, before)), Some(new.version(right, after)), renamed)
            }
        };
        Ok(Some(Differing { old: before, new: after, renamed }))
    }
}

/// A file that differs.
struct Differing {
    old: Option<Version>,
    new: Option<Version>,
    /// How much of it stayed the same, in percent, if it was renamed.
    renamed: Option<u8>,
}

/// What there is to say of a file beside its card.
enum Told {
    Same,
    Differs,
    /// It differs, and this is its part of the patch; and what has to be said of that.
    Patch(Vec<u8>, Option<String>),
    /// It can't be read.
    Skipped(Fail),
}

fn thing(told: Told, told_bytes: usize, card: Option<Card>) -> Thing<Told> {
    Thing { told, told_bytes, card }
}

/// How files that differ are drawn.
#[derive(Clone, Copy)]
struct Drawing {
    output: CardOutput,
    context_lines: usize,
}

impl Drawing {
    fn of(self, differing: &Differing) -> Thing<Told> {
        let (old, new) = (differing.old.as_ref(), differing.new.as_ref());
        if self.output != CardOutput::Patch {
            let card = card(old, new, differing.renamed);
            // All files are rows of one table.
            let is_table = self.output == CardOutput::Stat;
            let card = if is_table { card_of(String::new(), card.files, Vec::new(), None) } else { card };
            return thing(Told::Differs, 0, Some(card));
        }
        let (old, new) = (old.map(Version::in_patch), new.map(Version::in_patch));
        let renamed = differing.renamed;
        let patch = FilePatch { old, new, renamed, context_lines: self.context_lines };
        let mut out = Vec::new();
        // Memory takes all of it.
        let written = file_patch::file(&mut out, &patch).unwrap_or(Written::Fully);
        let path = new.or(old).map_or(&b""[..], |version| version.path);
        let path = String::from_utf8_lossy(path);
        let note = match written {
            Written::Fully => None,
            Written::Coarsely => Some(format!("{path}: the patch is right but not minimal")),
            Written::Not => Some(format!("{path}: not in the patch, which can't name it")),
        };
        let bytes = out.len();
        thing(Told::Patch(out, note), bytes, None)
    }
}

/// What was found so far.
#[derive(Default)]
struct Found {
    is_different: bool,
    /// Whether something could not be read.
    is_incomplete: bool,
}

impl Found {
    /// Takes in, and prints, what there is to say of a file beside its card.
    fn tell(&mut self, told: Told, printer: &mut CardPrinter, console: &Console) {
        self.is_different |= !matches!(told, Told::Same | Told::Skipped(_));
        match told {
            Told::Same | Told::Differs => {}
            Told::Patch(patch, note) => {
                printer.raw(|out| out.write_all(&patch));
                note.iter().for_each(|note| console.note(note));
            }
            // The rest is compared all the same.
            Told::Skipped(fail) => {
                console.fail(&fail);
                self.is_incomplete = true;
            }
        }
    }
}

/// A comparison under way.
struct Comparison<'a> {
    console: &'a Console,
    drawing: Drawing,
    printer: CardPrinter,
    found: Found,
}

impl Comparison<'_> {
    fn finish(self) -> Result<Exit, Fail> {
        self.printer.finish()?;
        Ok(match (self.found.is_incomplete, self.found.is_different) {
            (true, _) => Exit::Trouble,
            (false, true) => Exit::Differs,
            (false, false) => Exit::Done,
        })
    }

    /// Says that something can't be read; the rest is compared all the same.
    fn skip(&mut self, fail: Fail) {
        self.found.tell(Told::Skipped(fail), &mut self.printer, self.console);
    }

    fn files(&mut self, old: NamedFile, new: NamedFile) -> Result<(), Fail> {
        let mode = |content: &Content| match content {
            Content::Open(file) => file.is_executable().map(mode_of),
            Content::Stdin(_) | Content::Absent => None,
        };
        let modes = (mode(&old.content), mode(&new.content));
        // A pipe has no mode that means anything: it takes that of the other side.
        let old_mode = modes.0.or(modes.1).unwrap_or(FILE_MODE);
        let new_mode = modes.1.or(modes.0).unwrap_or(FILE_MODE);
        let places = (old.place, new.place);
        let whole = |content: Content, place: &Path| match content {
            Content::Open(file) => file.read().map(Some).map_err(|error| unreadable(place, &error)),
            Content::Stdin(document) => Ok(Some(document)),
            Content::Absent => Ok(None),
        };
        let (before, after) = match (old.content, new.content) {
            (Content::Open(before), Content::Open(after)) => {
                let read = walk::read_unless_equal(before, after).map_err(|(is_new, error)| {
                    unreadable(if is_new { &places.1 } else { &places.0 }, &error)
                })?;
                match read {
                    Some((before, after)) => (Some(before), Some(after)),
                    None if old_mode == new_mode => return Ok(()),
                    None => (Some(nothing()), Some(nothing())),
                }
            }
            (before, after) => (whole(before, &places.0)?, whole(after, &places.1)?),
        };
        if before == after && old_mode == new_mode {
            return Ok(());
        }
        self.found.is_different = true;
        if self.printer.is_closed() {
            return Ok(());
        }
        let version = |path, mode| move |document| Version { path, mode, document };
        let old = before.map(version(old.name, old_mode));
        let new = after.map(version(new.name, new_mode));
        let Thing { told, card, .. } = self.drawing.of(&Differing { old, new, renamed: None });
        self.found.tell(told, &mut self.printer, self.console);
        card.into_iter().for_each(|card| self.printer.card(card));
        Ok(())
    }

    fn folders(&mut self, old: PathBuf, new: PathBuf) {
        let mut hidden = Vec::new();
        let (mut old, mut new) = (self.list(old, &mut hidden), self.list(new, &mut hidden));
        old.leave_out(&hidden);
        new.leave_out(&hidden);
        let pairs = tree::pair(&old.nodes, &new.nodes);
        if self.console.is_quiet && pairs.iter().any(|pair| !matches!(pair, Pair::Both(..))) {
            self.found.is_different = true;
            return;
        }
        let pairs = self.with_renames(&old, &new, pairs);
        let folders = Folders { old, new, pairs };
        let count = folders.pairs.len();
        if self.console.is_quiet {
            // Nothing is drawn: the first file that differs is the answer.
            for index in 0..count {
                match folders.differing(index) {
                    Ok(None) => {}
                    Ok(Some(_)) => return self.found.is_different = true,
                    Err(fail) => self.skip(fail),
                }
            }
            return;
        }
        let (drawing, found, console) = (self.drawing, &mut self.found, self.console);
        let make = move |index| match folders.differing(index) {
            Ok(None) => thing(Told::Same, 0, None),
            Ok(Some(differing)) => drawing.of(&differing),
            Err(fail) => thing(Told::Skipped(fail), 0, None),
        };
        self.printer.all(count, make, |printer, told| found.tell(told, printer, console));
    }

    /// Lists a folder; adds what can't be looked at to `hidden`.
    fn list(&mut self, top: PathBuf, hidden: &mut Vec<PathText>) -> Tree {
        let walked = walk::walk(&top);
        for (path, error) in walked.unreadable {
            self.skip(unreadable(&below(&top, &path), &error));
            hidden.push(path);
        }
        let (mut nodes, mut modes) = (Vec::new(), Vec::new());
        for Entry { path, kind } in walked.entries {
            let (kind, mode) = match kind {
                EntryKind::File { size_bytes, is_executable } => {
                    (NodeKind::File(size_bytes), mode_of(is_executable))
                }
                EntryKind::Link => (NodeKind::Link, LINK_MODE),
                EntryKind::Other(what) => {
                    self.console.note(&format!("{}: {what}, not compared", below(&top, &path).display()));
                    continue;
                }
            };
            nodes.push(Node { path, kind });
            modes.push(mode);
        }
        Tree { top, nodes, modes }
    }

    /// Finds the renamed files; what can't be read now is reported when it is its turn.
    fn with_renames(&mut self, old: &Tree, new: &Tree, pairs: Vec<Pair>) -> Vec<Pair> {
        let mut search = RenameSearch::new(&old.nodes, &new.nodes, &pairs);
        let read = |(side, index): Wanted| match side {
            tree::Side::Old => old.read(index).ok(),
            tree::Side::New => new.read(index).ok(),
        };
        let digest = |wanted| read(wanted).map(|document| (wanted, Sha256::digest(document.bytes())));
        let digests: HashMap<Wanted, _> = search.wants_digests().into_iter().filter_map(digest).collect();
        search.take_identical(&digests);
        let (reach, wanted) = search.wants_profiles();
        let left_out = match reach {
            Reach::All => None,
            Reach::SameName => Some("changed files count as renamed only under the same last name"),
            Reach::None => Some("only unchanged files count as renamed"),
        };
        if let Some(left_out) = left_out {
            self.console.note(&format!("too many files are on one side only: {left_out}"));
        }
        let profile = |wanted| read(wanted).map(|document| (wanted, Profile::of(document.bytes())));
        search.take_similar(&wanted.into_iter().filter_map(profile).collect());
        search.finish(&pairs)
    }
}

fn mode_of(is_executable: bool) -> &'static str {
    if is_executable { PROGRAM_MODE } else { FILE_MODE }
}

/// Stands for both contents of a file whose content stays the same.
fn nothing() -> Document {
    Document::new(Vec::new())
}

/// Draws one file that differs as a card.
fn card(old: Option<&Version>, new: Option<&Version>, renamed: Option<u8>) -> Card {
    let shown = |version: Option<&Version>| version.map(|version| version.path.shown().into_owned());
    let (old_path, new_path) = (shown(old), shown(new));
    let path = new_path.or_else(|| old_path.clone()).unwrap_or_default();
    let from = old_path.filter(|old_path| *old_path != path);
    let operation = match (old, new, renamed) {
        (None, _, _) => Operation::Create,
        (_, None, _) => Operation::Delete,
        (_, _, Some(_)) => Operation::Rename,
        (_, _, None) => Operation::Update,
    };
    let title = match &from {
        Some(from) if operation == Operation::Update => format!("compare {from} with {path}"),
        _ => format!("{} {path}", operation_word(operation)),
    };
    let documents = [old, new].map(|version| version.map(|version| &version.document));
    // Of two texts whose encoding nothing tells, the one is read as the other.
    let alike = documents[0].zip(documents[1]).map(|(old, new)| new.clone().read_like(old));
    let documents = [documents[0], alike.as_ref().or(documents[1])];
    let is_binary = documents.iter().flatten().any(|document| document.is_binary());
    let shown = documents.map(|document| document.filter(|_| !is_binary).map(Document::decoded));
    let diffs = hunks::compare(&path, shown[0], shown[1]);
    let counts = ordered::crew().map(&diffs, |diff| diff.new_text.len(), hunks::counts);
    let counts = counts.into_iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let mode = |version: Option<&Version>| version.map(|version| version.mode.to_owned());
    let eol = |document: Option<&Document>| document.map(eol_name);
    let file = CardFile {
        path,
        operation,
        from,
        status: None,
        added: (!is_binary).then_some(counts.0),
        removed: (!is_binary).then_some(counts.1),
        // Contents that stay the same are not read.
        eol: (!is_binary && documents[0] != documents[1])
            .then(|| Change { before: eol(documents[0]), after: eol(documents[1]) }),
        encoding: encodings(documents).filter(|_| !is_binary),
        mode: Some(Change { before: mode(old), after: mode(new) }),
        recorded: Recorded::Texts,
    };
    let is_link = [old, new].iter().flatten().any(|version| version.mode == LINK_MODE);
    let message = match (is_binary, is_link) {
        (true, _) => Some(binary_message(documents)),
        (false, true) => Some("symbolic link".to_owned()),
        (false, false) => None,
    };
    card_of(title, vec![file], diffs, message)
}

/// Returns the encodings of the two sides, if one of them is not UTF-8.
fn encodings(documents: [Option<&Document>; 2]) -> Option<Change<String>> {
    let name = |document: Option<&Document>| document.map(|document| document.encoding().name());
    let is_utf8 = documents.iter().flatten().all(|document| document.is_utf8());
    (!is_utf8).then(|| Change { before: name(documents[0]), after: name(documents[1]) })
}

fn binary_message(documents: [Option<&Document>; 2]) -> String {
    let size = |document: &Document| match document.bytes().len() {
        1 => "1 byte".to_owned(),
        bytes => format!("{bytes} bytes"),
    };
    match documents {
        [Some(old), Some(new)] => format!("binary, not shown: {} before, {} after", size(old), size(new)),
        [old, new] => {
            format!("binary, not shown: {}", old.or(new).map_or_else(String::new, size))
        }
    }
}

fn card_of(title: String, files: Vec<CardFile>, diffs: Vec<FileDiff>, message: Option<String>) -> Card {
    Card {
        schema: CardSchema::V1,
        card: CardKind::Diff,
        title,
        status: CardStatus::Unknown,
        source: Source { format: "files".to_owned(), line: 1, tool: "diff".to_owned(), ..Source::default() },
        files,
        diffs,
        requested: Vec::new(),
        message,
        error: None,
        compared: None,
    }
}

fn eol_name(document: &Document) -> EolName {
    match document.eol_counts().eol() {
        Eol::Lf => EolName::Lf,
        Eol::Crlf => EolName::Crlf,
        Eol::Mixed => EolName::Mixed,
        Eol::None => EolName::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_on_one_side_is_on_neither() {
        let left = |hidden: &[&str]| -> Vec<String> {
            let paths = ["a", "a.x", "a/b", "a/b/c", "d"];
            let node = |path: &&str| Node { path: PathText::from(*path), kind: NodeKind::Link };
            let nodes = paths.iter().map(node).collect();
            let mut tree = Tree { top: PathBuf::new(), nodes, modes: vec![LINK_MODE; paths.len()] };
            tree.leave_out(&hidden.iter().map(|path| PathText::from(*path)).collect::<Vec<_>>());
            assert_eq!(tree.nodes.len(), tree.modes.len());
            tree.nodes.iter().map(|node| node.path.shown().into_owned()).collect()
        };
        assert_eq!(left(&[]).len(), 5);
        assert_eq!(left(&["a"]), ["a.x", "d"]);
        assert_eq!(left(&["a/b", "d"]), ["a", "a.x"]);
        assert_eq!(left(&[""]), [""; 0]);
    }
}
