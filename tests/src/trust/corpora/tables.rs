//! The text and the tables of the part `corpora`.

use std::collections::{BTreeMap, BTreeSet};

use super::linking::{Mode, Run};
use super::outcome::Outcome;
use super::statics::{ByPolicy, Sum};
use crate::trust::{Part, Scope, Table};

/// The goal for the share of methods with code that can be armed, in percent.
const ARMED_GOAL_PERCENT: f64 = 99.0;
/// The goal for the share of methods that have versions with every block counted, in percent.
const EMITTED_GOAL_PERCENT: f64 = 97.0;

/// Builds the part from the results.
pub fn part(outcomes: &[Outcome], scope: &Scope) -> Part {
    let mut part = Part::new("corpora", "Everything that exists");
    part.words = words(outcomes, scope);
    part.tables = vec![
        corpora(outcomes),
        policies(outcomes),
        refusals(outcomes),
        jvms(outcomes),
        jvm_refusals(outcomes),
    ];
    for outcome in outcomes {
        let sum = &outcome.check.total;
        if sum.methods == 0 || sum.policies.iter().any(|p| p.emitted == 0 || p.proved == 0) {
            part.failures
                .push(format!("{}: nothing was checked", outcome.corpus));
        }
        part.failures.extend(sum.failures.iter().map(|f| {
            let colons = if f.method.is_empty() { "" } else { "::" };
            format!(
                "{}: {}: {}{colons}{}: {}",
                outcome.corpus, f.doing, f.class, f.method, f.reason
            )
        }));
        part.failures
            .extend(runs(outcome).flat_map(|(_, run)| run.failures.iter().cloned()));
    }
    let total = Total::sum(outcomes);
    if total.armed < ARMED_GOAL_PERCENT || total.emitted < EMITTED_GOAL_PERCENT {
        part.failures.push(total.sentence());
    }
    part
}

/// The totals over all corpora.
struct Total {
    methods: u64,
    initialisers: u64,
    /// Shares of the methods in percent, each under the policy with the lowest share.
    armed: f64,
    emitted: f64,
    classes: u64,
    identical: u64,
}

impl Total {
    fn sum(outcomes: &[Outcome]) -> Total {
        let sum = |of: &dyn Fn(&Sum) -> u64| outcomes.iter().map(|o| of(&o.check.total)).sum();
        let least = |of: &dyn Fn(&ByPolicy) -> u64| {
            let shares = names(outcomes).into_iter().map(|name| {
                let (part, whole) = share(outcomes, &name, of);
                percent(part, whole)
            });
            shares.fold(100.0, f64::min)
        };
        Total {
            methods: sum(&|s| s.methods),
            initialisers: sum(&|s| s.initialisers),
            armed: least(&|p| p.named),
            emitted: least(&|p| p.emitted),
            classes: sum(&|s| s.classes),
            identical: sum(&|s| s.identical),
        }
    }

    fn sentence(&self) -> String {
        let goal = |share: f64, goal: f64| {
            let outcome = if share >= goal { "met" } else { "MISSED" };
            format!("goal {goal:.0} %: {outcome}")
        };
        format!(
            "Of {} methods with code, {:.2} % can be armed ({}) and {:.2} % have versions with every block counted ({}), under \
             the policy for which these are least. {} of them are static initialisers, which are armed where a pattern names them.",
            count(self.methods),
            self.armed,
            goal(self.armed, ARMED_GOAL_PERCENT),
            self.emitted,
            goal(self.emitted, EMITTED_GOAL_PERCENT),
            count(self.initialisers),
        )
    }
}

fn words(outcomes: &[Outcome], scope: &Scope) -> Vec<String> {
    let total = Total::sum(outcomes);
    let jdks: Vec<String> = scope.jdks.iter().map(ToString::to_string).collect();
    let mut words = vec![
        format!(
            "{} classes: those of {} and of jars from Maven Central, compiled by javac of many \
             versions, scalac, kotlinc, groovyc, Clojure, Jython, ECJ and ProGuard. `veneer \
             check` reads and writes each ({} are unchanged byte for byte), arms it under the \
             policy `block` and one other policy in turn, emits versions of all its methods with \
             a counter on every block, with and without OSR entries for running activations, and \
             also without instruments (on the second JDK also with an edit), and has the checker \
             prove each body.",
            count(total.classes),
            jdks.join(" and "),
            count(total.identical),
        ),
        "Then real JVMs load and link every class with full verification \
         (`-XX:+BytecodeVerificationLocal -XX:+BytecodeVerificationRemote`) without initialising \
         it: plain, armed under each policy, with a counter on every block from the start, and \
         (every twelfth class) with counters that are attached after all classes are linked, \
         which also emits the OSR entries. Each class must have the same outcome as in the plain \
         JVM: linked with the same members, or the same error if a class that it needs is \
         missing."
            .to_string(),
        total.sentence(),
    ];
    let jdk = outcomes.iter().filter(|o| o.corpus.is_jdk());
    for outcome in jdk {
        let sum = &outcome.check.total;
        words.push(format!(
            "{}: {} of its classes, with {:.1} % of its methods, are on the path of a cell itself (`OnCellPath`: `java.lang`, \
             `jdk.internal`, …). They are checked here as all others are, but the agent never arms them.",
            outcome.corpus,
            count(sum.on_cell_path.classes),
            percent(sum.on_cell_path.methods, sum.methods),
        ));
    }
    words
}

