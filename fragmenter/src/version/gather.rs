//! Counting in local variables where a loop calls nothing: a counter in memory would bound how fast such a loop can be.
//!
//! ```text
//!      ┌──────▶ header ──▶ … c += 1 … ──┬── turns += 1; turns < TURNS ──▶ header      the hot way round
//!      │                      │         └──▶ add c to its counter, c = turns = 0 ──┐  the cold one
//!      └──────────────────────┼────────────────────────────────────────────────────┘
//!                             └── out: add c to its counter, c = turns = 0
//! ```
//!
//! C2 makes two loops of the two ways round, an inner one that it can unroll and vectorise and an outer one. Only innermost loops
//! are done so: there each edge is passed at most once a turn, so no local overflows. Whoever leaves the loop, by an edge, an
//! exception or at a capture point, adds what there is.

use super::Plan;
use super::body::Body;
use crate::advice::{Action, Site};
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use crate::flowgraph::{EdgeKind, FragmentId};
use crate::patch::Patched;
use crate::refusal::Refusal;
use indexmap::IndexMap;
use veneer_liveness::{Loop, Set};

/// Turns after which counters in memory get what was counted meanwhile.
const TURNS: i16 = 1 << 14;

/// A loop whose counters are locals.
#[derive(Clone)]
pub(super) struct Gathered {
    header: FragmentId,
    body: Set,
    /// The local that counts turns.
    pub turns: u16,
    /// Locals by their counters.
    pub counters: IndexMap<u32, u16>,
}

/// What an edge does to a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Round it, by its number.
    Round(usize),
    /// Out of it.
    Out(usize),
}

impl Gathered {
    fn has(&self, f: FragmentId) -> bool {
        self.body.get(f.index()).is_some_and(|b| *b)
    }
}

/// The loops in which counters may be locals; `take` gives locals.
pub(super) fn loops(
    plan: &Plan,
    patched: &Patched,
    take: &mut dyn FnMut(u16) -> u16,
) -> Vec<Gathered> {
    let forest = &patched.loops;
    let gathers = |a: &Action| matches!(a, Action::Gather { .. });
    // Edits move code about; then nothing is counted by flow either.
    if !plan.edits.is_empty()
        || !forest.irreducible.is_empty()
        || !plan.probes.iter().any(|p| gathers(&p.action))
    {
        return Vec::new();
    }
    let mut out = Vec::new();
    for one in forest.loops.iter().filter(|l| is_innermost(l, patched)) {
        if !is_plain(one, plan) {
            continue;
        }
        let mut found = Gathered {
            header: FragmentId(one.header.index() as u32),
            body: one.body.clone(),
            turns: 0,
            counters: IndexMap::new(),
        };
        for probe in plan.probes {
            let Action::Gather { slot } = probe.action else {
                continue;
            };
            let inside = match probe.site {
                Site::Before(f) => found.has(f),
                Site::After(f) => {
                    let next = plan.method.flow.successors(f);
                    found.has(f) && !next.is_empty() && next.iter().all(|n| found.has(*n))
                }
                Site::Edge(a, b) => found.has(a) && found.has(b),
                _ => false,
            };
            if inside {
                found.counters.entry(slot).or_insert_with(|| take(1));
            }
        }
        if !found.counters.is_empty() {
            found.turns = take(1);
            out.push(found);
        }
    }
    out
}

fn is_innermost(l: &Loop, patched: &Patched) -> bool {
    let all = &patched.loops.loops;
    all.iter()
        .all(|inner| inner.depth <= l.depth || !l.body[inner.header.index()])
}

/// Whether it calls nothing and holds no monitors, and no exception leads back to its header.
fn is_plain(l: &Loop, plan: &Plan) -> bool {
    let method = plan.method;
    l.body.iter_ones().all(|n| {
        let Some(f) = method.flow.get(FragmentId(n as u32)) else {
            return false;
        };
        let quiet = |i: usize| {
            let op = method.instructions[i].1.op();
            !is_invoke(op) && !matches!(op, MONITORENTER | MONITOREXIT)
        };
        let back = |e: petgraph::graph::EdgeReference<EdgeKind>| {
            let to = petgraph::visit::EdgeRef::target(&e);
            matches!(e.weight(), EdgeKind::Handler(_)) && to == l.header
        };
        f.instructions.clone().all(quiet) && !method.flow.graph.edges(f.id.node()).any(back)
    })
}

impl Body<'_, '_> {
    /// What an edge does to a loop whose counters are locals.
    pub(super) fn way(&self, from: FragmentId, to: FragmentId) -> Option<Way> {
        let n = self.slots.gathered.iter().position(|l| l.has(from))?;
        let one = &self.slots.gathered[n];
        match (to == one.header, one.has(to)) {
            (true, _) => Some(Way::Round(n)),
            (false, true) => None,
            (false, false) => Some(Way::Out(n)),
        }
    }

    /// What is to be done on such an edge, before control goes on to its end.
    pub(super) fn on_way(&mut self, way: Way) -> Result<(), Refusal> {
        match way {
            Way::Out(n) => self.add(n),
            Way::Round(n) => {
                let (turns, header) = {
                    let one = &self.slots.gathered[n];
                    (one.turns, one.header)
                };
                self.a.push(Instruction::Iinc {
                    index: turns,
                    delta: 1,
                });
                self.a.local(ILOAD, turns);
                self.a.push(Instruction::Push(TURNS));
                self.a.branch(IF_ICMPLT, self.nodes[header.index()]);
                self.add(n)
            }
        }
    }

    /// Adds what the locals of a loop have, and begins anew.
    fn add(&mut self, n: usize) -> Result<(), Refusal> {
        let one = self.slots.gathered[n].clone();
        for (slot, local) in &one.counters {
            self.a.local(LLOAD, self.slots.shard()?);
            self.e.push_int(&mut self.a, (slot * 8) as i32)?;
            self.a.local(ILOAD, *local);
            self.a.plain(I2L);
            self.e.call(&mut self.a, "add", "(JIJ)V")?;
        }
        for local in one.counters.values().chain([&one.turns]) {
            self.a.push(Instruction::Push(0));
            self.a.local(ISTORE, *local);
        }
        Ok(())
    }

    /// Adds what the loops around a fragment have.
    pub(super) fn add_around(&mut self, f: FragmentId) -> Result<(), Refusal> {
        for n in 0..self.slots.gathered.len() {
            if self.slots.gathered[n].has(f) {
                self.add(n)?;
            }
        }
        Ok(())
    }

    /// Adds what all loops have: an exception may come from any.
    pub(super) fn add_all(&mut self) -> Result<(), Refusal> {
        (0..self.slots.gathered.len()).try_for_each(|n| self.add(n))
    }

    /// Whether counters of a fragment are locals meanwhile.
    pub(super) fn gathers(&self, f: FragmentId) -> bool {
        self.slots.gathered.iter().any(|l| l.has(f))
    }
}
