//! Cards in named situations, as every renderer draws them, and text that nobody should trust through all of them.

#![cfg(feature = "cli")]
#![expect(clippy::disallowed_methods, clippy::expect_used, reason = "a test reads files and may fail")]

use std::fs;
use std::io;
use std::io::Write;
use std::num::NonZero;
use std::path::Path;

use hunkwise::render::escape::Charset;
use hunkwise::render::escape::Place as EscapePlace;
use hunkwise::render::escape::escape;
use hunkwise::render::html::Page;
use hunkwise::render::json;
use hunkwise::render::markdown::Document;
use hunkwise::render::stat;
use hunkwise::render::style::Color;
use hunkwise::render::style::Style;
use hunkwise::render::syntax::Syntax;
use hunkwise::render::terminal;
use hunkwise::report::Candidate;
use hunkwise::report::Card;
use hunkwise::report::CardFile;
use hunkwise::report::CardKind;
use hunkwise::report::CardSchema;
use hunkwise::report::CardStatus;
use hunkwise::report::Change;
use hunkwise::report::Code;
use hunkwise::report::DiffNote;
use hunkwise::report::EolName;
use hunkwise::report::ErrorReport;
use hunkwise::report::FileDiff;
use hunkwise::report::Nearest;
use hunkwise::report::Operation;
use hunkwise::report::Placement;
use hunkwise::report::PreviewEvent;
use hunkwise::report::PreviewFile;
use hunkwise::report::PreviewSchema;
use hunkwise::report::Problem;
use hunkwise::report::Recorded;
use hunkwise::report::Source;
use proptest::prelude::*;

/// A hunk that begins at the same line on both sides.
fn hunk(path: &str, start: usize, old: &[&str], new: &[&str]) -> FileDiff {
    FileDiff {
        path: path.to_owned(),
        old_text: (!old.is_empty()).then(|| old.join("\n")),
        new_text: new.join("\n"),
        old_start: Some(start),
        old_lines: Some(old.len()),
        new_start: Some(start),
        new_lines: Some(new.len()),
        ..FileDiff::default()
    }
}

fn file(path: &str, operation: Operation, added: usize, removed: usize) -> CardFile {
    CardFile {
        path: path.to_owned(),
        operation,
        from: None,
        status: None,
        added: Some(added),
        removed: Some(removed),
        eol: None,
        encoding: None,
        mode: None,
        recorded: Recorded::Hunks,
    }
}

fn card(title: &str, status: CardStatus, files: Vec<CardFile>, diffs: Vec<FileDiff>) -> Card {
    let source = Source {
        format: "claude".to_owned(),
        line: 7,
        call_id: Some("call_7".to_owned()),
        tool: "edit".to_owned(),
        turn: Some(3),
        time: Some("2026-11-30T10:00:00Z".to_owned()),
        ..Source::default()
    };
    let (schema, kind) = (CardSchema::V1, CardKind::Diff);
    Card {
        schema,
        card: kind,
        title: title.to_owned(),
        status,
        source,
        files,
        diffs,
        requested: Vec::new(),
        message: None,
        error: None,
        compared: None,
    }
}

fn applied(path: &str, added: usize, removed: usize, diffs: Vec<FileDiff>) -> Card {
    let files = vec![file(path, Operation::Update, added, removed)];
    card(&format!("edit {path}"), CardStatus::Applied, files, diffs)
}

/// A hunk as a call asks for it.
fn wanted(path: &str, old: &str, new: &str) -> FileDiff {
    let (path, old_text) = (path.to_owned(), Some(old.to_owned()));
    FileDiff { path, old_text, new_text: new.to_owned(), ..FileDiff::default() }
}

/// An edit that hunkwise itself refused.
fn refused(path: &str, problem: Problem) -> Card {
    let files = vec![CardFile { recorded: Recorded::Path, ..file(path, Operation::Update, 0, 0) }];
    let problem = problem.with_path(path);
    let error = ErrorReport {
        code: problem.code,
        message: problem.message.clone(),
        hint: problem.hint.clone(),
        problems: vec![problem],
    };
    Card {
        requested: vec![wanted(path, "    let rate = price * 100;", "    let rate = price * 110;")],
        message: Some(format!("Error: {}", error.message)),
        error: Some(error),
        ..card(&format!("edit {path}"), CardStatus::Failed, files, vec![])
    }
}

