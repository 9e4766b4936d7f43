//! Groups of rows and their aggregates.

use std::collections::hash_map::Entry;

use ahash::AHashMap;

use super::columns::{Cell, Column, RowView};
use super::quantiles::Quantiles;
use super::query_text::{MAX_KEYS, Measure, Show};

/// The code of a key whose value is unknown.
const UNKNOWN: u64 = u64::MAX;

/// The codes of a group's keys. Unused places are 0.
type GroupKey = [u64; MAX_KEYS];

/// Running totals of one column of a group.
#[derive(Clone, Debug, Default)]
struct Totals {
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
    quantiles: Option<Quantiles>,
}

impl Totals {
    /// Adds the totals of other rows.
    fn merge(&mut self, other: Totals) {
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        if let (Some(quantiles), Some(others)) = (&mut self.quantiles, &other.quantiles) {
            quantiles.merge(others);
        }
    }
}

/// A group: the cells of its keys, its rows and the totals of its columns.
#[derive(Clone, Debug)]
struct Group {
    cells: Vec<Cell>,
    rows: u64,
    totals: Vec<Totals>,
}

/// Groups of rows.
#[derive(Debug)]
pub(super) struct Groups {
    keys: Vec<Column>,
    /// The columns that are aggregated, and whether their quantiles are needed.
    columns: Vec<(Column, bool)>,
    groups: AHashMap<GroupKey, Group>,
}

impl Groups {
    pub(super) fn new(keys: &[Column], show: &[Show]) -> Groups {
        let mut columns: Vec<(Column, bool)> = Vec::new();
        for show in show {
            let (column, is_quantile) = match show {
                Show::Measure(Measure::Quantile(column, _)) => (*column, true),
                Show::Measure(
                    Measure::Sum(c) | Measure::Avg(c) | Measure::Min(c) | Measure::Max(c),
                ) => (*c, false),
                _ => continue,
            };
            match columns.iter_mut().find(|known| known.0 == column) {
                Some(known) => known.1 |= is_quantile,
                None => columns.push((column, is_quantile)),
            }
        }
        Groups {
            keys: keys.to_vec(),
            columns,
            groups: AHashMap::new(),
        }
    }

    pub(super) fn add(&mut self, row: &RowView<'_>) {
        let mut key = [0; MAX_KEYS];
        for (code, column) in key.iter_mut().zip(&self.keys) {
            *code = row.key(*column).unwrap_or(UNKNOWN);
        }
        let group = self.groups.entry(key).or_insert_with(|| Group {
            cells: self.keys.iter().map(|column| row.cell(*column)).collect(),
            rows: 0,
            totals: self
                .columns
                .iter()
                .map(|(_, is_quantile)| Totals {
                    min: u64::MAX,
                    quantiles: is_quantile.then(Quantiles::default),
                    ..Totals::default()
                })
                .collect(),
        });
        group.rows += 1;
        for ((column, _), totals) in self.columns.iter().zip(&mut group.totals) {
            let Some(value) = row.number(*column) else {
                continue;
            };
            totals.count += 1;
            totals.sum += u128::from(value);
            totals.min = totals.min.min(value);
            totals.max = totals.max.max(value);
            if let Some(quantiles) = &mut totals.quantiles {
                quantiles.add(value);
            }
        }
    }

    /// Adds the groups of a later part of the trace.
    pub(super) fn merge(&mut self, later: Groups) {
        for (key, other) in later.groups {
            match self.groups.entry(key) {
                Entry::Vacant(vacant) => {
                    vacant.insert(other);
                }
                Entry::Occupied(mut group) => {
                    let group = group.get_mut();
                    group.rows += other.rows;
                    for (totals, others) in group.totals.iter_mut().zip(other.totals) {
                        totals.merge(others);
                    }
                }
            }
        }
    }

    /// The rows of the result, sorted by the cells of their keys.
    pub(super) fn rows(self, show: &[Show]) -> Vec<Vec<Cell>> {
        let mut groups: Vec<Group> = self.groups.into_values().collect();
        groups.sort_by(|a, b| super::row_order::compare_rows(&a.cells, &b.cells));
        let cell = |group: &Group, show: &Show| match show {
            Show::Column(column) => {
                let at = self.keys.iter().position(|key| key == column);
                at.and_then(|at| group.cells.get(at))
                    .cloned()
                    .unwrap_or(Cell::Null)
            }
            Show::Measure(Measure::Count) => Cell::Number(group.rows),
            Show::Measure(
                measure @ (Measure::Sum(c)
                | Measure::Avg(c)
                | Measure::Min(c)
                | Measure::Max(c)
                | Measure::Quantile(c, _)),
            ) => {
                let at = self.columns.iter().position(|known| known.0 == *c);
                let totals = at.and_then(|at| group.totals.get(at));
                totals.map_or(Cell::Null, |totals| aggregate(measure, totals))
            }
        };
        groups
            .iter()
            .map(|group| show.iter().map(|s| cell(group, s)).collect())
            .collect()
    }
}

fn aggregate(measure: &Measure, totals: &Totals) -> Cell {
    if totals.count == 0 {
        return Cell::Null;
    }
    match measure {
        Measure::Count => Cell::Number(totals.count),
        Measure::Sum(_) => Cell::Number(u64::try_from(totals.sum).unwrap_or(u64::MAX)),
        Measure::Avg(_) => Cell::Real(totals.sum as f64 / totals.count as f64),
        Measure::Min(_) => Cell::Number(totals.min),
        Measure::Max(_) => Cell::Number(totals.max),
        Measure::Quantile(_, part) => {
            let part = f64::from(*part) / 1000.0;
            let found = totals.quantiles.as_ref().and_then(|q| q.quantile(part));
            found.map_or(Cell::Null, Cell::Number)
        }
    }
}
