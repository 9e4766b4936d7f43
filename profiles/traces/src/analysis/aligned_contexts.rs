//! The calling-context trees of two traces as one tree. Contexts with the same path are one node.

use std::collections::BTreeMap;

use super::call_contexts::{CallContext, CallContexts};

/// The figures of a trace in a context. All numbers are 0 if it does not have the context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextSums {
    /// The number of calls.
    pub calls: u64,
    /// The sum of their durations in nanoseconds.
    pub wall_ns: u64,
    /// The sum of their durations without children, in nanoseconds.
    pub self_ns: u64,
}

impl ContextSums {
    fn add(&mut self, context: &CallContext) {
        self.calls += context.calls;
        self.wall_ns = self.wall_ns.saturating_add(context.wall_ns);
        self.self_ns = self.self_ns.saturating_add(context.self_ns);
    }
}

/// A context of either trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlignedContext {
    /// The position of the context around this one, or `None` for an outermost call.
    pub parent: Option<usize>,
    /// The text of the innermost method.
    pub method: String,
    /// The sums of the first trace.
    pub a: ContextSums,
    /// The sums of the second trace.
    pub b: ContextSums,
}

impl AlignedContext {
    /// The absolute difference of the durations in nanoseconds.
    pub fn difference_ns(&self) -> u64 {
        self.a.wall_ns.abs_diff(self.b.wall_ns)
    }
}

/// Aligns two trees. Each context comes after its parent and before the siblings that differ less.
pub fn align_contexts(a: &CallContexts, b: &CallContexts) -> Vec<AlignedContext> {
    let mut all: Vec<AlignedContext> = Vec::new();
    let mut positions: BTreeMap<(Option<usize>, &str), usize> = BTreeMap::new();
    for (tree, is_b) in [(a, false), (b, true)] {
        // The position of each context of this tree; the root has none.
        let mut aligned: Vec<Option<usize>> = vec![None];
        for context in tree.contexts.iter().skip(1) {
            let parent = aligned.get(context.parent).copied().flatten();
            let at = *positions
                .entry((parent, context.method.as_str()))
                .or_insert_with(|| {
                    all.push(AlignedContext {
                        parent,
                        method: context.method.clone(),
                        ..AlignedContext::default()
                    });
                    all.len() - 1
                });
            aligned.push(Some(at));
            match is_b {
                false => all[at].a.add(context),
                true => all[at].b.add(context),
            }
        }
    }
    in_preorder(all)
}

/// Orders contexts, each of which comes after its parent.
fn in_preorder(all: Vec<AlignedContext>) -> Vec<AlignedContext> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); all.len() + 1];
    for (at, context) in all.iter().enumerate() {
        children[context.parent.map_or(0, |parent| parent + 1)].push(at);
    }
    let key = |at: &usize| {
        (
            all[*at].difference_ns(),
            std::cmp::Reverse(&all[*at].method),
        )
    };
    for siblings in &mut children {
        // The last one is taken first.
        siblings.sort_by(|x, y| key(x).cmp(&key(y)));
    }
    let mut ordered: Vec<AlignedContext> = Vec::with_capacity(all.len());
    let mut open: Vec<(usize, Option<usize>)> = Vec::new();
    let next = |of: usize, parent| children[of].iter().map(move |child| (*child, parent));
    open.extend(next(0, None));
    while let Some((at, parent)) = open.pop() {
        let position = ordered.len();
        ordered.push(AlignedContext {
            parent,
            ..all[at].clone()
        });
        open.extend(next(at + 1, Some(position)));
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(contexts: &[(usize, &str, u64)]) -> CallContexts {
        let context = |(parent, method, wall_ns): &(usize, &str, u64)| CallContext {
            parent: *parent,
            method: (*method).into(),
            calls: 1,
            wall_ns: *wall_ns,
            self_ns: 1,
        };
        CallContexts {
            contexts: [CallContext::default()]
                .into_iter()
                .chain(contexts.iter().map(context))
                .collect(),
            merged: 0,
        }
    }

    #[test]
    fn contexts_with_one_path_are_one_and_the_largest_difference_is_first() {
        let a = tree(&[
            (0, "main", 10),
            (1, "x", 4),
            (1, "y", 5),
            (3, "z", 2),
            (1, "x", 1),
        ]);
        let b = tree(&[
            (0, "main", 30),
            (1, "y", 25),
            (2, "new", 9),
            (0, "other", 3),
        ]);
        let found: Vec<(Option<usize>, String, u64, u64, u64)> = align_contexts(&a, &b)
            .into_iter()
            .map(|one| {
                (
                    one.parent,
                    one.method,
                    one.a.calls,
                    one.a.wall_ns,
                    one.b.wall_ns,
                )
            })
            .collect();
        let expected = [
            (None, "main", 1, 10, 30),
            (Some(0), "y", 1, 5, 25),
            (Some(1), "new", 0, 0, 9),
            (Some(1), "z", 1, 2, 0),
            (Some(0), "x", 2, 5, 0),
            (None, "other", 0, 0, 3),
        ];
        let expected = expected.map(|(p, m, c, x, y)| (p, m.to_owned(), c, x, y));
        assert_eq!(found, expected);
    }

    #[test]
    fn trees_without_contexts_have_none() {
        assert!(align_contexts(&tree(&[]), &CallContexts::default()).is_empty());
    }
}
