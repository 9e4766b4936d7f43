//! The result of a search as data: schema 1.
//!
//! ```json
//! {"schema":1,"seconds":9.8,"threshold":0.05,"ended":null,
//!  "findings":[{"path":[{"axis":"where","name":"com.shop","line":null},…],"why":"monitor",
//!    "share":0.62,"low":0.55,"high":0.68,"specific":true,"threads":[{"name":"http-*","share":1.0}],
//!    "window":{"from":0.4,"to":9.8},"found":1.9,"evidence":[{"source":"samples","windows":160,"text":"…"}]}],
//!  "ruled_out":[…],"not_looked_at":[{"path":[…],"why":"time","reason":"…"}],
//!  "cost":{"ceiling":0.02,"share":0.011},"active":0.99}
//! ```
//!
//! Shares and costs are fractions of the active time. Times are seconds since the beginning.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::candidate::{Candidate, Measurement};
use crate::cause::Cause;
use crate::hypothesis::Hypothesis;
use crate::locality::LocalityCause;
use crate::place::{MethodId, Place};
use crate::search::Search;

/// The version of the schema.
pub const SCHEMA: u32 = 1;
/// The active part of the time below which a program counts as idle.
pub const IDLE_BELOW: f64 = 0.01;
/// The part of a finding's share that other findings need not explain.
const SMALL_REST: f64 = 0.1;
/// The most callers that evidence names.
const MAX_CALLERS: usize = 6;

/// An axis of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// The place in the program.
    Where,

    /// The cause of the time.
    Why,

    /// The period of the search.
    When,

    /// The group of threads.
    Who,
}

/// One step of a path, from general to special.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The axis of the step.
    pub axis: Axis,
    /// The kind of the step: `module`, `package`, `class`, `method`, `loop`, `block`, `cause`,
    /// `group` or `period`.
    pub kind: String,

    /// The name of the module, class, line, cause, group or period.
    pub name: String,
    /// The line in the source file.
    pub line: Option<u32>,
}

/// A fact that supports a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// `timer`, `samples`, `callers`, or the source of a fact of the driver, such as `holder`.
    pub source: String,
    /// The number of windows that the source covers.
    pub windows: u64,

    /// The fact in words.
    pub text: String,
}

/// The part of a thread group in the samples of a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Threads {
    /// The name of the module, class, line, cause, group or period.
    pub name: String,
    /// The fraction of the finding's samples.
    pub share: f64,
}

/// A period in seconds since the beginning of the search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// The beginning of the period, in seconds.
    pub from: f64,

    /// The end of the period, in seconds.
    pub to: f64,
}

/// A place that takes more than the threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The steps from general to special, on all axes.
    pub path: Vec<Step>,

    /// The most special cause of the hypothesis.
    pub why: Cause,
    /// The mean share while the finding held.
    pub share: f64,
    /// The confidence interval of the share.
    pub low: f64,

    /// The upper bound, from 0 to 1.
    pub high: f64,
    /// Whether no other finding explains this one. A method whose callees explain it is not
    /// specific.
    pub specific: bool,

    /// The thread groups in the samples, the most frequent first.
    pub threads: Vec<Threads>,

    /// The period in which the finding held.
    pub window: Window,

    /// When the search decided that it holds, in seconds since the beginning.
    #[serde(default)]
    pub found: f64,

    /// Why the memory accesses of the place are slow, if they were recorded and the causes are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locality: Vec<LocalityCause>,

    /// The facts that support the finding.
    pub evidence: Vec<Evidence>,
    /// The method in the numbers of the driver.
    pub method: MethodId,
}

/// A place that takes less than the threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuledOut {
    /// The steps from general to special, on all axes.
    pub path: Vec<Step>,

    /// The most special cause of the hypothesis.
    pub why: Cause,

    /// The mean share, as a fraction of the active time.
    pub share: f64,

    /// The lower bound, from 0 to 1.
    pub low: f64,

    /// The upper bound, from 0 to 1.
    pub high: f64,
    /// A remark, for instance that the place held for a short period.
    pub reason: Option<String>,
}

/// A hypothesis without a decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NotLookedAt {
    /// The steps from general to special, on all axes.
    pub path: Vec<Step>,

    /// The most special cause of the hypothesis.
    pub why: Cause,

    /// The reason, as users read it.
    pub reason: String,
}

