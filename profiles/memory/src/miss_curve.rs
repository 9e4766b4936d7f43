//! The misses of fully associative LRU caches of many sizes, as numbers that can be stored and added.

use crate::estimate::{Estimate, UNKNOWN_MARGIN};
use crate::reuse::MissRatioCurve;

/// Sizes between two powers of two, from the smaller one on.
const SIZES_PER_OCTAVE: u64 = 4;
/// The most points of a curve: all sizes up to 2⁶³ lines.
pub const MAX_CURVE_POINTS: usize = 252;

/// The misses of one size of caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CurvePoint {
    /// The size in lines.
    pub lines: u64,
    /// The number of accesses that miss.
    pub misses: u64,
    /// The stated error of `misses`: 0 if exact, [`UNKNOWN_MARGIN`] if unknown.
    pub margin: u64,
}

/// The misses of caches whose lines have one length. Caches of more lines than the last point miss as often as
/// this one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissCurve {
    /// The length of a line, a power of two.
    pub line_bytes: u64,
    /// The number of accesses.
    pub references: u64,
    /// By rising sizes, which are those of [`curve_sizes`] from the first one on.
    pub points: Vec<CurvePoint>,
}

/// The sizes of all curves, in lines: 1 to 8, 10, 12, 14, 16, 20, …
pub fn curve_sizes() -> impl Iterator<Item = u64> {
    let small = 1..SIZES_PER_OCTAVE;
    let large = (0..62).flat_map(|octave| {
        (SIZES_PER_OCTAVE..2 * SIZES_PER_OCTAVE).map(move |quarter| quarter << octave)
    });
    small.chain(large).take(MAX_CURVE_POINTS - 1)
}

impl MissCurve {
    /// The curve of measured distances, up to the first size that holds everything.
    pub fn measured(curve: &MissRatioCurve, line_bytes: u64) -> MissCurve {
        let largest = curve.largest_useful_size();
        let mut points = Vec::new();
        for lines in curve_sizes() {
            let Estimate { value, margin } = curve.misses(lines);
            points.push(CurvePoint {
                lines,
                misses: value.round() as u64,
                margin: margin.map_or(UNKNOWN_MARGIN, |margin| margin.ceil() as u64),
            });
            if lines >= largest {
                break;
            }
        }
        MissCurve {
            line_bytes,
            references: curve.references(),
            points,
        }
    }

    /// The misses of a size. The margin of a size between two points is not stated.
    pub fn at(&self, lines: u64) -> CurvePoint {
        let found = self.points.partition_point(|point| point.lines < lines);
        let point = self.points.get(found).or(self.points.last());
        CurvePoint {
            lines,
            ..point.copied().unwrap_or_default()
        }
    }

    /// Adds the curve of another thread, which has a cache of the same size for itself.
    pub fn add(&mut self, other: &MissCurve) {
        self.references = self.references.saturating_add(other.references);
        let count = self.points.len().max(other.points.len());
        let sum = |lines: u64| {
            let (one, two) = (self.at(lines), other.at(lines));
            CurvePoint {
                lines,
                misses: one.misses.saturating_add(two.misses),
                margin: one.margin.saturating_add(two.margin),
            }
        };
        self.points = curve_sizes().take(count).map(sum).collect();
    }

    /// Whether the sizes are those of [`curve_sizes`], and no larger cache has more misses than accesses.
    pub fn is_valid(&self) -> bool {
        let sizes = self.points.iter().map(|point| point.lines);
        self.line_bytes.is_power_of_two()
            && self.points.len() < MAX_CURVE_POINTS
            && sizes.eq(curve_sizes().take(self.points.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{Access, AccessKind};
    use crate::reuse::StackDistances;

    /// Walks several times through some lines.
    fn walk(lines: u64, rounds: u64) -> MissCurve {
        let mut distances = StackDistances::exact(6);
        for line in (0..rounds).flat_map(|_| 0..lines) {
            distances.access(&Access {
                address: line * 64,
                bytes: 8,
                kind: AccessKind::Read,
            });
        }
        MissCurve::measured(&distances.curve(), 64)
    }

    #[test]
    fn sizes_rise_by_quarters_of_an_octave() {
        let sizes: Vec<u64> = curve_sizes().take(14).collect();
        assert_eq!(sizes, [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24]);
        assert!(curve_sizes().zip(curve_sizes().skip(1)).all(|(a, b)| a < b));
        assert_eq!(curve_sizes().count(), MAX_CURVE_POINTS - 1);
    }

    #[test]
    fn a_sum_has_the_misses_of_both_threads() {
        let (mut small, large) = (walk(10, 5), walk(100, 3));
        assert!(small.is_valid() && large.is_valid());
        assert_eq!(small.at(8).misses, 50);
        assert_eq!(small.at(1 << 20).misses, 10);
        small.add(&large);
        assert_eq!(small.references, 350);
        assert_eq!(small.at(8).misses, 50 + 300);
        assert_eq!(small.at(16).misses, 10 + 300);
        assert_eq!(small.at(128).misses, 10 + 100);
        assert!(small.is_valid());
        let mut empty = MissCurve {
            line_bytes: 64,
            ..MissCurve::default()
        };
        empty.add(&large);
        assert_eq!(empty, large);
    }
}
