//! Patch and files to a plan: where each hunk stands, what each file becomes. Nothing is written here.

pub mod state;

pub use state::After;
pub use state::FileState;
pub use state::FoundFile;
pub use state::Given;
pub use state::Plan;
pub use state::PlannedFile;
pub use state::Stamp;
