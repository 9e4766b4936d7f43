//! Pseudo-random numbers that depend only on a seed: SplitMix64 (Steele, Lea, Flood 2014).

/// A pseudo-random sequence.
#[derive(Clone, Debug)]
pub struct Draw {
    state: u64,
}

impl Draw {
    /// The sequence that belongs to a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`, or 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.number() % bound.max(1) as u64) as usize
    }

    /// Returns a number from `low` to `high`, both inclusive.
    pub fn within(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high + 1 - low)
    }

    /// Returns true with a probability of `percent` %.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns one element of a list, which must not be empty.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// Creates an independent sequence whose seed is the next number of this one. Draws from it do
    /// not change this sequence.
    pub fn fork(&mut self) -> Draw {
        Draw::new(self.number())
    }
}
