//! Classes that are not loaded yet, and the classes whose code waits for them.
//!
//! The offset of a field is known once its class is loaded, and the agent loads no class for a
//! probe. Until then a variable of that class can only be null. So a method whose plan code needs
//! such a class waits for it. When the class is prepared, which is before an object of it exists,
//! the thread that loads it attaches the code.
//!
//! ```text
//!   Desk.serve(Order)  ── code reads order.total ──▶  Order is not loaded: wait
//!   ClassPrepare Order ──▶ take ──▶ Desk is woven again ──▶ the first Order is made
//! ```
//!
//! [`PendingClasses::add`] and [`PendingClasses::remove_named`] may run at the same time on
//! different threads. Therefore the caller of `add` compiles the code once more if the class did
//! not wait before. Either that attempt finds the new class, or the thread that prepares the new
//! class finds the waiting one.

use crate::classes::registry::Class;
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

/// The waiting classes, by the internal name of the awaited class.
type Waiting = HashMap<String, Vec<Weak<Class>>>;

/// See the module documentation.
#[derive(Default)]
pub struct PendingClasses {
    waiting: Mutex<Waiting>,
    /// Whether any class waits. The agent asks for every class that is prepared, so the question
    /// must not take a lock.
    any: AtomicBool,
}

impl PendingClasses {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock()
    }

    /// Registers a class as waiting for the class with this internal name. Returns whether it did
    /// not wait for that class before.
    pub fn add(&self, name: &str, class: &Arc<Class>) -> bool {
        let mut waiting = self.lock();
        let all = waiting.entry(name.to_string()).or_default();
        let is_same = |one: &Weak<Class>| std::ptr::eq(one.as_ptr(), Arc::as_ptr(class));
        let is_new = !all.iter().any(is_same);
        if is_new {
            all.push(Arc::downgrade(class));
        }
        // SeqCst, like the load in `remove_named`: if a class is prepared at this moment, at least
        // one of the two threads sees the other one.
        self.any.store(true, Ordering::SeqCst);
        is_new
    }

    /// Whether no class waits. Takes no lock.
    pub fn is_empty(&self) -> bool {
        // SeqCst, as in `add`.
        !self.any.load(Ordering::SeqCst)
    }

    /// Removes and returns the classes that wait for the class with this internal name. Classes
    /// that have been unloaded are left out.
    pub fn remove_named(&self, name: &str) -> Vec<Arc<Class>> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut waiting = self.lock();
        let found = waiting.remove(name).unwrap_or_default();
        self.any.store(!waiting.is_empty(), Ordering::SeqCst);
        found.iter().filter_map(Weak::upgrade).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::registry::test_class;

    fn taken(pending: &PendingClasses, name: &str) -> Vec<u32> {
        let taken = pending.remove_named(name);
        taken.iter().map(|class| class.first_id.0).collect()
    }

    #[test]
    fn a_class_waits_once_for_a_name_and_is_taken_once() {
        let pending = PendingClasses::default();
        let desk = test_class("shop/Desk", 0..2);
        assert!(pending.add("shop/Order", &desk));
        assert!(!pending.add("shop/Order", &desk));
        assert_eq!(taken(&pending, "shop/Order"), [0]);
        assert!(taken(&pending, "shop/Order").is_empty());
        assert!(pending.add("shop/Order", &desk), "it waits again");
    }

    #[test]
    fn taking_one_name_leaves_the_classes_that_wait_for_others() {
        let pending = PendingClasses::default();
        let (desk, clerk) = (
            test_class("shop/Desk", 0..2),
            test_class("shop/Clerk", 2..3),
        );
        pending.add("shop/Order", &desk);
        pending.add("shop/Order", &clerk);
        pending.add("shop/User", &desk);
        assert_eq!(taken(&pending, "shop/Order"), [0, 2]);
        assert_eq!(taken(&pending, "shop/User"), [0]);
    }

    #[test]
    fn classes_of_one_name_wait_separately() {
        let pending = PendingClasses::default();
        let (old, new) = (test_class("shop/Desk", 0..2), test_class("shop/Desk", 2..4));
        assert!(pending.add("shop/Order", &old) && pending.add("shop/Order", &new));
        assert_eq!(taken(&pending, "shop/Order"), [0, 2]);
    }

    #[test]
    fn an_unloaded_class_no_longer_waits() {
        let pending = PendingClasses::default();
        pending.add("shop/Order", &test_class("shop/Desk", 0..2));
        assert!(taken(&pending, "shop/Order").is_empty());
    }
}
