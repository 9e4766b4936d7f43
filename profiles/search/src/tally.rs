//! Stack samples, counted for each hypothesis that they support.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::cause::Cause;
use crate::hypothesis::Hypothesis;
use crate::observation::StackSample;
use crate::place::{GroupId, MethodId, Place};

/// The most different stacks that are kept. Samples of later stacks are not kept.
const MAX_STACKS: usize = 20_000;
/// The weight below which an old count is dropped.
const MIN_WEIGHT: f64 = 0.02;

/// Counts of the samples of one window, and of all windows.
#[derive(Clone, Debug, Default)]
pub struct SampleTally {
    /// The samples of the current window.
    hits: HashMap<Hypothesis, u32>,
    active: u32,
    idle: u32,
    /// The samples of all windows, each window with a weight that halves in half an epoch of windows
    /// with samples.
    recent: BTreeMap<Hypothesis, f64>,
    recent_active: f64,
    /// The different stacks without repeated methods, the outermost method first.
    stacks: BTreeMap<Vec<MethodId>, u64>,
    all_active: u64,
    groups: BTreeMap<Hypothesis, BTreeMap<GroupId, u64>>,
    loops: BTreeMap<Place, Place>,
}

impl SampleTally {
    /// Counts one sample of the current window. Returns the methods of the stack, each once, the
    /// outermost first. An idle or empty stack has none.
    pub fn add(&mut self, sample: &StackSample) -> Vec<MethodId> {
        let Some(leaf) = sample.frames.last().filter(|_| !sample.idle) else {
            self.idle = self.idle.saturating_add(1);
            return Vec::new();
        };
        self.active = self.active.saturating_add(1);
        self.all_active = self.all_active.saturating_add(1);
        let mut seen = BTreeSet::new();
        let methods: Vec<MethodId> = sample
            .frames
            .iter()
            .map(|frame| frame.method)
            .filter(|method| seen.insert(*method))
            .collect();
        for method in &methods {
            self.hit(Hypothesis::method(*method), sample.group);
        }
        let method = leaf.method;
        let own_loop = leaf.loop_line.map(|line| Place::Loop { method, line });
        let own_block = leaf.line.map(|line| Place::Block { method, line });
        if let (Some(block), Some(around)) = (own_block, own_loop) {
            self.loops.insert(block, around);
        }
        let places = [Some(Place::Method(method)), own_loop, own_block];
        for place in places.into_iter().flatten() {
            for cause in std::iter::successors(Some(sample.cause), |cause| cause.parent()) {
                let hypothesis = Hypothesis {
                    place,
                    cause,
                    group: None,
                };
                if !hypothesis.is_node() {
                    self.hit(hypothesis, sample.group);
                }
            }
        }
        if self.stacks.len() < MAX_STACKS || self.stacks.contains_key(&methods) {
            *self.stacks.entry(methods.clone()).or_default() += 1;
        }
        methods
    }

    fn hit(&mut self, hypothesis: Hypothesis, group: GroupId) {
        *self.hits.entry(hypothesis).or_default() += 1;
        let of_group = self.groups.entry(hypothesis).or_default();
        *of_group.entry(group).or_default() += 1;
        // A method that several groups run is also examined for each group.
        if hypothesis.is_node() && of_group.len() > 1 {
            let group = Some(group);
            let key = Hypothesis {
                group,
                ..hypothesis
            };
            *self.hits.entry(key).or_default() += 1;
        }
    }

    /// Returns the share of a hypothesis in the samples of the current window, if there are any
    /// active ones.
    pub fn share(&self, hypothesis: &Hypothesis) -> Option<f64> {
        let hits = self.hits.get(hypothesis).copied().unwrap_or(0);
        (self.active > 0).then(|| f64::from(hits) / f64::from(self.active))
    }

