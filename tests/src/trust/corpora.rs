//! The part `corpora`: all classes of both JDKs, and all classes of many jars that other people and
//! other compilers made.
//!
//! ```text
//!   corpus ─┬─▶ statics    `veneer check`: read, write, arm, emit and prove, under each policy
//!           └─▶ linking    real JVMs with full verification, in pieces:
//!                          plain │ armed, each policy │ all blocks counted │ OSR entries
//!                          └────────── the same outcome for each class ───────────┘
//! ```

mod corpus;
mod linking;
mod obfuscated;
mod outcome;
mod statics;
mod tables;

use std::time::Instant;

use crate::folder::Folder;
use crate::trust::{Part, Scope, TrustError};
use crate::workers::parallel_map_on;

pub use corpus::Corpus;
pub use outcome::Outcome;

/// Runs the part.
pub fn run(scope: &Scope) -> Result<Part, TrustError> {
    let start = Instant::now();
    let folder = Folder::new("corpora")?;
    let corpora = corpus::all(scope, &folder)?;
    // The command reads the classes of a corpus in one thread, so two commands at a time keep the
    // processors busy. The two JDKs, which take longest, are the first.
    let jobs = scope.workers.div_ceil(2);
    let checks = parallel_map_on(scope.workers.min(2), &corpora, |corpus| {
        corpus.make_sources()?;
        let check = statics::check(corpus, scope, jobs)?;
        eprintln!(
            "corpora: {:4.0} s  {corpus}: {} classes, {} failures",
            start.elapsed().as_secs_f64(),
            check.total.classes,
            check.total.failures.len()
        );
        Ok::<_, TrustError>(check)
    });
    let mut outcomes = Vec::new();
    for (corpus, check) in corpora.into_iter().zip(checks) {
        outcomes.push(Outcome {
            corpus,
            check: check?,
            linked: Vec::new(),
        });
    }
    let statics_took = start.elapsed().as_secs_f64();
    let programs = linking::Programs::compile(scope, &folder)?;
    let mut pieces: Vec<(usize, linking::Piece)> = Vec::new();
    for (i, outcome) in outcomes.iter().enumerate() {
        for piece in linking::pieces(&outcome.corpus, outcome.check.total.methods, scope) {
            pieces.push((i, piece));
        }
    }
    let done = std::sync::atomic::AtomicUsize::new(0);
    let linked = parallel_map_on(scope.workers, &pieces, |(i, piece)| {
        let linked = linking::link(&programs, &outcomes[*i].corpus, piece);
        let n = 1 + done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        eprintln!(
            "corpora: {:4.0} s  {n} of {} pieces linked: {}, {piece}",
            start.elapsed().as_secs_f64(),
            pieces.len(),
            outcomes[*i].corpus
        );
        linked
    });
    // A piece that could not be run is a failure. The results of the other pieces are kept.
    let mut failures = Vec::new();
    for ((i, piece), linked) in pieces.iter().zip(linked) {
        match linked {
            Ok(linked) => outcomes[*i].linked.push(linked),
            Err(error) => failures.push(format!("{}, {piece}: {error}", outcomes[*i].corpus)),
        }
    }
    let mut part = tables::part(&outcomes, scope);
    part.failures.extend(failures);
    part.words.push(format!(
        "`veneer check` took {statics_took:.0} s, the JVMs {:.0} s.",
        start.elapsed().as_secs_f64() - statics_took
    ));
    Ok(part.with_duration_since(start))
}
