//! The queue of events between the threads of the JVM and the plan thread.

use parking_lot::Mutex;
use std::mem;
use veneer_instruments::{VmEvent, VmEventKind};

/// The most events that wait for the plan thread. Later events are dropped and counted.
pub const MAX_WAITING_EVENTS: usize = 10_000;

#[derive(Default)]
struct Waiting {
    events: Vec<VmEvent>,
    /// The number of dropped events of each kind, in the order of [`VmEventKind::ALL`].
    dropped: [u64; VmEventKind::ALL.len()],
}

/// A bounded queue. The lock is held only while an event is moved in, or all are moved out, so the
/// threads of the JVM never wait for a plan.
#[derive(Default)]
pub struct EventQueue(Mutex<Waiting>);

impl EventQueue {
    /// Adds an event, or counts it as dropped. Returns whether the plan thread must be told,
    /// because the queue was empty.
    pub fn push(&self, mut event: VmEvent) -> bool {
        let mut waiting = self.0.lock();
        let Some(dropped) = waiting.dropped.get_mut(event.kind as usize) else {
            return false;
        };
        event.dropped = *dropped;
        if waiting.events.len() >= MAX_WAITING_EVENTS {
            waiting.dropped[event.kind as usize] += 1;
            return false;
        }
        waiting.events.push(event);
        waiting.events.len() == 1
    }

    /// Removes all events, the oldest first.
    pub fn take(&self) -> Vec<VmEvent> {
        mem::take(&mut self.0.lock().events)
    }

    /// The number of events of a kind that were dropped so far.
    pub fn dropped(&self, kind: VmEventKind) -> u64 {
        let waiting = self.0.lock();
        waiting.dropped.get(kind as usize).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_counts_what_it_drops_and_later_events_say_so() {
        let queue = EventQueue::default();
        let event = |time| VmEvent::new(VmEventKind::Collection, time);
        assert!(queue.push(event(0)));
        for time in 1..MAX_WAITING_EVENTS as u64 + 5 {
            assert!(!queue.push(event(time)));
        }
        assert!(!queue.push(VmEvent::new(VmEventKind::Wait, 9)));
        let events = queue.take();
        assert_eq!(events.len(), MAX_WAITING_EVENTS);
        assert!(events.iter().all(|event| event.dropped == 0));
        assert_eq!(queue.dropped(VmEventKind::Collection), 5);
        assert_eq!(queue.dropped(VmEventKind::Wait), 1);
        assert!(queue.push(event(7)));
        assert_eq!(queue.take()[0].dropped, 5);
    }
}
