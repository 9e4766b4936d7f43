//! Compiles unary and binary operators.

use super::boxed::is_box;
use super::opcode::*;
use super::{Compiler, ProbeResult, refuse};
use crate::error::Reason;
use crate::step::ProbeStep;
use crate::tree::{Expr, ExprKind, Operator, SourcePosition};
use crate::ty::Ty;

impl Compiler<'_> {
    pub(super) fn unary(&mut self, operator: Operator, a: &Expr) -> ProbeResult<Ty> {
        let ty = self.value(a)?;
        match (operator, &ty) {
            (Operator::Not, Ty::Bool) => self.helper("not", "(Z)Z", 1, 1),
            (Operator::Negate, Ty::Long) => self.step(ProbeStep::Plain(LNEG), 2, 2),
            (Operator::Negate, Ty::Double) => self.step(ProbeStep::Plain(DNEG), 2, 2),
            _ => {
                let wanted = match operator {
                    Operator::Not => "boolean".to_string(),
                    _ => "a number".to_string(),
                };
                return refuse(a.place, Reason::Type { wanted, found: ty });
            }
        }
        Ok(ty)
    }

    pub(super) fn binary(
        &mut self,
        operator: Operator,
        a: &Expr,
        b: &Expr,
        place: SourcePosition,
    ) -> ProbeResult<Ty> {
        use Operator::*;
        let left = self.value(a)?;
        // A box is compared with null as an object.
        let compares_null =
            [Equal, NotEqual].contains(&operator) && [&a.kind, &b.kind].contains(&&ExprKind::Null);
        let left = match compares_null {
            true => left,
            false => self.unboxed(left),
        };
        let mut right = self.value(b)?;
        if !compares_null && is_box(&right) {
            right = self.unboxed(right);
        }
        // If one operand is an integer and the other is floating-point, the integer is converted.
        let widened = left == Ty::Long && right == Ty::Double;
        if widened {
            let n = self.variable(&Ty::Double);
            self.store_own(n);
            self.step(ProbeStep::Plain(L2D), 2, 2);
            self.load_own(n);
        } else if left == Ty::Double && right == Ty::Long {
            self.step(ProbeStep::Plain(L2D), 2, 2);
            right = Ty::Double;
        }
        let both = if widened { Ty::Double } else { left.clone() };
        let opcode = match (operator, &both, &right) {
            (Add, Ty::Long, Ty::Long) => LADD,
            (Subtract, Ty::Long, Ty::Long) => LSUB,
            (Multiply, Ty::Long, Ty::Long) => LMUL,
            (Divide, Ty::Long, Ty::Long) => LDIV,
            (Remainder, Ty::Long, Ty::Long) => LREM,
            (BitAnd, Ty::Long, Ty::Long) => LAND,
            (BitOr, Ty::Long, Ty::Long) => LOR,
            (BitXor, Ty::Long, Ty::Long) => LXOR,
            (Add, Ty::Double, Ty::Double) => DADD,
            (Subtract, Ty::Double, Ty::Double) => DSUB,
            (Multiply, Ty::Double, Ty::Double) => DMUL,
            (Divide, Ty::Double, Ty::Double) => DDIV,
            (Remainder, Ty::Double, Ty::Double) => DREM,
            (BitAnd, Ty::Bool, Ty::Bool) => IAND,
            (BitOr, Ty::Bool, Ty::Bool) => IOR,
            (BitXor, Ty::Bool, Ty::Bool) => IXOR,
            _ => return self.shift_or_comparison(operator, left, both, right, place),
        };
        let words = both.words();
        self.step(ProbeStep::Plain(opcode), 2 * words, words);
        Ok(both)
    }

    /// Compiles shifts and comparisons.
    fn shift_or_comparison(
        &mut self,
        operator: Operator,
        left: Ty,
        both: Ty,
        right: Ty,
        place: SourcePosition,
    ) -> ProbeResult<Ty> {
        use Operator::*;
        let refused = |left: Ty, right: Ty| {
            let reason = Reason::Operands {
                operator,
                left,
                right,
            };
            refuse(place, reason)
        };
        if let (ShiftLeft | ShiftRight, Ty::Long, Ty::Long) = (operator, &both, &right) {
            self.step(ProbeStep::Plain(L2I), 2, 1);
            let opcode = if operator == ShiftLeft { LSHL } else { LSHR };
            self.step(ProbeStep::Plain(opcode), 3, 2);
            return Ok(Ty::Long);
        }
        let mut name = match operator {
            Equal => "equal",
            NotEqual => "differ",
            Less => "less",
            LessEqual => "lessEqual",
            Greater => "greater",
            GreaterEqual => "greaterEqual",
            _ => return refused(left, right),
        };
        let ordered = !matches!(operator, Equal | NotEqual);
        let word = match (&both, &right) {
            (Ty::Long, Ty::Long) => "J",
            (Ty::Double, Ty::Double) => "D",
            (Ty::Bool, Ty::Bool) if !ordered => "Z",
            (a, b) if a.is_reference() && b.is_reference() && !ordered => {
                // An enum or another value that has a text is equal to this text.
                let one_text = a.is_text() != b.is_text() && *a != Ty::Null && *b != Ty::Null;
                match (one_text, operator) {
                    (true, Equal) => name = "equalText",
                    (true, _) => name = "differText",
                    _ => {}
                }
                "Ljava/lang/Object;"
            }
            _ => return refused(left, right),
        };
        let words = both.words();
        self.helper(name, format!("({word}{word})Z"), 2 * words, 1);
        Ok(Ty::Bool)
    }
}
