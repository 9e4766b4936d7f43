//! Compiles calls of the application's methods.
//!
//! ```text
//!   r = 0; if (object != null) { r = ((Owner) object).name(values…); }
//! ```
//!
//! As for `&&` and `||`, the compiler emits the call before the statement that contains it. The
//! statement then reads the variable `r`.

use super::opcode::*;
use super::{Compiler, ProbeResult, refuse};
use crate::error::Reason;
use crate::function::{self, ParameterType};
use crate::step::{Callee, ProbeStep};
use crate::tree::{Expr, ExprKind, SourcePosition};
use crate::ty::Ty;
use veneer_names::{FieldDescriptor, MethodDescriptor, OBJECT_DESCRIPTOR, java_form, raw};

impl Compiler<'_> {
    /// Compiles `of.name(values)`. Returns the expression that replaces the call in the statement.
    pub(super) fn invoke(
        &mut self,
        of: &Expr,
        name: &str,
        values: &[Expr],
        place: SourcePosition,
    ) -> ProbeResult<ExprKind> {
        let (object, ty) = self.store_in_variable(of)?;
        if accepts(name, 1 + values.len(), &ty) {
            let object = self.hidden_variable(object, ty);
            let mut all = vec![Expr {
                kind: object,
                place: of.place,
            }];
            for value in values {
                all.push(self.hoist(value)?);
            }
            return Ok(ExprKind::Call(name.into(), all));
        }
        let mut arguments = Vec::new();
        for value in values {
            arguments.push(self.store_in_variable(value)?);
        }
        let types: Vec<Ty> = arguments.iter().map(|(_, ty)| ty.clone()).collect();
        let found = match &ty {
            Ty::Object(class) => self.scope.method(class, name, &types),
            _ => Err(Reason::NoMethod {
                of: ty.clone(),
                name: name.into(),
                arguments: format_types(&types),
                candidates: Vec::new(),
            }),
        };
        let callee = found.or_else(|reason| refuse(place, reason))?;
        let Ok(descriptor) = MethodDescriptor::parse(&callee.descriptor) else {
            let what = format!("the descriptor {}", callee.descriptor);
            return refuse(place, Reason::TooLarge { what });
        };
        let result = descriptor.result_text();
        let Some(gives) = Ty::from_descriptor(result) else {
            let method = format_callee(&callee);
            return refuse(place, Reason::NoResult { method });
        };
        if self.entered.is_none() {
            self.entered = Some(self.variable(&Ty::Bool));
        }
        let out = self.variable(&gives);
        self.zero(&gives);
        self.store_own(out);
        let end = self.label();
        self.load_own(object);
        self.helper("present", "(Ljava/lang/Object;)Z", 1, 1);
        self.step(ProbeStep::IfZero(end), 1, 0);
        self.load_own(object);
        self.step(ProbeStep::Cast(callee.owner.clone()), 1, 1);
        let mut pops = 1;
        for (parameter, (n, ty)) in descriptor.parameters().zip(&arguments) {
            self.load_own(*n);
            self.narrow(ty, parameter);
            pops += parameter.slots();
        }
        let given = raw::slots(result.as_bytes());
        self.step(ProbeStep::Invoke(callee.clone()), pops, given);
        self.widen(result);
        self.store_own(out);
        self.step(ProbeStep::BindLabel(end), 0, 0);
        Ok(self.hidden_variable(out, gives))
    }

    /// Evaluates an expression into a new variable. Returns the variable and its type.
    fn store_in_variable(&mut self, e: &Expr) -> ProbeResult<(usize, Ty)> {
        let hoisted = self.hoist(e)?;
        let ty = self.value(&hoisted)?;
        let n = self.variable(&ty);
        self.store_own(n);
        Ok((n, ty))
    }

    /// Makes a variable accessible under a name that no plan can write.
    fn hidden_variable(&mut self, n: usize, ty: Ty) -> ExprKind {
        let name = format!(" {n}");
        self.visible.push((name.clone(), ty, n));
        ExprKind::Local(name)
    }

    fn zero(&mut self, ty: &Ty) {
        match ty {
            Ty::Long => self.step(ProbeStep::Long(0), 0, 2),
            Ty::Double => self.step(ProbeStep::Double(0.0), 0, 2),
            Ty::Bool => self.step(ProbeStep::Int(0), 0, 1),
            _ => self.step(ProbeStep::Null, 0, 1),
        }
    }

    /// Converts the value on the stack to the type of a method's parameter. [`conversion_cost`] must
    /// have returned a cost for the pair.
    fn narrow(&mut self, ty: &Ty, parameter: FieldDescriptor) {
        let plain = |opcodes: &[u8]| opcodes.to_vec();
        let opcodes = match (ty, parameter.as_str()) {
            (Ty::Long, "I") => plain(&[L2I]),
            (Ty::Long, "S") => plain(&[L2I, I2S]),
            (Ty::Long, "C") => plain(&[L2I, I2C]),
            (Ty::Long, "B") => plain(&[L2I, I2B]),
            (Ty::Long, "D") => plain(&[L2D]),
            (Ty::Long, "F") => plain(&[L2F]),
            (Ty::Double, "F") => plain(&[D2F]),
            (Ty::Object(_) | Ty::Array(_) | Ty::Null, text) if text != OBJECT_DESCRIPTOR => {
                let class = parameter.constant_name().unwrap_or(text);
                self.step(ProbeStep::Cast(class.into()), 1, 1);
                return;
            }
            _ => return,
        };
        for opcode in opcodes {
            let (from, to) = match opcode {
                L2I | L2F | D2F => (2, 1),
                L2D => (2, 2),
                _ => (1, 1),
            };
            self.step(ProbeStep::Plain(opcode), from, to);
        }
    }

    /// Converts the result of a method to the type that probes use for it.
    fn widen(&mut self, result: &str) {
        match result {
            "I" | "S" | "C" | "B" => self.step(ProbeStep::Plain(I2L), 1, 2),
            "F" => self.step(ProbeStep::Plain(F2D), 1, 2),
            _ => {}
        }
    }
}

