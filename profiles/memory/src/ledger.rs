//! A table from origins to accounts, with a bound on its size.

use ahash::RandomState;
use indexmap::IndexMap;

use crate::access::{Access, AccessKind, Origin};

/// The most origins of a run. The accesses of further origins are charged to [`Origin::OTHER`], so
/// that a program with endless object groups cannot fill the memory.
pub const MAX_ORIGINS: usize = 1 << 20;

/// Counted accesses of one origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct References {
    /// Reads, with each modification as one read.
    pub reads: u64,
    /// Number of writes. A modification is counted as a read only.
    pub writes: u64,
    /// Fetches of instructions.
    pub fetches: u64,
    /// Bytes that the reads read.
    pub bytes_read: u64,
    /// Bytes that the writes wrote, including those of modifications.
    pub bytes_written: u64,
}

impl References {
    /// Returns reads and writes together.
    pub fn accesses(&self) -> u64 {
        self.reads.saturating_add(self.writes)
    }

    /// Counts one access.
    #[inline]
    pub fn count(&mut self, access: &Access) {
        let bytes = u64::from(access.bytes.max(1));
        match access.kind {
            AccessKind::Read => {
                self.reads += 1;
                self.bytes_read += bytes;
            }
            AccessKind::Write => {
                self.writes += 1;
                self.bytes_written += bytes;
            }
            AccessKind::Modify => {
                self.reads += 1;
                self.bytes_read += bytes;
                self.bytes_written += bytes;
            }
            AccessKind::Fetch => self.fetches += 1,
        }
    }

    /// Adds the counts of another part of the run.
    pub fn add(&mut self, other: &References) {
        self.reads = self.reads.saturating_add(other.reads);
        self.writes = self.writes.saturating_add(other.writes);
        self.fetches = self.fetches.saturating_add(other.fetches);
        self.bytes_read = self.bytes_read.saturating_add(other.bytes_read);
        self.bytes_written = self.bytes_written.saturating_add(other.bytes_written);
    }
}

/// The accounts of all origins, in the order of their first access.
#[derive(Clone, Debug)]
pub(crate) struct Ledger<A> {
    accounts: IndexMap<Origin, A, RandomState>,
    /// The origin of the previous access, with its index. Successive accesses often share it.
    last: (Origin, usize),
    limit: usize,
}

impl<A> Ledger<A> {
    pub(crate) fn new(limit: usize) -> Ledger<A> {
        Ledger {
            accounts: IndexMap::with_hasher(RandomState::with_seeds(1, 2, 3, 4)),
            last: (Origin::OTHER, usize::MAX),
            limit,
        }
    }

    /// Returns the account of an origin, and creates it with `new` if necessary.
    #[inline]
    pub(crate) fn account(&mut self, origin: Origin, new: impl FnOnce() -> A) -> &mut A {
        if self.last.0 != origin || self.last.1 == usize::MAX {
            let is_full = self.accounts.len() >= self.limit;
            let charged = match is_full && !self.accounts.contains_key(&origin) {
                true => Origin::OTHER,
                false => origin,
            };
            let entry = self.accounts.entry(charged);
            self.last = (origin, entry.index());
            return entry.or_insert_with(new);
        }
        &mut self.accounts[self.last.1]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Origin, &A)> {
        self.accounts.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_above_the_limit_share_one_account() {
        let mut ledger: Ledger<u32> = Ledger::new(2);
        for site in [1, 2, 3, 1, 4, 3, 2, 2] {
            let origin = Origin {
                site,
                ..Origin::default()
            };
            *ledger.account(origin, || 0) += 1;
        }
        let rows: Vec<(u32, u32)> = ledger.iter().map(|(o, n)| (o.site, *n)).collect();
        assert_eq!(rows, [(1, 2), (2, 3), (u32::MAX, 3)]);
    }
}
