//! One hunk's old side to all its places on the first rung that has any, or the nearest miss.
//!
//! The rungs, each with those before it: exact; blanks at line ends; indentation (one map for the whole hunk); unicode
//! lookalikes; outer context lines that differ. Every removed line matches on the hunk's rung, no similarity score
//! decides, and every condition (anchors, the end-of-file mark) holds on every rung.

use std::ops::Range;

use memchr::memmem;

use crate::patch::LineHunk;
use crate::report::Rung;
use crate::text::Document;
use crate::text::document::LineSpan;

use super::anchor;
use super::anchor::AnchorSpan;
use super::fold;
use super::fold::IndentMap;
use super::shape::OldLine;
use super::shape::Shape;
use super::table::LineTable;
use super::table::Occurrence;

/// Up to so many hunks are looked for one by one with a substring search; more share one pass over all lines.
const FEW_HUNKS: usize = 4;
/// The context rung needs so many matching bytes that are not blanks.
const CONTEXT_MATCH_BYTES: usize = 24;

/// The rungs, strictest first.
const RUNGS: [Rung; 5] = [Rung::Exact, Rung::TrailingBlanks, Rung::Indentation, Rung::Unicode, Rung::Context];

/// A place where a hunk's old side stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Byte offset of the first old line that matched; of an insertion without old lines, where it goes.
    pub start: usize,
    /// Byte offset behind the last old line that matched.
    pub end: usize,
    /// 0-based number of the line at `start`.
    pub line_index: usize,
    /// The old lines that matched: all, but for outer context lines on the context rung.
    pub matched: Range<usize>,
    /// How strictly.
    pub rung: Rung,
    /// How added lines are indented.
    pub indent: IndentMap,
}

/// What the search for one hunk came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Its places on the strictest rung that has any, in file order; at least one.
    Places(Vec<Place>),
    /// Its new side stands exactly once, its old side nowhere exactly.
    AlreadyApplied {
        /// 0-based number of the line where it begins.
        line_index: usize,
    },
    /// It stands nowhere.
    Missing(Miss),
}

/// Why a hunk stands nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Miss {
    /// This anchor is not in the file.
    Anchor(Vec<u8>),
    /// The text stands in the file, but not where the anchor wants it; 0-based number of a line where it does.
    NotAfterAnchor(usize),
    /// The text stands in the file, but not at its end; 0-based number of a line where it does.
    NotAtEnd(usize),
    /// Lines are added with nothing that tells where.
    Nowhere,
    /// The text is not in the file; where most of its lines would lie, if any of them is there.
    Text(Option<Votes>),
}

/// The alignment of a hunk with a file that lays most of its old lines on equal ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Votes {
    /// The old line that this is told by.
    pub old_index: usize,
    /// Where it stands in the file.
    pub occurrence: Occurrence,
}

/// What is asked of the matcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// The most lenient rung.
    pub most_lenient: Rung,
    /// Lines that are added with nothing that tells where go to the end of the file.
    pub appends: bool,
}

/// Finds the places of hunks of one file edit, each by itself.
pub fn locate_all(document: &Document, hunks: &[&LineHunk], rules: Rules) -> Vec<Found> {
    let searches: Vec<Search<'_>> = hunks.iter().map(|hunk| Search::new(document, hunk, rules)).collect();
    let mut found: Vec<Option<Found>> = searches
        .iter()
        .map(|search| match search.without_old_side() {
            Some(found) => Some(found),
            None if hunks.len() <= FEW_HUNKS => search.exact_by_substring().map(Found::Places),
            None => None,
        })
        .collect();
    if found.iter().any(Option::is_none) {
        let open =
            || searches.iter().zip(&found).filter(|(_, found)| found.is_none()).map(|(search, _)| search);
        let mut table =
            LineTable::wanting(open().flat_map(|search| {
                search.shape.old.iter().chain(&search.postimage.old).map(|line| line.text)
            }));
        table.fill(document.bytes(), document.text_start());
        for (search, found) in searches.iter().zip(&mut found) {
            found.get_or_insert_with(|| search.by_table(&table));
        }
    }
    found.into_iter().map(|found| found.unwrap_or(Found::Missing(Miss::Nowhere))).collect()
}

