//! The reproductions of `docs/papers.md` can be run.

use std::path::Path;

use serde_json::Value;

use veneer_tests::command::{run, veneer};
use veneer_tests::folder::{Folder, files, workspace};
use veneer_tests::java_programs::Outcome;
use veneer_tests::jdk::{self, Jdk};
use veneer_tests::live::Live;
use veneer_tests::process::Process;
use veneer_tests::skip::{Need, skip};

/// The number of requests.
const REQUESTS: &str = "60";

/// The mean of a step in microseconds, from its line in the table.
fn mean(table: &str, step: &str) -> Option<f64> {
    let line = table.lines().find(|line| line.trim().starts_with(step))?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let count = words.iter().rposition(|word| *word == REQUESTS)?;
    words.get(count + 1)?.replace(',', "").parse().ok()
}

fn has_python() -> bool {
    Process::new("python3").arg("-c").arg("").run().is_ok()
}

/// The example of the paper on JPMT: the time in the queue and the time of the servant are less than the
/// time that the client measures itself, and the servant waits as long as it is told to.
#[test]
fn the_steps_of_a_remote_call_are_found_by_thread() -> Outcome {
    if !has_python() {
        return Ok(skip(Need::Program("python3"))?);
    }
    for jdk in jdk::for_this_test() {
        let folder = Folder::new("remote-call")?;
        let classes = folder.join("classes");
        let source = workspace().join("examples/remote/RemoteCall.java");
        jdk.compile(&[source], &classes)?;
        let trace = folder.join("t").display().to_string();
        let arm = ["--arm", "sun.net.httpserver..*", "--arm", "remote..*"];
        let java = jdk.verifying_java().arg("-cp").arg(&classes);
        let java = java.args(["remote.RemoteCall", REQUESTS]);
        let output = run(&[&arm[..], &["--trace", &trace]].concat(), &java).run()?;
        let output = output.succeeded("veneer run")?;
        let said = output.out.split_whitespace().rev().nth(1);
        let total: f64 = said.unwrap_or_default().parse()?;
        let query = r#"calls().show("thread_name", "method", "start", "end", "cpu")"#;
        let calls = folder.join("calls.csv");
        let asked = veneer().args(["trace", "query", &trace, query, "--format", "csv", "-o"]);
        asked.arg(&calls).run()?.succeeded("veneer trace query")?;
        let picture = folder.join("requests.svg");
        let table = Process::new("python3")
            .arg(workspace().join("examples/python/remote_call.py"))
            .arg(&calls)
            .arg("--svg")
            .arg(&picture)
            .run()?
            .succeeded("remote_call.py")?
            .out;
        println!("{jdk}: {total} us\n{table}");
        let step = |name: &str| mean(&table, name).ok_or_else(|| format!("no {name}: {table}"));
        let (queue, answer) = (step("waits in the queue")?, step("the servant answers it")?);
        let ping = step("pingWithWait")?;
        assert!(queue > 0.0 && queue + answer < total, "{table}");
        assert!(ping >= 20_000.0 && ping < answer, "{table}");
        let drawn = std::fs::read_to_string(&picture)?;
        assert_eq!(drawn.matches("#2f6fb3").count(), 40);
    }
    Ok(())
}

/// Compiles the route finder, with the classes of another folder in place of its own, and returns the
/// program that answers the same queries in two rounds.
fn route_finder(
    jdk: &Jdk,
    classes: &Path,
    replaced: Option<&str>,
) -> Result<Process, Box<dyn std::error::Error>> {
    let source = |folder: &str| files(&workspace().join("tests/java").join(folder), "java");
    let mut sources = source("route")?;
    if let Some(folder) = replaced {
        for other in source(folder)? {
            sources.retain(|own| own.file_name() != other.file_name());
            sources.push(other);
        }
    }
    jdk.compile(&sources, classes)?;
    let java = jdk.verifying_java().arg("-cp").arg(classes);
    Ok(java.args(["route.Main", "250", "2"]))
}