    /// Ends the window. Earlier windows with samples keep the fraction `decay` of their weight. A window
    /// without an active sample changes nothing: if samples are rare, they are the recent ones for
    /// longer.
    pub fn end_window(&mut self, decay: f64) {
        if self.active == 0 {
            self.idle = 0;
            return;
        }
        self.recent_active = self.recent_active * decay + f64::from(self.active);
        self.recent.values_mut().for_each(|weight| *weight *= decay);
        for (hypothesis, hits) in self.hits.drain() {
            *self.recent.entry(hypothesis).or_default() += f64::from(hits);
        }
        self.recent.retain(|_, weight| *weight >= MIN_WEIGHT);
        (self.active, self.idle) = (0, 0);
    }

    /// Returns the hypotheses whose recent share is at least `share`, with at least 3 samples.
    pub fn frequent(&self, share: f64) -> Vec<Hypothesis> {
        let least = (share * self.recent_active).max(2.5);
        let all = self.recent.iter().filter(|(_, weight)| **weight >= least);
        all.map(|(hypothesis, _)| *hypothesis).collect()
    }

    /// Returns the recent share of a hypothesis in the samples.
    pub fn recent_share(&self, hypothesis: &Hypothesis) -> f64 {
        let weight = self.recent.get(hypothesis).copied().unwrap_or(0.0);
        if self.recent_active > 0.0 {
            weight / self.recent_active
        } else {
            0.0
        }
    }

    /// Returns the number of active samples of all windows.
    pub fn all_active(&self) -> u64 {
        self.all_active
    }

    /// Returns the loop around a block, if a sample showed one.
    pub fn loop_around(&self, block: Place) -> Option<Place> {
        self.loops.get(&block).copied()
    }

    /// Returns the number of samples of each thread group that support a hypothesis.
    pub fn groups(&self, hypothesis: &Hypothesis) -> Vec<(GroupId, u64)> {
        let all = self.groups.get(hypothesis).into_iter().flatten();
        all.map(|(group, samples)| (*group, *samples)).collect()
    }

    /// Returns, for each method, the samples in which it is the innermost method that `holds`
    /// accepts.
    pub fn innermost(&self, holds: impl Fn(MethodId) -> bool) -> BTreeMap<MethodId, u64> {
        let mut all = BTreeMap::new();
        for (stack, samples) in &self.stacks {
            if let Some(method) = stack.iter().rev().find(|method| holds(**method)) {
                *all.entry(*method).or_default() += samples;
            }
        }
        all
    }

    /// Returns whether a method only starts the work of threads: it is the outermost method of each stack
    /// that contains it, and never the innermost one.
    pub fn only_starts_work(&self, method: MethodId) -> bool {
        let mut with_it = self.stacks.keys().filter(|stack| stack.contains(&method));
        let starts =
            |stack: &Vec<MethodId>| stack.first() == Some(&method) && stack.last() != Some(&method);
        with_it.next().is_some_and(starts) && with_it.all(starts)
    }

    /// Returns the number of samples that support a cause of a place or any cause below it.
    pub fn samples_of(&self, place: Place, cause: Cause) -> u64 {
        let hypothesis = Hypothesis {
            place,
            cause,
            group: None,
        };
        self.groups(&hypothesis).iter().map(|(_, n)| n).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::Frame;

    #[test]
    fn a_method_starts_work_if_it_is_always_outermost_and_never_innermost() {
        let sample = |methods: &[u32]| StackSample {
            group: GroupId(0),
            frames: methods
                .iter()
                .map(|method| Frame {
                    method: MethodId(*method),
                    line: None,
                    loop_line: None,
                })
                .collect(),
            cause: Cause::Processor,
            idle: false,
        };
        let mut tally = SampleTally::default();
        tally.add(&sample(&[1, 2]));
        tally.add(&sample(&[1, 3]));
        assert!(tally.only_starts_work(MethodId(1)));
        assert!(!tally.only_starts_work(MethodId(2)), "it is called");
        assert!(!tally.only_starts_work(MethodId(9)), "it has no sample");
        tally.add(&sample(&[1]));
        assert!(!tally.only_starts_work(MethodId(1)), "it has own time");
    }
}
