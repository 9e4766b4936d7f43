//! The search: a state machine that takes observations and gives out requests.
//!
//! The state is that of Fig. 1 of Brear et al., *Search strategies for Java bottleneck location by
//! dynamic instrumentation* (IEE Proc. Software, 2003):
//!
//! | in the paper | here |
//! | --- | --- |
//! | bottleneck set, focus | candidates that hold; the callees of their methods are examined |
//! | frontier | candidates with a probe, or in the queue for one |
//! | profile database | all candidates with their tests, and the samples |
//! | `isBottleneck`: yes, no, maybe | [`Verdict`], by a sequential test |
//!
//! Each window ends with the same steps: the costs are noted, each candidate gets its evidence,
//! decisions open or close candidates, probes that exceed the ceiling are detached, and the queue
//! fills the room that is left.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::budget::Budget;
use crate::call_graph::CallGraph;
use crate::call_lines::CallLines;
use crate::candidate::{Candidate, Measurement, error_rates};
use crate::cause::Cause;
use crate::facts::Facts;
use crate::hypothesis::Hypothesis;
use crate::observation::{Observation, StackSample};
use crate::place::{GroupId, MethodId, MethodName, Place};
use crate::request::{Measure, ProbeId, Request};
use crate::settings::{Settings, SettingsError};
use crate::share::Share;
use crate::share_test::{ShareTest, Verdict};
use crate::tally::SampleTally;

/// The most candidates. Later hypotheses are not examined, and are counted.
const MAX_CANDIDATES: usize = 4096;
/// The most windows that one reading can span.
const MAX_READING_WINDOWS: usize = 4096;
/// A timer is better evidence than samples if its bounds differ by at most this share.
const MAX_TIMER_WIDTH: f64 = 0.2;
/// The windows without a sample after which causes are measured by probes.
const WINDOWS_WITHOUT_SAMPLES: u64 = 20;
/// The part of the threshold that a place needs in the samples before it is examined.
const DETAIL_PART: f64 = 0.5;

/// A result of a probe in the current window.
#[derive(Clone, Copy, Debug)]
struct Reading {
    windows: u32,
    low: u64,
    high: u64,
    calls: u64,
    cost: u64,
}

/// The costs of the current window, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct WindowCost {
    samples: u64,
    /// The number of samples of all stacks.
    sampled: u32,
    overhead: u64,
}

/// A bottleneck search.
#[derive(Clone, Debug)]
pub struct Search {
    pub(crate) settings: Settings,
    pub(crate) methods: BTreeMap<MethodId, MethodName>,
    pub(crate) groups: BTreeMap<GroupId, String>,
    pub(crate) graph: CallGraph,
    pub(crate) roots: BTreeSet<MethodId>,
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) index: BTreeMap<Hypothesis, usize>,
    pub(crate) tally: SampleTally,
    pub(crate) facts: Facts,
    call_lines: CallLines,
    pub(crate) budget: Budget,
    pub(crate) seconds: f64,
    pub(crate) active_seconds: f64,
    pub(crate) ended: Option<String>,
    pub(crate) sampling_refused: Option<String>,
    /// Hypotheses that were not opened because there were too many.
    pub(crate) dropped: u64,
    probes: BTreeMap<ProbeId, usize>,
    next_probe: u32,
    tests: u64,
    window: u64,
    last_sampled: u64,
    /// The rate of stack samples that was asked for last. `None` if no samples are to be taken.
    hertz: Option<f64>,
    readings: BTreeMap<ProbeId, Reading>,
    cost: WindowCost,
    recent_active: VecDeque<u64>,
    /// Methods whose callees were asked for.
    asked: BTreeSet<MethodId>,
    requests: Vec<Request>,
}

impl Search {
    /// Returns a search that asks for the roots and for stack samples.
    pub fn new(settings: Settings) -> Result<Search, SettingsError> {
        settings.check()?;
        let hertz = settings.max_hertz;
        let mut requests = vec![Request::Roots];
        if hertz > 0.0 {
            requests.push(Request::Sample { hertz });
        }
        Ok(Search {
            budget: Budget::new(settings.max_cost, settings.samples_part),
            settings,
            methods: BTreeMap::new(),
            groups: BTreeMap::new(),
            graph: CallGraph::default(),
            roots: BTreeSet::new(),
            candidates: Vec::new(),
            index: BTreeMap::new(),
            tally: SampleTally::default(),
            facts: Facts::default(),
            call_lines: CallLines::default(),
            seconds: 0.0,
            active_seconds: 0.0,
            ended: None,
            sampling_refused: None,
            dropped: 0,
            probes: BTreeMap::new(),
            next_probe: 0,
            tests: 0,
            window: 0,
            last_sampled: 0,
            hertz: (hertz > 0.0).then_some(hertz),
            readings: BTreeMap::new(),
            cost: WindowCost::default(),
            recent_active: VecDeque::new(),
            asked: BTreeSet::new(),
            requests,
        })
    }

