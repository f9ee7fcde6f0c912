//! Which lines of two texts differ.
//!
//! A line ends at LF. Lines are compared by their bytes, endings included, so that a changed ending is a change and
//! a last line without a newline differs from the same line with one.
//!
//! Small texts go to the engine whole: histogram with git's indent heuristic. In large ones hashing every line would
//! cost more than the search itself, so equal bytes are skipped from change to change and the engine sees only a
//! window of lines around each. A window ends where an anchor, a run of equal lines with one that is unique in the
//! window, proves that both sides are in step again. An anchor is unique only in its window, so in a large file of
//! repeated blocks the answer is always right but need not be the global one.
//!
//! Each way of searching has its bound of work, estimated from the lines alone. Histogram is quadratic in scattered
//! changes; beyond its bound, lines that are unique on both sides cut the text into pieces small enough for it. Where
//! hardly any line is unique, runs of lines that are do the same; where there are none there is Myers, which has
//! heuristics of its own; and what is too large even for them is
//! one coarse change.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::hash::Hasher;
use std::ops::Range;

use foldhash::fast::FixedState;
use gix_imara_diff::Algorithm;
use gix_imara_diff::Diff;
use gix_imara_diff::Hunk;
use gix_imara_diff::InternedInput;
use gix_imara_diff::Token;
use memchr::memchr;
use memchr::memchr_iter;
use memchr::memrchr;

/// Texts of at most this many bytes each are compared whole: a millisecond or two of hashing, and no window border.
const WHOLE_LIMIT_BYTES: usize = 512 * 1024;
/// How many bytes are compared at once while equal text is skipped.
const SKIP_BYTES: usize = 4096;
/// The window sizes that are tried in turn after a mismatch; after the last one the rest is compared whole.
const WINDOW_LINES: [usize; 5] = [64, 256, 1024, 4096, 16384];
/// How many equal lines an anchor has at least.
const ANCHOR_LINES: usize = 16;
/// How many bytes the unique line of an anchor has at least; shorter ones are braces and blank lines.
const ANCHOR_BYTES: usize = 12;
/// How many equal lines a window has in front, for changes that slide up: the heuristic looks at most 100 lines up,
/// and at most 20 blank lines beyond.
const SLIDE_LINES: usize = 128;
/// The engine's histogram keeps at most this many places of one line; more frequent lines never start a match.
const HISTOGRAM_PLACES: usize = 63;
/// Lists of at most this many lines are compared by both algorithms.
const LIST_LINES: usize = 4096;
/// Changes of more pairs of lines than this are searched even if they might be a single one.
const ONLY_PAIRS: usize = 64;
/// Below this estimate a histogram search is not worth a closer one.
const CHEAP_WORK: u64 = 1 << 22;
/// How many line visits the histogram searches of one comparison may need, by estimate: about a second. Beyond it
/// unique lines cut the text into small pieces, or Myers takes over, whose own heuristics bound it.
const HISTOGRAM_WORK: u64 = 1 << 28;
/// Old lines times new lines above which repetitive text is no longer searched but reported as one coarse change.
const COARSE_PRODUCT: u64 = 400_000_000_000;
/// Where single lines repeat, runs of so many lines mostly don't: they are what then holds both sides in step.
const WINDOW_RUN: usize = 16;
/// So many different lines there must be for runs of them to be looked at.
const WINDOW_TOKENS: u32 = 4;
/// Old lines times new lines above which repetitive text is held in step by such runs: a file of 30 000 lines. The
/// engine needs a second and more for a few times as many, and what it finds is hardly smaller.
const WINDOW_PRODUCT: u64 = 1 << 30;
/// The share of lines, in percent, that are unique on both sides below which text is repetitive.
const UNIQUE_PERCENT: usize = 5;

/// One run of lines that differs: byte ranges of whole lines; at least one of them is not empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Byte range of the old text.
    pub old: Range<usize>,
    /// Byte range of the new text.
    pub new: Range<usize>,
}

/// What differs between two texts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LineDiff {
    /// The changed ranges, in order, separated by at least one equal line.
    pub changes: Vec<Changed>,
    /// Whether the bound of work was reached, so that a range is right but not minimal.
    pub is_coarse: bool,
}

/// Compares two texts line by line.
///
/// Copies neither text. The answer depends on the two texts alone.
///
/// ```
/// use hunkwise::diff::lines::Changed;
/// use hunkwise::diff::lines::diff_lines;
///
/// let diff = diff_lines(b"one\ntwo\nthree\n", b"one\n2\nthree\n");
/// assert_eq!(diff.changes, [Changed { old: 4..8, new: 4..6 }]);
/// ```
pub fn diff_lines(old: &[u8], new: &[u8]) -> LineDiff {
    let mut walk = Walk { old, new, changes: Vec::new(), is_coarse: false, work: HISTOGRAM_WORK };
    if old.len().max(new.len()) > WHOLE_LIMIT_BYTES {
        walk.resynchronise();
    } else if let Some(mismatch) = walk.next_mismatch(Place::default()) {
        walk.compare_rest(mismatch);
    }
    LineDiff { changes: walk.changes, is_coarse: walk.is_coarse }
}

/// Compares two lists of lines that carry no endings; returns ranges of line indexes.
///
/// This compares hunks, which are small: a line that is frequent in the file may be rare in the hunk, and histogram
/// then holds on to it at any cost. So if Myers needs less than two thirds of the lines, it is taken.
pub(crate) fn diff_line_lists(old: &[&str], new: &[&str]) -> Vec<(Range<usize>, Range<usize>)> {
    if old.is_empty() || new.is_empty() {
        let is_equal = old.len() == new.len();
        return if is_equal { Vec::new() } else { vec![(0..old.len(), 0..new.len())] };
    }
    match only_change(old, new) {
        Some(only) => only.into_iter().collect(),
        None => searched_lists(old, new),
    }
}

