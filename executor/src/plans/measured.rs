//! What the counters of one point say.

use crate::data::rings::Rings;
use crate::data::shards::Shards;
use crate::plans::instrument_registry::Standing;
use crate::weaving::planned_probe::Step;
use veneer_instruments::Data;

/// What a point's own counters say.
pub fn measured(shards: &Shards, rings: &Rings, s: &Standing) -> Data {
    match s.step {
        Step::Count | Step::LoopEnter | Step::LoopBackEdge | Step::LoopExit | Step::CodeOnly => {
            Data::Count {
                hits: shards.sum(s.slot) - s.base[0],
            }
        }
        Step::Log => {
            let dropped = rings.dropped_at(s.slot);
            Data::Log {
                events: rings.count(s.slot) + dropped,
                dropped,
            }
        }
        Step::Start
        | Step::Stop
        | Step::Lap
        | Step::LateStart
        | Step::LateSkip
        | Step::LateStop => {
            let count = shards.sum(s.slot) - s.base[0];
            let shortest = i64::MAX as u64 - shards.max(s.slot + 3);
            Data::Time {
                count,
                total_ns: shards.sum(s.slot + 1) - s.base[1],
                min_ns: if count == 0 { 0 } else { shortest },
                max_ns: shards.max(s.slot + 2),
            }
        }
    }
}
