//! Decides when a preview goes out. Knows neither what is sent nor what time it is: the clock is an argument.

/// The throttle of one call.
///
/// The first change goes out at once. After a send, changes wait until the interval is over; a newer one replaces
/// the waiting one, and what waits goes out when the interval ends even if nothing more arrives. The caller keeps
/// only its newest state, so nothing queues behind a slow reader.
///
/// ```
/// use hunkwise::session::Throttle;
/// let mut throttle = Throttle::new(500);
/// assert!(throttle.changed(1_000));
/// assert!(!throttle.changed(1_200));
/// assert_eq!(throttle.due(), Some(1_500));
/// assert!(throttle.tick(1_500));
/// assert!(!throttle.flush());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Throttle {
    interval_ms: u64,
    last_sent_ms: Option<u64>,
    is_pending: bool,
}

impl Throttle {
    /// Returns a throttle that lets one state out per `interval_ms`; 0 lets every state out.
    pub fn new(interval_ms: u64) -> Self {
        Throttle { interval_ms, last_sent_ms: None, is_pending: false }
    }

    /// Says that the state changed; returns whether it goes out now.
    pub fn changed(&mut self, now_ms: u64) -> bool {
        self.is_pending = true;
        self.tick(now_ms)
    }

    /// Says that the state changed and that it waits for the end of the call, which is near.
    pub fn hold(&mut self) {
        self.is_pending = true;
    }

    /// Returns when the waiting state must go out, in the milliseconds of the caller's clock; `None` if none waits.
    pub fn due(&self) -> Option<u64> {
        self.is_pending.then(|| self.next_ms())
    }

    /// Says what time it is; returns whether the waiting state goes out now.
    pub fn tick(&mut self, now_ms: u64) -> bool {
        // A clock that steps back must not send early: the interval counts from the last send, whatever follows.
        let goes_out = self.is_pending && now_ms >= self.next_ms();
        if goes_out {
            self.is_pending = false;
            self.last_sent_ms = Some(now_ms);
        }
        goes_out
    }

    /// Ends the call; returns whether a state still waits, which then goes out whatever the time.
    pub fn flush(&mut self) -> bool {
        std::mem::take(&mut self.is_pending)
    }

    fn next_ms(&self) -> u64 {
        self.last_sent_ms.map_or(0, |sent_ms| sent_ms.saturating_add(self.interval_ms))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn first_change_goes_out_at_once_and_the_rest_waits() {
        let mut throttle = Throttle::new(500);
        assert_eq!(throttle.due(), None);
        assert!(throttle.changed(0));
        assert_eq!(throttle.due(), None);
        assert!(!throttle.changed(1));
        assert!(!throttle.changed(499));
        assert_eq!(throttle.due(), Some(500));
        assert!(!throttle.tick(499));
        assert!(throttle.tick(500));
        assert!(!throttle.tick(2_000), "an unchanged state is not sent again");
        assert!(throttle.changed(2_000), "the interval is long over");
    }

    #[test]
    fn flush_sends_what_waits_once() {
        let mut throttle = Throttle::new(500);
        assert!(!throttle.flush());
        assert!(throttle.changed(10));
        assert!(!throttle.changed(11));
        assert!(throttle.flush());
        assert!(!throttle.flush());
    }

    #[test]
    fn zero_interval_lets_everything_out() {
        let mut throttle = Throttle::new(0);
        assert!(throttle.changed(5));
        assert!(throttle.changed(5));
    }

    #[test]
    fn far_future_does_not_overflow() {
        let mut throttle = Throttle::new(u64::MAX);
        assert!(throttle.changed(u64::MAX));
        assert!(!throttle.changed(u64::MAX - 1));
        assert_eq!(throttle.due(), Some(u64::MAX));
    }

    proptest! {
        #[test]
        fn sends_keep_their_distance_and_the_last_state_is_sent(
            interval_ms in 0_u64..50,
            steps in prop::collection::vec((0_u64..30, any::<bool>()), 0..80),
        ) {
            let mut throttle = Throttle::new(interval_ms);
            let (mut now_ms, mut state, mut sent_state) = (0, 0, 0);
            let mut sent_ms: Vec<u64> = Vec::new();
            for (pause_ms, is_change) in steps {
                now_ms += pause_ms;
                state += u32::from(is_change);
                if if is_change { throttle.changed(now_ms) } else { throttle.tick(now_ms) } {
                    prop_assert!(sent_state < state, "an unchanged state was sent");
                    sent_state = state;
                    sent_ms.push(now_ms);
                }
                if let Some(due_ms) = throttle.due() {
                    prop_assert!(due_ms > now_ms, "what is due must have gone out");
                }
            }
            if throttle.flush() {
                sent_state = state;
            }
            prop_assert_eq!(sent_state, state);
            for pair in sent_ms.windows(2) {
                prop_assert!(pair[1] - pair[0] >= interval_ms);
            }
        }
    }
}
