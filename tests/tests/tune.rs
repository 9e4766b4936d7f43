//! `veneer tune` on a program whose time is in a method of more than 8,000 bytes: the split is tried,
//! proven and kept, nothing else stays, and no result changes.

use std::time::Duration;

use veneer_tests::command::{run, veneer};
use veneer_tests::folder::Folder;
use veneer_tests::huge_method;
use veneer_tests::java_programs::Outcome;
use veneer_tests::jdk::{self, Jdk};
use veneer_tests::live::Live;
use veneer_tests::process::Process;

/// The limit of a run of the command.
const LIMIT: Duration = Duration::from_secs(280);

fn compiled(jdk: &Jdk) -> Result<Folder, Box<dyn std::error::Error>> {
    let sources = Folder::new("tune-sources")?;
    let classes = Folder::new("tune")?;
    jdk.compile(&huge_method::generate(sources.path())?, classes.path())?;
    Ok(classes)
}

fn program(jdk: &Jdk, classes: &Folder, rounds: usize) -> Process {
    jdk.verifying_java().arg("-cp").arg(classes.path()).args([
        "Huge",
        &rounds.to_string(),
        "20000",
        "calls",
    ])
}

fn tune(live: &Live, options: &[&str]) -> Result<serde_json::Value, Box<dyn std::error::Error>> {
    let pid = live.pid().to_string();
    let output = veneer()
        .args(["tune", &pid, "--json"])
        .args(options)
        .limit(LIMIT)
        .run()?
        .succeeded("veneer tune")?;
    Ok(serde_json::from_str(&output.out)?)
}

/// Compares the sums of all rounds with those of the plain program.
fn check_sums(jdk: &Jdk, classes: &Folder, out: &str) -> Outcome {
    let found = huge_method::sums(out);
    let plain = program(jdk, classes, found.len()).run()?;
    let expected = huge_method::sums(&plain.succeeded("the plain run")?.out);
    match (0..found.len()).find(|n| expected.get(*n) != found.get(*n)) {
        None => Ok(()),
        Some(round) => Err(format!("round {round}: {:?}", found.get(round)).into()),
    }
}

#[test]
fn a_huge_method_is_found_tried_and_kept() -> Outcome {
    let jdk = jdk::newest().ok_or("no JDK")?;
    let classes = compiled(&jdk)?;
    let live = Live::start(&run(&[], &program(&jdk, &classes, 0)))?;
    std::thread::sleep(Duration::from_secs(1));
    let listed = tune(&live, &["--dry-run"])?;
    let method = "Huge::run(int, int)";
    assert_eq!(listed["decisions"][0]["method"], method, "{listed}");
    assert_eq!(
        live.value("edits().len()")?,
        "0",
        "a dry run changes nothing"
    );

    let folder = Folder::new("tune-plan")?;
    let plan = folder.join("tuned.rhai");
    let path = plan.display().to_string();
    let tuned = tune(&live, &["--for", "240", "--save", &path])?;
    println!("{tuned:#}");
    let one = &tuned["decisions"][0];
    assert_eq!(
        (&tuned["schema"], &one["kept"]),
        (&1.into(), &true.into()),
        "{tuned}"
    );
    // The experiment's own instruments and edits are gone, and the edit that was kept is not.
    assert_eq!(
        live.value("instruments().filter(|i| i.attached).len()")?,
        "0"
    );
    let active = live.value("edits().filter(|e| e.active).map(|e| e.id)")?;
    assert_eq!(
        active,
        format!("[\"{}\"]", one["patch"].as_str().unwrap_or_default())
    );
    let output = live.stop()?;
    check_sums(&jdk, &classes, &output.out)?;

    // The saved plan makes the same change at the next start.
    let again = Live::start(&run(&["--plan", &path], &program(&jdk, &classes, 0)))?;
    veneer_tests::live::until(
        "the edit of the saved plan",
        || again.value("edits().filter(|e| e.active).len()"),
        |count| count == "1",
    )?;
    std::thread::sleep(Duration::from_secs(1));
    let output = again.stop()?;
    check_sums(&jdk, &classes, &output.out)
}

#[test]
fn a_program_without_huge_methods_is_left_alone() -> Outcome {
    let jdk = jdk::newest().ok_or("no JDK")?;
    let programs = veneer_tests::java_programs::Programs::compile(jdk)?;
    let live = programs.armed("EditLoops")?;
    let tuned = tune(&live, &[])?;
    assert_eq!(
        tuned["decisions"].as_array().map(Vec::len),
        Some(0),
        "{tuned}"
    );
    live.stop()?;
    Ok(())
}
