//! The places of all hunks of a file edit to one place each, or a refusal.
//!
//! One place is taken, wherever the hunk stands in the patch. Several are narrowed by the order of the hunks (if those
//! with one place stand in file order), then by the stated line number (if the text there is exact and every hunk with
//! one place has the same offset). What is still several is ambiguous.

use crate::patch::LineHunk;
use crate::report::Rung;

use super::locate::Found;
use super::locate::Place;
use super::shape::Shape;

/// Which place of each hunk is meant: an index into its places, or `None` while it is open.
pub fn choose(hunks: &[&LineHunk], found: &[Found], takes_first: bool) -> Vec<Option<usize>> {
    let places: Vec<&[Place]> = found
        .iter()
        .map(|found| match found {
            Found::Places(places) => places.as_slice(),
            Found::AlreadyApplied { .. } | Found::Missing(_) => &[],
        })
        .collect();
    let mut chosen: Vec<Option<usize>> =
        places.iter().map(|places| (places.len() == 1).then_some(0)).collect();
    if takes_first {
        take_first(&places, &mut chosen);
        return chosen;
    }
    if chosen.iter().zip(&places).any(|(chosen, places)| chosen.is_none() && !places.is_empty()) {
        by_order(hunks, &places, &mut chosen);
        by_stated_line(hunks, &places, &mut chosen);
    }
    chosen
}

/// As Codex does: the first place behind the hunk before, else the first.
fn take_first(places: &[&[Place]], chosen: &mut [Option<usize>]) {
    let mut cursor = 0;
    for (places, chosen) in places.iter().zip(chosen) {
        if places.is_empty() {
            continue;
        }
        let index = places.iter().position(|place| place.start >= cursor).unwrap_or(0);
        *chosen = Some(index);
        cursor = places[index].end;
    }
}

/// The lines of a place, and which of them change; 0-based, the ends excluded.
///
/// Two hunks may share lines of context, so a place counts as behind another one if neither changes what the other
/// needs. To ask for more would take a place further down for the only one.
struct Extent {
    start: usize,
    end: usize,
    change_start: usize,
    change_end: usize,
}

impl Extent {
    fn of(shape: &Shape<'_>, place: &Place) -> Self {
        let (start, end) = (place.line_index, place.line_index + place.matched.len());
        let line_of = |old_index: usize| start + old_index.saturating_sub(place.matched.start);
        match (shape.changes.first(), shape.changes.last()) {
            (Some(first), Some(last)) => Extent {
                start,
                end,
                change_start: line_of(first.deleted.start),
                change_end: line_of(last.deleted.end),
            },
            _ => Extent { start, end, change_start: end, change_end: start },
        }
    }

    fn is_before(&self, other: &Extent) -> bool {
        self.start <= other.start && self.change_end <= other.start && self.end <= other.change_start
    }
}

/// Takes the place of each open hunk that is the same in the earliest and in the latest way to lay all hunks in order.
fn by_order(hunks: &[&LineHunk], places: &[&[Place]], chosen: &mut [Option<usize>]) {
    let singles: Vec<&Place> =
        places.iter().zip(chosen.iter()).filter_map(|(places, chosen)| Some(&places[(*chosen)?])).collect();
    if singles.windows(2).any(|pair| pair[0].start >= pair[1].start) {
        return;
    }
    let extents: Vec<Vec<Extent>> = hunks
        .iter()
        .zip(places)
        .map(|(hunk, places)| {
            let shape = Shape::of(hunk);
            places.iter().map(|place| Extent::of(&shape, place)).collect()
        })
        .collect();
    let mut earliest = vec![None; places.len()];
    let mut before: Option<&Extent> = None;
    for (index, extents) in extents.iter().enumerate().filter(|(_, extents)| !extents.is_empty()) {
        let fits = |extent: &Extent| before.is_none_or(|before| before.is_before(extent));
        let Some(first) = extents.iter().position(|extent| fits(extent) || extents.len() == 1) else {
            return;
        };
        earliest[index] = Some(first);
        before = Some(&extents[first]);
    }
    let mut behind: Option<&Extent> = None;
    for (index, extents) in extents.iter().enumerate().rev().filter(|(_, extents)| !extents.is_empty()) {
        let fits = |extent: &Extent| behind.is_none_or(|behind| extent.is_before(behind));
        let Some(last) = extents.iter().rposition(|extent| fits(extent) || extents.len() == 1) else {
            return;
        };
        if earliest[index] == Some(last) {
            chosen[index] = Some(last);
        }
        behind = Some(&extents[last]);
    }
}

