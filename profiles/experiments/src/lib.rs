//! Experiments on a running program: whether a transformation makes it faster.
//!
//! ```text
//!              variant of the next window
//!   Judge ─────────────────────────────────────▶ driver: switches the program
//!     ▲                                             │
//!     └──── Window: seconds, progress ◀─────────────┘
//!     │
//!     ▼
//!   Decision: keep or take back, gain, interval
//! ```
//!
//! [`Prediction`] answers another question from windows: what a method's speed-up would gain.
//!
//! The crate has no clock, no thread, no input and no output, so a simulated program tests it.
//!
//! **Windows.** The windows of a *block* are A, B, B, A: without the transformation, with it, with it,
//! without. A load that rises or falls steadily during the block cancels out. The value of a block is
//! the logarithm of the ratio of the rates of progress.
//!
//! **Decision.** The median of the values is tested by a sign test, whose signs are bet on
//! ([`veneer_search::betting`]), so that the judge may look after each block and stop at any time. The
//! probability that a transformation without a gain is ever kept is at most [`Settings::false_keep`].
//! The only premise is that, without a gain, the value of the next block is positive with a probability
//! of at most a half, given the past. The size of a value does not matter, so a phase of the program
//! that begins within a block cannot mislead the test.

mod decision;
mod judge;
mod prediction;
mod report;

pub use decision::{Decision, Verdict};
pub use judge::{Judge, Settings, Variant, Window};
pub use prediction::{Prediction, SpeedupMeasurement};
pub use report::{SCHEMA, TuningArguments, TuningDecision, TuningReport, TuningWindow};
