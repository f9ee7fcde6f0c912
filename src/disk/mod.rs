//! The only room that opens files.
//!
//! A [`Root`] says what stands at a path and whether it may be touched. Beside it: the session log ([`log`]) and
//! inputs that are named on the command line ([`input`]). Nothing here reads the environment or the clock, prints, or
//! catches signals: what it needs of them is an argument.
//!
//! Unix only: names are bytes.

pub mod input;
pub mod log;
pub mod root;
#[cfg(test)]
mod tree;

pub use log::LogError;
pub use log::LogFile;
pub use root::LookOptions;
pub use root::Root;
pub use root::RootError;
