//! Why a file is no usable memory profile.

use std::io;

use thiserror::Error;

use super::MAJOR;

/// The largest file that is read, in bytes. The whole file is in memory while it is read.
pub const MAX_PROFILE_BYTES: u64 = 1 << 30;

/// Why a file cannot be used.
#[derive(Debug, Error)]
pub enum ProfileError {
    #[error("the file cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    #[error("the file is no memory profile of Veneer")]
    NotAProfile,
    #[error(
        "the file has the format version {major}; this command reads version {MAJOR}. A newer `veneer` reads it"
    )]
    Version { major: u8 },
    #[error(
        "the file has the section `{section}`, which this command does not know and which is essential; a newer `veneer` reads it"
    )]
    UnknownSection { section: String },
    #[error("the section `{section}` is damaged")]
    Damaged { section: String },
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
