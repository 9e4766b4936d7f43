//! Simulation of a sample of the cache sets.
//!
//! A level's sets do not influence each other. If all lines of some sets are simulated, these sets
//! behave exactly as in the whole cache. The sets are chosen by a hash, as SHARDS chooses lines
//! (Waldspurger, Park, Garthwaite, Ahmad: *Efficient MRC Construction with SHARDS*, FAST 2015).
//!
//! **Clusters.** Several levels must be sampled together. A *cluster* is the part of the addresses
//! that has one value of `address % period / longest line`, where the period is the greatest common
//! divisor of `sets × line` of all sampled levels. All lines of a set are in one cluster, at every
//! level.
//!
//! ```text
//!   L1 32K/8/64: sets × line = 4 KiB ┐
//!   L2 1M/8/64:  128 KiB             ├─ sampled from L1: period 4 KiB, 64 clusters
//!                                    └─ sampled from L2: period 128 KiB, 2,048 clusters
//! ```
//!
//! More clusters give a smaller error. Therefore the levels before `first` can be simulated
//! exactly, and their misses are sampled.

use thiserror::Error;

use crate::access::{Access, Origin};
use crate::description::{CacheDescription, MAX_LEVELS, Rules};
use crate::estimate::{Estimate, GroupCount, MAX_GROUPS, MIN_GROUPS, ratio_estimate};
use crate::hash::mix;
use crate::hierarchy::{Hierarchy, Lookups, Outcome, Request};
use crate::ledger::{Ledger, MAX_ORIGINS, References};

/// The most clusters. Each has one byte.
const MAX_CLUSTERS: u64 = 1 << 24;
/// The mark of a cluster outside the sample.
const NOT_SAMPLED: u8 = u8::MAX;

/// Why a description cannot be sampled.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SamplingError {
    /// The denominator of the sampling rate is not from 1 to 65,536. The value is the denominator.
    #[error("a sample of 1 in {0} is impossible; the denominator must be from 1 to 65536")]
    Rate(u32),
    /// The description does not have the level from which on the sets are to be sampled.
    #[error("there is no level L{level} to sample; the description has {levels} levels")]
    NoSuchLevel {
        /// The number of the first level to sample; 1 is L1.
        level: usize,
        /// The number of levels of data caches in the description.
        levels: usize,
    },
    /// The sample would have fewer than [`MIN_GROUPS`] clusters, or the levels have more than
    /// 16,777,216 clusters.
    #[error(
        "the levels have {clusters} independent groups of sets from L{level} on, of which {sampled} would be sampled; \
             an error can be stated for {MIN_GROUPS} or more: sample more, or from a later level on"
    )]
    TooFewSets {
        /// The number of the first level to sample; 1 is L1.
        level: usize,
        /// The number of clusters of the levels from `level` on.
        clusters: u64,
        /// The number of clusters that the sample would contain.
        sampled: u64,
    },
    /// The description has [`Rules::Cachegrind`]. One lookup can then touch two sets, so that sets
    /// cannot be sampled.
    #[error(
        "the rules of Cachegrind look whole accesses up, which can touch two sets; sample with rules:lines"
    )]
    CachegrindRules,
}

impl SamplingError {
    /// Returns the stable name of the error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            SamplingError::Rate(_) => "SampleRate",
            SamplingError::NoSuchLevel { .. } => "SampleNoSuchLevel",
            SamplingError::TooFewSets { .. } => "SampleTooFewSets",
            SamplingError::CachegrindRules => "SampleCachegrindRules",
        }
    }
}

/// The clusters that are simulated.
#[derive(Clone, Debug)]
pub struct SetSample {
    period: u64,
    line_shift: u32,
    /// The group of each cluster, or [`NOT_SAMPLED`].
    groups: Vec<u8>,
    group_count: usize,
    fraction: f64,
}

