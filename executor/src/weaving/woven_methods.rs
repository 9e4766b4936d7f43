//! What is woven into each method now, and bringing the JVM to it.
//!
//! Every method with advice or edits has an entry here. [`Methods::prepare`] takes a snapshot of it and emits a version (or
//! none); [`Methods::carry_out`] installs that, for all methods that change together. No lock is held meanwhile, so two threads may
//! do this at once: a sequence number says afterwards whether what was installed is still what is wanted; where not, it is done
//! again.

use crate::jvm::jni::Global;
use crate::weaving::counter_block::Row;
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use veneer_fragmenter::advice::{Action, Probe, Site};
use veneer_fragmenter::flowgraph::FragmentId;
use veneer_fragmenter::patch::Edit;
use veneer_instruments::{InstrumentId, PatchId};

/// The most counters that an armed body counts at its entry by itself; `VeneerToken` has as many fields.
const MAX_ENTRY_COUNTERS: usize = 4;

/// An instrument in a method.
pub struct Stands {
    pub instrument: InstrumentId,
    pub probes: Probes,
    /// It was in a version that took effect.
    pub proven: bool,
}

#[derive(Default)]
pub struct Woven {
    /// Rises with every change.
    pub sequence: u64,
    pub probes: Vec<Stands>,
    pub edits: Vec<(PatchId, Vec<Edit>)>,
    /// Fragments at which a version has or had an edit point: an activation may still come from there.
    pub kept: BTreeSet<FragmentId>,
    /// The token of the version that is installed; `None` for IDLE. Weak: a token leads to its version, and so to the loader.
    pub token: Option<Arc<Global>>,
    /// New activations run the armed body, which counts them.
    pub counts: bool,
    /// The classes that new activations and running ones are in, as far as they are up to date. Weak.
    pub enter: Option<Global>,
    pub resume: Option<Global>,
}

/// The probes of one instrument in one method.
#[derive(Clone, Default)]
pub struct Probes {
    /// With a counter for each point.
    pub each: Vec<Probe>,
    /// With a row of counters from which the points follow, until the graph is edited.
    pub by_flow: Option<(Vec<Probe>, Arc<Row>)>,
}

#[derive(Clone, Default)]
pub struct Snapshot {
    pub sequence: u64,
    pub probes: Vec<Probe>,
    /// Rows that the probes write to.
    pub rows: Vec<Arc<Row>>,
    pub edits: Vec<Edit>,
}

impl Snapshot {
    pub fn is_idle(&self) -> bool {
        self.probes.is_empty() && self.edits.is_empty()
    }

    /// The offsets of the counters, if nothing but the method's entry is counted: the armed body does that by itself.
    pub fn entry_counters(&self) -> Option<Vec<i32>> {
        let offset = |p: &Probe| match (&p.site, &p.action) {
            (Site::Entry, Action::Count { slot }) => i32::try_from(u64::from(*slot) * 8).ok(),
            _ => None,
        };
        let few = (1..=MAX_ENTRY_COUNTERS).contains(&self.probes.len()) && self.edits.is_empty();
        let offsets: Option<Vec<i32>> = self.probes.iter().map(offset).collect();
        offsets.filter(|_| few)
    }
}

/// See the module documentation.
#[derive(Default)]
pub struct Methods {
    woven: Mutex<HashMap<u32, Woven>>,
    /// Each point has its own counter from now on.
    each: AtomicBool,
    /// Version classes defined so far.
    pub versions: AtomicU64,
}

impl Methods {
    pub fn woven(&self) -> MutexGuard<'_, HashMap<u32, Woven>> {
        self.woven.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Adds an instrument's probes to a method. Takes effect with [`Methods::prepare`] and [`Methods::carry_out`].
    pub fn add_probes(&self, id: u32, instrument: InstrumentId, probes: Probes) {
        let mut woven = self.woven();
        let entry = woven.entry(id).or_default();
        entry.sequence += 1;
        // In the order in which they were attached, whenever they came here: code may have waited for a class.
        let at = entry.probes.partition_point(|p| p.instrument <= instrument);
        let stands = Stands {
            instrument,
            probes,
            proven: false,
        };
        entry.probes.insert(at, stands);
    }

