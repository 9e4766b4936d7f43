//! A closure as code at a point: Rhai's tree of it becomes that of `veneer_probes`.
//!
//! ```text
//!   .before(|p| if p.total > limit { slow.add(p.user.name, p.total) })
//!            │        │        │       └ a table of the plan
//!            │        │        └ a number, a string or a boolean that the plan had when it attached the closure
//!            │        └ a variable of the method at the point
//!            └ the point
//! ```
//!
//! The closure never runs in the engine. What it captures is looked at once, when it is attached.

mod expression;
mod statement;

use crate::transcript::Transcript;
use expression::Binding;
use rhai::{AST, Dynamic, FnPtr, INT, ImmutableString, Position, Stmt};
use veneer_instruments::TallyKind;
use veneer_probes::tree::{Code, Shape};

/// Why a closure has no compiled form, and where.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refused {
    pub(crate) position: Position,
    pub(crate) message: String,
}

type Answer<T> = Result<T, Refused>;

fn refuse<T>(position: Position, message: impl Into<String>) -> Answer<T> {
    let message = message.into();
    Err(Refused { position, message })
}

/// What a closure can see besides itself.
pub(crate) struct Around<'a> {
    /// The number and kind of what the plan holds for a table, where it is one.
    pub(crate) table: &'a dyn Fn(&Dynamic) -> Option<(u32, TallyKind)>,
    /// What a module has under a name.
    pub(crate) constant: &'a dyn Fn(&str, &str) -> Option<Dynamic>,
    /// The texts that places lead to.
    pub(crate) transcript: &'a Transcript,
    /// Whether it may call methods of the application.
    pub(crate) calls: bool,
}

/// The code of a closure.
pub(crate) fn code(tree: &AST, closure: &FnPtr, around: &Around) -> Answer<Code> {
    let table = around.table;
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
        bindings.push((parameter.to_string(), captured(value, table)));
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
    // Not `clone_functions_only_filtered`, which keeps all functions where there were none before.
    let mut alone = tree.clone_functions_only();
    alone.retain_functions(|_, _, other, _| other == name);
    let mut body: Vec<Stmt> = Vec::new();
    alone.walk(&mut |path| {
        if let [rhai::ASTNode::Stmt(one)] = path {
            body.push((*one).clone());
        }
        true
    });
    let mut names = expression::Names { bindings, around };
    let body = names.block(&body)?;
    Ok(Code { body })
}

/// What a captured variable is to a probe.
fn captured(value: &Dynamic, table: &dyn Fn(&Dynamic) -> Option<(u32, TallyKind)>) -> Binding {
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
        return Binding::Other(value.type_name().to_string());
    };
    Binding::Constant(shape)
}
