//! How many monitors this activation holds at every point (JVMS §2.11.10, structured locking).
//!
//! Lattice: the number held, joined by maximum, so that a capture point, which asks for *certainly none*, is never placed
//! wrongly. Transfer: `monitorenter` adds one, `monitorexit` takes one away. A handler starts with the most that was held
//! anywhere in what it protects. A method whose numbers do not settle is unstructured. The monitor of a `synchronized`
//! method belongs to the JVM's frame of the method and is not counted.

use crate::bytecode::Instruction;
use crate::bytecode::opcode::{MONITORENTER, MONITOREXIT};
use crate::classfile::ExceptionRange;
use crate::flowgraph::{EdgeKind, FlowGraph};
use crate::refusal::Refusal;
use petgraph::visit::EdgeRef;

/// More than anybody nests; reaching it means that the numbers grow without end.
const LIMIT: u8 = 64;

/// Monitors held *before* each instruction. Empty where the method enters none.
pub fn held(
    instructions: &[(u16, Instruction)],
    flow: &FlowGraph,
    exceptions: &[ExceptionRange],
) -> Result<Vec<u8>, Refusal> {
    if !instructions.iter().any(|(_, i)| i.op() == MONITORENTER) {
        return Ok(Vec::new());
    }
    let mut held = vec![0u8; instructions.len()];
    let mut at_start: Vec<Option<u8>> = vec![None; flow.len()];
    let mut work = vec![petgraph::graph::NodeIndex::new(0)];
    at_start[0] = Some(0);
    while let Some(node) = work.pop() {
        let fragment = &flow.graph[node];
        let mut depth = at_start[node.index()].unwrap_or(0);
        for i in fragment.instructions.clone() {
            held[i] = depth;
            match instructions[i].1.op() {
                MONITORENTER => depth += 1,
                MONITOREXIT => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > LIMIT {
                return Err(Refusal::UnstructuredMonitors);
            }
        }
        for edge in flow.graph.edges(node) {
            let out = match edge.weight() {
                EdgeKind::Handler(r) => {
                    let inside = fragment
                        .instructions
                        .clone()
                        .filter(|i| reaches(exceptions, *r as usize, instructions[*i].0));
                    // A handler that others shadow everywhere in the fragment is not entered from here.
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

/// Whether an exception at `pc` can reach row `row` of the table: it protects the pc, and no row before it catches everything
/// there.
fn reaches(exceptions: &[ExceptionRange], row: usize, pc: u16) -> bool {
    let covers = |e: &ExceptionRange| (e.start..e.end).contains(&pc);
    covers(&exceptions[row])
        && !exceptions[..row]
            .iter()
            .any(|e| e.catch_type == 0 && covers(e))
}
