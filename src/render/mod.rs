//! Report values to bytes, written to what is given.
//!
//! `escape` stands between every text that comes from elsewhere and a terminal or a page. No file, environment, clock
//! or standard stream is touched here: width, colours and characters are told.

pub mod acp;
#[cfg(feature = "cli")]
mod body;
pub mod codex;
pub mod crew;
pub mod escape;
mod explain;
pub mod file_patch;
mod git_binary;
mod git_header;
pub mod html;
mod index;
pub mod json;
mod lines;
#[cfg(feature = "cli")]
pub mod links;
pub mod markdown;
mod marks;
mod moved;
pub mod net_patch;
#[cfg(feature = "cli")]
mod outcome;
pub mod patch;
#[cfg(feature = "cli")]
mod problem;
#[cfg(feature = "cli")]
mod row;
#[cfg(feature = "cli")]
pub mod session;
#[cfg(feature = "cli")]
mod side_by_side;
pub mod stat;
#[cfg(feature = "cli")]
pub mod style;
pub mod syntax;
#[cfg(feature = "cli")]
pub mod terminal;
mod view;

pub use view::operation_word;

#[cfg(test)]
mod sample;
