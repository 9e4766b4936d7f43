//! Which probes tell of births and uses of objects, so that they need a recording of lifetimes.

use crate::function::{OBJECT_USED, TOLD_SITE};
use crate::tree::{Expr, ExprKind, ProbeCode, Statement};

/// Whether a probe tells of births or uses of objects.
pub fn follows_objects(code: &ProbeCode) -> bool {
    statements_follow_objects(&code.body)
}

fn statements_follow_objects(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::If {
            condition,
            then,
            otherwise,
        } => {
            value_follows_objects(condition)
                || statements_follow_objects(then)
                || statements_follow_objects(otherwise)
        }
        Statement::For { body, .. } => statements_follow_objects(body),
        Statement::Let { value, .. } | Statement::Assign { value, .. } => {
            value_follows_objects(value)
        }
        Statement::UpdateTable { values, .. } => values.iter().any(value_follows_objects),
        Statement::Keep { value, .. } => value_follows_objects(value),
        Statement::TraceEvent { value, .. } => value.as_ref().is_some_and(value_follows_objects),
        Statement::Return => false,
    })
}

fn value_follows_objects(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Call(name, _) if is_life_function(name) => true,
        ExprKind::Call(_, arguments) => arguments.iter().any(value_follows_objects),
        ExprKind::Unary(_, one) => value_follows_objects(one),
        ExprKind::Binary(_, one, other) => {
            value_follows_objects(one) || value_follows_objects(other)
        }
        // These functions return truth values, which have neither fields nor elements.
        _ => false,
    }
}

fn is_life_function(name: &str) -> bool {
    TOLD_SITE.contains(&name) || name == OBJECT_USED
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::SourcePosition;

    fn call(name: &str) -> Expr {
        Expr {
            kind: ExprKind::Call(name.into(), Vec::new()),
            place: SourcePosition::default(),
        }
    }

    #[test]
    fn calls_are_found_in_conditions_and_branches() {
        let effect = |name: &str| Statement::Let {
            name: " dropped".into(),
            value: call(name),
        };
        let code = |body| ProbeCode { body };
        assert!(follows_objects(&code(vec![effect("object_used")])));
        assert!(!follows_objects(&code(vec![effect("task_ends")])));
        let branch = Statement::If {
            condition: call("one_in"),
            then: vec![Statement::Return],
            otherwise: vec![effect("object_born")],
        };
        assert!(follows_objects(&code(vec![branch])));
    }
}
