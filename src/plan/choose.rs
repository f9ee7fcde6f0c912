//! The places of all hunks of a file edit to one place each, or a refusal.
//!
//! One place is taken, wherever the hunk stands in the patch. Several are narrowed by the order of the hunks (if those
//! with one place stand in file order), then by the stated line number (if the text there is exact and every hunk with
//! one place has the same offset). What is still several is ambiguous.

use crate::patch::LineHunk;
use crate::report::Rung;

use super::locate::Found;
use super::locate::Place;

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
        by_order(&places, &mut chosen);
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

/// Takes the place of each open hunk that is the same in the earliest and in the latest way to lay all hunks in order.
fn by_order(places: &[&[Place]], chosen: &mut [Option<usize>]) {
    let singles: Vec<&Place> =
        places.iter().zip(chosen.iter()).filter_map(|(places, chosen)| Some(&places[(*chosen)?])).collect();
    if singles.windows(2).any(|pair| pair[0].start >= pair[1].start) {
        return;
    }
    let mut earliest = vec![None; places.len()];
    let mut from = 0;
    for (index, places) in places.iter().enumerate().filter(|(_, places)| !places.is_empty()) {
        let Some(first) = places.iter().position(|place| place.start >= from || places.len() == 1) else {
            return;
        };
        earliest[index] = Some(first);
        from = places[first].end;
    }
    let mut until = usize::MAX;
    for (index, places) in places.iter().enumerate().rev().filter(|(_, places)| !places.is_empty()) {
        let Some(last) = places.iter().rposition(|place| place.end <= until || places.len() == 1) else {
            return;
        };
        if earliest[index] == Some(last) {
            chosen[index] = Some(last);
        }
        until = places[last].start;
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
