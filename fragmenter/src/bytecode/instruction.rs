//! A decoded instruction. The decoder maps short and wide forms (`iload_1`, `wide`, `ldc_w`,
//! `goto_w`) to the general form; the assembler selects the smallest form again.

use super::opcode::*;
use thiserror::Error;

/// A position in code: a pc of the original method, or a number from [`Label::FRESH`] for inserted
/// code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub u32);

impl Label {
    /// The first label that is not a pc of an original method.
    pub const FRESH: u32 = 0x1_0000;
    /// Returns the label of an original pc.
    pub fn pc(pc: u16) -> Self {
        Label(pc as u32)
    }
}

/// An instruction with its operands. `op` fields hold the opcode of the general form.
#[derive(Clone, Debug, PartialEq)]
pub enum Instruction {
    /// An instruction without operands in the code.
    Plain(u8),
    /// `bipush` or `sipush`. The assembler emits `iconst_*` if the value fits.
    Push(i16),
    /// `ldc`, `ldc_w` or `ldc2_w`; `wide` is true for `ldc2_w`.
    Ldc {
        /// Index of the constant in the pool.
        index: u16,
        /// Whether the constant takes two slots.
        wide: bool,
    },
    /// A load or store of a local (`iload` … `astore`), or `ret`.
    Local {
        /// The opcode in its general form, for example `iload`.
        op: u8,
        /// The number of the local variable.
        index: u16,
    },
    /// `iinc`: adds a constant to an `int` local.
    Iinc {
        /// The number of the local variable.
        index: u16,
        /// The constant to add.
        delta: i16,
    },
    /// An instruction with one constant-pool operand.
    Pool {
        /// The opcode of the instruction.
        op: u8,
        /// Index of the constant in the pool.
        index: u16,
    },
    /// `invokeinterface` with its count.
    InvokeInterface {
        /// Index of the method in the pool.
        index: u16,
        /// The number of argument words, with the receiver.
        count: u8,
    },
    /// `invokedynamic`: calls the target of a call site.
    InvokeDynamic {
        /// Index of the call site in the pool.
        index: u16,
    },
    /// `newarray` with its type code.
    NewArray(u8),
    /// `multianewarray`: allocates an array of arrays.
    MultiNewArray {
        /// Index of the array class in the pool.
        index: u16,
        /// The number of dimensions to allocate.
        dims: u8,
    },
    /// A conditional branch, `goto` or `jsr`.
    Branch {
        /// The opcode of the instruction.
        op: u8,
        /// The target of the jump.
        target: Label,
    },
    /// `tableswitch`: jumps by consecutive numbers.
    TableSwitch {
        /// The target for all other numbers.
        default: Label,
        /// The number of the first target.
        low: i32,
        /// The targets in ascending order of their numbers.
        targets: Vec<Label>,
    },
    /// `lookupswitch`: jumps by listed numbers.
    LookupSwitch {
        /// The target for all other numbers.
        default: Label,
        /// The numbers with their targets, in ascending order.
        pairs: Vec<(i32, Label)>,
    },
}

impl Instruction {
    /// Returns the opcode of the general form.
    pub fn op(&self) -> u8 {
        match self {
            Instruction::Plain(op) => *op,
            Instruction::Push(-128..=127) => BIPUSH,
            Instruction::Push(_) => SIPUSH,
            Instruction::Ldc { wide, .. } => {
                if *wide {
                    LDC2_W
                } else {
                    LDC
                }
            }
            Instruction::Local { op, .. }
            | Instruction::Pool { op, .. }
            | Instruction::Branch { op, .. } => *op,
            Instruction::Iinc { .. } => IINC,
            Instruction::InvokeInterface { .. } => INVOKEINTERFACE,
            Instruction::InvokeDynamic { .. } => INVOKEDYNAMIC,
            Instruction::NewArray(_) => NEWARRAY,
            Instruction::MultiNewArray { .. } => MULTIANEWARRAY,
            Instruction::TableSwitch { .. } => TABLESWITCH,
            Instruction::LookupSwitch { .. } => LOOKUPSWITCH,
        }
    }

