//! The types of local variables and operand stack before every instruction of a method.
//!
//! If a class has a `StackMapTable` (JVMS §4.10.1), one forward pass from its frames computes the
//! types everywhere. No join is ever computed, so the pass needs no class hierarchy and loads no
//! class.
//!
//! ```text
//!   frame ─▶ pc ─step─▶ pc' ─step─▶ …        a frame in the table replaces what flowed in;
//!                        └─ goto: nothing flows on, so the next pc must have a frame
//! ```
//!
//! Locals have one element per *slot*; the second slot of a `long` or `double` is `Top`. The stack
//! has one element per *value*.

use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use crate::classfile::{ConstantPool, PoolEntry, StackMapFrame, VerificationType};
use crate::descriptor::{self, MethodType};
use std::sync::Arc;
use veneer_names::{LocalSlot, array_of, constant_name};

pub use crate::value_type::Type;

/// Types of all locals (by slot) and of the operand stack (by value, with the top last).
#[derive(Clone, Debug, PartialEq, Default)]
pub struct State {
    /// One element per slot.
    pub locals: Vec<Type>,
    /// One element per value.
    pub stack: Vec<Type>,
}

/// The reason why types could not be followed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TypeError {
    /// There is no frame at a pc that needs one: the class has no `StackMapTable`, or the code is
    /// dead.
    #[error("no stack map frame at {0}, where nothing flows in")]
    NoFrame(u16),
    /// The code does not verify.
    #[error("the operand stack underflows at {0}")]
    Underflow(u16),
    /// The instruction refers to a local variable beyond `max_locals`, or to an invalid constant.
    #[error("a broken operand at {0}")]
    BadOperand(u16),
}

impl State {
    /// The types of the local variables, with their numbers.
    pub fn numbered_locals(&self) -> impl Iterator<Item = (LocalSlot, &Type)> {
        let locals = self.locals.iter().enumerate();
        locals.map(|(slot, ty)| (LocalSlot(slot as u16), ty))
    }

    /// The state at method entry (JVMS §4.10.1.6).
    pub fn entry(
        class: &str,
        is_static: bool,
        is_constructor: bool,
        descriptor: &MethodType,
        max_locals: u16,
    ) -> State {
        let mut locals = Vec::with_capacity(max_locals as usize);
        if !is_static {
            locals.push(if is_constructor && class != "java/lang/Object" {
                Type::UninitializedThis
            } else {
                Type::object(class)
            });
        }
        for p in &descriptor.parameters {
            let wide = p.width() == 2;
            locals.push(p.clone());
            if wide {
                locals.push(Type::Top);
            }
        }
        locals.resize((max_locals as usize).max(locals.len()), Type::Top);
        State {
            locals,
            stack: Vec::new(),
        }
    }

    /// Converts a decoded stack-map frame to a state. `initial` are the locals at entry, to which
    /// [`initial_index`] refers. Returns `None` if the frame names a constant that is not a class.
    pub fn from_frame(
        frame: &StackMapFrame,
        pool: &ConstantPool,
        initial: &[Type],
        max_locals: u16,
    ) -> Option<State> {
        let mut locals = Vec::with_capacity(max_locals as usize);
        for v in &frame.locals {
            let t = from_verification(v, pool, initial)?;
            let wide = t.width() == 2;
            locals.push(t);
            if wide {
                locals.push(Type::Top);
            }
        }
        locals.resize((max_locals as usize).max(locals.len()), Type::Top);
        let stack = frame
            .stack
            .iter()
            .map(|v| from_verification(v, pool, initial))
            .collect::<Option<_>>()?;
        Some(State { locals, stack })
    }

    /// Operand stack depth in words.
    pub fn depth(&self) -> u16 {
        self.stack.iter().map(Type::width).sum()
    }

    /// Whether any local or stack value is an object on which no constructor has completed.
    pub fn has_uninitialized(&self) -> bool {
        self.locals
            .iter()
            .chain(&self.stack)
            .any(Type::is_uninitialized)
    }

    fn pop(&mut self, pc: u16) -> Result<Type, TypeError> {
        self.stack.pop().ok_or(TypeError::Underflow(pc))
    }

