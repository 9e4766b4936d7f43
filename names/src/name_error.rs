//! The errors of names.

use thiserror::Error;

/// Why a text is not the internal name of a class or interface (JVMS §4.2.1).
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum NameError {
    /// The text is empty.
    #[error("the name is empty")]
    Empty,
    /// A part between two separators is empty. `at` is its byte offset.
    #[error("the part of the name at byte {at} is empty")]
    EmptyPart {
        /// The byte offset of the empty part.
        at: usize,
    },
    /// A character is not allowed in a name.
    #[error("the character `{character}` at byte {at} is not allowed in the name")]
    Forbidden {
        /// The character, one of `. ; [ / < >`.
        character: char,
        /// The byte offset of the character.
        at: usize,
    },
}
