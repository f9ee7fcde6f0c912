//! The hunks of one file edit over one document to replacements, or to every reason why they don't fit.

use std::collections::HashSet;
use std::ops::Range;

use foldhash::fast::FixedState;

use crate::patch::BinaryHunk;
use crate::patch::BinarySide;
use crate::patch::BlobId;
use crate::patch::Hunk;
use crate::patch::Line;
use crate::patch::LineHunk;
use crate::patch::LineKind;
use crate::patch::Replace;
use crate::patch::ReplaceCount;
use crate::patch::git_binary;
use crate::report::Candidate;
use crate::report::Code;
use crate::report::HunkMatch;
use crate::report::Placement;
use crate::report::Problem;
use crate::report::Rung;
use crate::text::Charset;
use crate::text::Document;
use crate::text::Splice;
use crate::text::Splices;
use crate::text::document::UTF8_BOM;

use super::choose::choose;
use super::choose::offset_lines;
use super::diagnose;
use super::encode;
use super::insert;
use super::locate::Found;
use super::locate::Miss;
use super::locate::Place;
use super::locate::Rules;
use super::locate::line_index_at;
use super::locate::locate_all;
use super::planner::Options;
use super::replace;
use super::shape::Shape;

/// What the hunks of one file edit come to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlannedHunks {
    /// The replacements, relative to the document.
    pub splices: Splices,
    /// Where hunks of lines were found; the edit's number is left 0.
    pub matches: Vec<HunkMatch>,
    /// How many places were replaced, if the hunks are replacements.
    pub replacements: Option<usize>,
}

fn line_hunks(hunks: &[Hunk]) -> Vec<&LineHunk> {
    let mut lines = Vec::with_capacity(hunks.len());
    for hunk in hunks {
        match hunk {
            Hunk::Lines(hunk) => lines.push(hunk),
            Hunk::Replace(_) | Hunk::Binary(_) => {}
        }
    }
    lines
}

/// Plans the hunks of one file edit; `first` is the 1-based number of the first of them.
///
/// # Errors
/// One problem for each hunk that does not fit, with its number.
pub fn plan(
    document: &Document,
    hunks: &[Hunk],
    first: usize,
    options: Options,
) -> Result<PlannedHunks, Vec<Problem>> {
    let lines = line_hunks(hunks);
    if let Some(Hunk::Binary(binary)) = hunks.first() {
        let splices = plan_binary(document, binary, options).map_err(|problem| {
            vec![Problem { hunk: Some(first), line: Some(binary.line_number), ..problem }]
        })?;
        return Ok(PlannedHunks { splices, ..PlannedHunks::default() });
    }
    let mut planned = if lines.len() == hunks.len() {
        plan_all(document, &lines, first, options)?
    } else {
        plan_replaces(document, hunks)?
    };
    if options.adds_final_newline {
        add_final_newline(document, &mut planned.splices);
    }
    Ok(planned)
}

/// Plans hunks of lines that must each stand exactly, and in one place only; neither their order nor line numbers
/// decide.
///
/// # Errors
/// As [`plan`].
pub fn plan_once(document: &Document, hunks: &[Hunk]) -> Result<PlannedHunks, Vec<Problem>> {
    let lines = line_hunks(hunks);
    let rules = Rules { most_lenient: Rung::Exact, appends: false };
    let problems: Vec<Problem> = locate_all(document, &lines, rules)
        .iter()
        .zip(&lines)
        .enumerate()
        .filter_map(|(index, (found, hunk))| match found {
            Found::Places(places) if places.len() > 1 => {
                Some(misfit(document, hunk, &Shape::of(hunk), found, index + 1))
            }
            Found::Places(_) | Found::AlreadyApplied { .. } | Found::Missing(_) => None,
        })
        .collect();
    if !problems.is_empty() {
        return Err(problems);
    }
    plan_lines(document, &lines, 1, Options { most_lenient: Rung::Exact, ..Options::default() })
}