    fn set_local(&mut self, index: u16, t: Type, pc: u16) -> Result<(), TypeError> {
        let i = index as usize;
        let wide = t.width() == 2;
        if i + wide as usize >= self.locals.len() {
            return Err(TypeError::BadOperand(pc));
        }
        // A store into the second half of a `long` or `double` destroys the value.
        if i > 0 && self.locals[i - 1].width() == 2 {
            self.locals[i - 1] = Type::Top;
        }
        self.locals[i] = t;
        if wide {
            self.locals[i + 1] = Type::Top;
        }
        Ok(())
    }

    fn initialize(&mut self, old: &Type, new: &Type) {
        for t in self.locals.iter_mut().chain(self.stack.iter_mut()) {
            if t == old {
                *t = new.clone();
            }
        }
    }
}

/// A substitute for a constant-pool index in decoded frames: the class of local number `k` at
/// entry. The method's descriptor names this class, but the constant pool may not contain it. A
/// method has at most 255 parameter words, and pools that reach this range are refused.
pub fn initial_index(k: usize) -> u16 {
    u16::MAX - k as u16
}

/// Constant pools with this count or more are refused, because their indices would collide with
/// [`initial_index`].
pub const POOL_LIMIT: u16 = u16::MAX - 256;

fn from_verification(v: &VerificationType, pool: &ConstantPool, initial: &[Type]) -> Option<Type> {
    Some(match v {
        VerificationType::Top => Type::Top,
        VerificationType::Integer => Type::Int,
        VerificationType::Float => Type::Float,
        VerificationType::Double => Type::Double,
        VerificationType::Long => Type::Long,
        VerificationType::Null => Type::Null,
        VerificationType::UninitializedThis => Type::UninitializedThis,
        VerificationType::Object(i) if *i >= POOL_LIMIT => {
            initial.get((u16::MAX - *i) as usize)?.clone()
        }
        VerificationType::Object(i) => Type::Object(Arc::from(&*pool.class_name(*i).ok()?)),
        VerificationType::Uninitialized(pc) => Type::Uninitialized(*pc),
    })
}

fn type_of_letter(c: char) -> Type {
    match c {
        'I' => Type::Int,
        'L' => Type::Long,
        'F' => Type::Float,
        'D' => Type::Double,
        _ => Type::Null,
    }
}

/// The name and the method descriptor that an invoking instruction refers to.
pub fn invoked<'p>(
    pool: &'p ConstantPool,
    index: u16,
    op: u8,
) -> Option<(std::borrow::Cow<'p, str>, MethodType)> {
    let (name, descriptor) = if op == INVOKEDYNAMIC {
        let (_, name, descriptor) = pool.dynamic(index).ok()?;
        (name, descriptor)
    } else {
        let member = pool.member(index).ok()?;
        (member.name, member.descriptor)
    };
    let parsed = MethodType::parse(&pool.text(descriptor).ok()?)?;
    Some((pool.text(name).ok()?, parsed))
}

