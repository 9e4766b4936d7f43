//! The table of methods: number of calls and calls per second, sorted and filtered.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::location::MethodLocation;
use super::measurements::MeasuredPoint;

/// The column that the table is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SortColumn {
    /// Calls per second.
    #[default]
    Rate,
    /// Calls since the counters were attached.
    Calls,
    /// Class and method.
    Name,
}

impl SortColumn {
    /// The column that the `o` key selects next.
    pub fn next(self) -> SortColumn {
        match self {
            SortColumn::Rate => SortColumn::Calls,
            SortColumn::Calls => SortColumn::Name,
            SortColumn::Name => SortColumn::Rate,
        }
    }
}

/// A row of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodRow {
    pub location: MethodLocation,
    /// For example `shop.Desk.serve(int)`.
    pub name: String,
    /// The source line at which the method begins.
    pub line: Option<u32>,
    /// Number of calls at the last sample that was shown.
    pub calls: u64,
    /// Calls per second, calculated from the last two samples that were shown.
    pub rate: f64,
    /// Number of calls at the last sample, shown or not.
    live: u64,
    /// The number of the last sample that contained this method.
    last_sample: u64,
}

/// The table of methods.
#[derive(Debug, Clone, Default)]
pub struct MethodTable {
    all: Vec<MethodRow>,
    /// The index in `all` of each method.
    index_of: HashMap<MethodLocation, usize>,
    samples: u64,
    /// Indices in `all` of the methods that match the filter, sorted.
    shown: Vec<usize>,
    column: SortColumn,
    reversed: bool,
    filter: String,
    /// The selected method. `None` means the first row, whichever method that is.
    selected: Option<MethodLocation>,
    /// Time of the last sample that was shown, in seconds since the agent began.
    at: Option<f64>,
}

impl MethodTable {
    /// Adds a sample: the rows that have changed. If `show` is false, the sample is stored, but not
    /// shown yet.
    pub fn add_sample(&mut self, at: f64, rows: Vec<MeasuredPoint>, show: bool) {
        self.samples += 1;
        for row in rows {
            let location = MethodLocation {
                class: row.class,
                method: row.method,
                fragment: None,
            };
            let index = match self.index_of.get(&location) {
                Some(index) => *index,
                None => self.add(location, row.line),
            };
            if let Some(method) = self.all.get_mut(index) {
                // Classes with the same name in several loaders share a row, so their counts are
                // added.
                let others = if method.last_sample == self.samples {
                    method.live
                } else {
                    0
                };
                method.live = others.saturating_add(row.hits);
                method.last_sample = self.samples;
            }
        }
        if !show {
            return;
        }
        let seconds = self.at.map_or(0.0, |before| at - before);
        for method in &mut self.all {
            method.rate = rate(method.calls, method.live, seconds);
            method.calls = method.live;
        }
        self.at = Some(at);
        self.arrange();
    }

    fn add(&mut self, location: MethodLocation, line: Option<u32>) -> usize {
        let index = self.all.len();
        self.index_of.insert(location.clone(), index);
        self.all.push(MethodRow {
            name: location.name(),
            location,
            line,
            calls: 0,
            rate: 0.0,
            live: 0,
            last_sample: 0,
        });
        index
    }

    /// Number of calls of all methods at the last sample, shown or not.
    pub fn live(&self) -> u64 {
        let add = |sum: u64, m: &MethodRow| sum.saturating_add(m.live);
        self.all.iter().fold(0, add)
    }

