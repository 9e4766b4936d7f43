//! Edit points: capture points that only versions have, at the places where an edit creates a loop.
//!
//! ```text
//!   the method                    redirect f1 -> f3 to f0       points of the armed body are at
//!   f0 ──▶ f1 ──▶ f3              f0 ──▶ f1 ──╮                 loops of the method; the new
//!    ╰───▶ f2                  ▶  ╰▲──────────╯  edit at f0     loop f0, f1 has no point
//! ```
//!
//! An activation that runs in a new loop without a capture point could never leave it, so detaching
//! would not reach it. For this reason, every cycle that contains a *loop-making* edge passes a
//! capture point: either one of the armed body or an edit point.
//!
//! An edge of the edited graph is loop-making if all of these hold:
//!
//! - the original graph does not have the edge;
//! - the edge leads back, against a reverse postorder of the method's own graph;
//! - the method has no natural loop with the edge's target as header and its source in the body.
//!
//! This is sufficient. Every cycle has an edge that leads back. If all such edges of a cycle belong
//! to the method's own loops, the policy has already placed the points that it wants for this
//! cycle.
//!
//! An edit point carries the values that are live at the fragment in the *original* method. These
//! values depend on the method and the fragment alone, so a frame has the same meaning for every
//! version, whatever its edits are.
//!
//! The number of an edit point is the number of armed points plus the fragment's number. The armed
//! body has no check at an edit point: activations only leave versions there.

use crate::flowgraph::{FragmentId, FragmentNode};
use crate::method::Method;
use crate::points::{self, Point, PointId, PointKind};
use crate::refusal::Refusal;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{DfsPostOrder, EdgeRef};
use veneer_liveness::{EdgeTransfer, LoopForest};

/// The number of the edit point at a fragment of a method with these armed points.
///
/// # Errors
/// [`Refusal::MethodTooLarge`] if the number exceeds 65,535.
pub fn id(armed: &[Point], fragment: FragmentId) -> Result<PointId, Refusal> {
    let number = armed.len() + fragment.index();
    u16::try_from(number)
        .map(PointId)
        .map_err(|_| Refusal::MethodTooLarge("the method has too many capture points".into()))
}

/// The edit points of an edited graph.
pub(crate) struct EditPoints {
    /// The points, in the order of their fragments.
    pub points: Vec<Point>,
    /// The fragments of those that new loops need.
    pub needed: Vec<FragmentId>,
}

/// The edit points of the edited `graph`. They are the points that the new loops need, and points at
/// the `kept` fragments, at which earlier edits had edit points, or to which activations move from
/// another part. Fragments that have an armed point get no edit point.
pub(crate) fn edit_points(
    method: &Method,
    graph: &DiGraph<(), EdgeTransfer>,
    loops: &LoopForest,
    reachable: &[bool],
    armed: &[Point],
    kept: &[FragmentId],
) -> Result<EditPoints, Refusal> {
    let has_armed_point = |f: FragmentId| {
        let mut all = armed.iter();
        all.any(|p| p.kind == PointKind::Fragment && p.fragment == f)
    };
    let begin = armed.first().map_or(FragmentId(0), |p| p.fragment);
    let first = armed.first().map_or(0, |p| p.instruction);
    let loop_making = loop_making_edges(method, graph, begin, reachable);
    let mut fragments: Vec<FragmentId> = kept
        .iter()
        .copied()
        .filter(|f| !has_armed_point(*f))
        .collect();
    let mut new: Vec<FragmentId> = Vec::new();
    while let Some(cycle) = uncovered_cycle(graph, reachable, &loop_making, &|f| {
        has_armed_point(f) || new.contains(&f)
    }) {
        new.push(choose_fragment(method, loops, first, &loop_making, &cycle)?);
    }
    fragments.extend(&new);
    fragments.sort_unstable();
    fragments.dedup();
    let point = |f: FragmentId| {
        let mut point = points::at_fragment(method, first, f)?;
        point.id = id(armed, f)?;
        Ok(point)
    };
    let points = fragments.into_iter().map(point);
    Ok(EditPoints {
        points: points.collect::<Result<_, Refusal>>()?,
        needed: new,
    })
}

