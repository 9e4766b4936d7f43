//! Collects the constraints: the classes that the uses of a value require.
//!
//! ```text
//!      v1 ──▶ ┌────┐          each variable with a union type at a merge is a type variable (a φ of SSA form)
//!      v2 ──▶ │ n1 │ ──use──▶ requires D
//!             └────┘ ──▶ n2   a requirement of n2 is one of n1; a requirement D of an element is D[] of its array
//! ```
//!
//! One walk over the fragments finds type variables, uses and flow edges. Then the required classes
//! are propagated against the edges to a fixed point. `uses` lists the classes that each
//! instruction requires. A call of a protected method of `java.lang.Object` requires the current
//! class (JVMS §4.10.1.8).

use super::class_hierarchy::ClassHierarchy;
use super::flow::InferenceBody;
use super::union_types;
use super::uses::{self, OBJECT};
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use crate::flowgraph::EdgeKind;
use crate::refusal::Refusal;
use crate::types::{State, Type, TypeError};
use indexmap::{IndexMap, IndexSet};
use petgraph::visit::EdgeRef;

/// Maximum number of array dimensions (JVMS §4.4.1).
const MAX_ARRAY_DIMENSIONS: usize = 255;

/// A type variable: a variable at a merge of control flow, or the element of such an array.
#[derive(Default)]
pub(super) struct TypeVariable {
    /// The incoming classes.
    pub union: Vec<String>,
    /// The classes that uses require.
    pub required: IndexSet<String>,
    /// Type variables whose values flow into this one.
    sources: IndexSet<usize>,
    /// The array variable of which this is the element.
    array: Option<usize>,
}

/// All type variables of a method.
pub(super) struct Constraints {
    pub nodes: Vec<TypeVariable>,
    /// The fragments' states, with type variables in place of unions.
    pub states: Vec<Option<State>>,
}

/// Encodes a type variable as a type until its class is selected: `.17`, which is not a valid class
/// name.
fn variable_type(id: usize) -> Type {
    Type::object(&format!(".{id}"))
}

/// Returns the number of a type variable.
pub(super) fn variable_of(t: &Type) -> Option<usize> {
    match t {
        Type::Object(name) => name.strip_prefix('.')?.parse().ok(),
        _ => None,
    }
}

struct Collector<'w, 'c> {
    code: &'w InferenceBody<'c>,
    hierarchy: &'w ClassHierarchy,
    nodes: Vec<TypeVariable>,
    elements: IndexMap<usize, usize>,
}

/// Collects the requirements on each union type.
pub(super) fn collect(
    code: &InferenceBody,
    hierarchy: &ClassHierarchy,
    states: Vec<Option<State>>,
) -> Result<Constraints, Refusal> {
    let mut walk = Collector {
        code,
        hierarchy,
        nodes: Vec::new(),
        elements: IndexMap::new(),
    };
    let mut states = states;
    for t in states
        .iter_mut()
        .flatten()
        .flat_map(|s| s.locals.iter_mut().chain(s.stack.iter_mut()))
        .filter(|t| union_types::is_union(t))
    {
        let id = walk.node(
            union_types::members(t)
                .into_iter()
                .map(str::to_owned)
                .collect(),
        );
        *t = variable_type(id);
    }
    if !walk.nodes.is_empty() {
        for (i, state) in states.iter().enumerate() {
            if let Some(state) = state {
                walk.fragment(i, state.clone(), &states)?;
            }
        }
        walk.propagate()?;
    }
    Ok(Constraints {
        nodes: walk.nodes,
        states,
    })
}

impl Collector<'_, '_> {
    fn node(&mut self, union: Vec<String>) -> usize {
        self.nodes.push(TypeVariable {
            union,
            ..TypeVariable::default()
        });
        self.nodes.len() - 1
    }

