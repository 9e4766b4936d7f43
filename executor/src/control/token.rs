//! The token that a TCP client must show in the first line of its connection.
//!
//! A connection is rejected if the token is wrong, if it is missing, or if the first line is too
//! long. All rejected connections receive the same answer after the same delay, so that the answer
//! reveals nothing about the token. The number of connections that have not shown the token is bounded separately
//! (`clients::UNAUTHENTICATED_CLIENTS`), so they never keep authenticated clients waiting.

use super::credentials::effective_user;
use super::stream::Stream;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;
use veneer_protocol::{Reply, TOKEN_CHARS, write_message};

/// The time in which a client must have sent the token.
const TOKEN_TIMEOUT: Duration = Duration::from_secs(3);
/// The time after which a client without the token is rejected. A client that tries many tokens
/// needs this time for each of them.
const REJECTION_DELAY: Duration = Duration::from_millis(500);
/// The largest number of bytes that are read from a token file, or from a client before its first
/// line feed.
const MAX_LINE_BYTES: usize = 256;

/// The reason why a token file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ServerTokenError {
    #[error("the token file {path}: {source}", path = .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("the token file {path} is not a file of this user; make it anew", path = .0.display())]
    NotOwned(PathBuf),
    #[error(
        "the token file {path} can be read by others (mode {mode:o}); `chmod 600` it, or better make it anew",
        path = .path.display()
    )]
    NotPrivate { path: PathBuf, mode: u32 },
    #[error(
        "the token file {path} does not hold {TOKEN_CHARS} hexadecimal digits; remove it, and `veneer run` makes it anew",
        path = .0.display()
    )]
    Malformed(PathBuf),
}

/// The secret, as hexadecimal digits.
#[derive(Debug)]
pub struct ServerToken(Vec<u8>);

impl ServerToken {
    /// Reads the token from a file that only this user can read.
    pub fn read(path: &Path) -> Result<ServerToken, ServerTokenError> {
        let unreadable = |source: io::Error| ServerTokenError::Unreadable {
            path: path.into(),
            source,
        };
        // `O_NONBLOCK` keeps the agent from waiting for the writer of a named pipe.
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(path)
            .map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if !metadata.is_file() || metadata.uid() != effective_user() {
            return Err(ServerTokenError::NotOwned(path.into()));
        }
        if metadata.mode() & 0o077 != 0 {
            return Err(ServerTokenError::NotPrivate {
                path: path.into(),
                mode: metadata.mode() & 0o777,
            });
        }
        let mut text = String::new();
        file.take(MAX_LINE_BYTES as u64)
            .read_to_string(&mut text)
            .map_err(unreadable)?;
        let token = text.trim().as_bytes().to_vec();
        let is_hexadecimal = token.iter().all(u8::is_ascii_hexdigit);
        if token.len() != TOKEN_CHARS || !is_hexadecimal {
            return Err(ServerTokenError::Malformed(path.into()));
        }
        Ok(ServerToken(token))
    }

    /// Returns whether the text is the token. The time of the comparison does not depend on the
    /// number of equal bytes.
    fn matches(&self, text: &[u8]) -> bool {
        bool::from(self.0.as_slice().ct_eq(text))
    }

    /// Reads the first line of a connection and returns whether the line is the token. If not,
    /// the connection has been rejected and closed.
    pub fn authenticate(&self, stream: &mut Stream) -> bool {
        let began = Instant::now();
        let line = read_first_line(stream, began + TOKEN_TIMEOUT);
        if self.matches(line.as_deref().unwrap_or_default()) {
            return true;
        }
        std::thread::sleep((began + REJECTION_DELAY).saturating_duration_since(Instant::now()));
        let message = "turned away: the token is wrong or missing".into();
        let _ = stream.set_write_timeout(Some(REJECTION_DELAY));
        let _ = write_message(stream, &Reply::Failed { message });
        stream.shutdown();
        false
    }
}

