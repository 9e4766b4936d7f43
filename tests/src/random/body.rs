//! The code of one method while it is being generated: the types of the variables and of the
//! operand stack at the current instruction, and the current block.
//!
//! Every block begins with `blocks[k]++` on the class's own counters. Its instructions have their
//! own lines, `16 k` to `16 k + 15`. So Veneer's count at line `16 k` can be compared with element
//! `k`.

use super::class::{ClassWriter, Signature};
use super::code::{Assembler, Guard, Label, Verified};
use super::draw::Draw;
use super::kind::{Class, Kind};

#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// The first slot.
    pub slot: u16,
    /// The type that the variable always has, or `None` if the type changes from block to block.
    pub stable: Option<Kind>,
}

/// The types of the variables and of the operand stack at a position in the code.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Indexed by the number of the variable.
    pub locals: Vec<Option<Verified>>,
    /// The last element is the top.
    pub stack: Vec<Verified>,
}

/// An open exception range: the code generated now belongs to it.
pub(super) struct Open {
    pub number: usize,
    pub start: Label,
    /// Number of monitors that are held at the beginning of the range.
    pub held: usize,
}

/// A method while it is being generated.
pub struct Body<'c> {
    pub(super) class: &'c mut ClassWriter,
    pub(super) draw: Draw,
    pub(super) code: Assembler,
    pub(super) variables: Vec<Variable>,
    pub(super) state: State,
    pub(super) signature: Signature,
    /// The methods with a number below this may be called.
    pub(super) callable: usize,
    /// Number of calls that may still be generated.
    pub(super) calls: usize,
    pub(super) open: Vec<Open>,
    /// All exception ranges of the method. [`Open`] ranges have pieces that are not complete yet.
    pub(super) guards: Vec<Guard>,
    /// The variables that contain the held monitors, outermost first.
    pub(super) held: Vec<usize>,
    /// The variable that contains the running sum.
    pub(super) sum: usize,
    /// Whether the code that follows is the handler of a monitor, and not the next item.
    pub(super) monitor_end: bool,
    block: u16,
    line: u16,
}

impl<'c> Body<'c> {
    /// A method without code. Its parameters are its first variables.
    pub fn new(
        class: &'c mut ClassWriter,
        signature: Signature,
        callable: usize,
        draw: Draw,
    ) -> Self {
        let mut body = Self {
            class,
            draw,
            code: Assembler::default(),
            variables: Vec::new(),
            state: State {
                locals: Vec::new(),
                stack: Vec::new(),
            },
            signature: signature.clone(),
            callable,
            calls: 6,
            open: Vec::new(),
            guards: Vec::new(),
            held: Vec::new(),
            sum: 0,
            monitor_end: false,
            block: 0,
            line: 0,
        };
        if !signature.is_static {
            let this = body.variable(Some(Kind::Ref(Class::This)));
            body.state.locals[this] = Some(if signature.constructor {
                Verified::UnfinishedThis
            } else {
                Verified::Is(Kind::Ref(Class::This))
            });
        }
        for parameter in &signature.parameters {
            let number = body.variable(Some(*parameter));
            body.state.locals[number] = Some(Verified::Is(*parameter));
        }
        body
    }

    /// Adds a variable without a value.
    pub(super) fn variable(&mut self, stable: Option<Kind>) -> usize {
        let slot = self.code.max_locals;
        self.code.max_locals += stable.map_or(2, Kind::width);
        self.variables.push(Variable { slot, stable });
        self.state.locals.push(None);
        self.variables.len() - 1
    }

    /// Skips slots, so that the next variables need the wide instruction forms.
    pub(super) fn skip_slots(&mut self, count: u16) {
        self.code.max_locals += count;
    }

    /// Continues in an earlier state. Variables that were added since then have no value.
    pub(super) fn resume(&mut self, state: State) {
        self.state = state;
        self.state.locals.resize(self.variables.len(), None);
    }

    pub(super) fn push(&mut self, one: Verified) {
        self.state.stack.push(one);
        let width = |one: &Verified| match one {
            Verified::Is(kind) => kind.width(),
            _ => 1,
        };
        let depth: u16 = self.state.stack.iter().map(width).sum();
        // The counter and the fuel check at the beginning of a block need four more words.
        self.code.max_stack = self.code.max_stack.max(depth + 4);
    }

    pub(super) fn push_kind(&mut self, kind: Kind) {
        self.push(Verified::Is(kind));
    }

    pub(super) fn pop(&mut self) -> Verified {
        self.state
            .stack
            .pop()
            .unwrap_or_else(|| panic!("the generator takes from an empty stack"))
    }

    pub(super) fn drop_values(&mut self, count: usize) {
        for _ in 0..count {
            self.pop();
        }
    }

    /// Emits an instruction that pops `takes` values and pushes at most one.
    pub(super) fn op(&mut self, op: u8, takes: usize, gives: Option<Kind>) {
        self.code.op(op);
        self.effect(takes, gives);
    }

