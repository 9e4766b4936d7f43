//! What the instruments cost: an estimate of the share of the process's time that is spent in them.
//!
//! ```text
//!   passes since the last looks × what a pass costs        ns
//!   ─────────────────────────────────────────────── = ─────────
//!   processor time of the process in that time             ns
//! ```
//!
//! What a pass costs is what `docs/benchmarks.md` measured for each kind on a small hot method. It leaves out what the compiler makes
//! less of because a counter stands there, and on another machine it is another; so it says whether the cost is nothing, a
//! little or a lot, and no more.

use std::collections::VecDeque;
use std::fs;

use super::place::Kind;

/// A counter, in nanoseconds a pass.
pub const COUNTER: f64 = 1.0;
/// A timer, with both its ends.
pub const TIMER: f64 = 35.0;
/// Code at a point.
pub const CODE: f64 = 10.0;
/// Looks that are taken together: the kernel counts processor time in steps of 10 ms.
const LOOKS: usize = 5;

/// What a pass of an instrument costs, in nanoseconds.
pub fn of_pass(kind: &Kind) -> f64 {
    match kind {
        Kind::Counter => COUNTER,
        Kind::Timer => TIMER,
        Kind::Watch(_) => CODE,
    }
}

/// See the module documentation.
#[derive(Debug, Clone, Default)]
pub struct Cost {
    /// Nanoseconds in instruments and of the process, for each of the last looks.
    looks: VecDeque<(f64, f64)>,
    /// In instruments since the last look.
    spent: f64,
    /// Processor time of the process at the last look, in nanoseconds.
    last: Option<f64>,
}

impl Cost {
    /// So many more passes, at so much each.
    pub fn passed(&mut self, passes: u64, ns: f64) {
        self.spent += passes as f64 * ns;
    }

    /// The process has had so much processor time so far, in nanoseconds.
    pub fn look(&mut self, processor: f64) {
        if let Some(last) = self.last {
            self.looks
                .push_back((std::mem::take(&mut self.spent), processor - last));
            if self.looks.len() > LOOKS {
                self.looks.pop_front();
            }
        }
        self.last = Some(processor);
    }

    /// The share, from 0 to 1; none as long as the process has not run.
    pub fn share(&self) -> Option<f64> {
        let add = |(a, b): (f64, f64), (c, d): &(f64, f64)| (a + c, b + d);
        let (spent, processor) = self.looks.iter().fold((0.0, 0.0), add);
        (processor > 0.0).then(|| (spent / processor).min(1.0))
    }
}

/// Processor time of a process so far, in nanoseconds: all threads, in user and in kernel mode.
pub fn processor_time(pid: u32) -> Option<f64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // SAFETY: a plain system call.
    let ticks_a_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    let second = if ticks_a_second > 0 {
        ticks_a_second as f64
    } else {
        100.0
    };
    ticks(&text).map(|ticks| ticks as f64 * 1e9 / second)
}

/// `utime` and `stime`, the fields 14 and 15 (proc(5)). The name before them may have spaces and brackets in it.
fn ticks(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let kernel: u64 = fields.next()?.parse().ok()?;
    Some(user + kernel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_that_of_the_last_looks() {
        let mut cost = Cost::default();
        assert_eq!(cost.share(), None);
        cost.look(1e9);
        assert_eq!(cost.share(), None);
        cost.passed(10_000_000, TIMER);
        cost.look(2e9);
        assert!((cost.share().unwrap() - 0.35).abs() < 1e-9);
        for second in 3..8 {
            cost.look(f64::from(second) * 1e9);
        }
        assert_eq!(cost.share(), Some(0.0));
        cost.passed(u64::MAX, CODE);
        cost.look(8e9);
        assert_eq!(cost.share(), Some(1.0));
    }

    #[test]
    fn the_kernel_is_understood() {
        let stat = "42 (java (x) y) S 1 42 42 0 -1 4194560 9 0 0 0 250 50 0 0 20 0 30 0 100 0";
        assert_eq!(ticks(stat), Some(300));
        assert!(processor_time(std::process::id()).is_some());
        assert_eq!(ticks("nothing"), None);
    }
}
