//! Calls of a model in, live or stored; cards out.

pub mod event;
pub mod format;
pub mod frame;
pub mod pair;
pub mod stored;
pub mod throttle;

pub use format::detect;
pub use throttle::Throttle;
