//! Every type that others read: the JSON that hunkwise prints and logs. No logic beyond naming.
//!
//! Keys are camelCase and keep the order of the fields; optional keys are absent; within `v1` only additions.

mod acp;
mod card;
mod codex;
mod file_diff;
mod outcome;
mod preview;
mod problem;
mod record;

pub use acp::AcpContent;
pub use acp::AcpLocation;
pub use acp::AcpMessage;
pub use acp::AcpParams;
pub use acp::AcpText;
pub use acp::AcpUpdate;
pub use card::Card;
pub use card::CardFile;
pub use card::CardKind;
pub use card::CardSchema;
pub use card::CardStatus;
pub use card::Recorded;
pub use card::Source;
pub use codex::CodexChange;
pub use codex::CodexUpdate;
pub use file_diff::DiffNote;
pub use file_diff::FileDiff;
pub use outcome::Change;
pub use outcome::CommandName;
pub use outcome::EolName;
pub use outcome::FileOutcome;
pub use outcome::HunkMatch;
pub use outcome::Opaque;
pub use outcome::Operation;
pub use outcome::Outcome;
pub use outcome::OutcomeSchema;
pub use outcome::Rung;
pub use preview::Placement;
pub use preview::PreviewEvent;
pub use preview::PreviewFile;
pub use preview::PreviewSchema;
pub use problem::Candidate;
pub use problem::Code;
pub use problem::ErrorDocument;
pub use problem::ErrorReport;
pub use problem::ErrorSchema;
pub use problem::Nearest;
pub use problem::Problem;
pub use record::NoUndo;
pub use record::RecordFile;
pub use record::RecordMeta;
pub use record::ReplacedFile;
pub use record::UndoSplice;
pub use record::UndoneCall;
