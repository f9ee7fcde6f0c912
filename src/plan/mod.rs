//! Patch and files to a plan: where each hunk stands, what each file becomes. Nothing is written here.

pub mod anchor;
pub mod choose;
pub mod diagnose;
pub mod encode;
pub mod fold;
pub mod hunks;
pub mod insert;
pub mod links;
pub mod locate;
pub mod outcome;
pub mod planner;
pub mod replace;
#[cfg(test)]
mod sample;
pub mod shape;
pub mod state;
pub mod table;

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
