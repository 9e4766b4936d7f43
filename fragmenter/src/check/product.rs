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

use super::constants::{Canon, Constants, Event, Meaning, Own, constant};
use super::failure::{At, Failure};
use super::leave::Leave;
use super::live::Live;
use super::machine::{Broken, Machine, wide};
use super::original::{Face, Original, Position, Slot};
use super::program::Program;
use super::value::{Map, Value, Values};
use crate::bytecode::opcode::*;
use crate::bytecode::{Instruction, Label};

/// Nothing is known of the value; on both sides it is the same; it is `null`. Above: [`Value`]s of Veneer's.
const UNKNOWN: u8 = 0;
const SAME: u8 = 1;
const NULL: u8 = 2;

/// States for each instruction of the emitted code, and some more, before the checker gives up.
const STATES: usize = 64;

/// What kind of body is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Armed,
    Enter,
    Resume,
    Packer,
}

type Key = (Position, u32, u16);

struct Node {
    key: Key,
    tags: Vec<u8>,
    monitors: u8,
    queued: bool,
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
            faces: Vec::new(),
            live: None,
            values: Values::default(),
            own_from: if mode == Mode::Packer {
                0
            } else {
                original.program.max_locals
            },
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

    fn blank(&mut self, at: Position) -> Run {
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

    /// An armed body: both sides begin with the same parameters.
    pub fn armed(&mut self, parameters: usize) -> Result<(), Failure> {
        let at = self.original.settle(Position {
            place: 0,
            instruction: 0,
        });
        let mut r = self.blank(at);
        for slot in 0..parameters {
            if let (Some(o), Some(e)) = (r.o.locals.get(slot), r.e.locals.get_mut(slot)) {
                *e = *o;
            }
        }
        self.arrive(None, r, true)?;
        self.explore()
    }

    fn face(&self, point: usize) -> Result<Face, Failure> {
        self.faces
            .get(point)
            .and_then(Clone::clone)
            .ok_or_else(|| Failure::Missing(format!("point {point}")))
    }

    /// The original at a point, with a symbol for each value that is carried.
    fn standing(&mut self, face: &Face, at: Position) -> Machine {
        let mut o = self.blank(at).o;
        o.stack = (0..face.depth).map(|_| Value::HIGH).collect();
        for c in &face.carried {
            let v = if c.null {
                Value::NULL
            } else {
                self.values.fresh()
            };
            match c.slot {
                Slot::Local(slot) => {
                    let words = super::constants::words_of(&c.descriptor);
                    let _ = o.set(slot, v, words);
                }
                Slot::Stack(_, word) => {
                    if let Some(x) = o.stack.get_mut(word) {
                        *x = v;
                    }
                }
            }
        }
        for slot in &face.nulls {
            let _ = o.set(*slot, Value::NULL, 1);
        }
        o
    }

    /// Gives the emitted side the carried values as parameters, in order.
    fn pass(face: &Face, r: &mut Run) {
        let mut slot = 0u16;
        for c in &face.carried {
            let words = super::constants::words_of(&c.descriptor);
            let v = match c.slot {
                Slot::Local(n) => r.o.locals.get(n as usize).copied(),
                Slot::Stack(_, word) => r.o.stack.get(word).copied(),
            };
            if let Some(v) = v {
                let _ = r.e.set(slot, v, words);
            }
            slot += words as u16;
        }
    }

    /// `enter`.
    pub fn enter(&mut self) -> Result<(), Failure> {
        let face = self.face(0)?;
        let entry = self.original.entry(face.instruction);
        let at = entry.ok_or_else(|| Failure::Missing("the place of point 0".into()))?;
        let at = self.original.settle(at);
        let mut r = self.blank(at);
        r.o = self.standing(&face, at);
        Self::pass(&face, &mut r);
        // The prologue puts parameters where the method has them, so the first run begins before any node.
        self.runs += 1;
        self.go(None, r)?;
        self.explore()
    }

    /// `resume`, from every point.
    pub fn resume(&mut self) -> Result<(), Failure> {
        self.starts = vec![None; self.faces.len()];
        for point in 1..self.faces.len() {
            let face = self.face(point)?;
            let at = self.original.resumes(face.instruction, face.exit);
            let at = at.ok_or_else(|| Failure::Missing(format!("the place of point {point}")))?;
            let at = self.original.settle(at);
            let o = self.standing(&face, at);
            let mut r = self.blank(at);
            r.o = o.clone();
            r.from = point as u16;
            self.starts[point] = Some((o, at));
            match r.e.locals.first_mut() {
                Some(v) => *v = Value::FRAME_IN,
                None => return Err(Failure::Missing("the frame".into())),
            }
            self.runs += 1;
            self.go(None, r)?;
        }
        self.explore()
    }

    /// A packer of a point.
    pub fn packer(&mut self, point: usize) -> Result<(), Failure> {
        let face = self.face(point)?;
        let at = self.original.stands(face.instruction, face.exit);
        let at = at.ok_or_else(|| Failure::Missing(format!("the place of point {point}")))?;
        let at = self.original.settle(at);
        let mut r = self.blank(at);
        r.o = self.standing(&face, at);
        Self::pass(&face, &mut r);
        r.leave = Some(Box::new(Leave::packer(point as u16, r.o.stack.clone())));
        self.runs += 1;
        self.go(None, r)
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

    /// Both sides at a node.
    fn restore(&mut self, n: u32) -> Run {
        let (at, q, from) = self.nodes[n as usize].key;
        let tags = std::mem::take(&mut self.nodes[n as usize].tags);
        let mut r = self.blank(at);
        r.q = q;
        r.monitors = self.nodes[n as usize].monitors;
        let shared = self.own_from.min(r.e.locals.len());
        let start = if from > 0 {
            r.from = from;
            self.starts.get(from as usize).cloned().flatten()
        } else {
            None
        };
        let coming = start.is_some();
        if let Some((o, _)) = start {
            r.o = o;
        }
        for (i, tag) in tags.iter().enumerate() {
            if i < shared && !coming {
                match *tag {
                    SAME => r.e.locals[i] = r.o.locals[i],
                    NULL => {
                        r.e.locals[i] = Value::NULL;
                        r.o.locals[i] = Value::NULL;
                    }
                    UNKNOWN => {}
                    own => r.e.locals[i] = Value(own as u64),
                }
            } else if i < r.e.locals.len() {
                if *tag > NULL {
                    r.e.locals[i] = Value(*tag as u64);
                }
            } else if !coming {
                let v = if *tag == NULL {
                    Value::NULL
                } else {
                    self.values.fresh()
                };
                r.e.stack.push(v);
                if at != Position::OUT {
                    r.o.stack.push(v);
                }
            }
        }
        if at == Position::OUT {
            r.thrown = r.e.stack.first().copied();
        }
        self.nodes[n as usize].tags = tags;
        r
    }

    /// What is known, for a node whose stack has these tags.
    fn tags(&self, r: &Run, stack: impl Iterator<Item = u8>) -> Vec<u8> {
        let shared = self.own_from;
        let out = r.at == Position::OUT;
        let local = |(i, e): (usize, &Value)| match *e {
            v if i < shared && !out && r.o.locals.get(i) == Some(&v) => {
                if v == Value::NULL {
                    NULL
                } else {
                    SAME
                }
            }
            v @ (Value::SHARD | Value::OWN | Value::OWN_NULL | Value::FRAME_IN) => v.0 as u8,
            _ => UNKNOWN,
        };
        r.e.locals
            .iter()
            .enumerate()
            .map(local)
            .chain(stack)
            .collect()
    }

    fn merge(
        &mut self,
        from: Option<u32>,
        r: &Run,
        key: Key,
        tags: Vec<u8>,
    ) -> Result<(), Failure> {
        let n = match self.index.get(&key) {
            Some(n) => {
                let node = &mut self.nodes[*n as usize];
                if node.tags.len() != tags.len() {
                    return Err(Failure::Stack(self.at(r)));
                }
                let mut changed = false;
                for (old, new) in node.tags.iter_mut().zip(&tags) {
                    let met = match (*old, *new) {
                        (a, b) if a == b => a,
                        (SAME | NULL, SAME | NULL) => SAME,
                        _ => UNKNOWN,
                    };
                    changed |= met != *old;
                    *old = met;
                }
                if r.monitors > node.monitors {
                    node.monitors = r.monitors;
                    changed = true;
                }
                if changed && !node.queued {
                    node.queued = true;
                    self.work.push(*n);
                }
                *n
            }
            None => {
                let n = self.nodes.len() as u32;
                self.nodes.push(Node {
                    key,
                    tags,
                    monitors: r.monitors,
                    queued: true,
                });
                self.index.insert(key, n);
                self.work.push(n);
                n
            }
        };
        if let Some(from) = from
            && !r.matched
        {
            self.silent.push((from, n));
        }
        Ok(())
    }

    /// Whether an activation is still on its way to where it came from.
    fn coming(&self, r: &Run) -> bool {
        r.from > 0
            && r.e
                .locals
                .get(self.own_from..)
                .is_some_and(|own| own.contains(&Value::FRAME_IN))
    }

    /// The emitted side is where control flows together. `exact`: the original is where it has to be.
    fn arrive(&mut self, from: Option<u32>, mut r: Run, exact: bool) -> Result<(), Failure> {
        if r.thrown.is_some() {
            return Err(self.unknown(&r, "a way that exceptions leave by flows together"));
        }
        if self.coming(&r) {
            if r.matched || !r.e.stack.is_empty() {
                return Err(Failure::Resume {
                    at: self.at(&r),
                    why: "it has begun before it has come to its place".into(),
                });
            }
            let key = (r.at, r.q, r.from);
            let tags = self.tags(&r, std::iter::empty());
            return self.merge(from, &r, key, tags);
        }
        r.at = self.original.settle(r.at);
        if !exact {
            self.sync(&mut r)?;
        } else if r.o.stack != r.e.stack {
            return Err(Failure::Stack(self.at(&r)));
        }
        let tag = |v: &Value| if *v == Value::NULL { NULL } else { SAME };
        let tags = self.tags(&r, r.e.stack.iter().map(tag));
        let key = (r.at, r.q, 0);
        self.merge(from, &r, key, tags)
    }

    /// Leads the original to the earliest place whose stack is the emitted one.
    pub fn sync(&mut self, r: &mut Run) -> Result<(), Failure> {
        for _ in 0..=self.original.program.instructions.len() {
            r.at = self.original.settle(r.at);
            if r.o.stack == r.e.stack {
                return Ok(());
            }
            if !self.lead(r)? {
                break;
            }
        }
        Err(Failure::Stack(self.at(r)))
    }

    /// Runs one instruction of the original that nobody sees. `false`: the next one is seen.
    pub fn lead(&mut self, r: &mut Run) -> Step {
        let Some(i) = self.original.program.get(r.at.instruction) else {
            return Ok(false);
        };
        let next = match i {
            Instruction::Branch { op: GOTO, target } => self.original.branch(r.at, *target),
            _ => {
                let known = match i {
                    Instruction::Ldc { .. } => {
                        let m = self.left.meaning(self.canon, i);
                        constant(m.map_err(|e| self.unknown(r, &e))?, &mut self.values)
                    }
                    _ => None,
                };
                let done = r.o.silent(i, known, &mut self.values);
                if !done.map_err(|Broken| self.unknown(r, "the original's stack is broken"))? {
                    return Ok(false);
                }
                self.original.next(r.at)
            }
        };
        match next {
            Some(n) => {
                r.at = n;
                Ok(true)
            }
            None => Err(self.unknown(r, "the original runs off its end")),
        }
    }

    /// Leads the original to what is seen next.
    pub fn advance(&mut self, r: &mut Run) -> Result<&'x Instruction, Failure> {
        for _ in 0..=2 * self.original.program.instructions.len() {
            if !self.lead(r)? {
                let found = self.original.program.get(r.at.instruction);
                return found.ok_or_else(|| self.unknown(r, "the original has no such place"));
            }
        }
        Err(Failure::Operation(self.at(r)))
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

    /// A check, a decision of Veneer's whose outcome is known, or the method's own branch.
    fn branch(&mut self, from: Option<u32>, r: &mut Run, i: &Instruction) -> Step {
        let Instruction::Branch { op, target } = i else {
            return Err(self.unknown(r, "no branch"));
        };
        let taken = self.emitted.target(*target);
        let top = r.e.stack.last().copied();
        let known = match (op, top) {
            (&IFNULL, Some(Value::OWN_NULL)) | (&IFNONNULL, Some(Value::FRAME_IN)) => Some(true),
            (&IFNULL, Some(Value::FRAME_IN)) | (&IFNONNULL, Some(Value::OWN_NULL)) => Some(false),
            _ => None,
        };
        if let Some(known) = known {
            self.pop(r)?;
            r.q = if known { taken } else { r.q + 1 };
            return Ok(true);
        }
        if r.leave.is_some() || r.thrown.is_some() || self.coming(r) {
            return Err(self.unknown(r, "a branch on a way of Veneer's own"));
        }
        if let Some(check @ (Value::CHECK | Value::CHECK_ON)) = top {
            self.pop(r)?;
            let (stub, on) = match *op {
                IFNE => (taken, r.q + 1),
                IFEQ => (r.q + 1, taken),
                _ => return Err(self.unknown(r, "a check that is not asked for yes or no")),
            };
            if r.monitors > 0 {
                return Err(Failure::Monitor(self.at(r)));
            }
            let mut away = r.clone();
            away.q = stub;
            away.leave = Some(Box::new(Leave::at_check(
                check == Value::CHECK_ON,
                r.e.stack.clone(),
            )));
            self.go(from, away)?;
            r.q = on;
            return Ok(true);
        }
        let (theirs, to) = match self.advance(r)? {
            Instruction::Branch { op, target } if *op != GOTO => (*op, *target),
            _ => return Err(Failure::Branch(self.at(r))),
        };
        let same = theirs == *op;
        if !same && inverse(theirs) != *op {
            return Err(Failure::Branch(self.at(r)));
        }
        let words = if (IF_ICMPEQ..=IF_ACMPNE).contains(op) {
            2
        } else {
            1
        };
        self.operands(r, words)?;
        let (jump, fall) = (self.original.branch(r.at, to), self.original.next(r.at));
        let (Some(jump), Some(fall)) = (jump, fall) else {
            return Err(self.unknown(r, "an edge of the original that leads nowhere"));
        };
        r.matched = true;
        let (first, second) = if same { (jump, fall) } else { (fall, jump) };
        for (p, q) in [(first, taken), (second, r.q + 1)] {
            let mut next = r.clone();
            (next.at, next.q) = (p, q);
            self.arrive(from, next, true)?;
        }
        Ok(false)
    }

    /// Takes the same words off both stacks.
    fn operands(&mut self, r: &mut Run, words: usize) -> Result<(), Failure> {
        match (r.o.top(words), r.e.top(words)) {
            (Ok(a), Ok(b)) if a == b => {}
            _ => return Err(Failure::Operands(self.at(r))),
        }
        let both = r.o.drop(words).and_then(|()| r.e.drop(words));
        both.map_err(|Broken| self.unknown(r, "the operand stack is broken"))
    }

    fn switch(&mut self, from: Option<u32>, r: &mut Run, i: &Instruction) -> Step {
        if r.e.stack.last() == Some(&Value::POINT) {
            self.pop(r)?;
            let to = match i {
                Instruction::LookupSwitch { default, pairs } => pairs
                    .iter()
                    .find(|p| p.0 == r.from as i32)
                    .map_or(*default, |p| p.1),
                Instruction::TableSwitch {
                    default,
                    low,
                    targets,
                } => (r.from as i64 - *low as i64)
                    .try_into()
                    .ok()
                    .and_then(|k: usize| targets.get(k).copied())
                    .unwrap_or(*default),
                _ => return Err(self.unknown(r, "no switch")),
            };
            r.q = self.emitted.target(to);
            return Ok(true);
        }
        if r.leave.is_some() || r.thrown.is_some() || self.coming(r) {
            return Err(self.unknown(r, "a switch on a way of Veneer's own"));
        }
        let theirs = self.advance(r)?;
        let pairs: Vec<(Label, Label)> = match (theirs, i) {
            (
                Instruction::TableSwitch {
                    default: d,
                    low: l,
                    targets: t,
                },
                Instruction::TableSwitch {
                    default,
                    low,
                    targets,
                },
            ) if l == low && t.len() == targets.len() => {
                let cases = t.iter().copied().zip(targets.iter().copied());
                cases.chain([(*d, *default)]).collect()
            }
            (
                Instruction::LookupSwitch {
                    default: d,
                    pairs: t,
                },
                Instruction::LookupSwitch { default, pairs },
            ) if t.len() == pairs.len() && t.iter().zip(pairs).all(|(a, b)| a.0 == b.0) => {
                let cases = t.iter().zip(pairs).map(|(a, b)| (a.1, b.1));
                cases.chain([(*d, *default)]).collect()
            }
            _ => return Err(Failure::Switch(self.at(r))),
        };
        self.operands(r, 1)?;
        r.matched = true;
        let mut done: Vec<(Label, Label)> = Vec::new();
        for pair in pairs {
            if done.contains(&pair) {
                continue;
            }
            done.push(pair);
            let Some(at) = self.original.branch(r.at, pair.0) else {
                return Err(self.unknown(r, "an edge of the original that leads nowhere"));
            };
            let mut next = r.clone();
            (next.at, next.q) = (at, self.emitted.target(pair.1));
            self.arrive(from, next, true)?;
        }
        Ok(false)
    }

    /// A store or `iinc`: Veneer's where the local is, or where nothing has begun yet; else the original's next.
    fn store(&mut self, r: &mut Run, i: &Instruction) -> Step {
        let (slot, words) = match i {
            Instruction::Local { op, index } => (*index, wide(*op)),
            Instruction::Iinc { index, .. } => (*index, 1),
            _ => return Err(self.unknown(r, "no store")),
        };
        let v = r.e.written(i, &mut self.values);
        let v = v.map_err(|Broken| self.unknown(r, "the operand stack is broken"))?;
        r.q += 1;
        r.last = None;
        r.own_last = None;
        let broken = |this: &Self, r: &Run| this.unknown(r, "a local that is not there");
        if slot as usize >= self.own_from {
            // On the way out such a local holds values of the method for a moment.
            let v = if v == Value::NULL && r.leave.is_none() {
                Value::OWN_NULL
            } else {
                v
            };
            let stored = r.e.set(slot, v, words);
            stored.map_err(|Broken| broken(self, r))?;
            return Ok(true);
        }
        if r.leave.is_some() || r.thrown.is_some() {
            return Err(Failure::Store {
                at: self.at(r),
                slot,
            });
        }
        if self.coming(r) {
            let stored = r.e.set(slot, v, words);
            stored.map_err(|Broken| broken(self, r))?;
            return Ok(true);
        }
        // The value that the original has there already: how `enter` puts parameters into place. It may as well be a
        // store of the original's; that is tried first.
        let restores = r.o.locals.get(slot as usize) == Some(&v);
        let before = restores.then(|| (r.o.clone(), r.at));
        let theirs = self.advance(r);
        let matches = match theirs {
            Ok(theirs @ (Instruction::Local { .. } | Instruction::Iinc { .. })) => {
                let mut o = r.o.clone();
                let (there, n) = match theirs {
                    Instruction::Local { op, index } => (*index, wide(*op)),
                    Instruction::Iinc { index, .. } => (*index, 1),
                    _ => (u16::MAX, 0),
                };
                match o.written(theirs, &mut self.values) {
                    Ok(w) if w == v && there == slot && n == words => Some((o, w)),
                    _ => None,
                }
            }
            _ => None,
        };
        match (matches, before) {
            (Some((o, w)), _) => {
                r.o = o;
                let both =
                    r.o.set(slot, w, words)
                        .and_then(|()| r.e.set(slot, w, words));
                both.map_err(|Broken| broken(self, r))?;
                r.matched = true;
                let next = self.original.next(r.at);
                r.at = next.ok_or_else(|| self.unknown(r, "the original runs off its end"))?;
            }
            (None, Some((o, at))) => {
                (r.o, r.at) = (o, at);
                let stored = r.e.set(slot, v, words);
                stored.map_err(|Broken| broken(self, r))?;
            }
            (None, None) => {
                r.q -= 1;
                return Err(Failure::Store {
                    at: self.at(r),
                    slot,
                });
            }
        }
        Ok(true)
    }

    /// Something that the world sees.
    fn event(&mut self, from: Option<u32>, r: &mut Run, i: &Instruction, event: Event) -> Step {
        if r.leave.is_some() {
            return self.leave_event(r, i, event);
        }
        let own_cast = r.fetched.take();
        if self.coming(r) {
            // A cast of what came out of the frame to the type that it had when it went in.
            let top = r.e.stack.last().copied();
            if let (CHECKCAST, Some((v, class)), Some(top)) = (i.op(), own_cast, top)
                && v == top
                && let Ok(class) = std::str::from_utf8(&class)
            {
                let key = self.canon.class_named(class) << 2 | 2 | 1 << 30;
                // `null` passes every cast.
                if key == event.key || v == Value::NULL {
                    r.q += 1;
                    return Ok(true);
                }
            }
            return Err(Failure::Resume {
                at: self.at(r),
                why: "something happens before the activation has come to its place".into(),
            });
        }
        if i.op() == ATHROW
            && let Some(thrown) = r.thrown
        {
            return if self.pop(r)? == thrown {
                Ok(false)
            } else {
                Err(Failure::Operands(self.at(r)))
            };
        }
        if r.thrown.is_some() {
            return Err(Failure::Operation(self.at(r)));
        }
        let theirs = self.advance(r)?;
        if self.mode == Mode::Resume
            && event.boxes != 0
            && i.op() == INVOKESTATIC
            && is_return(theirs.op())
            && event.boxes == self.original.result
        {
            self.own_covered(from, r)?;
            let words = event.pops as usize;
            match (r.o.top(words), r.e.top(words)) {
                (Ok(a), Ok(b)) if a == b => {}
                _ => return Err(Failure::Operands(self.at(r))),
            }
            r.boxed = r.e.top(words).ok().and_then(|w| w.first().copied());
            let dropped = r.e.drop(words);
            dropped.map_err(|Broken| self.unknown(r, "the operand stack is broken"))?;
            r.e.push(Value::BOXED, 1);
            r.q += 1;
            return Ok(true);
        }
        let seen = !matches!(
            theirs,
            Instruction::Branch { .. }
                | Instruction::TableSwitch { .. }
                | Instruction::LookupSwitch { .. }
                | Instruction::Local { .. }
                | Instruction::Iinc { .. }
        ) && !is_return(theirs.op());
        let other = if seen {
            let m = self.left.meaning(self.canon, theirs);
            match m.map_err(|e| self.unknown(r, &e))? {
                Meaning::Event(e) => Some(e),
                _ => None,
            }
        } else {
            None
        };
        let Some(other) = other.filter(|o| {
            o.key == event.key
                && o.pops == event.pops
                && o.pushes == event.pushes
                && (o.tag == event.tag || event.tag == 0)
        }) else {
            return Err(Failure::Operation(self.at(r)));
        };
        let words = other.pops as usize;
        match (r.o.top(words), r.e.top(words)) {
            (Ok(a), Ok(b)) if a == b => {}
            _ => return Err(Failure::Operands(self.at(r))),
        }
        self.throws(from, r)?;
        self.operands(r, words)?;
        r.matched = true;
        match i.op() {
            ATHROW => return Ok(false),
            MONITORENTER => {
                r.monitors += 1;
                r.last = None;
                if r.monitors > 64 {
                    return Err(self.unknown(r, "a monitor is entered without end"));
                }
            }
            MONITOREXIT => {
                r.monitors = r.monitors.saturating_sub(1);
                r.last = None;
            }
            _ => {}
        }
        if other.pushes > 0 {
            let v = self.values.fresh();
            r.o.push(v, other.pushes);
            r.e.push(v, other.pushes);
        }
        let next = self.original.next(r.at);
        r.at = next.ok_or_else(|| self.unknown(r, "the original runs off its end"))?;
        r.q += 1;
        Ok(true)
    }

    /// An exception at both places goes to handlers that correspond, in the same order.
    fn throws(&mut self, from: Option<u32>, r: &Run) -> Result<(), Failure> {
        let (original, emitted) = (self.original, self.emitted);
        let (a, theirs) = original.program.rows_at(r.at.instruction);
        let (b, ours) = emitted.rows_at(r.q);
        if theirs.is_empty() && ours.is_empty() || r.last == Some((a, b)) {
            return Ok(());
        }
        let (many, few) = (theirs.len(), ours.len());
        let differ = |this: &Self| Failure::Handlers {
            at: this.at(r),
            original: many,
            emitted: few,
        };
        if ours.len() < theirs.len() {
            return Err(differ(self));
        }
        let mut thrown = r.clone();
        thrown.matched = true;
        for (n, (caught, handler)) in ours.iter().enumerate() {
            thrown.q = *handler;
            match theirs.get(n) {
                Some((class, _)) if class != caught => return Err(differ(self)),
                Some((_, handler)) => {
                    thrown.at = original.handler(*handler);
                    let tags = self.tags(&thrown, [SAME].into_iter());
                    let key = (original.settle(thrown.at), thrown.q, 0);
                    // Its first instruction counts with the exception on the stack, so `settle` may pass a `goto`.
                    self.merge(from, &thrown, key, tags)?;
                }
                // The original lets it go: what catches it must let it go too.
                None => self.lets_go(from, &thrown)?,
            }
        }
        Ok(())
    }

    /// An exception that leaves the method passes a handler of Veneer's.
    fn lets_go(&mut self, from: Option<u32>, r: &Run) -> Result<(), Failure> {
        let mut out = r.clone();
        out.at = Position::OUT;
        out.matched = true;
        let tags = self.tags(&out, [SAME].into_iter());
        let key = (Position::OUT, out.q, 0);
        self.merge(from, &out, key, tags)
    }

    /// No handler of the application may see what an instruction of Veneer's throws.
    pub fn own_covered(&mut self, from: Option<u32>, r: &mut Run) -> Result<(), Failure> {
        let emitted = self.emitted;
        let (stretch, rows) = emitted.rows_at(r.q);
        if rows.is_empty() || r.own_last == Some(stretch) {
            return Ok(());
        }
        r.own_last = Some(stretch);
        let mut thrown = r.clone();
        for (_, handler) in rows {
            thrown.q = *handler;
            self.lets_go(from, &thrown)?;
        }
        Ok(())
    }

    /// The method returns.
    fn result(&mut self, from: Option<u32>, r: &mut Run, op: u8) -> Result<(), Failure> {
        if r.leave.is_some() {
            return self.leave_result(from, r, op);
        }
        if r.thrown.is_some() || self.coming(r) {
            return Err(Failure::Result(self.at(r)));
        }
        let theirs = self.advance(r)?.op();
        if !is_return(theirs) {
            return Err(Failure::Result(self.at(r)));
        }
        self.throws(from, r)?;
        let words = match theirs {
            RETURN => 0,
            LRETURN | DRETURN => 2,
            _ => 1,
        };
        let wrong = || Failure::Result(self.at(r));
        let mine = r.o.top(words).map_err(|Broken| wrong())?;
        if self.mode == Mode::Resume {
            let top = r.e.top(1).map_err(|Broken| wrong())?[0];
            let right = op == ARETURN
                && match theirs {
                    RETURN => top == Value::NULL,
                    ARETURN => top == mine[0],
                    _ => top == Value::BOXED && r.boxed == mine.first().copied(),
                };
            return if right { Ok(()) } else { Err(wrong()) };
        }
        let ours = r.e.top(words).map_err(|Broken| wrong())?;
        if op == theirs && mine == ours {
            Ok(())
        } else {
            Err(wrong())
        }
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

    /// No circle of steps in which nothing is matched, unless the original goes round for ever too.
    fn progress(&mut self) -> Result<(), Failure> {
        if self.silent.is_empty() {
            return Ok(());
        }
        self.silent.sort_unstable();
        self.silent.dedup();
        let mut waits = vec![0u32; self.nodes.len()];
        self.silent
            .iter()
            .for_each(|(_, to)| waits[*to as usize] += 1);
        let mut free: Vec<u32> = (0..self.nodes.len() as u32)
            .filter(|n| waits[*n as usize] == 0)
            .collect();
        while let Some(n) = free.pop() {
            let from = self.silent.partition_point(|e| e.0 < n);
            for (a, to) in &self.silent[from..] {
                if *a != n {
                    break;
                }
                waits[*to as usize] -= 1;
                if waits[*to as usize] == 0 {
                    free.push(*to);
                }
            }
        }
        for (n, left) in waits.iter().enumerate() {
            let (at, q, from) = self.nodes[n].key;
            let rests = from == 0 && at != Position::OUT && self.rests(at);
            if *left > 0 && !rests {
                let mut r = self.blank(at);
                r.q = q;
                return Err(Failure::NoProgress(self.at(&r)));
            }
        }
        Ok(())
    }

    /// Whether the original goes round for ever from here, unseen.
    fn rests(&self, at: Position) -> bool {
        let settled = self.original.settle(at);
        matches!(
            self.original.program.get(settled.instruction),
            Some(Instruction::Branch { op: GOTO, .. } | Instruction::Plain(NOP))
        )
    }
}

/// The condition that holds when `op` does not.
fn inverse(op: u8) -> u8 {
    match op {
        IFNULL => IFNONNULL,
        IFNONNULL => IFNULL,
        _ => (op.wrapping_sub(IFEQ) ^ 1).wrapping_add(IFEQ),
    }
}
