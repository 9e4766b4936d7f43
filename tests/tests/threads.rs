//! Many threads at once: exact counts, platform and virtual; classes that load and initialise in parallel under a storm of
//! instruments. The same as the part `threads` of `make trust`, in small.

use veneer_tests::jdk;
use veneer_tests::running::Outcome;
use veneer_tests::trust::threads::{Counted, generate, loading, turns, virtual_threads};

/// Classes that are loaded here.
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
fn sixteen_threads_count_exactly_after_an_attach_in_the_middle() -> Outcome {
    exact(turns(&jdk::oldest(), true)?)?;
    match jdk::newest() {
        Some(newest) => exact(turns(&newest, true)?),
        None => Ok(()),
    }
}

#[test]
fn virtual_threads_count_exactly() -> Outcome {
    match jdk::newest().filter(|jdk| jdk.major() >= 21) {
        Some(newest) => exact(virtual_threads(&newest, 3000)?),
        None => {
            eprintln!("no JDK with virtual threads is installed: nothing to run");
            Ok(())
        }
    }
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
