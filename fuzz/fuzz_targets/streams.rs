//! No model stream panics, whatever vendor it is of, and how it is cut changes nothing.

#![no_main]

use hunkwise::plan::Planner;
use hunkwise::patch::FileEdit;
use hunkwise::report::PreviewEvent;
use hunkwise::session::calls::CallOptions;
use hunkwise::session::calls::Calls;
use hunkwise::session::calls::Step;
use hunkwise::session::format::stream::StreamReader;
use hunkwise::session::sse::Framing;
use hunkwise::session::sse::Payloads;
use libfuzzer_sys::fuzz_target;

/// The ends of the calls: what is previewed between depends on when pieces come.
fn ends(framing: Framing, blocks: &[&[u8]]) -> Vec<String> {
    let mut payloads = Payloads::new(framing);
    let mut reader = StreamReader::default();
    let mut calls = Calls::new(CallOptions {
        interval_ms: 1000,
        locate: None,
        dialect: None,
        text_patches: true,
        keeps_ended: false,
    });
    let mut ends = Vec::new();
    let mut emit = |event: &PreviewEvent| {
        if let PreviewEvent::Finish { call_id, ok, .. } = event {
            ends.push(format!("{call_id:?} {ok}"));
        }
    };
    let mut fill = |_: &mut Planner, _: &FileEdit| {};
    let mut step = Step { now_ms: 0, fill: &mut fill, emit: &mut emit };
    for block in blocks {
        payloads.push(block, &mut |payload| {
            reader.read(payload.bytes, payload.is_torn, &mut |event| calls.take(event, &mut step));
        });
    }
    payloads.finish(&mut |payload| {
        reader.read(payload.bytes, payload.is_torn, &mut |event| calls.take(event, &mut step));
    });
    calls.finish(&mut step);
    ends
}

fuzz_target!(|input: &[u8]| {
    let [framing, cut, stream @ ..] = input else { return };
    let framing = if framing & 1 == 0 { Framing::Sse } else { Framing::Lines };
    let cut = usize::from(*cut).min(stream.len());
    let whole = ends(framing, &[stream]);
    assert_eq!(ends(framing, &[&stream[..cut], &stream[cut..]]), whole);
    assert_eq!(ends(framing, &stream.chunks(1).collect::<Vec<_>>()), whole);
});