/// Replaces the whole content, if it is the one that the patch was made of.
fn plan_binary(document: &Document, hunk: &BinaryHunk, options: Options) -> Result<Splices, Problem> {
    let bytes = document.bytes();
    let problem = |code: Code, message: &str| Problem::new(code, message);
    let is_side = |side: &Option<BinarySide>, blob: &Option<BlobId>| match (side, blob) {
        (Some(BinarySide::Literal(content)), _) => Some(content == bytes),
        (_, Some(blob)) => Some(blob.names(bytes)),
        (Some(BinarySide::Delta(_)) | None, None) => None,
    };
    let is_old = is_side(&hunk.old, &hunk.old_blob);
    if is_old != Some(true) && is_side(&hunk.new, &hunk.new_blob) == Some(true) {
        if options.skips_applied {
            return Ok(Splices::default());
        }
        return Err(problem(
            Code::AlreadyApplied,
            "the binary patch is already applied: the file has its new content",
        )
        .with_hint("--skip-applied passes over it"));
    }
    match is_old {
        Some(true) => {}
        Some(false) => {
            return Err(problem(
                Code::Stale,
                "the binary patch was made of another content than the file has",
            )
            .with_hint("make the patch anew from the file as it is now"));
        }
        None => {
            return Err(problem(
                Code::Binary,
                "the patch does not tell which content the binary file has before",
            )
            .with_hint("make it with 'git diff --binary', which names both contents in full"));
        }
    }
    let new = match &hunk.new {
        Some(BinarySide::Literal(content)) => content.clone(),
        Some(BinarySide::Delta(delta)) => git_binary::apply_delta(bytes, delta).map_err(|error| {
            problem(Code::Stale, "the binary patch does not fit").with_hint(error.to_string())
        })?,
        None => return Ok(Splices::default()),
    };
    if hunk.new_blob.as_ref().is_some_and(|blob| !blob.names(&new)) {
        return Err(problem(Code::Malformed, "the binary patch leads to another content than it names"));
    }
    if new == bytes {
        return Ok(Splices::default());
    }
    Ok(Splices::new(vec![Splice { range: 0..bytes.len(), new }]).unwrap_or_default())
}

/// Plans hunks together; blocks one by one, where that makes a difference.
fn plan_all(
    document: &Document,
    hunks: &[&LineHunk],
    first: usize,
    options: Options,
) -> Result<PlannedHunks, Vec<Problem>> {
    let together = plan_lines(document, hunks, first, options);
    let are_blocks = hunks.len() > 1 && hunks.iter().any(|hunk| hunk.is_block);
    // One pass for all is enough if no block could be for what another one brings.
    if !are_blocks || together.is_ok() && !may_meet(hunks) {
        return together;
    }
    plan_one_by_one(document, hunks, first, options)
}

/// Tells whether a line that one hunk adds may be one that a later hunk looks for.
fn may_meet(hunks: &[&LineHunk]) -> bool {
    let mut added: HashSet<&[u8], FixedState> = HashSet::default();
    for hunk in hunks {
        let looks_for =
            |line: Line<'_>| line.kind != LineKind::Insert && added.contains(line.text.trim_ascii());
        if hunk.lines().any(looks_for) {
            return true;
        }
        let new =
            hunk.lines().filter(|line| line.kind == LineKind::Insert).map(|line| line.text.trim_ascii());
        added.extend(new);
    }
    false
}

/// Plans blocks in order, each seeing the result of the one before.
fn plan_one_by_one(
    document: &Document,
    hunks: &[&LineHunk],
    first: usize,
    options: Options,
) -> Result<PlannedHunks, Vec<Problem>> {
    let mut planned = PlannedHunks::default();
    let mut current = None;
    let mut problems = Vec::new();
    for (index, hunk) in hunks.iter().enumerate() {
        let now = current.as_ref().unwrap_or(document);
        match plan_lines(now, &[hunk], first + index, options) {
            Ok(next) => {
                planned.matches.extend(next.matches);
                if index + 1 < hunks.len() {
                    current = Some(now.successor(next.splices.apply(now.bytes())));
                }
                planned.splices = planned.splices.then(next.splices);
            }
            Err(misfits) => {
                let fitted = index > 0 && plan_lines(document, &[hunk], first + index, options).is_ok();
                problems.extend(
                    misfits.into_iter().map(|misfit| if fitted { of_sequel(misfit) } else { misfit }),
                );
            }
        }
    }
    if problems.is_empty() { Ok(planned) } else { Err(problems) }
}

/// Says of a block that it fits the file, but not what the blocks before it make of it.
fn of_sequel(problem: Problem) -> Problem {
    let message =
        format!("{}: it fits the file as it was, but not as the blocks before it leave it", problem.message);
    Problem { message, ..problem }
        .with_hint("write the SEARCH part as the file is after the blocks before it")
}

