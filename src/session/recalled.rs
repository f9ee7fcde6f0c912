//! What a log told of the texts of files so far, for calls that fail: how the file looked that an edit did not fit.
//!
//! Of each file only its newest whole text is kept, and the changes after it. They are put together when a call fails,
//! and only if they go on from each other; a file that is written with a text that the log does not hold is forgotten.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::diff::hunks;
use crate::plan;
use crate::report::Card;
use crate::report::CardFile;
use crate::report::CardStatus;
use crate::report::DiffNote;
use crate::report::FileDiff;
use crate::report::Operation;
use crate::report::Problem;
use crate::text::Document;

use super::event::CallResult;
use super::event::ChangeContent;
use super::event::FileChange;
use super::net::Step;
use super::net::is_raw;
use super::net::key;
use super::net::known::Known;
use super::told::Told;

/// How many bytes of texts and changes are kept; then the older half of the files is forgotten.
const LIMIT_KEPT_BYTES: usize = 32 << 20;
/// How many bytes of texts are walked over in one log to compare failed calls with them.
const LIMIT_COMPARED_BYTES: usize = 256 << 20;

/// The texts of all files, by the path that they have now.
#[derive(Debug, Default)]
pub(super) struct Recalled {
    texts: HashMap<String, Recall, FixedState>,
    kept_bytes: usize,
    compared_bytes: usize,
    /// 1-based line of the first failed call that was not compared, since enough were.
    first_left_out: Option<usize>,
    /// Counts the calls.
    clock: u64,
}

/// The text of one file.
#[derive(Debug)]
struct Recall {
    base: Base,
    /// What was done to it since, each with the hunks of one call.
    later: Vec<(CardFile, Vec<FileDiff>)>,
    /// 1-based line of the log that told the text.
    line: usize,
    set_at: u64,
    /// How much memory all of it takes, about.
    bytes: usize,
}

#[derive(Debug)]
enum Base {
    /// A JSON string with its quotes.
    Json(String),
    Text(String),
}

impl Base {
    fn length_bytes(&self) -> usize {
        match self {
            Base::Json(text) | Base::Text(text) => text.len(),
        }
    }
}

/// What a result tells of the whole text of a file.
#[derive(Debug)]
pub(super) enum Whole {
    /// As it was before the call, as a JSON string.
    BeforeJson(String),
    After(String),
}

/// Takes the whole texts out of a result that is about to be drawn, with their paths; `is_told` leaves what others need.
pub(super) fn whole_texts(result: &mut CallResult, is_told: bool) -> Vec<(String, Whole)> {
    let whole = |change: &mut FileChange| {
        let json = if is_told { change.before_json.clone() } else { change.before_json.take() };
        let whole = match (json, &change.content) {
            (Some(json), _) => Whole::BeforeJson(json),
            (None, ChangeContent::Texts { after, .. }) => Whole::After(after.clone()),
            (None, _) => return None,
        };
        Some((change.path.clone(), whole))
    };
    result.changes.iter_mut().filter_map(whole).collect()
}

/// Says of the hunks of a card which sections they stand in, as the texts before tell.
pub(super) fn add_sections(card: &mut Card, whole: &[(String, Whole)]) {
    for (path, whole) in whole {
        let Whole::BeforeJson(json) = whole else { continue };
        let Ok(text) = serde_json::from_str::<String>(json) else { continue };
        hunks::add_sections(path, &text, card.diffs.iter_mut().filter(|diff| diff.path == *path));
    }
}

impl Recalled {
    /// Takes in what a call did, with what its result told of whole texts; of a call that failed, says what does not fit.
    pub(super) fn take(&mut self, card: &mut Card, whole: Vec<(String, Whole)>) {
        self.clock += 1;
        match card.status {
            CardStatus::Failed if card.error.is_none() => card.compared = self.compare(card),
            CardStatus::Applied | CardStatus::Partial => self.change(card, whole),
            CardStatus::Failed | CardStatus::Rejected | CardStatus::Held | CardStatus::Unknown => {}
        }
    }

    /// Says from where on failed calls were not compared though the log tells their files.
    pub(super) fn note(&self) -> Option<String> {
        let line = self.first_left_out?;
        Some(format!(
            "from line {line} on: enough failed calls were compared with their files, the rest are not"
        ))
    }

