//! A plan that has been read.

use crate::engine;
use crate::error::PlanError;
use crate::rehearsal;
use crate::transcript::Transcript;
use rhai::{AST, Scope};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The name, source and syntax tree of a plan. Reading one runs nothing.
#[derive(Clone, Debug)]
pub struct Plan {
    transcript: Transcript,
    tree: AST,
    settings: BTreeMap<String, String>,
    /// What `unsafe_calls(…)` says at the prompt that it is an input of.
    calls: Option<Arc<AtomicBool>>,
}

impl Plan {
    /// Reads a plan. `name` is what messages call it: its file name.
    ///
    /// # Errors
    /// The first error of syntax, or a variable that was never declared.
    pub fn compile(name: &str, source: &str) -> Result<Self, PlanError> {
        Self::continuing(Transcript::of(name, source), &AST::empty(), &Scope::new())
    }

    /// Reads the newest text of a transcript, which may use functions and variables that are there already.
    pub(crate) fn continuing(
        transcript: Transcript,
        functions: &AST,
        variables: &Scope,
    ) -> Result<Self, PlanError> {
        let tree = engine::for_reading()
            .compile_with_scope(variables, transcript.in_place())
            .map_err(|error| PlanError::compile(&transcript, &error))?;
        Ok(Plan {
            tree: functions.merge(&tree),
            transcript,
            settings: BTreeMap::new(),
            calls: None,
        })
    }

    /// The same at a prompt, whose inputs share what `unsafe_calls(…)` says.
    pub(crate) fn sharing(mut self, calls: &Arc<AtomicBool>) -> Self {
        self.calls = Some(calls.clone());
        self
    }

    /// The same with values for its `param(…)`, by name.
    #[must_use]
    pub fn with(mut self, settings: BTreeMap<String, String>) -> Self {
        self.settings = settings;
        self
    }

    /// Runs the plan's top level where there is no JVM: everything can be attached and nothing was measured.
    /// Finds misspelt functions, wrong arguments and malformed patterns before the application starts. A top
    /// level that needs figures or ids of other plans (`h.rows()[0]`, `detach("i7")`) fails here.
    ///
    /// # Errors
    /// What loading the plan into a JVM would give too.
    pub fn rehearse(&self) -> Result<(), PlanError> {
        rehearsal::rehearse(self)
    }

    /// The plan's file name.
    pub fn name(&self) -> &str {
        self.transcript.name()
    }

    /// Its text.
    pub fn source(&self) -> &str {
        self.transcript.text()
    }

    pub(crate) fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    pub(crate) fn settings(&self) -> &BTreeMap<String, String> {
        &self.settings
    }

    /// Where `unsafe_calls(…)` is kept: off at the beginning, at a prompt as it was.
    pub(crate) fn calls(&self) -> Arc<AtomicBool> {
        self.calls.clone().unwrap_or_default()
    }

    pub(crate) fn tree(&self) -> &AST {
        &self.tree
    }
}
