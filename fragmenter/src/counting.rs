//! Counting all fragments or edges of a method with few counters: what flows into a fragment flows out of it.
//!
//! ```text
//!             ┌── entry ──▶ f0 ──▶ f1 ◀──┐              ──▶ edges of the flow graph: some have a counter, see
//!   outside ──┤                    │     │                  `veneer_frequency`
//!             ├┄┄ arrivals ┄┄▶ f2 ◀┘┄┄┄┄▶ f3            ┄▶ arrivals:   resumed at a capture point, or a handler caught
//!             ◀┄┄ departures ┄┄ │                          departures: an exception, or on at a capture point before
//!             ◀── return ───────┘                                      a return; both always have one
//! ```
//!
//! An activation that leaves at a capture point before a fragment has come in and done nothing there: it takes its arrival back.
//! So the sums are those of all activations, whichever versions they pass through; what does not count at all meanwhile, as the
//! armed body, is outside.
//!
//! Only for the method's own graph: after an [`Edit`](crate::patch::Edit) every fragment needs its own counter.

use crate::advice::{Action, Probe, Site};
use crate::bytecode::opcode::{is_return, may_throw};
use crate::flowgraph::{EdgeKind, FragmentId};
use crate::method::Method;
use crate::points::{Point, PointKind, reachable};
use std::collections::HashMap;
use veneer_frequency::{Edge, Flow, Node};

/// Fragments that are entered and left otherwise than along edges. A fragment's place in the list is that of its counter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Crossings {
    /// Those with a capture point at their start, and handlers.
    pub arrivals: Vec<FragmentId>,
    /// Those that may throw, or have a capture point before their return.
    pub departures: Vec<FragmentId>,
}

impl Crossings {
    /// Those of a method with these capture points.
    pub fn of(method: &Method, points: &[Point]) -> Crossings {
        let mut come = vec![false; method.flow.len()];
        let mut go = vec![false; method.flow.len()];
        for p in points {
            match p.kind {
                PointKind::Fragment => come[p.fragment.index()] = true,
                PointKind::Exit => go[p.fragment.index()] = true,
                PointKind::Entry => {}
            }
        }
        for edge in method.flow.graph.raw_edges() {
            if let EdgeKind::Handler(_) = edge.weight {
                come[edge.target().index()] = true;
            }
        }
        for f in method.flow.fragments() {
            let throws = |i: usize| may_throw(method.instructions[i].1.op());
            go[f.id.index()] |= f.instructions.clone().any(throws);
        }
        let all = reachable(method, points);
        let those = |marked: Vec<bool>| {
            let all = all.iter().copied();
            all.filter(|f| marked[f.index()]).collect::<Vec<_>>()
        };
        Crossings {
            arrivals: those(come),
            departures: those(go),
        }
    }
}

/// The counters of one method.
#[derive(Clone, Debug, PartialEq)]
pub struct Counting {
    /// The graph, with the counters that it needs; they are numbered from 0.
    pub flow: Flow,
    /// Where the counters of edges stand.
    sites: Vec<(Site, u32)>,
    /// The first counters of arrivals and of departures.
    arrivals: u32,
    departures: u32,
}

impl Counting {
    /// Places the counters. The more loops an edge is in, the rather it goes without.
    pub fn of(method: &Method, points: &[Point]) -> Counting {
        let crossings = Crossings::of(method, points);
        let all = reachable(method, points);
        let mut inside = vec![false; method.flow.len()];
        all.iter().for_each(|f| inside[f.index()] = true);
        let at = |f: FragmentId| Node::At(f.0);
        let (mut edges, mut sites) = (Vec::new(), Vec::new());
        // Counters are numbered along the list: those that are always there first.
        let to = crossings.arrivals.iter();
        edges.extend(to.map(|f| Edge::counted(Node::Outside, at(*f))));
        let departures = edges.len() as u32;
        let from = crossings.departures.iter();
        edges.extend(from.map(|f| Edge::counted(at(*f), Node::Outside)));
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
        let weights = Weights::of(method);
        if let Some(p) = points.first() {
            edges.push(Edge::new(Node::Outside, at(p.fragment), weights.once()));
            sites.push(Some(Site::Entry));
        }
        let entry = points.first().map(|p| p.fragment);
        for (a, b) in inner {
            let alone = |n: &HashMap<FragmentId, u64>, f| n.get(&f) == Some(&1);
            let site = if alone(&outs, a) {
                Site::After(a)
            } else if alone(&ins, b) && entry != Some(b) && !crossings.arrivals.contains(&b) {
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
                edges.push(Edge::new(at(f), Node::Outside, weights.once()));
                sites.push(Some(Site::After(f)));
            }
        }
        let flow = Flow::of(method.flow.len() as u32, &edges);
        let placed = flow.edges.iter().zip(sites);
        let sites = placed.filter_map(|(e, site)| Some((site?, e.counter?)));
        Counting {
            sites: sites.collect(),
            flow,
            arrivals: 0,
            departures,
        }
    }

    /// The advice, where the method has counters from `first` on.
    pub fn probes(&self, first: u32) -> Vec<Probe> {
        let counts = self.sites.iter().map(|(site, counter)| Probe {
            site: *site,
            action: Action::Gather {
                slot: first + counter,
            },
        });
        let balance = Probe {
            site: Site::Crossing,
            action: Action::Balance {
                arrivals: first + self.arrivals,
                departures: first + self.departures,
            },
        };
        counts.chain([balance]).collect()
    }
}

/// How often edges are expected to be passed, relative to an activation.
struct Weights {
    depth: Vec<u32>,
}

impl Weights {
    /// Of an edge that is passed once, and has no other way beside it.
    const ONCE: u64 = 1 << 8;

    fn of(method: &Method) -> Weights {
        let nodes = method.flow.graph.node_indices();
        Weights {
            depth: nodes.map(|n| method.loops.nest(n).len() as u32).collect(),
        }
    }

    fn once(&self) -> u64 {
        Weights::ONCE
    }

    /// A round of a loop eight times as often as the loop; of several ways each as often as the others. A counter that needs a
    /// place of its own, off the straight way, is dearer.
    fn edge(&self, a: FragmentId, b: FragmentId, ways: u64, site: Site) -> u64 {
        let depth = self.depth[a.index()].min(self.depth[b.index()]).min(10);
        let often = (Weights::ONCE << (3 * depth)) / ways.max(1);
        // All ways of a loop before any around it: then what its counters do not have yet is not missed elsewhere.
        let often = often + (u64::from(depth) << 48);
        match site {
            Site::Edge(..) => often + often / 4,
            _ => often,
        }
    }
}
