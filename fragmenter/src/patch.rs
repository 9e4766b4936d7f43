//! Edits of the fragment graph, and the conditions that an edited graph must meet.
//!
//! ```text
//!   redirect f2 -> f5 to f7      skip f3                        replace f4 by f6
//!      f2 ──▶ f5                   f2 ──▶ f3 ──▶ f4                f4's place and edges,
//!        ╲──▶ f7                     ╰────────▶ f4                 f6's instructions
//! ```
//!
//! An edit is checked completely before any code is emitted. The edited graph gets its own liveness
//! analysis. Then these conditions must hold on every new edge:
//!
//! - each variable that is live at the target has a value of an assignable type at the source;
//! - the operand stacks agree;
//! - source and target hold the same number of monitors;
//! - the edited fragments have the same exception handlers.
//!
//! The JVM's verifier checks the emitted class once more.

use crate::devirtualisation;
use crate::duplication::{copy_path, path_text};
use crate::edit_conditions::{before_super, refuse_handler};
use crate::edit_points::{self, EditPoints};
use crate::flowgraph::{Fragment, FragmentId, FragmentNode};
use crate::method::Method;
use crate::node_copies::NodeCopies;
use crate::patched_node::PatchedNode;
use crate::points::{Point, PointKind};
use crate::refusal::Refusal;
use crate::specialisation;
use crate::split::{self, Parts, SplitGraph};
use crate::types::{self, State, Type};
use crate::unswitching::unswitch_loop;
use crate::use_def;
use petgraph::graph::DiGraph;
use petgraph::visit::EdgeRef;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use veneer_liveness::{BitSet, EdgeTransfer, LoopForest};
use veneer_names::LocalSlot;

/// One edit of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Changes the target of an edge.
    Redirect {
        /// The fragment that the edge leaves.
        from: FragmentId,
        /// The fragment to which the edge leads in the original graph.
        to: FragmentId,
        /// The fragment to which the edge leads instead.
        target: FragmentId,
    },
    /// Leaves a fragment out. Control continues with its only successor.
    Skip {
        /// The fragment that is not executed.
        fragment: FragmentId,
    },
    /// Executes the code of another fragment instead of a fragment.
    Replace {
        /// The fragment that is not executed.
        fragment: FragmentId,
        /// The fragment whose code is executed.
        by: FragmentId,
    },
    /// Splits the method into parts that HotSpot compiles; see [`crate::split`].
    Split {
        /// The most bytes of the method's own code in a part.
        budget: u16,
    },
    /// Tells [`Edit::Split`] how often a fragment was executed. Changes nothing by itself.
    Passes {
        /// The fragment that was executed.
        fragment: FragmentId,
        /// How often it was executed.
        count: u64,
    },
    /// Tests a virtual call for a frequent class of its receiver, after the tests of earlier edits. In the
    /// branch of each class, the JIT compiler knows the method that is called, and can inline it.
    Receiver {
        /// The pc of the call.
        pc: u16,
        /// The internal name of the class.
        class: Arc<str>,
    },
    /// Makes a parameter a constant for activations that begin with this value; see
    /// [`crate::specialisation`].
    Constant {
        /// The local variable of the parameter.
        slot: u16,
        /// The value that the parameter then has.
        value: i32,
    },
    /// Copies the fragments of a path from its first merge on, so that the path has no side entries; see
    /// [`crate::duplication`]. Applies to the graph that the other edits make.
    Duplicate {
        /// The fragments of the path, in the order in which control passes them.
        path: Arc<[FragmentId]>,
    },
    /// Copies the innermost loop around a fragment, and chooses a copy at the loop's entry by the condition of the
    /// fragment's branch; see [`crate::unswitching`]. Applies to the graph that the other edits make.
    Unswitch {
        /// The fragment that ends with the branch.
        fragment: FragmentId,
    },
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Edit::Redirect { from, to, target } => write!(f, "redirect {from} -> {to} to {target}"),
            Edit::Skip { fragment } => write!(f, "skip {fragment}"),
            Edit::Replace { fragment, by } => write!(f, "replace {fragment} by {by}"),
            Edit::Split { budget } => write!(f, "split into parts of {budget} bytes"),
            Edit::Passes { fragment, count } => write!(f, "{fragment} was executed {count} times"),
            Edit::Receiver { pc, class } => write!(f, "test the call at pc {pc} for {class}"),
            Edit::Constant { slot, value } => write!(f, "local {slot} is {value}"),
            Edit::Duplicate { path } => write!(f, "duplicate {}", path_text(path)),
            Edit::Unswitch { fragment } => write!(f, "unswitch {fragment}"),
        }
    }
}

