//! Use and def: the variables that each fragment reads and writes, as input of the liveness
//! analysis.
//!
//! A variable is a local slot or a word of the operand stack. Stack words are numbered after the
//! locals. A value that is on the stack when a fragment starts is always live, because some
//! instruction will pop it. All stack words that are filled at the start therefore count as used,
//! and the analysis needs no further information about them.

use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use crate::flowgraph::{EdgeKind, FlowGraph};
use crate::types::State;
use veneer_liveness::{BitSet, EdgeTransfer, UseDef};

/// Use and def of one fragment's instructions, with `depth` words on the operand stack at its
/// start. `width` is the number of variables: locals plus stack words.
pub fn effect(
    instructions: &[(u16, Instruction)],
    depth: usize,
    max_locals: u16,
    width: usize,
) -> UseDef {
    let empty = || BitSet::repeat(false, width);
    let mut e = UseDef {
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

/// Use and def of all fragments.
pub fn effects(
    instructions: &[(u16, Instruction)],
    flow: &FlowGraph,
    states: &[State],
    max_locals: u16,
    width: usize,
) -> Vec<UseDef> {
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

/// The kind of edge that the liveness analysis sees: exceptional for handlers, otherwise normal.
pub fn edge_flow(kind: EdgeKind) -> EdgeTransfer {
    if matches!(kind, EdgeKind::Handler(_)) {
        EdgeTransfer::Exceptional
    } else {
        EdgeTransfer::Normal
    }
}
