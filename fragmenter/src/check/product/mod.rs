//! The product of the original and the emitted code: pairs of positions, and the values known to be
//! equal there.
//!
//! ```text
//!    node (P, Q, k)   tags: one per local of the method, per word of the stack, per local of Veneer
//!      │  run: the emitted side executes silent instructions; the original follows on demand
//!      ├─ an effect, a store to the method's locals, a branch or a return must be the original's next
//!      ├─ a check: its stub must leave with the values of P             (osr_exit.rs)
//!      └─ control flow merges: at node (P', Q', k'), whose tags are met with those of the run
//! ```
//!
//! P and Q are positions of the original and the emitted code. k is the number of the point from
//! which a resumed activation is still on its way, or 0.
//!
//! P' is the *earliest* position of the original, after the last matched step, at which the operand
//! stack equals that of the emitted side. The earliest position loses no value that the emitted
//! side has computed. Values that the original computes after P' are computed again in the next
//! run.

mod branch;
mod effect;
mod entry_states;
mod handlers;
mod loop_choice;
mod merging;
mod node;
mod parameter_guard;
mod progress;
mod receiver_test;
mod silent_steps;
mod store;
mod tested_receiver;

use super::constants::{Constants, ContentNumbers, Meaning, RuntimeOperation, constant};
use super::exit_state::OsrExit;
use super::failure::{Failure, Location};
use super::frame_contract::FrameContract;
use super::liveness::LiveLocals;
use super::program::Program;
use super::reference::{Position, ReferenceProgram};
use super::symbolic_state::{StackMismatch, SymbolicState, words_moved};
use super::value::{Map, Value, Values};
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use node::{Key, Node};
use std::collections::BTreeMap;
use std::sync::Arc;
use tested_receiver::TestedReceiver;
use veneer_names::MethodId;

/// Limit of symbolic runs per instruction of the emitted code, counting 64 extra instructions.
const RUNS_PER_INSTRUCTION: usize = 64;

/// The kind of body that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Armed,
    Enter,
    Resume,
}

/// The states of both sides during a run.
#[derive(Clone)]
pub(super) struct Run {
    pub original: SymbolicState,
    /// Position of the original (P in the module documentation).
    pub original_at: Position,
    pub emitted: SymbolicState,
    /// Next instruction of the emitted side (Q in the module documentation).
    pub emitted_at: u32,
    /// Number of monitors that the activation holds.
    pub monitors: u8,
    /// Number of the point from which a resumed activation came, or 0.
    pub from: u16,
    /// True if a step was matched since the last node.
    pub matched: bool,
    /// The exception that is leaving the method.
    pub thrown: Option<Value>,
    pub leave: Option<Box<OsrExit>>,
    /// The primitive value that was boxed as the result.
    boxed: Option<Value>,
    /// An object that was read from the frame, and its class.
    fetched: Option<(Value, Vec<u8>)>,
    /// The class of the object that the handle returned which was called just now.
    bound_result: Option<String>,
    /// Number of values that the open log event still takes.
    log: Option<i32>,
    /// The test of a receiver that was executed last, or that the receiver has passed.
    receiver: Option<TestedReceiver>,
    /// The number of guards of constants that were passed.
    guards: u8,
    /// The handler ranges of both sides for which exceptions were already followed. Reset when a
    /// local or the held monitors change.
    last_ranges: Option<(u32, u32)>,
    last_operation_range: Option<(u32, u32)>,
}

/// The product exploration of one body. See the module documentation.
pub(super) struct Product<'x, 'c> {
    pub original: &'x ReferenceProgram,
    pub emitted: &'x Program,
    pub contents: &'x mut ContentNumbers,
    pub original_constants: &'x mut Constants<'c>,
    pub emitted_constants: &'x mut Constants<'c>,
    pub mode: Mode,
    /// Id of the method's cell. For an armed body, the id is read from the code.
    pub id: Option<MethodId>,
    pub clean: bool,
    /// Byte offsets of the counters, sorted.
    pub counters: &'x [i32],
    /// Addresses of cells, with their limits.
    pub limits: &'x [(i64, u64)],
    /// Whether a probe reads the address of the thread's counters.
    pub reads_shard: bool,
    /// The calls of the original that are tested for receivers of these classes, by their pcs.
    pub receivers: &'x [(u16, Arc<str>)],
    /// The local variables that the plan makes constants, with their values.
    pub constants: &'x [(u16, i32)],
    /// Whether the plan copies loops, between which the emitted side chooses.
    pub chooses_loops: bool,
    /// Frame contracts by point number. For a version, they are given; for an armed body, they are
    /// found.
    pub contracts: Vec<Option<FrameContract>>,
    pub live: Option<&'x LiveLocals>,
    pub values: Values,
    /// The operations and members of the method handles that the emitted side has read.
    pub bound: Map<Value, (u8, u16)>,
    /// The first local that belongs to Veneer.
    pub first_own_local: usize,
    nodes: Vec<Node>,
    index: Map<Key, u32>,
    work: Vec<u32>,
    /// Exceptions of runtime operations that are followed later, by the emitted handler, the number of
    /// monitors, the tags, and the handlers of the original that may catch them.
    later: BTreeMap<KeptException, Run>,
    silent_edges: Vec<(u32, u32)>,
    starts: Vec<Option<(SymbolicState, Position)>>,
    pub runs: usize,
}

