//! Which turn a line belongs to, and whether it was copied from the session that this one was forked from.
//!
//! A fork, and a sub-agent that is given its parent's history, begins with its own `session_meta`; the parent's and the
//! parent's lines follow, with the time at which they were copied. Nothing marks their end. But ids of sessions and of
//! turns are UUIDs of version 7, which hold the time at which they were made: a turn that is older than the session is
//! the parent's.

/// What says that a turn begins, weakest first. Logs of different times have different ones, and most have several for
/// one turn: the strongest that a log has counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TurnMark {
    /// The settings of a turn; old logs repeat them for every request.
    Context,
    /// A message of the user.
    UserMessage,
    /// The turn's own first event.
    Started,
    /// Any of these with the turn's id.
    Id,
}

/// Counts turns.
#[derive(Debug, Default)]
pub struct Turns {
    strongest: Option<TurnMark>,
    id: Option<String>,
    count: u64,
    /// The turn that began last has had no line of the model yet.
    is_fresh: bool,
}

impl Turns {
    /// Returns the 1-based number of the turn, if one has begun.
    pub fn current(&self) -> Option<u64> {
        (self.count > 0).then_some(self.count)
    }

    /// Takes in what says that a turn begins.
    pub fn mark(&mut self, mark: TurnMark, id: Option<&str>) {
        let mark = if id.is_some() { TurnMark::Id } else { mark };
        let before = self.strongest.replace(self.strongest.map_or(mark, |strongest| strongest.max(mark)));
        let begins = match before {
            Some(before) if mark < before => return,
            Some(before) if mark == before && mark == TurnMark::Id => self.id.as_deref() != id,
            // A stronger mark names the turn that a weaker one has just begun.
            Some(before) if mark > before => !self.is_fresh,
            Some(_) | None => true,
        };
        if begins {
            self.count += 1;
            self.is_fresh = true;
        }
        self.id = id.map(str::to_owned);
    }

    /// Says that the model did something.
    pub fn work(&mut self) {
        self.is_fresh = false;
    }
}

/// Tells copied lines from own ones.
#[derive(Debug, Default)]
pub struct Lineage {
    id: Option<String>,
    created: Option<String>,
    /// Copied lines may follow.
    may_copy: bool,
    /// The turn that the lines belong to is older than the session.
    is_old_turn: bool,
    /// Copied lines have kept their times.
    has_old_lines: bool,
}

impl Lineage {
    /// Takes in a `session_meta`; tells whether it is the log's own.
    pub fn session(&mut self, id: Option<&str>, created: Option<&str>, is_fork: bool) -> bool {
        if self.id.is_none() {
            self.id = id.map(str::to_owned);
            self.created = created.map(str::to_owned);
            self.may_copy = is_fork;
            return true;
        }
        // The session's own header, written again, ends what was copied.
        self.may_copy = self.id.as_deref() != id;
        self.is_old_turn = false;
        !self.may_copy
    }

    /// Takes in the id of a turn that begins.
    pub fn turn(&mut self, id: &str) {
        if !self.may_copy {
            return;
        }
        let own_ms = self.id.as_deref().and_then(made_ms);
        if let (Some(own_ms), Some(turn_ms)) = (own_ms, made_ms(id)) {
            self.is_old_turn = turn_ms < own_ms;
            self.may_copy = self.is_old_turn;
        }
    }

    /// Tells whether a line of that time was copied.
    pub fn is_copied(&mut self, time: Option<&str>) -> bool {
        let is_older = |created: &str| time.is_some_and(|time| is_before(time, created));
        let is_old_line = self.may_copy && self.created.as_deref().is_some_and(is_older);
        self.has_old_lines |= is_old_line;
        is_old_line || (self.may_copy && self.is_old_turn)
    }

    /// Tells whether lines may be copied ones without anything that shows it.
    pub fn is_unsure(&self) -> bool {
        self.may_copy && !self.is_old_turn && !self.has_old_lines
    }
}

