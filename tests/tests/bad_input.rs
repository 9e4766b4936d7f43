//! Invalid input is reported and harmless: patterns that match nothing, faulty and endless plans,
//! damaged class files, processes that are not JVMs.

use veneer_tests::command::{run, veneer};
use veneer_tests::folder::Folder;
use veneer_tests::java_programs::{Outcome, Programs, check_loop_result, on_a_jdk};
use veneer_tests::jdk;
use veneer_tests::process::{Process, end_group};
use veneer_tests::report::Report;

#[test]
fn a_pattern_that_matches_nothing_is_reported_with_the_nearest_class() -> Outcome {
    let programs = Programs::compile(jdk::oldest())?;
    let live = programs.armed("RunningLoop")?;
    let output = live.exec(r#"methods("RunningLop::loop(..)").before(counter())"#)?;
    assert_eq!(output.code, 0, "a warning is no error: {output:?}");
    let text = output.out + &output.err;
    for part in ["warning", "RunningLop::loop(..)", "RunningLoop"] {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
    assert_eq!(live.stop()?.code, 0);
    Ok(())
}

#[test]
fn a_plan_error_is_reported_and_the_application_continues() -> Outcome {
    let programs = Programs::compile(jdk::oldest())?;
    let folder = Folder::new("plans")?;
    let java = programs.java("Damaged");
    let plain = java.run()?;
    for (name, source, place) in [
        (
            "syntax.rhai",
            "let a = 1;\nlet b = methods(\"A\".;\n",
            "syntax.rhai:2:",
        ),
        (
            "name.rhai",
            "let m = methods(\"Damaged::*(..)\");\n  m.before(countr());\n",
            "name.rhai:2:12:",
        ),
        (
            "pattern.rhai",
            "\n\nmethods(\"a..b..::(\").before(counter());\n",
            "pattern.rhai:3:",
        ),
    ] {
        let plan = folder.join(name);
        std::fs::write(&plan, source)?;
        let plan = plan.to_string_lossy().into_owned();
        let output = run(&["--plan", &plan], &java).run()?;
        assert_eq!((output.code, &output.out), (0, &plain.out), "{name}");
        let caret = output
            .err
            .lines()
            .any(|line| line.trim_start_matches([' ', '|']).starts_with('^'));
        assert!(
            output.err.contains(place) && caret,
            "{name}: {}",
            output.err
        );
        let line = source
            .lines()
            .find(|line| !line.is_empty() && !line.starts_with("let"))
            .unwrap_or("let b");
        assert!(
            output.err.contains(line.trim()),
            "{name}: the source line is missing: {}",
            output.err
        );
        let strict = run(&["--strict", "--plan", &plan], &java).run()?;
        assert_eq!(
            (strict.code, strict.out.as_str()),
            (2, ""),
            "{name} --strict: {}",
            strict.err
        );
    }
    Ok(())
}

#[test]
fn an_endless_plan_is_stopped() -> Outcome {
    let programs = Programs::compile(jdk::oldest())?;
    let live = programs.armed("RunningLoop")?;
    for code in [
        "loop {}",
        "fn f(n) { f(n + 1) } f(0)",
        "let s = \"x\"; loop { s += s; }",
    ] {
        let output = live.exec(code)?;
        assert_eq!(output.code, 1, "{code}: {output:?}");
        assert!(output.err.contains("-e:1:"), "{code}: {}", output.err);
    }
    // The plan thread is available again, and the application was not affected.
    assert_eq!(live.value("40 + 2")?, "42");
    let output = live.stop()?;
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    check_loop_result(&output.out)
}

#[test]
fn a_failing_exec_leaves_nothing_behind() -> Outcome {
    let programs = Programs::compile(jdk::oldest())?;
    let live = programs.armed("RunningLoop")?;
    let code = r#"methods("RunningLoop::loop(..)").loops().before(counter()); nothing_like_this()"#;
    let output = live.exec(code)?;
    assert_eq!(output.code, 1, "{output:?}");
    assert!(output.err.contains("nothing_like_this"), "{}", output.err);
    assert_eq!(
        live.value("instruments().filter(|i| i.attached).len()")?,
        "0"
    );
    check_loop_result(&live.stop()?.out)
}

#[test]
fn damaged_classes_fail_as_without_veneer() -> Outcome {
    on_a_jdk(|programs| {
        let java = programs.java("Damaged");
        let plain = java.run()?;
        let folder = Folder::new("damaged")?;
        let (plan, file) = (folder.join("plan.rhai"), folder.join("report.json"));
        std::fs::write(
            &plan,
            "methods(\"Damaged*::*(..)\").blocks().before(counter());\n",
        )?;
        let (plan, report) = (plan.to_string_lossy(), file.to_string_lossy());
        for options in [
            vec!["--report", &report],
            vec!["--report", &report, "--plan", &plan],
        ] {
            let output = run(&options, &java).run()?;
            assert_eq!(
                (output.code, output.out),
                (plain.code, plain.out.clone()),
                "{options:?}"
            );
            let refused = Report::read(&file)?.refusals;
            assert!(
                refused.iter().any(|one| one.method.is_empty()),
                "no damaged class is recorded: {refused:?}"
            );
        }
        Ok(())
    })
}

#[test]
fn a_process_that_is_not_a_jvm_is_reported() -> Outcome {
    let mut sleeper = Process::new("sleep").arg("30").start()?;
    for (pid, word) in [(sleeper.id(), "no JVM"), (4_000_000, "no process")] {
        let output = veneer().args(["exec", &pid.to_string(), "-e", "1"]).run()?;
        assert_eq!(
            (output.code, output.err.lines().count()),
            (2, 1),
            "{output:?}"
        );
        assert!(output.err.contains(word), "{output:?}");
    }
    assert!(sleeper.try_wait()?.is_none(), "the process was hurt");
    end_group(&mut sleeper);
    Ok(())
}

#[test]
fn a_command_without_a_jvm_is_reported() -> Outcome {
    let message = "no JVM has run under Veneer";
    let output = run(&[], &Process::new("true")).run()?;
    assert_eq!(output.code, 0, "{output:?}");
    assert!(output.err.contains(message), "{}", output.err);
    let folder = Folder::new("kept")?;
    let kept = folder.path().to_string_lossy().into_owned();
    let output = run(&["--data", &kept], &Process::new("true")).run()?;
    assert!(output.err.contains(message), "{}", output.err);

    let programs = Programs::compile(jdk::oldest())?;
    let java = programs.java("Damaged");
    for options in [&[] as &[&str], &["--data", &kept]] {
        let output = run(options, &java).run()?;
        assert_eq!(output.code, 0, "{output:?}");
        assert!(!output.err.contains(message), "{}", output.err);
    }
    Ok(())
}
