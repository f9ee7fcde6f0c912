//! Report values to bytes, written to what is given.

pub mod escape;
pub mod json;
pub mod patch;
