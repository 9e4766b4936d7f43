//! Lists that a plan can query.

use crate::InstrumentId;
use serde::{Deserialize, Serialize};

/// One attached or detached instrument, as lists show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstrumentSummary {
    /// The id of the instrument.
    pub id: InstrumentId,
    /// The name given by the plan, or the display form of the spec.
    pub name: String,
    /// `counter`, `timer`, `log(a, b)` or the code of the probe.
    pub kind: String,
    /// The file name of the plan that attached the instrument.
    pub plan: String,
    /// The number of methods that contain the instrument so far.
    pub methods: usize,
    /// The number of classes that contain the instrument so far; 0 if the points are no longer kept
    /// one by one.
    pub classes: usize,
    /// The number of methods that the patterns have selected so far, with points or without.
    pub matched: usize,
    /// The number of points at which the instrument acts so far.
    pub points: usize,
    /// False after the instrument was detached. Its data remain readable.
    pub attached: bool,
}