impl SetSample {
    /// Chooses one in `denominator` of the clusters of the levels from index `first` on. The seed
    /// determines the choice.
    pub fn new(
        description: &CacheDescription,
        denominator: u32,
        first: usize,
        seed: u64,
    ) -> Result<SetSample, SamplingError> {
        if !(1..=65536).contains(&denominator) {
            return Err(SamplingError::Rate(denominator));
        }
        if description.rules == Rules::Cachegrind {
            return Err(SamplingError::CachegrindRules);
        }
        let levels = &description.levels[first.min(description.levels.len())..];
        let longest = levels.iter().map(|level| level.geometry.line_bytes).max();
        let Some(longest) = longest else {
            return Err(SamplingError::NoSuchLevel {
                level: first + 1,
                levels: description.levels.len(),
            });
        };
        let spans = levels
            .iter()
            .map(|level| level.geometry.sets * level.geometry.line_bytes);
        let period = spans.fold(0, greatest_common_divisor);
        let clusters = match period.is_multiple_of(longest) {
            true => period / longest,
            false => 1,
        };
        let wanted = clusters / u64::from(denominator);
        if wanted < MIN_GROUPS as u64 || clusters > MAX_CLUSTERS {
            return Err(SamplingError::TooFewSets {
                level: first + 1,
                clusters,
                sampled: wanted,
            });
        }
        let group_count = MAX_GROUPS.min(wanted as usize);
        let sampled = wanted as usize / group_count * group_count;
        let mut order: Vec<u32> = (0..clusters as u32).collect();
        order.sort_unstable_by_key(|cluster| (mix(seed ^ mix(u64::from(*cluster))), *cluster));
        let mut groups = vec![NOT_SAMPLED; clusters as usize];
        for (rank, cluster) in order.into_iter().take(sampled).enumerate() {
            groups[cluster as usize] = (rank % group_count) as u8;
        }
        Ok(SetSample {
            period,
            line_shift: longest.trailing_zeros(),
            groups,
            group_count,
            fraction: sampled as f64 / clusters as f64,
        })
    }

    /// Returns the group of an address, if its cluster is sampled.
    #[inline]
    pub fn group(&self, address: u64) -> Option<usize> {
        let cluster = (address % self.period) >> self.line_shift;
        let group = self.groups.get(cluster as usize).copied();
        group.filter(|g| *g != NOT_SAMPLED).map(usize::from)
    }

    /// Returns the part of all clusters that is sampled, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        self.fraction
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    match b {
        0 => a,
        b => greatest_common_divisor(b, a % b),
    }
}

/// The lookups of the sampled levels in one group of sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct GroupLookups {
    arrivals: u64,
    levels: [Lookups; MAX_LEVELS],
}

/// The counts of one origin.
#[derive(Clone, Debug)]
pub struct SampledAccount {
    /// Exact counts of the accesses.
    pub references: References,
    /// Exact lookups of the TLBs and of the levels before the first sampled one.
    exact: Outcome,
    /// Demand requests that reached the first sampled level: exact.
    arrivals: u64,
    groups: Vec<GroupLookups>,
    first: usize,
    fraction: f64,
}

impl SampledAccount {
    /// Returns the estimated lookups of a level (index 0 is L1).
    pub fn lookups(&self, level: usize) -> Estimate {
        match level == self.first {
            true => Estimate::exact(self.arrivals),
            false => self.estimate(level, |lookups| lookups.lookups),
        }
    }

    /// Returns the estimated misses of a level (index 0 is L1).
    pub fn misses(&self, level: usize) -> Estimate {
        self.estimate(level, |lookups| lookups.misses)
    }

    /// Returns the exact lookups of the TLBs.
    pub fn tlbs(&self) -> &[Lookups] {
        &self.exact.tlbs
    }

