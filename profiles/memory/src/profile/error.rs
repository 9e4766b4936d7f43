//! Why a file is no usable memory profile.

use std::io;

use thiserror::Error;

use super::MAJOR;

/// The largest file that is read, in bytes. The whole file is in memory while it is read.
pub const MAX_PROFILE_BYTES: u64 = 1 << 30;

/// Why a file cannot be used.
#[derive(Debug, Error)]
pub enum ProfileError {
    /// The bytes of the file cannot be read. The value is the error of the reader.
    #[error("the file cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// The file does not begin with [`MAGIC`](super::MAGIC), or it ends before its version number.
    #[error("the file is no memory profile of Veneer")]
    NotAProfile,
    /// The major format version of the file is not [`MAJOR`].
    #[error(
        "the file has the format version {major}; this command reads version {MAJOR}. A newer `veneer` reads it"
    )]
    Version {
        /// The major format version that the file states.
        major: u8,
    },
    /// The file has a section with an unknown tag that begins with an upper-case letter. Such a
    /// section is essential, so the reader cannot skip it.
    #[error(
        "the file has the section `{section}`, which this command does not know and which is essential; a newer `veneer` reads it"
    )]
    UnknownSection {
        /// The tag of the section: 4 bytes of the file as text.
        section: String,
    },
    /// The checksum of a section is wrong, or its content violates the format.
    #[error("the section `{section}` is damaged")]
    Damaged {
        /// The tag of the section: 4 bytes of the file as text.
        section: String,
    },
    /// The file is larger than [`MAX_PROFILE_BYTES`].
    #[error("the file has more than {MAX_PROFILE_BYTES} bytes")]
    TooLarge,
}

impl ProfileError {
    /// Returns the stable name of the error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            ProfileError::Unreadable(_) => "ProfileUnreadable",
            ProfileError::NotAProfile => "ProfileNotAProfile",
            ProfileError::Version { .. } => "ProfileVersion",
            ProfileError::UnknownSection { .. } => "ProfileUnknownSection",
            ProfileError::Damaged { .. } => "ProfileDamaged",
            ProfileError::TooLarge => "ProfileTooLarge",
        }
    }
}
