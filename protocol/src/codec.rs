//! Messages on a byte stream: one JSON object a line, at most [`MESSAGE_LIMIT`] bytes each.
//!
//! JSON text written by `serde_json` has no raw line feed inside, so a line feed ends a message and
//! nothing needs escaping. The limit keeps a broken or hostile peer from filling the memory of the
//! JVM: no more than the limit is ever buffered.

use std::io::{self, BufRead, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// The largest message, in bytes, without its line feed: 16 MiB.
pub const MESSAGE_LIMIT: usize = 16 << 20;

/// The largest request that an agent reads, in bytes: 1 MiB. Every client can make it keep that much.
pub const REQUEST_LIMIT: usize = 1 << 20;

/// Why a message could not be sent or received.
#[derive(Debug, Error)]
pub enum WireError {
    /// The message is larger than the limit.
    #[error("a message is larger than the limit of {limit} bytes; send less at once")]
    TooLong {
        /// The limit that it passes.
        limit: usize,
    },
    /// The other side closed the connection in the middle of a message.
    #[error(
        "the connection closed after {bytes} bytes of an unfinished message; the other side has ended"
    )]
    Truncated {
        /// How much of it had arrived.
        bytes: usize,
    },
    /// The line is not the JSON form of what was expected.
    #[error("a message is not understood: {0}; agent and `veneer` command must be of one version")]
    Malformed(#[source] serde_json::Error),
    /// The message cannot be put into JSON.
    #[error("a message cannot be written as JSON: {0}")]
    Unserialisable(#[source] serde_json::Error),
    /// The stream failed.
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
}

/// Writes one message and its line feed, and flushes.
pub fn write_message<T: Serialize>(to: &mut impl Write, message: &T) -> Result<(), WireError> {
    let mut line = serde_json::to_vec(message).map_err(WireError::Unserialisable)?;
    if line.len() > MESSAGE_LIMIT {
        return Err(WireError::TooLong {
            limit: MESSAGE_LIMIT,
        });
    }
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()?;
    Ok(())
}

/// Reads the next message; `None` where the stream ends between messages. Empty lines are passed over.
///
/// After [`WireError::Malformed`] the stream stands behind the bad line and can be read on; after
/// any other error it is of no more use.
pub fn read_message<T: DeserializeOwned>(from: &mut impl BufRead) -> Result<Option<T>, WireError> {
    read_message_within(from, MESSAGE_LIMIT)
}

/// The same with a limit of one's own.
pub fn read_message_within<T: DeserializeOwned>(
    from: &mut impl BufRead,
    limit: usize,
) -> Result<Option<T>, WireError> {
    let mut line = Vec::new();
    loop {
        line.clear();
        // One byte more than the limit and one for the line feed: enough to tell too long from just right.
        let window = (limit + 1) as u64;
        from.by_ref().take(window).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        if line.last() != Some(&b'\n') {
            return Err(if line.len() > limit {
                WireError::TooLong { limit }
            } else {
                WireError::Truncated { bytes: line.len() }
            });
        }
        if !line.trim_ascii().is_empty() {
            return serde_json::from_slice(&line)
                .map(Some)
                .map_err(WireError::Malformed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Reply, Request};

    #[test]
    fn messages_follow_each_other_on_a_stream() {
        let mut stream = Vec::new();
        let sent = [
            Request::Hello {},
            Request::Exec {
                hold: None,
                name: "two\nlines".into(),
                source: "print(\"\u{2028}\r\n\");\n".into(),
                settings: Default::default(),
                modules: Default::default(),
            },
        ];
        for request in &sent {
            write_message(&mut stream, request).unwrap();
        }
        assert_eq!(stream.iter().filter(|byte| **byte == b'\n').count(), 2);
        let mut reader = stream.as_slice();
        for request in sent {
            assert_eq!(read_message(&mut reader).unwrap(), Some(request));
        }
        assert!(read_message::<Request>(&mut reader).unwrap().is_none());
    }

    #[test]
    fn a_cut_message_is_told_from_the_end() {
        let error = read_message::<Request>(&mut &b"{\"hello\":"[..]).unwrap_err();
        assert!(matches!(error, WireError::Truncated { bytes: 9 }));
    }

    #[test]
    fn a_bad_line_leaves_the_stream_readable() {
        let mut reader = &b"{\"what\":{}}\n\n{\"hello\":{}}\n"[..];
        let error = read_message::<Request>(&mut reader).unwrap_err();
        assert!(matches!(error, WireError::Malformed(_)), "{error}");
        assert_eq!(read_message(&mut reader).unwrap(), Some(Request::Hello {}));
    }

    #[test]
    fn the_limit_holds_both_ways_and_to_the_byte() {
        let frame = serde_json::to_string(&Reply::Print(String::new()))
            .unwrap()
            .len();
        let fits = Reply::Print("x".repeat(MESSAGE_LIMIT - frame));
        let mut stream = Vec::new();
        write_message(&mut stream, &fits).unwrap();
        assert_eq!(read_message(&mut stream.as_slice()).unwrap(), Some(fits));

        let large = Reply::Print("x".repeat(MESSAGE_LIMIT - frame + 1));
        let error = write_message(&mut Vec::new(), &large).unwrap_err();
        assert!(matches!(error, WireError::TooLong { .. }));
        let endless = std::io::repeat(b'x');
        let mut reader = std::io::BufReader::new(endless);
        let error = read_message::<Reply>(&mut reader).unwrap_err();
        assert!(matches!(error, WireError::TooLong { .. }));
    }
}
