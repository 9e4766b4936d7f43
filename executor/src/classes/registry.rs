//! The armed classes and their methods. A class is *armed* if its methods have been instrumented with
//! switchable checks at their capture points. Each armed method has a *cell*: a mutable call site that
//! names the current version of the method.
//!
//! A class is identified by its name and its loader. Its method number `i` has the id
//! `first_id + i` as long as the class lives, so a class that passes the class hook again is armed
//! in the same way. A class lives as long as its loader. When the loader has been collected,
//! `plans/class_unloading.rs` drops the record, and the ids are reused.
//!
//! All threads read the registry. Its mutex and the mutex of a class's state are held for short
//! reads and writes only, and never while Java code runs.

use crate::classes::method_ids::MethodIds;
use crate::classes::method_table::MethodTable;
use crate::jvm::jni::{Env, WeakGlobal, jclass, jobject};
use crate::jvm::jvmti::Tool;
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;
use veneer_class_cache::StoredFile;
use veneer_fragmenter::Refusal;
use veneer_fragmenter::arming::{CodeDigest, DigestScope};
use veneer_fragmenter::version::ProtectedMembers;
use veneer_instruments::ClassMetadata;
use veneer_names::{ClassName, JavaClassName, MethodId, MethodName};

/// The variable data of an armed class.
#[derive(Default)]
pub struct ClassState {
    /// The class file from which the armed class was made. It is not on the heap.
    pub original: StoredFile,
    /// Internal name of the newest anchor, which versions extend. The method table names the
    /// anchor of each method.
    pub anchor: Arc<str>,
    /// Whether the class has its original code again, because the agent has been unloaded. The
    /// methods keep their ids, since running activations may still refer to them.
    pub restored: bool,
    /// The number of the newest anchor.
    pub generation: u32,
    /// The methods that have a cell.
    pub methods: Arc<MethodTable>,
    /// Hash of the bytecode that arming gave these methods, and what it covers.
    pub code: (CodeDigest, DigestScope),
    /// Whether these methods have that bytecode in the JVM.
    pub code_in_jvm: CodeInJvm,
    /// A weak reference to the class, once it is prepared.
    pub class: Option<Arc<WeakGlobal>>,
    /// Whether an instrument was attached before the class ran. The JIT's profile of the armed code
    /// is then empty or skewed.
    pub has_skewed_profile: bool,
    /// The protected members that the class inherits from other packages, once they have been
    /// needed.
    pub protected: Option<Arc<ProtectedMembers>>,
    /// The methods that have code but no cell, once they have been needed.
    pub unarmed: Option<Arc<[MethodName]>>,
    /// The properties of the class beyond its name, once a pattern has asked for them.
    pub facts: Option<Arc<ClassMetadata>>,
}

/// The result of the comparison of the bytecode in the JVM with that of arming. See `later_agents.rs`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CodeInJvm {
    /// The class has passed the hook, and its code in the JVM was not looked at since then.
    #[default]
    NotChecked,
    /// It is the code that arming gave the class.
    Armed,
    /// Another agent has changed it after arming, and the agent cannot be called after that one.
    Changed,
}

/// A class with armed methods.
pub struct Class {
    pub name: ClassName,
    /// The same name in Java form.
    pub dotted: JavaClassName,
    /// A weak reference, shared by all classes of the loader. `None` for the boot loader.
    loader: Option<Arc<WeakGlobal>>,
    /// The id of method 0.
    pub first_id: MethodId,
    /// The number of methods, armed or not.
    count: u32,
    state: Mutex<ClassState>,
}

impl Class {
    pub fn state(&self) -> MutexGuard<'_, ClassState> {
        self.state.lock()
    }

    /// Reads the class file from which the armed class was made. The state must not be locked by the
    /// caller.
    ///
    /// # Errors
    /// The copy of the class file has been damaged.
    pub fn original_file(&self) -> Result<Arc<[u8]>, Refusal> {
        let original = self.state().original.clone();
        let bytes = original.read();
        bytes.map_err(|lost| Refusal::BrokenClass(lost.to_string()))
    }

    /// The ids of the methods, armed or not.
    pub fn ids(&self) -> Range<MethodId> {
        self.first_id..self.first_id.plus(self.count)
    }

    fn has_loader(&self, env: Env, loader: jobject) -> bool {
        match &self.loader {
            None => loader.is_null(),
            Some(weak) => !loader.is_null() && env.refers_to(weak, loader),
        }
    }

    /// A local reference to the class; `None` if it is not prepared yet or has been unloaded.
    pub fn local(&self, env: Env) -> Option<jclass> {
        let weak = self.state().class.clone()?;
        let class = env.local(&weak);
        (!class.is_null()).then_some(class)
    }

    /// Records the loaded class, if it is prepared. From then on, versions of its methods can be
    /// made.
    pub fn mark_prepared(&self, tool: Tool, env: Env, class: jclass) {
        let mut state = self.state();
        if state.class.is_none() && tool.is_prepared(class) {
            state.class = Some(Arc::new(env.weak(class)));
        }
    }
}

