//! hunkwise: the patch and diff tool for edits that AI coding agents make.
//!
//! The core is pure: bytes and values in, values out. It opens no file, reads no clock and prints nothing; it says
//! what it wants and is given it. See ARCHITECTURE.md for the rooms and what each may use.

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
pub mod diff;
pub mod disk;
pub mod patch;
pub mod plan;
pub mod render;
pub mod report;
pub mod session;
pub mod text;
