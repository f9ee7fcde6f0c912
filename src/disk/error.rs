//! Why a plan was not written, and how that is reported.

use std::fmt;
use std::io;

use super::journal::JournalError;
use crate::report::Code;
use crate::report::Problem;
use crate::text::PathText;

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// The file is not the one that was read.
    #[error("`{}` has changed since it was read", path.shown())]
    Stale {
        /// The file.
        path: PathText,
    },
    /// Two files of the plan are one, and are to be written in place.
    #[error("`{}` is another name of a file that is written in place already", path.shown())]
    SameFile {
        /// The second of them.
        path: PathText,
    },
    /// Two paths of the plan lead to one file.
    #[error("`{}` is another spelling of a file that is changed already", path.shown())]
    TwoSpellings {
        /// The second of them.
        path: PathText,
    },
    /// Something stands where nothing should.
    #[error("`{}` is in the way", path.shown())]
    Exists {
        /// What stands there.
        path: PathText,
    },
    /// Something that has to be a file or a folder is not.
    #[error("`{}` can't be written: it, or what it lies under, is something else than planned", path.shown())]
    NotAFile {
        /// The file.
        path: PathText,
    },
    /// Owner, group, mode or extended attributes can't be carried over.
    #[error("`{}` can't be replaced with its owner and attributes kept: {}", path.shown(), reason(source))]
    Owner {
        /// The file.
        path: PathText,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// Several files can't be kept whole.
    #[error("{0}")]
    Journal(#[source] JournalError),
    /// What stands at a path must not be touched.
    #[error("{}", _0.message)]
    Refused(Box<Problem>),
    /// The run was interrupted.
    #[error("interrupted before anything was written")]
    Interrupted,
    /// The system refuses.
    #[error("cannot {doing} `{}`: {}", path.shown(), reason(source))]
    Io {
        /// The file.
        path: PathText,
        /// What was tried.
        doing: Doing,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// Not everything could be taken back.
    #[error("{cause}; and not everything could be put back: {}", shown_strays(strays))]
    NotUndone {
        /// What went wrong first.
        cause: Box<CommitError>,
        /// Files that are not as they were, and the names that their old content has now.
        strays: Vec<(PathText, PathText)>,
    },
}

/// What was tried when the system refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doing {
    /// Making a folder.
    MakeFolder,
    /// Reading a preimage again.
    Read,
    /// Writing new content, to a temporary or in place.
    Write,
    /// Giving a file its name, or another one.
    Rename,
    /// Setting the mode.
    SetMode,
    /// Removing a file.
    Delete,
    /// Waiting until names are on the disk.
    Sync,
}

impl fmt::Display for Doing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Doing::MakeFolder => "make the folder of",
            Doing::Read => "read",
            Doing::Write => "write",
            Doing::Rename => "rename",
            Doing::SetMode => "set the mode of",
            Doing::Delete => "delete",
            Doing::Sync => "sync",
        })
    }
}

fn shown_strays(strays: &[(PathText, PathText)]) -> String {
    let shown = |(path, now): &(PathText, PathText)| format!("`{}` is now `{}`", path.shown(), now.shown());
    strays.iter().map(shown).collect::<Vec<_>>().join(", ")
}

impl CommitError {
    /// Returns the error as reports show it.
    pub fn problem(&self) -> Problem {
        let (code, path, hint) = match self {
            CommitError::Refused(problem) => return (**problem).clone(),
            CommitError::Io { path, doing: Doing::Write, source }
                if source.kind() == io::ErrorKind::PermissionDenied =>
            {
                let hint = "if only its folder can't be written, write through the file with --in-place";
                (Code::Io, Some(path), Some(hint))
            }
            CommitError::Stale { path } => (Code::Stale, Some(path), Some("read the file again")),
            CommitError::SameFile { path } => (Code::Stale, Some(path), Some("leave out --in-place")),
            CommitError::TwoSpellings { path } => {
                (Code::FileExists, Some(path), Some("name a file in one way only"))
            }
            CommitError::Exists { path } => (Code::FileExists, Some(path), None),
            CommitError::NotAFile { path } => (Code::NotAFile, Some(path), None),
            CommitError::Owner { path, .. } => {
                (Code::Owner, Some(path), Some("write through the file with --in-place, which is not atomic"))
            }
            CommitError::Journal(_) => {
                (Code::Io, None, Some("HUNKWISE_STATE_DIR names a folder for it that can be written"))
            }
            CommitError::Interrupted => {
                (Code::Interrupted, None, Some("the files are as they were: run it again"))
            }
            CommitError::Io { path, .. } => (Code::Io, Some(path), None),
            CommitError::NotUndone { strays, .. } => {
                (Code::Io, strays.first().map(|(path, _)| path), Some("move these files back by hand"))
            }
        };
        let mut problem = Problem::new(code, self.to_string());
        problem.path = path.map(|path| path.shown().into_owned());
        problem.hint = hint.map(str::to_owned);
        problem
    }
}

/// Returns what makes an error of a file out of one of the system.
pub(crate) fn system_error(path: &PathText, doing: Doing) -> impl FnOnce(io::Error) -> CommitError + use<> {
    let path = path.clone();
    move |source| match source.kind() {
        io::ErrorKind::AlreadyExists => CommitError::Exists { path },
        io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory => CommitError::NotAFile { path },
        _ => CommitError::Io { path, doing, source },
    }
}

/// Says what the system says, without its error number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(cut) => text[..cut].to_lowercase(),
        None => text,
    }
}
