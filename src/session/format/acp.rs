//! The Agent Client Protocol, version 1. [`live`] reads a stream, [`stored`] a log.

pub mod live;
pub mod stored;
