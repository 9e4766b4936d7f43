//! The index of a thread: summaries of its segments, and snapshots from which reading can resume.
//!
//! The index is built once, by reading all events. Its size is a small part of the events: a
//! snapshot is stored only if the segments since the last one have eight times its size.

use std::ops::Range;

use super::byte_source::ByteSource;
use super::events::EventReader;
use super::findings::Findings;
use super::name_table::{FrameSlot, Names};
use super::pyramid::{BUCKET_EVENTS, ZoomBucket, ZoomPyramid};
use super::segment_table::{SegmentPlace, SegmentTable};
use super::tree::{Node, OpenNode, TreeBuilder, Visitor};
use crate::format::word::kind;

/// A snapshot has at most this part of the bytes of the events since the last one.
const SNAPSHOT_SHARE: u64 = 8;
/// Approximate bytes of an open node in a snapshot.
const OPEN_NODE_BYTES: u64 = 64;

/// The part of a frame in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameShare {
    /// The slot of the frame.
    pub slot: FrameSlot,
    /// The number of entries in the segment.
    pub entries: u64,
    /// The time that the frame ran by itself, in ticks.
    pub self_ticks: u64,
}

/// A summary of a segment.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentSummary {
    /// The segment's place and header.
    pub place: SegmentPlace,
    /// The time of its last event in ticks. Its first event is not before the start in the header.
    pub last: u64,
    /// The number of entries, ends and instants.
    pub events: u64,
    /// The largest number of open nodes.
    pub depth: u32,
    /// The frames that were entered or ran in the segment, by slot.
    pub shares: Vec<FrameShare>,
    /// The state of the tree at the start of the segment. `None` if an earlier one must be used.
    pub snapshot: Option<TreeBuilder>,
}

/// The index of a thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThreadIndex {
    /// The segments in order.
    pub segments: Vec<SegmentSummary>,
    /// Summaries of the events at several scales.
    pub pyramid: ZoomPyramid,
    /// Observations about the whole thread.
    pub findings: Findings,
    /// The number of nodes and instants.
    pub nodes: u64,
}

impl ThreadIndex {
    /// Reads all events of a thread.
    pub fn build(
        source: &dyn ByteSource,
        table: &SegmentTable,
        names: &Names,
        scan_findings: Findings,
    ) -> std::io::Result<ThreadIndex> {
        let mut reader = EventReader::new(source, table, 0);
        let mut builder = TreeBuilder::default();
        let mut collector = Collector::new(names.frames.len());
        let mut segments = Vec::new();
        let mut bytes_since = u64::MAX;
        for place in &table.places {
            let size = OPEN_NODE_BYTES * (builder.open().len() as u64 + 1);
            let is_worth = size.saturating_mul(SNAPSHOT_SHARE) <= bytes_since;
            let snapshot = is_worth.then(|| builder.clone());
            if is_worth {
                bytes_since = 0;
            }
            bytes_since = bytes_since.saturating_add(place.header.segment_bytes.into());
            collector.begin_segment(&builder, place.header.start);
            builder.read_segment(&mut reader, names, &mut collector)?;
            collector.run_until(builder.now());
            segments.push(SegmentSummary {
                place: *place,
                last: builder.now(),
                events: std::mem::take(&mut collector.events),
                depth: std::mem::take(&mut collector.depth),
                shares: collector.take_shares(),
                snapshot,
            });
        }
        let mut findings = scan_findings;
        findings.add(&builder.findings);
        findings.add(&reader.findings);
        Ok(ThreadIndex {
            segments,
            pyramid: ZoomPyramid::build(collector.finish()),
            findings,
            nodes: builder.next_number,
        })
    }

    /// The table of the segments.
    pub fn table(&self) -> SegmentTable {
        SegmentTable {
            places: self.segments.iter().map(|s| s.place).collect(),
            future: None,
        }
    }

    /// The last segment at or before this one at which reading can begin, and the state there.
    pub fn resume_at(&self, segment: usize) -> (usize, TreeBuilder) {
        let before = self.segments.iter().enumerate().take(segment + 1).rev();
        before
            .filter_map(|(n, s)| Some((n, s.snapshot.clone()?)))
            .next()
            .unwrap_or_default()
    }

    /// Divides the segments into at most `most` parts of similar length, which have at least `min_events`
    /// events on average. Reading can begin at each part.
    pub fn parts(&self, most: usize, min_events: u64) -> Vec<Range<usize>> {
        let events: u64 = self.segments.iter().map(|segment| segment.events).sum();
        let count = usize::try_from(events / min_events.max(1)).unwrap_or(usize::MAX);
        let count = count.clamp(1, most.max(1));
        let length = self.segments.len();
        let mut begins = vec![0];
        for part in 1..count {
            let before = self.segments.get(..=part * length / count);
            let begin = before.and_then(|some| some.iter().rposition(|s| s.snapshot.is_some()));
            begins.extend(begin.filter(|begin| Some(begin) > begins.last()));
        }
        let ends = begins.iter().skip(1).copied().chain([length]);
        begins
            .iter()
            .zip(ends)
            .map(|(from, to)| *from..to)
            .collect()
    }

