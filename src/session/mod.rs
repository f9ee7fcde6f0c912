//! Calls of a model in, live or stored; cards out.

pub mod throttle;

pub use throttle::Throttle;
