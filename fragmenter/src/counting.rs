//! Counts all fragments or edges of a method with few counters (*spanning-tree counters*). The
//! counts that are not measured follow from Kirchhoff's law: what flows into a fragment flows out
//! of it. [`veneer_frequency`] chooses the edges that get a counter (Knuth and Stevenson 1973; Ball
//! and Larus 1994).
//!
//! ```text
//!             ┌── entry ──▶ f0 ──▶ f1 ◀──┐          ──▶ edges of the flow graph: only some
//!   outside ──┤                    │     │              have a counter
//!             ├┄┄ arrivals ┄┄▶ f2 ◀┘┄┄┄┄▶ f3        ┄▶ external entries ("arrivals"): resumed at
//!             ◀┄┄ departures ┄┄ │                      a capture point, or caught by a handler;
//!             ◀── return ───────┘                      external exits ("departures"): an exception,
//!                                                      or left at a capture point before a return;
//!                                                      each of them has a counter
//! ```
//!
//! An activation that leaves at a capture point before a fragment was counted into the fragment but
//! executed nothing there. Leaving takes the entry back: it subtracts 1 from the fragment's
//! external entries.
//!
//! The sums are therefore correct for all activations together, whichever versions they pass
//! through. Code that does not count, such as the armed body, is part of the outside.
//!
//! Single instructions, such as calls, are counted with the same counters: a fragment is divided into
//! nodes at them ([`CountedSteps`]). If only some counts are asked for, counters on which none of them
//! depends are left out.
//!
//! The scheme works for the method's own graph only. After an [`Edit`](crate::patch::Edit), every
//! fragment needs its own counter.

use crate::advice::{Probe, ProbeAction, Site};
use crate::bytecode::opcode::{
    ANEWARRAY, MULTIANEWARRAY, NEW, NEWARRAY, is_invoke, is_return, may_throw,
};
use crate::counted_steps::CountedSteps;
use crate::flowgraph::{EdgeKind, FragmentId};
use crate::method::Method;
use crate::points::{Point, PointKind, reachable};
use std::collections::HashMap;
use std::sync::Arc;
use veneer_frequency::{CountedGraph, Edge, Endpoint};
use veneer_names::CounterSlot;

/// The most steps of work, counters times edges, for finding the counters that the wanted counts need.
/// A method beyond it keeps all counters.
const MAX_PRUNING_WORK: usize = 4_000_000;

/// The nodes that activations enter and leave other than along edges: the external entries
/// (`arrivals`) and external exits (`departures`). The index of a node in its list is also the index
/// of its counter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExternalEdges {
    /// Fragments with a capture point at their start, and exception handlers.
    pub arrivals: Vec<FragmentId>,
    /// Nodes that may throw, or that have a capture point before their return.
    pub departures: Vec<u32>,
}

impl ExternalEdges {
    /// Finds the external entries and exits of a method with these capture points and nodes.
    pub fn entries_and_exits(
        method: &Method,
        points: &[Point],
        steps: &CountedSteps,
    ) -> ExternalEdges {
        let mut has_entry = vec![false; method.flow.len()];
        let mut has_exit = vec![false; method.flow.len() + steps.len()];
        for p in points {
            match p.kind {
                PointKind::Fragment => has_entry[p.fragment.index()] = true,
                PointKind::Exit => has_exit[steps.last_node(p.fragment) as usize] = true,
                PointKind::Entry => {}
            }
        }
        for edge in method.flow.graph.raw_edges() {
            if let EdgeKind::Handler(_) = edge.weight {
                has_entry[edge.target().index()] = true;
            }
        }
        for f in method.flow.fragments() {
            for (pc, instruction) in &method.instructions[f.instructions.clone()] {
                if may_throw(instruction.op()) {
                    has_exit[steps.node_at(f.id, *pc) as usize] = true;
                }
            }
        }
        let all = reachable(method, points);
        let arrivals = all.iter().copied().filter(|f| has_entry[f.index()]);
        let nodes = all.iter().flat_map(|f| steps.nodes(*f));
        ExternalEdges {
            arrivals: arrivals.collect(),
            departures: nodes.filter(|node| has_exit[*node as usize]).collect(),
        }
    }
}