fn searched_lists(old: &[&str], new: &[&str]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut input = InternedInput::default();
    input.reserve(engine_index(old.len()), engine_index(new.len()));
    input.update_before(old.iter().map(|line| line.as_bytes()));
    input.update_after(new.iter().map(|line| line.as_bytes()));
    let mut work = HISTOGRAM_WORK;
    let Some(mut hunks) = search(&input, &mut work) else { return vec![(0..old.len(), 0..new.len())] };
    let is_longer = |least: usize, hunks: &[Hunk]| 3 * least < 2 * changed_lines(hunks);
    if old.len().max(new.len()) <= LIST_LINES && is_longer(least_changed_lines(&input), &hunks) {
        let shortest = engine(Algorithm::Myers, &input);
        if is_longer(changed_lines(&shortest), &hunks) {
            hunks = shortest;
        }
    }
    let wide = |range: &Range<u32>| range.start as usize..range.end as usize;
    hunks.iter().map(|hunk| (wide(&hunk.before), wide(&hunk.after))).collect()
}

fn changed_lines(hunks: &[Hunk]) -> usize {
    hunks.iter().map(|hunk| hunk.before.len() + hunk.after.len()).sum()
}

/// Returns how many lines change at least: those that one side has more of than the other.
fn least_changed_lines(input: &InternedInput<&[u8]>) -> usize {
    let mut surplus = vec![0_i32; input.interner.num_tokens() as usize];
    input.before.iter().for_each(|token| surplus[token.0 as usize] += 1);
    input.after.iter().for_each(|token| surplus[token.0 as usize] -= 1);
    surplus.iter().map(|count| count.unsigned_abs() as usize).sum()
}

/// Returns the change of two lists that differ in one place, if any search would find just that: most hunks need none.
///
/// That is so where what differs has no line in common, and neither side of it can slide over an equal line.
fn only_change(old: &[&str], new: &[&str]) -> Option<Option<(Range<usize>, Range<usize>)>> {
    let prefix = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let rest = old[prefix..].iter().rev().zip(new[prefix..].iter().rev());
    let suffix = rest.take_while(|(old, new)| old == new).count();
    let (old_range, new_range) = (prefix..old.len() - suffix, prefix..new.len() - suffix);
    if old_range.is_empty() && new_range.is_empty() {
        return Some(None);
    }
    let slides = |lines: &[&str], range: &Range<usize>| {
        let slides_up = || range.start > 0 && lines[range.start - 1] == lines[range.end - 1];
        let slides_down = || range.end < lines.len() && lines[range.end] == lines[range.start];
        !range.is_empty() && (slides_up() || slides_down())
    };
    let has_common = || old[old_range.clone()].iter().any(|line| new[new_range.clone()].contains(line));
    let is_found = old_range.len() * new_range.len() <= ONLY_PAIRS
        && !slides(old, &old_range)
        && !slides(new, &new_range)
        && !has_common();
    is_found.then_some(Some((old_range, new_range)))
}

/// Byte offsets of two lines that stand side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Place {
    old: usize,
    new: usize,
}

impl Place {
    fn advanced(self, bytes: usize) -> Place {
        Place { old: self.old + bytes, new: self.new + bytes }
    }
}

/// A comparison under way.
struct Walk<'a> {
    old: &'a [u8],
    new: &'a [u8],
    changes: Vec<Changed>,
    is_coarse: bool,
    work: u64,
}

impl<'a> Walk<'a> {
    /// Goes from change to change and compares a window at each.
    fn resynchronise(&mut self) {
        let mut place = Place::default();
        while let Some(mismatch) = self.next_mismatch(place) {
            match self.window(mismatch) {
                Some(in_step) => place = in_step,
                None => {
                    self.compare_rest(mismatch);
                    return;
                }
            }
        }
    }

    /// Returns the start of the first line after `from` that differs; `None` if all the rest is equal.
    fn next_mismatch(&self, from: Place) -> Option<Place> {
        let (old, new) = (&self.old[from.old..], &self.new[from.new..]);
        let equal = equal_prefix(old, new);
        if equal == old.len() && equal == new.len() {
            return None;
        }
        let line_start = memrchr(b'\n', &old[..equal]).map_or(0, |newline| newline + 1);
        Some(from.advanced(line_start))
    }

    /// Compares growing windows from `mismatch` on until one is anchored; returns where both sides are in step
    /// again, or `None` if no window is.
    fn window(&mut self, mismatch: Place) -> Option<Place> {
        let start = self.slide_start(mismatch);
        for lines in WINDOW_LINES {
            let end = Place {
                old: skip_lines(self.old, mismatch.old, lines),
                new: skip_lines(self.new, mismatch.new, lines),
            };
            let reaches_end = end.old == self.old.len() && end.new == self.new.len();
            if reaches_end {
                // The rest is no larger than the window: nothing is left to anchor.
                return None;
            }
            let input = intern(&self.old[start.old..end.old], &self.new[start.new..end.new]);
            let candidates = AnchorLines::of(&input);
            if !candidates.exist {
                // Repetitive, unrelated or changed everywhere: a search could not end this window.
                continue;
            }
            let Some(hunks) = search(&input, &mut self.work) else { continue };
            if let Some(anchor) = candidates.first_in_step(&input, &hunks) {
                return Some(self.accept(&input, &hunks, start, anchor));
            }
        }
        None
    }