type StepResult = Result<bool, Failure>;

type KeptException = (u32, u8, Vec<u8>, Vec<Option<u32>>);

impl<'x, 'c> Product<'x, 'c> {
    pub fn new(
        original: &'x ReferenceProgram,
        emitted: &'x Program,
        contents: &'x mut ContentNumbers,
        original_constants: &'x mut Constants<'c>,
        emitted_constants: &'x mut Constants<'c>,
        mode: Mode,
    ) -> Self {
        Product {
            original,
            emitted,
            contents,
            original_constants,
            emitted_constants,
            mode,
            id: None,
            clean: false,
            counters: &[],
            limits: &[],
            reads_shard: false,
            receivers: &[],
            constants: &[],
            chooses_loops: false,
            contracts: Vec::new(),
            live: None,
            values: Values::default(),
            bound: Map::default(),
            first_own_local: original.program.max_locals,
            nodes: Vec::new(),
            index: Map::default(),
            work: Vec::new(),
            later: BTreeMap::new(),
            silent_edges: Vec::new(),
            starts: Vec::new(),
            runs: 0,
        }
    }

    /// Returns both positions for a message.
    pub fn at(&self, r: &Run) -> Location {
        Location {
            original: if r.original_at == Position::OUT {
                "its end by an exception".into()
            } else {
                self.original.program.text(r.original_at.instruction)
            },
            emitted: self.emitted.text(r.emitted_at),
        }
    }

    pub fn unknown(&self, r: &Run, why: &str) -> Failure {
        Failure::NotUnderstood {
            at: self.at(r),
            why: why.to_string(),
        }
    }

    /// Returns a run in which each local of each side holds a different unknown value.
    pub fn blank(&mut self, at: Position) -> Run {
        let (o, e) = (self.original.program.max_locals, self.emitted.max_locals);
        let mut fill = |n: usize| (0..n).map(|_| self.values.fresh()).collect();
        Run {
            original: SymbolicState {
                locals: fill(o),
                stack: Vec::new(),
            },
            original_at: at,
            emitted: SymbolicState {
                locals: fill(e),
                stack: Vec::new(),
            },
            emitted_at: 0,
            monitors: 0,
            from: 0,
            matched: false,
            thrown: None,
            leave: None,
            boxed: None,
            fetched: None,
            bound_result: None,
            log: None,
            receiver: None,
            guards: 0,
            last_ranges: None,
            last_operation_range: None,
        }
    }

    fn explore(&mut self) -> Result<(), Failure> {
        let limit = RUNS_PER_INSTRUCTION * (self.emitted.instructions.len() + 64);
        loop {
            if self.work.is_empty() {
                self.follow_kept()?;
            }
            let Some(n) = self.work.pop() else {
                return self.progress();
            };
            self.runs += 1;
            if self.runs > limit {
                return Err(Failure::TooManyStates(limit));
            }
            self.nodes[n as usize].queued = false;
            let r = self.restore(n);
            self.run(Some(n), r)?;
        }
    }

    /// Executes the emitted side until control flow merges, branches or ends. It does not merge at
    /// the first instruction, which is that of a node or of the entry.
    fn run(&mut self, from: Option<u32>, r: Run) -> Result<(), Failure> {
        self.run_from(from, r, true)
    }

    /// Executes the emitted side after a branch. If the target is in the branch's own loop, the run
    /// merges there; without this, each round would begin a run inside the run before.
    fn run_after_branch(&mut self, from: Option<u32>, r: Run) -> Result<(), Failure> {
        self.run_from(from, r, false)
    }

