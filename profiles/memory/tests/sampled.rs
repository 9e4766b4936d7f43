//! Sampled simulations and curves, compared with exact ones.

mod patterns;

use patterns::{Pattern, Sequence};
use veneer_memory::{
    Access, AccessKind, CacheDescription, Origin, SampledSimulation, SetSample, Simulation,
    StackDistances,
};

const PATTERNS: [Pattern; 5] = [
    Pattern::Uniform(1 << 20),
    Pattern::Skewed(1 << 22),
    Pattern::Strided(3_000_000, 40),
    Pattern::Chasing(20_000),
    Pattern::Mixed,
];
const ACCESSES: usize = 24_000;
const DESCRIPTION: &str = "L1:4K/2/64,L2:128K/4/64,L3:512K/8/64";

fn accesses(pattern: Pattern) -> Vec<Access> {
    let all = Sequence::new(pattern, 17).take(ACCESSES);
    all.filter(|access| access.kind != AccessKind::Fetch)
        .collect()
}

/// Counts for how many of 100 seeds the misses of a level lie within the stated error. The list
/// names the seeds that do not.
fn outside(pattern: Pattern, denominator: u32, first: usize) -> [Vec<u64>; 3] {
    let description: CacheDescription = DESCRIPTION.parse().expect("parses");
    let accesses = accesses(pattern);
    let mut exact = Simulation::new(std::slice::from_ref(&description));
    for access in &accesses {
        exact.access(access, Origin::default());
    }
    let exact = exact.total().outcomes[0].levels;
    let mut outside = [const { Vec::new() }; 3];
    for seed in 0..100 {
        let simulation = SampledSimulation::new(&description, denominator, first, seed);
        let mut simulation = simulation.expect("enough sets");
        for access in &accesses {
            simulation.access(access, Origin::default());
        }
        let total = simulation.total();
        for (level, outside) in outside.iter_mut().enumerate() {
            if !total.misses(level).covers(exact[level].misses) {
                outside.push(seed);
            }
        }
    }
    outside
}

#[test]
fn sampled_misses_are_within_the_stated_error_in_99_of_100_runs() {
    for pattern in PATTERNS {
        // L2 has 512 sets: 32 of them are sampled.
        for (level, outside) in outside(pattern, 16, 1).iter().enumerate() {
            assert!(
                outside.len() <= 1,
                "{pattern:?} L{}: {outside:?}",
                level + 1
            );
        }
    }
}

#[test]
fn sampling_from_l1_is_within_the_stated_error_in_99_of_100_runs() {
    for pattern in PATTERNS {
        // L1 has 32 sets: 8 of them are sampled.
        for (level, outside) in outside(pattern, 4, 0).iter().enumerate() {
            assert!(
                outside.len() <= 1,
                "{pattern:?} L{}: {outside:?}",
                level + 1
            );
        }
    }
}

#[test]
fn a_sample_of_all_sets_is_exact() {
    let description: CacheDescription = DESCRIPTION.parse().expect("parses");
    let mut sampled = SampledSimulation::new(&description, 1, 0, 9).expect("enough sets");
    let mut exact = Simulation::new(std::slice::from_ref(&description));
    for access in accesses(Pattern::Mixed) {
        let origin = Origin {
            site: (access.address % 3) as u32,
            ..Origin::default()
        };
        sampled.access(&access, origin);
        exact.access(&access, origin);
    }
    for ((a, sampled), (b, exact)) in sampled.accounts().zip(exact.accounts()) {
        assert_eq!((a, sampled.references), (b, exact.references));
        for level in 0..3 {
            let expected = exact.outcomes[0].levels[level];
            assert_eq!(sampled.misses(level).value as u64, expected.misses);
            assert_eq!(sampled.lookups(level).value as u64, expected.lookups);
            assert_eq!(sampled.misses(level).margin, Some(0.0));
        }
    }
}

#[test]
fn samples_without_an_error_are_refused() {
    let code = |text: &str, denominator, first| {
        let description: CacheDescription = text.parse().expect(text);
        SetSample::new(&description, denominator, first, 0)
            .map_err(|e| e.code())
            .err()
    };
    assert_eq!(code("L1:4K/8/64", 1, 0), None, "8 sets");
    assert_eq!(code("L1:4K/8/64", 2, 0), Some("SampleTooFewSets"));
    assert_eq!(code("L1:4K/full/64", 1, 0), Some("SampleTooFewSets"));
    assert_eq!(code("L1:4K/4/64", 1, 1), Some("SampleNoSuchLevel"));
    assert_eq!(code("L1:4K/4/64", 0, 0), Some("SampleRate"));
    assert_eq!(
        code("L1:4K/4/64,rules:cachegrind", 1, 0),
        Some("SampleCachegrindRules")
    );
    assert_eq!(code("L1:32K/4/32,L2:1M/8/128", 1, 0), None);
}

/// The misses of a fully associative LRU cache of some lines, by the simulator.
fn simulated(lines: u64, accesses: &[Access]) -> u64 {
    let description = format!("L1:{}/full/64", lines * 64);
    let mut simulation = Simulation::new(&[description.parse().expect("parses")]);
    for access in accesses {
        simulation.access(access, Origin::default());
    }
    simulation.total().outcomes[0].levels[0].misses
}

#[test]
fn the_curve_has_the_misses_of_each_size() {
    for pattern in PATTERNS {
        let accesses = accesses(pattern);
        let accesses = &accesses[..20_000];
        let mut distances = StackDistances::exact(6);
        for access in accesses {
            distances.access(access);
        }
        let curve = distances.curve();
        for lines in [1, 2, 7, 64, 333, 2048] {
            let misses = curve.misses(lines);
            assert_eq!(misses.margin, Some(0.0));
            assert_eq!(
                misses.value as u64,
                simulated(lines, accesses),
                "{pattern:?} {lines}"
            );
        }
    }
}

#[test]
fn sampled_curves_are_within_the_stated_error_in_99_of_100_runs() {
    for pattern in [
        Pattern::Uniform(1 << 20),
        Pattern::Skewed(1 << 22),
        Pattern::Mixed,
    ] {
        let accesses = accesses(pattern);
        let mut exact = StackDistances::exact(6);
        accesses.iter().for_each(|access| exact.access(access));
        let exact = exact.curve();
        for lines in [512, 4096] {
            let expected = exact.misses(lines).value as u64;
            let mut outside = Vec::new();
            for seed in 0..100 {
                let mut sampled = StackDistances::sampled(6, 16, seed);
                accesses.iter().for_each(|access| sampled.access(access));
                if !sampled.curve().misses(lines).covers(expected) {
                    outside.push(seed);
                }
            }
            assert!(outside.len() <= 1, "{pattern:?} {lines} lines: {outside:?}");
        }
    }
}
