//! Explains a change within a basic block. Both sides of the block are executed symbolically over
//! terms, starting where the block has a single predecessor path.
//!
//! The initial value of each local and operand is one symbol for both sides. An instruction that
//! only moves or computes values produces a term. Any other instruction is recorded with its
//! operands and handlers. If it has a handler, all locals are recorded too, because the handler can
//! read them. The result of a recorded instruction is a new symbol, named by its index in the
//! record.
//!
//! Two runs cannot be distinguished if both sides have equal records, are at the same position
//! after the change, and have equal stacks and locals. Locals that are not read afterwards may
//! differ. Both sides then had the same effects from equal states, and are in equal states again.

use super::body::Body;
use super::{reads_own_field, throws};
use std::collections::BTreeMap;
use std::ops::Range;
use veneer_fragmenter::bytecode::Instruction;
use veneer_fragmenter::bytecode::opcode::*;
use veneer_fragmenter::runtime;
use veneer_names::raw;

/// Terms by word. The upper word of a wide value has its own term.
#[derive(Default)]
struct Side {
    locals: BTreeMap<u16, String>,
    stack: Vec<String>,
    /// Number of words popped from below the block's own operands.
    taken: usize,
    records: Vec<String>,
}

impl Side {
    fn pop(&mut self) -> String {
        self.stack.pop().unwrap_or_else(|| {
            self.taken += 1;
            format!("s{}", self.taken)
        })
    }

    fn pops(&mut self, words: usize) -> Vec<String> {
        (0..words).map(|_| self.pop()).collect()
    }

    fn push(&mut self, term: String, words: usize) {
        let upper = (words > 1).then(|| format!("{term}^"));
        self.stack.extend(Some(term).into_iter().chain(upper));
    }

    fn local(&self, slot: u16) -> String {
        let known = self.locals.get(&slot).cloned();
        known.unwrap_or_else(|| format!("l{slot}"))
    }

    /// Returns the stack as if `taken` words had been popped from below.
    fn stack(&self, taken: usize) -> Vec<String> {
        let under = (self.taken + 1..=taken).rev().map(|k| format!("s{k}"));
        under.chain(self.stack.iter().cloned()).collect()
    }

    /// Inserts a copy of the topmost `words` words below the next `under` words.
    fn copy(&mut self, words: usize, under: usize) {
        let mut top = self.pops(words + under);
        top.reverse();
        let copied = top[under..].to_vec();
        self.stack.extend(copied.into_iter().chain(top));
    }

    /// Executes an instruction. Returns `None` if its operands are not known.
    fn step(&mut self, body: &Body, i: usize) -> Option<()> {
        let instruction = &body.list[i].1;
        match instruction {
            Instruction::Local { op: RET, .. } => return None,
            Instruction::Local { op, index } if *op < ISTORE => {
                let term = self.local(*index);
                self.push(term, wide(*op));
            }
            Instruction::Local { op, index } => {
                if wide(*op) == 2 {
                    self.pop();
                    self.locals.insert(*index + 1, "upper".into());
                }
                let term = self.pop();
                self.locals.insert(*index, term);
            }
            Instruction::Iinc { index, delta } => {
                let term = format!("({}+{delta})", self.local(*index));
                self.locals.insert(*index, term);
            }
            Instruction::Push(n) => self.push(format!("#{n}"), 1),
            // A cell exists before any code that refers to it.
            Instruction::Pool {
                op: GETSTATIC,
                index,
            } if body.descriptor(*index).as_deref() == Some(runtime::CELL_DESCRIPTOR) => {
                self.push(format!("{instruction:?}"), 1);
            }
            Instruction::Pool { index, .. } if reads_own_field(body.file, instruction) => {
                let words = match body.descriptor(*index).as_deref() {
                    Some("J") => 2,
                    _ => 1,
                };
                self.push(format!("{instruction:?}"), words);
            }
            Instruction::Plain(op) => return self.plain(body, i, *op),
            // The outcome is the same on both sides if the operands are equal.
            Instruction::Branch { op, .. } => {
                let words = match *op {
                    GOTO => 0,
                    IFEQ..IF_ICMPEQ | IFNULL | IFNONNULL => 1,
                    IF_ICMPEQ..=IF_ACMPNE => 2,
                    _ => return None,
                };
                let operands = self.pops(words);
                self.records.push(format!("{op} {operands:?}"));
            }
            Instruction::TableSwitch { .. } | Instruction::LookupSwitch { .. } => {
                let operand = self.pop();
                self.records.push(format!("switch {operand}"));
            }
            _ => return self.record(body, i),
        }
        Some(())
    }

