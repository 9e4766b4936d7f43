//! The writing side of a connection. The client's thread and the thread that sends updates share
//! it; a mutex keeps each message in one piece.

use super::stream::Stream;
use parking_lot::{Mutex, MutexGuard};
use std::io;
use std::sync::Arc;
use veneer_protocol::{Reply, WireError, write_message};

/// Writes replies to one client. Clones write to the same connection.
#[derive(Clone)]
pub struct ReplyWriter(Arc<Mutex<Stream>>);

impl ReplyWriter {
    pub fn new(stream: Stream) -> ReplyWriter {
        ReplyWriter(Arc::new(Mutex::new(stream)))
    }

    fn stream(&self) -> MutexGuard<'_, Stream> {
        self.0.lock()
    }

    /// Writes a message. Waits for other writers, and for the client up to the write timeout of
    /// the connection.
    pub fn write(&self, reply: &Reply) -> Result<(), WireError> {
        write_message(&mut *self.stream(), reply)
    }

    /// Writes that a request failed.
    pub fn write_failure(&self, message: &str) -> Result<(), WireError> {
        let message = message.into();
        self.write(&Reply::Failed { message })
    }

    /// Returns whether the client has closed the connection.
    pub fn is_closed_by_peer(&self) -> bool {
        self.stream().is_closed_by_peer()
    }

    /// Returns another handle of the connection, which does not wait for writers.
    pub fn try_clone_stream(&self) -> io::Result<Stream> {
        self.stream().try_clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;
    use std::os::unix::net::UnixStream;
    use veneer_protocol::read_message;

    #[test]
    fn messages_of_several_threads_arrive_whole() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let writer = ReplyWriter::new(Stream::Unix(ours));
        let threads = ["a", "b"].map(|letter| {
            let writer = writer.clone();
            std::thread::spawn(move || {
                let text = letter.repeat(10_000);
                for _ in 0..20 {
                    writer.write(&Reply::Print(text.clone())).unwrap();
                }
            })
        });
        let mut reader = BufReader::new(theirs);
        for _ in 0..40 {
            let reply: Option<Reply> = read_message(&mut reader).unwrap();
            let Some(Reply::Print(text)) = reply else {
                panic!("{reply:?}");
            };
            assert_eq!(text.len(), 10_000);
            assert!(text.bytes().all(|b| b == text.as_bytes()[0]));
        }
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert!(!writer.is_closed_by_peer());
        drop(reader);
        assert!(writer.is_closed_by_peer());
    }
}