/// Says whether the last of these blocks can stand where the others leave it room; with the reason, if it can't.
///
/// # Errors
/// The block stands neither in the file nor in what the others leave.
pub fn probe_block(document: &Document, hunks: &[Hunk], options: Options) -> Result<Placement, Problem> {
    match plan(document, hunks, 1, options) {
        Ok(_) => Ok(Placement::Located),
        // What is wrong with the others was said when they were complete.
        Err(problems) => match problems.into_iter().find(|problem| problem.hunk == Some(hunks.len())) {
            Some(problem) if problem.code != Code::Ambiguous => Err(problem),
            _ => Ok(Placement::Unknown),
        },
    }
}

fn plan_lines(
    document: &Document,
    hunks: &[&LineHunk],
    first: usize,
    options: Options,
) -> Result<PlannedHunks, Vec<Problem>> {
    let are_bytes = are_bytes_of(document, hunks);
    let planned = plan_lines_as(are_bytes, document, hunks, first, options);
    // What is only inserted does not tell: it may be text that the file's encoding lacks.
    let old_is_ascii =
        |hunk: &&LineHunk| hunk.lines().all(|line| line.kind == LineKind::Insert || line.text.is_ascii());
    let is_ascii = || hunks.iter().all(old_is_ascii);
    if planned.is_ok() || are_bytes || document.is_utf8() || !document.has_lines_of_bytes() || is_ascii() {
        return planned;
    }
    // A file that is not UTF-8 may hold some characters of it all the same, and a diff of the file has those bytes.
    let exactly = Options { most_lenient: Rung::Exact, ..options };
    plan_lines_as(true, document, hunks, first, exactly).or(planned)
}

/// Plans hunks whose lines are the file's own bytes, or text.
fn plan_lines_as(
    are_bytes: bool,
    document: &Document,
    hunks: &[&LineHunk],
    first: usize,
    options: Options,
) -> Result<PlannedHunks, Vec<Problem>> {
    let file = document;
    let document = if are_bytes { file } else { file.decoded() };
    // Diffs take a byte order mark for a part of the first line; models leave it out.
    let names_bom = document.has_bom()
        && hunks.iter().any(|hunk| hunk.lines().any(|line| line.text.starts_with(UTF8_BOM)));
    let is_text = file.has_lines_of_bytes() || !are_bytes;
    let document = &if names_bom || !is_text { document.with_bom_as_text() } else { document.clone() };
    // What is no text in UTF-8 has no blanks or quotes to be lenient with.
    let most_lenient = if is_text { options.most_lenient } else { Rung::Exact };
    let rules = Rules { most_lenient, appends: options.appends };
    let found = locate_all(document, hunks, rules);
    let chosen = choose(hunks, &found, options.takes_first);
    let mut planned = PlannedHunks::default();
    let mut problems = Vec::new();
    let mut placed: Vec<Placed> = Vec::new();
    for (index, hunk) in hunks.iter().enumerate() {
        let shape = Shape::of(hunk);
        let number = first + index;
        let place = match (&found[index], chosen[index]) {
            (Found::Places(places), Some(chosen)) => &places[chosen],
            (Found::AlreadyApplied { .. }, _) if options.skips_applied => continue,
            (found, _) => {
                let problem = misfit(document, hunk, &shape, found, number);
                let looked_for = || {
                    shape.old.iter().flat_map(|line| line.text).chain(hunk.anchors.iter().flatten()).copied()
                };
                let is_ascii = looked_for().all(|byte| byte.is_ascii());
                problems.push(if is_ascii { problem } else { encode::with_doubt(problem, file) });
                continue;
            }
        };
        if insert::already_stands(document, &shape, place) {
            if !options.skips_applied {
                problems.push(stands_already(hunk, place, number));
            }
            continue;
        }
        placed.push(Placed::new(document, hunk, place, number));
        planned.matches.push(HunkMatch {
            edit: 0,
            hunk: number,
            rung: place.rung,
            old_start: (place.line_index + 1).saturating_sub(place.matched.start).max(1),
            offset_lines: offset_lines(hunk, place),
        });
    }
    problems.extend(overlaps(document, &placed));
    problems.sort_by_key(|problem| problem.hunk);
    if !problems.is_empty() {
        return Err(problems);
    }
    let changes = |splice: &Splice| document.bytes()[splice.range.clone()] != splice.new;
    let mut list: Vec<Splice> = Vec::new();
    if are_bytes || file.encoding().charset().is_none() {
        list.extend(placed.into_iter().flat_map(|placed| placed.splices).filter(changes));
    } else {
        list.extend(in_bytes(file, placed, changes)?);
    }
    planned.splices = Splices::new(list).unwrap_or_default();
    Ok(planned)
}

