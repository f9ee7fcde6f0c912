//! Standard input, output and error: the one place that touches them.

use std::io;
use std::io::BufRead;
use std::io::BufWriter;
use std::io::IsTerminal;
use std::io::Read;
use std::io::Write;
use std::path::Path;

use rustix::event::PollFd;
use rustix::event::PollFlags;
use rustix::event::Timespec;
use rustix::event::poll;
use serde::Serialize;

use crate::disk::input::read_file;
use crate::render::json;
use crate::render::style::Style;
use crate::render::terminal;
use crate::report::ErrorReport;

use super::args::Globals;
use super::environment;
use super::exit::Exit;
use super::fail;
use super::fail::Fail;

/// Where results and messages go, and how they look.
#[derive(Debug)]
pub struct Console {
    /// How results look.
    pub out_style: Style,
    /// How messages look.
    pub error_style: Style,
    /// Whether results are JSON.
    pub is_json: bool,
    /// Whether only errors are printed.
    pub is_quiet: bool,
}

impl Console {
    /// Returns the console of a run whose relative paths start at `base`, if anywhere is known.
    pub fn new(globals: &Globals, base: Option<&Path>) -> Self {
        let (out_style, error_style) = environment::styles(globals, base);
        Console { out_style, error_style, is_json: globals.json, is_quiet: globals.quiet }
    }

    /// Says that what is printed goes through a pager, and whether links come through it, too.
    pub fn is_paged(&mut self, keeps_links: bool) {
        for style in [&mut self.out_style, &mut self.error_style] {
            style.is_padded = true;
            style.is_screen = false;
            style.links = style.links.filter(|_| keeps_links);
        }
    }

    /// Returns a console that prints nothing but errors.
    #[cfg(test)]
    pub fn silent() -> Self {
        let style = Style::plain(80);
        Console { out_style: style, error_style: style, is_json: false, is_quiet: true }
    }

    /// Prints a failure: as JSON on stdout where JSON was asked for, else on stderr. Returns the exit status.
    pub fn fail(&self, fail: &Fail) -> Exit {
        if self.is_json {
            print_json(&fail::document(fail));
        } else {
            self.error(&fail.report);
        }
        Exit::of(&fail.report)
    }

    /// Prints an error on stderr.
    pub fn error(&self, report: &ErrorReport) {
        to_stderr(|out| terminal::error(out, report, &self.error_style));
    }

    /// Prints a note on stderr, unless only errors are wanted.
    pub fn note(&self, text: &str) {
        if !self.is_quiet {
            to_stderr(|out| terminal::note(out, text, &self.error_style));
        }
    }

    /// Prints a result on stdout. A closed pipe is no error: what was asked for is done.
    pub fn print(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Fail> {
        match try_print(write) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Fail::io("write", Path::new("standard output"), &error))
            }
            _ => Ok(()),
        }
    }
}

/// Writes to stdout and flushes; tells of a closed pipe.
pub fn try_print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    write(&mut out)?;
    out.flush()
}

/// Prints a JSON document; a closed pipe is no error.
pub fn print_json<T: Serialize>(value: &T) {
    let _ = try_print(|out| json::line(out, value));
}

/// Prints on stderr; there is nobody to tell if that fails.
pub fn to_stderr(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    let mut text = Vec::new();
    let _ = write(&mut text).and_then(|()| io::stderr().lock().write_all(&text));
}

/// Reads the whole of a named input; `-` or nothing is standard input.
pub fn read_input(path: Option<&Path>, what: &str) -> Result<Vec<u8>, Fail> {
    match path.filter(|path| *path != Path::new("-")) {
        Some(path) => read_file(path).map_err(|error| Fail::io("read", path, &error)),
        None => read_stdin(what),
    }
}

fn read_stdin(what: &str) -> Result<Vec<u8>, Fail> {
    let mut stdin = io::stdin().lock();
    if stdin.is_terminal() {
        return Err(no_input(what));
    }
    let mut bytes = Vec::new();
    stdin.read_to_end(&mut bytes).map_err(|error| Fail::io("read", Path::new("standard input"), &error))?;
    Ok(bytes)
}

/// Says that nothing was given where something is needed.
pub fn no_input(what: &str) -> Fail {
    Fail::usage(format!("no {what}: name a file, or pipe it to standard input"))
}

/// Tells whether nobody reads standard output any more. Only a failing write would tell it else, and one may not come.
pub fn stdout_is_closed() -> bool {
    let stdout = io::stdout();
    let mut descriptors = [PollFd::new(&stdout, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let asked = poll(&mut descriptors, Some(&now));
    asked.is_ok() && descriptors[0].revents().intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL)
}

/// Tells whether nothing comes from standard input; waits until something does, or it ends.
pub fn stdin_is_empty() -> bool {
    io::stdin().lock().fill_buf().is_ok_and(<[u8]>::is_empty)
}

/// Tells whether standard input is a terminal, so that nothing will come of it by itself.
pub fn stdin_is_terminal() -> bool {
    io::stdin().is_terminal()
}
