//! Rows that are sorted by a column.

use std::cmp::Ordering;

use super::columns::Cell;
use super::query_text::Sort;
use super::row_order::compare_cells;

/// The most rows that are held to be sorted.
pub(super) const MAX_SORTED_ROWS: usize = 1_000_000;

/// Rows of a sorted result.
pub(super) struct SortedRows {
    rows: Vec<Vec<Cell>>,
    sort: Option<Sort>,
    top: Option<usize>,
    /// The cell by which the last one of the first `top` rows was sorted.
    last: Option<Cell>,
    /// Whether there were too many rows.
    is_full: bool,
}

impl SortedRows {
    pub(super) fn new(sort: Option<Sort>, top: Option<usize>) -> SortedRows {
        SortedRows {
            rows: Vec::new(),
            sort,
            top,
            last: None,
            is_full: false,
        }
    }

    /// Whether there were too many rows.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Whether a row that is sorted by this cell cannot be among the first ones. A row that is equal
    /// to an earlier one comes after it.
    pub(super) fn is_behind(&self, key: &Cell) -> bool {
        match (self.sort, &self.last) {
            (Some(sort), Some(last)) => compare_keys(sort, key, last) != Ordering::Less,
            _ => false,
        }
    }

    /// Adds a row, and drops rows that cannot be among the first ones. Returns false if there are
    /// too many.
    pub(super) fn add(&mut self, row: Vec<Cell>) -> bool {
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

    /// Adds the rows of a later part of the trace.
    pub(super) fn merge(&mut self, later: SortedRows) {
        self.is_full |= later.is_full;
        for row in later.rows {
            if self.is_full {
                return;
            }
            self.add(row);
        }
    }

    /// The rows in their order.
    pub(super) fn finish(mut self) -> Vec<Vec<Cell>> {
        self.order();
        self.rows
    }
}

pub(super) fn compare_by(sort: Sort, a: &[Cell], b: &[Cell]) -> Ordering {
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
