//! The rules of the house that a program can check: prose, imports and the length of functions.
//!
//! `tests/tests/house.rs` runs the checks on this workspace. The command `house [FOLDER]` prints the
//! figures of any checkout, so that two commits can be compared.

pub mod functions;
pub mod imports;
pub mod prose;
pub mod sources;
