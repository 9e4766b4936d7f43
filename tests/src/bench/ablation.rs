//! Measures the literal executor of the original paper: each method becomes a loop over its
//! fragments that follows a table of edges.
//!
//! `tests/bench/Literal.java` rewrites the class files of the same programs in this way. Nothing of
//! Veneer runs here. The result shows what the idea costs if the JIT compiler sees a loop over a
//! `switch` instead of the method.

use std::time::{Duration, Instant};

use super::groups::{Variant, measure};
use super::prepare::Compiled;
use super::record::Record;
use super::record::{geometric_mean, shown};
use super::workload::{Workload, named};
use crate::bench::statistics::median;
use crate::jdk::Jdk;
use crate::process::Process;
use crate::trust::part::Table;
use crate::trust::part::{Scope, TrustError};

/// The route finder and the kernels.
const PROGRAMS: [&str; 4] = ["route", "sort", "sieve", "matrix"];
const ASM: [&str; 3] = ["asm", "asm-tree", "asm-analysis"];
/// Options of `javac`: a class-file version that ASM knows, whatever the JDK.
const RELEASE: [&str; 2] = ["--release", "17"];

/// Runs the part `executor`.
pub fn run(scope: &Scope) -> Result<Record, TrustError> {
    let begun = Instant::now();
    let mut record = Record::new("executor", "The literal executor, as an ablation", scope)?;
    record.part.words = vec![
        "Each method that has a jump, and neither a `switch` nor an exception handler, becomes \
         `while (true) switch (next)` over its basic blocks. Each edge becomes `next = edges[k]`, \
         where the table is a static array, because edges can be redirected. Variables stay \
         locals, unlike in the paper. The result is the cost of the literal form on a current \
         JVM, without any instrument. The paper reports 7.54 for its own."
            .into(),
    ];
    let jdk = scope.jdks.first().ok_or(TrustError::NoJdk)?;
    let tool = Compiled::new(jdk, &["tests/bench/Literal.java"], &ASM)?;
    let mut table = Table::new(
        "",
        &[
            "workload",
            "plain, ms a round",
            "literal, processor time",
            "time",
            "methods rewritten",
            "",
        ],
    );
    let mut medians = Vec::new();
    for name in PROGRAMS.iter().filter(|n| !scope.quick || **n == "route") {
        let workload = named(name).ok_or(TrustError::Unknown {
            kind: "workload",
            name,
        })?;
        let (series, rewritten) = one(jdk, workload, &tool, scope.quick)?;
        let [plain, literal] = series.as_slice() else {
            continue;
        };
        record.figure(
            "ratio of processor time",
            name,
            "literal executor",
            "×",
            &literal.processor_ratio,
        );
        record.figure(
            "ratio of time",
            name,
            "literal executor",
            "×",
            &literal.time_ratio,
        );
        if let Some(error) = &literal.error {
            record.part.failures.push(format!("{name}: {error}"));
        }
        medians.extend(median(literal.ratios()));
        table.rows.push(vec![
            workload.name.to_string(),
            shown(&plain.time, 1),
            shown(literal.ratios(), 2),
            shown(&literal.time_ratio, 2),
            rewritten,
            literal.error.clone().unwrap_or_default(),
        ]);
    }
    if let Some(mean) = geometric_mean(&medians) {
        record.part.words.push(format!(
            "Geometric mean: {mean:.2} of the plain processor time."
        ));
    }
    record.part.tables.push(table);
    record.part = record.part.with_duration_since(begun);
    Ok(record)
}

fn one(
    jdk: &Jdk,
    workload: &'static Workload,
    tool: &Compiled,
    quick: bool,
) -> Result<(Vec<super::groups::Series>, String), TrustError> {
    let compiled = Compiled::with_options(jdk, workload.sources, workload.jars, &RELEASE)?;
    let into = compiled.join("literal");
    let said = Process::new(jdk.tool("java"))
        .arg("-cp")
        .arg(tool.class_path(&[&compiled.classes()]))
        .arg("Literal")
        .arg(compiled.classes())
        .arg(&into)
        .limit(Duration::from_secs(60))
        .run()?
        .succeeded("Literal")?
        .out;
    // A slower program needs fewer rounds for a stable median.
    let rounds = workload.rounds(quick).min(18);
    let plain = workload.java(jdk, &compiled, rounds, &[], &[]);
    let literal = workload.java(jdk, &compiled, rounds, &[], &[&into]);
    let variants = [
        Variant::new("plain", plain),
        Variant::new("literal", literal),
    ];
    let label = format!("executor, {}", workload.name);
    let series = measure(&label, if quick { 2 } else { 5 }, &variants);
    let rewritten = said.trim().trim_start_matches("literal ").to_string();
    Ok((series, rewritten))
}
