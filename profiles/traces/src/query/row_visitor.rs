//! Visits the nodes of a thread, or of a part of it, that a query selects.

use std::io;
use std::ops::Range;

use super::columns::{RowView, kind_text};
use super::query_text::{Query, Source};
use super::selection::FrameSelection;
use crate::format::word::kind;
use crate::reader::{FrameShare, Names, Node, OpenNode, ThreadTrace, TreeBuilder, Visitor};

/// The frames and kinds that a query selects.
pub(super) struct Selection {
    calls: FrameSelection,
    under: Vec<FrameSelection>,
    directly_under: Vec<FrameSelection>,
    kinds: Vec<bool>,
}

impl Selection {
    pub(super) fn new(query: &Query, names: &Names) -> Selection {
        let each = |patterns: &[_]| -> Vec<FrameSelection> {
            let one = |p| FrameSelection::any(names, std::slice::from_ref(p));
            patterns.iter().map(one).collect()
        };
        let mut calls = match &query.source {
            Source::Calls(patterns) if !patterns.is_empty() => FrameSelection::any(names, patterns),
            _ => FrameSelection::all(names),
        };
        calls.remove(&FrameSelection::any(names, &query.without));
        let kinds = (0..=u8::MAX).map(|event| match &query.source {
            Source::Calls(_) => event == kind::ENTRY,
            Source::Events(kinds) => {
                kinds.is_empty() || kinds.iter().any(|name| name == kind_text(event))
            }
        });
        Selection {
            calls,
            under: each(&query.under),
            directly_under: each(&query.directly_under),
            kinds: kinds.collect(),
        }
    }

    #[inline]
    fn is_selected(&self, node: &Node, open: &[OpenNode]) -> bool {
        self.kinds
            .get(usize::from(node.kind))
            .copied()
            .unwrap_or(false)
            && self.calls.contains(node.slot)
            && self.is_in_place(open)
    }

    fn is_in_place(&self, open: &[OpenNode]) -> bool {
        let direct = |selection: &FrameSelection| {
            open.last()
                .is_some_and(|parent| selection.contains(parent.slot))
        };
        let around =
            |selection: &FrameSelection| open.iter().any(|node| selection.contains(node.slot));
        self.directly_under.iter().all(direct) && self.under.iter().all(around)
    }
}

/// The interval of the query in ticks.
fn interval(query: &Query, names: &Names) -> (u64, u64) {
    let Some((from, to)) = query.between else {
        return (0, u64::MAX);
    };
    let (n, d) = (names.clock.numerator, names.clock.denominator);
    let ticks = |ns: u64| {
        let ticks = u128::from(ns) * u128::from(d) / u128::from(n.max(1));
        let since = u64::try_from(ticks).unwrap_or(u64::MAX);
        names.clock.ticks.saturating_add(since)
    };
    (ticks(from), ticks(to))
}

/// Visits the nodes of one thread.
pub(super) struct RowVisitor<'q, F> {
    query: &'q Query,
    selection: &'q Selection,
    names: &'q Names,
    thread: u32,
    /// The first and last beginning of selected nodes, in ticks.
    interval: (u64, u64),
    is_over: bool,
    take: F,
}

impl<'q, F: FnMut(&RowView<'_>) -> bool> RowVisitor<'q, F> {
    /// `take` receives each selected row, and returns whether it wants more.
    pub(super) fn new(
        query: &'q Query,
        selection: &'q Selection,
        names: &'q Names,
        thread: u32,
        take: F,
    ) -> RowVisitor<'q, F> {
        RowVisitor {
            query,
            selection,
            names,
            thread,
            interval: interval(query, names),
            is_over: false,
            take,
        }
    }

    /// Whether no more rows are wanted.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Reads the nodes that end in these segments of the thread.
    pub(super) fn read(&mut self, thread: &ThreadTrace, part: Range<usize>) -> io::Result<()> {
        let is_last = part.end >= thread.index.segments.len();
        let (mut at, mut builder) = thread.index.resume_at(part.start);
        let mut reader = thread.events(at);
        // The nodes that are open after the last segment end there.
        while at < part.end || is_last {
            match self.choose(thread, at, &builder) {
                SegmentChoice::Stop => return Ok(()),
                SegmentChoice::Jump(target) if target >= part.end => return Ok(()),
                SegmentChoice::Jump(target) => {
                    let (resume, state) = thread.index.resume_at(target);
                    if resume > at {
                        (builder, at) = (state, resume);
                        reader.jump_to(at);
                    }
                }
                SegmentChoice::Read => {}
            }
            if !builder.read_segment(&mut reader, self.names, self)? {
                return Ok(());
            }
            at = reader.next_segment();
        }
        Ok(())
    }

    #[inline]
    fn node(&mut self, node: &Node, open: &[OpenNode]) {
        let (from, to) = self.interval;
        if self.is_over
            || node.start < from
            || node.start > to
            || !self.selection.is_selected(node, open)
        {
            return;
        }
        let row = RowView {
            node,
            open,
            thread: self.thread,
            names: self.names,
        };
        if self.query.conditions.iter().all(|c| c.holds(&row)) {
            self.is_over = !(self.take)(&row);
        }
    }

    /// Skips segments in which no selected call begins or is open.
    fn choose(&self, thread: &ThreadTrace, at: usize, builder: &TreeBuilder) -> SegmentChoice {
        if self.is_over {
            return SegmentChoice::Stop;
        }
        let (from, to) = self.interval;
        let is_call = matches!(self.query.source, Source::Calls(_));
        let is_wanted = |slot| !is_call || self.selection.calls.contains(slot);
        if builder
            .open()
            .iter()
            .any(|n| is_wanted(n.slot) && n.start >= from && n.start <= to)
        {
            return SegmentChoice::Read;
        }
        let mut later = thread.index.segments.iter().enumerate().skip(at);
        let next = later.find(|(_, segment)| {
            let is_in_time = segment.last >= from && segment.place.header.start <= to;
            let has_call =
                |share: &FrameShare| share.entries > 0 && self.selection.calls.contains(share.slot);
            is_in_time && (!is_call || segment.shares.iter().any(has_call))
        });
        match next {
            None => SegmentChoice::Stop,
            Some((next, _)) if next == at => SegmentChoice::Read,
            Some((next, _)) => SegmentChoice::Jump(next),
        }
    }
}

impl<F: FnMut(&RowView<'_>) -> bool> Visitor for RowVisitor<'_, F> {
    fn instant(&mut self, node: &Node, open: &[OpenNode]) {
        self.node(node, open);
    }

    fn leave(&mut self, node: &Node, open: &[OpenNode]) {
        self.node(node, open);
    }
}

/// The choice before a segment is read.
enum SegmentChoice {
    Read,
    /// Skip to this later segment, or to the last one before it with a snapshot.
    Jump(usize),
    Stop,
}
