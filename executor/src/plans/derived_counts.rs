//! The readings of points, including the counts that are derived from a counter block.
//!
//! ```text
//!   counters of the block  +  nodes with running activations      ─▶ Flow::counts ─▶ count of each fragment and edge
//! ```
//!
//! The plan thread and the threads that answer clients call this module. No lock of the agent is
//! held while it looks at the stacks of threads.

use crate::agent::Agent;
use crate::jvm::jni::Env;
use crate::plans::instrument_registry::InstalledPoint;
use crate::plans::own_counters::read_own_counters;
use crate::weaving::counter_block::{CounterBlock, VersionActivation};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use veneer_fragmenter::version::method_id;
use veneer_frequency::{EdgeProfile, Endpoint};
use veneer_instruments::Measurement;
use veneer_names::CounterSlot;

/// The time between two looks at the stacks while activations leave superseded versions.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// The number of looks after which the agent stops waiting.
const MAX_POLLS: usize = 20;
/// The number of looks by class name only. Later looks also ask for pcs, which is more expensive.
const POLLS_BY_NAME: usize = 10;
/// The number of times that a block is read until its counters agree with the stacks.
const MAX_READS: usize = 4;

/// The readings of points, of one instrument or of several.
///
/// An activation that enters or leaves a method between the look at the stacks and the read of the
/// counters would be counted once too often or too rarely. So the agent looks at the stacks before
/// and after the read, and reads a block again if the looks disagree, up to [`MAX_READS`] times. In
/// a method that is called all the time, no consistent reading exists.
pub fn read_points(agent: &Agent, points: &[InstalledPoint]) -> Vec<Measurement> {
    let counts = read_blocks(agent, live_blocks(points));
    let reading = |point: &InstalledPoint| {
        if let Some(last) = &point.last {
            return *last;
        }
        let counts = live_block(point).and_then(|block| counts.get(&block.first));
        let derived = counts.map_or(0, |counts| derived_count(counts, point));
        match read_own_counters(&agent.shards, &agent.rings, point) {
            Measurement::Count { hits } => Measurement::Count {
                hits: hits + derived,
            },
            other => other,
        }
    };
    points.iter().map(reading).collect()
}

/// The counts of these blocks, by the first counter of each block.
fn read_blocks(
    agent: &Agent,
    mut blocks: Vec<&Arc<CounterBlock>>,
) -> HashMap<CounterSlot, EdgeProfile> {
    let solve = |block: &CounterBlock, occupied: &[u32]| {
        block
            .flow
            .solve(|counter| agent.shards.sum(CounterSlot(counter)), occupied)
    };
    let mut solved = HashMap::new();
    let Some(env) = Env::current().filter(|_| !blocks.is_empty()) else {
        solved.extend(blocks.iter().map(|b| (b.first, solve(b, &[]))));
        return solved;
    };
    let mut before = activations_in(agent, env, &blocks);
    for _ in 0..MAX_READS {
        for block in &blocks {
            let occupied = block.occupied_nodes(env, &before);
            solved.insert(block.first, solve(block, &occupied));
        }
        let after = activations_in(agent, env, &blocks);
        let count = |block: &CounterBlock, all| block.occupied_nodes(env, all).len();
        blocks.retain(|block| count(block, &before) != count(block, &after));
        if blocks.is_empty() {
            break;
        }
        before = after;
    }
    solved
}

/// The count of a node, an edge or a fragment. A point of a whole method without a node has no derived
/// count.
fn derived_count(counts: &EdgeProfile, point: &InstalledPoint) -> u64 {
    match (point.node, point.fragment, point.to) {
        (Some(node), ..) => counts.node_count(node),
        (None, Some(from), Some(to)) => {
            counts.edge_count(Endpoint::Node(from.0), Endpoint::Node(to.0))
        }
        (None, Some(fragment), None) => counts.node_count(fragment.0),
        _ => 0,
    }
}

/// Waits until activations have left the superseded versions that count for these points.
/// Activations leave at the next iteration of a loop, so the wait is mostly short; it matters most
/// for loops whose counters are locals. Readings that need no pcs of activations are cheaper (see
/// `jvm/version_frames.rs`). The wait is bounded, because a thread may not be scheduled, or may be
/// blocked for long.
pub fn wait_for_superseded_versions(agent: &Agent, env: Env, points: &[InstalledPoint]) {
    let mut blocks = live_blocks(points);
    for poll in 0..MAX_POLLS {
        if blocks.is_empty() || !may_be_occupied(agent, env, &blocks) {
            break;
        }
        if poll >= POLLS_BY_NAME {
            let all = activations_in(agent, env, &blocks);
            let counts_in_locals =
                |block: &CounterBlock| block.occupied_spans(env, &all).iter().any(|s| s.gathers);
            blocks.retain(|block| counts_in_locals(block));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// The block from which the count of a point is derived now. A detached point has a final reading
/// instead.
fn live_block(point: &InstalledPoint) -> Option<&Arc<CounterBlock>> {
    point.row.as_ref().filter(|_| point.last.is_none())
}

/// The blocks of these points. Points of the same method are neighbours, so each block is listed
/// once.
fn live_blocks(points: &[InstalledPoint]) -> Vec<&Arc<CounterBlock>> {
    let mut blocks: Vec<&Arc<CounterBlock>> = points.iter().filter_map(live_block).collect();
    blocks.dedup_by(|a, b| Arc::ptr_eq(a, b));
    blocks
}

/// Whether an activation may run a version that counts in one of these blocks. This look asks for
/// no method ids; see `jvm/version_frames.rs`.
fn may_be_occupied(agent: &Agent, env: Env, blocks: &[&Arc<CounterBlock>]) -> bool {
    let mut found = false;
    let mut seen = |class: &str| {
        found |= blocks.iter().any(|block| block.may_have_version(class));
        found
    };
    match agent.stacks.as_ref().map(|s| s.versions(env, &mut seen)) {
        Some(Ok(())) => found,
        _ => true,
    }
}

/// All activations of versions that may count in these blocks, and some activations of other
/// versions. Virtual threads that are not mounted on a platform thread are not included.
fn activations_in(
    agent: &Agent,
    env: Env,
    blocks: &[&Arc<CounterBlock>],
) -> Vec<VersionActivation> {
    if !may_be_occupied(agent, env, blocks) {
        return Vec::new();
    }
    let walk = |env: Env| {
        let mut found = Vec::new();
        for (class, name, _, pc) in agent.tool.stacks(env).into_iter().flatten() {
            if let Some(method) = method_id(&name)
                && agent.tool.is_version(class)
            {
                let class = env.global(class);
                found.push(VersionActivation { method, class, pc });
            }
        }
        Ok(found)
    };
    env.frame(walk).unwrap_or_default()
}
