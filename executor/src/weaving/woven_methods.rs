//! The instrumentation of each method: the probes and edits that plans want, and the version that
//! is installed.
//!
//! ```text
//!   add / remove ─▶ sequence += 1 ─▶ snapshot ─▶ version ─▶ switch ─▶ record_switch: is the sequence still the same?
//!                        ▲                                                              │ no
//!                        └────────────────────── prepare again ◀────────────────────────┘
//! ```
//!
//! Every method with probes or edits has an entry here. [`WovenMethods::prepare`] takes a snapshot
//! of the entry and makes a version of it. [`WovenMethods::install_versions`] installs the versions
//! of all methods that change together. Both are in [`versions`](crate::weaving::versions).
//!
//! No lock is held while a version is made, so two threads may make versions of the same method at
//! once. The sequence number of an entry rises with every change. After a switch, it shows whether
//! the installed version is the wanted one; if it is not, the method is prepared again.

use crate::jvm::jni::WeakGlobal;
use crate::weaving::counter_block::CounterBlock;
use crate::weaving::release_schedule::ReleaseSchedule;
use crate::weaving::version_hosts::VersionHosts;
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;
use veneer_fragmenter::advice::{Probe, ProbeAction, Site};
use veneer_fragmenter::flowgraph::FragmentId;
use veneer_fragmenter::patch::Edit;
use veneer_instruments::{InstrumentId, PatchId};
use veneer_names::MethodId;

/// The maximum number of counters that an armed body can increment at its entry. `VeneerToken` has
/// this number of fields.
const MAX_ENTRY_COUNTERS: usize = 4;

/// The probes of one instrument in one method.
#[derive(Clone, Default)]
pub struct Probes {
    /// The probes with a counter for each point.
    pub direct: Vec<Probe>,
    /// The probes that count in a block, from which the counts of the points are derived. They are
    /// used until an edit changes the flow graph.
    pub derived: Option<(Vec<Probe>, Arc<CounterBlock>)>,
}

/// An instrument that is attached to a method.
pub struct AttachedInstrument {
    pub instrument: InstrumentId,
    pub probes: Probes,
    /// Whether a version with the probes has been installed. If a later version fails, these probes
    /// are not the reason.
    pub proven: bool,
}

/// The instrumentation of one method.
#[derive(Default)]
pub struct MethodInstrumentation {
    /// The number of changes so far.
    pub sequence: u64,
    /// The attached instruments, in the order of their ids.
    pub instruments: Vec<AttachedInstrument>,
    pub edits: Vec<(PatchId, Vec<Edit>)>,
    /// The edits that split the method, or have split it. Activations may still move between parts, so
    /// the version without probes and edits has the same parts.
    pub split: Vec<Edit>,
    /// The fragments at which a version has or had an edit point. An activation may still arrive
    /// from there.
    pub edit_points: BTreeSet<FragmentId>,
    /// Whether the method's cell is not IDLE: it holds the token of a version, or of counters.
    pub holds_token: bool,
    /// Whether new activations run the armed body, which counts its entries.
    pub counts_entries: bool,
    /// The version class that new activations enter.
    pub enter_class: Option<WeakGlobal>,
    /// The version class in which running activations resume.
    pub resume_class: Option<WeakGlobal>,
}

impl MethodInstrumentation {
    /// Whether new activations run a version.
    pub fn has_version(&self) -> bool {
        self.holds_token && !self.counts_entries
    }

    fn all_edits(&self) -> Vec<Edit> {
        let lists = self.edits.iter();
        lists.flat_map(|(_, edits)| edits.iter().cloned()).collect()
    }
}

/// The wanted instrumentation of a method at one moment.
#[derive(Clone, Default)]
pub struct Snapshot {
    /// The id of the method.
    pub method: MethodId,
    /// The sequence number of the entry at that moment.
    pub sequence: u64,
    pub probes: Vec<Probe>,
    /// The counter blocks to which the probes write.
    pub blocks: Vec<Arc<CounterBlock>>,
    pub edits: Vec<Edit>,
}

