//! The classes that the agent has armed, and the methods in them.
//!
//! A class is known by its name and its loader. Method number `i` of a class has the id `first_id + i` as long as the class
//! lives, so that a class that comes through the hook again is armed the same way. A class lives as long as its loader; then
//! `unloaded` gives up its record, and its ids serve another class.

use crate::jvm::jni::{Env, Global, jclass, jobject};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};
use veneer_fragmenter::arming::ArmedMethod;
use veneer_fragmenter::version::ProtectedMembers;
use veneer_instruments::ClassFacts;

/// What may change about an armed class.
#[derive(Default)]
pub struct ClassState {
    /// The class file that the armed one was made from.
    pub original: Arc<[u8]>,
    /// Internal name of the newest anchor, which versions extend. [`ArmedMethod::anchor`] names the anchor of each method.
    pub anchor: Arc<str>,
    /// The class has its original code again: the agent has left. Its methods keep their ids, since activations may still know them.
    pub restored: bool,
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
    /// Names and descriptors of methods with code that have no cell, once they were asked for.
    pub unarmed: Option<Arc<[(String, String)]>>,
    /// What is known of it beyond its name, once a pattern asked.
    pub facts: Option<Arc<ClassFacts>>,
}

/// A class with armed methods.
pub struct Class {
    /// Internal name.
    pub name: String,
    /// With dots.
    pub dotted: String,
    /// Weak, and shared by all classes of a loader.
    loader: Option<Arc<Global>>,
    /// Id of method 0.
    pub first_id: u32,
    /// How many methods it has, armed or not.
    count: u32,
    state: Mutex<ClassState>,
}

impl Class {
    /// What may change.
    pub fn state(&self) -> MutexGuard<'_, ClassState> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The ids of its methods, armed or not.
    pub fn ids(&self) -> Range<u32> {
        self.first_id..self.first_id + self.count
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
    /// All loaders but the boot loader, each once.
    loaders: Vec<Arc<Global>>,
    /// Ids that serve again: where they begin, how many.
    free: BTreeMap<u32, u32>,
    next_id: u32,
    /// Classes and armed methods that are gone.
    gone: (u64, u64),
}

impl Maps {
    /// So many ids in a row, of those that are free or new.
    fn ids(&mut self, count: u32) -> Option<u32> {
        const LIMIT: u32 = 1 << 24;
        let found = self.free.iter().find(|f| *f.1 >= count);
        if let (Some((&first, &room)), 1..) = (found, count) {
            self.free.remove(&first);
            if room > count {
                self.free.insert(first + count, room - count);
            }
            return Some(first);
        }
        let first = self.next_id;
        self.next_id = first.checked_add(count).filter(|end| *end <= LIMIT)?;
        Some(first)
    }

    fn give_back(&mut self, ids: Range<u32>) {
        let (mut first, mut end) = (ids.start, ids.end);
        if first == end {
            return;
        }
        if let Some(more) = self.free.remove(&end) {
            end += more;
        }
        if let Some((&before, &room)) = self.free.range(..first).next_back()
            && before + room == first
        {
            first = before;
        }
        self.free.insert(first, end - first);
    }

    fn loader(&mut self, env: Env, loader: jobject) -> Option<Arc<Global>> {
        if loader.is_null() {
            return None;
        }
        let known = self.loaders.iter().find(|l| env.same(l.raw(), loader));
        let known = known.cloned();
        Some(known.unwrap_or_else(|| {
            let new = Arc::new(env.weak(loader));
            self.loaders.push(new.clone());
            new
        }))
    }
}

/// Whether a weak reference leads nowhere any more.
fn is_gone(env: Env, weak: &Global) -> bool {
    env.is_cleared(weak)
}

/// See the module documentation.
#[derive(Default)]
pub struct Registry {
    maps: Mutex<Maps>,
}

impl Registry {
    fn maps(&self) -> MutexGuard<'_, Maps> {
        self.maps.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The record of a class, if it has one; of a class that was redefined, the newest.
    pub fn find(&self, env: Env, name: &str, loader: jobject) -> Option<Arc<Class>> {
        self.named(name)
            .into_iter()
            .rev()
            .find(|c| c.is_in(env, loader))
    }

