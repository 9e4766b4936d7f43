//! Names and types of the variables in a region's liveness sets.

use super::method_listing::VariableListing;
use crate::bytecode::Instruction;
use crate::bytecode::opcode::ISTORE;
use crate::flowgraph::{EdgeKind, FragmentId, FragmentNode};
use crate::method::Method;
use crate::regions::Region;
use crate::types::{self, State, Type};
use petgraph::visit::EdgeRef;
use veneer_liveness::BitSet;
use veneer_names::LocalSlot;

fn local(method: &Method, slot: u16, t: &Type, pc: u16) -> VariableListing {
    // The verifier merges all small types into `int`; the variable table has the declared type.
    let small = method
        .variable(LocalSlot(slot), pc)
        .filter(|_| *t == Type::Int)
        .and_then(|v| match v.descriptor.as_str() {
            "Z" => Some("boolean"),
            "B" => Some("byte"),
            "C" => Some("char"),
            "S" => Some("short"),
            _ => None,
        });
    VariableListing {
        name: method.variable_name(LocalSlot(slot), pc),
        kind: small.map_or_else(|| t.to_string(), str::to_owned),
        slot: Some(slot),
    }
}

fn stack(index: usize, t: &Type) -> VariableListing {
    VariableListing {
        name: format!("s{index}"),
        kind: t.to_string(),
        slot: None,
    }
}

/// Returns the members of `set` that hold a value at a block's start: locals by slot, then
/// operands.
fn at(method: &Method, block: FragmentId, set: &BitSet) -> Vec<VariableListing> {
    let (Some(state), Some(fragment)) = (method.states.get(block.index()), method.flow.get(block))
    else {
        return Vec::new();
    };
    let locals = crate::method::typed_lives(state, set)
        .into_iter()
        .map(|(slot, t)| local(method, slot, &t, fragment.start));
    let first = method.code.max_locals as usize;
    let mut word = first;
    let values = state.stack.iter().enumerate().filter(|(_, t)| {
        word += t.width() as usize;
        set.get(word - t.width() as usize).is_some_and(|b| *b)
    });
    locals.chain(values.map(|(i, t)| stack(i, t))).collect()
}

/// Returns the members of `set` at the region's head.
pub(super) fn at_head(method: &Method, region: &Region, set: &BitSet) -> Vec<VariableListing> {
    at(method, region.head, set)
}

/// Returns the heads of the regions to which control continues without an exception.
fn targets(method: &Method, region: &Region) -> Vec<FragmentId> {
    let mut out = Vec::new();
    for block in &region.blocks {
        for edge in method.flow.graph.edges(block.node()) {
            let to = FragmentId(edge.target().index() as u32);
            let leaves = to == region.head || !region.blocks.contains(&to);
            if leaves && !matches!(edge.weight(), EdgeKind::Handler(_)) && !out.contains(&to) {
                out.push(to);
            }
        }
    }
    out.sort_unstable();
    out
}

/// Returns the variables that are live at the normal exits, with the types at the targets.
pub(super) fn live_out(method: &Method, region: &Region) -> Vec<VariableListing> {
    let mut out: Vec<VariableListing> = Vec::new();
    for target in targets(method, region) {
        for variable in at(method, target, &method.liveness.live_in[target.index()]) {
            let same = |v: &VariableListing| {
                v.slot == variable.slot && (v.slot.is_some() || v.name == variable.name)
            };
            if !out.iter().any(same) {
                out.push(variable);
            }
        }
    }
    out.sort_by_key(|v| (v.slot.is_none(), v.slot));
    out
}

/// Returns the written variables: locals by slot with the type of the last write, then the values
/// that remain on the operand stack.
pub(super) fn defined(method: &Method, region: &Region) -> Vec<VariableListing> {
    let mut locals: Vec<VariableListing> = Vec::new();
    let mut values: Vec<VariableListing> = Vec::new();
    let leaves: Vec<FragmentId> = targets(method, region);
    for block in &region.blocks {
        let (Some(fragment), Some(state)) =
            (method.flow.get(*block), method.states.get(block.index()))
        else {
            continue;
        };
        let mut state = state.clone();
        // Number of operands that are unchanged since the start of the block.
        let mut floor = state.stack.len();
        for i in fragment.instructions.clone() {
            let Some((pc, instruction)) = method.instructions.get(i) else {
                continue;
            };
            while floor > 0 && pops_below(&state, floor, method, *pc, instruction) {
                floor -= 1;
            }
            if types::step(
                &mut state,
                *pc,
                instruction,
                &method.file.pool,
                &method.class,
            )
            .is_err()
            {
                break;
            }
            let slot = match instruction {
                Instruction::Local { op, index } if *op >= ISTORE => Some(*index),
                Instruction::Iinc { index, .. } => Some(*index),
                _ => None,
            };
            if let (Some(slot), Some(t)) = (slot, slot.and_then(|s| state.locals.get(s as usize))) {
                // A variable's scope begins after the store to it.
                let next = method.instructions.get(i + 1).map_or(*pc, |n| n.0);
                locals.retain(|v| v.slot != Some(slot));
                locals.push(local(method, slot, t, next));
            }
        }
        let out = method
            .flow
            .successors(*block)
            .iter()
            .any(|s| leaves.contains(s));
        for (i, t) in state.stack.iter().enumerate().skip(floor).filter(|_| out) {
            if !values.iter().any(|v| v.name == format!("s{i}")) {
                values.push(stack(i, t));
            }
        }
    }
    locals.sort_by_key(|v| v.slot);
    locals.extend(values);
    locals
}

/// True if the instruction pops a value below `floor`.
fn pops_below(
    state: &State,
    floor: usize,
    method: &Method,
    pc: u16,
    instruction: &Instruction,
) -> bool {
    let above = state.stack.get(floor..).unwrap_or_default().to_vec();
    let mut shallow = State {
        locals: state.locals.clone(),
        stack: above,
    };
    types::step(
        &mut shallow,
        pc,
        instruction,
        &method.file.pool,
        &method.class,
    )
    .is_err()
}
