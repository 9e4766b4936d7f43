//! Whether the calls of a method last longer in one trace than in another.
//!
//! The test is Welch's t-test on the logarithms of the durations, because durations are skewed. It
//! compares geometric means. With more than 30 calls the normal distribution replaces Student's
//! distribution, and with fewer calls no statement is made. The probabilities of all methods are
//! adjusted by Holm's method, so the chance of any false statement is at most the stated level.
//! Calls that influence each other make the probabilities too small.

use std::collections::BTreeMap;

use crate::error::TraceError;
use crate::format::word::kind;
use crate::query::method_text;
use crate::reader::{Names, Node, OpenNode, Trace, Visitor};

/// The fewest calls of a method in each trace for a statement.
const MIN_CALLS: u64 = 30;

/// The durations of a method's calls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MethodTimes {
    /// The number of calls.
    pub calls: u64,
    /// The sum of the durations in nanoseconds.
    pub wall_ns: u64,
    /// The mean of the durations' natural logarithms (Welford 1962).
    mean_log: f64,
    /// The sum of squared differences from that mean.
    squares: f64,
}

impl MethodTimes {
    /// Adds a call.
    pub fn add(&mut self, wall_ns: u64) {
        self.calls += 1;
        self.wall_ns = self.wall_ns.saturating_add(wall_ns);
        let log = (wall_ns.max(1) as f64).ln();
        let before = log - self.mean_log;
        self.mean_log += before / self.calls as f64;
        self.squares += before * (log - self.mean_log);
    }

    /// The variance of the mean.
    fn error(&self) -> f64 {
        self.squares / (self.calls as f64 - 1.0) / self.calls as f64
    }
}

/// A method in two traces.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodComparison {
    /// The method as `class::name`.
    pub method: String,
    /// Its calls in the first trace.
    pub a: MethodTimes,
    /// Its calls in the second trace.
    pub b: MethodTimes,
    /// The geometric mean in the second trace, divided by that in the first, and the bounds of the
    /// 95 % confidence interval. `None` with fewer than 30 calls in a trace.
    pub ratio: Option<(f64, f64, f64)>,
    /// The probability of such a difference without a cause, adjusted for all methods.
    pub probability: Option<f64>,
}

/// Compares the methods of two traces. The methods with the largest difference of their total time
/// are first.
pub fn compare_methods(a: &Trace, b: &Trace) -> Result<Vec<MethodComparison>, TraceError> {
    let (first, second) = (times(a)?, times(b)?);
    let mut names: Vec<&String> = first.keys().chain(second.keys()).collect();
    names.sort();
    names.dedup();
    let of = |all: &BTreeMap<String, MethodTimes>, name| all.get(name).copied().unwrap_or_default();
    let mut found: Vec<MethodComparison> = names
        .into_iter()
        .map(|name| compare(name, of(&first, name), of(&second, name)))
        .collect();
    adjust(&mut found);
    found.sort_by_key(|m| std::cmp::Reverse(m.a.wall_ns.abs_diff(m.b.wall_ns)));
    Ok(found)
}

fn compare(method: &str, a: MethodTimes, b: MethodTimes) -> MethodComparison {
    let is_enough = a.calls >= MIN_CALLS && b.calls >= MIN_CALLS;
    let difference = b.mean_log - a.mean_log;
    let error = (a.error() + b.error()).sqrt();
    let ratio = is_enough.then(|| {
        let bound = 1.96 * error;
        (
            difference.exp(),
            (difference - bound).exp(),
            (difference + bound).exp(),
        )
    });
    let probability = is_enough.then(|| match error > 0.0 {
        true => two_sided(difference / error),
        false if difference == 0.0 => 1.0,
        false => 0.0,
    });
    MethodComparison {
        method: method.into(),
        a,
        b,
        ratio,
        probability,
    }
}

/// Holm's adjustment (1979).
fn adjust(all: &mut [MethodComparison]) {
    let mut order: Vec<usize> = (0..all.len())
        .filter(|n| all[*n].probability.is_some())
        .collect();
    let probability = |m: &MethodComparison| m.probability.unwrap_or(1.0);
    order.sort_by(|x, y| probability(&all[*x]).total_cmp(&probability(&all[*y])));
    let count = order.len();
    let mut largest: f64 = 0.0;
    for (rank, n) in order.into_iter().enumerate() {
        let adjusted = probability(&all[n]) * (count - rank) as f64;
        largest = largest.max(adjusted.min(1.0));
        all[n].probability = Some(largest);
    }
}

/// The probability that a normal variable is at least this far from 0. The error is below 2e-7
/// (Abramowitz and Stegun 1964, 7.1.26).
fn two_sided(z: f64) -> f64 {
    let x = z.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let terms = [
        1.061_405_429,
        -1.453_152_027,
        1.421_413_741,
        -0.284_496_736,
        0.254_829_592,
    ];
    let polynomial = terms.iter().fold(0.0, |sum, term| (sum + term) * t);
    polynomial * (-x * x).exp()
}

struct Times<'n> {
    names: &'n Names,
    by_slot: BTreeMap<(u32, u64), MethodTimes>,
}

impl Visitor for Times<'_> {
    fn leave(&mut self, node: &Node, _: &[OpenNode]) {
        if node.kind == kind::ENTRY {
            let id = if node.slot != 0 { 0 } else { node.id };
            let wall = self.names.clock.nanoseconds(node.ticks());
            self.by_slot.entry((node.slot, id)).or_default().add(wall);
        }
    }
}

/// The times by method. Overloads of a name are told apart by their descriptors.
fn times(trace: &Trace) -> Result<BTreeMap<String, MethodTimes>, TraceError> {
    let mut visitor = Times {
        names: &trace.names,
        by_slot: BTreeMap::new(),
    };
    for thread in &trace.threads {
        let thread = trace.thread(thread.number)?;
        let read = thread.read(&trace.names, &mut visitor);
        read.map_err(|e| TraceError::io(&trace.directory, e))?;
    }
    let named = visitor.by_slot.into_iter().map(|((slot, id), times)| {
        let text = method_text(&trace.names, kind::ENTRY, slot, id);
        let descriptor = &trace.names.frame(slot).descriptor;
        (format!("{text}{descriptor}"), times)
    });
    Ok(named.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_those_of_the_table() {
        for (z, expected) in [
            (0.0, 1.0),
            (1.0, 0.317_311),
            (1.96, 0.049_996),
            (3.0, 0.002_700),
        ] {
            assert!(
                (two_sided(z) - expected).abs() < 1e-5,
                "{z}: {}",
                two_sided(z)
            );
        }
    }

    #[test]
    fn a_difference_is_found_and_noise_is_not() {
        let times = |factor: u64, seed: u64| {
            let mut times = MethodTimes::default();
            let mut state = seed;
            for _ in 0..1000 {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                times.add(factor * (1_000 + (state >> 54)));
            }
            times
        };
        let mut all = vec![
            compare("slower", times(100, 1), times(110, 2)),
            compare("same", times(100, 3), times(100, 4)),
            compare("rare", MethodTimes::default(), times(100, 5)),
        ];
        adjust(&mut all);
        let (ratio, low, high) = all[0].ratio.expect("a ratio");
        assert!(
            low < 1.1 && 1.1 < high && (1.07..1.13).contains(&ratio),
            "{ratio}"
        );
        assert!(all[0].probability.expect("a probability") < 1e-6);
        assert!(all[1].probability.expect("a probability") > 0.01);
        assert_eq!(all[2].probability, None);
    }
}