/// The situations, each with its name.
fn situations() -> Vec<(&'static str, Card)> {
    let words = hunk(
        "src/sum.rs",
        11,
        &["/// Adds up.", "fn sum(a: i32, b: i32) -> i32 {", "    a + b", "}"],
        &["/// Adds up.", "fn sum(a: i64, b: i64) -> i64 {", "    a.saturating_add(b)", "}"],
    );
    let body = ["fn carry(over: usize) -> usize {", "    over + usize::from(over > 9)", "}"];
    let away = hunk("src/old.rs", 3, &["mod a;", body[0], body[1], body[2], "mod z;"], &["mod a;", "mod z;"]);
    let here = hunk("src/new.rs", 40, &["// end"], &["// end", "", body[0], body[1], body[2]]);
    let wide = hunk(
        "docs/多言語.md",
        1,
        &["\ttab\tstops", "日本語の行", "family: 👩‍👩‍👧 flag: 🇩🇪", "e\u{301}t\u{e9}"],
        &["\ttab\tstop", "日本語の列", "family: 👩‍👩‍👦 flag: 🇩🇪", "\u{e9}te\u{301}"],
    );
    let hostile = hunk(
        "trojan\u{202e}sj.js",
        2,
        &["let level = 1;"],
        &[
            "let level = 2; \u{202e}\u{2066}// user\u{2069} \u{1b}[2J\u{1b}]0;title\u{7}",
            "x\r\u{9b}31mEVIL\u{200b}();",
        ],
    );
    let mut eol = file("win.txt", Operation::Update, 1, 1);
    eol.eol = Some(Change { before: Some(EolName::Crlf), after: Some(EolName::Lf) });
    let eol_hunk =
        FileDiff { notes: vec![DiffNote::Eol], ..hunk("win.txt", 1, &["one", "two"], &["one", "2"]) };
    let end = FileDiff {
        new_no_newline: true,
        notes: vec![DiffNote::FinalNewline],
        ..hunk("end.txt", 9, &["last"], &["last"])
    };
    let mut renamed = file("bin/run.sh", Operation::Rename, 0, 0);
    renamed.from = Some("run.sh".to_owned());
    renamed.mode = Some(Change { before: Some("100644".to_owned()), after: Some("100755".to_owned()) });
    let lines: Vec<String> = (1..=60).map(|number| format!("line {number}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut failed = card(
        "edit src/calc.rs",
        CardStatus::Failed,
        vec![CardFile { recorded: Recorded::Path, ..file("src/calc.rs", Operation::Update, 0, 0) }],
        vec![],
    );
    failed.message = Some("String to replace not found in file.\nString: let total = 1;".to_owned());
    failed.requested = vec![wanted("src/calc.rs", "let total = 1;", "let total = 2;")];
    let mut missing =
        Problem::new(Code::HunkNotFound, "the old text is not in the file; it comes nearest at line 41");
    missing.nearest = Some(Nearest {
        line: 41,
        expected: "    let rate = price * 100;".to_owned(),
        found: Some("\tlet rate = price\u{a0}* 120; ".to_owned()),
        cause: "the indentation differs, and so does the text".to_owned(),
    });
    let missing = refused("src/rate.rs", missing.with_hint("read the file again"));
    let mut twice = Problem::new(Code::Ambiguous, "the old text stands 2 times");
    twice.candidates = vec![Candidate { line: 12 }, Candidate { line: 96 }];
    let ambiguous = refused("src/twice.rs", twice.with_hint("take more of the text around it"));
    let stale = Problem::new(
        Code::Stale,
        "src/stale.rs is not the file that the request expects: its SHA-256 differs",
    );
    let stale = refused("src/stale.rs", stale.with_hint("read the file again and make the request anew"));
    let mut rejected = card(
        "write secrets.env",
        CardStatus::Rejected,
        vec![file("secrets.env", Operation::Update, 0, 0)],
        vec![],
    );
    rejected.message = Some("the user said: not this file".to_owned());
    rejected.requested =
        vec![FileDiff { old_text: None, ..wanted("secrets.env", "", "KEY=1\nPASSWORD=2\n") }];
    let long_old = format!("{}const old = 1;{}", "a = 1; ".repeat(40), " b = 2;".repeat(40));
    let long_new = long_old.replace("const old = 1", "const fresh = 1");
    let requested = FileDiff {
        path: "notes.md".to_owned(),
        old_text: Some("draft".to_owned()),
        new_text: "final".to_owned(),
        ..FileDiff::default()
    };
    let asked = CardFile { recorded: Recorded::Request, ..file("notes.md", Operation::Update, 1, 1) };
    let mut compared = failed.clone();
    let mut misfit = nearest_problem("let total = 1;", "let  total = 1; // all");
    misfit.message = "as line 7 of the log has the file: the old text is not in the file".to_owned();
    compared.compared = Some(vec![misfit.with_path("src/calc.rs")]);
    let wrapped = hunk(
        "src/call.rs",
        5,
        &["let all = sum(first, second, third);", "if is_ready { go(all); }"],
        &[
            "let all = sum(",
            "    first,",
            "    second,",
            "    third,",
            ");",
            "if is_ready {",
            "    go(all);",
            "}",
        ],
    );
    let partly = CardFile { status: Some(CardStatus::Failed), ..file("b.rs", Operation::Update, 0, 0) };
    vec![
        ("words", applied("src/sum.rs", 2, 2, vec![words])),
        (
            "moved",
            card(
                "apply_patch 2 files",
                CardStatus::Applied,
                vec![
                    file("src/old.rs", Operation::Update, 0, 3),
                    file("src/new.rs", Operation::Update, 4, 0),
                ],
                vec![away, here],
            ),
        ),
        ("wrapped", applied("src/call.rs", 8, 2, vec![wrapped])),
        ("wide", applied("docs/多言語.md", 4, 4, vec![wide])),
        ("hostile", applied("trojan\u{202e}sj.js", 2, 1, vec![hostile])),
        ("line-endings", card("edit win.txt", CardStatus::Applied, vec![eol], vec![eol_hunk])),
        ("final-newline", applied("end.txt", 1, 1, vec![end])),
        ("renamed", card("apply_patch bin/run.sh", CardStatus::Applied, vec![renamed], vec![])),
        (
            "new-file",
            card(
                "write all.txt",
                CardStatus::Applied,
                vec![file("all.txt", Operation::Create, 60, 0)],
                vec![hunk("all.txt", 1, &[], &lines)],
            ),
        ),
        ("failed", failed),
        ("compared", compared),
        ("missing", missing),
        ("ambiguous", ambiguous),
        ("stale", stale),
        ("rejected", rejected),
        ("long-line", applied("min.js", 1, 1, vec![hunk("min.js", 1, &[&long_old], &[&long_new])])),
        (
            "blanks",
            applied(
                "b.py",
                3,
                3,
                vec![hunk(
                    "b.py",
                    1,
                    &["if a:", "  b = 1", "  c = 2", "d  = 3"],
                    &["if a:", "    b = 1", "    c = 2", "d = 3"],
                )],
            ),
        ),
        ("requested", card("edit notes.md", CardStatus::Unknown, vec![asked], vec![requested])),
        (
            "partly",
            card(
                "apply_patch 2 files",
                CardStatus::Partial,
                vec![file("a.rs", Operation::Update, 1, 1), partly],
                vec![hunk("a.rs", 5, &["x"], &["y"])],
            ),
        ),
    ]
}

fn drawn(value: &Card, style: &Style) -> String {
    let mut out = Vec::new();
    terminal::card(&mut out, value, style).expect("memory takes it");
    String::from_utf8(out).expect("text")
}

fn compare(name: &str, text: &str) -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/cards").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder is made");
        fs::write(&path, text).expect("a golden file is written");
        return None;
    }
    let wanted = fs::read_to_string(&path).unwrap_or_default();
    (wanted != text).then(|| format!("{name} differs; is now:\n{text}\nand was:\n{wanted}"))
}

