//! A plan that has been parsed.

use crate::error::PlanError;
use crate::link::{self, ExistingState, InputText, LinkedModules, LinkedProgram};
use crate::source_map::SourceMap;
use rhai::{AST, Scope};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A plan: its name, source texts and syntax tree. Parsing a plan runs no code.
#[derive(Clone, Debug)]
pub struct Plan {
    program: LinkedProgram,
    params: BTreeMap<String, String>,
    /// At a prompt, the value of `unsafe_calls(…)`, which all inputs share.
    calls: Option<Arc<AtomicBool>>,
}

impl Plan {
    /// Parses a plan without imports. `name` is the plan's file name, which messages show.
    ///
    /// # Errors
    /// The first syntax error, or a variable that was never declared.
    pub fn compile(name: &str, source: &str) -> Result<Self, PlanError> {
        Self::compile_with(name, source, &BTreeMap::new())
    }

    /// Parses a plan and the modules that it imports. `modules` has the source texts of the modules
    /// by their paths from the plan's directory, without `.rhai`; see [`crate::modules`].
    ///
    /// # Errors
    /// * a syntax error, or a variable that was never declared, in any of the texts;
    /// * an import of a module that is not in `modules`;
    /// * a circular import;
    /// * too many modules.
    pub fn compile_with(
        name: &str,
        source: &str,
        modules: &BTreeMap<String, String>,
    ) -> Result<Self, PlanError> {
        let text = InputText {
            name,
            source,
            shown: Some(1),
            modules,
        };
        Self::compile_input(
            &text,
            &ExistingState {
                source_map: &SourceMap::default(),
                functions: &AST::empty(),
                variables: &Scope::new(),
                linked: &LinkedModules::default(),
            },
        )
    }

    /// Parses a text that may use existing functions, variables and modules.
    pub(crate) fn compile_input(
        text: &InputText,
        before: &ExistingState,
    ) -> Result<Self, PlanError> {
        Ok(Plan {
            program: link::link(text, before)?,
            params: BTreeMap::new(),
            calls: None,
        })
    }

    /// Makes the plan share the value of `unsafe_calls(…)` with the other inputs of a prompt.
    pub(crate) fn with_shared_calls(mut self, calls: &Arc<AtomicBool>) -> Self {
        self.calls = Some(calls.clone());
        self
    }

    /// Returns the plan with values for its `param(…)` calls, by name.
    #[must_use]
    pub fn with_params(mut self, params: BTreeMap<String, String>) -> Self {
        self.params = params;
        self
    }

    /// The plan's file name.
    pub fn name(&self) -> &str {
        self.program.source_map.name()
    }

    /// The plan's source text.
    pub fn source(&self) -> &str {
        self.program.source_map.text()
    }

    pub(crate) fn source_map(&self) -> &SourceMap {
        &self.program.source_map
    }

    pub(crate) fn params(&self) -> &BTreeMap<String, String> {
        &self.params
    }

    /// The value of `unsafe_calls(…)`: initially false, but at a prompt the value that earlier
    /// inputs have set.
    pub(crate) fn calls(&self) -> Arc<AtomicBool> {
        self.calls.clone().unwrap_or_default()
    }

    pub(crate) fn tree(&self) -> &AST {
        &self.program.tree
    }

    pub(crate) fn program(&self) -> &LinkedModules {
        &self.program.linked
    }
}
