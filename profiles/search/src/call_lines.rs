//! Samples that are taken at the return of a call.
//!
//! A JVM stops a thread for a sample at its next safepoint poll. Compiled code polls in loops and when
//! it returns, and the poll of a return finds the caller on top of the stack. The time of the callee
//! since its last poll is then shown at the line of the call. So if most samples at a line are inside
//! one of its callees, a sample of running code at the line itself is one more sample of the callee.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::cause::Cause;
use crate::observation::{Frame, StackSample};
use crate::place::MethodId;

/// The samples inside callees of a line that are necessary before its own samples are moved.
const MIN_CALLS: u64 = 4;
/// The samples inside callees of a line must be at least this many times as many as its own.
const MIN_RATIO: u64 = 2;
/// A line does not count as interpreted if its own samples are at most this many times as many as those
/// inside its callees: the caller may be interpreted, but it only waits for compiled code.
const MAX_INTERPRETED_RATIO: u64 = 4;
/// The most lines that are kept. Samples at later lines are not moved.
const MAX_LINES: usize = 65_536;

/// The samples at one line.
#[derive(Clone, Debug, Default)]
struct LineSamples {
    own: u64,
    callees: BTreeMap<MethodId, u64>,
}

/// The samples at all lines that call methods.
#[derive(Clone, Debug, Default)]
pub struct CallLines {
    lines: BTreeMap<(MethodId, u32), LineSamples>,
}

impl CallLines {
    /// Takes the next sample. Returns the sample with the callee as the innermost frame if it was
    /// taken at the return of a call. The line in the callee is unknown then. A sample of interpreted
    /// code at a line that often calls methods becomes one of processor time.
    pub fn correct<'s>(&mut self, sample: &'s StackSample) -> Cow<'s, StackSample> {
        let mut seen = BTreeSet::new();
        for pair in sample.frames.windows(2) {
            if let Some(line) = pair[0].line
                && seen.insert((pair[0].method, line))
                && let Some(samples) = self.line(pair[0].method, line)
            {
                *samples.callees.entry(pair[1].method).or_default() += 1;
            }
        }
        let place = sample.frames.last().and_then(|f| Some((f.method, f.line?)));
        let is_running = !sample.idle && sample.cause.is_a(Cause::Processor);
        let Some((method, line)) = place.filter(|_| is_running) else {
            return Cow::Borrowed(sample);
        };
        let Some(samples) = self.line(method, line) else {
            return Cow::Borrowed(sample);
        };
        samples.own += 1;
        let calls: u64 = samples.callees.values().sum();
        let callee = samples.callees.iter().max_by_key(|(_, samples)| **samples);
        let is_return = calls >= MIN_CALLS.max(samples.own.saturating_mul(MIN_RATIO));
        let is_compiled_call = calls >= MIN_CALLS && calls * MAX_INTERPRETED_RATIO >= samples.own;
        let Some((callee, _)) = callee.filter(|_| is_return) else {
            if is_compiled_call && sample.cause == Cause::Interpreted {
                let mut running = sample.clone();
                running.cause = Cause::Processor;
                return Cow::Owned(running);
            }
            return Cow::Borrowed(sample);
        };
        let mut moved = sample.clone();
        moved.cause = Cause::Processor;
        moved.frames.push(Frame {
            method: *callee,
            line: None,
            loop_line: None,
        });
        Cow::Owned(moved)
    }

    fn line(&mut self, method: MethodId, line: u32) -> Option<&mut LineSamples> {
        let key = (method, line);
        if self.lines.len() >= MAX_LINES && !self.lines.contains_key(&key) {
            return None;
        }
        Some(self.lines.entry(key).or_default())
    }
}
