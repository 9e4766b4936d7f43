//! Parameters that become constants ([`Edit::Constant`](crate::patch::Edit::Constant)).
//!
//! A version compares the parameter with the constant once, when an activation begins. Behind this guard, the
//! body `enter` loads the constant instead of the parameter, so the JIT compiler folds what depends on it.
//!
//! ```text
//!   enter:   advice at the entry;  if parameter != 8 goto out;  the body with 8 for the parameter
//!   out:     live values into a frame, continue in the executor loop  ─▶  resume: the body as it is
//! ```
//!
//! A failed guard is an ordinary transfer at the first fragment, which has a capture point for that. The method
//! must not assign the parameter, so the constant is its value everywhere behind the guard.

use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use crate::method::{Method, access};
use crate::points::Point;
use crate::refusal::Refusal;
use crate::types::Type;

/// The local slot of a parameter, which is counted from 0 without the receiver.
///
/// # Errors
/// The method has no such parameter, or its type is none of `int`, `boolean`, `byte`, `short` and `char`.
pub fn parameter_slot(method: &Method, parameter: u16) -> Result<u16, Refusal> {
    let parameters = &method.signature.parameters;
    let found = parameters.get(usize::from(parameter));
    if found != Some(&Type::Int) {
        return Err(Refusal::NoParameter(format!("parameter {parameter}")));
    }
    let before = parameters.iter().take(usize::from(parameter));
    let receiver = u16::from(method.access & access::STATIC == 0);
    Ok(receiver + before.map(Type::width).sum::<u16>())
}

/// The number of the parameter in a local slot.
pub fn parameter_of_slot(method: &Method, slot: u16) -> Option<u16> {
    let count = u16::try_from(method.signature.parameters.len()).ok()?;
    (0..count).find(|parameter| parameter_slot(method, *parameter) == Ok(slot))
}

/// Checks that a slot can be a constant.
///
/// # Errors
/// The method assigns the variable, the variable is no parameter, or its activations do not begin at a fragment.
pub(crate) fn check_constant(
    method: &Method,
    slot: u16,
    entry: Option<&Point>,
) -> Result<(), Refusal> {
    let begins = entry.and_then(|point| {
        let fragment = method.flow.get(point.fragment)?;
        Some(fragment.instructions.start == point.instruction)
    });
    if begins != Some(true) {
        return Err(Refusal::BeforeSuper);
    }
    let is_carried = |point: &Point| point.locals.iter().any(|local| local.0 == slot);
    if !entry.is_some_and(is_carried) {
        return Err(Refusal::NoParameter(format!("local {slot}")));
    }
    let assigns = method.instructions.iter().any(|(_, i)| assigns(i, slot));
    match assigns {
        true => Err(Refusal::ParameterAssigned(slot)),
        false => Ok(()),
    }
}

/// Whether an instruction changes a local variable of one word.
pub(crate) fn assigns(instruction: &Instruction, slot: u16) -> bool {
    match instruction {
        Instruction::Local { op, index } if (ISTORE..=ASTORE).contains(op) => {
            let is_wide = matches!(*op, LSTORE | DSTORE);
            *index == slot || is_wide && index.checked_add(1) == Some(slot)
        }
        Instruction::Iinc { index, .. } => *index == slot,
        _ => false,
    }
}
