//! The protocol's form of kinds and patches, for the report, the status and the metadata
//! journal.

use crate::plans::instrument_registry::Patch;
use veneer_instruments::{InstrumentKind, PatchId};
use veneer_protocol as p;

/// Converts the kind of an instrument.
pub fn kind(kind: &InstrumentKind) -> p::InstrumentKind {
    match kind {
        InstrumentKind::Counter => p::InstrumentKind::Counter,
        InstrumentKind::Timer => p::InstrumentKind::Timer,
        InstrumentKind::Log(_) => p::InstrumentKind::Log,
        InstrumentKind::Code(_) => p::InstrumentKind::Code,
        InstrumentKind::Recorder(_) => p::InstrumentKind::Recorder,
    }
}

/// Converts a patch.
pub fn patch(id: PatchId, patch: &Patch) -> p::Patch {
    p::Patch {
        id: id.to_string(),
        plan: patch.spec.plan.clone(),
        patterns: patterns(patch),
        edits: patch.spec.edits.clone(),
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
