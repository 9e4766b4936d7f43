//! Hundreds of instruments that are attached and detached while threads run, and the memory that
//! remains afterwards.

use veneer_tests::command::run;
use veneer_tests::folder::{Folder, workspace};
use veneer_tests::java_programs::{Outcome, Programs};
use veneer_tests::jdk::{self, Jdk};
use veneer_tests::live::{Live, number};
use veneer_tests::report::Report;

/// Duration of the storm in milliseconds.
const STORM: &str = "5000";

/// Runs seven threads under a plan that attaches and detaches at random. Each round of each thread
/// must have the same result.
fn storm(jdk: Jdk, options: &[&str]) -> Outcome {
    let programs = Programs::compile_folder(jdk, "storm")?;
    let plain = programs
        .java("Storm")
        .arg("200")
        .run()?
        .succeeded("Storm")?;
    assert_eq!(plain.out.lines().count(), 8, "{}", plain.out);
    let folder = Folder::new("storm")?;
    let report = folder.join("report.json").display().to_string();
    let plan = workspace()
        .join("tests/java/storm/storm.rhai")
        .display()
        .to_string();
    let jvm = programs
        .launcher()
        .args(options)
        .arg("-cp")
        .arg(programs.classes().path())
        .args(["Storm", STORM]);
    let output = run(&["--plan", &plan, "--report", &report], &jvm).run()?;
    assert_eq!(
        (output.code, &output.out),
        (0, &plain.out),
        "{}",
        output.err
    );
    let said = output
        .err
        .lines()
        .find(|line| line.starts_with("storm made "));
    let made = said
        .and_then(|line| number(line, "made"))
        .ok_or_else(|| output.err.clone())?;
    assert!(made >= 10, "the plan attached {made} instruments only");
    let refused = said.and_then(|line| number(line, "refused"));
    assert_eq!(refused, Some(0), "{}", output.err);
    // The expected obstacles: a monitor, a variable that is not live, and the size limit of
    // inlining.
    let report = Report::read(std::path::Path::new(&report))?;
    let expected = ["MonitorHeld", "VariableNotLive", "InlineLimit"];
    let others: Vec<_> = report
        .refusals
        .iter()
        .filter(|one| !expected.contains(&one.reason.as_str()))
        .collect();
    assert!(others.is_empty(), "{others:?}");
    assert!(
        report.hits() > 1000,
        "hardly anything was counted: {}",
        report.hits()
    );
    Ok(())
}

#[test]
fn a_storm_of_instruments_changes_no_result_on_the_oldest_jdk() -> Outcome {
    storm(jdk::oldest(), &[])
}

#[test]
fn a_storm_of_instruments_changes_no_result_on_the_newest_jdk() -> Outcome {
    storm(jdk::newest().unwrap_or_else(jdk::oldest), &[])
}

/// Attaches and detaches `times` times on a method that is called continuously and on an endless
/// loop.
fn cycle(live: &Live, times: u32) -> Outcome {
    // The plan is split because a plan has a time limit.
    for _ in 0..times / 50 {
        live.value(
            "for i in 0..25 {\n\
                 let h = methods(\"Cycles::work(..)\").blocks().before(counter());\n\
                 h.detach();\n\
                 let t = methods(\"Cycles::loop(..)\").loops().around(timer());\n\
                 t.detach();\n\
             }",
        )?;
    }
    Ok(())
}

/// Returns the bytes in use in Metaspace after a collection.
fn metaspace(live: &mut Live) -> Result<i64, Box<dyn std::error::Error>> {
    live.say("memory")?;
    Ok(live.line("metaspace ")?.parse()?)
}

fn memory_stays(jdk: Jdk) -> Outcome {
    let programs = Programs::compile_folder(jdk, "storm")?;
    let mut live = Live::start(&run(&[], &programs.java("Cycles")))?;
    cycle(&live, 100)?;
    let early = metaspace(&mut live)?;
    cycle(&live, 900)?;
    let late = metaspace(&mut live)?;
    assert!(
        late <= early + early / 10 + (1 << 20),
        "Metaspace grew from {early} bytes after 100 cycles to {late} after 1000"
    );
    let output = live.stop()?;
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    Ok(())
}

#[test]
fn a_thousand_cycles_leave_nothing_in_metaspace_on_the_oldest_jdk() -> Outcome {
    memory_stays(jdk::oldest())
}

#[test]
fn a_thousand_cycles_leave_nothing_in_metaspace_on_the_newest_jdk() -> Outcome {
    memory_stays(jdk::newest().unwrap_or_else(jdk::oldest))
}
