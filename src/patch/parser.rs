//! parser
/// Dialects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Codex's envelope.
    ApplyPatch,
}
/// Parser.
pub struct Parser;
/// Parses.
pub fn parse() {}
