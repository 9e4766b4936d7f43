//! The clients that are connected to the control endpoint.
//!
//! The number of connections is bounded. If a further client connects, the connection that has
//! been idle for longest is closed, so that idle connections do not keep other clients out. A
//! connection whose request is being executed is never closed for another client.
//!
//! The accepting thread admits connections, and each client's own thread drops its
//! [`ConnectionPermit`] when the connection ends.

use super::stream::Stream;
use crate::plans::outbox::ClientId;
use parking_lot::{Mutex, MutexGuard};
use std::time::Instant;

/// The largest number of clients that are served at the same time.
const MAX_CLIENTS: usize = 32;
/// The largest number of TCP connections that have not shown the token yet.
const MAX_UNAUTHENTICATED_CLIENTS: usize = 16;

/// The clients that are served.
pub static CLIENTS: ClientTable = ClientTable::new(MAX_CLIENTS);
/// The TCP connections that have not shown the token yet.
pub static UNAUTHENTICATED_CLIENTS: ClientTable = ClientTable::new(MAX_UNAUTHENTICATED_CLIENTS);

struct Connection {
    id: ClientId,
    /// A second handle, through which another thread can close the connection.
    stream: Stream,
    /// The time of the last change of `busy`.
    since: Instant,
    /// Whether a request is being executed or a subscription is active.
    busy: bool,
}

#[derive(Default)]
struct Connections {
    last_id: u64,
    connections: Vec<Connection>,
}

/// A bounded set of connections. See the module documentation.
pub struct ClientTable {
    limit: usize,
    state: Mutex<Connections>,
}

/// The permission of one connection to be served. Dropping the permit makes room for another
/// connection.
pub struct ConnectionPermit {
    clients: &'static ClientTable,
    id: ClientId,
}

impl ClientTable {
    /// Makes an empty set for `limit` connections.
    pub const fn new(limit: usize) -> ClientTable {
        ClientTable {
            limit,
            state: Mutex::new(Connections {
                last_id: 0,
                connections: Vec::new(),
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, Connections> {
        self.state.lock()
    }

    /// Admits a connection, and closes the connection that has been idle for longest if the set is
    /// full. Returns `None` if all connections are busy, or if the process has no file descriptor
    /// left.
    pub fn admit(&'static self, stream: &Stream) -> Option<ConnectionPermit> {
        let stream = stream.try_clone().ok()?;
        let mut state = self.state();
        if state.connections.len() >= self.limit {
            let idle = state
                .connections
                .iter()
                .enumerate()
                .filter(|(_, c)| !c.busy);
            let (longest_idle, _) = idle.min_by_key(|(_, c)| c.since)?;
            state
                .connections
                .swap_remove(longest_idle)
                .stream
                .shutdown();
        }
        state.last_id += 1;
        let id = ClientId(state.last_id);
        state.connections.push(Connection {
            id,
            stream,
            since: Instant::now(),
            busy: false,
        });
        Some(ConnectionPermit { clients: self, id })
    }

    /// Returns the number of connections.
    pub fn count(&self) -> usize {
        self.state().connections.len()
    }

    /// Closes all connections. Their threads drop the permits.
    pub fn shutdown(&self) {
        let state = self.state();
        state.connections.iter().for_each(|c| c.stream.shutdown());
    }
}

impl ConnectionPermit {
    /// Returns the id of the connection.
    pub fn id(&self) -> ClientId {
        self.id
    }

    /// Records whether the connection is busy from now on.
    pub fn set_busy(&self, busy: bool) {
        let mut state = self.clients.state();
        if let Some(connection) = state.connections.iter_mut().find(|c| c.id == self.id) {
            connection.busy = busy;
            connection.since = Instant::now();
        }
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut state = self.clients.state();
        state.connections.retain(|c| c.id != self.id);
    }
}

/// Returns the number of clients that are served.
pub fn count() -> u32 {
    CLIENTS.count() as u32
}

/// Closes the connections of all clients.
pub fn shutdown_all() {
    CLIENTS.shutdown();
    UNAUTHENTICATED_CLIENTS.shutdown();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    fn clients(limit: usize) -> &'static ClientTable {
        Box::leak(Box::new(ClientTable::new(limit)))
    }

    /// Admits a new connection; returns the permit and the client's end.
    fn connect(clients: &'static ClientTable) -> Option<(ConnectionPermit, UnixStream)> {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let permit = clients.admit(&Stream::Unix(ours))?;
        // The agent's own handle is dropped here; the one in the set keeps the connection open.
        Some((permit, theirs))
    }

    fn is_closed(client: &mut UnixStream) -> bool {
        client
            .set_read_timeout(Some(Duration::from_millis(20)))
            .unwrap();
        matches!(client.read(&mut [0]), Ok(0))
    }

    #[test]
    fn a_full_set_closes_the_connection_that_was_idle_for_longest() {
        let clients = clients(2);
        let (first_permit, mut first) = connect(clients).unwrap();
        let (_second_permit, mut second) = connect(clients).unwrap();
        // The second connection is idle for longer once the first one has executed a request.
        first_permit.set_busy(true);
        first_permit.set_busy(false);
        let (_third_permit, mut third) = connect(clients).unwrap();
        assert!(is_closed(&mut second));
        assert!(!is_closed(&mut first));
        assert!(!is_closed(&mut third));
        assert_eq!(clients.count(), 2);
    }

    #[test]
    fn busy_connections_are_not_closed_for_another_client() {
        let clients = clients(1);
        let (permit, mut client) = connect(clients).unwrap();
        permit.set_busy(true);
        assert!(connect(clients).is_none());
        assert!(!is_closed(&mut client));
        permit.set_busy(false);
        assert!(connect(clients).is_some());
        assert!(is_closed(&mut client));
    }

    #[test]
    fn a_dropped_permit_makes_room() {
        let clients = clients(1);
        let (permit, _client) = connect(clients).unwrap();
        permit.set_busy(true);
        assert_eq!(clients.count(), 1);
        drop(permit);
        assert_eq!(clients.count(), 0);
        assert!(connect(clients).is_some());
    }

    #[test]
    fn the_permit_of_a_closed_connection_leaves_its_successor_alone() {
        let clients = clients(1);
        let (old, _) = connect(clients).unwrap();
        let (new, _client) = connect(clients).unwrap();
        assert_ne!(old.id(), new.id());
        old.set_busy(true);
        drop(old);
        assert_eq!(clients.count(), 1);
        // The successor is still idle, so it can be replaced.
        assert!(connect(clients).is_some());
    }

    #[test]
    fn shutdown_closes_all_connections_and_leaves_the_permits() {
        let clients = clients(2);
        let (_first_permit, mut first) = connect(clients).unwrap();
        let (_second_permit, mut second) = connect(clients).unwrap();
        clients.shutdown();
        assert!(is_closed(&mut first) && is_closed(&mut second));
        assert_eq!(clients.count(), 2);
    }
}
