//! Compiles `per_call()`: values that a call keeps from its entry to its exits.
//!
//! A probe at an exit cannot read parameters, because they may have been overwritten or may be dead.
//! So a probe at the entry pushes the values, and a probe at the exits pops them.
//!
//! ```text
//!   entry:  kept.push(p.order.total)     type of `p.order.total`: long ─▶ stack of numbers
//!   exit:   kept.pop(p.order.total)      the same type, from the parameters ─▶ the same stack
//! ```
//!
//! **A popped object has the type `Object`.** A thread can pop a value that another method pushed if
//! a method is switched while it runs. A field read at the offset of a wrong class would be unsafe.

use super::opcode::I2L;
use super::{Compiler, ProbeResult, refuse};
use crate::error::Reason;
use crate::scope::{Field, Scope};
use crate::step::{Callee, HelperClass, ProbeStep};
use crate::tree::{Expr, KeptStacks};
use crate::ty::Ty;

/// The scope at the entry of the method: its variables are the parameters.
struct EntryScope<'a>(&'a dyn Scope);

impl Scope for EntryScope<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.parameter(name)
    }

    fn parameter(&self, name: &str) -> Option<String> {
        self.0.parameter(name)
    }

    fn site_id(&self) -> i64 {
        self.0.site_id()
    }
    fn site(&self) -> String {
        self.0.site()
    }

    fn inline_cache(&self) -> i64 {
        self.0.inline_cache()
    }

    fn method_label(&self) -> String {
        self.0.method_label()
    }

    fn live(&self) -> Vec<String> {
        self.0.parameters()
    }

    fn field(&self, class: &str, name: &str) -> Option<Field> {
        self.0.field(class, name)
    }

    fn is_loaded(&self, class: &str) -> bool {
        self.0.is_loaded(class)
    }

    fn here(&self) -> String {
        self.0.here()
    }

    fn fields(&self, class: &str) -> Vec<String> {
        self.0.fields(class)
    }

    fn cast(&self, class: &str) -> Result<i64, Reason> {
        self.0.cast(class)
    }

    fn method(&self, class: &str, name: &str, arguments: &[Ty]) -> Result<Callee, Reason> {
        self.0.method(class, name, arguments)
    }
}

impl Compiler<'_> {
    /// Compiles `kept.push(value)`.
    pub(super) fn keep(&mut self, stacks: KeptStacks, value: &Expr) -> ProbeResult<()> {
        let hoisted = self.hoist(value)?;
        // The type decides which table is pushed first, so the value is compiled before.
        let found = self.value(&hoisted)?;
        let n = self.variable(&found);
        self.store_own(n);
        if found.is_reference() {
            self.step(ProbeStep::Table(stacks.objects), 0, 2);
            self.load_own(n);
            let descriptor = "(JLjava/lang/Object;)V";
            self.helper_of(HelperClass::Threads, "keep", descriptor, (3, 0));
            return Ok(());
        }
        self.step(ProbeStep::Table(stacks.numbers), 0, 2);
        self.load_own(n);
        match found {
            Ty::Bool => self.step(ProbeStep::Plain(I2L), 1, 2),
            Ty::Double => self.helper("bits", "(D)J", 2, 2),
            _ => {}
        }
        self.helper_of(HelperClass::Threads, "push", "(JJ)V", (4, 0));
        Ok(())
    }

    /// Compiles `kept.pop(like)`.
    pub(super) fn kept(&mut self, stacks: KeptStacks, like: &Expr) -> ProbeResult<Ty> {
        let ty = self.type_at_entry(like)?;
        if ty.is_reference() {
            self.step(ProbeStep::Table(stacks.objects), 0, 2);
            let descriptor = "(J)Ljava/lang/Object;";
            self.helper_of(HelperClass::Threads, "take", descriptor, (2, 1));
            return Ok(Ty::Object(veneer_names::OBJECT.into()));
        }
        self.step(ProbeStep::Table(stacks.numbers), 0, 2);
        self.helper_of(HelperClass::Threads, "pop", "(J)J", (2, 2));
        match ty {
            Ty::Bool => {
                self.step(ProbeStep::Long(0), 0, 2);
                self.helper("differ", "(JJ)Z", 4, 1);
            }
            Ty::Double => self.helper("fromBits", "(J)D", 2, 2),
            _ => {}
        }
        Ok(ty)
    }

    /// Returns the type that an expression has at the entry of the method.
    fn type_at_entry(&self, like: &Expr) -> ProbeResult<Ty> {
        let scope = EntryScope(self.scope);
        let mut entry = Compiler::new(&scope);
        let hoisted = entry.hoist(like)?;
        let ty = entry.value(&hoisted)?;
        match ty {
            Ty::Null => refuse(
                like.place,
                Reason::Type {
                    wanted: "a value".into(),
                    found: ty,
                },
            ),
            ty => Ok(ty),
        }
    }
}
