//! The control protocol with any bytes, in any pieces. The input's first byte determines the pieces
//! in which the rest arrives.
//!
//! Promises:
//!
//! - The code does not panic.
//! - Memory is bounded by the received bytes.
//! - The sizes of the pieces make no difference.
//! - A message that is understood can be written and is understood again.
//! - After a malformed line, the next line is read.

use std::io::{BufRead, BufReader, Read};

use serde::Serialize;
use serde::de::DeserializeOwned;
use veneer_protocol::{
    AgentConfig, MAX_MESSAGE_BYTES, Reply, Report, Request, WireError, read_message, write_message,
};

use crate::memory;

/// A stream that returns its bytes in pieces of varying size.
struct Pieces<'d> {
    rest: &'d [u8],
    state: u32,
}

impl Read for Pieces<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.state = self.state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        let want = 1 + (self.state >> 16) as usize % 97;
        let count = want.min(into.len()).min(self.rest.len());
        let (now, later) = self.rest.split_at(count);
        into[..count].copy_from_slice(now);
        self.rest = later;
        Ok(count)
    }
}

/// Reads messages of both directions, and the agent's configuration.
///
/// # Panics
/// If a promise is broken.
pub fn run(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else {
        return;
    };
    // A JSON value needs about ten times the memory of its text. The reader's buffer and the spare
    // capacity of growing vectors are added to it.
    let limit = (1 << 20) + 400 * data.len();
    memory::within(limit, "reading messages", || {
        let requests = read_all::<Request>(&mut &rest[..]);
        let pieces = || {
            BufReader::with_capacity(
                1 + *first as usize,
                Pieces {
                    rest,
                    state: u32::from(*first),
                },
            )
        };
        assert!(
            requests == read_all::<Request>(&mut pieces()),
            "the pieces make a difference"
        );
        let replies = read_all::<Reply>(&mut pieces());
        assert!(
            requests.len() <= rest.len() + 1 && replies.len() <= rest.len() + 1,
            "more messages than bytes"
        );
        let _ = serde_json::from_slice::<AgentConfig>(rest).map(|config| config.to_json());
        let _ = serde_json::from_slice::<Report>(rest);
    });
}

/// A message, or the text of the error in its place, because errors cannot be compared.
#[derive(PartialEq)]
enum Line<T> {
    Message(T),
    Error(String),
}

/// Reads all messages of a stream, line by line. An error that ends the stream is the last element.
fn read_all<T>(from: &mut impl BufRead) -> Vec<Line<T>>
where
    T: Serialize + DeserializeOwned + PartialEq,
{
    let mut seen = Vec::new();
    loop {
        match read_message::<T>(from) {
            Ok(None) => return seen,
            Ok(Some(message)) => {
                check_round_trip(&message);
                seen.push(Line::Message(message));
            }
            Err(error @ WireError::Malformed(_)) => {
                seen.push(Line::Error(error.to_string()));
            }
            Err(error) => {
                seen.push(Line::Error(error.to_string()));
                return seen;
            }
        }
    }
}

/// Writes a message and requires that it is read again as the same message.
fn check_round_trip<T: Serialize + DeserializeOwned + PartialEq>(message: &T) {
    let mut line = Vec::new();
    match write_message(&mut line, message) {
        Ok(()) => {
            assert!(line.len() <= MAX_MESSAGE_BYTES + 1, "longer than the limit");
            let read = read_message::<T>(&mut line.as_slice());
            assert!(
                matches!(&read, Ok(Some(read)) if read == message),
                "changed on the way: {}",
                String::from_utf8_lossy(&line)
            );
        }
        // Escape sequences may make a message longer than it was when received.
        Err(WireError::TooLong { .. }) => {}
        Err(error) => panic!("a message is not written: {error}"),
    }
}
