//! The reasons why the agent sends no class files.

use veneer_fragmenter::Refusal;
use veneer_instruments::PatternError;

/// The most bytes of class files that one request returns. They are in the memory of the JVM's
/// process until they are sent.
pub const MAX_CLASS_FILE_BYTES: usize = 64 << 20;

/// Why the agent sends no class files.
#[derive(Debug, thiserror::Error)]
pub enum ClassCodeError {
    /// A pattern is malformed.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// No armed method matches.
    #[error("`{0}` matches no armed method: name a method of a loaded class")]
    NothingArmed(String),
    /// The class files are larger than [`MAX_CLASS_FILE_BYTES`].
    #[error("the class files have more than 64 MiB: narrow the pattern")]
    TooLarge,
    /// A class file cannot be made again.
    #[error("{class}: {reason}")]
    Refused { class: String, reason: Refusal },
}