/// Turns the replacements of all hunks into those of the file's bytes.
fn in_bytes(
    file: &Document,
    placed: Vec<Placed>,
    changes: impl Fn(&Splice) -> bool,
) -> Result<Vec<Splice>, Vec<Problem>> {
    let owner = |placed: &Placed| (placed.number, placed.line_number);
    let mut owned: Vec<((usize, usize), Splice)> = placed
        .into_iter()
        .flat_map(|placed| {
            let owner = owner(&placed);
            placed.splices.into_iter().map(move |splice| (owner, splice))
        })
        .filter(|(_, splice)| changes(splice))
        .collect();
    owned.sort_by_key(|(_, splice)| (splice.range.start, splice.range.end));
    let (owners, list): (Vec<_>, Vec<_>) = owned.into_iter().unzip();
    encode::to_bytes(file, list).map_err(|misfits| {
        let mut problems: Vec<Problem> = misfits
            .into_iter()
            .map(|(index, problem)| {
                let (number, line_number) = owners[index];
                let line = (line_number > 0).then_some(line_number);
                Problem { hunk: Some(number), line, ..problem }
            })
            .collect();
        problems.sort_by_key(|problem| problem.hunk);
        problems.dedup_by_key(|problem| problem.hunk);
        problems
    })
}

/// Tells whether the hunks hold lines of the file's own bytes, as a diff of such a file has them, and not text that
/// stands for them.
fn are_bytes_of(document: &Document, hunks: &[&LineHunk]) -> bool {
    // Only a file that is not UTF-8 is asked for its charset; to guess that costs time.
    if document.is_utf8() {
        return false;
    }
    let is_utf16 = !document.has_lines_of_bytes();
    let switches = document.encoding().charset().is_some_and(Charset::is_stateful);
    let is_bytes = |text: &[u8]| {
        std::str::from_utf8(text).is_err()
            || is_utf16 && memchr::memchr(0, text).is_some()
            || switches && memchr::memchr(0x1B, text).is_some()
    };
    hunks.iter().any(|hunk| hunk.lines().any(|line| is_bytes(line.text)))
}

/// A hunk at its place.
struct Placed {
    number: usize,
    /// 1-based line of the input.
    line_number: usize,
    extent: Range<usize>,
    splices: Vec<Splice>,
}

impl Placed {
    fn new(document: &Document, hunk: &LineHunk, place: &Place, number: usize) -> Self {
        let shape = Shape::of(hunk);
        Placed {
            number,
            line_number: hunk.line_number,
            extent: place.start..place.end,
            splices: insert::splices(document, &shape, place),
        }
    }

    /// Tells whether one of the changes touches what the other hunk relies on. Shared context is no conflict.
    fn conflicts(&self, other: &Placed) -> bool {
        let touches = |splice: &Splice, extent: &Range<usize>| {
            if splice.range.is_empty() {
                extent.start < splice.range.start && splice.range.start < extent.end
            } else {
                splice.range.start < extent.end && extent.start < splice.range.end
            }
        };
        self.splices.iter().any(|splice| touches(splice, &other.extent))
            || other.splices.iter().any(|splice| touches(splice, &self.extent))
    }
}

fn overlaps(document: &Document, placed: &[Placed]) -> Vec<Problem> {
    let mut order: Vec<&Placed> = placed.iter().collect();
    order.sort_by_key(|placed| (placed.extent.start, placed.number));
    let mut problems = Vec::new();
    for (index, one) in order.iter().enumerate() {
        for other in order[index + 1..].iter().take_while(|other| other.extent.start < one.extent.end) {
            if one.conflicts(other) {
                let (first, second) = (one.number.min(other.number), one.number.max(other.number));
                let line = line_index_at(document, other.extent.start) + 1;
                let message = format!(
                    "hunks {first} and {second} overlap at line {line}: one changes lines that the other needs"
                );
                problems.push(Problem {
                    hunk: Some(second),
                    line: Some(other.line_number.max(one.line_number)),
                    ..Problem::new(Code::HunkNotFound, message).with_hint("make them one hunk")
                });
            }
        }
    }
    problems
}

