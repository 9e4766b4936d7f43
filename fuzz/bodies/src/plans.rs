//! Plans from any text: compiled, loaded, their timers run, and ended.
//!
//! Promises:
//!
//! - The code does not panic, and neither does the script engine. The session catches a panic of
//!   the engine, but libFuzzer's hook and the error message reveal it.
//! - A call ends within its time limit.
//! - Memory stays within the sum of the limits for strings, arrays and variables.
//! - After a failed load, nothing is attached.
//! - The line of an error exists in the text.

use std::time::{Duration, Instant};

use veneer_scripts::{Plan, PlanError, limits};

use crate::memory;
use crate::recorder::Recorder;

/// Loading may exceed its time limit by the duration of one expensive operation. Sanitizers make
/// such an operation slower still.
const GRACE: Duration = Duration::from_secs(90);

/// Limit in bytes for the memory of a plan. The limits of the engine apply to single values, so a
/// plan with many large values holds more. This is the amount that a JVM can spare.
const MAX_MEMORY: usize = 768 << 20;

/// How often the timers that are due next are run.
const ROUNDS: u32 = 3;

/// Runs a plan from its beginning to its end.
///
/// # Panics
/// If a promise is broken.
pub fn run(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else {
        return;
    };
    memory::within(MAX_MEMORY, "the plan", || {
        let plan = match Plan::compile("plan.rhai", source) {
            Ok(plan) => plan,
            Err(error) => return check_error(&error, source),
        };
        let (recorder, session) = Recorder::session();
        let begin = Instant::now();
        match session.load(plan) {
            Ok(_) => {}
            Err(error) => {
                check_error(&error, source);
                assert_eq!(
                    recorder.attached_count(),
                    0,
                    "something is left of a plan that failed: {error}"
                );
            }
        }
        let took = begin.elapsed();
        let limit = limits::MAX_CALL_DURATION + GRACE;
        assert!(
            took < limit,
            "loading took {took:?}, and {limit:?} are allowed"
        );
        for _ in 0..ROUNDS {
            let Some(due) = session.next_deadline() else {
                break;
            };
            session.run_due(due);
        }
        session.finish();
    });
}

/// Beginning of the session's message for a panic of the engine.
const ENGINE_PANIC: &str = "the script engine failed inside";

fn check_error(error: &PlanError, source: &str) {
    assert!(!error.message.starts_with(ENGINE_PANIC), "{error}");
    assert!(
        error.line <= source.lines().count() + 1,
        "{error}: no such line"
    );
}
