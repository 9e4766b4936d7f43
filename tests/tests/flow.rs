//! Derived counts (calculated from the counters of other fragments and edges) equal direct counts.
//! This is tested in programs that end normally, in activations that are in the middle of a method,
//! and in activations that move through several versions.

use veneer_tests::equivalence::Equivalence;
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with, run_with_report};
use veneer_tests::report::Report;

/// A plan that counts every fragment, edge, entry, call and allocation of a program's classes twice:
/// derived and directly.
fn derived_and_direct_plan(classes: &[&str]) -> String {
    let patterns: Vec<String> = classes.iter().map(|name| format!("\"{name}\"")).collect();
    format!(
        "let all = methods([{}]);\n\
         let flow = [all.blocks().before(counter().named(\"flow\")), all.edges().before(counter().named(\"flow\")), \
         all.call_graph().before(counter().named(\"flow\"))];\n\
         let each = [all.blocks().before(counter().each().named(\"each\")), all.edges().before(counter().each().named(\"each\")), \
         all.call_graph().before(counter().each().named(\"each\"))];\n",
        patterns.join(", ")
    )
}

/// Fails unless derived and direct counts are equal at `points` points or more, some of which were
/// hit.
fn assert_equal_counts(report: &Report, points: usize, what: &str) -> Outcome {
    let found = Equivalence::from_report(report);
    assert!(report.hits() > 0, "{what}: nothing was counted");
    if found.differ.is_empty() && found.agree >= points {
        return Ok(());
    }
    Err(format!(
        "{what}: {} points agree, these do not:\n{}",
        found.agree,
        found.differ.join("\n")
    )
    .into())
}

fn check_at_normal_end(programs: &Programs, name: &str) -> Outcome {
    let (output, report) = run_with_report(
        &programs.java(name),
        &derived_and_direct_plan(&[name, &format!("{name}$*")]),
    )?;
    assert_eq!((output.code, output.err.as_str()), (0, ""), "{name}");
    assert_equal_counts(&report, 10, name)
}

#[test]
fn derived_counts_are_exact_for_programs_that_end_normally() -> Outcome {
    on_a_jdk_with("counts", |programs| {
        for name in [
            "Exceptions",
            "Finally",
            "Letters",
            "Loops",
            "NestedLoops",
            "Recursion",
            "Switches",
            "StringSwitch",
            "SynchronizedBlocks",
            "SynchronizedMethods",
            "Constructors",
            "Threads",
            "Ternaries",
        ] {
            check_at_normal_end(programs, name)?;
        }
        Ok(())
    })
}

/// Tests programs that end the JVM while activations are in the middle of methods.
fn check_at_sudden_end(name: &str, points: usize) -> Outcome {
    on_a_jdk_with("flow", |programs| {
        let (output, report) =
            run_with_report(&programs.java(name), &derived_and_direct_plan(&[name]))?;
        let shown = (output.code, output.out.as_str());
        assert_eq!(shown, (3, "ends\n"), "{output:?}");
        assert_equal_counts(&report, points, name)
    })
}

#[test]
fn derived_counts_are_exact_for_activations_in_the_middle_of_a_method() -> Outcome {
    check_at_sudden_end("Standing", 40)
}

#[test]
fn derived_counts_are_exact_for_parked_virtual_threads() -> Outcome {
    check_at_sudden_end("Parked", 20)
}

#[test]
fn derived_counts_are_exact_for_activations_that_change_versions() -> Outcome {
    on_a_jdk_with("flow", |programs| {
        // Each timer creates a new version of each method. Each edit switches to direct counts, and
        // undoing it switches back to derived counts.
        let plan = derived_and_direct_plan(&["Changing"])
            + "let clock = ();
               let patch = ();
               let n = 0;
               every(0.03, || {
                   if all.list().len() == 0 { return; }
                   n += 1;
                   if clock != () { clock.detach(); clock = (); } else { clock = all.around(timer()); }
                   if n % 3 == 0 && patch == () {
                       patch = methods(\"Changing::sort(..)\").redirect(0, 1, 1);
                   } else if patch != () {
                       patch.detach();
                       patch = ();
                   }
               });";
        let (output, report) = run_with_report(&programs.java("Changing"), &plan)?;
        assert_eq!(
            (output.code, output.out.as_str(), output.err.as_str()),
            (0, "true\ntrue\ntrue\n", ""),
        );
        let timers = report.instruments.iter().filter(|i| i.kind == "timer");
        assert!(timers.count() > 10, "hardly anything changed");
        assert_equal_counts(&report, 60, "Changing")
    })
}
