//! The symbolic state of one side: locals, operand stack, and the silent instructions, which change
//! only this state.

use super::value::{Value, Values};
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;

/// Locals by slot, and the operand stack by words. A `long` or `double` is its value followed by
/// [`Value::HIGH`].
#[derive(Clone, Default)]
pub(super) struct SymbolicState {
    pub locals: Vec<Value>,
    pub stack: Vec<Value>,
}

/// The stack or the locals do not have the shape that the instruction needs.
pub(super) struct StackMismatch;

impl SymbolicState {
    pub fn pop(&mut self) -> Result<Value, StackMismatch> {
        self.stack.pop().ok_or(StackMismatch)
    }

    /// Returns the topmost `words` words of the stack.
    pub fn top(&self, words: usize) -> Result<&[Value], StackMismatch> {
        let from = self.stack.len().checked_sub(words).ok_or(StackMismatch)?;
        self.stack.get(from..).ok_or(StackMismatch)
    }

    pub fn drop(&mut self, words: usize) -> Result<(), StackMismatch> {
        let left = self.stack.len().checked_sub(words).ok_or(StackMismatch)?;
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

    pub fn load(&mut self, op: u8, slot: u16) -> Result<(), StackMismatch> {
        let v = self
            .locals
            .get(slot as usize)
            .copied()
            .ok_or(StackMismatch)?;
        self.push(v, words_moved(op));
        Ok(())
    }

    /// Returns the value that a store or `iinc` writes, and pops the operand of a store.
    pub fn stored_value(
        &mut self,
        i: &Instruction,
        values: &mut Values,
    ) -> Result<Value, StackMismatch> {
        match i {
            Instruction::Iinc { index, delta } => {
                let old = self
                    .locals
                    .get(*index as usize)
                    .copied()
                    .ok_or(StackMismatch)?;
                Ok(match old {
                    Value::COUNTER | Value::INTERNAL_INT => Value::INTERNAL_INT,
                    _ => values.term(IINC, old, Value::int(*delta as i32)),
                })
            }
            _ => {
                if words_moved(i.op()) == 2 {
                    self.pop()?;
                }
                self.pop()
            }
        }
    }

    pub fn set(&mut self, slot: u16, v: Value, words: u8) -> Result<(), StackMismatch> {
        let slot = slot as usize;
        *self.locals.get_mut(slot).ok_or(StackMismatch)? = v;
        if words == 2 {
            *self.locals.get_mut(slot + 1).ok_or(StackMismatch)? = Value::HIGH;
        }
        Ok(())
    }

    /// Executes a silent instruction. Returns `false`, without a change, if the instruction is not
    /// silent.
    pub fn run_silent(
        &mut self,
        i: &Instruction,
        constant: Option<(Value, u8)>,
        values: &mut Values,
    ) -> Result<bool, StackMismatch> {
        match i {
            Instruction::Push(v) => self.push(Value::int(*v as i32), 1),
            Instruction::Local { op, index } if *op < ISTORE => self.load(*op, *index)?,
            Instruction::Ldc { .. } => match constant {
                Some((v, words)) => self.push(v, words),
                None => return Ok(false),
            },
            Instruction::Plain(op) => return self.run_plain(*op, values),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn run_plain(&mut self, op: u8, values: &mut Values) -> Result<bool, StackMismatch> {
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
            DUP => self.insert_copy(1, 0)?,
            DUP_X1 => self.insert_copy(1, 1)?,
            DUP_X2 => self.insert_copy(1, 2)?,
            DUP2 => self.insert_copy(2, 0)?,
            DUP2_X1 => self.insert_copy(2, 1)?,
            DUP2_X2 => self.insert_copy(2, 2)?,
            SWAP => {
                let n = self.stack.len();
                if n < 2 {
                    return Err(StackMismatch);
                }
                self.stack.swap(n - 1, n - 2);
            }
            IDIV | LDIV | IREM | LREM => return Ok(false),
            IADD..=LXOR | I2L..=DCMPG => {
                let (pops, pushes) = signature(op)
                    .and_then(|s| s.split_once(':'))
                    .ok_or(StackMismatch)?;
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

    /// Inserts a copy of the topmost `words` words below the next `under` words.
    fn insert_copy(&mut self, words: usize, under: usize) -> Result<(), StackMismatch> {
        let n = self.stack.len();
        let from = n.checked_sub(words).ok_or(StackMismatch)?;
        let to = from.checked_sub(under).ok_or(StackMismatch)?;
        let top = [self.stack[from], self.stack[n - 1]];
        for (at, v) in (to..).zip(&top[..words]) {
            self.stack.insert(at, *v);
        }
        Ok(())
    }
}

/// Returns the number of words that a load or store instruction moves.
pub(super) fn words_moved(op: u8) -> u8 {
    if matches!(op, LLOAD | DLOAD | LSTORE | DSTORE) {
        2
    } else {
        1
    }
}