    /// Takes an instrument off a method.
    pub fn remove_probes(&self, id: u32, instrument: InstrumentId) {
        if let Some(entry) = self.woven().get_mut(&id) {
            entry.sequence += 1;
            entry.probes.retain(|p| p.instrument != instrument);
        }
    }

    /// Takes off a method what has never been in a version of it that took effect.
    pub fn remove_unproven(&self, id: u32) -> Vec<InstrumentId> {
        let mut woven = self.woven();
        let Some(entry) = woven.get_mut(&id) else {
            return Vec::new();
        };
        entry.sequence += 1;
        let gone = entry.probes.extract_if(.., |p| !p.proven);
        gone.map(|p| p.instrument).collect()
    }

    /// Whether nothing is counted by flow.
    pub fn counts_each(&self) -> bool {
        self.each.load(Ordering::Acquire)
    }

    /// Has every point count for itself, once its method is updated. Gives the methods where that is a change.
    pub fn count_each(&self) -> Vec<u32> {
        let mut woven = self.woven();
        if self.each.swap(true, Ordering::AcqRel) {
            return Vec::new();
        }
        let mut changed = Vec::new();
        for (id, entry) in woven.iter_mut() {
            if entry.probes.iter().any(|p| p.probes.by_flow.is_some()) {
                entry.sequence += 1;
                changed.push(*id);
            }
        }
        changed
    }

    /// Adds edits to a method.
    pub fn add_edits(&self, id: u32, patch: PatchId, edits: Vec<Edit>) {
        let mut woven = self.woven();
        let entry = woven.entry(id).or_default();
        entry.sequence += 1;
        entry.edits.push((patch, edits));
    }

    /// Takes edits back.
    pub fn remove_edits(&self, id: u32, patch: PatchId) {
        if let Some(entry) = self.woven().get_mut(&id) {
            entry.sequence += 1;
            entry.edits.retain(|p| p.0 != patch);
        }
    }

    /// Drops all that is woven into methods that are gone.
    pub fn forget(&self, is_gone: &dyn Fn(u32) -> bool) {
        let mut woven = self.woven();
        // Their references are given back to the JVM when the lock is free again.
        let _gone: Vec<_> = woven.extract_if(|id, _| is_gone(*id)).collect();
        woven.shrink_to_fit();
        drop(woven);
    }

    /// Whether a method runs its armed body, with nothing woven in.
    pub fn is_idle(&self, id: u32) -> bool {
        let woven = self.woven();
        woven
            .get(&id)
            .is_none_or(|w| w.token.is_none() && w.probes.is_empty() && w.edits.is_empty())
    }

    /// The edits of a method, in order.
    pub fn edits(&self, id: u32) -> Vec<Edit> {
        self.woven().get(&id).map_or_else(Vec::new, |w| {
            w.edits.iter().flat_map(|e| e.1.iter().copied()).collect()
        })
    }

    /// The fragments at which versions of a method have or had an edit point.
    pub fn kept(&self, id: u32) -> Vec<FragmentId> {
        let woven = self.woven();
        woven
            .get(&id)
            .map_or_else(Vec::new, |w| w.kept.iter().copied().collect())
    }

    pub fn snapshot(&self, id: u32) -> Snapshot {
        let woven = self.woven();
        let Some(entry) = woven.get(&id) else {
            return Snapshot::default();
        };
        let (mut probes, mut rows) = (Vec::new(), Vec::new());
        for Stands { probes: of, .. } in &entry.probes {
            match &of.by_flow {
                // At an edit point activations come and go that a row does not know.
                Some((some, row))
                    if entry.edits.is_empty() && entry.kept.is_empty() && !self.counts_each() =>
                {
                    probes.extend(some.iter().cloned());
                    rows.push(row.clone());
                }
                _ => probes.extend(of.each.iter().cloned()),
            }
        }
        Snapshot {
            sequence: entry.sequence,
            probes,
            rows,
            edits: entry
                .edits
                .iter()
                .flat_map(|e| e.1.iter().copied())
                .collect(),
        }
    }
}
