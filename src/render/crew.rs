//! One thing of many parts, worked on at once: a file with tens of thousands of changed lines.
//!
//! The core starts no threads. Who has some lends them as a [`Crew`]; what is made is the same without.

use std::fmt;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::PoisonError;

/// Less text than this is done before a worker has begun.
const LEAST_BYTES: usize = 256 << 10;

/// Calls work for each number below a count, in any order or at once, and returns when all of it is done.
pub type Run = fn(usize, &(dyn Fn(usize) + Sync));

/// Those who can work at once.
#[derive(Clone, Copy)]
pub struct Crew {
    workers: fn() -> usize,
    run: Run,
}

impl Crew {
    /// Nobody but the caller.
    pub const ALONE: Self = Crew { workers: || 1, run: |count, work| (0..count).for_each(work) };

    /// Returns a crew; `workers` is asked only if there is enough to do.
    pub fn new(workers: fn() -> usize, run: Run) -> Self {
        Crew { workers, run }
    }

    /// Cuts things into runs of about the same size, one for each worker: into a single one, if they are small.
    ///
    /// `bytes` tells how much text a thing has.
    pub(crate) fn cut<T>(self, things: &[T], bytes: impl Fn(&T) -> usize) -> Vec<Range<usize>> {
        let total: usize = things.iter().map(&bytes).sum();
        let most = total / LEAST_BYTES;
        let count = if most < 2 { 1 } else { most.min((self.workers)()) };
        let mut runs = Vec::with_capacity(count);
        let (mut start, mut seen) = (0, 0);
        for (index, thing) in things.iter().enumerate() {
            seen += bytes(thing);
            if runs.len() + 1 < count && seen.saturating_mul(count) >= total.saturating_mul(runs.len() + 1) {
                runs.push(start..index + 1);
                start = index + 1;
            }
        }
        runs.push(start..things.len());
        runs
    }

    /// Returns what is made of each number below a count, in their order.
    pub(crate) fn each<R: Send>(self, count: usize, make: impl Fn(usize) -> R + Sync) -> Vec<R> {
        if count == 1 {
            return vec![make(0)];
        }
        let made: Vec<Mutex<Option<R>>> = (0..count).map(|_| Mutex::default()).collect();
        (self.run)(count, &|part| {
            *made[part].lock().unwrap_or_else(PoisonError::into_inner) = Some(make(part));
        });
        made.into_iter()
            .filter_map(|made| made.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect()
    }

    /// Returns what is made of each thing, in order.
    pub(crate) fn map<'t, T: Sync, R: Send>(
        self,
        things: &'t [T],
        bytes: impl Fn(&T) -> usize,
        make: impl Fn(&'t T) -> R + Sync,
    ) -> Vec<R> {
        let runs = self.cut(things, bytes);
        let made =
            self.each(runs.len(), |part| things[runs[part].clone()].iter().map(&make).collect::<Vec<R>>());
        made.into_iter().flatten().collect()
    }
}

impl fmt::Debug for Crew {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Crew").finish_non_exhaustive()
    }
}

impl PartialEq for Crew {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::fn_addr_eq(self.workers, other.workers) && std::ptr::fn_addr_eq(self.run, other.run)
    }
}

impl Eq for Crew {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three who work in the wrong order.
    fn backwards() -> Crew {
        Crew::new(|| 3, |count, work| (0..count).rev().for_each(work))
    }

    #[test]
    fn runs_follow_each_other_and_cover_all() {
        for count in [0, 1, 2, 7, 1000] {
            for size in [0, 1, LEAST_BYTES, 3 * LEAST_BYTES] {
                let runs = backwards().cut(&vec![size; count], |size| *size);
                assert_eq!((runs[0].start, runs[runs.len() - 1].end), (0, count));
                assert!(runs.windows(2).all(|pair| pair[0].end == pair[1].start), "{runs:?}");
                assert!(runs.len() <= (size * count / LEAST_BYTES).clamp(1, 3), "{runs:?}");
            }
        }
        let sizes = vec![LEAST_BYTES; 9];
        assert_eq!(backwards().cut(&sizes, |size| *size), [0..3, 3..6, 6..9]);
        assert_eq!(Crew::ALONE.cut(&sizes, |size| *size).len(), 1);
    }

    #[test]
    fn what_is_made_is_in_the_order_of_the_things() {
        let things: Vec<usize> = (0..1000).collect();
        let doubled: Vec<usize> = things.iter().map(|thing| 2 * thing).collect();
        for crew in [Crew::ALONE, backwards()] {
            assert_eq!(crew.map(&things, |_| 0, |thing| 2 * thing), doubled);
            assert_eq!(crew.map(&things, |_| LEAST_BYTES, |thing| 2 * thing), doubled);
            // All of it in one thing.
            assert_eq!(crew.map(&things, |thing| thing / 999 * 9 * LEAST_BYTES, |thing| 2 * thing), doubled);
        }
    }
}
