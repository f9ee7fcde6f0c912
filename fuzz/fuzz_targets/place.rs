//! A planned patch changes nothing but what its hunks name, and its record takes it back.

#![no_main]

use std::sync::Arc;

use hunkwise::patch::Dialect;
use hunkwise::patch::parse;
use hunkwise::plan::After;
use hunkwise::plan::FileState;
use hunkwise::plan::FoundFile;
use hunkwise::plan::Given;
use hunkwise::plan::Options;
use hunkwise::plan::Planner;
use hunkwise::plan::Stamp;
use hunkwise::text::Document;
use hunkwise::text::PathText;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (Vec<u8>, Vec<u8>)| {
    let (file, hunks) = input;
    let patch = [b"*** Begin Patch\n*** Update File: f\n".as_slice(), &hunks, b"\n*** End Patch\n"].concat();
    let parsed = parse(&patch, Dialect::ApplyPatch);
    let document = Arc::new(Document::new(file));
    let mut planner = Planner::new(Options::default());
    for (index, edit) in parsed.patch.edits.iter().enumerate() {
        for want in planner.wants(edit) {
            let is_file = want.path == PathText::from("f");
            let found = || FoundFile {
                document: Arc::clone(&document),
                mode: 0o100_644,
                hard_links: 1,
                stamp: Stamp::default(),
            };
            let state = if is_file { FileState::File(found()) } else { FileState::Absent };
            planner.give(want.clone(), Given { real: want.path, state, link: None });
        }
        let Ok(planned) = planner.plan(index + 1, edit) else { continue };
        if let (Some(before), Some(After::Spliced(splices))) = (planned.before, planned.after) {
            let after = splices.apply(before.bytes());
            assert_eq!(splices.invert(before.bytes()).apply(&after), before.bytes());
        }
    }
});