    /// Returns the settings of the search.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Takes one observation. After the end of the program, measurements are ignored.
    pub fn observe(&mut self, observation: Observation) {
        match observation {
            Observation::Fact(fact) => self.facts.add(fact),
            Observation::NotSeen { cause, reason } => self.facts.add_not_seen(cause, reason),
            _ if self.ended.is_some() => {}
            Observation::Method { id, name } => {
                self.methods.insert(id, name);
            }
            Observation::Group { id, name } => {
                self.groups.insert(id, name);
            }
            Observation::Roots { methods } => methods.into_iter().for_each(|m| self.add_root(m)),
            Observation::Callees {
                of,
                callees,
                complete,
            } => self.add_callees(of, &callees, complete),
            Observation::Refused { probe, reason } => self.refuse(probe, reason),
            Observation::SamplingRefused { reason } => {
                self.sampling_refused = Some(reason);
                self.hertz = None;
            }
            Observation::Stacks {
                samples,
                cost_nanos,
            } => {
                self.cost.samples = self.cost.samples.saturating_add(cost_nanos);
                self.cost.sampled = self.cost.sampled.saturating_add(1);
                samples.iter().for_each(|sample| self.add_sample(sample));
            }
            Observation::Reading {
                probe,
                windows,
                low_nanos,
                high_nanos,
                calls,
                cost_nanos,
            } => {
                if self.probes.contains_key(&probe) {
                    let reading = Reading {
                        windows,
                        low: low_nanos,
                        high: high_nanos,
                        calls,
                        cost: cost_nanos,
                    };
                    self.readings.insert(probe, reading);
                }
            }
            Observation::Overhead { nanos } => {
                self.cost.overhead = self.cost.overhead.saturating_add(nanos);
            }
            Observation::WindowEnd {
                nanos,
                active_nanos,
            } => self.end_window(nanos, active_nanos),
            Observation::Ended { reason } => {
                self.ended = Some(reason);
                self.requests.clear();
            }
        }
    }

    /// Returns the requests since the last call, and forgets them.
    pub fn requests(&mut self) -> Vec<Request> {
        std::mem::take(&mut self.requests)
    }

    /// Asks for the removal of all probes and the end of sampling. A driver calls it before it
    /// leaves a running program.
    pub fn stop(&mut self) {
        let attached: Vec<ProbeId> = self.probes.keys().copied().collect();
        for probe in attached {
            self.detach(probe);
        }
        if self.hertz.take().is_some() {
            self.requests.push(Request::Sample { hertz: 0.0 });
        }
    }

    /// Returns the fraction of the active time that the attached instruments take by measurement,
    /// or by assumption until they are measured.
    pub fn reserved_cost(&self) -> f64 {
        self.budget.reserved()
    }

    /// Returns the fraction of the active time that all instruments have taken.
    pub fn spent_cost(&self) -> f64 {
        self.budget.spent()
    }

    /// Returns the probes that are attached.
    pub fn attached(&self) -> impl Iterator<Item = ProbeId> {
        self.probes.keys().copied()
    }

    /// Returns the names of the methods that samples saw calling a method.
    pub fn callers(&self, method: MethodId) -> Vec<&MethodName> {
        let callers = self
            .graph
            .callers(method)
            .filter(|caller| *caller != method);
        callers
            .filter_map(|caller| self.methods.get(&caller))
            .collect()
    }

    /// Returns the names of the other methods that the callers of a method were seen calling.
    pub fn siblings(&self, method: MethodId) -> Vec<&MethodName> {
        let callers: BTreeSet<MethodId> = self.graph.callers(method).collect();
        let callees = callers
            .iter()
            .flat_map(|caller| self.graph.callees(*caller));
        let others = callees.map(|(callee, _)| callee);
        let others: BTreeSet<MethodId> = others
            .filter(|callee| *callee != method && !callers.contains(callee))
            .collect();
        others
            .iter()
            .filter_map(|other| self.methods.get(other))
            .collect()
    }