    /// Returns the possible jump targets in the order of the code. For a switch, the default is
    /// last.
    pub fn targets(&self) -> Vec<Label> {
        match self {
            Instruction::Branch { target, .. } => vec![*target],
            Instruction::TableSwitch {
                default, targets, ..
            } => targets.iter().copied().chain([*default]).collect(),
            Instruction::LookupSwitch { default, pairs } => {
                pairs.iter().map(|p| p.1).chain([*default]).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the instruction with every target replaced by `rename`.
    pub fn retarget(&self, rename: &mut dyn FnMut(Label) -> Label) -> Instruction {
        match self {
            Instruction::Branch { op, target } => Instruction::Branch {
                op: *op,
                target: rename(*target),
            },
            Instruction::TableSwitch {
                default,
                low,
                targets,
            } => {
                let targets = targets.iter().map(|t| rename(*t)).collect();
                Instruction::TableSwitch {
                    default: rename(*default),
                    low: *low,
                    targets,
                }
            }
            Instruction::LookupSwitch { default, pairs } => {
                let pairs = pairs.iter().map(|(k, t)| (*k, rename(*t))).collect();
                Instruction::LookupSwitch {
                    default: rename(*default),
                    pairs,
                }
            }
            other => other.clone(),
        }
    }

    /// Returns the constant-pool operand, if the instruction has one.
    pub fn pool_index(&self) -> Option<u16> {
        match self {
            Instruction::Ldc { index, .. }
            | Instruction::Pool { index, .. }
            | Instruction::InvokeInterface { index, .. }
            | Instruction::InvokeDynamic { index }
            | Instruction::MultiNewArray { index, .. } => Some(*index),
            _ => None,
        }
    }
}

/// The reason why bytes are not valid code.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum DecodeError {
    /// The code ends within an instruction.
    #[error("the code ends within the instruction at {0}")]
    Truncated(usize),
    /// A byte at an instruction's start that is no opcode of the specification (JVMS 6.5): its pc
    /// and the byte.
    #[error("unknown opcode {1:#04x} at {0}")]
    UnknownOpcode(usize, u8),
    /// A branch leaves the code or lands inside an instruction.
    #[error("the branch at {0} goes to {1}, where no instruction starts")]
    BadTarget(usize, i64),
    /// A `tableswitch` or `lookupswitch` whose size does not fit the code.
    #[error("the switch at {0} has an impossible size")]
    BadSwitch(usize),
}

/// Decodes a method body (JVMS §4.7.3 `code`), in pc order.
///
/// # Errors
/// If the code is truncated, has an unknown opcode or an impossible switch, or if a branch target
/// is not the start of an instruction.
pub fn decode(code: &[u8]) -> Result<Vec<(u16, Instruction)>, DecodeError> {
    let mut out = Vec::with_capacity(code.len() / 2);
    let mut pc = 0usize;
    while pc < code.len() {
        let (instruction, next) = decode_one(code, pc)?;
        out.push((pc as u16, instruction));
        pc = next;
    }
    let mut starts = bitvec::bitvec![0; code.len()];
    for (pc, _) in &out {
        starts.set(*pc as usize, true);
    }
    for (pc, instruction) in &out {
        if let Instruction::Branch { target, .. } = instruction {
            if !starts.get(target.0 as usize).is_some_and(|b| *b) {
                return Err(DecodeError::BadTarget(*pc as usize, target.0 as i64));
            }
        } else if matches!(
            instruction,
            Instruction::TableSwitch { .. } | Instruction::LookupSwitch { .. }
        ) && let Some(bad) = instruction
            .targets()
            .iter()
            .find(|t| !starts.get(t.0 as usize).is_some_and(|b| *b))
        {
            return Err(DecodeError::BadTarget(*pc as usize, bad.0 as i64));
        }
    }
    Ok(out)
}

fn decode_one(code: &[u8], pc: usize) -> Result<(Instruction, usize), DecodeError> {
    let short = DecodeError::Truncated(pc);
    let u1 = |at: usize| code.get(at).copied().ok_or(short.clone());
    let u2 = |at: usize| Ok::<u16, DecodeError>(u16::from_be_bytes([u1(at)?, u1(at + 1)?]));
    let i4 = |at: usize| {
        Ok::<i32, DecodeError>(i32::from_be_bytes([
            u1(at)?,
            u1(at + 1)?,
            u1(at + 2)?,
            u1(at + 3)?,
        ]))
    };
    let target = |offset: i64| {
        let to = pc as i64 + offset;
        if (0..code.len() as i64).contains(&to) {
            Ok(Label(to as u32))
        } else {
            Err(DecodeError::BadTarget(pc, to))
        }
    };
    let op = u1(pc)?;
    Ok(match op {
        BIPUSH => (Instruction::Push(u1(pc + 1)? as i8 as i16), pc + 2),
        SIPUSH => (Instruction::Push(u2(pc + 1)? as i16), pc + 3),
        LDC => (
            Instruction::Ldc {
                index: u1(pc + 1)? as u16,
                wide: false,
            },
            pc + 2,
        ),
        LDC_W => (
            Instruction::Ldc {
                index: u2(pc + 1)?,
                wide: false,
            },
            pc + 3,
        ),
        LDC2_W => (
            Instruction::Ldc {
                index: u2(pc + 1)?,
                wide: true,
            },
            pc + 3,
        ),
        ILOAD..=ALOAD | ISTORE..=ASTORE | RET => (
            Instruction::Local {
                op,
                index: u1(pc + 1)? as u16,
            },
            pc + 2,
        ),
        ILOAD_0..=45 => {
            let n = op - ILOAD_0;
            (
                Instruction::Local {
                    op: ILOAD + n / 4,
                    index: (n % 4) as u16,
                },
                pc + 1,
            )
        }
        ISTORE_0..=78 => {
            let n = op - ISTORE_0;
            (
                Instruction::Local {
                    op: ISTORE + n / 4,
                    index: (n % 4) as u16,
                },
                pc + 1,
            )
        }
        IINC => (
            Instruction::Iinc {
                index: u1(pc + 1)? as u16,
                delta: u1(pc + 2)? as i8 as i16,
            },
            pc + 3,
        ),
        IFEQ..=JSR | IFNULL | IFNONNULL => (
            Instruction::Branch {
                op,
                target: target(u2(pc + 1)? as i16 as i64)?,
            },
            pc + 3,
        ),
        GOTO_W => (
            Instruction::Branch {
                op: GOTO,
                target: target(i4(pc + 1)? as i64)?,
            },
            pc + 5,
        ),
        JSR_W => (
            Instruction::Branch {
                op: JSR,
                target: target(i4(pc + 1)? as i64)?,
            },
            pc + 5,
        ),
        TABLESWITCH => {
            let base = (pc + 4) & !3;
            let (default, low, high) = (target(i4(base)? as i64)?, i4(base + 4)?, i4(base + 8)?);
            let count = high as i64 - low as i64 + 1;
            if count < 1 || count as usize > code.len() / 4 {
                return Err(DecodeError::BadSwitch(pc));
            }
            let mut targets = Vec::with_capacity(count as usize);
            for i in 0..count as usize {
                targets.push(target(i4(base + 12 + 4 * i)? as i64)?);
            }
            (
                Instruction::TableSwitch {
                    default,
                    low,
                    targets,
                },
                base + 12 + 4 * count as usize,
            )
        }
        LOOKUPSWITCH => {
            let base = (pc + 4) & !3;
            let (default, count) = (target(i4(base)? as i64)?, i4(base + 4)?);
            if count < 0 || count as usize > code.len() / 8 {
                return Err(DecodeError::BadSwitch(pc));
            }
            let mut pairs = Vec::with_capacity(count as usize);
            for i in 0..count as usize {
                pairs.push((
                    i4(base + 8 + 8 * i)?,
                    target(i4(base + 12 + 8 * i)? as i64)?,
                ));
            }
            (
                Instruction::LookupSwitch { default, pairs },
                base + 8 + 8 * count as usize,
            )
        }
        GETSTATIC..=INVOKESTATIC | NEW | ANEWARRAY | CHECKCAST | INSTANCEOF => (
            Instruction::Pool {
                op,
                index: u2(pc + 1)?,
            },
            pc + 3,
        ),
        INVOKEINTERFACE => (
            Instruction::InvokeInterface {
                index: u2(pc + 1)?,
                count: u1(pc + 3)?,
            },
            u1(pc + 4).map(|_| pc + 5)?,
        ),
        INVOKEDYNAMIC => (
            Instruction::InvokeDynamic { index: u2(pc + 1)? },
            u1(pc + 4).map(|_| pc + 5)?,
        ),
        NEWARRAY => (Instruction::NewArray(u1(pc + 1)?), pc + 2),
        MULTIANEWARRAY => (
            Instruction::MultiNewArray {
                index: u2(pc + 1)?,
                dims: u1(pc + 3)?,
            },
            pc + 4,
        ),
        WIDE => match u1(pc + 1)? {
            IINC => (
                Instruction::Iinc {
                    index: u2(pc + 2)?,
                    delta: u2(pc + 4)? as i16,
                },
                pc + 6,
            ),
            inner @ (ILOAD..=ALOAD | ISTORE..=ASTORE | RET) => (
                Instruction::Local {
                    op: inner,
                    index: u2(pc + 2)?,
                },
                pc + 4,
            ),
            other => return Err(DecodeError::UnknownOpcode(pc, other)),
        },
        0..=JSR_W => (Instruction::Plain(op), pc + 1),
        _ => return Err(DecodeError::UnknownOpcode(pc, op)),
    })
}
