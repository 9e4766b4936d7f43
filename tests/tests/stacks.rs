//! The information that a program gets about its own stack: the lines of stack traces, and the
//! callers of methods. The programs of `tests/java/stacks` print all of it. The output must be that
//! of a plain run, in every mode and on every JDK.

use veneer_tests::command::run;
use veneer_tests::folder::Folder;
use veneer_tests::jars;
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::live::{Live, number};
use veneer_tests::process::{Output, Process};

/// Counters on every block, timers around every method and on every loop. All of them change code
/// and add handlers.
const PLAN: &str = r#"let m = methods(["Traces*::*(..)", "Callers*::*(..)", "Observers*::*(..)", "other..*::*(..)"]);
    m.blocks().before(counter());
    m.around(timer());
    m.loops().around(timer());
    "#;

/// Counters on edges and exits, which are inserted at other positions.
const EDGES: &str = r#"methods("Traces::*(..)").edges().before(counter());
    methods(["Traces*::*(..)"]).exits().before(counter());
    "#;

fn compare_output(mode: &str, expected: &Output, output: &Output) -> Outcome {
    if output.code == expected.code && output.out == expected.out && output.err == expected.err {
        return Ok(());
    }
    let mut lines = Vec::new();
    let (mut left, mut right) = (expected.out.lines(), output.out.lines());
    loop {
        match (left.next(), right.next()) {
            (None, None) => break,
            (l, r) if l == r => {}
            (l, r) => lines.push(format!("  plain {l:?}\n  here  {r:?}")),
        }
    }
    lines.truncate(10);
    Err(format!(
        "{mode}: exit {} instead of {}\n{}\n{}",
        output.code,
        expected.code,
        lines.join("\n"),
        output.err
    )
    .into())
}

/// Runs a program plain and in all modes.
fn in_all_modes(programs: &Programs, name: &str, arguments: &[&str], plans: &[&str]) -> Outcome {
    let java = |options: &[&str]| -> Process {
        programs
            .launcher()
            .args(["-Xss640k", "-XX:-OmitStackTraceInFastThrow"])
            .args(options)
            .arg("-cp")
            .arg(programs.classes().path())
            .arg(name)
            .args(arguments)
    };
    let expected = java(&[]).run()?.succeeded(name)?;
    let folder = Folder::new("stacks")?;
    for policy in ["loop", "block"] {
        let armed = run(&["--policy", policy], &java(&[])).run()?;
        compare_output(&format!("armed, {policy}"), &expected, &armed)?;
    }
    for (n, text) in plans.iter().enumerate() {
        let plan = folder.join(&format!("plan{n}.rhai")).display().to_string();
        std::fs::write(&plan, text)?;
        for policy in ["loop", "block"] {
            let output = run(&["--policy", policy, "--plan", &plan], &java(&[])).run()?;
            compare_output(&format!("plan {n}, {policy}"), &expected, &output)?;
        }
    }
    Ok(())
}

#[test]
fn every_frame_of_every_trace_has_its_line() -> Outcome {
    on_a_jdk_with("stacks", |programs| {
        in_all_modes(programs, "Traces", &["30"], &[PLAN, EDGES])
    })
}

/// With this many iterations, the methods are compiled, and the lines are those of C2's debug
/// information.
#[test]
fn traces_of_compiled_code_have_their_lines() -> Outcome {
    on_a_jdk_with("stacks", |programs| {
        in_all_modes(programs, "Traces", &["800"], &[PLAN])
    })
}

