//! The Agent Client Protocol, versions 1 and 2. [`live`] reads a stream, [`stored`] a log.

pub mod live;
pub mod stored;
