//! Who is connected: so many and no more. Where one more comes, the one that has been idle for longest goes, so that connections
//! that do nothing keep nobody out.

use super::stream::Stream;
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

struct Entry {
    number: u64,
    stream: Stream,
    since: Instant,
    busy: bool,
}

#[derive(Default)]
struct State {
    next: u64,
    entries: Vec<Entry>,
}

/// See the module documentation.
pub struct Clients {
    limit: usize,
    state: Mutex<State>,
}

/// A place among the clients, given back when dropped.
pub struct Place {
    clients: &'static Clients,
    number: u64,
}

impl Clients {
    /// For so many.
    pub const fn new(limit: usize) -> Clients {
        Clients {
            limit,
            state: Mutex::new(State {
                next: 0,
                entries: Vec::new(),
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Takes one in; `None` where all places are taken by clients that are being served, or files are short.
    pub fn admit(&'static self, stream: &Stream) -> Option<Place> {
        let stream = stream.try_clone().ok()?;
        let mut state = self.state();
        if state.entries.len() >= self.limit {
            let idle = state.entries.iter().enumerate().filter(|(_, e)| !e.busy);
            let (longest, _) = idle.min_by_key(|(_, e)| e.since)?;
            state.entries.swap_remove(longest).stream.shutdown();
        }
        state.next += 1;
        let number = state.next;
        state.entries.push(Entry {
            number,
            stream,
            since: Instant::now(),
            busy: false,
        });
        Some(Place {
            clients: self,
            number,
        })
    }
}

impl Clients {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.state().entries.len()
    }

    /// Ends all connections.
    pub fn shut(&self) {
        self.state()
            .entries
            .iter()
            .for_each(|e| e.stream.shutdown());
    }
}

impl Place {
    /// Notes that it is being served, or that it is idle from now on.
    pub fn set_busy(&self, busy: bool) {
        let mut state = self.clients.state();
        if let Some(entry) = state.entries.iter_mut().find(|e| e.number == self.number) {
            entry.busy = busy;
            entry.since = Instant::now();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.clients.state();
        state.entries.retain(|e| e.number != self.number);
    }
}

/// Those who are served.
pub static CLIENTS: Clients = Clients::new(32);
/// Those who have not shown the token yet.
pub static STRANGERS: Clients = Clients::new(16);

/// How many clients are connected.
pub fn count() -> u32 {
    CLIENTS.count() as u32
}

/// Ends all connections.
pub fn shut_all() {
    CLIENTS.shut();
    STRANGERS.shut();
}
