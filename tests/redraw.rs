//! `preview` on a terminal: what stands on the screen after all redraws.

#![cfg(feature = "cli")]
#![expect(clippy::disallowed_methods, clippy::expect_used, reason = "a test starts programs and may fail")]

#[expect(dead_code, reason = "other tests use the rest")]
mod support;
mod terminal;

use std::io::Write;
use std::num::NonZero;
use std::process::Stdio;

use support::Place;
use terminal::Running;
use terminal::Terminal;
use terminal::screen;

/// Runs the command on a terminal of this size; returns what it wrote.
fn on_terminal(
    place: &Place,
    args: &[&str],
    rows: u16,
    columns: u16,
    stated_columns: Option<&str>,
) -> Vec<u8> {
    let terminal = Terminal::open(rows, columns);
    let mut command = place.command(args);
    command.env("TERM", "xterm-256color").env_remove("COLUMNS").stdin(Stdio::null());
    if let Some(stated) = stated_columns {
        command.env("COLUMNS", stated);
    }
    command.stdout(terminal.end()).stderr(Stdio::null());
    terminal.run(command).0
}

/// Begins every frame.
const BEGIN: &[u8] = b"\x1b[?2026h";

/// Where each frame begins.
fn frames(written: &[u8]) -> Vec<usize> {
    (0..written.len()).filter(|&at| written[at..].starts_with(BEGIN)).collect()
}

fn tape(patch: &str, step_ms: usize) -> String {
    let lines = patch.split_inclusive('\n').enumerate();
    lines
        .map(|(index, text)| format!("{}\n", serde_json::json!({ "t": index * step_ms, "delta": text })))
        .collect()
}

fn patch() -> String {
    let wide = "wide ".repeat(40);
    let adds: String = (1..12).map(|number| format!("+line {number} {wide}\n")).collect();
    format!(
        "*** Begin Patch\n*** Update File: f\n@@\n one\n-two\n+2 \u{4f60}\u{597d} caf\u{e9}\n three\n*** Add File: n\n{adds}*** Delete File: gone\n*** Update File: m\n@@\n-x\n+y\n*** End Patch\n"
    )
}

fn place() -> Place {
    Place::with(&[
        ("f", "one\ntwo\nthree\n"),
        ("gone", "a\nb\n"),
        ("m", "x\n"),
        ("tape", &tape(&patch(), 600)),
    ])
}

#[track_caller]
fn check(rows: u16, columns: u16, stated_columns: Option<&str>) {
    let place = place();
    let written = on_terminal(&place, &["preview", "tape"], rows, columns, stated_columns);
    let frames = frames(&written);
    assert!(frames.len() > 10, "{frames:?}");
    // On a screen of their own the last preview and the finish look as they do after all others: no row of an older
    // frame is left.
    let wanted = screen(&written[frames[frames.len() - 2]..], rows, columns);
    let found = screen(&written, rows, columns);
    assert!(wanted.iter().any(|row| row.contains("complete, fits")), "{wanted:#?}");
    assert_eq!(found, wanted);
    assert!(wanted.len() <= usize::from(rows));
}

#[test]
fn the_last_preview_stays_and_nothing_of_the_others() {
    check(60, 80, None);
    check(60, 40, None);
    check(60, 200, None);
}

#[test]
fn columns_that_are_stated_wider_than_the_terminal_leave_no_rows_behind() {
    check(60, 60, Some("100"));
    check(60, 100, Some("60"));
}

#[test]
fn a_frame_higher_than_the_terminal_is_cut_to_it_until_the_end() {
    let (rows, columns) = (8, 60);
    let place = place();
    let written = on_terminal(&place, &["preview", "tape"], rows, columns, None);
    let starts = frames(&written);
    for frame in starts.windows(2).map(|pair| &written[pair[0]..pair[1]]) {
        let newlines = frame.iter().filter(|&&byte| byte == b'\n').count();
        assert!(newlines < usize::from(rows), "{newlines} rows: {}", String::from_utf8_lossy(frame));
    }
    // The last one is whole: what the screen can't hold scrolls off.
    let last = String::from_utf8_lossy(&written[starts[starts.len() - 1]..]).into_owned();
    assert!(last.contains("line 1 wide") && last.contains("line 11 wide"), "{last}");
    assert!(String::from_utf8_lossy(&written).contains("complete, fits"));
}

