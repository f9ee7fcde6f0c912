//! Cards as one page: no script, nothing from elsewhere, the same content as on a terminal.
//!
//! The page is written card by card; only its index is held, and stands at the end (a style sheet puts it beside the
//! cards). Every text passes `escape.rs` and then is written as HTML text; a strict content policy names the one style
//! sheet by its hash, so that nothing in a card could ever run or load anything.

use std::io;
use std::io::Write;
use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::Digest;
use sha2::Sha256;
use unicode_segmentation::UnicodeSegmentation;

use super::crew::Crew;
use super::escape::Charset;
use super::escape::Place;
use super::escape::each_cell;
use super::escape::is_hidden;
use super::explain;
use super::index::Index;
use super::index::plural;
use super::lines::FileLines;
use super::lines::Gap;
use super::lines::LineView;
use super::lines::OPEN_LINES;
use super::marks::Emphasis;
use super::marks::grapheme_border_before;
use super::moved;
use super::moved::moved_words;
use super::patch::SessionPatch;
use super::syntax;
use super::syntax::Syntax;
use super::syntax::Token;
use super::view::ARROW;
use super::view::Counts;
use super::view::ELLIPSIS;
use super::view::FileView;
use super::view::Tone;
use super::view::card_view;
use super::view::operation_word;
use crate::diff::hunks::Sign;
use crate::report::Card;

const CSS: &str = include_str!("page.css");
/// A larger patch is not put into the page a second time.
const LIMIT_PATCH_BYTES: usize = 64 << 10;
/// A line with more bytes than this is cut around its change; all of it is there to be opened.
const LONG_LINE_BYTES: usize = 2000;
/// How many bytes of such a line are shown at once.
const SHOWN_BYTES: usize = 400;

/// A page that is being written.
#[derive(Debug)]
pub struct Page {
    index: Index,
    syntax: Syntax,
}

impl Page {
    /// Writes the head of a page of that title, in which so much is coloured by syntax.
    ///
    /// # Errors
    /// What the writer says.
    pub fn begin(out: &mut dyn Write, title: &str, syntax: Syntax) -> io::Result<Self> {
        let hash = STANDARD.encode(Sha256::digest(CSS.as_bytes()));
        write!(
            out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
             style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n<title>"
        )?;
        text(out, title, Place::Name)?;
        write!(
            out,
            "</title>\n<style>{CSS}</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#index\">Index</a>\n<header><h1>"
        )?;
        isolated(out, title)?;
        out.write_all(b"</h1></header>\n<main>\n")?;
        Ok(Page { index: Index::default(), syntax })
    }

    /// Writes one card.
    ///
    /// # Errors
    /// What the writer says.
    pub fn card(&mut self, out: &mut dyn Write, card: &Card) -> io::Result<()> {
        let view = card_view(card, ARROW);
        let number = self.index.take(card, &view);
        let class = class_of(view.tone);
        write!(
            out,
            "<article class=\"card {class}\" id=\"card-{number}\" aria-labelledby=\"title-{number}\">\n<h2 id=\"title-{number}\">"
        )?;
        if !view.word.is_empty() {
            write!(out, "<span class=\"word {class}\">{}</span> ", view.word)?;
        }
        isolated(out, &view.title)?;
        counts(out, view.counts)?;
        out.write_all(b"</h2>\n")?;
        if !view.details.is_empty() {
            out.write_all(b"<p class=\"details\">")?;
            for (at, detail) in view.details.iter().enumerate() {
                out.write_all(if at > 0 { " \u{b7} ".as_bytes() } else { b"" })?;
                isolated(out, detail)?;
            }
            out.write_all(b"</p>\n")?;
        }
        let said = explain::card_lines(&view);
        if !said.is_empty() {
            out.write_all(b"<pre>")?;
            for line in said {
                text(out, &line, Place::Copied)?;
                out.write_all(b"\n")?;
            }
            out.write_all(b"</pre>\n")?;
        }
        let mut lines = moved::lines_of(&view.files, Emphasis::Words, Crew::ALONE);
        let paths: Vec<&str> = view.files.iter().map(|file| file.path).collect();
        self.syntax = syntax::mark(&mut lines, &paths, None, self.syntax);
        for (own, (file, lines)) in view.files.iter().zip(&lines).enumerate() {
            write_file(out, file, lines, (&paths, own))?;
        }
        write_patch(out, card)?;
        out.write_all(b"</article>\n")
    }

