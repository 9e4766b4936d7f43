//! `veneer tune` on a program whose time is in a method of more than 8,000 bytes: the split is tried,
//! proven and kept, nothing else stays, and no result changes. The same from the page of `veneer serve`.

use std::time::Duration;

use serde_json::{Value, json};
use veneer_tests::browser::{Browser, check_accessibility};
use veneer_tests::command::{run, veneer};
use veneer_tests::folder::Folder;
use veneer_tests::huge_method;
use veneer_tests::java_programs::Outcome;
use veneer_tests::jdk::{self, Jdk};
use veneer_tests::live::Live;
use veneer_tests::page_server::Server;
use veneer_tests::process::Process;
use veneer_tests::skip::skip;

/// The limit of a run of the command.
const LIMIT: Duration = Duration::from_secs(280);

fn compiled(jdk: &Jdk) -> Result<Folder, Box<dyn std::error::Error>> {
    let sources = Folder::new("tune-sources")?;
    let classes = Folder::new("tune")?;
    jdk.compile(&huge_method::generate(sources.path())?, classes.path())?;
    Ok(classes)
}

fn program(jdk: &Jdk, classes: &Folder, rounds: usize) -> Process {
    program_with(jdk, &[], classes, rounds)
}

/// The program with more options of the JVM.
fn program_with(jdk: &Jdk, options: &[&str], classes: &Folder, rounds: usize) -> Process {
    let java = jdk.verifying_java().args(options).arg("-cp");
    let java = java.arg(classes.path()).arg("Huge");
    java.args([rounds.to_string().as_str(), "20000", "calls"])
}

fn tune(live: &Live, options: &[&str]) -> Result<Value, Box<dyn std::error::Error>> {
    let pid = live.pid().to_string();
    let output = veneer()
        .args(["tune", &pid, "--json"])
        .args(options)
        .limit(LIMIT)
        .run()?
        .succeeded("veneer tune")?;
    Ok(serde_json::from_str(&output.out)?)
}

/// Compares the sums of all rounds with those of the plain program, whose huge method is compiled so that the
/// test need not wait for it.
fn check_sums(jdk: &Jdk, classes: &Folder, out: &str) -> Outcome {
    let found = huge_method::sums(out);
    let compiled = ["-XX:-DontCompileHugeMethods"];
    let plain = program_with(jdk, &compiled, classes, found.len()).run()?;
    let expected = huge_method::sums(&plain.succeeded("the plain run")?.out);
    match (0..found.len()).find(|n| expected.get(*n) != found.get(*n)) {
        None => Ok(()),
        Some(round) => Err(format!("round {round}: {:?}", found.get(round)).into()),
    }
}

const METHOD: &str = "Huge::run(int, int)";

/// The number of edits that are attached.
fn edits(live: &Live) -> Result<String, Box<dyn std::error::Error>> {
    Ok(live.value("edits().filter(|e| e.active).len()")?)
}

