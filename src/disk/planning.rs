//! Plans for the tests of this room, made from what stands in a tree as the planner makes them.

use std::io;
use std::sync::Arc;

use super::commit::CommitOptions;
use super::commit::Committed;
use super::commit::commit;
use super::commit::commit_with;
use super::error::CommitError;
use super::folder::Moment;
use super::folder::Rig;
use super::folder::Ways;
use super::root::LookOptions;
use super::root::Root;
use super::tree::Tree;
use crate::plan::After;
use crate::plan::FileState;
use crate::plan::FoundFile;
use crate::plan::Given;
use crate::plan::Plan;
use crate::plan::PlannedFile;
use crate::report::Operation;
use crate::text::Document;
use crate::text::PathText;
use crate::text::Splice;
use crate::text::Splices;

pub(crate) const OPTIONS: CommitOptions<'static> = CommitOptions {
    sync: false,
    in_place: false,
    read_since_ns: None,
    interrupted: &|| false,
    journal: None,
    log_entry: None,
};

/// What some file systems can't do, from all to nothing.
pub(crate) const WAYS: [Ways; 4] = [
    Ways { exchange: true, no_replace: true, hard_links: true },
    Ways { exchange: false, no_replace: true, hard_links: true },
    Ways { exchange: false, no_replace: false, hard_links: true },
    Ways { exchange: false, no_replace: false, hard_links: false },
];

/// Plans as the planner does: every path is looked at, then files are planned from what was found.
pub(crate) struct Planning {
    pub(crate) root: Root,
    pub(crate) plan: Plan,
}

impl Planning {
    pub(crate) fn of(tree: &Tree) -> Self {
        Planning { root: Root::open(&tree.root()).unwrap(), plan: Plan::default() }
    }

    pub(crate) fn look(&self, path: &str, follow: bool) -> Given {
        let options = LookOptions { follow, force: true, ..LookOptions::default() };
        self.root.look(&path.into(), &options)
    }

    pub(crate) fn found(&self, path: &str, follow: bool) -> (PathText, FoundFile) {
        let given = self.look(path, follow);
        match given.state {
            FileState::File(found) => (given.real, found),
            other => panic!("{path}: {other:?}"),
        }
    }

    pub(crate) fn push(mut self, file: PlannedFile) -> Self {
        self.plan.files.push(file);
        self
    }

    pub(crate) fn create(self, path: &str, content: &str) -> Self {
        let given = self.look(path, true);
        self.push(PlannedFile {
            operation: Operation::Create,
            path: given.real.clone(),
            from: None,
            target: given.real,
            target_before: given.state,
            source: None,
            before: None,
            before_is_link: false,
            target_is_link: false,
            after: Some(whole(content)),
            mode: None,
        })
    }

    pub(crate) fn update(self, path: &str, after: After) -> Self {
        let (real, found) = self.found(path, true);
        self.push(PlannedFile {
            operation: Operation::Update,
            path: real.clone(),
            from: None,
            target: real,
            target_before: FileState::File(found.clone()),
            source: None,
            before: Some(found),
            before_is_link: false,
            target_is_link: false,
            after: Some(after),
            mode: None,
        })
    }

    pub(crate) fn delete(self, path: &str) -> Self {
        let (real, found) = self.found(path, false);
        self.push(PlannedFile {
            operation: Operation::Delete,
            path: real.clone(),
            from: None,
            target: real,
            target_before: FileState::File(found.clone()),
            source: None,
            before: Some(found),
            before_is_link: false,
            target_is_link: false,
            after: None,
            mode: None,
        })
    }

    pub(crate) fn rename(self, from: &str, to: &str, after: After) -> Self {
        let (source, found) = self.found(from, false);
        let given = self.look(to, true);
        self.push(PlannedFile {
            operation: Operation::Rename,
            path: given.real.clone(),
            from: Some(source.clone()),
            target: given.real,
            target_before: given.state,
            source: Some(source),
            before: Some(found),
            before_is_link: false,
            target_is_link: false,
            after: Some(after),
            mode: None,
        })
    }

    pub(crate) fn with_mode(mut self, mode: u32) -> Self {
        self.plan.files.last_mut().unwrap().mode = Some(mode);
        self
    }

    pub(crate) fn copied(mut self) -> Self {
        let file = self.plan.files.last_mut().unwrap();
        (file.operation, file.source) = (Operation::Copy, None);
        self
    }

    pub(crate) fn commit(&self, options: &CommitOptions<'_>) -> Result<Committed, CommitError> {
        commit(&self.root, &self.plan, options)
    }

    pub(crate) fn commit_with(
        &self,
        options: &CommitOptions<'_>,
        ways: Ways,
        before: &dyn Fn(Moment, &PathText) -> io::Result<()>,
    ) -> Result<Committed, CommitError> {
        commit_with(&self.root, &self.plan, options, Rig { before, ways })
    }
}

pub(crate) fn whole(content: &str) -> After {
    After::Whole(Arc::new(Document::new(content.as_bytes().to_vec())))
}

/// Replaces the first byte.
pub(crate) fn first_byte(new: &str) -> After {
    After::Spliced(Splices::new(vec![Splice { range: 0..1, new: new.into() }]).unwrap())
}
