//! Compiles reads of the numbers and truth values in boxes, such as `java.lang.Integer`.
//!
//! An operator with a box as an operand, and a condition, read the value in the box. Null reads as 0
//! or false. As a key of a table, a box has a text, so null differs from 0.

use super::Compiler;
use crate::ty::Ty;

/// The primitive type in a box of this class (internal name), and the helper that reads the box.
fn primitive(class: &str) -> Option<(Ty, &'static str)> {
    Some(match class {
        "java/lang/Integer"
        | "java/lang/Long"
        | "java/lang/Short"
        | "java/lang/Byte"
        | "java/lang/Character" => (Ty::Long, "integer"),
        "java/lang/Double" | "java/lang/Float" => (Ty::Double, "real"),
        "java/lang/Boolean" => (Ty::Bool, "truth"),
        _ => return None,
    })
}

/// Whether values of this type are boxes.
pub(super) fn is_box(ty: &Ty) -> bool {
    matches!(ty, Ty::Object(class) if primitive(class).is_some())
}

impl Compiler<'_> {
    /// Replaces a box on the stack by the value in it. Returns the type of the value; other types stay.
    pub(super) fn unboxed(&mut self, ty: Ty) -> Ty {
        let Ty::Object(class) = &ty else {
            return ty;
        };
        let Some((value, helper)) = primitive(class) else {
            return ty;
        };
        let descriptor = format!("(Ljava/lang/Object;){}", value.descriptor());
        self.helper(helper, descriptor, 1, value.words());
        value
    }
}