    /// The rows that match the filter, sorted.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &MethodRow> {
        self.shown.iter().map(|index| &self.all[*index])
    }

    /// Number of all methods, and number of methods that were called at least once.
    pub fn count(&self) -> (usize, usize) {
        let called = self.all.iter().filter(|m| m.calls > 0).count();
        (self.all.len(), called)
    }

    /// Number of calls of all methods at the last sample that was shown.
    pub fn calls(&self) -> u64 {
        let add = |sum: u64, m: &MethodRow| sum.saturating_add(m.calls);
        self.all.iter().fold(0, add)
    }

    /// The column that the table is sorted by, and whether the order is reversed.
    pub fn order(&self) -> (SortColumn, bool) {
        (self.column, self.reversed)
    }

    /// Sorts by a column.
    pub fn sort(&mut self, column: SortColumn, reversed: bool) {
        (self.column, self.reversed) = (column, reversed);
        self.arrange();
    }

    /// The text that a method's name must contain.
    pub fn filter(&self) -> &str {
        &self.filter
    }

    /// Restricts the table to names that contain this text. Upper and lower case are not
    /// distinguished.
    pub fn set_filter(&mut self, text: &str) {
        self.filter = text.to_owned();
        self.arrange();
    }

    /// The index of the selected row.
    pub fn cursor(&self) -> usize {
        let Some(selected) = &self.selected else {
            return 0;
        };
        let mut rows = self.rows();
        rows.position(|m| m.location == *selected).unwrap_or(0)
    }

    pub fn selected(&self) -> Option<&MethodRow> {
        self.rows().nth(self.cursor())
    }

    /// Moves the selection down by `rows`, or up if negative, at most to the first or last row. If
    /// the first row is selected, it stays selected even if another method moves there.
    pub fn move_by(&mut self, rows: isize) {
        let last = self.shown.len().saturating_sub(1);
        let to = self.cursor().saturating_add_signed(rows).min(last);
        self.selected = match to {
            0 => None,
            to => self.rows().nth(to).map(|m| m.location.clone()),
        };
    }

    fn arrange(&mut self) {
        let wanted = self.filter.to_lowercase();
        let all = &self.all;
        let mut shown: Vec<usize> = (0..all.len())
            .filter(|&n| wanted.is_empty() || all[n].name.to_lowercase().contains(&wanted))
            .collect();
        let by_rate = |a: &MethodRow, b: &MethodRow| b.rate.total_cmp(&a.rate);
        let by_calls = |a: &MethodRow, b: &MethodRow| b.calls.cmp(&a.calls);
        let compare = |a: &MethodRow, b: &MethodRow| -> Ordering {
            let first = match self.column {
                SortColumn::Rate => by_rate(a, b).then_with(|| by_calls(a, b)),
                SortColumn::Calls => by_calls(a, b),
                SortColumn::Name => Ordering::Equal,
            };
            first.then_with(|| a.name.cmp(&b.name))
        };
        shown.sort_by(|&a, &b| match self.reversed {
            false => compare(&all[a], &all[b]),
            true => compare(&all[b], &all[a]),
        });
        self.shown = shown;
    }
}

/// Returns the increase per second. 0 if no time has passed.
pub fn rate(before: u64, now: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        now.saturating_sub(before) as f64 / seconds
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(method: &str, hits: u64) -> MeasuredPoint {
        MeasuredPoint {
            class: "a.B".into(),
            method: format!("{method}()V"),
            hits,
            ..MeasuredPoint::default()
        }
    }

    fn names(methods: &MethodTable) -> Vec<&str> {
        methods.rows().map(|m| m.name.as_str()).collect()
    }

    #[test]
    fn the_hottest_is_first_and_the_selection_is_kept() {
        let mut methods = MethodTable::default();
        methods.add_sample(1.0, vec![row("x", 10), row("y", 30), row("z", 20)], true);
        assert_eq!(names(&methods), ["a.B.y()", "a.B.z()", "a.B.x()"]);
        methods.move_by(2);
        assert_eq!(methods.selected().unwrap().name, "a.B.x()");
        methods.add_sample(3.0, vec![row("x", 110), row("z", 22)], true);
        assert_eq!(names(&methods), ["a.B.x()", "a.B.z()", "a.B.y()"]);
        let first = methods.selected().unwrap();
        assert_eq!((methods.cursor(), first.rate), (0, 50.0));
        methods.move_by(-5);
        methods.sort(SortColumn::Calls, true);
        assert_eq!(names(&methods), ["a.B.z()", "a.B.y()", "a.B.x()"]);
        assert_eq!(methods.selected().unwrap().name, "a.B.z()");
        methods.set_filter("B.X");
        assert_eq!(names(&methods), ["a.B.x()"]);
        assert_eq!((methods.count(), methods.calls()), ((3, 3), 162));
        methods.set_filter("none");
        assert!(methods.selected().is_none());
        methods.move_by(1);
        assert!(methods.selected().is_none());
    }

    #[test]
    fn hidden_samples_are_kept() {
        let mut methods = MethodTable::default();
        methods.add_sample(1.0, vec![row("x", 10), row("y", 5)], true);
        methods.add_sample(2.0, vec![row("x", 20)], false);
        methods.add_sample(3.0, vec![row("y", 9)], false);
        assert_eq!((methods.calls(), methods.live()), (15, 29));
        methods.add_sample(5.0, vec![], true);
        let rows: Vec<(u64, f64)> = methods.rows().map(|m| (m.calls, m.rate)).collect();
        assert_eq!(rows, [(20, 2.5), (9, 1.0)]);
        methods.add_sample(6.0, vec![], true);
        assert!(methods.rows().all(|m| m.rate == 0.0));
    }

    #[test]
    fn classes_of_one_name_are_one_row() {
        let mut methods = MethodTable::default();
        methods.add_sample(1.0, vec![row("x", 10), row("x", 5)], true);
        methods.add_sample(2.0, vec![row("x", 11), row("x", 5)], true);
        assert_eq!(methods.rows().len(), 1);
        assert_eq!(methods.selected().unwrap().calls, 16);
    }
}
