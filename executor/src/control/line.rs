//! The way to a client, shared by the threads that write to it: each message goes whole.

use super::stream::Stream;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use veneer_protocol::{Reply, WireError, write_message};

/// See the module documentation.
#[derive(Clone)]
pub struct Line(Arc<Mutex<Stream>>);

impl Line {
    /// For a connection.
    pub fn new(stream: Stream) -> Line {
        Line(Arc::new(Mutex::new(stream)))
    }

    fn stream(&self) -> MutexGuard<'_, Stream> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Writes a message; waits as long as the connection lets it.
    pub fn write(&self, reply: &Reply) -> Result<(), WireError> {
        write_message(&mut *self.stream(), reply)
    }

    /// Says that a request failed.
    pub fn failed(&self, message: &str) -> Result<(), WireError> {
        let message = message.into();
        self.write(&Reply::Failed { message })
    }

    /// Whether nobody is at the other end any more.
    pub fn is_deserted(&self) -> bool {
        self.stream().is_deserted()
    }

    /// Another handle on the connection, which waits for nobody who writes.
    pub fn try_clone(&self) -> io::Result<Stream> {
        self.stream().try_clone()
    }
}
