//! Access sequences with different structures, endless and reproducible.

use veneer_memory::{Access, AccessKind};

/// A linear congruential generator (Knuth, MMIX).
#[derive(Clone)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// The structure of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Uniform addresses within some bytes.
    Uniform(u64),
    /// Addresses with a skewed popularity: the minimum of three uniform numbers.
    Skewed(u64),
    /// One pass after the other over an array of some bytes, with a step.
    Strided(u64, u64),
    /// The columns of a square matrix of 8-byte elements with some rows.
    Columns(u64),
    /// A linked list in random order of some nodes of 32 bytes, walked again and again.
    Chasing(u64),
    /// All of the above in turn, 1,000 accesses each.
    Mixed,
}

/// An endless sequence of accesses.
pub struct Sequence {
    pattern: Pattern,
    random: Random,
    /// The successor of each node of the list.
    list: Vec<u32>,
    position: u64,
}

impl Sequence {
    pub fn new(pattern: Pattern, seed: u64) -> Sequence {
        let mut random = Random(seed);
        let nodes = match pattern {
            Pattern::Chasing(nodes) => nodes as usize,
            Pattern::Mixed => 5000,
            _ => 1,
        };
        // Sattolo's algorithm: one cycle through all nodes.
        let mut list: Vec<u32> = (0..nodes as u32).collect();
        for i in (1..nodes).rev() {
            list.swap(i, random.below(i as u64) as usize);
        }
        Sequence {
            pattern,
            random,
            list,
            position: 0,
        }
    }

    fn address(&mut self, pattern: Pattern) -> u64 {
        let position = self.position;
        match pattern {
            Pattern::Uniform(bytes) => self.random.below(bytes),
            Pattern::Skewed(bytes) => (0..3).map(|_| self.random.below(bytes)).min().unwrap_or(0),
            Pattern::Strided(bytes, step) => position.wrapping_mul(step) % bytes,
            Pattern::Columns(rows) => (position % rows * rows + position / rows % rows) * 8,
            Pattern::Chasing(nodes) => {
                let at = (position % nodes.max(1)) as usize % self.list.len();
                u64::from(self.list[at]) * 32
            }
            Pattern::Mixed => {
                let parts = [
                    Pattern::Uniform(1 << 20),
                    Pattern::Skewed(1 << 22),
                    Pattern::Strided(300_000, 24),
                    Pattern::Columns(200),
                    Pattern::Chasing(5000),
                ];
                self.address(parts[(position / 1000 % 5) as usize])
            }
        }
    }
}

impl Iterator for Sequence {
    type Item = Access;

    fn next(&mut self) -> Option<Access> {
        let address = self.address(self.pattern);
        self.position += 1;
        let dice = self.random.next();
        let kind = match dice % 16 {
            0..4 => AccessKind::Write,
            4 => AccessKind::Modify,
            5 => AccessKind::Fetch,
            _ => AccessKind::Read,
        };
        let bytes = match dice / 16 % 16 {
            0 => 100,
            1 => 16,
            2..5 => 1,
            5..9 => 4,
            _ => 8,
        };
        Some(Access {
            address,
            bytes,
            kind,
        })
    }
}