    /// The first and the last time of the thread in ticks.
    pub fn range(&self) -> Option<(u64, u64)> {
        let first = self.segments.first()?.place.header.start;
        Some((first, self.segments.last()?.last))
    }
}

/// Collects the summaries while the events are read.
struct Collector {
    /// Entries and running ticks by slot, in the current segment.
    totals: Vec<(u64, u64)>,
    touched: Vec<FrameSlot>,
    /// Running ticks by slot, in the current bucket.
    bucket_ticks: Vec<u64>,
    bucket_touched: Vec<FrameSlot>,
    bucket: ZoomBucket,
    buckets: Vec<ZoomBucket>,
    running: FrameSlot,
    since: u64,
    events: u64,
    depth: u32,
}

impl Collector {
    fn new(frames: usize) -> Collector {
        Collector {
            totals: vec![(0, 0); frames],
            touched: Vec::new(),
            bucket_ticks: vec![0; frames],
            bucket_touched: Vec::new(),
            bucket: ZoomBucket::default(),
            buckets: Vec::new(),
            running: 0,
            since: 0,
            events: 0,
            depth: 0,
        }
    }

    fn begin_segment(&mut self, builder: &TreeBuilder, start: u64) {
        self.running = builder.open().last().map_or(0, |node| node.slot);
        self.since = start;
    }

    /// Adds the time since the last event to the frame that ran.
    fn run_until(&mut self, now: u64) {
        let ticks = now.saturating_sub(self.since);
        self.since = now;
        if ticks == 0 {
            return;
        }
        let slot = self.running as usize;
        if let Some(total) = self.totals.get_mut(slot) {
            if *total == (0, 0) {
                self.touched.push(self.running);
            }
            total.1 = total.1.saturating_add(ticks);
        }
        if let Some(in_bucket) = self.bucket_ticks.get_mut(slot) {
            if *in_bucket == 0 {
                self.bucket_touched.push(self.running);
            }
            *in_bucket = in_bucket.saturating_add(ticks);
        }
    }

    fn event(&mut self, now: u64, depth: usize, running: FrameSlot) {
        self.run_until(now);
        self.running = running;
        let depth = u32::try_from(depth).unwrap_or(u32::MAX);
        self.events += 1;
        self.depth = self.depth.max(depth);
        if self.bucket.events == 0 {
            self.bucket.start = now;
        }
        self.bucket.end = now;
        self.bucket.events += 1;
        self.bucket.depth = self.bucket.depth.max(depth);
        if self.bucket.events == BUCKET_EVENTS {
            self.end_bucket();
        }
    }

    fn end_bucket(&mut self) {
        for slot in self.bucket_touched.drain(..) {
            let Some(ticks) = self.bucket_ticks.get_mut(slot as usize) else {
                continue;
            };
            if *ticks > self.bucket.busiest_ticks {
                self.bucket.busiest = slot;
                self.bucket.busiest_ticks = *ticks;
            }
            *ticks = 0;
        }
        self.buckets.push(std::mem::take(&mut self.bucket));
    }

    fn take_shares(&mut self) -> Vec<FrameShare> {
        self.touched.sort_unstable();
        let shares = self.touched.drain(..).filter_map(|slot| {
            let total = self.totals.get_mut(slot as usize)?;
            let (entries, self_ticks) = std::mem::take(total);
            Some(FrameShare {
                slot,
                entries,
                self_ticks,
            })
        });
        shares.collect()
    }

    fn finish(mut self) -> Vec<ZoomBucket> {
        if self.bucket.events > 0 {
            self.end_bucket();
        }
        self.buckets
    }
}

impl Visitor for Collector {
    fn enter(&mut self, open: &[OpenNode]) {
        let Some(node) = open.last() else {
            return;
        };
        self.event(node.start, open.len(), node.slot);
        if node.kind == kind::ENTRY
            && let Some(total) = self.totals.get_mut(node.slot as usize)
        {
            if *total == (0, 0) {
                self.touched.push(node.slot);
            }
            total.0 += 1;
        }
    }

    fn instant(&mut self, node: &Node, open: &[OpenNode]) {
        self.event(node.start, open.len(), self.running);
    }

    fn leave(&mut self, node: &Node, open: &[OpenNode]) {
        let running = open.last().map_or(0, |parent| parent.slot);
        self.event(node.end, open.len(), running);
    }
}
