//! The processed profile format of the Firefox Profiler, version 55
//! (`docs-developer/CHANGELOG-formats.md` in `github.com/firefox-devtools/profiler`). The profiler
//! upgrades files of older versions when it loads them.
//!
//! ```text
//!   ProfileWriter::begin ──▶ thread(&Thread) ──▶ thread(&Thread) ──▶ finish
//! ```
//!
//! A [`Thread`] has weighted samples of stacks, and events. A profile is written thread by thread, so
//! only one of them is held in memory. The crate `fxprof-processed-profile` has the same format, but
//! only whole numbers as weights; self times in milliseconds need fractions.

mod document;
mod error;
mod thread;

pub use document::{Profile, ProfileWriter};
pub use error::FirefoxError;
pub use thread::{Category, FrameId, StackId, Thread, WeightUnit};
