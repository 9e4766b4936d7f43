//! The report: all figures and refusals of the run, as JSON.

mod tables;

use crate::agent::Agent;
use crate::plans::instrument_registry::{Buried, Patch, Standing};
use crate::plans::plan_instances;
use crate::plans::readings;
use veneer_instruments::{Data, EditKind, InstrumentId, PatchId, Spec};
use veneer_protocol as p;
use veneer_protocol::data::{Record, Stand};

/// Makes the report as of now.
pub fn make(agent: &Agent, jvm: (String, String)) -> p::Report {
    let millis = agent.began.elapsed().as_millis() as u64;
    let mut report = p::Report::new(p::Jvm {
        pid: std::process::id(),
        name: jvm.0,
        version: jvm.1,
        millis,
    });
    let count = agent.table.lock().instruments.len();
    for n in 1..=count as u32 {
        let rows = readings::rows(agent, InstrumentId(n));
        let Some(mut entry) = instrument(agent, InstrumentId(n)) else {
            continue;
        };
        let points: Vec<p::Point> = rows.into_iter().map(point).collect();
        let totals = &mut report.totals;
        totals.points += points.len() as u64;
        for point in &points {
            match point.readings {
                p::Readings::Count { hits } => totals.hits += hits,
                p::Readings::Log { events, .. } => totals.events += events,
                p::Readings::Time { .. } => {}
            }
        }
        entry.points = points;
        report.instruments.push(entry);
    }
    report.tables = tables::make(agent);
    for (n, patch) in agent.table.lock().patches.iter().enumerate() {
        report.patches.push(patch_entry(n, patch));
    }
    report.refusals = refusals(agent);
    let problems = agent.problems.lock().unwrap_or_else(|e| e.into_inner());
    report.problems = problems
        .iter()
        .map(|(plan, message)| p::Problem {
            plan: plan.clone(),
            message: message.clone(),
        })
        .collect();
    drop(problems);
    let mut classes = agent.registry.all();
    classes.retain(|class| !class.state().restored);
    let totals = &mut report.totals;
    let unloaded = agent.registry.unloaded();
    totals.classes_armed = classes.len() as u64 + unloaded.classes;
    totals.methods_armed = classes.iter().map(|c| c.state().methods.len() as u64).sum();
    totals.methods_armed += unloaded.methods;
    totals.dropped = agent.rings.dropped();
    totals.versions = agent
        .methods
        .versions
        .load(std::sync::atomic::Ordering::Relaxed);
    totals.refused_classes = report
        .refusals
        .iter()
        .filter(|r| r.method.is_empty())
        .count() as u64;
    totals.refused_methods = report
        .refusals
        .iter()
        .filter(|r| !r.method.is_empty() && !r.method.contains('@'))
        .count() as u64;
    report
}

/// An instrument without its figures.
pub fn instrument(agent: &Agent, id: InstrumentId) -> Option<p::Instrument> {
    let mut tables = agent.table.lock();
    let i = tables.instrument(id)?;
    Some(p::Instrument {
        id: id.to_string(),
        name: name(&i.spec),
        kind: plan_instances::kind(&i.spec.kind),
        plan: i.spec.plan.clone(),
        attached: i.attached,
        points: Vec::new(),
    })
}

/// The figures of a point.
pub fn point(row: veneer_instruments::Row) -> p::Point {
    p::Point {
        class: row.class,
        method: row.method,
        fragment: row.fragment,
        to: row.to,
        what: row.what,
        line: row.line,
        readings: readings(row.data),
    }
}

/// The refusals in the report's form.
pub fn refusals(agent: &Agent) -> Vec<p::Refusal> {
    let rows = agent.refusals().into_iter();
    rows.map(|r| p::Refusal {
        class: r.class,
        method: r.method,
        reason: r.reason,
        detail: r.detail,
    })
    .collect()
}

