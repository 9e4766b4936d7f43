//! `optimise("specialise")` on a real program: guards that pass and fail at random change no result, no exception and no
//! line of a stack trace, with instruments and without.

use std::time::Duration;

use veneer_tests::command::run;
use veneer_tests::folder::Folder;
use veneer_tests::huge_method::sums;
use veneer_tests::java_programs::{Outcome, Programs};
use veneer_tests::jdk;
use veneer_tests::live::Live;
use veneer_tests::phases::alternate;
use veneer_tests::process::Process;
use veneer_tests::random::Draw;

/// The cycles of attaching and detaching.
const CYCLES: usize = 24;

/// The methods, with the parameters that can be constants.
const METHODS: [(&str, &[u16]); 4] = [
    ("blend", &[1, 2, 3]),
    ("recursive", &[0, 1]),
    ("locked", &[0, 2]),
    ("step", &[0]),
];

fn constants(programs: &Programs, rounds: usize, percent: &str) -> Process {
    let java = programs.launcher().arg("-XX:-OmitStackTraceInFastThrow");
    let java = java.arg("-cp").arg(programs.classes().path());
    java.args(["Constants", &rounds.to_string(), percent])
}

fn specialise(method: &str, parameter: u16, value: &str) -> String {
    format!(
        "methods(\"Constants::{method}(..)\").optimise(\"specialise\", #{{ parameter: {parameter}, value: {value} }})"
    )
}

/// Compares the rounds of a program with those of a plain run.
fn check_rounds(programs: &Programs, out: &str, percent: &str, label: &str) -> Outcome {
    let found = sums(out);
    let plain = constants(programs, found.len(), percent).run()?;
    let expected = sums(&plain.succeeded("the plain run")?.out);
    if let Some(round) = (0..found.len()).find(|n| expected.get(*n) != found.get(*n)) {
        return Err(format!("{label}: round {round} differs: {:?}", found.get(round)).into());
    }
    println!("{label}: {} rounds are equal", found.len());
    Ok(())
}

/// Makes parameters constants with right and wrong values, with instruments that come and go.
fn storm(live: &Live, seed: u64) -> Outcome {
    let mut draw = Draw::new(seed);
    for _ in 0..CYCLES {
        let mut edits = Vec::new();
        for (method, parameters) in METHODS {
            let parameter = draw.pick(parameters);
            let value = draw.pick(&["8", "8", "7", "true", "'a'", "0"]);
            edits.push(specialise(method, parameter, value));
        }
        let instrument = draw.pick(&[
            "blocks().before(counter())",
            "around(timer())",
            "entry().before(counter())",
        ]);
        live.value(&format!(
            "let all = [{}];\n\
             let seen = methods(\"Constants::*(..)\").{instrument};\n\
             after({:.2}, || seen.detach()); after({:.2}, || {{ for one in all {{ one.detach(); }} }});",
            edits.join(", "),
            draw.below(300) as f64 / 1000.0,
            draw.below(300) as f64 / 1000.0
        ))?;
        std::thread::sleep(Duration::from_millis(350));
    }
    Ok(())
}

#[test]
fn guards_that_fail_at_random_change_nothing() -> Outcome {
    for jdk in jdk::for_this_test() {
        let programs = Programs::compile_folder(jdk.clone(), "tune")?;
        for (policy, seed) in [("loop", 1), ("block", 2)] {
            // Each version is checked against the method, as `--check` does.
            let java = constants(&programs, 0, "60");
            let live = Live::start(&run(&["--policy", policy, "--check"], &java))?;
            storm(&live, seed)?;
            let output = live.stop()?;
            assert_eq!(output.err, "", "{policy}");
            check_rounds(&programs, &output.out, "60", &format!("{jdk}, {policy}"))?;
        }
    }
    Ok(())
}

/// The entries are counted from the start to the end of the program, and the guard begins in the middle. Each call of
/// `locked` calls `step` once, whether the guard passes or fails.
const COUNTING_PLAN: &str = r#"
let inner = methods("Constants::step(..)");
let calls = inner.entry().before(counter());
let outer = methods("Constants::locked(..)").entry().before(counter());
let state = #{ made: false };
after(0.5, || {
    inner.optimise("specialise", #{ parameter: 0, value: 8 });
    state.made = true;
});
at_exit(|| print(`counted ${state.made} ${calls.hits()} ${outer.hits()}`));
"#;

#[test]
fn a_failed_guard_is_no_second_call() -> Outcome {
    for jdk in jdk::for_this_test() {
        let programs = Programs::compile_folder(jdk, "tune")?;
        let folder = Folder::new("specialise-plan")?;
        let plan = folder.join("counts.rhai");
        std::fs::write(&plan, COUNTING_PLAN)?;
        let java = constants(&programs, 800, "60");
        let output = run(&["--plan", &plan.display().to_string()], &java).run()?;
        let output = output.succeeded("the counted run")?;
        let all = format!("{}\n{}", output.out, output.err);
        let line = all.lines().find_map(|line| line.split_once("counted "));
        let words: Vec<&str> = line.map_or_else(Vec::new, |(_, rest)| rest.split(' ').collect());
        println!("{words:?}");
        assert_eq!(words.len(), 3, "{all}");
        assert_eq!(words[0], "true", "the program ended too early");
        assert_eq!(words[1], words[2]);
        assert!(words[1].parse::<u64>()? > 50_000, "{words:?}");
        check_rounds(&programs, &output.out, "60", "counted")?;
    }
    Ok(())
}

#[test]
fn parameters_that_cannot_be_constants_are_refused_by_name() -> Outcome {
    let jdk = jdk::newest().ok_or("no JDK")?;
    let programs = Programs::compile_folder(jdk, "tune")?;
    let live = Live::start(&run(&[], &constants(&programs, 0, "10")))?;
    for (method, parameter, word) in [
        ("assigned", 0, "ParameterAssigned"),
        ("blend", 0, "NoParameter"),
        ("locked", 1, "NoParameter"),
        ("step", 9, "NoParameter"),
    ] {
        let refused = live.exec(&specialise(method, parameter, "8"))?;
        assert_eq!(refused.code, 1, "{method} {parameter}: {refused:?}");
        assert!(refused.err.contains(word), "{method}: {}", refused.err);
    }
    assert_eq!(live.value("edits().filter(|e| e.active).len()")?, "0");
    let output = live.stop()?;
    check_rounds(&programs, &output.out, "10", "refused")
}

/// Prints the times of the rounds. How much faster they are is a measurement of `ARCHITECTURE.md`.
#[test]
fn a_parameter_that_hardly_ever_changes_becomes_a_constant() -> Outcome {
    for jdk in jdk::for_this_test() {
        let programs = Programs::compile_folder(jdk.clone(), "tune")?;
        let mut live = Live::start(&run(&[], &constants(&programs, 0, "20")))?;
        let change = specialise("blend", 1, "8");
        let phases = alternate(&mut live, &change, (1, Duration::from_secs(2)))?;
        println!("{jdk}: microseconds a round: {phases:?}");
        let output = live.stop()?;
        check_rounds(&programs, &output.out, "20", "constant")?;
    }
    Ok(())
}
