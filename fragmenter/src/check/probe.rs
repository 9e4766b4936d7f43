//! Methods of compiled probes in a version class: they can do nothing to the application, whatever they compute.
//!
//! What is looked for: nothing is called but the runtime's class for probes, no field is written or read, no array is touched, nothing is
//! made, locked or thrown; and an exception, of a division or a full stack, is caught. That a loop in them ends is left to the
//! compiler of probes, whose loops ask `VeneerProbe.more` at each turn.

use super::class::names;
use super::failure::Failure;
use crate::bytecode::opcode::*;
use crate::bytecode::{Instruction, decode};
use crate::classfile::{ClassFile, Code, Entry, Member};
use crate::runtime;

fn wrong(why: &'static str) -> Failure {
    Failure::Own {
        at: Default::default(),
        why: why.into(),
    }
}

/// Whether a method has the name of one.
pub(super) fn is(file: &ClassFile, member: &Member) -> bool {
    let name = file.pool.text(member.name).unwrap_or_default();
    let number = name.strip_prefix("run").and_then(|n| n.parse().ok());
    number.is_some_and(|n: usize| runtime::probe_method(n) == name)
}

/// Fails where it could do something.
pub(super) fn harmless(file: &ClassFile, member: &Member) -> Result<(), Failure> {
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
    // Before the range, constants go into variables; behind it, the exception is dropped.
    let handler = [Instruction::Plain(POP), Instruction::Plain(RETURN)];
    let behind: Vec<&Instruction> = list
        .iter()
        .filter(|(pc, _)| *pc >= range.end)
        .map(|i| &i.1)
        .collect();
    if range.catch_type != 0
        || range.handler != range.end
        || behind != handler.iter().collect::<Vec<_>>()
    {
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
                Ok(Entry::Integer(_)
                    | Entry::Float(_)
                    | Entry::Long(_)
                    | Entry::Double(_)
                    | Entry::String(_))
            ),
            Instruction::Branch { op, .. } => matches!(*op, IFEQ | GOTO),
            Instruction::Pool {
                op: INVOKESTATIC,
                index,
            } => names(&file.pool, *index).is_some_and(|(class, _)| class == runtime::PROBE),
            _ => false,
        };
        if !fine {
            return Err(wrong("a probe that could do something"));
        }
    }
    Ok(())
}