/// The placement of the counters of one method.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterPlan {
    /// The flow graph with the numbers of its counters. Numbers begin at 0.
    pub flow: CountedGraph,
    /// The nodes that begin inside a fragment.
    pub steps: Arc<CountedSteps>,
    /// The node that every activation passes at its beginning, if there is one.
    pub entry: Option<u32>,
    /// The join point and the number of each counter on an edge.
    sites: Vec<(Site, u32)>,
    /// The number of the first counter of external entries; `departures` is that of external exits.
    arrivals: u32,
    departures: u32,
    /// The expected number of counts in an activation, in units of [`Weights::ONE_PASS`].
    cost: u64,
}

/// An edge of the flow graph on which a counter can be placed.
struct Place {
    site: Site,
    /// The expected executions of the edge; see [`Weights`].
    executions: u64,
}

/// The edges of a method, with a place for each edge that needs no counter of its own.
#[derive(Default)]
struct Edges {
    edges: Vec<Edge>,
    places: Vec<Option<Place>>,
}

impl Edges {
    fn add_external(&mut self, from: Endpoint, to: Endpoint) {
        self.edges.push(Edge::always_counted(from, to));
        self.places.push(None);
    }

    fn add(&mut self, (from, to): (Endpoint, Endpoint), weight: u64, site: Site, executions: u64) {
        self.edges.push(Edge::new(from, to, weight));
        self.places.push(Some(Place { site, executions }));
    }
}

impl CounterPlan {
    /// Places the counters from which the counts of all fragments and edges follow. Edges in deeper
    /// loops are more likely to need no counter.
    pub fn place_counters(method: &Method, points: &[Point]) -> CounterPlan {
        let steps = Arc::<CountedSteps>::default();
        let edges = edges(method, points, &steps, None);
        let nodes = method.flow.len() as u32;
        let graph = CountedGraph::new(nodes, &edges.0.edges);
        CounterPlan::new(graph, edges, steps, None)
    }

    /// Places the counters from which the number of activations follows, and the number of executions
    /// of each of these instructions. `instructions` has indices into [`Method::instructions`], in
    /// reachable fragments. Returns `None` if a counter at each of these places is expected to cost
    /// less.
    pub fn place_at_instructions(
        method: &Method,
        points: &[Point],
        instructions: &[usize],
    ) -> Option<CounterPlan> {
        let first = points.first()?.instruction;
        let steps = Arc::new(CountedSteps::divide(method, instructions, first));
        let entry = (method.flow.len() + steps.len()) as u32;
        let edges = edges(method, points, &steps, Some(entry));
        let graph = CountedGraph::new(entry + 1, &edges.0.edges);
        let mut wanted = vec![entry];
        let mut own_counters = Weights::ONE_PASS;
        let frequencies = Frequencies::new(method, &edges.0);
        for index in instructions {
            let (pc, _) = method.instructions.get(*index)?;
            let fragment = method.flow.fragment_containing(*pc);
            wanted.push(steps.node_at(fragment, *pc));
            own_counters += frequencies.fragment(fragment);
        }
        let plan = CounterPlan::new(graph, edges, steps, Some(&wanted));
        let plan = CounterPlan {
            entry: Some(entry),
            ..plan
        };
        (plan.cost < own_counters).then_some(plan)
    }

    /// Makes the plan of a graph. If `wanted` is given, only counters on which the counts of these
    /// nodes depend are kept.
    fn new(
        graph: CountedGraph,
        (edges, departures): (Edges, u32),
        steps: Arc<CountedSteps>,
        wanted: Option<&[u32]>,
    ) -> CounterPlan {
        let counters = graph.counter_count() as usize;
        let mut is_kept = vec![true; counters];
        if let Some(wanted) = wanted
            && counters.saturating_mul(graph.edges.len()) <= MAX_PRUNING_WORK
        {
            is_kept = graph.counters_of_nodes(wanted);
        }
        let mut placed = Vec::new();
        for (edge, place) in graph.edges.iter().zip(edges.places) {
            let Some(counter) = edge.counter else {
                continue;
            };
            match place {
                Some(place) if is_kept[counter as usize] => placed.push(Some(place)),
                Some(_) => {}
                // The counters of external edges are found by their numbers.
                None => {
                    is_kept[counter as usize] = true;
                    placed.push(None);
                }
            }
        }
        let places = (0..).zip(placed);
        let places = places.filter_map(|(counter, place): (u32, _)| Some((place?, counter)));
        let places: Vec<(Place, u32)> = places.collect();
        CounterPlan {
            flow: graph.without_counters(|counter| !is_kept[counter as usize]),
            steps,
            entry: None,
            cost: places.iter().map(|(place, _)| place.executions).sum(),
            sites: places.iter().map(|(place, n)| (place.site, *n)).collect(),
            arrivals: 0,
            departures,
        }
    }

