//! `veneer search --what-if`: an experiment with each of the largest findings, which predicts what the
//! program would gain if the method took less time.
//!
//! A held plan counts the progress of the program and makes windows without a virtual speed-up of the
//! method, with it, with it, without. It prints a line for each window:
//!
//! ```text
//!   {"at":"calls of shop.Desk::audit(..)"}                      the point whose passes are the progress
//!   {"share":0.5,"seconds":1.0,"delayed":0.3,"inside":0.6,"progress":18}
//!   {"refused":"…"}                                             the experiment cannot go on
//! ```
//!
//! The progress is the number of calls of the method. If it is not called, because a call began before, its
//! blocks are counted. A counter in a method of more than 8,000 bytes would change how HotSpot executes it,
//! so its calls are counted in its callers. If these points are not passed either, because the calls that run
//! began before the agent was loaded, the calls of other methods of the same callers are the progress.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use serde::Deserialize;
use veneer_client::plan_text::literal;
use veneer_experiments::{Prediction, SpeedupMeasurement};
use veneer_fragmenter::hotspot::MAX_COMPILED_BYTES;
use veneer_search::Search;
use veneer_search::place::MethodName;

use super::finding_pattern::{method_pattern, pattern_of};
use crate::held_plan::{HeldPlan, PlanEnd};
use crate::output::print_note;

/// The length of a window in seconds.
const WINDOW_SECONDS: f64 = 1.0;
/// The windows at the beginning, in which the JIT compiler compiles the counted methods.
const WARM_UP: u32 = 2;
/// The windows of an experiment.
const WINDOWS: usize = 20;
/// The part of its time that the method is to save.
const SHARE: f64 = 0.5;
/// The name of the plans in messages.
const PLAN_NAME: &str = "what-if";

/// A method with which an experiment is made.
#[derive(Debug, PartialEq, Eq)]
struct Subject {
    /// The pattern that selects it.
    pattern: String,
    /// The patterns of the methods that were seen calling it.
    callers: Vec<String>,
    /// The patterns of the other methods that its callers were seen calling.
    siblings: Vec<String>,
}

/// A line that the plan prints.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum PlanLine {
    Window(SpeedupMeasurement),
    Progress { at: String },
    Refused { refused: String },
}

/// Predicts the gain of the largest findings, at most `most`. `progress` is the pattern of the
/// methods whose calls are the progress. Ctrl-C ends the experiments early.
///
/// # Errors
/// The agent cannot be reached.
pub fn predict(
    pid: u32,
    search: &Search,
    most: usize,
    progress: Option<&str>,
    interrupted: &Arc<AtomicBool>,
) -> Result<Vec<Prediction>> {
    let mut predictions = Vec::new();
    for subject in subjects(search).into_iter().take(most) {
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        print_note(&format_args!(
            "what if {} were faster? {} s",
            subject.pattern,
            (WINDOW_SECONDS * (WINDOWS + WARM_UP as usize + 2) as f64).round()
        ));
        predictions.push(experiment(pid, &subject, progress, interrupted)?);
    }
    Ok(predictions)
}

/// The methods of the specific findings, each once.
fn subjects(search: &Search) -> Vec<Subject> {
    let outcome = search.outcome();
    let mut seen = BTreeSet::new();
    let mut subjects = Vec::new();
    for finding in outcome.findings.iter().filter(|finding| finding.specific) {
        let Some(found) = pattern_of(finding) else {
            continue;
        };
        if seen.insert(found.clone()) {
            let patterns =
                |names: Vec<&MethodName>| names.into_iter().filter_map(method_pattern).collect();
            subjects.push(Subject {
                pattern: found,
                callers: patterns(search.callers(finding.method)),
                siblings: patterns(search.siblings(finding.method)),
            });
        }
    }
    subjects
}

/// Makes the experiment with one method.
fn experiment(
    pid: u32,
    subject: &Subject,
    progress: Option<&str>,
    interrupted: &Arc<AtomicBool>,
) -> Result<Prediction> {
    let mut prediction = Prediction::of_method(&subject.pattern);
    let mut plan = HeldPlan::start(pid, PLAN_NAME, program(subject, progress), interrupted)?;
    let mut refusal = None;
    // Other lines are messages of the agent about the plan.
    let ended = plan.read(|text| match serde_json::from_str(text) {
        Ok(PlanLine::Window(window)) => {
            prediction.windows.push(window);
            prediction.windows.len() >= WINDOWS
        }
        Ok(PlanLine::Progress { at }) => {
            prediction.progress = Some(at);
            false
        }
        Ok(PlanLine::Refused { refused }) => {
            refusal = Some(refused);
            true
        }
        Err(_) => false,
    });
    match ended {
        Ok(PlanEnd::Read | PlanEnd::Interrupted) => {}
        Ok(PlanEnd::Failed(message)) => refusal = Some(message),
        // The windows until then are used.
        Err(error) => refusal = Some(format!("the experiment ended early: {error}")),
    }
    prediction.predict();
    if refusal.is_some() && prediction.saved.is_none() {
        prediction.reason = refusal;
    }
    Ok(prediction)
}

