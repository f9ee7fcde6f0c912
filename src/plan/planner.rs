//! Plans the edits of a patch, one after the other, over files that it is given.
//!
//! The planner opens nothing: it says which paths it [`wants`](Planner::wants) and is [given](Planner::give) what
//! stands there, each once. Every edit sees the edits before it. An edit that does not fit changes nothing and is
//! reported; the others are still planned, so that every problem is known.

mod inverse;

pub use inverse::recorded_path;
pub use inverse::recorded_splices;

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;
use sha2::Digest;
use sha2::Sha256;

use crate::patch::Body;
use crate::patch::Content;
use crate::patch::Existing;
use crate::patch::FileEdit;
use crate::patch::Hunk;
use crate::patch::LineKind;
use crate::report::Code;
use crate::report::HunkMatch;
use crate::report::Operation;
use crate::report::Placement;
use crate::report::Problem;
use crate::report::Rung;
use crate::text::Charset;
use crate::text::Document;
use crate::text::Encoding;
use crate::text::PathText;
use crate::text::Splices;
use crate::text::document::UTF8_BOM;
use crate::text::document::with_lf;

use super::After;
use super::FileState;
use super::FoundFile;
use super::Given;
use super::Plan;
use super::PlannedFile;
use super::encode;
use super::hunks;
use super::links;
use super::state::Finds;

/// How a patch is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The most lenient rung.
    pub most_lenient: Rung,
    /// Of several places, the first is taken.
    pub takes_first: bool,
    /// What is done already is passed over.
    pub skips_applied: bool,
    /// An Add or a Move may replace a file.
    pub overwrites: bool,
    /// Lines that are added with nothing that tells where go to the end of the file.
    pub appends: bool,
    /// A file that an update leaves without final newline gets one.
    pub adds_final_newline: bool,
    /// The encoding of the files, whatever their bytes look like.
    pub encoding: Option<Charset>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            most_lenient: Rung::Context,
            takes_first: false,
            skips_applied: false,
            overwrites: false,
            appends: false,
            adds_final_newline: false,
            encoding: None,
        }
    }
}

/// A path that the planner needs to know.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Want {
    /// The path as the patch writes it.
    pub path: PathText,
    /// Whether a link at its end is followed: content goes through links, delete and rename act on them.
    pub follows_link: bool,
    /// Whether a link at its end stands for itself, as a file whose content is its target: the patch makes, changes,
    /// moves or deletes it as a link. Whatever else stands there is looked at as usual.
    pub is_link: bool,
}

/// One planned edit, seen by itself: what it does to the state that the edits before it left.
#[derive(Debug, Clone)]
pub struct PlannedEdit {
    /// What it does.
    pub operation: Operation,
    /// The file before; `None` if there is none.
    pub before: Option<Arc<Document>>,
    /// The file after; `None` if it goes. Replacements are relative to `before`.
    pub after: Option<After>,
}

/// Plans edits over the files that it is given.
#[derive(Debug)]
pub struct Planner {
    options: Options,
    names: HashMap<Want, usize, FixedState>,
    entries: Vec<Entry>,
    by_real: HashMap<PathText, usize, FixedState>,
    /// The call that edits belong to, where several share the planner.
    call: Option<usize>,
    /// What the calls that are not settled changed, oldest first.
    unsettled: Vec<Unsettled>,
    /// Whether a link was given that is taken for itself, or is made.
    has_links: bool,
}

/// What stood at an entry before a call first changed it.
#[derive(Debug)]
struct Unsettled {
    call: usize,
    index: usize,
    now: Now,
    touched_by: Option<usize>,
}

/// One file, by its real path.
#[derive(Debug)]
struct Entry {
    real: PathText,
    given: FileState,
    /// A symbolic link stands there; what was given is the file that it leads to, unless its mode says that it is the link.
    is_link: bool,
    now: Now,
    finds: Finds,
    /// 1-based position of the first edit that changed it.
    touched_by: Option<usize>,
}

/// What stands at a real path after the edits so far.
#[derive(Debug, Clone)]
enum Now {
    AsGiven,
    Gone,
    Content(Version),
}

/// A file's content after the edits so far.
#[derive(Debug, Clone, Default)]
struct Version {
    /// The given file that it came from, by entry; `None` if it is all new.
    origin: Option<usize>,
    /// What was replaced in the origin.
    splices: Splices,
    /// The content, once an edit needed it whole.
    document: Option<Arc<Document>>,
    /// The mode that the file gets; `None` keeps that of the origin.
    mode: Option<u32>,
    /// The origin stays where it is.
    is_copy: bool,
}

impl Planner {
    /// Returns a planner that knows no file.
    pub fn new(options: Options) -> Self {
        Planner {
            options,
            names: HashMap::with_hasher(FixedState::default()),
            entries: Vec::new(),
            by_real: HashMap::with_hasher(FixedState::default()),
            call: None,
            unsettled: Vec::new(),
            has_links: false,
        }
    }

    /// Says which call the edits belong to that are planned from here on, until [`Planner::settle`] ends it.
    pub fn enter(&mut self, call: usize) {
        self.call = Some(call);
    }

    /// Ends a call: its edits stay for the calls after it, or are taken back as if it had never been made.
    ///
    /// A file that another call changed since keeps both changes: they can't be told apart any more.
    pub fn settle(&mut self, call: usize, keeps: bool) {
        self.call = None;
        let mut at = self.unsettled.len();
        while at > 0 {
            at -= 1;
            if self.unsettled[at].call != call {
                continue;
            }
            let Unsettled { index, now, touched_by, .. } = self.unsettled.remove(at);
            if keeps {
                // An earlier call's way back would take this change along.
                let before = self.unsettled.len();
                let mut place = 0;
                self.unsettled.retain(|other| {
                    place += 1;
                    place > at || other.index != index
                });
                at -= before - self.unsettled.len();
            } else if !self.unsettled[at..].iter().any(|other| other.index == index) {
                self.entries[index].now = now;
                self.entries[index].touched_by = touched_by;
            }
        }
    }

    /// Returns the paths that planning this edit needs and that were not given yet.
    pub fn wants(&self, edit: &FileEdit) -> Vec<Want> {
        let source = self.source_want(edit);
        let target = edit.move_to.as_ref().map(|path| self.target_want(edit, path));
        let lead = self.new_link(edit).map(|(_, _, lead)| self.want(&lead, true));
        [Some(source), target, lead]
            .into_iter()
            .flatten()
            .filter(|want| !self.names.contains_key(want))
            .collect()
    }

    fn source_want(&self, edit: &FileEdit) -> Want {
        if links::is_of_link(edit) || links::only_moves(edit) || links::takes_copy_back(edit) {
            return Want { path: edit.path.clone(), follows_link: false, is_link: true };
        }
        let follows_link = match edit.body {
            Body::Content(_) => true,
            Body::Hunks(_) => source_follows_link(edit),
            Body::Delete(_) => false,
        };
        self.want(&edit.path, follows_link)
    }

    fn target_want(&self, edit: &FileEdit, path: &PathText) -> Want {
        match links::takes_copy_back(edit) {
            true => Want { path: path.clone(), follows_link: false, is_link: true },
            false => self.want(path, false),
        }
    }

    /// Returns how a path is looked at: as a link from the first edit on that takes it for one.
    fn want(&self, path: &PathText, follows_link: bool) -> Want {
        let link = Want { path: path.clone(), follows_link: false, is_link: true };
        if self.names.contains_key(&link) { link } else { Want { follows_link, is_link: false, ..link } }
    }