    fn plain(&mut self, body: &Body, i: usize, op: u8) -> Option<()> {
        match op {
            NOP => {}
            ACONST_NULL => self.push("null".into(), 1),
            POP => drop(self.pop()),
            POP2 => drop(self.pops(2)),
            DUP => self.copy(1, 0),
            DUP_X1 => self.copy(1, 1),
            DUP_X2 => self.copy(1, 2),
            DUP2 => self.copy(2, 0),
            DUP2_X1 => self.copy(2, 1),
            DUP2_X2 => self.copy(2, 2),
            SWAP => {
                let (a, b) = (self.pop(), self.pop());
                self.stack.extend([a, b]);
            }
            _ if may_throw(op) || ends_flow(op) => return self.record(body, i),
            _ => {
                let (pops, pushes) = words(op)?;
                let operands = self.pops(pops);
                self.push(format!("{op}{operands:?}"), pushes);
            }
        }
        Some(())
    }

    /// Records an instruction with an observable effect.
    fn record(&mut self, body: &Body, i: usize) -> Option<()> {
        let instruction = &body.list[i].1;
        let (pops, pushes) = match instruction {
            Instruction::Plain(ATHROW | MONITORENTER | MONITOREXIT) => (1, 0),
            Instruction::Plain(AALOAD) => (2, 1),
            Instruction::Plain(RETURN) => (0, 0),
            Instruction::Plain(LRETURN | DRETURN) => (2, 0),
            Instruction::Plain(op) if is_return(*op) => (1, 0),
            Instruction::Plain(ARRAYLENGTH) | Instruction::NewArray(_) => (1, 1),
            Instruction::Plain(op) => words(*op)?,
            Instruction::Ldc { .. } if throws(body.file, instruction) => (0, 1),
            Instruction::Ldc { wide, .. } => (0, 1 + *wide as usize),
            Instruction::Pool { op: NEW, .. } => (0, 1),
            Instruction::Pool {
                op: ANEWARRAY | CHECKCAST | INSTANCEOF,
                ..
            } => (1, 1),
            Instruction::InvokeInterface { index, .. } => {
                let (taken, given) = method_words(&body.descriptor(*index)?);
                (taken + 1, given)
            }
            Instruction::Pool { op, index } => {
                let d = body.descriptor(*index)?;
                let (value, (taken, given)) = (field_words(&d), method_words(&d));
                match *op {
                    GETSTATIC => (0, value),
                    PUTSTATIC => (value, 0),
                    GETFIELD => (1, value),
                    PUTFIELD => (1 + value, 0),
                    INVOKESTATIC => (taken, given),
                    _ => (taken + 1, given),
                }
            }
            _ => return None,
        };
        let operands = self.pops(pops);
        let handlers = body.handlers(i);
        let seen = if handlers.is_empty() {
            String::new()
        } else {
            format!("{handlers:?} {:?}", self.locals)
        };
        let result = format!("r{}", self.records.len());
        self.records
            .push(format!("{instruction:?} {operands:?} {seen}"));
        if pushes > 0 {
            self.push(result, pushes);
        }
        Some(())
    }
}

impl Body<'_> {
    /// Returns the number of branches and handlers that lead to an instruction. A switch counts
    /// once per case.
    fn incoming_branches(&self, i: usize) -> usize {
        let pc = self.list[i].0;
        let targets = self.list.iter().flat_map(|x| x.1.targets());
        let handlers = self.code.exceptions.iter().filter(|e| e.handler == pc);
        targets.filter(|t| t.0 == u32::from(pc)).count() + handlers.count()
    }

    /// Returns the branch that leads to an instruction.
    fn branch_to(&self, i: usize) -> Option<usize> {
        let pc = u32::from(self.list[i].0);
        let comes = |x: &(u16, Instruction)| x.1.targets().iter().any(|t| t.0 == pc);
        self.list.iter().position(comes)
    }
}

