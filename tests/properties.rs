//! Properties of the whole core, without the disk: files in memory, and a patch made from the true difference.

#![expect(clippy::expect_used, reason = "a test may fail")]

use std::sync::Arc;

use hunkwise::diff::hunks::from_splices;
use hunkwise::patch::Dialect;
use hunkwise::patch::FileEdit;
use hunkwise::patch::Parsed;
use hunkwise::patch::parse;
use hunkwise::plan::After;
use hunkwise::plan::FileState;
use hunkwise::plan::FoundFile;
use hunkwise::plan::Given;
use hunkwise::plan::Options;
use hunkwise::plan::Plan;
use hunkwise::plan::Planner;
use hunkwise::plan::Stamp;
use hunkwise::plan::outcome;
use hunkwise::report::Card;
use hunkwise::report::CommandName;
use hunkwise::report::FileDiff;
use hunkwise::report::PreviewEvent;
use hunkwise::report::Problem;
use hunkwise::session::Input;
use hunkwise::session::Live;
use hunkwise::session::Replay;
use hunkwise::session::ReplayOptions;
use hunkwise::session::format::Format;
use hunkwise::session::format::dsh;
use hunkwise::session::format::tape::TapeReader;
use hunkwise::text::Charset;
use hunkwise::text::Document;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

/// A file by its path.
type Files = Vec<(String, Vec<u8>)>;

fn fill(files: &Files, planner: &mut Planner, edit: &FileEdit) {
    for want in planner.wants(edit) {
        let real = want.path.normalized();
        let found = files.iter().find(|(path, _)| path.as_bytes() == real.bytes());
        let state = found.map_or(FileState::Absent, |(_, bytes)| {
            FileState::File(FoundFile {
                document: Arc::new(Document::new(bytes.clone())),
                mode: 0o100_644,
                hard_links: 1,
                stamp: Stamp::default(),
            })
        });
        planner.give(want, Given { real, state, link: None });
    }
}

fn plan(files: &Files, parsed: &Parsed) -> Result<Plan, Vec<Problem>> {
    plan_with(Options::default(), files, parsed)
}

fn plan_with(options: Options, files: &Files, parsed: &Parsed) -> Result<Plan, Vec<Problem>> {
    let mut planner = Planner::new(options);
    let mut problems = Vec::new();
    for (index, edit) in parsed.patch.edits.iter().enumerate() {
        fill(files, &mut planner, edit);
        problems.extend(planner.plan(index + 1, edit).err().into_iter().flatten());
    }
    if problems.is_empty() { Ok(planner.finish()) } else { Err(problems) }
}

/// The bytes of one planned file.
fn bytes_after(plan: &Plan, index: usize) -> Vec<u8> {
    let file = &plan.files[index];
    let before = file.before.as_ref().map_or(&b""[..], |found| found.document.bytes());
    match &file.after {
        None => Vec::new(),
        Some(After::Same) => before.to_vec(),
        Some(After::Spliced(splices)) => splices.apply(before),
        Some(After::Whole(document)) => document.bytes().to_vec(),
    }
}

/// How the lines of a file end, and what stands around them.
#[derive(Debug, Clone, Copy)]
struct Look {
    endings: Endings,
    has_bom: bool,
    is_open: bool,
}

#[derive(Debug, Clone, Copy)]
enum Endings {
    Lf,
    Crlf,
    /// CRLF where the bit of the line's number is set.
    Mixed(u32),
}

impl Look {
    fn ending(self, line_index: usize) -> &'static str {
        let is_crlf = match self.endings {
            Endings::Lf => false,
            Endings::Crlf => true,
            Endings::Mixed(bits) => bits >> (line_index % 32) & 1 == 1,
        };
        if is_crlf { "\r\n" } else { "\n" }
    }
}

