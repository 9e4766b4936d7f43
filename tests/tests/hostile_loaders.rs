//! The agent never calls a class loader of the application: no thread of the agent loads a class
//! through it or waits for its locks.

use std::time::Duration;

use veneer_tests::java_programs::Outcome;
use veneer_tests::jdk;
use veneer_tests::process::Process;
use veneer_tests::trust::hostile::compiled::{
    Compiled, EVERYTHING, Plan, difference, run_under_plan, run_with_thread_dump,
};
use veneer_tests::trust::hostile::loaders::{Variant, recorded, variants};
use veneer_tests::trust::hostile::settings::DEFAULT;

/// The variant in which the loader holds its lock for every class.
const ALL_LOCKED: &str = "blocks-all";

/// How long the program runs. If the plan does too little meanwhile, the program runs longer.
const MILLISECONDS: u32 = 600;

/// A plan that counts every block. It attaches after the program has loaded all classes that it
/// loads before its end.
const LATE_COUNTERS: &str = r#"
after(1.5, || {
    let hits = methods("named.*").blocks().before(counter());
    at_exit(|| print(`counted ${hits.hits()} passes`));
});
"#;

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

/// Runs a program plain and with counters that are attached later. The outputs must be equal, and
/// something must be counted.
fn compare_with_plain_run(compiled: &Compiled, java: &Process) -> Outcome {
    let limit = Duration::from_secs(30);
    let plain = run_with_thread_dump(&compiled.jdk, java, limit)?.succeeded("the plain run")?;
    let output = run_under_plan(&compiled.jdk, Plan::Source(LATE_COUNTERS), java, limit)?;
    if let Some(text) = difference(&plain, &output) {
        return Err(text.into());
    }
    let counted = output.err.lines().any(|line| {
        let passes = line.strip_prefix("counted ");
        passes.is_some_and(|passes| passes.starts_with(|c: char| ('1'..='9').contains(&c)))
    });
    if !counted {
        return Err(format!("nothing was counted: {}", output.err).into());
    }
    Ok(())
}

#[test]
fn the_application_loader_loads_the_same_classes_as_without_veneer() -> Outcome {
    on_each(|compiled| {
        let java = compiled.java(&[], "LoadOrder").arg(compiled.guests());
        compare_with_plain_run(compiled, &java.args(["named.App", "500"]))
    })
}

/// A plan attaches to a class that is loaded and not linked, and whose versions use members of its
/// superclass through method handles. To link the superclass, the verifier loads two more classes. The
/// handles themselves are made only after the class was linked, so this test does not see a call there.
#[test]
fn a_class_that_is_not_linked_stays_so_while_a_plan_attaches_to_it() -> Outcome {
    on_each(|compiled| {
        let java = compiled.java(&[], "LoadOrder").arg(compiled.guests());
        compare_with_plain_run(compiled, &java.args(["named.Unlinked", "3000"]))
    })
}

#[test]
fn a_lock_held_while_versions_are_linked_causes_no_deadlock() -> Outcome {
    on_each(|compiled| {
        let java = compiled.java(&[], "LockedLoader").arg(compiled.guests());
        compare_with_plain_run(compiled, &java)
    })
}

/// The loader is not parallel capable, so the JVM takes its lock in order to find a class for the
/// first time, and on JDK 17 also to admit a class to another protection domain.
#[test]
fn a_loader_lock_held_by_a_waiting_thread_causes_no_deadlock() -> Outcome {
    on_each(|compiled| {
        let java = compiled.java(&[], "HeldLoader").arg(compiled.guests());
        compare_with_plain_run(compiled, &java)
    })
}

/// Runs the selected variants of the recording loader under a plan, each on one of two JDKs. `make
/// trust` runs all of them on the oldest JDK and half of them on the others.
fn all_variants(plan: impl Fn(u32) -> Plan, chosen: impl Fn(&Variant) -> bool) -> Outcome {
    let both = jdk::newest().is_some();
    on_each(|compiled| {
        let oldest = compiled.jdk == jdk::oldest();
        let mut failures = Vec::new();
        for (n, variant) in (0..).zip(variants().into_iter().filter(&chosen)) {
            // Neighbours in the list differ in one property only. With `n / 2`, each JDK has variants
            // with and without each property.
            if both && oldest != ((n / 2 + n) % 2 == 0) {
                continue;
            }
            if let Err(error) = recorded(compiled, variant, DEFAULT, plan(n), MILLISECONDS) {
                failures.push(format!("{variant}: {error}"));
            }
        }
        if failures.is_empty() {
            Ok(())
        } else {
            Err(failures.join("\n").into())
        }
    })
}

#[test]
fn no_thread_of_the_agent_calls_a_custom_loader() -> Outcome {
    all_variants(
        |_| Plan::Source(EVERYTHING),
        |variant| !variant.system && variant.name != ALL_LOCKED,
    )
}

/// The lock is also held for names that begin with `java.`. The agent had the loader find Veneer's
/// classes before it armed the first class of that loader.
#[test]
fn a_loader_lock_for_all_classes_causes_no_deadlock() -> Outcome {
    all_variants(
        |_| Plan::Source(EVERYTHING),
        |variant| variant.name == ALL_LOCKED,
    )
}

#[test]
fn no_thread_of_the_agent_calls_the_system_class_loader() -> Outcome {
    all_variants(
        |_| Plan::Source(EVERYTHING),
        |variant| variant.system && variant.name != ALL_LOCKED,
    )
}

#[test]
fn no_thread_of_the_agent_calls_a_loader_under_the_storm() -> Outcome {
    all_variants(Plan::Storm, |variant| {
        variant.parallel && variant.name != ALL_LOCKED
    })
}