/// A stream of two calls whose pieces come in turn.
fn interleaved() -> String {
    let chunk = |index: usize, function: serde_json::Value| {
        let call = serde_json::json!({"index": index, "id": format!("c{index}"), "function": function});
        let choice = serde_json::json!({"index": 0, "delta": {"tool_calls": [call]}});
        format!("{}\n", serde_json::json!({"object": "chat.completion.chunk", "choices": [choice]}))
    };
    let input = |patch: &str| serde_json::json!({ "input": patch }).to_string();
    let first = input("*** Begin Patch\n*** Update File: f\n@@\n one\n-two\n+2\n three\n*** End Patch\n");
    let second = input(
        "*** Begin Patch\n*** Add File: n\n+a\n+b\n+c\n*** Update File: m\n@@\n-x\n+y\n*** End Patch\n",
    );
    let mut stream = String::new();
    for (index, _) in [&first, &second].iter().enumerate() {
        stream.push_str(&chunk(index, serde_json::json!({"name": "apply_patch", "arguments": ""})));
    }
    let pieces = |text: &str| -> Vec<String> {
        text.as_bytes().chunks(9).map(|piece| String::from_utf8_lossy(piece).into_owned()).collect()
    };
    let (first, second) = (pieces(&first), pieces(&second));
    // Two pieces of each in turn, so that frames of one call follow each other too.
    for turn in 0..first.len().max(second.len()).div_ceil(2) {
        for (index, pieces) in [&first, &second].into_iter().enumerate() {
            for piece in pieces.iter().skip(turn * 2).take(2) {
                stream.push_str(&chunk(index, serde_json::json!({ "arguments": piece })));
            }
        }
    }
    let end = serde_json::json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    format!("{stream}{end}\n")
}

#[test]
fn calls_that_come_in_turn_keep_their_frames_apart() {
    let (rows, columns) = (200, 80);
    let files = [("f", "one\ntwo\nthree\n"), ("m", "x\n"), ("stream", &interleaved())];
    let place = Place::with(&files);
    let args = ["preview", "--interval", "0", "stream"];
    let events = place.run(&[&args[..], &["--json"]].concat(), b"").exits(0).json_lines();
    let numbers: Vec<u64> = events.iter().filter_map(|event| event["seq"].as_u64()).collect();
    assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
    let calls: Vec<&str> = events.iter().filter_map(|event| event["callId"].as_str()).collect();
    assert!(calls.windows(2).filter(|pair| pair[0] != pair[1]).count() > 4, "{calls:?}");

    let written = on_terminal(&place, &args, rows, columns, None);
    let mut starts = frames(&written);
    assert_eq!(starts.len(), events.len());
    starts.push(written.len());
    // A preview is drawn over by the next one of its call, as long as no other call came in between.
    let is_preview = |event: &serde_json::Value| event["type"] == "preview";
    let stays = |at: usize| match events.get(at + 1) {
        Some(next) => !is_preview(&events[at]) || !is_preview(next) || calls[at] != calls[at + 1],
        None => true,
    };
    let mut wanted = Vec::new();
    for at in (0..events.len()).filter(|&at| stays(at)) {
        let frame = String::from_utf8_lossy(&written[starts[at]..starts[at + 1]]).into_owned();
        let text = frame.strip_prefix("\x1b[?2026h").expect("a frame");
        // Alone it has nothing to go back over.
        let text = match text.split_once("A\r") {
            Some((up, text))
                if up.starts_with("\x1b[") && up[2..].bytes().all(|byte| byte.is_ascii_digit()) =>
            {
                text
            }
            _ => text,
        };
        wanted.extend_from_slice(text.as_bytes());
    }
    let found = screen(&written, rows, columns);
    assert_eq!(found, screen(&wanted, rows, columns));
    let count = |words: &str| found.iter().filter(|row| row.contains(words)).count();
    assert_eq!(count("complete, fits"), 2, "{found:#?}");
}

#[test]
fn a_dumb_terminal_gets_no_control_sequences() {
    let place = place();
    let mut command = place.command(&["preview", "tape"]);
    command.env("TERM", "dumb");
    let run = support::output(command, b"").exits(0);
    assert!(!run.stdout.contains('\u{1b}'));
}

/// A preview that waits for more of its patch on a terminal, and the screen that shows it. The terminal leaves rows that
/// are too wide as they are.
struct Waiting {
    running: Running,
    screen: vt100::Parser,
    seen: usize,
    was_lower: bool,
}

impl Waiting {
    fn new(place: &Place, rows: u16, columns: u16) -> Self {
        let terminal = Terminal::open(rows, columns);
        let mut command = place.command(&["preview"]);
        command.env("TERM", "xterm-256color").env("XTERM_VERSION", "XTerm(390)").env_remove("COLUMNS");
        command.stdin(Stdio::piped()).stdout(terminal.end()).stderr(Stdio::null());
        let size = |length| NonZero::new(length).expect("a size");
        let screen = vt100::Parser::new(size(rows), size(columns), 100);
        Waiting { running: terminal.start(command), screen, seen: 0, was_lower: false }
    }

