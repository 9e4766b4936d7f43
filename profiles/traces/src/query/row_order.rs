//! The order of rows.

use std::cmp::Ordering;

use super::columns::Cell;

/// Compares rows cell by cell.
pub(super) fn compare_rows(a: &[Cell], b: &[Cell]) -> Ordering {
    let orders = a.iter().zip(b).map(|(a, b)| compare_cells(a, b));
    orders
        .into_iter()
        .find(|o| o.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// Unknown values are before numbers, and numbers are before texts.
pub(super) fn compare_cells(a: &Cell, b: &Cell) -> Ordering {
    match (a, b) {
        (Cell::Number(a), Cell::Number(b)) => a.cmp(b),
        (Cell::Real(a), Cell::Real(b)) => a.total_cmp(b),
        (Cell::Text(a), Cell::Text(b)) => a.cmp(b),
        _ => rank(a).cmp(&rank(b)),
    }
}

fn rank(cell: &Cell) -> u8 {
    match cell {
        Cell::Null => 0,
        Cell::Number(_) => 1,
        Cell::Real(_) => 2,
        Cell::Text(_) => 3,
    }
}