/// Returns when a UUID of version 7 was made, in milliseconds since 1970.
fn made_ms(id: &str) -> Option<u64> {
    let bytes = id.as_bytes();
    let is_seventh = bytes.len() == 36 && bytes[8] == b'-' && bytes[13] == b'-' && bytes[14] == b'7';
    if !is_seventh || !bytes[..13].iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-') {
        return None;
    }
    let high = u64::from_str_radix(id.get(..8)?, 16).ok()?;
    let low = u64::from_str_radix(id.get(9..13)?, 16).ok()?;
    Some(high << 16 | low)
}

/// Compares two times of the same clock and zone, as Codex writes them.
fn is_before(time: &str, other: &str) -> bool {
    // Whole seconds are enough, and are written in one way only.
    let second =
        |time: &str| time.get(..19).filter(|second| second.as_bytes()[10] == b'T').map(str::to_owned);
    matches!((second(time), second(other)), (Some(time), Some(other)) if time < other)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "019a0000-2000-7000-8000-000000000000";
    const OLDER: &str = "019a0000-1000-7abc-8000-000000000000";
    const NEWER: &str = "019a0000-2001-7abc-8000-000000000000";

    fn turns(marks: &[(TurnMark, Option<&str>)]) -> Vec<Option<u64>> {
        let mut turns = Turns::default();
        let mut seen = Vec::new();
        for &(mark, id) in marks {
            turns.mark(mark, id);
            seen.push(turns.current());
        }
        seen
    }

    #[test]
    fn strongest_mark_counts() {
        use TurnMark::Context;
        use TurnMark::Started;
        use TurnMark::UserMessage;
        assert_eq!(Turns::default().current(), None);
        assert_eq!(turns(&[(Context, None), (Context, None)]), [Some(1), Some(2)]);
        assert_eq!(
            turns(&[(UserMessage, None), (Context, None), (Context, None), (UserMessage, None)]),
            [Some(1), Some(1), Some(1), Some(2)]
        );
        assert_eq!(
            turns(&[(Started, None), (UserMessage, None), (Context, None), (Started, None)]),
            [Some(1), Some(1), Some(1), Some(2)]
        );
        assert_eq!(
            turns(&[
                (UserMessage, None),
                (Context, Some("a")),
                (Context, Some("a")),
                (UserMessage, None),
                (Started, Some("b")),
                (Context, Some("b")),
            ]),
            [Some(1), Some(1), Some(1), Some(1), Some(2), Some(2)]
        );
    }

    #[test]
    fn mark_after_work_begins_a_turn() {
        let mut turns = Turns::default();
        turns.mark(TurnMark::UserMessage, None);
        turns.work();
        turns.mark(TurnMark::Started, None);
        assert_eq!(turns.current(), Some(2));
    }

    #[test]
    fn turns_older_than_a_fork_are_its_parents() {
        let mut lineage = Lineage::default();
        lineage.session(Some(OWN), Some("2026-01-02T00:00:00.500Z"), true);
        let time = Some("2026-01-02T00:00:00.700Z");
        assert!(!lineage.is_copied(time) && lineage.is_unsure());
        lineage.session(Some("parent"), Some("2026-01-01T00:00:00Z"), false);
        lineage.turn(OLDER);
        assert!(lineage.is_copied(time) && !lineage.is_unsure());
        lineage.turn(NEWER);
        assert!(!lineage.is_copied(time) && !lineage.is_unsure());
        lineage.turn(OLDER);
        assert!(!lineage.is_copied(time));
    }

    #[test]
    fn lines_older_than_a_fork_are_its_parents() {
        let mut lineage = Lineage::default();
        lineage.session(Some("own"), Some("2026-01-02T00:00:00.500Z"), false);
        lineage.session(Some("parent"), None, false);
        assert!(lineage.is_copied(Some("2026-01-01T23:59:59.999Z")));
        assert!(!lineage.is_copied(Some("2026-01-02T00:00:00.000Z")));
        assert!(!lineage.is_copied(Some("no time")));
        lineage.session(Some("own"), None, false);
        assert!(!lineage.is_copied(Some("2026-01-01T23:59:59.999Z")));
    }

    #[test]
    fn session_without_a_parent_copies_nothing() {
        let mut lineage = Lineage::default();
        lineage.session(Some(OWN), Some("2026-01-02T00:00:00.500Z"), false);
        lineage.turn(OLDER);
        assert!(!lineage.is_copied(Some("2026-01-01T00:00:00.000Z")));
    }
}
