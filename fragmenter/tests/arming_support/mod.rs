//! A small verifier: checks an emitted class file without loading a class.
//!
//! The verifier follows types through every method (JVMS §4.10.1), and checks that the state fits
//! each frame that it flows into. All references count as one type, because a comparison would need
//! the class hierarchy. Everything else must be equal: kinds of primitive values, objects without a
//! finished constructor, and the depth of the operand stack.

#![allow(dead_code, reason = "each test binary uses a part of it")]

mod operands;

use std::collections::HashMap;

use veneer_fragmenter::bytecode::opcode::{ASTORE, ISTORE, ends_flow, is_return};
use veneer_fragmenter::bytecode::{Instruction, decode};
use veneer_fragmenter::classfile::{
    ClassFile, Code, ConstantPool, Member, StackMapFrame, VerificationType, decode_stack_map,
};
use veneer_fragmenter::descriptor::MethodType;
use veneer_fragmenter::types::{self, State, Type, initial_index};

/// Checks each method of a class file. The error names the method, the position and the mismatch.
pub fn verify(bytes: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
    let file = ClassFile::parse(bytes).map_err(|e| format!("cannot be read again: {e}"))?;
    if file.to_bytes().map_err(|e| e.to_string())? != bytes {
        return Err("is not the same when written again".into());
    }
    let name = file.name().map_err(|e| e.to_string())?.into_owned();
    for member in &file.methods {
        let Some(attribute) = member.attributes.iter().find(|a| a.is(&file.pool, "Code")) else {
            continue;
        };
        let method = format!(
            "{name}.{}{}",
            file.pool.text(member.name).map_err(|e| e.to_string())?,
            file.pool
                .text(member.descriptor)
                .map_err(|e| e.to_string())?
        );
        let code = Code::parse(&attribute.info).map_err(|e| format!("{method}: the code: {e}"))?;
        verify_code(&file.pool, &name, member, &code).map_err(|e| format!("{method}: {e}"))?;
    }
    Ok(())
}

fn verify_code(
    pool: &ConstantPool,
    class: &str,
    member: &Member,
    code: &Code,
) -> Result<(), Box<dyn std::error::Error>> {
    let text = |i| pool.text(i).map_err(|e| e.to_string());
    let (name, descriptor) = (text(member.name)?, text(member.descriptor)?);
    let signature = MethodType::parse(&descriptor).ok_or("a bad descriptor")?;
    let instructions = decode(&code.code).map_err(|e| e.to_string())?;
    let starts = |pc: u16| {
        instructions
            .binary_search_by_key(&pc, |(at, _)| *at)
            .is_ok()
    };
    if code.code.is_empty() || code.code.len() > 65_535 {
        return Err(format!("has {} bytes of code", code.code.len()).into());
    }
    for row in &code.exceptions {
        let end = row.end as usize == code.code.len() || starts(row.end);
        if !(row.start < row.end && starts(row.start) && end && starts(row.handler)) {
            return Err(format!(
                "the exception range {}..{} -> {} does not lie on instructions",
                row.start, row.end, row.handler
            )
            .into());
        }
    }
    for (pc, instruction) in &instructions {
        for target in instruction.targets() {
            if u16::try_from(target.0).map_or(true, |t| !starts(t)) {
                return Err(format!("{pc} branches to {}, inside of something", target.0).into());
            }
        }
    }
    let entry = State::entry(
        class,
        member.access & 0x0008 != 0,
        name == "<init>",
        &signature,
        code.max_locals,
    );
    let used: u16 = signature.slots() + (member.access & 0x0008 == 0) as u16;
    if code.max_locals < used {
        return Err(format!("max_locals is {}", code.max_locals).into());
    }
    let frames = match code.attributes.iter().find(|a| a.is(pool, "StackMapTable")) {
        Some(table) => decode_stack_map(&table.info, &initial(&entry))
            .map_err(|e| format!("stack map: {e}"))?,
        None => Vec::new(),
    };
    let by_pc = states(&frames, pool, &entry, code.max_locals, &starts)?;
    let returns = signature.returns_by();
    follow(pool, (class, returns), code, &instructions, &by_pc, entry)
}

/// Returns the frames as states, by pc.
fn states(
    frames: &[StackMapFrame],
    pool: &ConstantPool,
    entry: &State,
    max_locals: u16,
    starts: &dyn Fn(u16) -> bool,
) -> Result<HashMap<u16, State>, Box<dyn std::error::Error>> {
    let mut by_pc = HashMap::new();
    for frame in frames {
        if !starts(frame.pc) {
            return Err(format!("the frame at {} lies inside of an instruction", frame.pc).into());
        }
        let state = State::from_frame(frame, pool, &entry.locals, max_locals)
            .ok_or_else(|| format!("the frame at {} names no class", frame.pc))?;
        if state.locals.len() > max_locals as usize {
            return Err(format!("the frame at {} has too many locals", frame.pc).into());
        }
        for t in state.locals.iter().chain(&state.stack) {
            if let Type::Uninitialized(new) = t
                && !starts(*new)
            {
                return Err(format!("the frame at {}: no `new` at {new}", frame.pc).into());
            }
        }
        if by_pc.insert(frame.pc, state).is_some() {
            return Err(format!("two frames at {}", frame.pc).into());
        }
    }
    Ok(by_pc)
}

