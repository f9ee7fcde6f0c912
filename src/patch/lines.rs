//! lines
