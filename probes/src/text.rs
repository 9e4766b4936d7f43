//! Trees as text, in the syntax of plans, with parentheses around every operation.

use crate::tree::{Expr, ExprKind, ProbeCode, Statement};
use std::fmt;

impl fmt::Display for ProbeCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "|p| {{ {}}}", Body(&self.body))
    }
}

struct Body<'b>(&'b [Statement]);

impl fmt::Display for Body<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|one| write!(f, "{one} "))
    }
}

struct List<'l>(&'l [Expr]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, value) in self.0.iter().enumerate() {
            let comma = if n == 0 { "" } else { ", " };
            write!(f, "{comma}{value}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Let { name, value } => write!(f, "let {name} = {value};"),
            Self::Assign { name, value } => write!(f, "{name} = {value};"),
            Self::If {
                condition,
                then,
                otherwise,
            } => {
                write!(f, "if {condition} {{ {}}}", Body(then))?;
                match otherwise.as_slice() {
                    [] => Ok(()),
                    some => write!(f, " else {{ {}}}", Body(some)),
                }
            }
            Self::For { name, array, body } => {
                write!(f, "for {name} in {array} {{ {}}}", Body(body))
            }
            Self::UpdateTable {
                table,
                operation,
                values,
                ..
            } => write!(f, "t{table}.{operation}({});", List(values)),
            Self::Keep { stacks, value } => {
                write!(f, "t{}.keep({value});", stacks.numbers)
            }
            Self::TraceEvent { part, label, value } => match value {
                Some(value) => write!(f, "{}({label:?}, {value});", part.function()),
                None => write!(f, "{}({label:?});", part.function()),
            },
            Self::Return => f.write_str("return;"),
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Null => f.write_str("()"),
            ExprKind::Bool(b) => write!(f, "{b}"),
            ExprKind::Int(n) => write!(f, "{n}"),
            ExprKind::Float(x) => write!(f, "{:?}", x.get()),
            ExprKind::Text(text) => write!(f, "{text:?}"),
            ExprKind::Local(name) => f.write_str(name),
            ExprKind::MethodVariable(name) => write!(f, "p.{name}"),
            ExprKind::Field(of, name) => write!(f, "{of}.{name}"),
            ExprKind::Element(array, index) => write!(f, "{array}[{index}]"),
            ExprKind::Unary(operator, a) => write!(f, "({operator}{a})"),
            ExprKind::Binary(operator, a, b) => write!(f, "({a} {operator} {b})"),
            ExprKind::Call(name, values) => write!(f, "{name}({})", List(values)),
            ExprKind::Invoke(of, name, values) => write!(f, "{of}.{name}({})", List(values)),
            ExprKind::PerObjectValue { table, object } => write!(f, "t{table}.get({object})"),
            ExprKind::StackOperation { table, operation } => write!(f, "t{table}.{operation}()"),
            ExprKind::Kept { stacks, like } => write!(f, "t{}.kept({like})", stacks.numbers),
        }
    }
}