/// Instruments are attached while a loop runs. Its activation moves to a version, and the exception
/// is thrown there.
#[test]
fn traces_of_activations_that_moved_have_their_lines() -> Outcome {
    on_a_jdk_with("stacks", |programs| {
        let expected = programs
            .java("Traces")
            .args(["2", "500"])
            .run()?
            .succeeded("Traces")?;
        let plain = run(&[], &programs.java("Traces").args(["2", "-1"]));
        let mut live = Live::start(&plain.env("TRACES_PID", "1"))?;
        live.line("running")?;
        let code =
            r#"let m = methods("Traces*::*(..)"); m.blocks().before(counter()); m.around(timer())"#;
        live.value(code)?;
        // The redirection keeps the target of the edge, but the activation moves nevertheless.
        live.value(r#"methods("Traces::through2(..)").redirect(1, 2, 2)"#)?;
        let turns = r#"methods("Traces::midLoop(..)").loops().before(counter())"#;
        let id = live.value(turns)?;
        veneer_tests::live::until("turns", || live.sum(&id), |hits| *hits > 3)?;
        let output = live.stop()?;
        let said: String = output
            .out
            .lines()
            .filter(|line| !line.starts_with("pid "))
            .map(|line| format!("{line}\n"))
            .collect();
        compare_output(
            "moved",
            &expected,
            &Output {
                out: said,
                ..output
            },
        )
    })
}

#[test]
fn methods_that_query_their_caller_see_the_host_method() -> Outcome {
    on_a_jdk_with("stacks", |programs| {
        in_all_modes(programs, "Callers", &[], &[PLAN])
    })
}

/// These observers see the line of the stub or the frames of versions. The test pins this, so that
/// the documentation stays true.
#[test]
fn observers_of_running_frames_see_the_documented_lines() -> Outcome {
    on_a_jdk_with("stacks", |programs| {
        let expected = programs.java("Observers").run()?.succeeded("Observers")?;
        let folder = Folder::new("stacks")?;
        let plan = folder.join("plan.rhai").display().to_string();
        std::fs::write(&plan, PLAN)?;
        let output = run(&["--plan", &plan], &programs.java("Observers")).run()?;
        let value = |output: &Output, word: &str| number(&output.out, word);
        // The stack trace of the thread itself and that of an exception are exact. A stack walker
        // sees the line at which the activation left the host method.
        for word in ["own", "exception", "frames", "visible"] {
            assert_eq!(
                value(&output, word),
                value(&expected, word),
                "{word}: {}",
                output.out
            );
        }
        Ok(())
    })
}

/// Time in a version is attributed to the method's own name, with the line and with the frame of
/// the host method below.
#[test]
fn samples_of_the_flight_recorder_show_the_host_method() -> Outcome {
    on_a_jdk_with("stacks", |programs| {
        let folder = Folder::new("stacks")?;
        let plan = folder.join("plan.rhai").display().to_string();
        std::fs::write(
            &plan,
            r#"methods("Sampled::busy(..)").blocks().before(counter());"#,
        )?;
        let plain = programs.java("Sampled").run()?.succeeded("Sampled")?;
        assert!(plain.out.contains("top host busy"), "{}", plain.out);
        let output = run(&["--plan", &plan], &programs.java("Sampled"))
            .run()?
            .succeeded("Sampled")?;
        assert!(
            output.out.contains("top version busy$eN")
                || output.out.contains("top version busy$rN"),
            "{}",
            output.out
        );
        for line in ["samples many", "unnamed 0", "without the host 0"] {
            assert!(output.out.contains(line), "{line}: {}", output.out);
        }
        Ok(())
    })
}

/// A profiler that reads stacks within a signal handler (`AsyncGetCallTrace`) sees the same frames.
#[test]
fn samples_of_async_profiler_show_the_host_method() -> Outcome {
    let jar = jars::jar("async-profiler")?;
    on_a_jdk_with("stacks", |programs| {
        let folder = Folder::new("stacks")?;
        let library = match std::env::consts::ARCH {
            "aarch64" => "linux-arm64/libasyncProfiler.so",
            _ => "linux-x64/libasyncProfiler.so",
        };
        Process::new(programs.jdk().tool("jar"))
            .args(["--extract", "--file"])
            .arg(&jar)
            .arg(library)
            .folder(folder.path())
            .run()?
            .succeeded("jar")?;
        let (plan, stacks) = (folder.join("plan.rhai"), folder.join("stacks.txt"));
        std::fs::write(
            &plan,
            r#"methods("Busy::busy(..)").blocks().before(counter());"#,
        )?;
        let profiler = format!(
            "-agentpath:{}=start,event=itimer,interval=5ms,collapsed,file={}",
            folder.join(library).display(),
            stacks.display()
        );
        let java = programs
            .launcher()
            .arg(&profiler)
            .arg("-cp")
            .arg(programs.classes().path())
            .arg("Busy");
        run(&["--plan", &plan.display().to_string()], &java)
            .run()?
            .succeeded("Busy")?;
        let text = std::fs::read_to_string(&stacks)?;
        let (mut shown, mut lost) = (0, Vec::new());
        // The initialiser of a version class runs in the thread that defines it.
        let in_body = |line: &&str| line.contains("Busy$V") && !line.contains(".<clinit>");
        for line in text.lines().filter(in_body) {
            let host = line.find("Busy.busy;");
            let body = line.find(".busy$e").or_else(|| line.find(".busy$r"));
            match (host, body) {
                (Some(host), Some(body)) if host < body => shown += 1,
                _ => lost.push(line),
            }
        }
        assert!(shown > 0 && lost.is_empty(), "{lost:?} of\n{text}");
        Ok(())
    })
}