    /// Writes the index and the end of the page.
    ///
    /// # Errors
    /// What the writer says.
    pub fn finish(self, out: &mut dyn Write) -> io::Result<()> {
        if self.index.cards == 0 {
            out.write_all(b"<p>No edits.</p>\n")?;
        }
        out.write_all(b"</main>\n<nav id=\"index\" aria-label=\"Index\">\n")?;
        write_index(out, &self.index)?;
        out.write_all(b"</nav>\n</body>\n</html>\n")
    }
}

fn write_index(out: &mut dyn Write, index: &Index) -> io::Result<()> {
    let (added, removed) = index.totals();
    write!(out, "<h2>{}", plural(index.files.len(), "file"))?;
    counts(out, (Some(added), Some(removed)))?;
    out.write_all(b"</h2>\n")?;
    let words = index.words();
    if !words.is_empty() {
        writeln!(out, "<p>{words}</p>")?;
    }
    out.write_all(b"<ul>\n")?;
    for file in &index.files {
        let [first, others @ ..] = file.cards.as_slice() else { continue };
        write!(out, "<li><a href=\"#card-{first}\">")?;
        isolated(out, &file.path)?;
        out.write_all(b"</a>")?;
        counts(out, (Some(file.counts.0), Some(file.counts.1)))?;
        for other in others {
            write!(out, " <a href=\"#card-{other}\" aria-label=\"card {other}\">{other}</a>")?;
        }
        out.write_all(b"</li>\n")?;
    }
    out.write_all(b"</ul>\n")?;
    if index.turns.is_empty() {
        return Ok(());
    }
    out.write_all(b"<h2>Turns</h2>\n<ul>\n")?;
    for (turn, (first, count)) in &index.turns {
        writeln!(
            out,
            "<li><a href=\"#card-{first}\">Turn {turn}</a> <span class=\"details\">{}</span></li>",
            plural(*count, "edit")
        )?;
    }
    out.write_all(b"</ul>\n")
}

fn class_of(tone: Tone) -> &'static str {
    match tone {
        Tone::Neutral => "plain",
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Caution => "care",
    }
}

fn counts(out: &mut dyn Write, (added, removed): Counts) -> io::Result<()> {
    if (added, removed) == (Some(0), Some(0)) {
        return Ok(());
    }
    if let Some(added) = added {
        write!(out, " <span class=\"plus\">+{added}</span>")?;
    }
    if let Some(removed) = removed {
        write!(out, " <span class=\"minus\">-{removed}</span>")?;
    }
    Ok(())
}

fn write_file(
    out: &mut dyn Write,
    file: &FileView<'_>,
    lines: &FileLines<'_>,
    (paths, own): (&[&str], usize),
) -> io::Result<()> {
    write!(
        out,
        "<details class=\"file\" open><summary><span class=\"op\">{}</span> ",
        operation_word(file.operation)
    )?;
    isolated(out, &file.heading(ARROW))?;
    counts(out, file.counts)?;
    if let Some((word, tone)) = file.word {
        write!(out, " <span class=\"word {}\">{word}</span>", class_of(tone))?;
    }
    out.write_all(b"</summary>\n")?;
    let remarks: Vec<String> =
        file.remarks.iter().map(|remark| remark.text.clone()).chain(lines.footers()).collect();
    if !remarks.is_empty() {
        out.write_all(b"<ul class=\"remarks\">")?;
        for remark in &remarks {
            out.write_all(b"<li>")?;
            isolated(out, remark)?;
            out.write_all(b"</li>")?;
        }
        out.write_all(b"</ul>\n")?;
    }
    if !lines.hunks.is_empty() {
        let has_numbers = lines.highest().is_some();
        let bare = if has_numbers { "" } else { " bare" };
        let undone = if file.is_undone { " undone" } else { "" };
        writeln!(out, "<div class=\"diff{bare}{undone}\">")?;
        for hunk in &lines.hunks {
            gap(out, hunk.gap)?;
            if let Some(section) = hunk.section {
                out.write_all(b"<p class=\"gap section\">@@ ")?;
                isolated(out, section)?;
                out.write_all(b"</p>\n")?;
            }
            let is_folded = lines.is_whole() && hunk.lines.len() > OPEN_LINES + 1;
            for (at, line) in hunk.lines.iter().enumerate() {
                if is_folded && at == OPEN_LINES {
                    let more = hunk.lines.len() - OPEN_LINES;
                    writeln!(out, "<details><summary>{more} more lines</summary>")?;
                }
                if let Some(moved) = &line.moved {
                    out.write_all(b"<p class=\"gap\">")?;
                    isolated(out, &moved_words(moved, line.kind, paths, own))?;
                    out.write_all(b"</p>\n")?;
                }
                write_line(out, line, has_numbers)?;
            }
            if is_folded {
                out.write_all(b"</details>\n")?;
            }
        }
        out.write_all(b"</div>\n")?;
    }
    out.write_all(b"</details>\n")
}