fn stands_already(hunk: &LineHunk, place: &Place, number: usize) -> Problem {
    let message =
        format!("hunk {number} is already applied: its added lines stand at line {}", place.line_index + 1);
    let hint = "if they are meant to stand there twice, include the line after them in the hunk; --skip-applied passes over it";
    Problem {
        hunk: Some(number),
        line: Some(hunk.line_number),
        ..Problem::new(Code::AlreadyApplied, message).with_hint(hint)
    }
}

fn misfit(document: &Document, hunk: &LineHunk, shape: &Shape<'_>, found: &Found, number: usize) -> Problem {
    let problem = match found {
        Found::Places(places) => ambiguous(hunk, places, number),
        Found::AlreadyApplied { line_index } => {
            let message =
                format!("hunk {number} is already applied: its new lines stand at line {}", line_index + 1);
            Problem::new(Code::AlreadyApplied, message).with_hint("--skip-applied passes over it")
        }
        Found::Missing(Miss::Nowhere) if hunk.stated_old_lines == Some(0) => {
            let stated = hunk.stated_old_start.unwrap_or(0);
            let message = format!("hunk {number} goes behind line {stated}, which the file does not have");
            Problem::new(Code::HunkNotFound, message).with_hint("read the file again and count its lines")
        }
        Found::Missing(miss) => missing(document, shape, miss, number),
    };
    let line = (hunk.line_number > 0).then_some(hunk.line_number);
    Problem { hunk: Some(number), line, ..problem }
}

fn ambiguous(hunk: &LineHunk, places: &[Place], number: usize) -> Problem {
    let is_insertion = places.iter().all(|place| place.matched.is_empty());
    // An insertion goes behind its anchor: the anchor's own line is what a reader looks for.
    let line = |place: &Place| if is_insertion { place.line_index } else { place.line_index + 1 };
    let what = match hunk.anchors.last() {
        Some(anchor) if is_insertion => {
            format!("the anchor '{}' of hunk {number}", String::from_utf8_lossy(anchor))
        }
        _ => format!("hunk {number}"),
    };
    let message = format!("{what} fits {} places", places.len());
    Problem {
        candidates: places.iter().map(|place| Candidate { line: line(place) }).collect(),
        ..Problem::new(Code::Ambiguous, message).with_hint(
            "add context lines, or an '@@' anchor, that only one of them has; --first-match takes the first",
        )
    }
}

fn missing(document: &Document, shape: &Shape<'_>, miss: &Miss, number: usize) -> Problem {
    let problem = |message: String, hint: &str| Problem::new(Code::HunkNotFound, message).with_hint(hint);
    match miss {
        Miss::Anchor(anchor) => problem(
            format!(
                "the anchor '{}' of hunk {number} is nowhere in the file",
                String::from_utf8_lossy(anchor)
            ),
            "an anchor is a line of the file, or its beginning",
        ),
        Miss::NotAfterAnchor(line_index) => problem(
            format!("the lines of hunk {number} stand at line {}, but not after its anchor", line_index + 1),
            "take the anchor from above the lines, or leave it out",
        ),
        Miss::NotAtEnd(line_index) => problem(
            format!(
                "the lines of hunk {number} stand at line {}, but not at the end of the file",
                line_index + 1
            ),
            "leave '*** End of File' (or the no-newline mark) out, or take the file's last lines",
        ),
        Miss::Nowhere => problem(
            format!("hunk {number} only adds lines, and nothing tells where"),
            "add a context line or an '@@' anchor before them, or '*** End of File' after them",
        ),
        Miss::Text(votes) => {
            let nearest = diagnose::nearest_hunk(document, shape, *votes);
            let message = match &nearest {
                Some(nearest) => {
                    format!(
                        "the old lines of hunk {number} are not in the file; it comes nearest at line {}",
                        nearest.line
                    )
                }
                None => format!("the old lines of hunk {number} are not in the file, nor anything like them"),
            };
            let hint = "read the file again and take the lines from it as they are now";
            Problem { nearest, ..problem(message, hint) }
        }
    }
}