fn by_stated_line(hunks: &[&LineHunk], places: &[&[Place]], chosen: &mut [Option<usize>]) {
    let offset = |hunk: &LineHunk, place: &Place| {
        let stated = hunk.stated_old_start?;
        // A header with an empty old side names the line before.
        let stated_index = stated as i64 - i64::from(hunk.stated_old_lines != Some(0));
        Some(place.line_index as i64 - place.matched.start as i64 - stated_index)
    };
    let mut known = Vec::new();
    for ((hunk, places), chosen) in hunks.iter().zip(places).zip(chosen.iter()) {
        if let Some(index) = chosen {
            known.push(offset(hunk, &places[*index]));
        }
    }
    let shared = known.first().copied().unwrap_or(Some(0));
    if shared.is_none() || known.iter().any(|offset| *offset != shared) {
        return;
    }
    for ((hunk, places), chosen) in
        hunks.iter().zip(places).zip(chosen.iter_mut()).filter(|(_, chosen)| chosen.is_none())
    {
        *chosen = places.iter().position(|place| place.rung == Rung::Exact && offset(hunk, place) == shared);
    }
}

/// Returns the distance between the found and the stated line; 0 if the patch states none.
pub fn offset_lines(hunk: &LineHunk, place: &Place) -> i64 {
    match (hunk.stated_old_start, hunk.stated_old_lines) {
        (None, _) => 0,
        (Some(stated), Some(0)) => place.line_index as i64 - stated as i64,
        (Some(stated), _) => place.line_index as i64 + 1 - place.matched.start as i64 - stated as i64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::locate::Rules;
    use crate::plan::locate::locate_all;
    use crate::plan::sample::hunks;
    use crate::text::Document;

    /// The 1-based lines of the chosen places; `?` for an open hunk, `-` for one without any place.
    fn chosen(file: &str, text: &str, takes_first: bool) -> String {
        let document = Document::new(file.as_bytes().to_vec());
        let hunks = hunks(text);
        let hunks: Vec<&LineHunk> = hunks.iter().collect();
        let found = locate_all(&document, &hunks, Rules { most_lenient: Rung::Context, appends: false });
        let said =
            choose(&hunks, &found, takes_first).into_iter().zip(&found).map(|(chosen, found)| {
                match (chosen, found) {
                    (Some(index), Found::Places(places)) => (places[index].line_index + 1).to_string(),
                    (None, Found::Places(_)) => "?".to_owned(),
                    _ => "-".to_owned(),
                }
            });
        said.collect::<Vec<_>>().join(" ")
    }

    fn check(file: &str, text: &str, expected: &str) {
        assert_eq!(chosen(file, text, false), expected, "{file:?}\n{text}");
    }

    #[test]
    fn one_place_is_taken_wherever_the_hunk_stands() {
        check("a\nb\n", "@@\n-a\n@@\n-b\n", "1 2");
        check("a\nb\n", "@@\n-b\n@@\n-a\n", "2 1");
        check("a\nb\n", "@@\n-z\n@@\n-a\n", "- 1");
    }

    #[test]
    fn order_decides_where_it_leaves_one_place() {
        check("x\nm\nx\n", "@@\n-m\n@@\n-x\n", "2 3");
        check("x\nm\nx\n", "@@\n-x\n@@\n-m\n", "1 2");
        check("x\nm\nx\nx\n", "@@\n-m\n@@\n-x\n", "2 ?");
        check("x\nm\nx\nn\nx\n", "@@\n-m\n@@\n-x\n@@\n-n\n", "2 3 4");
        check("x\nx\n", "@@\n-x\n@@\n-x\n", "1 2");
        check("x\nx\nx\n", "@@\n-x\n@@\n-x\n", "? ?");
        check("x\nx\nx\nm\n", "@@\n-x\n@@\n-x\n@@\n-x\n@@\n-m\n", "1 2 3 4");
    }

    #[test]
    fn hunks_out_of_order_decide_nothing() {
        check("x\na\nx\nb\nx\n", "@@\n-b\n@@\n-a\n@@\n-x\n", "4 2 ?");
    }

    #[test]
    fn context_that_two_hunks_share_counts_for_both() {
        // The second hunk fits right behind the change of the first, and once more further down.
        check("b\nx\nc\ny\nk\nc\ny\n", "@@\n b\n-x\n c\n@@\n c\n-y\n", "1 ?");
        check("k\nc\ny\nb\nx\nc\ny\n", "@@\n b\n-x\n c\n@@\n c\n-y\n", "4 6");
        check("c\ny\nk\nc\ny\nd\n", "@@\n c\n-y\n@@\n y\n-d\n", "1 5");
        check("c\ny\nc\nd\n", "@@\n c\n-y\n c\n@@\n c\n-d\n", "1 3");
    }

    #[test]
    fn a_stated_line_decides_where_all_offsets_are_alike() {
        check("x\nm\nx\n", "@@ -3,1 +3,0 @@\n-x\n", "3");
        check("x\nm\nx\n", "@@ -2,1 +2,0 @@\n-x\n", "?");
        check("k\nx\nm\nx\nq\n", "@@ -2,1 +2,1 @@\n-m\n+M\n@@ -1,1 +1,0 @@\n-x\n", "3 4");
        check("m\nx\nx\nx\nn\n", "@@ -1,1 +1,1 @@\n-m\n+M\n@@ -3,1 +3,0 @@\n-x\n", "1 3");
        check("q\nm\nx\nx\nx\n", "@@ -1,1 +1,1 @@\n-m\n+M\n@@ -3,1 +3,0 @@\n-x\n", "2 4");
        // One offset is 1, the other 0.
        check(
            "q\nm\nx\nx\nx\nz\n",
            "@@ -1,1 +1,1 @@\n-m\n+M\n@@ -6,1 +6,1 @@\n-z\n+Z\n@@ -3,1 +3,0 @@\n-x\n",
            "2 6 ?",
        );
        // Not exact.
        check("x \nm\nx \n", "@@ -3,1 +3,0 @@\n-x\n", "?");
        // Only some hunks state a line.
        check("m\nx\nx\n", "@@\n-m\n@@ -3,1 +3,0 @@\n-x\n", "1 ?");
    }

    #[test]
    fn the_first_place_is_taken_on_request() {
        let check = |file: &str, text: &str, expected: &str| {
            assert_eq!(chosen(file, text, true), expected, "{file:?}\n{text}");
        };
        check("x\nx\n", "@@\n-x\n", "1");
        check("x\nm\nx\n", "@@\n-m\n@@\n-x\n", "2 3");
        check("x\nm\n", "@@\n-m\n@@\n-x\n", "2 1");
        check("x\nx\n", "@@\n-x\n@@\n-x\n", "1 2");
    }

    #[test]
    fn the_offset_is_found_minus_stated() {
        let check = |text: &str, line_index: usize, expected: i64| {
            let place = Place {
                start: 0,
                end: 0,
                line_index,
                matched: 0..1,
                rung: Rung::Exact,
                indent: crate::plan::fold::IndentMap::Same,
            };
            assert_eq!(offset_lines(&hunks(text)[0], &place), expected, "{text}");
        };
        check("@@\n-x\n", 4, 0);
        check("@@ -5,1 +5,0 @@\n-x\n", 4, 0);
        check("@@ -3,1 +3,0 @@\n-x\n", 4, 2);
        check("@@ -9,1 +9,0 @@\n-x\n", 4, -4);
        check("@@ -4,0 +5,1 @@\n+x\n", 4, 0);
    }
}