/// Writes the report where the command asked for it.
pub fn write(agent: &Agent, jvm: (String, String)) {
    let Some(path) = agent.config.report_of(std::process::id()) else {
        return;
    };
    let report = make(agent, jvm);
    let text = serde_json::to_string_pretty(&report).map_err(|e| e.to_string());
    let written = text.and_then(|t| std::fs::write(&path, t + "\n").map_err(|e| e.to_string()));
    if let Err(e) = written {
        eprintln!(
            "veneer: the report could not be written to {}: {e}",
            path.display()
        );
    }
}

fn name(spec: &Spec) -> String {
    spec.name.clone().unwrap_or_else(|| spec.to_string())
}

fn readings(data: Data) -> p::Readings {
    match data {
        Data::Count { hits } => p::Readings::Count { hits },
        Data::Time {
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
        Data::Log { events, dropped } => p::Readings::Log { events, dropped },
    }
}

/// The entry of the patch at place `n` of the table.
fn patch_entry(n: usize, patch: &Patch) -> p::Patch {
    let edit = |e: &EditKind| match *e {
        EditKind::Redirect { from, to, target } => p::Edit::Redirect { from, to, target },
        EditKind::Skip { fragment } => p::Edit::Skip { fragment },
        EditKind::Replace { fragment, by } => p::Edit::Replace { fragment, by },
    };
    p::Patch {
        id: PatchId(n as u32 + 1).to_string(),
        plan: patch.spec.plan.clone(),
        patterns: patch.spec.patterns.iter().map(|p| p.to_string()).collect(),
        edits: patch.spec.edits.iter().map(edit).collect(),
        methods: (patch.methods.len() + patch.gone) as u64,
        active: patch.active,
    }
}

/// The catalogue's record of an instrument that was asked for.
pub fn attached(agent: &Agent, id: InstrumentId) -> Vec<Record> {
    let mut tables = agent.table.lock();
    let record = tables.instrument(id).map(|i| Record::Instrument {
        id: id.0,
        name: name(&i.spec),
        kind: plan_instances::kind(&i.spec.kind),
        plan: i.spec.plan.clone(),
    });
    record.into_iter().collect()
}

/// The record of where it stands in a method.
pub fn stands(id: InstrumentId, class: &str, method: &str, standing: &[Standing]) -> Record {
    let stand = |s: &Standing| Stand {
        fragment: s.fragment,
        to: s.to,
        what: s.what.as_deref().map(str::to_string),
        line: s.line,
        slot: s.slot,
        base: s.base,
        values: s.values.clone(),
    };
    Record::Stands {
        id: id.0,
        class: class.into(),
        method: method.into(),
        points: standing.iter().map(stand).collect(),
        flow: standing
            .iter()
            .find_map(|s| Some(s.row.as_ref()?.flow.clone())),
    }
}

/// The record of a method that would not have it after all.
pub fn leaves(id: InstrumentId, class: &str, method: &str) -> Record {
    Record::Leaves {
        id: id.0,
        class: class.into(),
        method: method.into(),
    }
}

/// The record of its final figures.
pub fn detached(agent: &Agent, id: InstrumentId) -> Record {
    let mut tables = agent.table.lock();
    let standing = tables.instrument(id).map(|i| &i.standing);
    let last = |s: &Standing| {
        let data = s.last.clone().filter(|_| !s.gone)?;
        Some((s.slot, readings(data)))
    };
    Record::Detached {
        id: id.0,
        readings: standing.into_iter().flatten().filter_map(last).collect(),
    }
}

/// The record of final figures of points whose classes are unloaded.
pub fn buried(of: &Buried) -> Record {
    let points = of.points.iter();
    Record::Buried {
        id: of.instrument.0,
        readings: points.map(|p| (p.0, readings(p.2.clone()))).collect(),
    }
}

/// The record of an edit that was made.
pub fn edited(agent: &Agent, id: PatchId) -> Vec<Record> {
    let mut tables = agent.table.lock();
    let n = (id.0 as usize).saturating_sub(1);
    let record = tables
        .patch(id)
        .map(|patch| Record::Patch(patch_entry(n, patch)));
    record.into_iter().collect()
}
