//! The instruments and patches of the process, attached and detached.

use crate::jvm::jni::Env;
use crate::plans::spent_time::Spent;
use crate::weaving::counter_block::CounterBlock;
use crate::weaving::planned_probe::Step;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use veneer_fragmenter::advice::Site;
use veneer_instruments::{Data, EditSpec, InstrumentId, PatchId, Spec};

/// Points of detached instruments that are kept one by one.
const KEPT: usize = 1 << 15;

/// One point of an instrument.
#[derive(Clone, Debug)]
pub struct Standing {
    /// With dots.
    pub class: Arc<str>,
    /// Name and descriptor.
    pub method: Arc<str>,
    /// Fragment, where the point is not the method.
    pub fragment: Option<u32>,
    /// For an edge.
    pub to: Option<u32>,
    /// For an instruction: what it does.
    pub what: Option<Arc<str>>,
    /// Source line.
    pub line: Option<u16>,
    /// First counter; of a log, the number of its point.
    pub slot: u32,
    /// What is measured.
    pub step: Step,
    /// Names of logged values.
    pub values: Vec<String>,
    /// What counts and totals stood at when the point was made: a counter that was used before is used again.
    pub base: [u64; 2],
    /// The figures at detachment, from when on another instrument may use the counters.
    pub last: Option<Data>,
    /// Names the counters for use by a later instrument.
    pub key: SlotKey,
    /// The counters from which it follows, beside its own; none once it is detached or gone.
    pub row: Option<Arc<CounterBlock>>,
    /// Its class is unloaded: the figures are final, and the counters are not its own any more.
    pub gone: bool,
}

/// Final figures of an instrument's points in classes that are unloaded.
pub struct Buried {
    /// The instrument.
    pub instrument: InstrumentId,
    /// The first counter of each point, how many there are in a row, and its figures.
    pub points: Vec<(u32, u32, Data)>,
    /// Rows that they had beside.
    pub rows: Vec<Arc<CounterBlock>>,
}

/// What a counter counts. An activation that is still in a superseded version may count on after the instrument is gone; what it
/// counts is a pass of this very place, so the counter may serve another instrument there, and none elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlotKey {
    /// The method.
    pub method: u32,
    /// The first site that is woven.
    pub site: Site,
    /// What is measured.
    pub step: Step,
}

/// An instrument.
pub struct Instrument {
    /// What the plan asked for.
    pub spec: Spec,
    /// Not detached.
    pub attached: bool,
    /// Where it stands or stood.
    pub standing: Vec<Standing>,
    /// Methods that were tried, so that none is done twice.
    pub tried: HashSet<u32>,
    /// Methods in which it stands; none once it is folded.
    pub methods: HashSet<u32>,
    /// How many there were, once it is folded.
    pub folded: usize,
    /// How many there were in classes that are unloaded.
    pub gone: usize,
    /// Methods that were refused.
    pub refused: usize,
    /// Where cells lie in which the times are counted that it has acted, where only so many are allowed: one, or one for each point.
    pub cells: Vec<i64>,
    /// What it has cost so far, where that is looked at.
    pub spent: Spent,
    /// Why it does not stand in the first method where it does not, though another method may do: said in the end if none does.
    pub unsaid: Option<String>,
}

/// A patch.
pub struct Patch {
    /// What the plan asked for.
    pub spec: EditSpec,
    /// Not undone.
    pub active: bool,
    /// The methods that it changes.
    pub methods: Vec<u32>,
    /// How many there were in classes that are unloaded.
    pub gone: usize,
}

/// Both, by their numbers.
#[derive(Default)]
pub struct Tables {
    /// Instruments; number `n` at place `n - 1`.
    pub instruments: Vec<Instrument>,
    /// Patches; number `n` at place `n - 1`.
    pub patches: Vec<Patch>,
    /// Log points, numbered for all instruments.
    pub log_points: u32,
    /// Counters that detached instruments have left.
    pub free: HashMap<SlotKey, Vec<u32>>,
    /// Counters of classes that are unloaded, by how many there are in a row; they may serve anywhere.
    pub spare: HashMap<u32, Vec<u32>>,
    /// Rows of detached instruments to which versions may still write.
    pub limbo: Vec<Arc<CounterBlock>>,
    /// Detached instruments whose points are kept one by one, the oldest first, and the number of these points.
    unfolded: VecDeque<InstrumentId>,
    points: usize,
}

/// See the module documentation.
#[derive(Default)]
pub struct Table(Mutex<Tables>);

impl Table {
    /// Both tables.
    pub fn lock(&self) -> MutexGuard<'_, Tables> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Standing {
    /// A row that stands for many.
    fn of_many(mut self, method: &str, sum: Option<Data>) -> Standing {
        (self.class, self.method) = ("*".into(), method.into());
        (self.fragment, self.to, self.line) = (None, None, None);
        self.last = sum;
        self
    }
}

impl Instrument {
    /// The number of methods in which it stands or stood.
    pub fn method_count(&self) -> usize {
        self.methods.len().max(self.folded) + self.gone
    }

