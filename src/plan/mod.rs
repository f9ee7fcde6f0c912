//! Patch and files to a plan: where each hunk stands, what each file becomes. Nothing is written here.

pub(crate) mod anchor;
pub(crate) mod choose;
pub(crate) mod diagnose;
pub(crate) mod encode;
pub(crate) mod fold;
pub(crate) mod hunks;
pub(crate) mod insert;
pub(crate) mod links;
pub(crate) mod locate;
pub mod outcome;
pub(crate) mod planner;
pub(crate) mod replace;
#[cfg(test)]
mod sample;
pub(crate) mod shape;
pub(crate) mod state;
pub(crate) mod table;

pub(crate) use hunks::text_misfit;
pub use planner::Options;
pub use planner::PlannedEdit;
pub use planner::Planner;
pub use planner::Want;
pub use planner::recorded_path;
pub use planner::recorded_splices;
pub use state::After;
pub use state::Attributes;
pub use state::FileState;
pub use state::Finds;
pub use state::FoundFile;
pub use state::Given;
pub use state::Plan;
pub use state::PlannedFile;
pub use state::Stamp;