/// Whether a function of this name with `values` parameters accepts `first` as its first argument.
fn accepts(name: &str, values: usize, first: &Ty) -> bool {
    if name == "as_a" && values == 2 {
        return first.is_reference();
    }
    let parameter = function::find(name, values).and_then(|f| f.parameters.first());
    parameter.is_some_and(|takes| match takes {
        ParameterType::Text => first.is_text() || *first == Ty::Null,
        ParameterType::Object => first.is_reference(),
        ParameterType::Integer => *first == Ty::Long,
        ParameterType::Number => matches!(first, Ty::Long | Ty::Double),
    })
}

/// Returns the cost of converting a primitive value or null to a method's parameter: the smaller,
/// the better the match. Returns `None` if there is no conversion.
pub fn conversion_cost(ty: &Ty, parameter: &str) -> Option<u8> {
    Some(match (ty, parameter) {
        (Ty::Long, "J") | (Ty::Double, "D") | (Ty::Bool, "Z") => 0,
        (Ty::Long, "I") | (Ty::Double, "F") => 1,
        (Ty::Long, "S" | "C" | "B") => 2,
        (Ty::Long, "D") => 3,
        (Ty::Long, "F") => 4,
        (Ty::Null, _) if raw::is_reference(parameter.as_bytes()) => 0,
        _ => return None,
    })
}

/// Formats types for a message.
pub fn format_types(types: &[Ty]) -> String {
    let texts: Vec<String> = types.iter().map(Ty::to_string).collect();
    texts.join(", ")
}

/// Formats a method for a message: `a.b.C.m(int, java.lang.String)`.
pub fn format_callee(callee: &Callee) -> String {
    let descriptor = MethodDescriptor::parse(&callee.descriptor);
    let parameters = descriptor.map_or_else(|_| String::new(), MethodDescriptor::java_parameters);
    let owner = java_form(&callee.owner);
    format!("{owner}.{}({parameters})", callee.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_callee_is_displayed_as_in_source() {
        let callee = Callee {
            owner: "a/B".into(),
            is_interface: false,
            name: "m".into(),
            descriptor: "(I[Lc/D;)V".into(),
        };
        assert_eq!(format_callee(&callee), "a.B.m(int, c.D[])");
    }
}
