//! Merging of profiles and of threads.

use crate::context::{Context, ContextId, Parent, ThreadId};
use crate::method::MethodId;
use crate::profile::CallProfile;

impl CallProfile {
    /// Adds another profile. Elements with the same identity become one, and their counts are added.
    pub fn merge(&mut self, other: &CallProfile) {
        let methods = self.copy_methods(other);
        self.copy_edges(other, &methods);
        let threads = other.threads().iter().map(|one| self.add_thread(one));
        let threads: Vec<ThreadId> = threads.collect();
        self.copy_contexts(other, &methods, |thread| {
            threads.get(thread.index()).copied()
        });
    }

    /// The same profile with one tree of contexts for all threads. The methods have the same ids.
    pub fn without_threads(&self) -> CallProfile {
        let mut merged = CallProfile::new();
        let methods = merged.copy_methods(self);
        merged.copy_edges(self, &methods);
        merged.copy_contexts(self, &methods, |_| None);
        merged
    }

    /// Adds the facts, loaders and methods of another profile. Returns the ids of the methods here.
    pub(crate) fn copy_methods(&mut self, other: &CallProfile) -> Vec<MethodId> {
        for (key, values) in other.info() {
            values.iter().for_each(|value| self.add_info(key, value));
        }
        for unseen in other.unseen() {
            self.add_unseen(unseen.clone());
        }
        let loaders = other.loaders().iter().map(|one| self.add_loader(one));
        let loaders: Vec<_> = loaders.collect();
        let methods = other.methods().iter().map(|method| {
            let mut method = method.clone();
            method.loader = loaders[method.loader.index()];
            self.add_method(method)
        });
        methods.collect()
    }

    /// Adds the edges and allocations of another profile.
    pub(crate) fn copy_edges(&mut self, other: &CallProfile, methods: &[MethodId]) {
        for edge in other.edges() {
            let caller = methods[edge.caller.index()];
            let callee = methods[edge.callee.index()];
            self.add_calls(caller, edge.site, callee, edge.kind, edge.count);
        }
        for one in other.allocations() {
            let method = methods[one.method.index()];
            self.add_allocations(method, one.site, &one.type_name, one.count);
        }
    }

    /// Adds the contexts of another profile. `thread` returns the thread here of a thread there.
    fn copy_contexts(
        &mut self,
        other: &CallProfile,
        methods: &[MethodId],
        thread: impl Fn(ThreadId) -> Option<ThreadId>,
    ) {
        let mut contexts: Vec<ContextId> = Vec::with_capacity(other.contexts().len());
        for context in other.contexts() {
            let parent = match context.parent {
                Parent::Root(root) => Parent::Root(root.and_then(&thread)),
                Parent::Context(parent) => Parent::Context(contexts[parent.index()]),
            };
            contexts.push(self.add_context(Context {
                parent,
                method: methods[context.method.index()],
                ..context.clone()
            }));
        }
    }
}
