//! The pager: what is read at length on a terminal goes through one, as git's output does.
//!
//! HUNKWISE_PAGER names it, else PAGER, else it is less. GIT_PAGER is not asked: it mostly names a program that draws
//! diffs itself, this one among them. An empty name, or `cat`, means none. While it runs, standard error goes to it too
//! where that is the terminal, so that notes don't land between its lines, and Ctrl-C is its own affair.

use std::ffi::OsStr;
use std::ffi::OsString;
use std::io;
use std::io::IsTerminal;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::args;
use super::args::CardOutput;
use super::args::Cli;
use super::streams::stdin_is_terminal;

/// The variables that name the pager, the first that is set.
const VARIABLES: [&str; 2] = ["HUNKWISE_PAGER", "PAGER"];

/// What of a name only a shell understands.
const SHELL_CHARACTERS: &[u8] = b"|&;<>()$`\\\"' \t\n*?[#~=%";

/// The first less that is known to hand links on.
const LESS_WITH_LINKS: u64 = 590;

/// How a shell ends that did not find a program, or could not run it.
const NOT_RUN: [i32; 2] = [126, 127];

/// The pager that was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pager {
    command: OsString,
}

impl Pager {
    /// Returns the pager for a command line; none where its output is no long reading, or no terminal is there for it.
    pub fn for_run(cli: &Cli) -> Option<Self> {
        let variable = |name: &str| std::env::var_os(name);
        let has_screen = variable("TERM").is_some_and(|term| !term.is_empty() && term != "dumb");
        let is_wanted = !cli.globals.no_pager && !cli.globals.quiet && is_paged(cli);
        (is_wanted && has_screen && io::stdout().is_terminal()).then(|| Pager::choose(variable)).flatten()
    }

    /// The first variable that is set decides, even if it is empty. One that names this program would never end.
    fn choose(variable: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let mut named = VARIABLES.into_iter().filter_map(variable);
        let command = named.find(|command| !is_own(command)).unwrap_or_else(|| OsString::from("less"));
        (!command.is_empty() && command != "cat").then_some(Pager { command })
    }

    /// Tells whether links survive it.
    pub fn takes_links(&self) -> bool {
        let program = first_word(&self.command);
        if program_name(&program) != Some("less".as_ref()) {
            return false;
        }
        let said = Command::new(program).arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output();
        let said =
            said.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        let number = said.strip_prefix("less ").unwrap_or_default();
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        number[..digits].parse::<u64>().is_ok_and(|version| version >= LESS_WITH_LINKS)
    }

    /// Starts it, and leads standard output to it.
    ///
    /// # Errors
    /// Says why it can't be started; nothing is changed then.
    pub fn start(&self) -> io::Result<Running> {
        let mut command = self.shell_or_program()?;
        for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
            if std::env::var_os(name).is_none() {
                command.env(name, value);
            }
        }
        let mut child = command.stdin(Stdio::piped()).spawn()?;
        // What is spawned with a pipe has it.
        let pipe = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        // The pager does with Ctrl-C what it does; this run ends when its pager does.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::new(AtomicBool::new(false)));
        let error = io::stderr();
        let error =
            if error.is_terminal() { Some(rustix::io::fcntl_dupfd_cloexec(&error, 3)?) } else { None };
        rustix::stdio::dup2_stdout(&pipe)?;
        if error.is_some() {
            rustix::stdio::dup2_stderr(&pipe)?;
        }
        Ok(Running { child, error })
    }

    /// A name with nothing that only a shell understands is a program, and is told to be missing when it is started.
    fn shell_or_program(&self) -> io::Result<Command> {
        if !self.command.as_bytes().iter().any(|byte| SHELL_CHARACTERS.contains(byte)) {
            return Ok(Command::new(&self.command));
        }
        let program = first_word(&self.command);
        let mut search = Command::new("sh");
        search.args(["-c", "command -v -- \"$1\"", "sh"]).arg(&program);
        let mut is_there =
            || search.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        // What is quoted, or expanded, only the shell knows.
        let is_plain = !program.as_bytes().iter().any(|byte| SHELL_CHARACTERS.contains(byte));
        if is_plain && !is_there()?.success() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(&self.command);
        Ok(shell)
    }

    /// Returns the name as it was given.
    pub fn name(&self) -> String {
        self.command.to_string_lossy().into_owned()
    }
}