fn runs(outcome: &Outcome) -> impl Iterator<Item = (Mode, &Run)> {
    let linked = outcome.linked.iter();
    linked.flat_map(|l| l.modes.iter().map(|(mode, run)| (*mode, run)))
}

/// The policies, each once. Not every corpus is checked under each policy.
fn names(outcomes: &[Outcome]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for policy in outcomes.iter().flat_map(|o| &o.check.total.policies) {
        if !names.contains(&policy.policy) {
            names.push(policy.policy.clone());
        }
    }
    names
}

/// Returns the sum of a number of a policy over all corpora that were checked under it, and the sum
/// of their methods.
fn share(outcomes: &[Outcome], policy: &str, of: &dyn Fn(&ByPolicy) -> u64) -> (u64, u64) {
    let sums = outcomes.iter().map(|o| &o.check.total);
    let each = sums.filter_map(|sum| sum.by(policy).map(|p| (of(p), sum.methods)));
    each.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
}

fn corpora(outcomes: &[Outcome]) -> Table {
    let mut table = Table::new(
        "Corpora",
        &[
            "corpus",
            "classes",
            "versions",
            "identical",
            "methods",
            "armed by itself %",
            "armed when named %",
            "emitted %",
            "verifier rejects",
            "proved",
            "not proved",
            "µs a class",
        ],
    );
    for outcome in outcomes {
        let sum = &outcome.check.total;
        let policy = |name: &str, of: &dyn Fn(&ByPolicy) -> u64| {
            let share = sum.by(name).map(|p| percent(of(p), sum.methods));
            share.map_or_else(String::new, |s| format!("{s:.2}"))
        };
        let rejected: u64 = runs(outcome).map(|(_, run)| run.rejected).sum();
        let proved: u64 = sum.policies.iter().map(|p| p.proved).sum();
        table.rows.push(vec![
            outcome.corpus.to_string(),
            count(sum.classes),
            match (sum.oldest, sum.newest) {
                (Some(a), Some(b)) if a == b => a.to_string(),
                (Some(a), Some(b)) => format!("{a}–{b}"),
                _ => String::new(),
            },
            match sum.identical == sum.classes {
                true => "all".to_string(),
                false => count(sum.identical),
            },
            count(sum.methods),
            // The default policy and the policy with the most points.
            match sum.by("loop") {
                Some(_) => policy("loop", &|p| p.armed),
                None => policy("block", &|p| p.armed),
            },
            policy("block", &|p| p.named),
            policy("block", &|p| p.emitted),
            rejected.to_string(),
            count(proved),
            sum.unproved().to_string(),
            format!("{:.0}", sum.micros_per_class),
        ]);
    }
    table
}

fn policies(outcomes: &[Outcome]) -> Table {
    let mut table = Table::new(
        "Policies, over all corpora",
        &[
            "policy",
            "methods",
            "armed by itself %",
            "armed when named %",
            "emitted %",
            "capture points",
            "versions with an edit",
            "bodies proved",
        ],
    );
    for name in names(outcomes) {
        let sum = |of: &dyn Fn(&ByPolicy) -> u64| share(outcomes, &name, of).0;
        let part = |of: &dyn Fn(&ByPolicy) -> u64| {
            let (part, whole) = share(outcomes, &name, of);
            format!("{:.2}", percent(part, whole))
        };
        table.rows.push(vec![
            name.clone(),
            count(share(outcomes, &name, &|_| 0).1),
            part(&|p| p.armed),
            part(&|p| p.named),
            part(&|p| p.emitted),
            count(sum(&|p| p.points)),
            count(sum(&|p| p.edited)),
            count(sum(&|p| p.proved)),
        ]);
    }
    table
}

