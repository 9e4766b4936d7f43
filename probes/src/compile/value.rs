//! Compiles expressions. Each expression leaves its value on the operand stack.

use super::{
    Compiler, MAX_STEPS, ProbeResult, VariableRead, computational_type, helper_descriptor, refuse,
};
use crate::error::Reason;
use crate::function::unknown_function;
use crate::step::{ComputationalType, HelperClass, ProbeStep};
use crate::tree::{Expr, ExprKind, Operator, SourcePosition};
use crate::ty::Ty;

impl Compiler<'_> {
    /// Emits the steps for all `&&`, `||` and method calls in an expression. Returns the expression
    /// with each of them replaced by the hidden variable that holds the result.
    pub(super) fn hoist(&mut self, e: &Expr) -> ProbeResult<Expr> {
        let shape = match &e.kind {
            ExprKind::Binary(operator @ (Operator::And | Operator::Or), a, b) => {
                let (n, end) = (self.variable(&Ty::Bool), self.label());
                self.condition(a)?;
                self.store_own(n);
                self.load_own(n);
                if *operator == Operator::Or {
                    self.helper("not", "(Z)Z", 1, 1);
                }
                self.step(ProbeStep::IfZero(end), 1, 0);
                self.condition(b)?;
                self.store_own(n);
                self.step(ProbeStep::BindLabel(end), 0, 0);
                // No plan can write a name with a space.
                let name = format!(" {n}");
                self.visible.push((name.clone(), Ty::Bool, n));
                ExprKind::Local(name)
            }
            ExprKind::Field(of, name) => ExprKind::Field(self.hoist(of)?.into(), name.clone()),
            ExprKind::Element(a, b) => {
                ExprKind::Element(self.hoist(a)?.into(), self.hoist(b)?.into())
            }
            ExprKind::Unary(operator, a) => ExprKind::Unary(*operator, self.hoist(a)?.into()),
            ExprKind::Binary(operator, a, b) => {
                ExprKind::Binary(*operator, self.hoist(a)?.into(), self.hoist(b)?.into())
            }
            ExprKind::PerObjectValue { table, object } => ExprKind::PerObjectValue {
                table: *table,
                object: self.hoist(object)?.into(),
            },
            ExprKind::Call(name, values) => {
                let values = values.iter().map(|v| self.hoist(v));
                ExprKind::Call(name.clone(), values.collect::<ProbeResult<_>>()?)
            }
            ExprKind::Invoke(of, name, values) => self.invoke(of, name, values, e.place)?,
            other => other.clone(),
        };
        let place = e.place;
        Ok(Expr { kind: shape, place })
    }

    /// Emits the steps that push the value of an expression.
    pub(super) fn value(&mut self, e: &Expr) -> ProbeResult<Ty> {
        if self.steps.len() > MAX_STEPS {
            let what = format!("more than {MAX_STEPS} steps");
            return refuse(e.place, Reason::TooLarge { what });
        }
        let ty = match &e.kind {
            ExprKind::Null => {
                self.step(ProbeStep::Null, 0, 1);
                Ty::Null
            }
            ExprKind::Bool(b) => {
                self.step(ProbeStep::Int(i32::from(*b)), 0, 1);
                Ty::Bool
            }
            ExprKind::Int(n) => {
                self.step(ProbeStep::Long(*n), 0, 2);
                Ty::Long
            }
            ExprKind::Float(x) => {
                self.step(ProbeStep::Double(x.get()), 0, 2);
                Ty::Double
            }
            ExprKind::Text(text) => {
                self.step(ProbeStep::Text(text.clone()), 0, 1);
                Ty::Object(veneer_names::STRING.into())
            }
            ExprKind::Local(name) => match self.find(name) {
                Some((_, ty, n)) => {
                    self.load_own(n);
                    ty
                }
                None => {
                    let name = name.clone();
                    return refuse(e.place, Reason::Unknown { name });
                }
            },
            ExprKind::MethodVariable(name) => self.read(name, e.place)?,
            ExprKind::Field(of, name) => {
                let of = self.value(of)?;
                self.field(of, name, e.place)?
            }
            ExprKind::Element(array, index) => {
                let of = match self.value(array)? {
                    Ty::Array(of) => of,
                    found => {
                        let wanted = "an array".into();
                        return refuse(array.place, Reason::Type { wanted, found });
                    }
                };
                let found = self.value(index)?;
                self.fit(&Ty::Long, found, index.place)?;
                self.element(&of)
            }
            ExprKind::Unary(operator, a) => self.unary(*operator, a)?,
            ExprKind::Binary(operator, a, b) => self.binary(*operator, a, b, e.place)?,
            ExprKind::Call(name, values) => self.call(name, values, e.place)?,
            ExprKind::PerObjectValue { table, object } => {
                self.step(ProbeStep::Table(*table), 0, 2);
                self.object(object)?;
                self.helper("get", "(JLjava/lang/Object;)J", 3, 2);
                Ty::Long
            }
            ExprKind::StackOperation { table, operation } => {
                self.read_stack(*table, operation, e.place)?
            }
            ExprKind::Kept { stacks, like } => self.kept(*stacks, like)?,
            // `hoist` replaces method calls, so only an expression that was not hoisted contains
            // one.
            ExprKind::Invoke(_, name, _) => return refuse(e.place, unknown_function(name)),
        };
        Ok(ty)
    }

    fn read(&mut self, name: &str, place: SourcePosition) -> ProbeResult<Ty> {
        let n = match self.reads.iter().position(|read| read.name == name) {
            Some(n) => n,
            None => {
                let descriptor = self.scope.variable(name).unwrap_or_default();
                let (Some(ty), Some(given)) = (
                    Ty::from_descriptor(&descriptor),
                    ComputationalType::from_descriptor(&descriptor),
                ) else {
                    let (name, live) = (name.to_string(), self.scope.live());
                    return refuse(place, Reason::NotLive { name, live });
                };
                let widened = (computational_type(&ty) != given).then(|| self.variable(&ty));
                self.reads.push(VariableRead {
                    name: name.to_string(),
                    given,
                    ty: ty.clone(),
                    widened,
                });
                self.reads.len() - 1
            }
        };
        let ty = self.reads[n].ty.clone();
        match self.reads[n].widened {
            Some(own) => self.load_own(own),
            None => self.step(
                ProbeStep::Load(computational_type(&ty), n as u16),
                0,
                ty.words(),
            ),
        }
        Ok(ty)
    }

    fn field(&mut self, of: Ty, name: &str, place: SourcePosition) -> ProbeResult<Ty> {
        // `length` is Java's name, `len` the one of plans.
        if ["len", "length"].contains(&name) && (of.is_text() || matches!(of, Ty::Array(_))) {
            self.length(&of);
            return Ok(Ty::Long);
        }
        let found = match &of {
            Ty::Object(class) => self.scope.field(class, name),
            _ => None,
        };
        if let Ty::Object(class) = &of
            && found.is_none()
            && ["len", "size"].contains(&name)
            && may_be_collection(class)
        {
            self.helper("size", "(Ljava/lang/Object;)J", 1, 2);
            return Ok(Ty::Long);
        }
        let ty = found
            .as_ref()
            .and_then(|f| Ty::from_descriptor(&f.descriptor));
        let (Some(field), Some(ty)) = (found, ty) else {
            if let Ty::Object(class) = &of
                && !self.scope.is_loaded(class)
            {
                let class = veneer_names::java_form(class);
                return refuse(place, Reason::NotLoaded { class });
            }
            let fields = match &of {
                Ty::Object(class) => self.scope.fields(class),
                _ => Vec::new(),
            };
            let name = name.to_string();
            return refuse(place, Reason::NoField { of, name, fields });
        };
        self.step(ProbeStep::Long(field.offset), 0, 2);
        let helper = getter(&field.descriptor);
        let given = format!("(Ljava/lang/Object;J){}", helper_descriptor(&ty));
        self.helper(helper, given, 3, ty.words());
        Ok(ty)
    }

    /// Replaces the array or string on the stack by its length. The length of null is 0.
    pub(super) fn length(&mut self, of: &Ty) {
        let name = match of {
            Ty::Array(_) => "elements",
            _ => "characters",
        };
        self.helper(name, "(Ljava/lang/Object;)J", 1, 2);
    }

    /// Replaces an array and an index on the stack by the element. If the index is out of bounds,
    /// the element is zero or null.
    pub(super) fn element(&mut self, of: &str) -> Ty {
        let ty = Ty::from_descriptor(of).unwrap_or(Ty::Null);
        let name = match of.as_bytes().first() {
            Some(b'B' | b'Z') => "byteAt",
            Some(b'S') => "shortAt",
            Some(b'C') => "charAt",
            Some(b'I') => "intAt",
            Some(b'J') => "longAt",
            Some(b'F') => "floatAt",
            Some(b'D') => "doubleAt",
            _ => "objectAt",
        };
        let name = if of == "Z" { "booleanAt" } else { name };
        let given = format!("(Ljava/lang/Object;J){}", helper_descriptor(&ty));
        self.helper(name, given, 3, ty.words());
        ty
    }

    /// Compiles a read of one of the plan's per-thread stacks.
    fn read_stack(
        &mut self,
        table: u32,
        operation: &str,
        place: SourcePosition,
    ) -> ProbeResult<Ty> {
        let numbers = match operation {
            "pop" => Some("pop"),
            "top" => Some("top"),
            _ => None,
        };
        let objects = match operation {
            "take" => "take",
            "peek" => "peek",
            _ if numbers.is_some() => "",
            name => return refuse(place, unknown_function(name)),
        };
        self.step(ProbeStep::Table(table), 0, 2);
        match numbers {
            Some(name) => {
                self.helper_of(HelperClass::Threads, name, "(J)J", (2, 2));
                Ok(Ty::Long)
            }
            None => {
                self.helper_of(
                    HelperClass::Threads,
                    objects,
                    "(J)Ljava/lang/Object;",
                    (2, 1),
                );
                Ok(Ty::Object(veneer_names::OBJECT.into()))
            }
        }
    }
}

/// Whether objects of a class (internal name) can be collections of the JDK.
pub(super) fn may_be_collection(class: &str) -> bool {
    class.starts_with("java/util/") || ["java/lang/Iterable", veneer_names::OBJECT].contains(&class)
}

/// Returns the helper that reads a field, given the object and the offset. A field of null reads as
/// zero or null.
pub(super) fn getter(descriptor: &str) -> &'static str {
    match descriptor.as_bytes().first() {
        Some(b'Z') => "booleanIn",
        Some(b'B') => "byteIn",
        Some(b'S') => "shortIn",
        Some(b'C') => "charIn",
        Some(b'I') => "intIn",
        Some(b'J') => "longIn",
        Some(b'F') => "floatIn",
        Some(b'D') => "doubleIn",
        _ => "objectIn",
    }
}
