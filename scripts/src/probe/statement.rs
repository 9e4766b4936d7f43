//! Converts statements.

use super::expression::PER_CALL_USAGE;
use super::names::{Binding, ProbeNames, ProbeResult, refuse};
use super::stack_operation::stack_operation;
use rhai::{ASTFlags, Expr, Stmt};
use veneer_probes::function::has_effect;
use veneer_probes::tree::{self, EventPart, ExprKind, Operator, Statement};

const UNUSED_VALUE: &str =
    "nothing happens with this value: give it to a table of the plan with .add(…) or .count(…)";

/// The part of an event that a function writes into the trace; `None` for another function.
fn event_part(function: &str) -> Option<EventPart> {
    EventPart::ALL
        .into_iter()
        .find(|part| part.function() == function)
}

/// How the function of a part is called.
fn event_usage(part: EventPart) -> String {
    let name = part.function();
    let with_value = match part {
        EventPart::End => String::new(),
        _ => format!(" or {name}(\"label\", value)"),
    };
    format!("write {name}(\"label\"){with_value}; the label is a text of the plan")
}

impl ProbeNames<'_> {
    /// Converts a block. Variables that the block declares are not visible after it.
    pub(super) fn block<'s>(
        &mut self,
        body: impl IntoIterator<Item = &'s Stmt>,
    ) -> ProbeResult<Vec<Statement>> {
        let before = self.bindings.len();
        let mut out = Vec::new();
        for one in body {
            self.statement(one, &mut out)?;
        }
        self.bindings.truncate(before);
        Ok(out)
    }

    fn statement(&mut self, one: &Stmt, out: &mut Vec<Statement>) -> ProbeResult<()> {
        let at = one.position();
        match one {
            Stmt::Noop(_) => {}
            Stmt::Var(v, flags, _) if !flags.contains(ASTFlags::EXPORTED) => {
                let value = self.value(&v.1)?;
                let name = v.0.name.to_string();
                self.bindings.push((name.clone(), Binding::Local));
                out.push(Statement::Let { name, value });
            }
            Stmt::Assignment(a) => {
                let Expr::Variable(v, ..) = &a.1.lhs else {
                    return refuse(
                        at,
                        "code at a point writes to no field and no element: only to variables of its own",
                    );
                };
                if self.find(&v.1) != Some(&Binding::Local) {
                    return refuse(
                        at,
                        format!(
                            "`{}` is no variable that this code declares: give values to a table of the plan with .add(…) or .count(…)",
                            v.1
                        ),
                    );
                }
                let name = v.1.to_string();
                let right = self.value(&a.1.rhs)?;
                let value = match a.0.get_op_assignment_info() {
                    None => right,
                    Some((.., text)) => {
                        let Some(operator) = Operator::from_symbol(text) else {
                            return refuse(at, format!("`{text}=` has no compiled form"));
                        };
                        let place = self.source_position(at);
                        let shape = ExprKind::Local(name.clone());
                        let left = tree::Expr { kind: shape, place };
                        let shape = ExprKind::Binary(operator, left.into(), right.into());
                        tree::Expr { kind: shape, place }
                    }
                };
                out.push(Statement::Assign { name, value });
            }
            Stmt::If(flow, _) => {
                let condition = self.value(&flow.expr)?;
                let then = self.block(flow.body.iter())?;
                let otherwise = self.block(flow.branch.iter())?;
                out.push(Statement::If {
                    condition,
                    then,
                    otherwise,
                });
            }
            Stmt::For(f, _) => {
                if f.1.is_some() {
                    return refuse(
                        at,
                        "a loop with a counter has no compiled form: count in a variable of its own",
                    );
                }
                let array = self.value(&f.2.expr)?;
                let name = f.0.name.to_string();
                let before = self.bindings.len();
                self.bindings.push((name.clone(), Binding::Local));
                let body = self.block(f.2.body.iter())?;
                self.bindings.truncate(before);
                out.push(Statement::For { name, array, body });
            }
            Stmt::Block(block) => {
                let shape = ExprKind::Bool(true);
                let place = self.source_position(at);
                out.push(Statement::If {
                    condition: tree::Expr { kind: shape, place },
                    then: self.block(block.iter())?,
                    otherwise: Vec::new(),
                });
            }
            Stmt::Return(None, flags, _) if !flags.contains(ASTFlags::BREAK) => {
                out.push(Statement::Return);
            }
            Stmt::Expr(e) => self.effect(e, out)?,
            Stmt::FnCall(call, _) => {
                if let Some(part) = event_part(&call.name) {
                    out.push(self.trace_event(part, &call.args, at)?);
                    return Ok(());
                }
                let value = self.call(call, None, at)?;
                return self.drop_value(&call.name, value, at, out);
            }
            Stmt::While(..) | Stmt::Do(..) => {
                return refuse(
                    at,
                    "a loop without end has no compiled form: for x in array { … } has one",
                );
            }
            Stmt::Return(..) => {
                return refuse(
                    at,
                    "code at a point has no result and throws nothing: write `return;`",
                );
            }
            _ => return refuse(at, "this has no compiled form"),
        }
        Ok(())
    }

    /// Converts `trace_event("label")` and `trace_event("label", value)`, and the same for the beginning and
    /// the end of a span. An end has no value.
    fn trace_event(
        &mut self,
        part: EventPart,
        arguments: &[Expr],
        at: rhai::Position,
    ) -> ProbeResult<Statement> {
        let (label, value) = match arguments {
            [label] => (label, None),
            [label, value] if part != EventPart::End => (label, Some(value)),
            _ => return refuse(at, event_usage(part)),
        };
        let ExprKind::Text(label) = self.value(label)?.kind else {
            return refuse(label.position(), event_usage(part));
        };
        Ok(Statement::TraceEvent {
            part,
            label,
            value: value.map(|value| self.value(value)).transpose()?,
        })
    }

    /// Converts a call whose value is not used, which is possible if the function has an effect.
    fn drop_value(
        &self,
        function: &str,
        value: tree::Expr,
        at: rhai::Position,
        out: &mut Vec<Statement>,
    ) -> ProbeResult<()> {
        if !has_effect(function) {
            return refuse(at, UNUSED_VALUE);
        }
        let name = " dropped".into();
        out.push(Statement::Let { name, value });
        Ok(())
    }

    /// Converts an expression that is used as a statement. The expression must have an effect.
    fn effect(&mut self, e: &Expr, out: &mut Vec<Statement>) -> ProbeResult<()> {
        match e {
            Expr::Unit(_) => return Ok(()),
            Expr::FnCall(call, _) if event_part(&call.name).is_some() => {
                if let Some(part) = event_part(&call.name) {
                    out.push(self.trace_event(part, &call.args, e.position())?);
                }
                return Ok(());
            }
            Expr::FnCall(call, _) if has_effect(&call.name) => {
                let value = self.value(e)?;
                return self.drop_value(&call.name, value, e.position(), out);
            }
            Expr::Stmt(block) => {
                out.extend(self.block(block.iter())?);
                return Ok(());
            }
            Expr::Dot(b, ..) if self.kept_stacks(&b.lhs).is_some() => {
                let (Some(stacks), Expr::MethodCall(call, _)) = (self.kept_stacks(&b.lhs), &b.rhs)
                else {
                    return refuse(e.position(), PER_CALL_USAGE);
                };
                match (&call.args[..], call.name.as_str()) {
                    ([value], "push") => {
                        let value = self.value(value)?;
                        out.push(Statement::Keep { stacks, value });
                        return Ok(());
                    }
                    // The value is dropped, because only the effect on the stack matters.
                    ([_], "pop") => {
                        let (name, value) = (" dropped".into(), self.value(e)?);
                        out.push(Statement::Let { name, value });
                        return Ok(());
                    }
                    _ => return refuse(e.position(), PER_CALL_USAGE),
                }
            }
            Expr::Dot(b, ..) => {
                if let (Expr::Variable(v, ..), Expr::MethodCall(call, _)) = (&b.lhs, &b.rhs)
                    && let Some(Binding::Table(table, kind)) = self.find(&v.1)
                {
                    let (table, kind) = (*table, *kind);
                    if let Some(operation) = stack_operation(&call.name, kind) {
                        // The value is dropped, because only the effect on the stack matters.
                        let (name, place) = (" dropped".into(), self.source_position(e.position()));
                        let shape = ExprKind::StackOperation {
                            table,
                            operation: operation.into(),
                        };
                        let value = tree::Expr { kind: shape, place };
                        out.push(Statement::Let { name, value });
                        return Ok(());
                    }
                    let operation = kind.operation(&call.name);
                    let operation =
                        operation.or_else(|error| refuse(e.position(), error.to_string()))?;
                    let values = call.args.iter().map(|a| self.value(a));
                    let values = values.collect::<ProbeResult<_>>()?;
                    let place = self.source_position(e.position());
                    out.push(Statement::UpdateTable {
                        table,
                        operation: operation.into(),
                        values,
                        place,
                    });
                    return Ok(());
                }
            }
            _ => {}
        }
        // Errors in the value itself are reported first.
        self.value(e)?;
        refuse(e.position(), UNUSED_VALUE)
    }
}
