//! The cost of a probe form, measured on empty calls.
//!
//! ```text
//!            entry        exit         entry        exit       the time stamps of two empty calls
//!   ───────────┼────────────┼────────────┼────────────┼──▶
//!              └── inside ──┘── outside ─┘── inside ──┘
//! ```
//!
//! A recorder calls a method that does nothing, many times in a row. The time between the stamps of a
//! call is then cost only, and the time between two calls too. The calls are judged in groups of
//! [`GROUP`], because the JIT compiler replaces the code meanwhile, and because a single call can be
//! interrupted. The groups that are not much slower than the fastest one ran the compiled code.

use crate::format::names::ProbeRecord;
use crate::format::segment::{HEADER_BYTES, HeaderState, SegmentHeader};
use crate::format::word::{FIRST_ARGUMENT, delta_of, kind, kind_of};

/// The number of calls of a group.
const GROUP: usize = 256;
/// The fewest groups of compiled code from which a cost is derived.
const MIN_GROUPS: usize = 8;
/// A group ran the compiled code if it is at most this much slower than the fastest group.
const MAX_RATIO: f64 = 1.25;
/// The share of the calls at each end of a group, in the order of their times, that is left out.
const TRIMMED: usize = GROUP / 10;

/// The times of one empty call, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmptyCall {
    /// The time between its two stamps.
    pub inside: u64,
    /// The time since the end of the call before it.
    pub outside: u64,
}

/// The mean times of a group, in ticks.
#[derive(Clone, Copy, Debug)]
struct GroupCost {
    inside: f64,
    outside: f64,
}

impl GroupCost {
    fn from_calls(calls: &[EmptyCall]) -> GroupCost {
        GroupCost {
            inside: trimmed_mean(calls.iter().map(|call| call.inside)),
            outside: trimmed_mean(calls.iter().map(|call| call.outside)),
        }
    }

    fn sum(&self) -> f64 {
        self.inside + self.outside
    }
}

/// The calls in the bytes of an events file, in their order. A call is left out if another event is
/// inside it or before it, and if it is the first one of a segment.
pub fn empty_calls(file: &[u8]) -> Vec<EmptyCall> {
    let mut segments: Vec<(u64, &[u8])> = Vec::new();
    let mut rest = file;
    while let HeaderState::Valid(header) = SegmentHeader::parse(rest) {
        let size = (header.segment_bytes as usize).min(rest.len());
        let (segment, after) = rest.split_at(size);
        segments.push((header.sequence, &segment[HEADER_BYTES..]));
        rest = after;
    }
    // The segments of a ring can be in any order.
    segments.sort_by_key(|(sequence, _)| *sequence);
    let mut calls = Vec::new();
    for (_, events) in segments {
        add_calls(events, &mut calls);
    }
    calls
}

/// Adds the calls of a segment.
fn add_calls(events: &[u8], calls: &mut Vec<EmptyCall>) {
    let words = events.chunks_exact(8).map(|bytes| {
        let bytes = bytes.try_into().unwrap_or_default();
        u64::from_le_bytes(bytes)
    });
    // Whether the event before is the end of a call, and the delta of the entry after it.
    let (mut is_after_exit, mut outside) = (false, None);
    for word in words.take_while(|word| *word != 0) {
        match kind_of(word) {
            kind::ENTRY => outside = is_after_exit.then(|| delta_of(word)),
            kind::EXIT => {
                if let Some(outside) = outside.take() {
                    let inside = delta_of(word);
                    calls.push(EmptyCall { inside, outside });
                }
                is_after_exit = true;
                continue;
            }
            FIRST_ARGUMENT.. => continue,
            _ => outside = None,
        }
        is_after_exit = false;
    }
}

/// The record of a probe form by empty calls whose ticks are nanoseconds. `None` if there are too few
/// calls.
///
/// The costs are the medians of the groups that ran the compiled code. The spread is half of the
/// interval that contains 95 % of them.
pub fn probe_cost(id: u32, name: &str, calls: &[EmptyCall]) -> Option<ProbeRecord> {
    let groups: Vec<GroupCost> = calls
        .chunks_exact(GROUP)
        .map(GroupCost::from_calls)
        .collect();
    let fastest = groups.iter().map(GroupCost::sum).reduce(f64::min)?;
    let is_compiled = |group: &&GroupCost| group.sum() <= fastest * MAX_RATIO;
    let compiled: Vec<GroupCost> = groups.iter().filter(is_compiled).copied().collect();
    if compiled.len() < MIN_GROUPS {
        return None;
    }
    let sorted = |cost: fn(&GroupCost) -> f64| {
        let mut costs: Vec<f64> = compiled.iter().map(cost).collect();
        costs.sort_by(f64::total_cmp);
        costs
    };
    let picoseconds = |ns: f64| (ns * 1000.0).round() as u64;
    let sums = sorted(GroupCost::sum);
    Some(ProbeRecord {
        id,
        name: name.into(),
        inside_ps: picoseconds(at_share(&sorted(|group| group.inside), 0.5)),
        outside_ps: picoseconds(at_share(&sorted(|group| group.outside), 0.5)),
        spread_ps: picoseconds((at_share(&sums, 0.975) - at_share(&sums, 0.025)) / 2.0),
    })
}

