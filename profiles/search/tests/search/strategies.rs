//! The strategies beside each other: Fig. 2 and Fig. 4 of Brear et al., 2003.

use veneer_search::cause::Cause;
use veneer_search::settings::{Settings, Strategy};

use crate::driver::{Simulation, found};
use crate::program::Program;
use crate::programs;

const ALL: [Strategy; 3] = [Strategy::TopDown, Strategy::DeepStart, Strategy::Hybrid];

fn with(strategy: Strategy) -> Settings {
    Settings {
        strategy,
        ..Settings::default()
    }
}

/// Returns the seconds until a method is found, if it is within 12 s.
fn seconds_until(program: &Program, strategy: Strategy, method: &str, seed: u64) -> Option<f64> {
    let mut simulation = Simulation::new(program.clone(), with(strategy), seed);
    simulation.run_until(12.0, |outcome| {
        let id = program.find(method);
        outcome.findings.iter().any(|f| f.method.0 as usize == id)
    })
}

/// Fig. 2: no caller exceeds the threshold, so the search from the root alone does not find the
/// method; stack samples do.
#[test]
fn the_hidden_bottleneck_is_found_by_deep_starters_only() {
    let seeded = programs::hidden();
    for seed in 0..5 {
        let time = |strategy| seconds_until(&seeded.program, strategy, "hidden", seed);
        assert_eq!(time(Strategy::TopDown), None);
        assert!(time(Strategy::DeepStart).is_some_and(|s| s < 5.0));
        assert!(time(Strategy::Hybrid).is_some_and(|s| s < 5.0));
    }
}

/// Fig. 4: the time until a bottleneck below a chain of 8 calls is found, by strategy.
#[test]
fn the_hybrid_search_needs_less_time_than_the_search_from_the_root() {
    let program = programs::chain(8);
    let mean = |strategy| {
        let times = (0..5).map(|seed| {
            let time = seconds_until(&program, strategy, "bottleneck", seed);
            time.expect("each strategy finds it")
        });
        times.sum::<f64>() / 5.0
    };
    let [top_down, deep_start, hybrid] = ALL.map(mean);
    println!("top-down {top_down:.2} s, deep-start {deep_start:.2} s, hybrid {hybrid:.2} s");
    assert!(hybrid < 0.55 * top_down, "{hybrid} s, {top_down} s");
    assert!(deep_start < 0.55 * top_down, "{deep_start} s, {top_down} s");
}

/// A finding has the time of its decision. Deep starters are decided before the methods above them; the
/// finding is reported when these hold too.
#[test]
fn a_finding_has_the_time_of_its_decision() {
    let program = programs::chain(8);
    let id = program.find("bottleneck");
    for strategy in ALL {
        let reported = seconds_until(&program, strategy, "bottleneck", 1);
        let reported = reported.expect("each strategy finds it");
        let outcome = Simulation::new(program.clone(), with(strategy), 1).run(12.0);
        let own = outcome
            .findings
            .iter()
            .filter(|f| f.method.0 as usize == id);
        let found = own.map(|f| f.found).fold(f64::INFINITY, f64::min);
        assert!(found <= reported + 1e-9, "{strategy:?}: {found} {reported}");
        if strategy == Strategy::TopDown {
            assert!(found > reported - 0.2, "{found} {reported}");
        }
    }
}

/// All strategies agree on the bottleneck of a chain.
#[test]
fn all_strategies_report_the_same_bottleneck() {
    let program = programs::chain(3);
    for strategy in ALL {
        let outcome = Simulation::new(program.clone(), with(strategy), 7).run(8.0);
        assert!(
            found(&outcome, &program, "bottleneck", Cause::Processor),
            "{strategy:?}"
        );
    }
}
