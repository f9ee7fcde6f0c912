//! Brings calls and results together by id, each once, with bounded memory.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::collections::HashSet;
use std::collections::VecDeque;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use memchr::memmem;

use crate::patch::args::spelling::Family;

use super::event::Begin;
use super::event::CallResult;
use super::event::IdScope;
use super::event::Place;
use super::event::Request;

/// hunkwise's own call that takes an edit back; its arguments name no file.
pub const UNDO: &str = "undo";

/// How many calls are remembered after their result, to tell copies that a resumed session wrote again.
const REMEMBERED_CALLS_CAP: usize = 1 << 18;

/// How many bytes of requests are held for calls without a result; beyond, the oldest lose theirs.
const HELD_REQUESTS_CAP_BYTES: usize = 32 << 20;

/// Tells whether a call may edit a file. What is not told apart here is when the call is drawn.
fn may_edit(begin: &Begin<'_>) -> bool {
    let Request::Arguments(arguments) = &begin.request else { return true };
    match Family::of(&begin.tool) {
        Family::Any => begin.tool == UNDO,
        // Most commands only look; those that edit name a tool for it.
        Family::Shell => memmem::find(arguments.as_bytes(), b"apply").is_some(),
        Family::Write
        | Family::Edit
        | Family::Editor
        | Family::OpenEditor
        | Family::Patch
        | Family::Notebook => true,
    }
}

/// A call that waits for its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The id.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// What it asks for; absent if that was too much to hold.
    pub request: Option<Request<'static>>,
    /// Where the call stands in the log.
    pub place: Place,
    /// Why it was not allowed, in the log's word.
    pub refusal: Option<String>,
}

/// The calls that are open, and what is needed to tell copies.
#[derive(Debug)]
pub struct Pairs {
    id_scope: IdScope,
    /// The open calls, in their order.
    open: BTreeMap<u64, Call>,
    order_by_id: HashMap<String, u64, FixedState>,
    next_order: u64,
    held_bytes: usize,
    held_cap_bytes: usize,
    remembered_cap: usize,
    /// No call before this one holds a request.
    first_held: u64,
    /// Prints of ids and of whole calls.
    seen: HashSet<u128, FixedState>,
    seen_order: VecDeque<[u128; 2]>,
    duplicates: usize,
}

impl Default for Pairs {
    fn default() -> Self {
        Pairs::with_caps(HELD_REQUESTS_CAP_BYTES, REMEMBERED_CALLS_CAP)
    }
}

impl Pairs {
    /// Begins a log.
    pub fn new(id_scope: IdScope) -> Self {
        Pairs { id_scope, ..Pairs::default() }
    }

    fn with_caps(held_cap_bytes: usize, remembered_cap: usize) -> Self {
        Pairs {
            id_scope: IdScope::default(),
            open: BTreeMap::new(),
            order_by_id: HashMap::default(),
            next_order: 0,
            held_bytes: 0,
            held_cap_bytes,
            remembered_cap,
            first_held: 0,
            seen: HashSet::default(),
            seen_order: VecDeque::new(),
            duplicates: 0,
        }
    }

    /// Returns how many calls and results were copies of earlier ones.
    pub fn duplicates(&self) -> usize {
        self.duplicates
    }

    /// Tells whether a result for this id would mean anything: it ends a call, or it is a copy to be counted.
    pub fn knows(&self, call_id: &str) -> bool {
        self.order_by_id.contains_key(call_id) || self.seen.contains(&print_of(&call_id))
    }

    /// Takes a call in; one of a tool that edits nothing is dropped.
    ///
    /// The same id with the same tool and arguments, in the same [`IdScope`], is a copy. An id that comes again with anything else is
    /// another call: some models count their calls anew in every turn, and an edit must not vanish for that.
    pub fn begin(&mut self, begin: Begin<'_>) {
        if !may_edit(&begin) {
            return;
        }
        let prints = self.prints_of(&begin);
        if self.seen.contains(&prints[1]) {
            self.duplicates += 1;
            return;
        }
        self.remember(prints);
        let request = begin.request.into_owned();
        self.held_bytes += request.length_bytes();
        let id = begin.call_id.into_owned();
        self.order_by_id.insert(id.clone(), self.next_order);
        let tool = begin.tool.into_owned();
        let call = Call { id, tool, request: Some(request), place: begin.place, refusal: None };
        self.open.insert(self.next_order, call);
        self.next_order += 1;
        self.shed();
    }

