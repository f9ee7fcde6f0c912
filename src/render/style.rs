//! How a card looks: width, colours, characters.
//!
//! Signs and words say all that colours say; a reader without colours misses nothing. Foreground and background are
//! always set together, so that a wrong guess of the terminal's background stays readable.

use owo_colors::XtermColors;

use super::crew::Crew;
use super::escape::Charset;
use super::lines::OPEN_LINES;
use super::links::Links;
use super::marks::Emphasis;
use super::syntax::Syntax;
use super::syntax::Token;

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
    /// Whether what is written goes to a terminal as it is, so that the cursor can be told where to go.
    pub is_screen: bool,
    /// What paths lead to, where the terminal takes links.
    pub links: Option<&'static Links>,
    /// How much is coloured by syntax, where there are enough colours for it.
    pub syntax: Syntax,
    /// Who draws the parts of a long card.
    pub crew: Crew,
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
            is_screen: false,
            links: None,
            syntax: Syntax::NEVER,
            crew: Crew::ALONE,
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

    /// Returns how much may be coloured by syntax: nothing where the terminal has too few colours.
    pub(super) fn syntax(&self) -> Syntax {
        match self.color {
            Color::Never | Color::Ansi16 => Syntax::NEVER,
            Color::Ansi256 | Color::TrueColor => self.syntax,
        }
    }

    /// Returns the colours of a piece; none if it has none here.
    pub(super) fn paint(&self, ink: impl Into<Ink>) -> Option<owo_colors::Style> {
        let Ink { role, token } = ink.into();
        let paint = match self.color {
            Color::Never => return None,
            Color::Ansi16 => few_colors(role, self.color_blind),
            Color::Ansi256 => palette(role, self.dark, self.color_blind),
            Color::TrueColor => true_color(role, self.dark, self.color_blind),
        };
        let paint = match (token, self.color) {
            (Some(token), Color::Ansi256) => {
                paint.color(XtermColors::from(token_number(token, self.dark, self.color_blind)))
            }
            (Some(token), Color::TrueColor) => {
                let (red, green, blue) = token_rgb(token, self.dark, self.color_blind);
                paint.truecolor(red, green, blue)
            }
            (Some(_), Color::Never | Color::Ansi16) | (None, _) => paint,
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

impl Role {
    /// Returns the role with what the text in it is, if that is shown there.
    pub(super) fn with(self, token: Option<Token>) -> Ink {
        let token = token.filter(|_| matches!(self, Role::Plain | Role::Delete | Role::Insert));
        Ink { role: self, token }
    }
}

/// How a piece of a row looks: its role, and what part of the language it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ink {
    role: Role,
    token: Option<Token>,
}

impl From<Role> for Ink {
    fn from(role: Role) -> Self {
        Ink { role, token: None }
    }
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

fn number_table(is_dark: bool, is_color_blind: bool) -> Grounds<u8> {
    let numbers = |text, delete, delete_word, insert, insert_word| Grounds {
        text,
        delete,
        delete_word,
        insert,
        insert_word,
    };
    // Words differ from their line in lightness, not only in colour.
    match (is_dark, is_color_blind) {
        (true, false) => numbers(255, 52, 124, 22, 28),
        (false, false) => numbers(16, 224, 217, 194, 157),
        (true, true) => numbers(255, 58, 130, 17, 25),
        (false, true) => numbers(16, 223, 215, 189, 153),
    }
}

fn palette(role: Role, is_dark: bool, is_color_blind: bool) -> owo_colors::Style {
    let Some((text, ground, is_word)) = grounds(role, &number_table(is_dark, is_color_blind)) else {
        return few_colors(role, is_color_blind);
    };
    let paint = owo_colors::Style::new().color(XtermColors::from(text)).on_color(XtermColors::from(ground));
    if is_word { paint.bold() } else { paint }
}

type Rgb = (u8, u8, u8);

fn rgb_table(is_dark: bool, is_color_blind: bool) -> Grounds<Rgb> {
    match (is_dark, is_color_blind) {
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
    }
}

fn true_color(role: Role, is_dark: bool, is_color_blind: bool) -> owo_colors::Style {
    let Some((text, ground, is_word)) = grounds(role, &rgb_table(is_dark, is_color_blind)) else {
        return few_colors(role, is_color_blind);
    };
    let paint =
        owo_colors::Style::new().truecolor(text.0, text.1, text.2).on_truecolor(ground.0, ground.1, ground.2);
    if is_word { paint.bold() } else { paint }
}

/// Returns the colour of a token in the palette of 256, for the ground of the terminal and of changed lines.
fn token_number(token: Token, is_dark: bool, is_color_blind: bool) -> u8 {
    let [usual, color_blind] = match (token, is_dark) {
        (Token::Comment, true) => [248, 250],
        (Token::Comment, false) => [59, 59],
        (Token::Text, true) => [153, 153],
        (Token::Text, false) => [24, 24],
        (Token::Literal, true) => [117, 229],
        (Token::Literal, false) => [25, 58],
        (Token::Keyword, true) => [210, 183],
        (Token::Keyword, false) => [124, 54],
        (Token::Function, true) => [183, 117],
        (Token::Function, false) => [54, 25],
        (Token::Type, true) => [215, 223],
        (Token::Type, false) => [94, 94],
        (Token::Tag, true) => [114, 117],
        (Token::Tag, false) => [22, 25],
        (Token::Name, true) => [117, 153],
        (Token::Name, false) => [25, 24],
    };
    if is_color_blind { color_blind } else { usual }
}

/// Returns the colour of a token in 24 bits, as [`token_number`] does.
fn token_rgb(token: Token, is_dark: bool, is_color_blind: bool) -> Rgb {
    let [usual, color_blind] = match (token, is_dark) {
        (Token::Comment, true) => [0x9da7b3, 0x9da7b3],
        (Token::Comment, false) => [0x59636e, 0x59636e],
        (Token::Text, true) => [0xa5d6ff, 0xa5d6ff],
        (Token::Text, false) => [0x0a3069, 0x0a3069],
        (Token::Literal, true) => [0x79c0ff, 0xf0d58a],
        (Token::Literal, false) => [0x0550ae, 0x5c4a00],
        (Token::Keyword, true) => [0xff8e86, 0xd2a8ff],
        (Token::Keyword, false) => [0xb3202b, 0x5a32a3],
        (Token::Function, true) => [0xd2a8ff, 0x79c0ff],
        (Token::Function, false) => [0x6639ba, 0x0550ae],
        (Token::Type, true) => [0xffb870, 0xffd8a8],
        (Token::Type, false) => [0x8a3c00, 0x7a3d00],
        (Token::Tag, true) => [0x7ee787, 0x79c0ff],
        (Token::Tag, false) => [0x116329, 0x0550ae],
        (Token::Name, true) => [0x79c0ff, 0xa5d6ff],
        (Token::Name, false) => [0x0550ae, 0x0a3069],
    };
    let [_, red, green, blue] = u32::to_be_bytes(if is_color_blind { color_blind } else { usual });
    (red, green, blue)
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

    /// The lightness of a colour as https://www.w3.org/TR/WCAG22/#dfn-relative-luminance counts it.
    fn luminance(color: (u8, u8, u8)) -> f64 {
        let part = |value: u8| {
            let value = f64::from(value) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(color.0) + 0.7152 * part(color.1) + 0.0722 * part(color.2)
    }

    fn contrast(one: (u8, u8, u8), other: (u8, u8, u8)) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    /// The colours that terminals give to the upper numbers of the palette of 256.
    fn rgb_of(number: u8) -> (u8, u8, u8) {
        match number {
            232.. => {
                let gray = 8 + 10 * (number - 232);
                (gray, gray, gray)
            }
            _ => {
                let step = |index: u8| if index == 0 { 0 } else { 55 + 40 * index };
                let cube = number - 16;
                (step(cube / 36), step(cube / 6 % 6), step(cube % 6))
            }
        }
    }

    const TOKENS: [Token; 8] = [
        Token::Comment,
        Token::Text,
        Token::Literal,
        Token::Keyword,
        Token::Function,
        Token::Type,
        Token::Tag,
        Token::Name,
    ];

    #[test]
    fn every_token_can_be_read_on_every_ground() {
        for (dark, color_blind) in [(true, false), (false, false), (true, true), (false, true)] {
            let terminal = if dark { (0, 0, 0) } else { (255, 255, 255) };
            let (rgb, numbers) = (rgb_table(dark, color_blind), number_table(dark, color_blind));
            for token in TOKENS {
                let color = token_rgb(token, dark, color_blind);
                for ground in [terminal, rgb.delete, rgb.insert] {
                    assert!(contrast(color, ground) >= 4.5, "{token:?} {color:?} on {ground:?}");
                }
                let color = rgb_of(token_number(token, dark, color_blind));
                for ground in [terminal, rgb_of(numbers.delete), rgb_of(numbers.insert)] {
                    assert!(contrast(color, ground) >= 3.0, "{token:?} {color:?} on {ground:?}");
                }
            }
        }
    }
}
