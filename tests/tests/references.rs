//! Dead objects stay collectable: no version, transfer, timer or log keeps an object alive that the
//! method itself would have dropped.

use std::time::Duration;

use veneer_tests::java_programs::{Outcome, run_with_report};
use veneer_tests::jdk;
use veneer_tests::trust::hostile::compiled::{Compiled, difference, run_with_thread_dump};
use veneer_tests::trust::hostile::references::Scenarios;
use veneer_tests::trust::hostile::settings::{C1, DEFAULT, INTERPRETER, Setting};

/// Runs the scenarios on the JDKs for this test.
fn collected(setting: Setting) -> Outcome {
    let mut failures = Vec::new();
    for jdk in jdk::for_this_test() {
        let scenarios = Scenarios::new(&jdk)?;
        let plain = scenarios.plain(setting)?;
        if !plain.kept.is_empty() || plain.dropped < 100 {
            return Err(format!("{jdk}, plain: {plain:?}").into());
        }
        let observed = scenarios.observed(setting)?;
        if !observed.kept.is_empty() || observed.dropped != plain.dropped {
            failures.push(format!(
                "{jdk}: {} of {} are kept:\n{}",
                observed.kept.len(),
                observed.dropped,
                observed.kept.join("\n")
            ));
        }
    }
    if failures.is_empty() {
        Ok(())
    } else {
        Err(failures.join("\n").into())
    }
}

#[test]
fn dropped_objects_are_collected() -> Outcome {
    collected(DEFAULT)
}

#[test]
fn dropped_objects_are_collected_in_the_interpreter() -> Outcome {
    collected(INTERPRETER)
}

#[test]
fn dropped_objects_are_collected_under_the_first_compiler() -> Outcome {
    collected(C1)
}

#[test]
fn a_dropped_array_frees_its_memory_for_another_one() -> Outcome {
    let mut failures = Vec::new();
    for jdk in jdk::for_this_test() {
        let compiled = Compiled::new(&jdk)?;
        let java = compiled.java(&["-Xmx100m"], "Pinned");
        let plain =
            run_with_thread_dump(&jdk, &java, Duration::from_secs(60))?.succeeded("Pinned")?;
        assert_eq!(plain.out, "collected true\ncollected true\n62914560\n");
        let plan = "after(1.0, || { methods(\"Pinned\").blocks().before(counter()); });\n";
        let (output, report) = run_with_report(&java, plan)?;
        if let Some(text) = difference(&plain, &output) {
            failures.push(format!("{jdk}: {text}"));
        }
        assert!(report.hits() > 100, "{jdk}: {} hits", report.hits());
    }
    if failures.is_empty() {
        Ok(())
    } else {
        Err(failures.join("\n").into())
    }
}