/// The number of unloaded classes and of their armed methods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnloadedCount {
    pub classes: u64,
    pub methods: u64,
}

#[derive(Default)]
struct Maps {
    by_name: HashMap<ClassName, Vec<Arc<Class>>>,
    /// By the id of method 0.
    by_id: BTreeMap<MethodId, Arc<Class>>,
    /// Weak references to all loaders but the boot loader, each once.
    loaders: Vec<Arc<WeakGlobal>>,
    ids: MethodIds,
    unloaded: UnloadedCount,
}

impl Maps {
    /// The shared weak reference to a loader; `None` for the boot loader.
    fn loader(&mut self, env: Env, loader: jobject) -> Option<Arc<WeakGlobal>> {
        if loader.is_null() {
            return None;
        }
        let known = self.loaders.iter().find(|l| env.refers_to(l, loader));
        let known = known.cloned();
        Some(known.unwrap_or_else(|| {
            let new = Arc::new(env.weak(loader));
            self.loaders.push(new.clone());
            new
        }))
    }

    fn add(&mut self, class: Arc<Class>) {
        let named = self.by_name.entry(class.name.clone()).or_default();
        named.push(class.clone());
        self.by_id.insert(class.first_id, class);
    }

    /// Removes the classes for which `is_unloaded` holds, and returns them.
    fn take(&mut self, is_unloaded: impl Fn(&Class) -> bool) -> Vec<Arc<Class>> {
        let mut taken = Vec::new();
        self.by_id.retain(|_, class| {
            let is_taken = is_unloaded(class);
            if is_taken {
                taken.push(class.clone());
            }
            !is_taken
        });
        for class in &taken {
            if let Some(named) = self.by_name.get_mut(&class.name) {
                named.retain(|c| !Arc::ptr_eq(c, class));
                if named.is_empty() {
                    self.by_name.remove(&class.name);
                }
            }
            self.unloaded.classes += 1;
            self.unloaded.methods += class.state().methods.len() as u64;
        }
        taken
    }

    fn of_method(&self, id: MethodId) -> Option<Arc<Class>> {
        let (_, class) = self.by_id.range(..=id).next_back()?;
        class.ids().contains(&id).then(|| class.clone())
    }
}

/// The armed classes. See the module documentation.
#[derive(Default)]
pub struct Registry {
    maps: Mutex<Maps>,
}

impl Registry {
    fn maps(&self) -> MutexGuard<'_, Maps> {
        self.maps.lock()
    }

    /// The record of a class. If the class was redefined, this is the newest record.
    pub fn find(&self, env: Env, name: &str, loader: jobject) -> Option<Arc<Class>> {
        let named = self.classes_named(name);
        named.into_iter().rev().find(|c| c.has_loader(env, loader))
    }

    /// Makes a record with ids for `methods` methods. The registry does not contain it before
    /// [`Registry::add`]. Returns `None` if the ids are exhausted.
    pub fn reserve(
        &self,
        env: Env,
        name: ClassName,
        loader: jobject,
        methods: usize,
    ) -> Option<Arc<Class>> {
        let mut maps = self.maps();
        let count = u32::try_from(methods).ok()?;
        let first_id = maps.ids.reserve(count)?;
        let class = Class {
            dotted: name.java_form(),
            name,
            loader: maps.loader(env, loader),
            first_id,
            count,
            state: Mutex::default(),
        };
        Some(Arc::new(class))
    }

    /// Makes the ids of a class available again. The caller must ensure that no cell and no
    /// activation refers to them: either the class was never armed with them, or its loader has
    /// been collected.
    pub fn release_ids(&self, class: &Class) {
        self.maps().ids.release(class.ids());
    }

    /// Whether a loader has been collected, and its classes with it. The question is cheap, so it
    /// is asked every second.
    pub fn has_unloaded_classes(&self, env: Env) -> bool {
        self.maps().loaders.iter().any(|l| env.is_cleared(l))
    }

    /// Removes and returns the records of classes whose loader has been collected. Their ids stay
    /// reserved until [`Registry::release_ids`].
    pub fn remove_unloaded(&self, env: Env) -> Vec<Arc<Class>> {
        let mut maps = self.maps();
        let is_gone = |loader: &Arc<WeakGlobal>| env.is_cleared(loader);
        let (gone, live): (Vec<_>, Vec<_>) = maps.loaders.drain(..).partition(is_gone);
        maps.loaders = live;
        maps.take(|class| {
            let loader = class.loader.as_ref();
            loader.is_some_and(|loader| gone.iter().any(|g| Arc::ptr_eq(g, loader)))
        })
    }

    /// The number of classes and armed methods that have been unloaded so far.
    pub fn unloaded_count(&self) -> UnloadedCount {
        self.maps().unloaded
    }

    /// Adds a record.
    pub fn add(&self, class: Arc<Class>) {
        self.maps().add(class);
    }

    /// The class of a method id.
    pub fn class_of_method(&self, id: MethodId) -> Option<Arc<Class>> {
        self.maps().of_method(id)
    }

    /// All records, in the order of their ids.
    pub fn all(&self) -> Vec<Arc<Class>> {
        self.maps().by_id.values().cloned().collect()
    }

    /// The records of an internal name, the oldest first.
    pub fn classes_named(&self, name: &str) -> Vec<Arc<Class>> {
        self.maps().by_name.get(name).cloned().unwrap_or_default()
    }

    /// Whether a class of this internal name is armed. The question is cheap, so the agent asks it
    /// for every class that is prepared.
    pub fn contains(&self, name: &str) -> bool {
        self.maps().by_name.contains_key(name)
    }
}

