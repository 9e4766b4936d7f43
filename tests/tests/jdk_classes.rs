//! Classes of the JDK that Veneer's own code uses too, such as `java.util.HashMap`, can be
//! instrumented. A class that the check of a cell needs in each activation would make such a program
//! end by a stack overflow.

use std::time::Duration;

use veneer_tests::command::run;
use veneer_tests::folder::Folder;
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::live::{Live, number};
use veneer_tests::process::{Output, Process};
use veneer_tests::trust::hostile::compiled::{difference, run_with_thread_dump};
use veneer_tests::trust::programs::mode::storm;

/// The plan that uses every kind of instrument and edit on the JDK's classes.
const EVERYTHING: &str = include_str!("../java/library/everything.rhai");

/// The classes of the JDK that the storm meets.
const ARMED: [&str; 4] = [
    "java.util..*",
    "java.security..*",
    "java.lang..*",
    "jdk.internal..*",
];

/// How long a run may take.
const LIMIT: Duration = Duration::from_secs(120);

fn java(programs: &Programs) -> Process {
    programs.java("Library").args(["16000"])
}

fn run_plain(programs: &Programs) -> Result<Output, Box<dyn std::error::Error>> {
    let plain = run_with_thread_dump(programs.jdk(), &java(programs), LIMIT)?;
    Ok(plain.succeeded("the plain run")?)
}

/// Runs the program under a plan. The output must be that of the plain run. Returns what the plan
/// printed.
fn compare(
    programs: &Programs,
    plain: &Output,
    options: &[&str],
    plan: &str,
) -> Result<String, Box<dyn std::error::Error>> {
    let folder = Folder::new("library")?;
    let file = folder.join("plan.rhai");
    std::fs::write(&file, plan)?;
    let file = file.display().to_string();
    let options: Vec<&str> = options.iter().copied().chain(["--plan", &file]).collect();
    let output = run_with_thread_dump(programs.jdk(), &run(&options, &java(programs)), LIMIT)?;
    if let Some(text) = difference(plain, &output) {
        return Err(format!("{text}\n{}", output.err).into());
    }
    Ok(output.err)
}

#[test]
fn every_instrument_fits_the_classes_of_the_jdk() -> Outcome {
    on_a_jdk_with("library", |programs| {
        let plain = run_plain(programs)?;
        for policy in ["loop", "block"] {
            let err = compare(programs, &plain, &["--policy", policy], EVERYTHING)?;
            let attached = err.lines().rev().find_map(|line| number(line, "attached"));
            if attached.unwrap_or(0) < 3 {
                return Err(format!("{policy}: too little was attached: {err}").into());
            }
        }
        Ok(())
    })
}

#[test]
fn a_storm_on_the_classes_of_the_jdk_changes_no_result() -> Outcome {
    on_a_jdk_with("library", |programs| {
        let mut options = vec!["--policy", "loop"];
        ARMED
            .iter()
            .for_each(|pattern| options.extend(["--arm", pattern]));
        let plain = run_plain(programs)?;
        for seed in [1, 2] {
            let err = compare(programs, &plain, &options, &storm(seed))?;
            if number(&err, "attached").unwrap_or(0) < 100 {
                return Err(format!("the storm did too little: {err}").into());
            }
        }
        Ok(())
    })
}

/// The agent's own threads call these methods too. Their calls are not counted.
#[test]
fn calls_of_the_jdk_are_counted_exactly() -> Outcome {
    on_a_jdk_with("library", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Library")))?;
        for (command, pattern) in [
            (
                "put",
                "java.util.HashMap::put(java.lang.Object, java.lang.Object)",
            ),
            ("add", "java.util.ArrayList::add(java.lang.Object)"),
            ("lock", "java.util.concurrent.locks.ReentrantLock::lock()"),
            ("push", "java.util.LinkedList::push(java.lang.Object)"),
            (
                "parse",
                "java.lang.NumberFormatException::<init>(java.lang.String)",
            ),
        ] {
            let id = live.value(&format!("methods(\"{pattern}\").before(counter())"))?;
            // The method is compiled on the way, and called by the agent as well.
            for (calls, total) in [(3, 3), (200_000, 200_003), (50_000, 250_003)] {
                live.say(&format!("{command} {calls}"))?;
                live.line("done")?;
                let counted = live.sum(&id)?;
                if counted != total {
                    return Err(format!("{pattern}: {counted} calls of {total} are counted").into());
                }
            }
        }
        live.stop()?;
        Ok(())
    })
}
