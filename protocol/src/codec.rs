//! Messages on a byte stream: one JSON object per line, at most [`MAX_MESSAGE_BYTES`] bytes each.
//!
//! JSON text from `serde_json` contains no raw line feed, so a line feed ends a message and no
//! escaping is needed. The reader never buffers more than the limit, so a broken or hostile peer
//! cannot fill the JVM's memory.

use std::io::{self, BufRead, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// The largest message, in bytes, without its line feed: 256 MiB. The counts of a call graph of a large
/// program have some tens of MiB.
pub const MAX_MESSAGE_BYTES: usize = 256 << 20;

/// The largest request that an agent reads, in bytes: 1 MiB. The limit is lower than
/// [`MAX_MESSAGE_BYTES`] because every connected client can make the agent buffer one request.
pub const MAX_REQUEST_BYTES: usize = 1 << 20;

/// Why a message could not be sent or received. The text is the problem, `; ` and the remedy.
#[derive(Debug, Error)]
#[error("{}", self.text())]
pub enum WireError {
    /// The message is larger than the limit.
    TooLong {
        /// The exceeded limit, in bytes.
        limit: usize,
    },
    /// The other side closed the connection in the middle of a message.
    Truncated {
        /// The number of bytes of the message that had arrived.
        bytes: usize,
    },
    /// The line is not the JSON form of the expected type.
    Malformed(#[source] serde_json::Error),
    /// The message cannot be put into JSON.
    Unserialisable(#[source] serde_json::Error),
    /// The stream failed.
    Io(#[from] io::Error),
}

impl WireError {
    /// The problem, without the remedy.
    pub fn problem(&self) -> String {
        match self {
            WireError::TooLong { limit } => {
                format!("a message is larger than the limit of {limit} bytes")
            }
            WireError::Truncated { bytes } => format!(
                "the connection closed after {bytes} bytes of an unfinished message; the other side has ended"
            ),
            WireError::Malformed(error) => format!("a message is not understood: {error}"),
            WireError::Unserialisable(error) => {
                format!("a message cannot be written as JSON: {error}")
            }
            WireError::Io(error) => format!("the connection failed: {error}"),
        }
    }

    /// An action of the user that solves the problem, if one is known.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            WireError::TooLong { .. } => Some("send less at once"),
            WireError::Malformed(_) => Some("agent and `veneer` command must be of one version"),
            WireError::Truncated { .. } | WireError::Unserialisable(_) | WireError::Io(_) => None,
        }
    }

    fn text(&self) -> String {
        match self.remedy() {
            Some(remedy) => format!("{}; {remedy}", self.problem()),
            None => self.problem(),
        }
    }
}

/// Writes one message of at most [`MAX_MESSAGE_BYTES`] bytes and its line feed, and flushes.
pub fn write_message<T: Serialize>(to: &mut impl Write, message: &T) -> Result<(), WireError> {
    write_message_within(to, message, MAX_MESSAGE_BYTES)
}

fn write_message_within<T: Serialize>(
    to: &mut impl Write,
    message: &T,
    limit: usize,
) -> Result<(), WireError> {
    let mut line = serde_json::to_vec(message).map_err(WireError::Unserialisable)?;
    if line.len() > limit {
        return Err(WireError::TooLong { limit });
    }
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()?;
    Ok(())
}

/// Reads the next message of at most [`MAX_MESSAGE_BYTES`] bytes. Returns `None` if the stream ends
/// between two messages. Skips empty lines.
///
/// # Errors
/// After [`WireError::Malformed`] the stream is positioned after the bad line, and the caller can
/// read the next message. After any other error the stream is unusable.
pub fn read_message<T: DeserializeOwned>(from: &mut impl BufRead) -> Result<Option<T>, WireError> {
    read_message_within(from, MAX_MESSAGE_BYTES)
}

/// Like [`read_message`], with a limit in bytes that the caller chooses.
pub fn read_message_within<T: DeserializeOwned>(
    from: &mut impl BufRead,
    limit: usize,
) -> Result<Option<T>, WireError> {
    let mut line = Vec::new();
    loop {
        line.clear();
        // A message of exactly `limit` bytes plus its line feed fits. If `limit + 1` bytes contain
        // no line feed, the message is too long.
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
    fn an_error_is_its_problem_and_its_remedy() {
        let malformed = read_message::<Request>(&mut &b"7\n"[..]).unwrap_err();
        for (error, problem, remedy) in [
            (
                WireError::TooLong { limit: 7 },
                "a message is larger than the limit of 7 bytes",
                Some("send less at once"),
            ),
            (
                WireError::Truncated { bytes: 9 },
                "the connection closed after 9 bytes of an unfinished message; the other side has ended",
                None,
            ),
            (
                WireError::Io(io::Error::other("torn; off")),
                "the connection failed: torn; off",
                None,
            ),
            (
                malformed,
                "a message is not understood: ",
                Some("agent and `veneer` command must be of one version"),
            ),
        ] {
            let text = error.to_string();
            assert!(text.starts_with(problem), "{text}");
            assert_eq!(error.remedy(), remedy);
            match remedy {
                Some(remedy) => assert_eq!(text, format!("{}; {remedy}", error.problem())),
                None => assert_eq!(text, error.problem()),
            }
        }
    }

    #[test]
    fn a_truncated_message_differs_from_the_end_of_the_stream() {
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
        const LIMIT: usize = 10_000;
        let frame = serde_json::to_string(&Reply::Print(String::new()))
            .unwrap()
            .len();
        let fits = Reply::Print("x".repeat(LIMIT - frame));
        let mut stream = Vec::new();
        write_message_within(&mut stream, &fits, LIMIT).unwrap();
        let read = read_message_within(&mut stream.as_slice(), LIMIT);
        assert_eq!(read.unwrap(), Some(fits));

        let large = Reply::Print("x".repeat(LIMIT - frame + 1));
        let error = write_message_within(&mut Vec::new(), &large, LIMIT).unwrap_err();
        assert!(matches!(error, WireError::TooLong { .. }));
        let endless = std::io::repeat(b'x');
        let mut reader = std::io::BufReader::new(endless);
        let error = read_message_within::<Reply>(&mut reader, LIMIT).unwrap_err();
        assert!(matches!(error, WireError::TooLong { .. }));
    }
}
