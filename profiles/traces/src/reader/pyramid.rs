//! Summaries of parts of a thread at several scales, so that a picture of a long trace touches few
//! of them.
//!
//! ```text
//!   level 2   |        16 × 4096 events         |
//!   level 1   |  4 × 4096  |  4 × 4096  | …
//!   level 0   |4096|4096|4096|4096|4096|…             bucket: times, depth, busiest frame
//! ```

use super::name_table::FrameSlot;

/// Events of a bucket of the lowest level.
pub const BUCKET_EVENTS: u64 = 4096;
/// Buckets that are joined into one of the next level.
const FACTOR: usize = 4;

/// A summary of consecutive events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZoomBucket {
    /// The time of the first event in ticks.
    pub start: u64,
    /// The time of the last event in ticks.
    pub end: u64,
    /// The number of events.
    pub events: u64,
    /// The largest number of open nodes.
    pub depth: u32,
    /// The frame that ran longest by itself. Above level 0, the longest among the busiest frames
    /// of the joined buckets.
    pub busiest: FrameSlot,
    /// The time that this frame ran by itself, in ticks; above level 0 a lower bound.
    pub busiest_ticks: u64,
}

/// Buckets at several scales.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ZoomPyramid {
    /// The levels, the finest first.
    pub levels: Vec<Vec<ZoomBucket>>,
}

impl ZoomPyramid {
    /// Joins buckets of the lowest level until one is left.
    pub fn build(lowest: Vec<ZoomBucket>) -> ZoomPyramid {
        let mut levels = vec![lowest];
        while let Some(finer) = levels.last()
            && finer.len() > 1
        {
            let coarser = finer.chunks(FACTOR).map(join).collect();
            levels.push(coarser);
        }
        ZoomPyramid { levels }
    }

    /// The buckets of the finest level that has at most `limit` buckets in the interval from
    /// `from` to `to` (ticks, both included).
    pub fn between(&self, from: u64, to: u64, limit: usize) -> &[ZoomBucket] {
        let mut found: &[ZoomBucket] = &[];
        for level in self.levels.iter().rev() {
            let first = level.partition_point(|bucket| bucket.end < from);
            let last = level.partition_point(|bucket| bucket.start <= to);
            let part = level.get(first..last).unwrap_or_default();
            if part.len() > limit {
                break;
            }
            found = part;
        }
        found
    }
}

fn join(buckets: &[ZoomBucket]) -> ZoomBucket {
    let mut joined = buckets.first().copied().unwrap_or_default();
    for bucket in buckets.iter().skip(1) {
        joined.end = bucket.end;
        joined.events += bucket.events;
        joined.depth = joined.depth.max(bucket.depth);
        if bucket.busiest == joined.busiest {
            joined.busiest_ticks = joined.busiest_ticks.saturating_add(bucket.busiest_ticks);
        } else if bucket.busiest_ticks > joined.busiest_ticks {
            joined.busiest = bucket.busiest;
            joined.busiest_ticks = bucket.busiest_ticks;
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_touches_at_most_as_many_buckets_as_it_has_columns() {
        let bucket = |n: u64| ZoomBucket {
            start: 10 * n,
            end: 10 * n + 9,
            events: 1,
            depth: n as u32 % 7,
            busiest: n as u32 % 2,
            busiest_ticks: n,
        };
        let pyramid = ZoomPyramid::build((0..1000).map(bucket).collect());
        for limit in [1, 10, 300, 5000] {
            let all = pyramid.between(0, u64::MAX, limit);
            assert!(all.len() <= limit);
            assert_eq!(all.iter().map(|b| b.events).sum::<u64>(), 1000);
        }
        let part = pyramid.between(5000, 5050, 100);
        assert_eq!(part.len(), 6);
        assert_eq!((part[0].start, part[5].end), (5000, 5059));
        assert_eq!(pyramid.levels.last().map(Vec::len), Some(1));
    }
}
