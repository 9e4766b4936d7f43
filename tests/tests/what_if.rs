//! `veneer search --what-if`: the predicted gain is that of the mended program, and no thread stays stopped.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use veneer_tests::command::veneer;
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::live::Live;

/// The faults of `Faults.java` that take half of their time with `-Dmended=true`, and the methods that have
/// them.
const MENDED: [(&str, &str); 10] = [
    ("processor", "price"),
    ("monitor", "audit"),
    ("lock", "reserve"),
    ("sleep", "retry"),
    ("hidden", "hidden"),
    ("allocation", "buffers"),
    ("file", "journal"),
    ("exceptions", "parse"),
    ("interpreted", "huge"),
    ("strings", "report"),
];

/// The largest difference between a predicted and a measured gain.
const MAX_ERROR: f64 = 0.05;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn start(programs: &Programs, fault: &str, options: &[&str]) -> Result<Live> {
    let folder = programs.classes().path();
    let java = programs.launcher().args(options);
    let java = java.arg(format!("-Djava.io.tmpdir={}", folder.display()));
    let java = java.arg("-cp").arg(folder).args(["Faults", fault]);
    Ok(Live::start(&java)?)
}

/// Searches a program for a few seconds, and returns the prediction for a method.
fn predicted(live: &Live, method: &str) -> Result<Value> {
    let pid = live.pid().to_string();
    let out = veneer()
        .args(["search", &pid, "--json", "--for", "6", "--what-if=1"])
        .limit(Duration::from_secs(150))
        .run()?
        .succeeded("veneer search --what-if")?;
    let outcome: Value = serde_json::from_str(&out.out)?;
    let predictions = outcome["predictions"].as_array();
    let mut predictions = predictions.into_iter().flatten();
    let pattern = format!("Faults::{method}(..)");
    let found = predictions.find(|one| one["method"] == *pattern);
    Ok(found
        .ok_or_else(|| format!("no prediction: {}", out.out))?
        .clone())
}

/// The calls of `Faults.other` per second: each program calls the method once for each unit of its work.
fn rate(live: &Live) -> Result<f64> {
    let id = live.value(r#"methods("Faults::other(..)").entry().before(counter()).id()"#)?;
    thread::sleep(Duration::from_secs(2));
    let (begin, before) = (Instant::now(), live.sum(&id)?);
    thread::sleep(Duration::from_secs(6));
    let passed = live.sum(&id)? - before;
    Ok(passed as f64 / begin.elapsed().as_secs_f64())
}

fn saved(prediction: &Value) -> Result<f64> {
    let saved = prediction["saved"].as_f64();
    Ok(saved.ok_or_else(|| format!("no value: {prediction}"))?)
}

/// A round takes 50 ms of sleep and 5 ms of other work.
#[test]
fn the_gain_of_a_shorter_sleep_is_predicted() -> Outcome {
    on_a_jdk_with("search", |programs| {
        let live = start(programs, "sleep", &[])?;
        let prediction = predicted(&live, "retry")?;
        let saved = saved(&prediction)?;
        println!("{}: {saved:.3}, expected 0.455", programs.jdk());
        assert!((saved - 0.455).abs() < MAX_ERROR, "{prediction}");
        let window = &prediction["windows"][1];
        assert_eq!(window["share"], 0.5, "{prediction}");
        live.stop()?;
        Ok(())
    })
}

#[test]
fn all_threads_go_on_when_the_agent_leaves_during_a_speedup() -> Outcome {
    on_a_jdk_with("search", |programs| {
        let live = start(programs, "monitor", &[])?;
        let begin = r#"methods("Faults::audit(..)").virtual_speedup(0.9, 10.0)"#;
        live.exec(begin)?.succeeded("a speed-up")?;
        let second = live.exec(begin)?;
        assert!(
            second.err.contains("while another one is running"),
            "{second:?}"
        );
        let pid = live.pid().to_string();
        veneer()
            .args(["detach", &pid, "--unload"])
            .run()?
            .succeeded("veneer detach")?;
        let rate = rate(&live)?;
        assert!(rate > 30.0, "{rate} rounds per second of about 48");
        live.stop()?;
        Ok(())
    })
}

/// `VENEER_ONLY` selects one program.
#[test]
#[ignore = "takes ten minutes: ten programs and their mended forms on each JDK"]
fn the_gains_of_ten_mended_faults_are_predicted() -> Outcome {
    let only = std::env::var("VENEER_ONLY").ok();
    on_a_jdk_with("search", |programs| {
        let mut missed = Vec::new();
        let wanted = |fault: &str| only.as_ref().is_none_or(|only| only == fault);
        for (fault, method) in MENDED.into_iter().filter(|(fault, _)| wanted(fault)) {
            let live = start(programs, fault, &[])?;
            let prediction = predicted(&live, method)?;
            live.stop()?;
            // Both rates are those of a new JVM.
            let live = start(programs, fault, &[])?;
            let before = rate(&live)?;
            live.stop()?;
            let live = start(programs, fault, &["-Dmended=true"])?;
            let after = rate(&live)?;
            live.stop()?;
            let measured = 1.0 - before / after;
            let Ok(saved) = saved(&prediction) else {
                missed.push(format!("{fault}: {prediction}"));
                continue;
            };
            println!(
                "{} | {fault} | predicted {saved:.3} ({} to {}) | mended {measured:.3}",
                programs.jdk(),
                prediction["low"],
                prediction["high"]
            );
            if (saved - measured).abs() > MAX_ERROR {
                missed.push(format!("{fault}: {saved:.3}, mended {measured:.3}"));
            }
        }
        assert!(missed.is_empty(), "{}", missed.join("; "));
        Ok(())
    })
}
