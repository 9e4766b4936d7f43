//! Plans from any text: read, loaded, their timers run, ended.
//!
//! Promises: no panic, in the engine neither (the session catches it; libFuzzer's hook and the message here do not let it pass); a call ends
//! within its time; memory stays within what the limits of strings, arrays and variables come to; after a failed load nothing
//! is attached; errors have a place in the text.

use std::time::{Duration, Instant};

use veneer_scripts::{Plan, PlanError, limits};

use crate::memory;
use crate::recorder::Recorder;

/// Loading may go on after its time for as long as one dear operation takes. Sanitizers make it dearer still.
const GRACE: Duration = Duration::from_secs(90);

/// Bytes that a plan may hold at most. The limits are for one value each, so that a plan with many large ones holds more;
/// this is what a JVM can spare.
const MEMORY: usize = 768 << 20;

/// How many times the timers that are due next are run.
const ROUNDS: u32 = 3;

/// Runs a plan from its beginning to its end.
///
/// # Panics
/// Where a promise is broken.
pub fn run(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else {
        return;
    };
    memory::within(MEMORY, "the plan", || {
        let plan = match Plan::compile("plan.rhai", source) {
            Ok(plan) => plan,
            Err(error) => return sound(&error, source),
        };
        let (recorder, session) = Recorder::session();
        let begin = Instant::now();
        match session.load(plan) {
            Ok(_) => {}
            Err(error) => {
                sound(&error, source);
                assert_eq!(
                    recorder.standing(),
                    0,
                    "something is left of a plan that failed: {error}"
                );
            }
        }
        let took = begin.elapsed();
        let limit = limits::WALL_CLOCK + GRACE;
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

/// What a session says where the engine itself failed.
const INTERNAL: &str = "the script engine failed inside";

fn sound(error: &PlanError, source: &str) {
    assert!(!error.message.starts_with(INTERNAL), "{error}");
    assert!(
        error.line <= source.lines().count() + 1,
        "{error}: no such line"
    );
}
