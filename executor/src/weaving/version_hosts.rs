//! The classes of which Java code makes the traces of exceptions exact (`VeneerHosts`).
//!
//! While an activation may be in a version of a class, each exception whose trace shows the class
//! costs a second walk over the stack. So a class is released when its methods are back in their own
//! code and no thread has an activation in a version.
//!
//! ```text
//!   a version is defined ─▶ VersionHosts ─▶ all methods idle, and exceptions show the class
//!                                               └─▶ the dump of stacks of `osr_entry_release` ─▶ VeneerHosts.release
//! ```
//!
//! Stacks of virtual threads are not in the dump. In these threads, Java code keeps making traces
//! exact until the JVM has unloaded the versions.

use crate::classes::registry::Class;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Weak};
use veneer_names::MethodId;

/// The classes that have, or had, versions since their last release.
#[derive(Default)]
pub struct VersionHosts(Mutex<Hosts>);

#[derive(Default)]
struct Hosts {
    /// The classes, by the id of their first method.
    classes: BTreeMap<MethodId, Weak<Class>>,
    /// The number of exceptions that showed such a class, when it was last looked at.
    shown: i64,
}

impl Hosts {
    /// The classes without any of these methods. Unloaded classes are removed.
    fn idle(&mut self, busy: Vec<MethodId>) -> Vec<Arc<Class>> {
        let mut idle: BTreeMap<MethodId, Arc<Class>> = BTreeMap::new();
        self.classes.retain(|first, class| {
            let class = class.upgrade().map(|class| idle.insert(*first, class));
            class.is_some()
        });
        for method in busy {
            let before = idle.range(..=method).next_back();
            let class = before.filter(|(_, class)| class.ids().contains(&method));
            if let Some(first) = class.map(|(first, _)| *first) {
                idle.remove(&first);
            }
        }
        idle.into_values().collect()
    }
}

struct IdleHost {
    class: Arc<Class>,
    /// The names of its armed methods.
    methods: HashSet<Box<str>>,
}

/// The idle classes, which may be released. Those of which an activation may be in a version are removed.
#[derive(Default)]
pub struct IdleHosts {
    /// The classes by Java name. Class loaders may have different classes of one name.
    classes: HashMap<Box<str>, Vec<IdleHost>>,
    /// Whether classes stay that may be released later.
    pub must_retry: bool,
}

impl IdleHosts {
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    pub fn wants(&self, class: &str) -> bool {
        self.classes.contains_key(class)
    }

    /// Takes the classes out of the table.
    pub fn take(&mut self) -> Vec<Arc<Class>> {
        let classes = std::mem::take(&mut self.classes).into_values();
        classes.flatten().map(|host| host.class).collect()
    }

    /// An activation of this method may be in a version.
    pub fn running(&mut self, class: &str, method: &str) {
        let runs = |host: &IdleHost| host.methods.contains(method);
        if self
            .classes
            .get(class)
            .is_some_and(|all| all.iter().any(runs))
        {
            self.classes.remove(class);
            self.must_retry = true;
        }
    }
}

impl VersionHosts {
    /// Adds a class for which a version has been defined.
    pub fn add(&self, class: &Arc<Class>) {
        let mut hosts = self.0.lock();
        hosts.classes.insert(class.first_id, Arc::downgrade(class));
    }

    /// Whether there is no class to release.
    pub fn is_empty(&self) -> bool {
        self.0.lock().classes.is_empty()
    }

    /// The classes without methods of `busy`, which are not idle. None if `shown`, the number of
    /// exceptions that showed such a class, is the same as at the last call: nothing would be saved.
    pub fn idle(&self, busy: Vec<MethodId>, shown: i64) -> IdleHosts {
        let mut idle = IdleHosts::default();
        let classes = {
            let mut hosts = self.0.lock();
            let classes = hosts.idle(busy);
            if shown == hosts.shown && !classes.is_empty() {
                idle.must_retry = true;
                return idle;
            }
            hosts.shown = shown;
            classes
        };
        for class in classes {
            let armed = class.state().methods.clone();
            let methods = armed.iter().map(|method| method.name.into()).collect();
            let same_name = idle.classes.entry(class.dotted.as_str().into());
            same_name.or_default().push(IdleHost { class, methods });
        }
        idle
    }

    /// Removes a class that has been released.
    pub fn remove(&self, class: &Class) {
        self.0.lock().classes.remove(&class.first_id);
    }
}
