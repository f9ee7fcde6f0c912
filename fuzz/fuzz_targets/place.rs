//! A planned patch changes nothing but what its hunks name, and its record takes it back; in any encoding text stays text.

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
use hunkwise::text::Charset;
use hunkwise::text::Document;
use hunkwise::text::PathText;
use libfuzzer_sys::fuzz_target;

const LABELS: [&str; 8] =
    ["utf-16le", "utf-16be", "windows-1252", "shift_jis", "gb18030", "big5", "euc-jp", "iso-2022-jp"];

fuzz_target!(|input: &[u8]| {
    let Some((&[label, high, low], rest)) = input.split_first_chunk() else { return };
    let length = usize::from(u16::from_be_bytes([high, low])).min(rest.len());
    let (file, hunks) = rest.split_at(length);
    let patch = [b"*** Begin Patch\n*** Update File: f\n".as_slice(), hunks, b"\n*** End Patch\n"].concat();
    let parsed = parse(&patch, Dialect::ApplyPatch);
    let document = Arc::new(Document::new(file.to_vec()));
    // Without a name the encoding is told by the bytes, or guessed.
    let encoding = LABELS.get(usize::from(label)).and_then(|label| Charset::for_label(label));
    let mut planner = Planner::new(Options { encoding, ..Options::default() });
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
            // Lines that are no text in UTF-8 go in as the bytes that they are.
            let is_text =
                std::str::from_utf8(hunks).is_ok() && !hunks.iter().any(|byte| matches!(byte, 0 | 0x1B));
            let is_given = before.encoding().charset() == encoding && encoding.is_some();
            if is_text && is_given && before.is_decodable() {
                assert!(before.successor(after).is_decodable());
            }
        }
    }
});
