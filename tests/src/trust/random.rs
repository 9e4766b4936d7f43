//! The part `random`: classes of random methods, run plain and in each mode of Veneer.

use std::time::Instant;

use super::{Part, Scope, Table, TrustError};
use crate::jdk::Jdk;
use crate::random::RandomClass;
use crate::random::run::{MODES, Mode, Runner, shrink};
use crate::workers::parallel_map_on;

/// Number of classes in one JVM.
const BATCH: u64 = 120;
/// Number of batches in full scope. Each includes the storm.
const BATCHES: u64 = 4;
/// Duration of the storm in a batch, in milliseconds.
const STORM: u32 = 8_000;
/// The first seed, unless `VENEER_SEED` is set.
const FIRST: u64 = 10_000;

/// The results of one mode on one JDK.
#[derive(Default)]
struct Row {
    classes: usize,
    methods: usize,
    differences: usize,
    counts: usize,
    patches: u64,
    rounds: u64,
}

/// Runs the part.
pub fn run(scope: &Scope) -> Result<Part, TrustError> {
    let start = Instant::now();
    let mut part = Part::new("random", "Random methods");
    part.words.push(
        "Classes that no compiler would generate and every verifier accepts: any control flow, \
         including irreducible, values on the operand stack across branches, variables that \
         change their types, overlapping exception ranges, handlers in loops, nested monitors, \
         constructors with branches before `super(…)`, `invokedynamic`. Each method is called \
         with five sets of arguments and prints a hash of its results, effects and exceptions, \
         with messages and lines. The output under Veneer must be the same byte for byte, and the \
         counters on all blocks must equal the blocks' own counts."
            .into(),
    );
    let first = std::env::var("VENEER_SEED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(FIRST);
    let (batch, batches, storm) = if scope.quick {
        (30, 1, 2_000)
    } else {
        (BATCH, BATCHES, STORM)
    };
    let mut table = Table::new(
        "",
        &[
            "JDK",
            "mode",
            "classes",
            "methods",
            "outputs that differ",
            "counts compared, exact",
            "patches made",
            "rounds",
        ],
    );
    let mut modes = MODES.to_vec();
    modes.push(Mode::Storm(storm));
    let on_each = parallel_map_on(scope.workers, &scope.jdks, |jdk| {
        run_on(jdk, &modes, (first, batch, batches))
    });
    for (jdk, found) in scope.jdks.iter().zip(on_each) {
        let (rows, failures) = found?;
        part.failures.extend(failures);
        for (mode, row) in modes.iter().zip(rows) {
            table.rows.push(vec![
                jdk.to_string(),
                mode.to_string(),
                row.classes.to_string(),
                row.methods.to_string(),
                row.differences.to_string(),
                row.counts.to_string(),
                row.patches.to_string(),
                row.rounds.to_string(),
            ]);
        }
    }
    part.tables.push(table);
    Ok(part.with_duration_since(start))
}

/// Runs classes on a JDK: the first seed, the classes of a batch, and the batches. Returns a row for
/// each mode, and the failures.
fn run_on(
    jdk: &Jdk,
    modes: &[Mode],
    (first, batch, batches): (u64, u64, u64),
) -> Result<(Vec<Row>, Vec<String>), TrustError> {
    let runner = Runner::new(jdk.clone())?;
    let mut rows: Vec<Row> = modes.iter().map(|_| Row::default()).collect();
    let mut failures = Vec::new();
    for number in 0..batches {
        // Each JDK has its own seeds, so that more classes are covered in the same time.
        let from = first + (u64::from(jdk.major()) * 100 + number) * batch;
        let classes: Vec<RandomClass> = (from..from + batch).map(RandomClass::draw).collect();
        let written = runner.batch(&classes)?;
        for (mode, row) in modes.iter().zip(&mut rows) {
            let outcome = written.compare(*mode)?;
            row.classes += classes.len();
            row.methods += written.methods();
            row.differences += outcome.differences.len();
            row.counts += outcome.compared;
            row.patches += outcome.patches;
            row.rounds += outcome.rounds;
            for difference in outcome.differences.iter().take(5) {
                failures.push(format!("{jdk}: {difference}"));
            }
            if let Some(seed) = outcome.seeds.first() {
                failures.push(reproducer(
                    &runner,
                    *mode,
                    *seed,
                    &written.command_line(*mode),
                ));
            }
        }
        eprintln!(
            "trust: random: {jdk}: {} of {} classes",
            (number + 1) * batch,
            batches * batch
        );
    }
    Ok((rows, failures))
}

/// Describes how a developer can reproduce a failure.
fn reproducer(runner: &Runner, mode: Mode, seed: u64, line: &str) -> String {
    let class = RandomClass::draw(seed);
    let items = |class: &RandomClass| (0..class.methods()).map(|m| class.items(m)).sum::<usize>();
    // A storm is different in each run, so a smaller class would show nothing.
    let small = match mode {
        Mode::Storm(_) => None,
        _ => shrink(runner, &class, mode, 60).ok(),
    };
    let at = std::env::temp_dir().join(format!("veneer-seed-{seed}"));
    let kept = small.and_then(|small| {
        let batch = runner.batch(std::slice::from_ref(&small)).ok()?;
        batch.keep(&at).ok()?;
        Some(format!(
            "; {} of {} items are enough, in {}",
            small.weight(),
            items(&class),
            at.display()
        ))
    });
    format!(
        "seed {seed}, mode {mode}: VENEER_SEEDS={seed} cargo test -p veneer-tests --test random_methods; {line}{}",
        kept.unwrap_or_default()
    )
}
