//! The allocations that reached the heap of a JVM, estimated from samples of the JVM (JEP 331).
//!
//! ```text
//!   JVM ─▶ agent: samples by site, type and size ─▶ heap.samples ─▶ HeapSamples ─▶ HeapEstimate
//! ```
//!
//! A compiler that finds an object to stay in one method keeps its fields in registers, and allocates
//! nothing. The bytecode still has the allocation. The difference of both counts is what the compiler
//! has removed.

mod estimate;
mod samples;

pub use estimate::{HeapEstimate, HeapScale, HeapTally};
pub use samples::{HEAP_FILE, HeapSample, HeapSamples, SamplesError, TypeSize};

/// The mean number of bytes between two samples, unless a recording chooses another one. This is also
/// the default of HotSpot.
pub const DEFAULT_SAMPLING_INTERVAL: u64 = 512 << 10;
/// The shortest and the longest interval of a recording.
pub const SAMPLING_INTERVALS: std::ops::RangeInclusive<u64> = 1 << 10..=1 << 30;

/// Reads a sampling interval: bytes with an optional `K`, `M` or `G`. An empty text is the default.
pub fn sampling_interval(text: &str) -> Option<u64> {
    let text = text.trim();
    if text.is_empty() {
        return Some(DEFAULT_SAMPLING_INTERVAL);
    }
    let units = [('K', 10), ('M', 20), ('G', 30)];
    let unit = units.into_iter().find(|(name, _)| text.ends_with(*name));
    let (digits, shift) = match unit {
        Some((name, shift)) => (text.strip_suffix(name)?, shift),
        None => (text, 0),
    };
    let number: u64 = digits.parse().ok()?;
    let bytes = number.checked_mul(1 << shift)?;
    SAMPLING_INTERVALS.contains(&bytes).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_bytes_with_a_unit_within_limits() {
        assert_eq!(sampling_interval(""), Some(DEFAULT_SAMPLING_INTERVAL));
        assert_eq!(sampling_interval("64K"), Some(65_536));
        assert_eq!(sampling_interval("1G"), Some(1 << 30));
        assert_eq!(sampling_interval("2048"), Some(2_048));
        for text in [
            "0",
            "512",
            "2G",
            "64KK",
            "K",
            "-1K",
            "99999999999999999999",
            "18014398509481985K",
        ] {
            assert_eq!(sampling_interval(text), None, "{text}");
        }
    }
}
