//! Turns a trace into a memory profile.

use std::collections::HashMap;
use std::io::{self, BufRead};

use veneer_memory::profile::{
    AccessRow, CacheCounts, LevelCount, MemoryProfile, Site, UNKNOWN_MARGIN,
};
use veneer_memory::{
    Access, AccessKind, Account, CacheDescription, Estimate, LackeyReader, Lookups, MAX_ORIGINS,
    MissCurve, MissRatioCurve, Origin, SampledAccount, SampledSimulation, SamplingError,
    Simulation, StackDistances, TracedAccess,
};

use crate::cli::{KeyOfAccess, SampleArgument};

/// Base-2 logarithm of the page length of [`KeyOfAccess::Page`].
const PAGE_SHIFT: u32 = 12;

/// The settings of a simulation.
pub(super) struct TraceSettings {
    pub(super) caches: Vec<CacheDescription>,
    pub(super) by: KeyOfAccess,
    pub(super) sample: Option<SampleArgument>,
    pub(super) seed: u64,
    pub(super) curve: bool,
}

/// The result of a simulation.
pub(super) struct SimulatedTrace {
    pub(super) profile: MemoryProfile,
    pub(super) curve: Option<MissRatioCurve>,
    /// Base-2 logarithm of the line length of the curve.
    pub(super) line_shift: u32,
}

/// The simulators: one for all descriptions, or one for each if they are sampled.
enum Simulators {
    Exact(Simulation),
    Sampled(Vec<SampledSimulation>),
}

impl Simulators {
    fn new(settings: &TraceSettings) -> Result<Simulators, SamplingError> {
        let Some(sample) = settings.sample else {
            return Ok(Simulators::Exact(Simulation::new(&settings.caches)));
        };
        let new = |description| {
            SampledSimulation::new(description, sample.denominator, sample.first, settings.seed)
        };
        let all = settings.caches.iter().map(new);
        Ok(Simulators::Sampled(all.collect::<Result<_, _>>()?))
    }

    fn access(&mut self, access: &Access, origin: Origin) {
        match self {
            Simulators::Exact(simulation) => simulation.access(access, origin),
            Simulators::Sampled(all) => {
                for simulation in all {
                    simulation.access(access, origin);
                }
            }
        }
    }
}

/// The numbers of the keys, in the order of their first access.
#[derive(Default)]
struct Keys {
    numbers: HashMap<u64, u32>,
    keys: Vec<u64>,
}

impl Keys {
    fn number(&mut self, key: u64) -> u32 {
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        if self.keys.len() >= MAX_ORIGINS {
            return Origin::OTHER.site;
        }
        let number = self.keys.len() as u32;
        self.keys.push(key);
        self.numbers.insert(key, number);
        number
    }
}

/// Simulates a whole trace.
pub(super) fn simulate(
    source: impl BufRead,
    name: &str,
    settings: &TraceSettings,
) -> Result<SimulatedTrace, TraceError> {
    let mut simulators = Simulators::new(settings)?;
    let first = settings.caches.first().and_then(|c| c.levels.first());
    let line_shift = first.map_or(6, |level| level.geometry.line_shift());
    let mut distances = match settings.sample {
        None => StackDistances::exact(line_shift),
        Some(sample) => StackDistances::sampled(line_shift, sample.denominator, settings.seed),
    };
    let (mut keys, mut reader) = (Keys::default(), LackeyReader::new(source));
    let mut accesses = 0u64;
    while let Some(traced) = reader.next_access()? {
        accesses += 1;
        let origin = Origin {
            site: keys.number(key(&traced, settings.by, line_shift)),
            ..Origin::default()
        };
        simulators.access(&traced.access, origin);
        if settings.curve {
            distances.access(&traced.access);
        }
    }
    if accesses == 0 {
        return Err(TraceError::NoAccesses {
            skipped: reader.skipped(),
        });
    }
    let mut profile = profile(&simulators, &keys, settings);
    profile.program = name.to_owned();
    profile.notes = notes(&reader, settings, &keys);
    let curve = settings.curve.then(|| distances.curve());
    let stored = curve.iter();
    profile.curves = stored
        .map(|curve| MissCurve::measured(curve, 1 << line_shift))
        .collect();
    Ok(SimulatedTrace {
        profile,
        curve,
        line_shift,
    })
}