/// Applies one instruction to the state. `class` is the internal name of the method's class.
pub fn step(
    state: &mut State,
    pc: u16,
    instruction: &Instruction,
    pool: &ConstantPool,
    class: &str,
) -> Result<(), TypeError> {
    let bad = || TypeError::BadOperand(pc);
    match instruction {
        Instruction::Push(_) => state.stack.push(Type::Int),
        Instruction::Ldc { index, .. } => {
            let t = match pool.entry(*index).map_err(|_| bad())? {
                PoolEntry::Integer(_) => Type::Int,
                PoolEntry::Float(_) => Type::Float,
                PoolEntry::Long(_) => Type::Long,
                PoolEntry::Double(_) => Type::Double,
                PoolEntry::String { .. } => Type::object("java/lang/String"),
                PoolEntry::Class { .. } => Type::object("java/lang/Class"),
                PoolEntry::MethodType { .. } => Type::object("java/lang/invoke/MethodType"),
                PoolEntry::MethodHandle { .. } => Type::object("java/lang/invoke/MethodHandle"),
                PoolEntry::Dynamic { .. } => {
                    let (_, _, d) = pool.dynamic(*index).map_err(|_| bad())?;
                    descriptor::field(&pool.text(d).map_err(|_| bad())?).ok_or_else(bad)?
                }
                _ => return Err(bad()),
            };
            state.stack.push(t);
        }
        Instruction::Local { op, index } => match *op {
            ILOAD => state.stack.push(Type::Int),
            LLOAD => state.stack.push(Type::Long),
            FLOAD => state.stack.push(Type::Float),
            DLOAD => state.stack.push(Type::Double),
            ALOAD => {
                let t = state.locals.get(*index as usize).cloned().ok_or_else(bad)?;
                state.stack.push(t);
            }
            RET => {}
            _ => {
                let t = state.pop(pc)?;
                state.set_local(*index, t, pc)?;
            }
        },
        Instruction::Iinc { .. } => {}
        Instruction::NewArray(code) => {
            state.pop(pc)?;
            let name = ["[Z", "[C", "[F", "[D", "[B", "[S", "[I", "[J"]
                .get((*code as usize).wrapping_sub(4))
                .ok_or_else(bad)?;
            state.stack.push(Type::object(name));
        }
        Instruction::MultiNewArray { index, dims } => {
            for _ in 0..*dims {
                state.pop(pc)?;
            }
            state
                .stack
                .push(Type::object(&pool.class_name(*index).map_err(|_| bad())?));
        }
        Instruction::InvokeInterface { index, .. } => {
            step_invoke(state, pc, pool, *index, INVOKEINTERFACE, class)?
        }
        Instruction::InvokeDynamic { index } => {
            step_invoke(state, pc, pool, *index, INVOKEDYNAMIC, class)?
        }
        Instruction::Pool { op, index } => match *op {
            GETSTATIC | GETFIELD | PUTSTATIC | PUTFIELD => {
                let member = pool.member(*index).map_err(|_| bad())?;
                let t = descriptor::field(&pool.text(member.descriptor).map_err(|_| bad())?)
                    .ok_or_else(bad)?;
                if matches!(*op, PUTFIELD | PUTSTATIC) {
                    state.pop(pc)?;
                }
                if matches!(*op, GETFIELD | PUTFIELD) {
                    state.pop(pc)?;
                }
                if matches!(*op, GETFIELD | GETSTATIC) {
                    state.stack.push(t);
                }
            }
            INVOKEVIRTUAL | INVOKESPECIAL | INVOKESTATIC => {
                step_invoke(state, pc, pool, *index, *op, class)?
            }
            NEW => state.stack.push(Type::Uninitialized(pc)),
            ANEWARRAY => {
                state.pop(pc)?;
                let element = pool.class_name(*index).map_err(|_| bad())?;
                state.stack.push(Type::object(&array_of(&element)));
            }
            CHECKCAST => {
                state.pop(pc)?;
                state
                    .stack
                    .push(Type::object(&pool.class_name(*index).map_err(|_| bad())?));
            }
            INSTANCEOF => {
                state.pop(pc)?;
                state.stack.push(Type::Int);
            }
            _ => return Err(bad()),
        },
        Instruction::Plain(op) => step_plain(state, pc, *op)?,
        Instruction::Branch { op: JSR, .. } => return Err(bad()),
        Instruction::Branch { .. }
        | Instruction::TableSwitch { .. }
        | Instruction::LookupSwitch { .. } => step_by_signature(state, pc, instruction.op())?,
    }
    Ok(())
}

fn step_by_signature(state: &mut State, pc: u16, op: u8) -> Result<(), TypeError> {
    let (pops, pushes) = signature(op)
        .and_then(|s| s.split_once(':'))
        .ok_or(TypeError::BadOperand(pc))?;
    for _ in pops.chars() {
        state.pop(pc)?;
    }
    state.stack.extend(pushes.chars().map(type_of_letter));
    Ok(())
}

fn step_plain(state: &mut State, pc: u16, op: u8) -> Result<(), TypeError> {
    match op {
        ACONST_NULL => state.stack.push(Type::Null),
        AALOAD => {
            state.pop(pc)?;
            let element = match state.pop(pc)? {
                Type::Object(name) => match name.strip_prefix('[') {
                    Some(element) => Type::object(constant_name(element)),
                    None => return Err(TypeError::BadOperand(pc)),
                },
                _ => Type::Null,
            };
            state.stack.push(element);
        }
        POP => drop(state.pop(pc)?),
        POP2 => {
            if state.pop(pc)?.width() == 1 {
                state.pop(pc)?;
            }
        }
        DUP..=SWAP => step_shuffle(state, pc, op)?,
        _ => step_by_signature(state, pc, op)?,
    }
    Ok(())
}