    /// The node of a counted join point: before an instruction, or at the entry.
    pub fn node(&self, method: &Method, site: Site) -> Option<u32> {
        match site {
            Site::Entry => self.entry,
            Site::At(pc) => Some(self.steps.node_at(method.flow.fragment_containing(pc), pc)),
            _ => None,
        }
    }

    /// The advice for all counters, if the counters of the method begin at slot `first`.
    pub fn probes(&self, first: CounterSlot) -> Vec<Probe> {
        let counts = self.sites.iter().map(|(site, counter)| Probe {
            site: *site,
            action: ProbeAction::CountBuffered {
                slot: first.plus(*counter),
            },
        });
        let external = Probe {
            site: Site::Crossing,
            action: ProbeAction::CountExternalEdge {
                arrivals: first.plus(self.arrivals),
                departures: first.plus(self.departures),
                steps: self.steps.clone(),
            },
        };
        counts.chain([external]).collect()
    }
}

/// The indices of the calls and allocations that versions of a method contain.
pub fn calls_and_allocations(method: &Method, points: &[Point]) -> Vec<usize> {
    let first = points.first().map_or(0, |p| p.instruction);
    let start = points.first().map(|p| p.fragment);
    let is_counted = |index: &usize| {
        let op = method.instructions[*index].1.op();
        is_invoke(op) || matches!(op, NEW | NEWARRAY | ANEWARRAY | MULTIANEWARRAY)
    };
    let fragments = reachable(method, points).into_iter();
    let fragments = fragments.filter_map(|id| method.flow.get(id));
    let all = fragments.flat_map(|f| {
        let indices = f.instructions.clone();
        indices.filter(move |index| start != Some(f.id) || *index >= first)
    });
    all.filter(is_counted).collect()
}

/// The edges of a method between its nodes and the outside, and the number of the first edge of an
/// external exit. The external edges are first, in the order of [`ExternalEdges`], and each has a
/// counter; so the counters of each kind of external edge are contiguous. `entry` is a node that every
/// activation passes at its beginning.
fn edges(
    method: &Method,
    points: &[Point],
    steps: &CountedSteps,
    entry: Option<u32>,
) -> (Edges, u32) {
    let external_edges = ExternalEdges::entries_and_exits(method, points, steps);
    let all = reachable(method, points);
    let mut inside = vec![false; method.flow.len()];
    all.iter().for_each(|f| inside[f.index()] = true);
    let at = |f: FragmentId| Endpoint::Node(f.0);
    let end_of = |f: FragmentId| Endpoint::Node(steps.last_node(f));
    let mut edges = Edges::default();
    for f in &external_edges.arrivals {
        edges.add_external(Endpoint::Outside, at(*f));
    }
    let departures = edges.edges.len() as u32;
    for node in &external_edges.departures {
        edges.add_external(Endpoint::Node(*node), Endpoint::Outside);
    }
    let inner: Vec<(FragmentId, FragmentId)> = method
        .flow
        .edges()
        .into_iter()
        .filter(|(a, _)| inside[a.index()])
        .collect();
    let (mut outs, mut ins): (HashMap<FragmentId, u64>, HashMap<FragmentId, u64>) =
        Default::default();
    for (a, b) in &inner {
        *outs.entry(*a).or_default() += 1;
        *ins.entry(*b).or_default() += 1;
    }
    let weights = Weights::new(method);
    let one_pass = Weights::ONE_PASS;
    let start = points.first().map(|p| p.fragment);
    if let Some(start) = start {
        let mut from = Endpoint::Outside;
        if let Some(entry) = entry {
            let entry = Endpoint::Node(entry);
            edges.add((from, entry), one_pass, Site::Entry, one_pass);
            from = entry;
        }
        edges.add((from, at(start)), one_pass, Site::Entry, one_pass);
    }
    for (a, b) in inner {
        let is_only = |n: &HashMap<FragmentId, u64>, f| n.get(&f) == Some(&1);
        let site = if is_only(&outs, a) {
            Site::After(a)
        } else if is_only(&ins, b) && start != Some(b) && !external_edges.arrivals.contains(&b) {
            Site::Before(b)
        } else {
            Site::Edge(a, b)
        };
        let ways = outs.get(&a).copied().unwrap_or(1);
        let executions = weights.executions(a, b, ways);
        edges.add(
            (end_of(a), at(b)),
            weights.edge(a, b, ways, site),
            site,
            executions,
        );
    }
    for step in steps.iter().filter(|step| inside[step.fragment.index()]) {
        let f = step.fragment;
        let site = Site::At(step.pc);
        let before = steps.node_at(f, step.pc.saturating_sub(1));
        let ends = (Endpoint::Node(before), Endpoint::Node(step.node));
        edges.add(
            ends,
            weights.edge(f, f, 1, site),
            site,
            weights.executions(f, f, 1),
        );
    }
    for f in all {
        let last = method.flow.get(f).map(|f| f.instructions.end - 1);
        if last.is_some_and(|i| is_return(method.instructions[i].1.op())) {
            let ends = (end_of(f), Endpoint::Outside);
            edges.add(ends, one_pass, Site::After(f), one_pass);
        }
    }
    (edges, departures)
}

