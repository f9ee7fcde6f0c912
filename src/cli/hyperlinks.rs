//! Whether the terminal takes links, and what they lead to.

use std::ffi::OsStr;
use std::ffi::OsString;
use std::path::Path;

use crate::render::links::Links;
use crate::text::PathText;

use super::args::Globals;
use super::args::When;

/// The variables that tell which terminal it is.
const VARIABLES: [&str; 9] = [
    "TERM",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "TMUX",
    "VTE_VERSION",
    "KONSOLE_VERSION",
    "WT_SESSION",
    "DOMTERM",
    "FORCE_HYPERLINK",
];

/// What links there are, before it is known whether a stream is a terminal.
#[derive(Debug)]
pub struct Hyperlinks {
    when: When,
    is_known: bool,
    /// A style is copied with every frame that it is handed to, so what it refers to lives as long as the run.
    links: &'static Links,
}

impl Hyperlinks {
    /// Returns what the arguments and the environment say.
    pub fn new(globals: &Globals, base: Option<&Path>) -> Self {
        let host = rustix::system::uname();
        let host = host.nodename().to_str().unwrap_or_default();
        let links = Links::new(globals.hyperlink_format.clone(), host, base.and_then(absolute));
        let is_known = Terminal::of(|name| std::env::var_os(name)).takes_links();
        Hyperlinks { when: globals.hyperlinks, is_known, links: Box::leak(Box::new(links)) }
    }

    /// Returns the links of a stream; `is_drawn_for` tells whether it is a terminal that sequences are written to.
    pub fn on(&self, is_drawn_for: bool) -> Option<&'static Links> {
        let is_on = match self.when {
            When::Always => true,
            When::Never => false,
            When::Auto => is_drawn_for && self.is_known,
        };
        is_on.then_some(self.links)
    }
}

/// Returns links whose relative paths start at another folder.
pub fn starting_at(links: Option<&'static Links>, folder: &Path) -> Option<&'static Links> {
    links.map(|links| &*Box::leak(Box::new(links.at(absolute(folder)))))
}

/// Returns a folder as a text that begins at the file system's root.
fn absolute(folder: &Path) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    let whole = here.join(folder);
    let whole = PathText::from(whole.to_str()?).normalized();
    Some(whole.shown().into_owned())
}

/// The terminal, as the environment tells it.
#[derive(Debug, Default)]
struct Terminal {
    values: Vec<(&'static str, OsString)>,
}

impl Terminal {
    fn of(value: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = VARIABLES.into_iter().filter_map(|name| Some((name, value(name)?)));
        Terminal { values: set.filter(|(_, value)| !value.is_empty()).collect() }
    }

    fn text(&self, name: &str) -> &str {
        let found = self.values.iter().find(|(key, _)| *key == name);
        found.and_then(|(_, value)| OsStr::to_str(value)).unwrap_or_default()
    }

    /// Tells whether the terminal is known to take links: others may print the sequence as text.
    fn takes_links(&self) -> bool {
        match self.text("FORCE_HYPERLINK") {
            "" => {}
            forced => return forced != "0",
        }
        let (term, program) = (self.text("TERM"), self.text("TERM_PROGRAM"));
        let version = version(self.text("TERM_PROGRAM_VERSION"));
        if matches!(term, "" | "dumb" | "linux") {
            return false;
        }
        // What stands around a multiplexer may have left its variables, but only the multiplexer itself counts; it hands
        // links on to a terminal that takes them.
        let is_inside =
            ["screen", "tmux"].iter().any(|name| term.starts_with(name)) || !self.text("TMUX").is_empty();
        if is_inside {
            return program == "tmux" && version >= (3, 4);
        }
        let by_program = match program {
            "iTerm.app" => version >= (3, 1),
            "vscode" => version >= (1, 72),
            "WezTerm" | "ghostty" | "Hyper" | "Tabby" | "mintty" | "rio" | "zed" => true,
            _ => false,
        };
        let by_term = ["xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm", "contour", "rio"]
            .iter()
            .any(|name| term.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')));
        let number = |name: &str| self.text(name).parse::<u64>().unwrap_or(0);
        by_program
            || by_term
            || number("VTE_VERSION") >= 5000
            || number("KONSOLE_VERSION") >= 201_200
            || !self.text("WT_SESSION").is_empty()
            || !self.text("DOMTERM").is_empty()
    }
}

/// Returns the first two numbers of a version.
fn version(text: &str) -> (u64, u64) {
    let mut numbers =
        text.split(|letter: char| !letter.is_ascii_digit()).map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(variables: &[(&str, &str)], wanted: bool) {
        let value = |name: &str| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        };
        assert_eq!(Terminal::of(value).takes_links(), wanted, "{variables:?}");
    }

    #[test]
    fn only_terminals_that_are_known_get_links() {
        let xterm = ("TERM", "xterm-256color");
        check(&[], false);
        check(&[xterm], false);
        check(&[("TERM", "xterm-kitty")], true);
        check(&[("TERM", "foot-extra")], true);
        check(&[("TERM", "footloose")], false);
        check(&[xterm, ("VTE_VERSION", "6800")], true);
        check(&[xterm, ("VTE_VERSION", "4900")], false);
        check(&[xterm, ("TERM_PROGRAM", "iTerm.app"), ("TERM_PROGRAM_VERSION", "3.5.0")], true);
        check(&[xterm, ("TERM_PROGRAM", "iTerm.app"), ("TERM_PROGRAM_VERSION", "3.0.15")], false);
        check(&[xterm, ("TERM_PROGRAM", "Apple_Terminal"), ("TERM_PROGRAM_VERSION", "455")], false);
        check(&[xterm, ("TERM_PROGRAM", "vscode"), ("TERM_PROGRAM_VERSION", "1.95.0")], true);
        check(&[xterm, ("KONSOLE_VERSION", "220401")], true);
        check(&[xterm, ("WT_SESSION", "6d4f")], true);
        check(&[("TERM", "dumb"), ("VTE_VERSION", "6800")], false);
        check(&[("TERM", "linux"), ("WT_SESSION", "6d4f")], false);
        check(&[("VTE_VERSION", "6800")], false);
    }

    #[test]
    fn a_multiplexer_decides_for_what_is_inside_of_it() {
        let outside = ("VTE_VERSION", "6800");
        let tmux = |version| {
            [("TERM", "tmux-256color"), ("TERM_PROGRAM", "tmux"), ("TERM_PROGRAM_VERSION", version)]
        };
        check(&tmux("3.4"), true);
        check(&tmux("3.3a"), false);
        check(&tmux("next-3.6"), false);
        check(&[("TERM", "xterm-kitty"), ("TMUX", "/tmp/t,1,0"), outside], false);
        check(&[("TERM", "screen-256color"), outside], false);
    }

    #[test]
    fn a_variable_forces_or_forbids() {
        check(&[("FORCE_HYPERLINK", "1")], true);
        check(&[("FORCE_HYPERLINK", "0"), ("TERM", "xterm-kitty")], false);
        check(&[("FORCE_HYPERLINK", ""), ("TERM", "xterm-kitty")], true);
    }
}
