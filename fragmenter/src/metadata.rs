//! Dependence metadata: what each fragment reads, writes, needs and hands on.
//!
//! A variable is a local slot, or an operand stack slot (numbered after the locals, in words). A value that lies on the
//! stack when a fragment starts is always needed: some instruction will pop it. So stack slots that are filled at the
//! start count as used, and no more has to be said of them.

use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use crate::flowgraph::{EdgeKind, FlowGraph};
use crate::types::State;
use veneer_liveness::{Effect, Flow, Set};

/// Use and def of one fragment's instructions, with `depth` words on the operand stack at its start.
pub fn effect(
    instructions: &[(u16, Instruction)],
    depth: usize,
    max_locals: u16,
    width: usize,
) -> Effect {
    let empty = || Set::repeat(false, width);
    let mut e = Effect {
        uses: empty(),
        defs: empty(),
        writes: empty(),
    };
    for slot in 0..depth {
        if max_locals as usize + slot < width {
            e.uses.set(max_locals as usize + slot, true);
        }
    }
    let locals = max_locals as usize;
    for (_, instruction) in instructions {
        match instruction {
            Instruction::Local { op, index } => {
                let wide = matches!(*op, LLOAD | DLOAD | LSTORE | DSTORE) as usize;
                for slot in *index as usize..=*index as usize + wide {
                    if slot >= locals {
                        continue;
                    }
                    if *op < ISTORE || *op == RET {
                        if !e.defs[slot] {
                            e.uses.set(slot, true);
                        }
                    } else {
                        e.defs.set(slot, true);
                        e.writes.set(slot, true);
                    }
                }
            }
            Instruction::Iinc { index, .. } if (*index as usize) < locals => {
                let slot = *index as usize;
                if !e.defs[slot] {
                    e.uses.set(slot, true);
                }
                e.defs.set(slot, true);
                e.writes.set(slot, true);
            }
            _ => {}
        }
    }
    e
}

/// The effects of all fragments.
pub fn effects(
    instructions: &[(u16, Instruction)],
    flow: &FlowGraph,
    states: &[State],
    max_locals: u16,
    width: usize,
) -> Vec<Effect> {
    flow.fragments()
        .map(|f| {
            effect(
                &instructions[f.instructions.clone()],
                states[f.id.index()].depth() as usize,
                max_locals,
                width,
            )
        })
        .collect()
}

/// How the liveness analysis sees an edge.
pub fn flow_of(kind: EdgeKind) -> Flow {
    if matches!(kind, EdgeKind::Handler(_)) {
        Flow::Exceptional
    } else {
        Flow::Normal
    }
}
