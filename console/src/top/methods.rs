//! The table of methods: calls and calls a second, sorted and filtered.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::figures::Row;
use super::place::Place;

/// What the table is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Column {
    /// Calls a second, since the last look.
    #[default]
    Rate,
    /// Calls since the counters stand.
    Calls,
    /// Class and method.
    Name,
}

impl Column {
    /// The next one.
    pub fn next(self) -> Column {
        match self {
            Column::Rate => Column::Calls,
            Column::Calls => Column::Name,
            Column::Name => Column::Rate,
        }
    }
}

/// A method and its figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Method {
    /// Which.
    pub place: Place,
    /// `shop.Desk.serve(int)`.
    pub name: String,
    /// Where it begins in the source.
    pub line: Option<u32>,
    /// Calls so far.
    pub calls: u64,
    /// Calls a second, since the look before.
    pub rate: f64,
    /// Calls so far, shown or not.
    live: u64,
    /// The look that told them.
    look: u64,
}

/// See the module documentation.
#[derive(Debug, Clone, Default)]
pub struct Methods {
    all: Vec<Method>,
    /// Their places in `all`.
    known: HashMap<Place, usize>,
    looks: u64,
    /// Places in `all`, those that the filter lets through, in order.
    shown: Vec<usize>,
    column: Column,
    reversed: bool,
    filter: String,
    /// The selected method; none: whichever is first.
    selected: Option<Place>,
    /// Seconds from the agent's beginning to the last look that was shown.
    at: Option<f64>,
}

impl Methods {
    /// A look: the rows that have changed. They are not shown yet where `show` does not say so.
    pub fn look(&mut self, at: f64, rows: Vec<Row>, show: bool) {
        self.looks += 1;
        for row in rows {
            let place = Place {
                class: row.class,
                method: row.method,
                fragment: None,
            };
            let index = match self.known.get(&place) {
                Some(index) => *index,
                None => self.add(place, row.line),
            };
            if let Some(method) = self.all.get_mut(index) {
                // Classes of one name, by several loaders, are one row.
                let others = if method.look == self.looks {
                    method.live
                } else {
                    0
                };
                method.live = others.saturating_add(row.hits);
                method.look = self.looks;
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

    fn add(&mut self, place: Place, line: Option<u32>) -> usize {
        let index = self.all.len();
        self.known.insert(place.clone(), index);
        self.all.push(Method {
            name: place.name(),
            place,
            line,
            calls: 0,
            rate: 0.0,
            live: 0,
            look: 0,
        });
        index
    }

    /// Calls of all methods so far, shown or not.
    pub fn live(&self) -> u64 {
        let add = |sum: u64, m: &Method| sum.saturating_add(m.live);
        self.all.iter().fold(0, add)
    }

    /// Those that are shown, in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &Method> {
        self.shown.iter().map(|index| &self.all[*index])
    }

    /// How many there are, shown or not, and how many of them were ever called.
    pub fn count(&self) -> (usize, usize) {
        let called = self.all.iter().filter(|m| m.calls > 0).count();
        (self.all.len(), called)
    }

    /// Calls of all methods.
    pub fn calls(&self) -> u64 {
        let add = |sum: u64, m: &Method| sum.saturating_add(m.calls);
        self.all.iter().fold(0, add)
    }

    /// What it is sorted by, and whether the other way round.
    pub fn order(&self) -> (Column, bool) {
        (self.column, self.reversed)
    }

    /// Sorts by this column; the other way round where it says so.
    pub fn sort(&mut self, column: Column, reversed: bool) {
        (self.column, self.reversed) = (column, reversed);
        self.arrange();
    }

    /// What the names have in them.
    pub fn filter(&self) -> &str {
        &self.filter
    }

    /// Shows those only whose names have this in them, in capitals or not.
    pub fn set_filter(&mut self, text: &str) {
        self.filter = text.to_owned();
        self.arrange();
    }

    /// The selected method's place among the rows.
    pub fn cursor(&self) -> usize {
        let Some(selected) = &self.selected else {
            return 0;
        };
        let mut rows = self.rows();
        rows.position(|m| m.place == *selected).unwrap_or(0)
    }

    /// The selected method.
    pub fn selected(&self) -> Option<&Method> {
        self.rows().nth(self.cursor())
    }

    /// Selects the row so many further down, or the first or last one. The first row stays selected whichever method is there.
    pub fn move_by(&mut self, rows: isize) {
        let last = self.shown.len().saturating_sub(1);
        let to = self.cursor().saturating_add_signed(rows).min(last);
        self.selected = match to {
            0 => None,
            to => self.rows().nth(to).map(|m| m.place.clone()),
        };
    }

    fn arrange(&mut self) {
        let wanted = self.filter.to_lowercase();
        let all = &self.all;
        let mut shown: Vec<usize> = (0..all.len())
            .filter(|&n| wanted.is_empty() || all[n].name.to_lowercase().contains(&wanted))
            .collect();
        let by_rate = |a: &Method, b: &Method| b.rate.total_cmp(&a.rate);
        let by_calls = |a: &Method, b: &Method| b.calls.cmp(&a.calls);
        let compare = |a: &Method, b: &Method| -> Ordering {
            let first = match self.column {
                Column::Rate => by_rate(a, b).then_with(|| by_calls(a, b)),
                Column::Calls => by_calls(a, b),
                Column::Name => Ordering::Equal,
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

/// How many a second.
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

    fn row(method: &str, hits: u64) -> Row {
        Row {
            class: "a.B".into(),
            method: format!("{method}()V"),
            hits,
            ..Row::default()
        }
    }

    fn names(methods: &Methods) -> Vec<&str> {
        methods.rows().map(|m| m.name.as_str()).collect()
    }

    #[test]
    fn the_hottest_comes_first_and_what_is_selected_stays_so() {
        let mut methods = Methods::default();
        methods.look(1.0, vec![row("x", 10), row("y", 30), row("z", 20)], true);
        assert_eq!(names(&methods), ["a.B.y()", "a.B.z()", "a.B.x()"]);
        methods.move_by(2);
        assert_eq!(methods.selected().unwrap().name, "a.B.x()");
        methods.look(3.0, vec![row("x", 110), row("z", 22)], true);
        assert_eq!(names(&methods), ["a.B.x()", "a.B.z()", "a.B.y()"]);
        let first = methods.selected().unwrap();
        assert_eq!((methods.cursor(), first.rate), (0, 50.0));
        methods.move_by(-5);
        methods.sort(Column::Calls, true);
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
    fn what_is_not_shown_is_kept_for_later() {
        let mut methods = Methods::default();
        methods.look(1.0, vec![row("x", 10), row("y", 5)], true);
        methods.look(2.0, vec![row("x", 20)], false);
        methods.look(3.0, vec![row("y", 9)], false);
        assert_eq!((methods.calls(), methods.live()), (15, 29));
        methods.look(5.0, vec![], true);
        let rows: Vec<(u64, f64)> = methods.rows().map(|m| (m.calls, m.rate)).collect();
        assert_eq!(rows, [(20, 2.5), (9, 1.0)]);
        methods.look(6.0, vec![], true);
        assert!(methods.rows().all(|m| m.rate == 0.0));
    }

    #[test]
    fn classes_of_one_name_are_one_row() {
        let mut methods = Methods::default();
        methods.look(1.0, vec![row("x", 10), row("x", 5)], true);
        methods.look(2.0, vec![row("x", 11), row("x", 5)], true);
        assert_eq!(methods.rows().len(), 1);
        assert_eq!(methods.selected().unwrap().calls, 16);
    }
}