    /// Takes in what a call asks for now. One that is not open begins.
    pub fn amend(&mut self, begin: Begin<'_>) {
        let prints = self.prints_of(&begin);
        let order = self.order_by_id.get(&*begin.call_id).copied();
        let Some((order, call)) = order.and_then(|order| Some((order, self.open.get_mut(&order)?))) else {
            return self.begin(begin);
        };
        call.tool = begin.tool.into_owned();
        let before = call.request.replace(begin.request.into_owned());
        self.held_bytes += call.request.as_ref().map_or(0, Request::length_bytes);
        self.held_bytes -= before.map_or(0, |request| request.length_bytes());
        // One that had lost its request holds one again.
        self.first_held = self.first_held.min(order);
        // The copy of a log holds the last state of each call.
        self.remember(prints);
        self.shed();
    }

    /// Says of an open call whether it was allowed.
    pub fn decide(&mut self, call_id: &str, refusal: Option<String>) {
        if let Some(call) = self.order_by_id.get(call_id).and_then(|order| self.open.get_mut(order)) {
            call.refusal = refusal;
        }
    }

    /// Returns the call that the result ends.
    pub fn end(&mut self, result: &CallResult) -> Option<Call> {
        let Some(order) = self.order_by_id.remove(&result.call_id) else {
            self.duplicates += usize::from(self.knows(&result.call_id));
            return None;
        };
        self.take(order)
    }

    /// Drops an open call that is told better by another.
    pub fn supersede(&mut self, call_id: &str) {
        if let Some(order) = self.order_by_id.remove(call_id) {
            self.take(order);
        }
    }

    fn take(&mut self, order: u64) -> Option<Call> {
        let call = self.open.remove(&order)?;
        self.held_bytes -= call.request.as_ref().map_or(0, Request::length_bytes);
        Some(call)
    }

    /// Ends the log; returns the calls without a result, in their order.
    pub fn finish(self) -> impl Iterator<Item = Call> {
        self.open.into_values()
    }

    /// Returns what tells an id, and a whole call, again.
    fn prints_of(&self, begin: &Begin<'_>) -> [u128; 2] {
        let turn = match self.id_scope {
            IdScope::Turn => begin.place.turn,
            IdScope::Log => None,
        };
        [print_of(&begin.call_id), print_of(&(&begin.call_id, &begin.tool, &begin.request, turn))]
    }

    fn remember(&mut self, prints: [u128; 2]) {
        self.seen.extend(prints);
        self.seen_order.push_back(prints);
        if self.seen_order.len() > self.remembered_cap
            && let Some(oldest) = self.seen_order.pop_front()
        {
            for print in oldest {
                self.seen.remove(&print);
            }
        }
    }

    /// Drops the requests of the oldest open calls until the rest is within the cap.
    fn shed(&mut self) {
        while self.held_bytes > self.held_cap_bytes {
            let Some((&order, call)) = self.open.range_mut(self.first_held..).next() else { return };
            self.held_bytes -= call.request.take().map_or(0, |request| request.length_bytes());
            self.first_held = order + 1;
        }
    }
}

