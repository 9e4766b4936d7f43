//! An instrument that was attached by a key, and its measurements.

use serde::Serialize;

use super::location::{MethodLocation, ProbeKind};
use super::measurements::{MeasuredPoint, RecordedValues};
use super::methods::rate;

/// Whether the instrument is already attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbeState {
    Attaching,
    Attached,
}

/// An instrument that was attached by a key.
#[derive(Debug, Clone)]
pub struct ProbePanel {
    /// The number of the connection that holds the instrument.
    pub number: u64,
    pub location: MethodLocation,
    pub kind: ProbeKind,
    pub state: ProbeState,
    /// The measurements on the screen. They do not change while the view is paused.
    pub shown: ProbeResults,
    /// The latest measurements, shown or not.
    live: ProbeResults,
    /// Time of the last sample that was shown, in seconds since the agent began.
    at: Option<f64>,
}

/// Measurements of one instrument. Durations include callees.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ProbeResults {
    /// Number of passes of a counter or watch, or of finished intervals of a timer.
    pub passes: u64,
    /// Passes per second, calculated from the last two samples that were shown.
    pub rate: f64,
    /// The sum of all intervals.
    pub total_ns: u64,
    pub min_ns: u64,
    pub max_ns: u64,
    /// The latest values of a watch, in the order in which they were recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<RecordedValues>,
}

impl ProbePanel {
    /// Creates a probe that is being attached.
    pub fn new(number: u64, location: MethodLocation, kind: ProbeKind) -> ProbePanel {
        ProbePanel {
            number,
            location,
            kind,
            state: ProbeState::Attaching,
            shown: ProbeResults::default(),
            live: ProbeResults::default(),
            at: None,
        }
    }

    /// Adds a sample of a counter or a timer: the rows that have changed.
    pub fn add_sample(&mut self, rows: &[MeasuredPoint]) {
        if rows.is_empty() {
            return;
        }
        let mut results = ProbeResults::default();
        for row in rows {
            results.passes = results.passes.saturating_add(row.hits + row.count);
            results.total_ns = results.total_ns.saturating_add(row.total_ns);
            results.max_ns = results.max_ns.max(row.max_ns);
            if row.count > 0 && (results.min_ns == 0 || row.min_ns < results.min_ns) {
                results.min_ns = row.min_ns;
            }
        }
        results.values = std::mem::take(&mut self.live.values);
        self.live = results;
    }

    /// Stores the latest values of a watch.
    pub fn set_values(&mut self, values: Vec<RecordedValues>) {
        self.live.values = values;
    }

    /// Makes the latest measurements the shown ones. `at` is the time of the sample, in seconds
    /// since the agent began.
    pub fn show(&mut self, at: f64) {
        let seconds = self.at.map_or(0.0, |before| at - before);
        let rate = rate(self.shown.passes, self.live.passes, seconds);
        self.shown = ProbeResults {
            rate,
            ..self.live.clone()
        };
        self.at = Some(at);
        self.state = ProbeState::Attached;
    }

    /// Number of passes so far, shown or not.
    pub fn live(&self) -> u64 {
        self.live.passes
    }

    /// The average interval, in nanoseconds.
    pub fn average_ns(&self) -> u64 {
        self.shown.total_ns / self.shown.passes.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_has_a_minimum_a_maximum_and_an_average() {
        let location = MethodLocation {
            class: "a.B".into(),
            method: "m()V".into(),
            fragment: None,
        };
        let mut probe = ProbePanel::new(1, location, ProbeKind::Timer);
        let row = |count, total_ns, min_ns, max_ns| MeasuredPoint {
            count,
            total_ns,
            min_ns,
            max_ns,
            ..MeasuredPoint::default()
        };
        probe.add_sample(&[row(2, 30, 10, 20), row(1, 60, 60, 60), row(0, 0, 0, 0)]);
        probe.show(1.0);
        assert_eq!(probe.average_ns(), 30);
        assert_eq!((probe.shown.min_ns, probe.shown.max_ns), (10, 60));
        probe.add_sample(&[row(13, 30, 10, 20)]);
        assert_eq!((probe.shown.passes, probe.live()), (3, 13));
        probe.show(2.0);
        assert_eq!(probe.shown.rate, 10.0);
    }
}