/// A pager that runs.
#[derive(Debug)]
pub struct Running {
    child: Child,
    /// Standard error as it was, if it was the terminal.
    error: Option<OwnedFd>,
}

impl Running {
    /// Tells the pager that nothing more comes, and waits until its reader has had enough. Returns whether it ran.
    pub fn finish(mut self) -> bool {
        let _ = io::stdout().flush();
        if let Some(error) = &self.error {
            let _ = rustix::stdio::dup2_stderr(error);
        }
        // Nobody reads here: what was not taken by a pager that is gone must not come out behind it.
        if let Ok((_, unread)) = rustix::pipe::pipe() {
            let _ = rustix::stdio::dup2_stdout(unread);
        }
        let status = self.child.wait();
        !status.is_ok_and(|status| status.code().is_some_and(|code| NOT_RUN.contains(&code)))
    }
}

/// Tells whether a command's output is something to read at length. What comes while it is made is shown as it comes:
/// a log that grows, or that is piped in. JSON is for programs.
fn is_paged(cli: &Cli) -> bool {
    let output = match &cli.command {
        args::Command::Diff(args) => args.output,
        args::Command::Show(args) => args.output.kind().unwrap_or(CardOutput::Patch),
        args::Command::Replay(args) => {
            let is_piped = args.logs.iter().any(|log| log == Path::new("-"));
            let is_told = args.latest || args.files_from.is_some() || !args.logs.is_empty();
            if args.follow || is_piped || !(is_told || stdin_is_terminal()) {
                return false;
            }
            args.output
        }
        _ => return false,
    };
    !cli.globals.json && !matches!(output, CardOutput::Json | CardOutput::StatRows)
}

/// Returns the first word of a command that is not an assignment.
fn first_word(command: &OsStr) -> OsString {
    let mut words = command.as_bytes().split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    OsStr::from_bytes(words.find(|word| !word.contains(&b'=')).unwrap_or_default()).to_owned()
}

fn program_name(program: &OsStr) -> Option<&OsStr> {
    Path::new(program).file_name()
}

fn is_own(command: &OsStr) -> bool {
    program_name(&first_word(command)) == Some("hunkwise".as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_decides() {
        let check = |variables: &[(&str, &str)], wanted: Option<&str>| {
            let value = |name: &str| {
                variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
            };
            let chosen = Pager::choose(value).map(|pager| pager.name());
            assert_eq!(chosen.as_deref(), wanted, "{variables:?}");
        };
        check(&[], Some("less"));
        check(&[("PAGER", "more")], Some("more"));
        check(&[("HUNKWISE_PAGER", "less -S"), ("PAGER", "more")], Some("less -S"));
        check(&[("HUNKWISE_PAGER", ""), ("PAGER", "more")], None);
        check(&[("HUNKWISE_PAGER", "cat")], None);
        check(&[("PAGER", "cat")], None);
        check(&[("GIT_PAGER", "delta")], Some("less"));
        check(&[("PAGER", "/usr/bin/hunkwise show")], Some("less"));
        check(&[("HUNKWISE_PAGER", "hunkwise"), ("PAGER", "most")], Some("most"));
    }

    #[test]
    fn the_program_of_a_command_is_found() {
        for (command, program) in [("less", "less"), (" LESS=R  less -S", "less"), ("", ""), ("a/b c", "a/b")]
        {
            assert_eq!(first_word(OsStr::new(command)), program, "{command:?}");
        }
        let pager = |command: &str| Pager { command: OsString::from(command) };
        assert!(!pager("more").takes_links() && !pager("no/such/less").takes_links());
        assert_eq!(pager("no-such-pager").start().unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(pager("no-such-pager -x").start().unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
