//! The corpora in quick scope: the compiler's module of both JDKs, and three jars by other compilers and of other ages, are read
//! and written as they were, armed, emitted, proved, and verified by real JVMs.

use veneer_tests::jdk;
use veneer_tests::trust::{Scope, corpora};

#[test]
fn classes_come_out_right() -> Result<(), Box<dyn std::error::Error>> {
    let jdks = [Some(jdk::oldest()), jdk::newest()];
    let scope = Scope {
        quick: true,
        jdks: jdks.into_iter().flatten().collect(),
        workers: 2,
    };
    let part = corpora::run(&scope)?;
    assert!(part.failures.is_empty(), "{}", part.failures.join("\n"));
    // A counter on every block of everything: so many that none can have been forgotten.
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
