//! Compiles `describe(value)`: an object as text, with its class and its fields.
//!
//! ```text
//!   describe(p.order)  ─▶  d = describe(order); d = member(d, "id", order.id); …; described(d, order)
//! ```
//!
//! The class in the text is that of the object, the fields are those of the static type of the value.
//! Fields are read from memory, so no code of the application runs. Numbers, truth values and strings
//! stay as they are.

use super::value::getter;
use super::{Compiler, ProbeResult, helper_descriptor};
use crate::step::ProbeStep;
use crate::tree::Expr;
use crate::ty::Ty;

/// Limit for the fields in a description.
const MAX_DESCRIBED_FIELDS: usize = 12;

/// Packages whose classes are shown without fields: their fields say little about the value.
const WITHOUT_FIELDS: [&str; 5] = ["java/", "javax/", "jdk/", "sun/", "com/sun/"];

const OBJECT: &str = "Ljava/lang/Object;";

impl Compiler<'_> {
    /// Compiles `describe(value)`.
    pub(super) fn describe(&mut self, value: &Expr) -> ProbeResult<Ty> {
        let ty = self.value(value)?;
        if !ty.is_reference() || ty.is_text() || ty == Ty::Null {
            return Ok(ty);
        }
        let object = self.variable(&ty);
        self.store_own(object);
        self.load_own(object);
        self.helper("describe", format!("({OBJECT}){OBJECT}"), 1, 1);
        let has_more = match &ty {
            Ty::Object(class) => self.members(class, object),
            _ => false,
        };
        self.load_own(object);
        self.step(ProbeStep::Int(i32::from(has_more)), 0, 1);
        self.helper("described", format!("({OBJECT}{OBJECT}Z){OBJECT}"), 3, 1);
        Ok(Ty::Object(veneer_names::STRING.into()))
    }

    /// Adds the fields of a class to the description on the stack. Returns whether there are more.
    fn members(&mut self, class: &str, object: usize) -> bool {
        if WITHOUT_FIELDS
            .iter()
            .any(|package| class.starts_with(package))
        {
            return false;
        }
        let mut names: Vec<String> = Vec::new();
        for name in self.scope.fields(class) {
            // Compilers write `$` into the names of their own fields. A hidden field is left out.
            if !name.contains('$') && !names.contains(&name) {
                names.push(name);
            }
        }
        for name in names.iter().take(MAX_DESCRIBED_FIELDS) {
            let Some(field) = self.scope.field(class, name) else {
                continue;
            };
            let Some(ty) = Ty::from_descriptor(&field.descriptor) else {
                continue;
            };
            self.step(ProbeStep::Text(name.clone()), 0, 1);
            self.load_own(object);
            self.step(ProbeStep::Long(field.offset), 0, 2);
            let given = helper_descriptor(&ty);
            let descriptor = format!("({OBJECT}J){given}");
            self.helper(getter(&field.descriptor), descriptor, 3, ty.words());
            let member = if field.descriptor == "C" {
                "letter"
            } else {
                "member"
            };
            let descriptor = format!("({OBJECT}{OBJECT}{given}){OBJECT}");
            self.helper(member, descriptor, 2 + ty.words(), 1);
        }
        names.len() > MAX_DESCRIBED_FIELDS
    }
}
