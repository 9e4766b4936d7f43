//! A driver of the search for simulated programs.

use std::collections::BTreeMap;

use veneer_search::Search;
use veneer_search::cause::Cause;
use veneer_search::observation::{Frame, Observation, StackSample};
use veneer_search::outcome::{Finding, Outcome};
use veneer_search::place::{GroupId, MethodId, MethodName, Place};
use veneer_search::replay::answer_without_probes;
use veneer_search::request::{Measure, ProbeId, Request};
use veneer_search::settings::Settings;

use crate::draw::Draw;
use crate::machine::Machine;
use crate::program::Program;

/// The length of a window in nanoseconds.
pub const WINDOW: u64 = 50_000_000;
/// The cost of a counter, of a timer, and of one sampled thread, in nanoseconds.
const COUNTER_NANOS: f64 = 2.0;
const TIMER_NANOS: f64 = 40.0;
const SAMPLE_NANOS: u64 = 5_000;

/// A probe of the driver.
#[derive(Clone, Copy, Debug)]
struct Probe {
    method: usize,
    cause: Cause,
    measure: Measure,
    /// The totals at the last reading: time inside, calls, cost.
    last: (u64, u64, u64),
    /// The windows without a reading.
    silent: u32,
}

/// A simulated program under search.
pub struct Simulation {
    pub machine: Machine,
    pub search: Search,
    /// Whether timers report activations that still run. Otherwise they report at exits.
    pub sees_open: bool,
    pub refuses_samples: bool,
    /// Whether probes are refused and callees are unknown, as by a driver that samples only.
    pub samples_only: bool,
    /// Everything that the driver observed, without its answers to requests.
    pub record: Vec<Observation>,
    draw: Draw,
    now: u64,
    hertz: f64,
    probes: BTreeMap<ProbeId, Probe>,
    last_active: u64,
    /// The largest sum of reservations and the largest cost of any window, as fractions.
    pub most_reserved: f64,
}

impl Simulation {
    /// Starts a program and a search.
    pub fn new(program: Program, settings: Settings, seed: u64) -> Simulation {
        let search = Search::new(settings).expect("the settings are valid");
        let mut simulation = Simulation {
            machine: Machine::new(program, seed),
            search,
            sees_open: true,
            refuses_samples: false,
            samples_only: false,
            record: Vec::new(),
            draw: Draw(seed ^ 0xabcd),
            now: 0,
            hertz: 0.0,
            probes: BTreeMap::new(),
            last_active: 0,
            most_reserved: 0.0,
        };
        simulation.declare();
        simulation
    }

    fn declare(&mut self) {
        let methods = self.machine.program.methods.iter().enumerate();
        let methods = methods.map(|(i, method)| Observation::Method {
            id: MethodId(i as u32),
            name: MethodName {
                module: None,
                class: "sim.Program".to_string(),
                method: method.name.clone(),
                file: Some("Program.java".to_string()),
            },
        });
        let groups = self.machine.groups.iter().enumerate();
        let groups = groups.map(|(i, group)| Observation::Group {
            id: GroupId(i as u32),
            name: group.clone(),
        });
        let all: Vec<Observation> = methods.chain(groups).collect();
        all.into_iter().for_each(|o| self.observe(o));
    }

    /// Gives an observation to the search and to the record.
    fn observe(&mut self, observation: Observation) {
        self.record.push(observation.clone());
        self.search.observe(observation);
    }

    /// Returns the seconds since the beginning.
    pub fn seconds(&self) -> f64 {
        self.now as f64 / 1e9
    }

    /// Runs the program and the search for some seconds.
    pub fn run(&mut self, seconds: f64) -> Outcome {
        let end = self.now + (seconds * 1e9) as u64;
        while self.now < end {
            self.window();
        }
        self.search.outcome()
    }

    /// Runs until `done`, for at most some seconds. Returns the seconds that it took.
    pub fn run_until(&mut self, most: f64, done: impl Fn(&Outcome) -> bool) -> Option<f64> {
        while self.seconds() < most {
            self.window();
            if done(&self.search.outcome()) {
                return Some(self.seconds());
            }
        }
        None
    }

    /// Runs one window.
    pub fn window(&mut self) {
        if self.samples_only {
            self.hertz = answer_without_probes(&mut self.search).unwrap_or(self.hertz);
        }
        for request in self.search.requests() {
            self.fulfil(request);
        }
        let mut moments = Vec::new();
        let expected = self.hertz * WINDOW as f64 / 1e9;
        let count = expected.floor() as usize + usize::from(self.draw.unit() < expected.fract());
        for _ in 0..count {
            moments.push(self.now + (self.draw.unit() * WINDOW as f64) as u64);
        }
        moments.sort_unstable();
        for moment in moments {
            self.machine.run_until(moment);
            self.sample();
        }
        self.now += WINDOW;
        self.machine.run_until(self.now);
        self.read();
        let active = self.machine.totals.active - self.last_active;
        self.last_active = self.machine.totals.active;
        self.observe(Observation::WindowEnd {
            nanos: WINDOW,
            active_nanos: active,
        });
        self.most_reserved = self.most_reserved.max(self.search.reserved_cost());
    }

    fn sample(&mut self) {
        let samples: Vec<StackSample> = self
            .machine
            .threads
            .iter()
            .map(|thread| {
                let mut frames: Vec<Frame> = thread
                    .stack
                    .iter()
                    .map(|activation| Frame {
                        method: MethodId(activation.method as u32),
                        line: None,
                        loop_line: None,
                    })
                    .collect();
                if let (Some(leaf), Some(piece)) = (frames.last_mut(), thread.piece) {
                    (leaf.line, leaf.loop_line) = (piece.line, piece.loop_line);
                }
                StackSample {
                    group: GroupId(thread.group as u32),
                    frames,
                    cause: thread.piece.map_or(Cause::Processor, |p| p.cause),
                    idle: thread.piece.is_some_and(|p| p.idle),
                }
            })
            .collect();
        let cost = SAMPLE_NANOS * samples.iter().filter(|s| !s.idle).count() as u64;
        self.observe(Observation::Stacks {
            samples,
            cost_nanos: cost,
        });
    }

