//! The code of one method as it is written: what variables and operand stack hold at each place, and which block it is in.
//!
//! Every block begins with `blocks[k]++` on the class's own counters and has lines of its own, `16 k` to `16 k + 15`, so that
//! what Veneer counts at line `16 k` can be held against element `k`.

use super::class::{ClassWriter, Signature};
use super::code::{Assembler, Guard, Label, Verified};
use super::draw::Draw;
use super::kind::{Class, Kind};

/// A local variable.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// Its first slot.
    pub slot: u16,
    /// What it always holds; `None` where that changes from block to block.
    pub stable: Option<Kind>,
}

/// What variables and stack hold at a place.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// By number of the variable.
    pub locals: Vec<Option<Verified>>,
    /// The top is last.
    pub stack: Vec<Verified>,
}

/// A range that is open: what is written now is in it.
pub(super) struct Open {
    pub number: usize,
    pub start: Label,
    /// Monitors that its handler holds.
    pub held: usize,
}

/// A method in the making.
pub struct Body<'c> {
    pub(super) class: &'c mut ClassWriter,
    pub(super) draw: Draw,
    pub(super) code: Assembler,
    pub(super) variables: Vec<Variable>,
    pub(super) state: State,
    pub(super) signature: Signature,
    /// The methods that may be called, by number.
    pub(super) callable: usize,
    /// Calls that may still be written.
    pub(super) calls: usize,
    pub(super) open: Vec<Open>,
    /// Ranges that are not in the exception table yet.
    pub(super) guards: Vec<Guard>,
    /// Variables that hold the monitors that are held, outermost first.
    pub(super) held: Vec<usize>,
    /// The variable with the running sum.
    pub(super) sum: usize,
    /// Whether a monitor's handler follows in the code, and not the next item.
    pub(super) monitor_end: bool,
    block: u16,
    line: u16,
}

impl<'c> Body<'c> {
    /// An empty method; its parameters are its first variables.
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

    /// A new variable; nothing is in it yet.
    pub(super) fn variable(&mut self, stable: Option<Kind>) -> usize {
        let slot = self.code.max_locals;
        self.code.max_locals += stable.map_or(2, Kind::width);
        self.variables.push(Variable { slot, stable });
        self.state.locals.push(None);
        self.variables.len() - 1
    }

    /// Leaves slots unused, so that the next variables need the wide forms.
    pub(super) fn skip_slots(&mut self, count: u16) {
        self.code.max_locals += count;
    }

    /// Goes on in a state that was met before; variables that came later hold nothing there.
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
        // The counters and the fuel at a block's beginning take four more.
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

    /// An instruction that takes so many values and gives at most one.
    pub(super) fn op(&mut self, op: u8, takes: usize, gives: Option<Kind>) {
        self.code.op(op);
        self.effect(takes, gives);
    }

    /// The same, with an operand of two bytes.
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
        // A variable that does not change its type keeps it, whatever subclass is put in.
        let kept = self.variables[number].stable.map(Verified::Is);
        self.state.locals[number] = Some(kept.unwrap_or(one));
    }

    /// Calls a static method of the class that runs everything.
    pub(super) fn runner(&mut self, name: &str, parameters: &[Kind], result: Option<Kind>) {
        let this = self.class.name.clone();
        let descriptor = super::kind::method_descriptor(parameters, result, &this);
        let index = self.class.pool.method("base/Runner", name, &descriptor);
        self.op2(0xb8, index, parameters.len(), result);
    }

    /// Begins a block at a label where control may come from elsewhere, in the present state.
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

    /// Numbers the block and counts that it is passed: `blocks[k]++`.
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

    /// What follows is on the next line of this block.
    pub(super) fn next_line(&mut self) {
        self.line = (self.line + 1).min(15);
        self.code.line(16 * self.block + self.line);
    }

    /// Pushes a number without keeping account of it.
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

    /// `ldc` or `ldc_w`.
    pub(super) fn constant(&mut self, index: u16) {
        match u8::try_from(index) {
            Ok(index) => self.code.bytes.extend_from_slice(&[0x12, index]),
            Err(_) => self.code.op2(0x13, index),
        }
    }

    /// Takes fuel, and branches where there is some left.
    pub(super) fn fuel(&mut self, to: Label) {
        let fuel = self.class.pool.field("base/Runner", "fuel", "I");
        self.code.op2(0xb2, fuel);
        self.code.op(0x04); // iconst_1
        self.code.op(0x64); // isub
        self.code.op(0x59); // dup
        self.code.op2(0xb3, fuel);
        self.code.jump(0x9d, to); // ifgt
    }

    /// Opens a range.
    pub(super) fn open(&mut self, number: usize, held: usize) {
        let start = self.code.here();
        self.open.push(Open {
            number,
            start,
            held,
        });
    }

    /// Closes a range.
    pub(super) fn close(&mut self, number: usize) {
        if let Some(place) = self.open.iter().position(|open| open.number == number) {
            let open = self.open.remove(place);
            let end = self.code.here();
            self.guards[number].pieces.push((open.start, end));
        }
    }
}
