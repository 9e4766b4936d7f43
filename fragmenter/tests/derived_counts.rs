//! Compares derived counts with true ones. Random activations of methods of the JDKs pass the join points
//! of a placement, are left by exceptions, leave at capture points and return there, and some never end.

mod classfile_support;

use std::collections::HashMap;

use veneer_fragmenter::advice::{ProbeAction, Site};
use veneer_fragmenter::arming::{self, ArmedCode};
use veneer_fragmenter::bytecode::opcode::{is_return, may_throw};
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::counting::{CounterPlan, ExternalEdges, calls_and_allocations};
use veneer_fragmenter::flowgraph::FragmentId;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::points::PointKind;
use veneer_fragmenter::policy::Policy;
use veneer_frequency::{EdgeProfile, Endpoint};
use veneer_names::CounterSlot;

/// Each n-th class is simulated.
const SPARSE: usize = 23;
/// The activations of each method.
const ACTIVATIONS: usize = 12;
/// The most fragments that an activation enters.
const MAX_FRAGMENTS: usize = 60;

/// Pseudorandom numbers by a linear congruential generator (constants of Knuth's MMIX).
struct Random(u64);

impl Random {
    /// A number below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    /// Picks an element.
    fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        match from {
            [] => None,
            _ => from.get(self.below(from.len())).copied(),
        }
    }
}

/// The activations of one method, with a placement of counters.
struct Simulation<'m> {
    method: &'m Method<'m>,
    armed: &'m ArmedCode,
    plan: &'m CounterPlan,
    external: ExternalEdges,
    /// The first counters of external entries and exits.
    first_arrival: usize,
    first_departure: usize,
    counters_at: HashMap<Site, Vec<usize>>,
    counters: Vec<u64>,
    /// The true counts.
    activations: u64,
    fragments: HashMap<FragmentId, u64>,
    edges: HashMap<(FragmentId, FragmentId), u64>,
    instructions: HashMap<usize, u64>,
    /// The nodes of the activations that have not ended.
    inside: Vec<u32>,
}

impl<'m> Simulation<'m> {
    fn new(method: &'m Method<'m>, armed: &'m ArmedCode, plan: &'m CounterPlan) -> Self {
        let mut counters_at: HashMap<Site, Vec<usize>> = HashMap::new();
        let (mut first_arrival, mut first_departure) = (0, 0);
        for probe in plan.probes(CounterSlot(0)) {
            match probe.action {
                ProbeAction::CountBuffered { slot } => {
                    counters_at
                        .entry(probe.site)
                        .or_default()
                        .push(slot.0 as usize);
                }
                ProbeAction::CountExternalEdge {
                    arrivals,
                    departures,
                    ..
                } => {
                    (first_arrival, first_departure) = (arrivals.0 as usize, departures.0 as usize)
                }
                other => panic!("{other:?} is no action of a placement"),
            }
        }
        Simulation {
            method,
            armed,
            plan,
            external: ExternalEdges::entries_and_exits(method, &armed.points, &plan.steps),
            first_arrival,
            first_departure,
            counters_at,
            counters: vec![0; plan.flow.counter_count() as usize],
            activations: 0,
            fragments: HashMap::new(),
            edges: HashMap::new(),
            instructions: HashMap::new(),
            inside: Vec::new(),
        }
    }

    fn pass(&mut self, site: Site) {
        for counter in self.counters_at.get(&site).into_iter().flatten() {
            self.counters[*counter] += 1;
        }
    }

    fn arrive(&mut self, at: FragmentId, by: i64) {
        let place = self.external.arrivals.iter().position(|f| *f == at);
        let counter = self.first_arrival + place.expect("a fragment that activations enter");
        self.counters[counter] = self.counters[counter].wrapping_add_signed(by);
    }

    fn depart(&mut self, from: u32) {
        let place = self
            .external
            .departures
            .iter()
            .position(|node| *node == from);
        let counter = self.first_departure + place.expect("a node that activations leave");
        self.counters[counter] += 1;
    }

    fn has_point(&self, fragment: FragmentId, kind: PointKind) -> bool {
        let mut points = self.armed.points.iter();
        points.any(|p| p.fragment == fragment && p.kind == kind)
    }

    /// Enters a fragment. Returns whether the activation goes on: it may leave at a capture point.
    fn enter(&mut self, fragment: FragmentId, random: &mut Random) -> bool {
        if self.has_point(fragment, PointKind::Fragment) && random.below(8) == 0 {
            self.arrive(fragment, -1);
            return false;
        }
        *self.fragments.entry(fragment).or_default() += 1;
        self.pass(Site::Before(fragment));
        true
    }

    /// Runs one activation.
    fn run(&mut self, random: &mut Random) {
        let method = self.method;
        let entry = &self.armed.points[0];
        let points = self.armed.points.iter();
        let resumed = points.filter(|p| p.kind == PointKind::Fragment);
        let resumed: Vec<FragmentId> = resumed.map(|p| p.fragment).collect();
        let resumed = random.pick(&resumed).filter(|_| random.below(4) == 0);
        let mut fragment = resumed.unwrap_or(entry.fragment);
        let mut first = None;
        match resumed {
            Some(fragment) => self.arrive(fragment, 1),
            None => {
                self.activations += 1;
                self.pass(Site::Entry);
                first = Some(entry.instruction);
            }
        }
        if !self.enter(fragment, random) {
            return;
        }
        for _ in 0..MAX_FRAGMENTS {
            let range = method
                .flow
                .get(fragment)
                .expect("a fragment")
                .instructions
                .clone();
            let begin = first.take().unwrap_or(range.start);
            let next = match self.run_instructions(fragment, begin..range.end, random) {
                Next::Ended => return,
                Next::Fragment(next) => next,
            };
            if !self.enter(next, random) {
                return;
            }
            fragment = next;
        }
        // It counts as if it had reached the first instruction that may throw.
        self.inside.push(fragment.0);
        let range = method
            .flow
            .get(fragment)
            .expect("a fragment")
            .instructions
            .clone();
        for index in range {
            let (pc, _) = method.instructions[index];
            if self.plan.steps.node_at(fragment, pc) == fragment.0 {
                *self.instructions.entry(index).or_default() += 1;
            }
        }
    }

