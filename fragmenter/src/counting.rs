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
//! The scheme works for the method's own graph only. After an [`Edit`](crate::patch::Edit), every
//! fragment needs its own counter.

use crate::advice::{Probe, ProbeAction, Site};
use crate::bytecode::opcode::{is_return, may_throw};
use crate::flowgraph::{EdgeKind, FragmentId};
use crate::method::Method;
use crate::points::{Point, PointKind, reachable};
use std::collections::HashMap;
use veneer_frequency::{CountedGraph, Edge, Endpoint};
use veneer_names::CounterSlot;

/// Fragments that activations enter and leave other than along edges: the external entries
/// (`arrivals`) and external exits (`departures`). The index of a fragment in its list is also the
/// index of its counter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExternalEdges {
    /// Fragments with a capture point at their start, and exception handlers.
    pub arrivals: Vec<FragmentId>,
    /// Fragments that may throw, or that have a capture point before their return.
    pub departures: Vec<FragmentId>,
}

impl ExternalEdges {
    /// Finds the external entries and exits of a method with these capture points.
    pub fn entries_and_exits(method: &Method, points: &[Point]) -> ExternalEdges {
        let mut has_entry = vec![false; method.flow.len()];
        let mut has_exit = vec![false; method.flow.len()];
        for p in points {
            match p.kind {
                PointKind::Fragment => has_entry[p.fragment.index()] = true,
                PointKind::Exit => has_exit[p.fragment.index()] = true,
                PointKind::Entry => {}
            }
        }
        for edge in method.flow.graph.raw_edges() {
            if let EdgeKind::Handler(_) = edge.weight {
                has_entry[edge.target().index()] = true;
            }
        }
        for f in method.flow.fragments() {
            let throws = |i: usize| may_throw(method.instructions[i].1.op());
            has_exit[f.id.index()] |= f.instructions.clone().any(throws);
        }
        let all = reachable(method, points);
        let marked_in_order = |marked: Vec<bool>| {
            let all = all.iter().copied();
            all.filter(|f| marked[f.index()]).collect::<Vec<_>>()
        };
        ExternalEdges {
            arrivals: marked_in_order(has_entry),
            departures: marked_in_order(has_exit),
        }
    }
}

/// The placement of the counters of one method.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterPlan {
    /// The flow graph with the numbers of its counters. Numbers begin at 0.
    pub flow: CountedGraph,
    /// The join point and the number of each counter on an edge.
    sites: Vec<(Site, u32)>,
    /// The number of the first counter of external entries; `departures` is that of external exits.
    arrivals: u32,
    departures: u32,
}

impl CounterPlan {
    /// Places the counters. Edges in deeper loops are more likely to need no counter.
    pub fn place_counters(method: &Method, points: &[Point]) -> CounterPlan {
        let external_edges = ExternalEdges::entries_and_exits(method, points);
        let all = reachable(method, points);
        let mut inside = vec![false; method.flow.len()];
        all.iter().for_each(|f| inside[f.index()] = true);
        let at = |f: FragmentId| Endpoint::Node(f.0);
        let (mut edges, mut sites) = (Vec::new(), Vec::new());
        // Counters are numbered in the order of this list. The external edges, which always have a
        // counter, are first, so the counters of each kind of external edge are contiguous.
        let to = external_edges.arrivals.iter();
        edges.extend(to.map(|f| Edge::always_counted(Endpoint::Outside, at(*f))));
        let departures = edges.len() as u32;
        let from = external_edges.departures.iter();
        edges.extend(from.map(|f| Edge::always_counted(at(*f), Endpoint::Outside)));
        sites.resize(edges.len(), None);
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
        if let Some(p) = points.first() {
            edges.push(Edge::new(
                Endpoint::Outside,
                at(p.fragment),
                Weights::ONE_PASS,
            ));
            sites.push(Some(Site::Entry));
        }
        let entry = points.first().map(|p| p.fragment);
        for (a, b) in inner {
            let is_only = |n: &HashMap<FragmentId, u64>, f| n.get(&f) == Some(&1);
            let site = if is_only(&outs, a) {
                Site::After(a)
            } else if is_only(&ins, b) && entry != Some(b) && !external_edges.arrivals.contains(&b)
            {
                Site::Before(b)
            } else {
                Site::Edge(a, b)
            };
            let ways = outs.get(&a).copied().unwrap_or(1);
            edges.push(Edge::new(at(a), at(b), weights.edge(a, b, ways, site)));
            sites.push(Some(site));
        }
        for f in all {
            let last = method.flow.get(f).map(|f| f.instructions.end - 1);
            if last.is_some_and(|i| is_return(method.instructions[i].1.op())) {
                edges.push(Edge::new(at(f), Endpoint::Outside, Weights::ONE_PASS));
                sites.push(Some(Site::After(f)));
            }
        }
        let flow = CountedGraph::new(method.flow.len() as u32, &edges);
        let placed = flow.edges.iter().zip(sites);
        let sites = placed.filter_map(|(e, site)| Some((site?, e.counter?)));
        CounterPlan {
            sites: sites.collect(),
            flow,
            arrivals: 0,
            departures,
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
            },
        };
        counts.chain([external]).collect()
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
        let depth = self.depth[a.index()].min(self.depth[b.index()]).min(10);
        let weight = (Weights::ONE_PASS << (3 * depth)) / ways.max(1);
        // The loop depth is also the high part of the weight. All edges of an inner loop therefore
        // go without a counter before any edge of an outer loop does.
        let weight = weight + (u64::from(depth) << 48);
        match site {
            Site::Edge(..) => weight + weight / 4,
            _ => weight,
        }
    }
}
