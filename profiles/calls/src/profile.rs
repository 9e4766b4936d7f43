//! A call profile: the call graph, the allocation sites and the calling-context tree of a program.
//!
//! Everything is added by its identity: if an edge is added twice, its counts are added. So two
//! profiles are merged by adding one to the other, and the order makes no difference.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::call::{Allocation, CallEdge, CallKind, Site, UnseenClass};
use crate::context::{Context, ContextId, Origin, Parent, Thread, ThreadId};
use crate::method::{Loader, LoaderId, Method, MethodId, MethodName};

type EdgeKey = (MethodId, Option<u16>, MethodId, CallKind);
type ContextKey = (Parent, MethodId, Option<u16>, Origin);

/// A call profile. The identifiers are indices into the lists of this profile.
#[derive(Clone, Debug, Default)]
pub struct CallProfile {
    info: BTreeMap<String, BTreeSet<String>>,
    loaders: Vec<Loader>,
    methods: Vec<Method>,
    edges: Vec<CallEdge>,
    allocations: Vec<Allocation>,
    threads: Vec<Thread>,
    contexts: Vec<Context>,
    unseen: BTreeSet<UnseenClass>,
    index: Index,
}

/// Finds what the profile has by its identity.
#[derive(Clone, Debug, Default)]
struct Index {
    loaders: HashMap<Loader, LoaderId>,
    methods: HashMap<(LoaderId, MethodName), MethodId>,
    edges: HashMap<EdgeKey, u32>,
    types: HashMap<String, u32>,
    allocations: HashMap<(MethodId, Option<u16>, u32), u32>,
    threads: HashMap<Thread, ThreadId>,
    contexts: HashMap<ContextKey, ContextId>,
}

/// The position of the next element of a list. Lists of 2³² elements do not fit into memory.
fn next_index<T>(list: &[T]) -> u32 {
    list.len() as u32
}

impl CallProfile {
    /// A profile without methods.
    pub fn new() -> CallProfile {
        CallProfile::default()
    }

    /// Facts about the recording: the values of each key. A merged profile can have several values.
    pub fn info(&self) -> &BTreeMap<String, BTreeSet<String>> {
        &self.info
    }

    /// The class loaders, by [`LoaderId`].
    pub fn loaders(&self) -> &[Loader] {
        &self.loaders
    }

    /// The methods, by [`MethodId`]. They include methods that were never called.
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// The edges of the call graph, each once.
    pub fn edges(&self) -> &[CallEdge] {
        &self.edges
    }

    /// The allocation sites, once for each type that they allocate.
    pub fn allocations(&self) -> &[Allocation] {
        &self.allocations
    }

    /// The threads, by [`ThreadId`].
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// The contexts, by [`ContextId`]. A parent precedes its children.
    pub fn contexts(&self) -> &[Context] {
        &self.contexts
    }

    /// The classes whose calls are missing, sorted by name.
    pub fn unseen(&self) -> &BTreeSet<UnseenClass> {
        &self.unseen
    }

    /// A method of this profile.
    ///
    /// # Panics
    /// If the id belongs to another profile and is too large.
    pub fn method(&self, id: MethodId) -> &Method {
        &self.methods[id.index()]
    }

    /// The ids of all methods.
    pub fn method_ids(&self) -> impl Iterator<Item = MethodId> + use<> {
        (0..next_index(&self.methods)).map(MethodId)
    }

    /// The ids of all contexts.
    pub fn context_ids(&self) -> impl Iterator<Item = ContextId> + use<> {
        (0..next_index(&self.contexts)).map(ContextId)
    }

    /// The id of a method, if the profile has it.
    pub fn find_method(&self, loader: &Loader, name: &MethodName) -> Option<MethodId> {
        let loader = self.index.loaders.get(loader)?;
        self.index.methods.get(&(*loader, name.clone())).copied()
    }

    /// Notes a fact about the recording, such as `command` or `jvm`.
    pub fn add_info(&mut self, key: &str, value: &str) {
        let values = self.info.entry(key.into()).or_default();
        values.insert(value.into());
    }

    /// The id of a loader, which is added if it is new.
    pub fn add_loader(&mut self, loader: &Loader) -> LoaderId {
        if let Some(id) = self.index.loaders.get(loader) {
            return *id;
        }
        let id = LoaderId(next_index(&self.loaders));
        self.loaders.push(loader.clone());
        self.index.loaders.insert(loader.clone(), id);
        id
    }

