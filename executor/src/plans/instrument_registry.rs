//! The registry of all instruments and patches of the process, attached and detached, and of the
//! counters that they have left for others.
//!
//! The plan thread attaches and detaches. Application threads that load a class add points. Client
//! threads read. The registry has one mutex; its holder neither calls the JVM nor runs Java code.
//!
//! The counters of an instrument pass through these states:
//!
//! ```text
//!   installed ── detached ──────▶ own counters: free_by_key (for the same point and measurement)
//!       │             └─────────▶ counter block: quarantine ── its versions are collected ──▶ free_by_width
//!       └─ class unloaded ──────▶ finalize: final readings ── noted in the journal ── reuse ─▶ free_by_width
//! ```
//!
//! **Invariants:** an id is the position in the list plus 1, and entries are never removed. A
//! counter is in at most one of the lists `free_by_key` and `free_by_width`, and no installed point
//! of an attached instrument uses it then.

use crate::plans::cost_sample::CostSample;
use crate::weaving::counter_block::CounterBlock;
use crate::weaving::planned_probe::PlannedAction;
use parking_lot::{Mutex, MutexGuard};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use veneer_fragmenter::advice::Site;
use veneer_instruments::{
    EditSpec, InstrumentId, InstrumentKind, InstrumentSpec, Measurement, PatchId,
};
use veneer_names::{CounterSlot, FragmentId, MethodId, PointSlot};

/// The most points of detached instruments that are kept one by one. The points of instruments that
/// were detached earlier are folded into one sum per instrument.
const MAX_DETACHED_POINTS: usize = 1 << 15;
/// The most points in unloaded classes that an instrument keeps by class name. More are folded into
/// one sum.
const MAX_UNLOADED_POINTS: usize = 1 << 15;

/// One point of an instrument in one method: where it is installed, and its counters.
#[derive(Clone, Debug)]
pub struct InstalledPoint {
    /// The class name with dots.
    pub class: Arc<str>,
    /// The method's name and descriptor.
    pub method: Arc<str>,
    /// The fragment, unless the point is the whole method.
    pub fragment: Option<FragmentId>,
    /// For an edge, the fragment to which the edge leads.
    pub to: Option<FragmentId>,
    /// The node of the counter block that has the count of the point, if the point is neither a
    /// fragment nor an edge.
    pub node: Option<u32>,
    /// For an instruction, a description of its effect.
    pub what: Option<Arc<str>>,
    /// The source line.
    pub line: Option<u16>,
    /// The first counter, or the log point of a log.
    pub slot: PointSlot,
    pub step: PlannedAction,
    /// The names of the logged values.
    pub values: Vec<String>,
    /// The values of the count and total counters when the point was installed. Readings subtract
    /// them, because counters are reused without being cleared.
    pub base: [u64; 2],
    /// The final readings, once the instrument is detached or the class is unloaded. From then on
    /// another instrument may use the counters.
    pub last: Option<Measurement>,
    /// The point and measurement for which the counters can be reused.
    pub key: SlotKey,
    /// The counter block from which the count of the point is derived, in addition to its own
    /// counter; `None` once `last` is set.
    pub row: Option<Arc<CounterBlock>>,
    /// Whether the class is unloaded. The readings are final then, and the counters are no longer
    /// those of this point.
    pub is_unloaded: bool,
}

/// The final readings of one instrument's points in classes that were unloaded.
pub struct FinalCounts {
    pub instrument: InstrumentId,
    pub points: Vec<FinalPoint>,
    /// The counter blocks of these points.
    pub rows: Vec<Arc<CounterBlock>>,
}

/// The final readings of one point.
pub struct FinalPoint {
    /// The first counter.
    pub slot: CounterSlot,
    /// The number of consecutive counters.
    pub width: u32,
    pub data: Measurement,
}

/// The point and measurement of a counter.
///
/// An activation that is still in a superseded version can use the counter after the instrument was
/// detached. What it then counts is a pass of this point. Therefore only
/// another instrument at this point with the same measurement can reuse the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlotKey {
    /// The method's id.
    pub method: MethodId,
    /// The first join point of the point.
    pub site: Site,
    pub step: PlannedAction,
}

