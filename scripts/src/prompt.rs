//! A prompt: a sequence of inputs that share variables and functions.
//!
//! ```text
//!   let c = methods("a.B::m(..)").before(counter());     keeps c
//!   fn half(x) { x / 2 }                                 keeps c and half
//!   half(c.hits()) + d                                   an error: c and half are unchanged
//!   half(c.hits())                                       21
//! ```
//!
//! **Invariant:** an input that fails changes nothing: no variable, no function and no attached
//! instrument.

use crate::error::{PlanError, PlanStage};
use crate::limits;
use crate::link::{EvaluatedModules, ExistingState, InputText, LinkedModules};
use crate::plan::Plan;
use crate::scheduler::PlanSession;
use crate::source_map::SourceMap;
use rhai::{AST, Position, Scope};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use veneer_instruments::PlanInstanceId;

/// The state that a prompt keeps from one input to the next.
#[derive(Debug, Default)]
pub struct Prompt {
    variables: Scope<'static>,
    /// A syntax tree with functions only.
    functions: AST,
    source_map: SourceMap,
    /// The last value of `unsafe_calls(…)`.
    calls: Arc<AtomicBool>,
    linked: LinkedModules,
    /// The evaluated modules.
    ready: EvaluatedModules,
}

/// An input at a prompt.
#[derive(Clone, Copy, Debug)]
pub struct PromptInput<'a> {
    /// The file name, if the input is the content of a file; `None` for typed input.
    pub file: Option<&'a str>,
    /// The text of the input.
    pub text: &'a str,
    /// The source texts of the modules that the input may import, by path; see
    /// [`crate::Plan::compile_with`].
    pub modules: &'a BTreeMap<String, String>,
    /// If set, the input is only evaluated: its value is shown, as a table with this number of rows
    /// if it has one, and all other effects are undone.
    pub look: Option<u32>,
}

/// The file name of typed input in messages.
pub const PROMPT_PLAN_NAME: &str = "shell";

impl Prompt {
    /// Runs an input as a plan instance of its own (a number of [`PlanSession::reserve`]). Returns
    /// its value as text; empty for `()`.
    ///
    /// # Errors
    /// The error of the input. All state is then as before. Also fails if the prompt exceeds the
    /// [`limits`].
    pub fn run(
        &mut self,
        session: &PlanSession,
        instance: PlanInstanceId,
        input: PromptInput,
        now: Instant,
    ) -> Result<String, PlanError> {
        let (name, shown) = match input.file {
            Some(file) => (file, Some(1)),
            None => (PROMPT_PLAN_NAME, None),
        };
        // The scope keeps only the newest variable of each name, because a `let` hides older ones.
        let mut variables = self.variables.clone_visible();
        let text = InputText {
            name,
            source: input.text,
            shown,
            modules: input.modules,
        };
        let plan = Plan::compile_input(
            &text,
            &ExistingState {
                source_map: &self.source_map,
                functions: &self.functions,
                variables: &variables,
                linked: &self.linked,
            },
        )?
        .with_shared_calls(&self.calls);
        let calls = self.calls.load(Ordering::Relaxed);
        let grown = plan.source_map().next_line() > limits::MAX_LINES
            || plan.source_map().bytes() > limits::MAX_PROMPT_BYTES;
        let functions = plan.tree().clone_functions_only();
        if grown || functions.iter_functions().count() > limits::MAX_FUNCTIONS {
            let message = format!(
                "this prompt is full: it keeps {} lines, {} bytes and {} functions at most; start another one",
                limits::MAX_LINES,
                limits::MAX_PROMPT_BYTES,
                limits::MAX_FUNCTIONS
            );
            let within = plan.source_map();
            return Err(PlanError::new(
                PlanStage::Limit,
                within,
                Position::NONE,
                message,
            ));
        }
        let (source_map, linked) = (plan.source_map().clone(), plan.program().clone());
        let mut ready = self.ready.clone();
        let ran = session.run(instance, plan, &mut variables, &mut ready, input.look, now);
        let value = ran.inspect_err(|_| self.calls.store(calls, Ordering::Relaxed))?;
        if input.look.is_some() {
            session.unload(instance);
        } else {
            *self = Prompt {
                variables,
                functions,
                source_map,
                calls: self.calls.clone(),
                linked,
                ready,
            };
        }
        Ok(value)
    }
}