    /// Returns the link that an edit leaves, with its target and where that leads, as far as it is known by now.
    fn new_link(&self, edit: &FileEdit) -> Option<(PathText, Vec<u8>, PathText)> {
        let target = if links::is_of_link(edit) && !links::only_moves(edit) {
            links::new_target(edit)?
        } else if links::only_moves(edit) {
            let index = *self.names.get(&self.source_want(edit))?;
            self.link_target(index)?
        } else {
            return None;
        };
        let link = edit.move_to.as_ref().unwrap_or(&edit.path);
        Some((link.clone(), target.clone(), links::lead(link, &target)))
    }

    /// Returns the target of what stands at an entry now, if that is a link.
    fn link_target(&self, index: usize) -> Option<Vec<u8>> {
        if !self.is_link(index) {
            return None;
        }
        match &self.entries[index].now {
            Now::Content(Version { document: Some(document), .. }) => Some(document.bytes().to_vec()),
            Now::Content(Version { origin, splices, .. }) => {
                Some(splices.apply(self.found((*origin)?)?.document.bytes()))
            }
            Now::AsGiven => Some(self.found(index)?.document.bytes().to_vec()),
            Now::Gone => None,
        }
    }

    /// Tells whether a link stands at an entry now that is taken for itself.
    fn is_link(&self, index: usize) -> bool {
        let given = |index: usize| self.found(index).map(|found| found.mode);
        let mode = match &self.entries[index].now {
            Now::AsGiven => given(index),
            Now::Gone => None,
            Now::Content(version) => version.mode.or(version.origin.and_then(given)),
        };
        mode.is_some_and(links::is_link)
    }

    /// Refuses an edit of a link that is none, one that would go through a link of the same patch, and one that would
    /// leave a link that leads out of the root.
    fn expect_links(&self, edit: &FileEdit) -> Result<(), Problem> {
        links::has_plain_modes(edit)?;
        let index = self.names.get(&self.source_want(edit)).copied();
        let paths = [Some(&edit.path), edit.move_to.as_ref()].into_iter().flatten();
        for path in paths.filter(|_| self.has_links) {
            let written = path.normalized();
            let link = self.entries.iter().enumerate().find(|(index, entry)| {
                let was_link = self.found(*index).is_some_and(|found| links::is_link(found.mode));
                let is_touched = !matches!(entry.now, Now::AsGiven);
                is_touched
                    && (was_link || self.is_link(*index))
                    && links::is_below(written.bytes(), entry.real.bytes())
            });
            if let Some((_, link)) = link {
                return Err(links::under_link(path, &link.real));
            }
        }
        if let Some(index) = index {
            let stands = self.expect_file(index, &edit.path).is_ok();
            let changes =
                !links::only_moves(edit) && !matches!(&edit.body, Body::Delete(hunks) if hunks.is_empty());
            let is_wrong = stands && changes && links::is_of_link(edit) != self.is_link(index);
            if is_wrong && !matches!(edit.body, Body::Content(_)) {
                let (is, says) =
                    if self.is_link(index) { ("a link", "file") } else { ("no symbolic link", "link") };
                let message = format!("{} is {is}, but the patch changes it as a {says}", edit.path.shown());
                return Err(Problem::new(Code::NotAFile, message).with_hint("read the folder again"));
            }
        }
        let Some((link, target, lead)) = self.new_link(edit) else { return Ok(()) };
        links::can_be_target(&link, &target)?;
        let want = self.want(&lead, true);
        let found = self.names.get(&want).map(|&index| &self.entries[index].given);
        match found {
            Some(FileState::Refused(problem)) => links::may_lead_there(&link, &target, problem),
            Some(FileState::Absent | FileState::File(_) | FileState::Other(_)) => Ok(()),
            None => Err(Problem::new(Code::Io, format!("{} was not looked at", lead.shown()))),
        }
    }

    /// Gives itself all that it wants to know for an edit; `answer` says what stands at a path.
    pub fn fill(&mut self, edit: &FileEdit, answer: &mut dyn FnMut(&Want) -> Given) {
        // Where a link leads is wanted once it is known which one it is.
        for _ in 0..2 {
            for want in self.wants(edit) {
                let given = answer(&want);
                self.give(want, given);
            }
        }
    }

    /// Takes what stands at a wanted path. Two names of one file become one.
    pub fn give(&mut self, want: Want, given: Given) {
        let real = given.real.normalized();
        let is_link = given.link.is_some() && !want.follows_link;
        self.has_links |= matches!(&given.state, FileState::File(found) if links::is_link(found.mode));
        let mut state = given.state;
        // The target of a link is bytes, whatever the encoding of files.
        if let (Some(charset), FileState::File(file)) = (self.options.encoding, &mut state)
            && !links::is_link(file.mode)
            && let Ok(document) = file.document.read_as(charset)
        {
            file.document = Arc::new(document);
        }
        let index = *self.by_real.entry(real.clone()).or_insert_with(|| {
            self.entries.push(Entry {
                real,
                given: state,
                is_link,
                now: Now::AsGiven,
                finds: Finds::default(),
                touched_by: None,
            });
            self.entries.len() - 1
        });
        self.names.insert(want, index);
    }

    /// Plans one edit; `number` is its 1-based position in the patch. Everything it wants must have been given.
    ///
    /// # Errors
    /// Every reason why it does not fit; then nothing has changed.
    pub fn plan(&mut self, number: usize, edit: &FileEdit) -> Result<PlannedEdit, Vec<Problem>> {
        let planned =
            self.expect_links(edit).map_err(|problem| vec![problem]).and_then(|()| match &edit.body {
                Body::Content(content) => {
                    self.plan_content(number, edit, content).map_err(|problem| vec![problem])
                }
                Body::Delete(hunks) => self.plan_delete(number, edit, hunks),
                Body::Hunks(hunks) if edit.is_copy => self.plan_copy(number, edit, hunks),
                Body::Hunks(hunks) => self.plan_hunks(number, edit, hunks),
            });
        planned.map_err(|problems| {
            let path = edit.path.shown().into_owned();
            let placed = |problem: Problem| Problem {
                edit: Some(number),
                path: problem.path.or_else(|| Some(path.clone())),
                line: problem.line.or((edit.line_number > 0).then_some(edit.line_number)),
                ..problem
            };
            problems.into_iter().map(placed).collect()
        })
    }

    /// Says what is known already of an edit that is still being written: of its path, and of its last hunk, whose old
    /// side must be complete. Nothing is planned.
    pub fn probe(&mut self, edit: &FileEdit) -> (Placement, Option<Problem>) {
        let known = match &edit.body {
            Body::Content(content) => self.probe_content(edit, content),
            Body::Delete(_) => self.entry_of(&edit.path, false).map(|_| Placement::Unknown),
            Body::Hunks(hunks) => self.probe_hunk(edit, hunks),
        };
        match known {
            Ok(placement) => (placement, None),
            Err(problem) => (placement_of(&problem), Some(problem)),
        }
    }

    fn probe_content(&mut self, edit: &FileEdit, content: &Content) -> Result<Placement, Problem> {
        let index = self.entry_of(&edit.path, true)?;
        match self.expect_file(index, &edit.path) {
            Ok(())
                if self.refuses(index, content.existing)
                    && !self.options.overwrites
                    && !self.options.skips_applied =>
            {
                Err(file_exists(&edit.path, false))
            }
            Ok(()) => Ok(Placement::Located),
            Err(problem) if problem.code == Code::FileMissing => Ok(Placement::Located),
            Err(problem) => Err(problem),
        }
    }

