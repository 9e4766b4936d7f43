//! Converts expressions.

use super::names::{Binding, ProbeNames, ProbeResult, captured_binding, refuse};
use super::stack_operation::stack_operation;
use rhai::{ASTFlags, Expr, FnCallExpr, Position};
use veneer_instruments::{PER_OBJECT_USAGE, TallyKind};
use veneer_probes::function;
use veneer_probes::tree::{self, ExprKind, KeptStacks, Operator};

/// The message for a wrong use of a `per_call()`.
pub(super) const PER_CALL_USAGE: &str = "a per_call() takes .push(value) at the entry of a method, and gives the value with .pop(value) at its exits";

const STACK_USAGE: &str = "a per_thread(…) gives values with .pop() and .top()";

impl ProbeNames<'_> {
    /// Converts an expression.
    pub(super) fn value(&self, e: &Expr) -> ProbeResult<tree::Expr> {
        let at = e.position();
        let shape = match e {
            Expr::BoolConstant(b, _) => ExprKind::Bool(*b),
            Expr::IntegerConstant(n, _) => ExprKind::Int(*n),
            Expr::FloatConstant(x, _) => ExprKind::Float((**x).into()),
            Expr::CharConstant(c, _) => ExprKind::Int(i64::from(u32::from(*c))),
            Expr::StringConstant(text, _) => ExprKind::Text(text.to_string()),
            Expr::Unit(_) => ExprKind::Null,
            Expr::Variable(v, ..) if !v.2.is_empty() => {
                let constant = (self.environment.constant)(v.2.root(), v.1.as_str());
                let found = constant.map(|value| captured_binding(&value, self.environment.table));
                let Some(Binding::Constant(shape)) = found else {
                    return refuse(
                        at,
                        format!(
                            "`{}::{}` is nothing that code at a point can use: only numbers, strings and booleans of a module; for others write `let x = {0}::{1};` before it",
                            v.2.root(),
                            v.1
                        ),
                    );
                };
                shape
            }
            Expr::Variable(v, ..) => match self.find(&v.1) {
                Some(Binding::Constant(shape)) => shape.clone(),
                Some(Binding::Local) => ExprKind::Local(v.1.to_string()),
                Some(Binding::Point) => {
                    return refuse(
                        at,
                        format!(
                            "`{0}` is the point: write {0}.name for a variable of the method",
                            v.1
                        ),
                    );
                }
                Some(Binding::Table(..)) => {
                    return refuse(
                        at,
                        format!(
                            "`{}` is a table: give it values with .count(…), .add(…) or .put(…)",
                            v.1
                        ),
                    );
                }
                Some(Binding::PerCall(_)) => return refuse(at, PER_CALL_USAGE),
                Some(Binding::Unsupported(ty)) => {
                    return refuse(
                        at,
                        format!(
                            "`{}` is {ty}, which code at a point cannot use: only numbers, strings, booleans and tables of the plan",
                            v.1
                        ),
                    );
                }
                None => return refuse(at, format!("no variable `{}`", v.1)),
            },
            Expr::And(all, _) => return self.fold_operator(Operator::And, all, at),
            Expr::Or(all, _) => return self.fold_operator(Operator::Or, all, at),
            Expr::FnCall(call, _) => return self.call(call, None, at),
            Expr::Dot(b, flags, _) if self.is_point(&b.lhs) => {
                return self.access_chain(None, &b.rhs, false, flags.contains(ASTFlags::BREAK), at);
            }
            Expr::Dot(b, ..) if self.kept_stacks(&b.lhs).is_some() => {
                return self.kept(&b.lhs, &b.rhs, at);
            }
            Expr::Dot(b, flags, _) if self.is_own(&b.lhs) => {
                return self.stack_read(&b.lhs, &b.rhs, flags.contains(ASTFlags::BREAK), at);
            }
            Expr::Dot(b, flags, _) => {
                let base = self.value(&b.lhs)?;
                return self.access_chain(
                    Some(base),
                    &b.rhs,
                    false,
                    flags.contains(ASTFlags::BREAK),
                    at,
                );
            }
            Expr::Index(b, flags, _) if self.is_point(&b.lhs) => {
                return self.access_chain(None, &b.rhs, true, flags.contains(ASTFlags::BREAK), at);
            }
            Expr::Index(b, flags, _) => {
                let base = self.value(&b.lhs)?;
                return self.access_chain(
                    Some(base),
                    &b.rhs,
                    true,
                    flags.contains(ASTFlags::BREAK),
                    at,
                );
            }
            Expr::InterpolatedString(..) => {
                return refuse(
                    at,
                    "code at a point makes no strings: give the parts to the table one by one",
                );
            }
            Expr::Array(..) | Expr::Map(..) | Expr::DynamicConstant(..) => {
                return refuse(at, "code at a point makes no arrays and no maps");
            }
            Expr::Coalesce(..) => {
                return refuse(at, "`??` has no compiled form: compare with () and use if");
            }
            Expr::Stmt(_) => {
                return refuse(
                    at,
                    "`if` as a value has no compiled form: declare a variable and assign it in both branches",
                );
            }
            _ => return refuse(at, "this has no compiled form"),
        };
        let place = self.source_position(at);
        Ok(tree::Expr { kind: shape, place })
    }

    fn is_point(&self, e: &Expr) -> bool {
        matches!(e, Expr::Variable(v, ..) if self.find(&v.1) == Some(&Binding::Point))
    }

    /// Returns the stacks of a `per_call()`, if the expression is its name.
    pub(super) fn kept_stacks(&self, e: &Expr) -> Option<KeptStacks> {
        match e {
            Expr::Variable(v, ..) => match self.find(&v.1) {
                Some(Binding::PerCall(stacks)) => Some(*stacks),
                _ => None,
            },
            _ => None,
        }
    }

    /// Converts `kept.pop(like)`. No access can follow, because a popped object has no known class.
    fn kept(&self, of: &Expr, rest: &Expr, at: Position) -> ProbeResult<tree::Expr> {
        let (Some(stacks), Expr::MethodCall(call, _)) = (self.kept_stacks(of), rest) else {
            return refuse(at, PER_CALL_USAGE);
        };
        let ([like], "pop") = (&call.args[..], call.name.as_str()) else {
            return refuse(at, PER_CALL_USAGE);
        };
        let like = self.value(like)?.into();
        let place = self.source_position(at);
        let kind = ExprKind::Kept { stacks, like };
        Ok(tree::Expr { kind, place })
    }

    fn is_own(&self, e: &Expr) -> bool {
        matches!(e, Expr::Variable(v, ..)
            if matches!(self.find(&v.1), Some(Binding::Table(_, kind)) if kind.is_probe_private()))
    }

    /// Converts `stack.pop()` and the accesses that follow it.
    fn stack_read(
        &self,
        of: &Expr,
        rest: &Expr,
        ends: bool,
        at: Position,
    ) -> ProbeResult<tree::Expr> {
        let table = match of {
            Expr::Variable(v, ..) => match self.find(&v.1) {
                Some(Binding::Table(table, kind)) => Some((*table, *kind)),
                _ => None,
            },
            _ => None,
        };
        let (link, rest_of_chain) = match rest {
            Expr::Dot(b, flags, _) if !ends => (&b.lhs, Some((&b.rhs, false, *flags))),
            Expr::Index(b, flags, _) if !ends => (&b.lhs, Some((&b.rhs, true, *flags))),
            other => (other, None),
        };
        let (Some((table, kind)), Expr::MethodCall(call, _)) = (table, link) else {
            return refuse(at, STACK_USAGE);
        };
        if kind == TallyKind::PerObject {
            // The result is an integer, so no access can follow.
            let ([object], "get", None) = (&call.args[..], call.name.as_str(), &rest_of_chain)
            else {
                return refuse(at, PER_OBJECT_USAGE);
            };
            let object = self.value(object)?.into();
            let shape = ExprKind::PerObjectValue { table, object };
            let place = self.source_position(at);
            return Ok(tree::Expr { kind: shape, place });
        }
        let Some(operation) = stack_operation(&call.name, kind).filter(|_| call.args.is_empty())
        else {
            return refuse(at, STACK_USAGE);
        };
        let shape = ExprKind::StackOperation {
            table,
            operation: operation.into(),
        };
        let base = tree::Expr {
            kind: shape,
            place: self.source_position(at),
        };
        match rest_of_chain {
            Some((rest, index, flags)) => {
                self.access_chain(Some(base), rest, index, flags.contains(ASTFlags::BREAK), at)
            }
            None => Ok(base),
        }
    }

    fn fold_operator(
        &self,
        operator: Operator,
        all: &[Expr],
        at: Position,
    ) -> ProbeResult<tree::Expr> {
        let mut values = all.iter().map(|e| self.value(e));
        let Some(first) = values.next() else {
            return refuse(at, "nothing to join");
        };
        values.try_fold(first?, |left, right| {
            Ok(tree::Expr {
                kind: ExprKind::Binary(operator, left.into(), right?.into()),
                place: self.source_position(at),
            })
        })
    }

    /// Converts the accesses after a value: `.name`, `[index]`, `.name(…)`, and so on. Rhai nests a
    /// chain of accesses to the right and marks its end. Without a base, the accesses are applied
    /// to the point.
    fn access_chain(
        &self,
        base: Option<tree::Expr>,
        rest: &Expr,
        index: bool,
        ends: bool,
        at: Position,
    ) -> ProbeResult<tree::Expr> {
        match rest {
            Expr::Dot(b, flags, _) if !ends => {
                let next = self.access(base, &b.lhs, index, at)?;
                self.access_chain(
                    Some(next),
                    &b.rhs,
                    false,
                    flags.contains(ASTFlags::BREAK),
                    at,
                )
            }
            Expr::Index(b, flags, _) if !ends => {
                let next = self.access(base, &b.lhs, index, at)?;
                self.access_chain(
                    Some(next),
                    &b.rhs,
                    true,
                    flags.contains(ASTFlags::BREAK),
                    at,
                )
            }
            other => self.access(base, other, index, at),
        }
    }

    fn access(
        &self,
        base: Option<tree::Expr>,
        link: &Expr,
        index: bool,
        at: Position,
    ) -> ProbeResult<tree::Expr> {
        let position = if link.position().is_none() {
            at
        } else {
            link.position()
        };
        let shape = match (base, link) {
            // `p["match"]` and `p.order["new"]` are for names that are keywords of Rhai.
            (None, Expr::StringConstant(name, _)) if index => {
                ExprKind::MethodVariable(name.to_string())
            }
            (Some(base), Expr::StringConstant(name, _)) if index => {
                ExprKind::Field(base.into(), name.to_string())
            }
            // `p[name]`: the plan has the name in a variable.
            (None, Expr::Variable(v, ..))
                if index && let Some(Binding::Constant(ExprKind::Text(name))) = self.find(&v.1) =>
            {
                ExprKind::MethodVariable(name.clone())
            }
            (None, _) if index => {
                return refuse(
                    position,
                    "a point has variables and no elements: write p.name, or p[\"name\"]",
                );
            }
            (Some(base), index_of) if index => {
                ExprKind::Element(base.into(), self.value(index_of)?.into())
            }
            (None, Expr::Property(p, _)) => ExprKind::MethodVariable(p.2.to_string()),
            (Some(base), Expr::Property(p, _)) => ExprKind::Field(base.into(), p.2.to_string()),
            (Some(base), Expr::MethodCall(call, _)) => {
                return self.call(call, Some(base), position);
            }
            (None, Expr::MethodCall(call, _)) => {
                return refuse(
                    position,
                    format!(
                        "a point has variables and no methods: write p.{} or {}(…)",
                        call.name, call.name
                    ),
                );
            }
            _ => return refuse(position, "this has no compiled form"),
        };
        let place = self.source_position(position);
        Ok(tree::Expr { kind: shape, place })
    }

    /// Converts operators and function calls. `receiver` is the first argument of `a.name(b)`.
    pub(super) fn call(
        &self,
        call: &FnCallExpr,
        receiver: Option<tree::Expr>,
        at: Position,
    ) -> ProbeResult<tree::Expr> {
        if call.is_qualified() {
            return refuse(
                at,
                format!(
                    "`{}`: code at a point calls no functions of modules",
                    call.name
                ),
            );
        }
        if let Some(of) = receiver {
            return self.method_call(of, call, at);
        }
        let mut values: Vec<tree::Expr> = Vec::new();
        for argument in &call.args {
            values.push(self.value(argument)?);
        }
        let shape = match (call.is_operator_call(), values.len()) {
            (true, 1) => {
                let operator = match call.name.as_str() {
                    "-" => Operator::Negate,
                    "!" => Operator::Not,
                    other => return refuse(at, format!("`{other}` has no compiled form")),
                };
                ExprKind::Unary(operator, values.remove(0).into())
            }
            (true, 2) => {
                let Some(operator) = Operator::from_symbol(&call.name) else {
                    return refuse(at, format!("`{}` has no compiled form", call.name));
                };
                let right = values.remove(1);
                ExprKind::Binary(operator, values.remove(0).into(), right.into())
            }
            _ => ExprKind::Call(
                self.environment.source_map.restore_names(&call.name),
                values,
            ),
        };
        let place = self.source_position(at);
        Ok(tree::Expr { kind: shape, place })
    }

    /// Converts `of.name(…)`: a function or, if the plan allows such calls, a method of the
    /// application.
    fn method_call(
        &self,
        of: tree::Expr,
        call: &FnCallExpr,
        at: Position,
    ) -> ProbeResult<tree::Expr> {
        let values = call.args.iter().map(|argument| self.value(argument));
        let mut values = values.collect::<ProbeResult<Vec<_>>>()?;
        let name = self.environment.source_map.restore_names(&call.name);
        let shape = if self.environment.calls {
            ExprKind::Invoke(of.into(), name, values)
        } else if function::exists(&name, 1 + values.len()) {
            values.insert(0, of);
            ExprKind::Call(name, values)
        } else {
            return refuse(
                at,
                format!(
                    "`{name}` has no compiled form here: there are {}. If it is a method of the object, the plan has to say before: \
                     unsafe_calls(true);",
                    function::names()
                ),
            );
        };
        let place = self.source_position(at);
        Ok(tree::Expr { kind: shape, place })
    }
}
