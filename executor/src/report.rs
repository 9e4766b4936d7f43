//! The report: all figures and refusals of the run, as JSON.

use crate::agent::Agent;
use crate::runtime;
use veneer_instruments::{Data, EditKind, InstrumentId, Kind};
use veneer_protocol as p;

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
        let rows = runtime::rows(agent, InstrumentId(n));
        let mut tables = agent.table.lock();
        let Some(i) = tables.instrument(InstrumentId(n)) else {
            continue;
        };
        let kind = match i.spec.kind {
            Kind::Counter => p::Kind::Counter,
            Kind::Timer => p::Kind::Timer,
            Kind::Log(_) => p::Kind::Log,
        };
        let point = |r: veneer_instruments::Row| p::Point {
            class: r.class,
            method: r.method,
            fragment: r.fragment,
            to: r.to,
            line: r.line,
            readings: match r.data {
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
            },
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
        report.instruments.push(p::Instrument {
            id: InstrumentId(n).to_string(),
            name: i.spec.name.clone().unwrap_or_else(|| i.spec.to_string()),
            kind,
            plan: i.spec.plan.clone(),
            attached: i.attached,
            points,
        });
    }
    for (n, patch) in agent.table.lock().patches.iter().enumerate() {
        let edit = |e: &EditKind| match *e {
            EditKind::Redirect { from, to, target } => p::Edit::Redirect { from, to, target },
            EditKind::Skip { fragment } => p::Edit::Skip { fragment },
            EditKind::Replace { fragment, by } => p::Edit::Replace { fragment, by },
        };
        report.patches.push(p::Patch {
            id: veneer_instruments::PatchId(n as u32 + 1).to_string(),
            plan: patch.spec.plan.clone(),
            patterns: patch.spec.patterns.iter().map(|p| p.to_string()).collect(),
            edits: patch.spec.edits.iter().map(edit).collect(),
            methods: patch.methods.len() as u64,
            active: patch.active,
        });
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
    let classes = agent.registry.all();
    let totals = &mut report.totals;
    totals.classes_armed = classes.len() as u64;
    totals.methods_armed = classes.iter().map(|c| c.state().methods.len() as u64).sum();
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
    let Some(path) = &agent.config.report else {
        return;
    };
    let report = make(agent, jvm);
    let text = serde_json::to_string_pretty(&report).map_err(|e| e.to_string());
    let written = text.and_then(|t| std::fs::write(path, t + "\n").map_err(|e| e.to_string()));
    if let Err(e) = written {
        eprintln!(
            "veneer: the report could not be written to {}: {e}",
            path.display()
        );
    }
}
