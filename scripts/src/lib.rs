//! Plans: Rhai scripts that attach instruments to a running program and react to time and to data.
//!
//! ```text
//!   source ──Plan::compile──► Plan ──Session::load──► runs top to bottom once
//!                                                        │ methods(…).blocks().before(counter())
//!                                                        │      └──► Runtime::attach
//!                                                        │ every(1.0, || …)   at_exit(|| …)
//!                                                        ▼      └──► the session's timers
//!            Session::next_deadline / run_due / finish, called by the agent's plan thread
//! ```
//!
//! A plan runs on the plan thread, never on an application thread, within the limits in [`limits`].
//! An error in a plan becomes a [`PlanError`] or a printed line and has no effect on the
//! application.
//!
//! The directory `api/` defines the functions that a plan can call, one noun per file.
//! `docs/plans.md` is the guide for users.

mod api;
mod callback_failures;
mod component;
mod context;
mod engine;
mod error;
mod event_listeners;
mod json;
pub mod limits;
mod link;
pub mod modules;
mod ownership;
mod params;
mod parser_engine;
mod plan;
mod probe;
mod prompt;
mod reference;
mod running_plan;
mod scheduler;
mod source_map;

pub use component::{Analysis, AnalysisError, Component};
pub use error::{PlanError, PlanStage};
pub use ownership::Attachment;
pub use plan::Plan;
pub use prompt::{PROMPT_PLAN_NAME, Prompt, PromptInput};
pub use reference::{Callable, callables, help, nearest_name, overview, reference};
pub use scheduler::{PlanSession, RemainingWork};