    fn probe_hunk(&mut self, edit: &FileEdit, requested: &[Hunk]) -> Result<Placement, Problem> {
        let index = match self.source(edit) {
            // The edit may turn out to be a rename that is done and passed over.
            Err(problem) if problem.code == Code::FileMissing && self.options.skips_applied => {
                return Ok(Placement::Unknown);
            }
            source => source?,
        };
        let Some(hunk) = requested.last() else { return Ok(Placement::Unknown) };
        let document = self.readable(index, std::slice::from_ref(hunk))?;
        if let Hunk::Replace(replace) = hunk {
            return hunks::probe_replace(&document, requested, replace);
        }
        match hunks::plan(&document, std::slice::from_ref(hunk), requested.len(), self.options) {
            Ok(_) => Ok(Placement::Located),
            Err(problems) => match problems.into_iter().next() {
                // Hunks that are still to come may decide between several places.
                Some(problem) if problem.code == Code::Ambiguous => Ok(Placement::Unknown),
                Some(_) if requested.len() > 1 && matches!(hunk, Hunk::Lines(lines) if lines.is_block) => {
                    hunks::probe_block(&document, requested, self.options)
                }
                Some(problem) => Err(problem),
                None => Ok(Placement::Unknown),
            },
        }
    }

    /// Plans the first `closed` hunks of an edit that is still being written; nothing is kept. `None` if they don't all
    /// have their places yet.
    pub fn draft(&mut self, edit: &FileEdit, closed: usize) -> Option<PlannedEdit> {
        let Body::Hunks(requested) = &edit.body else { return None };
        let index = self.source(edit).ok()?;
        let document = self.readable(index, requested).ok()?;
        let planned = hunks::plan(&document, requested.get(..closed)?, 1, self.options).ok()?;
        Some(PlannedEdit {
            operation: match &edit.move_to {
                Some(_) if edit.is_copy => Operation::Copy,
                Some(_) => Operation::Rename,
                None => Operation::Update,
            },
            before: Some(document),
            after: Some(After::Spliced(planned.splices)),
        })
    }

    fn entry_of(&self, path: &PathText, follows_link: bool) -> Result<usize, Problem> {
        self.names.get(&self.want(path, follows_link)).copied().ok_or_else(|| {
            Problem::new(Code::Io, format!("{} was not looked at", path.shown())).with_path(path.shown())
        })
    }

    fn expect_file(&self, index: usize, path: &PathText) -> Result<(), Problem> {
        let entry = &self.entries[index];
        let missing = |message: String| Problem::new(Code::FileMissing, message).with_path(path.shown());
        match (&entry.now, &entry.given) {
            (Now::Content(_), _) | (Now::AsGiven, FileState::File(_)) => Ok(()),
            (Now::Gone, _) => {
                Err(missing(format!("{} is gone: an earlier edit of this patch took it away", path.shown())))
            }
            (Now::AsGiven, FileState::Absent) => {
                let hint = "check the path; to make a new file, use an add or a write";
                Err(missing(format!("{} does not exist", path.shown())).with_hint(hint))
            }
            (Now::AsGiven, FileState::Other(kind)) => Err(not_a_file(path, kind)),
            (Now::AsGiven, FileState::Refused(problem)) => Err((**problem).clone()),
        }
    }

    fn found(&self, index: usize) -> Option<&FoundFile> {
        match &self.entries[index].given {
            FileState::File(file) => Some(file),
            FileState::Absent | FileState::Other(_) | FileState::Refused(_) => None,
        }
    }

    /// Returns what stands at an entry now, whole.
    fn document(&mut self, index: usize) -> Option<Arc<Document>> {
        let given = self.found(index).map(|file| Arc::clone(&file.document));
        let origin = match &self.entries[index].now {
            Now::AsGiven => return given,
            Now::Gone => return None,
            Now::Content(Version { document: Some(document), .. }) => return Some(Arc::clone(document)),
            Now::Content(version) => version.origin,
        };
        let origin = Arc::clone(&self.found(origin?)?.document);
        let Now::Content(version) = &mut self.entries[index].now else { return None };
        let document = if version.splices.is_empty() {
            origin
        } else {
            Arc::new(origin.successor(version.splices.apply(origin.bytes())))
        };
        version.document = Some(Arc::clone(&document));
        Some(document)
    }

    /// Returns what stands at an entry now, if it is something that these hunks can change.
    fn readable(&mut self, index: usize, hunks: &[Hunk]) -> Result<Arc<Document>, Problem> {
        let path = self.entries[index].real.clone();
        let document = self.document(index).ok_or_else(|| not_a_file(&path, "gone"))?;
        editable(&document, &path, hunks, self.options.encoding)?;
        Ok(match hunks.iter().any(cuts_or_encodes).then(|| document.with_switched_sets()).flatten() {
            Some(document) => Arc::new(document),
            None => document,
        })
    }

    /// Tells whether a file that is there keeps new content out.
    fn refuses(&mut self, index: usize, existing: Existing) -> bool {
        match existing {
            Existing::Refuse => true,
            Existing::ReplaceEmpty => {
                self.document(index).is_none_or(|document| document.bytes().len() > document.text_start())
            }
            Existing::Replace => false,
        }
    }

    fn expect_hash(&mut self, index: usize, edit: &FileEdit) -> Result<(), Problem> {
        let Some(expected) = edit.expect_sha256 else { return Ok(()) };
        let found = self.document(index).map(|document| Sha256::digest(document.bytes()));
        if found.is_some_and(|found| found.as_slice() == expected) {
            return Ok(());
        }
        let message = match found {
            Some(found) => format!(
                "{} is not the file that the request expects: its SHA-256 is {}, not {}",
                edit.path.shown(),
                short_hash(&found),
                short_hash(&expected)
            ),
            None => format!(
                "{} does not exist, but the request expects a file with a certain SHA-256",
                edit.path.shown()
            ),
        };
        Err(Problem::new(Code::Stale, message).with_hint("read the file again and make the request anew"))
    }

    fn plan_content(
        &mut self,
        number: usize,
        edit: &FileEdit,
        content: &Content,
    ) -> Result<PlannedEdit, Problem> {
        let index = self.entry_of(&edit.path, true)?;
        let before = match self.expect_file(index, &edit.path) {
            Ok(()) => self.document(index),
            Err(problem) if problem.code == Code::FileMissing => None,
            Err(problem) => return Err(problem),
        };
        self.expect_hash(index, edit)?;
        // The target of a link is bytes, whatever the encoding of files.
        let encoding = self.options.encoding.filter(|_| !links::is_of_link(edit));
        let bytes = match (&before, encoding) {
            (Some(before), _) if content.keep_style => {
                expect_encoding(before, &edit.path, encoding)?;
                in_style_of(before, content.bytes.clone())
            }
            (_, Some(charset)) => encode::new_content(charset, content.bytes.clone()),
            (_, None) => Ok(content.bytes.clone()),
        };
        let bytes = bytes.map_err(|problem| problem.with_path(edit.path.shown()))?;
        if let Some(before) = &before {
            let is_equal = before.bytes() == bytes;
            let passes_over = is_equal && self.options.skips_applied;
            if self.refuses(index, content.existing) && !self.options.overwrites && !passes_over {
                return Err(file_exists(&edit.path, is_equal));
            }
            if is_equal {
                self.touch(index, number);
                return Ok(PlannedEdit {
                    operation: Operation::Update,
                    before: Some(Arc::clone(before)),
                    after: Some(After::Same),
                });
            }
        } else {
            self.expect_room(index, &edit.path)?;
        }
        let document = match (&before, encoding) {
            (_, Some(charset)) => {
                let document = Document::new(bytes);
                document.read_as(charset).unwrap_or(document)
            }
            (Some(before), None) => before.replaced_by(bytes),
            (None, None) => Document::new(bytes),
        };
        let document = Arc::new(document);
        self.set(
            index,
            number,
            Now::Content(Version {
                origin: None,
                splices: Splices::default(),
                document: Some(Arc::clone(&document)),
                mode: None,
                is_copy: false,
            }),
        );
        self.set_mode(index, edit);
        self.set_regular(index, edit);
        let operation = if before.is_some() { Operation::Update } else { Operation::Create };
        Ok(PlannedEdit { operation, before, after: Some(After::Whole(document)) })
    }

