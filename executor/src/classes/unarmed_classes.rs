//! The names of loaded classes that are not armed.
//!
//! If a plan names a single class that is not loaded, this set saves a walk over all loaded
//! classes; see [`retransform`](crate::classes::retransform). The set may contain a name too many,
//! which costs one such walk. It never lacks a name, once a walk has completed it.
//!
//! The class hook and `ClassPrepare` add names on the threads that load classes. The plan thread
//! asks and removes.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use veneer_fragmenter::anchor;

/// The set is dropped if it grows to more than twice its size after the last walk, plus this
/// number. Otherwise a program that makes and drops classes for ever would let it grow without
/// bound.
const REBUILD_SLACK: usize = 1 << 14;

#[derive(Default)]
struct Names {
    /// 64-bit hashes of internal names, with a secret key. A collision is too unlikely to matter,
    /// and would only cost a walk.
    hashes: HashSet<u64>,
    /// Whether the set includes the classes that were loaded before the agent.
    is_complete: bool,
    /// The size above which the set is dropped.
    limit: usize,
}

/// See the module documentation.
#[derive(Default)]
pub struct UnarmedClasses {
    hasher: RandomState,
    names: Mutex<Names>,
}

impl UnarmedClasses {
    fn names(&self) -> MutexGuard<'_, Names> {
        self.names.lock()
    }

    /// Adds the internal name of a class that is loaded, or about to be, and not armed. Anchors are
    /// left out.
    pub fn add(&self, name: &str) {
        if anchor::is_anchor(name) {
            return;
        }
        let hash = self.hasher.hash_one(name);
        let mut names = self.names();
        names.hashes.insert(hash);
        if names.is_complete && names.hashes.len() > names.limit {
            *names = Names::default();
        }
    }

    /// Whether a class of this name may be loaded and not armed.
    pub fn may_have(&self, name: &str) -> bool {
        let names = self.names();
        !names.is_complete || names.hashes.contains(&self.hasher.hash_one(name))
    }

    pub fn remove(&self, name: &str) {
        let hash = self.hasher.hash_one(name);
        self.names().hashes.remove(&hash);
    }

    pub fn is_complete(&self) -> bool {
        self.names().is_complete
    }

    /// Marks the set as complete, because a walk has added all classes that were loaded before the
    /// agent.
    pub fn mark_complete(&self) {
        let mut names = self.names();
        names.is_complete = true;
        names.limit = 2 * names.hashes.len() + REBUILD_SLACK;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_class_may_be_loaded_before_the_first_walk() {
        let unarmed = UnarmedClasses::default();
        unarmed.add("a/A");
        assert!(unarmed.may_have("a/A") && unarmed.may_have("a/B"));
        unarmed.mark_complete();
        assert!(unarmed.may_have("a/A") && !unarmed.may_have("a/B"));
        unarmed.remove("a/A");
        assert!(!unarmed.may_have("a/A"));
    }

    #[test]
    fn names_that_were_added_during_the_walk_stay() {
        let unarmed = UnarmedClasses::default();
        unarmed.remove("a/A");
        unarmed.add("a/A");
        unarmed.mark_complete();
        assert!(unarmed.may_have("a/A"));
    }

    #[test]
    fn a_set_that_has_grown_too_much_is_dropped_and_waits_for_the_next_walk() {
        let unarmed = UnarmedClasses::default();
        unarmed.add("a/A");
        unarmed.mark_complete();
        // The limit is 2 + REBUILD_SLACK names, and one name is there already.
        for n in 0..=REBUILD_SLACK {
            unarmed.add(&format!("a/G{n}"));
        }
        assert!(unarmed.is_complete());
        unarmed.add("a/Last");
        assert!(!unarmed.is_complete() && unarmed.may_have("b/B"));
        unarmed.mark_complete();
        assert!(!unarmed.may_have("a/A"), "the dropped names are gone");
    }

    #[test]
    fn the_same_name_counts_once() {
        let unarmed = UnarmedClasses::default();
        unarmed.mark_complete();
        for _ in 0..=2 * REBUILD_SLACK {
            unarmed.add("a/A");
        }
        assert!(unarmed.is_complete());
    }

    #[test]
    fn anchors_are_not_classes_of_the_application() {
        let unarmed = UnarmedClasses::default();
        unarmed.mark_complete();
        unarmed.add("a/A$Veneer");
        assert!(!unarmed.may_have("a/A$Veneer"));
    }
}
