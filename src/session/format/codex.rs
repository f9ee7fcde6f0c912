//! Codex: what it writes to disk, and what its front ends are sent. [`live`] reads a stream, [`stored`] a log.

mod answer;
mod changes;
mod lineage;
pub mod live;
mod script;
mod skim;
pub mod stored;