/// The cost of the search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// The ceiling, as a fraction of the active time.
    pub ceiling: f64,
    /// The cost of all instruments, as a fraction of the active time.
    pub share: f64,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The version of the schema.
    pub schema: u32,
    /// The specific findings first, each group by the lower bound of the share.
    pub findings: Vec<Finding>,

    /// The places below the threshold, the largest share first.
    pub ruled_out: Vec<RuledOut>,

    /// The hypotheses without a decision.
    pub not_looked_at: Vec<NotLookedAt>,

    /// The cost of the search.
    pub cost: Cost,

    /// The length of the search in seconds.
    pub seconds: f64,
    /// The mean number of active threads.
    pub active: f64,

    /// The share above which a place is a bottleneck, as a fraction.
    pub threshold: f64,
    /// Why the search ended before its time, if it did.
    pub ended: Option<String>,
}

impl Outcome {
    /// Returns whether the program did almost nothing.
    pub fn is_idle(&self) -> bool {
        self.active < IDLE_BELOW
    }
}

impl Search {
    /// Returns all results until now. It may be called at any time.
    pub fn outcome(&self) -> Outcome {
        let held: Vec<&Candidate> = self
            .candidates
            .iter()
            .filter(|c| self.is_finding(c))
            .collect();
        let specific = self.specific(&held);
        let mut findings: Vec<(usize, Finding)> = Vec::new();
        for candidate in &held {
            let specific = specific.contains(&candidate.hypothesis);
            if specific || candidate.hypothesis.is_node() {
                let finding = self.finding(candidate, specific);
                findings.push((candidate.hypothesis.specificity(), finding));
            }
        }
        findings.sort_by(|(a_depth, a), (b_depth, b)| {
            b.specific
                .cmp(&a.specific)
                .then(b.low.total_cmp(&a.low))
                .then(b_depth.cmp(a_depth))
                .then(b.share.total_cmp(&a.share))
        });
        Outcome {
            schema: SCHEMA,
            findings: findings.into_iter().map(|(_, finding)| finding).collect(),
            ruled_out: self.ruled_out(),
            not_looked_at: self.not_looked_at(),
            cost: Cost {
                ceiling: self.settings.max_cost,
                share: self.budget.spent(),
            },
            seconds: self.seconds,
            active: if self.seconds > 0.0 {
                self.active_seconds / self.seconds
            } else {
                0.0
            },
            threshold: self.settings.threshold,
            ended: self.ended.clone(),
        }
    }

    /// Returns whether a candidate is reported: it holds, or it held for long enough to exceed the
    /// threshold over the whole search, and so do all hypotheses above it.
    pub(crate) fn is_finding(&self, candidate: &Candidate) -> bool {
        self.exceeds(candidate) && self.parents_exceed(candidate)
    }

    fn exceeds(&self, candidate: &Candidate) -> bool {
        let held = candidate.held(self.seconds).is_some();
        candidate.holds() || held && candidate.overall().low > self.settings.threshold
    }

    fn parents_exceed(&self, candidate: &Candidate) -> bool {
        let mut parents =
            std::iter::successors(self.parent(candidate.hypothesis), |h| self.parent(*h));
        parents.all(|parent| {
            let i = self.index.get(&parent);
            i.is_some_and(|i| self.exceeds(&self.candidates[*i]))
        })
    }

    /// Returns the findings that other findings do not explain.
    ///
    /// The time of a method is its own if no method that it calls is a finding. A callee, line or cause
    /// that is probably one, but undecided still, has its time for itself: the method would otherwise
    /// be reported with the time of all its callees beside the right finding. If then nothing is
    /// specific, only findings explain others. A method that only starts the work of threads is not
    /// reported for that reason: `Thread.run` with all the time is no answer.
    fn specific(&self, held: &[&Candidate]) -> BTreeSet<Hypothesis> {
        let is_held = |m: MethodId| held.iter().any(|c| c.hypothesis == Hypothesis::method(m));
        let is_probable = |m: MethodId| {
            let hypothesis = Hypothesis::method(m);
            let share = match self.index.get(&hypothesis).map(|i| &self.candidates[*i]) {
                Some(candidate) if candidate.was_decided() => return false,
                Some(candidate) => candidate.mean().low,
                // A method becomes a candidate after some samples.
                None => self.tally.recent_share(&hypothesis),
            };
            share > self.settings.threshold
        };
        let probable = self.candidates.iter().filter(|c| {
            !c.was_decided() && c.mean().low > self.settings.threshold && self.parents_exceed(c)
        });
        let probable: Vec<&Candidate> = probable.collect();
        let among = |probable: &[&Candidate], own: &BTreeMap<MethodId, u64>| {
            let specific = held.iter();
            let specific = specific.filter(|c| self.is_specific(c, held, probable, own));
            specific.map(|c| c.hypothesis).collect::<BTreeSet<_>>()
        };
        let own = self.tally.innermost(|m| is_held(m) || is_probable(m));
        let specific = among(&probable, &own);
        if specific.is_empty() {
            let mut general = among(&[], &self.tally.innermost(is_held));
            general.retain(|h| !self.tally.only_starts_work(h.place.method()));
            general
        } else {
            specific
        }
    }

