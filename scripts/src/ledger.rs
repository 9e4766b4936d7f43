//! Who attached what: so that a plan that fails while it is loaded leaves nothing behind, and so that
//! everything can be taken off at once.

use crate::context::lock;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use veneer_instruments::{AttachError, InstrumentId, PatchId, Runtime};

/// Something that can be taken off again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thing {
    /// An instrument.
    Instrument(InstrumentId),
    /// An edit of flow graphs.
    Patch(PatchId),
}

impl fmt::Display for Thing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Thing::Instrument(id) => write!(f, "{id}"),
            Thing::Patch(id) => write!(f, "{id}"),
        }
    }
}

impl Thing {
    pub(crate) fn take_off(self, runtime: &dyn Runtime) -> Result<(), AttachError> {
        match self {
            Thing::Instrument(id) => runtime.detach(id),
            Thing::Patch(id) => runtime.undo(id),
        }
    }
}

struct Entry {
    load: u64,
    plan: String,
    thing: Thing,
}

/// What is attached, in order of attachment.
#[derive(Default)]
pub(crate) struct Ledger(Mutex<Vec<Entry>>);

impl Ledger {
    pub(crate) fn attached(&self, load: u64, plan: &str, thing: Thing) {
        lock(&self.0).push(Entry {
            load,
            plan: plan.to_owned(),
            thing,
        });
    }

    pub(crate) fn detached(&self, thing: Thing) {
        lock(&self.0).retain(|entry| entry.thing != thing);
    }

    /// What one load of a plan has attached, newest first (the order in which to take it off), with the plan's name.
    pub(crate) fn of_load(&self, load: u64) -> Vec<(String, Thing)> {
        let entries = lock(&self.0);
        let of_load = entries.iter().rev().filter(|entry| entry.load == load);
        of_load
            .map(|entry| (entry.plan.clone(), entry.thing))
            .collect()
    }

    /// Takes off what one load has attached, newest first; the instruments and edits of other loads stay. What goes wrong is printed.
    pub(crate) fn take_off(&self, load: u64, runtime: &dyn Runtime) {
        for (plan, thing) in self.of_load(load) {
            if let Err(error) = thing.take_off(runtime) {
                runtime.print(&format!("{plan}: while taking the plan back: {error}"));
            }
            self.detached(thing);
        }
    }

    /// What stands, by load.
    pub(crate) fn by_load(&self) -> BTreeMap<u64, Vec<Thing>> {
        let mut loads = BTreeMap::<u64, Vec<Thing>>::new();
        for entry in lock(&self.0).iter() {
            loads.entry(entry.load).or_default().push(entry.thing);
        }
        loads
    }

    /// Everything, newest first.
    pub(crate) fn all(&self) -> Vec<Thing> {
        lock(&self.0)
            .iter()
            .rev()
            .map(|entry| entry.thing)
            .collect()
    }

    /// The instruments of the plans of this name, oldest first.
    pub(crate) fn instruments_of(&self, plan: &str) -> Vec<InstrumentId> {
        let entries = lock(&self.0);
        let instruments = entries.iter().filter_map(|entry| match entry.thing {
            Thing::Instrument(id) if entry.plan == plan => Some(id),
            _ => None,
        });
        instruments.collect()
    }
}
