//! Runs a query over the threads of a trace.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use thiserror::Error;
use veneer_text::matches_wildcard;

use super::columns::{Cell, RowView, kind_text};
use super::groups::Groups;
use super::query_text::{Query, Show, Sort, Source};
use super::row_order::compare_cells;
use super::selection::FrameSelection;
use crate::error::TraceError;
use crate::format::word::kind;
use crate::reader::{Findings, Names, Node, OpenNode, ThreadTrace, Trace, TreeBuilder, Visitor};

/// The most rows that are held to be sorted.
const MAX_SORTED_ROWS: usize = 1_000_000;

/// Why a query ended early.
#[derive(Debug, Error)]
pub enum RunError {
    /// The trace could not be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The result is too long to be sorted.
    #[error("more than {MAX_SORTED_ROWS} rows cannot be sorted: add .top(n)")]
    TooManyRows,
}

/// Runs a query, and passes each row of the result to `sink` until it breaks. Returns the
/// findings of the threads that were read.
///
/// # Errors
/// An error of the trace, or `TooManyRows` for a long sorted result without `top`.
pub fn run(
    query: &Query,
    trace: &Trace,
    mut sink: impl FnMut(Vec<Cell>) -> ControlFlow<()>,
) -> Result<Findings, RunError> {
    let mut findings = Findings {
        damaged_names: trace.names.damaged_lines,
        ..Findings::default()
    };
    let selection = Selection::new(query, &trace.names);
    let mut groups = (!query.keys.is_empty()).then(|| Groups::new(&query.keys, &query.show));
    let mut sorted = Sorted {
        rows: Vec::new(),
        sort: query.sort,
        top: query.top,
        last: None,
        is_full: false,
    };
    let mut left = query.top.unwrap_or(usize::MAX);
    let mut is_over = left == 0;
    for thread in &trace.threads {
        if is_over || !is_thread_selected(query, &trace.names, thread.number) {
            continue;
        }
        let thread = trace.thread(thread.number)?;
        findings.add(&thread.index.findings);
        let mut visitor = RowVisitor {
            query,
            selection: &selection,
            names: &trace.names,
            thread: thread.thread,
            interval: interval(query, &trace.names),
            is_over: false,
            take: |row: &RowView<'_>| {
                if let Some(groups) = &mut groups {
                    groups.add(row);
                    return true;
                }
                let cell = |show: &Show| match show {
                    Show::Column(column) => row.cell(*column),
                    Show::Measure(_) => Cell::Null,
                };
                let cells = query.show.iter().map(cell);
                if let Some(sort) = query.sort {
                    let key = query.show.get(sort.column).map_or(Cell::Null, cell);
                    return sorted.is_behind(&key) || sorted.add(cells.collect());
                }
                left -= 1;
                sink(cells.collect()).is_continue() && left > 0
            },
        };
        let read = read(&thread, &trace.names, &mut visitor);
        read.map_err(|e| TraceError::io(&trace.directory, e))?;
        is_over = visitor.is_over;
    }
    if sorted.is_full {
        return Err(RunError::TooManyRows);
    }
    let mut rows = sorted.finish();
    if let Some(groups) = groups {
        rows = groups.rows(&query.show);
        if let Some(sort) = query.sort {
            rows.sort_by(|a, b| compare_by(sort, a, b));
        }
    }
    for row in rows.into_iter().take(query.top.unwrap_or(usize::MAX)) {
        if sink(row).is_break() {
            break;
        }
    }
    Ok(findings)
}

/// Rows of a sorted result.
struct Sorted {
    rows: Vec<Vec<Cell>>,
    sort: Option<Sort>,
    top: Option<usize>,
    /// The cell by which the last one of the first `top` rows was sorted.
    last: Option<Cell>,
    /// Whether there were too many rows.
    is_full: bool,
}

impl Sorted {
    /// Whether a row that is sorted by this cell cannot be among the first ones. A row that is equal
    /// to an earlier one comes after it.
    fn is_behind(&self, key: &Cell) -> bool {
        match (self.sort, &self.last) {
            (Some(sort), Some(last)) => compare_keys(sort, key, last) != Ordering::Less,
            _ => false,
        }
    }

    /// Adds a row, and drops rows that cannot be among the first ones. Returns false if there are
    /// too many.
    fn add(&mut self, row: Vec<Cell>) -> bool {
        self.rows.push(row);
        let limit = self
            .top
            .map_or(MAX_SORTED_ROWS, |top| top.saturating_mul(2).max(1024));
        if self.rows.len() < limit.min(MAX_SORTED_ROWS) {
            return true;
        }
        self.order();
        self.rows.truncate(self.top.unwrap_or(usize::MAX));
        if let Some(sort) = self.sort.filter(|_| self.top == Some(self.rows.len())) {
            let last = self.rows.last();
            self.last = last.and_then(|row| row.get(sort.column)).cloned();
        }
        self.is_full = self.rows.len() >= MAX_SORTED_ROWS;
        !self.is_full
    }

    fn order(&mut self) {
        if let Some(sort) = self.sort {
            self.rows.sort_by(|a, b| compare_by(sort, a, b));
        }
    }

    fn finish(mut self) -> Vec<Vec<Cell>> {
        self.order();
        self.rows
    }
}

fn compare_by(sort: Sort, a: &[Cell], b: &[Cell]) -> Ordering {
    match (a.get(sort.column), b.get(sort.column)) {
        (Some(a), Some(b)) => compare_keys(sort, a, b),
        _ => Ordering::Equal,
    }
}

fn compare_keys(sort: Sort, a: &Cell, b: &Cell) -> Ordering {
    let order = compare_cells(a, b);
    match sort.is_descending {
        true => order.reverse(),
        false => order,
    }
}

/// The frames and kinds that a query selects.
struct Selection {
    calls: FrameSelection,
    under: Vec<FrameSelection>,
    directly_under: Vec<FrameSelection>,
    kinds: Vec<bool>,
}

impl Selection {
    fn new(query: &Query, names: &Names) -> Selection {
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

fn is_thread_selected(query: &Query, names: &Names, thread: u32) -> bool {
    let name = names.thread_name(thread);
    let matches = |wanted: &String| wanted.parse() == Ok(thread) || matches_wildcard(wanted, &name);
    query.threads.is_empty() || query.threads.iter().any(matches)
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

struct RowVisitor<'q, F> {
    query: &'q Query,
    selection: &'q Selection,
    names: &'q Names,
    thread: u32,
    /// The first and last beginning of selected nodes, in ticks.
    interval: (u64, u64),
    is_over: bool,
    take: F,
}

impl<F: FnMut(&RowView<'_>) -> bool> RowVisitor<'_, F> {
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
            let has_call = |share: &crate::reader::FrameShare| {
                share.entries > 0 && self.selection.calls.contains(share.slot)
            };
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

fn read<F: FnMut(&RowView<'_>) -> bool>(
    thread: &ThreadTrace,
    names: &Names,
    visitor: &mut RowVisitor<'_, F>,
) -> std::io::Result<()> {
    let mut reader = thread.events(0);
    let mut builder = TreeBuilder::default();
    let mut at = 0;
    loop {
        match visitor.choose(thread, at, &builder) {
            SegmentChoice::Stop => return Ok(()),
            SegmentChoice::Jump(target) => {
                let (resume, state) = thread.index.resume_at(target);
                if resume > at {
                    (builder, at) = (state, resume);
                    reader.jump_to(at);
                }
            }
            SegmentChoice::Read => {}
        }
        if !builder.read_segment(&mut reader, names, visitor)? {
            return Ok(());
        }
        at = reader.next_segment();
    }
}