/// Plans replacements in order, each seeing the result of the one before.
fn plan_replaces(document: &Document, hunks: &[Hunk]) -> Result<PlannedHunks, Vec<Problem>> {
    let mut planned = PlannedHunks { replacements: Some(0), ..PlannedHunks::default() };
    let mut current = None;
    let mut problems = Vec::new();
    for (index, hunk) in hunks.iter().enumerate() {
        let Hunk::Replace(request) = hunk else { continue };
        let now = current.as_ref().unwrap_or(document);
        let text = now.decoded();
        let made = replaced(now, request).and_then(|splices| {
            let places = splices.list().iter().map(|splice| splice.range.start).collect();
            Ok((in_bytes_of(now, splices)?, places))
        });
        match made {
            Ok((splices, places)) => {
                let places: Vec<usize> = places;
                planned.replacements = planned.replacements.map(|count| count + places.len());
                let first = places.first().copied().unwrap_or(text.text_start());
                planned.matches.push(HunkMatch {
                    edit: 0,
                    hunk: index + 1,
                    rung: Rung::Exact,
                    old_start: line_index_at(text, document_line_start(text, first)) + 1,
                    offset_lines: 0,
                });
                if index + 1 < hunks.len() {
                    current = Some(now.successor(splices.apply(now.bytes())));
                }
                planned.splices = planned.splices.then(splices);
            }
            Err(problem) => {
                let hunk = (hunks.len() > 1).then_some(index + 1);
                problems.push(Problem { hunk, ..problem });
            }
        }
    }
    if problems.is_empty() { Ok(planned) } else { Err(problems) }
}

/// Says where the old text of the last of these replacements stands, once it is complete; its new text does not count.
///
/// It may stand only in what the replacements before it leave, so a miss is one in both.
///
/// # Errors
/// The old text is empty, or stands nowhere.
pub fn probe_replace(document: &Document, hunks: &[Hunk], last: &Replace) -> Result<Placement, Problem> {
    if !last.old_is_complete {
        return Ok(Placement::Unknown);
    }
    let asked =
        Replace { old: last.old.clone(), new: Vec::new(), old_is_complete: true, ..Replace::default() };
    let looked = match replaced(document, &asked) {
        Err(problem) if problem.code == Code::HunkNotFound && hunks.len() > 1 => {
            match plan_replaces(document, &hunks[..hunks.len() - 1]) {
                Ok(before) => replaced(&document.successor(before.splices.apply(document.bytes())), &asked),
                // Without all that comes before it, there is nothing to say.
                Err(_) => return Ok(Placement::Unknown),
            }
        }
        looked => looked,
    };
    match looked {
        Ok(_) => Ok(Placement::Located),
        // That every place is meant may still be said.
        Err(problem) if problem.code == Code::Ambiguous => Ok(Placement::Unknown),
        Err(problem) => Err(Problem { hunk: Some(hunks.len()), ..problem }),
    }
}

/// Turns replacements of text into those of the file's bytes.
fn in_bytes_of(file: &Document, splices: Splices) -> Result<Splices, Problem> {
    if file.is_utf8() {
        return Ok(splices);
    }
    match encode::to_bytes(file, splices.into_list()) {
        Ok(list) => Ok(Splices::new(list).unwrap_or_default()),
        Err(misfits) => Err(misfits.into_iter().map(|(_, problem)| problem).next().unwrap_or_else(|| {
            Problem::new(Code::Unencodable, "the new text can't be written in the encoding of the file")
        })),
    }
}

/// Returns the replacements that a request makes in the file's text.
fn replaced(file: &Document, request: &Replace) -> Result<Splices, Problem> {
    let document = file.decoded();
    let (old, new) = (encode::text_of(file, &request.old), encode::text_of(file, &request.new));
    let (old, new) = (lf(&old), lf(&new));
    if old.is_empty() {
        return Err(
            Problem::new(Code::Malformed, "the old text is empty").with_hint("name the text to be replaced")
        );
    }
    if old == new {
        let hint = if request.old == request.new {
            "there is nothing to do; if the edit was meant, the new text has to differ"
        } else {
            "a line ending is not part of the text: LF in it stands for LF and CRLF"
        };
        return Err(Problem::new(Code::Malformed, "the old and the new text are equal").with_hint(hint));
    }
    let places = replace::places(document, &old);
    if places.is_empty() {
        let problem = text_missing(document, &old, &new);
        return Err(if old.is_ascii() { problem } else { encode::with_doubt(problem, file) });
    }
    let apart = replace::without_overlap(&places);
    match request.count {
        ReplaceCount::One if places.len() > 1 => return Err(text_ambiguous(document, &places)),
        ReplaceCount::Exactly(count) if apart.len() != count => {
            let lines = lines_of(document, &apart);
            let message = format!("the old text stands {} times, expected {count}", apart.len());
            return Err(Problem {
                candidates: lines.into_iter().map(|line| Candidate { line }).collect(),
                ..Problem::new(Code::CountDiffers, message)
                    .with_hint("look at these places, then expect their count, or take more of the text around those that are meant")
            });
        }
        ReplaceCount::One | ReplaceCount::All | ReplaceCount::Exactly(_) => {}
    }
    let list = apart.into_iter().map(|place| replace::splice(document, place, &new)).collect();
    Ok(Splices::new(list).unwrap_or_default())
}