    fn change(&mut self, card: &Card, whole: Vec<(String, Whole)>) {
        let mut whole: HashMap<String, Whole, FixedState> = whole.into_iter().collect();
        let folder = card.source.folder.as_deref();
        let is_done = |file: &&CardFile| matches!(file.status, None | Some(CardStatus::Applied));
        let mut seen: Vec<&str> = Vec::new();
        for file in card.files.iter().filter(is_done) {
            // The hunks of all edits of a file came with the first.
            if seen.contains(&file.path.as_str()) {
                continue;
            }
            seen.push(&file.path);
            let path = key(folder, &file.path);
            let diffs: Vec<FileDiff> =
                card.diffs.iter().filter(|diff| diff.path == file.path).cloned().collect();
            let from = file.from.as_ref().map_or_else(|| path.clone(), |from| key(folder, from));
            let before = match file.operation {
                Operation::Copy => None,
                _ => self.forget(&from),
            };
            let begin = |base: Base| Recall {
                bytes: base.length_bytes() + path.len(),
                base,
                later: Vec::new(),
                line: card.source.line,
                set_at: self.clock,
            };
            let recall = match (whole.remove(&file.path), before) {
                _ if file.operation == Operation::Delete => None,
                (Some(Whole::After(text)), _) => Some(begin(Base::Text(text))),
                (Some(Whole::BeforeJson(json)), _) => Some(begin(Base::Json(json)).then(file, diffs)),
                (None, before) => match (whole_content(file, &diffs), before) {
                    (Some(text), _) => Some(begin(Base::Text(text))),
                    (None, Some(recall)) if !diffs.is_empty() => Some(recall.then(file, diffs)),
                    // A rename changes no text; what else a call without hunks did is not known.
                    (None, before) => before.filter(|_| file.operation == Operation::Rename),
                },
            };
            if let Some(recall) = recall {
                self.keep(path, recall);
            }
        }
    }

    fn keep(&mut self, path: String, recall: Recall) {
        self.forget(&path);
        if recall.bytes > LIMIT_KEPT_BYTES / 2 {
            return;
        }
        self.kept_bytes += recall.bytes;
        self.texts.insert(path, recall);
        if self.kept_bytes > LIMIT_KEPT_BYTES {
            let mut times: Vec<u64> = self.texts.values().map(|recall| recall.set_at).collect();
            times.sort_unstable();
            let middle = times[times.len() / 2];
            self.texts.retain(|_, recall| recall.set_at >= middle);
            self.kept_bytes = self.texts.values().map(|recall| recall.bytes).sum();
        }
    }

    fn forget(&mut self, path: &str) -> Option<Recall> {
        let recall = self.texts.remove(path)?;
        self.kept_bytes -= recall.bytes;
        Some(recall)
    }

    /// Returns what does not fit of a failed call; `None` if no text of its files was told.
    fn compare(&mut self, card: &Card) -> Option<Vec<Problem>> {
        let folder = card.source.folder.as_deref();
        let mut problems = None;
        // What the edits of the call that fit make of its files: the next one is for that.
        let mut made: HashMap<String, String, FixedState> = HashMap::default();
        for diff in &card.requested {
            let Some(old) = diff.old_text.as_deref().filter(|old| !old.is_empty()) else { continue };
            let path = key(folder, &diff.path);
            let Some(recall) = self.texts.get_mut(&path) else { continue };
            // Each change since is a walk over the text.
            let walked = recall.base.length_bytes().saturating_mul(1 + recall.later.len());
            self.compared_bytes = self.compared_bytes.saturating_add(walked);
            if self.compared_bytes > LIMIT_COMPARED_BYTES {
                self.first_left_out.get_or_insert(card.source.line);
                return problems;
            }
            let line = recall.line;
            let Some(text) = made.get(&path).map(String::as_str).or_else(|| recall.text()) else { continue };
            let document = Document::new(text.as_bytes().to_vec());
            let misfit = plan::text_misfit(&document, old.as_bytes(), diff.new_text.as_bytes());
            if misfit.is_none() && card.requested.len() > 1 {
                let after = text.replacen(old, &diff.new_text, 1);
                made.insert(path, after);
            }
            let told = |problem: Problem| Problem {
                message: format!("as line {line} of the log has the file: {}", problem.message),
                path: Some(diff.path.clone()),
                ..problem
            };
            problems.get_or_insert_with(Vec::new).extend(misfit.map(told));
        }
        problems
    }
}

impl Recall {
    /// Returns the text with what was done to it next.
    fn then(mut self, file: &CardFile, diffs: Vec<FileDiff>) -> Self {
        self.bytes += size_of::<CardFile>() + diffs.iter().map(FileDiff::length_bytes).sum::<usize>();
        self.later.push((file.clone(), diffs));
        self
    }

