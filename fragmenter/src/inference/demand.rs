//! What the uses of a value ask of its class.
//!
//! ```text
//!      v1 ──▶ ┌────┐          each variable that holds a union where ways meet is a node (a φ of SSA form);
//!      v2 ──▶ │ n1 │ ──use──▶ asks for D
//!             └────┘ ──▶ n2   what n2 is asked for, n1 is asked for; what an element is asked for, its array is, as D[]
//! ```
//!
//! One walk over the fragments finds nodes, uses and edges; then demands travel against the edges until nothing changes.
//! `uses` lists what each instruction asks for. A call of a protected method of `java.lang.Object` asks for the current class (JVMS
//! §4.10.1.8).

use super::flow::Code;
use super::kinds::Kinds;
use super::union;
use super::uses::{self, OBJECT};
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use crate::flowgraph::EdgeKind;
use crate::refusal::Refusal;
use crate::types::{State, Type, TypeError};
use indexmap::{IndexMap, IndexSet};
use petgraph::visit::EdgeRef;

/// Deeper arrays do not exist (JVMS §4.4.1).
const DIMENSIONS: usize = 255;

/// A variable where ways meet, or the element of one.
#[derive(Default)]
pub(super) struct Node {
    /// The classes that come here.
    pub union: Vec<String>,
    /// The classes that uses ask for.
    pub demands: IndexSet<String>,
    /// Nodes that flow into this one.
    sources: IndexSet<usize>,
    /// The array node that this is the element of.
    array: Option<usize>,
}

/// All nodes of a method.
pub(super) struct Demands {
    pub nodes: Vec<Node>,
    /// The fragments' states, with nodes in the place of unions.
    pub states: Vec<Option<State>>,
}

/// A node as a type, until a class is chosen: `.17`, which names no class.
fn node_type(id: usize) -> Type {
    Type::object(&format!(".{id}"))
}

/// The node that a type stands for.
pub(super) fn node_of(t: &Type) -> Option<usize> {
    match t {
        Type::Object(name) => name.strip_prefix('.')?.parse().ok(),
        _ => None,
    }
}

struct Walk<'w, 'c> {
    code: &'w Code<'c>,
    kinds: &'w Kinds,
    nodes: Vec<Node>,
    elements: IndexMap<usize, usize>,
}

/// Gathers what is asked of each union.
pub(super) fn gather(
    code: &Code,
    kinds: &Kinds,
    states: Vec<Option<State>>,
) -> Result<Demands, Refusal> {
    let mut walk = Walk {
        code,
        kinds,
        nodes: Vec::new(),
        elements: IndexMap::new(),
    };
    let mut states = states;
    for t in states
        .iter_mut()
        .flatten()
        .flat_map(|s| s.locals.iter_mut().chain(s.stack.iter_mut()))
        .filter(|t| union::is_union(t))
    {
        let id = walk.node(union::members(t).into_iter().map(str::to_owned).collect());
        *t = node_type(id);
    }
    if !walk.nodes.is_empty() {
        for (i, state) in states.iter().enumerate() {
            if let Some(state) = state {
                walk.fragment(i, state.clone(), &states)?;
            }
        }
        walk.spread()?;
    }
    Ok(Demands {
        nodes: walk.nodes,
        states,
    })
}

impl Walk<'_, '_> {
    fn node(&mut self, union: Vec<String>) -> usize {
        self.nodes.push(Node {
            union,
            ..Node::default()
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
            let array = state.stack.iter().rev().nth(1).and_then(node_of);
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

    /// Notes that values flow from `from` to `to`.
    fn connect(&mut self, from: &[Type], to: &[Type]) {
        for (from, to) in from.iter().zip(to) {
            if let (Some(from), Some(to)) = (node_of(from), node_of(to))
                && from != to
            {
                self.nodes[to].sources.insert(from);
            }
        }
    }

    /// What an array node holds.
    fn element(&mut self, array: usize, pc: u16) -> Result<Type, Refusal> {
        if let Some(id) = self.elements.get(&array) {
            return Ok(node_type(*id));
        }
        let mut union = Vec::new();
        for name in &self.nodes[array].union {
            let element = union::component(name).ok_or(TypeError::BadOperand(pc))?;
            union.push(element.to_owned());
        }
        let id = self.node(union);
        self.nodes[id].array = Some(array);
        self.elements.insert(array, id);
        Ok(node_type(id))
    }

    /// Notes what one instruction asks of the values that it pops.
    fn uses(&mut self, pc: u16, instruction: &Instruction, state: &State) -> Result<(), Refusal> {
        let (code, kinds, nodes) = (self.code, self.kinds, &mut self.nodes);
        uses::each(code, pc, instruction, state, &mut |value, asked, access| {
            let Some(node) = node_of(value).and_then(|id| nodes.get_mut(id)) else {
                return;
            };
            let of_object = access.is_some_and(|access| access.is_protected_of_object(code.class));
            let arrays = node.union.iter().all(|class| class.starts_with('['));
            let asked = if of_object && !arrays {
                code.class
            } else {
                asked
            };
            if asked != OBJECT && !kinds.is_interface(asked) {
                node.demands.insert(asked.to_owned());
            }
        })
    }

    /// Demands travel against the flow.
    fn spread(&mut self) -> Result<(), Refusal> {
        let mut work: Vec<usize> = (0..self.nodes.len()).collect();
        while let Some(id) = work.pop() {
            let node = &self.nodes[id];
            let demands: Vec<String> = node.demands.iter().cloned().collect();
            let sources: Vec<usize> = node.sources.iter().copied().collect();
            let array = node.array;
            let mut ask = |of: usize, name: String| {
                if self.nodes[of].demands.insert(name) && work.last() != Some(&of) {
                    work.push(of);
                }
            };
            for name in &demands {
                for source in &sources {
                    ask(*source, name.clone());
                }
                if let Some(array) = array {
                    let name = union::array_of(name);
                    if name.bytes().take_while(|b| *b == b'[').count() > DIMENSIONS {
                        return Err(Refusal::BrokenCode("an array without end".into()));
                    }
                    ask(array, name);
                }
            }
        }
        Ok(())
    }
}