#[test]
fn a_huge_method_is_found_tried_and_kept() -> Outcome {
    let jdk = jdk::newest().ok_or("no JDK")?;
    let classes = compiled(&jdk)?;
    let live = Live::start(&run(&[], &program(&jdk, &classes, 0)))?;
    std::thread::sleep(Duration::from_secs(1));
    let listed = tune(&live, &["--dry-run"])?;
    assert_eq!(listed["decisions"][0]["method"], METHOD, "{listed}");
    assert_eq!(edits(&live)?, "0", "a dry run changes nothing");

    // The page of `veneer serve` starts the same command. Without a browser, the test starts it.
    let tuned = match Browser::find()? {
        Ok(browser) => tune_in_the_page(&live, &browser)?,
        Err(missing) => {
            skip(missing)?;
            let tuned = tune(&live, &["--for", "240"])?;
            check_kept(&live, &tuned)?;
            tuned
        }
    };
    println!("{tuned:#}");
    let output = live.stop()?;
    check_sums(&jdk, &classes, &output.out)?;

    let folder = Folder::new("tune-plan")?;
    let plan = folder.join("tuned.rhai");
    let path = plan.display().to_string();
    std::fs::write(&plan, tuned["plan"].as_str().ok_or("no plan")?)?;
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

/// Checks that the split is proven and kept, and that nothing else of the experiment is attached.
fn check_kept(live: &Live, tuned: &Value) -> Outcome {
    let one = &tuned["decisions"][0];
    assert_eq!(
        (&tuned["schema"], &one["kept"]),
        (&1.into(), &true.into()),
        "{tuned}"
    );
    // The windows are those from which the gain was decided: blocks of four, without the split first.
    let windows = one["windows"].as_array().ok_or("no windows")?;
    assert_eq!(windows.len() % 4, 0, "{tuned}");
    let transformed: Vec<bool> = windows
        .iter()
        .take(4)
        .filter_map(|window| window["transformed"].as_bool())
        .collect();
    assert_eq!(transformed, [false, true, true, false]);
    assert_eq!(
        live.value("instruments().filter(|i| i.attached).len()")?,
        "0"
    );
    let active = live.value("edits().filter(|e| e.active).map(|e| e.id)")?;
    assert_eq!(
        active,
        format!("[\"{}\"]", one["patch"].as_str().unwrap_or_default())
    );
    Ok(())
}

/// Lists the methods, ends an experiment early, and keeps and takes back the split, all in the page.
/// Returns the result of the experiment.
fn tune_in_the_page(live: &Live, browser: &Browser) -> Result<Value, Box<dyn std::error::Error>> {
    // Without permission, methods are listed and nothing is tried.
    let server = Server::start(&[])?;
    let path = format!("/api/1/jvms/{}/recordings", live.pid());
    let wish = json!({"kind": "tuning", "seconds": 5}).to_string();
    let refused = server.request("POST", &path, &wish)?;
    assert!(refused.contains("\"read-only\""), "{refused}");
    let mut parameters = json!({"pid": live.pid(), "method": METHOD});
    check_accessibility(&browser.run("experiment_list", &server, parameters.clone())?)?;
    assert_eq!(edits(live)?, "0");

    // An experiment that the user ends early leaves nothing.
    let server = Server::start(&["--allow-edits"])?;
    check_accessibility(&browser.run("experiment_ended", &server, parameters.clone())?)?;
    assert_eq!(edits(live)?, "0");

    // A proven split stays, until the user takes it back.
    let result = browser.run("experiment_kept", &server, parameters.clone())?;
    check_accessibility(&result)?;
    check_kept(live, &result["tuned"])?;
    parameters["place"] = result["place"].clone();
    browser.run("experiment_back", &server, parameters)?;
    assert_eq!(edits(live)?, "0");
    Ok(result["tuned"].clone())
}

#[test]
fn a_program_without_huge_methods_is_left_alone() -> Outcome {
    let jdk = jdk::newest().ok_or("no JDK")?;
    let programs = veneer_tests::java_programs::Programs::compile(jdk)?;
    let live = programs.armed("EditLoops")?;
    let folder = Folder::new("tune-none")?;
    let plan = folder.join("tuned.rhai");
    let tuned = tune(&live, &["--save", &plan.display().to_string()])?;
    assert_eq!(
        tuned["decisions"].as_array().map(Vec::len),
        Some(0),
        "{tuned}"
    );
    let plan = std::fs::read_to_string(&plan)?;
    assert!(!plan.contains("methods("), "{plan}");
    live.stop()?;
    Ok(())
}

/// Waits for the command on a megamorphic call, whose tests are found, tried and kept.
#[test]
fn a_megamorphic_call_is_found_and_tried() -> Outcome {
    let jdk = jdk::newest().ok_or("no JDK")?;
    let programs = veneer_tests::java_programs::Programs::compile_folder(jdk, "tune")?;
    let java = programs.java("Megamorphic").args(["skewed", "100000"]);
    let live = Live::start(&run(&[], &java))?;
    std::thread::sleep(Duration::from_secs(2));
    let listed = tune(&live, &["--dry-run", "--only", "devirtualise"])?;
    let one = &listed["decisions"][0];
    assert_eq!(
        (&one["transformation"], &one["arguments"]["calls"]),
        (
            &"devirtualise".into(),
            &"Megamorphic$Shape::area(..)".into()
        ),
        "{listed}"
    );
    let receivers = &one["arguments"]["receivers"];
    assert_eq!(receivers[0], "Megamorphic$Square", "{listed}");
    assert_eq!(edits(&live)?, "0", "a dry run changes nothing");
    let huge = tune(&live, &["--dry-run", "--only", "huge"])?;
    assert_eq!(
        huge["decisions"].as_array().map(Vec::len),
        Some(0),
        "{huge}"
    );

    let tuned = tune(&live, &["--only", "devirtualise", "--for", "240"])?;
    println!("{tuned:#}");
    let kept = tuned["decisions"][0]["kept"] == true;
    // The machine may be too busy for a proof. What is not proven is taken back.
    assert_eq!(edits(&live)?, if kept { "1" } else { "0" });
    let output = live.stop()?;
    let mut found: Vec<String> = huge_method::sums(&output.out);
    found.iter_mut().for_each(|line| {
        *line = line.split(" sum ").nth(1).unwrap_or_default().to_owned();
    });
    found.dedup();
    assert_eq!(found.len(), 1, "each round has the same sum");
    Ok(())
}

/// The program calls its methods with eight in 98 of 100 calls. The parameter is found and tried, and no result changes.
#[test]
fn a_parameter_that_hardly_ever_changes_is_found_and_tried() -> Outcome {
    let jdk = jdk::newest().ok_or("no JDK")?;
    let programs = veneer_tests::java_programs::Programs::compile_folder(jdk, "tune")?;
    let java = |rounds: usize, percent: &str| {
        let java = programs.java("Constants");
        java.args([&rounds.to_string(), percent])
    };
    // With half of the calls, eight is no constant.
    let live = Live::start(&run(&[], &java(0, "50")))?;
    let none = tune(
        &live,
        &["Constants::locked(..)", "--dry-run", "--only", "specialise"],
    )?;
    assert_eq!(
        none["decisions"].as_array().map(Vec::len),
        Some(0),
        "{none}"
    );
    live.stop()?;

    let live = Live::start(&run(&[], &java(0, "2")))?;
    std::thread::sleep(Duration::from_secs(2));
    let only = ["Constants::locked(..)", "--only", "specialise"];
    let listed = tune(&live, &[&only[..], &["--dry-run"]].concat())?;
    let all = listed["decisions"].as_array().ok_or("no decisions")?;
    assert_eq!(all.len(), 1, "{listed}");
    let (name, arguments) = (&all[0]["transformation"], &all[0]["arguments"]);
    assert_eq!(name, "specialise", "{listed}");
    assert_eq!(
        (&arguments["parameter"], &arguments["value"]),
        (&0.into(), &8.into()),
        "{listed}"
    );
    assert_eq!(edits(&live)?, "0", "a dry run changes nothing");
    let tuned = tune(&live, &[&only[..], &["--for", "60"]].concat())?;
    println!("{tuned:#}");
    assert!(
        tuned["decisions"][0]["windows"]
            .as_array()
            .is_some_and(|all| all.len() >= 2),
        "{tuned}"
    );
    let kept = tuned["decisions"][0]["kept"] == true;
    // Whether there is a gain depends on what the JIT compiler inlines. What is not proven is taken back.
    assert_eq!(edits(&live)?, if kept { "1" } else { "0" });
    let output = live.stop()?;
    let found = huge_method::sums(&output.out);
    let plain = java(found.len(), "2").run()?;
    let expected = huge_method::sums(&plain.succeeded("the plain run")?.out);
    assert!(
        found.len() > 100 && found == expected,
        "{} rounds",
        found.len()
    );
    Ok(())
}