fn look() -> impl Strategy<Value = Look> {
    let endings = prop_oneof![Just(Endings::Lf), Just(Endings::Crlf), any::<u32>().prop_map(Endings::Mixed)];
    (endings, any::<bool>(), any::<bool>()).prop_map(|(endings, has_bom, is_open)| Look {
        endings,
        has_bom,
        is_open,
    })
}

/// A line with its number in the old file, so that endings stay with their lines.
#[derive(Debug, Clone)]
enum Step {
    Keep(usize),
    Remove(usize),
    Add(String),
}

/// One scripted edit: the lines of a file, what happens to each, and the patch that says so.
#[derive(Debug, Clone)]
struct Scene {
    lines: Vec<String>,
    steps: Vec<Step>,
    look: Look,
    context: usize,
}

fn alphabet() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec!["a", "b", "}", "", "  x", "\tx", "x ", "lone\rcr", "caf\u{e9}", "-- y", "@@ z", "*** q"]),
    ]
    .prop_map(str::to_owned)
}

fn scene() -> impl Strategy<Value = Scene> {
    let lines = prop::collection::vec(alphabet(), 1..14);
    let choices = prop::collection::vec((0_u8..8, alphabet()), 30);
    (lines, choices, look(), 0_usize..4).prop_map(|(lines, choices, look, context)| {
        let mut steps = Vec::new();
        for (index, (choice, added)) in (0..lines.len()).zip(choices) {
            match choice {
                0 => steps.push(Step::Remove(index)),
                1 => steps.extend([Step::Remove(index), Step::Add(added)]),
                2 => steps.extend([Step::Keep(index), Step::Add(added)]),
                3 => steps.extend([Step::Add(added), Step::Keep(index)]),
                _ => steps.push(Step::Keep(index)),
            }
        }
        // An empty last line without a newline is no line.
        let is_open = look.is_open && lines.last().is_some_and(|line| !line.is_empty());
        Scene { lines, steps, look: Look { is_open, ..look }, context }
    })
}

impl Scene {
    fn is_last(&self, index: usize) -> bool {
        index + 1 == self.lines.len()
    }

    fn old(&self) -> Vec<u8> {
        let mut text = String::from(if self.look.has_bom { "\u{FEFF}" } else { "" });
        for (index, line) in self.lines.iter().enumerate() {
            text.push_str(line);
            if !(self.look.is_open && self.is_last(index)) {
                text.push_str(self.look.ending(index));
            }
        }
        text.into_bytes()
    }

    /// The lines afterwards, without their endings.
    fn new_lines(&self) -> Vec<&str> {
        let text = |step| match step {
            &Step::Keep(index) => Some(self.lines[index].as_str()),
            Step::Add(text) => Some(text.as_str()),
            Step::Remove(_) => None,
        };
        self.steps.iter().filter_map(text).collect()
    }

    fn kept(&self) -> Vec<usize> {
        let kept = |step: &Step| if let Step::Keep(index) = step { Some(*index) } else { None };
        self.steps.iter().filter_map(kept).collect()
    }

    /// The patch with so many lines of context around every change.
    fn patch(&self) -> String {
        let is_change = |step: &Step| !matches!(step, Step::Keep(_));
        let near = |at: usize| {
            let from = at.saturating_sub(self.context);
            self.steps[from..(at + self.context + 1).min(self.steps.len())].iter().any(is_change)
        };
        let mut patch = String::from("*** Begin Patch\n*** Update File: f\n");
        let mut is_in_hunk = false;
        for (at, step) in self.steps.iter().enumerate() {
            if !near(at) {
                is_in_hunk = false;
                continue;
            }
            if !is_in_hunk {
                patch.push_str("@@\n");
                is_in_hunk = true;
            }
            let (sign, text) = match step {
                &Step::Keep(index) => (' ', self.lines[index].as_str()),
                &Step::Remove(index) => ('-', self.lines[index].as_str()),
                Step::Add(text) => ('+', text.as_str()),
            };
            patch.push_str(&format!("{sign}{text}\n"));
        }
        patch.push_str("*** End Patch\n");
        patch
    }

