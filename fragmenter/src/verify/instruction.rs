//! The type rules of each instruction (JVMS §4.10.1.9).

use super::failure::{Fault, Rule};
use super::method::MethodVerifier;
use super::names::NameId;
use super::vtype::SlotType;
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use crate::classfile::ConstantTag;

/// Maximum number of array dimensions (JVMS §4.4.1).
const MAX_ARRAY_DIMENSIONS: usize = 255;
/// The first class-file version that allows any padding bytes in switches: Java 7.
const MIN_VERSION_ANY_PADDING: u16 = 51;

impl MethodVerifier<'_, '_, '_> {
    pub(super) fn apply(&mut self, instruction: &Instruction) -> Result<(), Fault> {
        match instruction {
            Instruction::Plain(op) => self.plain(*op),
            Instruction::Push(_) => self.state.push(SlotType::Int),
            Instruction::Ldc { index, wide } => self.constant(*index, *wide),
            Instruction::Local { op, index } => self.local(*op, *index),
            Instruction::Iinc { index, .. } => self.state.load(*index, SlotType::Int),
            Instruction::NewArray(code) => {
                self.state.pop_exactly(SlotType::Int)?;
                let arrays = [b"[Z", b"[C", b"[F", b"[D", b"[B", b"[S", b"[I", b"[J"];
                match arrays.get(usize::from(*code).wrapping_sub(4)) {
                    Some(name) => {
                        let id = self.context.assumptions.names.intern(&name[..]);
                        self.state.push(SlotType::Object(id))
                    }
                    None => Rule::Operand.fail(format!("newarray of type {code}")),
                }
            }
            Instruction::MultiNewArray { index, dims } => {
                let id = self.context.class(*index)?;
                let name = self.context.assumptions.names.bytes(id);
                let deep = name.iter().take_while(|b| **b == b'[').count();
                if *dims == 0 || deep < usize::from(*dims) {
                    return Rule::Operand.fail("multianewarray with too many dimensions");
                }
                for _ in 0..*dims {
                    self.state.pop_exactly(SlotType::Int)?;
                }
                self.state.push(SlotType::Object(id))
            }
            Instruction::InvokeInterface { index, count } => {
                let zero = self.code.get(usize::from(self.pc) + 4) == Some(&0);
                let member = self.context.pool.member(*index)?;
                let signature = self.context.signature(member.descriptor)?;
                let parameters = self.context.parameters(signature);
                let high = |at: usize| self.context.parameter(at).high();
                let words: usize = parameters
                    .map(|at| 1 + usize::from(high(at).is_some()))
                    .sum();
                if !zero || usize::from(*count) != words + 1 {
                    return Rule::Format.fail("invokeinterface has a wrong count");
                }
                self.invoke(INVOKEINTERFACE, *index)
            }
            Instruction::InvokeDynamic { index } => {
                let pc = usize::from(self.pc);
                if self.code.get(pc + 3..pc + 5) != Some(&[0, 0]) {
                    return Rule::Format.fail("invokedynamic does not end with zeros");
                }
                self.invoke(INVOKEDYNAMIC, *index)
            }
            Instruction::Pool { op, index } => self.pooled(*op, *index),
            Instruction::Branch { op, target } => {
                match *op {
                    GOTO => {}
                    JSR => return Rule::Format.fail("jsr"),
                    IFNULL | IFNONNULL => {
                        self.state.pop_reference()?;
                    }
                    165 | IF_ACMPNE => {
                        self.state.pop_reference()?;
                        self.state.pop_reference()?;
                    }
                    op => self.primitive_operation(op)?,
                }
                self.branch(*target)
            }
            Instruction::TableSwitch {
                default, targets, ..
            } => {
                self.switch()?;
                self.branch(*default)?;
                targets.iter().try_for_each(|target| self.branch(*target))
            }
            Instruction::LookupSwitch { default, pairs } => {
                self.switch()?;
                if !pairs.is_sorted_by(|a, b| a.0 < b.0) {
                    return Rule::Format.fail("the keys of lookupswitch do not ascend");
                }
                self.branch(*default)?;
                pairs.iter().try_for_each(|pair| self.branch(pair.1))
            }
        }
    }

    fn switch(&mut self) -> Result<(), Fault> {
        let after = usize::from(self.pc) + 1;
        let padding = self.code.get(after..after.next_multiple_of(4));
        let zero = padding.is_some_and(|bytes| bytes.iter().all(|b| *b == 0));
        if self.context.file.major < MIN_VERSION_ANY_PADDING && !zero {
            return Rule::Format.fail("a switch is not padded with zeros");
        }
        self.state.pop_exactly(SlotType::Int)
    }

    fn constant(&mut self, index: u16, wide: bool) -> Result<(), Fault> {
        let pool = self.context.pool;
        let tag = pool.tag(index)?;
        let t = match (tag, wide) {
            (ConstantTag::Integer, false) => SlotType::Int,
            (ConstantTag::Float, false) => SlotType::Float,
            (ConstantTag::String, false) => SlotType::Object(NameId::STRING),
            (ConstantTag::Class, false) => SlotType::Object(NameId::CLASS),
            (ConstantTag::MethodType, false) => SlotType::Object(NameId::METHOD_TYPE),
            (ConstantTag::MethodHandle, false) => SlotType::Object(NameId::METHOD_HANDLE),
            (ConstantTag::Long, true) => SlotType::Long,
            (ConstantTag::Double, true) => SlotType::Double,
            (ConstantTag::Dynamic, _) => {
                let (_, _, descriptor) = pool.dynamic(index)?;
                let t = self.context.field(descriptor)?;
                if t.high().is_some() != wide {
                    return Rule::Constant.fail("a dynamic constant of the wrong width");
                }
                t
            }
            _ => return Rule::Constant.fail(format!("ldc of a {tag}")),
        };
        self.state.push(t)
    }

    fn local(&mut self, op: u8, index: u16) -> Result<(), Fault> {
        let primitive = match op {
            ILOAD | ISTORE => SlotType::Int,
            LLOAD | LSTORE => SlotType::Long,
            FLOAD | FSTORE => SlotType::Float,
            DLOAD | DSTORE => SlotType::Double,
            ALOAD => {
                let t = self.state.locals.get(usize::from(index)).copied();
                return match t.filter(|t| t.is_reference()) {
                    Some(t) => self.state.push(t),
                    None => Rule::Local.fail(format!("local {index} is no reference")),
                };
            }
            ASTORE => {
                let t = self.state.pop_reference()?;
                return self.state.store(index, t);
            }
            _ => return Rule::Format.fail("ret"),
        };
        if op < ISTORE {
            self.state.load(index, primitive)?;
            self.state.push(primitive)
        } else {
            self.state.pop_exactly(primitive)?;
            self.state.store(index, primitive)
        }
    }

    fn pooled(&mut self, op: u8, index: u16) -> Result<(), Fault> {
        match op {
            GETSTATIC..=PUTFIELD => self.field_access(op, index),
            INVOKEVIRTUAL..=INVOKESTATIC => self.invoke(op, index),
            NEW => {
                let class = self.context.class(index)?;
                if self.context.is_array(class) {
                    return Rule::Constant.fail("new of an array");
                }
                let t = SlotType::Uninitialized(self.pc);
                self.state.forget(t)?;
                self.state.push(t)
            }
            ANEWARRAY => {
                let element = self.context.class(index)?;
                let name = self.context.assumptions.names.bytes(element);
                if name.iter().take_while(|b| **b == b'[').count() >= MAX_ARRAY_DIMENSIONS {
                    return Rule::Constant.fail("an array of more than 255 dimensions");
                }
                self.state.pop_exactly(SlotType::Int)?;
                let array = self.context.array_of(element);
                self.state.push(SlotType::Object(array))
            }
            CHECKCAST => {
                let class = self.context.class(index)?;
                self.pop(SlotType::Object(NameId::OBJECT))?;
                self.state.push(SlotType::Object(class))
            }
            INSTANCEOF => {
                self.context.class(index)?;
                self.pop(SlotType::Object(NameId::OBJECT))?;
                self.state.push(SlotType::Int)
            }
            _ => Rule::Format.fail(format!("opcode {op}")),
        }
    }

    fn plain(&mut self, op: u8) -> Result<(), Fault> {
        match op {
            NOP => Ok(()),
            ACONST_NULL => self.state.push(SlotType::Null),
            IALOAD..=SALOAD => self.array_load(op),
            IASTORE..=SASTORE => self.array_store(op),
            POP..=SWAP => self.shuffle(op),
            ARRAYLENGTH => {
                match self.state.pop_reference()? {
                    SlotType::Null => {}
                    SlotType::Object(id) if self.context.is_array(id) => {}
                    _ => return Rule::Operand.fail("arraylength of what is no array"),
                }
                self.state.push(SlotType::Int)
            }
            ATHROW => self.pop(SlotType::Object(NameId::THROWABLE)),
            MONITORENTER | MONITOREXIT => self.state.pop_reference().map(drop),
            IRETURN..=RETURN => self.returns(op),
            _ => self.primitive_operation(op),
        }
    }

    /// Checks an instruction that pops and pushes primitive values only.
    fn primitive_operation(&mut self, op: u8) -> Result<(), Fault> {
        let Some((pops, pushes)) = signature(op).and_then(|s| s.split_once(':')) else {
            return Rule::Format.fail(format!("opcode {op}"));
        };
        for letter in pops.bytes().rev() {
            self.state.pop_exactly(primitive(letter)?)?;
        }
        for letter in pushes.bytes() {
            self.state.push(primitive(letter)?)?;
        }
        Ok(())
    }

    fn returns(&mut self, op: u8) -> Result<(), Fault> {
        let mismatch = || Rule::Return.fault("the method returns something else");
        match (op, self.signature.result) {
            (RETURN, None) => {
                if self.constructor && self.state.this_uninitialized {
                    return Rule::Initialisation.fail("return before super(…) or this(…)");
                }
                Ok(())
            }
            (ARETURN, Some(t @ SlotType::Object(_))) => self.pop(t),
            (IRETURN, Some(t @ SlotType::Int))
            | (LRETURN, Some(t @ SlotType::Long))
            | (FRETURN, Some(t @ SlotType::Float))
            | (DRETURN, Some(t @ SlotType::Double)) => self.state.pop_exactly(t),
            _ => Err(mismatch()),
        }
    }

    /// Pops the array of an access whose index has already been popped; `None` for `null`.
    fn array(&mut self, op: u8) -> Result<Option<NameId>, Fault> {
        let id = match self.state.pop_reference()? {
            SlotType::Null => return Ok(None),
            SlotType::Object(id) => id,
            _ => return Rule::Operand.fail("an array is needed"),
        };
        let kinds: &[u8] = match op {
            IALOAD | IASTORE => b"I",
            47 | 80 => b"J",
            48 | 81 => b"F",
            49 | 82 => b"D",
            AALOAD | AASTORE => b"L[",
            51 | 84 => b"BZ",
            52 | 85 => b"C",
            _ => b"S",
        };
        match self.context.assumptions.names.bytes(id) {
            [b'[', kind, ..] if kinds.contains(kind) => Ok(Some(id)),
            _ => {
                let found = self.context.text(SlotType::Object(id));
                Rule::Operand.fail(format!("{} on {found}", mnemonic(op)))
            }
        }
    }

    fn array_load(&mut self, op: u8) -> Result<(), Fault> {
        self.state.pop_exactly(SlotType::Int)?;
        let array = self.array(op)?;
        let element = match op {
            47 => SlotType::Long,
            48 => SlotType::Float,
            49 => SlotType::Double,
            AALOAD => match array.map(|array| self.context.component(array)) {
                None => SlotType::Null,
                Some(Some(element)) => SlotType::Object(element),
                Some(None) => return Rule::Operand.fail("an array without elements"),
            },
            _ => SlotType::Int,
        };
        self.state.push(element)
    }

    fn array_store(&mut self, op: u8) -> Result<(), Fault> {
        self.pop(match op {
            80 => SlotType::Long,
            81 => SlotType::Float,
            82 => SlotType::Double,
            AASTORE => SlotType::Object(NameId::OBJECT),
            _ => SlotType::Int,
        })?;
        self.state.pop_exactly(SlotType::Int)?;
        self.array(op).map(drop)
    }

    /// Checks the instructions that move stack slots.
    fn shuffle(&mut self, op: u8) -> Result<(), Fault> {
        let state = &mut self.state;
        match op {
            POP => return state.pop_single().map(drop),
            POP2 => {
                let top = state.pop_slot()?;
                return pop_second(state, top).map(drop);
            }
            SWAP => {
                let (a, b) = (state.pop_single()?, state.pop_single()?);
                state.push_slot(a)?;
                return state.push_slot(b);
            }
            _ => {}
        }
        // The copied part: one slot, or two slots that are two values or both halves of one.
        let top = state.pop_slot()?;
        let second = match op {
            DUP | DUP_X1 | DUP_X2 if top.is_single() => None,
            DUP2 | DUP2_X1 | DUP2_X2 => Some(pop_second(state, top)?),
            _ => return Rule::Operand.fail("dup of half a value"),
        };
        // The slots below which the copy is inserted.
        let skipped = match op {
            DUP_X1 | DUP2_X1 => vec![state.pop_single()?],
            DUP_X2 | DUP2_X2 => {
                let first = state.pop_slot()?;
                vec![pop_second(state, first)?, first]
            }
            _ => Vec::new(),
        };
        for t in second.into_iter().chain([top]) {
            state.push_slot(t)?;
        }
        for t in skipped.into_iter().chain(second).chain([top]) {
            state.push_slot(t)?;
        }
        Ok(())
    }
}

/// Pops the slot below `top`. Both slots together must be two values, or one `long` or `double`.
fn pop_second(state: &mut super::state::FrameState, top: SlotType) -> Result<SlotType, Fault> {
    if top.is_high() {
        state.pop_low(top)
    } else if top.is_single() {
        state.pop_single()
    } else {
        Rule::Operand.fail("half of a long or double")
    }
}

fn primitive(letter: u8) -> Result<SlotType, Fault> {
    match letter {
        b'I' => Ok(SlotType::Int),
        b'L' => Ok(SlotType::Long),
        b'F' => Ok(SlotType::Float),
        b'D' => Ok(SlotType::Double),
        _ => Rule::Format.fail("a reference where none is"),
    }
}