fn follow(
    pool: &ConstantPool,
    (class, returns): (&str, u8),
    code: &Code,
    instructions: &[(u16, Instruction)],
    frames: &HashMap<u16, State>,
    entry: State,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut state = Some(entry);
    for (pc, instruction) in instructions {
        if let Some(frame) = frames.get(pc) {
            if let Some(flowing) = &state {
                fits(flowing, frame).map_err(|e| format!("falling into {pc}: {e}"))?;
            }
            state = Some(frame.clone());
        }
        let Some(current) = &mut state else {
            return Err(format!("no frame at {pc}, where nothing flows in").into());
        };
        if let Instruction::Local { op, index } = instruction {
            loads_what_is_there(current, *op, *index).map_err(|e| format!("at {pc}: {e}"))?;
        }
        operands::check(current, instruction, pool, returns)
            .map_err(|e| format!("at {pc}: {e}"))?;
        protected(current, *pc, code, frames)?;
        types::step(current, *pc, instruction, pool, class).map_err(|e| e.to_string())?;
        // HotSpot also checks the state after an instruction, except for stores, which cannot
        // throw. The JVMS requires neither check.
        if !stores(instruction) {
            protected(current, *pc, code, frames)?;
        }
        if current.depth() > code.max_stack {
            return Err(format!(
                "at {pc} the stack has {} words, max_stack is {}",
                current.depth(),
                code.max_stack
            )
            .into());
        }
        for target in instruction.targets() {
            let frame = frames
                .get(&(target.0 as u16))
                .ok_or_else(|| format!("{pc} branches to {}, where no frame is", target.0))?;
            fits(current, frame).map_err(|e| format!("{pc} -> {}: {e}", target.0))?;
        }
        let op = instruction.op();
        if ends_flow(op) {
            if is_return(op) && current.locals.first() == Some(&Type::UninitializedThis) {
                return Err(format!("{pc} returns from an unfinished constructor").into());
            }
            state = None;
        }
    }
    if state.is_some() {
        return Err("control falls off the end".into());
    }
    Ok(())
}

fn stores(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Local { op, .. } if (ISTORE..=ASTORE).contains(op))
}

fn protected(
    state: &State,
    pc: u16,
    code: &Code,
    frames: &HashMap<u16, State>,
) -> Result<(), Box<dyn std::error::Error>> {
    for row in code
        .exceptions
        .iter()
        .filter(|r| (r.start..r.end).contains(&pc))
    {
        let frame = frames
            .get(&row.handler)
            .ok_or_else(|| format!("no frame at the handler {}", row.handler))?;
        let thrown = State {
            locals: state.locals.clone(),
            stack: vec![Type::object("java/lang/Throwable")],
        };
        fits(&thrown, frame).map_err(|e| format!("{pc} -> handler {}: {e}", row.handler))?;
    }
    Ok(())
}

fn loads_what_is_there(
    state: &State,
    op: u8,
    index: u16,
) -> Result<(), Box<dyn std::error::Error>> {
    let have = state.locals.get(index as usize).unwrap_or(&Type::Top);
    let right = match op {
        21 => *have == Type::Int,
        22 => *have == Type::Long,
        23 => *have == Type::Float,
        24 => *have == Type::Double,
        25 => have.is_reference() || have.is_uninitialized(),
        _ => true,
    };
    if right {
        Ok(())
    } else {
        Err(format!("opcode {op} loads local {index}, which holds {have}").into())
    }
}

fn fits(have: &State, want: &State) -> Result<(), Box<dyn std::error::Error>> {
    let one = |what: &str, have: &Type, want: &Type| -> Result<(), Box<dyn std::error::Error>> {
        let same = match (have, want) {
            (_, Type::Top) => true,
            (Type::Null | Type::Object(_), Type::Object(_)) => true,
            (a, b) => a == b,
        };
        if same {
            Ok(())
        } else {
            Err(format!("{what} holds {have}, the frame says {want}").into())
        }
    };
    for (i, want) in want.locals.iter().enumerate() {
        one(
            &format!("local {i}"),
            have.locals.get(i).unwrap_or(&Type::Top),
            want,
        )?;
    }
    if have.stack.len() != want.stack.len() {
        return Err(format!(
            "{} values on the stack, the frame says {}",
            have.stack.len(),
            want.stack.len()
        )
        .into());
    }
    for (i, (have, want)) in have.stack.iter().zip(&want.stack).enumerate() {
        one(&format!("stack value {i}"), have, want)?;
    }
    Ok(())
}

/// Returns the frame at method entry in the form that the stack-map encoder needs.
fn initial(entry: &State) -> Vec<VerificationType> {
    let mut out = Vec::new();
    let mut second = false;
    let used = entry
        .locals
        .iter()
        .rposition(|t| *t != Type::Top)
        .map_or(0, |i| i + 1);
    for (k, t) in entry.locals[..used].iter().enumerate() {
        if std::mem::take(&mut second) {
            continue;
        }
        second = t.width() == 2;
        out.push(match t {
            Type::Int => VerificationType::Integer,
            Type::Float => VerificationType::Float,
            Type::Long => VerificationType::Long,
            Type::Double => VerificationType::Double,
            Type::UninitializedThis => VerificationType::UninitializedThis,
            Type::Object(_) => VerificationType::Object(initial_index(k)),
            other => panic!("{other} at entry"),
        });
    }
    out
}
