//! The operands that instructions pop (JVMS §6.5), by kind: `I` for all types that the JVM
//! represents as `int`, `A` for references.

use veneer_fragmenter::bytecode::Instruction;
use veneer_fragmenter::bytecode::opcode::*;
use veneer_fragmenter::classfile::ConstantPool;
use veneer_fragmenter::descriptor::{self, MethodType};
use veneer_fragmenter::types::{State, Type};

fn kind(t: &Type) -> char {
    match t {
        Type::Int => 'I',
        Type::Long => 'L',
        Type::Float => 'F',
        Type::Double => 'D',
        Type::Top => '-',
        _ => 'A',
    }
}

/// Returns the kinds that an instruction needs on top of the stack, the top last. Instructions that
/// only move values need no specific kind.
fn wanted(i: &Instruction, pool: &ConstantPool) -> Option<String> {
    let four = |n: u8| ["I", "L", "F", "D"][n as usize % 4];
    let member = |index: u16| {
        let m = pool.member(index).ok()?;
        pool.text(m.descriptor).ok()
    };
    let call = |index: u16, receiver: &str| {
        let parsed = MethodType::parse(&member(index)?)?;
        let parameters = parsed.parameters.iter().map(kind);
        Some(receiver.chars().chain(parameters).collect::<String>())
    };
    let plain = |op: u8| -> &str {
        match op {
            46..=53 => "AI",
            79 | 84 | 85 | 86 => "AII",
            80 => "AIL",
            81 => "AIF",
            82 => "AID",
            83 => "AIA",
            96..=115 => ["II", "LL", "FF", "DD"][(op as usize - 96) % 4],
            116..=119 => four(op - 116),
            120..=125 => ["II", "LI"][op as usize % 2],
            126..=131 => ["II", "LL"][op as usize % 2],
            133..=135 | 145..=147 | 172 => "I",
            136..=138 | 173 => "L",
            139..=141 | 174 => "F",
            142..=144 | 175 => "D",
            148 => "LL",
            149 | 150 => "FF",
            151 | 152 => "DD",
            176 | 190 | 191 | 194 | 195 => "A",
            _ => "",
        }
    };
    Some(match i {
        Instruction::Plain(op) => plain(*op).into(),
        Instruction::Local { op, .. } if (ISTORE..=ASTORE).contains(op) => {
            ["I", "L", "F", "D", "A"][(*op - ISTORE) as usize].into()
        }
        Instruction::Branch { op, .. } => match *op {
            153..=158 => "I",
            159..=164 => "II",
            165 | 166 => "AA",
            198 | 199 => "A",
            _ => "",
        }
        .into(),
        Instruction::TableSwitch { .. } | Instruction::LookupSwitch { .. } => "I".into(),
        Instruction::NewArray(_) => "I".into(),
        Instruction::MultiNewArray { dims, .. } => "I".repeat(*dims as usize),
        Instruction::InvokeInterface { index, .. } => call(*index, "A")?,
        Instruction::InvokeDynamic { index } => {
            let (_, _, d) = pool.dynamic(*index).ok()?;
            let parsed = MethodType::parse(&pool.text(d).ok()?)?;
            parsed.parameters.iter().map(kind).collect()
        }
        Instruction::Pool { op, index } => match *op {
            GETFIELD | CHECKCAST | INSTANCEOF => "A".into(),
            PUTSTATIC | PUTFIELD => {
                let value = kind(&descriptor::field(&member(*index)?)?);
                let receiver = if *op == PUTFIELD { "A" } else { "" };
                format!("{receiver}{value}")
            }
            INVOKESTATIC => call(*index, "")?,
            INVOKEVIRTUAL | INVOKESPECIAL => call(*index, "A")?,
            ANEWARRAY => "I".into(),
            _ => String::new(),
        },
        _ => String::new(),
    })
}

/// Checks that the stack has the operands of the instruction, and that a return fits the method's
/// result.
pub fn check(
    state: &State,
    i: &Instruction,
    pool: &ConstantPool,
    returns: u8,
) -> Result<(), Box<dyn std::error::Error>> {
    let wanted = wanted(i, pool).ok_or("a constant that is not what it has to be")?;
    let from = state.stack.len().checked_sub(wanted.len());
    let found: Option<String> = from.map(|n| state.stack[n..].iter().map(kind).collect());
    if found.as_ref() != Some(&wanted) {
        return Err(format!("it takes {wanted:?} and finds {found:?}").into());
    }
    if is_return(i.op()) && i.op() != returns {
        return Err("it returns something of another kind".into());
    }
    Ok(())
}