fn gap(out: &mut dyn Write, gap: Gap) -> io::Result<()> {
    match gap {
        Gap::None => Ok(()),
        Gap::Unchanged(count) => {
            writeln!(out, "<p class=\"gap\">\u{22ee} {}</p>", plural(count, "unchanged line"))
        }
        Gap::Unknown => out.write_all("<p class=\"gap\">\u{22ee}</p>\n".as_bytes()),
    }
}

fn write_line(out: &mut dyn Write, line: &LineView<'_>, has_numbers: bool) -> io::Result<()> {
    let (tag, sign) = match line.kind {
        Sign::Context => ("div", " "),
        Sign::Delete => ("del", "-"),
        Sign::Insert => ("ins", "+"),
    };
    write!(out, "<{tag}{}>", if line.is_moved { " class=\"moved\"" } else { "" })?;
    if has_numbers {
        for number in [line.old_number, line.new_number] {
            match number {
                Some(number) => write!(out, "<span class=\"n\">{number}</span>")?,
                None => out.write_all(b"<span class=\"n\"></span>")?,
            }
        }
    }
    write!(out, "<span class=\"s\">{sign}</span>")?;
    let shown = window(line);
    write_code(out, line, &shown)?;
    if shown.len() < line.text.len() {
        let all = line.text.graphemes(true).count();
        write!(out, "<details><summary>all {all} characters</summary>")?;
        write_code(out, line, &(0..line.text.len()))?;
        out.write_all(b"</details>")?;
    }
    writeln!(out, "</{tag}>")
}

/// Returns which bytes of a line are shown at once: all of it, or of a long one what is around its change.
fn window(line: &LineView<'_>) -> Range<usize> {
    let text = line.text;
    if text.len() <= LONG_LINE_BYTES {
        return 0..text.len();
    }
    let focus = line.marks().focus.as_ref().map_or(0, |focus| focus.start);
    let start =
        if focus < SHOWN_BYTES / 2 { 0 } else { grapheme_border_before(text, focus - SHOWN_BYTES / 4) };
    start..grapheme_border_before(text, start + SHOWN_BYTES)
}

/// Writes some of the bytes of a line, which begin and end between characters that are seen as one.
fn write_code(out: &mut dyn Write, line: &LineView<'_>, shown: &Range<usize>) -> io::Result<()> {
    out.write_all(b"<code>")?;
    let ellipsis = |out: &mut dyn Write, is_cut: bool| {
        if is_cut { write!(out, "<span class=\"cut\">{ELLIPSIS}</span>") } else { Ok(()) }
    };
    ellipsis(out, shown.start > 0)?;
    // All pieces are on the borders of characters that are seen as one.
    let (mut written, mut start) = (Ok(()), 0);
    line.each_piece(|piece, differs, token| {
        let piece_start = start;
        start += piece.len();
        let (from, to) = (piece_start.max(shown.start), start.min(shown.end));
        let (open, close) = match (differs, token) {
            (true, _) if line.is_moved => ("", ""),
            (true, _) => ("<mark>", "</mark>"),
            (false, Some(token)) => (open_of(token), "</i>"),
            (false, None) => ("", ""),
        };
        if written.is_ok() && from < to {
            written = out
                .write_all(open.as_bytes())
                .and_then(|()| text(out, &piece[from - piece_start..to - piece_start], Place::Copied))
                .and_then(|()| out.write_all(close.as_bytes()));
        }
    });
    written?;
    ellipsis(out, shown.end < line.text.len())?;
    out.write_all(b"</code>")
}

/// Returns the tag that begins a token. `i` is for text that differs from the rest, as technical terms do, and short.
fn open_of(token: Token) -> &'static str {
    match token {
        Token::Comment => "<i class=\"c\">",
        Token::Text => "<i class=\"t\">",
        Token::Literal => "<i class=\"l\">",
        Token::Keyword => "<i class=\"k\">",
        Token::Function => "<i class=\"f\">",
        Token::Type => "<i class=\"y\">",
        Token::Tag => "<i class=\"g\">",
        Token::Name => "<i class=\"a\">",
    }
}

