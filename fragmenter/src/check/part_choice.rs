//! Reads the body of a split method that chooses the part of a frame. Its instructions must be exactly
//! these:
//!
//! ```text
//!   aload_0; checkcast VeneerFrame; invokevirtual point; lookupswitch
//!   for each part:   aload_0; invokestatic part; areturn
//!   default:         aload_0; areturn
//! ```
//!
//! Each known capture point must lead to a part, because a frame that is returned comes back until a
//! body accepts its point.

use super::failure::Failure;
use super::frame_contract::FrameContract;
use crate::bytecode::opcode::*;
use crate::bytecode::{Instruction, Label, decode};
use crate::classfile::{ClassFile, Code};
use crate::runtime;
use std::collections::{BTreeMap, BTreeSet};

/// The instructions before the switch, and the switch.
const HEAD: usize = 4;

/// A part of a split method.
pub(super) struct Part {
    /// The name of its method in the version class.
    pub name: String,
    /// The points at which activations enter it.
    pub points: Vec<usize>,
}

/// Returns the parts to which the body leads, in the order of their code.
pub(super) fn parts(
    emitted: &ClassFile,
    code: &Code,
    contracts: &[Option<FrameContract>],
) -> Result<Vec<Part>, Failure> {
    let bad = |why: &str| Failure::ClassChanged(format!("the choice of a part: {why}"));
    let instructions = decode(&code.code).map_err(|e| bad(&e.to_string()))?;
    let at = |pc: Label| {
        instructions
            .iter()
            .position(|(start, _)| u32::from(*start) == pc.0)
            .ok_or_else(|| bad("a target is no instruction"))
    };
    let is = |n: usize, wanted: &Instruction| instructions.get(n).is_some_and(|i| i.1 == *wanted);
    let load = Instruction::Local {
        op: ALOAD,
        index: 0,
    };
    let back = Instruction::Plain(ARETURN);
    let casts = matches!(instructions.get(1), Some((_, Instruction::Pool { op: CHECKCAST, index }))
        if emitted.pool.class_name(*index).is_ok_and(|class| class == runtime::FRAME));
    let asks = called(emitted, &instructions, 2, INVOKEVIRTUAL)
        == Some((runtime::FRAME.into(), "point".into(), "()I".into()));
    let Some((_, Instruction::LookupSwitch { default, pairs })) = instructions.get(HEAD - 1) else {
        return Err(bad("there is no switch"));
    };
    if !is(0, &load) || !casts || !asks || !code.exceptions.is_empty() {
        return Err(bad("it does something else before the switch"));
    }
    let mut points: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (point, target) in pairs {
        let point = usize::try_from(*point).map_err(|_| bad("a negative point"))?;
        points.entry(at(*target)?).or_default().push(point);
    }
    let own = emitted.name().unwrap_or_default();
    let mut found = Vec::new();
    let mut next = HEAD;
    for (start, points) in points {
        let part = called(emitted, &instructions, start + 1, INVOKESTATIC);
        let Some((owner, name, descriptor)) = part else {
            return Err(bad("a target calls nothing"));
        };
        let is_part =
            owner == *own && descriptor == runtime::RESUME_DESCRIPTOR && runtime::is_part(&name);
        if start != next || !is_part || !is(start, &load) || !is(start + 2, &back) {
            return Err(bad("a target does something else"));
        }
        next += 3;
        found.push(Part { name, points });
    }
    let ends = at(*default)? == next
        && is(next, &load)
        && is(next + 1, &back)
        && instructions.len() == next + 2;
    if !ends {
        return Err(bad("an unknown frame is not returned"));
    }
    let known = contracts.iter().enumerate().skip(1);
    let known: BTreeSet<usize> = known.filter(|c| c.1.is_some()).map(|c| c.0).collect();
    let chosen: BTreeSet<usize> = found.iter().flat_map(|part| part.points.clone()).collect();
    match chosen == known {
        true => Ok(found),
        false => Err(bad("its points are not those of the method")),
    }
}

/// The owner, the name and the descriptor of the method that an instruction calls.
fn called(
    emitted: &ClassFile,
    instructions: &[(u16, Instruction)],
    n: usize,
    wanted: u8,
) -> Option<(String, String, String)> {
    let (_, Instruction::Pool { op, index }) = instructions.get(n)? else {
        return None;
    };
    let member = emitted.pool.member(*index).ok().filter(|_| *op == wanted)?;
    Some((
        emitted.pool.class_name(member.class).ok()?.into_owned(),
        emitted.pool.text(member.name).ok()?.into_owned(),
        emitted.pool.text(member.descriptor).ok()?.into_owned(),
    ))
}
