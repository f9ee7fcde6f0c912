//! args
