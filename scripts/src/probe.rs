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
mod statement;

use crate::source_map::SourceMap;
use expression::Binding;
use rhai::{AST, Dynamic, FnPtr, INT, ImmutableString, Position, Stmt};
use veneer_instruments::TallyKind;
use veneer_probes::tree::{Code, Shape};

/// The reason why a closure has no compiled form, with its position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refused {
    pub(crate) position: Position,
    pub(crate) message: String,
}

type ProbeResult<T> = Result<T, Refused>;

fn refuse<T>(position: Position, message: impl Into<String>) -> ProbeResult<T> {
    let message = message.into();
    Err(Refused { position, message })
}

/// The environment of a closure.
pub(crate) struct Environment<'a> {
    /// Returns the number and kind of the table, if a value of the plan is a table.
    pub(crate) table: &'a dyn Fn(&Dynamic) -> Option<(u32, TallyKind)>,
    /// Returns the value that a module has under a name.
    pub(crate) constant: &'a dyn Fn(&str, &str) -> Option<Dynamic>,
    /// The source texts of the plan.
    pub(crate) source_map: &'a SourceMap,
    /// Whether the closure may call methods of the application.
    pub(crate) calls: bool,
}

/// Converts a closure.
pub(crate) fn code(tree: &AST, closure: &FnPtr, environment: &Environment) -> ProbeResult<Code> {
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
    let mut names = expression::Names {
        bindings,
        environment,
    };
    let body = names.block(&body)?;
    Ok(Code { body })
}

/// Returns the binding of a captured variable.
fn captured_binding(
    value: &Dynamic,
    table: &dyn Fn(&Dynamic) -> Option<(u32, TallyKind)>,
) -> Binding {
    let value = value.flatten_clone();
    if let Some((table, kind)) = table(&value) {
        return Binding::Table(table, kind);
    }
    let shape = if let Some(n) = value.clone().try_cast::<INT>() {
        Shape::Int(n)
    } else if let Some(x) = value.clone().try_cast::<f64>() {
        Shape::Float(x.into())
    } else if let Some(b) = value.clone().try_cast::<bool>() {
        Shape::Bool(b)
    } else if let Some(text) = value.clone().try_cast::<ImmutableString>() {
        Shape::Text(text.to_string())
    } else if value.is_unit() {
        Shape::Null
    } else {
        return Binding::Unsupported(value.type_name().to_string());
    };
    Binding::Constant(shape)
}
