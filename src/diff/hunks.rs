//! Changed ranges to [`crate::report::FileDiff`]s with context, and a `FileDiff` to signed lines.
