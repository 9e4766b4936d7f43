//! The memory that a program can use: the heap that it fills, and the stack of its recursions.

use std::collections::BTreeMap;
use std::time::Duration;

use veneer_tests::java_programs::{Outcome, run_with_report};
use veneer_tests::jdk;
use veneer_tests::live::number;
use veneer_tests::process::Output;
use veneer_tests::trust::hostile::compiled::{Compiled, Plan, run_with_thread_dump};
use veneer_tests::trust::hostile::heap::{ATTACH_AND_DETACH, ATTACH_ONCE, full};
use veneer_tests::trust::hostile::settings::{
    C1, COMPILED_AT_ONCE, DEFAULT, INTERPRETER, PROFILED_C1, Setting,
};

/// Runs a test on the JDKs for this test, and returns all failures as one error.
fn on_each(test: impl Fn(&Compiled) -> Outcome) -> Outcome {
    let mut failures = Vec::new();
    for jdk in jdk::for_this_test() {
        if let Err(error) = test(&Compiled::new(&jdk)?) {
            failures.push(format!("{jdk}: {error}"));
        }
    }
    if failures.is_empty() {
        Ok(())
    } else {
        Err(failures.join("\n").into())
    }
}

#[test]
fn memory_errors_are_caught_at_the_same_place_with_permanent_counters() -> Outcome {
    on_each(|compiled| Ok(full(compiled, DEFAULT, Plan::Source(ATTACH_ONCE), 3)?))
}

#[test]
fn memory_errors_are_caught_at_the_same_place_while_instruments_are_attached_and_detached()
-> Outcome {
    on_each(|compiled| Ok(full(compiled, DEFAULT, Plan::Source(ATTACH_AND_DETACH), 3)?))
}

#[test]
fn memory_errors_are_caught_at_the_same_place_under_the_storm() -> Outcome {
    on_each(|compiled| Ok(full(compiled, DEFAULT, Plan::Storm(12_345), 3)?))
}

/// The median depth of the rounds of each kind.
fn depths(output: &Output) -> Result<BTreeMap<&'static str, i64>, Box<dyn std::error::Error>> {
    let mut medians = BTreeMap::new();
    for kind in ["cold", "warm"] {
        let lines = output.out.lines();
        let mut all: Vec<i64> = lines.filter_map(|line| number(line, kind)).collect();
        all.sort_unstable();
        let median = all.get(all.len() / 2).copied();
        medians.insert(kind, median.ok_or(format!("no {kind} round: {output:?}"))?);
    }
    Ok(medians)
}

/// Returns the plain depth and the depth under a plan for each kind of round, and a list of
/// failures.
fn compared(
    compiled: &Compiled,
    setting: Setting,
    plan: &str,
) -> Result<(Vec<String>, Vec<String>), Box<dyn std::error::Error>> {
    let java = compiled.java(setting.options, "Depth").arg("3");
    let plain =
        run_with_thread_dump(&compiled.jdk, &java, Duration::from_secs(60))?.succeeded("Depth")?;
    let (output, report) = run_with_report(&java, plan)?;
    let mut failures = Vec::new();
    if report.hits() == 0 {
        failures.push("nothing was counted".to_string());
    }
    if output.code != 0 || !output.out.ends_with("levels 5000\n") {
        let first = output.err.lines().next().unwrap_or_default();
        failures.push(format!(
            "a recursion of 5,000 levels: exit code {}, {first}",
            output.code
        ));
    }
    let (before, after) = (depths(&plain)?, depths(&output)?);
    let mut figures = Vec::new();
    for (kind, plain) in before {
        let depth = after.get(kind).copied().unwrap_or(0);
        let text = format!(
            "{}, {}, {kind}: {depth} levels instead of {plain}",
            compiled.jdk, setting.name
        );
        figures.push(text.clone());
        // The plain run and the run under the plan both lose the space of the frames of `main` and
        // of the launcher once, which is a few levels.
        const LEVELS_OF_MAIN: i64 = 8;
        if depth * 2 + LEVELS_OF_MAIN < plain {
            failures.push(text);
        }
    }
    Ok((figures, failures))
}

fn recursion(setting: Setting) -> Outcome {
    on_each(|compiled| {
        let plan = "methods(\"Depth\").before(counter());\n";
        let (figures, failures) = compared(compiled, setting, plan)?;
        eprintln!("{}", figures.join("\n"));
        if failures.is_empty() {
            Ok(())
        } else {
            Err(failures.join("\n").into())
        }
    })
}

#[test]
fn a_counted_recursion_keeps_half_of_its_depth_with_all_compilers() -> Outcome {
    recursion(COMPILED_AT_ONCE)
}

#[test]
fn a_counted_recursion_keeps_half_of_its_depth_in_the_interpreter() -> Outcome {
    recursion(INTERPRETER)
}

#[test]
fn a_counted_recursion_keeps_half_of_its_depth_under_the_first_compiler() -> Outcome {
    recursion(C1)
}

#[test]
fn a_counted_recursion_keeps_half_of_its_depth_in_profiling_code() -> Outcome {
    recursion(PROFILED_C1)
}

/// Prints the depths with counters on every block. It only asserts that there are some.
#[test]
#[ignore = "figures only: cargo test -p veneer-tests --test room -- --ignored --nocapture"]
fn depths_with_counters_on_every_block() -> Outcome {
    on_each(|compiled| {
        for setting in [COMPILED_AT_ONCE, INTERPRETER, C1, PROFILED_C1] {
            let plan = "methods(\"Depth\").blocks().before(counter());\n";
            let (figures, failures) = compared(compiled, setting, plan)?;
            println!("{}\n  {}", figures.join("\n"), failures.join("\n  "));
        }
        Ok(())
    })
}
