//! Exit statuses: the one table of them.

use std::process::ExitCode;

use crate::report::Code;
use crate::report::ErrorReport;

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: done, or nothing to do.
    Done,
    /// 1: refused, nothing was written: the request is clear but does not fit these files.
    Refused,
    /// 1: what was compared differs.
    Differs,
    /// 2: usage, malformed input, I/O.
    Trouble,
    /// 3: the files are written but the log could not be.
    NotLogged,
    /// 130: interrupted before anything was written.
    Interrupted,
}

impl Exit {
    /// Returns the number.
    pub fn status(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Refused | Exit::Differs => 1,
            Exit::Trouble => 2,
            Exit::NotLogged => 3,
            Exit::Interrupted => 130,
        }
    }

    /// Returns how a run ends that met these problems: the gravest decides.
    pub fn of(report: &ErrorReport) -> Self {
        let exits = report.problems.iter().map(|problem| of_code(problem.code)).chain([of_code(report.code)]);
        exits.max_by_key(|exit| exit.status()).unwrap_or(Exit::Trouble)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.status())
    }
}

fn of_code(code: Code) -> Exit {
    match code {
        Code::Malformed | Code::NoEdits | Code::Usage | Code::Io => Exit::Trouble,
        Code::Interrupted => Exit::Interrupted,
        Code::HunkNotFound
        | Code::Ambiguous
        | Code::AlreadyApplied
        | Code::FileExists
        | Code::FileMissing
        | Code::NotAFile
        | Code::OutsideRoot
        | Code::Protected
        | Code::ReadOnly
        | Code::Stale
        | Code::NotRecorded
        | Code::Binary
        | Code::Unencodable
        | Code::CountDiffers
        | Code::Owner => Exit::Refused,
    }
}

/// The table that every long help ends with.
pub const HELP: &str = "Exit status:
  0    done, or nothing to do
  1    refused, nothing written: the request is clear but does not fit the files
       (diff: they differ; preview: only with --fail-fast; replay: with --strict, if something in a log was not
       understood, and with --output patch, if a change had to be left out)
  2    wrong usage, malformed input, or a file that can't be read or written
  3    the files are written but the log could not be
  130  interrupted before anything was written, or while following a log

Environment:
  HUNKWISE_STATE_DIR   the folder for journals, which keep several files whole if the program is killed;
               else $XDG_STATE_HOME/hunkwise, ~/.local/state/hunkwise, or one with temporary files
  NO_COLOR, CLICOLOR, CLICOLOR_FORCE, FORCE_COLOR, COLORTERM, TERM  when and how to colour
  FORCE_HYPERLINK          1: the terminal takes links; 0: it does not; else TERM, TERM_PROGRAM, VTE_VERSION,
               KONSOLE_VERSION, WT_SESSION, DOMTERM and TMUX tell
  COLORFGBG    tells whether the terminal is light or dark
  HUNKWISE_PAGER, PAGER    the pager of diff, show and replay on a terminal; else less; empty or cat: none
  LESS, LV     are set to FRX and -c for it, if they are not set
  COLUMNS      the width to draw for
  LC_ALL, LC_CTYPE, LANG   without UTF-8, drawings are plain ASCII";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Problem;

    #[test]
    fn the_gravest_problem_decides() {
        let report = |codes: &[Code]| ErrorReport {
            code: codes[0],
            message: String::new(),
            hint: None,
            problems: codes.iter().map(|code| Problem::new(*code, "")).collect(),
        };
        assert_eq!(Exit::of(&report(&[Code::HunkNotFound])), Exit::Refused);
        assert_eq!(Exit::of(&report(&[Code::HunkNotFound, Code::Io])), Exit::Trouble);
        assert_eq!(Exit::of(&report(&[Code::Interrupted])), Exit::Interrupted);
    }
}