/// An instrument that a plan has attached.
pub struct Instrument {
    /// The request of the plan.
    pub spec: InstrumentSpec,
    /// False after the instrument was detached.
    pub attached: bool,
    /// The points at which the instrument is or was installed.
    pub points: Vec<InstalledPoint>,
    /// The ids of the methods for which installation was tried, so that none is tried twice.
    pub tried: HashSet<MethodId>,
    /// The ids of the methods that contain the instrument; empty once the instrument is folded.
    pub methods: HashSet<MethodId>,
    /// The number of methods when the instrument was folded.
    pub folded_methods: usize,
    /// The number of methods in classes that were unloaded.
    pub unloaded_methods: usize,
    /// The number of methods that could not be instrumented.
    pub refused: usize,
    /// The first of these methods, and the reason.
    pub first_refusal: Option<String>,
    /// The addresses of the cells that limit how often the instrument acts: one cell, or one for
    /// each point. For a late timer, the cell of its start time.
    pub cells: Vec<i64>,
    /// The cost at the last check, for an instrument with a budget.
    pub cost: CostSample,
    /// The first error of a method in which the instrument could not be installed. It is reported
    /// at the end of the run if no other method could have the instrument either.
    pub deferred_error: Option<String>,
}

/// An edit of flow graphs that a plan has made.
pub struct Patch {
    /// The request of the plan.
    pub spec: EditSpec,
    /// False after the patch was undone.
    pub active: bool,
    /// The ids of the changed methods.
    pub methods: Vec<MethodId>,
    /// The number of changed methods in classes that were unloaded.
    pub unloaded_methods: usize,
}

/// All instruments and patches, and the counters that can be reused.
#[derive(Default)]
pub struct InstrumentTable {
    /// The instrument with number `n` is at index `n - 1`.
    pub instruments: Vec<Instrument>,
    /// The patch with number `n` is at index `n - 1`.
    pub patches: Vec<Patch>,
    /// The number of log points of all instruments.
    pub log_points: u32,
    /// Counters of detached instruments, for reuse at the same point.
    pub free_by_key: HashMap<SlotKey, Vec<CounterSlot>>,
    /// Counters that can be reused anywhere, by the number of consecutive counters.
    pub free_by_width: HashMap<u32, Vec<CounterSlot>>,
    /// Counter blocks of detached instruments that versions may still write to.
    pub quarantine: Vec<Arc<CounterBlock>>,
    /// Detached instruments whose points are kept one by one, oldest first.
    unfolded: VecDeque<InstrumentId>,
    /// The number of points of all detached instruments. A folded instrument still has one point, so
    /// the sums of many folded instruments leave less room for points kept one by one.
    detached_points: usize,
}

/// The registry. See the module documentation.
#[derive(Default)]
pub struct InstrumentRegistry(Mutex<InstrumentTable>);

impl InstrumentRegistry {
    /// Locks the registry.
    pub fn lock(&self) -> MutexGuard<'_, InstrumentTable> {
        self.0.lock()
    }
}

impl InstalledPoint {
    /// Turns this point into the sum of many, shown under the class `*` and this method text.
    fn into_sum(mut self, method: &str, sum: Option<Measurement>) -> InstalledPoint {
        (self.class, self.method) = ("*".into(), method.into());
        (self.fragment, self.to, self.line) = (None, None, None);
        self.last = sum;
        self
    }
}

/// The sum of the final readings of points.
fn final_sum(points: &[InstalledPoint]) -> Option<Measurement> {
    let all = points.iter().filter_map(|p| p.last);
    all.reduce(|a, b| a.merged_with(&b))
}

impl Instrument {
    /// An instrument that was attached just now and has no points yet.
    pub fn new(spec: InstrumentSpec, cells: Vec<i64>, cost: CostSample) -> Instrument {
        Instrument {
            spec,
            attached: true,
            points: Vec::new(),
            tried: HashSet::new(),
            methods: HashSet::new(),
            folded_methods: 0,
            unloaded_methods: 0,
            refused: 0,
            first_refusal: None,
            cells,
            cost,
            deferred_error: None,
        }
    }

    /// Counts a method that cannot be instrumented, with its reason.
    pub fn add_refusal(&mut self, class: &str, method: &str, reason: &str) {
        self.refused += 1;
        let text = || format!("{class}.{method}: {reason}");
        self.first_refusal.get_or_insert_with(text);
    }

    /// Returns the name that the plan gave the instrument, or the display form of its spec.
    pub fn name(&self) -> String {
        let name = self.spec.name.clone();
        name.unwrap_or_else(|| self.spec.to_string())
    }

    /// Returns the number of methods that contain or contained the instrument.
    pub fn method_count(&self) -> usize {
        self.methods.len().max(self.folded_methods) + self.unloaded_methods
    }

