//! Why a command ends without a result of its own.

use std::fmt;
use std::io;
use std::path::Path;

use crate::disk::reason;
use crate::report::Code;
use crate::report::ErrorDocument;
use crate::report::ErrorReport;
use crate::report::ErrorSchema;
use crate::report::Problem;

/// An error report on its way out; the exit status follows from its codes.
#[derive(Debug)]
pub struct Fail {
    /// What is wrong.
    pub report: Box<ErrorReport>,
}

impl Fail {
    /// Returns a failure with one problem.
    pub fn new(problem: Problem) -> Self {
        let report = ErrorReport {
            code: problem.code,
            message: problem.message.clone(),
            hint: problem.hint.clone(),
            problems: vec![problem],
        };
        Fail { report: Box::new(report) }
    }

    /// Returns a wrong use of the command line.
    pub fn usage(message: impl Into<String>) -> Self {
        Fail::new(Problem::new(Code::Usage, message))
    }

    /// Returns a failed reading or writing of a path.
    pub fn io(doing: &str, path: &Path, error: &io::Error) -> Self {
        let message = format!("cannot {doing} {}: {}", path.display(), reason(error));
        Fail::new(Problem::new(Code::Io, message))
    }
}

impl From<anyhow::Error> for Fail {
    /// Takes an error of the system with what was being done: the whole chain in one sentence.
    fn from(error: anyhow::Error) -> Self {
        let chain: Vec<String> = error
            .chain()
            .map(|cause| cause.downcast_ref::<io::Error>().map_or_else(|| cause.to_string(), reason))
            .collect();
        Fail::new(Problem::new(Code::Io, chain.join(": ")))
    }
}

impl fmt::Display for Fail {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.report.message)
    }
}

/// Returns the JSON form of a failure.
pub fn document(fail: &Fail) -> ErrorDocument {
    ErrorDocument { schema: ErrorSchema::V1, ok: false, error: (*fail.report).clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::CommitError;
    use crate::render::style::Style;
    use crate::render::terminal;

    /// The page on errors; what commands print there is checked by running them.
    const PAGE: &str = include_str!("../../docs/ERRORS.md");

    fn check(error: &CommitError) {
        let fail = Fail::new(error.problem());
        let mut out = Vec::new();
        terminal::error(&mut out, &fail.report, &Style::plain(80)).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(PAGE.contains(&format!("```text\n{text}```")), "{text}");
        let blocks = PAGE.split("```json\n").skip(1).filter_map(|block| block.split("```").next());
        let problems: Vec<Problem> = blocks.map(|block| serde_json::from_str(block).unwrap()).collect();
        assert!(problems.contains(&error.problem()), "{}", serde_json::to_string(&error.problem()).unwrap());
    }

    #[test]
    fn errors_that_no_command_makes_at_will_are_told_as_they_are_printed() {
        let source = io::Error::from_raw_os_error(rustix::io::Errno::PERM.raw_os_error());
        check(&CommitError::Owner { path: "hats.txt".into(), source });
        check(&CommitError::Interrupted);
    }
}
