//! A candidate: one hypothesis with everything that is known about it. All candidates together are
//! the profile database.

use crate::hypothesis::Hypothesis;
use crate::request::ProbeId;
use crate::share::Share;
use crate::share_test::{ErrorRates, ShareTest, Verdict};

/// The measurement of a candidate.
#[derive(Clone, Debug, PartialEq)]
pub enum Measurement {
    /// No probe is attached. Stack samples may still decide.
    None,
    /// A counter shows the cost of a timer.
    Counter(ProbeId),
    /// A timer, attached since this window.
    Timer { probe: ProbeId, since: u64 },
    /// No probe can be attached.
    Impossible { reason: String },
}

/// The sum of the shares of the windows of one epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct EpochSum {
    low: f64,
    high: f64,
    windows: u32,
}

/// A period in seconds since the beginning of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Period {
    pub from: f64,
    pub to: f64,
}

/// The windows that gave evidence, by source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    pub timer_windows: u64,
    pub sample_windows: u64,
    pub calls: u64,
}

/// One hypothesis under examination.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub hypothesis: Hypothesis,
    pub measurement: Measurement,
    /// The cost of a timer as a fraction of the active time, if known.
    pub forecast: Option<f64>,
    /// The number of probes that were detached to make room.
    pub displaced: u32,
    /// The number of calls between the root and the place, if known.
    pub depth: u32,
    test: ShareTest,
    /// The time and the window at which the present test began.
    test_began: f64,
    test_window: u64,
    /// Whether the last decision was `Yes`.
    holds: bool,
    decided: bool,
    held: Option<Period>,
    /// The time of the first decision `Yes`.
    found: Option<f64>,
    /// The mean and bounds of the last `Yes` and of the last `No`.
    yes: Option<(Share, (f64, f64))>,
    no: Option<(Share, (f64, f64))>,
    epochs: Vec<EpochSum>,
    last_fed: u64,
    pub sources: Sources,
}

impl Candidate {
    /// Returns a candidate that is opened `now`, in seconds, at a window.
    pub fn new(hypothesis: Hypothesis, test: ShareTest, now: f64, window: u64) -> Candidate {
        Candidate {
            hypothesis,
            measurement: Measurement::None,
            forecast: None,
            displaced: 0,
            depth: 0,
            test,
            test_began: now,
            test_window: window,
            holds: false,
            decided: false,
            held: None,
            found: None,
            yes: None,
            no: None,
            epochs: Vec::new(),
            last_fed: window,
            sources: Sources::default(),
        }
    }

    /// Adds a share that was measured over the last `windows` windows. Windows that already gave
    /// evidence do not count again.
    pub fn add(&mut self, share: Share, windows: u32, window: u64, epoch: usize) {
        let fresh = window.saturating_sub(self.last_fed);
        let windows = windows.min(u32::try_from(fresh).unwrap_or(u32::MAX)).max(1);
        self.last_fed = window;
        self.test.add(share, windows);
        if self.epochs.len() <= epoch {
            self.epochs.resize(epoch + 1, EpochSum::default());
        }
        if let Some(sum) = self.epochs.get_mut(epoch) {
            sum.low += share.low * f64::from(windows);
            sum.high += share.high * f64::from(windows);
            sum.windows = sum.windows.saturating_add(windows);
        }
    }

    /// Decides from the windows until now. Returns the verdict if it is new in this epoch.
    pub fn decide(&mut self, now: f64, window: u64) -> Option<Verdict> {
        if self.decided {
            return None;
        }
        let verdict = self.test.verdict(window.saturating_sub(self.test_window));
        match verdict {
            Verdict::Maybe => return None,
            Verdict::Yes => {
                let from = self.held.map_or(self.test_began, |period| period.from);
                self.held = Some(Period { from, to: now });
                self.found.get_or_insert(now);
            }
            Verdict::No => {
                if let (true, Some(period)) = (self.holds, &mut self.held) {
                    period.to = self.test_began;
                }
            }
        }
        self.decided = true;
        self.holds = verdict == Verdict::Yes;
        self.keep_figures();
        Some(verdict)
    }

    /// Keeps the figures of the present test as those of the last decision.
    fn keep_figures(&mut self) {
        let figures = Some((self.test.mean(), self.test.bounds()));
        if self.holds {
            self.yes = figures;
        } else {
            self.no = figures;
        }
    }

    /// Begins a new test if the present one is decided.
    pub fn restart(&mut self, test: ShareTest, now: f64, window: u64) {
        if self.decided {
            // The test went on after its decision, so its figures are better now.
            self.keep_figures();
            self.decided = false;
            self.test = test;
            self.test_began = now;
            self.test_window = window;
        }
    }

    /// Returns whether the hypothesis holds by the last decision.
    pub fn holds(&self) -> bool {
        self.holds
    }

    /// Returns whether the present test is decided.
    pub fn is_decided(&self) -> bool {
        self.decided
    }

    /// Returns when the hypothesis was first found to hold, in seconds since the beginning of the
    /// search.
    pub fn found(&self) -> Option<f64> {
        self.found
    }

    /// Returns the period in which the hypothesis held, up to `now` if it still holds.
    pub fn held(&self, now: f64) -> Option<Period> {
        self.held.map(|period| Period {
            from: period.from,
            to: if self.holds { now } else { period.to },
        })
    }

    /// Returns the mean share and its confidence interval in the period in which the hypothesis
    /// held, or else of the last decision, or else of the present test.
    pub fn figures(&self) -> (Share, (f64, f64)) {
        let present = (self.test.mean(), self.test.bounds());
        if self.held.is_some() {
            let is_present = self.holds && self.decided;
            return if is_present {
                present
            } else {
                self.yes.unwrap_or(present)
            };
        }
        if self.decided {
            present
        } else {
            self.no.unwrap_or(present)
        }
    }

    /// Returns whether any test was decided.
    pub fn was_decided(&self) -> bool {
        self.yes.is_some() || self.no.is_some()
    }

    /// Returns the number of windows with evidence of the present test.
    pub fn windows(&self) -> u32 {
        self.test.windows()
    }

    /// Returns the mean of the present test.
    pub fn mean(&self) -> Share {
        self.test.mean()
    }

    /// Returns the mean share over the whole search: the mean of all epochs with evidence.
    pub fn overall(&self) -> Share {
        let measured: Vec<_> = self.epochs.iter().filter(|e| e.windows > 0).collect();
        let count = measured.len() as f64;
        if measured.is_empty() {
            return Share::UNKNOWN;
        }
        let mean = |of: fn(&EpochSum) -> f64| {
            let shares = measured.iter().map(|e| of(e) / f64::from(e.windows));
            shares.sum::<f64>() / count
        };
        Share::between(mean(|e| e.low), mean(|e| e.high))
    }

    /// Returns the probe that is attached for the candidate.
    pub fn probe(&self) -> Option<ProbeId> {
        match self.measurement {
            Measurement::Counter(probe) | Measurement::Timer { probe, .. } => Some(probe),
            Measurement::None | Measurement::Impossible { .. } => None,
        }
    }
}

/// The error rates of the test with this number, from 1. The rates of false findings of all tests
/// together have the sum `false_findings`, because the sum of `1 / j²` is `π² / 6` (a union bound).
pub fn error_rates(number: u64, false_findings: f64, missed: f64, outside: f64) -> ErrorRates {
    let j = number.max(1) as f64;
    ErrorRates {
        false_yes: false_findings * 6.0 / (std::f64::consts::PI.powi(2) * j * j),
        false_no: missed,
        outside,
    }
}
