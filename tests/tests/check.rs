//! `veneer run --check`: the checker proves all emitted code before the JVM gets it. The program is
//! not affected, counts are exact, an edit of a running loop has its effect, and nothing is refused
//! because a proof is missing.
//!
//! The opposite case is a test of `veneer-fragmenter` (`check_guard.rs`): code that the checker
//! rejects is refused with the code `CheckFailed`. An end-to-end test cannot make Veneer emit wrong
//! code.

use std::time::Duration;

use veneer_tests::command::run;
use veneer_tests::comparison::compare;
use veneer_tests::folder::{Folder, workspace};
use veneer_tests::java_programs::{Outcome, on_a_jdk, on_a_jdk_with};
use veneer_tests::live::{Live, number, until};
use veneer_tests::program::Program;
use veneer_tests::report::Report;

/// Programs with loops, handlers, monitors, switches and constructors.
const COUNTED: [&str; 5] = [
    "Loops",
    "Finally",
    "SynchronizedBlocks",
    "Switches",
    "Constructors",
];

fn nothing_unproved(report: &Report) -> Outcome {
    match report.refusals.iter().find(|r| r.reason == "CheckFailed") {
        None => Ok(()),
        Some(refusal) => Err(format!("{refusal:?}").into()),
    }
}

#[test]
fn counts_are_exact_with_every_version_proved() -> Outcome {
    on_a_jdk_with("counts", |programs| {
        for name in COUNTED {
            let source = workspace().join(format!("tests/java/counts/{name}.java"));
            let program = Program::read(&source).map_err(|error| error.to_string())?;
            let plain = programs.java(name).run()?;
            let folder = Folder::new(name)?;
            let (plan, report) = (folder.join("plan.rhai"), folder.join("report.json"));
            std::fs::write(&plan, program.plan())?;
            let (plan, to) = (plan.to_string_lossy(), report.to_string_lossy());
            let options = ["--check", "--plan", &plan, "--report", &to];
            let output = run(&options, &programs.java(name)).run()?;
            assert_eq!(
                (output.code, &*output.out, &*output.err),
                (plain.code, &*plain.out, &*plain.err),
                "{name}"
            );
            let report = Report::read(&report).map_err(|error| error.to_string())?;
            nothing_unproved(&report)?;
            let differences = compare(&program, &report, programs.jdk().major());
            assert!(differences.is_empty(), "{name}: {differences:#?}");
        }
        Ok(())
    })
}

/// A counter, a log and probe code that are each limited to a number of hits, in the loops and
/// calls of `Rounds`.
const LIMITED: &str = r#"
    let t = tally();
    let hits = methods("Rounds::leaf(..)").before(counter().times(3));
    let kept = methods("Rounds::inside(..)").entry().before(log("depth").times(2));
    let seen = methods("Rounds::counted(..)").before(code(|p| t.count("counted")).times(4));
    let each = methods(["Rounds::left(..)", "Rounds::right(..)"]).loops().before(counter().times_each(2));
    at_exit(|| {
        print(`hits ${hits.hits()}`);
        print(`kept ${kept.hits()} ${kept.events(10).map(|e| e.values.depth)}`);
        print(`seen ${seen.hits()} ${t.rows()[0].count}`);
        print(`each ${each.rows().map(|r| r.hits)}`);
    });
"#;

#[test]
fn limited_instruments_are_proved_too() -> Outcome {
    on_a_jdk_with("shipped", |programs| {
        let java = programs.java("Rounds").arg("once");
        let plain = java.run()?.succeeded("Rounds")?;
        let folder = Folder::new("check")?;
        let (plan, report) = (folder.join("plan.rhai"), folder.join("report.json"));
        std::fs::write(&plan, LIMITED)?;
        let (plan, to) = (plan.to_string_lossy(), report.to_string_lossy());
        let options = ["--check", "--plan", &plan, "--report", &to];
        let output = run(&options, &java).run()?.succeeded("Rounds")?;
        nothing_unproved(&Report::read(&report).map_err(|error| error.to_string())?)?;
        // The output without the process id.
        let rest = |out: &str| out.lines().skip(1).map(String::from).collect::<Vec<_>>();
        assert_eq!(rest(&output.out), rest(&plain.out));
        let said: Vec<&str> = output.err.lines().collect();
        assert_eq!(
            said,
            ["hits 3", "kept 2 [3, 2]", "seen 4 4", "each [2, 2]"],
            "{}",
            output.err
        );
        Ok(())
    })
}

#[test]
fn a_proved_edit_reaches_a_running_loop_and_can_be_undone() -> Outcome {
    on_a_jdk(|programs| {
        let folder = Folder::new("check")?;
        let report = folder.join("report.json");
        let to = report.to_string_lossy();
        let java = programs.java("EdgeRedirect");
        let mut live = Live::start(&run(&["--check", "--report", &to], &java))?;
        // Without edits, the loop takes the left and the right branch alternately.
        live.value("methods(\"EdgeRedirect::loop(..)\").redirect(2, 3, 4)")?;
        until(
            "turns that go right only",
            || {
                live.say("show")?;
                let line = format!("left {}", live.line("left ")?);
                Ok(number(&line, "right").unwrap_or(0) - number(&line, "left").unwrap_or(0))
            },
            |more| *more > 1000,
        )?;
        live.value("detach_all()")?;
        std::thread::sleep(Duration::from_millis(200));
        let output = live.stop()?;
        assert_eq!((output.code, &*output.err), (0, ""));
        let line = output.out.lines().rev().find(|l| l.starts_with("left "));
        let line = line.ok_or("no end")?;
        let of = |word| number(line, word).ok_or_else(|| line.to_string());
        assert_eq!(of("left")? + of("right")?, of("turns")?, "{line}");
        nothing_unproved(&Report::read(&report).map_err(|error| error.to_string())?)
    })
}
