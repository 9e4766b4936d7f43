//! The experiment with one candidate: a held plan switches between the two variants and prints a line
//! for each window, which the judge gets. Both variants are versions of the method: one with a single
//! body, which HotSpot interprets as it does the method's own code, and one with parts. A call that never
//! ends is then in the variant that is measured. If a single body is too large for a class file, the first
//! variant is the method's own code, which such a call never reaches again.
//!
//! ```text
//!   {"counts":"i3"}                                       the counter of the blocks
//!   {"goal":"a.B::m(..)"}                                 the method whose calls are the progress
//!   {"transformed":true,"seconds":1.0,"progress":123}     each window
//!   {"own_code":"…"}                                      a single body is refused
//!   {"refused":"…"}, {"idle":true}                        the experiment cannot go on
//! ```
//!
//! The progress is the number of calls of a method that the candidate calls. A counter in the candidate
//! itself would split it, because all versions of such a method are split. An experiment with tests of calls or
//! with a constant has the method's own code as its first variant, and counts the calls of the candidate.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Deserialize;
use veneer_client::Client;
use veneer_client::plan_text::literal;
use veneer_experiments::{Judge, Settings, TuningDecision, TuningWindow, Variant, Window};

use super::candidates::{Candidate, Transformation, devirtualise_call, specialise_call};
use super::decisions::untried;
use super::program::PROGRAM_NAME;
use crate::held_plan::{HeldPlan, PlanEnd};

/// The time for which the blocks are counted at least, in seconds.
const COUNT_SECONDS: f64 = 2.0;
/// The most times that long. A call that runs already has no counters before it reaches the next point at
/// which it can change to a version, and the first thread there links a class of many kilobytes.
const MAX_COUNTS: u32 = 10;
/// The time between two looks of the plan, in seconds.
const TICK_SECONDS: f64 = 0.25;
/// The looks between a switch and the begin of its window, in which the JIT compiler compiles the parts.
const SETTLE_TICKS: u32 = 12;
/// The looks of a window.
const WINDOW_TICKS: u32 = 4;
/// The calls of a method in [`COUNT_SECONDS`] from which on they are the progress.
const MIN_ENTRIES: u32 = 100;

/// The result of an experiment.
pub struct Tried {
    pub decision: TuningDecision,
    /// The id of the counter of the method's blocks.
    pub counts: String,
    /// The connection that holds the experiment. Dropping it takes the experiment back.
    _holder: Client,
}

/// A line that the plan prints.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum PlanLine {
    Window {
        transformed: bool,
        seconds: f64,
        progress: f64,
    },
    Counts {
        counts: String,
    },
    Goal {
        goal: String,
    },
    OwnCode {
        own_code: String,
    },
    Refused {
        refused: String,
    },
    Idle {
        #[serde(rename = "idle")]
        _idle: bool,
    },
}

