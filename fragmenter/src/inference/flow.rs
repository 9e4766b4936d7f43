//! The forward data-flow pass: the kinds and classes of the values at the start of each fragment.
//!
//! * Lattice: a variable is `Top`, a primitive kind, an object without a finished constructor, or a
//!   union of classes. The empty union is `null`.
//! * Join: equal types stay, unions are united, all other pairs become `Top`.
//! * Transfer: [`types::step`]; `aaload` on a union of arrays yields the union of their elements.
//!   An exception handler joins the locals before each instruction of its range and after
//!   constructor calls.
//! * Termination: unions only grow, and hold only names that the method mentions.

use super::union_types::{self, Joined};
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use crate::classfile::{ConstantPool, ExceptionRange};
use crate::flowgraph::{EdgeKind, FlowGraph};
use crate::refusal::Refusal;
use crate::types::{self, State, Type, TypeError};
use petgraph::visit::EdgeRef;

/// A method body whose stack map is to be inferred.
pub(super) struct InferenceBody<'c> {
    pub instructions: &'c [(u16, Instruction)],
    pub exceptions: &'c [ExceptionRange],
    pub flow: &'c FlowGraph,
    pub pool: &'c ConstantPool<'c>,
    pub class: &'c str,
    /// The method's result type, if it is a reference.
    pub result: Option<Type>,
}

impl InferenceBody<'_> {
    /// Returns the class that a handler catches, by the handler's index in the exception table.
    pub fn caught(&self, row: u16) -> Result<Type, Refusal> {
        match self.exceptions.get(row as usize).map(|e| e.catch_type) {
            None | Some(0) => Ok(Type::object("java/lang/Throwable")),
            Some(index) => Ok(Type::object(&self.pool.class_name(index)?)),
        }
    }

    /// Applies one instruction to the state.
    pub fn step(&self, state: &mut State, i: usize) -> Result<(), Refusal> {
        let (pc, instruction) = &self.instructions[i];
        match instruction.op() {
            AALOAD if matches!(state.stack.iter().rev().nth(1), Some(t) if union_types::is_union(t)) =>
            {
                state.stack.pop();
                let array = state.stack.pop().ok_or(TypeError::Underflow(*pc))?;
                let element = union_types::element(&array).ok_or(TypeError::BadOperand(*pc))?;
                state.stack.push(element);
            }
            op => {
                if op == NEW {
                    // An older object of the same `new` cannot be distinguished from the new one
                    // (JVMS §4.10.1.9 `new`).
                    let old = Type::Uninitialized(*pc);
                    let locals = state.locals.iter_mut();
                    locals.filter(|t| **t == old).for_each(|t| *t = Type::Top);
                }
                types::step(state, *pc, instruction, self.pool, self.class)?;
            }
        }
        Ok(())
    }
}

/// Returns the state at each fragment's start, or `None` for unreachable fragments.
pub(super) fn run(code: &InferenceBody, entry: State) -> Result<Vec<Option<State>>, Refusal> {
    let mut states: Vec<Option<State>> = vec![None; code.flow.len()];
    let Some(first) = states.first_mut() else {
        return Err(Refusal::BrokenCode("there is no code".into()));
    };
    *first = Some(entry);
    let mut work = vec![petgraph::graph::NodeIndex::new(0)];
    let mut waiting = vec![false; code.flow.len()];
    while let Some(node) = work.pop() {
        waiting[node.index()] = false;
        let Some(mut state) = states[node.index()].clone() else {
            continue;
        };
        let fragment = &code.flow.graph[node];
        let mut flow_to = |to: petgraph::graph::NodeIndex, from: &State| {
            let joined = match &mut states[to.index()] {
                None => {
                    states[to.index()] = Some(from.clone());
                    Joined::Changed
                }
                Some(there) => union_types::join_into(there, from),
            };
            if joined == Joined::Changed && !std::mem::replace(&mut waiting[to.index()], true) {
                work.push(to);
            }
            joined
        };
        let handlers: Vec<_> = code
            .flow
            .graph
            .edges(node)
            .filter_map(|e| match e.weight() {
                EdgeKind::Handler(row) => Some((e.target(), *row)),
                _ => None,
            })
            .collect();
        let mut shown: Vec<Option<Vec<Type>>> = vec![None; handlers.len()];
        for i in fragment.instructions.clone() {
            let pc = code.instructions[i].0;
            let mut throw = |state: &State| {
                for ((to, row), shown) in handlers.iter().zip(&mut shown) {
                    let range = &code.exceptions[*row as usize];
                    if !(range.start..range.end).contains(&pc)
                        || shown.as_ref() == Some(&state.locals)
                    {
                        continue;
                    }
                    *shown = Some(state.locals.clone());
                    let thrown = State {
                        locals: state.locals.clone(),
                        stack: vec![code.caught(*row)?],
                    };
                    if flow_to(*to, &thrown) == Joined::Impossible {
                        return Err(impossible(pc));
                    }
                }
                Ok(())
            };
            throw(&state)?;
            code.step(&mut state, i)?;
            // HotSpot also compares the types after an instruction with its handlers. Only the end
            // of a constructor call changes a local there; stores also change locals, but HotSpot
            // leaves them out, because they cannot throw.
            if code.instructions[i].1.op() == INVOKESPECIAL {
                throw(&state)?;
            }
        }
        for edge in code.flow.graph.edges(node) {
            if !matches!(edge.weight(), EdgeKind::Handler(_))
                && flow_to(edge.target(), &state) == Joined::Impossible
            {
                return Err(impossible(fragment.start));
            }
        }
    }
    Ok(states)
}

fn impossible(pc: u16) -> Refusal {
    Refusal::BrokenCode(format!(
        "what flows on from {pc} does not fit what it meets"
    ))
}
