//! Converts verification states to stack-map frames of a class file.

use crate::classfile::{ConstantPool, StackMapFrame, VerificationType};
use crate::refusal::Refusal;
use crate::types::{State, Type};

/// Converts one type. `new_pc` maps the original pc of a `new` instruction to its pc in the emitted
/// code.
pub fn verification(
    t: &Type,
    pool: &mut ConstantPool,
    new_pc: &dyn Fn(u16) -> Option<u16>,
) -> Result<VerificationType, Refusal> {
    Ok(match t {
        Type::Top => VerificationType::Top,
        Type::Int => VerificationType::Integer,
        Type::Float => VerificationType::Float,
        Type::Long => VerificationType::Long,
        Type::Double => VerificationType::Double,
        Type::Null => VerificationType::Null,
        Type::UninitializedThis => VerificationType::UninitializedThis,
        Type::Uninitialized(pc) => VerificationType::Uninitialized(
            new_pc(*pc)
                .ok_or_else(|| Refusal::Internal(format!("the `new` at {pc} was not emitted")))?,
        ),
        Type::Object(name) => VerificationType::Object(pool.add_class(name)?),
    })
}

/// Converts locals listed by slot to the form of the class file: one element per value, without the
/// unused slots at the end.
pub fn locals(
    slots: &[Type],
    pool: &mut ConstantPool,
    new_pc: &dyn Fn(u16) -> Option<u16>,
) -> Result<Vec<VerificationType>, Refusal> {
    let used = slots
        .iter()
        .rposition(|t| *t != Type::Top)
        .map_or(0, |i| i + 1);
    let mut out = Vec::with_capacity(used);
    let mut second = false;
    for t in &slots[..used] {
        if std::mem::take(&mut second) {
            continue;
        }
        second = t.width() == 2;
        out.push(verification(t, pool, new_pc)?);
    }
    Ok(out)
}

/// Converts a whole frame.
pub fn frame(
    pc: u16,
    state: &State,
    pool: &mut ConstantPool,
    new_pc: &dyn Fn(u16) -> Option<u16>,
) -> Result<StackMapFrame, Refusal> {
    let stack = state
        .stack
        .iter()
        .map(|t| verification(t, pool, new_pc))
        .collect::<Result<_, _>>()?;
    Ok(StackMapFrame {
        pc,
        locals: locals(&state.locals, pool, new_pc)?,
        stack,
    })
}
