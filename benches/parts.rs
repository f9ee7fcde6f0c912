//! Times the parts of a change and of a replay: parser, matcher, planner, renderer, log reader.

use std::sync::Arc;

use divan::Bencher;
use divan::black_box;
use divan::counter::BytesCount;
use hunkwise::diff::from_splices;
use hunkwise::patch::Dialect;
use hunkwise::patch::FileEdit;
use hunkwise::patch::Parser;
use hunkwise::patch::parse;
use hunkwise::plan::After;
use hunkwise::plan::FileState;
use hunkwise::plan::FoundFile;
use hunkwise::plan::Given;
use hunkwise::plan::Options;
use hunkwise::plan::Planner;
use hunkwise::plan::Stamp;
use hunkwise::render::json;
use hunkwise::report::FileDiff;
use hunkwise::report::RecordMeta;
use hunkwise::session::Replay;
use hunkwise::session::ReplayOptions;
use hunkwise::session::format::Format;
use hunkwise::session::format::dsh;
use hunkwise::text::Document;
use hunkwise::text::PathText;

fn main() {
    divan::main();
}

fn line(index: usize) -> String {
    format!("line {index} of the file with some text {}", index * 7919 % 100_003)
}

fn file(lines: usize) -> Vec<u8> {
    (0..lines).flat_map(|index| format!("{}\n", line(index)).into_bytes()).collect()
}

/// A patch of hunks that are spread over a file; `blanks` stand at the end of each old line.
fn patch(lines: usize, hunks: usize, blanks: &str) -> Vec<u8> {
    let mut text = String::from("*** Begin Patch\n*** Update File: f\n");
    for index in (1..lines).step_by(lines / hunks).take(hunks) {
        text.push_str(&format!("@@\n {}{blanks}\n-{}{blanks}\n+new {index}\n", line(index - 1), line(index)));
    }
    text.push_str("*** End Patch\n");
    text.into_bytes()
}

fn given(document: &Arc<Document>) -> Given {
    let stamp = Stamp::default();
    let found = FoundFile { document: Arc::clone(document), mode: 0o100_644, hard_links: 1, stamp };
    Given { real: PathText::from("f"), state: FileState::File(found), link: None }
}

fn plan(document: &Arc<Document>, edit: &FileEdit) -> Option<After> {
    let mut planner = Planner::new(Options::default());
    for want in planner.wants(edit) {
        planner.give(want, given(document));
    }
    planner.plan(1, edit).ok().and_then(|planned| planned.after)
}

#[divan::bench(args = [1, 64, 65_536])]
fn parse_patch_in_chunks(bencher: Bencher<'_, '_>, chunk: usize) {
    let text = patch(100_000, 10_000, "");
    bencher.counter(BytesCount::of_slice(&text)).bench(|| {
        let mut parser = Parser::new(Dialect::ApplyPatch);
        let mut events = 0;
        for piece in black_box(&text).chunks(chunk) {
            parser.push(piece, &mut |_| events += 1);
        }
        parser.finish(&mut |_| events += 1);
        events
    });
}

/// The matcher with the planner around it: few hunks are searched for, many share one pass over all lines.
#[divan::bench(args = [(1, ""), (1000, ""), (1000, "  ")])]
fn plan_hunks_in_1m_lines(bencher: Bencher<'_, '_>, (hunks, blanks): (usize, &str)) {
    let document = Arc::new(Document::new(file(1_000_000)));
    let parsed = parse(&patch(1_000_000, hunks, blanks), Dialect::ApplyPatch);
    bencher.bench(|| plan(&document, black_box(&parsed.patch.edits[0])));
}

#[divan::bench]
fn diagnose_a_miss_in_1m_lines(bencher: Bencher<'_, '_>) {
    let document = Arc::new(Document::new(file(1_000_000)));
    let text = "*** Begin Patch\n*** Update File: f\n@@\n-line 500000 of the file is not like this\n+x\n*** End Patch\n";
    let parsed = parse(text.as_bytes(), Dialect::ApplyPatch);
    bencher.bench(|| plan(&document, black_box(&parsed.patch.edits[0])));
}

fn thousand_hunks() -> Vec<FileDiff> {
    let document = Arc::new(Document::new(file(100_000)));
    let parsed = parse(&patch(100_000, 1000, ""), Dialect::ApplyPatch);
    match plan(&document, &parsed.patch.edits[0]) {
        Some(After::Spliced(splices)) => from_splices("f", &document, &splices),
        _ => Vec::new(),
    }
}

#[cfg(feature = "cli")]
#[divan::bench]
fn render_a_card_of_1000_hunks(bencher: Bencher<'_, '_>) {
    use hunkwise::render::style::Style;
    use hunkwise::render::terminal;
    use hunkwise::report::PreviewEvent;
    use hunkwise::report::PreviewFile;
    use hunkwise::report::PreviewSchema;

    let file = PreviewFile {
        index: 0,
        path: "f".to_owned(),
        operation: hunkwise::report::Operation::Update,
        from: None,
        added: 1000,
        removed: 1000,
        complete: true,
        placement: hunkwise::report::Placement::Located,
        problem: None,
        diffs: thousand_hunks(),
    };
    let event = PreviewEvent::Preview {
        schema: PreviewSchema::V1,
        seq: 0,
        call_id: None,
        tentative: true,
        files: vec![file],
    };
    bencher.bench(|| {
        let mut out = Vec::new();
        terminal::preview(&mut out, black_box(&event), &Style::plain(100), None)
            .map(|()| out.len())
            .unwrap_or(0)
    });
}

