//! The part of a profile that a query selects.

use std::collections::VecDeque;

use thiserror::Error;
use veneer_instruments::{MethodPattern, nearest};

use crate::context::{Context, ContextId, Parent};
use crate::measure::Measure;
use crate::method::{MethodForm, MethodId};
use crate::profile::CallProfile;

/// A question about a profile.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Only what these methods call, directly and indirectly.
    pub from: Option<MethodPattern>,
    /// Only what calls these methods, directly and indirectly.
    pub to: Option<MethodPattern>,
    /// The most calls between a selected method and the methods of `from` or `to`.
    pub depth: Option<u32>,
    /// The number of methods, and of contexts, that are kept: those with the greatest costs.
    pub top: Option<usize>,
    /// The measure of the costs.
    pub by: Measure,
}

/// Why a query selects nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum QueryError {
    /// No method of the profile matches.
    #[error("no method in the profile matches `{pattern}`{near}")]
    NoMatch {
        /// The pattern as the user wrote it.
        pattern: String,
        /// Classes with similar names, as part of the message.
        near: String,
    },
    /// Names alone do not decide the pattern.
    #[error(
        "`{pattern}` needs class files, and a call profile has only names; write it without `+`, flags and annotations"
    )]
    NeedsClassFiles {
        /// The pattern as the user wrote it.
        pattern: String,
    },
}

/// A context that a query selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectedContext {
    /// The context in the profile.
    pub id: ContextId,
    /// Its parent among the selected contexts. Contexts of the methods of `from` are roots.
    pub parent: Parent,
}

/// A profile and the part of it that a query selects. Ids, costs and residues are those of the
/// whole profile.
#[derive(Clone, Debug)]
pub struct Selection<'p> {
    /// The whole profile.
    pub profile: &'p CallProfile,
    /// The measure of the query.
    pub by: Measure,
    /// Whether each method is selected, by [`MethodId`].
    methods: Vec<bool>,
    /// Whether each edge is selected.
    edges: Vec<bool>,
    contexts: Vec<SelectedContext>,
}

