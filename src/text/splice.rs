//! Replacements of byte ranges: sorted, composed, taken back, and copied out without building the whole.
//!
//! All ranges are raw byte offsets into one preimage. What lies outside of them is copied, never looked at.

use std::collections::VecDeque;
use std::ops::Range;

/// One replaced byte range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    /// The range of the preimage that goes; empty for an insertion.
    pub range: Range<usize>,
    /// The bytes that come in its place.
    pub new: Vec<u8>,
}

/// Replacements of one preimage, in order and without overlap.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Splices {
    list: Vec<Splice>,
}

impl Splices {
    /// Takes replacements in any order; `None` if two of them overlap.
    ///
    /// Two insertions at one offset stay in the order in which they were given. Splices that replace bytes by the
    /// same number of bytes are kept as they are; whether they change anything is for the caller to compare.
    pub fn new(mut list: Vec<Splice>) -> Option<Self> {
        list.sort_by_key(|splice| (splice.range.start, splice.range.end));
        let overlaps = list.windows(2).any(|pair| pair[0].range.end > pair[1].range.start);
        (!overlaps).then_some(Splices { list })
    }

    /// Returns the replacements, sorted by offset.
    pub fn list(&self) -> &[Splice] {
        &self.list
    }

    /// Returns the replacements as a list, sorted by offset.
    pub fn into_list(self) -> Vec<Splice> {
        self.list
    }

    /// Tells whether nothing is replaced.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns how many bytes the postimage of a preimage of `preimage_bytes` has.
    pub fn postimage_len(&self, preimage_bytes: usize) -> usize {
        self.list.iter().fold(preimage_bytes, |length, splice| length + splice.new.len() - splice.range.len())
    }

    /// Iterates over the pieces whose concatenation is the postimage.
    pub fn pieces<'a>(&'a self, preimage: &'a [u8]) -> impl Iterator<Item = &'a [u8]> + 'a {
        let mut copied = 0;
        let last = self.list.last().map_or(0, |splice| splice.range.end);
        self.list
            .iter()
            .flat_map(move |splice| {
                let kept = &preimage[copied..splice.range.start];
                copied = splice.range.end;
                [kept, splice.new.as_slice()]
            })
            .chain(std::iter::once(&preimage[last..]))
            .filter(|piece| !piece.is_empty())
    }

    /// Returns the whole postimage.
    pub fn apply(&self, preimage: &[u8]) -> Vec<u8> {
        let mut postimage = Vec::with_capacity(self.postimage_len(preimage.len()));
        for piece in self.pieces(preimage) {
            postimage.extend_from_slice(piece);
        }
        postimage
    }

    /// Returns the replacements that lead from this postimage back to `preimage`.
    pub fn invert(&self, preimage: &[u8]) -> Splices {
        let mut list = Vec::with_capacity(self.list.len());
        let (mut grown, mut shrunk) = (0, 0);
        for splice in &self.list {
            let start = splice.range.start + grown - shrunk;
            list.push(Splice {
                range: start..start + splice.new.len(),
                new: preimage[splice.range.clone()].to_vec(),
            });
            grown += splice.new.len();
            shrunk += splice.range.len();
        }
        Splices { list }
    }

    /// Returns the replacements that do this and then `later`, whose ranges are offsets into this postimage.
    ///
    /// All ranges of the answer are offsets into the first preimage. Cost: the replacements of both, and their bytes.
    pub fn then(self, later: Splices) -> Splices {
        let mut middle = Segments::of(self);
        let mut composed = Composed::default();
        let mut taken = 0;
        for splice in later.list {
            middle.advance(splice.range.start - taken, |segment| composed.push(segment));
            middle.advance(splice.range.len(), |_| {});
            composed.push(Segment::New(splice.new));
            taken = splice.range.end;
        }
        middle.rest.into_iter().for_each(|segment| composed.push(segment));
        Splices { list: composed.list }
    }
}

/// A stretch of an image: kept bytes of the preimage, or new bytes.
enum Segment {
    Kept(Range<usize>),
    New(Vec<u8>),
}

/// The image that splices make, as segments; the last one has no end, since the preimage's length is not known here.
struct Segments {
    rest: VecDeque<Segment>,
}