/// The loop-making edges of the edited graph; see the module documentation.
fn loop_making_edges(
    method: &Method,
    graph: &DiGraph<(), EdgeTransfer>,
    begin: FragmentId,
    reachable: &[bool],
) -> Vec<(NodeIndex, NodeIndex)> {
    let original = &method.flow.graph;
    let mut order = vec![usize::MAX; original.node_count()];
    let mut search = DfsPostOrder::new(original, begin.node());
    let mut finished = 0;
    while let Some(n) = search.next(original) {
        order[n.index()] = finished;
        finished += 1;
    }
    let is_natural_loop_edge = |a: NodeIndex, b: NodeIndex| {
        method.loops.loops.iter().any(|l| {
            let inside = l.body.get(a.index()).is_some_and(|bit| *bit);
            l.header == b && inside
        })
    };
    let is_loop_making = |a: NodeIndex, b: NodeIndex| {
        reachable[a.index()]
            && original.find_edge(a, b).is_none()
            && order[a.index()] <= order[b.index()]
            && !is_natural_loop_edge(a, b)
    };
    let edges = graph.edge_references().map(|e| (e.source(), e.target()));
    edges.filter(|(a, b)| is_loop_making(*a, *b)).collect()
}

/// Finds a strongly connected component that contains a loop-making edge and no fragment with a
/// point.
fn uncovered_cycle(
    graph: &DiGraph<(), EdgeTransfer>,
    reachable: &[bool],
    loop_making: &[(NodeIndex, NodeIndex)],
    has_point: &dyn Fn(FragmentId) -> bool,
) -> Option<Vec<NodeIndex>> {
    if loop_making.is_empty() {
        return None;
    }
    let open = |n: NodeIndex| reachable[n.index()] && !has_point(FragmentId(n.index() as u32));
    let left = graph.filter_map(|n, ()| open(n).then_some(n), |_, flow| Some(*flow));
    petgraph::algo::tarjan_scc(&left)
        .into_iter()
        .map(|part| part.into_iter().map(|n| left[n]).collect::<Vec<_>>())
        .find(|part| {
            let inside = |(a, b): &(NodeIndex, NodeIndex)| part.contains(a) && part.contains(b);
            loop_making.iter().any(inside)
        })
}

/// Chooses the fragment of a cycle that gets the edit point. The first choice is the target of a
/// loop-making edge, then a loop header, then any fragment of the cycle.
fn choose_fragment(
    method: &Method,
    loops: &LoopForest,
    first: usize,
    loop_making: &[(NodeIndex, NodeIndex)],
    cycle: &[NodeIndex],
) -> Result<FragmentId, Refusal> {
    let inside = |n: &NodeIndex| cycle.contains(n);
    let ends = loop_making.iter().filter(|(a, b)| inside(a) && inside(b));
    let mut wanted: Vec<NodeIndex> = ends.map(|(_, b)| *b).collect();
    wanted.sort_unstable();
    wanted.extend(loops.headers().filter(inside));
    let mut rest = cycle.to_vec();
    rest.sort_unstable();
    wanted.extend(rest);
    let mut refused = None;
    for n in wanted {
        let f = FragmentId(n.index() as u32);
        match points::at_fragment(method, first, f) {
            Ok(_) => return Ok(f),
            Err(reason) => {
                refused.get_or_insert((f.0, reason));
            }
        }
    }
    let (at, reason) =
        refused.ok_or_else(|| Refusal::Internal("a cycle without fragments".into()))?;
    Err(Refusal::LoopWithoutPoint(
        at,
        reason.name().to_string(),
        reason.to_string(),
    ))
}
