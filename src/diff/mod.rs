//! Comparing texts. The only room that names a diff library.
//!
//! `lines` finds which lines differ, `words` what differs inside a pair of lines, `hunks` turns changed ranges into
//! [`crate::report::FileDiff`]s and those back into signed lines.

pub mod hunks;
pub mod lines;
pub mod words;
