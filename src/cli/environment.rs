//! What the environment says of colours, width and characters: decided once, for clap and for the cards.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use clap::ColorChoice;

use crate::render::style::Color;
use crate::render::style::Style;
use crate::render::syntax::Syntax;

use super::args::ColorWhen;
use super::args::Globals;
use super::args::SyntaxWhen;
use super::args::Theme;
use super::hyperlinks::Hyperlinks;
use super::ordered;

/// How long a terminal may take to tell its colours.
const ASK_LIMIT: Duration = Duration::from_millis(100);

/// The width that is drawn for where no terminal tells.
const DEFAULT_WIDTH: usize = 80;

/// The variables that decide about colours, read once.
#[derive(Debug, Clone, Default)]
struct Variables {
    no_color: Option<OsString>,
    clicolor: Option<OsString>,
    clicolor_force: Option<OsString>,
    force_color: Option<OsString>,
    colorterm: Option<OsString>,
    term: Option<OsString>,
}

impl Variables {
    fn read() -> Self {
        Variables {
            no_color: std::env::var_os("NO_COLOR"),
            clicolor: std::env::var_os("CLICOLOR"),
            clicolor_force: std::env::var_os("CLICOLOR_FORCE"),
            force_color: std::env::var_os("FORCE_COLOR"),
            colorterm: std::env::var_os("COLORTERM"),
            term: std::env::var_os("TERM"),
        }
    }

    /// The flag, then NO_COLOR (not empty), then what forces, then CLICOLOR=0, then the terminal.
    fn resolve(&self, flag: ColorWhen, is_terminal: bool) -> Color {
        let is_set = |value: &Option<OsString>| value.as_ref().is_some_and(|value| !value.is_empty());
        let forces =
            |value: &Option<OsString>| value.as_ref().is_some_and(|value| !value.is_empty() && value != "0");
        let colours = match flag {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto if is_set(&self.no_color) => false,
            ColorWhen::Auto if forces(&self.clicolor_force) || forces(&self.force_color) => true,
            ColorWhen::Auto if self.clicolor.as_deref() == Some("0".as_ref()) => false,
            ColorWhen::Auto if self.term.as_deref() == Some("dumb".as_ref()) => false,
            ColorWhen::Auto => is_terminal,
        };
        if colours { self.depth() } else { Color::Never }
    }

    fn depth(&self) -> Color {
        let text = |value: &Option<OsString>| {
            value.as_ref().map_or_else(String::new, |value| value.to_string_lossy().into_owned())
        };
        let (colorterm, term) = (text(&self.colorterm), text(&self.term));
        if colorterm == "truecolor" || colorterm == "24bit" || term.ends_with("-direct") {
            Color::TrueColor
        } else if term.contains("256") {
            Color::Ansi256
        } else {
            Color::Ansi16
        }
    }
}

/// Finds `--color` before the command line is parsed, since help and usage errors follow it too.
pub fn color_flag(arguments: &[OsString]) -> ColorWhen {
    let texts: Vec<_> =
        arguments.iter().map(|argument| argument.to_string_lossy()).take_while(|text| text != "--").collect();
    let joined = texts.iter().rev().find_map(|text| text.strip_prefix("--color=").map(str::to_owned));
    let split =
        texts.windows(2).rev().find(|pair| pair[0] == "--color").map(|pair| pair[1].clone().into_owned());
    match joined.or(split).as_deref() {
        Some("always") => ColorWhen::Always,
        Some("never") => ColorWhen::Never,
        _ => ColorWhen::Auto,
    }
}

/// Returns clap's choice for help, which goes to stdout.
pub fn color_choice(flag: ColorWhen) -> ColorChoice {
    super::clap_color(Variables::read().resolve(flag, std::io::stdout().is_terminal()) != Color::Never)
}

/// Returns the style for what goes to stdout and to stderr; relative paths start at `base`, if anywhere is known.
pub fn styles(globals: &Globals, base: Option<&Path>) -> (Style, Style) {
    let variables = Variables::read();
    let (out_is_terminal, error_is_terminal) =
        (std::io::stdout().is_terminal(), std::io::stderr().is_terminal());
    let out_color = variables.resolve(globals.color, out_is_terminal);
    let dark = is_dark(&globals.theme, || out_is_terminal && has_grounds(out_color));
    let links = Hyperlinks::new(globals, base);
    let style = |is_terminal: bool, color: Color| Style {
        links: links.on(is_terminal && color != Color::Never),
        width: width(is_terminal),
        color,
        dark,
        color_blind: globals.theme.contains(&Theme::ColorBlind),
        ascii: !has_utf8(),
        max_lines: (!globals.full).then_some(Style::MAX_LINES),
        is_full: globals.full,
        is_side_by_side: false,
        is_padded: false,
        is_screen: is_terminal && color != Color::Never,
        crew: ordered::crew(),
        syntax: match globals.syntax {
            SyntaxWhen::Auto => Syntax::RUN,
            SyntaxWhen::Never => Syntax::NEVER,
        },
    };
    let error_color = variables.resolve(globals.color, error_is_terminal);
    (style(out_is_terminal, out_color), style(error_is_terminal, error_color))
}

