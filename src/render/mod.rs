//! Report values to bytes, written to what is given.