    /// Compares everything from `mismatch` to the ends, less what is equal there.
    fn compare_rest(&mut self, mismatch: Place) {
        let start = self.slide_start(mismatch);
        let tail = self.equal_tail(mismatch);
        let old = &self.old[start.old..self.old.len() - tail];
        let new = &self.new[start.new..self.new.len() - tail];
        let input = intern(old, new);
        match search(&input, &mut self.work) {
            Some(hunks) => {
                self.accept(&input, &hunks, start, u32::MAX);
            }
            None => {
                self.is_coarse = true;
                let (old_end, new_end) = (self.old.len() - tail, self.new.len() - tail);
                self.push(Changed { old: mismatch.old..old_end, new: mismatch.new..new_end });
            }
        }
    }

    /// Returns how many bytes at both ends are equal whole lines that no change can slide into.
    fn equal_tail(&self, mismatch: Place) -> usize {
        let (old, new) = (&self.old[mismatch.old..], &self.new[mismatch.new..]);
        // The line at which the equal bytes begin may be cut, and the lines after it are for changes that slide down.
        let start = old.len() - equal_suffix(old, new);
        old.len() - skip_lines(old, start, SLIDE_LINES + 1)
    }

    /// Returns where a window begins for changes that slide up from `mismatch`: after the change before it.
    fn slide_start(&self, mismatch: Place) -> Place {
        let floor = self.changes.last().map_or(0, |change| change.old.end);
        let mut start = mismatch.old;
        for _ in 0..SLIDE_LINES {
            if start <= floor {
                break;
            }
            start = memrchr(b'\n', &self.old[floor..start - 1]).map_or(floor, |newline| floor + newline + 1);
        }
        Place { old: start, new: mismatch.new - (mismatch.old - start) }
    }

    /// Takes over the changes that stand before the old line `anchor` of a window that begins at `start`; returns
    /// where the equal lines after the last of them begin.
    fn accept(
        &mut self,
        input: &InternedInput<&'a [u8]>,
        hunks: &[Hunk],
        start: Place,
        anchor: u32,
    ) -> Place {
        let bytes = |tokens: &[Token]| tokens.iter().map(|&token| input.interner[token].len()).sum::<usize>();
        let mut place = start;
        let mut before = 0;
        for hunk in hunks.iter().take_while(|hunk| hunk.before.start <= anchor) {
            place = place.advanced(bytes(&input.before[before..hunk.before.start as usize]));
            before = hunk.before.end as usize;
            let old_bytes = bytes(&input.before[hunk.before.start as usize..before]);
            let new_bytes = bytes(&input.after[hunk.after.start as usize..hunk.after.end as usize]);
            let end = Place { old: place.old + old_bytes, new: place.new + new_bytes };
            self.push(Changed { old: place.old..end.old, new: place.new..end.new });
            place = end;
        }
        place
    }

    /// Adds a change; one that touches the change before it becomes part of it.
    fn push(&mut self, change: Changed) {
        match self.changes.last_mut() {
            Some(last) if last.old.end == change.old.start && last.new.end == change.new.start => {
                last.old.end = change.old.end;
                last.new.end = change.new.end;
            }
            _ => self.changes.push(change),
        }
    }
}

/// Returns how many bytes at the starts are equal.
fn equal_prefix(old: &[u8], new: &[u8]) -> usize {
    let shorter = old.len().min(new.len());
    let mut equal = 0;
    while equal + SKIP_BYTES <= shorter && old[equal..equal + SKIP_BYTES] == new[equal..equal + SKIP_BYTES] {
        equal += SKIP_BYTES;
    }
    let pairs = old[equal..shorter].iter().zip(&new[equal..shorter]);
    equal + pairs.take_while(|(old, new)| old == new).count()
}

/// Returns how many bytes at the ends are equal.
fn equal_suffix(old: &[u8], new: &[u8]) -> usize {
    let shorter = old.len().min(new.len());
    let (old, new) = (&old[old.len() - shorter..], &new[new.len() - shorter..]);
    let mut rest = shorter;
    while rest >= SKIP_BYTES && old[rest - SKIP_BYTES..rest] == new[rest - SKIP_BYTES..rest] {
        rest -= SKIP_BYTES;
    }
    let pairs = old[..rest].iter().rev().zip(new[..rest].iter().rev());
    shorter - rest + pairs.take_while(|(old, new)| old == new).count()
}

/// Returns the offset `lines` line ends after `start`, or the end of `bytes`.
pub(super) fn skip_lines(bytes: &[u8], start: usize, lines: usize) -> usize {
    match memchr_iter(b'\n', &bytes[start..]).take(lines).enumerate().last() {
        Some((index, newline)) if index + 1 == lines => start + newline + 1,
        None if lines == 0 => start,
        _ => bytes.len(),
    }
}

/// Iterates over the lines of `bytes`, each with its newline.
fn lines_with_ends(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let (line, rest) = bytes.split_at(memchr(b'\n', bytes).map_or(bytes.len(), |newline| newline + 1));
        bytes = rest;
        Some(line)
    })
}

fn intern<'a>(old: &'a [u8], new: &'a [u8]) -> InternedInput<&'a [u8]> {
    let mut input = InternedInput::default();
    input.update_before(lines_with_ends(old));
    input.update_after(lines_with_ends(new));
    input
}

fn lines_of<'i, 'a>(
    input: &'i InternedInput<&'a [u8]>,
    tokens: &'i [Token],
) -> impl Iterator<Item = &'a [u8]> + use<'i, 'a> {
    tokens.iter().map(|&token| input.interner[token])
}

