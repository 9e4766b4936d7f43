//! The machine that runs simulated programs, event by event, and measures the truth.

use std::collections::BTreeMap;

use veneer_search::cause::Cause;

use crate::draw::Draw;
use crate::program::{Program, Step, jitter};

/// The piece of code that a thread runs until `end`.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub end: u64,
    pub cause: Cause,
    pub line: Option<u32>,
    pub loop_line: Option<u32>,
    pub idle: bool,
}

/// An activation on the stack of a simulated thread.
#[derive(Clone, Copy, Debug)]
pub struct Activation {
    pub method: usize,
    step: usize,
    /// Further calls of the present step.
    again: u32,
    level: u32,
    /// The time of a bulk of leaf calls, in nanoseconds.
    bulk: Option<u64>,
}

/// A thread of the program.
#[derive(Clone, Debug)]
pub struct Thread {
    pub group: usize,
    pub stack: Vec<Activation>,
    pub piece: Option<Piece>,
    now: u64,
    draw: Draw,
    /// The activations of each method on the stack, and the begin of the outermost one.
    nested: Vec<(u32, u64)>,
}

/// The key of a method's own time: method, line, header line of the loop, cause.
pub type OwnKey = (usize, Option<u32>, Option<u32>, Cause);

/// The totals of the program: inclusive time, calls, own time.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// The time inside each method, in nanoseconds, for each group.
    pub inside: Vec<Vec<u64>>,
    pub calls: Vec<u64>,
    pub own: BTreeMap<OwnKey, u64>,
    pub active: u64,
    pub idle: u64,
    pub probe_cost: Vec<u64>,
}

/// A running program.
pub struct Machine {
    pub program: Program,
    pub threads: Vec<Thread>,
    pub groups: Vec<String>,
    pub totals: Totals,
    /// The cost of the probe on each method, in nanoseconds for each call.
    pub probe_nanos: Vec<f64>,
}

impl Machine {
    /// Starts all threads of a program.
    pub fn new(program: Program, seed: u64) -> Machine {
        let methods = program.methods.len();
        let mut groups: Vec<String> = program.threads.iter().map(|(g, _)| g.clone()).collect();
        groups.sort();
        groups.dedup();
        let totals = Totals {
            inside: vec![vec![0; groups.len()]; methods],
            calls: vec![0; methods],
            probe_cost: vec![0; methods],
            ..Totals::default()
        };
        let mut machine = Machine {
            threads: Vec::new(),
            totals,
            probe_nanos: vec![0.0; methods],
            groups,
            program,
        };
        for (i, (group, method)) in machine.program.threads.clone().into_iter().enumerate() {
            let group = machine.groups.iter().position(|g| *g == group).unwrap_or(0);
            let mut thread = Thread {
                group,
                stack: Vec::new(),
                piece: None,
                now: 0,
                draw: Draw(seed.wrapping_mul(0x1000_0001).wrapping_add(i as u64)),
                nested: vec![(0, 0); methods],
            };
            enter(&mut thread, &mut machine.totals, &[], method, 0, 1);
            machine.threads.push(thread);
        }
        machine
    }

    /// Runs all threads until a moment, in nanoseconds.
    pub fn run_until(&mut self, moment: u64) {
        for thread in &mut self.threads {
            run_thread(
                thread,
                &self.program,
                &mut self.totals,
                &self.probe_nanos,
                moment,
            );
            // The open activations are counted up to this moment.
            for activation in &thread.stack {
                let (nested, since) = &mut thread.nested[activation.method];
                if *nested > 0 && *since < moment {
                    self.totals.inside[activation.method][thread.group] += moment - *since;
                    *since = moment;
                }
            }
        }
    }

    /// Returns whether any thread is inside a method.
    pub fn is_inside(&self, method: usize) -> bool {
        self.threads.iter().any(|t| t.nested[method].0 > 0)
    }

    /// Returns the time inside a method in all groups.
    pub fn inside(&self, method: usize) -> u64 {
        self.totals.inside[method].iter().sum()
    }
}

fn enter(
    thread: &mut Thread,
    totals: &mut Totals,
    probe_nanos: &[f64],
    method: usize,
    level: u32,
    calls: u32,
) {
    let cost = probe_nanos.get(method).copied().unwrap_or(0.0) * f64::from(calls);
    let (nested, since) = &mut thread.nested[method];
    if *nested == 0 {
        *since = thread.now;
    }
    *nested += 1;
    totals.calls[method] += u64::from(calls);
    if cost > 0.0 {
        thread.now += cost as u64;
        totals.active += cost as u64;
        totals.probe_cost[method] += cost as u64;
    }
    thread.stack.push(Activation {
        method,
        step: 0,
        again: 0,
        level,
        bulk: None,
    });
}

