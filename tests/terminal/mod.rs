//! A terminal for tests: what a program writes to it, and what stands on its screen then.

use std::fs::File;
use std::io::Read;
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use std::process::ExitStatus;
use std::process::Stdio;

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
    pub fn run(self, mut command: Command) -> (Vec<u8>, ExitStatus) {
        let mut child = command.spawn().expect("it starts");
        drop((command, self.slave));
        let mut written = Vec::new();
        let mut master = File::from(self.master);
        let mut block = [0; 4096];
        // Reading ends with an error once nobody has the other end any more.
        while let Ok(length @ 1..) = master.read(&mut block) {
            written.extend_from_slice(&block[..length]);
        }
        (written, child.wait().expect("it ends"))
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
