//! The version's own locals: above those of the method.

use crate::advice::Action;
use crate::patch::Patched;
use crate::refusal::Refusal;
use crate::runtime;
use crate::types::{State, Type};
use crate::version::gather::{self, Gathered};
use crate::version::{Bodies, Plan};
use indexmap::IndexMap;

/// Where the version's own locals lie.
pub(in crate::version) struct Slots {
    pub(super) shard: Option<u16>,
    pub(super) at: Option<u16>,
    /// The frame to resume from, null once that is done.
    pub frame: Option<u16>,
    pub(super) timers: IndexMap<u32, u16>,
    /// The counter, as an offset, of departures from the fragment that runs, by the first counter of departures.
    pub(super) within: IndexMap<u32, u16>,
    /// Loops whose counters are locals.
    pub gathered: Vec<Gathered>,
    /// First slot of nobody: for short-lived values.
    pub temp: u16,
}

impl Slots {
    pub(super) fn new(
        plan: &Plan,
        patched: &Patched,
        bodies: Bodies,
        track: bool,
        throws: bool,
    ) -> Slots {
        let mut next = plan.method.code.max_locals;
        let mut take = |n: u16| {
            next += n;
            next - n
        };
        let writes = |a: &Action| !matches!(a, Action::Log { .. });
        let shard = plan
            .probes
            .iter()
            .any(|p| writes(&p.action))
            .then(|| take(2));
        let at = track.then(|| take(1));
        let frame = (bodies == Bodies::Resume).then(|| take(1));
        let mut timers = IndexMap::new();
        for t in plan.probes.iter().filter_map(|p| p.action.timer()) {
            timers.entry(t).or_insert_with(|| take(2));
        }
        let mut within = IndexMap::new();
        for (_, departures) in balances(plan).filter(|_| throws) {
            within.entry(departures).or_insert_with(|| take(1));
        }
        let gathered = gather::loops(plan, patched, &mut take);
        Slots {
            shard,
            at,
            frame,
            timers,
            within,
            gathered,
            temp: next,
        }
    }

    pub fn shard(&self) -> Result<u16, Refusal> {
        self.shard
            .ok_or_else(|| Refusal::Internal("a counter without a shard".into()))
    }

    /// The local of a counter that is one.
    pub fn gathered(&self, slot: u32) -> Option<u16> {
        let found = self.gathered.iter().find_map(|l| l.counters.get(&slot));
        found.copied()
    }

    pub fn timer(&self, slot: u32) -> Result<u16, Refusal> {
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
        if let Some(s) = self.at {
            set(s, Type::Int);
        }
        if let Some(s) = self.frame {
            set(s, Type::object(runtime::FRAME));
        }
        self.timers.values().for_each(|s| set(*s, Type::Long));
        self.within.values().for_each(|s| set(*s, Type::Int));
        for one in &self.gathered {
            let locals = one.counters.values().chain([&one.turns]);
            locals.for_each(|s| set(*s, Type::Int));
        }
        state
    }
}

/// The first counters of arrivals and of departures, of everything that counts by flow.
pub(super) fn balances<'p>(plan: &'p Plan) -> impl Iterator<Item = (u32, u32)> + 'p {
    plan.probes.iter().filter_map(|p| match p.action {
        Action::Balance {
            arrivals,
            departures,
        } => Some((arrivals, departures)),
        _ => None,
    })
}
