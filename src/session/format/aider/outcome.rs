//! What aider says of a reply, line by line.
//!
//! ```text
//! error = "# N SEARCH/REPLACE blocks failed to match!" failed* ["# The other N ... were applied successfully."]
//! failed = "## SearchReplaceNoExactMatch: ... in PATH" SEARCH line* DIVIDER line* REPLACE line*
//!        | "UnifiedDiffNoMatch: hunk failed to apply!" "PATH does not contain these N exact lines in a row:" fence
//!        | "UnifiedDiffNotUnique: ..." "PATH contains multiple copies of these N lines:" fence
//! ```
//!
//! Any other error is one of the whole reply: nothing of it was applied.

use crate::report::CardStatus;

use super::reply::Content;
use super::reply::EditFormat;
use super::reply::Piece;
use super::reply::marker;

/// How much of an error is shown.
const ERROR_CAP_BYTES: usize = 4 << 10;

/// How many bytes of blocks that failed are held.
const HELD_CAP_BYTES: usize = 4 << 20;

/// How many edits that failed are held of one error.
const FAILED_CAP: usize = 4096;

/// What a line says at once.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    Applied(String),
    NotApplied(String, CardStatus),
    /// The edit format of the run.
    Format(String),
    /// A commit was taken back.
    TakenBack,
}

/// What was said of a reply so far.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Files that were applied and that no edit names, with the lines that say it.
    pub unmatched: Vec<(String, usize)>,
    /// Files that were made.
    pub created: Vec<String>,
    /// Something was said of an edit.
    has_said: bool,
    /// The line of the error.
    error_line: Option<usize>,
    error: String,
    /// The lines of the error go on.
    is_in_error: bool,
    /// The error is of single edits.
    is_of_pieces: bool,
    others_applied: bool,
    failed: Vec<Failed>,
    quote: Quote,
    held_bytes: usize,
    /// The line before, for a question that names its file there.
    last: String,
}

/// An edit that failed.
#[derive(Debug, Default)]
struct Failed {
    path: String,
    old: Vec<String>,
    new: Vec<String>,
}

/// Where a line of an error stands.
#[derive(Debug, Default, PartialEq, Eq)]
enum Quote {
    #[default]
    Outside,
    Search,
    Replace,
    /// In the fence with a hunk's old lines, or before it.
    Lines {
        is_open: bool,
    },
}

impl Outcome {
    /// Takes a line without its sign.
    pub fn line(&mut self, number: usize, said: &str) -> Option<Said> {
        let text = said.trim();
        if self.is_in_error && self.error_goes_on(said) {
            return None;
        }
        let last = std::mem::replace(&mut self.last, text.to_owned());
        if let Some(path) = text.strip_prefix("Applied edit to ") {
            self.has_said = true;
            return Some(Said::Applied(path.to_owned()));
        }
        if let Some(path) = text.strip_prefix("Did not apply edit to ") {
            let path = path.strip_suffix("(--dry-run)").unwrap_or(path).trim_end();
            self.has_said = true;
            return Some(Said::NotApplied(path.to_owned(), CardStatus::Failed));
        }
        if let Some(path) = text.strip_prefix("Skipping edits to ") {
            let path = path.split(" that matches ").next().unwrap_or(path).trim_end_matches('.');
            self.has_said = true;
            return Some(Said::NotApplied(path.to_owned(), CardStatus::Rejected));
        }
        if let Some(rest) = text.strip_prefix("Allow creation of new file ") {
            self.created.extend(rest.rsplit_once('?').map(|(path, _)| path.to_owned()));
        } else if text.starts_with("Create new file?") {
            self.created.push(last);
        } else if text.starts_with("Removed: ") || text.starts_with("Undid the last commit") {
            return Some(Said::TakenBack);
        } else if let Some(format) = format_of(text) {
            return Some(Said::Format(format.to_owned()));
        } else if is_error(text) {
            self.has_said = true;
            self.error_line = Some(number);
            self.is_in_error = true;
            self.add_error(text);
        }
        None
    }

    /// Takes a line of the error; tells whether it is one.
    fn error_goes_on(&mut self, said: &str) -> bool {
        let text = said.trim();
        let line = said.strip_suffix("  ").unwrap_or(said);
        match &mut self.quote {
            Quote::Search | Quote::Replace => {
                if marker(text, '>', &[" REPLACE", " UPDATED"]).is_some() {
                    self.quote = Quote::Outside;
                } else if self.quote == Quote::Search && marker(text, '=', &[""]).is_some() {
                    self.quote = Quote::Replace;
                } else if self.held_bytes < HELD_CAP_BYTES
                    && let Some(failed) = self.failed.last_mut()
                {
                    self.held_bytes += line.len();
                    let side = if self.quote == Quote::Search { &mut failed.old } else { &mut failed.new };
                    side.push(line.to_owned());
                }
                return true;
            }
            Quote::Lines { is_open } => {
                if text.starts_with("```") {
                    if std::mem::replace(is_open, true) {
                        self.quote = Quote::Outside;
                    }
                } else if *is_open
                    && self.held_bytes < HELD_CAP_BYTES
                    && let Some(failed) = self.failed.last_mut()
                {
                    self.held_bytes += line.len();
                    failed.old.push(line.to_owned());
                    if text.ends_with("```") {
                        // The lines lacked their last newline.
                        self.quote = Quote::Outside;
                    }
                }
                return true;
            }
            Quote::Outside => {}
        }
        if ends_error(text) {
            self.is_in_error = false;
            return false;
        }
        if marker(text, '<', &[" SEARCH", " ORIGINAL"]).is_some() && self.is_of_pieces {
            self.quote = Quote::Search;
            return true;
        }
        if text.contains("SEARCH/REPLACE block") && text.contains("failed to match") {
            self.is_of_pieces = true;
        } else if text.starts_with("# The other ") && text.contains("applied successfully") {
            self.others_applied = true;
        } else if let Some((_, path)) = text.split_once("failed to exactly match lines in ") {
            self.fail(path);
        } else if text.starts_with("UnifiedDiffNoMatch") || text.starts_with("UnifiedDiffNotUnique") {
            self.is_of_pieces = true;
        } else if let Some(path) = hunk_path(text) {
            self.fail(path);
            self.quote = Quote::Lines { is_open: false };
        } else if text.contains("hunks did apply") {
            self.others_applied = true;
        }
        self.add_error(text);
        true
    }

