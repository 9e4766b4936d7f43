//! The part `programs` of `make trust` in quick scope: three real programs, run plain, armed, with
//! counters on all blocks, and under a storm of patches. The output must be the same each time.

use veneer_tests::jdk;
use veneer_tests::trust::Scope;
use veneer_tests::trust::programs::{all, failures};

#[test]
fn the_output_is_the_same_in_every_mode() {
    let scope = Scope {
        quick: true,
        jdks: vec![jdk::oldest()],
        workers: 2,
    };
    let series = all(&scope);
    assert!(!series.is_empty());
    let failures = failures(&series);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    for series in &series {
        assert_eq!(series.runs.len(), 4, "{}", series.program.name);
    }
}