/// The methods that a search has found, with the seconds until each was found.
fn found(json: &str) -> Result<Vec<(String, f64)>, Box<dyn std::error::Error>> {
    let result: Value = serde_json::from_str(json)?;
    let findings = result["findings"].as_array().ok_or("no findings")?;
    let method = |finding: &Value| {
        let steps = finding["path"].as_array()?;
        let step = steps.iter().find(|step| step["kind"] == "method")?;
        Some((
            step["name"].as_str()?.to_string(),
            finding["found"].as_f64()?,
        ))
    };
    Ok(findings.iter().filter_map(method).collect())
}

/// The paper on JBolt: a search from the root alone does not find a method that is hidden behind many
/// callers; with deep starters it does (Fig. 2 and 4). All strategies decide from the same record.
#[test]
fn the_strategies_of_a_search_are_compared_on_one_record() -> Outcome {
    if !has_python() {
        return Ok(skip(Need::Program("python3"))?);
    }
    for jdk in jdk::for_this_test() {
        let folder = Folder::new("strategies")?;
        let classes = folder.join("classes");
        jdk.compile(
            &[workspace().join("tests/java/search/Faults.java")],
            &classes,
        )?;
        let java = jdk.verifying_java().arg("-cp").arg(&classes);
        let record = folder.join("1.search").display().to_string();
        let live = Live::start(&java.args(["Faults", "hidden"]))?;
        let search = veneer().args(["search", &live.pid().to_string(), "--record", &record]);
        // On a busy machine, the default allows too few samples.
        search.arg("--cost=10%").run()?.succeeded("veneer search")?;
        live.stop()?;
        let mut drawn =
            Process::new("python3").arg(workspace().join("examples/python/search_strategies.py"));
        for (strategy, finds) in [("top-down", false), ("deep-start", true), ("hybrid", true)] {
            let replay = veneer().args(["search", "--replay", &record, "--json"]);
            let replay = replay.args(["--strategy", strategy]).run()?;
            let json = replay.succeeded("veneer search --replay")?.out;
            let found = found(&json)?;
            let hidden = found.iter().find(|(method, _)| method == "hidden");
            println!("{jdk}, {strategy}: {found:?}");
            assert_eq!(hidden.is_some(), finds, "{strategy}: {json}");
            assert!(found.iter().all(|(_, seconds)| *seconds > 0.0), "{found:?}");
            let file = folder.join(&format!("{strategy}-1.json"));
            std::fs::write(&file, json)?;
            drawn = drawn.arg(&file);
        }
        let picture = folder.join("strategies.svg");
        let table = drawn.arg("--svg").arg(&picture).run()?;
        let table = table.succeeded("search_strategies.py")?.out;
        println!("{table}");
        let line = table.lines().find(|line| line.starts_with("top-down"));
        assert!(
            line.is_some_and(|line| line.contains("Faults::hidden")),
            "{table}"
        );
        let picture = std::fs::read_to_string(&picture)?;
        assert_eq!(picture.matches("stroke-width").count(), 3, "{picture}");
    }
    Ok(())
}

/// The paper on JBolt: the route finder with the method that the search names, mended, finds the same
/// routes.
#[test]
fn the_mended_route_finder_finds_the_same_routes() -> Outcome {
    for jdk in jdk::for_this_test() {
        let folder = Folder::new("mended")?;
        let plain = route_finder(&jdk, &folder.join("plain"), None)?.run()?;
        let mended = route_finder(&jdk, &folder.join("mended"), Some("route-mended"))?.run()?;
        let plain = plain.succeeded("the route finder")?;
        let mended = mended.succeeded("the mended route finder")?;
        assert!(plain.out.contains("total "), "{}", plain.out);
        assert_eq!(plain.out, mended.out);
    }
    Ok(())
}
