//! The queue of replies from the plan thread to one client.
//!
//! The plan thread appends to the queue and never waits. A thread of the control endpoint removes
//! the replies and writes them to the connection. Printed text is bounded by
//! [`MAX_PRINTED_BYTES`]: further lines of a client that reads slowly are dropped, and the next
//! other reply is preceded by a line with their number. Replies that are no printed text are never
//! dropped, because the client waits for each of them.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use veneer_instruments::PlanInstanceId;
use veneer_protocol::Reply;

/// The largest number of bytes of printed text in a queue.
const MAX_PRINTED_BYTES: usize = 4 << 20;

/// Identifies a client's connection. The ids are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u64);

#[derive(Default)]
struct Queue {
    replies: VecDeque<Reply>,
    /// Bytes of printed text in `replies`.
    printed_bytes: usize,
    /// Printed lines that were dropped since the last other reply.
    dropped_lines: u64,
    closed: bool,
}

/// The queue of replies to one client. See the module documentation.
pub struct Outbox {
    client: ClientId,
    queue: Mutex<Queue>,
    /// Signalled after each change of the queue.
    changed: Condvar,
    /// The number of the plan instance whose output is sent here; 0 before the instance has begun.
    instance: AtomicU64,
}

impl Outbox {
    /// Makes an empty queue for a client.
    pub fn new(client: ClientId) -> Outbox {
        Outbox {
            client,
            queue: Mutex::default(),
            changed: Condvar::new(),
            instance: AtomicU64::new(0),
        }
    }

    /// Returns the id of the client that receives the replies.
    pub fn client(&self) -> ClientId {
        self.client
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock()
    }

    /// Appends a line that a plan prints. The line is dropped if the queue is closed or has no
    /// room for it.
    pub fn print(&self, text: &str) {
        let mut queue = self.queue();
        if queue.closed {
            return;
        }
        if queue.printed_bytes + text.len() > MAX_PRINTED_BYTES {
            queue.dropped_lines += 1;
            return;
        }
        queue.printed_bytes += text.len();
        queue.replies.push_back(Reply::Print(text.into()));
        self.changed.notify_all();
    }

    /// Appends a reply that is no printed text, preceded by the number of dropped lines if there
    /// are any.
    pub fn send(&self, reply: Reply) {
        let mut queue = self.queue();
        let dropped = std::mem::take(&mut queue.dropped_lines);
        if dropped > 0 {
            let note = format!("[{dropped} lines were dropped: they were not read fast enough]");
            queue.replies.push_back(Reply::Print(note));
        }
        queue.replies.push_back(reply);
        self.changed.notify_all();
    }

    /// Waits for the next reply and removes it. Returns `None` if the queue is closed and empty.
    pub fn wait_for_reply(&self) -> Option<Reply> {
        let mut queue = self.queue();
        loop {
            if let Some(reply) = queue.replies.pop_front() {
                if let Reply::Print(text) = &reply {
                    // The note about dropped lines was not counted when it was appended.
                    queue.printed_bytes = queue.printed_bytes.saturating_sub(text.len());
                }
                return Some(reply);
            }
            if queue.closed {
                return None;
            }
            self.changed.wait(&mut queue);
        }
    }

    /// Closes the queue for printed text and removes all replies that were not sent.
    pub fn close(&self) {
        let mut queue = self.queue();
        queue.closed = true;
        queue.replies.clear();
        queue.printed_bytes = 0;
        self.changed.notify_all();
    }

    /// Records the plan instance whose output is sent to this queue.
    pub fn set_instance(&self, instance: PlanInstanceId) {
        self.instance.store(instance.0, Ordering::Release);
    }

    /// Returns the id of the plan instance, or `None` before the instance has begun.
    pub fn instance(&self) -> Option<PlanInstanceId> {
        let number = self.instance.load(Ordering::Acquire);
        (number != 0).then_some(PlanInstanceId(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::Duration;

    fn done(value: &str) -> Reply {
        Reply::Done {
            value: value.into(),
        }
    }

    fn outbox() -> Outbox {
        Outbox::new(ClientId(7))
    }

    #[test]
    fn replies_leave_in_the_order_of_their_arrival() {
        let outbox = outbox();
        outbox.print("a");
        outbox.send(done("1"));
        outbox.print("b");
        let order = [
            outbox.wait_for_reply(),
            outbox.wait_for_reply(),
            outbox.wait_for_reply(),
        ];
        let expected = [
            Some(Reply::Print("a".into())),
            Some(done("1")),
            Some(Reply::Print("b".into())),
        ];
        assert_eq!(order, expected);
    }

    #[test]
    fn text_beyond_the_limit_is_dropped_and_counted_before_the_next_reply() {
        let outbox = outbox();
        let half = "x".repeat(MAX_PRINTED_BYTES / 2);
        outbox.print(&half);
        outbox.print(&half);
        outbox.print("y");
        outbox.print("z");
        outbox.send(done("1"));
        assert_eq!(outbox.wait_for_reply(), Some(Reply::Print(half.clone())));
        assert_eq!(outbox.wait_for_reply(), Some(Reply::Print(half)));
        let note = "[2 lines were dropped: they were not read fast enough]";
        assert_eq!(outbox.wait_for_reply(), Some(Reply::Print(note.into())));
        assert_eq!(outbox.wait_for_reply(), Some(done("1")));
        // The number is reported once.
        outbox.send(done("2"));
        assert_eq!(outbox.wait_for_reply(), Some(done("2")));
    }

    #[test]
    fn a_removed_line_makes_room_for_another_one() {
        let outbox = outbox();
        let whole = "x".repeat(MAX_PRINTED_BYTES);
        outbox.print(&whole);
        outbox.wait_for_reply();
        outbox.print("y");
        assert_eq!(outbox.wait_for_reply(), Some(Reply::Print("y".into())));
    }

    #[test]
    fn closing_discards_the_queue_and_refuses_text_but_not_replies() {
        let outbox = outbox();
        outbox.print("a");
        outbox.close();
        outbox.print("b");
        assert_eq!(outbox.wait_for_reply(), None);
        outbox.send(done("1"));
        assert_eq!(outbox.wait_for_reply(), Some(done("1")));
        assert_eq!(outbox.wait_for_reply(), None);
    }

    #[test]
    fn closing_wakes_a_waiting_thread() {
        let outbox = Arc::new(outbox());
        let waiting = outbox.clone();
        let thread = std::thread::spawn(move || waiting.wait_for_reply());
        std::thread::sleep(Duration::from_millis(20));
        outbox.close();
        assert_eq!(thread.join().unwrap(), None);
    }

    #[test]
    fn no_plan_instance_is_known_before_it_is_recorded() {
        let outbox = outbox();
        assert_eq!(outbox.instance(), None);
        outbox.set_instance(PlanInstanceId(3));
        assert_eq!(outbox.instance(), Some(PlanInstanceId(3)));
        assert_eq!(outbox.client(), ClientId(7));
    }
}