    /// Returns whether the search still takes measurements: the program has not ended.
    pub fn is_running(&self) -> bool {
        self.ended.is_none()
    }

    /// Returns whether each candidate was decided at least once, after one epoch.
    pub fn is_settled(&self) -> bool {
        self.window >= u64::from(self.settings.epoch_windows)
            && self.candidates.iter().all(Candidate::was_decided)
    }

    fn add_root(&mut self, method: MethodId) {
        if self.roots.insert(method) && self.settings.strategy.goes_down() {
            self.open(Hypothesis::method(method));
        }
    }

    fn add_callees(&mut self, of: MethodId, callees: &[MethodId], complete: bool) {
        for callee in callees {
            self.graph.add(of, *callee, 0);
        }
        if self.holds(&Hypothesis::method(of)) {
            self.open_callees(of);
            if !complete {
                self.requests.push(Request::Receivers { of });
            }
        }
    }

    fn add_sample(&mut self, sample: &StackSample) {
        let sample = self.call_lines.correct(sample);
        let methods = self.tally.add(&sample);
        if methods.is_empty() {
            return;
        }
        self.last_sampled = self.window;
        let mut edges = BTreeSet::new();
        for pair in sample.frames.windows(2) {
            if edges.insert((pair[0].method, pair[1].method)) {
                self.graph.add(pair[0].method, pair[1].method, 1);
            }
        }
        if let Some(root) = methods.first() {
            self.add_root(*root);
        }
    }

    fn refuse(&mut self, probe: ProbeId, reason: String) {
        if let Some(i) = self.probes.remove(&probe) {
            self.budget.release(probe);
            self.readings.remove(&probe);
            self.candidates[i].measurement = Measurement::Impossible { reason };
        }
    }

    fn end_window(&mut self, nanos: u64, active_nanos: u64) {
        self.window += 1;
        self.seconds += nanos as f64 / 1e9;
        self.active_seconds += active_nanos as f64 / 1e9;
        self.recent_active.push_front(active_nanos);
        self.recent_active.truncate(MAX_READING_WINDOWS);
        self.note_costs(nanos, active_nanos);
        self.feed();
        self.read_counters(active_nanos);
        let decay = 0.5f64.powf(2.0 / f64::from(self.settings.epoch_windows));
        self.tally.end_window(decay);
        self.decide();
        self.open_details();
        self.open_deep_starters();
        self.end_epoch();
        self.readings.clear();
        self.cost = WindowCost::default();
        self.adapt_sampling();
        self.detach_excess();
        self.fill();
    }

    fn note_costs(&mut self, nanos: u64, active_nanos: u64) {
        let probes = self.readings.values().map(|r| r.cost);
        let probes = probes.fold(0u64, u64::saturating_add);
        let all = probes
            .saturating_add(self.cost.samples)
            .saturating_add(self.cost.overhead);
        let samples = (self.cost.samples, self.cost.sampled);
        self.budget.window(nanos, samples, all, active_nanos);
        for (probe, reading) in &self.readings {
            let active = self.active_of_last(reading.windows);
            if active > 0 {
                self.budget
                    .measured(*probe, reading.cost as f64 / active as f64);
            }
        }
    }

    /// Returns the active time of the last windows, in nanoseconds.
    fn active_of_last(&self, windows: u32) -> u64 {
        let last = self.recent_active.iter().take(windows.max(1) as usize);
        last.fold(0u64, |sum, active| sum.saturating_add(*active))
    }

    /// Gives each candidate the evidence of the window.
    fn feed(&mut self) {
        let epoch = (self.window - 1) / u64::from(self.settings.epoch_windows);
        for i in 0..self.candidates.len() {
            let Some((share, windows, is_timer)) = self.evidence(i) else {
                continue;
            };
            let candidate = &mut self.candidates[i];
            candidate.add(share, windows, self.window, epoch as usize);
            if is_timer {
                candidate.sources.timer_windows += u64::from(windows);
            } else {
                candidate.sources.sample_windows += u64::from(windows);
            }
        }
    }

