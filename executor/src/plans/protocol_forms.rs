//! The protocol's form of kinds, readings and patches, for the report, the status and the metadata
//! journal.

use crate::plans::instrument_registry::Patch;
use veneer_instruments::{EditKind, InstrumentKind, Measurement, PatchId};
use veneer_protocol as p;

/// Converts the kind of an instrument.
pub fn kind(kind: &InstrumentKind) -> p::InstrumentKind {
    match kind {
        InstrumentKind::Counter => p::InstrumentKind::Counter,
        InstrumentKind::Timer => p::InstrumentKind::Timer,
        InstrumentKind::Log(_) => p::InstrumentKind::Log,
        InstrumentKind::Code(_) => p::InstrumentKind::Code,
    }
}

/// Converts the readings of a point.
pub fn readings(data: Measurement) -> p::Readings {
    match data {
        Measurement::Count { hits } => p::Readings::Count { hits },
        Measurement::Time {
            count,
            total_ns,
            min_ns,
            max_ns,
        } => p::Readings::Time {
            count,
            total_ns,
            min_ns,
            max_ns,
        },
        Measurement::Log { events, dropped } => p::Readings::Log { events, dropped },
    }
}

/// Converts a patch.
pub fn patch(id: PatchId, patch: &Patch) -> p::Patch {
    let edit = |e: &EditKind| match *e {
        EditKind::Redirect { from, to, target } => p::Edit::Redirect { from, to, target },
        EditKind::Skip { fragment } => p::Edit::Skip { fragment },
        EditKind::Replace { fragment, by } => p::Edit::Replace { fragment, by },
    };
    p::Patch {
        id: id.to_string(),
        plan: patch.spec.plan.clone(),
        patterns: patterns(patch),
        edits: patch.spec.edits.iter().map(edit).collect(),
        methods: method_count(patch),
        active: patch.active,
    }
}

/// The patterns of a patch as text.
pub fn patterns(patch: &Patch) -> Vec<String> {
    patch.spec.patterns.iter().map(|p| p.to_string()).collect()
}

/// The number of methods that a patch has changed, including those of unloaded classes.
pub fn method_count(patch: &Patch) -> u64 {
    (patch.methods.len() + patch.unloaded_methods) as u64
}