    fn fail(&mut self, path: &str) {
        if self.failed.len() < FAILED_CAP {
            self.failed.push(Failed { path: path.to_owned(), ..Failed::default() });
        }
    }

    fn add_error(&mut self, text: &str) {
        if text.is_empty() || text.starts_with("https://") || self.error.len() + text.len() > ERROR_CAP_BYTES
        {
            return;
        }
        if !self.error.is_empty() {
            self.error.push('\n');
        }
        self.error.push_str(text);
    }

    /// What follows is not aider's.
    pub fn leave(&mut self) {
        self.is_in_error = false;
        self.quote = Quote::Outside;
    }

    /// Tells whether something was said of an edit, so that the next reply is another one.
    pub fn is_told(&self) -> bool {
        self.has_said
    }

    /// Tells whether there was an error.
    pub fn is_error(&self) -> bool {
        self.error_line.is_some()
    }

    /// Returns the text of the error.
    pub fn error(&self) -> Option<String> {
        // Where the model's text is none that aider reads, the error repeats it up to the place that is marked.
        let first = self.error.lines().next();
        let marked = self.error.lines().find(|line| line.starts_with("^^^"));
        match first.zip(marked) {
            Some((first, marked)) => Some(format!("{first}\n{marked}")),
            None => self.is_error().then(|| self.error.clone()),
        }
    }

    /// Returns the line of the error, or the first of others.
    pub fn line_or(&self, mut others: impl Iterator<Item = usize>) -> usize {
        self.error_line.or_else(|| others.next()).unwrap_or(1)
    }

    /// Tells whether edits that did not fail were applied though others failed.
    pub fn are_others_applied(&self) -> bool {
        self.others_applied
    }

    /// Tells whether an edit failed.
    pub fn has_failed(&self, piece: &Piece) -> bool {
        if !self.is_error() {
            return false;
        }
        if !self.is_of_pieces {
            return true;
        }
        // Without a word of others every block is among those that failed.
        if piece.format == EditFormat::Diff && !self.others_applied {
            return true;
        }
        self.failed.iter().any(|failed| failed.is(piece))
    }
}

impl Failed {
    fn is(&self, piece: &Piece) -> bool {
        let same = |text: &str, lines: &[String]| {
            text.lines().map(str::trim_end).eq(lines.iter().map(|line| line.trim_end()))
        };
        let is_named = piece.names.contains(&self.path);
        match &piece.content {
            Content::Change { old, new } => match piece.format {
                EditFormat::Udiff => is_named && same_but_for_end(old, &self.old),
                _ => is_named && same(old, &self.old) && same(new, &self.new),
            },
            Content::Text(_) => is_named,
            // What aider read there is not certain.
            Content::Doubtful | Content::Broken => is_named,
        }
    }
}

/// Compares the old lines of a hunk; the fence may stand behind the last of them.
fn same_but_for_end(old: &str, lines: &[String]) -> bool {
    let lines = lines.iter().map(|line| line.trim_end().trim_end_matches("```"));
    old.lines().map(str::trim).eq(lines.map(str::trim))
}

fn hunk_path(text: &str) -> Option<&str> {
    [" does not contain these ", " contains multiple copies of these "]
        .iter()
        .find_map(|words| text.split_once(words))
        .filter(|(_, rest)| rest.contains(" lines"))
        .map(|(path, _)| path)
}

fn is_error(text: &str) -> bool {
    text.starts_with("The LLM did not conform to the edit format")
        || text.starts_with("Exception while updating files:")
        || text.starts_with("Malformed ")
        || text.starts_with("# ") && text.contains("SEARCH/REPLACE block") && text.contains("failed to match")
}

/// Tells whether a line of aider's belongs to no error any more.
fn ends_error(text: &str) -> bool {
    ["Applied edit to ", "Tokens: ", "Commit ", "Only 3 reflections allowed", "^C", "Retrying in "]
        .iter()
        .any(|start| text.starts_with(start))
}

/// Tells whether a line of aider's ends a reply in which an edit is open.
pub(super) fn ends_reply(said: &str) -> bool {
    const STARTS: [&str; 12] = [
        "Tokens: ",
        "^C",
        "Applied edit to ",
        "Did not apply edit to ",
        "Skipping edits to ",
        "The LLM did not conform to the edit format",
        "Exception while updating files:",
        "Allow creation of new file ",
        "Allow edits to ",
        "litellm.",
        "Retrying in ",
        "Model ",
    ];
    let text = said.trim();
    text.is_empty() || STARTS.iter().any(|start| text.starts_with(start))
}

/// Returns the edit format that a run's announcement names.
fn format_of(text: &str) -> Option<&str> {
    let (before, _) = text.split_once(" edit format")?;
    let is_model =
        ["Model: ", "Models: ", "Main model: ", "Editor model: "].iter().any(|start| text.starts_with(start));
    before.rsplit_once(" with ").map(|(_, format)| format).filter(|_| is_model)
}