/// The edited graph. Each node has the number of the fragment that it replaces. The numbers of copies are
/// above those of all fragments.
pub struct Patched {
    /// All nodes, reachable or not.
    pub nodes: Vec<PatchedNode>,
    /// The node at which new activations begin.
    pub entry: FragmentId,
    /// Live-in variables of each node.
    pub live_in: Vec<BitSet>,
    /// Loops of the edited graph.
    pub loops: LoopForest,
    /// For each fragment: the node at which an activation continues that was suspended before this
    /// fragment.
    pub successor: Vec<FragmentId>,
    /// Capture points that only versions have; see [`crate::edit_points`].
    pub edit_points: Vec<Point>,
    /// The fragments of the edit points that new loops need. At the others, activations only enter.
    pub loop_points: Vec<FragmentId>,
    /// The parts of a split method.
    pub parts: Option<Parts>,
}

impl Patched {
    /// Verification types at the start of a node, restricted to live variables.
    pub fn state(&self, method: &Method, node: FragmentId) -> State {
        let full = &method.states[self.origin(node).index()];
        let keep = |(slot, t): (usize, &Type)| {
            if self.live_in[node.index()].get(slot).is_some_and(|b| *b) {
                t.clone()
            } else {
                Type::Top
            }
        };
        State {
            locals: full.locals.iter().enumerate().map(keep).collect(),
            stack: full.stack.clone(),
        }
    }

    /// The fragment in whose place a node is: for a copy, the fragment that was copied.
    pub fn origin(&self, node: FragmentId) -> FragmentId {
        self.nodes.get(node.index()).map_or(node, |n| n.origin)
    }

    /// Whether an activation at this point only has to return. This does not depend on the edges
    /// that now leave its fragment.
    pub fn only_returns(&self, p: &Point) -> bool {
        p.kind == PointKind::Exit && self.successor[p.fragment.index()] == p.fragment
    }

    /// The node in whose part an activation at this point continues.
    pub fn point_place(&self, p: &Point) -> FragmentId {
        self.successor[p.fragment.index()]
    }

    /// The part in which new activations begin, if the method is split.
    pub fn entry_part(&self) -> Option<u16> {
        let entry = self.origin(self.entry);
        self.parts.as_ref().map(|parts| parts.part(entry))
    }
}

/// Applies edits in order and checks the resulting graph. `points` are the method's capture points;
/// the first point is the place at which new activations begin.
///
/// At each point, exactly the variables that the original method needs there remain live. An
/// activation must be able to enter from the original code and to leave to it again.
///
/// # Errors
/// The refusal of the first edit, or of the first condition, that fails.
pub fn apply(method: &Method, edits: &[Edit], points: &[Point]) -> Result<Patched, Refusal> {
    apply_keeping(method, edits, points, &[])
}

