//! The index of a thread as a file, `index/thread-7.index`. The file belongs to this crate; other
//! readers ignore it.
//!
//! The file begins with a magic and a version and ends with the CRC-32 of everything before. An
//! index that is damaged, of another version or older than its trace is built anew.

use super::codec::{Decoder, Encoder};
use super::findings::Findings;
use super::index::{FrameShare, SegmentSummary, ThreadIndex};
use super::pyramid::{ZoomBucket, ZoomPyramid};
use super::segment_table::SegmentPlace;
use super::tree::{CpuReading, OpenNode, TreeBuilder};
use crate::format::VERSION;
use crate::format::segment::SegmentHeader;

const MAGIC: &[u8; 8] = b"veneerix";
/// The version of the index.
const INDEX_VERSION: u64 = 2;

/// The state of the files from which an index was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TraceStamp {
    /// Length of the events file in bytes.
    pub events_bytes: u64,
    /// Last modification of the events file, in nanoseconds since 1970.
    pub modified_ns: u64,
    /// Length of the names file in bytes.
    pub names_bytes: u64,
    /// Checksum of the header of the first segment and of the last segment.
    pub edges: u64,
}

/// The bytes of the file.
pub(super) fn encode(index: &ThreadIndex, stamp: &TraceStamp) -> Vec<u8> {
    let mut to = Encoder::default();
    to.bytes.extend_from_slice(MAGIC);
    to.number(INDEX_VERSION);
    for n in [
        stamp.events_bytes,
        stamp.modified_ns,
        stamp.names_bytes,
        stamp.edges,
        index.nodes,
    ] {
        to.number(n);
    }
    encode_findings(&index.findings, &mut to);
    to.number(index.segments.len() as u64);
    for segment in &index.segments {
        encode_segment(segment, &mut to);
    }
    to.number(index.pyramid.levels.first().map_or(0, Vec::len) as u64);
    for bucket in index.pyramid.levels.first().into_iter().flatten() {
        to.number(bucket.start);
        to.number(bucket.end.saturating_sub(bucket.start));
        to.number(bucket.events);
        to.number(bucket.depth.into());
        to.number(bucket.busiest.into());
        to.number(bucket.busiest_ticks);
    }
    let sum = crc32fast::hash(&to.bytes);
    to.bytes.extend_from_slice(&sum.to_le_bytes());
    to.bytes
}

/// Parses the file. `None` if it is damaged or was built from other files.
pub(super) fn decode(bytes: &[u8], stamp: &TraceStamp) -> Option<ThreadIndex> {
    let (content, sum) = bytes.split_at_checked(bytes.len().checked_sub(4)?)?;
    if crc32fast::hash(content).to_le_bytes() != sum {
        return None;
    }
    let mut from = Decoder {
        bytes: content.strip_prefix(MAGIC)?,
    };
    let expected = [
        INDEX_VERSION,
        stamp.events_bytes,
        stamp.modified_ns,
        stamp.names_bytes,
        stamp.edges,
    ];
    for value in expected {
        if from.number()? != value {
            return None;
        }
    }
    let nodes = from.number()?;
    let findings = decode_findings(&mut from)?;
    let count = from.count()?;
    let segments = (0..count).map(|_| decode_segment(&mut from));
    let segments = segments.collect::<Option<Vec<SegmentSummary>>>()?;
    let count = from.count()?;
    let buckets = (0..count).map(|_| {
        let start = from.number()?;
        Some(ZoomBucket {
            start,
            end: start.saturating_add(from.number()?),
            events: from.number()?,
            depth: from.small()?,
            busiest: from.small()?,
            busiest_ticks: from.number()?,
        })
    });
    let buckets = buckets.collect::<Option<Vec<ZoomBucket>>>()?;
    Some(ThreadIndex {
        segments,
        pyramid: ZoomPyramid::build(buckets),
        findings,
        nodes,
    })
}

fn encode_findings(findings: &Findings, to: &mut Encoder) {
    for (_, count) in findings.list() {
        to.number(count);
    }
}