/// The plan of an experiment.
fn program(subject: &Subject, progress: Option<&str>) -> String {
    let list = |patterns: &[String]| {
        let literals: Vec<String> = patterns.iter().map(|one| literal(one)).collect();
        literals.join(", ")
    };
    let goal = progress.map_or_else(|| "()".to_owned(), literal);
    format!(
        r#"let pattern = {pattern};
let goal = {goal};
let callers = [{callers}];
let siblings = [{siblings}];
let m = methods(pattern);
let huge = false;
for c in classes([pattern]) {{ for one in c.methods {{ if one.size > {MAX_COMPILED_BYTES} {{ huge = true; }} }} }}
// The points that may be the progress, the best ones first.
let points = [];
if goal != () {{
    points.push([`calls of ${{goal}}`, methods(goal).entry()]);
}} else {{
    if !huge {{
        points.push([`calls of ${{pattern}}`, m.entry()]);
        points.push([`blocks of ${{pattern}}`, m.blocks()]);
    }} else if !callers.is_empty() {{
        points.push([`calls of ${{pattern}} in its callers`, methods(callers).calls(pattern)]);
    }}
    if !siblings.is_empty() {{
        points.push([`calls of other methods of its callers`, methods(siblings).entry()]);
    }}
}}
let state = #{{ point: 0, progress: (), window: (), hits: 0, step: 0, inside: 0.0, seconds: 0.0, share: 0.0 }};
let order = [false, true, true, false];
every({WINDOW_SECONDS:?}, || {{
    if state.step >= {WINDOWS} {{ return; }}
    try {{
        if state.window != () {{
            let found = state.window.end();
            let progress = state.progress.hits() - state.hits;
            if found == () {{ throw "a window of the experiment was lost"; }}
            if state.step >= 0 {{
                print(#{{ share: state.share, seconds: found.seconds, delayed: found.delayed, inside: found.inside, progress: progress }}.to_json());
            }} else {{
                state.inside += found.inside;
                state.seconds += found.seconds;
            }}
            state.step += 1;
            if state.step == 0 && progress == 0 {{
                state.progress.detach();
                state.progress = ();
            }}
        }}
        if state.progress == () {{
            if state.point >= points.len() {{ throw "it is not called, and no other point of its callers is passed: name a method with --progress"; }}
            let point = points[state.point];
            state.point += 1;
            state.progress = point[1].before(counter());
            state.step = -{WARM_UP};
            print(#{{ at: point[0] }}.to_json());
        }}
        // No window is left behind for the next experiment.
        if state.step >= {WINDOWS} {{ return; }}
        state.share = 0.0;
        if state.step >= 0 && order[state.step % 4] {{
            // With many threads in the method, all others would stand still: at most half of the time.
            let threads = state.inside / state.seconds;
            state.share = if threads > 3.0 {{ 1.0 / (threads - 1.0) }} else {{ {SHARE:?} }};
        }}
        state.hits = state.progress.hits();
        state.window = m.virtual_speedup(state.share, {longest:?});
    }} catch (error) {{
        print(#{{ refused: `${{error}}` }}.to_json());
        state.step = {WINDOWS};
    }}
}});
"#,
        pattern = literal(&subject.pattern),
        callers = list(&subject.callers),
        siblings = list(&subject.siblings),
        longest = 2.0 * WINDOW_SECONDS,
    )
}

/// Writes the predictions for people.
pub fn write_text(to: &mut impl Write, predictions: &[Prediction]) -> io::Result<()> {
    for one in predictions {
        writeln!(to, "\n{}", sentence(one))?;
        if let (Some(at), Some(rate)) = (&one.progress, one.rate) {
            let windows = one.windows.len();
            writeln!(
                to,
                "  progress: {at}, {rate:.1} per second; {windows} windows"
            )?;
        }
    }
    Ok(())
}

/// A prediction as a sentence.
pub fn sentence(one: &Prediction) -> String {
    let (Some(share), Some(saved)) = (one.share, one.saved) else {
        let reason = one.reason.as_deref().unwrap_or("there are no windows");
        return format!("What {} would gain is not known: {reason}.", one.method);
    };
    let percent = |part: f64| part * 100.0;
    let range = match (one.low, one.high) {
        (Some(low), Some(high)) => format!(" ({:.0} to {:.0} %)", percent(low), percent(high)),
        _ => String::new(),
    };
    format!(
        "If {} took {:.0} % less time, the program would need {:.0} % less time for the same{range}.",
        one.method,
        percent(share),
        percent(saved),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_plan_are_told_apart() {
        let read = |text: &str| serde_json::from_str::<PlanLine>(text).expect(text);
        let window = r#"{"share":0.5,"seconds":1.0,"delayed":0.3,"inside":0.6,"progress":18}"#;
        assert!(matches!(read(window), PlanLine::Window(w) if w.progress == 18.0));
        assert!(matches!(
            read(r#"{"at":"calls of a.B::m(..)"}"#),
            PlanLine::Progress { .. }
        ));
        assert!(matches!(
            read(r#"{"refused":"…"}"#),
            PlanLine::Refused { .. }
        ));
    }

    #[test]
    fn a_prediction_is_a_sentence() {
        let mut one = Prediction::of_method("shop.Desk::audit(..)");
        assert!(sentence(&one).starts_with("What shop.Desk::audit(..) would gain is not known"));
        (one.share, one.saved) = (Some(0.5), Some(0.314));
        (one.low, one.high) = (Some(0.29), Some(0.342));
        assert_eq!(
            sentence(&one),
            "If shop.Desk::audit(..) took 50 % less time, the program would need 31 % less time for the same (29 to 34 %)."
        );
    }
}
