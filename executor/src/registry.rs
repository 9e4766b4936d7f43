//! The classes that the agent has armed, and the methods in them.
//!
//! A class is known by its name and its loader. Method number `i` of a class has the id `first_id + i` for ever, so that a
//! class that comes through the hook again is armed the same way.

use crate::jni::{Env, Global, jclass, jobject};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use veneer_fragmenter::arming::ArmedMethod;
use veneer_fragmenter::version::ProtectedMembers;

/// What may change about an armed class.
#[derive(Default)]
pub struct ClassState {
    /// The class file that the armed one was made from.
    pub original: Arc<[u8]>,
    /// Internal name of the anchor that the armed code uses.
    pub anchor: String,
    /// Counts anchors.
    pub generation: u32,
    /// Methods with cells.
    pub methods: Vec<ArmedMethod>,
    /// The class itself, once it is prepared. Weak.
    pub class: Option<Arc<Global>>,
    /// Something was woven in before the class ran: the JIT's profile of its armed code is empty or askew.
    pub cold: bool,
    /// Inherited protected members of other packages, once they were asked for.
    pub protected: Option<Arc<ProtectedMembers>>,
}

/// A class with armed methods.
pub struct Class {
    /// Internal name.
    pub name: String,
    /// With dots.
    pub dotted: String,
    loader: Option<Global>,
    /// Id of method 0.
    pub first_id: u32,
    state: Mutex<ClassState>,
}

impl Class {
    /// What may change.
    pub fn state(&self) -> MutexGuard<'_, ClassState> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn is_in(&self, env: Env, loader: jobject) -> bool {
        match &self.loader {
            None => loader.is_null(),
            Some(weak) => !loader.is_null() && env.same(weak.raw(), loader),
        }
    }

    /// A local reference to the prepared class; `None` where it is not prepared or gone.
    pub fn local(&self, env: Env) -> Option<jclass> {
        let weak = self.state().class.clone()?;
        let class = env.local(&weak);
        (!class.is_null()).then_some(class)
    }
}

#[derive(Default)]
struct Maps {
    by_name: HashMap<String, Vec<Arc<Class>>>,
    by_id: BTreeMap<u32, Arc<Class>>,
}

/// See the module documentation.
#[derive(Default)]
pub struct Registry {
    maps: Mutex<Maps>,
    next_id: AtomicU32,
    unprepared: AtomicU32,
}

impl Registry {
    fn maps(&self) -> MutexGuard<'_, Maps> {
        self.maps.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The record of a class, if it has one; of a class that was redefined, the newest.
    pub fn find(&self, env: Env, name: &str, loader: jobject) -> Option<Arc<Class>> {
        let known: Vec<Arc<Class>> = self.maps().by_name.get(name).cloned().unwrap_or_default();
        known.into_iter().rev().find(|c| c.is_in(env, loader))
    }

    /// A new record with ids for `methods` methods. `None` when ids have run out.
    pub fn reserve(
        &self,
        env: Env,
        name: &str,
        loader: jobject,
        methods: usize,
    ) -> Option<Arc<Class>> {
        const LIMIT: u32 = 1 << 24;
        let first_id = self.next_id.fetch_add(methods as u32, Ordering::Relaxed);
        if first_id + methods as u32 > LIMIT {
            self.next_id.store(LIMIT, Ordering::Relaxed);
            return None;
        }
        let loader = (!loader.is_null()).then(|| env.weak(loader));
        let class = Class {
            name: name.into(),
            dotted: name.replace('/', "."),
            loader,
            first_id,
            state: Mutex::default(),
        };
        Some(Arc::new(class))
    }

    /// Makes a record known.
    pub fn add(&self, class: Arc<Class>) {
        let mut maps = self.maps();
        maps.by_name
            .entry(class.name.clone())
            .or_default()
            .push(class.clone());
        maps.by_id.insert(class.first_id, class);
    }

    /// The class of a method id.
    pub fn of_method(&self, id: u32) -> Option<Arc<Class>> {
        self.maps()
            .by_id
            .range(..=id)
            .next_back()
            .map(|e| e.1.clone())
    }

    /// All records.
    pub fn all(&self) -> Vec<Arc<Class>> {
        self.maps().by_id.values().cloned().collect()
    }

    /// Whether a class of this name is armed and may still have to be prepared: a quick question for an event on every class.
    pub fn knows(&self, name: &str) -> bool {
        self.maps().by_name.contains_key(name)
    }

    /// One armed class more waits to be prepared.
    pub fn expect_prepare(&self) {
        self.unprepared.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether any class was armed at all.
    pub fn expects_prepare(&self) -> bool {
        self.unprepared.load(Ordering::Relaxed) > 0
    }
}
