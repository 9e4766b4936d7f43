//! The modules that have been evaluated.

use super::program::LinkedModules;
use parking_lot::Mutex;
use rhai::{Engine, EvalAltResult, Module, ModuleResolver, Position, Scope, Shared};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The evaluated modules, by their names in the engine.
pub(crate) type EvaluatedModules = BTreeMap<String, Shared<Module>>;

/// Resolves imports to evaluated modules. All clones share one set of modules.
#[derive(Clone, Default)]
pub(crate) struct ModuleRegistry(Arc<Mutex<EvaluatedModules>>);

impl ModuleRegistry {
    /// Returns the variable or constant of a module with this name. Functions are not found.
    pub(crate) fn value(&self, module: &str, name: &str) -> Option<rhai::Dynamic> {
        self.0.lock().get(module)?.get_var(name)
    }

    /// Returns all evaluated modules.
    pub(crate) fn evaluated(&self) -> EvaluatedModules {
        self.0.lock().clone()
    }

    fn add(&self, engine: &mut Engine, id: &str, module: Shared<Module>) {
        engine.register_static_module(id, module.clone());
        self.0.lock().insert(id.to_owned(), module);
    }

    /// Registers the modules with an engine. Modules that are not in `ready` are evaluated first.
    pub(crate) fn evaluate(
        &self,
        engine: &mut Engine,
        linked: &LinkedModules,
        ready: &EvaluatedModules,
    ) -> Result<(), Box<EvalAltResult>> {
        if linked.modules.is_empty() {
            return Ok(());
        }
        engine.set_module_resolver(self.clone());
        for read in &linked.modules {
            let constants = format!("{}_global", read.id);
            self.add(engine, &constants, Shared::new(read.constants.clone()));
            if let Some(module) = ready.get(&read.id) {
                self.add(engine, &read.id, module.clone());
                continue;
            }
            let mut scope = Scope::new();
            engine.run_ast_with_scope(&mut scope, &read.tree)?;
            let mut module = read.functions.clone();
            for (variable, name) in &read.exports {
                if let Some(value) = scope.get(variable) {
                    module.set_var(name.as_str(), value.flatten_clone());
                }
            }
            module.build_index();
            self.add(engine, &read.id, Shared::new(module));
        }
        Ok(())
    }
}

impl ModuleResolver for ModuleRegistry {
    fn resolve(
        &self,
        _: &Engine,
        _: Option<&str>,
        path: &str,
        position: Position,
    ) -> Result<Shared<Module>, Box<EvalAltResult>> {
        let module = self.0.lock().get(path).cloned();
        module.ok_or_else(|| EvalAltResult::ErrorModuleNotFound(path.to_owned(), position).into())
    }
}
