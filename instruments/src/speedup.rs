//! Virtual speed-ups: what a program would do if some of its methods took less time.
//!
//! While a thread executes the selected methods, all other threads are delayed by a share of that time.
//! The delays are then subtracted from the measured time. The program behaves as if only the selected
//! methods had become faster (Curtsinger and Berger, Coz, SOSP 2015, section 2).

use crate::MethodPattern;
use serde::{Deserialize, Serialize};

/// The request for one virtual speed-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpeedupSpec {
    /// The patterns of the methods. Their callees belong to them.
    pub patterns: Vec<MethodPattern>,
    /// The part of their time that the methods are to save, from 0 to [`MAX_SPEEDUP_SHARE`]. With 0,
    /// no thread is delayed, and the window is the reference for others.
    pub share: f64,
    /// The longest time in seconds: the speed-up ends then, even if the plan does not end it.
    pub seconds: f64,
}

/// The largest share of a virtual speed-up.
pub const MAX_SPEEDUP_SHARE: f64 = 0.9;

/// The longest virtual speed-up in seconds.
pub const MAX_SPEEDUP_SECONDS: f64 = 10.0;

/// The number of a virtual speed-up, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SpeedupId(pub u64);

/// The measurement of a virtual speed-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpeedupWindow {
    /// The length in seconds of real time.
    pub seconds: f64,
    /// The delay in seconds that each other thread had to have. The virtual length is
    /// `seconds - delayed`.
    pub delayed: f64,
    /// The time that threads spent in the methods in seconds, summed over the threads. Waiting for
    /// other threads does not count.
    pub inside: f64,
    /// The number of times that the stacks of all threads were looked at.
    pub observations: u64,
    /// The time in seconds for which threads were stopped, summed over the threads.
    pub stopped: f64,
}
