//! Exact simulation of several descriptions in one run, with an account for each origin.

use crate::access::{Access, Origin};
use crate::description::CacheDescription;
use crate::hierarchy::{Hierarchy, Outcome, Request, Traffic};
use crate::ledger::{Ledger, MAX_ORIGINS, References};

/// The counts of one origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The numbers of reads, writes and instruction fetches, and the bytes that were read and
    /// written.
    pub references: References,
    /// The demand lookups in each description, in their order.
    pub outcomes: Vec<Outcome>,
}

impl Account {
    fn new(descriptions: usize) -> Account {
        Account {
            references: References::default(),
            outcomes: vec![Outcome::default(); descriptions],
        }
    }

    /// Adds the counts of another account of the same run.
    pub fn add(&mut self, other: &Account) {
        self.references.add(&other.references);
        for (sum, more) in self.outcomes.iter_mut().zip(&other.outcomes) {
            sum.add(more);
        }
    }
}

/// Simulates every access in every description.
#[derive(Clone, Debug)]
pub struct Simulation {
    hierarchies: Vec<Hierarchy>,
    ledger: Ledger<Account>,
    flushes: u64,
}

impl Simulation {
    /// Empty caches of each description.
    pub fn new(descriptions: &[CacheDescription]) -> Simulation {
        Simulation::with(descriptions.iter().map(Hierarchy::new).collect())
    }

    /// Empty caches of the levels after L1, for [`Simulation::l1_request`].
    pub fn below_l1(descriptions: &[CacheDescription]) -> Simulation {
        let below = |description| Hierarchy::below(description, 1);
        Simulation::with(descriptions.iter().map(below).collect())
    }

    fn with(hierarchies: Vec<Hierarchy>) -> Simulation {
        Simulation {
            hierarchies,
            ledger: Ledger::new(MAX_ORIGINS),
            flushes: 0,
        }
    }

    /// Simulates an access and charges it to `origin`.
    pub fn access(&mut self, access: &Access, origin: Origin) {
        let count = self.hierarchies.len();
        let account = self.ledger.account(origin, || Account::new(count));
        account.references.count(access);
        for (hierarchy, outcome) in self.hierarchies.iter_mut().zip(&mut account.outcomes) {
            outcome.add(&hierarchy.access(access));
        }
    }

    /// Simulates a request that leaves an L1 which is simulated elsewhere. A demand read is an L1
    /// miss. The counts of accesses and of L1 lookups are known to the filter that simulates L1, and
    /// [`Simulation::count_filtered`] adds them.
    pub fn l1_request(&mut self, request: &Request, origin: Origin) {
        let count = self.hierarchies.len();
        let account = self.ledger.account(origin, || Account::new(count));
        for (hierarchy, outcome) in self.hierarchies.iter_mut().zip(&mut account.outcomes) {
            outcome.add(&hierarchy.request(request));
        }
    }

    /// Adds accesses, L1 lookups and TLB lookups that a filter counted for an origin.
    pub fn count_filtered(&mut self, references: &References, outcome: &Outcome, origin: Origin) {
        let count = self.hierarchies.len();
        let account = self.ledger.account(origin, || Account::new(count));
        account.references.add(references);
        for sum in &mut account.outcomes {
            sum.add(outcome);
        }
    }

    /// Empties all caches after a collection that moved objects: see [`Hierarchy::flush`].
    pub fn flush(&mut self) {
        self.flushes += 1;
        for hierarchy in &mut self.hierarchies {
            hierarchy.flush();
        }
    }

    /// Returns how often the caches were emptied.
    pub fn flushes(&self) -> u64 {
        self.flushes
    }

    /// Returns the accounts, in the order of the first access of their origins.
    pub fn accounts(&self) -> impl Iterator<Item = (&Origin, &Account)> {
        self.ledger.iter()
    }

    /// Returns the sum of all accounts.
    pub fn total(&self) -> Account {
        let mut total = Account::new(self.hierarchies.len());
        for (_, account) in self.accounts() {
            total.add(account);
        }
        total
    }

    /// Returns the traffic of each description that no access waited for.
    pub fn traffic(&self) -> Vec<Traffic> {
        self.hierarchies.iter().map(Hierarchy::traffic).collect()
    }
}
