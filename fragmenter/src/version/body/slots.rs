//! The version's own local variables. Their slots are above those of the method.

use crate::advice::ProbeAction;
use crate::counted_steps::CountedSteps;
use crate::flowgraph::FragmentId;
use crate::patch::Patched;
use crate::refusal::Refusal;
use crate::runtime;
use crate::types::{State, Type};
use crate::version::plan::{Bodies, VersionPlan};
use crate::version::promoted_loops::{PromotedLoop, looked_at, promoted_loops};
use indexmap::IndexMap;
use std::collections::BTreeSet;
use veneer_names::CounterSlot;

/// The slots of the version's own local variables.
pub(in crate::version) struct Slots {
    pub(super) shard: Option<u16>,
    /// The shard during a window of a sampled recording, otherwise 0.
    pub window: Option<u16>,
    pub(super) position: Option<u16>,
    /// The frame from which to resume. The local is null once the activation has reached its
    /// position.
    pub frame: Option<u16>,
    pub(super) timers: IndexMap<CounterSlot, u16>,
    /// Locals that hold the byte offset of a counter: the counter of external exits from the node
    /// that currently runs. The key is the number of the first such counter.
    pub(super) exit_counters: IndexMap<CounterSlot, u16>,
    /// Loops whose counters are locals.
    pub promoted: Vec<PromotedLoop>,
    /// Headers of loops in which each iteration looks at the window of a sampled recording.
    pub looked_at: BTreeSet<FragmentId>,
    /// First unused slot, for short-lived values.
    pub temp: u16,
}

impl Slots {
    pub(super) fn new(
        plan: &VersionPlan,
        patched: &Patched,
        bodies: Bodies,
        tracking: bool,
        throws: bool,
    ) -> Slots {
        let mut next = plan.method.code.max_locals;
        let mut allocate = |n: u16| {
            next += n;
            next - n
        };
        let writes = |a: &ProbeAction| !matches!(a, ProbeAction::Log { .. }) && !a.is_in_window();
        let shard = plan
            .probes
            .iter()
            .any(|p| writes(&p.action))
            .then(|| allocate(2));
        let has_windows = plan.probes.iter().any(|p| p.action.is_in_window());
        let window = has_windows.then(|| allocate(2));
        let position = tracking.then(|| allocate(1));
        let frame = (bodies == Bodies::Resume).then(|| allocate(1));
        let mut timers = IndexMap::new();
        for t in plan.probes.iter().filter_map(|p| p.action.timer()) {
            timers.entry(t).or_insert_with(|| allocate(2));
        }
        let mut exit_counters = IndexMap::new();
        for external in external_counters(plan).filter(|_| throws) {
            exit_counters
                .entry(external.departures)
                .or_insert_with(|| allocate(1));
        }
        let promoted = promoted_loops(plan, patched, &mut allocate);
        let looked_at = looked_at(plan, patched, &promoted);
        Slots {
            shard,
            window,
            position,
            frame,
            timers,
            exit_counters,
            promoted,
            looked_at,
            temp: next,
        }
    }

    pub fn shard(&self) -> Result<u16, Refusal> {
        self.shard
            .ok_or_else(|| Refusal::Internal("a counter without a shard".into()))
    }

    pub fn window(&self) -> Result<u16, Refusal> {
        self.window
            .ok_or_else(|| Refusal::Internal("a sampled counter without a window".into()))
    }

    /// The local that holds a counter, if the counter is promoted.
    pub fn promoted(&self, slot: CounterSlot) -> Option<u16> {
        let found = self.promoted.iter().find_map(|l| l.counters.get(&slot));
        found.copied()
    }

    pub fn timer(&self, slot: CounterSlot) -> Result<u16, Refusal> {
        self.timers
            .get(&slot)
            .copied()
            .ok_or_else(|| Refusal::Internal("a timer without a local".into()))
    }

    /// Adds the version's own locals to a state of the method.
    pub(super) fn extend(&self, mut state: State) -> State {
        state.locals.resize(self.temp as usize, Type::Top);
        let mut set = |slot: u16, t: Type| state.locals[slot as usize] = t;
        if let Some(s) = self.shard {
            set(s, Type::Long);
        }
        if let Some(s) = self.window {
            set(s, Type::Long);
        }
        if let Some(s) = self.position {
            set(s, Type::Int);
        }
        if let Some(s) = self.frame {
            set(s, Type::object(runtime::FRAME));
        }
        self.timers.values().for_each(|s| set(*s, Type::Long));
        self.exit_counters.values().for_each(|s| set(*s, Type::Int));
        for one in &self.promoted {
            let locals = one.counters.values().chain([&one.iterations]);
            locals.for_each(|s| set(*s, Type::Int));
        }
        state
    }
}

/// The counters of external entries and exits of one placement of spanning-tree counters.
pub(super) struct ExternalCounters<'p> {
    /// The first counter of external entries.
    pub arrivals: CounterSlot,
    /// The first counter of external exits.
    pub departures: CounterSlot,
    /// The nodes that begin inside a fragment.
    pub steps: &'p CountedSteps,
}

/// The counters of external entries and exits, for each placement of spanning-tree counters.
pub(super) fn external_counters<'p>(
    plan: &'p VersionPlan,
) -> impl Iterator<Item = ExternalCounters<'p>> + 'p {
    plan.probes.iter().filter_map(|p| match &p.action {
        ProbeAction::CountExternalEdge {
            arrivals,
            departures,
            steps,
        } => Some(ExternalCounters {
            arrivals: *arrivals,
            departures: *departures,
            steps,
        }),
        _ => None,
    })
}
