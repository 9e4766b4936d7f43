//! The exports of a module: functions, constants and variables.

use rhai::{AST, ASTFlags, FnAccess, Module, Stmt};

/// Whether the name is one that the engine generates for a closure.
pub(super) fn is_closure(name: &str) -> bool {
    name.starts_with("anon$")
}

/// Returns the public functions of a module, under their original names.
pub(super) fn callable_functions(parsed: &AST, id: &str) -> Module {
    let mut module = Module::new();
    for function in parsed.iter_fn_def() {
        let plain = function
            .name
            .strip_prefix(id)
            .and_then(|n| n.strip_prefix('_'));
        if let (Some(plain), FnAccess::Public) = (plain, function.access) {
            let mut callable = (**function).clone();
            callable.name = plain.into();
            module.set_script_fn(callable);
        }
    }
    module
}

/// Returns the constants whose values are literals in the text.
pub(super) fn constants(parsed: &AST) -> Module {
    let mut module = Module::new();
    for (name, _, value) in parsed.iter_literal_variables(true, false) {
        module.set_var(name, value);
    }
    module.build_index();
    module
}

/// Returns the exported variables: the name in the module and the exported name.
pub(super) fn exports(parsed: &AST, id: &str) -> Vec<(String, String)> {
    let plain = |name: &str| {
        let rest = name.strip_prefix(id).and_then(|n| n.strip_prefix('_'));
        rest.unwrap_or(name).to_owned()
    };
    let export = |one: &Stmt| match one {
        Stmt::Var(variable, flags, _) if flags.contains(ASTFlags::EXPORTED) => {
            let name = variable.0.as_str();
            Some((name.to_owned(), plain(name)))
        }
        Stmt::Export(names, _) => {
            let (name, alias) = (names.0.as_str(), names.1.as_str());
            let alias = if alias.is_empty() { name } else { alias };
            Some((name.to_owned(), plain(alias)))
        }
        _ => None,
    };
    parsed.statements().iter().filter_map(export).collect()
}
