//! A terminal for tests: what a program writes to it, and what stands on its screen then.

use std::fs::File;
use std::io::Read;
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Child;
use std::process::Command;
use std::process::ExitStatus;
use std::process::Stdio;

use rustix::event::PollFd;
use rustix::event::PollFlags;
use rustix::event::Timespec;
use rustix::event::poll;
use rustix::process::Pid;
use rustix::process::Signal;
use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;

/// A terminal without a window.
pub struct Terminal {
    master: OwnedFd,
    slave: File,
}

impl Terminal {
    /// Opens one of this size.
    pub fn open(rows: u16, columns: u16) -> Self {
        let master = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        rustix::pty::grantpt(&master).expect("a terminal");
        rustix::pty::unlockpt(&master).expect("a terminal");
        let name = rustix::pty::ptsname(&master, Vec::new()).expect("its name");
        let path = Path::new(std::ffi::OsStr::from_bytes(name.as_bytes()));
        let slave = File::options().read(true).write(true).open(path).expect("its other end");
        let terminal = Terminal { master, slave };
        terminal.resize(rows, columns);
        terminal
    }

    /// Gives it another size.
    pub fn resize(&self, rows: u16, columns: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&self.slave, size).expect("its size");
    }

    /// The end that a program writes to.
    pub fn end(&self) -> Stdio {
        Stdio::from(self.slave.try_clone().expect("its end"))
    }

    /// Runs a command that has the end of this terminal; returns what was written, and how it ended.
    pub fn run(self, command: Command) -> (Vec<u8>, ExitStatus) {
        self.start(command).finish()
    }

    /// Starts a command that has the end of this terminal.
    pub fn start(self, mut command: Command) -> Running {
        let child = command.spawn().expect("it starts");
        drop((command, self.slave));
        Running { child, master: File::from(self.master), written: Vec::new() }
    }
}

/// A program that runs on a terminal.
pub struct Running {
    /// The program.
    pub child: Child,
    master: File,
    /// What it has written.
    pub written: Vec<u8>,
}

impl Running {
    /// Reads on until these words have been written, behind so many bytes.
    pub fn read_until(&mut self, words: &str, from: usize) {
        let has = |written: &[u8]| {
            written[from.min(written.len())..].windows(words.len()).any(|window| window == words.as_bytes())
        };
        while !has(&self.written) {
            assert!(self.read(), "{words:?} never came: {}", String::from_utf8_lossy(&self.written));
        }
    }

    /// Gives the terminal another size, of which the program is told.
    pub fn resize(&self, rows: u16, columns: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&self.master, size).expect("its size");
        self.signal(Signal::WINCH);
    }

    /// Sends the program a signal.
    pub fn signal(&self, signal: Signal) {
        rustix::process::kill_process(Pid::from_child(&self.child), signal).expect("it runs");
    }

    /// Reads all that is still written; returns everything, and how the program ended.
    pub fn finish(mut self) -> (Vec<u8>, ExitStatus) {
        while self.read() {}
        (self.written, self.child.wait().expect("it ends"))
    }

    /// Reading ends with an error once nobody has the other end any more.
    fn read(&mut self) -> bool {
        let mut block = [0; 4096];
        let mut ready = [PollFd::new(&self.master, PollFlags::IN)];
        let limit = Timespec { tv_sec: 60, tv_nsec: 0 };
        assert!(poll(&mut ready, Some(&limit)).is_ok_and(|count| count > 0), "nothing comes any more");
        let length = self.master.read(&mut block).unwrap_or(0);
        self.written.extend_from_slice(&block[..length]);
        length > 0
    }
}

/// The rows of a screen that are not blank at its end, after these bytes.
pub fn screen(bytes: &[u8], rows: u16, columns: u16) -> Vec<String> {
    let size = |length: u16| NonZero::new(length).expect("a size");
    let mut parser = vt100::Parser::new(size(rows), size(columns), 0);
    parser.process(bytes);
    let mut rows: Vec<String> =
        parser.screen().rows(0, columns).map(|row| row.trim_end().to_owned()).collect();
    while rows.last().is_some_and(String::is_empty) {
        rows.pop();
    }
    rows
}