    /// A new record with ids for `methods` methods. `None` when ids have run out.
    pub fn reserve(
        &self,
        env: Env,
        name: &str,
        loader: jobject,
        methods: usize,
    ) -> Option<Arc<Class>> {
        let mut maps = self.maps();
        let count = u32::try_from(methods).ok()?;
        let first_id = maps.ids(count)?;
        let class = Class {
            name: name.into(),
            dotted: name.replace('/', "."),
            loader: maps.loader(env, loader),
            first_id,
            count,
            state: Mutex::default(),
        };
        Some(Arc::new(class))
    }

    /// Takes the ids of a class back that nothing knows, or nothing any more.
    pub fn give_back(&self, class: &Class) {
        self.maps().give_back(class.ids());
    }

    /// Whether a loader is gone, and with it its classes: a quick question.
    pub fn has_gone(&self, env: Env) -> bool {
        self.maps().loaders.iter().any(|l| is_gone(env, l))
    }

    /// Takes the records of classes out whose loader is gone. Their ids do not serve again before [`Registry::give_back`].
    pub fn take_gone(&self, env: Env) -> Vec<Arc<Class>> {
        let mut maps = self.maps();
        let maps = &mut *maps;
        let gone = |loader: &Arc<Global>| is_gone(env, loader);
        let (dead, live): (Vec<_>, Vec<_>) = maps.loaders.drain(..).partition(gone);
        maps.loaders = live;
        let mut classes = Vec::new();
        maps.by_id.retain(|_, class| {
            let of = |loader: &Arc<Global>| dead.iter().any(|d| Arc::ptr_eq(d, loader));
            let lives = !class.loader.as_ref().is_some_and(of);
            if !lives {
                classes.push(class.clone());
            }
            lives
        });
        for class in &classes {
            if let Some(known) = maps.by_name.get_mut(&class.name) {
                known.retain(|c| !Arc::ptr_eq(c, class));
                if known.is_empty() {
                    maps.by_name.remove(&class.name);
                }
            }
            maps.gone.0 += 1;
            maps.gone.1 += class.state().methods.len() as u64;
        }
        classes
    }

    /// How many classes and armed methods are gone.
    pub fn gone(&self) -> (u64, u64) {
        self.maps().gone
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
            .filter(|class| class.ids().contains(&id))
    }

    /// All records.
    pub fn all(&self) -> Vec<Arc<Class>> {
        self.maps().by_id.values().cloned().collect()
    }

    /// The records of an internal name.
    pub fn named(&self, name: &str) -> Vec<Arc<Class>> {
        self.maps().by_name.get(name).cloned().unwrap_or_default()
    }

    /// Whether a class of this name is armed and may still have to be prepared: a quick question for an event on every class.
    pub fn knows(&self, name: &str) -> bool {
        self.maps().by_name.contains_key(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_serve_again_and_grow_together() {
        let mut maps = Maps::default();
        assert_eq!(
            (maps.ids(4), maps.ids(2), maps.ids(3)),
            (Some(0), Some(4), Some(6))
        );
        maps.give_back(0..4);
        maps.give_back(6..9);
        assert_eq!(maps.ids(5), Some(9));
        maps.give_back(4..6);
        assert_eq!(maps.free, BTreeMap::from([(0, 9)]));
        assert_eq!((maps.ids(0), maps.ids(7)), (Some(14), Some(0)));
        assert_eq!((maps.ids(2), maps.ids(1)), (Some(7), Some(14)));
        assert_eq!(maps.ids(1 << 24), None);
        assert_eq!(maps.ids(1), Some(15));
    }
}