#[divan::bench]
fn write_1000_hunks_as_json(bencher: Bencher<'_, '_>) {
    let diffs = thousand_hunks();
    bencher.bench(|| {
        let mut out = Vec::new();
        json::line(&mut out, black_box(&diffs)).map(|()| out.len()).unwrap_or(0)
    });
}

#[divan::bench]
fn replay_a_log_with_5_percent_edits(bencher: Bencher<'_, '_>) {
    let mut log = dsh::header_line("s", 1, "/w");
    let filler =
        format!("{{\"type\":\"assistant/chunk\",\"seq\":1,\"data\":{{\"text\":\"{}\"}}}}\n", "x".repeat(900));
    let diff = FileDiff {
        path: "a".to_owned(),
        old_text: Some("one\ntwo\nthree".to_owned()),
        new_text: "one\n2\nthree".to_owned(),
        ..FileDiff::default()
    };
    let meta = RecordMeta { diffs: vec![diff], ..RecordMeta::default() };
    for seq in 0..1_000_u64 {
        let stamp = dsh::EventStamp { seq: 2 * seq, time_ms: seq, turn: 1, step: 1 };
        let id = format!("call-{seq}");
        let arguments = "{\"file_path\":\"a\",\"old_string\":\"two\",\"new_string\":\"2\"}";
        log.extend(dsh::call_line(stamp, &id, "edit", arguments));
        log.extend(filler.repeat(38).bytes());
        let result = dsh::LoggedResult {
            call_id: &id,
            call_seq: 0,
            ok: true,
            text: "ok",
            error: None,
            meta: Some(&meta),
        };
        log.extend(dsh::result_line(stamp, &result));
    }
    bench_replay(bencher, Format::Dsh, &log);
}

/// As transcripts are: of forty lines two are an edit, the others prose, files that were read, commands and hooks.
#[divan::bench]
fn replay_a_transcript_with_5_percent_edits(bencher: Bencher<'_, '_>) {
    let common = r#""isSidechain":false,"userType":"external","cwd":"/w","sessionId":"s","version":"2.1.39""#;
    let file = (0..60).map(|index| format!("{}\\n", line(index))).collect::<String>();
    let call = |id: &str, tool: &str, input: &str| {
        format!(
            r#"{{"parentUuid":"u",{common},"message":{{"id":"m","role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"{tool}","input":{input}}}],"stop_reason":null}},"type":"assistant","uuid":"u"}}{}"#,
            "\n"
        )
    };
    let result = |id: &str, told: &str| {
        format!(
            r#"{{"parentUuid":"u",{common},"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"{id}","type":"tool_result","content":"{file}"}}]}},"uuid":"u","toolUseResult":{told}}}{}"#,
            "\n"
        )
    };
    let prose = format!(
        r#"{{"parentUuid":"u",{common},"message":{{"id":"m","role":"assistant","content":[{{"type":"text","text":"{file}"}}]}},"type":"assistant","uuid":"u"}}{}"#,
        "\n"
    );
    let hook = format!(
        r#"{{"parentUuid":"u",{common},"type":"progress","data":{{"type":"hook_progress","command":"{}"}},"uuid":"u"}}{}"#,
        "x".repeat(400),
        "\n"
    );
    let others = [
        prose,
        call("other", "Read", r#"{"file_path":"/w/b"}"#),
        result("other", &format!(r#"{{"type":"text","file":{{"content":"{file}"}}}}"#)),
        call("other", "Bash", r#"{"command":"cargo test"}"#),
        result("other", r#"{"stdout":"","stderr":""}"#),
    ]
    .concat()
        + &hook.repeat(4);
    let mut log = String::new();
    for index in 0..500 {
        let id = format!("toolu_{index}");
        log += &call(&id, "Edit", r#"{"file_path":"/w/a","old_string":"two","new_string":"2"}"#);
        log += &others.repeat(4);
        log += &result(
            &id,
            r#"{"filePath":"/w/a","oldString":"two","newString":"2","originalFile":"","structuredPatch":[{"oldStart":1,"oldLines":3,"newStart":1,"newLines":3,"lines":[" one","-two","+2"," three"]}]}"#,
        );
    }
    bench_replay(bencher, Format::ClaudeCode, log.as_bytes());
}

fn bench_replay(bencher: Bencher<'_, '_>, format: Format, log: &[u8]) {
    bencher.counter(BytesCount::of_slice(log)).bench(|| {
        let mut cards = 0;
        let mut replay = Replay::new(ReplayOptions::new(format));
        for block in black_box(log).chunks(1 << 20) {
            replay.push(block, &mut |_| cards += 1);
        }
        replay.finish(&mut |_| cards += 1).map(|summary| summary.cards)
    });
}
