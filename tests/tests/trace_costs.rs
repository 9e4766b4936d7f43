//! The cost of observing in traces. The program `observing.Calls` calls a method that does almost
//! nothing, so most of the time in a trace is the cost of the trace. The benchmark `tracing` compares the
//! calibrated cost with the measured time.

use std::error::Error;
use std::path::Path;

use serde_json::Value;
use veneer_tests::command::veneer;
use veneer_tests::java_programs::{Outcome, on_a_jdk_with};
use veneer_tests::observing_cost::{PACKAGE, ROUNDS, number, record, rounds};
use veneer_tests::trace_rows::query;

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
