//! The names that a closure can use, and the refusal of a closure.

use crate::source_map::SourceMap;
use rhai::{Dynamic, INT, ImmutableString, Position};
use veneer_instruments::TallyKind;
use veneer_probes::tree::{ExprKind, KeptStacks, SourcePosition};

/// The reason why a closure has no compiled form, with its position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UncompilableProbe {
    pub(crate) position: Position,
    pub(crate) message: String,
}

pub(super) type ProbeResult<T> = Result<T, UncompilableProbe>;

pub(super) fn refuse<T>(position: Position, message: impl Into<String>) -> ProbeResult<T> {
    let message = message.into();
    Err(UncompilableProbe { position, message })
}

/// The environment of a closure.
pub(crate) struct CaptureScope<'a> {
    /// Returns the table that a value of the plan is, if it is one.
    pub(crate) table: &'a dyn Fn(&Dynamic) -> Option<CapturedTable>,
    /// Returns the value that a module has under a name.
    pub(crate) constant: &'a dyn Fn(&str, &str) -> Option<Dynamic>,
    /// The source texts of the plan.
    pub(crate) source_map: &'a SourceMap,
    /// Whether the closure may call methods of the application.
    pub(crate) calls: bool,
}

/// A table that a closure captures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CapturedTable {
    /// One table, with its number and kind.
    One(u32, TallyKind),
    /// The two stacks of a `per_call()`.
    PerCall(KeptStacks),
}

/// The meaning of a name in a closure.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Binding {
    /// The parameter of the closure: the point.
    Point,
    /// A table of the plan, by number.
    Table(u32, TallyKind),
    /// The stacks of a `per_call()`.
    PerCall(KeptStacks),
    /// A captured value.
    Constant(ExprKind),
    /// A variable that the closure declares.
    Local,
    /// A value that no probe can use, by the name of its type.
    Unsupported(String),
}

/// The names that are visible, innermost last.
pub(super) struct ProbeNames<'a> {
    pub(super) bindings: Vec<(String, Binding)>,
    pub(super) environment: &'a CaptureScope<'a>,
}

impl ProbeNames<'_> {
    /// Converts a position of the engine to a line and column for messages.
    pub(super) fn source_position(&self, position: Position) -> SourcePosition {
        let small = |n: usize| u16::try_from(n).unwrap_or(0);
        let (_, line, _) = self.environment.source_map.locate(position);
        SourcePosition {
            line: small(line),
            column: small(position.position().unwrap_or(0)),
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<&Binding> {
        let found = self.bindings.iter().rev().find(|b| b.0 == name);
        found.map(|b| &b.1)
    }
}

/// Returns the binding of a captured variable.
pub(super) fn captured_binding(
    value: &Dynamic,
    table: &dyn Fn(&Dynamic) -> Option<CapturedTable>,
) -> Binding {
    let value = value.flatten_clone();
    match table(&value) {
        Some(CapturedTable::One(table, kind)) => return Binding::Table(table, kind),
        Some(CapturedTable::PerCall(stacks)) => return Binding::PerCall(stacks),
        None => {}
    }
    let shape = if let Some(n) = value.clone().try_cast::<INT>() {
        ExprKind::Int(n)
    } else if let Some(x) = value.clone().try_cast::<f64>() {
        ExprKind::Float(x.into())
    } else if let Some(b) = value.clone().try_cast::<bool>() {
        ExprKind::Bool(b)
    } else if let Some(text) = value.clone().try_cast::<ImmutableString>() {
        ExprKind::Text(text.to_string())
    } else if value.is_unit() {
        ExprKind::Null
    } else {
        return Binding::Unsupported(value.type_name().to_string());
    };
    Binding::Constant(shape)
}