    /// Gives a file that comes in the place of a link a mode of its own: that of the link is no file's.
    fn set_regular(&mut self, index: usize, edit: &FileEdit) {
        let was_link = self.found(index).is_some_and(|found| links::is_link(found.mode));
        if let Now::Content(version) = &mut self.entries[index].now
            && was_link
            && !links::is_of_link(edit)
        {
            version.mode.get_or_insert(links::REGULAR_MODE);
        }
    }

    /// Refuses a new file below what an earlier edit made a file, or where one made a folder necessary.
    fn expect_room(&self, index: usize, path: &PathText) -> Result<(), Problem> {
        let real = self.entries[index].real.bytes();
        let clash = self.entries.iter().find(|other| {
            matches!(other.now, Now::Content(_))
                && (links::is_below(real, other.real.bytes()) || links::is_below(other.real.bytes(), real))
        });
        match clash {
            Some(other) => {
                let message = format!(
                    "{} can't be made: the same patch makes {} a file",
                    path.shown(),
                    other.real.shown()
                );
                Err(Problem::new(Code::NotAFile, message)
                    .with_hint("name a file that is not one of its folders"))
            }
            None => Ok(()),
        }
    }

    fn plan_delete(
        &mut self,
        number: usize,
        edit: &FileEdit,
        hunks: &[Hunk],
    ) -> Result<PlannedEdit, Vec<Problem>> {
        let one = |problem| vec![problem];
        has_content(hunks).map_err(one)?;
        let index = self.entry_of(&edit.path, false).map_err(one)?;
        self.expect_file(index, &edit.path).map_err(one)?;
        self.expect_hash(index, edit).map_err(one)?;
        if !hunks.is_empty() || edit.move_to.is_some() {
            self.expect_all_named(index, edit, hunks)?;
        }
        let before = self.document(index);
        self.set(index, number, Now::Gone);
        Ok(PlannedEdit { operation: Operation::Delete, before, after: None })
    }

    /// Refuses a delete whose hunks don't name the whole file, or that takes a copy back which is none any more.
    fn expect_all_named(
        &mut self,
        index: usize,
        edit: &FileEdit,
        hunks: &[Hunk],
    ) -> Result<(), Vec<Problem>> {
        let one = |problem| vec![problem];
        let document = self.readable(index, hunks).map_err(one)?;
        let options = Options { skips_applied: false, ..self.options };
        let left = hunks::plan(&document, hunks, 1, options)?.splices.apply(document.bytes());
        let (is_right, message) = match &edit.move_to {
            Some(path) => {
                let original = self.entry_of(path, false).map_err(one)?;
                let original = self.document(original);
                (
                    original.is_some_and(|original| original.bytes() == left),
                    format!("{} is not the copy of {} that the patch made", edit.path.shown(), path.shown()),
                )
            }
            None => (
                left == document.bytes()[..document.text_start()] || left.is_empty(),
                format!("{} holds lines that the patch, which deletes it, does not name", edit.path.shown()),
            ),
        };
        if is_right {
            return Ok(());
        }
        Err(one(Problem::new(Code::Stale, message)
            .with_hint("read the file again: a delete names all of its lines")))
    }

    /// Plans a copy. As git has it, it is made of the file before the patch; of what an earlier edit left there only if
    /// its hunks don't fit the former.
    fn plan_copy(
        &mut self,
        number: usize,
        edit: &FileEdit,
        requested: &[Hunk],
    ) -> Result<PlannedEdit, Vec<Problem>> {
        let one = |problem| vec![problem];
        has_content(requested).map_err(one)?;
        let source = self.source(edit).map_err(one)?;
        let Some(target) = self.rename_target(edit, source).map_err(one)? else {
            let message = format!("{} is copied onto itself", edit.path.shown());
            return Err(one(Problem::new(Code::FileExists, message)));
        };
        let given = self
            .found(source)
            .map(|found| Arc::clone(&found.document))
            .map(|document| (Version { origin: Some(source), ..Version::default() }, document));
        let now = self.document(source).map(|document| (self.version(source), document));
        let mut failed = Vec::new();
        for (mut version, document) in given.into_iter().chain(now) {
            let planned = editable(&document, &edit.path, requested, self.options.encoding)
                .map_err(one)
                .and_then(|()| hunks::plan(&document, requested, 1, self.options));
            match planned {
                Ok(planned) => {
                    let after = match planned.splices.is_empty() {
                        true => After::Same,
                        false => After::Spliced(planned.splices.clone()),
                    };
                    version.is_copy = true;
                    version.mode = version.mode.or(self.is_link(source).then_some(links::LINK_MODE));
                    if !planned.splices.is_empty() {
                        version.advance(planned.splices, Some(&document));
                    }
                    let matches = planned.matches.iter();
                    self.entries[target]
                        .finds
                        .matches
                        .extend(matches.map(|found| HunkMatch { edit: number, ..*found }));
                    self.set(target, number, Now::Content(version));
                    self.set_mode(target, edit);
                    return Ok(PlannedEdit {
                        operation: Operation::Copy,
                        before: Some(document),
                        after: Some(after),
                    });
                }
                Err(problems) if failed.is_empty() => failed = problems,
                Err(_) => {}
            }
        }
        Err(failed)
    }

    /// Gives a planned file the mode that an edit names. Git tells only whether a file can be run, so of a file that is
    /// there only that changes.
    fn set_mode(&mut self, index: usize, edit: &FileEdit) {
        let Some(wanted) = edit.mode else { return };
        let mut version = self.version(index);
        if links::is_link(wanted) {
            self.has_links = true;
            version.mode = Some(links::LINK_MODE);
            self.entries[index].now = Now::Content(version);
            return;
        }
        let current =
            version.mode.or(version.origin.and_then(|origin| self.found(origin)).map(|file| file.mode));
        let is_run = wanted & 0o111 != 0;
        let mode = match current {
            Some(current) if is_run => Some(current | (current & 0o444) >> 2),
            Some(current) => Some(current & !0o111),
            // A new file that is not run gets what the system gives.
            None => is_run.then_some(wanted),
        };
        if mode != current {
            version.mode = mode;
            self.entries[index].now = Now::Content(version);
        }
    }

