//! A change within a basic block: both ways through the block, run over terms from where there is but one way to it, come to
//! the same.
//!
//! What a local or the stack holds at the beginning is a symbol, on both sides the same one. An instruction that only moves or
//! computes makes a term. Any other is noted with its operands and handlers (where there is one, with all locals too, since the
//! handler sees them), and what it gives is a new symbol, named by its place among the notes. Where both sides have noted the same,
//! stand at one place behind the change, and have the same stack and the same locals (but for those that nobody reads there),
//! no run can tell them apart: from equal states they did the same things, and are in equal states again.

use super::body::Body;
use super::throws;
use std::collections::BTreeMap;
use std::ops::Range;
use veneer_fragmenter::bytecode::Instruction;
use veneer_fragmenter::bytecode::opcode::*;
use veneer_fragmenter::runtime;

/// Terms by word; the upper word of a wide value is its own term.
#[derive(Default)]
struct Side {
    locals: BTreeMap<u16, String>,
    stack: Vec<String>,
    /// Words taken from below what the block itself has put there.
    taken: usize,
    notes: Vec<String>,
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

    /// The stack, as if so many words had been taken from below.
    fn stack(&self, taken: usize) -> Vec<String> {
        let under = (self.taken + 1..=taken).rev().map(|k| format!("s{k}"));
        under.chain(self.stack.iter().cloned()).collect()
    }

    /// Copies the topmost words under so many others.
    fn copy(&mut self, words: usize, under: usize) {
        let mut top = self.pops(words + under);
        top.reverse();
        let copied = top[under..].to_vec();
        self.stack.extend(copied.into_iter().chain(top));
    }

    /// Runs an instruction; `None` where it is not known what it takes.
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
            // A cell is there before any code that names it.
            Instruction::Pool {
                op: GETSTATIC,
                index,
            } if body.descriptor(*index).as_deref() == Some(runtime::CELL_DESCRIPTOR) => {
                self.push(format!("{instruction:?}"), 1);
            }
            Instruction::Plain(op) => return self.plain(body, i, *op),
            // Which way it went is the same on both sides where this is the same.
            Instruction::Branch { op, .. } => {
                let words = match *op {
                    GOTO => 0,
                    IFEQ..IF_ICMPEQ | IFNULL | IFNONNULL => 1,
                    IF_ICMPEQ..=IF_ACMPNE => 2,
                    _ => return None,
                };
                let operands = self.pops(words);
                self.notes.push(format!("{op} {operands:?}"));
            }
            Instruction::TableSwitch { .. } | Instruction::LookupSwitch { .. } => {
                let operand = self.pop();
                self.notes.push(format!("switch {operand}"));
            }
            _ => return self.note(body, i),
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
            _ if may_throw(op) || ends_flow(op) => return self.note(body, i),
            _ => {
                let (pops, pushes) = words(op)?;
                let operands = self.pops(pops);
                self.push(format!("{op}{operands:?}"), pushes);
            }
        }
        Some(())
    }

    /// An instruction that others may see.
    fn note(&mut self, body: &Body, i: usize) -> Option<()> {
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
                let (taken, given) = method(&body.descriptor(*index)?);
                (taken + 1, given)
            }
            Instruction::Pool { op, index } => {
                let d = body.descriptor(*index)?;
                let (value, (taken, given)) = (field(&d), method(&d));
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
        let result = format!("r{}", self.notes.len());
        self.notes
            .push(format!("{instruction:?} {operands:?} {seen}"));
        if pushes > 0 {
            self.push(result, pushes);
        }
        Some(())
    }
}

impl Body<'_> {
    /// How many branches and handlers come to an instruction; a switch counts once for each case.
    fn entries(&self, i: usize) -> usize {
        let pc = self.list[i].0;
        let targets = self.list.iter().flat_map(|x| x.1.targets());
        let handlers = self.code.exceptions.iter().filter(|e| e.handler == pc);
        targets.filter(|t| t.0 == u32::from(pc)).count() + handlers.count()
    }

    /// The branch that comes to an instruction.
    fn branch_to(&self, i: usize) -> Option<usize> {
        let pc = u32::from(self.list[i].0);
        let comes = |x: &(u16, Instruction)| x.1.targets().iter().any(|t| t.0 == pc);
        self.list.iter().position(comes)
    }
}

/// Words of an operation without operands in the code.
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

/// Words of a field descriptor.
fn field(d: &str) -> usize {
    match d.as_bytes().first() {
        Some(b'J' | b'D') => 2,
        Some(b'V') | None => 0,
        _ => 1,
    }
}

/// Words of a method descriptor's parameters and result.
fn method(d: &str) -> (usize, usize) {
    let mut rest = d.strip_prefix('(').unwrap_or(d);
    let mut sum = 0;
    while !rest.is_empty() && !rest.starts_with(')') {
        sum += field(rest);
        let base = rest.trim_start_matches('[');
        let n = if base.starts_with('L') {
            base.find(';').map_or(base.len(), |n| n + 1)
        } else {
            1
        };
        rest = base.get(n..).unwrap_or("");
    }
    (sum, field(rest.get(1..).unwrap_or("")))
}

/// Whether a change from `left` to `right` makes no difference, by what its basic block does.
pub(super) fn same(a: &Body, b: &Body, left: Range<usize>, right: Range<usize>) -> bool {
    run(a, b, left, right).is_some()
}

/// The only way to an instruction, as far back as there is but one.
fn before(body: &Body, to: usize) -> Vec<usize> {
    let (mut path, mut i) = (Vec::new(), to);
    while path.len() < body.list.len() {
        let falls = i > 0 && !ends_flow(body.list[i - 1].1.op());
        let from = match body.entries(i) {
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
    let entered = |body: &Body, i: usize| body.entries(i) > 0;
    let path = before(a, left.start);
    if path != before(b, right.start) {
        return None;
    }
    let (mut x, mut y) = (Side::default(), Side::default());
    for (side, body, range) in [(&mut x, a, left.clone()), (&mut y, b, right.clone())] {
        for i in &path {
            side.step(body, *i)?;
        }
        for i in range.clone() {
            // Nobody comes into the middle of the change, and nobody leaves it.
            if block_ends(body, i) || i > range.start && entered(body, i) {
                return None;
            }
            side.step(body, i)?;
        }
    }
    let (mut i, mut j) = (left.end, right.end);
    loop {
        if x.notes != y.notes {
            return None;
        }
        let taken = x.taken.max(y.taken);
        let slots = x.locals.keys().chain(y.locals.keys());
        let mut other = slots.filter(|slot| x.local(**slot) != y.local(**slot));
        let unread = |slot: u16| !a.read_from(vec![i], slot) && !b.read_from(vec![j], slot);
        if x.stack(taken) == y.stack(taken) && other.all(|slot| unread(*slot)) {
            return Some(());
        }
        // What follows is the same on both sides, but must not be jumped over.
        if i >= a.list.len() || entered(a, i) || entered(b, j) || block_ends(a, i) {
            return None;
        }
        x.step(a, i)?;
        y.step(b, j)?;
        (i, j) = (i + 1, j + 1);
    }
}
