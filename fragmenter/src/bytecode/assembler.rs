//! The assembler: selects instruction forms, inserts switch padding, and widens branches.
//!
//! Every branch starts in its short form. A branch whose target is too far is marked as wide
//! (`goto_w`, or the inverted condition around a `goto_w`), and the layout is repeated. A mark is
//! never removed, so the iteration terminates.

use super::instruction::{Instruction, Label};
use super::opcode::*;
use std::collections::HashMap;
use thiserror::Error;

/// The reason why a body cannot be laid out.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum AssembleError {
    /// The code exceeds 65,535 bytes, the limit of the class file (JVMS §4.7.3).
    #[error("the code would have {0} bytes; a method may have 65,535")]
    TooLarge(usize),
    /// A branch refers to a label that was never placed, which is a bug in the emitter.
    #[error("label {0:?} was never placed")]
    UnplacedLabel(Label),
}

enum Item {
    Label(Label),
    Code(Instruction),
}

/// A list of instructions and labels. See the module documentation.
#[derive(Default)]
pub struct Assembler {
    items: Vec<Item>,
    fresh: u32,
}

/// The result of [`Assembler::finish`].
pub struct Assembled {
    /// The bytes of the code (JVMS 4.7.3).
    pub code: Vec<u8>,
    /// pcs after conditional branches that became wide. The inverted condition jumps to this pc, so
    /// it needs a stack-map frame.
    pub skips: Vec<u16>,
    old: Vec<u32>,
    fresh: Vec<u32>,
}

impl Assembled {
    /// Returns the pc of a label, or `None` if the label was never placed.
    pub fn at(&self, label: Label) -> Option<u16> {
        let slot = if label.0 < Label::FRESH {
            self.old.get(label.0 as usize)
        } else {
            self.fresh.get((label.0 - Label::FRESH) as usize)
        };
        slot.copied()
            .filter(|pc| *pc != UNPLACED)
            .map(|pc| pc as u16)
    }
}

const UNPLACED: u32 = u32::MAX;

impl Assembler {
    /// Creates an assembler without instructions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a new label that is not an original pc.
    pub fn fresh(&mut self) -> Label {
        self.fresh += 1;
        Label(Label::FRESH + self.fresh - 1)
    }

    /// Places a label at the current end.
    pub fn place(&mut self, label: Label) {
        self.items.push(Item::Label(label));
    }

    /// Appends an instruction.
    pub fn push(&mut self, instruction: Instruction) {
        self.items.push(Item::Code(instruction));
    }

    /// Appends an instruction without operands.
    pub fn plain(&mut self, op: u8) {
        self.push(Instruction::Plain(op));
    }

    /// Appends a branch.
    pub fn branch(&mut self, op: u8, target: Label) {
        self.push(Instruction::Branch { op, target });
    }

    /// Appends a load or store.
    pub fn local(&mut self, op: u8, index: u16) {
        self.push(Instruction::Local { op, index });
    }

    /// Appends an instruction with a constant-pool operand.
    pub fn pool(&mut self, op: u8, index: u16) {
        self.push(Instruction::Pool { op, index });
    }

    /// Adds `by` to the index of every local variable.
    pub fn shift_locals(&mut self, by: u16) {
        for item in &mut self.items {
            if let Item::Code(Instruction::Local { index, .. } | Instruction::Iinc { index, .. }) =
                item
            {
                *index += by;
            }
        }
    }

