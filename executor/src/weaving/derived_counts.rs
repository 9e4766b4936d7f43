//! Counts that follow from a method's counter block, and the blocks themselves: who has one, and when another method may use it.

use crate::agent::Agent;
use crate::jvm::jni::Env;
use crate::plans::instrument_registry::InstalledPoint;
use crate::plans::own_counters::read_own_counters;
use crate::weaving::counter_block::{Activation, Row};
use std::collections::HashMap;
use std::sync::Arc;
use veneer_fragmenter::counting::Counting;
use veneer_fragmenter::version::method_of;
use veneer_frequency::{Counts, Node};
use veneer_instruments::Data;

/// Of all counters, the first so many serve rows too: each point has one of its own besides, for when it has to count by itself.
const FOR_ROWS: u64 = crate::data::shards::SLOTS / 4;
/// Counters in limbo that are too many to have more.
const LIMBO: u32 = 1 << 16;
/// Milliseconds for activations to leave a loop.
const SETTLES: usize = 20;
/// Of these, those after which it is asked where exactly they stand.
const SOON: usize = 10;
/// How often figures are read that do not agree.
const TRIES: usize = 4;

/// Counters for a method, all zero. `None` where there are none to be had; then each fragment gets its own.
pub fn allocate(agent: &Agent, method: u32, counting: &Counting) -> Option<Arc<Row>> {
    let width = counting.flow.width();
    let used = {
        let mut tables = agent.table.lock();
        if tables.quarantine.iter().map(|r| r.width).sum::<u32>() > LIMBO {
            return None;
        }
        tables.free_by_width.get_mut(&width).and_then(Vec::pop)
    };
    let first = match used {
        Some(first) => {
            (first..first + width).for_each(|slot| agent.shards.clear(slot));
            first
        }
        None if agent.shards.used() + u64::from(width) > FOR_ROWS => return None,
        None => agent.shards.allocate(width)?,
    };
    Some(Arc::new(Row::at(method, first, counting)))
}

/// The figures of points, of one instrument or of several.
///
/// An activation that comes or goes between the look at the stacks and the look at the counters would be counted once too often
/// or too little. So the stacks are looked at before and after, and what does not agree is read again, a few times: in a
/// method that is called all the time, figures of one moment do not exist.
pub fn figures(agent: &Agent, points: &[InstalledPoint]) -> Vec<Data> {
    let mut rows: Vec<&Arc<Row>> = points.iter().filter_map(live_row).collect();
    rows.dedup_by(|a, b| Arc::ptr_eq(a, b));
    let mut solved: HashMap<u32, Counts> = HashMap::new();
    let solve = |row: &Row, inside: &[u32]| row.flow.counts(|c| agent.shards.sum(c), inside);
    match Env::current().filter(|_| !rows.is_empty()) {
        None => solved.extend(rows.iter().map(|r| (r.first, solve(r, &[])))),
        Some(env) => {
            let mut before = running(agent, env, &rows);
            for _ in 0..TRIES {
                for row in &rows {
                    solved.insert(row.first, solve(row, &row.inside(env, &before)));
                }
                let after = running(agent, env, &rows);
                let moved = |row: &&Arc<Row>| {
                    row.inside(env, &before).len() != row.inside(env, &after).len()
                };
                rows.retain(moved);
                if rows.is_empty() {
                    break;
                }
                before = after;
            }
        }
    }
    let figure = |s: &InstalledPoint| {
        if let Some(last) = &s.last {
            return last.clone();
        }
        let counts = live_row(s).and_then(|r| solved.get(&r.first));
        let by_flow = match (counts, s.fragment, s.to) {
            (Some(counts), Some(a), Some(b)) => counts.edge(Node::At(a), Node::At(b)),
            (Some(counts), Some(f), None) => counts.node(f),
            _ => 0,
        };
        match read_own_counters(&agent.shards, &agent.rings, s) {
            Data::Count { hits } => Data::Count {
                hits: hits + by_flow,
            },
            other => other,
        }
    };
    points.iter().map(figure).collect()
}

/// Waits until activations have left superseded versions, which they do at their next turn, loops whose counters are locals above
/// all: figures that need no look at where they stand are cheaper (see `stacks.rs`). Not for ever: a thread may not get a processor,
/// and one that waits may do so for long.
pub fn settle(agent: &Agent, env: Env, points: &[InstalledPoint]) {
    let mut rows: Vec<&Arc<Row>> = points.iter().filter_map(live_row).collect();
    rows.dedup_by(|a, b| Arc::ptr_eq(a, b));
    for turn in 0..SETTLES {
        if rows.is_empty() || !stand(agent, env, &rows) {
            break;
        }
        if turn >= SOON {
            let all = running(agent, env, &rows);
            rows.retain(|r| r.spans_of(env, &all).iter().any(|s| s.gathers));
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// The row from which a point's figures follow now.
fn live_row(s: &InstalledPoint) -> Option<&Arc<Row>> {
    s.row.as_ref().filter(|_| s.last.is_none())
}

/// Whether an activation may stand in a version that counts in one of these rows. Asks for no method ids; see `stacks.rs`.
fn stand(agent: &Agent, env: Env, rows: &[&Arc<Row>]) -> bool {
    let mut found = false;
    let mut seen = |class: &str| {
        found |= rows.iter().any(|r| r.knows(class));
        found
    };
    match agent.stacks.as_ref().map(|s| s.versions(env, &mut seen)) {
        Some(Ok(())) => found,
        _ => true,
    }
}

/// All activations of versions of these methods on the stacks of threads, and some of others. Virtual threads that no thread
/// carries are not among them.
fn running(agent: &Agent, env: Env, rows: &[&Arc<Row>]) -> Vec<Activation> {
    if !stand(agent, env, rows) {
        return Vec::new();
    }
    let walk = |env: Env| {
        let mut found = Vec::new();
        for (class, name, _, pc) in agent.tool.stacks(env).into_iter().flatten() {
            if let Some(method) = method_of(&name)
                && agent.tool.is_version(class)
            {
                let class = env.weak(class);
                found.push(Activation { method, class, pc });
            }
        }
        Ok(found)
    };
    env.frame(walk).unwrap_or_default()
}
