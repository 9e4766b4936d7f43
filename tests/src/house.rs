//! The rules of the house that a program can check: prose, imports, the length of functions,
//! errors that are text, and lock files.
//!
//! `tests/tests/house.rs` runs the checks on this workspace. The command `house [FOLDER]` prints the
//! figures of any checkout, so that two commits can be compared.

pub mod functions;
pub mod imports;
pub mod lock_files;
pub mod prose;
pub mod sources;
pub mod text_errors;
