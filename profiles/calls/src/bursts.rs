//! Decides when contexts are recorded, if they are recorded in bursts: Zhuang, Serrano, Cain and Choi,
//! *Accurate, efficient, and adaptive calling context profiling*, PLDI 2006.
//!
//! A *burst* is a short recording of all calls. Between bursts the program has no instrument, and runs
//! at its own speed. The shares of the calls *settle*: a later burst has the same ones as all earlier
//! bursts together. Then there is little to learn, and the pauses grow.

use std::time::Duration;

/// The length of the first burst.
const FIRST_LENGTH: Duration = Duration::from_secs(1);
/// The length that no burst exceeds.
const MAX_LENGTH: Duration = Duration::from_secs(4);
/// The overlap from which on the shares have settled.
const SETTLED: f64 = 0.99;
/// The pause grows to this multiple of what the cost demands.
const MAX_GROWTH: u32 = 16;

/// The bursts of a recording.
#[derive(Clone, Debug)]
pub struct BurstSchedule {
    most_cost: f64,
    length: Duration,
    growth: u32,
}

impl BurstSchedule {
    /// The schedule with at most this cost: the share of the time, above 0 and below 1, in which the
    /// program may be slow.
    pub fn new(most_cost: f64) -> BurstSchedule {
        BurstSchedule {
            most_cost: most_cost.clamp(0.001, 0.999),
            length: FIRST_LENGTH,
            growth: 1,
        }
    }

    /// The length of the next burst.
    pub fn length(&self) -> Duration {
        self.length
    }

    /// The pause after a burst. `slow` is the time in which the program was not at its own speed.
    /// `overlap` is that of the burst with all earlier ones, from 0 to 1; `None` after the first one.
    pub fn pause(&mut self, slow: Duration, overlap: Option<f64>) -> Duration {
        match overlap {
            Some(overlap) if overlap >= SETTLED => self.growth = (self.growth * 2).min(MAX_GROWTH),
            Some(_) => {
                self.growth = 1;
                self.length = (self.length * 2).min(MAX_LENGTH);
            }
            None => {}
        }
        let needed = slow.mul_f64((1.0 - self.most_cost) / self.most_cost);
        needed * self.growth
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CallKind, CallProfile, Loader, Method, MethodForm, MethodName, Site, diff};

    const COST: f64 = 0.05;
    /// The speed of the program in a burst.
    const SPEED: f64 = 0.1;
    /// The time in which the program gets its speed back.
    const RECOVERY: Duration = Duration::from_millis(500);

    /// The calls of a program whose phases repeat, from one time of its own to another, in seconds.
    fn calls(from: f64, to: f64, period: f64) -> CallProfile {
        let mut profile = CallProfile::new();
        let loader = profile.add_loader(&Loader {
            name: "app".into(),
            number: 1,
        });
        let mut method = |name: &str| {
            profile.add_method(Method {
                loader,
                name: MethodName::new("Program", name, "()V"),
                form: MethodForm::Bytecode,
                code_bytes: None,
                entries: None,
            })
        };
        let (main, callees) = (method("main"), ["a", "b", "c"].map(&mut method));
        let steps = ((to - from) * 1000.0) as u64;
        for step in 0..steps {
            let phase = (from + step as f64 / 1000.0) / period;
            let callee = callees[(phase.fract() * 3.0) as usize % 3];
            profile.add_calls(
                main,
                Site::default(),
                callee,
                CallKind::Static,
                1 + step % 3,
            );
        }
        profile
    }

    /// Records a program in bursts. Returns the calls of the bursts, the number of bursts, and the time
    /// that the program needed for its `seconds`.
    fn record(seconds: f64, period: f64) -> (CallProfile, u32, f64) {
        let mut schedule = BurstSchedule::new(COST);
        let (mut own, mut wall) = (0.0, 0.0);
        let mut all = CallProfile::new();
        let mut bursts = 0;
        while own < seconds {
            let length = schedule.length();
            let ran = length.as_secs_f64() * SPEED;
            let burst = calls(own, own + ran, period);
            let overlap = diff::diff(&all, &burst, crate::Measure::Count).overlap;
            all.merge(&burst);
            bursts += 1;
            let pause = schedule.pause(length + RECOVERY, overlap);
            own += ran + RECOVERY.as_secs_f64() * SPEED + pause.as_secs_f64();
            wall += (length + RECOVERY + pause).as_secs_f64();
        }
        (all, bursts, wall / own)
    }

    #[test]
    fn a_steady_program_is_recorded_seldom_and_exactly() {
        let (recorded, bursts, cost) = record(3600.0, 0.02);
        let whole = calls(0.0, 30.0, 0.02);
        let overlap = diff::diff(&recorded, &whole, crate::Measure::Count).overlap;
        assert!(overlap > Some(0.99), "{overlap:?}");
        assert!(bursts < 20, "{bursts}");
        assert!(cost < 1.0 + COST, "{cost}");
    }

    #[test]
    fn a_program_with_long_phases_is_recorded_often_and_costs_no_more() {
        let (recorded, bursts, cost) = record(3600.0, 50.0);
        let whole = calls(0.0, 150.0, 50.0);
        let overlap = diff::diff(&recorded, &whole, crate::Measure::Count).overlap;
        assert!(overlap > Some(0.85), "{overlap:?}");
        assert!(bursts > 30, "{bursts}");
        assert!(cost < 1.0 + COST, "{cost}");
    }
}