/// Returns a line index or count as the engine has it; [`search`] keeps them within its range.
fn engine_index(lines: usize) -> u32 {
    u32::try_from(lines).unwrap_or(u32::MAX)
}

/// Finds the changed lines; `None` if the two sides are beyond every bound of work.
///
/// Histogram, as long as it can be afforded; else by unique lines, or by Myers where there are few of them. Which one
/// depends on the input alone.
fn search(input: &InternedInput<&[u8]>, work: &mut u64) -> Option<Vec<Hunk>> {
    let (old_lines, new_lines) = (input.before.len(), input.after.len());
    if old_lines.max(new_lines) >= i32::MAX as usize {
        // The engine can't number so many.
        return None;
    }
    let needed = histogram_work(input);
    let is_affordable = needed <= *work;
    let product = old_lines as u64 * new_lines as u64;
    if product > WINDOW_PRODUCT || !is_affordable {
        let counts = LineCounts::of(input);
        let count = |is_counted: &dyn Fn(Token) -> bool| {
            input.before.iter().filter(|&&token| is_counted(token)).count()
        };
        let is_enough = |lines: usize| 2 * lines * 100 >= UNIQUE_PERCENT * (old_lines + new_lines);
        let has_unique = is_enough(count(&|token| counts.is_unique(token)));
        // Of lines that hardly stand on both sides every search is quick.
        let has_common = is_enough(count(&|token| counts.is_common(token)));
        if !has_unique && (has_common || !is_affordable || product > COARSE_PRODUCT) {
            // Runs of very few kinds of lines repeat as well.
            let can_be_unique = input.interner.num_tokens() >= WINDOW_TOKENS;
            let windows = if can_be_unique { unique_windows(input) } else { Vec::new() };
            if is_enough(windows.len()) {
                return Some(search_between(input, &longest_in_order(&windows)));
            }
            return (product <= COARSE_PRODUCT).then(|| shortest(input));
        }
        if !is_affordable {
            return Some(search_between(input, &longest_in_order(&unique_lines(input, &counts))));
        }
    }
    *work -= needed;
    Some(engine(Algorithm::Histogram, input))
}

/// Finds a nearly shortest list of changes in text that only repeats.
///
/// The other library bounds such a search by work as well and needs two thirds of the engine's time for it. Sliding the
/// changes to where git has them would mean nothing here: there is no structure that they could follow.
fn shortest(input: &InternedInput<&[u8]>) -> Vec<Hunk> {
    let tokens = |side: &[Token]| side.iter().map(|token| token.0).collect::<Vec<u32>>();
    let (old, new) = (tokens(&input.before), tokens(&input.after));
    let changes = similar::capture_diff_slices(similar::Algorithm::Myers, &old, &new);
    let index = |range: Range<usize>| engine_index(range.start)..engine_index(range.end);
    let mut hunks: Vec<Hunk> = Vec::new();
    for change in changes {
        if matches!(change, similar::DiffOp::Equal { .. }) {
            continue;
        }
        let (before, after) = (index(change.old_range()), index(change.new_range()));
        match hunks.last_mut() {
            Some(last) if last.before.end == before.start && last.after.end == after.start => {
                last.before.end = before.end;
                last.after.end = after.end;
            }
            _ => hunks.push(Hunk { before, after }),
        }
    }
    hunks
}

/// Runs the engine and slides the changes to where git has them.
fn engine(algorithm: Algorithm, input: &InternedInput<&[u8]>) -> Vec<Hunk> {
    let mut diff = Diff::compute(algorithm, input);
    diff.postprocess_lines(input);
    diff.hunks().collect()
}

/// Estimates how many line visits a histogram search needs.
///
/// Each match that it finds costs it a walk over all lines that are left to compare, so scattered changes in many
/// lines would make it quadratic.
fn histogram_work(input: &InternedInput<&[u8]>) -> u64 {
    let (old, new) = (&input.before, &input.after);
    let equal = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[equal..], &new[equal..]);
    let equal = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[..old.len() - equal], &new[..new.len() - equal]);
    let lines = (old.len() + new.len()) as u64;
    let most = lines * old.len().min(new.len()) as u64;
    if most <= CHEAP_WORK { most } else { lines * matches(old, new, input.interner.num_tokens()) }
}

/// Returns the lines that are unique on both sides, as old and new index, in the order of the new side.
fn unique_lines(input: &InternedInput<&[u8]>, counts: &LineCounts) -> Vec<(usize, usize)> {
    let mut old_index = vec![0usize; input.interner.num_tokens() as usize];
    for (index, token) in input.before.iter().enumerate() {
        old_index[token.0 as usize] = index;
    }
    let unique = input.after.iter().enumerate().filter(|(_, token)| counts.is_unique(**token));
    unique.map(|(index, token)| (old_index[token.0 as usize], index)).collect()
}

