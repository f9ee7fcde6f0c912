//! Work on many things at once, whose results are taken in the order of the things.
//!
//! A thing that is ahead of its turn is worked on as long as few results wait, counted in bytes over all things: many
//! small things go on beside a large one whose turn it is.

use std::sync::Arc;
use std::sync::Condvar;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::Duration;

use crate::render::crew::Crew;

/// So many things are worked on at once, if the machine has the processors.
const WORKERS_CAP: usize = 64;

/// So many bytes of results wait for their turn; then their workers do.
const WAITING_BYTES: usize = 64 << 20;

/// Returns how many workers are worth having.
pub fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(WORKERS_CAP)
}

/// Returns all workers, for the parts of one thing.
pub fn crew() -> Crew {
    Crew::new(workers, |count, work| {
        std::thread::scope(|scope| {
            (1..count).for_each(|part| drop(scope.spawn(move || work(part))));
            work(0);
        });
    })
}

#[derive(Debug, Default)]
struct State {
    /// The thing whose results are taken now.
    turn: usize,
    waiting_bytes: usize,
    /// Nobody takes results any more.
    is_closed: bool,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_all();
    }
}

/// Nobody takes results any more.
#[derive(Debug)]
pub struct Closed;

/// Where the results of one thing go.
#[derive(Debug)]
pub struct Outbox<M> {
    index: usize,
    sender: mpsc::Sender<(M, usize)>,
    shared: Arc<Shared>,
}

impl<M> Outbox<M> {
    /// Sends a result that takes about so many bytes; waits if too many wait already and it is not this thing's turn.
    pub fn send(&self, result: M, bytes: usize) -> Result<(), Closed> {
        let state = self.shared.state();
        let must_wait = |state: &mut State| {
            !state.is_closed && state.turn != self.index && state.waiting_bytes + bytes > WAITING_BYTES
        };
        let waited = self.shared.changed.wait_while(state, must_wait);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.is_closed {
            return Err(Closed);
        }
        state.waiting_bytes += bytes;
        self.sender.send((result, bytes)).map_err(|_| Closed)
    }
}

/// The results of all things, in their order.
#[derive(Debug)]
pub struct Results<M> {
    /// Each thing's, from the last one to the one whose turn it is.
    receivers: Vec<mpsc::Receiver<(M, usize)>>,
    count: usize,
    shared: Arc<Shared>,
}

impl<M> Drop for Results<M> {
    fn drop(&mut self) {
        self.shared.change(|state| state.is_closed = true);
    }
}

/// What comes next.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<M> {
    /// A result of the thing of that number.
    Result(usize, M),
    /// Nothing came in time.
    Nothing,
    /// All results were taken.
    End,
}

impl<M> Results<M> {
    /// Returns the next result; waits for it as long as told, or for as long as it takes.
    pub fn next(&mut self, limit: Option<Duration>) -> Next<M> {
        while let Some(receiver) = self.receivers.last() {
            let index = self.count - self.receivers.len();
            let received = match limit {
                Some(limit) => receiver.recv_timeout(limit),
                None => receiver.recv().map_err(|_| mpsc::RecvTimeoutError::Disconnected),
            };
            match received {
                Ok((result, bytes)) => {
                    self.shared.change(|state| state.waiting_bytes -= bytes);
                    return Next::Result(index, result);
                }
                Err(mpsc::RecvTimeoutError::Timeout) => return Next::Nothing,
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    self.receivers.pop();
                    self.shared.change(|state| state.turn = index + 1);
                }
            }
        }
        Next::End
    }
}

/// Starts the work on things 0 to `count`.
///
/// Things are begun in their order, so that the one whose turn it is always has a worker.
pub fn start<M: Send + 'static>(
    count: usize,
    workers: usize,
    work: impl Fn(usize, &Outbox<M>) + Send + Sync + 'static,
) -> Results<M> {
    let shared = Arc::<Shared>::default();
    let outbox = |index: usize| {
        let (sender, receiver) = mpsc::channel();
        (Mutex::new(Some(Outbox { index, sender, shared: Arc::clone(&shared) })), receiver)
    };
    let (outboxes, mut receivers): (Vec<_>, Vec<_>) = (0..count).map(outbox).unzip();
    receivers.reverse();
    let common = Arc::new((outboxes, work, AtomicUsize::new(0)));
    for _ in 0..workers.min(count) {
        let common = Arc::clone(&common);
        std::thread::spawn(move || {
            let (outboxes, work, next) = &*common;
            while let Some(outbox) = outboxes.get(next.fetch_add(1, Ordering::Relaxed)) {
                let outbox = outbox.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(outbox) = outbox {
                    work(outbox.index, &outbox);
                }
            }
        });
    }
    Results { receivers, count, shared }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all<M>(mut results: Results<M>) -> Vec<(usize, M)> {
        let mut taken = Vec::new();
        while let Next::Result(index, result) = results.next(None) {
            taken.push((index, result));
        }
        taken
    }

    #[test]
    fn results_come_in_the_order_of_the_things() {
        for workers in [1, 2, 8] {
            // Each result is so large that few may wait.
            let results = start(50, workers, |_, outbox| {
                (0..5).for_each(|part| outbox.send(part, WAITING_BYTES / 3).unwrap());
            });
            let wanted: Vec<(usize, usize)> =
                (0..50).flat_map(|index| (0..5).map(move |part| (index, part))).collect();
            assert_eq!(all(results), wanted);
        }
        assert_eq!(all(start(0, 2, |_, _: &Outbox<()>| {})), []);
    }

    #[test]
    fn small_things_go_on_beside_a_large_one() {
        let (done, finished) = mpsc::channel();
        let done = Mutex::new(done);
        let (release, released) = mpsc::channel::<()>();
        let released = Mutex::new(released);
        let mut results = start(20, 2, move |index, outbox| {
            if index == 0 {
                // The first thing ends after all others have: they must not wait for their turn.
                let _ = released.lock().unwrap().recv();
            }
            (0..10).for_each(|_| outbox.send((), 10).unwrap());
            let _ = done.lock().unwrap().send(index);
        });
        let others: Vec<usize> = finished.iter().take(19).collect();
        assert_eq!(others, (1..20).collect::<Vec<_>>());
        assert_eq!(results.next(Some(Duration::ZERO)), Next::Nothing);
        drop(release);
        assert_eq!(all(results).len(), 200);
    }

    #[test]
    fn a_worker_whose_results_nobody_takes_ends() {
        let (ended, ends) = mpsc::channel();
        let ended = Mutex::new(ended);
        let mut results = start(3, 2, move |index, outbox| {
            while outbox.send(index, WAITING_BYTES).is_ok() {}
            let _ = ended.lock().unwrap().send(());
        });
        assert_eq!(results.next(None), Next::Result(0, 0));
        drop(results);
        assert_eq!(ends.iter().count(), 3);
    }
}