    /// Makes one row of those of classes of one name that are gone; and, where there are more than [`KEPT`], one of all.
    fn merge(&mut self) {
        let mut rows: HashMap<_, usize> = HashMap::new();
        let mut all: Vec<Standing> = Vec::with_capacity(self.standing.len());
        for s in std::mem::take(&mut self.standing) {
            let place = (s.fragment, s.to, s.line, s.step);
            let next = all.len();
            let at = match s.gone {
                true => *rows
                    .entry((s.class.clone(), s.method.clone(), place))
                    .or_insert(next),
                false => next,
            };
            match (all.get_mut(at), &s.last) {
                (Some(one), Some(more)) => {
                    one.last = one.last.as_ref().map(|last| last.plus(more));
                }
                _ => all.push(s),
            }
        }
        if rows.len() > KEPT {
            let (gone, mut live): (Vec<_>, Vec<_>) = all.into_iter().partition(|s| s.gone);
            let sum = gone.iter().filter_map(|s| s.last.clone());
            let sum = sum.reduce(|a, b| a.plus(&b));
            live.extend(
                gone.into_iter()
                    .next()
                    .map(|one| one.of_many("(unloaded)", sum)),
            );
            all = live;
        }
        all.shrink_to_fit();
        self.standing = all;
    }

    /// Its figures as one. Returns how many points fewer there are.
    fn fold(&mut self) -> usize {
        let points = self.standing.len();
        let sum = self.standing.iter().filter_map(|s| s.last.clone());
        let sum = sum.reduce(|a, b| a.plus(&b));
        if let (2.., Some(one)) = (points, self.standing.first().cloned()) {
            self.standing = vec![one.of_many(&format!("({points} points)"), sum)];
        }
        self.folded = self.methods.len();
        self.methods = HashSet::new();
        points - self.standing.len()
    }
}

impl Tables {
    /// The ids of all instruments, attached and detached.
    pub fn ids(&self) -> Vec<InstrumentId> {
        (1..=self.instruments.len() as u32)
            .map(InstrumentId)
            .collect()
    }

    /// An instrument was detached, and its figures stand still. Instruments may come and go for as long as the program runs, so
    /// only the last [`KEPT`] points are kept one by one; of instruments that were detached before, the sums.
    pub fn retire(&mut self, id: InstrumentId) {
        let Some(instrument) = self.instrument(id) else {
            return;
        };
        instrument.tried = HashSet::new();
        self.points += instrument.standing.len();
        self.unfolded.push_back(id);
        while self.points > KEPT && self.unfolded.len() > 1 {
            let oldest = self.unfolded.pop_front();
            let fewer = oldest
                .and_then(|o| self.instrument(o))
                .map(Instrument::fold);
            self.points -= fewer.unwrap_or(0);
        }
    }

    /// Makes the figures of all points final that are in methods which are gone, and forgets that instruments and patches were
    /// there. Log points keep their numbers and their rows: there are [`Rings::POINTS`](veneer_protocol::data::Rings) at most.
    pub fn bury(
        &mut self,
        is_gone: &dyn Fn(u32) -> bool,
        figures: &dyn Fn(&[Standing]) -> Vec<Data>,
    ) -> Vec<Buried> {
        for patch in &mut self.patches {
            let before = patch.methods.len();
            patch.methods.retain(|id| !is_gone(*id));
            patch.gone += before - patch.methods.len();
        }
        let mut all = Vec::new();
        for (n, i) in self.instruments.iter_mut().enumerate() {
            i.tried.retain(|id| !is_gone(*id));
            let before = i.methods.len();
            i.methods.retain(|id| !is_gone(*id));
            if !i.attached {
                // Its figures are final, and `free` has its counters.
                i.folded = i.folded.max(before);
                continue;
            }
            i.gone += before - i.methods.len();
            let (mut points, mut rows) = (Vec::new(), Vec::<Arc<CounterBlock>>::new());
            let goes =
                |s: &&mut Standing| !s.gone && s.key.step != Step::Log && is_gone(s.key.method);
            let going: Vec<&mut Standing> = i.standing.iter_mut().filter(goes).collect();
            let were: Vec<Standing> = going.iter().map(|s| (**s).clone()).collect();
            for (s, last) in going.into_iter().zip(figures(&were)) {
                points.push((s.slot, s.key.step.slots(), last.clone()));
                (s.gone, s.last) = (true, Some(last));
                let row = s.row.take();
                rows.extend(row.filter(|r| !rows.last().is_some_and(|l| Arc::ptr_eq(l, r))));
            }
            if !points.is_empty() {
                i.merge();
                let instrument = InstrumentId(n as u32 + 1);
                all.push(Buried {
                    instrument,
                    points,
                    rows,
                });
            }
        }
        all
    }

    /// Gives the counters of methods that are gone to whoever asks next.
    pub fn reuse(&mut self, is_gone: &dyn Fn(u32) -> bool, buried: &[Buried]) {
        let points = buried.iter().flat_map(|b| &b.points);
        for (slot, width, _) in points {
            self.spare.entry(*width).or_default().push(*slot);
        }
        for row in buried.iter().flat_map(|b| &b.rows) {
            self.spare.entry(row.width).or_default().push(row.first);
        }
        let (free, spare) = (&mut self.free, &mut self.spare);
        free.retain(|key, slots| {
            if is_gone(key.method) {
                spare.entry(key.step.slots()).or_default().append(slots);
            }
            !is_gone(key.method)
        });
    }

    /// Gives the counters of rows to others, as far as no version can write to them any more.
    pub fn leave_limbo(&mut self, env: Env) {
        let served = |row: &mut Arc<CounterBlock>| row.is_unused(env);
        for row in self.limbo.extract_if(.., served) {
            self.spare.entry(row.width).or_default().push(row.first);
        }
    }

    /// An instrument by its id.
    pub fn instrument(&mut self, id: InstrumentId) -> Option<&mut Instrument> {
        self.instruments.get_mut((id.0 as usize).checked_sub(1)?)
    }

    /// A patch by its id.
    pub fn patch(&mut self, id: PatchId) -> Option<&mut Patch> {
        self.patches.get_mut((id.0 as usize).checked_sub(1)?)
    }
}