impl Segments {
    fn of(splices: Splices) -> Self {
        let mut rest = VecDeque::with_capacity(2 * splices.list.len() + 1);
        let mut kept_from = 0;
        for splice in splices.list {
            rest.push_back(Segment::Kept(kept_from..splice.range.start));
            rest.push_back(Segment::New(splice.new));
            kept_from = splice.range.end;
        }
        rest.push_back(Segment::Kept(kept_from..usize::MAX));
        Segments { rest }
    }

    /// Takes the next `length_bytes` bytes off and hands them over, cut at segment borders.
    fn advance(&mut self, mut length_bytes: usize, mut take: impl FnMut(Segment)) {
        while length_bytes > 0 {
            let Some(segment) = self.rest.pop_front() else { return };
            let available = match &segment {
                Segment::Kept(range) => range.len(),
                Segment::New(bytes) => bytes.len(),
            };
            if available <= length_bytes {
                length_bytes -= available;
                take(segment);
                continue;
            }
            match segment {
                Segment::Kept(range) => {
                    let cut = range.start + length_bytes;
                    self.rest.push_front(Segment::Kept(cut..range.end));
                    take(Segment::Kept(range.start..cut));
                }
                Segment::New(mut bytes) => {
                    let tail = bytes.split_off(length_bytes);
                    self.rest.push_front(Segment::New(tail));
                    take(Segment::New(bytes));
                }
            }
            return;
        }
    }
}

/// Folds segments back into splices; replacements that touch become one.
#[derive(Default)]
struct Composed {
    list: Vec<Splice>,
    old_end: usize,
    pending: Vec<u8>,
}

impl Composed {
    fn push(&mut self, segment: Segment) {
        match segment {
            Segment::New(mut bytes) if self.pending.is_empty() => self.pending = std::mem::take(&mut bytes),
            Segment::New(bytes) => self.pending.extend_from_slice(&bytes),
            Segment::Kept(range) if range.is_empty() => {}
            Segment::Kept(range) => {
                if range.start > self.old_end || !self.pending.is_empty() {
                    let new = std::mem::take(&mut self.pending);
                    self.list.push(Splice { range: self.old_end..range.start, new });
                }
                self.old_end = range.end;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn splices(preimage_bytes: usize) -> impl Strategy<Value = Splices> {
        let one = (0..=preimage_bytes, 0usize..4, prop::collection::vec(any::<u8>(), 0..4));
        prop::collection::vec(one, 0..6).prop_map(move |parts| {
            let mut list: Vec<Splice> = Vec::new();
            let mut sorted = parts;
            sorted.sort_by_key(|part| part.0);
            let mut free_from = 0;
            for (start, length, new) in sorted {
                let start = start.max(free_from);
                let end = (start + length).min(preimage_bytes);
                if start <= end {
                    list.push(Splice { range: start..end, new });
                    free_from = end;
                }
            }
            Splices::new(list).unwrap_or_default()
        })
    }

    #[test]
    fn overlapping_ranges_are_no_splices() {
        let splice = |range: Range<usize>| Splice { range, new: vec![] };
        assert_eq!(Splices::new(vec![splice(2..5), splice(4..6)]), None);
        assert!(Splices::new(vec![splice(4..6), splice(2..4)]).is_some());
    }

    proptest! {
        #[test]
        fn composed_splices_do_what_one_after_the_other_does(
            (preimage, first, second) in prop::collection::vec(any::<u8>(), 0..24).prop_flat_map(|preimage| {
                let first = splices(preimage.len());
                (Just(preimage), first)
            }).prop_flat_map(|(preimage, first)| {
                let second = splices(first.postimage_len(preimage.len()));
                (Just(preimage), Just(first), second)
            })
        ) {
            let middle = first.apply(&preimage);
            let last = second.apply(&middle);
            let composed = first.clone().then(second);
            prop_assert_eq!(composed.apply(&preimage), last.clone());
            prop_assert_eq!(composed.postimage_len(preimage.len()), last.len());
            prop_assert!(Splices::new(composed.list().to_vec()).is_some());
            prop_assert_eq!(composed.invert(&preimage).apply(&last), preimage.clone());
            prop_assert_eq!(first.invert(&preimage).apply(&middle), preimage);
        }
    }
}