    /// Returns whether the time of a candidate is not explained by other candidates. Undecided lines and
    /// causes count only if callees and findings explain most of the time: a finding is not given up for
    /// places that may be none.
    fn is_specific(
        &self,
        candidate: &Candidate,
        held: &[&Candidate],
        probable: &[&Candidate],
        own: &BTreeMap<MethodId, u64>,
    ) -> bool {
        let hypothesis = candidate.hypothesis;
        // The time of a method in one thread group has the callees of the method, too.
        let general = Hypothesis {
            group: None,
            ..hypothesis
        };
        let threshold = self.settings.threshold;
        let share = |c: &Candidate| c.figures().0.low;
        let mut unexplained = share(candidate);
        if general.is_node() {
            let method = hypothesis.place.method();
            let all = self.tally.samples_of(hypothesis.place, Cause::Time);
            unexplained = if all > 0 {
                unexplained * part_at_least(own.get(&method).copied().unwrap_or(0), all)
            } else {
                let callees = self.graph.callees(method).filter(|(m, _)| *m != method);
                let callees = callees.filter_map(|(m, _)| {
                    let of = Hypothesis::method(m);
                    held.iter().find(|c| c.hypothesis == of)
                });
                unexplained - callees.map(|c| share(c)).sum::<f64>()
            };
        }
        let explained = |probable: &[&Candidate]| {
            let along = |axis: Axis| -> f64 {
                held.iter()
                    .chain(probable)
                    .filter(|c| self.refines(c.hypothesis, hypothesis) == Some(axis))
                    .map(|c| share(c))
                    .sum()
            };
            along(Axis::Where).max(along(Axis::Why))
        };
        let mut best = explained(&[]);
        if 2.0 * (unexplained - best) < share(candidate) {
            best = explained(probable);
        }
        // Shares of a method and of its parts come from different windows, and a part near the
        // threshold may be undecided still, so a small rest does not make a finding.
        unexplained - best >= threshold.max(share(candidate) * SMALL_REST)
    }

    /// Returns the axis along which one hypothesis is a direct refinement of another one.
    fn refines(&self, special: Hypothesis, general: Hypothesis) -> Option<Axis> {
        if special == general || special.group != general.group {
            // Thread groups divide the same time, so they do not explain it.
            return None;
        }
        if special.place == general.place {
            return (special.cause.parent() == Some(general.cause)).then_some(Axis::Why);
        }
        let method = Place::Method(special.place.method());
        let around = match special.place {
            Place::Method(_) => return None,
            Place::Loop { .. } => method,
            Place::Block { .. } => {
                let around = self.tally.loop_around(special.place).unwrap_or(method);
                let is_candidate = self.holds(&Hypothesis {
                    place: around,
                    ..special
                });
                if is_candidate { around } else { method }
            }
        };
        (special.cause == general.cause && around == general.place).then_some(Axis::Where)
    }

    fn finding(&self, candidate: &Candidate, specific: bool) -> Finding {
        let hypothesis = candidate.hypothesis;
        let (share, (low, high)) = candidate.figures();
        let held = candidate.held(self.seconds);
        let window = held.map_or(Window { from: 0.0, to: 0.0 }, |p| Window {
            from: p.from,
            to: p.to,
        });
        let threads = self.threads(hypothesis);
        let mut path = self.path(hypothesis);
        let who = match hypothesis.group {
            None => threads.first().filter(|t| t.share >= 0.9),
            Some(_) => None,
        };
        path.extend(who.map(|t| step(Axis::Who, "group", &t.name, None)));
        let period = format!("{:.1} s to {:.1} s", window.from, window.to);
        path.push(step(Axis::When, "period", &period, None));
        Finding {
            path,
            why: hypothesis.cause,
            share: if share.low > 0.0 && share.width() < 0.1 {
                f64::midpoint(share.low, share.high)
            } else {
                share.low
            },
            low,
            high,
            specific,
            threads,
            window,
            found: candidate.found().unwrap_or(0.0),
            locality: self.locality_of(hypothesis, specific),
            evidence: self.evidence_of(candidate, specific),
            method: hypothesis.place.method(),
        }
    }

