//! Allocation of counter blocks for methods whose counts are derived.
//!
//! [`weaver`](crate::weaving::weaver) allocates a block when an instrument counts all fragments or
//! edges of a method. If no block is available, the method gets one counter for each point instead,
//! which every point has anyway.

use crate::data::shards::{SLOTS, Shards};
use crate::plans::instrument_registry::InstrumentRegistry;
use crate::weaving::counter_block::CounterBlock;
use std::sync::Arc;
use veneer_fragmenter::counting::CounterPlan;
use veneer_names::MethodId;

/// Counters with lower numbers than this one may belong to blocks. The rest is reserved for
/// counters of single points, because each point needs one when its count can no longer be derived.
const MAX_BLOCK_COUNTERS: u64 = SLOTS / 4;

/// If more counters than this are in quarantine, no block is allocated.
const MAX_QUARANTINED_COUNTERS: u32 = 1 << 16;

/// Allocates the counters of a method, all zero. Returns `None` if too many counters are in use or
/// in quarantine.
pub fn allocate_block(
    table: &InstrumentRegistry,
    shards: &Shards,
    method: MethodId,
    counting: &CounterPlan,
) -> Option<Arc<CounterBlock>> {
    let width = counting.flow.counter_count();
    let reused = {
        let mut tables = table.lock();
        let quarantined: u32 = tables.quarantine.iter().map(|block| block.width).sum();
        if quarantined > MAX_QUARANTINED_COUNTERS {
            return None;
        }
        tables.free_by_width.get_mut(&width).and_then(Vec::pop)
    };
    let first = match reused {
        Some(first) => {
            first.block(width).for_each(|slot| shards.clear(slot));
            first
        }
        None if shards.used_slots() + u64::from(width) > MAX_BLOCK_COUNTERS => return None,
        None => shards.allocate(width)?,
    };
    Some(Arc::new(CounterBlock::new(method, first, counting)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weaving::test_methods::with_method;
    use veneer_names::CounterSlot;

    /// Counters in a file of their own, which is removed afterwards.
    fn with_shards(name: &str, test: impl FnOnce(&Shards)) {
        let path = std::env::temp_dir().join(format!("veneer-{name}-{}", std::process::id()));
        let shards = Shards::create(&path).expect("a file for counters");
        test(&shards);
        let _ = std::fs::remove_file(path);
    }

    #[test]
    fn blocks_of_unloaded_classes_are_reused_if_they_have_the_same_width() {
        with_shards("blocks", |shards| {
            let table = InstrumentRegistry::default();
            with_method("loop(I)I", |method, armed| {
                let counting = CounterPlan::place_counters(method, &armed.points);
                let first = allocate_block(&table, shards, MethodId(1), &counting).map(|b| b.first);
                assert_eq!(first, Some(CounterSlot(0)));
                let width = counting.flow.counter_count();
                table
                    .lock()
                    .free_by_width
                    .insert(width + 1, vec![CounterSlot(500)]);
                let second =
                    allocate_block(&table, shards, MethodId(2), &counting).map(|b| b.first);
                assert_eq!(second, Some(CounterSlot(width)));
                table
                    .lock()
                    .free_by_width
                    .insert(width, vec![CounterSlot(0)]);
                let third = allocate_block(&table, shards, MethodId(3), &counting).map(|b| b.first);
                assert_eq!(third, Some(CounterSlot(0)));
            });
        });
    }

    #[test]
    fn no_block_is_allocated_while_too_many_counters_are_in_quarantine() {
        with_shards("quarantine", |shards| {
            let table = InstrumentRegistry::default();
            with_method("loop(I)I", |method, armed| {
                let counting = CounterPlan::place_counters(method, &armed.points);
                let block = Arc::new(CounterBlock::new(MethodId(1), CounterSlot(0), &counting));
                let count = (MAX_QUARANTINED_COUNTERS / block.width) as usize;
                table.lock().quarantine = vec![block.clone(); count];
                assert!(allocate_block(&table, shards, MethodId(2), &counting).is_some());
                table.lock().quarantine.push(block);
                assert!(allocate_block(&table, shards, MethodId(3), &counting).is_none());
            });
        });
    }
}
