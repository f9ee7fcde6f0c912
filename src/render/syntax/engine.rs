//! The only file that names the library that knows grammars.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::FixedState;
use syntect::parsing::ClearAmount;
use syntect::parsing::ParseState;
use syntect::parsing::Scope;
use syntect::parsing::ScopeStackOp;
use syntect::parsing::SyntaxReference;
use syntect::parsing::SyntaxSet;
use unicode_segmentation::UnicodeSegmentation;

use super::Span;
use super::Token;
use crate::diff::hunks::Sign;
use crate::render::lines::FileLines;
use crate::render::lines::LineView;

/// A longer line is not looked at: its parts are many, and some patterns need time that grows with its square.
const LIMIT_LINE_BYTES: usize = 1000;
/// How deep scopes are followed; a library's stack of contexts is no deeper than a hundred.
const LIMIT_DEPTH: usize = 1000;

/// The grammars: a constant, packed in the binary, and unpacked when it is first asked for.
static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

/// What scopes mean, the more exact ones first.
static RULES: LazyLock<Vec<(Scope, Meaning)>> = LazyLock::new(|| {
    let rule = |&(name, meaning): &(&str, Meaning)| Some((Scope::new(name).ok()?, meaning));
    let mut rules: Vec<(Scope, Meaning)> = SCOPES.iter().filter_map(rule).collect();
    rules.sort_by_key(|(scope, _)| std::cmp::Reverse(scope.len()));
    rules
});

/// What a scope says of the text in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// What the scope around it says.
    AsAround,
    /// That it is nothing in particular, whatever is around it.
    Plain,
    Is(Token),
}

/// Names of scopes as grammars give them; https://www.sublimetext.com/docs/scope_naming.html says what they mean.
const SCOPES: &[(&str, Meaning)] = &[
    ("comment", Meaning::Is(Token::Comment)),
    ("string", Meaning::Is(Token::Text)),
    ("string.unquoted", Meaning::AsAround),
    ("markup.raw", Meaning::Is(Token::Text)),
    ("constant", Meaning::Is(Token::Literal)),
    ("variable.language", Meaning::Is(Token::Literal)),
    ("keyword", Meaning::Is(Token::Keyword)),
    ("keyword.operator", Meaning::Plain),
    ("keyword.operator.word", Meaning::Is(Token::Keyword)),
    ("keyword.operator.logical.python", Meaning::Is(Token::Keyword)),
    ("storage", Meaning::Is(Token::Keyword)),
    ("entity.name.function", Meaning::Is(Token::Function)),
    ("entity.name.macro", Meaning::Is(Token::Function)),
    ("support.function", Meaning::Is(Token::Function)),
    ("support.macro", Meaning::Is(Token::Function)),
    ("variable.function", Meaning::Is(Token::Function)),
    ("markup.underline.link", Meaning::Is(Token::Function)),
    ("entity.name", Meaning::Is(Token::Type)),
    ("entity.other.inherited-class", Meaning::Is(Token::Type)),
    ("support.type", Meaning::Is(Token::Type)),
    ("support.class", Meaning::Is(Token::Type)),
    ("entity.name.tag", Meaning::Is(Token::Tag)),
    ("entity.name.section", Meaning::Is(Token::Tag)),
    ("entity.name.table", Meaning::Is(Token::Tag)),
    ("markup.heading", Meaning::Is(Token::Tag)),
    ("entity.name.label", Meaning::Is(Token::Name)),
    ("entity.name.constant", Meaning::Is(Token::Literal)),
    ("entity.name.tag.yaml", Meaning::Is(Token::Name)),
    ("entity.other.attribute-name", Meaning::Is(Token::Name)),
    ("support.type.property-name", Meaning::Is(Token::Name)),
    ("variable.annotation", Meaning::Is(Token::Name)),
    ("meta.mapping.key", Meaning::Is(Token::Name)),
    ("meta.annotation", Meaning::Is(Token::Name)),
    ("meta.attribute", Meaning::Is(Token::Name)),
    ("meta.interpolation", Meaning::Plain),
    ("meta.template.expression", Meaning::Plain),
    ("source", Meaning::Plain),
];

/// Tells whether there is a grammar for a file.
pub(super) fn is_known(path: &str, file: &FileLines<'_>) -> bool {
    grammar(path, file).is_some()
}

