//! The content of a picture of a thread in an interval: boxes for its calls by depth, at most a few for
//! each column of the picture.
//!
//! ```text
//!   depth 0  |  serve                    |   | serve            |
//!   depth 1  |  read    | price |▒▒▒▒▒▒▒▒|   | read |           |      ▒ calls narrower than a column, merged
//!   depth 2      | sql |                        | sql |
//! ```
//!
//! If the interval has few events, they are read from the nearest snapshot of the index. Otherwise the
//! zoom pyramid answers, whose buckets know the busiest frame and the depth. So the time does not
//! depend on the length of the trace.

use crate::format::word::kind;
use crate::reader::{FrameSlot, Names, Node, OpenNode, ThreadTrace, TreeBuilder, Visitor};

/// The interval that a picture shows, and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineView {
    /// The first time, in ticks.
    pub from: u64,
    /// The last time, in ticks. Not before `from`.
    pub to: u64,
    /// The number of columns, at least 1.
    pub columns: u64,
    /// Nodes at this depth and below are left out.
    pub max_depth: u32,
    /// If the interval has more events, the pyramid answers.
    pub max_events: u64,
}

impl TimelineView {
    /// The width of a column in ticks, at least 1.
    pub fn column_ticks(&self) -> u64 {
        let all = self.to.saturating_sub(self.from).saturating_add(1);
        all.div_ceil(self.columns.max(1))
    }

    fn column(&self, time: u64) -> u64 {
        time.saturating_sub(self.from) / self.column_ticks()
    }
}

/// A call, or several calls in one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineBox {
    /// The number of enclosing nodes.
    pub depth: u32,
    /// The kind of its event.
    pub kind: u8,
    /// The frame; of several calls, the frame of the longest.
    pub slot: FrameSlot,
    /// The id of its event; of several calls, that of the longest.
    pub id: u64,
    /// The beginning in ticks. It may be before the interval.
    pub start: u64,
    /// The end in ticks. It may be after the interval.
    pub end: u64,
    /// The number of calls.
    pub calls: u64,
    /// The thread that owned the monitor for which the node waited.
    pub owner: Option<u64>,
    /// Whether a node has not ended within the events that were read.
    pub is_open: bool,
}

/// A part of a thread, from the zoom pyramid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineSummary {
    /// The first time in ticks.
    pub start: u64,
    /// The last time in ticks.
    pub end: u64,
    /// The number of events.
    pub events: u64,
    /// The largest number of open nodes.
    pub depth: u32,
    /// The frame that ran longest by itself.
    pub busiest: FrameSlot,
}

/// The content of a picture of one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Timeline {
    /// All calls that are at least a column wide or have not ended, and the others merged by column and
    /// depth. Sorted by depth and time.
    Calls(Vec<TimelineBox>),
    /// The interval has too many events.
    Summary(Vec<TimelineSummary>),
}

/// Reads what a picture of a thread shows.
///
/// # Errors
/// The events cannot be read.
pub fn timeline(
    thread: &ThreadTrace,
    names: &Names,
    view: &TimelineView,
) -> std::io::Result<Timeline> {
    let segments = &thread.index.segments;
    let first = segments.partition_point(|segment| segment.last < view.from);
    let after = segments.partition_point(|segment| segment.place.header.start <= view.to);
    let inside = segments.get(first..after).unwrap_or_default();
    let (begin, mut builder) = thread.index.resume_at(first);
    let read = segments.get(begin..after.max(begin)).unwrap_or_default();
    let events: u64 = read.iter().map(|segment| segment.events).sum();
    if events > view.max_events {
        return Ok(Timeline::Summary(summary(thread, view)));
    }
    if inside.is_empty() {
        return Ok(Timeline::Calls(Vec::new()));
    }
    let mut boxes = Boxes::new(*view);
    let mut reader = thread.events(begin);
    for _ in begin..after {
        if !builder.read_segment(&mut reader, names, &mut boxes)? {
            break;
        }
    }
    Ok(Timeline::Calls(boxes.finish(&builder)))
}

fn summary(thread: &ThreadTrace, view: &TimelineView) -> Vec<TimelineSummary> {
    let limit = usize::try_from(view.columns).unwrap_or(usize::MAX);
    let buckets = thread.index.pyramid.between(view.from, view.to, limit);
    let part = |bucket: &crate::reader::ZoomBucket| TimelineSummary {
        start: bucket.start,
        end: bucket.end,
        events: bucket.events,
        depth: bucket.depth,
        busiest: bucket.busiest,
    };
    buckets.iter().map(part).collect()
}

/// Collects boxes while nodes end. At one depth, nodes end in the order of their beginning.
struct Boxes {
    view: TimelineView,
    done: Vec<TimelineBox>,
    /// For each depth, calls in the last column that are not complete yet.
    merging: Vec<Option<Merged>>,
}

/// Calls that are narrower than a column.
struct Merged {
    shown: TimelineBox,
    column: u64,
    longest: u64,
}

impl Boxes {
    fn new(view: TimelineView) -> Boxes {
        Boxes {
            view,
            done: Vec::new(),
            merging: Vec::new(),
        }
    }

    fn add(&mut self, node: TimelineBox) {
        let view = &self.view;
        if node.depth >= view.max_depth || node.end < view.from || node.start > view.to {
            return;
        }
        let depth = node.depth as usize;
        if self.merging.len() <= depth {
            self.merging.resize_with(depth + 1, || None);
        }
        let ticks = node.end - node.start.min(node.end);
        let column = view.column(node.start);
        // The end of an open node is not known, so the node is never merged with others. A depth has at
        // most one of them.
        let is_wide = node.is_open || ticks >= view.column_ticks();
        let Some(place) = self.merging.get_mut(depth) else {
            return;
        };
        if let Some(merged) = place
            && !is_wide
            && merged.column == column
        {
            merged.shown.end = node.end;
            merged.shown.calls += 1;
            if ticks > merged.longest {
                merged.longest = ticks;
                let TimelineBox {
                    kind,
                    slot,
                    id,
                    owner,
                    ..
                } = node;
                (merged.shown.kind, merged.shown.slot) = (kind, slot);
                (merged.shown.id, merged.shown.owner) = (id, owner);
            }
            return;
        }
        self.done.extend(place.take().map(|merged| merged.shown));
        if is_wide {
            self.done.push(node);
        } else {
            *place = Some(Merged {
                shown: node,
                column,
                longest: ticks,
            });
        }
    }

    /// Adds the nodes that have not ended, and returns all boxes.
    fn finish(mut self, builder: &TreeBuilder) -> Vec<TimelineBox> {
        for (depth, open) in builder.open().iter().enumerate() {
            self.add(TimelineBox {
                depth: u32::try_from(depth).unwrap_or(u32::MAX),
                kind: open.kind,
                slot: open.slot,
                id: open.id,
                start: open.start,
                end: builder.now().max(self.view.to),
                calls: 1,
                owner: None,
                is_open: true,
            });
        }
        let left = self.merging.into_iter().flatten();
        self.done.extend(left.map(|merged| merged.shown));
        self.done.sort_by_key(|shown| (shown.depth, shown.start));
        self.done
    }
}

impl Visitor for Boxes {
    fn leave(&mut self, node: &Node, _: &[OpenNode]) {
        let owner = (node.kind == kind::CONTENDED)
            .then(|| node.owner())
            .flatten();
        self.add(TimelineBox {
            depth: node.depth,
            kind: node.kind,
            slot: node.slot,
            id: node.id,
            start: node.start,
            end: node.end,
            calls: 1,
            owner,
            is_open: false,
        });
    }
}
