//! A plan that has been read.

use crate::error::PlanError;
use crate::link::{self, Before, Linked, Program, Text};
use crate::rehearsal;
use crate::transcript::Transcript;
use rhai::{AST, Scope};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The name, source and syntax tree of a plan. Reading one runs nothing.
#[derive(Clone, Debug)]
pub struct Plan {
    program: Program,
    settings: BTreeMap<String, String>,
    /// What `unsafe_calls(…)` says at the prompt that it is an input of.
    calls: Option<Arc<AtomicBool>>,
}

impl Plan {
    /// Reads a plan that imports nothing. `name` is what messages call it: its file name.
    ///
    /// # Errors
    /// The first error of syntax, or a variable that was never declared.
    pub fn compile(name: &str, source: &str) -> Result<Self, PlanError> {
        Self::compile_with(name, source, &BTreeMap::new())
    }

    /// Reads a plan and the modules that it imports: their texts by their paths from the plan's directory, without `.rhai`; see
    /// [`crate::modules`].
    ///
    /// # Errors
    /// The first error of syntax in any of them, a variable that was never declared, an import of what did not come along, modules
    /// that import each other in a circle, or too many of them.
    pub fn compile_with(
        name: &str,
        source: &str,
        modules: &BTreeMap<String, String>,
    ) -> Result<Self, PlanError> {
        let text = Text {
            name,
            source,
            shown: Some(1),
            modules,
        };
        Self::continuing(
            &text,
            &Before {
                transcript: &Transcript::default(),
                functions: &AST::empty(),
                variables: &Scope::new(),
                linked: &Linked::default(),
            },
        )
    }

    /// Reads a text that may use functions, variables and modules that are there already.
    pub(crate) fn continuing(text: &Text, before: &Before) -> Result<Self, PlanError> {
        Ok(Plan {
            program: link::read(text, before)?,
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
        self.program.transcript.name()
    }

    /// Its text.
    pub fn source(&self) -> &str {
        self.program.transcript.text()
    }

    pub(crate) fn transcript(&self) -> &Transcript {
        &self.program.transcript
    }

    pub(crate) fn settings(&self) -> &BTreeMap<String, String> {
        &self.settings
    }

    /// Where `unsafe_calls(…)` is kept: off at the beginning, at a prompt as it was.
    pub(crate) fn calls(&self) -> Arc<AtomicBool> {
        self.calls.clone().unwrap_or_default()
    }

    pub(crate) fn tree(&self) -> &AST {
        &self.program.tree
    }

    pub(crate) fn linked(&self) -> &Linked {
        &self.program.linked
    }
}
