//! The records of the metadata journal about instruments and patches. The plan thread and the
//! threads that install instruments in classes append them with `Agent::append_records`.

use crate::agent::Agent;
use crate::plans::instrument_registry::{FinalCounts, InstalledPoint, InstrumentTable};
use crate::plans::protocol_forms::{kind, patch};
use veneer_instruments::{InstrumentId, PatchId};
use veneer_names::PointSlot;
use veneer_protocol::data::{PointRecord, Record};

/// The record of an instrument that a plan has attached; none for an unknown id.
pub fn attached(agent: &Agent, id: InstrumentId) -> Vec<Record> {
    let mut table = agent.table.lock();
    let record = table.instrument(id).map(|i| Record::Instrument {
        id,
        name: i.name(),
        kind: kind(&i.spec.kind),
        plan: i.spec.plan.clone(),
    });
    record.into_iter().collect()
}

/// The record of the points of an instrument in a method. It must be appended before the points can
/// count.
pub fn installed(id: InstrumentId, class: &str, method: &str, points: &[InstalledPoint]) -> Record {
    let point = |p: &InstalledPoint| PointRecord {
        fragment: p.fragment,
        to: p.to,
        node: p.node,
        what: p.what.as_deref().map(str::to_string),
        line: p.line,
        slot: p.slot.into(),
        base: p.base,
        values: p.values.clone(),
    };
    Record::Installed {
        id,
        class: class.into(),
        method: method.into(),
        points: points.iter().map(point).collect(),
        flow: points
            .iter()
            .find_map(|p| Some(p.row.as_ref()?.flow.clone())),
    }
}

/// The record of a method that could not have the instrument. It cancels the record of
/// [`installed`].
pub fn not_installed(id: InstrumentId, class: &str, method: &str) -> Record {
    Record::NotInstalled {
        id,
        class: class.into(),
        method: method.into(),
    }
}

/// The record of the final readings of a detached instrument.
pub fn detached(agent: &Agent, id: InstrumentId) -> Record {
    final_readings(&mut agent.table.lock(), id)
}

/// Points of unloaded classes are not in the record: their final readings were recorded before.
fn final_readings(table: &mut InstrumentTable, id: InstrumentId) -> Record {
    let points = table.instrument(id).map(|i| &i.points);
    let last = |p: &InstalledPoint| {
        let data = p.last.filter(|_| !p.is_unloaded)?;
        Some((p.slot.into(), data))
    };
    Record::Detached {
        id,
        readings: points.into_iter().flatten().filter_map(last).collect(),
    }
}

/// The record of the final readings of points whose classes were unloaded.
pub fn finalized(finals: &FinalCounts) -> Record {
    let points = finals.points.iter();
    Record::Finalized {
        id: finals.instrument,
        readings: points
            .map(|p| (PointSlot::Counter(p.slot).into(), p.data))
            .collect(),
    }
}

/// The record of a patch; none for an unknown id.
pub fn edited(agent: &Agent, id: PatchId) -> Vec<Record> {
    let mut table = agent.table.lock();
    let record = table.patch(id).map(|p| Record::Patch(patch(id, p)));
    record.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans::instrument_registry::tests::{instrument, point};
    use veneer_instruments::{InstrumentKind, Measurement};
    use veneer_names::CounterSlot;

    #[test]
    fn a_detached_instrument_records_only_points_that_have_no_earlier_record() {
        let mut table = InstrumentTable::default();
        let mut one = instrument(InstrumentKind::Counter);
        one.points = vec![point(1, 1, 10), point(2, 2, 20), point(3, 3, 30)];
        for (point, hits) in one.points.iter_mut().zip([5, 6]) {
            point.last = Some(Measurement::Count { hits });
        }
        one.points[0].is_unloaded = true;
        let id = table.add(one);
        let expected = Record::Detached {
            id,
            readings: vec![(
                PointSlot::Counter(CounterSlot(20)).into(),
                Measurement::Count { hits: 6 },
            )],
        };
        assert_eq!(final_readings(&mut table, id), expected);
    }
}