#[test]
fn situations_look_as_they_did() {
    let mut faults = Vec::new();
    let folded = |width| Style { max_lines: Some(20), ..Style::plain(width) };
    for (name, card) in situations() {
        let mut text = String::new();
        for width in [60, 100, 160] {
            text.push_str(&format!("--- {width} columns\n{}", drawn(&card, &folded(width))));
        }
        let beside = Style { is_side_by_side: true, ..folded(100) };
        text.push_str(&format!("--- side by side\n{}", drawn(&card, &beside)));
        text.push_str(&format!("--- ascii\n{}", drawn(&card, &Style { ascii: true, ..folded(80) })));
        for (title, dark, color_blind) in
            [("dark", true, false), ("light", false, false), ("dark, color-blind", true, true)]
        {
            let style = Style { color: Color::Ansi256, dark, color_blind, syntax: Syntax::RUN, ..folded(60) };
            text.push_str(&format!("--- {title}\n{}", drawn(&card, &style).replace('\u{1b}', "\u{241b}")));
        }
        faults.extend(compare(&format!("{name}.txt"), &text));
    }
    let (mut page, mut document) = (Vec::new(), Vec::new());
    let mut sheet = Page::begin(&mut page, "situations", Syntax::RUN).expect("memory takes it");
    let mut markdown = Document::default();
    for (_, card) in situations() {
        sheet.card(&mut page, &card).expect("memory takes it");
        markdown.card(&mut document, &card).expect("memory takes it");
    }
    sheet.finish(&mut page).expect("memory takes it");
    markdown.finish(&mut document).expect("memory takes it");
    faults.extend(compare("page.html", &String::from_utf8(page).expect("text")));
    faults.extend(compare("page.md", &String::from_utf8(document).expect("text")));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What is in every place where foreign text can stand: a card of what was done and one of what failed, a preview, an error.
fn filled(text: &str) -> ([Card; 2], PreviewEvent, ErrorReport) {
    let old: Vec<&str> = vec!["same", text];
    let diff = FileDiff {
        path: text.to_owned(),
        section: Some(text.to_owned()),
        ..hunk("", 1, &old, &["same", &format!("{text}x")])
    };
    let mut named = file(text, Operation::Rename, 1, 1);
    named.from = Some(text.to_owned());
    named.mode = Some(Change { before: Some(text.to_owned()), after: Some(format!("{text}1")) });
    named.encoding = Some(Change { before: Some(text.to_owned()), after: Some(format!("{text}1")) });
    let mut value = card(
        text,
        CardStatus::Applied,
        vec![named, file("other", Operation::Update, 0, 0)],
        vec![diff.clone()],
    );
    value.message = Some(text.to_owned());
    value.source.call_id = Some(text.to_owned());
    value.source.time = Some(text.to_owned());
    value.source.tool = text.to_owned();
    let problem = Problem {
        nearest: Some(Nearest {
            line: 3,
            expected: text.to_owned(),
            found: Some(format!("{text}y")),
            cause: text.to_owned(),
        }),
        ..Problem::new(Code::HunkNotFound, text).with_path(text).with_hint(text)
    };
    let preview = PreviewFile {
        index: 0,
        path: text.to_owned(),
        operation: Operation::Update,
        from: Some(text.to_owned()),
        added: 1,
        removed: 1,
        complete: true,
        placement: Placement::Missing,
        problem: Some(problem.clone()),
        diffs: vec![diff],
    };
    let event = PreviewEvent::Preview {
        schema: PreviewSchema::V1,
        seq: 0,
        call_id: Some(text.to_owned()),
        tentative: true,
        files: vec![preview],
    };
    let report = ErrorReport {
        code: Code::HunkNotFound,
        message: text.to_owned(),
        hint: Some(text.to_owned()),
        problems: vec![problem],
    };
    let failed = Card {
        status: CardStatus::Failed,
        requested: value.diffs.clone(),
        error: Some(report.clone()),
        ..value.clone()
    };
    ([value, failed], event, report)
}

/// A card whose lines are the text, as code of a language.
fn code_of(text: &str) -> Card {
    let text = text.replace('\n', " ");
    let [quoted, changed, remark] =
        [format!("fn f() {{ \"{text}"), format!("fn f() {{ \"{text}x"), format!("/* {text} */ 1")];
    let diff = hunk("a.rs", 1, &[&text, &quoted, &remark], &[&text, &changed, &remark]);
    card("edit a.rs", CardStatus::Applied, vec![file("a.rs", Operation::Update, 1, 1)], vec![diff])
}

/// Takes away what only colours: the terminal's attributes, and the mark that fills a row.
fn without_colors(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        kept.push_str(before);
        let end = after.find(|scalar: char| !scalar.is_ascii_digit() && scalar != ';').expect("an end");
        assert!(after[end..].starts_with(['m', 'K']), "{after:?}");
        rest = &after[end + 1..];
    }
    kept + rest
}