    fn plan_hunks(
        &mut self,
        number: usize,
        edit: &FileEdit,
        requested: &[Hunk],
    ) -> Result<PlannedEdit, Vec<Problem>> {
        has_content(requested).map_err(|problem| vec![problem])?;
        let source = match self.source(edit) {
            Ok(source) => source,
            Err(missing) => {
                return self
                    .plan_done_rename(number, edit, requested, missing)
                    .map_err(|problem| vec![problem]);
            }
        };
        self.expect_hash(source, edit).map_err(|problem| vec![problem])?;
        let target = self.rename_target(edit, source).map_err(|problem| vec![problem]);
        if requested.is_empty() {
            let Some(target) = target? else {
                self.touch(source, number);
                self.set_mode(source, edit);
                return Ok(PlannedEdit {
                    operation: Operation::Update,
                    before: self.document(source),
                    after: Some(After::Same),
                });
            };
            let planned = self.rename(number, source, target, Splices::default());
            self.set_mode(target, edit);
            return Ok(planned);
        }
        let document = match self.readable(source, requested) {
            Ok(document) => document,
            Err(problem) => return Err(with_target_problem(target, vec![problem])),
        };
        let mut options = self.options;
        options.adds_final_newline &= !document.text().is_empty();
        let planned = match (hunks::plan(&document, requested, 1, options), target) {
            (Ok(planned), Ok(target)) => (planned, target),
            (Ok(_), Err(problems)) => return Err(problems),
            (Err(problems), target) => return Err(with_target_problem(target, problems)),
        };
        let (planned, target) = planned;
        let finds = &mut self.entries[target.unwrap_or(source)].finds;
        finds.matches.extend(planned.matches.iter().map(|found| HunkMatch { edit: number, ..*found }));
        if let Some(replacements) = planned.replacements {
            *finds.replacements.get_or_insert(0) += replacements;
        }
        match target {
            Some(target) => {
                let planned = self.rename(number, source, target, planned.splices);
                self.set_mode(target, edit);
                Ok(planned)
            }
            None => {
                self.splice(source, number, planned.splices.clone());
                self.set_mode(source, edit);
                Ok(PlannedEdit {
                    operation: Operation::Update,
                    before: Some(document),
                    after: Some(if planned.splices.is_empty() {
                        After::Same
                    } else {
                        After::Spliced(planned.splices)
                    }),
                })
            }
        }
    }

    /// Passes over a rename whose source is gone and whose target holds what it would make.
    fn plan_done_rename(
        &mut self,
        number: usize,
        edit: &FileEdit,
        requested: &[Hunk],
        missing: Problem,
    ) -> Result<PlannedEdit, Problem> {
        let was_there = self.names.iter().any(|(want, &index)| {
            want.path == edit.path && !matches!(self.entries[index].given, FileState::Absent)
        });
        // What an earlier edit of the same patch took away is no sign that this one is done.
        let Some(path) = edit.move_to.as_ref().filter(|_| missing.code == Code::FileMissing && !was_there)
        else {
            return Err(missing);
        };
        let target = self.entry_of(path, false)?;
        if self.expect_file(target, path).is_err() {
            return Err(missing);
        }
        if !requested.is_empty() {
            let document = self.readable(target, requested)?;
            let passing = Options { skips_applied: true, ..self.options };
            if !hunks::plan(&document, requested, 1, passing).is_ok_and(|rest| rest.splices.is_empty()) {
                return Err(missing);
            }
        }
        if !self.options.skips_applied {
            let message = format!(
                "{} does not exist, and {} is there: the rename is already applied",
                edit.path.shown(),
                path.shown()
            );
            return Err(
                Problem::new(Code::AlreadyApplied, message).with_hint("--skip-applied passes over it")
            );
        }
        self.touch(target, number);
        Ok(PlannedEdit {
            operation: Operation::Update,
            before: self.document(target),
            after: Some(After::Same),
        })
    }

    fn source(&self, edit: &FileEdit) -> Result<usize, Problem> {
        let index = self.entry_of(&edit.path, source_follows_link(edit))?;
        self.expect_file(index, &edit.path)?;
        Ok(index)
    }

    /// Returns where a rename goes; `None` if the edit stays where it is, also when it is moved onto itself.
    fn rename_target(&self, edit: &FileEdit, source: usize) -> Result<Option<usize>, Problem> {
        let Some(path) = &edit.move_to else { return Ok(None) };
        let target = self.entry_of(path, false)?;
        if target == source {
            return Ok(None);
        }
        match self.expect_file(target, path) {
            Ok(()) if self.options.overwrites => Ok(Some(target)),
            Ok(()) => Err(file_exists(path, false)),
            Err(problem) if problem.code == Code::FileMissing => {
                self.expect_room(target, path)?;
                Ok(Some(target))
            }
            Err(problem) => Err(problem),
        }
    }

    fn rename(&mut self, number: usize, source: usize, target: usize, splices: Splices) -> PlannedEdit {
        let before = self.document(source);
        let mut version = self.version(source);
        let after = if splices.is_empty() { After::Same } else { After::Spliced(splices.clone()) };
        if !splices.is_empty() {
            version.advance(splices, before.as_deref());
        }
        let moved = std::mem::take(&mut self.entries[source].finds);
        self.entries[target].finds.matches.splice(0..0, moved.matches);
        // An entry keeps the place of the edit that first touched it, under whichever name.
        let touched = self.entries[source].touched_by.unwrap_or(number);
        self.set(source, number, Now::Gone);
        self.set(target, touched, Now::Content(version));
        PlannedEdit { operation: Operation::Rename, before, after: Some(after) }
    }

    fn version(&self, index: usize) -> Version {
        match &self.entries[index].now {
            Now::Content(version) => version.clone(),
            Now::AsGiven | Now::Gone => Version { origin: Some(index), ..Version::default() },
        }
    }

    fn splice(&mut self, index: usize, number: usize, splices: Splices) {
        if splices.is_empty() {
            self.touch(index, number);
            return;
        }
        let mut version = self.version(index);
        let document = self.document(index);
        version.advance(splices, document.as_deref());
        self.set(index, number, Now::Content(version));
    }

    fn touch(&mut self, index: usize, number: usize) {
        self.entries[index].touched_by.get_or_insert(number);
    }

    fn set(&mut self, index: usize, number: usize, now: Now) {
        let touched_by = self.entries[index].touched_by;
        self.touch(index, number);
        let now = std::mem::replace(&mut self.entries[index].now, now);
        if let Some(call) = self.call
            && !self.unsettled.iter().any(|before| before.call == call && before.index == index)
        {
            self.unsettled.push(Unsettled { call, index, now, touched_by });
        }
    }

    /// Returns what is to be written: one entry a file, in the order in which the patch first touched them.
    pub fn finish(self) -> Plan {
        let mut order: Vec<usize> =
            (0..self.entries.len()).filter(|&index| self.entries[index].touched_by.is_some()).collect();
        order.sort_by_key(|&index| (self.entries[index].touched_by, index));
        let mut plan = Plan::default();
        for &index in &order {
            if let Some(file) = self.planned_file(index) {
                plan.files.push(file);
                plan.finds.push(self.entries[index].finds.clone());
            }
        }
        plan
    }