/// One hunk to be found in one document.
struct Search<'a> {
    document: &'a Document,
    shape: Shape<'a>,
    postimage: Shape<'a>,
    hunk: &'a LineHunk,
    anchors: Result<Option<Vec<AnchorSpan>>, Vec<u8>>,
    rules: Rules,
}

impl<'a> Search<'a> {
    fn new(document: &'a Document, hunk: &'a LineHunk, rules: Rules) -> Self {
        let shape = Shape::of(hunk);
        Search {
            document,
            postimage: shape.postimage(),
            shape,
            hunk,
            anchors: anchor::resolve(document, &hunk.anchors),
            rules,
        }
    }

    fn bytes(&self) -> &'a [u8] {
        self.document.bytes()
    }

    /// Answers for a hunk that needs no search: a missing anchor, or no old lines.
    fn without_old_side(&self) -> Option<Found> {
        let anchors = match &self.anchors {
            Err(missing) => return Some(Found::Missing(Miss::Anchor(missing.clone()))),
            Ok(anchors) => anchors,
        };
        if !self.shape.old.is_empty() {
            return None;
        }
        let end = self.bytes().len();
        let at = |start: usize| self.insertion_at(start);
        Some(match anchors {
            _ if self.hunk.at_end_of_file => Found::Places(vec![at(end)]),
            Some(spans) => Found::Places(spans.iter().map(|span| at(span.end)).collect()),
            None if self.hunk.stated_old_lines == Some(0) => {
                match self.end_of_line(self.hunk.stated_old_start) {
                    Some(start) => Found::Places(vec![at(start)]),
                    None => Found::Missing(Miss::Nowhere),
                }
            }
            None if self.document.text().is_empty() || self.rules.appends => Found::Places(vec![at(end)]),
            None => Found::Missing(Miss::Nowhere),
        })
    }

    fn insertion_at(&self, start: usize) -> Place {
        Place {
            start,
            end: start,
            line_index: line_index_at(self.document, start),
            matched: 0..0,
            rung: Rung::Exact,
            indent: IndentMap::Same,
        }
    }

    /// Returns the byte offset behind the line with this 1-based number; 0 is the top.
    fn end_of_line(&self, line_number: Option<usize>) -> Option<usize> {
        match line_number? {
            0 => Some(self.document.text_start()),
            number => self.document.lines().nth(number - 1).map(|line| line.end),
        }
    }

    /// Returns the exact places, found by a search for the longest old line; `None` if there is none.
    fn exact_by_substring(&self) -> Option<Vec<Place>> {
        let pivot = (0..self.shape.old.len()).max_by_key(|&index| self.shape.old[index].text.len())?;
        let text = self.shape.old[pivot].text;
        if text.is_empty() {
            return None;
        }
        let bytes = self.bytes();
        let mut places = Vec::new();
        for offset in memmem::find_iter(bytes, text) {
            let is_line_start =
                offset == self.document.text_start() || offset > 0 && bytes[offset - 1] == b'\n';
            if is_line_start && LineSpan::at(bytes, offset).text_end == offset + text.len() {
                places.extend(self.verify(&self.shape, pivot, offset, Rung::Exact));
            }
        }
        self.number(&mut places);
        let places = self.conditioned(&self.shape, places);
        (!places.is_empty()).then_some(places)
    }

    fn by_table(&self, table: &LineTable) -> Found {
        let places = self.candidates(&self.shape, table, self.rules.most_lenient);
        for rung in RUNGS {
            let on_rung = places.iter().filter(|place| place.rung <= rung).cloned().collect();
            let allowed = self.conditioned(&self.shape, on_rung);
            if !allowed.is_empty() {
                return Found::Places(allowed);
            }
            if let (Rung::Exact, Some(line_index)) = (rung, self.already_applied(table)) {
                return Found::AlreadyApplied { line_index };
            }
        }
        Found::Missing(match places.first() {
            Some(place) if self.hunk.at_end_of_file => Miss::NotAtEnd(place.line_index),
            Some(place) if !self.hunk.anchors.is_empty() => Miss::NotAfterAnchor(place.line_index),
            Some(place) => Miss::NotAtEnd(place.line_index),
            None => Miss::Text(votes(self.shape.old.iter().map(|line| line.text), table)),
        })
    }

    /// Returns where the new side stands, if it stands exactly once and says enough to tell.
    fn already_applied(&self, table: &LineTable) -> Option<usize> {
        let tells = self.shape.has_inserts() || self.shape.has_context_on_both_sides();
        if self.postimage.old.is_empty() || self.shape.changes.is_empty() || !tells {
            return None;
        }
        let places = self.conditioned(&self.postimage, self.candidates(&self.postimage, table, Rung::Exact));
        match places.as_slice() {
            [place] => Some(place.line_index),
            _ => None,
        }
    }

    /// Returns every place of a shape on every rung up to `most_lenient`, in file order, conditions aside.
    fn candidates(&self, shape: &Shape<'_>, table: &LineTable, most_lenient: Rung) -> Vec<Place> {
        let core = shape.core();
        let rarest = core.min_by_key(|&index| table.occurrences(shape.old[index].text).len());
        let Some(pivot) = rarest else { return Vec::new() };
        let mut places = Vec::new();
        for occurrence in table.occurrences(shape.old[pivot].text) {
            let Some(mut place) = self.verify(shape, pivot, occurrence.start, most_lenient) else { continue };
            place.line_index = occurrence.line_index + place.matched.start - pivot;
            places.push(place);
        }
        places
    }

    /// Compares a shape with the file, its old line `pivot` laid on the line at `offset`.
    ///
    /// The place's line number is not set.
    fn verify(&self, shape: &Shape<'_>, pivot: usize, offset: usize, most_lenient: Rung) -> Option<Place> {
        let bytes = self.bytes();
        let core = shape.core();
        let mut rung = Rung::Exact;
        let mut lines: Vec<LineSpan> = Vec::with_capacity(shape.old.len());
        // Upward from the pivot, then downward; a line outside of the core may end the match instead of failing it.
        let mut matched = pivot..pivot;
        let mut start = offset;
        while matched.start > 0 {
            let index = matched.start - 1;
            let line = (start > self.document.text_start()).then(|| self.document.line_before(start));
            match line.and_then(|line| Some((line, self.line_rung(shape, index, line)?))) {
                Some((line, line_rung)) if line_rung <= most_lenient => {
                    rung = rung.max(line_rung);
                    lines.push(line);
                    start = line.start;
                    matched.start = index;
                }
                _ if index < core.start => break,
                _ => return None,
            }
        }
        lines.reverse();
        let mut end = offset;
        while matched.end < shape.old.len() {
            let line = (end < bytes.len()).then(|| LineSpan::at(bytes, end));
            match line.and_then(|line| Some((line, self.line_rung(shape, matched.end, line)?))) {
                Some((line, line_rung)) if line_rung <= most_lenient => {
                    rung = rung.max(line_rung);
                    lines.push(line);
                    end = line.end;
                    matched.end += 1;
                }
                _ if matched.end >= core.end => break,
                _ => return None,
            }
        }
        let mut indent = IndentMap::Same;
        if rung >= Rung::Indentation {
            indent = match self.indent_map(shape, matched.start, &lines) {
                Some(map) => map,
                // An outer context line of another indentation is one that differs.
                None => {
                    let (map, fitting) = self.indent_map_of_core(shape, &matched, &lines)?;
                    let kept = &lines[fitting.start - matched.start..fitting.end - matched.start];
                    (start, end) = (kept.first()?.start, kept.last()?.end);
                    matched = fitting;
                    map
                }
            };
        }
        if matched != (0..shape.old.len()) {
            if most_lenient < Rung::Context || !self.context_is_enough(shape, &matched) {
                return None;
            }
            rung = Rung::Context;
        }
        Some(Place { start, end, line_index: 0, matched, rung, indent })
    }

    fn line_rung(&self, shape: &Shape<'_>, index: usize, line: LineSpan) -> Option<Rung> {
        let old = &shape.old[index];
        if old.has_no_newline && line.text_end < line.end {
            return None;
        }
        fold::line_rung(line.text(self.bytes()), old.text)
    }

    /// Returns the one map of indentations for all matched lines, if it also reaches every added line.
    fn indent_map(&self, shape: &Shape<'_>, first: usize, lines: &[LineSpan]) -> Option<IndentMap> {
        let pairs: Vec<(Vec<u8>, Vec<u8>)> = lines
            .iter()
            .zip(&shape.old[first..])
            .filter_map(|(line, old)| self.indents(old, *line))
            .collect();
        let map = IndentMap::fit(&pairs)?;
        let reaches =
            shape.changes.iter().flat_map(|change| &change.added).all(|line| map.line(line.text).is_some());
        reaches.then_some(map)
    }

    /// Returns the map for the lines that every rung needs, and how far the lines around them follow it.
    fn indent_map_of_core(
        &self,
        shape: &Shape<'_>,
        matched: &Range<usize>,
        lines: &[LineSpan],
    ) -> Option<(IndentMap, Range<usize>)> {
        let core = shape.core();
        let of = |index: usize| lines[index - matched.start];
        let map =
            self.indent_map(shape, core.start, &lines[core.start - matched.start..core.end - matched.start])?;
        let follows = |index: &usize| {
            let indents = self.indents(&shape.old[*index], of(*index));
            indents.is_none_or(|(patch, file)| map.indent(&patch) == Some(file))
        };
        let start = (matched.start..core.start).rev().take_while(follows).last().unwrap_or(core.start);
        let end = (core.end..matched.end).take_while(follows).last().map_or(core.end, |last| last + 1);
        Some((map, start..end))
    }

    /// Returns the indentation of an old line in the patch and in the file; none of a blank line.
    fn indents(&self, old: &OldLine<'_>, line: LineSpan) -> Option<(Vec<u8>, Vec<u8>)> {
        let indent = |text: &[u8]| fold::split_indent(&fold::fold(text)).0.to_vec();
        let is_blank = fold::trim(old.text).is_empty();
        (!is_blank).then(|| (indent(old.text), indent(line.text(self.bytes()))))
    }

    /// Tells whether so much of the old side matched that outer context lines may differ.
    fn context_is_enough(&self, shape: &Shape<'_>, matched: &Range<usize>) -> bool {
        let allowed = (shape.context_lines() / 5).max(1);
        let bytes: usize =
            shape.old[matched.clone()].iter().map(|line| fold::non_blank_bytes(line.text)).sum();
        shape.has_deletes() && shape.old.len() - matched.len() <= allowed && bytes >= CONTEXT_MATCH_BYTES
    }

    /// Keeps the places of a shape that the end-of-file mark and the anchors allow.
    fn conditioned(&self, shape: &Shape<'_>, mut places: Vec<Place>) -> Vec<Place> {
        let file_end = self.bytes().len();
        let ends_file = |place: &Place| place.end == file_end && place.matched.end == shape.old.len();
        if self.hunk.at_end_of_file || self.names_new_end() {
            places.retain(ends_file);
        }
        let Ok(Some(spans)) = &self.anchors else { return places };
        let repeats = |place: &Place| {
            let first = shape.old.first().map_or(&[][..], |line| line.text);
            self.hunk.anchors.last().is_some_and(|anchor| anchor::is_at_line_start(first, anchor))
                && place.matched.start == 0
        };
        let is_after = |place: &Place, span: &AnchorSpan| {
            place.start >= span.end || place.start == span.start && repeats(place)
        };
        match spans.as_slice() {
            [] => Vec::new(),
            [only] => places.into_iter().find(|place| is_after(place, only)).into_iter().collect(),
            [first, ..] => {
                places.retain(|place| is_after(place, first));
                places
            }
        }
    }

    /// Tells whether the hunk says that its new side ends the file without a newline.
    fn names_new_end(&self) -> bool {
        self.hunk.lines().any(|line| line.has_no_newline)
    }

    fn number(&self, places: &mut [Place]) {
        let (mut offset, mut line_index) = (self.document.text_start(), 0);
        for place in places {
            line_index += memchr::memchr_iter(b'\n', &self.bytes()[offset..place.start]).count();
            offset = place.start;
            place.line_index = line_index;
        }
    }
}

