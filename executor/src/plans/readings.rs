//! The points of an instrument with what each has measured.

use crate::agent::Agent;
use crate::plans::derived_counts::read_points;
use crate::plans::instrument_registry::Standing;
use veneer_instruments::{Data, InstrumentId, Row};

/// Where an instrument stands or stood.
pub fn standing_of(agent: &Agent, id: InstrumentId) -> Vec<Standing> {
    let mut tables = agent.table.lock();
    let instrument = tables.instrument(id);
    instrument.map(|i| i.standing.clone()).unwrap_or_default()
}

/// The figures of an instrument.
pub fn rows(agent: &Agent, id: InstrumentId) -> Vec<Row> {
    agent.rings.drain();
    let standing = standing_of(agent, id);
    let row = |(s, data): (&Standing, Data)| Row {
        class: s.class.to_string(),
        method: s.method.to_string(),
        fragment: s.fragment,
        to: s.to,
        what: s.what.as_deref().map(str::to_string),
        line: s.line,
        data,
    };
    let readings = read_points(agent, &standing);
    standing.iter().zip(readings).map(row).collect()
}
