//! Writing a plan: all of it, or nothing.
//!
//! In order: it is decided which steps will be taken and which hidden names they use, and the journal says so; folders
//! that are missing are made; every new content is written to a temporary beside its target; every preimage is compared
//! again; then names change, in steps each of which can be undone; then the journal gets its mark, and the old files,
//! which until then have hidden names, are removed.
//!
//! A failure or an interruption before the mark takes everything back, in reverse. A process that is killed leaves its
//! journal, and the next one that opens it takes back what has no mark and finishes what has one. Without a journal a
//! plan for one file is one rename, which is whole by itself, and one for several files is not safe from being killed.
//!
//! With `sync`, content is on the disk before its name is, and names are on the disk before the mark is and before the
//! old files go. Of one file that is two syncs, of the temporary and of its folder: one step is whole by itself, so its
//! journal only has to survive the process. Of several, the journal is synced too: its intent, its name, its steps and its
//! mark.
//!
//! Where the file system can't let two names change places, the old file gets a second name first, and where it can't
//! do that either, it is moved away: its path is then missing for a moment.

use std::collections::HashMap;
use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use rustix::fs::FileType;
use rustix::fs::Stat;
use rustix::io::Errno;

use super::error::CommitError;
use super::error::Doing;
use super::error::system_error;
use super::folder::Folders;
use super::folder::Moment;
use super::folder::Place;
use super::folder::Rig;
use super::intent::Contents;
use super::intent::Intent;
use super::intent::LogEntry;
use super::intent::Move;
use super::intent::Moves;
use super::journal::Journal;
use super::journal::JournalError;
use super::publish::Publisher;
use super::publish::Step;
use super::publish::Through;
use super::root::Root;
use super::root::mode_of;
use super::root::stamp_of;
use super::stage;
use crate::plan::After;
use crate::plan::Attributes;
use crate::plan::FileState;
use crate::plan::FoundFile;
use crate::plan::Plan;
use crate::plan::PlannedFile;
use crate::plan::Stamp;
use crate::plan::links;
use crate::report::Operation;
use crate::text::Document;
use crate::text::PathText;

/// A file that was so young when it was read may have changed since without its times telling: clocks of file systems
/// tick at most every 10 ms.
const YOUNG_NS: i128 = 20_000_000;

/// Files that are longer, before and after together, are not copied into the journal when they are written in place:
/// killed meanwhile, such a file stays half written.
const LIMIT_CONTENTS_BYTES: usize = 64 * 1024 * 1024;

/// How a plan is written.
#[derive(Clone, Copy)]
pub struct CommitOptions<'a> {
    /// Waits until everything is on the disk.
    pub sync: bool,
    /// Writes through files that are there: keeps owner and hard links, but a reader may see half of the new content.
    pub in_place: bool,
    /// A time before the first file was read, in nanoseconds since 1970. Files that changed less than 20 ms before it
    /// are compared byte by byte; without it all are.
    pub read_since_ns: Option<i128>,
    /// Tells whether the run is to end; asked last when all names have changed and nothing is final yet.
    pub interrupted: &'a dyn Fn() -> bool,
    /// Keeps several files whole if the process is killed; opened before the files were read. Without one the plan is
    /// written all the same.
    pub journal: Option<&'a Journal>,
    /// Returns what a session log is to say of the commit: asked once, when everything is written but for the names. The
    /// caller logs it; if the process does not come to that, whoever opens the journal next does. After it was logged
    /// the caller closes the journal.
    pub log_entry: Option<&'a dyn Fn(&Prepared) -> LogEntry>,
}

/// What is known of a commit before its first name changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prepared {
    /// Of each file of the plan: its mode and type, if it is made new.
    pub modes: Vec<Option<u32>>,
    /// Files that have other hard links, which will still name the old bytes, and how many.
    pub hard_links_broken: Vec<(PathText, u64)>,
}

impl fmt::Debug for CommitOptions<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CommitOptions { sync, in_place, read_since_ns, journal, .. } = self;
        formatter
            .debug_struct("CommitOptions")
            .field("sync", sync)
            .field("in_place", in_place)
            .field("read_since_ns", read_since_ns)
            .field("journal", journal)
            .finish_non_exhaustive()
    }
}

/// What is to be known of a plan that was written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Committed {
    /// What was known before.
    pub prepared: Prepared,
    /// Old files under hidden names that could not be removed, relative to the root.
    pub left_behind: Vec<PathText>,
    /// Folders, relative to the root, of which it is not known whether their names are on the disk.
    pub unsynced: Vec<PathText>,
}

/// Writes a plan, all of it or nothing.
///
/// # Errors
/// On every error nothing is written, and no temporary or new folder stays; only [`CommitError::NotUndone`] says
/// otherwise.
pub fn commit(root: &Root, plan: &Plan, options: &CommitOptions<'_>) -> Result<Committed, CommitError> {
    commit_with(root, plan, options, Rig::none())
}

pub(crate) fn commit_with(
    root: &Root,
    plan: &Plan,
    options: &CommitOptions<'_>,
    rig: Rig<'_>,
) -> Result<Committed, CommitError> {
    let layout = Layout::of(plan)?;
    let mut run = Run {
        layout: &layout,
        options,
        folders: Folders::new(root, rig),
        publisher: Publisher::new(options.sync),
        steps: Steps::default(),
        to_make: Vec::new(),
        to_stage: Vec::new(),
        hidden: Vec::new(),
        is_journaled: false,
        is_synced: false,
        made: Vec::new(),
        staged: HashMap::new(),
        plain_folders: HashSet::new(),
        written_through: HashSet::new(),
        compared: HashMap::new(),
        prepared: Prepared { modes: vec![None; layout.jobs.len()], hard_links_broken: Vec::new() },
    };
    match run.write() {
        Ok(()) => Ok(run.finish()),
        Err(cause) => Err(run.take_back(cause)),
    }
}

/// One file of the plan, with its paths taken apart.
struct Job<'a> {
    /// Its place in the plan.
    index: usize,
    file: &'a PlannedFile,
    target: Place,
    /// Of a rename to another path: what goes.
    source: Option<Place>,
    /// The preimage, unless a new file is made of it.
    before: Option<&'a FoundFile>,
}

impl Job<'_> {
    /// Returns the mode that the file gets; `None` leaves it to the system.
    fn mode(&self) -> Option<u32> {
        self.file.mode.or(self.before.map(|before| before.mode))
    }

    /// Returns where the preimage stands.
    fn preimage_place(&self) -> &Place {
        self.source.as_ref().unwrap_or(&self.target)
    }

    /// Returns the file that stands at the target before.
    fn occupant(&self) -> Option<&FoundFile> {
        match &self.file.target_before {
            FileState::File(found) => Some(found),
            _ if self.source.is_none() => self.before,
            _ => None,
        }
    }

    fn error(&self, doing: Doing) -> impl FnOnce(std::io::Error) -> CommitError + use<> {
        system_error(&self.file.path, doing)
    }

    fn stale(&self) -> CommitError {
        CommitError::Stale { path: self.file.path.clone() }
    }

    fn in_the_way(&self) -> CommitError {
        CommitError::Exists { path: self.file.path.clone() }
    }
}

/// All files of the plan, with the places that become free and those that are filled.
struct Layout<'a> {
    jobs: Vec<Job<'a>>,
    /// Places from which a file goes.
    vacated: HashSet<Place>,
    /// Places to which a file comes.
    wanted: HashSet<Place>,
}

