//! Measures the cost of each form of probe code per execution, beside the same code written by hand
//! in the Java source.

use std::time::Instant;

use super::groups::{CheckError, Series, Variant, measure};
use super::peers::{Timing, btrace, byteman};
use super::prepare::{Compiled, plan};
use super::record::shown;
use super::record::{Goal, Record};
use super::workload::{CALLS, HOT_PROBE};
use crate::bench::statistics::median;
use crate::command;
use crate::folder::workspace;
use crate::jdk::Jdk;
use crate::trust::part::Table;
use crate::trust::part::{Scope, TrustError};

/// A form of probe code: its name, its text in a plan, and its text in Java.
struct Form {
    name: &'static str,
    plan: &'static str,
    hand: &'static str,
    /// The text of Byteman's rule and of BTrace's Java, if the comparison is useful.
    peers: Option<[&'static str; 2]>,
}

const FORMS: &[Form] = &[
    Form {
        name: "a comparison that fails",
        plan: "let t = tally(); step.before(|p| if p.turn < 0 { t.count() });",
        hand: "if (turn < 0) { COUNT.increment(); }",
        peers: None,
    },
    Form {
        name: "a comparison of a field of a field that fails",
        plan: "let t = tally(); step.before(|p| if p.item.owner.weight > 100 { t.count() });",
        hand: "if (item != null && item.owner != null && item.owner.weight > 100) { COUNT.increment(); }",
        peers: None,
    },
    Form {
        name: "tally(), count()",
        plan: "let t = tally(); step.before(|p| t.count());",
        hand: "COUNT.increment();",
        peers: Some(["count()", ""]),
    },
    Form {
        name: "tally(), count(number)",
        plan: "let t = tally(); step.before(|p| t.count(p.turn & 15));",
        hand: "BY.computeIfAbsent((long) (turn & 15), k -> new LongAdder()).increment();",
        peers: Some([
            "count($2 & 15)",
            "BTraceUtils.Aggregations.addToAggregation(BY, BTraceUtils.Aggregations.newAggregationKey(turn & 15), 1);",
        ]),
    },
    Form {
        name: "tally(), count(string in a field of a field)",
        plan: "let t = tally(); step.before(|p| t.count(p.item.owner.name));",
        hand: "if (item != null && item.owner != null) { BY.computeIfAbsent(item.owner.name, k -> new LongAdder()).increment(); }",
        peers: None,
    },
    Form {
        name: "sums(), add(number)",
        plan: "let t = sums(); step.before(|p| t.add(p.turn));",
        hand: "COUNT.increment(); SUM.add(turn); LEAST.accumulate(turn); GREATEST.accumulate(turn);",
        peers: Some([
            "add($2)",
            "BTraceUtils.Aggregations.addToAggregation(SUM, turn); BTraceUtils.Aggregations.addToAggregation(LEAST, turn); BTraceUtils.Aggregations.addToAggregation(GREATEST, turn);",
        ]),
    },
    Form {
        name: "histogram(), add(number)",
        plan: "let t = histogram(10); step.before(|p| t.add(p.turn));",
        hand: "COUNT.increment(); SUM.add(turn); LEAST.accumulate(turn); GREATEST.accumulate(turn); BUCKETS.getAndIncrement(64 - Long.numberOfLeadingZeros(turn));",
        peers: None,
    },
    Form {
        name: "one_in(100), count(number)",
        plan: "let t = tally(); step.before(|p| if one_in(100) { t.count(p.turn & 15) });",
        hand: "if (java.util.concurrent.ThreadLocalRandom.current().nextInt(100) == 0) { BY.computeIfAbsent((long) (turn & 15), k -> new LongAdder()).increment(); }",
        peers: None,
    },
    Form {
        name: "one_in(100), count(stack())",
        plan: "let t = tally(); step.before(|p| if one_in(100) { t.count(stack()) });",
        hand: "if (java.util.concurrent.ThreadLocalRandom.current().nextInt(100) == 0) { BY.computeIfAbsent(java.util.List.of(new Throwable().getStackTrace()), k -> new LongAdder()).increment(); }",
        peers: None,
    },
    Form {
        name: "per_object(0), set() and get()",
        plan: "let v = per_object(0); step.before(|p| v.set(p.item, v.get(p.item) + 1));",
        hand: "synchronized (OWN) { OWN.merge(item, 1L, Long::sum); }",
        peers: None,
    },
];

/// The upper limit of Veneer's cost divided by the cost of the code written by hand.
const GOAL: f64 = 1.2;

/// Differences below this many nanoseconds are noise.
const NOISE: f64 = 0.5;

/// Runs the part `probes`.
pub fn run(scope: &Scope) -> Result<Record, TrustError> {
    let begun = Instant::now();
    let mut record = Record::new("probes", "Code at a point", scope)?;
    record.part.words = vec![format!(
        "A method of six operations, called {CALLS} times per round by one thread, with code at \
         its entry that is compiled from a plan or written in the source. The figure is the \
         difference between the processor times of a round and of the plain round of the same \
         group, divided by the number of calls. The code written by hand uses `LongAdder`, \
         `LongAccumulator`, `AtomicLongArray` and `ConcurrentHashMap`. Veneer's code also counts \
         its executions. Byteman's rule calls a helper with the same code as by hand, compiled to \
         bytecode; BTrace's probe adds to its aggregations."
    )];
    let jdk = scope.jdks.first().ok_or(TrustError::NoJdk)?;
    let mut table = Table::new(
        "",
        &[
            "code",
            "by hand, ns",
            "Veneer, ns",
            "ratio",
            byteman::NAME,
            btrace::COUNTING,
        ],
    );
    let mut over = Vec::new();
    let mut lost = Vec::new();
    // A quick run measures every fourth form.
    let step = if scope.quick { 4 } else { 1 };
    for form in FORMS.iter().step_by(step) {
        let series = measured(jdk, form, scope.quick)?;
        let Some((plain, others)) = series.split_first() else {
            continue;
        };
        let mut cells = vec![form.name.to_string()];
        let mut figures = Vec::new();
        for one in others {
            let costs = cost(one, plain);
            record.figure("probe", form.name, &one.name, "ns", &costs);
            figures.push((one, median(&costs)));
            cells.push(match &one.error {
                Some(error) if costs.is_empty() && one.peer => {
                    let line = format!("Did not run: {}, {}: {error}", form.name, one.name);
                    record.part.words.push(line);
                    "did not run".into()
                }
                _ => shown(&costs, 1),
            });
        }
        for one in series.iter().filter(|one| !one.peer) {
            let fault = |error| format!("{}, {}: {error}", form.name, one.name);
            record.part.failures.extend(one.error.as_ref().map(fault));
        }
        if let [(_, Some(hand)), (_, Some(ours)), peers @ ..] = &figures[..] {
            let ratio = ours.max(0.5) / hand.max(0.5);
            cells.insert(3, format!("{ratio:.2}"));
            // A smaller difference is noise.
            if ratio > GOAL && ours - hand > NOISE {
                over.push(format!("{} {ratio:.2}", form.name));
            }
            for (peer, cost) in peers {
                if let Some(cost) = cost.filter(|cost| cost <= ours) {
                    lost.push(format!("{}, {} {cost:.1} ns", form.name, peer.name));
                }
            }
        } else {
            cells.insert(3.min(cells.len()), "–".into());
        }
        cells.resize(6, String::new());
        table.rows.push(cells);
    }
    record.part.tables.push(table);
    record.goals.push(Goal::everywhere(
        "code at a point, by the same written by hand",
        "≤ 1.20 each, or less than 0.5 ns more",
        &over,
    ));
    record.goals.push(Goal::everywhere(
        "code at a point, below Byteman and BTrace",
        "below",
        &lost,
    ));
    record.part = record.part.with_duration_since(begun);
    Ok(record)
}

/// Returns the cost of each call in nanoseconds, one value for each group.
fn cost(one: &Series, plain: &Series) -> Vec<f64> {
    let pairs = one.processor.iter().zip(&plain.processor);
    pairs.map(|(a, b)| (a - b) * 1e6 / CALLS as f64).collect()
}

fn measured(jdk: &Jdk, form: &Form, quick: bool) -> Result<Vec<Series>, TrustError> {
    let plain = Compiled::workload(jdk, &HOT_PROBE)?;
    let hand = by_hand(jdk, form)?;
    let rounds = HOT_PROBE.rounds(quick);
    let java = |compiled: &Compiled| HOT_PROBE.java(jdk, compiled, rounds, &[], &[]);
    let calls = CALLS * rounds as u64;
    let text = format!(
        "let step = methods(\"HotProbe::step(..)\"); {} at_exit(|| print(`hits: ${{h.hits()}}`));\n",
        form.plan.replace("step.before", "let h = step.before")
    );
    let options = plan(&plain.join("probe.rhai"), &text)?;
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let ours = Variant::new("Veneer", command::run(&options, &java(&plain)));
    let ours = ours.checked(move |run| match run.hits {
        Some(hits) if hits == calls => Ok(()),
        seen => Err(CheckError::Miscounted {
            instrument: "code",
            seen,
            calls,
        }),
    });
    let mut variants = vec![
        Variant::new("plain", java(&plain)),
        Variant::new("by hand", java(&hand)),
        ours,
    ];
    if let Some([rule, probe]) = form.peers {
        let timing = Timing {
            jdk,
            compiled: &plain,
            rounds,
            calls,
            program: &HOT_PROBE,
        };
        variants.push(byteman::probe(&timing, rule));
        variants.push(btrace::probe(&timing, probe));
    }
    let groups = if quick { 1 } else { 5 };
    Ok(measure(form.name, groups, &variants))
}

/// Compiles the program with the code of the form in its source.
fn by_hand(jdk: &Jdk, form: &Form) -> Result<Compiled, TrustError> {
    let compiled = Compiled::workload(jdk, &HOT_PROBE)?;
    let source = std::fs::read_to_string(workspace().join("tests/bench/HotProbe.java"))?;
    let file = compiled.join("HotProbe.java");
    std::fs::write(&file, source.replace("/* probe */", form.hand))?;
    crate::process::Process::new(jdk.tool("javac"))
        .args(["-g", "-nowarn", "-d"])
        .arg(compiled.classes())
        .arg("-cp")
        .arg(compiled.classes())
        .arg(&file)
        .run()?
        .succeeded("javac")?;
    Ok(compiled)
}
