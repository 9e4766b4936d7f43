//! The result of a search as English sentences.

use serde::Serialize;

use crate::cause::Cause;
use crate::outcome::{Axis, Finding, Outcome};

/// The most ruled-out and undecided places that the sentences name.
const MAX_NAMED: usize = 5;

/// A result as data, with the same in words.
#[derive(Serialize)]
struct Told<'o> {
    #[serde(flatten)]
    outcome: &'o Outcome,
    sentences: Vec<String>,
}

/// Returns a result as JSON, schema 1, with its sentences as the member `sentences`.
///
/// # Errors
/// A number of the result is not finite.
pub fn json(outcome: &Outcome) -> serde_json::Result<String> {
    serde_json::to_string(&Told {
        outcome,
        sentences: sentences(outcome),
    })
}

/// Returns the name of one step of a finding.
fn step<'f>(finding: &'f Finding, kind: &str) -> Option<&'f str> {
    let steps = finding.path.iter().filter(|s| s.axis == Axis::Where);
    steps
        .rev()
        .find(|s| s.kind == kind)
        .map(|s| s.name.as_str())
}

/// Returns the words for the time of a cause.
fn spent(cause: Cause) -> &'static str {
    match cause {
        Cause::Time => "is spent",
        Cause::Processor => "is processor time",
        Cause::Allocation => "is spent allocating objects",
        Cause::Exceptions => "is spent making exceptions",
        Cause::ClassLoading => "is spent loading classes",
        Cause::Interpreted => "is spent in interpreted code",
        Cause::Waiting => "is spent waiting",
        Cause::Monitor => "is spent waiting for a monitor (synchronized)",
        Cause::Lock => "is spent waiting for a lock of java.util.concurrent",
        Cause::Sleep => "is spent sleeping",
        Cause::Park => "is spent waiting for a condition, a queue or a pool",
        Cause::Collections => "is spent waiting for garbage collections",
        Cause::InputOutput => "is spent waiting for input or output",
        Cause::File => "is spent waiting for a file",
        Cause::Socket => "is spent waiting for a socket",
        Cause::Statement => "is spent in statements of a database (JDBC)",
    }
}

/// Returns the place of a finding as users read it: `com.shop.Desk.price (Desk.java:41)`.
pub fn place(finding: &Finding) -> String {
    let method = step(finding, "method").unwrap_or("");
    let method = match step(finding, "class") {
        Some(class) => format!("{class}.{method}"),
        None => method.to_string(),
    };
    let (block, around) = (step(finding, "block"), step(finding, "loop"));
    match (block, around) {
        (Some(block), Some(around)) => format!("{method} ({block}, in the loop at {around})"),
        (Some(block), None) => format!("{method} ({block})"),
        (None, Some(around)) => format!("{method} (the loop at {around})"),
        (None, None) => method,
    }
}

/// Returns one sentence about a finding.
pub fn finding(finding: &Finding, seconds: f64) -> String {
    let share = percent(finding.share);
    let range = range(finding);
    let threads = match finding.threads.first() {
        Some(most) if most.share >= 0.9 => format!(", in the threads {}", most.name),
        _ => String::new(),
    };
    // A finding that held for most of the search needs no period.
    let window = finding.window;
    let is_part = window.from > 0.25 * seconds || window.to < 0.75 * seconds;
    let period = if is_part {
        format!(", from {:.1} s to {:.1} s", window.from, window.to)
    } else {
        String::new()
    };
    format!(
        "{share} % ({range}) of the active time {} in {}{threads}{period}{}.",
        spent(finding.why),
        place(finding),
        slow_memory(finding)
    )
}

/// The locality causes of a finding.
fn slow_memory(finding: &Finding) -> String {
    let causes: Vec<&str> = finding.locality.iter().map(|cause| cause.words()).collect();
    match causes.is_empty() {
        true => String::new(),
        false => format!("; its accesses to memory are slow ({})", causes.join(", ")),
    }
}

/// The confidence interval. It holds for a share that stays the same: if the mean is outside it, the
/// share has changed since the interval became so narrow.
fn range(finding: &Finding) -> String {
    let (low, high) = (percent(finding.low), percent(finding.high));
    let is_inside = (finding.low..=finding.high).contains(&finding.share);
    match is_inside {
        true => format!("{low} to {high} %"),
        false => format!("{low} to {high} % before it changed"),
    }
}

fn percent(share: f64) -> String {
    format!("{:.0}", share * 100.0)
}

/// Returns all sentences about a result, each on its own line.
pub fn sentences(outcome: &Outcome) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(reason) = &outcome.ended {
        all.push(format!("The search ended early: {reason}."));
    }
    if outcome.seconds <= 0.0 {
        all.push("Nothing was measured.".to_string());
        return all;
    }
    if outcome.is_idle() {
        all.push(format!(
            "The program was idle: its threads were active for {:.1} % of {:.1} s.",
            outcome.active * 100.0,
            outcome.seconds
        ));
    }
    let specific: Vec<_> = outcome.findings.iter().filter(|f| f.specific).collect();
    for f in &specific {
        all.push(finding(f, outcome.seconds));
        all.extend(f.evidence.iter().map(|e| format!("  {}", e.text)));
    }
    if specific.is_empty() && !outcome.findings.is_empty() {
        all.push("No place is decided yet. A longer search decides more.".to_string());
    } else if specific.is_empty() {
        all.push(format!(
            "No place was found that takes more than {} % of the active time.",
            percent(outcome.threshold)
        ));
    }
    if !outcome.not_looked_at.is_empty() {
        all.push(format!(
            "Undecided places: {}.",
            outcome.not_looked_at.len()
        ));
        for open in outcome.not_looked_at.iter().take(MAX_NAMED) {
            let mut names = open.path.iter().rev();
            let name = names.find(|s| s.axis == Axis::Where);
            let name = name.map_or("", |s| s.name.as_str());
            let why = match open.why {
                Cause::Time => String::new(),
                cause => format!(" ({})", cause.name()),
            };
            all.push(format!("  {name}{why}: {}", open.reason).replace("  : ", "  "));
        }
    }
    all.push(format!(
        "The search took {:.1} s, ruled out {} hypotheses, and cost {:.2} % of the active time.",
        outcome.seconds,
        outcome.ruled_out.len(),
        outcome.cost.share * 100.0
    ));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locality::LocalityCause;
    use crate::outcome::Window;
    use crate::place::MethodId;

    #[test]
    fn an_interval_without_the_mean_is_one_of_an_earlier_share() {
        let mut one = Finding {
            path: Vec::new(),
            why: Cause::Monitor,
            share: 0.62,
            low: 0.6,
            high: 0.63,
            specific: true,
            threads: Vec::new(),
            window: Window { from: 0.0, to: 9.0 },
            found: 1.2,
            locality: Vec::new(),
            evidence: Vec::new(),
            method: MethodId(1),
        };
        assert!(finding(&one, 9.0).starts_with("62 % (60 to 63 %) of the active time"));
        one.share = 0.41;
        let text = finding(&one, 9.0);
        assert!(
            text.starts_with("41 % (60 to 63 % before it changed) of"),
            "{text}"
        );
        one.why = Cause::Processor;
        one.locality = vec![LocalityCause::Stride, LocalityCause::BoxedKeys];
        let text = finding(&one, 9.0);
        let expected = "; its accesses to memory are slow (a long stride, boxed keys).";
        assert!(text.ends_with(expected), "{text}");
    }
}
