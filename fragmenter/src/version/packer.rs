//! Packers: what an armed body's call site at a point inside the method is linked to. The live values come as
//! arguments, go into a frame, and the executor loop takes it from there.

use super::{Emitter, Plan};
use crate::arming::{carried, kind};
use crate::bytecode::Assembler;
use crate::bytecode::opcode::*;
use crate::classfile::Code;
use crate::points::Point;
use crate::refusal::Refusal;
use crate::types::Type;

/// Emits the packer of one point.
pub(super) fn emit(e: &mut Emitter, plan: &Plan, point: &Point) -> Result<Code<'static>, Refusal> {
    let mut a = Assembler::new();
    let frame: u16 = carried(point).map(Type::width).sum();
    let max_locals = plan.method.code.max_locals;
    e.push_int(&mut a, point.id.0 as i32)?;
    e.push_int(&mut a, (max_locals + plan.method.code.max_stack) as i32)?;
    e.call(&mut a, "frame", "(II)Ljava/lang/invoke/VeneerFrame;")?;
    a.local(ASTORE, frame);
    let mut argument = 0;
    for (depth, t) in (0u16..).zip(&point.stack) {
        e.save(&mut a, frame, max_locals + depth, argument, t)?;
        argument += t.width();
    }
    for (slot, t) in point.locals.iter().filter(|l| l.1 != Type::Null) {
        e.save(&mut a, frame, *slot, argument, t)?;
        argument += t.width();
    }
    a.local(ILOAD + kind(&Type::Null), frame);
    e.push_cell(&mut a, plan.id)?;
    e.call(
        &mut a,
        "go",
        "(Ljava/lang/invoke/VeneerFrame;Ljava/lang/invoke/VeneerCell;)Ljava/lang/Object;",
    )?;
    e.return_unboxed(&mut a, &plan.method.signature.result)?;
    let code = a.finish()?.code;
    Ok(Code {
        max_stack: 6,
        max_locals: frame + 1,
        code: code.into(),
        exceptions: Vec::new(),
        attributes: Vec::new(),
    })
}
