//! Measures the cost per call of an inclusive timer on a small hot method, beside the timers of
//! other tools on the same method.

use std::time::Instant;

use super::groups::{CheckError, Series, Variant, measure};
use super::peers::{Timing, timers};
use super::prepare::Compiled;
use super::record::shown;
use super::record::{Goal, Record};
use super::workload::{CALLS, HOT_CALL};
use crate::bench::statistics::median;
use crate::trust::part::Table;
use crate::trust::part::{Scope, TrustError};

/// Runs the part `timer`.
pub fn run(scope: &Scope) -> Result<Record, TrustError> {
    let begun = Instant::now();
    let mut record = Record::new("timer", "A timer on a small hot method", scope)?;
    record.part.words = vec![format!(
        "A method of six operations, called {CALLS} times per round. The figure is the difference \
         between the processor times of a round and of the plain round of the same group, divided \
         by the number of calls. It is the cost of a timer around the method (callees included, \
         count and sum) per call, including the inlining that it prevents. Each tool must have \
         counted every call, except async-profiler, which keeps no count."
    )];
    let jdk = scope.jdks.first().ok_or(TrustError::NoJdk)?;
    let compiled = Compiled::workload(jdk, &HOT_CALL)?;
    let rounds = HOT_CALL.rounds(scope.quick);
    let calls = CALLS * rounds as u64;
    let java = HOT_CALL.java(jdk, &compiled, rounds, &[], &[]);
    let ours = timed(&java, &compiled, calls)?;
    let mut variants = vec![Variant::new("plain", java), ours];
    variants.extend(timers(&Timing {
        jdk,
        compiled: &compiled,
        rounds,
        calls,
        program: &HOT_CALL,
    }));
    let groups = if scope.quick { 2 } else { 5 };
    let series = measure("timer", groups, &variants);
    report(&mut record, &series);
    record.part = record.part.with_duration_since(begun);
    Ok(record)
}

/// Veneer's timer on the hot method.
fn timed(
    java: &crate::process::Process,
    compiled: &Compiled,
    calls: u64,
) -> Result<Variant, TrustError> {
    let file = compiled.join("timer.rhai");
    let text = "let hits = methods(\"HotCall::step(..)\").around(timer());\n\
                at_exit(|| print(`hits: ${hits.hits()}`));\n";
    let options = super::prepare::plan(&file, text)?;
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let process = crate::command::run(&options, java);
    Ok(
        Variant::new(VENEER_TIMER, process).checked(move |run| match run.hits {
            Some(hits) if hits == calls => Ok(()),
            seen => Err(CheckError::Miscounted {
                instrument: "timer",
                seen,
                calls,
            }),
        }),
    )
}

const VENEER_TIMER: &str = "Veneer, timer()";

/// Returns the cost of each call in nanoseconds, one value for each group.
fn nanoseconds(one: &Series, plain: &Series) -> Vec<f64> {
    let pairs = one.processor.iter().zip(&plain.processor);
    pairs.map(|(a, b)| (a - b) * 1e6 / CALLS as f64).collect()
}

fn report(record: &mut Record, series: &[Series]) {
    let Some((plain, others)) = series.split_first() else {
        return;
    };
    let fault = plain.error.as_ref().map(|e| format!("plain: {e}"));
    record.part.failures.extend(fault);
    record.figure("round", HOT_CALL.name, "plain", "ms", &plain.processor);
    let mut table = Table::new(
        "",
        &[
            "tool",
            "ns a call",
            "ratio of processor time",
            "ratio of time",
            "",
        ],
    );
    let mut best: Option<(f64, String)> = None;
    let mut mine = None;
    for one in others {
        let values = nanoseconds(one, plain);
        record.figure("timer", HOT_CALL.name, &one.name, "ns", &values);
        let middle = median(&values);
        if !one.peer {
            mine = middle;
        } else if let Some(m) = middle
            && best.as_ref().is_none_or(|(b, _)| m < *b)
        {
            best = Some((m, one.name.clone()));
        }
        if let (Some(error), false) = (&one.error, one.peer) {
            record.part.failures.push(format!("{}: {error}", one.name));
        }
        table.rows.push(vec![
            one.name.clone(),
            shown(&values, 1),
            shown(&one.processor_ratio, 1),
            shown(&one.time_ratio, 1),
            one.error.clone().unwrap_or_default(),
        ]);
    }
    record.part.tables.push(table);
    let Some(mine) = mine else { return };
    record.goals.push(Goal::at_most(
        "inclusive timer on a small hot method, a call",
        30.0,
        "ns",
        mine,
    ));
    let lost: Vec<String> = best
        .filter(|(theirs, _)| *theirs <= mine)
        .map(|(theirs, name)| format!("{name} {theirs:.1} ns"))
        .into_iter()
        .collect();
    record.goals.push(Goal::everywhere(
        "the same, below every peer",
        "below",
        &lost,
    ));
}