/// Like [`apply`], and adds edit points at the `kept` fragments. Activations that run versions with
/// earlier edits may enter at these points.
pub fn apply_keeping(
    method: &Method,
    edits: &[Edit],
    points: &[Point],
    kept: &[FragmentId],
) -> Result<Patched, Refusal> {
    let begin = points.first().map_or(FragmentId(0), |p| p.fragment);
    let mut edited = EditedGraph::new(method, begin);
    let original = edited.nodes.clone();
    for edit in edits {
        edited.apply(edit)?;
    }
    let graph = edited.control_flow();
    let loops = veneer_liveness::loops(&graph, edited.entry.node());
    let roots = points
        .iter()
        .map(|p| p.fragment)
        .chain(kept.iter().copied())
        .flat_map(|f| [Some(f), edited.successor.get(f.index()).copied()])
        .flatten()
        .chain([edited.entry]);
    let reachable = reachable_from(&graph, roots);
    let split = SplitGraph {
        nodes: &edited.nodes,
        reachable: &reachable,
        points,
        passes: &passes(edits),
    };
    let parts = budget(edits)
        .map(|budget| split::split(method, &split, budget))
        .transpose()?;
    let mut kept = kept.to_vec();
    for (slot, _) in constants(edits) {
        if edited.entry != begin {
            // The guard leaves for the method's own entry, with the values that the method has there.
            let place = format!("local {slot} at the edited entry {}", edited.entry);
            return Err(Refusal::NoParameter(place));
        }
        specialisation::check_constant(method, slot, points.first())?;
        kept.push(begin);
    }
    if let Some(parts) = &parts {
        kept.extend(split::cut_nodes(method, &split, parts));
    }
    let EditPoints {
        points: edit_points,
        needed,
    } = edit_points::edit_points(method, &graph, &loops, &reachable, points, &kept)?;
    let at_fragments: Vec<&Point> = points
        .iter()
        .filter(|p| p.kind == PointKind::Fragment)
        .chain(&edit_points)
        .collect();
    let live_in = if edits.is_empty() {
        method.liveness.live_in.clone()
    } else {
        edited.live_in(&graph, &at_fragments)
    };
    let mut patched = Patched {
        nodes: edited.nodes,
        entry: edited.entry,
        live_in,
        loops,
        successor: edited.successor,
        edit_points: edit_points.clone(),
        loop_points: needed,
        parts,
    };
    check_graph(method, &patched, &original)?;
    if let Some(p) = points.first()
        && patched.entry != begin
    {
        // An activation that begins at another node has only the values that the method has at its
        // start.
        let state = crate::point_values::frame_state(p, method.code.max_locals);
        check_types(
            method,
            &state,
            patched.entry,
            &patched.live_in[patched.entry.index()],
        )?;
    }
    for p in at_fragments {
        check_point(method, &patched, p)?;
    }
    copy_nodes(method, edits, &mut patched)?;
    Ok(patched)
}

/// Copies nodes of the edited graph, as the edits of paths and loops want it. Copies change neither the values that are
/// live nor the capture points: a copy has those of its origin.
fn copy_nodes(method: &Method, edits: &[Edit], patched: &mut Patched) -> Result<(), Refusal> {
    let mut copies = NodeCopies {
        method,
        nodes: &mut patched.nodes,
        live_in: &mut patched.live_in,
        entry: &mut patched.entry,
        loops: &patched.loops,
    };
    for edit in edits {
        match edit {
            Edit::Duplicate { path } => copy_path(&mut copies, path)?,
            Edit::Unswitch { fragment } => unswitch_loop(&mut copies, *fragment)?,
            _ => {}
        }
    }
    copies.refuse_open_objects()
}

/// The most bytes of a part, if the method is to be split.
fn budget(edits: &[Edit]) -> Option<usize> {
    edits.iter().rev().find_map(|edit| match edit {
        Edit::Split { budget } => Some(usize::from(*budget)),
        _ => None,
    })
}

/// The slots that are constants, with their values. Of several edits of a slot, the last one counts.
pub(crate) fn constants(edits: &[Edit]) -> Vec<(u16, i32)> {
    let constant = |edit: &Edit| match edit {
        Edit::Constant { slot, value } => Some((*slot, *value)),
        _ => None,
    };
    let all: BTreeMap<u16, i32> = edits.iter().filter_map(constant).collect();
    all.into_iter().collect()
}

/// How often fragments were executed. The last count of a fragment counts.
fn passes(edits: &[Edit]) -> BTreeMap<FragmentId, u64> {
    let count = |edit: &Edit| match edit {
        Edit::Passes { fragment, count } => Some((*fragment, *count)),
        _ => None,
    };
    edits.iter().filter_map(count).collect()
}

/// The nodes of a graph while edits are applied to it.
struct EditedGraph<'m, 'f> {
    method: &'m Method<'f>,
    /// See [`Patched::nodes`].
    nodes: Vec<PatchedNode>,
    /// See [`Patched::entry`].
    entry: FragmentId,
    /// See [`Patched::successor`].
    successor: Vec<FragmentId>,
}

