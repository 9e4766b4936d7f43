//! The thread that sends updates to a subscribed client.
//!
//! An update is due at the start and then after each period. The thread writes one update after
//! another and waits until the client has read enough for the connection to accept it. Updates
//! that become due during a write are skipped; the numbers of the written updates show the gap.

use super::reply_writer::ReplyWriter;
use super::subscription::SubscriptionFeed;
use super::threads::spawn;
use crate::agent::Agent;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use veneer_protocol::{Reply, Subscription, UPDATE_PERIOD_MILLIS};

/// A running update thread. The thread ends when this value is dropped.
pub struct UpdateThread {
    _end: Sender<()>,
}

impl UpdateThread {
    /// Starts the thread, which sends the first update at once.
    pub fn start(
        agent: &'static Agent,
        writer: &ReplyWriter,
        subscription: Subscription,
    ) -> std::io::Result<UpdateThread> {
        let period = Duration::from_millis(
            subscription
                .every
                .clamp(*UPDATE_PERIOD_MILLIS.start(), *UPDATE_PERIOD_MILLIS.end()),
        );
        let connection = writer.try_clone_stream()?;
        let writer = writer.clone();
        let (end, ended) = channel::<()>();
        spawn("veneer-updates", move || {
            let mut feed = SubscriptionFeed::new(subscription);
            let started = Instant::now();
            let mut number = 1;
            loop {
                let update = feed.next(agent, number);
                if writer.write(&Reply::Update(Box::new(update))).is_err() {
                    // The thread that reads requests wakes and ends the session.
                    return connection.shutdown();
                }
                let (next, wait) = next_update(started.elapsed(), period);
                number = next;
                match ended.recv_timeout(wait) {
                    Err(RecvTimeoutError::Timeout) => {}
                    _ => return,
                }
            }
        })?;
        Ok(UpdateThread { _end: end })
    }
}

/// Returns the number of the next due update and the time until it is due. Update 1 is due at the
/// start, so update `n` is due after `n - 1` periods.
fn next_update(elapsed: Duration, period: Duration) -> (u64, Duration) {
    let passed = elapsed.as_millis() / period.as_millis().max(1);
    let periods = u64::try_from(passed).unwrap_or(u64::MAX - 2) + 1;
    let due = period.saturating_mul(u32::try_from(periods).unwrap_or(u32::MAX));
    (periods + 1, due.saturating_sub(elapsed))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_millis(100);

    fn next_after(millis: u64) -> (u64, u64) {
        let (number, wait) = next_update(Duration::from_millis(millis), PERIOD);
        (number, wait.as_millis() as u64)
    }

    #[test]
    fn an_update_is_due_at_each_multiple_of_the_period() {
        assert_eq!(next_after(0), (2, 100));
        assert_eq!(next_after(30), (2, 70));
        assert_eq!(next_after(100), (3, 100));
    }

    #[test]
    fn updates_that_became_due_during_a_write_are_skipped() {
        // Updates 2, 3 and 4 were due after 100, 200 and 300 ms.
        assert_eq!(next_after(350), (5, 50));
    }

    #[test]
    fn a_period_of_zero_does_not_divide_by_zero() {
        let (number, wait) = next_update(Duration::from_millis(7), Duration::ZERO);
        assert_eq!((number, wait), (9, Duration::ZERO));
    }
}
