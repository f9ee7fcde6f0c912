//! No log makes an undo panic, and how it is cut changes nothing of which calls are meant.

#![no_main]

use std::sync::Arc;

use hunkwise::plan::FileState;
use hunkwise::plan::FoundFile;
use hunkwise::plan::Given;
use hunkwise::plan::Options;
use hunkwise::plan::Planner;
use hunkwise::plan::Stamp;
use hunkwise::session::undo::History;
use hunkwise::session::undo::HistoryReader;
use hunkwise::session::undo::Records;
use hunkwise::session::undo::Selection;
use hunkwise::text::Document;
use libfuzzer_sys::fuzz_target;

fn history(blocks: &[&[u8]]) -> History {
    let mut reader = HistoryReader::default();
    for block in blocks {
        reader.push(block);
    }
    reader.finish()
}

fuzz_target!(|input: &[u8]| {
    let Some((&[cut, length], rest)) = input.split_first_chunk() else { return };
    let (file, log) = rest.split_at(usize::from(length).min(rest.len()));
    let cut = usize::from(cut).min(log.len());
    let history_whole = history(&[log]);
    assert_eq!(history(&[&log[..cut], &log[cut..]]), history_whole);
    for selection in [Selection::Last(1), Selection::Turns(0, u64::MAX)] {
        let Ok(chosen) = history_whole.select(&selection) else { continue };
        let calls: Vec<_> = chosen.into_iter().map(|index| &history_whole.calls[index]).collect();
        let mut records = Records::of(calls.iter().copied());
        records.push(log);
        let mut found = records.finish();
        let mut planner = Planner::new(Options::default());
        for call in calls {
            let record = found.take(call).expect("the same log");
            for want in planner.wants_inverse(&record) {
                let state = match want.path.bytes().first().is_some_and(|byte| byte % 2 == 0) {
                    true => FileState::Absent,
                    false => FileState::File(FoundFile {
                        document: Arc::new(Document::new(file.to_vec())),
                        mode: 0o100_644,
                        hard_links: 1,
                        stamp: Stamp::default(),
                    }),
                };
                planner.give(want.clone(), Given { real: want.path.normalized(), state, link: None });
            }
            let _ = planner.inverse(1, &record);
        }
        let _ = planner.finish();
    }
});
