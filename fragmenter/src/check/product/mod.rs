//! The product of original and emitted code: which pairs of places belong together, and what is known to be equal there.
//!
//! ```text
//!    node (P, Q, k)   tags: for each local of the method, for each word of the stack, for each local of Veneer's
//!      │  run: the emitted side goes on by itself over what nobody sees; the original is led along lazily
//!      ├─ an event, a store to the method's locals, a branch, a return: the original's next one must be the same
//!      ├─ a check: its stub must leave with the values of P             (leave.rs)
//!      └─ control flows together: on to node (P', Q', k'), whose tags are met with those that came
//! ```
//!
//! P' is the *earliest* place of the original, behind what was matched last, whose operand stack is the emitted one: nothing
//! that the emitted side has computed is lost then, and what the original computes later it computes again.

mod branch;
mod event;
mod handlers;
mod lead;
mod node;
mod progress;
mod start;
mod store;

use super::constants::{Canon, Constants, Meaning, Own, constant};
use super::failure::{At, Failure};
use super::leave::Leave;
use super::live::Live;
use super::machine::{Broken, Machine, wide};
use super::original::{Face, Original, Position};
use super::program::Program;
use super::value::{Map, Value, Values};
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use node::{Key, Node};

/// States for each instruction of the emitted code, and some more, before the checker gives up.
const STATES: usize = 64;

/// What kind of body is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Armed,
    Enter,
    Resume,
}

/// Both sides in the middle of a run.
#[derive(Clone)]
pub(super) struct Run {
    pub o: Machine,
    pub at: Position,
    pub e: Machine,
    pub q: u32,
    pub monitors: u8,
    /// The point that the activation came from, 0 if it does not come from elsewhere.
    pub from: u16,
    /// Whether anything was matched since the last node.
    pub matched: bool,
    /// The exception that leaves the method.
    pub thrown: Option<Value>,
    pub leave: Option<Box<Leave>>,
    /// A result that is boxed.
    boxed: Option<Value>,
    /// An object that came out of the frame, and its class.
    fetched: Option<(Value, Vec<u8>)>,
    /// Values that the open log may still take.
    log: Option<i32>,
    /// The stretches for which exceptions were followed since anything changed.
    last: Option<(u32, u32)>,
    own_last: Option<u32>,
}

/// See the module documentation.
pub(super) struct Product<'x, 'c> {
    pub original: &'x Original,
    pub emitted: &'x Program,
    pub canon: &'x mut Canon,
    pub left: &'x mut Constants<'c>,
    pub right: &'x mut Constants<'c>,
    pub mode: Mode,
    /// The id of the method's cell; learnt from an armed body.
    pub id: Option<u32>,
    pub clean: bool,
    /// Offsets of counters in bytes, sorted.
    pub counters: &'x [i32],
    /// Cells with their limits.
    pub limits: &'x [(i64, u64)],
    /// The points, for versions; found, for an armed body.
    pub faces: Vec<Option<Face>>,
    pub live: Option<&'x Live>,
    pub values: Values,
    /// The first local that is Veneer's.
    pub own_from: usize,
    nodes: Vec<Node>,
    index: Map<Key, u32>,
    work: Vec<u32>,
    silent: Vec<(u32, u32)>,
    starts: Vec<Option<(Machine, Position)>>,
    pub runs: usize,
}

type Step = Result<bool, Failure>;

impl<'x, 'c> Product<'x, 'c> {
    pub fn new(
        original: &'x Original,
        emitted: &'x Program,
        canon: &'x mut Canon,
        left: &'x mut Constants<'c>,
        right: &'x mut Constants<'c>,
        mode: Mode,
    ) -> Self {
        Product {
            original,
            emitted,
            canon,
            left,
            right,
            mode,
            id: None,
            clean: false,
            counters: &[],
            limits: &[],
            faces: Vec::new(),
            live: None,
            values: Values::default(),
            own_from: original.program.max_locals,
            nodes: Vec::new(),
            index: Map::default(),
            work: Vec::new(),
            silent: Vec::new(),
            starts: Vec::new(),
            runs: 0,
        }
    }

    /// Both places, for a message.
    pub fn at(&self, r: &Run) -> At {
        At {
            original: if r.at == Position::OUT {
                "its end by an exception".into()
            } else {
                self.original.program.text(r.at.instruction)
            },
            emitted: self.emitted.text(r.q),
        }
    }

    pub fn unknown(&self, r: &Run, why: &str) -> Failure {
        Failure::NotUnderstood {
            at: self.at(r),
            why: why.to_string(),
        }
    }