    /// Returns the share of a candidate in the last windows, their number, and whether a timer
    /// measured it.
    fn evidence(&self, i: usize) -> Option<(Share, u32, bool)> {
        let candidate = &self.candidates[i];
        let timer = match candidate.measurement {
            Measurement::Timer { probe, since } => self.readings.get(&probe).and_then(|reading| {
                let attached = u32::try_from(self.window - since).unwrap_or(u32::MAX);
                let windows = reading.windows.min(attached).max(1);
                let active = self.active_of_last(windows) as f64;
                let share =
                    Share::between(reading.low as f64 / active, reading.high as f64 / active);
                (active > 0.0).then_some((share, windows, true))
            }),
            _ => None,
        };
        if let Some((share, ..)) = timer
            && share.width() <= MAX_TIMER_WIDTH
        {
            return timer;
        }
        let samples = self.may_use_samples(candidate).then(|| {
            let share = self.tally.share(&candidate.hypothesis)?;
            Some((Share::exact(share), 1, false))
        });
        samples.flatten().or(timer)
    }

    /// Returns whether stack samples are evidence for a candidate. The strategy `top-down` times
    /// all methods that it can, as JBolt did.
    fn may_use_samples(&self, candidate: &Candidate) -> bool {
        self.settings.strategy.starts_deep()
            || !candidate.hypothesis.is_node()
            || matches!(candidate.measurement, Measurement::Impossible { .. })
    }

    /// Replaces counters that were read by a forecast of the cost of a timer.
    fn read_counters(&mut self, active_nanos: u64) {
        for i in 0..self.candidates.len() {
            let Some(probe) = self.candidates[i].probe() else {
                continue;
            };
            let Some(reading) = self.readings.get(&probe).copied() else {
                continue;
            };
            let candidate = &mut self.candidates[i];
            candidate.sources.calls = candidate.sources.calls.saturating_add(reading.calls);
            if let Measurement::Counter(_) = candidate.measurement
                && active_nanos > 0
            {
                let cost = reading.calls as f64 * self.settings.timer_nanos / active_nanos as f64;
                candidate.forecast = Some(cost);
                candidate.measurement = Measurement::None;
                if cost > self.settings.max_cost {
                    candidate.measurement = too_expensive(cost);
                }
                self.detach_probe(probe);
            }
        }
    }

    fn decide(&mut self) {
        for i in 0..self.candidates.len() {
            let Some(verdict) = self.candidates[i].decide(self.seconds, self.window) else {
                continue;
            };
            let hypothesis = self.candidates[i].hypothesis;
            match verdict {
                Verdict::No => {
                    if let Some(probe) = self.candidates[i].probe() {
                        self.detach(probe);
                    }
                }
                Verdict::Yes if hypothesis.is_node() => {
                    let method = hypothesis.place.method();
                    if self.settings.strategy.goes_down() {
                        if self.asked.insert(method) {
                            self.requests.push(Request::Callees { of: method });
                        }
                        self.open_callees(method);
                    }
                }
                Verdict::Yes | Verdict::Maybe => {}
            }
        }
    }

    /// Returns whether a hypothesis holds by its last decision.
    pub(crate) fn holds(&self, hypothesis: &Hypothesis) -> bool {
        self.index
            .get(hypothesis)
            .is_some_and(|i| self.candidates[*i].holds())
    }

    fn new_test(&mut self) -> ShareTest {
        self.tests += 1;
        let s = &self.settings;
        let rates = error_rates(self.tests, s.false_findings, s.missed, s.outside);
        ShareTest::new(s.threshold, rates, s.min_windows)
    }

    /// Opens a candidate if there is none for the hypothesis.
    fn open(&mut self, hypothesis: Hypothesis) {
        if self.index.contains_key(&hypothesis) {
            return;
        }
        if self.candidates.len() >= MAX_CANDIDATES {
            self.dropped += 1;
            return;
        }
        let test = self.new_test();
        let mut candidate = Candidate::new(hypothesis, test, self.seconds, self.window);
        candidate.depth = self.depth(hypothesis.place.method());
        self.index.insert(hypothesis, self.candidates.len());
        self.candidates.push(candidate);
    }

    /// Returns the depth of a method below a caller that is a candidate.
    fn depth(&self, method: MethodId) -> u32 {
        let depth = |caller| {
            let i = self.index.get(&Hypothesis::method(caller))?;
            Some(self.candidates[*i].depth.saturating_add(1))
        };
        self.graph
            .callers(method)
            .filter_map(depth)
            .min()
            .unwrap_or(0)
    }

    fn open_callees(&mut self, method: MethodId) {
        let callees: Vec<MethodId> = self.graph.callees(method).map(|(m, _)| m).collect();
        for callee in callees {
            self.open(Hypothesis::method(callee));
        }
    }

