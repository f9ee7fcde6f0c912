//! Where the hunks of a diff without line numbers stand in the text that they led to.

use crate::session::event::LoggedHunk;

/// How many comparisons of lines are worth a number.
const WORK_CAP: usize = 1 << 24;

/// Returns the hunks of a diff, with numbers where `after`, the whole text, proves them: every hunk stands there once.
///
/// The lines of several hunks follow each other without a mark between them. They are cut where the next line does not
/// follow in the text, between two lines of context.
pub(super) fn hunks(diff: &str, after: Option<&str>) -> Vec<LoggedHunk> {
    let diff = diff.strip_suffix('\n').unwrap_or(diff);
    let signed: Vec<&str> = diff.split('\n').collect();
    if let Some(hunks) = after.and_then(|after| located(&signed, after)) {
        return hunks;
    }
    vec![LoggedHunk { lines: signed.into_iter().map(str::to_owned).collect(), ..LoggedHunk::default() }]
}

/// Tells whether a line is in the text after the change.
fn is_new(line: &str) -> bool {
    !line.starts_with(['-', '\\'])
}

fn is_context(line: &str) -> bool {
    !line.starts_with(['-', '+', '\\'])
}

fn text_of(line: &str) -> &str {
    line.strip_prefix(['+', ' ']).unwrap_or(line).trim_end_matches('\r')
}

fn located(signed: &[&str], after: &str) -> Option<Vec<LoggedHunk>> {
    let after: Vec<&str> = after.split('\n').map(|line| line.trim_end_matches('\r')).collect();
    if after.len().saturating_mul(signed.len()) > WORK_CAP {
        return None;
    }
    let mut hunks = Vec::new();
    let (mut from, mut behind, mut growth) = (0, 0, 0);
    while from < signed.len() {
        let (to, at) = longest(&signed[from..], &after)?;
        let lines = &signed[from..from + to];
        if at < behind {
            return None;
        }
        let new_start = i64::try_from(at).ok()? + 1;
        let count = |is_counted: fn(&str) -> bool| lines.iter().filter(|line| is_counted(line)).count();
        let old_start = usize::try_from(new_start - growth).ok()?;
        hunks.push(LoggedHunk {
            old_start: Some(old_start),
            new_start: Some(at + 1),
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        });
        let added = count(|line| line.starts_with('+'));
        let removed = count(|line| line.starts_with('-'));
        growth += i64::try_from(added).ok()? - i64::try_from(removed).ok()?;
        behind = at + count(is_new);
        from += to;
    }
    Some(hunks)
}

/// Returns how many of the lines, from the first on, stand together in the text, and where: 0-based. Nothing if they stand
/// there more than once, or can't be cut where they end.
fn longest(signed: &[&str], after: &[&str]) -> Option<(usize, usize)> {
    let new: Vec<(usize, &str)> = signed
        .iter()
        .enumerate()
        .filter(|(_, line)| is_new(line))
        .map(|(index, line)| (index, text_of(line)))
        .collect();
    // Only removed lines have no place in the text after.
    let (_, first) = new.first()?;
    let mut best: Option<(usize, usize)> = None;
    let mut is_only = true;
    for at in (0..after.len()).filter(|&at| after[at] == *first) {
        let run = new.iter().zip(&after[at..]).take_while(|((_, line), text)| line == *text).count();
        match best {
            Some((longest, _)) if run < longest => {}
            Some((longest, _)) if run == longest => is_only = false,
            _ => (best, is_only) = (Some((run, at)), true),
        }
    }
    let (run, at) = best.filter(|_| is_only)?;
    if run == new.len() {
        return Some((signed.len(), at));
    }
    let cut = new[run].0;
    (is_context(signed[cut]) && is_context(signed[cut - 1])).then_some((cut, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(diff: &str, after: &str) -> Vec<(Option<usize>, Option<usize>, usize)> {
        hunks(diff, Some(after))
            .into_iter()
            .map(|hunk| (hunk.old_start, hunk.new_start, hunk.lines.len()))
            .collect()
    }

    #[test]
    fn a_hunk_that_stands_once_has_numbers() {
        assert_eq!(starts(" b\n-c\n+C\n d", "a\nb\nC\nd\n"), [(Some(2), Some(2), 4)]);
        assert_eq!(starts("-a\n+A", "A"), [(Some(1), Some(1), 2)]);
        assert_eq!(starts(" b\n+c\n", "a\r\nb\r\nc\r\n"), [(Some(2), Some(2), 2)]);
    }

    #[test]
    fn hunks_are_cut_where_the_text_has_more() {
        let after = "a\nB\nb2\nc\nd\ne\nf\nG\nh\n";
        let diff = " a\n-b\n+B\n+b2\n c\n f\n-g\n+G\n h";
        assert_eq!(starts(diff, after), [(Some(1), Some(1), 5), (Some(6), Some(7), 4)]);
    }

    #[test]
    fn what_is_not_proved_has_no_numbers() {
        let none = |count| [(None, None, count)];
        // Twice in the text.
        assert_eq!(starts("-a\n+b", "b\nb\n"), none(2));
        // Not in the text.
        assert_eq!(starts(" x\n+y", "a\nb\n"), none(2));
        // A cut beside a changed line.
        assert_eq!(starts(" a\n+b\n c", "a\nb\nd\nc\n"), none(3));
        // Nothing of it is in the text.
        assert_eq!(starts("-a\n-b", "c\n"), none(2));
        // The wrong way round.
        assert_eq!(starts(" c\n+d\n e\n a\n+b", "a\nb\nc\nd\ne\n"), none(5));
        assert_eq!(hunks("-a\n+b", None).len(), 1);
    }
}
