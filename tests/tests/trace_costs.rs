//! The cost of observing in traces. The program `observing.Calls` calls a method that does almost
//! nothing, so most of the time in a trace is the cost of the trace.

use std::error::Error;
use std::path::Path;

use serde_json::Value;
use veneer_tests::command::{run, veneer};
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::trace_rows::query;

const PACKAGE: &str = "observing";
/// The rounds of `observing.Calls`. The fastest round must run compiled code, and on a busy machine
/// the JIT compiler needs up to 80 rounds.
const ROUNDS: usize = 120;
/// The calls of a round.
const CALLS: u64 = 20_000;
/// The recordings of which the lowest cost and the fastest round count. A processor that is shared with other
/// machines can be half as fast for a second, while the cost is measured or while the program runs.
const RECORDINGS: usize = 3;
/// The cost as a part of the raw time of a round without interruptions. The rest is the work of the
/// program, some 20 ns of a call.
/// Before JDK 22, two readings of `nanoTime` cost some 50 ns; later, two of the processor's counter
/// cost 20.
fn cost_part(jdk: u32) -> std::ops::Range<f64> {
    match jdk {
        ..22 => 0.5..1.4,
        22.. => 0.4..1.4,
    }
}

/// A call of `round`, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Round {
    wall: u64,
    corrected: u64,
    unexplained: u64,
}

impl Round {
    /// The cost by which the time was corrected. A cost that exceeds the time is unexplained.
    fn cost(self) -> u64 {
        match self.corrected {
            0 => self.wall + self.unexplained,
            corrected => self.wall - corrected,
        }
    }
}

fn number(row: &Value, column: &str) -> Result<u64, Box<dyn Error>> {
    let number = row[column].as_u64();
    Ok(number.ok_or_else(|| format!("no {column} in {row}"))?)
}

/// Records the program under a filter, and returns what the command printed.
fn record(programs: &Programs, trace: &Path, filter: &str) -> Result<String, Box<dyn Error>> {
    let rules = programs.classes().join("filter");
    std::fs::write(&rules, filter)?;
    let (place, rules) = (trace.to_string_lossy(), rules.to_string_lossy());
    let options = [
        "--arm",
        "observing..*",
        "--trace",
        &place,
        "--filter",
        &rules,
    ];
    let output = run(&options, &programs.java("observing.Calls")).run()?;
    let output = output.succeeded("observing.Calls")?;
    assert!(output.out.starts_with("sum "), "{}", output.out);
    Ok(output.err)
}

/// The rounds, in the order of their beginning.
fn rounds(trace: &Path) -> Result<Vec<Round>, Box<dyn Error>> {
    let columns = r#"calls("observing.Calls::round(..)").show("start", "wall", "corrected", "unexplained").sort("start")"#;
    let round = |row: &Value| {
        Ok(Round {
            wall: number(row, "wall")?,
            corrected: number(row, "corrected")?,
            unexplained: number(row, "unexplained")?,
        })
    };
    query(trace, columns)?.iter().map(round).collect()
}

/// The JSON of a call of `round` in the tree that `veneer trace show` prints.
fn shown_round(trace: &Path) -> Result<Value, Box<dyn Error>> {
    let shown = veneer().args(["trace", "show"]).arg(trace);
    let output = shown.args(["--json", "--thread", "main"]).run()?;
    let output = output.succeeded("veneer trace show --json")?;
    let thread: Value = serde_json::from_str(output.out.trim())?;
    let main = &thread["items"][0];
    assert_eq!(main["method"], "observing.Calls::main", "{thread}");
    Ok(main["items"][0].clone())
}

/// Checks the cost of a round against the time of the fastest round, in these rounds and in those of more
/// recordings.
fn check_cost_part(programs: &Programs, first: &[Round]) -> Outcome {
    let mut all = first.to_vec();
    for n in 1..RECORDINGS {
        let trace = programs.classes().join(&format!("costs-again-{n}"));
        record(programs, &trace, "processor_time none")?;
        all.extend(rounds(&trace)?);
    }
    let wall = all.iter().map(|round| round.wall).min().ok_or("no round")?;
    let cost = all
        .iter()
        .map(|round| round.cost())
        .min()
        .ok_or("no round")?;
    let jdk = programs.jdk().major();
    eprintln!(
        "JDK {jdk}: {} ns raw, cost {} ns in a call",
        wall / CALLS,
        cost / CALLS
    );
    let part = cost as f64 / wall as f64;
    assert!(
        cost_part(jdk).contains(&part),
        "{part}: {cost} of {wall} ns"
    );
    Ok(())
}

#[test]
fn times_are_corrected_by_the_cost_that_was_measured_at_the_attachment() -> Outcome {
    on_a_jdk_with(PACKAGE, |programs| {
        let trace = programs.classes().join("costs");
        let errors = record(programs, &trace, "processor_time none")?;
        let line = "  cost of observing: ";
        assert!(errors.contains(line), "{errors}");
        assert!(
            errors.contains(" in a call, processor time none and "),
            "{errors}"
        );
        assert!(!trace.join("calibration").exists());

        let all = rounds(&trace)?;
        assert_eq!(all.len(), ROUNDS);
        // Each round has the same number of calls, so it has the same cost.
        let costs: Vec<u64> = all.iter().map(|round| round.cost()).collect();
        let (least, most) = (costs.iter().min(), costs.iter().max());
        let (least, most) = least.zip(most).ok_or("no round")?;
        let spread = all[0].unexplained.min(all[ROUNDS - 1].unexplained);
        assert!(most - least <= spread + 2, "{all:?}");
        check_cost_part(programs, &all)?;

        // The outermost call has the cost of all calls in it.
        let main = query(
            &trace,
            r#"calls("observing.Calls::main(..)").show("wall", "corrected")"#,
        )?;
        let cost = number(&main[0], "wall")? - number(&main[0], "corrected")?;
        assert!(
            cost >= ROUNDS as u64 * (least - spread.min(*least)),
            "{cost} {all:?}"
        );

        // `show` has the sums of the same times.
        let shown = shown_round(&trace)?;
        assert_eq!(shown["method"], "observing.Calls::round", "{shown}");
        assert_eq!(shown["count"], ROUNDS, "{shown}");
        for (column, total) in [
            ("wall", all.iter().map(|round| round.wall).sum::<u64>()),
            ("corrected", all.iter().map(|round| round.corrected).sum()),
            (
                "unexplained",
                all.iter().map(|round| round.unexplained).sum(),
            ),
        ] {
            assert_eq!(number(&shown, column)?, total, "{column}");
        }
        let text = veneer().args(["trace", "show"]).arg(&trace).run()?;
        let text = text.succeeded("veneer trace show")?.out;
        assert!(
            text.contains("; corrected ") && text.contains("; unexplained "),
            "{text}"
        );
        Ok(())
    })
}

#[test]
fn a_reading_of_the_clock_at_each_event_has_a_higher_cost() -> Outcome {
    on_a_jdk_with(PACKAGE, |programs| {
        let mut costs = Vec::new();
        for source in ["none", "clock"] {
            let trace = programs.classes().join(&format!("costs-{source}"));
            let errors = record(programs, &trace, &format!("processor_time {source}"))?;
            assert!(
                errors.contains(&format!("processor time {source} and ")),
                "{errors}"
            );
            let all = rounds(&trace)?;
            costs.push(
                all.iter()
                    .map(|round| round.cost())
                    .min()
                    .ok_or("no round")?,
            );
        }
        assert!(costs[1] > 2 * costs[0], "{costs:?}");
        Ok(())
    })
}
