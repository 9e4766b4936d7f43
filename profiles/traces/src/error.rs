//! The errors of reading and writing traces.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a trace could not be read or written. Each error has a stable code ([`TraceError::code`]).
#[derive(Debug, Error)]
pub enum TraceError {
    /// A file could not be opened, read or written.
    #[error("{path}: {error}", path = path.display())]
    Io {
        /// The file that failed.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The directory has no names file, or the file has no first record.
    #[error("{path} is not a trace: the directory has no valid file `names`", path = .0.display())]
    NotATrace(PathBuf),
    /// The file does not begin as the calling-context tree of a thread does.
    #[error("{path} is not the calling-context tree of a thread", path = .0.display())]
    NotAContextTree(PathBuf),
    /// The trace has a later major version.
    #[error("{path} has version {major}.{minor}; this program reads version {known}", path = path.display(), known = crate::format::VERSION.0)]
    FutureVersion {
        /// The file that failed.
        path: PathBuf,
        /// The major version of the file.
        major: u16,
        /// The minor version of the file.
        minor: u16,
    },
    /// The trace has no thread with this number.
    #[error("the trace has no thread {0}")]
    NoThread(u32),
}

impl TraceError {
    /// An error of the operating system at a file.
    pub fn io(path: &Path, error: io::Error) -> TraceError {
        let path = path.to_path_buf();
        TraceError::Io { path, error }
    }

    /// The stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            TraceError::Io { .. } => "TraceIo",
            TraceError::NotATrace(_) => "NotATrace",
            TraceError::NotAContextTree(_) => "NotAContextTree",
            TraceError::FutureVersion { .. } => "FutureTrace",
            TraceError::NoThread(_) => "NoTraceThread",
        }
    }
}