/// Returns the first lines of windows of [`WINDOW_RUN`] lines that are unique on both sides, as old and new index, in
/// the order of the new side: where lines repeat, runs of them mostly do not.
fn unique_windows(input: &InternedInput<&[u8]>) -> Vec<(usize, usize)> {
    let state = FixedState::default();
    let key = |window: &[Token]| {
        let mut hasher = state.build_hasher();
        window.iter().for_each(|token| hasher.write_u32(token.0));
        hasher.finish()
    };
    // How often a window stands on the old and on the new side (more than once counts as twice), and where first.
    let mut seen: HashMap<u64, (u8, u8, usize, usize), FixedState> = HashMap::with_hasher(state.clone());
    for (index, window) in input.before.windows(WINDOW_RUN).enumerate() {
        let entry = seen.entry(key(window)).or_insert((0, 0, index, 0));
        entry.0 = (entry.0 + 1).min(2);
    }
    for (index, window) in input.after.windows(WINDOW_RUN).enumerate() {
        if let Some(entry) = seen.get_mut(&key(window)) {
            entry.1 = (entry.1 + 1).min(2);
            entry.3 = index;
        }
    }
    let once = seen.into_values().filter(|&(old, new, ..)| (old, new) == (1, 1));
    let is_equal = |&(old, new): &(usize, usize)| {
        input.before[old..old + WINDOW_RUN] == input.after[new..new + WINDOW_RUN]
    };
    let mut pairs: Vec<(usize, usize)> = once.map(|(.., old, new)| (old, new)).filter(is_equal).collect();
    pairs.sort_unstable_by_key(|&(_, new)| new);
    pairs
}

/// Returns the longest list of pairs that are in the same order on both sides; `pairs` are in that of the new one.
fn longest_in_order(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // Patience: `piles` holds, for each length, the pair that ends the best list of that length so far.
    let mut piles: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, pair) in pairs.iter().enumerate() {
        let length = piles.partition_point(|&top| pairs[top].0 < pair.0);
        before.push(length.checked_sub(1).map(|shorter| piles[shorter]));
        if length == piles.len() {
            piles.push(index);
        } else {
            piles[length] = index;
        }
    }
    let mut list: Vec<(usize, usize)> = std::iter::successors(piles.last().copied(), |&index| before[index])
        .map(|index| pairs[index])
        .collect();
    list.reverse();
    list
}

/// Searches between the lines of `in_step`, which are pairs of equal lines in the same order on both sides.
fn search_between(input: &InternedInput<&[u8]>, in_step: &[(usize, usize)]) -> Vec<Hunk> {
    let ends = (input.before.len(), input.after.len());
    let mut hunks = Vec::new();
    let mut gap = InternedInput::default();
    let (mut old, mut new) = (0, 0);
    for &(old_end, new_end) in in_step.iter().chain(std::iter::once(&ends)) {
        if old < old_end || new < new_end {
            // The unique lines around the gap go with it: no change can slide past them, and the heuristic sees them.
            let (old_start, new_start) = (old.saturating_sub(1), new.saturating_sub(1));
            gap.clear();
            gap.update_before(lines_of(input, &input.before[old_start..ends.0.min(old_end + 1)]));
            gap.update_after(lines_of(input, &input.after[new_start..ends.1.min(new_end + 1)]));
            let is_cheap = histogram_work(&gap) <= CHEAP_WORK;
            let algorithm = if is_cheap { Algorithm::Histogram } else { Algorithm::Myers };
            let (old_base, new_base) = (engine_index(old_start), engine_index(new_start));
            hunks.extend(engine(algorithm, &gap).into_iter().map(|hunk| Hunk {
                before: hunk.before.start + old_base..hunk.before.end + old_base,
                after: hunk.after.start + new_base..hunk.after.end + new_base,
            }));
        }
        (old, new) = (old_end + 1, new_end + 1);
    }
    hunks
}

/// Estimates how many matches histogram will find: into how few pieces of `old` can `new` be cut.
///
/// Greedy, and blind to the order of the pieces, so it may be too low; it is linear, which the search is not.
fn matches(old: &[Token], new: &[Token], distinct_lines: u32) -> u64 {
    let places = Places::of(old, distinct_lines);
    let mut pieces = 0;
    let mut line_index = 0;
    while line_index < new.len() {
        let candidates = places.of_line(new[line_index]);
        let mut longest = 1;
        if (1..=HISTOGRAM_PLACES).contains(&candidates.len()) {
            pieces += 1;
            for &candidate in candidates {
                let pairs = old[candidate as usize..].iter().zip(&new[line_index..]);
                longest = longest.max(pairs.take_while(|(old, new)| old == new).count());
            }
        }
        line_index += longest;
    }
    pieces
}

/// Where each distinct line stands in one side.
struct Places {
    /// Where the places of each distinct line begin in `places`, and one more.
    starts: Vec<u32>,
    places: Vec<u32>,
}

impl Places {
    fn of(side: &[Token], distinct_lines: u32) -> Self {
        let mut starts = vec![0u32; distinct_lines as usize + 2];
        for token in side {
            starts[token.0 as usize + 2] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut places = vec![0; side.len()];
        for (line_index, token) in (0u32..).zip(side) {
            let next = &mut starts[token.0 as usize + 1];
            places[*next as usize] = line_index;
            *next += 1;
        }
        Places { starts, places }
    }

    fn of_line(&self, token: Token) -> &[u32] {
        let index = token.0 as usize;
        &self.places[self.starts[index] as usize..self.starts[index + 1] as usize]
    }
}

/// Tells whether so many equal lines as an anchor needs stand around a pair of them.
fn has_long_run(input: &InternedInput<&[u8]>, (old, new): (usize, usize)) -> bool {
    let (old, new) = (input.before.split_at(old), input.after.split_at(new));
    let above = old.0.iter().rev().zip(new.0.iter().rev()).take(ANCHOR_LINES);
    let below = old.1.iter().zip(new.1).take(ANCHOR_LINES);
    let above = above.take_while(|(old, new)| old == new).count();
    above + below.take_while(|(old, new)| old == new).count() >= ANCHOR_LINES
}

/// How often each distinct line occurs on each side.
struct LineCounts {
    old: Vec<u32>,
    new: Vec<u32>,
}

impl LineCounts {
    fn of(input: &InternedInput<&[u8]>) -> Self {
        let count = |side: &[Token]| {
            let mut counts = vec![0; input.interner.num_tokens() as usize];
            side.iter().for_each(|token| counts[token.0 as usize] += 1);
            counts
        };
        LineCounts { old: count(&input.before), new: count(&input.after) }
    }