/// Returns what keeps an old text from being replaced in a file that is not there to be edited any more, so without
/// advice; `None` if it stands once.
pub fn text_misfit(document: &Document, old: &[u8], new: &[u8]) -> Option<Problem> {
    let (old, new) = (lf(old), lf(new));
    let problem = match replace::places(document, &old).as_slice() {
        [_] => return None,
        [] => text_missing(document, &old, &new),
        places => text_ambiguous(document, places),
    };
    Some(Problem { hint: None, ..problem })
}

fn text_ambiguous(document: &Document, places: &[Range<usize>]) -> Problem {
    let lines = lines_of(document, places);
    let message = format!("the old text stands {} times", places.len());
    Problem {
        candidates: lines.into_iter().map(|line| Candidate { line }).collect(),
        ..Problem::new(Code::Ambiguous, message).with_hint(
            "take more of the text around it, or pass --replace-all (replace_all) to replace every place",
        )
    }
}

fn text_missing(document: &Document, old: &[u8], new: &[u8]) -> Problem {
    let nearest = diagnose::nearest_text(document, old);
    let new_stands =
        (!new.is_empty()).then(|| replace::places(document, new)).filter(|places| places.len() == 1);
    let message = match &nearest {
        Some(nearest) => {
            format!("the old text is not in the file; it comes nearest at line {}", nearest.line)
        }
        None => "the old text is not in the file, nor anything like it".to_owned(),
    };
    let hint = match new_stands.as_deref() {
        Some([place]) => format!(
            "the new text stands at line {} already; if the edit was made, there is nothing to do",
            line_index_at(document, document_line_start(document, place.start)) + 1
        ),
        _ => "read the file again and take the text from it as it is now".to_owned(),
    };
    Problem { nearest, ..Problem::new(Code::HunkNotFound, message).with_hint(hint) }
}

fn document_line_start(document: &Document, offset: usize) -> usize {
    let newline = memchr::memrchr(b'\n', &document.bytes()[..offset]);
    newline.map_or(document.text_start(), |newline| newline + 1)
}

/// Returns the 1-based line on which each place begins; places are in file order.
fn lines_of(document: &Document, places: &[Range<usize>]) -> Vec<usize> {
    let (mut offset, mut line_index) = (document.text_start(), 0);
    places
        .iter()
        .map(|place| {
            line_index += memchr::memchr_iter(b'\n', &document.bytes()[offset..place.start]).count();
            offset = place.start;
            line_index + 1
        })
        .collect()
}

fn lf(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for (index, &byte) in text.iter().enumerate() {
        if byte != b'\r' || text.get(index + 1) != Some(&b'\n') {
            out.push(byte);
        }
    }
    out
}

fn add_final_newline(document: &Document, splices: &mut Splices) {
    let length = splices.postimage_len(document.bytes().len());
    let ending = document.eol_counts().majority();
    let (is_open, ending) = match document.encoding().charset() {
        None => {
            let last = splices.pieces(document.bytes()).last().and_then(|piece| piece.last().copied());
            (last.is_some_and(|byte| byte != b'\n'), ending.to_vec())
        }
        Some(charset) => {
            let after = document.successor(splices.apply(document.bytes()));
            let text = if ending == b"\n" { "\n" } else { "\r\n" };
            (!after.has_final_newline(), charset.encode(text).unwrap_or_default())
        }
    };
    if length > document.text_start() && is_open {
        let end = Splices::new(vec![Splice { range: length..length, new: ending }]).unwrap_or_default();
        *splices = std::mem::take(splices).then(end);
    }
}