impl<'m, 'f> EditedGraph<'m, 'f> {
    /// The method's own graph, in which new activations begin at `entry`.
    fn new(method: &'m Method<'f>, entry: FragmentId) -> EditedGraph<'m, 'f> {
        let own_node = |f: &Fragment| {
            let successors = method.flow.successors(f.id).into_iter();
            PatchedNode {
                origin: f.id,
                code: f.id,
                out: successors.map(|s| (s, s)).collect(),
                choice: None,
            }
        };
        EditedGraph {
            method,
            nodes: method.flow.fragments().map(own_node).collect(),
            entry,
            successor: (0..method.flow.len() as u32).map(FragmentId).collect(),
        }
    }

    /// Applies one edit.
    fn apply(&mut self, edit: &Edit) -> Result<(), Refusal> {
        match *edit {
            Edit::Redirect { from, to, target } => {
                self.redirect(self.known(from)?, self.known(to)?, self.known(target)?)
            }
            Edit::Skip { fragment } => self.skip(self.known(fragment)?),
            Edit::Replace { fragment, by } => self.replace(self.known(fragment)?, self.known(by)?),
            Edit::Split { .. } => Ok(()),
            Edit::Passes { fragment, .. } | Edit::Unswitch { fragment } => {
                self.known(fragment).map(|_| ())
            }
            Edit::Receiver { pc, .. } => devirtualisation::check_call(self.method, pc),
            // `apply_keeping` checks it, because that depends on the points.
            Edit::Constant { .. } => Ok(()),
            // The path is one of the graph that all other edits make.
            Edit::Duplicate { ref path } => {
                path.iter().try_for_each(|f| self.known(*f).map(|_| ()))
            }
        }
    }

    /// Returns the fragment, if the method has it.
    fn known(&self, f: FragmentId) -> Result<FragmentId, Refusal> {
        let count = self.method.flow.len();
        if f.index() < count {
            Ok(f)
        } else {
            Err(Refusal::UnknownFragment(f.0, count))
        }
    }

    /// Leads the edges from `from` to `to` to `target` instead.
    fn redirect(
        &mut self,
        from: FragmentId,
        to: FragmentId,
        target: FragmentId,
    ) -> Result<(), Refusal> {
        let method = self.method;
        require_same_handlers(method, to, target)?;
        refuse_handler(method, target)?;
        if before_super(method, from, |f| f.instructions.end) {
            return Err(Refusal::BeforeSuper);
        }
        let mut found = false;
        let edges = self.nodes[from.index()].out.iter_mut();
        for out in edges.filter(|o| o.1 == to) {
            out.1 = target;
            found = true;
        }
        if !found {
            return Err(Refusal::UnknownEdge(from.0, to.0));
        }
        Ok(())
    }

    /// Leads all edges to `f` to the only successor of `f` instead.
    fn skip(&mut self, f: FragmentId) -> Result<(), Refusal> {
        let method = self.method;
        refuse_handler(method, f)?;
        if before_super(method, f, |f| f.instructions.start + 1) {
            return Err(Refusal::BeforeSuper);
        }
        let mut targets: Vec<_> = self.nodes[f.index()]
            .out
            .iter()
            .map(|o| o.1)
            .filter(|t| *t != f)
            .collect();
        targets.dedup();
        let [next] = targets[..] else {
            return Err(Refusal::NoSingleSuccessor(f.0));
        };
        require_same_handlers(method, f, next)?;
        for node in &mut self.nodes {
            node.out
                .iter_mut()
                .filter(|o| o.1 == f)
                .for_each(|o| o.1 = next);
        }
        self.successor
            .iter_mut()
            .filter(|s| **s == f)
            .for_each(|s| *s = next);
        if self.entry == f {
            self.entry = next;
        }
        Ok(())
    }

