//! The points of an instrument with their readings. The plan thread and client threads use this
//! file.

use crate::agent::Agent;
use crate::plans::derived_counts::read_points;
use crate::plans::instrument_registry::InstalledPoint;
use veneer_instruments::{InstrumentId, Measurement, PointRow};

/// Returns the points at which an instrument is or was installed. An unknown id has none.
pub fn installed_points(agent: &Agent, id: InstrumentId) -> Vec<InstalledPoint> {
    let mut table = agent.table.lock();
    let instrument = table.instrument(id);
    instrument.map(|i| i.points.clone()).unwrap_or_default()
}

/// Returns the current readings of an instrument, one row per point.
pub fn rows(agent: &Agent, id: InstrumentId) -> Vec<PointRow> {
    agent.rings.drain();
    let points = installed_points(agent, id);
    let row = |(p, data): (&InstalledPoint, Measurement)| PointRow {
        class: p.class.to_string(),
        method: p.method.to_string(),
        fragment: p.fragment,
        to: p.to,
        what: p.what.as_deref().map(str::to_string),
        line: p.line,
        data,
    };
    let readings = read_points(agent, &points);
    points.iter().zip(readings).map(row).collect()
}
