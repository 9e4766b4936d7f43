//! Builds the stack-map frames of a method from its states.

use super::constraints::{self, Constraints};
use super::flow::InferenceBody;
use super::{class_hierarchy::ClassHierarchy, solve};
use crate::classfile::{ConstantPool, StackMapFrame, encode_stack_map};
use crate::flowgraph::{EdgeKind, FragmentId, FragmentNode};
use crate::frames;
use crate::refusal::Refusal;
use crate::types::{State, Type};
use petgraph::Direction;
use veneer_names::java_form;

/// Replaces each type variable in the states by its selected class. An unreachable fragment starts
/// with a throwable on the stack, for its `athrow`.
pub(super) fn resolve_types(
    collected: Constraints,
    hierarchy: &ClassHierarchy,
    method: &str,
) -> Result<Vec<State>, Refusal> {
    let mut chosen: Vec<Option<Type>> = vec![None; collected.nodes.len()];
    let mut states = collected.states;
    for state in states.iter_mut().flatten() {
        for t in state.locals.iter_mut().chain(&mut state.stack) {
            let Some(id) = constraints::variable_of(t) else {
                continue;
            };
            let Some(node) = collected.nodes.get(id) else {
                return Err(Refusal::Internal("a node was lost".into()));
            };
            let choice = match &chosen[id] {
                Some(choice) => choice.clone(),
                None => {
                    let name = solve::select_class(node, hierarchy).map_err(|asked| {
                        Refusal::Unmergeable(method.to_owned(), list(&node.union), list(&asked))
                    })?;
                    Type::object(&name)
                }
            };
            chosen[id] = Some(choice.clone());
            *t = choice;
        }
    }
    let dead = || State {
        locals: Vec::new(),
        stack: vec![Type::object("java/lang/Throwable")],
    };
    Ok(states.into_iter().map(|s| s.unwrap_or_else(dead)).collect())
}

fn list(names: &[String]) -> String {
    let names: Vec<String> = names.iter().take(4).map(|n| java_form(n)).collect();
    names.join(", ")
}

/// Returns the content of a `StackMapTable`, or `None` if no frame is needed. A frame is emitted
/// where control can arrive by other means than falling through, and where unreachable code begins.
pub(super) fn encode_table(
    code: &InferenceBody,
    states: &[State],
    reached: &[bool],
    entry: &State,
    pool: &mut ConstantPool,
) -> Result<Option<Vec<u8>>, Refusal> {
    let here = |pc: u16| Some(pc);
    let mut table: Vec<StackMapFrame> = Vec::new();
    for (i, state) in states.iter().enumerate() {
        let id = FragmentId(i as u32);
        let Some(fragment) = code.flow.get(id) else {
            continue;
        };
        let jumped_to = code
            .flow
            .graph
            .edges_directed(id.node(), Direction::Incoming)
            .any(|e| {
                let from = petgraph::visit::EdgeRef::source(&e).index();
                *e.weight() != EdgeKind::Fall && reached.get(from) == Some(&true)
            });
        if jumped_to || !reached[i] {
            table.push(frames::frame(fragment.start, state, pool, &here)?);
        }
    }
    if table.is_empty() {
        return Ok(None);
    }
    let initial = frames::locals(&entry.locals, pool, &here)?;
    Ok(Some(encode_stack_map(&table, &initial)?))
}
