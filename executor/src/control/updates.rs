//! A subscription: a thread that sends what has changed, again and again.
//!
//! ```text
//!   due ─▶ feed ─▶ written, for as long as the client takes to read it ─▶ the next one that is due then; those between are passed over
//! ```

use super::line::Line;
use crate::agent::Agent;
use crate::control::subscription::Feed;
use crate::control::threads::spawn;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use veneer_protocol::{EVERY, Reply, Subscription};

/// Ends when it is dropped.
pub struct Updates {
    _end: Sender<()>,
}

impl Updates {
    /// Begins to send; the first update goes at once.
    pub fn start(
        agent: &'static Agent,
        line: &Line,
        wanted: Subscription,
    ) -> std::io::Result<Updates> {
        let period = Duration::from_millis(wanted.every.clamp(*EVERY.start(), *EVERY.end()));
        let connection = line.try_clone()?;
        let line = line.clone();
        let (end, ended) = channel::<()>();
        spawn("veneer-updates", move || {
            let mut feed = Feed::new(wanted);
            let begun = Instant::now();
            let mut number = 1;
            loop {
                let update = feed.next(agent, number);
                if line.write(&Reply::Update(Box::new(update))).is_err() {
                    // Whoever reads learns it too.
                    return connection.shutdown();
                }
                let passed = begun.elapsed().as_millis() / period.as_millis().max(1);
                let next = u64::try_from(passed).unwrap_or(u64::MAX - 2) + 1;
                let due = period * u32::try_from(next).unwrap_or(u32::MAX);
                number = next + 1;
                match ended.recv_timeout(due.saturating_sub(begun.elapsed())) {
                    Err(RecvTimeoutError::Timeout) => {}
                    _ => return,
                }
            }
        })?;
        Ok(Updates { _end: end })
    }
}