impl Snapshot {
    pub fn is_idle(&self) -> bool {
        self.probes.is_empty() && self.edits.is_empty()
    }

    /// Whether the version has several parts, between which its activations move.
    pub fn is_split(&self) -> bool {
        self.edits.iter().any(|e| matches!(e, Edit::Split { .. }))
    }

    /// Whether activations leave the body `enter` for the body `resume` of the same version: to another part,
    /// or after a failed guard.
    pub fn needs_osr_entry(&self) -> bool {
        let has_guard = |e: &Edit| matches!(e, Edit::Constant { .. });
        self.is_split() || self.edits.iter().any(has_guard)
    }

    /// The byte offsets of the counters, if the probes count nothing but entries and are few
    /// enough. The armed body then counts by itself, without a version.
    pub fn entry_counters(&self) -> Option<Vec<i32>> {
        let offset = |p: &Probe| match (&p.site, &p.action) {
            (Site::Entry, ProbeAction::Count { slot }) => i32::try_from(slot.byte_offset()).ok(),
            _ => None,
        };
        let are_few = (1..=MAX_ENTRY_COUNTERS).contains(&self.probes.len());
        let offsets: Option<Vec<i32>> = self.probes.iter().map(offset).collect();
        offsets.filter(|_| are_few && self.edits.is_empty())
    }
}

/// The edits among these that split the method; none if it is not split.
pub fn split_edits(edits: &[Edit]) -> Vec<Edit> {
    if !edits.iter().any(|e| matches!(e, Edit::Split { .. })) {
        return Vec::new();
    }
    let concerns = |e: &&Edit| matches!(e, Edit::Split { .. } | Edit::Passes { .. });
    edits.iter().filter(concerns).cloned().collect()
}

/// The target that a successful switch has installed.
#[derive(Default)]
pub struct InstalledTarget {
    /// Whether the cell is not IDLE: it holds the token of a version, or of counters.
    pub holds_token: bool,
    /// The version class; `None` for IDLE and for an armed body that counts its entries.
    pub enter_class: Option<WeakGlobal>,
    pub counts_entries: bool,
}

/// The instrumentation of all methods, by method id. See the module documentation.
#[derive(Default)]
pub struct WovenMethods {
    entries: Mutex<HashMap<MethodId, MethodInstrumentation>>,
    /// Whether each point uses its own counter, so that no count is derived.
    counts_each: AtomicBool,
    /// The number of version classes defined so far.
    pub versions: AtomicU64,
    /// When [`WovenMethods::release_osr_entries`] is called next.
    pub(super) release_schedule: Mutex<ReleaseSchedule>,
    /// The classes that have, or had, versions.
    pub(super) version_hosts: VersionHosts,
}

