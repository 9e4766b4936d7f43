//! The example plans of docs/plans.md are loaded, run for ten minutes of the test's clock, and finished.

mod recorder;

use recorder::Recorder;
use std::time::{Duration, Instant};
use veneer_scripts::Plan;

const TEXT: &str = include_str!("../../docs/plans.md");

/// The blocks tagged `rhai`, with the line on which each begins.
fn examples() -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut current: Option<(usize, String)> = None;
    for (i, line) in TEXT.lines().enumerate() {
        match (&mut current, line) {
            (None, "```rhai") => current = Some((i + 2, String::new())),
            (Some(_), "```") => found.extend(current.take()),
            (Some((_, text)), line) => {
                text.push_str(line);
                text.push('\n');
            }
            _ => {}
        }
    }
    assert!(current.is_none(), "a block is not closed");
    found
}

#[test]
fn every_example_runs() {
    let examples = examples();
    assert!(examples.len() >= 12, "{}", examples.len());
    for (line, source) in examples {
        let name = format!("plans.md+{line}");
        let plan = Plan::compile(&name, &source).unwrap_or_else(|error| panic!("{error}"));
        plan.rehearse().unwrap_or_else(|error| panic!("{error}"));

        let (recorder, session) = Recorder::session();
        let zero = Instant::now();
        session
            .load_at(plan, zero)
            .unwrap_or_else(|error| panic!("{error}"));
        for second in 1..=600 {
            session.run_due(zero + Duration::from_secs(second));
        }
        session.finish();
        let printed = recorder.printed();
        assert!(
            !printed.is_empty() || !recorder.calls().is_empty(),
            "{name} does nothing"
        );
        for text in printed {
            // Errors and warnings begin with the plan's name.
            assert!(!text.starts_with(&name), "{text}");
        }
    }
}

#[test]
fn the_limits_in_the_text_are_those_of_the_code() {
    use veneer_instruments::table::count;
    use veneer_scripts::limits::*;
    for limit in [
        format!("{} operations", count(OPERATIONS)),
        format!("{} seconds, in which", WALL_CLOCK.as_secs()),
        format!("{CALL_DEPTH} calls inside each other"),
        format!("strings of {} bytes", count(STRING_BYTES as u64)),
        format!("arrays of {}", count(ARRAY_ELEMENTS as u64)),
        format!("maps of {} elements", count(MAP_PROPERTIES as u64)),
        format!(
            "{} variables, functions and waiting callbacks",
            count(VARIABLES as u64)
        ),
        format!("({SHORTEST_PERIOD} at least)"),
    ] {
        assert!(TEXT.contains(&limit), "{limit}");
    }
    assert_eq!((VARIABLES, FUNCTIONS), (CALLBACKS, CALLBACKS));
    assert_eq!(ERRORS_IN_A_ROW, 3);
}