    /// Puts the text together; `None` if the changes do not go on from each other.
    fn text(&mut self) -> Option<&str> {
        if let Base::Json(json) = &self.base {
            self.base = Base::Text(serde_json::from_str(json).ok()?);
        }
        let Base::Text(text) = &mut self.base else { return None };
        if !self.later.is_empty() {
            let mut known = Known::whole(String::new(), std::mem::take(text));
            let mut is_right = true;
            for (file, diffs) in self.later.drain(..) {
                let diffs: Vec<&FileDiff> = diffs.iter().collect();
                let told = Told::default();
                let step = Step { file: &file, told: &told, diffs: &diffs, source: &Default::default() };
                is_right &= step.edits().is_ok_and(|edits| edits.iter().all(|edit| known.edit(edit).is_ok()));
            }
            if !is_right {
                // What is no JSON has no text, now and from here on.
                self.base = Base::Json(String::new());
                return None;
            }
            *text = known.texts()?.1.to_owned();
        }
        let Base::Text(text) = &self.base else { return None };
        Some(text)
    }
}

/// Returns the whole text that a file got, if its card holds it.
fn whole_content(file: &CardFile, diffs: &[FileDiff]) -> Option<String> {
    let [diff] = diffs else { return None };
    let is_whole = file.operation == Operation::Create || diff.notes.contains(&DiffNote::OldUnknown);
    if !is_whole || diff.old_text.is_some() {
        return None;
    }
    let newline = if is_raw(diff) || diff.new_no_newline || diff.new_text.is_empty() { "" } else { "\n" };
    Some(format!("{}{newline}", diff.new_text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::CardKind;
    use crate::report::CardSchema;
    use crate::report::Code;
    use crate::report::Recorded;
    use crate::report::Source;
    use crate::session::change::file_named;

    fn hunk(path: &str, line: usize, old: &str, new: &str) -> FileDiff {
        FileDiff {
            path: path.to_owned(),
            old_start: Some(line),
            old_lines: Some(old.lines().count()),
            new_start: Some(line),
            new_lines: Some(new.lines().count()),
            old_text: Some(old.to_owned()),
            new_text: new.to_owned(),
            ..FileDiff::default()
        }
    }

    fn card(line: usize, status: CardStatus, file: CardFile, diffs: Vec<FileDiff>) -> Card {
        let is_failed = status == CardStatus::Failed;
        let (diffs, requested) = if is_failed { (Vec::new(), diffs) } else { (diffs, Vec::new()) };
        Card {
            schema: CardSchema::V1,
            card: CardKind::Diff,
            title: String::new(),
            status,
            source: Source { line, ..Source::default() },
            files: vec![CardFile { recorded: Recorded::Hunks, ..file }],
            diffs,
            requested,
            message: None,
            error: None,
            compared: None,
        }
    }

    /// The code, the line and the cause of what does not fit.
    type Misfit = (Code, Option<usize>, Option<String>);

    /// Takes an edit that failed in; returns what does not fit.
    fn misfits(recalled: &mut Recalled, path: &str, old: &str) -> Option<Vec<Misfit>> {
        let asked = FileDiff {
            path: path.to_owned(),
            old_text: Some(old.to_owned()),
            new_text: "new".to_owned(),
            ..FileDiff::default()
        };
        let mut card = card(9, CardStatus::Failed, file_named(path, Operation::Update), vec![asked]);
        recalled.take(&mut card, Vec::new());
        let problem = |problem: Problem| {
            assert!(problem.message.starts_with("as line 3 of the log has the file: "), "{problem:?}");
            let nearest = problem.nearest;
            (problem.code, nearest.as_ref().map(|nearest| nearest.line), nearest.map(|nearest| nearest.cause))
        };
        Some(card.compared?.into_iter().map(problem).collect())
    }

    fn edited(recalled: &mut Recalled, line: usize, diff: FileDiff, whole: Option<Whole>) {
        let file = file_named(&diff.path, Operation::Update);
        let whole = whole.into_iter().map(|whole| (diff.path.clone(), whole)).collect();
        recalled.take(&mut card(line, CardStatus::Applied, file, vec![diff]), whole);
    }

    const TEXT: &str = r#""one\ntwo\nthree\n""#;

    #[test]
    fn a_failed_edit_is_compared_with_what_was_told() {
        let mut recalled = Recalled::default();
        assert_eq!(misfits(&mut recalled, "a", "two"), None, "nothing was told");
        let whole = Whole::BeforeJson(TEXT.to_owned());
        edited(&mut recalled, 3, hunk("a", 2, "two", "too\ntoo"), Some(whole));
        assert_eq!(misfits(&mut recalled, "a", "too\nthree\n"), Some(Vec::new()), "it stands there once");
        assert_eq!(misfits(&mut recalled, "a", "too"), Some(vec![(Code::Ambiguous, None, None)]));
        let cause = Some("the text differs from column 4 on".to_owned());
        assert_eq!(
            misfits(&mut recalled, "a", "one\ntooth\n"),
            Some(vec![(Code::HunkNotFound, Some(2), cause)])
        );
        assert_eq!(misfits(&mut recalled, "b", "two"), None);
    }

    #[test]
    fn an_edit_of_a_call_is_for_what_those_before_it_make() {
        let mut recalled = Recalled::default();
        edited(&mut recalled, 3, hunk("a", 2, "two", "2"), Some(Whole::BeforeJson(TEXT.to_owned())));
        let asked = |old: &str, new: &str| FileDiff {
            path: "a".to_owned(),
            old_text: Some(old.to_owned()),
            new_text: new.to_owned(),
            ..FileDiff::default()
        };
        let wanted = vec![asked("one\n2", "1\n2"), asked("1\n2\nthree", "x"), asked("one", "y")];
        let mut card = card(9, CardStatus::Failed, file_named("a", Operation::Update), wanted);
        recalled.take(&mut card, Vec::new());
        let problems = card.compared.unwrap();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].message.contains("the old text is not in the file"), "{problems:?}");
    }

    #[test]
    fn that_enough_was_compared_is_said() {
        let mut recalled = Recalled::default();
        edited(&mut recalled, 3, hunk("a", 2, "two", "2"), Some(Whole::BeforeJson(TEXT.to_owned())));
        recalled.compared_bytes = LIMIT_COMPARED_BYTES - 40;
        assert_eq!(misfits(&mut recalled, "a", "one"), Some(Vec::new()));
        assert_eq!(recalled.note(), None);
        assert_eq!(misfits(&mut recalled, "a", "one"), None);
        assert!(recalled.note().is_some_and(|note| note.starts_with("from line 9 on: ")));
    }

    #[test]
    fn later_edits_and_names_are_followed() {
        let mut recalled = Recalled::default();
        edited(&mut recalled, 3, hunk("a", 2, "two", "2"), Some(Whole::BeforeJson(TEXT.to_owned())));
        edited(&mut recalled, 4, hunk("a", 1, "one", "1"), None);
        let moved = CardFile { from: Some("a".to_owned()), ..file_named("b", Operation::Rename) };
        recalled.take(&mut card(5, CardStatus::Applied, moved, Vec::new()), Vec::new());
        assert_eq!(misfits(&mut recalled, "b", "1\n2\nthree\n"), Some(Vec::new()));
        assert_eq!(misfits(&mut recalled, "a", "1"), None, "it has another name now");
        // What does not go on from what was told makes it worthless.
        edited(&mut recalled, 6, hunk("b", 1, "another", "file"), None);
        assert_eq!(misfits(&mut recalled, "b", "1"), None);
    }

    #[test]
    fn what_is_gone_or_not_told_is_forgotten() {
        let mut recalled = Recalled::default();
        let whole = |text: &str| Some(Whole::After(text.to_owned()));
        for operation in [Operation::Delete, Operation::Update] {
            edited(&mut recalled, 3, hunk("a", 1, "x", "y"), whole("y\n"));
            recalled
                .take(&mut card(4, CardStatus::Applied, file_named("a", operation), Vec::new()), Vec::new());
            assert_eq!(misfits(&mut recalled, "a", "y"), None, "{operation:?}");
        }
        assert_eq!((recalled.kept_bytes, recalled.texts.len()), (0, 0));
        // Of too much the older half goes, and a single text that is too large is not kept at all.
        let text = "y\n".repeat(LIMIT_KEPT_BYTES / 20);
        for name in 0..20 {
            edited(&mut recalled, 3, hunk(&name.to_string(), 1, "x", "y"), whole(&text));
        }
        assert!(recalled.kept_bytes <= LIMIT_KEPT_BYTES, "{}", recalled.kept_bytes);
        assert!(recalled.texts.contains_key("19") && !recalled.texts.contains_key("0"));
        edited(&mut recalled, 3, hunk("l", 1, "x", "y"), whole(&text.repeat(11)));
        assert!(!recalled.texts.contains_key("l"));
    }
}