    /// Runs the instructions of a fragment.
    fn run_instructions(
        &mut self,
        fragment: FragmentId,
        range: std::ops::Range<usize>,
        random: &mut Random,
    ) -> Next {
        let method = self.method;
        let successors = method.flow.successors(fragment);
        for index in range.clone() {
            let (pc, instruction) = &method.instructions[index];
            let op = instruction.op();
            let node = self.plan.steps.node_at(fragment, *pc);
            let is_last = index + 1 == range.end;
            if is_last && is_return(op) {
                if self.has_point(fragment, PointKind::Exit) && random.below(8) == 0 {
                    self.depart(self.plan.steps.last_node(fragment));
                } else {
                    self.pass(Site::After(fragment));
                }
                return Next::Ended;
            }
            self.pass(Site::At(*pc));
            *self.instructions.entry(index).or_default() += 1;
            if may_throw(op) && random.below(200) == 0 {
                self.inside.push(node);
                return Next::Ended;
            }
            let must_throw = is_last && successors.is_empty();
            if must_throw || may_throw(op) && random.below(16) == 0 {
                self.depart(node);
                let handlers = method.flow.handlers(fragment);
                return match random.pick(&handlers).filter(|_| random.below(4) > 0) {
                    Some(handler) => {
                        self.arrive(handler, 1);
                        Next::Fragment(handler)
                    }
                    None => Next::Ended,
                };
            }
        }
        let Some(next) = random.pick(&successors) else {
            return Next::Ended;
        };
        self.pass(Site::After(fragment));
        self.pass(Site::Edge(fragment, next));
        *self.edges.entry((fragment, next)).or_default() += 1;
        Next::Fragment(next)
    }

    fn solve(&self) -> EdgeProfile {
        let counter = |counter: u32| self.counters[counter as usize];
        self.plan.flow.solve(counter, &self.inside)
    }
}

/// The continuation of an activation after a fragment.
enum Next {
    Fragment(FragmentId),
    Ended,
}

/// Simulates activations, and checks the counts of all fragments and edges.
fn check_all(method: &Method, armed: &ArmedCode, random: &mut Random) {
    let plan = CounterPlan::place_counters(method, &armed.points);
    let mut simulation = Simulation::new(method, armed, &plan);
    (0..ACTIVATIONS).for_each(|_| simulation.run(random));
    let counts = simulation.solve();
    for (fragment, count) in &simulation.fragments {
        assert_eq!(counts.node_count(fragment.0), *count, "{fragment}");
    }
    for ((a, b), count) in &simulation.edges {
        let derived = counts.edge_count(Endpoint::Node(a.0), Endpoint::Node(b.0));
        assert_eq!(derived, *count, "{a} to {b}");
    }
}

/// Simulates activations, and checks the counts of the entry, of all calls and of all allocations.
/// Returns the number of counters with which these places have one each, and with derived counts;
/// the counters of external edges are left out. `None` if counts are not derived.
fn check_calls(method: &Method, armed: &ArmedCode, random: &mut Random) -> Option<(usize, usize)> {
    let calls = calls_and_allocations(method, &armed.points);
    let plan = CounterPlan::place_at_instructions(method, &armed.points, &calls)?;
    let mut simulation = Simulation::new(method, armed, &plan);
    (0..ACTIVATIONS).for_each(|_| simulation.run(random));
    let counts = simulation.solve();
    let entry = plan.node(method, Site::Entry).expect("a node of the entry");
    assert_eq!(counts.node_count(entry), simulation.activations, "entry");
    for index in &calls {
        let site = Site::At(method.instructions[*index].0);
        let node = plan.node(method, site).expect("a node of the instruction");
        let count = simulation.instructions.get(index).copied();
        assert_eq!(counts.node_count(node), count.unwrap_or(0), "{site}");
    }
    Some((
        calls.len() + 1,
        simulation.counters_at.values().flatten().count(),
    ))
}

#[test]
fn derived_counts_are_those_of_random_activations() {
    let mut random = Random(7);
    let (mut n, mut derived, mut own_counters, mut counters) = (0, 0, 0, 0);
    classfile_support::for_each_class("quick", classfile_support::QUICK, |path, bytes| {
        n += 1;
        let Some(file) = ClassFile::parse(bytes).ok().filter(|_| n % SPARSE == 0) else {
            return;
        };
        for policy in [Policy::Loop, Policy::Block] {
            for index in 0..file.methods.len() {
                let method = Method::analyse(&file, index, &|i, p| policy.cuts(i, p));
                let Ok(method) = method else { continue };
                let Ok(armed) = arming::layout(&method, &policy, true) else {
                    continue;
                };
                let place = format!("{}: {}", path.display(), method.name);
                let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    check_all(&method, &armed, &mut random);
                    check_calls(&method, &armed, &mut random)
                }));
                match checked {
                    Ok(Some((own, few))) => {
                        derived += 1;
                        own_counters += own;
                        counters += few;
                    }
                    Ok(None) => {}
                    Err(_) => panic!("{place}: see above"),
                }
            }
        }
    });
    println!("{derived} methods: {counters} counters instead of {own_counters}");
    assert!(derived > 300, "{derived}");
    assert!(2 * counters < own_counters, "{counters} and {own_counters}");
}