fn decode_findings(from: &mut Decoder<'_>) -> Option<Findings> {
    Some(Findings {
        damaged_segments: from.number()?,
        missing_segments: from.number()?,
        unknown_kinds: from.number()?,
        stray_arguments: from.number()?,
        unmatched_exits: from.number()?,
        open_nodes: from.number()?,
        unknown_frames: from.number()?,
        lost_events: from.number()?,
        omitted_calls: from.number()?,
        damaged_names: from.number()?,
    })
}

fn encode_segment(segment: &SegmentSummary, to: &mut Encoder) {
    let (place, header) = (&segment.place, &segment.place.header);
    for n in [
        place.offset,
        u64::from(place.follows_gap),
        header.segment_bytes.into(),
        header.thread,
        header.sequence,
        header.start,
        header.depth.into(),
        segment.last,
        segment.events,
        segment.depth.into(),
    ] {
        to.number(n);
    }
    to.number(segment.shares.len() as u64);
    for share in &segment.shares {
        to.number(share.slot.into());
        to.number(share.entries);
        to.number(share.self_ticks);
    }
    to.number(u64::from(segment.snapshot.is_some()));
    if let Some(snapshot) = &segment.snapshot {
        encode_builder(snapshot, to);
    }
}

fn decode_segment(from: &mut Decoder<'_>) -> Option<SegmentSummary> {
    let place = SegmentPlace {
        offset: from.number()?,
        follows_gap: from.number()? != 0,
        header: SegmentHeader {
            version: VERSION,
            segment_bytes: from.small()?,
            thread: from.number()?,
            sequence: from.number()?,
            start: from.number()?,
            depth: from.small()?,
        },
    };
    let (last, events, depth) = (from.number()?, from.number()?, from.small()?);
    let count = from.count()?;
    let shares = (0..count).map(|_| {
        Some(FrameShare {
            slot: from.small()?,
            entries: from.number()?,
            self_ticks: from.number()?,
        })
    });
    let shares = shares.collect::<Option<Vec<FrameShare>>>()?;
    let snapshot = match from.number()? {
        0 => None,
        _ => Some(decode_builder(from)?),
    };
    Some(SegmentSummary {
        place,
        last,
        events,
        depth,
        shares,
        snapshot,
    })
}

fn encode_builder(builder: &TreeBuilder, to: &mut Encoder) {
    to.number(builder.next_number);
    to.number(builder.now);
    to.number(builder.began.into());
    to.optional(builder.reading.map(|reading| reading.ticks));
    to.optional(builder.reading.map(|reading| reading.cpu_ns));
    encode_findings(&builder.findings, to);
    to.number(builder.open.len() as u64);
    for node in &builder.open {
        for n in [
            node.number,
            node.kind.into(),
            node.slot.into(),
            node.id,
            node.start,
            node.child_ticks,
            node.child_cpu,
            node.children,
            node.below,
            node.omitted,
            node.omitted_ps,
            node.below_ps,
            node.outside_ps,
            node.spread_ps,
        ] {
            to.number(n);
        }
        to.optional(node.start_cpu);
        to.optional(node.start_allocated);
        to.numbers(&node.words);
    }
}

fn decode_builder(from: &mut Decoder<'_>) -> Option<TreeBuilder> {
    let mut builder = TreeBuilder {
        next_number: from.number()?,
        now: from.number()?,
        began: from.number()? != 0,
        ..TreeBuilder::default()
    };
    let (ticks, cpu_ns) = (from.optional()?, from.optional()?);
    builder.reading = ticks
        .zip(cpu_ns)
        .map(|(ticks, cpu_ns)| CpuReading { ticks, cpu_ns });
    builder.findings = decode_findings(from)?;
    let count = from.count()?;
    for _ in 0..count {
        builder.open.push(OpenNode {
            number: from.number()?,
            kind: u8::try_from(from.number()?).ok()?,
            slot: from.small()?,
            id: from.number()?,
            start: from.number()?,
            child_ticks: from.number()?,
            child_cpu: from.number()?,
            children: from.number()?,
            below: from.number()?,
            omitted: from.number()?,
            omitted_ps: from.number()?,
            below_ps: from.number()?,
            outside_ps: from.number()?,
            spread_ps: from.number()?,
            start_cpu: from.optional()?,
            start_allocated: from.optional()?,
            words: from.numbers()?,
        });
    }
    Some(builder)
}
