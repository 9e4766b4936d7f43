//! Loads the example plans of docs/plans.md, runs them for ten minutes of simulated time, and
//! finishes them.

mod recorder;

use recorder::Recorder;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use veneer_scripts::Plan;

const TEXT: &str = include_str!("../../docs/plans.md");

/// A block tagged `rhai`.
struct Block {
    /// The file name, if the block is a module.
    file: Option<&'static str>,
    /// The line on which the block begins.
    line: usize,
    text: String,
}

/// Returns the blocks tagged `rhai`.
fn blocks() -> Vec<Block> {
    let mut found = Vec::new();
    let mut current: Option<Block> = None;
    for (i, line) in TEXT.lines().enumerate() {
        match (&mut current, line) {
            (None, line) => {
                let Some(tag) = line.strip_prefix("```rhai") else {
                    continue;
                };
                current = Some(Block {
                    file: Some(tag.trim()).filter(|file| !file.is_empty()),
                    line: i + 2,
                    text: String::new(),
                });
            }
            (Some(_), "```") => found.extend(current.take()),
            (Some(block), line) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
        }
    }
    assert!(current.is_none(), "a block is not closed");
    found
}

#[test]
fn every_example_runs() {
    let (modules, examples): (Vec<_>, Vec<_>) =
        blocks().into_iter().partition(|block| block.file.is_some());
    assert!(examples.len() >= 15 && !modules.is_empty());
    let modules: BTreeMap<String, String> = modules
        .into_iter()
        .map(|block| {
            let file = block.file.unwrap_or_default();
            (file.trim_end_matches(".rhai").to_owned(), block.text)
        })
        .collect();
    for Block { line, text, .. } in examples {
        let name = format!("plans.md+{line}");
        let plan = Plan::compile_with(&name, &text, &modules);
        let plan = plan.unwrap_or_else(|error| panic!("{error}"));
        plan.dry_run().unwrap_or_else(|error| panic!("{error}"));

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
            assert!(
                !text.starts_with(&name) && !text.starts_with("lib/"),
                "{text}"
            );
        }
    }
}

#[test]
fn the_limits_in_the_text_are_those_of_the_code() {
    use veneer_instruments::table::count;
    use veneer_scripts::limits::*;
    for limit in [
        format!("{} operations", count(MAX_OPERATIONS)),
        format!("{} seconds, in which", MAX_CALL_DURATION.as_secs()),
        format!("{MAX_CALL_DEPTH} calls inside each other"),
        format!("strings of {} bytes", count(MAX_STRING_BYTES as u64)),
        format!("arrays of {}", count(MAX_ARRAY_ELEMENTS as u64)),
        format!("maps of {} elements", count(MAX_MAP_PROPERTIES as u64)),
        format!(
            "{} variables, functions and waiting callbacks",
            count(MAX_VARIABLES as u64)
        ),
        format!("({MIN_PERIOD_SECONDS} at least)"),
    ] {
        assert!(TEXT.contains(&limit), "{limit}");
    }
    assert_eq!(
        (MAX_VARIABLES, MAX_FUNCTIONS),
        (MAX_CALLBACKS, MAX_CALLBACKS)
    );
    assert_eq!(MAX_CONSECUTIVE_ERRORS, 3);
}
