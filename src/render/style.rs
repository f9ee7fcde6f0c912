//! How a card looks: width, colours, characters.
//!
//! Signs and words say all that colours say; a reader without colours misses nothing. Foreground and background are
//! always set together, so that a wrong guess of the terminal's background stays readable.

use owo_colors::XtermColors;

use super::escape::Charset;
use super::lines::OPEN_LINES;
use super::links::Links;
use super::marks::Emphasis;

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
    /// Whether blue and orange stand for green and red.
    pub color_blind: bool,
    /// Whether only ASCII can be shown.
    pub ascii: bool,
    /// How many lines of a wholly new or wholly deleted file are drawn; all if none.
    pub max_lines: Option<usize>,
    /// Whether long lines are broken into several rows; else they are cut around their change.
    pub is_full: bool,
    /// Whether old and new stand beside each other, where there is room.
    pub is_side_by_side: bool,
    /// Whether grounds reach to the end of a row by blanks: a pager does not take the sequence that erases.
    pub is_padded: bool,
    /// What paths lead to, where the terminal takes links.
    pub links: Option<&'static Links>,
}

impl Style {
    /// How many lines of a wholly new or wholly deleted file are drawn, if not all are asked for.
    pub const MAX_LINES: usize = OPEN_LINES;

    /// Returns a style without colours in Unicode.
    pub fn plain(width: usize) -> Self {
        Style {
            width,
            color: Color::Never,
            dark: true,
            color_blind: false,
            ascii: false,
            max_lines: None,
            is_full: false,
            is_side_by_side: false,
            is_padded: false,
            links: None,
        }
    }

    /// Returns which characters can be shown.
    pub fn charset(&self) -> Charset {
        if self.ascii { Charset::Ascii } else { Charset::Unicode }
    }

    /// Tells whether words that differ would be seen.
    pub(super) fn emphasis(&self) -> Emphasis {
        if self.color == Color::Never { Emphasis::None } else { Emphasis::Words }
    }

