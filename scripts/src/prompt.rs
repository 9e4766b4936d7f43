//! A prompt: programs that come piece by piece, where each sees the variables and functions of those before it.
//!
//! ```text
//!   let c = methods("a.B::m(..)").before(counter());     kept: c
//!   fn half(x) { x / 2 }                                 kept: c, half
//!   half(c.hits()) + d                                   an error: nothing of it is kept, c and half are as they were
//!   half(c.hits())                                       21
//! ```
//!
//! **Invariant:** an input that fails changes nothing: not the variables, not the functions, not what is attached.

use crate::error::{PlanError, Stage};
use crate::limits;
use crate::link::{Before, Linked, Ready, Text};
use crate::plan::Plan;
use crate::scheduler::Session;
use crate::transcript::Transcript;
use rhai::{AST, Position, Scope};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// What stays from one input to the next.
#[derive(Debug, Default)]
pub struct Prompt {
    variables: Scope<'static>,
    /// A tree without statements.
    functions: AST,
    transcript: Transcript,
    /// What `unsafe_calls(…)` said last.
    calls: Arc<AtomicBool>,
    linked: Linked,
    /// Its modules, which have run.
    ready: Ready,
}

/// An input at a prompt.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The name of the file that it is the text of; none where it was typed.
    pub file: Option<&'a str>,
    /// Its text.
    pub text: &'a str,
    /// The modules that it may import: their texts by their paths; see [`crate::Plan::compile_with`].
    pub modules: &'a BTreeMap<String, String>,
    /// Only look: its value is shown, as a table of so many rows where it has one, and nothing else stays.
    pub look: Option<u32>,
}

/// What messages call what was typed.
pub const TYPED: &str = "shell";

impl Prompt {
    /// Runs an input under a load of its own (of [`Session::reserve`]), and gives its value as text; empty for `()`.
    ///
    /// # Errors
    /// What stopped it; everything is as it was before then. Also where the prompt has grown beyond the [`limits`].
    pub fn run(
        &mut self,
        session: &Session,
        load: u64,
        input: Input,
        now: Instant,
    ) -> Result<String, PlanError> {
        let (name, shown) = match input.file {
            Some(file) => (file, Some(1)),
            None => (TYPED, None),
        };
        // The newest value of each name: a `let` of a name that is there already hides it.
        let mut variables = self.variables.clone_visible();
        let text = Text {
            name,
            source: input.text,
            shown,
            modules: input.modules,
        };
        let plan = Plan::continuing(
            &text,
            &Before {
                transcript: &self.transcript,
                functions: &self.functions,
                variables: &variables,
                linked: &self.linked,
            },
        )?
        .sharing(&self.calls);
        let calls = self.calls.load(Ordering::Relaxed);
        let grown = plan.transcript().next_line() > limits::PROMPT_LINES
            || plan.transcript().bytes() > limits::PROMPT_BYTES;
        let functions = plan.tree().clone_functions_only();
        if grown || functions.iter_functions().count() > limits::FUNCTIONS {
            let message = format!(
                "this prompt is full: it keeps {} lines, {} bytes and {} functions at most; start another one",
                limits::PROMPT_LINES,
                limits::PROMPT_BYTES,
                limits::FUNCTIONS
            );
            let within = plan.transcript();
            return Err(PlanError::new(
                Stage::Limit,
                within,
                Position::NONE,
                message,
            ));
        }
        let (transcript, linked) = (plan.transcript().clone(), plan.linked().clone());
        let mut ready = self.ready.clone();
        let ran = session.run(load, plan, &mut variables, &mut ready, input.look, now);
        let value = ran.inspect_err(|_| self.calls.store(calls, Ordering::Relaxed))?;
        if input.look.is_some() {
            session.unload(load);
        } else {
            *self = Prompt {
                variables,
                functions,
                transcript,
                calls: self.calls.clone(),
                linked,
                ready,
            };
        }
        Ok(value)
    }
}
