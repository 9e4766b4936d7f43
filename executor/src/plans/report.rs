//! The report: all readings, tallies, patches, refusals and problems of the run, as JSON.
//!
//! Client threads build it on request, the thread that ends the JVM writes it to a file, and so
//! does the plan thread when the agent leaves.

mod tables;

use crate::agent::Agent;
use crate::plans::protocol_forms;
use crate::plans::readings;
use veneer_instruments::{InstrumentId, PatchId};
use veneer_protocol as p;

/// The limit for the tables of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportSize {
    /// The report is one message to a client.
    Message,
    /// The report is written to a file, whose size has no limit of its own.
    File,
}

impl ReportSize {
    /// The most bytes of JSON, by estimate, of the entries of all tables.
    fn max_tables_bytes(self) -> usize {
        match self {
            ReportSize::Message => tables::MAX_MESSAGE_BYTES,
            ReportSize::File => tables::MAX_FILE_BYTES,
        }
    }
}

/// Returns the current report. `jvm` is the name and the version of the JVM.
pub fn make_report(agent: &Agent, jvm: (String, String), size: ReportSize) -> p::Report {
    let millis = agent.began.elapsed().as_millis() as u64;
    let mut report = p::Report::new(p::JvmInfo {
        pid: std::process::id(),
        name: jvm.0,
        version: jvm.1,
        millis,
    });
    let ids = agent.table.lock().ids();
    for id in ids {
        let rows = readings::rows(agent, id);
        let Some(mut entry) = instrument(agent, id) else {
            continue;
        };
        entry.points = rows;
        add_points(&mut report.totals, &entry.points);
        report.instruments.push(entry);
    }
    report.tables = tables::make_tables(agent, size.max_tables_bytes());
    let patches = (1..).map(PatchId);
    for (id, patch) in patches.zip(&agent.table.lock().patches) {
        report.patches.push(protocol_forms::patch(id, patch));
    }
    report.refusals = agent.refusals();
    report.problems = agent.problems();
    let mut classes = agent.registry.all();
    classes.retain(|class| !class.state().restored);
    let totals = &mut report.totals;
    let unloaded = agent.registry.unloaded_count();
    totals.classes_armed = classes.len() as u64 + unloaded.classes;
    totals.methods_armed = classes.iter().map(|c| c.state().methods.len() as u64).sum();
    totals.methods_armed += unloaded.methods;
    totals.dropped = agent.rings.dropped();
    totals.versions = agent
        .methods
        .versions
        .load(std::sync::atomic::Ordering::Relaxed);
    add_refusals(totals, &report.refusals);
    report
}

/// Adds the points of an instrument to the totals.
fn add_points(totals: &mut p::Totals, points: &[p::PointRow]) {
    totals.points += points.len() as u64;
    for point in points {
        match point.data {
            p::Measurement::Count { hits } => totals.hits += hits,
            p::Measurement::Log { events, .. } => totals.events += events,
            p::Measurement::Time { .. } => {}
        }
    }
}

/// Counts the refused classes and methods. A refusal of a single fragment (`m()V@17`) counts as
/// neither.
fn add_refusals(totals: &mut p::Totals, refusals: &[p::RefusalRow]) {
    for refusal in refusals {
        match refusal.method.as_str() {
            "" => totals.refused_classes += 1,
            method if !method.contains('@') => totals.refused_methods += 1,
            _ => {}
        }
    }
}

/// Returns an instrument without its points; `None` for an unknown id.
pub fn instrument(agent: &Agent, id: InstrumentId) -> Option<p::Instrument> {
    let mut table = agent.table.lock();
    let i = table.instrument(id)?;
    Some(p::Instrument {
        id: id.to_string(),
        name: i.name(),
        kind: protocol_forms::kind(&i.spec.kind),
        plan: i.spec.plan.clone(),
        attached: i.attached,
        points: Vec::new(),
    })
}

/// The reason why the report was not written.
#[derive(Debug, thiserror::Error)]
enum WriteError {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    File(#[from] std::io::Error),
}

fn write_to(path: &std::path::Path, report: &p::Report) -> Result<(), WriteError> {
    let text = serde_json::to_string_pretty(report)?;
    Ok(std::fs::write(path, text + "\n")?)
}

/// Writes the report to the file that the command has named, if any. An error is printed to
/// standard error, because no client can receive it any more.
pub fn write(agent: &Agent, jvm: (String, String)) {
    let Some(path) = agent.config.report_path(std::process::id()) else {
        return;
    };
    if let Err(e) = write_to(&path, &make_report(agent, jvm, ReportSize::File)) {
        eprintln!(
            "veneer: the report could not be written to {}: {e}",
            path.display()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(class: &str, method: &str) -> p::RefusalRow {
        p::RefusalRow {
            class: class.into(),
            method: method.into(),
            reason: "MethodTooLarge".into(),
            detail: String::new(),
        }
    }

    #[test]
    fn refused_fragments_are_neither_classes_nor_methods() {
        let mut totals = p::Totals::default();
        let all = [
            refusal("A", ""),
            refusal("B", "m()V"),
            refusal("B", "<init>()V@12"),
            refusal("B", "n()V"),
        ];
        add_refusals(&mut totals, &all);
        assert_eq!((totals.refused_classes, totals.refused_methods), (1, 2));
    }

    #[test]
    fn totals_add_hits_and_events_and_count_all_points() {
        let mut totals = p::Totals::default();
        let point = |data| p::PointRow {
            class: "A".into(),
            method: "m()V".into(),
            fragment: None,
            to: None,
            what: None,
            line: None,
            data,
        };
        let points = [
            point(p::Measurement::Count { hits: 5 }),
            point(p::Measurement::Time {
                count: 9,
                total_ns: 100,
                min_ns: 1,
                max_ns: 20,
            }),
            point(p::Measurement::Log {
                events: 7,
                dropped: 2,
            }),
        ];
        add_points(&mut totals, &points);
        add_points(&mut totals, &points[..1]);
        assert_eq!((totals.points, totals.hits, totals.events), (4, 10, 7));
    }
}