    /// The locality causes of a specific finding, each once.
    fn locality_of(&self, hypothesis: Hypothesis, specific: bool) -> Vec<LocalityCause> {
        let mut causes = Vec::new();
        let facts = self.facts.supporting(hypothesis).into_iter();
        for cause in facts.filter(|_| specific).filter_map(|fact| fact.locality) {
            if !causes.contains(&cause) {
                causes.push(cause);
            }
        }
        causes
    }

    fn threads(&self, hypothesis: Hypothesis) -> Vec<Threads> {
        let mut groups = self.tally.groups(&hypothesis);
        let all: u64 = groups.iter().map(|(_, n)| n).sum();
        groups.sort_by_key(|(group, n)| (std::cmp::Reverse(*n), *group));
        groups
            .into_iter()
            .map(|(group, n)| Threads {
                name: self.group_name(group),
                share: n as f64 / all.max(1) as f64,
            })
            .collect()
    }

    fn group_name(&self, group: crate::place::GroupId) -> String {
        let name = self.groups.get(&group).cloned();
        name.unwrap_or_else(|| group.to_string())
    }

    fn evidence_of(&self, candidate: &Candidate, specific: bool) -> Vec<Evidence> {
        let sources = candidate.sources;
        let hypothesis = candidate.hypothesis;
        let mut all = Vec::new();
        if sources.timer_windows > 0 {
            let text = format!("{} calls were timed", sources.calls);
            all.push(evidence("timer", sources.timer_windows, text));
        }
        if sources.sample_windows > 0 {
            let hits = self.tally.samples_of(hypothesis.place, hypothesis.cause);
            let text = format!("{hits} of {} stack samples", self.tally.all_active());
            all.push(evidence("samples", sources.sample_windows, text));
        }
        let callers = self.graph.chain(hypothesis.place.method(), |_| false);
        if !callers.is_empty() {
            let callers = callers.iter().take(MAX_CALLERS);
            let names: Vec<String> = callers.map(|m| self.method_name(*m)).collect();
            let text = format!("called by {}", names.join(", called by "));
            all.push(evidence("callers", 0, text));
        }
        if specific {
            let facts = self.facts.supporting(hypothesis);
            all.extend(facts.iter().map(|f| evidence(&f.source, 0, f.text.clone())));
        }
        all
    }

    /// Returns the class and the method, or the number of an undeclared method.
    pub(crate) fn method_name(&self, method: MethodId) -> String {
        let name = self.methods.get(&method);
        name.map_or_else(|| method.to_string(), |name| name.short())
    }

    /// Returns the source file of a method; its class if the file is unknown; the number of an
    /// undeclared method.
    pub(crate) fn file(&self, method: MethodId) -> String {
        let name = self.methods.get(&method);
        let file = name.map(|name| name.file.as_ref().unwrap_or(&name.class).clone());
        let file = file.filter(|file| !file.is_empty());
        file.unwrap_or_else(|| method.to_string())
    }

    fn path(&self, hypothesis: Hypothesis) -> Vec<Step> {
        let method = hypothesis.place.method();
        let mut path = Vec::new();
        let mut place = |kind: &str, name: &str, line| {
            if !name.is_empty() {
                path.push(step(Axis::Where, kind, name, line));
            }
        };
        match self.methods.get(&method) {
            Some(name) => {
                place("module", name.module.as_deref().unwrap_or(""), None);
                place("package", name.package(), None);
                place("class", &name.class, None);
                place("method", &name.method, None);
            }
            None => place("method", &method.to_string(), None),
        }
        let file = self.file(method);
        let around = self.tally.loop_around(hypothesis.place);
        for inner in [around, Some(hypothesis.place)].into_iter().flatten() {
            let line = inner.line();
            let name = format!("{file}:{}", line.unwrap_or(0));
            match inner {
                Place::Method(_) => {}
                Place::Loop { .. } => place("loop", &name, line),
                Place::Block { .. } => place("block", &name, line),
            }
        }
        let mut causes: Vec<Cause> =
            std::iter::successors(Some(hypothesis.cause), |c| c.parent()).collect();
        causes.reverse();
        path.extend(
            causes
                .iter()
                .map(|c| step(Axis::Why, "cause", c.name(), None)),
        );
        let group = hypothesis.group.map(|group| self.group_name(group));
        path.extend(group.map(|name| step(Axis::Who, "group", &name, None)));
        path
    }

