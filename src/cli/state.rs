//! Where hunkwise keeps what must survive a crash, and how long it waits for another run.

use std::ffi::OsString;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use crate::disk::journal::Journal;
use crate::disk::journal::JournalError;
use crate::disk::journal::JournalOptions;
use crate::disk::root::Root;
use crate::report::Code;
use crate::report::Problem;

use super::fail::Fail;

/// How long a run waits for another one in the same root.
const WAIT: Duration = Duration::from_secs(30);

/// How often it looks whether the other one has ended.
const INTERVAL: Duration = Duration::from_millis(5);

/// The variables that say where journals lie, read once.
#[derive(Debug, Default)]
struct Variables {
    state_dir: Option<OsString>,
    xdg_state_home: Option<OsString>,
    home: Option<OsString>,
}

impl Variables {
    fn read() -> Self {
        Variables {
            state_dir: std::env::var_os("HUNKWISE_STATE_DIR"),
            xdg_state_home: std::env::var_os("XDG_STATE_HOME"),
            home: std::env::var_os("HOME"),
        }
    }

    /// Returns the folders for journals, the best first; a folder of the user's choice is the only one.
    fn folders(self, temporary: &Path) -> Vec<PathBuf> {
        let chosen = |value: Option<OsString>| value.filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(folder) = chosen(self.state_dir) {
            return vec![folder];
        }
        // A relative path is to be ignored: https://specifications.freedesktop.org/basedir-spec/latest/
        let state_home = chosen(self.xdg_state_home).filter(|path| path.is_absolute());
        let at_home = || Some(chosen(self.home)?.join(".local/state")).filter(|path| path.is_absolute());
        let state_home = state_home.or_else(at_home).map(|path| path.join("hunkwise"));
        let user = rustix::process::geteuid().as_raw();
        state_home.into_iter().chain([temporary.join(format!("hunkwise-{user}"))]).collect()
    }
}

/// Waits for the root and makes good what a killed run has left in it; says so in notes.
pub fn open_journal(root: &Root) -> Result<(Journal, Vec<String>), Fail> {
    let folders = Variables::read().folders(&std::env::temp_dir());
    let until = Instant::now() + WAIT;
    let wait = || {
        std::thread::sleep(INTERVAL);
        Instant::now() < until
    };
    match Journal::open(root, &JournalOptions { folders: &folders, wait: &wait }) {
        Ok((journal, recovered)) => Ok((journal, recovered.iter().map(ToString::to_string).collect())),
        Err(error) => {
            let hint = match &error {
                JournalError::Busy { .. } => "wait until it has ended",
                _ => "mend the cause and try again, or remove the journal to keep the files as they are",
            };
            Err(Fail::new(Problem::new(Code::Io, error.to_string()).with_hint(hint)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journals_lie_where_the_variables_say() {
        let folders = |state_dir: &str, xdg: &str, home: &str| {
            let value = |text: &str| Some(OsString::from(text));
            let variables =
                Variables { state_dir: value(state_dir), xdg_state_home: value(xdg), home: value(home) };
            variables.folders(Path::new("/t"))
        };
        let user = rustix::process::geteuid().as_raw();
        let temporary = PathBuf::from(format!("/t/hunkwise-{user}"));
        assert_eq!(folders("/s", "/x", "/h"), [PathBuf::from("/s")]);
        assert_eq!(folders("", "/x", "/h"), [PathBuf::from("/x/hunkwise"), temporary.clone()]);
        assert_eq!(folders("", "x", "/h"), [PathBuf::from("/h/.local/state/hunkwise"), temporary.clone()]);
        assert_eq!(folders("", "", "h"), std::slice::from_ref(&temporary));
        assert_eq!(Variables::default().folders(Path::new("/t")), [temporary]);
    }
}
