//! The agent never calls a class loader of the application: no thread of the agent loads a class through it or waits for its locks.

use std::time::Duration;

use veneer_tests::jdk;
use veneer_tests::process::Process;
use veneer_tests::running::Outcome;
use veneer_tests::trust::hostile::compiled::{
    Compiled, EVERYTHING, Plan, difference, under, watched,
};
use veneer_tests::trust::hostile::loaders::{Variant, recorded, variants};
use veneer_tests::trust::hostile::settings::DEFAULT;

/// The variant that holds its lock for every class.
const ALL_LOCKED: &str = "blocks-all";

/// Counters on every block, once the loader's program has all its classes that it loads before its end.
const LATE_COUNTERS: &str = r#"
after(1.5, || {
    let hits = methods("named.App").blocks().before(counter());
    at_exit(|| print(`counted ${hits.hits()} passes`));
});
"#;

/// On the oldest and the newest JDK; all failures in one error.
fn on_each(test: impl Fn(&Compiled) -> Outcome) -> Outcome {
    let mut failures = Vec::new();
    for jdk in [Some(jdk::oldest()), jdk::newest()].into_iter().flatten() {
        if let Err(error) = test(&Compiled::on(&jdk)?) {
            failures.push(format!("{jdk}: {error}"));
        }
    }
    if failures.is_empty() {
        Ok(())
    } else {
        Err(failures.join("\n").into())
    }
}

/// Runs a program plain and with late counters; the outputs must be the same, and something must be counted.
fn same(compiled: &Compiled, java: &Process) -> Outcome {
    let limit = Duration::from_secs(30);
    let plain = watched(&compiled.jdk, java, limit)?.succeeded("the plain run")?;
    let output = under(&compiled.jdk, Plan::Source(LATE_COUNTERS), java, limit)?;
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
fn the_application_s_loader_loads_what_it_loads_without_veneer() -> Outcome {
    on_each(|compiled| {
        let java = compiled.java(&[], "LoadOrder").arg(compiled.guests());
        same(compiled, &java)
    })
}

#[test]
fn a_lock_that_is_held_while_versions_are_linked_is_no_deadlock() -> Outcome {
    on_each(|compiled| {
        let java = compiled.java(&[], "LockedLoader").arg(compiled.guests());
        same(compiled, &java)
    })
}

/// All variants of the recording loader under a plan.
fn all_variants(plan: impl Fn(u32) -> Plan, chosen: impl Fn(&Variant) -> bool) -> Outcome {
    on_each(|compiled| {
        let mut failures = Vec::new();
        for (n, variant) in (0..).zip(variants().into_iter().filter(&chosen)) {
            if let Err(error) = recorded(compiled, variant, DEFAULT, plan(n), 1200) {
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

/// The lock is held for names that begin with `java.`, too. The agent had the loader find Veneer's classes before it armed the first
/// class of that loader.
#[test]
fn a_lock_for_all_classes_is_no_deadlock() -> Outcome {
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
