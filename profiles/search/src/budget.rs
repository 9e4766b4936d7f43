//! The ceiling on the cost of all instruments.
//!
//! Each probe reserves a fraction of the active time: its measured cost, or an assumption until it
//! is measured. The sum of the reservations and the cost of stack samples never exceeds the ceiling.
//! If a measurement exceeds it, the most expensive probes are detached at once. As long as the cost
//! since the beginning exceeds the ceiling, no probe is attached, so that the excess of such a
//! moment is paid back.

use std::collections::BTreeMap;

use crate::request::ProbeId;

/// The part of the ceiling that stack samples may use.
const SAMPLES_PART: f64 = 0.5;

/// The cost of all instruments, as fractions of the active time.
#[derive(Clone, Debug)]
pub struct Budget {
    ceiling: f64,
    reserved: BTreeMap<ProbeId, f64>,
    samples: f64,
    spent_nanos: f64,
    active_nanos: f64,
}

impl Budget {
    /// Returns a budget with a ceiling as a fraction of the active time.
    pub fn new(ceiling: f64) -> Budget {
        Budget {
            ceiling,
            reserved: BTreeMap::new(),
            samples: 0.0,
            spent_nanos: 0.0,
            active_nanos: 0.0,
        }
    }

    /// Returns the sum of all reservations.
    pub fn reserved(&self) -> f64 {
        self.samples + self.reserved.values().sum::<f64>()
    }

    /// Returns the fraction of the active time that all instruments took since the beginning.
    pub fn spent(&self) -> f64 {
        if self.active_nanos > 0.0 {
            self.spent_nanos / self.active_nanos
        } else {
            0.0
        }
    }

    /// Returns whether a probe with this cost fits now.
    pub fn fits(&self, cost: f64) -> bool {
        self.reserved() + cost <= self.ceiling && self.spent() <= self.ceiling
    }

    /// Reserves the cost of a probe, if it fits.
    pub fn reserve(&mut self, probe: ProbeId, cost: f64) -> bool {
        let fits = self.fits(cost);
        if fits {
            self.reserved.insert(probe, cost);
        }
        fits
    }

    /// Replaces the reservation of an attached probe by its measured cost.
    pub fn measured(&mut self, probe: ProbeId, cost: f64) {
        if let Some(reserved) = self.reserved.get_mut(&probe) {
            *reserved = cost.max(0.0);
        }
    }

    /// Removes the reservation of a probe.
    pub fn release(&mut self, probe: ProbeId) {
        self.reserved.remove(&probe);
    }

    /// Adds the cost of a window. `samples` and `all` are nanoseconds.
    pub fn window(&mut self, samples: u64, all: u64, active: u64) {
        self.spent_nanos += all as f64;
        self.active_nanos += active as f64;
        if active > 0 {
            let share = samples as f64 / active as f64;
            self.samples = self.samples * 0.8 + share * 0.2;
        }
    }

    /// Returns the next rate of stack samples for a present rate, in samples per second.
    pub fn sample_rate(&self, present: f64, most: f64) -> f64 {
        let part = self.ceiling * SAMPLES_PART;
        if self.samples > part {
            (present * 0.5 * (part / self.samples).min(1.0)).max(0.0)
        } else if self.samples < part / 4.0 {
            (present * 2.0).max(0.1).min(most)
        } else {
            present
        }
    }

    /// Returns the probe with the highest reservation if the sum exceeds the ceiling.
    pub fn excess(&self) -> Option<ProbeId> {
        if self.reserved() <= self.ceiling {
            return None;
        }
        let dearest = self.reserved.iter().max_by(|a, b| a.1.total_cmp(b.1));
        dearest.map(|(probe, _)| *probe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_fit_up_to_the_ceiling_and_an_excess_is_paid_back() {
        let mut budget = Budget::new(0.02);
        assert!(budget.reserve(ProbeId(1), 0.015));
        assert!(!budget.reserve(ProbeId(2), 0.006));
        budget.measured(ProbeId(1), 0.1);
        assert_eq!(budget.excess(), Some(ProbeId(1)));
        budget.window(0, 100, 1000);
        budget.release(ProbeId(1));
        assert!(!budget.fits(0.001), "10 % was spent");
        budget.window(0, 0, 10_000);
        assert!(budget.fits(0.001));
    }

    #[test]
    fn expensive_samples_become_rare() {
        let mut budget = Budget::new(0.02);
        (0..20).for_each(|_| budget.window(100, 100, 1000));
        assert!(budget.sample_rate(20.0, 20.0) < 2.0);
        (0..100).for_each(|_| budget.window(0, 0, 1000));
        assert!(budget.sample_rate(1.0, 20.0) > 1.9);
    }
}