/// Returns 128 bits that stand for a value. The seeds are fixed: the same log gives the same cards.
fn print_of(value: &impl std::hash::Hash) -> u128 {
    let half = |seed| u128::from(FixedState::with_seed(seed).hash_one(value));
    half(0x68_75_6E_6B) << 64 | half(0x77_69_73_65)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::report::CardStatus;

    fn begin(id: &'static str, tool: &'static str, arguments: &'static str) -> Begin<'static> {
        Begin {
            call_id: Cow::Borrowed(id),
            tool: Cow::Borrowed(tool),
            request: Request::Arguments(Cow::Borrowed(arguments)),
            place: Place::default(),
        }
    }

    fn result(id: &str) -> CallResult {
        CallResult::new(id.to_owned(), Place::default(), CardStatus::Applied)
    }

    fn arguments(call: Call) -> Option<String> {
        match call.request? {
            Request::Arguments(text) => Some(text.into_owned()),
            Request::Patch(_) | Request::Changes(_) => None,
        }
    }

    fn ids(pairs: Pairs) -> Vec<String> {
        pairs.finish().map(|call| call.id).collect()
    }

    #[test]
    fn results_find_their_calls_in_any_order() {
        let mut pairs = Pairs::default();
        for id in ["a", "b", "c", "d"] {
            pairs.begin(begin(id, "edit", "{}"));
        }
        assert_eq!(pairs.end(&result("c")).map(|call| call.id), Some("c".to_owned()));
        assert_eq!(pairs.end(&result("a")).map(|call| call.id), Some("a".to_owned()));
        assert_eq!(pairs.end(&result("x")), None);
        assert_eq!(pairs.duplicates(), 0);
        assert_eq!(ids(pairs), ["b", "d"]);
    }

    #[test]
    fn copies_are_counted_and_a_reused_id_is_another_call() {
        let mut pairs = Pairs::default();
        pairs.begin(begin("a", "edit", "1"));
        assert!(pairs.end(&result("a")).is_some());
        pairs.begin(begin("a", "edit", "1"));
        assert!(pairs.knows("a"));
        assert!(pairs.end(&result("a")).is_none());
        assert_eq!(pairs.duplicates(), 2);
        pairs.begin(begin("a", "edit", "2"));
        assert!(pairs.end(&result("a")).is_some());
        assert_eq!(pairs.duplicates(), 2);
    }

    #[test]
    fn a_later_turn_makes_another_call_only_where_ids_are_of_a_turn() {
        for (scope, wanted) in [(IdScope::Turn, 2), (IdScope::Log, 1)] {
            let mut pairs = Pairs::new(scope);
            for turn in [1, 2] {
                let place = Place { turn: Some(turn), ..Place::default() };
                pairs.begin(Begin { place, ..begin("a", "edit", "1") });
            }
            assert_eq!((pairs.duplicates(), ids(pairs).len()), (2 - wanted, wanted), "{scope:?}");
        }
    }

    #[test]
    fn id_that_is_reused_while_open_leaves_the_earlier_call_unanswered() {
        let mut pairs = Pairs::default();
        pairs.begin(begin("a", "edit", "1"));
        pairs.begin(begin("a", "edit", "2"));
        assert_eq!(pairs.end(&result("a")).and_then(arguments), Some("2".to_owned()));
        assert_eq!(ids(pairs), ["a"]);
    }

    #[test]
    fn a_call_that_is_told_anew_asks_for_the_new() {
        let mut pairs = Pairs::with_caps(10, 9);
        pairs.amend(begin("a", "read", "{}"));
        assert!(!pairs.knows("a"));
        pairs.amend(begin("a", "edit", "1"));
        pairs.amend(begin("a", "edit", "too much to hold"));
        assert_eq!(pairs.held_bytes, 0);
        pairs.amend(begin("a", "write", "22"));
        assert_eq!(pairs.held_bytes, 2);
        pairs.begin(begin("b", "edit", "this is too much"));
        assert_eq!(pairs.held_bytes, 0);
        pairs.amend(begin("a", "write", "22"));
        assert_eq!(pairs.end(&result("a")).and_then(arguments), Some("22".to_owned()));
        // A copy holds the last state.
        pairs.amend(begin("a", "write", "22"));
        assert_eq!((pairs.end(&result("a")), pairs.duplicates()), (None, 2));
    }

    #[test]
    fn other_tools_are_not_held() {
        let mut pairs = Pairs::default();
        pairs.begin(begin("a", "read", "{}"));
        assert!(!pairs.knows("a"));
        assert_eq!(ids(pairs), Vec::<String>::new());
    }

    #[test]
    fn only_so_many_calls_are_remembered() {
        let mut pairs = Pairs::with_caps(1000, 2);
        for id in ["a", "b", "c"] {
            pairs.begin(begin(id, "edit", "{}"));
            pairs.end(&result(id));
        }
        assert_eq!((pairs.seen.len(), pairs.seen_order.len()), (4, 2));
        assert!(!pairs.knows("a") && pairs.knows("b") && pairs.knows("c"));
    }

    #[test]
    fn too_many_arguments_cost_the_oldest_calls_theirs() {
        let mut pairs = Pairs::with_caps(10, 9);
        pairs.begin(begin("a", "edit", "aaaaaa"));
        pairs.begin(begin("b", "edit", "bbb"));
        pairs.begin(begin("c", "edit", "cccc"));
        assert_eq!(pairs.held_bytes, 7);
        pairs.begin(begin("d", "edit", "more than the cap"));
        assert_eq!(pairs.held_bytes, 0);
        pairs.begin(begin("e", "edit", "e"));
        let held: Vec<_> = pairs.finish().map(arguments).collect();
        assert_eq!(held, [None, None, None, None, Some("e".to_owned())]);
    }
}
