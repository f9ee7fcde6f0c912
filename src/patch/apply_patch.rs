//! apply_patch