/// Why a trace has no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum TraceError {
    #[error("the trace cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    #[error(
        "the trace has no memory access, and {skipped} lines of another form; make it with `valgrind --tool=lackey --trace-mem=yes --log-file=TRACE PROGRAM`"
    )]
    NoAccesses { skipped: u64 },
    #[error(transparent)]
    Sampling(#[from] SamplingError),
}

fn key(traced: &TracedAccess, by: KeyOfAccess, line_shift: u32) -> u64 {
    match by {
        KeyOfAccess::Kind => match traced.access.kind {
            AccessKind::Read | AccessKind::Modify => 0,
            AccessKind::Write => 1,
            AccessKind::Fetch => 2,
        },
        KeyOfAccess::Instruction => traced.instruction,
        KeyOfAccess::CacheLine => traced.access.address >> line_shift << line_shift,
        KeyOfAccess::Page => traced.access.address >> PAGE_SHIFT << PAGE_SHIFT,
    }
}

fn key_name(key: u64, by: KeyOfAccess) -> String {
    match (by, key) {
        (KeyOfAccess::Kind, 0) => "read".into(),
        (KeyOfAccess::Kind, 1) => "write".into(),
        (KeyOfAccess::Kind, _) => "fetch".into(),
        (_, address) => format!("0x{address:x}"),
    }
}

fn profile(simulators: &Simulators, keys: &Keys, settings: &TraceSettings) -> MemoryProfile {
    let named = |method: String| Site {
        method: method.into(),
        ..Site::default()
    };
    let mut sites: Vec<Site> = keys
        .keys
        .iter()
        .map(|key| named(key_name(*key, settings.by)))
        .collect();
    sites.push(named("(other)".into()));
    let other = sites.len() as u32 - 1;
    let row = |origin: &Origin, references, caches| AccessRow {
        site: origin.site.min(other),
        references,
        caches,
        ..AccessRow::default()
    };
    let accesses = match simulators {
        Simulators::Exact(simulation) => simulation
            .accounts()
            .map(|(origin, account)| {
                row(origin, account.references, exact_counts(account, settings))
            })
            .collect(),
        Simulators::Sampled(all) => {
            let mut rows: Vec<AccessRow> = Vec::new();
            for (index, simulation) in all.iter().enumerate() {
                // The simulations saw the same accesses, so their accounts have the same order.
                for (at, (origin, account)) in simulation.accounts().enumerate() {
                    if index == 0 {
                        rows.push(row(origin, account.references, Vec::new()));
                    }
                    if let Some(row) = rows.get_mut(at) {
                        row.caches
                            .push(sampled_counts(account, &settings.caches[index]));
                    }
                }
            }
            rows
        }
    };
    MemoryProfile {
        caches: settings.caches.iter().map(ToString::to_string).collect(),
        sites,
        accesses,
        ..MemoryProfile::default()
    }
}

fn exact_count(lookups: &Lookups) -> LevelCount {
    LevelCount {
        lookups: lookups.lookups,
        misses: lookups.misses,
        margin: 0,
    }
}

fn exact_counts(account: &Account, settings: &TraceSettings) -> Vec<CacheCounts> {
    let of = |(outcome, description): (&veneer_memory::Outcome, &CacheDescription)| CacheCounts {
        levels: outcome.levels[..description.levels.len()]
            .iter()
            .map(exact_count)
            .collect(),
        instructions: match description.instructions {
            Some(_) => vec![exact_count(&outcome.instructions)],
            None => Vec::new(),
        },
        tlbs: outcome.tlbs[..description.tlbs.len()]
            .iter()
            .map(exact_count)
            .collect(),
    };
    account
        .outcomes
        .iter()
        .zip(&settings.caches)
        .map(of)
        .collect()
}

