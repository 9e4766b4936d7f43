//! The simulator and the naive model have the same outcome for each single access.

mod naive;
mod patterns;

use naive::Naive;
use patterns::{Pattern, Sequence};
use proptest::prelude::*;
use veneer_memory::{
    Access, AccessKind, CacheDescription, Hierarchy, Origin, Simulation, parse_description,
};

/// Descriptions that are small enough that every rule is used often.
const DESCRIPTIONS: [&str; 9] = [
    "L1:1K/2/32",
    "L1:1K/full/64,L2:8K/4/64",
    "L1:1K/2/32/wt/na,L2:4K/4/64,TLB:4/4/4K",
    "L1:1K/2/32/na,L2:6K/4/128/wt,L3:24K/8/128,TLB:8/2/4K,TLB2:32/4/4K",
    "L1:2K/4/64/wt,L2:16K/4/64/na,L1I:1K/1/32",
    "L1:3K/4/64,L2:20K/5/64,L3:65K/13/64,L4:260K/20/64",
    "L1:1K/2/32,L2:8K/4/64,L1I:1K/2/32,rules:cachegrind",
    "L1:2K/2/16,L2:8K/4/64,L3:16K/4/64,L1I:1K/2/32,TLB:4/4/4K,rules:cachegrind",
    "dj",
];

fn descriptions() -> Vec<CacheDescription> {
    let parse = |text: &&str| parse_description(text).expect(text);
    DESCRIPTIONS.iter().map(parse).collect()
}

fn compare(description: &CacheDescription, accesses: impl Iterator<Item = Access>, flush: usize) {
    let (mut naive, mut fast) = (Naive::new(description), Hierarchy::new(description));
    for (n, access) in accesses.enumerate() {
        if n % flush == flush - 1 {
            naive.flush();
            fast.flush();
        }
        let (expected, actual) = (naive.access(&access), fast.access(&access));
        assert_eq!(actual, expected, "{description}: access {n}: {access:?}");
    }
}

const PATTERNS: [Pattern; 6] = [
    Pattern::Uniform(64 << 10),
    Pattern::Skewed(256 << 10),
    Pattern::Strided(100_000, 40),
    Pattern::Columns(64),
    Pattern::Chasing(3000),
    Pattern::Mixed,
];

#[test]
fn structured_sequences_have_the_outcomes_of_the_naive_model() {
    for description in descriptions() {
        for pattern in PATTERNS {
            compare(&description, Sequence::new(pattern, 7).take(6_000), 2_500);
        }
    }
}

/// Takes about ten minutes with optimisation:
/// `CARGO_PROFILE_TEST_OPT_LEVEL=3 cargo test -p veneer-memory --test oracle -- --ignored --nocapture`.
/// `VENEER_ACCESSES` is another number of accesses.
#[test]
#[ignore = "a thousand million accesses take minutes"]
fn a_thousand_million_accesses_have_the_outcomes_of_the_naive_model() {
    let wanted = std::env::var("VENEER_ACCESSES").ok();
    let wanted: u64 = wanted.and_then(|n| n.parse().ok()).unwrap_or(1_000_000_000);
    let descriptions = [
        "L1:4K/2/64,L2:16K/4/64,TLB:8/4/4K",
        "L1:3K/4/32/wt/na,L2:20K/5/128",
    ];
    let share = wanted / (descriptions.len() as u64 * PATTERNS.len() as u64);
    let mut compared = 0;
    for text in descriptions {
        let description: CacheDescription = text.parse().expect(text);
        for pattern in PATTERNS {
            let accesses = Sequence::new(pattern, 11).take(share as usize);
            compare(&description, accesses, 1 << 24);
            compared += share;
        }
        println!("{compared} accesses compared");
    }
}

#[test]
fn the_first_level_elsewhere_and_the_others_here_are_the_whole() {
    for description in descriptions() {
        let (mut filter, mut below) = (
            Hierarchy::above(&description, 1),
            Simulation::below_l1(std::slice::from_ref(&description)),
        );
        let mut whole = Simulation::new(std::slice::from_ref(&description));
        let mut requests = Vec::new();
        for access in Sequence::new(Pattern::Mixed, 3).take(30_000) {
            if access.kind == AccessKind::Fetch {
                continue;
            }
            let origin = Origin {
                site: (access.address % 7) as u32,
                ..Origin::default()
            };
            whole.access(&access, origin);
            let outcome = filter.access(&access);
            let mut references = veneer_memory::References::default();
            references.count(&access);
            below.count_filtered(&references, &outcome, origin);
            filter.take_outgoing(&mut requests);
            for request in &requests {
                below.l1_request(request, origin);
            }
        }
        let rows = |simulation: &Simulation| -> Vec<_> {
            let rows = simulation.accounts();
            rows.map(|(origin, account)| (*origin, account.clone()))
                .collect()
        };
        assert_eq!(rows(&whole), rows(&below), "{description}");
    }
}

#[test]
fn several_descriptions_in_one_run_do_not_influence_each_other() {
    let all = descriptions();
    let mut together = Simulation::new(&all);
    let mut alone: Vec<Simulation> = all
        .iter()
        .map(|one| Simulation::new(std::slice::from_ref(one)))
        .collect();
    for access in Sequence::new(Pattern::Mixed, 5).take(20_000) {
        together.access(&access, Origin::default());
        for simulation in &mut alone {
            simulation.access(&access, Origin::default());
        }
    }
    let total = together.total();
    for (index, simulation) in alone.iter().enumerate() {
        assert_eq!(simulation.total().outcomes[0], total.outcomes[index]);
        assert_eq!(simulation.traffic()[0], together.traffic()[index]);
    }
    assert!(
        total
            .outcomes
            .iter()
            .all(|outcome| outcome.levels[0].misses > 0)
    );
}

#[test]
fn after_a_flush_every_line_misses_again() {
    let description: CacheDescription = "L1:4K/4/64,L2:64K/8/64".parse().expect("parses");
    let mut simulation = Simulation::new(&[description]);
    let walk = |simulation: &mut Simulation| {
        for line in 0..64 {
            let access = Access {
                address: line * 64,
                bytes: 8,
                kind: AccessKind::Write,
            };
            simulation.access(&access, Origin::default());
        }
        simulation.total().outcomes[0].levels[1].misses
    };
    assert_eq!((walk(&mut simulation), walk(&mut simulation)), (64, 64));
    simulation.flush();
    assert_eq!((walk(&mut simulation), simulation.flushes()), (128, 1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_sequence_has_the_outcomes_of_the_naive_model(
        index in 0..DESCRIPTIONS.len(),
        rows in prop::collection::vec((any::<u16>(), 0u32..300, 0u8..4, any::<bool>()), 0..400),
    ) {
        let description = &descriptions()[index];
        let accesses = rows.into_iter().map(|(address, bytes, kind, high)| Access {
            address: if high { u64::MAX - u64::from(address) } else { u64::from(address) },
            bytes,
            kind: [AccessKind::Read, AccessKind::Write, AccessKind::Modify, AccessKind::Fetch][kind as usize],
        });
        compare(description, accesses, 150);
    }
}