impl<'a> Layout<'a> {
    fn of(plan: &'a Plan) -> Result<Self, CommitError> {
        let mut layout = Layout { jobs: Vec::new(), vacated: HashSet::new(), wanted: HashSet::new() };
        for (index, file) in plan.files.iter().enumerate() {
            let not_a_file = || CommitError::NotAFile { path: file.path.clone() };
            let target = Place::of(&file.target).ok_or_else(not_a_file)?;
            let source = match &file.source {
                Some(source) => Some(Place::of(source).ok_or_else(not_a_file)?),
                None => None,
            };
            let source = source.filter(|source| *source != target);
            match &file.target_before {
                FileState::Refused(problem) => return Err(CommitError::Refused(problem.clone())),
                FileState::Other(_) => return Err(not_a_file()),
                FileState::Absent | FileState::File(_) => {}
            }
            let places = if file.after.is_some() { &mut layout.wanted } else { &mut layout.vacated };
            if !places.insert(target.clone()) {
                return Err(CommitError::Exists { path: file.path.clone() });
            }
            layout.vacated.extend(source.clone());
            let before = match (&file.before, &file.target_before) {
                (Some(_), _) if file.operation == Operation::Copy => None,
                (None, FileState::File(found)) if file.operation == Operation::Update => Some(found),
                (before, _) => before.as_ref(),
            };
            layout.jobs.push(Job { index, file, target, source, before });
        }
        Ok(layout)
    }
}

/// The steps of all files: first what stands in another's way goes, then everything comes, then the rest goes.
#[derive(Default)]
struct Steps<'a> {
    hide: Vec<(&'a PathText, Step<'a>)>,
    publish: Vec<(&'a PathText, Step<'a>)>,
    drop: Vec<(&'a PathText, Step<'a>)>,
}

/// New content, and the hidden name that it gets first.
struct ToStage<'a> {
    job: &'a Job<'a>,
    after: &'a After,
    at: Place,
}

/// A commit on its way.
struct Run<'a> {
    layout: &'a Layout<'a>,
    options: &'a CommitOptions<'a>,
    folders: Folders<'a>,
    publisher: Publisher,
    steps: Steps<'a>,
    /// Folders that are missing, outermost first.
    to_make: Vec<Place>,
    to_stage: Vec<ToStage<'a>>,
    /// Every hidden name.
    hidden: Vec<Place>,
    is_journaled: bool,
    /// All names are on the disk.
    is_synced: bool,
    /// Folders that were made, outermost first.
    made: Vec<Place>,
    /// Temporaries that were made, as they were when they were finished; most have another name at the end.
    staged: HashMap<Place, Stamp>,
    /// Folders that give what is made in them no attributes.
    plain_folders: HashSet<Vec<u8>>,
    /// Device and inode of files that are to be overwritten.
    written_through: HashSet<(u64, u64)>,
    /// Where files stand that have one name each, by device and inode.
    compared: HashMap<(u64, u64), Place>,
    prepared: Prepared,
}

impl<'a> Run<'a> {
    fn write(&mut self) -> Result<(), CommitError> {
        for job in &self.layout.jobs {
            self.arrange(job)?;
        }
        let Steps { hide, publish, drop } = std::mem::take(&mut self.steps);
        let steps: Vec<_> = hide.into_iter().chain(publish).chain(drop).collect();
        self.begin_journal(&steps)?;
        self.make_folders()?;
        for staging in std::mem::take(&mut self.to_stage) {
            self.go_on()?;
            self.stage(&staging)?;
        }
        for job in &self.layout.jobs {
            self.compare(job)?;
        }
        if self.is_journaled {
            self.add_moves(&steps)?;
        }
        self.take_all(steps)
    }

    fn go_on(&self) -> Result<(), CommitError> {
        if (self.options.interrupted)() { Err(CommitError::Interrupted) } else { Ok(()) }
    }

    fn take_all(&mut self, steps: Vec<(&'a PathText, Step<'a>)>) -> Result<(), CommitError> {
        let is_only = steps.len() == 1;
        for (path, step) in steps {
            self.go_on()?;
            self.folders.about_to(Moment::Step, path).map_err(system_error(path, Doing::Rename))?;
            if is_only && !self.is_journaled {
                return self.publisher.take_only(&mut self.folders, step, path);
            }
            self.publisher.take(&mut self.folders, step, path)?;
        }
        if is_only || !self.is_journaled {
            return Ok(());
        }
        if self.options.sync {
            self.sync_all_folders().map_err(|(path, source)| system_error(&path, Doing::Sync)(source))?;
            self.is_synced = true;
        }
        self.go_on()?;
        self.with_journal(|journal, before| journal.mark(self.options.sync, before))
    }

    /// Decides which steps one file takes and which names they use; changes nothing.
    fn arrange(&mut self, job: &'a Job<'a>) -> Result<(), CommitError> {
        let Some(after) = &job.file.after else {
            self.remove_later(job, &job.target);
            return Ok(());
        };
        if job.source.is_some() || job.before.is_none() {
            self.find_missing_folders(job)?;
        }
        if let Some(before) = job.before {
            if self.keeps_inode(job, after) {
                return self.arrange_kept(job, before, after);
            }
            // The file that a renamed link led to keeps all its names.
            if before.hard_links > 1 && !self.is_link_at(job.preimage_place()) {
                let broken = (job.file.path.clone(), before.hard_links - 1);
                self.prepared.hard_links_broken.push(broken);
            }
        }
        let at = self.hidden_beside(&job.target);
        self.to_stage.push(ToStage { job, after, at: at.clone() });
        if let Some(source) = &job.source {
            self.remove_later(job, source);
        }
        self.arrive_later(job, at);
        Ok(())
    }

    /// Returns a hidden name that is told to the journal.
    fn hidden_beside(&mut self, place: &Place) -> Place {
        let hidden = place.hidden_beside();
        self.hidden.push(hidden.clone());
        hidden
    }

    /// Arranges a file whose inode stays: it may get another name, then other content, then another mode.
    fn arrange_kept(
        &mut self,
        job: &'a Job<'a>,
        before: &'a FoundFile,
        after: &'a After,
    ) -> Result<(), CommitError> {
        if let Some(source) = &job.source {
            self.arrange_move(job, source, before)?;
        }
        if !matches!(after, After::Same) {
            if !self.written_through.insert((before.stamp.device, before.stamp.inode)) {
                return Err(CommitError::SameFile { path: job.file.path.clone() });
            }
            let preimage = self.whole_preimage(job, before)?;
            let through = Through { at: job.target.clone(), before, after, preimage };
            self.steps.publish.push((&job.file.path, Step::WriteThrough(through)));
        }
        if let Some(mode) = job.file.mode.filter(|mode| mode & 0o7777 != before.mode & 0o7777) {
            let (at, file) = (job.target.clone(), before.stamp);
            let step = Step::SetMode { at, file, mode, mode_before: before.mode };
            self.steps.publish.push((&job.file.path, step));
        }
        Ok(())
    }

    fn arrange_move(
        &mut self,
        job: &'a Job<'a>,
        source: &Place,
        before: &FoundFile,
    ) -> Result<(), CommitError> {
        let occupant = job.occupant().map(|occupant| (occupant.stamp.device, occupant.stamp.inode));
        if occupant == Some((before.stamp.device, before.stamp.inode)) {
            // Two names of one file. A rename between hard links does nothing at all, so only the source goes. With
            // one link they are two spellings of one name, and removing one would remove the file.
            if before.hard_links < 2 {
                return Err(job.in_the_way());
            }
            self.remove_later(job, source);
            return Ok(());
        }
        let mut from = source.clone();
        if self.layout.wanted.contains(source) {
            from = self.hidden_beside(source);
            let step = Step::Hide { at: source.clone(), hidden: from.clone() };
            self.steps.hide.push((&job.file.path, step));
        }
        self.arrive_later(job, from);
        Ok(())
    }

    /// Returns the bytes that a file which is overwritten can be restored from.
    fn whole_preimage(&self, job: &Job<'_>, before: &FoundFile) -> Result<Arc<Document>, CommitError> {
        if is_read(before) {
            return Ok(Arc::clone(&before.document));
        }
        let read = self.folders.root().read(&job.preimage_place().path());
        match read.map_err(job.error(Doing::Read))? {
            Some(found) => Ok(found.document),
            None => Err(job.stale()),
        }
    }

