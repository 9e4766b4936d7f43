//! The difference of two profiles.
//!
//! Elements are compared by their identity: methods by loader, class, name and descriptor, edges by
//! their methods, bytecode index and kind. If a class was compiled again, its bytecode indices can
//! differ, and the calls then appear as removed and added.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Serialize;

use crate::call::CallKind;
use crate::context::Parent;
use crate::cost::MethodCost;
use crate::measure::Measure;
use crate::method::{Loader, MethodId, MethodName};
use crate::profile::CallProfile;

/// The identity of a method in any profile.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MethodIdentity {
    /// Class, name and descriptor.
    pub name: MethodName,
    /// The loader of the class.
    pub loader: Loader,
}

/// A method whose costs differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodChange {
    /// The method, which at least one of the profiles has.
    pub method: MethodIdentity,
    /// The costs in the first profile.
    pub before: MethodCost,
    /// The costs in the second profile.
    pub after: MethodCost,
}

/// The identity of an edge in any profile.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EdgeIdentity {
    /// The method that contains the call.
    pub caller: MethodIdentity,
    /// The bytecode index of the call.
    pub bci: Option<u16>,
    /// The method that was entered.
    pub callee: MethodIdentity,
    /// The kind of the call.
    pub kind: CallKind,
}

/// An edge whose counts differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeChange {
    /// The edge, which at least one of the profiles has.
    pub edge: EdgeIdentity,
    /// The line of the call, if one of the profiles knows it.
    pub line: Option<u16>,
    /// The count in the first profile.
    pub before: u64,
    /// The count in the second profile.
    pub after: u64,
}

/// The difference of two profiles. Lists are ordered by the size of the change, greatest first.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileDiff {
    /// The methods whose costs differ.
    pub methods: Vec<MethodChange>,
    /// The edges whose counts differ.
    pub edges: Vec<EdgeChange>,
    /// The common part of the edge weights, from 0 to 1 (Arnold and Ryder, *A framework for reducing
    /// the cost of instrumented code*, PLDI 2001): the sum over all edges of the smaller one of both
    /// shares. `None` if a profile has no calls.
    pub overlap: Option<f64>,
}

/// Compares two profiles. Methods are ordered by the change of `by`.
pub fn diff(before: &CallProfile, after: &CallProfile, by: Measure) -> ProfileDiff {
    let mut methods: BTreeMap<MethodIdentity, (MethodCost, MethodCost)> = BTreeMap::new();
    for (method, cost) in costs(before) {
        methods.entry(method).or_default().0 = cost;
    }
    for (method, cost) in costs(after) {
        methods.entry(method).or_default().1 = cost;
    }
    let methods = methods.into_iter().filter(|(_, (one, other))| one != other);
    let mut methods: Vec<MethodChange> = methods
        .map(|(method, (before, after))| MethodChange {
            method,
            before,
            after,
        })
        .collect();
    let size = |one: &MethodChange| one.before.by(by).abs_diff(one.after.by(by));
    methods.sort_by_key(|one| std::cmp::Reverse(size(one)));

    let mut edges: BTreeMap<EdgeIdentity, EdgeCounts> = BTreeMap::new();
    for (edge, line, count) in counts(before) {
        let both = edges.entry(edge).or_default();
        (both.line, both.before) = (line, count);
    }
    for (edge, line, count) in counts(after) {
        let both = edges.entry(edge).or_default();
        (both.line, both.after) = (line.or(both.line), count);
    }
    let overlap = overlap(edges.values());
    let edges = edges
        .into_iter()
        .filter(|(_, both)| both.before != both.after);
    let mut edges: Vec<EdgeChange> = edges
        .map(|(edge, both)| EdgeChange {
            edge,
            line: both.line,
            before: both.before,
            after: both.after,
        })
        .collect();
    edges.sort_by_key(|one| std::cmp::Reverse(one.before.abs_diff(one.after)));
    ProfileDiff {
        methods,
        edges,
        overlap,
    }
}

/// The counts of an edge in two profiles.
#[derive(Default)]
struct EdgeCounts {
    line: Option<u16>,
    before: u64,
    after: u64,
}

fn identity(profile: &CallProfile, id: MethodId) -> MethodIdentity {
    let method = profile.method(id);
    MethodIdentity {
        name: method.name.clone(),
        loader: profile.loaders()[method.loader.index()].clone(),
    }
}

fn costs(profile: &CallProfile) -> impl Iterator<Item = (MethodIdentity, MethodCost)> {
    let costs = profile.method_costs().into_iter();
    profile
        .method_ids()
        .zip(costs)
        .map(|(id, cost)| (identity(profile, id), cost))
}

fn counts(profile: &CallProfile) -> impl Iterator<Item = (EdgeIdentity, Option<u16>, u64)> {
    profile.edges().iter().map(|edge| {
        let identity = EdgeIdentity {
            caller: identity(profile, edge.caller),
            bci: edge.site.bci,
            callee: identity(profile, edge.callee),
            kind: edge.kind,
        };
        (identity, edge.site.line, edge.count)
    })
}