/// Puts the card's patch in, to be copied, where it is whole, small, and can be copied without being led astray.
fn write_patch(out: &mut dyn Write, card: &Card) -> io::Result<()> {
    let mut bytes = Vec::new();
    let lost = SessionPatch::default().card(&mut bytes, card, card.source.folder.as_deref())?;
    let Ok(patch) = String::from_utf8(bytes) else { return Ok(()) };
    let is_unseen = |scalar: char| is_hidden(scalar) && !matches!(scalar, '\n' | '\t');
    if lost > 0 || !patch.starts_with("diff ") || patch.len() > LIMIT_PATCH_BYTES || patch.contains(is_unseen)
    {
        return Ok(());
    }
    // A first newline would not be part of the text.
    out.write_all(b"<details class=\"patch\"><summary>Patch</summary>\n<textarea readonly aria-label=\"Patch\" spellcheck=\"false\">\n")?;
    markup(out, &patch)?;
    out.write_all(b"</textarea></details>\n")
}

/// Writes a name so that its direction changes nothing around it.
fn isolated(out: &mut dyn Write, name: &str) -> io::Result<()> {
    out.write_all(b"<bdi>")?;
    text(out, name, Place::Name)?;
    out.write_all(b"</bdi>")
}

/// Writes a text; what could not be seen is shown and marked. A tab of a line stays one, so that it can be copied.
fn text(out: &mut dyn Write, text: &str, place: Place) -> io::Result<()> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return markup(out, text);
    }
    let mut written = Ok(());
    each_cell(text, place, Charset::Unicode, |cell| {
        if written.is_err() {
            return;
        }
        written = if cell.is_hidden {
            let marked = [b"<span class=\"seen\">".as_slice(), b"</span>"];
            out.write_all(marked[0])
                .and_then(|()| markup(out, &cell.text))
                .and_then(|()| out.write_all(marked[1]))
        } else {
            markup(out, &cell.text)
        };
    });
    written
}