    /// Tells whether the file is changed where it is, not replaced by a new one.
    fn keeps_inode(&mut self, job: &Job<'_>, after: &After) -> bool {
        // On another file system the content has to be copied.
        if job.source.is_some() && !self.is_one_device(job) {
            return false;
        }
        match after {
            After::Same => true,
            // A link that is renamed with edits becomes a file; there is nothing to write through.
            After::Spliced(_) | After::Whole(_) => {
                let is_link = job.mode().is_some_and(links::is_link);
                self.options.in_place && !is_link && !self.is_link_at(job.preimage_place())
            }
        }
    }

    fn is_link_at(&mut self, place: &Place) -> bool {
        self.folders.stat(place).is_ok_and(|stands| stands.is_some_and(|stat| is_link(&stat)))
    }

    fn is_one_device(&mut self, job: &Job<'_>) -> bool {
        let mut device = |place: &Place| {
            let folder = self.folders.nearest(place.folder()).ok()?;
            rustix::fs::fstat(&*folder).ok().map(|stat| stamp_of(&stat).device)
        };
        device(job.preimage_place()) == device(&job.target)
    }

    fn remove_later(&mut self, job: &'a Job<'a>, at: &Place) {
        let hidden = self.hidden_beside(at);
        self.publisher.remove_at_end(hidden.clone());
        let is_in_the_way = self.layout.wanted.contains(at);
        let list = if is_in_the_way { &mut self.steps.hide } else { &mut self.steps.drop };
        list.push((&job.file.path, Step::Hide { at: at.clone(), hidden }));
    }

    fn arrive_later(&mut self, job: &'a Job<'a>, from: Place) {
        let to = job.target.clone();
        let step = match job.occupant() {
            Some(occupant) if !self.layout.vacated.contains(&to) => {
                let backup = self.hidden_beside(&to);
                Step::Replace { from, to, backup, occupant: occupant.stamp }
            }
            _ => Step::Arrive { from, to },
        };
        self.steps.publish.push((&job.file.path, step));
    }

    fn find_missing_folders(&mut self, job: &Job<'_>) -> Result<(), CommitError> {
        let missing = self.folders.missing(job.target.folder()).map_err(job.error(Doing::MakeFolder))?;
        for place in missing {
            if !self.to_make.contains(&place) {
                self.to_make.push(place);
            }
        }
        Ok(())
    }

    fn make_folders(&mut self) -> Result<(), CommitError> {
        for place in std::mem::take(&mut self.to_make) {
            let made = self.folders.make_folder(&place);
            if made.map_err(system_error(&place.path(), Doing::MakeFolder))? {
                self.made.push(place);
            }
        }
        Ok(())
    }

