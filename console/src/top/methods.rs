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
    /// Calls a second, since the last look.
    pub rate: f64,
}

/// See the module documentation.
#[derive(Debug, Clone, Default)]
pub struct Methods {
    all: Vec<Method>,
    /// Places in `all`, those that the filter lets through, in order.
    shown: Vec<usize>,
    column: Column,
    reversed: bool,
    filter: String,
    /// The selected method; none: whichever is first.
    selected: Option<Place>,
    /// Seconds from the plan's beginning to the last look.
    at: f64,
}

impl Methods {
    /// A look: all rows anew.
    pub fn look(&mut self, at: f64, rows: Vec<Row>) {
        let seconds = at - self.at;
        let before = std::mem::take(&mut self.all).into_iter();
        let before: HashMap<Place, u64> = before.map(|m| (m.place, m.calls)).collect();
        let mut known: HashMap<Place, usize> = HashMap::new();
        for row in rows {
            let place = Place {
                class: row.class,
                method: row.method,
                fragment: None,
            };
            // Classes of one name, by several loaders.
            if let Some(&index) = known.get(&place) {
                if let Some(same) = self.all.get_mut(index) {
                    same.calls = same.calls.saturating_add(row.hits);
                }
                continue;
            }
            known.insert(place.clone(), self.all.len());
            self.all.push(Method {
                name: place.name(),
                place,
                line: row.line,
                calls: row.hits,
                rate: 0.0,
            });
        }
        for method in &mut self.all {
            let before = before.get(&method.place).copied().unwrap_or(0);
            method.rate = rate(before, method.calls, seconds);
        }
        self.at = at;
        self.arrange();
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
        methods.look(1.0, vec![row("x", 10), row("y", 30), row("z", 20)]);
        assert_eq!(names(&methods), ["a.B.y()", "a.B.z()", "a.B.x()"]);
        methods.move_by(2);
        assert_eq!(methods.selected().unwrap().name, "a.B.x()");
        methods.look(3.0, vec![row("x", 110), row("y", 30), row("z", 22)]);
        assert_eq!(names(&methods), ["a.B.x()", "a.B.z()", "a.B.y()"]);
        assert_eq!(
            (methods.cursor(), methods.selected().unwrap().rate),
            (0, 50.0)
        );
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
    fn classes_of_one_name_are_one_row() {
        let mut methods = Methods::default();
        methods.look(1.0, vec![row("x", 10), row("x", 5)]);
        assert_eq!(methods.rows().len(), 1);
        assert_eq!(methods.selected().unwrap().calls, 15);
    }
}
