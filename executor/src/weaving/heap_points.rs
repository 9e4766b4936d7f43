//! The points of a recording of heap allocations: each instruction that allocates, with a counter before it.
//!
//! No code at these points sees the new object, so that it escapes from no method that it did not escape
//! from before. [`planner`](crate::weaving::planner) calls [`plan`].

use crate::weaving::instruction_sites::instruction_site;
use crate::weaving::planned_probe::{PlannedAction, PlannedProbe};
use veneer_fragmenter::advice::Site;
use veneer_fragmenter::flowgraph::FragmentId;
use veneer_fragmenter::method::Method;
use veneer_instruments::InstructionKind;

/// The points in the reachable fragments of a method. Their texts end with the bytecode index:
/// `new shop.Order @12`.
pub fn plan(method: &Method, reachable: &[FragmentId]) -> Vec<PlannedProbe> {
    let fragments = reachable.iter().filter_map(|f| method.flow.get(*f));
    let indices = fragments.flat_map(|f| f.instructions.clone().map(|index| (f.id, index)));
    let point = |(fragment, index): (FragmentId, usize)| {
        let (pc, _) = method.instructions.get(index)?;
        let found = instruction_site(&InstructionKind::Allocations, method, index)?;
        Some(PlannedProbe {
            fragment: Some(fragment),
            to: None,
            line: method.line(*pc),
            sites: vec![(Site::At(*pc), PlannedAction::Count)],
            values: Vec::new(),
            what: Some(format!("{} @{pc}", found.text)),
            code: None,
        })
    };
    indices.filter_map(point).collect()
}
