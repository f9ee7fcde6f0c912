//! hunkwise: the patch and diff tool for edits that AI coding agents make.
//!
//! The core is pure: bytes and values in, values out. It opens no file, reads no clock and prints nothing; it says
//! what it wants and is given it. Only [`disk`] touches files, and only [`render`] writes, to what it is lent.
//!
//! | to | use |
//! |---|---|
//! | read a patch of any dialect | [`patch::parse`]; [`patch::Parser`] while it arrives |
//! | read a tool call's arguments | [`patch::args`]; [`session::Live`] while they arrive, with previews |
//! | say what a patch would do, or why it does not fit | [`plan::Planner`], then [`plan::outcome`] |
//! | look at files with the care that writing takes | [`disk::Root`], [`disk::Looks`] |
//! | write a plan, all of it or nothing | [`disk::commit()`], with a [`disk::Journal`] for several files |
//! | draw the edits of a session log again | [`session::Replay`], then a renderer |
//! | compare two texts, or two lists of files | [`diff`] |
//! | print cards | [`render::html`], [`render::markdown`], [`render::json`], [`render::patch`], [`render::stat`] |
//! | read or make the JSON | [`report`]: every type of it, as `schemas/` describes them |
//!
//! Three programs in `examples/` do one job each from its beginning to its end.
//!
//! ```
//! use hunkwise::patch::{Dialect, parse};
//! use hunkwise::plan::{FileState, Given, Options, Planner, After};
//!
//! let patch = b"--- a/song\n+++ b/song\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n";
//! let parsed = parse(patch, Dialect::Auto);
//! let mut planner = Planner::new(Options::default());
//! for (index, edit) in parsed.patch.edits.iter().enumerate() {
//!     planner.fill(edit, &mut |want| Given::new(want.path.clone(), FileState::of_bytes("one\ntwo\n")));
//!     planner.plan(index + 1, edit).expect("it fits");
//! }
//! let plan = planner.finish();
//! assert!(matches!(plan.files[0].after, Some(After::Spliced(_))));
//! ```

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
pub mod diff;
pub mod disk;
pub mod patch;
pub mod plan;
pub mod render;
pub mod report;
pub mod session;
pub mod text;