fn refusals(outcomes: &[Outcome]) -> Table {
    let names = names(outcomes);
    let mut columns = vec!["refused", "while"];
    columns.extend(names.iter().map(String::as_str));
    columns.extend(["most, % of methods", "what it means"]);
    let mut table = Table::new("Refusals by name, over all corpora", &columns);
    let methods: u64 = outcomes.iter().map(|o| o.check.total.methods).sum();
    let mut counts: BTreeMap<(String, String), (Vec<u64>, String)> = BTreeMap::new();
    for outcome in outcomes {
        for policy in &outcome.check.total.policies {
            let i = names.iter().position(|n| *n == policy.policy);
            for refused in &policy.refusals {
                let key = (refused.stage.clone(), refused.name.clone());
                let fresh = || (vec![0; names.len()], refused.explanation.clone());
                let row = &mut counts.entry(key).or_insert_with(fresh).0;
                if let Some(n) = i.and_then(|i| row.get_mut(i)) {
                    *n += refused.count;
                }
            }
        }
    }
    for ((stage, name), (by_policy, explanation)) in counts {
        let most = by_policy.iter().copied().max().unwrap_or(0);
        let mut row = vec![name, doing(&stage).to_string()];
        row.extend(by_policy.into_iter().map(count));
        row.push(format!("{:.2}", percent(most, methods)));
        row.push(explanation);
        table.rows.push(row);
    }
    table
}

fn doing(stage: &str) -> &str {
    match stage {
        "arm" => "arming, unnamed",
        "named" => "arming, named in a plan",
        "emit" => "emitting a version",
        "edit" => "emitting an edited version",
        "place" => "choosing a capture point: the rest of the method is armed",
        other => other,
    }
}

fn jvms(outcomes: &[Outcome]) -> Table {
    let mut table = Table::new(
        "Linked in real JVMs with full verification",
        &[
            "corpus",
            "classes",
            "link plain",
            "mode",
            "armed methods",
            "counters",
            "version classes",
            "verifier rejects",
            "other outcomes",
        ],
    );
    for outcome in outcomes {
        let modes: BTreeSet<Mode> = runs(outcome).map(|(mode, _)| mode).collect();
        let sum = |of: &dyn Fn(&super::linking::Linked) -> u64| -> u64 {
            outcome.linked.iter().map(of).sum()
        };
        let mut head = [
            outcome.corpus.to_string(),
            count(sum(&|l| l.classes)),
            count(sum(&|l| l.plain)),
        ];
        for mode in modes {
            let these: Vec<&Run> = runs(outcome)
                .filter(|(one, _)| *one == mode)
                .map(|(_, run)| run)
                .collect();
            let sum = |of: &dyn Fn(&Run) -> u64| -> u64 { these.iter().map(|run| of(run)).sum() };
            let mut row: Vec<String> = head.iter_mut().map(std::mem::take).collect();
            row.extend([
                mode.to_string(),
                count(sum(&|r| r.methods)),
                count(sum(&|r| r.points)),
                count(sum(&|r| r.versions)),
                sum(&|r| r.rejected).to_string(),
                sum(&|r| r.failures.len() as u64).to_string(),
            ]);
            table.rows.push(row);
        }
    }
    table
}

fn jvm_refusals(outcomes: &[Outcome]) -> Table {
    let mut table = Table::new(
        "What the agents refused there",
        &["refused", "mode", "classes", "methods", "places"],
    );
    let mut counts: BTreeMap<(String, Mode), [u64; 3]> = BTreeMap::new();
    for (mode, run) in outcomes.iter().flat_map(runs) {
        for (name, numbers) in &run.refusals {
            let sums = counts.entry((name.clone(), mode)).or_default();
            for (sum, n) in sums.iter_mut().zip(numbers) {
                *sum += n;
            }
        }
    }
    for ((name, mode), numbers) in counts {
        let mut row = vec![name, mode.to_string()];
        row.extend(numbers.map(count));
        table.rows.push(row);
    }
    table
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// Formats a number: `1234567` as `1,234,567`.
fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_stated_whether_they_are_met_or_not() {
        let total = |armed, emitted| Total {
            methods: 10_000,
            initialisers: 100,
            armed,
            emitted,
            classes: 1,
            identical: 1,
        };
        let met = total(99.5, 97.0).sentence();
        assert!(
            met.contains("99.50 % can be armed (goal 99 %: met)"),
            "{met}"
        );
        assert!(met.contains("97.00 % have versions with every block counted (goal 97 %: met)"));
        let missed = total(98.99, 96.99).sentence();
        assert_eq!(missed.matches("MISSED").count(), 2, "{missed}");
        assert_eq!(count(1_234_567), "1,234,567");
    }
}
