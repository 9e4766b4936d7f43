//! Methods of more than 8,000 bytes under `optimise("huge")`: their only activation moves between the
//! parts and back to the method's own code, with instruments and without, and no result changes.

use std::time::Duration;

use veneer_tests::command::{run, veneer};
use veneer_tests::folder::Folder;
use veneer_tests::huge_method::{self, sums, times};
use veneer_tests::java_programs::{Outcome, Programs};
use veneer_tests::jdk::{self, Jdk};
use veneer_tests::live::{Live, until};
use veneer_tests::process::Process;
use veneer_tests::wide_classes::{class_of_blocks, class_of_methods};

/// The steps of a round.
const STEPS: &str = "20000";

fn program(jdk: &Jdk, classes: &Folder, rounds: usize) -> Process {
    jdk.verifying_java()
        .arg("-cp")
        .arg(classes.path())
        .args(["Huge", &rounds.to_string(), STEPS])
}

fn compiled(jdk: &Jdk) -> Result<Folder, Box<dyn std::error::Error>> {
    let sources = Folder::new("huge-sources")?;
    let classes = Folder::new("huge")?;
    jdk.compile(&huge_method::generate(sources.path())?, classes.path())?;
    Ok(classes)
}

fn wait_for_own_code(live: &Live, after: &str) -> Outcome {
    until(
        &format!("the activation after {after}"),
        || live.value("stale()"),
        |stale| stale == "0",
    )?;
    Ok(())
}

fn check_under_policy(jdk: &Jdk, classes: &Folder, policy: &str) -> Outcome {
    let pause = || std::thread::sleep(Duration::from_millis(500));
    let java = program(jdk, classes, 0);
    // Each version is checked against the method, as `--check` does.
    let live = Live::start(&run(&["--policy", policy, "--check"], &java))?;
    pause();
    for bytes in [5_000, 2_500, 1_200] {
        live.value(&format!(
            "let m = methods(\"Huge::run(..)\"); let p = m.optimise(\"huge\", #{{ bytes: {bytes} }}); after(0.4, || p.detach());"
        ))?;
        pause();
        wait_for_own_code(&live, &format!("parts of {bytes} bytes"))?;
    }
    // Instruments come and go while the method is split, and the other way round.
    let counted = live.value("methods(\"Huge::run(..)\").blocks().before(counter())")?;
    pause();
    let split = live.value(&format!(
        "methods(\"Huge::run(..)\").optimise(\"huge\", #{{ counts: \"{counted}\" }})"
    ))?;
    pause();
    let before = live.sum(&counted)?;
    pause();
    let after = live.sum(&counted)?;
    if after <= before {
        return Err(format!("{policy}: nothing is counted in the parts: {before}, {after}").into());
    }
    let timed = live.value("methods(\"Huge::run(..)\").loops().around(timer())")?;
    live.value(&format!("detach(\"{counted}\")"))?;
    pause();
    veneer()
        .args(["detach", &live.pid().to_string(), &split])
        .run()?
        .succeeded("veneer detach")?;
    pause();
    live.value(&format!("detach(\"{timed}\")"))?;
    wait_for_own_code(&live, "the last instrument")?;
    let refused = live.exec("methods(\"Huge::run(..)\").optimise(\"huge\", #{ bytes: 3 })")?;
    if refused.code != 1 || !refused.err.contains("PartTooLarge") {
        return Err(format!("{policy}: {refused:?}").into());
    }
    let output = live.stop()?;
    if !output.err.is_empty() {
        return Err(format!("{policy}: {}", output.err).into());
    }
    let found = sums(&output.out);
    let plain = program(jdk, classes, found.len()).run()?;
    let expected = sums(&plain.succeeded("the plain run")?.out);
    if let Some(round) = (0..found.len()).find(|n| expected.get(*n) != found.get(*n)) {
        return Err(format!(
            "{policy}: round {round} differs: {:?}, not {:?}",
            found.get(round),
            expected.get(round)
        )
        .into());
    }
    println!("{policy}: {} rounds are equal", found.len());
    Ok(())
}