    /// Merges the points in unloaded classes: points at the same place of classes with the same
    /// name become one point. If more than [`MAX_UNLOADED_POINTS`] remain, all of them become one.
    fn merge_unloaded(&mut self) {
        let mut merged: HashMap<_, usize> = HashMap::new();
        let mut all: Vec<InstalledPoint> = Vec::with_capacity(self.points.len());
        for point in std::mem::take(&mut self.points) {
            let place = (point.fragment, point.to, point.line, point.step);
            let place = (point.method.clone(), point.what.clone(), place);
            let next = all.len();
            let at = match point.is_unloaded {
                true => *merged.entry((point.class.clone(), place)).or_insert(next),
                false => next,
            };
            match (all.get_mut(at), &point.last) {
                (Some(one), Some(more)) => {
                    one.last = one.last.as_ref().map(|last| last.merged_with(more));
                }
                _ => all.push(point),
            }
        }
        if merged.len() > MAX_UNLOADED_POINTS {
            let (unloaded, mut live): (Vec<_>, Vec<_>) =
                all.into_iter().partition(|p| p.is_unloaded);
            let sum = final_sum(&unloaded);
            let first = unloaded.into_iter().next();
            live.extend(first.map(|one| one.into_sum("(unloaded)", sum)));
            all = live;
        }
        all.shrink_to_fit();
        self.points = all;
    }

    /// Replaces all points by their sum. Returns by how many points the list has become shorter.
    fn fold(&mut self) -> usize {
        let count = self.points.len();
        let sum = final_sum(&self.points);
        if let (2.., Some(one)) = (count, self.points.first().cloned()) {
            self.points = vec![one.into_sum(&format!("({count} points)"), sum)];
        }
        self.folded_methods = self.methods.len();
        self.methods = HashSet::new();
        count - self.points.len()
    }

    /// Makes the readings of the points in unloaded methods final. Returns `None` if there is no
    /// such point.
    fn finalize_points(
        &mut self,
        id: InstrumentId,
        is_gone: &dyn Fn(MethodId) -> bool,
        readings: &dyn Fn(&[InstalledPoint]) -> Vec<Measurement>,
    ) -> Option<FinalCounts> {
        let (mut points, mut rows) = (Vec::new(), Vec::<Arc<CounterBlock>>::new());
        let all = self.points.iter_mut();
        let gone = all.filter(|p| !p.is_unloaded && is_gone(p.key.method));
        let counted = gone.filter_map(|p| Some((p.slot.counter()?, p)));
        let concerned: Vec<(CounterSlot, &mut InstalledPoint)> = counted.collect();
        let copies: Vec<InstalledPoint> = concerned.iter().map(|(_, p)| (**p).clone()).collect();
        for ((slot, point), data) in concerned.into_iter().zip(readings(&copies)) {
            points.push(FinalPoint {
                slot,
                width: point.key.step.slots(),
                data,
            });
            (point.is_unloaded, point.last) = (true, Some(data));
            let row = point.row.take();
            rows.extend(row.filter(|r| !rows.last().is_some_and(|l| Arc::ptr_eq(l, r))));
        }
        if points.is_empty() {
            return None;
        }
        self.merge_unloaded();
        Some(FinalCounts {
            instrument: id,
            points,
            rows,
        })
    }
}

impl InstrumentTable {
    /// Returns the ids of all instruments, attached and detached.
    pub fn ids(&self) -> Vec<InstrumentId> {
        self.numbered().map(|(id, _)| id).collect()
    }

    /// Returns all instruments with their ids.
    pub fn numbered(&self) -> impl Iterator<Item = (InstrumentId, &Instrument)> {
        (1..).map(InstrumentId).zip(&self.instruments)
    }

    /// Adds an instrument and returns its id.
    pub fn add(&mut self, instrument: Instrument) -> InstrumentId {
        self.instruments.push(instrument);
        InstrumentId(self.instruments.len() as u32)
    }

    /// Adds a patch and returns its id.
    pub fn add_patch(&mut self, patch: Patch) -> PatchId {
        self.patches.push(patch);
        PatchId(self.patches.len() as u32)
    }

    /// Returns an instrument by its id.
    pub fn instrument(&mut self, id: InstrumentId) -> Option<&mut Instrument> {
        self.instruments.get_mut((id.0 as usize).checked_sub(1)?)
    }

    /// Returns a patch by its id.
    pub fn patch(&mut self, id: PatchId) -> Option<&mut Patch> {
        self.patches.get_mut((id.0 as usize).checked_sub(1)?)
    }