fn sampled_counts(account: &SampledAccount, description: &CacheDescription) -> CacheCounts {
    let level = |index| {
        let (lookups, misses) = (account.lookups(index), account.misses(index));
        LevelCount {
            lookups: lookups.value.round() as u64,
            misses: misses.value.round() as u64,
            margin: margin(&misses),
        }
    };
    CacheCounts {
        levels: (0..description.levels.len()).map(level).collect(),
        instructions: Vec::new(),
        tlbs: account.tlbs()[..description.tlbs.len()]
            .iter()
            .map(exact_count)
            .collect(),
    }
}

/// Rounds a margin up.
fn margin(estimate: &Estimate) -> u64 {
    estimate
        .margin
        .map_or(UNKNOWN_MARGIN, |margin| margin.ceil() as u64)
}

fn notes<R: BufRead>(
    reader: &LackeyReader<R>,
    settings: &TraceSettings,
    keys: &Keys,
) -> Vec<String> {
    let mut notes = Vec::new();
    if reader.skipped() > 0 {
        let skipped = reader.skipped();
        notes.push(format!(
            "{skipped} lines of the trace have no known form and were skipped."
        ));
    }
    if keys.keys.len() >= MAX_ORIGINS {
        notes.push(format!(
            "The table keeps {MAX_ORIGINS} rows; the accesses of further rows are counted as (other)."
        ));
    }
    if settings.sample.is_some() {
        notes.push(
            "The misses are estimates from a sample of the sets; fetches of instructions were not simulated."
                .into(),
        );
    } else if settings.caches.iter().all(|c| c.instructions.is_none()) {
        notes.push("No description has L1I, so fetches of instructions were not simulated.".into());
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "I  400,4\n L 1000,8\n S 1008,8\nI  404,4\n M 2000,4\n L 1000,8\n";

    fn settings(by: KeyOfAccess, sample: Option<SampleArgument>) -> TraceSettings {
        TraceSettings {
            caches: vec![
                "L1:4K/8/64,L1I:4K/4/64,TLB:4/4/4K".parse().expect("parses"),
                "L1:1K/1/64".parse().expect("parses"),
            ],
            by,
            sample,
            seed: 1,
            curve: true,
        }
    }

    fn rows(by: KeyOfAccess, sample: Option<SampleArgument>) -> Vec<(String, u64, u64)> {
        let trace = simulate(TRACE.as_bytes(), "t", &settings(by, sample)).expect("simulates");
        let view = trace.profile.view(veneer_memory::profile::Dimension::Site);
        let row = |row: &veneer_memory::profile::ViewRow| {
            let misses = row.caches[1].levels[0].misses;
            (row.name.clone(), row.references.accesses(), misses)
        };
        view.iter().map(row).collect()
    }

    #[test]
    fn accesses_are_summed_by_the_key() {
        let row = |name: &str, accesses, misses| (name.to_string(), accesses, misses);
        assert_eq!(
            rows(KeyOfAccess::Kind, None),
            [row("read", 3, 3), row("write", 1, 0), row("fetch", 0, 0)]
        );
        assert_eq!(
            rows(KeyOfAccess::Instruction, None),
            [row("0x400", 2, 1), row("0x404", 2, 2)]
        );
        let pages = rows(KeyOfAccess::Page, None);
        assert!(pages.contains(&row("0x1000", 3, 2)), "{pages:?}");
    }

    #[test]
    fn a_sample_of_all_sets_has_the_exact_rows() {
        let all = Some(SampleArgument {
            denominator: 1,
            first: 0,
        });
        let by = KeyOfAccess::CacheLine;
        assert_eq!(rows(by, all), rows(by, None));
    }

    #[test]
    fn a_trace_without_accesses_is_an_error() {
        let settings = settings(KeyOfAccess::Kind, None);
        let error = simulate("hello\n==1== x\n".as_bytes(), "t", &settings).err();
        assert!(matches!(error, Some(TraceError::NoAccesses { skipped: 1 })));
    }
}
