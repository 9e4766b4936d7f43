//! Checks that the methods of compiled probes in a version class cannot affect the application.
//!
//! The rules, whatever values a probe computes:
//!
//! * A probe calls only the runtime classes for probes and the application methods named in the
//!   plan.
//! * A probe reads and writes no field and no array, allocates nothing, locks nothing, throws
//!   nothing.
//! * All exceptions, of a division or a stack overflow, are caught.
//!
//! This module does not show that a loop in a probe ends. The compiler of probes guarantees that:
//! its loops call `VeneerProbe.more` in each iteration.

use super::failure::Failure;
use super::member_names::class_and_name;
use crate::bytecode::opcode::*;
use crate::bytecode::{Instruction, decode};
use crate::classfile::{ClassFile, Code, ConstantTag, Member, PoolEntry};
use crate::runtime;
use veneer_probes::step::{Callee, ProbeStep};

fn wrong(why: &'static str) -> Failure {
    Failure::Own {
        at: Default::default(),
        why: why.into(),
    }
}

/// True if the method has the name of a compiled probe.
pub(super) fn is_probe_method(file: &ClassFile, member: &Member) -> bool {
    let name = file.pool.text(member.name).unwrap_or_default();
    let number = name.strip_prefix("run").and_then(|n| n.parse().ok());
    number.is_some_and(|n: usize| runtime::probe_method(n) == name)
}

/// Returns an error if the probe could affect the application. `steps` lists the casts and
/// application calls that the plan contains.
pub(super) fn check_harmless(
    file: &ClassFile,
    member: &Member,
    steps: &[ProbeStep],
) -> Result<(), Failure> {
    let unreadable = |e: String| Failure::Unreadable("emitted code", e);
    let descriptor = file.pool.text(member.descriptor).unwrap_or_default();
    if member.access & 0x0fff != 0x0008 || !descriptor.ends_with(")V") {
        return Err(wrong("the flags or the result of a probe"));
    }
    let info = member
        .attribute(&file.pool, "Code")
        .ok_or_else(|| Failure::Missing("a probe's code".into()))?;
    let code = Code::parse(&info.info).map_err(|e| unreadable(e.to_string()))?;
    let list = decode(&code.code).map_err(|e| unreadable(e.to_string()))?;
    let [range] = code.exceptions.as_slice() else {
        return Err(wrong("a probe whose exceptions are not all caught"));
    };
    // Before the protected range, constants are stored in variables. After the range, the exception
    // is dropped.
    let behind: Vec<&Instruction> = list
        .iter()
        .filter(|(pc, _)| *pc >= range.end)
        .map(|i| &i.1)
        .collect();
    let dropped = match behind[..] {
        [Instruction::Plain(POP), Instruction::Plain(RETURN)] => true,
        // A probe that calls application methods also calls `VeneerProbe.leave`.
        [
            Instruction::Plain(POP),
            Instruction::Local { op: ILOAD, .. },
            Instruction::Pool {
                op: INVOKESTATIC,
                index,
            },
            Instruction::Plain(RETURN),
        ] => class_and_name(&file.pool, *index)
            .is_some_and(|(class, name)| class == runtime::PROBE && name == runtime::LEAVE),
        _ => false,
    };
    if range.catch_type != 0 || range.handler != range.end || !dropped {
        return Err(wrong("a probe whose exceptions are not all caught"));
    }
    for (pc, instruction) in &list {
        let first = *pc < range.start;
        let fine = match instruction {
            Instruction::Plain(ACONST_NULL..=DCONST_0) => true,
            Instruction::Local { op, .. } if first => *op >= ISTORE && *op != RET,
            _ if first => false,
            Instruction::Local { op, .. } => *op != RET,
            Instruction::Plain(op) => matches!(*op, NOP | POP | RETURN | IADD..=DCMPG),
            Instruction::Push(_) => true,
            Instruction::Ldc { index, .. } => matches!(
                file.pool.entry(*index),
                Ok(PoolEntry::Integer(_)
                    | PoolEntry::Float(_)
                    | PoolEntry::Long(_)
                    | PoolEntry::Double(_)
                    | PoolEntry::String(_))
            ),
            Instruction::Branch { op, .. } => matches!(*op, IFEQ | GOTO),
            Instruction::Pool {
                op: INVOKESTATIC,
                index,
            } => class_and_name(&file.pool, *index)
                .is_some_and(|(class, _)| runtime::PROBE_CALL_CLASSES.contains(&&*class)),
            Instruction::Pool {
                op: CHECKCAST,
                index,
            } => {
                let class = file.pool.class_name(*index).map(|name| name.into_owned());
                class.is_ok_and(|class| steps.contains(&ProbeStep::Cast(class)))
            }
            Instruction::Pool {
                op: INVOKEVIRTUAL,
                index,
            } => callee(file, *index, false).is_some_and(|step| steps.contains(&step)),
            Instruction::InvokeInterface { index, .. } => {
                callee(file, *index, true).is_some_and(|step| steps.contains(&step))
            }
            _ => false,
        };
        if !fine {
            return Err(wrong("a probe that could do something"));
        }
    }
    Ok(())
}

/// Reads a call of an application method.
fn callee(file: &ClassFile, index: u16, is_interface: bool) -> Option<ProbeStep> {
    let member = file.pool.member(index).ok()?;
    let wanted = match is_interface {
        true => ConstantTag::InterfaceMethod,
        false => ConstantTag::Method,
    };
    (member.tag == wanted).then_some(())?;
    Some(ProbeStep::Invoke(Callee {
        owner: file.pool.class_name(member.class).ok()?.into_owned(),
        is_interface,
        name: file.pool.text(member.name).ok()?.into_owned(),
        descriptor: file.pool.text(member.descriptor).ok()?.into_owned(),
    }))
}
