//! The token of the control port: 256 random bits from the operating system, as hexadecimal digits
//! in a file that only its owner can read.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use thiserror::Error;
use veneer_protocol::TOKEN_CHARS;

use crate::error_text;

/// Why the token could not be read or created. The text is the problem, `; ` and the remedy.
#[derive(Debug, Error)]
#[error("{}", error_text(self.problem(), Some(self.remedy())))]
pub enum TokenFileError {
    /// The file cannot be read or written.
    File {
        /// The path of the token file.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// Users other than the owner can access the file.
    Exposed {
        /// The path of the token file.
        path: PathBuf,
        /// The permission bits of the file.
        mode: u32,
    },
    /// The file does not contain a token.
    NoToken(PathBuf),
}

impl TokenFileError {
    /// The problem, without the remedy.
    pub fn problem(&self) -> String {
        match self {
            TokenFileError::File { path, source } => {
                format!("the token file {}: {source}", path.display())
            }
            TokenFileError::Exposed { path, mode } => format!(
                "the token file {} can be read by others (mode {mode:o})",
                path.display()
            ),
            TokenFileError::NoToken(path) => format!("{} holds no token", path.display()),
        }
    }

    /// An action of the user that solves the problem.
    pub fn remedy(&self) -> &'static str {
        match self {
            TokenFileError::File { .. } => "choose another one for --token-file",
            TokenFileError::Exposed { .. } | TokenFileError::NoToken(_) => {
                "remove it, it is made anew"
            }
        }
    }
}

/// Creates the file with a new token if the file is missing; validates the file if it exists.
/// Returns the absolute path of the file.
pub fn create_token_file(path: &Path) -> Result<PathBuf, TokenFileError> {
    let failed = |source| TokenFileError::File {
        path: path.to_owned(),
        source,
    };
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    match made {
        Ok(mut file) => {
            let token = random_token().map_err(failed)?;
            file.write_all(format!("{token}\n").as_bytes())
                .map_err(failed)?;
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            read_token_file(path)?;
        }
        Err(error) => return Err(failed(error)),
    }
    std::fs::canonicalize(path).map_err(failed)
}

/// Reads the token in this file. The permissions of anything but a regular file are not checked, so
/// that the token can come from a pipe.
pub fn read_token_file(path: &Path) -> Result<String, TokenFileError> {
    let failed = |source| TokenFileError::File {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(failed)?;
    let meta = file.metadata().map_err(failed)?;
    let mode = meta.mode() & 0o777;
    if meta.is_file() && mode & 0o077 != 0 {
        return Err(TokenFileError::Exposed {
            path: path.to_owned(),
            mode,
        });
    }
    let mut text = String::new();
    file.take(256).read_to_string(&mut text).map_err(failed)?;
    let token = text.trim();
    if token.len() != TOKEN_CHARS || !token.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(TokenFileError::NoToken(path.to_owned()));
    }
    Ok(token.to_owned())
}

/// Returns a new token: 256 random bits as hexadecimal digits.
///
/// # Errors
/// The operating system has no random bits.
pub fn random_token() -> io::Result<String> {
    let mut bytes = [0; TOKEN_CHARS / 2];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_token_is_made_once_and_private() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t");
        create_token_file(&path).unwrap();
        let token = read_token_file(&path).unwrap();
        create_token_file(&path).unwrap();
        assert_eq!(read_token_file(&path).unwrap(), token);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let other = directory.path().join("u");
        create_token_file(&other).unwrap();
        assert_ne!(read_token_file(&other).unwrap(), token);
    }

    #[test]
    fn each_invalid_token_file_has_its_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t");
        fs::write(&path, "secret\n").unwrap();
        assert!(matches!(
            create_token_file(&path),
            Err(TokenFileError::Exposed { .. })
        ));
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        assert!(matches!(
            create_token_file(&path),
            Err(TokenFileError::NoToken(_))
        ));
        let none = directory.path().join("none/t");
        assert!(matches!(
            create_token_file(&none),
            Err(TokenFileError::File { .. })
        ));
    }

    #[test]
    fn an_error_is_its_problem_and_its_remedy() {
        let path = || PathBuf::from("/run/t");
        for (error, text) in [
            (
                TokenFileError::File {
                    path: path(),
                    source: io::ErrorKind::PermissionDenied.into(),
                },
                "the token file /run/t: permission denied; choose another one for --token-file",
            ),
            (
                TokenFileError::Exposed {
                    path: path(),
                    mode: 0o644,
                },
                "the token file /run/t can be read by others (mode 644); remove it, it is made anew",
            ),
            (
                TokenFileError::NoToken(path()),
                "/run/t holds no token; remove it, it is made anew",
            ),
        ] {
            assert_eq!(error.to_string(), text);
            assert_eq!(error_text(error.problem(), Some(error.remedy())), text);
        }
    }
}