/// Returns the first line without its line feed. Returns `None` if the line does not end before
/// `deadline`, if the connection ends first, or if the line is longer than [`MAX_LINE_BYTES`].
///
/// This function reads single bytes, so that the bytes of the client's first request stay in the
/// connection.
fn read_first_line(stream: &mut Stream, deadline: Instant) -> Option<Vec<u8>> {
    let mut line = Vec::with_capacity(MAX_LINE_BYTES);
    let mut byte = [0];
    while line.len() < MAX_LINE_BYTES {
        let left = deadline.saturating_duration_since(Instant::now());
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixStream;

    fn digits() -> String {
        "0123456789abcdef".repeat(TOKEN_CHARS.div_ceil(16))[..TOKEN_CHARS].into()
    }

    /// Writes a file with this text and mode, and reads it as a token file.
    fn read(text: &str, mode: u32) -> Result<ServerToken, ServerTokenError> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        ServerToken::read(&path)
    }

    fn pair() -> (Stream, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        (Stream::Unix(ours), theirs)
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(200)
    }

    #[test]
    fn a_token_file_holds_hexadecimal_digits_and_white_space_around_them() {
        let token = read(&format!(" {}\n", digits()), 0o600).unwrap();
        assert!(token.matches(digits().as_bytes()));
    }

    #[test]
    fn other_contents_are_malformed() {
        let short = &digits()[1..];
        let no_digit = format!("{short}g");
        let long = format!("{}0", digits());
        let long_file = format!("{}{}", digits(), " ".repeat(MAX_LINE_BYTES) + "0");
        for text in ["", short, &no_digit, &long] {
            let error = read(text, 0o600).unwrap_err();
            assert!(
                matches!(error, ServerTokenError::Malformed(_)),
                "{text}: {error}"
            );
        }
        // Only the first bytes of a long file are read.
        assert!(read(&long_file, 0o600).is_ok());
    }

    #[test]
    fn a_file_that_others_can_access_is_refused() {
        for mode in [0o640, 0o604, 0o610] {
            match read(&digits(), mode).unwrap_err() {
                ServerTokenError::NotPrivate { mode: found, .. } => assert_eq!(found, mode),
                other => panic!("{mode:o}: {other}"),
            }
        }
        assert!(read(&digits(), 0o400).is_ok());
    }

    #[test]
    fn links_and_directories_and_missing_files_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        std::fs::write(&file, digits()).unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        symlink(&file, &link).unwrap();
        let unreadable = |path: &Path| {
            matches!(
                ServerToken::read(path),
                Err(ServerTokenError::Unreadable { .. })
            )
        };
        assert!(unreadable(&link));
        assert!(unreadable(&directory.path().join("missing")));
        let error = ServerToken::read(directory.path()).unwrap_err();
        assert!(matches!(error, ServerTokenError::NotOwned(_)));
    }

    #[test]
    fn only_the_whole_token_matches() {
        let token = ServerToken(digits().into_bytes());
        assert!(token.matches(digits().as_bytes()));
        assert!(!token.matches(b""));
        assert!(!token.matches(&digits().as_bytes()[1..]));
        assert!(!token.matches(digits().to_uppercase().as_bytes()));
        assert!(!token.matches(format!("{}0", digits()).as_bytes()));
    }

    #[test]
    fn the_first_line_may_arrive_in_parts_and_the_rest_stays_in_the_connection() {
        let (mut ours, mut theirs) = pair();
        let thread = std::thread::spawn(move || {
            theirs.write_all(b"ab").unwrap();
            std::thread::sleep(Duration::from_millis(20));
            theirs.write_all(b"c\nnext").unwrap();
            theirs
        });
        assert_eq!(read_first_line(&mut ours, soon()), Some(b"abc".to_vec()));
        let _theirs = thread.join().unwrap();
        let mut rest = [0; 4];
        ours.read_exact(&mut rest).unwrap();
        assert_eq!(&rest, b"next");
    }

    #[test]
    fn a_line_is_shorter_than_the_limit() {
        for (length, expected) in [(MAX_LINE_BYTES - 1, true), (MAX_LINE_BYTES, false)] {
            let (mut ours, mut theirs) = pair();
            theirs.write_all(&vec![b'a'; length]).unwrap();
            theirs.write_all(b"\n").unwrap();
            let line = read_first_line(&mut ours, soon());
            assert_eq!(line.is_some(), expected, "{length}");
        }
    }

    #[test]
    fn an_unfinished_line_is_no_line() {
        let (mut ours, mut theirs) = pair();
        theirs.write_all(b"abc").unwrap();
        // The client sends nothing more.
        let began = Instant::now();
        assert_eq!(read_first_line(&mut ours, soon()), None);
        assert!(began.elapsed() >= Duration::from_millis(150));
        // The client closes the connection.
        drop(theirs);
        assert_eq!(read_first_line(&mut ours, soon()), None);
    }

    #[test]
    fn a_client_with_the_token_stays_connected_and_another_one_is_closed_after_the_delay() {
        let token = ServerToken(digits().into_bytes());
        let (mut ours, mut theirs) = pair();
        writeln!(theirs, "{}", digits()).unwrap();
        assert!(token.authenticate(&mut ours));

        let (mut ours, mut theirs) = pair();
        writeln!(theirs, "wrong").unwrap();
        let began = Instant::now();
        assert!(!token.authenticate(&mut ours));
        assert!(began.elapsed() >= REJECTION_DELAY);
        let mut answer = String::new();
        theirs.read_to_string(&mut answer).unwrap();
        assert!(answer.contains("the token is wrong or missing"), "{answer}");
    }
}
