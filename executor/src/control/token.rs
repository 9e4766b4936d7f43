//! The token that a client of the TCP endpoint must show, in its first line.
//!
//! Whoever shows none, a wrong one, or too long a line, gets the same answer, after the same pause. So many strangers and no more
//! are heard at once; where one more comes, the one that has been there for longest goes. Those who have shown the token are
//! not among them and never wait for them.

use super::stream::Stream;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;
use veneer_protocol::{Reply, TOKEN_LENGTH, write_message};

/// How long a stranger may take to show the token.
const TIME: Duration = Duration::from_secs(3);
/// The pause before one is turned away.
const PAUSE: Duration = Duration::from_millis(500);
/// The longest line that is read.
const LINE: usize = 256;

/// The secret.
pub struct Token(Vec<u8>);

impl Token {
    /// Reads it from a file that only its owner can read.
    pub fn read(path: &Path) -> Result<Token, String> {
        let failed = |e: io::Error| format!("the token file {}: {e}", path.display());
        let wrong = |what: String| format!("the token file {} {what}", path.display());
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(path)
            .map_err(failed)?;
        let meta = file.metadata().map_err(failed)?;
        // Safety: a plain system call.
        let uid = unsafe { libc::geteuid() };
        if !meta.is_file() || meta.uid() != uid {
            return Err(wrong("is not a file of this user; make it anew".into()));
        }
        if meta.mode() & 0o077 != 0 {
            let mode = meta.mode() & 0o777;
            return Err(wrong(format!(
                "can be read by others (mode {mode:o}); `chmod 600` it, or better make it anew"
            )));
        }
        let mut text = String::new();
        file.take(LINE as u64)
            .read_to_string(&mut text)
            .map_err(failed)?;
        let token = text.trim().as_bytes().to_vec();
        let good = token.iter().all(u8::is_ascii_hexdigit);
        if token.len() != TOKEN_LENGTH || !good {
            return Err(wrong(format!(
                "does not hold {TOKEN_LENGTH} hexadecimal digits; remove it, and `veneer run` makes it anew"
            )));
        }
        Ok(Token(token))
    }

    /// Hears a stranger; true if the token was shown. Otherwise it has been turned away.
    pub fn is_shown(&self, stream: &mut Stream) -> bool {
        let began = Instant::now();
        let line = first_line(stream, began + TIME);
        let shown = line.as_deref().unwrap_or_default();
        if bool::from(self.0.as_slice().ct_eq(shown)) {
            return true;
        }
        std::thread::sleep((began + PAUSE).saturating_duration_since(Instant::now()));
        let message = "turned away: the token is wrong or missing".into();
        let _ = stream.set_write_timeout(Some(PAUSE));
        let _ = write_message(stream, &Reply::Failed { message });
        stream.shutdown();
        false
    }
}

/// The first line without its end; byte by byte, so that nothing behind it is taken away. `None` where there is none in time, or
/// it is too long.
fn first_line(stream: &mut Stream, end: Instant) -> Option<Vec<u8>> {
    let mut line = Vec::with_capacity(LINE);
    let mut byte = [0];
    while line.len() < LINE {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        stream.set_read_timeout(Some(left)).ok()?;
        match stream.read(&mut byte) {
            Ok(1) if byte[0] == b'\n' => return Some(line),
            Ok(1) => line.push(byte[0]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            _ => return None,
        }
    }
    None
}
