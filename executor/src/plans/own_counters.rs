//! The readings of a point from its own counters, without the counts that are derived from a
//! counter block.

use crate::data::rings::Rings;
use crate::data::shards::Shards;
use crate::plans::instrument_registry::InstalledPoint;
use crate::weaving::planned_probe::PlannedAction;
use veneer_instruments::Measurement;
use veneer_names::PointSlot;

/// Reads the own counters of a point, relative to their values when the point was installed.
pub fn read_own_counters(shards: &Shards, rings: &Rings, point: &InstalledPoint) -> Measurement {
    let slot = match point.slot {
        PointSlot::Counter(slot) => slot,
        PointSlot::Log(log) => {
            let dropped = rings.dropped_at(log);
            return Measurement::Log {
                events: rings.event_count(log) + dropped,
                dropped,
            };
        }
    };
    match point.step {
        PlannedAction::Count
        | PlannedAction::Log
        | PlannedAction::LoopEnter
        | PlannedAction::LoopBackEdge
        | PlannedAction::LoopExit
        | PlannedAction::CodeOnly
        | PlannedAction::TraceEntry
        | PlannedAction::TraceExit
        | PlannedAction::TraceThrow
        | PlannedAction::TraceAllocation
        | PlannedAction::CountAccess
        | PlannedAction::CountAccessInWindow => Measurement::Count {
            hits: shards.sum(slot) - point.base[0],
        },
        PlannedAction::Start
        | PlannedAction::Stop
        | PlannedAction::Lap
        | PlannedAction::LateStart
        | PlannedAction::LateSkip
        | PlannedAction::LateStop => {
            let count = shards.sum(slot) - point.base[0];
            // Counters hold maxima: the shortest time is stored as its distance to the largest long.
            let shortest = i64::MAX as u64 - shards.max(slot.plus(3));
            Measurement::Time {
                count,
                total_ns: shards.sum(slot.plus(1)) - point.base[1],
                min_ns: if count == 0 { 0 } else { shortest },
                max_ns: shards.max(slot.plus(2)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::scratch::ScratchDirectory;
    use crate::plans::instrument_registry::tests::{log_point, point};
    use veneer_names::LogPoint;

    fn stores() -> (ScratchDirectory, Shards, Rings) {
        let directory = ScratchDirectory::new();
        let shards = Shards::create(&directory.join("counters")).expect("shards");
        let rings = Rings::create(directory.path()).expect("rings");
        (directory, shards, rings)
    }

    #[test]
    fn a_reused_counter_is_read_from_its_base() {
        let (_directory, shards, rings) = stores();
        let slot = shards.allocate(1).expect("a slot");
        let thread = shards.assign(1, false);
        shards.add_as_java(thread, slot, 40);
        let mut count = point(1, 1, slot.0);
        count.base = [shards.sum(slot), 0];
        shards.add_as_java(thread, slot, 2);
        assert_eq!(
            read_own_counters(&shards, &rings, &count),
            Measurement::Count { hits: 2 }
        );
    }

    #[test]
    fn a_timer_has_the_extremes_of_all_threads() {
        let (_directory, shards, rings) = stores();
        let slot = shards.allocate(4).expect("slots");
        let mut timer = point(1, 1, slot.0);
        timer.step = PlannedAction::Start;
        let time = |count, total_ns, min_ns, max_ns| Measurement::Time {
            count,
            total_ns,
            min_ns,
            max_ns,
        };
        assert_eq!(read_own_counters(&shards, &rings, &timer), time(0, 0, 0, 0));
        for (tid, times, min, max) in [(1, 2, 30, 70), (2, 1, 50, 50)] {
            let thread = shards.assign(tid, false);
            shards.add_as_java(thread, slot, times);
            shards.add_as_java(
                thread,
                slot.plus(1),
                if times == 2 { min + max } else { max },
            );
            shards.add_as_java(thread, slot.plus(2), max);
            shards.add_as_java(thread, slot.plus(3), i64::MAX - min);
        }
        assert_eq!(
            read_own_counters(&shards, &rings, &timer),
            time(3, 150, 30, 70)
        );
        timer.base = [1, 40];
        assert_eq!(
            read_own_counters(&shards, &rings, &timer),
            time(2, 110, 30, 70)
        );
    }

    #[test]
    fn the_events_of_a_log_include_dropped_ones() {
        let (_directory, shards, rings) = stores();
        assert!(rings.open_point(LogPoint(5)));
        rings.drop_one(LogPoint(5));
        rings.drop_one(LogPoint(5));
        let log = log_point(1, 1, 5);
        let expected = Measurement::Log {
            events: 2,
            dropped: 2,
        };
        assert_eq!(read_own_counters(&shards, &rings, &log), expected);
    }
}