    /// Begins the journal, unless the commit is one call of the system's.
    fn begin_journal(&mut self, steps: &[(&PathText, Step<'_>)]) -> Result<(), CommitError> {
        let Some(journal) = self.options.journal else { return Ok(()) };
        let is_one_call = matches!(steps, [(_, Step::SetMode { .. })]);
        if steps.is_empty() || is_one_call && self.options.log_entry.is_none() {
            return Ok(());
        }
        let root = self.folders.root();
        let jobs = self.layout.jobs.iter();
        let old = jobs.flat_map(|job| job.before.into_iter().chain(job.occupant()));
        let intent = Intent {
            root: PathText::new(root.dir().as_os_str().as_bytes()),
            device: root.device(),
            inode: root.inode(),
            sync: self.options.sync,
            folders: self.to_make.clone(),
            hidden: self.hidden.clone(),
            old_inodes: old.map(|found| found.stamp.inode).collect(),
        };
        let syncs = self.options.sync && steps.len() > 1;
        let before = || self.folders.about_to(Moment::Journal, &PathText::default());
        match journal.begin(&intent, syncs, &before) {
            Ok(()) => self.is_journaled = true,
            // One step is whole by itself; killed in it, a run leaves a hidden name behind, and its entry is in no log.
            Err(_) if steps.len() == 1 => {}
            Err(error) => return Err(CommitError::Journal(error)),
        }
        Ok(())
    }

    /// Tells the journal which steps will be taken.
    fn add_moves(&mut self, steps: &[(&PathText, Step<'_>)]) -> Result<(), CommitError> {
        let mut list = Vec::new();
        // What an earlier step hides stands at its old place yet.
        let mut origins = HashMap::new();
        for (path, step) in steps {
            if let Step::Hide { at, hidden } = step {
                origins.insert(hidden, at);
            }
            list.push(self.as_move(step, &origins).map_err(system_error(path, Doing::Read))?);
        }
        let log_entry = self.options.log_entry.map(|log_entry| log_entry(&self.prepared));
        let syncs = self.options.sync && steps.len() > 1;
        self.with_journal(|journal, before| journal.add_moves(&Moves { list, log_entry }, syncs, before))
    }

    fn as_move(&mut self, step: &Step<'_>, origins: &HashMap<&Place, &Place>) -> std::io::Result<Move> {
        Ok(match step {
            Step::Hide { at, hidden } => {
                Move::Hide { at: at.clone(), hidden: hidden.clone(), inode: self.stamp_at(at)?.inode }
            }
            Step::Arrive { from, to } => {
                let (file, is_new) = self.arriving(from, origins)?;
                Move::Arrive { from: from.clone(), to: to.clone(), file, is_new }
            }
            Step::Replace { from, to, backup, occupant } => {
                let (file, is_new) = self.arriving(from, origins)?;
                let (from, to, backup) = (from.clone(), to.clone(), backup.clone());
                Move::Replace { from, to, backup, file, is_new, occupant_inode: occupant.inode }
            }
            Step::SetMode { at, file, mode, mode_before } => {
                Move::SetMode { at: at.clone(), inode: file.inode, mode: *mode, mode_before: *mode_before }
            }
            Step::WriteThrough(through) => {
                let old = through.preimage.bytes();
                let is_short = old.len() + stage::content_length(Some(through.before), through.after)
                    <= LIMIT_CONTENTS_BYTES;
                let contents = || {
                    let new = stage::content(Some(through.before), through.after);
                    Contents { old: old.to_vec(), new }
                };
                Move::WriteThrough {
                    at: through.at.clone(),
                    inode: through.before.stamp.inode,
                    mode: through.before.mode,
                    contents: is_short.then(contents),
                }
            }
        })
    }

    /// Returns what comes from a place in a step, and whether it is new.
    fn arriving(
        &mut self,
        from: &Place,
        origins: &HashMap<&Place, &Place>,
    ) -> std::io::Result<(Stamp, bool)> {
        match self.staged.get(from) {
            Some(stamp) => Ok((*stamp, true)),
            None => Ok((self.stamp_at(origins.get(from).unwrap_or(&from))?, false)),
        }
    }

    fn stamp_at(&mut self, at: &Place) -> std::io::Result<Stamp> {
        Ok(stamp_of(&self.folders.stat(at)?.ok_or(Errno::NOENT)?))
    }

    fn with_journal(
        &self,
        write: impl FnOnce(&Journal, &dyn Fn() -> std::io::Result<()>) -> Result<(), JournalError>,
    ) -> Result<(), CommitError> {
        let Some(journal) = self.options.journal else { return Ok(()) };
        let before = || self.folders.about_to(Moment::Journal, &PathText::default());
        write(journal, &before).map_err(CommitError::Journal)
    }

    /// Writes a file's content to a temporary beside its target.
    fn stage(&mut self, staging: &ToStage<'_>) -> Result<(), CommitError> {
        let ToStage { job, after, at } = staging;
        let file = job.file;
        let write_error = || job.error(Doing::Write);
        let mode = job.mode();
        if mode.is_some_and(links::is_link) {
            return self.stage_link(staging);
        }
        let made_with = match (mode, &file.before) {
            (Some(mode), _) => stage::first_mode(mode),
            (None, Some(copied)) => copied.mode & 0o777,
            (None, None) => 0o666,
        };
        let mut temporary = self.folders.create(at, made_with).map_err(write_error())?;
        self.staged.insert(at.clone(), Stamp::default());
        self.folders.about_to(Moment::Write, &file.path).map_err(write_error())?;
        stage::reserve(&temporary, stage::content_length(file.before.as_ref(), after));
        stage::write_content(&mut temporary, file.before.as_ref(), after).map_err(write_error())?;
        // What comes now changes neither its size nor the time of its content.
        let written = rustix::fs::fstat(&temporary).map_err(|errno| write_error()(errno.into()))?;
        self.staged.insert(at.clone(), stamp_of(&written));
        let mut mode_now = Some(mode_of(&written) & 0o7777);
        // A file that comes in the place of a link has nothing of the link's.
        if let Some(before) = job.before
            && !links::is_link(before.mode)
            && self.carry_over(job, before, (&temporary, &written), at)?
        {
            mode_now = None;
        }
        if let Some(mode) = mode.filter(|mode| Some(mode & 0o7777) != mode_now) {
            let mode_error = || job.error(Doing::SetMode);
            self.folders.about_to(Moment::SetMode, &file.path).map_err(mode_error())?;
            stage::set_mode(&temporary, mode).map_err(mode_error())?;
        }
        if self.options.sync {
            self.folders.about_to(Moment::Sync, &file.path).map_err(write_error())?;
            temporary.sync_all().map_err(write_error())?;
        }
        if job.before.is_none() {
            let bits = mode.map_or(mode_of(&written), |mode| mode & 0o7777 | mode_of(&written) & !0o7777);
            self.prepared.modes[job.index] = Some(bits);
        }
        Ok(())
    }

    /// Makes a link beside its target, as a temporary too: what is to be a link has its target as content.
    fn stage_link(&mut self, staging: &ToStage<'_>) -> Result<(), CommitError> {
        let ToStage { job, after, at } = staging;
        let write_error = || job.error(Doing::Write);
        let before = job.file.before.as_ref().map_or(&b""[..], |found| found.document.bytes());
        let target = match after {
            After::Same => before.to_vec(),
            After::Whole(document) => document.bytes().to_vec(),
            After::Spliced(splices) => splices.apply(before),
        };
        self.folders.about_to(Moment::Write, &job.file.path).map_err(write_error())?;
        self.folders.create_link(at, &target).map_err(write_error())?;
        self.staged.insert(at.clone(), Stamp::default());
        let stands = self.folders.stat(at).map_err(write_error())?.ok_or_else(|| job.stale())?;
        self.staged.insert(at.clone(), stamp_of(&stands));
        if job.before.is_none() {
            self.prepared.modes[job.index] = Some(links::LINK_MODE);
        }
        Ok(())
    }

    /// Gives a temporary what its file has; `false` if there was nothing to give.
    fn carry_over(
        &mut self,
        job: &Job<'_>,
        before: &FoundFile,
        (temporary, stat): (&File, &Stat),
        at: &Place,
    ) -> Result<bool, CommitError> {
        let owner_error = |source| CommitError::Owner { path: job.file.path.clone(), source };
        self.folders.about_to(Moment::CarryOver, &job.file.path).map_err(owner_error)?;
        if before.stamp.attributes == Attributes::None && stamp_of(stat).owner == before.stamp.owner {
            // A folder gives all files that are made in it the same attributes, or none.
            if self.plain_folders.contains(at.folder()) {
                return Ok(false);
            }
            if stage::attributes_of(temporary) == Attributes::None {
                self.plain_folders.insert(at.folder().to_vec());
                return Ok(false);
            }
        }
        let path = job.preimage_place().path();
        let root = self.folders.root();
        let opened = match root.open_file(&path) {
            // The preimage is what a link leads to.
            Err(Errno::LOOP) => match root.follow(&path) {
                Some((real, _)) => root.open_file(&real),
                None => Err(Errno::NOENT),
            },
            opened => opened,
        };
        let preimage = match opened {
            Err(Errno::NOENT | Errno::LOOP) => return Err(job.stale()),
            opened => opened.map_err(|errno| job.error(Doing::Read)(errno.into()))?,
        };
        stage::carry_over(&preimage, temporary).map_err(owner_error)?;
        Ok(true)
    }

    /// Compares what stands at a file's places with what was read.
    fn compare(&mut self, job: &Job<'_>) -> Result<(), CommitError> {
        let file = job.file;
        self.folders.about_to(Moment::Compare, &file.path).map_err(job.error(Doing::Read))?;
        match (job.before, &file.before) {
            (Some(before), _) => self.compare_file(job, job.preimage_place(), before)?,
            (None, Some(copied)) => {
                let real = match &file.from {
                    Some(from) if links::is_link(copied.mode) => Some(from.clone()),
                    Some(from) => self.folders.root().follow(from).map(|(real, _)| real),
                    None => None,
                };
                let place = real.and_then(|real| Place::of(&real)).ok_or_else(|| job.stale())?;
                self.compare_file(job, &place, copied)?;
            }
            (None, None) => {}
        }
        let is_compared = job.before.is_some() && job.source.is_none();
        let is_freed = file.after.is_some() && self.layout.vacated.contains(&job.target);
        if is_compared || is_freed {
            return Ok(());
        }
        match &file.target_before {
            FileState::File(occupant) => self.compare_file(job, &job.target, occupant),
            _ => match self.folders.stat(&job.target).map_err(job.error(Doing::Read))? {
                Some(_) => Err(job.in_the_way()),
                None => Ok(()),
            },
        }
    }

    fn compare_file(&mut self, job: &Job<'_>, at: &Place, found: &FoundFile) -> Result<(), CommitError> {
        let stands = self.folders.stat(at).map_err(job.error(Doing::Read))?;
        let mut stat = stands.ok_or_else(|| job.stale())?;
        let mut real = at.path();
        if links::is_link(found.mode) {
            // The target of a link never changes: another one is another link.
            let is_same = is_link(&stat) && stamp_of(&stat) == found.stamp;
            return if is_same { Ok(()) } else { Err(job.stale()) };
        }
        if is_link(&stat) {
            (real, stat) = self.folders.root().follow(&real).ok_or_else(|| job.stale())?;
        }
        let stamp = Stamp { attributes: found.stamp.attributes, ..stamp_of(&stat) };
        if stamp != found.stamp || mode_of(&stat) != found.mode {
            return Err(job.stale());
        }
        // On a file system that ignores case, or how letters are composed, two spellings lead to one file; what is done
        // to it by one name would be undone by the other.
        let key = (found.stamp.device, found.stamp.inode);
        if found.hard_links == 1
            && Place::of(&real).is_some_and(|place| {
                self.compared.insert(key, place.clone()).is_some_and(|other| other != place)
            })
        {
            return Err(CommitError::TwoSpellings { path: job.file.path.clone() });
        }
        let is_old =
            self.options.read_since_ns.is_some_and(|since| found.stamp.changed_ns + YOUNG_NS <= since);
        if is_old || !is_read(found) {
            return Ok(());
        }
        let holds = self.folders.root().holds(&real, found.document.bytes());
        if holds.map_err(job.error(Doing::Read))? { Ok(()) } else { Err(job.stale()) }
    }

    /// Removes the old files, makes sure of the names and says what is to be known.
    fn finish(mut self) -> Committed {
        let syncs = self.options.sync && !self.is_synced;
        let mut unsynced = if syncs && !self.is_journaled { self.sync_folders() } else { Vec::new() };
        let left_behind = self.publisher.remove_garbage(&mut self.folders);
        // One file has changed its name and its old one is gone: one sync is for both.
        if syncs && self.is_journaled {
            unsynced = self.sync_folders();
        }
        if self.options.log_entry.is_none() && left_behind.is_empty() {
            // If that fails, the next run finds a commit that it has nothing to do for, and says so.
            let _ = self.with_journal(|journal, before| journal.remove(before));
        }
        Committed { prepared: self.prepared, left_behind, unsynced }
    }

    fn sync_folders(&mut self) -> Vec<PathText> {
        let mut folders = self.changed_folders();
        folders.retain(|folder| self.folders.sync(folder).is_err());
        folders.into_iter().map(PathText::new).collect()
    }

    fn sync_all_folders(&mut self) -> Result<(), (PathText, std::io::Error)> {
        for folder in self.changed_folders() {
            self.folders.sync(&folder).map_err(|error| (PathText::new(folder), error))?;
        }
        Ok(())
    }

    fn changed_folders(&self) -> Vec<Vec<u8>> {
        let named = self.layout.jobs.iter().flat_map(|job| job.source.iter().chain([&job.target]));
        let mut folders: Vec<Vec<u8>> =
            named.chain(&self.made).map(|place| place.folder().to_vec()).collect();
        folders.sort();
        folders.dedup();
        folders
    }

    /// Undoes what was done, and removes everything that was made.
    fn take_back(mut self, cause: CommitError) -> CommitError {
        let strays = self.publisher.undo_all(&mut self.folders);
        let mut is_clean = strays.is_empty();
        for place in self.staged.keys() {
            // What could not be undone may have left the only copy of an old file under a temporary's name.
            if strays.iter().all(|(_, now)| now != place) {
                is_clean &= self.folders.remove(place).is_ok();
            }
        }
        for place in self.made.iter().rev() {
            // Somebody else may have put something in it, and then it stays.
            let _ = self.folders.remove_folder(place);
        }
        // What could not be taken back now, the next run tries again.
        if is_clean {
            let _ = self.with_journal(|journal, before| journal.remove(before));
        }
        if strays.is_empty() {
            return cause;
        }
        let strays = strays.into_iter().map(|(place, now)| (place.path(), now.path())).collect();
        CommitError::NotUndone { cause: Box::new(cause), strays }
    }
}

fn is_link(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Symlink
}

/// Tells whether a file's bytes were read, not only its metadata.
fn is_read(found: &FoundFile) -> bool {
    found.document.bytes().len() as u64 == found.stamp.size
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "disk/ is the room that opens files")]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeMap;
    use std::io;
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::fs::PermissionsExt;

    use super::super::folder::Ways;
    use super::super::planning::OPTIONS;
    use super::super::planning::Planning;
    use super::super::planning::WAYS;
    use super::super::planning::first_byte;
    use super::super::planning::whole;
    use super::super::tree::Node;
    use super::super::tree::Tree;
    use super::super::tree::link;
    use super::super::tree::nodes;
    use super::super::tree::text;
    use super::super::tree::with_mode;
    use super::*;
    use crate::report::Code;
    use crate::text::Splice;
    use crate::text::Splices;

    type Nodes = BTreeMap<String, Node>;

    const IN_PLACE: CommitOptions<'static> = CommitOptions { in_place: true, ..OPTIONS };

    /// Commits a plan in every way, with and without syncing; then fails it at every moment, in every way.
    ///
    /// A success gives `after`, a failure leaves everything as it was.
    fn check(
        before: &[(&str, Node)],
        plan: impl Fn(Planning) -> Planning,
        options: CommitOptions<'_>,
        after: &[(&str, Node)],
    ) {
        for ways in WAYS {
            let tree = Tree::new(before);
            let synced = CommitOptions { sync: true, ..options };
            let committed = plan(Planning::of(&tree)).commit_with(&synced, ways, &|_, _| Ok(()));
            let committed = committed.unwrap();
            assert_eq!((committed.left_behind, committed.unsynced), (vec![], vec![]));
            assert_eq!(tree.nodes(), nodes(after), "{ways:?}");
            check_failures(before, &plan, options, ways);
        }
    }

    fn check_failures(
        before: &[(&str, Node)],
        plan: &impl Fn(Planning) -> Planning,
        options: CommitOptions<'_>,
        ways: Ways,
    ) {
        for failing in 0.. {
            let tree = Tree::new(before);
            let (untouched, links_before) = (tree.nodes(), hard_links(&tree));
            let moments_left = Cell::new(failing);
            let answer = plan(Planning::of(&tree)).commit_with(&options, ways, &|_, _| {
                moments_left.set(moments_left.get() - 1);
                if moments_left.get() == -1 { Err(io::Error::other("no")) } else { Ok(()) }
            });
            let failed_moment = format!("moment {failing}, {ways:?}: {answer:?}");
            match answer {
                Ok(_) if moments_left.get() >= 0 => {
                    assert!(failing > 2, "nothing was made to fail");
                    return;
                }
                // Only an old file could not be removed.
                Ok(committed) => assert_eq!(committed.left_behind.len(), 1, "{failed_moment}"),
                Err(error) => {
                    assert!(!matches!(error, CommitError::NotUndone { .. }), "{failed_moment}");
                    assert_eq!(tree.nodes(), untouched, "{failed_moment}");
                    assert_eq!(hard_links(&tree), links_before, "{failed_moment}");
                }
            }
        }
    }

    fn hard_links(tree: &Tree) -> Vec<u64> {
        let files = tree.nodes().into_keys().map(|path| tree.root().join(path));
        files
            .map(|path| path.symlink_metadata().unwrap())
            .filter(|data| data.is_file())
            .map(|data| data.nlink())
            .collect()
    }

    #[test]
    fn an_update_is_one_rename_and_keeps_every_mode_bit() {
        for mode in [0o644, 0o755, 0o600, 0o4755, 0o2711, 0o1640, 0o444] {
            check(
                &[("d/a", with_mode("1\n2\n", mode)), ("k", text("k"))],
                |plan| plan.update("d/a", first_byte("one")),
                OPTIONS,
                &[("d/a", with_mode("one\n2\n", mode)), ("k", text("k"))],
            );
        }
    }

    #[test]
    fn a_create_makes_its_folders_and_takes_them_back() {
        check(
            &[("k", text("k"))],
            |plan| plan.create("x/y/n", "n"),
            OPTIONS,
            &[("k", text("k")), ("x/y/n", text("n"))],
        );
        check(
            &[("d", Node::Folder)],
            |plan| plan.create("d/n", "n").with_mode(0o100755).create("d/e/m", "m").create("d/e/l", "l"),
            OPTIONS,
            &[("d/n", with_mode("n", 0o755)), ("d/e/m", text("m")), ("d/e/l", text("l"))],
        );
    }

    #[test]
    fn a_delete_removes_one_name() {
        check(&[("d/a", text("1"))], |plan| plan.delete("d/a"), OPTIONS, &[("d", Node::Folder)]);
        check(
            &[("a", text("1")), ("l", link("a")), ("ll", link("l"))],
            |plan| plan.delete("l"),
            OPTIONS,
            &[("a", text("1")), ("ll", link("l"))],
        );
    }

    #[test]
    fn a_rename_moves_the_file_with_or_without_edits() {
        let before = [("a", with_mode("1", 0o750))];
        check(
            &before,
            |plan| plan.rename("a", "x/b", After::Same),
            OPTIONS,
            &[("x/b", with_mode("1", 0o750))],
        );
        check(
            &before,
            |plan| plan.rename("a", "x/b", first_byte("2")),
            OPTIONS,
            &[("x/b", with_mode("2", 0o750))],
        );
        check(
            &before,
            |plan| plan.rename("a", "b", After::Same).with_mode(0o100600),
            OPTIONS,
            &[("b", with_mode("1", 0o600))],
        );
        let occupied = [("a", with_mode("1", 0o750)), ("b", text("old"))];
        check(&occupied, |plan| plan.rename("a", "b", After::Same), OPTIONS, &[("b", with_mode("1", 0o750))]);
        check(
            &occupied,
            |plan| plan.rename("a", "b", first_byte("2")),
            OPTIONS,
            &[("b", with_mode("2", 0o750))],
        );
        // Not the last step, so that the replaced file has to be kept for a while.
        check(
            &occupied,
            |plan| plan.rename("a", "b", After::Same).create("c", "c"),
            OPTIONS,
            &[("b", with_mode("1", 0o750)), ("c", text("c"))],
        );
    }

    #[test]
    fn a_link_is_moved_as_a_link_and_edited_through() {
        let before = [("a", text("1")), ("l", link("a"))];
        check(
            &before,
            |plan| plan.rename("l", "m", After::Same),
            OPTIONS,
            &[("a", text("1")), ("m", link("a"))],
        );
        check(
            &before,
            |plan| plan.update("l", first_byte("2")),
            OPTIONS,
            &[("a", text("2")), ("l", link("a"))],
        );
        for options in [OPTIONS, IN_PLACE] {
            check(
                &before,
                |plan| plan.rename("l", "m", first_byte("2")),
                options,
                &[("a", text("1")), ("m", text("2"))],
            );
        }
    }

    #[test]
    fn a_mode_changes_alone() {
        check(
            &[("a", with_mode("1", 0o644))],
            |plan| plan.update("a", After::Same).with_mode(0o100755),
            OPTIONS,
            &[("a", with_mode("1", 0o755))],
        );
        check(
            &[("a", with_mode("1", 0o644))],
            |plan| plan.update("a", first_byte("2")).with_mode(0o100755),
            OPTIONS,
            &[("a", with_mode("2", 0o755))],
        );
    }

    #[test]
    fn a_copy_is_a_new_file() {
        check(
            &[("a", with_mode("1", 0o755))],
            |plan| plan.rename("a", "b", After::Same).copied().rename("a", "c", first_byte("2")).copied(),
            OPTIONS,
            &[("a", with_mode("1", 0o755)), ("b", with_mode("1", 0o755)), ("c", with_mode("2", 0o755))],
        );
    }

    #[test]
    fn several_files_are_one_commit() {
        check(
            &[("a", text("1")), ("b", text("1")), ("c/d", text("1")), ("e", text("e"))],
            |plan| {
                plan.update("a", first_byte("2"))
                    .rename("b", "b2/b", first_byte("2"))
                    .delete("c/d")
                    .create("n", "n")
                    .update("e", whole("E"))
            },
            OPTIONS,
            &[("a", text("2")), ("b2/b", text("2")), ("c", Node::Folder), ("n", text("n")), ("e", text("E"))],
        );
    }

    #[test]
    fn names_can_go_round_in_one_plan() {
        let before = [("a", text("a")), ("b", text("b")), ("c", text("c"))];
        let same = || After::Same;
        check(
            &before,
            |plan| plan.rename("a", "b", same()).rename("b", "a", same()),
            OPTIONS,
            &[("a", text("b")), ("b", text("a")), ("c", text("c"))],
        );
        check(
            &before,
            |plan| plan.rename("a", "b", first_byte("A")).rename("b", "d", same()),
            OPTIONS,
            &[("b", text("A")), ("d", text("b")), ("c", text("c"))],
        );
        check(
            &before,
            |plan| plan.rename("a", "b", same()).delete("b"),
            OPTIONS,
            &[("b", text("a")), ("c", text("c"))],
        );
        check(
            &before,
            |plan| plan.rename("a", "b", same()).rename("b", "c", first_byte("B")).rename("c", "a", same()),
            OPTIONS,
            &[("a", text("c")), ("b", text("a")), ("c", text("B"))],
        );
        check(
            &before,
            |plan| plan.rename("a", "x", same()).create("a", "new"),
            OPTIONS,
            &[("a", text("new")), ("x", text("a")), ("b", text("b")), ("c", text("c"))],
        );
    }

    #[test]
    fn in_place_keeps_the_inode() {
        let before = [("a", with_mode("1234", 0o444)), ("b", with_mode("1", 0o4755)), ("c", text("c"))];
        check(
            &before,
            |plan| {
                plan.update("a", whole("x"))
                    .rename("b", "d", first_byte("22"))
                    .update("c", first_byte("cc"))
                    .create("n", "n")
            },
            IN_PLACE,
            &[
                ("a", with_mode("x", 0o444)),
                ("d", with_mode("22", 0o4755)),
                ("c", text("cc")),
                ("n", text("n")),
            ],
        );
        let tree = Tree::new(&before);
        let inode = |path: &str| tree.root().join(path).metadata().unwrap().ino();
        std::fs::hard_link(tree.root().join("a"), tree.root().join("a2")).unwrap();
        let inodes = (inode("a"), inode("b"));
        let plan = Planning::of(&tree).update("a", whole("x")).rename("b", "d", first_byte("2"));
        assert_eq!(plan.commit(&IN_PLACE).unwrap().left_behind, []);
        assert_eq!((inode("a"), inode("d")), inodes);
        assert_eq!(std::fs::read(tree.root().join("a2")).unwrap(), b"x");
        let twice = Planning::of(&tree).update("a", whole("y")).update("a2", whole("z"));
        assert!(matches!(twice.commit(&IN_PLACE), Err(CommitError::SameFile { .. })));
        assert_eq!(std::fs::read(tree.root().join("a2")).unwrap(), b"x");
    }

    #[test]
    fn broken_hard_links_are_counted() {
        let tree = Tree::new(&[("a", text("1")), ("d", text("2"))]);
        for other in ["b", "c"] {
            std::fs::hard_link(tree.root().join("a"), tree.root().join(other)).unwrap();
        }
        let plan = Planning::of(&tree).update("a", first_byte("2")).update("d", first_byte("3"));
        let committed = plan.commit(&OPTIONS).unwrap();
        assert_eq!(committed.prepared.hard_links_broken, [("a".into(), 2)]);
        assert_eq!(
            tree.nodes(),
            nodes(&[("a", text("2")), ("b", text("1")), ("c", text("1")), ("d", text("3"))])
        );
        // A rename between two hard links of one file: the system would do nothing at all.
        let plan = Planning::of(&tree).rename("b", "c", After::Same);
        assert_eq!(plan.commit(&OPTIONS).unwrap().left_behind, []);
        assert_eq!(tree.nodes(), nodes(&[("a", text("2")), ("c", text("1")), ("d", text("3"))]));
    }

    #[test]
    fn owner_and_attributes_are_carried_over() {
        let tree = Tree::new(&[("a", with_mode("1", 0o4750))]);
        let at = tree.root().join("a");
        let flags = rustix::fs::XattrFlags::empty();
        let has_attributes = rustix::fs::setxattr(&at, "user.note", b"kept", flags).is_ok();
        let is_owned = std::os::unix::fs::chown(&at, Some(1234), Some(2345)).is_ok();
        std::fs::set_permissions(&at, PermissionsExt::from_mode(0o4750)).unwrap();
        Planning::of(&tree).update("a", first_byte("2")).commit(&OPTIONS).unwrap();
        let metadata = at.metadata().unwrap();
        assert_eq!(metadata.mode(), 0o104750);
        if is_owned {
            assert_eq!((metadata.uid(), metadata.gid()), (1234, 2345));
        }
        if has_attributes {
            let mut value = [0; 16];
            let length = rustix::fs::getxattr(&at, "user.note", &mut value[..]).unwrap();
            assert_eq!(&value[..length], b"kept");
        }
    }

    #[test]
    fn an_owner_that_cannot_be_kept_refuses_with_a_hint() {
        let tree = Tree::new(&[("a", text("1"))]);
        let plan = Planning::of(&tree).update("a", first_byte("2"));
        let error = plan.commit_with(&OPTIONS, Ways::default(), &|moment, _| match moment {
            Moment::CarryOver => Err(io::ErrorKind::PermissionDenied.into()),
            _ => Ok(()),
        });
        let problem = error.unwrap_err().problem();
        assert_eq!((problem.code, problem.path.as_deref()), (Code::Owner, Some("a")));
        assert!(problem.hint.unwrap().contains("--in-place"));
        assert_eq!(tree.nodes(), nodes(&[("a", text("1"))]));
    }

    /// Commits a plan of `a` (and more) after `change` has changed the tree; nothing else may happen.
    fn check_stale(change: impl Fn(&Tree), expected: Code) {
        let plans: [fn(Planning) -> Planning; 4] = [
            |plan| plan.update("a", first_byte("2")),
            |plan| plan.delete("a").create("x/n", "n"),
            |plan| plan.rename("a", "x/b", After::Same),
            |plan| plan.rename("a", "x/b", first_byte("2")).create("n", "n"),
        ];
        for plan in plans {
            for options in [OPTIONS, IN_PLACE] {
                let tree = Tree::new(&[("a", text("1")), ("k", text("k"))]);
                let planning = plan(Planning::of(&tree));
                let seen: Cell<Option<Nodes>> = Cell::new(None);
                // The last moment at which somebody else can still be noticed.
                let answer = planning.commit_with(&options, Ways::default(), &|moment, path| {
                    let is_last = planning.plan.files[0].path == *path;
                    if moment == Moment::Compare && is_last {
                        change(&tree);
                        seen.set(Some(tree.nodes()));
                    }
                    Ok(())
                });
                assert_eq!(answer.unwrap_err().problem().code, expected);
                let left = |mut nodes: Nodes| {
                    nodes.retain(|path, _| !path.contains(".hunkwise-") && path != "x");
                    nodes
                };
                assert_eq!(tree.nodes(), left(seen.take().unwrap()));
            }
        }
    }

    #[test]
    fn a_file_that_changed_since_is_stale() {
        // Of the same length, and within one tick of the file system's clock: only its bytes tell.
        check_stale(|tree| std::fs::write(tree.root().join("a"), "X").unwrap(), Code::Stale);
        check_stale(|tree| std::fs::remove_file(tree.root().join("a")).unwrap(), Code::Stale);
        check_stale(|tree| tree.put("a", &text("1")), Code::Stale);
        let mode = |tree: &Tree| {
            std::fs::set_permissions(tree.root().join("a"), PermissionsExt::from_mode(0o600)).unwrap();
        };
        check_stale(mode, Code::Stale);
        let to_link = |tree: &Tree| {
            std::fs::remove_file(tree.root().join("a")).unwrap();
            tree.put("a", &link("k"));
        };
        check_stale(to_link, Code::Stale);
    }

    #[test]
    fn old_files_are_compared_by_their_times_only() {
        let tree = Tree::new(&[("a", text("1"))]);
        let planning = Planning::of(&tree).update("a", first_byte("2"));
        let changed_ns = planning.plan.files[0].before.as_ref().unwrap().stamp.changed_ns;
        let mut other = planning.plan.clone();
        let before = other.files[0].before.as_mut().unwrap();
        before.document = Arc::new(Document::new(b"X".to_vec()));
        let at = |since| CommitOptions { read_since_ns: Some(since), ..OPTIONS };
        let young = commit(&planning.root, &other, &at(changed_ns + YOUNG_NS - 1));
        assert!(matches!(young, Err(CommitError::Stale { .. })));
        commit(&planning.root, &other, &at(changed_ns + YOUNG_NS)).unwrap();
    }

    #[test]
    fn a_file_that_is_replaced_in_the_last_moment_is_not_lost() {
        let tree = Tree::new(&[("a", text("1")), ("k", text("k"))]);
        let planning = Planning::of(&tree).update("a", first_byte("2")).update("k", first_byte("K"));
        let answer = planning.commit_with(&OPTIONS, Ways::default(), &|moment, path| {
            if moment == Moment::Step && path.bytes() == b"a" {
                std::fs::write(tree.root().join("a"), "somebody's").unwrap();
            }
            Ok(())
        });
        assert!(matches!(answer, Err(CommitError::Stale { .. })));
        assert_eq!(tree.nodes(), nodes(&[("a", text("somebody's")), ("k", text("k"))]));
    }

    #[test]
    fn nothing_is_clobbered_that_comes_in_between() {
        for ways in WAYS {
            for moment_of_change in [Moment::Compare, Moment::Step] {
                let tree = Tree::new(&[("a", text("1")), ("b", text("2"))]);
                let planning = Planning::of(&tree).update("b", first_byte("x")).rename("a", "n", After::Same);
                let answer = planning.commit_with(&OPTIONS, ways, &|moment, path| {
                    if moment == moment_of_change && path.bytes() == b"n" {
                        tree.put("n", &text("somebody's"));
                    }
                    Ok(())
                });
                assert_eq!(answer.unwrap_err().problem().code, Code::FileExists);
                let expected = [("a", text("1")), ("b", text("2")), ("n", text("somebody's"))];
                assert_eq!(tree.nodes(), nodes(&expected));
            }
        }
    }

    #[test]
    fn a_name_may_be_as_long_as_a_name_can_be_and_need_not_be_text() {
        let long = "n".repeat(255);
        let plan = |plan: Planning| plan.update(&long, first_byte("2")).create(&"m".repeat(255), "m");
        check(&[(&long, text("1"))], plan, OPTIONS, &[(&long, text("2")), (&"m".repeat(255), text("m"))]);
        let tree = Tree::new(&[("k", text("k"))]);
        let mut planning = Planning::of(&tree).create("n", "n");
        planning.plan.files[0].target = PathText::new(&b"d\xE9/caf\xE9"[..]);
        planning.commit(&OPTIONS).unwrap();
        use std::os::unix::ffi::OsStrExt;
        let at = tree.root().join(std::ffi::OsStr::from_bytes(b"d\xE9/caf\xE9"));
        assert_eq!(std::fs::read(at).unwrap(), b"n");
    }

    #[test]
    fn a_mode_without_any_bit_is_kept() {
        let none = [("a", with_mode("1", 0))];
        if std::fs::read(Tree::new(&none).root().join("a")).is_err() {
            return; // Only root can read such a file.
        }
        for mode in [0, 0o111, 0o222, 0o7777] {
            check(
                &[("a", with_mode("1", mode))],
                |plan| plan.update("a", first_byte("2")),
                OPTIONS,
                &[("a", with_mode("2", mode))],
            );
        }
    }

    #[test]
    fn a_folder_that_gives_access_lists_gives_none_to_a_file_without() {
        let tree = Tree::new(&[("d/a", with_mode("1", 0o640)), ("e/a", with_mode("1", 0o644))]);
        // Version 2; user rwx, user 1234 rw-, group r-x, mask rwx, others none: linux/posix_acl_xattr.h.
        let entries: [(u16, u16, u32); 5] = [
            (0x01, 7, u32::MAX),
            (0x02, 6, 1234),
            (0x04, 5, u32::MAX),
            (0x10, 7, u32::MAX),
            (0x20, 0, u32::MAX),
        ];
        let mut list = 2_u32.to_le_bytes().to_vec();
        for (tag, bits, id) in entries {
            list.extend(tag.to_le_bytes());
            list.extend(bits.to_le_bytes());
            list.extend(id.to_le_bytes());
        }
        let flags = rustix::fs::XattrFlags::empty();
        let set =
            |path: &str, name: &str| rustix::fs::setxattr(tree.root().join(path), name, &list, flags).is_ok();
        if !set("d", "system.posix_acl_default") || !set("e/a", "system.posix_acl_access") {
            return; // A file system without access lists.
        }
        let names = |path: &str| {
            let mut names = [0; 256];
            let length = rustix::fs::listxattr(tree.root().join(path), &mut names[..]).unwrap();
            String::from_utf8_lossy(&names[..length]).into_owned()
        };
        let listed = names("e/a");
        assert!(listed.contains("posix_acl_access"));
        let plan = Planning::of(&tree).update("d/a", first_byte("2")).update("e/a", first_byte("2"));
        plan.create("d/n", "n").commit(&OPTIONS).unwrap();
        assert_eq!((names("d/a"), names("e/a")), (String::new(), listed));
        assert_eq!(tree.nodes()["d/a"], with_mode("2", 0o640));
        // A new file takes what its folder gives.
        assert!(names("d/n").contains("posix_acl_access"));
    }

    #[test]
    fn two_spellings_of_one_file_are_refused() {
        // As on a file system that ignores case: two paths, one inode, one link.
        let tree = Tree::new(&[("a", text("1")), ("k", text("k"))]);
        std::fs::hard_link(tree.root().join("a"), tree.root().join("A")).unwrap();
        let untouched = tree.nodes();
        let plans: [fn(Planning) -> Planning; 4] = [
            |plan| plan.update("a", first_byte("2")).update("A", first_byte("3")),
            |plan| plan.update("a", first_byte("2")).delete("A"),
            |plan| plan.rename("a", "A", first_byte("2")),
            |plan| plan.update("k", first_byte("2")).rename("a", "n", After::Same).delete("A"),
        ];
        for plan in plans {
            let mut planning = plan(Planning::of(&tree));
            for file in &mut planning.plan.files {
                let occupant = match &mut file.target_before {
                    FileState::File(occupant) => Some(occupant),
                    _ => None,
                };
                for found in file.before.iter_mut().chain(occupant) {
                    found.hard_links = 1;
                }
            }
            let error = planning.commit(&OPTIONS).unwrap_err();
            assert!(matches!(error, CommitError::TwoSpellings { .. }), "{error:?}");
            assert_eq!(tree.nodes(), untouched);
        }
    }

    #[test]
    fn creates_that_exclude_each_other_are_refused() {
        for (first, second) in [("x", "x/y"), ("x/y", "x"), ("x", "x")] {
            let tree = Tree::new(&[("k", text("k"))]);
            let answer = Planning::of(&tree).create(first, "1").create(second, "2").commit(&OPTIONS);
            assert!(answer.is_err());
            assert_eq!(tree.nodes(), nodes(&[("k", text("k"))]));
        }
        let tree = Tree::new(&[("a", text("1"))]);
        let mut planning = Planning::of(&tree).create("n", "n");
        planning.plan.files[0].target = "a/n".into();
        assert!(matches!(planning.commit(&OPTIONS), Err(CommitError::NotAFile { .. })));
        for target in ["", "..", "../n", "/n", "a\0"] {
            planning.plan.files[0].target = target.into();
            assert!(matches!(planning.commit(&OPTIONS), Err(CommitError::NotAFile { .. })));
        }
        assert_eq!(tree.nodes(), nodes(&[("a", text("1"))]));
    }

    #[test]
    fn a_folder_that_becomes_a_link_leads_nothing_out() {
        let tree = Tree::new(&[("d/a", text("1")), ("../out/a", text("1"))]);
        let planning = Planning::of(&tree).update("d/a", first_byte("2")).create("d/n", "n");
        std::fs::rename(tree.root().join("d"), tree.root().join("e")).unwrap();
        tree.put("d", &link("../out"));
        assert!(planning.commit(&OPTIONS).is_err());
        let expected = [("d", link("../out")), ("e/a", text("1")), ("../out/a", text("1"))];
        let mut expected = nodes(&expected);
        expected.insert("../out".into(), Node::Folder);
        assert_eq!(tree.nodes(), expected);
    }

    #[test]
    fn an_old_file_that_stays_is_told() {
        let tree = Tree::new(&[("a", text("1"))]);
        let planning = Planning::of(&tree).update("a", first_byte("2")).create("n", "n");
        let committed = planning.commit_with(&OPTIONS, Ways::default(), &|moment, _| match moment {
            Moment::Remove => Err(io::Error::other("no")),
            _ => Ok(()),
        });
        let left = committed.unwrap().left_behind;
        assert_eq!(left.len(), 1);
        let left = left[0].shown().into_owned();
        assert_eq!(tree.nodes(), nodes(&[("a", text("2")), ("n", text("n")), (&left, text("1"))]));
    }

    #[test]
    fn what_cannot_be_put_back_is_kept_and_named() {
        let tree = Tree::new(&[("a", text("1")), ("b", text("2"))]);
        let planning = Planning::of(&tree).delete("a").delete("b");
        let answer = planning.commit_with(&OPTIONS, Ways::default(), &|moment, path| {
            if moment == Moment::Step && path.bytes() == b"b" {
                // The name is taken meanwhile, so the old file can't have it back.
                tree.put("a", &text("somebody's"));
                return Err(io::Error::other("no"));
            }
            Ok(())
        });
        let Err(CommitError::NotUndone { strays, .. }) = &answer else { panic!("{answer:?}") };
        let [(path, now)] = &strays[..] else { panic!("{strays:?}") };
        assert_eq!(path.bytes(), b"a");
        let now = now.shown().into_owned();
        assert_eq!(tree.nodes(), nodes(&[("a", text("somebody's")), ("b", text("2")), (&now, text("1"))]));
        assert!(answer.unwrap_err().problem().message.contains(&now));
    }

    #[test]
    fn more_folders_than_may_be_open_and_more_pieces_than_one_write_takes() {
        let paths: Vec<String> = (0..300).map(|number| format!("d{number}/a")).collect();
        let content = "ab".repeat(1000);
        let every_a = || {
            let list =
                (0..1000).map(|index| Splice { range: 2 * index..2 * index + 1, new: b"xyz".to_vec() });
            After::Spliced(Splices::new(list.collect()).unwrap())
        };
        let before: Vec<_> = paths.iter().map(|path| (path.as_str(), text(&content))).collect();
        let tree = Tree::new(&before);
        let planning = paths.iter().fold(Planning::of(&tree), |plan, path| plan.update(path, every_a()));
        planning.commit(&OPTIONS).unwrap();
        let after: Vec<_> = paths.iter().map(|path| (path.as_str(), text(&"xyzb".repeat(1000)))).collect();
        assert_eq!(tree.nodes(), nodes(&after));
    }

    #[test]
    fn a_large_file_has_its_size_and_its_bytes() {
        let content = "line\n".repeat(400_000);
        let tree = Tree::new(&[("a", text(&content))]);
        Planning::of(&tree)
            .update("a", first_byte("a longer l"))
            .create("b", &content)
            .commit(&OPTIONS)
            .unwrap();
        // Compared without printing megabytes.
        let expected = nodes(&[("a", text(&format!("a longer l{}", &content[1..]))), ("b", text(&content))]);
        assert!(tree.nodes() == expected);
    }

    #[test]
    fn an_unread_file_can_be_deleted_moved_and_written_through() {
        let tree = Tree::new(&[("a", text("1")), ("b", text("2")), ("c", text("3"))]);
        let mut planning =
            Planning::of(&tree).delete("a").rename("b", "d", After::Same).update("c", whole("new"));
        for file in &mut planning.plan.files {
            file.before.as_mut().unwrap().document = Arc::new(Document::new(Vec::new()));
            file.target_before = FileState::Absent;
        }
        planning.commit_with(&IN_PLACE, Ways::default(), &|_, _| Ok(())).unwrap();
        assert_eq!(tree.nodes(), nodes(&[("d", text("2")), ("c", text("new"))]));
    }
}
