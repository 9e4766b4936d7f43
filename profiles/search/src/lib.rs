//! Search for the bottlenecks of a running program: where it spends its time, why, when, and in
//! which threads.
//!
//! ```text
//!                 observations                          requests
//!   driver ──────────────────────────▶  Search  ──────────────────────▶ driver
//!            stacks, readings, callees             attach, detach, sample, callees
//!            end of a window
//!                                          │
//!                                          ▼
//!                       Outcome: findings, ruled out, not looked at, cost
//!                       as JSON (schema 1), sentences, a text tree, DOT, SVG,
//!                       the coloured call graph as data
//! ```
//!
//! The crate has no clock, no thread, no input and no output. A live driver, a replay of recorded
//! observations and the simulator of the tests drive it alike, and equal observations give equal
//! requests.
//!
//! **Hypotheses.** A hypothesis says that a place takes more than a threshold (5 %) of the active
//! time. Places are methods, loops and blocks; causes and thread groups refine them. The time of
//! idle threads, which wait for work, is not active. A probe is attached for a hypothesis only if the
//! one above it holds, except for *deep starters*: methods that stack samples name, wherever they
//! are.
//!
//! **Decisions.** In each window of a few hundredths of a second, a probe or the stack samples give
//! the share of a place. A sequential test by [betting] decides when these shares are enough. The
//! probability that a search ever reports a place below the threshold is at most 5 %. A decision
//! that rules out a place above the threshold has the same probability. Both rates are settings, and
//! both have one premise: given the past, the expected share of the next [batch] of windows is on
//! the same side of the threshold as the place's mean. A phase that is longer than a batch violates
//! the premise. Therefore all decisions are tested again in each epoch, and each finding names the
//! period in which it held.
//!
//! **Cost.** All instruments together stay below a ceiling (2 %); see [budget].

pub mod batch;
pub mod betting;
pub mod budget;
mod call_graph;
mod call_lines;
mod candidate;
pub mod cause;
pub mod coloured_graph;
mod facts;
mod hypothesis;
pub mod locality;
pub mod observation;
pub mod outcome;
pub mod picture;
pub mod place;
pub mod record;
pub mod replay;
pub mod request;
mod search;
pub mod sentence;
pub mod settings;
pub mod share;
pub mod share_test;
mod svg;
mod tally;

pub use search::Search;