    /// Adds a method, or adds the entries to those of the method that is already there.
    pub fn add_method(&mut self, method: Method) -> MethodId {
        let key = (method.loader, method.name.clone());
        if let Some(id) = self.index.methods.get(&key) {
            let known = &mut self.methods[id.index()];
            known.entries = add_known(known.entries, method.entries);
            // Redefinition can change the size, and `native` can only be wrong for a callee that
            // was named before its class was seen.
            known.code_bytes = known.code_bytes.max(method.code_bytes);
            known.form = known.form.max(method.form);
            return *id;
        }
        let id = MethodId(next_index(&self.methods));
        self.methods.push(method);
        self.index.methods.insert(key, id);
        id
    }

    /// Adds calls from a site to a method.
    pub fn add_calls(
        &mut self,
        caller: MethodId,
        site: Site,
        callee: MethodId,
        kind: CallKind,
        count: u64,
    ) {
        let key = (caller, site.bci, callee, kind);
        let new = next_index(&self.edges);
        let index = *self.index.edges.entry(key).or_insert(new);
        match self.edges.get_mut(index as usize) {
            Some(edge) => {
                edge.count = edge.count.saturating_add(count);
                edge.site.line = edge.site.line.max(site.line);
            }
            None => self.edges.push(CallEdge {
                caller,
                site,
                callee,
                kind,
                count,
            }),
        }
    }

    /// Adds objects that a site allocated.
    pub fn add_allocations(&mut self, method: MethodId, site: Site, type_name: &str, count: u64) {
        let new_type = self.index.types.len() as u32;
        let type_index = match self.index.types.get(type_name) {
            Some(index) => *index,
            None => *self.index.types.entry(type_name.into()).or_insert(new_type),
        };
        let key = (method, site.bci, type_index);
        let new = next_index(&self.allocations);
        let index = *self.index.allocations.entry(key).or_insert(new);
        match self.allocations.get_mut(index as usize) {
            Some(known) => {
                known.count = known.count.saturating_add(count);
                known.site.line = known.site.line.max(site.line);
            }
            None => self.allocations.push(Allocation {
                method,
                site,
                type_name: type_name.into(),
                count,
            }),
        }
    }

    /// The id of a thread, which is added if it is new.
    pub fn add_thread(&mut self, thread: &Thread) -> ThreadId {
        if let Some(id) = self.index.threads.get(thread) {
            return *id;
        }
        let id = ThreadId(next_index(&self.threads));
        self.threads.push(thread.clone());
        self.index.threads.insert(thread.clone(), id);
        id
    }

    /// Adds costs to a context. The context is added if it is new.
    pub fn add_context(&mut self, context: Context) -> ContextId {
        let key = (context.parent, context.method, context.bci, context.origin);
        if let Some(id) = self.index.contexts.get(&key) {
            self.contexts[id.index()].cost.add(&context.cost);
            return *id;
        }
        let id = ContextId(next_index(&self.contexts));
        self.contexts.push(context);
        self.index.contexts.insert(key, id);
        id
    }

    /// Notes a class whose calls are missing.
    pub fn add_unseen(&mut self, unseen: UnseenClass) {
        self.unseen.insert(unseen);
    }

    /// The sum of the counts of the incoming edges of each method, by [`MethodId`].
    pub fn incoming(&self) -> Vec<u64> {
        let mut incoming = vec![0u64; self.methods.len()];
        for edge in &self.edges {
            let sum = &mut incoming[edge.callee.index()];
            *sum = sum.saturating_add(edge.count);
        }
        incoming
    }

    /// The entries of a method that no edge explains: calls from native code, from the JVM, and from
    /// classes that were not recorded. The residue is negative if the counts were read while the
    /// method was being called. It is 0 if the entries were not counted in the method itself.
    ///
    /// `incoming` is the sum of the counts of the method's incoming edges.
    pub fn residue(&self, id: MethodId, incoming: u64) -> i128 {
        match self.method(id).entries {
            Some(entries) => i128::from(entries) - i128::from(incoming),
            None => 0,
        }
    }
}

/// Adds two counts, of which each may be unknown.
fn add_known(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        (one, other) => one.or(other),
    }
}
