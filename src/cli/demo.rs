//! `demo`: the three jobs on built-in input in a temporary folder, each command shown before it runs.
