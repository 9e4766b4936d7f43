//! The ceiling on the cost of all instruments.
//!
//! Each probe reserves a fraction of the active time: its measured cost, or an assumption until it
//! is measured. The sum of the reservations and the cost of stack samples never exceeds the ceiling.
//! If a measurement exceeds it, the most expensive probes are detached at once. As long as the cost
//! since the beginning exceeds the ceiling, no probe is attached, so that the excess of such a
//! moment is paid back. Stack samples that cost more than expected are paid back too: no sample is
//! taken until the next one fits into the time since the beginning. For that, samples may use half of
//! the part of the ceiling that nothing else used. The expected cost of a sample is the median of the last ones,
//! because one that meets a busy machine can cost a hundred times as much as the others.

use std::collections::{BTreeMap, VecDeque};

use crate::request::ProbeId;

/// The part of the unused rest of the ceiling that samples may use to pay back an expensive one. The other
/// half is for the next expensive one.
const REST_PART: f64 = 0.5;
/// The number of samples whose costs decide what the next one is expected to cost.
const KNOWN_SAMPLES: usize = 5;

/// The cost of all instruments, as fractions of the active time.
#[derive(Clone, Debug)]
pub struct Budget {
    ceiling: f64,
    /// The part of the ceiling that stack samples may use.
    samples_part: f64,
    reserved: BTreeMap<ProbeId, f64>,
    /// The rate of stack samples, per second.
    hertz: f64,
    /// The time for which each of the last samples of all stacks stopped the program, in seconds, the
    /// oldest first.
    sample_seconds: VecDeque<f64>,
    /// The time for which all samples stopped the program, and the time since the beginning, in
    /// seconds.
    sampled_seconds: f64,
    elapsed_seconds: f64,
    /// The cost of all samples, the cost of all instruments, and the active time, in nanoseconds of all
    /// threads.
    sampled_nanos: f64,
    spent_nanos: f64,
    active_nanos: f64,
}

impl Budget {
    /// Returns a budget with a ceiling as a fraction of the active time, and the part of it that
    /// stack samples may use.
    pub fn new(ceiling: f64, samples_part: f64) -> Budget {
        Budget {
            ceiling,
            samples_part,
            reserved: BTreeMap::new(),
            hertz: 0.0,
            sample_seconds: VecDeque::new(),
            sampled_seconds: 0.0,
            elapsed_seconds: 0.0,
            sampled_nanos: 0.0,
            spent_nanos: 0.0,
            active_nanos: 0.0,
        }
    }

    /// Returns the sum of all reservations.
    pub fn reserved(&self) -> f64 {
        self.hertz * self.expected_sample_seconds() + self.reserved_by_probes()
    }

    fn reserved_by_probes(&self) -> f64 {
        self.reserved.values().sum()
    }

