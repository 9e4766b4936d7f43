//! Runs a query over the threads of a trace.

use std::num::NonZero;
use std::ops::{ControlFlow, Range};
use std::thread::available_parallelism;

use thiserror::Error;
use veneer_text::matches_wildcard;

use super::columns::{Cell, RowView};
use super::groups::Groups;
use super::parallel::in_parallel;
use super::query_text::{Query, Show};
use super::row_visitor::{RowVisitor, Selection};
use super::sorted_rows::{MAX_SORTED_ROWS, SortedRows, compare_by};
use crate::error::TraceError;
use crate::reader::{Findings, Names, ThreadTrace, Trace};

/// The parts of a trace for each thread that reads it. Parts take different times, and a thread that is done
/// takes the next one.
const PARTS_PER_READER: usize = 4;
/// Each part holds its first rows, so a longer result of sorted rows is read by one thread.
const MAX_ROWS_OF_PART: usize = 10_000;

/// The threads that read a trace for a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readers {
    /// The most threads that read at once.
    pub count: usize,
    /// The fewest events of a part that is read by itself.
    pub min_events: u64,
}

impl Default for Readers {
    /// A thread for each processor.
    fn default() -> Readers {
        Readers {
            count: available_parallelism().map_or(1, NonZero::get),
            min_events: 1_000_000,
        }
    }
}

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
    sink: impl FnMut(Vec<Cell>) -> ControlFlow<()>,
) -> Result<Findings, RunError> {
    run_with(Readers::default(), query, trace, sink)
}

/// Runs a query as [`run`] does, with these readers. The result does not depend on them.
///
/// # Errors
/// As for [`run`].
pub fn run_with(
    readers: Readers,
    query: &Query,
    trace: &Trace,
    mut sink: impl FnMut(Vec<Cell>) -> ControlFlow<()>,
) -> Result<Findings, RunError> {
    let mut findings = Findings {
        damaged_names: trace.names.damaged_lines,
        ..Findings::default()
    };
    let selection = Selection::new(query, &trace.names);
    let mut held = HeldRows::new(query);
    let mut left = query.top.unwrap_or(usize::MAX);
    let mut is_over = left == 0;
    for thread in &trace.threads {
        if is_over || !is_thread_selected(query, &trace.names, thread.number) {
            continue;
        }
        let thread = trace.thread(thread.number)?;
        findings.add(&thread.index.findings);
        let failed = |error| TraceError::io(&trace.directory, error);
        let parts = parts(readers, query, &thread);
        if let (Some(held), true) = (&mut held, parts.len() > 1) {
            let read = |n: usize| {
                let mut rows = HeldRows::new(query)?;
                let take = |row: &RowView<'_>| rows.add(query, row);
                let mut visitor =
                    RowVisitor::new(query, &selection, &trace.names, thread.thread, take);
                let read = visitor.read(&thread, parts.get(n)?.clone());
                Some(read.map(|()| rows))
            };
            for rows in in_parallel(readers.count, parts.len(), read)
                .into_iter()
                .flatten()
            {
                held.merge(rows.map_err(failed)?);
            }
            is_over = held.is_full();
            continue;
        }
        let take = |row: &RowView<'_>| match &mut held {
            Some(held) => held.add(query, row),
            None => {
                let cells = query.show.iter().map(|show| cell_of(row, show));
                left -= 1;
                sink(cells.collect()).is_continue() && left > 0
            }
        };
        let mut visitor = RowVisitor::new(query, &selection, &trace.names, thread.thread, take);
        let all = 0..thread.index.segments.len();
        visitor.read(&thread, all).map_err(failed)?;
        is_over = visitor.is_over();
    }
    let rows = match held {
        None => Vec::new(),
        Some(held) if held.is_full() => return Err(RunError::TooManyRows),
        Some(held) => held.finish(query),
    };
    for row in rows.into_iter().take(query.top.unwrap_or(usize::MAX)) {
        if sink(row).is_break() {
            break;
        }
    }
    Ok(findings)
}

/// Rows that are held until all have been read.
enum HeldRows {
    Groups(Groups),
    Sorted(SortedRows),
}

impl HeldRows {
    /// `None` if the rows of the query are passed on as they are read.
    fn new(query: &Query) -> Option<HeldRows> {
        if !query.keys.is_empty() {
            return Some(HeldRows::Groups(Groups::new(&query.keys, &query.show)));
        }
        query.sort?;
        Some(HeldRows::Sorted(SortedRows::new(query.sort, query.top)))
    }

    /// Adds a row. Returns false if there are too many.
    fn add(&mut self, query: &Query, row: &RowView<'_>) -> bool {
        match self {
            HeldRows::Groups(groups) => {
                groups.add(row);
                true
            }
            HeldRows::Sorted(sorted) => {
                let column = query.sort.and_then(|sort| query.show.get(sort.column));
                let key = column.map_or(Cell::Null, |show| cell_of(row, show));
                let cells = query.show.iter().map(|show| cell_of(row, show));
                sorted.is_behind(&key) || sorted.add(cells.collect())
            }
        }
    }

    /// Adds the rows of a later part of the trace.
    fn merge(&mut self, later: HeldRows) {
        match (self, later) {
            (HeldRows::Groups(groups), HeldRows::Groups(later)) => groups.merge(later),
            (HeldRows::Sorted(sorted), HeldRows::Sorted(later)) => sorted.merge(later),
            // All rows of a query are held in the same way.
            _ => {}
        }
    }

    fn is_full(&self) -> bool {
        matches!(self, HeldRows::Sorted(sorted) if sorted.is_full())
    }

    fn finish(self, query: &Query) -> Vec<Vec<Cell>> {
        match self {
            HeldRows::Sorted(sorted) => sorted.finish(),
            HeldRows::Groups(groups) => {
                let mut rows = groups.rows(&query.show);
                if let Some(sort) = query.sort {
                    rows.sort_by(|a, b| compare_by(sort, a, b));
                }
                rows
            }
        }
    }
}

fn cell_of(row: &RowView<'_>, show: &Show) -> Cell {
    match show {
        Show::Column(column) => row.cell(*column),
        Show::Measure(_) => Cell::Null,
    }
}

/// The parts of a thread that can be read at once.
fn parts(readers: Readers, query: &Query, thread: &ThreadTrace) -> Vec<Range<usize>> {
    let is_short = !query.keys.is_empty() || query.top.is_some_and(|top| top <= MAX_ROWS_OF_PART);
    let most = match is_short && readers.count > 1 {
        true => readers.count.saturating_mul(PARTS_PER_READER),
        false => 1,
    };
    thread.index.parts(most, readers.min_events)
}

fn is_thread_selected(query: &Query, names: &Names, thread: u32) -> bool {
    let name = names.thread_name(thread);
    let matches = |wanted: &String| wanted.parse() == Ok(thread) || matches_wildcard(wanted, &name);
    query.threads.is_empty() || query.threads.iter().any(matches)
}