    /// Returns the colours of a role; none if it has none here.
    pub(super) fn paint(&self, role: Role) -> Option<owo_colors::Style> {
        let paint = match self.color {
            Color::Never => return None,
            Color::Ansi16 => few_colors(role, self.color_blind),
            Color::Ansi256 => palette(role, self.dark, self.color_blind),
            Color::TrueColor => true_color(role, self.dark, self.color_blind),
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
}

static UNICODE: Glyphs = Glyphs {
    bullet: "\u{25cf}",
    bar: "\u{2502}",
    gap: "\u{22ee}",
    ellipsis: "\u{2026}",
    arrow: "\u{2192}",
    dot: "\u{b7}",
};

static ASCII: Glyphs = Glyphs { bullet: "*", bar: "|", gap: ":", ellipsis: "...", arrow: "->", dot: "-" };

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
    /// A line that now stands elsewhere.
    MovedAway,
    /// A line that stood elsewhere.
    MovedHere,
    /// Stands for text that could not be seen.
    Hidden,
}

fn few_colors(role: Role, is_color_blind: bool) -> owo_colors::Style {
    let paint = owo_colors::Style::new();
    let (good, bad) = match is_color_blind {
        false => (paint.green(), paint.red()),
        // Sixteen colours have no orange.
        true => (paint.blue(), paint.yellow()),
    };
    match role {
        Role::Plain => paint,
        Role::Dim => paint.dimmed(),
        Role::Strong => paint.bold(),
        Role::Good | Role::Insert => good,
        Role::Bad => bad.bold(),
        Role::Delete => bad,
        Role::Caution => paint.yellow(),
        // Sixteen colours have no second green that every theme shows as one.
        Role::DeleteWord => bad.bold().underline(),
        Role::InsertWord => good.bold().underline(),
        Role::MovedAway => paint.magenta(),
        Role::MovedHere => paint.cyan(),
        Role::Hidden => paint.yellow().reversed(),
    }
}

/// Text and ground of a role, on a dark or a light terminal; `None` for a role that has only a foreground.
struct Grounds<C> {
    text: C,
    delete: C,
    delete_word: C,
    insert: C,
    insert_word: C,
}

fn grounds<C: Copy>(role: Role, grounds: &Grounds<C>) -> Option<(C, C, bool)> {
    let (ground, is_word) = match role {
        Role::Delete => (grounds.delete, false),
        Role::DeleteWord => (grounds.delete_word, true),
        Role::Insert => (grounds.insert, false),
        Role::InsertWord => (grounds.insert_word, true),
        Role::Plain
        | Role::Dim
        | Role::Strong
        | Role::Good
        | Role::Bad
        | Role::Caution
        | Role::MovedAway
        | Role::MovedHere
        | Role::Hidden => return None,
    };
    Some((grounds.text, ground, is_word))
}

fn palette(role: Role, is_dark: bool, is_color_blind: bool) -> owo_colors::Style {
    let numbers = |text, delete, delete_word, insert, insert_word| Grounds {
        text,
        delete,
        delete_word,
        insert,
        insert_word,
    };
    // Words differ from their line in lightness, not only in colour.
    let table = match (is_dark, is_color_blind) {
        (true, false) => numbers(255, 52, 124, 22, 28),
        (false, false) => numbers(16, 224, 217, 194, 157),
        (true, true) => numbers(255, 58, 130, 17, 25),
        (false, true) => numbers(16, 223, 215, 189, 153),
    };
    let Some((text, ground, is_word)) = grounds(role, &table) else {
        return few_colors(role, is_color_blind);
    };
    let paint = owo_colors::Style::new().color(XtermColors::from(text)).on_color(XtermColors::from(ground));
    if is_word { paint.bold() } else { paint }
}

fn true_color(role: Role, is_dark: bool, is_color_blind: bool) -> owo_colors::Style {
    type Rgb = (u8, u8, u8);
    let table: Grounds<Rgb> = match (is_dark, is_color_blind) {
        (true, false) => Grounds {
            text: (0xe6, 0xed, 0xf3),
            delete: (0x4a, 0x22, 0x1d),
            delete_word: (0x8e, 0x2a, 0x22),
            insert: (0x21, 0x3a, 0x2b),
            insert_word: (0x1f, 0x6f, 0x3d),
        },
        (false, false) => Grounds {
            text: (0x1f, 0x23, 0x28),
            delete: (0xff, 0xeb, 0xe9),
            delete_word: (0xff, 0xb8, 0xb3),
            insert: (0xda, 0xfb, 0xe1),
            insert_word: (0x94, 0xe2, 0xa8),
        },
        (true, true) => Grounds {
            text: (0xe6, 0xed, 0xf3),
            delete: (0x47, 0x2c, 0x0b),
            delete_word: (0x8a, 0x51, 0x0a),
            insert: (0x10, 0x2a, 0x4c),
            insert_word: (0x1b, 0x57, 0x9e),
        },
        (false, true) => Grounds {
            text: (0x1f, 0x23, 0x28),
            delete: (0xff, 0xf1, 0xdd),
            delete_word: (0xff, 0xcb, 0x87),
            insert: (0xdd, 0xed, 0xff),
            insert_word: (0x9c, 0xcb, 0xff),
        },
    };
    let Some((text, ground, is_word)) = grounds(role, &table) else {
        return few_colors(role, is_color_blind);
    };
    let paint =
        owo_colors::Style::new().truecolor(text.0, text.1, text.2).on_truecolor(ground.0, ground.1, ground.2);
    if is_word { paint.bold() } else { paint }
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
            for (dark, color_blind) in [(true, false), (false, false), (true, true), (false, true)] {
                let style = Style { color, dark, color_blind, ..Style::plain(80) };
                assert_ne!(style.paint(Role::Delete), style.paint(Role::DeleteWord));
                assert_ne!(style.paint(Role::Insert), style.paint(Role::InsertWord));
                assert_ne!(style.paint(Role::Insert), style.paint(Role::Delete));
            }
        }
    }
}
