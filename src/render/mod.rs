//! Report values to bytes, written to what is given.
//!
//! `escape` stands between every text that comes from elsewhere and a terminal or a page. No file, environment, clock
//! or standard stream is touched here: width, colours and characters are told.

pub mod escape;
pub mod json;
pub mod patch;
pub mod stat;

#[cfg(test)]
mod sample;
