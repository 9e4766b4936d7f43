//! The values that an activation carries at a capture point, and the instructions that load them.

use crate::points::Point;
use crate::types::{State, Type};

/// Types of the values that an activation carries: the operand stack from the bottom, then the
/// locals by slot. Null constants are not carried, because the other code can create them again.
pub fn carried_types(point: &Point) -> impl Iterator<Item = &Type> {
    point.stack.iter().chain(
        point
            .locals
            .iter()
            .map(|l| &l.1)
            .filter(|t| **t != Type::Null),
    )
}

/// The offset of a type's load instruction from `ILOAD`, and of its store instruction from
/// `ISTORE`.
pub fn carried_kind(t: &Type) -> u8 {
    match t {
        Type::Int => 0,
        Type::Long => 1,
        Type::Float => 2,
        Type::Double => 3,
        _ => 4,
    }
}

/// The verification types at a point, restricted to the live values.
pub fn frame_state(point: &Point, max_locals: u16) -> State {
    let mut locals = vec![Type::Top; max_locals as usize];
    for (slot, t) in &point.locals {
        if let Some(l) = locals.get_mut(*slot as usize) {
            *l = t.clone();
        }
    }
    State {
        locals,
        stack: point.stack.clone(),
    }
}
