//! What is to be sent to a client. It takes so much and no more: a client that reads slowly loses printed lines, and is told how
//! many; the plan thread never waits for it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use veneer_protocol::Reply;

/// Bytes of printed text that may wait.
const LIMIT: usize = 4 << 20;

#[derive(Default)]
struct State {
    queue: VecDeque<Reply>,
    bytes: usize,
    /// Lines that found no room.
    lost: u64,
    closed: bool,
}

/// See the module documentation.
#[derive(Default)]
pub struct Outbox {
    state: Mutex<State>,
    changed: Condvar,
    /// The load of the plan whose output this is; 0 as long as there is none.
    load: AtomicU64,
}

impl Outbox {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A line that a plan prints.
    pub fn print(&self, text: &str) {
        let mut state = self.state();
        if state.closed {
            return;
        }
        if state.bytes + text.len() > LIMIT {
            state.lost += 1;
            return;
        }
        state.bytes += text.len();
        state.queue.push_back(Reply::Print(text.into()));
        self.changed.notify_all();
    }

    /// Any other reply.
    pub fn send(&self, reply: Reply) {
        let mut state = self.state();
        let lost = std::mem::take(&mut state.lost);
        if lost > 0 {
            let note = format!("[{lost} lines were dropped: they were not read fast enough]");
            state.queue.push_back(Reply::Print(note));
        }
        state.queue.push_back(reply);
        self.changed.notify_all();
    }

    /// The next reply; waits for it. `None` once the box is closed and empty.
    pub fn next(&self) -> Option<Reply> {
        let mut state = self.state();
        loop {
            if let Some(reply) = state.queue.pop_front() {
                if let Reply::Print(text) = &reply {
                    state.bytes = state.bytes.saturating_sub(text.len());
                }
                return Some(reply);
            }
            if state.closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(|e| e.into_inner());
        }
    }

    /// Takes no more, and forgets what was not sent.
    pub fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.queue.clear();
        state.bytes = 0;
        self.changed.notify_all();
    }

    /// Notes the plan's load.
    pub fn set_load(&self, load: u64) {
        self.load.store(load, Ordering::Release);
    }

    /// The plan's load, where it has begun.
    pub fn load(&self) -> Option<u64> {
        Some(self.load.load(Ordering::Acquire)).filter(|load| *load != 0)
    }
}