/// Returns the words that an instruction without operands in the code pops and pushes.
fn words(op: u8) -> Option<(usize, usize)> {
    let (pops, pushes) = signature(op)?.split_once(':')?;
    let count = |kinds: &str| {
        kinds
            .bytes()
            .map(|k| 1 + matches!(k, b'L' | b'D') as usize)
            .sum()
    };
    Some((count(pops), count(pushes)))
}

fn wide(op: u8) -> usize {
    1 + matches!(op, LLOAD | DLOAD | LSTORE | DSTORE) as usize
}

/// Returns the number of words of a field descriptor.
fn field_words(d: &str) -> usize {
    usize::from(raw::slots(d.as_bytes()))
}

/// Returns the number of words of a method's parameters and of its result.
fn method_words(d: &str) -> (usize, usize) {
    let d = d.as_bytes();
    let words = (raw::parameter_slots(d), raw::slots(raw::result(d)));
    (usize::from(words.0), usize::from(words.1))
}

/// True if a change from `left` to `right` has no effect, judged by its basic block.
pub(super) fn block_equivalent(
    a: &Body,
    b: &Body,
    left: Range<usize>,
    right: Range<usize>,
) -> bool {
    run(a, b, left, right).is_some()
}

/// Returns the only path to an instruction, back to the last position with several predecessors.
fn single_path_to(body: &Body, to: usize) -> Vec<usize> {
    let (mut path, mut i) = (Vec::new(), to);
    while path.len() < body.list.len() {
        let falls = i > 0 && !ends_flow(body.list[i - 1].1.op());
        let from = match body.incoming_branches(i) {
            0 if falls => Some(i - 1),
            1 if !falls && i > 0 => body.branch_to(i),
            _ => None,
        };
        let Some(from) = from.filter(|from| *from != to && !path.contains(from)) else {
            break;
        };
        path.push(from);
        i = from;
    }
    path.reverse();
    path
}

fn run(a: &Body, b: &Body, left: Range<usize>, right: Range<usize>) -> Option<()> {
    let block_ends = |body: &Body, i: usize| {
        let instruction = &body.list[i].1;
        !instruction.targets().is_empty() || ends_flow(instruction.op())
    };
    let entered = |body: &Body, i: usize| body.incoming_branches(i) > 0;
    let path = single_path_to(a, left.start);
    if path != single_path_to(b, right.start) {
        return None;
    }
    let (mut x, mut y) = (Side::default(), Side::default());
    for (side, body, range) in [(&mut x, a, left.clone()), (&mut y, b, right.clone())] {
        for i in &path {
            side.step(body, *i)?;
        }
        for i in range.clone() {
            // Control must neither enter nor leave the middle of the change.
            if block_ends(body, i) || i > range.start && entered(body, i) {
                return None;
            }
            side.step(body, i)?;
        }
    }
    let (mut i, mut j) = (left.end, right.end);
    loop {
        if x.records != y.records {
            return None;
        }
        let taken = x.taken.max(y.taken);
        let slots = x.locals.keys().chain(y.locals.keys());
        let mut other = slots.filter(|slot| x.local(**slot) != y.local(**slot));
        let unread = |slot: u16| !a.read_from(vec![i], slot) && !b.read_from(vec![j], slot);
        if x.stack(taken) == y.stack(taken) && other.all(|slot| unread(*slot)) {
            return Some(());
        }
        // The following code is equal on both sides, but no branch may enter or leave it.
        if i >= a.list.len() || entered(a, i) || entered(b, j) || block_ends(a, i) {
            return None;
        }
        x.step(a, i)?;
        y.step(b, j)?;
        (i, j) = (i + 1, j + 1);
    }
}
