//! The table of methods: shares of the time, number of calls and calls per second, sorted and
//! filtered.

use std::cmp::Ordering;
use std::collections::{HashMap, VecDeque};

use super::location::MethodLocation;
use super::measurements::MeasuredPoint;
use super::stack_times::{SampledFrame, StackTimes, TimeShares, WINDOW_SECONDS};

/// The column that the table is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SortColumn {
    /// The own share of the time, and calls per second as long as no stack has been sampled.
    #[default]
    Own,
    /// The total share of the time.
    Total,
    /// Calls per second.
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
            SortColumn::Own => SortColumn::Total,
            SortColumn::Total => SortColumn::Rate,
            SortColumn::Rate => SortColumn::Calls,
            SortColumn::Calls => SortColumn::Name,
            SortColumn::Name => SortColumn::Own,
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
    /// Calls per second, an average over the samples of [`WINDOW_SECONDS`].
    pub rate: f64,
    /// The shares of the time of active threads.
    pub shares: TimeShares,
    /// Time and number of calls of the samples that were shown in the last [`WINDOW_SECONDS`], and
    /// of the last one before.
    history: VecDeque<(f64, u64)>,
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
    /// The indices of the methods of one name, overloads in the order of their first samples.
    overloads_of: HashMap<(String, String), Vec<usize>>,
    /// Whether stacks were sampled, so shares are known.
    has_shares: bool,
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
        for method in &mut self.all {
            method.calls = method.live;
            method.history.push_back((at, method.calls));
            let is_old = |entry: &(f64, u64)| at - entry.0 >= WINDOW_SECONDS;
            while method.history.get(1).is_some_and(is_old) {
                method.history.pop_front();
            }
            if let Some((since, before)) = method.history.front() {
                method.rate = rate(*before, method.calls, at - since);
            }
        }
        self.at = Some(at);
        self.arrange();
    }

    /// Sets the shares of the time from stack samples.
    pub fn set_shares(&mut self, times: &StackTimes) {
        let shares = times.shares(|frame| self.row_of(frame));
        for (index, method) in self.all.iter_mut().enumerate() {
            method.shares = shares.get(&index).copied().unwrap_or_default();
        }
        self.has_shares = times.is_known();
        self.arrange();
    }

    /// Whether stacks were sampled, so shares are known.
    pub fn has_shares(&self) -> bool {
        self.has_shares
    }

    /// Returns the row of a method on a stack. Of several overloads, it is the one that begins
    /// closest before the line of the frame.
    fn row_of(&self, frame: &SampledFrame) -> Option<usize> {
        let name = (frame.class.clone(), frame.method.clone());
        let overloads = self.overloads_of.get(&name)?;
        let start = |index: &&usize| self.all.get(**index).and_then(|method| method.line);
        let before = overloads.iter().filter(|index| start(index) <= frame.line);
        before.max_by_key(start).or(overloads.first()).copied()
    }

    fn add(&mut self, location: MethodLocation, line: Option<u32>) -> usize {
        let index = self.all.len();
        self.index_of.insert(location.clone(), index);
        let name = location.method.split('(').next().unwrap_or_default();
        let name = (location.class.clone(), name.to_owned());
        self.overloads_of.entry(name).or_default().push(index);
        self.all.push(MethodRow {
            name: location.name(),
            location,
            line,
            calls: 0,
            rate: 0.0,
            shares: TimeShares::default(),
            // Samples contain the methods that have changed, so this one had no calls before.
            history: self.at.map(|at| (at, 0)).into_iter().collect(),
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
        let by_own = |a: &MethodRow, b: &MethodRow| b.shares.own.total_cmp(&a.shares.own);
        let by_total = |a: &MethodRow, b: &MethodRow| b.shares.total.total_cmp(&a.shares.total);
        let by_rate = |a: &MethodRow, b: &MethodRow| b.rate.total_cmp(&a.rate);
        let by_calls = |a: &MethodRow, b: &MethodRow| b.calls.cmp(&a.calls);
        let compare = |a: &MethodRow, b: &MethodRow| -> Ordering {
            let first = match self.column {
                SortColumn::Own => by_own(a, b)
                    .then_with(|| by_rate(a, b))
                    .then_with(|| by_calls(a, b)),
                SortColumn::Total => by_total(a, b).then_with(|| by_own(a, b)),
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
        // Rates are averages over five seconds.
        methods.add_sample(6.0, vec![], true);
        let rates: Vec<f64> = methods.rows().map(|m| m.rate).collect();
        assert_eq!(rates, [2.0, 0.8]);
        methods.add_sample(12.0, vec![], true);
        assert!(methods.rows().all(|m| m.rate == 0.0));
    }

    #[test]
    fn the_method_with_the_largest_own_share_is_first_and_lines_tell_overloads_apart() {
        let overload = |method: &str, line: u32, hits: u64| MeasuredPoint {
            class: "a.B".into(),
            method: method.into(),
            line: Some(line),
            hits,
            ..MeasuredPoint::default()
        };
        let mut methods = MethodTable::default();
        let rows = vec![
            overload("m(I)V", 10, 900),
            overload("m(J)V", 20, 1),
            overload("main()V", 30, 1),
        ];
        methods.add_sample(1.0, rows, true);
        assert_eq!(names(&methods)[0], "a.B.m(int)");
        let frame = |method: &str, line: u32| SampledFrame {
            class: "a.B".into(),
            method: method.into(),
            line: Some(line),
        };
        let mut times = StackTimes::default();
        let stacks = vec![vec![frame("m", 22), frame("main", 31)]];
        times.add(1.0, crate::top::stack_times::StackDump { stacks });
        methods.set_shares(&times);
        assert_eq!(names(&methods), ["a.B.m(long)", "a.B.m(int)", "a.B.main()"]);
        methods.sort(SortColumn::Total, false);
        assert_eq!(names(&methods), ["a.B.m(long)", "a.B.main()", "a.B.m(int)"]);
        let first = methods.selected().unwrap().shares;
        assert_eq!(
            (first.own, first.total, methods.has_shares()),
            (1.0, 1.0, true)
        );
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
