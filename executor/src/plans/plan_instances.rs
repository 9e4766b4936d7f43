//! Which plans were loaded, and for whom: what `status` tells, and `detach` works on.

use crate::plans::instrument_registry::{Patch, Table};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use veneer_instruments::{Kind, PatchId};
use veneer_protocol as p;
use veneer_scripts::{Component, Left, Session, Thing};

/// Who a plan belongs to.
#[derive(Clone, Debug)]
pub struct Load {
    /// The plan's name.
    pub plan: String,
    /// In words.
    pub owner: String,
    /// It goes when its client does.
    pub held: bool,
    /// Milliseconds from the agent's start.
    pub since: u64,
}

#[derive(Default)]
struct State {
    session: Option<Arc<Session>>,
    loads: BTreeMap<u64, Load>,
}

/// See the module documentation.
#[derive(Default)]
pub struct Loads(Mutex<State>);

impl Loads {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The session that has all plans from now on.
    pub fn open(&self, session: Arc<Session>) {
        *self.state() = State {
            session: Some(session),
            loads: BTreeMap::new(),
        };
    }

    /// A plan begins.
    pub fn begin(&self, load: u64, of: Load) {
        let mut left: BTreeSet<u64> = self.left().into_keys().collect();
        left.extend(self.deployed().iter().map(|component| component.load));
        let mut state = self.state();
        // Those of which nothing is left are forgotten, so that the list does not grow.
        state.loads.retain(|load, _| left.contains(load));
        state.loads.insert(load, of);
    }

    /// What is left of each load.
    fn left(&self) -> BTreeMap<u64, Left> {
        let session = self.state().session.clone();
        session.map_or_else(BTreeMap::new, |session| session.left())
    }

    fn deployed(&self) -> Vec<Component> {
        let session = self.state().session.clone();
        session.map_or_else(Vec::new, |session| session.components())
    }

    /// For `status`: what plans have deployed, the oldest first.
    pub fn components(&self) -> Vec<p::Component> {
        let deployed = self.deployed().into_iter();
        let known = self.state().loads.clone();
        deployed
            .filter_map(|one| known.get(&one.load).map(|of| component(one, of)))
            .collect()
    }

    /// For `status`: the loads of which something is left, the oldest first.
    pub fn list(&self, table: &Table) -> Vec<p::Load> {
        let left = self.left().into_iter();
        let known = self.state().loads.clone();
        left.filter_map(|(load, left)| known.get(&load).map(|of| entry(table, load, of, &left)))
            .collect()
    }
}

fn entry(table: &Table, load: u64, of: &Load, left: &Left) -> p::Load {
    let mut tables = table.lock();
    let (mut instruments, mut patches) = (Vec::new(), Vec::new());
    for thing in &left.things {
        match *thing {
            Thing::Instrument(id) => {
                instruments.extend(tables.instrument(id).map(|i| p::Attached {
                    id: id.to_string(),
                    name: i.spec.name.clone().unwrap_or_else(|| i.spec.to_string()),
                    kind: kind(&i.spec.kind),
                    methods: i.method_count() as u64,
                    points: i.standing.len() as u64,
                }))
            }
            Thing::Patch(id) => patches.extend(tables.patch(id).map(|patch| edited(id, patch))),
        }
    }
    p::Load {
        id: name(load),
        plan: of.plan.clone(),
        owner: of.owner.clone(),
        held: of.held,
        since: of.since,
        callbacks: left.callbacks as u64,
        instruments,
        patches,
    }
}

fn component(one: Component, of: &Load) -> p::Component {
    let (mut instruments, mut patches) = (Vec::new(), Vec::new());
    for thing in &one.things {
        match thing {
            Thing::Instrument(id) => instruments.push(id.to_string()),
            Thing::Patch(id) => patches.push(id.to_string()),
        }
    }
    p::Component {
        id: name(one.load),
        name: one.name,
        version: one.version,
        plan: one.plan,
        owner: of.owner.clone(),
        held: of.held,
        since: of.since,
        parameters: one.parameters,
        instruments,
        patches,
        callbacks: one.callbacks as u64,
        analyser: one.analyser,
        attached: one.attached,
    }
}

/// Asks a component's analyser. Called by the plan thread.
pub fn analyse(session: &Session, name: &str) -> Result<p::Analysis, String> {
    let analysis = session.analyse(name).map_err(|error| error.to_string())?;
    Ok(p::Analysis {
        component: analysis.name,
        version: analysis.version,
        text: analysis.text,
        value: serde_json::from_str(&analysis.json).map_err(|error| error.to_string())?,
    })
}

fn edited(id: PatchId, patch: &Patch) -> p::Edited {
    p::Edited {
        id: id.to_string(),
        patterns: patch.spec.patterns.iter().map(|p| p.to_string()).collect(),
        methods: (patch.methods.len() + patch.gone) as u64,
    }
}

/// The kind of an instrument, as the protocol has it.
pub fn kind(kind: &Kind) -> p::Kind {
    match kind {
        Kind::Counter => p::Kind::Counter,
        Kind::Timer => p::Kind::Timer,
        Kind::Log(_) => p::Kind::Log,
        Kind::Code(_) => p::Kind::Code,
    }
}

/// `l3`.
pub fn name(load: u64) -> String {
    format!("l{load}")
}

/// The number of a load by its name.
pub fn number(name: &str) -> Option<u64> {
    name.strip_prefix('l')?.parse().ok()
}