    fn planned_file(&self, index: usize) -> Option<PlannedFile> {
        let entry = &self.entries[index];
        let given = self.found(index).cloned();
        let planned = |operation, before, after| PlannedFile {
            operation,
            path: entry.real.clone(),
            from: None,
            target: entry.real.clone(),
            target_before: entry.given.clone(),
            source: None,
            before,
            before_is_link: entry.is_link,
            target_is_link: entry.is_link,
            after,
            mode: None,
        };
        match &entry.now {
            Now::AsGiven => Some(planned(Operation::Update, Some(given?), Some(After::Same))),
            Now::Gone if matches!(entry.given, FileState::Absent) || self.moved_to(index).is_some() => None,
            Now::Gone => Some(planned(Operation::Delete, given, None)),
            Now::Content(version) => {
                let is_here = version.origin == Some(index);
                let moved_from =
                    version.origin.filter(|&origin| !is_here && self.moved_to(origin) == Some(index));
                let copied_from =
                    version.origin.filter(|_| version.is_copy && given.is_none() && moved_from.is_none());
                let stays_relative = is_here || moved_from.is_some() || copied_from.is_some();
                let after = match (version.origin, &version.document) {
                    (Some(_), _) if version.splices.is_empty() && stays_relative => After::Same,
                    (Some(_), _) if stays_relative => After::Spliced(version.splices.clone()),
                    (_, Some(document)) => After::Whole(Arc::clone(document)),
                    // A copy of a file whose own path was made anew: its bytes are written whole.
                    (Some(origin), None) => {
                        let origin = &self.found(origin)?.document;
                        After::Whole(Arc::new(origin.successor(version.splices.apply(origin.bytes()))))
                    }
                    (None, None) => return None,
                };
                if let Some(origin) = moved_from {
                    let source = self.entries[origin].real.clone();
                    return Some(PlannedFile {
                        from: Some(source.clone()),
                        source: Some(source),
                        before_is_link: self.entries[origin].is_link,
                        mode: version.mode,
                        ..planned(Operation::Rename, self.found(origin).cloned(), Some(after))
                    });
                }
                if let Some(origin) = copied_from {
                    return Some(PlannedFile {
                        from: Some(self.entries[origin].real.clone()),
                        mode: version.mode,
                        ..planned(Operation::Copy, self.found(origin).cloned(), Some(after))
                    });
                }
                let operation = if given.is_some() { Operation::Update } else { Operation::Create };
                let mode = version.origin.and_then(|origin| self.found(origin)).map(|file| file.mode);
                Some(PlannedFile {
                    // The mode comes along with the content, also where another file stood.
                    mode: version.mode.or(mode.filter(|_| !is_here)),
                    ..planned(operation, given, Some(after))
                })
            }
        }
    }

    /// Returns where the file that was given at an entry has gone, if it is gone from there and stands elsewhere.
    fn moved_to(&self, index: usize) -> Option<usize> {
        if !matches!(self.entries[index].now, Now::Gone) {
            return None;
        }
        self.entries
            .iter()
            .position(|entry| matches!(&entry.now, Now::Content(version) if version.origin == Some(index)))
    }
}

impl Version {
    fn advance(&mut self, splices: Splices, before: Option<&Document>) {
        match self.origin {
            Some(_) => {
                let first = std::mem::take(&mut self.splices);
                self.splices = first.then(splices);
                self.document = None;
            }
            None => {
                let after = match before {
                    Some(before) => before.successor(splices.apply(before.bytes())),
                    None => Document::new(splices.apply(&[])),
                };
                self.document = Some(Arc::new(after));
            }
        }
    }
}

/// Says which placement a problem means in a preview.
pub fn placement_of(problem: &Problem) -> Placement {
    match problem.code {
        Code::HunkNotFound | Code::FileMissing | Code::CountDiffers => Placement::Missing,
        Code::Ambiguous => Placement::Ambiguous,
        Code::FileExists | Code::AlreadyApplied => Placement::Exists,
        Code::NotAFile
        | Code::OutsideRoot
        | Code::Protected
        | Code::ReadOnly
        | Code::Stale
        | Code::NotRecorded
        | Code::Binary
        | Code::Unencodable
        | Code::Malformed
        | Code::NoEdits
        | Code::Usage
        | Code::Io
        | Code::Owner
        | Code::Interrupted => Placement::Refused,
    }
}

fn with_target_problem(
    target: Result<Option<usize>, Vec<Problem>>,
    mut problems: Vec<Problem>,
) -> Vec<Problem> {
    if let Err(more) = target {
        problems.extend(more);
    }
    problems
}

fn source_follows_link(edit: &FileEdit) -> bool {
    edit.move_to.is_none() || edit.is_copy
}

/// Refuses an edit of a binary file whose content the patch does not hold.
fn has_content(hunks: &[Hunk]) -> Result<(), Problem> {
    let is_empty = |hunk: &Hunk| matches!(hunk, Hunk::Binary(binary) if binary.new.is_none());
    if !hunks.iter().any(is_empty) {
        return Ok(());
    }
    let message = "the patch does not hold the content that this edit leads to";
    Err(Problem::new(Code::Binary, message)
        .with_hint("make the patch with 'git diff --binary'; what a delete does not name can't come back"))
}

fn file_exists(path: &PathText, is_equal: bool) -> Problem {
    let (message, hint) = if is_equal {
        ("exists already, with this very content", "--skip-applied passes over it")
    } else {
        (
            "exists already",
            "update the file instead; to replace it, use --allow-overwrite, or a write without --if-absent",
        )
    };
    Problem::new(Code::FileExists, format!("{} {message}", path.shown()))
        .with_hint(hint)
        .with_path(path.shown())
}

