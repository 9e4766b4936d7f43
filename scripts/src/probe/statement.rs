//! Converts statements.

use super::expression::{Binding, Names};
use super::{ProbeResult, refuse};
use rhai::{ASTFlags, Expr, Stmt};
use veneer_instruments::TallyKind;
use veneer_probes::tree::{self, Operator, Shape, Statement};

const UNUSED_VALUE: &str =
    "nothing happens with this value: give it to a table of the plan with .add(…) or .count(…)";

impl Names<'_> {
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
                        let Some(operator) = Operator::of(text) else {
                            return refuse(at, format!("`{text}=` has no compiled form"));
                        };
                        let place = self.place(at);
                        let shape = Shape::Own(name.clone());
                        let left = tree::Expr { shape, place };
                        let shape = Shape::Binary(operator, left.into(), right.into());
                        tree::Expr { shape, place }
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
                let shape = Shape::Bool(true);
                let place = self.place(at);
                out.push(Statement::If {
                    condition: tree::Expr { shape, place },
                    then: self.block(block.iter())?,
                    otherwise: Vec::new(),
                });
            }
            Stmt::Return(None, flags, _) if !flags.contains(ASTFlags::BREAK) => {
                out.push(Statement::Return);
            }
            Stmt::Expr(e) => self.effect(e, out)?,
            Stmt::FnCall(call, _) => {
                // Errors in the arguments are reported first.
                self.call(call, None, at)?;
                return refuse(at, UNUSED_VALUE);
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

    /// Converts an expression that is used as a statement. The expression must have an effect.
    fn effect(&mut self, e: &Expr, out: &mut Vec<Statement>) -> ProbeResult<()> {
        match e {
            Expr::Unit(_) => return Ok(()),
            Expr::Stmt(block) => {
                out.extend(self.block(block.iter())?);
                return Ok(());
            }
            Expr::Dot(b, ..) => {
                if let (Expr::Variable(v, ..), Expr::MethodCall(call, _)) = (&b.lhs, &b.rhs)
                    && let Some(Binding::Table(table, kind)) = self.find(&v.1)
                {
                    let (table, kind) = (*table, *kind);
                    if let Some(operation) = stack_operation(&call.name, kind) {
                        // The value is dropped, because only the effect on the stack matters.
                        let (name, place) = (" dropped".into(), self.place(e.position()));
                        let shape = Shape::Stacked {
                            table,
                            operation: operation.into(),
                        };
                        let value = tree::Expr { shape, place };
                        out.push(Statement::Let { name, value });
                        return Ok(());
                    }
                    let operation = table_operation(&call.name, kind);
                    let operation = operation.or_else(|what| refuse(e.position(), what))?;
                    let values = call.args.iter().map(|a| self.value(a));
                    let values = values.collect::<ProbeResult<_>>()?;
                    let place = self.place(e.position());
                    out.push(Statement::Give {
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

/// The message for a wrong use of a `per_object(0)`.
pub(super) const PER_OBJECT_USAGE: &str =
    "a per_object(0) takes .set(object, value), and gives values with .get(object)";

/// Returns the name of the probe operation that reads a per-thread stack.
pub(super) fn stack_operation(operation: &str, kind: TallyKind) -> Option<&'static str> {
    match (operation, kind) {
        ("pop", TallyKind::Numbers) => Some("pop"),
        ("top", TallyKind::Numbers) => Some("top"),
        ("pop", TallyKind::Objects) => Some("take"),
        ("top", TallyKind::Objects) => Some("peek"),
        _ => None,
    }
}

/// Returns the name of the probe operation that updates a table of this kind.
fn table_operation(name: &str, kind: TallyKind) -> Result<&'static str, String> {
    use TallyKind::*;
    let wrong = match (name, kind) {
        ("set", PerObject) => return Ok("set"),
        (_, PerObject) => PER_OBJECT_USAGE,
        ("push", Numbers) => return Ok("push"),
        ("push", Objects) => return Ok("keep"),
        (_, kind) if kind.is_stack() => "a per_thread(…) takes .push(value), .pop() and .top()",
        ("count", Count | Sums | Histogram | Linear(_)) => return Ok("count"),
        ("count", Rate) => return Ok("count_rate"),
        ("count", Top) => return Ok("count_top"),
        ("add", Sums | Histogram) => return Ok("add"),
        ("add", Linear(_)) => return Ok("add_linear"),
        ("add", Distinct) => return Ok("add_distinct"),
        ("put", Last) => return Ok("put"),
        ("put", Sample) => return Ok("put_sample"),
        ("count", Distinct) => "a distinct() counts different values: write .add(key, …, value)",
        ("count" | "add", Last) => "a last(n) keeps the values themselves: write .put(value, …)",
        ("count" | "add", Sample) => {
            "a sample(n) keeps the values themselves: write .put(value, …)"
        }
        ("add", Count) => "a tally() only counts: make the table with sums() or histogram()",
        ("add", Rate) => "a rate() only counts: write .count(key, …)",
        ("add", Top) => "a top(k) only counts: write .count(key, …)",
        ("put", _) => {
            "a table with keys takes .count(key, …) or .add(key, …, value); .put(…) is for last(n) and sample(n)"
        }
        (other, _) => {
            return Err(format!(
                "a table takes no `.{other}(…)` in code at a point: there are .count(key, …), .add(key, …, value) and .put(value, …)"
            ));
        }
    };
    Err(wrong.into())
}