    fn changes(&self) -> bool {
        self.steps.iter().any(|step| !matches!(step, Step::Keep(_)))
    }
}

/// The file's lines with their endings, byte order mark taken off.
fn split(bytes: &[u8]) -> Vec<(String, &'static str)> {
    let text = String::from_utf8(bytes.to_vec()).expect("UTF-8");
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
    let line = |line: &str| match (line.strip_suffix("\r\n"), line.strip_suffix('\n')) {
        (Some(text), _) => (text.to_owned(), "\r\n"),
        (None, Some(text)) => (text.to_owned(), "\n"),
        (None, None) => (line.to_owned(), ""),
    };
    text.split_inclusive('\n').map(line).collect()
}

/// What previewing the patch to its end shows of every file, in pieces of this size; and whether it fits.
fn previewed(
    files: &Files,
    patch: &[u8],
    piece: usize,
    interval_ms: u64,
) -> (Vec<Vec<FileDiff>>, Option<bool>) {
    previewed_with(Options::default(), files, patch, piece, interval_ms)
}

fn previewed_with(
    options: Options,
    files: &Files,
    patch: &[u8],
    piece: usize,
    interval_ms: u64,
) -> (Vec<Vec<FileDiff>>, Option<bool>) {
    let mut live = Live::new(Input::text(Dialect::ApplyPatch), None, interval_ms, Some(options));
    let mut last = Vec::new();
    let mut foretold = None;
    let mut fill = |planner: &mut Planner, edit: &FileEdit| fill(files, planner, edit);
    let mut emit = |event: &PreviewEvent| match event {
        PreviewEvent::Preview { files, .. } => last = files.iter().map(|file| file.diffs.clone()).collect(),
        PreviewEvent::Finish { fits, .. } => foretold = *fits,
    };
    for (index, chunk) in patch.chunks(piece).enumerate() {
        live.push(chunk, index as u64 * 10, &mut fill, &mut emit);
    }
    live.finish(&mut fill, &mut emit);
    (last, foretold)
}

/// The card that a replay of the log of a plan draws.
fn replayed(plan: &Plan) -> Card {
    let detail = outcome::Detail { texts: true, max_text_bytes: usize::MAX };
    let done = outcome::of_plan(plan, CommandName::Apply, false, detail);
    let meta = outcome::record(plan, &done, usize::MAX);
    let stamp = |seq| dsh::EventStamp { seq, time_ms: 1, turn: 1, step: 1 };
    let result = dsh::LoggedResult {
        call_id: "c",
        call_seq: 0,
        ok: true,
        text: "done",
        error: None,
        meta: Some(&meta),
    };
    let log = [
        dsh::header_line("s", 1, "/w"),
        dsh::call_line(stamp(0), "c", "apply", "{\"input\":\"\"}"),
        dsh::result_line(stamp(1), &result),
    ]
    .concat();
    let mut cards = Vec::new();
    let mut replay = Replay::new(ReplayOptions::new(Format::Dsh));
    replay.push(&log, &mut |card| cards.push(card));
    assert!(replay.finish(&mut |card| cards.push(card)).is_ok());
    assert_eq!(cards.len(), 1);
    cards.remove(0)
}