    /// Returns the median of the last samples, or 0 before the first one. Of an even number, it is the
    /// lower one of the two in the middle.
    fn expected_sample_seconds(&self) -> f64 {
        let mut known: Vec<f64> = self.sample_seconds.iter().copied().collect();
        known.sort_by(f64::total_cmp);
        let middle = known.len().saturating_sub(1) / 2;
        known.get(middle).copied().unwrap_or(0.0)
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

    /// Adds the cost of a window of `nanos` nanoseconds. The other numbers are nanoseconds of all
    /// threads: the cost of `sampled` samples of all stacks, the whole cost, and the active time.
    pub fn window(&mut self, nanos: u64, samples: (u64, u32), all: u64, active: u64) {
        self.sampled_nanos += samples.0 as f64;
        self.spent_nanos += all as f64;
        self.active_nanos += active as f64;
        self.elapsed_seconds += nanos as f64 / 1e9;
        let (cost, sampled) = samples;
        if sampled > 0 && active > 0 {
            let threads = active as f64 / nanos.max(1) as f64;
            let stopped = cost as f64 / threads / 1e9;
            self.sampled_seconds += stopped;
            if self.sample_seconds.len() == KNOWN_SAMPLES {
                self.sample_seconds.pop_front();
            }
            self.sample_seconds.push_back(stopped / f64::from(sampled));
        }
    }

    /// Returns the rate of stack samples, at most `most` per second: the highest rate whose cost fits
    /// into the samples' part of the ceiling. While the samples so far and the next one do not fit into
    /// that part and [`REST_PART`] of what probes and other instruments leave, the rate is 0. The
    /// reservation is always that of the highest rate.
    pub fn sample_rate(&mut self, most: f64) -> f64 {
        let seconds = self.expected_sample_seconds();
        let room = self.ceiling * self.samples_part;
        self.hertz = if seconds * most > room {
            room / seconds
        } else {
            most
        };
        let with_next = self.sampled_seconds + seconds;
        let rest = self.ceiling - room - self.others();
        let room = room + REST_PART * rest.max(0.0);
        if self.sampled_seconds > 0.0 && with_next > room * self.elapsed_seconds {
            return 0.0;
        }
        self.hertz
    }

    /// Returns the fraction of the active time that everything but samples took or has reserved.
    fn others(&self) -> f64 {
        let spent = (self.spent_nanos - self.sampled_nanos).max(0.0) / self.active_nanos.max(1.0);
        spent.max(self.reserved_by_probes())
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
        let mut budget = Budget::new(0.02, 0.5);
        assert!(budget.reserve(ProbeId(1), 0.015));
        assert!(!budget.reserve(ProbeId(2), 0.006));
        budget.measured(ProbeId(1), 0.1);
        assert_eq!(budget.excess(), Some(ProbeId(1)));
        budget.window(1000, (0, 0), 100, 1000);
        budget.release(ProbeId(1));
        assert!(!budget.fits(0.001), "10 % was spent");
        budget.window(10_000, (0, 0), 0, 10_000);
        assert!(budget.fits(0.001));
    }

    #[test]
    fn the_rate_of_samples_follows_from_their_cost() {
        let mut budget = Budget::new(0.02, 0.5);
        assert_eq!(budget.sample_rate(20.0), 20.0);
        assert!(budget.reserve(ProbeId(1), 0.01));
        // A sample stops two threads for 10 ms: once a second is 1 %.
        let dear = (20_000_000, 1);
        (0..20).for_each(|_| budget.window(100_000_000, dear, 20_000_000, 200_000_000));
        assert_eq!(budget.sample_rate(20.0), 0.0, "20 samples in 2 seconds");
        assert!((0.0199..0.0201).contains(&budget.reserved()));
        // The 21st sample fits after 21 seconds, or after 14 seconds if no probe has the rest.
        (0..119).for_each(|_| budget.window(100_000_000, (0, 0), 0, 0));
        budget.release(ProbeId(1));
        assert_eq!(budget.sample_rate(20.0), 0.0, "20 samples in 13.9 seconds");
        (0..2).for_each(|_| budget.window(100_000_000, (0, 0), 0, 0));
        assert!(budget.sample_rate(20.0) > 0.0);
        budget.reserved.insert(ProbeId(1), 0.01);
        (0..59).for_each(|_| budget.window(100_000_000, (0, 0), 0, 0));
        assert_eq!(budget.sample_rate(20.0), 0.0, "20 samples in 20 seconds");
        (0..11).for_each(|_| budget.window(100_000_000, (0, 0), 0, 0));
        let rate = budget.sample_rate(20.0);
        assert!((0.99..1.01).contains(&rate), "{rate}");
        (0..60).for_each(|_| budget.window(100_000_000, (2_000, 1), 0, 200_000_000));
        assert_eq!(budget.sample_rate(20.0), 20.0);
    }

    #[test]
    fn one_expensive_sample_is_paid_back_and_does_not_slow_down_the_others() {
        let mut budget = Budget::new(0.02, 0.5);
        let cheap = |budget: &mut Budget| {
            budget.window(100_000_000, (1_000_000, 1), 1_000_000, 200_000_000);
        };
        (0..3).for_each(|_| cheap(&mut budget));
        // 31 ms: with the 2 ms of the others and of the next one, 2.2 seconds are necessary.
        budget.window(100_000_000, (62_000_000, 1), 62_000_000, 200_000_000);
        let mut silent = 0;
        while budget.sample_rate(20.0) == 0.0 {
            budget.window(100_000_000, (0, 0), 0, 200_000_000);
            silent += 1;
        }
        assert_eq!(silent, 18, "windows after the first four");
        assert_eq!(budget.sample_rate(20.0), 20.0);
        cheap(&mut budget);
        assert!(budget.spent() <= 0.02, "{}", budget.spent());
        assert_eq!(budget.expected_sample_seconds(), 0.0005);
    }
}