    /// Opens loops, blocks, causes and thread groups that samples show. Samples need no further
    /// instrument, so a frequent one is examined together with the hypothesis above it; it is
    /// reported only if that one holds.
    fn open_details(&mut self) {
        let threshold = self.settings.threshold;
        for hypothesis in self.tally.frequent(threshold * DETAIL_PART) {
            let Some(parent) = self.parent(hypothesis) else {
                continue;
            };
            let is_frequent = self.tally.recent_share(&hypothesis) >= threshold;
            let is_open = self.holds(&parent) || is_frequent && self.index.contains_key(&parent);
            if is_open && self.settings.examines(hypothesis.cause) {
                self.open(hypothesis);
            }
        }
        if self.window.saturating_sub(self.last_sampled) > WINDOWS_WITHOUT_SAMPLES {
            self.open_causes();
        }
    }

    /// Returns the hypothesis that must hold before a loop, block, cause or group is examined.
    pub(crate) fn parent(&self, hypothesis: Hypothesis) -> Option<Hypothesis> {
        if hypothesis.group.is_some() {
            let group = None;
            return Some(Hypothesis {
                group,
                ..hypothesis
            });
        }
        if let Some(cause) = hypothesis.cause.parent() {
            return Some(Hypothesis {
                cause,
                ..hypothesis
            });
        }
        let method = Place::Method(hypothesis.place.method());
        match hypothesis.place {
            Place::Method(_) => None,
            Place::Loop { .. } => Some(Hypothesis::time(method)),
            Place::Block { .. } => {
                let around = self.tally.loop_around(hypothesis.place);
                Some(Hypothesis::time(around.unwrap_or(method)))
            }
        }
    }

    /// Opens the causes of methods that hold, for probes. Only programs without samples need it.
    fn open_causes(&mut self) {
        let holding: Vec<Hypothesis> = self
            .candidates
            .iter()
            .filter(|c| c.holds() && c.hypothesis.group.is_none())
            .map(|c| c.hypothesis)
            .filter(|h| matches!(h.place, Place::Method(_)))
            .collect();
        for hypothesis in holding {
            for cause in hypothesis.cause.children() {
                if self.settings.examines(cause) {
                    self.open(Hypothesis {
                        cause,
                        ..hypothesis
                    });
                }
            }
        }
    }

    /// Opens methods that samples name, and the methods between them and the focus.
    fn open_deep_starters(&mut self) {
        if !self.settings.strategy.starts_deep() {
            return;
        }
        for hypothesis in self.tally.frequent(self.settings.threshold) {
            if !hypothesis.is_node() || self.index.contains_key(&hypothesis) {
                continue;
            }
            let method = hypothesis.place.method();
            let in_focus = |m| self.holds(&Hypothesis::method(m));
            let chain = self.graph.chain(method, in_focus);
            // The outermost method is opened first, so that depths are known.
            for between in chain.into_iter().rev() {
                self.open(Hypothesis::method(between));
            }
            self.open(hypothesis);
        }
    }

    /// Begins new tests for all decided candidates at the end of an epoch. A place that was ruled
    /// out gets a timer again only if its samples are frequent, or if there are no samples.
    fn end_epoch(&mut self) {
        if !self
            .window
            .is_multiple_of(u64::from(self.settings.epoch_windows))
        {
            return;
        }
        for i in 0..self.candidates.len() {
            if self.candidates[i].is_decided() {
                let test = self.new_test();
                self.candidates[i].restart(test, self.seconds, self.window);
            }
        }
        self.open_new_callees();
    }

    /// Opens the callees that became known after their caller was found.
    fn open_new_callees(&mut self) {
        if !self.settings.strategy.goes_down() {
            return;
        }
        let nodes = self
            .candidates
            .iter()
            .filter(|c| c.holds() && c.hypothesis.is_node());
        let focus: Vec<MethodId> = nodes.map(|c| c.hypothesis.place.method()).collect();
        for method in focus {
            self.open_callees(method);
        }
    }

    fn detach(&mut self, probe: ProbeId) {
        if let Some(i) = self.detach_probe(probe) {
            self.candidates[i].measurement = Measurement::None;
        }
    }

    fn detach_probe(&mut self, probe: ProbeId) -> Option<usize> {
        let i = self.probes.remove(&probe)?;
        self.budget.release(probe);
        self.requests.push(Request::Detach { probe });
        Some(i)
    }

    fn detach_excess(&mut self) {
        while let Some(probe) = self.budget.excess() {
            let others = self.budget.reserved();
            let Some(i) = self.detach_probe(probe) else {
                self.budget.release(probe);
                continue;
            };
            let cost = others - self.budget.reserved();
            let candidate = &mut self.candidates[i];
            candidate.forecast = Some(cost);
            candidate.displaced += 1;
            candidate.measurement = if cost > self.settings.max_cost / 2.0 {
                too_expensive(cost)
            } else {
                Measurement::None
            };
        }
    }