    fn run_from(&mut self, from: Option<u32>, mut r: Run, mut first: bool) -> Result<(), Failure> {
        let mut steps = 0;
        loop {
            if !first
                && r.leave.is_none()
                && self.emitted.leader.get(r.emitted_at as usize) == Some(&true)
            {
                return self.merge_at_leader(from, r, false);
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

    /// Executes one instruction of the emitted side. Returns `false` if the run has ended.
    fn step(&mut self, from: Option<u32>, r: &mut Run) -> StepResult {
        let emitted = self.emitted;
        let Some(i) = emitted.get(r.emitted_at) else {
            return Err(self.unknown(r, "control falls off the end"));
        };
        let op = i.op();
        let returned = r.bound_result.take();
        match i {
            Instruction::Branch { op: GOTO, target } => {
                // The `goto` may also lead to a stub that is out of reach for the check's own
                // branch. The caller limits the number of steps.
                r.emitted_at = emitted.target(*target);
                self.begin_move(r)?;
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
            let m = self.emitted_constants.meaning(self.contents, i);
            meaning = Some(m.map_err(|e| self.unknown(r, &e.to_string()))?);
        }
        let known = meaning.and_then(|m| constant(m, &mut self.values));
        let done = r.emitted.run_silent(i, known, &mut self.values);
        if done.map_err(|StackMismatch| self.unknown(r, "the operand stack is broken"))? {
            if let (Some(leave), Instruction::Local { op, index }) = (&mut r.leave, i) {
                leave.loaded.push((*index, words_moved(*op)));
            }
            r.emitted_at += 1;
            return Ok(true);
        }
        if let Some(effect) = self.effect_of_handle(r, i)? {
            return self.effect(from, r, i, effect);
        }
        let m = self.emitted_constants.meaning(self.contents, i);
        match m.map_err(|e| self.unknown(r, &e.to_string()))? {
            Meaning::Effect(effect) if op == INSTANCEOF && self.is_receiver_test(r, effect)? => {
                self.test_receiver(from, r, effect)
            }
            Meaning::Effect(effect) if op == CHECKCAST && self.is_receiver_cast(r, effect) => {
                r.emitted_at += 1;
                Ok(true)
            }
            Meaning::Effect(effect) if op == CHECKCAST && r.leave.is_none() => {
                // The handle already returns an instance of this class, so the cast is silent.
                if returned.is_some_and(|class| self.contents.cast_to(&class) == effect.key) {
                    r.emitted_at += 1;
                    return Ok(true);
                }
                self.effect(from, r, i, effect)
            }
            Meaning::Runtime(operation) => self.runtime_operation(from, r, operation),
            Meaning::PutFinal(kind) => {
                let effect = self.final_store(r, kind)?;
                self.effect(from, r, i, effect)
            }
            Meaning::Forbidden(why) => Err(Failure::Own {
                at: self.at(r),
                why: why.into(),
            }),
            Meaning::Effect(effect) => self.effect(from, r, i, effect),
            _ => Err(self.unknown(r, "an instruction of no meaning")),
        }
    }

    pub fn pop(&self, r: &mut Run) -> Result<Value, Failure> {
        r.emitted
            .pop()
            .map_err(|StackMismatch| self.unknown(r, "the operand stack is broken"))
    }

    /// Remembers an object that was read from the frame and has yet to be cast.
    pub fn remember_fetched(&self, r: &mut Run, v: Value, class: &[u8]) {
        r.fetched = Some((v, class.to_vec()));
    }

    /// Returns the number of values that the open log event still takes.
    pub fn log<'r>(&self, r: &'r mut Run) -> &'r mut Option<i32> {
        &mut r.log
    }

    /// Returns the original's state and position at the point from which the activation came.
    pub fn source_state(&self, r: &Run) -> Option<&(SymbolicState, Position)> {
        self.starts.get(r.from as usize)?.as_ref()
    }

    /// Executes one runtime operation.
    fn runtime_operation(
        &mut self,
        from: Option<u32>,
        r: &mut Run,
        operation: RuntimeOperation,
    ) -> StepResult {
        // Reading a field of the version itself, which is initialised, throws nothing.
        let throws = !matches!(
            operation,
            RuntimeOperation::FinalOffset(_) | RuntimeOperation::BoundHandle(..)
        );
        if throws {
            self.check_runtime_handlers(from, r)?;
        }
        self.run_operation(r, operation)?;
        r.emitted_at += 1;
        Ok(true)
    }
}