fn overlap<'e>(edges: impl Iterator<Item = &'e EdgeCounts> + Clone) -> Option<f64> {
    let sum = |of: fn(&EdgeCounts) -> u64| -> f64 { edges.clone().map(|e| of(e) as f64).sum() };
    let (before, after) = (sum(|edge| edge.before), sum(|edge| edge.after));
    if before == 0.0 || after == 0.0 {
        return None;
    }
    let share = |edge: &EdgeCounts| (edge.before as f64 / before).min(edge.after as f64 / after);
    Some(edges.map(share).sum())
}

/// The common part of the calls of both trees of contexts, from 0 to 1, as [`ProfileDiff::overlap`]. The
/// same contexts of different threads are one. `None` if a profile has no calls.
pub fn context_overlap(before: &CallProfile, after: &CallProfile) -> Option<f64> {
    let mut all: HashMap<u128, EdgeCounts> = HashMap::new();
    for (path, count) in context_counts(before) {
        let both = all.entry(path).or_default();
        both.before = both.before.saturating_add(count);
    }
    for (path, count) in context_counts(after) {
        let both = all.entry(path).or_default();
        both.after = both.after.saturating_add(count);
    }
    overlap(all.values())
}

/// The number of calls of each context, with a hash of the methods from its root to it.
fn context_counts(profile: &CallProfile) -> impl Iterator<Item = (u128, u64)> + '_ {
    let identities = profile.method_ids().map(|id| {
        let method = identity(profile, id);
        [0u64, 1].map(|seed| hash_of(&(seed, &method)))
    });
    let identities: Vec<[u64; 2]> = identities.collect();
    let mut paths: Vec<u128> = Vec::with_capacity(profile.contexts().len());
    for context in profile.contexts() {
        let above = match context.parent {
            Parent::Root(_) => 0,
            // The parent of a context has a smaller index.
            Parent::Context(parent) => paths.get(parent.index()).copied().unwrap_or(0),
        };
        let [low, high] = identities[context.method.index()];
        let (low, high) = (hash_of(&(above, low)), hash_of(&(above, high)));
        paths.push(u128::from(high) << 64 | u128::from(low));
    }
    let counts = profile.contexts().iter().map(|one| one.cost.calls);
    paths.into_iter().zip(counts)
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The form of a difference in JSON.
#[derive(Serialize)]
struct JsonDiff {
    schema: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    overlap: Option<f64>,
    methods: Vec<JsonMethod>,
    edges: Vec<JsonEdge>,
}

#[derive(Serialize)]
struct JsonMethod {
    method: JsonIdentity,
    before: JsonCost,
    after: JsonCost,
}

#[derive(Serialize)]
struct JsonIdentity {
    loader: String,
    class: String,
    method: String,
    descriptor: String,
}

#[derive(Serialize)]
struct JsonCost {
    calls: u64,
    wall_ns: u64,
    self_ns: u64,
    cpu_ns: u64,
    self_cpu_ns: u64,
    allocations: u64,
}

#[derive(Serialize)]
struct JsonEdge {
    caller: JsonIdentity,
    #[serde(skip_serializing_if = "Option::is_none")]
    bci: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u16>,
    callee: JsonIdentity,
    kind: &'static str,
    before: u64,
    after: u64,
}

impl From<&MethodIdentity> for JsonIdentity {
    fn from(method: &MethodIdentity) -> JsonIdentity {
        JsonIdentity {
            loader: method.loader.to_string(),
            class: method.name.class.clone(),
            method: method.name.method.clone(),
            descriptor: method.name.descriptor.clone(),
        }
    }
}

impl From<&MethodCost> for JsonCost {
    fn from(cost: &MethodCost) -> JsonCost {
        JsonCost {
            calls: cost.calls,
            wall_ns: cost.wall_ns,
            self_ns: cost.self_ns,
            cpu_ns: cost.cpu_ns,
            self_cpu_ns: cost.self_cpu_ns,
            allocations: cost.allocations,
        }
    }
}

impl ProfileDiff {
    /// The difference as JSON, with at most `top` methods and edges.
    pub fn to_json(&self, top: usize) -> serde_json::Result<String> {
        let methods = self.methods.iter().take(top).map(|one| JsonMethod {
            method: (&one.method).into(),
            before: (&one.before).into(),
            after: (&one.after).into(),
        });
        let edges = self.edges.iter().take(top).map(|one| JsonEdge {
            caller: (&one.edge.caller).into(),
            bci: one.edge.bci,
            line: one.line,
            callee: (&one.edge.callee).into(),
            kind: one.edge.kind.name(),
            before: one.before,
            after: one.after,
        });
        serde_json::to_string(&JsonDiff {
            schema: 1,
            overlap: self.overlap,
            methods: methods.collect(),
            edges: edges.collect(),
        })
    }
}