    /// Selects forms and offsets, and writes the bytes.
    pub fn finish(self) -> Result<Assembled, AssembleError> {
        let old_len = self
            .items
            .iter()
            .filter_map(|i| {
                if let Item::Label(l) = i {
                    Some(l.0)
                } else {
                    None
                }
            })
            .filter(|l| *l < Label::FRESH)
            .max();
        let mut out = Assembled {
            code: Vec::new(),
            skips: Vec::new(),
            old: vec![UNPLACED; old_len.map_or(0, |l| l as usize + 1)],
            fresh: vec![UNPLACED; self.fresh as usize],
        };
        let mut wide: HashMap<usize, ()> = HashMap::new();
        loop {
            let mut pc = 0usize;
            let mut starts = Vec::with_capacity(self.items.len());
            for (i, item) in self.items.iter().enumerate() {
                starts.push(pc);
                match item {
                    Item::Label(l) if l.0 < Label::FRESH => out.old[l.0 as usize] = pc as u32,
                    Item::Label(l) => out.fresh[(l.0 - Label::FRESH) as usize] = pc as u32,
                    Item::Code(c) => pc += instruction_size(c, pc, wide.contains_key(&i)),
                }
            }
            if pc > 65_535 || pc == 0 {
                return Err(AssembleError::TooLarge(pc));
            }
            let mut again = false;
            for (i, item) in self.items.iter().enumerate() {
                if let Item::Code(Instruction::Branch { target, .. }) = item {
                    let to = out
                        .at(*target)
                        .ok_or(AssembleError::UnplacedLabel(*target))?
                        as i64;
                    let distance = to - starts[i] as i64;
                    if i16::try_from(distance).is_err() && wide.insert(i, ()).is_none() {
                        again = true;
                    }
                }
            }
            if again {
                continue;
            }
            let mut code = Vec::with_capacity(pc);
            for (i, item) in self.items.iter().enumerate() {
                if let Item::Code(c) = item {
                    let wide = wide.contains_key(&i);
                    write_instruction(&mut code, c, &out, wide)?;
                    if wide && !ends_flow(c.op()) {
                        out.skips.push(code.len() as u16);
                    }
                }
            }
            out.code = code;
            return Ok(out);
        }
    }
}

/// Returns the branch opcode with the negated condition.
fn inverse(op: u8) -> u8 {
    match op {
        IFNULL => IFNONNULL,
        IFNONNULL => IFNULL,
        _ => ((op - IFEQ) ^ 1) + IFEQ,
    }
}

fn instruction_size(c: &Instruction, pc: usize, wide: bool) -> usize {
    match c {
        Instruction::Plain(_) => 1,
        Instruction::Push(v) => match v {
            -1..=5 => 1,
            -128..=127 => 2,
            _ => 3,
        },
        Instruction::Ldc { index, wide } => {
            if *wide || *index > 255 {
                3
            } else {
                2
            }
        }
        Instruction::Local { op, index } => match index {
            0..=3 if *op != RET => 1,
            0..=255 => 2,
            _ => 4,
        },
        Instruction::Iinc { index, delta } => {
            if *index > 255 || i8::try_from(*delta).is_err() {
                6
            } else {
                3
            }
        }
        Instruction::Pool { .. } => 3,
        Instruction::InvokeInterface { .. } | Instruction::InvokeDynamic { .. } => 5,
        Instruction::NewArray(_) => 2,
        Instruction::MultiNewArray { .. } => 4,
        Instruction::Branch { op, .. } => match (wide, *op) {
            (false, _) => 3,
            (true, GOTO | JSR) => 5,
            (true, _) => 8,
        },
        Instruction::TableSwitch { targets, .. } => (4 - pc % 4) + 12 + 4 * targets.len(),
        Instruction::LookupSwitch { pairs, .. } => (4 - pc % 4) + 8 + 8 * pairs.len(),
    }
}

