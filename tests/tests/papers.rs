//! The reproductions of `docs/papers.md` can be run.

use veneer_tests::command::{run, veneer};
use veneer_tests::folder::{Folder, workspace};
use veneer_tests::java_programs::Outcome;
use veneer_tests::jdk;
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

/// The example of the paper on JPMT: the time in the queue and the time of the servant are less than the
/// time that the client measures itself, and the servant waits as long as it is told to.
#[test]
fn the_steps_of_a_remote_call_are_found_by_thread() -> Outcome {
    if Process::new("python3").arg("-c").arg("").run().is_err() {
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