    /// Tells whether a line of the old side stands on the new one too.
    fn is_common(&self, token: Token) -> bool {
        self.new[token.0 as usize] > 0
    }

    fn is_unique(&self, token: Token) -> bool {
        self.old[token.0 as usize] == 1 && self.new[token.0 as usize] == 1
    }
}

/// The lines of a window that can anchor it: long enough, and unique on both sides.
struct AnchorLines {
    is_anchor: Vec<bool>,
    /// Whether one of them stands among enough equal lines, wherever a search may find changes.
    exist: bool,
}

impl AnchorLines {
    fn of(input: &InternedInput<&[u8]>) -> Self {
        let counts = LineCounts::of(input);
        let is_anchor =
            |token: &Token| counts.is_unique(*token) && input.interner[*token].len() >= ANCHOR_BYTES;
        let is_anchor: Vec<bool> = input.before.iter().map(is_anchor).collect();
        let unique = unique_lines(input, &counts);
        let exist = unique.iter().any(|&pair| is_anchor[pair.0] && has_long_run(input, pair));
        AnchorLines { is_anchor, exist }
    }

    /// Returns the index of the first old line that proves both sides to be in step: an anchor line in a long enough
    /// run of equal lines after the first change.
    ///
    /// No change can slide past such a line, so what is decided before it does not depend on where the window ends.
    fn first_in_step(&self, input: &InternedInput<&[u8]>, hunks: &[Hunk]) -> Option<u32> {
        let mut hunks = hunks.iter().peekable();
        while let Some(hunk) = hunks.next() {
            let run_start = hunk.before.end as usize;
            let run_end = hunks.peek().map_or(input.before.len(), |next| next.before.start as usize);
            if run_end - run_start < ANCHOR_LINES {
                continue;
            }
            // The last line of the run is left out, since the heuristic looks at the line after a change, too.
            let run = &self.is_anchor[run_start..run_end - 1];
            if let Some(index) = run.iter().position(|&is_anchor| is_anchor) {
                return Some(engine_index(run_start + index));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Applies the changes of a diff to the old text, and checks what [`LineDiff`] promises.
    fn rebuild(old: &[u8], new: &[u8], diff: &LineDiff) -> Vec<u8> {
        let is_border =
            |text: &[u8], offset: usize| offset == 0 || offset == text.len() || text[offset - 1] == b'\n';
        let mut rebuilt = Vec::new();
        let mut end: Option<Place> = None;
        for change in &diff.changes {
            let place = end.unwrap_or_default();
            assert!(!change.old.is_empty() || !change.new.is_empty());
            assert!(end.is_none() || change.old.start > place.old, "{diff:?}");
            assert_eq!(change.old.start - place.old, change.new.start - place.new, "{diff:?}");
            for offset in [change.old.start, change.old.end] {
                assert!(is_border(old, offset), "{diff:?}");
            }
            for offset in [change.new.start, change.new.end] {
                assert!(is_border(new, offset), "{diff:?}");
            }
            rebuilt.extend_from_slice(&old[place.old..change.old.start]);
            rebuilt.extend_from_slice(&new[change.new.clone()]);
            end = Some(Place { old: change.old.end, new: change.new.end });
        }
        rebuilt.extend_from_slice(&old[end.unwrap_or_default().old..]);
        rebuilt
    }

    /// Compares as if the texts were large.
    fn resynchronised(old: &[u8], new: &[u8]) -> LineDiff {
        let mut walk = Walk { old, new, changes: Vec::new(), is_coarse: false, work: HISTOGRAM_WORK };
        walk.resynchronise();
        LineDiff { changes: walk.changes, is_coarse: walk.is_coarse }
    }

    /// Numbers that look random and are the same on every run.
    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: usize) -> usize {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) as usize % limit
        }
    }

    /// Returns source text with some edits of the kinds that people and models make.
    fn edited(source: &[&str], random: &mut Random) -> Vec<String> {
        let mut lines: Vec<String> = source.iter().map(|&line| line.to_owned()).collect();
        for _ in 0..=random.below(8) {
            let at = random.below(lines.len().saturating_sub(60).max(1));
            let length = 1 + random.below(12);
            match random.below(6) {
                0 => lines[at].push_str(" // changed"),
                1 => drop(lines.drain(at..at + length)),
                2 => lines.insert(at, String::new()),
                3 => {
                    let copied = lines[at..at + length].to_vec();
                    lines.splice(at..at, copied);
                }
                4 => {
                    let moved: Vec<String> = lines.drain(at..at + 2 * length).collect();
                    let to = random.below(lines.len() - 60);
                    lines.splice(to..to, moved);
                }
                _ => lines[at..at + length].iter_mut().for_each(|line| line.insert_str(0, "    ")),
            }
        }
        lines
    }

    fn text(lines: &[impl AsRef<str>]) -> Vec<u8> {
        lines.iter().flat_map(|line| [line.as_ref().as_bytes(), b"\n"].concat()).collect()
    }

    const SOURCES: [&str; 4] = [
        include_str!("../text/document.rs"),
        include_str!("../text/splice.rs"),
        include_str!("words.rs"),
        include_str!("hunks.rs"),
    ];