/// Expected executions of the fragments of a method.
struct Frequencies(Vec<u64>);

impl Frequencies {
    /// A fragment is executed as often as the edges that lead to it, but not more often than the loops
    /// around it suggest.
    fn new(method: &Method, edges: &Edges) -> Frequencies {
        let weights = Weights::new(method);
        let mut incoming = vec![0u64; method.flow.len()];
        for (edge, place) in edges.edges.iter().zip(&edges.places) {
            if let (Endpoint::Node(to), Some(place)) = (edge.to, place)
                && let Some(sum) = incoming.get_mut(to as usize)
            {
                *sum += place.executions;
            }
        }
        let most = |f: usize| weights.executions(FragmentId(f as u32), FragmentId(f as u32), 1);
        let all = incoming.into_iter().enumerate();
        Frequencies(all.map(|(f, sum)| sum.min(most(f))).collect())
    }

    fn fragment(&self, fragment: FragmentId) -> u64 {
        self.0.get(fragment.index()).copied().unwrap_or(0)
    }
}

/// Expected executions of an edge, relative to the activations of the method.
struct Weights {
    depth: Vec<u32>,
}

impl Weights {
    /// Weight of an edge that each activation takes exactly once.
    const ONE_PASS: u64 = 1 << 8;

    fn new(method: &Method) -> Weights {
        let nodes = method.flow.graph.node_indices();
        Weights {
            depth: nodes
                .map(|n| method.loops.enclosing_loops(n).len() as u32)
                .collect(),
        }
    }

    /// The weight of an edge. Each loop around the edge multiplies the weight by 8, for at most 10
    /// loops. The `ways` edges out of a fragment share its weight equally. A counter on an edge
    /// that needs its own code, off the straight path, costs a quarter more.
    fn edge(&self, a: FragmentId, b: FragmentId, ways: u64, site: Site) -> u64 {
        let weight = self.executions(a, b, ways);
        // The loop depth is also the high part of the weight. All edges of an inner loop therefore
        // go without a counter before any edge of an outer loop does.
        let weight = weight + (u64::from(self.depth(a, b)) << 48);
        match site {
            Site::Edge(..) => weight + weight / 4,
            _ => weight,
        }
    }

    /// The expected executions of an edge; see [`Weights::edge`].
    fn executions(&self, a: FragmentId, b: FragmentId, ways: u64) -> u64 {
        (Weights::ONE_PASS << (3 * self.depth(a, b))) / ways.max(1)
    }

    /// The number of loops around an edge, at most 10.
    fn depth(&self, a: FragmentId, b: FragmentId) -> u32 {
        self.depth[a.index()].min(self.depth[b.index()]).min(10)
    }
}
