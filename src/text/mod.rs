//! What bytes of text are: one file's bytes, encoding and lines, replacements of byte ranges, paths as a patch writes
//! them, JSON that arrives in pieces.
//!
//! This room knows nothing of patches, places or reports, and opens no file.

pub mod charset;
pub mod document;
pub(crate) mod git_name;
pub(crate) mod heading;
pub(crate) mod json;
pub(crate) mod json_reader;
pub mod path;
pub(crate) mod recode;
pub mod splice;

pub use charset::Charset;
pub use document::Document;
pub use document::Encoding;
pub use document::Eol;
pub use path::PathText;
pub use splice::Splice;
pub use splice::Splices;