/// Applies the stack-shuffling instructions, word by word (JVMS §6.5 `dup*`, `swap`).
fn step_shuffle(state: &mut State, pc: u16, op: u8) -> Result<(), TypeError> {
    // The number of words that are copied, and the number of words below which the copy is
    // inserted.
    let (copy, skip) = match op {
        DUP => (1, 0),
        DUP_X1 => (1, 1),
        DUP_X2 => (1, 2),
        DUP2 => (2, 0),
        DUP2_X1 => (2, 1),
        DUP2_X2 => (2, 2),
        _ => {
            let (a, b) = (state.pop(pc)?, state.pop(pc)?);
            state.stack.extend([a, b]);
            return Ok(());
        }
    };
    let take = |state: &mut State, mut words: i32| {
        let mut taken = Vec::new();
        while words > 0 {
            let t = state.pop(pc)?;
            words -= t.width() as i32;
            taken.push(t);
        }
        taken.reverse();
        Ok::<_, TypeError>(taken)
    };
    let top = take(state, copy)?;
    let below = take(state, skip)?;
    state
        .stack
        .extend(top.iter().cloned().chain(below).chain(top.iter().cloned()));
    Ok(())
}

fn step_invoke(
    state: &mut State,
    pc: u16,
    pool: &ConstantPool,
    index: u16,
    op: u8,
    class: &str,
) -> Result<(), TypeError> {
    let (name, descriptor) = invoked(pool, index, op).ok_or(TypeError::BadOperand(pc))?;
    for _ in &descriptor.parameters {
        state.pop(pc)?;
    }
    if !matches!(op, INVOKESTATIC | INVOKEDYNAMIC) {
        let receiver = state.pop(pc)?;
        if op == INVOKESPECIAL && name == "<init>" {
            let member = pool.member(index).map_err(|_| TypeError::BadOperand(pc))?;
            let made = match receiver {
                Type::UninitializedThis => Type::object(class),
                _ => Type::object(
                    &pool
                        .class_name(member.class)
                        .map_err(|_| TypeError::BadOperand(pc))?,
                ),
            };
            state.initialize(&receiver, &made);
        }
    }
    if let Some(result) = descriptor.result {
        state.stack.push(result);
    }
    Ok(())
}

/// Visits the instructions of a method body in pc order, with the state *before* each instruction.
pub fn walk(
    instructions: &[(u16, Instruction)],
    frames: &[StackMapFrame],
    entry: State,
    pool: &ConstantPool,
    class: &str,
    visit: &mut dyn FnMut(usize, u16, &State),
) -> Result<(), TypeError> {
    let max_locals = entry.locals.len() as u16;
    let initial = entry.locals.clone();
    let mut frames = frames.iter().peekable();
    let mut state = Some(entry);
    for (i, (pc, instruction)) in instructions.iter().enumerate() {
        if let Some(frame) = frames.next_if(|f| f.pc == *pc) {
            state = Some(
                State::from_frame(frame, pool, &initial, max_locals)
                    .ok_or(TypeError::BadOperand(*pc))?,
            );
        }
        let Some(current) = &mut state else {
            return Err(TypeError::NoFrame(*pc));
        };
        visit(i, *pc, current);
        step(current, *pc, instruction, pool, class)?;
        if ends_flow(instruction.op()) {
            state = None;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_has_the_class_of_the_arrays_elements() {
        for (array, element) in [
            ("[Ljava/lang/String;", "java/lang/String"),
            ("[LLl;", "Ll"),
            ("[LLib/Lines;", "Lib/Lines"),
            ("[[LLl;", "[LLl;"),
            ("[[I", "[I"),
        ] {
            let mut state = State {
                locals: Vec::new(),
                stack: vec![Type::object(array), Type::Int],
            };
            assert_eq!(step_plain(&mut state, 0, AALOAD), Ok(()));
            assert_eq!(state.stack, [Type::object(element)]);
        }
    }
}