    /// Executes the instructions of `by` at the node of `f`. The edges of the node remain.
    fn replace(&mut self, f: FragmentId, by: FragmentId) -> Result<(), Refusal> {
        let method = self.method;
        refuse_handler(method, f)?;
        refuse_handler(method, by)?;
        if [f, by]
            .iter()
            .any(|f| before_super(method, *f, |f| f.instructions.start + 1))
        {
            return Err(Refusal::BeforeSuper);
        }
        require_same_handlers(method, f, by)?;
        let theirs = method.flow.successors(by);
        let ours: Vec<_> = self.nodes[f.index()].out.iter().map(|o| o.1).collect();
        if theirs.len() != ours.len() {
            return Err(Refusal::ShapeMismatch(f.0, by.0, ours.len(), theirs.len()));
        }
        if monitors_at_start(method, f) != monitors_at_start(method, by) {
            return Err(Refusal::MonitorMismatch(f.0, by.0));
        }
        self.nodes[f.index()] = PatchedNode {
            origin: f,
            code: by,
            out: theirs.into_iter().zip(ours).collect(),
            choice: None,
        };
        Ok(())
    }

    /// The control flow of the edited graph, with the exceptional edges of each node's code.
    fn control_flow(&self) -> DiGraph<(), EdgeTransfer> {
        let mut graph: DiGraph<(), EdgeTransfer> = DiGraph::new();
        for _ in &self.nodes {
            graph.add_node(());
        }
        for (i, node) in self.nodes.iter().enumerate() {
            let from = FragmentId(i as u32).node();
            for (_, to) in &node.out {
                graph.add_edge(from, to.node(), EdgeTransfer::Normal);
            }
            for edge in self.method.flow.graph.edges(node.code.node()) {
                if let EdgeTransfer::Exceptional = use_def::edge_flow(*edge.weight()) {
                    graph.add_edge(from, edge.target(), EdgeTransfer::Exceptional);
                }
            }
        }
        graph
    }

    /// Live-in variables of each node. At each of these points, the variables that the point carries
    /// are live.
    fn live_in(&self, graph: &DiGraph<(), EdgeTransfer>, at_fragments: &[&Point]) -> Vec<BitSet> {
        let method = self.method;
        let mut effects: Vec<_> = self
            .nodes
            .iter()
            .map(|n| method.effects[n.code.index()].clone())
            .collect();
        for p in at_fragments {
            p.locals
                .iter()
                .for_each(|(slot, _)| effects[p.fragment.index()].uses.set(*slot as usize, true));
        }
        let locals = method.code.max_locals as usize;
        let width = locals + method.code.max_stack as usize;
        veneer_liveness::liveness(graph, width, locals, &effects, |e| graph[e]).live_in
    }
}

/// Checks the transfer of an activation that is suspended at a point to the node at which the
/// activation continues.
fn check_point(method: &Method, patched: &Patched, p: &Point) -> Result<(), Refusal> {
    let node = patched.successor[p.fragment.index()];
    let wanted = &patched.live_in[node.index()];
    let typed = crate::method::typed_lives(&method.states[node.index()], wanted);
    if let Some((slot, _)) = typed
        .iter()
        .find(|l| !p.locals.iter().any(|have| have.0 == l.0))
    {
        return Err(unavailable_variable(method, *slot as usize, node));
    }
    if node == p.fragment {
        return Ok(());
    }
    // No edge of the graph describes this transfer: only an activation suspended at the point makes
    // it. The types are therefore checked here.
    let state = crate::point_values::frame_state(p, method.code.max_locals);
    check_types(method, &state, node, wanted)
}

/// Marks the nodes that are reachable from any of these roots.
fn reachable_from(
    graph: &DiGraph<(), EdgeTransfer>,
    roots: impl Iterator<Item = FragmentId>,
) -> Vec<bool> {
    let mut seen = vec![false; graph.node_count()];
    let mut work: Vec<_> = roots.map(FragmentId::node).collect();
    while let Some(n) = work.pop() {
        if let Some(mark) = seen.get_mut(n.index())
            && !std::mem::replace(mark, true)
        {
            work.extend(graph.neighbors(n));
        }
    }
    seen
}

fn monitors_at_start(method: &Method, f: FragmentId) -> u8 {
    method
        .flow
        .get(f)
        .map_or(0, |f| method.held_before(f.instructions.start))
}

fn require_same_handlers(method: &Method, a: FragmentId, b: FragmentId) -> Result<(), Refusal> {
    let at = |f: FragmentId| method.flow.get(f).map(|f| method.handlers_at(f.start));
    if at(a) == at(b) {
        Ok(())
    } else {
        Err(Refusal::HandlerMismatch(a.0, b.0))
    }
}