fn leave(thread: &mut Thread, totals: &mut Totals) {
    let Some(activation) = thread.stack.pop() else {
        return;
    };
    let (nested, since) = &mut thread.nested[activation.method];
    *nested -= 1;
    if *nested == 0 {
        let inside = thread.now.saturating_sub(*since);
        totals.inside[activation.method][thread.group] += inside;
    }
}

/// Adds the time of a piece to the method's own time.
fn spend(thread: &mut Thread, totals: &mut Totals, piece: Piece, until: u64) {
    let nanos = until.saturating_sub(thread.now);
    thread.now = thread.now.max(until);
    if piece.idle {
        totals.idle += nanos;
        return;
    }
    totals.active += nanos;
    if let Some(activation) = thread.stack.last() {
        let key = (activation.method, piece.line, piece.loop_line, piece.cause);
        *totals.own.entry(key).or_default() += nanos;
    }
}

fn run_thread(
    thread: &mut Thread,
    program: &Program,
    totals: &mut Totals,
    probes: &[f64],
    moment: u64,
) {
    while thread.now < moment {
        if let Some(piece) = thread.piece {
            spend(thread, totals, piece, piece.end.min(moment));
            if piece.end > moment {
                return;
            }
            thread.piece = None;
            continue;
        }
        next_step(thread, program, totals, probes);
    }
}

/// Begins the next step of the innermost activation.
fn next_step(thread: &mut Thread, program: &Program, totals: &mut Totals, probes: &[f64]) {
    let Some(activation) = thread.stack.last_mut() else {
        thread.piece = Some(Piece {
            end: u64::MAX,
            cause: Cause::Park,
            line: None,
            loop_line: None,
            idle: true,
        });
        return;
    };
    let method = activation.method;
    if let Some(nanos) = activation.bulk.take() {
        activation.step = usize::MAX;
        thread.piece = Some(Piece {
            end: thread.now + nanos,
            cause: Cause::Processor,
            line: Some(1),
            loop_line: None,
            idle: false,
        });
        return;
    }
    let steps = &program.methods[method].steps;
    if activation.step >= steps.len() {
        if program.methods[method].forever && activation.step != usize::MAX {
            activation.step = 0;
            // A loop without any step takes time, too.
            thread.now += 1;
        } else {
            leave(thread, totals);
        }
        return;
    }
    let mut step = &steps[activation.step];
    while let Step::Phase {
        period,
        on,
        first,
        second,
    } = step
    {
        let seconds = thread.now as f64 / 1e9;
        step = if seconds % period < *on {
            first
        } else {
            second
        };
    }
    let level = activation.level;
    match step {
        Step::Call { method, times } => {
            activation.again += 1;
            if activation.again >= *times {
                (activation.step, activation.again) = (activation.step + 1, 0);
            }
            enter(thread, totals, probes, *method, 0, 1);
        }
        step => {
            activation.step += 1;
            begin(thread, totals, probes, step, level);
        }
    }
}

fn begin(thread: &mut Thread, totals: &mut Totals, probes: &[f64], step: &Step, level: u32) {
    match step {
        Step::Work {
            nanos,
            cause,
            line,
            loop_line,
        } => {
            let end = thread.now + jitter(&mut thread.draw, *nanos);
            thread.piece = Some(Piece {
                end,
                cause: *cause,
                line: Some(*line),
                loop_line: *loop_line,
                idle: false,
            });
        }
        Step::Idle { nanos } => {
            let end = thread.now + jitter(&mut thread.draw, *nanos);
            thread.piece = Some(Piece {
                end,
                cause: Cause::Park,
                line: None,
                loop_line: None,
                idle: true,
            });
        }
        Step::OneOf { methods } => {
            let method = methods[thread.draw.below(methods.len())];
            enter(thread, totals, probes, method, 0, 1);
        }
        Step::Bulk {
            method,
            calls,
            nanos,
        } => {
            let nanos = jitter(&mut thread.draw, *nanos * f64::from(*calls));
            enter(thread, totals, probes, *method, 0, *calls);
            if let Some(activation) = thread.stack.last_mut() {
                activation.bulk = Some(nanos);
            }
        }
        Step::Recurse { depth } => {
            if let Some(method) = thread.stack.last().map(|a| a.method)
                && level < *depth
            {
                enter(thread, totals, probes, method, level + 1, 1);
            }
        }
        Step::Call { .. } | Step::Phase { .. } => {}
    }
}
