//! The counters of a method that is counted by flow: one row, that of all its edges and ways in and out.
//!
//! ```text
//!   attach ─▶ row, zero ─▶ versions count in it ─▶ detach ─▶ limbo ─── all its versions are collected ───▶ other methods
//! ```
//!
//! What counts are sums over a row, so the coming and going of an activation must be in one row both. An activation may stay in a
//! superseded version for as long as it likes, and count there. So a row serves others only when no version that writes to
//! it is left; the JVM says so by clearing weak references. Until then it is in limbo; where too much is, methods are counted
//! fragment by fragment.

use crate::agent::Agent;
use crate::jni::{Env, Global};
use crate::runtime;
use crate::table::{Standing, Tables};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use veneer_fragmenter::counting::Counting;
use veneer_fragmenter::version::{Span, method_of};
use veneer_frequency::{Counts, Flow, Node};
use veneer_instruments::Data;

/// Of all counters, the first so many serve rows too: each point has one of its own besides, for when it has to count by itself.
const FOR_ROWS: u64 = crate::shards::SLOTS / 4;
/// Counters in limbo that are too many to have more.
const LIMBO: u32 = 1 << 16;
/// Milliseconds for activations to leave a loop.
const SETTLES: usize = 20;
/// Of these, those after which it is asked where exactly they stand.
const SOON: usize = 10;
/// How often figures are read that do not agree.
const TRIES: usize = 4;

/// See the module documentation.
pub struct Row {
    /// The method.
    method: u32,
    /// The graph, with the counters of this row.
    pub flow: Flow,
    /// The first counter.
    pub first: u32,
    /// How many there are.
    pub width: u32,
    /// What counts here.
    versions: Mutex<Vec<Version>>,
}

/// A body that counts in a row.
struct Version {
    /// Its class. Weak.
    class: Arc<Global>,
    /// What stack traces call it; a later class may have the same name.
    name: Arc<str>,
    /// See [`veneer_fragmenter::version::VersionClass::spans`].
    spans: Vec<Span>,
}

/// An activation of a version that is running.
struct Activation {
    method: u32,
    class: Global,
    pc: i64,
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "counters {}..{}", self.first, self.first + self.width)
    }
}

impl Row {
    /// Counters for a method, all zero. `None` where there are none to be had; then each fragment gets its own.
    pub fn new(agent: &Agent, method: u32, counting: &Counting) -> Option<Arc<Row>> {
        let width = counting.flow.width();
        let used = {
            let mut tables = agent.table.lock();
            if tables.limbo.iter().map(|r| r.width).sum::<u32>() > LIMBO {
                return None;
            }
            tables.spare.get_mut(&width).and_then(Vec::pop)
        };
        let first = match used {
            Some(first) => {
                (first..first + width).for_each(|slot| agent.shards.clear(slot));
                first
            }
            None if agent.shards.used() + u64::from(width) > FOR_ROWS => return None,
            None => agent.shards.allocate(width)?,
        };
        Some(Arc::new(Row {
            method,
            flow: counting.flow.shifted(first),
            first,
            width,
            versions: Mutex::default(),
        }))
    }

    fn versions(&self) -> MutexGuard<'_, Vec<Version>> {
        self.versions.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A version counts here from now on.
    pub fn serves(&self, env: Env, class: &Arc<Global>, name: &Arc<str>, spans: &[Span]) {
        let mut versions = self.versions();
        if versions.len() >= 8 {
            versions.retain(|v| !env.is_cleared(&v.class));
        }
        versions.push(Version {
            class: class.clone(),
            name: name.clone(),
            spans: spans.to_vec(),
        });
    }

    /// Whether a class of this name may count here.
    fn knows(&self, class: &str) -> bool {
        let may = |v: &Version| v.name.is_empty() || &*v.name == class;
        self.versions().iter().any(may)
    }

    /// The fragments in which these activations stand, as far as they count here.
    fn inside(&self, env: Env, activations: &[Activation]) -> Vec<u32> {
        let spans = self.spans_of(env, activations);
        let all = spans.iter().filter_map(|s| s.fragment);
        all.map(|f| f.0).collect()
    }

    /// Where they stand.
    fn spans_of(&self, env: Env, activations: &[Activation]) -> Vec<Span> {
        let versions = self.versions();
        let span = |a: &Activation| {
            let same = |v: &&Version| env.same(v.class.raw(), a.class.raw());
            let spans = &versions.iter().find(same)?.spans;
            let before = spans.partition_point(|s| i64::from(s.pc) <= a.pc);
            spans.get(before.checked_sub(1)?).copied()
        };
        let ours = activations.iter().filter(|a| a.method == self.method);
        ours.filter_map(span).collect()
    }
}

impl Tables {
    /// Gives the counters of rows to others, as far as no version can write to them any more.
    pub fn leave_limbo(&mut self, env: Env) {
        let served = |row: &mut Arc<Row>| row.versions().iter().all(|v| env.is_cleared(&v.class));
        for row in self.limbo.extract_if(.., served) {
            self.spare.entry(row.width).or_default().push(row.first);
        }
    }
}

/// The figures of points, of one instrument or of several.
///
/// An activation that comes or goes between the look at the stacks and the look at the counters would be counted once too often
/// or too little. So the stacks are looked at before and after, and what does not agree is read again, a few times: in a
/// method that is called all the time, figures of one moment do not exist.
pub fn figures(agent: &Agent, points: &[Standing]) -> Vec<Data> {
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
    let figure = |s: &Standing| {
        if let Some(last) = &s.last {
            return last.clone();
        }
        let counts = live_row(s).and_then(|r| solved.get(&r.first));
        let by_flow = match (counts, s.fragment, s.to) {
            (Some(counts), Some(a), Some(b)) => counts.edge(Node::At(a), Node::At(b)),
            (Some(counts), Some(f), None) => counts.node(f),
            _ => 0,
        };
        match runtime::measured(agent, s) {
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
pub fn settle(agent: &Agent, env: Env, points: &[Standing]) {
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
fn live_row(s: &Standing) -> Option<&Arc<Row>> {
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