    fn type_in(&mut self, text: &str) {
        let stdin = self.running.child.stdin.as_mut().expect("its input");
        stdin.write_all(text.as_bytes()).expect("it reads");
    }

    /// Waits for the end of a frame with these words; returns the rows of the screen.
    fn shown(&mut self, words: &str) -> Vec<String> {
        self.running.read_until(words, self.seen);
        let at = self.running.written.len();
        self.running.read_until("\x1b[?2026l", at.saturating_sub(8).max(self.seen));
        self.screen.process(&self.running.written[self.seen..]);
        self.seen = self.running.written.len();
        let screen = self.screen.screen();
        screen
            .rows(0, screen.size().1.get())
            .map(|row| row.trim_end().to_owned())
            .filter(|row| !row.is_empty())
            .collect()
    }

    fn resize(&mut self, rows: u16, columns: u16) {
        let size = |length| NonZero::new(length).expect("a size");
        self.screen.screen_mut().set_size(size(rows), size(columns));
        self.running.resize(rows, columns);
    }
}

#[test]
fn a_preview_that_waits_is_drawn_anew_when_the_terminal_gets_another_size() {
    let place = Place::with(&[]);
    let mut waiting = Waiting::new(&place, 30, 80);
    let adds: String = (1..=12).map(|number| format!("+line {number} {}\n", "wide ".repeat(20))).collect();
    waiting.type_in(&format!("*** Begin Patch\n*** Add File: new.txt\n{adds}"));
    let wide = waiting.shown("line 12");
    assert_eq!(wide.len(), 14, "{wide:#?}");
    for (rows, columns) in [(30, 50), (30, 120), (30, 60), (8, 60), (30, 60)] {
        waiting.resize(rows, columns);
        let mut shown = waiting.shown("line 12");
        let first = shown.iter().rposition(|row| row.contains("preview")).expect("its first row");
        // What a screen that got lower has pushed off its top is out of reach, and may come back.
        assert!(first == 0 || waiting.was_lower, "{shown:#?}");
        let frame = shown.split_off(first);
        assert!(frame.len() < usize::from(rows) && frame.last().is_some_and(|row| row.contains("line 12")));
        assert!(frame.iter().all(|row| row.chars().count() <= usize::from(columns)), "{frame:#?}");
        if rows == 30 {
            assert_eq!(frame.len(), 14, "{frame:#?}");
        } else {
            assert!(frame[1].contains("lines above"), "{frame:#?}");
            waiting.was_lower = true;
        }
    }
    waiting.type_in("*** End Patch\n");
    drop(waiting.running.child.stdin.take());
    let shown = waiting.shown("complete");
    assert_eq!(shown.iter().filter(|row| row.contains("line 12")).count(), 1, "{shown:#?}");
    let (_, status) = waiting.running.finish();
    assert!(status.success());
}

#[test]
fn an_interrupted_preview_leaves_all_of_its_last_state_behind() {
    let place = Place::with(&[]);
    let mut waiting = Waiting::new(&place, 8, 60);
    let adds: String = (1..=12).map(|number| format!("+line {number}.\n")).collect();
    waiting.type_in(&format!("*** Begin Patch\n*** Add File: new.txt\n{adds}"));
    assert!(waiting.shown("line 12.").len() < 8);
    let before = waiting.running.written.len();
    waiting.running.signal(rustix::process::Signal::INT);
    waiting.running.read_until("line 12.", before);
    let (written, status) = waiting.running.finish();
    assert_eq!(status.code(), Some(130));
    let last = String::from_utf8_lossy(&written[before..]).into_owned();
    assert!(last.contains("line 1.") && last.contains("line 12."), "{last}");
}

#[test]
fn a_problem_that_is_found_early_stands_at_its_hunk() {
    let place = Place::with(&[("f", "a\nb\nc\nd\ne\nf\ng\nh\ni\n")]);
    let mut waiting = Waiting::new(&place, 40, 80);
    waiting
        .type_in("*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n+B\n@@\n-nowhere\n+x\n@@\n g\n-h\n+H\n");
    let shown = waiting.shown("not in the file");
    let at = |words: &str| shown.iter().position(|row| row.contains(words)).expect(words);
    assert!(at("- b") < at("not in the file") && at("not in the file") < at("- nowhere"), "{shown:#?}");
    drop(waiting.running.child.stdin.take());
    waiting.running.finish();
}
