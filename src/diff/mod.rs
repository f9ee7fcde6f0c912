//! Comparing texts. The only room that names a diff library.
//!
//! `tree` pairs the files of two trees, `lines` finds which lines differ, `words` what differs inside a pair of lines,
//! `section` finds what holds a change, `hunks` turns changed ranges into [`crate::report::FileDiff`]s and those back into signed lines. Every bound here is
//! counted in work, never in time, so that the answer is the same on every run and machine.

pub mod hunks;
pub mod lines;
mod section;
pub mod tree;
pub mod words;

pub use hunks::Sign;
pub use hunks::SignedLine;
pub use hunks::compare;
pub use hunks::counts;
pub use hunks::from_splices;
pub use hunks::signed_lines;
pub use lines::Changed;
pub use lines::LineDiff;
pub use lines::diff_lines;
pub use words::Emphasis;
pub use words::emphasis;