    fn estimate(&self, level: usize, of: impl Fn(&Lookups) -> u64) -> Estimate {
        if level < self.first {
            return Estimate::exact(self.exact.levels.get(level).map_or(0, of));
        }
        let count = |group: &GroupLookups| GroupCount {
            arrivals: group.arrivals,
            events: group.levels.get(level).map_or(0, &of),
        };
        let groups: Vec<GroupCount> = self.groups.iter().map(count).collect();
        ratio_estimate(&groups, self.arrivals, self.fraction)
    }

    /// Adds the counts of another account of the same run.
    pub fn add(&mut self, other: &SampledAccount) {
        self.references.add(&other.references);
        self.exact.add(&other.exact);
        self.arrivals += other.arrivals;
        for (sum, more) in self.groups.iter_mut().zip(&other.groups) {
            sum.arrivals += more.arrivals;
            for (sum, more) in sum.levels.iter_mut().zip(more.levels) {
                sum.add(more);
            }
        }
    }
}

/// Simulates the levels before `first` exactly, and a sample of the sets of the other levels.
#[derive(Clone, Debug)]
pub struct SampledSimulation {
    above: Hierarchy,
    below: Hierarchy,
    sample: SetSample,
    first: usize,
    ledger: Ledger<SampledAccount>,
    requests: Vec<Request>,
}

impl SampledSimulation {
    /// Empty caches of a description, with one in `denominator` of the clusters sampled from the
    /// level with index `first` on.
    pub fn new(
        description: &CacheDescription,
        denominator: u32,
        first: usize,
        seed: u64,
    ) -> Result<SampledSimulation, SamplingError> {
        Ok(SampledSimulation {
            sample: SetSample::new(description, denominator, first, seed)?,
            above: Hierarchy::above(description, first),
            below: Hierarchy::below(description, first),
            first,
            ledger: Ledger::new(MAX_ORIGINS),
            requests: Vec::new(),
        })
    }

    /// Simulates an access and charges it to `origin`.
    pub fn access(&mut self, access: &Access, origin: Origin) {
        let empty = self.empty();
        let account = self.ledger.account(origin, || empty.into_account());
        account.references.count(access);
        account.exact.add(&self.above.access(access));
        self.above.take_outgoing(&mut self.requests);
        for request in &self.requests {
            account.arrivals += u64::from(request.is_demand);
            let Some(group) = self.sample.group(request.address) else {
                continue;
            };
            let outcome = self.below.request(request);
            let Some(counts) = account.groups.get_mut(group) else {
                continue;
            };
            counts.arrivals += u64::from(request.is_demand);
            for (sum, more) in counts.levels.iter_mut().zip(outcome.levels) {
                sum.add(more);
            }
        }
    }

    /// Empties all caches after a collection that moved objects: see [`Hierarchy::flush`].
    pub fn flush(&mut self) {
        self.above.flush();
        self.below.flush();
    }

    /// Returns the chosen sets.
    pub fn sample(&self) -> &SetSample {
        &self.sample
    }

    /// Returns the accounts, in the order of the first access of their origins.
    pub fn accounts(&self) -> impl Iterator<Item = (&Origin, &SampledAccount)> {
        self.ledger.iter()
    }

    /// Returns the sum of all accounts.
    pub fn total(&self) -> SampledAccount {
        let mut total = self.empty().into_account();
        for (_, account) in self.accounts() {
            total.add(account);
        }
        total
    }

    fn empty(&self) -> EmptyAccount {
        EmptyAccount {
            groups: self.sample.group_count,
            first: self.first,
            fraction: self.sample.fraction,
        }
    }
}

/// The shape of an account, from which an account is made when it is first needed.
#[derive(Clone, Copy)]
struct EmptyAccount {
    groups: usize,
    first: usize,
    fraction: f64,
}

impl EmptyAccount {
    fn into_account(self) -> SampledAccount {
        SampledAccount {
            references: References::default(),
            exact: Outcome::default(),
            arrivals: 0,
            groups: vec![GroupLookups::default(); self.groups],
            first: self.first,
            fraction: self.fraction,
        }
    }
}
