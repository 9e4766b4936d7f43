//! `veneer trace PID --last --trigger`: the trace has the last seconds before a call that fulfils a
//! condition, and some time after it. The program `observing.Steps` makes short calls for 4 seconds, a
//! call of more than 120 ms, and short calls again.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStderr};

use serde_json::Value;
use veneer_tests::command::veneer;
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::live::Live;
use veneer_tests::trace_rows::query;

const PACKAGE: &str = "observing";
/// The time before the end of the slow call that the trace must have.
const LAST_NANOS: u64 = 1_000_000_000;
/// The trace has at most this time before the slow call, which is less than the time of the program.
const GONE_NANOS: u64 = 2_800_000_000;
/// The time after the trigger that the trace must have.
const KEPT_NANOS: u64 = 300_000_000;

/// A recording with a trigger, after everything is attached.
fn start(live: &Live, options: &[&str], trace: &Path) -> Result<Child, Box<dyn Error>> {
    let pid = live.pid().to_string();
    let command = veneer()
        .args(["trace", &pid, "observing..*", "--last", "1s"])
        .args(options)
        .arg("-o")
        .arg(trace);
    Ok(command.start()?)
}

/// The lines of standard error until the command records.
fn wait_for_start(child: &mut Child) -> Result<BufReader<ChildStderr>, Box<dyn Error>> {
    let mut errors = BufReader::new(child.stderr.take().ok_or("no standard error")?);
    let mut seen = String::new();
    while !seen.contains("recording the calls") {
        if errors.read_line(&mut seen)? == 0 {
            return Err(format!("the command records nothing: {seen}").into());
        }
    }
    Ok(errors)
}

fn live(programs: &Programs) -> Result<Live, Box<dyn Error>> {
    Ok(Live::start(&programs.java("observing.Steps"))?)
}

fn number(row: &Value, column: &str) -> Result<u64, Box<dyn Error>> {
    let number = row[column].as_u64();
    Ok(number.ok_or_else(|| format!("no {column} in {row}"))?)
}

#[test]
fn a_trace_has_the_seconds_before_and_after_the_trigger() -> Outcome {
    on_a_jdk_with(PACKAGE, |programs| {
        let mut live = live(programs)?;
        let trace = programs.classes().join("flight");
        let options = [
            "--trigger",
            "elapsed > 80 ms && order == 7",
            "--trigger-on",
            "observing.Steps::slow(..)",
            "--keep",
            "500ms",
        ];
        let mut child = start(&live, &options, &trace)?;
        let _errors = wait_for_start(&mut child)?;
        live.say("run")?;
        // The command ends by itself, although the program goes on.
        let status = child.wait()?;
        assert_eq!(status.code(), Some(0));
        live.line("done")?;
        assert_eq!(live.stop()?.code, 0);

        let slow = query(
            &trace,
            r#"calls("observing.Steps::slow(..)").show("start", "end", "ended")"#,
        )?;
        assert_eq!(slow.len(), 1, "{slow:?}");
        assert_eq!(slow[0]["ended"], "exit");
        let (began, ended) = (number(&slow[0], "start")?, number(&slow[0], "end")?);
        let ticks = r#"calls("observing.Steps::tick(..)").by("method").show("min(start)", "max(end)", "count")"#;
        let ticks = query(&trace, ticks)?;
        let (first, last) = (
            number(&ticks[0], "min(start)")?,
            number(&ticks[0], "max(end)")?,
        );
        assert!(number(&ticks[0], "count")? > 100_000, "{ticks:?}");
        let before = began.checked_sub(first).ok_or("no tick before")?;
        assert!(before < GONE_NANOS, "{before}");
        assert!(
            ended.checked_sub(first) >= Some(LAST_NANOS),
            "{first} {ended}"
        );
        assert!(
            last.checked_sub(ended) >= Some(KEPT_NANOS),
            "{last} {ended}"
        );
        // The phase began before the trace. So did a tick, unless the trace begins between two ticks.
        let around = query(&trace, r#"events("unknown").show("depth")"#)?;
        let depths = around.iter().map(|row| number(row, "depth"));
        let mut depths: Vec<u64> = depths.collect::<Result<_, _>>()?;
        depths.sort_unstable();
        assert!(
            depths == [0] || depths == [0, 1],
            "{around:?}; {ticks:?}; {slow:?}"
        );
        Ok(())
    })
}

#[test]
fn a_trigger_that_does_not_fire_leaves_the_last_seconds() -> Outcome {
    on_a_jdk_with(PACKAGE, |programs| {
        let mut live = live(programs)?;
        let trace = programs.classes().join("quiet");
        let options = [
            "--for",
            "1",
            "--trigger",
            "elapsed > 100 s",
            "--trigger-on",
            "observing.Steps::slow(..)",
        ];
        let mut child = start(&live, &options, &trace)?;
        let mut errors = wait_for_start(&mut child)?;
        live.say("run")?;
        let status = child.wait()?;
        let mut text = String::new();
        while errors.read_line(&mut text)? > 0 {}
        assert_eq!(status.code(), Some(1), "{text}");
        assert!(text.contains("the trigger did not fire"), "{text}");
        let ticks = r#"calls("observing.Steps::tick(..)").by("method").show("count")"#;
        assert!(number(&query(&trace, ticks)?[0], "count")? > 1_000);
        live.line("done")?;
        assert_eq!(live.stop()?.code, 0);
        Ok(())
    })
}
