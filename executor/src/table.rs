//! The instruments and patches of the process, attached and detached.

use crate::weave::Step;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard};
use veneer_fragmenter::advice::Site;
use veneer_instruments::{Data, EditSpec, InstrumentId, PatchId, Spec};

/// One point of an instrument.
#[derive(Clone, Debug)]
pub struct Standing {
    /// With dots.
    pub class: String,
    /// Name and descriptor.
    pub method: String,
    /// Fragment, where the point is not the method.
    pub fragment: Option<u32>,
    /// For an edge.
    pub to: Option<u32>,
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
    /// Methods in which it stands.
    pub methods: HashSet<u32>,
    /// Methods that were refused.
    pub refused: usize,
}

/// A patch.
pub struct Patch {
    /// What the plan asked for.
    pub spec: EditSpec,
    /// Not undone.
    pub active: bool,
    /// The methods that it changes.
    pub methods: Vec<u32>,
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

impl Tables {
    /// An instrument by its id.
    pub fn instrument(&mut self, id: InstrumentId) -> Option<&mut Instrument> {
        self.instruments.get_mut((id.0 as usize).checked_sub(1)?)
    }

    /// A patch by its id.
    pub fn patch(&mut self, id: PatchId) -> Option<&mut Patch> {
        self.patches.get_mut((id.0 as usize).checked_sub(1)?)
    }
}