impl WovenMethods {
    /// Locks the entries. The lock is held for short reads and writes only, and never while Java
    /// code runs.
    pub fn entries(&self) -> MutexGuard<'_, HashMap<MethodId, MethodInstrumentation>> {
        self.entries.lock()
    }

    /// Adds an instrument's probes to a method. They take effect after [`WovenMethods::prepare`]
    /// and [`WovenMethods::install_versions`].
    pub fn add_probes(&self, method: MethodId, instrument: InstrumentId, probes: Probes) {
        let mut entries = self.entries();
        let entry = entries.entry(method).or_default();
        entry.sequence += 1;
        // Probes may be added late, because their code waited for a class. Their place is still
        // that of their instrument.
        let place = entry
            .instruments
            .partition_point(|p| p.instrument <= instrument);
        let attached = AttachedInstrument {
            instrument,
            probes,
            proven: false,
        };
        entry.instruments.insert(place, attached);
    }

    /// Removes an instrument from a method.
    pub fn remove_probes(&self, method: MethodId, instrument: InstrumentId) {
        if let Some(entry) = self.entries().get_mut(&method) {
            entry.sequence += 1;
            entry.instruments.retain(|p| p.instrument != instrument);
        }
    }

    /// Removes the instruments whose probes have never been in an installed version of the method,
    /// and returns their ids.
    pub fn remove_unproven(&self, method: MethodId) -> Vec<InstrumentId> {
        let mut entries = self.entries();
        let Some(entry) = entries.get_mut(&method) else {
            return Vec::new();
        };
        entry.sequence += 1;
        let removed = entry.instruments.extract_if(.., |p| !p.proven);
        removed.map(|p| p.instrument).collect()
    }

    /// Whether each point uses its own counter, so that no count is derived.
    pub fn counts_each(&self) -> bool {
        self.counts_each.load(Ordering::Acquire)
    }

    /// Makes each point use its own counter from the next version of its method on. Returns the
    /// methods for which this is a change; the caller prepares new versions of them. There is no
    /// way back.
    pub fn count_each(&self) -> Vec<MethodId> {
        let mut entries = self.entries();
        if self.counts_each.swap(true, Ordering::AcqRel) {
            return Vec::new();
        }
        let mut changed = Vec::new();
        for (method, entry) in entries.iter_mut() {
            if entry.instruments.iter().any(|p| p.probes.derived.is_some()) {
                entry.sequence += 1;
                changed.push(*method);
            }
        }
        changed
    }

    /// Adds the edits of a patch to a method.
    pub fn add_edits(&self, method: MethodId, patch: PatchId, edits: Vec<Edit>) {
        let mut entries = self.entries();
        let entry = entries.entry(method).or_default();
        entry.sequence += 1;
        let split = split_edits(&edits);
        if !split.is_empty() {
            entry.split = split;
        }
        entry.edits.push((patch, edits));
    }

    /// Removes the edits of a patch from a method.
    pub fn remove_edits(&self, method: MethodId, patch: PatchId) {
        if let Some(entry) = self.entries().get_mut(&method) {
            entry.sequence += 1;
            entry.edits.retain(|(id, _)| *id != patch);
        }
    }

    /// Drops the entries of methods whose class has been unloaded.
    pub fn forget(&self, is_gone: &dyn Fn(MethodId) -> bool) {
        let mut entries = self.entries();
        // Dropping the entries releases references of the JVM. That happens after the lock has been
        // released.
        let _gone: Vec<_> = entries.extract_if(|id, _| is_gone(*id)).collect();
        entries.shrink_to_fit();
        drop(entries);
    }

    /// Whether a method runs its armed body, without probes and edits.
    pub fn is_idle(&self, method: MethodId) -> bool {
        let entries = self.entries();
        entries
            .get(&method)
            .is_none_or(|e| !e.holds_token && e.instruments.is_empty() && e.edits.is_empty())
    }

    /// The edits of a method, in the order in which they were added.
    pub fn edits(&self, method: MethodId) -> Vec<Edit> {
        let entries = self.entries();
        let entry = entries.get(&method);
        entry.map_or_else(Vec::new, MethodInstrumentation::all_edits)
    }

    /// Sets the edits that split a method, with the edit points that its versions then have.
    pub fn set_split(
        &self,
        method: MethodId,
        split: Vec<Edit>,
        points: impl Iterator<Item = FragmentId>,
    ) {
        let mut entries = self.entries();
        let entry = entries.entry(method).or_default();
        entry.split = split;
        entry.edit_points.extend(points);
    }

    /// The edits that split a method, or have split it. They change no result.
    pub fn split(&self, method: MethodId) -> Vec<Edit> {
        let entries = self.entries();
        entries
            .get(&method)
            .map_or_else(Vec::new, |e| e.split.clone())
    }

    /// The fragments at which versions of a method have or had an edit point.
    pub fn edit_points(&self, method: MethodId) -> Vec<FragmentId> {
        let entries = self.entries();
        let entry = entries.get(&method);
        entry.map_or_else(Vec::new, |e| e.edit_points.iter().copied().collect())
    }

    /// The wanted instrumentation of a method. Counts are derived unless the method has or had an
    /// edit point: a counter block cannot record the activations that enter and leave there.
    pub fn snapshot(&self, method: MethodId) -> Snapshot {
        let entries = self.entries();
        let Some(entry) = entries.get(&method) else {
            return Snapshot {
                method,
                ..Snapshot::default()
            };
        };
        let can_derive =
            entry.edits.is_empty() && entry.edit_points.is_empty() && !self.counts_each();
        let (mut probes, mut blocks) = (Vec::new(), Vec::new());
        for attached in &entry.instruments {
            match &attached.probes.derived {
                Some((derived, block)) if can_derive => {
                    probes.extend(derived.iter().cloned());
                    blocks.push(block.clone());
                }
                _ => probes.extend(attached.probes.direct.iter().cloned()),
            }
        }
        let mut edits = entry.all_edits();
        let is_split = edits.iter().any(|e| matches!(e, Edit::Split { .. }));
        if !(is_split || probes.is_empty() && edits.is_empty()) {
            // Activations may enter at each point of the former parts, and one body would not have room
            // for that.
            edits.extend(entry.split.iter().cloned());
        }
        Snapshot {
            method,
            sequence: entry.sequence,
            probes,
            blocks,
            edits,
        }
    }

    /// Records the result of a switch. `sequence` is that of the snapshot from which the version
    /// was made; `installed` is `None` if the switch failed.
    ///
    /// Returns whether the snapshot is still the wanted instrumentation. If it is and the switch
    /// succeeded, all instruments of the method are proven.
    pub fn record_switch(
        &self,
        method: MethodId,
        sequence: u64,
        installed: Option<InstalledTarget>,
    ) -> bool {
        let mut entries = self.entries();
        let Some(entry) = entries.get_mut(&method) else {
            return true;
        };
        let is_newest = entry.sequence == sequence;
        if let Some(installed) = installed {
            if !installed.holds_token {
                self.release_schedule.lock().restart(Instant::now());
            }
            entry.holds_token = installed.holds_token;
            entry.counts_entries = installed.counts_entries;
            if !installed.counts_entries && installed.enter_class.is_some() {
                entry.enter_class = installed.enter_class;
            }
            if is_newest {
                entry.instruments.iter_mut().for_each(|p| p.proven = true);
            }
        }
        is_newest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weaving::test_methods::with_method;
    use veneer_fragmenter::counting::CounterPlan;
    use veneer_names::CounterSlot;

    const A: InstrumentId = InstrumentId(1);
    const B: InstrumentId = InstrumentId(2);
    const METHOD: MethodId = MethodId(40);

    fn count(slot: u32) -> Probe {
        Probe {
            site: Site::Entry,
            action: ProbeAction::Count {
                slot: CounterSlot(slot),
            },
        }
    }

    /// Probes with these counters at the entry.
    fn direct(slots: impl IntoIterator<Item = u32>) -> Probes {
        Probes {
            direct: slots.into_iter().map(count).collect(),
            derived: None,
        }
    }

    /// A direct probe with counter 1, or a derived probe with counter 9 in a block.
    fn derived() -> Probes {
        with_method("loop(I)I", |method, armed| {
            let counting = CounterPlan::place_counters(method, &armed.points);
            let block = Arc::new(CounterBlock::new(METHOD, CounterSlot(9), &counting));
            Probes {
                direct: vec![count(1)],
                derived: Some((vec![count(9)], block)),
            }
        })
    }

    fn skip() -> Vec<Edit> {
        vec![Edit::Skip {
            fragment: FragmentId(1),
        }]
    }

    fn slots(methods: &WovenMethods) -> Vec<Option<u32>> {
        let probes = methods.snapshot(METHOD).probes;
        let counter = |p: &Probe| Some(p.action.counter()?.0);
        probes.iter().map(counter).collect()
    }

    #[test]
    fn a_method_without_an_entry_has_an_idle_snapshot() {
        let snapshot = WovenMethods::default().snapshot(METHOD);
        assert!(snapshot.is_idle());
        assert_eq!((snapshot.method, snapshot.sequence), (METHOD, 0));
    }

    #[test]
    fn every_change_of_a_method_raises_its_sequence_and_no_other() {
        let methods = WovenMethods::default();
        let sequence = || methods.snapshot(METHOD).sequence;
        methods.add_probes(METHOD, A, direct([1]));
        methods.add_probes(METHOD.plus(1), A, direct([2]));
        assert_eq!(sequence(), 1);
        methods.add_edits(METHOD, PatchId(1), skip());
        assert_eq!(sequence(), 2);
        methods.remove_edits(METHOD, PatchId(1));
        methods.remove_probes(METHOD, A);
        assert_eq!(sequence(), 4);
        assert!(methods.snapshot(METHOD).is_idle());
        methods.remove_probes(METHOD.plus(7), A);
        assert_eq!(methods.entries().len(), 2, "removal makes no entry");
    }

    #[test]
    fn probes_are_ordered_by_instrument_even_if_they_were_added_late() {
        let methods = WovenMethods::default();
        methods.add_probes(METHOD, B, direct([20]));
        methods.add_probes(METHOD, A, direct([10]));
        methods.add_probes(METHOD, A, direct([11]));
        assert_eq!(slots(&methods), [Some(10), Some(11), Some(20)]);
    }

    #[test]
    fn a_switch_of_an_older_snapshot_asks_for_another_version() {
        let methods = WovenMethods::default();
        methods.add_probes(METHOD, A, direct([1]));
        let old = methods.snapshot(METHOD).sequence;
        methods.add_probes(METHOD, B, direct([2]));
        assert!(!methods.record_switch(METHOD, old, Some(InstalledTarget::default())));
        let new = methods.snapshot(METHOD).sequence;
        assert!(methods.record_switch(METHOD, new, Some(InstalledTarget::default())));
    }

    #[test]
    fn instruments_are_proven_by_a_successful_switch_of_the_newest_snapshot() {
        let installed = || Some(InstalledTarget::default());
        let methods = WovenMethods::default();
        methods.add_probes(METHOD, A, direct([1]));
        methods.record_switch(METHOD, 1, installed());
        methods.add_probes(METHOD, B, direct([2]));
        // A switch of the snapshot without `B`, and a failed switch of the snapshot with it, prove
        // nothing of `B`.
        methods.record_switch(METHOD, 1, installed());
        assert!(methods.record_switch(METHOD, 2, None));
        assert_eq!(methods.remove_unproven(METHOD), [B]);
        assert_eq!(slots(&methods), [Some(1)]);
        assert!(methods.remove_unproven(METHOD).is_empty());
    }

    #[test]
    fn removing_unproven_instruments_makes_running_snapshots_old() {
        let methods = WovenMethods::default();
        methods.add_probes(METHOD, A, direct([1]));
        let sequence = methods.snapshot(METHOD).sequence;
        assert_eq!(methods.remove_unproven(METHOD), [A]);
        assert!(!methods.record_switch(METHOD, sequence, None));
    }

    #[test]
    fn a_switch_of_a_forgotten_method_is_the_newest() {
        let methods = WovenMethods::default();
        methods.add_probes(METHOD, A, direct([1]));
        methods.add_probes(METHOD.plus(1), A, direct([1]));
        methods.forget(&|id| id == METHOD);
        assert!(methods.record_switch(METHOD, 1, Some(InstalledTarget::default())));
        assert!(methods.is_idle(METHOD) && !methods.is_idle(METHOD.plus(1)));
    }

    #[test]
    fn counting_entries_is_recorded_until_the_next_switch() {
        let methods = WovenMethods::default();
        methods.add_probes(METHOD, A, direct([1]));
        let counts = || {
            methods
                .entries()
                .get(&METHOD)
                .is_some_and(|e| e.counts_entries)
        };
        let counting = InstalledTarget {
            counts_entries: true,
            ..InstalledTarget::default()
        };
        methods.record_switch(METHOD, 1, Some(counting));
        assert!(counts());
        methods.record_switch(METHOD, 1, None);
        assert!(counts(), "a failed switch changes nothing");
        methods.record_switch(METHOD, 1, Some(InstalledTarget::default()));
        assert!(!counts());
    }

    #[test]
    fn counts_are_derived_until_the_graph_is_edited() {
        let methods = WovenMethods::default();
        methods.add_probes(METHOD, A, derived());
        assert_eq!(slots(&methods), [Some(9)]);
        assert_eq!(methods.snapshot(METHOD).blocks.len(), 1);
        methods.add_edits(METHOD, PatchId(1), skip());
        assert_eq!(slots(&methods), [Some(1)]);
        assert!(methods.snapshot(METHOD).blocks.is_empty());
        methods.remove_edits(METHOD, PatchId(1));
        assert_eq!(slots(&methods), [Some(9)]);
    }

    #[test]
    fn counts_are_never_derived_again_after_an_edit_point() {
        let methods = WovenMethods::default();
        methods.add_probes(METHOD, A, derived());
        if let Some(entry) = methods.entries().get_mut(&METHOD) {
            entry.edit_points.insert(FragmentId(2));
        }
        assert_eq!(slots(&methods), [Some(1)]);
        assert_eq!(methods.edit_points(METHOD), [FragmentId(2)]);
    }

    #[test]
    fn count_each_changes_only_methods_with_derived_counts_and_only_once() {
        let methods = WovenMethods::default();
        methods.add_probes(METHOD, A, derived());
        methods.add_probes(METHOD.plus(1), A, direct([3]));
        assert_eq!(methods.count_each(), [METHOD]);
        assert_eq!(methods.snapshot(METHOD).sequence, 2);
        assert_eq!(methods.snapshot(METHOD.plus(1)).sequence, 1);
        assert_eq!(slots(&methods), [Some(1)]);
        assert!(methods.count_each().is_empty());
        assert!(methods.counts_each());
    }

    #[test]
    fn the_armed_body_counts_up_to_four_entries_by_itself() {
        let offsets = |probes: Vec<Probe>, edits: Vec<Edit>| {
            let snapshot = Snapshot {
                probes,
                edits,
                ..Snapshot::default()
            };
            snapshot.entry_counters()
        };
        let counts = |n| (0..n).map(count).collect::<Vec<_>>();
        assert_eq!(offsets(counts(4), Vec::new()), Some(vec![0, 8, 16, 24]));
        assert_eq!(offsets(counts(5), Vec::new()), None);
        assert_eq!(offsets(Vec::new(), Vec::new()), None);
        assert_eq!(offsets(counts(1), skip()), None);
        let mut with_return = counts(1);
        with_return.push(Probe {
            site: Site::Return,
            action: ProbeAction::Count {
                slot: CounterSlot(2),
            },
        });
        assert_eq!(offsets(with_return, Vec::new()), None);
    }

    #[test]
    fn edits_are_listed_in_the_order_of_their_patches() {
        let methods = WovenMethods::default();
        let redirect = Edit::Skip {
            fragment: FragmentId(5),
        };
        methods.add_edits(METHOD, PatchId(2), skip());
        methods.add_edits(METHOD, PatchId(1), vec![redirect.clone()]);
        assert_eq!(
            methods.edits(METHOD),
            [skip(), vec![redirect.clone()]].concat()
        );
        methods.remove_edits(METHOD, PatchId(2));
        assert_eq!(methods.edits(METHOD), [redirect]);
    }
}
