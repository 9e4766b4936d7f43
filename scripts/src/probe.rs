//! Converts a closure to a probe: from Rhai's syntax tree to that of `veneer_probes`.
//!
//! ```text
//!   .before(|p| if p.total > limit { slow.add(p.user.name, p.total) })
//!            │        │        │       └ a table of the plan
//!            │        │        └ a captured number, string or boolean
//!            │        └ a variable of the method at the point
//!            └ the point
//! ```
//!
//! The script engine never runs the closure. The values of captured variables are read once, when
//! the closure is attached.

mod expression;
mod names;
mod stack_operation;
mod statement;

pub(crate) use names::{CaptureScope, CapturedTable};

use names::{Binding, ProbeNames, ProbeResult, captured_binding, refuse};
use rhai::{AST, FnPtr, Position, Stmt};
use veneer_probes::tree::ProbeCode;

/// Converts a closure.
pub(crate) fn code(
    tree: &AST,
    closure: &FnPtr,
    environment: &CaptureScope,
) -> ProbeResult<ProbeCode> {
    let table = environment.table;
    let name = closure.fn_name();
    let library = tree.shared_lib();
    let Some(function) = library
        .iter_script_fn_info()
        .map(|(.., function)| function)
        .find(|function| function.name == name)
    else {
        return refuse(
            Position::NONE,
            format!("`{name}` is no closure of this plan: write |p| …"),
        );
    };
    let given = closure.curry().len();
    let mut bindings = Vec::new();
    for (parameter, value) in function.params.iter().zip(closure.curry()) {
        bindings.push((parameter.to_string(), captured_binding(value, table)));
    }
    match &function.params[given.min(function.params.len())..] {
        [] => {}
        [point] => bindings.push((point.to_string(), Binding::Point)),
        _ => {
            return refuse(
                Position::NONE,
                "a closure at a point has one parameter, the point: write |p| …",
            );
        }
    }
    // `clone_functions_only_filtered` would keep all functions if the tree had none before.
    let mut alone = tree.clone_functions_only();
    alone.retain_functions(|_, _, other, _| other == name);
    let mut body: Vec<Stmt> = Vec::new();
    alone.walk(&mut |path| {
        if let [rhai::ASTNode::Stmt(one)] = path {
            body.push((*one).clone());
        }
        true
    });
    let mut names = ProbeNames {
        bindings,
        environment,
    };
    let body = names.block(&body)?;
    Ok(ProbeCode { body })
}
