//! The part `corpora` of `make trust` in quick scope: the compiler's module of both JDKs, and three
//! jars of different age from different compilers. Their classes are read and rewritten without a
//! change, armed, emitted, proved, and verified by real JVMs.

use veneer_tests::jdk;
use veneer_tests::trust::{Scope, corpora};

#[test]
fn corpora_pass_every_check() -> Result<(), Box<dyn std::error::Error>> {
    let scope = Scope {
        quick: true,
        jdks: jdk::for_this_test(),
        workers: 2,
    };
    let part = corpora::run(&scope)?;
    assert!(part.failures.is_empty(), "{}", part.failures.join("\n"));
    // Every block has a counter. The number must be so large that no class can have been forgotten.
    let linked = part.tables.iter().find(|t| t.title.starts_with("Linked"));
    let linked = linked.ok_or("no table of JVMs")?;
    let counters = linked.columns.iter().position(|c| c == "counters");
    let counters = counters.ok_or("no column of counters")?;
    let most = linked
        .rows
        .iter()
        .filter_map(|row| row.get(counters)?.replace(',', "").parse::<u64>().ok())
        .max();
    assert!(most >= Some(50_000), "at most {most:?} counters");
    Ok(())
}