    fn totals(&self, probe: &Probe) -> (u64, u64, u64) {
        let totals = &self.machine.totals;
        let own = totals.own.iter().filter(|((method, _, _, cause), _)| {
            *method == probe.method && cause.is_a(probe.cause)
        });
        let inside = match probe.cause {
            Cause::Time => self.machine.inside(probe.method),
            _ => own.map(|(_, nanos)| nanos).sum(),
        };
        let cost = totals.probe_cost[probe.method];
        (inside, totals.calls[probe.method], cost)
    }

    fn read(&mut self) {
        let mut readings = Vec::new();
        for (id, probe) in &self.probes {
            readings.push((*id, self.totals(probe)));
        }
        for (id, totals) in readings {
            let is_inside = self
                .probes
                .get(&id)
                .is_some_and(|p| self.machine.is_inside(p.method));
            let Some(probe) = self.probes.get_mut(&id) else {
                continue;
            };
            if is_inside && !self.sees_open && probe.measure == Measure::Time {
                probe.silent += 1;
                continue;
            }
            let inside = totals.0 - probe.last.0;
            let reading = Observation::Reading {
                probe: id,
                windows: probe.silent + 1,
                low_nanos: inside,
                high_nanos: inside,
                calls: totals.1 - probe.last.1,
                cost_nanos: totals.2 - probe.last.2,
            };
            (probe.last, probe.silent) = (totals, 0);
            self.observe(reading);
        }
    }

    fn fulfil(&mut self, request: Request) {
        match request {
            Request::Roots => {
                let roots = self.machine.program.threads.iter();
                let mut methods: Vec<MethodId> = roots.map(|(_, m)| MethodId(*m as u32)).collect();
                methods.dedup();
                self.search.observe(Observation::Roots { methods });
            }
            Request::Sample { hertz } => {
                self.hertz = hertz;
                if self.refuses_samples {
                    self.hertz = 0.0;
                    let reason = "the driver cannot sample".to_string();
                    self.search.observe(Observation::SamplingRefused { reason });
                }
            }
            Request::Callees { of } => self.answer_callees(of, false),
            Request::Receivers { of } => self.answer_callees(of, true),
            Request::Attach {
                probe,
                place,
                cause,
                measure,
            } => self.attach(probe, place, cause, measure),
            Request::Detach { probe } => {
                if let Some(gone) = self.probes.remove(&probe) {
                    self.set_cost(gone.method);
                }
            }
        }
    }

    fn answer_callees(&mut self, of: MethodId, with_receivers: bool) {
        let program = &self.machine.program;
        let is_static = program.methods[of.0 as usize].is_static;
        let callees = if is_static || with_receivers {
            program.callees(of.0 as usize)
        } else {
            Vec::new()
        };
        self.search.observe(Observation::Callees {
            of,
            callees: callees.into_iter().map(|m| MethodId(m as u32)).collect(),
            complete: is_static || with_receivers,
        });
    }

    fn attach(&mut self, id: ProbeId, place: Place, cause: Cause, measure: Measure) {
        let Place::Method(method) = place else {
            let reason = "only methods are timed".to_string();
            self.search
                .observe(Observation::Refused { probe: id, reason });
            return;
        };
        let mut probe = Probe {
            method: method.0 as usize,
            cause,
            measure,
            last: (0, 0, 0),
            silent: 0,
        };
        probe.last = self.totals(&probe);
        self.probes.insert(id, probe);
        self.set_cost(probe.method);
    }

    fn set_cost(&mut self, method: usize) {
        let of = self.probes.values().filter(|p| p.method == method);
        self.machine.probe_nanos[method] = of
            .map(|p| match p.measure {
                Measure::Entries => COUNTER_NANOS,
                Measure::Time => TIMER_NANOS,
            })
            .sum();
    }

    /// Returns the true share of a finding in the active time until now.
    pub fn truth(&self, finding: &Finding) -> f64 {
        let method = finding.method.0 as usize;
        let totals = &self.machine.totals;
        let line = |kind: &str| {
            let step = finding.path.iter().rev().find(|s| s.kind == kind);
            step.and_then(|s| s.line)
        };
        let (block, around) = (line("block"), line("loop"));
        let group = finding.path.iter().find(|s| s.kind == "group");
        let group = group.and_then(|s| self.machine.groups.iter().position(|g| *g == s.name));
        let nanos = if finding.why == Cause::Time && block.is_none() && around.is_none() {
            match group {
                Some(group) => totals.inside[method][group],
                None => self.machine.inside(method),
            }
        } else {
            let own = totals.own.iter().filter(|((m, l, header, cause), _)| {
                *m == method
                    && cause.is_a(finding.why)
                    && (block.is_none() || *l == block)
                    && (around.is_none() || *header == around)
            });
            own.map(|(_, nanos)| nanos).sum()
        };
        (nanos as f64 / totals.active.max(1) as f64).min(1.0)
    }
}

/// Returns whether an outcome has a specific finding in a method, of a cause or a more special one.
pub fn found(outcome: &Outcome, program: &Program, method: &str, why: Cause) -> bool {
    let id = MethodId(program.find(method) as u32);
    let mut findings = outcome.findings.iter();
    findings.any(|f| f.method == id && f.specific && f.why.is_a(why))
}