fn check_graph(
    method: &Method,
    patched: &Patched,
    original: &[PatchedNode],
) -> Result<(), Refusal> {
    let locals = method.code.max_locals as usize;
    for (i, node) in patched.nodes.iter().enumerate() {
        let id = FragmentId(i as u32);
        if *node == original[i] {
            continue;
        }
        if node.code != id {
            check_types(
                method,
                &method.states[i],
                node.code,
                &method.effects[node.code.index()].uses,
            )?;
        }
        let mut state = method.states[i].clone();
        let Some(fragment) = method.flow.get(node.code) else {
            continue;
        };
        let mut held = method.held_before(fragment.instructions.start);
        for k in fragment.instructions.clone() {
            let (pc, instruction) = &method.instructions[k];
            types::step(
                &mut state,
                *pc,
                instruction,
                &method.file.pool,
                &method.class,
            )?;
            match instruction.op() {
                crate::bytecode::opcode::MONITORENTER => held += 1,
                crate::bytecode::opcode::MONITOREXIT => held = held.saturating_sub(1),
                _ => {}
            }
        }
        for (_, to) in &node.out {
            if held != monitors_at_start(method, *to) {
                return Err(Refusal::MonitorMismatch(i as u32, to.0));
            }
            check_types(method, &state, *to, &patched.live_in[to.index()])?;
        }
    }
    // The new edges are valid. Variables that became live further up because of them need a value
    // there too.
    for (i, live) in patched.live_in.iter().enumerate() {
        for slot in live.iter_ones().filter(|s| *s < locals) {
            let has = method.states[i]
                .locals
                .get(slot)
                .is_some_and(|t| *t != Type::Top);
            if !has && !method.liveness.live_in[i][slot] {
                return Err(unavailable_variable(method, slot, FragmentId(i as u32)));
            }
        }
    }
    Ok(())
}

fn unavailable_variable(method: &Method, slot: usize, at: FragmentId) -> Refusal {
    let pc = method.flow.get(at).map_or(0, |f| f.start);
    let slot = LocalSlot(slot as u16);
    // A variable that is out of scope here still has its name elsewhere.
    let elsewhere = method.variables.iter().find(|v| v.slot == slot);
    let name = match (method.variable(slot, pc), elsewhere) {
        (None, Some(v)) => v.name.clone(),
        _ => method.variable_name(slot, pc),
    };
    Refusal::LiveInUnavailable(name, at.0)
}

/// Checks that control with these types may continue at a fragment at whose start `live` is live.
fn check_types(
    method: &Method,
    from: &State,
    to: FragmentId,
    live: &BitSet,
) -> Result<(), Refusal> {
    let wanted = &method.states[to.index()];
    let mismatch = |what: String, found: &Type, wanted: &Type| Refusal::TypeMismatch {
        target: to.0,
        what,
        found: found.to_string(),
        wanted: wanted.to_string(),
    };
    for slot in live
        .iter_ones()
        .filter(|s| *s < method.code.max_locals as usize)
    {
        let (Some(have), Some(want)) = (from.locals.get(slot), wanted.locals.get(slot)) else {
            continue;
        };
        if *want == Type::Top {
            continue;
        }
        if *have == Type::Top {
            return Err(unavailable_variable(method, slot, to));
        }
        if !have.assignable_to(want) {
            let pc = method.flow.get(to).map_or(0, |f| f.start);
            return Err(mismatch(
                format!(
                    "the variable {}",
                    method.variable_name(LocalSlot(slot as u16), pc)
                ),
                have,
                want,
            ));
        }
    }
    if from.stack.len() != wanted.stack.len() {
        return Err(Refusal::TypeMismatch {
            target: to.0,
            what: "the operand stack's depth".into(),
            found: from.stack.len().to_string(),
            wanted: wanted.stack.len().to_string(),
        });
    }
    for (have, want) in from.stack.iter().zip(&wanted.stack) {
        if !have.assignable_to(want) {
            return Err(mismatch("a value on the operand stack".into(), have, want));
        }
    }
    Ok(())
}