#[test]
fn syntax_changes_colours_only() {
    let texts = [
        "let a = \"b\"; // c",
        "\u{202e}\u{1b}[2J\t\u{4e2d}\u{1f468}\u{200d}\u{1f469} \"\u{301}",
        "\\u{9b}\u{9b}31m\0\r'\u{feff}'",
        &"x\u{301} \"y\" ".repeat(60),
    ];
    for text in texts {
        let card = code_of(text);
        for (width, is_side_by_side, is_full) in [(80, false, false), (30, false, true), (90, true, false)] {
            let plain = Style { is_side_by_side, is_full, ..Style::plain(width) };
            for color in [Color::Ansi16, Color::Ansi256, Color::TrueColor] {
                let colored = drawn(&card, &Style { color, syntax: Syntax::RUN, ..plain });
                assert_eq!(without_colors(&colored), drawn(&card, &plain), "{text:?}");
                let without = drawn(&card, &Style { color, ..plain });
                let differs = cfg!(feature = "syntax") && color != Color::Ansi16;
                assert_eq!(colored != without, differs, "{color:?} {text:?}");
            }
        }
    }
}

/// What each renderer makes of text in every place, with the renderer's name.
fn renderings(text: &str) -> Vec<(String, String)> {
    let (cards, event, report) = filled(text);
    // What a failed card adds is drawn alone too, and long texts take their time.
    let cards = if text.len() > 1024 { &cards[..1] } else { &cards[..] };
    let mut all = Vec::new();
    let mut draw = |name: String, write: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
        let mut out = Vec::new();
        write(&mut out).expect("memory takes it");
        all.push((name, String::from_utf8(out).expect("text")));
    };
    for (width, ascii, is_side_by_side, is_full) in
        [(80, false, false, false), (40, true, false, true), (100, false, true, false)]
    {
        let style = Style { ascii, is_side_by_side, is_full, ..Style::plain(width) };
        for card in cards {
            draw(format!("card {width}"), &|out| terminal::card(out, card, &style).map(drop));
        }
        draw(format!("stat {width}"), &|out| stat::card(out, &cards[0], width, style.charset()));
        draw(format!("preview {width}"), &|out| terminal::preview(out, &event, &style, None));
        draw(format!("note {width}"), &|out| terminal::note(out, text, &style));
    }
    draw("error".to_owned(), &|out| terminal::error(out, &report, &Style::plain(80)));
    let code = code_of(text);
    draw("code".to_owned(), &|out| {
        let colored = Style { color: Color::TrueColor, syntax: Syntax::RUN, ..Style::plain(80) };
        let shown = drawn(&code, &colored);
        out.write_all(without_colors(&shown).as_bytes())
    });
    draw("json".to_owned(), &|out| cards.iter().try_for_each(|card| json::line(out, card)));
    draw("json error".to_owned(), &|out| json::line(out, &report));
    draw("markdown".to_owned(), &|out| {
        let mut document = Document::default();
        cards.iter().try_for_each(|card| document.card(out, card))?;
        document.finish(out)
    });
    draw("html".to_owned(), &|out| {
        let mut page = Page::begin(out, text, Syntax::RUN)?;
        cards.iter().try_for_each(|card| page.card(out, card))?;
        page.card(out, &code)?;
        page.finish(out)
    });
    all
}