/// Returns so much of a hash as tells it from another one.
fn short_hash(hash: &[u8]) -> String {
    hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

fn not_a_file(path: &PathText, kind: &str) -> Problem {
    Problem::new(Code::NotAFile, format!("{} is not a regular file but a {kind}", path.shown()))
        .with_hint("name a file")
        .with_path(path.shown())
}

fn editable(
    document: &Document,
    path: &PathText,
    hunks: &[Hunk],
    given: Option<Charset>,
) -> Result<(), Problem> {
    if hunks.iter().all(|hunk| matches!(hunk, Hunk::Binary(_))) {
        return Ok(());
    }
    expect_encoding(document, path, given)?;
    if !document.is_binary() {
        return Ok(());
    }
    let problem = match document.encoding() {
        Encoding::Unsupported(name) => Problem::new(
            Code::Unencodable,
            format!("{} is encoded in {name}, which can't be edited", path.shown()),
        )
        .with_hint("convert it to UTF-8, or replace it whole with 'write'"),
        _ => Problem::new(Code::Binary, format!("{} is a binary file: it holds NUL bytes", path.shown()))
            .with_hint(
                "'write' replaces a binary file whole; UTF-16 without a byte order mark needs --encoding",
            ),
    };
    Err(problem.with_path(path.shown()))
}

/// Refuses a file whose byte order mark names another encoding than the user.
fn expect_encoding(document: &Document, path: &PathText, given: Option<Charset>) -> Result<(), Problem> {
    let Some(charset) = given else { return Ok(()) };
    let Err(marked) = document.read_as(charset) else { return Ok(()) };
    let message = format!(
        "{} begins with the byte order mark of {marked}, so it is not encoded in {}",
        path.shown(),
        charset.name()
    );
    Err(Problem::new(Code::Unencodable, message).with_hint("leave --encoding out").with_path(path.shown()))
}

/// Tells whether a hunk may replace a part of a line, or brings more than ASCII.
fn cuts_or_encodes(hunk: &Hunk) -> bool {
    match hunk {
        Hunk::Replace(_) => true,
        Hunk::Lines(hunk) => hunk.lines().any(|line| line.kind == LineKind::Insert && !line.text.is_ascii()),
        Hunk::Binary(_) => false,
    }
}

/// Returns content with the byte order mark, the line endings and the encoding of the file that it replaces.
fn in_style_of(before: &Document, bytes: Vec<u8>) -> Result<Vec<u8>, Problem> {
    let text = match std::str::from_utf8(bytes.strip_prefix(UTF8_BOM).unwrap_or(&bytes)) {
        Ok(text) if !before.is_binary() => with_lf(text),
        _ => return Ok(bytes),
    };
    let counts = before.eol_counts();
    let body = if counts.crlf > counts.lf { text.replace('\n', "\r\n") } else { text.into_owned() };
    let bom = if before.has_bom() { UTF8_BOM } else { b"" };
    encode::content(before.encoding(), [bom, body.as_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::plan::sample::edits;

    /// A tree as text: `None` is a folder.
    type Tree = BTreeMap<String, Option<String>>;

    fn tree(files: &[(&str, &str)]) -> Tree {
        files.iter().map(|&(path, text)| (path.to_owned(), Some(text.to_owned()))).collect()
    }

    fn given(tree: &Tree, path: &PathText) -> Given {
        let real = path.normalized();
        let state = match tree.get(real.shown().as_ref()) {
            None => FileState::Absent,
            Some(None) => FileState::Other("directory"),
            Some(Some(text)) => FileState::File(FoundFile {
                document: Arc::new(Document::new(text.as_bytes().to_vec())),
                mode: 0o100_644,
                hard_links: 1,
                stamp: Default::default(),
            }),
        };
        Given { real, state, link: None }
    }

    /// Plans the edits over the tree; one line a planned file, or one a problem.
    fn planned(tree: &Tree, patch: &str, options: Options) -> Vec<String> {
        let mut planner = Planner::new(options);
        let mut problems = Vec::new();
        for (index, edit) in edits(patch).iter().enumerate() {
            for want in planner.wants(edit) {
                let given = given(tree, &want.path);
                planner.give(want, given);
            }
            assert_eq!(planner.wants(edit), [], "what was given is not wanted again");
            problems.extend(planner.plan(index + 1, edit).err().into_iter().flatten());
        }
        if !problems.is_empty() {
            let said = |problem: Problem| {
                let hunk = problem.hunk.map(|hunk| format!(" hunk {hunk}")).unwrap_or_default();
                format!("{} {:?}{hunk}: {:?}", problem.edit.unwrap(), problem.path.unwrap(), problem.code)
            };
            return problems.into_iter().map(said).collect();
        }
        planner.finish().files.iter().map(shown).collect()
    }

    fn shown(file: &PlannedFile) -> String {
        let from = file.from.as_ref().map(|from| format!(" from {}", from.shown())).unwrap_or_default();
        let before = file.before.as_ref().map_or(&b""[..], |found| found.document.bytes());
        let after = match &file.after {
            None => "gone".to_owned(),
            Some(After::Same) => "same".to_owned(),
            Some(After::Spliced(splices)) => format!("{:?}", String::from_utf8_lossy(&splices.apply(before))),
            Some(After::Whole(whole)) => format!("whole {:?}", String::from_utf8_lossy(whole.bytes())),
        };
        format!("{:?} {}{from}: {after}", file.operation, file.path.shown())
    }

    fn check_with(options: Options, files: &[(&str, &str)], patch: &str, expected: &[&str]) {
        assert_eq!(planned(&tree(files), patch, options), expected, "{patch}");
    }

    fn check(files: &[(&str, &str)], patch: &str, expected: &[&str]) {
        check_with(Options::default(), files, patch, expected);
    }

    #[test]
    fn each_operation_is_planned() {
        check(&[], "*** Add File: a\n+x\n", &["Create a: whole \"x\\n\""]);
        check(&[("a", "x\n")], "*** Update File: a\n@@\n-x\n+y\n", &["Update a: \"y\\n\""]);
        check(&[("a", "x\n")], "*** Delete File: a\n", &["Delete a: gone"]);
        check(&[("a", "x\n")], "*** Update File: a\n*** Move to: b\n", &["Rename b from a: same"]);
        check(
            &[("a", "x\n")],
            "*** Update File: a\n*** Move to: d/b\n@@\n-x\n+y\n",
            &["Rename d/b from a: \"y\\n\""],
        );
        check(&[("a", "x\n")], "*** Update File: a\n@@\n x\n", &["Update a: same"]);
    }

    #[test]
    fn what_is_in_the_way_or_missing_is_refused() {
        check(&[("a", "x\n")], "*** Add File: a\n+y\n", &["1 \"a\": FileExists"]);
        check(&[("a", "x\n")], "*** Add File: a\n+x\n", &["1 \"a\": FileExists"]);
        check(&[], "*** Update File: a\n@@\n-x\n", &["1 \"a\": FileMissing"]);
        check(&[], "*** Delete File: a\n", &["1 \"a\": FileMissing"]);
        check(&[("a", ""), ("b", "")], "*** Update File: a\n*** Move to: b\n", &["1 \"b\": FileExists"]);
        let mut with_folder = tree(&[("a", "x\n")]);
        with_folder.insert("d".to_owned(), None);
        for patch in ["*** Add File: d\n+x\n", "*** Delete File: d\n", "*** Update File: d\n@@\n-x\n"] {
            assert_eq!(planned(&with_folder, patch, Options::default()), ["1 \"d\": NotAFile"], "{patch}");
        }
        check(&[("b", "a\0b\n")], "*** Update File: b\n@@\n-x\n", &["1 \"b\": Binary"]);
    }

    #[test]
    fn every_edit_sees_the_edits_before_it() {
        check(
            &[("a", "1\n2\n")],
            "*** Update File: a\n@@\n-1\n+one\n*** Update File: ./a\n@@\n one\n-2\n+two\n",
            &["Update a: \"one\\ntwo\\n\""],
        );
        check(&[], "*** Add File: a\n+1\n*** Update File: a\n@@\n-1\n+2\n", &["Create a: whole \"2\\n\""]);
        check(&[], "*** Add File: a\n+1\n*** Delete File: a\n", &[]);
        check(&[("a", "x\n")], "*** Delete File: a\n*** Add File: a\n+y\n", &["Update a: whole \"y\\n\""]);
        check(&[("a", "x\n")], "*** Delete File: a\n*** Update File: a\n@@\n-x\n", &["2 \"a\": FileMissing"]);
        check(
            &[("a", "x\n")],
            "*** Update File: a\n*** Move to: b\n*** Update File: b\n@@\n-x\n+y\n",
            &["Rename b from a: \"y\\n\""],
        );
        check(
            &[("a", "x\n")],
            "*** Update File: a\n*** Move to: b\n*** Update File: b\n*** Move to: a\n",
            &["Update a: same"],
        );
        check(
            &[("a", "x\n")],
            "*** Update File: a\n*** Move to: b\n*** Delete File: b\n",
            &["Delete a: gone"],
        );
        check(
            &[("a", "x\n"), ("b", "y\n")],
            "*** Delete File: b\n*** Update File: a\n*** Move to: b\n",
            &["Rename b from a: same"],
        );
        check(
            &[("a", "A\n"), ("b", "B\n")],
            "*** Update File: a\n*** Move to: t\n*** Update File: b\n*** Move to: a\n*** Update File: t\n*** Move to: b\n",
            &["Update a: whole \"B\\n\"", "Update b: whole \"A\\n\""],
        );
        check(
            &[("a", "x\n")],
            "*** Update File: a\n*** Move to: b\n*** Add File: a\n+new\n",
            &["Update a: whole \"new\\n\"", "Create b: whole \"x\\n\""],
        );
    }

    #[test]
    fn a_failed_edit_changes_nothing_and_the_rest_is_still_looked_at() {
        check(
            &[("a", "1\n2\n3\n"), ("b", "x\n")],
            "*** Update File: a\n@@\n-9\n@@\n-2\n+two\n@@\n-8\n*** Update File: b\n@@\n-7\n*** Delete File: c\n",
            &[
                "1 \"a\" hunk 1: HunkNotFound",
                "1 \"a\" hunk 3: HunkNotFound",
                "2 \"b\" hunk 1: HunkNotFound",
                "3 \"c\": FileMissing",
            ],
        );
        check(
            &[("a", "1\n")],
            "*** Update File: a\n@@\n-1\n+2\n@@\n-9\n*** Update File: a\n@@\n-2\n+3\n",
            &["1 \"a\" hunk 2: HunkNotFound", "2 \"a\" hunk 1: HunkNotFound"],
        );
        check(
            &[("a", "1\n"), ("b", "")],
            "*** Update File: a\n*** Move to: b\n@@\n-9\n",
            &["1 \"a\" hunk 1: HunkNotFound", "1 \"b\": FileExists"],
        );
    }

    /// Plans a unified diff over files; one line a planned file with its mode, or one a problem.
    fn check_unified(files: &[(&str, &str)], patch: &str, expected: &[&str]) {
        let parsed = crate::patch::parse(patch.as_bytes(), crate::patch::Dialect::Unified);
        assert_eq!(parsed.malformed, None, "{patch}");
        let mut planner = Planner::new(Options::default());
        let mut said = Vec::new();
        for (index, edit) in parsed.patch.edits.iter().enumerate() {
            for want in planner.wants(edit) {
                let given = given(&tree(files), &want.path);
                planner.give(want, given);
            }
            let problems = planner.plan(index + 1, edit).err().into_iter().flatten();
            said.extend(problems.map(|problem| format!("{:?}: {}", problem.code, problem.message)));
        }
        let mode = |file: &PlannedFile| file.mode.map(|mode| format!(" {mode:o}")).unwrap_or_default();
        if said.is_empty() {
            said.extend(planner.finish().files.iter().map(|file| shown(file) + &mode(file)));
        }
        assert_eq!(said, expected, "{patch}");
    }

    #[test]
    fn modes_change_with_and_without_content() {
        let mode = "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n";
        check_unified(&[("a", "x\n")], mode, &["Update a: same 100755"]);
        check_unified(
            &[("a", "x\n")],
            &format!("{mode}--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n"),
            &["Update a: \"y\\n\" 100755"],
        );
        check_unified(
            &[("a", "x\n")],
            "diff --git a/a b/b\nold mode 100644\nnew mode 100755\nrename from a\nrename to b\n",
            &["Rename b from a: same 100755"],
        );
        // The file has that mode already.
        check_unified(
            &[("a", "x\n")],
            "diff --git a/a b/a\nold mode 100755\nnew mode 100644\n",
            &["Update a: same"],
        );
    }

    #[test]
    fn a_copy_is_made_of_the_file_before_the_patch() {
        let copy = "diff --git a/a b/b\nsimilarity index 90%\ncopy from a\ncopy to b\n";
        check_unified(&[("a", "x\n")], copy, &["Copy b from a: same"]);
        let edit = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n";
        check_unified(
            &[("a", "x\n")],
            &format!("{edit}{copy}"),
            &["Update a: \"y\\n\"", "Copy b from a: same"],
        );
        let with_hunk = |old: &str| format!("{edit}{copy}--- a/a\n+++ b/b\n@@ -1 +1 @@\n-{old}\n+z\n");
        let both = ["Update a: \"y\\n\"", "Copy b from a: \"z\\n\""];
        check_unified(&[("a", "x\n")], &with_hunk("x"), &both);
        check_unified(&[("a", "x\n")], &with_hunk("y"), &both);
        check_unified(&[("a", "x\n"), ("b", "")], copy, &["FileExists: b exists already"]);
    }

    #[test]
    fn a_delete_names_all_or_is_refused() {
        let delete = "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
        check_unified(&[("a", "x\n")], delete, &["Delete a: gone"]);
        check_unified(&[("a", "x")], delete, &["Delete a: gone"]);
        let message = "Stale: a holds lines that the patch, which deletes it, does not name";
        check_unified(&[("a", "x\ny\n")], delete, &[message]);
    }

    #[test]
    fn a_move_onto_itself_is_an_update() {
        let moved = "*** Update File: a\n*** Move to: ./a\n@@\n-x\n+y\n";
        check(&[("a", "x\n")], moved, &["Update a: \"y\\n\""]);
        check(&[("a", "x\n")], "*** Update File: a\n*** Move to: s/../a\n", &["Update a: same"]);
    }

    #[test]
    fn files_and_folders_of_one_patch_may_not_clash() {
        check(&[], "*** Add File: a\n+x\n*** Add File: a/b\n+y\n", &["2 \"a/b\": NotAFile"]);
        check(&[], "*** Add File: a/b\n+x\n*** Add File: a\n+y\n", &["2 \"a\": NotAFile"]);
        check(
            &[],
            "*** Add File: a\n+x\n*** Add File: ab\n+y\n",
            &["Create a: whole \"x\\n\"", "Create ab: whole \"y\\n\""],
        );
    }

    #[test]
    fn files_may_be_replaced_on_request() {
        let options = Options { overwrites: true, ..Options::default() };
        check_with(options, &[("a", "x\n")], "*** Add File: a\n+y\n", &["Update a: whole \"y\\n\""]);
        check_with(
            options,
            &[("a", "x\n"), ("b", "y\n")],
            "*** Update File: a\n*** Move to: b\n",
            &["Rename b from a: same"],
        );
    }

    #[test]
    fn what_is_done_already_is_passed_over_on_request() {
        let options = Options { skips_applied: true, ..Options::default() };
        check_with(options, &[("a", "x\n")], "*** Add File: a\n+x\n", &["Update a: same"]);
        check_with(options, &[("a", "x\n")], "*** Add File: a\n+y\n", &["1 \"a\": FileExists"]);
        check_with(options, &[("a", "y\n")], "*** Update File: a\n@@\n-x\n+y\n", &["Update a: same"]);
        check_with(
            options,
            &[("a", "y\n2\n")],
            "*** Update File: a\n@@\n-x\n+y\n@@\n-2\n+3\n",
            &["Update a: \"y\\n3\\n\""],
        );
    }

    #[test]
    fn a_rename_that_is_done_is_passed_over_on_request() {
        let options = Options { skips_applied: true, ..Options::default() };
        check_with(options, &[("b", "x\n")], "*** Update File: a\n*** Move to: b\n", &["Update b: same"]);
        let with_hunk = "*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n";
        check_with(options, &[("b", "y\n")], with_hunk, &["Update b: same"]);
        // A file that is there but not as the rename would leave it.
        check_with(options, &[("b", "x\n")], with_hunk, &["1 \"a\": FileMissing"]);
        check_with(options, &[("b", "z\n")], with_hunk, &["1 \"a\": FileMissing"]);
        check_with(options, &[], with_hunk, &["1 \"a\": FileMissing"]);
        check(&[("b", "x\n")], "*** Update File: a\n*** Move to: b\n", &["1 \"a\": AlreadyApplied"]);
        // An earlier edit of the same patch took it away: nothing is done already.
        check_with(
            options,
            &[("a", "x\n"), ("b", "x\n")],
            "*** Delete File: a\n*** Update File: a\n*** Move to: b\n",
            &["2 \"a\": FileMissing"],
        );
    }
}