    /// Records that an instrument was detached; its readings are final.
    ///
    /// Plans can attach and detach for as long as the program runs, so the points of detached
    /// instruments must not accumulate. If more than [`MAX_DETACHED_POINTS`] are kept, the
    /// instruments that were detached first are folded, but never the latest one.
    pub fn retire(&mut self, id: InstrumentId) {
        let Some(instrument) = self.instrument(id) else {
            return;
        };
        instrument.tried = HashSet::new();
        self.detached_points += instrument.points.len();
        self.unfolded.push_back(id);
        while self.detached_points > MAX_DETACHED_POINTS && self.unfolded.len() > 1 {
            let oldest = self.unfolded.pop_front();
            let folded = oldest.and_then(|o| self.instrument(o));
            let fewer = folded.map_or(0, Instrument::fold);
            self.detached_points -= fewer;
        }
    }

    /// Makes the readings of all points in unloaded methods final, and removes these methods from
    /// instruments and patches. `is_gone` selects methods by id; `readings` reads points.
    ///
    /// Log points keep their numbers and stay as they are. Their number is limited by
    /// [`RingLayout::MAX_LOG_POINTS`](veneer_protocol::data::RingLayout).
    pub fn finalize(
        &mut self,
        is_gone: &dyn Fn(MethodId) -> bool,
        readings: &dyn Fn(&[InstalledPoint]) -> Vec<Measurement>,
    ) -> Vec<FinalCounts> {
        for patch in &mut self.patches {
            let before = patch.methods.len();
            patch.methods.retain(|id| !is_gone(*id));
            patch.unloaded_methods += before - patch.methods.len();
        }
        let mut all = Vec::new();
        for (id, instrument) in (1..).map(InstrumentId).zip(&mut self.instruments) {
            instrument.tried.retain(|id| !is_gone(*id));
            let before = instrument.methods.len();
            instrument.methods.retain(|id| !is_gone(*id));
            if !instrument.attached {
                // The readings are final already, and `free_by_key` has the counters.
                instrument.folded_methods = instrument.folded_methods.max(before);
                continue;
            }
            instrument.unloaded_methods += before - instrument.methods.len();
            all.extend(instrument.finalize_points(id, is_gone, readings));
        }
        all
    }

    /// Makes the counters of unloaded methods reusable anywhere. No activation of these methods
    /// exists any more, so no version writes to the counters.
    ///
    /// The caller has appended the final readings to the metadata journal before. Otherwise a
    /// reader of the journal would attribute later counts to the unloaded points.
    pub fn reuse(&mut self, is_gone: &dyn Fn(MethodId) -> bool, finals: &[FinalCounts]) {
        for point in finals.iter().flat_map(|f| &f.points) {
            let free = self.free_by_width.entry(point.width).or_default();
            free.push(point.slot);
        }
        for row in finals.iter().flat_map(|f| &f.rows) {
            let free = self.free_by_width.entry(row.width).or_default();
            free.push(row.first);
        }
        let by_width = &mut self.free_by_width;
        self.free_by_key.retain(|key, slots| {
            if is_gone(key.method) {
                let free = by_width.entry(key.step.slots()).or_default();
                free.append(slots);
            }
            !is_gone(key.method)
        });
    }

    /// The numbers of the tables that attached code fills.
    pub fn tables_of_attached_code(&self) -> HashSet<u32> {
        let attached = self.instruments.iter().filter(|i| i.attached);
        let code = attached.filter_map(|i| match &i.spec.kind {
            InstrumentKind::Code(code) => Some(code.tables()),
            _ => None,
        });
        code.flatten().collect()
    }

    /// Makes the counters of a detached instrument reusable: its own counters at the same points,
    /// and its counter blocks anywhere once they have left the quarantine.
    pub fn release_counters(&mut self, points: Vec<InstalledPoint>) {
        for point in points.iter().filter(|p| !p.is_unloaded) {
            if let PointSlot::Counter(slot) = point.slot {
                self.free_by_key.entry(point.key).or_default().push(slot);
            }
        }
        let mut rows: Vec<_> = points.into_iter().filter_map(|p| p.row).collect();
        rows.dedup_by(|a, b| Arc::ptr_eq(a, b));
        self.quarantine.append(&mut rows);
    }

    /// Ends the quarantine of the counter blocks to which no version can write any more, as
    /// `is_unused` says.
    pub fn release_quarantined(&mut self, is_unused: impl Fn(&CounterBlock) -> bool) {
        let unused = |row: &mut Arc<CounterBlock>| is_unused(row);
        for row in self.quarantine.extract_if(.., unused) {
            let free = self.free_by_width.entry(row.width).or_default();
            free.push(row.first);
        }
    }
}

#[cfg(test)]
pub mod tests;
