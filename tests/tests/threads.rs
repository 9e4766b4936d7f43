//! The part `threads` of `make trust` in quick scope: exact counts with many platform or virtual
//! threads, and classes that are loaded and initialised in parallel under a storm of instruments.

use veneer_tests::java_programs::Outcome;
use veneer_tests::jdk;
use veneer_tests::skip::{Need, skip};
use veneer_tests::trust::threads::{Counted, generate, loading, platform_threads, virtual_threads};

/// Number of classes that are loaded.
const CLASSES: usize = 400;

fn exact(counted: Counted) -> Outcome {
    assert!(
        counted.differences.is_empty(),
        "{}",
        counted.differences.join("\n")
    );
    assert!(counted.rows >= 9, "{} rows only", counted.rows);
    Ok(())
}

#[test]
fn sixteen_threads_count_exactly_when_instruments_are_attached_while_they_run() -> Outcome {
    exact(platform_threads(&jdk::oldest(), true)?)?;
    match jdk::newest() {
        Some(newest) => exact(platform_threads(&newest, true)?),
        None => Ok(()),
    }
}

#[test]
fn virtual_threads_count_exactly() -> Outcome {
    let newest = jdk::newest().unwrap_or_else(jdk::oldest);
    if newest.major() < 21 {
        return Ok(skip(Need::VirtualThreads)?);
    }
    exact(virtual_threads(&newest, 3000)?)
}

#[test]
fn classes_load_and_initialise_under_a_storm() -> Outcome {
    let generated = generate(&jdk::oldest(), CLASSES)?;
    loading(&jdk::oldest(), &generated)?;
    if let Some(newest) = jdk::newest() {
        loading(&newest, &generated)?;
    }
    Ok(())
}