fn config() -> ProptestConfig {
    let failures = FileFailurePersistence::Direct("proptest-regressions/properties.txt");
    ProptestConfig {
        cases: 1000,
        max_global_rejects: 100_000,
        failure_persistence: Some(Box::new(failures)),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    /// The true difference as a patch gives exactly the new lines, or is refused: never another file.
    #[test]
    fn a_patch_gives_exactly_the_new_file_or_nothing(scene in scene().prop_filter("no change", Scene::changes)) {
        // An empty line without a newline is no line: it can't be told from the one before it.
        prop_assume!(!scene.look.is_open || scene.new_lines().last().is_none_or(|last| !last.is_empty()));
        let old = scene.old();
        let files = vec![("f".to_owned(), old.clone())];
        let parsed = parse(scene.patch().as_bytes(), Dialect::ApplyPatch);
        prop_assert_eq!(&parsed.malformed, &None, "{}", scene.patch());
        let Ok(plan) = plan(&files, &parsed) else { return Ok(()) };
        let new = bytes_after(&plan, 0);
        let (old_lines, new_lines) = (split(&old), split(&new));
        let texts: Vec<&str> = new_lines.iter().map(|(text, _)| text.as_str()).collect();
        prop_assert_eq!(&texts, &scene.new_lines(), "{}", scene.patch());
        prop_assert_eq!(new.starts_with("\u{FEFF}".as_bytes()), scene.look.has_bom);
        // A kept line keeps its own ending, unless it was or is the open end of the file.
        let mut new_index = 0;
        for step in &scene.steps {
            if let &Step::Keep(index) = step {
                let (before, after) = (old_lines[index].1, new_lines[new_index].1);
                prop_assert!(before == after || before.is_empty() && new_index + 1 < new_lines.len(), "{}", scene.patch());
            }
            new_index += usize::from(!matches!(step, Step::Remove(_)));
        }
        // All ends alike: so do the new lines.
        if matches!(scene.look.endings, Endings::Lf | Endings::Crlf) && scene.lines.len() > 1 {
            for (_, ending) in new_lines.iter().take(new_lines.len().saturating_sub(1)) {
                prop_assert_eq!(*ending, scene.look.ending(0));
            }
        }
        let ends_in_old_line = scene.kept().last().is_some_and(|&index| scene.is_last(index));
        if ends_in_old_line && matches!(scene.steps.last(), Some(Step::Keep(_))) {
            prop_assert_eq!(new_lines.last().map(|line| line.1.is_empty()), Some(scene.look.is_open));
        }
    }

    /// With lines that are all different, one line of context is enough: then it must fit.
    #[test]
    fn a_patch_of_distinct_lines_fits(scene in scene().prop_filter("no change", Scene::changes), context in 1_usize..4) {
        let lines: Vec<String> = (0..scene.lines.len()).map(|index| format!("old {index}")).collect();
        let mut number = 0;
        let mut steps = scene.steps.clone();
        for step in &mut steps {
            if let Step::Add(text) = step {
                number += 1;
                *text = format!("new {number}");
            }
        }
        let scene = Scene { lines, steps, context, ..scene };
        prop_assume!(!scene.kept().is_empty());
        let files = vec![("f".to_owned(), scene.old())];
        let parsed = parse(scene.patch().as_bytes(), Dialect::ApplyPatch);
        let plan = plan(&files, &parsed);
        prop_assert!(plan.is_ok(), "{}\n{:?}", scene.patch(), plan.err());
        let new = bytes_after(&plan.expect("it fits"), 0);
        let texts: Vec<String> = split(&new).into_iter().map(|line| line.0).collect();
        prop_assert_eq!(texts, scene.new_lines());
    }

    /// A preview to the end, the plan, and the replay of its log draw the same.
    #[test]
    fn before_at_and_after_draw_the_same(
        scene in scene().prop_filter("no change", Scene::changes),
        piece in 1_usize..40,
        interval_ms in 0_u64..100,
    ) {
        let files = vec![("f".to_owned(), scene.old()), ("gone".to_owned(), b"x\ny".to_vec()), ("m".to_owned(), scene.old())];
        let second = scene.patch().replace("*** Update File: f\n", "*** Update File: m\n*** Move to: n/m\n");
        let body = second.strip_prefix("*** Begin Patch\n").expect("its first line");
        let first = scene.patch().replace("*** End Patch\n", "");
        let patch = format!("{first}*** Add File: new\n+1\n+\n*** Delete File: gone\n{body}");
        let parsed = parse(patch.as_bytes(), Dialect::ApplyPatch);
        let (shown, foretold) = previewed(&files, patch.as_bytes(), piece, interval_ms);
        let planned = plan(&files, &parsed);
        prop_assert_eq!(foretold, Some(planned.is_ok()), "{}", patch);
        let Ok(plan) = planned else { return Ok(()) };
        let detail = outcome::Detail { texts: false, max_text_bytes: usize::MAX };
        let done = outcome::of_plan(&plan, CommandName::Apply, false, detail);
        let reported: Vec<Vec<FileDiff>> = done.files.iter().map(|file| file.diffs.clone()).collect();
        prop_assert_eq!(&shown, &reported, "{}", patch);
        let card = replayed(&plan);
        prop_assert_eq!(card.diffs, reported.concat());
        for (drawn, file) in card.files.iter().zip(&done.files) {
            prop_assert_eq!((&drawn.path, drawn.added, drawn.removed), (&file.path, Some(file.added), Some(file.removed)));
        }
    }

    /// What the record says takes the change back, byte for byte.
    #[test]
    fn the_record_restores_the_old_bytes(scene in scene().prop_filter("no change", Scene::changes)) {
        use base64::Engine;
        let old = scene.old();
        let files = vec![("f".to_owned(), old.clone())];
        let Ok(plan) = plan(&files, &parse(scene.patch().as_bytes(), Dialect::ApplyPatch)) else { return Ok(()) };
        let detail = outcome::Detail { texts: true, max_text_bytes: usize::MAX };
        let done = outcome::of_plan(&plan, CommandName::Apply, false, detail);
        let meta = outcome::record(&plan, &done, usize::MAX);
        let mut bytes = bytes_after(&plan, 0);
        for splice in meta.files[0].undo.iter().rev() {
            let restored = base64::engine::general_purpose::STANDARD.decode(&splice.old).expect("base64");
            bytes.splice(splice.offset..splice.offset + splice.new_length, restored);
        }
        prop_assert_eq!(bytes, old);
    }

    /// The hunks of a report hold exactly the changed lines: applied to the old text they give the new one.
    #[test]
    fn the_hunks_lead_from_the_old_text_to_the_new(scene in scene().prop_filter("no change", Scene::changes)) {
        let files = vec![("f".to_owned(), scene.old())];
        let Ok(plan) = plan(&files, &parse(scene.patch().as_bytes(), Dialect::ApplyPatch)) else { return Ok(()) };
        let new = bytes_after(&plan, 0);
        let Some(After::Spliced(splices)) = &plan.files[0].after else { return Ok(()) };
        let old_lines: Vec<String> = split(&scene.old()).into_iter().map(|line| line.0).collect();
        let mut rebuilt: Vec<String> = Vec::new();
        let mut next = 0;
        for diff in from_splices("f", &Document::new(scene.old()), splices) {
            let (start, lines) = (diff.old_start.expect("placed"), diff.old_lines.expect("placed"));
            let first = if lines == 0 { next } else { start - 1 };
            rebuilt.extend_from_slice(&old_lines[next..first]);
            let side = |text: &str, lines: usize| if lines == 0 { vec![] } else { text.split('\n').map(str::to_owned).collect() };
            prop_assert_eq!(side(diff.old_text.as_deref().unwrap_or(""), lines), &old_lines[first..first + lines]);
            rebuilt.extend(side(&diff.new_text, diff.new_lines.expect("placed")));
            next = first + lines;
        }
        rebuilt.extend_from_slice(&old_lines[next..]);
        let new_lines: Vec<String> = split(&new).into_iter().map(|line| line.0).collect();
        prop_assert_eq!(rebuilt, new_lines);
    }

    /// A file in another encoding is edited as the same text in UTF-8 would be: the same places, hunks and previews, and
    /// bytes that mean the same text.
    #[test]
    fn another_encoding_is_edited_as_utf8_is(
        scene in scene().prop_filter("no change", Scene::changes),
        label in prop::sample::select(vec!["utf-16le", "utf-16be", "windows-1252", "iso-8859-15", "gb18030"]),
        piece in 1_usize..40,
    ) {
        let charset = Charset::for_label(label).expect("a label");
        let scene = Scene { look: Look { has_bom: charset.is_utf16(), ..scene.look }, ..scene };
        let encoded = |bytes: &[u8]| charset.encode(std::str::from_utf8(bytes).expect("UTF-8")).expect("a text that it has");
        let options = Options { encoding: Some(charset), ..Options::default() };
        let (files, others) = (vec![("f".to_owned(), scene.old())], vec![("f".to_owned(), encoded(&scene.old()))]);
        let parsed = parse(scene.patch().as_bytes(), Dialect::ApplyPatch);
        let (plan, other) = (plan(&files, &parsed), plan_with(options, &others, &parsed));
        let patch = scene.patch();
        let previews = (
            previewed(&files, patch.as_bytes(), piece, 0),
            previewed_with(options, &others, patch.as_bytes(), piece, 0),
        );
        prop_assert_eq!(previews.0, previews.1);
        let (plan, other) = match (plan, other) {
            (Err(problems), Err(others)) => {
                prop_assert_eq!(problems, others);
                return Ok(());
            }
            (plan, other) => (plan.expect("as in the other encoding"), other.expect("as in UTF-8")),
        };
        prop_assert_eq!(bytes_after(&other, 0), encoded(&bytes_after(&plan, 0)));
        let detail = outcome::Detail { texts: true, max_text_bytes: usize::MAX };
        let done = |plan| outcome::of_plan(plan, CommandName::Apply, false, detail).files.remove(0);
        let (done, mut other) = (done(&plan), done(&other));
        prop_assert_eq!(&other.encoding, &charset.name());
        other.encoding.clone_from(&done.encoding);
        other.before_sha256.clone_from(&done.before_sha256);
        other.after_sha256.clone_from(&done.after_sha256);
        prop_assert_eq!(other, done);
    }

    /// Two updates of one path are net one: their bytes, hunks and record are those of the whole change.
    #[test]
    fn two_updates_of_one_path_are_net_one(
        scene in scene().prop_filter("no change", Scene::changes),
        choices in prop::collection::vec((0_u8..8, alphabet()), 30),
    ) {
        use base64::Engine;
        let scene = Scene { look: Look { is_open: false, ..scene.look }, ..scene };
        prop_assume!(!scene.new_lines().is_empty());
        let lines: Vec<String> = scene.new_lines().into_iter().map(str::to_owned).collect();
        let mut steps = Vec::new();
        for (index, (choice, added)) in (0..lines.len()).zip(choices) {
            match choice {
                0 => steps.push(Step::Remove(index)),
                1 => steps.extend([Step::Remove(index), Step::Add(added)]),
                2 => steps.extend([Step::Keep(index), Step::Add(added)]),
                _ => steps.push(Step::Keep(index)),
            }
        }
        let second = Scene { lines, steps, look: scene.look, context: 3 };
        prop_assume!(second.changes());
        let first = Scene { context: 3, ..scene };
        let body = second.patch();
        let patch = format!("{}{}", first.patch().replace("*** End Patch\n", ""), body.strip_prefix("*** Begin Patch\n").expect("its first line"));
        let old = first.old();
        let files = vec![("f".to_owned(), old.clone())];
        let Ok(plan) = plan(&files, &parse(patch.as_bytes(), Dialect::ApplyPatch)) else { return Ok(()) };
        let new = bytes_after(&plan, 0);
        let texts: Vec<String> = split(&new).into_iter().map(|line| line.0).collect();
        prop_assert_eq!(&texts, &second.new_lines(), "{}", patch);
        let detail = outcome::Detail { texts: true, max_text_bytes: usize::MAX };
        let done = outcome::of_plan(&plan, CommandName::Apply, false, detail);
        prop_assert_eq!(done.files.len(), 1);
        let (added, removed) = (done.files[0].added, done.files[0].removed);
        prop_assert_eq!(split(&old).len() + added - removed, texts.len(), "{}", patch);
        let mut bytes = new;
        for splice in outcome::record(&plan, &done, usize::MAX).files[0].undo.iter().rev() {
            let restored = base64::engine::general_purpose::STANDARD.decode(&splice.old).expect("base64");
            bytes.splice(splice.offset..splice.offset + splice.new_length, restored);
        }
        prop_assert_eq!(bytes, old);
        prop_assert_eq!(replayed(&plan).diffs, done.files[0].diffs.clone());
    }

    /// At the level of a tape: previews keep their distance, an unchanged state is not repeated, the last state goes out.
    #[test]
    fn previews_of_a_tape_keep_their_distance(
        scene in scene().prop_filter("no change", Scene::changes),
        pauses in prop::collection::vec(0_u64..300, 1..60),
        interval_ms in 1_u64..500,
    ) {
        let patch = scene.patch();
        let files = vec![("f".to_owned(), scene.old())];
        let mut live = Live::new(Input::text(Dialect::ApplyPatch), None, interval_ms, Some(Options::default()));
        let mut sent: Vec<(u64, PreviewEvent)> = Vec::new();
        let mut fill = |planner: &mut Planner, edit: &FileEdit| fill(&files, planner, edit);
        let mut now_ms = 0;
        for (chunk, pause_ms) in patch.as_bytes().chunks(5).zip(pauses.iter().cycle()) {
            while let Some(due_ms) = live.due().filter(|due_ms| *due_ms <= now_ms + pause_ms) {
                live.tick(due_ms, &mut |event| sent.push((due_ms, event.clone())));
            }
            now_ms += pause_ms;
            live.push(chunk, now_ms, &mut fill, &mut |event| sent.push((now_ms, event.clone())));
        }
        let before_end = sent.len();
        live.finish(&mut fill, &mut |event| sent.push((now_ms, event.clone())));
        for pair in sent[..before_end].windows(2) {
            prop_assert!(pair[1].0 - pair[0].0 >= interval_ms);
        }
        let seqs: Vec<u64> = sent.iter().map(|(_, event)| match event {
            PreviewEvent::Preview { seq, .. } | PreviewEvent::Finish { seq, .. } => *seq,
        }).collect();
        prop_assert_eq!(seqs, (0..sent.len() as u64).collect::<Vec<_>>());
        let states: Vec<_> = sent.iter().filter_map(|(_, event)| match event {
            PreviewEvent::Preview { files, .. } => Some(files),
            PreviewEvent::Finish { .. } => None,
        }).collect();
        prop_assert!(states.windows(2).all(|pair| pair[0] != pair[1]), "an unchanged state was sent again");
        let is_finish = |event: &PreviewEvent| matches!(event, PreviewEvent::Finish { .. });
        prop_assert!(sent.iter().rev().skip(1).all(|(_, event)| !is_finish(event)));
        prop_assert!(sent.last().is_some_and(|(_, event)| is_finish(event)));
        prop_assert!(states.last().is_some_and(|files| files.iter().all(|file| file.complete)));
    }
}

/// Text whose every CR belongs to an ending; lone ones are for the tables.
fn pieces(count: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "\n", "\r\n"]), 0..count)
        .prop_map(|pieces| pieces.concat())
}

