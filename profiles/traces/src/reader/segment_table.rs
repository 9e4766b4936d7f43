//! The segments of an events file, in the order in which they were written.

use std::collections::BTreeMap;

use super::byte_source::ByteSource;
use super::findings::Findings;
use crate::format::segment::{HEADER_BYTES, HeaderState, SEGMENT_BYTES, SegmentHeader};
use crate::format::word::WORD_BYTES;

/// The most segments that are read of one file: 4 TiB of the usual size.
const MAX_SEGMENTS: usize = 1 << 22;

/// A segment and its place in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentPlace {
    /// The offset of the header in bytes.
    pub offset: u64,
    /// The header of the segment.
    pub header: SegmentHeader,
    /// Whether segments are missing before this one. The first segment of a ring has none before.
    pub follows_gap: bool,
}

/// The valid segments of a file, sorted by sequence number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentTable {
    /// The valid segments in order.
    pub places: Vec<SegmentPlace>,
    /// The version of segments that were skipped because it is a later one.
    pub future: Option<(u16, u16)>,
}

impl SegmentTable {
    /// Looks for segment headers in the whole file. Holes of a sparse file cost nothing.
    pub fn scan(
        source: &dyn ByteSource,
        thread: u32,
        findings: &mut Findings,
    ) -> std::io::Result<SegmentTable> {
        let length = source.length()?;
        // The recorder writes whole words.
        findings.damaged_segments += u64::from(length % WORD_BYTES as u64 != 0);
        let mut found: BTreeMap<u64, SegmentPlace> = BTreeMap::new();
        let mut table = SegmentTable::default();
        let mut size = u64::from(SEGMENT_BYTES);
        let mut offset = 0;
        let mut buffer = [0; HEADER_BYTES];
        while offset < length && found.len() < MAX_SEGMENTS {
            let read = source.read_at(offset, &mut buffer)?;
            match SegmentHeader::parse(buffer.get(..read).unwrap_or_default()) {
                HeaderState::Valid(header) if header.thread == u64::from(thread) => {
                    size = header.segment_bytes.into();
                    let place = SegmentPlace {
                        offset,
                        header,
                        follows_gap: false,
                    };
                    if found.insert(header.sequence, place).is_some() {
                        findings.damaged_segments += 1;
                    }
                }
                HeaderState::Absent => {
                    let Some(data) = source.next_data(offset.saturating_add(size)) else {
                        break;
                    };
                    offset = (data - data % size).max(offset.saturating_add(size));
                    continue;
                }
                HeaderState::Future(major, minor) => {
                    table.future = Some((major, minor));
                    findings.damaged_segments += 1;
                }
                HeaderState::Valid(_) | HeaderState::Damaged => findings.damaged_segments += 1,
            }
            offset = offset.saturating_add(size);
        }
        table.places = found.into_values().collect();
        for n in 1..table.places.len() {
            let before = table.places[n - 1].header.sequence;
            let missing = table.places[n].header.sequence - before - 1;
            findings.missing_segments = findings.missing_segments.saturating_add(missing);
            table.places[n].follows_gap = missing > 0;
        }
        Ok(table)
    }
}
