//! Folding of recursion in a tree of contexts.
//!
//! If a method is already on the path to the root, its inner context is added to the outer one:
//!
//! ```text
//!   a ─▶ b ─▶ a ─▶ c      becomes      a ─┬─▶ b
//!                                         └─▶ c
//! ```
//!
//! Calls, self times and allocations are added. The times with callees are those of the outermost
//! context, because they include those of the inner contexts. Folded trees are at most as deep as
//! there are methods.

use crate::context::{Context, ContextCost, ContextId, Parent};
use crate::profile::CallProfile;

impl CallProfile {
    /// The same profile with folded contexts. The methods have the same ids.
    pub fn fold_recursion(&self) -> CallProfile {
        let mut folded = CallProfile::new();
        let methods = folded.copy_methods(self);
        folded.copy_edges(self, &methods);
        for thread in self.threads() {
            folded.add_thread(thread);
        }
        let mut contexts: Vec<ContextId> = Vec::with_capacity(self.contexts().len());
        for (context, outermost) in self.contexts().iter().zip(self.outermost_contexts()) {
            // An inner context can move below another context, beside an outer one of its method.
            let cost = match outermost {
                true => context.cost,
                false => ContextCost {
                    wall_ns: 0,
                    cpu_ns: 0,
                    ..context.cost
                },
            };
            let Parent::Context(parent) = context.parent else {
                contexts.push(folded.add_context(context.clone()));
                continue;
            };
            let parent = contexts[parent.index()];
            let outer = match context.is_part_of_parent() {
                true => folded.find_on_path(parent, context),
                // A task runs in another thread, so its time is not part of an outer context.
                false => None,
            };
            contexts.push(match outer {
                None => folded.add_context(Context {
                    parent: Parent::Context(parent),
                    cost,
                    ..context.clone()
                }),
                Some(outer) => {
                    let outer = folded.contexts()[outer.index()].clone();
                    folded.add_context(Context { cost, ..outer })
                }
            });
        }
        folded
    }

    /// The context of the same method that is nearest on the path from `from` to the root of the
    /// thread.
    fn find_on_path(&self, from: ContextId, wanted: &Context) -> Option<ContextId> {
        let mut id = from;
        loop {
            let context = &self.contexts()[id.index()];
            if context.method == wanted.method {
                return Some(id);
            }
            match context.parent {
                Parent::Context(parent) if context.is_part_of_parent() => id = parent,
                _ => return None,
            }
        }
    }
}