/// Tries a candidate for at most this many seconds. The experiment ends early if `interrupted` is set.
///
/// # Errors
/// The connection failed.
pub fn run(
    pid: u32,
    candidate: &Candidate,
    seconds: f64,
    interrupted: &Arc<AtomicBool>,
) -> Result<Tried> {
    let mut plan = HeldPlan::start(pid, PROGRAM_NAME, program(candidate, seconds), interrupted)?;
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let mut decision = untried(candidate);
    let mut judge = Judge::new(Settings::default());
    let mut id = String::new();
    let mut single_body = Ok(());
    let mut is_over = |line: PlanLine, decision: &mut TuningDecision| match line {
        PlanLine::Counts { counts } => {
            id = counts;
            false
        }
        PlanLine::Goal { goal } => {
            decision.arguments.goal = Some(goal);
            false
        }
        PlanLine::OwnCode { own_code } => {
            single_body = Err(own_code);
            false
        }
        PlanLine::Refused { refused } => {
            decision.reason = refused;
            true
        }
        PlanLine::Idle { .. } => {
            decision.reason = "the method was not executed".into();
            true
        }
        PlanLine::Window {
            transformed,
            seconds,
            progress,
        } => {
            let expected = judge.next_variant() == Variant::Transformed;
            if transformed != expected {
                decision.reason = "windows of the experiment are missing".into();
                return true;
            }
            decision.windows.push(TuningWindow {
                transformed,
                seconds,
                progress,
            });
            let decided = judge.add(Window { seconds, progress });
            let decided = decided.or_else(|| (Instant::now() >= end).then(|| judge.give_up()));
            decided.inspect(|found| decision.decide(found)).is_some()
        }
    };
    // Other lines are messages of the agent about the plan.
    let ended = plan.read(|text| {
        serde_json::from_str(text).is_ok_and(|line: PlanLine| is_over(line, &mut decision))
    })?;
    match ended {
        PlanEnd::Read => {}
        PlanEnd::Interrupted => decision.reason = "ended early".into(),
        PlanEnd::Failed(message) => decision.reason = message,
    }
    if let (false, Err(refusal)) = (decision.kept, single_body) {
        decision.reason += &format!(
            "; a call that does not end stays in the parts, because one body is refused: {refusal}"
        );
    }
    Ok(Tried {
        decision,
        counts: id,
        _holder: plan.into_holder(),
    })
}

/// The plan of an experiment of at most this many seconds.
fn program(candidate: &Candidate, seconds: f64) -> String {
    match &candidate.transformation {
        Transformation::Huge => huge_program(candidate, seconds),
        Transformation::Devirtualise { calls, receivers } => {
            devirtualise_program(candidate, calls, receivers)
        }
        Transformation::Specialise { parameter, value } => {
            specialise_program(candidate, *parameter, *value)
        }
    }
}

