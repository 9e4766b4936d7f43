//! Edit points: capture points that versions have where an edit makes a loop.
//!
//! ```text
//!   the method                    redirect f1 -> f3 to f0            the armed body's points stand at loops of the
//!   f0 ──▶ f1 ──▶ f3              f0 ──▶ f1 ──╮                      method; the new loop f0, f1 has none
//!    ╰───▶ f2                  ▶  ╰▲──────────╯  edit point at f0
//! ```
//!
//! Without a capture point, an activation that runs in the new loop could never leave it: detaching would not reach it. So
//! every cycle that has an edge which *makes a loop* passes a capture point, of the armed body or an edit point. An edge of
//! the edited graph makes a loop if it leads back (against a reverse postorder of the method's own graph), and the method
//! has no natural loop with the edge's end as header and its beginning in the body. Each cycle has an edge that leads back;
//! a cycle whose edges back are all edges of the method's own loops is one that the method has points for as far as its
//! policy wants.
//!
//! An edit point carries what the *original* method has live at the fragment. That depends on the method and the fragment
//! alone, so a frame means the same to every version, whatever its edits are. The number of an edit point is the number of
//! armed points plus the fragment's number. The armed body has no check there: activations only leave versions at it.

use crate::flowgraph::FragmentId;
use crate::method::Method;
use crate::points::{self, Point, PointId, PointKind};
use crate::refusal::Refusal;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{DfsPostOrder, EdgeRef};
use veneer_liveness::{Flow, LoopForest};

/// The number of the edit point at a fragment of a method with these armed points.
pub fn id(armed: &[Point], fragment: FragmentId) -> Result<PointId, Refusal> {
    let number = armed.len() + fragment.index();
    u16::try_from(number)
        .map(PointId)
        .map_err(|_| Refusal::MethodTooLarge("the method has too many capture points".into()))
}

/// The edit points of the edited `graph`: those that its new loops need, and those at `kept` fragments, at which earlier
/// edits had some. By fragment, without those that have an armed point.
pub(crate) fn of(
    method: &Method,
    graph: &DiGraph<(), Flow>,
    loops: &LoopForest,
    reachable: &[bool],
    armed: &[Point],
    kept: &[FragmentId],
) -> Result<Vec<Point>, Refusal> {
    let pointed = |f: FragmentId| {
        let mut all = armed.iter();
        all.any(|p| p.kind == PointKind::Fragment && p.fragment == f)
    };
    let begin = armed.first().map_or(FragmentId(0), |p| p.fragment);
    let first = armed.first().map_or(0, |p| p.instruction);
    let makers = makers(method, graph, begin, reachable);
    let mut fragments: Vec<FragmentId> = kept.iter().copied().filter(|f| !pointed(*f)).collect();
    let mut new: Vec<FragmentId> = Vec::new();
    while let Some(cycle) = cycle(graph, reachable, &makers, &|f| {
        pointed(f) || new.contains(&f)
    }) {
        new.push(choose(method, loops, first, &makers, &cycle)?);
    }
    fragments.extend(new);
    fragments.sort_unstable();
    fragments.dedup();
    let point = |f: FragmentId| {
        let mut point = points::at_fragment(method, first, f)?;
        point.id = id(armed, f)?;
        Ok(point)
    };
    fragments.into_iter().map(point).collect()
}

/// Edges of the edited graph that make a loop.
fn makers(
    method: &Method,
    graph: &DiGraph<(), Flow>,
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
    let known = |a: NodeIndex, b: NodeIndex| {
        method.loops.loops.iter().any(|l| {
            let inside = l.body.get(a.index()).is_some_and(|bit| *bit);
            l.header == b && inside
        })
    };
    let makes = |a: NodeIndex, b: NodeIndex| {
        reachable[a.index()]
            && original.find_edge(a, b).is_none()
            && order[a.index()] <= order[b.index()]
            && !known(a, b)
    };
    let edges = graph.edge_references().map(|e| (e.source(), e.target()));
    edges.filter(|(a, b)| makes(*a, *b)).collect()
}

/// A strongly connected part of the graph without the fragments that have a point, which has an edge that makes a loop.
fn cycle(
    graph: &DiGraph<(), Flow>,
    reachable: &[bool],
    makers: &[(NodeIndex, NodeIndex)],
    has_point: &dyn Fn(FragmentId) -> bool,
) -> Option<Vec<NodeIndex>> {
    if makers.is_empty() {
        return None;
    }
    let open = |n: NodeIndex| reachable[n.index()] && !has_point(FragmentId(n.index() as u32));
    let left = graph.filter_map(|n, ()| open(n).then_some(n), |_, flow| Some(*flow));
    petgraph::algo::tarjan_scc(&left)
        .into_iter()
        .map(|part| part.into_iter().map(|n| left[n]).collect::<Vec<_>>())
        .find(|part| {
            let inside = |(a, b): &(NodeIndex, NodeIndex)| part.contains(a) && part.contains(b);
            makers.iter().any(inside)
        })
}

/// The fragment of a cycle that gets the point: where an edge that makes a loop leads, else a loop header, else any.
fn choose(
    method: &Method,
    loops: &LoopForest,
    first: usize,
    makers: &[(NodeIndex, NodeIndex)],
    cycle: &[NodeIndex],
) -> Result<FragmentId, Refusal> {
    let inside = |n: &NodeIndex| cycle.contains(n);
    let ends = makers.iter().filter(|(a, b)| inside(a) && inside(b));
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
        reason.name(),
        reason.to_string(),
    ))
}