/// Returns the 0-based number of the line that begins at a byte offset (or, past the last one, would).
pub fn line_index_at(document: &Document, offset: usize) -> usize {
    let before = &document.bytes()[document.text_start()..offset];
    let newlines = memchr::memchr_iter(b'\n', before).count();
    // Behind a last line that has no newline, the next line would begin.
    newlines + usize::from(before.last().is_some_and(|&byte| byte != b'\n'))
}

/// So many occurrences of one line are counted as votes.
const VOTES_CAP: usize = 4096;
/// So many bytes of a line weigh.
const WEIGHT_CAP_BYTES: usize = 40;

/// Returns the alignment of `lines` with the file behind the table that has most equal text; the first of equals.
pub fn votes<'a>(lines: impl Iterator<Item = &'a [u8]>, table: &LineTable) -> Option<Votes> {
    let mut ballots: Vec<(usize, usize, Votes)> = Vec::new();
    for (old_index, text) in lines.enumerate() {
        let weight = fold::non_blank_bytes(text).min(WEIGHT_CAP_BYTES) + 1;
        for occurrence in table.occurrences(text).iter().take(VOTES_CAP) {
            if let Some(first) = occurrence.line_index.checked_sub(old_index) {
                ballots.push((first, weight, Votes { old_index, occurrence: *occurrence }));
            }
        }
    }
    ballots.sort_by_key(|(first, _, vote)| (*first, vote.old_index));
    let mut best: Option<(usize, Votes)> = None;
    for same in ballots.chunk_by(|one, other| one.0 == other.0) {
        let weight: usize = same.iter().map(|(_, weight, _)| weight).sum();
        if best.is_none_or(|(most, _)| weight > most) {
            best = Some((weight, same[0].2));
        }
    }
    best.map(|(_, vote)| vote)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::plan::sample::hunks;

    const DEFAULT: Rules = Rules { most_lenient: Rung::Context, appends: false };

    fn document(text: &str) -> Document {
        Document::new(text.as_bytes().to_vec())
    }

    /// What the search for a hunk comes to, in short: the rung and the 1-based lines, or why it is nowhere.
    fn said(document: &Document, found: &Found) -> String {
        match found {
            Found::Places(places) => {
                let lines: Vec<String> =
                    places.iter().map(|place| (place.line_index + 1).to_string()).collect();
                for place in places {
                    assert_eq!(line_index_at(document, place.start), place.line_index);
                }
                format!("{:?} {}", places[0].rung, lines.join(" "))
            }
            Found::AlreadyApplied { line_index } => format!("applied {}", line_index + 1),
            Found::Missing(Miss::Anchor(anchor)) => format!("no anchor {}", String::from_utf8_lossy(anchor)),
            Found::Missing(Miss::NotAfterAnchor(line_index)) => format!("before anchor {}", line_index + 1),
            Found::Missing(Miss::NotAtEnd(line_index)) => format!("not at end {}", line_index + 1),
            Found::Missing(Miss::Nowhere) => "nowhere".to_owned(),
            Found::Missing(Miss::Text(None)) => "missing".to_owned(),
            Found::Missing(Miss::Text(Some(votes))) => {
                format!("near {}", (votes.occurrence.line_index + 1).saturating_sub(votes.old_index))
            }
        }
    }

    fn check_with(rules: Rules, file: &str, hunk: &str, expected: &str) {
        let document = document(file);
        let hunks = hunks(hunk);
        let alone = locate_all(&document, &[&hunks[0]], rules).remove(0);
        assert_eq!(said(&document, &alone), expected, "{file:?}\n{hunk}");
        // Many hunks share one pass over the lines; that must not change the answer.
        let many = vec![&hunks[0]; FEW_HUNKS + 1];
        for found in locate_all(&document, &many, rules) {
            assert_eq!(found, alone, "many: {file:?}\n{hunk}");
        }
    }

    fn check(file: &str, hunk: &str, expected: &str) {
        check_with(DEFAULT, file, hunk, expected);
    }

    #[test]
    fn every_place_is_found() {
        check("a\nb\nc\n", "@@\n-b\n+x\n", "Exact 2");
        check("b\na\nb", "@@\n-b\n+x\n", "Exact 1 3");
        check("aa\naaa\naa\n", "@@\n-aa\n+x\n", "Exact 1 3");
        check("x\nx\nx\n", "@@\n x\n-x\n+y\n", "Exact 1 2");
        check("\u{FEFF}a\nb\n", "@@\n-a\n+x\n", "Exact 1");
        check("a\r\nb\nc\r\n", "@@\n a\n-b\n c\n", "Exact 1");
        check("a\rb\nc\n", "@@\n-a\rb\n+x\n", "Exact 1");
        check("a\n\n\nb\n", "@@\n-\n", "Exact 2 3");
        check("", "@@\n-a\n+b\n", "missing");
        check("a\nb\n", "@@\n b\n-c\n", "near 2");
    }

    #[test]
    fn the_strictest_rung_with_a_place_decides() {
        check("a  \na\n", "@@\n-a\n+x\n", "Exact 2");
        check("a  \nb\n", "@@\n-a\n+x\n", "TrailingBlanks 1");
        check("a\n", "@@\n-a \t\n+x\n", "TrailingBlanks 1");
        check("\tif x\n\t\ty\n", "@@\n if x\n-\ty\n+\tz\n", "Indentation 1");
        check("  a\n    a\n", "@@\n-a\n+x\n", "Indentation 1 2");
        check("    a\n\n    b\n", "@@\n-a\n-\n-b\n+c\n", "Indentation 1");
        check("\u{201C}a\u{201D}\n", "@@\n-\"a\"\n+x\n", "Unicode 1");
        check("\u{201C}a\u{201D}\n\"a\" \n", "@@\n-\"a\"\n+x\n", "TrailingBlanks 2");
    }

    #[test]
    fn one_map_of_indentation_holds_for_the_whole_hunk() {
        check("  a\n   b\n", "@@\n a\n-b\n+c\n", "near 1");
        check("\ta\n\t\tb\n", "@@\n     a\n-        b\n+        c\n", "Indentation 1");
        // The added line lies outside of what was taken away from the others.
        check("a\nb\n", "@@\n   a\n-  b\n+ c\n", "near 1");
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_line() {
        check("\u{FEFF}a\nlonger\n", "@@\n-a\n-longer\n+x\n", "Exact 1");
        check("\u{FEFF}\nlonger\n", "@@\n \n-longer\n+x\n", "Exact 1");
        check("\u{FEFF}a\nnew line\n", "@@\n a\n-old\n+new line\n", "applied 1");
        check("\u{FEFF}a \nlonger\n", "@@\n a\n-longer\n+x\n", "TrailingBlanks 1");
    }

    #[test]
    fn a_rung_can_be_forbidden() {
        let up_to = |most_lenient| Rules { most_lenient, appends: false };
        check_with(up_to(Rung::Exact), "a \n", "@@\n-a\n+x\n", "near 1");
        check_with(up_to(Rung::TrailingBlanks), "a \n", "@@\n-a\n+x\n", "TrailingBlanks 1");
        check_with(up_to(Rung::TrailingBlanks), "  a\n", "@@\n-a\n+x\n", "near 1");
        check_with(up_to(Rung::Indentation), "\u{201C}a\u{201D}\n", "@@\n-\"a\"\n+x\n", "near 1");
        let drifted = "first here\nsecond line here\nthird line here\nfourth line\n";
        let hunk = "@@\n first\n second line here\n-third line here\n+x\n fourth line\n";
        check_with(up_to(Rung::Unicode), drifted, hunk, "near 1");
        check_with(up_to(Rung::Context), drifted, hunk, "Context 2");
    }

    #[test]
    fn only_outer_context_may_differ_and_little_of_it() {
        let file = "one one one\ntwo two two\nthree three\nfour four\nfive five\n";
        check(file, "@@\n ONE\n two two two\n-three three\n+x\n four four\n", "Context 2");
        check(file, "@@\n one one one\n two two two\n-three three\n+x\n four four\n five\n", "Context 1");
        // A line at each end, of four: one more than allowed.
        check(file, "@@\n ONE\n two two two\n-three three\n+x\n four four\n FIVE\n", "near 1");
        // The context line next to the change.
        check(file, "@@\n one one one\n TWO\n-three three\n+x\n four four\n", "near 1");
        // A removed line.
        check(file, "@@\n ONE\n two two two\n-THREE\n+x\n four four\n", "near 1");
        // Fewer than 24 bytes match.
        check("k\ntwo\nthree\nfour\n", "@@\n K\n two\n-three\n+x\n four\n", "near 1");
        // Lines that are only added.
        check(file, "@@\n ONE\n two two two\n+x\n three three\n four four\n five five\n", "near 1");
    }

    #[test]
    fn an_outer_context_line_of_another_indentation_is_one_that_differs() {
        let file = "def main():\n    start_engine()\n    run_everything()\n    stop_engine()\ndone\n";
        let hunk = "@@\n   def main():\n     start_engine()\n-    run_everything()\n     stop_engine()\n";
        check(file, hunk, "Context 2");
        check_with(Rules { most_lenient: Rung::Unicode, appends: false }, file, hunk, "near 1");
        // Behind the change, with the whole hunk one indentation further in.
        let hunk = "@@\n def main():\n start_engine()\n-run_everything()\n stop_engine()\n     done\n";
        check(file, hunk, "near 1");
        let hunk = "@@\n start_engine()\n-run_everything()\n stop_engine()\n     done\n";
        check(file, hunk, "Context 2");
        // Next to the change.
        let hunk = "@@\n def main():\n   start_engine()\n-    run_everything()\n     stop_engine()\n";
        check(file, hunk, "near 1");
    }

    #[test]
    fn anchors_are_conditions() {
        let file = "fn a() {\n  x\n}\nfn b() {\n  x\n}\n";
        check(file, "@@ fn b() {\n-  x\n+  y\n", "Exact 5");
        check(file, "@@ fn a() {\n-  x\n+  y\n", "Exact 2");
        check(file, "@@ fn b\n-  x\n+  y\n", "Exact 5");
        check(file, "@@ fn c\n-  x\n+  y\n", "no anchor fn c");
        check(file, "@@ fn b() {\n fn a() {\n-  x\n+  y\n", "before anchor 1");
        check(file, "@@ fn b() {\n fn b() {\n-  x\n+  y\n", "Exact 4");
        // One that is there twice leaves every place behind the first.
        check(file, "@@ fn \n-  x\n+  y\n", "Exact 2 5");
        // The whole line beats its beginning; stacked ones are looked for in turn.
        check("a b\nx\na\nx\n", "@@ a\n-x\n+y\n", "Exact 4");
        check("f\nx\nA\nf\nx\nf\nx\n", "@@ A\n@@ f\n-x\n+y\n", "Exact 5");
        check("A\nx\n", "@@ x\n@@ A\n-x\n+y\n", "no anchor A");
        check("  \u{201C}a\u{201D}\nx\n", "@@ \"a\"\n-x\n+y\n", "Exact 2");
    }

    #[test]
    fn anchors_hold_on_every_rung() {
        check("x \nA\nx\n", "@@ A\n-x\n+y\n", "Exact 3");
        check("x\nA\nx \n", "@@ A\n-x\n+y\n", "TrailingBlanks 3");
        check("x\nA\n", "@@ A\n-x\n+y\n", "before anchor 1");
    }

    #[test]
    fn the_end_mark_is_a_condition() {
        check("a\nb\na\n", "@@\n-a\n+x\n*** End of File\n", "Exact 3");
        check("a\nb\na", "@@\n-a\n+x\n*** End of File\n", "Exact 3");
        check("a\nb\n", "@@\n-a\n+x\n*** End of File\n", "not at end 1");
        check("a\nb\na \n", "@@\n-a\n+x\n*** End of File\n", "TrailingBlanks 3");
        check("a\nb", "@@\n-b\n\\ No newline at end of file\n+x\n", "Exact 2");
        check("a\nb\n", "@@\n-b\n\\ No newline at end of file\n+x\n", "near 2");
    }

    #[test]
    fn added_lines_need_something_that_tells_where() {
        check("a\nb\n", "@@\n+x\n", "nowhere");
        check_with(Rules { appends: true, ..DEFAULT }, "a\nb\n", "@@\n+x\n", "Exact 3");
        check("", "@@\n+x\n", "Exact 1");
        check("\u{FEFF}", "@@\n+x\n", "Exact 1");
        check("a\nb\na\n", "@@ b\n+x\n", "Exact 3");
        check("a\nb\na\n", "@@ a\n+x\n", "Exact 2 4");
        check("a\nb\n", "@@\n+x\n*** End of File\n", "Exact 3");
        check("a\nb", "@@\n+x\n*** End of File\n", "Exact 3");
        check("a\nb\n", "@@ -1,0 +2,1 @@\n+x\n", "Exact 2");
        check("a\nb\n", "@@ -0,0 +1,1 @@\n+x\n", "Exact 1");
        check("a\nb\n", "@@ -9,0 +9,1 @@\n+x\n", "nowhere");
    }

    #[test]
    fn what_stands_already_is_told_from_what_is_missing() {
        check("a\nnew\n", "@@\n a\n-old\n+new\n", "applied 1");
        check("a\nnew\nq\na\nnew\n", "@@\n a\n-old\n+new\n", "near 1");
        check("a\nold\nq\na\nnew\n", "@@\n a\n-old\n+new\n", "Exact 1");
        // The old side stands loosely: the new one that stands exactly comes first.
        check("a\nold \na\nnew\n", "@@\n a\n-old\n+new\n", "applied 3");
        check("a\nb\n", "@@\n a\n-old\n b\n", "applied 1");
        check("a\nb\n", "@@\n a\n-old\n", "near 1");
        check("q\na\nnew\n", "@@ q\n a\n-old\n+new\n", "applied 2");
        check("a\nnew\nq\n", "@@ q\n a\n-old\n+new\n", "near 1");
    }

    #[test]
    fn what_stands_already_at_the_marked_end_is_told() {
        check("x\nb\n", "@@\n x\n-a\n+b\n*** End of File\n", "applied 1");
        check("x\nb\nc\n", "@@\n x\n-a\n+b\n+c\n*** End of File\n", "applied 1");
        check("x\nb\nc\n", "@@\n x\n-a\n+b\n*** End of File\n", "near 1");
        check("x\n", "@@\n x\n-a\n-b\n+\n*** End of File\n", "near 1");
    }

    #[test]
    fn an_anchor_repeated_in_the_hunk_that_is_applied_is_no_hindrance() {
        check("q\nf() {\n  new\n", "@@ f() {\n f() {\n-  old\n+  new\n", "applied 2");
    }

    fn line() -> impl Strategy<Value = String> {
        let word = prop_oneof![
            Just("a"),
            Just("b"),
            Just("long line of text"),
            Just("\u{201C}q\u{201D}"),
            Just("\"q\""),
            Just("")
        ];
        (
            prop_oneof![Just(""), Just("  "), Just("\t"), Just("    ")],
            word,
            prop_oneof![4 => Just(""), 1 => Just(" ")],
        )
            .prop_map(|(indent, word, tail)| format!("{indent}{word}{tail}"))
    }

    fn hunk() -> impl Strategy<Value = String> {
        let signed = (prop_oneof![3 => Just(' '), 2 => Just('-'), 2 => Just('+')], line());
        prop::collection::vec(signed.prop_map(|(sign, text)| format!("{sign}{text}\n")), 1..6)
            .prop_map(|lines| format!("@@\n{}", lines.concat()))
    }

    proptest! {
        #[test]
        fn a_place_has_the_lines_that_it_is_said_to_have(
            lines in prop::collection::vec(line(), 0..12),
            crlf in any::<bool>(),
            open in any::<bool>(),
            hunk in hunk(),
        ) {
            let mut text: String = lines.iter().map(|line| format!("{line}{}", if crlf { "\r\n" } else { "\n" })).collect();
            if open {
                text.truncate(text.trim_end_matches(['\r', '\n']).len());
            }
            let document = document(&text);
            let hunks = hunks(&hunk);
            let shape = Shape::of(&hunks[0]);
            if let Found::Places(places) = &locate_all(&document, &[&hunks[0]], DEFAULT)[0] {
                for place in places {
                    let mut next = place.start;
                    for old in &shape.old[place.matched.clone()] {
                        prop_assert!(next < text.len() || old.text.is_empty());
                        let line = LineSpan::at(document.bytes(), next);
                        let rung = fold::line_rung(line.text(document.bytes()), old.text);
                        prop_assert!(rung.is_some_and(|rung| rung <= place.rung), "{:?} {:?}", line, place);
                        next = line.end;
                    }
                    prop_assert_eq!(next, place.end);
                    let missed = shape.old.len() - place.matched.len();
                    prop_assert!(missed == 0 || place.rung == Rung::Context);
                    let is_outside = |index: &usize| !place.matched.contains(index);
                    prop_assert!((0..shape.old.len()).filter(is_outside).all(|index| !shape.old[index].is_deleted));
                }
            }
        }
    }
}
