//! A hash of 64-bit numbers that scatters neighbours.

/// Mixes all bits of a number: the finalizer of SplitMix64 (Steele, Lea, Flood: *Fast Splittable
/// Pseudorandom Number Generators*, OOPSLA 2014).
pub(crate) fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