    /// Like [`Body::op`], for an instruction with an operand of two bytes.
    pub(super) fn op2(&mut self, op: u8, operand: u16, takes: usize, gives: Option<Kind>) {
        self.code.op2(op, operand);
        self.effect(takes, gives);
    }

    fn effect(&mut self, takes: usize, gives: Option<Kind>) {
        self.drop_values(takes);
        if let Some(kind) = gives {
            self.push_kind(kind);
        }
    }

    pub(super) fn load(&mut self, number: usize) {
        let one = self.state.locals[number]
            .unwrap_or_else(|| panic!("the generator reads variable {number}, which is empty"));
        let offset = match one {
            Verified::Is(kind) => kind.offset(),
            _ => 4,
        };
        let slot = self.variables[number].slot;
        self.code.variable(21 + offset, Some(26 + 4 * offset), slot);
        self.push(one);
    }

    pub(super) fn store(&mut self, number: usize) {
        let one = self.pop();
        let offset = match one {
            Verified::Is(kind) => kind.offset(),
            _ => 4,
        };
        let slot = self.variables[number].slot;
        self.code.variable(54 + offset, Some(59 + 4 * offset), slot);
        // A variable of a stable type keeps this type, even if the value is of a subclass.
        let kept = self.variables[number].stable.map(Verified::Is);
        self.state.locals[number] = Some(kept.unwrap_or(one));
    }

    /// Emits a call of a static method of `base.Runner`, the class that runs all tests.
    pub(super) fn runner(&mut self, name: &str, parameters: &[Kind], result: Option<Kind>) {
        let this = self.class.name.clone();
        let descriptor = super::kind::method_descriptor(parameters, result, &this);
        let index = self.class.pool.method("base/Runner", name, &descriptor);
        self.op2(0xb8, index, parameters.len(), result);
    }

    /// Begins a block at a label that other code may jump to, with the current state as its
    /// stack-map frame.
    pub(super) fn block_at(&mut self, label: Label) {
        self.code.place(label);
        self.frame(label);
        self.begin();
    }

    fn frame(&mut self, label: Label) {
        let mut locals = vec![None; usize::from(self.code.max_locals)];
        for (variable, one) in self.variables.iter().zip(&self.state.locals) {
            locals[usize::from(variable.slot)] = *one;
        }
        self.code.frame(label, locals, self.state.stack.clone());
    }

    /// Begins a block with a new number, and emits the code that counts its executions:
    /// `blocks[k]++`.
    pub(super) fn begin(&mut self) {
        self.block = self.class.next_block();
        self.line = 0;
        self.code.line(16 * self.block);
        let this = self.class.name.clone();
        let blocks = self.class.pool.field(&this, "blocks", "[I");
        self.code.op2(0xb2, blocks);
        self.int(i32::from(self.block));
        self.code.op(0x5c); // dup2
        self.code.op(0x2e); // iaload
        self.code.op(0x04); // iconst_1
        self.code.op(0x60); // iadd
        self.code.op(0x4f); // iastore
        self.code.max_stack = self.code.max_stack.max(4);
        self.next_line();
    }

    /// Assigns the following code to the next line of this block.
    pub(super) fn next_line(&mut self) {
        self.line = (self.line + 1).min(15);
        self.code.line(16 * self.block + self.line);
    }

    /// Emits the push of a number without updating the stack state.
    pub(super) fn int(&mut self, value: i32) {
        match value {
            -1..=5 => self.code.op((3 + value) as u8),
            -128..=127 => self.code.bytes.extend_from_slice(&[16, value as u8]),
            -32768..=32767 => self.code.op2(17, value as u16),
            _ => {
                let index = self.class.pool.int(value);
                self.constant(index);
            }
        }
    }

    /// Emits `ldc` or `ldc_w`.
    pub(super) fn constant(&mut self, index: u16) {
        match u8::try_from(index) {
            Ok(index) => self.code.bytes.extend_from_slice(&[0x12, index]),
            Err(_) => self.code.op2(0x13, index),
        }
    }

    /// Emits code that takes one unit of fuel and branches if some is left.
    pub(super) fn fuel(&mut self, to: Label) {
        let fuel = self.class.pool.field("base/Runner", "fuel", "I");
        self.code.op2(0xb2, fuel);
        self.code.op(0x04); // iconst_1
        self.code.op(0x64); // isub
        self.code.op(0x59); // dup
        self.code.op2(0xb3, fuel);
        self.code.jump(0x9d, to); // ifgt
    }

    /// Opens an exception range.
    pub(super) fn open(&mut self, number: usize, held: usize) {
        let start = self.code.here();
        self.open.push(Open {
            number,
            start,
            held,
        });
    }

    /// Closes an exception range.
    pub(super) fn close(&mut self, number: usize) {
        if let Some(place) = self.open.iter().position(|open| open.number == number) {
            let open = self.open.remove(place);
            let end = self.code.here();
            self.guards[number].pieces.push((open.start, end));
        }
    }
}
