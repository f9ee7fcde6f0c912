//! Times the parts of comparing texts: lines, hunks out of splices, signed lines, words.

use divan::Bencher;
use divan::black_box;
use hunkwise::diff;
use hunkwise::text::Document;
use hunkwise::text::Splice;
use hunkwise::text::Splices;

fn main() {
    divan::main();
}

/// Returns lines that look like source text; about a fifth are braces and blank lines.
fn source(lines: usize) -> Vec<String> {
    (0..lines)
        .map(|index| match index % 10 {
            0 => String::new(),
            1 => "}".to_owned(),
            _ => format!("    let value_{index} = self.table.lookup({});", index * 7919 % 100_003),
        })
        .collect()
}

fn text(lines: &[String]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

/// Returns a text and the same with `edits` lines changed, spread over it.
fn edited(lines: usize, edits: usize) -> (Vec<u8>, Vec<u8>) {
    let old = source(lines);
    let mut new = old.clone();
    new.iter_mut().step_by(lines / edits).for_each(|line| line.push_str(" // changed"));
    (text(&old), text(&new))
}

#[divan::bench(args = [1_000, 100_000, 1_000_000])]
fn fifty_edits(bencher: Bencher<'_, '_>, lines: usize) {
    let (old, new) = edited(lines, 50);
    bencher.bench(|| diff::diff_lines(black_box(&old), black_box(&new)));
}

#[divan::bench]
fn rewrite_of_40k_lines(bencher: Bencher<'_, '_>) {
    let old: Vec<String> =
        (0..40_000usize).map(|index| format!("old line {index} {}", index * 7919)).collect();
    let new: Vec<String> =
        (0..40_000usize).map(|index| format!("NEW row {index} {}", index * 104_729)).collect();
    let (old, new) = (text(&old), text(&new));
    bencher.bench(|| diff::diff_lines(black_box(&old), black_box(&new)));
}

#[divan::bench(sample_count = 5)]
fn repetitive_200k_lines(bencher: Bencher<'_, '_>) {
    let row = |index: usize, factor: usize| format!("row {}", index * factor % 1009 % 40);
    let old: Vec<String> = (0..200_000).map(|index| row(index, 7919)).collect();
    let new: Vec<String> = (0..200_000).map(|index| row(index, 104_729)).collect();
    let (old, new) = (text(&old), text(&new));
    bencher.bench(|| diff::diff_lines(black_box(&old), black_box(&new)));
}

#[divan::bench]
fn hunks_of_1000_splices_in_1m_lines(bencher: Bencher<'_, '_>) {
    let old = Document::new(text(&source(1_000_000)));
    let step = old.bytes().len() / 1000;
    let list =
        (0..1000).map(|index| Splice { range: index * step..index * step + 5, new: b"hello".to_vec() });
    let splices = Splices::new(list.collect()).unwrap_or_default();
    bencher.bench(|| diff::from_splices("file", black_box(&old), black_box(&splices)));
}

#[divan::bench]
fn signed_lines_of_a_hunk(bencher: Bencher<'_, '_>) {
    let (old, new) = edited(7, 7);
    let diffs = diff::compare("file", Some(&Document::new(old)), Some(&Document::new(new)));
    bencher
        .bench(|| diffs.iter().map(diff::counts).fold((0, 0), |sum, next| (sum.0 + next.0, sum.1 + next.1)));
}

#[divan::bench]
fn words_of_a_line(bencher: Bencher<'_, '_>) {
    let old = "    let value = self.table.lookup(index, Options::default())?;";
    let new = "    let values = self.table.lookup_all(index, &Options::default())?;";
    bencher.bench(|| diff::emphasis(black_box(old), black_box(new)));
}