#[test]
fn the_only_activation_of_a_huge_method_moves_between_its_parts() -> Outcome {
    for jdk in jdk::for_this_test() {
        let classes = compiled(&jdk)?;
        check_under_policy(&jdk, &classes, "loop")?;
    }
    Ok(())
}

/// Prints the times of the rounds. Their ratio is measured by the benchmarks.
#[test]
fn a_split_method_is_compiled_while_it_runs() -> Outcome {
    let jdk = jdk::newest().ok_or("no JDK")?;
    let classes = compiled(&jdk)?;
    let java = jdk
        .verifying_java()
        .arg("-cp")
        .arg(classes.path())
        .args(["Huge", "0", "200000"]);
    let live = Live::start(&run(&[], &java))?;
    std::thread::sleep(Duration::from_secs(2));
    live.value(
        "let m = methods(\"Huge::run(..)\");\n\
         let counts = m.blocks().before(counter());\n\
         after(1.0, || { m.optimise(\"huge\", #{ counts: counts }); counts.detach(); });",
    )?;
    std::thread::sleep(Duration::from_secs(8));
    let output = live.stop()?;
    let times = times(&output.out);
    let before: Vec<u64> = times.iter().copied().take(5).collect();
    let after: Vec<u64> = times.iter().rev().copied().take(5).collect();
    println!("ms a round before: {before:?}, and after: {after:?}");
    assert!(times.len() > 10, "{}", output.out);
    Ok(())
}

/// Starts `tests/java/page/Wide.java`, which calls a method of 2,001 blocks in a loop.
fn wide(programs: &Programs) -> Result<(Live, Folder), Box<dyn std::error::Error>> {
    let folder = Folder::new("wide-blocks")?;
    std::fs::write(folder.join("Blocks.class"), class_of_blocks(1_000))?;
    let source = folder.join("Methods.java");
    std::fs::write(&source, class_of_methods(1))?;
    programs.jdk().compile(&[source], folder.path())?;
    let path = std::env::join_paths([programs.classes().path(), folder.path()])?;
    let java = programs.launcher().arg("-cp").arg(path).arg("Wide");
    Ok((Live::start(&run(&[], &java))?, folder))
}

/// Without its counters, the method has 5,002 bytes.
#[test]
fn a_method_that_its_counters_make_too_large_is_split() -> Outcome {
    for jdk in jdk::for_this_test() {
        let programs = Programs::compile_folder(jdk, "page")?;
        let (live, _folder) = wide(&programs)?;
        let counted = live.value("methods(\"Blocks::run(..)\").blocks().before(counter())")?;
        until("counts", || live.sum(&counted), |sum| *sum > 2_001)?;
        live.value(&format!("detach(\"{counted}\")"))?;
        let hits = live.hits(&counted)?;
        assert_eq!(hits.len(), 2_001);
        // Every call passes each condition, and every second call the `nop` behind it.
        let of = |odd| {
            hits.iter()
                .filter(move |(block, _)| block.unwrap_or(0) % 2 == odd)
        };
        let range = |odd| {
            let counts = || of(odd).map(|(_, count)| *count);
            (counts().min().unwrap_or(0), counts().max().unwrap_or(0))
        };
        let (calls, passes) = (range(0), range(1));
        println!("calls {calls:?}, passes {passes:?}");
        // An activation may be between two parts when the counters come or go.
        assert!(calls.0 > 0 && calls.1 - calls.0 <= 2, "{calls:?}");
        assert!(
            passes.1.abs_diff(calls.1 / 2) <= 2 && passes.1 - passes.0 <= 2,
            "{passes:?}"
        );
        live.stop()?.succeeded("Wide")?;
    }
    Ok(())
}