    /// Both sides with a different unknown in each local.
    pub fn blank(&mut self, at: Position) -> Run {
        let (o, e) = (self.original.program.max_locals, self.emitted.max_locals);
        let mut fill = |n: usize| (0..n).map(|_| self.values.fresh()).collect();
        Run {
            o: Machine {
                locals: fill(o),
                stack: Vec::new(),
            },
            at,
            e: Machine {
                locals: fill(e),
                stack: Vec::new(),
            },
            q: 0,
            monitors: 0,
            from: 0,
            matched: false,
            thrown: None,
            leave: None,
            boxed: None,
            fetched: None,
            log: None,
            last: None,
            own_last: None,
        }
    }

    fn explore(&mut self) -> Result<(), Failure> {
        let limit = STATES * (self.emitted.instructions.len() + 64);
        while let Some(n) = self.work.pop() {
            self.runs += 1;
            if self.runs > limit {
                return Err(Failure::TooManyStates(limit));
            }
            self.nodes[n as usize].queued = false;
            let r = self.restore(n);
            self.go(Some(n), r)?;
        }
        self.progress()
    }

    /// Runs the emitted side until control flows together, branches or ends.
    fn go(&mut self, from: Option<u32>, mut r: Run) -> Result<(), Failure> {
        let mut first = true;
        let mut steps = 0;
        loop {
            if !first && r.leave.is_none() && self.emitted.leader.get(r.q as usize) == Some(&true) {
                return self.arrive(from, r, false);
            }
            first = false;
            steps += 1;
            if steps > self.emitted.instructions.len() + 1 {
                return Err(Failure::NoProgress(self.at(&r)));
            }
            if !self.step(from, &mut r)? {
                return Ok(());
            }
        }
    }

    /// One instruction of the emitted side. `false`: this run has ended.
    fn step(&mut self, from: Option<u32>, r: &mut Run) -> Step {
        let emitted = self.emitted;
        let Some(i) = emitted.get(r.q) else {
            return Err(self.unknown(r, "control falls off the end"));
        };
        let op = i.op();
        match i {
            Instruction::Branch { op: GOTO, target } => {
                // To a stub too far for the check's own branch, too; `go` bounds the steps.
                r.q = emitted.target(*target);
                return Ok(true);
            }
            Instruction::Branch { .. } => return self.branch(from, r, i),
            Instruction::TableSwitch { .. } | Instruction::LookupSwitch { .. } => {
                return self.switch(from, r, i);
            }
            Instruction::Local { op, .. } if *op >= ISTORE && *op != RET => {
                return self.store(r, i);
            }
            Instruction::Iinc { .. } => return self.store(r, i),
            _ if is_return(op) => return self.result(from, r, op).map(|()| false),
            _ => {}
        }
        let mut meaning = None;
        if matches!(i, Instruction::Ldc { .. }) {
            let m = self.right.meaning(self.canon, i);
            meaning = Some(m.map_err(|e| self.unknown(r, &e))?);
        }
        let known = meaning.and_then(|m| constant(m, &mut self.values));
        let done = r.e.silent(i, known, &mut self.values);
        if done.map_err(|Broken| self.unknown(r, "the operand stack is broken"))? {
            if let (Some(leave), Instruction::Local { op, index }) = (&mut r.leave, i) {
                leave.loaded.push((*index, wide(*op)));
            }
            r.q += 1;
            return Ok(true);
        }
        let m = self.right.meaning(self.canon, i);
        match m.map_err(|e| self.unknown(r, &e))? {
            Meaning::Own(own) => self.own(from, r, own),
            Meaning::Not(why) => Err(Failure::Own {
                at: self.at(r),
                why: why.into(),
            }),
            Meaning::Event(event) => self.event(from, r, i, event),
            _ => Err(self.unknown(r, "an instruction of no meaning")),
        }
    }

    pub fn pop(&self, r: &mut Run) -> Result<Value, Failure> {
        r.e.pop()
            .map_err(|Broken| self.unknown(r, "the operand stack is broken"))
    }

    /// What came out of the frame and is going to be cast.
    pub fn came_out(&self, r: &mut Run, v: Value, class: &[u8]) {
        r.fetched = Some((v, class.to_vec()));
    }

    /// The values that an open log may still take.
    pub fn log<'r>(&self, r: &'r mut Run) -> &'r mut Option<i32> {
        &mut r.log
    }

    /// The original's state at the point that an activation came from.
    pub fn came_from(&self, r: &Run) -> Option<&(Machine, Position)> {
        self.starts.get(r.from as usize)?.as_ref()
    }

    /// Goes on with one of Veneer's own instructions.
    fn own(&mut self, from: Option<u32>, r: &mut Run, own: Own) -> Step {
        self.own_covered(from, r)?;
        self.own_instruction(r, own)?;
        r.q += 1;
        Ok(true)
    }
}