    #[test]
    fn moved_blocks_of_few_lines_are_held_in_step_by_runs() {
        let row = |index: usize| format!("row {}\n", index * 7919 % 100_003 % 40);
        let block = |number: usize| (number * 2000..(number + 1) * 2000).map(row).collect::<String>();
        let old: String = (0..20).map(block).collect();
        let new: String = [0, 3, 1, 2].into_iter().chain(5..20).chain([4]).map(block).collect();
        let diff = diff_lines(old.as_bytes(), new.as_bytes());
        let removed: usize = diff.changes.iter().map(|change| old[change.old.clone()].lines().count()).sum();
        // Two blocks moved: what is removed is about those, and not a mix of lines that happen to be equal.
        assert!(removed <= 2 * 2000 + 100, "{removed}");
        let mut rebuilt = String::new();
        let mut copied = 0;
        for change in &diff.changes {
            rebuilt.push_str(&old[copied..change.old.start]);
            rebuilt.push_str(&new[change.new.clone()]);
            copied = change.old.end;
        }
        rebuilt.push_str(&old[copied..]);
        assert!(rebuilt == new);
    }

    #[test]
    fn changes_are_whole_lines_and_endings_count() {
        let check = |old: &[u8], new: &[u8], expected: Option<(Range<usize>, Range<usize>)>| {
            let changes: Vec<Changed> = expected.into_iter().map(|(old, new)| Changed { old, new }).collect();
            assert_eq!(diff_lines(old, new), LineDiff { changes, is_coarse: false }, "{old:?} {new:?}");
        };
        check(b"", b"", None);
        check(b"", b"a", Some((0..0, 0..1)));
        check(b"a\nb", b"a\nb\n", Some((2..3, 2..4)));
        check(b"a\r\nb\n", b"a\nb\n", Some((0..3, 0..2)));
        check(b"a\nb\nc\n", b"a\nc\n", Some((2..4, 2..2)));
        check(b"a\nc\n", b"a\nb\nc\n", Some((2..2, 2..4)));
        check(b"a\n", b"a\nb", Some((2..2, 2..3)));
    }

    #[test]
    fn an_inserted_block_keeps_its_blank_line_where_git_has_it() {
        let old = b"fn a() {\n    x();\n}\n\nfn c() {\n    x();\n}\n";
        let new = b"fn a() {\n    x();\n}\n\nfn b() {\n    x();\n}\n\nfn c() {\n    x();\n}\n";
        assert_eq!(diff_lines(old, new).changes, [Changed { old: 21..21, new: 21..42 }]);
    }

    #[test]
    fn too_large_repetitive_sides_are_one_coarse_change() {
        let old = [b"head line\n".as_slice(), &b"a\nb\n".repeat(340_000), b"tail line\n"].concat();
        let new = [b"head line\n".as_slice(), &b"b\nb\na\n".repeat(230_000), b"tail line\n"].concat();
        let diff = diff_lines(&old, &new);
        assert!(diff.is_coarse);
        assert_eq!(rebuild(&old, &new, &diff), new);
        assert_eq!(diff.changes.len(), 1);
        assert_eq!(diff.changes[0].old.start, 10);
    }

    #[test]
    fn scattered_changes_in_many_lines_do_not_use_up_more_than_the_budget() {
        let old: Vec<String> = (0..60_000).map(|index| format!("a line with the number {index}")).collect();
        let new: Vec<String> = old
            .iter()
            .enumerate()
            .map(|(index, line)| if index % 2 == 0 { line.clone() } else { format!("{index}") })
            .collect();
        let (old, new) = (text(&old), text(&new));
        let diff = diff_lines(&old, &new);
        assert_eq!(rebuild(&old, &new, &diff), new);
        assert_eq!((diff.changes.len(), diff.is_coarse), (30_000, false));
    }

