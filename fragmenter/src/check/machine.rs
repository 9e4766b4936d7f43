//! Locals and operand stack of one side, by words, and the instructions that nobody sees from outside.

use super::value::{Value, Values};
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;

/// Locals by slot, and the operand stack by words: a long or double is its value and [`Value::HIGH`].
#[derive(Clone, Default)]
pub(super) struct Machine {
    pub locals: Vec<Value>,
    pub stack: Vec<Value>,
}

/// The stack or the locals are not as the instruction needs them.
pub(super) struct Broken;

impl Machine {
    pub fn pop(&mut self) -> Result<Value, Broken> {
        self.stack.pop().ok_or(Broken)
    }

    /// The topmost words.
    pub fn top(&self, words: usize) -> Result<&[Value], Broken> {
        let from = self.stack.len().checked_sub(words).ok_or(Broken)?;
        self.stack.get(from..).ok_or(Broken)
    }

    pub fn drop(&mut self, words: usize) -> Result<(), Broken> {
        let left = self.stack.len().checked_sub(words).ok_or(Broken)?;
        self.stack.truncate(left);
        Ok(())
    }

    pub fn push(&mut self, v: Value, words: u8) {
        if words > 0 {
            self.stack.push(v);
        }
        if words > 1 {
            self.stack.push(Value::HIGH);
        }
    }

    pub fn load(&mut self, op: u8, slot: u16) -> Result<(), Broken> {
        let v = self.locals.get(slot as usize).copied().ok_or(Broken)?;
        self.push(v, wide(op));
        Ok(())
    }

    /// Takes what a store or `iinc` writes.
    pub fn written(&mut self, i: &Instruction, values: &mut Values) -> Result<Value, Broken> {
        match i {
            Instruction::Iinc { index, delta } => {
                let old = self.locals.get(*index as usize).copied().ok_or(Broken)?;
                Ok(match old {
                    Value::COUNTER | Value::OWN_INT => Value::OWN_INT,
                    _ => values.term(IINC, old, Value::int(*delta as i32)),
                })
            }
            _ => {
                if wide(i.op()) == 2 {
                    self.pop()?;
                }
                self.pop()
            }
        }
    }

    pub fn set(&mut self, slot: u16, v: Value, words: u8) -> Result<(), Broken> {
        let slot = slot as usize;
        *self.locals.get_mut(slot).ok_or(Broken)? = v;
        if words == 2 {
            *self.locals.get_mut(slot + 1).ok_or(Broken)? = Value::HIGH;
        }
        Ok(())
    }

    /// Runs an instruction that has no effect but on this stack. `false`: it is not one.
    pub fn silent(
        &mut self,
        i: &Instruction,
        constant: Option<(Value, u8)>,
        values: &mut Values,
    ) -> Result<bool, Broken> {
        match i {
            Instruction::Push(v) => self.push(Value::int(*v as i32), 1),
            Instruction::Local { op, index } if *op < ISTORE => self.load(*op, *index)?,
            Instruction::Ldc { .. } => match constant {
                Some((v, words)) => self.push(v, words),
                None => return Ok(false),
            },
            Instruction::Plain(op) => return self.plain(*op, values),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn plain(&mut self, op: u8, values: &mut Values) -> Result<bool, Broken> {
        match op {
            NOP => {}
            ACONST_NULL => self.push(Value::NULL, 1),
            ICONST_M1..=8 => self.push(Value::int(op as i32 - ICONST_0 as i32), 1),
            LCONST_0 | 10 => {
                let v = values.term(LDC2_W, Value(0), Value((op - LCONST_0) as u64));
                self.push(v, 2);
            }
            FCONST_0..=13 => self.push(Value::float(((op - FCONST_0) as f32).to_bits()), 1),
            DCONST_0 | 15 => {
                let v = values.term(LDC2_W, Value(1), Value(((op - DCONST_0) as f64).to_bits()));
                self.push(v, 2);
            }
            POP => self.drop(1)?,
            POP2 => self.drop(2)?,
            DUP => self.copy(1, 0)?,
            DUP_X1 => self.copy(1, 1)?,
            DUP_X2 => self.copy(1, 2)?,
            DUP2 => self.copy(2, 0)?,
            DUP2_X1 => self.copy(2, 1)?,
            DUP2_X2 => self.copy(2, 2)?,
            SWAP => {
                let n = self.stack.len();
                if n < 2 {
                    return Err(Broken);
                }
                self.stack.swap(n - 1, n - 2);
            }
            IDIV | LDIV | IREM | LREM => return Ok(false),
            IADD..=LXOR | I2L..=DCMPG => {
                let (pops, pushes) = signature(op)
                    .and_then(|s| s.split_once(':'))
                    .ok_or(Broken)?;
                let mut operands = [Value::HIGH; 2];
                for (slot, kind) in operands.iter_mut().zip(pops.bytes().rev()) {
                    if matches!(kind, b'L' | b'D') {
                        self.pop()?;
                    }
                    *slot = self.pop()?;
                }
                let v = values.term(op, operands[1], operands[0]);
                self.push(v, if matches!(pushes, "L" | "D") { 2 } else { 1 });
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Copies the topmost words under so many others.
    fn copy(&mut self, words: usize, under: usize) -> Result<(), Broken> {
        let n = self.stack.len();
        let from = n.checked_sub(words).ok_or(Broken)?;
        let to = from.checked_sub(under).ok_or(Broken)?;
        let top = [self.stack[from], self.stack[n - 1]];
        for (at, v) in (to..).zip(&top[..words]) {
            self.stack.insert(at, *v);
        }
        Ok(())
    }
}

/// Words of what a load or store moves.
pub(super) fn wide(op: u8) -> u8 {
    if matches!(op, LLOAD | DLOAD | LSTORE | DSTORE) {
        2
    } else {
        1
    }
}