/// The plan of an experiment with the split of a method.
fn huge_program(candidate: &Candidate, seconds: f64) -> String {
    let counts = (seconds / COUNT_SECONDS).clamp(1.0, f64::from(MAX_COUNTS)) as u32;
    let switch = r#"if wanted { next = m.optimise("huge", #{ counts: counts }); }
            else if !state.own_code {
                try { next = m.optimise("huge", #{ bytes: 65535 }); }
                catch (error) { state.own_code = true; print(#{ own_code: `${error}` }.to_json()); }
            }"#;
    format!(
        r#"let m = methods({pattern});
let counts = m.blocks().before(counter());
print(#{{ counts: counts.id() }}.to_json());
let state = #{{ goal: (), patch: (), transformed: (), own_code: false, tick: 0, step: 0, hits: 0, begin: 0.0 }};
let calls = m.calls().before(counter());
let counting = #{{ left: {counts}, timer: () }};
counting.timer = every({COUNT_SECONDS:?}, || {{
    let rows = calls.rows().filter(|r| r.hits > 0);
    counting.left -= 1;
    if rows.is_empty() && counting.left > 0 {{ return; }}
    counting.timer.cancel();
    rows.sort(|a, b| b.hits - a.hits);
    let executed = counts.hits() > 0;
    calls.detach();
    counts.detach();
    if !executed {{ print(#{{ idle: true }}.to_json()); return; }}
    for row in rows {{
        // `call a.b.C::m @17`
        let pattern = row.what.split(" ")[1] + "(..)";
        try {{
            let found = methods(pattern).entry().before(counter());
            if methods(pattern).list().is_empty() {{ found.detach(); }} else {{
                state.goal = found;
                print(#{{ goal: pattern }}.to_json());
                return;
            }}
        }} catch (error) {{}}
    }}
    print(#{{ refused: "it calls no method that can be counted, so its progress cannot be measured" }}.to_json());
}});
{windows}"#,
        pattern = literal(&candidate.pattern),
        windows = windows(switch),
    )
}

/// The plan of an experiment with tests of calls. The first variant is the method's own code. The progress is the
/// number of calls of the method, or, if one call takes long, of the method of the most frequent receiver.
fn devirtualise_program(candidate: &Candidate, calls: &str, receivers: &[String]) -> String {
    let pattern = literal(&candidate.pattern);
    let called = calls.split_once("::").map_or("*(..)", |(_, name)| name);
    let inner = receivers.first().map_or("", |class| class);
    let inner = literal(&format!("{inner}::{called}"));
    let switch = format!(
        "if wanted {{ next = m.{}; }}",
        devirtualise_call(calls, receivers)
    );
    format!(
        r#"let m = methods({pattern});
let state = #{{ goal: (), patch: (), transformed: false, tick: 0, step: 0, hits: 0, begin: 0.0 }};
let entries = m.entry().before(counter());
after({COUNT_SECONDS:?}, || {{
    if entries.hits() >= {MIN_ENTRIES} {{
        state.goal = entries;
        print(#{{ goal: {pattern} }}.to_json());
        return;
    }}
    entries.detach();
    try {{
        state.goal = methods({inner}).entry().before(counter());
        print(#{{ goal: {inner} }}.to_json());
    }} catch (error) {{ print(#{{ refused: `its progress cannot be measured: ${{error}}` }}.to_json()); }}
}});
{windows}"#,
        windows = windows(&switch),
    )
}

/// The plan of an experiment with a constant. The first variant is the method's own code, and the progress is the
/// number of its calls.
fn specialise_program(candidate: &Candidate, parameter: u16, value: i32) -> String {
    let pattern = literal(&candidate.pattern);
    let switch = format!(
        "if wanted {{ next = m.{}; }}",
        specialise_call(parameter, value)
    );
    format!(
        r#"let m = methods({pattern});
let state = #{{ goal: m.entry().before(counter()), patch: (), transformed: false, tick: 0, step: 0, hits: 0, begin: 0.0 }};
print(#{{ goal: {pattern} }}.to_json());
{windows}"#,
        windows = windows(&switch),
    )
}

/// The part of a plan that switches between the variants and prints the windows. `switch` stores the patch of the
/// wanted variant in `next`.
fn windows(switch: &str) -> String {
    let window = SETTLE_TICKS + WINDOW_TICKS;
    format!(
        r#"let order = [false, true, true, false];
every({TICK_SECONDS:?}, || {{
    if state.goal == () {{ return; }}
    let wanted = order[state.step % 4];
    if state.tick == 0 && wanted == state.transformed {{ state.tick = {SETTLE_TICKS}; }}
    if state.tick == 0 {{
        try {{
            let next = ();
            {switch}
            if state.patch != () {{ state.patch.detach(); }}
            state.patch = next;
            state.transformed = wanted;
        }} catch (error) {{
            print(#{{ refused: `${{error}}` }}.to_json());
            state.goal = ();
            return;
        }}
    }}
    if state.tick == {SETTLE_TICKS} {{ state.hits = state.goal.hits(); state.begin = now(); }}
    if state.tick == {window} {{
        print(#{{ transformed: wanted, seconds: now() - state.begin, progress: state.goal.hits() - state.hits }}.to_json());
        state.step += 1;
        state.tick = -1;
    }}
    state.tick += 1;
}});
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_plan_are_told_apart() {
        let read = |text: &str| serde_json::from_str::<PlanLine>(text).expect(text);
        assert!(matches!(
            read(r#"{"transformed":true,"seconds":1.5,"progress":12}"#),
            PlanLine::Window {
                transformed: true,
                ..
            }
        ));
        assert!(matches!(
            read(r#"{"goal":"a.B::m(..)"}"#),
            PlanLine::Goal { .. }
        ));
        assert!(matches!(
            read(r#"{"counts":"i3"}"#),
            PlanLine::Counts { .. }
        ));
        assert!(matches!(read(r#"{"idle":true}"#), PlanLine::Idle { .. }));
        assert!(matches!(
            read(r#"{"own_code":"MethodTooLarge"}"#),
            PlanLine::OwnCode { .. }
        ));
        assert!(matches!(
            read(r#"{"refused":"PartTooLarge"}"#),
            PlanLine::Refused { .. }
        ));
    }
}