/// A class of the boot loader, for unit tests.
#[cfg(test)]
pub(crate) fn test_class(name: &str, ids: Range<u32>) -> Arc<Class> {
    let name = ClassName::parse(name).expect("a class name");
    Arc::new(Class {
        dotted: name.java_form(),
        name,
        loader: None,
        first_id: MethodId(ids.start),
        count: ids.end - ids.start,
        state: Mutex::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry(classes: &[(&str, Range<u32>)]) -> Registry {
        let registry = Registry::default();
        for (name, ids) in classes {
            registry.add(test_class(name, ids.clone()));
        }
        registry
    }

    #[test]
    fn a_method_belongs_to_the_class_whose_range_contains_its_id() {
        let registry = registry(&[("a/A", 0..3), ("a/B", 5..6), ("a/Empty", 6..6)]);
        let class = |id| {
            registry
                .class_of_method(MethodId(id))
                .map(|c| c.name.to_string())
        };
        assert_eq!(class(0), Some("a/A".into()));
        assert_eq!(class(2), Some("a/A".into()));
        assert_eq!(class(3), None);
        assert_eq!(class(5), Some("a/B".into()));
        assert_eq!(class(6), None);
    }

    #[test]
    fn records_of_one_name_are_listed_in_the_order_in_which_they_were_added() {
        let registry = registry(&[("a/A", 8..9), ("a/A", 0..1)]);
        let first_ids = |classes: Vec<Arc<Class>>| -> Vec<u32> {
            classes.iter().map(|class| class.first_id.0).collect()
        };
        assert_eq!(first_ids(registry.classes_named("a/A")), [8, 0]);
        assert_eq!(first_ids(registry.all()), [0, 8]);
        assert!(registry.contains("a/A") && !registry.contains("a.A"));
    }

    #[test]
    fn unloaded_classes_are_removed_everywhere_and_counted() {
        let registry = registry(&[("a/A", 0..2), ("a/A", 2..4), ("a/B", 4..5)]);
        let taken = registry.maps().take(|class| class.first_id != MethodId(2));
        let taken: Vec<u32> = taken.iter().map(|class| class.first_id.0).collect();
        assert_eq!(taken, [0, 4]);
        assert!(registry.contains("a/A") && !registry.contains("a/B"));
        assert_eq!(registry.classes_named("a/A").len(), 1);
        assert!(registry.class_of_method(MethodId(4)).is_none());
        let unloaded = registry.unloaded_count();
        assert_eq!((unloaded.classes, unloaded.methods), (2, 0));
    }

    #[test]
    fn ids_of_unloaded_classes_stay_reserved_until_they_are_released() {
        let registry = Registry::default();
        assert_eq!(registry.maps().ids.reserve(3), Some(MethodId(0)));
        let class = test_class("a/A", 0..3);
        registry.add(class.clone());
        registry.maps().take(|_| true);
        assert_eq!(registry.maps().ids.reserve(2), Some(MethodId(3)));
        registry.release_ids(&class);
        assert_eq!(registry.maps().ids.reserve(2), Some(MethodId(0)));
    }
}
