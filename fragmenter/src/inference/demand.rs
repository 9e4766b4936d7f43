//! What the uses of a value ask of its class.
//!
//! ```text
//!      v1 ──▶ ┌────┐          each variable that holds a union where ways meet is a node (a φ of SSA form);
//!      v2 ──▶ │ n1 │ ──use──▶ asks for D
//!             └────┘ ──▶ n2   what n2 is asked for, n1 is asked for; what an element is asked for, its array is, as D[]
//! ```
//!
//! One walk over the fragments finds nodes, uses and edges; then demands travel against the edges until nothing changes.
//! A call by `invokeinterface` asks for nothing, for to the verifier every object passes for an interface (JVMS §4.10.1.2);
//! nor do `instanceof`, `checkcast`, `monitorenter`, comparisons and stores into arrays.

use super::flow::Code;
use super::kinds::Kinds;
use super::union;
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use crate::descriptor::{self, MethodDescriptor};
use crate::flowgraph::EdgeKind;
use crate::refusal::Refusal;
use crate::types::{self, State, Type, TypeError};
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

    /// Notes what one instruction asks of the values that it takes.
    fn uses(&mut self, pc: u16, instruction: &Instruction, state: &State) -> Result<(), Refusal> {
        let pool = self.code.pool;
        let bad = || TypeError::BadOperand(pc);
        // From the top of the stack downwards.
        let mut depth = 0;
        let mut next = |asked: Option<&str>| {
            let value = state.stack.iter().rev().nth(depth);
            depth += 1;
            if let (Some(name), Some(id)) = (asked, value.and_then(node_of))
                && name != "java/lang/Object"
                && !self.kinds.is_interface(name)
            {
                self.nodes[id].demands.insert(name.to_owned());
            }
        };
        let op = instruction.op();
        match op {
            GETFIELD | PUTFIELD | PUTSTATIC => {
                let index = instruction.pool_index().ok_or_else(bad)?;
                let member = pool.member(index)?;
                let class = pool.class_name(member.class)?;
                if op != GETFIELD {
                    let t = descriptor::field(&pool.text(member.descriptor)?).ok_or_else(bad)?;
                    next(name_of(&t));
                }
                if op != PUTSTATIC {
                    next(Some(&class));
                }
            }
            INVOKEVIRTUAL | INVOKESPECIAL | INVOKESTATIC | INVOKEINTERFACE => {
                let index = instruction.pool_index().ok_or_else(bad)?;
                let (_, descriptor): (_, MethodDescriptor) =
                    types::invoked(pool, index, op).ok_or_else(bad)?;
                for t in descriptor.parameters.iter().rev() {
                    next(name_of(t));
                }
                match op {
                    INVOKEVIRTUAL => {
                        let class = pool.class_name(pool.member(index)?.class)?;
                        next(Some(&class));
                    }
                    // To call its superclass, or a private method, an object must be of this class.
                    INVOKESPECIAL => next(Some(self.code.class)),
                    _ => {}
                }
            }
            ATHROW => next(Some("java/lang/Throwable")),
            ARETURN => next(self.code.result.as_ref().and_then(name_of)),
            AALOAD => {
                next(None);
                next(Some("[Ljava/lang/Object;"));
            }
            AASTORE => {
                next(None);
                next(None);
                next(Some("[Ljava/lang/Object;"));
            }
            _ => {}
        }
        Ok(())
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

fn name_of(t: &Type) -> Option<&str> {
    match t {
        Type::Object(name) => Some(name),
        _ => None,
    }
}
