//! Computes how many monitors an activation holds before each instruction (JVMS §2.11.10,
//! structured locking).
//!
//! - Lattice: the number of monitors, joined by maximum. A capture point requires that *certainly
//!   none* is held, so the maximum never admits a point wrongly.
//! - Transfer function: `monitorenter` adds one and `monitorexit` subtracts one. A handler starts
//!   with the largest number that is held anywhere in its protected range.
//! - Roots: the entry, and then the first fragment that no path from the earlier roots reaches, until
//!   there is none. Unreachable code has capture points too, because an edit can redirect an edge to
//!   it. At such a root, no monitor is held.
//! - Termination: if a number exceeds `MAX_MONITORS`, the analysis has no fixed point, and the
//!   method is refused as unstructured.
//!
//! The monitor of a `synchronized` method belongs to the JVM's frame of the method and is not
//! counted.

use crate::bytecode::Instruction;
use crate::bytecode::opcode::{MONITORENTER, MONITOREXIT};
use crate::classfile::ExceptionRange;
use crate::flowgraph::{EdgeKind, FlowGraph};
use crate::refusal::Refusal;
use petgraph::visit::EdgeRef;

/// More monitors than real code nests. A larger number means that the count grows without bound
/// along a cycle.
const MAX_MONITORS: u8 = 64;

/// Number of monitors held *before* each instruction. Empty if the method enters no monitor.
pub fn held_monitors(
    instructions: &[(u16, Instruction)],
    flow: &FlowGraph,
    exceptions: &[ExceptionRange],
) -> Result<Vec<u8>, Refusal> {
    if !instructions.iter().any(|(_, i)| i.op() == MONITORENTER) {
        return Ok(Vec::new());
    }
    let mut held = vec![0u8; instructions.len()];
    let mut at_start: Vec<Option<u8>> = vec![None; flow.len()];
    let mut work = Vec::new();
    let mut roots = flow.graph.node_indices();
    loop {
        let node = work.pop().or_else(|| {
            let root = roots.find(|n| at_start[n.index()].is_none())?;
            at_start[root.index()] = Some(0);
            Some(root)
        });
        let Some(node) = node else { break };
        let fragment = &flow.graph[node];
        let mut depth = at_start[node.index()].unwrap_or(0);
        for i in fragment.instructions.clone() {
            held[i] = depth;
            match instructions[i].1.op() {
                MONITORENTER => depth += 1,
                MONITOREXIT => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > MAX_MONITORS {
                return Err(Refusal::UnstructuredMonitors);
            }
        }
        for edge in flow.graph.edges(node) {
            let out = match edge.weight() {
                EdgeKind::Handler(r) => {
                    let inside = fragment
                        .instructions
                        .clone()
                        .filter(|i| can_reach_entry(exceptions, *r as usize, instructions[*i].0));
                    // If other entries catch every exception of the fragment first, the handler
                    // cannot be reached from here.
                    match inside.map(|i| held[i]).max() {
                        Some(most) => most,
                        None => continue,
                    }
                }
                _ => depth,
            };
            let slot = &mut at_start[edge.target().index()];
            if slot.is_none_or(|old| out > old) {
                *slot = Some(out);
                work.push(edge.target());
            }
        }
    }
    Ok(held)
}

/// Whether an exception at `pc` can reach entry `row` of the exception table: the entry protects
/// `pc`, and no earlier entry catches everything there.
fn can_reach_entry(exceptions: &[ExceptionRange], row: usize, pc: u16) -> bool {
    let covers = |e: &ExceptionRange| (e.start..e.end).contains(&pc);
    covers(&exceptions[row])
        && !exceptions[..row]
            .iter()
            .any(|e| e.catch_type == 0 && covers(e))
}
