//! An instrument that was attached by a key, and what it has measured.

use serde::Serialize;

use super::figures::{Row, Seen};
use super::methods::rate;
use super::place::{Kind, Place};

/// How far it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It is being attached.
    Attaching,
    /// It stands.
    On,
}

/// See the module documentation.
#[derive(Debug, Clone)]
pub struct Probe {
    /// Which of the connections holds it.
    pub number: u64,
    /// Where.
    pub place: Place,
    /// What.
    pub kind: Kind,
    /// Whether it stands.
    pub state: State,
    /// What it has measured, as it is shown.
    pub figures: Figures,
    /// What it has measured by now.
    live: Figures,
    /// The last look that was shown, in seconds since the agent began.
    at: Option<f64>,
}

/// What was measured so far. Times are in nanoseconds, callees included.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Passes, or finished intervals.
    pub passes: u64,
    /// A second, since the last look.
    pub rate: f64,
    /// The sum of the intervals.
    pub total_ns: u64,
    /// The shortest.
    pub min_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// The newest values, the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Seen>,
}

impl Probe {
    /// One that is being attached.
    pub fn new(number: u64, place: Place, kind: Kind) -> Probe {
        Probe {
            number,
            place,
            kind,
            state: State::Attaching,
            figures: Figures::default(),
            live: Figures::default(),
            at: None,
        }
    }

    /// A look at a counter or a timer: the rows that have changed.
    pub fn look(&mut self, rows: &[Row]) {
        if rows.is_empty() {
            return;
        }
        let mut figures = Figures::default();
        for row in rows {
            figures.passes = figures.passes.saturating_add(row.hits + row.count);
            figures.total_ns = figures.total_ns.saturating_add(row.total_ns);
            figures.max_ns = figures.max_ns.max(row.max_ns);
            if row.count > 0 && (figures.min_ns == 0 || row.min_ns < figures.min_ns) {
                figures.min_ns = row.min_ns;
            }
        }
        figures.values = std::mem::take(&mut self.live.values);
        self.live = figures;
    }

    /// What a watch has seen.
    pub fn watch(&mut self, values: Vec<Seen>) {
        self.live.values = values;
    }

    /// Shows what it has measured by now.
    pub fn show(&mut self, at: f64) {
        let seconds = self.at.map_or(0.0, |before| at - before);
        let rate = rate(self.figures.passes, self.live.passes, seconds);
        self.figures = Figures {
            rate,
            ..self.live.clone()
        };
        self.at = Some(at);
        self.state = State::On;
    }

    /// Passes so far, shown or not.
    pub fn live(&self) -> u64 {
        self.live.passes
    }

    /// The average of the intervals, in nanoseconds.
    pub fn average_ns(&self) -> u64 {
        self.figures.total_ns / self.figures.passes.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_has_ends_and_an_average() {
        let place = Place {
            class: "a.B".into(),
            method: "m()V".into(),
            fragment: None,
        };
        let mut probe = Probe::new(1, place, Kind::Timer);
        let row = |count, total_ns, min_ns, max_ns| Row {
            count,
            total_ns,
            min_ns,
            max_ns,
            ..Row::default()
        };
        probe.look(&[row(2, 30, 10, 20), row(1, 60, 60, 60), row(0, 0, 0, 0)]);
        probe.show(1.0);
        assert_eq!(probe.average_ns(), 30);
        assert_eq!((probe.figures.min_ns, probe.figures.max_ns), (10, 60));
        probe.look(&[row(13, 30, 10, 20)]);
        assert_eq!((probe.figures.passes, probe.live()), (3, 13));
        probe.show(2.0);
        assert_eq!(probe.figures.rate, 10.0);
    }
}
