//! Segment headers. An events file is a sequence of segments of one size.
//!
//! ```text
//!   0 magic "veneer t"   8 major 2   10 minor 2   12 size of a segment 4   16 thread 8
//!   24 sequence number 8   32 time of the first event's delta 8   40 depth 4   44 zero 12
//!   56 CRC-32 of the bytes before 4   60 zero 4   64 event words …
//! ```
//!
//! The sequence number begins at 1 and counts the segments of the thread. In a ring of segments,
//! the lowest number is the oldest segment.

use super::VERSION;

/// Size of a segment header in bytes.
pub const HEADER_BYTES: usize = 64;
/// Size of a segment that recorders use, in bytes.
pub const SEGMENT_BYTES: u32 = 1 << 20;
/// The smallest size of a segment in bytes.
pub const MIN_SEGMENT_BYTES: u32 = 256;
/// The largest size of a segment in bytes.
pub const MAX_SEGMENT_BYTES: u32 = 64 << 20;
/// The depth of a thread whose recorder does not count calls.
pub const UNKNOWN_DEPTH: u32 = u32::MAX;

const MAGIC: &[u8; 8] = b"veneer t";

/// The header of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentHeader {
    /// The version of the format.
    pub version: (u16, u16),
    /// Size of each segment of the file in bytes: a multiple of 8 between [`MIN_SEGMENT_BYTES`]
    /// and [`MAX_SEGMENT_BYTES`].
    pub segment_bytes: u32,
    /// The number of the thread in the trace.
    pub thread: u64,
    /// Counts the thread's segments from 1.
    pub sequence: u64,
    /// The time in ticks to which the delta of the first event is added.
    pub start: u64,
    /// The number of open nodes at the start, or [`UNKNOWN_DEPTH`].
    pub depth: u32,
}

/// The result of parsing the bytes at which a header is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderState {
    /// A valid header.
    Valid(SegmentHeader),
    /// All bytes are zero: the recorder did not begin this segment.
    Absent,
    /// The checksum, the magic or the size is wrong.
    Damaged,
    /// A valid header of a major version that this crate does not know.
    Future(u16, u16),
}

impl SegmentHeader {
    /// The bytes of the header.
    pub fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..10].copy_from_slice(&self.version.0.to_le_bytes());
        bytes[10..12].copy_from_slice(&self.version.1.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.segment_bytes.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.thread.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.start.to_le_bytes());
        bytes[40..44].copy_from_slice(&self.depth.to_le_bytes());
        let sum = crc32fast::hash(&bytes[..56]);
        bytes[56..60].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Parses a header. Missing bytes make it damaged.
    pub fn parse(bytes: &[u8]) -> HeaderState {
        let Some(bytes) = bytes.get(..HEADER_BYTES) else {
            return match bytes.iter().all(|b| *b == 0) {
                true => HeaderState::Absent,
                false => HeaderState::Damaged,
            };
        };
        if bytes.iter().all(|b| *b == 0) {
            return HeaderState::Absent;
        }
        if &bytes[..8] != MAGIC || crc32fast::hash(&bytes[..56]) as u64 != number(bytes, 56, 4) {
            return HeaderState::Damaged;
        }
        let header = SegmentHeader {
            version: (number(bytes, 8, 2) as u16, number(bytes, 10, 2) as u16),
            segment_bytes: number(bytes, 12, 4) as u32,
            thread: number(bytes, 16, 8),
            sequence: number(bytes, 24, 8),
            start: number(bytes, 32, 8),
            depth: number(bytes, 40, 4) as u32,
        };
        if header.version.0 > VERSION.0 {
            return HeaderState::Future(header.version.0, header.version.1);
        }
        match is_segment_size(header.segment_bytes) {
            true => HeaderState::Valid(header),
            false => HeaderState::Damaged,
        }
    }
}

/// Whether segments may have this size in bytes.
pub fn is_segment_size(bytes: u32) -> bool {
    (MIN_SEGMENT_BYTES..=MAX_SEGMENT_BYTES).contains(&bytes) && bytes.is_multiple_of(8)
}

/// A little-endian number of up to 8 bytes. Missing bytes read as zero.
fn number(bytes: &[u8], at: usize, length: usize) -> u64 {
    let field = bytes.get(at..at + length).unwrap_or_default();
    field
        .iter()
        .rev()
        .fold(0, |value, byte| (value << 8) | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> SegmentHeader {
        SegmentHeader {
            version: VERSION,
            segment_bytes: SEGMENT_BYTES,
            thread: 7,
            sequence: 3,
            start: 1 << 40,
            depth: 12,
        }
    }

    #[test]
    fn each_damaged_byte_is_noticed() {
        let bytes = header().to_bytes();
        assert_eq!(SegmentHeader::parse(&bytes), HeaderState::Valid(header()));
        for at in 0..60 {
            let mut bad = bytes;
            bad[at] ^= 0x10;
            assert_eq!(SegmentHeader::parse(&bad), HeaderState::Damaged, "{at}");
        }
        for length in 1..HEADER_BYTES {
            assert_eq!(SegmentHeader::parse(&bytes[..length]), HeaderState::Damaged);
        }
        assert_eq!(SegmentHeader::parse(&[0; 64]), HeaderState::Absent);
    }

    #[test]
    fn a_future_major_version_is_told_apart_from_damage() {
        let mut future = header();
        future.version = (VERSION.0 + 1, 4);
        let state = SegmentHeader::parse(&future.to_bytes());
        assert_eq!(state, HeaderState::Future(VERSION.0 + 1, 4));
        future.version = (VERSION.0, VERSION.1 + 1);
        let state = SegmentHeader::parse(&future.to_bytes());
        assert_eq!(state, HeaderState::Valid(future));
    }
}
