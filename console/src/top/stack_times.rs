//! Shares of the time of active threads, from stack samples of the last seconds.
//!
//! A *sample* is the stack of one active thread in one thread dump. The *own share* of a method is
//! the share of samples in which the method is the innermost one of the application; JDK methods that
//! it calls count as its own time. The *total share* also contains the samples in which the method
//! has called another method of the application.

use std::collections::{HashMap, VecDeque};

/// The time, in seconds, over which shares and rates are averages.
pub const WINDOW_SECONDS: f64 = 5.0;

/// A method of the application on a stack.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SampledFrame {
    /// In Java form, with dots.
    pub class: String,
    /// The name without a descriptor: a thread dump has none.
    pub method: String,
    /// The source line at which the method is.
    pub line: Option<u32>,
}

/// The stacks of one thread dump.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StackDump {
    /// The methods of the application in each active thread, the innermost first. No stack is empty.
    pub stacks: Vec<Vec<SampledFrame>>,
}

/// The shares of a method, each from 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TimeShares {
    pub own: f64,
    pub total: f64,
}

/// The dumps of the last [`WINDOW_SECONDS`].
#[derive(Debug, Clone, Default)]
pub struct StackTimes {
    /// Each frame has a number: its index.
    frames: Vec<SampledFrame>,
    number_of: HashMap<SampledFrame, u32>,
    /// The time of each dump, and its stacks as numbers of frames.
    dumps: VecDeque<(f64, Vec<Vec<u32>>)>,
}

impl StackTimes {
    /// Adds a dump, and drops those that have become too old. `at` is in seconds.
    pub fn add(&mut self, at: f64, dump: StackDump) {
        let stacks = dump.stacks.into_iter();
        let numbered = stacks
            .map(|stack| stack.into_iter().map(|f| self.number(f)).collect())
            .collect();
        self.dumps.push_back((at, numbered));
        while self
            .dumps
            .front()
            .is_some_and(|(first, _)| at - first > WINDOW_SECONDS)
        {
            self.dumps.pop_front();
        }
    }

    fn number(&mut self, frame: SampledFrame) -> u32 {
        if let Some(number) = self.number_of.get(&frame) {
            return *number;
        }
        let number = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        self.frames.push(frame.clone());
        self.number_of.insert(frame, number);
        number
    }

    /// Returns whether there is a dump, so a share of 0 means that a method takes no time.
    pub fn is_known(&self) -> bool {
        !self.dumps.is_empty()
    }

    /// Returns the shares of each row of a table. `row_of` finds the row of a frame. Frames without
    /// a row count for the whole, so the own shares of all rows may have a sum below 1.
    pub fn shares(
        &self,
        row_of: impl Fn(&SampledFrame) -> Option<usize>,
    ) -> HashMap<usize, TimeShares> {
        let row_of: Vec<Option<usize>> = self.frames.iter().map(row_of).collect();
        let mut samples = 0_u64;
        let mut counts: HashMap<usize, RowSamples> = HashMap::new();
        for stack in self.dumps.iter().flat_map(|(_, stacks)| stacks) {
            samples += 1;
            for (depth, number) in stack.iter().enumerate() {
                let Some(Some(row)) = row_of.get(*number as usize) else {
                    continue;
                };
                let count = counts.entry(*row).or_default();
                count.own += u64::from(depth == 0);
                // A recursive method is on the stack several times, and counts once.
                count.total += u64::from(count.last_sample != samples);
                count.last_sample = samples;
            }
        }
        let share = |count: u64| count as f64 / samples as f64;
        let shares = counts.into_iter().map(|(row, count)| {
            let (own, total) = (share(count.own), share(count.total));
            (row, TimeShares { own, total })
        });
        shares.collect()
    }
}

/// The samples of a row.
#[derive(Default)]
struct RowSamples {
    own: u64,
    total: u64,
    /// The number of the last sample that was counted, from 1.
    last_sample: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(method: &str) -> SampledFrame {
        SampledFrame {
            class: "a.B".into(),
            method: method.into(),
            line: Some(7),
        }
    }

    fn dump(stacks: &[&str]) -> StackDump {
        let stack = |text: &&str| text.split(' ').map(frame).collect();
        StackDump {
            stacks: stacks.iter().map(stack).collect(),
        }
    }

    /// The shares of the methods `a`, `b` and `c` in percent.
    fn percent(times: &StackTimes) -> Vec<(usize, u32, u32)> {
        let row = |f: &SampledFrame| ["a", "b", "c"].iter().position(|name| *name == f.method);
        let percent = |share: f64| (share * 100.0).round() as u32;
        let shares = times.shares(row).into_iter();
        let mut rows: Vec<(usize, u32, u32)> = shares
            .map(|(row, s)| (row, percent(s.own), percent(s.total)))
            .collect();
        rows.sort_unstable();
        rows
    }

    #[test]
    fn the_innermost_method_has_the_own_share_and_a_recursion_counts_once() {
        let mut times = StackTimes::default();
        assert!(!times.is_known() && percent(&times).is_empty());
        times.add(1.0, dump(&["a a b", "x b"]));
        times.add(2.0, dump(&["a", "x c"]));
        assert!(times.is_known());
        assert_eq!(percent(&times), [(0, 50, 50), (1, 0, 50), (2, 0, 25)]);
    }

    #[test]
    fn old_dumps_are_dropped() {
        let mut times = StackTimes::default();
        times.add(1.0, dump(&["a"]));
        times.add(6.0, dump(&["b"]));
        assert_eq!(percent(&times), [(0, 50, 50), (1, 50, 50)]);
        times.add(6.5, dump(&["b"]));
        assert_eq!(percent(&times), [(1, 100, 100)]);
        // A dump without an active thread: nothing takes time.
        times.add(20.0, dump(&[]));
        assert!(times.is_known() && percent(&times).is_empty());
    }
}
