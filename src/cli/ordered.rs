//! Work on many things at once, whose results are taken in the order of the things.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::sync::mpsc;

/// So many things are worked on at once, if the machine has the processors.
const WORKERS_CAP: usize = 8;

/// So many results of one thing wait for their turn; then its worker waits.
const QUEUED_RESULTS: usize = 2;

/// Returns how many workers are worth having.
pub fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(WORKERS_CAP)
}

/// Starts the work on things 0 to `count`; returns what each will send, in their order.
///
/// Things are begun in their order, so that the one whose turn it is always has a worker: one that is ahead of its turn
/// waits when a few of its results do.
pub fn start<M: Send + 'static>(
    count: usize,
    workers: usize,
    work: impl Fn(usize, &mpsc::SyncSender<M>) + Send + Sync + 'static,
) -> Vec<mpsc::Receiver<M>> {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..count)
        .map(|_| {
            let (sender, receiver) = mpsc::sync_channel(QUEUED_RESULTS);
            (Mutex::new(Some(sender)), receiver)
        })
        .unzip();
    let shared = Arc::new((senders, work, AtomicUsize::new(0)));
    for _ in 0..workers.min(count) {
        let shared = Arc::clone(&shared);
        std::thread::spawn(move || {
            let (senders, work, next) = &*shared;
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(sender) = senders.get(index) else { return };
                let sender = sender.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(sender) = sender {
                    work(index, &sender);
                }
            }
        });
    }
    receivers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_things() {
        for workers in [1, 2, 8] {
            let receivers = start(50, workers, |index, sender| {
                for part in 0..5 {
                    sender.send((index, part)).unwrap();
                }
            });
            let results: Vec<(usize, usize)> = receivers.into_iter().flatten().collect();
            let wanted: Vec<(usize, usize)> =
                (0..50).flat_map(|index| (0..5).map(move |part| (index, part))).collect();
            assert_eq!(results, wanted);
        }
    }

    #[test]
    fn a_worker_whose_results_nobody_takes_ends() {
        let mut receivers = start(3, 2, |index, sender| while sender.send(index).is_ok() {});
        receivers.truncate(1);
        assert_eq!(receivers[0].recv(), Ok(0));
    }
}