/// Returns the grammar of a file: by its name, by what comes behind the last dot of it, by its first line.
fn grammar(path: &str, file: &FileLines<'_>) -> Option<&'static SyntaxReference> {
    let set = &*SYNTAXES;
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    let lower = extension.map(str::to_ascii_lowercase);
    let first_line = file.lines().next().filter(|line| line.old_number.or(line.new_number) == Some(1));
    set.find_syntax_by_extension(name)
        .or_else(|| set.find_syntax_by_extension(extension?))
        .or_else(|| set.find_syntax_by_extension(lower.as_deref()?))
        .or_else(|| {
            set.find_syntax_by_first_line(
                first_line?.text.get(..LIMIT_LINE_BYTES).unwrap_or(first_line?.text),
            )
        })
        .filter(|grammar| grammar.name != "Plain Text")
}

/// Finds what the parts of the first lines of a file's hunks are.
pub(super) fn colour(path: &str, file: &mut FileLines<'_>, most_lines: usize) {
    let Some(grammar) = grammar(path, file) else { return };
    let mut reader = Reader { line: String::new(), meanings: HashMap::default() };
    for hunk in &mut file.hunks {
        let mut sides = Sides { old: State::new(grammar), new: None };
        for line in hunk.lines.iter_mut().take(most_lines) {
            line.tokens = sides.read(line, &mut reader);
        }
    }
}

/// Where the reading of both sides stands; `new` is `None` as long as it is where `old` is, and nothing is read twice.
struct Sides {
    old: State,
    new: Option<State>,
}

impl Sides {
    fn read(&mut self, line: &LineView<'_>, reader: &mut Reader) -> Vec<Span> {
        match line.kind {
            Sign::Delete => {
                self.new.get_or_insert_with(|| self.old.clone());
                reader.read(&mut self.old, line.text)
            }
            Sign::Insert => {
                let new = self.new.get_or_insert_with(|| self.old.clone());
                reader.read(new, line.text)
            }
            Sign::Context => {
                self.new.take_if(|new| *new == self.old);
                let spans = reader.read(&mut self.old, line.text);
                match &mut self.new {
                    Some(new) => reader.read(new, line.text),
                    None => spans,
                }
            }
        }
    }
}

/// Where the reading of one side stands.
#[derive(Clone, PartialEq, Eq)]
struct State {
    parser: ParseState,
    /// What each open scope makes of the text in it.
    open: Vec<Meaning>,
    /// Scopes that are out of force, for as long as others are open.
    cleared: Vec<Vec<Meaning>>,
}

impl State {
    fn new(grammar: &SyntaxReference) -> Self {
        State { parser: ParseState::new(grammar), open: Vec::new(), cleared: Vec::new() }
    }

    fn token(&self) -> Option<Token> {
        match self.open.last() {
            Some(Meaning::Is(token)) => Some(*token),
            Some(Meaning::AsAround | Meaning::Plain) | None => None,
        }
    }
}

/// What is the same for all lines.
struct Reader {
    /// The line that is read, with the newline that grammars want.
    line: String,
    meanings: HashMap<Scope, Meaning, FixedState>,
}

impl Reader {
    /// Reads one line, without its newline.
    fn read(&mut self, state: &mut State, text: &str) -> Vec<Span> {
        if text.len() > LIMIT_LINE_BYTES {
            return Vec::new();
        }
        self.line.clear();
        self.line.push_str(text);
        self.line.push('\n');
        let Ok(steps) = state.parser.parse_line(&self.line, &SYNTAXES) else { return Vec::new() };
        let mut spans = Vec::new();
        let mut start = 0;
        for (at, step) in steps {
            let at = at.min(text.len());
            push(&mut spans, start..at.max(start), state.token());
            start = at.max(start);
            self.take(state, &step);
        }
        push(&mut spans, start..text.len(), state.token());
        if !text.is_ascii() {
            keep_characters(&mut spans, text);
        }
        spans
    }

    fn take(&mut self, state: &mut State, step: &ScopeStackOp) {
        match step {
            ScopeStackOp::Push(scope) if state.open.len() < LIMIT_DEPTH => {
                let around = state.open.last().copied().unwrap_or(Meaning::Plain);
                state.open.push(match self.meaning(*scope) {
                    Meaning::AsAround => around,
                    meaning => meaning,
                });
            }
            ScopeStackOp::Pop(count) => state.open.truncate(state.open.len().saturating_sub(*count)),
            ScopeStackOp::Clear(amount) if state.cleared.len() < LIMIT_DEPTH => {
                let kept = match amount {
                    ClearAmount::TopN(count) => state.open.len().saturating_sub(*count),
                    ClearAmount::All => 0,
                };
                state.cleared.push(state.open.split_off(kept));
            }
            ScopeStackOp::Restore => state.open.extend(state.cleared.pop().unwrap_or_default()),
            ScopeStackOp::Push(_) | ScopeStackOp::Clear(_) | ScopeStackOp::Noop => {}
        }
    }

    fn meaning(&mut self, scope: Scope) -> Meaning {
        *self.meanings.entry(scope).or_insert_with(|| {
            let rule = RULES.iter().find(|(general, _)| general.is_prefix_of(scope));
            rule.map_or(Meaning::AsAround, |(_, meaning)| *meaning)
        })
    }
}

fn push(spans: &mut Vec<Span>, range: std::ops::Range<usize>, token: Option<Token>) {
    let Some(token) = token.filter(|_| !range.is_empty()) else { return };
    match spans.last_mut() {
        Some(last) if last.token == token && last.range.end == range.start => last.range.end = range.end,
        _ => spans.push(Span { range, token }),
    }
}

/// Moves borders inside of characters that are seen as one to their ends.
fn keep_characters(spans: &mut Vec<Span>, text: &str) {
    let ends: Vec<usize> =
        text.grapheme_indices(true).map(|(start, grapheme)| start + grapheme.len()).collect();
    let border = |at: usize| {
        if at == 0 {
            0
        } else {
            ends.get(ends.partition_point(|&end| end < at)).copied().unwrap_or(text.len())
        }
    };
    for span in spans.iter_mut() {
        span.range = border(span.range.start)..border(span.range.end);
    }
    spans.retain(|span| !span.range.is_empty());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_licences_of_all_grammars_are_listed() {
        let mut list = String::new();
        for licence in two_face::acknowledgement::listing().for_syntaxes() {
            licence.write_md(&mut list);
        }
        let committed = include_str!("../../../LICENSE-GRAMMARS.md");
        assert!(committed.trim_end().ends_with(list.trim_end()));
    }

    /// Pieces that open, close and nest what languages have, and what no language has.
    const PIECES: &[&str] = &[
        " ",
        "\t",
        "\r",
        "\0",
        "\u{301}",
        "\u{202e}",
        "\u{4e2d}",
        "\u{1f600}",
        "a",
        "B9",
        "_x",
        "0x1F",
        "1.5e3",
        "\"",
        "'",
        "`",
        "\"\"\"",
        "'''",
        "/*",
        "*/",
        "//",
        "#",
        "<!--",
        "-->",
        "<a href=",
        "</a>",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "${",
        "#{",
        "{{",
        "}}",
        "<%",
        "%>",
        "<?php",
        "?>",
        "<<EOF",
        "EOF",
        "<<~'X'",
        "r#\"",
        "\"#",
        "R\"x(",
        ")x\"",
        "\\",
        "\\u{",
        "$(",
        "=begin",
        "=end",
        "---",
        "```rust",
        "```",
        "@",
        "fn ",
        "def ",
        "class ",
        "if ",
        "end",
        "do |",
        "=>",
        "->",
        "::",
        ";",
        ":",
        ",",
        "%w[",
        "/re/",
        "s/a/b/",
        "&amp;",
        "\\begin{",
        "\\end{",
        "<script>",
        "</script>",
        "<style>",
        "--[[",
        "]]",
        "let%",
        "(*",
        "*)",
        "{-",
        "-}",
        "BEGIN",
        "END",
        "q(",
        "+++",
        "@@ -1 +1 @@",
    ];

    proptest! {
        #![proptest_config(ProptestConfig {
            // A grammar is compiled for nearly every case.
            cases: ProptestConfig::default().cases / 8,
            ..ProptestConfig::default()
        })]
        #[test]
        fn any_text_of_any_language_is_read(
            grammar: proptest::sample::Index,
            lines in proptest::collection::vec(proptest::collection::vec(proptest::sample::select(PIECES), 0..12), 0..12),
        ) {
            let grammar = &SYNTAXES.syntaxes()[grammar.index(SYNTAXES.syntaxes().len())];
            let mut reader = Reader { line: String::new(), meanings: HashMap::default() };
            let mut state = State::new(grammar);
            for line in lines.iter().map(|pieces| pieces.concat()) {
                let mut end = 0;
                for Span { range, .. } in reader.read(&mut state, &line) {
                    prop_assert!(end <= range.start && !range.is_empty(), "{} {range:?} in {line:?}", grammar.name);
                    prop_assert!(line.is_char_boundary(range.start) && line.is_char_boundary(range.end));
                    end = range.end;
                }
                prop_assert!(end <= line.len());
            }
        }
    }
}
