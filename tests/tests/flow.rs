//! Counts that follow from those of other fragments and edges are the counts of counters on each of them: in programs that come to
//! their end, in activations that stand in the middle, and in those that pass through one version after the other.

use veneer_tests::agreement::Agreement;
use veneer_tests::report::Report;
use veneer_tests::running::{Outcome, Programs, on_each_jdk_with, reported};

/// Every fragment and every edge of a program's classes, counted by flow and one by one.
fn both(classes: &[&str]) -> String {
    let patterns: Vec<String> = classes.iter().map(|name| format!("\"{name}\"")).collect();
    format!(
        "let all = methods([{}]);\n\
         let flow = [all.blocks().before(counter().named(\"flow\")), all.edges().before(counter().named(\"flow\"))];\n\
         let each = [all.blocks().before(counter().each().named(\"each\")), all.edges().before(counter().each().named(\"each\"))];\n",
        patterns.join(", ")
    )
}

/// Fails unless both agree at so many points, some of which were passed.
fn agree(report: &Report, points: usize, what: &str) -> Outcome {
    let found = Agreement::of(report);
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

fn ends_well(programs: &Programs, name: &str) -> Outcome {
    let (output, report) = reported(&programs.java(name), &both(&[name, &format!("{name}$*")]))?;
    assert_eq!((output.code, output.err.as_str()), (0, ""), "{name}");
    agree(&report, 10, name)
}

#[test]
fn programs_that_come_to_their_end() -> Outcome {
    on_each_jdk_with("counts", |programs| {
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
            ends_well(programs, name)?;
        }
        Ok(())
    })
}

/// Programs that end the JVM while activations stand in the middle of methods.
fn ends_amid(name: &str, points: usize) -> Outcome {
    on_each_jdk_with("flow", |programs| {
        let (output, report) = reported(&programs.java(name), &both(&[name]))?;
        let shown = (output.code, output.out.as_str());
        assert_eq!(shown, (3, "ends\n"), "{output:?}");
        agree(&report, points, name)
    })
}

#[test]
fn activations_that_stand_in_the_middle() -> Outcome {
    ends_amid("Standing", 40)
}

#[test]
fn virtual_threads_that_are_parked() -> Outcome {
    ends_amid("Parked", 20)
}

#[test]
fn activations_that_pass_from_version_to_version() -> Outcome {
    on_each_jdk_with("flow", |programs| {
        // Each timer is another version of each method; each edit makes it count one by one, and its end by flow again.
        let plan = both(&["Changing"])
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
        let (output, report) = reported(&programs.java("Changing"), &plan)?;
        assert_eq!(
            (output.code, output.out.as_str(), output.err.as_str()),
            (0, "true\ntrue\ntrue\n", ""),
        );
        let timers = report.instruments.iter().filter(|i| i.kind == "timer");
        assert!(timers.count() > 10, "hardly anything changed");
        agree(&report, 60, "Changing")
    })
}
