//! The words of descriptors. The checker reads descriptors as bytes, because a name need not be valid
//! UTF-8.

use veneer_names::raw;

/// Returns the number of words of a field descriptor.
pub(in crate::check) fn words_of(d: &[u8]) -> u8 {
    // At most 2.
    raw::slots(d) as u8
}

/// Returns the number of words of a method's parameters and of its result.
pub(in crate::check) fn shape(d: &[u8]) -> (u16, u8) {
    (raw::parameter_slots(d), words_of(raw::result(d)))
}
