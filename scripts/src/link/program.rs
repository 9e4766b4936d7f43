//! The input and the result of the linker.

use crate::source_map::SourceMap;
use rhai::{AST, Module, Scope};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A module that has been parsed.
#[derive(Debug)]
pub(crate) struct ParsedModule {
    /// The path from the plan's directory.
    pub(super) key: String,
    pub(super) text: String,
    /// The module's name in the engine.
    pub(super) id: String,
    /// The program to run: the module's statements, with all functions that they may call.
    pub(super) tree: AST,
    /// The functions that importers may call.
    pub(super) functions: Module,
    /// The constants that the module's text refers to as `global::NAME`.
    pub(super) constants: Module,
    /// The exported variables: the name in the module and the exported name.
    pub(super) exports: Vec<(String, String)>,
}

/// The modules of a plan, or of all inputs of a prompt so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkedModules {
    /// The modules in the order in which they run.
    pub(super) modules: Vec<Arc<ParsedModule>>,
    /// The aliases in the plan's own text, with the engine's names.
    pub(super) aliases: BTreeMap<String, String>,
}

impl LinkedModules {
    /// Returns the engine's names of the modules.
    pub(super) fn ids(&self) -> impl Iterator<Item = String> {
        self.modules.iter().map(|module| module.id.clone())
    }
}

/// The state that exists when a text is parsed.
pub(crate) struct ExistingState<'a> {
    pub(crate) source_map: &'a SourceMap,
    pub(crate) functions: &'a AST,
    pub(crate) variables: &'a Scope<'static>,
    pub(crate) linked: &'a LinkedModules,
}

/// A source text with the modules that it may import.
pub(crate) struct InputText<'a> {
    /// The file name. Modules are in the same directory.
    pub(crate) name: &'a str,
    pub(crate) source: &'a str,
    /// The line number of the first line in messages. `None` continues the numbers of the previous
    /// texts.
    pub(crate) shown: Option<usize>,
    /// The source texts of the modules, by path.
    pub(crate) modules: &'a BTreeMap<String, String>,
}

/// A linked program.
#[derive(Clone, Debug)]
pub(crate) struct LinkedProgram {
    pub(crate) source_map: SourceMap,
    pub(crate) tree: AST,
    pub(crate) linked: LinkedModules,
}
