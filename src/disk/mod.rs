//! The only room that opens files.
//!
//! A [`Root`] says what stands at a path and whether it may be touched; [`commit`](commit::commit) writes a plan, all
//! of it or nothing. Beside them: the session log ([`log`]), inputs that are named on the command line ([`input`]) and
//! files and folders that are compared ([`walk`]).
//! Nothing here reads the environment or the clock, prints, or catches signals: what it needs of them is an argument.
//!
//! Unix only: names are bytes, and folders are held open while names in them are changed.

pub mod commit;
#[cfg(test)]
mod crash;
mod error;
mod folder;
pub mod follow;
pub mod input;
mod intent;
pub mod journal;
pub mod log;
#[cfg(test)]
mod planning;
mod publish;
mod recover;
pub mod root;
pub mod sessions;
mod stage;
#[cfg(test)]
mod tree;
pub mod walk;
mod whole;

pub use commit::CommitOptions;
pub use commit::Committed;
pub use commit::Prepared;
pub use commit::commit;
pub use error::CommitError;
pub use error::Doing;
pub use error::reason;
pub use intent::LogEntry;
pub use journal::Journal;
pub use journal::JournalError;
pub use journal::JournalOptions;
pub use journal::Recovered;
pub use log::LogError;
pub use log::LogFile;
pub use log::LogState;
pub use root::Access;
pub use root::LookOptions;
pub use root::Looks;
pub use root::Root;
pub use root::RootError;