fn write_instruction(
    code: &mut Vec<u8>,
    c: &Instruction,
    out: &Assembled,
    wide: bool,
) -> Result<(), AssembleError> {
    let pc = code.len() as i64;
    let offset = |l: &Label| {
        out.at(*l)
            .map(|to| to as i64 - pc)
            .ok_or(AssembleError::UnplacedLabel(*l))
    };
    match c {
        Instruction::Plain(op) => code.push(*op),
        Instruction::Push(v) => match v {
            -1..=5 => code.push((ICONST_0 as i16 + v) as u8),
            -128..=127 => code.extend([BIPUSH, *v as i8 as u8]),
            _ => {
                code.push(SIPUSH);
                put2(code, *v as u16);
            }
        },
        Instruction::Ldc { index, wide } => {
            if *wide || *index > 255 {
                code.push(if *wide { LDC2_W } else { LDC_W });
                put2(code, *index);
            } else {
                code.extend([LDC, *index as u8]);
            }
        }
        Instruction::Local { op, index } => write_local(code, *op, *index),
        Instruction::Iinc { index, delta } => {
            if let (Ok(i), Ok(d)) = (u8::try_from(*index), i8::try_from(*delta)) {
                code.extend([IINC, i, d as u8]);
            } else {
                code.extend([WIDE, IINC]);
                put2(code, *index);
                put2(code, *delta as u16);
            }
        }
        Instruction::Pool { op, index } => {
            code.push(*op);
            put2(code, *index);
        }
        Instruction::InvokeInterface { index, count } => {
            code.push(INVOKEINTERFACE);
            put2(code, *index);
            code.extend([*count, 0]);
        }
        Instruction::InvokeDynamic { index } => {
            code.push(INVOKEDYNAMIC);
            put2(code, *index);
            code.extend([0, 0]);
        }
        Instruction::NewArray(t) => code.extend([NEWARRAY, *t]),
        Instruction::MultiNewArray { index, dims } => {
            code.push(MULTIANEWARRAY);
            put2(code, *index);
            code.push(*dims);
        }
        Instruction::Branch { op, target } => {
            write_branch(code, *op, offset(target)?, wide);
        }
        Instruction::TableSwitch {
            default,
            low,
            targets,
        } => {
            code.push(TABLESWITCH);
            code.resize(code.len().next_multiple_of(4), 0);
            code.extend((offset(default)? as i32).to_be_bytes());
            code.extend(low.to_be_bytes());
            code.extend((low + (targets.len() as i32 - 1)).to_be_bytes());
            for t in targets {
                code.extend((offset(t)? as i32).to_be_bytes());
            }
        }
        Instruction::LookupSwitch { default, pairs } => {
            code.push(LOOKUPSWITCH);
            code.resize(code.len().next_multiple_of(4), 0);
            code.extend((offset(default)? as i32).to_be_bytes());
            code.extend((pairs.len() as i32).to_be_bytes());
            for (key, t) in pairs {
                code.extend(key.to_be_bytes());
                code.extend((offset(t)? as i32).to_be_bytes());
            }
        }
    }
    Ok(())
}

fn put2(code: &mut Vec<u8>, v: u16) {
    code.extend(v.to_be_bytes());
}

/// Writes a load, a store or a `ret` in its shortest form.
fn write_local(code: &mut Vec<u8>, op: u8, index: u16) {
    match index {
        0..=3 if op != RET => {
            let base = if op >= ISTORE {
                ISTORE_0 + (op - ISTORE) * 4
            } else {
                ILOAD_0 + (op - ILOAD) * 4
            };
            code.push(base + index as u8);
        }
        0..=255 => code.extend([op, index as u8]),
        _ => {
            code.extend([WIDE, op]);
            put2(code, index);
        }
    }
}

/// Writes a branch over `distance` bytes. The wide form of a conditional branch is the inverted
/// condition around a `goto_w`.
fn write_branch(code: &mut Vec<u8>, op: u8, distance: i64, wide: bool) {
    match (wide, op) {
        (false, op) => {
            code.push(op);
            put2(code, distance as i16 as u16);
        }
        (true, GOTO | JSR) => {
            code.push(if op == GOTO { GOTO_W } else { JSR_W });
            code.extend((distance as i32).to_be_bytes());
        }
        (true, op) => {
            code.push(inverse(op));
            put2(code, 8);
            code.push(GOTO_W);
            code.extend((distance as i32 - 3).to_be_bytes());
        }
    }
}