    #[test]
    fn windows_give_what_the_whole_gives_on_source_text() {
        let lines: Vec<&str> = SOURCES.iter().flat_map(|source| source.lines()).collect();
        let mut random = Random(5);
        let mut same = 0;
        for _ in 0..200 {
            let (old, new) = (text(&lines), text(&edited(&lines, &mut random)));
            let windows = resynchronised(&old, &new);
            assert_eq!(rebuild(&old, &new, &windows), new);
            same += usize::from(windows == diff_lines(&old, &new));
        }
        assert!(same >= 196, "{same} of 200");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the oracle is another program, and reads files")]
    fn hunks_are_those_of_git() {
        use std::process::Command;

        let git = |folder: &std::path::Path| {
            let mut command = Command::new("git");
            command.current_dir(folder).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
            command
        };
        let folder = tempfile::tempdir().unwrap();
        if git(folder.path()).arg("--version").output().is_err() {
            println!("not compared with git: there is none on PATH");
            return;
        }
        let mut random = Random(11);
        let mut same = 0;
        let pairs = 100;
        for index in 0..pairs {
            let lines: Vec<&str> = SOURCES[index % SOURCES.len()].lines().collect();
            let (old, new) = (text(&lines), text(&edited(&lines, &mut random)));
            std::fs::write(folder.path().join("old"), &old).unwrap();
            std::fs::write(folder.path().join("new"), &new).unwrap();
            let options = ["diff", "--no-index", "--no-color", "--diff-algorithm=histogram", "old", "new"];
            let output = git(folder.path()).args(options).output().unwrap();
            let theirs = changes_of(&String::from_utf8(output.stdout).unwrap());
            let ours: Vec<_> =
                diff_lines(&old, &new).changes.iter().map(|change| line_ranges(&old, &new, change)).collect();
            if theirs == ours {
                same += 1;
            } else {
                println!("pair {index}: git {theirs:?}, here {ours:?}");
            }
        }
        assert!(same * 100 >= pairs * 98, "{same} of {pairs}");
    }

    /// Returns the line index ranges that a change covers.
    fn line_ranges(old: &[u8], new: &[u8], change: &Changed) -> (Range<usize>, Range<usize>) {
        let index = |text: &[u8], offset: usize| lines_with_ends(&text[..offset]).count();
        let side = |text, range: &Range<usize>| index(text, range.start)..index(text, range.end);
        (side(old, &change.old), side(new, &change.new))
    }

    /// Reads the changes out of a unified diff with context. (Without context git looks at less of the file.)
    fn changes_of(unified: &str) -> Vec<(Range<usize>, Range<usize>)> {
        let mut changes: Vec<(Range<usize>, Range<usize>)> = Vec::new();
        let (mut old, mut new) = (0, 0);
        for line in unified.lines().skip_while(|line| !line.starts_with("@@")) {
            if let Some(header) = line.strip_prefix("@@ -") {
                let mut starts = header
                    .split(" +")
                    .map(|side| side.split([',', ' ']).next().unwrap().parse::<usize>().unwrap());
                (old, new) = (starts.next().unwrap() - 1, starts.next().unwrap() - 1);
                continue;
            }
            let (old_lines, new_lines) = match &line[..1] {
                "-" => (1, 0),
                "+" => (0, 1),
                " " => (1, 1),
                _ => continue,
            };
            if old_lines != new_lines {
                match changes.last_mut() {
                    Some(last) if (last.0.end, last.1.end) == (old, new) => {
                        (last.0.end, last.1.end) = (old + old_lines, new + new_lines);
                    }
                    _ => changes.push((old..old + old_lines, new..new + new_lines)),
                }
            }
            (old, new) = (old + old_lines, new + new_lines);
        }
        changes
    }

    proptest! {
        #[test]
        fn changes_lead_from_old_to_new(
            old in prop::collection::vec(prop::sample::select(&b"ab\r\n\n"[..]), 0..80),
            new in prop::collection::vec(prop::sample::select(&b"ab\r\n\n"[..]), 0..80),
        ) {
            for diff in [diff_lines(&old, &new), resynchronised(&old, &new)] {
                prop_assert_eq!(rebuild(&old, &new, &diff), new.clone());
            }
        }

        #[test]
        fn any_bytes_can_be_compared(
            old in prop::collection::vec(any::<u8>(), 0..80),
            new in prop::collection::vec(any::<u8>(), 0..80),
        ) {
            prop_assert_eq!(rebuild(&old, &new, &diff_lines(&old, &new)), new);
        }

        #[test]
        fn windows_lead_from_old_to_new(
            old in prop::collection::vec(0usize..30, 0..1500),
            edits in prop::collection::vec((0usize..1500, 0usize..200, prop::collection::vec(0usize..30, 0..100)), 0..6),
        ) {
            let line = |&kind: &usize| if kind < 4 { "}".to_owned() } else { format!("a longer line {kind}") };
            let mut new = old.clone();
            for (at, removed, added) in edits {
                let at = at.min(new.len());
                let end = (at + removed).min(new.len());
                new.splice(at..end, added);
            }
            let texts = |kinds: &[usize]| text(&kinds.iter().map(line).collect::<Vec<_>>());
            let (old, new) = (texts(&old), texts(&new));
            prop_assert_eq!(rebuild(&old, &new, &resynchronised(&old, &new)), new);
        }

        #[test]
        fn lists_of_lines_are_compared_like_texts(
            old in prop::collection::vec("[ab]", 0..20),
            new in prop::collection::vec("[ab]", 0..20),
        ) {
            let old_lines: Vec<&str> = old.iter().map(String::as_str).collect();
            let new_lines: Vec<&str> = new.iter().map(String::as_str).collect();
            let ranges = diff_line_lists(&old_lines, &new_lines);
            // Every line has two bytes.
            let bytes = |range: Range<usize>| 2 * range.start..2 * range.end;
            let changes = ranges.into_iter().map(|(old, new)| Changed { old: bytes(old), new: bytes(new) }).collect();
            let (old, new) = (text(&old), text(&new));
            let diff = LineDiff { changes, is_coarse: false };
            prop_assert_eq!(rebuild(&old, &new, &diff), new.clone());
            let changed = |diff: &LineDiff| diff.changes.iter().map(|change| change.old.len() + change.new.len()).sum::<usize>();
            prop_assert!(changed(&diff) <= changed(&diff_lines(&old, &new)));
        }

        #[test]
        fn a_single_change_is_what_a_search_finds(
            old in prop::collection::vec("[a-f]", 1..8),
            new in prop::collection::vec("[a-f]", 1..8),
        ) {
            let (old, new): (Vec<&str>, Vec<&str>) =
                (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
            if let Some(only) = only_change(&old, &new) {
                prop_assert_eq!(only.into_iter().collect::<Vec<_>>(), searched_lists(&old, &new));
            }
        }

        #[test]
        fn searching_between_unique_lines_leads_from_old_to_new(
            old in prop::collection::vec("[a-z]", 0..40),
            new in prop::collection::vec("[a-z]", 0..40),
        ) {
            let (old, new) = (text(&old), text(&new));
            let input = intern(&old, &new);
            let hunks = search_between(&input, &longest_in_order(&unique_lines(&input, &LineCounts::of(&input))));
            let mut walk = Walk { old: &old, new: &new, changes: Vec::new(), is_coarse: false, work: 0 };
            walk.accept(&input, &hunks, Place::default(), u32::MAX);
            let diff = LineDiff { changes: walk.changes, is_coarse: false };
            prop_assert_eq!(rebuild(&old, &new, &diff), new);
        }
    }
}