/// Tells whether a scalar could drive a terminal or change the order of text; no text of ours holds such a one.
fn drives(scalar: char) -> bool {
    let is_bidi = matches!(scalar, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_separator = matches!(scalar, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
    scalar.is_control() && scalar != '\n' || is_bidi || is_separator
}

fn check(text: &str) {
    for (name, shown) in renderings(text) {
        let may_have_tabs = matches!(name.as_str(), "html" | "markdown");
        let fault = shown.chars().find(|&scalar| drives(scalar) && !(may_have_tabs && scalar == '\t'));
        assert_eq!(fault, None, "{name}: {}", text.escape_unicode());
    }
}

#[test]
fn no_scalar_of_foreign_text_drives_a_reader() {
    // Every scalar that is special, with something before and after it.
    let special = (0..=0x2ff)
        .chain(0x600..0x620)
        .chain(0x1100..0x1200)
        .chain(0x1780..0x1820)
        .chain(0x2000..0x2100)
        .chain(0x3160..0x3170)
        .chain(0xfe00..0xff00)
        .chain(0xffa0..=0xffff)
        .chain(0x1d170..0x1d180)
        .chain(0xe0000..0xe0200);
    let special: Vec<char> = special.filter_map(char::from_u32).filter(|scalar| *scalar != '\n').collect();
    for part in special.chunks(64) {
        check(&part.iter().flat_map(|scalar| ['a', *scalar, 'b']).collect::<String>());
    }
    // The others, many at once; of the great blocks of ideographs, syllables, private and unassigned characters, of which
    // each is like the next, only what every renderer calls.
    let is_uniform = |scalar: &char| matches!(scalar, '\u{3400}'..='\u{d7a3}' | '\u{e000}'..='\u{f8ff}' | '\u{20000}'..='\u{dffff}' | '\u{e1000}'..);
    let (uniform, others): (Vec<char>, Vec<char>) =
        ('\u{300}'..=char::MAX).filter(|scalar| *scalar != '\n').partition(is_uniform);
    for part in others.chunks(4096) {
        check(&part.iter().collect::<String>());
    }
    for part in uniform.chunks(1 << 16) {
        let shown = escape(&part.iter().collect::<String>(), EscapePlace::Name, Charset::Unicode);
        assert!(!shown.contains(drives));
    }
}

#[test]
fn no_escape_sequence_gets_through() {
    let families = [
        "\u{1b}[2J",
        "\u{1b}[31m",
        "\u{1b}[?1049h",
        "\u{1b}]0;t\u{7}",
        "\u{1b}]8;;http://x\u{1b}\\y\u{1b}]8;;\u{1b}\\",
        "\u{1b}]52;c;YQ==\u{7}",
        "\u{1b}P+q544e\u{1b}\\",
        "\u{1b}_Gf=24\u{1b}\\",
        "\u{1b}^x\u{1b}\\",
        "\u{1b}c",
        "\u{1b}(0",
        "\u{1b}#8",
        "\u{9b}2J",
        "\u{9d}0;t\u{9c}",
        "\u{90}x\u{9c}",
        "a\rb",
        "a\u{8}b",
        "\u{e}x\u{f}",
        "\u{7f}",
        "\u{85}",
        "</code></pre><script>x</script>",
        "<img src=x onerror=y>",
        "```\n# x",
        "&lt;",
        "]]>",
        "--></style>",
    ];
    for family in families {
        check(family);
        check(&format!("{family}{family}text"));
    }
    let (_, html) = renderings("<script>alert('x')</script>\"").pop().expect("a page");
    assert!(!html.contains("<script"), "{html}");
}

/// Draws a card in colours at a width, and lets a terminal of that width show it.
fn check_screen(card: &Card, style: &Style) {
    let plain = drawn(card, &Style { color: Color::Never, is_screen: false, ..*style });
    let rows: Vec<&str> = plain.lines().map(str::trim_end).collect();
    let size = |length: usize| NonZero::new(u16::try_from(length).expect("a size")).expect("a size");
    let mut terminal = vt100::Parser::new(size(rows.len() + 2), size(style.width), 0);
    terminal.process(drawn(card, style).replace('\n', "\r\n").as_bytes());
    // A row that is too wide would go on in the next one, and all below it would stand one lower.
    let columns = u16::try_from(style.width).expect("a size");
    let shown: Vec<String> =
        terminal.screen().rows(0, columns).map(|row| row.trim_end().to_owned()).collect();
    assert_eq!(shown[..rows.len()], rows, "{} columns, beside: {}", style.width, style.is_side_by_side);
    assert!(shown[rows.len()..].iter().all(String::is_empty), "{shown:#?}");
}

/// The styles that a width is drawn in.
fn styles(width: usize) -> impl Iterator<Item = Style> {
    let plain = Style { max_lines: Some(20), ..Style::plain(width) };
    let colored = Style { color: Color::TrueColor, ..plain };
    [
        colored,
        Style { is_side_by_side: true, is_screen: true, ..colored },
        Style { is_side_by_side: true, is_full: true, is_padded: true, ..colored },
        Style { is_full: true, ascii: true, color: Color::Ansi16, ..plain },
    ]
    .into_iter()
}

#[test]
fn a_terminal_shows_every_row_at_every_width() {
    // A terminal that counts scalars knows nothing of joined emoji: what it makes of them is not what others do.
    let is_joined = |card: &Card| drawn(card, &Style::plain(300)).contains(['\u{200d}', '\u{fe0f}']);
    let cards: Vec<Card> =
        situations().into_iter().map(|(_, card)| card).filter(|card| !is_joined(card)).collect();
    assert!(cards.len() > 10);
    for width in 20..=300 {
        for card in cards.iter().skip(width % 4).step_by(4) {
            styles(width).for_each(|style| check_screen(card, &style));
        }
    }
}

#[test]
fn the_right_side_stands_in_its_column_whatever_a_terminal_takes_for_the_left_one() {
    let families = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{2764}\u{fe0f}\u{200d}\u{1f525} x";
    let (old, new) = (["plain", families, "a"], ["plain", families, "b"]);
    let card = applied("src/a.rs", 1, 1, vec![hunk("src/a.rs", 1, &old, &new)]);
    let bars = |is_screen: bool| {
        let style = Style { is_side_by_side: true, is_screen, color: Color::Ansi256, ..Style::plain(80) };
        let mut terminal = vt100::Parser::new(24.try_into().unwrap(), 80.try_into().unwrap(), 0);
        terminal.process(drawn(&card, &style).replace('\n', "\r\n").as_bytes());
        let bar = |row: u16| {
            let is_bar = |column: &u16| {
                terminal.screen().cell(row, *column).is_some_and(|cell| cell.contents() == "\u{2502}")
            };
            (0..80).find(is_bar)
        };
        (1..4).map(bar).collect::<Vec<_>>()
    };
    assert_eq!(bars(true), [Some(39); 3]);
    // This terminal counts scalars: nothing else than the column would keep the sides apart.
    assert_ne!(bars(false), [Some(39); 3]);
}

/// Text in which everything stands that has another width than its count of characters, but for joined emoji.
fn uneven() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => "[ -~]{1,12}".prop_map(String::from),
        1 => Just("\t".to_owned()),
        2 => "[\u{4e00}-\u{4e40}\u{ac00}-\u{ac20}\u{ff21}-\u{ff3a}]{1,6}".prop_map(String::from),
        1 => "[\u{1f600}-\u{1f64f}]{1,3}".prop_map(String::from),
        1 => "([a-z][\u{300}-\u{314}]){1,4}".prop_map(String::from),
        1 => prop_oneof![Just("\u{202e}"), Just("\u{1b}[2J"), Just("\r"), Just("\u{200b}"), Just("\u{a0}")].prop_map(str::to_owned),
        1 => "[a-z]{40,80}".prop_map(String::from),
    ];
    proptest::collection::vec(part, 0..10).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_terminal_shows_every_row_of_any_text(
        lines in proptest::collection::vec((uneven(), uneven(), any::<bool>()), 1..8),
        path in uneven(),
        start in 1_usize..100_000,
        width in 20_usize..=300,
    ) {
        let old: Vec<&str> = lines.iter().map(|(old, ..)| old.as_str()).collect();
        let new: Vec<&str> = lines.iter().map(|(old, new, same)| if *same { old } else { new }.as_str()).collect();
        let mut card = applied(&path, 1, 1, vec![hunk(&path, start, &old, &new)]);
        card.message = Some(path.clone());
        let failed = Card {
            status: CardStatus::Failed,
            requested: card.diffs.clone(),
            error: refused(&path, nearest_problem(old[0], new[0])).error,
            ..card.clone()
        };
        for style in styles(width) {
            check_screen(&card, &style);
            check_screen(&failed, &style);
        }
    }
}

fn nearest_problem(expected: &str, found: &str) -> Problem {
    let (expected, found) = (expected.to_owned(), Some(found.to_owned()));
    let nearest = Some(Nearest { line: 9, expected, found, cause: "they differ".to_owned() });
    Problem { nearest, ..Problem::new(Code::HunkNotFound, "it is not there") }
}