    /// Attaches probes to candidates in the queue, as long as the budget has room.
    fn fill(&mut self) {
        let mut queue: Vec<(u32, u64, u32, usize)> = Vec::new();
        for (i, candidate) in self.candidates.iter().enumerate() {
            if self.wants_probe(candidate) {
                let share = self.tally.recent_share(&candidate.hypothesis);
                let share = u64::MAX - (share * 1e9) as u64;
                queue.push((candidate.displaced, share, u32::MAX - candidate.depth, i));
            }
        }
        queue.sort_unstable();
        for (.., i) in queue {
            let is_attached = self.attach(i) || self.make_room() && self.attach(i);
            if !is_attached {
                break;
            }
        }
    }

    fn wants_probe(&self, candidate: &Candidate) -> bool {
        let is_timed_place = matches!(candidate.hypothesis.place, Place::Method(_));
        let has_samples = self.window.saturating_sub(self.last_sampled) <= WINDOWS_WITHOUT_SAMPLES;
        let by_samples = candidate.hypothesis.cause != Cause::Time && has_samples
            || candidate.was_decided() && !candidate.holds() && self.is_rare(candidate);
        candidate.measurement == Measurement::None
            && candidate.hypothesis.group.is_none()
            && is_timed_place
            && !candidate.is_decided()
            && !by_samples
    }

    /// Returns whether recent samples show a place so seldom that no timer is needed.
    fn is_rare(&self, candidate: &Candidate) -> bool {
        let share = self.tally.recent_share(&candidate.hypothesis);
        self.settings.strategy.starts_deep()
            && self.tally.all_active() > 0
            && share < self.settings.threshold * DETAIL_PART
    }

    fn attach(&mut self, i: usize) -> bool {
        if self.probes.len() >= self.settings.max_probes {
            return false;
        }
        let candidate = &self.candidates[i];
        let is_counter = self.settings.count_first && candidate.forecast.is_none();
        let cost = candidate.forecast.unwrap_or(0.0);
        let probe = ProbeId(self.next_probe);
        if !self
            .budget
            .reserve(probe, cost.max(self.settings.assumed_cost))
        {
            return false;
        }
        self.next_probe = self.next_probe.wrapping_add(1);
        self.probes.insert(probe, i);
        let hypothesis = candidate.hypothesis;
        let since = self.window;
        let (measure, measurement) = if is_counter {
            (Measure::Entries, Measurement::Counter(probe))
        } else {
            (Measure::Time, Measurement::Timer { probe, since })
        };
        self.candidates[i].measurement = measurement;
        self.requests.push(Request::Attach {
            probe,
            place: hypothesis.place,
            cause: hypothesis.cause,
            measure,
        });
        true
    }

    /// Detaches the timer that is needed least: one of a place that holds, or else one that was
    /// measured for long and is far below the threshold. Returns whether there was one.
    fn make_room(&mut self) -> bool {
        let long = 2 * self.settings.min_windows;
        let least = self
            .candidates
            .iter()
            .filter_map(|candidate| {
                let Measurement::Timer { probe, since } = candidate.measurement else {
                    return None;
                };
                let share = candidate.mean().high;
                let is_low =
                    share < self.settings.threshold * DETAIL_PART || candidate.windows() == 0;
                let is_long = self.window - since >= u64::from(long);
                let holds = candidate.is_decided();
                (holds || is_long && is_low).then_some((holds, share, probe))
            })
            .min_by(|a, b| b.0.cmp(&a.0).then(a.1.total_cmp(&b.1)));
        let Some((_, _, probe)) = least else {
            return false;
        };
        if let Some(i) = self.probes.get(&probe) {
            self.candidates[*i].displaced += 1;
        }
        self.detach(probe);
        true
    }

    fn adapt_sampling(&mut self) {
        let Some(hertz) = self.hertz else {
            return;
        };
        let next = self.budget.sample_rate(self.settings.max_hertz);
        if next != hertz {
            self.hertz = Some(next);
            self.requests.push(Request::Sample { hertz: next });
        }
    }
}

fn too_expensive(cost: f64) -> Measurement {
    Measurement::Impossible {
        reason: format!("a timer would cost {:.1} % of the time", cost * 100.0),
    }
}
