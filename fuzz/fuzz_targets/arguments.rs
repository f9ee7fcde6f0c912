//! No tool arguments panic, and how they are cut changes nothing.

#![no_main]

use hunkwise::patch::Builder;
use hunkwise::patch::Patch;
use hunkwise::patch::PatchEvent;
use hunkwise::patch::args::Args;
use libfuzzer_sys::fuzz_target;

const TOOLS: [&str; 6] = ["write", "edit", "apply_patch", "str_replace_editor", "MultiEdit", "replace"];

/// Pieces of a text may come in other sizes, so what they build is compared.
fn built(tool: &str, chunks: &[&[u8]]) -> (Patch, Option<String>) {
    let mut args = Args::new(tool);
    let mut builder = Builder::default();
    let mut malformed = None;
    let mut take = |event: PatchEvent<'_>| {
        builder.fold(&event);
        if let PatchEvent::Malformed(problem) = event {
            malformed = Some(problem.message.clone());
        }
    };
    for chunk in chunks {
        args.push(chunk, &mut take);
    }
    args.finish(&mut take);
    (builder.into_patch(), malformed)
}

fuzz_target!(|input: &[u8]| {
    let [tool, cut, json @ ..] = input else { return };
    let tool = TOOLS[usize::from(*tool) % TOOLS.len()];
    let cut = usize::from(*cut).min(json.len());
    let whole = built(tool, &[json]);
    assert_eq!(built(tool, &[&json[..cut], &json[cut..]]), whole);
    assert_eq!(built(tool, &json.chunks(1).collect::<Vec<_>>()), whole);
});