impl<'p> Selection<'p> {
    /// The whole profile.
    pub fn all(profile: &'p CallProfile) -> Selection<'p> {
        let contexts = profile.context_ids().zip(profile.contexts());
        Selection {
            profile,
            by: Measure::Count,
            methods: vec![true; profile.methods().len()],
            edges: vec![true; profile.edges().len()],
            contexts: contexts
                .map(|(id, context)| SelectedContext {
                    id,
                    parent: context.parent,
                })
                .collect(),
        }
    }

    /// The part of the profile that a query selects.
    pub fn new(profile: &'p CallProfile, query: &Query) -> Result<Selection<'p>, QueryError> {
        let mut selection = Selection::all(profile);
        selection.by = query.by;
        let from = find(profile, query.from.as_ref())?;
        let to = find(profile, query.to.as_ref())?;
        if let Some(from) = &from {
            selection.keep_reachable(from, query.depth, Direction::Callees);
            selection.keep_contexts_below(from, query.depth);
        }
        if let Some(to) = &to {
            selection.keep_reachable(to, query.depth, Direction::Callers);
            selection.keep_contexts_above(to, query.depth);
        }
        if from.is_some() || to.is_some() {
            selection.keep_methods_of_edges(&[from, to]);
        }
        if let Some(top) = query.top {
            selection.keep_top(top, query.by);
        }
        Ok(selection)
    }

    /// The ids of the selected methods.
    pub fn methods(&self) -> impl Iterator<Item = MethodId> + '_ {
        let ids = self.profile.method_ids();
        ids.filter(|id| self.methods[id.index()])
    }

    /// The selected edges.
    pub fn edges(&self) -> impl Iterator<Item = &'p crate::CallEdge> + '_ {
        let edges = self.profile.edges().iter().zip(&self.edges);
        edges.filter(|(_, kept)| **kept).map(|(edge, _)| edge)
    }

    /// The allocations of the selected methods.
    pub fn allocations(&self) -> impl Iterator<Item = &'p crate::Allocation> + '_ {
        let allocations = self.profile.allocations().iter();
        allocations.filter(|one| self.methods[one.method.index()])
    }

    /// The selected contexts. A parent precedes its children.
    pub fn contexts(&self) -> &[SelectedContext] {
        &self.contexts
    }

    /// Whether a method is selected.
    pub fn has_method(&self, id: MethodId) -> bool {
        self.methods[id.index()]
    }

    /// The selected contexts with their content.
    pub fn context_nodes(&self) -> impl Iterator<Item = (SelectedContext, &'p Context)> + '_ {
        let contexts = self.contexts.iter();
        contexts.map(|one| (*one, &self.profile.contexts()[one.id.index()]))
    }

    /// Keeps the edges that are at most `depth` calls away from the methods.
    fn keep_reachable(&mut self, start: &[bool], depth: Option<u32>, direction: Direction) {
        let profile = self.profile;
        let mut neighbours: Vec<Vec<MethodId>> = vec![Vec::new(); profile.methods().len()];
        for edge in profile.edges() {
            let (near, far) = direction.ends(edge.caller, edge.callee);
            neighbours[near.index()].push(far);
        }
        let distances = distances(&neighbours, start);
        let limit = depth.unwrap_or(u32::MAX);
        for (edge, kept) in profile.edges().iter().zip(&mut self.edges) {
            let (near, _) = direction.ends(edge.caller, edge.callee);
            *kept &= distances[near.index()].is_some_and(|distance| distance < limit);
        }
    }

    /// Keeps the methods of the kept edges and contexts, and those that the query names.
    fn keep_methods_of_edges(&mut self, named: &[Option<Vec<bool>>]) {
        let mut methods = vec![false; self.methods.len()];
        for edge in self.edges() {
            methods[edge.caller.index()] = true;
            methods[edge.callee.index()] = true;
        }
        for (_, context) in self.context_nodes() {
            methods[context.method.index()] = true;
        }
        // If both ends of the paths are named, a method without a path is not on one.
        if let [Some(only), None] | [None, Some(only)] = named {
            for (kept, named) in methods.iter_mut().zip(only) {
                *kept |= named;
            }
        }
        self.methods = methods;
    }

    /// Keeps the contexts of the methods and those below them. The outermost ones become roots.
    fn keep_contexts_below(&mut self, from: &[bool], depth: Option<u32>) {
        let limit = depth.unwrap_or(u32::MAX);
        // The distance of each context to the root of its kept part.
        let mut distances: Vec<Option<u32>> = vec![None; self.profile.contexts().len()];
        let mut threads: Vec<Parent> = Vec::with_capacity(distances.len());
        let mut kept = Vec::new();
        for (id, context) in self.profile.context_ids().zip(self.profile.contexts()) {
            let (above, thread) = match context.parent {
                Parent::Context(parent) => (distances[parent.index()], threads[parent.index()]),
                root => (None, root),
            };
            threads.push(thread);
            let (distance, parent) = match above {
                Some(above) => (above.saturating_add(1), context.parent),
                None if from[context.method.index()] => (0, thread),
                None => continue,
            };
            distances[id.index()] = Some(distance);
            if distance <= limit {
                kept.push(SelectedContext { id, parent });
            }
        }
        self.contexts = kept;
    }

    /// Keeps the contexts of the methods and those above them.
    fn keep_contexts_above(&mut self, to: &[bool], depth: Option<u32>) {
        let limit = depth.unwrap_or(u32::MAX);
        let mut distances: Vec<Option<u32>> = vec![None; self.profile.contexts().len()];
        for one in self.contexts.iter().rev() {
            let context = &self.profile.contexts()[one.id.index()];
            let distance = match to[context.method.index()] {
                true => Some(0),
                false => distances[one.id.index()],
            };
            distances[one.id.index()] = distance;
            if let (Parent::Context(parent), Some(distance)) = (one.parent, distance) {
                let above = &mut distances[parent.index()];
                let new = distance.saturating_add(1);
                *above = Some(above.map_or(new, |old| old.min(new)));
            }
        }
        let is_kept = |id: ContextId| distances[id.index()].is_some_and(|d| d <= limit);
        self.retain_contexts(is_kept);
    }

    /// Keeps the contexts that fulfil a condition. A context whose parent is dropped becomes a root.
    fn retain_contexts(&mut self, is_kept: impl Fn(ContextId) -> bool) {
        let mut threads: Vec<Parent> = vec![Parent::Root(None); self.profile.contexts().len()];
        let mut kept = Vec::new();
        for one in &self.contexts {
            let (parent, thread) = match one.parent {
                Parent::Context(parent) => {
                    let thread = threads[parent.index()];
                    (if is_kept(parent) { one.parent } else { thread }, thread)
                }
                root => (root, root),
            };
            threads[one.id.index()] = thread;
            if is_kept(one.id) {
                kept.push(SelectedContext { id: one.id, parent });
            }
        }
        self.contexts = kept;
    }

    /// Keeps the methods with the greatest costs and the edges between them, and the contexts with
    /// the greatest costs and those above them.
    fn keep_top(&mut self, top: usize, by: Measure) {
        let costs = self.profile.method_costs();
        let mut order: Vec<MethodId> = self.methods().collect();
        order.sort_by_key(|id| (std::cmp::Reverse(costs[id.index()].by(by)), *id));
        for dropped in order.iter().skip(top) {
            self.methods[dropped.index()] = false;
        }
        for (edge, kept) in self.profile.edges().iter().zip(&mut self.edges) {
            *kept &= self.methods[edge.caller.index()] && self.methods[edge.callee.index()];
        }
        let contexts = self.profile.contexts();
        let mut order: Vec<SelectedContext> = self.contexts.clone();
        order.sort_by_key(|one| {
            (
                std::cmp::Reverse(contexts[one.id.index()].cost.by(by)),
                one.id,
            )
        });
        let mut kept = vec![false; contexts.len()];
        for one in order.iter().take(top) {
            kept[one.id.index()] = true;
        }
        for one in self.contexts.iter().rev() {
            if let (true, Parent::Context(parent)) = (kept[one.id.index()], one.parent) {
                kept[parent.index()] = true;
            }
        }
        self.retain_contexts(|id| kept[id.index()]);
        // The frames of the kept contexts are kept, because each output names them.
        let used: Vec<MethodId> = self.context_nodes().map(|(_, c)| c.method).collect();
        for method in used {
            self.methods[method.index()] = true;
        }
    }
}

/// The direction in which a query follows calls.
#[derive(Clone, Copy)]
enum Direction {
    Callees,
    Callers,
}

impl Direction {
    /// The end of an edge from which the query comes, and the other one.
    fn ends(self, caller: MethodId, callee: MethodId) -> (MethodId, MethodId) {
        match self {
            Direction::Callees => (caller, callee),
            Direction::Callers => (callee, caller),
        }
    }
}

/// The number of calls from the nearest start to each method; `None` if there is no path.
fn distances(neighbours: &[Vec<MethodId>], start: &[bool]) -> Vec<Option<u32>> {
    let mut distances: Vec<Option<u32>> = start.iter().map(|is| is.then_some(0)).collect();
    let starts = (0..).zip(start).filter(|(_, is)| **is);
    let mut open: VecDeque<MethodId> = starts.map(|(id, _)| MethodId(id)).collect();
    while let Some(id) = open.pop_front() {
        let next = distances[id.index()].map(|distance| distance.saturating_add(1));
        for neighbour in &neighbours[id.index()] {
            if distances[neighbour.index()].is_none() {
                distances[neighbour.index()] = next;
                open.push_back(*neighbour);
            }
        }
    }
    distances
}

/// Whether each method matches the pattern, by [`MethodId`].
fn find(
    profile: &CallProfile,
    pattern: Option<&MethodPattern>,
) -> Result<Option<Vec<bool>>, QueryError> {
    let Some(pattern) = pattern else {
        return Ok(None);
    };
    if pattern.needs_metadata() {
        let pattern = pattern.to_string();
        return Err(QueryError::NeedsClassFiles { pattern });
    }
    let found: Vec<bool> = profile
        .methods()
        .iter()
        .map(|method| {
            let name = &method.name;
            method.form != MethodForm::Overflow
                && pattern.matches(&name.class, &name.method, &name.descriptor)
        })
        .collect();
    if found.contains(&true) {
        return Ok(Some(found));
    }
    let names = profile
        .methods()
        .iter()
        .map(|method| method.name.class.as_str());
    let near = nearest(pattern, names, 3);
    Err(QueryError::NoMatch {
        pattern: pattern.to_string(),
        near: match near.is_empty() {
            true => String::new(),
            false => format!("; near it: {}", near.join(", ")),
        },
    })
}