    fn ruled_out(&self) -> Vec<RuledOut> {
        let out = self
            .candidates
            .iter()
            .filter(|c| self.parents_exceed(c) && c.was_decided() && !self.exceeds(c));
        let mut all: Vec<RuledOut> = out
            .map(|candidate| {
                let (share, (low, high)) = candidate.figures();
                let reason = candidate.held(self.seconds).map(|p| {
                    format!(
                        "above the threshold only from {:.1} s to {:.1} s",
                        p.from, p.to
                    )
                });
                RuledOut {
                    path: self.path(candidate.hypothesis),
                    why: candidate.hypothesis.cause,
                    share: share.low,
                    low,
                    high,
                    reason,
                }
            })
            .collect();
        all.sort_by(|a, b| b.share.total_cmp(&a.share));
        all
    }

    fn not_looked_at(&self) -> Vec<NotLookedAt> {
        let open = self
            .candidates
            .iter()
            .filter(|c| self.parents_exceed(c) && !c.was_decided());
        let mut all: Vec<NotLookedAt> = open
            .map(|candidate| {
                let (_, (low, high)) = candidate.figures();
                let windows = candidate.windows();
                let state = if windows > 0 {
                    format!(
                        "undecided after {windows} windows: between {:.1} % and {:.1} %",
                        low * 100.0,
                        high * 100.0
                    )
                } else {
                    "not measured yet".to_string()
                };
                let reason = match &candidate.measurement {
                    Measurement::Impossible { reason } => format!("{state}; {reason}"),
                    Measurement::None => format!("{state}; waits for room under the cost ceiling"),
                    Measurement::Counter(_) | Measurement::Timer { .. } => state,
                };
                NotLookedAt {
                    path: self.path(candidate.hypothesis),
                    why: candidate.hypothesis.cause,
                    reason,
                }
            })
            .collect();
        if let Some(reason) = &self.sampling_refused {
            all.push(remark(format!("no stack samples: {reason}")));
        }
        if self.dropped > 0 {
            all.push(remark(format!(
                "{} further hypotheses, because a search keeps 4096",
                self.dropped
            )));
        }
        let not_seen = self.facts.not_seen().iter();
        all.extend(not_seen.map(|(cause, reason)| NotLookedAt {
            why: *cause,
            ..remark(reason.clone())
        }));
        all
    }
}

/// Returns a lower bound of the part that `own` of `all` samples represent: the Wilson score interval
/// of two standard deviations. A few samples are no evidence of a part.
fn part_at_least(own: u64, all: u64) -> f64 {
    const SQUARE: f64 = 4.0;
    let all = all.max(1) as f64;
    let part = (own as f64 / all).min(1.0);
    let centre = part + SQUARE / (2.0 * all);
    let margin = (SQUARE * (part * (1.0 - part) / all + SQUARE / (4.0 * all * all))).sqrt();
    ((centre - margin) / (1.0 + SQUARE / all)).max(0.0)
}

fn remark(reason: String) -> NotLookedAt {
    NotLookedAt {
        path: Vec::new(),
        why: Cause::Time,
        reason,
    }
}

fn evidence(source: &str, windows: u64, text: String) -> Evidence {
    Evidence {
        source: source.to_string(),
        windows,
        text,
    }
}

fn step(axis: Axis, kind: &str, name: &str, line: Option<u32>) -> Step {
    Step {
        axis,
        kind: kind.to_string(),
        name: name.to_string(),
        line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_of_few_samples_is_uncertain() {
        assert_eq!(part_at_least(0, 0), 0.0);
        assert!(part_at_least(0, 50).abs() < 1e-12);
        assert!(part_at_least(2, 20) < 0.03);
        assert!((0.08..0.1).contains(&part_at_least(1_000, 10_000)));
        assert!(part_at_least(20, 20) > 0.8);
        assert!(part_at_least(30, 20) <= 1.0);
    }
}
