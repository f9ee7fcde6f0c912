//! How a card looks: width, colours, characters.
//!
//! Signs and words say all that colours say; a reader without colours misses nothing. Foreground and background are
//! always set together, so that a wrong guess of the terminal's background stays readable.

use owo_colors::XtermColors;

use super::escape::Charset;

/// How many colours the terminal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// No escape sequence at all.
    Never,
    /// The terminal's own sixteen; only foregrounds.
    Ansi16,
    /// The palette of 256.
    Ansi256,
    /// 24 bits.
    TrueColor,
}

/// How to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Columns; no row is wider.
    pub width: usize,
    /// How many colours.
    pub color: Color,
    /// Whether the terminal's background is dark.
    pub dark: bool,
    /// Whether only ASCII can be shown.
    pub ascii: bool,
    /// How many lines of a wholly new or wholly deleted file are drawn; all if none.
    pub max_lines: Option<usize>,
}

impl Style {
    /// Returns a style without colours in Unicode.
    pub fn plain(width: usize) -> Self {
        Style { width, color: Color::Never, dark: true, ascii: false, max_lines: None }
    }

    /// Returns which characters can be shown.
    pub fn charset(&self) -> Charset {
        if self.ascii { Charset::Ascii } else { Charset::Unicode }
    }

    /// Returns the colours of a role; none if it has none here.
    pub(super) fn paint(&self, role: Role) -> Option<owo_colors::Style> {
        let paint = match self.color {
            Color::Never => return None,
            Color::Ansi16 => few_colors(role),
            Color::Ansi256 => palette(role, self.dark),
            Color::TrueColor => true_color(role, self.dark),
        };
        (!paint.is_plain()).then_some(paint)
    }

    /// Tells whether a role's background reaches to the end of the row.
    pub(super) fn fills(&self, role: Role) -> bool {
        matches!(self.color, Color::Ansi256 | Color::TrueColor) && matches!(role, Role::Delete | Role::Insert)
    }

    /// Returns the frame's characters.
    pub(super) fn glyphs(&self) -> &'static Glyphs {
        if self.ascii { &ASCII } else { &UNICODE }
    }
}

/// The characters of the frame.
pub(super) struct Glyphs {
    pub(super) bullet: &'static str,
    pub(super) bar: &'static str,
    pub(super) gap: &'static str,
    pub(super) ellipsis: &'static str,
    pub(super) arrow: &'static str,
    pub(super) dot: &'static str,
    pub(super) space: &'static str,
    pub(super) tab: &'static str,
}

static UNICODE: Glyphs = Glyphs {
    bullet: "\u{25cf}",
    bar: "\u{2502}",
    gap: "\u{22ee}",
    ellipsis: "\u{2026}",
    arrow: "\u{2192}",
    dot: "\u{b7}",
    space: "\u{b7}",
    tab: "\u{2192}",
};

static ASCII: Glyphs = Glyphs {
    bullet: "*",
    bar: "|",
    gap: ":",
    ellipsis: "...",
    arrow: "->",
    dot: "-",
    space: ".",
    tab: "\\t",
};

/// What a piece of a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Plain,
    Dim,
    Strong,
    Good,
    Bad,
    Caution,
    Delete,
    DeleteWord,
    Insert,
    InsertWord,
    /// Stands for text that could not be seen.
    Hidden,
}

fn few_colors(role: Role) -> owo_colors::Style {
    let paint = owo_colors::Style::new();
    match role {
        Role::Plain => paint,
        Role::Dim => paint.dimmed(),
        Role::Strong => paint.bold(),
        Role::Good | Role::Insert => paint.green(),
        Role::Bad => paint.red().bold(),
        Role::Delete => paint.red(),
        Role::Caution => paint.yellow(),
        // Sixteen colours have no second green that every theme shows as one.
        Role::DeleteWord => paint.red().bold().underline(),
        Role::InsertWord => paint.green().bold().underline(),
        Role::Hidden => paint.yellow().reversed(),
    }
}

fn palette(role: Role, is_dark: bool) -> owo_colors::Style {
    let tint = |text: u8, ground: u8| {
        owo_colors::Style::new().color(XtermColors::from(text)).on_color(XtermColors::from(ground))
    };
    match (role, is_dark) {
        (Role::Delete, true) => tint(255, 52),
        (Role::DeleteWord, true) => tint(255, 124).bold(),
        (Role::Insert, true) => tint(255, 22),
        (Role::InsertWord, true) => tint(255, 28).bold(),
        (Role::Delete, false) => tint(16, 224),
        (Role::DeleteWord, false) => tint(16, 217).bold(),
        (Role::Insert, false) => tint(16, 194),
        (Role::InsertWord, false) => tint(16, 157).bold(),
        (_, _) => few_colors(role),
    }
}

fn true_color(role: Role, is_dark: bool) -> owo_colors::Style {
    let tint = |text: (u8, u8, u8), ground: (u8, u8, u8)| {
        owo_colors::Style::new().truecolor(text.0, text.1, text.2).on_truecolor(ground.0, ground.1, ground.2)
    };
    let (light_text, dark_text) = ((0xe6, 0xed, 0xf3), (0x1f, 0x23, 0x28));
    match (role, is_dark) {
        (Role::Delete, true) => tint(light_text, (0x4a, 0x22, 0x1d)),
        (Role::DeleteWord, true) => tint(light_text, (0x8e, 0x2a, 0x22)).bold(),
        (Role::Insert, true) => tint(light_text, (0x21, 0x3a, 0x2b)),
        (Role::InsertWord, true) => tint(light_text, (0x1f, 0x6f, 0x3d)).bold(),
        (Role::Delete, false) => tint(dark_text, (0xff, 0xeb, 0xe9)),
        (Role::DeleteWord, false) => tint(dark_text, (0xff, 0xb8, 0xb3)).bold(),
        (Role::Insert, false) => tint(dark_text, (0xda, 0xfb, 0xe1)),
        (Role::InsertWord, false) => tint(dark_text, (0x94, 0xe2, 0xa8)).bold(),
        (_, _) => few_colors(role),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_colour_means_no_sequence() {
        assert!(Style::plain(80).paint(Role::Bad).is_none());
        let style = Style { color: Color::Ansi16, ..Style::plain(80) };
        assert!(style.paint(Role::Plain).is_none());
        assert!(style.paint(Role::Insert).is_some() && !style.fills(Role::Insert));
    }

    #[test]
    fn words_differ_from_their_line_in_every_palette() {
        for color in [Color::Ansi16, Color::Ansi256, Color::TrueColor] {
            for dark in [true, false] {
                let style = Style { color, dark, ..Style::plain(80) };
                assert_ne!(style.paint(Role::Delete), style.paint(Role::DeleteWord));
                assert_ne!(style.paint(Role::Insert), style.paint(Role::InsertWord));
                assert_ne!(style.paint(Role::Insert), style.paint(Role::Delete));
            }
        }
    }
}