    fn fragment(
        &mut self,
        index: usize,
        mut state: State,
        states: &[Option<State>],
    ) -> Result<(), Refusal> {
        let code = self.code;
        let node = petgraph::graph::NodeIndex::new(index);
        let fragment = &code.flow.graph[node];
        let edges: Vec<_> = code
            .flow
            .graph
            .edges(node)
            .map(|e| (e.target().index(), *e.weight()))
            .collect();
        for i in fragment.instructions.clone() {
            let (pc, instruction) = &code.instructions[i];
            for (to, kind) in &edges {
                let EdgeKind::Handler(row) = kind else {
                    continue;
                };
                let range = &code.exceptions[*row as usize];
                if (range.start..range.end).contains(pc)
                    && let Some(Some(there)) = states.get(*to)
                {
                    self.connect(&state.locals, &there.locals);
                }
            }
            self.uses(*pc, instruction, &state)?;
            let array = state.stack.iter().rev().nth(1).and_then(variable_of);
            if let (AALOAD, Some(array)) = (instruction.op(), array) {
                let element = self.element(array, *pc)?;
                state.stack.truncate(state.stack.len() - 2);
                state.stack.push(element);
            } else {
                code.step(&mut state, i)?;
            }
        }
        for (to, kind) in &edges {
            if !matches!(kind, EdgeKind::Handler(_))
                && let Some(Some(there)) = states.get(*to)
            {
                self.connect(&state.locals, &there.locals);
                self.connect(&state.stack, &there.stack);
            }
        }
        Ok(())
    }

    /// Records that values flow from `from` to `to`.
    fn connect(&mut self, from: &[Type], to: &[Type]) {
        for (from, to) in from.iter().zip(to) {
            if let (Some(from), Some(to)) = (variable_of(from), variable_of(to))
                && from != to
            {
                self.nodes[to].sources.insert(from);
            }
        }
    }

    /// Returns the type variable for the elements of an array variable.
    fn element(&mut self, array: usize, pc: u16) -> Result<Type, Refusal> {
        if let Some(id) = self.elements.get(&array) {
            return Ok(variable_type(*id));
        }
        let mut union = Vec::new();
        for name in &self.nodes[array].union {
            let element = veneer_names::component_name(name).ok_or(TypeError::BadOperand(pc))?;
            union.push(element.to_owned());
        }
        let id = self.node(union);
        self.nodes[id].array = Some(array);
        self.elements.insert(array, id);
        Ok(variable_type(id))
    }

    /// Records the requirements of one instruction on the values that it pops.
    fn uses(&mut self, pc: u16, instruction: &Instruction, state: &State) -> Result<(), Refusal> {
        let (code, hierarchy, nodes) = (self.code, self.hierarchy, &mut self.nodes);
        uses::for_each_use(code, pc, instruction, state, &mut |value, asked, access| {
            let Some(node) = variable_of(value).and_then(|id| nodes.get_mut(id)) else {
                return;
            };
            let of_object = access.is_some_and(|access| access.is_protected_of_object(code.class));
            let arrays = node.union.iter().all(|class| class.starts_with('['));
            let asked = if of_object && !arrays {
                code.class
            } else {
                asked
            };
            if asked != OBJECT && !hierarchy.is_interface(asked) {
                node.required.insert(asked.to_owned());
            }
        })
    }

    /// Propagates requirements against the flow of values.
    fn propagate(&mut self) -> Result<(), Refusal> {
        let mut work: Vec<usize> = (0..self.nodes.len()).collect();
        while let Some(id) = work.pop() {
            let node = &self.nodes[id];
            let required: Vec<String> = node.required.iter().cloned().collect();
            let sources: Vec<usize> = node.sources.iter().copied().collect();
            let array = node.array;
            let mut ask = |of: usize, name: String| {
                if self.nodes[of].required.insert(name) && work.last() != Some(&of) {
                    work.push(of);
                }
            };
            for name in &required {
                for source in &sources {
                    ask(*source, name.clone());
                }
                if let Some(array) = array {
                    let name = veneer_names::array_of(name);
                    if name.bytes().take_while(|b| *b == b'[').count() > MAX_ARRAY_DIMENSIONS {
                        return Err(Refusal::BrokenCode("an array without end".into()));
                    }
                    ask(array, name);
                }
            }
        }
        Ok(())
    }
}
