//! Commands of HotSpot's attach protocol that answer with text, such as `threaddump` and `jcmd`.
//!
//! Unlike `load`, these commands load nothing into the JVM. The JVM writes its answer to the same
//! connection: the status in the first line, then the text.

use std::io::{self, Read, Write};
use std::time::Duration;

use thiserror::Error;

use crate::attach::{self, JvmAttachError};
use crate::target::Target;

/// The largest answer that is read, in bytes. The rest of a longer answer is ignored.
const MAX_ANSWER_BYTES: u64 = 256 << 20;
/// The longest wait for the JVM's attach listener.
const LISTENER_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest wait for the next bytes of an answer.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
/// The most words of a refusal that an error repeats.
const MAX_REFUSAL_WORDS: usize = 40;

/// Why a JVM did not answer a command of the attach protocol.
#[derive(Debug, Error)]
pub enum AttachCommandError {
    /// Connecting to the JVM's attach listener failed.
    #[error(transparent)]
    Attach(#[from] JvmAttachError),
    /// The connection failed before the answer was complete.
    #[error("process {pid} did not finish the answer to `{command}`: {source}; try again")]
    Io {
        /// The process of the JVM.
        pid: u32,
        /// The command of the attach protocol.
        command: &'static str,
        /// The error of the connection.
        source: io::Error,
    },
    /// The JVM rejected the command.
    #[error("process {pid} refused `{command}`: {message}")]
    Refused {
        /// The process of the JVM.
        pid: u32,
        /// The command of the attach protocol.
        command: &'static str,
        /// The beginning of the JVM's answer.
        message: String,
    },
}

/// Sends a command with one argument, and returns the text of the answer.
///
/// # Errors
/// Attaching to the JVM fails, the JVM does not answer, or the JVM rejects the command.
pub(crate) fn run(
    target: &Target,
    command: &'static str,
    argument: &str,
) -> Result<String, AttachCommandError> {
    let pid = target.pid;
    let mut stream = attach::open(target, LISTENER_TIMEOUT)?;
    // A request is the version, the command and exactly three arguments, each terminated by NUL.
    let request = format!("1\0{command}\0{argument}\0\0\0");
    let mut exchange = || {
        stream.set_read_timeout(Some(READ_TIMEOUT))?;
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        (&stream).take(MAX_ANSWER_BYTES).read_to_end(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    let answer: String = exchange().map_err(|source| AttachCommandError::Io {
        pid,
        command,
        source,
    })?;
    match answer.split_once('\n') {
        Some(("0", text)) => Ok(text.to_owned()),
        _ => {
            let words = answer.split_whitespace().take(MAX_REFUSAL_WORDS);
            let message = words.collect::<Vec<_>>().join(" ");
            Err(AttachCommandError::Refused {
                pid,
                command,
                message,
            })
        }
    }
}