/// Writes text as HTML text, in an element or a quoted attribute.
fn markup(out: &mut dyn Write, text: &str) -> io::Result<()> {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
        out.write_all(&rest.as_bytes()[..at])?;
        out.write_all(match rest.as_bytes()[at] {
            b'&' => b"&amp;",
            b'<' => b"&lt;",
            b'>' => b"&gt;",
            b'"' => b"&quot;",
            _ => b"&#39;",
        })?;
        rest = &rest[at + 1..];
    }
    out.write_all(rest.as_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::render::sample;
    use crate::report::CardFile;
    use crate::report::CardStatus;
    use crate::report::Operation;

    fn page(cards: &[Card]) -> String {
        let mut out = Vec::new();
        let mut page = Page::begin(&mut out, "a <log>", Syntax::NEVER).unwrap();
        for card in cards {
            page.card(&mut out, card).unwrap();
        }
        page.finish(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn body(cards: &[Card]) -> String {
        let page = page(cards);
        page[page.find("<main>").unwrap()..].to_owned()
    }

    fn calc() -> Card {
        let counted =
            CardFile { added: Some(1), removed: Some(1), ..sample::file("a<b>.rs", Operation::Update) };
        let hunk = sample::hunk("a<b>.rs", (3, &["x", "if a < b {"]), (3, &["x", "if a <= b {"]));
        let mut card = sample::card(vec![counted], vec![hunk]);
        card.title = "edit a<b>.rs".to_owned();
        card.source.turn = Some(4);
        card
    }

    #[test]
    fn a_long_line_is_cut_around_its_change_and_all_of_it_is_there() {
        let line = |word: &str| format!("{}e\u{301}{word}{}", "ab ".repeat(2000), " <y>".repeat(2000));
        let (old, new) = (line("old"), line("new"));
        let diff = sample::hunk("a", (1, &[old.as_str()]), (1, &[new.as_str()]));
        let page = page(&[sample::card(vec![sample::file("a", Operation::Update)], vec![diff])]);
        let codes: Vec<&str> =
            page.split("<code>").skip(1).filter_map(|rest| Some(rest.split_once("</code>")?.0)).collect();
        let [cut_old, all_old, cut_new, all_new] = codes.as_slice() else { panic!("{}", codes.len()) };
        let cut = "<span class=\"cut\">\u{2026}</span>";
        for (code, text) in [(cut_old, "old"), (cut_new, "new")] {
            assert!(code.starts_with(cut) && code.ends_with(cut) && code.len() < 2000, "{code}");
            assert!(code.contains(text), "{code}");
        }
        let shown = |code: &str| {
            let unmarked = code.replace("<mark>", "").replace("</mark>", "");
            unmarked.replace("&lt;", "<").replace("&gt;", ">")
        };
        assert_eq!((shown(all_old), shown(all_new)), (old.clone(), new));
        assert!(page.contains(&format!("all {} characters", old.graphemes(true).count())));
    }

    #[test]
    fn a_card_is_a_labelled_article() {
        let page = body(&[calc()]);
        assert!(page.contains(
            "<h2 id=\"title-1\"><span class=\"word good\">applied</span> <bdi>edit a&lt;b&gt;.rs</bdi> \
             <span class=\"plus\">+1</span> <span class=\"minus\">-1</span></h2>\n<p class=\"details\"><bdi>turn 4</bdi></p>"
        ), "{page}");
        assert!(
            page.contains(
                "<ins><span class=\"n\"></span><span class=\"n\">4</span><span class=\"s\">+</span>\
             <code>if a &lt;<mark>=</mark> b {</code></ins>"
            ),
            "{page}"
        );
        assert!(page.contains("<a href=\"#card-1\"><bdi>a&lt;b&gt;.rs</bdi></a>"), "{page}");
        assert!(page.contains("<a href=\"#card-1\">Turn 4</a>"), "{page}");
        assert!(
            page.contains("--- &quot;a/a&lt;b&gt;.rs&quot;") || page.contains("--- a/a&lt;b&gt;.rs"),
            "{page}"
        );
    }

    #[test]
    fn the_policy_names_the_style_sheet_that_is_there() {
        let page = page(&[]);
        let style = page.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
        let hash = STANDARD.encode(Sha256::digest(style.as_bytes()));
        assert!(page.contains(&format!("style-src 'sha256-{hash}'")));
        assert!(page.contains("<p>No edits.</p>") && page.contains("<title>a &lt;log&gt;</title>"));
        for word in ["<script", "http://", "https://", "url(", "@import"] {
            assert!(!page.contains(word), "{word}");
        }
    }

    #[test]
    fn what_failed_has_its_reason_and_no_hunks() {
        let mut card = calc();
        (card.status, card.message) = (CardStatus::Failed, Some("no </pre> place".to_owned()));
        let page = body(&[card]);
        assert!(page.contains("<pre>no &lt;/pre&gt; place\n</pre>") && !page.contains("<ins>"), "{page}");
    }

    #[test]
    fn a_patch_that_can_not_be_seen_whole_is_not_offered() {
        let mut card = calc();
        assert!(body(std::slice::from_ref(&card)).contains("<textarea"));
        card.diffs[0].new_text.push('\u{202e}');
        let page = body(&[card]);
        assert!(!page.contains("<textarea") && page.contains("\u{27e8}U+202E\u{27e9}"), "{page}");
    }

    #[test]
    fn long_new_files_are_folded() {
        let lines = vec!["x"; 50];
        let file = CardFile { added: Some(50), removed: Some(0), ..sample::file("n", Operation::Create) };
        let page = body(&[sample::card(vec![file], vec![sample::hunk("n", (1, &[]), (1, &lines))])]);
        assert!(page.contains("<details><summary>30 more lines</summary>"), "{page}");
        assert_eq!(page.matches("<details").count(), page.matches("</details>").count());
    }

    proptest! {
        #[test]
        fn no_text_gets_out_of_its_element(
            title in ".*", path in ".*", old in "(?s).{0,80}", new in "(?s).{0,80}", message in "(?s).{0,80}",
        ) {
            let hunk = sample::hunk(&path, (1, &old.split('\n').collect::<Vec<_>>()), (1, &new.split('\n').collect::<Vec<_>>()));
            let mut card = sample::card(vec![sample::file(&path, Operation::Update)], vec![hunk]);
            (card.title, card.message) = (title, Some(message));
            let text = page(&[card]);
            let is_unseen = |scalar: char| {
                is_hidden(scalar) && !matches!(scalar, '\n' | '\t' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
            };
            prop_assert!(!text.contains(is_unseen));
            // Every tag that opens is one of the page's own, and closes.
            let body = &text[text.find("<main>").unwrap()..];
            let mut open: Vec<&str> = vec!["html", "body"];
            for tag in body.split('<').skip(1) {
                let name = tag.split(['>', ' ']).next().unwrap();
                match name.strip_prefix('/') {
                    Some(name) => prop_assert_eq!(open.pop(), Some(name)),
                    None => {
                        prop_assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{}", name);
                        open.push(name);
                    }
                }
            }
            prop_assert!(open.is_empty());
        }
    }
}
