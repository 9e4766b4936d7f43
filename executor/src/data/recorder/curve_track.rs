//! The miss-ratio curves of a thread: the buffer that `VeneerCurve` fills, and the samples of its lines.
//!
//! ```text
//!   buffer   count | references | sizes | shifts | masks | lines: number << 2 | size
//! ```

use crate::jvm::runtime_table;
use std::sync::atomic::{AtomicI64, Ordering};
use veneer_memory::{CurveSampler, MissCurve};

const REFERENCES: usize = runtime_table::CURVE_REFERENCES as usize / 8;
const SIZES: usize = runtime_table::CURVE_SIZES as usize / 8;
const SHIFTS: usize = runtime_table::CURVE_SHIFTS as usize / 8;
const MASKS: usize = runtime_table::CURVE_MASKS as usize / 8;
const FIRST: usize = runtime_table::CURVE_FIRST as usize / 8;
const CAPACITY: usize = runtime_table::CURVE_CAPACITY as usize;
/// The bits of an entry that are the index of the length of lines.
const SIZE_BITS: u32 = 2;

/// The curves of a thread, one for each length of lines.
pub(super) struct CurveTrack {
    words: Box<[AtomicI64]>,
    samplers: Vec<CurveSampler>,
}

impl CurveTrack {
    /// The curves for lines of `1 << shift` bytes, at most four lengths.
    pub(super) fn new(shifts: &[u32]) -> CurveTrack {
        let words = (0..FIRST + CAPACITY).map(|_| AtomicI64::new(0)).collect();
        let samplers = shifts.iter().take(1 << SIZE_BITS);
        let track = CurveTrack {
            words,
            samplers: samplers.map(|shift| CurveSampler::new(*shift)).collect(),
        };
        track.set(SIZES, track.samplers.len() as i64);
        for (index, sampler) in track.samplers.iter().enumerate() {
            track.set(SHIFTS + index, sampler.line_shift().into());
        }
        track.set_masks();
        track
    }

    pub(super) fn address(&self) -> i64 {
        self.words.as_ptr() as i64
    }

    fn set(&self, word: usize, value: i64) {
        self.words[word].store(value, Ordering::Relaxed);
    }

    fn get(&self, word: usize) -> i64 {
        self.words[word].load(Ordering::Relaxed)
    }

    fn set_masks(&self) {
        for (index, sampler) in self.samplers.iter().enumerate() {
            self.set(MASKS + index, sampler.mask() as i64);
        }
    }

    /// Takes the lines in the buffer over. `moved`: the objects have moved after the accesses to them.
    pub(super) fn take(&mut self, moved: bool) {
        let count = usize::try_from(self.get(0)).unwrap_or(0).min(CAPACITY);
        for entry in 0..count {
            let word = self.get(FIRST + entry) as u64;
            let index = word as usize & ((1 << SIZE_BITS) - 1);
            if let Some(sampler) = self.samplers.get_mut(index) {
                sampler.access(word >> SIZE_BITS);
            }
        }
        self.set(0, 0);
        if moved {
            self.samplers
                .iter_mut()
                .for_each(CurveSampler::forget_lines);
        }
        self.set_masks();
    }

    /// The curves of the accesses so far.
    pub(super) fn curves(&mut self) -> Vec<MissCurve> {
        self.take(false);
        let references = self.get(REFERENCES) as u64;
        let samplers = self.samplers.iter();
        samplers.map(|sampler| sampler.curve(references)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_memory::CURVE_SEED;

    /// Stores a line as `VeneerCurve` does.
    fn access(track: &mut CurveTrack, size: usize, line: u64) {
        track.words[REFERENCES].fetch_add(1, Ordering::Relaxed);
        if !track.samplers[size].has(line) {
            return;
        }
        let count = track.get(0) as usize;
        track.set(FIRST + count, (line << 2) as i64 | size as i64);
        track.set(0, count as i64 + 1);
        if count + 1 == CAPACITY {
            track.take(false);
        }
    }

    #[test]
    fn lines_go_to_the_sample_of_their_length() {
        assert_eq!(runtime_table::CURVE_SEED as u64, CURVE_SEED);
        let mut track = CurveTrack::new(&[6, 7]);
        assert_eq!((track.get(SIZES), track.get(SHIFTS + 1)), (2, 7));
        for round in 0..5 {
            for line in 0..100_000 {
                access(&mut track, 0, line);
            }
            if round == 2 {
                track.take(true);
            }
        }
        assert_eq!(track.get(MASKS), 15, "there were too many lines for 1/4");
        let curves = track.curves();
        assert_eq!(curves[0].references, 500_000);
        // All lines miss twice: at first, and after they have moved.
        let point = curves[0].at(1 << 20);
        assert!(point.misses.abs_diff(200_000) <= point.margin, "{point:?}");
        assert_eq!((curves[1].line_bytes, curves[1].at(1).misses), (128, 0));
    }
}
