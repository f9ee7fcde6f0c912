//! No patch of this dialect panics, and how it is cut changes nothing.

#![no_main]

use hunkwise::patch::Dialect;
use hunkwise::patch::Parser;
use libfuzzer_sys::fuzz_target;

fn said(chunks: &[&[u8]]) -> Vec<String> {
    let mut parser = Parser::new(Dialect::ApplyPatch);
    let mut said = Vec::new();
    for chunk in chunks {
        parser.push(chunk, &mut |event| said.push(format!("{event:?}")));
    }
    parser.finish(&mut |event| said.push(format!("{event:?}")));
    said
}

fuzz_target!(|input: &[u8]| {
    let Some((&cut, patch)) = input.split_first() else { return };
    let cut = usize::from(cut).min(patch.len());
    let whole = said(&[patch]);
    assert_eq!(said(&[&patch[..cut], &patch[cut..]]), whole);
    assert_eq!(said(&patch.chunks(1).collect::<Vec<_>>()), whole);
});