/// A patch with damage: what a model may write.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "*** Begin Patch\n",
        "*** End Patch\n",
        "*** Update File: f\n",
        "*** Add File: g\n",
        "*** Delete File: f\n",
        "*** Move to: h\n",
        "@@\n",
        "@@ a\n",
        "@@ -1,0 +1,2 @@\n",
        "@@ -9999999999999999999,1 +1 @@\n",
        " a\n",
        "-a\n",
        "+b\n",
        "\n",
        "\\ No newline at end of file\n",
        "*** End of File\n",
        " *** End Patch\n",
        "\u{FEFF}",
        "\r\n",
        "+",
        "prose\n",
        "\0\n",
        "*** Environment ID: x\n",
        " }\n",
        "-\n",
    ]);
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat().into_bytes())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_patch_panics(patch in damaged(), noise in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4), piece in 1_usize..9) {
        let mut patch = patch;
        for (at, byte) in noise {
            if !patch.is_empty() {
                let at = at.index(patch.len());
                patch[at] = byte;
            }
        }
        let files = vec![("f".to_owned(), b"a\nb\na\n}\n\n}".to_vec())];
        let parsed = parse(&patch, Dialect::ApplyPatch);
        let planned = plan(&files, &parsed);
        let (_, foretold) = previewed(&files, &patch, piece, 0);
        // What a preview foretells is what comes.
        match (&parsed.malformed, planned) {
            // A patch that asks for nothing is told to the model as an error.
            (None, _) if parsed.patch.edits.is_empty() => prop_assert_eq!(foretold, None),
            (None, planned) => prop_assert_eq!(foretold, Some(planned.is_ok())),
            (Some(_), _) => prop_assert_ne!(foretold, Some(true)),
        }
    }

    #[test]
    fn no_arguments_panic(json in r#"[\[\]{}":,a-z_\\0-9u ]{0,60}"#, bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        use hunkwise::patch::args;
        for input in [json.as_bytes(), &bytes] {
            let _ = (args::edit(input), args::write(input));
        }
        let nested = format!(r#"{{"file_path":"f","old_string":"a","new_string":"b","edits":{json}}}"#);
        let _ = (args::edit(nested.as_bytes()), args::write(nested.as_bytes()));
    }

    /// One replacement does what it does to the text, whatever the line endings; no text panics.
    #[test]
    fn an_edit_does_what_it_does_to_the_text(
        file in pieces(14), old in pieces(4), new in "[abc\\n]{0,4}", all: bool, bom: bool, open in "[\u{201C}\" \\tab]{0,5}",
    ) {
        use hunkwise::patch::Body;
        use hunkwise::patch::Hunk;
        use hunkwise::patch::Replace;
        use hunkwise::patch::ReplaceCount;
        use hunkwise::patch::args::file_edit;
        let bytes = format!("{}{file}{open}", if bom { "\u{FEFF}" } else { "" }).into_bytes();
        let count = if all { ReplaceCount::All } else { ReplaceCount::One };
        let replace = Replace { old: old.clone().into_bytes(), new: new.clone().into_bytes(), count, old_is_complete: true };
        let edit = file_edit("f".into(), Body::Hunks(vec![Hunk::Replace(replace)]));
        let parsed = Parsed { patch: hunkwise::patch::Patch { edits: vec![edit] }, ..Parsed::default() };
        let planned = plan(&vec![("f".to_owned(), bytes)], &parsed);
        let text = |text: &str| text.replace("\r\n", "\n");
        let (before, wanted) = (text(&format!("{file}{open}")), text(&old));
        prop_assume!(!wanted.is_empty() && wanted != new);
        let places = (0..before.len()).filter(|&at| before.as_bytes()[at..].starts_with(wanted.as_bytes())).count();
        match planned {
            Ok(plan) => {
                prop_assert!(places == 1 || all && places > 0);
                let after = String::from_utf8(bytes_after(&plan, 0)).expect("UTF-8");
                prop_assert_eq!(after.starts_with('\u{FEFF}'), bom);
                let after = after.trim_start_matches('\u{FEFF}');
                prop_assert_eq!(text(after), text(&before.replace(&wanted, &new)));
            }
            Err(_) => prop_assert!(places == 0 || places > 1 && !all),
        }
    }

    #[test]
    fn no_tape_panics(lines in prop::collection::vec(prop_oneof![any::<Vec<u8>>(), r#"\{"t":[0-9]{1,22},"delta":".{0,6}"\}"#.prop_map(String::into_bytes)], 0..8)) {
        let mut tape = TapeReader::default();
        for line in lines {
            let _ = tape.line(&line);
        }
    }
}
