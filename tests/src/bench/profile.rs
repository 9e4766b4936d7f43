//! Checks derived counts: on each workload, the counts derived from other blocks and edges must
//! equal the direct counts of each block.
//!
//! The two kinds of counters are attached in the same run, so only a fault of Veneer can make them
//! differ. The time of such a run is meaningless and is not shown.

use std::time::Instant;

use super::groups::first_line;
use super::prepare::Compiled;
use super::record::{Goal, Record};
use super::workload::{Workload, session};
use crate::command;
use crate::equivalence::Equivalence;
use crate::jdk::Jdk;
use crate::report::Report;
use crate::trust::part::Table;
use crate::trust::part::{Scope, TrustError};

/// Rounds of a run. Counts need no steady state.
const ROUNDS: usize = 5;

/// Runs the part `profile`.
pub fn run(scope: &Scope) -> Result<Record, TrustError> {
    let begun = Instant::now();
    let mut record = Record::new("profile", "Derived counts", scope)?;
    record.part.words = vec![format!(
        "{ROUNDS} rounds of each workload with two counters on each block of its own code and that of its libraries: one that counts as \
         usual, in as few places as the flow of control allows (Knuth; Ball and Larus), the others derived, and one for which every block \
         counts for itself. *Differ*: blocks at which both do not say the same number. Exceptions are thrown in all of the larger programs."
    )];
    let mut table = Table::new(
        "Blocks counted both ways",
        &["workload", "blocks", "passed", "hits", "differ"],
    );
    let mut differ = Vec::new();
    for workload in session(scope.quick) {
        for jdk in scope.jdks.iter().take(1) {
            match one(workload, jdk) {
                Ok(found) => {
                    let all = found.agree + found.differ.len();
                    table.rows.push(vec![
                        workload.name.to_string(),
                        all.to_string(),
                        found.passed.to_string(),
                        found.hits.to_string(),
                        found.differ.len().to_string(),
                    ]);
                    eprintln!("bench: {}: {all} blocks", workload.name);
                    if let Some(first) = found.differ.first() {
                        let n = found.differ.len();
                        differ.push(format!("{}: {n} of {all} blocks: {first}", workload.name));
                    }
                }
                Err(e) => {
                    let line = format!("{}: {}", workload.name, first_line(&e.to_string()));
                    record.part.failures.push(line);
                }
            }
        }
    }
    record.part.tables.push(table);
    // An inexact count is a failure and not a figure.
    record.part.failures.extend(differ.iter().cloned());
    record.goals.push(Goal::everywhere(
        "derived counts equal counted ones on every workload",
        "equal",
        &differ,
    ));
    record.part = record.part.with_duration_since(begun);
    Ok(record)
}

fn one(workload: &Workload, jdk: &Jdk) -> Result<Equivalence, TrustError> {
    let compiled = Compiled::workload(jdk, workload)?;
    let java = workload.java(jdk, &compiled, ROUNDS, &[], &[]);
    let pattern = workload.pattern();
    let text = format!(
        "let flow = methods({pattern}).limit(10000000).blocks().before(counter().named(\"flow\"));\n\
         let each = methods({pattern}).limit(10000000).blocks().before(counter().each().named(\"each\"));\n"
    );
    let (plan, report) = (compiled.join("both.rhai"), compiled.join("report.json"));
    std::fs::write(&plan, text)?;
    let mut options = workload.arming();
    for (option, file) in [("--plan", &plan), ("--report", &report)] {
        options.extend([option.to_string(), file.to_string_lossy().into_owned()]);
    }
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let plain = java.run()?.succeeded(workload.name)?;
    let counted = command::run(&options, &java)
        .run()?
        .succeeded(workload.name)?;
    if plain.out != counted.out {
        return Err(TrustError::Differs(
            "its output is not that of the plain run".into(),
        ));
    }
    let found = Equivalence::from_report(&Report::read(&report)?);
    if found.hits == 0 {
        return Err(TrustError::TooFew {
            done: 0,
            unit: "hits",
            output: counted.err,
        });
    }
    Ok(found)
}