/// The mean without the smallest and the largest values.
fn trimmed_mean(values: impl Iterator<Item = u64>) -> f64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    let kept = values
        .get(TRIMMED..values.len().saturating_sub(TRIMMED))
        .unwrap_or_default();
    kept.iter().map(|value| *value as f64).sum::<f64>() / kept.len().max(1) as f64
}

/// The value below which this share of the sorted values is.
fn at_share(sorted: &[f64], share: f64) -> f64 {
    let at = (sorted.len().saturating_sub(1)) as f64 * share;
    sorted.get(at.round() as usize).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::events_file;
    use crate::writer::{ArgumentValue, SegmentRing, ThreadWriter, WriterOptions};

    /// A repeatable number below a bound.
    fn noise(n: u64, bound: u64) -> u64 {
        (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % bound
    }

    /// Calls of 30 to 34 ticks, with 40 to 44 between them. Each 97th call is interrupted.
    fn compiled(count: u64) -> Vec<EmptyCall> {
        let call = |n| EmptyCall {
            inside: 30 + noise(n, 5) + u64::from(n % 97 == 0) * 100_000,
            outside: 40 + noise(n + 7, 5),
        };
        (0..count).map(call).collect()
    }

    #[test]
    fn the_cost_is_that_of_compiled_code_without_interruptions() {
        let slow = EmptyCall {
            inside: 300,
            outside: 500,
        };
        let mut calls = vec![slow; 20_000];
        calls.extend(compiled(5_000));
        let cost = probe_cost(3, "form", &calls).expect("enough calls");
        assert_eq!((cost.id, cost.name.as_str()), (3, "form"));
        let near = |found: u64, expected: u64| found.abs_diff(expected) < 1_000;
        assert!(near(cost.inside_ps, 32_000), "{cost:?}");
        assert!(near(cost.outside_ps, 42_000), "{cost:?}");
        assert!(cost.spread_ps < 1_000, "{cost:?}");
    }

    #[test]
    fn groups_that_differ_widen_the_spread() {
        let mut calls = Vec::new();
        for n in 0..40 {
            let inside = 100 + n / 4;
            calls.extend(vec![EmptyCall { inside, outside: 0 }; GROUP]);
        }
        let cost = probe_cost(1, "", &calls).expect("enough calls");
        assert_eq!(cost.spread_ps, 4_500, "half of 100 to 109 ns");
        assert_eq!(cost.inside_ps, 105_000);
    }

    #[test]
    fn few_calls_have_no_cost() {
        assert_eq!(probe_cost(1, "", &[]), None);
        assert_eq!(probe_cost(1, "", &compiled(GROUP as u64 * 7)), None);
        assert!(probe_cost(1, "", &compiled(GROUP as u64 * 8)).is_some());
    }

    #[test]
    fn calls_are_read_from_a_ring_of_segments() {
        let scratch = tempfile::tempdir().expect("a directory");
        let options = WriterOptions {
            segment_bytes: 512,
            ring: Some(SegmentRing {
                segments: 2,
                keep: u64::MAX,
            }),
        };
        let mut writer = ThreadWriter::create(scratch.path(), 1, options).expect("a file");
        let mut now = 1_000;
        // 100 calls need four segments, of which the last two are kept.
        for n in 0..100u64 {
            now += 40;
            writer.entry(now, 1);
            if n == 90 {
                let cpu = [ArgumentValue::Cpu(5)];
                writer.event_with(kind::SWITCH, now + 1, 0, &cpu);
            }
            now += 30;
            match n {
                // A reading at each event is an argument of the event.
                95 => writer.event_with(kind::EXIT, now, 0, &[ArgumentValue::Cpu(9)]),
                _ => writer.exit(now),
            }
        }
        let file = std::fs::read(scratch.path().join(events_file(1))).expect("a file");
        let calls = empty_calls(&file);
        let call = EmptyCall {
            inside: 30,
            outside: 40,
        };
        assert!(calls.iter().all(|one| *one == call), "{calls:?}");
        // A segment has 56 words, which are 28 calls. The last segment need not be full.
        assert!((30..56).contains(&calls.len()), "{}", calls.len());
        assert_eq!(empty_calls(&file[..100]).len(), 1);
        assert!(empty_calls(b"no events").is_empty());
    }
}
