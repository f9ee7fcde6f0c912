//! Gemini and what grew from its command line: the stream of the model, the sessions of Gemini CLI and of Qwen Code.

mod display;
pub(super) mod live;
mod parts;
pub mod qwen;
pub mod stored;