/// Returns the folder that a variable names; nothing if it is not set, or empty.
pub fn folder(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// With sixteen colours no ground is painted, and it is no matter what is behind the text.
fn has_grounds(color: Color) -> bool {
    matches!(color, Color::Ansi256 | Color::TrueColor)
}

/// Returns the columns to draw for: COLUMNS, else the terminal's, else 80.
pub fn width(is_terminal: bool) -> usize {
    let stated =
        std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|&columns| columns > 0);
    let measured =
        || if is_terminal { terminal_size::terminal_size().map(|size| usize::from(size.0.0)) } else { None };
    stated.or_else(measured).unwrap_or(DEFAULT_WIDTH)
}

/// Returns the columns of the terminal that stdout is, if it is one.
pub fn columns() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stdout()).map(|size| usize::from(size.0.0))
}

/// Returns the terminal's rows, if stdout is one.
pub fn rows() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stdout()).map(|size| usize::from(size.1.0))
}

/// The flag, then COLORFGBG, then what the terminal answers, if one may be asked; else dark.
fn is_dark(themes: &[Theme], may_ask: impl FnOnce() -> bool) -> bool {
    // The last one that says anything of it counts.
    let flag = themes.iter().rev().find(|theme| **theme != Theme::ColorBlind);
    match flag {
        Some(Theme::Dark) => return true,
        Some(Theme::Light) => return false,
        Some(Theme::Auto | Theme::ColorBlind) | None => {}
    }
    let background =
        std::env::var("COLORFGBG").ok().and_then(|pair| pair.rsplit(';').next().map(str::to_owned));
    match background.as_deref() {
        Some("7" | "15") => false,
        Some(stated) if !stated.is_empty() => true,
        // The answer comes as if it were typed: where stdin is no terminal, another program may read it.
        _ if std::io::stdin().is_terminal() && may_ask() => asked_is_dark(),
        _ => true,
    }
}

/// Asks the terminal for its colours. One that does not know the question is told by its answer to another one, so
/// that nobody waits; the limit is for slow lines.
fn asked_is_dark() -> bool {
    let mut options = terminal_colorsaurus::QueryOptions::default();
    options.timeout = ASK_LIMIT;
    let mode = terminal_colorsaurus::theme_mode(options);
    !matches!(mode, Ok(terminal_colorsaurus::ThemeMode::Light))
}

fn has_utf8() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    // Without any locale, as in many containers, the terminal decides: those of today take UTF-8.
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(variables: &[(&str, &str)], flag: ColorWhen, is_terminal: bool) -> Color {
        let value = |name: &str| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        };
        let variables = Variables {
            no_color: value("NO_COLOR"),
            clicolor: value("CLICOLOR"),
            clicolor_force: value("CLICOLOR_FORCE"),
            force_color: value("FORCE_COLOR"),
            colorterm: value("COLORTERM"),
            term: value("TERM"),
        };
        variables.resolve(flag, is_terminal)
    }

    #[test]
    fn one_order_decides_about_colours() {
        let auto = ColorWhen::Auto;
        assert_eq!(resolve(&[], auto, true), Color::Ansi16);
        assert_eq!(resolve(&[], auto, false), Color::Never);
        assert_eq!(resolve(&[("NO_COLOR", "1"), ("FORCE_COLOR", "1")], auto, true), Color::Never);
        assert_eq!(resolve(&[("NO_COLOR", "")], auto, true), Color::Ansi16);
        assert_eq!(resolve(&[("NO_COLOR", "1")], ColorWhen::Always, false), Color::Ansi16);
        assert_eq!(resolve(&[("CLICOLOR_FORCE", "1")], auto, false), Color::Ansi16);
        assert_eq!(resolve(&[("FORCE_COLOR", "0")], auto, true), Color::Ansi16);
        assert_eq!(resolve(&[("CLICOLOR", "0")], auto, true), Color::Never);
        assert_eq!(resolve(&[("TERM", "dumb")], auto, true), Color::Never);
        assert_eq!(resolve(&[("TERM", "xterm-256color")], auto, true), Color::Ansi256);
        assert_eq!(resolve(&[("COLORTERM", "truecolor")], auto, true), Color::TrueColor);
        assert_eq!(resolve(&[], ColorWhen::Never, true), Color::Never);
    }

    #[test]
    fn the_flag_is_found_before_parsing() {
        let flag = |words: &[&str]| color_flag(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(flag(&["hunkwise", "--color", "never", "show"]), ColorWhen::Never);
        assert_eq!(flag(&["hunkwise", "--color=always"]), ColorWhen::Always);
        assert_eq!(flag(&["hunkwise", "edit", "--", "--color=always"]), ColorWhen::Auto);
    }
}
